//! Trifold's kernels: scan, reduce and sort in WGSL, OpenCL C and CUDA C.
