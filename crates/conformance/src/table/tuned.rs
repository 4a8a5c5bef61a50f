//! Rows of what tuning tries.

use std::iter::successors;

use trifold_core::{Candidates, Caps, Plan, Tuning, forms};

use super::Table;
use crate::case::{Case, Level};
use crate::row::{Edges, Row, Tiles};

/// The cases that numbers must pass before they are a device's, all together: of a subject of tuning.
pub fn tuned_cases(caps: &Caps, tuning: &Tuning, subject: &Candidates, numbers: Vec<(&'static str, u32)>) -> Vec<Case> {
    let mut table = Table::new(caps, tuning, Level::Quick);
    table.with_numbers(subject, &numbers, &around, &mut vec![]);
    table.cases
}

/// From how many words on numbers that begin so are others', or have others beside them. One that is `u32::MAX` stays: never.
const FROMS: [(&str, &str); 4] = [
    ("scan_", "scan_resident_from"),
    ("select_", "select_staged_from"),
    ("reduce_by_key_", "reduce_by_key_staged_from"),
    ("run_lengths_", "reduce_by_key_staged_from"),
];

/// The numbers, so that few elements are planned as many are.
fn as_of_many(mut numbers: Vec<(&'static str, u32)>) -> Vec<(&'static str, u32)> {
    for (of, from) in FROMS {
        let is_never = numbers.contains(&(from, u32::MAX));
        if !is_never && numbers.iter().any(|(name, _)| name.starts_with(of)) {
            numbers.retain(|(name, _)| *name != from);
            numbers.push((from, 1));
        }
    }
    numbers
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
        for subject in Candidates::all() {
            // Many candidates are what ships, or make the plan of another.
            let mut planned = vec![];
            for number in subject.each() {
                self.with_numbers(subject, &[number], &sizes, &mut planned);
            }
        }
    }

    /// A subject with these numbers, of sizes by its tile and how many elements are many tiles. Once for each plan: those `planned` before
    /// are left out.
    fn with_numbers(
        &mut self,
        subject: &Candidates,
        numbers: &[(&'static str, u32)],
        sizes: &dyn Fn(u64, u64) -> Vec<u64>,
        planned: &mut Vec<Plan>,
    ) {
        if !subject.is_for(self.caps) {
            return;
        }
        let mut numbers = numbers.to_vec();
        // Else few keys have smaller tiles than that, and few elements are one workgroup's, or a tile each.
        let loads_ahead = subject.numbers.iter().any(|(name, _)| *name == "reduce_ahead");
        let else_few: &[_] = match subject.form {
            _ if loads_ahead => &[("groups_per_unit", 1), ("reduce_words", 8), ("reduce_alone_words", 1)],
            _ if subject.few.is_some() => &[],
            form if *form == forms::REDUCE => &[("reduce_alone_words", 1)],
            form if [&forms::SORT, &forms::SORT_WITH_VALUES].contains(&form) => {
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
        for numbers in [as_of_many(numbers.clone()), numbers] {
            self.of_subject(subject, &numbers, sizes, planned);
        }
    }

    fn of_subject(
        &mut self,
        subject: &Candidates,
        numbers: &[(&'static str, u32)],
        sizes: &dyn Fn(u64, u64) -> Vec<u64>,
        planned: &mut Vec<Plan>,
    ) {
        let request = |n| subject.request(n).expect("tuned types are computed with");
        let row = |n| Row::new(request(n)).options(subject.options()).tiles(Tiles::Numbers(numbers.to_vec()));
        // As many as all fit one tile, where they must.
        let fits = |size: &u64| row(*size).plan(self.caps, self.tuning).is_ok();
        let mut halves = successors(Some(subject.size(1 << 20)), |size| (*size > 1).then_some(size / 2));
        let Some(size) = halves.find(fits) else { return };
        let Some(Edges { tile, .. }) = row(size).shape(self.caps, self.tuning) else { return };
        let mut sizes = sizes(tile, size);
        sizes.retain(|n| subject.few.is_none_or(|few| *n <= few.next_power_of_two() + 3));
        for n in sizes {
            // A tile may not fit this device, nor all keys one tile.
            let Ok(plan) = row(n).plan(self.caps, self.tuning) else { continue };
            if !planned.contains(&plan) {
                planned.push(plan);
                self.row(row(n));
            }
        }
    }
}
