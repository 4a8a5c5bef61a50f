//! Operators and predicates: by name, or as WGSL text.

use std::borrow::Cow;

use pyo3::PyClass;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trifold::bytemuck::pod_read_unaligned;
use trifold::operators::{NonZero, UpperHalf};
use trifold::plan::{Builtin, Op, Selector};
use trifold::types::{Scalar, ScalarKind, for_computed, for_held};
use trifold::{Element, Monoid};

use crate::dtype;

/// An associative operator, as WGSL text that defines `fn combine(a: T, b: T) -> T`. `identity` is the number that changes
/// nothing: `combine(identity, x) == x == combine(x, identity)`. If the order of the two does not matter, `commutes=True` makes
/// reductions faster.
///
/// It runs on every GPU. On the CPU there are the operators with names.
///
/// ```pycon
/// >>> gcd = Operator(
/// ...     "fn combine(a: T, b: T) -> T {"
/// ...     "    var x = a; var y = b;"
/// ...     "    while (y != 0u) { let r = x % y; x = y; y = r; }"
/// ...     "    return x; }",
/// ...     identity=0,
/// ...     commutes=True,
/// ... )
/// >>> # reduce(x, gcd)
///
/// ```
#[pyclass(frozen, module = "trifold_gpu")]
pub struct Operator {
    wgsl: String,
    identity: Py<PyAny>,
    commutes: bool,
}

#[pymethods]
impl Operator {
    #[new]
    #[pyo3(signature = (wgsl, identity, *, commutes=false))]
    fn new(wgsl: String, identity: Py<PyAny>, commutes: bool) -> Operator {
        Operator { wgsl, identity, commutes }
    }

    fn __repr__(&self) -> String {
        format!("<trifold_gpu.Operator {}>", self.wgsl)
    }
}

/// A predicate, as WGSL text that defines `fn keep(v: T) -> bool`. It runs on every GPU. On the CPU pass flags, such as `x > 0`.
///
/// ```pycon
/// >>> positive = Predicate("fn keep(v: T) -> bool { return v > 0.0; }")
/// >>> # select(x, positive)
///
/// ```
#[pyclass(frozen, module = "trifold_gpu")]
pub struct Predicate {
    wgsl: String,
}

#[pymethods]
impl Predicate {
    #[new]
    fn new(wgsl: String) -> Predicate {
        Predicate { wgsl }
    }

    fn __repr__(&self) -> String {
        format!("<trifold_gpu.Predicate {}>", self.wgsl)
    }
}

/// What a call takes as an operator or a predicate: a name, or text.
pub enum Said<'py, T: Text> {
    Name(String),
    Text(PyRef<'py, T>),
}

/// A class of text.
pub trait Text: PyClass {
    /// The argument that it is passed as.
    const ARGUMENT: &'static str;

    /// What may be passed, in words.
    fn choices() -> String;
}

impl Text for Operator {
    const ARGUMENT: &'static str = "op";

    fn choices() -> String {
        let names: Vec<_> = Builtin::ALL.iter().map(|which| which.name()).collect();
        format!("{}, or an Operator", names.join(", "))
    }
}

impl Text for Predicate {
    const ARGUMENT: &'static str = "by";

    fn choices() -> String {
        "nonzero, upper_half or a Predicate".into()
    }
}

impl<'a, 'py, T: Text> FromPyObject<'a, 'py> for Said<'py, T> {
    type Error = PyErr;

    fn extract(said: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = said.extract() {
            return Ok(Said::Name(name));
        }
        let none = |_| PyTypeError::new_err(format!("{}: {}; pass {}", T::ARGUMENT, of_type(&said), T::choices()));
        Ok(Said::Text(said.extract().map_err(none)?))
    }
}

impl<T: Text> Said<'_, T> {
    /// Whether it is text, which the CPU does not run.
    pub fn is_text(&self) -> bool {
        matches!(self, Said::Text(_))
    }
}

/// What a call takes as `op`.
pub type Named<'py> = Said<'py, Operator>;
/// What calls take as a predicate.
pub type Chosen<'py> = Said<'py, Predicate>;

/// What a value is, in words. Its own words may take long: an array's are read from its device.
fn of_type(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "a value".into(), |name| format!("a value of type {name}"))
}

