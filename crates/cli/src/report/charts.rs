//! The charts: throughput over n, ratios of runs, ladders and predictions.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use maud::{Markup, PreEscaped, html};

use super::draw::{Axis, Canvas, Position, UNIT};
use super::read::Run;
use super::series::{
    self, Ceiling, Ladder, Line, Lines, Prediction, Ratio, Ratios, queued_up_to, share_of_copy, speed,
};
use super::style::{self, Api};
use super::text::{percent, power, prefixed, short, size, tick_time, time, trimmed};
use crate::compare::{BATCH, Row};

/// A chart's size on a desk, in pixels.
const WIDTH: u32 = 560;
const HEIGHT: u32 = 340;
/// More lines than this have no names at their ends, which would not have room.
const MOST_NAMES: usize = 8;
/// More rows than this have their ticks' labels above them too: the lower ones may be out of sight.
const MANY_ROWS: usize = 12;
/// Of a row of horizontal marks with its label above.
const ROW: u32 = 44;

/// A drawing: the content of an `svg` element.
pub struct Drawing {
    width: u32,
    height: u32,
    content: Markup,
}

impl Drawing {
    /// As part of a page, for whoever does not see it described by `label`.
    pub fn inline(&self, label: &str) -> Markup {
        html! {
            svg.chart viewBox={ "0 0 " (self.width) " " (self.height) } role="img" aria-label=(label) { (self.content) }
        }
    }

    /// As a file of its own, with a title, its legend below, and last of which file it is.
    pub fn standalone(&self, title: &str, lines: &[Legend], source: &str, css: &str) -> Markup {
        let (step, head) = (22 * UNIT, 40 * UNIT);
        let foot = head + self.height + step * lines.len() as u32 + 8 * UNIT;
        let height = foot + step + 2 * UNIT;
        let left = 56 * UNIT;
        html! {
            svg.chart.alone xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (self.width) " " (height) }
                width=(self.width / UNIT) height=(height / UNIT) role="img" {
                title { (title) " (" (source) ")" }
                style { (PreEscaped(css)) }
                rect.paper width="100%" height="100%" rx=(6 * UNIT) {}
                text.title x=(8 * UNIT) y=(28 * UNIT) { (title) }
                g transform={ "translate(0 " (head) ")" } { (self.content) }
                @for (i, line) in lines.iter().enumerate() {
                    g class=(line.classes())
                        transform={ "translate(" (left) " " (head + self.height + step * i as u32 + 8 * UNIT) ")" } {
                        (line.swatch())
                        text.entry x=(46 * UNIT) y=(4 * UNIT + 2) { (line.label) }
                    }
                }
                text x=(left) y=(foot + 10 * UNIT) { (source) }
            }
        }
    }
}

/// What a legend says of a line, or of the copy ceiling.
#[derive(Debug, Clone, PartialEq)]
pub struct Legend {
    /// What its marks are found by.
    pub key: String,
    pub label: String,
    colour: &'static str,
    dash: &'static str,
    marker: Option<style::Marker>,
    /// Not the API's first device: its markers are hollow.
    is_further: bool,
}

impl Legend {
    pub fn of(line: &Line) -> Legend {
        let (marker, dash) = style::algorithm(&line.algorithm);
        let is_further = line.device.as_ref().is_some_and(|(place, _)| *place > 0);
        Legend {
            key: line.label(),
            label: line.label(),
            colour: line.api.colour(),
            dash,
            marker: Some(marker),
            is_further,
        }
    }

    /// Of a line in a chart of one algorithm: what its API's lines are found by in all of them.
    pub fn of_api(line: &Line) -> Legend {
        let line = Line { algorithm: String::new(), tuning: vec![], ..line.clone() };
        Legend { dash: "solid", marker: Some(line.api.marker()), ..Legend::of(&line) }
    }

    /// Of the device that is named, where there are several.
    pub fn ceiling(device: Option<&str>) -> Legend {
        Legend {
            key: "ceiling".into(),
            label: device.map_or("copy ceiling".into(), |device| format!("copy ceiling of {device}")),
            colour: "ceiling",
            dash: "ceiling",
            marker: None,
            is_further: false,
        }
    }

