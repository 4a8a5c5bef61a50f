//! `trifold scan`, `reduce` and `sort`: one call on a user's own numbers.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use trifold::backend::{Spans, SpansOf};
use trifold::builders::Order;
use trifold::plan::{
    Builtin, Layout, Op, Operand, Options, ReduceRequest, Request, ScanKind, ScanRequest, Slot, SortRequest,
};
use trifold::types::{ElementType, Scalar};
use trifold::{Backend, Call, Device, Transfer, plan};

use crate::args::{FileArgs, ReduceArgs, ScanArgs, SortArgs};
use crate::elements;
use crate::files::{self, Asked, Numbers, Pending};
use crate::interrupt;
use crate::memory::{allocate, first, upload};

pub fn scan(args: &ScanArgs) -> Result<ExitCode> {
    let kind = if args.exclusive { ScanKind::Exclusive } else { ScanKind::Inclusive };
    combine(&args.file, args.operator, args.initial.as_deref(), |op, n, initial| {
        Request::Scan(ScanRequest { op, n, kind, initial })
    })
}

pub fn reduce(args: &ReduceArgs) -> Result<ExitCode> {
    combine(&args.file, args.operator, args.initial.as_deref(), |op, n, initial| {
        Request::Reduce(ReduceRequest { op, n, initial })
    })
}

/// A call that combines a file's numbers.
fn combine(
    file: &FileArgs,
    which: Builtin,
    initial: Option<&str>,
    request: impl FnOnce(Op, u64, Option<Vec<u8>>) -> Request,
) -> Result<ExitCode> {
    interrupt::end_at_once()?;
    // The result may take its input's place, which is read whole before.
    files::check_outputs(&[("-o", file.output.as_deref())], [])?;
    let input = Numbers::open(&file.input, file.asked())?;
    let op = Op::builtin(which, input.scalar).with_context(|| {
        let (name, scalar) = (which.name(), input.scalar.name());
        format!("`{name}` is for integers, and these are {scalar}; use sum, product, min or max")
    })?;
    let initial = initial.map(|text| elements::parse(input.scalar, text)).transpose().context("--initial")?;
    let request = request(op, input.n, initial);
    let bytes = request.operands().iter().find(|operand| operand.slot == Slot::Output).map_or(0, Operand::bytes);
    let (output, _) = call(file, &request, &input, None, bytes as usize)?;
    deliver(file, input.scalar, &output)
}

pub fn sort(args: &SortArgs) -> Result<ExitCode> {
    interrupt::end_at_once()?;
    let [keys, values] = [("-o", args.file.output.as_deref()), ("--values-output", args.values_output.as_deref())];
    files::check_outputs(&[keys, values], [])?;
    // Sorted keys may take the keys' place, and their values the values'.
    files::check_apart(&[keys], &args.values)?;
    files::check_apart(&[values], [&args.file.input])?;
    let keys = Numbers::open(&args.file.input, args.file.asked())?;
    let asked = || Asked { scalar: args.values_type, option: "--values-type", raw: args.file.raw };
    let values = args.values.as_ref().map(|path| Numbers::open(path, asked())).transpose()?;
    if let (Some(values), Some(path)) = (&values, &args.values) {
        ensure!(
            values.n == keys.n,
            "{} has {} values, and {} has {} numbers; give one value for each number",
            path.display(),
            values.n,
            args.file.input.display(),
            keys.n
        );
        if args.file.output.is_some() != args.values_output.is_some() {
            bail!("the values have an output of their own: give both -o and --values-output, or neither to print them");
        }
    }
    let order = if args.descending { Order::Descending } else { Order::Ascending };
    let value = values.as_ref().map(|v| ElementType::Scalar(v.scalar));
    let request = Request::Sort(SortRequest { key: keys.scalar, value, n: keys.n, order });
    let (sorted, moved) = call(&args.file, &request, &keys, values.as_ref(), keys.bytes().len())?;
    match (&values, &args.file.output, &args.values_output) {
        (Some(values), Some(keys_path), Some(values_path)) => {
            // Both are complete before either is moved to its place.
            let keys_file = Pending::numbers(keys_path, keys.scalar, &sorted)?;
            let values_file = Pending::numbers(values_path, values.scalar, &moved)?;
            keys_file.finish()?;
            values_file.finish()?;
            Ok(ExitCode::SUCCESS)
        }
        (Some(values), ..) => {
            print_numbers(&[(keys.scalar, &sorted), (values.scalar, &moved)])?;
            Ok(ExitCode::SUCCESS)
        }
        (None, ..) => deliver(&args.file, keys.scalar, &sorted),
    }
}

