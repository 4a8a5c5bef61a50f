//! Partitions into several parts, of elements of any size and any number of them.

use std::fmt::Debug;

use trifold_core::{Backend, Element, Select, Transfer};

use super::{expect, refuse};
use crate::case::Failure;
use crate::inputs::Random;
use crate::operators::Stamped;

/// Elements of several tiles.
const MANY: usize = 20_000;

pub(super) fn parts<B: Backend + Select>(gpu: &B) -> Result<(), Failure> {
    let mut random = Random::named("parts");
    let words: Vec<u64> = (0..MANY).map(|_| random.next()).collect();
    of(gpu, &words)?;
    of(gpu, &words.iter().map(|&word| word as u8).collect::<Vec<_>>())?;
    of(gpu, &words.iter().map(|&word| word as u16).collect::<Vec<_>>())?;
    let stamped = |&time: &u64| Stamped { time, level: time as u32, id: (time >> 32) as u32 };
    of(gpu, &words.iter().map(stamped).collect::<Vec<_>>())?;
    let x = gpu.upload(&words)?;
    let unlike = gpu.partition_by(&x, &gpu.upload(&[0u32; 3])?, 3).read().map(drop);
    refuse("fewer classes than elements", unlike, "3 classes and 20000 elements")
}

/// Of none, of one, of few and of many elements, in two, three and a thousand parts. Some classes are past the last.
fn of<T: Element + PartialEq + Debug, B: Backend + Select>(gpu: &B, elements: &[T]) -> Result<(), Failure> {
    for (n, parts) in [(0, 3), (1, 3), (2, 3), (77, 3), (MANY, 2), (MANY, 3), (MANY, 1000)] {
        let classes: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761) % (parts as u32 + 1)).collect();
        let mut wanted = vec![vec![]; parts];
        for (&element, &class) in elements.iter().zip(&classes) {
            wanted[(class as usize).min(parts - 1)].push(element);
        }
        let x = gpu.upload(&elements[..n])?;
        let found = gpu.partition_by(&x, &gpu.upload(&classes)?, parts).read()?;
        expect(&format!("{n} of {} in {parts} parts", T::TYPE.name()), found, wanted)?;
    }
    Ok(())
}
