//! A call that is bound to its memory, to be run any number of times.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Backend, Device, Error, Options, Plan, Prepared, Request, Result, Spans, Tuning, block_on};

/// A call that was planned, compiled and bound, to be run any number of times.
///
/// A run compiles nothing, and on a GPU it allocates nothing. The call keeps its device and its memory.
///
/// If the call was prepared for any number of elements up to a capacity ([`Placed::up_to`](crate::Placed::up_to)),
/// [`Call::run_n`] and [`Call::encode_n`] say how many. The run takes that many from the start of its spans, and leaves
/// the rest as it is.
///
/// It has no lifetime, so a struct can keep it:
///
/// ```
/// # use trifold_core::{Backend, Buffer, Call, Sort, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// struct Sorter<B: Backend> {
///     keys: Buffer<f32, B>,
///     sort: Call<B>,
/// }
///
/// impl<B: Backend + Sort> Sorter<B> {
///     fn new(gpu: &B, room: usize) -> trifold_core::Result<Self> {
///         let keys = gpu.alloc(room)?;
///         let sort = gpu.sort(&keys).in_place().up_to(room).prepare()?;
///         Ok(Sorter { keys, sort })
///     }
/// }
///
/// let sorter = Sorter::new(&gpu, 4)?;
/// sorter.keys.slice(..3)?.write(&[2.0, -1.0, 0.5])?;
/// sorter.sort.run_n(3)?;
/// assert_eq!(sorter.keys.slice(..3)?.read()?, [-1.0, 0.5, 2.0]);
/// # Ok::<(), trifold_core::Error>(())
/// ```
pub struct Call<B: Backend = Device> {
    /// By how many elements they have room for, the fewest first. They may hold no more than addresses: dropped before what keeps the memory.
    pub(crate) sizes: Vec<Bound<B>>,
    pub(crate) memory: Vec<B::Handle>,
    pub(crate) device: B,
    pub(crate) plan: Arc<Plan>,
    /// How many elements a run has, or at most.
    pub(crate) n: u32,
    /// Whether a run may have fewer.
    pub(crate) resizes: bool,
    pub(crate) scratch_bytes: u64,
    /// What tools show it as.
    pub(crate) label: Option<Arc<str>>,
    /// What makes its states clean again, if a run leaves them so for the next.
    pub(crate) renewal: Option<Renewal<B>>,
}

/// What makes states clean behind a run that failed half-way. Other runs leave them clean.
pub(crate) struct Renewal<B: Backend> {
    pub(crate) steps: Arc<B::Steps>,
    /// Whether the last run failed.
    pub(crate) is_due: Arc<AtomicBool>,
}

/// The steps of runs of some size.
pub(crate) struct Bound<B: Backend> {
    /// The most elements of a run.
    pub(crate) most: u32,
    pub(crate) steps: Arc<B::Steps>,
}

