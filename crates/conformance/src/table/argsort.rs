//! Rows of sorts that do not write the keys: places, and values alone.

use trifold_core::{Element, Fault, Order, Scalar, SortRequest};

use super::{Table, value_types};
use crate::case::Level;
use crate::inputs::Distribution;
use crate::operators::{Fields, Rgb};
use crate::row::{Placement, Row, Tiles};

impl Table<'_> {
    /// Places of keys, alone and with the keys in order.
    pub(super) fn argsorts(&mut self) {
        let keys = [Scalar::U32.into(), Scalar::U8.into(), Scalar::F64.into(), Fields::TYPE, Scalar::I128.into()];
        for (turn, key) in keys.into_iter().enumerate() {
            for writes_keys in [false, true] {
                let row = |n| {
                    let order = if turn % 2 == 1 { Order::Descending } else { Order::Ascending };
                    let mut request = SortRequest::argsort(key.clone(), n).in_order(order);
                    request.writes_keys = writes_keys;
                    Row::new(request.into())
                };
                for (n, placement) in [
                    (0, Placement::Aligned),
                    (1, Placement::Odd),
                    (300, Placement::Odd),
                    (5003, Placement::Odd),
                    (20_011, Placement::Aligned),
                ] {
                    match self.level {
                        Level::Quick if turn > 1 || n == 20_011 => self.by_first(row(n).placement(placement)),
                        _ => self.by_algorithm(row(n).placement(placement)),
                    }
                }
                for distribution in [Distribution::Constant, Distribution::Few, Distribution::Places(0b0101)] {
                    self.by_first(row(5003).distribution(distribution));
                }
                self.by_first(row(6007).runs(3));
            }
        }
        self.argsort_types();
        for n in self.large_sizes() {
            self.by_algorithm(Row::new(SortRequest::argsort(Scalar::U32.into(), n).into()));
        }
    }

    /// Places of keys of every type, and by some of their bits.
    fn argsort_types(&mut self) {
        for scalar in Scalar::ALL {
            for n in [301, 5003] {
                self.by_first(Row::new(SortRequest::argsort(scalar.into(), n).into()));
            }
        }
        let bits = [(Scalar::U32, 3..20), (Scalar::F32, 16..32), (Scalar::U64, 0..40), (Scalar::I128, 60..71)];
        for (key, bits) in bits {
            for (n, order) in [(301, Order::Ascending), (5003, Order::Descending)] {
                let request = SortRequest::argsort(key.into(), n).by_bits(bits.clone()).in_order(order);
                self.by_algorithm(Row::new(request.into()));
            }
        }
    }

    /// Values whose keys are not written.
    pub(super) fn values_alone(&mut self) {
        let [_, v8, v12] = value_types();
        let keys = [Scalar::U32.into(), Scalar::U8.into(), Scalar::F64.into(), Fields::TYPE];
        let values = [Scalar::U32.into(), Rgb::TYPE, v12, v8];
        for (turn, (key, value)) in keys.into_iter().zip(values).enumerate() {
            let row = |n| {
                let order = if turn % 2 == 1 { Order::Descending } else { Order::Ascending };
                let request = SortRequest::new(key.clone(), n).with(value.clone()).in_order(order);
                Row::new(request.without_keys().into())
            };
            for (n, placement) in
                [(0, Placement::Aligned), (1, Placement::Odd), (5003, Placement::Odd), (20_011, Placement::Aligned)]
            {
                self.by_algorithm(row(n).placement(placement));
            }
            self.by_first(row(6007).runs(3));
        }
        // By one digit, and by few bits of it.
        for bits in [0..8, 0..2, 7..17] {
            let row = |n| {
                Row::new(
                    SortRequest::new(Scalar::U32.into(), n).by_bits(bits.clone()).with(u32::TYPE).without_keys().into(),
                )
            };
            self.by_algorithm(row(20_011));
            self.by_first(row(200_003).tiles(Tiles::Small).fault(Fault::Silent(3)));
        }
    }
}
