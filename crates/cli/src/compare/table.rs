//! The comparison as tables, one for each primitive, type, operator and input.

use comfy_table::CellAlignment::{self, Left, Right};
use comfy_table::{Cell, Table};

use super::rows::{Place, Row, no_fault, no_waiting};
use crate::choose;

/// What the columns are, once for all tables.
pub const LEGEND: &str = "
Times are in us. median: a call alone. batched: a call's share of 32 in a queue.
host: the calling thread's time. G/s: 10^9 elements a second. of copy: of the
speed of the device's own copy. Every result is checked.
";
/// What a terminal shows in a line.
const WIDTH: usize = 80;

/// The devices of a run, each by its number.
#[derive(Default)]
pub struct Devices {
    /// Backend, device and API.
    places: Vec<[String; 3]>,
}

impl Devices {
    pub fn of<'a>(places: impl IntoIterator<Item = Place<'a>>) -> Devices {
        let mut devices = Devices::default();
        for place in places {
            let place = [place.backend, place.device, place.api].map(String::from);
            if !devices.places.contains(&place) {
                devices.places.push(place);
            }
        }
        devices
    }

    /// Those of rows, in the rows' order.
    pub fn of_rows(rows: &[Row]) -> Devices {
        Devices::of(rows.iter().filter(|row| !row.is_of_another_program()).map(Place::from))
    }

    /// A line each.
    pub fn list(&self) -> String {
        let line = |(i, [backend, device, api]): (usize, &[String; 3])| {
            format!("{:>3}  {}\n", i + 1, choose::line(backend, device, api))
        };
        self.places.iter().enumerate().map(line).collect()
    }

    /// `2 wgpu`; of another program its name, or what tells its versions apart, which is their file.
    fn short(&self, row: &Row) -> String {
        let own = [&row.backend, &row.device, &row.api];
        match self.places.iter().position(|place| place.each_ref() == own) {
            Some(i) => format!("{} {}", i + 1, row.backend),
            None if row.driver.is_empty() || !row.is_of_another_program() => row.backend.clone(),
            None => row.driver.clone(),
        }
    }
}

/// A column of text below a heading.
struct Column {
    heading: String,
    alignment: CellAlignment,
    cells: Vec<String>,
    /// Columns of a higher rank are left out first where a line has no room. Those of rank 0 never are.
    rank: u8,
}

impl Column {
    fn width(&self) -> usize {
        self.cells.iter().chain([&self.heading]).map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

/// The columns of some rows.
struct Columns<'a> {
    rows: &'a [&'a Row],
    columns: Vec<Column>,
}

impl Columns<'_> {
    /// A cell that a row has nothing for is a dash.
    fn add(&mut self, rank: u8, heading: &str, alignment: CellAlignment, text: impl Fn(&Row) -> Option<String>) {
        let cells = self.rows.iter().map(|row| text(row).unwrap_or_else(|| "-".into())).collect();
        self.columns.push(Column { heading: heading.into(), alignment, cells, rank });
    }

    fn has(&self, what: impl Fn(&Row) -> bool) -> bool {
        self.rows.iter().any(|row| what(row))
    }

    /// Without the columns that have no room in a line, unless it is to be wide.
    fn fitted(mut self, wide: bool) -> Vec<Column> {
        const GAP: usize = 2;
        while !wide && self.columns.iter().map(|column| column.width() + GAP).sum::<usize>() > WIDTH + GAP {
            let Some(rank) = self.columns.iter().map(|column| column.rank).max().filter(|rank| *rank > 0) else {
                break;
            };
            self.columns.retain(|column| column.rank != rank);
        }
        self.columns
    }

    fn render(self, wide: bool) -> String {
        let rows = self.rows.len();
        let columns = self.fitted(wide);
        let mut table = Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        let cell = |text: &str, column: &Column| Cell::new(text).set_alignment(column.alignment);
        table.set_header(columns.iter().map(|column| cell(&column.heading, column)));
        table.add_rows((0..rows).map(|row| columns.iter().map(move |column| cell(&column.cells[row], column))));
        table.column_iter_mut().for_each(|column| _ = column.set_padding((0, 2)));
        table.lines().map(|line| line.trim_end().to_string() + "\n").collect()
    }
}

