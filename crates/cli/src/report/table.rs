//! The rows as tables: in the page, where a column's heading sorts it, and as CSV.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use maud::{Markup, html};

use super::read::Run;
use super::series::{Prediction, Ratios, Subject, bandwidth, rate};
use super::style::Api;
use super::text::{percent, prefixed, short, size, time};
use crate::compare::Row;

/// What the columns of rows are.
const TERMS: &str = "Median: a call alone. Batched: a call's share of 32 in a queue. Of copy: of the speed of the device's own copy. \
                     A heading sorts.";

/// A cell: what is shown, and what is sorted by; a text by itself if there is no number.
struct Cell {
    text: String,
    number: Option<f64>,
    is_number: bool,
}

fn words(text: &str) -> Cell {
    Cell { text: if text.is_empty() { "–" } else { text }.into(), number: None, is_number: false }
}

fn number(value: Option<f64>, show: impl Fn(f64) -> String) -> Cell {
    // A quotient of a time that is next to none.
    let value = value.filter(|value| value.is_finite());
    Cell { text: value.map_or_else(|| "–".into(), show), number: value, is_number: true }
}

/// A table; a column is of numbers if its cell of the first row is one.
fn sortable(caption: &str, terms: &str, headings: &[&str], rows: &[Vec<Cell>]) -> Markup {
    let is_number = |column: usize| rows.first().is_some_and(|row| row[column].is_number);
    html! {
        details.table {
            summary { "Table: " (rows.len()) @if rows.len() == 1 { " row" } @else { " rows" } }
            @if !terms.is_empty() { p.note { (terms) } }
            div.scroll tabindex="0" role="region" aria-label=(caption) {
                table {
                    caption { (caption) }
                    thead {
                        tr {
                            @for (i, heading) in headings.iter().enumerate() {
                                th scope="col" aria-sort="none" class=[is_number(i).then_some("number")] {
                                    button type="button" { (heading) }
                                }
                            }
                        }
                    }
                    tbody { @for row in rows { tr { (cells(row)) } } }
                }
            }
        }
    }
}

fn cells(row: &[Cell]) -> Markup {
    html! {
        @for (i, cell) in row.iter().enumerate() {
            @if i == 0 {
                th scope="row" { (cell.text) }
            } @else if cell.is_number {
                td.number data-value=[cell.number] { (cell.text) }
            } @else {
                td { (cell.text) }
            }
        }
    }
}

