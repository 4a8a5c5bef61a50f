//! A row of the table: one call, and how its input and its memory lie.

use trifold_core::{
    Algorithm, Caps, ElementType, Fault, Layout, Options, Plan, Request, Result, Slot, Tuning, Waiting, planner,
};
use trifold_cpu::oracle;

use crate::inputs::{Distribution, Random};
use crate::table::{self, Inputs};

/// Where a call's spans lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    /// At the start of their buffers.
    Aligned,
    /// One and three elements into their buffers.
    Odd,
    /// The output is the input.
    InPlace,
    /// Both.
    OddInPlace,
    /// Further into their buffers, each elsewhere, where wide accesses are allowed all the same: what an API can bind at or not.
    Packed,
}

impl Placement {
    pub(crate) const ALL: [Placement; 5] =
        [Placement::Aligned, Placement::Odd, Placement::InPlace, Placement::OddInPlace, Placement::Packed];

    pub(crate) fn in_place(self) -> bool {
        matches!(self, Placement::InPlace | Placement::OddInPlace)
    }

    /// How many elements into its buffer a span starts.
    pub(crate) fn offset(self, slot: Slot) -> u64 {
        let [input, output, input_values, others] = match self {
            Placement::Aligned | Placement::InPlace => [0; 4],
            Placement::Odd => [1, 3, 3, 1],
            Placement::OddInPlace => [3, 3, 1, 1],
            // Whatever an element has, these are multiples of 16 bytes.
            Placement::Packed => [4, 68, 132, 1028],
        };
        match slot {
            Slot::Input => input,
            Slot::Leaf(leaf) => {
                if leaf % 2 == 0 {
                    input
                } else {
                    input_values
                }
            }
            Slot::Output => output,
            Slot::InputValues | Slot::Offsets | Slot::Rest => input_values,
            Slot::OutputValues | Slot::Count | Slot::Length | Slot::Scratch => others,
        }
    }
}

/// Where a kernel's edges are, in elements.
pub(crate) struct Edges {
    pub(crate) workgroup: u64,
    /// What a workgroup takes at once.
    pub(crate) round: u64,
    /// What it takes in all.
    pub(crate) tile: u64,
}

/// Whose tile shapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tiles {
    /// The backend's.
    Shipped,
    /// As small as can be: many tiles from few elements.
    Small,
    /// The backend's, but for these numbers.
    Numbers(Vec<(&'static str, u32)>),
}

impl Tiles {
    pub(crate) fn tuning(&self, mut shipped: Tuning, caps: &Caps) -> Result<Tuning> {
        match self {
            Tiles::Shipped => {}
            Tiles::Numbers(numbers) => numbers.iter().try_for_each(|(name, value)| shipped.set(name, *value))?,
            Tiles::Small => {
                // No narrower than a subgroup may be.
                let narrowest = caps.subgroups.map_or(64, |s| s.max.max(64));
                for name in NARROWED {
                    let workgroup = shipped.get(name).map_or(narrowest, |shipped| shipped.min(narrowest));
                    shipped.set(name, workgroup)?;
                }
                SMALL
                    .iter()
                    .try_for_each(|(names, value)| names.iter().try_for_each(|name| shipped.set(name, *value)))?;
            }
        }
        Ok(shipped)
    }
}

/// The workgroups that [`Tiles::Small`] makes as narrow as the device allows.
#[rustfmt::skip]
const NARROWED: [&str; 14] = [
    "scan_workgroup", "scan_workgroup_many", "lookback_pipelined_workgroup", "blocked_workgroup", "reduce_workgroup",
    "tile_workgroup", "merge_workgroup", "bucket_workgroup", "select_workgroup", "reduce_by_key_workgroup", "segmented_workgroup",
    "ranges_workgroup", "top_k_workgroup", "top_k_select_workgroup",
];

/// Its other numbers, by value.
#[rustfmt::skip]
const SMALL: [(&[&str], u32); 8] = [
    (&["top_k_selected_from"], 0),
    (&["top_k_selected"], 100),
    (&["top_k_all"], 1 << 12),
    (&["blocked_padding"], 0),
    (&["lookahead_rows", "blocked_items", "reduce_ahead", "tile_least", "merge_least", "ranges_groups"], 1),
    (&["sort_keys64", "sort_pairs", "tile_pairs", "tile_keys64", "bucket_keys", "ranges_words"], 2),
    (&["sort_keys", "tile_keys", "merge_keys"], 3),
    (&["top_k_rows", "top_k_select_rows", "segmented_words", "segmented_passes_words", "scan_words", "reduce_words", "reduce_alone_words", "spin_limit", "top_k_listed"], 4),
];

/// What a call is given.
pub(crate) struct Content {
    /// Its inputs, in memory or as views give them.
    pub(crate) inputs: Inputs,
    /// Where its segments begin.
    pub(crate) offsets: Option<Vec<u8>>,
    /// What views read.
    pub(crate) leaves: Vec<Vec<u8>>,
}

impl Content {
    /// The same for the oracle.
    pub(crate) fn told(&self) -> oracle::Inputs<'_> {
        let (input, values) = &self.inputs;
        oracle::Inputs { offsets: self.offsets.as_deref(), ..oracle::Inputs::new(input, values.as_deref()) }
    }

    /// What is in an input slot.
    pub(crate) fn of(&self, slot: Slot) -> Option<&[u8]> {
        match slot {
            Slot::Input => Some(&self.inputs.0),
            Slot::InputValues => self.inputs.1.as_deref(),
            Slot::Offsets => self.offsets.as_deref(),
            Slot::Leaf(leaf) => self.leaves.get(usize::from(leaf)).map(Vec::as_slice),
            _ => None,
        }
    }
}

