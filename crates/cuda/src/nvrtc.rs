//! NVRTC, CUDA's compiler as a library: found at run time, wherever it was installed.
//!
//! cudarc has bindings too, but they panic where the library or one of its symbols is missing and take no path; the
//! wheel's library is on no search path. These are the nine functions that compiling takes.

use std::cmp::Reverse;
use std::env;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use libloading::Library;
use trifold_core::{Error, Result};

type Program = *mut c_void;

/// What NVRTC is asked besides the architecture.
pub(crate) const OPTIONS: &str = "--std=c++17 --generate-line-info";

struct Nvrtc {
    version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int,
    architecture_count: unsafe extern "C" fn(*mut c_int) -> c_int,
    architectures: unsafe extern "C" fn(*mut c_int) -> c_int,
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> c_int,
    destroy: unsafe extern "C" fn(*mut Program) -> c_int,
    compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int,
    log: Output,
    cubin: Output,
    ptx: Output,
    /// Where it came from.
    name: String,
    /// Keeps the functions.
    _library: Library,
}

/// The two functions of one of a program's outputs: its size, and its bytes.
struct Output {
    size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
    get: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
}

pub(crate) struct Image {
    /// A cubin, or PTX with its terminating zero.
    pub(crate) bytes: Vec<u8>,
    /// Whether it is PTX, since NVRTC does not know the device: the driver compiles that.
    pub(crate) ptx: bool,
    /// What it was compiled for: the device's, or an older one.
    pub(crate) architecture: u32,
}

/// The version of the NVRTC that this process uses, such as (13, 0).
///
/// NVRTC is looked for once. The environment variable `TRIFOLD_NVRTC` names the library. If it is not set, these are
/// tried in order:
///
/// 1. what the system's loader finds (`LD_LIBRARY_PATH` and the system's directories on Linux, `PATH` on Windows)
/// 2. the wheel `nvidia-cuda-nvrtc` in the active virtual or conda environment, the user's packages or the system's
/// 3. the toolkit in `CUDA_PATH`, `CUDA_HOME` or `/usr/local/cuda`
///
/// The first of version 12.3 or newer is taken, which kernels for sm_90 and newer need. If there is none, the first
/// older one is taken.
///
/// # Errors
/// [`Error::Unsupported`] that says how to get NVRTC, if it is not found.
pub fn nvrtc_version() -> Result<(u32, u32)> {
    Nvrtc::get()?.number()
}

/// Whether this process has an NVRTC that compiles the kernels for an architecture, 90 for sm_90.
///
/// # Errors
/// [`Error::Unsupported`] that says how to get one, if there is none, or one too old.
pub fn check_nvrtc(architecture: u32) -> Result<()> {
    Nvrtc::get()?.check_age(architecture)
}

/// Compiles CUDA C++17 for one architecture, 90 for sm_90. Needs no device and no driver, NVRTC alone.
///
/// `kernel` names the source in errors and in profilers.
///
/// # Errors
/// [`Error::Compile`] with NVRTC's log; [`Error::Unsupported`] if there is no NVRTC, or it does not know the architecture.
pub fn compile_to_cubin(source: &str, kernel: &str, architecture: u32) -> Result<Vec<u8>> {
    let nvrtc = Nvrtc::get()?;
    let known = nvrtc.known_architectures()?;
    if !known.contains(&architecture) {
        return Err(Error::Unsupported(format!("sm_{architecture} by {}; it knows {known:?}", nvrtc.name)));
    }
    nvrtc.compile(source, kernel, architecture, false)
}