impl<B: Backend> Call<B> {
    /// Plans a request by the device's own numbers and the spans' layout, compiles it and binds it with scratch of its own.
    ///
    /// The builders ([`Placed::prepare`](crate::Placed::prepare)) do this for typed memory.
    ///
    /// ```
    /// # use trifold_core::{Call, CopyRequest, Element, Options, Spans, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, y) = (gpu.upload(&[3u32, 1, 4])?, gpu.alloc::<u32>(3)?);
    /// let request = CopyRequest { element: u32::TYPE, n: 3 }.into();
    /// let call = Call::new(&gpu, &request, &Spans::new(x.span(), y.span()), Options::default())?;
    /// call.run()?;
    /// assert_eq!(y.read()?, [3, 1, 4]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub fn new(device: &B, request: &Request, spans: &Spans<B>, options: Options) -> Result<Self> {
        Self::with_tuning(device, request, spans, options, &device.tuning())
    }

    /// As [`Call::new`], by these numbers.
    ///
    /// # Errors
    /// As [`Call::new`].
    pub fn with_tuning(
        device: &B,
        request: &Request,
        spans: &Spans<B>,
        options: Options,
        tuning: &Tuning,
    ) -> Result<Self> {
        let layout = spans.layout_for(device, request)?;
        block_on(Prepared::with_tuning(device, request, layout, options, tuning))?.bind(spans)
    }

    /// The device that it runs on.
    pub fn device(&self) -> &B {
        &self.device
    }

    /// The plan: of a call up to a capacity that for as many as that.
    ///
    /// ```
    /// # use trifold_core::{Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3u32, 1, 4])?;
    /// let scan = gpu.inclusive_scan(&x, Sum).in_place().prepare()?;
    /// assert_eq!(scan.plan().algorithm().name, "parallel");
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How many elements [`Call::run`] takes: all of them, or the capacity.
    ///
    /// ```
    /// # use trifold_core::{Reduce, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, total) = (gpu.upload(&[3u32, 1, 4])?, gpu.alloc(1)?);
    /// let sum = gpu.reduce(&x, Sum).to(&total).up_to(2).prepare()?;
    /// assert_eq!(sum.capacity(), 2);
    /// sum.run()?;
    /// assert_eq!(total.read()?, [4]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn capacity(&self) -> usize {
        self.n as usize
    }

    /// Working memory it has, in bytes.
    ///
    /// ```
    /// # use trifold_core::{Sort, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let keys = gpu.upload(&[2u32, 1])?;
    /// // On the CPU keys alone take none.
    /// assert_eq!(gpu.sort(&keys).in_place().prepare()?.scratch_bytes(), 0);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn scratch_bytes(&self) -> u64 {
        self.scratch_bytes
    }

    /// The steps of all runs, where there are no others.
    pub(crate) fn only_steps(&self) -> Option<Arc<B::Steps>> {
        match &self.sizes[..] {
            [Bound { steps, .. }] => Some(steps.clone()),
            _ => None,
        }
    }

    /// What a run of so many elements takes.
    fn of(&self, n: usize) -> Result<(&B::Steps, Option<u32>)> {
        if self.plan.reads_length() && n != self.capacity() {
            return Err(Error::Invalid(format!(
                "a run of {n} elements, by a call whose number of elements is on the device; write it there, and use run or encode"
            )));
        }
        if !self.resizes && n != self.capacity() {
            return Err(Error::Invalid(format!(
                "a run of {n} elements, by a call for {}; prepare it up to a capacity (up_to)",
                self.n
            )));
        }
        let size = u32::try_from(n).ok().and_then(|n| self.sizes.iter().find(|size| n <= size.most));
        let size = size.filter(|_| n <= self.capacity()).ok_or_else(|| {
            Error::Invalid(format!("a run of {n} elements, by a call for up to {}; prepare it up to more", self.n))
        })?;
        Ok((&size.steps, self.resizes.then_some(n as u32)))
    }

    /// Submits the call. Does not wait.
    ///
    /// ```
    /// # use trifold_core::{Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[1u32, 1, 1])?;
    /// let scan = gpu.inclusive_scan(&x, Sum).in_place().prepare()?;
    /// scan.run()?;
    /// assert_eq!(x.read()?, [1, 2, 3]);
    /// x.write(&[5, 5, 5])?;
    /// scan.run()?;
    /// assert_eq!(x.read()?, [5, 10, 15]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Backend::run`].
    pub fn run(&self) -> Result<()> {
        self.run_n(self.capacity())
    }

    /// Submits the call for the first `n` elements. Does not wait.
    ///
    /// ```
    /// # use trifold_core::{Reduce, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, total) = (gpu.upload(&[3u32, 1, 4])?, gpu.alloc(1)?);
    /// let sum = gpu.reduce(&x, Sum).to(&total).up_to(3).prepare()?;
    /// sum.run_n(2)?;
    /// assert_eq!(total.read()?, [4]);
    /// assert!(sum.run_n(4).is_err());
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Backend::run`], and [`Error::Invalid`] for more than the capacity.
    pub fn run_n(&self, n: usize) -> Result<()> {
        if self.label.is_some() {
            let mut recorder = self.device.record()?;
            self.encode_n(&mut recorder, n)?;
            return self.device.submit(recorder);
        }
        let (steps, n) = self.of(n)?;
        if let Some(renewal) = self.due() {
            self.device.run(&renewal.steps, None)?;
            // It stays due where this becomes part of a graph, which may never run.
            renewal.is_due.store(self.device.is_captured(), Ordering::Relaxed);
        }
        self.or_due(self.device.run(steps, n))
    }

    /// What is to run before the next run.
    fn due(&self) -> Option<&Renewal<B>> {
        self.renewal.as_ref().filter(|renewal| renewal.is_due.load(Ordering::Relaxed))
    }

    /// A run's result. One that failed may have enqueued a part of its steps.
    fn or_due<T>(&self, ran: Result<T>) -> Result<T> {
        ran.inspect_err(|_| {
            if let Some(renewal) = &self.renewal {
                renewal.is_due.store(true, Ordering::Relaxed);
            }
        })
    }

    /// Records the call into a recorder of the caller's.
    ///
    /// ```
    /// # use trifold_core::{Backend, Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[1u32, 1, 1])?;
    /// let scan = gpu.inclusive_scan(&x, Sum).in_place().prepare()?;
    /// let mut recorder = gpu.record()?;
    /// scan.encode(&mut recorder)?;
    /// scan.encode(&mut recorder)?;
    /// gpu.submit(recorder)?;
    /// assert_eq!(x.read()?, [1, 3, 6]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Backend::execute`].
    pub fn encode(&self, recorder: &mut B::Recorder) -> Result<()> {
        self.encode_n(recorder, self.capacity())
    }

    /// Records the call for the first `n` elements. A recorder may have it several times, each with an `n` of its own.
    ///
    /// ```
    /// # use trifold_core::{Backend, Sort, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let keys = gpu.upload(&[5u32, 4, 3, 2, 1])?;
    /// let sort = gpu.sort(&keys).in_place().up_to(5).prepare()?;
    /// let mut recorder = gpu.record()?;
    /// sort.encode_n(&mut recorder, 2)?;
    /// sort.encode_n(&mut recorder, 3)?;
    /// gpu.submit(recorder)?;
    /// assert_eq!(keys.read()?, [3, 4, 5, 2, 1]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Backend::execute`], and [`Error::Invalid`] for more than the capacity.
    pub fn encode_n(&self, recorder: &mut B::Recorder, n: usize) -> Result<()> {
        let (steps, n) = self.of(n)?;
        if let Some(renewal) = self.due() {
            // It stays due, as what is recorded may never run.
            self.device.execute(recorder, &renewal.steps, None)?;
        }
        let Some(label) = &self.label else { return self.or_due(self.device.execute(recorder, steps, n)) };
        self.device.begin_label(recorder, label);
        let executed = self.or_due(self.device.execute(recorder, steps, n));
        self.device.end_label(recorder);
        executed
    }

    /// The milliseconds that `repeat` runs take on the device, by its own timestamps. Waits for them.
    ///
    /// ```
    /// # use trifold_core::{Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, y) = (gpu.upload(&[1u32; 1 << 16])?, gpu.alloc(1 << 16)?);
    /// let scan = gpu.inclusive_scan(&x, Sum).to(&y).prepare()?;
    /// let milliseconds = scan.time(20)? / 20.0;
    /// assert!(milliseconds > 0.0);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Backend::time`].
    pub fn time(&self, repeat: u32) -> Result<f64> {
        self.time_n(self.capacity(), repeat)
    }

    /// As [`Call::time`], of runs for the first `n` elements.
    ///
    /// ```
    /// # use trifold_core::{Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, y) = (gpu.upload(&[1u32; 1 << 16])?, gpu.alloc(1 << 16)?);
    /// let scan = gpu.inclusive_scan(&x, Sum).to(&y).up_to(1 << 16).prepare()?;
    /// assert!(scan.time_n(1000, 20)? > 0.0);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Backend::time`], and [`Error::Invalid`] for more than the capacity.
    pub fn time_n(&self, n: usize, repeat: u32) -> Result<f64> {
        let (steps, n) = self.of(n)?;
        self.or_due(self.device.time(None, steps, n, repeat))
    }

    /// As [`Call::time`], behind a run of another call of the same device.
    ///
    /// ```
    /// # use trifold_core::{Sort, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, keys) = (gpu.upload(&[3u32, 1, 2].repeat(1000))?, gpu.alloc(3000)?);
    /// let copy = gpu.copy(&x).to(&keys).prepare()?;
    /// let sort = gpu.sort(&keys).in_place().prepare()?;
    /// assert!(sort.time_after(&copy, 1)? > 0.0);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Backend::time`].
    pub fn time_after(&self, before: &Call<B>, repeat: u32) -> Result<f64> {
        let ((before, _), (steps, n)) = (before.of(before.capacity())?, self.of(self.capacity())?);
        self.or_due(self.device.time(Some(before), steps, n, repeat))
    }
}

