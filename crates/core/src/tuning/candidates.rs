//! What tuning tries: for each call that numbers matter to, the values that they may take.

use crate::{
    Builtin, ByKeyRequest, Caps, ElementType, Fault, Language, Op, Options, Order, Predicate, ReduceRequest, Request,
    Rest, Scalar, ScanKind, ScanRequest, SelectRequest, Selector, SortRequest, Tuning, planner,
};

/// A call, and the numbers that its algorithm depends on, each with candidates, in the order in which they are tried.
#[derive(Debug, Clone, Copy)]
pub struct Candidates {
    /// As [`Request::primitive`] names it.
    pub primitive: &'static str,
    /// Its elements or keys.
    pub scalar: Scalar,
    /// The algorithm that the numbers are for; a device that does not have it is not tuned for it.
    pub algorithm: &'static str,
    /// Whether the planner chooses, as the numbers say from which size on, or up to which, it takes the algorithm.
    pub is_choice: bool,
    /// What tiles do wrong meanwhile.
    pub fault: Fault,
    /// How many elements it is timed with, if it is for so many.
    pub few: Option<u64>,
    /// The language whose kernels alone have the numbers, if not all.
    pub only: Option<Language>,
    /// By the names of [`Tuning`]'s fields.
    pub numbers: &'static [(&'static str, &'static [u32])],
}

