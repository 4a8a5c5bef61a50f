//! Memory, kernels and steps of one opening in another's calls: of the same wgpu instance, and of another one, in which other buffers have
//! the same numbers.

mod adapters;

use trifold_conformance::Same;
use trifold_core::{
    Backend, Buffer, Command, Error, Layout, Options, Prepared, Reduce, Result, Scan, Sort, Spans, Sum, Transfer,
    Values, block_on,
};
use trifold_wgpu::Wgpu;

fn is_refused<T>(what: &str, outcome: Result<T>) {
    match outcome {
        Err(Error::Invalid(why)) => assert!(why.contains("another opening"), "{what}: {why}"),
        Err(other) => panic!("{what}: {other}"),
        Ok(_) => panic!("{what}: it is taken"),
    }
}

/// What takes memory, with some of it another's.
fn calls(own: &Wgpu, other: &Wgpu) {
    let (from, to) = (own.upload(&[3_u32, 1, 2]).unwrap(), own.alloc(3).unwrap());
    let foreign = other.upload(&[7_u32, 8, 9]).unwrap();

    let taken = Buffer::<u32, Wgpu>::of_span(own, foreign.span().clone()).unwrap();
    is_refused("write", taken.write(&[0; 3]));
    is_refused("read", taken.read());
    is_refused("reduce", own.reduce(&from, Sum).to(&foreign.slice(..1).unwrap()).run());
    for (what, from, to) in [("from", &foreign, &to), ("to", &from, &foreign)] {
        is_refused(&format!("scan {what}"), own.inclusive_scan(from, Sum).to(to).run());
        is_refused(&format!("sort {what}"), own.sort(from).to(to).run());
        is_refused(&format!("copy {what}"), own.copy(from).to(to).run());
    }
    let views = [
        ("mapped", foreign.mapped(Same)),
        ("gathered from", foreign.gathered(&from)),
        ("indices", from.gathered(&foreign)),
        ("searched", from.lower_bounds(&foreign)),
    ];
    for (what, view) in views {
        is_refused(what, own.copy(&view).to(&to).run());
        is_refused(what, own.reduce(view, Sum).value());
    }
    let (values, moved) = (own.alloc::<u32>(3).unwrap(), own.alloc(3).unwrap());
    is_refused("values", own.sort(&from).with(&foreign).to((&to, &moved)).run());
    is_refused("values' output", own.sort(&from).with(&values).to((&to, &foreign)).run());

    let many = own.alloc::<u32>(20_000).unwrap();
    let request = own.sort(&many).in_place().request().clone();
    let layout = Layout::default().with(|layout| {
        layout.wide = true;
        layout.in_place = true;
    });
    let sort = block_on(Prepared::new(own, &request, layout, Options::default())).unwrap();
    assert!(sort.plan().scratch_bytes() > 0);
    let room = other.allocate(sort.plan().scratch_bytes()).unwrap();
    is_refused("scratch", sort.bind_with_scratch(&Spans::new(many.span(), many.span()), &room));

    assert_eq!(from.read().unwrap(), [3, 1, 2]);
    assert_eq!(foreign.read().unwrap(), [7, 8, 9]);
}

/// Kernels and steps, which whoever drives a backend by itself has in hand.
fn commands(own: &Wgpu, other: &Wgpu) {
    let (from, to) = (own.upload(&[3_u32, 1, 2]).unwrap(), own.upload(&[0_u32; 3]).unwrap());
    let plan = own.copy(&from).to(&to).plan().unwrap();
    let launch = plan.launched().next().unwrap();
    let theirs = block_on(other.compile(&launch.kernel)).unwrap();
    let spans = || vec![("input", from.span().clone()), ("output", to.span().clone())];
    let bind = |kernel| {
        let (key, groups) = (&launch.kernel, launch.groups);
        let values = Values { params: &launch.params, n: 3, initial: None };
        // SAFETY: it is the launch of a plan for this device, with the spans of that plan.
        unsafe { own.bind(vec![Command::Launch { key, kernel, groups, spans: spans(), values }], false) }
    };
    is_refused("a kernel", bind(&theirs));
    let steps = bind(&block_on(own.compile(&launch.kernel)).unwrap()).unwrap();
    is_refused("a step", other.run(&steps, None));
    assert_eq!(to.read().unwrap(), [0; 3]);
    own.run(&steps, None).unwrap();
    assert_eq!(to.read().unwrap(), [3, 1, 2]);
}

#[test]
fn what_another_opening_has_is_refused() {
    for adapter in adapters::that_open() {
        let open = || Wgpu::open(&adapter).unwrap();
        let (own, other) = (open(), open());
        let elsewhere = Wgpu::devices();
        let again =
            elsewhere.iter().find(|a| a.info.name == adapter.info.name && a.info.backend == adapter.info.backend);
        for other in [other, Wgpu::open(again.unwrap()).unwrap()] {
            calls(&own, &other);
            commands(&own, &other);
        }
    }
}

/// What one opening has not is imported: two of one device share a buffer so.
#[test]
fn a_buffer_is_shared_by_importing_it() {
    for adapter in adapters::that_open() {
        let own = Wgpu::open(&adapter).unwrap();
        let other = Wgpu::new(own.device().clone(), own.queue().clone()).unwrap();
        let (data, sum) = (own.upload(&[3_u32, 1, 2]).unwrap(), own.alloc::<u32>(1).unwrap());
        is_refused("read", other.reduce(&data, Sum).value());
        // Allocations are rounded up, and a buffer is imported whole.
        let import = |buffer: &Buffer<u32, Wgpu>| other.import::<u32>(buffer.span().handle()).unwrap();
        let (theirs, result) = (import(&data).slice(..3).unwrap(), import(&sum).slice(..1).unwrap());
        other.reduce(&theirs, Sum).to(&result).run().unwrap();
        assert_eq!(sum.read().unwrap(), [6]);
    }
}
