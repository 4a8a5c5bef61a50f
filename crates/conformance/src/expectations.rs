//! Known faults of drivers, each with its link.

use crate::Outcome;

/// Rows of `device case reason`: on devices whose name holds `device`, cases whose names match `case` are known
/// to fail. In both, `*` stands for any text and `?` for any character, such as a space.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expectations(Vec<Row>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    device: String,
    case: String,
    reason: String,
}

impl Expectations {
    /// The faults known to this crate: its `expectations.txt`.
    pub fn shipped() -> Expectations {
        // A test below parses it.
        Expectations::parse(include_str!("../expectations.txt")).unwrap_or_default()
    }

    /// Reads rows. Empty lines and those that start with `#` are skipped.
    ///
    /// # Errors
    /// The number of a line that has no reason.
    pub fn parse(text: &str) -> Result<Expectations, String> {
        let mut rows = vec![];
        for (i, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let mut columns = line.splitn(2, char::is_whitespace);
            let device = columns.next().unwrap_or_default();
            let mut rest = columns.next().unwrap_or_default().trim_start().splitn(2, char::is_whitespace);
            match (rest.next(), rest.next().map(str::trim)) {
                (Some(case), Some(reason)) if !reason.is_empty() => {
                    rows.push(Row { device: format!("*{device}*"), case: case.to_owned(), reason: reason.to_owned() })
                }
                _ => {
                    return Err(format!(
                        "line {}: a row is `device case-glob reason`, and the reason has a link",
                        i + 1
                    ));
                }
            }
        }
        Ok(Expectations(rows))
    }

    /// Why a case is known to fail on a device.
    pub fn reason(&self, device: &str, case: &str) -> Option<&str> {
        let row = self.0.iter().find(|row| matches(&row.device, device) && matches(&row.case, case));
        row.map(|row| row.reason.as_str())
    }

    /// The outcome that counts, given the known failures. A known failure is ignored, with its reason. A pass where a
    /// failure is known fails, so that its row is removed.
    pub fn settle(&self, device: &str, case: &str, outcome: Outcome) -> Outcome {
        match (self.reason(device, case), outcome) {
            (Some(reason), Outcome::Failed(_)) => Outcome::Ignored(format!("known: {reason}")),
            (Some(reason), Outcome::Passed) => {
                Outcome::Failed(format!("passes, and is expected to fail ({reason}): remove its row"))
            }
            (_, outcome) => outcome,
        }
    }
}

/// Whether a text is what a pattern of `*` and `?` describes.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&c) if c == '?' || c == text[t] => (p, t) = (p + 1, t + 1),
            // The last star takes one character more.
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    (p, t) = (at + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_rows_parse() {
        Expectations::parse(include_str!("../expectations.txt")).unwrap();
        let known = Expectations::parse("(Gl) */guarded/* https://example.com/1: a reason").unwrap();
        // By the name that both the harness and `trifold verify` give a device.
        let (gl, case) = ("llvmpipe (LLVM 15.0.6, 256 bits) (Gl)", "scan/i32/guarded/reduce_then_scan/n=777/uniform");
        assert!(known.reason(gl, case).is_some() && known.reason(&format!("wgpu on {gl}"), case).is_some());
    }

    #[test]
    fn globs() {
        assert!(matches("*llvmpipe?(LLVM*", "wgpu llvmpipe (LLVM 19)"));
        assert!(matches("scan/*/n=1", "scan/u32/sum/n=1"));
        assert!(!matches("scan/*/n=1", "scan/u32/sum/n=17"));
        assert!(matches("a*b*c", "abxbxc") && !matches("a?", "a"));
    }

    #[test]
    fn a_known_failure_is_ignored_and_its_pass_fails() {
        let known = Expectations::parse("# a comment\nllvmpipe  sort/*  https://example.org/1 wrong\n").unwrap();
        let settle = |device, outcome| known.settle(device, "sort/u32", outcome);
        assert!(matches!(settle("llvmpipe 19", Outcome::Failed("x".into())), Outcome::Ignored(_)));
        assert!(matches!(settle("llvmpipe 19", Outcome::Passed), Outcome::Failed(_)));
        assert_eq!(settle("PoCL", Outcome::Passed), Outcome::Passed);
        assert!(Expectations::parse("llvmpipe sort/*").is_err());
    }
}
