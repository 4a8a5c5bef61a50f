//! Whether sums and products of integers fit their own type, and which they fit if not.

use trifold::plan::Builtin;

use crate::lines::Lines;
use crate::stored::Stored;

/// Which partial results of a line are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Results {
    Inclusive,
    Exclusive,
    /// That of all elements alone.
    Last,
}

/// The type of a call's results, and whether some wrap all the same.
#[derive(Debug, PartialEq, Eq)]
pub struct Fit {
    pub stored: Stored,
    pub wraps: bool,
}

/// The first type that has room for all results: the elements' own, and those of 32 and of 64 bits. Elements lie line by line,
/// and each line starts from `start`.
pub fn fit(which: Builtin, stored: Stored, start: i128, elements: &[u8], lines: &Lines, results: Results) -> Fit {
    let grows = matches!(which, Builtin::Sum | Builtin::Product) && !stored.is_float();
    if !grows {
        return Fit { stored, wraps: false };
    }
    // Truth values have no sum of their own.
    let own = (!stored.is_bool() || which == Builtin::Product).then_some(stored);
    let wider = [4, 8].into_iter().filter(|bytes| *bytes > stored.bytes()).map(|bytes| stored.widened(bytes));
    let types: Vec<Stored> = own.into_iter().chain(wider).collect();
    let range = range(which, stored, start, elements, lines, results);
    let has_room = |of: &&Stored| {
        let (least, most) = of.range();
        range.is_some_and(|(low, high)| least <= low && high <= most)
    };
    match types.iter().find(has_room) {
        Some(fitting) => Fit { stored: *fitting, wraps: false },
        None => Fit { stored: *types.last().unwrap_or(&stored), wraps: true },
    }
}

/// The least and the most of all results; none if one is past 128 bits.
fn range(
    which: Builtin,
    stored: Stored,
    start: i128,
    elements: &[u8],
    lines: &Lines,
    results: Results,
) -> Option<(i128, i128)> {
    let mut range: Option<(i128, i128)> = None;
    for line in 0..lines.count {
        let bytes = lines.length * stored.bytes();
        let line = &elements[line * bytes..][..bytes];
        // None is past 128 bits, from where a product comes back by a nought alone.
        let mut so_far = Some(start);
        for element in stored.integers(line) {
            let before = so_far;
            so_far = match (which, element) {
                (Builtin::Product, 0) => Some(0),
                (Builtin::Product, _) => so_far.and_then(|so_far| so_far.checked_mul(element)),
                _ => so_far.and_then(|so_far| so_far.checked_add(element)),
            };
            match results {
                Results::Exclusive => range = Some(widened(range, before?)),
                Results::Inclusive => range = Some(widened(range, so_far?)),
                Results::Last => {}
            }
        }
        if results == Results::Last {
            range = Some(widened(range, so_far?));
        }
    }
    Some(range.unwrap_or((0, 0)))
}

fn widened(range: Option<(i128, i128)>, result: i128) -> (i128, i128) {
    range.map_or((result, result), |(low, high)| (low.min(result), high.max(result)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::ArrayShape;

    fn fits(which: Builtin, name: &str, start: i128, elements: &[u8], results: Results) -> (&'static str, bool) {
        let stored = Stored::from_name(name).unwrap();
        let lines = Lines::of(&ArrayShape::line((elements.len() / stored.bytes()) as u64), None).unwrap();
        let fit = fit(which, stored, start, elements, &lines, results);
        (fit.stored.name(), fit.wraps)
    }

    #[test]
    fn a_sum_has_the_first_type_with_room_for_it() {
        let sum = |name, elements: &[u8], results| fits(Builtin::Sum, name, 0, elements, results);
        assert_eq!(sum("u8", &[200, 55], Results::Last), ("u8", false));
        assert_eq!(sum("u8", &[200, 56], Results::Last), ("u32", false));
        // What the last one adds is in no exclusive result.
        assert_eq!(sum("u8", &[200, 56], Results::Exclusive), ("u8", false));
        // 100 + 100 - 100 has no room on its way.
        let signed = [100i8, 100, -100].map(|x| x as u8);
        assert_eq!(sum("i8", &signed, Results::Last), ("i8", false));
        assert_eq!(sum("i8", &signed, Results::Inclusive), ("i32", false));
        assert_eq!(sum("bool", &[1, 0], Results::Last), ("u32", false));
        let words = [u32::MAX, 1].map(u32::to_le_bytes).concat();
        assert_eq!(sum("u32", &words, Results::Last), ("u64", false));
        assert_eq!(sum("u32", &words[..4], Results::Last), ("u32", false));
        assert_eq!(sum("u32", &[], Results::Last), ("u32", false));
        let wide = [u64::MAX, 1].map(u64::to_le_bytes).concat();
        assert_eq!(sum("u64", &wide, Results::Last), ("u64", true));
        assert_eq!(fits(Builtin::Sum, "u8", 300, &[], Results::Last), ("u32", false));
        assert_eq!(fits(Builtin::Product, "u8", 1, &[255; 4], Results::Last), ("u32", false));
        assert_eq!(fits(Builtin::Product, "u8", 1, &[255; 5], Results::Last), ("u64", false));
        assert_eq!(fits(Builtin::Product, "u8", 1, &[255; 9], Results::Last), ("u64", true));
        // What a nought brings back, and where a start is no result.
        let product: Vec<u8> = std::iter::repeat_n(255, 20).chain([0]).collect();
        assert_eq!(fits(Builtin::Product, "u8", 1, &product, Results::Last), ("u8", false));
        assert_eq!(fits(Builtin::Product, "u8", 1, &product, Results::Inclusive), ("u64", true));
        let negative = [-128i8, -128].map(|x| x as u8);
        assert_eq!(fits(Builtin::Sum, "i8", 300, &negative, Results::Last), ("i8", false));
        assert_eq!(fits(Builtin::Sum, "i8", 300, &negative, Results::Exclusive), ("i32", false));
        assert_eq!(fits(Builtin::Max, "u8", 0, &[255; 9], Results::Last), ("u8", false));
    }
}
