//! Cases, how they run, and what comes of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use trifold_core::{
    Backend, Builtin, Call, Device, Error, Op, Options, Request, Scalar, ScanKind, ScanRequest, Spans, Transfer,
    bytemuck,
};

use crate::builders::builders;
use crate::refusal::Refusal;
use crate::row::Row;
use crate::sizes::{Sizes, check_sizes};
use crate::stage::{Staged, check_row, planned};

/// How much to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Small sizes, for software devices in CI: minutes.
    Quick,
    /// Large sizes too, and launches past 65535 workgroups, for GPUs.
    Full,
}

/// A case: what to run, and its name.
#[derive(Debug, Clone)]
pub struct Case {
    pub(crate) name: String,
    pub(crate) body: Body,
}

#[derive(Debug, Clone)]
pub(crate) enum Body {
    /// One call, run a few times.
    Call(Box<Row>),
    /// Calls one after the other without waiting in between, all checked in the end, twice.
    Queue(Vec<Row>),
    /// One call, run for other numbers of elements each time.
    Sizes(Box<Row>, Sizes),
    /// Every builder, as programs call them.
    Builders,
    /// What is timed is run as often as asked, after what comes before it.
    Timing,
    /// A call that must be refused.
    Refusal(Refusal),
}

impl Case {
    /// Its name: primitive, type, operator, algorithm, size, distribution and whatever else there is to say, with
    /// slashes between.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same for cases of the same kernels, but where a size decides those.
    pub fn kernels(&self) -> String {
        match &self.body {
            Body::Call(row) | Body::Sizes(row, _) => row.kernels(),
            Body::Queue(_) | Body::Builders | Body::Timing | Body::Refusal(_) => self.name.clone(),
        }
    }

    /// How many elements its calls have in all.
    pub fn elements(&self) -> u64 {
        match &self.body {
            Body::Call(row) => row.request.n() * u64::from(row.runs),
            // Half as many in the mean.
            Body::Sizes(row, _) => row.request.n() * u64::from(row.runs) / 2,
            Body::Queue(rows) => rows.iter().map(|row| row.request.n()).sum(),
            Body::Builders | Body::Timing | Body::Refusal(_) => 0,
        }
    }
}

/// What came of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The device did what it should.
    Passed,
    /// The device cannot, for this reason.
    Ignored(String),
    /// It should and did not.
    Failed(String),
    /// It was lost over it, which is a failure, and takes no more cases.
    Lost(String),
}

impl From<Result<(), Failure>> for Outcome {
    fn from(result: Result<(), Failure>) -> Outcome {
        match result {
            Ok(()) => Outcome::Passed,
            Err(Failure::Error(Error::Unsupported(reason))) => Outcome::Ignored(reason),
            Err(Failure::Error(error @ Error::DeviceLost(_))) => Outcome::Lost(error.to_string()),
            Err(Failure::Error(error)) => Outcome::Failed(error.to_string()),
            Err(Failure::Wrong(message)) => Outcome::Failed(message),
        }
    }
}

/// Why a case did not pass.
#[derive(Debug)]
pub(crate) enum Failure {
    Error(Error),
    Wrong(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Error(error)
    }
}

/// Runs a case. A panic below is a failure.
pub fn run(backend: &Device, case: &Case) -> Outcome {
    guarded(|| match &case.body {
        Body::Call(row) => check_row(backend, row),
        Body::Sizes(row, sizes) => check_sizes(backend, row, *sizes),
        Body::Queue(rows) => queue(backend, rows),
        // Its steps ask what the device has.
        Body::Builders => builders(backend).map_err(|failure| match failure {
            Failure::Error(error) => planned(error).into(),
            wrong => wrong,
        }),
        Body::Timing => timing(backend),
        Body::Refusal(refusal) => refusal.check(backend),
    })
}

pub(crate) fn guarded(work: impl FnOnce() -> Result<(), Failure>) -> Outcome {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.into(),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            Outcome::Failed(format!("panicked: {}", text.unwrap_or("with no message")))
        }
    }
}

/// A scan in place of ones, again and again, tells how often it was made.
fn timing(backend: &Device) -> Result<(), Failure> {
    const N: usize = 1000;
    let span = backend.allocate(4 * N as u64)?;
    let op = Op::builtin(Builtin::Sum, Scalar::U32).ok_or_else(|| Error::Invalid("u32 has a sum".into()))?;
    let request =
        Request::Scan(ScanRequest { op, n: N as u64, kind: ScanKind::Inclusive, initial: None, total: false });
    let call = Call::new(backend, &request, &Spans::new(&span, &span), Options::default())?;
    for (before, repeat) in [(None, 1), (Some(&call), 5), (None, 32)] {
        let mut expected = vec![1_u32; N];
        backend.write(&span, bytemuck::cast_slice(&expected))?;
        let start = Instant::now();
        let ms = before.map_or_else(|| call.time(repeat), |before| call.time_after(before, repeat))?;
        let wall = start.elapsed().as_secs_f64() * 1e3;
        if !(0.0..=wall).contains(&ms) {
            return Err(Failure::Wrong(format!(
                "{repeat} runs took {ms} ms of the device's, and {wall} of the host's"
            )));
        }
        for _ in 0..repeat + u32::from(before.is_some()) {
            let mut sum = 0_u32;
            expected.iter_mut().for_each(|v| {
                sum = sum.wrapping_add(*v);
                *v = sum;
            });
        }
        let mut got = vec![0_u32; N];
        backend.read_blocking(&span, bytemuck::cast_slice_mut(&mut got))?;
        if got != expected {
            return Err(Failure::Wrong(format!("what was timed {repeat} times was not run so often")));
        }
    }
    Ok(())
}

fn queue(backend: &Device, rows: &[Row]) -> Result<(), Failure> {
    let mut staged = vec![];
    let mut reason = None;
    for row in rows {
        match Staged::new(backend, row) {
            Ok(one) => staged.push((row, one)),
            Err(error @ Error::Unsupported(_)) => reason = Some(error),
            Err(error) => return Err(error.into()),
        }
    }
    if let (true, Some(reason)) = (staged.is_empty(), reason) {
        return Err(reason.into());
    }
    for _ in 0..2 {
        for (_, one) in &staged {
            one.reset(backend)?;
        }
        for (_, one) in &staged {
            one.call.run()?;
        }
        for (row, one) in &staged {
            one.check(backend).map_err(|failure| match failure {
                Failure::Wrong(message) => Failure::Wrong(format!("{}: {message}", row.name())),
                error => error,
            })?;
            one.check_inputs(backend)?;
        }
    }
    Ok(())
}
