//! A draw: part of a device's cases, by turns. Every case comes up within [`TURNS`] turns in a row.
//!
//! Most of a software device's time goes into compiling, so cases of the same kernels come up together. Cheap ones do at every turn,
//! and dear ones the more seldom, the more they cost.

use std::collections::HashMap;

use trifold_core::{Caps, KernelKey, Tuning};

use crate::case::{Body, Case};
use crate::inputs::Random;
use crate::kernels::describe;

/// Within so many turns in a row every case comes up.
pub const TURNS: u64 = 30;

/// What a draw costs, however many cases there are: 5 minutes of one thread.
const BUDGET: u64 = 60_000;

/// What cases of the same kernels may at most cost at each turn.
const MOST: u64 = 60;

/// What a block of a kernel's text costs: 50 ms through lavapipe or PoCL.
const BLOCK: u64 = 10;

/// What a case costs that finds its kernels compiled: 10 ms.
const RUN: u64 = 2;

/// How many elements cost as much as one more: the host's oracle and its comparison, and the device.
const ELEMENTS: u64 = 10_000;

/// The cases that come up at a turn, for a device with these capabilities and which plans by these numbers.
///
/// The draw follows from the turn, the names of the cases, and what they cost, and from nothing else.
pub fn draw(mut cases: Vec<Case>, caps: &Caps, tuning: &Tuning, turn: u64) -> Vec<Case> {
    let costs = costs(&cases, caps, tuning);
    let share = share(&costs);
    cases.retain(|case| {
        let kernels = case.kernels();
        comes_up(&kernels, period(costs[&kernels], share), turn)
    });
    cases
}

/// The kernels that come up at the turn that `TRIFOLD_TURN` names: each at one turn in `turns`. All where it names none.
///
/// # Panics
/// If it is no number.
pub fn draw_kernels<T>(mut kernels: Vec<T>, turns: u64, key: impl Fn(&T) -> &KernelKey) -> Vec<T> {
    if let Some(turn) = named_turn().expect("TRIFOLD_TURN") {
        kernels.retain(|kernel| comes_up(&describe(key(kernel)), turns, turn));
    }
    kernels
}

/// The turn that `TRIFOLD_TURN` names; none for everything.
pub(crate) fn named_turn() -> std::result::Result<Option<u64>, String> {
    match std::env::var("TRIFOLD_TURN").as_deref() {
        Ok("") | Err(_) => Ok(None),
        Ok(turn) => turn.parse().map(Some).map_err(|_| {
            format!("TRIFOLD_TURN is `{turn}`; it may be a turn's number, from 0, and without it all cases run")
        }),
    }
}

/// What cases of the same kernels may cost at each turn, for a draw within the budget.
fn share(costs: &HashMap<String, u64>) -> u64 {
    let draw = |share| costs.values().map(|&cost| cost / period(cost, share)).sum::<u64>();
    (2..=MOST).rev().find(|&share| draw(share) <= BUDGET).unwrap_or(1)
}

/// Every how many turns cases come up: every second where they cost twice their share.
fn period(cost: u64, share: u64) -> u64 {
    cost.div_ceil(share).clamp(1, TURNS)
}

fn comes_up(name: &str, period: u64, turn: u64) -> bool {
    let phase = Random::named(name).next() % period;
    turn % period == phase
}

