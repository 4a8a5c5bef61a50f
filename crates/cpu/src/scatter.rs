//! Scatter.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use rayon::ThreadPool;
use trifold_core::{Error, KernelKey, Request, Result};

use crate::memory::{Access, Region};
use crate::oracle::{Expected, Inputs, Output};
use crate::step::{ALONE_BYTES, Arguments, Shared, Work, in_parts};

/// Values that a thread takes at a time.
const PART: usize = 16 << 10;

#[derive(Clone)]
struct ScatterStep {
    n: usize,
    /// Bytes of a value.
    size: usize,
    values: Region,
    indices: Region,
    output: Region,
}

pub(crate) fn bind(key: &KernelKey, arguments: &Arguments<'_>, _: Option<&[u8]>) -> Result<Box<dyn Work>> {
    let size = key.constant("VALUE_BYTES").filter(|size| *size > 0);
    let size = size.ok_or_else(|| Error::Invalid(format!("{} without a size of values", key.name())))? as usize;
    let (n, unit) = (arguments.count()?, 1 << size.trailing_zeros().min(2));
    let values = arguments.array("input", n, size, unit)?;
    let indices = arguments.array("input_values", n, 4, 4)?;
    let output = arguments.region("output")?;
    output.check_alignment("output", unit)?;
    values.check_apart(&output)?;
    indices.check_apart(&output)?;
    Ok(Box::new(ScatterStep { n, size, values, indices, output }))
}

impl Work for ScatterStep {
    fn run(&self, pool: &ThreadPool) -> Result<()> {
        let ScatterStep { n, size, values, indices, output } = self;
        let _access = Access::to(&[values, indices], &[output])?;
        let room = output.bytes() / size;
        let (from, places, to) = (Shared(values.start()), Shared(indices.start()), Shared(output.start()));
        // Threads may write one place at once: by atomics of a value's size, and of other sizes one thread alone.
        let is_whole = matches!(size, 1 | 2 | 4 | 8) && to.0.addr().is_multiple_of(*size);
        let alone = !is_whole || n * size <= ALONE_BYTES;
        let part = if alone { *n } else { PART }.max(1);
        in_parts(
            pool,
            alone,
            n.div_ceil(part),
            || (),
            |(), i| {
                for at in i * part..((i + 1) * part).min(*n) {
                    // SAFETY: `bind` found `n` values and indices, and the place is within the output. Where several threads run, all write by
                    // atomics, which the output is aligned for.
                    unsafe {
                        let place = places.at(at * 4).cast::<u32>().read() as usize;
                        if place < room {
                            put(from.at(at * size), to.at(place * size), *size, is_whole);
                        }
                    }
                }
            },
        );
        Ok(())
    }

    fn resized(&self, n: usize) -> Box<dyn Work> {
        Box::new(ScatterStep { n, ..self.clone() })
    }
}

/// Writes one value.
///
/// # Safety
/// There is one at `from`, and room for it at `to`. If it is `whole`, others may write there by atomics of its size, which `to` is
/// aligned for. Else nobody else writes there meanwhile.
unsafe fn put(from: *const u8, to: *mut u8, size: usize, whole: bool) {
    // SAFETY: the caller's promises.
    unsafe {
        match (whole, size) {
            (true, 1) => AtomicU8::from_ptr(to).store(from.read(), Ordering::Relaxed),
            (true, 2) => AtomicU16::from_ptr(to.cast()).store(from.cast::<u16>().read_unaligned(), Ordering::Relaxed),
            (true, 4) => AtomicU32::from_ptr(to.cast()).store(from.cast::<u32>().read_unaligned(), Ordering::Relaxed),
            (true, 8) => AtomicU64::from_ptr(to.cast()).store(from.cast::<u64>().read_unaligned(), Ordering::Relaxed),
            _ => to.copy_from_nonoverlapping(from, size),
        }
    }
}

/// What a scatter must give, whose indices name every place.
pub(crate) fn expect(request: &Request, Inputs { input, values, .. }: Inputs<'_>) -> Option<Expected> {
    let Request::Scatter(r) = request else { return None };
    let size = r.element.bytes() as usize;
    let mut output = vec![0; r.room as usize * size];
    for (value, index) in input.chunks_exact(size).zip(values?.chunks_exact(4)) {
        let place = u32::from_le_bytes([index[0], index[1], index[2], index[3]]) as usize;
        if let Some(to) = output.get_mut(place * size..(place + 1) * size) {
            to.copy_from_slice(value);
        }
    }
    Some(Expected::of(Output::exact(&r.element, output)))
}
