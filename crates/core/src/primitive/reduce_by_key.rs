//! Reduction of the runs of equal keys.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Asked, Form, Label, Operand, Primitive, Varies};
use crate::results::{Results, length, new_count, results};
use crate::wgsl::{mentions, renamed};
use crate::{
    Backend, Buffer, Compacted, Device, Element, ElementType, Error, Field, HostOp, IntoInput, Monoid, Op, Placed,
    Result, Scalar, Slot, SpansOf, Transfer, View, block_on,
};

/// A reduction of the runs of equal keys: `reduce_by_key`, or `run_length_encode`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReduceByKeyRequest {
    /// The keys' type. Keys are equal if their bits are.
    pub key: ElementType,
    /// The operator over the values; `None` for the runs' lengths, for which there are no values.
    pub op: Option<Op>,
    /// How many elements.
    pub n: u64,
}

/// Reductions of the values of equal keys.
pub static REDUCE_BY_KEY: Form = Form {
    has_operator: true,
    varies: Varies::Runs,
    ..Form::new("reduce_by_key", "Reduce by key of {}", |&Asked { scalar: key, operator: op, n, .. }| {
        Some(ReduceByKeyRequest { key: ElementType::Scalar(key), op: Some(Op::builtin(op, key)?), n }.into())
    })
};

/// Lengths of the runs of equal keys.
pub static RUN_LENGTH_ENCODE: Form = Form {
    varies: Varies::Runs,
    ..Form::new("run_length_encode", "Run lengths of {}", |&Asked { scalar: key, n, .. }| {
        Some(ReduceByKeyRequest { key: ElementType::Scalar(key), op: None, n }.into())
    })
};

impl ReduceByKeyRequest {
    /// What makes a run's total: the operator, or the sum of ones.
    pub fn total(&self) -> Op {
        self.op.clone().unwrap_or_else(Op::sum_of_counts)
    }

    /// How many parts a key is moved by: words, or less of keys that are not whole words.
    pub(crate) fn key_parts(&self) -> u32 {
        self.key.bytes() / self.key.unit()
    }

    /// What is moved where the inputs are read in so many passes, and so many outputs are written.
    pub(crate) fn bytes_moved(&self, passes: u64, runs: u64) -> u64 {
        self.bytes_read().saturating_mul(passes).saturating_add(self.bytes_written(runs))
    }

    /// What one pass reads.
    fn bytes_read(&self) -> u64 {
        let value = self.op.as_ref().map_or(0, |op| op.element().bytes());
        self.n.saturating_mul(u64::from(self.key.bytes() + value))
    }

    /// What is written for so many runs, the count left out.
    fn bytes_written(&self, runs: u64) -> u64 {
        runs.saturating_mul(u64::from(self.key.bytes() + self.total().element().bytes()))
    }
}

impl Primitive for ReduceByKeyRequest {
    fn form(&self) -> &'static Form {
        if self.op.is_some() { &REDUCE_BY_KEY } else { &RUN_LENGTH_ENCODE }
    }

    fn n(&self) -> u64 {
        self.n
    }

    fn label(&self) -> Label {
        let op = self.op.as_ref();
        Label::new(&[Some(&self.key), op.map(Op::element)], op.map_or("-", |op| &op.name), &[])
    }

    fn operands(&self) -> Vec<Operand> {
        let [keys, runs] = [Slot::Input, Slot::Output].map(|slot| Operand::moved(slot, &self.key, self.n));
        let values = self.op.as_ref().map(|op| Operand::new(Slot::InputValues, op.element(), self.n));
        let totals = Operand::new(Slot::OutputValues, self.total().element(), self.n);
        [keys, runs].into_iter().chain(values).chain([totals, Operand::count()]).collect()
    }

    fn op(&self) -> Option<&Op> {
        self.op.as_ref()
    }

    fn bytes_moved_by(&self, outputs: u64) -> u64 {
        self.bytes_moved(1, outputs)
    }

    fn apart(&self) -> Option<&'static str> {
        Some(
            "a reduction by key in place: where runs go depends on all before them, which may be overwritten by then; give \
             it two spans",
        )
    }
}

