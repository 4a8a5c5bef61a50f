//! A text may use any name that WGSL allows, in every language.

#![allow(non_snake_case, missing_docs)]

use std::borrow::Cow;

use trifold_core::{Language, Monoid, Op, Predicate, Selector, element};
use trifold_lang::{emit_element, emit_operator, emit_selector};

mod c;

element! {
    /// Fields named as macros and types of C, OpenCL C and CUDA C, and as what kernels declare.
    pub struct Fields {
        pub CHAR_BIT: u32, pub M_PI_F: u32, pub CLK_LOCAL_MEM_FENCE: u32, pub cl_khr_fp64: u32, pub image2d_array_t: u32,
        pub FLT_EPSILON: u32, pub int: u32, pub TILE: u32, pub threadIdx: u32, pub blockDim: u32, pub values: u32, pub combine: u32,
        pub T: u32, pub INFINITY: u32, pub é: u32, pub w: u32
    }
}

const NAMES: [&str; 16] = [
    "CHAR_BIT",
    "M_PI_F",
    "CLK_LOCAL_MEM_FENCE",
    "cl_khr_fp64",
    "image2d_array_t",
    "FLT_EPSILON",
    "int",
    "TILE",
    "threadIdx",
    "blockDim",
    "values",
    "lookback_state",
    "identity",
    "INFINITY",
    "é",
    "min",
];

/// Declares and uses every name at module scope, and as an argument and a variable.
fn uses(of: &str) -> String {
    let mut text = String::new();
    for (i, name) in NAMES.iter().enumerate() {
        text += &match i % 4 {
            0 => format!("const {name} = {i}u;\nfn use{i}(v: u32) -> u32 {{ return v + {name}; }}\n"),
            1 => format!(
                "fn {name}(v: u32) -> u32 {{ return v + {i}u; }}\nfn use{i}({name}_: u32) -> u32 {{ return {name}({name}_); }}\n"
            ),
            2 => format!(
                "struct {name} {{ {name}: u32 }}\nfn use{i}(v: u32) -> u32 {{ let s = {name}(v + {i}u); return s.{name}; }}\n"
            ),
            _ => format!(
                "alias {name} = u32;\nfn use{i}(v: {name}) -> u32 {{ var x: {name} = v; x += {i}u; return x; }}\n"
            ),
        };
    }
    let calls = (0..NAMES.len()).fold(of.to_string(), |inner, i| format!("use{i}({inner})"));
    let arguments: String =
        NAMES.iter().map(|name| format!("{{ var {name} = sum; {name} += 1u; sum = {name}; }}\n")).collect();
    format!("{text}fn all(v: u32) -> u32 {{\n  var sum = v;\n{arguments}  return {};\n}}\n", calls.replace(of, "sum"))
}

/// What `all` adds.
const ADDED: u32 = 120 + 16;

#[derive(Clone)]
struct Named;
impl Monoid<Fields> for Named {
    fn name(&self) -> Cow<'static, str> {
        "named".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "\
        fn combine(CHAR_BIT: T, int: Fields) -> T {\n  var INFINITY = CHAR_BIT;\n  INFINITY.CHAR_BIT += int.CHAR_BIT;\n  INFINITY.int ^= int.int;\n\
          INFINITY.é = INFINITY.FLT_EPSILON + int.threadIdx;\n  INFINITY.combine = int.T;\n  return INFINITY;\n}".into()
    }
    fn identity(&self) -> Fields {
        // SAFETY: its fields are integers, of which zero is one.
        unsafe { std::mem::zeroed() }
    }
    fn combine(&self, a: Fields, b: Fields) -> Fields {
        Fields {
            CHAR_BIT: a.CHAR_BIT.wrapping_add(b.CHAR_BIT),
            int: a.int ^ b.int,
            é: a.FLT_EPSILON.wrapping_add(b.threadIdx),
            combine: b.T,
            ..a
        }
    }
}

fn every(v: u32) -> Fields {
    let mut words = [0; 16];
    words.iter_mut().enumerate().for_each(|(i, word)| *word = v.wrapping_mul(2 * i as u32 + 3));
    trifold_core::bytemuck::cast(words)
}

#[test]
fn fields_of_any_name() {
    let pairs = [(1, 2), (7, 0), (u32::MAX, 5)].map(|(a, b)| (every(a), every(b)));
    c::check(Named, &pairs);
}

/// A predicate of this text.
#[derive(Clone)]
struct Asks(String);
impl Predicate<Fields> for Asks {
    fn text(&self) -> Cow<'static, str> {
        self.0.clone().into()
    }
    fn keep(&self, _: Fields) -> bool {
        false
    }
}

#[derive(Clone)]
struct Declares;
impl Monoid<u32> for Declares {
    fn name(&self) -> Cow<'static, str> {
        "declares".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "".into()
    }
    fn identity(&self) -> u32 {
        0
    }
    fn combine(&self, a: u32, b: u32) -> u32 {
        a.wrapping_add(b).wrapping_add(ADDED)
    }
}

fn declaring() -> Op {
    let mut op = Op::of::<u32, _>(Declares);
    op.wgsl = format!("{}fn combine(a: T, b: T) -> T {{ return all(a) + b; }}", uses("v")).into();
    op
}

#[test]
fn declarations_of_any_name() {
    let op = declaring();
    c::check_op::<u32>(&op, &|a, b| Declares.combine(a, b), &[(0, 0), (5, 7), (u32::MAX, 1)]);
    // With the name of a field of the element's besides, and `Item`, which predicates' kernels have.
    let text = format!("{}fn keep(Item: T) -> bool {{ return all(Item.int) > Item.TILE; }}", uses("v"));
    let selector = Selector::of::<Fields, _>(Asks(text));
    for language in Language::KERNEL {
        emit_selector(&selector, language).unwrap();
    }
}

/// What a name would become may stand for something else already.
#[test]
fn a_text_may_have_the_names_that_others_get() {
    let mut op = Op::of::<u32, _>(Declares);
    op.wgsl = "const K = 100u;\nconst combine_K = 30u;\nfn twice(v: u32) -> u32 { let combine__K = 6u; return v + combine__K + K; }\n\
               fn combine(a: T, b: T) -> T { return twice(a) + b + combine_K; }"
        .into();
    c::check_op::<u32>(&op, &|a, b| Declares.combine(a, b), &[(0, 0), (5, 7), (u32::MAX, 1)]);
}

#[test]
fn no_name_of_the_callers_is_left_at_module_scope() {
    let op = declaring();
    for language in Language::KERNEL {
        let text = emit_element(op.element(), language).unwrap() + &emit_operator(&op, language).unwrap();
        for name in NAMES.iter().filter(|name| **name != "identity") {
            for declared in ["fn ", "const ", "struct ", "alias "] {
                assert!(!text.contains(&format!("\n{declared}{name}")), "{declared}{name} in\n{text}");
            }
        }
    }
}
