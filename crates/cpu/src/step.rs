//! Commands with their memory bound and checked, and how each runs.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::ThreadPool;
use trifold_core::{Command, Error, KernelKey, Op, Param, Result, Span};

use crate::by_key::ByKeyStep;
use crate::chain::{self, Elements, Slots};
use crate::memory::{Access, Region};
use crate::select::SelectStep;
use crate::sort::SortStep;
use crate::{Cpu, Kernel};

/// Below this many bytes one thread is done before a second one wakes.
pub(crate) const SEQUENTIAL_BYTES: usize = 128 << 10;

/// A command bound to its memory, which it keeps alive.
pub struct Step(Bound);

enum Bound {
    Fill { to: Region, value: u32 },
    Copy { from: Region, to: Region },
    Scan { elements: Elements, exclusive: bool, sequential: bool, input: Region, output: Region },
    Reduce { elements: Elements, input: Region, output: Region },
    Sort(SortStep),
    Select(SelectStep),
    ReduceByKey(ByKeyStep),
}

impl Step {
    pub(crate) fn bind(command: Command<'_, Cpu>) -> Result<Step> {
        command.check()?;
        let bound = match command {
            Command::Fill { span, value } => Bound::Fill { to: Region::of(&span)?, value },
            Command::Copy { from, to } => {
                let (from, to) = (Region::of(&from)?, Region::of(&to)?);
                from.check_apart(&to)?;
                Bound::Copy { from, to }
            }
            Command::Launch { key, kernel, spans, params, initial, .. } => {
                let arguments = Arguments { spans: &spans, params };
                match kernel {
                    Kernel::Scan => bind_scan(key, &arguments, initial)?,
                    Kernel::Reduce => bind_reduce(key, &arguments, initial)?,
                    Kernel::Sort => Bound::Sort(SortStep::bind(key, &arguments)?),
                    Kernel::Select => Bound::Select(SelectStep::bind(key, &arguments)?),
                    Kernel::ReduceByKey => Bound::ReduceByKey(ByKeyStep::bind(key, &arguments)?),
                }
            }
        };
        Ok(Step(bound))
    }

    pub(crate) fn run(&self, pool: &ThreadPool) -> Result<()> {
        match &self.0 {
            Bound::Fill { to, value } => {
                let _access = Access::to(&[], &[to])?;
                let target = Shared(to.start());
                split(pool, to.bytes(), |start, bytes| {
                    // SAFETY: the part is within `to`, whose start and length are multiples of four as are the parts',
                    // `_access` is exclusive, and the parts are apart.
                    let words = unsafe { std::slice::from_raw_parts_mut(target.at(start).cast::<u32>(), bytes / 4) };
                    words.fill(*value);
                });
            }
            Bound::Copy { from, to } => {
                let _access = Access::to(&[from], &[to])?;
                let (source, target) = (Shared(from.start()), Shared(to.start()));
                split(pool, to.bytes(), |start, bytes| {
                    // SAFETY: the part is within both regions, which `bind` found to be apart and of one size, and
                    // `_access` covers both.
                    unsafe { target.at(start).copy_from_nonoverlapping(source.at(start), bytes) }
                });
            }
            Bound::Scan { elements, exclusive, sequential, input, output } => {
                let _access = Access::to(&[input], &[output])?;
                // SAFETY: `bind_scan` checked alignment, sizes and that the regions are equal or apart; `_access`
                // covers both.
                unsafe {
                    match sequential {
                        true => chain::scan_sequentially(elements, input.start(), output.start(), *exclusive),
                        false => chain::scan(pool, elements, input.start(), output.start(), *exclusive),
                    }
                }
            }
            Bound::Reduce { elements, input, output } => {
                let _access = Access::to(&[input], &[output])?;
                // SAFETY: as for the scan, and the output has room for one element.
                unsafe { chain::reduce(pool, elements, input.start(), output.start()) }
            }
            Bound::Sort(step) => step.run(pool)?,
            Bound::Select(step) => step.run(pool)?,
            Bound::ReduceByKey(step) => step.run(pool)?,
        }
        Ok(())
    }
}

/// What a launch brings, by name.
pub(crate) struct Arguments<'a, 'b> {
    spans: &'a [(&'static str, Span<'b, Cpu>)],
    params: &'a [(&'static str, Param)],
}

impl Arguments<'_, '_> {
    pub(crate) fn region(&self, name: &str) -> Result<Region> {
        match self.spans.iter().find(|(n, _)| *n == name) {
            Some((_, span)) => Region::of(span),
            None => Err(Error::Invalid(format!("a launch without its {name}"))),
        }
    }

