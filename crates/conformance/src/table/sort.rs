//! Rows of sort.

use trifold_core::algorithm::sort as by;
use trifold_core::{
    Algorithm, Element, ElementType, Fault, Language, Launch, Order, Param, Request, Scalar, SortRequest, Waiting,
    planner,
};

use std::ops::Range;

use super::{Inputs, Table, value_types};
use crate::case::{Body, Level};
use crate::inputs::{self, Distribution, Random};
use crate::operators::{Fields, Pair, Rgb, Stamped, Tagged};
use crate::row::{Placement, Row, Tiles};

pub(crate) fn sort(key: impl Into<ElementType>, value: Option<ElementType>, order: Order, n: u64) -> Request {
    SortRequest::new(key.into(), n).with(value).in_order(order).into()
}

/// Sorts that differ in key, value, order and placement.
fn sorts() -> [(Scalar, Option<ElementType>, Order, Placement); 6] {
    let [v4, v8, v12] = value_types();
    use Order::{Ascending, Descending};
    [
        (Scalar::U32, None, Ascending, Placement::Aligned),
        (Scalar::F32, None, Descending, Placement::Odd),
        (Scalar::U64, None, Ascending, Placement::InPlace),
        (Scalar::I32, Some(v4), Ascending, Placement::Aligned),
        (Scalar::U32, Some(v8), Descending, Placement::Odd),
        (Scalar::F64, Some(v12), Ascending, Placement::OddInPlace),
    ]
}

/// The keys of a sort, and the values if it has some.
pub(super) fn input(request: &Request, distribution: Distribution, random: &mut Random) -> Option<Inputs> {
    let Request::Sort(r) = request else { return None };
    let keys = match distribution {
        // Of segments these say where they begin.
        Distribution::Reversed if r.segments.is_some() => Distribution::Uniform,
        Distribution::Alternating | Distribution::Constant if r.segments.is_some() => Distribution::Few,
        keys => keys,
    };
    let keys = inputs::keys(&r.key, keys, r.n, random);
    let given = r.value.as_ref().filter(|_| !r.by_place);
    Some((keys, given.map(|value| inputs::values(value, r.n))))
}

/// Whether a request is as plain as any, if it is a sort.
pub(super) fn is_typical(request: &Request) -> bool {
    let Request::Sort(r) = request else { return true };
    matches!(r.key, ElementType::Scalar(Scalar::U32 | Scalar::F64))
}

