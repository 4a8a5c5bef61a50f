//! wgpu's errors, which arrive in scopes and callbacks, as Trifold's.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use trifold_core::{Error, Result, block_on};

use crate::Wgpu;

/// What callbacks have reported of the device; nothing of a caller's, which keeps the caller's callbacks.
#[derive(Clone, Default)]
pub(crate) struct Watch {
    reported: Arc<Mutex<Option<Reported>>>,
    /// Whether the device is Trifold's own.
    own: bool,
}

#[derive(Clone)]
enum Reported {
    Lost(String),
    Uncaptured(String),
}

impl Watch {
    /// Watches a device that is Trifold's own.
    pub(crate) fn device(device: &wgpu::Device) -> Watch {
        let watch = Watch { own: true, ..Watch::default() };
        let lost = watch.clone();
        device.set_device_lost_callback(move |reason, message| {
            lost.report(Reported::Lost(format!("{reason:?}: {message}")));
        });
        let uncaptured = watch.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            tracing::error!(%error, "uncaptured wgpu error");
            uncaptured.report(Reported::Uncaptured(error.to_string()));
        }));
        watch
    }

    /// Whether the device is Trifold's own.
    pub(crate) fn is_own(&self) -> bool {
        self.own
    }

    fn report(&self, what: Reported) {
        if let Ok(mut slot) = self.reported.lock()
            && !matches!(*slot, Some(Reported::Lost(_)))
        {
            *slot = Some(what);
        }
    }

    /// Fails if the device was lost.
    pub(crate) fn lost(&self) -> Result<()> {
        match self.reported.lock().as_deref() {
            Ok(Some(Reported::Lost(message))) => Err(Error::DeviceLost(message.clone())),
            _ => Ok(()),
        }
    }

    /// Fails with what was reported since the last check. A lost device stays lost.
    pub(crate) fn check(&self) -> Result<()> {
        let Ok(mut slot) = self.reported.lock() else { return Ok(()) };
        match slot.clone() {
            None => Ok(()),
            Some(Reported::Lost(message)) => Err(Error::DeviceLost(message)),
            Some(Reported::Uncaptured(message)) => {
                *slot = None;
                Err(Error::backend_message("wgpu", message))
            }
        }
    }
}

impl Wgpu {
    /// Runs calls to wgpu and gives their errors as a value. `bytes` is what they allocate.
    pub(crate) fn scoped<R>(&self, bytes: u64, calls: impl FnOnce() -> R) -> Result<R> {
        block_on(self.scoped_async(bytes, calls))
    }

    /// As [`Wgpu::scoped`], where blocking is not to be had.
    pub(crate) async fn scoped_async<R>(&self, bytes: u64, calls: impl FnOnce() -> R) -> Result<R> {
        let result = self.caught(bytes, calls).await?;
        // A device that is gone makes what it is asked for, silently and useless.
        self.watch.check()?;
        Ok(result)
    }

    /// As [`Wgpu::scoped_async`], of these calls' own errors alone.
    pub(crate) async fn caught<R>(&self, bytes: u64, calls: impl FnOnce() -> R) -> Result<R> {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let result = self.turns.take(calls);
        let (validation, internal, memory) = (validation.pop(), internal.pop(), memory.pop());
        if let Some(error) = validation.await {
            return Err(self.reported("validation", error));
        }
        if let Some(error) = internal.await {
            return Err(self.reported("internal", error));
        }
        if memory.await.is_some() {
            return Err(Error::OutOfMemory { bytes, device: self.caps.device.clone() });
        }
        result
    }

    /// What a scope caught, or what it follows from: the device may be gone.
    fn reported(&self, what: &str, error: wgpu::Error) -> Error {
        // Polling is when a device's own callback says that it is lost; a caller's device has the caller's.
        let _ = self.poll(wgpu::PollType::Poll);
        match self.watch.lost() {
            Err(lost) => lost,
            Ok(()) if error.to_string().contains("device is lost") => Error::DeviceLost(error.to_string()),
            Ok(()) => Error::backend("wgpu", what, error),
        }
    }

