//! What was aimed at, and the cells that the record has beside it.

use crate::rows::{Call, Record};

pub const APIS: [(&str, &str); 3] = [("CUDA", "cuda"), ("OpenCL", "opencl"), ("WGSL", "wgpu")];
pub const LOGS: [u32; 10] = [10, 12, 14, 16, 18, 20, 22, 24, 26, 28];

/// A primitive of a type: its names in tables and in rows.
pub struct Subject {
    pub name: &'static str,
    pub primitive: &'static str,
    pub ty: &'static str,
    /// How many times as fast as CUB in CUDA, for the groups of sizes that [`Subject::aim_of_cub`] has.
    of_cub: [f64; 4],
}

const fn subject(name: &'static str, primitive: &'static str, ty: &'static str, of_cub: [f64; 4]) -> Subject {
    Subject { name, primitive, ty, of_cub }
}

pub const SUBJECTS: [Subject; 14] = [
    subject("scan u32", "scan", "u32", [1.0, 1.1, 1.15, 1.28]),
    subject("scan f32", "scan", "f32", [1.0, 1.1, 1.15, 1.28]),
    subject("scan u64", "scan", "u64", [1.0, 1.1, 1.1, 1.15]),
    subject("reduce u32", "reduce", "u32", [1.0, 1.4, 1.1, 1.0]),
    subject("reduce f32", "reduce", "f32", [1.0, 1.4, 1.1, 1.0]),
    subject("reduce u64", "reduce", "u64", [1.0, 1.4, 1.1, 1.0]),
    subject("sort u32", "sort_keys", "u32", [1.0, 1.3, 1.15, 1.1]),
    subject("sort f32", "sort_keys", "f32", [1.0, 1.3, 1.15, 1.1]),
    subject("sort u64", "sort_keys", "u64", [1.0, 1.3, 1.1, 1.05]),
    subject("sort pairs u32", "sort_pairs", "u32", [1.0, 1.3, 1.1, 1.05]),
    subject("select u32", "select_if", "u32", [1.0; 4]),
    subject("partition u32", "partition_if", "u32", [1.0; 4]),
    subject("reduce by key u32", "reduce_by_key", "u32", [1.0, 1.0, 1.05, 1.05]),
    subject("run lengths u32", "run_length_encode", "u32", [1.0, 1.0, 1.05, 1.05]),
];

impl Subject {
    pub fn aim_of_cub(&self, log: u32) -> f64 {
        let group = [14, 20, 26].iter().filter(|bound| log >= **bound).count();
        self.of_cub[group]
    }

    /// The aims in a cell's words.
    pub fn aims_of_cub(&self) -> String {
        self.of_cub.map(|aim| aim.to_string()).join("; ")
    }

    /// What large calls of another API are set against, and the aim: CUB, or for scans its own copy.
    pub fn large(&self, api: &str) -> (&'static str, f64) {
        match (self.primitive, api) {
            ("scan", "WGSL") => ("its copy", 0.82),
            ("scan", _) => ("its copy", 0.88),
            ("reduce", _) => ("CUB", 0.97),
            ("sort_keys" | "sort_pairs", "WGSL") => ("CUB", 0.8),
            ("sort_keys" | "sort_pairs", _) => ("CUB", 0.9),
            ("reduce_by_key" | "run_length_encode", "WGSL") => ("CUB", 0.8),
            ("reduce_by_key" | "run_length_encode", _) => ("CUB", 0.95),
            (_, "WGSL") => ("CUB", 0.85),
            _ => ("CUB", 0.9),
        }
    }
}

/// A measured figure beside its aim.
pub struct Figure {
    /// At which size, or of which API.
    pub at: String,
    pub measured: f64,
    pub is_reached: bool,
}

impl Figure {
    fn of(at: String, measured: f64, least: f64) -> Figure {
        // What is shown is held to the aim.
        Figure { at, measured, is_reached: (100.0 * measured).round() >= 100.0 * least - 1e-9 }
    }