/// The tables of these rows, and below them what is wrong.
pub fn render(rows: &[Row], devices: &Devices, wide: bool) -> String {
    let mut text = String::new();
    let mut left: Vec<&Row> = rows.iter().collect();
    while let Some(first) = left.first().copied() {
        let (mut group, rest): (Vec<&Row>, Vec<&Row>) =
            left.into_iter().partition(|row| (&row.experiment, title(row)) == (&first.experiment, title(first)));
        left = rest;
        let experiment = first.experiment.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
        // What an experiment's device refused is said below.
        group.retain(|row| row.experiment.is_none() || row.median_ms.is_some() || row.verified.is_some());
        if group.is_empty() {
            continue;
        }
        text += &format!("\n{experiment}{}\n{}", title(first), table(&mut group, devices, wide));
        if group.iter().any(|row| ratio(row).is_some_and(is_slow)) {
            text += &format!("{SLOW_MARK} more than {SLOW} times the predicted time\n");
        }
    }
    for row in rows.iter().filter(|row| row.error.is_some()) {
        text += &format!("\n{}: {}\n", call(row, devices), row.error.as_deref().unwrap_or(""));
    }
    text
}

/// `scan of u32, sum`, and what of the input is not as usual.
fn title(row: &Row) -> String {
    let operator = row.operator.iter().map(|operator| format!(", {operator}"));
    let input = row.unusual_input().into_iter().map(|input| format!(", {input}"));
    format!("{} of {}{}", row.primitive, row.scalar, operator.chain(input).collect::<String>())
}

/// `scan of 2^20 u32 on 2 wgpu`, and what is not as usual.
fn call(row: &Row, devices: &Devices) -> String {
    let by = (row.experiment.is_some() && !row.algorithm.is_empty()).then(|| format!(" by {}", row.algorithm));
    let conditions = by.into_iter().chain(row.conditions().into_iter().map(|condition| format!(", {condition}")));
    let conditions: String = conditions.chain(row.tuning.iter().map(|tuning| format!(", {tuning}"))).collect();
    format!("{} of {} {}{conditions} on {}", row.primitive, size(row.n), row.scalar, devices.short(row))
}

fn table(rows: &mut [&Row], devices: &Devices, wide: bool) -> String {
    // The fastest first, at each size; a sweep in its own order.
    if rows.iter().all(|row| row.experiment.is_none() || row.tuning.is_none()) {
        rows.sort_by(|a, b| {
            let time = |row: &Row| row.median_ms.unwrap_or(f64::INFINITY);
            a.n.cmp(&b.n).then(time(a).total_cmp(&time(b)))
        });
    }
    let others: Vec<&Row> = rows.iter().copied().filter(|row| row.is_of_another_program()).collect();
    let cudas: Vec<&Row> = rows.iter().copied().filter(|row| row.backend == "cuda").collect();
    let mut columns = Columns { rows, columns: vec![] };
    columns.add(0, "n", Right, |row| Some(size(row.n)));
    columns.add(0, "device", Left, |row| Some(devices.short(row)));
    columns.add(0, "algorithm", Left, |row| Some(row.algorithm.clone()));
    // Where a row has something else than usual to say there.
    if columns.has(|row| row.tuning.is_some()) {
        columns.add(0, "planned with", Left, |row| row.tuning.clone());
    }
    if columns.has(|row| row.fault != no_fault()) {
        columns.add(0, "fault", Left, |row| Some(row.fault.clone()));
    }
    if columns.has(|row| row.waiting != no_waiting()) {
        columns.add(0, "waiting", Left, |row| Some(row.waiting.clone()));
    }
    let has_predictions = columns.has(|row| row.predicted_ms.is_some());
    if has_predictions {
        columns.add(1, "MB", Right, |row| Some(format!("{:.1}", row.traffic_bytes? as f64 * 1e-6)));
        columns.add(1, "predicted", Right, |row| row.predicted_ms.map(time));
    }
    columns.add(0, "median", Right, |row| row.median_ms.map(time));
    if has_predictions {
        columns.add(1, "ratio", Right, |row| ratio(row).map(marked));
    }
    columns.add(4, "batched", Right, |row| row.batched_ms.map(time));
    if !has_predictions && columns.has(|row| row.host_us.is_some()) {
        columns.add(5, "host", Right, |row| Some(format!("{:.1}", row.host_us?)));
    }
    columns.add(2, "G/s", Right, |row| row.gelem_s.map(speed));
    if wide {
        columns.add(6, "GB/s", Right, |row| Some(format!("{:.1}", row.gb_s?)));
    }
    columns.add(3, "of copy", Right, of_copy);
    if let Some(other) = others.first() {
        let heading = format!("{} / this", other.backend);
        columns.add(1, &heading, Right, |row| Some(format!("{:.2}", times_as_fast(row, &others)?)));
    }
    if wide && columns.has(|row| of_cuda(row, &cudas).is_some()) {
        columns.add(6, "of cuda", Right, |row| Some(format!("{:.2}", of_cuda(row, &cudas)?)));
    }
    if columns.has(|row| row.verified == Some(false) && ran(row)) {
        columns
            .add(0, "checked", Left, |row| Some(if row.verified? { "yes" } else { "NO" }.into()).filter(|_| ran(row)));
    }
    columns.render(wide)
}

