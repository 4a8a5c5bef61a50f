//! `cargo xtask fuzz`: builds the fuzz targets with libFuzzer's instrumentation and runs each for a while.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::workspace::Workspace;

/// The targets: the binaries of `crates/fuzz`, each with its folder of seeds.
pub const TARGETS: [&str; 4] = ["operators", "npy", "results", "tuning"];

/// What cargo-fuzz asks of the compiler, without its sanitizers, which need a nightly one: coverage, and what is compared.
const INSTRUMENTED: [&str; 7] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
];

const MINUTE: u64 = 60;

/// What `cargo xtask fuzz` takes.
#[derive(clap::Args)]
pub struct Args {
    /// How long each target runs.
    #[arg(long, default_value_t = MINUTE, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Only these targets.
    #[arg(value_parser = TARGETS)]
    targets: Vec<String>,
}

impl Default for Args {
    fn default() -> Args {
        Args { seconds: MINUTE, targets: vec![] }
    }
}

/// Builds the targets and runs each; fails with the inputs that one fails on.
pub fn run(args: &Args) -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    let fuzz = workspace.root.join("crates/fuzz");
    let built = workspace.target.join("fuzz");
    let host = host()?;
    // With --target, build scripts and macros are not instrumented.
    let mut build = workspace.cargo(&["build", "--release", "--bins", "--target", &host]);
    build
        .current_dir(&fuzz)
        .env("CARGO_TARGET_DIR", &built)
        .env("CARGO_ENCODED_RUSTFLAGS", INSTRUMENTED.join("\u{1f}"));
    ensure!(build.status().context("cargo build")?.success(), "the fuzz targets do not build");
    let wanted = TARGETS.into_iter().filter(|name| args.targets.is_empty() || args.targets.iter().any(|t| t == name));
    let mut found = vec![];
    for name in wanted {
        let program = built.join(&host).join("release").join(name);
        found.extend(fuzz_one(name, &program, &fuzz.join("seeds").join(name), &built.join(name), args.seconds)?);
    }
    if !found.is_empty() {
        bail!("inputs that a target fails on; the program beside each, given it, fails again:\n{}", found.join("\n"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs a target. What it learns stays in `work`, for the next time. The inputs that it failed on, if it did.
fn fuzz_one(name: &str, program: &Path, seeds: &Path, work: &Path, seconds: u64) -> Result<Vec<String>> {
    let (corpus, failures) = (work.join("corpus"), work.join("failures"));
    for folder in [&corpus, &failures] {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let known = inputs(&failures)?;
    let log = work.join("log.txt");
    let file = fs::File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    println!("$ {name}, {seconds} s, with what it says in {}", log.display());
    let mut target = Command::new(program);
    target.arg(&corpus).arg(seeds).arg(format!("-artifact_prefix={}/", failures.display()));
    target.args([&format!("-max_total_time={seconds}"), "-timeout=20", "-rss_limit_mb=4096", "-print_final_stats=1"]);
    target.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    // In memory, where the machine has a folder there, and gone with the target's end.
    let memory = Some(Path::new("/dev/shm")).filter(|folder| folder.is_dir());
    let files = tempfile::tempdir_in(memory.unwrap_or(work)).context("a folder for the target's files")?;
    let status = target.env("TMPDIR", files.path()).status().with_context(|| program.display().to_string())?;
    let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    for line in text.lines().filter(|line| line.starts_with("stat::number_of_executed_units")) {
        println!("  {line}");
    }
    if status.success() {
        return Ok(vec![]);
    }
    let lines: Vec<&str> = text.lines().collect();
    println!("{}", lines[lines.len().saturating_sub(60)..].join("\n"));
    let new = inputs(&failures)?.into_iter().filter(|input| !known.contains(input));
    let mut found: Vec<String> = new.map(|input| format!("{} {input}", program.display())).collect();
    if found.is_empty() {
        // An input that it failed on before has the same name.
        found.push(format!("{}, {status}, with an input of {}", program.display(), failures.display()));
    }
    Ok(found)
}

fn inputs(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    entries.map(|entry| Ok(entry?.path().display().to_string())).collect()
}

/// The machine that the compiler runs on.
fn host() -> Result<String> {
    let output = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("-vV").output()?;
    let text = String::from_utf8(output.stdout)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc -vV names no host")?;
    Ok(host.to_owned())
}
