//! The key at a place of all keys in order.

use super::Offset;
use super::mapped::one_output;
use super::top_k::{TopKCall, Wanted};
use crate::results::{Given, Results, given_results, length, results};
use crate::{Backend, Buffer, Device, Key, Order, Placed, Result, Transfer, block_on};

/// The key at a place of all keys in order, which has no place of its own yet.
///
/// ```
/// # use trifold_core::{block_on, TopK, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let x = gpu.upload(&[20u32, 10, 30])?;
/// assert_eq!(gpu.nth_element(&x, 1).value()?, 20);
/// assert_eq!(block_on(gpu.nth_element(&x, 1).value_async())?, 20);
///
/// // To new memory on the device.
/// assert_eq!(gpu.nth_element(&x, 1).collect()?.read()?, [20]);
///
/// // A place behind the last is an error.
/// assert!(gpu.nth_element(&x, 3).value().is_err());
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to(&out), collect() or value()"]
pub struct NthCall<K, B: Backend = Device> {
    pub(super) top: TopKCall<K, B>,
}

/// The key at a place of each row or segment in order, which have no place of their own yet.
///
/// ```
/// # use trifold_core::{TopK, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let x = gpu.upload(&[20u32, 10, 30, 1, 3, 2])?;
/// assert_eq!(gpu.nth_element(&x, 1).rows(3).read()?, [20, 2]);
///
/// // To memory of one key for each.
/// let medians = gpu.alloc(2)?;
/// gpu.nth_element(&x, 1).rows(3).to(&medians).run()?;
/// assert_eq!(medians.read()?, [20, 2]);
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to(&out), collect() or read()"]
pub struct NthOfEachCall<K, B: Backend = Device> {
    top: TopKCall<K, B>,
}

impl<K: Key, B: Backend> NthCall<K, B> {
    /// In descending order.
    pub fn descending(self) -> Self {
        NthCall { top: self.top.in_order(Order::Descending) }
    }

    /// Of each row of so many keys.
    ///
    /// A workgroup counts the digits of each row alone, or sorts its first keys where few are before the place.
    ///
    /// ```
    /// # use trifold_core::{TopK, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[20u32, 10, 30, 1, 3, 2])?;
    /// assert_eq!(gpu.nth_element(&x, 0).rows(3).read()?, [10, 1]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn rows(self, width: usize) -> NthOfEachCall<K, B> {
        NthOfEachCall { top: self.top.rows(width) }
    }

    /// Of each segment, of which there is one less than offsets. Where a segment has fewer keys it is the last of those, and zeros if it
    /// has none.
    ///
    /// ```
    /// # use trifold_core::{TopK, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, offsets) = (gpu.upload(&[3u32, 1, 4, 1, 5])?, gpu.upload(&[0u32, 3, 3, 5])?);
    /// assert_eq!(gpu.nth_element(&x, 1).segments(&offsets).read()?, [3, 0, 5]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn segments<O: Offset>(self, offsets: &Buffer<O, B>) -> NthOfEachCall<K, B> {
        NthOfEachCall { top: self.top.segments(offsets) }
    }

    /// To a buffer of one key. Where a word on the device says that there are fewer keys, it is the last of those. If there are none,
    /// the buffer is left as it is. Behind `.then(f)` it is so too, and what `collect` and `read` then give is undefined.
    ///
    /// ```
    /// # use trifold_core::{TopK, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, median) = (gpu.upload(&[20u32, 10, 30])?, gpu.alloc(1)?);
    /// gpu.nth_element(&x, 1).to(&median).run()?;
    /// assert_eq!(median.read()?, [20]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn to(self, key: &Buffer<K, B>) -> Placed<B> {
        let spans = self.top.keys.spans_to(key.span());
        self.top.placed(Wanted::Last, spans)
    }

    /// Runs the call, waits for its end, and reads the key.
    ///
    /// # Errors
    /// As of [`TopK`](crate::TopK).
    pub fn value(self) -> Result<K> {
        block_on(self.value_async())
    }

    /// As [`NthCall::value`], for programs that must not block.
    ///
    /// # Errors
    /// As of [`TopK`](crate::TopK).
    pub async fn value_async(self) -> Result<K> {
        Ok(self.read_async().await?[0])
    }
}

length!(NthCall<K: Key>, top.keys);

results! {
    NthCall<K: Key>::collect, collect_async -> Buffer<K, B>, Vec<K>; |call| {
        // Where the device says that there are no keys, none is written.
        let key = match call.top.keys.length() {
            Some(_) => call.top.device.upload(&[K::zeroed()])?,
            None => call.top.device.alloc(1)?,
        };
        call.to(&key).run_async().await?;
        Ok(key)
    }
}

impl<K: Key, B: Backend> NthOfEachCall<K, B> {
    /// In descending order.
    pub fn descending(self) -> Self {
        NthOfEachCall { top: self.top.in_order(Order::Descending) }
    }

    /// As [`TopKCall::checked`].
    ///
    /// # Errors
    /// As of it.
    pub fn checked(self) -> Result<Self> {
        Ok(NthOfEachCall { top: self.top.checked()? })
    }

    /// To a buffer of one key for each row or segment.
    pub fn to(self, keys: &Buffer<K, B>) -> Placed<B> {
        let spans = self.top.keys.spans_to(keys.span());
        self.top.placed(Wanted::Last, spans)
    }
}

one_output!(NthCall<K: Key>, K, top.device; |_call| Ok(1));
one_output!(NthOfEachCall<K: Key>, K, top.device; |call| call.outputs());

given_results! {
    NthOfEachCall<K: Key>, top.keys -> Buffer<K, B>, Vec<K>; |call| call.top.given_of(&Wanted::Last), {
        let keys = call.top.alloc(&Wanted::Last)?;
        call.to(&keys).run_async().await?;
        Ok(keys)
    }
}
