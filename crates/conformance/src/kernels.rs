//! Every kernel that the planner can ask a device for: for tests that compile or check texts, and need no device.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use trifold_core::{
    Builtin, Candidates, Caps, Element, ElementType, Error, Fault, Form, KernelKey, Layout, Op, Options, Order,
    Request, Rest, Scalar, ScanKind, ScanRequest, Segments, Selector, Tuning, Waiting, Wanted, planner,
};

use crate::operators;
use crate::table::{
    builtin, by_key, keeping, kept_otherwise, offsets, product, reduce, scan, select, sort, sorts_of_segments, top_k,
    top_k_of_segments, unsorted, value_types,
};

/// How many of the kernels that differ in type and operator alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breadth {
    /// All of them.
    Every,
    /// Some of each kind, where each is a compilation of a second.
    Some,
}

/// A kernel in a line.
pub fn describe(key: &KernelKey) -> String {
    let element = key.element.as_ref().map_or("", ElementType::name);
    let op = key.op.as_ref().map_or("", |op| &*op.name);
    let constants: String = key.constants.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    let image = key.image.as_ref().map_or(String::new(), |image| format!(" {image:?}"));
    format!("{} {element} {op} {:?}{constants}{image}", key.name(), key.parts)
}

/// The first of each kernel, with each list of blocks, over words, longer scalars and structs.
pub fn shapes(keys: &[KernelKey]) -> Vec<&KernelKey> {
    let mut seen = HashSet::new();
    let class = |element: &ElementType| match element {
        ElementType::Scalar(scalar) => (false, scalar.bytes(), scalar.is_float()),
        ElementType::Struct { .. } => (true, element.align(), false),
    };
    let shape = |key: &&KernelKey| {
        let element = key.element.as_ref().map(class);
        let image = key.image.as_ref().map(|image| (image.words(), image.bytes < 4));
        (key.name(), key.parts.clone(), element, image, key.selector.is_some())
    };
    keys.iter().filter(|key| seen.insert(shape(key))).collect()
}

/// Checks all of them, in two threads.
///
/// # Panics
/// With the first of those that failed, and how many did.
pub fn check_each<T: Sync>(what: &str, all: &[T], check: impl Fn(&T) -> std::result::Result<(), String> + Sync) {
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(vec![]));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = check(one) {
                        failures.lock().unwrap().push(why);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    let first = failures.iter().take(5).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(failures.is_empty(), "{what}: {} of {} are wrong; the first:\n\n{first}", failures.len(), all.len());
    eprintln!("{what}: {} kernels", all.len());
}

/// The distinct kernels of all plans for a device, whatever the layout, the options and the algorithm; those of experiments; and those that
/// tuning may choose instead.
///
/// # Panics
/// If a plan fails for another reason than that the device, or the layout, does not allow it.
pub fn kernels(caps: &Caps, breadth: Breadth) -> Vec<KernelKey> {
    let tuning = Tuning::of(caps);
    let (mut seen, mut keys) = (HashSet::new(), vec![]);
    for request in requests(breadth) {
        for (layout, options) in variants(&request, breadth) {
            for algorithm in planner::algorithms(&request, caps) {
                // The literature's kernels differ from the others in what is around the operator.
                if algorithm.is_reference && !is_typical(&request) {
                    continue;
                }
                let options = options.with(|options| options.algorithm = Some(algorithm));
                let plan = match planner::plan(&request, layout, options, caps, &tuning) {
                    Ok(plan) => plan,
                    // A type that the device lacks, a copy onto itself, more than can be bound.
                    Err(Error::Invalid(_) | Error::Unsupported(_)) => continue,
                    Err(error) => panic!("{request:?}, {layout:?}, {options:?}: {error}"),
                };
                let kernels = plan.launched().map(|launch| launch.kernel.clone());
                keys.extend(kernels.filter(|kernel| seen.insert(kernel.clone())));
            }
        }
    }
    let plans = [1, 32].map(|workgroup| planner::compute_bound(1_000_003, 100, workgroup, caps));
    for plan in plans.into_iter().flatten() {
        keys.extend(plan.launched().map(|launch| launch.kernel.clone()));
    }
    // Of some breadth those that are of other blocks.
    let mut blocks: HashSet<_> = keys.iter().map(|key| (key.name(), key.parts.clone())).collect();
    let candidates = candidates(caps, &tuning);
    let is_new = |key: &KernelKey| {
        let is_of_others = blocks.insert((key.name(), key.parts.clone()));
        seen.insert(key.clone()) && (is_of_others || breadth == Breadth::Every)
    };
    keys.extend(candidates.into_iter().filter(is_new));
    keys
}

