//! Compiling, binding and launching, with the smallest kernel there is: the copy.

use trifold_conformance::devices_or_skip;
use trifold_core::algorithm::sort::UPSWEEP_DOWNSWEEP;
use trifold_core::{
    Backend, Command, CopyRequest, Element, Error, KernelKey, Layout, Options, Param, Prepared, Reduce, Request, Sort,
    Spans, Sum, Transfer, Values, block_on, planner,
};
use trifold_opencl::OpenCl;

const COPY: &str = "copy/copy";

fn open() -> Option<OpenCl> {
    let devices = devices_or_skip("opencl", OpenCl::devices());
    devices.first().map(|device| OpenCl::open(device).unwrap())
}

/// The planner's key for a copy, with other constants.
fn key(cl: &OpenCl, constants: &[(&'static str, u32)]) -> KernelKey {
    let request = Request::Copy(CopyRequest { element: u32::TYPE, n: 1 });
    let plan = planner::plan(&request, Layout::default(), Options::default(), cl.caps(), &cl.tuning()).unwrap();
    let launch = plan.launched().next().unwrap();
    KernelKey { constants: [constants, &[("PACK", 1)]].concat(), ..launch.kernel.clone() }
}

#[test]
fn copies_between_spans_that_start_anywhere() {
    let Some(cl) = open() else { return };
    let n = 100_003;
    let data: Vec<u32> = (0..n as u32 + 8).collect();
    for (from, to) in [(0, 0), (4, 8), (1, 3)] {
        let input = cl.upload(&data).unwrap();
        let output = cl.upload(&vec![7_u32; n + 8]).unwrap();
        let part = output.slice(to..to + n).unwrap();
        let call = cl.copy(input.slice(from..from + n).unwrap()).to(&part).prepare().unwrap();
        call.run().unwrap();
        let mut expected = vec![7; n + 8];
        expected[to..to + n].copy_from_slice(&data[from..from + n]);
        assert_eq!(output.read().unwrap(), expected, "from {from} to {to}");
        let ms = call.time_after(&call, 5).unwrap();
        assert!(ms > 0.0, "{ms} ms");
    }
}

/// A caller's result is often one word of a buffer, or all of it.
#[test]
fn a_reduction_loads_widely_wherever_its_result_lies() {
    let Some(cl) = open() else { return };
    let data: Vec<u32> = (0..10_007).collect();
    let (input, results) = (cl.upload(&data).unwrap(), cl.upload(&[7_u32; 3]).unwrap());
    let result = results.slice(1..2).unwrap();
    assert!(!Spans::new(input.span(), result.span()).layout(&cl).unwrap().wide);
    let call = cl.reduce(&input, Sum).to(&result).prepare().unwrap();
    assert!(call.plan().wide());
    call.run().unwrap();
    assert_eq!(results.read().unwrap(), [7, data.iter().sum(), 7]);
    // Its input is another matter.
    let odd = input.slice(1..).unwrap();
    let reduce = cl.reduce(&odd, Sum).to(&result);
    assert!(!reduce.plan().unwrap().wide());
    let prepared = block_on(Prepared::new(&cl, reduce.request(), Layout::default(), Options::default())).unwrap();
    let refused = prepared.bind(&Spans::new(odd.span(), result.span())).map(drop);
    assert!(
        matches!(&refused, Err(Error::Invalid(message)) if message.contains("the input does not start")),
        "{refused:?}"
    );
}

#[test]
fn a_kernel_that_does_not_compile_gives_its_log() {
    let Some(cl) = open() else { return };
    match block_on(cl.compile(&key(&cl, &[("WORKGROUP", 64)]))).map(drop) {
        Err(Error::Compile { kernel, log }) => {
            assert_eq!(kernel, COPY);
            assert!(log.contains("ROWS"), "{log}");
        }
        other => panic!("{other:?}"),
    }
    let too_large = block_on(cl.compile(&key(&cl, &[("WORKGROUP", 1 << 20), ("ROWS", 1)]))).map(drop);
    assert!(matches!(too_large, Err(Error::Unsupported(_) | Error::Compile { .. })), "{too_large:?}");
}

#[test]
fn a_launch_with_other_arguments_is_refused() {
    let Some(cl) = open() else { return };
    let key = key(&cl, &[("WORKGROUP", 64), ("ROWS", 4)]);
    let kernel = block_on(cl.compile(&key)).unwrap();
    let buffer = cl.alloc::<u32>(16).unwrap();
    let bind = |names: &[&'static str], params: &[(&'static str, Param)]| {
        let spans = names.iter().map(|&name| (name, buffer.span().clone())).collect();
        let values = Values { params, n: 0, initial: None };
        // SAFETY: what is bound is not executed.
        unsafe { cl.bind(vec![Command::Launch { key: &key, kernel: &kernel, groups: 1, spans, values }], false) }
            .map(drop)
    };
    let n = ("n", Param::Word(16));
    assert!(bind(&["input", "output"], &[n]).is_ok());
    let wrong =
        [bind(&["input"], &[n]), bind(&["input", "output", "more"], &[n]), bind(&["input", "output"], &[("m", n.1)])];
    for (result, name) in wrong.into_iter().zip(["output", "more", "`m`"]) {
        match result {
            Err(Error::Invalid(message)) => assert!(message.contains(name), "{message}"),
            other => panic!("{other:?}"),
        }
    }
}

/// Calls that share scratch: each one's steps go to the queue without another's between them, be they of one backend or of two on the same
/// queue.
#[test]
fn threads_share_scratch() {
    let Some(cl) = open() else { return };
    // SAFETY: the queue is live.
    let other = unsafe { OpenCl::from_raw(cl.queue_ptr()) }.unwrap();
    let n = 5003;
    let prepare = |cl: &OpenCl| {
        let sort = cl.sort(&cl.alloc::<u32>(n).unwrap()).to(&cl.alloc(n).unwrap());
        block_on(Prepared::new(cl, sort.request(), Layout::default(), Options::default())).unwrap()
    };
    let (own, theirs) = (prepare(&cl), prepare(&other));
    let scratch = cl.allocate(own.plan().scratch_bytes()).unwrap();
    assert!(scratch.bytes() > 0);
    std::thread::scope(|scope| {
        for (prepared, seed) in [(&own, 2_654_435_761_u32), (&own, 2_246_822_519), (&theirs, 3_266_489_917)] {
            let (cl, scratch) = (&cl, &scratch);
            scope.spawn(move || {
                let keys: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(seed)).collect();
                let (input, output) = (cl.upload(&keys).unwrap(), cl.alloc::<u32>(n).unwrap());
                let spans = Spans::new(input.span(), output.span());
                let mut sorted = keys;
                sorted.sort_unstable();
                for turn in 0..20 {
                    let call = prepared.bind_with_scratch(&spans, scratch).unwrap();
                    call.run().unwrap();
                    assert_eq!(output.read().unwrap(), sorted, "turn {turn}");
                }
            });
        }
    });
}

