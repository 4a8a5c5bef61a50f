//! Pipelines and bind groups: what a launch needs, made once.

use trifold_core::algorithm::copy::FILL;
use trifold_core::{Caps, Command, Error, KernelKey, Param, Result, Span, Values, bytes_of_run, in_order};
use trifold_kernels::{Assembled, Packed, assemble};

use crate::Wgpu;
use crate::gl::Kept;
use crate::memory::Opening;

/// A compiled kernel. Its bind-group layout depends on which optional arguments a launch has.
pub(crate) struct Pipeline {
    kernel: &'static str,
    assembled: Assembled,
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    present: Vec<bool>,
    opening: Opening,
}

/// A command with its arguments bound.
pub struct Step {
    bound: Kept<Bound>,
    /// Whose pipelines, groups and buffers it has.
    opening: Opening,
}

enum Bound {
    Nothing,
    Dispatch { pipeline: wgpu::ComputePipeline, group: wgpu::BindGroup, grid: [u32; 2], sized: Option<Sized> },
    Copy { from: wgpu::Buffer, from_offset: u64, to: wgpu::Buffer, to_offset: u64, bytes: u64, each: u32 },
}

/// The parameters of a launch whose runs may have fewer elements, and the buffer that each run writes them to.
struct Sized {
    uniform: wgpu::Buffer,
    packed: Packed,
}

/// Workgroups in x at most; more fold into y. Every API has at least these.
pub(crate) const MAX_GROUPS: u32 = 65535;

/// A launch's grid: `groups` workgroups, and fewer than there are rows in excess, for the kernel to ignore.
fn grid(groups: u32) -> [u32; 2] {
    let rows = groups.div_ceil(MAX_GROUPS).max(1);
    [groups.div_ceil(rows), rows]
}

impl Pipeline {
    pub(crate) async fn compile(backend: &Wgpu, key: &KernelKey) -> Result<Pipeline> {
        let started = std::time::Instant::now();
        let assembled = assemble(key, &backend.caps)?;
        let device = &backend.device;
        let present: Vec<bool> = assembled.arguments.iter().map(|argument| argument.is_of(key)).collect();
        let storage = |binding| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: false },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let mut entries: Vec<_> =
            (0..).zip(&present).filter(|(_, present)| **present).map(|(i, _)| storage(i)).collect();
        entries.push(wgpu::BindGroupLayoutEntry {
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            ..storage(present.len() as u32)
        });
        let kept = backend.cache.open(backend, &assembled.source).await;
        let compile = || {
            let source = wgpu::ShaderModuleDescriptor {
                label: Some(key.name()),
                source: wgpu::ShaderSource::Wgsl(assembled.source.as_str().into()),
            };
            let checks = wgpu::ShaderRuntimeChecks {
                force_loop_bounding: assembled.caller_loops,
                ..wgpu::ShaderRuntimeChecks::unchecked()
            };
            // SAFETY: the kernels index their buffers below the lengths that the planner computed from the very spans
            // that are bound, which `Prepared::bind` checks and other callers of `Backend::bind` promise, run after all before them of
            // their call, as a `Call` and other callers of `Backend::execute` have it, divide by nothing that is zero, and end their loops: those are bounded by
            // constants or parameters, except the waits on other workgroups, which a fallback bounds or, on devices with
            // forward progress, the workgroup waited for. The operator or predicate, the one foreign part, reaches no buffer
            // (trifold-lang refuses globals); trifold-lang also guards its divisors, shifts and indices in the text itself, since naga's
            // GLSL has no checks of those, and finds each guard again in what it wrote. Its loops are bounded here: through GL, where they
            // are not, one that does not end is the driver's to stop. The checks that remain are of shader stages that there are none of.
            let module = unsafe { device.create_shader_module_trusted(source, checks) };
            let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some(key.name()),
                entries: &entries,
            });
            let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(key.name()),
                bind_group_layouts: &[Some(&layout)],
                immediate_size: 0,
            });
            let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(key.name()),
                layout: Some(&pipeline_layout),
                module: &module,
                entry_point: Some(assembled.entry_point),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &[],
                    zero_initialize_workgroup_memory: false,
                },
                cache: kept.as_ref().map(|kept| &kept.pipelines),
            });
            (pipeline, layout)
        };
        // What the application's own calls have reported meanwhile is not the kernel's.
        let (pipeline, layout) = backend.caught(0, compile).await.map_err(|error| match error {
            Error::Backend { message, .. } => Error::Compile { kernel: key.name().into(), log: message },
            other => other,
        })?;
        backend.watch.lost()?;
        if let Some(kept) = kept {
            backend.cache.keep(kept);
        }
        tracing::debug!(kernel = key.name(), elapsed = ?started.elapsed(), "compiled");
        Ok(Pipeline { kernel: key.name(), assembled, pipeline, layout, present, opening: backend.opening })
    }
}

