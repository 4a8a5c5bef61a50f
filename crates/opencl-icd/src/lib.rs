//! The OpenCL entry points, forwarded to libOpenCL at run time.
