//! Commands with their arguments bound, and how they reach the queue.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ocl::ffi;
use trifold_core::{Error, KernelKey, Param, Result, Span, Values, bytes_of_run, in_order};
use trifold_kernels::Packed;

use crate::OpenCl;
use crate::bound::{Bound, check_parts, start};
use crate::memory::{Memory, range};
use crate::objects::{Event, KernelObject, Queue};
use crate::program::Kernel;
use crate::status::{Checked, Status, check};

/// A command with its arguments bound, for the queue of the backend that bound it. Keeps the memory it uses from being freed.
pub struct Step {
    /// The queue's address: to compare, not to use.
    pub(crate) queue: usize,
    pub(crate) kind: Work,
}

pub(crate) enum Work {
    /// A command of no size, which OpenCL would refuse.
    Nothing,
    Fill {
        memory: Arc<Memory>,
        offset: usize,
        bytes: usize,
        value: u32,
    },
    Copy {
        from: Arc<Memory>,
        from_offset: usize,
        to: Arc<Memory>,
        to_offset: usize,
        bytes: usize,
        each: u32,
    },
    Launch {
        name: &'static str,
        /// Before the memory, so that it is freed first.
        kernel: KernelObject,
        global: usize,
        local: usize,
        /// By the names of the arguments.
        memory: Vec<(&'static str, Bound)>,
        params: Params,
    },
}

impl Step {
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self.kind, Work::Nothing)
    }

    /// For so many elements, or as many as it was bound for. In its turn: the parameters are the kernel object's.
    pub(crate) fn enqueue(&self, queue: &Queue, n: Option<u32>, device: &str) -> Result<()> {
        self.enqueue_raw(queue, n, ptr::null_mut()).map_err(|s| self.error(s, device))
    }

    /// Enqueues the command, which is not [`Work::Nothing`], with an event.
    pub(crate) fn enqueue_event(&self, queue: &Queue, n: Option<u32>, device: &str) -> Result<Event> {
        let mut event = ptr::null_mut();
        self.enqueue_raw(queue, n, &mut event).map_err(|s| self.error(s, device))?;
        // SAFETY: the call above gave one reference to the event away.
        unsafe { Event::create("enqueuing with an event", |_| event) }.map_err(|s| self.error(s, device))
    }

    fn enqueue_raw(&self, queue: &Queue, n: Option<u32>, event: *mut ffi::cl_event) -> Checked<()> {
        let queue = queue.raw();
        match &self.kind {
            Work::Nothing => Ok(()),
            Work::Fill { memory, offset, bytes, value } => {
                let (pattern, mem) = ((&raw const *value).cast(), memory.mem.raw());
                // SAFETY: queue and buffer are live and of one context; the range was checked to lie within the buffer
                // and to be of whole words; the call copies the pattern; `event` is null or may be written.
                check("clEnqueueFillBuffer", unsafe {
                    ffi::clEnqueueFillBuffer(queue, mem, pattern, 4, *offset, *bytes, 0, ptr::null(), event)
                })
            }
            Work::Copy { from, from_offset, to, to_offset, bytes, each } => {
                let bytes = bytes_of_run(*bytes as u64, *each, n) as usize;
                if bytes == 0 {
                    return Ok(());
                }
                let (from, to) = (from.mem.raw(), to.mem.raw());
                // SAFETY: queue and buffers are live and of one context, and the ranges lie within the buffers; that
                // they do not overlap the call checks itself; `event` is null or may be written.
                check("clEnqueueCopyBuffer", unsafe {
                    ffi::clEnqueueCopyBuffer(queue, from, to, *from_offset, *to_offset, bytes, 0, ptr::null(), event)
                })
            }
            Work::Launch { kernel, global, local, params, .. } => {
                params.set(kernel, n)?;
                // SAFETY: the kernel is live, and every argument was set when it was bound, to memory that the step
                // keeps. Only the parameters are set after that, by whoever's turn it is. The sizes are of one
                // dimension; `event` is null or may be written. That the kernel stays within its spans is its own duty.
                check("clEnqueueNDRangeKernel", unsafe {
                    let (kernel, none) = (kernel.raw(), ptr::null());
                    ffi::clEnqueueNDRangeKernel(queue, kernel, 1, none, global, local, 0, ptr::null(), event)
                })
            }
        }
    }

    /// Drivers allocate a buffer when it is first used: any command may be the one for which there is no memory.
    fn error(&self, status: Status, device: &str) -> Error {
        let (doing, bytes) = match &self.kind {
            Work::Nothing => ("nothing".into(), 0),
            Work::Fill { memory, bytes, .. } => (format!("filling {bytes} bytes"), memory.bytes),
            Work::Copy { from, to, bytes, .. } => (format!("copying {bytes} bytes"), from.bytes + to.bytes),
            Work::Launch { name, memory, .. } => {
                (format!("launching {name}"), memory.iter().map(|(_, bound)| bound.bytes()).sum())
            }
        };
        // Out of resources can as well be a launch that needs too many registers.
        match (&self.kind, status.code) {
            (Work::Launch { .. }, ffi::CL_OUT_OF_RESOURCES) => status.error(doing),
            _ => status.allocation_error(doing, bytes, device),
        }
    }
}

