//! The plain loop.

use super::parallel::on_threads;
use super::scan;
use crate::algorithm::{Algorithm, Needs};

/// A loop on one thread: what every parallel scan is measured against.
pub static SEQUENTIAL: Algorithm = Algorithm {
    needs: Needs::THREADS,
    ..scan("sequential", "", |_, request| on_threads(request, true), |r, _| 2 * r.bytes())
};
