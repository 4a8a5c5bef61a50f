//! Comparing what a call gave with what it must give, element by element.

use rayon::prelude::*;
use trifold_core::{Backend, Element, ElementType, Number, Scalar, Span, Spans, block_on, for_scalar};

use super::{CHUNK, Elements, Expected, Output};

/// What a call left in its spans, whose bytes were all alike before.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Given {
    /// The output elements or keys.
    pub output: Vec<u8>,
    /// The output values.
    pub values: Option<Vec<u8>>,
    /// What a partition did not keep.
    pub rest: Option<Vec<u8>>,
    /// The count, a `u32`.
    pub count: Option<Vec<u8>>,
}

impl Given {
    /// Reads the outputs among a call's spans.
    ///
    /// # Errors
    /// As [`Backend::read`].
    pub fn read<B: Backend>(device: &B, spans: &Spans<B>) -> trifold_core::Result<Given> {
        let read = |span: &Span<B>| {
            let mut bytes = vec![0; span.bytes() as usize];
            if !bytes.is_empty() {
                block_on(device.read(span, &mut bytes))?;
            }
            trifold_core::Result::Ok(bytes)
        };
        Ok(Given {
            output: read(&spans.output)?,
            values: spans.output_values.as_ref().map(read).transpose()?,
            rest: spans.rest.as_ref().map(read).transpose()?,
            count: spans.count.as_ref().map(read).transpose()?,
        })
    }
}

impl Expected {
    /// Whether this is what a call gave. Its longest chain of combines is `depth` long, and `stale` is the byte that outputs held
    /// before it.
    ///
    /// # Errors
    /// The first difference, in words.
    pub fn check(&self, given: &Given, depth: u64, stale: u8) -> Result<(), String> {
        let outputs = [
            ("output", Some(&self.output), Some(&given.output)),
            ("output values", self.values.as_ref(), given.values.as_ref()),
            ("rest", self.rest.as_ref(), given.rest.as_ref()),
        ];
        for (what, want, got) in outputs {
            let checked = match (want, got) {
                (Some(want), Some(got)) => want.check(got, depth, stale),
                (Some(_), None) => Err("there is none".into()),
                (None, _) => Ok(()),
            };
            checked.map_err(|why| format!("{what}: {why}"))?;
        }
        match (self.count, &given.count) {
            (Some(want), None) => Err(format!("there is no count, and it must be {want}")),
            (Some(want), Some(got)) if got[..] != want.to_le_bytes() => {
                Err(format!("the count is {}, not {want}", show(&u32::TYPE, got)))
            }
            _ => Ok(()),
        }
    }

    /// The same, but that another call's results are what is right. Both may be off: the depths of both count.
    pub fn with(&self, given: Given) -> Expected {
        let put = |output: &Output, bytes: Vec<u8>| {
            let elements = match &output.elements {
                Elements::Exact(_) => Elements::Exact(bytes),
                Elements::Made(_) => Elements::Made(bytes),
                Elements::Near { scales, chained, .. } => {
                    let elements = bytes.chunks_exact(output.element.bytes() as usize).take(scales.len());
                    let values = elements.map(|bytes| output.scalar().to_f64(bytes)).collect();
                    let twice = if *chained { 1.0 } else { 2.0 };
                    let scales = scales.iter().map(|scale| twice * scale).collect();
                    Elements::Near { values, scales, chained: *chained }
                }
            };
            Output { element: output.element.clone(), elements }
        };
        Expected {
            output: put(&self.output, given.output),
            values: self.values.as_ref().zip(given.values).map(|(values, bytes)| put(values, bytes)),
            rest: self.rest.as_ref().zip(given.rest).map(|(rest, bytes)| put(rest, bytes)),
            count: given.count.and_then(|bytes| Some(u32::from_le_bytes(bytes.try_into().ok()?))),
        }
    }
}

