//! `trifold compare`: every primitive on every device, checked and timed.

mod data;
mod inputs;
mod jobs;
mod measure;
mod rows;
mod station;
mod table;

use std::cell::RefCell;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use indicatif::ProgressBar;
use trifold::{Backend, Device, Error, Found};

pub use self::measure::{BATCH, Bench, Outcome, Shared, is_software, request};
pub use self::rows::{Conditions, Job, Place, Row};
use self::station::Station;
pub use self::table::{Devices, LEGEND, render, size};
use crate::args::CompareArgs;
use crate::choose;
use crate::elements::Lengths;
use crate::files::{self, Pending};
use crate::interrupt;

pub fn run(args: &CompareArgs) -> Result<ExitCode> {
    let outputs = [("--json", args.json.as_deref()), ("--html", args.html.as_deref())];
    files::check_outputs(&outputs, &args.with)?;
    let devices = choose::matching(&args.device)?;
    let mut others = vec![];
    for path in &args.with {
        others.extend(rows::read_others(path)?);
    }
    // A panic becomes its row's error, not a backtrace across the table.
    std::panic::set_hook(Box::new(|info| tracing::info!(%info, "a panic")));
    interrupt::listen()?;
    let report = Report::new(args.json.as_deref());
    let opened = open_all(&devices, &report, |found| unopened(args, found));
    let listed = Devices::of(devices.iter().zip(&opened).map(|(found, opened)| match opened {
        Some(Opened(device)) => Place::from(device.caps()),
        None => Place::from(found),
    }));
    report.show(&listed.list());
    report.show(table::LEGEND);
    rows::fill_copy_fractions(&mut others);
    // Of devices that could not be opened: why.
    report.table(0, &[], &listed, args.wide);
    let shared = Shared::default();
    let mut stations: Vec<Station<'_>> =
        opened.iter().flatten().map(|Opened(device)| Station::new(args, device, &shared, &report)).collect();
    let sizes = station::sizes(&stations);
    for (done, primitive) in jobs::primitives(args).into_iter().enumerate() {
        let first = report.rows.borrow().len();
        for call in jobs::calls(args, primitive, &sizes) {
            stations.iter_mut().for_each(|station| station.measure(call, done));
        }
        report.table(first, &others, &listed, args.wide);
    }
    stations.into_iter().for_each(Station::close);
    report.bar.finish_and_clear();
    let mut rows = report.rows.into_inner();
    if rows.is_empty()
        && let Some(code) = interrupt::code()
    {
        return Ok(code);
    }
    ensure!(
        !rows.is_empty(),
        "nothing to compare: {}",
        if args.algorithm.is_empty() { "no device could be opened" } else { "no chosen device has these algorithms" }
    );

    let measured = is_measured(&rows);
    let all = others.len();
    others.retain(|other| rows.iter().any(|row| row.is_like(other)));
    if others.len() < all {
        eprintln!("note: {} rows of --with measure nothing that was measured here; left out", all - others.len());
    }
    rows.extend(others);
    let mut conclusion = table::conclusion(&rows, &listed);
    if args.json.is_none() && args.html.is_none() {
        conclusion += "--html FILE makes a page of charts, and --json FILE keeps the rows.\n";
    }
    conclude(&rows, measured, args.json.as_deref(), args.html.as_deref(), &conclusion)
}

/// Whether a device did anything that these rows were to be of.
pub fn is_measured(rows: &[Row]) -> bool {
    rows.iter().any(|row| row.verified.is_some())
}

