//! One device's rows: buffers, runs, checks and times.

use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::{Duration, Instant};

use trifold::backend::{DeviceKind, Spans};
use trifold::plan::{Asked, CopyRequest, Options, Request, forms};
use trifold::tuning::Tuning;
use trifold::types::{ElementType, Scalar};
use trifold::{Backend, Call, Device, Error, Result, plan};

use super::data::{Data, spoil};
use super::inputs::{Inputs, Source};
use super::rows::{Conditions, Job, Row};
use crate::elements::Spread;

/// From here on one call is long enough to be timed alone.
const BATCHED_UP_TO: u64 = 1 << 20;
/// How many calls are queued for the share of one.
pub const BATCH: u32 = 32;
/// No device needs more to raise its clocks.
const LONGEST_WARM_UP: Duration = Duration::from_secs(2);
/// A copy keeps a GPU busy while the host queues a batch behind it. It takes about this long at least, and longer where the host takes
/// longer over the batch.
const BUSY_MS: f64 = 1.0;

/// What the benches of a command share.
#[derive(Default)]
pub struct Shared {
    inputs: Inputs,
    /// When each device last worked, by its name: a GPU that one API uses is not idle for the others.
    worked: RefCell<HashMap<String, Instant>>,
}

/// A device, and how long to spend on it.
pub struct Bench<'a> {
    backend: &'a Device,
    tuning: Tuning,
    runs: Runs<'a>,
    shared: &'a Shared,
    /// Made when first needed; none on software devices, and where there is no memory for it.
    busy: Option<Option<Busy>>,
    /// The speeds of the device's copy, by what it copies.
    copies: Vec<(Source, f64)>,
    /// Of the row that is measured.
    data: Option<Rc<Data>>,
}

/// A copy that takes a while.
struct Busy {
    call: Call<Device>,
    /// How long it was to be.
    asked_ms: f64,
}

/// How a row went, for the caller to go on from.
pub enum Outcome {
    /// Measured, verified or not.
    Row(Box<Row>),
    /// The device is gone, and with it all its other rows.
    Lost(Box<Row>),
    /// There was not enough memory.
    NoMemory(Box<Row>),
    /// The device cannot run it, which may be known only when its kernel is compiled.
    Unsupported(Box<Row>),
}

impl Outcome {
    /// The row, however it went.
    pub fn row(&mut self) -> &mut Row {
        let (Outcome::Row(row) | Outcome::Lost(row) | Outcome::NoMemory(row) | Outcome::Unsupported(row)) = self;
        row
    }

    /// The same, to keep.
    pub fn into_row(self) -> Row {
        let (Outcome::Row(row) | Outcome::Lost(row) | Outcome::NoMemory(row) | Outcome::Unsupported(row)) = self;
        *row
    }
}

/// Whether the device is the host's processor, whatever its API.
pub fn is_software(kind: DeviceKind) -> bool {
    kind == DeviceKind::Cpu
}

/// A job's request.
///
/// # Errors
/// [`Error::Unsupported`] for a bitwise operator over floats.
pub fn request(job: &Job) -> Result<Request> {
    let Conditions { bits, value, segments, k, unsorted, bins, .. } = job.conditions;
    let mut asked = Asked::new(job.scalar, job.n);
    asked.operator = job.operator.unwrap_or(asked.operator);
    asked.segments = Some(segments.segments(job.n));
    asked.rows = (segments.spread == Spread::Rows).then_some(segments.mean.into());
    (asked.value, asked.bits, asked.k, asked.unsorted, asked.bins) = (value, bits, k.into(), unsorted, bins);
    job.primitive.asked(&asked)
}

impl<'a> Bench<'a> {
    /// A bench of at most `runs` timed runs a row, planned with `tuning`.
    pub fn new(backend: &'a Device, tuning: Tuning, runs: u32, shared: &'a Shared) -> Self {
        let software = is_software(backend.caps().kind);
        let budget = Duration::from_millis(if software { 400 } else { 4000 });
        let warm_up = Duration::from_millis(if software { 0 } else { 100 });
        let runs = Runs { backend, most: runs, budget, warm_up };
        let bench = Bench { backend, tuning, runs, shared, busy: None, copies: vec![], data: None };
        bench.worked();
        bench
    }

