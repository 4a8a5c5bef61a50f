//! The loops that the CPU runs of an operator or a predicate: one copy for each, and each type of elements.

use std::any::TypeId;
use std::marker::PhantomData;

use crate::{
    And, Block, Builtin, Element, ElementType, HostOp, HostSelector, Max, Min, Monoid, Or, Predicate, Product, Sum, Xor,
};

/// The loops of an operator, or of a predicate, over `T`.
pub(crate) struct Loops<T, F> {
    of: F,
    elements: PhantomData<fn(T)>,
}

impl<T, F> Loops<T, F> {
    pub(crate) fn of(of: F) -> Self {
        Loops { of, elements: PhantomData }
    }
}

/// From so many elements on a run is worth several chains.
const LONG_RUN: usize = 32;

impl<T: Element, M: Monoid<T>> HostOp for Loops<T, M> {
    unsafe fn fold(&self, input: *const u8, n: usize, accumulator: *mut u8) {
        // SAFETY: the caller gives `n` readable, aligned elements of T, and one at `accumulator`.
        let (input, accumulator) =
            unsafe { (std::slice::from_raw_parts(input.cast::<T>(), n), &mut *accumulator.cast::<T>()) };
        *accumulator = match self.of.commutes() {
            true => self.of.combine(*accumulator, self.fold_long(input)),
            false => input.iter().fold(*accumulator, |a, &x| self.of.combine(a, x)),
        };
    }

    unsafe fn fold_runs(&self, input: *const u8, bounds: &[u32], totals: *mut u8) {
        let (input, totals) = (input.cast::<T>(), totals.cast::<T>());
        if subtracts::<T, M>() && are_short(bounds) && !are_even(bounds) {
            // SAFETY: the caller's promises.
            return unsafe { self.subtract_prefixes(input, bounds, totals) };
        }
        for (run, bounds) in bounds.windows(2).enumerate() {
            let (start, end) = (bounds[0] as usize, bounds[1] as usize);
            // SAFETY: the caller's bounds are within the aligned input, and ascend.
            let elements = unsafe { std::slice::from_raw_parts(input.add(start), end - start) };
            // SAFETY: the caller gives aligned room for one total a run.
            unsafe { totals.add(run).write(self.fold_run(elements)) };
        }
    }

    unsafe fn scan(&self, input: *const u8, output: *mut u8, n: usize, carry: *mut u8, exclusive: bool) {
        let (input, output) = (input.cast::<T>(), output.cast::<T>());
        // SAFETY: the caller gives `n` aligned elements at each pointer, and one at `carry`.
        unsafe {
            let carry = &mut *carry.cast::<T>();
            match exclusive {
                true => self.scan_run::<true>(input, output, n, carry),
                false => self.scan_run::<false>(input, output, n, carry),
            }
        }
    }

    unsafe fn scan_runs(&self, input: *const u8, output: *mut u8, bounds: &[u32], start: *const u8, exclusive: bool) {
        let (input, output) = (input.cast::<T>(), output.cast::<T>());
        // SAFETY: the caller gives an aligned element at `start`.
        let start = unsafe { start.cast::<T>().read() };
        if size_of::<T>() <= 8 && are_short(bounds) && !are_even(bounds) {
            // SAFETY: the caller's promises.
            return unsafe {
                match exclusive {
                    true => self.scan_from_heads::<true>(input, output, bounds, start),
                    false => self.scan_from_heads::<false>(input, output, bounds, start),
                }
            };
        }
        for bounds in bounds.windows(2) {
            let (first, end, mut carry) = (bounds[0] as usize, bounds[1] as usize, start);
            // SAFETY: the caller's bounds are within input and output, and ascend.
            unsafe {
                let (input, output) = (input.add(first), output.add(first));
                match exclusive {
                    true => self.scan_run::<true>(input, output, end - first, &mut carry),
                    false => self.scan_run::<false>(input, output, end - first, &mut carry),
                }
            }
        }
    }
}

/// Whether these runs are short, on average.
fn are_short(bounds: &[u32]) -> bool {
    let elements = bounds.last().zip(bounds.first()).map_or(0, |(last, first)| (last - first) as usize);
    elements < LONG_RUN * bounds.len()
}

