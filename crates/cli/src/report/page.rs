//! The page: one file with its styles, its script and its charts.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use trifold::algorithm;
use trifold::algorithm::scan::SEQUENTIAL;

use super::charts::{self, Axes, Drawing, Legend, Look};
use super::read::Run;
use super::series::{self, Ceiling, Ladder, Lines, Subject, speed};
use super::style::Api;
use super::text::{short, size};
use super::{style, summary, table};
use crate::compare::{BATCH, Row};

const CHART_CSS: &str = include_str!("chart.css");
const PAGE_CSS: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Nothing is loaded: whatever a result file says, the page asks no network.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// More lines than this are a tangle: each algorithm has a small chart of its own then.
const CROWDED: usize = 12;

pub fn render(runs: &[Run]) -> Result<String> {
    let subjects = series::subjects(runs);
    let mut sections = vec![];
    for subject in &subjects {
        sections.push(section(subject, runs)?);
    }
    let traffic = traffic(runs)?;
    let problems = problems(runs);
    let css = style::variables(":root") + CHART_CSS + PAGE_CSS;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                link rel="icon" href="data:,";
                title { "Trifold: " (runs.iter().map(|run| run.label.as_str()).collect::<Vec<_>>().join(", ")) }
                style { (PreEscaped(css)) }
            }
            body {
                a.skip href="#charts" { "Skip to the charts" }
                header.top {
                    div {
                        h1 { "Trifold results" }
                        p.lede { "Scan, reduce and sort as measured by " code { "trifold compare" } " and " code { "trifold experiment" } "." }
                    }
                    button #theme type="button" hidden { "Theme: system" }
                }
                section.runs aria-label="What was measured" { @for run in runs { (card(run)) } }
                @for run in runs { (summary::of(run, runs.len() > 1)) }
                nav aria-label="Sections" {
                    @for subject in &subjects { a href={ "#" (subject.id()) } { (subject.title()) } }
                    @if traffic.is_some() { a href="#traffic" { "Traffic" } }
                    @if problems.is_some() { a href="#problems" { "Not measured" } }
                }
                main #charts {
                    @for section in &sections { (section) }
                    @if let Some(traffic) = traffic { (traffic) }
                    @if let Some(problems) = problems { (problems) }
                }
                footer {
                    p {
                        "Medians of the device's own times; of small calls, which alone are mostly their launch, each one's share of "
                        (BATCH) " in a queue, where that was measured. The copy ceiling is what a call could reach if it moved "
                        "its least traffic as fast as the run's fastest copy of the same size, a batched one beside batched calls, where the file has one. Where a file has "
                        "several rows of one call, a line takes the fastest. In a focused chart the arrow keys go "
                        "from point to point."
                    }
                }
                div #figures role="status" {}
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    Ok(page.into_string())
}

/// Each throughput chart as an SVG file of its own: its name, and its text.
pub fn drawings(runs: &[Run]) -> Result<Vec<(String, String)>> {
    let css = style::variables("svg") + CHART_CSS;
    let mut drawings = vec![];
    for subject in series::subjects(runs) {
        for run in runs {
            let panel = Panel::of(&subject, run);
            let Some(axes) = Axes::around(panel.points()) else { continue };
            let drawing = panel.draw(&axes, &Look::WHOLE)?;
            let stem = run.label.trim_end_matches(".json");
            let svg = drawing.standalone(&subject.title(), &panel.legend(), &run.label, &css);
            let name: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
            drawings.push((format!("{name}-{}.svg", subject.id()), svg.into_string() + "\n"));
        }
    }
    Ok(drawings)
}

