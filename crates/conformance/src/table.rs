//! The table: which rows a device is given.
//!
//! Every distinct kernel costs a software device a compilation, so the full matrix of types and operators stands at a
//! few sizes, and sizes, distributions and placements vary over few types.

mod by_key;
mod select;

use std::collections::HashSet;

use trifold_core::{
    Builtin, Caps, ElementType, Fault, Op, Order, ReduceRequest, Request, Scalar, ScanKind, ScanRequest, SortRequest,
    SubgroupSource, Waiting, planner,
};

use crate::case::{Body, Case, Level};
use crate::inputs::{Distribution, Random, elements};
use crate::operators;
use crate::refusal::Refusal;
use crate::row::{Placement, Row, Shape, Tiles};

/// The cases for a device with these capabilities.
pub fn cases(caps: &Caps, level: Level) -> Vec<Case> {
    let mut table = Table { caps, level, names: HashSet::new(), cases: vec![] };
    table.matrix();
    table.sizes();
    table.distributions();
    table.placements();
    table.starts();
    table.specials();
    table.faults();
    table.places();
    table.reuse();
    table.large();
    table.selections();
    table.by_keys();
    table.queues();
    for refusal in Refusal::all(caps) {
        let name = format!("refusal/{}", refusal.name());
        table.push(name, Body::Refusal(refusal));
    }
    table.cases
}

pub(crate) fn builtin(which: Builtin, scalar: Scalar) -> Op {
    // The callers below never ask for a bitwise operator of floats.
    Op::builtin(which, scalar).unwrap_or_else(operators::compose)
}

pub(crate) fn scan(op: &Op, kind: ScanKind, n: u64) -> Request {
    Request::Scan(ScanRequest { op: op.clone(), n, kind, initial: None })
}

pub(crate) fn reduce(op: &Op, n: u64) -> Request {
    Request::Reduce(ReduceRequest { op: op.clone(), n, initial: None })
}

pub(crate) fn sort(key: Scalar, value: Option<ElementType>, order: Order, n: u64) -> Request {
    Request::Sort(SortRequest { key, value, n, order })
}

pub(crate) use by_key::by_key;
pub(crate) use select::select;

/// Values of 4, 8 and 12 bytes.
pub(crate) fn value_types() -> [ElementType; 3] {
    [ElementType::Scalar(Scalar::U32), ElementType::Scalar(Scalar::U64), operators::tally().element().clone()]
}

/// Sorts that differ in key, value, order and placement.
fn sorts() -> Vec<(Scalar, Option<ElementType>, Order, Placement)> {
    let [v4, v8, v12] = value_types();
    use Order::{Ascending, Descending};
    vec![
        (Scalar::U32, None, Ascending, Placement::Aligned),
        (Scalar::F32, None, Descending, Placement::Odd),
        (Scalar::U64, None, Ascending, Placement::InPlace),
        (Scalar::I32, Some(v4), Ascending, Placement::Aligned),
        (Scalar::U32, Some(v8), Descending, Placement::Odd),
        (Scalar::F64, Some(v12), Ascending, Placement::OddInPlace),
    ]
}

/// Scans that differ in operator, kind and placement.
fn scans() -> Vec<(Op, ScanKind, Placement)> {
    use ScanKind::{Exclusive, Inclusive};
    vec![
        (builtin(Builtin::Sum, Scalar::U32), Inclusive, Placement::Aligned),
        (builtin(Builtin::Sum, Scalar::U32), Exclusive, Placement::Odd),
        (builtin(Builtin::Sum, Scalar::F32), Inclusive, Placement::InPlace),
        (builtin(Builtin::Min, Scalar::I64), Inclusive, Placement::Aligned),
        (operators::compose(), Exclusive, Placement::Aligned),
        (operators::tally(), Inclusive, Placement::Odd),
    ]
}

