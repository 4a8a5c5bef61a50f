//! Rows of reverse.

use trifold_core::{ElementType, Request, ReverseRequest, Scalar};

use super::{Inputs, Table};
use crate::case::Level;
use crate::inputs::{self, Distribution, Random};
use crate::row::{Placement, Row};

fn reverse(scalar: Scalar, n: u64) -> Request {
    Request::Reverse(ReverseRequest { element: ElementType::Scalar(scalar), n })
}

/// The input of a reversal.
pub(super) fn input(request: &Request, _: Distribution, random: &mut Random) -> Option<Inputs> {
    let Request::Reverse(r) = request else { return None };
    Some((inputs::any(&r.element, r.n, random), None))
}

/// Rows whose results two devices are compared in.
pub(super) fn shared_rows(n: u64) -> Vec<Row> {
    Scalar::ALL.map(|scalar| Row::new(reverse(scalar, n))).into()
}

impl Table<'_> {
    pub(super) fn reversals(&mut self) {
        for placement in [Placement::Aligned, Placement::Odd] {
            for scalar in Scalar::ALL {
                self.by_algorithm(Row::new(reverse(scalar, 5003)).placement(placement));
            }
            let row = |n| Row::new(reverse(Scalar::U32, n)).placement(placement);
            for n in self.edges(&row(1 << 20)) {
                self.by_first(row(n));
            }
        }
        if self.level == Level::Full {
            self.by_first(Row::new(reverse(Scalar::U32, (1 << 24) + 3)));
        }
    }
}
