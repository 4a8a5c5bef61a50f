//! What is refused, in which words; and that nothing makes the emitter panic.

use std::borrow::Cow;

use proptest::prelude::*;
use trifold_core::{
    Builtin, Captures, Element, ElementType, Error, Field, Language, MapText, Op, Predicate, Scalar, Selector, element,
};
use trifold_lang::{emit_element, emit_map, emit_operator, emit_selector, operator_loops};

element! {
    /// Two fields.
    struct Pair { low: f32, count: u32 }
}

fn operator(wgsl: &str) -> Op {
    operator_of(ElementType::Scalar(Scalar::U32), wgsl, vec![0; 4])
}

fn operator_of(element: ElementType, wgsl: &str, identity: Vec<u8>) -> Op {
    let host = Op::builtin(Builtin::Sum, Scalar::U32).unwrap().host().clone();
    // SAFETY: the loops, which may be over another type, are never run: these operators are emitted as text alone.
    unsafe { Op::from_parts("mine", element, wgsl.to_string(), identity, true, host) }
}

fn refused(wgsl: &str) -> String {
    match emit_operator(&operator(wgsl), Language::OpenClC) {
        Ok(text) => panic!("not refused: {wgsl}\n{text}"),
        Err(error @ Error::Operator { .. }) => error.to_string(),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn loops_are_told() {
    let loops = |wgsl: &str| operator_loops(&operator(wgsl)).unwrap();
    assert!(!loops("fn combine(a: T, b: T) -> T { return a / b; }"));
    assert!(loops("fn combine(a: T, b: T) -> T { var v = a; if (b > 1u) { while (v > b) { v -= b; } } return v; }"));
}

#[test]
fn operators() {
    const GOOD: &str = "fn combine(a: T, b: T) -> T { return a; }\n";
    let cases = [
        ("syntax", "// my operator\nfn combine(a: T, b: T) -> T {\n  return a +;\n}".to_string()),
        ("types", "fn combine(a: T, b: T) -> T {\n  return a + 1.5f;\n}".into()),
        ("missing combine", "fn merge(a: T, b: T) -> T { return a; }".into()),
        ("empty", String::new()),
        ("unfinished comment", format!("{GOOD}/*")),
        ("unfinished attribute", format!("{GOOD}@must_use")),
        ("one argument", "\nfn combine(a: T) -> T { return a; }".into()),
        ("other type", "fn combine(a: T, b: T) -> f32 { return f32(a); }".into()),
        ("no result", "fn combine(a: T, b: T) {}".into()),
        ("recursion", "fn combine(a: T, b: T) -> T { return f(a); }\nfn f(a: T) -> T { return combine(a, a); }".into()),
        ("global variable", format!("{GOOD}var<private> total: u32;")),
        ("workgroup variable", format!("{GOOD}var<workgroup> total: atomic<u32>;")),
        ("override", format!("{GOOD}override scale: u32 = 1u;")),
        ("entry point", format!("{GOOD}@compute @workgroup_size(1) fn start() {{}}")),
        ("barrier", "fn combine(a: T, b: T) -> T {\n  workgroupBarrier();\n  return a;\n}".into()),
        ("discard", "fn combine(a: T, b: T) -> T {\n  discard;\n}".into()),
        ("derivative", "fn combine(a: T, b: T) -> T {\n  return u32(dpdx(f32(a)));\n}".into()),
        ("subgroup", "fn combine(a: T, b: T) -> T {\n  return subgroupAdd(a);\n}".into()),
        ("T", format!("{GOOD}alias T = u32;")),
        (
            "pointer in continuing",
            "fn combine(a: T, b: T) -> T {\n  var v = array(a, b); var i = 0u;\n  loop {\n    let p = &v[i];\n    \
             if i > 0u { break; }\n    continuing { i += 1u; *p = i; }\n  }\n  return v[0];\n}"
                .into(),
        ),
        ("directive", format!("enable f16;\n{GOOD}")),
        ("matrix", "fn combine(a: T, b: T) -> T {\n  let m = mat2x2<f32>();\n  return u32(m[0].x);\n}".into()),
        ("packing", "fn combine(a: T, b: T) -> T {\n  return pack4xU8(vec4(a));\n}".into()),
        ("modf", "fn combine(a: T, b: T) -> T {\n  return u32(modf(f32(a)).whole);\n}".into()),
        ("long statement", format!("fn combine(a: T, b: T) -> T {{\n  return a{};\n}}", "+a".repeat(600))),
        ("long text", format!("{GOOD}//{}", "-".repeat(20_000))),
    ];
    let texts: Vec<_> =
        cases.iter().map(|(what, wgsl)| format!("==== {what}\n{}\n", refused(wgsl).trim_end())).collect();
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn wgsl_checks_as_the_others_do() {
    for wgsl in
        ["fn merge(a: T, b: T) -> T { return a; }", "fn combine(a: T, b: T) -> T { workgroupBarrier(); return a; }"]
    {
        assert!(emit_operator(&operator(wgsl), Language::Wgsl).is_err());
    }
}

#[test]
fn host_and_identity() {
    const FIRST: &str = "fn combine(a: T, b: T) -> T { return a; }";
    let op = operator(FIRST);
    assert!(matches!(emit_operator(&op, Language::Host), Err(Error::Invalid(_))));
    assert!(matches!(emit_element(op.element(), Language::Host), Err(Error::Invalid(_))));
    let op = operator_of(ElementType::Scalar(Scalar::U32), FIRST, vec![0; 3]);
    let error = emit_operator(&op, Language::Wgsl).unwrap_err().to_string();
    assert_eq!(error, "operator `mine`: the identity has 3 bytes and an element has 4; give the bytes of one element");
}

#[test]
fn elements() {
    let field = |name, scalar, offset| Field { name, scalar, offset, key: None };
    let made = |name, fields: &[Field], bytes| ElementType::Struct { name, fields: fields.to_vec().into(), bytes };
    let (a, b) = (field("a", Scalar::U32, 0), field("b", Scalar::U64, 4));
    let cases = [
        ("packed", made("Packed", &[a, b], 12)),
        ("padded", made("Padded", &[a, Field { offset: 8, ..b }], 16)),
        ("swapped", made("Swapped", &[Field { offset: 4, ..a }, field("c", Scalar::F32, 0)], 8)),
        ("aligned", made("Aligned", &[a], 16)),
        ("tail", made("Tail", &[Field { offset: 0, ..b }, Field { offset: 8, ..a }], 16)),
        ("empty", made("Empty", &[], 0)),
        ("twice", made("Twice", &[a, Field { offset: 4, ..a }], 8)),
        ("field name", made("Named", &[field("loop", Scalar::I32, 0)], 4)),
        ("raw name", made("Raw", &[field("r#type", Scalar::U32, 0)], 4)),
    ];
    let texts =
        cases.iter().map(|(what, ty)| format!("==== {what}\n{}\n", emit_element(ty, Language::Wgsl).unwrap_err()));
    insta::assert_snapshot!(texts.collect::<Vec<_>>().join("\n"));
}

/// A predicate of this text.
#[derive(Clone)]
struct Mine(String);
impl Predicate<u32> for Mine {
    fn name(&self) -> Cow<'static, str> {
        "mine".into()
    }
    fn text(&self) -> Cow<'static, str> {
        self.0.clone().into()
    }
    fn keep(&self, _: u32) -> bool {
        false
    }
}

fn predicate(wgsl: &str) -> Selector {
    Selector::of::<u32, _>(Mine(wgsl.into()))
}

#[test]
fn predicates() {
    const GOOD: &str = "fn keep(v: T) -> bool { return v > 1u; }\n";
    assert!(emit_selector(&predicate(GOOD), Language::CudaC).is_ok());
    let cases = [
        ("syntax", "fn keep(v: T) -> bool { return v >; }".to_string()),
        ("missing keep", "fn combine(a: T, b: T) -> T { return a; }".into()),
        ("two arguments", "fn keep(a: T, b: T) -> bool { return a < b; }".into()),
        ("a number", "fn keep(v: T) -> T { return v; }".into()),
        ("another type", "fn keep(v: f32) -> bool { return v > 1.0; }".into()),
        ("subgroup", "fn keep(v: T) -> bool {\n  return subgroupAny(v > 1u);\n}".into()),
        ("barrier", "fn keep(v: T) -> bool {\n  workgroupBarrier();\n  return true;\n}".into()),
    ];
    let refused = |wgsl: &str| match emit_selector(&predicate(wgsl), Language::Wgsl) {
        Err(error @ Error::Operator { .. }) => error.to_string(),
        other => panic!("{wgsl}: {other:?}"),
    };
    let texts = cases.iter().map(|(what, wgsl)| format!("==== {what}\n{}\n", refused(wgsl)));
    insta::assert_snapshot!(texts.collect::<Vec<_>>().join("\n"));
}

/// A map of so many numbers to one, of this text.
fn map(wgsl: &'static str, inputs: usize) -> MapText {
    let (inputs, output) = (vec![u32::TYPE; inputs], u32::TYPE);
    MapText { name: "mine".into(), inputs, output, wgsl: wgsl.into(), captures: Captures::default() }
}

#[test]
fn maps() {
    const GOOD: &str = "fn map(a: A) -> U { return a; }";
    let name_of = |element: &ElementType| element.name().to_string();
    let cases = [
        ("fn map(a: A) -> U { return a + ; }", 1, "mine.wgsl:1"),
        ("fn map(a: A) -> U { return 1.5f; }", 1, "mine.wgsl:1"),
        ("fn combine(a: A, b: A) -> U { return a; }", 1, "no function `map`; write `fn map(a: A) -> U`"),
        ("fn map(a: A) -> bool { return a > 1u; }", 1, "it must be `fn map(a: A) -> U`, where A is u32, U is u32"),
        (GOOD, 2, "it must be `fn map(a: A, b: B) -> U`"),
        (GOOD, 9, "a map of 9 arguments; 8 are the most"),
    ];
    for language in Language::KERNEL {
        assert!(emit_map(&map(GOOD, 1), 0, &name_of, language).is_ok());
        for (wgsl, inputs, words) in cases {
            match emit_map(&map(wgsl, inputs), 0, &name_of, language) {
                Err(error @ Error::Operator { .. }) => assert!(error.to_string().contains(words), "{wgsl}: {error}"),
                other => panic!("{wgsl}: {other:?}"),
            }
        }
    }
}

/// Texts whose depth would exhaust naga's stack, or nearly: each must give a result.
#[test]
fn depth() {
    let returns = |value: String| format!("fn combine(a: T, b: T) -> T {{ var x = a; return {value}; }}");
    let chain: String = (1..600).map(|i| format!("fn g{i}(a: T) -> T {{ return g{}(a); }}", i - 1)).collect();
    let texts = [
        returns("~".repeat(15_000) + "a"),
        returns("- ".repeat(500) + "i32(a)"),
        returns("(".repeat(7_000)),
        returns(format!("{}a{}", "(".repeat(250), ")".repeat(250))),
        returns(format!("{}a{}", "max(b, ".repeat(170), ")".repeat(170))),
        returns("a".to_string() + &"+a".repeat(500)),
        returns("*&".repeat(250) + "x"),
        returns("a".to_string() + &"[0]".repeat(170)),
        format!(
            "fn combine(a: T, b: T) -> T {{ {} return a; {} return b; }}",
            "if a==b {".repeat(120),
            "}".repeat(120)
        ),
        format!("fn combine(a: T, b: T) -> T {{ if a==b {{}} {} return a; }}", "else if a==b {}".repeat(1000)),
        format!("fn combine(a: T, b: T) -> T {{ var y: {}u32{}; return a; }}", "array<".repeat(120), ",1>".repeat(120)),
        format!(
            "fn combine(a: T, b: T) -> T {{ return g400(a); }} fn g0(a: T) -> T {{ return a; }} {}",
            &chain[..15_000]
        ),
    ];
    for text in texts {
        for language in Language::KERNEL {
            let _ = emit_operator(&operator(&text), language);
        }
    }
}

/// What an operator's text is made of.
fn pieces() -> impl Strategy<Value = String> {
    let words = "fn|combine|a|b|T|->|(|)|{|}|;|:|,|=|+|-|*|/|%|<<|>>|&|\\||!|<|>|u32|i32|f32|f64|bool|return|var|let|const|\
                 if|else|loop|continuing|break|continue|switch|case|default|1u|0|2.5|1e40|0x7fffffff|min|select|bitcast|\
                 vec3|array|ptr|function|@must_use|//|/*|*/|struct|alias|for|while|.x|[0]|é|\n|override|enable"
        .split('|')
        .map(|w| w.replace('\\', "|"))
        .collect::<Vec<_>>();
    prop::collection::vec(prop::sample::select(words), 0..60).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_string_is_answered(text in "\\PC{0,80}", bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        for text in [text, String::from_utf8_lossy(&bytes).into_owned()] {
            prop_assert!(emit_operator(&operator(&text), Language::OpenClC).is_err());
            let of_pairs = operator_of(Pair::TYPE, &text, vec![0; 4]);
            prop_assert!(emit_operator(&of_pairs, Language::CudaC).is_err());
        }
    }

    #[test]
    fn any_body_is_answered(body in pieces(), after in pieces()) {
        for language in Language::KERNEL {
            let _ = emit_operator(&operator(&format!("fn combine(a: T, b: T) -> T {{ {body} return a; }} {after}")), language);
            let _ = emit_operator(&operator(&format!("fn combine(a: T, b: T) -> T {{ return {body}; }}")), language);
        }
    }

    #[test]
    fn any_expression_is_answered(text in expressions()) {
        let wgsl = format!("fn combine(a: T, b: T) -> T {{ return {text}; }}");
        for scalar in Scalar::ALL {
            let op = operator_of(ElementType::Scalar(scalar), &wgsl, vec![0; scalar.bytes() as usize]);
            for language in Language::KERNEL {
                let _ = emit_operator(&op, language);
            }
        }
    }
}

/// Expressions that are well formed, and often well typed.
fn expressions() -> impl Strategy<Value = String> {
    let leaves = prop::sample::select(vec!["a", "b", "1", "0", "7u", "T(3)", "a", "-1", "vec2(a, b).x", "true"]);
    leaves.prop_map(String::from).prop_recursive(5, 40, 3, |inner| {
        let operators = prop::sample::select(vec!["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "<", "&&"]);
        let functions = "min max abs clamp sign T u32 f32 i64 bitcast<T> select countOneBits reverseBits extractBits \
                         firstLeadingBit floor pow mix dot all ~ - !";
        let functions = prop::sample::select(functions.split_whitespace().collect::<Vec<_>>());
        prop_oneof![
            (inner.clone(), operators, inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            (functions, prop::collection::vec(inner, 1..4)).prop_map(|(f, args)| format!("{f}({})", args.join(", "))),
        ]
    })
}
