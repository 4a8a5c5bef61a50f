//! Reduce.

use std::marker::PhantomData;

use super::{Asked, Form, Label, Offset, Operand, Primitive, SegmentedReduceCall, fill_one};
use crate::results::{Results, length, results};
use crate::{
    Backend, Buffer, Builtin, Device, Element, IntoInput, Map, Monoid, Op, Placed, Result, Slot, Step, Then, Transfer,
    View, block_on, bytemuck, rank, summary,
};

/// A reduction to one element.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReduceRequest {
    /// The operator.
    pub op: Op,
    /// How many elements.
    pub n: u64,
    /// The element to start from, as bytes; the operator's identity if `None`.
    pub initial: Option<Vec<u8>>,
}

/// Reductions.
pub static REDUCE: Form = Form {
    has_operator: true,
    ..Form::new("reduce", "Reduce of {}", |&Asked { scalar, operator: op, n, .. }| {
        Some(ReduceRequest { op: Op::builtin(op, scalar)?, n, initial: None }.into())
    })
};

/// Sums of what a map gives: of each number its square, those of fewer than 32 bits as wider ones.
pub static SUM_OF_SQUARES: Form =
    Form::new("sum_of_squares", "sum_of_squares of {}", |&Asked { scalar, n, .. }| {
        let view = summary::squares(scalar)?;
        let op = Op::builtin(Builtin::Sum, scalar.held())?;
        Some(view.into_request(ReduceRequest { op, n, initial: None }))
    });

/// Sums of the products of two numbers each.
pub static DOT: Form = Form::new("dot", "dot of {}", |&Asked { scalar, n, .. }| {
    let view = summary::products(scalar)?;
    Some(view.into_request(ReduceRequest { op: Op::builtin(Builtin::Sum, scalar)?, n, initial: None }))
});

/// Where the least number stands.
pub static ARG_MIN: Form = Form::new("arg_min", "arg_min of {}", |&Asked { scalar, n, .. }| rank::arg_min(scalar, n));

impl ReduceRequest {
    pub(crate) fn bytes(&self) -> u64 {
        self.n.saturating_mul(self.op.element().bytes().into())
    }

    /// The element that it starts from.
    pub(crate) fn start(&self) -> Vec<u8> {
        self.initial.clone().unwrap_or_else(|| self.op.identity().to_vec())
    }
}

impl Primitive for ReduceRequest {
    fn form(&self) -> &'static Form {
        &REDUCE
    }

    fn n(&self) -> u64 {
        self.n
    }

    fn label(&self) -> Label {
        Label::new(&[Some(self.op.element())], &*self.op.name, &[self.initial.is_some().then_some("initial")])
    }

    fn operands(&self) -> Vec<Operand> {
        let element = self.op.element();
        vec![Operand::new(Slot::Input, element, self.n), Operand::one(Slot::Output, element)]
    }

    fn op(&self) -> Option<&Op> {
        Some(&self.op)
    }

    fn initial(&self) -> Option<&[u8]> {
        self.initial.as_deref()
    }

    fn bytes_moved_by(&self, _: u64) -> u64 {
        self.bytes()
    }

    fn of_nothing(&self) -> Vec<Step> {
        fill_one(Slot::Output, &self.start())
    }
}

/// Reduction of all elements to one.
///
/// Reads each element once, in one launch. The same input on the same device gives the same bits every time.
///
/// Scratch is a counter, and 8 bytes for each workgroup and word of an element. There are some hundreds to 4096
/// workgroups. [`scratch_bytes`](crate::scratch_bytes) has it to the byte.
///
/// # Errors
/// As of [`Scan`](crate::Scan).
pub trait Reduce: Backend {
    /// `input[0] + ... + input[n - 1]`, for an associative `+`; the operator's identity if there are none.
    ///
    /// ```
    /// # use trifold_core::{Reduce, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3u32, 1, 4, 1, 5])?;
    /// assert_eq!(gpu.reduce(&x, Sum).value()?, 14);
    /// assert_eq!(gpu.reduce(x.slice(..2)?, Sum).value()?, 4);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn reduce<X: IntoInput<Self>, M: Monoid<X::Item>>(&self, x: X, op: M) -> ReduceCall<X::Item, Self> {
        let input = x.into_input();
        let request = ReduceRequest { op: Op::of(op), n: input.n(), initial: None };
        ReduceCall { device: self.clone(), input, request }
    }
}

/// A reduction whose result has no place yet.
///
/// ```
/// # use trifold_core::{block_on, Max, Reduce, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let x = gpu.upload(&[3.0f32, 1.0, 4.0])?;
/// assert_eq!(gpu.reduce(&x, Max).value()?, 4.0);
/// assert_eq!(block_on(gpu.reduce(&x, Max).value_async())?, 4.0);
///
/// // To new memory on the device, and as a list of one.
/// assert_eq!(gpu.reduce(&x, Max).collect()?.read()?, [4.0]);
/// assert_eq!(gpu.reduce(&x, Max).read()?, [4.0]);
///
/// // Of as many elements as a word on the device says.
/// let n = gpu.upload(&[2u32])?;
/// assert_eq!(gpu.reduce(&x, Max).len_on_device(&n).value()?, 3.0);
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to(&out), collect() or value()"]
pub struct ReduceCall<T, B: Backend = Device> {
    pub(super) device: B,
    pub(super) input: View<T, B>,
    pub(super) request: ReduceRequest,
}

