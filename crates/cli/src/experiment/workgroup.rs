//! How wide subgroups are, told by time: a kernel that does nothing but arithmetic, by workgroups of 1 to 1024 threads.
//!
//! The work is the same every time. Threads of one subgroup run in step, so a workgroup of fewer leaves the others idle. Twice
//! as many threads a workgroup take half the time, until a workgroup fills a subgroup. There the time stops falling.

use std::time::Instant;

use trifold::backend::{Caps, DeviceKind, Span, Spans, SubgroupSource};
use trifold::plan::Prepared;
use trifold::types::Scalar;
use trifold::{Backend, Call, Device, Error, Result, Transfer, block_on, bytemuck, plan};

use super::{End, Lab, jobs};
use crate::args::Experiment;
use crate::compare::{Bench, Outcome, Row, is_software};
use crate::interrupt;

/// Twice the threads are this many times as fast at least, as long as a workgroup does not fill its subgroup.
const FASTER: f64 = 1.5;
/// What the best workgroup is to take, in milliseconds.
const WANTED_MS: f64 = 5.0;
/// The workgroup by which the turns are chosen: more than any subgroup's half.
const PROBE: u32 = 64;
const PROBE_TURNS: u32 = 64;
/// As far as a device may round away from the host: WGSL lets a sine be off by 2^-11, and each turn halves what was off before.
const TOLERANCE: f64 = 2e-3;
/// What a result is spoiled with: as an f32 far from any result.
const STALE: u8 = 0x5e;

impl Lab<'_> {
    /// The kernel by workgroups of 1, 2, 4 ... 1024 threads.
    pub(super) fn workgroup_sweep(&self, bench: &mut Bench<'_>, deadline: Instant) -> End {
        let n = self.args.n.first().copied().unwrap_or(threads(self.caps()));
        let sizes: Vec<u32> = (0..=10).map(|power| 1 << power).collect();
        self.report.bar.inc_length(sizes.len() as u64);
        self.report.bar.set_message(format!("{}: workgroup-sweep", self.name()));
        let first = self.report.rows.borrow().len();
        let arithmetic = Arithmetic::new(self.backend, n);
        let arithmetic = match arithmetic.and_then(|a| Ok((a.turns(bench)?, a))) {
            Ok((turns, arithmetic)) => Arithmetic { turns, ..arithmetic },
            // One row for all.
            Err(error) => {
                self.report.bar.inc(sizes.len() as u64);
                let lost = matches!(error, Error::DeviceLost(_));
                let row = Row { verified: None, error: Some(error.to_string()), ..self.row(n, None) };
                self.report.add(row);
                return if lost { End::Lost } else { End::Done };
            }
        };
        // From the largest, which is the fastest: a slow device has those that matter before its time is up.
        for (i, &workgroup) in sizes.iter().rev().enumerate() {
            if interrupt::asked() {
                break;
            }
            if i > 3 && Instant::now() > deadline {
                self.report.bar.inc((sizes.len() - i) as u64);
                self.left_out(Experiment::WorkgroupSweep, sizes.len() - i);
                break;
            }
            let outcome = bench.guarded(self.row(n, Some(workgroup)), |bench, row| {
                let error = match arithmetic.measure(workgroup, bench, row) {
                    Err(error @ (Error::DeviceLost(_) | Error::OutOfMemory { .. })) => return Err(error),
                    Err(error) => error,
                    Ok(()) => return Ok(()),
                };
                // It did not run, so it is neither right nor wrong.
                (row.verified, row.error) = (None, Some(error.to_string()));
                Ok(())
            });
            self.report.bar.inc(1);
            if let Outcome::Lost(row) = outcome {
                self.report.add(*row);
                std::mem::forget(arithmetic);
                return End::Lost;
            }
            self.report.add(outcome.into_row());
        }
        self.infer(first);
        End::Done
    }

    fn row(&self, n: u64, workgroup: Option<u32>) -> Row {
        let mut row = jobs::blank(Experiment::WorkgroupSweep, self.caps().into());
        (row.primitive, row.algorithm) = ("compute".into(), "compute_bound".into());
        (row.scalar, row.operator, row.n) = (Scalar::F32.name().into(), None, n);
        row.tuning = workgroup.map(|threads| format!("workgroup={threads}"));
        row.subgroup_reported = reported(self.caps());
        row
    }

    /// Orders the rows from `first` on by workgroup, and enters what they tell.
    fn infer(&self, first: usize) {
        {
            let mut rows = self.report.rows.borrow_mut();
            let rows = &mut rows[first..];
            rows.reverse();
            let times: Vec<(u32, f64)> =
                rows.iter().filter_map(|row| Some((workgroup(row)?, row.median_ms?))).collect();
            let width = width(&times);
            rows.iter_mut().for_each(|row| row.subgroup_inferred = width);
        }
        self.report.write();
    }
}