/// Where, with what and when a file's rows were measured.
fn card(run: &Run) -> Markup {
    let known = |text: &str| if text.is_empty() { "unknown".into() } else { text.to_owned() };
    let mut devices = BTreeMap::<&str, BTreeSet<String>>::new();
    for row in run.rows.iter().filter(|row| !row.device.is_empty()) {
        let text = format!("{} {}, driver {}", row.backend, row.api, known(&row.driver));
        devices.entry(&row.device).or_default().insert(text);
    }
    let others: BTreeSet<String> = run.rows.iter().filter(|row| row.device.is_empty()).map(library).collect();
    let all = |of: fn(&Row) -> &str| -> Vec<&str> {
        let set: BTreeSet<&str> = run.rows.iter().map(of).filter(|text| !text.is_empty()).collect();
        set.into_iter().collect()
    };
    let (dates, versions) = (all(|row| &row.date), all(|row| &row.version));
    let commits = all(|row| row.commit.as_deref().unwrap_or(""));
    let checked = run.rows.iter().filter(|row| row.verified == Some(true)).count();
    let checkable = run.rows.iter().filter(|row| row.verified.is_some()).count();
    html! {
        article.card {
            h2 { (run.label) }
            dl {
                @for (device, apis) in &devices {
                    dt { (device) }
                    @for api in apis { dd { (api) } }
                }
                @if !others.is_empty() {
                    dt { "Beside it" }
                    dd { (others.into_iter().collect::<Vec<_>>().join(", ")) }
                }
                dt { "Measured" }
                dd {
                    @match (dates.first(), dates.last()) {
                        (Some(first), Some(last)) => (span(first, last)),
                        _ => "date unknown"
                    }
                }
                dt { "Program" }
                dd {
                    "trifold " (known(&versions.join(", ")))
                    @if !commits.is_empty() { ", commit " code { (commits.join(", ")) } }
                }
                dt { "Rows" }
                dd { (run.rows.len()) ", " (checked) " of " (checkable) " of our own verified" }
            }
        }
    }
}

/// Another library, and which of its files a row is of.
fn library(row: &Row) -> String {
    if row.driver.is_empty() { row.backend.clone() } else { format!("{} ({})", row.backend, row.driver) }
}

/// From one time to another, in UTC.
fn span(first: &str, last: &str) -> Markup {
    let show = |date: &str| date.replace('T', " ").trim_end_matches('Z').to_owned();
    let (from, to) = (show(first), show(last));
    // A day that both have is said once.
    let rest = match (from.split_once(' '), to.split_once(' ')) {
        (Some((a, _)), Some((b, time))) if a == b => time.to_owned(),
        _ => to.clone(),
    };
    html! {
        time datetime=(first) { (from) }
        @if first != last { " to " time datetime=(last) { (rest) } }
        " UTC"
    }
}

/// A run's lines in one chart.
struct Panel<'a> {
    lines: Lines<'a>,
    ceiling: Ceiling,
}

