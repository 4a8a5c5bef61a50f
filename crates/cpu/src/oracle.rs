//! What scan, reduce and sort are, as plainly as they can be written: one element after the other.
//!
//! Every backend is held to this, the CPU backend too: operators are applied to two elements at a time, in order, and sorting is by
//! comparisons, rayon's, because comparing 2^29 keys on one thread takes minutes.
//!
//! [`expect`] answers for a call that is erased to data. Float sums and products depend on the order in which they are
//! combined; for those it gives the value in twice the precision, and the scale of the rounding that a result may have.

use std::cmp::Ordering;

use rayon::slice::ParallelSliceMut;
use trifold_core::{
    Builtin, Element, ElementType, Key, Monoid, Op, Order, ReduceByKeyRequest, Request, Rest, Scalar, ScanKind,
    SelectRequest, SortRequest,
};

/// `output[i] = initial + input[0] + ... + input[i]`.
pub fn inclusive_scan<T: Element, M: Monoid<T>>(initial: T, input: &[T]) -> Vec<T> {
    let mut running = initial;
    let mut output = vec![];
    for &x in input {
        running = M::combine(running, x);
        output.push(running);
    }
    output
}

/// `output[i] = initial + input[0] + ... + input[i - 1]`.
pub fn exclusive_scan<T: Element, M: Monoid<T>>(initial: T, input: &[T]) -> Vec<T> {
    let mut running = initial;
    let mut output = vec![];
    for &x in input {
        output.push(running);
        running = M::combine(running, x);
    }
    output
}

/// `initial + input[0] + ... + input[n - 1]`.
pub fn reduce<T: Element, M: Monoid<T>>(initial: T, input: &[T]) -> T {
    let mut running = initial;
    for &x in input {
        running = M::combine(running, x);
    }
    running
}

/// Keys with the order that sort gives them.
pub trait Ordered: Key {
    /// By value for integers, by IEEE 754's `totalOrder` for floats.
    fn order(&self, other: &Self) -> Ordering;
}

macro_rules! ordered {
    ($($ty:ty: $by:ident),*) => {$(
        impl Ordered for $ty {
            fn order(&self, other: &Self) -> Ordering {
                self.$by(other)
            }
        }
    )*};
}
ordered!(u32: cmp, i32: cmp, f32: total_cmp, u64: cmp, i64: cmp, f64: total_cmp);

/// The keys in order.
pub fn sort_keys<K: Ordered>(order: Order, keys: &[K]) -> Vec<K> {
    let mut keys = keys.to_vec();
    // Keys of one place in the order have the same bits, so nothing tells a stable sort from this one.
    keys.par_sort_unstable_by(|a, b| directed(order, a, b));
    keys
}

/// The keys in order, each with its value; equal keys as they stood.
///
/// # Panics
/// If there are fewer values than keys.
pub fn sort_pairs<K: Ordered, V: Copy>(order: Order, keys: &[K], values: &[V]) -> (Vec<K>, Vec<V>) {
    sorted_indices(order, keys).into_iter().map(|i| (keys[i], values[i])).unzip()
}

/// Where each place of the sorted keys comes from.
fn sorted_indices<K: Ordered>(order: Order, keys: &[K]) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..keys.len()).collect();
    indices.par_sort_by(|&a, &b| directed(order, &keys[a], &keys[b]));
    indices
}

fn directed<K: Ordered>(order: Order, a: &K, b: &K) -> Ordering {
    match order {
        Order::Ascending => a.order(b),
        Order::Descending => b.order(a),
    }
}

/// What a call must give.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// The output elements or keys.
    pub output: Output,
    /// The output values of a sort.
    pub values: Option<Vec<u8>>,
    /// What a reduction by key writes to its output values, of which there are [`Expected::count`].
    pub totals: Option<Output>,
    /// What a partition writes to the span of the rest.
    pub rest: Option<Vec<u8>>,
    /// How many elements a selection keeps, or how many runs there are. Only those are written, and with them [`Expected::output`] ends.
    pub count: Option<u32>,
}