/// Reduction of the runs of equal keys that lie together, as a sort leaves them.
///
/// One look-back pass reads each element once, and writes one key and one value for each run. It is a segmented scan,
/// which carries how many runs have begun and the total of the last one. Devices without subgroups take three launches,
/// and read twice.
///
/// The number of runs is written as one `u32` to a span of the caller's, and stays on the device. Outputs are as long
/// as if each element were a run. What lies past the last run keeps what it held. Nothing works in place.
///
/// Keys are equal if their bits are. So -0 and +0 are different keys, and a NaN is equal to one of the same bits.
///
/// As in a scan by look-back, a float's bits may differ from one call to the next, and a sum of nothing but -0 may be
/// +0.
///
/// Scratch is one state for each tile: a count and a total. [`scratch_bytes`](crate::scratch_bytes) has it to the byte.
///
/// # Errors
/// As of [`Scan`](crate::Scan), and [`Error::Invalid`] for outputs that are the inputs.
pub trait ReduceByKey: Backend {
    /// The key of each run, and the run's values combined.
    ///
    /// ```
    /// # use trifold_core::{ReduceByKey, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (keys, values) = (gpu.upload(&[7u32, 7, 2, 7])?, gpu.upload(&[1.0f32, 2.0, 3.0, 4.0])?);
    /// assert_eq!(gpu.reduce_by_key(&keys, &values, Sum).read()?, (vec![7, 2, 7], vec![3.0, 3.0, 4.0]));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn reduce_by_key<X: IntoInput<Self>, V: IntoInput<Self>, M: Monoid<V::Item>>(
        &self,
        keys: X,
        values: V,
        op: M,
    ) -> ReduceByKeyCall<X::Item, V::Item, Self> {
        let values = values.into_input();
        let keys = keys.into_input().beside(&values, ["keys", "values"]);
        ReduceByKeyCall::new(self, keys, Some((Op::of(op), values)))
    }

    /// The key of each run, and how long the run is.
    ///
    /// ```
    /// # use trifold_core::{ReduceByKey, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[7u32, 7, 2, 7])?;
    /// assert_eq!(gpu.run_length_encode(&x).read()?, (vec![7, 2, 7], vec![2, 1, 1]));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn run_length_encode<X: IntoInput<Self>>(&self, x: X) -> ReduceByKeyCall<X::Item, u32, Self> {
        ReduceByKeyCall::new(self, x.into_input(), None)
    }
}
impl<B: Backend> ReduceByKey for B {}

/// A reduction by key, or a run-length encoding, whose results have no place yet.
///
/// ```
/// # use trifold_core::{block_on, Max, ReduceByKey, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let (keys, values) = (gpu.upload(&[7u32, 7, 2, 2])?, gpu.upload(&[1.0f32, 3.0, 2.0, 4.0])?);
/// assert_eq!(gpu.reduce_by_key(&keys, &values, Max).read()?, (vec![7, 2], vec![3.0, 4.0]));
/// assert_eq!(block_on(gpu.run_length_encode(&keys).read_async())?, (vec![7, 2], vec![2, 2]));
///
/// // To new memory on the device, with their number.
/// let (runs, totals) = gpu.reduce_by_key(&keys, &values, Max).compact()?;
/// assert_eq!((runs.len()?, totals.len()?), (2, 2));
///
/// // Of as many elements as a word on the device says.
/// let n = gpu.upload(&[3u32])?;
/// let first = gpu.reduce_by_key(&keys, &values, Max).len_on_device(&n);
/// assert_eq!(first.read()?, (vec![7, 2], vec![3.0, 2.0]));
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to((&keys, &values)), compact() or read()"]
pub struct ReduceByKeyCall<K, V, B: Backend = Device> {
    device: B,
    keys: View<K, B>,
    values: Option<(Op, View<V, B>)>,
    count: Option<Buffer<u32, B>>,
}

impl<K: Element, V: Element, B: Backend> ReduceByKeyCall<K, V, B> {
    fn new(device: &B, keys: View<K, B>, values: Option<(Op, View<V, B>)>) -> Self {
        ReduceByKeyCall { device: device.clone(), keys, values, count: None }
    }

    /// Writes how many runs there are to this one `u32`.
    ///
    /// ```
    /// # use trifold_core::{ReduceByKey, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[7u32, 7, 2])?;
    /// let (keys, lengths, n) = (gpu.alloc(3)?, gpu.alloc(3)?, gpu.alloc(1)?);
    /// gpu.run_length_encode(&x).count_to(&n).to((&keys, &lengths)).run()?;
    /// assert_eq!(n.read()?, [2]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn count_to(self, count: &Buffer<u32, B>) -> Self {
        ReduceByKeyCall { count: Some(count.clone()), ..self }
    }

    /// To buffers of as many elements as the keys have, as each may be a run. What lies past the last run stays as it is.
    ///
    /// ```
    /// # use trifold_core::{ReduceByKey, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (keys, values) = (gpu.upload(&[7u32, 7, 2])?, gpu.upload(&[1u32, 2, 3])?);
    /// let (runs, totals) = (gpu.alloc(3)?, gpu.alloc(3)?);
    /// gpu.reduce_by_key(&keys, &values, Sum).to((&runs, &totals)).run()?;
    /// assert_eq!((runs.slice(..2)?.read()?, totals.slice(..2)?.read()?), (vec![7, 2], vec![3, 3]));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn to(self, (keys, totals): (&Buffer<K, B>, &Buffer<V, B>)) -> Placed<B> {
        let (op, values) = self.values.unzip();
        let request = ReduceByKeyRequest { key: K::TYPE, op, n: self.keys.n() };
        let spans = SpansOf {
            input_values: values.as_ref().and_then(View::memory).cloned(),
            output_values: Some(totals.span().clone()),
            count: self.count.map(|count| count.span().clone()),
            ..self.keys.spans_to(keys.span())
        };
        let placed = Placed::new(self.device, request, spans).reads(Slot::Input, &self.keys);
        match &values {
            Some(values) => placed.reads(Slot::InputValues, values),
            None => placed,
        }
    }
}

