//! Numbers in files: `.npy` of one or two dimensions, and raw little-endian. Read through a memory map, written whole or
//! not at all.

use std::borrow::Cow;
use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, ErrorKind, Read, Seek, Write};
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf, is_separator};
use std::sync::{Mutex, PoisonError};

use crate::convert;
use crate::lines::{ArrayShape, Lines};
use crate::stored::Stored;
use anyhow::{Context, Result, bail, ensure};
use memmap2::Mmap;
use npyz::WriterBuilder;
use tempfile::NamedTempFile;

const MAGIC: &[u8] = b"\x93NUMPY";
/// Brackets that a header may open: the dictionary, a shape, and some of a structured type's, to be told what to do about it.
const MOST_BRACKETS: usize = 8;
/// The longest header that NumPy itself reads without being told to trust the file.
const LONGEST_HEADER: usize = 10_000;

/// How much is written at a time.
const PIECE: usize = 4 << 20;

pub struct Numbers {
    pub stored: Stored,
    pub shape: ArrayShape,
    /// Whether they came as a `.npy`.
    pub is_npy: bool,
    content: Content,
    data: Range<usize>,
}

/// A file's bytes: mapped into memory, or read where the system does not know how many there are.
type Content = Box<dyn Deref<Target = [u8]>>;

/// Standard input as an input, and standard output as an output.
const STANDARD: &str = "-";

/// Why numbers do not become a `.npy`.
fn no_npy(stored: Stored) -> String {
    format!("NumPy has no {}, so a .npy cannot hold it; give a name that does not end in .npy", stored.name())
}

/// Makes sure, before the work, that numbers can be written there.
pub fn check_type(path: Option<&Path>, was_npy: bool, stored: Stored) -> Result<()> {
    let is_npy = path.is_some_and(|path| writes_npy(path, was_npy));
    ensure!(!is_npy || stored.npy().is_some(), no_npy(stored));
    Ok(())
}

/// Whether numbers that are written there become a `.npy`: by the name, and of standard output by what the input was.
pub fn writes_npy(path: &Path, was_npy: bool) -> bool {
    if is_standard(path) { was_npy } else { path.extension().is_some_and(|e| e == "npy") }
}

pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == STANDARD
}

fn content(path: &Path) -> Result<Content> {
    if is_standard(path) {
        let mut bytes = vec![];
        io::stdin().lock().read_to_end(&mut bytes)?;
        return Ok(Box::new(bytes));
    }
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    ensure!(!metadata.is_dir(), "it is a directory; give a file");
    // Pipes and devices have no length, and files such as those in /proc say 0.
    if !metadata.is_file() || metadata.len() == 0 {
        let mut bytes = vec![];
        file.read_to_end(&mut bytes)?;
        return Ok(Box::new(bytes));
    }
    // SAFETY: the map is read-only and private to this process. A file that another program cuts short
    // meanwhile ends this one with SIGBUS; as with every mapped reader, that is the user's to avoid.
    Ok(Box::new(unsafe { Mmap::map(&file) }?))
}

/// How to take a file's bytes, and the options that say so.
pub struct Asked {
    pub stored: Option<Stored>,
    /// The option that names it.
    pub option: &'static str,
    /// Whether the name and the first bytes say nothing.
    pub raw: bool,
}

impl Numbers {
    /// Opens a file: a `.npy` if it starts as one, else raw numbers of the type that is asked for.
    pub fn open(path: &Path, asked: Asked) -> Result<Numbers> {
        ensure!(cfg!(target_endian = "little"), "this program reads files on little-endian machines only");
        let Asked { stored, option, raw } = asked;
        let content = content(path).with_context(|| format!("cannot read {}", path.display()))?;
        let bytes = &**content;
        let is_npy = !raw && (bytes.starts_with(MAGIC) || path.extension().is_some_and(|e| e == "npy"));
        if let Some(advice) = convert::advice(path, stored).filter(|_| !raw && !is_npy) {
            bail!(advice);
        }
        if is_npy {
            let header = header(bytes).with_context(|| format!("{} is no .npy we can use", path.display()))?;
            let (held, shape, start) = header;
            if let Some(asked) = stored.filter(|asked| asked.name() != held.name()) {
                bail!("{} holds {}, and {option} says {}; leave it out", path.display(), held.name(), asked.name());
            }
            let data = start..bytes.len();
            return Ok(Numbers { stored: held, shape, is_npy, content, data });
        }
        let stored = stored.with_context(|| {
            let names = Stored::names();
            format!("{} is no .npy, so its type is unknown; give {option} (one of {names})", path.display())
        })?;
        let (data, size) = (0..bytes.len(), stored.bytes());
        ensure!(
            data.len() % size == 0,
            "{} has {} bytes, no whole number of {} of {size} bytes; is it truncated, or of another type?",
            path.display(),
            data.len(),
            stored.name()
        );
        Ok(Numbers { stored, shape: ArrayShape::line((data.len() / size) as u64), is_npy, content, data })
    }