/// Whether processors can guess where these runs end: of some of them all but a few are as long as the next.
fn are_even(bounds: &[u32]) -> bool {
    let some = bounds.windows(3).step_by(bounds.len() / 32 + 1);
    some.filter(|ends| ends[1] - ends[0] != ends[2] - ends[1]).count() <= 4
}

/// Elements that a scan takes at a time where the grouping is free: four by four.
const GROUP: usize = 16;

/// Whether combining in other groups gives the same bits and costs little: for the built-in operators over integers.
fn regroups<T: Element, M: 'static>() -> bool {
    let integer = matches!(T::TYPE, ElementType::Scalar(scalar) if !scalar.is_float());
    let kind = |builtin| match builtin {
        Builtin::Sum => TypeId::of::<Sum>(),
        Builtin::Product => TypeId::of::<Product>(),
        Builtin::Min => TypeId::of::<Min>(),
        Builtin::Max => TypeId::of::<Max>(),
        Builtin::And => TypeId::of::<And>(),
        Builtin::Or => TypeId::of::<Or>(),
        Builtin::Xor => TypeId::of::<Xor>(),
    };
    integer && Builtin::ALL.into_iter().any(|builtin| kind(builtin) == TypeId::of::<M>())
}

/// Elements of which one word says which begin a run.
const HEADS: u32 = u64::BITS;

/// Elements whose prefixes are at hand at a time.
const PREFIXES: usize = 1024;

/// Whether a run's total is the difference of two prefixes, to the bit: for sums of integers.
fn subtracts<T: Element, M: 'static>() -> bool {
    regroups::<T, M>() && TypeId::of::<M>() == TypeId::of::<Sum>() && matches!(size_of::<T>(), 4 | 8)
}

/// The one less the other, of integers that [`subtracts`] takes.
fn difference<T: Element>(a: T, b: T) -> T {
    use bytemuck::cast;
    match size_of::<T>() {
        4 => cast(cast::<T, u32>(a).wrapping_sub(cast::<T, u32>(b))),
        _ => cast(cast::<T, u64>(a).wrapping_sub(cast::<T, u64>(b))),
    }
}

impl<T: Element, M: Monoid<T>> Loops<T, M> {
    /// The totals of runs, by their elements' prefixes. No branch depends on where short runs end, which cannot be guessed.
    ///
    /// # Safety
    /// As [`HostOp::fold_runs`].
    unsafe fn subtract_prefixes(&self, input: *const T, bounds: &[u32], totals: *mut T) {
        let [first, ends @ ..] = bounds else { return };
        let end = *bounds.last().unwrap_or(first) as usize;
        let (mut carry, mut before, mut run) = (self.of.identity(), self.of.identity(), 0);
        let mut prefixes = [carry; PREFIXES + 1];
        let mut total = |prefix: T| {
            // SAFETY: there is room for one total for each bound but the first.
            unsafe { totals.add(run).write(difference(prefix, std::mem::replace(&mut before, prefix))) };
            run += 1;
        };
        let mut ends = ends.iter().map(|&end| end as usize).peekable();
        for start in (*first as usize..end).step_by(PREFIXES) {
            let n = PREFIXES.min(end - start);
            prefixes[0] = carry;
            let (to, carry) = (prefixes[1..].as_mut_ptr().cast(), std::ptr::from_mut(&mut carry).cast());
            // SAFETY: the caller's elements, and room for as many.
            unsafe { self.scan(input.add(start).cast(), to, n, carry, false) };
            while let Some(end) = ends.next_if(|&end| end < start + n) {
                total(prefixes[end - start]);
            }
        }
        ends.for_each(|_| total(carry));
    }

    /// Scans runs. An element begins one or goes on with it by a choice, and by no branch, which could not be guessed.
    ///
    /// # Safety
    /// As [`HostOp::scan_runs`].
    unsafe fn scan_from_heads<const EXCLUSIVE: bool>(&self, input: *const T, output: *mut T, bounds: &[u32], start: T) {
        let [first, .., end] = *bounds else { return };
        let mut begins = bounds.iter().copied().peekable();
        let mut carry = start;
        for from in (first..end).step_by(HEADS as usize) {
            let until = end.min(from + HEADS);
            let mut heads = 0u64;
            while let Some(begin) = begins.next_if(|&begin| begin < until) {
                heads |= 1 << (begin - from);
            }
            for i in from..until {
                // SAFETY: the caller's bounds are within input and output. An element is read before its place is written.
                unsafe {
                    let begins = heads >> (i - from) & 1 != 0;
                    let before = std::hint::select_unpredictable(begins, start, carry);
                    carry = self.of.combine(before, *input.add(i as usize));
                    output.add(i as usize).write(if EXCLUSIVE { before } else { carry });
                }
            }
        }
    }

