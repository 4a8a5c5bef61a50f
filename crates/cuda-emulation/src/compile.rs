//! A kernel's text to a function of the host's, by clang.

use std::ffi::{OsString, c_char};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use libloading::Library;
use trifold_core::{Error, Result};

use crate::ptx;
use crate::run::Scheduler;

/// What CUDA C gives a kernel.
const CUDA: &str = include_str!("cuda.hpp");
/// Kernels have no exceptions and no library; floats are rounded as NVRTC is told to round them, each operation on its own.
const OPTIONS: &str = "-x c++ -std=c++20 -O1 -w -fPIC -shared -nostdlib -fvisibility=hidden -fno-exceptions -fno-rtti \
                       -fno-strict-aliasing -ffp-contract=off - -lm -o";

/// clang by the name that `TRIFOLD_CLANG` gives, else one in the path.
///
/// # Errors
/// [`Error::Unsupported`] that says what to install, and elsewhere than on Linux: a block's memory is a section of an ELF file.
pub(crate) fn clang() -> Result<PathBuf> {
    if !cfg!(target_os = "linux") {
        return Err(Error::Unsupported("CUDA C on the host, which is compiled to libraries of Linux".into()));
    }
    let versions = (14..30).rev().map(|version| OsString::from(format!("clang-{version}")));
    let named = std::env::var_os("TRIFOLD_CLANG").into_iter();
    let runs = |name: &OsString| {
        let version = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    };
    named.chain(["clang".into()]).chain(versions).find(runs).map(PathBuf::from).ok_or_else(|| {
        Error::Unsupported(
            "no clang, which compiles CUDA C for the host: install it, or name it in TRIFOLD_CLANG".into(),
        )
    })
}

/// A kernel's function, with the memory that a block shares in it.
pub(crate) struct Program {
    /// By the convention of `call`.
    entry: *const (),
    /// Where the kernel finds what `Scheduler` tells a thread.
    pub(crate) emulation: *mut *const Scheduler,
    pub(crate) shared: *mut u8,
    pub(crate) shared_bytes: usize,
    arguments: usize,
    params: usize,
    _library: Library,
}

// SAFETY: what the pointers lead to is the library's, which lives as long, and is touched under the device's lock.
unsafe impl Send for Program {}
// SAFETY: as above.
unsafe impl Sync for Program {}

impl Program {
    /// Compiles a text. Its kernel takes so many pointers, and `Params` of so many bytes.
    pub(crate) fn compile(
        clang: &Path,
        text: &str,
        kernel: &str,
        (arguments, params): (usize, usize),
    ) -> Result<Program> {
        let failed = |log: String| Error::Compile { kernel: kernel.into(), log };
        let source = format!("{CUDA}{}{}", shared_arrays(&ptx::rewrite(text)?), call(kernel, arguments));
        // A library stays loaded after its file is gone.
        let file = tempfile::Builder::new().suffix(".so").tempfile();
        let file = file.map_err(|error| Error::backend("cuda", format!("making a file for {kernel}"), error))?;
        let file = file.into_temp_path();
        let mut command = Command::new(clang);
        command.args(OPTIONS.split_whitespace()).arg(&*file).stdin(Stdio::piped()).stderr(Stdio::piped());
        let doing = |error: std::io::Error| Error::backend("cuda", format!("running {}", clang.display()), error);
        let mut child = command.spawn().map_err(doing)?;
        let written = child.stdin.take().map(|mut input| input.write_all(source.as_bytes()));
        let output = child.wait_with_output().map_err(doing)?;
        if !output.status.success() || !matches!(written, Some(Ok(()))) {
            return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let loading = |error: libloading::Error| Error::backend("cuda", format!("loading {kernel}"), error);
        // SAFETY: the library is what clang just made of this project's text, and runs nothing when it is loaded.
        let library = unsafe { Library::new(&*file) }.map_err(loading)?;
        // SAFETY: `cuda.hpp` and `call` define these symbols with these types. The pointers stay good while the library is loaded,
        // which `Program` keeps.
        let (entry, emulation, bounds) = unsafe {
            let entry = *library.get::<*const ()>(b"emulated_call\0").map_err(loading)?;
            let emulation = *library.get::<*mut *const Scheduler>(b"emulation\0").map_err(loading)?;
            type Bounds = unsafe extern "C" fn(*mut *mut c_char, *mut *mut c_char);
            (entry, emulation, *library.get::<Bounds>(b"emulated_shared\0").map_err(loading)?)
        };
        let (mut start, mut stop) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the function writes both pointers and nothing else.
        unsafe { bounds(&mut start, &mut stop) };
        let shared_bytes = stop as usize - start as usize;
        Ok(Program { entry, emulation, shared: start.cast(), shared_bytes, arguments, params, _library: library })
    }

    /// Runs the kernel for the thread that `emulation` tells.
    ///
    /// # Safety
    /// `addresses` are the kernel's arguments, and lead to memory that is large enough for what `params` say; nobody else touches it.
    pub(crate) unsafe fn call(&self, addresses: &[*mut u8], params: &[u8]) {
        debug_assert_eq!((addresses.len(), params.len()), (self.arguments, self.params));
        // SAFETY: `call` below makes a function of this type.
        let entry: unsafe extern "C" fn(*const *mut u8, *const u8) = unsafe { std::mem::transmute(self.entry) };
        // SAFETY: there are as many addresses and bytes as it reads, and the rest is the caller's promise.
        unsafe { entry(addresses.as_ptr(), params.as_ptr()) }
    }
}

/// A function that calls the kernel with an array's pointers, and with parameters by value.
fn call(kernel: &str, arguments: usize) -> String {
    let pointers: String = (0..arguments).map(|i| format!("Anything{{addresses[{i}]}}, ")).collect();
    format!(
        "\nstruct Anything {{\n  void *address;\n  template <typename W> operator W *() const {{ return (W *)address; }}\n}};\n\
         extern \"C\" __attribute__((visibility(\"default\"))) void emulated_call(void *const *addresses, const void *params) {{\n  \
         Params copied;\n  memcpy(&copied, params, sizeof(Params));\n  {kernel}({pointers}copied);\n}}\n"
    )
}

/// Arrays of the size that a launch says, `extern __shared__ T name[];`, all begin at one address: here arrays of a constant's size in
/// the section of the others.
fn shared_arrays(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut declared = false;
    for line in source.split_inclusive('\n') {
        let Some(array) =
            line.trim_start().strip_prefix("extern __shared__ ").and_then(|a| a.trim_end().strip_suffix("[];"))
        else {
            text.push_str(line);
            continue;
        };
        if !declared {
            text.push_str("__shared__ __align__(128) unsigned char dynamic_shared[DYNAMIC_BYTES];\n");
            declared = true;
        }
        let array = array.split_once(") ").map_or(array, |(_, declaration)| declaration);
        let (kind, name) = array.rsplit_once(' ').unwrap_or(("u32", array));
        text.push_str(&format!("static {kind} *const {name} = ({kind} *)dynamic_shared;\n"));
    }
    text
}
