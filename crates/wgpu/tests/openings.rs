//! Memory, kernels and steps of one opening in another's calls: of the same wgpu instance, and of another one, in which other buffers have
//! the same numbers.

mod adapters;

use trifold_core::{
    Backend, CopyRequest, Element, Error, Layout, Options, Order, Prepared, Reduce, Request, Result, Scan, Sort, Span,
    Spans, Sum, Transfer, block_on,
};
use trifold_wgpu::Wgpu;

fn is_refused<T>(what: &str, outcome: Result<T>) {
    match outcome {
        Err(Error::Invalid(why)) => assert!(why.contains("another opening"), "{what}: {why}"),
        Err(other) => panic!("{what}: {other}"),
        Ok(_) => panic!("{what}: it is taken"),
    }
}

fn prepared(gpu: &Wgpu, request: &Request) -> Prepared<Wgpu> {
    block_on(Prepared::new(gpu, request, Layout::default(), Options::default())).unwrap()
}

/// What takes memory or steps, with some of it another's.
fn calls(own: &Wgpu, other: &Wgpu) {
    let (a, b) = (own.upload(&[3_u32, 1, 2]).unwrap(), own.alloc(12).unwrap());
    let theirs = other.upload(&[7_u32, 8, 9]).unwrap();
    let (from, to, foreign) = (own.span(&a), own.span(&b), other.span(&theirs));

    is_refused("write", own.write(&foreign, &[0; 12]));
    is_refused("write, by a span of one's own", own.write(&own.span(&theirs), &[0; 12]));
    is_refused("read", block_on(own.read(&foreign, &mut [0; 12])));
    is_refused("reduce", own.reduce::<u32, Sum>(&from, &foreign.slice(0, 4).unwrap()));
    let copy = Request::Copy(CopyRequest { element: u32::TYPE, n: 3 });
    let bind = |gpu: &Wgpu, prepared: &Prepared<Wgpu>, from: &Span<'_, Wgpu>, to: &Span<'_, Wgpu>| {
        prepared.bind(gpu, &Spans::new(from, to)).map(drop)
    };
    let copy = [own, other].map(|gpu| prepared(gpu, &copy));
    for (what, from, to) in [("from", &foreign, &to), ("to", &from, &foreign)] {
        is_refused(&format!("scan {what}"), own.inclusive_scan::<u32, Sum>(from, to));
        is_refused(&format!("sort {what}"), own.sort_keys::<u32>(Order::Ascending, from, to));
        is_refused(&format!("copy {what}"), bind(own, &copy[0], from, to));
    }
    is_refused("a kernel", bind(own, &copy[1], &from, &to));
    let sort = prepared(own, &Request::sort_pairs::<u32, u32>(Order::Ascending, 3));
    let (more, room) = (own.alloc(32).unwrap(), other.alloc(1 << 20).unwrap());
    let (values, sorted) = (own.span(&more).slice(0, 12).unwrap(), own.span(&more).slice(16, 12).unwrap());
    let spans = Spans::new(&from, &to).with_values(&foreign, &sorted);
    is_refused("values", sort.bind(own, &spans).map(drop));
    if sort.plan().scratch_bytes() > 0 {
        let spans = Spans::new(&from, &to).with_values(&values, &sorted);
        is_refused("scratch", sort.bind_with_scratch(own, &spans, &other.span(&room)).map(drop));
    }
    let to = other.span(&room).slice(0, 12).unwrap();
    let theirs = copy[1].bind(other, &Spans::new(&foreign, &to)).unwrap();
    is_refused("a step", theirs.run(own));

    assert_eq!(own.download::<u32>(&from).unwrap(), [3, 1, 2]);
    assert_eq!(other.download::<u32>(&foreign).unwrap(), [7, 8, 9]);
}

#[test]
fn what_another_opening_has_is_refused() {
    for adapter in adapters::that_open() {
        let open = || Wgpu::open(&adapter).unwrap();
        let own = open();
        calls(&own, &open());
        let elsewhere = Wgpu::devices();
        let again =
            elsewhere.iter().find(|a| a.info.name == adapter.info.name && a.info.backend == adapter.info.backend);
        calls(&own, &Wgpu::open(again.unwrap()).unwrap());
    }
}

/// What one opening has not is imported: two of one device share a buffer so.
#[test]
fn a_buffer_is_shared_by_importing_it() {
    for adapter in adapters::that_open() {
        let own = Wgpu::open(&adapter).unwrap();
        let other = Wgpu::new(own.device().clone(), own.queue().clone()).unwrap();
        let data = own.upload(&[3_u32, 1, 2]).unwrap();
        let sum = own.alloc(4).unwrap();
        let span = own.span(&data);
        is_refused("read", block_on(other.read(&span, &mut [0; 12])));
        let theirs = other.import(span.handle()).slice(0, 12).unwrap();
        other.reduce::<u32, Sum>(&theirs, &other.import(own.span(&sum).handle()).slice(0, 4).unwrap()).unwrap();
        assert_eq!(own.download::<u32>(&own.span(&sum)).unwrap(), [6]);
    }
}
