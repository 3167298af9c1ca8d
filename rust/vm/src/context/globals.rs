//! The locks of global references.

use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use crate::refs::Ref;
use crate::status::{Result, Status};

/// The lock of a global, which is held for a few instructions. A thread that holds it much longer does not exist any
/// more: the process was forked at that moment.
#[inline]
pub(crate) fn lock_global(global: &Mutex<Ref>) -> Result<MutexGuard<'_, Ref>> {
    match global.try_lock() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(guard)) => Ok(guard.into_inner()),
        Err(TryLockError::WouldBlock) => lock_contended(global),
    }
}

#[cold]
fn lock_contended(global: &Mutex<Ref>) -> Result<MutexGuard<'_, Ref>> {
    const PATIENCE: Duration = Duration::from_secs(5);
    let start = Instant::now();
    for round in 0_u32.. {
        match global.try_lock() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(guard)) => return Ok(guard.into_inner()),
            Err(TryLockError::WouldBlock) if round < 64 => std::hint::spin_loop(),
            Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => std::thread::yield_now(),
            Err(TryLockError::WouldBlock) => break,
        }
    }
    Err(Status::failed_precondition(
        "this process was forked while another thread used a global of the module, and that thread does not survive a \
         fork; load the module again after forking",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::StatusCode;

    #[test]
    fn globals_whose_holder_is_gone() {
        let global = Mutex::new(None);
        std::mem::forget(global.lock());
        let error = lock_global(&global).err().unwrap();
        assert_eq!(error.code(), StatusCode::FailedPrecondition);
        assert!(error.message().contains("load the module again"));
    }

    #[test]
    fn globals_are_waited_for() {
        let global = Mutex::new(None);
        let held = global.lock();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| lock_global(&global).is_ok());
            std::thread::sleep(Duration::from_millis(20));
            drop(held);
            assert!(waiting.join().unwrap());
        });
    }
}
