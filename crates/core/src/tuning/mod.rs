//! The numbers that planning depends on, as data: what limits suggest, and over that what tables say of measured devices.

mod candidates;
mod table;

pub use self::candidates::Candidates;
pub use self::table::{TuningRow, TuningTable};
use crate::{Caps, DeviceKind, Error, Language, Result, SubgroupSource};

/// Tile shapes. A tile is what one workgroup takes at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tuning {
    /// Invocations of a scan's workgroup.
    pub scan_workgroup: u32,
    /// Invocations of a look-back scan's workgroup where its tiles are many, and their elements are of one word; and where the smallest
    /// tiles are too many to look back at at once.
    pub scan_workgroup_many: u32,
    /// 32-bit words an invocation of a scan holds.
    pub scan_words: u32,
    /// States that a lane reads at once when CUDA's look-back scan of elements of one word looks back, where that finds all tiles.
    pub scan_window: u32,
    /// Packs of 16 bytes that a lane of a look-ahead scan takes: odd, so that lanes keep off each other's banks.
    pub lookahead_rows: u32,
    /// How many words of elements of one or two words a scan has at least to look ahead, where the device can; `u32::MAX` for never.
    pub lookahead_from: u32,
    /// How many words of elements of one or two words a scan has at least to look ahead by registers, where no hardware copies tiles;
    /// `u32::MAX` for never.
    pub lookahead_registers_from: u32,
    /// Invocations of its workgroup.
    pub lookahead_registers_workgroup: u32,
    /// Chunks of states, each of as many tiles as a subgroup has lanes, that it looks back at at once, for elements of one word where all
    /// subgroups are of one width: a float's bits are then the same every run. 0 to look back from tile to tile, where that is faster.
    pub lookahead_registers_chunks: u32,
    /// Invocations of a workgroup of the literature's scans by tiles in workgroup memory.
    pub blocked_workgroup: u32,
    /// Elements an invocation of it takes.
    pub blocked_items: u32,
    /// Elements left out after every 32 in workgroup memory, where a tree is scanned: 0 or 1.
    pub blocked_padding: u32,
    /// Invocations of a reduce's workgroup.
    pub reduce_workgroup: u32,
    /// 32-bit words an invocation of a reduce loads at a time.
    pub reduce_words: u32,
    /// 32-bit words, in at most 16 packs, that an invocation of a workgroup that reduces all elements alone loads at most: of more there
    /// are several workgroups.
    pub reduce_alone_words: u32,
    /// Workgroups of a reduce or a histogram for each compute unit.
    pub groups_per_unit: u32,
    /// Invocations of a workgroup that sorts 32-bit keys without values.
    pub sort_workgroup: u32,
    /// Keys an invocation of it takes.
    pub sort_keys: u32,
    /// Keys an invocation of any sort takes at most, if they are no more than eight tiles a compute unit.
    pub sort_keys_few: u32,
    /// Keys an invocation of any sort takes at most, if they are no more than sixteen tiles a compute unit.
    pub sort_keys_middling: u32,
    /// Tiles that the keys of any sort go to at least, if they are few.
    pub sort_tiles_few: u32,
    /// Workgroups of it that a compute unit should hold at once: bounds the registers of CUDA's and NVIDIA's OpenCL kernels.
    pub sort_resident: u32,
    /// Parts of its tile that go through workgroup memory one after the other, in WGSL.
    pub sort_parts: u32,
    /// Invocations of a workgroup that sorts 64-bit keys.
    pub sort64_workgroup: u32,
    /// Keys an invocation of it takes.
    pub sort_keys64: u32,
    /// Workgroups of it that a compute unit should hold at once.
    pub sort64_resident: u32,
    /// Parts of its tile that go through workgroup memory one after the other, in WGSL.
    pub sort64_parts: u32,
    /// Invocations of a workgroup that sorts 32-bit keys with values.
    pub pairs_workgroup: u32,
    /// Keys an invocation of it takes.
    pub sort_pairs: u32,
    /// Workgroups of it that a compute unit should hold at once.
    pub pairs_resident: u32,
    /// Parts of its tile that go through workgroup memory one after the other, in WGSL.
    pub pairs_parts: u32,
    /// Invocations of a workgroup that sorts all keys by itself.
    pub tile_workgroup: u32,
    /// 32-bit keys without values an invocation of it takes at most: more keys than a workgroup's are sorted otherwise.
    pub tile_keys: u32,
    /// 32-bit keys with values an invocation of it takes at most.
    pub tile_pairs: u32,
    /// 64-bit keys an invocation of it takes at most.
    pub tile_keys64: u32,
    /// Keys an invocation of it takes at least: of fewer keys the workgroup is smaller.
    pub tile_least: u32,
    /// Invocations of a workgroup that merges all keys by itself.
    pub merge_workgroup: u32,
    /// Keys an invocation of it takes at most: odd, so that lanes keep off each other's banks.
    pub merge_keys: u32,
    /// Keys an invocation of it takes at least: of fewer keys the workgroup is smaller.
    pub merge_least: u32,
    /// How many 32-bit keys a sort has at most to be merged by one workgroup, on devices with subgroups; 0 for never.
    pub merge_most: u32,
    /// How many 64-bit keys.
    pub merge_most64: u32,
    /// Invocations of a workgroup that sorts a bucket of a sort from the most significant digit.
    pub bucket_workgroup: u32,
    /// Keys an invocation of it takes at most.
    pub bucket_keys: u32,
    /// Workgroups of it that a compute unit should hold at once.
    pub bucket_resident: u32,
    /// From so many keys on the lanes of a GPU's histogram count in copies of their own, which cost time to clear and to add up.
    pub count_copies_from: u32,
    /// States that an invocation of a sort reads at once when it looks back.
    pub sort_window: u32,
    /// Polls of a tile's state before its waiter computes the aggregate itself; half of it where look-ahead by registers goes by chunks.
    pub spin_limit: u32,
}

