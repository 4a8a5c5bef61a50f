//! From a request to a plan. Choosing an algorithm happens here and nowhere else.

mod by_key;
mod compute;
mod passes;
mod reduce;
mod reduce_ladder;
pub(crate) mod scan;
mod select;
mod sort;
mod sort_local;
mod traffic;
mod waiting;

pub use self::compute::compute_bound;
pub use self::traffic::traffic;

use std::sync::Arc;

use crate::plan::PlannedSpan;
use crate::request::check_count;
use crate::scratch::Scratch;
use crate::{
    Caps, DeviceKind, ElementType, Error, KernelKey, Language, Launch, Layout, Options, Param, Plan, Region, Request,
    Rest, Result, Slot, Step, SubgroupSource, Tuning,
};

/// Workgroup memory for tickets, prefixes and the like, beside a tile's elements.
const BESIDE: u32 = 512;
/// Invocations that NVIDIA's OpenCL runs at most in workgroups whose size a kernel does not require.
const UNREQUIRED: u32 = 256;
/// The bytes that one launch copies: 2^31 words, which a kernel can count.
const COPIED_AT_ONCE: u64 = 1 << 33;

/// Makes a plan: pure data from pure data, no device needed.
///
/// # Errors
/// [`Error::Unsupported`] if the device lacks the type or the algorithm, or there is none of that name; [`Error::Invalid`] for sizes
/// past its limits.
pub fn plan(request: &Request, layout: Layout, options: Options, caps: &Caps, tuning: &Tuning) -> Result<Plan> {
    request.elements().try_for_each(ElementType::check)?;
    if caps.max_workgroup == 0 {
        return Err(Error::Invalid(format!(
            "{} ({}) with workgroups of at most 0 invocations",
            caps.device, caps.backend
        )));
    }
    let context = Planner { layout, options, caps, tuning: &tuning.within(caps)? };
    let plan = match request {
        Request::Copy { element, n } => context.copy(element, *n),
        Request::Scan(r) => context.scan(r),
        Request::Reduce(r) => context.reduce(r),
        Request::Sort(r) => context.sort(r),
        Request::Select(r) => context.select(r),
        Request::ByKey(r) => context.by_key(r),
    }?;
    context.check_waiting(&plan)?;
    tracing::debug!(primitive = request.primitive(), n = request.n(), algorithm = plan.algorithm, "planned");
    Ok(plan)
}

/// The algorithms that a device can run for a request, the planner's own choice first (at most sizes: tuning has the limits), then
/// the others that are fast somewhere, then the literature's (see [`is_reference`]).
pub fn algorithms(request: &Request, caps: &Caps) -> Vec<&'static str> {
    let subgroups = caps.subgroups.is_some();
    match (caps.language, request) {
        (_, Request::Copy { .. }) => vec!["copy"],
        (Language::Host, Request::Scan(_)) => vec!["parallel", "sequential"],
        (Language::Host, _) => vec!["parallel"],
        (_, Request::Scan(r)) => {
            let mut all = vec![];
            if subgroups {
                all.push("lookback");
            }
            // PoCL's emulated subgroups are barriers: within this kernel's conditions its optimised code writes over foreign memory.
            if caps.subgroups.is_some_and(|s| s.source != SubgroupSource::Emulated) {
                all.push("lookahead_registers");
            }
            if caps.bulk_shared_bytes > 0 && matches!(r.op.element(), ElementType::Scalar(_)) {
                all.push("lookahead");
            }
            all.push("reduce_then_scan");
            put_passes_first(&mut all, caps);
            let can = |rung: &&'static str| match *rung {
                "lookback_fenced" => subgroups && (caps.coherent || caps.language != Language::Wgsl),
                rung => subgroups || !(rung == "subgroup_blocked" || follows_arrival(rung)),
            };
            all.extend(SCAN_LADDER.into_iter().filter(can));
            all
        }
        (_, Request::Reduce(r)) => ["single_pass"].into_iter().chain(reduce_ladder::names(&r.op, caps)).collect(),
        (_, Request::Sort(r)) => {
            let onesweep = subgroups.then_some("onesweep");
            let is_few = r.n <= sort_local::LARGEST_TILE;
            let one_tile = (subgroups && is_few).then_some("one_tile");
            let rungs = SORT_LADDER.into_iter().filter(|rung| subgroups || *rung != "msd_first");
            onesweep
                .into_iter()
                .chain(one_tile)
                .chain(subgroups.then_some("hybrid"))
                .chain(["upsweep_downsweep"])
                .chain(is_few.then_some("merge_tile"))
                .chain(rungs)
                .collect()
        }
        (_, Request::Select(_) | Request::ByKey(_)) => {
            let is_behind = matches!(request, Request::Select(r) if r.rest == Rest::Behind);
            let mut all = if subgroups && !is_behind { vec!["lookback"] } else { vec![] };
            all.push("reduce_then_scan");
            put_passes_first(&mut all, caps);
            all
        }
    }
}

