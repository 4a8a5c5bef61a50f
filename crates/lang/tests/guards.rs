//! WGSL with the meaning that not all its compilers see to: every shape of a text that needs a guard has one.

use trifold_core::{Builtin, Language, Op, Scalar};
use trifold_lang::emit_operator;

fn emitted(scalar: Scalar, wgsl: &str) -> String {
    let mut op = Op::builtin(Builtin::Sum, scalar).unwrap();
    op.wgsl = wgsl.to_owned().into();
    // The emitter itself reads what it wrote, and refuses what it left unguarded.
    emit_operator(&op, Language::Wgsl).unwrap_or_else(|error| panic!("{error}\n{wgsl}"))
}

/// A body's statements of `v`, as they are emitted.
fn body(statements: &str) -> String {
    let text = emitted(Scalar::I32, &format!("fn combine(a: T, b: T) -> T {{\n{statements}\nreturn a; }}"));
    let start = text.find("-> T {\n").map(|_| text.rfind("fn combine").unwrap()).unwrap();
    let inside = &text[text[start..].find("{\n").unwrap() + start + 2..text.find("\nreturn a; }").unwrap()];
    inside.to_owned()
}

#[test]
fn each_shape_has_its_guard() {
    let cases = [
        ("let x = a / b;", "let x = wgsl_combine_divide_i32(i32(a), i32(b));"),
        ("let x = (a) / (b);", "let x = wgsl_combine_divide_i32(i32((a)), i32((b)));"),
        ("let x = (a + b) / (b - a) * 2;", "let x = wgsl_combine_divide_i32(i32((a + b)), i32((b - a))) * 2;"),
        (
            "var x = a; x /= b; x %= 3;",
            "var x = a; x = wgsl_combine_divide_i32(i32(x), i32(b)); x = wgsl_combine_remainder_i32(i32(x), i32(3));",
        ),
        ("let x = a / 2 % 3;", "let x = wgsl_combine_remainder_i32(i32(a / 2), i32(3));"),
        ("let x = u32(a) % 3u;", "let x = u32(a) % 3u;"),
        ("let x = a // over\n / b;", "let x = wgsl_combine_divide_i32(i32(a // over\n), i32(b));"),
        ("let q = a; let x = q % /* / */ b;", "let q = a; let x = wgsl_combine_remainder_i32(i32(q), i32(/* / */ b));"),
        (
            "let x = a / b / a;",
            "let x = wgsl_combine_divide_i32(i32(wgsl_combine_divide_i32(i32(a), i32(b))), i32(a));",
        ),
        ("let x = vec2(a, b) / a;", "let x = wgsl_combine_divide_vec2_i32(vec2<i32>(vec2(a, b)), vec2<i32>(a));"),
        (
            "let x = a / bitcast<vec2<i32>>(vec2(a, b)).x;",
            "let x = wgsl_combine_divide_i32(i32(a), i32(bitcast<vec2<i32>>(vec2(a, b)).x));",
        ),
        ("let x = a << u32(b);", "let x = a << ((u32(b)) & u32(31u));"),
        ("let x = a >> 31u << 3u;", "let x = a >> 31u << 3u;"),
        ("var x = a; x >>= u32(b);", "var x = a; x >>= ((u32(b)) & u32(31u));"),
        ("let x = vec2(a) << vec2<u32>(7u, u32(b));", "let x = vec2(a) << ((vec2<u32>(7u, u32(b))) & vec2<u32>(31u));"),
        (
            "var x = array(a, b); x[a] = x[ b ];",
            "var x = array(a, b); x[wgsl_combine_index(u32(a), 1u)] = x[wgsl_combine_index(u32( b ), 1u)];",
        ),
        ("var x = vec3(a); x[u32(b)] += x[1];", "var x = vec3(a); x[wgsl_combine_index(u32(u32(b)), 2u)] += x[1];"),
        (
            "var x = array(a, b); x[x[a]] /= x[b];",
            "var x = array(a, b); x[wgsl_combine_index(u32(x[wgsl_combine_index(u32(a), 1u)]), 1u)] = \
          wgsl_combine_divide_i32(i32(x[wgsl_combine_index(u32(x[wgsl_combine_index(u32(a), 1u)]), 1u)]), i32(x[wgsl_combine_index(u32(b), 1u)]));",
        ),
        (
            "var x = array(a, b); let p = &x; (*p)[a] = 1;",
            "var x = array(a, b); let p = &x; (*p)[wgsl_combine_index(u32(a), 1u)] = 1;",
        ),
        ("let x = i32(f32(a) * 2.0);", "let x = wgsl_combine_i32_from_f32(f32(a) * 2.0);"),
        ("let x = T(bitcast<f32>(a));", "let x = wgsl_combine_i32_from_f32(bitcast<f32>(a));"),
        ("let x = vec2<u32>(vec2<f32>(vec2(a, b)));", "let x = wgsl_combine_u32_from_vec2_f32(vec2<f32>(vec2(a, b)));"),
        ("let x = u32(f64(a));", "let x = wgsl_combine_u32_from_f64(f64(a));"),
        ("let x = i64(f32(a)); let y = u64(1.5f);", "let x = wgsl_combine_i64_from_f32(f32(a)); let y = u64(1.5f);"),
        (
            "let f = f32(a); var x = array(a, b); let y = x[u32(f)];",
            "let f = f32(a); var x = array(a, b); let y = x[wgsl_combine_index(u32(wgsl_combine_u32_from_f32(f)), 1u)];",
        ),
        (
            "for (var i = 0; i < a / b; i += 1) {}",
            "for (var i = 0; i < wgsl_combine_divide_i32(i32(a), i32(b)); i += 1) {}",
        ),
        ("for (var i = a; i > 1; i /= b) {}", "for (var i = a; i > 1; i = wgsl_combine_divide_i32(i32(i), i32(b))) {}"),
        ("let x = f32(a) / f32(b) % 2.0;", "let x = f32(a) / f32(b) % 2.0;"),
        ("let x = f32(a) != f32(b) || a != b;", "let x = (!((f32(a)) == (f32(b)))) || a != b;"),
        ("let x = !any(vec2(f32(a)) != vec2(1.0));", "let x = !any((!((vec2(f32(a))) == (vec2(1.0)))));"),
        (
            "let x = i64(u32(a)); let y = u64(a);",
            "let x = wgsl_combine_i64_from_u32(u32(a)); let y = wgsl_combine_u64_from_i32(a);",
        ),
        ("let x = i64(a); let y = u32(i64(a));", "let x = i64(a); let y = u32(i64(a));"),
        ("let x = vec2<u64>(vec2(a));", "let x = wgsl_combine_u64_from_vec2_i32(vec2(a));"),
        ("let x = sign(u32(a)); let y = sign(a);", "let x = wgsl_combine_sign_u32(u32(a)); let y = sign(a);"),
        (
            "let x = countOneBits(i64(a)) + extractBits(i64(b), 3u, 4u);",
            "let x = wgsl_combine_count_one_bits_i64(i64(a)) + wgsl_combine_extract_bits_i64(i64(b), 3u, 4u);",
        ),
        (
            "let x = insertBits(vec2(u64(1)), vec2(2lu), 3u, 4u); let y = reverseBits(a);",
            "let x = wgsl_combine_insert_bits_vec2_u64(vec2(u64(1)), vec2(2lu), 3u, 4u); let y = reverseBits(a);",
        ),
        ("let array = u32(a); let x = array << u32(b);", "let array = u32(a); let x = array << ((u32(b)) & u32(31u));"),
        (
            "let min = 3u; let select = 4; var x = array(a, b); x[min & u32(a)] %= b;",
            "let min = 3u; let select = 4; var x = array(a, b); \
          x[wgsl_combine_index(u32(min & u32(a)), 1u)] = wgsl_combine_remainder_i32(i32(x[wgsl_combine_index(u32(min & u32(a)), 1u)]), i32(b));",
        ),
    ];
    for (statements, wanted) in cases {
        assert_eq!(body(statements), wanted, "{statements}");
    }
}