/// Whether a call was made, and its result looked at.
fn ran(row: &Row) -> bool {
    row.verified.is_some() && (row.median_ms.is_some() || row.n == 0)
}

/// A title with all that is not as usual: what differs in it is no comparison of devices.
fn whole_title(row: &Row) -> String {
    let waits = row.conditions().into_iter().skip(row.unusual_input().len());
    let planned = row.tuning.iter().map(|tuning| format!("planned with {tuning}"));
    let more: String = waits.chain(planned).map(|more| format!(", {more}")).collect();
    title(row) + &more
}

/// The fastest device of each kind of call, at the most elements that were measured, and whether all is right.
pub fn conclusion(rows: &[Row], devices: &Devices) -> String {
    let others: Vec<&Row> = rows.iter().filter(|row| row.is_of_another_program()).collect();
    let own: Vec<&Row> = rows.iter().filter(|row| !row.is_of_another_program()).collect();
    let measured = |row: &&&Row| row.median_ms.is_some() && row.verified == Some(true);
    let mut fastest: Vec<&Row> = vec![];
    for row in own.iter().filter(measured) {
        let is_better = |best: &&mut &Row| row.n > best.n || row.n == best.n && row.median_ms < best.median_ms;
        match fastest.iter_mut().find(|best| whole_title(best) == whole_title(row)) {
            None => fastest.push(row),
            Some(best) => {
                Some(best).filter(is_better).into_iter().for_each(|best| *best = row);
            }
        }
    }
    let mut text = String::new();
    if !fastest.is_empty() {
        text += "\nThe fastest of each, at its largest n\n";
        let mut columns = Columns { rows: &fastest, columns: vec![] };
        columns.add(0, "call", Left, |row| Some(whole_title(row)));
        columns.add(0, "n", Right, |row| Some(size(row.n)));
        columns.add(0, "device", Left, |row| Some(devices.short(row)));
        columns.add(4, "algorithm", Left, |row| Some(row.algorithm.clone()));
        columns.add(3, "median", Right, |row| row.median_ms.map(time));
        columns.add(0, "G/s", Right, |row| row.gelem_s.map(speed));
        columns.add(1, "of copy", Right, of_copy);
        if let Some(other) = others.first() {
            let heading = format!("{} / this", other.backend);
            columns.add(2, &heading, Right, |row| Some(format!("{:.2}", times_as_fast(row, &others)?)));
        }
        text += &columns.render(false);
    }
    text + &verdict(&own, devices)
}

/// How many rows are right, and which are not.
fn verdict(rows: &[&Row], devices: &Devices) -> String {
    let right = rows.iter().filter(|row| row.verified == Some(true)).count();
    let mut text = match rows.len() {
        all if all == right => format!("\nAll {all} results are right.\n"),
        all => format!("\n{right} of {all} results are right.\n"),
    };
    let wrong = rows.iter().filter(|row| row.verified == Some(false) && ran(row));
    let wrong = wrong.map(|row| format!("WRONG: {}\n", call(row, devices)));
    // Why stands with the tables.
    let others = rows.iter().filter(|row| !ran(row)).map(|row| format!("not run: {}\n", call(row, devices)));
    text.extend(wrong.chain(others));
    text
}

/// From here on a row took longer than its traffic explains.
const SLOW: f64 = 1.35;
const SLOW_MARK: char = '*';

/// How many times the predicted time a row took.
fn ratio(row: &Row) -> Option<f64> {
    Some(row.median_ms? / row.predicted_ms?)
}

/// How many times as fast as the fastest of other programs.
fn times_as_fast(row: &Row, others: &[&Row]) -> Option<f64> {
    let comparable = others.iter().filter(|other| !row.is_of_another_program() && row.is_like(other));
    comparable.filter_map(|other| speed_of(row, other)).min_by(f64::total_cmp)
}

/// Through another API, the speed of the fastest call through CUDA on the same GPU that it has.
fn of_cuda(row: &Row, cudas: &[&Row]) -> Option<f64> {
    let is_elsewhere = row.backend != "cuda" && !row.is_of_another_program();
    let comparable = cudas.iter().filter(|cuda| is_elsewhere && cuda.device == row.device && row.is_like(cuda));
    comparable.filter_map(|cuda| speed_of(row, cuda)).min_by(f64::total_cmp)
}