impl Table<'_> {
    pub(super) fn sorts(&mut self) {
        self.sort_matrix();
        self.sort_sizes();
        self.sort_workgroups();
        self.sort_parts();
        self.sort_distributions();
        self.sort_placements();
        self.sort_specials();
        self.sort_faults();
        self.sort_places();
        self.sort_buckets();
        self.sort_fields();
        self.sort_bits();
        self.sort_vectors();
        self.sort_narrow();
        self.sort_counted();
        self.argsorts();
        self.values_alone();
        self.sort_reuse();
        self.sort_large();
        self.sorts_of_segments();
        let sizes = (0..64).map(|i| 1 + (i * 613) % 9001);
        let rows = sizes.map(|n| Row::new(sort(Scalar::U32, None, Order::Ascending, n))).collect();
        self.push("queue/sort/64".into(), Body::Queue(rows));
    }

    /// Keys that are structs, by every algorithm.
    fn sort_fields(&mut self) {
        let [v4, _, v12] = value_types();
        for key in [Fields::TYPE, Stamped::TYPE] {
            for (order, value) in [(Order::Ascending, None), (Order::Descending, Some(v12.clone()))] {
                for (n, placement) in [(300, Placement::Aligned), (5003, Placement::Odd), (20_011, Placement::InPlace)]
                {
                    let row = Row::new(sort(key.clone(), value.clone(), order, n)).placement(placement);
                    self.by_algorithm(row);
                }
            }
            for distribution in Distribution::ALL {
                self.by_first(
                    Row::new(sort(key.clone(), Some(v4.clone()), Order::Ascending, 5003)).distribution(distribution),
                );
            }
        }
    }

    /// Values of several words: by vectors where the spans are aligned to them, else word by word.
    fn sort_vectors(&mut self) {
        let values = [Scalar::F64.into(), Scalar::U128.into(), Stamped::TYPE];
        for (value, key) in values.into_iter().zip([Scalar::U32, Scalar::U64, Scalar::I16]) {
            use Placement::{Aligned, InPlace, Odd, OddInPlace};
            for (n, placement) in [(301, Aligned), (301, InPlace), (5003, Aligned), (5003, Odd), (20_011, InPlace)] {
                let row = Row::new(sort(key, Some(value.clone()), Order::Ascending, n)).placement(placement);
                self.by_algorithm(row);
            }
            let row = |n| Row::new(sort(key, Some(value.clone()), Order::Descending, n));
            self.by_first(row(20_011).placement(OddInPlace));
            self.by_first(row(40_007).tiles(Tiles::Small).fault(Fault::Silent(3)));
            self.by_first(row(200_003));
        }
    }

    /// Keys and values of less than a word, which share words where a language has no smaller type.
    fn sort_narrow(&mut self) {
        let narrow = Scalar::ALL.into_iter().filter(|scalar| scalar.bytes() < 4);
        let values = [Scalar::U8.into(), Scalar::F16.into(), Rgb::TYPE, Scalar::U32.into()];
        for (turn, key) in narrow.enumerate() {
            for (order, value) in [(Order::Ascending, None), (Order::Descending, Some(values[turn % 4].clone()))] {
                for (n, placement) in [
                    (301, Placement::Odd),
                    (5003, Placement::Odd),
                    (20_011, Placement::InPlace),
                    (5001, Placement::OddInPlace),
                ] {
                    let row = Row::new(sort(key, value.clone(), order, n)).placement(placement);
                    match self.level {
                        Level::Full => self.by_algorithm(row),
                        Level::Quick if turn < 3 && n != 20_011 => self.by_algorithm(row),
                        Level::Quick => self.by_first(row),
                    }
                }
            }
            for distribution in [Distribution::Specials, Distribution::Few, Distribution::Constant] {
                let row = Row::new(sort(key, Some(values[(turn + 1) % 4].clone()), Order::Ascending, 3001));
                self.by_first(row.distribution(distribution));
            }
            let keys = Row::new(sort(key, None, Order::Descending, 3001));
            self.by_first(keys.distribution(Distribution::Specials));
        }
        for value in [Scalar::I8.into(), Scalar::BF16.into(), Rgb::TYPE] {
            for (key, n) in [(Scalar::U32, 300), (Scalar::U64, 5003)] {
                self.by_algorithm(
                    Row::new(sort(key, Some(value.clone()), Order::Ascending, n)).placement(Placement::Odd),
                );
            }
        }
        for key in [Tagged::TYPE, Pair::TYPE] {
            self.by_algorithm(Row::new(sort(key, None, Order::Descending, 5003)).placement(Placement::Odd));
        }
    }

    /// Keys of eight bits, which are counted and written by their counts: units that begin and end within what is written at once.
    fn sort_counted(&mut self) {
        for (key, order) in
            [(Scalar::U8, Order::Descending), (Scalar::I8, Order::Ascending), (Scalar::I8, Order::Descending)]
        {
            for (turn, n) in [1, 2, 15, 17, 31, 255, 4099, 100_003].into_iter().enumerate() {
                let row = Row::new(sort(key, None, order, n)).placement(Placement::ALL[turn % 5]);
                let row = row.algorithm(&by::COUNTING_SORT);
                if !self.runs(&row, &by::COUNTING_SORT) {
                    continue;
                }
                self.row(row.clone());
                let distributions = Distribution::ALL.into_iter().filter(|_| turn % 2 == 1 && n < 5000);
                for distribution in distributions {
                    self.row(
                        row.clone()
                            .distribution(distribution)
                            .placement(Placement::ALL[(turn + 1) % 5])
                            .keeps_scratch(),
                    );
                }
            }
        }
    }

    /// Some of the keys' bits. The others move along, so that stability shows.
    fn sort_bits(&mut self) {
        let [v4, ..] = value_types();
        let row = |key: Scalar, bits: Range<u32>, value: bool, order, n| {
            let keys = SortRequest::new(key.into(), n).in_order(order).by_bits(bits);
            Row::new(keys.with(value.then(|| v4.clone())).into())
        };
        let some = [0..8, 0..16, 0..24, 5..6, 7..29, 3..32, 16..32, 31..32];
        for bits in some {
            for (key, value, order) in [
                (Scalar::U32, false, Order::Ascending),
                (Scalar::F32, true, Order::Descending),
                (Scalar::I32, false, Order::Descending),
            ] {
                for (n, placement) in [(300, Placement::Aligned), (5003, Placement::InPlace)] {
                    let row = row(key, bits.clone(), value, order, n).placement(placement);
                    // Each range is another kernel to compile.
                    match self.level {
                        Level::Full => self.by_algorithm(row),
                        Level::Quick if key == Scalar::U32 && bits == (7..29) => self.by_algorithm(row),
                        Level::Quick if n == 300 => self.by_either_tile(row),
                        Level::Quick => self.by_first(row),
                    }
                }
            }
        }
        // On the processor all threads sort so many.
        for (key, bits) in [(Scalar::U32, 7..29), (Scalar::I16, 5..16), (Scalar::U64, 3..50)] {
            self.by_first(row(key, bits, false, Order::Descending, 400_003));
        }
        let wide = [(Scalar::U64, 0..40), (Scalar::F64, 3..50), (Scalar::I64, 28..37), (Scalar::U64, 63..64)];
        let wider = [(Scalar::U128, 0..16), (Scalar::I128, 60..71), (Scalar::I128, 99..128), (Scalar::U128, 3..117)];
        for (turn, (key, bits)) in wide.into_iter().chain(wider).enumerate() {
            let order = if turn.is_multiple_of(2) { Order::Ascending } else { Order::Descending };
            for n in [300, 5003] {
                let row = row(key, bits.clone(), turn.is_multiple_of(3), order, n);
                match self.level {
                    Level::Full => self.by_algorithm(row),
                    Level::Quick => self.by_first(row),
                }
            }
        }
        let narrow = [(Scalar::U8, 2..7), (Scalar::I8, 0..4), (Scalar::U16, 3..13), (Scalar::I16, 5..16)];
        let halves = [(Scalar::F16, 4..16), (Scalar::BF16, 0..9)];
        for (turn, (key, bits)) in narrow.into_iter().chain(halves).enumerate() {
            self.by_first(row(key, bits.clone(), turn.is_multiple_of(2), Order::Descending, 3001));
            let places = SortRequest::argsort(key.into(), 3001).by_bits(bits);
            self.by_first(Row::new(places.into()).placement(Placement::Odd));
        }
        // Every range of 32 bits. Compiled kernels are of one range each.
        if self.level == Level::Full {
            for (start, end) in (0..32).flat_map(|start| (start + 1..=32).map(move |end| (start, end))) {
                let n = if (start + end) % 2 == 0 { 300 } else { 3001 };
                self.row(row(Scalar::U32, start..end, end % 3 == 0, Order::Ascending, n));
            }
        }
    }

    fn by_one_tile(&mut self, row: Row) {
        if self.runs(&row, &by::ONE_TILE) {
            self.row(row.algorithm(&by::ONE_TILE));
        }
    }

    /// By digit places and by merging, which knows no places.
    fn by_either_tile(&mut self, row: Row) {
        self.by_one_tile(row.clone());
        if self.runs(&row, &by::MERGE_TILE) {
            self.row(row.algorithm(&by::MERGE_TILE));
        }
    }

    /// The most keys that a row's device sorts in one workgroup by an algorithm.
    fn one_tile(&self, row: &dyn Fn(u64) -> Row, algorithm: &'static Algorithm) -> u64 {
        let sorts = |n: u64| row(n).algorithm(algorithm).plan(self.caps, self.tuning).is_ok();
        (1..).take_while(|n| sorts(*n)).last().unwrap_or_default()
    }

    fn sort_matrix(&mut self) {
        for n in [257, 10_007] {
            for scalar in Scalar::ALL {
                for order in [Order::Ascending, Order::Descending] {
                    self.by_first(Row::new(sort(scalar, None, order, n)));
                }
                for (i, value) in value_types().into_iter().enumerate() {
                    let is_even = (scalar as usize + i).is_multiple_of(2);
                    let order = if is_even { Order::Ascending } else { Order::Descending };
                    self.by_first(Row::new(sort(scalar, Some(value), order, n)));
                }
            }
        }
        for scalar in Scalar::ALL {
            for order in [Order::Ascending, Order::Descending] {
                for value in [None].into_iter().chain(value_types().map(Some)) {
                    self.by_either_tile(Row::new(sort(scalar, value, order, 257)));
                }
            }
        }
    }

    fn sort_sizes(&mut self) {
        for tiles in [Tiles::Shipped, Tiles::Small] {
            for (key, value, order, placement) in sorts() {
                let row = |n| Row::new(sort(key, value.clone(), order, n)).placement(placement).tiles(tiles.clone());
                for algorithm in planner::algorithms(&row(1).request, self.caps) {
                    if algorithm.is_of_one_tile() {
                        // Workgroups are of powers of two, and the largest is full. A run of one invocation's keys, and two.
                        let most = self.one_tile(&row, algorithm);
                        let edges = [32, 64, 128, 256, 512, 1024, 2048, 4096].map(|e: u64| [e, e + 1]);
                        let sizes =
                            edges.into_iter().flatten().chain([1, 5, 6, 9, 10, 19, most.saturating_sub(1), most]);
                        for n in sizes.filter(|n| *n <= most) {
                            self.row_of_rung(row(n), algorithm);
                        }
                        continue;
                    }
                    // Small tiles are for look-back; the other algorithms have no tuning for theirs.
                    if tiles == Tiles::Small && *algorithm != by::ONESWEEP {
                        continue;
                    }
                    for n in self.edges(&row(1 << 20).algorithm(algorithm)) {
                        self.row_of_rung(row(n), algorithm);
                    }
                }
            }
        }
    }

    /// Workgroups that are of no power of two, and those of fewer invocations than digits.
    fn sort_workgroups(&mut self) {
        let request = sort(Scalar::U32, None, Order::Ascending, 5003);
        // Emulated subgroups are minutes of compilation.
        let few = self.level == Level::Quick && self.caps.emulates_subgroups();
        let workgroups: &[u32] = if few { &[192] } else { &[64, 96, 192, 224, 384] };
        for algorithm in planner::algorithms(&request, self.caps) {
            if algorithm.is_reference && *algorithm != by::MSD_FIRST || algorithm.is_of_one_tile() {
                continue;
            }
            for &workgroup in workgroups {
                let numbers = vec![("sort_workgroup", workgroup), ("bucket_workgroup", workgroup), ("sort_keys", 8)];
                let row = Row::new(request.clone()).algorithm(algorithm).tiles(Tiles::Numbers(numbers));
                if row.plan(self.caps, self.tuning).is_ok() {
                    self.row(row);
                }
            }
        }
    }

    /// Parts of a tile, one after the other: all keys at once, no divisor of them, and a row each.
    fn sort_parts(&mut self) {
        if self.caps.language != Language::Wgsl || self.caps.subgroups.is_none() {
            return;
        }
        let [.., v12] = value_types();
        for parts in [1, 3, 16] {
            let numbers = vec![("sort_parts", parts), ("sort_keys", 8)];
            let keys = Row::new(sort(Scalar::U32, None, Order::Ascending, 5003)).tiles(Tiles::Numbers(numbers));
            let numbers = vec![("pairs_parts", parts), ("sort_pairs", 8)];
            let pairs = sort(Scalar::F32, Some(v12.clone()), Order::Descending, 5003);
            for row in [keys, Row::new(pairs).tiles(Tiles::Numbers(numbers))] {
                self.row(row.algorithm(&by::ONESWEEP));
            }
        }
    }

    fn sort_distributions(&mut self) {
        for distribution in Distribution::ALL {
            for n in [3001, 20_011] {
                for (key, value, order, placement) in sorts() {
                    let request = sort(key, value, order, n);
                    self.by_algorithm(Row::new(request).placement(placement).distribution(distribution));
                }
            }
            for (key, value, order, placement) in sorts() {
                let row = Row::new(sort(key, value, order, 500)).placement(placement).distribution(distribution);
                self.by_either_tile(row);
            }
        }
        for (key, value, order, placement) in sorts() {
            let request = sort(key, value, order, 20_011);
            self.by_algorithm(Row::new(request).placement(placement).distribution(Distribution::HotDigit));
        }
    }

    fn sort_placements(&mut self) {
        for placement in Placement::ALL {
            for n in [5, 1021, 8195] {
                for (key, value, order, _) in sorts() {
                    self.by_algorithm(Row::new(sort(key, value, order, n)).placement(placement));
                }
            }
        }
    }

    fn sort_specials(&mut self) {
        for scalar in [Scalar::F32, Scalar::F64, Scalar::F16, Scalar::BF16] {
            for value in [None, Some(value_types()[0].clone())] {
                for order in [Order::Ascending, Order::Descending] {
                    for n in [100, 5003] {
                        let request = sort(scalar, value.clone(), order, n);
                        self.by_algorithm(Row::new(request).distribution(Distribution::Specials));
                    }
                    let few = sort(scalar, value.clone(), order, 257);
                    self.by_either_tile(Row::new(few).distribution(Distribution::Specials));
                }
            }
        }
    }

    /// Tiles that never publish, or late, or wait for those before them however long it takes.
    fn sort_faults(&mut self) {
        let [v4, ..] = value_types();
        for fault in [Fault::Silent(3), Fault::Silent(1), Fault::Late(5)] {
            for tiles in [Tiles::Shipped, Tiles::Small] {
                for n in [3001, 20_011] {
                    for (key, value) in [(Scalar::U32, None), (Scalar::U32, Some(v4.clone())), (Scalar::U64, None)] {
                        let request = sort(key, value, Order::Ascending, n);
                        self.by_first(Row::new(request).fault(fault).tiles(tiles.clone()));
                    }
                }
            }
        }
        for fault in [Fault::None, Fault::Late(5)] {
            for (n, tiles) in [(20_011, Tiles::Small), (100_003, Tiles::Shipped)] {
                let request = sort(Scalar::U32, Some(v4.clone()), Order::Ascending, n);
                self.by_first(Row::new(request).fault(fault).tiles(tiles.clone()).waiting(Waiting::Unbounded));
            }
        }
    }

    /// Keys that agree in some digit places or in all: an odd and an even number of passes, in place and apart.
    fn sort_places(&mut self) {
        let [v4, ..] = value_types();
        const WIDE: [u8; 14] =
            [0, 1, 2, 4, 8, 16, 32, 64, 128, 0b1000_0001, 0b0001_1000, 0b0011_1000, 0b1010_1010, 0b0111_1111];
        for placement in [Placement::Aligned, Placement::InPlace] {
            for value in [None, Some(v4.clone())] {
                for mask in 0..16 {
                    let request = sort(Scalar::U32, value.clone(), Order::Ascending, 3001);
                    let row = Row::new(request).placement(placement).distribution(Distribution::Places(mask));
                    self.by_algorithm(row);
                    if !placement.in_place() {
                        let few = sort(Scalar::U32, value.clone(), Order::Ascending, 300);
                        self.by_one_tile(Row::new(few).distribution(Distribution::Places(mask)));
                    }
                }
                for mask in WIDE {
                    let request = sort(Scalar::U64, value.clone(), Order::Ascending, 2003);
                    let row = Row::new(request).placement(placement).distribution(Distribution::Places(mask));
                    if placement.in_place() {
                        self.row(row)
                    } else {
                        self.by_first(row)
                    }
                    if !placement.in_place() {
                        let few = sort(Scalar::U64, value.clone(), Order::Ascending, 200);
                        self.by_one_tile(Row::new(few).distribution(Distribution::Places(mask)));
                    }
                }
            }
        }
    }

    /// Buckets of a sort from the most significant digit: at the edges of a tile, where all keys share that digit, and skewed ones.
    fn sort_buckets(&mut self) {
        let [v4, _, v12] = value_types();
        let of = |key, value, order, n| Row::new(sort(key, value, order, n)).algorithm(&by::MSD_FIRST);
        if !self.runs(&of(Scalar::U32, None, Order::Ascending, 1), &by::MSD_FIRST) {
            return;
        }
        for (key, value, order, rest) in [
            (Scalar::U32, None, Order::Ascending, 0b0111),
            (Scalar::U32, Some(v4), Order::Descending, 0b0111),
            (Scalar::F64, Some(v12), Order::Ascending, 0b0111_1111),
        ] {
            let row = |n, distribution| of(key, value.clone(), order, n).distribution(distribution);
            let one_bucket = Distribution::Places(rest);
            let tile = self.bucket_tile(&row(1000, one_bucket));
            let edges = [1, tile - 1, tile, tile + 1, 2 * tile, 3 * tile + 5, 20_011];
            for placement in [Placement::Aligned, Placement::OddInPlace] {
                for n in edges {
                    self.row(row(n, one_bucket).placement(placement));
                }
            }
            // An odd and an even number of places in which a large bucket's keys differ.
            for mask in [0, 0b0001, 0b0101, rest & !1] {
                self.row(row(5 * tile + 3, Distribution::Places(mask)));
            }
            for distribution in Distribution::ALL.into_iter().chain([Distribution::HotDigit]) {
                for n in [3001, 20_011] {
                    self.row(row(n, distribution));
                }
            }
        }
    }

    /// How many keys of a bucket a row's device sorts at once.
    fn bucket_tile(&self, row: &Row) -> u64 {
        let sorted = |launch: &Launch| match launch.params.iter().find(|(name, _)| *name == "sorted") {
            Some((_, Param::Word(tile))) => Some(u64::from(*tile)),
            _ => None,
        };
        row.plan(self.caps, self.tuning).ok().and_then(|plan| plan.launched().find_map(sorted)).unwrap_or(128)
    }

    /// The same scratch again and again: a caller's, full of garbage at first, and the call's own, as the runs leave it.
    fn sort_reuse(&mut self) {
        for (key, value, order, placement) in sorts() {
            let row = |n| Row::new(sort(key, value.clone(), order, n)).placement(placement);
            self.by_algorithm(row(6007).runs(3));
            let kept = row(60_013).tiles(Tiles::Small).keeps_scratch();
            self.by_algorithm(kept.clone().runs(5));
            self.by_algorithm(kept.fault(Fault::Silent(3)).runs(5));
        }
        // More runs than a ticket has epochs.
        self.by_algorithm(Row::new(sort(Scalar::U32, None, Order::Ascending, 6007)).runs(70).keeps_scratch());
    }

    fn sort_large(&mut self) {
        let [v4, ..] = value_types();
        for n in self.large_sizes() {
            self.by_algorithm(Row::new(sort(Scalar::U32, None, Order::Ascending, n)));
            self.by_algorithm(Row::new(sort(Scalar::U32, Some(v4.clone()), Order::Ascending, n)));
            self.by_algorithm(Row::new(sort(Scalar::U64, None, Order::Descending, n)));
        }
        if self.level == Level::Full {
            self.past_the_fold(|n| Row::new(sort(Scalar::U32, None, Order::Ascending, n)));
        }
    }
}

/// Rows of `n` elements whose results two devices are compared in.
pub(super) fn shared_rows(n: u64) -> Vec<Row> {
    let scalars = Scalar::ALL.into_iter().map(|scalar| Row::new(sort(scalar, None, Order::Ascending, n)));
    // Keys alone, ascending and aligned, are among the scalars'.
    let others = sorts().into_iter().filter(|(_, value, order, placement)| {
        value.is_some() || !matches!((order, placement), (Order::Ascending, Placement::Aligned))
    });
    let placed = others.map(|(key, value, order, placement)| Row::new(sort(key, value, order, n)).placement(placement));
    scalars.chain(placed).collect()
}