impl Tuning {
    /// The shipped numbers for a device: of the shipped table where that has it, elsewhere a shape that every device can run.
    pub fn of(caps: &Caps) -> Tuning {
        let mut tuning = Tuning::by_limits(caps);
        TuningTable::shipped().apply(caps, &mut tuning);
        tuning
    }

    /// The numbers for a device, those of the file that `TRIFOLD_TUNING` names among them.
    ///
    /// # Errors
    /// As [`TuningTable::read`], if that is set.
    pub fn for_device(caps: &Caps) -> Result<Tuning> {
        let mut tuning = Tuning::of(caps);
        if let Some((table, path)) = TuningTable::from_env()? {
            if !table.is_for(caps) {
                tracing::warn!(device = %caps.device, ?path, "this tuning table has no numbers for the device: it keeps the shipped ones");
            }
            table.apply(caps, &mut tuning);
        }
        Ok(tuning)
    }

    /// What a device's limits alone suggest: where tables start from.
    pub fn by_limits(caps: &Caps) -> Tuning {
        let small = caps.kind == DeviceKind::Cpu;
        let subgroup = caps.subgroups.map_or(32, |s| s.min).max(4);
        // Scans and reductions halve theirs.
        let limit = 1 << caps.max_workgroup.max(2).ilog2();
        // One histogram of 256 counts per subgroup in workgroup memory: sixteen subgroups, or fewer where it is scarce.
        let subgroups = (caps.shared_bytes / 2 / 1024).clamp(4, 16);
        let emulated = caps.subgroups.is_some_and(|s| s.source == SubgroupSource::Emulated);
        let widest = caps.subgroups.map_or(1, |s| s.max);
        let sort_workgroup = (subgroup * subgroups).max(widest).min(512).min(limit);
        Tuning {
            scan_workgroup: 256.min(limit),
            scan_workgroup_many: 256.min(limit),
            // Every row of an emulated subgroup is barriers to compile and to run.
            scan_words: if emulated { 8 } else { 32 },
            scan_window: 1,
            lookahead_rows: 7,
            lookahead_from: 1 << 23,
            lookahead_registers_from: u32::MAX,
            lookahead_registers_workgroup: 256.min(limit),
            // What WGSL's compiler made of chunks took a third longer; where times do not matter they are verified all the same.
            lookahead_registers_chunks: match caps.language {
                _ if small => 1,
                Language::Wgsl => 0,
                _ => 4,
            },
            blocked_workgroup: 256.min(limit),
            blocked_items: 2,
            blocked_padding: 1,
            reduce_workgroup: 256.min(limit),
            reduce_words: 32,
            reduce_alone_words: 64,
            groups_per_unit: if small { 2 } else { 8 },
            sort_workgroup,
            sort_keys: if emulated { 8 } else { 16 },
            sort_keys_few: 20,
            sort_keys_middling: 64,
            sort_tiles_few: 96,
            sort_resident: 2,
            sort_parts: 2,
            sort64_workgroup: sort_workgroup,
            sort_keys64: 8,
            sort64_resident: 2,
            sort64_parts: 2,
            pairs_workgroup: sort_workgroup,
            sort_pairs: if emulated { 8 } else { 12 },
            pairs_resident: 2,
            pairs_parts: 2,
            tile_workgroup: sort_workgroup,
            tile_keys: if emulated { 4 } else { 8 },
            tile_pairs: if emulated { 4 } else { 8 },
            tile_keys64: if emulated { 4 } else { 8 },
            tile_least: 2,
            merge_workgroup: 512.min(limit),
            merge_keys: if emulated { 3 } else { 9 },
            merge_least: 5,
            merge_most: 0,
            merge_most64: 2048,
            bucket_workgroup: sort_workgroup,
            bucket_keys: if emulated { 4 } else { 16 },
            bucket_resident: 2,
            count_copies_from: 1 << 22,
            sort_window: if small { 1 } else { 4 },
            spin_limit: if small { 16 } else { 256 },
        }
    }

