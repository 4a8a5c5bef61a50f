//! Trifold's shape, without a device: what scan, reduce and sort are asked to do, how that becomes a plan, and what a
//! backend must be able to do to run it.
//!
//! A call goes through three moments. *Plan*: a [`Request`] becomes a [`Plan`], plain data, with no device. *Prepare*:
//! a [`Backend`] compiles the plan's kernels. *Bind*: spans are bound, and the [`Bound`] call runs any number of times
//! without compiling or allocating.

pub use bytemuck;

mod any;
mod backend;
mod by_key;
mod caps;
mod element;
mod error;
mod language;
mod op;
mod plan;
pub mod planner;
mod prepared;
mod primitives;
mod request;
mod scratch;
mod select;
mod tuning;
mod turns;
#[doc(hidden)]
pub mod wgsl;

pub use any::{AnyBackend, AnyBuffer, AnyCall, AnySpan, AnySpans, plan_for};
pub use backend::{Backend, Command, Span, Spans};
pub use by_key::{ByKey, ByKeyRequest};
pub use caps::{Caps, DeviceKind, SubgroupSource, Subgroups};
pub use element::{Element, ElementType, Field, Key, Scalar, scalar_of};
pub use error::{Error, Result};
pub use language::Language;
pub use op::{And, Builtin, HostOp, Max, Min, Monoid, Op, Or, Product, Sum, Xor};
pub use plan::{KernelKey, Launch, Param, Plan, Region, Slot, Step};
pub use prepared::{Bound, Prepared, scratch_bytes};
pub use primitives::{Reduce, Scan, Sort, Transfer, block_on};
pub use request::{
    Fault, Layout, MAX_ELEMENTS, Options, Order, ReduceRequest, Request, ScanKind, ScanRequest, SortRequest, Waiting,
};
pub use select::{HostSelector, Predicate, Rest, Select, SelectRequest, Selector};
pub use tuning::{Candidates, Tuning, TuningRow, TuningTable};
pub use turns::Turns;
