//! The command line.

use std::num::NonZeroU8;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use trifold::plan::{Builtin, Fault, Form, MAX_ELEMENTS, Waiting};
use trifold::tuning::Tuning;
use trifold::types::Scalar;
use trifold_conformance::Distribution;

use crate::elements::Spread;
use crate::files::Asked;
use crate::stored::Stored;
use crate::verify::Shard;

/// Scan, reduce, sort and what is built from them, on every GPU driver a machine has and on its CPU.
#[derive(Parser, Debug)]
#[command(name = "trifold", version, max_term_width = 100)]
pub struct Cli {
    /// Say what drivers and planner do; -vv and -vvv say more.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// List every device of every backend, and what to install for drivers that are absent.
    Devices(DevicesArgs),
    /// Time any of the primitives, from copy and scan to top_k and histogram, on all devices, and check every result.
    Compare(Box<CompareArgs>),
    /// Measure anew what the documents behind the algorithms measured, by all algorithms of all devices.
    Experiment(ExperimentArgs),
    /// Turn result files into one page of charts and tables.
    Report(ReportArgs),
    /// Measure tile shapes on a device, and write the best to a file for TRIFOLD_TUNING.
    Tune(TuneArgs),
    /// Run the conformance suite on devices.
    Verify(VerifyArgs),
    /// Scan (prefix sums) a file's numbers.
    Scan(ScanArgs),
    /// Reduce a file's numbers to one.
    Reduce(ReduceArgs),
    /// Sort a file's numbers, alone or with a value each.
    Sort(SortArgs),
}

#[derive(Args, Debug)]
#[command(after_help = "Example: what each device can do, for a script\n  \
                        trifold devices --json")]
pub struct DevicesArgs {
    /// Print JSON instead of text.
    #[arg(long)]
    pub json: bool,
}

/// How inputs may lie, by the names that rows have for it.
pub const INPUTS: [Distribution; 7] = [
    Distribution::Uniform,
    Distribution::Constant,
    Distribution::Sorted,
    Distribution::Reversed,
    Distribution::Few,
    Distribution::HotDigit,
    Distribution::AllValues,
];

#[derive(Args, Debug)]
#[command(after_help = "Example: two sizes on one device, with a page of charts\n  \
                        trifold compare --device cuda -n 2^20,2^24 --html page.html")]
