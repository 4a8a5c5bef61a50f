//! Buffers, transfers, fills, copies, imports and their errors, on whatever OpenCL device there is.

use std::borrow::Cow;
use std::ops::Range;

use ocl::core::CommandQueueProperties;
use trifold_conformance::{
    Outcome, Same, devices_or_skip, fills_and_copies, kernels_are_cached, repeated_calls_only_run, skip,
};
use trifold_core::{
    Backend, Buffer, Command, Device, Error, Predicate, Reduce, Result, Select, Sort, SubgroupSource, Sum, Transfer,
    bytemuck, element,
};
use trifold_opencl::{Cache, DeviceInfo, OpenCl, Step, ocl};

fn device() -> Option<DeviceInfo> {
    devices_or_skip("opencl", OpenCl::devices()).into_iter().next()
}

#[test]
fn fills_and_copies_keep_to_their_spans() {
    let Some(device) = device() else { return };
    assert_eq!(fills_and_copies(&OpenCl::open(&device).unwrap()), Outcome::Passed);
}

#[test]
fn binaries_are_kept() {
    for device in devices_or_skip("opencl", OpenCl::devices()) {
        let folder = tempfile::tempdir().unwrap();
        let open = || Ok(OpenCl::open(&device)?.with_cache(Cache::in_folder(folder.path())));
        assert_eq!(kernels_are_cached(folder.path(), open), Outcome::Passed, "{}", device.name);
    }
}

/// The backend is asked for no program, buffer or kernel object.
#[test]
fn bound_calls_only_run() {
    for device in devices_or_skip("opencl", OpenCl::devices()) {
        match OpenCl::open(&device) {
            Ok(cl) => assert_eq!(repeated_calls_only_run(cl), Outcome::Passed, "{}", device.name),
            Err(error) => skip("opencl", error),
        }
    }
}

fn queue(device: &DeviceInfo, properties: Option<CommandQueueProperties>) -> ocl::Queue {
    let platform = ocl::Platform::from(device.platform_id());
    let device = ocl::Device::from(device.id());
    let context = ocl::Context::builder().platform(platform).devices(device).build().unwrap();
    ocl::Queue::new(&context, device, properties).unwrap()
}

fn bind(cl: &OpenCl, commands: Vec<Command<'_, OpenCl>>) -> Result<Vec<Step>> {
    assert!(!commands.iter().any(|command| matches!(command, Command::Launch { .. })));
    // SAFETY: there is no launch, and OpenCL's steps keep their buffers.
    unsafe { cl.bind(commands, false) }
}

fn run(cl: &OpenCl, commands: Vec<Command<'_, OpenCl>>) {
    cl.run(&bind(cl, commands).unwrap(), None).unwrap();
}

#[test]
fn caps_of_every_device() {
    let Some(_) = device() else { return };
    for (i, device) in OpenCl::devices().unwrap().iter().enumerate() {
        assert_eq!(device.index, i);
        let caps = device.caps().unwrap();
        eprintln!("{device:?}\n{caps:#?}");
        assert!(caps.api.starts_with("OpenCL ") && caps.compute_units > 0 && caps.max_workgroup > 0);
        assert_eq!(OpenCl::open(device).unwrap().caps(), &caps);
        if device.platform == "Portable Computing Language" && device.driver.starts_with("3.") {
            assert_eq!(caps.subgroups.unwrap().source, SubgroupSource::Emulated);
            assert!(caps.atomics64 && caps.forward_progress && caps.float64);
        }
    }
}

#[test]
fn write_fill_copy_read() {
    let Some(device) = device() else { return };
    let cl = OpenCl::open(&device).unwrap();
    let data: Vec<u32> = (0..1000).collect();
    let a = cl.upload(&data).unwrap();
    let b = cl.alloc::<u32>(1000).unwrap();
    assert_eq!((b.span().bytes(), b.span().room()), (4000, 4000));
    let odd = cl.allocate(7).unwrap();
    assert_eq!((odd.bytes(), odd.room()), (7, 16));

    let words = |buffer: &Buffer<u32, OpenCl>, range: Range<usize>| buffer.slice(range).unwrap().span().clone();
    run(
        &cl,
        vec![
            Command::Fill { span: b.span().clone(), value: 0xdead_beef },
            Command::Copy { from: words(&a, 1..501), to: words(&b, 3..503), each: 0 },
            Command::Fill { span: words(&b, 0..0), value: 1 },
            Command::Fill { span: words(&b, 999..1000), value: 7 },
        ],
    );
    let mut expected = vec![0xdead_beef_u32; 1000];
    expected[3..503].copy_from_slice(&data[1..501]);
    expected[999] = 7;
    assert_eq!(b.read().unwrap(), expected);
    assert_eq!(b.slice(502..504).unwrap().read().unwrap(), [500, 0xdead_beef]);
    assert_eq!(b.slice(5..5).unwrap().read().unwrap(), [0_u32; 0]);
}

