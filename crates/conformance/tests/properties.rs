//! Properties, and what takes two backends, on the CPU.

use std::collections::HashSet;

use trifold_conformance::{Level, Outcome, bad_scratch, cases, pair_cases, properties};
use trifold_core::{Backend, Device};
use trifold_cpu::Cpu;

#[test]
fn properties_hold() {
    assert_eq!(properties(&Device::of(Cpu::new().unwrap()), 100), Outcome::Passed);
}

#[test]
fn one_thread_agrees_with_four_and_works_beside_them() {
    let [one, four] = [1, 4].map(|threads| Device::of(Cpu::with_threads(threads).unwrap()));
    let cases = pair_cases();
    assert!(cases.len() > 100);
    for case in cases {
        assert_eq!(case.run(&one, &four), Outcome::Passed, "{}", case.name());
    }
}

#[test]
fn scratch_that_will_not_do() {
    assert_eq!(bad_scratch(&Cpu::new().unwrap()), Outcome::Passed);
}

#[test]
fn case_names_are_unique_and_the_table_is_of_a_size() {
    let cpu = Cpu::new().unwrap();
    for (level, at_most) in [(Level::Quick, 7000), (Level::Full, 14_000)] {
        let cases = cases(cpu.caps(), &cpu.tuning(), level);
        let names: HashSet<&str> = cases.iter().map(|c| c.name()).collect();
        assert_eq!(names.len(), cases.len());
        assert!((800..at_most).contains(&cases.len()), "{} cases", cases.len());
    }
    let pairs = pair_cases();
    let names: HashSet<&str> = pairs.iter().map(|case| case.name()).collect();
    assert_eq!(names.len(), pairs.len(), "of two backends");
}