/// Moves `reduce_then_scan` to the front where subgroups are emulated. Each row of a look-back's tile is barriers there: on PoCL it took
/// two to three times as long, and a scan of eight words a minute to compile.
fn put_passes_first(algorithms: &mut [&str], caps: &Caps) {
    if caps.emulates_subgroups() {
        algorithms.sort_by_key(|algorithm| *algorithm != "reduce_then_scan");
    }
}

/// The algorithm of a name that a user gave.
///
/// # Errors
/// [`Error::Invalid`] that lists the names.
pub fn algorithm(name: &str) -> Result<&'static str> {
    ALGORITHMS
        .into_iter()
        .find(|known| *known == name)
        .ok_or_else(|| Error::Invalid(format!("no algorithm is called `{name}`; use one of {}", ALGORITHMS.join(", "))))
}

/// Every algorithm, by the name it has at every layer.
#[rustfmt::skip]
pub const ALGORITHMS: [&str; 33] = [
    "copy", "parallel", "sequential",
    "lookback", "lookahead", "lookahead_registers", "reduce_then_scan", "hillis_steele", "hillis_steele_shared", "blelloch", "blelloch_blocked",
    "subgroup_blocked", "reduce_then_scan_recursive", "scan_then_propagate", "chained_scan", "lookback_serial", "lookback_fenced",
    "single_pass", "interleaved_modulo", "interleaved_strided", "first_add_on_load", "unroll_last_subgroup", "unrolled",
    "grid_stride", "subgroup",
    "onesweep", "one_tile", "merge_tile", "hybrid", "upsweep_downsweep", "upsweep_downsweep_4bit", "split", "msd_first",
];

/// For a name that the lists above and [`algorithms`] have, and the steps of a request have not.
fn without_steps(algorithm: &str) -> Error {
    Error::Invalid(format!(
        "`{algorithm}` has no steps in the planner; this is a mistake of Trifold's, please report it"
    ))
}

/// Whether an algorithm is a rung of the literature's ladder: verified as any other, and no planner's choice.
pub fn is_reference(algorithm: &str) -> bool {
    SCAN_LADDER.contains(&algorithm) || SORT_LADDER.contains(&algorithm) || reduce_ladder::find(algorithm).is_some()
}

/// Whether an algorithm sorts no more keys than one workgroup's tile holds.
pub fn sorts_one_tile(algorithm: &str) -> bool {
    ["one_tile", "merge_tile"].contains(&algorithm)
}

/// Whether an algorithm's tiles wait for other tiles of the same launch.
pub fn waits_for_tiles(algorithm: &str) -> bool {
    ["onesweep", "hybrid", "msd_first", "lookahead"].contains(&algorithm) || follows_arrival(algorithm)
}

