//! Dispatches: a span per thread that works on one, and how much time each function took.
//!
//! Every execution of a dispatch gets a number ([`number`]). The threads that share it report the workgroups that they
//! ran under that number; reports of one thread that follow each other become one span.

use crate::json::{self, Subject, Text};
use crate::{DISPATCHES, MODE, lane};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a dispatch runs. Made once per function, compared by identity.
#[derive(Debug, PartialEq, Eq)]
pub struct Label {
    /// Name of the executable; may be empty.
    pub executable: String,
    /// Name of the function.
    pub function: String,
}

/// A queue of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the device.
    pub device: &'static str,
    /// Which of the devices of this process, in the order in which they were opened.
    pub number: u32,
    /// Which of its queues.
    pub queue: u32,
}

impl Place {
    /// `local-task#1`.
    pub fn name(&self) -> String {
        format!("{}#{}", self.device, self.number)
    }

    /// Adds `device` and `queue` to the arguments of an event.
    pub fn write(&self, arguments: &mut json::Arguments<'_>) {
        arguments.text("device", &self.name());
        arguments.number("queue", u64::from(self.queue));
    }
}

/// A dispatch being executed.
#[derive(Clone, Copy)]
pub struct Dispatch<'a> {
    /// What it runs.
    pub label: &'a Arc<Label>,
    /// Number of the execution.
    pub number: u64,
    /// Workgroups in x, y and z.
    pub grid: [u32; 3],
    /// Where.
    pub place: Option<Place>,
}

/// Part of a dispatch, done by one thread.
pub(crate) struct Share {
    label: Arc<Label>,
    pub(crate) dispatch: u64,
    grid: [u32; 3],
    place: Option<Place>,
    start: u64,
    pub(crate) end: u64,
    pub(crate) workgroups: u64,
    /// For a timeline: of this number.
    pub(crate) timeline: bool,
    pub(crate) generation: u64,
    summed: bool,
}

impl Share {
    pub(crate) fn write(&self, text: &mut Text, thread: u64, zero: u64) {
        let time = (self.start.saturating_sub(zero), self.end.saturating_sub(self.start.max(zero)));
        let subject = Subject { category: "dispatch", name: &self.label.function, thread };
        json::complete(text, &subject, time, |arguments| {
            arguments.text("executable", &self.label.executable);
            arguments.number("dispatch", self.dispatch);
            arguments.number("workgroups", self.workgroups);
            arguments.number("of", self.grid.iter().map(|&count| u64::from(count)).product());
            let [x, y, z] = self.grid;
            arguments.text("grid", &format!("{x}x{y}x{z}"));
            if let Some(place) = &self.place {
                place.write(arguments);
            }
        });
    }
}

/// A new number for the execution of a dispatch, which is counted.
pub fn number(label: &Arc<Label>) -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    if MODE.load(Ordering::Relaxed) & DISPATCHES != 0 {
        lane::with_sums(|sums| sums.entry(label).count += 1);
    }
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Records that the calling thread ran `workgroups` workgroups of `dispatch` from `start` until now.
pub fn share(dispatch: Dispatch<'_>, start: u64, workgroups: u64) {
    let mode = MODE.load(Ordering::Relaxed);
    lane::record_share(Share {
        label: dispatch.label.clone(),
        dispatch: dispatch.number,
        grid: dispatch.grid,
        place: dispatch.place,
        start,
        end: crate::now(),
        workgroups,
        timeline: mode & crate::TIMELINE != 0,
        generation: 0,
        summed: mode & DISPATCHES != 0,
    });
}

/// What a function has taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Executions.
    pub count: u64,
    /// Workgroups of all of them.
    pub workgroups: u64,
    /// Time spent in workgroups, added over the threads.
    pub nanoseconds: u64,
}

/// Sums per function.
#[derive(Default)]
pub(crate) struct Sums(HashMap<usize, (Arc<Label>, Sum)>);

impl Sums {
    fn entry(&mut self, label: &Arc<Label>) -> &mut Sum {
        // The label is kept, so its address stays its own.
        &mut self.0.entry(Arc::as_ptr(label) as usize).or_insert_with(|| (label.clone(), Sum::default())).1
    }

    pub(crate) fn add_share(&mut self, share: &Share) {
        if share.summed {
            let sum = self.entry(&share.label);
            sum.workgroups += share.workgroups;
            sum.nanoseconds += share.end.saturating_sub(share.start);
        }
    }

    fn merge(&mut self, other: Sums) {
        for (label, sum) in other.0.into_values() {
            let own = self.entry(&label);
            own.count += sum.count;
            own.workgroups += sum.workgroups;
            own.nanoseconds += sum.nanoseconds;
        }
    }
}

/// Sums of threads that have ended.
static KEPT: Mutex<Option<Sums>> = Mutex::new(None);

pub(crate) fn keep(sums: Sums) {
    if !sums.0.is_empty() {
        KEPT.lock().get_or_insert_default().merge(sums);
    }
}

/// Starts summing up, from zero.
pub fn collect() {
    take();
    MODE.fetch_or(DISPATCHES, Ordering::SeqCst);
}

/// Ends summing up. The sums of all functions, the longest time first.
pub fn collected() -> Vec<(Arc<Label>, Sum)> {
    MODE.fetch_and(!DISPATCHES, Ordering::SeqCst);
    let mut sums: Vec<_> = take().0.into_values().collect();
    sums.sort_by(|a, b| b.1.nanoseconds.cmp(&a.1.nanoseconds).then_with(|| a.0.function.cmp(&b.0.function)));
    sums
}

fn take() -> Sums {
    let mut all = Sums::default();
    lane::drain_sums(|sums| all.merge(sums));
    // Threads that end meanwhile have moved theirs here.
    all.merge(KEPT.lock().take().unwrap_or_default());
    all
}
