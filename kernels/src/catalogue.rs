//! Every kernel, with its arguments and parameters.

use trifold_core::{Error, KernelKey, Language, Result};

/// What a kernel does with an argument's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only reads it. In WGSL it is bound read_write all the same: wgpu tracks whole buffers, and another argument may
    /// be in the same one.
    Read,
    /// Reads and writes it.
    ReadWrite,
    /// Reads and writes it by atomics.
    Atomic,
    /// Reads and writes what other workgroups do meanwhile: `@coherent` in WGSL.
    Coherent,
}

/// A kernel's argument that is device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument {
    /// Its name in all three languages.
    pub name: &'static str,
    /// The type of its elements, in all three languages.
    pub of: &'static str,
    /// What the kernel does with it.
    pub access: Access,
    /// Whether a launch may leave it out: then it is null in OpenCL and CUDA, and not in the layout in WGSL.
    pub optional: bool,
}

/// A launch's spans in the kernel's order; `None` where an optional argument is left out.
///
/// # Errors
/// [`Error::Invalid`] for a span that the kernel does not take, or one that it lacks.
pub fn in_order<'s, S>(kernel: &str, arguments: &[Argument], spans: &'s [(&str, S)]) -> Result<Vec<Option<&'s S>>> {
    if let Some((extra, _)) = spans.iter().find(|(name, _)| arguments.iter().all(|argument| argument.name != *name)) {
        return Err(Error::Invalid(format!("{kernel} has no argument `{extra}`")));
    }
    let spans = arguments.iter().map(|argument| match spans.iter().find(|(name, _)| *name == argument.name) {
        Some((_, span)) => Ok(Some(span)),
        None if argument.optional => Ok(None),
        None => Err(Error::Invalid(format!("{kernel} needs its argument `{}`", argument.name))),
    });
    spans.collect()
}

/// A kernel of the catalogue.
#[derive(Debug)]
pub struct Entry {
    /// Its name, and its file below `kernels/`.
    pub name: &'static str,
    /// The function.
    pub entry_point: &'static str,
    /// Its arguments, in order. The parameters come after them.
    pub arguments: &'static [Argument],
    /// Its parameters, in order, each a 32-bit word.
    pub params: &'static [&'static str],
    /// Whether its parameters begin with an element, `initial`.
    pub initial: bool,
    /// The first CUDA architecture it compiles for: 75 for sm_75.
    pub cuda_from: u32,
    /// The only language it is written in, if it is not in all: the other APIs have a call for it, or lack what it uses.
    pub only: Option<Language>,
}

const fn read(name: &'static str, of: &'static str) -> Argument {
    Argument { name, of, access: Access::Read, optional: false }
}
const fn write(name: &'static str, of: &'static str) -> Argument {
    Argument { access: Access::ReadWrite, ..read(name, of) }
}
const fn atomic(name: &'static str, of: &'static str) -> Argument {
    Argument { access: Access::Atomic, ..read(name, of) }
}
const fn coherent(name: &'static str, of: &'static str) -> Argument {
    Argument { access: Access::Coherent, ..read(name, of) }
}

impl Argument {
    const fn optional(self) -> Argument {
        Argument { optional: true, ..self }
    }

    /// Whether a kernel's launches have it.
    pub fn is_of(&self, key: &KernelKey) -> bool {
        !self.optional || key.arguments.contains(&self.name)
    }

    /// Its declaration, the binding of this number in WGSL.
    pub(crate) fn declaration(&self, language: Language, binding: usize) -> String {
        let Argument { name, of, access, .. } = self;
        let (coherent, element) = match access {
            Access::Coherent => ("@coherent ", of.to_string()),
            Access::Atomic => ("", format!("atomic<{of}>")),
            Access::Read | Access::ReadWrite => ("", of.to_string()),
        };
        let constant = if *access == Access::Read { "const " } else { "" };
        match language {
            Language::Wgsl => {
                format!("@group(0) @binding({binding}) {coherent}var<storage, read_write> {name}: array<{element}>;\n")
            }
            Language::OpenClC => format!("__global {constant}{of} *{name}, "),
            Language::CudaC | Language::Host => format!("{constant}{of} *{name}, "),
        }
    }
}

impl Entry {
    const fn with_initial(self) -> Entry {
        Entry { initial: true, ..self }
    }

    const fn only(self, language: Language) -> Entry {
        Entry { only: Some(language), ..self }
    }

    const fn cuda_from(self, architecture: u32) -> Entry {
        Entry { cuda_from: architecture, ..self }
    }
}

/// A kernel by its name, its function, its arguments and its parameters.
macro_rules! kernel {
    ($name:expr, $entry_point:expr, $arguments:expr, $params:expr $(,)?) => {
        Entry {
            name: $name,
            entry_point: $entry_point,
            arguments: const { $arguments },
            params: $params,
            initial: false,
            cuda_from: 75,
            only: None,
        }
    };
}

/// Of sorts whose workgroups take a segment each: all keys, or those buckets that `counts` tells.
const SEGMENTS: &[Argument] = &[
    read("source", "Key"),
    write("target_keys", "Key"),
    read("source_values", "u32").optional(),
    write("target_values", "u32").optional(),
    read("counts", "u32").optional(),
];

