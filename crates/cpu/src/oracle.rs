//! What scan, reduce and sort are, as plainly as they can be written: one element after the other.
//!
//! Tests compare every backend with this, the CPU backend too. Operators are applied to two elements at a time, in
//! order. Sorting is by comparisons. It uses rayon, as comparing 2^29 keys on one thread takes minutes.
//!
//! [`expect`] answers for a call that is erased to data. Float sums and products depend on the order in which they are
//! combined. For those it gives the value in twice the precision, and the scale of the rounding that a result may have.
//! [`Expected::check`] compares that with what the call gave, and tells the first difference.

mod check;

use std::cmp::Ordering;

use rayon::prelude::*;
use trifold_core::{
    Builtin, Element, ElementType, KeyImage, Monoid, Number, Op, Order, Request, Scalar, Then, ViewData, for_scalar,
};

pub use check::Given;

/// `output[i] = initial + input[0] + ... + input[i]`.
pub fn inclusive_scan<T: Element, M: Monoid<T>>(op: &M, initial: T, input: &[T]) -> Vec<T> {
    let mut running = initial;
    let mut output = vec![];
    for &x in input {
        running = op.combine(running, x);
        output.push(running);
    }
    output
}

/// `output[i] = initial + input[0] + ... + input[i - 1]`.
pub fn exclusive_scan<T: Element, M: Monoid<T>>(op: &M, initial: T, input: &[T]) -> Vec<T> {
    let mut running = initial;
    let mut output = vec![];
    for &x in input {
        output.push(running);
        running = op.combine(running, x);
    }
    output
}

/// `initial + input[0] + ... + input[n - 1]`.
pub fn reduce<T: Element, M: Monoid<T>>(op: &M, initial: T, input: &[T]) -> T {
    let mut running = initial;
    for &x in input {
        running = op.combine(running, x);
    }
    running
}

/// Elements that one task takes at a time, where each is for itself.
pub(crate) const CHUNK: usize = 1 << 16;

/// The keys in order.
pub fn sorted<K: Number>(order: Order, keys: &[K]) -> Vec<K> {
    let mut keys = keys.to_vec();
    // Keys of one place in the order have the same bits, so nothing tells a stable sort from this one.
    keys.par_sort_unstable_by(|a, b| directed(order, a, b));
    keys
}

/// The keys in order, each with its value; equal keys as they stood.
///
/// # Panics
/// If there are fewer values than keys.
pub fn sorted_with<K: Number, V: Copy>(order: Order, keys: &[K], values: &[V]) -> (Vec<K>, Vec<V>) {
    indexed(order, keys).into_iter().map(|(key, i)| (key, values[i as usize])).unzip()
}

/// Where the keys stood that come first, second and so on, so many at most. No call has more than a u32 counts.
pub(crate) fn ordered(image: &KeyImage, keys: &[u8], most: usize) -> Vec<u32> {
    let places = Places { image, keys, most };
    // The fewest bytes that hold both: there may be 2^29 keys.
    match image.width() {
        0..=32 => places.ordered(|key, i| (key as u64) << 32 | u64::from(i)).into_iter().map(|p| p as u32).collect(),
        33..=64 => places.ordered(|key, i| (key as u64, i)).into_iter().map(|(_, i)| i).collect(),
        _ => places.ordered(|key, i| (key, i)).into_iter().map(|(_, i)| i).collect(),
    }
}

/// Keys, of which so many are to be ordered.
struct Places<'a> {
    image: &'a KeyImage,
    keys: &'a [u8],
    most: usize,
}

impl Places<'_> {
    fn ordered<P: Ord + Send>(&self, place: impl Fn(u128, u32) -> P + Sync) -> Vec<P> {
        let keys = self.keys.par_chunks_exact(self.image.bytes as usize).enumerate();
        let mut places: Vec<P> =
            keys.map(|(i, key)| place(self.image.compared(self.image.of(key)), i as u32)).collect();
        if self.most < places.len() {
            places.select_nth_unstable(self.most);
            places.truncate(self.most);
        }
        places.par_sort_unstable();
        places
    }
}

