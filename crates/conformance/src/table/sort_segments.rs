//! Rows of sorts of segments.

use trifold_core::algorithm::sort as by;
use trifold_core::{Element, ElementType, Order, Request, Scalar, Segments, SortRequest};

use super::segmented::{dividing, offsets};
use super::sort::sort;
use super::{Table, value_types};
use crate::inputs::Distribution;
use crate::operators::{Fields, Rgb, Stamped};
use crate::row::{Placement, Row, Tiles};

/// The same sort of each segment.
fn segmented(request: Request, by: Segments) -> Request {
    match request {
        Request::Sort(sort) => sort.of_segments(by).into(),
        other => other,
    }
}

/// The places of keys within their segments.
fn places(key: impl Into<ElementType>, writes_keys: bool, n: u64) -> Request {
    let mut request = SortRequest::argsort(key.into(), n);
    request.writes_keys = writes_keys;
    request.into()
}

/// Of segments, of all types of keys and values.
pub(crate) fn sorts_of_segments(n: u64) -> impl Iterator<Item = Request> {
    let by = move |turn: usize| if turn.is_multiple_of(2) { offsets(300) } else { Segments::Rows(dividing(n, 5000)) };
    let all = sorts().into_iter().map(move |(key, value, order, _)| sort(key, value, order, n));
    let all = all.chain([true, false].map(|writes_keys| places(Scalar::U32, writes_keys, n)));
    all.enumerate().map(move |(turn, request)| segmented(request, by(turn)))
}

/// Sorts that differ in key, value, order and placement.
fn sorts() -> [(ElementType, Option<ElementType>, Order, Placement); 9] {
    let [v4, v8, v12] = value_types();
    use Order::{Ascending, Descending};
    [
        (u32::TYPE, None, Ascending, Placement::Aligned),
        (f32::TYPE, None, Descending, Placement::Odd),
        (u64::TYPE, None, Ascending, Placement::InPlace),
        (i32::TYPE, Some(v4.clone()), Ascending, Placement::Aligned),
        (u32::TYPE, Some(v8), Descending, Placement::Odd),
        (f64::TYPE, Some(v12), Ascending, Placement::OddInPlace),
        (i16::TYPE, Some(Rgb::TYPE), Descending, Placement::InPlace),
        (Fields::TYPE, Some(v4), Descending, Placement::Aligned),
        (u128::TYPE, None, Ascending, Placement::Odd),
    ]
}

/// Tiles of few keys, so that runs of many are merged.
fn small_tiles() -> Tiles {
    let merged = [("merge_sort_workgroup", 32), ("merge_sort_keys", 3)];
    let long = [("long_keys", 1), ("long_rounds", 2), ("long_levels_less", 16)];
    Tiles::Numbers(merged.into_iter().chain(long).collect())
}

