//! Calls that must be refused: an error of the right kind, no panic, no hang, and the backend usable afterwards.

use std::borrow::Cow;

use trifold_core::algorithm::{reduce as reduce_by, sort as sort_by};
use trifold_core::{
    Backend, Builtin, Call, Caps, CopyRequest, Device, ElementType, Error, Gives, Language, Layout, MAX_ELEMENTS, Map,
    OneOutput, Op, Options, Order, Prepared, Request, Rest, Scalar, Scan, ScanKind, ScanRequest, Segments, Selector,
    Sort, Span, Spans, Sum, Transfer, Wanted, block_on,
};

use crate::case::{Failure, Outcome, guarded};
use crate::operators;
use crate::row::Row;
use crate::stage::check_row;
use crate::table::{
    builtin, by_key, histogram, offsets, reduce, scan, segmented, select, sort, top_k, top_k_of, value_types, weighted,
};

macro_rules! refusals {
    (everywhere { $($Everywhere:ident,)* } in_kernels { $($InKernels:ident,)* }) => {
        /// Something that a caller may get wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Refusal {
            $($Everywhere,)*
            $($InKernels,)*
        }

        const EVERYWHERE: &[Refusal] = &[$(Refusal::$Everywhere),*];
        /// The host runs the Rust twin, and never sees the text. It has one algorithm, which keeps the order.
        const IN_KERNELS: &[Refusal] = &[$(Refusal::$InKernels),*];
    };
}

refusals! {
    everywhere {
        OutputTooShort,
        OutputTooLong,
        ReduceOutput,
        ValuesMissing,
        ValuesTooShort,
        ValuesOfKeys,
        Overlap,
        KeysOverValues,
        HalfInPlace,
        CopyOntoItself,
        BetweenElements,
        TooMany,
        TooLargeForMemory,
        AllocTooMuch,
        ScanByOnesweep,
        MoreThanOneTile,
        MoreThanMergeTile,
        InitialSize,
        PastTheEnd,
        WriteLength,
        ReadLength,
        CountMissing,
        CountOverOutput,
        CountBetweenElements,
        RestMissing,
        RestTooShort,
        RestOverInput,
        RestOverOutput,
        RestDropped,
        CountOfScan,
        SelectTooMany,
        SelectOutputTooShort,
        SelectByOnesweep,
        ByKeyInPlace,
        ByKeyTooMany,
        ByKeyOutputTooShort,
        ByKeyValuesMissing,
        ByKeyValuesTooShort,
        ByKeyValuesOverKeys,
        ByKeyCountMissing,
        ByKeyCountOverTotals,
        ByKeyByOnesweep,
        ByKeyNameTaken,
        LengthsMissing,
        LengthsTooShort,
        SegmentsOntoElements,
        SegmentsTooMany,
        SegmentsOffsetsMissing,
        HistogramOntoElements,
        HistogramNoBins,
        HistogramTooManyBins,
        HistogramWeights,
        FirstsTooMany,
    }
    in_kernels {
        OutOfOrder,
        OperatorSyntax,
        OperatorName,
        OperatorType,
        OperatorMissing,
        ByKeyOperatorSyntax,
        ByKeyOperatorType,
        ByKeyOperatorMissing,
        PredicateSyntax,
        PredicateType,
        MapSyntax,
        MapType,
        ThenSyntax,
        ThenType,
    }
}

/// The kinds of error that are right for a mistake.
#[derive(Clone, Copy, PartialEq)]
enum ErrorKind {
    Invalid,
    InvalidOrMemory,
    Unsupported,
    Operator,
}

impl ErrorKind {
    fn takes(self, error: &Error) -> bool {
        match self {
            ErrorKind::Invalid => matches!(error, Error::Invalid(_)),
            ErrorKind::InvalidOrMemory => matches!(error, Error::Invalid(_) | Error::OutOfMemory { .. }),
            ErrorKind::Unsupported => matches!(error, Error::Unsupported(_)),
            ErrorKind::Operator => matches!(error, Error::Operator { .. }),
        }
    }
}

impl Refusal {
    pub(crate) fn all(caps: &Caps) -> Vec<Refusal> {
        let in_kernels = if caps.language == Language::Host { &[] } else { IN_KERNELS };
        [EVERYWHERE, in_kernels].concat()
    }

