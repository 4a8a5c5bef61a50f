//! Every kernel that the planner can ask a wgpu device for, on each tier of devices. Naga parses and validates its text with no more
//! than the tier has. Its bindings and parameters are the catalogue's. No device is needed.

mod tiers;

use std::collections::{HashMap, HashSet};

use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Module, TypeInner};
use tiers::{keys, tiers};
use trifold_conformance::{Breadth, check_each, describe, kernels};
use trifold_core::{Caps, KernelKey, Language, Param, Values};
use trifold_kernels::{Assembled, assemble, catalogue, texts};

/// What naga may let a device's kernels use: what wgpu grants for the features behind the caps.
fn capabilities(caps: &Caps) -> Capabilities {
    let mut allowed = Capabilities::empty();
    allowed.set(Capabilities::SUBGROUP, caps.subgroups.is_some());
    allowed.set(Capabilities::SHADER_INT64, caps.int64);
    allowed.set(Capabilities::FLOAT64, caps.float64);
    allowed.set(Capabilities::MEMORY_DECORATION_COHERENT, caps.coherent);
    allowed.set(Capabilities::SUBGROUP_BARRIER, caps.subgroup_barrier);
    let atomics64 = Capabilities::SHADER_INT64_ATOMIC_MIN_MAX | Capabilities::SHADER_INT64_ATOMIC_ALL_OPS;
    allowed.set(atomics64, caps.atomics64);
    allowed
}

/// A kernel's text, and what naga makes of it.
struct Checked {
    assembled: Assembled,
    module: Module,
    info: ModuleInfo,
}

/// Assembles, parses and validates; the error has naga's diagnostic.
fn check(key: &KernelKey, caps: &Caps) -> Result<Checked, String> {
    let assembled = assemble(key, caps).map_err(|error| error.to_string())?;
    let source = &assembled.source;
    let module = naga::front::wgsl::parse_str(source).map_err(|error| error.emit_to_string(source))?;
    let mut validator = Validator::new(ValidationFlags::all(), capabilities(caps));
    let info = validator.validate(&module).map_err(|error| error.emit_to_string(source))?;
    Ok(Checked { assembled, module, info })
}

/// What is wrong with the kernel's interface, if anything: bindings, workgroup, parameters.
fn interface(key: &KernelKey, checked: &Checked) -> Result<(), String> {
    let Checked { assembled, module, info } = checked;
    let [entry] = &module.entry_points[..] else { return Err("it has not just one entry point".into()) };
    if entry.name != assembled.entry_point || entry.workgroup_size != [assembled.workgroup, 1, 1] {
        return Err(format!("its entry point is {} of {:?}", entry.name, entry.workgroup_size));
    }
    // A pack may end past its memory.
    if let Some(line) = assembled.source.lines().find(|line| line.contains("_at(place + ")) {
        return Err(format!("a pack's lanes are loaded past the end: {line}"));
    }
    let used = info.get_entry_point(0);
    let mut found: HashMap<u32, &str> = HashMap::new();
    for (handle, variable) in module.global_variables.iter() {
        let Some(binding) = &variable.binding else { continue };
        let name = variable.name.as_deref().unwrap_or_default();
        if binding.group != 0 || found.insert(binding.binding, name).is_some() {
            return Err(format!("{name} has group {} and binding {}", binding.group, binding.binding));
        }
        if used[handle].is_empty() {
            return Err(format!("{name} is bound and not used"));
        }
        let arguments = assembled.arguments.iter().map(|argument| argument.name);
        let place = arguments.chain(["params"]).position(|argument| argument == name);
        if place != Some(binding.binding as usize) {
            return Err(format!("{name} has binding {}, and is number {place:?} of the catalogue", binding.binding));
        }
        let storage = matches!(variable.space, AddressSpace::Storage { .. });
        if name == "params" {
            parameters(key, assembled, module, variable.ty)?
        } else if !storage {
            return Err(format!("{name} is no storage buffer"));
        }
    }
    let missing = |(place, argument): &(usize, &trifold_core::Argument)| {
        !argument.optional && !found.contains_key(&(*place as u32))
    };
    match assembled.arguments.iter().enumerate().find(missing) {
        Some((_, argument)) => Err(format!("it does not have {}", argument.name)),
        None if !found.contains_key(&(assembled.arguments.len() as u32)) => Err("it has no params".into()),
        None => Ok(()),
    }
}

