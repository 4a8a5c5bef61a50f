//! Scan, reduce and sort on any GPU: CUDA, Vulkan, Metal, DX12, GL and OpenCL, and on the CPU.
//!
//! Each algorithm is written in three kernel languages (WGSL, OpenCL C, CUDA C), and one host library plans, compiles
//! and runs them through [`wgpu`], [`opencl`] or [`cuda`]. [`cpu`] needs no driver at all. Drivers are found at run
//! time: a program that uses this crate links none of them and starts on any machine.
//!
//! ```
//! # #[cfg(feature = "cpu")]
//! # fn main() -> trifold::Result<()> {
//! use trifold::prelude::*;
//!
//! let gpu = trifold::open()?;
//! let x = gpu.upload(&[3u32, 1, 4, 1, 5])?;
//!
//! assert_eq!(gpu.inclusive_scan(&x, Sum).read()?, [3, 4, 8, 9, 14]);
//! assert_eq!(gpu.reduce(&x, Max).value()?, 5);
//! gpu.sort(&x).descending().in_place().run()?;
//! assert_eq!(x.read()?, [5, 4, 3, 1, 1]);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "cpu"))]
//! # fn main() {}
//! ```
//!
//! A call says what, then where its results go, then when it runs. The tables below have every word of it. The same
//! calls run on every backend, since each is a [`Backend`], and so is [`Device`], which is chosen at run time.
//!
//! # What
//!
//! `gpu` is a [`Device`], or a backend's own type: [`wgpu::Wgpu`], [`cuda::Cuda`], [`opencl::OpenCl`], [`cpu::Cpu`]. `&x` is a
//! [`Buffer`] or a [`Compacted`].
//!
//! | I want | Call |
//! |---|---|
//! | a running total at each element | [`gpu.inclusive_scan(&x, Sum)`](Scan::inclusive_scan) |
//! | the same, without the element | [`gpu.exclusive_scan(&x, Sum)`](Scan::exclusive_scan) |
//! | that, and the total of all | [`.total_to(&sum)`](builders::ScanCall::total_to) |
//! | one total of all elements | [`gpu.reduce(&x, Max)`](Reduce::reduce) |
//! | a total of each segment, or of each row | [`.segments(&offsets)`](builders::ReduceCall::segments), [`.rows(100)`](builders::ReduceCall::rows) |
//! | running totals within each | the same of a scan: [`.segments(&offsets)`](builders::ScanCall::segments), [`.rows(100)`](builders::ScanCall::rows) |
//! | running totals within each run of keys | [`gpu.inclusive_scan_by_key(&keys, &values, Sum)`](Scan::inclusive_scan_by_key) |
//! | a total that starts from a value | [`.starting_from(7)`](builders::ScanCall::starting_from) |
//! | keys in order | [`gpu.sort(&keys)`](Sort::sort) |
//! | where the keys stand, in their order | [`gpu.argsort(&keys)`](Sort::argsort) |
//! | the largest keys, their values or indices | [`gpu.top_k(&keys, 10)`](TopK::top_k) |
//! | the key at a place of their order | [`gpu.nth_element(&keys, n / 2)`](TopK::nth_element) |
//! | large keys first | [`.descending()`](builders::SortCall::descending) |
//! | order by some of the keys' bits | [`.bits(0..16)`](builders::SortCall::bits) |
//! | a value to move with each key (`sort_pairs`) | [`.with(&values)`](builders::SortCall::with) |
//! | the values in their keys' order, alone | [`.values_to(&out)`](builders::SortPairsCall::values_to) |
//! | the elements that pass a test | [`gpu.select(&x, Odd)`](Select::select) |
//! | where those are (`flatnonzero`, `argwhere`) | [`gpu.find_all(&x, Odd)`](Select::find_all) |
//! | the elements that flags say | [`gpu.select_flagged(&x, &flags)`](Select::select_flagged) |
//! | the elements that pass, and the others | [`gpu.partition(&x, Odd)`](Select::partition) |
//! | the elements in three parts or more | [`gpu.partition_by(&x, &classes, 3)`](Select::partition_by) |
//! | the first of each run of equal elements | [`gpu.unique(&x)`](Unique::unique) |
//! | the same of keys, with their values | [`gpu.unique_by_key(&keys, &values)`](Unique::unique_by_key) |
//! | how many elements are in each bin | [`gpu.histogram(&bins, 256)`](Histogram::histogram) |
//! | the same, by given edges (`digitize`) | [`x.binned(&edges)`](Buffer::binned), as the bins |
//! | what weighs in each | [`.weighted(&weights)`](builders::HistogramCall::weighted) |
//! | a total of each run of keys (group by, of sorted keys) | [`gpu.reduce_by_key(&keys, &values, Sum)`](ReduceByKey::reduce_by_key) |
//! | the length of each run | [`gpu.run_length_encode(&x)`](ReduceByKey::run_length_encode) |
//! | the same elements elsewhere | [`gpu.copy(&x)`](Transfer::copy) |
//! | each element less the one before it | [`gpu.adjacent_difference(&x)`](Transfer::adjacent_difference) |
//! | elements to places that I give | [`gpu.scatter(&x, &places)`](Transfer::scatter) |
//! | elements from such places | [`x.gathered(&places)`](Buffer::gathered), in any call |
//! | places in a sorted input | [`x.lower_bounds(&sorted)`](Buffer::lower_bounds), in any call |
//! | what a function makes of elements | [`x.mapped(Square)`](Buffer::mapped), in any call; a copy of it is a transform |
//! | what a function makes of results | [`.then(Square)`](OneOutput::then), and [where they are counted](CountedOutput::then) |
//! | where the least or greatest stands | [`gpu.arg_min(&x)`](Summary::arg_min), [`gpu.arg_max(&x)`](Summary::arg_max) |
//! | the least and the greatest | [`gpu.min_max(&x)`](Summary::min_max) |
//! | mean, variance | [`gpu.mean(&x)`](Summary::mean), [`gpu.variance(&x)`](Summary::variance) |
//! | dot product, norm | [`gpu.dot(&x, &y)`](Summary::dot), [`gpu.norm(&x)`](Summary::norm) |
//! | how many elements pass a test | [`gpu.count_if(&x, Odd)`](Summary::count_if) |
//! | an operator of my own | [`Monoid`] |
//! | a predicate of my own | [`Predicate`] |
//! | a function of my own | [`Map`] |
//! | numbers in it that change | [`Captures`] |
//! | structs as elements | [`element!`] |
//!
//! `Odd` stands for a [`Predicate`] of yours, and `Square` for a [`Map`].
//!
//! # Where
//!
//! | I want results | Call |
//! |---|---|
//! | in a buffer of mine | [`.to(&out)`](builders::ScanCall::to) |
//! | in several of mine | [`.to((&kept, &rest))`](builders::PartitionCall::to) |
//! | of a partition in one buffer | [`.to_one(&out)`](builders::PartitionCall::to_one) |
//! | where the input is | [`.in_place()`](builders::SortCall::in_place) |
//! | in new buffers | [`.collect()?`](builders::SortCall::collect) |
//! | in new memory, with their count | [`.compact()?`](builders::SelectCall::compact) |
//! | the count in my own word | [`.count_to(&n)`](builders::SelectCall::count_to) |
//! | on the host | [`.read()?`](builders::ScanCall::read) |
//! | on the host, of a reduction | [`.value()?`](builders::ReduceCall::value) |
//!
//! # When
//!
//! | I want it to run | Call |
//! |---|---|
//! | once, now | [`.run()?`](Placed::run) |
//! | in my encoder, stream or queue | [`.encode(&mut encoder)?`](Placed::encode) |
//! | often, at no cost but the run | [`.prepare()?`](Placed::prepare), which gives a [`Call`] |
//! | again, once prepared | [`call.run()?`](Call::run), [`call.encode(&mut encoder)?`](Call::encode) |
//! | and to know how long it takes | [`call.time(20)?`](Call::time) |
//! | by an algorithm that I name | [`.by(&algorithm::scan::LOOKBACK)`](Placed::by) |
//! | under a name, for profilers | [`.label("depth sort")`](Placed::label) |
//! | not at all: to see the plan | [`.plan()?`](Placed::plan) |
//!
//! # How many
//!
//! | I want | Call |
//! |---|---|
//! | some elements of a buffer | [`x.slice(1..3)?`](Buffer::slice) |
//! | another number with each run | [`.up_to(capacity)`](Placed::up_to) and [`.prepare()?`](Placed::prepare) |
//! | … then, of the first `n` | [`call.run_n(n)?`](Call::run_n), [`call.encode_n(&mut encoder, n)?`](Call::encode_n), [`call.time_n(n, 20)?`](Call::time_n) |
//! | as many as a word on the device says | [`.len_on_device(&n)`](builders::ScanCall::len_on_device) |
//! | as many as a call before has kept | [`gpu.sort(&kept)`](Sort::sort) of a [`Compacted`] |
//!
//! # Devices and memory
//!
//! | I want | Call |
//! |---|---|
//! | the best device | [`open()?`](open()) |
//! | a list of all | [`devices()`] |
//! | a device of one API | [`Wgpu::open`](wgpu::Wgpu::open), [`Cuda::open`](cuda::Cuda::open), [`OpenCl::open`](opencl::OpenCl::open), [`Cpu::new`](cpu::Cpu::new) |
//! | to open a wgpu device for it | [`Wgpu::requirements(&adapter)`](wgpu::Wgpu::requirements) |
//! | my own device, stream or queue | [`Wgpu::new`](wgpu::Wgpu::new), [`Cuda::new`](cuda::Cuda::new), [`OpenCl::new`](opencl::OpenCl::new) |
//! | my own buffers | `import` of [`Wgpu`](wgpu::Wgpu::import), [`Cuda`](cuda::Cuda::import), [`OpenCl`](opencl::OpenCl::import) |
//! | what only one API has | [`device.downcast_ref::<Wgpu>()`](Device::downcast_ref), [`call.downcast::<Wgpu>()`](Call::downcast) |
//! | a function for every device | `fn f<B: Backend + Scan>(gpu: &B)` with [`Backend`] |
//! | elements on the device | [`gpu.upload(&[1u32, 2])?`](Transfer::upload) |
//! | room for `n` of them | [`gpu.alloc::<u32>(n)?`](Transfer::alloc) |
//! | to write and to read them | [`x.write(&[3, 4])?`](Buffer::write), [`x.read()?`](Buffer::read) |
//! | the same bytes as another type | [`x.cast::<f32>()?`](Buffer::cast) |
//! | how many were kept, on the host | [`kept.len()?`](Compacted::len) |
//! | how much scratch a call takes | [`call.scratch_bytes()`](Call::scratch_bytes), or ahead of it [`plan::scratch_bytes`] |
//! | what the device keeps for calls | [`gpu.memory()`](Transfer::memory), [`gpu.trim()`](Transfer::trim) |
//! | my own scratch | [`Prepared::bind_with_scratch`](plan::Prepared::bind_with_scratch) |
//! | kernels kept on disk, or not | [`Cache`] and the variable `TRIFOLD_CACHE` |
//!
//! # Who waits
//!
//! `read`, `value` and `len` wait for the device. `run` and `encode` do not. What compiles a kernel waits for the
//! compiler.
//!
//! Programs that await have futures, and [`block_on`] waits for one. The future of a read or of a kernel to compile
//! blocks its own thread ([`Backend::read`], [`Backend::compile`]).
//!
//! | Call | Future |
//! |---|---|
//! | `open()?` | [`open_async()`] |
//! | `.run()?`, `.prepare()?` | [`.run_async()`](Placed::run_async), [`.prepare_async()`](Placed::prepare_async) |
//! | `.read()?` | [`.read_async()`](builders::ScanCall::read_async) |
//! | `.value()?` | [`.value_async()`](builders::ReduceCall::value_async) |
//! | `.collect()?`, `.compact()?` | [`.collect_async()`](builders::SortCall::collect_async), [`.compact_async()`](builders::SelectCall::compact_async) |
//! | `x.read()?`, `kept.len()?` | [`x.read_async()`](Buffer::read_async), [`kept.len_async()`](Compacted::len_async) |
//!
//! # Features
//!
//! `cpu`, `wgpu`, `opencl` and `cuda`, one for each backend; all are on by default, and each builds alone.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod discover;