    /// Its name, in snake case.
    pub(crate) fn name(self) -> String {
        let mut name = String::new();
        for c in format!("{self:?}").chars() {
            if c.is_uppercase() && !name.is_empty() {
                name.push('_');
            }
            name.push(c.to_ascii_lowercase());
        }
        name
    }

    fn kind(self) -> ErrorKind {
        match self {
            Refusal::ScanByOnesweep
            | Refusal::MoreThanOneTile
            | Refusal::MoreThanMergeTile
            | Refusal::OutOfOrder
            | Refusal::SelectByOnesweep
            | Refusal::ByKeyByOnesweep
            | Refusal::HistogramWeights => ErrorKind::Unsupported,
            Refusal::AllocTooMuch => ErrorKind::InvalidOrMemory,
            Refusal::OperatorSyntax
            | Refusal::OperatorName
            | Refusal::OperatorType
            | Refusal::OperatorMissing
            | Refusal::ByKeyNameTaken
            | Refusal::ByKeyOperatorSyntax
            | Refusal::ByKeyOperatorType
            | Refusal::ByKeyOperatorMissing
            | Refusal::PredicateSyntax
            | Refusal::PredicateType
            | Refusal::MapSyntax
            | Refusal::MapType
            | Refusal::ThenSyntax
            | Refusal::ThenType => ErrorKind::Operator,
            _ => ErrorKind::Invalid,
        }
    }

    pub(crate) fn check(self, backend: &Device) -> Result<(), Failure> {
        match self.attempt(backend) {
            Ok(()) => return Err(Failure::Wrong("was accepted".into())),
            Err(error) if self.kind().takes(&error) => {}
            Err(error) => return Err(Failure::Wrong(format!("was refused by the wrong kind of error: {error:?}"))),
        }
        // What follows a refused call still runs.
        let op = builtin(Builtin::Sum, Scalar::U32);
        check_row(backend, &Row::new(scan(&op, ScanKind::Inclusive, 100)))
    }

