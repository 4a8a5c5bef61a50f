//! Repeated calls on a prepared plan: a backend is asked to compile, allocate, bind or wait for nothing.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use trifold_core::algorithm::scan::LOOKBACK;
use trifold_core::{
    Backend, Call, Error, Histogram, Language, Max, NonZero, Options, Prepared, Reduce, ReduceByKey, Request, Scan,
    Select, Sort, SpansOf, Sum, Summary, TopK, Transfer, Unique, UpperHalf, block_on, planner,
};

use crate::case::{Failure, Outcome, guarded};
use crate::table::requests;
use crate::watched::{Event, Watched};

const N: u64 = 5003;

/// Runs bound calls again and again, also for other numbers of elements: each primitive by each algorithm but the
/// literature's.
///
/// All that a run may ask of the backend is a recorder, and that it be filled and submitted. Where the number of
/// elements is on the device, a call asks for nothing that waits, or that moves bytes to or from the host.
pub fn repeated_calls_only_run<B: Backend + Scan + Reduce + Sort>(backend: B) -> Outcome {
    let asked = Asked::default();
    let counted = asked.clone();
    let fails = Arc::new(AtomicBool::new(false));
    let next = fails.clone();
    let watched = Watched::new(backend, move |event| match event {
        Event::Call(call) => *counted.calls().entry(call).or_default() += 1,
        Event::Run { fails } => *fails = next.swap(false, Ordering::Relaxed),
        _ => {}
    });
    let alive = watched.alive();
    let outcome = guarded(|| {
        requests(N).iter().try_for_each(|request| runs_alone(&watched, &asked, request))?;
        counts_stay(&watched, &asked)?;
        counts_of_runs_stay(&watched, &asked)?;
        once_more(&watched, &asked)?;
        labelled(&watched, &asked)?;
        prepared_in_a_capture(&watched, &asked)?;
        cleared_behind_a_failure(&watched, &asked, &fails)
    });
    drop(watched);
    // No buffer and no call is left.
    match alive.strong_count() {
        0 => outcome,
        left if outcome == Outcome::Passed => Outcome::Failed(format!("{left} handles outlive the device")),
        _ => outcome,
    }
}

/// Calls that run once allocate, plan and compile the first time alone: the next, on other memory, are bound and run.
fn once_more<B: Backend + Scan + Reduce + Sort>(gpu: &B, asked: &Asked) -> std::result::Result<(), Failure> {
    let n = N as usize;
    let buffers = (0..4).map(|i| gpu.upload(&(i..i + N as u32).map(|v| v / 3).collect::<Vec<_>>()));
    let all = buffers.collect::<trifold_core::Result<Vec<_>>>()?;
    let (to, rest, one) = (gpu.alloc(n)?, gpu.alloc(n)?, gpu.alloc(1)?);
    let (offsets, sums) = (gpu.upload(&[0u32, 30, 2000, N as u32])?, gpu.alloc(3)?);
    for (turn, x) in all.iter().enumerate() {
        let calls = [
            ("scan", gpu.inclusive_scan(x, Sum).to(&to)),
            ("scan", gpu.inclusive_scan(x, Max).to(&to)),
            ("reduce", gpu.reduce(x, Sum).to(&one)),
            ("sort", gpu.sort(x).to(&to)),
            ("sort", gpu.sort(x).with(x).descending().to((&to, &rest))),
            ("select", gpu.select(x, UpperHalf).to(&to)),
            ("partition", gpu.partition(x, UpperHalf).to_one(&to)),
            ("reduce by key", gpu.reduce_by_key(x, x, Sum).to((&to, &rest))),
            ("run lengths", gpu.run_length_encode(x).to((&to, &rest))),
            ("copy", gpu.copy(x).to(&to)),
            ("unique", gpu.unique(x).to(&to)),
            ("unique by key", gpu.unique_by_key(x, x).to((&to, &rest))),
            ("selection by flags", gpu.select_flagged(x, x).to(&to)),
            ("find all", gpu.find_all(x, UpperHalf).to(&to)),
            ("scan by key", gpu.inclusive_scan_by_key(x, x, Sum).to(&to)),
            ("segmented reduce", gpu.reduce(x, Sum).segments(&offsets).to(&sums)),
            ("segmented scan", gpu.inclusive_scan(x, Sum).segments(&offsets).to(&to)),
            ("segmented sort", gpu.sort(x).segments(&offsets).to(&to)),
            ("top_k", gpu.top_k(x, 3).to(&sums)),
            ("segmented top_k", gpu.top_k(x, 1).segments(&offsets).to(&sums)),
            ("nth_element", gpu.nth_element(x, 3).to(&one)),
            ("arg_min", gpu.arg_min(x).to(&one)),
            ("histogram", gpu.histogram(x, 3).to(&sums)),
            ("adjacent difference", gpu.adjacent_difference(x).to(&to)),
        ];
        for (what, call) in calls {
            asked.calls().clear();
            call.run()?;
            let asked = asked.calls();
            let is_free = gpu.caps().language == Language::Host || *asked == BTreeMap::from([("bind", 1), ("run", 1)]);
            if turn > 0 && !is_free {
                return Err(Failure::Wrong(format!("a {what} that has run before asked for {asked:?}")));
            }
        }
    }
    Ok(())
}

