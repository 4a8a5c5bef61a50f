//! A part of a device's cases, for several processes that share them.

use std::str::FromStr;

use trifold_conformance::Case;

/// The most cases of the same kernels that stay together: each process compiles for itself.
const TOGETHER: usize = 64;

/// One of so many parts, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    part: usize,
    parts: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers = text.split_once('/').and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
        match numbers {
            Some((part, parts)) if (1..=parts).contains(&part) && parts <= 1024 => Ok(Shard { part, parts }),
            _ => Err("it must be a part and how many there are, such as 1/4, 2/4, 3/4 and 4/4".into()),
        }
    }
}

impl Shard {
    /// Whether what is not one device's is this part's.
    pub fn is_first(self) -> bool {
        self.part == 1
    }

    /// Its cases: all parts have about as much to do, and together every case once.
    pub fn cases(self, cases: Vec<Case>) -> Vec<Case> {
        let mut loads = vec![0; self.parts];
        let (mut own, mut run) = (vec![], vec![]);
        let mut deal = |run: &mut Vec<Case>| {
            let part = (0..loads.len()).min_by_key(|part| loads[*part]).unwrap_or_default();
            loads[part] += run.iter().map(weight).sum::<u64>();
            if part + 1 == self.part { own.append(run) } else { run.clear() }
        };
        for case in cases {
            if run.len() == TOGETHER || run.last().is_some_and(|last: &Case| last.kernels() != case.kernels()) {
                deal(&mut run);
            }
            run.push(case);
        }
        deal(&mut run);
        own
    }
}

/// A case's share of time: of large ones the host's checking.
fn weight(case: &Case) -> u64 {
    1 + (case.elements() >> 20)
}

#[cfg(test)]
mod tests {
    use super::super::queue::tests::suite;
    use super::*;

    #[test]
    fn parts_are_all_cases_once() {
        let names = |cases: &[Case]| cases.iter().map(|case| case.name().to_string()).collect::<Vec<_>>();
        let mut all = names(&suite());
        let parts: Vec<_> = (1..=5).map(|part| names(&Shard { part, parts: 5 }.cases(suite()))).collect();
        let least = all.len() / 5 * 3 / 4;
        assert!(parts.iter().all(|part| part.len() > least), "{:?}", parts.iter().map(Vec::len).collect::<Vec<_>>());
        let mut together = parts.concat();
        all.sort();
        together.sort();
        assert_eq!(together, all);
    }

    #[test]
    fn a_part_is_one_of_so_many() {
        assert_eq!("2/3".parse(), Ok(Shard { part: 2, parts: 3 }));
        for wrong in ["", "2", "0/3", "4/3", "1/0", "a/b", "1/2/3"] {
            assert!(wrong.parse::<Shard>().unwrap_err().contains("1/4"), "{wrong}");
        }
    }
}
