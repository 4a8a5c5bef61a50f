//! Host bytes that begin and end within a 32-bit word, which wgpu does not move by itself.

mod adapters;

use trifold_core::{Result, Sort, Transfer};
use trifold_wgpu::Wgpu;

#[test]
fn any_bytes_are_written_read_and_copied() {
    for adapter in adapters::that_open() {
        moves_bytes(&Wgpu::open(&adapter).unwrap()).unwrap();
    }
}

fn moves_bytes(gpu: &Wgpu) -> Result<()> {
    let whole: Vec<u8> = (0..40).collect();
    for (start, end) in (0..9).flat_map(|start: usize| (start..13).map(move |end| (start, end))) {
        let (buffer, other) = (gpu.upload(&whole)?, gpu.upload(&whole)?);
        let part = buffer.slice(start..end)?;
        let new: Vec<u8> = (start..end).map(|i| 200 + i as u8).collect();
        part.write(&new)?;
        let mut want = whole.clone();
        want[start..end].copy_from_slice(&new);
        assert_eq!((buffer.read()?, part.read()?), (want, new.clone()), "{start}..{end}");

        let to = other.slice(start + 3..end + 3)?;
        gpu.copy(&part).to(&to).run()?;
        let mut want = whole.clone();
        want[start + 3..end + 3].copy_from_slice(&new);
        assert_eq!(other.read()?, want, "{start}..{end}");
    }
    let odd = gpu.upload(&[9u8, 3, 7, 1, 5])?;
    gpu.sort(&odd.slice(1..4)?).in_place().run()?;
    assert_eq!(odd.read()?, [9, 1, 3, 7, 5]);
    Ok(())
}
