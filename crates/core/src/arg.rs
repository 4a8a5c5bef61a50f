//! Where the least or the greatest number stands: of all numbers, or of each segment.

use crate::results::length;
use crate::{
    Backend, Buffer, Device, Key, Offset, Order, Placed, Rank, Reduce, ReduceThenCall, Result, TopK, TopKIndicesCall,
    View, block_on,
};

/// Stands for no index: that of the least of no numbers, and the bin of what is in no bin. Where a segment has fewer keys than a
/// [top_k](TopK) takes, it stands behind their indices.
pub const NO_PLACE: u32 = u32::MAX;

/// Where the least or the greatest number stands, which has no place yet.
///
/// ```
/// # use trifold_core::{block_on, Summary, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let x = gpu.upload(&[3.0f32, -1.0, 4.0, -1.0])?;
/// assert_eq!(gpu.arg_min(&x).value()?, 1);
/// assert_eq!(block_on(gpu.arg_max(&x).value_async())?, 2);
///
/// // To new memory on the device.
/// let place = gpu.arg_min(&x).collect()?;
/// assert_eq!(gpu.copy(x.gathered(&place)).read()?, [-1.0]);
///
/// // Of as many elements as a word on the device says.
/// let n = gpu.upload(&[1u32])?;
/// assert_eq!(gpu.arg_min(&x).len_on_device(&n).value()?, 0);
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to(&out), collect() or value()"]
pub struct ArgCall<T, B: Backend = Device> {
    device: B,
    input: View<T, B>,
    last: bool,
}

length!(ArgCall<T: Rank>, input);

impl<T: Rank, B: Reduce> ArgCall<T, B> {
    pub(crate) fn new(device: &B, input: View<T, B>, last: bool) -> Self {
        ArgCall { device: device.clone(), input, last }
    }

    fn of_all(self) -> ReduceThenCall<T::Ranked, u32, B> {
        T::placed(&self.device, self.input, self.last)
    }

    /// To a buffer of one `u32`.
    ///
    /// ```
    /// # use trifold_core::{Summary, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, place) = (gpu.upload(&[3u32, 1, 4])?, gpu.alloc(1)?);
    /// gpu.arg_min(&x).to(&place).run()?;
    /// assert_eq!(place.read()?, [1]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn to(self, place: &Buffer<u32, B>) -> Placed<B> {
        self.of_all().to(place)
    }

    /// Runs the call to new memory. Does not wait for its end.
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub fn collect(self) -> Result<Buffer<u32, B>> {
        self.of_all().collect()
    }

    /// Runs the call, waits for its end, and reads the place.
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub fn value(self) -> Result<u32> {
        block_on(self.value_async())
    }

    /// As [`ArgCall::value`], for programs that must not block.
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub async fn value_async(self) -> Result<u32> {
        self.of_all().value_async().await
    }
}

impl<T: Rank + Key, B: Reduce> ArgCall<T, B> {
    /// Of each row of so many numbers: a place within the row.
    ///
    /// ```
    /// # use trifold_core::{Summary, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let scores = gpu.upload(&[0.1f32, 0.7, 0.2, 0.9, 0.3, 0.5])?;
    /// assert_eq!(gpu.arg_max(&scores).rows(3).read()?, [1, 0]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn rows(self, width: usize) -> TopKIndicesCall<T, B> {
        self.first_of_each().rows(width).indices()
    }

    /// Of each segment, of which there is one less than offsets: a place within the segment. Of one without elements it is
    /// [`NO_PLACE`]. It is the first of a [`top_k`](TopK::top_k) of one.
    ///
    /// ```
    /// # use trifold_core::{Summary, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, offsets) = (gpu.upload(&[3u32, 1, 4, 1, 5])?, gpu.upload(&[0u32, 2, 5])?);
    /// assert_eq!(gpu.arg_min(&x).segments(&offsets).read()?, [1, 1]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn segments<O: Offset>(self, offsets: &Buffer<O, B>) -> TopKIndicesCall<T, B> {
        self.first_of_each().segments(offsets).indices()
    }

    fn first_of_each(self) -> crate::TopKCall<T, B> {
        let order = if self.last { Order::Descending } else { Order::Ascending };
        self.device.top_k(self.input, 1).in_order(order)
    }
}
