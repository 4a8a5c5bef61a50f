//! What tuning tries: for each call that numbers matter to, the values that they may take.

use crate::{
    Builtin, Caps, ElementType, Language, Op, Order, ReduceRequest, Request, Scalar, ScanKind, ScanRequest,
    SortRequest, Tuning, planner,
};

/// A call, and the numbers that its algorithm depends on, each with candidates, in the order in which they are tried.
#[derive(Debug)]
pub struct Candidates {
    /// As [`Request::primitive`] names it.
    pub primitive: &'static str,
    /// Its elements or keys.
    pub scalar: Scalar,
    /// The algorithm that the numbers are for; a device that does not have it is not tuned for it.
    pub algorithm: &'static str,
    /// How many elements it is timed with, if it is for few.
    pub few: Option<u64>,
    /// The language whose kernels alone have the numbers, if not all.
    pub only: Option<Language>,
    /// By the names of [`Tuning`]'s fields.
    pub numbers: &'static [(&'static str, &'static [u32])],
}

impl Candidates {
    /// What is tuned by the time of one call, each subject after those whose numbers it depends on.
    pub const ALL: &'static [Candidates] = &[
        Candidates {
            primitive: "scan",
            scalar: Scalar::U32,
            algorithm: "lookback",
            few: None,
            only: None,
            numbers: &[("scan_workgroup_many", &[128, 256, 512]), ("scan_words", &[8, 16, 24, 32])],
        },
        Candidates {
            primitive: "scan",
            scalar: Scalar::U32,
            algorithm: "lookback",
            few: Some(1 << 20),
            only: Some(Language::CudaC),
            numbers: &[("scan_window", &[1, 4, 8])],
        },
        Candidates {
            primitive: "scan",
            scalar: Scalar::U32,
            algorithm: "lookahead",
            few: None,
            only: None,
            numbers: &[("lookahead_rows", &[3, 5, 7])],
        },
        Candidates {
            primitive: "reduce",
            scalar: Scalar::U32,
            algorithm: "single_pass",
            few: None,
            only: None,
            numbers: &[
                ("reduce_workgroup", &[128, 256, 512, 1024]),
                ("reduce_words", &[8, 16, 32]),
                ("groups_per_unit", &[2, 4, 8, 16]),
            ],
        },
        Candidates {
            primitive: "sort_keys",
            scalar: Scalar::U32,
            algorithm: "onesweep",
            few: None,
            only: None,
            numbers: &[
                ("sort_workgroup", &[128, 256, 384, 512]),
                ("sort_keys", &[8, 12, 16, 20, 24, 28, 32, 36]),
                ("sort_resident", &[1, 2, 3, 4]),
                ("sort_window", &[1, 2, 4, 8]),
            ],
        },
        // The same kernel where its tiles are not many, where they are few, and where they are fewer than units.
        Candidates {
            primitive: "sort_keys",
            scalar: Scalar::U32,
            algorithm: "onesweep",
            few: Some(1 << 24),
            only: None,
            numbers: &[("sort_keys_middling", &[20, 22, 24, 26, 28, 32])],
        },
        Candidates {
            primitive: "sort_keys",
            scalar: Scalar::U32,
            algorithm: "onesweep",
            few: Some(1 << 22),
            only: None,
            numbers: &[("sort_keys_few", &[12, 16, 20, 24])],
        },
        Candidates {
            primitive: "sort_keys",
            scalar: Scalar::F32,
            algorithm: "onesweep",
            few: Some(1 << 18),
            only: None,
            numbers: &[("sort_tiles_few", &[32, 48, 64, 96])],
        },
        Candidates {
            primitive: "sort_keys",
            scalar: Scalar::U32,
            algorithm: "hybrid",
            few: Some(1 << 20),
            only: None,
            numbers: &[
                ("bucket_workgroup", &[128, 256, 512]),
                ("bucket_keys", &[16, 20, 24, 28, 32]),
                ("bucket_resident", &[1, 2, 3, 4]),
            ],
        },
        Candidates {
            primitive: "sort_keys",
            scalar: Scalar::U64,
            algorithm: "onesweep",
            few: None,
            only: None,
            numbers: &[
                ("sort64_workgroup", &[128, 256, 384, 512]),
                ("sort_keys64", &[6, 8, 10, 12, 14, 16, 18, 20]),
                ("sort64_resident", &[1, 2, 3, 4]),
            ],
        },
        Candidates {
            primitive: "sort_pairs",
            scalar: Scalar::U32,
            algorithm: "onesweep",
            few: None,
            only: None,
            numbers: &[
                ("pairs_workgroup", &[128, 256, 384, 512]),
                ("sort_pairs", &[8, 12, 16, 20, 24, 28]),
                ("pairs_resident", &[1, 2, 3, 4]),
            ],
        },
        // First the shape that a full tile wants, then how few keys an invocation should take.
        Candidates {
            primitive: "sort_keys",
            scalar: Scalar::U32,
            algorithm: "one_tile",
            few: Some(1 << 12),
            only: None,
            numbers: &[("tile_workgroup", &[256, 512, 1024])],
        },
        Candidates {
            primitive: "sort_keys",
            scalar: Scalar::U32,
            algorithm: "one_tile",
            few: Some(1 << 10),
            only: None,
            numbers: &[("tile_least", &[1, 2, 4])],
        },
    ];

    /// The call with `n` elements.
    pub fn request(&self, n: u64) -> Request {
        let sum = || Op::builtin(Builtin::Sum, self.scalar).expect("every scalar has a sum");
        let value = (self.primitive == "sort_pairs").then_some(ElementType::Scalar(Scalar::U32));
        match self.primitive {
            "scan" => Request::Scan(ScanRequest { op: sum(), n, kind: ScanKind::Exclusive, initial: None }),
            "reduce" => Request::Reduce(ReduceRequest { op: sum(), n, initial: None }),
            _ => Request::Sort(SortRequest { key: self.scalar, value, n, order: Order::Ascending }),
        }
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

    /// The names and values of its numbers in a tuning.
    pub fn values(&self, tuning: &Tuning) -> Vec<(&'static str, u32)> {
        self.numbers.iter().filter_map(|(name, _)| Some((*name, tuning.get(name)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_numbers_that_there_are() {
        for subject in Candidates::ALL {
            assert_eq!(subject.request(10).primitive(), subject.primitive);
            for (name, values) in subject.numbers {
                for value in *values {
                    Tuning::smallest().set(name, *value).unwrap();
                }
            }
        }
    }
}
