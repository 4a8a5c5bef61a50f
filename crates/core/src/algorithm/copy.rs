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

/// The CPU backend's, of a view.
pub(super) static PARALLEL: Kernel = Kernel::host("copy/parallel");

/// A copy by the API, or by a kernel where that is faster.
pub static COPY: Algorithm = Algorithm {
    needs: Needs { place: Place::Anything, ..Needs::WORKGROUPS },
    ..Algorithm::new("copy", "", Of::Copy(Row { plan, traffic: Some(|r, _| 2 * r.bytes()) }))
};

/// Those of the primitive.
pub(crate) static ALL: &[&Algorithm] = &[&COPY];

/// What it launches, what fills, and what writes parameters.
pub(crate) static KERNELS: &[&Kernel] = &[&KERNEL, &NARROW, &FILL, &PATCH, &SIZES, &PARALLEL];

/// The words, or the parts of words, that one launch copies: as many as a kernel can count.
const COPIED_AT_ONCE: u64 = 1 << 31;

/// A view's elements, each as its map gives it: so many of a run's.
pub(crate) fn of_view(planner: &Planner<'_>, request: &CopyRequest, n: Param) -> Launch {
    let element = &request.element;
    let (pack, unit) = (planner.pack(element), element.unit());
    let (workgroup, rows) = (256.min(planner.caps.max_workgroup), 8);
    let shape = vec![("WORKGROUP", workgroup), ("ROWS", rows)];
    let blocks = vec!["element/load", "element/store"];
    // What an invocation takes at once, and bytes that offsets count. In WGSL a word is an invocation's, and the output may begin and
    // end within one.
    let (kernel, taken, more, offset_unit) = match planner.caps.language {
        Language::Host => (KernelKey::new(&PARALLEL, vec![], vec![]), 1, 0, 1),
        language if unit < 4 => {
            let (taken, more) = if language == Language::Wgsl { (4 / unit, 1) } else { (1, 0) };
            (KernelKey::new(&NARROW, vec![], [shape, vec![("VALUE_UNIT", unit)]].concat()), taken, more, unit)
        }
        _ => {
            let kernel = KernelKey::new(&KERNEL, blocks, [shape, vec![pack.constant()]].concat());
            (KernelKey { element: Some(element.clone()), ..kernel }, pack.elements, 0, pack.bytes)
        }
    };
    Launch {
        kernel,
        groups: ((request.n as u32).div_ceil(taken) + more).div_ceil(workgroup * rows),
        bindings: vec![
            ("input", whole(Slot::Input, request.bytes())),
            ("output", whole(Slot::Output, request.bytes())),
        ],
        params: vec![
            ("n", n),
            ("input_offset", Param::Word(0)),
            ("output_offset", Param::Offset { binding: "output", unit: offset_unit }),
        ],
        initial: None,
    }
}

pub(crate) fn plan(planner: &Planner<'_>, request: &CopyRequest) -> Result<Work> {
    let bytes = request.bytes();
    if !planner.views.is_empty() {
        return Ok(Work::new(Scratch::default(), vec![Step::Launch(of_view(planner, request, Param::ELEMENTS))]));
    }
    // The API's call takes its bytes from the host.
    if planner.caps.native_copy && !planner.layout.reads_length || planner.caps.language == Language::Host {
        let (from, to) = (whole(Slot::Input, bytes), whole(Slot::Output, bytes));
        return Ok(Work::new(Scratch::default(), vec![Step::Copy { from, to, each: request.element.bytes() }]));
    }
    // Words, whatever the elements are, four at a time where the spans allow it; or what elements that are not whole words are made of.
    let (word, unit) = (ElementType::Scalar(Scalar::U32), request.element.unit());
    let (pack, is_narrow) = (planner.pack(&word), unit < 4);
    let (workgroup, rows) = (256.min(planner.caps.max_workgroup), 8);
    // What an invocation takes at once of these parts. In WGSL a word is an invocation's, and the output may begin and end within one.
    let (taken, more) = match planner.caps.language {
        _ if !is_narrow => (pack.elements, 0),
        Language::Wgsl => (4 / unit, 1),
        _ => (1, 0),
    };
    let offset_unit = if is_narrow { unit } else { pack.bytes };
    // A launch's elements are whole ones, and so are packs.
    let (each, parts) = (u64::from(request.element.bytes()), request.element.bytes() / unit);
    let at_once = COPIED_AT_ONCE * u64::from(unit) / (16 * each) * 16;
    let launch = |first: u64| {
        let elements = at_once.min(request.n - first);
        let of = |slot| Region { slot, offset: first * each, bytes: elements * each };
        let items = (elements as u32 * parts).div_ceil(taken) + more;
        let shape = vec![("WORKGROUP", workgroup), ("ROWS", rows)];
        let kernel = match is_narrow {
            true => KernelKey::new(&NARROW, vec![], [shape, vec![("VALUE_UNIT", unit)]].concat()),
            false => KernelKey {
                element: Some(word.clone()),
                ..KernelKey::new(
                    &KERNEL,
                    vec!["element/load", "element/store"],
                    [shape, vec![pack.constant()]].concat(),
                )
            },
        };
        Step::Launch(Launch {
            kernel,
            groups: items.div_ceil(workgroup * rows),
            bindings: vec![("input", of(Slot::Input)), ("output", of(Slot::Output))],
            params: vec![
                ("n", Param::ELEMENTS.window(first as u32, elements as u32).times(parts)),
                ("input_offset", Param::Offset { binding: "input", unit: offset_unit }),
                ("output_offset", Param::Offset { binding: "output", unit: offset_unit }),
            ],
            initial: None,
        })
    };
    Ok(Work::new(Scratch::default(), (0..request.n).step_by(at_once as usize).map(launch).collect()))
}