impl Call<Device> {
    /// The call as that of the backend behind its device, if that is of this type: for what only one API has.
    ///
    /// ```
    /// # use trifold_core::{Device, Sort, Transfer};
    /// let gpu = Device::of(trifold_cpu::Cpu::new()?);
    /// let keys = gpu.upload(&[2u32, 1])?;
    /// let sort = gpu.sort(&keys).in_place().prepare()?;
    /// sort.downcast::<trifold_cpu::Cpu>().expect("it is the CPU's").run()?;
    /// assert_eq!(keys.read()?, [1, 2]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn downcast<B: Backend>(&self) -> Option<Call<B>> {
        let device = self.device.downcast_ref::<B>()?.clone();
        let memory = self.memory.iter().map(|handle| handle.get::<B::Handle>().ok().cloned());
        let sizes = self.sizes.iter().map(|size| Some(Bound::<B> { most: size.most, steps: size.steps.shared()? }));
        Some(Call {
            sizes: sizes.collect::<Option<_>>()?,
            memory: memory.collect::<Option<_>>()?,
            device,
            plan: self.plan.clone(),
            n: self.n,
            resizes: self.resizes,
            scratch_bytes: self.scratch_bytes,
            label: self.label.clone(),
            renewal: match &self.renewal {
                Some(Renewal { steps, is_due }) => Some(Renewal { steps: steps.shared()?, is_due: is_due.clone() }),
                None => None,
            },
        })
    }
}