#[doc(inline)]
pub use discover::{Found, devices, open, open_async};
#[doc(inline)]
pub use trifold_cache::Cache;
#[doc(no_inline)]
pub use trifold_core::bytemuck;
#[doc(inline)]
pub use trifold_core::{
    Algorithm, Backend, Buffer, Call, Captures, Compacted, Device, Element, Error, Key, Map, Monoid, NO_PLACE, Placed,
    Result, Summary, Transfer, View, algorithm, block_on, element, iota, primitive::prelude::*,
};

#[cfg(feature = "cpu")]
#[cfg_attr(docsrs, doc(cfg(feature = "cpu")))]
#[doc(inline)]
pub use trifold_cpu as cpu;
#[cfg(feature = "cuda")]
#[cfg_attr(docsrs, doc(cfg(feature = "cuda")))]
#[doc(inline)]
pub use trifold_cuda as cuda;
#[cfg(feature = "opencl")]
#[cfg_attr(docsrs, doc(cfg(feature = "opencl")))]
#[doc(inline)]
pub use trifold_opencl as opencl;
#[cfg(feature = "wgpu")]
#[cfg_attr(docsrs, doc(cfg(feature = "wgpu")))]
#[doc(inline)]
pub use trifold_wgpu as wgpu;

/// What a program that scans, reduces and sorts uses: the traits, the types of memory, and the operators.
/// `use trifold::prelude::*;` brings the calls into scope.
pub mod prelude {
    #[doc(no_inline)]
    pub use crate::operators::*;
    #[doc(no_inline)]
    pub use crate::{Backend, Buffer, Captures, Compacted, Element, Key, Map, Monoid, Summary, Transfer, View, iota};
    #[doc(no_inline)]
    pub use trifold_core::primitive::prelude::*;
}

