//! Rows of reductions and scans of segments.

use trifold_core::algorithm::segmented::LOOKBACK;
use trifold_core::{
    Builtin, Element, ElementType, Fault, Gives, Op, Request, Scalar, ScanKind, SegmentedRequest, Segments, Slot,
    SortRequest, TopKRequest, Waiting, Wanted,
};

use super::{Inputs, Table, builtin};
use crate::case::Level;
use crate::inputs::{self, Distribution, Random};
use crate::maps;
use crate::operators::{self, Triple};
use crate::row::{Placement, Row, Tiles};

pub(crate) fn segmented(op: &Op, by: Segments, gives: Gives, n: u64) -> Request {
    Request::Segmented(SegmentedRequest { op: op.clone(), n, by, gives, initial: None })
}

pub(crate) fn offsets(count: u64) -> Segments {
    Segments::Offsets { of: u32::TYPE, count }
}

const INCLUSIVE: Gives = Gives::Prefixes(ScanKind::Inclusive);
const EXCLUSIVE: Gives = Gives::Prefixes(ScanKind::Exclusive);

/// Requests that differ in operator, bounds, what they give, and placement.
fn segments() -> [(Op, Segments, Gives, Placement); 10] {
    let wide = Segments::Offsets { of: u64::TYPE, count: 60 };
    [
        (builtin(Builtin::Sum, Scalar::U32), offsets(300), Gives::Total, Placement::Aligned),
        (builtin(Builtin::Sum, Scalar::U32), offsets(300), EXCLUSIVE, Placement::Odd),
        (builtin(Builtin::Sum, Scalar::F32), wide.clone(), Gives::Total, Placement::Odd),
        (builtin(Builtin::Min, Scalar::I64), Segments::Rows(1), Gives::Total, Placement::Aligned),
        (operators::compose(), offsets(60), INCLUSIVE, Placement::Aligned),
        (operators::tally(), Segments::Rows(1), EXCLUSIVE, Placement::Odd),
        (builtin(Builtin::Sum, Scalar::U32), Segments::Keys(u32::TYPE), EXCLUSIVE, Placement::Aligned),
        (builtin(Builtin::Max, Scalar::F32), Segments::Keys(u8::TYPE), INCLUSIVE, Placement::Odd),
        (operators::compose(), Segments::Keys(Triple::TYPE), EXCLUSIVE, Placement::Odd),
        (operators::bent(5), wide, Gives::Total, Placement::Aligned),
    ]
}

/// Rows of a width about this that divides so many elements.
pub(super) fn dividing(n: u64, about: u64) -> u64 {
    (1..=about.clamp(1, n.max(1))).rev().find(|width| n.is_multiple_of(*width)).unwrap_or(1)
}

/// The same bounds for so many elements.
fn of_n(by: &Segments, n: u64) -> Segments {
    match by {
        Segments::Rows(_) => Segments::Rows(dividing(n, 37)),
        by => by.clone(),
    }
}

/// Where `count` segments begin among `n` elements, and the end of the last one.
fn places(count: u64, n: u64, distribution: Distribution, random: &mut Random) -> Vec<u64> {
    let mut places: Vec<u64> = match distribution {
        // All of one length.
        Distribution::Constant => {
            (0..=count).map(|s| (n as u128 * u128::from(s) / u128::from(count.max(1))) as u64).collect()
        }
        // Most begin where others do.
        Distribution::Few => {
            let few: Vec<u64> = (0..5).map(|_| random.next() % (n + 1)).collect();
            (0..=count).map(|_| few[(random.next() % 5) as usize]).collect()
        }
        // Of all lengths: the first ones very short, and the last very long.
        Distribution::Sorted => {
            let part = |s| (s as f64 / count.max(1) as f64).powi(4);
            (0..=count).map(|s| ((n as f64 * part(s)) as u64).min(n)).collect()
        }
        // One has half of all.
        Distribution::Reversed => (0..=count).map(|_| random.next() % (n / 2 + 1)).collect(),
        Distribution::PastTheEnd => (0..=count).map(|_| random.next() % (2 * n + 2)).collect(),
        _ => (0..=count).map(|_| random.next() % (n + 1)).collect(),
    };
    places.sort_unstable();
    if distribution == Distribution::Alternating {
        // Elements before the first and behind the last are of none.
        return places;
    }
    places[0] = 0;
    match places[1..].last_mut() {
        // Of 64 bits it is past what 32 hold, and its lower half is in the middle.
        Some(end) if distribution == Distribution::PastTheEnd => *end = (1 << 40) + n / 2,
        Some(end) => *end = n,
        None => {}
    }
    places
}

