//! Calls whose results are mapped as they are written.

use std::marker::PhantomData;

use crate::map::Then;
use crate::results::new_count;
use crate::{Backend, Buffer, Compacted, Element, Map, Placed, Result, Transfer, block_on};

/// A call that has one output, of as many elements as it can say.
pub trait OneOutput: Sized {
    /// The device's backend.
    type Backend: Backend;
    /// An element of the output.
    type Item: Element;

    /// The device.
    fn device(&self) -> &Self::Backend;

    /// How many elements the output has.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if that is on the device.
    fn outputs(&self) -> Result<usize>;

    /// To a buffer of these.
    fn to(self, output: &Buffer<Self::Item, Self::Backend>) -> Placed<Self::Backend>;

    /// Maps what the call gives, as it is written: to elements of another type, or by numbers that kernels read.
    ///
    /// Sorts, histograms, top_k and calls of segments write their own results to scratch first. A launch behind them reads these once and
    /// writes what the map gives.
    ///
    /// ```
    /// use std::borrow::Cow;
    /// use trifold_core::{AsBin, Histogram, Map, OneOutput, Sort, Transfer};
    ///
    /// /// As a float.
    /// #[derive(Clone)]
    /// struct AsFloat;
    ///
    /// impl Map<u32> for AsFloat {
    ///     type Output = f32;
    ///     fn text(&self) -> Cow<'static, str> {
    ///         "fn map(a: A) -> U { return f32(a); }".into()
    ///     }
    ///     fn map(&self, a: u32) -> f32 {
    ///         a as f32
    ///     }
    /// }
    ///
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[2u32, 0, 2])?;
    /// assert_eq!(gpu.sort(&x).then(AsFloat).read()?, [0.0, 2.0, 2.0]);
    /// assert_eq!(gpu.histogram(&x, 3).then(AsFloat).read()?, [1.0, 0.0, 2.0]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn then<M: Map<Self::Item>>(self, map: M) -> MappedCall<Self, M::Output> {
        MappedCall { call: self, then: Then::of(map), of: PhantomData }
    }
}

/// A call whose results are mapped, and have no place yet.
#[must_use = "say where: to(&out), collect() or read()"]
pub struct MappedCall<C, U> {
    call: C,
    then: Then,
    of: PhantomData<fn() -> U>,
}

impl<C: OneOutput, U: Element> MappedCall<C, U> {
    /// To a buffer of as many elements as the call gives, which is not the input.
    pub fn to(self, output: &Buffer<U, C::Backend>) -> Placed<C::Backend> {
        let place = Buffer::at(output.device(), output.span().clone());
        self.call.to(&place).then(self.then)
    }

    /// Runs the call to new memory. Does not wait for its end.
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan), and [`Error::Invalid`](crate::Error::Invalid) if the number of elements is on the device.
    pub fn collect(self) -> Result<Buffer<U, C::Backend>> {
        block_on(self.collect_async())
    }

    /// As [`MappedCall::collect`], for programs that must not block.
    ///
    /// # Errors
    /// As of that.
    pub async fn collect_async(self) -> Result<Buffer<U, C::Backend>> {
        let output = self.call.device().alloc(self.call.outputs()?)?;
        self.to(&output).run_async().await?;
        Ok(output)
    }

    /// Runs the call, waits for its end, and reads what it made.
    ///
    /// # Errors
    /// As of [`MappedCall::collect`].
    pub fn read(self) -> Result<Vec<U>> {
        block_on(self.read_async())
    }

    /// As [`MappedCall::read`], for programs that must not block.
    ///
    /// # Errors
    /// As of [`MappedCall::collect`].
    pub async fn read_async(self) -> Result<Vec<U>> {
        self.collect_async().await?.read_async().await
    }
}

/// A call that has one output, of as many elements as it counts.
pub trait CountedOutput: Sized {
    /// The device's backend.
    type Backend: Backend;
    /// An element of the output.
    type Item: Element;

    /// The device.
    fn device(&self) -> &Self::Backend;

    /// How many elements the output has at most.
    fn room(&self) -> usize;

    /// Where the call writes how many there are, if the program said so.
    fn count(&self) -> Option<&Buffer<u32, Self::Backend>>;

    /// Writes how many there are to this one `u32`.
    fn count_to(self, count: &Buffer<u32, Self::Backend>) -> Self;

    /// To a buffer of exactly so many elements.
    fn to(self, output: &Buffer<Self::Item, Self::Backend>) -> Placed<Self::Backend>;

