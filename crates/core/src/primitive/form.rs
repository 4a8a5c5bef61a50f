//! The primitives as programs offer them, by name.

use std::fmt;

use super::FORMS;
use crate::{Builtin, Error, Request, Result, Scalar, Segments};

/// A form of a primitive, of one type of numbers: `sort_keys` and `sort_pairs` are two of sort's.
pub struct Form {
    /// What people and files call it.
    pub name: &'static str,
    /// What reports head it with, where `{}` is a type of elements or of keys.
    pub title: &'static str,
    /// Whether it has an operator.
    pub has_operator: bool,
    /// What of its input decides how long it takes, beside the size.
    pub varies: Varies,
    /// `None` for what it is not for.
    pub(crate) request: fn(&Asked) -> Option<Request>,
}

/// What programs ask of a form. Forms take what they have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asked {
    /// The type of its elements, or of its keys.
    pub scalar: Scalar,
    /// The operator.
    pub operator: Builtin,
    /// How many elements.
    pub n: u64,
    /// What keys carry.
    pub value: Scalar,
    /// The bits that sorts compare, the first and the one behind the last; all without.
    pub bits: Option<(u32, u32)>,
    /// How many segments there are; without, as many as have 256 elements each.
    pub segments: Option<u64>,
    /// How many elements each row has, if these are the segments.
    pub rows: Option<u64>,
    /// How many keys are taken.
    pub k: u64,
    /// Whether they stay as they stand in the input.
    pub unsorted: bool,
    /// How many bins there are.
    pub bins: u32,
}

impl Asked {
    /// Sums of so many elements, 32 keys and 256 bins.
    pub fn new(scalar: Scalar, n: u64) -> Asked {
        let (operator, value) = (Builtin::Sum, Scalar::U32);
        Asked { scalar, operator, n, value, bits: None, segments: None, rows: None, k: 32, unsorted: false, bins: 256 }
    }

    /// Its segments.
    pub(crate) fn by(&self) -> Segments {
        if let Some(width) = self.rows {
            return Segments::Rows(width);
        }
        let count = self.segments.unwrap_or(self.n.div_ceil(LENGTH));
        Segments::Offsets { of: Scalar::U32.into(), count }
    }
}

/// Elements of a segment, where nothing else is asked for.
const LENGTH: u64 = 256;

/// What of an input decides how long a call takes, beside its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Varies {
    /// Nothing that programs ask for.
    Nothing,
    /// How many elements a predicate keeps, [`UpperHalf`](crate::UpperHalf).
    Kept,
    /// How long runs of equal keys are.
    Runs,
    /// How long segments are.
    Segments,
    /// How many keys are taken.
    Taken,
    /// How many keys are taken of each segment, and how long segments are.
    TakenOfSegments,
    /// How many bins there are.
    Bins,
    /// Which bits of keys are compared.
    Bits,
    /// Which bits of keys are compared, and what keys carry.
    BitsAndValues,
}

impl Varies {
    /// Whether there are segments.
    pub fn has_segments(self) -> bool {
        matches!(self, Varies::Segments | Varies::TakenOfSegments)
    }

    /// Whether some keys are taken.
    pub fn is_taken(self) -> bool {
        matches!(self, Varies::Taken | Varies::TakenOfSegments)
    }
}

impl Form {
    pub(crate) const fn new(name: &'static str, title: &'static str, request: fn(&Asked) -> Option<Request>) -> Form {
        Form { name, title, has_operator: false, varies: Varies::Nothing, request }
    }

    /// The request of `n` elements, with this operator if the form has one.
    ///
    /// # Errors
    /// As of [`Form::asked`].
    pub fn request(&self, scalar: Scalar, operator: Builtin, n: u64) -> Result<Request> {
        self.asked(&Asked { operator, ..Asked::new(scalar, n) })
    }

    /// The request that is asked for.
    ///
    /// ```
    /// use trifold_core::{Asked, Scalar, Slot, forms};
    /// let mut asked = Asked::new(Scalar::F32, 1000);
    /// asked.k = 5;
    /// let request = forms::TOP_K.asked(&asked)?;
    /// assert_eq!(request.operands().iter().find(|operand| operand.slot == Slot::Output).map(|operand| operand.len), Some(5));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a bitwise operator of floats, for a type that kernels move but do not compute with, and for a number of
    /// bins that the type has none of.
    pub fn asked(&self, asked: &Asked) -> Result<Request> {
        let operator = if self.has_operator { asked.operator } else { Builtin::Sum };
        (self.request)(&Asked { operator, ..*asked }).ok_or_else(|| {
            let (form, operator, name) = (self.name, operator.name(), asked.scalar.name());
            Error::Unsupported(match (asked.scalar.is_computed(), self.has_operator) {
                (true, true) => format!("`{operator}` of {name}: it is for integers; use sum, product, min or max"),
                (true, false) if self.varies == Varies::Bins && asked.bins != 256 => {
                    format!(
                        "{form} of {name} with {} bins: integers have 256, u32 also other powers of two from 2 on",
                        asked.bins
                    )
                }
                (true, false) => format!("{form} of {name}, which programs measure of other types only"),
                (false, _) => {
                    format!("{form} of {name}, which kernels move and compare as keys, but do not compute with")
                }
            })
        })
    }

    /// All of them, primitive by primitive.
    pub fn all() -> impl Iterator<Item = &'static Form> + Clone {
        FORMS.iter().flat_map(|forms| forms.iter().copied())
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<&'static Form> {
        Form::all().find(|form| form.name == name)
    }
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Form {
    fn eq(&self, other: &Form) -> bool {
        std::ptr::eq(self, other)
    }
}
impl Eq for Form {}