impl<'a> Panel<'a> {
    fn of(subject: &'a Subject, run: &'a Run) -> Panel<'a> {
        let lines = series::lines(subject, run);
        let mut sizes = lines.values().flat_map(|rows| rows.keys());
        let first = sizes.next();
        let is_one_size = sizes.all(|n| Some(n) == first);
        // Of one n bars are drawn, and no line.
        if subject.is_sweep(run) || (is_one_size && !series::ladders(subject, run).is_empty()) {
            return Panel { lines: Lines::new(), ceiling: Ceiling::default() };
        }
        Panel { lines, ceiling: series::ceiling(subject, run) }
    }

    fn points(&self) -> impl Iterator<Item = (u64, f64)> {
        let rows = self.lines.values().flat_map(|rows| rows.values());
        let ceiling = self.ceiling.at.iter().map(|(n, speed)| (*n, *speed));
        rows.filter_map(|row| Some((row.n, speed(row)?))).chain(ceiling)
    }

    fn draw(&self, axes: &Axes, look: &Look) -> Result<Drawing> {
        charts::throughput(axes, &self.lines, &self.ceiling, look)
    }

    /// By algorithm, in the catalogue's order. What one API alone has, and nothing else, stands in each for comparison: a
    /// sequential scan of the CPU's, or another library.
    fn parts(&self) -> Vec<(String, Panel<'a>)> {
        let count = |is: &dyn Fn(&series::Line) -> bool| self.lines.keys().filter(|line| is(line)).count();
        let is_beside = |line: &series::Line| {
            let is_alone = count(&|other| other.api == line.api) == 1;
            // Of the processor's two the one that the literature compares with.
            let is_baseline = is_alone || (line.api.colour() == "cpu" && line.algorithm == SEQUENTIAL.name);
            line.algorithm.is_empty() || (is_baseline && count(&|other| other.algorithm == line.algorithm) == 1)
        };
        let place = |name: &str| algorithm::all().position(|known| known.name == name);
        let algorithms: BTreeSet<_> = self
            .lines
            .keys()
            .filter(|line| !is_beside(line))
            .map(|line| (place(&line.algorithm).unwrap_or(usize::MAX), line.algorithm.clone()))
            .collect();
        let part = |(_, name): (usize, String)| {
            let lines = self.lines.iter().filter(|(line, _)| line.algorithm == name || is_beside(line));
            let lines = lines.map(|(line, rows)| (line.clone(), rows.clone())).collect();
            (name, Panel { lines, ceiling: self.ceiling.clone() })
        };
        if algorithms.is_empty() {
            return vec![("Throughput".into(), Panel { lines: self.lines.clone(), ceiling: self.ceiling.clone() })];
        }
        algorithms.into_iter().map(part).collect()
    }

    fn ceiling(&self) -> Option<Legend> {
        (!self.ceiling.at.is_empty()).then(|| Legend::ceiling(self.ceiling.device.as_deref()))
    }

    fn legend(&self) -> Vec<Legend> {
        let ceiling = self.ceiling();
        self.lines.keys().map(Legend::of).chain(ceiling).collect()
    }
}

/// A drawing with its caption, which the keyboard can go through; who does not see its section is told its title.
fn figure(title: &str, caption: &str, drawing: &Drawing) -> Markup {
    let whole = format!("{title}: {caption}");
    html! {
        figure {
            figcaption { (caption) }
            div.plot tabindex="0" role="group" aria-label={ (whole) ". The arrow keys read the points." } {
                (drawing.inline(&whole))
            }
        }
    }
}

/// A legend whose entries hide their lines, each with its figure if it has one.
fn legend(entries: &[(Legend, Option<String>)], note: Option<String>) -> Markup {
    html! {
        div.legend role="group" aria-label="Lines" {
            @if let Some(note) = note { p.note { (note) } }
            @for (entry, figure) in entries {
                button class=(entry.classes()) type="button" aria-pressed="true" data-key=(entry.key) {
                    svg.swatch viewBox="0 -18 144 36" aria-hidden="true" { (entry.swatch()) }
                    span { (entry.label) }
                    @if let Some(figure) = figure { span.figure { (figure) } }
                }
            }
        }
    }
}

/// Beside a run's throughput what it is of the copy's, and of other libraries'; of several runs the page has no room for that.
fn relatives(title: &str, run: &Run, panel: &Panel<'_>, is_alone: bool) -> Result<Vec<Markup>> {
    let mut drawings = vec![];
    if !is_alone {
        return Ok(drawings);
    }
    if !panel.ceiling.at.is_empty() {
        let drawing = charts::shares(&panel.lines, run)?;
        drawings.extend(drawing.map(|drawing| figure(title, "Share of the copy's speed", &drawing)));
    }
    let libraries: BTreeSet<&Api> = panel.lines.keys().map(|line| &line.api).filter(|api| api.is_library()).collect();
    for library in libraries {
        let drawing = charts::over_library(&panel.lines, library)?;
        let caption = format!("Beside {}", library.label);
        drawings.extend(drawing.map(|drawing| figure(title, &caption, &drawing)));
    }
    Ok(drawings)
}

