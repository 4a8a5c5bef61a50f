//! Names a case that takes long, while it runs: a driver that hangs leaves no other trace.

use std::collections::HashMap;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

/// A case that takes longer is named.
const SLOW: Duration = Duration::from_secs(30);

/// Told what each worker begins and ends.
pub struct Watch {
    events: Option<Sender<Event>>,
    thread: Option<JoinHandle<()>>,
}

struct Event {
    worker: usize,
    /// What it runs from now on.
    case: Option<String>,
}

impl Watch {
    pub fn new(bar: ProgressBar) -> Watch {
        let (events, received) = channel::<Event>();
        let thread = std::thread::spawn(move || {
            let mut running: HashMap<usize, (String, Instant)> = HashMap::new();
            loop {
                let first_due = running.values().map(|(_, start)| SLOW.saturating_sub(start.elapsed())).min();
                match received.recv_timeout(first_due.unwrap_or(SLOW)) {
                    Ok(Event { worker, case: Some(name) }) => {
                        running.insert(worker, (name, Instant::now()));
                    }
                    Ok(Event { worker, case: None }) => {
                        running.remove(&worker);
                    }
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => running.retain(|_, (name, start)| {
                        let is_slow = start.elapsed() >= SLOW;
                        if is_slow {
                            let seconds = SLOW.as_secs();
                            bar.suspend(|| eprintln!("note: {name} has been running for {seconds} s"));
                        }
                        !is_slow
                    }),
                }
            }
        });
        Watch { events: Some(events), thread: Some(thread) }
    }

    pub fn starts(&self, worker: usize, case: String) {
        self.tell(Event { worker, case: Some(case) });
    }

    pub fn ends(&self, worker: usize) {
        self.tell(Event { worker, case: None });
    }

    fn tell(&self, event: Event) {
        if let Some(events) = &self.events {
            // The thread ends only when this end does.
            let _ = events.send(event);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.events = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
