//! Operator texts: none makes the emitter panic, and what is emitted computes what the text's authors are promised.

use std::io::Write;
use std::process::{Command, Stdio};

use trifold_core::{Builtin, Language, Op, Scalar};
use trifold_lang::{emit_element, emit_operator, operator_loops};

use crate::draw::{Drawn, PAIRS, draw};
use crate::evaluate::is_same;
use crate::folder;

const LANGUAGES: [Language; 3] = [Language::Wgsl, Language::OpenClC, Language::CudaC];
/// Compiling takes a hundred times as long as emitting.
const COMPILED_OF: u64 = 32;

/// Reads the bytes as a text, or as the choices that draw one.
pub fn operators(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let scalars: Vec<Scalar> = Scalar::computed().collect();
    let scalar = scalars[usize::from(first & 0x7f) % scalars.len()];
    if first & 0x80 != 0 {
        let Ok(text) = std::str::from_utf8(rest) else { return };
        emit(&operator(scalar, text));
        return;
    }
    let Ok(drawn) = draw(scalar, rest) else { return };
    let op = operator(scalar, &drawn.text);
    if let Some(emitted) = emit(&op) {
        let hash = bytes
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
        let choice = hash >> 32;
        if choice.is_multiple_of(COMPILED_OF) {
            compare(op, scalar, &drawn, emitted, choice / COMPILED_OF);
        }
    }
}

fn operator(scalar: Scalar, text: &str) -> Op {
    let mut op = Op::builtin(Builtin::Sum, scalar).expect("all scalars have sums");
    op.builtin = None;
    op.wgsl = text.to_owned().into();
    op
}

/// The WGSL that is emitted, which is taken again, if all languages take the text.
fn emit(op: &Op) -> Option<String> {
    let texts: Vec<_> = LANGUAGES.iter().map(|language| emit_operator(op, *language)).collect();
    _ = operator_loops(op);
    let [Ok(wgsl), Ok(_), Ok(_)] = &texts[..] else { return None };
    // The identity stands first.
    Some(wgsl.split_once("\n}\n\n").expect("an identity").1.to_owned())
}

/// Compiles the text, or what became of it in WGSL, in one of the C languages, and runs it.
fn compare(mut op: Op, scalar: Scalar, drawn: &Drawn, emitted: String, choice: u64) {
    if choice & 1 == 1 {
        op.wgsl = emitted.into();
    }
    let (language, compiler, kind, shim) = match choice & 2 {
        0 => (Language::OpenClC, "cc", ["-xc", "-std=gnu11"], include_str!("../../lang/tests/c/opencl.h")),
        _ => (Language::CudaC, "c++", ["-xc++", "-std=c++17"], include_str!("../../lang/tests/c/cuda.h")),
    };
    let text = emit_element(op.element(), language).expect("a scalar")
        + &emit_operator(&op, language).unwrap_or_else(|error| panic!("{error}\nonce it is WGSL:\n{}", op.wgsl));
    let [source, program] = ["operator.c", "operator"].map(|name| folder().join(name));
    std::fs::write(&source, format!("{shim}\n{text}\n{MAIN}")).expect("a file to write");
    let mut compile = Command::new(compiler);
    // Optimized, what C leaves undefined shows.
    compile.args(kind).args(["-O1", "-ffp-contract=off", "-w"]).arg(&source).arg("-o").arg(&program).arg("-lm");
    let output = compile.output().expect("a C compiler");
    assert!(output.status.success(), "{}\n{}\n{text}", String::from_utf8_lossy(&output.stderr), drawn.text);
    let found = run(&program, &drawn.pairs);
    let bytes = op.element().bytes() as usize;
    assert_eq!(found.len(), PAIRS * bytes);
    for (i, found) in found.chunks_exact(bytes).enumerate() {
        let (pair, wanted) = (&drawn.pairs[2 * i * bytes..][..2 * bytes], &drawn.results[i * bytes..][..bytes]);
        let [x, y] = [found, wanted].map(|bytes| bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)));
        assert!(
            is_same(scalar, x, y),
            "{pair:?} gives {found:?}, not {wanted:?}, in {language:?}:\n{}\n{text}",
            drawn.text
        );
    }
}

fn run(program: &std::path::Path, input: &[u8]) -> Vec<u8> {
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    // Less than what a pipe holds.
    child.stdin.take().expect("a pipe").write_all(input).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{:?}", output.status);
    output.stdout
}

const MAIN: &str = "
int main(void) {
    T pair[2];
    while (fread(pair, sizeof pair, 1, stdin) == 1) {
        T result = combine(pair[0], pair[1]);
        fwrite(&result, sizeof result, 1, stdout);
    }
    return 0;
}
";
