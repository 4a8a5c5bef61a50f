//! One call for many sizes: what a run leaves behind must not be taken for another's.

use trifold_core::{Backend, Buffer, Call, Device, Error, Prepared, Spans, Transfer, Tuning, block_on, planner};

use crate::case::{Body, Failure, Level};
use crate::inputs::Random;
use crate::row::Row;
use crate::stage::{Staged, planned};

/// How a call for many sizes is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sizes {
    /// Of one plan.
    OnePlan,
    /// Of as many as [`Prepared::up_to`] makes.
    UpTo,
    /// Of one plan, whose runs have as many elements as the device's memory says.
    OnDevice,
}

impl Sizes {
    /// What names of cases say.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Sizes::OnePlan => "any_n",
            Sizes::UpTo => "up_to",
            Sizes::OnDevice => "device_n",
        }
    }

    pub(crate) fn prepare(
        self,
        device: &Device,
        row: &Row,
        spans: &Spans<Device>,
        tuning: &Tuning,
    ) -> trifold_core::Result<Prepared<Device>> {
        let (layout, options) = (spans.layout_for(device, &row.request)?, row.options);
        let plan = planner::plan(&row.request, layout, options, device.caps(), tuning)?;
        let prepared = match self {
            Sizes::OnePlan => block_on(Prepared::of_plan_up_to(device, plan)),
            Sizes::OnDevice => block_on(Prepared::with_tuning(device, &row.request, layout, options, tuning)),
            Sizes::UpTo => block_on(Prepared::up_to(device, &row.request, layout, options, tuning)),
        };
        prepared.map_err(planned)
    }
}

/// Large, small, large, and whatever comes.
fn size(run: u32, most: u64, random: &mut Random) -> u64 {
    match run {
        0 | 2 => most,
        1 => 1 + most / 1000,
        3 => 0,
        _ if random.next().is_multiple_of(2) => random.next() % (most + 1),
        // As many of each order of magnitude.
        _ => random.next() % (most >> (random.next() % 12)).max(2),
    }
}

/// Runs a row's call for one size after the other, and checks every run, and that it wrote no more than it was to.
pub(crate) fn check_sizes(device: &Device, row: &Row, sizes: Sizes) -> Result<(), Failure> {
    // Among others, where an API may not bind.
    let words = device.upload(&[NOT_READ; 3])?;
    let length = words.slice(1..2)?;
    let mut staged = Staged::prepared(device, row, |spans, tuning| {
        let spans = match sizes {
            Sizes::OnDevice => spans.clone().with_length(length.span()),
            Sizes::OnePlan | Sizes::UpTo => spans.clone(),
        };
        sizes.prepare(device, row, &spans, tuning)?.bind(&spans)
    })?;
    let counted = (sizes == Sizes::OnDevice).then_some(&length);
    let run = |call: &Call<Device>, n: u64| match sizes {
        Sizes::OnDevice => call.run(),
        Sizes::OnePlan | Sizes::UpTo => call.run_n(n as usize),
    };
    check_runs(device, row, &mut staged, counted, &run)?;
    match sizes {
        Sizes::OnDevice => check_words(&words),
        Sizes::OnePlan | Sizes::UpTo => Ok(()),
    }
}

/// Runs a staged row for as many sizes as it has runs.
fn check_runs(
    device: &Device,
    row: &Row,
    staged: &mut Staged,
    length: Option<&Buffer<u32, Device>>,
    run: &dyn Fn(&Call<Device>, u64) -> trifold_core::Result<()>,
) -> Result<(), Failure> {
    let mut random = Random::named(&row.name());
    for turn in 0..row.runs {
        let n = size(turn, row.request.n(), &mut random);
        let resized = Row { request: row.request.with_n(n), ..row.clone() };
        staged.renew(&resized, turn, device)?;
        staged.reset(device)?;
        length.map_or(Ok(()), |length| length.write(&[said(n, row.request.n())]))?;
        run(&staged.call, n)?;
        let checked = staged.check_first(device, &resized.request).and_then(|()| staged.check_inputs(device));
        checked.map_err(|failure| match failure {
            Failure::Wrong(message) => {
                Failure::Wrong(format!("run {turn} of {n} ({}): {message}", staged.call.plan().algorithm()))
            }
            error => error,
        })?;
    }
    Ok(())
}

/// What launches again what was recorded once.
pub type Recorded = Box<dyn Fn() -> trifold_core::Result<()>>;

/// What makes a recording of a run.
pub type Record<'a> = &'a dyn Fn(&dyn Fn() -> trifold_core::Result<()>) -> Recorded;

/// Runs every row whose number of elements is on the device as a recording, which `record` makes of a run, and launches it again for other
/// sizes: a CUDA graph. How many rows there were, or the first that failed.
///
/// # Errors
/// The row's name, and what was wrong.
pub fn recordings_follow_the_device(device: &Device, record: Record<'_>) -> Result<usize, String> {
    let tuning = device.tuning();
    let cases = crate::cases(device.caps(), &tuning, Level::Quick);
    let rows = cases.into_iter().filter_map(|case| match case.body {
        Body::Sizes(row, Sizes::OnDevice) => Some(row),
        _ => None,
    });
    let mut checked = 0;
    for row in rows {
        match check_recording(device, &row, record) {
            Ok(()) => checked += 1,
            Err(Failure::Error(Error::Unsupported(_))) => {}
            Err(failure) => return Err(format!("{}: {failure:?}", row.name())),
        }
    }
    Ok(checked)
}

fn check_recording(device: &Device, row: &Row, record: Record<'_>) -> Result<(), Failure> {
    let length = device.upload(&[0])?;
    let mut staged = Staged::prepared(device, row, |spans, tuning| {
        let spans = spans.clone().with_length(length.span());
        Sizes::OnDevice.prepare(device, row, &spans, tuning)?.bind(&spans)
    })?;
    let launch = record(&|| staged.call.run());
    check_runs(device, row, &mut staged, Some(&length), &|_, _| launch())
}

/// What lies beside a length.
const NOT_READ: u32 = 5;

/// What the device says for a run of `n` elements: where that is all that there is room for, more than that counts as much.
fn said(n: u64, most: u64) -> u32 {
    if n == most { u32::MAX } else { n as u32 }
}

/// Fails if a call wrote to the length or beside it.
fn check_words(words: &Buffer<u32, Device>) -> Result<(), Failure> {
    let words = words.read()?;
    match (words[0], words[2]) {
        (NOT_READ, NOT_READ) => Ok(()),
        _ => Err(Failure::Wrong(format!("wrote beside the length: {words:?}"))),
    }
}