fn workgroup(row: &Row) -> Option<u32> {
    row.tuning.as_deref()?.strip_prefix("workgroup=")?.parse().ok()
}

/// The width that times by workgroup size tell: the first size from which twice the threads are not [`FASTER`]. None if the
/// smallest were not measured, or the time falls to the end.
fn width(times: &[(u32, f64)]) -> Option<u32> {
    times.first().filter(|(threads, _)| *threads == 1)?;
    times.windows(2).find_map(|pair| {
        let [(threads, ms), (more, less_ms)] = pair else { return None };
        (*more == 2 * threads && ms / less_ms < FASTER).then_some(*threads)
    })
}

fn reported(caps: &Caps) -> Option<String> {
    let subgroups = caps.subgroups.filter(|s| s.source != SubgroupSource::Emulated)?;
    Some(match (subgroups.min, subgroups.max) {
        (min, max) if min == max => min.to_string(),
        (min, max) => format!("{min} to {max}"),
    })
}

/// The inferred widths beside the reported ones, a line a device.
pub fn said(rows: &[Row]) -> String {
    let mut lines: Vec<String> = vec![];
    for row in rows.iter().filter(|row| row.primitive == "compute" && row.median_ms.is_some()) {
        let inferred = match row.subgroup_inferred {
            Some(1) => "threads do not run in step".into(),
            Some(width) => format!("{width} threads run in step"),
            None => "the time tells no width".into(),
        };
        let reported = match &row.subgroup_reported {
            Some(width) => format!("the driver reports subgroups of {width}"),
            None => "the driver reports no subgroups".into(),
        };
        let device = crate::choose::line(&row.backend, &row.device, &row.api);
        let line = format!("{device}: {inferred}; {reported}\n");
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    if lines.is_empty() { String::new() } else { format!("\nworkgroup-sweep, by time\n{}", lines.concat()) }
}

/// As many threads as the Unity article has, or on software devices, which have few, fewer.
fn threads(caps: &Caps) -> u64 {
    match caps.kind {
        DeviceKind::Cpu => 1 << 14,
        _ => 256 * 1024,
    }
}

/// The kernel on a device, with where its results go.
struct Arithmetic<'a> {
    backend: &'a Device,
    n: u64,
    turns: u32,
    output: Span<Device>,
}

impl<'a> Arithmetic<'a> {
    fn new(backend: &'a Device, n: u64) -> Result<Self> {
        // What the device cannot do is refused before anything is allocated.
        plan::compute_bound(n, 1, 1, backend.caps())?;
        let output = backend.allocate((4 * n).max(16))?.slice(0, 4 * n)?;
        Ok(Arithmetic { backend, n, turns: PROBE_TURNS, output })
    }

    fn call(&self, workgroup: u32) -> Result<Call<Device>> {
        let plan = plan::compute_bound(self.n, self.turns, workgroup, self.backend.caps())?;
        // Nothing is read; a call has an input all the same.
        let spans = Spans::new(&self.output.slice(0, 0)?, &self.output);
        block_on(Prepared::of_plan(self.backend, plan))?.bind(&spans)
    }