    /// All elements of a run combined.
    #[inline(always)]
    fn fold_run(&self, elements: &[T]) -> T {
        let op = &self.of;
        match elements {
            few if regroups::<T, M>() && few.len() < GROUP => few.iter().fold(op.identity(), |a, &x| op.combine(a, x)),
            some if regroups::<T, M>() && some.len() < 2 * LONG_RUN => self.fold_in_rows(some),
            long if op.commutes() && long.len() >= LONG_RUN => self.fold_long(long),
            [first, others @ ..] => self.fold_short(*first, others),
            [] => op.identity(),
        }
    }

    /// Few elements combined from left to right, by fours: compilers make vectors of other loops, which pay for many only.
    fn fold_short(&self, first: T, others: &[T]) -> T {
        let mut fours = others.chunks_exact(4);
        let mut total = first;
        for four in &mut fours {
            total = four.iter().fold(total, |a, &x| self.of.combine(a, x));
        }
        fours.remainder().iter().fold(total, |a, &x| self.of.combine(a, x))
    }

    /// All elements combined in four chains, for where the grouping is free: the rows of a group one with the other first.
    fn fold_in_rows(&self, input: &[T]) -> T {
        let both = |a: [T; 4], b: [T; 4]| std::array::from_fn(|i| self.of.combine(a[i], b[i]));
        let (rows, rest) = input.as_chunks::<4>();
        let (groups, rows) = rows.as_chunks::<4>();
        let mut total = [self.of.identity(); 4];
        for [a, b, c, d] in groups {
            total = both(total, both(both(*a, *b), both(*c, *d)));
        }
        let [a, b, c, d] = rows.iter().fold(total, |total, row| both(total, *row));
        let total = self.of.combine(self.of.combine(a, c), self.of.combine(b, d));
        rest.iter().fold(total, |a, &x| self.of.combine(a, x))
    }

    /// All elements combined, in eight chains, or more where the grouping is free: one chain waits for its own latency.
    fn fold_long(&self, input: &[T]) -> T {
        if regroups::<T, M>() { self.fold_in_lanes::<16>(input) } else { self.fold_in_lanes::<8>(input) }
    }

    fn fold_in_lanes<const LANES: usize>(&self, input: &[T]) -> T {
        let op = &self.of;
        let mut lanes = [op.identity(); LANES];
        let (chunks, rest) = input.as_chunks::<LANES>();
        for chunk in chunks {
            for (lane, &x) in lanes.iter_mut().zip(chunk) {
                *lane = op.combine(*lane, x);
            }
        }
        let rest = rest.iter().fold(op.identity(), |a, &x| op.combine(a, x));
        lanes.into_iter().fold(rest, |a, b| op.combine(a, b))
    }

    /// Scans `n` elements from `carry` on, and leaves the total there.
    ///
    /// # Safety
    /// As [`HostOp::scan`].
    #[inline(always)]
    unsafe fn scan_run<const EXCLUSIVE: bool>(&self, input: *const T, output: *mut T, n: usize, carry: &mut T) {
        // SAFETY: the caller's promise. Each element is read before its place is written, so input and output may be the same memory.
        unsafe {
            for i in self.scan_groups::<EXCLUSIVE>(input, output, n, carry)..n {
                let next = self.of.combine(*carry, *input.add(i));
                output.add(i).write(if EXCLUSIVE { *carry } else { next });
                *carry = next;
            }
        }
    }

