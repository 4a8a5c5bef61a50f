//! What needs a device and no kernels of the catalogue: memory, fills, copies, time, and whose memory is refused.
//! Skipped, with the reason, where there is no device. The conformance suite runs the kernels.

use trifold_conformance::{Outcome, fills_and_copies, kernels_are_cached, repeated_calls_only_run, skip};
use trifold_core::{Backend, Command, Error, Result, Spans, Transfer, block_on};
use trifold_cuda::cudarc::driver::CudaSlice;
use trifold_cuda::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use trifold_cuda::{Cache, Cuda, Step};

fn open() -> Option<Cuda> {
    Cuda::open(0).inspect_err(|error| skip("cuda", error)).ok()
}

/// A fill or a copy, of memory that lives as long as the test.
fn bind(cuda: &Cuda, command: Command<'_, Cuda>) -> Result<Step> {
    assert!(!matches!(command, Command::Launch { .. }));
    // SAFETY: it is no launch, and the tests keep what they fill and copy until they are done.
    unsafe { cuda.bind(command) }
}

fn run(cuda: &Cuda, commands: Vec<Command<'_, Cuda>>) {
    let steps: Vec<_> = commands.into_iter().map(|command| bind(cuda, command).unwrap()).collect();
    let mut recorder = cuda.record().unwrap();
    cuda.execute(&mut recorder, &steps).unwrap();
    cuda.submit(recorder).unwrap();
}

#[test]
fn bytes_go_and_come_back() {
    let Some(cuda) = open() else { return };
    for n in [0, 1, 3, 17, 4099] {
        let data: Vec<u32> = (0..n).collect();
        let buffer = cuda.upload(&data).unwrap();
        assert_eq!((buffer.bytes(), buffer.address() % 256), (4 * u64::from(n), 0));
        assert_eq!(cuda.download::<u32>(&cuda.span(&buffer)).unwrap(), data);
    }
    let small = cuda.alloc(4).unwrap();
    assert!(cuda.write(&cuda.span(&small), &[0; 5]).is_err());
    assert!(block_on(cuda.read(&cuda.span(&small), &mut [0; 5])).is_err());
}

/// A wait would end the capture, and what is freed the graph might use.
#[test]
fn what_is_dropped_in_a_capture_does_not_end_it() {
    let Some(cuda) = open() else { return };
    let (kept, dropped) = (cuda.upload(&[1_u32; 8]).unwrap(), cuda.alloc(64).unwrap());
    let stream = cuda.stream();
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
    run(&cuda, vec![Command::Fill { span: cuda.span(&kept), value: 7 }]);
    drop(dropped);
    let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = stream.end_capture(flags).unwrap().unwrap();
    assert_eq!(cuda.download::<u32>(&cuda.span(&kept)).unwrap(), [1; 8]);
    graph.launch().unwrap();
    assert_eq!(cuda.download::<u32>(&cuda.span(&kept)).unwrap(), [7; 8]);
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
    let (a, b) = (cuda.span(&a), cuda.span(&b));
    run(
        &cuda,
        vec![
            Command::Fill { span: a.elements::<u32>(3, 2).unwrap(), value: 7 },
            Command::Copy { from: a.clone(), to: b.clone() },
            Command::Fill { span: a.clone(), value: 9 },
            Command::Fill { span: a.elements::<u32>(0, 0).unwrap(), value: 5 },
        ],
    );
    assert_eq!(cuda.download::<u32>(&b).unwrap(), [1, 1, 1, 7, 7, 1, 1, 1]);
    assert_eq!(cuda.download::<u32>(&a).unwrap(), [9; 8]);
    let odd = a.slice(1, 4).unwrap();
    assert!(matches!(bind(&cuda, Command::Fill { span: odd, value: 0 }), Err(Error::Invalid(_))));
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
    let buffer = cuda.alloc(1 << 28).unwrap();
    let fill = bind(&cuda, Command::Fill { span: cuda.span(&buffer), value: 1 }).unwrap();
    let ms = cuda.time(std::slice::from_ref(&fill), std::slice::from_ref(&fill), 10).unwrap();
    assert!(ms > 0.01 && ms < 1000.0, "10 fills of 256 MiB took {ms} ms");
}

#[test]
fn callers_memory_is_taken_from_the_same_stream_alone() {
    let Some(cuda) = open() else { return };
    let slice: CudaSlice<u32> = cuda.stream().clone_htod(&[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    let all = cuda.import(&slice).unwrap();
    let middle = cuda.import_view(&slice.slice(2..6)).unwrap();
    assert_eq!(cuda.download::<u32>(&middle).unwrap(), [3, 4, 5, 6]);
    let overlap = Spans::new(&all.elements::<u32>(0, 4).unwrap(), &middle).layout(&cuda);
    assert!(matches!(overlap, Err(Error::Invalid(_))), "{overlap:?}");

    let other = Cuda::open(0).unwrap();
    assert!(matches!(other.import(&slice), Err(Error::Invalid(_))));
    assert!(matches!(bind(&other, Command::Fill { span: all.clone(), value: 0 }), Err(Error::Invalid(_))));
    assert!(matches!(other.write(&all, &[0; 4]), Err(Error::Invalid(_))));
    let step = bind(&cuda, Command::Fill { span: all, value: 0 }).unwrap();
    let mut recorder = other.record().unwrap();
    assert!(matches!(other.execute(&mut recorder, &[step]), Err(Error::Invalid(_))));
}

#[test]
fn too_much_memory_is_an_error() {
    let Some(cuda) = open() else { return };
    let all = cuda.caps().memory;
    assert!(matches!(cuda.alloc(all), Err(Error::OutOfMemory { .. })));
    assert!(matches!(cuda.alloc(all + 1), Err(Error::Invalid(_))));
}
