//! Histograms: how many elements are in each bin.

use std::borrow::Cow;
use std::fmt;

use super::mapped::one_output;
use super::{Asked, Form, Label, Operand, Primitive, Varies, Written};
use crate::algorithm::Algorithm;
use crate::algorithm::histogram::{GLOBAL, SHARED, fits};
use crate::planner::{Planner, whole};
use crate::results::{Results, length, results};
use crate::types::{bf16, f16};
use crate::{
    Backend, Buffer, Captures, Device, ElementType, Error, IntoInput, MAX_ELEMENTS, Map, NO_PLACE, Number, Param,
    Placed, Result, Scalar, ScalarKind, Slot, Spans, Step, Transfer, View, ViewData, block_on, bounds, element,
};

/// How many of `n` bins' numbers each of the bins has.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HistogramRequest {
    /// How many bins there are.
    pub bins: u64,
    /// How many elements, each the number of a bin, a `u32`.
    pub n: u64,
    /// The type of the elements' weights, which are summed up in place of counts: one of [`Weight`]'s.
    pub weight: Option<Scalar>,
}

/// The types of [`Weight`].
const WEIGHTS: [Scalar; 3] = [Scalar::U32, Scalar::I32, Scalar::F32];

/// Histograms: of integers by their upper bits, of floats even bins over [0, 1).
pub static HISTOGRAM: Form = Form {
    varies: Varies::Bins,
    ..Form::new("histogram", "Histogram of {}", |&Asked { scalar, n, bins, .. }| {
        let view = match scalar.kind() {
            ScalarKind::Float => even_bins(scalar, EvenBins::over(0.0, 1.0, bins as usize)),
            _ => upper_bits(scalar, bins),
        };
        Some(view?.into_request(HistogramRequest { bins: bins.into(), n, weight: None }))
    })
};

/// Histograms of the upper bits of `u32`s, that sum up weights.
pub static WEIGHTED_HISTOGRAM: Form = Form {
    varies: Varies::Bins,
    ..Form::new("weighted_histogram", "Histogram of u32 by weights of {}", |&Asked { scalar, n, bins, .. }| {
        let request = HistogramRequest { bins: bins.into(), n, weight: Some(scalar) };
        let view = WEIGHTS.contains(&scalar).then(|| upper_bits(Scalar::U32, bins))?;
        Some(view?.into_request(request))
    })
};

/// Histograms by edges that are memory, one more than bins.
pub static HISTOGRAM_BY_EDGES: Form = Form {
    varies: Varies::Bins,
    ..Form::new("histogram_by_edges", "Histogram of {} by edges", |&Asked { scalar, n, bins, .. }| {
        let view = bounds::binned(scalar, u64::from(bins) + 1)?;
        Some(view.into_request(HistogramRequest { bins: bins.into(), n, weight: None }))
    })
};

fn even_bins(scalar: Scalar, bins: EvenBins) -> Option<ViewData> {
    Some(match scalar {
        Scalar::F16 => ViewData::mapped::<f16, _>(bins),
        Scalar::BF16 => ViewData::mapped::<bf16, _>(bins),
        Scalar::F32 => ViewData::mapped::<f32, _>(bins),
        Scalar::F64 => ViewData::mapped::<f64, _>(bins),
        _ => return None,
    })
}

/// By as many of the upper bits as bins have numbers. 256 bins are of all integers up to 64 bits, others of `u32` alone.
fn upper_bits(scalar: Scalar, bins: u32) -> Option<ViewData> {
    Some(match scalar {
        Scalar::U32 if bins != 256 && bins.is_power_of_two() && bins > 1 => {
            ViewData::mapped::<u32, _>(Above { shift: 32 - bins.ilog2() })
        }
        _ if bins != 256 => return None,
        Scalar::U8 => ViewData::mapped::<u8, _>(UpperBits),
        Scalar::I8 => ViewData::mapped::<i8, _>(UpperBits),
        Scalar::U16 => ViewData::mapped::<u16, _>(UpperBits),
        Scalar::I16 => ViewData::mapped::<i16, _>(UpperBits),
        Scalar::U32 => ViewData::mapped::<u32, _>(UpperBits),
        Scalar::I32 => ViewData::mapped::<i32, _>(UpperBits),
        Scalar::U64 => ViewData::mapped::<u64, _>(UpperBits),
        Scalar::I64 => ViewData::mapped::<i64, _>(UpperBits),
        _ => return None,
    })
}

