//! Which names an operator may use.
//!
//! An operator's text stands in the middle of a kernel, in three languages. A name that the kernel, or a language, has
//! already would be an error in somebody else's text at best, so it is one here.

use trifold_core::{Error, Result};

use crate::scan::{self, Declaration};

/// Names that the kernels declare, which an operator's functions, constants, structs and aliases and an element struct must not
/// have. A field of a struct may have those in small letters: what the kernels declare is no macro then, and no member's.
///
/// | Name | What it is |
/// |---|---|
/// | `T`, `Item` | the element type; of a predicate, which stands beside the scan of counts, the latter in kernels |
/// | `Words`, `ELEMENT_WORDS` | an element as 32-bit words |
/// | `identity` | the operator's identity |
/// | `main` | a WGSL entry point |
/// | `fold_runs`, `run_heads`, `staged`, `ticket_take`, `invocation_place`, `opaque_word`, `follow_predecessor`, `admit_successor` | functions |
/// | `values`, `sums`, `tree`, `input`, `output`, `params`, `Params`, `states`, `ticket`, `partials`, `counter`, `input_values`, `output_values`, `output_rest`, `output_count` | a kernel's arguments |
/// | `Pack` | consecutive elements that are loaded together |
/// | `State`, `StateWord`, `Lookback`, `Announced`, `TileInput`, `TilePrefix`, `TileShared`, `TileTotals`, `BlockScan`, `RunKey`, `Runs`, `RunStage`, `Subgroup`, `Peers`, `Invocation`, `TileBarrier` | the kernels' structs |
/// | `WORKGROUP`, `ROWS`, `PACK`, `EXCLUSIVE` and other words in capitals listed here | constants and macros |
///
/// See also [`RESERVED_PREFIXES`]. Names starting with `_`, WGSL's keywords and predeclared names, and the keywords and
/// type names of C, OpenCL C and CUDA C are reserved too. Arguments and local variables are free: they are renamed where
/// a language asks for it.
#[rustfmt::skip]
pub const RESERVED_NAMES: &[&str] = &[
    "T", "Item", "output_rest", "output_count", "input_values", "output_values", "KEY_WORDS", "RUN_WORDS", "VALUE_WORDS",
    "Words", "ELEMENT_WORDS", "identity", "main", "input", "output", "params", "Params", "states", "ticket",
    "partials", "values", "sums", "tree", "counter", "Pack", "State", "StateWord", "Lookback", "TICKETS", "ticket_take", "Invocation", "invocation_place", "opaque_word", "REDUCE_SHARED", "follow_predecessor", "admit_successor", "BlockScan", "RunKey", "Runs", "RunStage", "staged", "fold_runs", "run_heads", "Subgroup", "Peers",
    "Announced", "TileInput", "TilePrefix", "TileShared", "TileTotals",
    "AHEAD", "CHAINED", "CHUNKS", "COMMUTATIVE", "DECLARE_SUBGROUP", "DIGITS", "EXCLUSIVE", "FALLBACK", "FUNCTION", "LEADING_SUBGROUP", "MAX_SUBGROUPS",
    "FIRST", "FIRST_REDUCE_WARP", "FIRST_SCAN_WARP", "PACK", "PADDING", "PARTIAL_FLAG", "RADIX", "REDUCE_WARPS", "RELAXED", "RESIDENT", "DYNAMIC_BYTES", "ROWS",
    "KERNEL", "OWN_KEYS", "OWN_WORDS", "SCAN_WARPS", "SPINE_ITEMS", "SPIN_LIMIT", "STAGED", "STAGES", "STEP", "TASK", "TileBarrier", "VOLATILE_STATES", "WARD_POLLS", "WARP_PACKS", "WHOLE_TILES", "WINDOWS", "WORKGROUP",
];

/// Prefixes of names that the kernels declare; see [`RESERVED_NAMES`].
///
/// | Prefix | What it is for |
/// |---|---|
/// | `element_` | elements as words, and back |
/// | `subgroup_`, `block_` | what the threads of a subgroup or a workgroup do together |
/// | `load_`, `store_`, `staged_`, `pack_` | moving elements |
/// | `step_` | what a scan's step through global memory takes |
/// | `state_`, `lookback`, `tile_`, `shared_`, `partial_` | the decoupled look-back and the one-launch reduce |
/// | `bulk_`, `warps_` | the look-ahead scan's copies and barriers |
/// | `scan_`, `reduce_`, `select_`, `by_key_`, `workgroup_`, `atomic_` | entry points, and operations that WGSL has of its own |
/// | `BUCKETS_`, `FAULT`, `LOOKBACK_`, `SELECT_`, `STATE_`, `STATUS_`, `STEP_`, `SUBGROUP_`, `TASK_`, `TILE` | constants of these |
/// | `wgsl_` | what emitted C needs to keep WGSL's meaning |
/// | `combine_`, `keep_` | an operator's or a predicate's helper functions, in emitted C |
#[rustfmt::skip]
pub const RESERVED_PREFIXES: &[&str] = &[
    "element_", "subgroup_", "block_", "load_", "store_", "staged_", "pack_", "state_", "step_", "lookback", "tile_", "shared_", "partial_",
    "bulk_", "warps_", "scan_", "reduce_", "workgroup_", "atomic_", "BUCKETS_", "FAULT", "LOOKBACK_", "STATE_", "STATUS_", "STEP_", "SUBGROUP_", "TASK_", "TILE", "wgsl_", "combine_", "keep_",
    "select_", "SELECT_", "by_key_",
];

