//! Stages, one after the other or side by side, and the table at the end.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::process::Output;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// All well; what was done, in a few words, or nothing.
    Passed(String),
    Failed(String),
    NotTested {
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

/// What a stage does, and where it prints.
type Work<'a> = Box<dyn FnOnce(&Output) -> Result<Outcome> + Send + 'a>;

pub struct Stage<'a> {
    name: &'static str,
    work: Work<'a>,
}

impl<'a> Stage<'a> {
    pub fn new(name: &'static str, work: impl FnOnce(&Output) -> Result<Outcome> + Send + 'a) -> Stage<'a> {
        Stage { name, work: Box::new(work) }
    }
}

struct Ended {
    name: &'static str,
    time: Duration,
    outcome: Outcome,
}

/// Runs a stage. An error is a failure like any other: the stages after it still run.
fn ended(stage: Stage<'_>, output: &Output) -> Ended {
    let start = Instant::now();
    let outcome = (stage.work)(output).unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
    let time = start.elapsed();
    let detail = if outcome.detail().is_empty() { String::new() } else { format!(": {}", outcome.detail()) };
    output.line(&format!("-- {} {}{detail} ({})", stage.name, outcome.word(), seconds(time)));
    Ended { name: stage.name, time, outcome }
}

pub struct Report {
    start: Instant,
    stages: Vec<Ended>,
}

impl Default for Report {
    fn default() -> Report {
        Report { start: Instant::now(), stages: vec![] }
    }
}

impl Report {
    /// Runs a stage under its heading.
    pub fn stage(&mut self, name: &'static str, work: impl FnOnce(&Output) -> Result<Outcome> + Send) {
        println!("\n== {name}");
        self.stages.push(ended(Stage::new(name, work), &Output::Shown));
    }

    /// Runs stages in their order, so many at a time. What each prints comes when it has ended.
    pub fn side_by_side(&mut self, lanes: usize, stages: Vec<Stage<'_>>) {
        let waiting = Mutex::new(stages.into_iter().enumerate());
        let done = Mutex::new(vec![]);
        let lane = || {
            loop {
                // Locked to take one, not while it runs.
                let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((place, stage)) = next else { break };
                println!("\n.. {} begins", stage.name);
                let (name, output) = (stage.name, Output::Kept(Mutex::default()));
                let ended = ended(stage, &output);
                if let Output::Kept(text) = output {
                    print!("\n== {name}\n{}", text.into_inner().unwrap_or_else(PoisonError::into_inner));
                }
                done.lock().unwrap_or_else(PoisonError::into_inner).push((place, ended));
            }
        };
        std::thread::scope(|scope| (0..lanes.max(1)).for_each(|_| drop(scope.spawn(lane))));
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(place, _)| *place);
        self.stages.extend(done.into_iter().map(|(_, ended)| ended));
    }

    pub fn failed(&self) -> bool {
        self.stages.iter().any(|stage| matches!(stage.outcome, Outcome::Failed(_)))
    }

    /// The table, and a closing line that counts.
    pub fn summary(&self) -> String {
        let width = self.stages.iter().map(|stage| stage.name.chars().count()).max().unwrap_or(0);
        let mut text = format!("\n== summary ({})\n", seconds(self.start.elapsed()));
        for Ended { name, time, outcome } in &self.stages {
            let row = format!("{:10}  {name:width$}  {:>8}  {}", outcome.word(), seconds(*time), outcome.detail());
            text += row.trim_end();
            text.push('\n');
            if let Outcome::NotTested { remedy: Some(remedy), .. } = outcome {
                text += &format!("{:12}run: {remedy}\n", "");
            }
        }
        let count = |word: &str| self.stages.iter().filter(|stage| stage.outcome.word() == word).count();
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
        report.stage("one", |_| anyhow::bail!("no luck"));
        assert!(report.failed());
        report.stage("two", |_| Ok(Outcome::of(true)));
        report.stage("three", |_| Ok(Outcome::not_tested("no device", Some("buy one".into()))));
        let summary = report.summary();
        assert!(summary.contains("FAILED      one       0.0 s  no luck\n"), "{summary}");
        assert!(summary.contains("run: buy one\n"), "{summary}");
        assert!(summary.ends_with("\n1 passed, 1 failed, 1 skipped\n"), "{summary}");
    }

    /// Each waits for the other, so that neither ends unless both run.
    #[test]
    fn two_stages_run_side_by_side() {
        let meet = std::sync::Barrier::new(2);
        let stage = |name, fails: bool| {
            let meet = &meet;
            Stage::new(name, move |_| {
                meet.wait();
                Ok(Outcome::of(!fails))
            })
        };
        let mut report = Report::default();
        report.side_by_side(2, vec![stage("one", true), stage("two", false)]);
        let names: Vec<_> = report.stages.iter().map(|stage| stage.name).collect();
        assert_eq!(names, ["one", "two"]);
        assert!(report.failed() && report.stages[1].outcome == Outcome::of(true));
    }

    #[test]
    fn times_are_short() {
        assert_eq!(seconds(Duration::from_millis(1234)), "1.2 s");
        assert_eq!(seconds(Duration::from_secs(754)), "12 min 34 s");
    }
}
