//! The numbers that planning depends on, per device class, as data.

use crate::{Caps, DeviceKind, Error, Language, Result, SubgroupSource};

/// Tile shapes. A tile is what one workgroup takes at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tuning {
    /// Invocations of a scan's workgroup.
    pub scan_workgroup: u32,
    /// 32-bit words an invocation of a scan holds.
    pub scan_words: u32,
    /// Packs of 16 bytes that a lane of a look-ahead scan takes: odd, so that lanes keep off each other's banks.
    pub lookahead_rows: u32,
    /// How many elements of a word a scan has at least to look ahead, where the device can.
    pub lookahead_from: u32,
    /// Invocations of a reduce's workgroup.
    pub reduce_workgroup: u32,
    /// 32-bit words an invocation of a reduce loads at a time.
    pub reduce_words: u32,
    /// Workgroups of a reduce or a histogram for each compute unit.
    pub groups_per_unit: u32,
    /// Invocations of a sort's workgroup.
    pub sort_workgroup: u32,
    /// Keys an invocation of a sort takes, of 32-bit keys without values.
    pub sort_keys: u32,
    /// Of 64-bit keys.
    pub sort_keys64: u32,
    /// Of keys with values.
    pub sort_pairs: u32,
    /// States that an invocation of a sort reads at once when it looks back.
    pub sort_window: u32,
    /// Workgroups of a sort that a compute unit should hold at once: bounds the registers of CUDA's and NVIDIA's OpenCL
    /// kernels.
    pub sort_resident: u32,
    /// Polls of a tile's state before its waiter computes the aggregate itself.
    pub spin_limit: u32,
}

impl Tuning {
    /// The shipped numbers for a device. Measured on an H200 for each language; elsewhere a shape that every device can
    /// run.
    pub fn of(caps: &Caps) -> Tuning {
        let small = caps.kind == DeviceKind::Cpu;
        let subgroup = caps.subgroups.map_or(32, |s| s.min).max(4);
        let limit = caps.max_workgroup;
        // One histogram of 256 counts per subgroup in workgroup memory: sixteen subgroups, or fewer where it is scarce.
        let subgroups = (caps.shared_bytes / 2 / 1024).clamp(4, 16);
        let sort_workgroup = (subgroup * subgroups).min(512).min(limit);
        let emulated = caps.subgroups.is_some_and(|s| s.source == SubgroupSource::Emulated);
        let base = Tuning {
            scan_workgroup: 256.min(limit),
            // Every row of an emulated subgroup is barriers to compile and to run.
            scan_words: if emulated { 8 } else { 32 },
            lookahead_rows: 7,
            lookahead_from: 1 << 24,
            reduce_workgroup: 256.min(limit),
            reduce_words: 32,
            groups_per_unit: if small { 2 } else { 8 },
            sort_workgroup,
            sort_keys: if emulated { 8 } else { 16 },
            sort_keys64: 8,
            sort_pairs: if emulated { 8 } else { 12 },
            sort_window: if small { 1 } else { 4 },
            sort_resident: 2,
            spin_limit: if small { 16 } else { 256 },
        };
        // Measured on an H200; a warp is 32 lanes wide on all of NVIDIA's.
        let warps = caps.subgroups.is_some_and(|s| s.min == 32) && !small;
        match caps.language {
            Language::CudaC => Tuning {
                reduce_workgroup: 512,
                groups_per_unit: 4,
                sort_workgroup: 512,
                sort_keys: 20,
                sort_keys64: 10,
                sort_pairs: 18,
                ..base
            },
            Language::OpenClC if warps => Tuning {
                groups_per_unit: 4,
                sort_workgroup: 256,
                sort_keys: 26,
                sort_keys64: 13,
                sort_pairs: 16,
                sort_resident: 3,
                ..base
            },
            Language::Wgsl if warps => {
                Tuning { groups_per_unit: 4, sort_workgroup: 512, sort_keys: 13, sort_keys64: 8, ..base }
            }
            _ => base,
        }
    }
}

impl Tuning {
    /// Changes one number by its field's name.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such field, or the value is 0.
    pub fn set(&mut self, name: &str, value: u32) -> Result<()> {
        let fields: [(&str, &mut u32); 14] = [
            ("scan_workgroup", &mut self.scan_workgroup),
            ("scan_words", &mut self.scan_words),
            ("lookahead_rows", &mut self.lookahead_rows),
            ("lookahead_from", &mut self.lookahead_from),
            ("reduce_workgroup", &mut self.reduce_workgroup),
            ("reduce_words", &mut self.reduce_words),
            ("groups_per_unit", &mut self.groups_per_unit),
            ("sort_workgroup", &mut self.sort_workgroup),
            ("sort_keys", &mut self.sort_keys),
            ("sort_keys64", &mut self.sort_keys64),
            ("sort_pairs", &mut self.sort_pairs),
            ("sort_window", &mut self.sort_window),
            ("sort_resident", &mut self.sort_resident),
            ("spin_limit", &mut self.spin_limit),
        ];
        let names = fields.each_ref().map(|(name, _)| *name).join(", ");
        match fields.into_iter().find(|(field, _)| *field == name) {
            Some((_, field)) if value > 0 => {
                *field = value;
                Ok(())
            }
            Some(_) => Err(Error::Invalid(format!("tuning `{name}` of 0; it must be at least 1"))),
            None => Err(Error::Invalid(format!("no tuning `{name}`; there are {names}"))),
        }
    }
}
