//! The PTX that kernels have inline, as calls of functions of the host's.

use trifold_core::{Error, Result};

/// Each statement of PTX in the kernels, its white space made one space, and its function in `cuda.hpp`, which takes the operands in
/// their order.
const STATEMENTS: &[(&str, &str)] = &[
    ("griddepcontrol.wait;", "ptx_nothing"),
    ("griddepcontrol.launch_dependents;", "ptx_nothing"),
    ("mov.b32 %0, %1;", "ptx_move"),
    ("ld.relaxed.gpu.global.u32 %0, [%1];", "ptx_load"),
    ("ld.relaxed.gpu.global.u64 %0, [%1];", "ptx_load"),
    ("st.relaxed.gpu.global.u32 [%0], %1;", "ptx_store"),
    ("st.relaxed.gpu.global.u64 [%0], %1;", "ptx_store"),
    ("{ .reg .b128 w; ld.relaxed.gpu.global.b128 w, [%2]; mov.b128 {%0, %1}, w; }", "ptx_load128"),
    ("{ .reg .b128 w; mov.b128 w, {%1, %2}; st.relaxed.gpu.global.b128 [%0], w; }", "ptx_store128"),
    (
        "{ .reg .b128 was, now, found; mov.b128 was, {%1, %2}; mov.b128 now, {%3, %4}; atom.relaxed.gpu.global.cas.b128 found, \
         [%0], was, now; }",
        "ptx_swap128",
    ),
    (
        "{ .reg .pred mine; and.b32 %0, %1, %2; setp.ne.u32 mine, %0, 0; vote.sync.ballot.b32 %0, mine, 0xffffffff; @!mine \
         not.b32 %0, %0; }",
        "ptx_same_bit",
    ),
    ("mbarrier.init.shared::cta.b64 [%0], %1;", "ptx_barrier_init"),
    ("fence.mbarrier_init.release.cluster;", "ptx_nothing"),
    ("mbarrier.arrive.shared::cta.b64 _, [%0];", "ptx_barrier_arrive"),
    (
        "{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra DONE; bra AGAIN; DONE: }",
        "ptx_barrier_wait",
    ),
    ("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;", "ptx_barrier_expect"),
    ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];", "ptx_bulk_load"),
    ("fence.proxy.async.shared::cta;", "ptx_nothing"),
    ("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;", "ptx_bulk_store"),
    ("cp.async.bulk.commit_group;", "ptx_nothing"),
    ("cp.async.bulk.wait_group.read 1;", "ptx_nothing"),
    ("cp.async.bulk.wait_group 0;", "ptx_nothing"),
    ("bar.sync %0, %1;", "ptx_named_barrier"),
];

const OPENING: &str = "asm volatile(";

/// A kernel's text with a call for each `asm volatile` statement.
///
/// # Errors
/// [`Error::Unsupported`] for a statement that is not listed.
pub(crate) fn rewrite(source: &str) -> Result<String> {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some((before, after)) = rest.split_once(OPENING) {
        text.push_str(before);
        let mut statement = Cursor(after);
        text.push_str(&statement.call()?);
        rest = statement.0;
    }
    text.push_str(rest);
    Ok(text)
}

/// What is left of a text, as `asm` statements are read from it.
struct Cursor<'a>(&'a str);

impl<'a> Cursor<'a> {
    /// The statement's call, up to and with its closing parenthesis.
    fn call(&mut self) -> Result<String> {
        let mut template = String::new();
        while let Some(literal) = self.literal() {
            template.push_str(literal);
        }
        let template = template.replace("\\n", " ").split_whitespace().collect::<Vec<_>>().join(" ");
        let function = STATEMENTS.iter().find(|(ptx, _)| *ptx == template).map(|(_, function)| function);
        let function = function.ok_or_else(|| {
            Error::Unsupported(format!("`{template}` on the host: STATEMENTS in ptx.rs lists the PTX that it has"))
        })?;
        let mut operands = vec![];
        loop {
            self.0 = self.0.trim_start();
            if let Some(rest) = self.0.strip_prefix(')') {
                self.0 = rest;
                return Ok(format!("{function}({})", operands.join(", ")));
            }
            // What is clobbered has no expression.
            match self.literal() {
                Some(_) => operands.extend(self.parenthesised()),
                None if self.0.starts_with([':', ',']) => self.0 = &self.0[1..],
                None => {
                    return Err(Error::Unsupported(format!("an asm statement that goes on `{}`", first_line(self.0))));
                }
            }
        }
    }

    /// A string literal that comes next, without escapes of quotes.
    fn literal(&mut self) -> Option<&'a str> {
        let (literal, rest) = self.0.trim_start().strip_prefix('"')?.split_once('"')?;
        self.0 = rest;
        Some(literal)
    }

    /// An expression in parentheses that comes next, with them.
    fn parenthesised(&mut self) -> Option<&'a str> {
        let text = self.0.trim_start();
        let mut depth = 0;
        let end = text.char_indices().find_map(|(at, c)| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            (depth == 0).then_some(at + 1)
        })?;
        let expression = text[..end].starts_with('(').then_some(&text[..end])?;
        self.0 = &text[end..];
        Some(expression)
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trifold_core::Language;

    #[test]
    fn statements_become_calls() {
        let load = "u32 v;\nasm volatile(\"ld.relaxed.gpu.global.u32 %0, [%1];\" : \"=r\"(v) : \"l\"(&w[f(1)]) : \"memory\");\n";
        assert_eq!(rewrite(load).unwrap(), "u32 v;\nptx_load((v), (&w[f(1)]));\n");
        let barrier = "asm volatile(\"bar.sync %0, \"\n  \"%1;\" ::\"r\"(id), \"r\"(n * 32u));";
        assert_eq!(rewrite(barrier).unwrap(), "ptx_named_barrier((id), (n * 32u));");
        assert_eq!(
            rewrite("asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");").unwrap(),
            "ptx_nothing();"
        );
    }

    #[test]
    fn another_statement_is_refused() {
        let error = rewrite("asm volatile(\"trap;\");").unwrap_err().to_string();
        assert!(error.contains("`trap;` on the host"), "{error}");
    }

    #[test]
    fn all_of_the_kernels_statements_are_listed_and_used() {
        let mut all = String::new();
        for (name, text) in trifold_kernels::texts(Language::CudaC) {
            all.push_str(&rewrite(text).unwrap_or_else(|error| panic!("{name}: {error}")));
        }
        for (statement, function) in STATEMENTS {
            assert!(all.contains(&format!("{function}(")), "no kernel has `{statement}`");
        }
    }
}