    fn attempt(self, backend: &Device) -> trifold_core::Result<()> {
        let sum = builtin(Builtin::Sum, Scalar::U32);
        let [v4, ..] = value_types();
        let (a, b) = (backend.allocate(4096)?, backend.allocate(4096)?);
        let (c, d) = (backend.allocate(4096)?, backend.allocate(4096)?);
        let bytes = |span: &Span<Device>, offset, count| span.slice(offset, count).expect("4096 bytes are enough");
        let words = |span, start: u64, count: u64| bytes(span, 4 * start, 4 * count);
        let two = |input, output| Spans::new(&input, &output);
        let n = 100;
        let hundred = |buffer| words(buffer, 0, n);
        let scan_n = scan(&sum, ScanKind::Inclusive, n);
        let pairs = sort(Scalar::U32, Some(v4.clone()), Order::Ascending, n);
        let upper = Selector::of::<u32, _>(operators::Upper);
        let (kept, split) = (select(&upper, Rest::Dropped, n), select(&upper, Rest::Apart, n));
        let runs = by_key(&v4, Some(sum.clone()), n);
        let lengths = by_key(&v4, None, n);
        let with_values = |input, output, from, to| Spans::new(&input, &output).with_values(&from, &to);
        match self {
            Refusal::OutputTooShort => go(backend, &scan_n, two(hundred(&a), words(&b, 0, 99))),
            Refusal::OutputTooLong => go(backend, &scan_n, two(hundred(&a), words(&b, 0, 101))),
            Refusal::ReduceOutput => go(backend, &reduce(&sum, n), two(hundred(&a), words(&b, 0, 2))),
            Refusal::ValuesMissing => go(backend, &pairs, two(hundred(&a), hundred(&b))),
            Refusal::ValuesTooShort => {
                go(backend, &pairs, with_values(hundred(&a), hundred(&b), words(&c, 0, 50), hundred(&d)))
            }
            Refusal::ValuesOfKeys => {
                let keys = sort(Scalar::U32, None, Order::Ascending, n);
                go(backend, &keys, with_values(hundred(&a), hundred(&b), hundred(&c), hundred(&d)))
            }
            Refusal::Overlap => go(backend, &scan_n, two(hundred(&a), words(&a, 1, n))),
            Refusal::KeysOverValues => {
                go(backend, &pairs, with_values(hundred(&a), hundred(&b), hundred(&c), words(&b, 99, n)))
            }
            Refusal::HalfInPlace => {
                go(backend, &pairs, with_values(hundred(&a), hundred(&a), hundred(&c), hundred(&d)))
            }
            Refusal::CopyOntoItself => {
                go(backend, &Request::Copy(CopyRequest { element: v4.clone(), n }), two(hundred(&a), hundred(&a)))
            }
            Refusal::BetweenElements => go(backend, &scan_n, two(bytes(&a, 2, 4 * n), hundred(&b))),
            Refusal::TooMany => {
                go(backend, &scan(&sum, ScanKind::Inclusive, MAX_ELEMENTS + 1), two(hundred(&a), hundred(&b)))
            }
            Refusal::TooLargeForMemory => {
                // The most elements of the largest type: 64 GiB, or as much as makes the spans too short.
                let op = operators::compose();
                go(backend, &scan(&op, ScanKind::Inclusive, MAX_ELEMENTS), two(hundred(&a), hundred(&b)))
            }
            Refusal::AllocTooMuch => {
                backend.allocate(u64::MAX - 3)?;
                Ok(())
            }
            Refusal::ScanByOnesweep => {
                let options = Options::by(&sort_by::ONESWEEP);
                with_options(backend, &scan_n, two(hundred(&a), hundred(&b)), options)
            }
            Refusal::MoreThanOneTile | Refusal::MoreThanMergeTile => {
                let is_merged = self == Refusal::MoreThanMergeTile;
                let algorithm = Some(if is_merged { &sort_by::MERGE_TILE } else { &sort_by::ONE_TILE });
                let count = 20_000;
                let (from, to) = (backend.allocate(4 * count)?, backend.allocate(4 * count)?);
                let options = Options::default().with(|options| options.algorithm = algorithm);
                let request = sort(Scalar::U32, None, Order::Ascending, count);
                with_options(backend, &request, two(words(&from, 0, count), words(&to, 0, count)), options)
            }
            Refusal::OutOfOrder => {
                let options = Options::by(&reduce_by::SEQUENTIAL);
                let request = reduce(&operators::compose(), n / 2);
                with_options(backend, &request, two(hundred(&a), words(&b, 0, 2)), options)
            }
            Refusal::InitialSize => {
                let initial = Some(vec![0; 3]);
                let request =
                    Request::Scan(ScanRequest { op: sum, n, kind: ScanKind::Inclusive, initial, total: false });
                go(backend, &request, two(hundred(&a), hundred(&b)))
            }
            Refusal::PastTheEnd => a.slice(4000, 4 * n).map(drop),
            Refusal::WriteLength => backend.write(&hundred(&a), &[0; 16]),
            Refusal::ReadLength => backend.read_blocking(&hundred(&a), &mut [0; 16]),
            Refusal::CountMissing => go(backend, &kept, two(hundred(&a), hundred(&b))),
            Refusal::CountOverOutput => go(backend, &kept, two(hundred(&a), hundred(&b)).with_count(&words(&b, 99, 1))),
            Refusal::CountBetweenElements => {
                go(backend, &kept, two(hundred(&a), hundred(&b)).with_count(&bytes(&c, 2, 4)))
            }
            Refusal::RestMissing => go(backend, &split, two(hundred(&a), hundred(&b)).with_count(&words(&c, 0, 1))),
            Refusal::RestOverInput => {
                let spans = two(hundred(&a), hundred(&b)).with_rest(&words(&a, 99, n));
                go(backend, &split, spans.with_count(&words(&c, 0, 1)))
            }
            Refusal::RestTooShort => {
                let spans = two(hundred(&a), hundred(&b)).with_rest(&words(&c, 0, 99));
                go(backend, &split, spans.with_count(&words(&d, 0, 1)))
            }
            Refusal::RestOverOutput => {
                let spans = two(hundred(&a), hundred(&b)).with_rest(&words(&b, 99, n));
                go(backend, &split, spans.with_count(&words(&d, 0, 1)))
            }
            Refusal::RestDropped => {
                let spans = two(hundred(&a), hundred(&b)).with_rest(&hundred(&c));
                go(backend, &kept, spans.with_count(&words(&d, 0, 1)))
            }
            Refusal::CountOfScan => go(backend, &scan_n, two(hundred(&a), hundred(&b)).with_count(&words(&c, 0, 1))),
            Refusal::SelectTooMany => {
                let request = select(&upper, Rest::Dropped, MAX_ELEMENTS + 1);
                go(backend, &request, two(hundred(&a), hundred(&b)).with_count(&words(&c, 0, 1)))
            }
            Refusal::SelectOutputTooShort => {
                go(backend, &kept, two(hundred(&a), words(&b, 0, 50)).with_count(&words(&c, 0, 1)))
            }
            Refusal::SelectByOnesweep => {
                let options = Options::by(&sort_by::ONESWEEP);
                let spans = two(hundred(&a), hundred(&b)).with_count(&words(&c, 0, 1));
                with_options(backend, &kept, spans, options)
            }
            Refusal::ByKeyTooMany => {
                let spans = with_values(hundred(&a), hundred(&b), hundred(&c), hundred(&d));
                let request = by_key(&v4, Some(sum), MAX_ELEMENTS + 1);
                go(backend, &request, spans.with_count(&words(&d, n, 1)))
            }
            Refusal::ByKeyOutputTooShort => {
                let spans = with_values(hundred(&a), words(&b, 0, 50), hundred(&c), hundred(&d));
                go(backend, &runs, spans.with_count(&words(&d, n, 1)))
            }
            Refusal::ByKeyValuesTooShort => {
                let spans = with_values(hundred(&a), hundred(&b), words(&c, 0, 99), hundred(&d));
                go(backend, &runs, spans.with_count(&words(&d, n, 1)))
            }
            Refusal::ByKeyValuesOverKeys => {
                let spans = with_values(hundred(&a), hundred(&b), hundred(&c), words(&b, 99, n));
                go(backend, &runs, spans.with_count(&words(&d, 0, 1)))
            }
            Refusal::ByKeyCountOverTotals => {
                let spans = with_values(hundred(&a), hundred(&b), hundred(&c), hundred(&d));
                go(backend, &runs, spans.with_count(&words(&d, 99, 1)))
            }
            Refusal::ByKeyByOnesweep => {
                let options = Options::by(&sort_by::ONESWEEP);
                let spans = with_values(hundred(&a), hundred(&b), hundred(&c), hundred(&d));
                with_options(backend, &runs, spans.with_count(&words(&d, n, 1)), options)
            }
            Refusal::LengthsMissing => {
                go(backend, &lengths, two(hundred(&a), hundred(&b)).with_count(&words(&d, 0, 1)))
            }
            Refusal::LengthsTooShort => {
                let spans = with_values(hundred(&a), hundred(&b), words(&c, 0, 0), words(&d, 0, 99));
                go(backend, &lengths, spans.with_count(&words(&d, n, 1)))
            }
            Refusal::SegmentsOntoElements => {
                let request = segmented(&sum, Segments::Rows(10), Gives::Total, n);
                go(backend, &request, two(hundred(&a), words(&a, 0, 10)))
            }
            Refusal::SegmentsTooMany => {
                let request = segmented(&sum, offsets(MAX_ELEMENTS), Gives::Total, n);
                go(backend, &request, two(hundred(&a), hundred(&b)))
            }
            Refusal::SegmentsOffsetsMissing => {
                go(backend, &segmented(&sum, offsets(10), Gives::Total, n), two(hundred(&a), words(&b, 0, 10)))
            }
            Refusal::HistogramOntoElements => go(backend, &histogram(n, n), two(hundred(&a), hundred(&a))),
            Refusal::HistogramNoBins => go(backend, &histogram(0, n), two(hundred(&a), words(&b, 0, 0))),
            Refusal::HistogramTooManyBins => {
                go(backend, &histogram(MAX_ELEMENTS + 1, n), two(hundred(&a), hundred(&b)))
            }
            Refusal::HistogramWeights => {
                let request = weighted(Some(Scalar::F64), 10, n);
                go(
                    backend,
                    &request,
                    Spans { input_values: Some(bytes(&c, 0, 8 * n)), ..two(hundred(&a), bytes(&b, 0, 80)) },
                )
            }
            Refusal::FirstsTooMany => {
                let each = top_k(Scalar::U32, Wanted::Keys, Order::Descending, 1 << 20, n);
                go(backend, &top_k_of(each, offsets(1 << 13)), two(hundred(&a), hundred(&b)))
            }
            Refusal::ByKeyInPlace => {
                let spans = with_values(hundred(&a), hundred(&a), hundred(&b), hundred(&c));
                go(backend, &runs, spans.with_count(&words(&d, 0, 1)))
            }
            Refusal::ByKeyValuesMissing => {
                go(backend, &runs, two(hundred(&a), hundred(&b)).with_count(&words(&d, 0, 1)))
            }
            Refusal::ByKeyCountMissing => {
                go(backend, &runs, with_values(hundred(&a), hundred(&b), hundred(&c), hundred(&d)))
            }
            Refusal::ByKeyNameTaken => {
                let text = "struct Segment { x: u32 }\nfn combine(a: T, b: T) -> T { return a + b; }";
                bad_runs(backend, text, [&a, &b, &c, &d])
            }
            Refusal::ByKeyOperatorSyntax => {
                bad_runs(backend, "fn combine(a: T, b: T) -> T { return a + ; }", [&a, &b, &c, &d])
            }
            Refusal::ByKeyOperatorType => {
                bad_runs(backend, "fn combine(a: T, b: T) -> T { return vec2<u32>(a, b); }", [&a, &b, &c, &d])
            }
            Refusal::ByKeyOperatorMissing => {
                bad_runs(backend, "fn another(a: T, b: T) -> T { return a; }", [&a, &b, &c, &d])
            }
            Refusal::PredicateSyntax => bad_predicate(backend, "fn keep(v: T) -> bool { return v > ; }", &a, &b, &c),
            Refusal::PredicateType => bad_predicate(backend, "fn keep(v: T) -> T { return v; }", &a, &b, &c),
            Refusal::MapSyntax => bad_map(backend, Says("fn map(a: A) -> U { return a + ; }")),
            Refusal::MapType => bad_map(backend, Says("fn map(a: A) -> bool { return a > 3u; }")),
            Refusal::ThenSyntax => bad_then(backend, Says("fn map(a: A) -> U { return a + ; }")),
            Refusal::ThenType => bad_then(backend, Says("fn map(a: A) -> U { return vec2<u32>(a, a); }")),
            Refusal::OperatorSyntax => bad_operator(backend, "fn combine(a: T, b: T) -> T { return a + ; }", &a, &b),
            Refusal::OperatorName => bad_operator(backend, "fn combine(a: T, b: T) -> T { return q(a); }", &a, &b),
            Refusal::OperatorType => {
                bad_operator(backend, "fn combine(a: T, b: T) -> T { return vec2<u32>(a, b); }", &a, &b)
            }
            Refusal::OperatorMissing => bad_operator(backend, "fn another(a: T, b: T) -> T { return a; }", &a, &b),
        }
    }
}

