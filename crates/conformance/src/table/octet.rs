//! Rows of an element of eight words: more than a tile of registers or a compiler of exchanges between lanes takes lightly.

use std::borrow::Cow;

use trifold_core::{Element, Fault, Monoid, Op, Order, Scalar, ScanKind, element};

use super::{Table, by_key, reduce, scan, sort};
use crate::case::Level;
use crate::inputs::Distribution;
use crate::row::{Placement, Row, Tiles};

element! {
    /// Two matrices of two rows.
    pub(crate) struct Matrices { pub a: u32, pub b: u32, pub c: u32, pub d: u32, pub e: u32, pub f: u32, pub g: u32, pub h: u32 }
}

/// Both products from left to right; does not commute.
#[derive(Clone)]
pub(crate) struct Product;
impl Monoid<Matrices> for Product {
    fn name(&self) -> Cow<'static, str> {
        "matrix product".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "\
        fn combine(l: T, r: T) -> T {\n  return T(\n\
            l.a * r.a + l.b * r.c, l.a * r.b + l.b * r.d, l.c * r.a + l.d * r.c, l.c * r.b + l.d * r.d,\n\
            l.e * r.e + l.f * r.g, l.e * r.f + l.f * r.h, l.g * r.e + l.h * r.g, l.g * r.f + l.h * r.h);\n}"
            .into()
    }
    fn identity(&self) -> Matrices {
        Matrices { a: 1, b: 0, c: 0, d: 1, e: 1, f: 0, g: 0, h: 1 }
    }
    fn combine(&self, l: Matrices, r: Matrices) -> Matrices {
        let [a, b, c, d] = multiplied([l.a, l.b, l.c, l.d], [r.a, r.b, r.c, r.d]);
        let [e, f, g, h] = multiplied([l.e, l.f, l.g, l.h], [r.e, r.f, r.g, r.h]);
        Matrices { a, b, c, d, e, f, g, h }
    }
}

fn multiplied([a, b, c, d]: [u32; 4], [e, f, g, h]: [u32; 4]) -> [u32; 4] {
    let dot = |x: u32, y: u32, z: u32, w: u32| x.wrapping_mul(y).wrapping_add(z.wrapping_mul(w));
    [dot(a, e, b, g), dot(a, f, b, h), dot(c, e, d, g), dot(c, f, d, h)]
}

/// The product, erased.
pub(crate) fn product() -> Op {
    Op::of::<Matrices, _>(Product)
}

impl Table<'_> {
    pub(super) fn octets(&mut self) {
        let op = product();
        let scanned = |kind, n| Row::new(scan(&op, kind, n));
        self.by_algorithm(scanned(ScanKind::Inclusive, 5003));
        self.by_first(scanned(ScanKind::Exclusive, 777).placement(Placement::Odd));
        self.row(scanned(ScanKind::Exclusive, 5003).placement(Placement::InPlace));
        for fault in [Fault::None, Fault::Silent(3)] {
            self.by_first(scanned(ScanKind::Exclusive, 20_011).tiles(Tiles::Small).fault(fault));
        }
        let reduced = Row::new(reduce(&op, 20_011));
        match self.level {
            Level::Full => self.by_algorithm(reduced),
            Level::Quick => self.by_first(reduced),
        }
        for key in [u32::TYPE, Matrices::TYPE] {
            let row = Row::new(by_key(&key, Some(op.clone()), 5003)).distribution(Distribution::Runs);
            self.by_algorithm(row.clone());
            self.by_first(row.tiles(Tiles::Small).fault(Fault::Silent(3)));
        }
        self.by_first(Row::new(sort(Scalar::U32, Some(Matrices::TYPE), Order::Ascending, 5003)));
    }
}
