//! How builders end without a place for their results: these get new memory, or go to the host.

use crate::prepared::run_fills;
use crate::{Backend, Buffer, Command, Compacted, Element, Error, Result, Segments, Transfer, View};

/// A new word that has this value, in the order of the queue.
fn constant<B: Backend>(device: &B, value: u32) -> Result<Buffer<u32, B>> {
    let word = device.alloc(1)?;
    run_fills(device, vec![Command::Fill { span: word.span().clone(), value }])?;
    Ok(word)
}

/// A new place for a count.
pub(crate) fn new_count<B: Backend>(device: &B) -> Result<Buffer<u32, B>> {
    device.alloc(1)
}

/// Results in a device's memory, to be brought to the host.
pub(crate) trait Results {
    type Host;

    async fn fetch(self) -> Result<Self::Host>;
}

impl<T: Element, B: Backend> Results for Buffer<T, B> {
    type Host = Vec<T>;

    async fn fetch(self) -> Result<Vec<T>> {
        self.read_async().await
    }
}

impl<T: Element, B: Backend> Results for Compacted<T, B> {
    type Host = Vec<T>;

    async fn fetch(self) -> Result<Vec<T>> {
        self.read_async().await
    }
}

impl<R: Results, S: Results> Results for (R, S) {
    type Host = (R::Host, S::Host);

    async fn fetch(self) -> Result<Self::Host> {
        Ok((self.0.fetch().await?, self.1.fetch().await?))
    }
}

/// New memory with as many elements as are read.
pub(crate) trait Whole: Results + Sized {
    type Backend: Backend;
    /// The same with their number on the device.
    type Counted: Results<Host = Self::Host>;

    fn device(&self) -> &Self::Backend;
    fn len(&self) -> usize;
    fn counted(self, count: Buffer<u32, Self::Backend>) -> Self::Counted;

    /// With this number, or all.
    fn compacted(self, length: Option<Buffer<u32, Self::Backend>>) -> Result<Self::Counted> {
        let count = match length {
            Some(length) => length,
            None => constant(self.device(), self.len() as u32)?,
        };
        Ok(self.counted(count))
    }

    /// As many as there are, on the host.
    async fn fetch_counted(self, length: Option<Buffer<u32, Self::Backend>>) -> Result<Self::Host> {
        match length {
            Some(length) => self.counted(length).fetch().await,
            None => self.fetch().await,
        }
    }
}

impl<T: Element, B: Backend> Whole for Buffer<T, B> {
    type Backend = B;
    type Counted = Compacted<T, B>;

    fn device(&self) -> &B {
        Buffer::device(self)
    }

    fn len(&self) -> usize {
        Buffer::len(self)
    }

    fn counted(self, count: Buffer<u32, B>) -> Compacted<T, B> {
        Compacted::new(self, count)
    }
}

impl<R: Whole, S: Whole<Backend = R::Backend>> Whole for (R, S) {
    type Backend = R::Backend;
    type Counted = (R::Counted, S::Counted);

