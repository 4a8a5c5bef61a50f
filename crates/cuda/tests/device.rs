//! What needs a device and no kernels of the catalogue: memory, fills, copies, time, and whose memory is refused.
//! Skipped, with the reason, where there is no device. The conformance suite runs the kernels.

use std::sync::Arc;

use trifold_conformance::{
    Outcome, Recorded, Same, fills_and_copies, kernels_are_cached, recordings_follow_the_device,
    repeated_calls_only_run, skip,
};
use trifold_core::{Backend, Buffer, Command, Device, Error, Max, Reduce, Result, Scan, Sort, Sum, Transfer};
use trifold_cuda::cudarc::driver::sys::{CUgraphInstantiate_flags, CUresult, CUstreamCaptureMode, cuStreamQuery};
use trifold_cuda::cudarc::driver::{CudaGraph, CudaSlice, DevicePtr};
use trifold_cuda::{Cache, Cuda, Step};

fn open() -> Option<Cuda> {
    Cuda::open(0).inspect_err(|error| skip("cuda", error)).ok()
}

/// Fills and copies, of memory that lives as long as the test.
fn bind(cuda: &Cuda, commands: Vec<Command<'_, Cuda>>) -> Result<Vec<Step>> {
    assert!(!commands.iter().any(|command| matches!(command, Command::Launch { .. })));
    // SAFETY: there is no launch, and the tests keep what they fill and copy until they are done.
    unsafe { cuda.bind(commands, false) }
}

fn run(cuda: &Cuda, commands: Vec<Command<'_, Cuda>>) {
    cuda.run(&bind(cuda, commands).unwrap(), None).unwrap();
}

#[test]
fn bytes_go_and_come_back() {
    let Some(cuda) = open() else { return };
    for n in [0, 1, 3, 17, 4099] {
        let data: Vec<u32> = (0..n).collect();
        let buffer = cuda.upload(&data).unwrap();
        assert_eq!((buffer.span().bytes(), buffer.span().offset() % 256), (4 * u64::from(n), 0));
        assert_eq!(buffer.read().unwrap(), data);
    }
    let small = cuda.allocate(4).unwrap();
    assert!(cuda.write(&small, &[0; 5]).is_err());
    assert!(cuda.read_blocking(&small, &mut [0; 5]).is_err());
}

/// A wait would end the capture, and what is freed the graph might use.
#[test]
fn what_is_dropped_in_a_capture_does_not_end_it() {
    let Some(cuda) = open() else { return };
    let (kept, dropped) = (cuda.upload(&[1_u32; 8]).unwrap(), cuda.alloc::<u32>(16).unwrap());
    let stream = cuda.stream();
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
    run(&cuda, vec![Command::Fill { span: kept.span().clone(), value: 7 }]);
    drop(dropped);
    let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = stream.end_capture(flags).unwrap().unwrap();
    assert_eq!(kept.read().unwrap(), [1; 8]);
    graph.launch().unwrap();
    assert_eq!(kept.read().unwrap(), [7; 8]);
}

/// Nothing of it is enqueued, and the capture goes on.
#[test]
fn what_waits_is_refused_in_a_capture() {
    let Some(cuda) = open() else { return };
    let (kept, ones) = (cuda.upload(&[1_u32; 8]).unwrap(), cuda.upload(&[1_u32; 8]).unwrap());
    let graph = captured(&cuda, || {
        let refused = [
            ones.write(&[2; 8]).unwrap_err(),
            ones.read().unwrap_err(),
            cuda.synchronize().unwrap_err(),
            cuda.time(None, &bind(&cuda, vec![]).unwrap(), None, 1).unwrap_err(),
        ];
        assert!(refused.iter().all(|error| error.to_string().contains("is being captured")), "{refused:?}");
        run(&cuda, vec![Command::Fill { span: kept.span().clone(), value: 7 }]);
    });
    graph.launch().unwrap();
    assert_eq!((kept.read().unwrap(), ones.read().unwrap()), (vec![7; 8], vec![1; 8]));
}

