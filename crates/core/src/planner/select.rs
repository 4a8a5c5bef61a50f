//! Select and partition: one pass by decoupled look-back, or three launches where no workgroup may wait for another and
//! where the rest is to follow the elements that are kept.

use super::scan::{tile_prefix, tile_states};
use super::{
    Argument, BESIDE, Planner, Scratch, check_count, clean_once, reaches, tile_launch, whole, without_steps, words_of,
};
use crate::plan::PlannedSpan;
use crate::{
    Builtin, Error, KernelKey, Launch, Op, Param, Plan, Request, Rest, Result, Scalar, SelectRequest, Slot, Step,
};

impl Planner<'_> {
    pub(super) fn select(&self, request: &SelectRequest) -> Result<Plan> {
        let SelectRequest { selector, n, rest } = request;
        let element = selector.element();
        let n = check_count(*n)?;
        self.caps.check_element(element)?;
        let algorithm = self.algorithm(&Request::Select(request.clone()))?;
        if self.layout.in_place && n > 0 {
            return Err(Error::Invalid(
                "a selection in place: where elements go depends on all before them, which may be overwritten by then; \
                 give it two spans"
                    .into(),
            ));
        }
        let bytes = u64::from(n) * u64::from(element.bytes());
        let of_elements = |slot| PlannedSpan::new(slot, bytes, element.align());
        let mut spans = vec![of_elements(Slot::Input), of_elements(Slot::Output)];
        if *rest == Rest::Apart {
            spans.push(of_elements(Slot::Rest));
        }
        spans.push(PlannedSpan::new(Slot::Count, 4, 4));
        let mut scratch = Scratch::default();
        let steps = match algorithm {
            _ if n == 0 => vec![Step::Fill { region: whole(Slot::Count, 4), value: 0, once: false }],
            "parallel" => {
                let job = Job::new(self, request, n, self.tuning.select_workgroup, 1);
                let kernel = KernelKey { constants: vec![job.rest()], ..job.key("select/parallel", vec![], vec![]) };
                vec![Step::Launch(job.launch(kernel, 1, &job.arguments()))]
            }
            "lookback" => self.select_by_lookback(request, n, &mut scratch)?,
            "reduce_then_scan" => self.select_by_counts(request, n, &mut scratch),
            other => return Err(without_steps(other)),
        };
        self.finish(algorithm, scratch, steps, spans, 0)
    }

    /// One launch, whose tiles tell each other how many elements they keep.
    fn select_by_lookback(&self, request: &SelectRequest, n: u32, scratch: &mut Scratch) -> Result<Vec<Step>> {
        let job = Job::new(self, request, n, self.tuning.select_workgroup, self.tuning.select_words);
        let state = self.state(&job.sum);
        let element = request.selector.element();
        // A subgroup may be as narrow as an invocation, and has a total.
        let tile_bytes = job.workgroup * (job.rows * element.bytes() + 4);
        let is_staged = reaches(words_of(n, element), self.tuning.select_staged_from)
            && tile_bytes + BESIDE <= self.caps.shared_bytes;
        let mut constants = self.subgroup_constants(job.workgroup)?;
        constants.extend(self.registers_for(job.workgroup, if is_staged { self.tuning.select_resident } else { 0 }));
        constants.extend(self.fault_constants());
        constants.extend([
            ("FALLBACK", u32::from(self.waits_bounded())),
            ("SPIN_LIMIT", self.polls(1)),
            ("SELECT_ROWS", ROWS_RANKED),
            ("SELECT_ROUNDS", job.rows / ROWS_RANKED),
            ("SELECT_STAGED", u32::from(is_staged)),
            job.rest(),
        ]);
        let parts = [vec![self.subgroup_scan_of(&job.sum)], tile_prefix(state.part)].concat();
        let mut launch = job.launch(job.key("select/lookback", parts, constants), job.tiles, &job.arguments());
        launch.bindings.extend(tile_states(job.n, job.tiles, job.tiles, state.bytes, scratch)?);
        launch.initial = Some(job.sum.identity().to_vec());
        Ok(clean_once(scratch, launch))
    }

    /// Three launches: each tile's count, their scan by one workgroup, and the elements to their places. Reads the input twice.
    fn select_by_counts(&self, request: &SelectRequest, n: u32, scratch: &mut Scratch) -> Vec<Step> {
        let job = Job::new(self, request, n, self.tuning.select_workgroup, self.tuning.select_passes_words);
        // The last one is for the total.
        let sums = scratch.take((u64::from(job.tiles) + 1) * 4);
        let [input, ..] = job.arguments();
        let count = job.launch(job.key("select/tile_count", vec!["block/reduce"], vec![]), job.tiles, &[input]);
        let spine = Launch {
            kernel: KernelKey { selector: None, ..job.key("scan/spine", vec!["block/scan"], vec![]) },
            groups: 1,
            bindings: vec![],
            params: vec![("count", Param::Word(job.tiles + 1))],
            initial: Some(job.sum.identity().to_vec()),
        };
        let place = job.key("select/tile_place", vec!["block/scan"], vec![job.rest()]);
        let place = job.launch(place, job.tiles, &job.arguments());
        let mut launches = [count, spine, place];
        launches.iter_mut().for_each(|launch| launch.bindings.push(("sums", sums)));
        launches.map(Step::Launch).into()
    }
}