impl Output {
    fn check(&self, got: &[u8], depth: u64, stale: u8) -> Result<(), String> {
        let size = self.element.bytes() as usize;
        let n = match &self.elements {
            Elements::Exact(bytes) | Elements::Made(bytes) => bytes.len() / size,
            Elements::Near { values, .. } => values.len(),
        };
        let Some((written, others)) = got.split_at_checked(n * size) else {
            return Err(format!("{} bytes, not {} or more", got.len(), n * size));
        };
        let same = matches!(&self.elements, Elements::Exact(want) | Elements::Made(want) if want == written);
        let wrong = self.wrong(written, depth);
        if !same && let Some(first) = wrong.clone().min() {
            let (got, want) = (show(&self.element, &written[first * size..][..size]), self.show(first, depth));
            return Err(format!("element {first} is {got}, not {want} ({} of {n} differ)", wrong.count()));
        }
        let touched = others
            .par_chunks(CHUNK)
            .enumerate()
            .find_map_first(|(chunk, bytes)| Some(chunk * CHUNK + bytes.iter().position(|byte| *byte != stale)?));
        match touched {
            None => Ok(()),
            Some(at) => Err(format!("byte {at} past the last element was written to")),
        }
    }

    /// Which of the elements are not as they must be.
    fn wrong<'a>(&'a self, got: &'a [u8], depth: u64) -> impl ParallelIterator<Item = usize> + Clone + 'a {
        let size = self.element.bytes() as usize;
        let right = move |i: usize| {
            let got = &got[i * size..][..size];
            match &self.elements {
                Elements::Exact(want) => want[i * size..][..size] == *got,
                Elements::Made(want) => same_but_nan(&self.element, &want[i * size..][..size], got),
                Elements::Near { values, .. } => close(values[i], self.scalar().to_f64(got), self.bound(i, depth)),
            }
        };
        (0..got.len() / size).into_par_iter().filter(move |&i| !right(i))
    }

    /// What elements are that are near to a value.
    fn scalar(&self) -> Scalar {
        self.element.scalars().next().expect("an element has a scalar")
    }

    /// How far an element may be from its value.
    fn bound(&self, i: usize, depth: u64) -> f64 {
        let Elements::Near { scales, chained, .. } = &self.elements else { return 0.0 };
        let epsilon = for_scalar!(self.scalar(), integer _T => 0.0, float T => T::EPSILON.to_f64());
        // The initial element is combined too.
        let depth = if *chained { depth + 1 } else { 1 };
        depth as f64 * epsilon * scales[i]
    }

    fn show(&self, i: usize, depth: u64) -> String {
        let size = self.element.bytes() as usize;
        match &self.elements {
            Elements::Exact(want) | Elements::Made(want) => show(&self.element, &want[i * size..][..size]),
            Elements::Near { values, .. } => format!("{:e} within {:e}", values[i], self.bound(i, depth)),
        }
    }
}

/// Whether two floats are within a bound, both NaN, or the same infinity.
fn close(a: f64, b: f64, bound: f64) -> bool {
    (a.is_nan() && b.is_nan()) || a == b || (a.is_finite() && b.is_finite() && (a - b).abs() <= bound)
}

fn same_but_nan(element: &ElementType, want: &[u8], got: &[u8]) -> bool {
    let mut at = 0;
    want == got
        || element.scalars().all(|scalar| {
            let range = at..at + scalar.bytes() as usize;
            at = range.end;
            let (w, g) = (&want[range.clone()], &got[range]);
            w == g || (scalar.is_float() && scalar.to_f64(w).is_nan() && scalar.to_f64(g).is_nan())
        })
}

