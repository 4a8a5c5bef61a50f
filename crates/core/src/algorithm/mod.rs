//! Every algorithm is one value, in a file below its primitive's, and stands in that primitive's list. What is said of an
//! algorithm anywhere else is read from here.

pub(crate) mod chain;
pub mod copy;
pub mod histogram;
pub mod reduce;
pub mod reduce_by_key;
pub mod scan;
pub mod scatter;
pub mod segmented;
pub mod select;
pub mod sort;
pub mod top_k;
pub(crate) mod within;

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::planner::Planner;
pub(crate) use crate::primitive::Of;
use crate::primitive::{FAMILIES, KERNELS, Primitive};
use crate::scratch::Scratch;
use crate::tuning::Candidates;
use crate::{Caps, ElementType, Error, Kernel, Language, Request, Result, Slot, Step, SubgroupSource, Viewed};

/// An algorithm of one primitive.
///
/// ```
/// use trifold_core::algorithm::scan;
/// assert_eq!(scan::LOOKBACK.name, "lookback");
/// assert!(scan::LOOKBACK.tiles_wait && !scan::REDUCE_THEN_SCAN.tiles_wait);
/// ```
#[non_exhaustive]
pub struct Algorithm {
    /// What people and files call it. Algorithms of different primitives may share a name.
    pub name: &'static str,
    /// Its page, below `docs/algorithms`; nothing for what has none.
    pub page: &'static str,
    /// What it needs of a device and of a call.
    pub needs: Needs,
    /// Whether it is the literature's, to be read and compared with: verified as any other, and no planner's choice.
    pub is_reference: bool,
    /// Whether its tiles wait for other tiles of the same launch.
    pub tiles_wait: bool,
    /// Whether what it combines may depend on which tiles come first, and with it a float's last bits. For a plan,
    /// [`Plan::follows_arrival`](crate::Plan::follows_arrival) says it.
    pub follows_arrival: bool,
    /// How often it reads its input.
    pub reads: u64,
    /// The slots in which that may be a view. The literature's take memory.
    pub views: &'static [Slot],
    /// Whether it can map its output.
    pub maps_output: bool,
    /// The most elements that any device takes by it.
    pub most: u64,
    /// The algorithm whose blocks it has in another order.
    pub variant_of: Option<&'static Algorithm>,
    /// What tuning tries for it: behind a function, since they name the algorithm.
    pub(crate) candidates: fn() -> &'static [Candidates],
    pub(crate) of: Of,
}

/// What an algorithm needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Needs {
    /// Where it runs.
    pub place: Place,
    /// Subgroups.
    pub subgroups: SubgroupNeed,
    /// Hardware that copies tiles to shared memory.
    pub bulk_copies: bool,
    /// Memory that invocations of other workgroups see without an atomic, which WGSL calls `@coherent`.
    pub coherent: bool,
    /// An operator that commutes.
    pub commuting: bool,
    /// Elements that are scalars.
    pub scalars: bool,
    /// What it needs to work in place.
    pub in_place: InPlace,
}

/// What runs an algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Kernels, in workgroups.
    Workgroups,
    /// The threads of the CPU backend.
    Threads,
    /// Either.
    Anything,
}

/// Which subgroups an algorithm needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubgroupNeed {
    /// None.
    None,
    /// Any, those too that barriers and workgroup memory stand in for.
    Any,
    /// Any. But where barriers stand in for subgroups, each row of a tile is barriers to compile and to run. An
    /// algorithm that needs no subgroups is then chosen first.
    RatherNative,
    /// The device's own.
    Native,
}

/// What an algorithm needs where the output is the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InPlace {
    /// Nothing.
    Always,
    /// On a device that promises forward progress. A helper that computes a stuck tile's aggregate must find the tile's
    /// input unchanged.
    WithProgress,
    /// It cannot, and its spans start at multiples of 16 bytes: tiles are copied whole.
    Never,
}

/// How an algorithm is planned, and what it moves.
pub(crate) struct Row<R> {
    pub(crate) plan: fn(&Planner<'_>, &R) -> Result<Work>,
    /// The bytes of device memory that it reads and writes, of so many outputs, in its largest terms. What it keeps for
    /// each tile is left out.
    pub(crate) traffic: Option<fn(&R, u64) -> u64>,
}

/// What a device is to do by an algorithm.
pub(crate) struct Work {
    pub(crate) steps: Vec<Step>,
    pub(crate) scratch: Scratch,
    /// The longest chain of combines from an input to a result.
    pub(crate) depth: u64,
    /// Whether it combines in the same order every time, though the algorithm may not.
    pub(crate) in_fixed_order: bool,
}

impl Work {
    pub(crate) fn new(scratch: Scratch, steps: Vec<Step>) -> Work {
        Work { steps, scratch, depth: 0, in_fixed_order: false }
    }