fn go(backend: &Device, request: &Request, spans: Spans<Device>) -> trifold_core::Result<()> {
    with_options(backend, request, spans, Options::default())
}

fn with_options(
    backend: &Device,
    request: &Request,
    spans: Spans<Device>,
    options: Options,
) -> trifold_core::Result<()> {
    Call::new(backend, request, &spans, options)?.run()?;
    backend.synchronize()
}

fn bad_operator(
    backend: &Device,
    wgsl: &'static str,
    from: &Span<Device>,
    to: &Span<Device>,
) -> trifold_core::Result<()> {
    let request = scan(&sum_by(wgsl), ScanKind::Inclusive, 1024);
    go(backend, &request, Spans::new(from, to))
}

fn bad_runs(backend: &Device, wgsl: &'static str, buffers: [&Span<Device>; 4]) -> trifold_core::Result<()> {
    let count = buffers[3].slice(2048, 4)?;
    let [keys, output, values, totals] = buffers.map(|span| span.slice(0, 2048));
    let request = by_key(&ElementType::Scalar(Scalar::U32), Some(sum_by(wgsl)), 512);
    go(backend, &request, Spans::new(&keys?, &output?).with_values(&values?, &totals?).with_count(&count))
}

/// A sum of u32 that says it is this text.
fn sum_by(wgsl: &'static str) -> Op {
    let sum = builtin(Builtin::Sum, Scalar::U32);
    let identity = sum.identity().to_vec();
    // SAFETY: the loops are over the same type.
    unsafe { Op::from_parts("bad", sum.element().clone(), wgsl, identity, sum.commutative, sum.host().clone()) }
}

