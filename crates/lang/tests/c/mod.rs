//! Runs emitted C on the host.

use std::io::Write;
use std::process::{Command, Stdio};

use trifold_core::bytemuck;
use trifold_core::{Element, Language, Monoid, Op, Scalar};
use trifold_lang::{emit_element, emit_operator};

pub const OPENCL: &str = include_str!("opencl.h");
pub const CUDA: &str = include_str!("cuda.h");
const MAIN: &str = "
int main(void) {
    T pair[2];
    while (fread(pair, sizeof pair, 1, stdin) == 1) {
        T result = combine(pair[0], pair[1]);
        result = element_from_words(element_to_words(result));
        fwrite(&result, sizeof result, 1, stdout);
    }
    const T e = identity();
    fwrite(&e, sizeof e, 1, stdout);
    return sizeof(T) == 4 * ELEMENT_WORDS ? 0 : 1;
}
";

/// Checks that `combine` and `identity` give what `M` gives, in both C languages; floats up to their zero's sign and
/// their NaN's payload.
pub fn check<T: Element, M: Monoid<T>>(op: M, pairs: &[(T, T)]) {
    check_with(op, pairs, 0.0);
}

/// As [`check`], with floats up to a relative error.
pub fn check_with<T: Element, M: Monoid<T>>(op: M, pairs: &[(T, T)], tolerance: f64) {
    check_op_with(&Op::of(op.clone()), &|a, b| op.combine(a, b), pairs, tolerance);
}

/// Checks an operator made at run time against its function in Rust.
#[allow(dead_code)]
pub fn check_op<T: Element>(op: &Op, combine: &dyn Fn(T, T) -> T, pairs: &[(T, T)]) {
    check_op_with(op, combine, pairs, 0.0);
}

/// Checks the operator's text, and what becomes of it in WGSL: the guards there must not change what it means.
fn check_op_with<T: Element>(op: &Op, combine: &dyn Fn(T, T) -> T, pairs: &[(T, T)], tolerance: f64) {
    let mut guarded = op.clone();
    let wgsl = emit_operator(op, Language::Wgsl).unwrap();
    guarded.wgsl = wgsl.split_once("\n}\n\n").expect("the identity stands first").1.to_owned().into();
    check_text(op, combine, pairs, tolerance);
    check_text(&guarded, combine, pairs, tolerance);
}

fn check_text<T: Element>(op: &Op, combine: &dyn Fn(T, T) -> T, pairs: &[(T, T)], tolerance: f64) {
    for (language, compiler, shim) in [(Language::OpenClC, "cc", OPENCL), (Language::CudaC, "c++", CUDA)] {
        if Command::new(compiler).arg("--version").output().is_err() {
            eprintln!("ignored: no `{compiler}` here to compile {language:?} with");
            continue;
        }
        let text = emit_element(op.element(), language).unwrap() + &emit_operator(op, language).unwrap();
        let source = format!("{shim}\n{text}\n{MAIN}");
        let bytes = run(compiler, language, &source, bytemuck::cast_slice(&flatten(pairs)));
        let results: Vec<T> = bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect();
        assert_eq!(results.len(), pairs.len() + 1);
        assert_eq!(bytemuck::bytes_of(&results[pairs.len()]), op.identity(), "identity of {op:?} in {language:?}");
        for (&(a, b), &found) in pairs.iter().zip(&results) {
            let expected = combine(a, b);
            assert!(
                close::<T>(&expected, &found, tolerance),
                "{op:?} in {language:?}: combine({a:?}, {b:?})\n   is {found:?}\nnot {expected:?}\n{text}"
            );
        }
    }
}

fn flatten<T: Copy>(pairs: &[(T, T)]) -> Vec<T> {
    pairs.iter().flat_map(|&(a, b)| [a, b]).collect()
}

pub fn run(compiler: &str, language: Language, source: &str, input: &[u8]) -> Vec<u8> {
    // Distinct for each call: tests run as threads of one process.
    static COUNT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("c-{}-{count}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (file, program) = (folder.join("operator.c"), folder.join("operator"));
    std::fs::write(&file, source).unwrap();

    let (kind, standard) = if language == Language::CudaC { ("c++", "-std=c++17") } else { ("c", "-std=gnu11") };
    let strict = ["-fsanitize=undefined", "-fsanitize=float-cast-overflow", "-fno-sanitize-recover=all"];
    let compile = |options: &[&str]| {
        let mut command = Command::new(compiler);
        command.args(["-x", kind, standard, "-O1", "-ffp-contract=off", "-Wno-unknown-pragmas", "-Werror=narrowing"]);
        command.args(options).arg(&file).arg("-o").arg(&program).arg("-lm").output().unwrap()
    };
    // The sanitizer, which some installations lack, would see meaning that C does not give.
    if !compile(&strict).status.success() {
        let output = compile(&[]);
        assert!(output.status.success(), "{}\n{source}", String::from_utf8_lossy(&output.stderr));
    }

    let mut child =
        Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_vec());
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join();
    assert!(output.status.success(), "{}\n{source}", String::from_utf8_lossy(&output.stderr));
    std::fs::remove_dir_all(&folder).unwrap();
    output.stdout
}

fn close<T: Element>(expected: &T, found: &T, tolerance: f64) -> bool {
    let (mut expected, mut found) = (bytemuck::bytes_of(expected), bytemuck::bytes_of(found));
    T::TYPE.scalars().all(|scalar| {
        let size = scalar.bytes() as usize;
        let (e, f) = (&expected[..size], &found[..size]);
        (expected, found) = (&expected[size..], &found[size..]);
        let float = |bytes: &[u8]| match scalar {
            Scalar::F32 => f64::from(bytemuck::pod_read_unaligned::<f32>(bytes)),
            _ => bytemuck::pod_read_unaligned::<f64>(bytes),
        };
        if !scalar.is_float() {
            return e == f;
        }
        let (e, f) = (float(e), float(f));
        e == f || (e.is_nan() && f.is_nan()) || (e - f).abs() <= tolerance * e.abs()
    })
}