    /// Scans the elements that are of whole groups, where the grouping is free. How many these are.
    ///
    /// # Safety
    /// As [`HostOp::scan`].
    #[inline(always)]
    unsafe fn scan_groups<const EXCLUSIVE: bool>(
        &self,
        input: *const T,
        output: *mut T,
        n: usize,
        carry: &mut T,
    ) -> usize {
        #[cfg(target_arch = "x86_64")]
        if size_of::<T>() == 4 && subtracts::<T, M>() {
            let (n, total) = (n / 4 * 4, bytemuck::cast::<T, u32>(*carry));
            // SAFETY: the caller's promise, and sums of either integer of 32 bits are those of the other.
            *carry = bytemuck::cast(unsafe { scan_words::<EXCLUSIVE>(input.cast(), output.cast(), n, total) });
            return n;
        }
        let n = if regroups::<T, M>() { n / GROUP * GROUP } else { 0 };
        // SAFETY: the caller's promise.
        unsafe { self.scan_in_groups::<EXCLUSIVE>(input, output, n, carry) };
        n
    }

    /// Scans groups of 16 elements from `carry` on, and leaves the total there.
    ///
    /// Four rows of four are scanned side by side, and only the rows' totals one after the other. So four elements cost one
    /// combine's latency, not four.
    ///
    /// # Safety
    /// As [`HostOp::scan`]. There is a whole number of groups.
    unsafe fn scan_in_groups<const EXCLUSIVE: bool>(&self, input: *const T, output: *mut T, n: usize, carry: &mut T) {
        let op = &self.of;
        for start in (0..n).step_by(GROUP) {
            // SAFETY: the caller's promise. The whole group is read before its place is written.
            let x = unsafe { input.add(start).cast::<[[T; 4]; 4]>().read() };
            let first = x.map(|row| row[0]);
            let second: [T; 4] = std::array::from_fn(|row| op.combine(first[row], x[row][1]));
            let third: [T; 4] = std::array::from_fn(|row| op.combine(second[row], x[row][2]));
            let fourth: [T; 4] = std::array::from_fn(|row| op.combine(third[row], x[row][3]));
            let before = fourth.map(|total| std::mem::replace(carry, op.combine(*carry, total)));
            let scanned: [[T; 4]; 4] = std::array::from_fn(|row| {
                let from = |total: [T; 4]| op.combine(before[row], total[row]);
                match EXCLUSIVE {
                    true => [before[row], from(first), from(second), from(third)],
                    false => [from(first), from(second), from(third), from(fourth)],
                }
            });
            // SAFETY: as above.
            unsafe { output.add(start).cast::<[[T; 4]; 4]>().write(scanned) };
        }
    }
}

/// Scans sums from `carry` on, four at a time, and gives the total. Compilers make no vectors of a scan.
///
/// # Safety
/// There are `n` words at each pointer, a multiple of four, and both are the same or apart.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn scan_words<const EXCLUSIVE: bool>(input: *const u32, output: *mut u32, n: usize, carry: u32) -> u32 {
    use std::arch::x86_64::*;
    // SAFETY: every x86-64 has SSE2. The caller's words are read before their places are written, and need no alignment.
    let scan_four = |start: usize, before: __m128i| unsafe {
        let own = _mm_loadu_si128(input.add(start).cast());
        let pairs = _mm_add_epi32(own, _mm_slli_si128::<4>(own));
        let sums = _mm_add_epi32(before, _mm_add_epi32(pairs, _mm_slli_si128::<8>(pairs)));
        let scanned = if EXCLUSIVE { _mm_sub_epi32(sums, own) } else { sums };
        _mm_storeu_si128(output.add(start).cast(), scanned);
        _mm_shuffle_epi32::<0xff>(sums)
    };
    let groups = n / GROUP * GROUP;
    // SAFETY: as above.
    let mut before = unsafe { _mm_set1_epi32(carry as i32) };
    for start in (0..groups).step_by(GROUP) {
        before = (start..start + GROUP).step_by(4).fold(before, |before, start| scan_four(start, before));
    }
    for start in (groups..n).step_by(4) {
        before = scan_four(start, before);
    }
    // SAFETY: as above.
    unsafe { _mm_cvtsi128_si32(before) as u32 }
}

impl<T: Element, P: Predicate<T>> HostSelector for Loops<T, P> {
    unsafe fn count(&self, block: Block) -> usize {
        // SAFETY: the caller's promise.
        let input = unsafe { block.elements::<T>() };
        input.iter().map(|&v| usize::from(self.of.keep(v))).sum()
    }

