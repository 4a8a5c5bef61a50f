//! Stages, one after the other, and the table at the end.

use std::time::{Duration, Instant};

use anyhow::Result;

/// How a stage ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// All well; what was done, in a few words, or nothing.
    Passed(String),
    /// What went wrong.
    Failed(String),
    /// It could not be tried here.
    NotTested {
        /// Why.
        reason: String,
        /// The one command that mends it, if one does.
        remedy: Option<String>,
    },
}

impl Outcome {
    /// Passed or failed, as a program ended.
    pub fn of(success: bool) -> Outcome {
        if success { Outcome::Passed(String::new()) } else { Outcome::Failed("see above".into()) }
    }

    /// Could not be tried.
    pub fn not_tested(reason: impl Into<String>, remedy: Option<String>) -> Outcome {
        Outcome::NotTested { reason: reason.into(), remedy }
    }

    fn word(&self) -> &'static str {
        match self {
            Outcome::Passed(_) => "passed",
            Outcome::Failed(_) => "FAILED",
            Outcome::NotTested { .. } => "not tested",
        }
    }

    fn detail(&self) -> &str {
        match self {
            Outcome::Passed(detail) | Outcome::Failed(detail) => detail,
            Outcome::NotTested { reason, .. } => reason,
        }
    }
}

/// The stages so far.
#[derive(Default)]
pub struct Report {
    stages: Vec<(String, Duration, Outcome)>,
}

impl Report {
    /// Runs a stage under its heading. An error is a failure like any other: the stages after it still run.
    pub fn stage(&mut self, name: &str, work: impl FnOnce() -> Result<Outcome>) {
        println!("\n== {name}");
        let start = Instant::now();
        let outcome = work().unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        let time = start.elapsed();
        let detail = if outcome.detail().is_empty() { String::new() } else { format!(": {}", outcome.detail()) };
        println!("-- {name} {}{detail} ({})", outcome.word(), seconds(time));
        self.stages.push((name.to_owned(), time, outcome));
    }

    /// Whether a stage failed.
    pub fn failed(&self) -> bool {
        self.stages.iter().any(|(_, _, outcome)| matches!(outcome, Outcome::Failed(_)))
    }

    /// The table, and a closing line that counts.
    pub fn summary(&self) -> String {
        let width = self.stages.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
        let total = self.stages.iter().map(|(_, time, _)| *time).sum();
        let mut text = format!("\n== summary ({})\n", seconds(total));
        for (name, time, outcome) in &self.stages {
            let row = format!("{:10}  {name:width$}  {:>8}  {}", outcome.word(), seconds(*time), outcome.detail());
            text += row.trim_end();
            text.push('\n');
            if let Outcome::NotTested { remedy: Some(remedy), .. } = outcome {
                text += &format!("{:12}run: {remedy}\n", "");
            }
        }
        let count = |word: &str| self.stages.iter().filter(|(_, _, outcome)| outcome.word() == word).count();
        text + &format!("\n{} passed, {} failed, {} skipped\n", count("passed"), count("FAILED"), count("not tested"))
    }
}

fn seconds(time: Duration) -> String {
    let tenths = time.as_millis() / 100;
    match tenths {
        0..600 => format!("{}.{} s", tenths / 10, tenths % 10),
        _ => format!("{} min {:02} s", tenths / 600, tenths % 600 / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_that_fails_does_not_stop_the_next() {
        let mut report = Report::default();
        report.stage("one", || anyhow::bail!("no luck"));
        assert!(report.failed());
        report.stage("two", || Ok(Outcome::of(true)));
        report.stage("three", || Ok(Outcome::not_tested("no device", Some("buy one".into()))));
        let summary = report.summary();
        assert!(summary.contains("FAILED      one       0.0 s  no luck\n"), "{summary}");
        assert!(summary.contains("run: buy one\n"), "{summary}");
        assert!(summary.ends_with("\n1 passed, 1 failed, 1 skipped\n"), "{summary}");
    }

    #[test]
    fn times_are_short() {
        assert_eq!(seconds(Duration::from_millis(1234)), "1.2 s");
        assert_eq!(seconds(Duration::from_secs(754)), "12 min 34 s");
    }
}
