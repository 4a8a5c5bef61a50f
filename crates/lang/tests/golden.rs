//! Emitted texts, as they are. Run with `INSTA_UPDATE=always` to write them anew, and read them.

use std::borrow::Cow;

use naga::valid::{Capabilities, ValidationFlags, Validator};
use trifold_core::types::bf16;
use trifold_core::{Builtin, Element, KeyImage, Language, Op, Order, Predicate, Scalar, Selector, element};
use trifold_lang::{emit_element, emit_key, emit_operator, emit_selector};

element! {
    /// x -> a*x + b.
    struct Affine { a: u32, b: f32 }
}

element! {
    /// Every scalar.
    struct Everything { d: f64, i: i64, u: u64, f: f32, n: i32, k: u32, pad: u32 }
}

fn operator(element: trifold_core::ElementType, name: &'static str, wgsl: &'static str, identity: Vec<u8>) -> Op {
    let host = Op::builtin(Builtin::Sum, Scalar::U32).unwrap().host().clone();
    // SAFETY: the loops, which are over another type, are never run: these operators are emitted as text alone.
    unsafe { Op::from_parts(name, element, wgsl, identity, true, host) }
}

/// An operator in all languages; its WGSL must be valid together with the element's.
fn everywhere(op: &Op) -> String {
    let wgsl = emit_element(op.element(), Language::Wgsl).unwrap() + &emit_operator(op, Language::Wgsl).unwrap();
    let module = naga::front::wgsl::parse_str(&wgsl).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&wgsl)));
    let validated = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
    validated.unwrap_or_else(|e| panic!("{}", e.emit_to_string(&wgsl)));
    let texts = Language::KERNEL.map(|language| {
        format!("==== {:?}: {language:?}\n{}", op, emit_operator(op, language).unwrap_or_else(|e| panic!("{e}")))
    });
    texts.join("\n")
}

#[test]
fn elements() {
    let types = Scalar::computed().map(trifold_core::ElementType::Scalar).chain([Affine::TYPE, Everything::TYPE]);
    let texts = types.flat_map(|ty| {
        Language::KERNEL
            .map(|language| format!("==== {}: {language:?}\n{}", ty.name(), emit_element(&ty, language).unwrap()))
    });
    insta::assert_snapshot!(texts.collect::<Vec<_>>().join("\n"));
}

element! {
    /// Fields that share words, in memory and in the image.
    struct Tagged {
        #[key]
        class: u8,
        flags: i8,
        #[key(descending)]
        weight: bf16,
        #[key]
        time: i32,
    }
}

