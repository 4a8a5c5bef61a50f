//! Rows of histogram.

use trifold_core::{Builtin, HistogramRequest, Request, Scalar, forms};

use super::{Inputs, Table};
use crate::case::Level;
use crate::inputs::{self, Distribution, Random};
use crate::row::{Placement, Row};

pub(crate) fn histogram(bins: u64, n: u64) -> Request {
    weighted(None, bins, n)
}

pub(crate) fn weighted(weight: Option<Scalar>, bins: u64, n: u64) -> Request {
    Request::Histogram(HistogramRequest { bins, n, weight })
}

/// Bins, an eighth of them past the last one, and weights.
pub(super) fn input(request: &Request, distribution: Distribution, random: &mut Random) -> Option<Inputs> {
    let Request::Histogram(r) = request else { return None };
    let hot = random.next() % r.bins;
    let bin = |_| {
        let x = random.next();
        match distribution {
            Distribution::Constant => hot as u32,
            _ if x.is_multiple_of(8) => (r.bins + (x >> 32) % 9) as u32,
            _ if x % 1009 == 1 => u32::MAX,
            _ => ((x >> 20) % r.bins) as u32,
        }
    };
    let bins = (0..r.n).map(bin).flat_map(u32::to_le_bytes).collect();
    let weights = r.weight.map(|scalar| inputs::items(&scalar.into(), distribution, r.n, random));
    Some((bins, weights))
}

impl Table<'_> {
    pub(super) fn histograms(&mut self) {
        for placement in [Placement::Aligned, Placement::Odd] {
            for bins in [1, 2, 3, 255, 256, 1000, 2000] {
                self.by_algorithm(Row::new(histogram(bins, 20_011)).placement(placement));
            }
            // More than workgroup memory has room for.
            self.by_algorithm(Row::new(histogram(70_001, 20_011)).placement(placement));
            self.by_algorithm(Row::new(histogram(1 << 20, 5003)).placement(placement));
            let row = |n| Row::new(histogram(300, n)).placement(placement);
            for n in self.edges(&row(1 << 20)) {
                self.by_algorithm(row(n));
            }
        }
        for distribution in [Distribution::Constant, Distribution::Uniform] {
            self.by_algorithm(Row::new(histogram(256, 200_003)).distribution(distribution));
        }
        // By the maps that make bins.
        for scalar in Scalar::ALL {
            for form in [&forms::HISTOGRAM, &forms::WEIGHTED_HISTOGRAM, &forms::HISTOGRAM_BY_EDGES] {
                if let Ok(request) = form.request(scalar, Builtin::Sum, 5003) {
                    self.by_algorithm(Row::new(request));
                }
            }
        }
        for scalar in [Scalar::U32, Scalar::I32, Scalar::F32] {
            for placement in [Placement::Aligned, Placement::Odd] {
                for (bins, n) in [(1, 777), (255, 20_011), (300, 0), (300, 1), (70_001, 5003)] {
                    self.by_algorithm(Row::new(weighted(Some(scalar), bins, n)).placement(placement));
                }
            }
            self.by_algorithm(Row::new(weighted(Some(scalar), 100, 6007)).runs(5));
        }
        let row = Row::new(histogram(100, 6007));
        self.by_algorithm(row.clone().runs(5));
        self.by_algorithm(row.runs(5).keeps_scratch());
        if self.level == Level::Full {
            self.by_algorithm(Row::new(histogram(1 << 20, (1 << 24) + 3)));
        }
    }
}