    /// All ones: to try numbers on.
    fn smallest() -> Tuning {
        Tuning {
            scan_workgroup: 1,
            scan_workgroup_many: 1,
            scan_words: 1,
            scan_window: 1,
            lookahead_rows: 1,
            lookahead_from: 1,
            lookahead_registers_from: 1,
            lookahead_registers_workgroup: 1,
            lookahead_registers_chunks: 0,
            blocked_workgroup: 1,
            blocked_items: 1,
            blocked_padding: 0,
            reduce_workgroup: 1,
            reduce_words: 1,
            reduce_alone_words: 1,
            groups_per_unit: 1,
            sort_workgroup: 1,
            sort_keys: 1,
            sort_keys_few: 1,
            sort_keys_middling: 1,
            sort_tiles_few: 1,
            sort_resident: 1,
            sort_parts: 1,
            sort64_workgroup: 1,
            sort_keys64: 1,
            sort64_resident: 1,
            sort64_parts: 1,
            pairs_workgroup: 1,
            sort_pairs: 1,
            pairs_resident: 1,
            pairs_parts: 1,
            tile_workgroup: 1,
            tile_keys: 1,
            tile_pairs: 1,
            tile_keys64: 1,
            tile_least: 1,
            merge_workgroup: 2,
            merge_keys: 1,
            merge_least: 1,
            merge_most: 1,
            merge_most64: 1,
            bucket_workgroup: 1,
            bucket_keys: 1,
            bucket_resident: 1,
            count_copies_from: 1,
            sort_window: 1,
            spin_limit: 1,
        }
    }
}

impl Tuning {
    /// Changes one number by its field's name.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such field, or no kernel could run with the value.
    pub fn set(&mut self, name: &str, value: u32) -> Result<()> {
        let fields = self.fields();
        let names = fields.each_ref().map(|(name, ..)| *name).join(", ");
        let Some((_, most, field)) = fields.into_iter().find(|(field, ..)| *field == name) else {
            return Err(Error::Invalid(format!("no tuning `{name}`; there are {names}")));
        };
        check_number(name, value, most)?;
        // Whole subgroups, of most devices that the number may be for; the planner knows the one.
        if name.contains("workgroup") && !value.is_multiple_of(32) {
            return Err(Error::Invalid(format!("tuning `{name}` of {value}; it must be a multiple of 32")));
        }
        *field = value;
        Ok(())
    }

    /// As the planner takes it on a device: fails with the first number that no kernel could run with, since fields are anybody's
    /// to set, and has no workgroup that is larger than the device's.
    pub(crate) fn within(&self, caps: &Caps) -> Result<Tuning> {
        let mut tuning = self.clone();
        let widest = caps.subgroups.map_or(1, |s| s.max).max(1);
        for (name, most, value) in tuning.fields() {
            check_number(name, *value, most)?;
            if HALVED.contains(&name) {
                *value = (*value).min(1 << caps.max_workgroup.max(2).ilog2());
            } else if name.contains("workgroup") {
                *value = (*value).min((caps.max_workgroup / widest * widest).max(widest));
            }
        }
        Ok(tuning)
    }

    /// One number by its field's name.
    pub fn get(&self, name: &str) -> Option<u32> {
        self.clone().fields().into_iter().find(|(field, ..)| *field == name).map(|(.., value)| *value)
    }

