//! What passed in an earlier run, by the files that its `--json` wrote.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;
use trifold::backend::Caps;

pub struct Earlier(HashSet<Ran>);

/// A case on a device.
#[derive(PartialEq, Eq, Hash, Deserialize)]
struct Ran {
    backend: String,
    device: String,
    api: String,
    case: String,
}

#[derive(Deserialize)]
struct Row {
    #[serde(flatten)]
    ran: Ran,
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
            passed.extend(rows.into_iter().filter(|row| row.outcome == "passed").map(|row| row.ran));
        }
        Ok(Earlier(passed))
    }

    pub fn has(&self, caps: &Caps, case: &str) -> bool {
        !self.0.is_empty()
            && self.0.contains(&Ran {
                backend: caps.backend.into(),
                device: caps.device.clone(),
                api: caps.api.clone(),
                case: case.into(),
            })
    }
}
