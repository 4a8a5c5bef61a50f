//! The assembled texts of a kernel in columns, one a language, for `cargo xtask kernels diff`: a kernel, a block or an algorithm, then the
//! sections that are shown. All others are folded to a line each. The devices are an NVIDIA GPU as each API shows it.

#[expect(dead_code, reason = "tests have more of it")]
#[path = "../tests/tiers/mod.rs"]
mod tiers;

use std::collections::HashSet;
use std::process::ExitCode;

use trifold_conformance::{Breadth, kernels, kernels_by};
use trifold_core::{Builtin, Caps, Element, KernelKey, Language, SubgroupSource, Subgroups};
use trifold_kernels::assemble;

const BETWEEN: &str = " | ";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let width = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).unwrap_or(200);
    match diff(&name, &arguments.collect::<Vec<_>>(), width) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A text's section and its lines.
type Section = (String, Vec<String>);

/// The columns of each kernel that has this name or this block, or that this algorithm launches.
fn diff(name: &str, shown: &[String], width: usize) -> Result<String, String> {
    let devices = [Language::Wgsl, Language::OpenClC, Language::CudaC].map(device);
    let keys = devices.each_ref().map(|caps| found(name, caps));
    let (mut out, mut known, mut done) = (String::new(), HashSet::new(), HashSet::new());
    for kernel in keys.iter().flatten().map(|key| key.name()).filter(|name| done.insert(*name)) {
        let own = |keys: &Vec<KernelKey>| keys.iter().find(|key| key.name() == kernel).cloned();
        let own = devices.iter().zip(&keys).filter_map(|(caps, keys)| Some((caps, own(keys)?)));
        let columns = own.map(|(caps, key)| sections(&key, caps)).collect::<Result<Vec<_>, _>>()?;
        known.extend(columns.iter().flatten().map(|(section, _)| section.clone()));
        out.push_str(&side_by_side(&columns, &|section| section == name || shown.iter().any(|s| s == section), width));
    }
    match shown.iter().find(|section| !known.contains(*section)) {
        _ if known.is_empty() => {
            Err(format!("no kernel, block or algorithm `{name}`; `cargo xtask kernels list` has the texts"))
        }
        Some(unknown) => Err(format!("{name} has no section `{unknown}`")),
        None => Ok(out),
    }
}

/// The kernels to show: of a sum of u32 where there is the choice.
fn found(name: &str, caps: &Caps) -> Vec<KernelKey> {
    let keys = kernels(caps, Breadth::Some);
    let has = |key: &&KernelKey| key.name() == name || key.parts.contains(&name);
    let is_plain = |key: &&KernelKey| {
        key.op.as_ref().is_none_or(|op| op.builtin == Some(Builtin::Sum) && *op.element() == u32::TYPE)
    };
    let plain = keys.iter().filter(has).find(is_plain).or_else(|| keys.iter().find(has));
    plain.map_or_else(|| kernels_by(name, caps), |key| vec![key.clone()])
}

fn sections(key: &KernelKey, caps: &Caps) -> Result<Vec<Section>, String> {
    let assembled = assemble(key, caps).map_err(|error| error.to_string())?;
    let ends = assembled.sections.iter().skip(1).map(|(_, begin)| *begin).chain([assembled.source.len()]);
    let lines = |text: &str| text.trim().lines().map(str::to_owned).collect();
    let sections = assembled.sections.iter().zip(ends);
    Ok(sections.map(|((name, begin), end)| (name.to_string(), lines(&assembled.source[*begin..end]))).collect())
}

/// The columns, together `width` wide. A section starts in one row in all that have it, and so do its numbered steps.
fn side_by_side(columns: &[Vec<Section>], is_shown: &dyn Fn(&str) -> bool, width: usize) -> String {
    let column = ((width + BETWEEN.len()) / columns.len()).saturating_sub(BETWEEN.len()).max(16);
    let mut out = String::new();
    for name in merged(columns) {
        let of_section = |sections: &Vec<Section>| match sections.iter().find(|(section, _)| section == name) {
            Some((_, lines)) if is_shown(name) => parts(lines, column),
            Some((_, lines)) => vec![wrapped(&format!("▸ {name} ({} lines)", lines.len()), column)],
            None => vec![],
        };
        let columns: Vec<_> = columns.iter().map(of_section).collect();
        for step in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
            let parts: Vec<&[String]> =
                columns.iter().map(|parts| parts.get(step).map_or(&[][..], Vec::as_slice)).collect();
            for line in 0..parts.iter().map(|part| part.len()).max().unwrap_or(0) {
                let cells: Vec<_> = parts.iter().map(|part| part.get(line).map_or("", String::as_str)).collect();
                let cells = cells.iter().map(|cell| format!("{cell:column$}")).collect::<Vec<_>>().join(BETWEEN);
                out.push_str(cells.trim_end());
                out.push('\n');
            }
        }
    }
    out
}