pub struct CompareArgs {
    /// Only devices listed with this in their line, such as `Vulkan` or `opencl on NVIDIA` (repeatable).
    #[arg(long, value_name = "SUBSTRING")]
    pub device: Vec<String>,
    /// Only these primitives.
    #[arg(long, value_delimiter = ',', value_parser = form())]
    pub primitive: Vec<&'static Form>,
    /// Element types; of keys, and of the values of reduce_by_key too.
    #[arg(long = "type", value_delimiter = ',', value_parser = scalar, default_value = "u32", value_name = "TYPE")]
    pub types: Vec<Scalar>,
    /// Operators of scan, reduce and reduce_by_key.
    #[arg(long, value_delimiter = ',', value_parser = operator, default_value = "sum")]
    pub operator: Vec<Builtin>,
    /// How many elements, such as 2^16,2^20,1000; by default what suits each device.
    #[arg(short = 'n', value_delimiter = ',', value_parser = count, value_name = "N")]
    pub n: Vec<u64>,
    /// Only these algorithms, wherever a device has them; by default each device's first choice.
    #[arg(long, value_delimiter = ',', value_parser = algorithm)]
    pub algorithm: Vec<&'static str>,
    /// Plan with other numbers than the device's own, such as sort_keys=20,sort_workgroup=384.
    #[arg(long, value_delimiter = ',', value_parser = tuning, value_name = "NAME=NUMBER")]
    pub tuning: Vec<(String, u32)>,
    /// How the input lies: uniform, constant, sorted, reversed, few-distinct, hot-digit or all-values.
    ///
    /// - uniform: each element by chance, floats from 0 to 1
    /// - constant: one value
    /// - sorted, reversed: in ascending or descending order
    /// - few-distinct: of five values
    /// - hot-digit: in each byte of a key, 15 keys of 16 have the same digit; of floats in the bytes of the fraction
    /// - all-values: as uniform, but each finite float is as likely as any other
    #[arg(long, value_delimiter = ',', value_parser = input, default_value = "uniform", value_name = "DISTRIBUTION")]
    pub input: Vec<Distribution>,
    /// The share of elements that select_if, partition_if, find_all and select_flagged keep, from 0 to 1.
    ///
    /// Of uniform, sorted and reversed inputs. The predicate keeps the upper half of a type's values, and inputs are made so that
    /// it keeps this share; of other inputs it keeps what they have there.
    #[arg(long, value_delimiter = ',', value_parser = share, default_value = "0.5", value_name = "SHARE")]
    pub kept: Vec<f64>,
    /// How long the runs of equal keys are on average, for unique, unique_by_key, reduce_by_key, run_length_encode and scan_by_key.
    ///
    /// Each run is 1 to 2 * LENGTH - 1 long. Inputs of few values have longer ones, where neighbours agree.
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1 << 30), default_value = "8",
          value_name = "LENGTH")]
    pub run_length: Vec<u32>,
    /// How long segments are on average, for what has segments.
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1 << 30), default_value = "256",
          value_name = "LENGTH")]
    pub segment_length: Vec<u32>,
    /// How the lengths of segments differ.
    #[arg(long, value_delimiter = ',', value_enum, default_value = "even", value_name = "SPREAD")]
    pub segments: Vec<Spread>,
    /// How many keys top_k takes, and segmented_top_k of each segment; of fewer all.
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..), default_value = "32", value_name = "K")]
    pub k: Vec<u32>,
    /// Leave these keys as they stand in the input.
    #[arg(long)]
    pub unsorted: bool,
    /// How many bins histograms have.
    ///
    /// Integers are counted by their upper bits: other numbers than 256 are powers of two, of u32. Floats have even bins over [0, 1).
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1 << 20), default_value = "256", value_name = "BINS")]
    pub bins: Vec<u32>,
    /// Bits of the keys that sorts compare, such as 0..16; all without.
    #[arg(long, value_delimiter = ',', value_parser = bits, value_name = "START..END")]
    pub bits: Vec<(u32, u32)>,
    /// Type of the values that sort_pairs carries.
    #[arg(long, value_delimiter = ',', value_parser = scalar, default_value = "u32", value_name = "TYPE")]
    pub value: Vec<Scalar>,
    /// Block tiles on purpose: none, or one in N that is silent:N or late:N.
    ///
    /// Of algorithms whose tiles wait for each other. One tile in N publishes nothing that the tiles behind it wait for
    /// (silent), or publishes it late. Results stay right.
    #[arg(long, value_delimiter = ',', value_parser = fault, default_value = "none", value_name = "FAULT")]
    pub fault: Vec<Fault>,
    /// How long a tile waits for an earlier one: bounded or unbounded.
    ///
    /// Unbounded is look-back without its fallback, to measure what that costs: only on devices that promise forward
    /// progress, and not with silent tiles.
    #[arg(long, value_delimiter = ',', value_parser = waiting, default_value = "bounded", value_name = "WAITING")]
    pub waiting: Vec<Waiting>,
    /// The most timed runs of a row; slow devices stop earlier.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub runs: u32,
    /// Write the rows to this file, as a JSON array.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a page of charts and tables to this file, as `trifold report` does.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Add rows that another program measured on this machine: our own JSON array, or JSON lines. A line has
    /// `lib`, `primitive`, `type`, `n` and `ms`, and may have `min_ms`, `batched_ms`, `gelem_s`, `gb_s`, `temp_bytes` and
    /// `version`.
    #[arg(long, value_name = "FILE")]
    pub with: Vec<PathBuf>,
    /// Show all columns, in lines of more than 80 characters.
    #[arg(long)]
    pub wide: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Experiment {
    /// The time of every scan, and of the sequential one on the CPU, over n from 2^10 to what the device does in good time.
    ScanLadder,
    /// The bytes that each scan, reduction and sort must move, at the copy's speed, beside the time that it takes.
    Traffic,
    /// Every reduction of 1024 * 1024 * 10 elements.
    ReduceLadder,
    /// A kernel that only computes, by workgroups of 1 to 1024 threads; infers the width of subgroups.
    WorkgroupSweep,
    /// Blocked scans by how many elements a thread takes, and by the padding of workgroup memory.
    ElementsPerThread,
    /// Blocked scans by workgroups of 32 to 1024 threads.
    WorkgroupSize,
}