    fn ratio(api: Option<&Api>) -> Legend {
        let label = api.map_or_else(|| "our fastest of each".into(), |api| api.label.clone());
        let colour = api.map_or("ink", Api::colour);
        Legend {
            key: label.clone(),
            label,
            colour,
            dash: if api.is_some() { "solid" } else { "long" },
            marker: Some(api.map_or(style::Marker::Circle, Api::marker)),
            is_further: false,
        }
    }

    pub fn classes(&self) -> String {
        let further = if self.is_further { " further" } else { "" };
        format!("series api-{} dash-{}{further}", self.colour, self.dash)
    }

    /// A short piece of the line, with its marker, about the y axis' zero.
    pub fn swatch(&self) -> Markup {
        let (middle, end) = (18 * UNIT as i32, 36 * UNIT);
        html! {
            polyline points={ "0,0 " (end) ",0" } {}
            @match self.marker {
                Some(style::Marker::Circle) => circle cx=(middle) cy="0" r=(3 * UNIT + 2) {},
                Some(style::Marker::Polygon(shape)) => polygon points=(points(shape, middle)) {},
                None => {}
            }
        }
    }
}

fn points(shape: &[(i32, i32)], x: i32) -> String {
    shape.iter().map(|(dx, dy)| format!("{},{dy}", x + dx)).collect::<Vec<_>>().join(" ")
}

/// A place that shows figures when it is pointed at.
fn point(at: Position, x: f64, figures: &str) -> Markup {
    html! { circle.point cx=(at.0) cy=(at.1) r=(5 * UNIT) data-x=(x) data-figures=(figures) {} }
}

/// What a legend's entry is of: its marks, and where they show which figures, each at an n.
struct Series {
    legend: Legend,
    marks: String,
    spots: Vec<(Position, u64, String)>,
}

impl Series {
    fn markup(&self) -> Markup {
        html! {
            g class=(self.legend.classes()) data-series=(self.legend.key) {
                (PreEscaped(&self.marks))
                @for (at, n, figures) in &self.spots { (point(*at, *n as f64, figures)) }
            }
        }
    }
}

fn axis_title(text: &str) -> Markup {
    html! { text.axis x=(8 * UNIT) y=(16 * UNIT) { (text) } }
}

/// The axes that the panels of a section share.
pub struct Axes {
    x: Axis,
    y: Axis,
}

impl Axes {
    /// Axes that hold all points of (n, 10^9 elements a second); none without a point.
    pub fn around(points: impl Iterator<Item = (u64, f64)>) -> Option<Axes> {
        let (mut ns, mut speeds) = (vec![], vec![]);
        for (n, speed) in points {
            ns.push((n as f64).log2());
            speeds.push(speed.log10() + 9.0);
        }
        let y = logarithmic(&speeds, prefixed)?;
        Some(Axes { x: powers(&ns)?, y })
    }

    /// With every other tick of n, for small charts.
    pub fn sparse(mut self) -> Axes {
        let mut is_odd = false;
        self.x.ticks.retain(|_| {
            is_odd = !is_odd;
            is_odd
        });
        self
    }
}

/// How lines are drawn: in one chart, or in small ones of an algorithm each.
pub struct Look {
    width: u32,
    height: u32,
    pub legend: fn(&Line) -> Legend,
}

impl Look {
    pub const WHOLE: Look = Look { width: WIDTH, height: HEIGHT, legend: Legend::of };
    pub const SMALL: Look = Look { width: 320, height: 230, legend: Legend::of_api };

    fn is_wide(&self) -> bool {
        self.width == WIDTH
    }
}

fn extent(values: &[f64]) -> Option<(f64, f64)> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (low.is_finite() && high.is_finite()).then_some((low, high))
}

/// An axis of powers of two around their exponents.
fn powers(exponents: &[f64]) -> Option<Axis> {
    let (low, high) = extent(exponents)?;
    let step = [1, 2, 4, 8, 16].into_iter().find(|step| (high - low) / f64::from(*step) <= 9.5).unwrap_or(32);
    let (from, to) = (low - 0.5, high + 0.5);
    let first = (from / f64::from(step)).ceil() as i64;
    let ticks = (first..).map(|i| i * i64::from(step)).take_while(|power| *power as f64 <= to);
    Some(Axis { from, to, ticks: ticks.map(|exponent| (exponent as f64, power(exponent))).collect() })
}

