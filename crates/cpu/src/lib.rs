//! Trifold on the host's processor, a backend that every machine has, and the sequential [`oracle`].
//!
//! The backend uses all cores. Tests compare every backend with the oracle, this one too.
//!
//! Every primitive works in blocks that stay in a core's cache, and moves each element as often as on a GPU. Where a block's
//! results go depends on the blocks before. So threads take blocks in order, and each learns from the one before what it needs.
//! Few elements are one thread's, and no other wakes.
//!
//! Sort uses the radix sort crate `rdst` for keys alone, and a stable radix sort for pairs. These take scratch: twice as many words
//! as there are pairs, each of twice a key's size.
//!
//! Results have the same bits whatever the number of threads, but for histograms of `f32` weights.
//!
//! ```
//! use trifold_core::{Scan, Sum, Transfer};
//! # fn main() -> trifold_core::Result<()> {
//! let cpu = trifold_cpu::Cpu::new()?;
//! let x = cpu.upload(&[3u32, 1, 4, 1, 5])?;
//! assert_eq!(cpu.inclusive_scan(&x, Sum).read()?, [3, 4, 8, 9, 14]);
//! # Ok(())
//! # }
//! ```

mod backend;
mod chain;
mod heads;
mod histogram;
mod memory;
pub mod oracle;
mod radix;
mod reduce;
mod reduce_by_key;
mod relay;
mod scan;
mod scatter;
mod segmented;
mod select;
mod sort;
mod step;
mod system;
mod top_k;
mod view;

pub use backend::{Cpu, Kernel};
pub use memory::Handle;
#[doc(hidden)]
pub use memory::{ALIGNMENT, Region, allocate};
pub use step::Step;
pub use trifold_core::InOrder;
use trifold_core::Request;

/// What a request must give for an input and values; `None` for other primitives' requests.
type Expect = fn(&Request, oracle::Inputs<'_>) -> Option<oracle::Expected>;

/// What the crate has for a primitive.
struct Primitive {
    /// The name of its kernel.
    kernel: &'static str,
    bind: step::Bind,
    /// Whether it makes views' elements itself. For others they are made before.
    makes_views: bool,
    /// Whether it gives one element, whatever there is of its input.
    gives_total: bool,
    expect: Expect,
}

impl Primitive {
    const fn new(kernel: &'static str, bind: step::Bind, expect: Expect) -> Primitive {
        Primitive { kernel, bind, makes_views: false, gives_total: false, expect }
    }
}

/// Every primitive. A copy of memory is a command, and one of a view a launch.
static PRIMITIVES: [Primitive; 10] = [
    Primitive { makes_views: true, ..Primitive::new("copy/parallel", view::bind_copy, view::expect_copy) },
    Primitive::new("scatter/parallel", scatter::bind, scatter::expect),
    Primitive { makes_views: true, ..Primitive::new("scan/parallel", scan::bind, scan::expect) },
    Primitive {
        makes_views: true,
        gives_total: true,
        ..Primitive::new("reduce/parallel", reduce::bind, reduce::expect)
    },
    Primitive::new("segmented/parallel", segmented::bind, segmented::expect),
    Primitive::new("sort/parallel", sort::bind, sort::expect),
    Primitive { makes_views: true, ..Primitive::new("select/parallel", select::bind, select::expect) },
    Primitive { makes_views: true, ..Primitive::new("top_k/parallel", top_k::bind, top_k::expect) },
    Primitive { makes_views: true, ..Primitive::new("histogram/parallel", histogram::bind, histogram::expect) },
    Primitive::new("reduce_by_key/parallel", reduce_by_key::bind, reduce_by_key::expect),
];
