//! Lanes: what each thread has recorded and not yet written.

use crate::dispatches::{self, Share, Sums};
use crate::json::{self, Text};
use crate::session;
use parking_lot::Mutex;
use std::cell::OnceCell;
use std::sync::Arc;

/// A lane this long goes to the file.
const FULL: usize = 64 * 1024;
/// So many nanoseconds after it last went to the file it does again: what a crash can lose.
const STALE: u64 = 100_000_000;

#[derive(Default)]
struct Lane {
    /// The timeline that `text` belongs to.
    generation: u64,
    text: Text,
    /// Number of the thread.
    thread: u64,
    written: u64,
    /// The work of this thread on one dispatch, as long as nothing else comes.
    open: Option<Share>,
    sums: Sums,
}

static LANES: Mutex<Vec<Arc<Mutex<Lane>>>> = Mutex::new(Vec::new());

/// A thread's hold on its lane.
struct Handle(OnceCell<Arc<Mutex<Lane>>>);

thread_local! {
    static HANDLE: Handle = const { Handle(OnceCell::new()) };
}

impl Handle {
    fn lane(&self) -> &Mutex<Lane> {
        self.0.get_or_init(|| {
            let lane = Arc::<Mutex<Lane>>::default();
            LANES.lock().push(lane.clone());
            lane
        })
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let Some(lane) = self.0.take() else { return };
        session::add(|| {
            let mut lane = lane.lock();
            lane.close();
            // Kept before the lane is unlocked: whoever finds the lane empty and looks there next does not miss them.
            dispatches::keep(std::mem::take(&mut lane.sums));
            lane.take()
        });
        LANES.lock().retain(|other| !Arc::ptr_eq(other, &lane));
    }
}

impl Lane {
    /// Gets ready for events of the current timeline. Returns its start.
    fn prepare(&mut self, at: u64) -> u64 {
        let (generation, zero) = session::current();
        if self.generation != generation {
            self.generation = generation;
            self.text.clear();
            self.written = at;
            self.thread = thread_id();
            json::metadata(&mut self.text, "thread_name", self.thread, &thread_name());
        }
        zero
    }

    /// Makes an event of the open share.
    fn close(&mut self) {
        let Some(share) = self.open.take() else { return };
        self.sums.add_share(&share);
        if share.timeline && share.generation == self.generation {
            share.write(&mut self.text, self.thread, session::current().1);
        }
    }

    /// Whether it is time to write the text.
    fn due(&mut self, at: u64) -> bool {
        let due = self.text.len() >= FULL || at.saturating_sub(self.written) >= STALE && !self.text.is_empty();
        if due {
            self.written = at;
        }
        due
    }

    /// The text and the timeline that it belongs to.
    fn take(&mut self) -> (u64, Text) {
        (self.generation, std::mem::take(&mut self.text))
    }
}

/// Lets `write` append an event that ended `at`; it is told the thread and when the timeline began.
pub(crate) fn record(at: u64, write: impl FnOnce(&mut Text, u64, u64)) {
    with_lane(|lane| {
        let zero = lane.prepare(at);
        lane.close();
        write(&mut lane.text, lane.thread, zero);
        lane.due(at)
    });
}

/// Adds a share of a dispatch, to the one that is open if it is of the same dispatch.
pub(crate) fn record_share(mut share: Share) {
    with_lane(|lane| {
        lane.prepare(share.end);
        share.generation = lane.generation;
        match &mut lane.open {
            Some(open) if open.dispatch == share.dispatch => {
                open.end = share.end;
                open.workgroups += share.workgroups;
                false
            }
            _ => {
                lane.close();
                let at = share.end;
                lane.open = Some(share);
                lane.due(at)
            }
        }
    });
}

/// Counts a dispatch.
pub(crate) fn with_sums(change: impl FnOnce(&mut Sums)) {
    with_lane(|lane| {
        change(&mut lane.sums);
        false
    });
}

/// Changes the lane of this thread and writes its text if `change` says that it is due. A thread that is ending has no
/// lane.
fn with_lane(change: impl FnOnce(&mut Lane) -> bool) {
    let _ = HANDLE.try_with(|handle| {
        let lane = handle.lane();
        // Let go before the text is written: `end` locks the timeline, then the lanes, and so does `add`.
        let due = change(&mut lane.lock());
        if due {
            session::add(|| lane.lock().take());
        }
    });
}

/// Passes on what all lanes hold of the current timeline.
pub(crate) fn drain_all(mut take: impl FnMut(&[u8])) {
    let (generation, _) = session::current();
    for lane in LANES.lock().iter() {
        let mut lane = lane.lock();
        lane.close();
        let (recorded, text) = lane.take();
        if recorded == generation {
            take(&text);
        }
        // A lane says its name anew to the next timeline, even when this was its last event.
        lane.generation = 0;
    }
}

/// Passes on what all lanes have summed up.
pub(crate) fn drain_sums(mut take: impl FnMut(Sums)) {
    for lane in LANES.lock().iter() {
        let mut lane = lane.lock();
        lane.close();
        take(std::mem::take(&mut lane.sums));
    }
}

#[cfg(unix)]
pub(crate) fn lock_for_fork() {
    std::mem::forget(LANES.lock());
}

#[cfg(unix)]
pub(crate) fn unlock_after_fork() {
    // SAFETY: the forking thread locked it in `lock_for_fork`.
    unsafe { LANES.force_unlock() };
}

fn thread_name() -> String {
    match std::thread::current().name() {
        Some(name) => name.to_owned(),
        // Started by another runtime, such as Python's.
        None if thread_id() == u64::from(std::process::id()) => "main".to_owned(),
        None => format!("thread {}", thread_id()),
    }
}

/// The system's number of the calling thread, where it has one.
pub(crate) fn thread_id() -> u64 {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        thread_local! {
            // SAFETY: asks for a number.
            static ID: u64 = unsafe { libc::gettid() } as u64;
        }
        // A forked child is one more thread of the system; its events are never written.
        ID.try_with(|id| *id).unwrap_or(0)
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(1);
        thread_local! {
            static ID: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
        }
        ID.try_with(|id| *id).unwrap_or(0)
    }
}
