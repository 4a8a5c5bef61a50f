//! What the benches measure: every primitive on every device, by `Call::time`, so that a bench's time is the
//! device's own and holds nothing of the host's.

use trifold::algorithm::scan::{BLELLOCH_BLOCKED, HILLIS_STEELE_SHARED, SUBGROUP_BLOCKED};
use trifold::backend::{Caps, DeviceKind, SpansOf};
use trifold::operators::UpperHalf;
use trifold::plan::{
    Builtin, Fault, Form, Keeps, Layout, Options, Plan, Request, Rest, SelectRequest, Selector, Slot, Varies, forms,
};
use trifold::tuning::Tuning;
use trifold::types::Scalar;
use trifold::{Algorithm, Backend, Call, Device, Error, Result, bytemuck, plan};

/// One bench, before it has a device.
#[derive(Debug, Clone)]
pub struct Case {
    /// What programs call it.
    pub form: &'static Form,
    /// What is asked for.
    pub request: Request,
    /// The element or key type.
    pub scalar: Scalar,
    /// The operator's name, or what becomes of the rest of a partition; empty where there is neither.
    pub operator: &'static str,
    /// How many elements it writes, and how long the runs of equal keys are.
    pub outputs: u64,
    run: u64,
    /// By which algorithm.
    pub algorithm: &'static Algorithm,
    /// A number to plan with instead of the device's own.
    pub number: Option<(&'static str, u32)>,
    /// Which tiles are blocked on purpose.
    pub fault: Fault,
}

/// The scans by blocks of the literature, and what they are measured with besides the device's own numbers.
const BLOCKED: [&Algorithm; 3] = [&HILLIS_STEELE_SHARED, &BLELLOCH_BLOCKED, &SUBGROUP_BLOCKED];
const ITEMS: [u32; 3] = [1, 2, 4];
const PADDING: [u32; 2] = [0, 1];
/// One tile in so many is silent where the fallback is measured.
const SILENT: u32 = 100;

/// How long the runs of equal keys are.
const RUN: u64 = 8;

impl Case {
    /// The least bytes that it moves: what is read, and what is written of half of the elements or of runs of eight.
    pub fn bytes(&self) -> u64 {
        self.request.bytes_moved_by(self.outputs)
    }

    /// The case's name: primitive/type/operator/size/algorithm, without the operator where there is none; of a partition, `apart`
    /// or `behind` stands in its place. Behind the algorithm stands what is not as usual: `,blocked_items=4`, `,silent:100`.
    pub fn id(&self) -> String {
        let n = self.request.n();
        let size = if n.is_power_of_two() { format!("2^{}", n.trailing_zeros()) } else { n.to_string() };
        let operator = if self.operator.is_empty() { String::new() } else { format!("/{}", self.operator) };
        let number = self.number.map(|(name, value)| format!(",{name}={value}")).unwrap_or_default();
        let fault = if self.fault == Fault::None { String::new() } else { format!(",{}", self.fault) };
        format!("{}/{}{operator}/{size}/{}{number}{fault}", self.form.name, self.scalar.name(), self.algorithm)
    }

    /// What its plan is made with.
    pub fn options(&self) -> Options {
        Options::default().with(|options| {
            options.algorithm = Some(self.algorithm);
            options.fault = self.fault;
        })
    }

    /// The numbers to plan with, of a device with these.
    ///
    /// # Errors
    /// As [`Tuning::set`].
    pub fn tuning(&self, mut own: Tuning) -> Result<Tuning> {
        if let Some((name, value)) = self.number {
            own.set(name, value)?;
        }
        Ok(own)
    }

    /// Its plan.
    ///
    /// # Errors
    /// As [`plan::plan`].
    pub fn plan(&self, caps: &Caps, own: Tuning) -> Result<Plan> {
        plan::plan(&self.request, Layout::default(), self.options(), caps, &self.tuning(own)?)
    }

