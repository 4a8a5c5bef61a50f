//! Every kernel, with its arguments and parameters.

use trifold_core::Language;

/// What a kernel does with an argument's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only reads it. In WGSL it is bound read_write all the same: wgpu tracks whole buffers, and another argument may
    /// be in the same one.
    Read,
    /// Reads and writes it.
    ReadWrite,
}

/// A kernel's argument that is device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument {
    /// Its name in all three languages.
    pub name: &'static str,
    /// What the kernel does with it.
    pub access: Access,
    /// Whether a launch may leave it out: then it is null in OpenCL and CUDA, and not in the layout in WGSL.
    pub optional: bool,
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

const fn read(name: &'static str) -> Argument {
    Argument { name, access: Access::Read, optional: false }
}
const fn write(name: &'static str) -> Argument {
    Argument { name, access: Access::ReadWrite, optional: false }
}
const fn optional(name: &'static str, access: Access) -> Argument {
    Argument { name, access, optional: true }
}

const INPUT_AND_OUTPUT: &[Argument] = &[read("input"), write("output")];

/// Of sorts whose workgroups take a segment each: all keys, or those buckets that `counts` tells.
const SEGMENTS: &[Argument] = &[
    read("source"),
    write("target_keys"),
    optional("source_values", Access::Read),
    optional("target_values", Access::ReadWrite),
    optional("counts", Access::Read),
];

/// A rung of the reduce ladder.
const fn reduce_rung(name: &'static str, entry_point: &'static str) -> Entry {
    Entry {
        name,
        entry_point,
        arguments: INPUT_AND_OUTPUT,
        params: &["n", "groups", "input_offset", "output_offset"],
        initial: true,
        cuda_from: 75,
        only: None,
    }
}

