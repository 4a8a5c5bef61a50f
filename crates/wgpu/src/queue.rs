//! Moving bytes and measuring time.

use std::panic::{AssertUnwindSafe, catch_unwind};

use trifold_core::algorithm::copy::PATCH;
use trifold_core::{Backend, Caps, Command, Error, KernelKey, Param, Result, Span, Values, block_on};

use crate::Wgpu;
use crate::bind::{Steps, execute, execute_timed};
use crate::gl::Kept;

/// Bytes that move through one staging buffer.
const STAGING: u64 = 256 << 20;

/// A caller's own buffer may lack what Trifold's have.
fn check_usage(buffer: &wgpu::Buffer, needed: wgpu::BufferUsages, name: &str, done: &str) -> Result<()> {
    if buffer.usage().contains(needed) {
        return Ok(());
    }
    Err(Error::Invalid(format!("a buffer without the usage {name} cannot be {done}; create it with {name}")))
}

fn check(what: &str, span: &Span<Wgpu>, bytes: usize) -> Result<()> {
    if span.bytes() == bytes as u64 {
        return Ok(());
    }
    Err(Error::Invalid(format!("{what}: the span has {} bytes, the host's slice {bytes}", span.bytes())))
}

impl Wgpu {
    /// Whether the queue is the device's own. wgpu tells the other device, which panics unless it was told not to.
    pub(crate) fn check_queue(&self) -> Result<()> {
        let usage = wgpu::BufferUsages::COPY_DST;
        let buffer = self.scoped(4, || self.make_buffer("trifold queue", 4, usage))?;
        let buffer = Kept::new(buffer, self.turns);
        let write = || catch_unwind(AssertUnwindSafe(|| self.queue.write_buffer(&buffer, 0, &[0; 4])));
        self.scoped(0, write)?
            .map_err(|_| Error::Invalid("the queue is another device's; give the one that came with the device".into()))
    }

    pub(crate) fn write_span(&self, to: &Span<Self>, bytes: &[u8]) -> Result<()> {
        check("write", to, bytes.len())?;
        self.check_span("a write", to)?;
        check_usage(to.handle(), wgpu::BufferUsages::COPY_DST, "COPY_DST", "written to")?;
        // wgpu writes whole words. What lies in a word that is not all the span's is written by a kernel.
        let before = (to.offset().next_multiple_of(4) - to.offset()).min(bytes.len() as u64) as usize;
        let (head, rest) = bytes.split_at(before);
        let (bytes, tail) = rest.split_at(rest.len() / 4 * 4);
        self.patch(to, 0, head)?;
        self.patch(to, (before + bytes.len()) as u64, tail)?;
        let mut offset = to.offset() + before as u64;
        for chunk in bytes.chunks(STAGING as usize) {
            self.scoped(chunk.len() as u64, || {
                self.queue.write_buffer(to.handle(), offset, chunk);
                if bytes.len() > STAGING as usize {
                    self.queue.submit([]);
                }
            })?;
            offset += chunk.len() as u64;
        }
        self.watch.check()
    }

    /// Writes up to three bytes that lie in one word, `at` bytes into a span.
    fn patch(&self, to: &Span<Self>, at: u64, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let from = to.offset() + at;
        let (mut mask, mut value) = ([0; 4], [0; 4]);
        let within = (from % 4) as usize..(from % 4) as usize + bytes.len();
        mask[within.clone()].fill(u8::MAX);
        value[within].copy_from_slice(bytes);
        let buffer: &wgpu::Buffer = to.handle();
        let word = self.span_of(buffer.clone(), buffer.size()).slice(from / 4 * 4, 4)?;
        let key = KernelKey::new(&PATCH, vec![], vec![("WORKGROUP", 1)]);
        let kernel = block_on(Backend::compile(self, &key))?;
        let params = [
            ("mask", Param::Word(u32::from_le_bytes(mask))),
            ("value", Param::Word(u32::from_le_bytes(value))),
            ("word_offset", Param::Offset { binding: "word", unit: 4 }),
        ];
        let values = Values { params: &params, n: 1, initial: None };
        let launch = Command::Launch { key: &key, kernel: &kernel, groups: 1, spans: vec![("word", word)], values };
        let steps = self.bind_commands(vec![launch], false)?;
        let mut recorder = self.record()?;
        self.execute(&mut recorder, &steps, None)?;
        self.submit(recorder)
    }