/// The keys in order, each with its place in the input. No call has more than a u32 counts.
fn indexed<K: Number>(order: Order, keys: &[K]) -> Vec<(K, u32)> {
    let mut pairs: Vec<(K, u32)> = keys.iter().copied().zip(0..).collect();
    pairs.par_sort_unstable_by(|(a, i), (b, j)| directed(order, a, b).then(i.cmp(j)));
    pairs
}

fn directed<K: Number>(order: Order, a: &K, b: &K) -> Ordering {
    match order {
        Order::Ascending => a.order(b),
        Order::Descending => b.order(a),
    }
}

/// What a call must give. [`Expected::check`] holds what it gave to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// The output elements or keys.
    pub output: Output,
    /// The output values of a sort, or the totals of a reduction by key.
    pub values: Option<Output>,
    /// What a partition writes to the span of the rest.
    pub rest: Option<Output>,
    /// How many elements a selection keeps, or how many runs there are.
    pub count: Option<u32>,
}

/// What a span must begin with. What lies past that must not be written.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// The type of its elements.
    pub element: ElementType,
    /// The elements.
    pub elements: Elements,
}

/// What elements must be.
#[derive(Debug, Clone, PartialEq)]
pub enum Elements {
    /// These, bit for bit.
    Exact(Vec<u8>),
    /// These, which an operator made: one NaN is as good as another.
    Made(Vec<u8>),
    /// These values, each within `d * eps * scale`, where `d` is the longest chain of combines and `eps` the
    /// type's machine epsilon.
    Near {
        /// The values, exact to far below the element type's precision.
        values: Vec<f64>,
        /// For a sum the sum of magnitudes. For a product its own magnitude for each factor, and what may get lost below the smallest
        /// normal value.
        scales: Vec<f64>,
        /// Whether `d` counts: in a product every factor's rounding does, on whatever chain, and `scales` has them all.
        chained: bool,
    },
}

impl Elements {
    /// These, and others of the same type and operator behind them.
    pub(crate) fn then(mut self, behind: Elements) -> Elements {
        match (&mut self, behind) {
            (Elements::Near { values, scales, .. }, Elements::Near { values: more, scales: more_scales, .. }) => {
                values.extend(more);
                scales.extend(more_scales);
            }
            (Elements::Exact(bytes) | Elements::Made(bytes), Elements::Exact(more) | Elements::Made(more)) => {
                bytes.extend(more);
            }
            (own, behind) => panic!("{behind:?} behind {own:?}"),
        }
        self
    }
}

impl Output {
    /// How many bytes the elements take.
    pub fn bytes(&self) -> usize {
        match &self.elements {
            Elements::Exact(bytes) | Elements::Made(bytes) => bytes.len(),
            Elements::Near { values, .. } => values.len() * self.element.bytes() as usize,
        }
    }

    pub(crate) fn exact(element: &ElementType, bytes: Vec<u8>) -> Output {
        Output { element: element.clone(), elements: Elements::Exact(bytes) }
    }
}

impl Expected {
    /// The same of an output that is mapped. Only what is exact, or as an operator made it, has one answer.
    ///
    /// # Panics
    /// If the output is of sums of floats, or the map is of other elements.
    fn then(self, then: &Then) -> Expected {
        let (Elements::Exact(bytes) | Elements::Made(bytes)) = self.output.elements else {
            panic!("an output of rounded floats is mapped");
        };
        assert_eq!(then.map().inputs.first(), Some(&self.output.element));
        let (size, element) = (self.output.element.bytes() as usize, then.map().output.clone());
        let n = bytes.len() / size;
        let (mut from, bytes) = (Aligned::of(&bytes), n * element.bytes() as usize);
        let mut to = Aligned::of(&vec![0; bytes]);
        // SAFETY: `from` has `n` of the elements that the map is of, and `to` room for as many as it gives, both aligned for any type.
        unsafe { then.host().apply(from.bytes().as_ptr(), n, to.bytes().as_mut_ptr()) };
        let elements = Elements::Made(to.bytes()[..bytes].to_vec());
        Expected { output: Output { element, elements }, ..self }
    }