/// Whether `Params` lies in memory as the host packs it.
fn parameters(
    key: &KernelKey,
    assembled: &Assembled,
    module: &Module,
    ty: naga::Handle<naga::Type>,
) -> Result<(), String> {
    let TypeInner::Struct { members, span } = &module.types[ty].inner else { return Err("params is no struct".into()) };
    if span.next_multiple_of(16) != assembled.params.bytes() {
        return Err(format!("Params has {span} bytes, and its layout {}", assembled.params.bytes()));
    }
    let entry = catalogue().find(|entry| entry.entry_point == assembled.entry_point);
    let entry = entry.ok_or("it is not in the catalogue")?;
    let initial =
        members.first().filter(|_| entry.initial).map(|first| module.types[first.ty].inner.size(module.to_ctx()));
    let initial = initial.map(|size| vec![0xff; size as usize]);
    let names: Vec<_> = members.iter().filter_map(|member| member.name.as_deref()).collect();
    let captured = key.captured().into_iter().map(|captured| captured.field);
    let before: Vec<String> = entry.initial.then(|| "initial".to_string()).into_iter().chain(captured).collect();
    let words = key.words();
    let expected: Vec<_> = before.iter().map(String::as_str).chain(words.iter().copied()).collect();
    if names != expected {
        return Err(format!("Params has {names:?}, and the catalogue {expected:?}"));
    }
    let numbered: Vec<_> = words.iter().zip(1..).map(|(name, word)| (*name, Param::Word(word))).collect();
    let values = Values { params: &numbered, n: 0, initial: initial.as_deref() };
    let packed = assembled.params.pack(key, values, |_| 0).map_err(|error| error.to_string())?;
    for (member, (name, word)) in members.iter().skip(before.len()).zip(words.iter().zip(1_u32..)) {
        let at = member.offset as usize;
        if packed.bytes(None).get(at..at + 4) != Some(&word.to_le_bytes()) {
            return Err(format!("{name} is at byte {at}, and the host packs it elsewhere"));
        }
    }
    Ok(())
}

fn check_tier(tier: usize) {
    let (name, caps) = &tiers()[tier];
    let keys = keys(caps);
    check_each(name, &keys, |key| {
        let wrong = check(key, caps).and_then(|checked| interface(key, &checked));
        wrong.map_err(|error| format!("{}\n{error}", describe(key)))
    });
}

#[test]
fn the_plans_reach_every_kernel() {
    let launched: HashSet<_> = tiers().iter().flat_map(|(_, caps)| keys(caps)).map(|key| key.name()).collect();
    let here = catalogue().filter(|entry| entry.only.is_none_or(|language| language == Language::Wgsl));
    let forgotten: Vec<_> = here.map(|entry| entry.name).filter(|name| !launched.contains(name)).collect();
    assert!(forgotten.is_empty(), "no plan launches {forgotten:?}");
}

#[test]
fn with_64_bit_atomics() {
    check_tier(0);
}

#[test]
fn with_narrow_subgroups_and_no_64_bit_integers() {
    check_tier(1);
}

#[test]
fn with_subgroups_of_varying_width() {
    check_tier(2);
}

#[test]
fn without_subgroups() {
    check_tier(3);
}

/// What a caller's text declares begins so in a kernel, and so do the functions that guard it.
const OF_CALLERS: [&str; 3] = ["combine_", "keep_", "wgsl_"];

#[test]
fn kernels_leave_the_callers_prefixes_alone() {
    let declared = |language: Language, line: &str| match language {
        Language::Wgsl => ["fn ", "const ", "struct ", "alias ", "var"].iter().any(|word| line.starts_with(word)),
        _ => true,
    };
    for language in Language::KERNEL {
        for (name, text) in texts(language) {
            for line in text.lines().filter(|line| declared(language, line) && !line.trim_start().starts_with("//")) {
                let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
                for word in words {
                    let taken = OF_CALLERS.iter().any(|prefix| word.starts_with(prefix));
                    assert!(!taken, "{word} in {name}: {line}");
                }
                // Fields and variables of emitted C begin so: a macro would change them.
                let is_macro = line.strip_prefix("#define ").is_some_and(|name| name.starts_with('_'));
                assert!(!is_macro, "{name}: {line}");
            }
        }
    }
}

/// A plan's constants are macros in C.
#[test]
fn constants_are_no_names_of_callers() {
    let (_, wgsl) = &tiers()[0];
    for (language, bulk_shared_bytes) in [(Language::OpenClC, 0), (Language::CudaC, 227 * 1024)] {
        let caps = wgsl.clone().with(|caps| {
            caps.language = language;
            caps.bulk_shared_bytes = bulk_shared_bytes;
            caps.atomics128 = true;
        });
        for key in kernels(&caps, Breadth::Some) {
            for (constant, _) in &key.constants {
                let taken = constant.starts_with('_') || OF_CALLERS.iter().any(|prefix| constant.starts_with(prefix));
                assert!(!taken, "{constant} of {}", key.name());
            }
        }
    }
}

#[test]
fn the_checks_refuse_what_is_wrong() {
    let (_, caps) = &tiers()[0];
    let keys = keys(caps);
    let word64 = keys.iter().find(|key| key.parts.contains(&"chain/state_word64")).unwrap();
    let [lookback, copy] =
        ["scan/lookback", "copy/copy"].map(|name| keys.iter().find(|key| key.name() == name).unwrap());
    let fewer = caps.clone().with(|caps| caps.atomics64 = false);
    assert!(check(word64, caps).is_ok());
    assert!(check(word64, &fewer).is_err(), "64-bit atomics where there are none");
    let mut checked = check(copy, caps).unwrap();
    assert_eq!(interface(copy, &checked), Ok(()));
    let parameters = checked.assembled.params.clone();
    checked.assembled.params = check(lookback, caps).unwrap().assembled.params;
    assert!(interface(copy, &checked).unwrap_err().contains("bytes"), "another kernel's parameters");
    checked.assembled.params = parameters;
    checked.assembled.arguments.truncate(1);
    assert!(interface(copy, &checked).unwrap_err().contains("binding"), "fewer arguments");
}
