//! Fills and copies as a backend binds them: the same on each, also where no plan of the planner's has them.

use trifold_core::{Backend, Buffer, Command, Error, Result, Span, Transfer};

use crate::case::{Failure, Outcome, guarded};

/// Binds and runs fills and copies, and has wrong ones refused.
///
/// They change their own spans and nothing beside them. Empty ones do nothing. A fill of no whole number of words is an
/// error, and so is a copy between spans of two lengths.
pub fn fills_and_copies<B: Backend>(backend: &B) -> Outcome {
    guarded(|| {
        let (a, b) = (backend.upload(&[1_u32; 8])?, backend.upload(&[2_u32; 8])?);
        let (a, b) = (a.span(), b.span());

        execute(backend, Command::Fill { span: a.slice(12, 8)?, value: 7 })?;
        expect(backend, "a fill", a, [1, 1, 1, 7, 7, 1, 1, 1])?;
        execute(backend, Command::Copy { from: a.slice(8, 12)?, to: b.slice(20, 12)?, each: 0 })?;
        expect(backend, "a copy", b, [2, 2, 2, 2, 2, 1, 7, 7])?;
        execute(backend, Command::Fill { span: a.slice(16, 0)?, value: 9 })?;
        execute(backend, Command::Copy { from: b.slice(32, 0)?, to: a.slice(0, 0)?, each: 0 })?;
        expect(backend, "an empty fill and copy", a, [1, 1, 1, 7, 7, 1, 1, 1])?;

        refuse(backend, "a fill of six bytes", Command::Fill { span: a.slice(0, 6)?, value: 9 })?;
        refuse(
            backend,
            "a copy of three words to two",
            Command::Copy { from: a.slice(0, 12)?, to: b.slice(0, 8)?, each: 0 },
        )?;
        expect(backend, "a refused fill", a, [1, 1, 1, 7, 7, 1, 1, 1])?;
        expect(backend, "a refused copy", b, [2, 2, 2, 2, 2, 1, 7, 7])
    })
}

fn execute<B: Backend>(backend: &B, command: Command<'_, B>) -> Result<()> {
    // SAFETY: a fill or a copy touches what its spans have, and their buffers live until `expect` has read them, after it.
    let steps = unsafe { backend.bind(vec![command], false) }?;
    backend.run(&steps, None)
}

fn expect<B: Backend>(backend: &B, what: &str, span: &Span<B>, words: [u32; 8]) -> std::result::Result<(), Failure> {
    let found = Buffer::<u32, B>::of_span(backend, span.clone())?.read()?;
    if found == words {
        return Ok(());
    }
    Err(Failure::Wrong(format!("{what} left {found:?}, not {words:?}")))
}

fn refuse<B: Backend>(backend: &B, what: &str, command: Command<'_, B>) -> std::result::Result<(), Failure> {
    // SAFETY: it is not executed.
    match unsafe { backend.bind(vec![command], false) } {
        Err(Error::Invalid(_)) => Ok(()),
        Err(error) => Err(Failure::Wrong(format!("{what} ends with another error: {error}"))),
        Ok(_) => Err(Failure::Wrong(format!("{what} was bound"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processors_commands() {
        assert_eq!(fills_and_copies(&trifold_cpu::Cpu::with_threads(2).unwrap()), Outcome::Passed);
    }
}