impl Candidates {
    /// What is tuned by the time of one call, each subject after those whose numbers it depends on.
    #[rustfmt::skip]
    pub const ALL: &'static [Candidates] = &[
        tuned("scan", Scalar::U32, "lookback", &[("scan_workgroup_many", &[128, 256, 512]), ("scan_words", &[8, 16, 24, 32])]),
        tuned("scan", Scalar::U32, "lookback", &[("scan_window", &[1, 4, 8])]).of(1 << 20).only(Language::CudaC),
        tuned("scan", Scalar::U32, "lookback", &[("scan_many_each", &[3, 12])]).of(1 << 18),
        tuned("scan", Scalar::U32, "lookback", &[("scan_resident", &[0, 3, 4, 6])]).only(Language::OpenClC),
        tuned("scan", Scalar::U32, "lookback", &[("spin_limit", &[4, 16, 64, 256])]).with(Fault::Silent(10)),
        tuned("scan", Scalar::U32, "lookahead", &[("lookahead_rows", &[3, 5, 7])]),
        tuned("scan", Scalar::U64, "lookahead_registers", &[("lookahead_registers_workgroup", &[128, 256, 512])]),
        tuned("scan", Scalar::U32, "lookahead_registers", &[("lookahead_registers_chunks", &[0, 2, 4])]),
        // From where on they are faster: each size with it, and without.
        tuned("scan", Scalar::U32, "lookahead", &[("lookahead_from", &[1 << 26, u32::MAX])]).of(1 << 26).choice(),
        tuned("scan", Scalar::U32, "lookahead", &[("lookahead_from", &[1 << 25, 1 << 26])]).of(1 << 25).choice(),
        tuned("scan", Scalar::U32, "lookahead", &[("lookahead_from", &[1 << 24, 1 << 25])]).of(1 << 24).choice(),
        tuned("scan", Scalar::U32, "lookahead", &[("lookahead_from", &[1 << 23, 1 << 24])]).of(1 << 23).choice(),
        tuned("scan", Scalar::U32, "lookahead", &[("lookahead_from", &[1 << 22, 1 << 23])]).of(1 << 22).choice(),
        tuned("scan", Scalar::U32, "lookahead_registers", &[("lookahead_registers_from", &[1 << 26, u32::MAX])]).of(1 << 26).choice(),
        tuned("scan", Scalar::U32, "lookahead_registers", &[("lookahead_registers_from", &[1 << 25, 1 << 26])]).of(1 << 25).choice(),
        tuned("scan", Scalar::U32, "lookahead_registers", &[("lookahead_registers_from", &[1 << 24, 1 << 25])]).of(1 << 24).choice(),
        tuned("scan", Scalar::U32, "lookahead_registers", &[("lookahead_registers_from", &[1 << 23, 1 << 24])]).of(1 << 23).choice(),
        tuned("scan", Scalar::U32, "lookahead_registers", &[("lookahead_registers_from", &[1 << 22, 1 << 23])]).of(1 << 22).choice(),
        tuned("reduce", Scalar::U32, "single_pass", &[
            ("reduce_workgroup", &[128, 256, 512, 1024]),
            ("reduce_words", &[8, 16, 32]),
            ("groups_per_unit", &[2, 4, 8, 16]),
        ]),
        tuned("reduce", Scalar::U32, "single_pass", &[
            ("reduce_workgroup_few", &[256, 512]),
            ("reduce_few_each", &[16, 32, 64]),
        ]).of(1 << 21),
        tuned("reduce", Scalar::U32, "single_pass", &[("reduce_alone_words", &[16, 32, 64])]).of(1 << 14),
        tuned("reduce", Scalar::U64, "single_pass", &[("reduce_alone_words", &[64, 128])]).of(1 << 14),
        tuned("reduce", Scalar::U64, "single_pass", &[("reduce_ahead", &[0, 1])]).of(1 << 24),
        tuned("sort_keys", Scalar::U32, "onesweep", &[
            ("sort_workgroup", &[128, 256, 384, 512]),
            ("sort_keys", &[8, 12, 16, 20, 24, 28, 32, 36]),
            ("sort_resident", &[0, 2, 3, 4]),
            ("sort_window", &[1, 2, 4, 8]),
        ]),
        tuned("sort_keys", Scalar::U32, "onesweep", &[("sort_parts", &[1, 2, 4, 8])]).only(Language::Wgsl),
        tuned("sort_keys", Scalar::U32, "onesweep", &[
            ("count_workgroup", &[256, 512]),
            ("count_keys", &[8, 16]),
            ("count_groups", &[2, 4, 8]),
        ]).of(1 << 21),
        tuned("sort_keys", Scalar::U32, "onesweep", &[
            ("count_copies_workgroup", &[512, 1024]),
            ("count_copies_keys", &[4, 8, 16]),
        ]).only(Language::CudaC),
        // The same kernel where its tiles are not many, where they are few, and where they are fewer than units.
        tuned("sort_keys", Scalar::U32, "onesweep", &[("sort_keys_middling", &[20, 22, 24, 26, 28, 32])]).of(1 << 24),
        tuned("sort_keys", Scalar::U32, "onesweep", &[("sort_keys_few", &[12, 16, 20, 24, 32])]).of(1 << 22),
        tuned("sort_keys", Scalar::F32, "onesweep", &[("sort_tiles_few", &[32, 48, 64, 96])]).of(1 << 18),
        tuned("sort_keys", Scalar::U32, "hybrid", &[
            ("bucket_workgroup", &[128, 256, 512]),
            ("bucket_keys", &[16, 20, 24, 28, 32]),
            ("bucket_resident", &[0, 2, 3, 4]),
        ]).of(1 << 20),
        tuned("sort_keys", Scalar::U64, "onesweep", &[
            ("sort64_workgroup", &[128, 256, 384, 512]),
            ("sort_keys64", &[6, 8, 10, 12, 14, 16, 18, 20, 24, 28]),
            ("sort64_resident", &[0, 2, 3, 4]),
        ]),
        tuned("sort_pairs", Scalar::U32, "onesweep", &[
            ("pairs_workgroup", &[128, 256, 384, 512]),
            ("sort_pairs", &[8, 12, 16, 20, 24, 28, 32]),
            ("pairs_resident", &[0, 2, 3, 4]),
        ]),
        tuned("sort_keys", Scalar::U64, "onesweep", &[("sort64_parts", &[1, 2, 4, 8])]).only(Language::Wgsl),
        tuned("sort_pairs", Scalar::U32, "onesweep", &[("pairs_parts", &[1, 2, 4, 8])]).only(Language::Wgsl),
        tuned("select_if", Scalar::U32, "lookback", &[
            ("select_workgroup", &[128, 256, 512]),
            ("select_words", &[8, 16, 32]),
            ("select_staged_from", &[1 << 22, u32::MAX]),
            ("select_resident", &[0, 3, 4, 5, 6]),
        ]),
        tuned("reduce_by_key", Scalar::U32, "lookback", &[
            ("by_key_workgroup", &[128, 256, 512]),
            ("by_key_words", &[8, 14, 16, 18, 24, 32]),
            ("by_key_staged_from", &[1 << 20, 1 << 22, u32::MAX]),
            ("by_key_staged_workgroup", &[128, 256, 512]),
            ("by_key_staged_words", &[16, 24, 32]),
            ("by_key_resident", &[0, 3, 4, 5, 6]),
        ]),
        tuned("run_length_encode", Scalar::U32, "lookback", &[("run_lengths_resident", &[0, 3, 4, 5, 6])]),
        // What devices go by that have no subgroups, and whoever asks for no waiting.
        tuned("scan", Scalar::U32, "reduce_then_scan", &[("scan_passes_words", &[8, 16, 32]), ("scan_runs", &[8, 16, 32, 64])]),
        tuned("select_if", Scalar::U32, "reduce_then_scan", &[("select_passes_words", &[8, 16])]),
        tuned("reduce_by_key", Scalar::U32, "reduce_then_scan", &[("by_key_passes_words", &[8, 16]), ("by_key_staged_from", &[1 << 20, 1 << 22, u32::MAX])]),
        tuned("sort_keys", Scalar::U32, "upsweep_downsweep", &[("upsweep_keys", &[8, 16])]),
        // First the shape that a full tile wants, then how few keys an invocation should take.
        tuned("sort_keys", Scalar::U32, "one_tile", &[("tile_workgroup", &[256, 512, 1024])]).of(1 << 12),
        tuned("sort_keys", Scalar::U32, "one_tile", &[("tile_least", &[1, 2, 4])]).of(1 << 10),
        tuned("sort_keys", Scalar::U64, "merge_tile", &[("merge_workgroup", &[256, 512, 1024]), ("merge_keys", &[5, 9, 17])]).of(1 << 12),
        tuned("sort_keys", Scalar::U64, "merge_tile", &[("merge_least", &[3, 5, 9])]).of(1 << 10),
        // How many keys one tile is still the faster for, and how many of them merged: the most first, since what was kept is asked no more.
        tuned("sort_keys", Scalar::U32, "one_tile", &[("tile_keys", &[8, 16])]).of(1 << 12).choice(),
        tuned("sort_keys", Scalar::U32, "one_tile", &[("tile_keys", &[8, 16])]).of(1 << 13).choice(),
        tuned("sort_keys", Scalar::U64, "one_tile", &[("tile_keys64", &[8, 16])]).of(1 << 12).choice(),
        tuned("sort_pairs", Scalar::U32, "one_tile", &[("tile_pairs", &[8, 16])]).of(1 << 12).choice(),
        tuned("sort_keys", Scalar::U32, "merge_tile", &[("merge_most", &[1 << 10, 1 << 12])]).of(1 << 12).choice(),
        tuned("sort_keys", Scalar::U32, "merge_tile", &[("merge_most", &[0, 1 << 10])]).of(1 << 10).choice(),
        tuned("sort_keys", Scalar::U64, "merge_tile", &[("merge_most64", &[1 << 11, 1 << 12])]).of(1 << 12).choice(),
        tuned("sort_keys", Scalar::U64, "merge_tile", &[("merge_most64", &[0, 1 << 11])]).of(1 << 11).choice(),
    ];

    const fn of(self, few: u64) -> Candidates {
        Candidates { few: Some(few), ..self }
    }

    const fn only(self, language: Language) -> Candidates {
        Candidates { only: Some(language), ..self }
    }

    const fn with(self, fault: Fault) -> Candidates {
        Candidates { fault, ..self }
    }

    const fn choice(self) -> Candidates {
        Candidates { is_choice: true, ..self }
    }

    /// The call with `n` elements.
    pub fn request(&self, n: u64) -> Request {
        let sum = || Op::builtin(Builtin::Sum, self.scalar).expect("every scalar has a sum");
        let value = (self.primitive == "sort_pairs").then_some(ElementType::Scalar(Scalar::U32));
        match self.primitive {
            "scan" => Request::Scan(ScanRequest { op: sum(), n, kind: ScanKind::Exclusive, initial: None }),
            "reduce" => Request::Reduce(ReduceRequest { op: sum(), n, initial: None }),
            "select_if" => {
                Request::Select(SelectRequest { selector: Selector::of::<u32, UpperHalf>(), n, rest: Rest::Dropped })
            }
            "reduce_by_key" | "run_length_encode" => {
                let op = (self.primitive == "reduce_by_key").then(sum);
                Request::ByKey(ByKeyRequest { key: ElementType::Scalar(self.scalar), op, n })
            }
            _ => Request::Sort(SortRequest { key: self.scalar, value, n, order: Order::Ascending }),
        }
    }

    /// What is asked of the planner.
    pub fn options(&self) -> Options {
        let algorithm = (!self.is_choice).then_some(self.algorithm);
        Options { algorithm, fault: self.fault, ..Options::default() }
    }

    /// Whether a device has the algorithm, and its kernels the numbers.
    pub fn is_for(&self, caps: &Caps) -> bool {
        self.only.is_none_or(|language| language == caps.language)
            && planner::algorithms(&self.request(1), caps).contains(&self.algorithm)
    }

    /// How many elements it is timed with, where others are with `n`.
    pub fn size(&self, n: u64) -> u64 {
        self.few.map_or(n, |few| few.min(n))
    }

    /// Each of its numbers with each of the values that it may take.
    pub fn each(&self) -> impl Iterator<Item = (&'static str, u32)> {
        self.numbers.iter().flat_map(|(name, values)| values.iter().map(|value| (*name, *value)))
    }

    /// The names and values of its numbers in a tuning.
    pub fn values(&self, tuning: &Tuning) -> Vec<(&'static str, u32)> {
        self.numbers.iter().filter_map(|(name, _)| Some((*name, tuning.get(name)?))).collect()
    }
}

/// Keeps half of uniform numbers.
struct UpperHalf;

impl Predicate<u32> for UpperHalf {
    const NAME: &'static str = "upper_half";
    const WGSL: &'static str = "fn keep(v: T) -> bool { return v >= 0x80000000u; }";

    fn keep(v: u32) -> bool {
        v >= 1 << 31
    }
}

/// A subject of the size that is asked for.
const fn tuned(
    primitive: &'static str,
    scalar: Scalar,
    algorithm: &'static str,
    numbers: &'static [(&'static str, &'static [u32])],
) -> Candidates {
    Candidates { primitive, scalar, algorithm, is_choice: false, fault: Fault::None, few: None, only: None, numbers }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_numbers_that_there_are() {
        for subject in Candidates::ALL {
            assert_eq!(subject.request(10).primitive(), subject.primitive);
            for (name, value) in subject.each() {
                Tuning::smallest().set(name, value).unwrap();
            }
        }
    }
}