/// The offsets of a request, if its segments have some.
pub(crate) fn offsets_of(request: &Request, distribution: Distribution, random: &mut Random) -> Option<Vec<u8>> {
    let Some(Segments::Offsets { of, count }) = request.segments() else { return None };
    let most = if *of == u32::TYPE { u32::MAX.into() } else { u64::MAX };
    let places = places(*count, request.n(), distribution, random).into_iter().map(|place| place.min(most));
    Some(places.flat_map(|place| place.to_le_bytes().into_iter().take(of.bytes() as usize)).collect())
}

/// The elements, and the keys if there are some.
pub(super) fn input(request: &Request, distribution: Distribution, random: &mut Random) -> Option<Inputs> {
    let Request::Segmented(r) = request else { return None };
    let of_values = matches!(distribution, Distribution::Subnormals | Distribution::Specials | Distribution::Coarse);
    let elements = if of_values { distribution } else { Distribution::Uniform };
    let elements = inputs::elements(&r.op, elements, r.n, random);
    let beside = match &r.by {
        Segments::Keys(of) => {
            let keys = if of_values { Distribution::Runs } else { distribution };
            Some(inputs::items(of, keys, r.n, random))
        }
        Segments::Rows(_) | Segments::Offsets { .. } => None,
    };
    Some((elements, beside))
}

/// What is asked of elements segment by segment, and what their order decides, each with the slot that they are in. A type that has no maximum
/// or no order has not all of it.
fn of_elements(element: &ElementType, n: u64) -> [Option<(Request, Slot)>; 10] {
    let wide = Segments::Offsets { of: u64::TYPE, count: 60 };
    let (op, is_key) = match element {
        ElementType::Scalar(scalar) => (Op::builtin(Builtin::Max, *scalar), true),
        ElementType::Struct { .. } => (Some(operators::latest()), false),
    };
    let combined = |by, gives| op.as_ref().map(|op| (segmented(op, by, gives, n), Slot::Input));
    let ordered = |request: Request| is_key.then_some((request, Slot::Input));
    let sum = builtin(Builtin::Sum, Scalar::U32);
    let by_key = segmented(&sum, Segments::Keys(element.clone()), EXCLUSIVE, n);
    let keys = SortRequest::new(element.clone(), n).of_segments(offsets(300));
    let values = SortRequest::new(u32::TYPE, n).with(element.clone()).of_segments(wide.clone());
    // More than a workgroup selects of all.
    let largest = TopKRequest::new(element.clone(), n, 200);
    let last = TopKRequest { wanted: Wanted::Last, ..largest.clone() };
    let places = TopKRequest { wanted: Wanted::Indices, segments: Some(wide.clone()), ..largest.clone() };
    let beside = TopKRequest { wanted: Wanted::Pairs(element.clone()), ..TopKRequest::new(u32::TYPE, n, 200) };
    [
        combined(offsets(300), Gives::Total),
        Some((by_key, Slot::InputValues)),
        combined(wide, INCLUSIVE),
        combined(Segments::Keys(u32::TYPE), INCLUSIVE),
        ordered(keys.into()),
        Some((values.into(), Slot::InputValues)),
        ordered(largest.into()),
        ordered(last.into()),
        ordered(places.into()),
        Some((beside.into(), Slot::InputValues)),
    ]
}

