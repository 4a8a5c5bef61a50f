//! Rows of top_k.

use trifold_core::{Element, ElementType, Fault, Order, Request, Scalar, Segments, TopKRequest, Waiting, Wanted};

use super::segmented::{dividing, offsets};
use super::{Inputs, Table, value_types};
use crate::case::Level;
use crate::inputs::{self, Distribution, Random};
use crate::operators::{Fields, Rgb, Stamped};
use crate::row::{Placement, Row, Tiles};

pub(crate) fn top_k(key: impl Into<ElementType>, wanted: Wanted, order: Order, k: u64, n: u64) -> Request {
    TopKRequest { order, wanted, ..TopKRequest::new(key.into(), n, k) }.into()
}

/// The same of each segment.
pub(crate) fn segmented(request: Request, by: Segments) -> Request {
    match request {
        Request::TopK(top) => TopKRequest { segments: Some(by), ..top }.into(),
        other => other,
    }
}

/// The same as the keys stand in the input.
pub(crate) fn unsorted(request: Request) -> Request {
    match request {
        Request::TopK(top) => TopKRequest { sorted: false, ..top }.into(),
        other => other,
    }
}

/// The last of the same alone.
fn last(request: Request) -> Request {
    match request {
        Request::TopK(top) => TopKRequest { wanted: Wanted::Last, ..top }.into(),
        other => other,
    }
}

/// Of segments, of all types and of all that is wanted.
pub(crate) fn top_k_of_segments(by: Segments, k: u64, n: u64) -> impl Iterator<Item = Request> {
    let of = move |(key, wanted, order, ..): (ElementType, Wanted, Order, u64, Placement)| {
        let request = segmented(top_k(key, wanted, order, k, n), by.clone());
        [unsorted(request.clone()), last(request.clone()), request]
    };
    top_ks().into_iter().flat_map(of)
}

/// Requests that differ in key, in what is wanted, in order and placement.
fn top_ks() -> [(ElementType, Wanted, Order, u64, Placement); 7] {
    use Order::{Ascending as Smallest, Descending as Largest};
    let [v4, _, v12] = value_types();
    [
        (u32::TYPE, Wanted::Keys, Largest, 32, Placement::Aligned),
        (f32::TYPE, Wanted::Pairs(v4), Largest, 1000, Placement::Odd),
        (i64::TYPE, Wanted::KeysAndIndices, Smallest, 7, Placement::Aligned),
        (f64::TYPE, Wanted::Indices, Largest, 100, Placement::Odd),
        (u16::TYPE, Wanted::Pairs(v12), Smallest, 50, Placement::Odd),
        (Fields::TYPE, Wanted::KeysAndIndices, Largest, 33, Placement::Aligned),
        (u128::TYPE, Wanted::Indices, Smallest, 5, Placement::Aligned),
    ]
}

/// Keys, and the values beside them.
pub(super) fn input(request: &Request, distribution: Distribution, random: &mut Random) -> Option<Inputs> {
    let Request::TopK(r) = request else { return None };
    let keys = match distribution {
        // Of segments these say where they begin.
        Distribution::Reversed | Distribution::Alternating | Distribution::PastTheEnd if r.segments.is_some() => {
            Distribution::Uniform
        }
        keys => keys,
    };
    let keys = inputs::keys(&r.key, keys, r.n, random);
    let values = if let Wanted::Pairs(value) = &r.wanted { Some(inputs::values(value, r.n)) } else { None };
    Some((keys, values))
}