    pub(crate) async fn read_span(&self, from: &Span<Self>, bytes: &mut [u8]) -> Result<()> {
        check("read", from, bytes.len())?;
        self.check_span("a read", from)?;
        if bytes.is_empty() {
            return Ok(());
        }
        check_usage(from.handle(), wgpu::BufferUsages::COPY_SRC, "COPY_SRC", "read")?;
        // wgpu copies whole words.
        let mut skipped = from.offset() % 4;
        let size = (skipped + from.bytes()).next_multiple_of(4).min(STAGING);
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = self.scoped_async(size, || self.make_buffer("trifold read", size, usage)).await?;
        let staging = Kept::new(staging, self.turns);
        let (mut offset, mut rest) = (from.offset() - skipped, bytes);
        while !rest.is_empty() {
            let (chunk, behind) = rest.split_at_mut(rest.len().min((STAGING - skipped) as usize));
            let length = (skipped + chunk.len() as u64).next_multiple_of(4);
            let copy = || {
                let mut encoder = self.device.create_command_encoder(&Default::default());
                encoder.copy_buffer_to_buffer(from.handle(), offset, &staging, 0, length);
                self.queue.submit([encoder.finish()])
            };
            let submission = self.scoped_async(0, copy).await?;
            let wanted = skipped as usize..skipped as usize + chunk.len();
            self.map(&staging, length, submission, |mapped| chunk.copy_from_slice(&mapped[wanted])).await?;
            (offset, rest, skipped) = (offset + length, behind, 0);
        }
        Ok(())
    }

    /// Maps a staging buffer's first bytes and hands them over, once the submission that writes them is done.
    async fn map(
        &self,
        staging: &wgpu::Buffer,
        bytes: u64,
        submission: wgpu::SubmissionIndex,
        take: impl FnOnce(&[u8]),
    ) -> Result<()> {
        let outcome = std::sync::Arc::new(std::sync::Mutex::new(None));
        let sender = outcome.clone();
        staging.slice(..bytes).map_async(wgpu::MapMode::Read, move |result| {
            if let Ok(mut slot) = sender.lock() {
                *slot = Some(result);
            }
        });
        // A browser's own loop runs the callback; elsewhere polling does, and has done so when it returns.
        #[cfg(not(target_arch = "wasm32"))]
        self.wait_for(Some(submission))?;
        std::future::poll_fn(|context| match outcome.lock() {
            Ok(slot) if slot.is_none() => {
                context.waker().wake_by_ref();
                std::task::Poll::Pending
            }
            _ => std::task::Poll::Ready(()),
        })
        .await;
        let result = outcome.lock().ok().and_then(|mut slot| slot.take());
        match result {
            Some(Ok(())) => {}
            Some(Err(error)) => return Err(Error::backend("wgpu", "mapping a buffer to read it", error)),
            None => return Err(Error::backend_message("wgpu", "mapping a buffer to read it was interrupted")),
        }
        {
            let mapped = staging
                .slice(..bytes)
                .get_mapped_range()
                .map_err(|e| Error::backend("wgpu", "reading a mapped buffer", e))?;
            take(&mapped);
        }
        self.turns.take(|| staging.unmap())
    }

    pub(crate) fn time_steps(&self, before: Option<&Steps>, steps: &Steps, n: Option<u32>, repeat: u32) -> Result<f64> {
        let period = self.timestamp_period.ok_or_else(|| {
            let Caps { device, api, remedy, .. } = &self.caps;
            Error::Unsupported(format!("{device} ({api}) has no timestamps{remedy}"))
        })?;
        before.into_iter().chain([steps]).try_for_each(|steps| self.check_steps(steps))?;
        if steps.is_empty() {
            return Ok(0.0);
        }
        let buffer = |usage| self.make_buffer("trifold time", 16, usage);
        let (read, recorded, submission) = self.scoped(16, || {
            let queries = self.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("trifold time"),
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            });
            let resolved = buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC);
            let read = buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
            let mut encoder = self.device.create_command_encoder(&Default::default());
            let ready = before.map_or(Ok(()), |before| {
                self.resize(&mut encoder, before, None)?;
                execute(&mut encoder, before, None);
                Ok(())
            });
            let ready = ready.and_then(|()| self.resize(&mut encoder, steps, n));
            let timed = execute_timed(
                &mut encoder,
                steps,
                repeat,
                wgpu::ComputePassTimestampWrites {
                    query_set: &queries,
                    beginning_of_pass_write_index: Some(0),
                    end_of_pass_write_index: Some(1),
                },
            );
            let recorded = ready.and(timed);
            encoder.resolve_query_set(&queries, 0..2, &resolved, 0);
            encoder.copy_buffer_to_buffer(&resolved, 0, &read, 0, 16);
            let submission = self.queue.submit([encoder.finish()]);
            (read, recorded, submission)
        })?;
        let read = Kept::new(read, self.turns);
        recorded?;
        let mut ticks = [0u64; 2];
        trifold_core::block_on(self.map(&read, 16, submission, |bytes| {
            for (tick, bytes) in ticks.iter_mut().zip(bytes.chunks_exact(8)) {
                *tick = bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
            }
        }))?;
        Ok(ticks[1].saturating_sub(ticks[0]) as f64 * f64::from(period) * 1e-6)
    }
}