/// Rows of a subgroup that are ranked at once: a word has a byte for each.
const ROWS_RANKED: u32 = 4;

/// What the kernels of one selection have in common.
struct Job<'a> {
    request: &'a SelectRequest,
    /// Of the counts.
    sum: Op,
    n: u32,
    workgroup: u32,
    rows: u32,
    tiles: u32,
}

impl<'a> Job<'a> {
    /// Tiles of about `words` words an invocation.
    fn new(planner: &Planner<'_>, request: &'a SelectRequest, n: u32, workgroup: u32, words: u32) -> Self {
        let element = request.selector.element();
        let words = planner.words(words.min(planner.tuning.scan_words), words_of(n, element), workgroup);
        let rows = words / element.words();
        let rows = (rows / ROWS_RANKED).max(1) * ROWS_RANKED;
        let sum = Op::builtin(Builtin::Sum, Scalar::U32).expect("u32 has a sum");
        Job { request, sum, n, workgroup, rows, tiles: n.div_ceil(workgroup * rows) }
    }

    fn key(&self, name: &'static str, parts: Vec<&'static str>, more: Vec<(&'static str, u32)>) -> KernelKey {
        let mut constants = vec![("WORKGROUP", self.workgroup), ("ROWS", self.rows)];
        constants.extend(more);
        KernelKey {
            name,
            parts,
            constants,
            element: Some(self.sum.element().clone()),
            op: Some(self.sum.clone()),
            selector: Some(self.request.selector.clone()),
        }
    }

    /// What becomes of the elements that are not kept.
    fn rest(&self) -> (&'static str, u32) {
        ("SELECT_REST", self.request.rest.code())
    }

    /// Input, output, rest and count. Where there is no span for the rest the output stands for it.
    fn arguments(&self) -> [Argument; 4] {
        let unit = self.request.selector.element().bytes();
        let elements = |slot| whole(slot, u64::from(self.n) * u64::from(unit));
        let rest = if self.request.rest == Rest::Apart { Slot::Rest } else { Slot::Output };
        [
            Argument { name: "input", offset: "input_offset", region: elements(Slot::Input), unit },
            Argument { name: "output", offset: "output_offset", region: elements(Slot::Output), unit },
            Argument { name: "output_rest", offset: "output_rest_offset", region: elements(rest), unit },
            Argument { name: "output_count", offset: "output_count_offset", region: whole(Slot::Count, 4), unit: 4 },
        ]
    }

    fn launch(&self, kernel: KernelKey, groups: u32, arguments: &[Argument]) -> Launch {
        tile_launch(kernel, groups, [self.n, self.tiles], arguments)
    }
}