/// Parts of the scratch overlap from one call to another. They are dropped in any order, which some drivers do not bear.
#[test]
fn calls_of_several_sizes_have_one_scratch() {
    let Some(cl) = open() else { return };
    let data: Vec<u32> = (0..30_000_u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let (input, output) = (cl.upload(&data).unwrap(), cl.alloc::<u32>(data.len()).unwrap());
    let prepared = [20_011, 16_008, 30_000, 9000, 1000].map(|n| {
        let (from, to) = (input.slice(..n).unwrap(), output.slice(..n).unwrap());
        let sort = cl.sort(&from).to(&to);
        // Its scratch has a part for the keys of a pass, which is as long as they are.
        let options = Options::by(&UPSWEEP_DOWNSWEEP);
        let prepared = block_on(Prepared::new(&cl, sort.request(), Layout::default(), options)).unwrap();
        let mut sorted = data[..n].to_vec();
        sorted.sort_unstable();
        (prepared, from, to, sorted)
    });
    let need = prepared.iter().map(|(prepared, ..)| prepared.plan().scratch_bytes()).max().unwrap();
    let scratch = cl.allocate(need).unwrap();
    let mut calls = vec![];
    for turn in 0..150_usize {
        let (prepared, from, to, sorted) = &prepared[turn * turn % 37 % prepared.len()];
        let call = prepared.bind_with_scratch(&Spans::new(from.span(), to.span()), &scratch).unwrap();
        call.run().unwrap();
        assert_eq!(&to.read().unwrap(), sorted, "turn {turn}");
        calls.push(call);
        if calls.len() > 5 {
            drop(calls.swap_remove(turn * 7 % 6));
        }
    }
    // The last part keeps the buffer.
    drop((prepared, scratch));
    drop(calls);
}
