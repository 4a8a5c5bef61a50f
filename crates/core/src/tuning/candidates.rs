//! What tuning tries: for each call that numbers matter to, the values that they may take.

use crate::algorithm::{self, Algorithm};
use crate::primitive::Form;
use crate::{Builtin, Caps, Fault, Language, Options, Request, Result, Scalar, Tuning, planner};

/// A call, and the numbers that its algorithm depends on, each with candidates, in the order in which they are tried.
#[derive(Debug, Clone, Copy)]
pub struct Candidates {
    /// The call.
    pub form: &'static Form,
    /// Its elements or keys.
    pub scalar: Scalar,
    /// The algorithm that the numbers are for; a device that does not have it is not tuned for it.
    pub algorithm: &'static Algorithm,
    /// Whether the planner chooses, as the numbers say from which size on, or up to which, it takes the algorithm.
    pub is_choice: bool,
    /// What tiles do wrong meanwhile.
    pub fault: Fault,
    /// How many elements it is timed with, if it is for so many.
    pub few: Option<u64>,
    /// The language whose kernels alone have the numbers, if not all.
    pub only: Option<Language>,
    /// By the names of [`Tuning`]'s fields.
    pub numbers: &'static [(&'static str, &'static [u32])],
}

impl Candidates {
    /// What is tuned by the time of one call, each subject after those whose numbers it depends on. Each algorithm's
    /// own numbers come first, then the sizes from which the planner should take it.
    pub fn all() -> Vec<&'static Candidates> {
        let mut all: Vec<_> = algorithm::all().flat_map(|algorithm| (algorithm.candidates)()).collect();
        all.sort_by_key(|subject| subject.is_choice);
        all
    }

    pub(crate) const fn of(self, few: u64) -> Candidates {
        Candidates { few: Some(few), ..self }
    }

    pub(crate) const fn only(self, language: Language) -> Candidates {
        Candidates { only: Some(language), ..self }
    }

    pub(crate) const fn with(self, fault: Fault) -> Candidates {
        Candidates { fault, ..self }
    }

    pub(crate) const fn choice(self) -> Candidates {
        Candidates { is_choice: true, ..self }
    }

    /// The call with `n` elements.
    ///
    /// # Errors
    /// As of [`Form::request`](crate::Form::request).
    pub fn request(&self, n: u64) -> Result<Request> {
        self.form.request(self.scalar, Builtin::Sum, n)
    }

    /// The same call whose tiles do nothing wrong.
    pub fn without_fault(&self) -> Candidates {
        Candidates { fault: Fault::None, ..*self }
    }

    /// What is asked of the planner.
    pub fn options(&self) -> Options {
        let algorithm = (!self.is_choice).then_some(self.algorithm);
        Options { algorithm, fault: self.fault, ..Options::default() }
    }

    /// Whether a device has the algorithm, and its kernels the numbers.
    pub fn is_for(&self, caps: &Caps) -> bool {
        self.only.is_none_or(|language| language == caps.language)
            && self.request(1).is_ok_and(|request| planner::algorithms(&request, caps).contains(&self.algorithm))
    }

    /// How many elements it is timed with, where others are with `n`.
    pub fn size(&self, n: u64) -> u64 {
        self.few.map_or(n, |few| few.min(n))
    }

    /// Each of its numbers with each of the values that it may take.
    pub fn each(&self) -> impl Iterator<Item = (&'static str, u32)> {
        self.numbers.iter().flat_map(|(name, values)| values.iter().map(|value| (*name, *value)))
    }

    /// The names and values of its numbers in a tuning.
    pub fn values(&self, tuning: &Tuning) -> Vec<(&'static str, u32)> {
        self.numbers.iter().filter_map(|(name, _)| Some((*name, tuning.get(name)?))).collect()
    }
}

/// A subject of the size that is asked for.
pub(crate) const fn tuned(
    form: &'static Form,
    scalar: Scalar,
    algorithm: &'static Algorithm,
    numbers: &'static [(&'static str, &'static [u32])],
) -> Candidates {
    Candidates { form, scalar, algorithm, is_choice: false, fault: Fault::None, few: None, only: None, numbers }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_numbers_that_there_are() {
        for subject in Candidates::all() {
            for (name, value) in subject.each() {
                Tuning::by(&crate::tuning::Limits::USUAL).set(name, value).unwrap();
            }
        }
    }
}
