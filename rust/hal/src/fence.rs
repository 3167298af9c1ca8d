//! `hal.fence`: a set of (semaphore, payload) pairs, reached when all of them are.

use crate::callbacks::{self, Callback, Kind};
use crate::semaphore::{Helper, Semaphore};
use crate::sync::{AtomicU8, AtomicUsize, Mutex, MutexGuard, Ordering};
use smallvec::SmallVec;
use std::sync::Arc;
use std::time::Instant;
use tiree_vm::{Charge, RefObject, Result, Status, Wait};

/// A point on the timeline of a semaphore.
pub type TimePoint = (Arc<Semaphore>, u64);
pub(crate) type TimePoints = SmallVec<[TimePoint; 2]>;

/// See the module head. An empty fence is reached.
///
/// A fence made by [`Fence::unsignalled`] has a time point of its own. As long as that is only signalled and polled, it
/// is the word `own`; whatever asks for more turns it into a semaphore in `points`.
#[derive(Default)]
pub struct Fence {
    own: AtomicU8,
    points: Mutex<TimePoints>,
    charge: Option<Charge>,
}

crate::charge::charged!(Fence);

/// The time points are those in the list.
const LISTED: u8 = 0;
/// The one time point has no semaphore and is not reached.
const OWN_PENDING: u8 = 1;
/// The one time point has no semaphore and is reached.
const OWN_REACHED: u8 = 2;

impl RefObject for Fence {
    fn type_name(&self) -> &'static str {
        "hal.fence"
    }
}

impl Fence {
    /// An empty fence.
    pub fn new() -> Fence {
        Fence::default()
    }

    /// A fence on one time point.
    pub fn at(semaphore: Arc<Semaphore>, value: u64) -> Fence {
        Fence::from_points(smallvec::smallvec![(semaphore, value)])
    }

    pub(crate) fn from_points(points: TimePoints) -> Fence {
        Fence { own: AtomicU8::new(LISTED), points: Mutex::new(points), charge: None }
    }

    /// A fence on a new semaphore, reached when signalled once.
    pub fn unsignalled() -> Fence {
        Fence { own: AtomicU8::new(OWN_PENDING), points: Mutex::default(), charge: None }
    }

