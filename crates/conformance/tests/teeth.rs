//! The suite bites: a backend that gets one byte wrong fails every case that looks at it.

use std::sync::atomic::{AtomicUsize, Ordering};

use trifold_conformance::{Event, Level, Outcome, Watched, cases, run};
use trifold_core::{Backend, Device};
use trifold_cpu::Cpu;

/// The CPU backend, with one byte wrong in whatever is read back, or in one of the reads after a run, from 0. `at` says which byte, of so
/// many.
fn faulty(at: fn(usize) -> usize, only: Option<usize>) -> Device {
    let reads = AtomicUsize::new(0);
    Device::of(Watched::new(Cpu::with_threads(2).unwrap(), move |event| match event {
        Event::Call("run") => reads.store(0, Ordering::Relaxed),
        Event::Call(_) | Event::Allocate { .. } | Event::Run { .. } => {}
        Event::Read(bytes) => {
            let read = reads.fetch_add(1, Ordering::Relaxed);
            if only.is_none_or(|only| only == read) {
                bytes[at(bytes.len())] ^= 0x44;
            }
        }
    }))
}

fn survivors(at: fn(usize) -> usize) -> Vec<String> {
    let backend = faulty(at, None);
    // No tile of the CPU backend waits for another: those rows are ignored. And the
    // bound of a chain of sums as long as the input, or as a whole block of the backend's, may be more than what floats of either
    // sign sum to.
    let chains = ["f32/sum/sequential", "f64/sum/sequential", "f32/sum/auto/n=327", "f32/sum/auto/n=655"];
    let leave_out = [&["refusal/", "silent", "late5", "unbounded"][..], &chains].concat();
    let rows = cases(backend.caps(), &backend.tuning(), Level::Quick)
        .into_iter()
        .filter(|c| !leave_out.iter().any(|word| c.name().contains(word)));
    // Every seventh: the table is long, and its rows alike.
    let passed = rows.step_by(7).filter(|case| !matches!(run(&backend, case), Outcome::Failed(_)));
    passed.map(|case| case.name().to_owned()).collect()
}

/// What is read after the keys or the elements: values, totals, what is not kept, the count.
#[test]
fn a_byte_wrong_in_any_output_fails() {
    for (primitive, of, outputs) in [
        ("sort_pairs/", "", 2),
        ("reduce_by_key/", "", 3),
        ("run_length_encode/", "", 3),
        ("select_if/", "", 2),
        ("partition_if/", "", 2),
        ("find_all/", "", 2),
        ("select_flagged/", "", 2),
        ("unique/", "", 2),
        ("unique_by_key/", "", 3),
        ("segmented_sort_pairs/", "", 2),
        ("top_k/", "with_indices", 2),
        ("segmented_top_k/", "with_indices", 2),
    ] {
        for only in 0..outputs {
            // The first word's highest byte: where a span starts its buffer it is no guard's.
            let backend = faulty(|_| 3, Some(only));
            let is_wanted = |name: &str| {
                // Places without the keys are one output.
                let leave_out =
                    ["n=0/", "odd", "packed", "in_place", "silent", "late5", "unbounded", "/places/segments="];
                let is_left_out = leave_out.iter().any(|word| name.contains(word)) || name.ends_with("/segments=0");
                name.starts_with(primitive) && name.contains(of) && !is_left_out
            };
            let cases = cases(backend.caps(), &backend.tuning(), Level::Quick);
            let wanted = cases.iter().filter(|case| is_wanted(case.name())).step_by(5);
            let outcomes: Vec<_> = wanted.map(|case| (case.name(), run(&backend, case))).collect();
            assert!(outcomes.len() > 3, "{primitive}");
            for (name, outcome) in outcomes {
                assert!(matches!(outcome, Outcome::Failed(_)), "{name}, output {only:?}: {outcome:?}");
            }
        }
    }
}

#[test]
fn a_byte_wrong_after_the_end_fails() {
    assert_eq!(survivors(|bytes| bytes - 1), [""; 0]);
}

#[test]
fn a_byte_wrong_in_the_middle_fails() {
    // The highest byte of a word: a sum may be wrong in the lowest.
    let survivors = survivors(|bytes| (bytes / 2) | 7);
    // With a NaN or an infinity there, one wrong byte may still leave a NaN or be within the bound.
    let survivors: Vec<_> = survivors.iter().filter(|name| !name.contains("specials")).collect();
    assert_eq!(survivors, [""; 0]);
}