/// The operators that scans and reductions take, predicates for selections, and maps. They are values, as in
/// `gpu.reduce(&x, Sum)`. Those of a program's own implement [`Monoid`], [`Predicate`] and [`Map`].
///
/// ```
/// # #[cfg(feature = "cpu")]
/// # fn main() -> trifold::Result<()> {
/// use trifold::prelude::*;
///
/// let gpu = trifold::cpu::Cpu::new()?;
/// let x = gpu.upload(&[6u32, 3, 5])?;
/// assert_eq!(gpu.reduce(&x, Sum).value()?, 14);
/// assert_eq!(gpu.reduce(&x, Product).value()?, 90);
/// assert_eq!(gpu.reduce(&x, Min).value()?, 3);
/// assert_eq!(gpu.reduce(&x, Max).value()?, 6);
/// assert_eq!(gpu.reduce(&x, And).value()?, 0);
/// assert_eq!(gpu.reduce(&x, Or).value()?, 7);
/// assert_eq!(gpu.reduce(&x, Xor).value()?, 0);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "cpu"))]
/// # fn main() {}
/// ```
pub mod operators {
    #[doc(inline)]
    pub use trifold_core::{And, AsBin, Difference, EvenBins, Max, Min, NonZero, Or, Product, Sum, UpperHalf, Xor};
}