    /// The list of time points, with the own one in it.
    fn listed(&self) -> MutexGuard<'_, TimePoints> {
        let mut points = self.points.lock();
        if self.own.load(Ordering::Acquire) != LISTED {
            let semaphore = Arc::new(Semaphore::new(0));
            points.push((semaphore.clone(), 1));
            // The list is complete before others are sent to it; they wait for the lock.
            if self.own.swap(LISTED, Ordering::AcqRel) == OWN_REACHED {
                // Nobody knows the semaphore yet, so this cannot fail and calls nobody.
                let _ = semaphore.signal(1);
            }
        }
        points
    }

    /// A fence that is reached when all of `fences` are.
    pub fn join<'a>(fences: impl IntoIterator<Item = &'a Fence>) -> Fence {
        let joined = Fence::new();
        for fence in fences {
            joined.extend(fence);
        }
        joined
    }

    /// Adds a time point; of several on one semaphore the latest counts.
    pub fn insert(&self, semaphore: Arc<Semaphore>, value: u64) {
        let mut points = self.listed();
        match points.iter_mut().find(|point| Arc::ptr_eq(&point.0, &semaphore)) {
            Some(point) => point.1 = point.1.max(value),
            None => points.push((semaphore, value)),
        }
    }

    /// Adds the time points of another fence.
    pub fn extend(&self, other: &Fence) {
        if std::ptr::eq(self, other) {
            return;
        }
        for (semaphore, value) in other.points() {
            self.insert(semaphore, value);
        }
    }

    /// The time points.
    pub fn points(&self) -> TimePoints {
        self.listed().clone()
    }

    /// Number of time points.
    pub fn timepoint_count(&self) -> usize {
        self.listed().len()
    }

    /// Signals every time point.
    ///
    /// # Errors
    /// OUT_OF_RANGE when a semaphore is past its value already; the others are signalled all the same.
    pub fn signal(&self) -> Result<()> {
        match self.own.compare_exchange(OWN_PENDING, OWN_REACHED, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => Ok(()),
            Err(_) => self.signal_points(),
        }
    }

    fn signal_points(&self) -> Result<()> {
        let points = self.points();
        if let [(semaphore, value)] = &points[..] {
            return semaphore.signal(*value);
        }
        // Whoever is called when one is signalled may wait for another.
        callbacks::run_after(|| {
            let signalled = points.iter().map(|(semaphore, value)| semaphore.signal(*value)).collect::<Vec<_>>();
            signalled.into_iter().collect()
        })
    }

    /// Fails every semaphore of the fence.
    pub fn fail(&self, status: &Status) {
        let points = self.points();
        callbacks::run_after(|| points.iter().for_each(|(semaphore, _)| semaphore.fail(status.clone())));
    }

    /// None while pending, then reached or failed. Any failed semaphore fails the fence at once.
    #[inline]
    pub fn poll(&self) -> Option<Result<()>> {
        match self.own.load(Ordering::Acquire) {
            OWN_REACHED => Some(Ok(())),
            OWN_PENDING => None,
            _ => self.poll_points(),
        }
    }

    /// Whether a signal could call somebody, who does who knows what.
    pub(crate) fn may_have_listeners(&self) -> bool {
        self.own.load(Ordering::Acquire) == LISTED
    }

    /// Whether it is reached and has not failed.
    #[inline]
    pub(crate) fn is_reached(&self) -> bool {
        matches!(self.poll(), Some(Ok(())))
    }

    fn poll_points(&self) -> Option<Result<()>> {
        let points = self.points.lock();
        let mut pending = false;
        for (semaphore, value) in points.iter() {
            match semaphore.poll(*value) {
                None => pending = true,
                Some(Ok(())) => {}
                Some(Err(status)) => return Some(Err(status)),
            }
        }
        if pending { None } else { Some(Ok(())) }
    }

    /// Blocks until reached.
    ///
    /// # Errors
    /// DEADLINE_EXCEEDED or the status of the semaphore that failed.
    pub fn wait(&self, deadline: Option<Instant>) -> Result<()> {
        if let Some(result) = self.poll() {
            return result;
        }
        for (semaphore, value) in self.points() {
            semaphore.wait(value, deadline)?;
        }
        Ok(())
    }

    /// Calls `callback` once, when all time points are reached or one of them failed; at once when that is so already.
    /// It may do anything, see [`Semaphore::on_reached`].
    pub fn on_reached(&self, callback: impl FnOnce(Result<()>) + Send + 'static) {
        self.when_reached(Kind::Callback, Box::new(callback));
    }

    /// As `on_reached`, before all callbacks, for what never blocks.
    pub fn then(&self, continuation: impl FnOnce(Result<()>) + Send + 'static) {
        self.when_reached(Kind::Continuation, Box::new(continuation));
    }

    fn when_reached(&self, kind: Kind, callback: Callback) {
        let points = self.points();
        match points.len() {
            0 => callbacks::run(std::iter::once((kind, callback, Ok(())))),
            1 => points[0].0.when_reached(points[0].1, kind, callback),
            count => {
                let join =
                    Arc::new(Join { left: AtomicUsize::new(count), callback: Mutex::new(Some((kind, callback))) });
                for (semaphore, value) in points {
                    let join = join.clone();
                    semaphore.then(value, move |result| join.arrive(result));
                }
            }
        }
    }

    pub(crate) fn set_helper(&self, helper: &Arc<dyn Helper>) {
        for (semaphore, _) in self.listed().iter() {
            semaphore.set_helper(helper.clone());
        }
    }
}

struct Join {
    left: AtomicUsize,
    callback: Mutex<Option<(Kind, Callback)>>,
}

impl Join {
    fn arrive(&self, result: Result<()>) {
        // A failure takes the callback before it is counted: whoever comes last must not find it and say that all is well.
        if result.is_err() {
            self.call(result);
            self.left.fetch_sub(1, Ordering::AcqRel);
        } else if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.call(result);
        }
    }

    fn call(&self, result: Result<()>) {
        let callback = self.callback.lock().take();
        if let Some((kind, callback)) = callback {
            callbacks::run(std::iter::once((kind, callback, result)));
        }
    }
}

/// A fence as the VM waits for it.
pub struct FenceWait(pub Arc<Fence>);

impl Wait for FenceWait {
    fn is_ready(&self) -> bool {
        self.0.poll().is_some()
    }

    fn wait(&self, deadline: Option<Instant>) -> bool {
        match self.0.wait(deadline) {
            Ok(()) => true,
            Err(_) => self.0.poll().is_some(),
        }
    }

    fn on_ready(&self, callback: Box<dyn FnOnce() + Send>) {
        self.0.on_reached(move |_| callback());
    }

    fn help(&self) -> bool {
        self.0.points().iter().any(|(semaphore, value)| semaphore.poll(*value).is_none() && semaphore.help(0))
    }
}

/// A fence as the VM waits for it, no longer than until a deadline.
pub struct DeadlineWait {
    /// The fence.
    pub fence: Arc<Fence>,
    /// When the wait is over in any case.
    pub deadline: Instant,
}

impl Wait for DeadlineWait {
    fn is_ready(&self) -> bool {
        self.fence.poll().is_some() || Instant::now() >= self.deadline
    }

