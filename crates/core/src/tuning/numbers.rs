//! What a number is, and how those of an algorithm are declared beside it.

use crate::{Caps, DeviceKind, Language};

/// What a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberKind {
    /// Invocations of a workgroup, of whole subgroups.
    Workgroup,
    /// Invocations of a workgroup that is halved: a power of two.
    Halved,
    /// How many of something.
    Count,
    /// As [`NumberKind::Count`], or none.
    Optional,
}

impl NumberKind {
    /// The least that a number may be.
    pub(crate) fn least(self) -> u32 {
        match self {
            NumberKind::Optional => 0,
            NumberKind::Workgroup | NumberKind::Count => 1,
            NumberKind::Halved => 2,
        }
    }

    pub(crate) fn is_workgroup(self) -> bool {
        matches!(self, NumberKind::Workgroup | NumberKind::Halved)
    }
}

/// One number of a [`Tuning`].
pub(crate) struct Number<'a> {
    pub(crate) name: &'static str,
    pub(crate) kind: NumberKind,
    pub(crate) most: u32,
    pub(crate) value: &'a mut u32,
}

/// What a device's limits say, from which numbers start.
pub(crate) struct Limits {
    pub(crate) language: Language,
    /// Whether it is the host's processor.
    pub(crate) small: bool,
    pub(crate) has_subgroups: bool,
    /// Whether its subgroups are emulated: every row of a tile is barriers then, to compile and to run.
    pub(crate) emulated: bool,
    /// The most invocations of a workgroup that is halved: scans and reductions halve theirs.
    pub(crate) workgroup: u32,
    /// Invocations of a workgroup that ranks keys by its subgroups.
    pub(crate) ranking: u32,
    pub(crate) groups_per_unit: u32,
}

impl Limits {
    /// Those that every GPU has: to try numbers on.
    pub(crate) const USUAL: Limits = Limits {
        language: Language::Wgsl,
        small: false,
        has_subgroups: true,
        emulated: false,
        workgroup: 256,
        ranking: 256,
        groups_per_unit: 8,
    };

    fn of(caps: &Caps) -> Limits {
        let small = caps.kind == DeviceKind::Cpu;
        let workgroup = 1 << caps.max_workgroup.max(2).ilog2();
        let subgroup = caps.subgroups.map_or(32, |s| s.min).max(4);
        let widest = caps.subgroups.map_or(1, |s| s.max);
        Limits {
            language: caps.language,
            small,
            has_subgroups: caps.subgroups.is_some(),
            emulated: caps.emulates_subgroups(),
            workgroup,
            ranking: (subgroup * subgroups(caps)).max(widest).min(512).min(workgroup),
            groups_per_unit: if small { 2 } else { 8 },
        }
    }
}

/// Subgroups of a workgroup that ranks keys, each of which has 256 counts in workgroup memory: sixteen, or fewer where it is scarce.
fn subgroups(caps: &Caps) -> u32 {
    (caps.shared_bytes / 2 / 1024).clamp(4, 16)
}