    /// Waits until the device is idle.
    pub(crate) fn wait(&self) -> Result<()> {
        // A caller's device that is gone takes submissions in silence: what tells is to wait for one.
        let submission = (!self.watch.own).then(|| self.turns.take(|| self.queue.submit([]))).transpose()?;
        self.wait_for(submission)
    }

    /// Waits for a submission, or for the last one. (Others' later ones, an application's frames, are not waited for.)
    pub(crate) fn wait_for(&self, submission: Option<wgpu::SubmissionIndex>) -> Result<()> {
        let waited =
            patiently(|| self.poll(wgpu::PollType::Wait { submission_index: submission.clone(), timeout: None }))?;
        self.watch.check()?;
        match waited {
            Ok(_) => Ok(()),
            Err(error @ wgpu::PollError::WrongSubmissionIndex(..)) => {
                Err(Error::DeviceLost(format!("it took no submission: {error}")))
            }
            Err(error) => Err(Error::backend("wgpu", "waiting for the device", error)),
        }
    }

    fn poll(&self, how: wgpu::PollType) -> Result<Polled> {
        self.turns.take(|| self.watch.surviving(|| self.device.poll(how)))?
    }
}

type Polled = std::result::Result<wgpu::PollStatus, wgpu::PollError>;

/// Waits on where wgpu-hal gives up: through GL it waits for two seconds at most. If it gives up at once, waiting itself has failed.
fn patiently(mut wait: impl FnMut() -> Result<Polled>) -> Result<Polled> {
    loop {
        let started = Instant::now();
        let waited = wait()?;
        if !matches!(waited, Err(wgpu::PollError::Timeout)) || started.elapsed() < Duration::from_secs(1) {
            return Ok(waited);
        }
    }
}

/// How wgpu's panic begins where a driver says in a poll that the device is lost, or that memory is. Callbacks for a
/// lost device and for errors tell only what wgpu finds itself.
const POLL_PANIC: &str = "Error in Device::poll";

impl Watch {
    /// What a poll gives. If it panics because the device is lost, the device counts as lost from then on. Other panics
    /// go on: they come from callbacks, a caller's among them.
    fn surviving<R>(&self, poll: impl FnOnce() -> R) -> Result<R> {
        // What a panic leaves behind is wgpu's device, which is not used again: the watch says that it is lost.
        catch_unwind(AssertUnwindSafe(poll)).map_err(|panic| {
            let Some(message) = text(&*panic).filter(|text| text.starts_with(POLL_PANIC)) else { resume_unwind(panic) };
            let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
            self.report(Reported::Lost(message.clone()));
            Error::DeviceLost(message)
        })
    }
}

/// What a panic says.
pub(crate) fn text(panic: &(dyn Any + Send)) -> Option<&str> {
    panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_that_loses_the_device_in_a_poll_is_an_error() {
        let watch = Watch::default();
        assert_eq!(watch.surviving(|| 1).unwrap(), 1);
        let lost = watch
            .surviving(|| panic!("Error in Device::poll: Validation Error\n\nCaused by:\n  Parent device is lost\n"));
        let said = "Error in Device::poll: Validation Error Caused by: Parent device is lost";
        assert!(matches!(lost, Err(Error::DeviceLost(message)) if message == said));
        assert!(matches!(watch.check(), Err(Error::DeviceLost(message)) if message == said));
    }

    #[test]
    fn a_wait_lasts_as_long_as_the_device_works() {
        let mut waits = 0;
        let waited = patiently(|| {
            waits += 1;
            std::thread::sleep(Duration::from_millis(1100));
            Ok(if waits < 3 { Err(wgpu::PollError::Timeout) } else { Ok(wgpu::PollStatus::WaitSucceeded) })
        });
        assert!(matches!(waited, Ok(Ok(wgpu::PollStatus::WaitSucceeded))) && waits == 3);
        let failed = patiently(|| Ok(Err(wgpu::PollError::Timeout)));
        assert!(matches!(failed, Ok(Err(wgpu::PollError::Timeout))));
    }

    #[test]
    fn a_panic_of_a_callback_goes_on() {
        let watch = Watch::default();
        let panic = catch_unwind(AssertUnwindSafe(|| watch.surviving(|| panic!("a caller's own")))).unwrap_err();
        assert_eq!(text(&*panic), Some("a caller's own"));
        assert!(watch.check().is_ok());
    }
}
