//! Rows of select and partition.

use trifold_core::types::{bf16, f16};
use trifold_core::{
    Asks, Element, ElementType, Fault, Keeps, NonZero, Request, Rest, SelectRequest, Selector, Waiting,
};

use super::{Inputs, Table};
use crate::case::{Body, Level};
use crate::inputs::{self, Distribution, Random};
use crate::meanings;
use crate::operators::{self, Few, OddBits, Rgb, Signed, Triple, Upper};
use crate::row::{Placement, Row, Tiles};

pub(crate) fn select(selector: &Selector, rest: Rest, n: u64) -> Request {
    Request::Select(SelectRequest { selector: selector.clone(), n, rest, keeps: Keeps::Items })
}

pub(crate) fn keeping(selector: &Selector, rest: Rest, keeps: Keeps, n: u64) -> Request {
    Request::Select(SelectRequest { selector: selector.clone(), n, rest, keeps })
}

/// Selections that write something else than the elements.
pub(crate) fn kept_otherwise() -> Vec<(Selector, Keeps)> {
    let (flags, [words, bytes, ..]) = (Selector::of::<u8, _>(NonZero), operators::first_of_runs());
    vec![
        (upper(), Keeps::Indices),
        (Selector::of::<Triple, _>(OddBits), Keeps::Indices),
        (words.clone(), Keeps::Indices),
        (Selector::of::<u8, _>(Upper), Keeps::Values(u32::TYPE)),
        (Selector::of::<u16, _>(Upper), Keeps::Values(u8::TYPE)),
        (flags, Keeps::Values(f64::TYPE)),
        (upper(), Keeps::Values(u128::TYPE)),
        (upper(), Keeps::Values(Rgb::TYPE)),
        (Selector::of::<u64, _>(Few), Keeps::Values(Triple::TYPE)),
        (words.clone(), Keeps::Pairs(u32::TYPE)),
        (words, Keeps::Pairs(u8::TYPE)),
        (bytes, Keeps::Pairs(u64::TYPE)),
        (Selector::first_of_run::<Triple>(), Keeps::Pairs(Rgb::TYPE)),
        (upper(), Keeps::Pairs(u16::TYPE)),
    ]
}

const RESTS: [Rest; 3] = [Rest::Dropped, Rest::Apart, Rest::Behind];

fn upper() -> Selector {
    Selector::of::<u32, _>(Upper)
}

/// Selections that differ in predicate, rest and placement.
fn selections() -> [(Selector, Rest, Placement); 5] {
    [
        (upper(), Rest::Dropped, Placement::Aligned),
        (Selector::of::<Triple, _>(OddBits), Rest::Apart, Placement::Odd),
        (Selector::of::<u64, _>(Few), Rest::Behind, Placement::Odd),
        (Selector::of::<u8, _>(Upper), Rest::Apart, Placement::Odd),
        (Selector::of::<f32, _>(Upper), Rest::Apart, Placement::Aligned),
    ]
}

/// The input of a selection.
pub(super) fn input(request: &Request, distribution: Distribution, random: &mut Random) -> Option<Inputs> {
    let Request::Select(r) = request else { return None };
    let asked = inputs::items(r.selector.element(), distribution, r.n, random);
    let values = r.keeps.value().map(|value| inputs::items(value, Distribution::Uniform, r.n, random));
    Some((asked, Some(values.unwrap_or_default())))
}

