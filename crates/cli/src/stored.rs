//! Numbers as files hold them: narrower than calls compute with, of either order of bytes, or truth values.

use std::borrow::Cow;

use half::f16;
use trifold::types::{Scalar, ScalarKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Bool,
    Unsigned,
    Signed,
    Float,
}

/// A type of numbers in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    kind: Class,
    bytes: usize,
    big_endian: bool,
}

/// The types, little-endian, by their names.
const NAMED: [(&str, Class, usize); 12] = [
    ("u8", Class::Unsigned, 1),
    ("u16", Class::Unsigned, 2),
    ("u32", Class::Unsigned, 4),
    ("u64", Class::Unsigned, 8),
    ("i8", Class::Signed, 1),
    ("i16", Class::Signed, 2),
    ("i32", Class::Signed, 4),
    ("i64", Class::Signed, 8),
    ("f16", Class::Float, 2),
    ("f32", Class::Float, 4),
    ("f64", Class::Float, 8),
    ("bool", Class::Bool, 1),
];

impl Stored {
    /// All names, for errors.
    pub fn names() -> String {
        NAMED.map(|(name, ..)| name).join(", ")
    }

    pub fn from_name(name: &str) -> Option<Stored> {
        let known = NAMED.into_iter().find(|(known, ..)| *known == name);
        known.map(|(_, kind, bytes)| Stored { kind, bytes, big_endian: false })
    }

    pub fn of(scalar: Scalar) -> Stored {
        let kind = match scalar.kind() {
            ScalarKind::Unsigned => Class::Unsigned,
            ScalarKind::Signed => Class::Signed,
            ScalarKind::Float => Class::Float,
        };
        Stored { kind, bytes: scalar.bytes() as usize, big_endian: false }
    }

    /// Of a `.npy` header's `descr`, such as `<u4`, `>f8` or `|b1`.
    pub fn from_npy(descr: &str) -> Option<Stored> {
        let (order, code) = descr.split_at_checked(1)?;
        let (kind, bytes) = code.split_at_checked(1)?;
        let kind = match kind {
            "b" => Class::Bool,
            "u" => Class::Unsigned,
            "i" => Class::Signed,
            "f" => Class::Float,
            _ => return None,
        };
        let bytes: usize = bytes.parse().ok()?;
        let is_known = NAMED.iter().any(|(_, known, size)| (*known, *size) == (kind, bytes));
        // `=` and `|` are the machine's own order, which is little-endian.
        let is_order = matches!(order, "<" | ">" | "=") || order == "|" && bytes == 1;
        (is_known && is_order).then_some(Stored { kind, bytes, big_endian: order == ">" && bytes > 1 })
    }

    pub fn npy(self) -> String {
        let order = match (self.bytes, self.big_endian) {
            (1, _) => '|',
            (_, true) => '>',
            (_, false) => '<',
        };
        let kind = match self.kind {
            Class::Bool => 'b',
            Class::Unsigned => 'u',
            Class::Signed => 'i',
            Class::Float => 'f',
        };
        format!("{order}{kind}{}", self.bytes)
    }