/// Each primitive, of as many elements as the one before it leaves, which the host never learns on the way.
fn counts_stay<B: Backend + Scan + Reduce + Sort>(gpu: &B, asked: &Asked) -> std::result::Result<(), Failure> {
    let x = gpu.upload(&(0..N as u32).map(|i| (i / 3).wrapping_mul(0x9e37_79b9)).collect::<Vec<_>>())?;
    let total = gpu.alloc(1)?;
    asked.calls().clear();
    let kept = gpu.select(&x, UpperHalf).compact()?;
    let sorted = gpu.sort(&kept).compact()?;
    let (keys, lengths) = gpu.run_length_encode(&sorted).compact()?;
    let sums = gpu.inclusive_scan(&lengths, Sum).compact()?;
    gpu.sort(&keys).with(&sums).descending().in_place().run()?;
    let (_, totals) = gpu.reduce_by_key(&keys, &sums, Max).compact()?;
    let copied = gpu.copy(&totals).compact()?;
    let (few, rest) = (gpu.alloc(N as usize)?, gpu.alloc(N as usize)?);
    gpu.partition(&copied, UpperHalf).to((&few, &rest)).run()?;
    gpu.reduce(&rest, Max).len_on_device(copied.count()).to(&total).run()?;
    asked.nothing_that_waits()?;
    let all = kept.len()? as u32;
    match total.read()? == [all] && all > 1000 {
        true => Ok(()),
        false => Err(Failure::Wrong(format!("{:?} of {all} elements in all", total.read()?))),
    }
}

/// The same of what counts and compares runs, and of what gives as many as the host says.
fn counts_of_runs_stay<B: Backend + Scan + Reduce + Sort>(gpu: &B, asked: &Asked) -> std::result::Result<(), Failure> {
    let x = gpu.upload(&(0..N as u32).map(|i| i / 3).collect::<Vec<_>>())?;
    let (counts, largest, offsets, sums) = (gpu.alloc(3)?, gpu.alloc(2)?, gpu.upload(&[0u32, 3, 3, 5])?, gpu.alloc(3)?);
    let nth = gpu.alloc(1)?;
    asked.calls().clear();
    // 0, 1, 2 and so on, of which all but the first are found, at 1, 2, 3 and so on.
    let firsts = gpu.unique(&x).compact()?;
    let found = gpu.find_all(&firsts, NonZero).compact()?;
    let (keys, values) = gpu.unique_by_key(&found, &found).compact()?;
    let flagged = gpu.select_flagged(&keys, &values).compact()?;
    let scanned = gpu.inclusive_scan_by_key(&flagged, &flagged, Sum).compact()?;
    gpu.histogram(&gpu.adjacent_difference(&scanned).compact()?, 3).to(&counts).run()?;
    gpu.top_k(&scanned, 2).to(&largest).run()?;
    gpu.nth_element(&scanned, 6).to(&nth).run()?;
    gpu.reduce(&scanned, Sum).segments(&offsets).to(&sums).run()?;
    asked.nothing_that_waits()?;
    let most = (N as u32).div_ceil(3) - 1;
    let found = [counts.read()?, largest.read()?, nth.read()?, sums.read()?];
    let wanted = [vec![0, most, 0], vec![most, most - 1], vec![7], vec![6, 0, 9]];
    match found == wanted {
        true => Ok(()),
        false => {
            Err(Failure::Wrong(format!("counts, the largest, the seventh and sums are {found:?}, not {wanted:?}")))
        }
    }
}