    /// So many turns that the best workgroup takes long enough to be measured.
    fn turns(&self, bench: &Bench<'_>) -> Result<u32> {
        let caps = self.backend.caps();
        let mut row = jobs::blank(Experiment::WorkgroupSweep, caps.into());
        let ms = bench.time(&self.call(PROBE.min(caps.max_workgroup))?, &mut row)?;
        let turns = f64::from(PROBE_TURNS) * WANTED_MS / ms;
        Ok((turns as u32).clamp(16, if is_software(caps.kind) { 1 << 12 } else { 1 << 16 }))
    }

    fn measure(&self, workgroup: u32, bench: &Bench<'_>, row: &mut Row) -> Result<()> {
        let call = self.call(workgroup)?;
        let bytes = 4 * self.n as usize;
        if bytes > 0 {
            self.backend.write(&self.output, &vec![STALE; bytes])?;
        }
        call.run()?;
        self.backend.synchronize()?;
        row.error = self.wrong()?;
        row.verified = Some(row.error.is_none());
        let ms = bench.time(&call, row)?;
        // Turns of arithmetic a second.
        row.gelem_s = Some(self.n as f64 * f64::from(self.turns) / ms * 1e-6);
        row.scratch_bytes = Some(call.plan().scratch_bytes());
        Ok(())
    }

    /// What is wrong with the results, of which some, the first and the last among them, are held to the host's.
    fn wrong(&self) -> Result<Option<String>> {
        let mut got = vec![0f32; self.n as usize];
        if self.n > 0 {
            self.backend.read_blocking(&self.output, bytemuck::cast_slice_mut(&mut got))?;
        }
        let step = (got.len() / 61).max(1);
        let some = (0..got.len()).step_by(step).chain(got.len().checked_sub(1));
        let stray = got.iter().position(|x| !(-1.0..=1.0).contains(x));
        let wrong = stray.or_else(|| some.into_iter().find(|&i| !is_near(got[i], expected(i as u32, self.turns))));
        Ok(wrong.map(|i| format!("thread {i} has {}, and should have {}", got[i], expected(i as u32, self.turns))))
    }
}

fn is_near(got: f32, wanted: f64) -> bool {
    (f64::from(got) - wanted).abs() <= TOLERANCE
}

/// What `kernels/experiment/compute_bound` computes.
fn expected(index: u32, turns: u32) -> f64 {
    let angle = |turn: u32| f64::from(index.wrapping_add(turn.wrapping_mul(4099)) % 12345) * 0.000254 - 1.57;
    (0..turns).fold(0.0, |value: f64, turn| (value + angle(turn)).sin() / (value + 3.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_stops_falling_at_the_subgroups_width() {
        let falling = |until: u32| (0..=10).map(move |p| 1u32 << p).map(move |t| (t, 100.0 / f64::from(t.min(until))));
        for width in [1, 4, 8, 32, 64, 128] {
            assert_eq!(super::width(&falling(width).collect::<Vec<_>>()), Some(width));
        }
        assert_eq!(width(&falling(4096).collect::<Vec<_>>()), None);
        // The figures of the Unity article's GPUs stop at 32 and 64; a little less is noise.
        let article =
            [(1, 3500.0), (2, 1760.0), (4, 880.0), (8, 440.0), (16, 220.0), (32, 112.0), (64, 109.0), (128, 111.0)];
        assert_eq!(width(&article), Some(32));
        assert_eq!(width(&article[2..]), None);
        assert_eq!(width(&[]), None);
    }

    #[test]
    fn a_result_tells_the_thread_and_the_turns() {
        let value = expected(7, 500);
        assert!(is_near(value as f32, value) && !is_near(f32::from_ne_bytes([STALE; 4]), value));
        assert!(!is_near(expected(7, 499) as f32, value) && !is_near(expected(2500, 500) as f32, value));
        assert!((0..5000).all(|i| expected(i, 300).abs() < 0.5));
    }
}