/// What the calls' traits give: a call that was told what to do, and is yet to be told where. A program seldom names
/// these types. Each ends in a [`Placed`], or in results.
pub mod builders {
    #[doc(inline)]
    pub use trifold_core::primitive::builders::*;
    #[doc(inline)]
    pub use trifold_core::{ArgCall, IntoInput, Offset, Order, Value};
}

/// Types of elements as data, for programs that learn at run time which they have: what [`Element`] and [`Key`] say of
/// a Rust type.
pub mod types {
    #[doc(inline)]
    pub use trifold_core::types::{bf16, f16};
    #[doc(inline)]
    pub use trifold_core::{
        ElementType, Field, Float, KeyField, KeyImage, MinMax, Number, Rank, Scalar, ScalarKind, Weight, for_computed,
        for_held, for_scalar,
    };
}

/// Calls as data. A [`Request`](plan::Request) says what is asked, and [`plan`](plan::plan) makes a
/// [`Plan`](plan::Plan) of it for a device that need not be there. [`Prepared`](plan::Prepared) compiles it, and binds
/// it to memory as a [`Call`]. The builders do all this themselves; this module is for programs that read files of
/// requests, compare algorithms or keep scratch of their own.
pub mod plan {
    #[doc(inline)]
    pub use trifold_core::planner::*;
    #[doc(inline)]
    pub use trifold_core::primitive::requests::*;
    #[doc(inline)]
    pub use trifold_core::{
        Asked, Asks, Builtin, Fault, Form, Gives, Keeps, KernelKey, Label, Launch, Layout, Leaf, MAX_ELEMENTS, MapText,
        Node, Op, Operand, Options, Param, Plan, Prepared, Region, Request, Rest, ScanKind, Segments, Selector, Size,
        SizeStep, Slot, Step, Varies, ViewData, Viewed, ViewedRequest, Waiting, Wanted, forms, scratch_bytes,
        scratch_bytes_up_to,
    };
}