    unsafe fn split(&self, block: Block, kept: *mut u8, rest: *mut u8) -> usize {
        // SAFETY: the caller's promise.
        unsafe { split(block.elements::<T>(), |_, v| self.of.keep(v), |_, v| v, kept.cast(), rest.cast()) }
    }

    unsafe fn places(&self, block: Block, kept: *mut u32, rest: *mut u32) -> usize {
        // SAFETY: the caller's promise.
        unsafe { split(block.elements::<T>(), |_, v| self.of.keep(v), |i, _| i as u32, kept, rest) }
    }
}

impl Block {
    /// The same with the element before it, if there is one.
    pub(crate) fn with_before<T>(self) -> Block {
        let before = usize::from(self.follows);
        Block { start: self.start.wrapping_sub(before * size_of::<T>()), n: self.n + before, follows: false }
    }

    /// Its elements.
    ///
    /// # Safety
    /// There are so many at its start, readable and aligned for `T`, for as long as they are used.
    pub(crate) unsafe fn elements<'a, T>(self) -> &'a [T] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.n) }
    }
}

/// Writes what is to be of the elements that are kept to `kept`, and of the others to `rest` unless that is null. Says how many are
/// kept. Both functions are asked by index and element.
///
/// Each is written to the next free place, which advances if the element is to be there: no branch to guess.
///
/// # Safety
/// There is aligned room for as many, apart from the elements and from each other, at `kept` and, unless that is null, at `rest`.
pub(crate) unsafe fn split<T: Element, V>(
    input: &[T],
    keep: impl Fn(usize, T) -> bool,
    write: impl Fn(usize, T) -> V,
    kept: *mut V,
    rest: *mut V,
) -> usize {
    let mut count = 0;
    if !rest.is_null() {
        for (i, &v) in input.iter().enumerate() {
            // SAFETY: of the `i` elements before this one `count` are kept and the others are not.
            unsafe {
                kept.add(count).write(write(i, v));
                rest.add(i - count).write(write(i, v));
            }
            count += usize::from(keep(i, v));
        }
        return count;
    }
    let mut fours = input.chunks_exact(4);
    let mut first = 0;
    for four in &mut fours {
        let keeps: [usize; 4] = std::array::from_fn(|i| usize::from(keep(first + i, four[i])));
        let (two, more) = (keeps[0] + keeps[1], keeps[2] + keeps[3]);
        let places = [count, count + keeps[0], count + two, count + two + keeps[2]];
        for (i, (place, &v)) in places.into_iter().zip(four).enumerate() {
            // SAFETY: a place is no farther than its element, and there is room for all.
            unsafe { kept.add(place).write(write(first + i, v)) };
        }
        count += two + more;
        first += 4;
    }
    for (i, &v) in fours.remainder().iter().enumerate() {
        // SAFETY: as above.
        unsafe { kept.add(count).write(write(first + i, v)) };
        count += usize::from(keep(first + i, v));
    }
    count
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::{Op, Scalar, Selector};

    #[test]
    fn groups_of_integers_scan_as_one_after_the_other() {
        for n in [0, 1, 15, 16, 17, 100] {
            let input: Vec<i32> = (0..n).map(|i| (i * 7919) % 31 - 15).collect();
            for (which, exclusive) in Builtin::ALL.into_iter().flat_map(|which| [(which, false), (which, true)]) {
                let op = Op::builtin(which, Scalar::I32).unwrap();
                let scan = |input: &[i32], output: &mut [i32], carry: &mut i32| {
                    let carry = std::ptr::from_mut(carry).cast();
                    // SAFETY: both are of the operator's elements, and as long as each other.
                    unsafe {
                        op.host().scan(input.as_ptr().cast(), output.as_mut_ptr().cast(), input.len(), carry, exclusive)
                    };
                };
                let (mut whole, mut single, mut carries) = (input.clone(), input.clone(), [3, 3]);
                scan(&input, &mut whole, &mut carries[0]);
                for (x, y) in input.chunks(1).zip(single.chunks_mut(1)) {
                    scan(x, y, &mut carries[1]);
                }
                assert_eq!((whole, carries[0]), (single, carries[1]), "{which:?} of {n}");
            }
        }
    }

    #[test]
    fn runs_are_folded_each_for_itself() {
        let (input, bounds): (Vec<u32>, _) = ((0..100).collect(), [3, 4, 9, 80]);
        let mut totals = [7; 4];
        let sum = Op::builtin(Builtin::Sum, Scalar::U32).unwrap();
        // SAFETY: the bounds are within the input, and there is room for three totals.
        unsafe { sum.host().fold_runs(input.as_ptr().cast(), &bounds, totals.as_mut_ptr().cast()) };
        assert_eq!(totals, [3, (4..9).sum(), (9..80).sum(), 7]);

        // Of many short ones too, by another operator, and not from the first element on: as long as the next, or not.
        let input: Vec<u32> = (0..5000u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        let even = (3..5000).step_by(7).chain([4999, 4999]);
        let uneven = (0..5000).filter(|i| i % 7 == 3 || i % 11 < 3 || i % 1024 < 3 || *i == 4999).skip(1);
        let long = [1, 16, 16, 33, 63, 128, 200, 300, 4999].into_iter();
        for bounds in [even.collect::<Vec<u32>>(), uneven.collect(), long.collect()] {
            for which in Builtin::ALL {
                let (op, mut totals) = (Op::builtin(which, Scalar::U32).unwrap(), vec![0u32; bounds.len() - 1]);
                // SAFETY: as above.
                unsafe { op.host().fold_runs(input.as_ptr().cast(), &bounds, totals.as_mut_ptr().cast()) };
                for (total, run) in totals.iter().zip(bounds.windows(2)) {
                    let mut want: u32 = bytemuck::pod_read_unaligned(op.identity());
                    for x in &input[run[0] as usize..run[1] as usize] {
                        // SAFETY: these are elements of the operator's.
                        unsafe {
                            op.host().fold(std::ptr::from_ref(x).cast(), 1, std::ptr::from_mut(&mut want).cast())
                        };
                    }
                    assert_eq!(*total, want, "{which:?}");
                }
            }
        }
    }

    #[test]
    fn runs_are_scanned_each_for_itself() {
        let (bounds, start) = ([2u32, 3, 3, 9, 40, 80], 5u32);
        let input: Vec<u32> = (0..100u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        for (which, exclusive) in Builtin::ALL.into_iter().flat_map(|which| [(which, false), (which, true)]) {
            let (op, mut scanned, mut want) = (Op::builtin(which, Scalar::U32).unwrap(), input.clone(), input.clone());
            let from = std::ptr::from_ref(&start).cast();
            let to = scanned.as_mut_ptr().cast();
            // SAFETY: the bounds are within input and output, of the operator's elements.
            unsafe { op.host().scan_runs(input.as_ptr().cast(), to, &bounds, from, exclusive) };
            for run in bounds.windows(2) {
                let (mut carry, run) = (start, &mut want[run[0] as usize..run[1] as usize]);
                let (carry, own) = (std::ptr::from_mut(&mut carry).cast(), run.as_mut_ptr().cast());
                // SAFETY: as above.
                unsafe { op.host().scan(own, own, run.len(), carry, exclusive) };
            }
            assert_eq!(scanned, want, "{which:?}");
        }
    }

    #[test]
    fn elements_are_split_in_their_order() {
        #[derive(Clone)]
        struct Odd;
        impl Predicate<u32> for Odd {
            fn text(&self) -> Cow<'static, str> {
                "".into()
            }
            fn keep(&self, v: u32) -> bool {
                v % 2 == 1
            }
        }
        let odd = Selector::of::<u32, _>(Odd);
        for n in 0..10u32 {
            let input: Vec<u32> = (0..n).map(|i| i * i + i / 3).collect();
            let (want, others): (Vec<u32>, Vec<u32>) = input.iter().partition(|&&v| v % 2 == 1);
            for apart in [false, true] {
                let (mut kept, mut rest) = (vec![0u32; n as usize], vec![0u32; n as usize]);
                let to = if apart { rest.as_mut_ptr().cast() } else { std::ptr::null_mut() };
                let block = Block { start: input.as_ptr().cast(), n: input.len(), follows: false };
                // SAFETY: each has room for as many elements as the input has.
                let count = unsafe { odd.host().split(block, kept.as_mut_ptr().cast(), to) };
                assert_eq!(kept[..count], want);
                assert!(!apart || rest[..others.len()] == others);
            }
        }
    }
}