/// One row's speed in another's: by a queued call's share where both have it.
fn speed_of(row: &Row, other: &Row) -> Option<f64> {
    match (other.batched_ms, row.batched_ms) {
        (Some(theirs), Some(ours)) => Some(theirs / ours),
        _ => Some(other.median_ms? / row.median_ms?),
    }
}

fn is_slow(ratio: f64) -> bool {
    ratio > SLOW
}

fn marked(ratio: f64) -> String {
    format!("{ratio:.2}{}", if is_slow(ratio) { SLOW_MARK } else { ' ' })
}

/// `2^20` where it is a power of two, the number where not.
pub fn size(n: u64) -> String {
    if n >= 1024 && n.is_power_of_two() { format!("2^{}", n.trailing_zeros()) } else { n.to_string() }
}

/// In us.
fn time(ms: f64) -> String {
    format!("{:.1}", ms * 1000.0)
}

/// Three digits of a speed that spans six magnitudes.
fn speed(gelem_s: f64) -> String {
    let digits = if gelem_s < 1.0 {
        4
    } else if gelem_s < 100.0 {
        2
    } else {
        1
    };
    format!("{gelem_s:.digits$}")
}

fn of_copy(row: &Row) -> Option<String> {
    Some(format!("{:.0}%", row.copy_fraction? * 100.0))
}

#[cfg(test)]
mod tests {
    use trifold::plan::forms;
    use trifold::types::Scalar;

    use super::super::rows::{Job, Place};
    use super::*;

    fn row(input: &str, fault: &str, waiting: &str) -> Row {
        let job = Job::usual(&forms::SCAN, Scalar::U32, 7);
        let mut row = Row::new(&job, Place { backend: "cuda", device: "d", driver: "1", api: "a" });
        (row.input, row.fault, row.waiting) = (input.into(), fault.into(), waiting.into());
        row
    }

    fn rendered(rows: &[Row]) -> String {
        render(rows, &Devices::of_rows(rows), true)
    }