impl Experiment {
    pub const ALL: [Experiment; 6] = [
        Experiment::ScanLadder,
        Experiment::Traffic,
        Experiment::ReduceLadder,
        Experiment::WorkgroupSweep,
        Experiment::ElementsPerThread,
        Experiment::WorkgroupSize,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Experiment::ScanLadder => "scan-ladder",
            Experiment::Traffic => "traffic",
            Experiment::ReduceLadder => "reduce-ladder",
            Experiment::WorkgroupSweep => "workgroup-sweep",
            Experiment::ElementsPerThread => "elements-per-thread",
            Experiment::WorkgroupSize => "workgroup-size",
        }
    }

    /// The place of a name among them; an unknown one comes last.
    pub fn place(name: &str) -> usize {
        Experiment::ALL.iter().position(|one| one.name() == name).unwrap_or(Experiment::ALL.len())
    }
}

#[derive(Args, Debug)]
#[command(after_help = "Example: every scan there is, on Vulkan devices\n  \
                        trifold experiment scan-ladder --device Vulkan --html page.html")]
pub struct ExperimentArgs {
    /// Which; all of them if none is named.
    #[arg(value_enum, value_name = "NAME")]
    pub name: Vec<Experiment>,
    /// Only devices listed with this in their line, such as `Vulkan` or `opencl on NVIDIA` (repeatable).
    #[arg(long, value_name = "SUBSTRING")]
    pub device: Vec<String>,
    /// Only these algorithms.
    #[arg(long, value_delimiter = ',', value_parser = algorithm)]
    pub algorithm: Vec<&'static str>,
    /// The element type; sorts are of keys of it.
    #[arg(long = "type", value_parser = scalar, default_value = "u32", value_name = "TYPE")]
    pub scalar: Scalar,
    /// How many elements, such as 2^16,2^20; by default what each experiment and device suggest.
    ///
    /// Of workgroup-sweep, how many threads.
    #[arg(short = 'n', value_delimiter = ',', value_parser = count, value_name = "N")]
    pub n: Vec<u64>,
    /// The most timed runs of a row; slow devices stop earlier.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub runs: u32,
    /// How long all may take, in seconds; what does not fit is left out, and said. By default 150 for all software devices
    /// together, and 600 for each GPU.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(..=31_536_000))]
    pub budget: Option<u64>,
    /// Write the rows to this file, as a JSON array; rows so far are there if the run is interrupted.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a page of charts and tables to this file, as `trifold report` does.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Show all columns, in lines of more than 80 characters.
    #[arg(long)]
    pub wide: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: two machines on one page\n  \
                        trifold report one.json other.json -o page.html")]
pub struct ReportArgs {
    /// Files that `trifold compare --json` or `trifold experiment --json` wrote; the page sets later ones against the first.
    #[arg(required = true, value_name = "RESULTS.json")]
    pub results: Vec<PathBuf>,
    /// Only rows whose backend, device or API contains this (repeatable).
    #[arg(long, value_name = "SUBSTRING")]
    pub device: Vec<String>,
    /// Only rows of these primitives.
    #[arg(long, value_delimiter = ',', value_parser = form())]
    pub primitive: Vec<&'static Form>,
    /// Only rows of these element types.
    #[arg(long = "type", value_delimiter = ',', value_parser = scalar, value_name = "TYPE")]
    pub types: Vec<Scalar>,
    /// Only rows of these algorithms; copies and other programs' rows stay.
    #[arg(long, value_delimiter = ',', value_parser = algorithm)]
    pub algorithm: Vec<&'static str>,
    /// Write the page to this file; it needs no other file and no network. By default report.html, unless --csv or --svg is there.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write all rows to this file, as CSV.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write each throughput chart to this folder, as SVG.
    #[arg(long, value_name = "FOLDER")]
    pub svg: Option<PathBuf>,
}

impl ReportArgs {
    /// Where the page goes, if there is one.
    pub fn page(&self) -> Option<&Path> {
        let is_asked_for_others = self.csv.is_some() || self.svg.is_some();
        self.output.as_deref().or((!is_asked_for_others).then_some(Path::new("report.html")))
    }
}

#[derive(Args, Debug)]
#[command(after_help = "Example: find the best tile shapes, then use them\n  \
                        trifold tune --device cuda -o tuning.toml\n  \
                        TRIFOLD_TUNING=tuning.toml trifold compare --device cuda")]
pub struct TuneArgs {
    /// Only devices listed with this in their line, such as `Vulkan` or `opencl on NVIDIA` (repeatable).
    #[arg(long, value_name = "SUBSTRING")]
    pub device: Vec<String>,
    /// Only these primitives.
    #[arg(long, value_delimiter = ',', value_parser = form())]
    pub primitive: Vec<&'static Form>,
    /// How many elements to tune for; 2^26 by default, and 2^18 on software devices.
    #[arg(short = 'n', value_parser = count, value_name = "N")]
    pub n: Option<u64>,
    /// The most timed runs of a candidate; slow devices stop earlier.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub runs: u32,
    /// Start from what limits alone suggest, not from the numbers that ship, and write all numbers: to make the table of a device anew.
    #[arg(long)]
    pub from_limits: bool,
    /// Where to write the table.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: all sorts on OpenCL devices\n  \
                        trifold verify --device opencl --filter sort")]
pub struct VerifyArgs {
    /// Only devices listed with this in their line, such as `Vulkan` or `opencl on NVIDIA` (repeatable).
    #[arg(long, value_name = "SUBSTRING")]
    pub device: Vec<String>,
    /// Only cases of this algorithm; `all` for every one, which is the default too.
    #[arg(long, value_parser = algorithm_or_all)]
    algorithm: Option<&'static str>,
    /// Only cases whose name contains this (repeatable).
    #[arg(long, value_name = "SUBSTRING")]
    pub filter: Vec<String>,
    /// Small sizes only, on GPUs too; software devices have those by default.
    #[arg(long)]
    pub quick: bool,
    /// Large sizes on software devices too.
    #[arg(long, conflicts_with = "quick")]
    pub full: bool,
    /// Only one part of each device's cases, such as 2/4: for several processes that share them.
    #[arg(long, value_name = "PART/PARTS")]
    pub shard: Option<Shard>,
    /// Open each device so many times, and run its cases side by side.
    #[arg(long, value_name = "N", default_value = "1")]
    pub jobs: NonZeroU8,
    /// Write every outcome to this file, as a JSON array.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Leave out what passed in this file, which `--json` of an earlier run wrote (repeatable).
    #[arg(long, value_name = "FILE")]
    pub resume: Vec<PathBuf>,
}

impl VerifyArgs {
    /// The only algorithm whose cases are wanted.
    pub fn algorithm(&self) -> Option<&'static str> {
        self.algorithm.filter(|name| *name != ALL)
    }
}

const ALL: &str = "all";

/// What `scan`, `reduce` and `sort` have in common.
#[derive(Args, Debug)]
pub struct FileArgs {
    /// A .npy of one or two dimensions, or raw little-endian numbers of `--type`; `-` is standard input.
    pub input: PathBuf,
    /// The numbers' type; a .npy says so itself.
    #[arg(long = "type", value_parser = stored, value_name = "TYPE")]
    pub stored: Option<Stored>,
    /// Take the bytes for raw numbers, whatever the file's name and first bytes say.
    #[arg(long)]
    pub raw: bool,
    /// Of two dimensions, go along this one: 0 for columns, 1 for rows.
    #[arg(long, allow_hyphen_values = true, value_parser = clap::value_parser!(i8).range(-2..=1), value_name = "AXIS")]
    pub axis: Option<i8>,
    /// Run on the best device listed with this in its line, such as `Vulkan` or `opencl on NVIDIA`.
    #[arg(long, value_name = "SUBSTRING")]
    pub device: Option<String>,
    /// Use this algorithm instead of the planner's choice.
    #[arg(long, value_parser = algorithm)]
    pub algorithm: Option<&'static str>,
    /// Write the result here: .npy if the name ends so, raw little-endian if not. `-` is standard output, and gets what the input
    /// was. Without it, print the result as text.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl FileArgs {
    /// How its input is to be taken.
    pub fn asked(&self) -> Asked {
        Asked { stored: self.stored, option: "--type", raw: self.raw }
    }
}

/// What `scan` and `reduce` have in common.
#[derive(Args, Debug)]
pub struct CombineArgs {
    #[command(flatten)]
    pub file: FileArgs,
    /// How two numbers are combined.
    #[arg(long, value_parser = operator, default_value = "sum")]
    pub operator: Builtin,
    /// The number to start from; by default the operator's identity.
    #[arg(long, allow_hyphen_values = true, value_name = "NUMBER")]
    pub initial: Option<String>,
    /// Let sums and products of integers wrap. Without it they have 32 or 64 bits where their own type has no room for one.
    #[arg(long)]
    pub wrapping: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: where each of many lists of these lengths starts in one array\n  \
                        trifold scan lengths.npy --exclusive -o starts.npy")]
pub struct ScanArgs {
    #[command(flatten)]
    pub combine: CombineArgs,
    /// Leave each number out of its own result.
    #[arg(long)]
    pub exclusive: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: the largest of each row of a table\n  \
                        trifold reduce table.npy --axis 1 --operator max")]
pub struct ReduceArgs {
    #[command(flatten)]
    pub combine: CombineArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: sort keys, and move a value with each\n  \
                        trifold sort keys.npy --values ids.npy -o sorted.npy --values-output moved.npy")]
pub struct SortArgs {
    #[command(flatten)]
    pub file: FileArgs,
    /// Large numbers first; equal ones keep their order all the same.
    #[arg(long)]
    pub descending: bool,
    /// A file with a value for each number, moved as its number moves.
    #[arg(long, value_name = "FILE")]
    pub values: Option<PathBuf>,
    /// The values' type; a .npy says so itself.
    #[arg(long, value_parser = stored, value_name = "TYPE", requires = "values")]
    pub values_type: Option<Stored>,
    /// Write the values here.
    #[arg(long, value_name = "FILE", requires = "values")]
    pub values_output: Option<PathBuf>,
}

/// A primitive's name, which help and errors list.
fn form() -> impl TypedValueParser<Value = &'static Form> {
    let names = PossibleValuesParser::new(Form::all().map(|form| form.name));
    names.try_map(|name| Form::named(&name).ok_or(format!("no primitive `{name}`")))
}

fn scalar(text: &str) -> Result<Scalar, String> {
    Scalar::from_name(text).ok_or_else(|| one_of("type", Scalar::ALL.map(Scalar::name)))
}

/// A range of bits.
fn bits(text: &str) -> Result<(u32, u32), String> {
    let parse = || Some(text.split_once("..")?).and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    parse().filter(|(start, end)| start < end).ok_or_else(|| format!("no bits: `{text}`; give them as 0..16"))
}

/// A type that files hold.
fn stored(text: &str) -> Result<Stored, String> {
    Stored::from_name(text).ok_or_else(|| format!("no such type; use one of {}", Stored::names()))
}

fn operator(text: &str) -> Result<Builtin, String> {
    Builtin::from_name(text).ok_or_else(|| one_of("operator", Builtin::ALL.map(Builtin::name)))
}

fn algorithm(text: &str) -> Result<&'static str, String> {
    trifold::algorithm::named(text).map_err(|error| error.to_string())
}

fn algorithm_or_all(text: &str) -> Result<&'static str, String> {
    if text == ALL { Ok(ALL) } else { algorithm(text) }
}

fn input(text: &str) -> Result<Distribution, String> {
    INPUTS.into_iter().find(|input| input.name() == text).ok_or_else(|| one_of("input", INPUTS.map(Distribution::name)))
}

fn waiting(text: &str) -> Result<Waiting, String> {
    let all = [Waiting::Bounded, Waiting::Unbounded];
    all.into_iter()
        .find(|waiting| waiting.to_string() == text)
        .ok_or_else(|| one_of("waiting", all.map(|waiting| waiting.to_string())))
}

/// A number from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|e| format!("{e}; write 0.5 for half"))?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err("a share is from 0 to 1".into()) }
}