/// Keys whose images are of one word, of several, of less than a word, and of parts of words.
#[test]
fn keys() {
    let image = |element, order| KeyImage::new(&element, order).unwrap();
    let bits = |scalar: Scalar, bits| KeyImage::of_bits(&scalar.into(), Order::Ascending, bits).unwrap();
    let images = [
        ("u32", image(u32::TYPE, Order::Ascending), 4),
        ("f64 descending", image(f64::TYPE, Order::Descending), 8),
        ("i16", image(i16::TYPE, Order::Ascending), 2),
        ("u128 bits 3..117", bits(Scalar::U128, 3..117), 15),
        ("f32 bits 9..30, and one place more", bits(Scalar::F32, 9..30), 4),
        ("Tagged", image(Tagged::TYPE, Order::Ascending), 7),
    ];
    let texts = images.iter().flat_map(|(name, image, places)| {
        Language::KERNEL.map(|language| {
            let text = emit_key(image, *places, language).unwrap();
            if language == Language::Wgsl {
                let module =
                    naga::front::wgsl::parse_str(&text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
                let validated = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
                validated.unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
            }
            format!("==== {name}: {language:?}\n{text}")
        })
    });
    insta::assert_snapshot!(texts.collect::<Vec<_>>().join("\n"));
}

#[test]
fn builtins() {
    for scalar in Scalar::computed() {
        let ops = Builtin::ALL.into_iter().filter_map(|which| Op::builtin(which, scalar));
        let texts: Vec<_> = ops.map(|op| everywhere(&op)).collect();
        insta::assert_snapshot!(format!("builtins_{}", scalar.name()), texts.join("\n"));
    }
}

#[test]
fn affine() {
    let wgsl = "fn combine(l: T, r: T) -> T { return Affine(l.a * r.a, l.b * f32(r.a) + r.b); }";
    insta::assert_snapshot!(everywhere(&operator(Affine::TYPE, "compose", wgsl, vec![1, 0, 0, 0, 0, 0, 0, 0x80])));
}

#[test]
fn control_flow() {
    let wgsl = "\
const LIMIT = 8u;
const WEIGHTS = array<u32, 3>(1u, 10u, 100u);

struct Pair { low: u32, high: u32 }

fn ordered(a: u32, b: u32) -> Pair {
    if a < b { return Pair(a, b); }
    return Pair(b, a);
}

fn gcd(a: u32, b: u32) -> u32 {
    var p = ordered(a, b);
    while p.low != 0u {
        let rest = p.high % p.low;
        p.high = p.low;
        p.low = rest;
    }
    return p.high;
}

fn bump(count: ptr<function, u32>, by: u32) {
    *count += by;
}

fn combine(int: u32, float: u32) -> u32 {
    var half = gcd(int, float);
    for (var i = 0u; i < LIMIT; i++) {
        if i == half { continue; }
        var weights = WEIGHTS;
        switch i % 4u {
            case 0u, 1u: { half ^= weights[half]; }
            case 2u: { bump(&half, i); }
            default: { if half > 1000u { break; } half = min(half, 77u); }
        }
    }
    loop {
        let next = half >> 1u;
        if next == 3u { break; }
        continuing {
            half = next;
            break if half < 4u;
        }
    }
    return half;
}";
    let u32 = trifold_core::ElementType::Scalar(Scalar::U32);
    insta::assert_snapshot!(everywhere(&operator(u32, "tour", wgsl, vec![0; 4])));
}

#[test]
fn vectors_and_conversions() {
    let wgsl = "\
const AXIS = vec3<f32>(0.0, 1.0, -2.5);

fn combine(a: f32, b: f32) -> f32 {
    var v = vec3(a, b, 1.0) * 2.0 + AXIS;
    v.y = max(v.x, -v.z);
    let w = select(v.zyx, vec3(0.5), v < vec3(b));
    let bits = vec3<u32>(bitcast<vec3<u32>>(w).xy, u32(a)) << vec3(3u);
    let i = i32(b) / -3;
    if all(bits != vec3(0u)) { return w[u32(i)]; }
    return dot(v, w) + f32(i % 7) + mix(a, b, 0.25) + smoothstep(0.0, 1.0, a) + fract(b) + round(a) * inverseSqrt(b);
}";
    let f32 = trifold_core::ElementType::Scalar(Scalar::F32);
    insta::assert_snapshot!(everywhere(&operator(f32, "vectors", wgsl, vec![0; 4])));
}

/// A struct as the item, helpers that return and take one, and names of the operators' own.
#[derive(Clone)]
struct Steep;
impl Predicate<Affine> for Steep {
    fn name(&self) -> Cow<'static, str> {
        "steep".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "\
const LIMIT = 3u;

fn doubled(v: T) -> T {
    return T(v.a * 2u, v.b);
}

fn keep(v: T) -> bool {
    let twice = doubled(v);
    if twice.b < 0.5 { return false; }
    return twice.a > LIMIT; // T is the element
}
"
        .into()
    }
    fn keep(&self, v: Affine) -> bool {
        v.b >= 0.5 && v.a.wrapping_mul(2) > 3
    }
}

/// Beside the scan of counts, as in the kernels: `T` is the count's type.
#[test]
fn predicates() {
    let selector = Selector::of::<Affine, _>(Steep);
    let sum = Op::builtin(Builtin::Sum, Scalar::U32).unwrap();
    let texts = Language::KERNEL.map(|language| {
        let text = emit_selector(&selector, language).unwrap();
        if language == Language::Wgsl {
            let count = emit_element(&u32::TYPE, language).unwrap() + &emit_operator(&sum, language).unwrap();
            naga::front::wgsl::parse_str(&(count + &text)).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
        }
        format!("==== {selector:?}: {language:?}\n{text}")
    });
    insta::assert_snapshot!(texts.join("\n"));
}
