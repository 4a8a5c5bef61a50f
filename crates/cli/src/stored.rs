//! Numbers as files hold them: narrower than calls compute with, of either order of bytes, or truth values.

use std::borrow::Cow;

use half::{bf16, f16};
use trifold::types::{Scalar, ScalarKind};

/// A type of numbers in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    scalar: Scalar,
    /// Whether its bytes are truth values.
    is_bool: bool,
    big_endian: bool,
}

const BOOL: Stored = Stored { is_bool: true, ..Stored::of(Scalar::U8) };

impl Stored {
    /// The types, little-endian.
    fn all() -> impl Iterator<Item = Stored> {
        Scalar::ALL.into_iter().map(Stored::of).chain([BOOL])
    }

    /// All names, for errors.
    pub fn names() -> String {
        Stored::all().map(Stored::name).collect::<Vec<_>>().join(", ")
    }

    /// Those that a `.npy` may hold.
    pub fn names_in_npy() -> String {
        Stored::all().filter(|stored| stored.npy().is_some()).map(Stored::name).collect::<Vec<_>>().join(", ")
    }

    pub fn from_name(name: &str) -> Option<Stored> {
        Stored::all().find(|stored| stored.name() == name)
    }

    pub const fn of(scalar: Scalar) -> Stored {
        Stored { scalar, is_bool: false, big_endian: false }
    }

    /// Of a `.npy` header's `descr`, such as `<u4`, `>f8` or `|b1`.
    pub fn from_npy(descr: &str) -> Option<Stored> {
        let (order, code) = descr.split_at_checked(1)?;
        let stored = Stored::all().find(|stored| stored.code() == Some(code))?;
        // `=` and `|` are the machine's own order, which is little-endian.
        let is_order = matches!(order, "<" | ">" | "=") || order == "|" && stored.bytes() == 1;
        is_order.then_some(Stored { big_endian: order == ">" && stored.bytes() > 1, ..stored })
    }

    /// As a `.npy` header says it; `None` of what NumPy has no type for.
    pub fn npy(self) -> Option<String> {
        let order = match (self.bytes(), self.big_endian) {
            (1, _) => '|',
            (_, true) => '>',
            (_, false) => '<',
        };
        self.code().map(|code| format!("{order}{code}"))
    }