/// One call.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) request: Request,
    pub(crate) distribution: Distribution,
    pub(crate) placement: Placement,
    pub(crate) options: Options,
    pub(crate) tiles: Tiles,
    /// How often to run it, with the same scratch.
    pub(crate) runs: u32,
    /// Whether the call has scratch of its own, which is cleared once. Every run then has an input of its own, so that
    /// what a run leaves in the scratch is wrong for the next.
    pub(crate) keeps_scratch: bool,
}

impl Row {
    pub(crate) fn new(request: Request) -> Row {
        Row {
            request,
            distribution: Distribution::Uniform,
            placement: Placement::Aligned,
            options: Options::default(),
            tiles: Tiles::Shipped,
            runs: 2,
            keeps_scratch: false,
        }
    }

    pub(crate) fn distribution(self, distribution: Distribution) -> Row {
        Row { distribution, ..self }
    }

    pub(crate) fn placement(self, placement: Placement) -> Row {
        Row { placement, ..self }
    }

    /// The same of a request that is made of its own.
    pub(crate) fn of(self, request: impl Fn(Request) -> Request) -> Row {
        Row { request: request(self.request), ..self }
    }

    pub(crate) fn algorithm(self, algorithm: &'static Algorithm) -> Row {
        Row { options: self.options.with(|options| options.algorithm = Some(algorithm)), ..self }
    }

    pub(crate) fn options(self, options: Options) -> Row {
        Row { options, ..self }
    }

    pub(crate) fn fault(self, fault: Fault) -> Row {
        Row { options: self.options.with(|options| options.fault = fault), ..self }
    }

    pub(crate) fn waiting(self, waiting: Waiting) -> Row {
        Row { options: self.options.with(|options| options.waiting = waiting), ..self }
    }

    pub(crate) fn tiles(self, tiles: Tiles) -> Row {
        Row { tiles, ..self }
    }

    pub(crate) fn runs(self, runs: u32) -> Row {
        Row { runs, ..self }
    }

    pub(crate) fn keeps_scratch(self) -> Row {
        Row { keeps_scratch: true, ..self }
    }

    /// The row's name, which says everything about it.
    pub(crate) fn name(&self) -> String {
        self.named(&[format!("n={}", self.request.n()), self.distribution.name()])
    }

    /// Its name without size and input. Rows that share it have the same kernels, but where a size decides.
    pub(crate) fn kernels(&self) -> String {
        self.named(&[])
    }