    pub(crate) fn count(&self) -> Result<usize> {
        match self.params.iter().find(|(n, _)| *n == "n") {
            Some((_, Param::Word(n))) => Ok(*n as usize),
            _ => Err(Error::Invalid("a launch without its n".into())),
        }
    }

    /// A region that holds `n` elements of `size` bytes, each where its alignment allows.
    pub(crate) fn array(&self, name: &str, n: usize, size: usize, alignment: usize) -> Result<Region> {
        let region = self.region(name)?;
        if n.checked_mul(size) != Some(region.bytes()) {
            return Err(Error::Invalid(format!(
                "the {name} has {} bytes, and {n} elements have {size} each",
                region.bytes()
            )));
        }
        region.check_alignment(name, alignment)?;
        Ok(region)
    }
}

fn elements(key: &KernelKey, n: usize, initial: Option<&[u8]>) -> Result<Elements> {
    let op: &Op = key.op.as_ref().ok_or_else(|| Error::Invalid(format!("{} without an operator", key.name())))?;
    let size = op.element().bytes() as usize;
    let initial = initial.unwrap_or(op.identity());
    if initial.len() != size || op.identity().len() != size || size == 0 {
        return Err(Error::Invalid(format!(
            "a start of {} bytes and an identity of {} for {}, which has {size}",
            initial.len(),
            op.identity().len(),
            op.element().name()
        )));
    }
    Ok(Elements { op: op.host(), size, n, identity: Slots::of(op.identity()), initial: Slots::of(initial) })
}

fn bind_scan(key: &KernelKey, arguments: &Arguments<'_, '_>, initial: Option<&[u8]>) -> Result<Bound> {
    let elements = elements(key, arguments.count()?, initial)?;
    let alignment = key.op.as_ref().map_or(8, |op| op.element().align() as usize);
    let input = arguments.array("input", elements.n, elements.size, alignment)?;
    let output = arguments.array("output", elements.n, elements.size, alignment)?;
    if !input.is(&output) {
        input.check_apart(&output)?;
    }
    let is = |name| key.constant(name) == Some(1);
    Ok(Bound::Scan { elements, exclusive: is("EXCLUSIVE"), sequential: is("SEQUENTIAL"), input, output })
}

fn bind_reduce(key: &KernelKey, arguments: &Arguments<'_, '_>, initial: Option<&[u8]>) -> Result<Bound> {
    let elements = elements(key, arguments.count()?, initial)?;
    let alignment = key.op.as_ref().map_or(8, |op| op.element().align() as usize);
    let input = arguments.array("input", elements.n, elements.size, alignment)?;
    let output = arguments.array("output", 1, elements.size, alignment)?;
    if !input.is(&output) {
        input.check_apart(&output)?;
    }
    Ok(Bound::Reduce { elements, input, output })
}

/// Memory that several threads work on, each on a part of its own.
#[derive(Clone, Copy)]
pub(crate) struct Shared(pub(crate) *mut u8);

// SAFETY: a pointer to plain bytes; who uses it sees to it that threads touch different parts.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// # Safety
    /// `offset` must be within the memory.
    pub(crate) unsafe fn at(self, offset: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { self.0.add(offset) }
    }
}

/// Cuts `bytes` into one part a thread, at multiples of 4096, and works on all at once: `work(start, length)`.
///
/// One large part a thread, because the C library copies large parts past the caches.
fn split(pool: &ThreadPool, bytes: usize, work: impl Fn(usize, usize) + Sync) {
    let threads = pool.current_num_threads();
    if threads == 1 || bytes <= SEQUENTIAL_BYTES {
        return work(0, bytes);
    }
    let part = bytes.div_ceil(threads).next_multiple_of(4096);
    in_parts(pool, bytes.div_ceil(part), |i| work(i * part, part.min(bytes - i * part)));
}

/// Runs `work` for each of `parts` parts on all threads. A thread takes the parts in ascending order.
pub(crate) fn in_parts(pool: &ThreadPool, parts: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    pool.broadcast(|_| {
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            if part >= parts {
                break;
            }
            work(part);
        }
    });
}

/// Runs `work` where rayon's own calls use the backend's threads.
pub(crate) fn inside<R: Send>(pool: &ThreadPool, bytes: usize, work: impl FnOnce(bool) -> R + Send) -> R {
    if bytes <= SEQUENTIAL_BYTES { work(false) } else { pool.install(|| work(true)) }
}