    pub(crate) fn of(output: Output) -> Expected {
        Expected { output, values: None, rest: None, count: None }
    }
}

/// What a call is given, in memory or as views give it.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// The elements or keys.
    pub input: &'a [u8],
    /// What lies beside them.
    pub values: Option<&'a [u8]>,
    /// Where segments begin, and where the last one ends.
    pub offsets: Option<&'a [u8]>,
}

impl<'a> Inputs<'a> {
    /// Elements or keys, and what lies beside them.
    pub fn new(input: &'a [u8], values: Option<&'a [u8]>) -> Inputs<'a> {
        Inputs { input, values, offsets: None }
    }
}

/// What a request must give for these inputs.
///
/// # Panics
/// If they are not as long as the request says: this is for tests.
pub fn expect(request: &Request, inputs: Inputs<'_>) -> Expected {
    let mapped = request.mapped();
    let request = request.unviewed();
    let expected = crate::PRIMITIVES.iter().find_map(|primitive| (primitive.expect)(request, inputs));
    let expected = expected.expect("every primitive has an oracle");
    match mapped {
        Some(then) => expected.then(then),
        None => expected,
    }
}

/// The first `n` elements of a view, of what its leaves hold.
///
/// # Panics
/// If a straight leaf has fewer elements, or the index of a gather leads past what a leaf has.
pub fn made(view: &ViewData, n: u64, leaves: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let n = n as usize;
    assert_eq!(leaves.len(), view.leaves().len());
    for ((leaf, bytes), length) in view.leaves().iter().zip(leaves).zip(view.lengths_of_leaves(n as u64)) {
        let bytes = bytes.as_ref().len();
        assert!(bytes as u64 >= length * u64::from(leaf.element.bytes()), "a leaf of {bytes} bytes");
    }
    let mut leaves: Vec<_> = leaves.iter().map(|leaf| Aligned::of(leaf.as_ref())).collect();
    let starts: Vec<*const u8> = leaves.iter_mut().map(|leaf| leaf.bytes().as_ptr()).collect();
    let bytes = n * view.node().element().bytes() as usize;
    let mut made = Aligned::of(&vec![0; bytes]);
    // SAFETY: the leaves have as many elements as was asserted, aligned for any type, and what is made has room for `n`.
    unsafe { view.host().load(&starts, 0, n, made.bytes().as_mut_ptr()) };
    made.bytes()[..bytes].to_vec()
}

/// Elements, aligned for any type.
pub(crate) struct Aligned(Vec<u128>);