    fn named(&self, input: &[String]) -> String {
        let label = self.request.label();
        let mut rest: Vec<String> = label.more.into_iter().map(String::from).collect();
        match self.placement {
            Placement::Aligned => {}
            Placement::Odd => rest.push("odd".into()),
            Placement::InPlace => rest.push("in_place".into()),
            Placement::OddInPlace => rest.push("odd_in_place".into()),
            Placement::Packed => rest.push("packed".into()),
        }
        match self.options.fault {
            Fault::None => {}
            Fault::Silent(every) => rest.push(format!("silent{every}")),
            Fault::Late(every) => rest.push(format!("late{every}")),
        }
        if self.options.waiting != Waiting::default() {
            rest.push(self.options.waiting.to_string());
        }
        match &self.tiles {
            Tiles::Shipped => {}
            Tiles::Small => rest.push("small_tiles".into()),
            Tiles::Numbers(numbers) => rest.extend(numbers.iter().map(|(name, value)| format!("{name}={value}"))),
        }
        if self.runs > 2 {
            rest.push(format!("runs={}", self.runs));
        }
        if self.keeps_scratch {
            rest.push("keeps_scratch".into());
        }
        let algorithm = self.options.algorithm.map_or("auto", |algorithm| algorithm.name);
        let mut name = format!("{}/{}/{}/{algorithm}", self.request.primitive(), label.of, label.by);
        for part in input.iter().chain(&rest) {
            name.push('/');
            name.push_str(part);
        }
        name
    }

    /// What a run is given.
    pub(crate) fn input(&self, run: u32) -> Content {
        let seed = if self.keeps_scratch { run } else { 0 };
        let mut random = Random::named(&format!("{}{seed}", self.name()));
        let inputs = table::input(self.request.unviewed(), self.distribution, &mut random);
        let leaves = table::views::leaves(&self.request, self.distribution, &mut random);
        let offsets = table::offsets_of(&self.request, self.distribution, &mut random);
        Content { inputs: table::views::inputs(&self.request, inputs, &leaves), offsets, leaves }
    }

    /// What its scratch is full of before it runs, if it is not the call's own.
    pub(crate) fn poison(&self) -> Option<u8> {
        let byte = if Random::named(&self.name()).next().is_multiple_of(2) { 0xff } else { 0xa5 };
        (!self.keeps_scratch).then_some(byte)
    }

    /// The types of its input and output elements.
    pub(crate) fn element(&self) -> ElementType {
        self.request.operands().swap_remove(0).element
    }

    /// Workgroup and tile of the kernel that does its work, in elements; `None` where there are none.
    pub(crate) fn shape(&self, caps: &Caps, tuning: &Tuning) -> Option<Edges> {
        let plan = self.plan(caps, tuning).ok()?;
        let launch = plan.launched().last()?;
        let constant = |name| launch.kernel.constant(name).map(u64::from);
        let workgroup = constant("WORKGROUP")?;
        // The rungs of the reduce ladder have none: their tiles are one or two workgroups.
        let rows = constant("ROWS").or(constant("ITEMS")).unwrap_or(1);
        // A look-ahead scan's other warps have other work.
        let lanes = constant("SCAN_WARPS").map_or(workgroup, |warps| 32 * warps);
        let round = lanes * rows * constant("PACK").unwrap_or(1);
        Some(Edges { workgroup, round, tile: round * constant("ROUNDS").unwrap_or(1) })
    }

    /// The plan that a device of these capabilities and numbers makes of it.
    pub(crate) fn plan(&self, caps: &Caps, tuning: &Tuning) -> Result<Plan> {
        let tuning = self.tiles.tuning(tuning.clone(), caps)?;
        let wide = matches!(self.placement, Placement::Aligned | Placement::InPlace | Placement::Packed);
        let layout = Layout::default().with(|layout| {
            layout.wide = wide;
            layout.in_place = self.placement.in_place();
        });
        planner::plan(&self.request, layout, self.options, caps, &tuning)
    }
}
