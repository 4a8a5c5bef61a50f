//! The catalogue against the OpenCL texts: every kernel that a plan uses has the catalogue's arguments, in its order,
//! with the parameters last.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;

use ocl::core::{self, KernelArgInfo};
use trifold_conformance::{Breadth, devices_or_skip, kernels};
use trifold_core::{Backend, Kernel, KernelKey, Language};
use trifold_kernels::{assemble, catalogue, text};
use trifold_opencl::{OpenCl, ocl};

/// The names, and the address spaces, of a kernel's arguments.
fn arguments(cl: &OpenCl, key: &KernelKey, entry: &Kernel) -> Vec<(String, String)> {
    let assembled = assemble(key, cl.caps()).unwrap();
    let device = cl.device_id();
    let context = core::create_context(None, &[device], None, None).unwrap();
    let program = core::create_program_with_source(&context, &[CString::new(assembled.source).unwrap()]).unwrap();
    let options = format!("{} -cl-kernel-arg-info", cl.build_options().to_str().unwrap());
    core::build_program(&program, Some(&[device]), &CString::new(options).unwrap(), None, None)
        .unwrap_or_else(|e| panic!("{key:?}: {e}"));
    let kernel = core::create_kernel(&program, entry.entry_point).unwrap();
    let core::KernelInfoResult::NumArgs(count) = core::get_kernel_info(&kernel, core::KernelInfo::NumArgs).unwrap()
    else {
        panic!("no number of arguments")
    };
    let ask = |i, what| core::get_kernel_arg_info(&kernel, i, what, None).unwrap().to_string();
    (0..count).map(|i| (ask(i, KernelArgInfo::Name), ask(i, KernelArgInfo::AddressQualifier))).collect()
}

/// Kernels that no plan has where barriers stand in for subgroups.
const NATIVE: [&str; 2] = ["scan/lookback_pipelined", "segmented/ranges"];

#[test]
fn the_catalogue_is_the_texts() {
    let Some(device) = devices_or_skip("opencl", OpenCl::devices()).into_iter().next() else { return };
    let cl = OpenCl::open(&device).unwrap();
    let emulated = cl.caps().emulates_subgroups();
    let mut planned: BTreeMap<&str, Vec<KernelKey>> = BTreeMap::new();
    for key in kernels(cl.caps(), Breadth::Some) {
        planned.entry(key.name()).or_default().push(key);
    }
    let (mut tried, mut without) = (BTreeSet::new(), BTreeSet::new());
    for entry in catalogue().filter(|e| e.only.is_none_or(|l| l == Language::OpenClC)) {
        let keys = planned.remove(entry.name).unwrap_or_default();
        if emulated && NATIVE.contains(&entry.name) {
            continue;
        }
        assert!(!keys.is_empty(), "no plan uses {}", entry.name);
        // What a kernel takes hardly depends on its types and constants, and each is seconds of compilation.
        let apart = keys.len().div_ceil(2);
        for key in keys.into_iter().step_by(apart) {
            if text(Language::OpenClC, key.name()).is_none_or(|t| t.trim().is_empty()) {
                without.insert(key.name());
                continue;
            }
            let found = arguments(&cl, &key, entry);
            let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
            let taken = key.taken();
            let expected: Vec<&str> = taken.iter().map(|a| a.name).collect();
            let (params, buffers) = names.split_last().unwrap_or_else(|| panic!("{} has no arguments", key.name()));
            assert_eq!(*buffers, expected, "{key:?}");
            assert_eq!(*params, "params", "{key:?}");
            for (name, space) in &found {
                let wanted = if name == "params" { "Private" } else { "Global" };
                assert!(space.contains(wanted), "`{name}` of {} is {space}", key.name());
            }
            // And as the backend compiles it.
            trifold_core::block_on(cl.compile(&key)).unwrap();
            tried.insert(key.name());
        }
    }
    eprintln!("held against the catalogue: {tried:?}; skipped, for want of an OpenCL text: {without:?}");
}
