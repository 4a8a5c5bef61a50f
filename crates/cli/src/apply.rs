//! `trifold scan`, `reduce` and `sort`: calls on a user's own numbers.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use trifold::backend::{Span, SpansOf};
use trifold::builders::Order;
use trifold::plan::{
    Builtin, Layout, Op, Operand, Options, ReduceRequest, Request, ScanKind, ScanRequest, Slot, SortRequest, Viewed,
};
use trifold::types::{ElementType, Scalar};
use trifold::{Backend, Call, Device, Transfer, plan};

use crate::args::{CombineArgs, FileArgs, ReduceArgs, ScanArgs, SortArgs};
use crate::elements;
use crate::files::{self, Asked, Numbers, Pending};
use crate::interrupt;
use crate::lines::{ArrayShape, Lines};
use crate::memory::{allocate, upload};
use crate::stored::Stored;
use crate::sums::{self, Results};
use crate::widened;

pub fn scan(args: &ScanArgs) -> Result<ExitCode> {
    let (kind, results) = match args.exclusive {
        true => (ScanKind::Exclusive, Results::Exclusive),
        false => (ScanKind::Inclusive, Results::Inclusive),
    };
    combine(&args.combine, results, |op, n, initial| Request::Scan(ScanRequest { op, n, kind, initial, total: false }))
}

pub fn reduce(args: &ReduceArgs) -> Result<ExitCode> {
    combine(&args.combine, Results::Last, |op, n, initial| Request::Reduce(ReduceRequest { op, n, initial }))
}

/// Calls that combine a file's numbers.
fn combine(
    args: &CombineArgs,
    results: Results,
    request: impl FnOnce(Op, u64, Option<Vec<u8>>) -> Request,
) -> Result<ExitCode> {
    interrupt::end_at_once()?;
    let (file, which) = (&args.file, args.operator);
    // The result may take its input's place, which is read whole before.
    files::check_outputs(&[("-o", file.output.as_deref())], [])?;
    let input = Numbers::open(&file.input, file.asked())?;
    files::check_type(file.output.as_deref(), input.is_npy, input.stored)?;
    ensure!(
        input.stored.scalar().is_computed(),
        "numbers of {}: kernels compare and move them, but do not compute with them; `trifold sort` takes them",
        input.stored.name()
    );
    let lines = lines(file, &file.input, &input)?;
    let elements = lines.gather(Cow::Borrowed(input.bytes()), input.stored.bytes());
    let initial = initial(args, input.stored)?;
    let stored = result_type(args, &input, initial.as_deref(), &elements, &lines, results)?;
    let scalar = stored.scalar();
    let op = Op::builtin(which, scalar).with_context(|| {
        let (name, stored) = (which.name(), input.stored.name());
        format!("`{name}` is for integers, and these are {stored}; use sum, product, min or max")
    })?;
    let initial = initial.map(|bytes| Stored::of(input.stored.scalar()).widen(&bytes, scalar).into_owned());
    let request = request(op, lines.length as u64, initial);
    let viewed = device_widens(input.stored, &request, scalar, file.algorithm);
    let numbers = match viewed {
        Some(_) => input.stored.little_endian(Cow::Borrowed(&elements)),
        None => input.stored.widen(&elements, scalar),
    };
    let work = Work { request: viewed.unwrap_or(request), lines: lines.count, input: numbers, values: None };
    let ran = work.run(file);
    let (output, _) = match advice(input.stored, stored) {
        Some(advice) => ran.context(advice)?,
        None => ran?,
    };
    note_lost(input.stored, scalar, &output);
    let output = stored.narrow(scalar, output.into());
    let (output, shape) = match results {
        Results::Last => (output, ArrayShape::line(lines.count as u64)),
        _ => (lines.scatter(output, stored.bytes()), input.shape.clone()),
    };
    deliver(file, input.is_npy, stored, &shape, &output)
}

/// The same request of the numbers as the file has them, which the device widens while it reads them. An algorithm that reads no views takes
/// what the host has widened.
fn device_widens(stored: Stored, request: &Request, to: Scalar, algorithm: Option<&str>) -> Option<Request> {
    if stored.is_bool() {
        return None;
    }
    let viewed = Viewed { slot: Slot::Input, first: 0, view: widened::view(stored.sorted(), to)? };
    let named = algorithm.and_then(|name| request.algorithm(name).ok());
    let takes = named.is_none_or(|algorithm| algorithm.takes_views(std::slice::from_ref(&viewed)));
    takes.then(|| request.clone().viewing(viewed))
}