#[test]
fn no_bytes() {
    let Some(device) = device() else { return };
    let cl = OpenCl::open(&device).unwrap();
    let empty = cl.alloc::<u32>(0).unwrap();
    assert_eq!(empty.span().bytes(), 0);
    empty.write(&[]).unwrap();
    assert!(empty.read().unwrap().is_empty());
    run(&cl, vec![Command::Copy { from: empty.span().clone(), to: empty.span().clone(), each: 0 }]);
    assert_eq!(cl.time(Some(&vec![]), &vec![], None, 3).unwrap(), 0.0);
}

#[test]
fn errors_name_what_was_wrong() {
    let Some(device) = device() else { return };
    let cl = OpenCl::open(&device).unwrap();
    let limit = cl.caps().max_buffer;
    for bytes in [limit + 1, u64::MAX] {
        match cl.allocate(bytes).map(drop) {
            Err(Error::Invalid(message)) => assert!(message.contains(&limit.to_string()), "{message}"),
            other => panic!("{other:?}"),
        }
    }
    let span = cl.allocate(16).unwrap();
    assert!(matches!(cl.write(&span, &[0; 17]), Err(Error::Invalid(_))));
    assert!(matches!(cl.read_blocking(&span, &mut [0; 15]), Err(Error::Invalid(_))));
    let unaligned = Command::Fill { span: span.slice(2, 4).unwrap(), value: 0 };
    assert!(matches!(bind(&cl, vec![unaligned]), Err(Error::Invalid(_))));
    let overlap = Command::Copy { from: span.slice(0, 8).unwrap(), to: span.slice(4, 8).unwrap(), each: 0 };
    let overlap = cl.run(&bind(&cl, vec![overlap]).unwrap(), None);
    assert!(matches!(overlap, Err(Error::Backend { .. })), "{overlap:?}");
    let other = OpenCl::open(&device).unwrap();
    assert!(matches!(other.write(&span, &[0; 16]), Err(Error::Invalid(_))));
}

#[test]
fn views_of_another_contexts_memory_are_refused() {
    let Some(device) = device() else { return };
    let (own, other) = (OpenCl::open(&device).unwrap(), OpenCl::open(&device).unwrap());
    let (from, to) = (own.upload(&[2_u32, 0, 1]).unwrap(), own.alloc(3).unwrap());
    let foreign = other.upload(&[7_u32, 8, 9]).unwrap();
    for view in [foreign.mapped(Same), foreign.gathered(&from), from.gathered(&foreign)] {
        match own.copy(view).to(&to).run() {
            Err(Error::Invalid(why)) => assert!(why.contains("another OpenCL context"), "{why}"),
            outcome => panic!("{outcome:?}"),
        }
    }
    own.copy(from.mapped(Same)).to(&to).run().unwrap();
    assert_eq!((to.read().unwrap(), foreign.read().unwrap()), (vec![2, 0, 1], vec![7, 8, 9]));
}

#[test]
fn times_fills() {
    let Some(device) = device() else { return };
    let cl = OpenCl::open(&device).unwrap();
    let buffer = cl.alloc::<u32>(1 << 18).unwrap();
    let fill = |value| Command::Fill { span: buffer.span().clone(), value };
    let [before, one, two] =
        [vec![fill(1)], vec![fill(2)], vec![fill(2), fill(3)]].map(|fills| bind(&cl, fills).unwrap());
    let once = cl.time(Some(&before), &one, None, 1).unwrap();
    let often = cl.time(Some(&before), &two, None, 10).unwrap();
    assert!(once > 0.0 && often > 0.0, "{once} ms, {often} ms");
    assert_eq!(buffer.slice(..2).unwrap().read().unwrap(), [3, 3]);
}