fn bad_predicate(
    backend: &Device,
    wgsl: &'static str,
    from: &Span<Device>,
    to: &Span<Device>,
    count: &Span<Device>,
) -> trifold_core::Result<()> {
    let good = Selector::of::<u32, _>(operators::Upper);
    // SAFETY: the loops are over the same type.
    let bad = unsafe { Selector::from_parts("bad", good.element().clone(), wgsl, good.host().clone()) };
    let spans = Spans::new(from, to).with_count(&count.slice(0, 4)?);
    go(backend, &select(&bad, Rest::Dropped, 1024), spans)
}

/// A map of u32 that says it is this text.
#[derive(Clone)]
struct Says(&'static str);

impl Map<u32> for Says {
    type Output = u32;
    fn text(&self) -> Cow<'static, str> {
        self.0.into()
    }
    fn map(&self, a: u32) -> u32 {
        a
    }
}

/// A view by a map.
fn bad_map(backend: &Device, map: Says) -> trifold_core::Result<()> {
    let x = backend.upload(&[3_u32; 1000])?;
    backend.copy(x.mapped(map)).to(&backend.alloc(1000)?).run()?;
    backend.synchronize()
}

/// Outputs by a map: by the kernel that writes them, and by a launch behind the call.
fn bad_then(backend: &Device, map: Says) -> trifold_core::Result<()> {
    let (x, out) = (backend.upload(&[3_u32; 1000])?, backend.alloc(1000)?);
    match backend.sort(&x).then(map.clone()).to(&out).run() {
        Err(Error::Operator { .. }) => {}
        other => return other,
    }
    backend.inclusive_scan(&x, Sum).then(map).to(&out).run()?;
    backend.synchronize()
}