/// A rung of the reduce ladder.
const fn rung(name: &'static str, entry_point: &'static str) -> Entry {
    let params = &["n", "groups", "input_offset", "output_offset"];
    kernel!(name, entry_point, &[read("input", "Pack"), write("output", "T")], params).with_initial()
}

/// Every kernel.
pub const CATALOGUE: &[Entry] = &[
    kernel!(
        "copy/copy",
        "copy",
        &[read("input", "Pack"), write("output", "Pack")],
        &["n", "input_offset", "output_offset"],
    ),
    kernel!("copy/fill", "fill", &[write("target_words", "u32")], &["n", "value", "target_offset"])
        .only(Language::Wgsl),
    kernel!(
        "scan/lookback",
        "scan_lookback",
        &[read("input", "Pack"), write("output", "Pack"), atomic("states", "StateWord"), atomic("ticket", "u32")],
        &["n", "tiles", "input_offset", "output_offset"],
    )
    .with_initial(),
    kernel!(
        "literature/scan/lookback_fenced",
        "scan_lookback_fenced",
        &[
            read("input", "Pack"),
            write("output", "Pack"),
            atomic("states", "StateWord"),
            atomic("ticket", "u32"),
            coherent("values", "T"),
        ],
        &["n", "tiles", "input_offset", "output_offset"],
    )
    .with_initial()
    .only(Language::Wgsl),
    kernel!(
        "scan/lookahead",
        "scan_lookahead",
        &[read("input", "Pack"), write("output", "Pack"), atomic("states", "StateWord"), atomic("ticket", "u32")],
        &["n", "tiles", "input_offset", "output_offset"],
    )
    .with_initial()
    .only(Language::CudaC)
    .cuda_from(90),
    kernel!(
        "scan/lookback_pipelined",
        "scan_lookback_pipelined",
        &[read("input", "Pack"), write("output", "Pack"), atomic("states", "StateWord"), atomic("ticket", "u32")],
        &["n", "tiles", "groups", "input_offset", "output_offset"],
    )
    .with_initial(),
    kernel!(
        "scan/tile_block",
        "scan_tile_block",
        &[read("input", "Pack"), write("output", "Pack"), write("sums", "T")],
        &["n", "tiles", "groups", "tiles_each", "input_offset", "output_offset"],
    )
    .with_initial(),
    kernel!(
        "scan/tile_subgroup",
        "scan_tile_subgroup",
        &[read("input", "Pack"), write("output", "Pack"), write("sums", "T")],
        &["n", "tiles", "groups", "tiles_each", "input_offset", "output_offset"],
    )
    .with_initial(),
    kernel!("scan/spine", "scan_spine", &[write("sums", "T")], &["count"]).with_initial(),
    kernel!(
        "literature/scan/add_carry",
        "scan_add_carry",
        &[read("input", "T"), write("output", "T"), read("sums", "T")],
        &["n", "input_offset", "output_offset"],
    ),
    kernel!(
        "literature/scan/hillis_steele",
        "scan_hillis_steele",
        &[read("input", "T"), write("output", "T")],
        &["n", "distance", "input_offset", "output_offset"],
    )
    .with_initial(),
    kernel!(
        "literature/scan/blelloch",
        "scan_blelloch",
        &[read("input", "T"), write("tree", "T")],
        &["n", "distance", "nodes", "input_offset", "tree_offset"],
    )
    .with_initial(),
    kernel!(
        "reduce/single_pass",
        "reduce_single_pass",
        &[read("input", "Pack"), write("output", "T"), atomic("partials", "PartialWord"), atomic("counter", "u32")],
        &["n", "tiles", "groups", "input_offset", "output_offset"],
    )
    .with_initial(),
    rung("literature/reduce/interleaved_modulo", "reduce_interleaved_modulo"),
    rung("literature/reduce/interleaved_strided", "reduce_interleaved_strided"),
    rung("literature/reduce/sequential", "reduce_sequential"),
    rung("literature/reduce/first_add_on_load", "reduce_first_add_on_load"),
    rung("literature/reduce/unroll_last_subgroup", "reduce_unroll_last_subgroup"),
    rung("literature/reduce/unrolled", "reduce_unrolled"),
    rung("literature/reduce/grid_stride", "reduce_grid_stride"),
    rung("literature/reduce/subgroup", "reduce_subgroup"),
    kernel!(
        "select/lookback",
        "select_lookback",
        &[
            read("input", "Item"),
            write("output", "Item"),
            atomic("states", "StateWord"),
            atomic("ticket", "u32"),
            write("output_rest", "Item"),
            write("output_count", "u32"),
        ],
        &["n", "tiles", "input_offset", "output_offset", "output_rest_offset", "output_count_offset"],
    )
    .with_initial(),
    kernel!(
        "select/tile_count",
        "select_tile_count",
        &[read("input", "Item"), write("sums", "T")],
        &["n", "tiles", "input_offset"],
    ),
    kernel!(
        "select/tile_place",
        "select_tile_place",
        &[
            read("input", "Item"),
            write("output", "Item"),
            read("sums", "T"),
            write("output_rest", "Item"),
            write("output_count", "u32"),
        ],
        &["n", "tiles", "input_offset", "output_offset", "output_rest_offset", "output_count_offset"],
    ),
    kernel!(
        "reduce_by_key/lookback",
        "reduce_by_key_lookback",
        &[
            read("input", "u32"),
            read("input_values", "u32").optional(),
            atomic("states", "StateWord"),
            atomic("ticket", "u32"),
            write("output", "u32"),
            write("output_values", "u32"),
            write("output_count", "u32"),
        ],
        &[
            "n",
            "tiles",
            "input_offset",
            "input_values_offset",
            "output_offset",
            "output_values_offset",
            "output_count_offset",
        ],
    )
    .with_initial(),
    kernel!(
        "reduce_by_key/tile_reduce",
        "reduce_by_key_tile_reduce",
        &[read("input", "u32"), read("input_values", "u32").optional(), write("sums", "T")],
        &["n", "tiles", "input_offset", "input_values_offset"],
    ),
    kernel!(
        "reduce_by_key/tile_scan",
        "reduce_by_key_tile_scan",
        &[
            read("input", "u32"),
            read("input_values", "u32").optional(),
            read("sums", "T"),
            write("output", "u32"),
            write("output_values", "u32"),
            write("output_count", "u32"),
        ],
        &[
            "n",
            "tiles",
            "input_offset",
            "input_values_offset",
            "output_offset",
            "output_values_offset",
            "output_count_offset",
        ],
    ),
    kernel!(
        "sort/digit_counts",
        "sort_digit_counts",
        &[read("input", "Key"), atomic("bins", "u32"), write("counts", "u32")],
        &["n", "tiles", "groups", "input_offset"],
    ),
    kernel!(
        "sort/onesweep",
        "sort_onesweep",
        &[
            read("input", "Key"),
            write("temp", "Key"),
            write("output", "Key"),
            read("input_values", "u32").optional(),
            write("temp_values", "u32").optional(),
            write("output_values", "u32").optional(),
            write("counts", "u32"),
            atomic("states", "CountWord"),
        ],
        &[
            "n",
            "tiles",
            "place",
            "first_tile",
            "portion",
            "offsets_at",
            "next_at",
            "input_offset",
            "output_offset",
            "input_values_offset",
            "output_values_offset",
        ],
    ),
    kernel!(
        "sort/one_workgroup",
        "sort_one_workgroup",
        SEGMENTS,
        &[
            "n",
            "end_place",
            "buckets_at",
            "source_offset",
            "target_offset",
            "source_values_offset",
            "target_values_offset",
        ],
    ),
    kernel!(
        "sort/merge",
        "sort_merge",
        SEGMENTS,
        &["n", "buckets_at", "source_offset", "target_offset", "source_values_offset", "target_values_offset"],
    ),
    kernel!(
        "sort/large_bucket",
        "sort_large_bucket",
        &[
            write("temp", "Key"),
            write("output", "Key"),
            write("temp_values", "u32").optional(),
            write("output_values", "u32").optional(),
            read("counts", "u32"),
        ],
        &["n", "end_place", "buckets_at", "sorted", "output_offset", "output_values_offset"],
    ),
    kernel!(
        "sort/upsweep",
        "sort_upsweep",
        &[read("source", "Key"), write("counts", "u32")],
        &["n", "tiles", "place", "source_offset"],
    ),
    kernel!(
        "sort/downsweep",
        "sort_downsweep",
        &[
            read("source", "Key"),
            write("target_keys", "Key"),
            read("source_values", "u32").optional(),
            write("target_values", "u32").optional(),
            read("counts", "u32"),
        ],
        &["n", "tiles", "place", "source_offset", "target_offset", "source_values_offset", "target_values_offset"],
    ),
    kernel!(
        "experiment/compute_bound",
        "experiment_compute_bound",
        &[write("output", "f32")],
        &["n", "turns", "output_offset"],
    ),
];

/// The entry of that name.
pub(crate) fn entry(name: &str) -> Option<&'static Entry> {
    CATALOGUE.iter().find(|e| e.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_come_in_the_kernels_order_and_all_that_it_needs() {
        let arguments = [read("input", "u32"), write("output", "u32"), read("values", "u32").optional()];
        let of = |spans: &[(&str, u32)]| {
            let spans = in_order("scan/x", &arguments, spans).map_err(|error| error.to_string())?;
            Ok::<_, String>(spans.into_iter().map(|span| span.copied()).collect::<Vec<_>>())
        };
        assert_eq!(of(&[("output", 2), ("input", 1)]), Ok(vec![Some(1), Some(2), None]));
        let values = of(&[("values", 3), ("output", 2), ("input", 1)]);
        assert_eq!(values, Ok(vec![Some(1), Some(2), Some(3)]));
        assert!(of(&[("input", 1)]).is_err_and(|why| why.contains("scan/x needs its argument `output`")));
        let extra = of(&[("input", 1), ("output", 2), ("rest", 4)]);
        assert!(extra.is_err_and(|why| why.contains("scan/x has no argument `rest`")));
    }
}
