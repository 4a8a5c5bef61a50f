//! Names of calls for NVIDIA's tools, by NVTX where its library is on the machine.

use std::sync::OnceLock;

use cudarc::nvtx::{result, sys};

fn is_there() -> bool {
    static THERE: OnceLock<bool> = OnceLock::new();
    // SAFETY: it looks for the library, whose loading runs nothing but NVIDIA's own.
    *THERE.get_or_init(|| unsafe { sys::is_culib_present() })
}

/// Begins a range of this thread's.
pub(crate) fn begin(label: &str) {
    if is_there() {
        // A name in C ends with a zero.
        result::range_push(label.replace('\0', " "));
    }
}

/// Ends the range that was begun last.
pub(crate) fn end() {
    if is_there() {
        result::range_pop();
    }
}
