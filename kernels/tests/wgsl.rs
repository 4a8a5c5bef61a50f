//! Every kernel that the planner can ask a wgpu device for, on each tier of devices: naga parses and validates its text
//! with no more than the tier has, and its bindings and parameters are the catalogue's. Needs no device.

use std::collections::{HashMap, HashSet};

use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Module, TypeInner};
use trifold_conformance::{Breadth, check_each, describe, kernels};
use trifold_core::{Caps, DeviceKind, ElementType, KernelKey, Language, Param, SubgroupSource, Subgroups};
use trifold_kernels::{Assembled, CATALOGUE, assemble, texts};

/// Devices that differ in what their kernels may use.
fn tiers() -> [(&'static str, Caps); 4] {
    let native = |min, max| Some(Subgroups { min, max, source: SubgroupSource::Native });
    let full = Caps {
        backend: "wgpu",
        device: "a device for tests".into(),
        driver: "none".into(),
        api: "Vulkan".into(),
        kind: DeviceKind::DiscreteGpu,
        language: Language::Wgsl,
        compute_units: 64,
        memory: 0,
        subgroups: native(32, 32),
        int64: true,
        float64: true,
        atomics64: true,
        atomics128: false,
        coherent: true,
        subgroup_barrier: true,
        forward_progress: true,
        max_workgroup: 1024,
        shared_bytes: 48 * 1024,
        bulk_shared_bytes: 0,
        max_binding: (4 << 30) - 4,
        max_buffer: 64 << 30,
        binding_alignment: 32,
        native_copy: false,
    };
    let narrow = Caps {
        kind: DeviceKind::Cpu,
        subgroups: native(4, 4),
        int64: false,
        float64: false,
        atomics64: false,
        atomics128: false,
        coherent: false,
        subgroup_barrier: false,
        shared_bytes: 16 * 1024,
        max_workgroup: 256,
        ..full.clone()
    };
    let varying = Caps { subgroups: native(8, 64), atomics64: false, forward_progress: false, ..full.clone() };
    let none = Caps { subgroups: None, kind: DeviceKind::IntegratedGpu, ..narrow.clone() };
    [("atomics64", full), ("narrow", narrow), ("varying", varying), ("no subgroups", none)]
}

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

/// Every kernel of every plan, and the one with which wgpu fills scratch.
fn keys(caps: &Caps) -> Vec<KernelKey> {
    let fill = KernelKey {
        name: "copy/fill",
        parts: vec![],
        constants: vec![("WORKGROUP", 256), ("ROWS", 8)],
        element: None,
        op: None,
        selector: None,
    };
    let mut keys = kernels(caps, Breadth::Every);
    keys.push(fill);
    keys
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
fn interface(checked: &Checked) -> Result<(), String> {
    let Checked { assembled, module, info } = checked;
    let [entry] = &module.entry_points[..] else { return Err("it has not just one entry point".into()) };
    if entry.name != assembled.entry_point || entry.workgroup_size != [assembled.workgroup, 1, 1] {
        return Err(format!("its entry point is {} of {:?}", entry.name, entry.workgroup_size));
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
            parameters(assembled, module, variable.ty)?
        } else if !storage {
            return Err(format!("{name} is no storage buffer"));
        }
    }
    let missing = |(place, argument): &(usize, &trifold_kernels::Argument)| {
        !argument.optional && !found.contains_key(&(*place as u32))
    };
    match assembled.arguments.iter().enumerate().find(missing) {
        Some((_, argument)) => Err(format!("it does not have {}", argument.name)),
        None if !found.contains_key(&(assembled.arguments.len() as u32)) => Err("it has no params".into()),
        None => Ok(()),
    }
}

/// Whether `Params` lies in memory as the host packs it.
fn parameters(assembled: &Assembled, module: &Module, ty: naga::Handle<naga::Type>) -> Result<(), String> {
    let TypeInner::Struct { members, span } = &module.types[ty].inner else { return Err("params is no struct".into()) };
    if span.next_multiple_of(16) != assembled.params.bytes() {
        return Err(format!("Params has {span} bytes, and its layout {}", assembled.params.bytes()));
    }
    let entry = CATALOGUE.iter().find(|entry| entry.entry_point == assembled.entry_point);
    let entry = entry.ok_or("it is not in the catalogue")?;
    let initial =
        members.first().filter(|_| entry.initial).map(|first| module.types[first.ty].inner.size(module.to_ctx()));
    let initial = initial.map(|size| vec![0xff; size as usize]);
    let names: Vec<_> = members.iter().filter_map(|member| member.name.as_deref()).collect();
    let expected: Vec<_> = entry.initial.then_some("initial").into_iter().chain(entry.params.iter().copied()).collect();
    if names != expected {
        return Err(format!("Params has {names:?}, and the catalogue {expected:?}"));
    }
    let numbered: Vec<_> = entry.params.iter().zip(1..).map(|(name, word)| (*name, Param::Word(word))).collect();
    let packed = assembled.params.pack(initial.as_deref(), &numbered, |_| 0).map_err(|error| error.to_string())?;
    for (member, (name, word)) in members.iter().skip(usize::from(entry.initial)).zip(entry.params.iter().zip(1_u32..))
    {
        let at = member.offset as usize;
        if packed.get(at..at + 4) != Some(&word.to_le_bytes()) {
            return Err(format!("{name} is at byte {at}, and the host packs it elsewhere"));
        }
    }
    Ok(())
}

fn check_tier(tier: usize) {
    let (name, caps) = &tiers()[tier];
    let keys = keys(caps);
    check_each(name, &keys, |key| {
        let wrong = check(key, caps).and_then(|checked| interface(&checked));
        wrong.map_err(|error| format!("{}\n{error}", describe(key)))
    });
    let launched: HashSet<_> = keys.iter().map(|key| key.name).collect();
    let reached = |name: &str| {
        launched.contains(name)
            || (caps.subgroups.is_none() && needs_subgroups(name))
            || (!caps.coherent && name == "scan/lookback_fenced")
    };
    let here = CATALOGUE.iter().filter(|entry| entry.only.is_none_or(|language| language == Language::Wgsl));
    let forgotten: Vec<_> = here.map(|entry| entry.name).filter(|name| !reached(name)).collect();
    assert!(forgotten.is_empty(), "{name}: no plan launches {forgotten:?}");
}

fn needs_subgroups(kernel: &str) -> bool {
    let rungs = ["reduce/unroll_last_subgroup", "reduce/unrolled", "reduce/subgroup", "scan/lookback_fenced"];
    let scans =
        ["scan/lookback", "scan/lookahead_registers", "scan/tile_subgroup", "select/lookback", "by_key/lookback"];
    rungs.contains(&kernel)
        || scans.contains(&kernel)
        || ["sort/onesweep", "sort/histogram", "sort/local", "sort/large"].contains(&kernel)
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

/// An operator stands in the middle of these kernels: it must not declare what they do.
#[test]
fn names_beside_an_operator_are_reserved() {
    let mut free = HashSet::new();
    for (_, caps) in tiers() {
        // Constants change values, no names.
        let mut seen = HashSet::new();
        let keys = keys(&caps);
        let distinct =
            keys.iter().filter(|key| seen.insert((key.name, &key.parts, &key.element, &key.op, &key.selector)));
        for key in distinct.filter(|key| key.op.is_some()) {
            let module = check(key, &caps).unwrap().module;
            let names = module.functions.iter().map(|(_, function)| &function.name);
            let names = names.chain(module.global_variables.iter().map(|(_, variable)| &variable.name));
            let names = names.chain(module.constants.iter().map(|(_, constant)| &constant.name));
            let names = names.chain(module.types.iter().map(|(_, ty)| &ty.name)).flatten();
            let item = key.selector.as_ref().map(|selector| selector.element());
            let elements: Vec<_> = key.element.iter().chain(item).map(ElementType::name).collect();
            let texts = [key.selector.as_ref().map(|s| &s.wgsl), key.op.as_ref().map(|op| &op.wgsl)];
            let declares = |name: &str| {
                let words = ["fn ", "const ", "struct ", "alias "].map(|word| format!("{word}{name}"));
                texts.iter().flatten().any(|text| words.iter().any(|words| text.contains(words)))
            };
            let theirs = |name: &str| elements.contains(&name) || declares(name);
            free.extend(names.filter(|name| !theirs(name) && !trifold_lang::is_reserved(name)).cloned());
        }
    }
    assert!(free.is_empty(), "an operator might declare {free:?}; see trifold-lang's RESERVED_NAMES");
}

/// A macro of the C texts would change an operator's local variables too.
#[test]
fn macros_are_reserved() {
    let sorts = |name: &str| {
        ["sort/", "block/key", "block/split", "block/count_state", "block/digit_"].iter().any(|s| name.starts_with(s))
    };
    let mut free = vec![];
    for (name, text) in
        [Language::OpenClC, Language::CudaC].into_iter().flat_map(texts).filter(|(name, _)| !sorts(name))
    {
        let macros = text.lines().filter_map(|line| line.strip_prefix("#define "));
        let macros = macros.map(|rest| rest.split([' ', '(']).next().unwrap_or_default());
        // Fields may have what is no macro.
        free.extend(macros.filter(|m| !trifold_lang::is_reserved_for_fields(m)).map(|m| format!("{m} in {name}")));
    }
    assert!(free.is_empty(), "an operator might use {free:?}; see trifold-lang's RESERVED_NAMES");
}

/// A plan's constants are macros in the emitted C.
#[test]
fn constants_are_reserved() {
    let (_, wgsl) = &tiers()[0];
    let [opencl, cuda] =
        [(Language::OpenClC, 0), (Language::CudaC, 227 * 1024)].map(|(language, bulk_shared_bytes)| {
            let caps = Caps { language, bulk_shared_bytes, atomics128: true, ..wgsl.clone() };
            kernels(&caps, Breadth::Some)
        });
    let mut free = HashSet::new();
    for key in opencl.iter().chain(&cuda).filter(|key| key.op.is_some() || key.selector.is_some()) {
        let constants = key.constants.iter().map(|(constant, _)| *constant);
        free.extend(constants.filter(|c| !trifold_lang::is_reserved(c)).map(|c| (c, key.name)));
    }
    assert!(free.is_empty(), "an operator might use {free:?}; see trifold-lang's RESERVED_NAMES");
}

#[test]
fn the_checks_refuse_what_is_wrong() {
    let (_, caps) = &tiers()[0];
    let keys = keys(caps);
    let word64 = keys.iter().find(|key| key.parts.contains(&"block/state_word64")).unwrap();
    let [lookback, copy] = ["scan/lookback", "copy/copy"].map(|name| keys.iter().find(|key| key.name == name).unwrap());
    let fewer = Caps { atomics64: false, ..caps.clone() };
    assert!(check(word64, caps).is_ok());
    assert!(check(word64, &fewer).is_err(), "64-bit atomics where there are none");
    let mut checked = check(copy, caps).unwrap();
    assert_eq!(interface(&checked), Ok(()));
    let parameters = checked.assembled.params.clone();
    checked.assembled.params = check(lookback, caps).unwrap().assembled.params;
    assert!(interface(&checked).unwrap_err().contains("bytes"), "another kernel's parameters");
    checked.assembled.params = parameters;
    checked.assembled.arguments = &checked.assembled.arguments[..1];
    assert!(interface(&checked).unwrap_err().contains("binding"), "fewer arguments");
}
