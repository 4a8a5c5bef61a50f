//! What must hold for any input, tried with inputs by chance and narrowed down by proptest when it does not.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRng, TestRunner};
use trifold_core::{
    Backend, Builtin, Device, ElementType, Error, Options, Order, Request, Scalar, ScanKind, ScanRequest, Spans,
    SpansOf,
};
use trifold_cpu::oracle::{self, Given};

use crate::Outcome;
use crate::operators::{Affine, compose};
use crate::stage::{STALE, poisoned_call};
use crate::table::{builtin, reduce, scan, sort};

/// Tries each property with `cases` inputs:
///
/// - The scan of two halves is the halves' scans, the second of which starts from the first's total.
/// - A reduction is the last element of an inclusive scan.
/// - A sort is ordered, a permutation, and stable.
/// - A sort does not change the sum of its keys.
pub fn properties(backend: &Device, cases: u32) -> Outcome {
    // Each size is a plan of its own and each length a buffer; kernels are compiled once.
    let elements = || prop::collection::vec((any::<u32>(), any::<u32>()), 0..3000);
    let keys = || prop::collection::vec(prop_oneof![any::<u32>(), 0..4u32], 0..3000);
    let results = [
        attempt(cases, (elements(), any::<prop::sample::Index>()), |(xs, cut)| concatenation(backend, &xs, cut)),
        attempt(cases, elements(), |xs| last_of_scan(backend, &xs)),
        attempt(cases, (keys(), any::<bool>()), |(keys, down)| sorted(backend, &keys, down)),
        attempt(cases, keys(), |keys| sum_does_not_care_for_order(backend, &keys)),
    ];
    // One that the device cannot run hides none that fails.
    let is_failure = |result: &&Outcome| matches!(result, Outcome::Failed(_) | Outcome::Lost(_));
    let worst = results.iter().find(is_failure).or(results.iter().find(|result| **result != Outcome::Passed));
    worst.cloned().unwrap_or(Outcome::Passed)
}

/// Why a property does not hold, or could not be tried.
enum Broken {
    Error(Error),
    Fails(String),
}

impl From<Error> for Broken {
    fn from(error: Error) -> Broken {
        Broken::Error(error)
    }
}

/// Fails with a message that is made when it is needed.
fn hold(condition: bool, message: impl FnOnce() -> String) -> Result<(), Broken> {
    if condition { Ok(()) } else { Err(Broken::Fails(message())) }
}

fn attempt<S: Strategy>(cases: u32, strategy: S, property: impl Fn(S::Value) -> Result<(), Broken>) -> Outcome {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let mut unsupported = None;
    let cell = std::cell::RefCell::new(&mut unsupported);
    // The same inputs each time: a failure can be run again.
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(Default::default()));
    let result = runner.run(&strategy, |value| match property(value) {
        Ok(()) => Ok(()),
        Err(Broken::Error(Error::Unsupported(reason))) => {
            **cell.borrow_mut() = Some(reason);
            Ok(())
        }
        Err(Broken::Error(error)) => Err(TestCaseError::fail(error.to_string())),
        Err(Broken::Fails(message)) => Err(TestCaseError::fail(message)),
    });
    match (result, unsupported) {
        (Ok(()), None) => Outcome::Passed,
        (Ok(()), Some(reason)) => Outcome::Ignored(reason),
        (Err(TestError::Fail(reason, value)), _) => {
            let mut value = format!("{value:?}");
            value.truncate(value.char_indices().nth(400).map_or(value.len(), |(i, _)| i));
            Outcome::Failed(format!("{reason}; smallest input: {value}"))
        }
        (Err(TestError::Abort(reason)), _) => Outcome::Failed(reason.to_string()),
    }
}

/// What a request gives on whole buffers; outputs are as long as the inputs, but a reduction's.
fn call(
    backend: &Device,
    request: &Request,
    input: &[u8],
    values: Option<&[u8]>,
    output: usize,
) -> trifold_core::Result<Given> {
    let upload = |bytes: &[u8]| -> trifold_core::Result<_> {
        let span = backend.allocate(bytes.len() as u64)?;
        backend.write(&span, bytes)?;
        Ok(span)
    };
    let spans = SpansOf {
        input_values: values.map(upload).transpose()?,
        output_values: values.map(|values| upload(&vec![STALE; values.len()])).transpose()?,
        ..Spans::new(&upload(input)?, &upload(&vec![STALE; output])?)
    };
    let call = poisoned_call(backend, request, &spans, Options::default(), &backend.tuning(), Some(0xff))?;
    call.run()?;
    Given::read(backend, &spans)
}

fn affine(xs: &[(u32, u32)]) -> Vec<u8> {
    let xs: Vec<Affine> = xs.iter().map(|&(a, b)| Affine { a, b }).collect();
    bytemuck::cast_slice(&xs).to_vec()
}

fn concatenation(backend: &Device, xs: &[(u32, u32)], cut: prop::sample::Index) -> Result<(), Broken> {
    let cut = cut.index(xs.len() + 1);
    let scan_of = |part: &[(u32, u32)], initial: Option<Vec<u8>>| {
        let n = part.len() as u64;
        let request = Request::Scan(ScanRequest { op: compose(), n, kind: ScanKind::Inclusive, initial, total: false });
        Ok::<_, Error>(call(backend, &request, &affine(part), None, part.len() * 8)?.output)
    };
    let whole = scan_of(xs, None)?;
    let mut halves = scan_of(&xs[..cut], None)?;
    let total = (cut > 0).then(|| halves[halves.len() - 8..].to_vec());
    halves.extend(scan_of(&xs[cut..], total)?);
    hold(whole == halves, || format!("the scan of {} elements is not that of its halves, cut at {cut}", xs.len()))
}

fn last_of_scan(backend: &Device, xs: &[(u32, u32)]) -> Result<(), Broken> {
    let n = xs.len() as u64;
    let total = call(backend, &reduce(&compose(), n), &affine(xs), None, 8)?.output;
    let scanned = call(backend, &scan(&compose(), ScanKind::Inclusive, n), &affine(xs), None, xs.len() * 8)?.output;
    let last = scanned.last_chunk::<8>().map_or(compose().identity().to_vec(), |last| last.to_vec());
    hold(total == last, || format!("the reduction of {n} elements is not the end of their scan"))
}

fn sorted(backend: &Device, keys: &[u32], descending: bool) -> Result<(), Broken> {
    let order = if descending { Order::Descending } else { Order::Ascending };
    let request = sort(Scalar::U32, Some(ElementType::Scalar(Scalar::U32)), order, keys.len() as u64);
    let indices: Vec<u32> = (0..keys.len() as u32).collect();
    let bytes: &[u8] = bytemuck::cast_slice(keys);
    let values = Some(bytemuck::cast_slice(&indices));
    let given = call(backend, &request, bytes, values, bytes.len())?;
    oracle::expect(&request, oracle::Inputs::new(bytes, values)).check(&given, 0, STALE).map_err(Broken::Fails)
}

fn sum_does_not_care_for_order(backend: &Device, keys: &[u32]) -> Result<(), Broken> {
    let sum = reduce(&builtin(Builtin::Sum, Scalar::U32), keys.len() as u64);
    let total = |keys: &[u8]| Ok::<_, Error>(call(backend, &sum, keys, None, 4)?.output);
    let keys: &[u8] = bytemuck::cast_slice(keys);
    let request = sort(Scalar::U32, None, Order::Ascending, keys.len() as u64 / 4);
    let sorted = call(backend, &request, keys, None, keys.len())?.output;
    hold(total(keys)? == total(&sorted)?, || "a sort changed the sum of its keys".into())
}
