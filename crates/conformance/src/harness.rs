//! The suite as a test program, for a backend's own crate: a test with `harness = false` calls [`main_with`].

use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use trifold_core::{AnyBackend, Error, Result};

use crate::{Expectations, Level, Outcome, cases, properties, run};

/// How many inputs each property is tried with.
const PROPERTY_CASES: u32 = 24;

/// Runs the quick suite on every device that `open` gives, by name, and ends the program: 0 if nothing failed.
///
/// Set `TRIFOLD_LEVEL=full` for the suite of real GPUs. A device that is [`Error::Unsupported`] is ignored with that
/// reason; one that does not open for another reason fails. Each device is opened once, its cases run one after the
/// other, and `device/case` is a test's name, for `cargo test` to filter by.
pub fn main_with(open: impl Fn() -> Vec<(String, Result<Box<dyn AnyBackend>>)>) -> ! {
    let mut arguments = Arguments::from_args();
    // A software device has threads of its own, and a real one a single queue.
    arguments.test_threads = Some(1);
    let level = match std::env::var("TRIFOLD_LEVEL").as_deref() {
        Ok("full") => Level::Full,
        Ok("quick" | "") | Err(_) => Level::Quick,
        Ok(other) => {
            eprintln!("error: TRIFOLD_LEVEL is `{other}`; it may be `quick` or `full`");
            std::process::exit(2)
        }
    };
    let known = Arc::new(Expectations::shipped());
    let mut trials = vec![];
    for (device, backend) in open() {
        match backend {
            Ok(backend) => device_trials(&device, backend, level, &known, &mut trials),
            Err(error) => {
                trials.push(Trial::ignorable_test(format!("{device}/open"), move || match error {
                    Error::Unsupported(reason) => Ok(Completion::ignored_with(reason)),
                    error => Err(Failed::from(error)),
                }));
            }
        }
    }
    libtest_mimic::run(&arguments, trials).exit()
}

type Shared = Arc<Mutex<Box<dyn AnyBackend>>>;

fn device_trials(
    device: &str,
    backend: Box<dyn AnyBackend>,
    level: Level,
    known: &Arc<Expectations>,
    trials: &mut Vec<Trial>,
) {
    let cases = cases(backend.caps(), &backend.tuning(), level);
    let backend: Shared = Arc::new(Mutex::new(backend));
    for case in cases {
        let name = case.name().to_owned();
        trials.push(trial(device, name, &backend, known, move |backend| run(backend, &case)));
    }
    let all = move |backend: &dyn AnyBackend| properties(backend, PROPERTY_CASES);
    trials.push(trial(device, "properties".into(), &backend, known, all));
}

fn trial(
    device: &str,
    name: String,
    backend: &Shared,
    known: &Arc<Expectations>,
    work: impl FnOnce(&dyn AnyBackend) -> Outcome + Send + 'static,
) -> Trial {
    let (device, backend, known) = (device.to_owned(), backend.clone(), known.clone());
    Trial::ignorable_test(format!("{device}/{name}"), move || {
        // A case that panicked is reported as such; the device is the next one's to use.
        let backend = backend.lock().unwrap_or_else(PoisonError::into_inner);
        match known.settle(&device, &name, work(&**backend)) {
            Outcome::Passed => Ok(Completion::Completed),
            Outcome::Ignored(reason) => Ok(Completion::ignored_with(reason)),
            Outcome::Failed(message) | Outcome::Lost(message) => Err(Failed::from(message)),
        }
    })
}