    /// Says that the device has worked until now.
    fn worked(&self) {
        self.shared.worked.borrow_mut().insert(self.backend.caps().device.clone(), Instant::now());
    }

    /// How long the device has done nothing.
    fn idle(&self) -> Duration {
        self.shared.worked.borrow().get(&self.backend.caps().device).map_or(Duration::ZERO, Instant::elapsed)
    }

    /// Plans what follows with these numbers.
    pub fn set_tuning(&mut self, tuning: Tuning) {
        self.tuning = tuning;
    }

    /// Takes no longer than this for a row's timed runs.
    pub fn set_budget(&mut self, budget: Duration) {
        self.runs.budget = budget;
    }

    /// Makes what the job's row is given and must give, which other devices' rows share.
    pub fn prepare(&self, job: &Job) {
        let plan = |request: &Request| {
            plan::plan(request, Default::default(), job.options(), self.backend.caps(), &self.tuning).is_ok()
        };
        if let Some(request) = request(job).ok().filter(plan) {
            self.shared.inputs.of(job, &request);
        }
    }

    /// Measures a job. Whatever fails, a panic of a driver's binding too, is said in the row.
    pub fn row(&mut self, job: &Job) -> Outcome {
        let row = Row::new(job, self.backend.caps().into());
        self.guarded(row, |bench, row| bench.measure(job, row))
    }

    /// Fills a row by `measure`. Whatever fails, a panic of a driver's binding too, is said in the row.
    pub fn guarded(&mut self, row: Row, measure: impl FnOnce(&mut Self, &mut Row) -> Result<()>) -> Outcome {
        let mut row = Box::new(row);
        let measured = catch_unwind(AssertUnwindSafe(|| measure(self, &mut row)));
        let error = match measured {
            Ok(Ok(())) => {
                self.data = None;
                return Outcome::Row(row);
            }
            Ok(Err(error)) => error,
            Err(panic) => {
                let said = panic.downcast_ref::<String>().map(String::as_str);
                let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
                // Nothing is known of the state of a device whose binding panicked.
                Error::DeviceLost(format!("its binding panicked: {said}"))
            }
        };
        // What is refused did not run, and is neither right nor wrong.
        row.verified = (!matches!(error, Error::Unsupported(_))).then_some(false);
        row.error = Some(error.to_string());
        if let Error::DeviceLost(_) = error {
            // Nor are its buffers freed: what a device that is gone does then is not to be trusted.
            std::mem::forget(self.data.take());
            return Outcome::Lost(row);
        }
        self.data = None;
        match error {
            Error::OutOfMemory { .. } => Outcome::NoMemory(row),
            Error::Unsupported(_) => Outcome::Unsupported(row),
            _ => Outcome::Row(row),
        }
    }

    fn measure(&mut self, job: &Job, row: &mut Row) -> Result<()> {
        let backend = self.backend;
        let request = request(job)?;
        let options = job.options();
        // What the device cannot do is refused before anything is allocated.
        let plan = plan::plan(&request, Default::default(), options, backend.caps(), &self.tuning)?;
        row.algorithm = plan.algorithm().name.into();
        row.scratch_bytes = Some(plan.scratch_bytes());

        let data = Rc::new(Data::new(backend, self.shared.inputs.of(job, &request), &request)?);
        self.data = Some(Rc::clone(&data));
        row.outputs = data.outputs();
        let call = Call::with_tuning(backend, &request, &data.spans, options, &self.tuning)?;
        if job.n > 0 {
            self.times(job, &request, &call, row)?;
        }
        // One more run, behind those that were timed and by the same way.
        spoil(backend, &data.spans)?;
        self.runs.once(&call, row.clock.as_deref() == Some("device"))?;
        // The host checks, and the device waits.
        self.worked();
        let verdict = data.check(backend, call.plan().depth())?;
        row.verified = Some(verdict.is_ok());
        row.error = verdict.err();
        Ok(())
    }