/// The kernel that clears scratch.
pub(crate) fn fill_key(caps: &Caps) -> KernelKey {
    KernelKey::new(&FILL, vec![], vec![("WORKGROUP", 256.min(caps.max_workgroup)), ("ROWS", 8)])
}

impl Wgpu {
    pub(crate) fn bind_command(&self, command: Command<'_, Self>, resizes: bool) -> Result<Step> {
        command.check()?;
        match command {
            Command::Fill { span, value } => self.bind_fill(&span, value),
            Command::Copy { from, to, each } => self.bind_copy(&from, &to, each),
            Command::Launch { key, kernel, groups, spans, values } => {
                self.bind_launch(key, &kernel.0, groups, &spans, values, resizes)
            }
        }
    }

    fn step(&self, bound: Bound) -> Step {
        Step { bound: Kept::new(bound, self.turns), opening: self.opening }
    }

    /// Fails if a step is another opening's: the encoder would take nothing more.
    pub(crate) fn check_steps(&self, steps: &[Step]) -> Result<()> {
        steps.iter().try_for_each(|step| self.check_own("a step", step.opening))
    }

    fn bind_copy(&self, from: &Span<Self>, to: &Span<Self>, each: u32) -> Result<Step> {
        for span in [from, to] {
            if !span.offset().is_multiple_of(4) || !span.bytes().is_multiple_of(4) {
                return Err(Error::Invalid(format!("a copy of {span:?}; wgpu takes whole, aligned 32-bit words")));
            }
            self.check_span("a copy", span)?;
        }
        Ok(self.step(match from.bytes() {
            0 => Bound::Nothing,
            bytes => Bound::Copy {
                from: (**from.handle()).clone(),
                from_offset: from.offset(),
                to: (**to.handle()).clone(),
                to_offset: to.offset(),
                bytes,
                each,
            },
        }))
    }

    fn bind_fill(&self, span: &Span<Self>, value: u32) -> Result<Step> {
        if span.bytes() == 0 {
            return Ok(self.step(Bound::Nothing));
        }
        let key = fill_key(&self.caps);
        let tile: u32 = key.constants.iter().map(|(_, value)| value).product();
        let kernel = trifold_core::block_on(trifold_core::Backend::compile(self, &key))?;
        let words = u32::try_from(span.bytes() / 4)
            .map_err(|_| Error::Invalid(format!("a fill of {} bytes is too long", span.bytes())))?;
        let params = [
            ("n", Param::Word(words)),
            ("value", Param::Word(value)),
            ("target_offset", Param::Offset { binding: "target_words", unit: 4 }),
        ];
        let groups = words.div_ceil(tile);
        let values = Values { params: &params, n: words, initial: None };
        self.bind_launch(&key, &kernel.0, groups, &[("target_words", span.clone())], values, false)
    }

