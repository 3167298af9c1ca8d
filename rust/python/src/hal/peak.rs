//! `MemoryPeak`: how much memory a piece of a program needs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tiree_hal::allocator::Allocator;
use tiree_hal::peak::{Peak, Usage};

enum State {
    New,
    Running(Peak),
    Ended(Usage),
}

/// `with device.allocator.track_peak() as peak:` counts what is allocated on the device inside the block, by any thread.
/// Its numbers can be read inside the block and after it. RuntimeError when it is entered twice or read before.
#[pyclass(frozen, module = "tiree._native")]
pub struct MemoryPeak {
    allocator: Arc<Allocator>,
    state: Mutex<State>,
}

impl MemoryPeak {
    pub fn new(allocator: Arc<Allocator>) -> MemoryPeak {
        MemoryPeak { allocator, state: Mutex::new(State::New) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn usage(&self) -> PyResult<Usage> {
        match &*self.lock() {
            State::New => Err(PyRuntimeError::new_err("nothing was measured yet: use it in a with statement")),
            State::Running(peak) => Ok(peak.usage()),
            State::Ended(usage) => Ok(*usage),
        }
    }
}

#[pymethods]
impl MemoryPeak {
    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        {
            let this = slf.get();
            let mut state = this.lock();
            if !matches!(*state, State::New) {
                return Err(PyRuntimeError::new_err("this was used already: call track_peak() again"));
            }
            *state = State::Running(this.allocator.peak());
        }
        Ok(slf)
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, pyo3::types::PyTuple>) {
        let mut state = self.lock();
        if let State::Running(peak) = &*state {
            *state = State::Ended(peak.usage());
        }
    }

    /// The highest number of bytes that were live at once, above those that were live at the start.
    #[getter]
    fn peak_bytes(&self) -> PyResult<u64> {
        Ok(self.usage()?.peak)
    }

    /// All bytes that were allocated.
    #[getter]
    fn allocated_bytes(&self) -> PyResult<u64> {
        Ok(self.usage()?.allocated)
    }

    /// Bytes that are live at the end and were not at the start; negative when more was freed than allocated.
    #[getter]
    fn kept_bytes(&self) -> PyResult<i64> {
        Ok(self.usage()?.kept)
    }

    fn __repr__(&self) -> String {
        match self.usage() {
            Ok(usage) => format!("<MemoryPeak: {} bytes, {} kept>", usage.peak, usage.kept),
            Err(_) => "<MemoryPeak: nothing measured>".to_owned(),
        }
    }
}
