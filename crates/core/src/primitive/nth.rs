//! The key at a place of all keys in order.

use super::top_k::{TopKCall, Wanted};
use crate::results::{Results, length, results};
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

impl<K: Key, B: Backend> NthCall<K, B> {
    /// In descending order.
    pub fn descending(self) -> Self {
        NthCall { top: self.top.in_order(Order::Descending) }
    }

    /// To a buffer of one key. Where a word on the device says that there are fewer keys, it is the last of those. If there are none,
    /// the buffer is left as it is.
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
        let key = call.top.device.alloc(1)?;
        call.to(&key).run_async().await?;
        Ok(key)
    }
}