    pub fn name(self) -> &'static str {
        let known = NAMED.iter().find(|(_, kind, bytes)| (*kind, *bytes) == (self.kind, self.bytes));
        known.map_or("?", |(name, ..)| name)
    }

    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// Elements with their lowest byte first.
    pub fn little_endian(self, elements: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
        if !self.big_endian {
            return elements;
        }
        let mut elements = elements.into_owned();
        elements.chunks_exact_mut(self.bytes).for_each(<[u8]>::reverse);
        elements.into()
    }

    /// As what a sort moves them, byte by byte: truth values as numbers.
    pub fn moved(self) -> Stored {
        if self.is_bool() { Stored { kind: Class::Unsigned, ..self } } else { self }
    }

    /// What a sort takes them as: the scalar of their own width.
    pub fn sorted(self) -> Scalar {
        let kind = match self.kind {
            Class::Bool | Class::Unsigned => ScalarKind::Unsigned,
            Class::Signed => ScalarKind::Signed,
            Class::Float => ScalarKind::Float,
        };
        // Each that a file may hold has one.
        Scalar::of(kind, self.bytes as u32).unwrap_or_else(|| self.scalar())
    }

    pub fn is_float(self) -> bool {
        self.kind == Class::Float
    }

    pub fn is_bool(self) -> bool {
        self.kind == Class::Bool
    }

    /// The same order of bytes where that matters, of another width. Truth values become unsigned numbers.
    pub fn widened(self, bytes: usize) -> Stored {
        let kind = if self.kind == Class::Bool { Class::Unsigned } else { self.kind };
        Stored { kind, bytes, ..self }
    }

    /// What calls compute with.
    pub fn scalar(self) -> Scalar {
        match (self.kind, self.bytes) {
            (Class::Bool | Class::Unsigned, 8) => Scalar::U64,
            (Class::Bool | Class::Unsigned, _) => Scalar::U32,
            (Class::Signed, 8) => Scalar::I64,
            (Class::Signed, _) => Scalar::I32,
            (Class::Float, 8) => Scalar::F64,
            (Class::Float, _) => Scalar::F32,
        }
    }

    /// The least and the most that an integer may be.
    pub fn range(self) -> (i128, i128) {
        let bits = 8 * self.bytes as u32;
        match self.kind {
            Class::Bool => (0, 1),
            Class::Signed => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            _ => (0, (1 << bits) - 1),
        }
    }

    /// An element's bits, the lowest first: of a signed number with its sign up to the 64th.
    fn bits(self, element: &[u8]) -> u64 {
        let mut word = [0; 8];
        word[..self.bytes].copy_from_slice(element);
        if self.big_endian {
            word[..self.bytes].reverse();
        }
        let bits = u64::from_le_bytes(word);
        match self.kind {
            Class::Bool => u64::from(bits != 0),
            Class::Signed => {
                let above = 64 - 8 * self.bytes as u32;
                ((bits << above) as i64 >> above) as u64
            }
            _ => bits,
        }
    }

    /// The integers that elements are.
    pub fn integers(self, elements: &[u8]) -> impl Iterator<Item = i128> {
        let is_signed = self.kind == Class::Signed;
        let elements = elements.chunks_exact(self.bytes).map(move |element| self.bits(element));
        elements.map(move |bits| if is_signed { i128::from(bits as i64) } else { i128::from(bits) })
    }

    /// Elements as calls take them: of a scalar that has room for them.
    pub fn widen(self, elements: &[u8], to: Scalar) -> Cow<'_, [u8]> {
        if self == Stored::of(to) {
            return Cow::Borrowed(elements);
        }
        let size = to.bytes() as usize;
        let mut wide = Vec::with_capacity(elements.len() / self.bytes * size);
        for element in elements.chunks_exact(self.bytes) {
            let bits = self.bits(element);
            let is_half = (self.kind, self.bytes) == (Class::Float, 2) && size > 2;
            let bits = if is_half { f32_of_f16(bits as u16).into() } else { bits };
            wide.extend_from_slice(&bits.to_le_bytes()[..size]);
        }
        Cow::Owned(wide)
    }

    /// Elements as they are stored, from those of a scalar. What does not fit wraps, or is rounded.
    pub fn narrow(self, from: Scalar, elements: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
        let wide = Stored::of(from);
        if self == wide {
            return elements;
        }
        let mut narrow = Vec::with_capacity(elements.len() / wide.bytes * self.bytes);
        for element in elements.chunks_exact(wide.bytes) {
            let bits = wide.bits(element);
            let bits = match (self.kind, self.bytes) {
                (Class::Float, 2) if wide.bytes > 2 => f16_of_f32(bits as u32).into(),
                (Class::Bool, _) => u64::from(bits != 0),
                _ => bits,
            };
            let mut bytes = bits.to_le_bytes();
            if self.big_endian {
                bytes[..self.bytes].reverse();
            }
            narrow.extend_from_slice(&bytes[..self.bytes]);
        }
        narrow.into()
    }
}

