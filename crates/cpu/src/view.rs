//! Views: their elements are made part by part from the memory that they read.

use std::sync::Arc;

use rayon::ThreadPool;
use trifold_core::{
    Error, HostMap, HostView, KernelKey, LEAVES, MAPPED_OUTPUT, MAX_LEAVES, Param, Request, Result, ViewOf,
};

use crate::memory::{self, Access, Region};
use crate::oracle::{Expected, Inputs, Output};
use crate::step::{ALONE_BYTES, Arguments, Room, Shared, Work, in_parts};
use crate::{Cpu, Primitive};

/// Bytes of elements that are made at a time.
const PART_BYTES: usize = 64 << 10;

/// A view bound to the memory that it reads.
#[derive(Clone)]
pub(crate) struct Source {
    host: Arc<dyn HostView>,
    leaves: Vec<Region>,
    /// Bytes of an element.
    size: usize,
}

impl Source {
    pub(crate) fn bind(of: &ViewOf, arguments: &Arguments<'_>) -> Result<Source> {
        let n = arguments.count()?;
        let leaves = of.view.leaves().iter().zip(of.leaves()).map(|(leaf, number)| {
            let (name, bytes) = (LEAVES[number].name, leaf.element.bytes() as usize);
            let region = arguments.region(name)?;
            region.check_alignment(name, leaf.element.align() as usize)?;
            if leaf.straight && n.checked_mul(bytes).is_none_or(|all| all > region.bytes()) {
                return Err(Error::Invalid(format!("{} bytes of {name}, for {n} elements", region.bytes())));
            }
            Ok(region)
        });
        let element = of.view.node().element();
        Ok(Source {
            host: of.view.host().clone(),
            leaves: leaves.collect::<Result<_>>()?,
            size: element.bytes() as usize,
        })
    }

    /// Makes `n` elements from one on, at `to`.
    ///
    /// # Safety
    /// There are as many, the caller holds access to the leaves, and there is aligned room for as many.
    unsafe fn load(&self, first: usize, n: usize, to: *mut u8) {
        let start = |leaf: &Region| leaf.start().cast_const();
        let leaves: [_; MAX_LEAVES] = std::array::from_fn(|i| self.leaves.get(i).map_or(std::ptr::null(), start));
        // SAFETY: `bind` checked the leaves, and the caller promises the rest.
        unsafe { self.host.load(&leaves[..self.leaves.len()], first, n, to) }
    }

    /// Makes the first `n` elements, at `to`.
    pub(crate) fn fill(&self, pool: &ThreadPool, n: usize, to: &Region) -> Result<()> {
        let reads: Vec<&Region> = self.leaves.iter().collect();
        let _access = Access::to(&reads, &[to])?;
        let target = Shared(to.start());
        let each = (PART_BYTES / self.size.max(1)).max(1);
        let alone = n * self.size <= ALONE_BYTES;
        in_parts(
            pool,
            alone,
            n.div_ceil(each),
            || (),
            |(), part| {
                let first = part * each;
                // SAFETY: `bind` checked the leaves' alignment and lengths: straight ones have as many elements as the launch, and the others as
                // many as the plan was made for, which `Prepared` holds spans to. The target has room for all, aligned for any element, and the
                // parts are apart. `_access` covers all.
                unsafe { self.load(first, each.min(n - first), target.at(first * self.size)) };
            },
        );
        Ok(())
    }
}

/// What a launch reads: memory, or a view, which is made block by block.
#[derive(Clone)]
pub(crate) enum Input {
    Memory(Region),
    View(Source),
}

impl Input {
    /// The input of this name, of `n` elements of `size` bytes.
    pub(crate) fn bind(
        key: &KernelKey,
        arguments: &Arguments<'_>,
        name: &'static str,
        [n, size, alignment]: [usize; 3],
    ) -> Result<Input> {
        match key.view(name) {
            Some(of) => Ok(Input::View(Source::bind(of, arguments)?)),
            None => Ok(Input::Memory(arguments.array(name, n, size, alignment)?)),
        }
    }

    /// The memory, to be kept from writers.
    pub(crate) fn regions(&self) -> Vec<&Region> {
        match self {
            Input::Memory(region) => vec![region],
            Input::View(source) => source.leaves.iter().collect(),
        }
    }

    /// The memory, if it is no more than that.
    pub(crate) fn memory(&self) -> Option<&Region> {
        match self {
            Input::Memory(region) => Some(region),
            Input::View(_) => None,
        }
    }

    /// Fails if it shares bytes with a region that is written.
    pub(crate) fn check_apart(&self, other: &Region) -> Result<()> {
        self.regions().into_iter().try_for_each(|region| region.check_apart(other))
    }

    /// Memory of a thread's own, for blocks of so many bytes.
    pub(crate) fn room(&self, bytes: usize) -> Room {
        Room::of(if self.memory().is_some() { 0 } else { bytes })
    }

    /// Some elements of `size` bytes: where they lie, or made in a room for as many. Aligned for them.
    ///
    /// # Safety
    /// There are as many, the caller holds access to the [`Input::regions`], and the room is for no fewer bytes.
    pub(crate) unsafe fn block(&self, room: &mut Room, first: usize, count: usize, size: usize) -> *mut u8 {
        match self {
            // SAFETY: the caller's promise.
            Input::Memory(region) => unsafe { Shared(region.start()).at(first * size) },
            Input::View(source) => {
                // SAFETY: the caller's promise.
                unsafe { source.load(first, count, room.start()) };
                room.start()
            }
        }
    }
}

