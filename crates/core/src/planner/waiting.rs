//! Waits without bound: what they are refused for.

use super::Planner;
use crate::{Error, Fault, Plan, Result, Waiting};

impl Planner<'_> {
    pub(crate) fn waits_bounded(&self) -> bool {
        self.options.waiting == Waiting::Bounded
    }

    /// Refuses a plan whose waits might never end.
    pub(crate) fn check_waiting(&self, plan: &Plan) -> Result<()> {
        let Plan { algorithm, in_place, .. } = plan;
        for kernel in plan.launched().map(|launch| &launch.kernel).filter(|kernel| kernel.waits()) {
            let why = match (kernel.constant("FALLBACK"), self.options.fault) {
                (None, _) if !self.waits_bounded() => {
                    format!("{algorithm} always has its fallback; use lookback, or bounded waiting")
                }
                (Some(0), Fault::Silent(every)) => {
                    let instead = if *in_place { "two spans" } else { "bounded waiting" };
                    format!(
                        "one tile in {every} would never publish, and without the fallback those behind it would wait for \
                         ever; use {instead}, or `Fault::Late`"
                    )
                }
                (Some(0), _) if !self.caps.forward_progress => format!(
                    "{} ({}) does not promise that a workgroup which has started keeps running while another waits for \
                     it, so the wait might never end; use bounded waiting",
                    self.caps.device, self.caps.backend
                ),
                _ => continue,
            };
            let what = if self.waits_bounded() { "in place" } else { "with unbounded waiting" };
            return Err(Error::Unsupported(format!("{algorithm} {what}: {why}")));
        }
        Ok(())
    }
}