/// The call's kernels read how many elements there are, so that the graph follows it.
#[test]
fn a_graph_runs_again_for_as_many_elements_as_the_device_says() {
    let Some(cuda) = open() else { return };
    let stream = cuda.stream();
    let input: Vec<u32> = (0..100_000_u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let (keys, sums) = (cuda.upload(&input).unwrap(), cuda.alloc::<u32>(input.len()).unwrap());
    let length = cuda.upload(&[0]).unwrap();
    let calls = [
        cuda.inclusive_scan(&keys, Sum).len_on_device(&length).to(&sums).prepare().unwrap(),
        cuda.sort(&keys).len_on_device(&length).in_place().prepare().unwrap(),
    ];
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
    calls.iter().for_each(|call| call.run().unwrap());
    let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = stream.end_capture(flags).unwrap().unwrap();
    let sizes = [100_000, 3, 100_000, 0, 1, u32::MAX];
    let more = (0..594).map(|i: u32| i.wrapping_mul(0x9e37_79b9) % (100_001 >> (i % 12)));
    for n in sizes.into_iter().chain(more) {
        keys.write(&input).unwrap();
        sums.write(&vec![7; input.len()]).unwrap();
        length.write(&[n]).unwrap();
        graph.launch().unwrap();
        let (n, mut sum) = (input.len().min(n as usize), 0_u32);
        let expected = input[..n].iter().map(|v| {
            sum = sum.wrapping_add(*v);
            sum
        });
        let expected: Vec<u32> = expected.chain(std::iter::repeat_n(7, input.len() - n)).collect();
        assert!(sums.read().unwrap() == expected, "a scan of {n}");
        let mut sorted = input.clone();
        sorted[..n].sort_unstable();
        assert!(keys.read().unwrap() == sorted, "a sort of {n}");
    }
}

/// So by each algorithm of each primitive.
#[test]
fn graphs_of_every_algorithm_follow_the_number_of_elements() {
    let Some(cuda) = open() else { return };
    let record = |run: &dyn Fn() -> Result<()>| -> Recorded {
        let graph = captured(&cuda, || run().unwrap());
        Box::new(move || {
            graph.launch().unwrap();
            Ok(())
        })
    };
    let checked = recordings_follow_the_device(&Device::of(cuda.clone()), &record);
    assert!(checked.as_ref().is_ok_and(|graphs| *graphs >= 60), "{checked:?}");
}

fn captured(cuda: &Cuda, run: impl FnOnce()) -> CudaGraph {
    cuda.stream().begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
    run();
    let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    cuda.stream().end_capture(flags).unwrap().unwrap()
}

/// A graph that never runs clears nothing.
#[test]
fn a_call_that_was_prepared_in_a_capture_runs_without_the_graph() {
    let Some(cuda) = open() else { return };
    let n = 1 << 20;
    let (x, sums) = (cuda.upload(&vec![1_u32; n]).unwrap(), cuda.alloc::<u32>(n).unwrap());
    let mut call = None;
    drop(captured(&cuda, || {
        let scan = cuda.inclusive_scan(&x, Sum).to(&sums).prepare().unwrap();
        scan.run().unwrap();
        call = Some(scan);
    }));
    call.unwrap().run().unwrap();
    assert!(sums.read().unwrap().into_iter().eq(1..=n as u32));
}

/// A drop waits for nothing, and what comes behind it may have its memory.
#[test]
fn memory_is_freed_in_stream_order() {
    let Some(cuda) = open() else { return };
    let n = 1 << 26;
    let (x, kept) = (cuda.upload(&vec![1_u32; n]).unwrap(), cuda.alloc::<u32>(n).unwrap());
    let scan = cuda.inclusive_scan(&x, Sum).to(&kept).prepare().unwrap();
    cuda.synchronize().unwrap();
    (0..200).for_each(|_| scan.run().unwrap());
    let sums = cuda.inclusive_scan(&x, Sum).collect().unwrap();
    let last = sums.slice(n - 1..).unwrap();
    let copied = cuda.copy(&last).collect().unwrap();
    drop((sums, last));
    let (again, total) = (cuda.alloc::<u32>(n).unwrap(), cuda.alloc(1).unwrap());
    cuda.copy(&kept).to(&again).run().unwrap();
    cuda.reduce(&again, Max).to(&total).run().unwrap();
    // SAFETY: the stream is alive.
    let busy = unsafe { cuStreamQuery(cuda.stream().cu_stream()) };
    assert_eq!(busy, CUresult::CUDA_ERROR_NOT_READY, "it waited");
    assert_eq!((copied.read().unwrap(), total.read().unwrap()), (vec![n as u32], vec![n as u32]));
}

#[test]
fn fills_and_copies_keep_to_their_spans() {
    let Some(cuda) = open() else { return };
    assert_eq!(fills_and_copies(&cuda), Outcome::Passed);
}

#[test]
fn fills_and_copies_run_in_order() {
    let Some(cuda) = open() else { return };
    let (a, b) = (cuda.upload(&[1_u32; 8]).unwrap(), cuda.upload(&[2_u32; 8]).unwrap());
    let span = a.span();
    run(
        &cuda,
        vec![
            Command::Fill { span: span.slice(12, 8).unwrap(), value: 7 },
            Command::Copy { from: span.clone(), to: b.span().clone(), each: 0 },
            Command::Fill { span: span.clone(), value: 9 },
            Command::Fill { span: span.slice(0, 0).unwrap(), value: 5 },
        ],
    );
    assert_eq!(b.read().unwrap(), [1, 1, 1, 7, 7, 1, 1, 1]);
    assert_eq!(a.read().unwrap(), [9; 8]);
    let odd = span.slice(1, 4).unwrap();
    assert!(matches!(bind(&cuda, vec![Command::Fill { span: odd, value: 0 }]), Err(Error::Invalid(_))));
}

#[test]
fn cubins_are_kept() {
    if open().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let open = || Ok(Cuda::open(0)?.with_cache(Cache::in_folder(folder.path())));
    assert_eq!(kernels_are_cached(folder.path(), open), Outcome::Passed);
}

#[test]
fn bound_calls_only_run() {
    let Some(cuda) = open() else { return };
    assert_eq!(repeated_calls_only_run(cuda), Outcome::Passed);
}

#[test]
fn time_is_of_the_device() {
    let Some(cuda) = open() else { return };
    let buffer = cuda.alloc::<u32>(1 << 26).unwrap();
    let fill = bind(&cuda, vec![Command::Fill { span: buffer.span().clone(), value: 1 }]).unwrap();
    let ms = cuda.time(Some(&fill), &fill, None, 10).unwrap();
    assert!(ms > 0.01 && ms < 1000.0, "10 fills of 256 MiB took {ms} ms");
}

#[test]
fn callers_memory_is_taken_from_the_same_stream_alone() {
    let Some(cuda) = open() else { return };
    let slice: CudaSlice<u32> = cuda.stream().clone_htod(&[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    let slice = Arc::new(slice);
    let all = cuda.import(slice.clone()).unwrap();
    let middle = all.slice(2..6).unwrap();
    assert_eq!(middle.read().unwrap(), [3, 4, 5, 6]);
    // By another handle of the same memory, too.
    let twice = cuda.import(slice.clone()).unwrap().slice(..4).unwrap();
    let overlap = cuda.copy(&twice).to(&middle).plan().map(drop);
    assert!(matches!(overlap, Err(Error::Invalid(_))), "{overlap:?}");

    let other = Cuda::open(0).unwrap();
    // Also where a call on the very same address has run before, and its steps are kept.
    let to = cuda.alloc::<u32>(8).unwrap();
    let views = |of: &Buffer<u32, Cuda>| [of.mapped(Same), of.gathered(&all), all.gathered(of)];
    for _ in 0..2 {
        cuda.copy(&all).to(&to).run().unwrap();
        views(&all).into_iter().for_each(|view| cuda.copy(view).to(&to).run().unwrap());
    }
    // SAFETY: the slice's eight elements, and the slice is the keeper.
    let foreign = unsafe { other.import_raw::<u32>(all.span().offset(), 8, slice.clone()) }.unwrap();
    assert!(matches!(cuda.copy(&foreign).to(&to).run(), Err(Error::Invalid(_))));
    for view in views(&foreign) {
        assert!(matches!(cuda.copy(view).to(&to).run(), Err(Error::Invalid(_))));
    }
    assert!(matches!(other.import(slice), Err(Error::Invalid(_))));
    let fill = || vec![Command::Fill { span: all.span().clone(), value: 0 }];
    assert!(matches!(bind(&other, fill()), Err(Error::Invalid(_))));
    assert!(matches!(other.write(all.span(), &[0; 32]), Err(Error::Invalid(_))));
    let steps = bind(&cuda, fill()).unwrap();
    assert!(matches!(other.run(&steps, None), Err(Error::Invalid(_))));
}

/// A program's struct may keep a call alone: it has the memory, which the program has dropped, and nobody has it once the call is dropped.
#[test]
fn calls_and_slices_keep_their_memory() {
    let Some(cuda) = open() else { return };
    let slice: Arc<CudaSlice<u32>> = cuda.stream().clone_htod(&[1; 9]).unwrap().into();
    let address = slice.device_ptr(cuda.stream()).0;
    let watched = Arc::downgrade(&slice);
    let imported = cuda.import(slice.clone()).unwrap();
    // SAFETY: the slice's first eight elements, and the slice is the keeper.
    let raw = unsafe { cuda.import_raw::<u32>(address, 8, slice) }.unwrap();
    let results = cuda.upload(&[7_u32; 4]).unwrap();
    let (left, right) = (results.slice(1..2).unwrap(), results.slice(2..3).unwrap());
    let prepare = |from, to| cuda.reduce(from, Sum).to(to).prepare().unwrap();
    let (of_slice, of_address) = (prepare(&imported, &left), prepare(&raw, &right));
    drop((cuda, imported, raw, results));
    of_slice.run().unwrap();
    drop(of_slice);
    assert!(watched.upgrade().is_some());
    of_address.run().unwrap();
    assert_eq!((left.read().unwrap(), right.read().unwrap()), (vec![9], vec![8]));
    drop(of_address);
    assert!(watched.upgrade().is_none());
}

#[test]
fn too_much_memory_is_an_error() {
    let Some(cuda) = open() else { return };
    let all = cuda.caps().memory;
    assert!(matches!(cuda.allocate(all), Err(Error::OutOfMemory { .. })));
    assert!(matches!(cuda.allocate(all + 1), Err(Error::Invalid(_))));
}
