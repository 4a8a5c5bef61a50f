//! Calls whose runs may have any number of elements up to a capacity: which plans they are made of, and how those share
//! scratch.
//!
//! A plan serves runs of fewer elements than it was made for, but one that was made for many is slow for few. So there
//! is a plan for each power of two, and a run goes by the smallest that has room for it.
//!
//! What a run leaves for the next one is each plan's own. What is garbage between runs is shared.

use std::sync::Arc;

use crate::options::check_count;
use crate::scratch::{ALIGNMENT, Pieces};
use crate::{
    Backend, Caps, Error, Language, Layout, Operand, Options, Plan, Request, Result, Segments, Span, Tuning, planner,
};

/// The least elements that a plan is made for.
const FEWEST: u64 = 1 << 10;
/// Capacities in an octave: sizes that are rounded up to one take up to an eighth more.
const STEPS: u64 = 8;

/// The plans of a call, by how many elements they have room for, the fewest first: one, or those of a call up to a capacity.
pub(crate) struct Plans {
    pub(crate) plans: Vec<Arc<Plan>>,
    /// How many elements a run has, or at most.
    pub(crate) n: u32,
    /// What the spans of the call are to be.
    pub(crate) operands: Vec<Operand>,
    /// Whether a run may have fewer.
    pub(crate) resizes: bool,
    /// The sizes of scratch, of plans that share it.
    shares: Option<Shares>,
}

/// The sizes of the scratch that plans share.
#[derive(Default)]
pub(crate) struct Shares {
    /// Bytes of what all share, region by region.
    shared: Vec<u64>,
    /// Bytes of what each plan keeps, region by region.
    kept: Vec<Vec<u64>>,
}

/// What a plan is made from.
#[derive(Clone, Copy)]
pub(crate) struct Maker<'a> {
    pub(crate) request: &'a Request,
    pub(crate) layout: Layout,
    pub(crate) options: Options,
    pub(crate) caps: &'a Caps,
    pub(crate) tuning: &'a Tuning,
}

impl Maker<'_> {
    fn plan(&self, n: u64) -> Result<Plan> {
        planner::plan(&self.request.with_n(n), self.layout, self.options, self.caps, self.tuning)
    }

    /// The plans for any number of elements up to the request's.
    ///
    /// # Errors
    /// As [`planner::plan`], [`Error::Unsupported`] by an algorithm of the literature's, and [`Error::Invalid`] where the number is on the
    /// device.
    pub(crate) fn plans(&self) -> Result<Plans> {
        if self.layout.reads_length {
            return Err(Error::Invalid(
                "runs whose number of elements the host gives, of spans with a length on the device; leave one of them out".into(),
            ));
        }
        let n = u64::from(check_count(self.request.n())?);
        // Plans are of whole rows, whether or not the capacity is.
        self.request.asked().check()?;
        let (mut plans, mut shares) = (vec![], Shares::default());
        let mut from = 0;
        for capacity in self.capacities(n) {
            // In between a plan may need more than at the end.
            let mut between: Vec<_> = sizes(from, capacity).map(|n| self.whole(n)).collect();
            between.dedup();
            shares.add(&mut plans, between.into_iter().map(|n| self.plan(n)).collect::<Result<_>>()?);
            from = capacity;
        }
        plans.iter().try_for_each(|plan: &Arc<Plan>| plan.check_resizes())?;
        let operands = self.request.operands();
        Ok(Plans { plans, n: n as u32, operands, resizes: true, shares: Some(shares) })
    }

    /// How many elements the plans for up to `n` are for.
    fn capacities(&self, n: u64) -> Vec<u64> {
        let mut all = match (n, self.caps.language) {
            (0, _) | (_, Language::Host) => vec![n],
            // Where the device has no room for the size that this is rounded up to, it is the last.
            _ => {
                let most = Some(self.whole(rounded(n))).filter(|&most| self.plan(most).is_ok()).unwrap_or(n);
                capacities(most).map(|n| self.whole(n)).filter(|n| *n > 0).collect()
            }
        };
        all.dedup();
        all
    }

    /// As many elements, but for those of a row that is not whole.
    fn whole(&self, n: u64) -> u64 {
        match self.request.segments() {
            Some(Segments::Rows(width @ 1..)) => n - n % width,
            _ => n,
        }
    }
}

