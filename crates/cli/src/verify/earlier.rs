//! What passed in an earlier run, by the files that its `--json` wrote.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;
use trifold::backend::Caps;

#[derive(Default)]
pub struct Earlier(HashSet<Passed>);

#[derive(PartialEq, Eq, Hash)]
struct Passed {
    backend: String,
    device: String,
    api: String,
    case: String,
}

#[derive(Deserialize)]
struct Row {
    backend: String,
    device: String,
    api: String,
    case: String,
    outcome: String,
}

impl Earlier {
    pub fn read(files: &[PathBuf]) -> Result<Earlier> {
        let mut passed = HashSet::new();
        for file in files {
            let name = file.display();
            let text = fs::read_to_string(file).with_context(|| format!("--resume {name} cannot be read"))?;
            let rows: Vec<Row> = serde_json::from_str(&text)
                .with_context(|| format!("--resume {name} is not what `trifold verify --json` writes"))?;
            let rows = rows.into_iter().filter(|row| row.outcome == "passed");
            passed.extend(rows.map(|Row { backend, device, api, case, .. }| Passed { backend, device, api, case }));
        }
        Ok(Earlier(passed))
    }

    pub fn has(&self, caps: &Caps, case: &str) -> bool {
        !self.0.is_empty()
            && self.0.contains(&Passed {
                backend: caps.backend.into(),
                device: caps.device.clone(),
                api: caps.api.clone(),
                case: case.into(),
            })
    }
}
