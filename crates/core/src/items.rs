//! Views on the host: values one after the other, as the CPU backend reads them.

use std::mem::MaybeUninit;
use std::sync::Arc;

use crate::{Element, Map, Value};

/// Values that are made at a time, in memory that stays in the first cache.
const BLOCK: usize = 128;
/// Searches that run side by side, so that the loads of one do not wait for those of another.
const SEARCHES: usize = 16;

/// The values of a view. `leaves` are the starts of the view's memory.
pub(crate) trait Items<V>: Send + Sync {
    /// The value at a place.
    ///
    /// # Safety
    /// The memory has an aligned element at the place, or where gathers reach all that they were made for.
    unsafe fn at(&self, leaves: &[*const u8], place: usize) -> V;

    /// Writes the values from a place on.
    ///
    /// # Safety
    /// As [`Items::at`], of each of these places.
    unsafe fn fill(&self, leaves: &[*const u8], first: usize, values: &mut [MaybeUninit<V>]) {
        for (i, value) in values.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            value.write(unsafe { self.at(leaves, first + i) });
        }
    }

    /// Where the value at a place lies, those of later ones behind it, if they lie in memory as they are.
    fn lies(&self, _leaves: &[*const u8], _place: usize) -> Option<*const V> {
        None
    }
}

/// A view's elements as bytes, for the CPU backend.
pub trait HostView: Send + Sync {
    /// Writes `n` elements from a place on to `output`.
    ///
    /// # Safety
    /// `leaves` are the starts of the view's memory, in order. Straight leaves have aligned elements at all of these places, others
    /// as many as they were made for. There is aligned room for `n` elements at `output`.
    unsafe fn load(&self, leaves: &[*const u8], first: usize, n: usize, output: *mut u8);
}

struct Erased<T>(Arc<dyn Items<T>>);

impl<T: Element> HostView for Erased<T> {
    unsafe fn load(&self, leaves: &[*const u8], first: usize, n: usize, output: *mut u8) {
        // SAFETY: the caller's promises. What is written may have held nothing before.
        unsafe { self.0.fill(leaves, first, std::slice::from_raw_parts_mut(output.cast(), n)) };
    }
}

pub(crate) fn erased<T: Element>(items: Arc<dyn Items<T>>) -> Arc<dyn HostView> {
    Arc::new(Erased(items))
}

/// A map of elements as bytes, for the CPU backend.
pub trait HostMap: Send + Sync {
    /// Writes what the map gives of `n` elements at `from` to `to`.
    ///
    /// # Safety
    /// There are `n` aligned elements at `from`, and aligned room for as many of what it gives at `to`, apart from them.
    unsafe fn apply(&self, from: *const u8, n: usize, to: *mut u8);
}

struct OfElements<T, M> {
    map: M,
    of: std::marker::PhantomData<fn(T)>,
}

impl<T: Element, M: Map<T>> HostMap for OfElements<T, M> {
    unsafe fn apply(&self, from: *const u8, n: usize, to: *mut u8) {
        let (from, to) = (from.cast::<T>(), to.cast::<M::Output>());
        for i in 0..n {
            // SAFETY: the caller's promises.
            unsafe { to.add(i).write(self.map.map(from.add(i).read())) };
        }
    }
}

pub(crate) fn of_elements<T: Element, M: Map<T>>(map: M) -> Arc<dyn HostMap> {
    Arc::new(OfElements { map, of: std::marker::PhantomData })
}

/// One leaf's elements.
pub(crate) struct Memory;

impl<V: Copy> Items<V> for Memory {
    #[inline]
    unsafe fn at(&self, leaves: &[*const u8], place: usize) -> V {
        // SAFETY: the caller's promise.
        unsafe { leaves[0].cast::<V>().add(place).read() }
    }

    unsafe fn fill(&self, leaves: &[*const u8], first: usize, values: &mut [MaybeUninit<V>]) {
        // SAFETY: the caller's promise.
        unsafe {
            values.as_mut_ptr().copy_from_nonoverlapping(leaves[0].cast::<MaybeUninit<V>>().add(first), values.len())
        };
    }

    fn lies(&self, leaves: &[*const u8], place: usize) -> Option<*const V> {
        Some(leaves[0].cast::<V>().wrapping_add(place))
    }
}

/// The places themselves.
pub(crate) struct Places;