#[test]
fn the_callers_queue_and_buffers() {
    let Some(device) = device() else { return };
    let queue = queue(&device, None);
    let cl = OpenCl::new(&queue).unwrap();
    assert!(matches!(cl.time(None, &vec![], None, 1), Err(Error::Unsupported(_))));

    let data: Vec<u32> = (0..4096).collect();
    let buffer = ocl::Buffer::<u32>::builder().queue(queue.clone()).len(4096).copy_host_slice(&data).build().unwrap();
    let whole = cl.import(&buffer).unwrap();
    let span = whole.span();
    assert_eq!((span.offset(), span.bytes(), span.room()), (0, 16384, 16384));
    assert_eq!(whole.read().unwrap(), data);

    // The same without ocl's types, on the same queue.
    // SAFETY: the queue is live.
    let other = unsafe { OpenCl::from_raw(queue.as_core().as_ptr()) }.unwrap();
    // SAFETY: the buffer is live.
    let raw = unsafe { other.import_raw::<u32>(buffer.as_core().as_ptr()) }.unwrap();
    assert_eq!(other.queue_ptr(), cl.queue_ptr());
    assert!(other.same(raw.span().handle(), span.handle()));
    assert_eq!(raw.read().unwrap(), data);
    // SAFETY: the buffer is live.
    let no_elements = unsafe { cl.import_raw::<Twelve>(buffer.as_core().as_ptr()) }.map(drop);
    assert!(matches!(&no_elements, Err(Error::Invalid(why)) if why.contains("16384 bytes")), "{no_elements:?}");
    // SAFETY: null is refused.
    let null = unsafe { OpenCl::from_raw(std::ptr::null_mut()) }.map(drop);
    assert!(matches!(null, Err(Error::Invalid(_))), "{null:?}");
    // SAFETY: as above.
    let null = unsafe { cl.import_raw::<u32>(std::ptr::null_mut()) }.map(drop);
    assert!(matches!(null, Err(Error::Invalid(_))), "{null:?}");

    // A sub-buffer is a part of its parent.
    let sub = buffer.create_sub_buffer(None, 2048, 100).unwrap();
    let part = cl.import(&sub).unwrap();
    assert_eq!((part.span().offset(), part.span().bytes(), part.span().room()), (8192, 400, 8192));
    assert!(cl.same(part.span().handle(), span.handle()));
    assert_eq!(part.read().unwrap(), data[2048..2148]);
    run(&cl, vec![Command::Fill { span: part.span().clone(), value: 9 }]);
    let mut read = vec![0; 4096];
    buffer.read(&mut read).enq().unwrap();
    assert_eq!((read[2047], read[2048], read[2147], read[2148]), (2047, 9, 9, 2148));
}

element! {
    /// Twelve bytes: where sub-buffers may start is seldom a multiple of that.
    struct Twelve { a: u32, b: u32, c: u32 }
}

#[derive(Clone)]
struct Greatest;
impl Predicate<Twelve> for Greatest {
    fn name(&self) -> Cow<'static, str> {
        "greatest".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "fn keep(v: T) -> bool { return v.a > v.b; }".into()
    }
    fn keep(&self, v: Twelve) -> bool {
        v.a > v.b
    }
}

/// Elements of twelve bytes in sub-buffers at each place where one may start, up to three of them in.
#[test]
fn structs_in_the_callers_sub_buffers() {
    let Some(device) = device() else { return };
    let queue = queue(&device, None);
    let cl = OpenCl::new(&queue).unwrap();
    let n = 1000;
    let elements: Vec<Twelve> = (0..n).map(|i| Twelve { a: i * 7919 % 1000, b: 500, c: i }).collect();
    let kept: Vec<Twelve> = elements.iter().copied().filter(|v| Greatest.keep(*v)).collect();
    let words: &[u32] = bytemuck::cast_slice(&elements);
    for place in 0..4 {
        let origin = place * (cl.caps().binding_alignment as usize).max(128) / 4;
        let buffer = |len| ocl::Buffer::<u32>::builder().queue(queue.clone()).len(len).fill_val(0).build().unwrap();
        let (from, to, count) = (buffer(origin + words.len()), buffer(origin + words.len()), buffer(4));
        from.write(words).offset(origin).enq().unwrap();
        let part = |buffer: &ocl::Buffer<u32>| buffer.create_sub_buffer(None, origin, words.len()).unwrap();
        let (part_from, part_to) = (part(&from), part(&to));
        let [input, output] = [&part_from, &part_to].map(|part| cl.import(part).unwrap().cast::<Twelve>().unwrap());
        let count = cl.import(&count).unwrap().slice(..1).unwrap();
        cl.select(&input, Greatest).count_to(&count).to(&output).run().unwrap();
        assert_eq!(count.read().unwrap(), [kept.len() as u32], "{origin}");
        assert_eq!(output.slice(..kept.len()).unwrap().read().unwrap(), kept, "{origin}");
    }
}

