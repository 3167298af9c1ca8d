//! Sharing the tiles of a region out over a pool.

use super::{INLINE_NANOSECONDS, Kind, Region, Share, Work};
use crate::drivers::Workers;
use std::cell::Cell;
use std::ops::Range;
use std::time::Instant;
use tiree_task::GridOptions;
use tiree_vm::{Result, Status};

/// Of so many executions of a tiny region one is timed: reading the clock takes as long as a tiny kernel.
const TIMED: u32 = 16;

thread_local! {
    static EXECUTIONS: Cell<u32> = const { Cell::new(0) };
}

impl Region<'_> {
    pub(super) fn run(&self, workers: &Workers) -> Result<()> {
        let Workers { executor, priority } = workers;
        let options = |begin_inline| GridOptions { begin_inline, priority: *priority };
        let tiles: u64 = self.works.iter().map(|work| work.tiles).sum();
        let estimate: f64 = self.works.iter().map(Work::estimate).sum();
        let body = |participant: &tiree_task::Participant, range: Range<u64>| self.run_range(range, participant);
        if estimate < INLINE_NANOSECONDS {
            let number = EXECUTIONS.get();
            EXECUTIONS.set(number.wrapping_add(1));
            let timed = number.is_multiple_of(TIMED) || !self.works.iter().all(Work::is_measured);
            let begin = timed.then(Instant::now);
            executor.run_grid_with(options(true), tiles, body).map_err(GridError::into_status)?;
            if let Some(begin) = begin {
                self.record(begin.elapsed().as_nanos() as f64, estimate);
            }
            return Ok(());
        }
        let begin = Instant::now();
        executor.run_grid_with(options(false), tiles, body).map_err(GridError::into_status)?;
        // A shared region took about as many workers' time; the estimate only decides where the next one begins.
        let workers = (executor.worker_count() as f64).min(tiles as f64).max(1.0);
        self.record(begin.elapsed().as_nanos() as f64 * workers, estimate);
        Ok(())
    }

    /// Runs a range of the region's linear tile space.
    fn run_range(
        &self,
        range: Range<u64>,
        participant: &tiree_task::Participant,
    ) -> std::result::Result<(), GridError> {
        let mut base = 0;
        for work in &self.works {
            let (start, end) = (range.start.max(base), range.end.min(base + work.tiles));
            if start < end {
                let share = Share {
                    tiles: start - base..end - base,
                    processor: participant.index,
                    worker_count: participant.worker_count,
                    local_memory: participant.local_memory_limit,
                };
                work.run(share).map_err(GridError::Status)?;
            }
            base += work.tiles;
        }
        Ok(())
    }

    /// Spreads the measured time over the dispatches in proportion to what was expected of them.
    fn record(&self, measured: f64, estimate: f64) {
        for work in &self.works {
            if let Kind::Dispatch { dispatch, total, .. } = &work.kind {
                let share = if estimate > 0.0 { work.estimate() / estimate } else { 1.0 };
                dispatch.executable.record_cost(dispatch.entry, measured * share / *total as f64);
            }
        }
    }
}

/// Errors of tiles: those of kernels, and those of the executor.
pub(crate) enum GridError {
    Status(Status),
    Task(tiree_task::Error),
}

impl From<tiree_task::Error> for GridError {
    fn from(error: tiree_task::Error) -> Self {
        GridError::Task(error)
    }
}

impl GridError {
    pub(crate) fn into_status(self) -> Status {
        match self {
            GridError::Status(status) => status,
            GridError::Task(error) => task_status(&error),
        }
    }
}

/// An executor's error as a status.
pub(crate) fn task_status(error: &tiree_task::Error) -> Status {
    match error {
        tiree_task::Error::Panicked(_) => Status::internal(error.to_string()),
        tiree_task::Error::InvalidOption(_) => Status::invalid_argument(error.to_string()),
        _ => Status::unavailable(error.to_string()),
    }
}
