//! How much memory the objects of one context may take together.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::limits::Limit;
use crate::status::{Result, Status};

/// A limit of bytes, shared by everything that is charged to it.
pub struct Quota {
    limit: usize,
    used: AtomicUsize,
}

impl fmt::Debug for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Quota {} of {} bytes>", self.used(), self.limit)
    }
}

impl Quota {
    /// A quota of `limit` bytes.
    pub fn new(limit: usize) -> Arc<Quota> {
        Arc::new(Quota { limit, used: AtomicUsize::new(0) })
    }

    /// Bytes that may be used.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Bytes in use.
    pub fn used(&self) -> usize {
        self.used.load(Relaxed)
    }

    fn take(&self, bytes: usize) -> Result<()> {
        let fits = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= self.limit);
        // Nothing else is ordered by this number.
        match self.used.fetch_update(Relaxed, Relaxed, fits) {
            Ok(_) => Ok(()),
            Err(used) => Err(Status::resource_exhausted(format!(
                "out of memory: {bytes} bytes more than the {used} in use would exceed the context's limit of {} bytes",
                self.limit
            ))
            .with_limit(Limit::Memory)),
        }
    }
}

/// Bytes taken from a quota, given back when dropped.
#[derive(Debug)]
pub struct Charge {
    quota: Arc<Quota>,
    bytes: usize,
}

impl Charge {
    /// Takes `bytes` from `quota`. RESOURCE_EXHAUSTED when there are not as many left.
    pub fn new(quota: &Arc<Quota>, bytes: usize) -> Result<Charge> {
        quota.take(bytes)?;
        Ok(Charge { quota: quota.clone(), bytes })
    }

    /// Takes `bytes` more, which are given back when dropped.
    pub fn more(&self, bytes: usize) -> Result<Charge> {
        Charge::new(&self.quota, bytes)
    }

    /// Takes `bytes` more for good.
    pub fn add(&mut self, bytes: usize) -> Result<()> {
        self.join(self.more(bytes)?);
        Ok(())
    }

    /// `bytes` of it, to be given back when dropped.
    pub fn split(&mut self, bytes: usize) -> Charge {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Charge { quota: self.quota.clone(), bytes }
    }

    /// Adds what was taken from the same quota.
    pub fn join(&mut self, mut more: Charge) {
        debug_assert!(Arc::ptr_eq(&self.quota, &more.quota));
        self.bytes += std::mem::take(&mut more.bytes);
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.quota.used.fetch_sub(self.bytes, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_is_given_back() {
        let quota = Quota::new(100);
        let mut charge = Charge::new(&quota, 60).unwrap();
        assert_eq!(
            Charge::new(&quota, 50).unwrap_err().to_string(),
            "RESOURCE_EXHAUSTED; out of memory: 50 bytes more than the 60 in use would exceed the context's limit of 100 bytes"
        );
        drop(charge.more(40).unwrap());
        assert_eq!(quota.used(), 60);
        charge.join(charge.more(30).unwrap());
        charge.add(10).unwrap();
        assert!(charge.more(usize::MAX).is_err());
        assert_eq!(quota.used(), 100);
        drop(charge);
        assert_eq!(quota.used(), 0);
    }
}