impl Table<'_> {
    pub(super) fn top_ks(&mut self) {
        use Distribution::{Constant, Few, SampledHigh, SampledLow, Sorted, Specials, Uniform};
        for (turn, (key, wanted, order, k, placement)) in top_ks().into_iter().enumerate() {
            // By a sample, of which there are fewer keys than a device would sort all of.
            let row = |n, k| {
                let request = top_k(key.clone(), wanted.clone(), order, k, n);
                let numbers = vec![("top_k_all", 1 << 12), ("top_k_listed", 2)];
                Row::new(request).placement(placement).tiles(Tiles::Numbers(numbers))
            };
            for distribution in [Uniform, Constant, Few, Sorted, Specials, SampledHigh, SampledLow] {
                // The last are those that a sample misleads.
                self.by_algorithm(row(20_011, k).distribution(distribution));
            }
            for n in [0, 1, 2, k - 1, k, k + 1, 1000, 5003] {
                self.by_first(row(n, k));
            }
            let unsorted = |n, k| row(n, k).of(unsorted);
            for (n, k) in [(0, 1), (1000, 1000), (5003, k), (20_011, 300), (20_011, 20_011)] {
                self.by_first(unsorted(n, k));
            }
            self.by_first(row(20_011, k).tiles(Tiles::Shipped));
            self.by_algorithm(unsorted(20_011, k).distribution(Few));
            // One key, most of them, all, and of fewer keys all.
            for k in [1, 300, 15_000, 20_011, 30_000] {
                self.by_first(row(20_011, k));
                self.by_first(row(20_011, k).distribution(Few));
            }
            if turn < 3 || self.level == Level::Full {
                self.by_algorithm(row(20_011, k).tiles(Tiles::Small));
                self.by_algorithm(row(20_011, k).tiles(Tiles::Small).runs(5).keeps_scratch());
                self.by_first(row(20_011, k).tiles(Tiles::Small).waiting(Waiting::Unbounded));
                for fault in [Fault::Silent(3), Fault::Late(5)] {
                    self.by_first(row(20_011, k).tiles(Tiles::Small).fault(fault));
                    self.by_first(row(20_011, k).tiles(Tiles::Small).distribution(SampledLow).fault(fault));
                }
            }
        }
        self.top_k_types();
        self.top_k_of_most();
        self.top_k_segments();
        self.nth_elements();
        let row = |n| Row::new(top_k(Scalar::F32, Wanted::KeysAndIndices, Order::Descending, 100, n));
        for n in self.large_sizes() {
            for distribution in [Uniform, SampledHigh, SampledLow] {
                self.by_algorithm(row(n).distribution(distribution));
            }
        }
        self.past_the_fold(|n| Row::new(top_k(Scalar::U32, Wanted::KeysAndIndices, Order::Ascending, n, n)));
    }

    /// So many of all keys that each has a flag: by digits, or in order by a sample. Large tiles, and so do the last ones, sort all in order.
    fn top_k_of_most(&mut self) {
        use Distribution::{Constant, Few, SampledHigh, SampledLow, Specials, Uniform};
        use Order::{Ascending as Smallest, Descending as Largest};
        let [v4, _, v12] = value_types();
        let row = |key: ElementType, wanted, order, k, n| Row::new(top_k(key, wanted, order, k, n));
        for (key, wanted, order, k, n, distribution) in [
            (u8::TYPE, Wanted::Indices, Largest, 7003, 20_011, Few),
            (f32::TYPE, Wanted::Pairs(v4), Largest, 2750, 5003, Specials),
            (u64::TYPE, Wanted::KeysAndIndices, Smallest, 11_006, 20_011, Constant),
            (Fields::TYPE, Wanted::KeysAndIndices, Largest, 1751, 5003, Uniform),
            (u128::TYPE, Wanted::Pairs(v12), Smallest, 2750, 5003, Few),
            (u32::TYPE, Wanted::Keys, Smallest, 16_008, 20_011, Few),
            (i16::TYPE, Wanted::KeysAndIndices, Largest, 20_011, 20_011, Uniform),
        ] {
            let row = row(key, wanted, order, k, n).distribution(distribution);
            self.by_first(row.clone());
            let row = row.tiles(Tiles::Small).placement(Placement::Odd);
            self.by_first(row.clone().of(unsorted));
            self.by_first(row.clone());
            // A sample misleads.
            self.by_first(row.clone().distribution(SampledHigh));
            self.by_first(row.distribution(SampledLow));
        }
        // Few keys too, of which all would be sorted.
        for (k, n) in [(1, 1), (2, 3), (500, 1001)] {
            let row = row(u32::TYPE, Wanted::KeysAndIndices, Largest, k, n);
            let row = row.tiles(Tiles::Numbers(vec![("top_k_all_unsorted", 0)]));
            [row.clone().of(unsorted), row].into_iter().for_each(|row| self.by_first(row));
        }
        // What a run before leaves, tiles that are stuck, and fewer keys than are wanted.
        let again = row(f32::TYPE, Wanted::KeysAndIndices, Largest, 8000, 20_011).tiles(Tiles::Small).keeps_scratch();
        for row in [again.clone().of(unsorted), again] {
            self.by_first(row.clone().runs(5));
            self.by_first(row.clone().fault(Fault::Silent(3)));
            self.fewer(&row.runs(20));
        }
    }

    /// Of segments and rows of every length: in workgroup memory, and past what that holds.
    fn top_k_segments(&mut self) {
        use Distribution::{Alternating, Constant, Few, PastTheEnd, Reversed, Sorted, Specials, Uniform};
        for (turn, (key, wanted, order, k, placement)) in top_ks().into_iter().enumerate() {
            let wide = Segments::Offsets { of: u64::TYPE, count: 60 };
            let by = [offsets(300), Segments::Rows(840), wide, Segments::Rows(63)][turn % 4].clone();
            let row = |by: &Segments, k, n| {
                let by = if let Segments::Rows(about) = by { Segments::Rows(dividing(n, *about)) } else { by.clone() };
                Row::new(segmented(top_k(key.clone(), wanted.clone(), order, k, n), by)).placement(placement)
            };
            let unsorted_row = |by: &Segments, k, n| row(by, k, n).of(unsorted);
            let nth = |by: &Segments, k, n| row(by, k, n).of(last);
            for distribution in [Uniform, Constant, Few, Sorted, Reversed, Alternating, Specials, PastTheEnd] {
                self.by_algorithm(row(&by, k.min(60), 5040).distribution(distribution));
            }
            // More than a workgroup has room for.
            for by in [&offsets(3), &by] {
                for distribution in [Uniform, Few, Sorted, PastTheEnd] {
                    self.by_algorithm(row(by, 3000, 5040).distribution(distribution));
                }
            }
            for k in [1, 100, 300, 1000] {
                self.by_algorithm(row(&offsets(7), k, 5040));
                self.by_algorithm(row(&offsets(7), k, 20_020).distribution(Sorted).tiles(Tiles::Small));
            }
            for n in [0, 1, 2] {
                self.by_algorithm(row(&by, k, n));
                self.by_algorithm(unsorted_row(&by, k, n));
                self.by_algorithm(nth(&by, k, n));
            }
            // Rows of which a workgroup takes several.
            let short = row(&Segments::Rows(48), k.min(40), 5040);
            [short.clone().of(unsorted), short.clone().of(last), short]
                .into_iter()
                .for_each(|row| self.by_algorithm(row));
            // By turns, so that each type has few of them.
            for (i, k) in [1, 60, 3000].into_iter().enumerate() {
                let by = [offsets(3), offsets(300), by.clone()][(turn + i) % 3].clone();
                self.by_algorithm(unsorted_row(&by, k, 5040));
                for distribution in [Uniform, Few] {
                    self.by_algorithm(nth(&by, k, 5040).distribution(distribution));
                }
            }
            self.by_algorithm(row(&by, 5, 6006).tiles(Tiles::Small).runs(5).keeps_scratch());
        }
        let row =
            |by, k, n| Row::new(segmented(top_k(Scalar::F32, Wanted::KeysAndIndices, Order::Descending, k, n), by));
        for count in [0, 1, 2, 5040, 20_000] {
            self.by_algorithm(row(offsets(count), 3, 5040));
            self.by_algorithm(row(offsets(count), 3, 5040).distribution(Few));
        }
        for width in [1, 2, 3, 7, 16, 30, 56, 60, 252, 840, 2520, 5040] {
            self.by_algorithm(row(Segments::Rows(width), 16, 5040));
        }
        // Among them some that are far longer than others, of which workgroups take chunks.
        for (count, k) in [(1, 32), (7, 1), (60, 200), (3000, 8), (60_000, 1)] {
            for distribution in [Uniform, Reversed, Few, Alternating] {
                let row = row(offsets(count), k, 60_060).distribution(distribution);
                [row.clone().of(unsorted), row.clone().of(last), row].into_iter().for_each(|row| self.by_first(row));
            }
        }
        // A run of fewer keys may end within a row.
        for (by, k) in [
            (Segments::Rows(37), 5),
            (Segments::Rows(4000), 64),
            (Segments::Rows(370), 300),
            (Segments::Rows(37_000), 3000),
            (offsets(60), 64),
            (offsets(3), 3000),
        ] {
            let row = row(by, k, 148_000).keeps_scratch().runs(60);
            [row.clone().of(unsorted), row.clone().of(last), row.clone()].iter().for_each(|row| self.fewer(row));
            self.fewer(&row.distribution(PastTheEnd));
        }
        self.top_k_long_segments();
        for n in self.large_sizes() {
            self.by_algorithm(row(Segments::Rows(dividing(n, 4096)), 32, n));
            self.by_algorithm(row(offsets(9), 700, n));
            self.by_algorithm(row(offsets(1), 700, n));
        }
    }

    /// Many keys of segments of which some are far longer than others: these are counted by chunks, and some segments have fewer than are
    /// wanted.
    fn top_k_long_segments(&mut self) {
        use Distribution::{Constant, Few, Reversed, Sorted};
        let row = |key: ElementType, wanted, count, k| {
            let request = segmented(top_k(key, wanted, Order::Descending, k, 60_060), offsets(count));
            Row::new(request).tiles(Tiles::Small)
        };
        for (count, k, distribution) in [(300, 1000, Reversed), (60, 400, Few), (2, 7000, Constant)] {
            let row = row(f32::TYPE, Wanted::KeysAndIndices, count, k).distribution(distribution);
            [row.clone().of(unsorted), row.clone().of(last), row].into_iter().for_each(|row| self.by_first(row));
        }
        let [v4, _, v12] = value_types();
        for (key, value, count, distribution) in [(u32::TYPE, v4, 60, Reversed), (i64::TYPE, v12, 7, Sorted)] {
            self.by_first(
                row(key, Wanted::Pairs(value), count, 900).placement(Placement::Odd).distribution(distribution),
            );
        }
        // Where the bounds and the counts of a run before are left.
        let again = row(u32::TYPE, Wanted::Indices, 60, 900).runs(5).keeps_scratch();
        self.by_first(again.clone());
        let fewer = again.distribution(Reversed).runs(20);
        [fewer.clone().of(last), fewer].iter().for_each(|row| self.fewer(row));
    }

    /// The key at a place of all, of any type.
    fn nth_elements(&mut self) {
        use Distribution::{Constant, Few, Sorted, Specials, Uniform};
        for (turn, (key, _, order, _, placement)) in top_ks().into_iter().enumerate() {
            let row = |n, k| Row::new(top_k(key.clone(), Wanted::Last, order, k, n)).placement(placement);
            for distribution in [Uniform, Constant, Few, Sorted, Specials] {
                for k in [1, 10_006, 20_011] {
                    self.by_algorithm(row(20_011, k).distribution(distribution));
                }
            }
            for (n, k) in [(0, 1), (1, 1), (2, 1), (2, 2), (777, 300)] {
                self.by_algorithm(row(n, k));
            }
            let several = row(6007, 3000).tiles(Tiles::Small).runs(5);
            self.by_algorithm(several.clone());
            self.by_algorithm(several.keeps_scratch());
            if turn < 2 {
                let unsorted = Row::new(unsorted(top_k(key.clone(), Wanted::Keys, order, 1000, 148_000)));
                [row(148_000, 1000), unsorted].into_iter().for_each(|row| self.fewer(&row.keeps_scratch().runs(60)));
            }
        }
        for scalar in Scalar::ALL {
            self.by_algorithm(Row::new(top_k(scalar, Wanted::Last, Order::Ascending, 1500, 3001)));
        }
        for n in self.large_sizes() {
            self.by_algorithm(Row::new(top_k(Scalar::F32, Wanted::Last, Order::Descending, n / 2, n)));
        }
    }

    /// Every type of keys, and values of every size.
    fn top_k_types(&mut self) {
        for scalar in Scalar::ALL {
            for (order, n) in [(Order::Descending, 3001), (Order::Ascending, 20_011)] {
                let row = Row::new(top_k(scalar, Wanted::KeysAndIndices, order, 60, n)).placement(Placement::Odd);
                match self.level {
                    Level::Quick if n == 20_011 => {}
                    _ => self.by_first(row.clone()),
                }
                if scalar.is_float() {
                    self.by_first(row.distribution(Distribution::Specials));
                }
            }
        }
        for value in [Scalar::U8.into(), Scalar::F16.into(), Rgb::TYPE, Scalar::U128.into(), Stamped::TYPE] {
            self.by_first(Row::new(top_k(Scalar::U32, Wanted::Pairs(value), Order::Descending, 60, 3001)));
        }
    }
}