/// The sections' names, those of one column alone behind what they follow there.
fn merged(columns: &[Vec<Section>]) -> Vec<&str> {
    let mut names: Vec<&str> = vec![];
    for sections in columns {
        let mut at = 0;
        for (name, _) in sections {
            at = match names.iter().position(|other| other == name) {
                Some(place) => place + 1,
                None => {
                    names.insert(at, name);
                    at + 1
                }
            };
        }
    }
    names
}

/// A text cut before each of its numbered steps, and its lines cut to the column.
fn parts(lines: &[String], column: usize) -> Vec<Vec<String>> {
    let mut parts = vec![vec![]];
    for line in lines {
        if is_step(line) {
            parts.push(vec![]);
        }
        // There is at least the part before the first step.
        if let Some(part) = parts.last_mut() {
            part.extend(wrapped(line, column));
        }
    }
    parts
}

/// Whether a line is a comment such as `// 1. Load the tile.`
fn is_step(line: &str) -> bool {
    let Some(comment) = line.trim_start().strip_prefix("// ") else { return false };
    let after = comment.trim_start_matches(|c: char| c.is_ascii_digit());
    after.len() < comment.len() && after.starts_with(". ")
}

/// A line in pieces no wider than the column: broken at spaces where there are any, what follows indented under it.
fn wrapped(line: &str, column: usize) -> Vec<String> {
    let indent = line.len() - line.trim_start().len();
    let under = " ".repeat((indent + 4).min(column / 2));
    let (mut pieces, mut rest) = (vec![], line.to_owned());
    while rest.chars().count() > column {
        let at = rest.char_indices().nth(column).map_or(rest.len(), |(at, _)| at);
        let start = rest.len() - rest.trim_start().len();
        let space = rest[..at].rfind(' ').filter(|&space| space > start);
        let tail = rest.split_off(space.unwrap_or(at));
        pieces.push(std::mem::replace(&mut rest, format!("{under}{}", tail.trim_start())));
    }
    pieces.push(rest);
    pieces
}

/// One GPU by three APIs.
fn device(language: Language) -> Caps {
    let [(_, wgpu), ..] = tiers::tiers();
    let source = if language == Language::OpenClC { SubgroupSource::InlinePtx } else { SubgroupSource::Native };
    let subgroups = Some(Subgroups { min: 32, max: 32, source });
    let bulk_shared_bytes = if language == Language::CudaC { 99 << 10 } else { 0 };
    wgpu.with(|caps| {
        caps.language = language;
        caps.subgroups = subgroups;
        caps.bulk_shared_bytes = bulk_shared_bytes;
        caps.atomics128 = language != Language::Wgsl;
        caps.coherent = language == Language::Wgsl;
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_folded_and_the_kernel_is_shown() {
        let text = diff("scan/tile_subgroup", &[], 240).unwrap();
        let folded: Vec<_> = text.lines().filter(|line| line.contains("▸ element/load (")).collect();
        assert_eq!(folded.len(), 1, "in one row:\n{text}");
        assert_eq!(folded[0].matches("▸ element/load (").count(), 3);
        assert!(!text.contains("fn load_pack"));
        let step = text.lines().find(|line| line.contains("// 2. Load the tile")).unwrap();
        assert_eq!(step.matches("// 2. Load the tile").count(), 3);
        assert!(diff("scan/tile_subgroup", &["element/load".into()], 240).unwrap().contains("fn load_pack"));
    }

    #[test]
    fn a_block_and_an_algorithm_are_found() {
        let block = diff("chain/lookback", &[], 200).unwrap();
        assert!(block.contains("fn lookback(") && !block.contains("▸ chain/lookback ("), "{block}");
        let hybrid = diff("sort_keys/hybrid", &[], 200).unwrap();
        for kernel in ["sort/digit_counts", "sort/onesweep", "sort/one_workgroup"] {
            assert_eq!(hybrid.matches(&format!("▸ {kernel} (")).count(), 3, "{hybrid}");
        }
        let ahead = diff("scan/lookahead", &[], 200).unwrap();
        assert!(!ahead.contains(BETWEEN), "one column");
    }

    #[test]
    fn what_is_unknown_is_an_error() {
        assert!(diff("scan/nothing", &[], 200).unwrap_err().contains("`scan/nothing`"));
        assert!(
            diff("copy/copy", &["chain/lookback".into()], 200).unwrap_err().contains("no section `chain/lookback`")
        );
    }

    #[test]
    fn long_lines_go_on_below() {
        assert_eq!(wrapped("  let x = 1 + 2 + 3;", 12), ["  let x = 1", "      + 2 +", "      3;"]);
        assert_eq!(wrapped("xxxxxxxxxxxxxxxxxxxx", 16), ["xxxxxxxxxxxxxxxx", "    xxxx"]);
        assert_eq!(wrapped("", 16), [""]);
    }
}
