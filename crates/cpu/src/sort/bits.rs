//! Keys as unsigned integers of the same order.

use rdst::RadixKey;
use trifold_core::{KeyImage, Order, ScalarKind};

use super::CARRIED;
use crate::radix::Word;

/// How keys compare.
#[derive(Clone, Copy)]
pub(crate) struct KeyOrder {
    kind: ScalarKind,
    descending: bool,
}

impl KeyOrder {
    /// If the key is one scalar of 1, 2, 4 or 8 bytes.
    pub(crate) fn of(image: &KeyImage) -> Option<KeyOrder> {
        let [field] = image.fields[..] else { return None };
        matches!(image.bytes, 1 | 2 | 4 | 8)
            .then(|| KeyOrder { kind: field.scalar.kind(), descending: field.order == Some(Order::Descending) })
    }

    /// Whether keys compare as their bits do.
    pub(super) fn is_plain(self) -> bool {
        self.kind == ScalarKind::Unsigned && !self.descending
    }
}

/// Key bits: u8, u16, u32 or u64.
pub(crate) trait Bits: Word + RadixKey {
    const WIDTH: u32;
    /// Such bits above 32 others.
    type Pair: Word;
    /// Bits that compare, as unsigned integers, as the keys do in the wanted order.
    ///
    /// Signed integers have their sign flipped. Floats have it flipped if they are positive and all bits flipped if
    /// negative, which is IEEE 754's total order. Descending is the complement.
    fn encode(self, order: KeyOrder) -> Self;
    /// The key of these bits.
    fn decode(self, order: KeyOrder) -> Self;
    /// These bits with so many of the lowest moved above the others.
    fn turned(self, bits: u32) -> Self;
    /// Bits that were turned, as they were before.
    fn turned_back(self, bits: u32) -> Self;
    /// These bits above others.
    fn with(self, carried: u32) -> Self::Pair;
    /// Both of a pair.
    fn of_pair(pair: Self::Pair) -> (Self, u32);
}

macro_rules! bits {
    ($ty:ident, $signed:ident, $pair:ident) => {
        impl Bits for $ty {
            const WIDTH: u32 = $ty::BITS;
            type Pair = $pair;
            #[inline]
            fn turned(self, bits: u32) -> $ty {
                self.rotate_right(bits)
            }
            #[inline]
            fn turned_back(self, bits: u32) -> $ty {
                self.rotate_left(bits)
            }
            #[inline]
            fn with(self, carried: u32) -> $pair {
                $pair::from(self) << CARRIED | $pair::from(carried)
            }
            #[inline]
            fn of_pair(pair: $pair) -> ($ty, u32) {
                ((pair >> CARRIED) as $ty, pair as u32)
            }
            #[inline]
            fn encode(self, order: KeyOrder) -> $ty {
                const SIGN: $ty = 1 << ($ty::BITS - 1);
                let bits = match order.kind {
                    ScalarKind::Unsigned => self,
                    ScalarKind::Signed => self ^ SIGN,
                    ScalarKind::Float => self ^ ((((self as $signed) >> ($ty::BITS - 1)) as $ty) | SIGN),
                };
                if order.descending { !bits } else { bits }
            }
            #[inline]
            fn decode(self, order: KeyOrder) -> $ty {
                const SIGN: $ty = 1 << ($ty::BITS - 1);
                let bits = if order.descending { !self } else { self };
                match order.kind {
                    ScalarKind::Unsigned => bits,
                    ScalarKind::Signed => bits ^ SIGN,
                    ScalarKind::Float => bits ^ (!(((bits as $signed) >> ($ty::BITS - 1)) as $ty) | SIGN),
                }
            }
        }
    };
}
bits!(u8, i8, u64);
bits!(u16, i16, u64);
bits!(u32, i32, u64);
bits!(u64, i64, u128);
