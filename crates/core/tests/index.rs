//! The index of the algorithms' pages and their chapters in the book, made from the table of algorithms and from the pages' titles.

mod devices;

use std::path::{Path, PathBuf};

use trifold_core::algorithm::{Algorithm, Needs, Place, SubgroupNeed};
use trifold_core::{Builtin, Caps, Form, Layout, Options, Request, Scalar, Tuning, planner};

/// Set, the test writes the index instead of comparing it.
const WRITE: &str = "TRIFOLD_WRITE_INDEX";
const HEAD: &str = "| Algorithm | Idea | Bytes an element | Launches | Needs |\n|---|---|---|---|---|\n";

fn pages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/algorithms")
}

/// What stands behind the name in a page's title.
fn idea(algorithm: &Algorithm) -> String {
    let path = pages().join(algorithm.page);
    let page = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let title = page.lines().next().and_then(|line| line.strip_prefix("# ")).unwrap_or_default();
    assert!(title.contains(&format!("`{algorithm}`")), "{}: its title does not name {algorithm}", path.display());
    let (_, idea) = title.split_once(": ").unwrap_or_else(|| panic!("{}: its title has no idea", path.display()));
    idea.into()
}

fn needs(needs: &Needs) -> String {
    let said = [
        (needs.subgroups != SubgroupNeed::None).then_some("subgroups"),
        needs.bulk_copies.then_some("CUDA from sm_90"),
        needs.coherent.then_some("in WGSL `@coherent`"),
        needs.commuting.then_some("an operator that commutes"),
        needs.scalars.then_some("scalars"),
    ];
    let said: Vec<_> = said.into_iter().flatten().collect();
    if said.is_empty() { "nothing".into() } else { said.join(", ") }
}

/// The devices whose plans say how many launches there are, the first that has the algorithm.
fn launches(request: &Request, algorithm: &'static Algorithm, devices: &[Caps]) -> String {
    let options = Options::by(algorithm);
    let plan = |caps: &Caps| planner::plan(request, Layout::default(), options, caps, &Tuning::of(caps)).ok();
    devices.iter().find_map(plan).map_or("-".into(), |plan| plan.launches().to_string())
}

fn row(form: &Form, algorithm: &'static Algorithm, devices: &[Caps]) -> String {
    let n = algorithm.most.min(if algorithm.is_of_one_tile() { 1 << 10 } else { 1 << 24 });
    // Of words, or of the first narrower type that it takes.
    let of = |scalar| form.request(scalar, Builtin::Sum, n).unwrap();
    let takes = |scalar: &Scalar| launches(&of(*scalar), algorithm, devices) != "-";
    let scalar = [Scalar::U32, Scalar::U8].into_iter().find(takes).unwrap_or(Scalar::U32);
    let request = of(scalar);
    let bytes = planner::traffic(&request, algorithm, Some(n / 2));
    let bytes = bytes.map_or("-".into(), |bytes| format!("{}", (10.0 * bytes as f64 / n as f64).round() / 10.0));
    let chosen = if algorithm.is_reference { "" } else { "**" };
    let mut needs = needs(&algorithm.needs);
    if scalar != Scalar::U32 {
        needs += &format!(", `{}`", scalar.name());
    }
    let (page, idea) = (algorithm.page, idea(algorithm));
    let launches = launches(&request, algorithm, devices);
    format!("| {chosen}[`{algorithm}`]({page}){chosen} | {idea} | {bytes} | {launches} | {needs} |\n")
}

/// The index with its tables made anew: each stands between `<!-- table: scan -->` and an empty line.
fn made(index: &str) -> String {
    let devices = [devices::h200(), devices::lavapipe()];
    let mut made = String::new();
    let mut rest = index;
    let mut listed = vec![];
    while let Some((before, after)) = rest.split_once("<!-- table: ") {
        let (name, after) = after.split_once(" -->\n").unwrap();
        let form = Form::named(name).unwrap_or_else(|| panic!("the index has a table of `{name}`"));
        let algorithms = form.request(Scalar::U32, Builtin::Sum, 1).unwrap().algorithms();
        let paged = algorithms.iter().filter(|algorithm| !algorithm.page.is_empty());
        listed.extend(paged.clone().copied());
        made += &format!("{before}<!-- table: {name} -->\n{HEAD}");
        made.extend(paged.map(|algorithm| row(form, algorithm, &devices)));
        rest = after.split_once("\n\n").map_or("", |(_, rest)| rest);
        if !rest.is_empty() {
            made += "\n";
        }
    }
    made += rest;
    for form in Form::all() {
        let algorithms = form.request(Scalar::U32, Builtin::Sum, 1).unwrap().algorithms();
        let mut own = algorithms.iter().copied().filter(|algorithm| !algorithm.page.is_empty()).peekable();
        // A new primitive's table comes last.
        if own.peek().is_some_and(|first| !listed.contains(first)) {
            listed.extend(own.clone());
            made += &format!("\n## {0}\n\n<!-- table: {0} -->\n{HEAD}", form.name);
            made.extend(own.map(|algorithm| row(form, algorithm, &devices)));
        }
    }
    for algorithm in trifold_core::algorithm::all().filter(|algorithm| algorithm.needs.place == Place::Workgroups) {
        assert!(listed.contains(&algorithm), "{algorithm:?} has no page");
    }
    made
}

/// The book's summary with its algorithms made anew: the lines behind the one that names their index.
fn chapters(summary: &str) -> String {
    let index = "](algorithms/README.md)\n";
    let (before, after) = summary.split_once(index).expect("the summary names the index of algorithms");
    let rest = after.split_inclusive('\n').skip_while(|line| line.starts_with("  - ")).collect::<String>();
    let mut listed = vec![];
    let mut made = format!("{before}{index}");
    for form in Form::all() {
        for algorithm in form.request(Scalar::U32, Builtin::Sum, 1).unwrap().algorithms() {
            if !algorithm.page.is_empty() && !listed.contains(&algorithm.page) {
                listed.push(algorithm.page);
                made += &format!("  - [{}: {algorithm}](algorithms/{})\n", form.name, algorithm.page);
            }
        }
    }
    made + &rest
}

#[test]
fn the_book_has_a_chapter_for_each_algorithm() {
    let path = pages().join("../SUMMARY.md");
    let summary = std::fs::read_to_string(&path).unwrap();
    let made = chapters(&summary);
    if std::env::var_os(WRITE).is_some() {
        return std::fs::write(path, made).unwrap();
    }
    assert!(summary == made, "docs/SUMMARY.md is not what the table says: run this test with {WRITE}=1");
}

#[test]
fn the_index_is_made_from_the_table_and_the_pages() {
    let path = pages().join("README.md");
    let index = std::fs::read_to_string(&path).unwrap();
    let made = made(&index);
    if std::env::var_os(WRITE).is_some() {
        return std::fs::write(path, made).unwrap();
    }
    assert!(index == made, "docs/algorithms/README.md is not what the table says: run this test with {WRITE}=1");
}
