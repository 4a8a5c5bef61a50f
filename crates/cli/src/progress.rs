//! The bar that the long commands show.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar of no length yet, with a message behind its numbers.
pub fn bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    bar
}
