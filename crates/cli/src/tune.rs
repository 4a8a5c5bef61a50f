//! `trifold tune`: measures candidate tile shapes on a device, and writes the best as a table for `TRIFOLD_TUNING`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::{Result, bail, ensure};
use comfy_table::Table;
use indicatif::ProgressBar;
use trifold::{Caps, Found, Layout, Options, Scalar, Tuning, TuningRow, TuningTable, planner};

use crate::args::{Primitive, TuneArgs};
use crate::compare::{Bench, Conditions, Job, Outcome, is_software, request};
use crate::files::{self, Pending};

/// What is tuned by the time of one call: its numbers, each with candidates, in the order in which they are tried.
struct Subject {
    primitive: Primitive,
    scalar: Scalar,
    /// The algorithm that the numbers are for; a device that does not have it is not tuned for it.
    algorithm: &'static str,
    /// How many elements it is timed with, if it is for few.
    few: Option<u64>,
    numbers: &'static [(&'static str, &'static [u32])],
}

const SUBJECTS: [Subject; 11] = [
    Subject {
        primitive: Primitive::Scan,
        scalar: Scalar::U32,
        algorithm: "lookback",
        few: None,
        numbers: &[("scan_workgroup_many", &[128, 256, 512]), ("scan_words", &[8, 16, 24, 32])],
    },
    Subject {
        primitive: Primitive::Scan,
        scalar: Scalar::U32,
        algorithm: "lookahead",
        few: None,
        numbers: &[("lookahead_rows", &[3, 5, 7])],
    },
    Subject {
        primitive: Primitive::Reduce,
        scalar: Scalar::U32,
        algorithm: "single_pass",
        few: None,
        numbers: &[
            ("reduce_workgroup", &[128, 256, 512, 1024]),
            ("reduce_words", &[8, 16, 32]),
            ("groups_per_unit", &[2, 4, 8, 16]),
        ],
    },
    Subject {
        primitive: Primitive::SortKeys,
        scalar: Scalar::U32,
        algorithm: "onesweep",
        few: None,
        numbers: &[
            ("sort_workgroup", &[128, 256, 384, 512]),
            ("sort_keys", &[8, 12, 16, 20, 24, 28, 32, 36]),
            ("sort_resident", &[1, 2, 3, 4]),
            ("sort_window", &[1, 2, 4, 8]),
        ],
    },
    // The same kernel where its tiles are not many, and where they are few.
    Subject {
        primitive: Primitive::SortKeys,
        scalar: Scalar::U32,
        algorithm: "onesweep",
        few: Some(1 << 24),
        numbers: &[("sort_keys_middling", &[20, 22, 24, 26, 28, 32])],
    },
    Subject {
        primitive: Primitive::SortKeys,
        scalar: Scalar::U32,
        algorithm: "onesweep",
        few: Some(1 << 22),
        numbers: &[("sort_keys_few", &[12, 16, 20, 24])],
    },
    Subject {
        primitive: Primitive::SortKeys,
        scalar: Scalar::U32,
        algorithm: "hybrid",
        few: Some(1 << 20),
        numbers: &[
            ("bucket_workgroup", &[128, 256, 512]),
            ("bucket_keys", &[16, 20, 24, 28, 32]),
            ("bucket_resident", &[1, 2, 3, 4]),
        ],
    },
    Subject {
        primitive: Primitive::SortKeys,
        scalar: Scalar::U64,
        algorithm: "onesweep",
        few: None,
        numbers: &[
            ("sort64_workgroup", &[128, 256, 384, 512]),
            ("sort_keys64", &[6, 8, 10, 12, 14, 16, 18, 20]),
            ("sort64_resident", &[1, 2, 3, 4]),
        ],
    },
    Subject {
        primitive: Primitive::SortPairs,
        scalar: Scalar::U32,
        algorithm: "onesweep",
        few: None,
        numbers: &[
            ("pairs_workgroup", &[128, 256, 384, 512]),
            ("sort_pairs", &[8, 12, 16, 20, 24, 28]),
            ("pairs_resident", &[1, 2, 3, 4]),
        ],
    },
    // First the shape that a full tile wants, then how few keys an invocation should take.
    Subject {
        primitive: Primitive::SortKeys,
        scalar: Scalar::U32,
        algorithm: "one_tile",
        few: Some(1 << 12),
        numbers: &[("tile_workgroup", &[256, 512, 1024])],
    },
    Subject {
        primitive: Primitive::SortKeys,
        scalar: Scalar::U32,
        algorithm: "one_tile",
        few: Some(1 << 10),
        numbers: &[("tile_least", &[1, 2, 4])],
    },
];