/// Whether what an algorithm combines may depend on which tiles come first, and with it a float's last bits. For a plan ask
/// [`Plan::follows_arrival`]: in chunks `lookahead_registers` does not.
pub fn follows_arrival(algorithm: &str) -> bool {
    ["lookback", "lookahead_registers", "lookback_serial", "lookback_fenced", "chained_scan"].contains(&algorithm)
}

/// The scans of the literature, in the order of its ideas.
const SCAN_LADDER: [&str; 10] = [
    "hillis_steele",
    "hillis_steele_shared",
    "blelloch",
    "blelloch_blocked",
    "subgroup_blocked",
    "reduce_then_scan_recursive",
    "scan_then_propagate",
    "chained_scan",
    "lookback_serial",
    "lookback_fenced",
];

/// The sorts of the literature.
const SORT_LADDER: [&str; 3] = ["split", "upsweep_downsweep_4bit", "msd_first"];

struct Planner<'a> {
    layout: Layout,
    options: Options,
    caps: &'a Caps,
    tuning: &'a Tuning,
}

/// How a kernel moves elements: sixteen bytes at a time where the spans allow it.
struct Pack {
    load: &'static str,
    store: &'static str,
    fold: &'static str,
    elements: u32,
    bytes: u32,
}

impl Planner<'_> {
    /// Words for an invocation of a workgroup: as many as tuned, on a GPU fewer for so few elements that compute units
    /// would stand idle. A power of two, so that few kernels are compiled.
    fn words(&self, tuned: u32, words: u64, workgroup: u32) -> u32 {
        if self.caps.kind == DeviceKind::Cpu {
            return tuned;
        }
        let invocations = u64::from(self.caps.compute_units.max(1)) * u64::from(workgroup);
        let each = words.div_ceil(invocations).min(u64::from(tuned)) as u32;
        each.next_power_of_two().max(self.tuning.words_least).min(tuned)
    }

    /// How many workgroups of a kernel a compute unit should hold at once, which bounds its registers: the kernels' constant in CUDA, where
    /// 0 is no bound. NVIDIA's OpenCL bounds those of kernels that do not require their workgroups' size, which are of
    /// [`UNREQUIRED`] invocations at most.
    fn registers_for(&self, workgroup: u32, resident: u32) -> Option<(&'static str, u32)> {
        let is_told = self.caps.subgroups.is_some_and(|s| s.source == SubgroupSource::InlinePtx);
        let is_bound = self.caps.language == Language::CudaC || is_told && resident > 1 && workgroup <= UNREQUIRED;
        is_bound.then_some(("RESIDENT", resident))
    }

    /// So many workgroups for each of the device's compute units.
    fn resident(&self, each: u32) -> u32 {
        self.caps.compute_units.max(1).saturating_mul(each)
    }

    /// The algorithm to use: the caller's, if the device has it, else the first of `choices`.
    fn algorithm(&self, request: &Request) -> Result<&'static str> {
        let choices = algorithms(request, self.caps);
        let Some(wanted) = self.options.algorithm else { return Ok(choices[0]) };
        if choices.contains(&wanted) {
            return Ok(wanted);
        }
        let caps = self.caps;
        Err(Error::Unsupported(format!(
            "{} by `{wanted}` on {} ({}){}; it runs {}",
            request.primitive(),
            caps.device,
            caps.backend,
            self.lack(request, wanted),
            choices.join(", ")
        )))
    }

    /// What the device lacks for an algorithm, if that is all.
    fn lack(&self, request: &Request, wanted: &str) -> &'static str {
        let width = crate::Subgroups { min: 32, max: 32, source: SubgroupSource::Native };
        let would = |caps: Caps| caps.language != Language::Host && algorithms(request, &caps).contains(&wanted);
        let caps = self.caps;
        match caps.subgroups {
            None if would(Caps { subgroups: Some(width), ..caps.clone() }) => ", which has no subgroups",
            Some(_) if would(Caps { subgroups: Some(width), ..caps.clone() }) => ", whose subgroups are emulated",
            _ if would(Caps { coherent: true, ..caps.clone() }) => ", whose WGSL has no `@coherent` memory",
            _ if would(Caps { bulk_shared_bytes: 1, ..caps.clone() }) => ", where no hardware copies tiles",
            _ => "",
        }
    }

    /// A workgroup that halves until its elements take no more than half of the workgroup memory.
    fn workgroup_within_half(&self, mut workgroup: u32, element: &ElementType) -> u32 {
        while workgroup > self.narrowest_workgroup() && workgroup * element.bytes() > self.caps.shared_bytes / 2 {
            workgroup /= 2;
        }
        workgroup
    }

    /// Workgroups are whole subgroups, however wide the device makes those.
    fn widest_subgroup(&self) -> u32 {
        self.caps.subgroups.map_or(1, |s| s.max)
    }

    /// Counts are kept for as many subgroups as there may be.
    fn narrowest_subgroup(&self) -> u32 {
        self.caps.subgroups.map_or(32, |s| s.min).max(1)
    }

    /// The narrowest workgroup that one which ranks keys by subgroups is halved to.
    fn narrowest_ranking(&self) -> u32 {
        (4 * self.narrowest_subgroup()).max(self.widest_subgroup())
    }

    /// What a workgroup that ranks keys may have: in CUDA more, if it asks for it.
    fn ranking_room(&self) -> u32 {
        self.caps.shared_bytes.max(self.caps.bulk_shared_bytes)
    }

    /// The narrowest workgroup that another is halved to.
    fn narrowest_workgroup(&self) -> u32 {
        self.widest_subgroup().max(32)
    }

    /// So many invocations, or as many as the device has in a workgroup, of whole subgroups.
    fn workgroup_of(&self, most: u32) -> u32 {
        let widest = self.widest_subgroup();
        (most.min(self.caps.max_workgroup) / widest * widest).max(widest)
    }

    /// As often as a kernel may poll: Mesa's processors end a loop after 65535 turns, as if it were done.
    fn polls(&self, times: u32) -> u32 {
        let polls = times.saturating_mul(self.tuning.spin_limit);
        if self.caps.kind == DeviceKind::Cpu { polls.min(1 << 12) } else { polls }
    }

    /// Refuses a kernel whose loops may turn so often that Mesa's processors, which promise no progress, end them as if they were done:
    /// after so many turns of all loops of an invocation. What an operator's own loops turn is not known.
    fn check_turns(&self, algorithm: &str, turns: u64, because: &str, instead: &str) -> Result<()> {
        const MOST_TURNS: u64 = 65535;
        let is_mesas = self.caps.kind == DeviceKind::Cpu && !self.caps.forward_progress;
        if !is_mesas || turns <= MOST_TURNS {
            return Ok(());
        }
        Err(Error::Unsupported(format!(
            "{algorithm} of so many on {}: {because}, about {turns} turns of its loops, and Mesa's processors end loops after \
             {MOST_TURNS}; use {instead}",
            self.caps.device
        )))
    }

    /// About half of a workgroup, of whole subgroups.
    fn halved(&self, workgroup: u32) -> u32 {
        (workgroup / 2).next_multiple_of(self.widest_subgroup())
    }

    fn pack(&self, element: &ElementType) -> Pack {
        let bytes = element.bytes();
        match (self.layout.wide, element) {
            (true, ElementType::Scalar(s)) if s.bytes() == 4 => {
                Pack { load: "block/pack4", store: "block/store4", fold: "block/fold4", elements: 4, bytes: 16 }
            }
            (true, ElementType::Scalar(_)) => {
                Pack { load: "block/pack2", store: "block/store2", fold: "block/fold2", elements: 2, bytes: 16 }
            }
            _ => Pack { load: "block/pack1", store: "block/store1", fold: "block/fold1", elements: 1, bytes },
        }
    }

    /// The parts and constants through which a kernel reaches subgroups.
    fn subgroup_constants(&self, workgroup: u32) -> Result<Vec<(&'static str, u32)>> {
        let Some(s) = self.caps.subgroups else {
            return Err(Error::Unsupported(format!(
                "{} ({}) has no subgroups; use reduce_then_scan or upsweep_downsweep",
                self.caps.device, self.caps.backend
            )));
        };
        // Those that are emulated are as narrow as their workgroup.
        let whole = if s.source == SubgroupSource::Emulated { s.max.min(workgroup) } else { s.max };
        if !workgroup.is_multiple_of(whole) {
            return Err(Error::Invalid(format!(
                "a workgroup of {workgroup} on {} ({}), whose subgroups are up to {} wide; tune it to a multiple of that",
                self.caps.device, self.caps.backend, s.max
            )));
        }
        let max = s.max.min(workgroup);
        let min = s.min.min(workgroup);
        Ok(vec![("SUBGROUP_MIN", min), ("SUBGROUP_MAX", max), ("MAX_SUBGROUPS", workgroup / min)])
    }

    fn fault_constants(&self) -> [(&'static str, u32); 2] {
        use crate::Fault;
        let (kind, every) = match self.options.fault {
            Fault::None => (0, 1),
            Fault::Silent(every) => (1, every.max(1)),
            Fault::Late(every) => (2, every.max(1)),
        };
        [("FAULT", kind), ("FAULT_EVERY", every)]
    }

    fn check_initial(&self, element: &ElementType, initial: &Option<Vec<u8>>) -> Result<()> {
        match initial {
            Some(bytes) if bytes.len() != element.bytes() as usize => Err(Error::Invalid(format!(
                "the initial value has {} bytes, and a {} has {}",
                bytes.len(),
                element.name(),
                element.bytes()
            ))),
            _ => Ok(()),
        }
    }

    fn finish(
        &self,
        algorithm: &'static str,
        scratch: Scratch,
        steps: Vec<Step>,
        spans: Vec<PlannedSpan>,
        depth: u64,
    ) -> Result<Plan> {
        for span in &spans {
            self.caps.check_span(span.slot.noun(), span.bytes)?;
        }
        let scratch_bytes = scratch.bytes();
        if scratch_bytes > self.caps.max_buffer {
            return Err(Error::Invalid(format!(
                "the scratch has {scratch_bytes} bytes, and a buffer of {} ({}) at most {}; split the work",
                self.caps.device, self.caps.backend, self.caps.max_buffer
            )));
        }
        let wide = steps.iter().any(is_wide);
        let caps = Arc::new(self.caps.clone());
        Ok(Plan { algorithm, scratch, steps, spans, wide, in_place: self.layout.in_place, depth, caps })
    }

    fn copy(&self, element: &ElementType, n: u64) -> Result<Plan> {
        let bytes = u64::from(check_count(n)?) * u64::from(element.bytes());
        if self.layout.in_place {
            return Err(Error::Invalid("a copy onto itself; give it two spans".into()));
        }
        let (from, to) = (whole(Slot::Input, bytes), whole(Slot::Output, bytes));
        let steps = if n == 0 {
            vec![]
        } else if self.caps.native_copy || self.caps.language == Language::Host {
            vec![Step::Copy { from, to }]
        } else {
            // Words, whatever the elements are: four at a time where the spans allow it.
            let pack = self.pack(&ElementType::Scalar(crate::Scalar::U32));
            let (workgroup, rows) = (256.min(self.caps.max_workgroup), 8);
            let launch = |at: u64| {
                let of = |slot| Region { slot, offset: at, bytes: COPIED_AT_ONCE.min(bytes - at) };
                let words = (COPIED_AT_ONCE.min(bytes - at) / 4) as u32;
                Step::Launch(Launch {
                    kernel: KernelKey {
                        name: "copy/copy",
                        parts: vec![pack.load, pack.store],
                        constants: vec![("WORKGROUP", workgroup), ("ROWS", rows)],
                        element: Some(ElementType::Scalar(crate::Scalar::U32)),
                        op: None,
                        selector: None,
                    },
                    groups: words.div_ceil(workgroup * rows * pack.elements),
                    bindings: vec![("input", of(Slot::Input)), ("output", of(Slot::Output))],
                    params: vec![
                        ("n", Param::Word(words)),
                        ("input_offset", Param::Offset { binding: "input", unit: pack.bytes }),
                        ("output_offset", Param::Offset { binding: "output", unit: pack.bytes }),
                    ],
                    initial: None,
                })
            };
            (0..bytes).step_by(COPIED_AT_ONCE as usize).map(launch).collect()
        };
        self.finish(
            "copy",
            Scratch::default(),
            steps,
            [Slot::Input, Slot::Output].map(|slot| PlannedSpan::new(slot, bytes, 4)).into(),
            0,
        )
    }
}