/// An axis of decades around decimal exponents: 1, 2 and 5 where there are few.
fn logarithmic(exponents: &[f64], label: impl Fn(f64) -> String) -> Option<Axis> {
    let (low, high) = extent(exponents)?;
    let few = high - low < 2.2;
    let steps: &[f64] = if few { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let every = (((high - low) / 8.0).ceil() as i64).max(1);
    let all = ((low.floor() as i64 - 1)..=(high.ceil() as i64 + 1)).filter(|decade| decade % every == 0);
    let ticks = all.flat_map(|decade| steps.iter().map(move |step| decade as f64 + step.log10()));
    let ticks: Vec<f64> = ticks.collect();
    // However near to each other they are, a tick is among them.
    let pad = f64::max(0.15, 0.25 - (high - low) / 2.0);
    let (from, to) = (low - pad, high + pad);
    let ticks = ticks.into_iter().filter(|at| (from..=to).contains(at));
    Some(Axis { from, to, ticks: ticks.map(|at| (at, label(10f64.powf(at)))).collect() })
}

/// What the pointer shows of a row.
fn figures(line: &Line, row: &Row) -> String {
    let mut text = format!("{}\n{} elements: {} G/s", line.label(), size(row.n), short(speed(row).unwrap_or(0.0)));
    if let Some(ms) = row.batched_ms {
        text += &format!("\n{} each, of a batch of {BATCH}", time(ms));
    }
    if let Some(ms) = row.median_ms {
        text += &format!("\n{} alone", time(ms));
    }
    if let Some(fraction) = row.copy_fraction.filter(|_| row.primitive != "copy") {
        text += &format!(", {} of its copy", percent(fraction));
    }
    text
}

/// Elements a second over n, both logarithmic, with the copy ceiling.
pub fn throughput(axes: &Axes, lines: &Lines<'_>, ceiling: &Ceiling, look: &Look) -> Result<Drawing> {
    let names = if look.is_wide() { end_names(lines) } else { BTreeMap::new() };
    let right = room(names.values().map(String::as_str));
    let canvas = Canvas::with_right(look.width, look.height, true, right, axes.x.clone(), axes.y.clone());
    let place = |n: u64, speed: f64| ((n as f64).log2(), speed.log10() + 9.0);
    let grid = canvas.grid()?;
    let bound: Vec<(f64, f64)> = ceiling.at.iter().map(|(n, speed)| place(*n, *speed)).collect();
    let (marks, bound_at) = canvas.line(&bound)?;
    let legend = Legend::ceiling(ceiling.device.as_deref());
    let said = |n: u64, speed: f64| format!("{}\n{} elements: {} G/s", legend.label, size(n), short(speed));
    let bounds = bound_at.into_iter().zip(&ceiling.at);
    let spots = bounds.map(|(at, (n, speed))| (at, *n, said(*n, *speed))).collect();
    let bound = (!ceiling.at.is_empty()).then_some(Series { spots, legend, marks });
    let (mut drawn, mut ends) = (vec![], vec![]);
    for (line, rows) in lines {
        let values: Vec<(f64, f64)> = rows.values().filter_map(|row| Some(place(row.n, speed(row)?))).collect();
        let legend = (look.legend)(line);
        let (path, at) = canvas.line(&values)?;
        ends.extend(names.get(line).zip(at.last()).map(|(name, end)| (*end, name.clone(), legend.key.clone())));
        let markers = legend.marker.map(|marker| canvas.markers(&values, marker)).transpose()?.unwrap_or_default();
        let spots = at.into_iter().zip(rows.values()).map(|(at, row)| (at, row.n, figures(line, row))).collect();
        drawn.push(Series { legend, marks: path + &markers, spots });
    }
    let queued = queued_up_to(lines.values().flat_map(BTreeMap::values).copied());
    let queued = queued.filter(|_| look.is_wide()).map(|n| format!("; batched up to {}", size(n)));
    let content = html! {
        (axis_title(&format!("elements a second, over n{}", queued.unwrap_or_default())))
        g.grid { (PreEscaped(grid)) }
        @for series in bound.iter().chain(&drawn) { (series.markup()) }
        (named_ends(ends))
    };
    Ok(Drawing { width: canvas.width, height: canvas.height, content })
}

/// Pixels to the right of a chart for the names of its lines, in the larger letters of phones.
fn room<'a>(names: impl Iterator<Item = &'a str>) -> u32 {
    let longest = names.map(|name| name.chars().count()).max().unwrap_or(0) as u32;
    12 + 9 * longest
}