/// Declares the numbers of an algorithm: each with its name in files, what it is, the most that it may be, and what a device's limits
/// alone suggest.
macro_rules! numbers {
    ($(#[$meta:meta])* pub struct $numbers:ident by $limits:ident {
        $($(#[$doc:meta])* $field:ident $name:literal: $kind:ident up to $most:expr => $initial:expr,)*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $numbers {
            $($(#[$doc])* pub $field: u32,)*
        }

        impl $numbers {
            #[allow(unused_variables, reason = "some depend on no limit")]
            pub(crate) fn by_limits($limits: &$crate::tuning::Limits) -> $numbers {
                $numbers { $($field: $initial,)* }
            }

            pub(crate) fn all(&mut self) -> impl Iterator<Item = $crate::tuning::Number<'_>> {
                use $crate::tuning::{NumberKind, Number};
                [$(Number { name: $name, kind: NumberKind::$kind, most: $most, value: &mut self.$field },)*].into_iter()
            }
        }
    };
}
pub(crate) use numbers;

macro_rules! tuning {
    ($($(#[$doc:meta])* $field:ident: $numbers:ident in $($module:ident)::+,)*) => {
        $(pub use crate::$($module)::+::$numbers;)*

        /// The numbers that plans depend on, by algorithm. Most are of tiles: a tile is what one workgroup takes at a time.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Tuning {
            $($(#[$doc])* pub $field: $numbers,)*
        }

        impl Tuning {
            /// What a device's limits alone suggest: where tables start from.
            pub fn by_limits(caps: &Caps) -> Tuning {
                Tuning::by(&Limits::of(caps))
            }

            pub(crate) fn by(limits: &Limits) -> Tuning {
                Tuning { $($field: $numbers::by_limits(limits),)* }
            }

            /// Every number.
            pub(crate) fn numbers(&mut self) -> impl Iterator<Item = Number<'_>> {
                std::iter::empty()$(.chain(self.$field.all()))*
            }
        }
    };
}

tuning! {
    /// Tiles of scans, some of whose numbers selections and reductions by key share.
    scan: ScanTiles in algorithm::scan,
    /// From which size on a scan goes by which algorithm.
    scan_choice: ScanChoice in primitive::scan,
    /// Numbers of a scan by look-back.
    lookback: Lookback in algorithm::scan::lookback,
    /// Numbers of a scan by look-ahead.
    lookahead: Lookahead in algorithm::scan::lookahead,
    /// Numbers of a scan by pipelined look-back.
    lookback_pipelined: LookbackPipelined in algorithm::scan::lookback_pipelined,
    /// Numbers of scans of several launches.
    scan_passes: ScanPasses in algorithm::scan::passes,
    /// Numbers of the literature's scans by tiles in workgroup memory.
    blocked: Blocked in algorithm::scan::passes,
    /// Numbers of reductions.
    reduce: Reductions in algorithm::reduce::single_pass,
    /// Numbers of Onesweep's passes.
    onesweep: Onesweep in algorithm::sort::partition,
    /// Numbers of the launch that counts digits.
    digit_counts: DigitCounts in algorithm::sort::partition,
    /// Numbers of a sort by one workgroup.
    one_tile: OneTile in algorithm::sort::one_tile,
    /// Numbers of a sort by counts.
    counting_sort: CountingSort in algorithm::sort::counting_sort,
    /// Numbers of a sort by one workgroup that merges.
    merge_tile: MergeTile in algorithm::sort::merge_tile,
    /// Numbers of sorts by merging.
    merge_sort: MergeSorts in algorithm::sort::merge_sort,
    /// Numbers of sorts of long segments.
    long_segments: LongSegments in algorithm::sort::by_length,
    /// Up to which size a sort merges.
    sort_choice: SortChoice in primitive::sort,
    /// Numbers of the workgroups that sort buckets.
    buckets: BucketTiles in algorithm::sort::hybrid,
    /// Numbers of a sort by upsweep, scan and downsweep.
    upsweep_downsweep: UpsweepDownsweep in algorithm::sort::upsweep_downsweep,
    /// Numbers of selections.
    select: Selections in algorithm::select,
    /// Histograms.
    histogram: Histograms in algorithm::histogram,
    /// Numbers of top_k.
    top_k: TopKs in algorithm::top_k,
    /// Numbers of reductions and scans of segments.
    segmented: SegmentedTiles in algorithm::segmented,
    /// Ranges of reductions of segments.
    ranges: SegmentRanges in algorithm::segmented,
    /// Numbers of reductions by key.
    reduce_by_key: ReductionsByKey in algorithm::reduce_by_key,
    /// What is said of every tile.
    words: Words in planner,
    /// Numbers of every algorithm whose tiles wait.
    chain: Chain in algorithm::chain,
}
