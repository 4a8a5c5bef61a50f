//! Repeated calls on a prepared plan: a backend is asked to compile, allocate, bind or wait for nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use trifold_core::{Backend, Call, Error, Options, Prepared, Request, Slot, SpansOf, Transfer, block_on, planner};

use crate::case::{Failure, Outcome, guarded};
use crate::table::requests;
use crate::watched::{Event, Watched};

const N: u64 = 5003;

/// Runs a bound call of each primitive by each algorithm but the literature's again and again, for other numbers of elements too: of the
/// backend it may ask for a recorder, and for it to be filled and submitted.
pub fn repeated_calls_only_run<B: Backend>(backend: B) -> Outcome {
    let asked = Asked::default();
    let counted = asked.clone();
    let watched = Watched::new(backend, move |event| {
        if let Event::Call(call) = event {
            *counted.lock().unwrap_or_else(PoisonError::into_inner).entry(call).or_default() += 1;
        }
    });
    guarded(|| requests(N).iter().try_for_each(|request| runs_alone(&watched, &asked, request)))
}

/// How often a backend was asked for what.
type Asked = Arc<Mutex<BTreeMap<&'static str, u32>>>;

fn runs_alone<B: Backend>(backend: &B, asked: &Asked, request: &Request) -> std::result::Result<(), Failure> {
    let words: Vec<u32> = (0..4 * N as u32).map(|i| i / 3).collect();
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
            Ok(prepared) => {
                runs_again(asked, &prepared.bind(&spans)?, &[N as usize; 3])?;
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
    let counts = || asked.lock().unwrap_or_else(PoisonError::into_inner).clone();
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