    /// Enters in a row how long its call takes.
    fn times(&mut self, job: &Job, request: &Request, call: &Call<Device>, row: &mut Row) -> Result<()> {
        let backend = self.backend;
        let copy_gb_s = if job.primitive == &forms::COPY { None } else { self.copy_gb_s(job)? };
        let timing = self.runs.time(call, self.idle())?;
        let gb_s = request.bytes_moved_by(row.outputs.unwrap_or(job.n)) as f64 / timing.median_ms * 1e-6;
        if job.primitive == &forms::COPY {
            self.copies.push((Source::of_copy(job), gb_s));
        }
        timing.enter(row);
        row.gelem_s = Some(job.n as f64 / timing.median_ms * 1e-6);
        row.gb_s = Some(gb_s);
        row.copy_fraction = copy_gb_s.or((job.primitive == &forms::COPY).then_some(gb_s)).map(|copy| gb_s / copy);
        row.host_us = Some(self.runs.host_us(call)?);
        if job.n <= BATCHED_UP_TO && timing.clock == "device" {
            let host_ms = 1e-3 * f64::from(BATCH) * row.host_us.unwrap_or(0.0);
            let busy = Busy::kept(&mut self.busy, backend, BUSY_MS.max(1.25 * host_ms)).map(|busy| &busy.call);
            row.batched_ms = self.runs.batched(busy, call, timing.median_ms)?;
        } else if job.n > BATCHED_UP_TO {
            // Its memory is better used by what follows.
            self.busy = None;
        }
        Ok(())
    }

    /// The speed of the device's copy of such an input, none where it fails: the best of two, of which one may be a row's.
    fn copy_gb_s(&mut self, job: &Job) -> Result<Option<f64>> {
        let kind = Source::of_copy(job);
        let known = |bench: &Self| -> Vec<f64> {
            bench.copies.iter().filter(|(known, _)| *known == kind).map(|(_, gb_s)| *gb_s).collect()
        };
        if let (0 | 1, Some(data)) = (known(self).len(), &self.data) {
            let copy = data.copy_call(self.backend, job.scalar, job.n);
            let ms = lasting(copy.and_then(|call| Ok(self.runs.time(&call, self.idle())?.median_ms)))?;
            let gb_s = ms.map(|ms| data.copy_bytes() as f64 / ms * 1e-6);
            self.copies.extend(gb_s.map(|gb_s| (kind, gb_s)));
        }
        Ok(known(self).into_iter().reduce(f64::max))
    }
}

impl Bench<'_> {
    /// Times a call that the caller has, and enters that in a row.
    pub fn time(&self, call: &Call<Device>, row: &mut Row) -> Result<f64> {
        let timing = self.runs.time(call, Duration::ZERO)?;
        self.worked();
        timing.enter(row);
        Ok(timing.median_ms)
    }
}

/// A side measurement's result: none if it failed, unless the device went with it.
fn lasting<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::DeviceLost(why)) => Err(Error::DeviceLost(why)),
        Err(error) => {
            tracing::info!(%error, "a copy failed");
            Ok(None)
        }
    }
}

impl Busy {
    /// The kept one, if it is of so many milliseconds or more, else another; none on software devices.
    fn kept<'a>(kept: &'a mut Option<Option<Busy>>, backend: &Device, ms: f64) -> Option<&'a Busy> {
        // Few lengths, so that one serves many rows.
        let ms = ms.log2().ceil().exp2();
        if kept.as_ref().is_some_and(|busy| busy.as_ref().is_some_and(|busy| busy.asked_ms < ms)) {
            // Its memory is the next one's.
            *kept = None;
        }
        kept.get_or_insert_with(|| Busy::new(backend, ms).or_else(|| Busy::new(backend, BUSY_MS))).as_ref()
    }

    /// As long as memory allows.
    fn new(backend: &Device, asked_ms: f64) -> Option<Busy> {
        let caps = backend.caps();
        if is_software(caps.kind) {
            return None;
        }
        let memory = if caps.memory == 0 { 1 << 34 } else { caps.memory };
        let most = caps.max_binding.min(caps.max_buffer).min(memory / 16) / 16 * 16;
        let mut bytes = most.min(64 << 20);
        // A first copy says how long one has to be.
        for _ in 0..3 {
            let busy = Busy::of(backend, bytes, asked_ms).ok()?;
            let ms = busy.call.time(1).and_then(|_| busy.call.time(1)).ok()?;
            let wanted = ((bytes as f64 * asked_ms / ms.max(1e-4)) as u64 / 16 * 16).min(most);
            if ms >= 0.7 * asked_ms || wanted <= bytes {
                return Some(busy);
            }
            bytes = wanted;
        }
        Busy::of(backend, bytes, asked_ms).ok()
    }

    fn of(backend: &Device, bytes: u64, asked_ms: f64) -> Result<Busy> {
        let (from, to) = (backend.allocate(bytes)?, backend.allocate(bytes)?);
        let request = Request::Copy(CopyRequest { element: ElementType::Scalar(Scalar::U32), n: bytes / 4 });
        let call = Call::new(backend, &request, &Spans::new(&from, &to), Options::default())?;
        Ok(Busy { call, asked_ms })
    }
}

