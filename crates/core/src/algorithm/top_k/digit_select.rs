//! A radix selection: the last key that is wanted, digit by digit.

use super::{NTH, TopKTask};
use crate::algorithm::{Algorithm, Of, Row, Work};
use crate::planner::{Planner, offset, whole};
use crate::primitive::top_k::TopKRequest;
use crate::scratch::Scratch;
use crate::{Param, Result, Slot};

/// The planner's choice for the last key alone: reads each key once for each eight bits that are compared.
pub static DIGIT_SELECT: Algorithm = Algorithm {
    views: &[Slot::Input],
    ..Algorithm::new("digit_select", "top-k-digit-select.md", Of::TopK(Row { plan, traffic: Some(|r, _| read(r)) }))
};

/// The bytes of the keys, once for each digit.
fn read(request: &TopKRequest) -> u64 {
    let places = request.image().map_or(1, |image| image.width().div_ceil(8));
    request.n.saturating_mul(request.key.bytes().into()).saturating_mul(places.into())
}

fn plan(planner: &Planner<'_>, request: &TopKRequest) -> Result<Work> {
    let task = TopKTask { planner, request, image: request.image()? };
    let mut scratch = Scratch::default();
    let bounds = task.bounds(&mut scratch);
    let image = &task.image;
    // A key is its image, unless the image leaves out a part of it: then the digits of an index say which of them it is.
    let index_places = if image.width() == 8 * image.bytes { 0 } else { task.index_places() };
    let mut steps = vec![bounds.clear()];
    // No number of keys that were found is enough.
    steps.extend(task.digits(&bounds, 0, index_places));
    let output = whole(Slot::Output, image.bytes.into());
    steps.push(task.launch(
        (&NTH, &["top_k/bound_words"]),
        &[("INDEX_PLACES", index_places)],
        1,
        vec![("input", task.keys()), ("bound", bounds.region), ("output", output)],
        vec![("n", Param::ELEMENTS), task.input_offset(), ("output_offset", offset("output", output, image.bytes))],
    ));
    Ok(Work::new(scratch, steps))
}
