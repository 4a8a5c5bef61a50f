//! Rows of reduction by key and of run-length encoding.

use trifold_core::types::{bf16, f16};
use trifold_core::{Builtin, Element, ElementType, Fault, Op, ReduceByKeyRequest, Request, Scalar, Waiting};

use super::{Inputs, Table, builtin};
use crate::case::{Body, Level};
use crate::inputs::{self, Distribution, Random};
use crate::operators::{self, Long, Rgb, Triple};
use crate::row::{Placement, Row, Tiles};

pub(crate) fn by_key(key: &ElementType, op: Option<Op>, n: u64) -> Request {
    Request::ReduceByKey(ReduceByKeyRequest { key: key.clone(), op, n })
}

/// Reductions that differ in keys, operator and placement.
fn reductions() -> [(ElementType, Option<Op>, Placement); 9] {
    let op = |which, scalar| Some(builtin(which, scalar));
    [
        (u32::TYPE, None, Placement::Aligned),
        (u32::TYPE, op(Builtin::Sum, Scalar::U32), Placement::Odd),
        (u64::TYPE, op(Builtin::Sum, Scalar::F32), Placement::Aligned),
        (u32::TYPE, Some(operators::compose()), Placement::Odd),
        (Triple::TYPE, op(Builtin::Max, Scalar::I64), Placement::Aligned),
        (u32::TYPE, Some(operators::tally()), Placement::Aligned),
        (u32::TYPE, Some(operators::bent(5)), Placement::Aligned),
        (u8::TYPE, None, Placement::Odd),
        (i16::TYPE, op(Builtin::Sum, Scalar::U32), Placement::Odd),
    ]
}

/// The keys of a reduction by key, and the values if it has some.
pub(super) fn input(request: &Request, distribution: Distribution, random: &mut Random) -> Option<Inputs> {
    let Request::ReduceByKey(r) = request else { return None };
    // Subnormal floats are the values, and their keys lie in runs.
    let (keys, values) = match distribution {
        values @ (Distribution::Subnormals | Distribution::Coarse) => (Distribution::Runs, values),
        keys => (keys, Distribution::Uniform),
    };
    let keys = inputs::items(&r.key, keys, r.n, random);
    let values = r.op.as_ref().map(|op| inputs::elements(op, values, r.n, random));
    Some((keys, Some(values.unwrap_or_default())))
}