element! {
    /// The bin of an integer: its bits from one on.
    struct Above { shift: u32 }
}

impl Map<u32> for Above {
    type Output = u32;
    fn text(&self) -> Cow<'static, str> {
        "fn map(a: A) -> U { return a >> captures.shift; }".into()
    }
    fn map(&self, a: u32) -> u32 {
        a >> self.shift
    }
    fn captures(&self) -> Captures {
        Captures::of(self)
    }
}

/// The bin of an integer: its upper eight bits.
#[derive(Clone)]
struct UpperBits;

macro_rules! upper_bits {
    ($($T:ident $text:literal)*) => {
        $(impl Map<$T> for UpperBits {
            type Output = u32;
            fn text(&self) -> Cow<'static, str> {
                concat!("fn map(a: A) -> U { return ", $text, "; }").into()
            }
            fn map(&self, a: $T) -> u32 {
                u32::from((a >> ($T::BITS - 8)) as u8)
            }
        })*
    };
}

upper_bits! {
    u8 "a"
    i8 "u32(a) & 255u"
    u16 "a >> 8u"
    i16 "u32(a >> 8u) & 255u"
    u32 "a >> 24u"
    i32 "u32(a >> 24u) & 255u"
    u64 "u32(a >> 56u)"
    i64 "u32(a >> 56u) & 255u"
}

/// A map to bins for [`Histogram::histogram`]: an integer of 8 or 16 bits is the number of its bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AsBin;

macro_rules! as_bin {
    ($($T:ident)*) => {
        $(impl Map<$T> for AsBin {
            type Output = u32;
            fn name(&self) -> Cow<'static, str> {
                "as_bin".into()
            }
            fn text(&self) -> Cow<'static, str> {
                "fn map(a: A) -> U { return a; }".into()
            }
            fn map(&self, a: $T) -> u32 {
                a.into()
            }
        })*
    };
}

as_bin!(u8 u16);

/// A map to bins for [`Histogram::histogram`]: even ones over a range of floats.
///
/// What is below the range, at its end or past it, and what is no number, is in no bin: its number is [`NO_PLACE`],
/// past the bins of any histogram. An element on the line between two bins may be in either, as its place is rounded.
///
/// The place of an `f64` is computed in `f64`. That of any other float is computed in `f32`, and the range's ends are rounded to
/// `f32` for it. So nothing is in a range whose ends are one number as `f32`, or of which one is past `f32::MAX`.
#[derive(Clone, Copy, PartialEq)]
pub struct EvenBins {
    single: EvenBins32,
    double: EvenBins64,
}

impl EvenBins {
    /// So many over `low..high`, `u32::MAX` at most. A range that does not end past its begin, or has an infinite end, has nothing in it.
    ///
    /// ```
    /// # use trifold_core::{EvenBins, Map};
    /// let bins = EvenBins::over(0.0, 1.0, 4);
    /// assert_eq!([0.1f32, 0.5, 1.0].map(|x| bins.map(x)), [0, 2, u32::MAX]);
    /// assert_eq!(EvenBins::over(f32::MIN, f32::MAX, 3).map(1.0f32), 1);
    /// // Ten seconds of 2026 in Unix time, which are one number as f32.
    /// assert_eq!(EvenBins::over(1.79e9, 1.79e9 + 10.0, 10).map(1.79e9f64 + 4.5), 4);
    /// assert_eq!(EvenBins::over(0.0, 4e-322, 8).map(2.25e-322f64), 4);
    /// ```
    pub fn over(low: impl Into<f64>, high: impl Into<f64>, bins: usize) -> EvenBins {
        let (low, high, bins) = (low.into(), high.into(), u32::try_from(bins).unwrap_or(u32::MAX));
        EvenBins { single: EvenBins32::over(low as f32, high as f32, bins), double: EvenBins64::over(low, high, bins) }
    }
}