/// Where a binding's elements or packs of so many bytes begin: a caller's span begins at any element, a region of scratch where it
/// can be bound.
fn offset(binding: &'static str, region: Region, unit: u32) -> Param {
    match region.slot {
        Slot::Scratch => Param::Word(0),
        _ => Param::Offset { binding, unit },
    }
}

/// A launch that leaves its scratch as it wants to find it, and the fill for when that is not known to be clean.
fn clean_once(scratch: &Scratch, launch: Launch) -> Vec<Step> {
    let all = Region { slot: Slot::Scratch, offset: 0, bytes: scratch.bytes() };
    vec![Step::Fill { region: all, value: 0, once: true }, Step::Launch(launch)]
}

/// Whether a step takes 16 bytes of a span at a time: by packs of several elements, or by the hardware's copies of tiles.
fn is_wide(step: &Step) -> bool {
    let Step::Launch(launch) = step else { return false };
    let Launch { kernel, bindings, .. } = launch;
    let packs = kernel.parts.iter().any(|part| matches!(*part, "block/pack2" | "block/pack4"));
    let theirs = bindings.iter().any(|(_, region)| region.slot != Slot::Scratch);
    theirs && (packs || kernel.name == "scan/lookahead")
}

/// An argument that a kernel reaches from an offset of its own on.
#[derive(Clone, Copy)]
struct Argument {
    name: &'static str,
    /// The offset's name.
    offset: &'static str,
    region: Region,
    /// What the offset counts, in bytes.
    unit: u32,
}

