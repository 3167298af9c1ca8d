//! Memory that a caller gives for results (`iree.abi.output`), which kernels write as it lies.
//!
//! Kernels assume that it is aligned (those of other compilers as the buffers of their own runtime are), and never ask
//! whether they may write it.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tiree_hal::allocator::Allocator;
use tiree_hal::buffer::Buffer;
use tiree_hal::buffer_view::BufferView;
use tiree_hal::types::access;
use tiree_vm::{Result, Value, refs};

use crate::arguments::copy_of;
use crate::errors::IntoPython;
use crate::signature::Argument;

/// Memory for results that kernels must not write where it is, and what they write instead.
pub struct Stand {
    memory: Arc<Buffer>,
    instead: Arc<Buffer>,
}

/// How memory that is not aligned as kernels assume is dealt with.
pub enum Unaligned<'a> {
    /// Kernels write other memory, which is copied when the call is over.
    CopyBack(&'a mut Vec<Stand>),
    /// The call goes on when it returns: ValueError.
    Refuse,
}

/// Checks `value`, which is what `argument`, number `index` (from 0) of `function`, is given as memory for a result that
/// kernels take to be aligned to `alignment`.
///
/// ValueError for memory that may not be written.
pub fn prepare(
    py: Python<'_>,
    value: Value,
    (argument, index, function): (&Argument, usize, &str),
    allocator: &Allocator,
    alignment: usize,
    unaligned: &mut Unaligned<'_>,
) -> PyResult<Value> {
    let Value::Ref(reference) = &value else { return Ok(value) };
    let Ok(view) = refs::downcast_ref::<BufferView>(reference) else { return Ok(value) };
    let refused = |why: String| {
        let name = if argument.name.is_empty() { "unnamed" } else { &argument.name };
        PyValueError::new_err(format!("{function}(): argument {} ({name}) is memory for a result, {why}", index + 1))
    };
    if view.buffer().allowed_access() & access::WRITE == 0 {
        return Err(refused("and is read-only; needs memory that may be written".to_owned()));
    }
    // What has no memory yet gets aligned memory.
    let Ok(memory) = view.buffer().map() else { return Ok(value) };
    let address = memory.as_ptr().addr().get();
    if view.byte_length() == 0 || address.is_multiple_of(alignment) {
        return Ok(value);
    }
    match unaligned {
        Unaligned::CopyBack(stands) => {
            let copy = copy_of(view, allocator).or_raise(py, "")?;
            stands.push(Stand { memory: view.buffer().clone(), instead: copy.buffer().clone() });
            Ok(Value::from_object(Arc::new(copy)))
        }
        Unaligned::Refuse => Err(refused(format!(
            "and is aligned to {} bytes; needs {alignment} where the call goes on after it returns",
            1usize << address.trailing_zeros()
        ))),
    }
}

/// Gives the caller's memory what kernels wrote, at the end of the call.
pub fn copy_back(stands: &[Stand]) -> Result<()> {
    stands.iter().try_for_each(|stand| stand.memory.write(0, &stand.instead.to_vec()?))
}
