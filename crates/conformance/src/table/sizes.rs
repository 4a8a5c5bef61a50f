//! Rows that are run for other numbers of elements than they were planned for.

use trifold_core::{
    Builtin, Element, Fault, Form, Gives, Keeps, Order, Request, Rest, Scalar, ScanKind, ScanRequest, Segments, Slot,
    UpperHalf, Wanted, forms, planner,
};

use super::{
    Table, builtin, by_key, histogram, keeping, kept_otherwise, offsets, reduce, scan, segmented, select, sort, top_k,
    value_types, weighted,
};
use crate::case::Body;
use crate::maps;
use crate::operators;
use crate::row::{Placement, Row, Tiles};
use crate::sizes::Sizes;

/// More runs than twice a state has epochs.
const RUNS: u32 = 600;
/// Many small tiles.
const MANY: u64 = 12_007;

/// A request of each form, and those whose states are of another kind.
pub(crate) fn requests(n: u64) -> Vec<Request> {
    let sum = builtin(Builtin::Sum, Scalar::U32);
    // A scatter of fewer elements leaves places as they were, which the oracle does not know. Views have rows of their own.
    let of_forms = Form::all()
        .filter(|form| **form != forms::SCATTER)
        .filter_map(|form| form.request(Scalar::U32, Builtin::Sum, n).ok());
    let mut requests: Vec<Request> = of_forms.filter(|request| request.views().is_empty()).collect();
    requests.extend([
        scan(&operators::compose(), ScanKind::Inclusive, n),
        scan(&operators::tally(), ScanKind::Exclusive, n),
        Request::Scan(ScanRequest { op: sum.clone(), n, kind: ScanKind::Exclusive, initial: None, total: true }),
        reduce(&operators::compose(), n),
        sort(Scalar::I64, None, Order::Descending, n),
        sort(Scalar::I8, None, Order::Descending, n),
        sort(Scalar::U32, Some(u32::TYPE), Order::Descending, n),
        sort(Scalar::F32, Some(value_types()[2].clone()), Order::Ascending, n),
        by_key(&u32::TYPE, Some(operators::tally()), n),
    ]);
    requests.extend([histogram(300, n), weighted(Some(Scalar::U32), 300, n)]);
    requests.push(top_k(Scalar::F32, Wanted::Pairs(value_types()[2].clone()), Order::Descending, 60, n));
    for (by, gives) in [
        (offsets(300), Gives::Total),
        (Segments::Rows(1), Gives::Prefixes(ScanKind::Inclusive)),
        (Segments::Keys(u32::TYPE), Gives::Prefixes(ScanKind::Exclusive)),
    ] {
        requests.push(segmented(&operators::compose(), by, gives, n));
    }
    requests.push(select(&operators::first_of_runs()[0], Rest::Dropped, n));
    requests.extend([0, 3, 9].map(|i| {
        let (selector, keeps) = kept_otherwise().swap_remove(i);
        keeping(&selector, Rest::Dropped, keeps, n)
    }));
    for selector in operators::selectors().into_iter().take(2) {
        requests.extend([Rest::Dropped, Rest::Apart, Rest::Behind].map(|rest| select(&selector, rest, n)));
    }
    requests
}

/// Whether what it gives may be where its elements were.
fn is_in_place(request: &Request) -> bool {
    match request {
        Request::Scan(_) => true,
        Request::Sort(sort) => !sort.by_place,
        Request::Select(select) => matches!(select.keeps, Keeps::Items | Keeps::Pairs(_)),
        Request::Segmented(segmented) => segmented.gives != Gives::Total,
        _ => false,
    }
}

