//! Which worker runs which case.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use trifold_conformance::Case;

/// A device's cases, handed out one by one. Cases of the same kernels go to one worker as long as others have work of their
/// own: each worker's opening of the device compiles its kernels itself.
pub struct Queue<'a>(Mutex<State<'a>>);

struct State<'a> {
    groups: VecDeque<Group<'a>>,
    begun: HashMap<usize, Group<'a>>,
}

/// Cases of the same kernels, each with its place among all.
type Group<'a> = VecDeque<(usize, &'a Case)>;

impl<'a> Queue<'a> {
    pub fn new(cases: &'a [Case]) -> Queue<'a> {
        // The first case of each, so that groups stay in the suite's order.
        let mut firsts = HashMap::new();
        let mut groups = BTreeMap::<usize, Group<'a>>::new();
        for (i, case) in cases.iter().enumerate() {
            let first = *firsts.entry(case.kernels()).or_insert(i);
            groups.entry(first).or_default().push_back((i, case));
        }
        Queue(Mutex::new(State { groups: groups.into_values().collect(), begun: HashMap::new() }))
    }

    pub fn groups(&self) -> usize {
        self.with(|state| state.groups.len())
    }

    /// A worker's next case, with its place among all.
    pub fn next(&self, worker: usize) -> Option<(usize, &'a Case)> {
        self.with(|state| {
            let own = state.begun.entry(worker).or_default();
            if own.is_empty() {
                *own = state.groups.pop_front()?;
            }
            own.pop_front()
        })
    }

    /// No worker gets another.
    pub fn stop(&self) {
        self.with(|state| {
            state.groups.clear();
            state.begun.clear();
        });
    }

    fn with<T>(&self, work: impl FnOnce(&mut State<'a>) -> T) -> T {
        // Nothing here panics half-way.
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use trifold_conformance::{Level, cases};

    use super::*;

    pub fn suite() -> Vec<Case> {
        let cpu = crate::choose::matching(&["cpu".into()]).unwrap();
        let cpu = cpu.iter().find(|found| found.backend == "cpu").unwrap().open().unwrap();
        cases(trifold::Backend::caps(&cpu), &trifold::Backend::tuning(&cpu), Level::Quick)
    }

    #[test]
    fn each_case_is_handed_out_once() {
        let cases = suite();
        let queue = Queue::new(&cases);
        assert!(queue.groups() > 10);
        let turns = (0..).map(|turn| turn % 3).map_while(|worker| Some((worker, queue.next(worker)?)));
        let handed: Vec<_> = turns.map(|(worker, (i, case))| (i, case.name(), worker)).collect();
        // The worker that finds nothing first leaves the others what they have begun.
        let rest = (0..3).flat_map(|worker| {
            std::iter::from_fn(|| queue.next(worker)).map(move |(i, _)| (i, worker)).collect::<Vec<_>>()
        });
        let places: BTreeSet<_> = handed.iter().map(|(i, ..)| *i).chain(rest.map(|(i, _)| i)).collect();
        assert_eq!(places, (0..cases.len()).collect());
        for worker in 0..3 {
            assert!(handed.iter().any(|(_, _, by)| *by == worker));
        }
    }

    #[test]
    fn a_stopped_queue_is_empty() {
        let cases = suite();
        let queue = Queue::new(&cases);
        assert!(queue.next(0).is_some());
        queue.stop();
        assert!(queue.next(0).is_none() && queue.next(1).is_none());
    }
}