    pub fn bytes(&self) -> &[u8] {
        &self.content[self.data.clone()]
    }
}

/// A `.npy` file's type and shape and where its numbers start, having checked that they are all there.
fn header(bytes: &[u8]) -> Result<(Stored, ArrayShape, usize)> {
    ensure!(bytes.starts_with(MAGIC), "it does not start with \\x93NUMPY");
    let number = |range: Range<usize>| -> Result<usize> {
        let digits = bytes.get(range).context("it ends within its header; is it truncated?")?;
        Ok(digits.iter().rev().fold(0, |n, &byte| n << 8 | usize::from(byte)))
    };
    let start = match number(6..7)? {
        1 => 10 + number(8..10)?,
        2 | 3 => 12 + number(8..12)?,
        version => bail!("its format version is {version}; versions 1 to 3 are known"),
    };
    ensure!(start <= LONGEST_HEADER, "its header has {start} bytes, more than the {LONGEST_HEADER} that NumPy reads");
    let text = bytes.get(..start).context("it ends within its header; is it truncated?")?;
    check_header_text(text)?;
    let header = npyz::NpyHeader::from_reader(text).context("its header cannot be read")?;
    let descr = header.dtype().descr();
    let code = descr.trim_matches('\'');
    let stored = Stored::from_npy(code).with_context(|| {
        format!(
            "its numbers are `{code}`; convert them to one of {}, for instance by a.astype('<f4')",
            Stored::names_in_npy()
        )
    })?;
    let sizes = header.shape().to_vec();
    ensure!(
        matches!(sizes.len(), 1 | 2),
        "its shape is {sizes:?}; make it one-dimensional or two, for instance by a.reshape(-1)"
    );
    let n = sizes.iter().try_fold(1u64, |n, size| n.checked_mul(*size));
    let (have, need) = ((bytes.len() - start) as u64, n.and_then(|n| n.checked_mul(stored.bytes() as u64)));
    let promised = format!("{} {}", sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(" x "), stored.name());
    ensure!(
        need.is_some_and(|need| need <= have),
        "its header promises {promised}, and {have} bytes follow; it is truncated"
    );
    ensure!(need == Some(have), "{have} bytes follow its header, more than its {promised} take");
    Ok((stored, ArrayShape { sizes, is_fortran: header.order() == npyz::Order::Fortran }, start))
}

/// Refuses headers that the header's parser does not survive. Each bracket within a bracket makes it take several times as
/// long. A product of sizes past 64 bits makes it fail.
fn check_header_text(text: &[u8]) -> Result<()> {
    let opened = text.iter().filter(|byte| matches!(byte, b'(' | b'[' | b'{')).count();
    ensure!(opened <= MOST_BRACKETS, "its header opens {opened} brackets, and that of an array of numbers opens 2");
    let text = String::from_utf8_lossy(text);
    let shape = text.split_once("'shape'").map_or("", |(_, rest)| rest).split(')').next().unwrap_or("");
    let digits = shape.bytes().filter(u8::is_ascii_digit).count();
    ensure!(digits < 20, "its shape has {digits} digits, more than memory can hold");
    Ok(())
}

