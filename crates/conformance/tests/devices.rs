//! Memory of one backend in calls of another, where both are a `Device`.

use trifold_conformance::{Same, Watched};
use trifold_core::{Backend, Device, Error, Sort, Transfer};
use trifold_cpu::Cpu;

#[test]
fn another_backends_memory_is_refused() {
    let cpu = Cpu::with_threads(1).unwrap();
    let own = Device::of(Watched::new(Cpu::with_threads(1).unwrap(), |_| {}));
    let (from, to) = (own.upload(&[3_u32, 1, 2]).unwrap(), own.alloc(3).unwrap());
    let foreign = Device::of(cpu.clone()).upload(&[1_u32, 0, 2]).unwrap();
    let outcomes = [
        own.copy(&foreign).to(&to).run(),
        own.copy(&from).to(&foreign).run(),
        own.sort(&foreign).in_place().run(),
        own.sort(&from).with(&foreign).read().map(drop),
        own.copy(foreign.mapped(Same)).to(&to).run(),
        own.copy(foreign.gathered(&from)).to(&to).run(),
        own.copy(from.gathered(&foreign)).to(&to).run(),
        own.write(foreign.span(), &[0; 12]),
        own.read_blocking(foreign.span(), &mut [0; 12]),
    ];
    for (i, outcome) in outcomes.into_iter().enumerate() {
        let is_refused = matches!(&outcome, Err(Error::Invalid(why)) if why.contains("memory of another device"));
        assert!(is_refused, "{i}: {outcome:?}");
    }
    let imported = own.import(&cpu.upload(&[1_u32]).unwrap()).map(drop);
    assert!(matches!(&imported, Err(Error::Invalid(why)) if why.contains("import it there")), "{imported:?}");
    own.copy(&from).to(&to).run().unwrap();
    assert_eq!((to.read().unwrap(), foreign.read().unwrap()), (vec![3, 1, 2], vec![1, 0, 2]));
}