fn reduces() -> Vec<(Op, Placement)> {
    vec![
        (builtin(Builtin::Sum, Scalar::U32), Placement::Aligned),
        (builtin(Builtin::Sum, Scalar::F32), Placement::Odd),
        (builtin(Builtin::Max, Scalar::I64), Placement::Aligned),
        (operators::compose(), Placement::Aligned),
        (operators::tally(), Placement::Odd),
    ]
}

struct Table<'a> {
    caps: &'a Caps,
    level: Level,
    names: HashSet<String>,
    cases: Vec<Case>,
}

impl Table<'_> {
    fn push(&mut self, name: String, body: Body) {
        if self.names.insert(name.clone()) {
            self.cases.push(Case { name, body });
        }
    }

    fn row(&mut self, row: Row) {
        self.push(row.name(), Body::Call(row.into()));
    }

    /// A row by each algorithm that the device has for it; in place by the planner's choice, which knows what can, and by those
    /// that it never chooses.
    fn by_algorithm(&mut self, row: Row) {
        let in_place = row.placement.in_place();
        if in_place {
            self.row(row.clone());
        }
        for algorithm in planner::algorithms(&row.request, self.caps) {
            if !in_place || planner::is_reference(algorithm) {
                self.row_of_rung(row.clone().algorithm(algorithm), algorithm);
            }
        }
    }

    fn is_emulated(&self) -> bool {
        self.caps.subgroups.is_some_and(|s| s.source == SubgroupSource::Emulated)
    }

    /// A row by an algorithm. The literature's have many siblings: of the quick level's rows they are given the plainest.
    fn row_of_rung(&mut self, row: Row, algorithm: &str) {
        let typical = match &row.request {
            // Emulated subgroups are minutes of compilation.
            Request::Scan(r) if self.is_emulated() => {
                r.op == operators::compose() || r.op == builtin(Builtin::Sum, Scalar::U32)
            }
            Request::Scan(r) => r.op == operators::compose() || r.op.is_word_sum(),
            Request::Sort(r) => matches!(r.key, Scalar::U32 | Scalar::F64),
            _ => true,
        };
        let plain = typical && row.distribution == Distribution::Uniform && row.runs == 2;
        if self.level == Level::Full || plain || !planner::is_reference(algorithm) {
            self.row(row);
        }
    }

    /// A scan by the device's first algorithm, and by the others that wait for other tiles.
    fn by_one_pass(&mut self, row: Row) {
        self.by_first(row.clone());
        for algorithm in planner::algorithms(&row.request, self.caps) {
            if planner::waits_for_tiles(algorithm) {
                self.row_of_rung(row.clone().algorithm(algorithm), algorithm);
            }
        }
    }

    /// A reduction by each rung of the literature's ladder.
    fn by_rungs(&mut self, row: Row) {
        for algorithm in self.rungs(&row.request) {
            self.row(row.clone().algorithm(algorithm));
        }
    }

    fn rungs(&self, request: &Request) -> Vec<&'static str> {
        let algorithms = planner::algorithms(request, self.caps);
        algorithms.into_iter().filter(|algorithm| planner::is_reference(algorithm)).collect()
    }

    /// A row by the device's first algorithm.
    fn by_first(&mut self, row: Row) {
        let algorithm = planner::algorithms(&row.request, self.caps)[0];
        self.row(row.algorithm(algorithm));
    }

    /// 0, 1, and around each subgroup, workgroup and tile edge.
    fn edges(&self, row: &Row) -> Vec<u64> {
        let mut edges = vec![4, 32];
        edges.extend(self.caps.subgroups.iter().flat_map(|s| [u64::from(s.min), u64::from(s.max)]));
        // Blocks of the CPU backend have 128 KiB.
        let block = (128 << 10) / u64::from(row.element().bytes());
        let Shape { workgroup, round, tile } =
            row.shape(self.caps).unwrap_or(Shape { workgroup: 256, round: block, tile: block });
        edges.extend([workgroup, round, tile, 2 * tile]);
        let mut sizes = vec![0, 1];
        sizes.extend(edges.iter().flat_map(|e| [e - 1, *e, e + 1]));
        // A look-back longer than a subgroup, if tiles are small.
        sizes.push((tile * 70 + 7).min(20_011));
        if self.level == Level::Full {
            sizes.extend([tile * 70 + 7, 100_003, (1 << 20) + 1]);
        }
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    fn matrix(&mut self) {
        let mut turn = 0;
        for scalar in Scalar::ALL {
            for which in Builtin::ALL {
                let Some(op) = Op::builtin(which, scalar) else { continue };
                // Each type and operator by one rung, each rung with some types and operators.
                let rungs = self.rungs(&reduce(&op, 1));
                turn += 1;
                for n in [777, 5003] {
                    let kind = if which == Builtin::Min { ScanKind::Exclusive } else { ScanKind::Inclusive };
                    self.by_one_pass(Row::new(scan(&op, kind, n)));
                    self.by_first(Row::new(reduce(&op, n)));
                    if !rungs.is_empty() {
                        self.row(Row::new(reduce(&op, n)).algorithm(rungs[turn % rungs.len()]));
                    }
                }
            }
            for order in [Order::Ascending, Order::Descending] {
                for n in [257, 10_007] {
                    self.by_first(Row::new(sort(scalar, None, order, n)));
                }
            }
            for (i, value) in value_types().into_iter().enumerate() {
                let order = if (scalar as usize + i).is_multiple_of(2) { Order::Ascending } else { Order::Descending };
                for n in [257, 10_007] {
                    self.by_first(Row::new(sort(scalar, Some(value.clone()), order, n)));
                }
            }
            for placement in [Placement::Aligned, Placement::Odd] {
                let copy = Request::Copy { element: ElementType::Scalar(scalar), n: 5003 };
                self.row(Row::new(copy).placement(placement));
            }
        }
        for op in operators::own() {
            for n in [777, 5003] {
                for kind in [ScanKind::Inclusive, ScanKind::Exclusive] {
                    self.by_algorithm(Row::new(scan(&op, kind, n)));
                }
                self.by_algorithm(Row::new(reduce(&op, n)));
            }
        }
    }

    fn sizes(&mut self) {
        for tiles in [Tiles::Shipped, Tiles::Small] {
            for (op, kind, placement) in scans() {
                let row = |n| Row::new(scan(&op, kind, n)).placement(placement).tiles(tiles);
                for algorithm in planner::algorithms(&row(1).request, self.caps) {
                    // Each algorithm has edges of its own.
                    let chosen = placement.in_place() && !planner::is_reference(algorithm);
                    let by = |row: Row| if chosen { row } else { row.algorithm(algorithm) };
                    for n in self.edges(&by(row(1 << 20))) {
                        self.row_of_rung(by(row(n)), algorithm);
                    }
                }
            }
            for (op, placement) in reduces() {
                let row = |n| Row::new(reduce(&op, n)).placement(placement).tiles(tiles);
                for n in self.edges(&row(1 << 20)) {
                    self.by_first(row(n));
                }
                // Rungs have no edges but a workgroup's and two workgroups', so one type will do for those shipped.
                for rung in self.rungs(&row(1).request) {
                    if tiles == Tiles::Small || op.is_word_sum() {
                        for n in self.edges(&row(1 << 20).algorithm(rung)) {
                            self.row(row(n).algorithm(rung));
                        }
                    }
                }
            }
            for (key, value, order, placement) in sorts() {
                let row = |n| Row::new(sort(key, value.clone(), order, n)).placement(placement).tiles(tiles);
                for algorithm in planner::algorithms(&row(1).request, self.caps) {
                    // Small tiles are for look-back; the other algorithms have no tuning for theirs.
                    if tiles == Tiles::Small && algorithm != "onesweep" {
                        continue;
                    }
                    for n in self.edges(&row(1 << 20).algorithm(algorithm)) {
                        self.row_of_rung(row(n).algorithm(algorithm), algorithm);
                    }
                }
            }
        }
        for placement in [Placement::Aligned, Placement::Odd] {
            let row = |n| Row::new(Request::Copy { element: ElementType::Scalar(Scalar::U32), n }).placement(placement);
            for n in self.edges(&row(1 << 20)) {
                self.row(row(n));
            }
        }
    }

    fn distributions(&mut self) {
        for distribution in Distribution::ALL {
            for n in [3001, 20_011] {
                for (op, kind, placement) in scans() {
                    self.by_algorithm(Row::new(scan(&op, kind, n)).placement(placement).distribution(distribution));
                }
                for (op, placement) in reduces() {
                    let row = Row::new(reduce(&op, n)).placement(placement).distribution(distribution);
                    self.by_first(row.clone());
                    if n > 3001 {
                        self.by_rungs(row);
                    }
                }
                for (key, value, order, placement) in sorts() {
                    let request = sort(key, value, order, n);
                    self.by_algorithm(Row::new(request).placement(placement).distribution(distribution));
                }
            }
        }
        for (key, value, order, placement) in sorts() {
            let request = sort(key, value, order, 20_011);
            self.by_algorithm(Row::new(request).placement(placement).distribution(Distribution::HotDigit));
        }
    }

    fn placements(&mut self) {
        for placement in Placement::ALL {
            for n in [5, 1021, 8195] {
                for (op, kind, _) in scans() {
                    self.by_algorithm(Row::new(scan(&op, kind, n)).placement(placement));
                }
                for (key, value, order, _) in sorts() {
                    self.by_algorithm(Row::new(sort(key, value, order, n)).placement(placement));
                }
                if !placement.in_place() {
                    for (op, _) in reduces() {
                        self.by_algorithm(Row::new(reduce(&op, n)).placement(placement));
                    }
                }
            }
        }
    }

    /// Initial values other than the identity.
    fn starts(&mut self) {
        let sum = |scalar| builtin(Builtin::Sum, scalar);
        let ops = [sum(Scalar::U32), sum(Scalar::F32), sum(Scalar::I64), operators::compose(), operators::tally()];
        for op in ops {
            let initial = Some(elements(&op, Distribution::Uniform, 1, &mut Random::new(42)));
            for n in [0, 1, 5003] {
                for kind in [ScanKind::Inclusive, ScanKind::Exclusive] {
                    let initial = initial.clone();
                    self.by_algorithm(Row::new(Request::Scan(ScanRequest { op: op.clone(), n, kind, initial })));
                }
                let initial = initial.clone();
                self.by_algorithm(Row::new(Request::Reduce(ReduceRequest { op: op.clone(), n, initial })));
            }
        }
    }

    fn specials(&mut self) {
        for scalar in [Scalar::F32, Scalar::F64] {
            for which in [Builtin::Sum, Builtin::Product, Builtin::Min, Builtin::Max] {
                let op = builtin(which, scalar);
                for n in [100, 5003] {
                    let kind = if which == Builtin::Min { ScanKind::Exclusive } else { ScanKind::Inclusive };
                    self.by_first(Row::new(scan(&op, kind, n)).distribution(Distribution::Specials));
                    let row = Row::new(reduce(&op, n)).distribution(Distribution::Specials);
                    self.by_first(row.clone());
                    if op.is_word_sum() {
                        self.by_rungs(row);
                    }
                }
            }
            for value in [None, Some(value_types()[0].clone())] {
                for order in [Order::Ascending, Order::Descending] {
                    for n in [100, 5003] {
                        let request = sort(scalar, value.clone(), order, n);
                        self.by_algorithm(Row::new(request).distribution(Distribution::Specials));
                    }
                }
            }
        }
    }

    /// Tiles that never publish, or late, or wait for those before them however long it takes.
    fn faults(&mut self) {
        let [v4, ..] = value_types();
        for fault in [Fault::Silent(3), Fault::Silent(1), Fault::Late(5)] {
            for tiles in [Tiles::Shipped, Tiles::Small] {
                for n in [3001, 20_011] {
                    for (op, kind) in [
                        (builtin(Builtin::Sum, Scalar::U32), ScanKind::Inclusive),
                        (builtin(Builtin::Max, Scalar::F32), ScanKind::Exclusive),
                        (builtin(Builtin::Sum, Scalar::I64), ScanKind::Inclusive),
                        (builtin(Builtin::Sum, Scalar::U64), ScanKind::Inclusive),
                        (builtin(Builtin::Sum, Scalar::F64), ScanKind::Inclusive),
                        (operators::compose(), ScanKind::Exclusive),
                    ] {
                        self.by_one_pass(Row::new(scan(&op, kind, n)).fault(fault).tiles(tiles));
                    }
                    for (key, value) in [(Scalar::U32, None), (Scalar::U32, Some(v4.clone())), (Scalar::U64, None)] {
                        let request = sort(key, value, Order::Ascending, n);
                        self.by_first(Row::new(request).fault(fault).tiles(tiles));
                    }
                }
            }
        }
        for fault in [Fault::None, Fault::Late(5)] {
            for (n, tiles) in [(20_011, Tiles::Small), (100_003, Tiles::Shipped)] {
                let unbounded = |request| Row::new(request).fault(fault).tiles(tiles).waiting(Waiting::Unbounded);
                for op in [builtin(Builtin::Sum, Scalar::U32), operators::compose()] {
                    self.by_first(unbounded(scan(&op, ScanKind::Exclusive, n)));
                }
                self.by_first(unbounded(sort(Scalar::U32, Some(v4.clone()), Order::Ascending, n)));
            }
        }
    }

    /// Keys that agree in some digit places or in all: an odd and an even number of passes, in place and apart.
    fn places(&mut self) {
        let [v4, ..] = value_types();
        const WIDE: [u8; 14] =
            [0, 1, 2, 4, 8, 16, 32, 64, 128, 0b1000_0001, 0b0001_1000, 0b0011_1000, 0b1010_1010, 0b0111_1111];
        for placement in [Placement::Aligned, Placement::InPlace] {
            for value in [None, Some(v4.clone())] {
                for mask in 0..16 {
                    let request = sort(Scalar::U32, value.clone(), Order::Ascending, 3001);
                    let row = Row::new(request).placement(placement).distribution(Distribution::Places(mask));
                    self.by_algorithm(row);
                }
                for mask in WIDE {
                    let request = sort(Scalar::U64, value.clone(), Order::Ascending, 2003);
                    self.by_first_or_auto(
                        Row::new(request).placement(placement).distribution(Distribution::Places(mask)),
                    );
                }
            }
        }
    }

    fn by_first_or_auto(&mut self, row: Row) {
        if row.placement.in_place() { self.row(row) } else { self.by_first(row) }
    }

    /// The same scratch again and again: a caller's, full of garbage at first, and the call's own, as the runs leave it.
    fn reuse(&mut self) {
        for (op, kind, placement) in scans() {
            let row = Row::new(scan(&op, kind, 6007)).placement(placement).tiles(Tiles::Small).keeps_scratch();
            self.by_algorithm(row.clone().runs(5));
            // In place no tile is helped.
            if !placement.in_place() {
                self.by_algorithm(row.fault(Fault::Silent(3)).runs(5));
            }
        }
        for (op, placement) in reduces() {
            self.by_algorithm(Row::new(reduce(&op, 60_013)).placement(placement).runs(5).keeps_scratch());
        }
        for (key, value, order, placement) in sorts() {
            let row =
                Row::new(sort(key, value, order, 60_013)).placement(placement).tiles(Tiles::Small).keeps_scratch();
            self.by_algorithm(row.clone().runs(5));
            self.by_algorithm(row.fault(Fault::Silent(3)).runs(5));
        }
        // More runs than a ticket can number.
        let sum = builtin(Builtin::Sum, Scalar::U32);
        self.by_algorithm(Row::new(scan(&sum, ScanKind::Inclusive, 6007)).runs(300).keeps_scratch());
        self.by_algorithm(Row::new(sort(Scalar::U32, None, Order::Ascending, 6007)).runs(70).keeps_scratch());
        for (op, kind, placement) in scans() {
            self.by_algorithm(Row::new(scan(&op, kind, 6007)).placement(placement).runs(5));
        }
        for (op, placement) in reduces() {
            self.by_algorithm(Row::new(reduce(&op, 60_013)).placement(placement).runs(5));
        }
        for (key, value, order, placement) in sorts() {
            self.by_algorithm(Row::new(sort(key, value, order, 6007)).placement(placement).runs(3));
        }
    }

    fn large(&mut self) {
        let [v4, ..] = value_types();
        let (sum, float) = (builtin(Builtin::Sum, Scalar::U32), builtin(Builtin::Sum, Scalar::F32));
        let sizes: &[u64] = if self.level == Level::Quick { &[200_003] } else { &[200_003, (1 << 24) + 3] };
        for &n in sizes {
            if !self.fits(8 * n) {
                continue;
            }
            self.by_algorithm(Row::new(scan(&sum, ScanKind::Inclusive, n)));
            self.by_algorithm(Row::new(scan(&float, ScanKind::Exclusive, n)));
            self.by_algorithm(Row::new(scan(&operators::compose(), ScanKind::Inclusive, n)));
            self.by_algorithm(Row::new(reduce(&sum, n)));
            self.by_algorithm(Row::new(reduce(&float, n)));
            self.by_algorithm(Row::new(sort(Scalar::U32, None, Order::Ascending, n)));
            self.by_algorithm(Row::new(sort(Scalar::U32, Some(v4.clone()), Order::Ascending, n)));
            self.by_algorithm(Row::new(sort(Scalar::U64, None, Order::Descending, n)));
        }
        if self.level == Level::Full {
            self.folds();
        }
    }

    fn folds(&mut self) {
        let sum = builtin(Builtin::Sum, Scalar::U32);
        self.past_the_fold(|n| Row::new(scan(&sum, ScanKind::Inclusive, n)).placement(Placement::Odd));
        self.past_the_fold(|n| Row::new(sort(Scalar::U32, None, Order::Ascending, n)));
        self.past_the_fold(|n| Row::new(Request::Copy { element: ElementType::Scalar(Scalar::U32), n }));
        self.past_the_fold(|n| Row::new(reduce(&sum, n)));
    }

    /// A row of more than 65535 workgroups, the most that WebGPU takes in one dimension: small tiles make them few elements. By
    /// each algorithm, at the quick level by the device's first.
    fn past_the_fold(&mut self, row: impl Fn(u64) -> Row) {
        let all = if self.level == Level::Full { usize::MAX } else { 1 };
        for algorithm in planner::algorithms(&row(1).request, self.caps).into_iter().take(all) {
            let row = |n| row(n).tiles(Tiles::Small).algorithm(algorithm);
            let Some(Shape { tile, .. }) = row(1 << 20).shape(self.caps) else { continue };
            let n = 65_535 * tile + tile + 1;
            if self.fits(u64::from(row(n).element().bytes()) * n) {
                self.row(row(n));
            }
        }
    }

    fn fits(&self, bytes: u64) -> bool {
        let memory = if self.caps.memory == 0 { u64::MAX } else { self.caps.memory };
        bytes <= self.caps.max_binding.min(self.caps.max_buffer).min(memory / 16)
    }

    /// 64 calls on one queue, and all primitives by turns.
    fn queues(&mut self) {
        let [v4, ..] = value_types();
        let sum = builtin(Builtin::Sum, Scalar::U32);
        let sizes = (0..64).map(|i| 1 + (i * 613) % 9001);
        let scans = sizes.clone().map(|n| Row::new(scan(&sum, ScanKind::Inclusive, n))).collect();
        self.push("queue/scan/64".into(), Body::Queue(scans));
        let sorts = sizes.clone().map(|n| Row::new(sort(Scalar::U32, None, Order::Ascending, n))).collect();
        self.push("queue/sort/64".into(), Body::Queue(sorts));
        let turns = sizes
            .enumerate()
            .map(|(i, n)| match i % 5 {
                0 => Row::new(scan(&sum, ScanKind::Exclusive, n)),
                1 => Row::new(sort(Scalar::U32, Some(v4.clone()), Order::Ascending, n)),
                2 => Row::new(reduce(&sum, n)),
                3 => Row::new(Request::Copy { element: v4.clone(), n }),
                _ => Row::new(scan(&operators::compose(), ScanKind::Inclusive, n)),
            })
            .collect();
        self.push("queue/by_turns/64".into(), Body::Queue(turns));
    }
}

