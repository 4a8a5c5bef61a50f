//! Reduction by key: one pass by decoupled look-back, or three launches where no workgroup may wait for another.

use super::scan::{tile_prefix, tile_states};
use super::{
    Argument, BESIDE, Planner, Scratch, check_count, clean_once, reaches, tile_launch, whole, without_steps, words_of,
};
use crate::by_key::segmented;
use crate::plan::PlannedSpan;
use crate::{ByKeyRequest, Error, KernelKey, Language, Launch, Op, Param, Plan, Request, Result, Slot, Step};

impl Planner<'_> {
    pub(super) fn by_key(&self, request: &ByKeyRequest) -> Result<Plan> {
        let ByKeyRequest { key, op, n } = request;
        let (n, total) = (check_count(*n)?, request.total());
        self.caps.check_element(total.element())?;
        let algorithm = self.algorithm(&Request::ByKey(request.clone()))?;
        if self.layout.in_place && n > 0 {
            return Err(Error::Invalid(
                "a reduction by key in place: where runs go depends on all before them, which may be overwritten by then; give \
                 it two spans"
                    .into(),
            ));
        }
        let bytes = |element: &crate::ElementType| u64::from(n) * u64::from(element.bytes());
        let values = total.element();
        let spans = vec![
            PlannedSpan::new(Slot::Input, bytes(key), key.align()),
            PlannedSpan::new(Slot::Output, bytes(key), key.align()),
            PlannedSpan::new(Slot::InputValues, if op.is_some() { bytes(values) } else { 0 }, values.align()),
            PlannedSpan::new(Slot::OutputValues, bytes(values), values.align()),
            PlannedSpan::new(Slot::Count, 4, 4),
        ];
        let mut scratch = Scratch::default();
        let job = Job::new(self, request, n, algorithm)?;
        let depth = u64::from(job.tiles) + u64::from(job.rows * job.workgroup);
        let steps = match algorithm {
            _ if n == 0 => vec![Step::Fill { region: whole(Slot::Count, 4), value: 0, once: false }],
            "parallel" => {
                let kernel = KernelKey {
                    constants: vec![job.key_words()],
                    element: Some(values.clone()),
                    op: Some(total),
                    ..job.key("by_key/parallel", vec![], vec![])
                };
                vec![Step::Launch(job.launch(kernel, 1, &arguments(&spans)))]
            }
            "lookback" => self.by_key_lookback(&job, &spans, &mut scratch)?,
            "reduce_then_scan" => by_key_three(&job, &spans, &mut scratch),
            other => return Err(without_steps(other)),
        };
        self.finish(algorithm, scratch, steps, spans, depth)
    }

    fn by_key_lookback(&self, job: &Job<'_>, spans: &[PlannedSpan], scratch: &mut Scratch) -> Result<Vec<Step>> {
        let state = self.state(&job.op);
        let mut parts = vec![self.subgroup_scan_part(&job.op)];
        parts.extend(tile_prefix(state.part));
        parts.extend(job.store());
        let mut kernel = job.tile_key("by_key/lookback", parts);
        let resident = match &job.request.op {
            _ if !job.staged => 0,
            Some(_) => self.tuning.by_key_resident,
            None => self.tuning.run_lengths_resident,
        };
        kernel.constants.extend(self.registers_for(job.workgroup, resident));
        kernel.constants.extend(self.subgroup_constants(job.workgroup)?);
        kernel.constants.extend(self.fault_constants());
        let bounded = u32::from(self.waits_bounded());
        kernel.constants.extend([("FALLBACK", bounded), ("SPIN_LIMIT", self.polls(1))]);
        let mut launch = job.launch(kernel, job.tiles, &arguments(spans));
        launch.bindings.extend(tile_states(job.n, job.tiles, job.tiles, state.bytes, scratch)?);
        launch.initial = Some(job.op.identity().to_vec());
        Ok(clean_once(scratch, launch))
    }
}

/// Three launches: each tile's segment, their scan by one workgroup, and the runs. Reads the input twice.
fn by_key_three(job: &Job<'_>, spans: &[PlannedSpan], scratch: &mut Scratch) -> Vec<Step> {
    // The last one is for the total.
    let sums = scratch.take((u64::from(job.tiles) + 1) * u64::from(job.op.element().bytes()));
    let all = arguments(spans);
    let is_input = |a: &Argument| matches!(a.region.slot, Slot::Input | Slot::InputValues);
    let inputs: Vec<Argument> = all.iter().copied().filter(is_input).collect();
    let sum = job.launch(job.tile_key("by_key/tile_reduce", vec!["block/reduce"]), job.tiles, &inputs);
    let spine = Launch {
        kernel: job.key("scan/spine", vec!["block/scan"], vec![]),
        groups: 1,
        bindings: vec![],
        params: vec![("count", Param::Word(job.tiles + 1))],
        initial: Some(job.op.identity().to_vec()),
    };
    let runs = job.tile_key("by_key/tile_scan", [vec!["block/scan"], job.store()].concat());
    let runs = job.launch(runs, job.tiles, &all);
    let mut launches = [sum, spine, runs];
    launches.iter_mut().for_each(|launch| launch.bindings.push(("sums", sums)));
    launches.map(Step::Launch).into()
}

