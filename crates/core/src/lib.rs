//! Trifold's core, without a device: requests, the plans made of them, and what a backend does to run them.
//!
//! A program has typed memory, a [`Buffer`], and builds calls. A builder of [`Scan`] or its siblings says what to do,
//! then where ([`Placed`]), then when. [`Device`] is a backend that is chosen at run time.
//!
//! A call goes through three stages:
//!
//! 1. Plan: a [`Request`] becomes a [`Plan`], plain data, with no device.
//! 2. Prepare: a [`Backend`] compiles the plan's kernels.
//! 3. Bind: spans are bound. The [`Call`] then runs any number of times without compiling or allocating.

pub use bytemuck;

mod adjacent;
pub mod algorithm;
mod arg;
mod backend;
mod bounds;
mod buffer;
mod call;
mod calls;
mod caps;
mod device;
mod element;
mod error;
mod host;
mod items;
mod kernel;
mod kernels;
mod key;
mod language;
mod leaves;
mod map;
mod once;
mod op;
mod options;
mod plan;
pub mod planner;
mod prepared;
pub mod primitive;
mod rank;
mod renamed;
mod results;
mod scalar;
mod scratch;
mod sized;
mod summary;
pub mod tuning;
mod turns;
mod view;
mod viewed;
#[doc(hidden)]
pub mod wgsl;

pub use adjacent::Difference;
pub use algorithm::Algorithm;
pub use arg::{ArgCall, NO_PLACE};
pub use backend::{Backend, Command, InOrder, Span, Spans, SpansOf, Values, bytes_of_run};
pub use buffer::{Buffer, Compacted, Transfer};
pub use call::Call;
pub use calls::{Placed, block_on};
pub use caps::{Caps, DeviceKind, SubgroupSource, Subgroups};
pub use device::{Device, DeviceHandle, DeviceKernel, DeviceRecorder, DeviceSteps};
pub use element::{Element, ElementType, Field, Key, scalar_of};
pub use error::{Error, Result};
pub use items::{HostMap, HostView};
pub use kernel::{Access, Argument, Kernel, in_order};
pub use kernels::Kernels;
pub use key::{KeyField, KeyImage, MAX_KEY_BYTES, key_align};
pub use language::Language;
pub use leaves::{LEAVES, LeafNames, MAPPED_OUTPUT, ViewOf, leaf_unit, mapped_unit};
pub use map::{Map, MapText, Then, Value};
pub use once::{CallCache, KeptMemory};
pub use op::{And, Builtin, Captures, HostOp, Max, Min, Monoid, Op, Or, Product, Sum, Xor};
pub use options::{Fault, Layout, MAX_ELEMENTS, Options, Waiting};
pub use plan::{
    CAPACITY, Captured, KernelKey, LENGTH, LENGTH_OFFSET, Launch, Param, Plan, Region, Size, SizeStep, Slot, Step,
};
pub use prepared::{Prepared, scratch_bytes, scratch_bytes_up_to};
pub use primitive::*;
pub use rank::Rank;
pub use renamed::renamed;
#[doc(hidden)]
pub use scalar::types;
pub use scalar::{Number, Scalar, ScalarKind};
pub use summary::{Float, MinMax, Summary};
pub use tuning::{Candidates, Tuning, TuningRow, TuningTable};
pub use turns::Turns;
pub use view::{IntoInput, View, iota};
pub use viewed::{Leaf, MAX_LEAVES, Node, ViewData, Viewed, ViewedRequest};