/// The names of lines that go on to the largest n: their API's, with the algorithm where an API has several of them.
fn end_names(lines: &Lines<'_>) -> BTreeMap<Line, String> {
    let last = |rows: &BTreeMap<u64, &Row>| rows.keys().last().copied();
    let largest = lines.values().filter_map(last).max();
    let at_end: Vec<&Line> = lines.iter().filter(|(_, rows)| last(rows) == largest).map(|(line, _)| line).collect();
    if at_end.len() > MOST_NAMES {
        return BTreeMap::new();
    }
    let name = |line: &&Line| {
        let is_alone = at_end.iter().filter(|other| other.api == line.api).count() == 1;
        ((*line).clone(), if is_alone { line.api.label.clone() } else { line.label() })
    };
    at_end.iter().map(name).collect()
}

/// Names beside the ends of lines, each below the one before it where ends are near to each other.
fn named_ends(mut ends: Vec<(Position, String, String)>) -> Markup {
    const STEP: i32 = 19 * UNIT as i32;
    ends.sort_by_key(|((_, y), ..)| *y);
    let mut lowest = i32::MIN;
    let mut placed = vec![];
    for ((x, y), name, key) in ends {
        let at = y.max(lowest.saturating_add(STEP));
        lowest = at;
        placed.push((x, at, name, key));
    }
    // As many steps too low as the last one is.
    let shift = placed.last().map_or(0, |(_, y, ..)| (y - (HEIGHT - 40) as i32 * UNIT as i32).max(0));
    html! {
        @for (x, y, name, key) in &placed {
            g data-series=(key) { text.end x=(x + 9 * UNIT as i32) y=(y - shift + 4 * UNIT as i32) { (name) } }
        }
    }
}

/// A line of values that are set against something at each n.
pub struct Relative {
    pub legend: Legend,
    /// What stands at its end.
    pub name: String,
    /// An n, its value, and what the pointer shows.
    pub points: Vec<(u64, f64, String)>,
}

/// Values over n on a linear axis from nought, with a line at one; none without a value.
pub fn relative(title: &str, show: fn(f64) -> String, lines: &[Relative]) -> Result<Option<Drawing>> {
    let all = || lines.iter().flat_map(|line| line.points.iter());
    let exponents: Vec<f64> = all().map(|(n, ..)| (*n as f64).log2()).collect();
    let most = all().map(|(_, value, _)| *value).filter(|value| value.is_finite()).fold(1.0, f64::max);
    let Some(x) = powers(&exponents) else { return Ok(None) };
    let step = [0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0].into_iter().find(|step| most / step <= 8.0);
    let step = step.unwrap_or(10f64.powf((most / 4.0).log10().ceil()));
    let ticks = (0..=10).map(|i| f64::from(i) * step).filter(|at| *at <= most * 1.05);
    let y = Axis { from: 0.0, to: most * 1.08, ticks: ticks.map(|at| (at, show(at))).collect() };
    let ends_of_one = [(x.from, 1.0), (x.to, 1.0)];
    let last = all().map(|(n, ..)| *n).max();
    let is_named = |line: &&Relative| line.points.last().map(|(n, ..)| *n) == last;
    let named: Vec<&str> = lines.iter().filter(is_named).map(|line| line.name.as_str()).collect();
    let has_names = named.len() <= MOST_NAMES;
    let right = room(named.into_iter().filter(|_| has_names));
    let canvas = Canvas::with_right(WIDTH, HEIGHT, true, right, x, y);
    let (grid, (one, _)) = (canvas.grid()?, canvas.line(&ends_of_one)?);
    let (mut drawn, mut ends) = (vec![], vec![]);
    for line in lines {
        let values: Vec<(f64, f64)> = line.points.iter().map(|(n, value, _)| ((*n as f64).log2(), *value)).collect();
        let (path, at) = canvas.line(&values)?;
        let legend = line.legend.clone();
        if let Some(end) = at.last().filter(|_| has_names && is_named(&line)) {
            ends.push((*end, line.name.clone(), legend.key.clone()));
        }
        let markers = legend.marker.map(|marker| canvas.markers(&values, marker)).transpose()?.unwrap_or_default();
        let spots = at.into_iter().zip(&line.points).map(|(at, (n, _, said))| (at, *n, said.clone())).collect();
        drawn.push(Series { legend, marks: path + &markers, spots });
    }
    let content = html! {
        (axis_title(title))
        g.grid { (PreEscaped(grid)) }
        g.one { (PreEscaped(one)) }
        @for series in &drawn { (series.markup()) }
        (named_ends(ends))
    };
    Ok(Some(Drawing { width: canvas.width, height: canvas.height, content }))
}