/// Rows whose results two devices are compared in.
pub(crate) fn shared_rows() -> Vec<Row> {
    let mut rows = vec![];
    for n in [1, 1000, 20_011] {
        for scalar in Scalar::ALL {
            for which in Builtin::ALL {
                let Some(op) = Op::builtin(which, scalar) else { continue };
                rows.push(Row::new(reduce(&op, n)));
                if matches!(which, Builtin::Sum | Builtin::Max) {
                    rows.push(Row::new(scan(&op, ScanKind::Inclusive, n)));
                }
            }
            rows.push(Row::new(sort(scalar, None, Order::Ascending, n)));
        }
        for op in operators::own() {
            rows.push(Row::new(scan(&op, ScanKind::Exclusive, n)));
        }
        for (key, value, order, placement) in sorts() {
            rows.push(Row::new(sort(key, value, order, n)).placement(placement));
        }
    }
    rows.extend(select::shared_rows());
    rows.extend(by_key::shared_rows());
    rows
}

#[cfg(test)]
mod tests {
    use trifold_core::{DeviceKind, Language, Step, SubgroupSource, Subgroups};

    use super::*;

    /// Lavapipe, near enough.
    fn software_gpu() -> Caps {
        Caps {
            backend: "wgpu",
            device: "a software device".into(),
            driver: String::new(),
            api: "Vulkan".into(),
            kind: DeviceKind::Cpu,
            language: Language::Wgsl,
            compute_units: 2,
            memory: 0,
            subgroups: Some(Subgroups { min: 8, max: 8, source: SubgroupSource::Native }),
            int64: true,
            float64: true,
            atomics64: true,
            coherent: false,
            forward_progress: false,
            max_workgroup: 1024,
            shared_bytes: 32 << 10,
            bulk_shared_bytes: 0,
            max_binding: 1 << 30,
            max_buffer: 1 << 30,
            binding_alignment: 64,
            native_copy: false,
        }
    }

