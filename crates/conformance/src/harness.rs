//! The suite as a test program, for a backend's own crate: a test with `harness = false` calls [`main_with`].

use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use trifold_core::{Backend, Device, Error, Result};

use crate::draw::named_turn;
use crate::{Case, Expectations, Level, Outcome, TURNS, cases, draw, properties, run};

/// How many inputs each property is tried with.
const PROPERTY_CASES: u32 = 24;

/// Runs the quick suite on every device that `open` gives, by name, and ends the program. The exit code is 0 if nothing
/// failed.
///
/// Two environment variables change what runs:
///
/// - `TRIFOLD_LEVEL=full` runs the suite of real GPUs.
/// - `TRIFOLD_TURN`, a number, runs the cases that come up at that turn (see [`draw`]). The end of the output says how
///   many were left out.
///
/// A device that is [`Error::Unsupported`] is ignored, with that reason. One that does not open for another reason
/// fails. Each device is opened once, and its cases run one after the other. A test's name is `device/case`, for
/// `cargo test` to filter by.
pub fn main_with(open: impl Fn() -> Vec<(String, Result<Device>)>) -> ! {
    let mut arguments = Arguments::from_args();
    // A software device has threads of its own, and a real one a single queue.
    arguments.test_threads = Some(1);
    let (level, turn) = match (level(), named_turn()) {
        (Ok(level), Ok(turn)) => (level, turn),
        (Err(wrong), _) | (_, Err(wrong)) => {
            eprintln!("error: {wrong}");
            std::process::exit(2)
        }
    };
    let known = Arc::new(Expectations::shipped());
    let (mut trials, mut left_out) = (vec![], 0);
    for (device, backend) in open() {
        match backend {
            Ok(backend) => {
                let mut cases = cases(backend.caps(), &backend.tuning(), level);
                if let Some(turn) = turn {
                    let wanted = |case: &&Case| is_wanted(&arguments, &format!("{device}/{}", case.name()));
                    left_out += cases.iter().filter(wanted).count();
                    cases = draw(cases, backend.caps(), &backend.tuning(), turn);
                    left_out -= cases.iter().filter(wanted).count();
                }
                device_trials(&device, backend, cases, &known, &mut trials);
            }
            Err(error) => {
                trials.push(Trial::ignorable_test(format!("{device}/open"), move || match error {
                    Error::Unsupported(reason) => Ok(Completion::ignored_with(reason)),
                    error => Err(Failed::from(error)),
                }));
            }
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    if let (Some(turn), false) = (turn, arguments.list) {
        println!("left out: {left_out} cases at turn {turn}; each comes up within {TURNS} turns\n");
    }
    conclusion.exit()
}

fn level() -> std::result::Result<Level, String> {
    match std::env::var("TRIFOLD_LEVEL").as_deref() {
        Ok("full") => Ok(Level::Full),
        Ok("quick" | "") | Err(_) => Ok(Level::Quick),
        Ok(other) => Err(format!("TRIFOLD_LEVEL is `{other}`; it may be `quick` or `full`")),
    }
}

/// Whether the command line asks for a test of this name.
fn is_wanted(arguments: &Arguments, name: &str) -> bool {
    let is = |pattern: &String| if arguments.exact { name == pattern } else { name.contains(pattern.as_str()) };
    arguments.filter.as_ref().is_none_or(is) && !arguments.skip.iter().any(is)
}

type Shared = Arc<Mutex<Device>>;

fn device_trials(device: &str, backend: Device, cases: Vec<Case>, known: &Arc<Expectations>, trials: &mut Vec<Trial>) {
    let backend: Shared = Arc::new(Mutex::new(backend));
    for case in cases {
        let name = case.name().to_owned();
        trials.push(trial(device, name, &backend, known, move |backend| run(backend, &case)));
    }
    let all = move |backend: &Device| properties(backend, PROPERTY_CASES);
    trials.push(trial(device, "properties".into(), &backend, known, all));
}

fn trial(
    device: &str,
    name: String,
    backend: &Shared,
    known: &Arc<Expectations>,
    work: impl FnOnce(&Device) -> Outcome + Send + 'static,
) -> Trial {
    let (device, backend, known) = (device.to_owned(), backend.clone(), known.clone());
    Trial::ignorable_test(format!("{device}/{name}"), move || {
        // A case that panicked is reported as such; the device is the next one's to use.
        let backend = backend.lock().unwrap_or_else(PoisonError::into_inner);
        match known.settle(&device, &name, work(&backend)) {
            Outcome::Passed => Ok(Completion::Completed),
            Outcome::Ignored(reason) => Ok(Completion::ignored_with(reason)),
            Outcome::Failed(message) | Outcome::Lost(message) => Err(Failed::from(message)),
        }
    })
}