/// Our lines' shares of the device's copy.
pub fn shares(lines: &Lines<'_>, run: &Run) -> Result<Option<Drawing>> {
    let share = |line: &Line, row: &Row| {
        let share = share_of_copy(row, run)?;
        let said = format!("{}\n{} elements: {} of its device's copy", line.label(), size(row.n), percent(share));
        Some((row.n, share, said))
    };
    relative("share of the copy's speed, over n", percent, &of_lines(lines, share))
}

/// Our lines' speeds over another library's.
pub fn over_library(lines: &Lines<'_>, library: &Api) -> Result<Option<Drawing>> {
    let theirs: Vec<&BTreeMap<u64, &Row>> =
        lines.iter().filter(|(line, _)| line.api == *library).map(|(_, rows)| rows).collect();
    let ours: Lines<'_> = lines
        .iter()
        .filter(|(line, _)| line.api != *library)
        .map(|(line, rows)| (line.clone(), rows.clone()))
        .collect();
    let over = |line: &Line, row: &Row| {
        let theirs = theirs.iter().filter_map(|rows| rows.get(&row.n).copied());
        let first = theirs.max_by(|a, b| speed(a).partial_cmp(&speed(b)).unwrap_or(std::cmp::Ordering::Equal))?;
        let value = series::times_as_fast(first, row)?;
        let said =
            format!("{}\n{} elements: {}× as fast as {}", line.label(), size(row.n), short(value), library.label);
        Some((row.n, value, said))
    };
    relative(&format!("times as fast as {}, over n", library.label), times, &of_lines(&ours, over))
}

/// The lines with a value at each n that has one.
fn of_lines(lines: &Lines<'_>, value: impl Fn(&Line, &Row) -> Option<(u64, f64, String)>) -> Vec<Relative> {
    let names = end_names(lines);
    let line = |(line, rows): (&Line, &BTreeMap<u64, &Row>)| Relative {
        legend: Legend::of(line),
        name: names.get(line).cloned().unwrap_or_else(|| line.label()),
        points: rows.values().filter_map(|row| value(line, row)).collect(),
    };
    lines.iter().map(line).filter(|line| !line.points.is_empty()).collect()
}

fn times(value: f64) -> String {
    format!("{}×", trimmed(value))
}

