//! What the fuzz targets do with the bytes that libFuzzer gives them: each panics if it finds a defect.

mod draw;
mod evaluate;
mod npy;
mod operators;
mod results;
mod tuning;

pub use npy::npy;
pub use operators::operators;
pub use results::results;
pub use tuning::tuning;

/// The program's modules, which are in no library. They call each other by `crate::`.
macro_rules! program {
    ($($module:ident at $path:literal)*) => { $(#[path = $path] #[allow(dead_code, unused_imports)] mod $module;)* };
}
program! {
    args at "../../cli/src/args.rs"
    choose at "../../cli/src/choose.rs"
    compare at "../../cli/src/compare/mod.rs"
    convert at "../../cli/src/convert.rs"
    elements at "../../cli/src/elements.rs"
    files at "../../cli/src/files.rs"
    interrupt at "../../cli/src/interrupt.rs"
    lacking at "../../cli/src/lacking.rs"
    lines at "../../cli/src/lines.rs"
    memory at "../../cli/src/memory.rs"
    progress at "../../cli/src/progress.rs"
    report at "../../cli/src/report/mod.rs"
    stored at "../../cli/src/stored.rs"
    verify at "../../cli/src/verify/mod.rs"
}

/// A folder of this process, in whose files the inputs are written again and again.
fn folder() -> &'static std::path::Path {
    static FOLDER: std::sync::LazyLock<std::path::PathBuf> = std::sync::LazyLock::new(|| {
        let folder = std::env::temp_dir().join(format!("trifold-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder to write to");
        folder
    });
    &FOLDER
}