impl fmt::Debug for EvenBins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EvenBins64 { low, high, bins, .. } = self.double;
        write!(f, "EvenBins({bins} over {low:?}..{high:?})")
    }
}

macro_rules! even_bins {
    ($($Wide:ident $Bins:ident { $($unused:ident)? } as $own:ident of $($T:ident by $widened:expr),*;)*) => {$(
        element! {
            /// What a text reads of [`EvenBins`].
            struct $Bins {
                /// Where the first begins.
                low: $Wide,
                /// Where the last ends.
                high: $Wide,
                /// A power of two. Times it, neither the range nor its reciprocal is out of what the type can be.
                unit: $Wide,
                /// Where the first begins, times the unit.
                begin: $Wide,
                /// How many bins a distance of 1 spans, of elements times the unit.
                scale: $Wide,
                /// How many there are.
                bins: u32
                // An element has no padding: up to a multiple of eight bytes.
                $(, $unused: u32)?
            }
        }

        impl $Bins {
            fn over(low: $Wide, high: $Wide, bins: u32) -> Self {
                // Half of the exponents that the type has: exact, as each power of two is.
                let far = (2.0 as $Wide).powi($Wide::MAX_EXP / 2 - 1);
                let half = high / 2.0 - low / 2.0;
                if !(low < high && half.is_finite() && bins > 0) {
                    return bytemuck::Zeroable::zeroed();
                }
                let unit = match half {
                    half if half > far => 1.0 / far,
                    half if half < 1.0 / far => far,
                    _ => 1.0,
                };
                let begin = low * unit;
                let scale = bins as $Wide / (high * unit - begin);
                $Bins { low, high, unit, begin, scale, bins, $($unused: 0)? }
            }
        }

        $(impl Map<$T> for EvenBins {
            type Output = u32;
            fn name(&self) -> Cow<'static, str> {
                "even_bins".into()
            }
            fn text(&self) -> Cow<'static, str> {
                // The last line's number is NO_PLACE.
                concat!(
                    "alias W = ", stringify!($Wide), ";\nfn map(a: A) -> U {\n  let x = W(a);\n",
                    "  let bin = u32((x * captures.unit - captures.begin) * captures.scale);\n",
                    "  let is_in = (x >= captures.low) & (x < captures.high);\n",
                    "  return select(0xffffffffu, min(bin, captures.bins - 1u), is_in);\n}"
                )
                .into()
            }
            fn map(&self, a: $T) -> u32 {
                const WIDENED: fn($T) -> $Wide = $widened;
                let (x, own) = (WIDENED(a), &self.$own);
                match x >= own.low && x < own.high {
                    true => (((x * own.unit - own.begin) * own.scale) as u32).min(own.bins - 1),
                    false => NO_PLACE,
                }
            }
            fn captures(&self) -> Captures {
                Captures::of(&self.$own)
            }
        })*
    )*};
}

even_bins! {
    f32 EvenBins32 {} as single of f32 by |x| x, f16 by f16::to_f32, bf16 by bf16::to_f32;
    f64 EvenBins64 { unused } as double of f64 by |x| x;
}

impl HistogramRequest {
    /// What is read, and the counts.
    pub(crate) fn bytes(&self) -> u64 {
        let inputs = if self.weight.is_some() { 2 } else { 1 };
        self.n.saturating_mul(inputs).saturating_add(self.bins).saturating_mul(4)
    }

    /// Whether floats are summed up, whose bits depend on the order.
    pub fn adds_floats(&self) -> bool {
        self.weight == Some(Scalar::F32)
    }

    /// The type of a bin's count or sum.
    fn sum(&self) -> Scalar {
        self.weight.unwrap_or(Scalar::U32)
    }
}

