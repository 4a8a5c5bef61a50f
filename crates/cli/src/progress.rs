//! The bar that the long commands show.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar of no length yet, with a message behind its numbers, as much of it as the line has room for.
pub fn bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{bar:20} {pos}/{len} {wide_msg}") {
        bar.set_style(style);
    }
    bar
}
