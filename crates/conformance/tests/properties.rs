//! Properties, and what takes two backends, on the CPU.

use std::collections::HashSet;

use trifold_conformance::{Level, Outcome, bad_scratch, cases, cross_check, properties, two_threads};
use trifold_core::{AnyBackend, Backend};
use trifold_cpu::Cpu;

#[test]
fn properties_hold() {
    assert_eq!(properties(&Cpu::new().unwrap(), 100), Outcome::Passed);
}

#[test]
fn one_thread_agrees_with_four() {
    let (one, four) = (Cpu::with_threads(1).unwrap(), Cpu::with_threads(4).unwrap());
    for (name, outcome) in cross_check(&one, &four) {
        assert_eq!(outcome, Outcome::Passed, "{name}");
    }
}

#[test]
fn two_at_a_time() {
    let (mut a, mut b) = (Cpu::with_threads(2).unwrap(), Cpu::with_threads(2).unwrap());
    assert_eq!(two_threads(&mut a, &mut b), Outcome::Passed);
}

#[test]
fn scratch_that_will_not_do() {
    assert_eq!(bad_scratch(&Cpu::new().unwrap()), Outcome::Passed);
}

#[test]
fn case_names_are_unique_and_the_table_is_of_a_size() {
    let cpu = Cpu::new().unwrap();
    for (level, at_most) in [(Level::Quick, 3000), (Level::Full, 6000)] {
        let cases = cases(Backend::caps(&cpu), level);
        let names: HashSet<&str> = cases.iter().map(|c| c.name()).collect();
        assert_eq!(names.len(), cases.len());
        assert!((800..at_most).contains(&cases.len()), "{} cases", cases.len());
    }
    let _: &dyn AnyBackend = &cpu;
}
