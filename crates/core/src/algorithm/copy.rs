//! Copies.

use super::{Algorithm, Needs, Of, Place, Row, Work};
use crate::kernel::{atomic, kernel, read, write};
use crate::plan::{CAPACITY, LENGTH, LENGTH_OFFSET};
use crate::planner::{Planner, whole};
use crate::primitive::copy::CopyRequest;
use crate::scratch::Scratch;
use crate::{ElementType, Kernel, KernelKey, Language, Launch, Param, Region, Result, Scalar, Slot, Step};

pub(super) static KERNEL: Kernel = kernel!(
    "copy/copy",
    "copy",
    &[read("input", "Pack"), write("output", "Pack")],
    &["n", "input_offset", "output_offset"],
);

pub(super) static NARROW: Kernel = kernel!(
    "copy/narrow",
    "copy_narrow",
    &[read("input", "StoredValue"), write("output", "StoredValue")],
    &["n", "input_offset", "output_offset"],
);

/// Changes bits of one word, where an API writes whole words alone.
pub static PATCH: Kernel =
    kernel!("copy/patch", "patch_word", &[atomic("word", "u32")], &["mask", "value", "word_offset"])
        .only(Language::Wgsl);

/// Fills memory with a word where an API has no call for that.
pub static FILL: Kernel =
    kernel!("copy/fill", "fill", &[write("target_words", "u32")], &["n", "value", "target_offset"])
        .only(Language::Wgsl);

/// Writes the parameters of the launches behind it that follow from how many elements a run has, where that is on the device. Its table has 13
/// words a parameter: its place in the parameters, and up to four steps ([`SizeStep`](crate::SizeStep)), each a kind and two numbers.
pub static SIZES: Kernel = kernel!(
    "copy/sizes",
    "sizes",
    &[read(LENGTH, "u32"), read("table", "u32"), write("uniforms", "u32")],
    &["sizes", LENGTH_OFFSET, CAPACITY],
)
.only(Language::Wgsl);

/// A copy by the API, or by a kernel where that is faster.
pub static COPY: Algorithm = Algorithm {
    needs: Needs { place: Place::Anything, ..Needs::WORKGROUPS },
    ..Algorithm::new("copy", "", Of::Copy(Row { plan, traffic: Some(|r, _| 2 * r.bytes()) }))
};

/// Those of the primitive.
pub(crate) static ALL: &[&Algorithm] = &[&COPY];

/// What it launches, what fills, and what writes parameters.
pub(crate) static KERNELS: &[&Kernel] = &[&KERNEL, &NARROW, &FILL, &PATCH, &SIZES];

/// The bytes that one launch copies: 2^31 words, which a kernel can count.
const COPIED_AT_ONCE: u64 = 1 << 33;

fn plan(planner: &Planner<'_>, request: &CopyRequest) -> Result<Work> {
    let bytes = request.bytes();
    // The API's call takes its bytes from the host.
    if planner.caps.native_copy && !planner.layout.reads_length || planner.caps.language == Language::Host {
        let (from, to) = (whole(Slot::Input, bytes), whole(Slot::Output, bytes));
        return Ok(Work::new(Scratch::default(), vec![Step::Copy { from, to, each: request.element.bytes() }]));
    }
    if request.element.unit() < 4 {
        return Ok(Work::new(Scratch::default(), vec![Step::Launch(narrow(planner, request))]));
    }
    // Words, whatever the elements are: four at a time where the spans allow it.
    let word = ElementType::Scalar(Scalar::U32);
    let pack = planner.pack(&word);
    let (workgroup, rows) = (256.min(planner.caps.max_workgroup), 8);
    // A launch's elements are whole ones, and so are packs.
    let each = u64::from(request.element.bytes());
    let at_once = COPIED_AT_ONCE / (16 * each) * 16;
    let launch = |first: u64| {
        let elements = at_once.min(request.n - first);
        let of = |slot| Region { slot, offset: first * each, bytes: elements * each };
        let words = (elements * each / 4) as u32;
        let constants = vec![("WORKGROUP", workgroup), ("ROWS", rows), pack.constant()];
        let kernel = KernelKey::new(&KERNEL, vec!["element/load", "element/store"], constants);
        Step::Launch(Launch {
            kernel: KernelKey { element: Some(word.clone()), ..kernel },
            groups: words.div_ceil(workgroup * rows * pack.elements),
            bindings: vec![("input", of(Slot::Input)), ("output", of(Slot::Output))],
            params: vec![
                ("n", Param::ELEMENTS.window(first as u32, elements as u32).times(request.element.words())),
                ("input_offset", Param::Offset { binding: "input", unit: pack.bytes }),
                ("output_offset", Param::Offset { binding: "output", unit: pack.bytes }),
            ],
            initial: None,
        })
    };
    Ok(Work::new(Scratch::default(), (0..request.n).step_by(at_once as usize).map(launch).collect()))
}

/// A copy of elements that are not whole words.
fn narrow(planner: &Planner<'_>, request: &CopyRequest) -> Launch {
    let (workgroup, rows, unit) = (256.min(planner.caps.max_workgroup), 8, request.element.unit());
    let parts = request.element.bytes() / unit;
    let constants = vec![("WORKGROUP", workgroup), ("ROWS", rows), ("VALUE_UNIT", unit)];
    // In WGSL a word is an invocation's, and the output may begin and end within one.
    let (share, more) = if planner.caps.language == Language::Wgsl { (4 / unit, 1) } else { (1, 0) };
    let items = (request.n as u32 * parts).div_ceil(share) + more;
    Launch {
        kernel: KernelKey::new(&NARROW, vec![], constants),
        groups: items.div_ceil(workgroup * rows),
        bindings: vec![
            ("input", whole(Slot::Input, request.bytes())),
            ("output", whole(Slot::Output, request.bytes())),
        ],
        params: vec![
            ("n", Param::ELEMENTS.times(parts)),
            ("input_offset", Param::Offset { binding: "input", unit }),
            ("output_offset", Param::Offset { binding: "output", unit }),
        ],
        initial: None,
    }
}