impl Table<'_> {
    /// Segments of what a view gives, and what its order decides. Each view has a kernel of its own of each: at the quick level by turns.
    pub(super) fn view_of_segments(&mut self, view: &Request, turn: usize) {
        let element = view.views()[0].view.node().element();
        let placement = if (turn / 4).is_multiple_of(2) { Placement::Aligned } else { Placement::Odd };
        for (i, asked) in of_elements(&element, 5003).into_iter().enumerate() {
            let is_turn = self.level == Level::Full || i % 4 == turn % 4;
            if let Some((request, slot)) = asked.filter(|_| is_turn) {
                let row = Row::new(maps::of(view, request, slot)).distribution(Distribution::Runs);
                self.by_first(row.placement(placement));
            }
        }
    }

    pub(super) fn segments(&mut self) {
        use Distribution::{Alternating, Constant, Few, PastTheEnd, Reversed, Runs, Sorted, Uniform};
        for (op, by, gives, placement) in segments() {
            let row = |n| Row::new(segmented(&op, of_n(&by, n), gives, n)).placement(placement);
            for distribution in [Uniform, Constant, Few, Sorted, Reversed, Alternating, PastTheEnd] {
                self.by_algorithm(row(5040).distribution(distribution));
            }
            self.by_algorithm(row(20_020).tiles(Tiles::Small).distribution(Runs));
            // A segment over more tiles than a look-back reads at once.
            self.by_algorithm(row(40_040).distribution(Reversed).tiles(Tiles::Small));
            self.by_algorithm(row(6006).tiles(Tiles::Small).runs(5).keeps_scratch());
            self.by_waiting(row(6006).tiles(Tiles::Small).fault(Fault::Silent(3)).runs(5).keeps_scratch());
            self.by_waiting(row(20_020).tiles(Tiles::Small).waiting(Waiting::Unbounded));
            for fault in [Fault::Silent(3), Fault::Silent(1), Fault::Late(5)] {
                self.by_waiting(row(20_020).tiles(Tiles::Small).fault(fault));
                self.by_waiting(row(20_020).distribution(Few).tiles(Tiles::Small).fault(fault));
            }
        }
        let floats = builtin(Builtin::Sum, Scalar::F32);
        for (by, gives) in
            [(offsets(60), Gives::Total), (offsets(60), INCLUSIVE), (Segments::Keys(u32::TYPE), EXCLUSIVE)]
        {
            let row = Row::new(segmented(&floats, by, gives, 40_040)).distribution(Distribution::Coarse);
            self.by_algorithm(row.clone());
            self.by_algorithm(row.tiles(Tiles::Small));
        }
        self.segment_shapes();
        self.segment_starts();
        for (op, by, gives, placement) in segments().into_iter().take(7).step_by(3) {
            let row = |n| Row::new(segmented(&op, of_n(&by, n), gives, n)).placement(placement);
            for n in self.edges(&row(1 << 20)) {
                self.by_waiting(row(n));
            }
            let small = |n| row(n).tiles(Tiles::Small).distribution(Few);
            for n in self.edges(&small(1 << 20)) {
                self.by_first(small(n));
            }
        }
        for n in self.large_sizes() {
            for (op, by, gives, _) in segments().into_iter().take(2) {
                let row = |by: &Segments| Row::new(segmented(&op, of_n(by, n), gives, n));
                self.by_algorithm(row(&by));
                // One has all, and one has half.
                self.by_algorithm(row(&offsets(1)));
                self.by_algorithm(row(&by).distribution(Reversed));
            }
        }
        let sum = builtin(Builtin::Sum, Scalar::U32);
        let runs = Segments::Keys(u32::TYPE);
        for (by, gives) in [(offsets(300), Gives::Total), (offsets(300), EXCLUSIVE), (runs, EXCLUSIVE)] {
            self.past_the_fold(|n| Row::new(segmented(&sum, by.clone(), gives, n)));
        }
        let one_key = |n| segmented(&sum, Segments::Keys(u32::TYPE), INCLUSIVE, n);
        self.past_the_fold(|n| Row::new(one_key(n)).distribution(Constant));
    }

    /// By the algorithm whose tiles wait for each other, where the device runs that.
    fn by_waiting(&mut self, row: Row) {
        match self.runs(&row, &LOOKBACK) {
            true => self.row(row.algorithm(&LOOKBACK)),
            false => self.by_first(row),
        }
    }

    /// Few segments and many, of every length, and rows of every width.
    fn segment_shapes(&mut self) {
        let sum = builtin(Builtin::Sum, Scalar::U32);
        let compose = operators::compose();
        for gives in [Gives::Total, EXCLUSIVE] {
            // None, one, as many as elements, and more empty ones than a batch has.
            for count in [0, 1, 2, 5040, 20_000] {
                for distribution in [Distribution::Uniform, Distribution::Few] {
                    let row = |op| Row::new(segmented(op, offsets(count), gives, 5040)).distribution(distribution);
                    self.by_algorithm(row(&sum));
                    self.by_first(row(&compose).tiles(Tiles::Small));
                }
            }
            for n in [0, 1, 2] {
                self.by_algorithm(Row::new(segmented(&compose, offsets(300), gives, n)));
            }
            for width in [1, 2, 3, 7, 16, 30, 63, 80, 252, 840, 2520, 5040] {
                self.by_algorithm(Row::new(segmented(&sum, Segments::Rows(width), gives, 5040)));
                self.by_first(Row::new(segmented(&compose, Segments::Rows(width), gives, 5040)).tiles(Tiles::Small));
            }
        }
        // A run of fewer elements may end within a row.
        for gives in [Gives::Total, INCLUSIVE] {
            for width in [37, 4000] {
                let row = Row::new(segmented(&compose, Segments::Rows(width), gives, 3 * width.max(1000) * 37));
                self.fewer(&row.keeps_scratch().runs(60));
            }
            let wide = Segments::Offsets { of: u64::TYPE, count: 60 };
            let row = Row::new(segmented(&compose, wide, gives, 148_000));
            self.fewer(&row.keeps_scratch().runs(60));
        }
        // And within one that has half of all, or within a long run of equal keys, and before offsets.
        let wide = Segments::Offsets { of: u64::TYPE, count: 60 };
        for (by, gives, distribution) in [
            (offsets(60), Gives::Total, Distribution::Reversed),
            (offsets(60), EXCLUSIVE, Distribution::Reversed),
            (offsets(60), Gives::Total, Distribution::PastTheEnd),
            (wide, EXCLUSIVE, Distribution::PastTheEnd),
            (Segments::Keys(u32::TYPE), INCLUSIVE, Distribution::Few),
            (Segments::Keys(u32::TYPE), EXCLUSIVE, Distribution::Constant),
        ] {
            let row = Row::new(segmented(&compose, by, gives, 40_040)).distribution(distribution);
            self.fewer(&row.tiles(Tiles::Small).keeps_scratch().runs(30));
        }
        for (op, by, gives, _) in segments() {
            if matches!(gives, Gives::Prefixes(_)) {
                for placement in [Placement::InPlace, Placement::OddInPlace] {
                    self.by_algorithm(Row::new(segmented(&op, of_n(&by, 5040), gives, 5040)).placement(placement));
                }
            }
        }
    }

    /// From elements of the caller's, and of every operator and type of keys.
    fn segment_starts(&mut self) {
        for op in super::started() {
            for gives in [Gives::Total, EXCLUSIVE, INCLUSIVE] {
                let mut random = Random::named(&op.name);
                let initial = Some(inputs::elements(&op, Distribution::Uniform, 1, &mut random));
                let request = SegmentedRequest { op: op.clone(), n: 5040, by: offsets(300), gives, initial };
                self.by_algorithm(Row::new(request.clone().into()));
                self.by_algorithm(Row::new(request.into()).distribution(Distribution::Few));
            }
        }
        for op in super::of_order() {
            let row = Row::new(segmented(&op, offsets(300), Gives::Total, 5040));
            self.by_algorithm(row.distribution(Distribution::Subnormals));
        }
        let sum = builtin(Builtin::Sum, Scalar::U32);
        for key in [f32::TYPE, u16::TYPE, u64::TYPE, u128::TYPE] {
            let row = Row::new(segmented(&sum, Segments::Keys(key), INCLUSIVE, 5040));
            self.by_algorithm(row.clone().distribution(Distribution::Few));
            self.by_algorithm(row.distribution(Distribution::Specials));
        }
        if self.level == Level::Full {
            for scalar in Scalar::ALL {
                for op in Builtin::ALL.into_iter().filter_map(|which| Op::builtin(which, scalar)) {
                    for gives in [Gives::Total, EXCLUSIVE] {
                        self.by_algorithm(Row::new(segmented(&op, offsets(300), gives, 5040)));
                    }
                }
            }
        }
    }
}
