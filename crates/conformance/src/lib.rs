//! One conformance suite for every Trifold backend.