/// The numbers that planning depends on, such as how many elements a workgroup takes. Those of measured devices come
/// with the library; `trifold tune` measures others. A program needs this only to try numbers of its own.
pub mod tuning {
    #[doc(inline)]
    pub use trifold_core::renamed;
    #[doc(inline)]
    pub use trifold_core::tuning::*;
}

/// What a backend is made of. [`Caps`](backend::Caps) says what a device can do. [`Span`](backend::Span) and
/// [`Spans`](backend::Spans) are memory in bytes. The rest is for those who write a backend, or a kernel beside
/// Trifold's.
pub mod backend {
    #[doc(inline)]
    pub use trifold_core::{
        Access, Argument, Block, CallCache, Caps, Command, DeviceKind, HostMap, HostOp, HostSelector, HostView,
        KeptMemory, Kernel, Language, Span, Spans, SpansOf, SubgroupSource, Subgroups, Values,
    };
}

/// The book's programs are tests.
#[cfg(all(doctest, feature = "cpu"))]
mod book {
    macro_rules! pages {
        ($($(#[$when:meta])* $name:ident $path:literal)*) => {
            $($(#[$when])* #[doc = include_str!($path)] struct $name;)*
        };
    }
    pages! {
        #[cfg(feature = "wgpu")]
        QuickStart "../../../docs/quick-start.md"
        GuideCalls "../../../docs/guide/calls.md"
        #[cfg(feature = "wgpu")]
        GuideWgpu "../../../docs/guide/wgpu.md"
        #[cfg(feature = "cuda")]
        GuideCuda "../../../docs/guide/cuda.md"
        #[cfg(feature = "opencl")]
        GuideOpenCl "../../../docs/guide/opencl.md"
        GuideOperators "../../../docs/guide/operators.md"
        GuideKeys "../../../docs/guide/keys.md"
        GuideViews "../../../docs/guide/views.md"
        GuideStatistics "../../../docs/guide/statistics.md"
        GuideSegments "../../../docs/guide/segments.md"
        GuideTopK "../../../docs/guide/top-k.md"
        GuideHistogramsAndRuns "../../../docs/guide/histograms-and-runs.md"
        GuideSizes "../../../docs/guide/sizes.md"
        GuideChoosing "../../../docs/guide/choosing.md"
    }
}
