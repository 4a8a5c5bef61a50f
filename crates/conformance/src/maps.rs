//! The suite's own maps, and views by them.

use std::borrow::Cow;

use trifold_core::types::{bf16, f16};
use trifold_core::{Captures, Element, IntoInput, Map, Predicate, Request, Slot, Transfer, View, element, iota};
use trifold_cpu::Cpu;

use crate::operators::Fields;

/// A map that leaves numbers as they are.
#[derive(Clone)]
pub struct Same;

impl Map<u32> for Same {
    type Output = u32;
    fn text(&self) -> Cow<'static, str> {
        "fn map(a: A) -> U { return a; }".into()
    }
    fn map(&self, a: u32) -> u32 {
        a
    }
}

/// A map: its type, what it maps, its text and its Rust.
macro_rules! map {
    ($(#[$doc:meta])* $Map:ident { $($field:ident: $Field:ty),* }, $V:ty => $U:ty, $text:expr, $of:expr) => {
        map!(@type $(#[$doc])* $Map { $($field: $Field),* });
        impl Map<$V> for $Map {
            type Output = $U;
            fn text(&self) -> Cow<'static, str> {
                $text.into()
            }
            fn map(&self, v: $V) -> $U {
                const MAP: fn(&$Map, $V) -> $U = $of;
                MAP(self, v)
            }
            fn captures(&self) -> Captures {
                map!(@captures self $($field)*)
            }
        }
    };
    (@type $(#[$doc:meta])* $Map:ident {}) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub(crate) struct $Map;
    };
    (@type $(#[$doc:meta])* $Map:ident { $($field:ident: $Field:ty),+ }) => {
        element! {
            $(#[$doc])*
            pub(crate) struct $Map { $(pub $field: $Field),+ }
        }
    };
    (@captures $self:ident) => { Captures::default() };
    (@captures $self:ident $($field:ident)+) => { Captures::of($self) };
}

element! {
    /// A value and where it stands, from 1 on.
    pub(crate) struct Placed { pub value: f32, pub place: u32 }
}

map!(Square {}, u32 => u32, "fn map(a: A) -> U { return a * a; }", |_, a| a.wrapping_mul(a));
map!(Turned {}, u32 => u32, "fn map(a: A) -> U { return ~a; }", |_, a| !a);
map!(Shifted {}, u8 => u32, "fn map(a: A) -> U { return a + 3u; }", |_, a| u32::from(a) + 3);
map!(Signed {}, i8 => i32, "fn map(a: A) -> U { return a * 5; }", |_, a| i32::from(a) * 5);
map!(Whole {}, f16 => f32, "fn map(a: A) -> U { return a; }", |_, a| f32::from(a));
map!(WholeB {}, bf16 => f32, "fn map(a: A) -> U { return a; }", |_, a| f32::from(a));
map!(Half {}, f32 => f16, "fn map(a: A) -> U { return a; }", |_, a| f16::from_f32(a));
map!(HalfB {}, f32 => bf16, "fn map(a: A) -> U { return a; }", |_, a| bf16::from_f32(a));
map!(Low {}, u32 => u8, "fn map(a: A) -> U { return a >> 3u; }", |_, a| (a >> 3) as u8);
map!(LowSigned {}, i16 => i16, "fn map(a: A) -> U { return -a; }", |_, a| a.wrapping_neg());
map!(Mixed {}, u64 => u64, "fn map(a: A) -> U { return (a ^ (a >> 29u)) * 0x9e3779b97f4a7c15lu; }", |_, a| {
    (a ^ (a >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
});
map!(
    /// By a number of its own.
    Scaled { by: f32, plus: u32 }, (f32, u32) => f32,
    "fn scale(a: f32) -> f32 { return a * captures.by; }\n\
     fn map(a: A, b: B) -> U { return scale(a) * f32((b + captures.plus) % 16u); }",
    |own, (a, b)| (a * own.by) * (b.wrapping_add(own.plus) % 16) as f32
);
map!(
    /// With a loop of as many turns as the element says: lanes part.
    Turns {}, u32 => u32,
    "fn map(a: A) -> U { var sum = a; for (var i = 0u; i < a % 13u; i++) { sum = sum * 5u + i; } return sum; }",
    |_, a| (0..a % 13).fold(a, |sum: u32, i| sum.wrapping_mul(5).wrapping_add(i))
);
map!(
    /// By a vector and a function that C has not: what it needs is declared before it.
    Remainder {}, u32 => u32, "fn map(a: A) -> U { let both = vec2<u32>(a, 13u); return both.x % both.y; }",
    |_, a| a % 13
);
map!(Both {}, (u32, u32) => u32, "fn map(a: A, b: B) -> U { return a + b; }", |_, (a, b)| a.wrapping_add(b));
map!(WithPlace {}, (u32, f32) => Placed, "fn map(a: A, b: B) -> U { return U(b, a + 1u); }", |_, (place, value)| {
    Placed { value, place: place + 1 }
});
map!(
    /// Of a struct, by its own name, with a loop.
    Steps { most: u32 }, Placed => u32,
    "struct Own { sum: u32 }\n\
     fn map(a: Placed) -> U { var own = Own(0u); for (var i = 0u; i < captures.most; i++) { own.sum += a.place + i; } return own.sum; }",
    |own, a| (0..own.most).fold(0, |sum: u32, i| sum.wrapping_add(a.place.wrapping_add(i)))
);
map!(Three {}, ((u32, u16), u32) => u32, "fn map(a: A, b: B, c: C) -> U { return a * 3u + b * 5u + c * 7u; }", |_, ((a, b), c)| {
    a.wrapping_mul(3).wrapping_add(u32::from(b) * 5).wrapping_add(c.wrapping_mul(7))
});

map!(Unsigned {}, f32 => u32, "fn map(a: A) -> U { return u32(a); }", |_, a| a as u32);
map!(Integer {}, f32 => i32, "fn map(a: A) -> U { return i32(a); }", |_, a| a as i32);
map!(Byte {}, u32 => u8, "fn map(a: A) -> U { return a; }", |_, a| a as u8);
map!(PlaceOf {}, (u32, f32) => u32, "fn map(a: A, b: B) -> U { return a; }", |_, (place, _)| place);
map!(Tripled { by: u32 }, u32 => u32, "fn map(a: A) -> U { return a * captures.by; }", |own, a| a.wrapping_mul(own.by));

element! {
    /// Two words.
    pub(crate) struct Two { a: u32, b: u32 }
}
impl From<(u32, u32)> for Two {
    fn from((a, b): (u32, u32)) -> Two {
        Two { a, b }
    }
}
map!(Widened {}, u32 => Two, "fn map(a: A) -> U { return U(a, a + 1u); }", |_, a| Two { a, b: a.wrapping_add(1) });

map!(
    /// Keys that are structs, many of them equal.
    Fielded {}, u32 => Fields,
    "fn map(a: A) -> U { return U(i32(a % 7u) - 3, f32(a % 1000u), f32(a / 7u % 5u)); }",
    |_, a| Fields { low: (a % 7) as i32 - 3, moved: (a % 1000) as f32, high: (a / 7 % 5) as f32 }
);

element! {
    /// Words that are at least this.
    pub(crate) struct Least { pub least: u32 }
}
impl Predicate<u32> for Least {
    fn text(&self) -> Cow<'static, str> {
        "fn keep(v: T) -> bool { return v >= captures.least; }".into()
    }
    fn keep(&self, v: u32) -> bool {
        v >= self.least
    }
    fn captures(&self) -> Captures {
        Captures::of(self)
    }
}

/// Elements that gathers are from, and that searches are in.
pub(crate) const SOURCE: usize = 1000;

/// Views of any number of elements, each as a copy's request.
pub(crate) fn views() -> trifold_core::Result<Vec<Request>> {
    let cpu = Cpu::new()?;
    let copied = [
        viewed(&cpu, &memory::<u32>(&cpu)?.mapped(Square))?,
        viewed(&cpu, &memory::<u8>(&cpu)?.mapped(Shifted))?,
        viewed(&cpu, &memory::<i8>(&cpu)?.mapped(Signed))?,
        viewed(&cpu, &memory::<f16>(&cpu)?.mapped(Whole))?,
        viewed(&cpu, &memory::<bf16>(&cpu)?.mapped(WholeB))?,
        viewed(&cpu, &memory::<f32>(&cpu)?.mapped(Half))?,
        viewed(&cpu, &memory::<f32>(&cpu)?.mapped(HalfB))?,
        viewed(&cpu, &memory::<u32>(&cpu)?.mapped(Low))?,
        viewed(&cpu, &memory::<i16>(&cpu)?.mapped(LowSigned))?,
        viewed(&cpu, &memory::<u64>(&cpu)?.mapped(Mixed))?,
        viewed(&cpu, &memory::<f32>(&cpu)?.zipped(&memory::<u32>(&cpu)?).mapped(Scaled { by: 0.5, plus: 3 }))?,
        viewed(&cpu, &memory::<f32>(&cpu)?.mapped_indexed(WithPlace))?,
        viewed(&cpu, &memory::<Placed>(&cpu)?.mapped(Steps { most: 5 }).mapped(Square))?,
        viewed(&cpu, &iota(1).mapped(Square))?,
        viewed(&cpu, &memory::<u32>(&cpu)?.mapped(Turns))?,
        viewed(&cpu, &iota(1))?,
        viewed(&cpu, &source::<u32>(&cpu)?.gathered(&memory::<u32>(&cpu)?))?,
        viewed(&cpu, &source::<f16>(&cpu)?.gathered(&memory::<u32>(&cpu)?))?,
        viewed(&cpu, &source::<Placed>(&cpu)?.gathered(&memory::<u32>(&cpu)?))?,
        viewed(&cpu, &three(&cpu)?)?,
        viewed(&cpu, &memory::<u32>(&cpu)?.lower_bounds(&source::<u32>(&cpu)?))?,
        viewed(&cpu, &memory::<f32>(&cpu)?.upper_bounds(&source::<f32>(&cpu)?))?,
        viewed(&cpu, &memory::<i64>(&cpu)?.lower_bounds(&source::<i64>(&cpu)?))?,
        viewed(&cpu, &searched(&cpu)?)?,
    ];
    Ok(copied.into())
}

/// One of them: of memory, of gathers and of places.
pub(crate) fn several() -> trifold_core::Result<Request> {
    let cpu = Cpu::new()?;
    viewed(&cpu, &three(&cpu)?)
}

/// A view of keys that are structs.
pub(crate) fn fields() -> trifold_core::Result<Request> {
    let cpu = Cpu::new()?;
    viewed(&cpu, &memory::<u32>(&cpu)?.mapped(Fielded))
}

/// A gather of a gather of what was mapped, beside what is not gathered.
fn three(cpu: &Cpu) -> trifold_core::Result<View<u32, Cpu>> {
    let places = source::<u32>(cpu)?.gathered(&memory::<u32>(cpu)?);
    let both = source::<u32>(cpu)?.mapped(Square).zipped(&source::<u16>(cpu)?);
    Ok(both.gathered(&places).zipped(iota(1)).mapped(Three))
}

/// Bins of what is gathered, beside what is not.
fn searched(cpu: &Cpu) -> trifold_core::Result<View<u32, Cpu>> {
    let gathered = source::<f16>(cpu)?.gathered(&memory::<u32>(cpu)?);
    Ok(gathered.binned(&source::<f16>(cpu)?).zipped(&memory::<u16>(cpu)?).zipped(iota(1)).mapped(Three))
}

/// Memory of as many elements as the view will have.
fn memory<T: Element>(cpu: &Cpu) -> trifold_core::Result<View<T, Cpu>> {
    Ok(cpu.alloc(1)?.into_input())
}

/// Memory that is gathered from.
fn source<T: Element>(cpu: &Cpu) -> trifold_core::Result<View<T, Cpu>> {
    Ok(cpu.alloc(SOURCE)?.into_input())
}

fn viewed<T: Element>(cpu: &Cpu, view: &View<T, Cpu>) -> trifold_core::Result<Request> {
    Ok(cpu.copy(view).to(&cpu.alloc(1)?).request().clone())
}

/// A request for the elements of such a view.
pub(crate) fn of(view: &Request, request: Request, slot: Slot) -> Request {
    let viewed = view.views().iter().cloned();
    viewed.fold(request, |request, viewed| request.viewing(trifold_core::Viewed { slot, ..viewed }))
}
