//! Selections and partitions: by look-back in one pass, or in three launches.

mod lookback;
mod parallel;
mod reduce_then_scan;

pub use lookback::LOOKBACK;
pub use parallel::PARALLEL;
pub use reduce_then_scan::REDUCE_THEN_SCAN;

use super::Algorithm;
use crate::planner::{Argument, Planner, tile_launch, whole, words_of};
use crate::tuning::numbers;
use crate::{Asks, Keeps, Kernel, KernelKey, Launch, Op, Rest, SelectRequest, Slot};

numbers! {
    /// Numbers of selections.
    pub struct Selections by l {
        /// Invocations of a selection's workgroup.
        workgroup "select_workgroup": Halved up to 1024 => 256.min(l.workgroup),
        /// Size, in 32-bit words, from which a selection in one pass stages its elements in workgroup memory;
        /// `u32::MAX` for never. They wait there while their tile looks back, and their ranks are packed four to a
        /// word. So few registers are held.
        staged_from "select_staged_from": Count up to u32::MAX => u32::MAX,
        /// Workgroups of a staged selection that a compute unit should hold at once; 0 for no bound. This bounds
        /// registers in CUDA, and in NVIDIA's OpenCL for workgroups of at most 256 invocations.
        resident "select_resident": Optional up to 16 => 0,
        /// 32-bit words that an invocation of a selection in one pass holds; at most 32, as a word has a bit for each
        /// element.
        words "select_words": Count up to 32 => 16,
        /// 32-bit words that an invocation of a selection in three launches holds; at most 32, for the same reason.
        passes_words "select_passes_words": Count up to 32 => 8,
    }
}

/// Those of the primitive.
pub(crate) static ALL: &[&Algorithm] = &[&PARALLEL, &LOOKBACK, &REDUCE_THEN_SCAN];

/// What they launch.
pub(crate) static KERNELS: &[&Kernel] =
    &[&lookback::KERNEL, &reduce_then_scan::TILE_COUNT, &reduce_then_scan::TILE_PLACE, &parallel::KERNEL];

/// The parameters of the kernels that place elements.
const PARAMS: &[&str] = &[
    "n",
    "tiles",
    "input_offset",
    "output_offset",
    "output_rest_offset",
    "output_count_offset",
    "input_values_offset",
    "output_values_offset",
];

/// Rows of a subgroup that are ranked at once: a word has a byte for each.
const ROWS_RANKED: u32 = 4;

/// What the kernels of one selection have in common.
struct SelectTask<'a> {
    request: &'a SelectRequest,
    /// Bytes of what a value is moved by.
    value_unit: u32,
    /// Of the counts.
    sum: Op,
    n: u32,
    workgroup: u32,
    rows: u32,
    tiles: u32,
}

impl<'a> SelectTask<'a> {
    /// Tiles of about `words` words an invocation.
    fn new(planner: &Planner<'_>, request: &'a SelectRequest, words: u32) -> Self {
        let (n, workgroup) = (request.n as u32, planner.tuning.select.workgroup);
        let element = request.selector.element();
        let words = planner.words(words.min(planner.tuning.scan.words), words_of(n, element), workgroup);
        let rows = words / element.words().max(Self::held_words(request));
        let rows = (rows / ROWS_RANKED).max(1) * ROWS_RANKED;
        let sum = Op::sum_of_counts();
        let value_unit = request.keeps.value().map_or(4, |value| planner.value_unit(value));
        SelectTask { request, value_unit, sum, n, workgroup, rows, tiles: n.div_ceil(workgroup * rows) }
    }

    /// 32-bit words that are held of an element until its place is known.
    fn held_words(request: &SelectRequest) -> u32 {
        let pairs = if let Keeps::Pairs(value) = &request.keeps { value.words() } else { 0 };
        request.output().words() + pairs
    }

    fn key(&self, kernel: &'static Kernel, parts: Vec<&'static str>, more: Vec<(&'static str, u32)>) -> KernelKey {
        let mut constants = vec![("WORKGROUP", self.workgroup), ("ROWS", self.rows)];
        constants.extend(more);
        let selector = Some(self.request.selector.clone());
        KernelKey { selector, ..KernelKey::new(kernel, parts, constants).by(&self.sum) }
    }

    /// What says which elements are kept.
    fn asks(&self) -> &'static str {
        match self.request.selector.asks() {
            Asks::Predicate => "select/predicate",
            Asks::Neighbours => "select/first_of_run",
        }
    }

    /// Bytes of what the output is written by.
    fn kept_unit(&self) -> u32 {
        match self.request.keeps {
            Keeps::Values(_) => self.value_unit,
            _ => self.request.output().bytes(),
        }
    }

    /// What kernels that write are told: of what parts that is, and what becomes of the elements that are not kept.
    fn written(&self) -> Vec<(&'static str, u32)> {
        let words = self.request.keeps.value().map(|value| ("VALUE_WORDS", value.bytes() / self.value_unit));
        let units = [("KEPT_UNIT", self.kept_unit()), ("VALUE_UNIT", self.value_unit)];
        [self.rest()].into_iter().chain(units).chain(words).collect()
    }

    /// The block that writes it.
    fn writes(&self) -> &'static str {
        match self.request.keeps {
            Keeps::Items => "select/keep_items",
            Keeps::Indices => "select/keep_indices",
            Keeps::Values(_) => "select/keep_values",
            Keeps::Pairs(_) => "select/keep_pairs",
        }
    }

    /// What becomes of the elements that are not kept.
    fn rest(&self) -> (&'static str, u32) {
        ("SELECT_REST", self.request.rest.code())
    }

    /// Input, output and count, and the values or the rest if there are some. Where there is no span for the rest the output
    /// stands for it.
    fn arguments(&self) -> Vec<Argument> {
        let (asked, output) = (self.request.selector.element().bytes(), self.request.output().bytes());
        let elements = |slot, bytes: u32| whole(slot, u64::from(self.n) * u64::from(bytes));
        let rest = if self.request.rest == Rest::Apart { Slot::Rest } else { Slot::Output };
        let unit = self.kept_unit();
        let mut arguments = vec![
            Argument { name: "input", offset: "input_offset", region: elements(Slot::Input, asked), unit: asked },
            Argument { name: "output", offset: "output_offset", region: elements(Slot::Output, output), unit },
            Argument { name: "output_count", offset: "output_count_offset", region: whole(Slot::Count, 4), unit: 4 },
        ];
        if let Some(value) = self.request.keeps.value() {
            let (name, offset, unit) = ("input_values", "input_values_offset", self.value_unit);
            arguments.push(Argument { name, offset, region: elements(Slot::InputValues, value.bytes()), unit });
        }
        match &self.request.keeps {
            Keeps::Pairs(value) => {
                let (name, offset, unit) = ("output_values", "output_values_offset", self.value_unit);
                arguments.push(Argument { name, offset, region: elements(Slot::OutputValues, value.bytes()), unit });
            }
            _ => {
                let (name, offset) = ("output_rest", "output_rest_offset");
                arguments.push(Argument { name, offset, region: elements(rest, output), unit });
            }
        }
        arguments
    }

    fn launch(&self, kernel: KernelKey, groups: u32, arguments: &[Argument]) -> Launch {
        tile_launch(kernel, groups, self.workgroup * self.rows, arguments)
    }
}
