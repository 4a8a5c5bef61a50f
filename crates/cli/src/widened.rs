//! Numbers of a file's width as those of the width that calls compute with: a view, so that the device widens them.

use std::borrow::Cow;
use std::marker::PhantomData;

use trifold::Map;
use trifold::plan::ViewData;
use trifold::types::{Scalar, bf16, f16};

/// A number as one of a wider type of its kind.
#[derive(Clone)]
struct Widened<U>(PhantomData<fn() -> U>);

macro_rules! widened {
    ($($from:ident $T:ty => $to:ident $U:ident $text:literal;)*) => {
        $(impl Map<$T> for Widened<$U> {
            type Output = $U;
            fn name(&self) -> Cow<'static, str> {
                "widened".into()
            }
            fn text(&self) -> Cow<'static, str> {
                concat!("fn map(a: A) -> U { return ", $text, "; }").into()
            }
            fn map(&self, a: $T) -> $U {
                $U::from(a)
            }
        })*

        /// The view of numbers of a scalar as those of another, if the device has the conversion.
        pub fn view(from: Scalar, to: Scalar) -> Option<ViewData> {
            match (from, to) {
                $((Scalar::$from, Scalar::$to) => Some(ViewData::mapped::<$T, _>(Widened::<$U>(PhantomData))),)*
                _ => None,
            }
        }
    };
}

widened! {
    U8 u8 => U32 u32 "a";
    U16 u16 => U32 u32 "a";
    I8 i8 => I32 i32 "a";
    I16 i16 => I32 i32 "a";
    F16 f16 => F32 f32 "a";
    BF16 bf16 => F32 f32 "a";
    U8 u8 => U64 u64 "u64(a)";
    U16 u16 => U64 u64 "u64(a)";
    U32 u32 => U64 u64 "u64(a)";
    I8 i8 => I64 i64 "i64(a)";
    I16 i16 => I64 i64 "i64(a)";
    I32 i32 => I64 i64 "i64(a)";
}