    /// What keeps the quick suite quick where compiling is slow.
    #[test]
    fn the_quick_table_is_small() {
        let caps = software_gpu();
        let cases = cases(&caps, Level::Quick);
        let mut kernels = HashSet::new();
        let mut elements = 0;
        for case in &cases {
            let Body::Call(row) = &case.body else { continue };
            elements += row.request.n() * u64::from(row.runs);
            let Ok(plan) = row.plan(&caps) else { continue };
            for step in plan.steps {
                if let Step::Launch(launch) = step {
                    kernels.insert(launch.kernel);
                }
            }
        }
        println!("{} cases, {} kernels, {elements} elements", cases.len(), kernels.len());
        assert!((1500..7500).contains(&cases.len()), "{} cases", cases.len());
        assert!(kernels.len() < 900, "{} kernels", kernels.len());
        assert!(elements < 120_000_000, "{elements} elements");
    }

    #[test]
    fn the_full_table_passes_the_fold() {
        let caps = Caps { max_binding: 1 << 40, max_buffer: 1 << 40, ..software_gpu() };
        let cases = cases(&caps, Level::Full);
        let by_key = ["reduce_by_key", "run_length_encode"];
        for primitive in ["scan", "copy", "sort_keys", "reduce", "select_if", "partition_if"].into_iter().chain(by_key)
        {
            let folded = cases.iter().any(|case| match &case.body {
                Body::Call(row) => {
                    row.request.primitive() == primitive
                        && row.plan(&caps).is_ok_and(|plan| {
                            plan.steps.iter().any(|s| matches!(s, Step::Launch(l) if l.groups > 65_535))
                        })
                }
                _ => false,
            });
            assert!(folded, "{primitive}");
        }
    }
}
