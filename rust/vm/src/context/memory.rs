//! What the objects of a bytecode module take from the memory of its context.

use super::BytecodeInstance;
use crate::limits::Limit;
use crate::quota::Charge;
use crate::status::{Result, StatusCode};

/// What an object takes beside its contents.
const OBJECT_SIZE: usize = 96;

impl BytecodeInstance {
    /// Takes the bytes of a new object from the quota, if there is one. Lists that hold each other may have to go for it.
    pub fn charge(&self, bytes: usize) -> Result<Option<Charge>> {
        let Some(quota) = &self.quota else { return Ok(None) };
        self.allocating(|| Charge::new(quota, bytes.saturating_add(OBJECT_SIZE))).map(Some)
    }

    /// Allocates once more after a failure, without the lists that hold each other and nothing else does.
    pub fn allocating<T>(&self, mut allocate: impl FnMut() -> Result<T>) -> Result<T> {
        allocate().or_else(|status| {
            let no_memory = matches!(status.limit(), None | Some(Limit::Memory));
            if status.code() != StatusCode::ResourceExhausted || !no_memory {
                return Err(status);
            }
            self.holders.collect();
            allocate()
        })
    }
}
