//! Whose turn it is to put a call's steps into a queue.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A queue's lock, shared by all backends on that queue: two of them may run calls of one prepared plan, whose scratch is one. For
/// backends whose calls go to the queue step by step.
#[derive(Debug, Clone)]
pub struct Turns(Arc<Mutex<()>>);

/// By the queue's address.
static TAKEN: Mutex<BTreeMap<usize, Weak<Mutex<()>>>> = Mutex::new(BTreeMap::new());

impl Turns {
    /// Of the queue at this address.
    pub fn of(queue: usize) -> Turns {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        taken.retain(|_, lock| lock.strong_count() > 0);
        if let Some(lock) = taken.get(&queue).and_then(Weak::upgrade) {
            return Turns(lock);
        }
        let lock = Arc::default();
        taken.insert(queue, Arc::downgrade(&lock));
        Turns(lock)
    }

    /// Until the guard is dropped no other thread takes a turn.
    pub fn take(&self) -> MutexGuard<'_, ()> {
        // It guards no data.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_has_one_lock() {
        let (first, second, other) = (Turns::of(0x10), Turns::of(0x10), Turns::of(0x20));
        let turn = first.take();
        assert!(second.0.try_lock().is_err() && other.0.try_lock().is_ok());
        drop(turn);
        assert!(second.0.try_lock().is_ok());
        drop((first, second));
        // What was at an address before is forgotten.
        Turns::of(0x30);
        assert!(!TAKEN.lock().unwrap().contains_key(&0x10));
    }
}