impl Items<u32> for Places {
    #[inline]
    unsafe fn at(&self, _: &[*const u8], place: usize) -> u32 {
        place as u32
    }
}

/// Runs `each` for the values from a place on, block by block: how many come before, and a block's. They are made unless they lie
/// in memory.
///
/// # Safety
/// As [`Items::fill`].
pub(crate) unsafe fn in_blocks<V: Copy>(
    of: &dyn Items<V>,
    leaves: &[*const u8],
    first: usize,
    n: usize,
    mut each: impl FnMut(usize, &[V]),
) {
    let mut block = [const { MaybeUninit::<V>::uninit() }; BLOCK];
    let lies = of.lies(leaves, first);
    for start in (0..n).step_by(BLOCK) {
        let part = &mut block[..BLOCK.min(n - start)];
        // SAFETY: the caller's promise; and all of the part is written, unless the values lie elsewhere.
        let values = unsafe {
            let values = lies.map(|values| values.add(start));
            let values = values.unwrap_or_else(|| {
                of.fill(leaves, first + start, part);
                part.as_ptr().cast::<V>()
            });
            std::slice::from_raw_parts(values, part.len())
        };
        each(start, values);
    }
}

/// Others' values, mapped.
pub(crate) struct Mapped<V, M> {
    pub(crate) of: Arc<dyn Items<V>>,
    pub(crate) map: M,
}

impl<V: Value, M: Map<V>> Items<M::Output> for Mapped<V, M> {
    unsafe fn at(&self, leaves: &[*const u8], place: usize) -> M::Output {
        // SAFETY: the caller's promise.
        self.map.map(unsafe { self.of.at(leaves, place) })
    }

    unsafe fn fill(&self, leaves: &[*const u8], first: usize, values: &mut [MaybeUninit<M::Output>]) {
        let n = values.len();
        // SAFETY: the caller's promise.
        unsafe {
            in_blocks(&*self.of, leaves, first, n, |start, block| {
                for (value, &of) in values[start..].iter_mut().zip(block) {
                    value.write(self.map.map(of));
                }
            });
        }
    }
}

/// Pairs of others' values.
pub(crate) struct Zipped<A, B> {
    pub(crate) a: Arc<dyn Items<A>>,
    pub(crate) b: Arc<dyn Items<B>>,
    /// How many leaves are `a`'s. `b`'s follow.
    pub(crate) leaves: usize,
}

impl<A: Value, B: Value> Items<(A, B)> for Zipped<A, B> {
    unsafe fn at(&self, leaves: &[*const u8], place: usize) -> (A, B) {
        // SAFETY: the caller's promise.
        unsafe { (self.a.at(leaves, place), self.b.at(&leaves[self.leaves..], place)) }
    }

    unsafe fn fill(&self, leaves: &[*const u8], first: usize, values: &mut [MaybeUninit<(A, B)>]) {
        let n = values.len();
        let mut other = [const { MaybeUninit::<B>::uninit() }; BLOCK];
        // SAFETY: the caller's promise; and as much of `other` is written as is read.
        unsafe {
            in_blocks(&*self.a, leaves, first, n, |start, block| {
                let other = &mut other[..block.len()];
                self.b.fill(&leaves[self.leaves..], first + start, other);
                for ((value, &a), b) in values[start..].iter_mut().zip(block).zip(other) {
                    value.write((a, b.assume_init()));
                }
            });
        }
    }
}

/// How many values at the start of others are before each.
pub(crate) struct Bounds<V, M> {
    pub(crate) sorted: Arc<dyn Items<V>>,
    pub(crate) of: Arc<dyn Items<V>>,
    /// How many leaves are those of what is searched for. Those of what is searched follow.
    pub(crate) leaves: usize,
    /// How many values are searched.
    pub(crate) n: usize,
    /// Whether one of them is before one that is searched for.
    pub(crate) before: M,
}

impl<V: Value, M: Map<(V, V), Output = u32>> Bounds<V, M> {
    /// # Safety
    /// As [`Items::at`], of all that is searched.
    unsafe fn bounds(&self, leaves: &[*const u8], of: &[V], bounds: &mut [MaybeUninit<u32>]) {
        let sorted = &leaves[self.leaves..];
        match self.sorted.lies(sorted, 0) {
            // SAFETY: there all values lie.
            Some(values) => self.search(|place| unsafe { values.add(place).read() }, of, bounds),
            // SAFETY: the caller's promise.
            None => self.search(|place| unsafe { self.sorted.at(sorted, place) }, of, bounds),
        }
    }