/// Parts that overlap are undefined in OpenCL, though the spans in them do not.
#[test]
fn structs_in_parts_of_one_buffer() {
    let Some(device) = device() else { return };
    let queue = queue(&device, None);
    let cl = OpenCl::new(&queue).unwrap();
    // Places of sub-buffers that are no whole number of elements, 250 elements apart and more.
    let (place, n) = ((cl.caps().binding_alignment as usize).max(128) / 4, 250);
    let far = 3 * place * 250_usize.div_ceil(place) + place;
    let all = ocl::Buffer::<u32>::builder().queue(queue.clone()).len(far + 3 * n).fill_val(0).build().unwrap();
    let part = |origin| all.create_sub_buffer(None, origin, 3 * n).unwrap();
    let (from, to) = (part(place), part(far));
    let elements: Vec<Twelve> = (0..n as u32).map(|i| Twelve { a: i, b: 100, c: 7 }).collect();
    from.write(bytemuck::cast_slice::<Twelve, u32>(&elements)).enq().unwrap();
    let count = cl.alloc(1).unwrap();
    let [input, output] = [&from, &to].map(|buffer| cl.import(buffer).unwrap().cast::<Twelve>().unwrap());
    cl.select(&input, Greatest).count_to(&count).to(&output).run().unwrap();
    assert_eq!(count.read().unwrap(), [149]);
    assert_eq!(output.slice(..149).unwrap().read().unwrap(), elements[101..]);
    // Behind each other, with a sub-buffer that begins before its span, since no place nearby is whole elements before.
    let whole = cl.import(&all).unwrap();
    let [input, output] =
        [1, 1 + 3 * 100].map(|word| whole.slice(word..word + 3 * 100).unwrap().cast::<Twelve>().unwrap());
    match cl.select(&input, Greatest).count_to(&count).to(&output).run() {
        Err(Error::Invalid(message)) => {
            assert!(message.contains("overlap") || message.contains("no multiple"), "{message}")
        }
        outcome => panic!("{outcome:?}"),
    }
}

/// A launch that is refused gives its sub-buffers back.
#[test]
fn parts_that_overlap_are_refused() {
    let Some(device) = device() else { return };
    let queue = queue(&device, None);
    let cl = OpenCl::new(&queue).unwrap();
    // Each span's sub-buffer begins whole elements before it, and so within the other's, or where that begins.
    let (place, n) = ((cl.caps().binding_alignment as usize).max(128) / 4, 100);
    let all = cl.alloc::<u32>(place + 3 + 6 * n).unwrap();
    let part = |word| all.slice(word..word + 3 * n).unwrap().cast::<Twelve>().unwrap();
    let ([input, output], count) = ([place + 3, place + 3 + 3 * n].map(part), cl.alloc(1).unwrap());
    for _ in 0..10 {
        match cl.select(&input, Greatest).count_to(&count).to(&output).run() {
            Err(Error::Invalid(message)) => assert!(message.contains("in parts that overlap"), "{message}"),
            outcome => panic!("{outcome:?}"),
        }
    }
}

/// Backends on two queues of one context.
fn of_two_queues(device: &DeviceInfo) -> (OpenCl, OpenCl) {
    let queue = queue(device, None);
    let other = ocl::Queue::new(&queue.context(), queue.device(), None).unwrap();
    (OpenCl::new(&queue).unwrap(), OpenCl::new(&other).unwrap())
}

#[test]
fn a_step_of_another_queue_is_refused() {
    let Some(device) = device() else { return };
    let (cl, other) = of_two_queues(&device);
    let buffer = cl.upload(&[1_u32; 16]).unwrap();
    let steps = bind(&cl, vec![Command::Fill { span: buffer.span().clone(), value: 9 }]).unwrap();
    match other.run(&steps, None) {
        Err(Error::Invalid(message)) => assert!(message.contains("another queue"), "{message}"),
        outcome => panic!("{outcome:?}"),
    }
    assert_eq!(buffer.read().unwrap(), [1; 16]);
    cl.run(&steps, None).unwrap();
    assert_eq!(buffer.read().unwrap(), [9; 16]);
}