/// A launch whose inputs are views, which are made first, or whose output is mapped: in memory of the launch's own.
struct Viewed {
    sources: Vec<(Source, Region)>,
    then: Option<Mapped>,
    n: usize,
    work: Box<dyn Work>,
}

/// An output that is mapped from what a launch gave.
#[derive(Clone)]
struct Mapped {
    host: Arc<dyn HostMap>,
    /// Bytes of an element before and after.
    sizes: [usize; 2],
    from: Region,
    to: Region,
    /// Whether the launch gives one element, whatever there is of the input.
    is_total: bool,
}

impl Mapped {
    /// Maps what a launch gave of `n` elements: as many, or a total.
    fn apply(&self, pool: &ThreadPool, n: usize) -> Result<()> {
        let _access = Access::to(&[&self.from], &[&self.to])?;
        let (source, target, [before, after]) = (Shared(self.from.start()), Shared(self.to.start()), self.sizes);
        let given = if self.is_total { 1 } else { n };
        let n = given.min(self.to.bytes() / after.max(1));
        let each = (PART_BYTES / before.max(1)).max(1);
        in_parts(
            pool,
            n * before <= ALONE_BYTES,
            n.div_ceil(each),
            || (),
            |(), part| {
                let first = part * each;
                // SAFETY: `bind` made the one region of as many elements as the other has, both aligned. The parts are apart, and `_access`
                // covers both.
                unsafe {
                    self.host.apply(source.at(first * before), each.min(n - first), target.at(first * after));
                }
            },
        );
        Ok(())
    }
}

/// Memory of a launch's own.
fn room(bytes: usize) -> Result<Region> {
    Region::of(&memory::allocate::<Cpu>(bytes as u64, 0, "the CPU")?.slice(0, bytes as u64)?)
}

/// Binds a launch of views, or one whose output is mapped. Its own part is bound by `bind`.
pub(crate) fn bind(
    key: &KernelKey,
    arguments: &Arguments<'_>,
    initial: Option<&[u8]>,
    primitive: &Primitive,
) -> Result<Box<dyn Work>> {
    let n = arguments.count()?;
    let (mut sources, mut regions) = (vec![], vec![]);
    for of in key.views.iter().filter(|_| !primitive.makes_views) {
        let source = Source::bind(of, arguments)?;
        let region = room(n * source.size)?;
        regions.push((of.argument, region.clone()));
        sources.push((source, region));
    }
    let then = match (&key.then, &key.element) {
        (Some(then), Some(element)) => {
            let to = arguments.region(MAPPED_OUTPUT)?;
            to.check_alignment("output", then.map().output.align() as usize)?;
            let sizes = [element.bytes() as usize, then.map().output.bytes() as usize];
            let from = room(to.bytes() / sizes[1].max(1) * sizes[0])?;
            regions.push(("output", from.clone()));
            Some(Mapped { host: then.host().clone(), sizes, from, to, is_total: primitive.gives_total })
        }
        _ => None,
    };
    let work = (primitive.bind)(key, &arguments.with(regions), initial)?;
    Ok(Box::new(Viewed { sources, then, n, work }))
}

impl Work for Viewed {
    fn run(&self, pool: &ThreadPool) -> Result<()> {
        self.sources.iter().try_for_each(|(source, region)| source.fill(pool, self.n, region))?;
        self.work.run(pool)?;
        self.then.iter().try_for_each(|then| then.apply(pool, self.n))
    }

    fn resized(&self, n: usize) -> Box<dyn Work> {
        let Viewed { sources, then, work, .. } = self;
        Box::new(Viewed { sources: sources.clone(), then: then.clone(), n, work: work.resized(n) })
    }
}

/// A copy of a view.
struct CopyStep {
    source: Source,
    /// How many elements it has, of a run's.
    count: Param,
    n: usize,
    output: Region,
}

/// Binds a copy of a view: of memory it is no launch.
pub(crate) fn bind_copy(key: &KernelKey, arguments: &Arguments<'_>, _: Option<&[u8]>) -> Result<Box<dyn Work>> {
    let of = key.view("input").ok_or_else(|| Error::Invalid("a copy by a launch, of no view".into()))?;
    let (source, n) = (Source::bind(of, arguments)?, arguments.count()?);
    let output = arguments.array("output", n, source.size, of.view.node().element().align() as usize)?;
    source.leaves.iter().try_for_each(|leaf| leaf.check_apart(&output))?;
    Ok(Box::new(CopyStep { source, count: arguments.param("n")?, n, output }))
}

impl Work for CopyStep {
    fn run(&self, pool: &ThreadPool) -> Result<()> {
        self.source.fill(pool, self.n, &self.output)
    }

    fn resized(&self, n: usize) -> Box<dyn Work> {
        // No more than it was bound for.
        let n = self.count.number(n as u32).map_or(self.n, |n| self.n.min(n as usize));
        Box::new(CopyStep { source: self.source.clone(), count: self.count, n, output: self.output.clone() })
    }
}

/// What a copy must give.
pub(crate) fn expect_copy(request: &Request, Inputs { input, .. }: Inputs<'_>) -> Option<Expected> {
    let Request::Copy(r) = request else { return None };
    Some(Expected::of(Output::exact(&r.element, input.to_vec())))
}