/// Compiles for a device: to a cubin, or to PTX for the newest architecture before it if NVRTC is older than the device.
pub(crate) fn compile_for_device(source: &str, kernel: &str, architecture: u32) -> Result<Image> {
    let nvrtc = Nvrtc::get()?;
    nvrtc.check_age(architecture)?;
    let known = nvrtc.known_architectures()?;
    if known.contains(&architecture) {
        return Ok(Image { bytes: nvrtc.compile(source, kernel, architecture, false)?, ptx: false, architecture });
    }
    let before = known.iter().copied().filter(|&a| a < architecture).max();
    let before =
        before.ok_or_else(|| Error::Unsupported(format!("sm_{architecture} by {}; it knows {known:?}", nvrtc.name)))?;
    tracing::debug!(architecture, before, nvrtc = nvrtc.name, "NVRTC does not know the device; PTX instead");
    Ok(Image { bytes: nvrtc.compile(source, kernel, before, true)?, ptx: true, architecture: before })
}

impl Nvrtc {
    fn get() -> Result<&'static Nvrtc> {
        static NVRTC: OnceLock<std::result::Result<Nvrtc, String>> = OnceLock::new();
        let found = NVRTC.get_or_init(|| {
            let nvrtc = find();
            match &nvrtc {
                Ok(nvrtc) => tracing::debug!(library = nvrtc.name, "found NVRTC"),
                Err(message) => tracing::debug!(message, "no NVRTC"),
            }
            nvrtc
        });
        found.as_ref().map_err(|message| Error::Unsupported(message.clone()))
    }

    fn open(name: &Path) -> std::result::Result<Nvrtc, libloading::Error> {
        // SAFETY: the name is NVRTC's own, or the user's word for it; its initialisers set up its tables and nothing of
        // this process.
        let library = unsafe { Library::new(name) }?;
        macro_rules! symbol {
            ($name:literal) => {
                // SAFETY: the field that this goes to has the signature that nvrtc.h declares for the name, unchanged
                // since CUDA 11.2. The pointer stays good as long as the library, kept beside it.
                *unsafe { library.get($name.to_bytes_with_nul()) }?
            };
        }
        Ok(Nvrtc {
            version: symbol!(c"nvrtcVersion"),
            architecture_count: symbol!(c"nvrtcGetNumSupportedArchs"),
            architectures: symbol!(c"nvrtcGetSupportedArchs"),
            create: symbol!(c"nvrtcCreateProgram"),
            destroy: symbol!(c"nvrtcDestroyProgram"),
            compile: symbol!(c"nvrtcCompileProgram"),
            log: Output { size: symbol!(c"nvrtcGetProgramLogSize"), get: symbol!(c"nvrtcGetProgramLog") },
            cubin: Output { size: symbol!(c"nvrtcGetCUBINSize"), get: symbol!(c"nvrtcGetCUBIN") },
            ptx: Output { size: symbol!(c"nvrtcGetPTXSize"), get: symbol!(c"nvrtcGetPTX") },
            name: name.display().to_string(),
            _library: library,
        })
    }

    fn check(&self, call: &str, result: c_int) -> Result<()> {
        if result == 0 {
            return Ok(());
        }
        Err(Error::backend_message("cuda", format!("{call} of {} gave error {result}", self.name)))
    }

    fn number(&self) -> Result<(u32, u32)> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are to integers that live through the call.
        self.check("nvrtcVersion", unsafe { (self.version)(&mut major, &mut minor) })?;
        Ok((major.unsigned_abs(), minor.unsigned_abs()))
    }

    /// Fails where a device's kernels have what this NVRTC does not compile.
    fn check_age(&self, architecture: u32) -> Result<()> {
        let ((major, minor), (least, after)) = (self.number()?, FOR_SM_90);
        if is_too_old((major, minor), architecture) {
            return Err(Error::Unsupported(format!(
                "sm_{architecture} by NVRTC {major}.{minor} ({}); its kernels need {least}.{after} or newer: install the wheel (pip \
                 install nvidia-cuda-nvrtc), and set TRIFOLD_NVRTC to its library if it is not found",
                self.name
            )));
        }
        Ok(())
    }

    fn known_architectures(&self) -> Result<Vec<u32>> {
        let mut count = 0;
        // SAFETY: the pointer is to an integer that lives through the call.
        self.check("nvrtcGetNumSupportedArchs", unsafe { (self.architecture_count)(&mut count) })?;
        let mut known: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: the call writes as many integers as the one before said, and there is room for them.
        self.check("nvrtcGetSupportedArchs", unsafe { (self.architectures)(known.as_mut_ptr()) })?;
        Ok(known.into_iter().map(c_int::unsigned_abs).collect())
    }

    fn compile(&self, source: &str, kernel: &str, architecture: u32, ptx: bool) -> Result<Vec<u8>> {
        let failed = |log: String| Error::Compile { kernel: kernel.into(), log };
        let no_zero = |text: String| CString::new(text).map_err(|_| failed("a zero byte in the source".into()));
        let target = if ptx { "compute" } else { "sm" };
        let target = format!("--gpu-architecture={target}_{architecture}");
        let texts: Vec<CString> =
            OPTIONS.split(' ').chain([&*target]).map(|option| no_zero(option.into())).collect::<Result<_>>()?;
        let options: Vec<*const c_char> = texts.iter().map(|option| option.as_ptr()).collect();
        let (source, name) = (no_zero(source.into())?, no_zero(format!("{kernel}.cu"))?);

        let start = Instant::now();
        let mut program = Scope { nvrtc: self, program: null_mut() };
        // SAFETY: source and name are terminated and outlive the program; no headers, so no arrays of them.
        self.check("nvrtcCreateProgram", unsafe {
            (self.create)(&mut program.program, source.as_ptr(), name.as_ptr(), 0, null(), null())
        })?;
        // SAFETY: the program was just created; the options are as many terminated strings as said, alive in `texts`.
        let result = unsafe { (self.compile)(program.program, options.len() as c_int, options.as_ptr()) };
        if result != 0 {
            let log = program.output(&self.log, "nvrtcGetProgramLog").unwrap_or_default();
            let log = CStr::from_bytes_until_nul(&log).map_or_else(|_| String::new(), |l| l.to_string_lossy().into());
            return Err(failed(format!("{}, error {result}, with {target}:\n{log}", self.name)));
        }
        let bytes = match ptx {
            true => program.output(&self.ptx, "nvrtcGetPTX"),
            false => program.output(&self.cubin, "nvrtcGetCUBIN"),
        }?;
        let ms = start.elapsed().as_millis() as u64;
        tracing::debug!(kernel, architecture, ptx, ms, bytes = bytes.len(), "compiled");
        Ok(bytes)
    }
}

