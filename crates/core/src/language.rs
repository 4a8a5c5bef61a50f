//! The three kernel languages, and the host's own.

/// What a backend's kernels are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// Rust on the host: the CPU backend.
    Host,
    /// WGSL, for wgpu.
    Wgsl,
    /// OpenCL C 1.2, for OpenCL.
    OpenClC,
    /// CUDA C++ as NVRTC takes it, for CUDA.
    CudaC,
}

impl Language {
    /// The three that have kernel texts.
    pub const KERNEL: [Language; 3] = [Language::Wgsl, Language::OpenClC, Language::CudaC];

    /// The extension of its kernel files; empty for the host.
    pub const fn extension(self) -> &'static str {
        match self {
            Language::Host => "",
            Language::Wgsl => "wgsl",
            Language::OpenClC => "cl",
            Language::CudaC => "cu",
        }
    }
}
