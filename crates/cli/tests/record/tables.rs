//! The tables, as Markdown.

use crate::aims::{self, APIS, LOGS, SUBJECTS};
use crate::rows::{Record, cells};

/// The table of a name. `old` are the lines that it replaces, of which a person's cells are kept.
pub fn made(name: &str, record: &Record, old: &[&str]) -> String {
    match name {
        "readme" => readme(record),
        "speeds" => speeds(record),
        "ours" => ours(record),
        "cub" => cub(record),
        "OpenCL" | "WGSL" => other_api(record, name),
        "conditions" => conditions(record),
        "missed" => missed(record, old),
        "one_tile" => one_tile(record),
        "hybrid" => hybrid(record),
        "hybrid skewed" => hybrid_skewed(record),
        _ => panic!("no table of rows is called {name:?}"),
    }
}

fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = head.iter().map(|cell| cell.to_string()).collect();
    let mut text = line(&head).replace("|  |", "| |") + &"|---".repeat(head.len()) + "|\n";
    for cells in rows {
        assert_eq!(cells.len(), head.len(), "{cells:?}");
        text += &line(&cells);
    }
    text
}

/// Four digits at most of a time in us.
fn us(time: Option<f64>) -> String {
    time.map_or("-".into(), |us| if us < 1000.0 { format!("{us:.1}") } else { format!("{us:.0}") })
}

/// 10^9 elements a second.
fn speed(record: &Record, backend: &str, primitive: &str, ty: &str, log: u32) -> String {
    let speed = record.us(backend, primitive, ty, log).map(|us| (1u64 << log) as f64 / us * 1e-3);
    speed.map_or("-".into(), |speed| if speed < 100.0 { format!("{speed:.1}") } else { format!("{speed:.0}") })
}

const WITH_CUB: [(&str, &str); 4] = [APIS[0], APIS[1], APIS[2], ("CUB", "cub")];

fn readme(record: &Record) -> String {
    let calls = [
        ("scan", "scan", 28),
        ("reduce", "reduce", 28),
        ("sort keys", "sort_keys", 28),
        ("sort keys", "sort_keys", 20),
    ];
    let more = [("sort pairs", "sort_pairs", 28), ("select half", "select_if", 28)];
    let row = |(name, primitive, log): (&str, &str, u32)| {
        let speeds = WITH_CUB.map(|(_, backend)| speed(record, backend, primitive, "u32", log));
        [vec![format!("{name}, 2^{log}")], speeds.to_vec()].concat()
    };
    table(&["", "CUDA", "OpenCL", "WGSL", "CUB"], calls.into_iter().chain(more).map(row))
}

fn speeds(record: &Record) -> String {
    let head = ["u32", "2^12", "2^16", "2^20", "2^24", "2^28", "G/s at 2^28", "of its copy", "host, 2^16"];
    let calls =
        [("copy", "copy")].into_iter().chain(SUBJECTS.iter().filter(|s| s.ty == "u32").map(|s| (s.primitive, s.name)));
    let rows = calls.flat_map(|(primitive, name)| WITH_CUB.map(|api| (primitive, name.trim_end_matches(" u32"), api)));
    let row = |(primitive, name, (api, backend)): (&str, &str, (&str, &str))| {
        let times = [12, 16, 20, 24, 28].map(|log| us(record.us(backend, primitive, "u32", log)));
        let of = |log, field: &str| record.row(backend, primitive, "u32", log).and_then(|row| row[field].as_f64());
        let of_copy = of(28, "copy_fraction").map_or("-".into(), |share| format!("{:.0}%", 100.0 * share));
        let host = of(16, "host_us").map_or("-".into(), |us| format!("{us:.1}"));
        let first = format!("{name}, {api}");
        [vec![first], times.to_vec(), vec![speed(record, backend, primitive, "u32", 28), of_copy, host]].concat()
    };
    table(&head, rows.map(row))
}

fn ours(record: &Record) -> String {
    let primitives = ["reduce", "scan", "sort_keys", "sort_pairs"];
    let row = |(api, backend): (&str, &str)| {
        let speeds = primitives.map(|primitive| speed(record, backend, primitive, "u32", 26));
        [vec![format!("Trifold, {api}")], speeds.to_vec()].concat()
    };
    table(&["", "reduce", "scan", "sort keys", "sort pairs"], APIS.map(row))
}