impl Table<'_> {
    pub(super) fn by_keys(&mut self) {
        use Distribution::{Alternating, Constant, Few, Runs, Sorted, Specials, Uniform, Word};
        for (key, op, placement) in reductions() {
            let row = |n| Row::new(by_key(&key, op.clone(), n)).placement(placement).distribution(Runs);
            for distribution in [Uniform, Constant, Few, Runs, Sorted, Alternating] {
                self.by_algorithm(row(5003).distribution(distribution));
            }
            self.by_algorithm(row(20_011).tiles(Tiles::Small));
            let staged = || Tiles::Numbers(vec![("reduce_by_key_staged_from", 1)]);
            for distribution in [Uniform, Few, Alternating] {
                self.by_algorithm(row(5003).distribution(distribution).tiles(staged()));
            }
            // A stuck tile's elements take the place of the workgroup's own.
            self.by_first(row(20_011).tiles(staged()).fault(Fault::Silent(3)));
            // A run over more tiles than a look-back reads at once.
            self.by_algorithm(row(40_007).distribution(Constant).tiles(Tiles::Small));
            self.by_algorithm(row(6007).tiles(Tiles::Small).runs(5).keeps_scratch());
            self.by_first(row(6007).tiles(Tiles::Small).fault(Fault::Silent(3)).runs(5).keeps_scratch());
            self.by_first(row(20_011).tiles(Tiles::Small).waiting(Waiting::Unbounded));
            for fault in [Fault::Silent(3), Fault::Silent(1), Fault::Late(5)] {
                self.by_first(row(20_011).tiles(Tiles::Small).fault(fault));
                self.by_first(row(20_011).distribution(Few).fault(fault));
            }
        }
        // Totals of two words: of a stuck tile, which owner and helper may both compute, half of each would show.
        let wide = Some(builtin(Builtin::Sum, Scalar::F64));
        let row = Row::new(by_key(&u32::TYPE, wide, 20_011)).placement(Placement::Odd).distribution(Runs);
        for fault in [Fault::Silent(3), Fault::Late(5)] {
            self.by_first(row.clone().tiles(Tiles::Small).fault(fault));
        }
        for (scalar, n) in [(Scalar::F32, 40_007), (Scalar::F64, 20_011)] {
            let row = Row::new(by_key(&u32::TYPE, Some(builtin(Builtin::Sum, scalar)), n));
            self.by_algorithm(row.tiles(Tiles::Small).distribution(Distribution::Coarse));
        }
        // Keys that are other ones by one of their words alone, and floats that are the same by their bits alone.
        for (key, op, _) in reductions().into_iter().filter(|(key, ..)| [u64::TYPE, Triple::TYPE].contains(key)) {
            for word in 0..key.words() {
                self.by_algorithm(Row::new(by_key(&key, op.clone(), 5003)).distribution(Word(word)));
            }
        }
        let count = Some(builtin(Builtin::Sum, Scalar::U32));
        // All words of the key before a tile, which 32 invocations load.
        let narrow = Tiles::Numbers(vec![("reduce_by_key_staged_from", 1), ("reduce_by_key_staged_workgroup", 32)]);
        let long = Row::new(by_key(&Long::TYPE, count.clone(), 5003)).distribution(Word(Long::TYPE.words() - 1));
        self.by_algorithm(long.tiles(narrow));
        for key in [f32::TYPE, f16::TYPE, bf16::TYPE] {
            self.by_algorithm(Row::new(by_key(&key, count.clone(), 5003)).distribution(Specials));
        }
        for key in [i8::TYPE, u16::TYPE, u128::TYPE, i128::TYPE, Rgb::TYPE] {
            self.by_algorithm(Row::new(by_key(&key, None, 5003)).distribution(Few));
        }
        for op in super::of_order() {
            self.by_algorithm(Row::new(by_key(&u32::TYPE, Some(op), 5003)).distribution(Distribution::Subnormals));
        }
        for (key, op, placement) in reductions().into_iter().take(3) {
            let row = |n| Row::new(by_key(&key, op.clone(), n)).placement(placement).distribution(Distribution::Runs);
            for n in self.edges(&row(1 << 20)) {
                self.by_first(row(n));
            }
            let small = |n| row(n).tiles(Tiles::Small).distribution(Distribution::Few);
            for n in self.edges(&small(1 << 20)) {
                self.by_first(small(n));
            }
        }
        let sizes: &[u64] = if self.level == Level::Quick { &[200_003] } else { &[200_003, (1 << 24) + 3] };
        for &n in sizes.iter().filter(|n| self.fits(16 * **n)).collect::<Vec<_>>() {
            for (key, op, _) in reductions().into_iter().take(2) {
                self.by_algorithm(Row::new(by_key(&key, op, n)).distribution(Distribution::Runs));
            }
        }
        // The quick level has the first: run lengths, of 2^23 elements.
        for (key, op, _) in reductions().into_iter().take(if self.level == Level::Full { 2 } else { 1 }) {
            self.past_the_fold(|n| Row::new(by_key(&key, op.clone(), n)).distribution(Distribution::Runs));
        }
        let sizes = (0..64).map(|i| (i * 613) % 9001);
        let rows = sizes.map(|n| Row::new(by_key(&u32::TYPE, None, n)).distribution(Distribution::Few));
        self.push("queue/by_key/64".into(), Body::Queue(rows.collect()));
    }
}

/// Rows whose results two devices are compared in: those whose totals are exact.
pub(super) fn shared_rows(n: u64) -> Vec<Row> {
    let exact = reductions().into_iter().filter(|(_, op, _)| {
        let is_float = |op: &Op| matches!(op.element(), ElementType::Scalar(scalar) if scalar.is_float());
        !op.as_ref().is_some_and(is_float)
    });
    exact.map(|(key, op, _)| Row::new(by_key(&key, op, n)).distribution(Distribution::Runs)).collect()
}
