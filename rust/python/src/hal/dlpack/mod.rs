//! DLPack: tensors exchanged with other libraries, without a copy where alignment and layout allow.

mod abi;
mod export;
mod import;

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tiree_hal::allocator::Allocator;

pub use export::{Request, create_capsule, give};
pub use import::{Lent, from_capsule, is_imported};

use crate::arguments::{ALIGNMENT, ImportPolicy};
use crate::foreign::ForeignBuffer;
use crate::hal::buffer_view::HalBufferView;
use crate::hal::device::HalDevice;

/// A view over the memory of `array`, which has DLPack or the buffer protocol. Memory that is strided or not aligned to 16
/// bytes is copied, or ValueError with `copy` False; with `copy` True all is copied.
#[pyfunction]
#[pyo3(signature = (array, device = None, copy = None))]
pub fn import_array(
    array: &Bound<'_, PyAny>,
    device: Option<&HalDevice>,
    copy: Option<bool>,
) -> PyResult<HalBufferView> {
    let py = array.py();
    let allocator = device.map_or_else(|| Arc::new(Allocator::new()), |device| device.0.allocator().clone());
    let share = copy != Some(true);
    let view = match Lent::of(array)? {
        Some(lent) => Arc::new(lent.into_view(py, &allocator, ALIGNMENT, share)?),
        None => {
            let policy = ImportPolicy { allocator, always_copy: !share, copy_lent: false, alignment: ALIGNMENT };
            crate::arguments::view_of(array, &policy)?
        }
    };
    let shared = view.buffer().foreign_owner().is_some_and(|o| is_imported(&**o) || (**o).is::<ForeignBuffer>());
    if copy == Some(false) && !shared && view.byte_length() > 0 {
        return Err(PyValueError::new_err(
            "the array cannot be shared without a copy: it is strided, or not aligned to 16 bytes",
        ));
    }
    Ok(HalBufferView(view))
}