    /// With the numbers of the literature's variants, and with blocked tiles, where that makes another plan.
    fn variants(&self, caps: &Caps) -> Vec<Case> {
        let own = Tuning::of(caps);
        let mut numbers: Vec<(&'static str, u32)> = vec![];
        if BLOCKED.contains(&self.algorithm) {
            numbers.extend(ITEMS.map(|items| ("blocked_items", items)));
        }
        if *self.algorithm == BLELLOCH_BLOCKED {
            numbers.extend(PADDING.map(|padding| ("blocked_padding", padding)));
        }
        numbers.retain(|(name, value)| own.get(name) != Some(*value));
        let mut variants: Vec<Case> =
            numbers.into_iter().map(|number| Case { number: Some(number), ..self.clone() }).collect();
        if !self.request.counts()
            && self.request.op().is_some()
            && self.plan(caps, own).is_ok_and(|plan| plan.waiting_tiles() >= SILENT)
        {
            variants.push(Case { fault: Fault::Silent(SILENT), ..self.clone() });
        }
        variants
    }
}

/// The sizes that suit a device: real GPUs up to 2^28, software up to 2^20.
pub fn sizes(caps: &Caps) -> Vec<u64> {
    let powers: &[u32] = match caps.kind {
        DeviceKind::DiscreteGpu => &[16, 20, 24, 28],
        DeviceKind::IntegratedGpu | DeviceKind::Other => &[16, 20, 24],
        DeviceKind::Cpu => &[16, 20],
    };
    let limit = caps.max_binding.min(caps.max_buffer);
    // A sort of pairs has keys and values, each in, out and in scratch, and there is a buffer more.
    let fits = |n: &u64| 4 * n <= limit && (caps.memory == 0 || 8 * 4 * n < caps.memory);
    powers.iter().map(|power| 1 << power).filter(fits).collect()
}

/// Every case of `n` elements that a device can run, by each of its algorithms and their variants.
pub fn cases(caps: &Caps, n: u64) -> Vec<Case> {
    let (scalar, sum) = (Scalar::U32, Builtin::Sum);
    let behind =
        SelectRequest { selector: Selector::of::<u32, _>(UpperHalf), n, rest: Rest::Behind, keeps: Keeps::Items };
    let forms = Form::all().filter_map(|form| {
        let operator = match form {
            form if form.has_operator => sum.name(),
            form if *form == forms::PARTITION => "apart",
            _ => "",
        };
        Some((form, form.request(scalar, sum, n).ok()?, operator))
    });
    let requests = forms.chain([(&forms::PARTITION, behind.into(), "behind")]);
    let mut cases = vec![];
    for (form, request, operator) in requests {
        let (outputs, run) = match form.varies {
            Varies::Kept => (n / 2, 1),
            Varies::Runs => (n.div_ceil(RUN), RUN),
            _ => (n, 1),
        };
        for algorithm in trifold::plan::algorithms(&request, caps) {
            let (request, number, fault) = (request.clone(), None, Fault::None);
            let case = Case { form, request, scalar, operator, outputs, run, algorithm, number, fault };
            let variants = case.variants(caps);
            cases.push(case);
            cases.extend(variants);
        }
    }
    cases
}

/// Compiles a case and binds it to buffers of uniformly random numbers.
///
/// # Errors
/// What the device cannot do, or has no memory for.
pub fn bind(backend: &Device, case: &Case) -> Result<Call<Device>> {
    let n = case.request.n();
    let input = |slot, len: u64| -> Vec<u32> {
        if slot == Slot::Offsets {
            // Offsets of segments of one length.
            return (0..len).map(|s| (n * s / (len - 1).max(1)) as u32).collect();
        }
        let keys = if *case.form == forms::SCAN_BY_KEY { Slot::InputValues } else { Slot::Input };
        let (seed, run) =
            (if slot == Slot::Input { 1 << 40 } else { 2 << 40 }, if slot == keys { case.run } else { 1 });
        let mut numbers: Vec<u32> = (0..len).map(|i| (mix(seed ^ (i / run)) >> 32) as u32).collect();
        // Edges of bins, which are searched.
        if matches!(slot, Slot::Leaf(_)) && len != n {
            numbers.sort_unstable();
        }
        numbers
    };
    let spans = SpansOf::of(&case.request, |operand| {
        let span = backend.allocate(operand.bytes())?;
        if !operand.slot.is_output() {
            backend.write(&span, bytemuck::cast_slice(&input(operand.slot, operand.len)))?;
        }
        Ok::<_, Error>(span)
    })?;
    Call::with_tuning(backend, &case.request, &spans, case.options(), &case.tuning(backend.tuning())?)
}

/// The output function of splitmix64.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(all(test, feature = "cpu"))]
mod tests {
    use super::*;