impl Table<'_> {
    pub(super) fn sorts_of_segments(&mut self) {
        use Distribution::{Alternating, Constant, Few, PastTheEnd, Reversed, Sorted, Specials, Uniform};
        for (turn, (key, value, order, placement)) in sorts().into_iter().enumerate() {
            let wide = Segments::Offsets { of: u64::TYPE, count: 60 };
            let by = [offsets(300), Segments::Rows(840), wide, Segments::Rows(63)][turn % 4].clone();
            let row = |by: &Segments, n| {
                let by = if let Segments::Rows(about) = by { Segments::Rows(dividing(n, *about)) } else { by.clone() };
                Row::new(segmented(sort(key.clone(), value.clone(), order, n), by)).placement(placement)
            };
            for distribution in [Uniform, Constant, Few, Sorted, Reversed, Alternating, Specials, PastTheEnd] {
                self.by_algorithm(row(&by, 5040).distribution(distribution));
                self.by_algorithm(row(&offsets(40), 5040).distribution(distribution).tiles(small_tiles()));
            }
            for n in [0, 1, 2, 61, 64, 65] {
                self.by_algorithm(row(&by, n).tiles(small_tiles()));
            }
            self.by_algorithm(row(&by, 20_020));
            self.by_algorithm(row(&by, 6006).tiles(small_tiles()).runs(5).keeps_scratch());
        }
        for scalar in Scalar::ALL {
            let pairs = sort(scalar, Some(u32::TYPE), Order::Descending, 5040);
            self.by_algorithm(Row::new(segmented(pairs, offsets(40))).placement(Placement::Odd));
        }
        self.segment_places();
        self.segment_widths();
        self.merge_sorts();
        let row = |by, n| Row::new(segmented(sort(Scalar::U32, Some(u32::TYPE), Order::Ascending, n), by));
        let wide = Segments::Offsets { of: u64::TYPE, count: 60 };
        // A run of fewer keys may end within a row.
        for by in [Segments::Rows(37), Segments::Rows(3700), offsets(60), offsets(3), wide] {
            self.fewer(&row(by.clone(), 148_000).keeps_scratch().runs(30));
            self.fewer(&row(by.clone(), 14_800).tiles(small_tiles()).keeps_scratch().runs(30));
            self.fewer(&row(by, 14_800).distribution(PastTheEnd).keeps_scratch().runs(30));
        }
        // Long ones by passes, of fewer keys than planned too.
        for by in [Segments::Rows(3700), offsets(3)] {
            let row = row(by, 14_800).algorithm(&by::BY_LENGTH).tiles(small_tiles()).keeps_scratch().runs(30);
            if self.runs(&row, &by::BY_LENGTH) {
                self.fewer(&row);
            }
        }
        // Segments of more tiles than have a sum of their counts.
        let [v4, _, v12] = value_types();
        for (key, value, placement) in [
            (f32::TYPE, Some(v4), Placement::InPlace),
            (u32::TYPE, Some(v12), Placement::Odd),
            (u128::TYPE, None, Placement::Aligned),
        ] {
            let request = segmented(sort(key, value, Order::Descending, 200_200), offsets(2));
            let row = Row::new(request).algorithm(&by::BY_LENGTH).placement(placement).tiles(small_tiles());
            if self.runs(&row, &by::BY_LENGTH) {
                self.row(row);
            }
        }
        // More workgroups than WebGPU takes in one dimension.
        let keys = segmented(sort(Scalar::U32, None, Order::Ascending, 64 * 65_540), Segments::Rows(64));
        self.by_algorithm(Row::new(keys).tiles(small_tiles()));
        for n in self.large_sizes() {
            for by in [Segments::Rows(dividing(n, 4096)), offsets(1), offsets(9), offsets(n / 16)] {
                self.by_algorithm(row(by.clone(), n));
                self.by_algorithm(row(by, n).distribution(Sorted));
            }
        }
    }

    /// Where keys stand in their segments, with and without the keys.
    fn segment_places(&mut self) {
        use Distribution::{Few, Sorted, Uniform};
        for key in [Scalar::U32.into(), Scalar::U8.into(), Scalar::F64.into(), Stamped::TYPE] {
            for writes_keys in [false, true] {
                let row = |by: Segments, n| Row::new(segmented(places(key.clone(), writes_keys, n), by));
                for distribution in [Uniform, Few, Sorted] {
                    self.by_algorithm(row(offsets(40), 5040).distribution(distribution).placement(Placement::Odd));
                    self.by_algorithm(row(offsets(40), 5040).distribution(distribution).tiles(small_tiles()));
                    self.by_algorithm(row(Segments::Rows(252), 5040).distribution(distribution));
                }
            }
        }
        // Values whose keys are not written.
        for value in [u32::TYPE, Rgb::TYPE] {
            let request =
                |by| SortRequest::new(Scalar::F32.into(), 5040).with(value.clone()).without_keys().of_segments(by);
            for by in [offsets(40), offsets(3), Segments::Rows(252)] {
                self.by_algorithm(Row::new(request(by.clone()).into()).placement(Placement::Odd));
                self.by_algorithm(Row::new(request(by).into()).tiles(small_tiles()));
            }
        }
        // By some of the bits.
        let bits =
            |bits| SortRequest::new(Scalar::U32.into(), 5040).by_bits(bits).with(u32::TYPE).of_segments(offsets(40));
        for range in [0..8, 3..17, 31..32] {
            self.by_algorithm(Row::new(bits(range.clone()).into()));
            self.by_algorithm(Row::new(bits(range).into()).tiles(small_tiles()));
        }
    }

    /// Rows of every width, and segments of every number: most of them have no keys, or one has all.
    fn segment_widths(&mut self) {
        use Distribution::{Few, Sorted, Uniform};
        let row = |by, n| Row::new(segmented(sort(Scalar::F32, Some(u32::TYPE), Order::Descending, n), by));
        for count in [0, 1, 2, 5040, 20_000] {
            for distribution in [Uniform, Few, Sorted] {
                self.by_algorithm(row(offsets(count), 5040).distribution(distribution));
                self.by_algorithm(row(offsets(count), 5040).distribution(distribution).tiles(small_tiles()));
            }
        }
        for width in [1, 2, 3, 7, 9, 16, 30, 63, 80, 90, 105, 126, 252, 840, 2520, 5040] {
            self.by_algorithm(row(Segments::Rows(width), 5040));
            self.by_algorithm(row(Segments::Rows(width), 5040).tiles(small_tiles()));
        }
    }

    /// All keys, by merging tiles.
    fn merge_sorts(&mut self) {
        if !self.runs(&Row::new(sort(Scalar::U32, None, Order::Ascending, 1)), &by::MERGE_SORT) {
            return;
        }
        for (key, value, order, placement) in sorts() {
            let row = |n| Row::new(sort(key.clone(), value.clone(), order, n)).algorithm(&by::MERGE_SORT);
            for n in [63, 64, 65, 127, 129, 257, 5003] {
                self.row(row(n).placement(placement).tiles(small_tiles()));
            }
        }
    }
}