length!(ReduceByKeyCall<K: Element, V: Element>, keys);

results! {
    ReduceByKeyCall<K: Element, V: Element>::compact, compact_async -> (Compacted<K, B>, Compacted<V, B>), (Vec<K>, Vec<V>); |call| {
        let count = call.count.clone().map_or_else(|| new_count(&call.device), Ok)?;
        let (keys, totals) = (call.device.alloc(call.keys.len())?, call.device.alloc(call.keys.len())?);
        call.count_to(&count).to((&keys, &totals)).run_async().await?;
        Ok((Compacted::new(keys, count.clone()), Compacted::new(totals, count)))
    }
}

/// No loops: the CPU reduces runs by the operator itself.
struct NoLoops;

impl HostOp for NoLoops {
    unsafe fn fold(&self, _: *const u8, _: usize, _: *mut u8) {}
    unsafe fn fold_runs(&self, _: *const u8, _: &[u32], _: *mut u8) {}
    unsafe fn scan(&self, _: *const u8, _: *mut u8, _: usize, _: *mut u8, _: bool) {}
    unsafe fn scan_runs(&self, _: *const u8, _: *mut u8, _: &[u32], _: *const u8, _: bool) {}
}

/// The struct that a segmented scan carries.
const SEGMENT: &str = "Segment";

/// The operator of the segmented scan: it works on a run's total, and on the count of runs that have begun.
///
/// `combine(l, r)` adds the counts. If a run begins in `r`, the total is `r`'s, else it is both totals combined. The
/// words are the total's and then the count's.
pub(crate) fn segmented(op: &Op) -> Result<Op> {
    let (own, scalar) = match op.element() {
        ElementType::Scalar(scalar) => {
            (Cow::Owned(vec![Field { name: "value", scalar: *scalar, offset: 0, key: None }]), true)
        }
        ElementType::Struct { fields, .. } => (fields.clone(), false),
    };
    let refuse = |message: String| Err(Error::Operator { name: op.name.to_string(), message });
    for taken in [SEGMENT, "RunValue", "run_combine", "run_heads", "run_pad"] {
        if mentions(&op.wgsl, taken) || op.element().name() == taken || own.iter().any(|field| field.name == taken) {
            return refuse(format!("the name `{taken}` is the kernel's in a reduction by key; rename it"));
        }
    }
    let size = op.element().bytes();
    let mut fields = own.to_vec();
    fields.push(Field { name: "run_heads", scalar: Scalar::U32, offset: size, key: None });
    let padded = op.element().align() == 8;
    if padded {
        fields.push(Field { name: "run_pad", scalar: Scalar::U32, offset: size + 4, key: None });
    }
    let bytes = size + if padded { 8 } else { 4 };

    let all = |v: &str| own.iter().map(|field| format!("{v}.{}", field.name)).collect::<Vec<_>>().join(", ");
    let pad = if padded { ", 0u" } else { "" };
    let (declaration, value, made) = match op.element() {
        ElementType::Scalar(scalar) => (format!("alias RunValue = {};", scalar.name()), all("l"), "made".to_string()),
        ElementType::Struct { name, fields, .. } => {
            let fields: Vec<_> = fields.iter().map(|f| format!("{}: {}", f.name, f.scalar.name())).collect();
            let text = format!("struct {name} {{ {} }}\nalias RunValue = {name};", fields.join(", "));
            (text, format!("RunValue({})", all("l")), all("made"))
        }
    };
    let other = if scalar { all("r") } else { format!("RunValue({})", all("r")) };
    let text = renamed(&renamed(&op.wgsl, "T", "RunValue"), "combine", "run_combine");
    let wgsl = format!(
        "{text}\n{declaration}\nfn combine(l: T, r: T) -> T {{\n  if (r.run_heads != 0u) {{ return T({}, l.run_heads + \
         r.run_heads{pad}); }}\n  let made = run_combine({value}, {other});\n  return T({made}, l.run_heads + \
         r.run_heads{pad});\n}}",
        all("r")
    );
    let mut identity = op.identity().to_vec();
    identity.resize(bytes as usize, 0);
    let element = ElementType::Struct { name: SEGMENT, fields: fields.into(), bytes };
    // SAFETY: the loops touch no element, and the identity has an element's bytes: the operator's own, and zeros.
    let segmented =
        unsafe { Op::from_parts(format!("{} by key", op.name), element, wgsl, identity, false, Arc::new(NoLoops)) };
    Ok(segmented.with_captures(op.captures().clone()))
}
