//! `trifold report`: result files as one page of charts and tables.

mod charts;
mod draw;
mod page;
mod read;
mod series;
mod style;
mod summary;
mod table;
mod text;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};

use self::read::Run;
use crate::args::ReportArgs;
use crate::compare::Row;
use crate::files::{self, Pending};

pub fn run(args: &ReportArgs) -> Result<ExitCode> {
    files::check_outputs(&outputs(args, None), &args.results)?;
    let mut runs = read::runs(&args.results)?;
    for run in &mut runs {
        run.keep(|row| is_wanted(args, row));
    }
    runs.retain(|run| !run.rows.is_empty());
    ensure!(!runs.is_empty(), "no row is left by --device, --primitive, --type and --algorithm; leave one out");
    // Both are written, or neither.
    let page = args.page().map(|path| Pending::text(path, &page::render(&runs)?)).transpose()?;
    let csv = args.csv.as_ref().map(|path| Pending::text(path, &table::csv(&runs)?)).transpose()?;
    for pending in [page, csv].into_iter().flatten() {
        pending.finish()?;
    }
    if let Some(folder) = &args.svg {
        draw(args, folder, &runs)?;
    }
    if args.output.is_none()
        && let Some(page) = args.page()
    {
        eprintln!("note: the page is {}", page.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// What is written, one drawing of several among it.
fn outputs<'a>(args: &'a ReportArgs, drawing: Option<&'a Path>) -> [(&'static str, Option<&'a Path>); 3] {
    [("-o", args.page()), ("--csv", args.csv.as_deref()), ("--svg", drawing)]
}

/// Writes the charts to a folder, under names that the rows have given them.
fn draw(args: &ReportArgs, folder: &Path, runs: &[Run]) -> Result<()> {
    let drawings = page::drawings(runs)?;
    ensure!(
        !drawings.is_empty(),
        "no chart to draw: a chart has a line through several sizes, and bars are on the page alone; leave out --svg"
    );
    std::fs::create_dir_all(folder).with_context(|| format!("cannot write to {}", folder.display()))?;
    let mut names = BTreeSet::new();
    for (name, _) in &drawings {
        let path = folder.join(name);
        ensure!(
            names.insert(name),
            "{} would be the chart of two result files; give each once, and rename one if they are two",
            path.display()
        );
        files::check_apart(&outputs(args, Some(&path)), &args.results)?;
        drop(Pending::text(&path, "")?);
    }
    for (name, text) in &drawings {
        Pending::text(&folder.join(name), text)?.finish()?;
    }
    Ok(())
}

fn is_wanted(args: &ReportArgs, row: &Row) -> bool {
    let primitive = args.primitive.is_empty() || args.primitive.iter().any(|primitive| primitive.name == row.primitive);
    let scalar = args.types.is_empty() || args.types.iter().any(|scalar| scalar.name() == row.scalar);
    let algorithm = args.algorithm.is_empty()
        || row.primitive == "copy"
        || row.is_of_another_program()
        || args.algorithm.contains(&row.algorithm.as_str());
    let is_called = |word: &String| trifold::discover::is_named(word, [&row.backend, &row.device, &row.api]);
    primitive && scalar && algorithm && (args.device.is_empty() || args.device.iter().any(is_called))
}

/// The page of rows that were just measured.
pub fn page(rows: &[Row]) -> Result<String> {
    page::render(&[Run::new("This run", rows.to_vec())])
}
