//! What a registry shows of each package.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The packages that are published.
fn published() -> Vec<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut metadata = Command::new(cargo);
    metadata.args(["metadata", "--format-version", "1", "--no-deps", "--offline"]);
    let output = metadata.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let packages = metadata["packages"].as_array().expect("packages").iter().cloned();
    packages.filter(|package| package["publish"].is_null()).collect()
}

#[test]
fn packages_say_what_they_are() {
    let packages = published();
    for package in &packages {
        let name = package["name"].as_str().unwrap_or_default();
        for field in ["description", "license", "repository", "documentation", "readme", "rust_version"] {
            assert!(package[field].is_string(), "{name} has no {field}");
        }
        for (field, most) in [("keywords", 5), ("categories", 5)] {
            let number = package[field].as_array().map_or(0, Vec::len);
            assert!((1..=most).contains(&number), "{name} has {number} {field}");
        }
        assert_eq!(package["documentation"], format!("https://docs.rs/{name}"), "{name}");
        assert!(package["metadata"]["docs"]["rs"].is_object(), "{name} says nothing to docs.rs");
        let folder = Path::new(package["manifest_path"].as_str().unwrap_or_default()).parent().expect("a folder");
        for file in [package["readme"].as_str().unwrap_or_default(), "LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(folder.join(file).is_file(), "{name} has no {file}");
        }
    }
    let names: Vec<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    for name in ["trifold", "trifold-core", "trifold-kernels", "trifold-cli"] {
        assert!(names.contains(&name), "{name} is not published, only {names:?}");
    }
    assert!(!names.contains(&"xtask"));
}
