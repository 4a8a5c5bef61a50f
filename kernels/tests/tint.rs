//! The WGSL texts through Tint, Chromium's compiler. It refuses what naga lets pass: barriers that not all invocations reach, for one.
//! `TRIFOLD_TINT` says which texts. It is `all`, or the seed of a sample. Without it the seed is 0.

mod browser;
mod tiers;

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use trifold_conformance::{describe, skip};
use trifold_core::{Caps, KernelKey};
use trifold_kernels::assemble;

use browser::Verdict;

/// Texts of a sample.
const SAMPLE: usize = 400;

/// What browsers want before a text, and naga does not know. Which invocations of a subgroup run together follows from values that Tint
/// cannot follow: a lane's place, a subgroup's number.
const BEFORE: &str = "enable subgroups;\ndiagnostic(off, subgroup_uniformity);\n";

/// What WebGPU has not, by a word of the text.
const LACKING: [(&str, &[&str]); 4] = [
    ("64-bit integers", &["u64", "i64"]),
    ("64-bit floats", &["f64"]),
    ("coherent memory", &["coherent"]),
    ("barriers of subgroups", &["subgroupBarrier"]),
];

fn lacking(text: &str) -> Option<&'static str> {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let words: HashSet<&str> = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_')).collect();
    LACKING.iter().find(|(_, of)| of.iter().any(|word| words.contains(word))).map(|(what, _)| *what)
}

/// Devices: those of the other tests, and each as a browser shows it.
fn devices() -> Vec<(String, Caps)> {
    let in_browser = |caps: &Caps| {
        caps.clone().with(|caps| {
            caps.int64 = false;
            caps.float64 = false;
            caps.atomics64 = false;
            caps.coherent = false;
            caps.subgroup_barrier = false;
        })
    };
    let own = tiers::tiers();
    let shown = own.iter().map(|(name, caps)| (format!("{name} in a browser"), in_browser(caps)));
    own.iter().map(|(name, caps)| (name.to_string(), caps.clone())).chain(shown).collect()
}

/// In an order that the seed gives: first a text of each kernel of the same blocks that browsers can have, then the others.
fn shuffled<'a>(devices: &'a [(String, Caps)], seed: &str) -> Vec<(&'a str, &'a Caps, KernelKey)> {
    let mut keys: Vec<_> = devices
        .iter()
        .flat_map(|(name, caps)| tiers::keys(caps).into_iter().map(move |key| (name.as_str(), caps, key)))
        .collect();
    let place = |(device, _, key): &(&str, &Caps, KernelKey)| {
        let mut hasher = DefaultHasher::new();
        (seed, device, key).hash(&mut hasher);
        hasher.finish()
    };
    keys.sort_by_cached_key(place);
    let mut seen = HashSet::new();
    let (mut first, others): (Vec<_>, Vec<_>) =
        keys.into_iter().partition(|(_, caps, key)| !caps.int64 && seen.insert((key.name(), key.parts.clone())));
    first.extend(others);
    first
}

#[test]
fn tint_compiles_the_texts() {
    let Some(browser) = trifold_conformance::chromium_or_skip() else { return };
    let which = std::env::var("TRIFOLD_TINT").unwrap_or_else(|_| "0".into());
    let most = if which == "all" { usize::MAX } else { SAMPLE };
    let (mut seen, mut left_out, mut names) = (HashSet::new(), BTreeMap::<_, u32>::new(), vec![]);
    // That refusals are seen: a shift beside an `and` wants parentheses.
    let mut texts = vec!["const wrong = 6u >> 1u & 1u;".to_string()];
    let devices = devices();
    for (device, caps, key) in shuffled(&devices, &which) {
        if names.len() >= most {
            break;
        }
        let text = assemble(&key, caps).unwrap().source;
        if !seen.insert(text.clone()) {
            continue;
        }
        if let Some(what) = lacking(&text) {
            *left_out.entry(what).or_default() += 1;
            continue;
        }
        names.push(format!("{} on {device}", describe(&key)));
        texts.push(format!("{BEFORE}{text}"));
    }
    let refused = match browser::compile(&browser, &texts) {
        Verdict::Lacking(what) => return skip("chromium", format!("{}'s WebGPU has {what}", browser.display())),
        Verdict::Refused(refused) => refused,
    };
    let (wrong, refused): (Vec<_>, Vec<_>) = refused.into_iter().partition(|(place, _)| *place == 0);
    assert!(wrong.len() == 1 && wrong[0].1.contains("mixing '>>' and '&'"), "{wrong:?}");
    eprintln!("tint: {} texts of TRIFOLD_TINT={which}; left out for what WebGPU has not: {left_out:?}", names.len());
    for (place, why) in &refused {
        eprintln!("{}: {why}", names[place - 1]);
    }
    assert!(refused.is_empty(), "Tint refuses {} of {} texts", refused.len(), names.len());
}