/// A fill of whole words.
pub(crate) fn fill(span: &Span<OpenCl>, value: u32) -> Result<Work> {
    if span.bytes() == 0 {
        return Ok(Work::Nothing);
    }
    let (offset, bytes) = range(span)?;
    Ok(Work::Fill { memory: span.handle().0.clone(), offset, bytes, value })
}

/// A copy between spans of one length.
pub(crate) fn copy(from: &Span<OpenCl>, to: &Span<OpenCl>, each: u32) -> Result<Work> {
    if from.bytes() == 0 {
        return Ok(Work::Nothing);
    }
    let ((from_offset, bytes), (to_offset, _)) = (range(from)?, range(to)?);
    Ok(Work::Copy { from: from.handle().0.clone(), from_offset, to: to.handle().0.clone(), to_offset, bytes, each })
}

/// A launch, with a kernel object of its own. `alignment` is of the places where sub-buffers may start.
pub(crate) fn launch(
    key: &KernelKey,
    kernel: &Kernel,
    groups: u32,
    given: &[(&'static str, Span<OpenCl>)],
    values: Values<'_>,
    alignment: u64,
) -> Result<Work> {
    let (name, assembled) = (key.name(), &kernel.0.assembled);
    let spans: BTreeMap<&str, &Span<OpenCl>> = given.iter().map(|(name, span)| (*name, span)).collect();
    let taken = in_order(name, &assembled.arguments, given)?;
    // Whole buffers are bound, and all of a span's offset is left to the kernel, where it takes one that can say it.
    let unit_of = |argument: &str| {
        values.params.iter().find_map(|(_, param)| match param {
            Param::Offset { binding, unit } if *binding == argument => Some(u64::from(*unit)),
            _ => None,
        })
    };
    let starts: BTreeMap<&str, u64> = spans
        .iter()
        .filter_map(|(name, span)| Some((*name, start(span.offset(), unit_of(name)?, alignment))))
        .collect();
    let before = |name: &str| spans.get(name).map_or(0, |span| span.offset() - starts.get(name).unwrap_or(&0));
    let params = assembled.params.pack(key, values, before)?;
    if groups == 0 {
        return Ok(Work::Nothing);
    }

    let mut memory = vec![];
    // Behind the memory, so that it is freed first where this fails: no sub-buffer is freed that a kernel still has.
    let object = kernel.0.kernel().map_err(|s| s.error(format_args!("binding {name}")))?;
    for (index, (argument, span)) in assembled.arguments.iter().zip(taken).enumerate() {
        let mut raw: ffi::cl_mem = ptr::null_mut();
        if let Some(span) = span {
            let bound = Bound::new(name, argument, span, starts.get(argument.name).copied())?;
            raw = bound.raw();
            memory.push((argument.name, bound));
        }
        let value = if raw.is_null() { ptr::null() } else { (&raw const raw).cast() };
        set(&object, index, size_of::<ffi::cl_mem>(), value)
            .map_err(|s| s.error(format_args!("binding `{}` of {name}", argument.name)))?;
    }
    check_parts(name, &memory, alignment)?;
    let params = Params { index: assembled.arguments.len(), packed: params, of: AtomicU64::new(UNSET) };
    params.set(&object, None).map_err(|s| s.error(format_args!("binding the parameters of {name}")))?;

    let local = assembled.workgroup as usize;
    let global = (groups as usize).checked_mul(local).ok_or_else(|| {
        Error::Invalid(format!("{groups} workgroups of {local} are more than this program can count"))
    })?;
    #[cfg(test)]
    tests::note_launch(&memory);
    Ok(Work::Launch { name, kernel: object, global, local, memory, params })
}

/// A launch's parameters, and for how many elements they are set.
pub(crate) struct Params {
    index: usize,
    packed: Packed,
    of: AtomicU64,
}

/// No number of elements, and the one that a launch was bound for.
const UNSET: u64 = u64::MAX;
const AS_BOUND: u64 = u64::MAX - 1;

impl Params {
    fn set(&self, kernel: &KernelObject, n: Option<u32>) -> Checked<()> {
        let wanted = n.map_or(AS_BOUND, u64::from);
        // Whoever's turn it is is alone with it.
        if self.of.load(Ordering::Relaxed) != wanted {
            let bytes = self.packed.bytes(n);
            set(kernel, self.index, bytes.len(), bytes.as_ptr().cast())?;
            self.of.store(wanted, Ordering::Relaxed);
        }
        Ok(())
    }
}

fn set(kernel: &KernelObject, index: usize, size: usize, value: *const c_void) -> Checked<()> {
    // SAFETY: the kernel is live and not shared yet; `value` is null, for no buffer, or has `size` bytes, which the call
    // copies. Number, order and size of the arguments are the catalogue's, which the tests hold against the texts.
    check("clSetKernelArg", unsafe { ffi::clSetKernelArg(kernel.raw(), index as u32, size, value) })
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use trifold_conformance::devices_or_skip;
    use trifold_core::{
        Backend, Layout, Operand, Options, Prepared, Reduce, ReduceByKey, Scan, Slot, Sort, Spans, Sum, Transfer,
        block_on, planner,
    };

    use super::*;

    thread_local! {
        static LAUNCHES: RefCell<Vec<Taken>> = const { RefCell::new(vec![]) };
    }

    /// The buffers that a launch takes whole, and those of which it takes parts.
    struct Taken {
        whole: Vec<usize>,
        parts_of: Vec<usize>,
    }

    /// Calls give their steps to nobody: what a thread binds is noted.
    pub(super) fn note_launch(memory: &[(&'static str, Bound)]) {
        let mut taken = Taken { whole: vec![], parts_of: vec![] };
        for (_, bound) in memory {
            match bound {
                Bound::Whole(memory) => taken.whole.push(memory.mem.raw() as usize),
                Bound::Part(part) => taken.parts_of.push(part.buffer()),
            }
        }
        LAUNCHES.with_borrow_mut(|launches| launches.push(taken));
    }

    #[test]
    fn kernels_take_parts_of_callers_scratch_alone_and_none_beside_its_whole() {
        let devices = devices_or_skip("opencl", OpenCl::devices());
        let Some(device) = devices.first() else { return };
        let cl = OpenCl::open(device).unwrap();
        let n = 100_003;
        let words: Vec<u32> = (0..n).collect();
        let [from, to, values, moved, count] = &[(); 5].map(|()| cl.upload(&words).unwrap());
        let calls = [
            cl.exclusive_scan(from, Sum).to(to),
            cl.reduce(from, Sum).to(&to.slice(..1).unwrap()),
            cl.reduce_by_key(from, values, Sum).to((to, moved)),
            cl.sort(from).to(to),
            cl.sort(from).with(values).to((to, moved)),
        ];
        let mut parts = 0;
        for call in calls {
            let request = call.request();
            let of = |operand: &Operand| match operand.slot {
                Slot::Input => from,
                Slot::InputValues => values,
                Slot::Output => to,
                Slot::Count => count,
                _ => moved,
            };
            let spans = Spans::of(request, |operand| of(operand).span().slice(0, operand.bytes())).unwrap();
            for algorithm in planner::algorithms(request, cl.caps()) {
                let options = Options::by(algorithm);
                let Ok(prepared) = block_on(Prepared::new(&cl, request, Layout::default(), options)) else { continue };
                LAUNCHES.take();
                prepared.bind(&spans).unwrap();
                let own = LAUNCHES.take();
                assert_eq!(own.len(), prepared.plan().launches(), "{algorithm}");
                assert!(own.iter().all(|taken| taken.parts_of.is_empty()), "{algorithm}");
                let scratch = cl.allocate(prepared.plan().scratch_bytes()).unwrap();
                prepared.bind_with_scratch(&spans, &scratch).unwrap();
                for Taken { whole, parts_of } in LAUNCHES.take() {
                    assert!(parts_of.iter().all(|parent| !whole.contains(parent)), "{algorithm}");
                    parts += parts_of.len();
                }
            }
        }
        assert!(parts > 0);
    }

    #[test]
    fn scratch_of_a_spans_buffer_is_refused() {
        let devices = devices_or_skip("opencl", OpenCl::devices());
        let Some(device) = devices.first() else { return };
        let cl = OpenCl::open(device).unwrap();
        let output = cl.alloc::<u32>(4096).unwrap();
        let scan = cl.inclusive_scan(&output, Sum).in_place();
        let prepared = block_on(Prepared::new(&cl, scan.request(), Layout::default(), Options::default())).unwrap();
        let (data, need) = (output.span().bytes(), prepared.plan().scratch_bytes());
        let both = cl.allocate(data + need).unwrap();
        let (input, scratch) = (both.slice(0, data).unwrap(), both.slice(data, need).unwrap());
        let error = prepared.bind_with_scratch(&Spans::new(&input, output.span()), &scratch).err().unwrap();
        assert!(error.to_string().contains("a buffer of its own"), "{error}");
    }
}
