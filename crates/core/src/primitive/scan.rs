//! Scan.

use super::{Form, Label, Operand, Primitive};
use crate::algorithm::{Algorithm, scan};
use crate::calls::{count, run_once};
use crate::planner::Planner;
use crate::tuning::numbers;
use crate::{
    Backend, Element, Layout, Monoid, Op, Options, Prepared, Request, Result, Slot, Span, Spans, block_on, bytemuck,
};

numbers! {
    /// From which size on a scan goes by which algorithm.
    pub struct ScanChoice by l {
        /// How many words of elements of one or two words a scan has at least to look ahead, where the device can; `u32::MAX` for never.
        lookahead_from "lookahead_from": Count up to u32::MAX => 1 << 23,
        /// How many words of elements of one or two words a scan has at least to go by pipelined look-back, where no hardware copies tiles;
        /// `u32::MAX` for never.
        lookback_pipelined_from "lookback_pipelined_from": Count up to u32::MAX => u32::MAX,
    }
}

/// Whether an element takes part in its own prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScanKind {
    /// `output[i] = initial + input[0] + ... + input[i]`.
    Inclusive,
    /// `output[i] = initial + input[0] + ... + input[i - 1]`.
    Exclusive,
}

/// A scan.
#[derive(Debug, Clone)]
pub struct ScanRequest {
    /// The operator.
    pub op: Op,
    /// How many elements.
    pub n: u64,
    /// Inclusive or exclusive.
    pub kind: ScanKind,
    /// The element to start from, as bytes; the operator's identity if `None`.
    pub initial: Option<Vec<u8>>,
}

impl Request {
    /// A scan of `n` elements of `T` by `M`, from `initial` on (the operator's identity if `None`).
    pub fn scan<T: Element, M: Monoid<T>>(kind: ScanKind, initial: Option<T>, n: u64) -> Request {
        let initial = initial.map(|x| bytemuck::bytes_of(&x).to_vec());
        ScanRequest { op: Op::of::<T, M>(), n, kind, initial }.into()
    }
}

/// Exclusive scans.
pub static SCAN: Form = Form {
    has_operator: true,
    ..Form::new("scan", |_, op, n| ScanRequest { op, n, kind: ScanKind::Exclusive, initial: None }.into())
};

impl ScanRequest {
    pub(crate) fn bytes(&self) -> u64 {
        self.n.saturating_mul(self.op.element().bytes().into())
    }
}

impl Primitive for ScanRequest {
    fn form(&self) -> &'static Form {
        &SCAN
    }

    fn n(&self) -> u64 {
        self.n
    }

    fn label(&self) -> Label {
        let kind = if self.kind == ScanKind::Inclusive { "inclusive" } else { "exclusive" };
        let initial = self.initial.is_some().then_some("initial");
        Label::new(&[Some(self.op.element())], &*self.op.name, &[Some(kind), initial])
    }

    fn operands(&self) -> Vec<Operand> {
        [Slot::Input, Slot::Output].map(|slot| Operand::new(slot, self.op.element(), self.n)).into()
    }

    fn op(&self) -> Option<&Op> {
        Some(&self.op)
    }

    fn initial(&self) -> Option<&[u8]> {
        self.initial.as_deref()
    }

    fn bytes_moved_by(&self, _: u64) -> u64 {
        self.bytes().saturating_mul(2)
    }

    fn choose(&self, planner: &Planner<'_>, first: &'static Algorithm) -> &'static Algorithm {
        let can = |algorithm: &Algorithm| planner.lack(&Request::Scan(self.clone()), algorithm).is_none();
        if can(&scan::LOOKAHEAD) && scan::lookahead::is_fastest(planner, self) {
            &scan::LOOKAHEAD
        } else if *first == scan::LOOKBACK
            && can(&scan::LOOKBACK_PIPELINED)
            && scan::lookback_pipelined::is_fastest(planner, self)
        {
            &scan::LOOKBACK_PIPELINED
        } else {
            first
        }
    }
}

/// Prefix scan: every element combined with all before it.
///
/// Moves each element twice (once read, once written) by decoupled look-back (Merrill and Garland 2016), three times
/// by reduce-then-scan. A float's bits may differ from run to run where tiles look back, as what they combine depends on how far
/// others are; by `reduce_then_scan`, `lookahead` and, in chunks, `lookback_pipelined`
/// (see [`Options::algorithm`]) they are the same every time: [`Plan::follows_arrival`](crate::Plan::follows_arrival) tells.
///
/// Scratch is a state a tile of some thousand elements, of 8 or 16 bytes for each of an element's words, or a tile's sum: with counters up to
/// 64 KiB and a hundredth of the elements. [`scratch_bytes`](crate::scratch_bytes) has it to the byte. (On the CPU, whose plans have no
/// scratch, calls allocate what they need.)
///
/// # Errors
/// Of all calls: [`Error::Invalid`](crate::Error::Invalid) for spans of another length than the request's elements have or that overlap, and for more
/// elements than [`MAX_ELEMENTS`](crate::MAX_ELEMENTS) or than the device binds at once; [`Error::Unsupported`](crate::Error::Unsupported) for a type that the
/// device lacks; [`Error::Operator`](crate::Error::Operator) and [`Error::Compile`](crate::Error::Compile) for a text that does not compile; [`Error::OutOfMemory`](crate::Error::OutOfMemory),
/// [`Error::DeviceLost`](crate::Error::DeviceLost) and [`Error::Backend`](crate::Error::Backend) as the driver says.
pub trait Scan: Backend {
    /// Plans and compiles a scan of `n` elements, from `initial` on (the operator's identity if `None`).
    fn prepare_scan<T: Element, M: Monoid<T>>(
        &self,
        kind: ScanKind,
        initial: Option<T>,
        n: u64,
        layout: Layout,
    ) -> Result<Prepared<Self>> {
        let request = Request::scan::<T, M>(kind, initial, n);
        block_on(Prepared::new(self, &request, layout, Options::default()))
    }

    /// `output[i] = input[0] + ... + input[i]`, for an associative `+`. Spans are of equal length, apart or the same.
    fn inclusive_scan<T: Element, M: Monoid<T>>(&self, input: &Span<'_, Self>, output: &Span<'_, Self>) -> Result<()> {
        let request = Request::scan::<T, M>(ScanKind::Inclusive, None, count::<T>(input.bytes())?);
        run_once(self, &request, &Spans::new(input, output))
    }

    /// `output[i] = initial + input[0] + ... + input[i - 1]`. Spans are of equal length, apart or the same.
    fn exclusive_scan<T: Element, M: Monoid<T>>(
        &self,
        initial: T,
        input: &Span<'_, Self>,
        output: &Span<'_, Self>,
    ) -> Result<()> {
        let request = Request::scan::<T, M>(ScanKind::Exclusive, Some(initial), count::<T>(input.bytes())?);
        run_once(self, &request, &Spans::new(input, output))
    }
}