/// SPIR-V has these functions of 16 and 32 bits.
#[test]
fn functions_of_f64_are_refused() {
    let mut op = Op::builtin(Builtin::Sum, Scalar::F64).unwrap();
    op.wgsl = "fn combine(a: T, b: T) -> T {\n  let x = floor(sqrt(a));\n  return x + exp2(b);\n}".into();
    let error = emit_operator(&op, Language::Wgsl).unwrap_err().to_string();
    assert!(error.contains("line 3: `exp2` of f64, which WGSL's compilers do not have; compute it in f32"), "{error}");
    emit_operator(&op, Language::CudaC).unwrap();
}

/// The place would be written twice, and what it calls with it.
#[test]
fn a_place_that_calls_is_refused() {
    let mut op = Op::builtin(Builtin::Sum, Scalar::U32).unwrap();
    op.wgsl = "fn at(p: ptr<function, u32>) -> u32 { *p += 1u; return *p & 1u; }\n\
               fn combine(a: T, b: T) -> T {\n  var v = array(a, b); var i = 0u;\n  v[at(&i)] /= b;\n  return v[0];\n}"
        .into();
    let error = emit_operator(&op, Language::Wgsl).unwrap_err().to_string();
    assert_eq!(
        error,
        "operator `sum`: line 4: this could not be guarded; make it a statement of its own\n    v[at(&i)] /= b;"
    );
}