/// A file's lines along the axis that was asked for.
fn lines(args: &FileArgs, path: &Path, numbers: &Numbers) -> Result<Lines> {
    Lines::of(&numbers.shape, args.axis).with_context(|| format!("{}", path.display()))
}

/// What a call starts from: the user's number, or an identity that the numbers' type has itself.
fn initial(args: &CombineArgs, stored: Stored) -> Result<Option<Vec<u8>>> {
    let scalar = stored.scalar();
    let Some(text) = &args.initial else {
        let (least, most) = stored.range();
        let identity = match args.operator {
            Builtin::Min => most,
            Builtin::Max => least,
            _ => return Ok(None),
        };
        let is_narrow = stored.bytes() < 4 && !stored.is_float();
        return Ok(is_narrow.then(|| identity.to_le_bytes()[..scalar.bytes() as usize].to_vec()));
    };
    let no_number = || format!("--initial: `{text}` is no {}; give a number that fits the type", stored.name());
    let bytes = elements::parse(scalar, text).ok().with_context(no_number)?;
    let grows = matches!(args.operator, Builtin::Sum | Builtin::Product);
    let fits = || *stored.widen(&stored.narrow(scalar, Cow::Borrowed(&bytes)), scalar) == bytes[..];
    if !grows && !stored.is_float() && !fits() {
        bail!(no_number());
    }
    Ok(Some(bytes))
}

/// The type of the results: the numbers' own, unless sums need more room and may have it.
fn result_type(
    args: &CombineArgs,
    input: &Numbers,
    initial: Option<&[u8]>,
    elements: &[u8],
    lines: &Lines,
    results: Results,
) -> Result<Stored> {
    let stored = input.stored;
    if args.wrapping {
        // Truth values have no sum of their own.
        return Ok(if stored.is_bool() && args.operator == Builtin::Sum { stored.widened(4) } else { stored });
    }
    let start = match (initial, args.operator) {
        (Some(bytes), _) if !stored.is_float() => Stored::of(stored.scalar()).integers(bytes).next().unwrap_or(0),
        (_, Builtin::Product) => 1,
        _ => 0,
    };
    let fit = sums::fit(args.operator, stored, start, elements, lines, results);
    let (name, own, wide) = (args.operator.name(), stored.name(), fit.stored.name());
    // Truth values are known to sum to these.
    let is_known = stored.is_bool() && args.operator == Builtin::Sum && fit.stored.bytes() == 4;
    let is_wider = fit.stored.bytes() > stored.bytes() && !is_known;
    // Whoever reads raw numbers could not know.
    let is_raw = args.file.output.as_ref().is_some_and(|path| !files::writes_npy(path, input.is_npy));
    ensure!(
        !(is_wider && is_raw),
        "the {name} does not fit {own}, and raw numbers do not say that they are {wide}; write a .npy, or give --wrapping"
    );
    match (fit.wraps, is_wider) {
        (true, true) => {
            eprintln!("note: the {name} does not fit 64 bits, wraps, and is {wide}; --wrapping keeps {own}")
        }
        (true, false) => eprintln!("note: the {name} does not fit 64 bits, and wraps"),
        (false, true) => eprintln!("note: the {name} does not fit {own}, and is {wide}; --wrapping keeps {own}"),
        (false, false) => {}
    }
    Ok(fit.stored)
}

/// Says that numbers became infinite for the width of what they are written as.
fn note_lost(stored: Stored, scalar: Scalar, wide: &[u8]) {
    let size = scalar.bytes() as usize;
    if !stored.is_float() || stored.bytes() == size {
        return;
    }
    let narrow = stored.narrow(scalar, Cow::Borrowed(wide));
    let again = stored.widen(&narrow, scalar);
    let is_finite = |bytes: &[u8]| scalar.to_f64(bytes).is_finite();
    let mut pairs = wide.chunks_exact(size).zip(again.chunks_exact(size));
    if pairs.any(|(wide, narrow)| is_finite(wide) && !is_finite(narrow)) {
        eprintln!("note: results do not fit {}, and are infinite", stored.name());
    }
}

/// What to do where a call failed for the width of its results.
fn advice(stored: Stored, result: Stored) -> Option<String> {
    let (own, wide) = (stored.name(), result.name());
    let advice = || format!("results of {own} have {wide}; --wrapping keeps the type, and --device cpu has every type");
    (result.bytes() > stored.bytes()).then(advice)
}