    pub(crate) fn depth(self, depth: u64) -> Work {
        Work { depth, ..self }
    }
}

impl Needs {
    /// Workgroups and no more.
    pub(crate) const WORKGROUPS: Needs = Needs {
        place: Place::Workgroups,
        subgroups: SubgroupNeed::None,
        bulk_copies: false,
        coherent: false,
        commuting: false,
        scalars: false,
        in_place: InPlace::Always,
    };
    /// The CPU backend's threads.
    pub(crate) const THREADS: Needs = Needs { place: Place::Threads, ..Needs::WORKGROUPS };
    /// Workgroups with subgroups.
    pub(crate) const SUBGROUPS: Needs = Needs { subgroups: SubgroupNeed::Any, ..Needs::WORKGROUPS };
}

impl Algorithm {
    /// An algorithm that runs in workgroups and needs no more.
    pub(crate) const fn new(name: &'static str, page: &'static str, of: Of) -> Algorithm {
        Algorithm {
            name,
            page,
            needs: Needs::WORKGROUPS,
            is_reference: false,
            tiles_wait: false,
            follows_arrival: false,
            reads: 1,
            views: &[Slot::Input],
            maps_output: false,
            most: u64::MAX,
            variant_of: None,
            candidates: || &[],
            of,
        }
    }

    /// Whether one workgroup takes all elements, and so no more than it holds.
    pub fn is_of_one_tile(&self) -> bool {
        self.most < u64::MAX
    }

    /// Whether its output may be mapped: by itself, or by a launch behind it.
    pub(crate) fn can_map(&self, asked: &dyn Primitive) -> bool {
        !self.is_reference && (self.maps_output || asked.written().is_some())
    }

    /// Whether what it reads in these slots may be views.
    pub fn takes_views(&self, views: &[Viewed]) -> bool {
        views.is_empty() || !self.is_reference && views.iter().all(|viewed| self.views.contains(&viewed.slot))
    }

    /// Whether it is chosen only behind those that need no subgroups.
    pub(crate) fn steps_back(&self, caps: &Caps) -> bool {
        self.needs.subgroups == SubgroupNeed::RatherNative && caps.emulates_subgroups()
    }

    /// What a device or a request lacks for it, in words that go behind the device's name.
    pub(crate) fn lack(&self, request: &Request, caps: &Caps) -> Option<String> {
        let Needs { place, subgroups, bulk_copies, coherent, commuting, scalars, .. } = self.needs;
        let name = self.name;
        let op = request.op();
        let is_struct = || op.is_some_and(|op| !matches!(op.element(), ElementType::Scalar(_)));
        let emulated = caps.emulates_subgroups();
        Some(match (place, caps.language) {
            (Place::Workgroups, Language::Host) => ", which runs threads and no workgroups".into(),
            (Place::Threads, language) if language != Language::Host => {
                ", which runs workgroups: it is the CPU's".into()
            }
            _ if subgroups != SubgroupNeed::None && caps.subgroups.is_none() => {
                format!(", which has no subgroups{}", caps.remedy)
            }
            _ if subgroups == SubgroupNeed::Native && emulated => ", whose subgroups are emulated".into(),
            (_, Language::Wgsl) if coherent && !caps.coherent => {
                format!(", whose WGSL has no `@coherent` memory{}", caps.remedy)
            }
            _ if bulk_copies && caps.bulk_shared_bytes == 0 => ", where no hardware copies tiles".into(),
            _ if scalars && is_struct() => format!(": `{name}` takes elements that are scalars"),
            _ if commuting && op.is_some_and(|op| !op.commutative) => format!(
                ": `{}` does not commute, and `{name}` combines elements out of their order",
                op.map_or("", |op| &op.name)
            ),
            _ => format!(": {}", request.asked().refuses(self)?),
        })
    }
}

impl Request {
    /// The algorithm of this primitive that has a name.
    ///
    /// # Errors
    /// [`Error::Invalid`] that lists the primitive's.
    pub fn algorithm(&self, name: &str) -> Result<&'static Algorithm> {
        self.algorithms().iter().find(|known| known.name == name).copied().ok_or_else(|| {
            let names: Vec<_> = self.algorithms().iter().map(|known| known.name).collect();
            Error::Invalid(format!("no {} is called `{name}`; use one of {}", self.primitive(), names.join(", ")))
        })
    }
}

/// Every algorithm, primitive by primitive.
pub fn all() -> impl Iterator<Item = &'static Algorithm> {
    families().iter().flat_map(|family| family.iter().copied())
}

/// The algorithms of each primitive.
pub fn families() -> &'static [&'static [&'static Algorithm]] {
    FAMILIES
}

/// Every kernel, primitive by primitive, and an experiment's.
pub fn kernels() -> impl Iterator<Item = &'static Kernel> {
    KERNELS.iter().flat_map(|kernels| kernels.iter().copied()).chain([&crate::planner::compute::KERNEL])
}

/// A name that a user gave, of some primitive's algorithm: for programs that take one for several primitives.
///
/// # Errors
/// [`Error::Invalid`] that lists the names.
pub fn named(name: &str) -> Result<&'static str> {
    let mut names: Vec<&str> = vec![];
    for algorithm in all() {
        if algorithm.name == name {
            return Ok(algorithm.name);
        }
        if !names.contains(&algorithm.name) {
            names.push(algorithm.name);
        }
    }
    Err(Error::Invalid(format!("no algorithm is called `{name}`; use one of {}", names.join(", "))))
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

// There is one value of each.
impl PartialEq for Algorithm {
    fn eq(&self, other: &Algorithm) -> bool {
        std::ptr::eq(self, other)
    }
}
impl Eq for Algorithm {}
impl Hash for Algorithm {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::hash(self, state);
    }
}

/// Whether a device emulates no subgroups and has some.
pub(crate) fn has_native_subgroups(caps: &Caps) -> bool {
    caps.subgroups.is_some_and(|s| s.source != SubgroupSource::Emulated)
}
