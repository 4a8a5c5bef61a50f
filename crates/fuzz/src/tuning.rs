//! Tuning files: one that is taken can be written and read again, and planning with it gives a plan or says why not.

#[path = "../../core/tests/devices/mod.rs"]
#[allow(dead_code)]
mod devices;

use trifold_core::planner::{algorithms, plan};
use trifold_core::{
    Builtin, Element, Form, Layout, Op, Options, Order, Request, Scalar, ScanKind, ScanRequest, SortRequest, Tuning,
    TuningTable, forms,
};

/// Reads the bytes as the file that `TRIFOLD_TUNING` names.
pub fn tuning(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(table) = TuningTable::parse(text) else { return };
    let written = table.text().expect("a table that was read can be written");
    assert_eq!(TuningTable::parse(&written).expect("what was written can be read"), table);
    for caps in [devices::h200(), devices::lavapipe(), devices::gl(), devices::pocl()] {
        let Ok(tuning) = Tuning::by_table(&caps, &table) else { continue };
        for request in requests() {
            let planned = algorithms(&request, &caps).into_iter().map(Some).chain([None]);
            for algorithm in planned {
                let options = Options::default().with(|options| options.algorithm = algorithm);
                // A refusal is right where the device cannot run with the numbers.
                _ = plan(&request, Layout::default(), options, &caps, &tuning);
            }
        }
    }
}

/// Few elements, and many.
fn requests() -> impl Iterator<Item = Request> {
    [1, 1000, 1 << 20, 1 << 28].into_iter().flat_map(|n| {
        let (sum, float) = (Builtin::Sum, Scalar::F64);
        let inclusive = ScanRequest {
            op: Op::builtin(sum, float).expect("floats have sums"),
            n,
            kind: ScanKind::Inclusive,
            initial: None,
            total: false,
        };
        let pairs = SortRequest::new(Scalar::U64.into(), n).with(u32::TYPE).in_order(Order::Descending);
        let word = |form: &Form| form.request(Scalar::U32, sum, n).expect("every scalar has a sum");
        [word(&forms::SCAN), inclusive.into(), word(&forms::REDUCE), word(&forms::SORT), pairs.into()]
    })
}