/// A program, destroyed when it goes out of scope.
struct Scope<'a> {
    nvrtc: &'a Nvrtc,
    program: Program,
}

impl Scope<'_> {
    fn output(&self, output: &Output, call: &str) -> Result<Vec<u8>> {
        let mut size = 0;
        // SAFETY: the program was created and not yet destroyed; the pointer is to a usize that lives through the call.
        self.nvrtc.check(call, unsafe { (output.size)(self.program, &mut size) })?;
        let mut bytes = vec![0; size];
        // SAFETY: as above, and the call writes as many bytes as the one before said, which there is room for.
        self.nvrtc.check(call, unsafe { (output.get)(self.program, bytes.as_mut_ptr().cast()) })?;
        Ok(bytes)
    }
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        if !self.program.is_null() {
            // SAFETY: the program was created, and is destroyed here once.
            unsafe { (self.nvrtc.destroy)(&mut self.program) };
        }
    }
}

/// The first NVRTC that compiles all kernels for sm_90 and newer: tiles' states are words of 128 bits there.
const FOR_SM_90: (u32, u32) = (12, 3);

fn is_too_old(version: (u32, u32), architecture: u32) -> bool {
    architecture >= 90 && version < FOR_SM_90
}

/// The one that `TRIFOLD_NVRTC` names; else the first that serves every device, or, if there is none, the first.
fn find() -> std::result::Result<Nvrtc, String> {
    if let Some(path) = env::var_os("TRIFOLD_NVRTC").filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return Nvrtc::open(&path).map_err(|error| {
            // The loader's own words are the error's source.
            let why = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            format!("TRIFOLD_NVRTC names {}, which is no NVRTC ({why}); name its library, or unset it", path.display())
        });
    }
    let names = cudarc::get_lib_name_candidates("nvrtc").into_iter().map(PathBuf::from);
    let mut older = None;
    for nvrtc in names.chain(installed()).filter_map(|name| Nvrtc::open(&name).ok()) {
        if nvrtc.number().is_ok_and(|version| version >= FOR_SM_90) {
            return Ok(nvrtc);
        }
        older.get_or_insert(nvrtc);
    }
    older.ok_or_else(|| {
        "NVRTC, CUDA's run-time compiler, is not installed or not found; install its wheel (pip install \
         nvidia-cuda-nvrtc) and activate that environment or set TRIFOLD_NVRTC to the library, or install the CUDA \
         toolkit and set LD_LIBRARY_PATH to its lib64"
            .into()
    })
}