/// Workgroup memory that holds a tile's keys, the one before it, and its values: a word is left out after every 32.
fn staged_bytes(tile: u32, key_words: u32, value_words: u32) -> u32 {
    let padded = |words: u32| words + words / 32;
    4 * (padded(tile * key_words) + key_words + padded(tile * value_words))
}

/// What the kernels of one reduction by key have in common.
struct Job<'a> {
    request: &'a ByKeyRequest,
    /// The segmented one.
    op: Op,
    value_words: u32,
    /// Whether elements and runs move by way of workgroup memory.
    staged: bool,
    /// What OpenCL's kernels are told where they do.
    whole_tiles: Option<(&'static str, u32)>,
    n: u32,
    workgroup: u32,
    rows: u32,
    tiles: u32,
}

impl<'a> Job<'a> {
    /// Tiles of about as many words of segments an invocation as the device's numbers say, and of as many of keys, which it holds beside them.
    fn new(planner: &Planner<'_>, request: &'a ByKeyRequest, n: u32, algorithm: &str) -> Result<Self> {
        let t = planner.tuning;
        let total = request.total();
        let op = segmented(&total)?;
        let segment = op.element();
        let (key_words, value_words) = (request.key.words(), total.element().words());
        let fits = |workgroup: u32, rows: u32| {
            let beside = workgroup * 2 * segment.bytes() + BESIDE;
            staged_bytes(workgroup * rows, key_words, value_words) + beside <= planner.caps.shared_bytes
        };
        // The block scans hold two elements an invocation in workgroup memory.
        let shape = |workgroup, words| (planner.workgroup_within_half(workgroup, segment), words);
        let wanted = shape(t.by_key_staged_workgroup, t.by_key_staged_words);
        let staged = reaches(words_of(n, &request.key), t.by_key_staged_from) && fits(wanted.0, 1);
        let (workgroup, words) = match algorithm {
            _ if staged => wanted,
            "lookback" => shape(t.by_key_workgroup, t.by_key_words),
            _ => shape(t.by_key_workgroup, t.by_key_passes_words),
        };
        let words = planner.words(words.min(t.scan_words), words_of(n, segment), workgroup);
        let mut rows = (words / segment.words()).min(2 * words / (segment.words() + key_words)).max(1);
        while staged && !fits(workgroup, rows) {
            rows -= 1;
        }
        // With a branch for whole tiles PoCL's optimised code reads, where subgroups are emulated, a tile before it is staged.
        let is_told = staged && planner.caps.language == Language::OpenClC;
        let whole_tiles = is_told.then_some(("WHOLE_TILES", u32::from(!planner.caps.emulates_subgroups())));
        Ok(Job {
            request,
            op,
            value_words,
            staged,
            whole_tiles,
            n,
            workgroup,
            rows,
            tiles: n.div_ceil(workgroup * rows),
        })
    }

    fn key(&self, name: &'static str, parts: Vec<&'static str>, more: Vec<(&'static str, u32)>) -> KernelKey {
        let mut constants = vec![("WORKGROUP", self.workgroup), ("ROWS", self.rows)];
        constants.extend(more);
        let element = Some(self.op.element().clone());
        KernelKey { name, parts, constants, element, op: Some(self.op.clone()), selector: None }
    }

    fn key_words(&self) -> (&'static str, u32) {
        ("KEY_WORDS", self.request.key.words())
    }

    /// A kernel that takes tiles of keys, and of values where there are some, whose argument is bound then.
    fn tile_key(&self, name: &'static str, parts: Vec<&'static str>) -> KernelKey {
        let mut constants = vec![self.key_words(), ("RUN_WORDS", self.value_words)];
        let has_values = self.request.op.is_some();
        if self.staged {
            let own = |name, words| (name, self.rows * words);
            constants.extend([own("OWN_KEYS", self.request.key.words()), own("OWN_WORDS", self.value_words)]);
            constants.push(("TILE_VALUES", u32::from(has_values)));
            constants.extend(self.whole_tiles);
        }
        let values = if has_values { "block/run_values" } else { "block/run_lengths" };
        let load = if self.staged { "block/run_load_staged" } else { "block/run_load" };
        self.key(name, [&[values, load][..], &parts].concat(), constants)
    }

    /// The blocks by which a tile's runs are written.
    fn store(&self) -> Vec<&'static str> {
        vec!["block/run_total", if self.staged { "block/run_store_staged" } else { "block/run_store" }]
    }

    fn launch(&self, kernel: KernelKey, groups: u32, arguments: &[Argument]) -> Launch {
        tile_launch(kernel, groups, [self.n, self.tiles], arguments)
    }
}

/// Inputs, outputs and count, those that there are.
fn arguments(spans: &[PlannedSpan]) -> Vec<Argument> {
    let named = spans.iter().filter(|span| span.bytes > 0).map(|span| match span.slot {
        Slot::Input => (span, "input", "input_offset"),
        Slot::Output => (span, "output", "output_offset"),
        Slot::InputValues => (span, "input_values", "input_values_offset"),
        Slot::OutputValues => (span, "output_values", "output_values_offset"),
        _ => (span, "output_count", "output_count_offset"),
    });
    named.map(|(span, name, offset)| Argument { name, offset, region: span.whole(), unit: 4 }).collect()
}
