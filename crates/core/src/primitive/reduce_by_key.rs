//! Reduction of the runs of equal keys.

use std::borrow::Cow;

use super::{Form, Label, Operand, Primitive, Writes};
use crate::calls::{count, run_once};
use crate::wgsl::{mentions, renamed};
use crate::{
    Backend, Element, ElementType, Error, Field, HostOp, Layout, Monoid, Op, Options, Prepared, Result, Scalar, Slot,
    Span, Spans, block_on,
};

/// A reduction of the runs of equal keys: `reduce_by_key`, or `run_length_encode`.
#[derive(Debug, Clone)]
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
    writes: Writes::Runs,
    ..Form::new("reduce_by_key", |key, op, n| {
        ReduceByKeyRequest { key: ElementType::Scalar(key), op: Some(op), n }.into()
    })
};

/// Lengths of the runs of equal keys.
pub static RUN_LENGTH_ENCODE: Form = Form {
    writes: Writes::Runs,
    ..Form::new("run_length_encode", |key, _, n| {
        ReduceByKeyRequest { key: ElementType::Scalar(key), op: None, n }.into()
    })
};

impl ReduceByKeyRequest {
    /// What makes a run's total: the operator, or the sum of ones.
    pub fn total(&self) -> Op {
        self.op.clone().unwrap_or_else(|| Op::sum(Scalar::U32))
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
        let [keys, runs] = [Slot::Input, Slot::Output].map(|slot| Operand::new(slot, &self.key, self.n));
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
/// One look-back pass reads each element once and writes one key and one value a run: a segmented scan that carries how many runs
/// have begun and the total of the last one. How many runs there are is written as one `u32` to a span of the caller's; it stays
/// on the device. (Devices without subgroups take three launches, and read twice.) Outputs are as long as if each element were a run;
/// what lies past those written keeps what it held.
/// Keys are equal if their bits are: -0 and +0 are different keys, and a NaN is equal to one of the same bits. Nothing works in
/// place. As in a scan by look-back, a float's bits may differ from run to run, and a sum of nothing but -0 may be +0. Scratch is a state a tile, of a count and a total;
/// [`scratch_bytes`](crate::scratch_bytes) has it to the byte.
///
/// # Errors
/// As of [`Scan`](crate::Scan), and [`Error::Invalid`] for outputs that are the inputs.
pub trait ReduceByKey: Backend {
    /// Plans and compiles a reduction by key of `n` elements. Bind spans with values ([`Spans::with_values`]) and a count.
    fn prepare_reduce_by_key<K: Element, V: Element, M: Monoid<V>>(
        &self,
        n: u64,
        layout: Layout,
    ) -> Result<Prepared<Self>> {
        let request = ReduceByKeyRequest { key: K::TYPE, op: Some(Op::of::<V, M>()), n }.into();
        block_on(Prepared::new(self, &request, layout, Options::default()))
    }

    /// Plans and compiles a run-length encoding of `n` elements. Bind spans with the lengths' span as the output values, no
    /// bytes of input values, and a count.
    fn prepare_run_length_encode<K: Element>(&self, n: u64, layout: Layout) -> Result<Prepared<Self>> {
        let request = ReduceByKeyRequest { key: K::TYPE, op: None, n }.into();
        block_on(Prepared::new(self, &request, layout, Options::default()))
    }

    /// Writes the key of each run to the output, and the run's values combined to the output values.
    fn reduce_by_key<K: Element, V: Element, M: Monoid<V>>(&self, spans: &Spans<'_, Self>) -> Result<()> {
        let n = count::<K>(spans.input.bytes())?;
        run_once(self, &ReduceByKeyRequest { key: K::TYPE, op: Some(Op::of::<V, M>()), n }.into(), spans)
    }

    /// Writes the key of each run to the output, and how long the run is, as a `u32`, to `lengths`.
    fn run_length_encode<K: Element>(
        &self,
        input: &Span<'_, Self>,
        output: &Span<'_, Self>,
        lengths: &Span<'_, Self>,
        count_of_runs: &Span<'_, Self>,
    ) -> Result<()> {
        let n = count::<K>(input.bytes())?;
        let spans = Spans::new(input, output).with_values(&input.slice(0, 0)?, lengths).with_count(count_of_runs);
        run_once(self, &ReduceByKeyRequest { key: K::TYPE, op: None, n }.into(), &spans)
    }
}
impl<B: Backend> ReduceByKey for B {}

/// The struct that a segmented scan carries.
const SEGMENT: &str = "Segment";

/// The operator over a run's total and the count of runs that have begun: `combine(l, r)` adds to the last run of `l` what `r`
/// begins with, unless `r` begins a run. Its words are the total's and then the count's.
pub(crate) fn segmented(op: &Op) -> Result<Op> {
    let (own, scalar) = match op.element() {
        ElementType::Scalar(scalar) => (Cow::Owned(vec![Field { name: "value", scalar: *scalar, offset: 0 }]), true),
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
    fields.push(Field { name: "run_heads", scalar: Scalar::U32, offset: size });
    let padded = op.element().align() == 8;
    if padded {
        fields.push(Field { name: "run_pad", scalar: Scalar::U32, offset: size + 4 });
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
    // The CPU reduces runs by the operator itself.
    let host = HostOp { fold: |_, _, _| {}, scan: |_, _, _, _, _| {} };
    // SAFETY: the loops touch no element, and the identity has an element's bytes: the operator's own, and zeros.
    Ok(unsafe { Op::from_parts(format!("{} by key", op.name), element, wgsl, identity, false, host) })
}