impl Primitive for HistogramRequest {
    fn form(&self) -> &'static Form {
        if self.weight.is_some() { &WEIGHTED_HISTOGRAM } else { &HISTOGRAM }
    }

    fn n(&self) -> u64 {
        self.n
    }

    fn written(&self) -> Option<Written> {
        Some(Written::Elements(Param::Word(self.bins as u32)))
    }

    fn label(&self) -> Label {
        let weight = self.weight.map(ElementType::Scalar);
        let mut label = Label::new(&[Some(&ElementType::Scalar(Scalar::U32)), weight.as_ref()], "-", &[]);
        label.more.push(format!("bins={}", self.bins).into());
        label
    }

    fn operands(&self) -> Vec<Operand> {
        let sum = ElementType::Scalar(self.sum());
        let weights = self.weight.map(|_| Operand::new(Slot::InputValues, &sum, self.n));
        let counts = Operand { packed: false, ..Operand::new(Slot::Output, &sum, self.bins) };
        let bins = Operand::new(Slot::Input, &ElementType::Scalar(Scalar::U32), self.n);
        [Some(bins), weights, Some(counts)].into_iter().flatten().collect()
    }

    fn bytes_moved_by(&self, _: u64) -> u64 {
        self.bytes()
    }

    fn check(&self) -> Result<()> {
        match self.bins {
            _ if !WEIGHTS.contains(&self.sum()) => Err(Error::Unsupported(format!(
                "a histogram's weights of type {}; they are u32, i32 or f32: convert them by a view",
                self.sum().name()
            ))),
            0 => Err(Error::Invalid("a histogram of 0 bins; give it one at least".into())),
            bins if bins > MAX_ELEMENTS => {
                Err(Error::Invalid(format!("a histogram of {bins} bins; there may be {MAX_ELEMENTS} at most")))
            }
            _ => Ok(()),
        }
    }

    fn apart(&self) -> Option<&'static str> {
        Some("a histogram onto its elements, which are still read by then; give it two spans")
    }

    fn of_nothing(&self) -> Vec<Step> {
        vec![Step::Fill { region: whole(Slot::Output, 4 * self.bins), value: 0, once: false }]
    }

    fn choose(&self, planner: &Planner<'_>, first: &'static Algorithm) -> &'static Algorithm {
        if first == &SHARED && !fits(planner, self) { &GLOBAL } else { first }
    }
}

/// Histograms.
///
/// Each workgroup counts in memory of its own, and adds what it counted to the output. Bins that are too many for that
/// memory are counted in the output itself. Each element is read once. Counts are `u32`; [weights](Weight) are summed up
/// in their own type.
///
/// # Errors
/// As of [`Scan`](crate::Scan), and [`Error::Invalid`] for no bins.
pub trait Histogram: Backend {
    /// How many elements are in each of the bins from 0 on. An element is the number of its bin. One that is no less
    /// than `bins` is not counted.
    ///
    /// A [view](View) makes bins of anything. There are two maps for it, [`EvenBins`] and [`AsBin`]:
    ///
    /// ```
    /// # use trifold_core::{AsBin, EvenBins, Histogram, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let bins = gpu.upload(&[2u32, 0, 2, 7])?;
    /// assert_eq!(gpu.histogram(&bins, 3).read()?, [1, 0, 2]);
    ///
    /// let x = gpu.upload(&[0.1f32, 0.9, 0.2, 1.5])?;
    /// assert_eq!(gpu.histogram(x.mapped(EvenBins::over(0.0, 1.0, 4)), 4).read()?, [2, 0, 0, 1]);
    ///
    /// let bytes = gpu.upload(&[3u8, 3, 255])?;
    /// let counts = gpu.histogram(bytes.mapped(AsBin), 256).read()?;
    /// assert_eq!((counts[3], counts[255]), (2, 1));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// [`View::binned`] makes bins by given edges.
    fn histogram<X: IntoInput<Self, Item = u32>>(&self, x: X, bins: usize) -> HistogramCall<u32, Self> {
        HistogramCall { device: self.clone(), input: x.into_input(), weights: None, bins }
    }
}
impl<B: Backend> Histogram for B {}