/// The kernels that an algorithm launches for the first request that it takes, by its primitive's name and its own: `sort_keys/hybrid`.
pub fn kernels_by(name: &str, caps: &Caps) -> Vec<KernelKey> {
    let Some((primitive, name)) = name.split_once('/') else { return vec![] };
    let plan = |request: &Request| {
        let options = Options::by(request.algorithm(name).ok()?);
        planner::plan(request, Layout::default(), options, caps, &Tuning::of(caps)).ok()
    };
    let requests = requests(Breadth::Some);
    let plan = requests.iter().filter(|request| request.primitive() == primitive).find_map(plan);
    plan.map_or_else(Vec::new, |plan| plan.launched().map(|launch| launch.kernel.clone()).collect())
}

/// The kernels of the calls that tuning times, with each of its candidates.
fn candidates(caps: &Caps, tuning: &Tuning) -> Vec<KernelKey> {
    let mut keys = vec![];
    for subject in Candidates::all().into_iter().filter(|subject| subject.is_for(caps)) {
        let (Ok(request), options) = (subject.request(subject.size(1 << 26)), subject.options()) else { continue };
        for (name, value) in subject.each() {
            let mut tuning = tuning.clone();
            tuning.set(name, value).expect("candidates are within limits");
            // What the device does not have, or has too little of.
            let Ok(plan) = planner::plan(&request, Layout::default(), options, caps, &tuning) else { continue };
            keys.extend(plan.launched().map(|launch| launch.kernel.clone()));
        }
    }
    keys
}

fn operators(breadth: Breadth) -> Vec<Op> {
    let mut ops = operators::own().to_vec();
    ops.extend([Op::of::<operators::Wide, _>(operators::Widest), product()]);
    for scalar in Scalar::ALL {
        let wanted = |which: &Builtin| breadth == Breadth::Every || matches!(which, Builtin::Sum | Builtin::Min);
        ops.extend(Builtin::ALL.into_iter().filter(wanted).filter_map(|which| Op::builtin(which, scalar)));
    }
    if breadth == Breadth::Some {
        ops.extend([builtin(Builtin::Xor, Scalar::U32), builtin(Builtin::And, Scalar::U64)]);
    }
    ops
}

