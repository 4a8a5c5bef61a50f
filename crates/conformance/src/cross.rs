//! Two backends against each other, and beside each other.

use trifold_core::{Backend, Device};

use crate::case::{Failure, Outcome, guarded};
use crate::row::Row;
use crate::stage::{STALE, Staged, check_row};
use crate::table::shared_rows;

/// A case of two backends.
#[derive(Debug, Clone)]
pub struct PairCase {
    name: String,
    /// A call for both, whose results are to be the same; none has both at work at the same time.
    row: Option<Row>,
}

/// The cases of any two backends.
pub fn pair_cases() -> Vec<PairCase> {
    let crosses =
        shared_rows().into_iter().map(|row| PairCase { name: format!("cross/{}", row.name()), row: Some(row) });
    crosses.chain([PairCase { name: "two_threads".into(), row: None }]).collect()
}

impl PairCase {
    /// Its name: that of a case of one backend, after `cross/`, or `two_threads`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs it: results of the same input must be the same bit by bit, or within the sum of both tolerances for float
    /// sums and products. A panic below is a failure.
    pub fn run(&self, a: &Device, b: &Device) -> Outcome {
        match &self.row {
            Some(row) => guarded(|| compare_row(a, b, row)),
            None => two_threads(a, b),
        }
    }
}

fn compare_row(a: &Device, b: &Device, row: &Row) -> Result<(), Failure> {
    let (on_a, on_b) = (Staged::new(a, row)?, Staged::new(b, row)?);
    on_a.call.run()?;
    on_b.call.run()?;
    let (from_a, from_b) = (on_a.results(a)?, on_b.results(b)?);
    let depth = on_a.call.plan().depth() + on_b.call.plan().depth();
    on_a.expected.with(from_a).check(&from_b, depth, STALE).map_err(|message| {
        let name = |backend: &Device| format!("{} ({})", backend.caps().device, backend.caps().backend);
        Failure::Wrong(format!("{} against {}: {message}", name(b), name(a)))
    })
}

/// Works with two backends from two threads at the same time.
fn two_threads(a: &Device, b: &Device) -> Outcome {
    let work = |backend: &Device| {
        guarded(|| {
            for row in shared_rows().into_iter().filter(|row| row.request.n() > 1).step_by(3) {
                match check_row(backend, &row) {
                    Err(Failure::Wrong(message)) => {
                        return Err(Failure::Wrong(format!("{}: {message}", row.name())));
                    }
                    // One that a device cannot do is another case's concern.
                    Err(Failure::Error(trifold_core::Error::Unsupported(_))) | Ok(()) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        })
    };
    let (first, second) = std::thread::scope(|scope| {
        let other = scope.spawn(|| work(b));
        let first = work(a);
        (first, other.join().unwrap_or_else(|_| Outcome::Failed("the second thread panicked".into())))
    });
    match (first, second) {
        (lost @ Outcome::Lost(_), _) | (_, lost @ Outcome::Lost(_)) => lost,
        (Outcome::Passed, second) => second,
        (first, _) => first,
    }
}