/// The next of eight sizes in an octave.
fn rounded(n: u64) -> u64 {
    n.max(FEWEST).next_multiple_of(step(n.max(FEWEST)))
}

/// From one size in an octave to the next.
fn step(most: u64) -> u64 {
    most.next_power_of_two() / 2 / STEPS
}

/// The capacities of plans up to a size: powers of two, and that size.
fn capacities(most: u64) -> impl Iterator<Item = u64> {
    let powers = std::iter::successors(Some(FEWEST), |power| Some(2 * power));
    powers.take_while(move |power| *power < most).chain([most])
}

/// The sizes in an octave, the last of them its end.
fn sizes(from: u64, to: u64) -> impl Iterator<Item = u64> {
    let step = step(to).max(1);
    let first = (from / step + 1) * step;
    (first..to).step_by(step as usize).chain([to])
}

/// As many of each as either has, and of each region the larger.
fn merge(sizes: &mut Vec<u64>, more: impl Iterator<Item = u64>) {
    for (i, bytes) in more.enumerate() {
        match sizes.get_mut(i) {
            Some(own) => *own = bytes.max(*own),
            None => sizes.push(bytes),
        }
    }
}

impl Shares {
    /// Of one plan: what is garbage between runs is shared with whoever else has it.
    pub(crate) fn of(plan: &Plan) -> Shares {
        let sizes = |kept| plan.scratch.regions(kept).map(|region| region.bytes).collect();
        Shares { shared: sizes(false), kept: vec![sizes(true)] }
    }

    /// Bytes of what is shared, region by region.
    pub(crate) fn shared(&self) -> &[u64] {
        &self.shared
    }

    /// Memory for what plans keep: one buffer, or one for each region where the backend wants that.
    pub(crate) fn allocate_kept<B: Backend>(&self, device: &B) -> Result<Vec<Span<B>>> {
        let kept = || self.kept.iter().flatten().copied();
        match kept().map(|bytes| bytes.next_multiple_of(ALIGNMENT)).sum() {
            _ if device.divides_scratch() => kept().map(|bytes| device.allocate(bytes)).collect(),
            0 => Ok(vec![]),
            all => parts(&device.allocate(all)?, kept()),
        }
    }

    /// Room for one of these plans at a time, the last of which is for runs.
    fn add(&mut self, runs: &mut Vec<Arc<Plan>>, plans: Vec<Plan>) {
        let mut kept = vec![];
        for plan in &plans {
            merge(&mut self.shared, plan.scratch.regions(false).map(|region| region.bytes));
            merge(&mut kept, plan.scratch.regions(true).map(|region| region.bytes));
        }
        self.kept.push(kept);
        runs.extend(plans.into_iter().last().map(Arc::new));
    }

    /// All regions' sizes, the shared ones first.
    fn sizes(&self) -> impl Iterator<Item = u64> {
        self.shared.iter().chain(self.kept.iter().flatten()).copied()
    }

    fn bytes(&self) -> u64 {
        self.sizes().map(|bytes| bytes.next_multiple_of(ALIGNMENT)).sum()
    }

    /// Each plan's regions, where spans for all of them are these.
    pub(crate) fn divide<B: Backend>(&self, plans: &[Arc<Plan>], mut spans: Vec<Span<B>>) -> Vec<Pieces<B>> {
        let mut kept = spans.split_off(self.shared.len()).into_iter();
        let pieces = plans.iter().zip(&self.kept).map(|(plan, sizes)| {
            let own: Vec<_> = kept.by_ref().take(sizes.len()).collect();
            let places = |keeps, spans: &[Span<B>]| {
                let regions = plan.scratch.regions(keeps).zip(spans.to_vec());
                regions.map(|(region, span)| (region.offset, span)).collect::<Vec<_>>()
            };
            Pieces::of([places(false, &spans), places(true, &own)].concat())
        });
        pieces.collect()
    }
}