/// A launch over `n` elements in tiles, of a kernel with these arguments.
fn tile_launch(kernel: KernelKey, groups: u32, [n, tiles]: [u32; 2], arguments: &[Argument]) -> Launch {
    let sizes = [("n", Param::Word(n)), ("tiles", Param::Word(tiles))];
    let offsets = arguments.iter().map(|a| (a.offset, Param::Offset { binding: a.name, unit: a.unit }));
    let bindings = arguments.iter().map(|a| (a.name, a.region)).collect();
    Launch { kernel, groups, bindings, params: sizes.into_iter().chain(offsets).collect(), initial: None }
}

/// The 32-bit words of so many elements, by which numbers say from where on they hold.
fn words_of(n: impl Into<u64>, element: &ElementType) -> u64 {
    n.into() * u64::from(element.words())
}

/// Whether that is as many as a number says that something begins with, `u32::MAX` for never.
fn reaches(words: u64, from: u32) -> bool {
    from < u32::MAX && words >= u64::from(from)
}

fn whole(slot: Slot, bytes: u64) -> Region {
    Region { slot, offset: 0, bytes }
}

impl Slot {
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Slot::Input => "input",
            Slot::Output => "output",
            Slot::InputValues => "input values",
            Slot::OutputValues => "output values",
            Slot::Rest => "rest",
            Slot::Count => "count",
            Slot::Scratch => "scratch",
        }
    }
}
