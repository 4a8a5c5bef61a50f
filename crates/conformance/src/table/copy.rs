//! Rows of copy.

use trifold_core::{CopyRequest, ElementType, Request, Scalar};

use super::{Inputs, Table};
use crate::case::Level;
use crate::inputs::{self, Distribution, Random};
use crate::row::{Placement, Row};

fn copy(scalar: Scalar, n: u64) -> Request {
    Request::Copy(CopyRequest { element: ElementType::Scalar(scalar), n })
}

/// The input of a copy.
pub(super) fn input(request: &Request, _: Distribution, random: &mut Random) -> Option<Inputs> {
    let Request::Copy(r) = request else { return None };
    Some((inputs::any(&r.element, r.n, random), None))
}

impl Table<'_> {
    pub(super) fn copies(&mut self) {
        for placement in [Placement::Aligned, Placement::Odd] {
            for scalar in Scalar::ALL {
                self.row(Row::new(copy(scalar, 5003)).placement(placement));
            }
            let row = |n| Row::new(copy(Scalar::U32, n)).placement(placement);
            for n in self.edges(&row(1 << 20)) {
                self.row(row(n));
            }
        }
        if self.level == Level::Full {
            self.past_the_fold(|n| Row::new(copy(Scalar::U32, n)));
        }
    }
}