/// A column of rows: its heading, whether the table has it, and a row's cell.
type Column = (&'static str, bool, fn(&Run, &Row) -> Cell);

/// The rows of a subject in all runs.
pub fn of_rows(subject: &Subject, runs: &[Run]) -> Markup {
    let all = || runs.iter().flat_map(|run| subject.rows(run).map(move |row| (run, row)));
    let is_sweep = all().any(|(_, row)| row.tuning.is_some());
    let is_predicted = all().any(|(_, row)| row.predicted_ms.is_some());
    // A record that was measured in parts says of each row by which program.
    let commits: BTreeSet<_> = all().filter_map(|(_, row)| row.commit.as_deref()).collect();
    // What a reader looks for first, on a phone too; then what tells rows apart.
    let mut columns: Vec<Column> = vec![
        ("API", true, |_, row| words(&Api::of(&row.backend, &row.api).label)),
        ("n", true, |_, row| number(Some(row.n as f64), |_| size(row.n))),
        ("median", true, |_, row| number(row.median_ms, time)),
        ("batched", true, |_, row| number(row.batched_ms, time)),
        ("10⁹ elements/s", true, |_, row| number(rate(row), short)),
        ("of copy", true, |_, row| number(row.copy_fraction, percent)),
        ("GB/s", true, |_, row| number(bandwidth(row), short)),
        ("least", true, |_, row| number(row.min_ms, time)),
        ("predicted", is_predicted, |_, row| number(row.predicted_ms, time)),
        ("measured / predicted", is_predicted, |_, row| {
            number(row.median_ms.zip(row.predicted_ms).map(|(measured, predicted)| measured / predicted), short)
        }),
        ("algorithm", true, |_, row| words(&row.algorithm)),
        ("file", runs.len() > 1, |run, _| words(&run.label)),
        ("planned with", is_sweep, |_, row| words(row.tuning.as_deref().unwrap_or_default())),
        ("device", true, |_, row| words(&row.device)),
        ("checked", true, |_, row| words(row.verified.map_or("", |is_right| if is_right { "yes" } else { "NO" }))),
        ("commit", commits.len() > 1, |_, row| words(row.commit.as_deref().unwrap_or_default())),
    ];
    columns.retain(|(_, has, _)| *has);
    let headings: Vec<&str> = columns.iter().map(|(heading, ..)| *heading).collect();
    let cells = |(run, row)| columns.iter().map(|(.., cell)| cell(run, row)).collect();
    let rows: Vec<Vec<Cell>> = all().map(cells).collect();
    sortable(&format!("{}: all rows", subject.title()), TERMS, &headings, &rows)
}

/// Another run's speeds against the first one's.
pub fn of_ratios(title: &str, names: [&str; 2], ratios: &Ratios<'_>) -> Markup {
    let [first, other] = names;
    let headings = ["API", "n", first, "algorithm", other, "algorithm", "ratio"];
    let mut rows = vec![];
    for (api, points) in ratios {
        for (n, ratio) in points {
            let [first, other] = ratio.speeds().map(|speed| number(speed, |speed| format!("{} G/s", short(speed))));
            rows.push(vec![
                words(api.as_ref().map_or("our fastest of each", |api| &api.label)),
                number(Some(*n as f64), |_| size(*n)),
                first,
                words(&ratio.first.algorithm),
                other,
                words(&ratio.other.algorithm),
                number(ratio.value(), |value| format!("{}×", short(value))),
            ]);
        }
    }
    sortable(&format!("{title}: {other} against {first}"), "", &headings, &rows)
}

pub fn of_predictions(run: &Run, predictions: &[Prediction<'_>]) -> Markup {
    let headings = ["call", "API", "algorithm", "n", "bytes", "predicted", "measured", "measured / predicted"];
    let row = |p: &Prediction<'_>| {
        vec![
            words(&p.subject.title()),
            words(&p.line.api.label),
            words(&p.line.algorithm),
            number(Some(p.row.n as f64), |_| size(p.row.n)),
            number(Some(p.bytes), |bytes| format!("{}B", prefixed(bytes))),
            number(Some(p.predicted_ms), time),
            number(Some(p.measured_ms), time),
            number(Some(p.measured_ms / p.predicted_ms), short),
        ]
    };
    let rows: Vec<Vec<Cell>> = predictions.iter().map(row).collect();
    sortable(&format!("{}: predicted and measured times", run.label), "", &headings, &rows)
}

/// All rows as CSV: the file's name, and the fields of `--json` by their names.
pub fn csv(runs: &[Run]) -> Result<String> {
    let text = |writer: csv::Writer<Vec<u8>>| -> Result<String> {
        Ok(String::from_utf8(writer.into_inner().context("the CSV writer kept something back")?)?)
    };
    let mut records = csv::WriterBuilder::new().has_headers(false).from_writer(vec![]);
    let mut fields = String::new();
    for run in runs {
        for row in &run.rows {
            if fields.is_empty() {
                // The fields' names, as the CSV writer takes them from a row.
                let mut one = csv::Writer::from_writer(vec![]);
                one.serialize(row)?;
                fields = text(one)?.lines().next().unwrap_or_default().to_owned();
            }
            records.serialize((&run.label, row))?;
        }
    }
    Ok(format!("file,{fields}\n{}", text(records)?))
}

/// A row's place, for a list of what went wrong.
pub fn place(row: &Row) -> String {
    let api = Api::of(&row.backend, &row.api);
    format!("{} of {} elements by {} on {}", Subject::of(row).title(), size(row.n), api.label, row.device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::series::tests::row;
    use trifold::algorithm::scan;
    use trifold::plan::forms;

    #[test]
    fn csv_has_a_record_a_row_and_quotes_what_needs_it() {
        let mut one = row("cuda", "CUDA 13.0", &forms::SCAN, scan::LOOKBACK.name, 1024, 2.0);
        one.error = Some("a \"quoted\", odd\nerror".into());
        let rows = vec![one, row("cub", "", &forms::COPY, "", 5, 1.0)];
        let text = csv(&[Run::new("a,b.json", rows)]).unwrap();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header: Vec<String> = reader.headers().unwrap().iter().map(String::from).collect();
        assert_eq!(header[..3], ["file", "backend", "device"]);
        assert!(header.contains(&"type".into()) && header.contains(&"commit".into()));
        let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(records.len(), 2);
        let error = header.iter().position(|name| name == "error").unwrap();
        assert_eq!((&records[0][0], &records[0][error]), ("a,b.json", "a \"quoted\", odd\nerror"));
        assert_eq!((&records[1][1], &records[1][error]), ("cub", ""));
    }

    #[test]
    fn what_a_file_says_is_text_in_the_page() {
        let mut one = row("cuda", "", &forms::SCAN, scan::LOOKBACK.name, 1024, 2.0);
        one.device = "<script>alert(1)</script>".into();
        let runs = [Run::new("\"x\"", vec![one])];
        let html = of_rows(&Subject::of(&runs[0].rows[0]), &runs).into_string();
        assert!(html.contains("&lt;script&gt;") && !html.contains("<script>"), "{html}");
    }
}