/// Runs a request on the device that the user chose, or the best; gives the output's bytes and the output values'.
fn call(
    args: &FileArgs,
    request: &Request,
    input: &Numbers,
    values: Option<&Numbers>,
    output_bytes: usize,
) -> Result<(Vec<u8>, Vec<u8>)> {
    let (device, backend) = crate::choose::best(args.device.as_deref())?;
    tracing::info!(%device, "chosen");
    run(&backend, request, args.algorithm, input, values, output_bytes)
        .with_context(|| format!("{} of {} numbers on {device}", request.primitive(), request.n()))
}

fn run(
    backend: &Device,
    request: &Request,
    algorithm: Option<&'static str>,
    input: &Numbers,
    values: Option<&Numbers>,
    output_bytes: usize,
) -> Result<(Vec<u8>, Vec<u8>)> {
    let algorithm = algorithm.map(|name| request.algorithm(name)).transpose()?;
    let options = Options { algorithm, ..Options::default() };
    // The limits are checked before anything is allocated or copied.
    plan::plan(request, Layout::default(), options, backend.caps(), &backend.tuning())?;
    let moved_bytes = values.map_or(0, |v| v.bytes().len());
    let [from, to] = [upload(backend, input.bytes())?, allocate(backend, output_bytes)?];
    let spans = SpansOf {
        input_values: values.map(|v| first(&upload(backend, v.bytes())?, moved_bytes)).transpose()?,
        output_values: values.map(|v| first(&allocate(backend, v.bytes().len())?, moved_bytes)).transpose()?,
        ..Spans::new(&first(&from, input.bytes().len())?, &first(&to, output_bytes)?)
    };
    Call::new(backend, request, &spans, options)?.run()?;
    backend.synchronize()?;
    let mut output = vec![0; output_bytes];
    if output_bytes > 0 {
        backend.read_blocking(&spans.output, &mut output)?;
    }
    let mut moved = vec![0; moved_bytes];
    if let Some(to) = spans.output_values.filter(|_| moved_bytes > 0) {
        backend.read_blocking(&to, &mut moved)?;
    }
    Ok((output, moved))
}

fn deliver(args: &FileArgs, scalar: Scalar, bytes: &[u8]) -> Result<ExitCode> {
    match &args.output {
        Some(path) => Pending::numbers(path, scalar, bytes)?.finish()?,
        None => print_numbers(&[(scalar, bytes)])?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints columns of numbers, a row a line: all of them into a pipe, the first and last on a terminal.
fn print_numbers(columns: &[(Scalar, &[u8])]) -> Result<()> {
    const HEAD: usize = 20;
    const TAIL: usize = 5;
    let rows = columns.first().map_or(0, |(scalar, bytes)| bytes.len() / scalar.bytes() as usize);
    let short = std::io::stdout().is_terminal() && rows > HEAD + TAIL;
    let mut text = String::new();
    for row in 0..rows {
        if short && (HEAD..rows - TAIL).contains(&row) {
            if row == HEAD {
                writeln!(text, "... {} more ...", rows - HEAD - TAIL)?;
            }
            continue;
        }
        for (i, (scalar, bytes)) in columns.iter().enumerate() {
            let size = scalar.bytes() as usize;
            let separator = if i == 0 { "" } else { "\t" };
            write!(text, "{separator}{}", scalar.text(&bytes[row * size..][..size]))?;
        }
        text.push('\n');
        if text.len() > 1 << 16 {
            files::print(&text)?;
            text.clear();
        }
    }
    files::print(&text)
}