    /// Maps what the call gives, as it is written: to elements of another type, or by numbers that kernels read.
    ///
    /// The call writes its own results to scratch first. A launch behind it reads as many of them as there are, and writes what the map
    /// gives.
    ///
    /// ```
    /// use std::borrow::Cow;
    /// use trifold_core::{CountedOutput, Map, Select, Transfer, UpperHalf};
    ///
    /// /// In hundredths.
    /// #[derive(Clone)]
    /// struct Percent;
    ///
    /// impl Map<f32> for Percent {
    ///     type Output = u32;
    ///     fn text(&self) -> Cow<'static, str> {
    ///         "fn map(a: A) -> U { return u32(a * 100.0); }".into()
    ///     }
    ///     fn map(&self, a: f32) -> u32 {
    ///         (a * 100.0) as u32
    ///     }
    /// }
    ///
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[0.75f32, 0.25, 0.5])?;
    /// assert_eq!(gpu.select(&x, UpperHalf).then(Percent).read()?, [75, 50]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn then<M: Map<Self::Item>>(self, map: M) -> MappedCountedCall<Self, M::Output> {
        MappedCountedCall { call: self, then: Then::of(map), of: PhantomData }
    }
}

/// A call whose results are mapped and counted, and have no place yet.
#[must_use = "say where: to(&out), compact() or read()"]
pub struct MappedCountedCall<C, U> {
    call: C,
    then: Then,
    of: PhantomData<fn() -> U>,
}

impl<C: CountedOutput, U: Element> MappedCountedCall<C, U> {
    /// Writes how many elements there are to this one `u32`.
    pub fn count_to(self, count: &Buffer<u32, C::Backend>) -> Self {
        MappedCountedCall { call: self.call.count_to(count), ..self }
    }

    /// To a buffer of as many elements as are read, which is not the input. What lies past those that are given stays as it is.
    pub fn to(self, output: &Buffer<U, C::Backend>) -> Placed<C::Backend> {
        let place = Buffer::at(output.device(), output.span().clone());
        self.call.to(&place).then(self.then)
    }

    /// Runs the call to new memory, which has its number of elements beside it on the device. Does not wait for its end.
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub fn compact(self) -> Result<Compacted<U, C::Backend>> {
        block_on(self.compact_async())
    }

    /// As [`MappedCountedCall::compact`], for programs that must not block.
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub async fn compact_async(self) -> Result<Compacted<U, C::Backend>> {
        let (count, room) = places(&self.call)?;
        self.count_to(&count).to(&room).run_async().await?;
        Ok(Compacted::new(room, count))
    }

    /// Runs the call, waits for its end, and reads what it made.
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub fn read(self) -> Result<Vec<U>> {
        block_on(self.read_async())
    }

    /// As [`MappedCountedCall::read`], for programs that must not block.
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub async fn read_async(self) -> Result<Vec<U>> {
        self.compact_async().await?.read_async().await
    }
}

/// Where a call writes how many elements there are, and new memory for all that it may give.
#[expect(clippy::type_complexity, reason = "two buffers")]
pub(crate) fn places<C: CountedOutput, U: Element>(
    call: &C,
) -> Result<(Buffer<u32, C::Backend>, Buffer<U, C::Backend>)> {
    let count = call.count().cloned().map_or_else(|| new_count(call.device()), Ok)?;
    Ok((count, call.device().alloc(call.room())?))
}

/// A builder's one output, of as many elements as it counts.
macro_rules! counted_output {
    ($Call:ident<$($T:ident: $Bound:ident),+>, $Item:ty, $input:ident) => {
        impl<$($T: $Bound,)+ B: Backend> crate::CountedOutput for $Call<$($T,)+ B> {
            type Backend = B;
            type Item = $Item;

            fn device(&self) -> &B {
                &self.device
            }

            fn room(&self) -> usize {
                self.$input.len()
            }

            fn count(&self) -> Option<&Buffer<u32, B>> {
                self.count.as_ref()
            }

            fn count_to(self, count: &Buffer<u32, B>) -> Self {
                $Call::count_to(self, count)
            }

            fn to(self, output: &Buffer<$Item, B>) -> Placed<B> {
                $Call::to(self, output)
            }
        }

        results! {
            $Call<$($T: $Bound),+>::compact, compact_async -> Compacted<$Item, B>, Vec<$Item>; |call| {
                let (count, room) = crate::primitive::mapped::places(&call)?;
                call.count_to(&count).to(&room).run_async().await?;
                Ok(Compacted::new(room, count))
            }
        }
    };
}
pub(crate) use counted_output;

/// A builder's one output: how many elements it has.
macro_rules! one_output {
    ($Call:ident<$T:ident: $Bound:ident>, $Item:ty, $($device:ident).+; |$call:ident| $outputs:expr) => {
        impl<$T: $Bound, B: Backend> crate::OneOutput for $Call<$T, B> {
            type Backend = B;
            type Item = $Item;

            fn device(&self) -> &B {
                let $call = self;
                &$call.$($device).+
            }

            fn outputs(&self) -> Result<usize> {
                let $call = self;
                $outputs
            }

            fn to(self, output: &Buffer<$Item, B>) -> Placed<B> {
                $Call::to(self, output)
            }
        }
    };
}
pub(crate) use one_output;