/// Where wheels are, beside what the environment says.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(vec![]);

/// Looks for NVRTC's wheel also in these folders of Python packages. It is for programs that know them: call it before a device is opened.
///
/// ```
/// trifold_cuda::add_package_folders(["/opt/venv/lib/python3.12/site-packages".into()]);
/// ```
pub fn add_package_folders(folders: impl IntoIterator<Item = PathBuf>) {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).extend(folders);
}

/// The libraries of wheels and toolkits, newest first.
fn installed() -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> =
        ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(env::var_os).map(PathBuf::from).collect();
    roots.extend(env::var_os("HOME").map(|home| Path::new(&home).join(".local")));
    roots.extend(["/usr/local".into(), "/usr".into()]);
    let mut packages = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for root in roots {
        packages.push(root.join("Lib").join("site-packages"));
        for python in entries(&root.join("lib"), "python") {
            packages.extend([python.join("site-packages"), python.join("dist-packages")]);
        }
    }
    let mut folders = vec![];
    for nvidia in packages.iter().map(|p| p.join("nvidia")) {
        for package in [entries(&nvidia, "cu1"), vec![nvidia.join("cuda_nvrtc")]].concat() {
            folders.extend([package.join("lib"), package.join("bin")]);
        }
    }
    let toolkits = ["CUDA_PATH", "CUDA_HOME"].iter().filter_map(env::var_os).map(PathBuf::from);
    for toolkit in toolkits.chain([PathBuf::from("/usr/local/cuda")]) {
        folders.extend([toolkit.join("lib64"), toolkit.join("lib"), toolkit.join("bin")]);
    }
    let prefix = if cfg!(windows) { "nvrtc64_" } else { "libnvrtc.so" };
    folders.iter().flat_map(|folder| entries(folder, prefix)).collect()
}

/// What a folder has that begins so, the newest version first; nothing if there is no such folder.
fn entries(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![] };
    let named = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with(prefix);
    let mut paths: Vec<PathBuf> = entries.flatten().filter(named).map(|entry| entry.path()).collect();
    paths.sort_by_cached_key(|path| Reverse((version(path), path.clone())));
    paths
}

/// The numbers in a file's name, in order: 3 and 12 of `python3.12`.
fn version(path: &Path) -> Vec<u64> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_nvrtc_does_for_old_architectures() {
        assert!(is_too_old((12, 2), 90) && is_too_old((11, 8), 100));
        assert!(!is_too_old((12, 3), 90) && !is_too_old((13, 0), 100) && !is_too_old((11, 8), 89));
    }

    #[test]
    fn the_newest_version_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["python3.9", "python3.12", "python3", "perl5"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let names: Vec<_> =
            entries(folder.path(), "python").iter().map(|p| p.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["python3.12", "python3.9", "python3"]);
        assert!(entries(&folder.path().join("none"), "python").is_empty());
    }
}