/// A file written beside its place, and not yet moved there.
///
/// Whoever reads the place finds the old file or the new one, never a part. So it is a new file. It has the old
/// one's mode, and its owner and group where the user may give them. Other hard links to the old one keep the old content.
pub struct Pending<'a> {
    file: NamedTempFile,
    _listed: Listed,
    path: &'a Path,
    to: Target,
}

/// Where a file goes when it is complete.
enum Target {
    /// To what the path leads to: a link stays.
    Place(PathBuf),
    /// Into a device or a pipe, which is written to and not replaced.
    Device,
    StandardOutput,
}

impl Target {
    fn of(path: &Path) -> Result<Target> {
        if is_standard(path) {
            return Ok(Target::StandardOutput);
        }
        let ends_as_folder = path.as_os_str().as_encoded_bytes().last().is_some_and(|&end| is_separator(end.into()));
        ensure!(!ends_as_folder && !path.is_dir(), "it is a directory; give a file's name");
        let place = place(path)?;
        Ok(if is_special(path) { Target::Device } else { Target::Place(place) })
    }
}

/// Refuses, before any work, outputs that would replace an input or each other, and those that cannot be written. Each stands
/// with the option that asks for it.
pub fn check_outputs<'a>(
    outputs: &[(&str, Option<&Path>)],
    inputs: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<()> {
    check_apart(outputs, inputs)?;
    outputs.iter().filter_map(|(_, path)| *path).try_for_each(|path| Pending::text(path, "").map(drop))
}

/// As [`check_outputs`], where it is known that they can be written, or yet to be asked.
pub fn check_apart<'a>(outputs: &[(&str, Option<&Path>)], inputs: impl IntoIterator<Item = &'a PathBuf>) -> Result<()> {
    let outputs: Vec<_> = outputs.iter().filter_map(|(option, path)| Some((option, (*path)?))).collect();
    for input in inputs.into_iter().filter(|input| !is_standard(input)) {
        if let Some((option, path)) = outputs.iter().find(|(_, path)| is_one_file(path, input)) {
            let (path, input) = (path.display(), input.display());
            bail!("{option} {path} would replace {input}, which is read; give another file");
        }
    }
    for (i, (option, path)) in outputs.iter().enumerate() {
        if let Some((other, _)) = outputs[..i].iter().find(|(_, other)| is_one_file(path, other)) {
            bail!("{other} and {option} are the same file, {}; give two", path.display());
        }
    }
    Ok(())
}

/// Whether what is written to one path replaces what is at the other, there or not yet. Devices and pipes are not replaced.
fn is_one_file(a: &Path, b: &Path) -> bool {
    !is_special(a) && (a == b || place(a).is_ok_and(|file| place(b).is_ok_and(|other| file == other)))
}

fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| !file.is_file() && !file.is_dir())
}