/// Every kernel.
pub const CATALOGUE: &[Entry] = &[
    Entry {
        name: "copy/copy",
        entry_point: "copy",
        arguments: &[read("input"), write("output")],
        params: &["n", "input_offset", "output_offset"],
        initial: false,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "copy/fill",
        entry_point: "fill",
        arguments: &[write("target_words")],
        params: &["n", "value", "target_offset"],
        initial: false,
        cuda_from: 75,
        only: Some(Language::Wgsl),
    },
    Entry {
        name: "scan/lookback",
        entry_point: "scan_lookback",
        arguments: &[read("input"), write("output"), write("states"), write("ticket")],
        params: &["n", "tiles", "input_offset", "output_offset"],
        initial: true,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "literature/scan/lookback_fenced",
        entry_point: "scan_lookback_fenced",
        arguments: &[read("input"), write("output"), write("states"), write("ticket"), write("values")],
        params: &["n", "tiles", "input_offset", "output_offset"],
        initial: true,
        cuda_from: 75,
        only: Some(Language::Wgsl),
    },
    Entry {
        name: "scan/lookahead",
        entry_point: "scan_lookahead",
        arguments: &[read("input"), write("output"), write("states"), write("ticket")],
        params: &["n", "tiles", "input_offset", "output_offset"],
        initial: true,
        cuda_from: 90,
        only: Some(Language::CudaC),
    },
    Entry {
        name: "scan/lookback_pipelined",
        entry_point: "scan_lookback_pipelined",
        arguments: &[read("input"), write("output"), write("states"), write("ticket")],
        params: &["n", "tiles", "groups", "input_offset", "output_offset"],
        initial: true,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "scan/tile_block",
        entry_point: "scan_tile_block",
        arguments: &[read("input"), write("output"), write("sums")],
        params: &["n", "tiles", "groups", "tiles_each", "input_offset", "output_offset"],
        initial: true,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "scan/tile_subgroup",
        entry_point: "scan_tile_subgroup",
        arguments: &[read("input"), write("output"), write("sums")],
        params: &["n", "tiles", "groups", "tiles_each", "input_offset", "output_offset"],
        initial: true,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "scan/spine",
        entry_point: "scan_spine",
        arguments: &[write("sums")],
        params: &["count"],
        initial: true,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "literature/scan/add_carry",
        entry_point: "scan_add_carry",
        arguments: &[read("input"), write("output"), read("sums")],
        params: &["n", "input_offset", "output_offset"],
        initial: false,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "literature/scan/hillis_steele",
        entry_point: "scan_hillis_steele",
        arguments: &[read("input"), write("output")],
        params: &["n", "distance", "input_offset", "output_offset"],
        initial: true,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "literature/scan/blelloch",
        entry_point: "scan_blelloch",
        arguments: &[read("input"), write("tree")],
        params: &["n", "distance", "nodes", "input_offset", "tree_offset"],
        initial: true,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "reduce/single_pass",
        entry_point: "reduce_single_pass",
        arguments: &[read("input"), write("output"), write("partials"), write("counter")],
        params: &["n", "tiles", "groups", "input_offset", "output_offset"],
        initial: true,
        cuda_from: 75,
        only: None,
    },
    reduce_rung("literature/reduce/interleaved_modulo", "reduce_interleaved_modulo"),
    reduce_rung("literature/reduce/interleaved_strided", "reduce_interleaved_strided"),
    reduce_rung("literature/reduce/sequential", "reduce_sequential"),
    reduce_rung("literature/reduce/first_add_on_load", "reduce_first_add_on_load"),
    reduce_rung("literature/reduce/unroll_last_subgroup", "reduce_unroll_last_subgroup"),
    reduce_rung("literature/reduce/unrolled", "reduce_unrolled"),
    reduce_rung("literature/reduce/grid_stride", "reduce_grid_stride"),
    reduce_rung("literature/reduce/subgroup", "reduce_subgroup"),
    Entry {
        name: "select/lookback",
        entry_point: "select_lookback",
        arguments: &[
            read("input"),
            write("output"),
            write("states"),
            write("ticket"),
            write("output_rest"),
            write("output_count"),
        ],
        params: &["n", "tiles", "input_offset", "output_offset", "output_rest_offset", "output_count_offset"],
        initial: true,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "select/tile_count",
        entry_point: "select_tile_count",
        arguments: &[read("input"), write("sums")],
        params: &["n", "tiles", "input_offset"],
        initial: false,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "select/tile_place",
        entry_point: "select_tile_place",
        arguments: &[read("input"), write("output"), read("sums"), write("output_rest"), write("output_count")],
        params: &["n", "tiles", "input_offset", "output_offset", "output_rest_offset", "output_count_offset"],
        initial: false,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "reduce_by_key/lookback",
        entry_point: "reduce_by_key_lookback",
        arguments: &[
            read("input"),
            optional("input_values", Access::Read),
            write("states"),
            write("ticket"),
            write("output"),
            write("output_values"),
            write("output_count"),
        ],
        params: &[
            "n",
            "tiles",
            "input_offset",
            "input_values_offset",
            "output_offset",
            "output_values_offset",
            "output_count_offset",
        ],
        initial: true,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "reduce_by_key/tile_reduce",
        entry_point: "reduce_by_key_tile_reduce",
        arguments: &[read("input"), optional("input_values", Access::Read), write("sums")],
        params: &["n", "tiles", "input_offset", "input_values_offset"],
        initial: false,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "reduce_by_key/tile_scan",
        entry_point: "reduce_by_key_tile_scan",
        arguments: &[
            read("input"),
            optional("input_values", Access::Read),
            read("sums"),
            write("output"),
            write("output_values"),
            write("output_count"),
        ],
        params: &[
            "n",
            "tiles",
            "input_offset",
            "input_values_offset",
            "output_offset",
            "output_values_offset",
            "output_count_offset",
        ],
        initial: false,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "sort/digit_counts",
        entry_point: "sort_digit_counts",
        arguments: &[read("input"), write("bins"), write("counts")],
        params: &["n", "tiles", "groups", "input_offset"],
        initial: false,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "sort/onesweep",
        entry_point: "sort_onesweep",
        arguments: &[
            read("input"),
            write("temp"),
            write("output"),
            optional("input_values", Access::Read),
            optional("temp_values", Access::ReadWrite),
            optional("output_values", Access::ReadWrite),
            write("counts"),
            write("states"),
        ],
        params: &[
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
        initial: false,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "sort/one_workgroup",
        entry_point: "sort_one_workgroup",
        arguments: SEGMENTS,
        params: &[
            "n",
            "end_place",
            "buckets_at",
            "source_offset",
            "target_offset",
            "source_values_offset",
            "target_values_offset",
        ],
        initial: false,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "sort/merge",
        entry_point: "sort_merge",
        arguments: SEGMENTS,
        params: &["n", "buckets_at", "source_offset", "target_offset", "source_values_offset", "target_values_offset"],
        initial: false,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "sort/large_bucket",
        entry_point: "sort_large_bucket",
        arguments: &[
            write("temp"),
            write("output"),
            optional("temp_values", Access::ReadWrite),
            optional("output_values", Access::ReadWrite),
            read("counts"),
        ],
        params: &["n", "end_place", "buckets_at", "sorted", "output_offset", "output_values_offset"],
        initial: false,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "sort/upsweep",
        entry_point: "sort_upsweep",
        arguments: &[read("source"), write("counts")],
        params: &["n", "tiles", "place", "source_offset"],
        initial: false,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "sort/downsweep",
        entry_point: "sort_downsweep",
        arguments: &[
            read("source"),
            write("target_keys"),
            optional("source_values", Access::Read),
            optional("target_values", Access::ReadWrite),
            read("counts"),
        ],
        params: &[
            "n",
            "tiles",
            "place",
            "source_offset",
            "target_offset",
            "source_values_offset",
            "target_values_offset",
        ],
        initial: false,
        cuda_from: 75,
        only: None,
    },
    Entry {
        name: "experiment/compute_bound",
        entry_point: "experiment_compute_bound",
        arguments: &[write("output")],
        params: &["n", "turns", "output_offset"],
        initial: false,
        cuda_from: 75,
        only: None,
    },
];

/// The entry of that name.
pub(crate) fn entry(name: &str) -> Option<&'static Entry> {
    CATALOGUE.iter().find(|e| e.name == name)
}
