//! Rows of what tuning tries.

use std::iter::successors;

use trifold_core::{Candidates, Caps};

use super::Table;
use crate::case::{Case, Level};
use crate::row::{Row, Shape, Tiles};

/// The cases that numbers must pass before they are a device's, all together: of a subject of tuning.
pub fn tuned_cases(caps: &Caps, subject: &Candidates, numbers: Vec<(&'static str, u32)>) -> Vec<Case> {
    let mut table = Table::new(caps, Level::Quick);
    table.with_numbers(subject, numbers, &around);
    table.cases
}

/// Around a tile's edges, of some tiles, and of many.
fn around(tile: u64, many: u64) -> Vec<u64> {
    vec![1, tile - 1, tile, tile + 1, 3 * tile + 5, 17 * tile + 5, many]
}

impl Table<'_> {
    /// Each candidate of each number, the others as they ship. (What shipped numbers do is every other row's matter.)
    pub(super) fn candidates(&mut self) {
        let level = self.level;
        let sizes = |tile: u64, many: u64| match level {
            // On a software device a case costs the kernel that it compiles.
            Level::Quick => vec![3 * tile + 5, tile.min(many)],
            Level::Full => [around(tile, many), vec![(1 << 22) + 3]].concat(),
        };
        for subject in Candidates::ALL {
            for number in subject.each() {
                self.with_numbers(subject, vec![number], &sizes);
            }
        }
    }

    /// A subject with these numbers, of sizes by its tile and how many elements are many tiles.
    fn with_numbers(
        &mut self,
        subject: &Candidates,
        mut numbers: Vec<(&'static str, u32)>,
        sizes: &dyn Fn(u64, u64) -> Vec<u64>,
    ) {
        if !subject.is_for(self.caps) {
            return;
        }
        // Else few keys have smaller tiles than that, and few elements are one workgroup's, or a tile each.
        let loads_ahead = subject.numbers.iter().any(|(name, _)| *name == "reduce_ahead");
        let else_few: &[_] = match subject.primitive {
            _ if loads_ahead => &[("groups_per_unit", 1), ("reduce_words", 8), ("reduce_alone_words", 1)],
            _ if subject.few.is_some() => &[],
            "reduce" => &[("reduce_alone_words", 1)],
            sort if sort.starts_with("sort") => {
                &[("sort_tiles_few", 1), ("sort_keys_few", 64), ("sort_keys_middling", 64)]
            }
            _ => &[],
        };
        for (name, value) in else_few {
            if subject.numbers.iter().all(|(own, _)| own != name) {
                numbers.retain(|(other, _)| other != name);
                numbers.push((name, *value));
            }
        }
        // Else few elements are not staged, and registers not bounded, as they are with many.
        let froms = [
            ("scan_", "scan_resident_from"),
            ("select_", "select_staged_from"),
            ("by_key_", "by_key_staged_from"),
            ("run_lengths_", "by_key_staged_from"),
        ];
        for (of, from) in froms {
            let bears = |(name, value): &(&str, u32)| {
                name.starts_with(of) && (name.contains("staged") || name.ends_with("resident")) && *value < u32::MAX
            };
            if numbers.iter().any(bears) {
                numbers.retain(|(name, _)| *name != from);
                numbers.push((from, 1));
            }
        }
        let row = |n| Row::new(subject.request(n)).options(subject.options()).tiles(Tiles::Numbers(numbers.clone()));
        // As many as all fit one tile, where they must.
        let fits = |size: &u64| row(*size).plan(self.caps).is_ok();
        let mut halves = successors(Some(subject.size(1 << 20)), |size| (*size > 1).then_some(size / 2));
        let Some(size) = halves.find(fits) else { return };
        let Some(Shape { tile, .. }) = row(size).shape(self.caps) else { return };
        let mut sizes = sizes(tile, size);
        sizes.retain(|n| subject.few.is_none_or(|few| *n <= few.next_power_of_two() + 3));
        for n in sizes {
            // A tile may not fit this device, nor all keys one tile.
            if row(n).plan(self.caps).is_ok() {
                self.row(row(n));
            }
        }
    }
}
