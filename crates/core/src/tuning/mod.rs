//! The numbers that planning depends on, as data: what limits suggest, and over that what tables say of measured devices.

mod candidates;
mod numbers;
mod table;

pub use self::candidates::Candidates;
pub(crate) use self::candidates::tuned;
pub use self::numbers::Tuning;
use self::numbers::{Kind, Number};
pub use self::table::{TuningRow, TuningTable};
use crate::{Caps, DeviceKind, Error, Language, Result};

impl Tuning {
    /// The shipped numbers for a device: of the shipped table where that has it, elsewhere a shape that every device can run.
    pub fn of(caps: &Caps) -> Tuning {
        let mut tuning = Tuning::by_limits(caps);
        TuningTable::shipped().apply(caps, &mut tuning);
        tuning
    }

    /// The numbers for a device, those of the file that `TRIFOLD_TUNING` names among them: what a backend opens a device with.
    ///
    /// # Errors
    /// If that is set, as [`TuningTable::read`] and as [`Tuning::by_table`].
    pub fn for_device(caps: &Caps) -> Result<Tuning> {
        let Some((table, path)) = TuningTable::from_env()? else { return Ok(Tuning::of(caps)) };
        Tuning::by_table(caps, &table).map_err(|error| match error {
            Error::Invalid(why) => Error::Invalid(format!("{}: {why}, or unset TRIFOLD_TUNING", path.display())),
            other => other,
        })
    }

    /// The shipped numbers for a device, and over them a table's: of a file that a program reads itself, for plans of its own choice
    /// ([`Prepared::without_scratch`](crate::Prepared::without_scratch)).
    ///
    /// # Errors
    /// [`Error::Invalid`] if no row of the table is for the device: whoever names a table expects it to do something.
    pub fn by_table(caps: &Caps, table: &TuningTable) -> Result<Tuning> {
        if !table.is_for(caps) {
            return Err(Error::Invalid(format!(
                "a tuning table with no numbers for {} on {} ({}); run `trifold tune` on it, and put what that writes behind \
                 the table's rows",
                caps.backend, caps.device, caps.api
            )));
        }
        let mut tuning = Tuning::of(caps);
        table.apply(caps, &mut tuning);
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
        let emulated = caps.emulates_subgroups();
        let widest = caps.subgroups.map_or(1, |s| s.max);
        let groups_per_unit = if small { 2 } else { 8 };
        let sort_workgroup = (subgroup * subgroups).max(widest).min(512).min(limit);
        Tuning {
            scan_workgroup: 256.min(limit),
            scan_workgroup_many: 256.min(limit),
            // Every row of an emulated subgroup is barriers to compile and to run.
            scan_words: if emulated { 8 } else { 32 },
            scan_many_each: 3,
            words_least: 8,
            // Without subgroups a tile's rows are barriers too.
            scan_passes_words: if emulated || caps.subgroups.is_none() { 8 } else { 16 },
            // A run waits for memory tile after tile: more of them than are held at a time fill the gaps.
            scan_runs: 8 * groups_per_unit,
            scan_window: 1,
            scan_resident: 0,
            scan_resident_from: 1,
            lookahead_rows: 7,
            lookahead_patience: 8,
            lookahead_ward_patience: 4,
            lookahead_from: 1 << 23,
            lookahead_registers_from: u32::MAX,
            lookahead_registers_workgroup: 256.min(limit),
            lookahead_registers_groups: 8,
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
            reduce_workgroup_few: 256.min(limit),
            reduce_few_each: 32,
            reduce_words: 32,
            reduce_alone_words: 64,
            reduce_ahead: 0,
            groups_per_unit,
            sort_workgroup,
            sort_keys: if emulated { 8 } else { 16 },
            sort_keys_few: 20,
            sort_few_tiles: 8,
            sort_keys_middling: 64,
            sort_middling_tiles: 16,
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
            upsweep_keys: 8,
            count_workgroup: 256.min(limit),
            count_keys: 16,
            count_groups: groups_per_unit,
            count_copies_from: 1 << 22,
            count_copies_workgroup: 1024,
            count_copies_keys: 8,
            sort_window: if small { 1 } else { 4 },
            select_workgroup: 256.min(limit),
            select_staged_from: u32::MAX,
            select_resident: 0,
            select_words: 16,
            select_passes_words: 8,
            by_key_workgroup: 256.min(limit),
            by_key_words: 16,
            by_key_passes_words: 8,
            by_key_staged_from: u32::MAX,
            by_key_staged_workgroup: 256.min(limit),
            by_key_staged_words: if emulated { 8 } else { 32 },
            by_key_resident: 0,
            run_lengths_resident: 0,
            spin_limit: if small { 16 } else { 256 },
        }
    }
}

impl Tuning {
    /// Changes one number by its field's name.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such field, or no kernel could run with the value.
    pub fn set(&mut self, name: &str, value: u32) -> Result<()> {
        let Some(number) = self.numbers().find(|number| number.name == name) else {
            let names: Vec<&str> = self.numbers().map(|number| number.name).collect();
            return Err(Error::Invalid(format!("no tuning `{name}`; there are {}", names.join(", "))));
        };
        number.check(value)?;
        // Whole subgroups, of most devices that the number may be for; the planner knows the one.
        if number.kind.is_workgroup() && !value.is_multiple_of(32) {
            return Err(Error::Invalid(format!("tuning `{name}` of {value}; it must be a multiple of 32")));
        }
        *number.value = value;
        Ok(())
    }

    /// As the planner takes it on a device: fails with the first number that no kernel could run with, since fields are anybody's
    /// to set, and has no workgroup that is larger than the device's.
    pub(crate) fn within(&self, caps: &Caps) -> Result<Tuning> {
        let mut tuning = self.clone();
        let widest = caps.subgroups.map_or(1, |s| s.max).max(1);
        for number in tuning.numbers() {
            number.check(*number.value)?;
            let most = match number.kind {
                Kind::Halved => 1 << caps.max_workgroup.max(2).ilog2(),
                Kind::Workgroup => (caps.max_workgroup / widest * widest).max(widest),
                Kind::Count | Kind::Optional => u32::MAX,
            };
            *number.value = most.min(*number.value);
        }
        Ok(tuning)
    }

    /// Fails as [`Tuning::set`] does, and sets nothing.
    ///
    /// # Errors
    /// [`Error::Invalid`] that lists the names, or has the number's limits.
    pub fn check(name: &str, value: u32) -> Result<()> {
        Tuning::smallest().set(name, value)
    }

    /// The numbers in which this is another than `before`, by their names.
    pub fn changes(&self, before: &Tuning) -> Vec<(&'static str, u32)> {
        let (mut own, mut before) = (self.clone(), before.clone());
        let pairs = own.numbers().zip(before.numbers());
        pairs.filter(|(own, before)| own.value != before.value).map(|(own, _)| (own.name, *own.value)).collect()
    }

    /// One number by its field's name.
    pub fn get(&self, name: &str) -> Option<u32> {
        self.clone().numbers().find(|number| number.name == name).map(|number| *number.value)
    }
}

impl Number<'_> {
    /// Fails for what no kernel could run with.
    fn check(&self, value: u32) -> Result<()> {
        let Number { name, kind, most, .. } = *self;
        let wrong = |wanted: String| Err(Error::Invalid(format!("tuning `{name}` of {value}; it must be {wanted}")));
        let least = kind.least();
        if !(least..=most).contains(&value) {
            return wrong(format!("at least {least} and at most {most}"));
        }
        if kind == Kind::Halved && !value.is_power_of_two() {
            return wrong("a power of two".into());
        }
        Ok(())
    }
}
