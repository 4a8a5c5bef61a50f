//! Rows of scan.

use trifold_core::algorithm::scan as by;
use trifold_core::{Builtin, Caps, Fault, Op, Request, Scalar, ScanKind, ScanRequest, Waiting, planner};

use super::{Inputs, Table, builtin};
use crate::case::{Body, Level};
use crate::inputs::{Distribution, Random, elements};
use crate::operators;
use crate::row::{Placement, Row, Tiles};

pub(crate) fn scan(op: &Op, kind: ScanKind, n: u64) -> Request {
    Request::Scan(ScanRequest { op: op.clone(), n, kind, initial: None, total: false })
}

/// Scans that differ in operator, kind and placement.
fn scans() -> [(Op, ScanKind, Placement); 6] {
    use ScanKind::{Exclusive, Inclusive};
    [
        (builtin(Builtin::Sum, Scalar::U32), Inclusive, Placement::Aligned),
        (builtin(Builtin::Sum, Scalar::U32), Exclusive, Placement::Odd),
        (builtin(Builtin::Sum, Scalar::F32), Inclusive, Placement::InPlace),
        (builtin(Builtin::Min, Scalar::I64), Inclusive, Placement::Aligned),
        (operators::compose(), Exclusive, Placement::Aligned),
        (operators::tally(), Inclusive, Placement::Odd),
    ]
}

fn kind_of(which: Builtin) -> ScanKind {
    if which == Builtin::Min { ScanKind::Exclusive } else { ScanKind::Inclusive }
}

/// The input of a scan.
pub(super) fn input(request: &Request, distribution: Distribution, random: &mut Random) -> Option<Inputs> {
    let Request::Scan(r) = request else { return None };
    Some((elements(&r.op, distribution, r.n, random), None))
}

/// Whether a request is as plain as any, if it is a scan.
pub(super) fn is_typical(request: &Request, caps: &Caps) -> bool {
    let Request::Scan(r) = request else { return true };
    // Emulated subgroups are minutes of compilation.
    let is_sum =
        if caps.emulates_subgroups() { r.op == builtin(Builtin::Sum, Scalar::U32) } else { r.op.is_word_sum() };
    is_sum || r.op == operators::compose()
}