fn requests(breadth: Breadth) -> Vec<Request> {
    let n = 1_000_003;
    // Of scalars that are only moved the keys' own text differs, and no more: one of each size does where breadth is some.
    let differs =
        |scalar: &Scalar| breadth == Breadth::Every || matches!(scalar, Scalar::U8 | Scalar::F16 | Scalar::I128);
    let scalars: Vec<Scalar> = Scalar::ALL.into_iter().filter(|s| s.is_computed() || differs(s)).collect();
    // At least as programs offer them.
    let forms = Form::all().flat_map(|form| scalars.iter().map(|&scalar| form.request(scalar, Builtin::Sum, n)));
    let mut requests: Vec<_> = forms.flatten().collect();
    for op in operators(breadth) {
        requests.extend([ScanKind::Inclusive, ScanKind::Exclusive].map(|kind| scan(&op, kind, n)));
        requests.push(reduce(&op, n));
    }
    let values: Vec<_> = [None].into_iter().chain(value_types().map(Some)).collect();
    for &key in &scalars {
        // The values' text is the same whatever the keys are.
        let all = if breadth == Breadth::Every { key.is_computed() } else { matches!(key, Scalar::U32 | Scalar::U64) };
        for value in &values[..if all { values.len() } else { 2 }] {
            requests.extend([Order::Ascending, Order::Descending].map(|order| sort(key, value.clone(), order, n)));
            // Of one tile.
            requests.extend([Order::Ascending, Order::Descending].map(|order| sort(key, value.clone(), order, 500)));
        }
    }
    let is_held = |selector: &Selector| selector.element().bytes() < 4;
    let is_wanted = |selector: &Selector| {
        breadth == Breadth::Every
            || !is_held(selector)
            || [Scalar::I8, Scalar::F16].map(ElementType::from).contains(selector.element())
    };
    let selectors = operators::selectors().into_iter().filter(is_wanted);
    let neighbours = operators::first_of_runs().into_iter().take(if breadth == Breadth::Every { 7 } else { 4 });
    for selector in selectors.chain(operators::capturing_selectors()).chain(neighbours) {
        requests.extend([Rest::Dropped, Rest::Apart, Rest::Behind].map(|rest| select(&selector, rest, n)));
    }
    let others = kept_otherwise().into_iter().enumerate();
    let others = others.filter(|(i, _)| breadth == Breadth::Every || [0, 3, 6, 9].contains(i));
    requests.extend(others.map(|(_, (selector, keeps))| keeping(&selector, Rest::Dropped, keeps, n)));
    let ops = operators(Breadth::Some).into_iter().map(Some).chain([None]);
    let by_keys = ops.flat_map(|op| [u32::TYPE, u64::TYPE].map(|key| by_key(&key, op.clone(), n)));
    let wanted = |request: &Request| breadth == Breadth::Every || request.operands()[0].element == u32::TYPE;
    requests.extend(by_keys.filter(wanted));
    requests.extend([1, 100, 1000, 2000].map(|n| sort(Scalar::U32, None, Order::Ascending, n)));
    // Past the 65535 workgroups of one dimension, and with the tiles that many elements alone get.
    let float = builtin(Builtin::Sum, Scalar::F32);
    requests.push(sort(Scalar::U32, None, Order::Ascending, 1 << 30));
    requests.extend([scan(&float, ScanKind::Inclusive, 1 << 28), reduce(&float, 1 << 28)]);
    // As they stand: by a sample, by digits, and of all keys.
    let largest = |n| top_k(Scalar::F32, Wanted::KeysAndIndices, Order::Descending, 1000, n);
    requests.extend([1 << 22, 1 << 18, 1000].map(|n| unsorted(largest(n))));
    // Of so many keys that few are candidates, and so many wanted that each key has a flag.
    requests.extend(scalars.iter().map(|&key| top_k(key, Wanted::Keys, Order::Descending, 1000, 1 << 22)));
    let keys = [u8::TYPE, u32::TYPE, u64::TYPE, operators::Fields::TYPE, u128::TYPE];
    requests.extend(keys.map(|key| top_k(key, Wanted::Indices, Order::Descending, 1 << 22, 1 << 24)));
    // Of a few keys, of more than a workgroup has room for, of none, and of short rows.
    let firsts =
        [(offsets(300), 32, n), (offsets(300), 9000, n), (offsets(300), 32, 0), (Segments::Rows(20), 5, 20 * n)];
    requests.extend(firsts.into_iter().flat_map(|(by, k, n)| top_k_of_segments(by, k, n)));
    requests.extend(sorts_of_segments(n));
    // With the total beside it.
    let (op, kind) = (builtin(Builtin::Sum, Scalar::U32), ScanKind::Exclusive);
    requests.push(Request::Scan(ScanRequest { op, n, kind, initial: None, total: true }));
    // By fewer tiles than a window has lanes.
    requests.push(scan(&builtin(Builtin::Sum, Scalar::U32), ScanKind::Inclusive, 1 << 16));
    requests
}

/// The layouts and options that a request is planned with: all of them, or of some breadth all for a few requests and the
/// plainest for the others.
fn variants(request: &Request, breadth: Breadth) -> Vec<(Layout, Options)> {
    let computed = request.op().filter(|_| !request.counts());
    let thorough = computed.map_or(request.operands()[0].element == u32::TYPE, is_thorough);
    let mut variants = vec![];
    for wide in [true, false] {
        for in_place in [false, true] {
            for fault in [Fault::None, Fault::Silent(7), Fault::Late(5)] {
                if breadth == Breadth::Every || thorough || (!in_place && fault == Fault::None) {
                    let layout = Layout::default().with(|layout| {
                        layout.wide = wide;
                        layout.in_place = in_place;
                    });
                    variants.push((layout, Options::default().with(|options| options.fault = fault)));
                    let is_plainest = wide && !in_place && fault == Fault::None;
                    if is_plainest || breadth == Breadth::Every && fault == Fault::None {
                        variants.push((layout.with(|layout| layout.reads_length = true), Options::default()));
                    }
                }
            }
        }
    }
    if thorough {
        variants.push((Layout::default(), Options::default().with(|options| options.waiting = Waiting::Unbounded)));
    }
    variants
}

/// Whether a request is of the sum of a type, or of an operator of one's own.
fn is_typical(request: &Request) -> bool {
    let scanned = request.op().filter(|_| !request.counts());
    scanned.and_then(|op| op.builtin).is_none_or(|which| which == Builtin::Sum)
}

fn is_thorough(op: &Op) -> bool {
    *op == operators::compose() || (op.builtin == Some(Builtin::Sum) && [u32::TYPE, u64::TYPE].contains(op.element()))
}