fn section(subject: &Subject, runs: &[Run]) -> Result<Markup> {
    let panels: Vec<Panel<'_>> = runs.iter().map(|run| Panel::of(subject, run)).collect();
    let is_crowded = panels.iter().any(|panel| panel.lines.len() > CROWDED);
    let axes = Axes::around(panels.iter().flat_map(Panel::points));
    let axes = axes.map(|axes| if is_crowded { axes.sparse() } else { axes });
    let title = subject.title();
    let named = |run: &Run, what: &str| match runs.len() {
        1 => what.to_owned(),
        _ => format!("{what}, {}", run.label),
    };
    let (mut figures, mut more) = (vec![], vec![]);
    for (run, panel) in runs.iter().zip(&panels).filter(|(_, panel)| !panel.lines.is_empty()) {
        let Some(axes) = &axes else { continue };
        if is_crowded {
            for (name, part) in panel.parts() {
                figures.push(figure(&title, &named(run, &name), &part.draw(axes, &Look::SMALL)?));
            }
        } else {
            figures.push(figure(&title, &named(run, "Throughput"), &panel.draw(axes, &Look::WHOLE)?));
            figures.extend(relatives(&title, run, panel, runs.len() == 1)?);
        }
    }
    if let Some((first, others)) = runs.split_first() {
        for other in others {
            let ratios = series::ratios(subject, first, other);
            if let Some((drawing, legends)) = charts::ratio(&ratios)? {
                let caption = format!("{} against {}", other.label, first.label);
                let entries: Vec<_> = legends.into_iter().map(|entry| (entry, None)).collect();
                let table = table::of_ratios(&title, [&first.label, &other.label], &ratios);
                more.push(html! {
                    div.sub { (figure(&title, &caption, &drawing)) (legend(&entries, None)) (table) }
                });
            }
        }
    }
    for run in runs {
        for ladder in series::ladders(subject, run) {
            let caption = named(run, &ladder_caption(&ladder));
            let drawing = charts::ladder(&ladder)?;
            more.push(figure(&title, &caption, &drawing));
        }
    }
    let (entries, note) = if is_crowded {
        let queued = series::queued_up_to(runs.iter().flat_map(|run| subject.rows(run)));
        let note = queued
            .map(|n| format!("Up to {} elements, where measured each one's share of a batch of {BATCH}", size(n)));
        (entries_of_apis(&panels), note)
    } else {
        entries(&panels)
    };
    let shape = match figures.len() {
        _ if is_crowded => "plots small",
        1 => "plots single",
        _ => "plots",
    };
    Ok(html! {
        section.subject id=(subject.id()) aria-labelledby={ (subject.id()) "-title" } {
            h2 id={ (subject.id()) "-title" } { (title) }
            @if figures.is_empty() {
                @if more.is_empty() { p.note { "No row of this has a speed to draw." } }
            } @else {
                div class=(shape) {
                    @for figure in &figures { (figure) }
                    (legend(&entries, note))
                }
            }
            @if !more.is_empty() { div.plots { @for figure in &more { (figure) } } }
            (table::of_rows(subject, runs))
        }
    })
}

fn ladder_caption(ladder: &Ladder<'_>) -> String {
    let at = format!("at {} elements on {}", size(ladder.n), ladder.device);
    if !ladder.is_sweep {
        return format!("Algorithms {at}");
    }
    let reported = |row: &Row| row.subgroup_reported.clone().unwrap_or_else(|| "none".into());
    let widths = ladder.rungs.iter().filter_map(|(line, row)| Some((line, row, row.subgroup_inferred?)));
    let mut widths: Vec<String> = widths
        .map(|(line, row, width)| {
            format!("; {} infers subgroups of {width}, reported: {}", line.api.label, reported(row))
        })
        .collect();
    widths.dedup();
    let threads = ladder.rungs.iter().any(|(_, row)| row.primitive == "compute");
    let at = if threads { format!("of {} threads on {}", ladder.n, ladder.device) } else { at };
    format!("By {} {at}{}", ladder.number().unwrap_or("number"), widths.concat())
}