impl Table<'_> {
    pub(super) fn scans(&mut self) {
        self.scan_matrix();
        self.scan_sizes();
        self.scan_blocks();
        self.scan_distributions();
        self.scan_placements();
        self.scan_starts();
        self.scan_totals();
        self.scan_specials();
        self.scan_subnormals();
        self.scan_faults();
        self.scan_reuse();
        self.scan_large();
        self.scan_choices();
        let sum = builtin(Builtin::Sum, Scalar::U32);
        let sizes = (0..64).map(|i| 1 + (i * 613) % 9001);
        let rows = sizes.map(|n| Row::new(scan(&sum, ScanKind::Inclusive, n))).collect();
        self.push("queue/scan/64".into(), Body::Queue(rows));
    }

    /// A scan by the device's first algorithm, and by the others that wait for other tiles.
    fn by_one_pass(&mut self, row: Row) {
        self.by_first(row.clone());
        for algorithm in planner::algorithms(&row.request, self.caps) {
            if algorithm.tiles_wait {
                self.row_of_rung(row.clone(), algorithm);
            }
        }
    }

    /// What the planner chooses for many elements, of few: in place too.
    fn scan_choices(&mut self) {
        let ahead =
            |chunks| Tiles::Numbers(vec![("lookback_pipelined_from", 1), ("lookback_pipelined_chunks", chunks)]);
        for (op, kind, placement) in scans() {
            let row = Row::new(scan(&op, kind, 20_011)).placement(placement);
            if self.runs(&row, &by::LOOKBACK_PIPELINED) {
                for chunks in [0, 1, 4] {
                    self.row(row.clone().placement(Placement::InPlace).tiles(ahead(chunks)));
                    self.row(row.clone().tiles(ahead(chunks)));
                }
            }
        }
        // Of many chunks, several at once, with tiles that are blocked.
        let small = |chunks| {
            let shape =
                [("scan_words", 4), ("lookback_pipelined_workgroup", 64), ("lookback_pipelined_chunks", chunks)];
            Tiles::Numbers(shape.to_vec())
        };
        let sum = builtin(Builtin::Sum, Scalar::F32);
        for (chunks, fault) in [(2, Fault::None), (4, Fault::None), (4, Fault::Silent(3)), (2, Fault::Late(5))] {
            let row = Row::new(scan(&sum, ScanKind::Exclusive, 40_007)).algorithm(&by::LOOKBACK_PIPELINED).fault(fault);
            if self.runs(&row, &by::LOOKBACK_PIPELINED) {
                self.row(row.tiles(small(chunks)));
            }
        }
    }

    fn scan_matrix(&mut self) {
        for n in [777, 5003] {
            for scalar in Scalar::ALL {
                for which in Builtin::ALL {
                    let Some(op) = Op::builtin(which, scalar) else { continue };
                    let row = Row::new(scan(&op, kind_of(which), n));
                    match self.level {
                        Level::Full => self.by_algorithm(row),
                        Level::Quick => self.by_one_pass(row),
                    }
                }
            }
            for op in operators::own() {
                for kind in [ScanKind::Inclusive, ScanKind::Exclusive] {
                    self.by_algorithm(Row::new(scan(&op, kind, n)));
                }
            }
            let guarded = Row::new(scan(&operators::guarded(), ScanKind::Inclusive, n));
            match self.level {
                Level::Full => self.by_algorithm(guarded),
                Level::Quick => self.by_first(guarded),
            }
        }
    }

    fn scan_sizes(&mut self) {
        for tiles in [Tiles::Shipped, Tiles::Small] {
            for (op, kind, placement) in scans() {
                let row = |n| Row::new(scan(&op, kind, n)).placement(placement).tiles(tiles.clone());
                for algorithm in planner::algorithms(&row(1).request, self.caps) {
                    // Each algorithm has edges of its own.
                    let chosen = placement.in_place() && !algorithm.is_reference;
                    let edges = self.edges(&if chosen { row(1 << 20) } else { row(1 << 20).algorithm(algorithm) });
                    for n in edges {
                        if chosen {
                            self.row(row(n));
                        } else {
                            self.row_of_rung(row(n), algorithm);
                        }
                    }
                }
            }
        }
    }

    /// Elements an invocation and padding, of the scans in workgroup memory that have them as numbers.
    fn scan_blocks(&mut self) {
        let sum = builtin(Builtin::Sum, Scalar::U32);
        let row = Row::new(scan(&sum, ScanKind::Exclusive, 5003));
        // Of an operator that does not commute, and of spans that start anywhere.
        let ordered = Row::new(scan(&operators::compose(), ScanKind::Inclusive, 1031)).placement(Placement::Odd);
        for algorithm in [&by::BLELLOCH_BLOCKED, &by::SUBGROUP_BLOCKED, &by::HILLIS_STEELE_SHARED] {
            if !self.runs(&row, algorithm) {
                continue;
            }
            let of = |row: &Row, numbers| row.clone().algorithm(algorithm).tiles(Tiles::Numbers(numbers));
            for items in [1, 2, 4] {
                for padding in if *algorithm == by::BLELLOCH_BLOCKED { 0..2 } else { 0..1 } {
                    let numbers = vec![("blocked_items", items), ("blocked_padding", padding)];
                    self.row(of(&row, numbers.clone()));
                    // A compiler for processors takes seconds for each.
                    if self.level == Level::Full || items == 4 {
                        self.row(of(&ordered, numbers));
                    }
                }
            }
            // The sweep's.
            for workgroup in [32, 64, 128, 256, 512, 1024].into_iter().filter(|w| *w <= self.caps.max_workgroup) {
                if self.level == Level::Full {
                    self.row(of(&row, vec![("blocked_workgroup", workgroup)]));
                }
            }
        }
    }

    fn scan_distributions(&mut self) {
        for distribution in Distribution::ALL {
            for n in [3001, 20_011] {
                for (op, kind, placement) in scans() {
                    self.by_algorithm(Row::new(scan(&op, kind, n)).placement(placement).distribution(distribution));
                }
            }
        }
        for (scalar, kind, n) in [
            (Scalar::F32, ScanKind::Inclusive, 20_011),
            (Scalar::F32, ScanKind::Exclusive, 200_003),
            (Scalar::F64, ScanKind::Inclusive, 20_011),
        ] {
            let row = Row::new(scan(&builtin(Builtin::Sum, scalar), kind, n)).distribution(Distribution::Coarse);
            self.by_algorithm(row.clone());
            self.by_one_pass(row.tiles(Tiles::Small));
        }
    }

    fn scan_placements(&mut self) {
        for placement in Placement::ALL {
            for n in [5, 1021, 8195] {
                for (op, kind, _) in scans() {
                    self.by_algorithm(Row::new(scan(&op, kind, n)).placement(placement));
                }
            }
        }
    }

    /// Initial values other than the identity.
    fn scan_starts(&mut self) {
        for op in super::started() {
            let initial = Some(elements(&op, Distribution::Uniform, 1, &mut Random::new(42)));
            for n in [0, 1, 5003] {
                for kind in [ScanKind::Inclusive, ScanKind::Exclusive] {
                    let initial = initial.clone();
                    self.by_algorithm(Row::new(Request::Scan(ScanRequest {
                        op: op.clone(),
                        n,
                        kind,
                        initial,
                        total: false,
                    })));
                }
            }
            // Over many tiles, whose look-back reaches the first one by prefixes and by aggregates.
            for fault in [Fault::None, Fault::Silent(1), Fault::Silent(3)] {
                for n in [20_011, 40_007] {
                    let (kind, initial) = (ScanKind::Exclusive, initial.clone());
                    let request = Request::Scan(ScanRequest { op: op.clone(), n, kind, initial, total: false });
                    self.by_one_pass(Row::new(request).tiles(Tiles::Small).fault(fault));
                }
            }
        }
    }

    /// The total beside the scan.
    fn scan_totals(&mut self) {
        use ScanKind::{Exclusive, Inclusive};
        let ops = [
            builtin(Builtin::Sum, Scalar::U32),
            builtin(Builtin::Sum, Scalar::F32),
            builtin(Builtin::Max, Scalar::I64),
            operators::compose(),
            operators::tally(),
        ];
        for (i, op) in ops.iter().enumerate() {
            let initial = (i % 2 == 0).then(|| op.identity().to_vec());
            let request =
                |n, kind| Request::Scan(ScanRequest { op: op.clone(), n, kind, initial: initial.clone(), total: true });
            let placements = [Placement::Aligned, Placement::Odd, Placement::InPlace];
            for (j, placement) in placements.into_iter().enumerate() {
                let kind = [Inclusive, Exclusive][(i + j) % 2];
                for n in [1, 777, 20_011] {
                    self.by_algorithm(Row::new(request(n, kind)).placement(placement).tiles(Tiles::Small));
                }
            }
            let row = Row::new(request(20_011, Exclusive)).tiles(Tiles::Small);
            self.by_first(row.clone().fault(Fault::Silent(3)));
            self.by_algorithm(row.runs(5).keeps_scratch());
            self.by_algorithm(Row::new(request(200_003, Inclusive)));
        }
    }

    fn scan_specials(&mut self) {
        for (which, op) in super::of_floats() {
            for n in [100, 5003] {
                let row = Row::new(scan(&op, kind_of(which), n)).distribution(Distribution::Specials);
                match self.level {
                    Level::Full => self.by_algorithm(row),
                    Level::Quick => self.by_first(row),
                }
            }
        }
    }

    /// Minima and maxima of what a device's own arithmetic may take for zero.
    fn scan_subnormals(&mut self) {
        for op in super::of_order() {
            for n in [1, 5003] {
                self.by_first(Row::new(scan(&op, ScanKind::Inclusive, n)).distribution(Distribution::Subnormals));
            }
        }
    }

    /// Tiles that never publish, or late, or wait for those before them however long it takes.
    fn scan_faults(&mut self) {
        let ops = [
            (builtin(Builtin::Sum, Scalar::U32), ScanKind::Inclusive),
            (builtin(Builtin::Max, Scalar::F32), ScanKind::Exclusive),
            (builtin(Builtin::Sum, Scalar::I64), ScanKind::Inclusive),
            (builtin(Builtin::Sum, Scalar::U64), ScanKind::Inclusive),
            (builtin(Builtin::Sum, Scalar::F64), ScanKind::Inclusive),
            (operators::compose(), ScanKind::Exclusive),
        ];
        for fault in [Fault::Silent(3), Fault::Silent(1), Fault::Late(5)] {
            for tiles in [Tiles::Shipped, Tiles::Small] {
                for n in [3001, 20_011] {
                    for (op, kind) in &ops {
                        self.by_one_pass(Row::new(scan(op, *kind, n)).fault(fault).tiles(tiles.clone()));
                    }
                }
            }
        }
        // Turns of blocks that stay, which look after each other's tiles, a sum that rounds among what they hold.
        if self.level == Level::Full {
            let rounds = (builtin(Builtin::Sum, Scalar::F32), ScanKind::Exclusive);
            for fault in [Fault::Silent(3), Fault::Silent(100), Fault::Late(5)] {
                for (op, kind) in ops.iter().chain([&rounds]) {
                    self.by_one_pass(Row::new(scan(op, *kind, 1_000_003)).fault(fault).tiles(Tiles::Small));
                }
            }
        }
        for fault in [Fault::None, Fault::Late(5)] {
            for (n, tiles) in [(20_011, Tiles::Small), (100_003, Tiles::Shipped)] {
                for op in [builtin(Builtin::Sum, Scalar::U32), operators::compose()] {
                    let row = Row::new(scan(&op, ScanKind::Exclusive, n)).fault(fault).tiles(tiles.clone());
                    self.by_first(row.waiting(Waiting::Unbounded));
                }
            }
        }
    }

    /// The same scratch again and again: a caller's, full of garbage at first, and the call's own, as the runs leave it.
    fn scan_reuse(&mut self) {
        for (op, kind, placement) in scans() {
            let row = Row::new(scan(&op, kind, 6007)).placement(placement);
            self.by_algorithm(row.clone().runs(5));
            let row = row.tiles(Tiles::Small).keeps_scratch();
            self.by_algorithm(row.clone().runs(5));
            // In place no tile is helped.
            if !placement.in_place() {
                self.by_algorithm(row.fault(Fault::Silent(3)).runs(5));
            }
        }
        // More runs than a ticket has epochs.
        let sum = builtin(Builtin::Sum, Scalar::U32);
        let row = |n| Row::new(scan(&sum, ScanKind::Inclusive, n)).runs(300).keeps_scratch();
        self.by_algorithm(row(6007));
        self.by_first(Row { request: scan(&builtin(Builtin::Min, Scalar::I64), ScanKind::Inclusive, 6007), ..row(0) });
        // By more tiles than a subgroup's window.
        for fault in [Fault::None, Fault::Silent(3)] {
            self.by_first(row(9001).tiles(Tiles::Small).fault(fault));
        }
        if self.level == Level::Full {
            // With states that are read: a look-ahead's tile is larger than that.
            self.by_one_pass(row(300_007).tiles(Tiles::Small));
        }
    }

    fn scan_large(&mut self) {
        let (sum, float) = (builtin(Builtin::Sum, Scalar::U32), builtin(Builtin::Sum, Scalar::F32));
        for n in self.large_sizes() {
            self.by_algorithm(Row::new(scan(&sum, ScanKind::Inclusive, n)));
            self.by_algorithm(Row::new(scan(&float, ScanKind::Exclusive, n)));
            self.by_algorithm(Row::new(scan(&operators::compose(), ScanKind::Inclusive, n)));
        }
        if self.level == Level::Full {
            self.past_the_fold(|n| Row::new(scan(&sum, ScanKind::Inclusive, n)).placement(Placement::Odd));
        }
    }
}

/// Rows of `n` elements whose results two devices are compared in.
pub(super) fn shared_rows(n: u64) -> Vec<Row> {
    let tried = |which| Scalar::ALL.into_iter().filter_map(move |scalar| Op::builtin(which, scalar));
    let builtins = [Builtin::Sum, Builtin::Max].into_iter().flat_map(tried);
    let builtins = builtins.map(|op| Row::new(scan(&op, ScanKind::Inclusive, n)));
    builtins.chain(operators::own().map(|op| Row::new(scan(&op, ScanKind::Exclusive, n)))).collect()
}