    fn bind_launch(
        &self,
        key: &KernelKey,
        pipeline: &Pipeline,
        groups: u32,
        spans: &[(&'static str, Span<Self>)],
        values: Values<'_>,
        resizes: bool,
    ) -> Result<Step> {
        let arguments = pipeline.assembled.arguments;
        let spans = arguments.iter().zip(in_order(pipeline.kernel, arguments, spans)?);
        self.check_own("a kernel", pipeline.opening)?;
        let mut entries = vec![];
        let mut residues = vec![];
        for (binding, (argument, span)) in spans.enumerate().filter(|(i, _)| pipeline.present[*i]) {
            let span = span.ok_or_else(|| Error::Invalid(format!("{} needs `{}`", pipeline.kernel, argument.name)))?;
            let unit = values.params.iter().find_map(|(_, param)| match param {
                Param::Offset { binding, unit } if *binding == argument.name => Some(*unit),
                _ => None,
            });
            self.check_span(argument.name, span)?;
            let residue = self.residue(argument.name, span, unit)?;
            residues.push((argument.name, residue));
            // To the next multiple of 16 where there is room: kernels load four words at once.
            let bytes = residue + (span.bytes().div_ceil(16) * 16).min(span.room() / 4 * 4);
            if bytes > self.caps.max_binding {
                let Caps { binding_alignment, device, backend, max_binding, .. } = &self.caps;
                let (name, bytes) = (argument.name, span.bytes());
                return Err(Error::Invalid(format!(
                    "`{name}` of {bytes} bytes {residue} bytes behind a multiple of {binding_alignment}, at which it is bound: {device} \
                     ({backend}) binds at most {max_binding}; let it start there, or split the work"
                )));
            }
            let size = std::num::NonZeroU64::new(bytes)
                .ok_or_else(|| Error::Invalid(format!("nothing is bound to `{}`", argument.name)))?;
            entries.push(wgpu::BindGroupEntry {
                binding: binding as u32,
                resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer: span.handle(),
                    offset: span.offset() - residue,
                    size: Some(size),
                }),
            });
        }
        let residue = |name: &str| residues.iter().find(|(n, _)| *n == name).map_or(0, |r| r.1);
        let params = pipeline.assembled.params.pack(key, values, residue)?;
        let bytes = params.bytes(None);
        let (group, uniform) = self.scoped(bytes.len() as u64, || {
            let uniform = self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(pipeline.kernel),
                size: bytes.len() as u64,
                usage: if resizes {
                    wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST
                } else {
                    wgpu::BufferUsages::UNIFORM
                },
                mapped_at_creation: true,
            });
            // A buffer that could not be made is not mapped, and its error is in the scope.
            if let Ok(mut mapped) = uniform.get_mapped_range_mut(..) {
                mapped.copy_from_slice(&bytes);
            }
            uniform.unmap();
            let mut entries = entries.clone();
            entries
                .push(wgpu::BindGroupEntry { binding: arguments.len() as u32, resource: uniform.as_entire_binding() });
            let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(pipeline.kernel),
                layout: &pipeline.layout,
                entries: &entries,
            });
            (group, uniform)
        })?;
        drop(bytes);
        let sized = resizes.then_some(Sized { uniform, packed: params });
        Ok(self.step(Bound::Dispatch { pipeline: pipeline.pipeline.clone(), group, grid: grid(groups), sized }))
    }

    /// Records that launches whose runs may have fewer elements get the parameters of this run: in order with the run, whenever that is.
    pub(crate) fn resize(&self, encoder: &mut wgpu::CommandEncoder, steps: &[Step], n: Option<u32>) -> Result<()> {
        let sized: Vec<&Sized> = steps.iter().filter_map(Step::sized).collect();
        let bytes: Vec<u8> = sized.iter().flat_map(|sized| sized.packed.bytes(n).into_owned()).collect();
        if bytes.is_empty() {
            return Ok(());
        }
        let staging = self.scoped(bytes.len() as u64, || {
            let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("trifold parameters"),
                size: bytes.len() as u64,
                usage: wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: true,
            });
            if let Ok(mut mapped) = staging.get_mapped_range_mut(..) {
                mapped.copy_from_slice(&bytes);
            }
            staging.unmap();
            staging
        })?;
        let mut at = 0;
        for Sized { uniform, .. } in sized {
            encoder.copy_buffer_to_buffer(&staging, at, uniform, 0, uniform.size());
            at += uniform.size();
        }
        Ok(())
    }

    /// How far before a span its binding starts: at a multiple of the device's alignment, and whole units before the span.
    fn residue(&self, name: &str, span: &Span<Self>, unit: Option<u32>) -> Result<u64> {
        let unit = unit.unwrap_or(u32::MAX);
        trifold_kernels::residue(span.offset(), self.caps.binding_alignment, unit.into()).ok_or_else(|| {
            Error::Invalid(format!(
                "the span bound to `{name}` starts at byte {}; it must start at a multiple of the element's size",
                span.offset()
            ))
        })
    }
}

/// Fails unless a span is whole, aligned words.
impl Step {
    fn sized(&self) -> Option<&Sized> {
        match &*self.bound {
            Bound::Dispatch { sized, .. } => sized.as_ref(),
            _ => None,
        }
    }

    fn is_dispatch(&self) -> bool {
        matches!(*self.bound, Bound::Dispatch { .. })
    }

    /// Records a dispatch; a copy is no pass's.
    fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>) {
        if let Bound::Dispatch { pipeline, group, grid, .. } = &*self.bound {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(grid[0], grid[1], 1);
        }
    }
}

/// Records steps into one compute pass, or several where copies stand between them; the first has the timestamps.
pub(crate) fn execute(
    encoder: &mut wgpu::CommandEncoder,
    steps: &[Step],
    n: Option<u32>,
    mut timestamps: Option<wgpu::ComputePassTimestampWrites<'_>>,
) {
    let mut rest = steps.iter().filter(|step| !matches!(*step.bound, Bound::Nothing)).peekable();
    while let Some(step) = rest.peek() {
        if let Bound::Copy { from, from_offset, to, to_offset, bytes, each } = &*step.bound {
            let bytes = bytes_of_run(*bytes, *each, n);
            encoder.copy_buffer_to_buffer(from, *from_offset, to, *to_offset, bytes);
            rest.next();
            continue;
        }
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("trifold"),
            timestamp_writes: timestamps.take(),
        });
        while let Some(step) = rest.next_if(|step| step.is_dispatch()) {
            step.dispatch(&mut pass);
        }
    }
}

/// Records `repeat` runs of dispatches into one pass between two timestamps.
pub(crate) fn execute_timed(
    encoder: &mut wgpu::CommandEncoder,
    steps: &[Step],
    repeat: u32,
    timestamps: wgpu::ComputePassTimestampWrites<'_>,
) -> Result<()> {
    if steps.iter().any(|step| matches!(*step.bound, Bound::Copy { .. })) {
        return Err(Error::Unsupported("timing a copy within wgpu".into()));
    }
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
        label: Some("trifold timed"),
        timestamp_writes: Some(timestamps),
    });
    for step in (0..repeat).flat_map(|_| steps) {
        step.dispatch(&mut pass);
    }
    Ok(())
}