/// The bits of the same number. Those of a NaN are kept, the signalling one's too, so that a sort gives them back.
fn f32_of_f16(bits: u16) -> u32 {
    let number = f16::from_bits(bits);
    if !number.is_nan() {
        return number.to_f32().to_bits();
    }
    let (sign, fraction) = (u32::from(bits >> 15), u32::from(bits & 0x3ff));
    sign << 31 | 0x7f80_0000 | fraction << 13
}

/// The bits of the nearest number, and of a NaN those that fit.
fn f16_of_f32(bits: u32) -> u16 {
    let number = f32::from_bits(bits);
    if !number.is_nan() {
        return f16::from_f32(number).to_bits();
    }
    let (sign, fraction) = ((bits >> 31) as u16, (bits >> 13 & 0x3ff) as u16);
    sign << 15 | 0x7c00 | if fraction == 0 { 0x200 } else { fraction }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_codes_read_back() {
        for (name, ..) in NAMED {
            let stored = Stored::from_name(name).unwrap();
            assert_eq!((stored.name(), Stored::from_npy(&stored.npy())), (name, Some(stored)));
        }
        for scalar in Scalar::ALL {
            let Some(npy) = scalar.npy().filter(|_| scalar.is_computed()) else { continue };
            assert_eq!((Stored::of(scalar).npy().as_str(), Stored::of(scalar).scalar()), (npy, scalar));
        }
        let big = Stored::from_npy(">i2").unwrap();
        assert_eq!((big.npy().as_str(), big.name(), big.scalar()), (">i2", "i16", Scalar::I32));
        assert_eq!(Stored::from_npy(">u1").unwrap().npy(), "|u1");
        for bad in ["<c8", "<f1", "<u3", "|u4", "u4", "", "<", "<U5", "<m8[ns]", "é4"] {
            assert_eq!(Stored::from_npy(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_narrow_number_comes_back_as_it_was() {
        for name in ["u8", "i8", "u16", "i16", "f16"] {
            for big_endian in [false, true] {
                let stored = Stored { big_endian, ..Stored::from_name(name).unwrap() };
                let all = 0..1u32 << (8 * stored.bytes);
                let elements: Vec<u8> = all.flat_map(|bits| bits.to_le_bytes()[..stored.bytes].to_vec()).collect();
                for scalar in [stored.scalar(), stored.sorted()] {
                    let wide = stored.widen(&elements, scalar);
                    assert!(*stored.narrow(scalar, wide) == *elements, "{name} {big_endian} {}", scalar.name());
                }
            }
        }
        let words = [0x0102_0304u32.to_be_bytes(), 0xfffe_fdfcu32.to_be_bytes()].concat();
        let big = Stored::from_npy(">u4").unwrap();
        assert_eq!(*big.widen(&words, Scalar::U64), [0x0102_0304u64, 0xfffe_fdfc].map(u64::to_le_bytes).concat());
    }

    #[test]
    fn numbers_keep_their_value() {
        let i8s = Stored::from_name("i8").unwrap();
        assert_eq!(i8s.integers(&[0xff, 0x80, 0x7f]).collect::<Vec<_>>(), [-1, -128, 127]);
        assert_eq!(*i8s.widen(&[0xff], Scalar::I64), (-1i64).to_le_bytes());
        let bools = Stored::from_name("bool").unwrap();
        assert_eq!(*bools.widen(&[0, 1, 7], Scalar::U32), [0u32, 1, 1].map(u32::to_le_bytes).concat());
        let halves = Stored::from_npy(">f2").unwrap();
        assert_eq!(
            *halves.widen(&[0x3c, 0x00, 0xfb, 0xff], Scalar::F32),
            [1.0f32, -65504.0].map(f32::to_le_bytes).concat()
        );
        assert_eq!(*halves.narrow(Scalar::F32, 1e9f32.to_le_bytes().to_vec().into()), [0x7c, 0x00]);
        assert_eq!([i8s.range(), bools.range()], [(-128, 127), (0, 1)]);
        assert_eq!(Stored::from_name("u64").unwrap().range(), (0, u64::MAX.into()));
    }
}