    #[test]
    fn what_is_as_usual_is_not_shown() {
        let text = rendered(&[row("uniform", "none", "bounded")]);
        assert!(text.starts_with("\nscan of u32, sum\n"), "{text}");
        for word in ["uniform", "none", "bounded", "fault", "waiting"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
    }

    /// The cells of the column below a heading, whose widths are those of lines.
    fn column<'a>(text: &'a str, heading: &str) -> Vec<&'a str> {
        let mut lines = text.lines().skip_while(|line| !line.contains(heading));
        let end = lines.next().map_or(0, |line| line.find(heading).unwrap() + heading.len());
        lines.map(|line| line.get(..end).unwrap_or(line).split("  ").last().unwrap().trim()).collect()
    }

    #[test]
    fn another_programs_fastest_row_is_what_ours_are_held_to() {
        let timed = |version: &str, batched, median| {
            let mut row = row("uniform", "none", "bounded");
            (row.batched_ms, row.median_ms, row.version) = (batched, Some(median), version.into());
            if version.is_empty() {
                (row.backend, row.device, row.driver) = ("cub".into(), String::new(), "cub-3.5.0".into());
                row.verified = None;
            } else {
                row.host_us = Some(3.21);
            }
            row
        };
        let ours = timed("0.1.0", Some(0.002), 0.009);
        let rows = [ours.clone(), timed("", Some(0.005), 0.010), timed("", Some(0.003), 0.012)];
        let text = rendered(&rows);
        assert_eq!(column(&text, "cub / this"), ["1.50", "-", "-"], "{text}");
        assert!(text.lines().any(|line| line.starts_with("7  cub-3.5.0  ")), "{text}");
        assert_eq!(column(&text, "host")[0], "3.2", "{text}");
        // One without such a share is held to medians.
        let text = rendered(&[ours, timed("", None, 0.018)]);
        assert_eq!(column(&text, "cub / this")[0], "2.00", "{text}");
        assert!(!rendered(&[timed("0.1.0", None, 1.0)]).contains("/ this"));
    }

    #[test]
    fn other_apis_of_the_gpu_are_held_to_cudas_fastest_row() {
        let timed = |backend: &str, device: &str, batched| {
            let mut row = row("uniform", "none", "bounded");
            (row.backend, row.device, row.version) = (backend.into(), device.into(), "0.1.0".into());
            (row.batched_ms, row.median_ms) = (Some(batched), Some(1.0));
            row
        };
        let cuda = [timed("cuda", "d", 0.003), timed("cuda", "d", 0.004)];
        let rows = [&cuda[..], &[timed("wgpu", "d", 0.005), timed("opencl", "another", 0.006)]].concat();
        let text = rendered(&rows);
        assert_eq!(column(&text, "of cuda"), ["-", "-", "0.60", "-"], "{text}");
        assert!(["\n7  1 cuda ", "\n7  2 wgpu ", "\n7  3 opencl "].iter().all(|line| text.contains(line)), "{text}");
        assert!(!render(&rows, &Devices::of_rows(&rows), false).contains("of cuda"));
        assert!(!rendered(&[timed("wgpu", "d", 0.005)]).contains("of cuda"));
        assert!(!rendered(&cuda).contains("of cuda"));
    }

    #[test]
    fn lines_are_short_unless_they_are_to_be_wide() {
        let mut long = row("uniform", "silent:100", "unbounded");
        (long.algorithm, long.n, long.host_us) = ("reduce_then_scan_recursive".into(), 1_000_000_007, Some(12345.6));
        (long.median_ms, long.batched_ms, long.gelem_s, long.gb_s) =
            (Some(123.4567), Some(123.4), Some(0.01), Some(0.1));
        (long.copy_fraction, long.verified) = (Some(0.125), Some(true));
        let devices = Devices::of_rows(std::slice::from_ref(&long));
        let text = render(&[long.clone()], &devices, false);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(["unbounded", "silent:100", "123456.7"].iter().all(|word| text.contains(word)), "{text}");
        let wide = render(&[long], &devices, true);
        assert!(["host", "batched", "GB/s", "of copy", "12345.6"].iter().all(|word| wide.contains(word)), "{wide}");
        assert!(LEGEND.lines().all(|line| line.chars().count() <= WIDTH));
    }

    #[test]
    fn inputs_have_tables_of_their_own_and_faults_and_waits_columns() {
        let mut wrong = row("constant", "none", "bounded");
        wrong.error = Some("odd".into());
        let rows = [
            row("uniform", "none", "bounded"),
            wrong,
            row("uniform", "silent:9", "bounded"),
            row("uniform", "none", "unbounded"),
        ];
        let text = rendered(&rows);
        let tables: Vec<&str> = text.trim().split("\n\n").collect();
        let [uniform, constant, error] = tables[..] else { panic!("{text}") };
        assert!(uniform.starts_with("scan of u32, sum\n") && uniform.lines().count() == 5, "{text}");
        assert!(
            ["  fault ", "  waiting ", "silent:9", "  unbounded "].iter().all(|word| uniform.contains(word)),
            "{text}"
        );
        assert!(constant.starts_with("scan of u32, sum, constant input\n") && !constant.contains("fault"), "{text}");
        assert_eq!(error, "scan of 7 u32, constant input on 1 cuda: odd");
    }

    #[test]
    fn the_conclusion_has_the_fastest_at_the_largest_size_and_what_is_wrong() {
        let timed = |backend: &str, n, ms, verified| {
            let mut row = row("uniform", "none", "bounded");
            (row.backend, row.version, row.n, row.verified) = (backend.into(), "0.1.0".into(), n, verified);
            (row.median_ms, row.gelem_s) = (Some(ms), Some(n as f64 / ms * 1e-6));
            row
        };
        let failed = Row { median_ms: None, ..timed("cuda", 2048, 0.1, Some(false)) };
        let blocked = Row { fault: "late:2".into(), ..timed("cuda", 2048, 0.001, Some(true)) };
        let right = [timed("cuda", 1024, 0.001, Some(true)), timed("wgpu", 2048, 0.004, Some(true))];
        let text = |rows: &[Row]| conclusion(rows, &Devices::of_rows(rows));
        let said = text(&[&right[..], &[timed("cuda", 2048, 0.003, Some(true))]].concat());
        assert!(said.contains("scan of u32, sum  2^11  1 cuda"), "{said}");
        assert!(said.ends_with("\nAll 3 results are right.\n"), "{said}");
        // What did not run is not wrong, and a call under other conditions is another call.
        let said = text(&[&right[..], &[failed, blocked]].concat());
        assert!(said.contains("not run: scan of 2^11 u32 on 1 cuda\n") && !said.contains("WRONG"), "{said}");
        assert!(said.contains("scan of u32, sum  ") && said.contains("scan of u32, sum, fault late:2  2^11"), "{said}");
        // What is wrong is not the fastest.
        let said = text(&[&right[..], &[timed("cuda", 2048, 0.003, Some(false))]].concat());
        assert!(said.contains("scan of u32, sum  2^11  2 wgpu"), "{said}");
        assert!(said.ends_with("\n2 of 3 results are right.\nWRONG: scan of 2^11 u32 on 1 cuda\n"), "{said}");
    }
}