/// What a [histogram](Histogram) can sum up in place of counts: `u32` and `i32`, whose sums wrap around, and `f32`.
///
/// The order in which floats are summed up follows from when workgroups run, and with it the sums' last bits. A
/// [sort](crate::Sort) by bins and a [reduction by key](crate::ReduceByKey) sum up any elements in a fixed order. NVIDIA's GPUs take sums
/// and parts of them below the smallest normal `f32` for zero.
pub trait Weight: Number + sealed::Weight {}

mod sealed {
    pub trait Weight {}
    impl Weight for u32 {}
    impl Weight for i32 {}
    impl Weight for f32 {}
}
impl<W: Number + sealed::Weight> Weight for W {}

/// A histogram whose counts have no place yet.
///
/// ```
/// # use trifold_core::{block_on, Histogram, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let x = gpu.upload(&[2u32, 0, 2])?;
/// assert_eq!(gpu.histogram(&x, 3).read()?, [1, 0, 2]);
/// assert_eq!(block_on(gpu.histogram(&x, 3).read_async())?, [1, 0, 2]);
///
/// // To new memory on the device.
/// assert_eq!(gpu.histogram(&x, 3).collect()?.len(), 3);
///
/// // Of as many elements as a word on the device says.
/// let n = gpu.upload(&[1u32])?;
/// assert_eq!(gpu.histogram(&x, 3).len_on_device(&n).read()?, [0, 0, 1]);
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to(&out), collect() or read()"]
pub struct HistogramCall<W, B: Backend = Device> {
    device: B,
    input: View<u32, B>,
    weights: Option<View<W, B>>,
    bins: usize,
}

impl<B: Backend> HistogramCall<u32, B> {
    /// Sums up what stands beside the elements of each bin, instead of counting them.
    ///
    /// ```
    /// # use trifold_core::{Histogram, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (bins, weights) = (gpu.upload(&[2u32, 0, 2])?, gpu.upload(&[0.5f32, 4.0, 1.0])?);
    /// assert_eq!(gpu.histogram(&bins, 3).weighted(&weights).read()?, [4.0, 0.0, 1.5]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn weighted<X: IntoInput<B>>(self, weights: X) -> HistogramCall<X::Item, B>
    where
        X::Item: Weight,
    {
        let weights = weights.into_input();
        HistogramCall {
            device: self.device,
            input: self.input.beside(&weights, ["elements", "weights"]),
            weights: Some(weights),
            bins: self.bins,
        }
    }
}

impl<W: Weight, B: Backend> HistogramCall<W, B> {
    /// To a buffer of as many counts as there are bins.
    ///
    /// ```
    /// # use trifold_core::{Histogram, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, counts) = (gpu.upload(&[2u32, 0, 2])?, gpu.alloc(3)?);
    /// gpu.histogram(&x, 3).to(&counts).run()?;
    /// assert_eq!(counts.read()?, [1, 0, 2]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn to(self, counts: &Buffer<W, B>) -> Placed<B> {
        let request = self.request();
        let HistogramCall { device, input, weights, .. } = self;
        let input_values = weights.as_ref().and_then(|weights| weights.memory().cloned());
        let spans = Spans { input_values, ..input.spans_to(counts.span()) };
        let placed = Placed::new(device, request, spans).reads(Slot::Input, &input);
        match &weights {
            Some(weights) => placed.reads(Slot::InputValues, weights),
            None => placed,
        }
    }

    fn request(&self) -> HistogramRequest {
        let weight = self.weights.as_ref().map(|_| W::SCALAR);
        HistogramRequest { bins: self.bins as u64, n: self.input.n(), weight }
    }

    /// How many counts it gives, if there may be so many bins.
    fn outputs(&self) -> Result<usize> {
        self.request().check()?;
        Ok(self.bins)
    }
}

length!(HistogramCall<W: Weight>, input);

one_output!(HistogramCall<W: Weight>, W, device; |call| call.outputs());

results! {
    HistogramCall<W: Weight>::collect, collect_async -> Buffer<W, B>, Vec<W>; |call| {
        let counts = call.device.alloc(call.outputs()?)?;
        call.to(&counts).run_async().await?;
        Ok(counts)
    }
}