/// Parts of a span, of these sizes.
fn parts<B: Backend>(whole: &Span<B>, sizes: impl Iterator<Item = u64>) -> Result<Vec<Span<B>>> {
    let mut at = 0;
    let part = |bytes: u64| {
        let part = whole.slice(at, bytes);
        at += bytes.next_multiple_of(ALIGNMENT);
        part
    };
    sizes.map(part).collect()
}

impl Plan {
    fn check_resizes(&self) -> Result<()> {
        match self.algorithm.is_reference {
            true => Err(Error::Unsupported(format!(
                "{} takes the size that it was planned for; prepare it without up_to, or by another algorithm",
                self.algorithm
            ))),
            false => Ok(()),
        }
    }
}

impl Plans {
    /// A plan for as many elements as it says.
    pub(crate) fn of(plan: Plan) -> Plans {
        let (n, operands) = (plan.n, plan.operands.clone());
        Plans { plans: vec![Arc::new(plan)], n, operands, resizes: false, shares: None }
    }

    /// A plan for as many elements as it says, or fewer.
    pub(crate) fn up_to(plan: Plan) -> Result<Plans> {
        plan.check_resizes()?;
        Ok(Plans { resizes: true, ..Self::of(plan) })
    }

    /// The plan for the most elements.
    pub(crate) fn last(&self) -> &Arc<Plan> {
        &self.plans[self.plans.len() - 1]
    }

    /// Working memory for all, in bytes.
    pub(crate) fn scratch_bytes(&self) -> u64 {
        self.shares.as_ref().map_or_else(|| self.last().scratch_bytes(), Shares::bytes)
    }

    /// Working memory of a call's own, for each plan.
    pub(crate) fn allocate<B: Backend>(&self, device: &B) -> Result<Vec<Pieces<B>>> {
        match &self.shares {
            None => Ok(vec![Pieces::new(device, &self.last().scratch)?]),
            Some(shares) if device.divides_scratch() || shares.bytes() > device.caps().max_buffer => {
                let spans = shares.sizes().map(|bytes| device.allocate(bytes));
                Ok(shares.divide(&self.plans, spans.collect::<Result<_>>()?))
            }
            Some(_) if self.scratch_bytes() == 0 => Ok(self.none()),
            Some(_) => self.whole(&device.allocate(self.scratch_bytes())?),
        }
    }

    /// Working memory for each plan, where none needs any.
    pub(crate) fn none<B: Backend>(&self) -> Vec<Pieces<B>> {
        self.plans.iter().map(|_| Pieces::none()).collect()
    }

    /// Working memory for each plan, of one span.
    pub(crate) fn whole<B: Backend>(&self, span: &Span<B>) -> Result<Vec<Pieces<B>>> {
        match &self.shares {
            None => Ok(vec![Pieces::whole(span.clone())]),
            Some(shares) => Ok(shares.divide(&self.plans, parts(span, shares.sizes())?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_a_capacity_that_is_little_more() {
        assert_eq!([1, 1024, 1025, 124_161].map(rounded), [1024, 1024, 1152, 131_072]);
        assert_eq!(capacities(5000).collect::<Vec<_>>(), [1024, 2048, 4096, 5000]);
        assert_eq!(capacities(700).collect::<Vec<_>>(), [700]);
        assert_eq!(sizes(1024, 2048).collect::<Vec<_>>(), [1152, 1280, 1408, 1536, 1664, 1792, 1920, 2048]);
        assert_eq!(sizes(2048, 2304).collect::<Vec<_>>(), [2304]);
    }
}