    /// Every number, by its name and with the most that it may be.
    fn fields(&mut self) -> [(&'static str, u32, &mut u32); 47] {
        [
            ("scan_workgroup", 1024, &mut self.scan_workgroup),
            ("scan_workgroup_many", 1024, &mut self.scan_workgroup_many),
            ("scan_words", 64, &mut self.scan_words),
            ("scan_window", 16, &mut self.scan_window),
            ("lookahead_rows", 15, &mut self.lookahead_rows),
            ("lookahead_from", u32::MAX, &mut self.lookahead_from),
            ("lookahead_registers_from", u32::MAX, &mut self.lookahead_registers_from),
            ("lookahead_registers_workgroup", 1024, &mut self.lookahead_registers_workgroup),
            ("lookahead_registers_chunks", 16, &mut self.lookahead_registers_chunks),
            ("blocked_workgroup", 1024, &mut self.blocked_workgroup),
            ("blocked_items", 16, &mut self.blocked_items),
            ("blocked_padding", 1, &mut self.blocked_padding),
            ("reduce_workgroup", 1024, &mut self.reduce_workgroup),
            ("reduce_words", 64, &mut self.reduce_words),
            ("reduce_alone_words", 64, &mut self.reduce_alone_words),
            ("groups_per_unit", 64, &mut self.groups_per_unit),
            ("sort_workgroup", 1024, &mut self.sort_workgroup),
            ("sort_keys", 64, &mut self.sort_keys),
            ("sort_keys_few", 64, &mut self.sort_keys_few),
            ("sort_keys_middling", 64, &mut self.sort_keys_middling),
            ("sort_tiles_few", 1 << 16, &mut self.sort_tiles_few),
            ("sort_resident", 16, &mut self.sort_resident),
            ("sort_parts", 16, &mut self.sort_parts),
            ("sort64_workgroup", 1024, &mut self.sort64_workgroup),
            ("sort_keys64", 64, &mut self.sort_keys64),
            ("sort64_resident", 16, &mut self.sort64_resident),
            ("sort64_parts", 16, &mut self.sort64_parts),
            ("pairs_workgroup", 1024, &mut self.pairs_workgroup),
            ("sort_pairs", 64, &mut self.sort_pairs),
            ("pairs_resident", 16, &mut self.pairs_resident),
            ("pairs_parts", 16, &mut self.pairs_parts),
            ("tile_workgroup", 1024, &mut self.tile_workgroup),
            ("tile_keys", 16, &mut self.tile_keys),
            ("tile_pairs", 16, &mut self.tile_pairs),
            ("tile_keys64", 16, &mut self.tile_keys64),
            ("tile_least", 16, &mut self.tile_least),
            ("merge_workgroup", 1024, &mut self.merge_workgroup),
            ("merge_keys", 31, &mut self.merge_keys),
            ("merge_least", 31, &mut self.merge_least),
            ("merge_most", 1 << 14, &mut self.merge_most),
            ("merge_most64", 1 << 14, &mut self.merge_most64),
            ("bucket_workgroup", 1024, &mut self.bucket_workgroup),
            ("bucket_keys", 32, &mut self.bucket_keys),
            ("bucket_resident", 16, &mut self.bucket_resident),
            ("count_copies_from", u32::MAX, &mut self.count_copies_from),
            ("sort_window", 16, &mut self.sort_window),
            ("spin_limit", 1 << 20, &mut self.spin_limit),
        ]
    }
}

/// Workgroups that are halved.
const HALVED: [&str; 6] = [
    "scan_workgroup",
    "scan_workgroup_many",
    "lookahead_registers_workgroup",
    "blocked_workgroup",
    "reduce_workgroup",
    "merge_workgroup",
];

fn check_number(name: &str, value: u32, most: u32) -> Result<()> {
    let wrong = |wanted: String| Err(Error::Invalid(format!("tuning `{name}` of {value}; it must be {wanted}")));
    let is_halved = HALVED.contains(&name);
    let may_be_none = ["lookahead_registers_chunks", "blocked_padding", "merge_most", "merge_most64"].contains(&name);
    let least = if is_halved { 2 } else { u32::from(!may_be_none) };
    if !(least..=most).contains(&value) {
        return wrong(format!("at least {least} and at most {most}"));
    }
    if is_halved && !value.is_power_of_two() {
        return wrong("a power of two".into());
    }
    Ok(())
}