/// What the output elements must be.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// These bytes. Where an operator made them, one NaN is as good as another.
    Exact(Vec<u8>),
    /// These values, each within `d * eps * scale`, where `d` is the longest chain of combines and `eps` the
    /// type's machine epsilon.
    Near {
        /// The values, exact to far below the element type's precision.
        values: Vec<f64>,
        /// For a sum the sum of magnitudes, for a product its own magnitude.
        scales: Vec<f64>,
        /// Whether `d` counts: in a product every factor's rounding does, on whatever chain, and `scales` has them all.
        chained: bool,
    },
}

/// What a request must give for this input.
///
/// # Panics
/// If the input or the values are not as long as the request says: this is for tests.
pub fn expect(request: &Request, input: &[u8], values: Option<&[u8]>) -> Expected {
    let output = match request {
        Request::Copy(_) => Output::Exact(input.to_vec()),
        Request::Scan(r) => {
            let exclusive = r.kind == ScanKind::Exclusive;
            let start = r.initial.as_deref().unwrap_or(r.op.identity());
            match Precise::of(&r.op, start) {
                Some(running) => running.scan(r.op.element().bytes(), input, exclusive),
                None => Output::Exact(scan_bytes(&r.op, start, input, exclusive)),
            }
        }
        Request::Reduce(r) => {
            let start = r.initial.as_deref().unwrap_or(r.op.identity());
            match Precise::of(&r.op, start) {
                Some(running) => running.reduce(r.op.element().bytes(), input),
                None => Output::Exact(reduce_bytes(&r.op, start, input)),
            }
        }
        Request::Sort(r) => {
            let (keys, values) = sort_bytes(r, input, values);
            return Expected { output: Output::Exact(keys), values, totals: None, rest: None, count: None };
        }
        Request::Select(r) => return select_bytes(r, input),
        Request::ReduceByKey(r) => return runs_bytes(r, input, values),
    };
    Expected { output, values: None, totals: None, rest: None, count: None }
}

/// One element, aligned for any.
struct Slot(Vec<u64>, usize);

impl Slot {
    fn of(bytes: &[u8]) -> Slot {
        let mut slot = Slot(vec![0; bytes.len().div_ceil(8)], bytes.len());
        slot.set(bytes);
        slot
    }

    fn set(&mut self, bytes: &[u8]) {
        bytemuck::cast_slice_mut::<u64, u8>(&mut self.0)[..bytes.len()].copy_from_slice(bytes);
    }

    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.0)[..self.1]
    }

    /// `self = combine(self, x)`.
    fn combine(&mut self, op: &Op, x: &mut Slot) {
        assert_eq!(
            (self.1, x.1),
            (op.element().bytes() as usize, op.element().bytes() as usize),
            "elements of one type"
        );
        // SAFETY: both slots hold one element of the operator's type, at an address that suits any.
        unsafe { (op.host().fold)(x.0.as_ptr().cast(), 1, self.0.as_mut_ptr().cast()) }
    }
}

fn scan_bytes(op: &Op, start: &[u8], input: &[u8], exclusive: bool) -> Vec<u8> {
    let mut output = Vec::with_capacity(input.len());
    let (mut running, mut x) = (Slot::of(start), Slot::of(start));
    for bytes in input.chunks_exact(op.element().bytes() as usize) {
        if exclusive {
            output.extend_from_slice(running.bytes());
        }
        x.set(bytes);
        running.combine(op, &mut x);
        if !exclusive {
            output.extend_from_slice(running.bytes());
        }
    }
    output
}

fn reduce_bytes(op: &Op, start: &[u8], input: &[u8]) -> Vec<u8> {
    let (mut running, mut x) = (Slot::of(start), Slot::of(start));
    for bytes in input.chunks_exact(op.element().bytes() as usize) {
        x.set(bytes);
        running.combine(op, &mut x);
    }
    running.bytes().to_vec()
}

/// A float sum or product as the unevaluated sum of two f64.
#[derive(Clone, Copy)]
struct Precise {
    product: bool,
    high: f64,
    low: f64,
    magnitudes: f64,
    /// How many factors a product has by now.
    factors: f64,
}

