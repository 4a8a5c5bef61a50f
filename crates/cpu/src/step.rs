//! Commands with their memory bound and checked, and how each runs.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::ThreadPool;
use trifold_core::{Command, Error, KernelKey, Param, Result, Span, Values, bytes_of_run};

use crate::Cpu;
use crate::memory::{Access, Region};
use crate::view;

/// Up to this many bytes one thread is done before a second one has woken.
pub(crate) const ALONE_BYTES: usize = 256 << 10;
/// The same of bytes that are only copied or filled.
const COPIED_ALONE_BYTES: usize = 4 << 20;

/// A command bound to its memory, which it keeps alive.
pub struct Step(Bound);

enum Bound {
    Fill { to: Region, value: u32 },
    Copy { from: Region, to: Region, each: u32 },
    Length { of: Region },
    Launch { work: Box<dyn Work>, n: u32 },
}

/// A primitive's launch, bound to its memory.
pub(crate) trait Work: Send + Sync {
    /// Runs it, on the backend's threads where that pays.
    fn run(&self, pool: &ThreadPool) -> Result<()>;

    /// The same for the first so many elements.
    fn resized(&self, n: usize) -> Box<dyn Work>;
}

/// How a launch is bound: by its key, what it brings, and the element that it starts from.
pub(crate) type Bind = fn(&KernelKey, &Arguments<'_>, Option<&[u8]>) -> Result<Box<dyn Work>>;

impl Step {
    pub(crate) fn bind(command: Command<'_, Cpu>) -> Result<Step> {
        command.check()?;
        let bound = match command {
            Command::Fill { span, value } => Bound::Fill { to: Region::of(&span)?, value },
            Command::Copy { from, to, each } => {
                let (from, to) = (Region::of(&from)?, Region::of(&to)?);
                from.check_apart(&to)?;
                Bound::Copy { from, to, each }
            }
            Command::Length { span } => Bound::Length { of: Region::of(&span)? },
            Command::Launch { key, kernel, spans, values: Values { params, n, initial }, .. } => {
                let arguments = Arguments { spans: &spans, made: vec![], params, n };
                let is_plain = (key.views.is_empty() || kernel.0.makes_views) && key.then.is_none();
                let work = match is_plain {
                    true => (kernel.0.bind)(key, &arguments, initial)?,
                    false => view::bind(key, &arguments, initial, kernel.0)?,
                };
                Bound::Launch { work, n }
            }
        };
        Ok(Step(bound))
    }

    /// Runs it for so many elements, or for as many as it was bound for. For how many what follows runs.
    pub(crate) fn run(&self, n: Option<u32>, pool: &ThreadPool) -> Result<Option<u32>> {
        match &self.0 {
            Bound::Length { of } => {
                let mut word = [0; 4];
                of.read(&mut word)?;
                return Ok(Some(u32::from_ne_bytes(word)));
            }
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
            Bound::Copy { from, to, each } => {
                let bytes = bytes_of_run(to.bytes() as u64, *each, n) as usize;
                let _access = Access::to(&[from], &[to])?;
                let (source, target) = (Shared(from.start()), Shared(to.start()));
                split(pool, bytes, |start, bytes| {
                    // SAFETY: the part is within both regions, which `bind` found to be apart and of one size, and
                    // `_access` covers both.
                    unsafe { target.at(start).copy_from_nonoverlapping(source.at(start), bytes) }
                });
            }
            Bound::Launch { work, n: all } => match n.filter(|n| n < all) {
                None => work.run(pool)?,
                Some(n) => work.resized(n as usize).run(pool)?,
            },
        }
        Ok(n)
    }
}

/// What a launch brings, by name.
pub(crate) struct Arguments<'a> {
    spans: &'a [(&'static str, Span<Cpu>)],
    /// What stands for views that were made.
    made: Vec<(&'static str, Region)>,
    params: &'a [(&'static str, Param)],
    n: u32,
}

