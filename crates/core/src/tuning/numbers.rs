//! The numbers, each with what it is and the most that it may be.

/// What a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Invocations of a workgroup, of whole subgroups.
    Workgroup,
    /// Invocations of a workgroup that is halved: a power of two.
    Halved,
    /// How many of something.
    Count,
    /// As [`Kind::Count`], or none.
    Optional,
}

impl Kind {
    /// The least that a number may be.
    pub(super) fn least(self) -> u32 {
        match self {
            Kind::Optional => 0,
            Kind::Workgroup | Kind::Count => 1,
            Kind::Halved => 2,
        }
    }

    pub(super) fn is_workgroup(self) -> bool {
        matches!(self, Kind::Workgroup | Kind::Halved)
    }
}

/// One number of a [`Tuning`].
pub(super) struct Number<'a> {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) most: u32,
    pub(super) value: &'a mut u32,
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident: $kind:ident up to $most:expr,)*) => {
        /// Tile shapes. A tile is what one workgroup takes at a time.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Tuning {
            $($(#[$doc])* pub $name: u32,)*
        }

        impl Tuning {
            /// The least of each: to try numbers on.
            pub(super) fn smallest() -> Tuning {
                Tuning { $($name: Kind::$kind.least(),)* }
            }

            /// Every number.
            pub(super) fn numbers(&mut self) -> impl Iterator<Item = Number<'_>> {
                [$(Number { name: stringify!($name), kind: Kind::$kind, most: $most, value: &mut self.$name },)*].into_iter()
            }
        }
    };
}

