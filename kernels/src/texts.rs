//! The kernel texts, compiled into the crate.

use trifold_core::Language;

macro_rules! texts {
    ($($name:literal: $($extension:literal)+;)*) => {
        &[$($(($name, $extension, include_str!(concat!("../", $name, ".", $extension)))),+),*]
    };
}

/// A text has a row for each language it is written in; docs/KERNELS.md says why some have not all three.
const TEXTS: &[(&str, &str, &str)] = texts! {
    "prelude/prelude": "wgsl" "cl" "cu";
    "prelude/subgroup": "wgsl" "cu";
    "prelude/subgroup_nvidia": "cl";
    "prelude/subgroup_native": "cl";
    "prelude/subgroup_emulated": "cl";
    "block/pack1": "wgsl" "cl" "cu";
    "block/pack2": "wgsl" "cl" "cu";
    "block/pack4": "wgsl" "cl" "cu";
    "block/store1": "wgsl" "cl" "cu";
    "block/store2": "wgsl" "cl" "cu";
    "block/store4": "wgsl" "cl" "cu";
    "block/fold1": "wgsl" "cl" "cu";
    "block/fold2": "wgsl" "cl" "cu";
    "block/fold4": "wgsl" "cl" "cu";
    "block/digit_scan": "wgsl" "cl" "cu";
    "block/digit_offsets": "wgsl" "cl" "cu";
    "block/reduce": "wgsl" "cl" "cu";
    "block/reduce_subgroup": "wgsl" "cl" "cu";
    "block/scan": "wgsl" "cl" "cu";
    "block/scan_blelloch": "wgsl" "cl" "cu";
    "block/partials": "wgsl" "cl";
    "block/partials64": "wgsl" "cl" "cu";
    "block/subgroup_scan": "wgsl" "cu";
    "block/subgroup_scan_words": "wgsl" "cl" "cu";
    "block/subgroup_scan_native": "wgsl";
    "block/subgroup_scan_staged": "cl";
    "block/subgroup_fold": "wgsl" "cl" "cu";
    "block/state_word64": "wgsl" "cl" "cu";
    "block/state_word128": "cl" "cu";
    "block/state_words64": "wgsl" "cl" "cu";
    "block/state_wide": "wgsl" "cl";
    "block/state_fenced": "cl" "cu";
    "block/ticket": "wgsl" "cl" "cu";
    "block/tile_totals": "wgsl" "cl" "cu";
    "block/tile_rows": "wgsl" "cl" "cu";
    "block/tile_announce": "wgsl" "cl" "cu";
    "block/tile_prefix": "wgsl" "cl" "cu";
    "block/tile_chunks": "wgsl" "cl" "cu";
    "block/lookback_fold": "wgsl" "cl" "cu";
    "block/lookback": "wgsl" "cl" "cu";
    "block/lookback_windows": "cu";
    "block/lookback_serial": "wgsl" "cl" "cu";
    "block/bulk_copy": "cu";
    "block/run_load": "wgsl" "cl" "cu";
    "block/run_load_staged": "wgsl" "cl" "cu";
    "block/run_total": "wgsl" "cl" "cu";
    "block/run_store": "wgsl" "cl" "cu";
    "block/run_store_staged": "wgsl" "cl" "cu";
    "block/run_lengths": "wgsl" "cl" "cu";
    "block/run_values": "wgsl" "cl" "cu";
    "block/key1": "wgsl" "cl" "cu";
    "block/key2": "wgsl" "cl" "cu";
    "block/place_digit": "wgsl" "cl" "cu";
    "block/values_none": "cl" "cu";
    "block/values": "cl" "cu";
    "block/scatter": "wgsl";
    "block/scatter_none": "wgsl";
    "block/scatter_values": "wgsl";
    "block/split_none": "wgsl" "cl" "cu";
    "block/split_values": "wgsl" "cl" "cu";
    "block/segment_whole": "wgsl" "cl" "cu";
    "block/segment_bucket": "wgsl" "cl" "cu";
    "block/tile_ranks": "wgsl" "cl" "cu";
    "block/swap_none": "wgsl" "cl" "cu";
    "block/swap_values": "wgsl" "cl" "cu";
    "block/place_none": "wgsl" "cl" "cu";
    "block/place_values": "wgsl" "cl" "cu";
    "block/count_state": "wgsl" "cl" "cu";
    "block/peers32": "wgsl";
    "block/peers128": "wgsl";
    "block/claim_barrier": "wgsl";
    "block/claim_atomic": "wgsl";
    "copy/copy": "wgsl" "cl" "cu";
    "copy/fill": "wgsl";
    "scan/lookback": "wgsl" "cl" "cu";
    "scan/lookback_fenced": "wgsl";
    "scan/lookahead": "cu";
    "scan/lookahead_registers": "wgsl" "cl" "cu";
    "scan/tile_block": "wgsl" "cl" "cu";
    "scan/tile_subgroup": "wgsl" "cl" "cu";
    "scan/spine": "wgsl" "cl" "cu";
    "scan/add_carry": "wgsl" "cl" "cu";
    "scan/hillis_steele": "wgsl" "cl" "cu";
    "scan/blelloch": "wgsl" "cl" "cu";
    "reduce/single_pass": "wgsl" "cl" "cu";
    "reduce/interleaved_modulo": "wgsl" "cl" "cu";
    "reduce/interleaved_strided": "wgsl" "cl" "cu";
    "reduce/sequential": "wgsl" "cl" "cu";
    "reduce/first_add_on_load": "wgsl" "cl" "cu";
    "reduce/unroll_last_subgroup": "wgsl" "cl" "cu";
    "reduce/unrolled": "wgsl" "cl" "cu";
    "reduce/grid_stride": "wgsl" "cl" "cu";
    "reduce/subgroup": "wgsl" "cl" "cu";
    "select/lookback": "wgsl" "cl" "cu";
    "select/tile_count": "wgsl" "cl" "cu";
    "select/tile_place": "wgsl" "cl" "cu";
    "by_key/lookback": "wgsl" "cl" "cu";
    "by_key/tile_reduce": "wgsl" "cl" "cu";
    "by_key/tile_scan": "wgsl" "cl" "cu";
    "sort/histogram": "wgsl" "cl" "cu";
    "sort/onesweep": "wgsl" "cl" "cu";
    "sort/local": "wgsl" "cl" "cu";
    "sort/merge": "wgsl" "cl" "cu";
    "sort/large": "wgsl" "cl" "cu";
    "sort/upsweep": "wgsl" "cl" "cu";
    "sort/downsweep": "wgsl" "cl" "cu";
    "experiment/compute_bound": "wgsl" "cl" "cu";
};

/// A kernel text by its name without extension, such as `scan/lookback`.
pub fn text(language: Language, name: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(n, e, _)| *n == name && *e == language.extension()).map(|(_, _, text)| *text)
}

/// All texts of a language, by name.
pub fn texts(language: Language) -> impl Iterator<Item = (&'static str, &'static str)> {
    TEXTS.iter().filter(move |(_, e, _)| *e == language.extension()).map(|&(name, _, text)| (name, text))
}