impl Table<'_> {
    pub(super) fn selections(&mut self) {
        self.select_matrix();
        self.select_meanings();
        self.select_sizes();
        self.select_distributions();
        self.select_specials();
        self.select_first_of_runs();
        self.select_others();
        self.select_faults();
        self.select_reuse();
        self.select_in_place();
        self.select_large();
        let sizes = (0..64).map(|i| (i * 613) % 9001);
        let rows = sizes.zip(RESTS.into_iter().cycle()).map(|(n, rest)| Row::new(select(&upper(), rest, n)));
        self.push("queue/select/64".into(), Body::Queue(rows.collect()));
    }

    fn select_matrix(&mut self) {
        for selector in operators::selectors() {
            for rest in RESTS {
                for (n, placement) in [(777, Placement::Odd), (5003, Placement::Aligned)] {
                    self.by_algorithm(Row::new(select(&selector, rest, n)).placement(placement));
                }
            }
        }
    }

    /// What a predicate's text means wherever it runs.
    fn select_meanings(&mut self) {
        for (selector, n) in operators::capturing_selectors().into_iter().zip(5003..) {
            for rest in RESTS {
                // Of two that differ in their values alone rows have one name.
                self.by_algorithm(Row::new(select(&selector, rest, n)).placement(Placement::Odd));
            }
        }
        // Values of one kernel behind each other.
        let [low, high, _] = operators::capturing_selectors();
        let rows = [&low, &high, &low, &high].map(|selector| Row::new(select(selector, Rest::Apart, 3001)));
        self.push("queue/select/captures".into(), Body::Queue(rows.into()));
        for selector in meanings::guarded_selectors() {
            let row = Row::new(select(&selector, Rest::Dropped, 5003));
            self.by_first(row.clone());
            if matches!(selector.element(), ElementType::Scalar(scalar) if scalar.is_float()) {
                self.by_first(row.distribution(Distribution::Specials));
            }
        }
    }

    fn select_sizes(&mut self) {
        for (selector, rest, placement) in selections().into_iter().take(4) {
            let row = |n| Row::new(select(&selector, rest, n)).placement(placement).tiles(Tiles::Small);
            for n in self.edges(&row(1 << 20)) {
                self.by_first(row(n));
            }
        }
        let row = |n| Row::new(select(&upper(), Rest::Apart, n));
        for n in self.edges(&row(1 << 20)) {
            self.by_algorithm(row(n));
        }
    }

    fn select_distributions(&mut self) {
        use Distribution::{Alternating, Constant, Reversed, Runs, Sorted};
        for distribution in [Alternating, Constant, Sorted, Reversed, Runs] {
            for (selector, rest, placement) in selections() {
                let row = Row::new(select(&selector, rest, 20_011)).placement(placement);
                self.by_algorithm(row.distribution(distribution).tiles(Tiles::Small));
            }
        }
    }

    /// Elements keep their bits, whatever they are as numbers.
    fn select_specials(&mut self) {
        let halves = [Selector::of::<f16, _>(Signed), Selector::of::<bf16, _>(Signed)];
        for selector in [Selector::of::<f32, _>(Signed)].into_iter().chain(halves) {
            let row = Row::new(select(&selector, Rest::Apart, 5003));
            self.by_algorithm(row.distribution(Distribution::Specials));
        }
    }

    /// The first of each run, whose elements ask those of the block and the tile before theirs.
    fn select_first_of_runs(&mut self) {
        use Distribution::{Alternating, Constant, Runs, Specials, Uniform};
        for (i, selector) in operators::first_of_runs().into_iter().enumerate() {
            let row = |rest, n| Row::new(select(&selector, rest, n)).tiles(Tiles::Small);
            let placement = [Placement::Aligned, Placement::Odd][i % 2];
            for rest in RESTS {
                self.by_algorithm(row(rest, 5003).placement(placement).distribution(Runs));
            }
            for distribution in [Alternating, Constant, Specials, Uniform] {
                self.by_algorithm(row(RESTS[i % 3], 20_011).placement(placement).distribution(distribution));
            }
            for fault in [Fault::Silent(3), Fault::Late(5)] {
                self.by_first(row(Rest::Dropped, 20_011).distribution(Runs).fault(fault));
            }
        }
        let [words, bytes, ..] = operators::first_of_runs();
        for selector in [words, bytes] {
            let row =
                |n| Row::new(select(&selector, Rest::Apart, n)).distribution(Distribution::Runs).tiles(Tiles::Small);
            for n in self.edges(&row(1 << 20)) {
                self.by_algorithm(row(n));
            }
            self.by_algorithm(row(200_003));
            self.by_algorithm(row(6007).runs(5).keeps_scratch());
            let staged = Tiles::Numbers(vec![("select_staged_from", 1)]);
            self.by_first(Row::new(select(&selector, Rest::Dropped, 20_011)).distribution(Runs).tiles(staged));
        }
    }

    /// Indices, and values of all sizes, by flags and beside keys.
    fn select_others(&mut self) {
        let rows = kept_otherwise();
        for (i, (selector, keeps)) in rows.into_iter().enumerate() {
            let rests: &[Rest] = if let Keeps::Pairs(_) = keeps { &[Rest::Dropped] } else { &RESTS };
            let request = |rest, n| keeping(&selector, rest, keeps.clone(), n);
            let distribution =
                [Distribution::Uniform, Distribution::Runs][usize::from(selector.asks() == Asks::Neighbours)];
            let placement = |i: usize| [Placement::Aligned, Placement::Odd][i % 2];
            for (j, &rest) in rests.iter().enumerate() {
                let row = |n| Row::new(request(rest, n)).distribution(distribution).placement(placement(i + j));
                self.by_algorithm(row(5003));
                self.by_algorithm(row(20_011).tiles(Tiles::Small));
            }
            let row = |n| Row::new(request(Rest::Dropped, n)).distribution(distribution);
            for fault in [Fault::Silent(3), Fault::Late(5)] {
                self.by_first(row(20_011).tiles(Tiles::Small).fault(fault));
            }
            self.by_first(row(20_011).tiles(Tiles::Numbers(vec![("select_staged_from", 1)])));
            self.by_first(row(6007).tiles(Tiles::Small).runs(5).keeps_scratch());
            for n in [1, 2] {
                self.by_algorithm(row(n).placement(placement(i + 1)));
            }
        }
    }

    fn select_faults(&mut self) {
        for (selector, rest, placement) in selections().into_iter().filter(|(_, rest, _)| *rest != Rest::Behind) {
            let row = |n, tiles| Row::new(select(&selector, rest, n)).placement(placement).tiles(tiles);
            for fault in [Fault::Silent(3), Fault::Silent(1), Fault::Late(5)] {
                self.by_first(row(20_011, Tiles::Small).fault(fault));
                self.by_first(row(20_011, Tiles::Shipped).fault(fault));
            }
            // Elements in workgroup memory meanwhile.
            let staged = || Tiles::Numbers(vec![("select_staged_from", 1)]);
            self.by_first(row(20_011, staged()));
            self.by_first(row(20_011, staged()).fault(Fault::Silent(3)));
            for fault in [Fault::None, Fault::Late(5)] {
                self.by_first(row(20_011, Tiles::Small).fault(fault).waiting(Waiting::Unbounded));
            }
        }
    }

    fn select_reuse(&mut self) {
        for (selector, rest, placement) in selections() {
            let row = Row::new(select(&selector, rest, 6007)).placement(placement).tiles(Tiles::Small);
            self.by_algorithm(row.clone().runs(5));
            self.by_algorithm(row.clone().runs(5).keeps_scratch());
            self.by_first(row.fault(Fault::Silent(3)).runs(5).keeps_scratch());
        }
        // More runs than a ticket has epochs.
        self.by_first(Row::new(select(&upper(), Rest::Dropped, 6007)).runs(300).keeps_scratch());
    }

    /// What is kept, and what is not, in the place of the input: by predicates, by neighbours, by pairs.
    fn select_in_place(&mut self) {
        let [words, bytes, ..] = operators::first_of_runs();
        let selectors = [upper(), Selector::of::<Triple, _>(OddBits), Selector::of::<u8, _>(Upper), words, bytes];
        for (i, selector) in selectors.iter().enumerate() {
            let runs = selector.asks() == Asks::Neighbours;
            for (j, rest) in RESTS.into_iter().enumerate() {
                let placement = [Placement::InPlace, Placement::OddInPlace][(i + j) % 2];
                let row = |n| Row::new(select(selector, rest, n)).placement(placement).tiles(Tiles::Small);
                for n in [0, 1, 777, 20_011] {
                    let distribution = if runs { Distribution::Runs } else { Distribution::Uniform };
                    self.by_algorithm(row(n).distribution(distribution));
                }
                self.by_algorithm(row(6007).runs(5).keeps_scratch());
            }
        }
        for (n, distribution) in [(200_003, Distribution::Uniform), (200_003, Distribution::Sorted)] {
            let row = Row::new(select(&upper(), Rest::Dropped, n)).placement(Placement::InPlace);
            self.by_algorithm(row.distribution(distribution));
        }
        for keeps in [Keeps::Indices, Keeps::Pairs(u16::TYPE), Keeps::Pairs(Rgb::TYPE)] {
            let row = Row::new(keeping(&upper(), Rest::Dropped, keeps, 5003));
            self.by_algorithm(row.placement(Placement::InPlace));
        }
    }

    fn select_large(&mut self) {
        let sizes: &[u64] = if self.level == Level::Quick { &[200_003] } else { &[200_003, (1 << 24) + 3] };
        for &n in sizes {
            for rest in RESTS {
                if self.fits(8 * n) {
                    self.by_algorithm(Row::new(select(&upper(), rest, n)));
                }
            }
        }
        // Of 2^24 elements at least, which are many for a software device: the quick level has run lengths past the fold.
        if self.level == Level::Full {
            for rest in RESTS {
                self.past_the_fold(|n| Row::new(select(&upper(), rest, n)));
            }
            let [first, ..] = operators::first_of_runs();
            self.past_the_fold(|n| Row::new(select(&first, Rest::Dropped, n)));
            for (selector, keeps) in [0, 3, 9].map(|i| kept_otherwise().swap_remove(i)) {
                self.past_the_fold(|n| Row::new(keeping(&selector, Rest::Dropped, keeps.clone(), n)));
            }
        }
    }
}

/// Rows whose results two devices are compared in.
pub(super) fn shared_rows(n: u64) -> Vec<Row> {
    selections().map(|(selector, rest, _)| Row::new(select(&selector, rest, n))).into()
}
