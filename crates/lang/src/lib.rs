//! Emits operators and element structs, written in WGSL, as OpenCL C and CUDA C.
