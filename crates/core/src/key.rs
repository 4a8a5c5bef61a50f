//! How a sort orders keys: by their images, unsigned integers that follow from the keys' bits.

use std::ops::Range;

use crate::{ElementType, Error, Order, Result, Scalar, ScalarKind};

/// The most bytes that a key has.
pub const MAX_KEY_BYTES: u32 = 16;

/// What the start of keys of so many bytes is a multiple of: kernels load a key whole where it has the size of a vector.
pub fn key_align(bytes: u32) -> u32 {
    if bytes.is_power_of_two() { bytes } else { 4 }
}

/// How keys become unsigned integers that are ordered as the keys are, and these keys again.
///
/// Every bit of a key is in its image, so that an image leads back to its key. The fields that order the keys are the
/// highest bits, the first field above the others. Fields that only move with the key lie below them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeyImage {
    /// Bytes of a key.
    pub bytes: u32,
    /// Its fields, the lowest in the image first.
    pub fields: Vec<KeyField>,
    /// The bits of the image that are compared.
    pub bits: Range<u32>,
}

/// A scalar of a key, and its place in the image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyField {
    /// Its type.
    pub scalar: Scalar,
    /// Its lowest bit in the key.
    pub from: u32,
    /// Its lowest bit in the image.
    pub to: u32,
    /// In which order it is compared; `None` if it only moves with the key.
    pub order: Option<Order>,
}

impl KeyImage {
    /// The image of an element's values: of a scalar all bits, of a struct those of its key fields.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a struct without a key field, [`Error::Unsupported`] for a key of more than
    /// [`MAX_KEY_BYTES`].
    pub fn new(element: &ElementType, order: Order) -> Result<KeyImage> {
        let bytes = element.bytes();
        if bytes > MAX_KEY_BYTES {
            return Err(Error::Unsupported(format!(
                "keys of type {}, which has {bytes} bytes; a key has at most {MAX_KEY_BYTES}: sort by the fields that \
                 order it, and carry the whole as a value",
                element.name()
            )));
        }
        if bytes > 2 && !bytes.is_multiple_of(4) {
            return Err(Error::Unsupported(format!(
                "keys of type {}, which has {bytes} bytes; a key has 1, 2 or a multiple of 4: add a field",
                element.name()
            )));
        }
        let fields = match element {
            ElementType::Scalar(scalar) => vec![(*scalar, 0, Some(Order::Ascending))],
            ElementType::Struct { fields, .. } => {
                fields.iter().map(|field| (field.scalar, 8 * field.offset, field.key)).collect()
            }
        };
        if fields.iter().all(|(.., key)| key.is_none()) {
            return Err(Error::Invalid(format!(
                "keys of type {}, none of whose fields orders them; mark fields of it with #[key]",
                element.name()
            )));
        }
        let (keys, moved): (Vec<_>, Vec<_>) = fields.into_iter().partition(|(.., key)| key.is_some());
        let (mut to, mut first) = (0, 0);
        let mut placed = vec![];
        for (scalar, from, key) in moved.into_iter().chain(keys.into_iter().rev()) {
            if key.is_none() {
                first = to + 8 * scalar.bytes();
            }
            placed.push(KeyField { scalar, from, to, order: key.map(|key| key.then(order)) });
            to += 8 * scalar.bytes();
        }
        Ok(KeyImage { bytes, fields: placed, bits: first..to })
    }

    /// The image of a scalar's values, of which these bits alone are compared, bit 0 the least.
    ///
    /// # Errors
    /// As of [`KeyImage::new`], and [`Error::Invalid`] for no bits, for bits that a key does not have, and for a struct.
    pub fn of_bits(element: &ElementType, order: Order, bits: Range<u32>) -> Result<KeyImage> {
        let Range { start, end } = bits;
        let refuse = |why: String| Err(Error::Invalid(format!("a sort by the bits {start}..{end}{why}")));
        let image = KeyImage::new(element, order)?;
        match element {
            ElementType::Struct { name, .. } => refuse(format!(
                " of keys of type {name}, which is a struct; bits are for scalars: leave them out, or take a struct of \
                 other fields"
            )),
            _ if start >= end => refuse(", which are none; give at least one".into()),
            _ if end > 8 * image.bytes => {
                let have = 8 * image.bytes;
                refuse(format!(" of keys that have {have}; end at {have} at most"))
            }
            _ => Ok(KeyImage { bits: start..end, ..image }),
        }
    }

    /// 32-bit words that hold an image.
    pub fn words(&self) -> u32 {
        self.bytes.div_ceil(4)
    }

    /// How many bits are compared.
    pub fn width(&self) -> u32 {
        self.bits.end - self.bits.start
    }

    /// Whether keys compare as their bits do, all of them.
    pub fn is_plain(&self) -> bool {
        let all = self.bits == (0..8 * self.bytes);
        all && self.fields.iter().all(|field| {
            field.from == field.to
                && field.order == Some(Order::Ascending)
                && field.scalar.kind() == ScalarKind::Unsigned
        })
    }

    /// A key's image.
    ///
    /// # Panics
    /// If the key has other than the image's bytes.
    pub fn of(&self, key: &[u8]) -> u128 {
        let bits = word(key);
        self.fields.iter().fold(0, |image, field| image | field.encode(bits >> field.from) << field.to)
    }

