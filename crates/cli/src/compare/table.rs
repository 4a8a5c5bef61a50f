//! The comparison as tables, one for each primitive, type, operator and input.

use comfy_table::CellAlignment::{self, Left, Right};
use comfy_table::{Cell, ContentArrangement, Table};

use super::rows::{Row, no_fault, no_waiting};

pub fn render(rows: &[Row]) -> String {
    let mut text = String::new();
    let mut left: Vec<&Row> = rows.iter().collect();
    while let Some(first) = left.first().copied() {
        let (mut group, rest): (Vec<&Row>, Vec<&Row>) = left.into_iter().partition(|row| {
            (&row.experiment, &row.primitive, &row.scalar, &row.operator, row.unusual_input())
                == (&first.experiment, &first.primitive, &first.scalar, &first.operator, first.unusual_input())
        });
        left = rest;
        let operator = first.operator.as_deref().map(|o| format!(", {o}")).unwrap_or_default();
        let input: String = first.unusual_input().iter().map(|input| format!(", {input}")).collect();
        let experiment = first.experiment.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
        let (primitive, scalar) = (&first.primitive, &first.scalar);
        // What an experiment's device refused is said below.
        group.retain(|row| row.experiment.is_none() || row.median_ms.is_some() || row.verified.is_some());
        if group.is_empty() {
            continue;
        }
        text += &format!("\n{experiment}{primitive} of {scalar}{operator}{input}\n{}\n", table(&mut group));
        if group.iter().any(|row| ratio(row).is_some_and(is_slow)) {
            text += &format!("{SLOW_MARK} more than {SLOW} times the predicted time\n");
        }
    }
    for row in rows.iter().filter(|row| row.error.is_some()) {
        let by = (row.experiment.is_some() && !row.algorithm.is_empty()).then(|| format!(" by {}", row.algorithm));
        let conditions = by.into_iter().chain(row.conditions().into_iter().map(|condition| format!(", {condition}")));
        let conditions: String = conditions.chain(row.tuning.iter().map(|tuning| format!(", {tuning}"))).collect();
        let Row { primitive, scalar, backend, device, api, .. } = row;
        let (n, error) = (size(row.n), row.error.as_deref().unwrap_or(""));
        text += &format!("\n{primitive} of {n} {scalar}{conditions} on {backend} {device} ({api}): {error}\n");
    }
    text
}

