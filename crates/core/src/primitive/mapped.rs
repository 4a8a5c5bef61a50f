//! Calls whose results are mapped as they are written.

use std::marker::PhantomData;

use crate::map::Then;
use crate::{Backend, Buffer, Element, Map, Placed, Result, Transfer, block_on};

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
