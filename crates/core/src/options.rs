//! How a request is to be gone about: where spans lie, by which algorithm, and how tiles wait.

use std::fmt;

use crate::algorithm::Algorithm;
use crate::{Error, Result};

/// Tiles made to misbehave, for tests of the waiting and the fallback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Fault {
    /// None.
    #[default]
    None,
    /// Every `n`th tile never publishes anything.
    Silent(u32),
    /// Every `n`th tile publishes late.
    Late(u32),
}

impl fmt::Display for Fault {
    /// `none`, `silent:N` or `late:N`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::None => f.write_str("none"),
            Fault::Silent(every) => write!(f, "silent:{every}"),
            Fault::Late(every) => write!(f, "late:{every}"),
        }
    }
}

/// How long a tile waits for what an earlier one is to publish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Waiting {
    /// A bounded time; then it computes by itself what the other has not published.
    #[default]
    Bounded,
    /// Until the other has published. This is for measuring what the fallback costs, and gains nothing else.
    ///
    /// A plan whose wait might never end is refused. That is so with tiles that are [`Fault::Silent`], and on a device
    /// that does not promise forward progress ([`Caps::forward_progress`](crate::Caps::forward_progress)).
    ///
    /// Look-ahead has no such form, and the planner chooses look-back. Algorithms whose tiles do not wait for each
    /// other are planned as ever.
    Unbounded,
}

impl fmt::Display for Waiting {
    /// `bounded` or `unbounded`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Waiting::Bounded => "bounded",
            Waiting::Unbounded => "unbounded",
        })
    }
}

/// What the planner has to know of the spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Layout {
    /// Every span, but for a reduction's result, starts at a multiple of 16 bytes, and its buffer reaches to a multiple
    /// of 16 past its end.
    ///
    /// Buffers from a backend's own `alloc` do; round those of your own up to 16 bytes. Otherwise
    /// kernels move one element at a time, not 16 bytes, and no scan looks ahead in CUDA.
    pub wide: bool,
    /// The output is the input.
    pub in_place: bool,
    /// How many elements there are is on the device, up to as many as the spans have.
    pub reads_length: bool,
}

impl Layout {
    /// The same with some fields changed.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Layout)) -> Layout {
        change(&mut self);
        self
    }
}

impl Default for Layout {
    fn default() -> Self {
        Layout { wide: true, in_place: false, reads_length: false }
    }
}

/// How to go about it, where the caller has an opinion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Options {
    /// The algorithm, one of [`Request::algorithms`](crate::Request::algorithms); the planner's choice if `None`.
    pub algorithm: Option<&'static Algorithm>,
    /// Tiles made to misbehave.
    pub fault: Fault,
    /// How long tiles wait for each other.
    pub waiting: Waiting,
}

impl Options {
    /// By this algorithm, and else as usual.
    pub const fn by(algorithm: &'static Algorithm) -> Options {
        Options { algorithm: Some(algorithm), fault: Fault::None, waiting: Waiting::Bounded }
    }

    /// The same with some fields changed.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Options)) -> Options {
        change(&mut self);
        self
    }
}

/// The most elements in one call: indices are 32-bit on every device.
pub const MAX_ELEMENTS: u64 = (1 << 32) - (1 << 16);

pub(crate) fn check_count(n: u64) -> Result<u32> {
    if n > MAX_ELEMENTS {
        return Err(Error::Invalid(format!("{n} elements in one call; the most is {MAX_ELEMENTS}: split the work")));
    }
    Ok(n as u32)
}
