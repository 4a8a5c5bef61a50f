//! Trifold on OpenCL through ocl.