impl Table<'_> {
    /// Each algorithm but the literature's: one plan for every size, with tiles that are blocked too, and plans up to a capacity.
    pub(super) fn sizes(&mut self) {
        self.sizes_of_views();
        for request in requests(MANY) {
            for algorithm in planner::algorithms(&request, self.caps) {
                if algorithm.is_reference {
                    continue;
                }
                let row = Row::new(request.clone()).algorithm(algorithm).tiles(Tiles::Small).keeps_scratch().runs(RUNS);
                let few = Row { request: request.with_n(100), ..row.clone() };
                let of_few = row.plan(self.caps, self.tuning).is_err();
                let row = if of_few { few } else { row };
                self.resized(&row, Sizes::OnePlan);
                let counted = row.clone().runs(60);
                self.resized(&counted, Sizes::OnDevice);
                if !of_few {
                    // With the numbers of rows that are shipped, compilers unroll what they do not in small tiles.
                    let shipped = Row::new(request.with_n(20_011)).algorithm(algorithm).keeps_scratch().runs(20);
                    self.resized(&shipped, Sizes::OnDevice);
                }
                if row.plan(self.caps, self.tuning).is_ok_and(|plan| plan.waiting_tiles() > 0) {
                    self.resized(&row.clone().fault(Fault::Silent(3)), Sizes::OnePlan);
                    self.resized(&row.clone().fault(Fault::Late(5)), Sizes::OnePlan);
                    self.resized(&counted.fault(Fault::Silent(3)), Sizes::OnDevice);
                }
                if !of_few {
                    self.resized(&row.runs(60), Sizes::UpTo);
                }
            }
            self.fewer(&Row::new(request.with_n(100_003)).keeps_scratch().runs(60));
            if is_in_place(&request) {
                let row = Row::new(request.with_n(5003)).placement(Placement::InPlace);
                self.fewer(&row.keeps_scratch().runs(60));
            }
        }
    }

    /// A view, whose leaves have as many elements as each run: by the device's first algorithm.
    fn sizes_of_views(&mut self) {
        let Ok(view) = maps::several() else { return };
        let sum = builtin(Builtin::Sum, Scalar::U32);
        let mut requests = vec![
            scan(&sum, ScanKind::Inclusive, MANY),
            reduce(&sum, MANY),
            sort(Scalar::U32, None, Order::Ascending, MANY),
            by_key(&u32::TYPE, None, MANY),
        ];
        requests.extend(UpperHalf::of(Scalar::U32).map(|upper| select(&upper, Rest::Dropped, MANY)));
        let viewed = requests.into_iter().map(|request| maps::of(&view, request, Slot::Input));
        let forms = [&forms::ADJACENT_DIFFERENCE, &forms::HISTOGRAM_BY_EDGES];
        let of_forms = forms.into_iter().filter_map(|form| form.request(Scalar::U32, Builtin::Sum, MANY).ok());
        for request in [view.with_n(MANY)].into_iter().chain(viewed).chain(of_forms) {
            let Some(&algorithm) = planner::algorithms(&request, self.caps).first() else { continue };
            let row = Row::new(request).algorithm(algorithm).tiles(Tiles::Small).keeps_scratch().runs(60);
            [Sizes::OnePlan, Sizes::UpTo, Sizes::OnDevice].into_iter().for_each(|sizes| self.resized(&row, sizes));
            if row.plan(self.caps, self.tuning).is_ok_and(|plan| plan.waiting_tiles() > 0) {
                let stuck = row.fault(Fault::Silent(3));
                [Sizes::OnePlan, Sizes::OnDevice].into_iter().for_each(|sizes| self.resized(&stuck, sizes));
            }
        }
    }

    /// Runs of fewer elements, as the host and as the device say.
    pub(super) fn fewer(&mut self, row: &Row) {
        [Sizes::UpTo, Sizes::OnDevice].into_iter().for_each(|sizes| self.resized(row, sizes));
    }

    pub(super) fn resized(&mut self, row: &Row, sizes: Sizes) {
        self.push(format!("{}/{}", row.name(), sizes.name()), Body::Sizes(row.clone().into(), sizes));
    }
}