impl Precise {
    /// For a built-in sum or product of floats.
    fn of(op: &Op, start: &[u8]) -> Option<Precise> {
        let float = matches!(op.element(), ElementType::Scalar(s) if s.is_float());
        let product = op.builtin == Some(Builtin::Product);
        let high = (float && (product || op.builtin == Some(Builtin::Sum))).then(|| as_f64(start))?;
        Some(Precise { product, high, low: 0.0, magnitudes: high.abs(), factors: 1.0 })
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
        }
    }

    fn value(&self) -> f64 {
        // The low part is of no use once the high one is not finite.
        if self.high.is_finite() { self.high + self.low } else { self.high }
    }

    fn scan(mut self, size: u32, input: &[u8], exclusive: bool) -> Output {
        let (mut values, mut scales) = (vec![], vec![]);
        for bytes in input.chunks_exact(size as usize) {
            let before = self;
            self.step(as_f64(bytes));
            let here = if exclusive { before } else { self };
            values.push(here.value());
            scales.push(here.magnitudes);
        }
        Output::Near { values, scales, chained: !self.product }
    }

    fn reduce(mut self, size: u32, input: &[u8]) -> Output {
        input.chunks_exact(size as usize).for_each(|bytes| self.step(as_f64(bytes)));
        Output::Near { values: vec![self.value()], scales: vec![self.magnitudes], chained: !self.product }
    }
}

fn as_f64(bytes: &[u8]) -> f64 {
    match bytes.len() {
        4 => f64::from(bytemuck::pod_read_unaligned::<f32>(bytes)),
        _ => bytemuck::pod_read_unaligned(bytes),
    }
}

fn sort_bytes(request: &SortRequest, keys: &[u8], values: Option<&[u8]>) -> (Vec<u8>, Option<Vec<u8>>) {
    fn sorted<K: Ordered>(order: Order, keys: &[u8], values: Option<(u32, &[u8])>) -> (Vec<u8>, Option<Vec<u8>>) {
        let keys: Vec<K> = keys.chunks_exact(size_of::<K>()).map(bytemuck::pod_read_unaligned).collect();
        let Some((size, values)) = values else {
            return (bytemuck::cast_slice(&sort_keys(order, &keys)).to_vec(), None);
        };
        let values: Vec<&[u8]> = values.chunks_exact(size as usize).collect();
        let (keys, values) = sort_pairs(order, &keys, &values);
        (bytemuck::cast_slice(&keys).to_vec(), Some(values.concat()))
    }
    let sorted = match request.key {
        Scalar::U32 => sorted::<u32>,
        Scalar::I32 => sorted::<i32>,
        Scalar::F32 => sorted::<f32>,
        Scalar::U64 => sorted::<u64>,
        Scalar::I64 => sorted::<i64>,
        Scalar::F64 => sorted::<f64>,
    };
    sorted(request.order, keys, request.value.as_ref().map(ElementType::bytes).zip(values))
}

fn select_bytes(request: &SelectRequest, input: &[u8]) -> Expected {
    let size = request.selector.element().bytes() as usize;
    let (mut kept, mut rest) = (vec![], vec![]);
    let mut slot = Slot::of(&vec![0; size]);
    for bytes in input.chunks_exact(size) {
        slot.set(bytes);
        // SAFETY: the slot holds one element of the predicate's type, at an address that suits any.
        let keep = unsafe { (request.selector.host().count)(slot.0.as_ptr().cast(), 1) } == 1;
        if keep { &mut kept } else { &mut rest }.extend_from_slice(bytes);
    }
    let count = Some((kept.len() / size) as u32);
    if request.rest == Rest::Behind {
        kept.append(&mut rest);
    }
    let rest = (request.rest == Rest::Apart).then_some(rest);
    Expected { output: Output::Exact(kept), values: None, totals: None, rest, count }
}