impl Chosen<'_> {
    /// What calls take that name none.
    pub fn nonzero() -> Self {
        Chosen::Name("nonzero".into())
    }

    /// The predicate of elements of this type.
    pub fn of(&self, scalar: Scalar) -> PyResult<Selector> {
        let none = |name: &str| PyTypeError::new_err(format!("`{name}` of {}; pass flags", dtype::long_name(scalar)));
        match self {
            Chosen::Text(text) => text.of(scalar),
            Chosen::Name(name) => match &name[..] {
                "nonzero" => NonZero::of(scalar).ok_or_else(|| none(name)),
                "upper_half" => UpperHalf::of(scalar).ok_or_else(|| none(name)),
                _ => Err(PyValueError::new_err(format!("by: `{name}`; there are {}", Predicate::choices()))),
            },
        }
    }
}

impl Named<'_> {
    /// What calls take that name none.
    pub fn sum() -> Self {
        Named::Name(Builtin::Sum.name().into())
    }

    /// The operator over elements of this type.
    pub fn over(&self, py: Python<'_>, scalar: Scalar) -> PyResult<Op> {
        match self {
            Named::Name(name) => builtin(name, scalar),
            Named::Text(text) => {
                let identity = element(text.identity.bind(py), scalar)?;
                let made = for_computed!(scalar, T => Op::of::<T, _>(Combine::<T> {
                    wgsl: text.wgsl.clone().into(),
                    identity: pod_read_unaligned(&identity),
                    commutes: text.commutes,
                }));
                made.ok_or_else(|| {
                    PyTypeError::new_err(format!("an operator of {}: {WIDE}; pass dtype=", dtype::long_name(scalar)))
                })
            }
        }
    }
}

const WIDE: &str = "operators are over integers and floats of 32 and 64 bits";

fn builtin(name: &str, scalar: Scalar) -> PyResult<Op> {
    let which = Builtin::from_name(name)
        .ok_or_else(|| PyValueError::new_err(format!("op: `{name}`; there are {}", Operator::choices())))?;
    Op::builtin(which, scalar).ok_or_else(|| {
        PyTypeError::new_err(format!(
            "`{name}` of {}: {WIDE}, and floats have sum, product, min and max; pass dtype=",
            dtype::long_name(scalar)
        ))
    })
}

/// A number as the bytes of an element.
pub fn element(value: &Bound<'_, PyAny>, scalar: Scalar) -> PyResult<Vec<u8>> {
    let options = PyDict::new(value.py());
    options.set_item("dtype", dtype::typestr(scalar)?)?;
    let element = value.py().import("numpy")?.call_method("asarray", (value,), Some(&options))?;
    if element.getattr("ndim")?.extract::<usize>()? > 0 {
        return Err(PyValueError::new_err(format!("{value}: one number is wanted")));
    }
    element.call_method0("tobytes")?.extract()
}

/// An operator that is text alone.
#[derive(Clone)]
struct Combine<T> {
    wgsl: Cow<'static, str>,
    identity: T,
    commutes: bool,
}

impl<T: Element> Monoid<T> for Combine<T> {
    fn name(&self) -> Cow<'static, str> {
        "an operator in WGSL".into()
    }
    fn text(&self) -> Cow<'static, str> {
        self.wgsl.clone()
    }
    fn identity(&self) -> T {
        self.identity
    }
    /// Never called: calls refuse texts on the CPU.
    fn combine(&self, a: T, _: T) -> T {
        a
    }
    fn commutes(&self) -> bool {
        self.commutes
    }
}

/// A predicate that is text alone.
#[derive(Clone)]
struct Keep(Cow<'static, str>);

impl<T: Element> trifold::Predicate<T> for Keep {
    fn name(&self) -> Cow<'static, str> {
        "a predicate in WGSL".into()
    }
    fn text(&self) -> Cow<'static, str> {
        self.0.clone()
    }
    /// Never called: calls refuse texts on the CPU.
    fn keep(&self, _: T) -> bool {
        false
    }
}

impl Predicate {
    /// Of elements of this type.
    pub fn of(&self, scalar: Scalar) -> PyResult<Selector> {
        let keep = || Keep(self.wgsl.clone().into());
        let made = for_computed!(scalar, T => Selector::of::<T, _>(keep()));
        let made = made.or_else(|| for_held!(scalar, T => Selector::of::<T, _>(keep())));
        made.ok_or_else(|| PyTypeError::new_err(format!("a predicate of {}; pass flags", dtype::long_name(scalar))))
    }
}

/// What keeps those whose flags of this type are not 0.
pub fn of_flags(scalar: Scalar) -> PyResult<Selector> {
    let none =
        || PyTypeError::new_err(format!("flags: {}; pass bool or integers, such as x > 0", dtype::long_name(scalar)));
    match scalar.kind() {
        ScalarKind::Float => Err(none()),
        _ => NonZero::of(scalar).ok_or_else(none),
    }
}