/// Writes and shows the rows, and says whether they are as they should be.
pub fn conclude(
    rows: &[Row],
    measured: bool,
    json: Option<&Path>,
    html: Option<&Path>,
    text: &str,
) -> Result<ExitCode> {
    if let Some(path) = json {
        write_rows(path, rows)?;
    }
    if let Some(path) = html {
        Pending::text(path, &crate::report::page(rows)?)?.finish()?;
    }
    files::print(text)?;
    let wrong = rows.iter().filter(|row| row.verified == Some(false)).count();
    if wrong > 0 {
        eprintln!("error: {wrong} of {} rows are not verified", rows.len());
    }
    if !measured {
        eprintln!("error: nothing was measured, for the reasons that the rows give");
    }
    if let Some(code) = interrupt::code() {
        return Ok(code);
    }
    Ok(if wrong == 0 && measured { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub fn write_rows(path: &Path, rows: &[Row]) -> Result<()> {
    Pending::text(path, &(serde_json::to_string_pretty(rows)? + "\n"))?.finish()
}

/// The progress bar, the notes that interrupt it, and the rows so far.
pub struct Report<'a> {
    pub bar: ProgressBar,
    /// Where the rows so far are written, for what may interrupt the work.
    json: Option<&'a Path>,
    pub rows: RefCell<Vec<Row>>,
}

impl<'a> Report<'a> {
    pub fn new(json: Option<&'a Path>) -> Report<'a> {
        Report { bar: crate::progress::bar(), json, rows: RefCell::default() }
    }

    pub fn add(&self, row: Row) {
        self.rows.borrow_mut().push(row);
        self.write();
    }

    pub fn write(&self) {
        let rows = self.rows.borrow();
        if let Some(Err(error)) = self.json.map(|path| write_rows(path, &rows)) {
            tracing::warn!(%error, "the rows so far are not written");
        }
    }

    /// Prints a primitive's rows, which are those from the `first` on, and those of other programs that are like them.
    fn table(&self, first: usize, others: &[Row], devices: &Devices, wide: bool) {
        let own = self.rows.borrow()[first..].to_vec();
        let others = others.iter().filter(|other| own.iter().any(|row| row.is_like(other))).cloned();
        let rows: Vec<Row> = own.iter().cloned().chain(others).collect();
        self.show(&table::render(&rows, devices, wide));
    }

    /// Prints what the command is for. Whoever reads it may have left.
    fn show(&self, text: &str) {
        if let Err(error) = self.bar.suspend(|| files::print(text)) {
            tracing::warn!(%error, "standard output");
        }
    }

    pub fn note(&self, text: &str) {
        self.bar.suspend(|| eprintln!("note: {text}"));
    }
}

pub struct Opened(Device);

impl Opened {
    /// Measures on it, which tells whether it was lost, and closes it.
    pub fn measured(self, measure: impl FnOnce(&Device) -> bool) {
        if measure(&self.0) {
            // What a device that is gone does when it is closed is not to be trusted.
            std::mem::forget(self.0);
        }
    }
}

/// Opens all devices before the first is measured; none stands for one that cannot be opened. `unopened` is the row of such a
/// device, but for its error.
///
/// An NVIDIA GPU that only Vulkan drives lowers its clock within seconds if it is not busy. While it is open through CUDA, it
/// does not.
pub fn open_all<'a>(
    devices: impl IntoIterator<Item = &'a Found>,
    report: &Report<'_>,
    unopened: impl Fn(&Found) -> Row,
) -> Vec<Option<Opened>> {
    let open = |found: &'a Found| {
        if interrupt::asked() {
            return None;
        }
        report.bar.set_message(format!("opening {found}"));
        match choose::open(found) {
            Ok(backend) => return Some(Opened(backend)),
            Err(Error::Unsupported(why)) => report.note(&format!("{found} is left out: {why}")),
            Err(error) => {
                report.add(Row { error: Some(format!("it cannot be opened: {error}")), ..unopened(found) });
            }
        }
        None
    };
    devices.into_iter().map(open).collect()
}

/// One row for all that could have been measured.
fn unopened(args: &CompareArgs, found: &Found) -> Row {
    let job = Job {
        primitive: jobs::primitives(args)[0],
        scalar: args.types[0],
        operator: None,
        algorithm: None,
        n: args.n.first().copied().unwrap_or(0),
        conditions: Conditions {
            input: args.input[0],
            kept: args.kept[0],
            run_length: args.run_length[0],
            segments: Lengths { mean: args.segment_length[0], spread: args.segments[0] },
            k: args.k[0],
            unsorted: args.unsorted,
            bins: args.bins[0],
            bits: args.bits.first().copied(),
            value: args.value[0],
            fault: args.fault[0],
            waiting: args.waiting[0],
        },
    };
    Row::new(&job, found.into())
}