/// Scratch that a caller brings and that will not do: too small, not aligned, over a span. A call brings its own,
/// so this is for each backend's own tests.
pub fn bad_scratch<B: Backend>(backend: &B) -> Outcome {
    guarded(|| {
        // More than one workgroup sorts without scratch.
        let n = 20_000u64;
        let request = sort(Scalar::U32, None, Order::Ascending, n);
        let prepared = block_on(Prepared::new(backend, &request, Layout::default(), Options::default()))?;
        let need = prepared.plan().scratch_bytes();
        let (a, b, c) = (backend.allocate(4 * n)?, backend.allocate(4 * n)?, backend.allocate(need + 512)?);
        let spans = Spans::new(&a, &b);
        let unaligned = c.slice(4, need + 256)?;
        if need == 0 {
            // What nobody uses may be anywhere.
            for unused in [unaligned, b.slice(0, 4 * n)?, c.slice(0, 0)?] {
                prepared.bind_with_scratch(&spans, &unused)?;
            }
            return Ok(());
        }
        let mut bad: Vec<(&str, Span<B>)> = vec![("unaligned", unaligned), ("short", c.slice(0, need - 1)?)];
        // Scratch over the output, as much of it as there is.
        if need <= 4 * n {
            bad.push(("overlapping", b.slice(0, 4 * n)?));
        }
        for (what, scratch) in bad {
            match prepared.bind_with_scratch(&spans, &scratch) {
                Err(Error::Invalid(_)) => {}
                Err(error) => {
                    return Err(Failure::Wrong(format!("{what} scratch: the wrong kind of error: {error:?}")));
                }
                Ok(_) => return Err(Failure::Wrong(format!("{what} scratch was accepted"))),
            }
        }
        prepared.bind_with_scratch(&spans, &c)?.run()?;
        backend.synchronize()?;
        Ok(())
    })
}
