//! Criterion benches over the conformance cases.