/// A candidate must be faster by as much to be taken: below it is noise.
const WORTHWHILE: f64 = 0.99;
/// Sizes at which the result of tuning is checked besides the one that it was timed at.
const CHECKED: [u64; 3] = [1, 5003, (1 << 20) + 1];

pub fn run(args: &TuneArgs) -> Result<ExitCode> {
    let devices = crate::choose::matching(&args.device)?;
    // A path that cannot be written is better known before the work than after it.
    drop(Pending::text(&args.output, "")?);
    let bar = crate::progress::bar();
    let mut table = Table::new();
    table.load_style(comfy_table::presets::ASCII_MARKDOWN);
    table.set_header(["device", "call", "before", "after", "faster by", "numbers"]);
    let mut rows = vec![];
    for found in &devices {
        bar.set_message(format!("opening {found}"));
        match tuned(args, found, &bar, &mut table) {
            Ok(Some(row)) => rows.push(row),
            Ok(None) => {}
            Err(error) if devices.len() > 1 => bar.suspend(|| eprintln!("note: {found} is left out: {error:#}")),
            Err(error) => return Err(error.context(found.to_string())),
        }
    }
    bar.finish_and_clear();
    ensure!(table.row_count() > 0, "nothing to tune: no chosen device has kernels, or --primitive leaves none");
    let found_some = rows.iter().any(|row| !row.numbers.is_empty());
    Pending::text(&args.output, &TuningTable::new(rows).text()?)?.finish()?;
    let said = match found_some {
        true => format!("TRIFOLD_TUNING={} makes every program use it", args.output.display()),
        false => "the numbers that ship are the best of the candidates".into(),
    };
    files::print(&format!("{table}\n{said}\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// Tunes a device; none if it has no kernels to tune.
fn tuned(args: &TuneArgs, found: &Found, bar: &ProgressBar, table: &mut Table) -> Result<Option<TuningRow>> {
    let backend = found.open()?;
    let caps = backend.caps();
    let n = args.n.unwrap_or(if is_software(caps.kind) { 1 << 18 } else { 1 << 26 });
    let subjects: Vec<_> =
        SUBJECTS.iter().filter(|subject| subject.is_wanted(args, caps, n, &backend.tuning())).collect();
    if subjects.is_empty() {
        return Ok(None);
    }
    let calls = |s: &&Subject| s.numbers.iter().map(|(_, c)| c.len() as u64).sum::<u64>() + 1;
    bar.inc_length(subjects.iter().map(calls).sum());

    let shipped = backend.tuning();
    let mut best = Search { bench: Bench::new(&*backend, shipped.clone(), args.runs), tuning: shipped.clone(), n };
    for subject in subjects {
        let name = format!("{found}: {}", subject.call(n));
        bar.set_message(name.clone());
        let before = best.time(subject)?;
        bar.inc(1);
        let mut after = before;
        for (number, candidates) in subject.numbers {
            for candidate in *candidates {
                bar.set_message(format!("{name}, {number} = {candidate}"));
                after = best.try_candidate(subject, number, *candidate, after)?;
                bar.inc(1);
            }
        }
        best.check(subject)?;
        let numbers: Vec<_> = subject
            .numbers
            .iter()
            .filter_map(|(name, _)| best.tuning.get(name).map(|value| format!("{name}={value}")))
            .collect();
        table.add_row([
            found.to_string(),
            subject.call(n),
            format!("{before:.3} ms"),
            format!("{after:.3} ms"),
            format!("{:.0}%", 100.0 * (before / after - 1.0)),
            numbers.join(" "),
        ]);
    }
    Ok(Some(TuningRow::for_device(caps, changes(&shipped, &best.tuning))))
}

/// The numbers in which a tuning is not the other.
fn changes(before: &Tuning, after: &Tuning) -> BTreeMap<String, u32> {
    let names = SUBJECTS.iter().flat_map(|subject| subject.numbers).map(|(name, _)| *name);
    let changed = names.filter(|name| before.get(name) != after.get(name));
    changed.filter_map(|name| Some((name.to_string(), after.get(name)?))).collect()
}

impl Subject {
    fn job(&self, n: u64) -> Job {
        let operator = self.primitive.has_operator().then_some(trifold::Builtin::Sum);
        let (primitive, scalar, conditions) = (self.primitive, self.scalar, Conditions::default());
        Job { primitive, scalar, operator, algorithm: Some(self.algorithm), n, conditions }
    }

    fn is_wanted(&self, args: &TuneArgs, caps: &Caps, n: u64, tuning: &Tuning) -> bool {
        let asked = args.primitive.is_empty() || args.primitive.contains(&self.primitive);
        let Ok(request) = request(&self.job(self.size(n))) else { return false };
        // Its tile may not fit this device.
        let options = Options { algorithm: Some(self.algorithm), ..Options::default() };
        let fits = || planner::plan(&request, Layout::default(), options, caps, tuning).is_ok();
        let has = planner::algorithms(&request, caps).contains(&self.algorithm);
        asked && has && (self.few.is_none() || fits())
    }

    /// How many elements it is timed with, where others are with `n`.
    fn size(&self, n: u64) -> u64 {
        self.few.map_or(n, |few| few.min(n))
    }

    fn call(&self, n: u64) -> String {
        format!("{} of {} {} by {}", self.primitive.name(), self.size(n), self.scalar.name(), self.algorithm)
    }
}

/// A device, and the best numbers so far.
struct Search<'a> {
    bench: Bench<'a>,
    tuning: Tuning,
    n: u64,
}

impl Search<'_> {
    /// The median time with the best numbers so far, which must work.
    fn time(&mut self, subject: &Subject) -> Result<f64> {
        match self.measured(subject, subject.size(self.n))? {
            Ok(ms) => Ok(ms),
            Err(why) => bail!("{}: {why}", subject.call(self.n)),
        }
    }

    /// Takes a number if its call is right and worthwhile; the time of the best.
    fn try_candidate(&mut self, subject: &Subject, name: &str, value: u32, best_ms: f64) -> Result<f64> {
        let kept = self.tuning.clone();
        if kept.get(name) == Some(value) {
            return Ok(best_ms);
        }
        self.tuning.set(name, value)?;
        match self.measured(subject, subject.size(self.n))? {
            Ok(ms) if ms < best_ms * WORTHWHILE => return Ok(ms),
            Ok(ms) => tracing::info!(name, value, ms, best_ms, "no faster"),
            // Such a tile may not fit this device.
            Err(why) => tracing::info!(name, value, why, "not possible"),
        }
        self.tuning = kept;
        Ok(best_ms)
    }

    /// Holds the best numbers to the oracle at other sizes.
    fn check(&mut self, subject: &Subject) -> Result<()> {
        for n in CHECKED.into_iter().filter(|n| subject.few.is_none_or(|few| *n <= few)) {
            if let Err(why) = self.measured(subject, n)? {
                bail!("{} with {:?}: {why}", subject.call(n), self.tuning);
            }
        }
        Ok(())
    }

    /// The median time of a call whose result is right, or what is wrong with it.
    fn measured(&mut self, subject: &Subject, n: u64) -> Result<std::result::Result<f64, String>> {
        self.bench.set_tuning(self.tuning.clone());
        let row = match self.bench.row(&subject.job(n)) {
            Outcome::Lost(row) => bail!("{}", row.error.unwrap_or_else(|| "the device was lost".into())),
            Outcome::Row(row) | Outcome::NoMemory(row) | Outcome::Unsupported(row) => row,
        };
        Ok(match (row.verified, row.median_ms) {
            (Some(true), Some(ms)) => Ok(ms),
            _ => Err(row.error.unwrap_or_else(|| "it was not measured".into())),
        })
    }
}