    fn device(&self) -> &R::Backend {
        self.0.device()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn counted(self, count: Buffer<u32, R::Backend>) -> Self::Counted {
        (self.0.counted(count.clone()), self.1.counted(count))
    }
}

/// Why a call whose input's length is on the device does not give buffers.
pub(crate) fn unknown_length() -> Error {
    Error::Invalid(
        "how many elements there are is on the device, and collect() would give all of a buffer; use compact(), which \
         keeps their number, or to(&out), and behind .then(f) to(&out) alone, but for scans of all"
            .into(),
    )
}

/// How many elements a call gives that gives as many as it reads.
pub(crate) fn known_length<T: Element, B: Backend>(input: &View<T, B>) -> Result<usize> {
    match input.length() {
        Some(_) => Err(unknown_length()),
        None => Ok(input.len()),
    }
}

/// How many elements a call reads, said on the device.
macro_rules! length {
    ($Call:ident$(<$($T:ident: $Bound:ident),+>)?, $($input:ident).+) => {
        impl<$($($T: $Bound,)+)? B: Backend> $Call<$($($T,)+)? B> {
            /// Of the first elements only: as many as this one `u32` says when the call runs. If it says more than
            /// there are, all are taken. The host does not read it. Kernels and scratch follow from the elements that
            /// are bound.
            pub fn len_on_device(mut self, length: &Buffer<u32, B>) -> Self {
                self.$($input).+ = self.$($input).+.counted_by(length);
                self
            }
        }
    };
}
pub(crate) use length;

/// How a builder ends without a place for results of as many elements as it reads.
macro_rules! whole_results {
    ($Call:ident<$($T:ident: $Bound:ident),+>, $($input:ident).+ -> $Results:ty, $Counted:ty, $Host:ty; |$call:ident| $made:block) => {
        length!($Call<$($T: $Bound),+>, $($input).+);

        impl<$($T: $Bound,)+ B: Backend> $Call<$($T,)+ B> {
            /// Runs the call to new memory. Gives also the word that says how many elements there are, if that is on
            /// the device.
            async fn made(self) -> Result<($Results, Option<Buffer<u32, B>>)> {
                let length = self.$($input).+.length().cloned();
                let $call = self;
                Ok(($made, length))
            }

            /// Runs the call to new memory. Does not wait for its end.
            ///
            /// # Errors
            /// As of [`Scan`](crate::Scan), and [`Error::Invalid`](crate::Error::Invalid) if the number of elements is
            /// on the device.
            pub fn collect(self) -> Result<$Results> {
                block_on(self.collect_async())
            }

            /// As `collect`, for programs that must not block.
            ///
            /// # Errors
            /// As `collect`.
            pub async fn collect_async(self) -> Result<$Results> {
                match self.$($input).+.length() {
                    Some(_) => Err(unknown_length()),
                    None => Ok(self.made().await?.0),
                }
            }

            /// Runs the call to new memory, which has its number of elements beside it on the device: the word that counts the
            /// input, if there is one. Does not wait for its end.
            ///
            /// # Errors
            /// As of [`Scan`](crate::Scan).
            pub fn compact(self) -> Result<$Counted> {
                block_on(self.compact_async())
            }

            /// As `compact`, for programs that must not block.
            ///
            /// # Errors
            /// As of [`Scan`](crate::Scan).
            pub async fn compact_async(self) -> Result<$Counted> {
                let (made, length) = self.made().await?;
                made.compacted(length)
            }

            /// Runs the call, waits for its end, and reads what it made.
            ///
            /// # Errors
            /// As of [`Scan`](crate::Scan).
            pub fn read(self) -> Result<$Host> {
                block_on(self.read_async())
            }

            /// As `read`, for programs that must not block.
            ///
            /// # Errors
            /// As of [`Scan`](crate::Scan).
            pub async fn read_async(self) -> Result<$Host> {
                let (made, length) = self.made().await?;
                made.fetch_counted(length).await
            }
        }
    };
}
pub(crate) use whole_results;

/// How a builder ends without a place for its results: they get new memory, or go to the host.
macro_rules! results {
    ($Call:ident$(<$($T:ident: $Bound:ident),+>)?::$collect:ident, $collect_async:ident -> $Results:ty, $Host:ty; |$call:ident| $made:block) => {
        impl<$($($T: $Bound,)+)? B: Backend> $Call<$($($T,)+)? B> {
            /// Runs the call to new memory. Does not wait for its end.
            ///
            /// # Errors
            /// As of [`Scan`](crate::Scan).
            pub fn $collect(self) -> Result<$Results> {
                block_on(self.$collect_async())
            }

            /// As the call of that name that blocks, for programs that must not.
            ///
            /// # Errors
            /// As of [`Scan`](crate::Scan).
            pub async fn $collect_async(self) -> Result<$Results> {
                let $call = self;
                $made
            }

            /// Runs the call, waits for its end, and reads what it made.
            ///
            /// # Errors
            /// As of [`Scan`](crate::Scan).
            pub fn read(self) -> Result<$Host> {
                block_on(self.read_async())
            }

            /// As `read`, for programs that must not block.
            ///
            /// # Errors
            /// As of [`Scan`](crate::Scan).
            pub async fn read_async(self) -> Result<$Host> {
                self.$collect_async().await?.fetch().await
            }
        }
    };
}
pub(crate) use results;

/// How many elements a call gives of those that it reads: so many of all, or of each segment.
pub(crate) struct Given {
    pub(crate) segments: Option<Segments>,
    pub(crate) each: usize,
    /// How many elements the input has.
    pub(crate) room: usize,
}

impl Given {
    /// Of so many elements.
    fn of(&self, n: usize) -> usize {
        let n = n.min(self.room);
        match &self.segments {
            None => self.each.min(n),
            Some(segments) => segments.count(n as u64).unwrap_or(n as u64).saturating_mul(self.each as u64) as usize,
        }
    }

