//! Trifold on CUDA through cudarc, compiled by NVRTC.