    #[test]
    fn ids_are_primitive_type_operator_size_and_algorithm() {
        let cpu = trifold::cpu::Cpu::new().unwrap();
        let ids = |n| cases(cpu.caps(), n).iter().map(Case::id).collect::<Vec<_>>();
        let wanted = ["copy/u32/2^24/copy", "scan/u32/sum/2^24/sequential", "sort_pairs/u32/2^24/parallel"];
        let found = ids(1 << 24);
        assert!(wanted.iter().all(|id| found.iter().any(|other| other == id)), "{found:?}");
        assert!(ids(1000).contains(&"reduce/u32/sum/1000/parallel".to_string()));
        for id in ["select_if/u32", "partition_if/u32/apart", "partition_if/u32/behind"] {
            assert!(ids(1 << 20).contains(&format!("{id}/2^20/parallel")), "{id}");
        }
        for id in ["reduce_by_key/u32/sum/2^16/parallel", "run_length_encode/u32/2^16/parallel"] {
            assert!(ids(1 << 16).contains(&id.to_string()), "{id}");
        }
    }

    #[test]
    fn variants_have_ids_of_their_own() {
        let cpu = trifold::cpu::Cpu::new().unwrap();
        let gpu = cpu.caps().clone().with(|caps| {
            caps.kind = DeviceKind::DiscreteGpu;
            caps.language = trifold::backend::Language::CudaC;
            caps.subgroups = Some(trifold::backend::Subgroups {
                min: 32,
                max: 32,
                source: trifold::backend::SubgroupSource::Native,
            });
            caps.forward_progress = true;
            caps.max_workgroup = 1024;
            caps.shared_bytes = 48 << 10;
            caps.compute_units = 132;
        });
        let ids: Vec<String> = cases(&gpu, 1 << 24).iter().map(Case::id).collect();
        let own = Tuning::of(&gpu).get("blocked_items").unwrap();
        for items in ITEMS {
            let id = format!("scan/u32/sum/2^24/blelloch_blocked,blocked_items={items}");
            assert_eq!(ids.contains(&id), items != own, "{id}: {ids:?}");
        }
        for id in ["blelloch_blocked,blocked_padding=0", "lookback,silent:100", "lookback_fenced,silent:100"] {
            assert!(ids.contains(&format!("scan/u32/sum/2^24/{id}")), "{id}: {ids:?}");
        }
        assert!(!ids.iter().any(|id| id.contains("hillis_steele,")), "{ids:?}");
        let distinct: std::collections::HashSet<_> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len());
    }

    #[test]
    fn every_case_that_can_be_planned_is_bound_and_timed() {
        let cpu = Device::of(trifold::cpu::Cpu::new().unwrap());
        for case in cases(cpu.caps(), 1000) {
            assert!(case.plan(cpu.caps(), cpu.tuning()).is_ok(), "{}", case.id());
            let call = bind(&cpu, &case).unwrap();
            assert!(case.bytes() >= 4 * 1000, "{}: at least its input", case.id());
            assert!(call.time(2).unwrap() >= 0.0);
        }
    }
}