/// What the runs of one call took.
struct Timing {
    runs: u32,
    clock: &'static str,
    median_ms: f64,
    min_ms: f64,
}

impl Timing {
    fn enter(&self, row: &mut Row) {
        row.runs = self.runs;
        row.clock = Some(self.clock.into());
        row.median_ms = Some(self.median_ms);
        row.min_ms = Some(self.min_ms);
    }
}

/// How often to run a call.
struct Runs<'a> {
    backend: &'a Device,
    most: u32,
    /// What a row's timed runs may take together.
    budget: Duration,
    /// How long to warm up at least.
    warm_up: Duration,
}

impl Runs<'_> {
    /// The median of as many runs as the budget allows, after some to warm up. `idle` is how long the device has done nothing.
    fn time(&self, call: &Call<Device>, idle: Duration) -> Result<Timing> {
        let mut clock = "device";
        let start = Instant::now();
        // Three runs, and more while they are short: an idle GPU lowers its clocks, and takes a while to raise them again. (One that
        // had waited a second for the host to check a result ran at a third of its speed for more than a tenth of a second.)
        let least = if self.warm_up.is_zero() { self.warm_up } else { self.warm_up.max(idle.min(LONGEST_WARM_UP)) };
        let mut warm_up = 0;
        while warm_up < 3 || (clock == "device" && start.elapsed() < least) {
            match self.once(call, clock == "device") {
                Ok(_) => {}
                Err(Error::Unsupported(_)) if warm_up == 0 => {
                    clock = "host";
                    self.once(call, false)?;
                }
                Err(error) => return Err(error),
            }
            if start.elapsed() > self.budget / 2 {
                break;
            }
            warm_up += 1;
        }
        let start = Instant::now();
        let mut times = vec![];
        while times.len() < self.most as usize && (times.is_empty() || start.elapsed() < self.budget) {
            times.push(self.once(call, clock == "device")?);
        }
        times.sort_by(f64::total_cmp);
        // A clock may be too coarse to see a short call.
        let at_least = |ms: f64| ms.max(1e-6);
        let (runs, median_ms, min_ms) = (times.len() as u32, at_least(times[times.len() / 2]), at_least(times[0]));
        Ok(Timing { runs, clock, median_ms, min_ms })
    }

    /// The milliseconds of a run, by the device's clock or the host's.
    fn once(&self, call: &Call<Device>, by_device: bool) -> Result<f64> {
        if by_device {
            return call.time(1);
        }
        let start = Instant::now();
        call.run()?;
        self.backend.synchronize()?;
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    /// A call's share of a batch behind what keeps the device busy; none where a batch takes too long.
    fn batched(&self, busy: Option<&Call<Device>>, call: &Call<Device>, median_ms: f64) -> Result<Option<f64>> {
        if median_ms * f64::from(BATCH) > 3.0 * self.budget.as_secs_f64() * 1e3 {
            return Ok(None);
        }
        let start = Instant::now();
        let mut times = vec![];
        while times.len() < 9 && (times.is_empty() || start.elapsed() < self.budget / 2) {
            times.push(busy.map_or_else(|| call.time(BATCH), |busy| call.time_after(busy, BATCH))? / f64::from(BATCH));
        }
        times.sort_by(f64::total_cmp);
        Ok(Some(times[times.len() / 2]))
    }

    /// The median time that submitting the call takes of the host.
    fn host_us(&self, call: &Call<Device>) -> Result<f64> {
        let (all, mut times) = (Instant::now(), vec![]);
        while times.len() < 11 && (times.is_empty() || all.elapsed() < self.budget / 4) {
            let start = Instant::now();
            call.run()?;
            times.push(start.elapsed().as_secs_f64() * 1e6);
            self.backend.synchronize()?;
        }
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    }
}
