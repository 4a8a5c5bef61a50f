//! Repeated calls on a prepared plan: a backend is asked to compile, allocate, bind or wait for nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use trifold_core::{
    Backend, Builtin, Call, Element, Error, Options, Order, Prepared, Request, Rest, Scalar, ScanKind, Slot, SpansOf,
    Transfer, block_on, planner,
};

use crate::case::{Failure, Outcome, guarded};
use crate::operators;
use crate::table::{builtin, by_key, reduce, scan, select, sort};
use crate::watched::{Event, Watched};

const N: u64 = 5003;

/// Runs a bound call of each primitive by each algorithm but the literature's again and again: of the backend it may ask for a recorder,
/// and for it to be filled and submitted.
pub fn repeated_calls_only_run<B: Backend>(backend: B) -> Outcome {
    let asked = Asked::default();
    let counted = asked.clone();
    let watched = Watched::new(backend, move |event| {
        if let Event::Call(call) = event {
            *counted.lock().unwrap_or_else(PoisonError::into_inner).entry(call).or_default() += 1;
        }
    });
    guarded(|| requests().iter().try_for_each(|request| runs_alone(&watched, &asked, request)))
}

fn requests() -> Vec<Request> {
    let sum = builtin(Builtin::Sum, Scalar::U32);
    let mut requests = vec![
        scan(&sum, ScanKind::Exclusive, N),
        reduce(&sum, N),
        sort(Scalar::U32, None, Order::Ascending, N),
        sort(Scalar::U32, Some(u32::TYPE), Order::Descending, N),
        by_key(&u32::TYPE, Some(sum), N),
        by_key(&u32::TYPE, None, N),
    ];
    let [upper, ..] = operators::selectors();
    requests.extend([Rest::Dropped, Rest::Apart, Rest::Behind].map(|rest| select(&upper, rest, N)));
    requests
}

/// How often a backend was asked for what.
type Asked = Arc<Mutex<BTreeMap<&'static str, u32>>>;

fn runs_alone<B: Backend>(backend: &B, asked: &Asked, request: &Request) -> std::result::Result<(), Failure> {
    let words: Vec<u32> = (0..N as u32).map(|i| i / 3).collect();
    let buffers = [(); 5].map(|()| backend.upload(&words));
    let [from, to, values, moved, count] = buffers;
    let (from, to, values, moved, count) = (from?, to?, values?, moved?, count?);
    // Buffers are rounded up, and spans are as long as the request says.
    let spans = SpansOf::of(request, |operand| {
        let buffer = match operand.slot {
            Slot::Input => &from,
            Slot::Output => &to,
            Slot::InputValues => &values,
            Slot::Count => &count,
            _ => &moved,
        };
        buffer.span().slice(0, operand.bytes())
    })?;
    let layout = spans.layout_for(backend, request)?;
    let mut planned = 0;
    for algorithm in
        planner::algorithms(request, backend.caps()).into_iter().filter(|algorithm| !algorithm.is_reference)
    {
        let options = Options { algorithm: Some(algorithm), ..Options::default() };
        match block_on(Prepared::new(backend, request, layout, options)) {
            Ok(prepared) => runs_again(asked, &prepared.bind(&spans)?)?,
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

fn runs_again<B: Backend>(asked: &Asked, call: &Call<B>) -> std::result::Result<(), Failure> {
    call.run()?;
    let counts = || asked.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let before = counts();
    for _ in 0..3 {
        call.run()?;
    }
    let mut asked = counts();
    call.device().synchronize()?;
    asked.iter_mut().for_each(|(call, times)| *times -= before.get(call).copied().unwrap_or_default());
    asked.retain(|_, times| *times > 0);
    match asked == BTreeMap::from([("run", 3)]) {
        true => Ok(()),
        false => {
            let algorithm = call.plan().algorithm();
            Err(Failure::Wrong(format!("three calls by {algorithm} asked for {asked:?}")))
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
