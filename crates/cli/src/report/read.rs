//! Result files, as `trifold compare --json` and `trifold experiment --json` write them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::error::Category;

use super::style::Api;
use crate::compare::Row;

/// The rows of one result file.
pub struct Run {
    /// What the page calls it.
    pub label: String,
    pub rows: Vec<Row>,
    /// The file's copies, whichever rows are shown: what bounds the others.
    pub copies: Vec<Row>,
    devices: BTreeMap<Api, BTreeSet<String>>,
}

impl Run {
    pub fn new(label: &str, rows: Vec<Row>) -> Run {
        let mut devices = BTreeMap::<Api, BTreeSet<String>>::new();
        for row in &rows {
            devices.entry(Api::of(&row.backend, &row.api)).or_default().insert(row.device.clone());
        }
        let copies = rows.iter().filter(|row| row.primitive == "copy").cloned().collect();
        Run { label: label.into(), rows, copies, devices }
    }

    /// Leaves out the other rows.
    pub fn keep(&mut self, is_wanted: impl Fn(&Row) -> bool) {
        let copies = std::mem::take(&mut self.copies);
        self.rows.retain(is_wanted);
        *self = Run { copies, ..Run::new(&self.label, std::mem::take(&mut self.rows)) };
    }

    /// A device's place among those that its API has in this run; none if it is alone.
    pub fn place(&self, api: &Api, device: &str) -> Option<usize> {
        let devices = self.devices.get(api).filter(|devices| devices.len() > 1)?;
        devices.iter().position(|other| other == device)
    }
}

/// Reads every file; one that cannot be used is an error.
pub fn runs(paths: &[PathBuf]) -> Result<Vec<Run>> {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let run = |path: &PathBuf| -> Result<Run> {
        // Files of one name, from several folders, are told apart by their paths.
        let is_unique = paths.iter().filter(|other| name(other) == name(path)).count() == 1;
        let label = name(path).filter(|_| is_unique).unwrap_or_else(|| path.display().to_string());
        Ok(Run::new(&label, rows(path)?))
    };
    paths.iter().map(run).collect()
}

fn rows(path: &Path) -> Result<Vec<Row>> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut rows: Vec<Row> = match serde_json::from_slice(&bytes) {
        Ok(rows) => rows,
        Err(error) => {
            let text = error.to_string();
            // The line stands in front, as compilers write it.
            let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
            let advice = match error.classify() {
                Category::Eof => "; the file is truncated: measure or copy it again",
                Category::Data if what.starts_with("unknown field") => {
                    "; a newer trifold wrote the file, or it is no file of `trifold compare --json`"
                }
                Category::Data | Category::Syntax if !what.contains("trifold") => {
                    "; it must be a file that `trifold compare --json` wrote"
                }
                _ => "",
            };
            bail!("{}, line {}: {what}{advice}", path.display(), error.line());
        }
    };
    for row in &mut rows {
        row.algorithm = trifold::tuning::renamed(&row.algorithm);
        let now = |numbers: &String| numbers.split(',').map(trifold::tuning::renamed).collect::<Vec<_>>().join(",");
        row.tuning = row.tuning.as_ref().map(now);
    }
    ensure!(!rows.is_empty(), "{}, line 1: the file has no rows; measure some by `trifold compare`", path.display());
    Ok(rows)
}