/// `none`, `silent:N` or `late:N`.
fn fault(text: &str) -> Result<Fault, String> {
    let every = |n: &str| match n.parse::<u32>() {
        Ok(0) => Err("one tile in 0; N is 1 or more".into()),
        Ok(n) => Ok(n),
        Err(error) => Err(format!("`{n}`: {error}; N is a number, 1 or more")),
    };
    match text.split_once(':') {
        None if text == "none" => Ok(Fault::None),
        Some(("silent", n)) => every(n).map(Fault::Silent),
        Some(("late", n)) => every(n).map(Fault::Late),
        _ => Err(one_of("fault", ["none", "silent:N", "late:N"])),
    }
}

fn one_of<const N: usize>(what: &str, names: [impl std::borrow::Borrow<str>; N]) -> String {
    format!("no such {what}; use one of {}", names.join(", "))
}

/// `1000` or `2^20`.
fn count(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let n = match text.split_once('^') {
        Some((base, power)) => {
            let base = base.parse::<u64>().map_err(|e| format!("the base of a power: {e}"))?;
            let power = power.parse::<u32>().map_err(|e| format!("the exponent of a power: {e}"))?;
            base.checked_pow(power).unwrap_or(u64::MAX)
        }
        None => text.parse().map_err(|e| format!("{e}; write 1000 or 2^20"))?,
    };
    if n > MAX_ELEMENTS {
        return Err(format!("the most elements in one call is {MAX_ELEMENTS}"));
    }
    Ok(n)
}