impl Arguments<'_> {
    /// The same with memory in which views were made.
    pub(crate) fn with(&self, made: Vec<(&'static str, Region)>) -> Arguments<'_> {
        Arguments { made, ..*self }
    }

    pub(crate) fn region(&self, name: &str) -> Result<Region> {
        if let Some((_, made)) = self.made.iter().find(|(n, _)| *n == name) {
            return Ok(made.clone());
        }
        match self.spans.iter().find(|(n, _)| *n == name) {
            Some((_, span)) => Region::of(span),
            None => Err(Error::Invalid(format!("a launch without its {name}"))),
        }
    }

    pub(crate) fn count(&self) -> Result<usize> {
        Ok(self.word("n")? as usize)
    }

    /// A parameter, as it follows from a run.
    pub(crate) fn param(&self, name: &str) -> Result<Param> {
        let param = self.params.iter().find(|(n, _)| *n == name).map(|(_, param)| *param);
        param.ok_or_else(|| Error::Invalid(format!("a launch without its {name}")))
    }

    /// A parameter's number.
    pub(crate) fn word(&self, name: &str) -> Result<u32> {
        let number = self.param(name)?.number(self.n);
        number.ok_or_else(|| Error::Invalid(format!("a launch whose {name} is no number")))
    }

    /// A region of scratch with room for `n` elements of `size` bytes.
    pub(crate) fn room(&self, name: &str, n: usize, size: usize) -> Result<Region> {
        let region = self.region(name)?;
        if n.checked_mul(size).is_none_or(|bytes| bytes > region.bytes()) {
            return Err(Error::Invalid(format!("{} bytes of {name}, for {n} of {size} each", region.bytes())));
        }
        // A number of 12 bytes is one of words.
        region.check_alignment(name, 1 << size.trailing_zeros())?;
        Ok(region)
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

/// Memory of a thread's own, aligned for any element. It holds nothing yet.
pub(crate) struct Room(Vec<u128>);

impl Room {
    pub(crate) fn of(bytes: usize) -> Room {
        Room(Vec::with_capacity(bytes.div_ceil(size_of::<u128>())))
    }

    pub(crate) fn start(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// Cuts `bytes` into one part a thread, at multiples of 4096, and works on all at once: `work(start, length)`.
///
/// One large part a thread, because the C library copies large parts past the caches.
fn split(pool: &ThreadPool, bytes: usize, work: impl Fn(usize, usize) + Sync) {
    if bytes <= COPIED_ALONE_BYTES {
        return work(0, bytes);
    }
    let part = bytes.div_ceil(pool.current_num_threads()).next_multiple_of(4096);
    in_parts(pool, false, bytes.div_ceil(part), || (), |(), i| work(i * part, part.min(bytes - i * part)));
}

thread_local! {
    /// Whether this thread works on a part.
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` for each of `parts` parts on this thread and on the pool's, with what `begin` makes for each thread. A thread
/// takes parts in ascending order.
///
/// This thread begins at once, while the others wake, unless it is to do all alone. Where `work` comes here again, through a call that an operator makes, its
/// thread does all of that call alone. Else it might wait for parts that wait for it.
pub(crate) fn in_parts<S>(
    pool: &ThreadPool,
    alone: bool,
    parts: usize,
    begin: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) + Sync,
) {
    let next = AtomicUsize::new(0);
    let take = || {
        let _within = Within::enter();
        let mut state = None;
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            if part >= parts {
                break;
            }
            work(state.get_or_insert_with(&begin), part);
        }
    };
    let others = if alone || WITHIN.get() { 0 } else { parts.min(pool.current_num_threads()).saturating_sub(1) };
    if others == 0 {
        return take();
    }
    pool.in_place_scope(|scope| {
        (0..others).for_each(|_| scope.spawn(|_| take()));
        take();
    });
}

/// While it lasts, this thread works on a part.
struct Within {
    before: bool,
}

impl Within {
    fn enter() -> Within {
        Within { before: WITHIN.replace(true) }
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        WITHIN.set(self.before);
    }
}

/// Runs `work` where rayon's own calls use the backend's threads.
pub(crate) fn inside<R: Send>(pool: &ThreadPool, bytes: usize, work: impl FnOnce(bool) -> R + Send) -> R {
    if bytes <= ALONE_BYTES || WITHIN.get() { work(false) } else { pool.install(|| work(true)) }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// What others' code sorts tells nothing of its threads: where it begins is what can be seen.
    #[test]
    fn few_bytes_wake_no_thread_of_the_pool() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let own = thread::current().id();
        let begun = |bytes| inside(&pool, bytes, |parallel| (parallel, thread::current().id() == own));
        assert_eq!([1000, ALONE_BYTES].map(begun), [(false, true); 2]);
        assert_eq!(begun(ALONE_BYTES + 1), (true, false));
    }
}