    /// What NumPy calls the type, without the order of its bytes.
    fn code(self) -> Option<&'static str> {
        if self.is_bool { Some("b1") } else { self.scalar.npy().map(|npy| &npy[1..]) }
    }

    pub fn name(self) -> &'static str {
        if self.is_bool { "bool" } else { self.scalar.name() }
    }

    pub fn bytes(self) -> usize {
        self.scalar.bytes() as usize
    }

    /// Elements with their lowest byte first.
    pub fn little_endian(self, elements: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
        if !self.big_endian {
            return elements;
        }
        let mut elements = elements.into_owned();
        elements.chunks_exact_mut(self.bytes()).for_each(<[u8]>::reverse);
        elements.into()
    }

    /// As what a sort moves them, byte by byte: truth values as numbers.
    pub fn moved(self) -> Stored {
        Stored { is_bool: false, ..self }
    }

    /// What a sort takes them as: the scalar of their own width.
    pub fn sorted(self) -> Scalar {
        self.scalar
    }

    pub fn is_float(self) -> bool {
        self.scalar.kind() == ScalarKind::Float
    }

    pub fn is_bool(self) -> bool {
        self.is_bool
    }

    fn is_signed(self) -> bool {
        self.scalar.kind() == ScalarKind::Signed
    }

    /// The same order of bytes where that matters, of another width. Truth values become unsigned numbers.
    pub fn widened(self, bytes: usize) -> Stored {
        let scalar = Scalar::of(self.scalar.kind(), bytes as u32).unwrap_or(self.scalar);
        Stored { scalar, is_bool: false, ..self }
    }

    /// What calls compute with: 64 bits, or 32 for all that have fewer.
    pub fn scalar(self) -> Scalar {
        Scalar::of(self.scalar.kind(), self.scalar.bytes().max(4)).unwrap_or(self.scalar)
    }

    /// The least and the most that an integer may be.
    pub fn range(self) -> (i128, i128) {
        let bits = 8 * self.scalar.bytes();
        match () {
            () if self.is_bool => (0, 1),
            () if self.is_signed() => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            () => (0, (1 << bits) - 1),
        }
    }

    /// An element's bits, the lowest first: of a signed number with its sign up to the 64th.
    fn bits(self, element: &[u8]) -> u64 {
        let mut word = [0; 8];
        word[..self.bytes()].copy_from_slice(element);
        if self.big_endian {
            word[..self.bytes()].reverse();
        }
        let bits = u64::from_le_bytes(word);
        let above = 64 - 8 * self.scalar.bytes();
        match () {
            () if self.is_bool => u64::from(bits != 0),
            () if self.is_signed() => ((bits << above) as i64 >> above) as u64,
            () => bits,
        }
    }

    /// The integers that elements are.
    pub fn integers(self, elements: &[u8]) -> impl Iterator<Item = i128> {
        let is_signed = self.is_signed();
        let elements = elements.chunks_exact(self.bytes()).map(move |element| self.bits(element));
        elements.map(move |bits| if is_signed { i128::from(bits as i64) } else { i128::from(bits) })
    }

    /// Elements as calls take them: of a scalar that has room for them.
    pub fn widen(self, elements: &[u8], to: Scalar) -> Cow<'_, [u8]> {
        if self == Stored::of(to) {
            return Cow::Borrowed(elements);
        }
        let size = to.bytes() as usize;
        let mut wide = Vec::with_capacity(elements.len() / self.bytes() * size);
        for element in elements.chunks_exact(self.bytes()) {
            let bits = self.bits(element);
            let bits = match self.scalar {
                Scalar::F16 if size > 2 => f32_of_f16(bits as u16).into(),
                Scalar::BF16 if size > 2 => bits << 16,
                _ => bits,
            };
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
        let mut narrow = Vec::with_capacity(elements.len() / wide.bytes() * self.bytes());
        for element in elements.chunks_exact(wide.bytes()) {
            let bits = wide.bits(element);
            let bits = match () {
                () if self.scalar == Scalar::F16 && wide.bytes() > 2 => f16_of_f32(bits as u32).into(),
                () if self.scalar == Scalar::BF16 && wide.bytes() > 2 => bf16_of_f32(bits as u32).into(),
                () if self.is_bool => u64::from(bits != 0),
                () => bits,
            };
            let mut bytes = bits.to_le_bytes();
            if self.big_endian {
                bytes[..self.bytes()].reverse();
            }
            narrow.extend_from_slice(&bytes[..self.bytes()]);
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

/// The same of the other half.
fn bf16_of_f32(bits: u32) -> u16 {
    let number = f32::from_bits(bits);
    match (bits >> 16) as u16 {
        upper if number.is_nan() => upper | if upper & 0x7f == 0 { 0x40 } else { 0 },
        _ => bf16::from_f32(number).to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_codes_read_back() {
        let all = "u8 i8 u16 i16 u32 i32 u64 i64 f16 f32 f64 bool".split(' ');
        let without = "bf16 u128 i128".split(' ');
        assert_eq!(Stored::all().count(), all.clone().chain(without.clone()).count());
        for name in all {
            let stored = Stored::from_name(name).unwrap();
            assert_eq!((stored.name(), Stored::from_npy(&stored.npy().unwrap())), (name, Some(stored)));
        }
        for name in without {
            assert_eq!(Stored::from_name(name).unwrap().npy(), None);
        }
        for scalar in Scalar::ALL {
            let Some(npy) = scalar.npy().filter(|_| scalar.is_computed()) else { continue };
            assert_eq!((Stored::of(scalar).npy().as_deref(), Stored::of(scalar).scalar()), (Some(npy), scalar));
        }
        let big = Stored::from_npy(">i2").unwrap();
        assert_eq!((big.npy().as_deref(), big.name(), big.scalar()), (Some(">i2"), "i16", Scalar::I32));
        assert_eq!(Stored::from_npy(">u1").unwrap().npy().as_deref(), Some("|u1"));
        for bad in ["<c8", "<f1", "<u3", "|u4", "u4", "", "<", "<U5", "<m8[ns]", "é4"] {
            assert_eq!(Stored::from_npy(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_narrow_number_comes_back_as_it_was() {
        for name in ["u8", "i8", "u16", "i16", "f16", "bf16"] {
            for big_endian in [false, true] {
                let stored = Stored { big_endian, ..Stored::from_name(name).unwrap() };
                let all = 0..1u32 << (8 * stored.bytes());
                let elements: Vec<u8> = all.flat_map(|bits| bits.to_le_bytes()[..stored.bytes()].to_vec()).collect();
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