fn table(rows: &mut [&Row]) -> Table {
    // The fastest first, at each size; a sweep in its own order.
    if rows.iter().all(|row| row.experiment.is_none() || row.tuning.is_none()) {
        rows.sort_by(|a, b| {
            let time = |row: &Row| row.median_ms.unwrap_or(f64::INFINITY);
            a.n.cmp(&b.n).then(time(a).total_cmp(&time(b)))
        });
    }
    let has = |what: fn(&Row) -> bool| rows.iter().any(|row| what(row));
    let has_predictions = has(|row| row.predicted_ms.is_some());
    let others: Vec<&Row> = rows.iter().copied().filter(|row| row.is_of_another_program()).collect();
    let cudas: Vec<&Row> = rows.iter().copied().filter(|row| row.backend == "cuda").collect();

    let mut lines: Vec<Vec<Cell>> = vec![vec![]; rows.len() + 1];
    let mut column = |heading: &str, alignment: CellAlignment, text: &dyn Fn(&Row) -> Option<String>| {
        let texts = rows.iter().map(|row| text(row).unwrap_or_else(|| "-".into()));
        for (line, text) in lines.iter_mut().zip([heading.into()].into_iter().chain(texts)) {
            line.push(Cell::new(text).set_alignment(alignment));
        }
    };
    column("n", Right, &|row| Some(size(row.n)));
    column("backend", Left, &|row| Some(row.backend.clone()));
    // Another program's rows name no device: what tells its versions apart is their file.
    column("device", Left, &|row| Some(if row.device.is_empty() { &row.driver } else { &row.device }.clone()));
    column("api", Left, &|row| Some(row.api.clone()));
    column("algorithm", Left, &|row| Some(row.algorithm.clone()));
    // Where a row has something else than usual to say there.
    if has(|row| row.tuning.is_some()) {
        column("planned with", Left, &|row| row.tuning.clone());
    }
    if has(|row| row.fault != no_fault()) {
        column("fault", Left, &|row| Some(row.fault.clone()));
    }
    if has(|row| row.waiting != no_waiting()) {
        column("waiting", Left, &|row| Some(row.waiting.clone()));
    }
    if has_predictions {
        column("moves", Right, &|row| Some(format!("{:.1} MB", row.traffic_bytes? as f64 * 1e-6)));
        column("predicted", Right, &|row| row.predicted_ms.map(time));
    }
    column("median", Right, &|row| row.median_ms.map(time));
    if has_predictions {
        column("ratio", Right, &|row| ratio(row).map(marked));
    }
    column("batched", Right, &|row| row.batched_ms.map(time));
    if !has_predictions && has(|row| row.host_us.is_some()) {
        column("host", Right, &|row| Some(format!("{:.1} us", row.host_us?)));
    }
    column("Gelem/s", Right, &|row| Some(format!("{:.3}", row.gelem_s?)));
    column("GB/s", Right, &|row| Some(format!("{:.1}", row.gb_s?)));
    column("of copy", Right, &|row| Some(format!("{:.0}%", row.copy_fraction? * 100.0)));
    if let Some(other) = others.first() {
        let heading = format!("{} / this", other.backend);
        column(&heading, Right, &|row| Some(format!("{:.2}", times_as_fast(row, &others)?)));
    }
    if rows.iter().any(|row| of_cuda(row, &cudas).is_some()) {
        column("of cuda", Right, &|row| Some(format!("{:.2}", of_cuda(row, &cudas)?)));
    }
    column("checked", Left, &|row| Some(if row.verified? { "yes" } else { "NO" }.into()));

    let mut table = Table::new();
    table.load_style(comfy_table::presets::ASCII_MARKDOWN);
    if table.is_tty() {
        table.set_content_arrangement(ContentArrangement::Dynamic);
    }
    let mut lines = lines.into_iter();
    table.set_header(lines.next().unwrap_or_default());
    table.add_rows(lines);
    table
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

fn time(ms: f64) -> String {
    if ms < 1.0 { format!("{:.1} us", ms * 1000.0) } else { format!("{ms:.2} ms") }
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

    #[test]
    fn what_is_as_usual_is_not_shown() {
        let text = render(&[row("uniform", "none", "bounded")]);
        assert!(text.starts_with("\nscan of u32, sum\n"), "{text}");
        for word in ["uniform", "none", "bounded", "fault", "waiting"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
    }

    #[test]
    fn another_programs_fastest_row_is_what_ours_are_held_to() {
        let timed = |version: &str, batched, median| {
            let mut row = row("uniform", "none", "bounded");
            (row.batched_ms, row.median_ms, row.version) = (batched, Some(median), version.into());
            if version.is_empty() {
                (row.backend, row.device, row.driver) = ("cub".into(), String::new(), "cub-3.5.0".into());
            } else {
                row.host_us = Some(3.21);
            }
            row
        };
        let ours = timed("0.1.0", Some(0.002), 0.009);
        let rows = [ours.clone(), timed("", Some(0.005), 0.010), timed("", Some(0.003), 0.012)];
        let text = render(&rows);
        assert!(text.contains("| cub / this |") && text.contains("|       1.50 |"), "{text}");
        assert!(text.contains("| cub     | cub-3.5.0 |"), "{text}");
        assert!(text.contains("|   host |") && text.contains("| 3.2 us |"), "{text}");
        // One without such a share is held to medians.
        let text = render(&[ours, timed("", None, 0.018)]);
        assert!(text.contains("|       2.00 |"), "{text}");
        assert!(!render(&[timed("0.1.0", None, 1.0)]).contains("/ this"));
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
        let text = render(&[&cuda[..], &[timed("wgpu", "d", 0.005), timed("opencl", "another", 0.006)]].concat());
        assert!(text.contains("| of cuda |") && text.contains("|    0.60 |"), "{text}");
        assert_eq!(text.lines().filter(|line| line.ends_with("|       - | NO      |")).count(), 3, "{text}");
        assert!(!render(&[timed("wgpu", "d", 0.005)]).contains("of cuda"));
        assert!(!render(&cuda).contains("of cuda"));
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
        let text = render(&rows);
        let tables: Vec<&str> = text.trim().split("\n\n").collect();
        let [uniform, constant, error] = tables[..] else { panic!("{text}") };
        assert!(uniform.starts_with("scan of u32, sum\n") && uniform.lines().count() == 6, "{text}");
        assert!(
            ["| fault ", "| waiting ", "silent:9", " unbounded "].iter().all(|word| uniform.contains(word)),
            "{text}"
        );
        assert!(constant.starts_with("scan of u32, sum, constant input\n") && !constant.contains("fault"), "{text}");
        assert_eq!(error, "scan of 7 u32, constant input on cuda d (a): odd");
    }
}
