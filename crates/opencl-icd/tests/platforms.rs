//! A program with `ocl` and this crate finds OpenCL when it runs, and runs without.

use std::{
    env,
    path::PathBuf,
    process::{Command, Output},
};

#[test]
fn ocl_lists_platforms() {
    match trifold_opencl_icd::library() {
        Ok(path) => {
            let platforms = ocl::core::get_platform_ids().expect("a library without a driver?");
            assert!(!platforms.is_empty(), "{path} knows no platform");
        }
        Err(reason) => println!("skipped: {reason}"),
    }
}

#[test]
fn a_missing_library_is_a_status() {
    let answer = run_example(Some("/nowhere/libOpenCL.so.1"));
    assert!(answer.contains("cannot open the OpenCL library /nowhere/libOpenCL.so.1"), "{answer}");
    assert!(answer.contains("TRIFOLD_OPENCL_LIBRARY"), "{answer}");
    assert!(answer.contains("clGetPlatformIDs: -1001\n"), "{answer}");
    assert!(answer.contains("clCreateContext: -1001, null: true\n"), "{answer}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_missing_function_is_a_status() {
    let answer = run_example(Some("libc.so.6"));
    assert!(answer.contains("clGetPlatformIDs: -59\n"), "{answer}");
    assert!(answer.contains("clCreateContext: -59, null: true\n"), "{answer}");
}

#[test]
fn the_example_finds_the_library_of_the_system() {
    let answer = run_example(None);
    match trifold_opencl_icd::library() {
        Ok(path) => assert!(answer.contains(path) && answer.contains("platform: "), "{answer}"),
        Err(_) => assert!(answer.contains("clGetPlatformIDs: -1001\n"), "{answer}"),
    }
}

/// Otherwise the program would not start without libOpenCL.
#[test]
#[cfg(target_os = "linux")]
fn the_example_does_not_link_opencl() {
    match Command::new("ldd").arg(example()).output() {
        Ok(ldd) => {
            let needed = stdout(&ldd);
            assert!(needed.contains("libc.so"), "{needed}");
            assert!(!needed.contains("OpenCL"), "{needed}");
        }
        Err(error) => println!("skipped, no ldd: {error}"),
    }
}

/// `cargo test` builds the examples, beside the folder of this test.
fn example() -> PathBuf {
    let test = env::current_exe().expect("this test is a file");
    let folder = test.ancestors().nth(2).expect("in target/<profile>/deps").join("examples");
    let example = folder.join("platforms").with_extension(env::consts::EXE_EXTENSION);
    assert!(example.exists(), "cargo build -p trifold-opencl-icd --example platforms");
    example
}

fn run_example(library: Option<&str>) -> String {
    let mut command = Command::new(example());
    match library {
        Some(path) => command.env("TRIFOLD_OPENCL_LIBRARY", path),
        None => command.env_remove("TRIFOLD_OPENCL_LIBRARY"),
    };
    let output = command.output().expect("the example starts");
    assert!(output.status.success(), "{output:?}");
    stdout(&output)
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