pub fn sort(args: &SortArgs) -> Result<ExitCode> {
    interrupt::end_at_once()?;
    let file = &args.file;
    let outputs = [("-o", file.output.as_deref()), ("--values-output", args.values_output.as_deref())];
    files::check_outputs(&outputs, [])?;
    // Sorted keys may take the keys' place, and their values the values'.
    files::check_apart(&outputs[..1], &args.values)?;
    files::check_apart(&outputs[1..], [&file.input])?;
    let both_are_standard = files::is_standard(&file.input) && args.values.as_deref().is_some_and(files::is_standard);
    ensure!(!both_are_standard, "keys and values cannot both come from standard input; give one of them as a file");
    let keys = Numbers::open(&file.input, file.asked())?;
    let asked = || Asked { stored: args.values_type, option: "--values-type", raw: file.raw };
    let values = args.values.as_ref().map(|path| Numbers::open(path, asked())).transpose()?;
    files::check_type(file.output.as_deref(), keys.is_npy, keys.stored)?;
    if let (Some(values), Some(path)) = (&values, &args.values) {
        files::check_type(args.values_output.as_deref(), values.is_npy, values.stored)?;
        check_values(args, &keys, values, path)?;
    }
    let lines = lines(file, &file.input, &keys)?;
    let key = keys.stored.sorted();
    let value = values.as_ref().map(|values| values.stored.sorted());
    let order = if args.descending { Order::Descending } else { Order::Ascending };
    let gathered = |numbers: &Numbers, lines: &Lines| {
        let stored = numbers.stored.moved();
        stored.widen(&lines.gather(Cow::Borrowed(numbers.bytes()), stored.bytes()), stored.sorted()).into_owned()
    };
    let request = SortRequest::new(key.into(), lines.length as u64).with(value.map(ElementType::from)).in_order(order);
    // Values lie as their own file has them, which may be in another order than the keys'.
    let value_lines = values.as_ref().map(|values| Lines::of(&values.shape, file.axis)).transpose()?;
    let moved = values.as_ref().zip(value_lines.as_ref()).map(|(values, lines)| gathered(values, lines).into());
    let work = Work {
        request: Request::Sort(request),
        lines: lines.count,
        input: gathered(&keys, &lines).into(),
        values: moved,
    };
    let (sorted, moved) = work.run(file)?;
    let stored = |numbers: &Numbers, lines: &Lines, wide: &[u8]| {
        let stored = numbers.stored.moved();
        lines.scatter(stored.narrow(stored.sorted(), Cow::Borrowed(wide)), stored.bytes()).into_owned()
    };
    let sorted = stored(&keys, &lines, &sorted);
    let Some((values, value_lines)) = values.zip(value_lines) else {
        return deliver(file, keys.is_npy, keys.stored, &keys.shape, &sorted);
    };
    let moved = stored(&values, &value_lines, &moved);
    match (&file.output, &args.values_output) {
        (Some(keys_path), Some(values_path)) => {
            // Both are complete before either is moved to its place.
            let keys_file = Pending::numbers(keys_path, keys.is_npy, keys.stored, &keys.shape, &sorted)?;
            let values_file = Pending::numbers(values_path, values.is_npy, values.stored, &values.shape, &moved)?;
            keys_file.finish()?;
            values_file.finish()?;
        }
        _ => {
            let texts = [(keys.stored, &sorted), (values.stored, &moved)];
            print_table(keys.shape.n() as usize, 2, |row, column| element(texts[column].0, texts[column].1, row))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn check_values(args: &SortArgs, keys: &Numbers, values: &Numbers, path: &Path) -> Result<()> {
    ensure!(
        values.shape.sizes == keys.shape.sizes,
        "{} has {} values, and {} has {} numbers; give one value for each number, in the same shape",
        path.display(),
        values.shape.n(),
        args.file.input.display(),
        keys.shape.n()
    );
    let has_outputs = [&args.file.output, &args.values_output].map(Option::is_some);
    if has_outputs[0] != has_outputs[1] || !has_outputs[0] && keys.shape.sizes.len() > 1 {
        bail!("the values have an output of their own: give both -o and --values-output, or neither to print them");
    }
    Ok(())
}

/// The same call on each of some lines that lie one behind the other.
struct Work<'a> {
    /// Of one line.
    request: Request,
    lines: usize,
    input: Cow<'a, [u8]>,
    values: Option<Cow<'a, [u8]>>,
}

impl Work<'_> {
    /// Runs on the device that the user chose, or the best, and names it; gives the outputs' bytes and the output values'.
    fn run(&self, args: &FileArgs) -> Result<(Vec<u8>, Vec<u8>)> {
        let (found, device) = crate::choose::best(args.device.as_deref())?;
        let request = &self.request;
        let done = self.run_on(&device, args.algorithm).with_context(|| {
            let of = if self.lines == 1 { String::new() } else { format!("{} times ", self.lines) };
            format!("{} of {of}{} numbers on {found}", request.primitive(), request.n())
        })?;
        eprintln!("device: {found}");
        Ok(done)
    }

    fn run_on(&self, device: &Device, algorithm: Option<&'static str>) -> Result<(Vec<u8>, Vec<u8>)> {
        let request = &self.request;
        let algorithm = algorithm.map(|name| request.algorithm(name)).transpose()?;
        let options = Options::default().with(|options| options.algorithm = algorithm);
        // The limits are checked before anything is allocated or copied.
        plan::plan(request, Layout::default(), options, device.caps(), &device.tuning())?;
        // Of all lines together; a line's part of each is what its call gets.
        let all = SpansOf::of(request, |operand| match operand.slot {
            Slot::Input | Slot::Leaf(0) => upload(device, &self.input),
            Slot::InputValues => upload(device, self.values.as_deref().unwrap_or_default()),
            _ => allocate(device, operand.bytes() as usize * self.lines),
        })?;
        let operands = request.operands();
        let bytes_of = |slot| operands.iter().find(|operand| operand.slot == slot).map_or(0, Operand::bytes);
        let of_line = |span: &Span<Device>, slot, line: usize| span.slice(bytes_of(slot) * line as u64, bytes_of(slot));
        for line in 0..self.lines {
            let spans = SpansOf::of(request, |operand| {
                let span =
                    all.slot(operand.slot).with_context(|| format!("no memory for the {}", operand.slot.noun()))?;
                anyhow::Ok(of_line(span, operand.slot, line)?)
            })?;
            Call::new(device, request, &spans, options)?.run()?;
        }
        device.synchronize()?;
        let read = |span: Option<&Span<Device>>, slot| -> Result<Vec<u8>> {
            let mut bytes = vec![0; bytes_of(slot) as usize * self.lines];
            if let Some(span) = span.filter(|_| !bytes.is_empty()) {
                device.read_blocking(&span.slice(0, bytes.len() as u64)?, &mut bytes)?;
            }
            Ok(bytes)
        };
        Ok((read(Some(&all.output), Slot::Output)?, read(all.output_values.as_ref(), Slot::OutputValues)?))
    }
}

fn deliver(args: &FileArgs, is_npy: bool, stored: Stored, shape: &ArrayShape, bytes: &[u8]) -> Result<ExitCode> {
    match &args.output {
        Some(path) => Pending::numbers(path, is_npy, stored, shape, bytes)?.finish()?,
        None => {
            let (rows, columns) = shape.rows_and_columns();
            print_table(rows, columns, |row, column| element(stored, bytes, shape.place(row, column)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The text of an element.
fn element(stored: Stored, bytes: &[u8], at: usize) -> String {
    let size = stored.bytes();
    stored.scalar().text(&stored.widen(&bytes[at * size..][..size], stored.scalar()))
}

/// Prints rows of elements, a row a line: all of them into a pipe, the first and last on a terminal.
fn print_table(rows: usize, columns: usize, element: impl Fn(usize, usize) -> String) -> Result<()> {
    const HEAD: usize = 20;
    const TAIL: usize = 5;
    let short = std::io::stdout().is_terminal() && rows > HEAD + TAIL;
    let mut text = String::new();
    for row in 0..rows {
        if short && (HEAD..rows - TAIL).contains(&row) {
            if row == HEAD {
                writeln!(text, "... {} more ...", rows - HEAD - TAIL)?;
            }
            continue;
        }
        for column in 0..columns {
            let separator = if column == 0 { "" } else { "\t" };
            write!(text, "{separator}{}", element(row, column))?;
        }
        text.push('\n');
        if text.len() > 1 << 16 {
            files::print(&text)?;
            text.clear();
        }
    }
    files::print(&text)
}