    /// Of all elements.
    pub(crate) fn most(&self) -> usize {
        self.of(self.room)
    }

    /// Whether a length on the device may say that there are fewer: offsets have all their segments.
    fn may_be_fewer(&self) -> bool {
        !matches!(self.segments, Some(Segments::Offsets { .. }))
    }

    /// How many there are, if a length on the device does not decide it.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it does.
    pub(crate) fn known<B: Backend>(&self, length: Option<&Buffer<u32, B>>) -> Result<usize> {
        if length.is_some() && self.may_be_fewer() {
            return Err(Error::Invalid(
                "how many elements this gives follows from a length on the device, and collect() would give all of a buffer; use to(&out), \
                 which leaves the places behind them as they are, or read() of a call without .then(f)"
                    .into(),
            ));
        }
        Ok(self.most())
    }

    /// As many as there are, of what was read of all.
    pub(crate) async fn shorten<B: Backend>(
        &self,
        length: Option<Buffer<u32, B>>,
        host: &mut impl Shorten,
    ) -> Result<()> {
        if let Some(length) = length.filter(|_| self.may_be_fewer()) {
            host.shorten(self.of(length.read_async().await?[0] as usize));
        }
        Ok(())
    }
}

/// Elements on the host, of which the first are kept.
pub(crate) trait Shorten {
    fn shorten(&mut self, len: usize);
}

impl<T> Shorten for Vec<T> {
    fn shorten(&mut self, len: usize) {
        self.truncate(len);
    }
}

impl<R: Shorten, S: Shorten> Shorten for (R, S) {
    fn shorten(&mut self, len: usize) {
        self.0.shorten(len);
        self.1.shorten(len);
    }
}

/// How a builder ends without a place for results of which a length on the device may leave fewer than there is room for.
macro_rules! given_results {
    ($Call:ident<$($T:ident: $Bound:ident),+>, $($input:ident).+ -> $Results:ty, $Host:ty; |$call:ident| $given:expr, $made:block) => {
        length!($Call<$($T: $Bound),+>, $($input).+);

        impl<$($T: $Bound,)+ B: Backend> $Call<$($T,)+ B> {
            /// What it gives at most.
            pub(in crate::primitive) fn given(&self) -> Given {
                let $call = self;
                $given
            }

            /// How many elements it gives.
            pub(in crate::primitive) fn outputs(&self) -> Result<usize> {
                self.given().known(self.$($input).+.length())
            }

            /// Runs the call to new memory for all that it may give.
            async fn made(self) -> Result<$Results> {
                let $call = self;
                $made
            }

            /// Runs the call to new memory. Does not wait for its end.
            ///
            /// # Errors
            /// As of [`Scan`](crate::Scan), and [`Error::Invalid`](crate::Error::Invalid) if a length on the device decides how many
            /// elements it gives.
            pub fn collect(self) -> Result<$Results> {
                block_on(self.collect_async())
            }

            /// As `collect`, for programs that must not block.
            ///
            /// # Errors
            /// As `collect`.
            pub async fn collect_async(self) -> Result<$Results> {
                self.outputs()?;
                self.made().await
            }

            /// Runs the call, waits for its end, and reads what it made.
            ///
            /// # Errors
            /// As of [`Scan`](crate::Scan).
            pub fn read(self) -> Result<$Host> {
                block_on(self.read_async())
            }

            /// As `read`, for programs that must not block.
            ///
            /// # Errors
            /// As of [`Scan`](crate::Scan).
            pub async fn read_async(self) -> Result<$Host> {
                let (given, length) = (self.given(), self.$($input).+.length().cloned());
                let mut host = self.made().await?.fetch().await?;
                given.shorten(length, &mut host).await?;
                Ok(host)
            }
        }
    };
}
pub(crate) use given_results;