    fn at_most(at: String, measured: f64, most: f64) -> Figure {
        Figure { at, measured, is_reached: (100.0 * measured).round() <= 100.0 * most + 1e-9 }
    }
}

/// A figure's cell, in bold where it misses the aim.
pub fn shown(figure: Option<&Figure>) -> String {
    match figure {
        None => "-".into(),
        Some(figure) if figure.is_reached => format!("{:.2}", figure.measured),
        Some(figure) => format!("**{:.2}**", figure.measured),
    }
}

/// Figures with one aim.
pub struct Aim {
    pub name: String,
    pub aim: String,
    pub figures: Vec<Figure>,
}

/// CUDA against CUB, at each size.
pub fn of_cub(record: &Record, subject: &Subject) -> Vec<Option<Figure>> {
    let figure = |log: u32| {
        let ratio = record.times_as_fast("cuda", "cub", subject.primitive, subject.ty, log)?;
        Some(Figure::of(format!("2^{log}"), ratio, subject.aim_of_cub(log)))
    };
    LOGS.into_iter().map(figure).collect()
}

/// The aim of small calls of other APIs, of CUDA's speed.
pub const SMALL: f64 = 0.6;

/// Small calls of another API against CUDA.
pub fn small(record: &Record, backend: &str, subject: &Subject) -> Vec<Option<Figure>> {
    let figure = |log: u32| {
        let ratio = record.times_as_fast(backend, "cuda", subject.primitive, subject.ty, log)?;
        Some(Figure::of(format!("2^{log}"), ratio, SMALL))
    };
    [14, 16, 18].into_iter().map(figure).collect()
}

/// Large calls of another API against CUB, or their own copy.
pub fn large(record: &Record, api: (&str, &str), subject: &Subject) -> Vec<Option<Figure>> {
    at_sizes(record, api, subject, &[26, 28])
}

/// The same from the sizes on that their aim is for: of runs from 2^20 on.
fn from_their_sizes_on(record: &Record, api: (&str, &str), subject: &Subject) -> Vec<Option<Figure>> {
    let is_of_runs = matches!(subject.primitive, "reduce_by_key" | "run_length_encode");
    at_sizes(record, api, subject, if is_of_runs { &[20, 22, 24, 26, 28] } else { &[26, 28] })
}

fn at_sizes(record: &Record, (api, backend): (&str, &str), subject: &Subject, logs: &[u32]) -> Vec<Option<Figure>> {
    let (against, aim) = subject.large(api);
    let figure = |log: u32| {
        let ours = record.us(backend, subject.primitive, subject.ty, log)?;
        let other = if against == "CUB" { "cub" } else { backend };
        let primitive = if against == "CUB" { subject.primitive } else { "copy" };
        let theirs = record.us(other, primitive, subject.ty, log)?;
        Some(Figure::of(format!("2^{log}"), theirs / ours, aim))
    };
    logs.iter().copied().map(figure).collect()
}

fn scan<'a>(backend: &'a str, algorithm: &'a str, ty: &'a str) -> Call<'a> {
    Call { backend, primitive: "scan", algorithm, ty, log: 28 }
}

fn sort(backend: &str, log: u32) -> Call<'_> {
    Call { backend, primitive: "sort_keys", algorithm: "", ty: "u32", log }
}