/// A label is around a call's commands, whether it is run or recorded.
fn labelled<B: Backend + Reduce>(gpu: &B, asked: &Asked) -> std::result::Result<(), Failure> {
    let (x, total) = (gpu.upload(&[3_u32, 1, 4])?, gpu.alloc(1)?);
    let call = gpu.reduce(&x, Sum).to(&total).label("a sum").prepare()?;
    asked.calls().clear();
    call.run()?;
    let mut recorder = gpu.record()?;
    call.encode(&mut recorder)?;
    gpu.submit(recorder)?;
    let asked = asked.calls().clone();
    let each = ["record", "begin a label", "execute", "end a label", "submit"];
    match (asked == each.into_iter().map(|call| (call, 2)).collect(), total.read()?) {
        (true, total) if total == [8] => Ok(()),
        (_, total) => Err(Failure::Wrong(format!("labelled calls asked for {asked:?}, and gave {total:?}"))),
    }
}

/// A graph may never run, so that nothing which a call needs may become part of it.
fn prepared_in_a_capture<B: Backend + Scan>(gpu: &Watched<B>, asked: &Asked) -> std::result::Result<(), Failure> {
    let x = gpu.upload(&vec![1u32; N as usize])?;
    let sums = gpu.alloc(N as usize)?;
    asked.calls().clear();
    let call = gpu.captured().inclusive_scan(&x, Sum).to(&sums).prepare()?;
    let asked = asked.calls().clone();
    if asked.contains_key("run") {
        return Err(Failure::Wrong(format!("a call that was prepared in a capture asked for {asked:?}")));
    }
    for _ in 0..3 {
        call.run()?;
        if !sums.read()?.into_iter().eq(1..=N as u32) {
            return Err(Failure::Wrong("a call that was prepared in a capture gave wrong sums".into()));
        }
    }
    Ok(())
}

/// A run that failed may have left states that are no run's: the next one clears them.
fn cleared_behind_a_failure<B: Backend + Scan>(
    gpu: &Watched<B>,
    asked: &Asked,
    fails: &AtomicBool,
) -> std::result::Result<(), Failure> {
    let (x, sums) = (gpu.upload(&vec![1u32; N as usize])?, gpu.alloc(N as usize)?);
    let scan = gpu.inclusive_scan(&x, Sum).to(&sums).by(&LOOKBACK);
    if !planner::algorithms(scan.request(), gpu.caps()).contains(&&LOOKBACK) {
        return Ok(());
    }
    let call = scan.prepare()?;
    fails.store(true, Ordering::Relaxed);
    if call.run().is_ok() {
        return Err(Failure::Wrong("a run whose backend failed did not".into()));
    }
    let mut recorder = gpu.record()?;
    for (what, submissions) in [("first", 2), ("next", 1)] {
        asked.calls().clear();
        call.encode(&mut recorder)?;
        call.run()?;
        let asked = asked.calls().clone();
        if asked != BTreeMap::from([("execute", submissions), ("run", submissions)]) {
            return Err(Failure::Wrong(format!(
                "the {what} run and recording behind one that failed asked for {asked:?}"
            )));
        }
    }
    gpu.submit(recorder)?;
    match sums.read()?.into_iter().eq(1..=N as u32) {
        true => Ok(()),
        false => Err(Failure::Wrong("a run behind one that failed gave wrong sums".into())),
    }
}

