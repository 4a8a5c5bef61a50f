//! The primitives as programs offer them, by name.

use std::fmt;

use super::FORMS;
use crate::{Builtin, Error, Request, Result, Scalar};

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
    /// `None` for a type or an operator that it is not for.
    pub(crate) request: fn(Scalar, Builtin, u64) -> Option<Request>,
}

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
    pub(crate) const fn new(
        name: &'static str,
        title: &'static str,
        request: fn(Scalar, Builtin, u64) -> Option<Request>,
    ) -> Form {
        Form { name, title, has_operator: false, varies: Varies::Nothing, request }
    }

    /// The request of `n` elements, with this operator if the form has one.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a bitwise operator of floats, and for a type that kernels move but do not compute with.
    pub fn request(&self, scalar: Scalar, operator: Builtin, n: u64) -> Result<Request> {
        let operator = if self.has_operator { operator } else { Builtin::Sum };
        (self.request)(scalar, operator, n).ok_or_else(|| {
            let (form, operator, name) = (self.name, operator.name(), scalar.name());
            Error::Unsupported(match (scalar.is_computed(), self.has_operator) {
                (true, true) => format!("`{operator}` of {name}: it is for integers; use sum, product, min or max"),
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
