//! Comparing what a device gave with what it should have given, element by element.

use trifold_core::{ElementType, Scalar};

/// The first difference between two arrays. With `any_nan`, all NaN are equal.
pub(crate) fn exact(element: &ElementType, want: &[u8], got: &[u8], any_nan: bool) -> Result<(), String> {
    if want.len() != got.len() {
        return Err(format!("{} bytes, not {}", got.len(), want.len()));
    }
    if want == got {
        return Ok(());
    }
    let size = element.bytes() as usize;
    let (mut wrong, mut first) = (0u64, None);
    for (i, (w, g)) in want.chunks_exact(size).zip(got.chunks_exact(size)).enumerate() {
        if w != g && !(any_nan && same_but_nan(element, w, g)) {
            wrong += 1;
            first.get_or_insert((i, w, g));
        }
    }
    match first {
        None => Ok(()),
        Some((i, w, g)) => {
            let n = want.len() / size;
            Err(format!("element {i} is {}, not {} ({wrong} of {n} differ)", show(element, g), show(element, w)))
        }
    }
}

/// As [`exact`], where only the first elements are written and the others must hold the byte `stale`.
pub(crate) fn written(element: &ElementType, want: &[u8], got: &[u8], stale: u8) -> Result<(), String> {
    let Some((first, others)) = got.split_at_checked(want.len()) else {
        return Err(format!("{} bytes, not {} and more", got.len(), want.len()));
    };
    exact(element, want, first, false)?;
    match others.iter().position(|byte| *byte != stale) {
        Some(at) => Err(format!("byte {} past the last element that is kept was written to", at)),
        None => Ok(()),
    }
}

/// The first element further from its reference than `depth * eps * scale`.
pub(crate) fn near(
    element: &ElementType,
    values: &[f64],
    scales: &[f64],
    depth: u64,
    got: &[u8],
) -> Result<(), String> {
    let size = element.bytes() as usize;
    if got.len() != values.len() * size {
        return Err(format!("{} bytes, not {}", got.len(), values.len() * size));
    }
    for (i, bytes) in got.chunks_exact(size).enumerate() {
        let (want, got) = (values[i], float(bytes));
        let bound = bound(element, depth, scales[i]);
        if !close(want, got, bound) {
            return Err(format!("element {i} is {got:e}, not {want:e} within {bound:e}"));
        }
    }
    Ok(())
}

/// `depth * eps * scale`.
pub(crate) fn bound(element: &ElementType, depth: u64, scale: f64) -> f64 {
    let epsilon = if element.bytes() == 4 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    depth as f64 * epsilon * scale
}

/// Whether two floats are within a bound, both NaN, or the same infinity.
pub(crate) fn close(a: f64, b: f64, bound: f64) -> bool {
    (a.is_nan() && b.is_nan()) || a == b || (a.is_finite() && b.is_finite() && (a - b).abs() <= bound)
}

/// A float of four or eight bytes.
pub(crate) fn float(bytes: &[u8]) -> f64 {
    match bytes.len() {
        4 => f64::from(bytemuck::pod_read_unaligned::<f32>(bytes)),
        _ => bytemuck::pod_read_unaligned(bytes),
    }
}

fn same_but_nan(element: &ElementType, want: &[u8], got: &[u8]) -> bool {
    let mut at = 0;
    element.scalars().all(|scalar| {
        let range = at..at + scalar.bytes() as usize;
        at = range.end;
        let (w, g) = (&want[range.clone()], &got[range]);
        w == g || (scalar.is_float() && float(w).is_nan() && float(g).is_nan())
    })
}

fn show(element: &ElementType, bytes: &[u8]) -> String {
    let mut at = 0;
    let fields: Vec<String> = element
        .scalars()
        .map(|scalar| {
            let field = &bytes[at..at + scalar.bytes() as usize];
            at += field.len();
            match scalar {
                Scalar::U32 => bytemuck::pod_read_unaligned::<u32>(field).to_string(),
                Scalar::I32 => bytemuck::pod_read_unaligned::<i32>(field).to_string(),
                Scalar::U64 => bytemuck::pod_read_unaligned::<u64>(field).to_string(),
                Scalar::I64 => bytemuck::pod_read_unaligned::<i64>(field).to_string(),
                Scalar::F32 => {
                    let x: f32 = bytemuck::pod_read_unaligned(field);
                    format!("{x:e} ({:#010x})", x.to_bits())
                }
                Scalar::F64 => {
                    let x: f64 = bytemuck::pod_read_unaligned(field);
                    format!("{x:e} ({:#018x})", x.to_bits())
                }
            }
        })
        .collect();
    if fields.len() == 1 { fields[0].clone() } else { format!("({})", fields.join(", ")) }
}