    /// Asks for values at places below `n`.
    fn search(&self, value: impl Fn(usize) -> V, of: &[V], bounds: &mut [MaybeUninit<u32>]) {
        let ((of, rest), (bounds, last)) = (of.as_chunks(), bounds.as_chunks_mut());
        for (of, bounds) in of.iter().zip(bounds) {
            *bounds = self.side_by_side::<SEARCHES>(&value, of).map(MaybeUninit::new);
        }
        for (&of, bound) in rest.iter().zip(last) {
            bound.write(self.side_by_side(&value, &[of])[0]);
        }
    }

    fn side_by_side<const N: usize>(&self, value: &impl Fn(usize) -> V, of: &[V; N]) -> [u32; N] {
        let (mut first, mut size) = ([0; N], self.n);
        while size > 0 {
            let half = size - size / 2;
            // `first + size` stays at most `n`.
            for (first, &of) in first.iter_mut().zip(of) {
                let is_before = self.before.map((value(*first + half - 1), of)) != 0;
                *first = std::hint::select_unpredictable(is_before, *first + half, *first);
            }
            size /= 2;
        }
        first.map(|first| first as u32)
    }
}

impl<V: Value, M: Map<(V, V), Output = u32>> Items<u32> for Bounds<V, M> {
    unsafe fn at(&self, leaves: &[*const u8], place: usize) -> u32 {
        let mut bound = [MaybeUninit::uninit()];
        // SAFETY: the caller's promise; and one bound is written.
        unsafe {
            self.bounds(leaves, &[self.of.at(leaves, place)], &mut bound);
            bound[0].assume_init()
        }
    }

    unsafe fn fill(&self, leaves: &[*const u8], first: usize, values: &mut [MaybeUninit<u32>]) {
        let n = values.len();
        // SAFETY: the caller's promise.
        unsafe {
            in_blocks(&*self.of, leaves, first, n, |start, block| {
                self.bounds(leaves, block, &mut values[start..start + block.len()]);
            });
        }
    }
}

/// Others' values, each behind the one before it. The first is behind itself.
pub(crate) struct Neighbours<V>(pub(crate) Arc<dyn Items<V>>);

impl<V: Value> Items<(V, V)> for Neighbours<V> {
    unsafe fn at(&self, leaves: &[*const u8], place: usize) -> (V, V) {
        // SAFETY: the caller's promise. Memory begins at place 0, so that there are elements before a place that has one.
        unsafe { (self.0.at(leaves, place.saturating_sub(1)), self.0.at(leaves, place)) }
    }

    unsafe fn fill(&self, leaves: &[*const u8], first: usize, values: &mut [MaybeUninit<(V, V)>]) {
        let n = values.len();
        if n == 0 {
            return;
        }
        // SAFETY: as above.
        unsafe {
            let mut before = self.0.at(leaves, first.saturating_sub(1));
            in_blocks(&*self.0, leaves, first, n, |start, block| {
                for (value, &own) in values[start..].iter_mut().zip(block) {
                    value.write((before, own));
                    before = own;
                }
            });
        }
    }
}

/// Others' values at places that an index gives.
pub(crate) struct Gathered<V> {
    pub(crate) source: Arc<dyn Items<V>>,
    pub(crate) index: Arc<dyn Items<u32>>,
    /// How many leaves are the index's. The source's follow.
    pub(crate) leaves: usize,
    /// The source's last place.
    pub(crate) last: usize,
}

impl<V: Copy + Send + Sync> Items<V> for Gathered<V> {
    unsafe fn at(&self, leaves: &[*const u8], place: usize) -> V {
        // SAFETY: the caller's promise. A source of none is read by views of none.
        unsafe { self.source.at(&leaves[self.leaves..], (self.index.at(leaves, place) as usize).min(self.last)) }
    }

    unsafe fn fill(&self, leaves: &[*const u8], first: usize, values: &mut [MaybeUninit<V>]) {
        let n = values.len();
        // SAFETY: as above.
        unsafe {
            in_blocks(&*self.index, leaves, first, n, |start, block| {
                for (value, &place) in values[start..].iter_mut().zip(block) {
                    value.write(self.source.at(&leaves[self.leaves..], (place as usize).min(self.last)));
                }
            });
        }
    }
}
