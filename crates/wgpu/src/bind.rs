//! Pipelines and bind groups: what a launch needs, made once.

use trifold_core::algorithm::copy::{FILL, SIZES};
use trifold_core::{
    CAPACITY, Caps, Command, Error, KernelKey, LENGTH_OFFSET, Param, Result, SizeStep, Span, Values, block_on,
    bytes_of_run, in_order,
};
use trifold_kernels::{Assembled, Packed, assemble};

use crate::gl::Kept;
use crate::memory::Opening;
use crate::{Kernel, Wgpu};

/// A compiled kernel. Its bind-group layout depends on which optional arguments a launch has.
pub(crate) struct Pipeline {
    kernel: &'static str,
    assembled: Assembled,
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    present: Vec<bool>,
    opening: Opening,
}

/// A call's commands with their arguments bound.
pub struct Steps {
    bound: Kept<Bound>,
    /// Whose pipelines, groups and buffers it has.
    opening: Opening,
}

#[derive(Default)]
struct Bound {
    steps: Vec<Step>,
    /// What runs with fewer elements write anew.
    uniforms: Option<Uniforms>,
}

enum Step {
    Dispatch { pipeline: wgpu::ComputePipeline, group: wgpu::BindGroup, grid: [u32; 2] },
    Copy { from: wgpu::Buffer, from_offset: u64, to: wgpu::Buffer, to_offset: u64, bytes: u64, each: u32 },
}

/// The parameters of all launches of a call, each in a part of one buffer.
struct Uniforms {
    buffer: wgpu::Buffer,
    parts: Vec<(u64, Packed)>,
}

/// A command whose spans were checked; launches wait for their parameters' buffer.
enum Checked {
    Launch(Launch),
    Step(Step),
    /// The launches from here on are for as many elements as this word says.
    Length(Span<Wgpu>),
}

struct Launch {
    kernel: Kernel,
    /// Each argument's binding, and what is bound there.
    arguments: Vec<(u32, wgpu::Buffer, u64, std::num::NonZeroU64)>,
    params: Packed,
    groups: u32,
}

/// The words on the device that say how many elements there are, in order.
struct Lengths(Vec<Length>);

struct Length {
    word: Span<Wgpu>,
    /// The step before which it is read.
    step: usize,
    /// The launches that it is of: those up to the next one.
    parts: std::ops::Range<usize>,
}

impl Lengths {
    fn of(commands: &[Checked]) -> Lengths {
        let (mut lengths, mut steps, mut launches): (Vec<Length>, _, _) = (vec![], 0, 0);
        for command in commands {
            match command {
                Checked::Length(word) => {
                    lengths.push(Length { word: word.clone(), step: steps, parts: launches..launches })
                }
                Checked::Step(_) => steps += 1,
                Checked::Launch(_) => {
                    (steps, launches) = (steps + 1, launches + 1);
                    lengths.last_mut().into_iter().for_each(|length| length.parts.end = launches);
                }
            }
        }
        Lengths(lengths)
    }
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

/// The kernel that writes the parameters of the launches behind it.
fn sizes_key(caps: &Caps) -> KernelKey {
    KernelKey::new(&SIZES, vec![], vec![("WORKGROUP", 64.min(caps.max_workgroup))])
}

impl Wgpu {
    pub(crate) fn bind_commands(&self, commands: Vec<Command<'_, Self>>, resizes: bool) -> Result<Steps> {
        let mut checked = vec![];
        for command in commands {
            command.check()?;
            match command {
                Command::Length { span } => checked.push(Checked::Length(span)),
                Command::Fill { span, value } => checked.extend(self.check_fill(&span, value)?.map(Checked::Launch)),
                Command::Copy { from, to, each } => {
                    checked.extend(self.check_copy(&from, &to, each)?.map(Checked::Step))
                }
                Command::Launch { key, kernel, groups, spans, values } => {
                    checked.push(Checked::Launch(self.check_launch(key, kernel, groups, &spans, values)?));
                }
            }
        }
        let mut usage = wgpu::BufferUsages::UNIFORM;
        if resizes {
            usage |= wgpu::BufferUsages::COPY_DST;
        }
        let lengths = Lengths::of(&checked);
        if !lengths.0.is_empty() {
            usage |= wgpu::BufferUsages::STORAGE;
        }
        let mut bound = Kept::new(self.scoped(0, || self.make_steps(checked, usage))?, self.turns);
        // From the last one on, so that places before it stay what they are.
        for Length { word, step, parts } in lengths.0.iter().rev() {
            let Some(uniforms) = &bound.uniforms else { continue };
            if let Some(sizes) = self.size_by(word, &uniforms.buffer, &uniforms.parts[parts.clone()])? {
                bound.steps.insert(*step, sizes);
            }
        }
        bound.uniforms.take_if(|_| !resizes);
        Ok(Steps { bound, opening: self.opening })
    }