/// What the cases of each kernels cost together.
fn costs(cases: &[Case], caps: &Caps, tuning: &Tuning) -> HashMap<String, u64> {
    let mut groups = HashMap::<String, (Vec<KernelKey>, u64)>::new();
    for case in cases {
        let (kernels, runs) = groups.entry(case.kernels()).or_default();
        *runs += RUN + case.elements() / ELEMENTS;
        // What is refused, or is no call, compiles little or nothing.
        let (Body::Call(row) | Body::Sizes(row, _)) = &case.body else { continue };
        let Ok(plan) = row.plan(caps, tuning) else { continue };
        for launch in plan.launched() {
            if !kernels.contains(&launch.kernel) {
                kernels.push(launch.kernel.clone());
            }
        }
    }
    let blocks = |kernels: &[KernelKey]| kernels.iter().map(|kernel| 1 + kernel.parts.len() as u64).sum::<u64>();
    groups.into_iter().map(|(name, (kernels, runs))| (name, BLOCK * blocks(&kernels) + runs)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use trifold_core::{Backend, Language, SubgroupSource, Subgroups};

    use super::*;
    use crate::case::Level;
    use crate::table::cases;
    use crate::table::tests::software_gpu;

    /// The software devices, near enough.
    fn devices() -> Vec<(&'static str, Caps)> {
        let gpu = software_gpu();
        let emulated = Subgroups { min: 32, max: 32, source: SubgroupSource::Emulated };
        let without = gpu.clone().with(|caps| {
            caps.subgroups = None;
            caps.atomics64 = false;
            caps.int64 = false;
            caps.float64 = false;
        });
        vec![
            ("CPU", trifold_cpu::Cpu::with_threads(2).unwrap().caps().clone()),
            (
                "OpenCL",
                gpu.clone().with(|caps| {
                    caps.language = Language::OpenClC;
                    caps.subgroups = Some(emulated);
                }),
            ),
            ("CUDA", gpu.clone().with(|caps| caps.language = Language::CudaC)),
            ("GL", without),
            ("Vulkan", gpu),
        ]
    }

    fn table(caps: &Caps) -> Vec<Case> {
        cases(caps, &Tuning::of(caps), Level::Quick)
    }

    #[test]
    fn every_case_comes_up_within_thirty_turns() {
        for (device, caps) in devices() {
            let costs = costs(&table(&caps), &caps, &Tuning::of(&caps));
            let share = share(&costs);
            for (kernels, cost) in costs {
                let period = period(cost, share);
                let turns: Vec<u64> = (0..200).filter(|turn| comes_up(&kernels, period, *turn)).collect();
                let waits = turns.windows(2).map(|pair| pair[1] - pair[0]);
                let longest = waits.max().into_iter().chain([turns[0] + 1, 200 - turns[turns.len() - 1]]).max();
                assert!(longest <= Some(TURNS), "{device}: {kernels} waits {longest:?} turns");
            }
        }
    }

    #[test]
    fn draws_cost_alike() {
        for (device, caps) in devices() {
            let costs = costs(&table(&caps), &caps, &Tuning::of(&caps));
            let share = share(&costs);
            let drawn = |turn| {
                let costs = costs.iter().filter(|(kernels, cost)| comes_up(kernels, period(**cost, share), turn));
                costs.map(|(_, cost)| *cost).sum::<u64>()
            };
            let draws: Vec<u64> = (0..TURNS).map(drawn).collect();
            let mean = draws.iter().sum::<u64>() / TURNS;
            let (least, most) = (draws.iter().min().unwrap(), draws.iter().max().unwrap());
            let all: u64 = costs.values().sum();
            println!("{device}: {least} to {most} a draw of {all}, {mean} in the mean; a share of {share}");
            assert!(*least > mean * 3 / 4 && *most < mean * 5 / 4, "{device}: {least} to {most}, of {mean}");
            assert!(mean < BUDGET * 21 / 20, "{device}: {mean}");
        }
    }

    /// Refusals cost little, and cases of the same kernels one compilation.
    #[test]
    fn a_draw_has_all_refusals_and_whole_groups() {
        let caps = software_gpu();
        let of = |turn| draw(table(&caps), &caps, &Tuning::of(&caps), turn);
        let names = |cases: &[Case]| cases.iter().map(|case| case.name().to_owned()).collect::<Vec<_>>();
        let (all, drawn) = (table(&caps), of(7));
        assert_eq!(names(&drawn), names(&of(7)));
        assert_ne!(names(&drawn), names(&of(8)));
        let groups: BTreeSet<_> = drawn.iter().map(Case::kernels).collect();
        let whole = all.iter().filter(|case| groups.contains(&case.kernels())).count();
        assert_eq!(drawn.len(), whole);
        let refusals = |cases: &[Case]| cases.iter().filter(|case| case.name().starts_with("refusal/")).count();
        assert!(refusals(&all) > 20);
        assert_eq!(refusals(&drawn), refusals(&all));
    }
}
