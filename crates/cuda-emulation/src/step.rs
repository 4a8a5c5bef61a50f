//! Commands with their memory bound, and how each runs.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use trifold_core::{Command, Error, Result, bytes_of_run, in_order};
use trifold_cpu::Region;
use trifold_kernels::Packed;

use crate::Emulation;
use crate::device::Kernel;
use crate::run::{Arguments, Stacks, launch};

/// A command bound to its memory, which it keeps alive.
pub struct Step(Action);

enum Action {
    Fill {
        to: Region,
        value: u32,
    },
    Copy {
        from: Region,
        to: Region,
        each: u32,
    },
    /// Each argument in the kernel's order; `None` where one is left out.
    Launch {
        kernel: Kernel,
        groups: u32,
        arguments: Box<[Option<Region>]>,
        params: Packed,
        /// How often it has run: each time threads run in another order, the same one in every process.
        launches: AtomicU64,
    },
}

impl Step {
    pub(crate) fn bind(command: Command<'_, Emulation>) -> Result<Step> {
        command.check()?;
        let action = match command {
            Command::Fill { span, value } => Action::Fill { to: Region::of(&span)?, value },
            Command::Copy { from, to, each } => Action::Copy { from: Region::of(&from)?, to: Region::of(&to)?, each },
            Command::Length { .. } => return Err(Command::<Emulation>::no_length()),
            Command::Launch { key, kernel, groups, spans, values } => {
                let spans = in_order(key.name(), &kernel.0.arguments, &spans)?;
                let arguments =
                    spans.into_iter().map(|span| span.map(Region::of).transpose()).collect::<Result<_>>()?;
                let params = kernel.0.params.pack(key, values, |_| 0)?;
                Action::Launch { kernel: kernel.clone(), groups, arguments, params, launches: AtomicU64::new(0) }
            }
        };
        Ok(Step(action))
    }

    /// Runs it. The device's lock, which the stacks are behind, keeps others off its memory.
    pub(crate) fn run(&self, n: Option<u32>, stacks: &mut Stacks) -> Result<()> {
        match &self.0 {
            Action::Fill { to, value } => {
                // SAFETY: the region has as many aligned words, and nobody else touches it.
                let words = unsafe { std::slice::from_raw_parts_mut(to.start().cast::<u32>(), to.bytes() / 4) };
                words.fill(*value);
                Ok(())
            }
            Action::Copy { from, to, each } => {
                let bytes = bytes_of_run(to.bytes() as u64, *each, n) as usize;
                // SAFETY: both regions have as many bytes or more, and nobody else touches them; they may overlap.
                unsafe { to.start().copy_from(from.start(), bytes) };
                Ok(())
            }
            Action::Launch { kernel, groups, arguments, params, launches } => {
                let start = |region: &Option<Region>| region.as_ref().map_or(std::ptr::null_mut(), Region::start);
                let addresses: Vec<*mut u8> = arguments.iter().map(start).collect();
                let (kernel, params) = (&kernel.0, params.bytes(n));
                let launched = Arguments { program: &kernel.program, addresses: &addresses, params: &params };
                let mut seed = DefaultHasher::new();
                (kernel.name, groups, &params, launches.fetch_add(1, Ordering::Relaxed)).hash(&mut seed);
                // SAFETY: the addresses and parameters are those of the kernel's entry in the catalogue, whose spans the planner made
                // large enough for them: who binds a launch promises that it is of a plan. They are kept by this step.
                unsafe { launch(launched, *groups, kernel.workgroup, stacks, seed.finish()) }
                    .map_err(|error| Error::backend("cuda", format!("launching {}", kernel.name), error))
            }
        }
    }
}