fn tuning(text: &str) -> Result<(String, u32), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("`{text}` is not NAME=NUMBER"))?;
    let value = value.parse().map_err(|e| format!("`{value}` of {name}: {e}"))?;
    Tuning::check(name, value).map_err(|error| error.to_string())?;
    Ok((name.to_string(), value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn counts_are_numbers_or_powers() {
        assert_eq!(count("2^16"), Ok(65536));
        assert_eq!(count("1000"), Ok(1000));
        assert_eq!(count("0"), Ok(0));
        for bad in ["2^64", "2^x", "-1", "ten", "^3", "99999999999999999999"] {
            assert!(count(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn conditions_are_read_by_the_names_that_rows_have() {
        for fault_of in [Fault::None, Fault::Silent(100), Fault::Late(1)] {
            assert_eq!(fault(&fault_of.to_string()), Ok(fault_of));
        }
        for bad in ["silent", "silent:", "silent:0", "silent:-1", "late:1.5", "none:1", "loud:3", ""] {
            assert!(fault(bad).is_err(), "{bad}");
        }
        for input_of in INPUTS {
            assert_eq!(input(&input_of.name()), Ok(input_of));
        }
        assert!(input("runs").unwrap_err().contains("few-distinct, hot-digit"));
        assert_eq!(waiting("unbounded"), Ok(Waiting::Unbounded));
        assert!(waiting("never").unwrap_err().contains("bounded, unbounded"));
        assert_eq!([share("0"), share("0.25"), share("1")], [Ok(0.0), Ok(0.25), Ok(1.0)]);
        for bad in ["1.01", "-0.5", "NaN", "half", "50%"] {
            assert!(share(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn primitives_and_experiments_have_the_names_of_their_rows() {
        for primitive in Form::all() {
            assert_eq!(Form::named(primitive.name), Some(primitive));
        }
        for (place, experiment) in Experiment::ALL.into_iter().enumerate() {
            assert_eq!(experiment.to_possible_value().unwrap().get_name(), experiment.name());
            assert_eq!(Experiment::place(experiment.name()), place);
        }
    }
}
