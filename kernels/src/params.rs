//! A kernel's parameters as bytes: one layout for WGSL's uniform buffer and for the struct that OpenCL and CUDA take by
//! value.

use std::borrow::Cow;
use std::fmt::Write;

use trifold_core::{ElementType, Error, KernelKey, Language, Param, Result, Size, Values};

/// How far before a span that starts at `offset` its binding starts, if it is to be at a multiple of `alignment` and whole units before:
/// what [`ParamsLayout::pack`] then counts.
pub fn residue(offset: u64, alignment: u64, unit: u64) -> Option<u64> {
    // After so many steps as a unit has bytes the rests come again.
    let steps = usize::try_from(unit).unwrap_or(usize::MAX);
    let places = (offset % alignment..=offset).step_by(usize::try_from(alignment).ok()?);
    places.take(steps).find(|before| before.is_multiple_of(unit))
}

/// A launch's parameters as bytes, and those of them that follow from how many elements a run has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    bytes: Vec<u8>,
    /// For this many elements.
    n: u32,
    /// By the places of their bytes.
    sizes: Vec<(usize, Size)>,
}

impl Packed {
    /// Where the parameters lie that follow from how many elements a run has, in bytes, and how they do.
    pub fn sizes(&self) -> &[(usize, Size)] {
        &self.sizes
    }

    /// How many elements a run has that says nothing else.
    pub fn elements(&self) -> u32 {
        self.n
    }

    /// The bytes for a run of so many elements, or of as many as the launch was bound for.
    pub fn bytes(&self, n: Option<u32>) -> Cow<'_, [u8]> {
        match n.filter(|n| *n != self.n) {
            None => (&self.bytes).into(),
            Some(n) => {
                let mut bytes = self.bytes.clone();
                for (at, size) in &self.sizes {
                    bytes[*at..at + 4].copy_from_slice(&size.of(n).to_le_bytes());
                }
                bytes.into()
            }
        }
    }
}

/// Where each parameter lies. The initial element comes first, then the captures, at a multiple of 16 bytes, then the words; the whole is
/// a multiple of 16 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamsLayout {
    kernel: &'static str,
    initial: Option<u32>,
    /// The captures.
    captures: Vec<CapturesAt>,
    /// Bytes before the first word. What stands before it is rounded up to 16 where it is a struct, as uniform buffers want.
    words_at: u32,
    words: Vec<&'static str>,
}

/// Where captures lie.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CapturesAt {
    field: String,
    of: String,
    at: u32,
    bytes: u32,
}

impl CapturesAt {
    /// Where what comes behind them begins.
    fn end(&self) -> u32 {
        self.at + self.bytes.next_multiple_of(16)
    }
}

impl ParamsLayout {
    pub(crate) fn new(key: &KernelKey) -> Result<Self> {
        let entry = key.kernel;
        let (initial, mut words_at) = match (entry.initial, &key.element) {
            (false, _) => (None, 0),
            (true, Some(e @ ElementType::Scalar(_))) => (Some(e.bytes()), e.bytes()),
            (true, Some(e)) => (Some(e.bytes()), e.bytes().div_ceil(16) * 16),
            (true, None) => return Err(Error::Invalid(format!("{} needs an element type", entry.name))),
        };
        let captured = key.captured().into_iter().map(|captured| {
            let bytes = captured.captures.element().map_or(0, ElementType::bytes);
            let captures =
                CapturesAt { field: captured.field, of: captured.of, at: words_at.next_multiple_of(16), bytes };
            words_at = captures.end();
            captures
        });
        let captures = captured.collect();
        Ok(ParamsLayout { kernel: entry.name, initial, captures, words_at, words: key.words() })
    }

    /// The size in bytes.
    pub fn bytes(&self) -> u32 {
        (self.words_at + 4 * self.words.len() as u32).div_ceil(16) * 16
    }

