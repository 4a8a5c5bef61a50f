//! Compiling, binding and launching, with the smallest kernel there is: the copy.

use trifold_conformance::devices_or_skip;
use trifold_core::{
    Backend, Command, CopyRequest, Element, Error, KernelKey, Layout, Options, Order, Param, Prepared, Request, Spans,
    Sum, Transfer, block_on, planner,
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
        let spans = Spans::new(
            &cl.span(&input).elements::<u32>(from, n as u64).unwrap(),
            &cl.span(&output).elements::<u32>(to, n as u64).unwrap(),
        );
        let request = Request::Copy(CopyRequest { element: u32::TYPE, n: n as u64 });
        let layout = spans.layout(&cl).unwrap();
        let prepared = block_on(Prepared::new(&cl, &request, layout, Options::default())).unwrap();
        let bound = prepared.bind(&cl, &spans).unwrap();
        bound.run(&cl).unwrap();
        let mut expected = vec![7; n + 8];
        expected[to as usize..to as usize + n].copy_from_slice(&data[from as usize..from as usize + n]);
        assert_eq!(cl.download::<u32>(&cl.span(&output)).unwrap(), expected, "from {from} to {to}");
        let ms = bound.time(&cl, Some(&bound), 5).unwrap();
        assert!(ms > 0.0, "{ms} ms");
    }
}

/// A caller's result is often one word of a buffer, or all of it.
#[test]
fn a_reduction_loads_widely_wherever_its_result_lies() {
    let Some(cl) = open() else { return };
    let data: Vec<u32> = (0..10_007).collect();
    let (input, results) = (cl.upload(&data).unwrap(), cl.upload(&[7_u32; 3]).unwrap());
    let spans = Spans::new(&cl.span(&input), &cl.span(&results).elements::<u32>(1, 1).unwrap());
    let request = Request::reduce::<u32, Sum>(None, data.len() as u64);
    assert!(!spans.layout(&cl).unwrap().wide);
    let layout = spans.layout_for(&cl, &request).unwrap();
    let prepared = block_on(Prepared::new(&cl, &request, layout, Options::default())).unwrap();
    assert!(layout.wide && prepared.plan().wide());
    prepared.bind(&cl, &spans).unwrap().run(&cl).unwrap();
    assert_eq!(cl.download::<u32>(&cl.span(&results)).unwrap(), [7, data.iter().sum(), 7]);
    // Its input is another matter.
    let odd = Spans::new(&cl.span(&input).elements::<u32>(1, 10_006).unwrap(), &spans.output);
    let request = Request::reduce::<u32, Sum>(None, 10_006);
    assert!(!odd.layout_for(&cl, &request).unwrap().wide);
    let prepared = block_on(Prepared::new(&cl, &request, Layout::default(), Options::default())).unwrap();
    let refused = prepared.bind(&cl, &odd).map(drop);
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
    let buffer = cl.alloc(64).unwrap();
    let bind = |names: &[&'static str], params: &[(&'static str, Param)]| {
        let spans = names.iter().map(|&name| (name, cl.span(&buffer))).collect();
        // SAFETY: what is bound is not executed.
        unsafe { cl.bind(Command::Launch { key: &key, kernel: &kernel, groups: 1, spans, params, initial: None }) }
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

/// Two calls of one prepared sort share its scratch: each one's steps go to the queue without the other's between them, be they of one
/// backend or of two on the same queue.
#[test]
fn threads_share_a_prepared_plan() {
    let Some(cl) = open() else { return };
    // SAFETY: the queue is live.
    let other = unsafe { OpenCl::from_raw(cl.queue_ptr()) }.unwrap();
    let n = 5003_u32;
    let request = Request::sort_keys::<u32>(Order::Ascending, n.into());
    let prepared = block_on(Prepared::new(&cl, &request, Layout::default(), Options::default())).unwrap();
    std::thread::scope(|scope| {
        for (cl, seed) in [(&cl, 2_654_435_761_u32), (&cl, 2_246_822_519), (&other, 3_266_489_917)] {
            let prepared = &prepared;
            scope.spawn(move || {
                let keys: Vec<u32> = (0..n).map(|i| i.wrapping_mul(seed)).collect();
                let (input, output) = (cl.upload(&keys).unwrap(), cl.alloc(4 * u64::from(n)).unwrap());
                let bound = prepared.bind(cl, &Spans::new(&cl.span(&input), &cl.span(&output))).unwrap();
                let mut sorted = keys;
                sorted.sort_unstable();
                for turn in 0..20 {
                    bound.run(cl).unwrap();
                    assert_eq!(cl.download::<u32>(&cl.span(&output)).unwrap(), sorted, "turn {turn}");
                }
            });
        }
    });
}

#[test]
fn crosses_threads_and_hides_behind_dyn() {
    fn send<T: Send>() {}
    fn any<T: trifold_core::AnyBackend + 'static>() {}
    send::<OpenCl>();
    send::<<OpenCl as Backend>::Buffer>();
    send::<<OpenCl as Backend>::Handle>();
    send::<<OpenCl as Backend>::Kernel>();
    send::<<OpenCl as Backend>::Step>();
    any::<OpenCl>();
}