fn runs_bytes(request: &ReduceByKeyRequest, input: &[u8], values: Option<&[u8]>) -> Expected {
    let (op, size) = (request.total(), request.key.bytes() as usize);
    let value = op.element().bytes() as usize;
    let keys: Vec<&[u8]> = input.chunks_exact(size).collect();
    let ones;
    let values = match (&request.op, values) {
        (Some(_), Some(values)) => values,
        _ => {
            ones = 1u32.to_le_bytes().repeat(keys.len());
            &ones
        }
    };
    let precise = Precise::of(&op, op.identity());
    let (mut unique, mut exact, mut near, mut near_scales) = (vec![], vec![], vec![], vec![]);
    let mut start = 0;
    for run in keys.chunk_by(|a, b| a == b) {
        let own = &values[start * value..(start + run.len()) * value];
        unique.extend_from_slice(run[0]);
        match precise.map(|running| running.reduce(value as u32, own)) {
            Some(Output::Near { values, scales, .. }) => {
                near.extend(values);
                near_scales.extend(scales);
            }
            _ => exact.extend(reduce_bytes(&op, op.identity(), own)),
        }
        start += run.len();
    }
    let count = Some((unique.len() / size) as u32);
    let totals = match precise {
        Some(precise) => Output::Near { values: near, scales: near_scales, chained: !precise.product },
        None => Output::Exact(exact),
    };
    Expected { output: Output::Exact(unique), values: None, totals: Some(totals), rest: None, count }
}

#[cfg(test)]
mod tests {
    use trifold_core::{Max, ReduceRequest, ScanRequest, Sum};

    use super::*;

    #[test]
    fn scans_and_reduces() {
        assert_eq!(inclusive_scan::<u32, Sum>(10, &[1, 2, 3]), [11, 13, 16]);
        assert_eq!(exclusive_scan::<u32, Sum>(10, &[1, 2, 3]), [10, 11, 13]);
        assert_eq!(reduce::<i32, Max>(-7, &[-9, -8]), -7);
        assert_eq!(reduce::<u32, Sum>(4, &[]), 4);
    }

    #[test]
    fn sorts_stably_in_total_order() {
        let keys = [0.0, f32::NAN, -0.0, f32::NEG_INFINITY, -f32::NAN, 1.0];
        let bits = |keys: Vec<f32>| keys.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        let up = [-f32::NAN, f32::NEG_INFINITY, -0.0, 0.0, 1.0, f32::NAN];
        assert_eq!(bits(sort_keys(Order::Ascending, &keys)), bits(up.to_vec()));
        let (_, values) = sort_pairs(Order::Descending, &[1, 2, 1, 2], &['a', 'b', 'c', 'd']);
        assert_eq!(values, ['b', 'd', 'a', 'c']);
    }

    #[test]
    fn erased_scan_is_the_typed_one() {
        let input: Vec<i64> = (0..100).map(|i| (i * 7919) % 31 - 15).collect();
        let op = Op::builtin(Builtin::Max, Scalar::I64).unwrap();
        let request = |kind| Request::Scan(ScanRequest { op: op.clone(), n: 100, kind, initial: None });
        let bytes = bytemuck::cast_slice(&input);
        let inclusive = inclusive_scan::<i64, Max>(i64::MIN, &input);
        let exclusive = exclusive_scan::<i64, Max>(i64::MIN, &input);
        for (kind, want) in [(ScanKind::Inclusive, inclusive), (ScanKind::Exclusive, exclusive)] {
            let want = bytemuck::cast_slice(&want).to_vec();
            assert_eq!(expect(&request(kind), bytes, None).output, Output::Exact(want));
        }
    }

    #[test]
    fn float_sums_carry_their_scale() {
        let op = Op::builtin(Builtin::Sum, Scalar::F64).unwrap();
        let request = Request::Reduce(ReduceRequest { op, n: 3, initial: None });
        let input: [f64; 3] = [1.0, 2f64.powi(-80), -1.0];
        let Output::Near { values, scales, .. } = expect(&request, bytemuck::cast_slice(&input), None).output else {
            panic!("a float sum is near, not exact");
        };
        assert_eq!((values[0], scales[0]), (2f64.powi(-80), 2.0));
    }
}