/// Where a path's links lead to, there or not yet.
fn place(path: &Path) -> io::Result<PathBuf> {
    let missing = match fs::canonicalize(path) {
        // A loop of links is another error, and so this ends.
        Err(error) if error.kind() == ErrorKind::NotFound => error,
        found => return found,
    };
    if let Ok(to) = fs::read_link(path) {
        return place(&folder(path).join(to));
    }
    let name = path.file_name().ok_or(missing)?;
    Ok(place(folder(path))?.join(name))
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl<'a> Pending<'a> {
    /// Writes numbers: a `.npy` if that is asked for or the path says so, raw if not.
    pub fn numbers(
        path: &'a Path,
        as_npy: bool,
        stored: Stored,
        shape: &ArrayShape,
        bytes: &[u8],
    ) -> Result<Pending<'a>> {
        let is_npy = writes_npy(path, as_npy);
        Pending::write(path, |file| {
            if is_npy {
                let descr = stored.npy().with_context(|| no_npy(stored))?.parse::<npyz::TypeStr>()?;
                let order = if shape.is_fortran { npyz::Order::Fortran } else { npyz::Order::C };
                npyz::WriteOptions::new_header_only()
                    .dtype(npyz::DType::new_scalar(descr))
                    .shape(&shape.sizes)
                    .order(order)
                    .writer(&mut *file)
                    .write_header_only()?;
            }
            let raw;
            let bytes = if is_npy {
                bytes
            } else {
                raw = raw_of(stored, shape, bytes)?;
                &raw
            };
            // Whoever interrupts the program waits for the piece that is being written.
            Ok(bytes.chunks(PIECE).try_for_each(|piece| file.write_all(piece))?)
        })
    }

    pub fn text(path: &'a Path, text: &str) -> Result<Pending<'a>> {
        Pending::write(path, |file| Ok(file.write_all(text.as_bytes())?))
    }

    fn write(path: &'a Path, content: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<Pending<'a>> {
        Pending::beside(path, content).with_context(|| format!("cannot write {}", path.display()))
    }

    fn beside(path: &'a Path, content: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<Pending<'a>> {
        let to = Target::of(path)?;
        let (folder, old) = match &to {
            Target::Place(target) => {
                let folder = folder(target);
                ensure!(folder.is_dir(), "there is no folder {}; make it, or give another path", folder.display());
                (folder.to_owned(), replaceable(target)?)
            }
            Target::Device | Target::StandardOutput => (std::env::temp_dir(), None),
        };
        // Errors of the temporary file's own would name that, and not what was asked for.
        let file = tempfile::Builder::new().prefix(".trifold-").make_in(folder, |path| listed(path, old.as_ref()))?;
        let listed = Listed(file.path().to_owned());
        let mut buffered = BufWriter::new(file.as_file());
        content(&mut buffered)?;
        buffered.flush()?;
        drop(buffered);
        Ok(Pending { file, _listed: listed, path, to })
    }

    /// Moves the file to its place, over the file that was there.
    pub fn finish(self) -> Result<()> {
        let Pending { file, _listed, path, to } = self;
        let copy = |mut from: &File, to: &mut dyn Write| from.rewind().and_then(|()| io::copy(&mut from, to)).map(drop);
        let moved = match to {
            Target::Place(target) => file.persist(target).map(drop).map_err(|e| e.error),
            Target::Device => File::options().write(true).open(path).and_then(|mut to| copy(file.as_file(), &mut to)),
            Target::StandardOutput => unless_closed(copy(file.as_file(), &mut io::stdout().lock())),
        };
        moved.with_context(|| format!("cannot write {}", path.display()))
    }
}

/// The numbers of an array as raw files have them, which say nothing of their order: little-endian, and row by row.
fn raw_of<'b>(stored: Stored, shape: &ArrayShape, bytes: &'b [u8]) -> Result<Cow<'b, [u8]>> {
    let rows = Lines::of(shape, Some(-1))?;
    Ok(stored.little_endian(rows.gather(Cow::Borrowed(bytes), stored.bytes())))
}

/// The files that are written and not yet in their places.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(vec![]);

/// An entry of [`UNFINISHED`] for as long as it is one.
struct Listed(PathBuf);

impl Drop for Listed {
    fn drop(&mut self) {
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        unfinished.retain(|path| *path != self.0);
    }
}

/// Makes a file and lists it, before anybody else may remove what is listed.
fn listed(path: &Path, old: Option<&Metadata>) -> io::Result<File> {
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    let file = create(path, old)?;
    unfinished.push(path.to_owned());
    Ok(file)
}

/// Ends the program, and leaves no file that is not in its place. Nothing is moved to one meanwhile.
pub fn abandon(code: i32) -> ! {
    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in unfinished.iter() {
        _ = fs::remove_file(path);
    }
    std::process::exit(code)
}

/// The file that is to be replaced, if there is one. What may not be written to is not replaced either, though its folder allows it.
fn replaceable(target: &Path) -> Result<Option<Metadata>> {
    let old = match fs::metadata(target) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    // Root may write to it all the same: this is what its owner wishes.
    ensure!(!old.permissions().readonly(), "it is write-protected; allow writing to it, or give another path");
    File::options().write(true).open(target)?;
    Ok(Some(old))
}

#[cfg(unix)]
fn create(path: &Path, old: Option<&Metadata>) -> io::Result<File> {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};

    // A new file is as any other, less what the user's umask takes away. One that replaces another is the user's alone until it
    // has the other's mode.
    let mode = if old.is_some() { 0o600 } else { 0o666 };
    let file = File::options().read(true).write(true).create_new(true).mode(mode).open(path)?;
    if let Some(old) = old {
        // Only root gives files away; anyone else's stays their own.
        _ = fchown(&file, None, Some(old.gid()));
        _ = fchown(&file, Some(old.uid()), None);
        // Not setuid and its like, which were given to what the file was.
        let mode = old.mode() & 0o777;
        if file.metadata()?.mode() & 0o777 != mode {
            file.set_permissions(fs::Permissions::from_mode(mode))?;
        }
    }
    Ok(file)
}