    fn wait(&self, deadline: Option<Instant>) -> bool {
        let until = deadline.map_or(self.deadline, |deadline| deadline.min(self.deadline));
        // The outcome is looked up by whoever asked.
        let _ = self.fence.wait(Some(until));
        self.is_ready()
    }

    fn on_ready(&self, callback: Box<dyn FnOnce() + Send>) {
        let shared = Arc::new(Mutex::new(Some(callback)));
        let fire = |shared: &Mutex<Option<Box<dyn FnOnce() + Send>>>| {
            let callback = shared.lock().take();
            if let Some(callback) = callback {
                callback();
            }
        };
        let by_fence = shared.clone();
        self.fence.on_reached(move |_| fire(&by_fence));
        if shared.lock().is_none() {
            return;
        }
        let deadline = self.deadline;
        // Awaits with a timeout in programs that suspend are rare: a thread each is good enough.
        let timer = std::thread::Builder::new().name("tiree-timer".into()).spawn({
            let shared = shared.clone();
            move || {
                std::thread::sleep(deadline.saturating_duration_since(Instant::now()));
                fire(&shared);
            }
        });
        if timer.is_err() {
            // Without a timer the waiter polls: it is told at once and finds the time not yet over.
            fire(&shared);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tiree_vm::StatusCode;

    /// A callback of one point may wait for another; both are signalled before it runs.
    #[test]
    fn all_points_are_signalled_before_callbacks_run() {
        let (a, b) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let fence = Fence::join([&Fence::at(a.clone(), 1), &Fence::at(b.clone(), 1)]);
        let (sender, receiver) = std::sync::mpsc::channel();
        for semaphore in [&a, &b] {
            let (a, b, sender) = (a.clone(), b.clone(), sender.clone());
            semaphore.on_reached(1, move |_| sender.send(a.query().unwrap() + b.query().unwrap()).unwrap());
        }
        fence.signal().unwrap();
        assert_eq!((receiver.recv().unwrap(), receiver.recv().unwrap()), (2, 2));
    }

    #[test]
    fn joins_keep_the_latest_value() {
        let semaphore = Arc::new(Semaphore::new(0));
        let joined = Fence::join([&Fence::at(semaphore.clone(), 2), &Fence::at(semaphore.clone(), 1)]);
        assert_eq!(joined.timepoint_count(), 1);
        semaphore.signal(1).unwrap();
        assert!(joined.poll().is_none());
        semaphore.signal(2).unwrap();
        assert!(joined.wait(None).is_ok());
    }

    #[test]
    fn own_time_points_become_semaphores_when_needed() {
        let code = |fence: &Fence| fence.signal().unwrap_err().code();
        let fence = Fence::unsignalled();
        assert!(fence.poll().is_none());
        fence.signal().unwrap();
        assert!(fence.is_reached());
        // Signalled twice, before and after it has a semaphore.
        assert_eq!(code(&fence), StatusCode::OutOfRange);
        assert_eq!(code(&fence), StatusCode::OutOfRange);
        assert!(fence.is_reached() && fence.timepoint_count() == 1);
        let fence = Fence::unsignalled();
        let joined = Fence::join([&fence, &Fence::unsignalled()]);
        assert!(fence.poll().is_none() && joined.timepoint_count() == 2);
        fence.signal().unwrap();
        assert!(fence.is_reached() && joined.poll().is_none());
        let failed = Fence::unsignalled();
        failed.fail(&Status::data_loss("x"));
        assert!(failed.signal().is_ok() && failed.wait(None).is_err() && failed.poll().is_some_and(|r| r.is_err()));
    }

    /// A signal that meets the making of the semaphore is not lost.
    #[test]
    fn signals_race_with_waits() {
        for _ in 0..500 {
            let fence = Arc::new(Fence::unsignalled());
            let waiter = std::thread::spawn({
                let fence = fence.clone();
                move || fence.wait(Some(Instant::now() + Duration::from_secs(60)))
            });
            fence.signal().unwrap();
            waiter.join().unwrap().unwrap();
        }
    }

    #[test]
    fn callback_runs_once_for_all_points_or_the_first_failure() {
        for fail in [false, true] {
            let (a, b) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
            let fence = Fence::join([&Fence::at(a.clone(), 1), &Fence::at(b.clone(), 1)]);
            let (sender, receiver) = std::sync::mpsc::channel();
            fence.on_reached(move |result| sender.send(result.is_ok()).unwrap());
            if fail {
                a.fail(Status::aborted("x"));
            } else {
                a.signal(1).unwrap();
                assert!(receiver.recv_timeout(Duration::from_millis(1)).is_err());
            }
            b.signal(1).unwrap();
            assert_eq!(receiver.try_recv(), Ok(!fail));
            assert!(receiver.try_recv().is_err());
            assert!(fence.poll().is_some_and(|result| result.is_err() == fail));
        }
    }
}