/// How many times as fast another run is, over n; none if the runs have no row in common.
pub fn ratio(ratios: &Ratios<'_>) -> Result<Option<(Drawing, Vec<Legend>)>> {
    let said = |legend: &Legend, n: u64, value: f64, ratio: &Ratio<'_>| {
        let names = [ratio.first, ratio.other].map(|row| match row.algorithm.as_str() {
            "" => row.backend.clone(),
            algorithm => format!("{} by {algorithm}", row.backend),
        });
        let speeds = ratio.speeds().map(|speed| short(speed.unwrap_or(0.0)));
        let lines = format!("{} to {} G/s\n{} to {}", speeds[0], speeds[1], names[0], names[1]);
        format!("{}: {}× at {} elements\n{lines}", legend.label, short(value), size(n))
    };
    let line = |(api, rows): &(Option<Api>, BTreeMap<u64, Ratio<'_>>)| {
        let legend = Legend::ratio(api.as_ref());
        let point = |(n, ratio): (&u64, &Ratio<'_>)| {
            let value = ratio.value()?;
            Some((*n, value, said(&legend, *n, value, ratio)))
        };
        let points = rows.iter().filter_map(point).collect();
        Relative { name: legend.label.clone(), legend, points }
    };
    let lines: Vec<Relative> = ratios.iter().map(line).collect();
    let drawing = relative("times as fast, over n", times, &lines)?;
    Ok(drawing.map(|drawing| (drawing, lines.into_iter().map(|line| line.legend).collect())))
}

/// A canvas with a row for each of `rows` marks, and each row's y.
fn rows_canvas(rows: usize, x: Axis) -> (Canvas, Vec<f64>) {
    let y = Axis { from: 0.0, to: rows as f64, ticks: vec![] };
    let canvas = Canvas::new(WIDTH, ROW * rows as u32 + 80, false, x, y);
    // A row's mark is below its label.
    (canvas, (0..rows).map(|i| (rows - i) as f64 - 0.68).collect())
}

/// The ticks' labels above the rows, where those are many.
fn upper_ticks(canvas: &Canvas, rows: usize) -> Result<Markup> {
    let ticks = if rows > MANY_ROWS { canvas.top_ticks()? } else { vec![] };
    Ok(html! {
        @for (x, label) in ticks { text.tick x=(x) y=(36 * UNIT) text-anchor="middle" { (label) } }
    })
}

/// A row's label and figure, above its mark.
fn row_label(at: Position, label: &str, figure: &str) -> Markup {
    html! {
        text.row x=(12 * UNIT) y=(at.1 - 14 * UNIT as i32) {
            (label) tspan.figure dx=(10 * UNIT) { (figure) }
        }
    }
}