fn cub(record: &Record) -> String {
    let sizes = LOGS.map(|log| format!("2^{log}"));
    let head: Vec<&str> =
        ["CUDA, times as fast as CUB", "aims"].into_iter().chain(sizes.iter().map(String::as_str)).collect();
    let row = |subject: &aims::Subject| {
        let figures = aims::of_cub(record, subject);
        let figures = figures.iter().map(|figure| aims::shown(figure.as_ref()));
        [subject.name.to_string(), subject.aims_of_cub()].into_iter().chain(figures).collect()
    };
    table(&head, SUBJECTS.iter().map(row))
}

fn other_api(record: &Record, name: &str) -> String {
    let api = *APIS.iter().find(|(api, _)| *api == name).unwrap();
    let row = |subject: &aims::Subject| {
        let (against, aim) = subject.large(name);
        let (small, large) = (aims::small(record, api.1, subject), aims::large(record, api, subject));
        let figures = small.iter().chain(&large).map(|figure| aims::shown(figure.as_ref()));
        [subject.name.to_string()].into_iter().chain(figures).chain([format!("{aim} of {against}")]).collect()
    };
    let first = format!("{name}: of CUDA's speed");
    table(&[&first, "2^14", "2^16", "2^18", "2^26, of CUB or copy", "2^28", "aim there"], SUBJECTS.iter().map(row))
}

fn conditions(record: &Record) -> String {
    let row = |aim: aims::Aim| {
        let of = |(api, _): (&str, &str)| aims::shown(aim.figures.iter().find(|figure| figure.at == api));
        [vec![aim.name.clone(), aim.aim.clone()], APIS.map(of).to_vec()].concat()
    };
    table(&["At 2^28", "aim", "CUDA", "OpenCL", "WGSL"], aims::conditions(record).into_iter().map(row))
}

fn missed(record: &Record, old: &[&str]) -> String {
    let row = |aim: aims::Aim| {
        let figures: Vec<String> =
            aim.figures.iter().map(|figure| format!("{} {:.2}", figure.at, figure.measured)).collect();
        let said = old.iter().map(|line| cells(line)).find(|cells| cells[0] == aim.name);
        let [floor, why, next] =
            [3, 4, 5].map(|i| said.as_ref().and_then(|cells| cells.get(i)).unwrap_or(&"").to_string());
        vec![aim.name, aim.aim, figures.join(", "), floor, why, next]
    };
    table(
        &["Missed", "aim", "best", "floor", "why, as far as known", "next"],
        aims::missed(record).into_iter().map(row),
    )
}

fn one_tile(record: &Record) -> String {
    let calls = [
        ("CUDA, u32 keys", "cuda", "sort_keys", "u32"),
        ("CUDA, u32 pairs", "cuda", "sort_pairs", "u32"),
        ("CUDA, f32 keys", "cuda", "sort_keys", "f32"),
        ("OpenCL, u32 keys", "opencl", "sort_keys", "u32"),
        ("WGSL, u32 keys", "wgpu", "sort_keys", "u32"),
    ];
    let row = |(name, backend, primitive, ty): (&str, &str, &str, &str)| {
        let of = |log| {
            let row = record.row(backend, primitive, ty, log).unwrap();
            assert_eq!(row["algorithm"], "one_tile", "{row}");
            us(record.us(backend, primitive, ty, log))
        };
        vec![name.to_string(), of(10), of(12)]
    };
    table(&["", "2^10", "2^12"], calls.map(row))
}

fn hybrid(record: &Record) -> String {
    let row = |ty: &str| {
        let of = |log| {
            let row = record.row("cuda", "sort_keys", ty, log).unwrap();
            assert_eq!(row["algorithm"], "hybrid", "{row}");
            us(record.us("cuda", "sort_keys", ty, log))
        };
        [vec![format!("{ty} keys, CUDA")], [14, 16, 18, 20].map(of).to_vec()].concat()
    };
    table(&["", "2^14", "2^16", "2^18", "2^20"], ["u32", "u64"].map(row))
}

fn hybrid_skewed(record: &Record) -> String {
    let row = |(api, backend): (&str, &str)| {
        let call = crate::rows::Call { backend, primitive: "sort_keys", algorithm: "hybrid", ty: "u32", log: 20 };
        let over = |input| record.over(&call, "input", input, "uniform");
        let over = ["sorted", "few-distinct", "hot-digit", "constant"].map(over);
        let cells = over.map(|over| over.map_or("-".into(), |over| format!("{over:.2}")));
        [vec![api.to_string()], cells.to_vec()].concat()
    };
    table(&["2^20 u32, over uniform keys", "sorted", "few distinct", "hot digit", "constant"], APIS.map(row))
}