/// Nothing orders one queue's work behind another's: memory is shared by importing it, which is the program's word that it does.
#[test]
fn memory_of_another_queue_is_refused() {
    let Some(device) = device() else { return };
    let (cl, other) = of_two_queues(&device);
    let buffer = cl.upload(&[1_u32; 16]).unwrap();
    let refused = |ran: Result<()>| match ran {
        Err(Error::Invalid(why)) => assert!(why.contains("memory of another queue"), "{why}"),
        outcome => panic!("{outcome:?}"),
    };
    refused(other.reduce(&buffer, Sum).value().map(drop));
    refused(other.sort(&buffer).in_place().run());
    refused(other.read_blocking(buffer.span(), &mut [0; 64]));
    refused(Device::of(other).import(&buffer).map(drop));
    assert_eq!(Device::of(cl).import(&buffer).unwrap().read().unwrap(), [1; 16]);
}

/// A program's struct may keep a call alone: it has the memory, which the program has dropped, and nobody has it once the call is dropped.
#[test]
fn calls_and_slices_keep_their_memory() {
    let Some(device) = device() else { return };
    let queue = queue(&device, None);
    let cl = OpenCl::new(&queue).unwrap();
    let theirs = ocl::Buffer::<u32>::builder().queue(queue.clone()).len(9).fill_val(1).build().unwrap();
    let watched = theirs.as_core().clone();
    let references = || match ocl::core::get_mem_object_info(&watched, ocl::core::MemInfo::ReferenceCount) {
        Ok(ocl::core::MemInfoResult::ReferenceCount(count)) => count,
        other => panic!("{other:?}"),
    };
    let from = cl.import(&theirs).unwrap();
    let results = cl.upload(&[7_u32; 3]).unwrap();
    let middle = results.slice(1..2).unwrap();
    let call = cl.reduce(&from, Sum).to(&middle).prepare().unwrap();
    drop((theirs, from, results));
    drop((cl, queue));
    assert!(references() > 1);
    call.run().unwrap();
    assert_eq!(middle.read().unwrap(), [9]);
    drop(call);
    middle.device().synchronize().unwrap();
    assert_eq!(references(), 1);
}

#[test]
fn memory_of_the_host_has_its_own_alignment() {
    let Some(device) = device() else { return };
    let queue = queue(&device, None);
    let cl = OpenCl::new(&queue).unwrap();
    let mut data = vec![0_u32; 1025];
    let skip = usize::from((data.as_ptr() as usize).is_multiple_of(8));
    // SAFETY: the vector outlives the buffer and is not touched meanwhile.
    let buffer = unsafe {
        let host = ocl::builders::BufferBuilder::<u32>::new().queue(queue.clone()).len(1024);
        host.use_host_slice(&data[skip..skip + 1024]).build()
    };
    match buffer {
        Ok(buffer) => {
            let imported = cl.import(&buffer).unwrap();
            assert_eq!(cl.handle_alignment(imported.span().handle()), 4);
        }
        Err(error) => eprintln!("not tried: {error}"),
    }
    data.clear();
}

#[test]
fn refuses_what_cannot_work() {
    let Some(device) = device() else { return };
    match ocl::core::get_device_info(device.id(), ocl::core::DeviceInfo::QueueProperties) {
        Ok(ocl::core::DeviceInfoResult::QueueProperties(p))
            if p.contains(CommandQueueProperties::OUT_OF_ORDER_EXEC_MODE_ENABLE) =>
        {
            let unordered = queue(&device, Some(CommandQueueProperties::OUT_OF_ORDER_EXEC_MODE_ENABLE));
            match OpenCl::new(&unordered).map(drop) {
                Err(Error::Invalid(message)) => assert!(message.contains("out of order"), "{message}"),
                other => panic!("{other:?}"),
            }
        }
        _ => eprintln!("not tried: the device has no queues out of order"),
    }
    let (one, other) = (queue(&device, None), queue(&device, None));
    let buffer = ocl::Buffer::<u32>::builder().queue(other).len(16).build().unwrap();
    assert!(matches!(OpenCl::new(&one).unwrap().import(&buffer), Err(Error::Invalid(_))));
}
