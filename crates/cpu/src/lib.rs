//! Trifold's multi-threaded CPU backend and the sequential oracle.