/// How often a backend was asked for what.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<BTreeMap<&'static str, u32>>>);

impl Asked {
    fn calls(&self) -> MutexGuard<'_, BTreeMap<&'static str, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails if it was asked for what waits, or moves bytes to or from the host.
    fn nothing_that_waits(&self) -> std::result::Result<(), Failure> {
        let calls = self.calls();
        let waits = ["read", "write", "synchronize", "time"].into_iter().filter(|call| calls.contains_key(call));
        match waits.collect::<Vec<_>>() {
            waits if waits.is_empty() => Ok(()),
            waits => Err(Failure::Wrong(format!("calls of counts on the device asked for {waits:?}"))),
        }
    }
}

fn runs_alone<B: Backend>(backend: &B, asked: &Asked, request: &Request) -> std::result::Result<(), Failure> {
    let words: Vec<u32> = (0..4 * N as u32).map(|i| i / 3).collect();
    // Buffers are rounded up, and spans are as long as the request says.
    let spans = SpansOf::of(request, |operand| backend.upload(&words)?.span().slice(0, operand.bytes()))?;
    let layout = spans.layout_for(backend, request)?;
    let length = backend.upload(&[1000])?;
    let mut planned = 0;
    for algorithm in
        planner::algorithms(request, backend.caps()).into_iter().filter(|algorithm| !algorithm.is_reference)
    {
        let options = Options::by(algorithm);
        match block_on(Prepared::new(backend, request, layout, options)) {
            Ok(prepared) => {
                runs_again(asked, &prepared.bind(&spans)?, &[N as usize; 3])?;
                let counted = spans.clone().with_length(length.span());
                let reads = counted.layout_for(backend, request)?;
                let counted = block_on(Prepared::new(backend, request, reads, options))?.bind(&counted)?;
                runs_again(asked, &counted, &[N as usize; 3])?;
                let tuning = backend.tuning();
                let sized = block_on(Prepared::up_to(backend, request, layout, options, &tuning))?;
                runs_again(asked, &sized.bind(&spans)?, &[N as usize, 0, 1, 700, 1500, N as usize])?;
            }
            // More elements than one tile, or a tile that the device has no room for.
            Err(Error::Unsupported(_)) => continue,
            Err(error) => return Err(error.into()),
        }
        planned += 1;
    }
    match planned {
        0 => Err(Failure::Wrong(format!("no algorithm has a plan for {}", request.primitive()))),
        _ => Ok(()),
    }
}

fn runs_again<B: Backend>(asked: &Asked, call: &Call<B>, sizes: &[usize]) -> std::result::Result<(), Failure> {
    call.run()?;
    let counts = || asked.calls().clone();
    let before = counts();
    let mut recorder = call.device().record()?;
    for &n in sizes {
        call.run_n(n)?;
        call.encode_n(&mut recorder, n)?;
    }
    call.device().submit(recorder)?;
    let mut asked = counts();
    call.device().synchronize()?;
    asked.iter_mut().for_each(|(call, times)| *times -= before.get(call).copied().unwrap_or_default());
    asked.retain(|_, times| *times > 0);
    let each = sizes.len() as u32;
    match asked == BTreeMap::from([("record", 1), ("run", each), ("execute", each), ("submit", 1)]) {
        true => Ok(()),
        false => {
            let algorithm = call.plan().algorithm();
            Err(Failure::Wrong(format!("calls by {algorithm} of {sizes:?} elements asked for {asked:?}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processors_calls_only_run() {
        assert_eq!(repeated_calls_only_run(trifold_cpu::Cpu::with_threads(2).unwrap()), Outcome::Passed);
    }
}
