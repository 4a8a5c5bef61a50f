//! Tables of tuning numbers, as files: the one that ships, and those that `trifold tune` writes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Limits, Tuning};
use crate::{Caps, DeviceKind, Error, Language, Result, renamed};

/// The version of the format, which a table begins with.
const VERSION: u32 = 1;

/// The file that ships.
const SHIPPED: &str = include_str!("shipped.toml");

/// Rows of tuning numbers, each for some devices. A later row's numbers go over an earlier one's.
///
/// As a file it is TOML:
///
/// ```toml
/// trifold_tuning = 1
///
/// [[device]]
/// language = "cuda"
/// name = "NVIDIA H200"
/// numbers = { sort_workgroup = 512, sort_keys = 20 }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TuningTable {
    trifold_tuning: u32,
    #[serde(rename = "device")]
    rows: Vec<TuningRow>,
}

/// Numbers for the devices that all of its conditions hold for. Devices that are the host's processor are never meant by a
/// row without a name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TuningRow {
    /// The kernels' language: wgsl, opencl or cuda.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// What the device's name contains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the API's name contains: a device may be there through several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api: Option<String>,
    /// What the driver's name contains: a vendor's devices have names of many kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// The narrowest subgroup that the device may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subgroup: Option<u32>,
    /// By the names of [`Tuning`]'s fields.
    pub numbers: BTreeMap<String, u32>,
}

impl TuningTable {
    /// A table of these rows.
    pub fn new(rows: Vec<TuningRow>) -> TuningTable {
        TuningTable { trifold_tuning: VERSION, rows }
    }