/// Calls under other conditions: a row of a figure an API.
pub fn conditions(record: &Record) -> Vec<Aim> {
    let mut aims = vec![];
    let mut add = |name: &str, aim: &str, figure: &dyn Fn(&str, &str) -> Option<Figure>| {
        let figures = APIS.into_iter().filter_map(|(api, backend)| figure(api, backend)).collect();
        aims.push(Aim { name: name.into(), aim: aim.into(), figures });
    };
    add("float scan with the same bits every run, over the u32 scan", "at most 1.05", &|api, backend| {
        let (float, integer) = match api {
            "CUDA" => ("lookahead", "lookahead"),
            "OpenCL" => ("lookback_pipelined", "lookback_pipelined"),
            _ => ("reduce_then_scan", "lookback_pipelined"),
        };
        let float = record.under_usual_conditions(&scan(backend, float, "f32"))?;
        let integer = record.under_usual_conditions(&scan(backend, integer, "u32"))?;
        Some(Figure::at_most(api.into(), float / integer, 1.05))
    });
    for algorithm in ["lookback", "lookback_pipelined"] {
        add(&format!("bounded waiting over unbounded, scan by `{algorithm}`"), "at most 1.03", &|api, backend| {
            let ratio = record.over(&scan(backend, algorithm, "u32"), "waiting", "unbounded", "bounded")?;
            Some(Figure::at_most(api.into(), 1.0 / ratio, 1.03))
        });
    }
    add("bounded waiting over unbounded, sort by `onesweep`", "at most 1.03", &|api, backend| {
        let ratio = record.over(&sort(backend, 28), "waiting", "unbounded", "bounded")?;
        Some(Figure::at_most(api.into(), 1.0 / ratio, 1.03))
    });
    for algorithm in ["lookback", "lookback_pipelined", "lookahead"] {
        add(&format!("speed left with one tile in 100 silent, scan by `{algorithm}`"), "0.85", &|api, backend| {
            let ratio = record.over(&scan(backend, algorithm, "u32"), "fault", "silent:100", "none")?;
            Some(Figure::of(api.into(), 1.0 / ratio, 0.85))
        });
    }
    add("speed left with one tile in 100 silent, sort by `onesweep`", "0.85", &|api, backend| {
        Some(Figure::of(api.into(), 1.0 / record.over(&sort(backend, 28), "fault", "silent:100", "none")?, 0.85))
    });
    add("scan in two passes, of look-back's speed", "0.65", &|api, backend| {
        let two = record.under_usual_conditions(&scan(backend, "reduce_then_scan", "u32"))?;
        let one = record.under_usual_conditions(&scan(backend, "lookback", "u32"))?;
        Some(Figure::of(api.into(), one / two, 0.65))
    });
    for input in ["sorted", "few-distinct", "hot-digit", "constant"] {
        for (log, most) in [(28, if input == "constant" { 1.0 } else { 1.25 }), (20, 1.25)] {
            add(
                &format!("sort of 2^{log} {input} keys over uniform ones"),
                &format!("at most {most}"),
                &|api, backend| {
                    let ratio = record.over(&sort(backend, log), "input", input, "uniform")?;
                    Some(Figure::at_most(api.into(), ratio, most))
                },
            );
        }
    }
    aims
}

/// Every aim that a figure misses, with those figures.
pub fn missed(record: &Record) -> Vec<Aim> {
    let mut missed = vec![];
    let mut add = |name: String, aim: String, figures: Vec<Figure>| {
        let figures: Vec<Figure> = figures.into_iter().filter(|figure| !figure.is_reached).collect();
        if !figures.is_empty() {
            missed.push(Aim { name, aim, figures });
        }
    };
    for subject in &SUBJECTS {
        let figures = of_cub(record, subject).into_iter().flatten().collect();
        add(format!("CUDA, {}, of CUB", subject.name), subject.aims_of_cub(), figures);
    }
    for (api, backend) in &APIS[1..] {
        for subject in &SUBJECTS {
            let figures = small(record, backend, subject).into_iter().flatten().collect();
            add(format!("{api}, small {}, of CUDA", subject.name), SMALL.to_string(), figures);
            let (against, aim) = subject.large(api);
            let figures = from_their_sizes_on(record, (api, backend), subject).into_iter().flatten().collect();
            add(format!("{api}, {}, of {against}", subject.name), aim.to_string(), figures);
        }
    }
    for aim in conditions(record) {
        add(aim.name, aim.aim, aim.figures);
    }
    missed
}