    /// Makes the launches' parameters' buffer and their groups.
    fn make_steps(&self, checked: Vec<Checked>, usage: wgpu::BufferUsages) -> Bound {
        let alignment = u64::from(self.device.limits().min_uniform_buffer_offset_alignment);
        let (mut bytes, mut parts) = (vec![], vec![]);
        for command in &checked {
            if let Checked::Launch(Launch { params, .. }) = command {
                bytes.resize(bytes.len().next_multiple_of(alignment as usize), 0);
                parts.push((bytes.len() as u64, params.clone()));
                bytes.extend_from_slice(&params.bytes(None));
            }
        }
        let uniforms =
            (!parts.is_empty()).then(|| Uniforms { buffer: self.filled("parameters", &bytes, usage), parts });
        let mut parts = uniforms.iter().flat_map(|uniforms| uniforms.parts.iter().map(|part| (&uniforms.buffer, part)));
        let steps = checked.into_iter().filter_map(|command| match command {
            Checked::Step(step) => Some(step),
            Checked::Length(_) => None,
            Checked::Launch(launch) => {
                let (buffer, (at, params)) = parts.next()?;
                Some(self.dispatch(&launch, buffer, *at, params))
            }
        });
        Bound { steps: steps.collect(), uniforms }
    }

    /// A buffer with these bytes. One that could not be made is not mapped, and its error is in the scope.
    fn filled(&self, label: &str, bytes: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let (label, size) = (Some(label), bytes.len() as u64);
        let buffer =
            self.device.create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: true });
        if let Ok(mut mapped) = buffer.get_mapped_range_mut(..) {
            mapped.copy_from_slice(bytes);
        }
        buffer.unmap();
        buffer
    }

    fn dispatch(&self, launch: &Launch, uniforms: &wgpu::Buffer, offset: u64, params: &Packed) -> Step {
        let Launch { kernel, arguments, groups, .. } = launch;
        let pipeline = &kernel.0;
        let entry = |binding, buffer, offset, size| wgpu::BindGroupEntry {
            binding,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset, size }),
        };
        let mut entries: Vec<_> = arguments
            .iter()
            .map(|(binding, buffer, offset, size)| entry(*binding, buffer, *offset, Some(*size)))
            .collect();
        let size = std::num::NonZeroU64::new(params.bytes(None).len() as u64);
        entries.push(entry(pipeline.assembled.arguments.len() as u32, uniforms, offset, size));
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(pipeline.kernel),
            layout: &pipeline.layout,
            entries: &entries,
        });
        Step::Dispatch { pipeline: pipeline.pipeline.clone(), group, grid: grid(*groups) }
    }

    /// A launch that writes the parameters that follow from how many elements there are, where there are any.
    fn size_by(&self, length: &Span<Self>, uniforms: &wgpu::Buffer, parts: &[(u64, Packed)]) -> Result<Option<Step>> {
        let (mut table, mut sizes): (Vec<u32>, u32) = (vec![], 0);
        for (at, params) in parts {
            for (place, size) in params.sizes() {
                let mut steps = [[0; 3]; 4];
                for (words, step) in steps.iter_mut().zip(size.steps()) {
                    *words = match step {
                        SizeStep::Parts(each) => [1, each, 0],
                        SizeStep::Times(factor) => [2, factor, 0],
                        SizeStep::Plus(more) => [3, more, 0],
                        SizeStep::Window(first, most) => [4, first, most],
                    };
                }
                table.push((at / 4) as u32 + (place / 4) as u32);
                table.extend(steps.as_flattened());
                sizes += 1;
            }
        }
        // Fills have sizes of their own, which do not follow.
        let sized = parts.iter().filter(|(_, params)| !params.sizes().is_empty());
        let Some(capacity) = sized.map(|(_, params)| params.elements()).max() else { return Ok(None) };
        let key = sizes_key(&self.caps);
        let kernel = block_on(trifold_core::Backend::compile(self, &key))?;
        let bytes: Vec<u8> = table.iter().flat_map(|word| word.to_le_bytes()).collect();
        let table = self.scoped(0, || self.filled("sizes", &bytes, wgpu::BufferUsages::STORAGE))?;
        let table = Kept::new(table, self.turns);
        let span = |buffer: &wgpu::Buffer| self.span_of(buffer.clone(), buffer.size());
        let spans = [("length_at", length.clone()), ("table", span(&table)), ("uniforms", span(uniforms))];
        let params = [
            ("sizes", Param::Word(sizes)),
            (CAPACITY, Param::Word(capacity)),
            (LENGTH_OFFSET, Param::Offset { binding: "length_at", unit: 4 }),
        ];
        let values = Values { params: &params, n: capacity, initial: None };
        let launch = self.check_launch(&key, &kernel, 1, &spans, values)?;
        let bound = self.scoped(0, || self.make_steps(vec![Checked::Launch(launch)], wgpu::BufferUsages::UNIFORM))?;
        Ok(bound.steps.into_iter().next())
    }

    /// Fails if steps are another opening's: the encoder would take nothing more.
    pub(crate) fn check_steps(&self, steps: &Steps) -> Result<()> {
        self.check_own("a step", steps.opening)
    }

    fn check_copy(&self, from: &Span<Self>, to: &Span<Self>, each: u32) -> Result<Option<Step>> {
        for span in [from, to] {
            if !span.offset().is_multiple_of(4) || !span.bytes().is_multiple_of(4) {
                return Err(Error::Invalid(format!("a copy of {span:?}; wgpu takes whole, aligned 32-bit words")));
            }
            self.check_span("a copy", span)?;
        }
        Ok((from.bytes() > 0).then(|| Step::Copy {
            from: (**from.handle()).clone(),
            from_offset: from.offset(),
            to: (**to.handle()).clone(),
            to_offset: to.offset(),
            bytes: from.bytes(),
            each,
        }))
    }

    fn check_fill(&self, span: &Span<Self>, value: u32) -> Result<Option<Launch>> {
        if span.bytes() == 0 {
            return Ok(None);
        }
        let key = fill_key(&self.caps);
        let tile: u32 = key.constants.iter().map(|(_, value)| value).product();
        let kernel = block_on(trifold_core::Backend::compile(self, &key))?;
        let words = u32::try_from(span.bytes() / 4)
            .map_err(|_| Error::Invalid(format!("a fill of {} bytes is too long", span.bytes())))?;
        let params = [
            ("n", Param::Word(words)),
            ("value", Param::Word(value)),
            ("target_offset", Param::Offset { binding: "target_words", unit: 4 }),
        ];
        let values = Values { params: &params, n: words, initial: None };
        let spans = [("target_words", span.clone())];
        self.check_launch(&key, &kernel, words.div_ceil(tile), &spans, values).map(Some)
    }

    fn check_launch(
        &self,
        key: &KernelKey,
        kernel: &Kernel,
        groups: u32,
        spans: &[(&'static str, Span<Self>)],
        values: Values<'_>,
    ) -> Result<Launch> {
        let pipeline = &kernel.0;
        let all = &pipeline.assembled.arguments;
        let spans = all.iter().zip(in_order(pipeline.kernel, all, spans)?);
        self.check_own("a kernel", pipeline.opening)?;
        let mut arguments = vec![];
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
            let needed = residue + span.bytes();
            let bytes = needed.next_multiple_of(16).min((residue + span.room()) / 4 * 4);
            if bytes < needed {
                let (name, room) = (argument.name, span.room());
                return Err(Error::Invalid(format!(
                    "`{name}` ends {room} bytes behind where it starts, within a 32-bit word; wgpu binds whole words: make its \
                     buffer a multiple of 4 bytes long"
                )));
            }
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
            arguments.push((binding as u32, (**span.handle()).clone(), span.offset() - residue, size));
        }
        let residue = |name: &str| residues.iter().find(|(n, _)| *n == name).map_or(0, |r| r.1);
        let params = pipeline.assembled.params.pack(key, values, residue)?;
        Ok(Launch { kernel: kernel.clone(), arguments, params, groups })
    }

    /// Records that launches whose runs may have fewer elements get the parameters of this run: in order with the run, whenever that is.
    pub(crate) fn resize(&self, encoder: &mut wgpu::CommandEncoder, steps: &Steps, n: Option<u32>) -> Result<()> {
        let Some(Uniforms { buffer, parts }) = &steps.bound.uniforms else { return Ok(()) };
        let mut bytes = vec![0; buffer.size() as usize];
        for (at, params) in parts {
            let params = params.bytes(n);
            bytes[*at as usize..][..params.len()].copy_from_slice(&params);
        }
        let copied = || {
            let staging = self.filled("trifold parameters", &bytes, wgpu::BufferUsages::COPY_SRC);
            encoder.copy_buffer_to_buffer(&staging, 0, buffer, 0, buffer.size());
        };
        self.scoped(bytes.len() as u64, copied)
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

impl Steps {
    pub(crate) fn is_empty(&self) -> bool {
        self.bound.steps.is_empty()
    }
}

impl Step {
    /// Records a dispatch; a copy is no pass's.
    fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>) {
        if let Step::Dispatch { pipeline, group, grid } = self {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(grid[0], grid[1], 1);
        }
    }
}

/// Records steps into one compute pass, or several where copies stand between them.
pub(crate) fn execute(encoder: &mut wgpu::CommandEncoder, steps: &Steps, n: Option<u32>) {
    let mut rest = steps.bound.steps.iter().peekable();
    while let Some(step) = rest.peek() {
        if let Step::Copy { from, from_offset, to, to_offset, bytes, each } = step {
            let bytes = bytes_of_run(*bytes, *each, n);
            encoder.copy_buffer_to_buffer(from, *from_offset, to, *to_offset, bytes);
            rest.next();
            continue;
        }
        let mut pass =
            encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: Some("trifold"), timestamp_writes: None });
        while let Some(step) = rest.next_if(|step| matches!(step, Step::Dispatch { .. })) {
            step.dispatch(&mut pass);
        }
    }
}

/// Records `repeat` runs of dispatches into one pass between two timestamps.
pub(crate) fn execute_timed(
    encoder: &mut wgpu::CommandEncoder,
    steps: &Steps,
    repeat: u32,
    timestamps: wgpu::ComputePassTimestampWrites<'_>,
) -> Result<()> {
    let steps = &steps.bound.steps;
    if steps.iter().any(|step| matches!(step, Step::Copy { .. })) {
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
