//! What blocks hand on in their order: decoupled look-back on a processor.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;

/// How often a thread polls before it lets others run: for tens of microseconds, longer than a block takes. To yield at once
/// would give other programs a whole slice, while the block that this waits for is about done.
const SPINS: u32 = 2000;

/// A value that each block changes after the block before has.
///
/// A thread waits only for blocks whose threads run already: it is for parts that are taken in ascending order.
pub(crate) struct Relay<S> {
    /// Whose turn it is.
    turn: AtomicUsize,
    abandoned: AtomicBool,
    value: Mutex<S>,
}

impl<S> Relay<S> {
    pub(crate) fn new(value: S) -> Relay<S> {
        Relay { turn: AtomicUsize::new(0), abandoned: AtomicBool::new(false), value: Mutex::new(value) }
    }

    /// To be kept while a block is worked on. If that panics, others do not wait for its turn.
    pub(crate) fn watch(&self) -> Watch<'_> {
        Watch { abandoned: &self.abandoned, unwound: std::thread::panicking() }
    }

    /// Changes the value, once all blocks before have. `None` if one of them never will.
    pub(crate) fn take<R>(&self, block: usize, change: impl FnOnce(&mut S) -> R) -> Option<R> {
        let mut polls = 0u32;
        while self.turn.load(Ordering::Acquire) != block {
            if self.abandoned.load(Ordering::Relaxed) {
                return None;
            }
            polls += 1;
            if polls < SPINS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        let result = change(&mut self.value.lock());
        self.turn.store(block + 1, Ordering::Release);
        Some(result)
    }

    /// What the last block left.
    pub(crate) fn into_inner(self) -> S {
        self.value.into_inner()
    }
}

/// Tells the other threads of a panic, in an operator say, which would otherwise leave them waiting.
pub(crate) struct Watch<'a> {
    abandoned: &'a AtomicBool,
    /// Whether the thread was unwinding before: a call in a destructor is no panic of its blocks.
    unwound: bool,
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if !self.unwound && std::thread::panicking() {
            self.abandoned.store(true, Ordering::Relaxed);
        }
    }
}
