//! Kernels: their names, arguments and parameters. Each stands beside the algorithm that launches it.

use crate::{Error, KernelKey, Language, Result};

/// What a kernel does with an argument's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Only reads it. In WGSL it is bound read_write all the same: wgpu tracks whole buffers, and another argument may
    /// be in the same one.
    Read,
    /// Reads and writes it.
    ReadWrite,
    /// Reads and writes it by atomics.
    Atomic,
    /// Reads and writes what other workgroups do meanwhile: `@coherent` in WGSL.
    Coherent,
}

/// A kernel's argument that is device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Argument {
    /// Its name in all three languages.
    pub name: &'static str,
    /// The type of its elements, in all three languages.
    pub of: &'static str,
    /// What the kernel does with it.
    pub access: Access,
    /// Whether a launch may leave it out: then it is null in OpenCL and CUDA, and not in the layout in WGSL.
    pub optional: bool,
}

/// A launch's spans in the kernel's order; `None` where an optional argument is left out.
///
/// # Errors
/// [`Error::Invalid`] for a span that the kernel does not take, or one that it lacks.
pub fn in_order<'s, S>(kernel: &str, arguments: &[Argument], spans: &'s [(&str, S)]) -> Result<Vec<Option<&'s S>>> {
    if let Some((extra, _)) = spans.iter().find(|(name, _)| arguments.iter().all(|argument| argument.name != *name)) {
        return Err(Error::Invalid(format!("{kernel} has no argument `{extra}`")));
    }
    let spans = arguments.iter().map(|argument| match spans.iter().find(|(name, _)| *name == argument.name) {
        Some((_, span)) => Ok(Some(span)),
        None if argument.optional => Ok(None),
        None => Err(Error::Invalid(format!("{kernel} needs its argument `{}`", argument.name))),
    });
    spans.collect()
}

/// A kernel.
#[derive(Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Kernel {
    /// Its name, and its file below `kernels/`.
    pub name: &'static str,
    /// The function.
    pub entry_point: &'static str,
    /// Its arguments, in order. The parameters come after them.
    pub arguments: &'static [Argument],
    /// Its parameters, in order, each a 32-bit word.
    pub params: &'static [&'static str],
    /// Whether its parameters begin with an element, `initial`.
    pub initial: bool,
    /// The first CUDA architecture it compiles for: 75 for sm_75.
    pub cuda_from: u32,
    /// The only language it is written in, if it is not in all: the other APIs have a call for it, or lack what it uses.
    pub only: Option<Language>,
}

/// A kernel by its name, its function, its arguments and its parameters.
macro_rules! kernel {
    ($name:expr, $entry_point:expr, $arguments:expr, $params:expr $(,)?) => {
        $crate::Kernel {
            name: $name,
            entry_point: $entry_point,
            arguments: const { $arguments },
            params: $params,
            initial: false,
            cuda_from: 75,
            only: None,
        }
    };
}
pub(crate) use kernel;

pub(crate) const fn read(name: &'static str, of: &'static str) -> Argument {
    Argument { name, of, access: Access::Read, optional: false }
}
pub(crate) const fn write(name: &'static str, of: &'static str) -> Argument {
    Argument { access: Access::ReadWrite, ..read(name, of) }
}
pub(crate) const fn atomic(name: &'static str, of: &'static str) -> Argument {
    Argument { access: Access::Atomic, ..read(name, of) }
}
pub(crate) const fn coherent(name: &'static str, of: &'static str) -> Argument {
    Argument { access: Access::Coherent, ..read(name, of) }
}

impl Argument {
    pub(crate) const fn optional(self) -> Argument {
        Argument { optional: true, ..self }
    }

    /// Whether a kernel's launches have it.
    pub fn is_of(&self, key: &KernelKey) -> bool {
        !self.optional || key.arguments.contains(&self.name)
    }
}

impl Kernel {
    /// One of the CPU backend's, which is Rust.
    pub(crate) const fn host(name: &'static str) -> Kernel {
        kernel!(name, "", &[], &[]).only(Language::Host)
    }

    pub(crate) const fn with_initial(self) -> Kernel {
        Kernel { initial: true, ..self }
    }

    pub(crate) const fn only(self, language: Language) -> Kernel {
        Kernel { only: Some(language), ..self }
    }

    pub(crate) const fn cuda_from(self, architecture: u32) -> Kernel {
        Kernel { cuda_from: architecture, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_come_in_the_kernels_order_and_all_that_it_needs() {
        let arguments = [read("input", "u32"), write("output", "u32"), read("values", "u32").optional()];
        let of = |spans: &[(&str, u32)]| {
            let spans = in_order("scan/x", &arguments, spans).map_err(|error| error.to_string())?;
            Ok::<_, String>(spans.into_iter().map(|span| span.copied()).collect::<Vec<_>>())
        };
        assert_eq!(of(&[("output", 2), ("input", 1)]), Ok(vec![Some(1), Some(2), None]));
        let values = of(&[("values", 3), ("output", 2), ("input", 1)]);
        assert_eq!(values, Ok(vec![Some(1), Some(2), Some(3)]));
        assert!(of(&[("input", 1)]).is_err_and(|why| why.contains("scan/x needs its argument `output`")));
        let extra = of(&[("input", 1), ("output", 2), ("rest", 4)]);
        assert!(extra.is_err_and(|why| why.contains("scan/x has no argument `rest`")));
    }
}