    /// The bytes of the key of an image, followed by zeros.
    pub fn key(&self, image: u128) -> [u8; MAX_KEY_BYTES as usize] {
        let bits = self.fields.iter().fold(0, |bits, field| bits | field.decode(image >> field.to) << field.from);
        u128::to_le_bytes(bits)
    }

    /// The part of an image that is compared.
    pub fn compared(&self, image: u128) -> u128 {
        image >> self.bits.start & (u128::MAX >> (128 - self.width()))
    }
}

impl KeyField {
    /// The bits that change in an image, of those of a field that is negative or not.
    fn flips(&self, negative: bool) -> u128 {
        let all = u128::MAX >> (128 - 8 * self.scalar.bytes());
        let sign = all ^ all >> 1;
        let Some(order) = self.order else { return 0 };
        let ascending = match self.scalar.kind() {
            ScalarKind::Unsigned => 0,
            ScalarKind::Signed => sign,
            ScalarKind::Float if negative => all,
            ScalarKind::Float => sign,
        };
        if order == Order::Descending { !ascending & all } else { ascending }
    }

    /// Whether the highest bit of a field is set.
    fn is_high(&self, bits: u128) -> bool {
        bits >> (8 * self.scalar.bytes() - 1) & 1 == 1
    }

    /// The field's part of an image, from bits of which those above the field do not count.
    fn encode(&self, bits: u128) -> u128 {
        let bits = bits & u128::MAX >> (128 - 8 * self.scalar.bytes());
        bits ^ self.flips(self.is_high(bits))
    }

    fn decode(&self, image: u128) -> u128 {
        let image = image & u128::MAX >> (128 - 8 * self.scalar.bytes());
        // The highest bit changes in any case, unless the order is descending.
        image ^ self.flips(self.is_high(image) == (self.order == Some(Order::Descending)))
    }
}

/// Up to sixteen bytes as a number, the first the lowest.
fn word(bytes: &[u8]) -> u128 {
    let mut word = [0; MAX_KEY_BYTES as usize];
    word[..bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Element, Number, for_scalar};

    crate::element! {
        struct Alone {
            #[key]
            to: u32,
        }
    }

    crate::element! {
        struct Edge {
            #[key]
            to: u16,
            #[key(descending)]
            from: i16,
            id: u32,
            #[key]
            weight: f32,
        }
    }

    #[test]
    fn images_of_scalars_are_ranks_and_lead_back() {
        for scalar in Scalar::ALL {
            let ascending = KeyImage::new(&ElementType::Scalar(scalar), Order::Ascending).unwrap();
            let descending = KeyImage::new(&ElementType::Scalar(scalar), Order::Descending).unwrap();
            for_scalar!(scalar, T => {
                for bits in [0, 1, 0x5a5a, 0x7f80_0001, 1 << 127, u128::MAX, 0x1234_5678_9abc_def0_0fed_cba9_8765_4321] {
                    let x = T::of_bits(bits);
                    let bytes = bytemuck::bytes_of(&x);
                    assert_eq!(ascending.of(bytes), x.rank(), "{x:?}");
                    assert_eq!(descending.of(bytes), !x.rank() & u128::MAX >> (128 - 8 * scalar.bytes()), "{x:?}");
                    for image in [&ascending, &descending] {
                        assert_eq!(&image.key(image.of(bytes))[..bytes.len()], bytes);
                    }
                }
            });
        }
    }

    #[test]
    fn fields_order_from_the_first_on_each_in_its_own_direction() {
        let edge = |to, from, weight, id| Edge { to, from, weight, id };
        let ordered =
            [edge(1, 9, 2.0, 7), edge(1, -3, 1.0, 9), edge(1, -3, 1.5, 2), edge(2, 0, -1.0, 8), edge(2, 0, -0.0, 0)];
        let image = KeyImage::new(&Edge::TYPE, Order::Ascending).unwrap();
        assert_eq!(image.bits, 32..96);
        let of = |edge: &Edge| image.of(bytemuck::bytes_of(edge));
        assert!(ordered.windows(2).all(|w| image.compared(of(&w[0])) < image.compared(of(&w[1]))));
        assert!(ordered.iter().all(|edge| image.key(of(edge))[..12] == *bytemuck::bytes_of(edge)));
        assert_eq!(image.compared(of(&edge(1, 1, 1.0, 5))), image.compared(of(&edge(1, 1, 1.0, 6))));
        let reversed = KeyImage::new(&Edge::TYPE, Order::Descending).unwrap();
        let of = |edge: &Edge| reversed.compared(reversed.of(bytemuck::bytes_of(edge)));
        assert!(ordered.windows(2).all(|w| of(&w[0]) > of(&w[1])));
    }

    #[test]
    fn bits_are_refused_that_a_key_does_not_have() {
        let of = |bits| KeyImage::of_bits(&u32::TYPE, Order::Ascending, bits);
        assert_eq!(of(8..32).unwrap().compared(0x1234_5678), 0x0012_3456);
        for (start, end, why) in [(4, 4, "which are none"), (8, 4, "which are none"), (0, 33, "of keys that have 32")] {
            assert!(of(start..end).is_err_and(|error| error.to_string().contains(why)));
        }
        for element in [Edge::TYPE, Alone::TYPE] {
            let bits = KeyImage::of_bits(&element, Order::Ascending, 0..8);
            assert!(bits.is_err_and(|error| error.to_string().contains("bits are for scalars")));
        }
    }
}