fn show(element: &ElementType, bytes: &[u8]) -> String {
    let mut at = 0;
    let fields: Vec<String> = element
        .scalars()
        .map(|scalar| {
            let field = &bytes[at..at + scalar.bytes() as usize];
            at += field.len();
            for_scalar!(scalar, integer _T => scalar.text(field), float T => {
                let (x, digits) = (bytemuck::pod_read_unaligned::<T>(field), 2 + 2 * field.len());
                format!("{x:e} ({:#0digits$x})", x.bits())
            })
        })
        .collect();
    if fields.len() == 1 { fields[0].clone() } else { format!("({})", fields.join(", ")) }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use trifold_core::{
        Builtin, Keeps, Op, Predicate, ReduceByKeyRequest, ReduceRequest, Request, Rest, ScanKind, ScanRequest,
        SelectRequest, Selector, SortRequest,
    };

    use super::super::{Aligned, Inputs, expect, scan_in_place};
    use super::*;

    const STALE: u8 = 0x5e;
    const OLD: u32 = u32::from_ne_bytes([STALE; 4]);

    fn bytes<T: bytemuck::NoUninit>(elements: &[T]) -> Vec<u8> {
        bytemuck::cast_slice(elements).to_vec()
    }

    fn outputs(given: &mut Given) -> [Option<&mut Vec<u8>>; 4] {
        [Some(&mut given.output), given.values.as_mut(), given.rest.as_mut(), given.count.as_mut()]
    }

    /// Passes what is right, and fails what has one byte wrong.
    fn bites(request: &Request, input: &[u8], values: Option<&[u8]>, right: Given) {
        let expected = expect(request, Inputs::new(input, values));
        let check = |given: &Given| expected.check(given, request.n(), STALE);
        assert_eq!(check(&right), Ok(()), "{request:?}");
        for output in 0..4 {
            let length = outputs(&mut right.clone())[output].as_ref().map_or(0, |bytes| bytes.len());
            // The highest byte of each word: a sum may be wrong in the lowest.
            for at in (3..length).step_by(4) {
                let mut given = right.clone();
                outputs(&mut given)[output].iter_mut().for_each(|bytes| bytes[at] ^= 0x44);
                assert!(check(&given).is_err(), "{request:?}: byte {at} of output {output}");
            }
        }
        assert!(check(&Given { output: vec![], ..right }).is_err(), "{request:?}: no output");
    }

    #[test]
    fn every_operator_of_every_type_bites() {
        for scalar in Scalar::ALL {
            for op in Builtin::ALL.into_iter().filter_map(|which| Op::builtin(which, scalar)) {
                let input = for_scalar!(
                    scalar,
                    integer T => bytes(&[0x35u8, 0x71, 0x1c].map(|byte| T::of_bits(u128::from_ne_bytes([byte; 16])))),
                    float T => bytes::<T>(&[1.5, 0.75, 1.25].map(T::of_f64))
                );
                let (mut output, mut running) = (Aligned::of(&input), Aligned::of(op.identity()));
                let (output, running) =
                    (&mut output.bytes()[..input.len()], &mut running.bytes()[..op.identity().len()]);
                scan_in_place(&op, output, running, false);
                let scan = ScanRequest { op: op.clone(), n: 3, kind: ScanKind::Inclusive, initial: None, total: false };
                let scanned = Given { output: output.to_vec(), ..Given::default() };
                bites(&Request::Scan(scan), &input, None, scanned);
                let reduced = Given { output: running.to_vec(), ..Given::default() };
                bites(&Request::Reduce(ReduceRequest { op, n: 3, initial: None }), &input, None, reduced);
            }
        }
    }

    #[test]
    fn sums_are_near_and_extremes_exact() {
        let check = |which, output: [f32; 3]| {
            let op = Op::builtin(which, Scalar::F32).unwrap();
            let scan = Request::Scan(ScanRequest { op, n: 3, kind: ScanKind::Inclusive, initial: None, total: false });
            let given = Given { output: bytes(&output), ..Given::default() };
            // The sum of the first two has a digit more than an f32.
            expect(&scan, Inputs::new(&bytes(&[1f32, 3f32.next_up(), f32::NAN]), None)).check(&given, 3, STALE)
        };
        let (above, other) = (4f32.next_up(), f32::from_bits(0x7fa5_5a5a));
        assert_eq!(check(Builtin::Sum, [1.0, above, other]), Ok(()));
        assert_eq!(check(Builtin::Max, [1.0, 3f32.next_up(), other]), Ok(()));
        let why = check(Builtin::Sum, [1.0, 4.001, 0.0]).unwrap_err();
        assert!(why.starts_with("output: element 1 is 4.001e0 (0x40800831), not 4.000000238418579e0 within "), "{why}");
        assert!(why.ends_with("(2 of 3 differ)"), "{why}");
        assert!(check(Builtin::Max, [1.0, 3.0, other]).is_err());
        // What is exact in any order has no tolerance.
        assert!(check(Builtin::Sum, [1f32.next_up(), 4.0, other]).is_err());
    }

    #[test]
    fn sorts_are_told_from_what_only_looks_sorted() {
        let (keys, values) = (bytes(&[3.0f32, -0.0, 1.0, 3.0, 0.0]), bytes(&[0u32, 1, 2, 3, 4]));
        let request = Request::Sort(SortRequest::new(Scalar::F32.into(), 5).with(ElementType::from(Scalar::U32)));
        let given = |keys: [f32; 5], values: [u32; 5]| Given {
            output: bytes(&keys),
            values: Some(bytes(&values)),
            ..Given::default()
        };
        let right = [-0.0, 0.0, 1.0, 3.0, 3.0];
        bites(&request, &keys, Some(&values), given(right, [1, 4, 2, 0, 3]));
        let expected = expect(&request, Inputs::new(&keys, Some(&values)));
        assert!(expected.check(&given([0.0, -0.0, 1.0, 3.0, 3.0], [1, 4, 2, 0, 3]), 1, STALE).is_err());
        let unstable = expected.check(&given(right, [1, 4, 2, 3, 0]), 1, STALE);
        assert_eq!(unstable, Err("output values: element 3 is 3, not 0 (2 of 5 differ)".into()));
    }

    #[derive(Clone)]
    struct Big;
    impl Predicate<u32> for Big {
        fn name(&self) -> Cow<'static, str> {
            "big".into()
        }
        fn text(&self) -> Cow<'static, str> {
            "fn keep(v: T) -> bool { return v >= 10u; }".into()
        }
        fn keep(&self, v: u32) -> bool {
            v >= 10
        }
    }

    #[test]
    fn selections_and_runs_write_nothing_past_their_last_element() {
        let select = |rest| {
            Request::Select(SelectRequest { selector: Selector::of::<u32, _>(Big), n: 5, rest, keeps: Keeps::Items })
        };
        let given = |output: [u32; 5], rest: Option<[u32; 5]>, count: u32| Given {
            output: bytes(&output),
            rest: rest.map(|rest| bytes(&rest)),
            count: Some(bytes(&[count])),
            ..Given::default()
        };
        let (input, kept) = (bytes(&[11, 2, 13, 4, 5]), [11, 13, OLD, OLD, OLD]);
        bites(&select(Rest::Dropped), &input, None, given(kept, None, 2));
        bites(&select(Rest::Apart), &input, None, given(kept, Some([2, 4, 5, OLD, OLD]), 2));
        bites(&select(Rest::Behind), &input, None, given([11, 13, 2, 4, 5], None, 2));
        let expected = expect(&select(Rest::Dropped), Inputs::new(&input, None));
        let past = expected.check(&given([11, 13, OLD, 0, OLD], None, 2), 1, STALE);
        assert_eq!(past, Err("output: byte 4 past the last element was written to".into()));
        assert_eq!(expected.check(&given(kept, None, 3), 1, STALE), Err("the count is 3, not 2".into()));

        let old = f32::from_bits(OLD);
        let (keys, values) = (bytes(&[7.0f32, 7.0, 3.0, 7.0]), bytes(&[0.5f32, 0.25, 1.0, 2.0]));
        let right = |totals| Given {
            output: bytes(&[7.0, 3.0, 7.0, old]),
            values: Some(totals),
            count: Some(bytes(&[3u32])),
            ..Given::default()
        };
        let by_key = |op| Request::ReduceByKey(ReduceByKeyRequest { key: ElementType::Scalar(Scalar::F32), op, n: 4 });
        let sums = by_key(Op::builtin(Builtin::Sum, Scalar::F32));
        bites(&sums, &keys, Some(&values), right(bytes(&[0.75, 1.0, 2.0, old])));
        bites(&by_key(None), &keys, None, right(bytes(&[2, 1, 1, OLD])));
    }
}
