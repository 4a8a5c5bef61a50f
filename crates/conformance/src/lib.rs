//! One conformance suite, written once and run on every backend.
//!
//! A [`Case`] is a row of a table: primitive, type, operator, algorithm, size, distribution, placement, fault.
//! [`cases`] makes the table for a device and [`run`] runs a row, holding it to the oracle of `trifold-cpu`.
//! What a device cannot do is [`Outcome::Ignored`] with the reason, never passed. [`pair_cases`] are of two backends:
//! compared with each other, and at work at the same time. A known driver fault stands in [`Expectations`], where it is
//! ignored with its link until the day it passes, which then fails.
//!
//! ```
//! use trifold_conformance::{Level, Outcome, cases, run};
//! use trifold_core::{Backend, Device};
//! let device = Device::of(trifold_cpu::Cpu::new()?);
//! let case = cases(device.caps(), &device.tuning(), Level::Quick).into_iter().find(|c| c.name().starts_with("reduce/")).unwrap();
//! assert_eq!(run(&device, &case), Outcome::Passed);
//! # Ok::<(), trifold_core::Error>(())
//! ```

mod builders;
mod cached;
mod case;
mod commands;
mod cross;
mod draw;
mod expectations;
#[cfg(feature = "harness")]
mod harness;
mod inputs;
mod kernels;
mod maps;
mod meanings;
mod operators;
#[cfg(feature = "harness")]
mod properties;
mod refusal;
mod repeated;
mod row;
mod sizes;
mod skip;
mod stage;
mod table;
mod watched;

pub use cached::kernels_are_cached;
pub use case::{Case, Level, Outcome, run};
pub use commands::fills_and_copies;
pub use cross::{PairCase, pair_cases};
pub use draw::{TURNS, draw, draw_kernels};
pub use expectations::Expectations;
#[cfg(feature = "harness")]
pub use harness::main_with;
pub use inputs::Distribution;
pub use kernels::{Breadth, check_each, describe, kernels, kernels_by, shapes};
pub use maps::Same;
#[cfg(feature = "harness")]
pub use properties::properties;
pub use refusal::bad_scratch;
pub use repeated::repeated_calls_only_run;
pub use sizes::{Record, Recorded, recordings_follow_the_device};
pub use skip::{chromium_or_skip, devices_or_skip, skip};
pub use table::{cases, tuned_cases};
pub use trifold_cpu::oracle;
pub use watched::{Event, Watched};
