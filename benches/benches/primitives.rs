//! `cargo bench -p trifold-benches --features cuda,opencl`: ids are `scan/u32/sum/2^20/lookback/cuda`; a device's API is added
//! where a backend has several devices. Narrow by a regular expression behind `--`: `'scan/.*/cuda'`.

use std::collections::HashMap;
use std::time::Duration;

use criterion::{Criterion, Throughput};
use trifold::{Backend, Device};
use trifold_benches::{Case, bind, cases, sizes};

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    let found = trifold::devices();
    if found.is_empty() {
        eprintln!("error: no device; choose backends that have one here by --features cpu,wgpu,opencl,cuda");
        std::process::exit(1);
    }
    let mut of_backend: HashMap<&str, usize> = HashMap::new();
    for device in &found {
        *of_backend.entry(device.backend).or_default() += 1;
    }
    for (index, device) in found.iter().enumerate() {
        let backend = match device.open() {
            Ok(backend) => backend,
            Err(error) => {
                eprintln!("{device} is left out: {error}");
                continue;
            }
        };
        let label = match of_backend[device.backend] {
            1 => device.backend.to_string(),
            // Two devices may share a name and an API.
            _ => format!("{}-{}-{index}", device.backend, device.api.replace([' ', '/'], "-")),
        };
        for n in sizes(backend.caps()) {
            for case in cases(backend.caps(), n) {
                // What cannot be planned at this size is known without memory for it.
                match case.plan(backend.caps(), backend.tuning()) {
                    Ok(_) => bench(&mut criterion, &backend, &case, &label),
                    Err(error) => eprintln!("{}/{label} is left out: {error}", case.id()),
                }
            }
        }
    }
    criterion.final_summary();
}

fn bench(criterion: &mut Criterion, backend: &Device, case: &Case, label: &str) {
    let mut group = criterion.benchmark_group(case.id());
    group.throughput(Throughput::Bytes(case.bytes()));
    // Bound when criterion first runs it: most cases are filtered out, and buffers are large.
    let mut bound = None;
    group.bench_function(label, |bencher| {
        let bound = bound.get_or_insert_with(|| bind(backend, case));
        bencher.iter_custom(|iterations| match bound {
            Ok(call) => {
                let mut total = Duration::ZERO;
                for _ in 0..iterations {
                    match call.time(1) {
                        // A clock may be too coarse to see a short call, and criterion divides by the time.
                        Ok(ms) => total += Duration::from_secs_f64(ms.max(1e-6) / 1e3),
                        Err(error) => panic!("{}/{label}: {error}", case.id()),
                    }
                }
                total
            }
            Err(error) => panic!("{}/{label}: {error}", case.id()),
        });
    });
    group.finish();
}