impl<T: Element, B: Backend> ReduceCall<T, B> {
    /// From this element on, instead of the operator's identity.
    ///
    /// ```
    /// # use trifold_core::{Max, Reduce, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3u32, 1, 4])?;
    /// assert_eq!(gpu.reduce(&x, Max).starting_from(7).value()?, 7);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn starting_from(mut self, initial: T) -> Self {
        self.request.initial = Some(bytemuck::bytes_of(&initial).to_vec());
        self
    }

    /// Of each segment alone: the segment `s` has the elements `offsets[s]..offsets[s + 1]`. So there is one more offset than
    /// segments. Offsets are `u32` or `u64`. A segment without elements gives what it starts from. An offset past the end is the end.
    ///
    /// ```
    /// # use trifold_core::{Reduce, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, offsets) = (gpu.upload(&[3u32, 1, 4, 1, 5])?, gpu.upload(&[0u32, 2, 2, 5])?);
    /// assert_eq!(gpu.reduce(&x, Sum).segments(&offsets).read()?, [4, 0, 10]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn segments<O: Offset>(self, offsets: &Buffer<O, B>) -> SegmentedReduceCall<T, B> {
        SegmentedReduceCall::by_offsets(self, offsets)
    }

    /// Of each row of so many elements alone, which must divide the elements. Where their number is on the device, or a run has fewer
    /// ([`up_to`](crate::Placed::up_to)), the last row may be short.
    ///
    /// ```
    /// # use trifold_core::{Reduce, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3u32, 1, 4, 1, 5, 9])?;
    /// assert_eq!(gpu.reduce(&x, Sum).rows(3).read()?, [8, 15]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn rows(self, width: usize) -> SegmentedReduceCall<T, B> {
        SegmentedReduceCall::by_rows(self, width)
    }

    /// To a buffer of one element.
    ///
    /// ```
    /// # use trifold_core::{Reduce, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, totals) = (gpu.upload(&[3u32, 1, 4])?, gpu.upload(&[0u32; 2])?);
    /// gpu.reduce(&x, Sum).to(&totals.slice(1..)?).run()?;
    /// assert_eq!(totals.read()?, [0, 8]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn to(self, output: &Buffer<T, B>) -> Placed<B> {
        let spans = self.input.spans_to(output.span());
        Placed::new(self.device, self.request, spans).reads(Slot::Input, &self.input)
    }

    /// Runs the call, waits for its end, and reads the one element.
    ///
    /// ```
    /// # use trifold_core::{Reduce, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3u32, 1, 4])?;
    /// assert_eq!(gpu.reduce(&x, Sum).value()?, 8);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub fn value(self) -> Result<T> {
        block_on(self.value_async())
    }

    /// As [`ReduceCall::value`], for programs that must not block.
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub async fn value_async(self) -> Result<T> {
        Ok(self.read_async().await?[0])
    }
}

impl<T: Element, B: Backend> ReduceCall<T, B> {
    /// With the one element mapped as it is written.
    ///
    /// ```
    /// # use std::borrow::Cow;
    /// # use trifold_core::{Map, Reduce, Sum, Transfer};
    /// #[derive(Clone)]
    /// struct Root;
    ///
    /// impl Map<f32> for Root {
    ///     type Output = f32;
    ///     fn text(&self) -> Cow<'static, str> {
    ///         "fn map(a: A) -> U { return sqrt(a); }".into()
    ///     }
    ///     fn map(&self, a: f32) -> f32 {
    ///         a.sqrt()
    ///     }
    /// }
    ///
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[9.0f32, 16.0])?;
    /// assert_eq!(gpu.reduce(&x, Sum).then(Root).value()?, 5.0);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn then<M: Map<T>>(self, map: M) -> ReduceThenCall<T, M::Output, B> {
        ReduceThenCall { call: self, then: Then::of(map), of: PhantomData }
    }
}

/// A reduction whose result is mapped, and has no place yet.
///
/// ```
/// # use trifold_core::{Reduce, Summary, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let x = gpu.upload(&[3.0f32, 4.0])?;
/// let length = gpu.alloc(1)?;
/// gpu.norm(&x).to(&length).run()?;
/// assert_eq!(length.read()?, [5.0]);
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to(&out), collect() or value()"]
pub struct ReduceThenCall<T, U, B: Backend = Device> {
    call: ReduceCall<T, B>,
    then: Then,
    of: PhantomData<fn() -> U>,
}

impl<T: Element, U: Element, B: Backend> ReduceThenCall<T, U, B> {
    /// To a buffer of one element.
    pub fn to(self, output: &Buffer<U, B>) -> Placed<B> {
        let ReduceCall { device, input, request } = self.call;
        let spans = input.spans_to(output.span());
        Placed::new(device, request, spans).reads(Slot::Input, &input).then(self.then)
    }

    /// Runs the call, waits for its end, and reads the one element.
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub fn value(self) -> Result<U> {
        block_on(self.value_async())
    }

    /// As [`ReduceThenCall::value`], for programs that must not block.
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub async fn value_async(self) -> Result<U> {
        Ok(self.read_async().await?[0])
    }
}

length!(ReduceCall<T: Element>, input);
length!(ReduceThenCall<T: Element, U: Element>, call.input);

results! {
    ReduceThenCall<T: Element, U: Element>::collect, collect_async -> Buffer<U, B>, Vec<U>; |call| {
        let output = call.call.device.alloc(1)?;
        call.to(&output).run_async().await?;
        Ok(output)
    }
}

results! {
    ReduceCall<T: Element>::collect, collect_async -> Buffer<T, B>, Vec<T>; |call| {
        let output = call.device.alloc(1)?;
        call.to(&output).run_async().await?;
        Ok(output)
    }
}
