//! Rows of scatter.

use trifold_core::{ElementType, Request, Scalar, ScatterRequest};

use super::{Inputs, Table, value_types};
use crate::case::Level;
use crate::inputs::{self, Distribution, Random};
use crate::row::{Placement, Row};

pub(crate) fn scatter(element: impl Into<ElementType>, n: u64, room: u64) -> Request {
    Request::Scatter(ScatterRequest { element: element.into(), n, room })
}

/// The values, and indices of which each place has one: the others are past the end.
pub(super) fn input(request: &Request, _: Distribution, random: &mut Random) -> Option<Inputs> {
    let Request::Scatter(r) = request else { return None };
    let mut places: Vec<(u64, u32)> = (0..r.n as u32).map(|place| (random.next(), place)).collect();
    places.sort_unstable();
    let indices = places.into_iter().flat_map(|(_, place)| place.to_le_bytes()).collect();
    Some((inputs::any(&r.element, r.n, random), Some(indices)))
}

impl Table<'_> {
    pub(super) fn scatters(&mut self) {
        let [.., v12] = value_types();
        for placement in [Placement::Aligned, Placement::Odd] {
            for element in Scalar::ALL.map(ElementType::from).into_iter().chain([v12.clone()]) {
                self.row(Row::new(scatter(element.clone(), 5003, 5003)).placement(placement));
                self.row(Row::new(scatter(element, 5003, 1200)).placement(placement));
            }
            let row = |n| Row::new(scatter(Scalar::U32, n, n)).placement(placement);
            for n in self.edges(&row(1 << 20)) {
                self.row(row(n));
            }
        }
        if self.level == Level::Full {
            self.past_the_fold(|n| Row::new(scatter(Scalar::U32, n, 1 << 10)));
        }
    }
}