numbers! {
    /// Invocations of a scan's workgroup.
    scan_workgroup: Halved up to 1024,
    /// Invocations of a look-back scan's workgroup where its tiles are many, and their elements are of one word; and where the smallest
    /// tiles are too many to look back at at once.
    scan_workgroup_many: Halved up to 1024,
    /// From how many elements on, for each invocation of such a workgroup on each compute unit, tiles are many.
    scan_many_each: Count up to 1 << 16,
    /// 32-bit words an invocation of a scan, of a selection or of a reduction by key holds at most.
    scan_words: Count up to 64,
    /// 32-bit words that one of these or of a reduction holds at least, if it may hold as many.
    words_least: Count up to 64,
    /// 32-bit words an invocation of a scan of several launches holds at most.
    scan_passes_words: Count up to 64,
    /// Runs of tiles for each compute unit in a scan of several launches.
    scan_runs: Count up to 1024,
    /// States that a lane reads at once when CUDA's look-back scan of elements of one word looks back, where that finds all tiles.
    scan_window: Count up to 16,
    /// Workgroups of a look-back scan that a compute unit should hold at once, which bounds its registers in NVIDIA's OpenCL; 0 for no bound.
    scan_resident: Optional up to 16,
    /// From so many 32-bit words on, `u32::MAX` for never.
    scan_resident_from: Count up to u32::MAX,
    /// Packs of 16 bytes that a lane of a look-ahead scan takes: odd, so that lanes keep off each other's banks.
    lookahead_rows: Count up to 15,
    /// How many times `spin_limit` a look-ahead block polls a tile's state before it helps: one warp folds a whole tile then.
    lookahead_patience: Count up to 1 << 10,
    /// How many times `spin_limit` its reduce warps poll the tile that they look after: fewer, since who helps late has nobody left to help.
    lookahead_ward_patience: Count up to 1 << 10,
    /// How many words of elements of one or two words a scan has at least to look ahead, where the device can; `u32::MAX` for never.
    lookahead_from: Count up to u32::MAX,
    /// How many words of elements of one or two words a scan has at least to look ahead by registers, where no hardware copies tiles;
    /// `u32::MAX` for never.
    lookahead_registers_from: Count up to u32::MAX,
    /// Invocations of its workgroup.
    lookahead_registers_workgroup: Halved up to 1024,
    /// Workgroups of it for each compute unit, which stay; of more than fit those left over end as they begin.
    lookahead_registers_groups: Count up to 64,
    /// Chunks of states, each of as many tiles as a subgroup has lanes, that it looks back at at once, for elements of one word where all
    /// subgroups are of one width: a float's bits are then the same every run. 0 to look back from tile to tile, where that is faster.
    lookahead_registers_chunks: Optional up to 16,
    /// Invocations of a workgroup of the literature's scans by tiles in workgroup memory.
    blocked_workgroup: Halved up to 1024,
    /// Elements an invocation of it takes.
    blocked_items: Count up to 16,
    /// Elements left out after every 32 in workgroup memory, where a tree is scanned: 0 or 1.
    blocked_padding: Optional up to 1,
    /// Invocations of a reduce's workgroup.
    reduce_workgroup: Halved up to 1024,
    /// Invocations of it where elements are few: a large workgroup would take more than its share.
    reduce_workgroup_few: Halved up to 1024,
    /// Up to how many 32-bit words for each invocation of a workgroup on each compute unit they are.
    reduce_few_each: Count up to 1 << 16,
    /// 32-bit words an invocation of a reduce loads at a time.
    reduce_words: Count up to 64,
    /// 32-bit words, in at most 32 packs, that an invocation of a workgroup that reduces all elements alone loads at most: of more there
    /// are several workgroups.
    reduce_alone_words: Count up to 128,
    /// Whether a reduce of an operator that commutes loads a workgroup's next tile as it combines this one, where each has two: 0 or 1.
    reduce_ahead: Optional up to 1,
    /// Workgroups of a reduce for each compute unit.
    groups_per_unit: Count up to 64,
    /// Invocations of a workgroup that sorts 32-bit keys without values.
    sort_workgroup: Workgroup up to 1024,
    /// Keys an invocation of it takes.
    sort_keys: Count up to 64,
    /// Keys an invocation of any sort takes at most, if they are no more than `sort_few_tiles` tiles a compute unit.
    sort_keys_few: Count up to 64,
    /// Tiles a compute unit that are few.
    sort_few_tiles: Count up to 1 << 10,
    /// Keys an invocation of any sort takes at most, if they are more than that, and no more than `sort_middling_tiles` tiles a compute unit.
    sort_keys_middling: Count up to 64,
    /// Tiles a compute unit that are neither few nor many.
    sort_middling_tiles: Count up to 1 << 10,
    /// Tiles that the keys of any sort go to at least, if they are few.
    sort_tiles_few: Count up to 1 << 16,
    /// Workgroups of it that a compute unit should hold at once, which bounds its registers in CUDA, and in NVIDIA's OpenCL those of workgroups
    /// of 256 at most; 0 for no bound.
    sort_resident: Optional up to 16,
    /// Parts of its tile that go through workgroup memory one after the other, in WGSL.
    sort_parts: Count up to 16,
    /// Invocations of a workgroup that sorts 64-bit keys.
    sort64_workgroup: Workgroup up to 1024,
    /// Keys an invocation of it takes.
    sort_keys64: Count up to 64,
    /// Workgroups of it that a compute unit should hold at once.
    sort64_resident: Optional up to 16,
    /// Parts of its tile that go through workgroup memory one after the other, in WGSL.
    sort64_parts: Count up to 16,
    /// Invocations of a workgroup that sorts 32-bit keys with values.
    pairs_workgroup: Workgroup up to 1024,
    /// Keys an invocation of it takes.
    sort_pairs: Count up to 64,
    /// Workgroups of it that a compute unit should hold at once.
    pairs_resident: Optional up to 16,
    /// Parts of its tile that go through workgroup memory one after the other, in WGSL.
    pairs_parts: Count up to 16,
    /// Invocations of a workgroup that sorts all keys by itself.
    tile_workgroup: Workgroup up to 1024,
    /// 32-bit keys without values an invocation of it takes at most: more keys than a workgroup's are sorted otherwise.
    tile_keys: Count up to 16,
    /// 32-bit keys with values an invocation of it takes at most.
    tile_pairs: Count up to 16,
    /// 64-bit keys an invocation of it takes at most.
    tile_keys64: Count up to 16,
    /// Keys an invocation of it takes at least: of fewer keys the workgroup is smaller.
    tile_least: Count up to 16,
    /// Invocations of a workgroup that merges all keys by itself.
    merge_workgroup: Halved up to 1024,
    /// Keys an invocation of it takes at most: odd, so that lanes keep off each other's banks.
    merge_keys: Count up to 31,
    /// Keys an invocation of it takes at least: of fewer keys the workgroup is smaller.
    merge_least: Count up to 31,
    /// How many 32-bit keys a sort has at most to be merged by one workgroup, on devices with subgroups; 0 for never.
    merge_most: Optional up to 1 << 14,
    /// How many 64-bit keys.
    merge_most64: Optional up to 1 << 14,
    /// Invocations of a workgroup that sorts a bucket of a sort from the most significant digit.
    bucket_workgroup: Workgroup up to 1024,
    /// Keys an invocation of it takes at most.
    bucket_keys: Count up to 32,
    /// Workgroups of it that a compute unit should hold at once.
    bucket_resident: Optional up to 16,
    /// Keys an invocation of a sort by upsweep, scan and downsweep takes at a time.
    upsweep_keys: Count up to 64,
    /// Invocations of a histogram's workgroup.
    count_workgroup: Workgroup up to 1024,
    /// Keys an invocation of it takes at a time.
    count_keys: Count up to 64,
    /// Workgroups of it for each compute unit.
    count_groups: Count up to 64,
    /// From so many keys on the lanes of a GPU's histogram count in copies of their own, which cost time to clear and to add up.
    count_copies_from: Count up to u32::MAX,
    /// Invocations of its one workgroup a compute unit then, where workgroup memory holds a copy for each lane.
    count_copies_workgroup: Workgroup up to 1024,
    /// Keys an invocation of that takes at a time.
    count_copies_keys: Count up to 64,
    /// States that an invocation of a sort reads at once when it looks back.
    sort_window: Count up to 16,
    /// Invocations of a selection's workgroup.
    select_workgroup: Halved up to 1024,
    /// From so many 32-bit words on the elements of a selection in one pass wait in workgroup memory while their tile looks back, and their ranks
    /// four to a word, so that few registers are held; `u32::MAX` for never.
    select_staged_from: Count up to u32::MAX,
    /// Workgroups of it that a compute unit should hold at once then, which bounds its registers in CUDA, and in NVIDIA's OpenCL those of
    /// workgroups of 256 at most; 0 for no bound.
    select_resident: Optional up to 16,
    /// 32-bit words an invocation of a selection in one pass holds; it has a bit of a word for each element.
    select_words: Count up to 32,
    /// 32-bit words an invocation of a selection in three launches holds; as many at most, for the same reason.
    select_passes_words: Count up to 32,
    /// Invocations of a workgroup of a reduction by key.
    by_key_workgroup: Halved up to 1024,
    /// 32-bit words of segments that an invocation of a reduction by key in one pass holds.
    by_key_words: Count up to 64,
    /// 32-bit words of segments that an invocation of a reduction by key in three launches holds.
    by_key_passes_words: Count up to 64,
    /// From so many 32-bit words of keys on the elements and the runs of a reduction by key move by way of workgroup memory, so that neighbours
    /// move neighbouring words and few registers are held; `u32::MAX` for never.
    by_key_staged_from: Count up to u32::MAX,
    /// Invocations of its workgroup then.
    by_key_staged_workgroup: Halved up to 1024,
    /// 32-bit words of segments that an invocation of it holds then.
    by_key_staged_words: Count up to 64,
    /// Workgroups of it in one pass that a compute unit should hold at once then, which bounds its registers in CUDA, and in NVIDIA's OpenCL those
    /// of workgroups of 256 at most; 0 for no bound.
    by_key_resident: Optional up to 16,
    /// The same of run lengths, which have no values to hold.
    run_lengths_resident: Optional up to 16,
    /// Polls of a tile's state before its waiter computes the aggregate itself; a quarter of it where look-ahead by registers goes by chunks.
    spin_limit: Count up to 1 << 20,
}
