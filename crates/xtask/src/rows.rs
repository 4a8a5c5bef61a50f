//! What `trifold compare --json` must hold.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use trifold_core::Form;

/// Reads the rows, and says how many there are of which backends.
///
/// # Errors
/// If a row is not verified, or one of the `backends` lacks a verified row of a primitive.
pub fn check(file: &Path, backends: &[&str]) -> Result<String> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let rows: Vec<Value> = serde_json::from_str(&text).with_context(|| file.display().to_string())?;
    check_rows(&rows, backends)
}

fn check_rows(rows: &[Value], backends: &[&str]) -> Result<String> {
    let field = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let mut found = BTreeSet::new();
    for row in rows {
        ensure!(row["verified"].as_bool() == Some(true), "a row is not verified: {row}");
        for number in ["n", "median_ms", "gelem_s", "gb_s"] {
            ensure!(row[number].as_f64().is_some_and(|number| number > 0.0), "a row has no {number}: {row}");
        }
        for text in ["device", "algorithm", "type"] {
            ensure!(!field(row, text).is_empty(), "a row has no {text}: {row}");
        }
        found.insert((field(row, "backend"), field(row, "primitive")));
    }
    for &backend in backends {
        for primitive in Form::all().map(|form| form.name) {
            let pair = (backend.to_owned(), primitive.to_owned());
            ensure!(found.contains(&pair), "no verified row of {primitive} on {backend}");
        }
    }
    let of: BTreeSet<_> = found.into_iter().map(|(backend, _)| backend).collect();
    Ok(format!("{} verified rows of {}", rows.len(), of.into_iter().collect::<Vec<_>>().join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rows() -> Vec<Value> {
        let row = |primitive| {
            json!({
                "backend": "cpu", "device": "d", "primitive": primitive, "algorithm": "a", "type": "u32", "n": 4096,
                "median_ms": 0.5, "gelem_s": 1.0, "gb_s": 4.0, "verified": true,
            })
        };
        Form::all().map(|form| row(form.name)).collect()
    }

    #[test]
    fn all_primitives_must_be_there_and_verified() {
        let mut rows = rows();
        assert_eq!(check_rows(&rows, &["cpu"]).unwrap(), format!("{} verified rows of cpu", Form::all().count()));
        assert!(check_rows(&rows, &["cpu", "wgpu"]).unwrap_err().to_string().contains("copy on wgpu"));
        assert!(check_rows(&rows[1..], &["cpu"]).is_err());
        rows[2]["verified"] = Value::Null;
        assert!(check_rows(&rows, &["cpu"]).unwrap_err().to_string().contains("not verified"));
        rows[2]["verified"] = json!(true);
        rows[3]["median_ms"] = Value::Null;
        assert!(check_rows(&rows, &["cpu"]).unwrap_err().to_string().contains("median_ms"));
    }
}
