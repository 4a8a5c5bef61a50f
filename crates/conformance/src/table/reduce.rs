//! Rows of reduce.

use trifold_core::{Builtin, Op, ReduceRequest, Request, Scalar};

use super::{Inputs, Table, builtin};
use crate::case::Level;
use crate::inputs::{Distribution, Random, elements};
use crate::operators;
use crate::row::{Placement, Row, Tiles};

/// More than one workgroup reduces alone.
const SEVERAL: u64 = 20_011;

pub(crate) fn reduce(op: &Op, n: u64) -> Request {
    Request::Reduce(ReduceRequest { op: op.clone(), n, initial: None })
}

/// Reductions that differ in operator and placement.
fn reduces() -> [(Op, Placement); 5] {
    [
        (builtin(Builtin::Sum, Scalar::U32), Placement::Aligned),
        (builtin(Builtin::Sum, Scalar::F32), Placement::Odd),
        (builtin(Builtin::Max, Scalar::I64), Placement::Aligned),
        (operators::compose(), Placement::Aligned),
        (operators::tally(), Placement::Odd),
    ]
}

/// The input of a reduction.
pub(super) fn input(request: &Request, distribution: Distribution, random: &mut Random) -> Option<Inputs> {
    let Request::Reduce(r) = request else { return None };
    Some((elements(&r.op, distribution, r.n, random), None))
}

impl Table<'_> {
    pub(super) fn reduces(&mut self) {
        self.reduce_matrix();
        self.reduce_sizes();
        self.reduce_distributions();
        self.reduce_placements();
        self.reduce_starts();
        self.reduce_specials();
        self.reduce_subnormals();
        self.reduce_reuse();
        self.reduce_large();
    }

    /// A reduction by each rung of the literature's ladder.
    fn by_rungs(&mut self, row: Row) {
        for algorithm in self.rungs(&row.request) {
            self.row(row.clone().algorithm(algorithm));
        }
    }

    fn reduce_matrix(&mut self) {
        let builtins = Scalar::ALL.into_iter().flat_map(|scalar| Builtin::ALL.map(|which| Op::builtin(which, scalar)));
        for (turn, op) in builtins.flatten().enumerate() {
            // At the quick level each type and operator by one rung, each rung with some types and operators.
            let rungs = self.rungs(&reduce(&op, 1));
            for n in [777, SEVERAL] {
                if self.level == Level::Full {
                    self.by_algorithm(Row::new(reduce(&op, n)));
                    continue;
                }
                self.by_first(Row::new(reduce(&op, n)));
                if !rungs.is_empty() {
                    self.row(Row::new(reduce(&op, n)).algorithm(rungs[(turn + 1) % rungs.len()]));
                }
            }
        }
        for op in operators::own() {
            for n in [777, SEVERAL] {
                self.by_algorithm(Row::new(reduce(&op, n)));
            }
        }
        self.by_first(Row::new(reduce(&operators::guarded(), SEVERAL)));
    }

    fn reduce_sizes(&mut self) {
        for tiles in [Tiles::Shipped, Tiles::Small] {
            for (op, placement) in reduces() {
                let row = |n| Row::new(reduce(&op, n)).placement(placement).tiles(tiles.clone());
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
        }
    }

    fn reduce_distributions(&mut self) {
        for distribution in Distribution::ALL {
            for n in [3001, 20_011] {
                for (op, placement) in reduces() {
                    let row = Row::new(reduce(&op, n)).placement(placement).distribution(distribution);
                    self.by_first(row.clone());
                    if n > 3001 {
                        self.by_rungs(row);
                    }
                }
            }
        }
        for (scalar, n) in [(Scalar::F32, 20_011), (Scalar::F32, 200_003), (Scalar::F64, 20_011)] {
            let row = Row::new(reduce(&builtin(Builtin::Sum, scalar), n)).distribution(Distribution::Coarse);
            self.by_algorithm(row.clone());
            self.by_first(row.tiles(Tiles::Small));
        }
    }

    fn reduce_placements(&mut self) {
        for placement in [Placement::Aligned, Placement::Odd, Placement::Packed] {
            for n in [5, 1021, SEVERAL] {
                for (op, _) in reduces() {
                    self.by_algorithm(Row::new(reduce(&op, n)).placement(placement));
                }
            }
        }
    }

    /// Initial values other than the identity.
    fn reduce_starts(&mut self) {
        for op in super::started() {
            let initial = Some(elements(&op, Distribution::Uniform, 1, &mut Random::new(42)));
            for n in [0, 1, SEVERAL] {
                let (op, initial) = (op.clone(), initial.clone());
                self.by_algorithm(Row::new(Request::Reduce(ReduceRequest { op, n, initial })));
            }
        }
    }

    fn reduce_specials(&mut self) {
        for (_, op) in super::of_floats() {
            for n in [100, SEVERAL] {
                let row = Row::new(reduce(&op, n)).distribution(Distribution::Specials);
                self.by_first(row.clone());
                if self.level == Level::Full || op.is_word_sum() {
                    self.by_rungs(row);
                }
            }
        }
    }

    /// Minima and maxima of what a device's own arithmetic may take for zero: of one element too.
    fn reduce_subnormals(&mut self) {
        for op in super::of_order() {
            for n in [1, 2, SEVERAL] {
                self.by_first(Row::new(reduce(&op, n)).distribution(Distribution::Subnormals));
            }
        }
    }

    /// The same scratch again and again: a caller's, full of garbage at first, and the call's own, as the runs leave it.
    fn reduce_reuse(&mut self) {
        for (op, placement) in reduces() {
            let row = Row::new(reduce(&op, 60_013)).placement(placement).runs(5);
            self.by_algorithm(row.clone());
            self.by_algorithm(row.keeps_scratch());
        }
    }

    fn reduce_large(&mut self) {
        let (sum, float) = (builtin(Builtin::Sum, Scalar::U32), builtin(Builtin::Sum, Scalar::F32));
        for n in self.large_sizes() {
            self.by_algorithm(Row::new(reduce(&sum, n)));
            self.by_algorithm(Row::new(reduce(&float, n)));
        }
        if self.level == Level::Full {
            self.past_the_fold(|n| Row::new(reduce(&sum, n)));
        }
    }
}

/// Rows of `n` elements whose results two devices are compared in.
pub(super) fn shared_rows(n: u64) -> Vec<Row> {
    let builtins = Scalar::ALL.into_iter().flat_map(|scalar| Builtin::ALL.map(|which| Op::builtin(which, scalar)));
    builtins.flatten().map(|op| Row::new(reduce(&op, n))).collect()
}
