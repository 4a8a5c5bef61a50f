//! Trifold's shape, without a device: what scan, reduce and sort are asked to do, how that becomes a plan, and what a
//! backend must be able to do to run it.
pub use bytemuck;
mod element;
mod error;
mod language;
mod op;
pub use element::{Element, ElementType, Field, Key, Scalar, scalar_of};
pub use error::{Error, Result};
pub use language::Language;
pub use op::{And, Builtin, HostOp, Max, Min, Monoid, Op, Or, Product, Sum, Xor};