/// All panels' lines for one legend; with figures at the largest n where there is one panel.
fn entries(panels: &[Panel<'_>]) -> (Vec<(Legend, Option<String>)>, Option<String>) {
    let drawn: Vec<&Panel<'_>> = panels.iter().filter(|panel| !panel.lines.is_empty()).collect();
    let largest = drawn.iter().flat_map(|panel| panel.points().map(|(n, _)| n)).max();
    let alone = if drawn.len() == 1 { drawn.first().copied() } else { None };
    let names: BTreeSet<&series::Line> = drawn.iter().flat_map(|panel| panel.lines.keys()).collect();
    let mut entries: Vec<(Legend, Option<String>)> = vec![];
    for line in names {
        let row = alone.and_then(|panel| panel.lines.get(line)).zip(largest).and_then(|(rows, n)| rows.get(&n));
        entries.push((Legend::of(line), row.and_then(|row| speed(row)).map(short)));
    }
    let bound = alone.zip(largest).and_then(|(panel, n)| panel.ceiling.at.get(&n));
    entries.extend(ceiling_of(&drawn).map(|legend| (legend, bound.map(|speed| short(*speed)))));
    let note = alone.and(largest).map(|n| format!("10⁹ elements a second at {}", size(n)));
    (entries, note)
}

/// The panels' ceiling, with its device where that is one of several and all panels' same.
fn ceiling_of(panels: &[&Panel<'_>]) -> Option<Legend> {
    let mut legends = panels.iter().filter_map(|panel| panel.ceiling());
    let first = legends.next()?;
    Some(if legends.all(|legend| legend == first) { first } else { Legend::ceiling(None) })
}

/// One legend for all panels' small charts, where a line is found by its API.
fn entries_of_apis(panels: &[Panel<'_>]) -> Vec<(Legend, Option<String>)> {
    let mut entries: Vec<(Legend, Option<String>)> = vec![];
    let lines = panels.iter().flat_map(|panel| panel.lines.keys());
    let ceiling = ceiling_of(&panels.iter().collect::<Vec<_>>());
    for legend in lines.map(Look::SMALL.legend).chain(ceiling) {
        if entries.iter().all(|(known, _)| *known != legend) {
            entries.push((legend, None));
        }
    }
    entries
}

fn traffic(runs: &[Run]) -> Result<Option<Markup>> {
    let mut figures = vec![];
    for run in runs {
        let predictions = series::predictions(run);
        let Some(drawing) = charts::traffic(&predictions)? else { continue };
        let sizes: BTreeSet<u64> = predictions.iter().map(|p| p.row.n).collect();
        let at = sizes.iter().map(|n| size(*n)).collect::<Vec<_>>().join(" and ");
        let caption = format!("{at} elements, {}", run.label);
        figures.push((figure("Traffic", &caption, &drawing), table::of_predictions(run, &predictions)));
    }
    Ok((!figures.is_empty()).then(|| {
        html! {
            section.subject #traffic aria-labelledby="traffic-title" {
                h2 #traffic-title { "Traffic" }
                p.note {
                    "The bytes that an algorithm must move, at the speed that its device's copy of the same size "
                    "reached, predict its time; what it took stands beside that. The nearer to 1×, the less is left "
                    "to gain without moving fewer bytes."
                }
                div.plots { @for (figure, table) in &figures { div.sub { (figure) (table) } } }
            }
        }
    }))
}

/// What has no speed, and why.
fn problems(runs: &[Run]) -> Option<Markup> {
    let wrong: Vec<(&Run, &Row)> = runs
        .iter()
        .flat_map(|run| run.rows.iter().map(move |row| (run, row)))
        .filter(|(_, row)| row.error.is_some() || row.verified == Some(false))
        .collect();
    (!wrong.is_empty()).then(|| {
        html! {
            section.subject #problems aria-labelledby="problems-title" {
                h2 #problems-title { "Not measured, or wrong" }
                ul {
                    @for (run, row) in &wrong {
                        li { (run.label) ": " (table::place(row)) ": " (row.error.as_deref().unwrap_or("not verified")) }
                    }
                }
            }
        }
    })
}
