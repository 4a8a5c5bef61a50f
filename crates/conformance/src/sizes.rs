//! One call for many sizes: what a run leaves behind must not be taken for another's.

use trifold_core::{Backend, Buffer, Device, Prepared, Spans, Transfer, Tuning, block_on, planner};

use crate::case::Failure;
use crate::inputs::Random;
use crate::row::Row;
use crate::stage::Staged;

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
        match self {
            Sizes::OnePlan => {
                let plan = planner::plan(&row.request, layout, options, device.caps(), tuning)?;
                block_on(Prepared::of_plan_up_to(device, plan))
            }
            Sizes::OnDevice => block_on(Prepared::with_tuning(device, &row.request, layout, options, tuning)),
            Sizes::UpTo => block_on(Prepared::up_to(device, &row.request, layout, options, tuning)),
        }
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
    let mut random = Random::named(&row.name());
    for run in 0..row.runs {
        let n = size(run, row.request.n(), &mut random);
        let resized = Row { request: row.request.with_n(n), ..row.clone() };
        staged.renew(&resized, run, device)?;
        staged.reset(device)?;
        match sizes {
            Sizes::OnDevice => {
                length.write(&[said(n, row.request.n())])?;
                staged.call.run()?;
            }
            Sizes::OnePlan | Sizes::UpTo => staged.call.run_n(n as usize)?,
        }
        staged.check_first(device, &resized.request).map_err(|failure| match failure {
            Failure::Wrong(message) => {
                Failure::Wrong(format!("run {run} of {n} ({}): {message}", staged.call.plan().algorithm()))
            }
            error => error,
        })?;
    }
    match sizes {
        Sizes::OnDevice => check_words(&words),
        Sizes::OnePlan | Sizes::UpTo => Ok(()),
    }
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