/// Keywords, type names and pervasive macros of C, C++, OpenCL C and CUDA C.
#[rustfmt::skip]
const C_NAMES: &[&str] = &[
    // C and C++
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const",
    "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double",
    "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
    "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
    "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "restrict", "return",
    "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this",
    "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual",
    "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
    // OpenCL C
    "bool2", "complex", "constant", "event_t", "generic", "global", "half", "image1d_t", "image2d_t", "image3d_t",
    "imaginary", "intptr_t", "kernel", "local", "pipe", "ptrdiff_t", "quad", "read_only", "read_write", "sampler_t",
    "size_t", "uchar", "uint", "uintptr_t", "ulong", "ushort", "vec_step", "write_only",
    // CUDA C
    "blockDim", "blockIdx", "clock_t", "gridDim", "threadIdx", "warpSize",
    // Macros of both
    "DBL_MAX", "DBL_MIN", "FLT_MAX", "FLT_MIN", "HUGE_VAL", "INFINITY", "INT_MAX", "INT_MIN", "LONG_MAX", "LONG_MIN",
    "MAXFLOAT", "M_E", "M_PI", "NAN", "NULL", "UINT_MAX", "ULONG_MAX",
    // Ours, in every prelude
    "u32", "i32", "f32", "u64", "i64", "f64",
];

/// Why `name` cannot be declared by an operator; `None` if it can.
pub(crate) fn objection(name: &str) -> Option<String> {
    if RESERVED_NAMES.contains(&name) {
        return Some("is a name that the kernels declare; rename it".into());
    }
    if let Some(prefix) = RESERVED_PREFIXES.iter().find(|p| name.starts_with(**p)) {
        return Some(format!("begins with `{prefix}`, which the kernels' names do; rename it"));
    }
    language_objection(name)
}

/// Why `name` cannot be a field's; `None` if it can.
pub(crate) fn objection_to_field(name: &str) -> Option<String> {
    // Of the kernels' names a field can meet macros alone.
    let objection = if name.contains(|c: char| c.is_ascii_lowercase()) { language_objection } else { objection };
    objection(name)
}

/// What the languages have against a name.
fn language_objection(name: &str) -> Option<String> {
    let mut letters = name.chars();
    if !letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        || !letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
    {
        return Some("is not an identifier in C: use ASCII letters and digits, and begin with a letter".into());
    }
    if C_NAMES.contains(&name) || is_c_vector(name) || name.contains("__") {
        return Some("is reserved in C, OpenCL C or CUDA C; rename it".into());
    }
    if naga::keywords::wgsl::RESERVED.contains(&name) {
        return Some("is a keyword of WGSL; rename it".into());
    }
    None
}

/// Whether OpenCL C or CUDA C has a vector type of that name.
fn is_c_vector(name: &str) -> bool {
    const SCALARS: [&str; 13] = [
        "char",
        "uchar",
        "short",
        "ushort",
        "int",
        "uint",
        "long",
        "ulong",
        "longlong",
        "ulonglong",
        "half",
        "float",
        "double",
    ];
    let scalar = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_width = ["1", "2", "3", "4", "8", "16"].contains(&&name[scalar.len()..]);
    name == "dim3" || (is_width && SCALARS.contains(&scalar))
}

/// Whether an operator cannot use this name for what it declares, nor an element struct for itself.
pub fn is_reserved(name: &str) -> bool {
    objection(name).is_some()
}

/// Whether a struct cannot use this name for a field.
pub fn is_reserved_for_fields(name: &str) -> bool {
    objection_to_field(name).is_some()
}

/// Why `name` cannot be declared at module scope; `None` if it can.
pub(crate) fn objection_at_module_scope(name: &str) -> Option<String> {
    // WGSL lets a module shadow these, which would change what they mean in the kernel's own text.
    if naga::keywords::wgsl::BUILTIN_IDENTIFIERS.contains(&name) {
        return Some("is predeclared in WGSL, where the kernel uses it; rename it".into());
    }
    objection(name)
}

/// Checks what an operator or predicate of this name declares at module scope, of which kernels call `function`.
pub(crate) fn check_declarations(operator: &str, text: &str, function: &str) -> Result<()> {
    for Declaration { keyword, name, line } in scan::declarations(text) {
        let message = match keyword {
            "enable" | "requires" | "diagnostic" => Some(format!(
                "line {line}: the directive `{keyword}` cannot stand in the middle of a kernel; remove it"
            )),
            "fn" if name == function => None,
            _ if name == "combine" => Some(format!("line {line}: the name `combine` is an operator's; rename it")),
            _ => objection_at_module_scope(name).map(|why| format!("line {line}: the name `{name}` {why}")),
        };
        if let Some(message) = message {
            return Err(Error::Operator { name: operator.to_string(), message });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_the_names_of_four_vocabularies() {
        for name in ["T", "lookback_publish", "long", "threadIdx", "fn", "é", "_x", "9a", "", "a__b"] {
            assert!(objection(name).is_some(), "{name}");
        }
        for name in ["a", "low", "gcd", "Affine", "combine", "count"] {
            assert!(objection(name).is_none(), "{name}");
        }
        assert!(objection_at_module_scope("min").is_some());
        for name in ["load_factor", "values", "tree", "State", "lookback"] {
            assert!(objection(name).is_some() && objection_to_field(name).is_none(), "{name}");
        }
        for name in ["T", "TILE", "ROWS", "STATUS_NONE", "int", "fn", "_x"] {
            assert!(objection_to_field(name).is_some(), "{name}");
        }
    }

    /// The tables are what users see of the lists.
    #[test]
    fn the_tables_have_every_name() {
        let text = include_str!("names.rs");
        let listed =
            |name: &str| text.contains(&format!("`{name}`")) || !name.contains(|c: char| c.is_ascii_lowercase());
        let all = RESERVED_NAMES.iter().chain(RESERVED_PREFIXES);
        let missing: Vec<_> = all.filter(|name| !listed(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
