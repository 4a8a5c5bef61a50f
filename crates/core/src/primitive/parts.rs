//! Partitions into any number of parts.

use std::borrow::Cow;

use super::SortCall;
use crate::results::length;
use crate::{
    Backend, Buffer, Captures, Device, Element, Histogram, Map, Placed, Result, Transfer, View, block_on, element,
};

element! {
    /// The part that an element of a class goes to: that of the class, or the last.
    struct PartOf {
        last: u32
    }
}

impl Map<u32> for PartOf {
    type Output = u32;
    fn name(&self) -> Cow<'static, str> {
        "part_of".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "fn map(a: A) -> U { return min(a, captures.last); }".into()
    }
    fn map(&self, class: u32) -> u32 {
        class.min(self.last)
    }
    fn captures(&self) -> Captures {
        Captures::of(self)
    }
}

/// The number of the last of so many parts.
fn last_of(parts: usize) -> u32 {
    u32::try_from(parts.saturating_sub(1)).unwrap_or(u32::MAX)
}

/// A [`partition_by`](crate::Select::partition_by) whose results have no place yet.
///
/// ```
/// # use trifold_core::{block_on, Select, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let (x, classes) = (gpu.upload(&[-2.5f32, 0.5, 7.0, -1.0])?, gpu.upload(&[0u32, 1, 2, 0])?);
/// let parts = [vec![-2.5, -1.0], vec![0.5], vec![7.0]];
/// assert_eq!(gpu.partition_by(&x, &classes, 3).read()?, parts);
/// assert_eq!(block_on(gpu.partition_by(&x, &classes, 3).read_async())?, parts);
///
/// // To new memory on the device: the elements, and how many each part has.
/// let (elements, counts) = gpu.partition_by(&x, &classes, 3).collect()?;
/// assert_eq!((elements.read()?, counts.read()?), (vec![-2.5, -1.0, 0.5, 7.0], vec![2, 1, 1]));
///
/// // Of as many elements as a word on the device says.
/// let n = gpu.upload(&[2u32])?;
/// assert_eq!(gpu.partition_by(&x, &classes, 3).len_on_device(&n).read()?, [vec![-2.5], vec![0.5], vec![]]);
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to(&out), collect() or read()"]
pub struct PartitionByCall<T, B: Backend = Device> {
    device: B,
    classes: View<u32, B>,
    values: View<T, B>,
    parts: usize,
}

impl<T: Element, B: Backend> PartitionByCall<T, B> {
    pub(crate) fn of(device: B, values: View<T, B>, classes: View<u32, B>, parts: usize) -> Self {
        let last = last_of(parts);
        let classes = classes.beside(&values, ["classes", "elements"]).mapped(PartOf { last });
        // The classes know how many count.
        PartitionByCall { device, classes, values: values.uncounted(), parts }
    }

    /// To a buffer of as many elements.
    ///
    /// ```
    /// # use trifold_core::{Select, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, classes) = (gpu.upload(&[10u32, 20, 30])?, gpu.upload(&[2u32, 0, 1])?);
    /// let parted = gpu.alloc(3)?;
    /// gpu.partition_by(&x, &classes, 3).to(&parted).run()?;
    /// assert_eq!(parted.read()?, [20, 30, 10]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn to(self, output: &Buffer<T, B>) -> Placed<B> {
        let refusal = (self.parts == 0).then(|| "a partition into 0 parts; ask for one or more".into());
        let bits = u32::BITS - last_of(self.parts).leading_zeros();
        SortCall::of(self.device, self.classes)
            .with(self.values)
            .bits(0..bits.max(1))
            .values_to(output)
            .refused(refusal)
    }

    /// To new memory on the device: the elements, and how many each part has. Does not wait for the end.
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub fn collect(self) -> Result<(Buffer<T, B>, Buffer<u32, B>)> {
        block_on(self.collect_async())
    }

    /// As [`PartitionByCall::collect`], for programs that must not block.
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub async fn collect_async(self) -> Result<(Buffer<T, B>, Buffer<u32, B>)> {
        let elements = self.device.alloc(self.values.len())?;
        let counts = self.device.histogram(self.classes.clone(), self.parts);
        self.to(&elements).run_async().await?;
        Ok((elements, counts.collect_async().await?))
    }

    /// Runs the call, waits for its end, and reads the elements of each part.
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub fn read(self) -> Result<Vec<Vec<T>>> {
        block_on(self.read_async())
    }

    /// As [`PartitionByCall::read`], for programs that must not block.
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub async fn read_async(self) -> Result<Vec<Vec<T>>> {
        let (elements, counts) = self.collect_async().await?;
        let (elements, counts) = (elements.read_async().await?, counts.read_async().await?);
        let mut rest = &elements[..];
        let part = |count: u32| rest.split_off(..count as usize).unwrap_or_default().to_vec();
        Ok(counts.into_iter().map(part).collect())
    }
}

length!(PartitionByCall<T: Element>, classes);