#[cfg(not(unix))]
fn create(path: &Path, _: Option<&Metadata>) -> io::Result<File> {
    File::options().read(true).write(true).create_new(true).open(path)
}

/// Prints to the terminal or the pipe. Whoever closed the pipe has seen enough: what there was to do is done, or not, all the same.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    Ok(unless_closed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))?)
}

/// What was written, if not that nobody reads any more.
fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    written.or_else(|error| if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let (file, link) = (at("file"), at("link"));
        std::os::unix::fs::symlink("file", &link).unwrap();
        // With no file there, and with an old one.
        for text in ["new", "newer"] {
            assert!(is_one_file(&file, &link) && is_one_file(&link, &file));
            Pending::text(&link, text).unwrap().finish().unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        assert!(is_one_file(&at("./x"), &at("x")) && is_one_file(&at("no/./x"), &at("no/x")));
        assert!(!is_one_file(&file, &at("other")) && !is_one_file(&at("no/x"), &at("x")));
        let null = Path::new("/dev/null");
        Pending::text(null, "gone").unwrap().finish().unwrap();
        assert!(!fs::metadata(null).unwrap().is_file() && !is_one_file(null, null));
        // A loop leads nowhere.
        std::os::unix::fs::symlink("b", at("a")).unwrap();
        std::os::unix::fs::symlink("a", at("b")).unwrap();
        assert!(Pending::text(&at("a"), "").is_err() && !is_one_file(&at("a"), &at("b")));
    }

    fn npy(descr: &str, shape: &str, data: usize) -> Vec<u8> {
        let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}\n");
        let mut bytes = [MAGIC, &[1, 0], &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat();
        bytes.resize(bytes.len() + data, 0);
        bytes
    }

    #[test]
    fn headers_are_read_or_refused() {
        assert_eq!(header(&npy("<f4", "(3,)", 12)).unwrap().0.name(), "f32");
        assert_eq!(header(&npy("<i8", "(0,)", 0)).unwrap().0.name(), "i64");
        assert_eq!(header(&npy(">f2", "(3, 2)", 12)).unwrap().1.sizes, [3, 2]);
        let refused = [
            (npy("<f4", "(3,)", 11), "truncated"),
            (npy("<f4", "(3,)", 13), "more than its 3"),
            (npy("<c8", "(3,)", 24), "<c8"),
            (npy("<f2", "(3,)", 5), "truncated"),
            (npy("<f4", "(3, 1, 1)", 12), "reshape"),
            (npy("<f4", "()", 4), "reshape"),
            (npy("<f4", "(18446744073709551615, 18446744073709551615)", 4), "digits"),
            (npy("<f4", "(4611686018427387905,)", 4), "truncated"),
            (npy("<f4", &"(".repeat(300), 4), "brackets"),
            (npy("<f4", "(-1,)", 4), "negative"),
            (npy("", "(1,)", 4), "header cannot be read"),
            (MAGIC.to_vec(), "truncated"),
            ([MAGIC, &[2, 0, 255, 255, 255, 255]].concat(), "NumPy reads"),
            ([MAGIC, &[9, 0, 1, 0]].concat(), "version is 9"),
            (vec![], "NUMPY"),
        ];
        for (bytes, why) in refused {
            let error = format!("{:#}", header(&bytes).unwrap_err());
            assert!(error.contains(why), "{error:?} does not mention {why:?}");
        }
    }

    #[test]
    fn every_prefix_of_a_file_is_refused() {
        let whole = npy("<u4", "(2,)", 8);
        assert!(header(&whole).is_ok());
        for end in 0..whole.len() {
            assert!(header(&whole[..end]).is_err(), "{end}");
        }
    }
}