impl Aligned {
    pub(crate) fn of(bytes: &[u8]) -> Aligned {
        let mut words = vec![0; bytes.len().div_ceil(16)];
        bytemuck::cast_slice_mut::<u128, u8>(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Aligned(words)
    }

    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

/// Puts the scan of elements in their places, from `running` on, which becomes the total.
pub(crate) fn scan_in_place(op: &Op, elements: &mut [u8], running: &mut [u8], exclusive: bool) {
    let size = op.element().bytes() as usize;
    let fits = |bytes: &[u8]| {
        bytes.len().is_multiple_of(size) && bytes.as_ptr().addr().is_multiple_of(op.element().align() as usize)
    };
    assert!(fits(elements) && fits(running) && running.len() == size, "elements of one type, aligned");
    let (place, n) = (elements.as_mut_ptr(), elements.len() / size);
    // SAFETY: `n` elements of the operator's type fill the one slice and one fills the other, both aligned for it.
    // Input and output may be the same: each element is read before its place is written.
    unsafe { op.host().scan(place, place, n, running.as_mut_ptr(), exclusive) }
}

/// The total of each run of the values. There is one from each start to the next.
pub(crate) fn totals(op: &Op, start: &[u8], values: &[u8], starts: &[u32]) -> Output {
    let size = op.element().bytes() as usize;
    let place = |run: usize| starts.get(run).map_or(values.len(), |start| *start as usize * size);
    let elements = match Precise::of(op, start) {
        Some(running) => {
            let ends = (0..starts.len()).map(|run| running.reduce(&values[place(run)..place(run + 1)]));
            let (values, scales) = ends.map(|end| (end.value(), end.scale())).unzip();
            Elements::Near { values, scales, chained: !running.product }
        }
        None => {
            let (mut elements, mut totals) = (Aligned::of(values), Aligned::of(&start.repeat(starts.len())));
            let totals = &mut totals.bytes()[..starts.len() * size];
            for (run, total) in totals.chunks_exact_mut(size).enumerate() {
                scan_in_place(op, &mut elements.bytes()[place(run)..place(run + 1)], total, false);
            }
            Elements::Made(totals.to_vec())
        }
    };
    Output { element: op.element().clone(), elements }
}

/// The greatest exponent of a power of two that divides a float: of 0 any does.
fn unit(x: f64) -> i32 {
    let (bits, exponent) = (x.to_bits(), (x.to_bits() >> 52 & 0x7ff) as i32);
    let digits = bits & ((1 << 52) - 1) | u64::from(exponent > 0) << 52;
    if digits == 0 { i32::MAX } else { exponent.max(1) - 1075 + digits.trailing_zeros() as i32 }
}

/// A float sum or product as the unevaluated sum of two f64.
#[derive(Clone, Copy)]
pub(crate) struct Precise {
    scalar: Scalar,
    product: bool,
    high: f64,
    low: f64,
    magnitudes: f64,
    /// How many factors a product has by now.
    factors: f64,
    /// The greatest exponent of a power of two that divides all summands.
    unit: i32,
}

impl Precise {
    /// For a built-in sum or product of floats.
    pub(crate) fn of(op: &Op, start: &[u8]) -> Option<Precise> {
        let &ElementType::Scalar(scalar) = op.element() else { return None };
        let product = op.builtin == Some(Builtin::Product);
        let rounds = scalar.is_float() && (product || op.builtin == Some(Builtin::Sum));
        let high = rounds.then(|| scalar.to_f64(start))?;
        Some(Precise { scalar, product, high, low: 0.0, magnitudes: high.abs(), factors: 1.0, unit: unit(high) })
    }

    fn step(&mut self, x: f64) {
        let (high, low) = (self.high, self.low);
        if self.product {
            self.high = high * x;
            self.low = high.mul_add(x, -self.high) + low * x;
            self.factors += 1.0;
            self.magnitudes = self.high.abs() * self.factors;
        } else {
            // Knuth's two-sum: the rounding error of an addition is a float itself.
            self.high = high + x;
            let back = self.high - high;
            self.low = low + ((high - (self.high - back)) + (x - back));
            self.magnitudes += x.abs();
            self.unit = self.unit.min(unit(x));
        }
    }

    fn value(&self) -> f64 {
        // The low part is of no use once the high one is not finite.
        if self.high.is_finite() { self.high + self.low } else { self.high }
    }

    /// What an element is rounded by, in the type's epsilons.
    fn scale(&self) -> f64 {
        let lost = for_scalar!(self.scalar, integer _T => 0.0, float T => (T::MIN_POSITIVE / T::EPSILON).to_f64());
        let digits = for_scalar!(self.scalar, integer _T => 0, float T => T::PRECISION);
        // Sums of few multiples of one unit are rounded in no order.
        let is_exact = self.magnitudes <= 2f64.powi(self.unit.saturating_add(digits as i32).min(f64::MAX_EXP - 1));
        match self.product {
            true => self.magnitudes + lost,
            false if is_exact => 0.0,
            false => self.magnitudes,
        }
    }

    pub(crate) fn scan(mut self, input: &[u8], exclusive: bool) -> Elements {
        let (scalar, size) = (self.scalar, self.scalar.bytes() as usize);
        let n = input.len() / size;
        let (mut values, mut scales) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for bytes in input.chunks_exact(size) {
            let before = self;
            self.step(scalar.to_f64(bytes));
            let here = if exclusive { before } else { self };
            values.push(here.value());
            scales.push(here.scale());
        }
        Elements::Near { values, scales, chained: !self.product }
    }

    fn reduce(mut self, input: &[u8]) -> Precise {
        let scalar = self.scalar;
        input.chunks_exact(scalar.bytes() as usize).for_each(|bytes| self.step(scalar.to_f64(bytes)));
        self
    }
}

#[cfg(test)]
mod tests {
    use trifold_core::{Builtin, Max, ReduceRequest, ScanKind, ScanRequest, Sum};

    use super::*;

    #[test]
    fn sums_that_are_exact_in_any_order_are_held_to_their_bits() {
        assert_eq!([0.75, -12.0, 1.0, 0.0, f64::from_bits(6)].map(unit), [-2, 2, 0, i32::MAX, -1073]);
        let scale = |input: &[f32]| {
            let sum = Op::builtin(Builtin::Sum, Scalar::F32).unwrap();
            Precise::of(&sum, &[0; 4]).unwrap().reduce(bytemuck::cast_slice(input)).scale()
        };
        assert_eq!(scale(&[0.5, -3.0, 4.25]), 0.0);
        assert_eq!(scale(&[1.0, 16_777_215.0]), 0.0);
        assert_eq!(scale(&[1.0, 1.0, -16_777_215.0]), 16_777_217.0);
        assert_eq!(scale(&[0.1, 1.0]), 1.0 + f64::from(0.1f32));
    }

    #[test]
    fn scans_and_reduces() {
        assert_eq!(inclusive_scan::<u32, _>(&Sum, 10, &[1, 2, 3]), [11, 13, 16]);
        assert_eq!(exclusive_scan::<u32, _>(&Sum, 10, &[1, 2, 3]), [10, 11, 13]);
        assert_eq!(reduce::<i32, _>(&Max, -7, &[-9, -8]), -7);
        assert_eq!(reduce::<u32, _>(&Sum, 4, &[]), 4);
    }

    #[test]
    fn sorts_stably_in_total_order() {
        let keys = [0.0, f32::NAN, -0.0, f32::NEG_INFINITY, -f32::NAN, 1.0];
        let bits = |keys: Vec<f32>| keys.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        let up = [-f32::NAN, f32::NEG_INFINITY, -0.0, 0.0, 1.0, f32::NAN];
        assert_eq!(bits(sorted(Order::Ascending, &keys)), bits(up.to_vec()));
        let (_, values) = sorted_with(Order::Descending, &[1, 2, 1, 2], &['a', 'b', 'c', 'd']);
        assert_eq!(values, ['b', 'd', 'a', 'c']);
    }

    #[test]
    fn erased_scan_is_the_typed_one() {
        let input: Vec<i64> = (0..100).map(|i| (i * 7919) % 31 - 15).collect();
        let op = Op::builtin(Builtin::Max, Scalar::I64).unwrap();
        let request = |kind| Request::Scan(ScanRequest { op: op.clone(), n: 100, kind, initial: None, total: false });
        let bytes = bytemuck::cast_slice(&input);
        let inclusive = inclusive_scan::<i64, _>(&Max, i64::MIN, &input);
        let exclusive = exclusive_scan::<i64, _>(&Max, i64::MIN, &input);
        for (kind, want) in [(ScanKind::Inclusive, inclusive), (ScanKind::Exclusive, exclusive)] {
            let want = bytemuck::cast_slice(&want).to_vec();
            assert_eq!(expect(&request(kind), Inputs::new(bytes, None)).output.elements, Elements::Made(want));
        }
    }

    #[test]
    fn float_sums_carry_their_scale() {
        let op = Op::builtin(Builtin::Sum, Scalar::F64).unwrap();
        let request = Request::Reduce(ReduceRequest { op, n: 3, initial: None });
        let input: [f64; 3] = [1.0, 2f64.powi(-80), -1.0];
        let Elements::Near { values, scales, .. } =
            expect(&request, Inputs::new(bytemuck::cast_slice(&input), None)).output.elements
        else {
            panic!("a float sum is near, not exact");
        };
        assert_eq!((values[0], scales[0]), (2f64.powi(-80), 2.0));
    }
}