/// Algorithms of one size beside each other as bars.
pub fn ladder(ladder: &Ladder<'_>) -> Result<Drawing> {
    let ceiling = ladder.ceiling;
    let speeds: Vec<f64> = ladder.rungs.iter().map(|(_, row)| speed(row).unwrap_or(0.0)).collect();
    let most = speeds.iter().copied().chain(ceiling).fold(0.0, f64::max);
    let step = 10f64.powf((most / 4.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|by| by * step).into_iter().find(|step| most / step <= 6.0).unwrap_or(most);
    let ticks = (0..10).map(|i| f64::from(i) * step).filter(|at| *at <= most * 1.02);
    let x = Axis { from: 0.0, to: most * 1.04, ticks: ticks.map(|at| (at, prefixed(at * 1e9))).collect() };
    // The ceiling's own label stands in a row below the others.
    let rows = ladder.rungs.len() + usize::from(ceiling.is_some());
    let (canvas, ys) = rows_canvas(rows, x);
    let (grid, upper) = (canvas.grid()?, upper_ticks(&canvas, rows)?);
    let bound = ceiling.map(|at| -> Result<_> {
        let (line, ends) = canvas.line(&[(at, 0.0), (at, rows as f64)])?;
        Ok((line, ends[0], format!("copy ceiling: {} G/s", short(at))))
    });
    let bound = bound.transpose()?;
    let mut drawn = vec![];
    for (((line, row), speed), y) in ladder.rungs.iter().zip(&speeds).zip(ys) {
        let (bar, at) = canvas.bar(*speed, y, 0.28)?;
        let label = ladder.label(line);
        drawn.push((Legend::of(line), label, bar, at, *speed, figures(line, row)));
    }
    let is_compute = ladder.rungs.iter().any(|(_, row)| row.primitive == "compute");
    let content = html! {
        (axis_title(if is_compute { "turns a second" } else { "elements a second" }))
        (upper)
        g.grid { (PreEscaped(grid)) }
        @if let Some((line, end, label)) = &bound {
            g class=(Legend::ceiling(None).classes()) data-series="ceiling" {
                (PreEscaped(line))
                text.row x=(end.0 - 8 * UNIT as i32) y=(end.1 - 10 * UNIT as i32) text-anchor="end" { (label) }
                (point((end.0, end.1 - 14 * UNIT as i32), drawn.len() as f64, label))
            }
        }
        @for (i, (legend, label, bar, at, speed, figures)) in drawn.iter().enumerate() {
            g class={ "bar api-" (legend.colour) } data-series=(legend.key) {
                (PreEscaped(bar))
                (row_label(*at, label, &format!("{} G/s", short(*speed))))
                (point(*at, i as f64, figures))
            }
        }
    };
    Ok(Drawing { width: canvas.width, height: canvas.height, content })
}

/// Predicted beside measured times, a row each: a ring where the traffic's time ends, a dot where the algorithm did.
pub fn traffic(predictions: &[Prediction<'_>]) -> Result<Option<Drawing>> {
    let times: Vec<f64> = predictions.iter().flat_map(|p| [p.predicted_ms.log10(), p.measured_ms.log10()]).collect();
    let Some(x) = logarithmic(&times, tick_time) else { return Ok(None) };
    let (canvas, ys) = rows_canvas(predictions.len(), x);
    let (grid, upper) = (canvas.grid()?, upper_ticks(&canvas, predictions.len())?);
    let scalars: BTreeSet<&str> = predictions.iter().map(|p| p.subject.scalar.as_str()).collect();
    let mut drawn = vec![];
    for (p, y) in predictions.iter().zip(ys) {
        let (from, to) = ((p.predicted_ms.log10(), y), (p.measured_ms.log10(), y));
        let (line, at) = canvas.line(&[from, to])?;
        let ring = canvas.markers(&[from], style::Marker::Circle)?;
        let dot = canvas.markers(&[to], style::Marker::Circle)?;
        let times = p.measured_ms / p.predicted_ms;
        let of = if scalars.len() > 1 { format!(" of {}", p.subject.scalar) } else { String::new() };
        let label = format!("{}{of}: {}", p.subject.primitive, p.line.label());
        let figures = format!(
            "{label}\n{}B at its copy's speed: {}\nmeasured: {}, {}×",
            prefixed(p.bytes),
            time(p.predicted_ms),
            time(p.measured_ms),
            short(times)
        );
        drawn.push((Legend::of(&p.line), line, ring, dot, at, label, format!("{}×", short(times)), figures));
    }
    let content = html! {
        (axis_title("time: ring predicted, dot measured"))
        (upper)
        g.grid { (PreEscaped(grid)) }
        @for (i, (legend, line, ring, dot, at, label, times, figures)) in drawn.iter().enumerate() {
            g class={ "series dumbbell api-" (legend.colour) } data-series=(legend.key) {
                (PreEscaped(line))
                g.ring { (PreEscaped(ring)) }
                (PreEscaped(dot))
                (row_label(at[1], label, times))
                (point(at[1], i as f64, figures))
            }
        }
    };
    Ok(Some(Drawing { width: canvas.width, height: canvas.height, content }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_hold_their_points_and_label_powers_of_two() {
        let axes = Axes::around([(1 << 10, 0.02), (1 << 28, 500.0)].into_iter()).unwrap();
        assert!(axes.x.from < 10.0 && axes.x.to > 28.0);
        assert!(axes.x.ticks.iter().any(|(at, text)| *at == 20.0 && text == "2²⁰"), "{:?}", axes.x);
        let labels: Vec<&str> = axes.y.ticks.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(labels, ["100 M", "1 G", "10 G", "100 G"]);
        assert!(Axes::around(std::iter::empty()).is_none());
    }

    #[test]
    fn one_point_and_wild_ranges_have_axes_of_few_ticks() {
        for (low, high) in [(1.0, 1.0), (1e-300, 1e308), (3.0, 3.1), (1e-9, 1.0)] {
            let axes = Axes::around([(1, low), (1, high)].into_iter()).unwrap();
            assert!(axes.y.from < axes.y.to && axes.x.from < axes.x.to);
            assert!((1..=13).contains(&axes.y.ticks.len()), "{low}: {:?}", axes.y);
        }
    }
}