    /// The table that ships.
    pub(super) fn shipped() -> &'static TuningTable {
        static TABLE: std::sync::LazyLock<TuningTable> = std::sync::LazyLock::new(|| {
            TuningTable::parse(SHIPPED).unwrap_or_else(|error| {
                // A test parses it.
                tracing::error!(%error, "the shipped tuning table");
                TuningTable::new(vec![])
            })
        });
        &TABLE
    }

    /// Reads a table.
    ///
    /// # Errors
    /// [`Error::Invalid`], with the line, if it is no such table, of another version, or has a number that there is not.
    pub fn parse(text: &str) -> Result<TuningTable> {
        let mut table: TuningTable =
            toml::from_str(text).map_err(|error| Error::Invalid(format!("no tuning table: {error}")))?;
        for row in &mut table.rows {
            row.numbers = std::mem::take(&mut row.numbers).into_iter().map(|(name, n)| (renamed(&name), n)).collect();
        }
        if table.trifold_tuning != VERSION {
            return Err(Error::Invalid(format!(
                "a tuning table of version {}; this program reads version {VERSION}: run `trifold tune` anew",
                table.trifold_tuning
            )));
        }
        for (i, row) in table.rows.iter().enumerate() {
            let wrong = |why: String| Error::Invalid(format!("row {} of a tuning table: {why}", i + 1));
            if let Some(language) = row.language.as_deref().filter(|l| !LANGUAGES.iter().any(|(name, _)| name == l)) {
                let names = LANGUAGES.map(|(name, _)| name).join(", ");
                return Err(wrong(format!("no language `{language}`; there are {names}")));
            }
            let mut scratch = Tuning::by(&Limits::USUAL);
            for (name, value) in &row.numbers {
                scratch.set(name, *value).map_err(|error| wrong(error.to_string()))?;
            }
        }
        Ok(table)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the file's name, if it cannot be read, and as [`TuningTable::parse`].
    pub fn read(path: &Path) -> Result<TuningTable> {
        let remedy = "name a table that `trifold tune` wrote";
        let named = |why: String| Error::Invalid(format!("{}: {why}; {remedy}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| named(format!("cannot be read: {error}")))?;
        TuningTable::parse(&text).map_err(|error| match error {
            Error::Invalid(why) => named(why),
            other => other,
        })
    }

    /// Reads the file that `TRIFOLD_TUNING` names, if it names one: the table and its path.
    ///
    /// # Errors
    /// As [`TuningTable::read`].
    pub fn from_env() -> Result<Option<(TuningTable, PathBuf)>> {
        let path = std::env::var_os("TRIFOLD_TUNING").filter(|path| !path.is_empty()).map(PathBuf::from);
        path.map(|path| Ok((TuningTable::read(&path)?, path))).transpose()
    }

    /// The table as a file's text.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it cannot be written as TOML.
    pub fn text(&self) -> Result<String> {
        toml::to_string(self).map_err(|error| Error::Invalid(format!("a tuning table: {error}")))
    }

    /// Whether it has numbers for this device.
    pub fn is_for(&self, caps: &Caps) -> bool {
        self.rows.iter().any(|row| row.is_for(caps))
    }

    /// Whether the table may have numbers for a device of this name, as far as can be told before the device is open.
    /// Its subgroups and its driver are not known then. `api` is `None` where the version of its API is not known
    /// either.
    pub fn may_be_for(&self, language: Language, device: &str, api: Option<&str>, kind: DeviceKind) -> bool {
        self.rows.iter().any(|row| row.names(language, device, api, kind))
    }

    /// Puts the numbers that are for this device into a tuning.
    pub fn apply(&self, caps: &Caps, tuning: &mut Tuning) {
        for row in self.rows.iter().filter(|row| row.is_for(caps)) {
            for (name, value) in &row.numbers {
                if let Err(error) = tuning.set(name, *value) {
                    tracing::warn!(%error, "a number of a tuning table");
                }
            }
        }
    }
}

const LANGUAGES: [(&str, Language); 3] =
    [("wgsl", Language::Wgsl), ("opencl", Language::OpenClC), ("cuda", Language::CudaC)];

impl TuningRow {
    /// A row for this device alone, by its name and language.
    pub fn for_device(caps: &Caps, numbers: BTreeMap<String, u32>) -> TuningRow {
        let language = LANGUAGES.iter().find(|(_, language)| *language == caps.language);
        TuningRow {
            language: language.map(|(name, _)| (*name).into()),
            name: Some(caps.device.clone()),
            // The others' have versions in them.
            api: (caps.language == Language::Wgsl).then(|| caps.api.clone()),
            driver: None,
            subgroup: None,
            numbers,
        }
    }

    fn is_for(&self, caps: &Caps) -> bool {
        self.names(caps.language, &caps.device, Some(&caps.api), caps.kind)
            && self.driver.as_ref().is_none_or(|part| caps.driver.contains(part.as_str()))
            && self.subgroup.is_none_or(|width| caps.subgroups.is_some_and(|s| s.min == width))
    }

    fn names(&self, language: Language, device: &str, api: Option<&str>, kind: DeviceKind) -> bool {
        self.language.as_ref().is_none_or(|name| LANGUAGES.contains(&(name, language)))
            && self.name.as_ref().map_or(kind != DeviceKind::Cpu, |name| is_named(device, name))
            && self.api.as_ref().zip(api).is_none_or(|(part, api)| api.contains(part.as_str()))
    }
}

/// Whether a device's name has another as whole words in it: `A10` names no `A100`.
fn is_named(device: &str, name: &str) -> bool {
    let is_edge = |side: Option<char>| side.is_none_or(|c| !c.is_alphanumeric());
    device
        .match_indices(name)
        .any(|(at, _)| is_edge(device[..at].chars().next_back()) && is_edge(device[at + name.len()..].chars().next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_by_whole_words() {
        assert!(is_named("NVIDIA A10", "A10") && is_named("NVIDIA H200 NVL", "H200"));
        assert!(is_named("llvmpipe (LLVM 15.0.6, 256 bits)", "llvmpipe (LLVM 15.0.6, 256 bits)"));
        assert!(!is_named("NVIDIA A100", "A10") && !is_named("NVIDIA A100", "NVIDIA A10"));
    }

    #[test]
    fn what_is_not_known_yet_may_be() {
        let table = |conditions: &str| {
            TuningTable::parse(&format!("trifold_tuning = 1\n[[device]]\n{conditions}\nnumbers = {{}}")).unwrap()
        };
        let may =
            |table: &TuningTable, api| table.may_be_for(Language::CudaC, "Tesla T4", api, DeviceKind::DiscreteGpu);
        let versioned = table("api = \"CUDA 13.0\"");
        assert!(may(&versioned, None) && may(&versioned, Some("CUDA 13.0 sm_75")) && !may(&versioned, Some("Vulkan")));
        assert!(may(&table("driver = \"NVIDIA\"\nsubgroup = 32"), None));
        assert!(!may(&table("name = \"NVIDIA\""), None) && !may(&table("language = \"wgsl\""), None));
    }

    #[test]
    fn the_shipped_table_is_one() {
        let table = TuningTable::parse(SHIPPED).unwrap();
        assert!(!table.rows.is_empty());
        assert_eq!(TuningTable::parse(&table.text().unwrap()).unwrap(), table);
    }

    #[test]
    fn a_file_is_named_in_its_error() {
        let missing = TuningTable::read(Path::new("/nowhere/t.toml")).unwrap_err().to_string();
        assert!(missing.contains("/nowhere/t.toml") && missing.contains("trifold tune"), "{missing}");
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let refused = |text: &str| TuningTable::parse(text).unwrap_err().to_string();
        assert!(refused("").contains("trifold_tuning"), "{}", refused(""));
        assert!(refused("[package]\nname = \"x\"").contains("no tuning table"));
        assert!(refused("trifold_tuning = 2\ndevice = []").contains("version 2"));
        let row = |rest: &str| refused(&format!("trifold_tuning = 1\n[[device]]\n{rest}"));
        assert!(row("numbers = { sort_kyes = 3 }").contains("sort_kyes"));
        assert!(row("numbers = { sort_keys = 0 }").contains("at least 1"));
        assert!(row("numbers = { sort_keys = -1 }").contains("line 3"));
        assert!(row("language = \"metal\"\nnumbers = {}").contains("wgsl, opencl, cuda"));
        assert!(row("nombre = \"x\"\nnumbers = {}").contains("nombre"));
    }
}
