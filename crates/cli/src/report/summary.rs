//! The page's first table: each kind of call, by the APIs that it went through.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::read::Run;
use super::series::{self, Lines, Subject};
use super::style::Api;
use super::text::{short, size};
use crate::compare::Row;

/// A subject's speeds at the largest n that one of our own rows has.
struct Call {
    subject: Subject,
    n: u64,
    /// In the order of the columns.
    speeds: Vec<Option<f64>>,
}

impl Call {
    fn of(subject: Subject, run: &Run, apis: &[Api]) -> Option<Call> {
        let lines = series::lines(&subject, run);
        let own = lines.iter().filter(|(line, _)| !line.api.is_library());
        let n = own.flat_map(|(_, rows)| rows.keys().copied()).max()?;
        let rows: Vec<Option<&Row>> = apis.iter().map(|api| fastest(&lines, api, n)).collect();
        // A share of a batch is set against others alone.
        let are_batched = rows.iter().flatten().all(|row| row.batched_ms.is_some());
        let speed = |row: &Row| if are_batched { series::speed(row) } else { series::alone(row) };
        let speeds = rows.iter().map(|row| row.and_then(speed)).collect();
        drop(lines);
        Some(Call { subject, n, speeds })
    }

    fn best(&self) -> f64 {
        self.speeds.iter().flatten().copied().fold(0.0, f64::max)
    }
}

/// An API's fastest row at an n.
fn fastest<'a>(lines: &Lines<'a>, api: &Api, n: u64) -> Option<&'a Row> {
    let own = lines.iter().filter(|(line, _)| line.api == *api);
    let rows = own.filter_map(|(_, rows)| rows.get(&n).copied());
    rows.max_by(|a, b| series::speed(a).unwrap_or(0.0).total_cmp(&series::speed(b).unwrap_or(0.0)))
}

/// The table of a run; an experiment's rows have their own charts. Nothing where one API alone has one call.
pub fn of(run: &Run, is_named: bool) -> Markup {
    let is_plain = |subject: &Subject| subject.rows(run).any(|row| row.experiment.is_none());
    let subjects: Vec<Subject> = series::subjects(std::slice::from_ref(run)).into_iter().filter(is_plain).collect();
    let rows = subjects.iter().flat_map(|subject| subject.rows(run));
    let apis: BTreeSet<Api> = rows.map(|row| Api::of(&row.backend, &row.api)).collect();
    let apis: Vec<Api> = apis.into_iter().collect();
    let calls: Vec<Call> = subjects.into_iter().filter_map(|subject| Call::of(subject, run, &apis)).collect();
    if calls.len() * apis.len() < 2 {
        return html! {};
    }
    let name = if is_named { format!("Summary, {}", run.label) } else { "Summary".into() };
    html! {
        section.summary aria-label=(name) {
            h2 { (name) }
            p.note { "10⁹ elements a second at the largest n; batched, where all of a line were measured so. The fastest is bold." }
            div.scroll tabindex="0" role="region" aria-label=(name) {
                table {
                    thead {
                        tr {
                            th scope="col" { "call" }
                            th.number scope="col" { "n" }
                            @for api in &apis { th.number scope="col" { (api.label) } }
                        }
                    }
                    tbody { @for call in &calls { (line(call)) } }
                }
            }
        }
    }
}

fn line(call: &Call) -> Markup {
    let best = call.best();
    html! {
        tr {
            th scope="row" { a href={ "#" (call.subject.id()) } { (call.subject.title()) } }
            td.number { (size(call.n)) }
            @for speed in &call.speeds {
                td.number {
                    @match speed {
                        Some(speed) if *speed == best => b { (short(*speed)) },
                        Some(speed) => (short(*speed)),
                        None => "–",
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use trifold::algorithm::scan;
    use trifold::plan::forms;

    use super::*;
    use crate::report::series::tests::row;

    #[test]
    fn the_fastest_at_the_largest_size_is_bold() {
        let rows = vec![
            row("cuda", "CUDA 13.0", &forms::SCAN, scan::LOOKBACK.name, 1024, 9.0),
            row("cuda", "CUDA 13.0", &forms::SCAN, scan::LOOKBACK.name, 2048, 2.0),
            row("wgpu", "Vulkan", &forms::SCAN, scan::LOOKBACK.name, 2048, 3.0),
            row("cub", "", &forms::SCAN, "", 4096, 9.0),
        ];
        let text = of(&Run::new("a.json", rows), false).into_string();
        assert!(text.contains(">2¹¹<") && text.contains("<b>3.00</b>") && !text.contains("<b>2.00"), "{text}");
        assert!(text.contains("–"), "CUB has no such row: {text}");
        let alone = vec![row("cpu", "Rust", &forms::COPY, "copy", 7, 1.0)];
        assert_eq!(of(&Run::new("b.json", alone), false).into_string(), "");
    }
}
