//! Select and partition: one pass by decoupled look-back, or three launches where no workgroup may wait for another and
//! where the rest is to follow the elements that are kept.

use super::scan::{tile_prefix, tile_states};
use super::{Planner, Scratch, check_count, clean_once, whole};
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
        let mut spans = vec![(Slot::Input, bytes, element.align()), (Slot::Output, bytes, element.align())];
        if *rest == Rest::Apart {
            spans.push((Slot::Rest, bytes, element.align()));
        }
        spans.push((Slot::Count, 4, 4));
        let mut scratch = Scratch::default();
        let steps = match algorithm {
            _ if n == 0 => vec![Step::Fill { region: whole(Slot::Count, 4), value: 0, once: false }],
            "parallel" => {
                let mut launch = Job::new(self, request, n, 1).launch("select/parallel", vec![], vec![], 1);
                launch.kernel.constants.retain(|(name, _)| *name == "SELECT_REST");
                vec![Step::Launch(launch)]
            }
            "lookback" => self.select_by_lookback(request, n, &mut scratch)?,
            _ => self.select_by_counts(request, n, &mut scratch),
        };
        self.finish(algorithm, scratch, steps, spans, 0)
    }

    /// One launch, whose tiles tell each other how many elements they keep.
    fn select_by_lookback(&self, request: &SelectRequest, n: u32, scratch: &mut Scratch) -> Result<Vec<Step>> {
        let job = Job::new(self, request, n, 16);
        let state = self.state(&job.sum);
        let mut constants = self.subgroup_constants(job.workgroup)?;
        constants.extend(self.fault_constants());
        constants.extend([
            ("FALLBACK", u32::from(self.waits_bounded())),
            ("SPIN_LIMIT", self.polls(1)),
            ("SELECT_ROWS", ROWS_RANKED),
            ("SELECT_ROUNDS", job.rows / ROWS_RANKED),
        ]);
        let mut launch = job.launch(
            "select/lookback",
            [vec![self.subgroup_scan_of(&job.sum)], tile_prefix(state.part)].concat(),
            constants,
            job.tiles,
        );
        launch.bindings.extend(tile_states(job.n, job.tiles, job.tiles, state.bytes, scratch)?);
        launch.initial = Some(job.sum.identity().to_vec());
        Ok(clean_once(scratch, launch))
    }

    /// Three launches: each tile's count, their scan by one workgroup, and the elements to their places. Reads the input twice.
    fn select_by_counts(&self, request: &SelectRequest, n: u32, scratch: &mut Scratch) -> Vec<Step> {
        let job = Job::new(self, request, n, 8);
        // The last one is for the total.
        let sums = scratch.take((u64::from(job.tiles) + 1) * 4);
        let mut count = job.launch("select/tile_count", vec!["block/reduce"], vec![], job.tiles);
        count.kernel.constants.retain(|(name, _)| *name != "SELECT_REST");
        count.bindings.retain(|(name, _)| *name == "input");
        count.params.retain(|(name, _)| ["n", "tiles", "input_offset"].contains(name));
        let spine = Launch {
            kernel: KernelKey { selector: None, ..job.key("scan/spine", vec!["block/scan"], vec![]) },
            groups: 1,
            bindings: vec![],
            params: vec![("count", Param::Word(job.tiles + 1))],
            initial: Some(job.sum.identity().to_vec()),
        };
        let place = job.launch("select/tile_place", vec!["block/scan"], vec![], job.tiles);
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
    fn new(planner: &Planner<'_>, request: &'a SelectRequest, n: u32, words: u32) -> Self {
        let workgroup = planner.tuning.scan_workgroup;
        let element = request.selector.element().words();
        let all = u64::from(n) * u64::from(element);
        let rows = planner.words(words.min(planner.tuning.scan_words), all, workgroup) / element;
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

    /// A launch with input, output, rest and count bound. Where there is no span for the rest the output stands for it.
    fn launch(
        &self,
        name: &'static str,
        parts: Vec<&'static str>,
        more: Vec<(&'static str, u32)>,
        groups: u32,
    ) -> Launch {
        let element = self.request.selector.element();
        let bytes = u64::from(self.n) * u64::from(element.bytes());
        let (kind, rest) = match self.request.rest {
            Rest::Dropped => (0, Slot::Output),
            Rest::Apart => (1, Slot::Rest),
            Rest::Behind => (2, Slot::Output),
        };
        let offset = |binding, unit| Param::Offset { binding, unit };
        Launch {
            kernel: self.key(name, parts, more.into_iter().chain([("SELECT_REST", kind)]).collect()),
            groups,
            bindings: vec![
                ("input", whole(Slot::Input, bytes)),
                ("output", whole(Slot::Output, bytes)),
                ("output_rest", whole(rest, bytes)),
                ("output_count", whole(Slot::Count, 4)),
            ],
            params: vec![
                ("n", Param::Word(self.n)),
                ("tiles", Param::Word(self.tiles)),
                ("input_offset", offset("input", element.bytes())),
                ("output_offset", offset("output", element.bytes())),
                ("output_rest_offset", offset("output_rest", element.bytes())),
                ("output_count_offset", offset("output_count", 4)),
            ],
            initial: None,
        }
    }
}