    /// The parameters' bytes, for a launch of this key. `residue` gives the bytes from where the backend bound an argument to where its span
    /// starts.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a name is not the kernel's, or a span starts where no element can.
    pub fn pack(
        &self,
        key: &KernelKey,
        Values { params, n, initial }: Values<'_>,
        residue: impl Fn(&str) -> u64,
    ) -> Result<Packed> {
        let mut bytes = vec![0; self.bytes() as usize];
        match (self.initial, initial) {
            (Some(size), Some(value)) if value.len() == size as usize => bytes[..value.len()].copy_from_slice(value),
            (None, None) => {}
            (expected, given) => {
                return Err(Error::Invalid(format!(
                    "{} takes an initial element of {expected:?} bytes, not of {:?}",
                    self.kernel,
                    given.map(<[u8]>::len)
                )));
            }
        }
        let captured = key.captured();
        let sizes = |of: &mut dyn Iterator<Item = usize>| of.collect::<Vec<_>>();
        let wanted = sizes(&mut self.captures.iter().map(|captures| captures.bytes as usize));
        let given = sizes(&mut captured.iter().map(|captured| captured.captures.bytes().len()));
        if wanted != given {
            let kernel = self.kernel;
            return Err(Error::Invalid(format!("{kernel} takes captures of {wanted:?} bytes, not of {given:?}")));
        }
        for (captures, captured) in self.captures.iter().zip(&captured) {
            let value = captured.captures.bytes();
            bytes[captures.at as usize..][..value.len()].copy_from_slice(value);
        }
        let mut sizes = vec![];
        for &(name, param) in params {
            let index = self.words.iter().position(|w| *w == name);
            let index = index.ok_or_else(|| Error::Invalid(format!("{} has no parameter `{name}`", self.kernel)))?;
            let at = self.words_at as usize + 4 * index;
            let value = match param {
                Param::Word(value) => value,
                Param::Size(size) => {
                    sizes.push((at, size));
                    size.of(n)
                }
                Param::Offset { binding, unit } => {
                    let residue = residue(binding);
                    if !residue.is_multiple_of(u64::from(unit)) {
                        return Err(Error::Invalid(format!(
                            "the span bound to `{binding}` starts {residue} bytes in, which is no multiple of the \
                             {unit} bytes of an element"
                        )));
                    }
                    u32::try_from(residue / u64::from(unit)).map_err(|_| {
                        Error::Invalid(format!(
                            "the span bound to `{binding}` starts {residue} bytes in; a kernel counts {unit} bytes at a time \
                             up to 2^32: bind a sub-buffer, or split the memory"
                        ))
                    })?
                }
            };
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        Ok(Packed { bytes, n, sizes })
    }

    /// The declaration of `Params`.
    pub(crate) fn declaration(&self, language: Language) -> String {
        let mut text = String::new();
        if language == Language::Wgsl {
            text.push_str("struct Params {\n");
            if self.initial.is_some() {
                let size = self.captures.first().map_or(self.words_at, |captures| captures.at);
                let _ = writeln!(text, "  @size({size}) initial: T,");
            }
            for captures in &self.captures {
                let CapturesAt { field, of, at, .. } = captures;
                let _ = writeln!(text, "  @size({}) {field}: {of},", captures.end() - at);
            }
            for word in &self.words {
                let _ = writeln!(text, "  {word}: u32,");
            }
            text.push_str("}\n");
            return text;
        }
        text.push_str("typedef struct {\n");
        if let Some(bytes) = self.initial {
            let end = self.captures.first().map_or(self.words_at, |captures| captures.at);
            text.push_str("  T initial;\n");
            if end > bytes {
                let _ = writeln!(text, "  u32 after_initial[{}];", (end - bytes) / 4);
            }
        }
        for captures in &self.captures {
            let CapturesAt { field, of, at, bytes } = captures;
            let _ = writeln!(text, "  {of} {field};");
            if captures.end() > at + bytes {
                let _ = writeln!(text, "  u32 after_{field}[{}];", (captures.end() - at - bytes) / 4);
            }
        }
        for word in &self.words {
            let _ = writeln!(text, "  u32 {word};");
        }
        let end = self.words_at + 4 * self.words.len() as u32;
        if self.bytes() > end {
            let _ = writeln!(text, "  u32 after_words[{}];", (self.bytes() - end) / 4);
        }
        text.push_str("} Params;\n");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::residue;

    #[test]
    fn bindings_start_whole_units_before_their_spans() {
        // At the span itself, at the place before it, and two places further back.
        let places = [512, 268, 840, 516].map(|offset| residue(offset, 256, 12));
        assert_eq!(places, [Some(0), Some(12), Some(72), Some(516)]);
        // No place is whole units before, as far back as there are any.
        assert_eq!([residue(260, 256, 12), residue((1 << 40) + 2, 256, 4)], [None, None]);
    }
}
