//! Python values as arguments of compiled functions.
//!
//! The common case, a numpy array of the declared type and shape, is handled here without copying. Everything that needs
//! conversion (scalars, lists, other layouts, bf16) goes through `tiree.runtime.coerce`, which also words refusals.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyFloat, PyInt, PyType};
use tiree_hal::allocator::Allocator;
use tiree_hal::buffer::{Buffer, BufferParams};
use tiree_hal::buffer_view::{BufferView, Shape};
use tiree_hal::types::{ElementType, NumericalType, access, encoding};
use tiree_vm::cconv::Kind;
use tiree_vm::{Result, Value, refs};

use crate::calls::Invoke;
use crate::errors::IntoPython;
use crate::foreign::ForeignBuffer;
use crate::hal::buffer_view::{HalBufferView, default_params};
use crate::hal::dlpack::{Lent, is_imported};
use crate::signature::{ArgType, Argument};
use crate::vm::refs::VmRef;

/// Where arguments live, and how they may be aligned.
#[derive(Clone)]
pub struct ImportPolicy {
    /// For copies.
    pub allocator: Arc<Allocator>,
    /// Whether memory of Python's is always copied: the kernels may write it, or the call goes on after Python has
    /// control again.
    pub always_copy: bool,
    /// Whether views over memory of others, too, which are shared on purpose, are copied: the kernels may write it, or
    /// variables of the module keep it.
    pub copy_lent: bool,
    /// What memory of Python's must be aligned to, so as not to be copied.
    pub alignment: usize,
}

impl ImportPolicy {
    /// For memory that a call is to write results into: it is never copied here.
    pub fn for_results(&self) -> ImportPolicy {
        ImportPolicy { allocator: self.allocator.clone(), always_copy: false, copy_lent: false, alignment: 1 }
    }

    fn is_for_results(&self) -> bool {
        self.alignment == 1
    }
}

/// What kernels of Tiree assume of the memory of arguments; less aligned memory is copied.
pub const ALIGNMENT: usize = 16;
/// What buffers that other runtimes make are aligned to, and kernels of theirs assume.
pub const ALIGNMENT_OF_OTHERS: usize = 64;

static COERCE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Converts `object` to what argument number `index` (from 0) of `function` expects.
pub fn to_value(
    object: &Bound<'_, PyAny>,
    argument: &Argument,
    index: usize,
    function: &str,
    policy: &ImportPolicy,
) -> PyResult<Value> {
    match &argument.ty {
        ArgType::Tensor { element, shape } => {
            if let Some(value) = exact_tensor(object, *element, shape, policy)? {
                return Ok(value);
            }
            let coerced = coerce(object, argument, index, function)?;
            if argument.output && !is_contiguous_array(object) {
                return Err(no_memory(object, argument, index, function));
            }
            // Types that the protocol cannot name come as plain bits.
            if let Some(view) = view_of_bits(&coerced, policy)? {
                return Ok(Value::from_object(view));
            }
            match exact_tensor(&coerced, *element, shape, policy)? {
                Some(value) => Ok(value),
                None => Err(unusable(object, argument, index, function)),
            }
        }
        ArgType::Scalar(kind) => match exact_scalar(object, *kind) {
            Some(value) if argument.narrow.is_none() => Ok(value),
            _ => {
                let coerced = coerce(object, argument, index, function)?;
                exact_scalar(&coerced, *kind).ok_or_else(|| unusable(object, argument, index, function))
            }
        },
        ArgType::Ref => match reference(object, policy)? {
            Some(value) => Ok(value),
            None => Ok(Value::from_object(view_of(&coerce(object, argument, index, function)?, policy)?)),
        },
    }
}

fn coerce<'py>(
    object: &Bound<'py, PyAny>,
    argument: &Argument,
    index: usize,
    function: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let coerce = COERCE
        .get_or_try_init(py, || Ok::<_, PyErr>(py.import("tiree.runtime.coerce")?.getattr("coerce")?.unbind()))?;
    let (ty, shape) = match &argument.ty {
        ArgType::Tensor { element, shape } => (element.to_string(), Some(shape.clone())),
        ArgType::Scalar(kind) => (argument.narrow.map_or_else(|| kind.name().to_owned(), |e| e.to_string()), None),
        ArgType::Ref => (String::new(), None),
    };
    coerce.bind(py).invoke((object, function, index + 1, &argument.name, ty, shape))
}

/// Whether `object` is an array like numpy's, whose elements lie in order without gaps.
fn is_contiguous_array(object: &Bound<'_, PyAny>) -> bool {
    object.getattr("flags").and_then(|flags| flags.getattr("c_contiguous")?.is_truthy()).unwrap_or(false)
}

/// ValueError: what is converted on its way in cannot be written as the caller has it.
fn no_memory(object: &Bound<'_, PyAny>, argument: &Argument, index: usize, function: &str) -> PyErr {
    let given = object.get_type().qualname().map_or_else(|_| "object".to_owned(), |n| n.to_string());
    pyo3::exceptions::PyValueError::new_err(format!(
        "{function}(): argument {} ({}) is memory for a result, and a {given} without such memory; needs a contiguous array \
         of {}",
        index + 1,
        if argument.name.is_empty() { "unnamed" } else { &argument.name },
        argument.ty.describe()
    ))
}

fn unusable(object: &Bound<'_, PyAny>, argument: &Argument, index: usize, function: &str) -> PyErr {
    let given = object.get_type().qualname().map_or_else(|_| "object".to_owned(), |n| n.to_string());
    pyo3::exceptions::PyTypeError::new_err(format!(
        "{function}(): argument {} ({}) is a {given}; needs {}",
        index + 1,
        if argument.name.is_empty() { "unnamed" } else { &argument.name },
        argument.ty.describe()
    ))
}

/// A buffer view, device array or array that already has the declared type and shape.
fn exact_tensor(
    object: &Bound<'_, PyAny>,
    element: ElementType,
    shape: &[Option<u64>],
    policy: &ImportPolicy,
) -> PyResult<Option<Value>> {
    if let Ok(view) = object.cast::<HalBufferView>() {
        let view = &view.get().0;
        let fits = same_layout(view.element_type(), element) && shape_fits(view.shape().iter().copied(), shape);
        return fits.then(|| owned(object.py(), view, policy).map(Value::from_object)).transpose();
    }
    if hides_elements(object)? {
        return Ok(None);
    }
    let Ok(memory) = ForeignBuffer::get(object, false) else { return lent_tensor(object, element, shape, policy) };
    let Some(given) = memory.element_type() else { return Ok(None) };
    let dims = memory.shape().iter().map(|&d| d as u64);
    if !same_layout(given, element) || !shape_fits(dims, shape) || !memory.is_contiguous() {
        return Ok(None);
    }
    import(object.py(), memory, element, policy).map(|view| Some(Value::from_object(view)))
}

/// `view`, or a copy where it lies in memory of others that the module could write or keep, or in the midst of a buffer,
/// aligned to less than kernels of others assume.
fn owned(py: Python<'_>, view: &Arc<BufferView>, policy: &ImportPolicy) -> PyResult<Arc<BufferView>> {
    let aligned = || view.buffer().byte_offset().is_multiple_of(ALIGNMENT_OF_OTHERS);
    if !policy.copy_lent || (!view.buffer().is_shared() && aligned()) {
        return Ok(view.clone());
    }
    copy_of(view, &policy.allocator).map(Arc::new).or_raise(py, "")
}

/// A copy of `view` if others see its memory: it is an array of Python's or another library's, a mapped file or a constant,
/// or numpy or another library has a view of it.
pub fn copy_if_lent(view: &BufferView, allocator: &Allocator) -> Result<Option<BufferView>> {
    view.buffer().is_shared().then(|| copy_of(view, allocator)).transpose()
}

/// The contents of `view` in memory of their own.
pub fn copy_of(view: &BufferView, allocator: &Allocator) -> Result<BufferView> {
    let params = default_params();
    let buffer = allocator.allocate_copy(params.memory_type, params.usage, &view.to_vec()?)?;
    BufferView::new(Arc::new(buffer), view.element_type(), view.encoding_type(), view.shape())
}

/// Whether `object` may have elements that its memory shows and it does not: `numpy.ma` arrays have a mask.
fn hides_elements(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    /// The one type that needs no look, since most arguments are of it.
    static NDARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let (py, ty) = (object.py(), object.get_type());
    if NDARRAY.get(py).is_some_and(|known| ty.is(known)) {
        return Ok(false);
    }
    if NDARRAY.get(py).is_none() && ty.qualname()? == "ndarray" && ty.module()? == "numpy" {
        _ = NDARRAY.set(py, ty.clone().unbind());
    }
    ty.hasattr("mask")
}

/// A tensor that `object` lends through DLPack, of the declared type and shape. None for anything else, also for what
/// cannot be lent: the conversion in Python says why.
fn lent_tensor(
    object: &Bound<'_, PyAny>,
    element: ElementType,
    shape: &[Option<u64>],
    policy: &ImportPolicy,
) -> PyResult<Option<Value>> {
    let Ok(Some(lent)) = Lent::of(object) else { return Ok(None) };
    if !same_layout(lent.element, element) || !shape_fits(lent.shape.iter().copied(), shape) {
        return Ok(None);
    }
    if policy.is_for_results() && !lent.is_contiguous() {
        return Ok(None);
    }
    let view = lent.into_view(object.py(), &policy.allocator, policy.alignment, !policy.always_copy)?;
    let view = BufferView::new(view.buffer().clone(), element, encoding::DENSE_ROW_MAJOR, view.shape());
    view.map(|view| Some(Value::from_object(Arc::new(view)))).or_raise(object.py(), "")
}

/// Signless, signed and unsigned integers of one width have the same bytes; a declared sign must match.
fn same_layout(given: ElementType, declared: ElementType) -> bool {
    if given == declared {
        return true;
    }
    if given.bit_count() != declared.bit_count() || !given.is_integer() || !declared.is_integer() {
        return false;
    }
    let signless = |e: ElementType| e.numerical_type() == Some(NumericalType::Integer);
    signless(declared) || signless(given)
}

fn shape_fits(given: impl ExactSizeIterator<Item = u64>, declared: &[Option<u64>]) -> bool {
    given.len() == declared.len() && given.zip(declared).all(|(g, d)| d.is_none_or(|d| d == g))
}

/// Foreign memory as a buffer view.
fn import(
    py: Python<'_>,
    memory: Arc<ForeignBuffer>,
    element: ElementType,
    policy: &ImportPolicy,
) -> PyResult<Arc<BufferView>> {
    let shape: Shape = memory.shape().iter().map(|&d| d as u64).collect();
    let buffer = import_bytes(py, memory, policy).or_raise(py, "")?;
    let view = BufferView::new(Arc::new(buffer), element, encoding::DENSE_ROW_MAJOR, &shape);
    view.map(Arc::new).or_raise(py, "")
}

/// The bytes of contiguous foreign memory as a buffer: without a copy when the policy allows it. Memory that Python may
/// not write is not written by devices either.
pub fn import_bytes(py: Python<'_>, memory: Arc<ForeignBuffer>, policy: &ImportPolicy) -> Result<Buffer> {
    let mut params = default_params();
    let length = memory.len();
    match NonNull::new(memory.data()) {
        Some(pointer)
            if length > 0 && !policy.always_copy && (pointer.as_ptr() as usize).is_multiple_of(policy.alignment) =>
        {
            if memory.is_readonly() {
                params.access = access::READ;
            }
            // SAFETY: the exporter keeps `length` bytes valid while the view that the owner holds is not released.
            Ok(unsafe { Buffer::from_foreign(pointer, length, params, memory as Arc<dyn Any + Send + Sync>) })
        }
        _ => copy_bytes(py, &memory, &policy.allocator, params),
    }
}

/// A copy of contiguous foreign memory. Large copies are made without the GIL.
pub fn copy_bytes(
    py: Python<'_>,
    memory: &Arc<ForeignBuffer>,
    allocator: &Allocator,
    params: BufferParams,
) -> Result<Buffer> {
    const LARGE: usize = 1 << 20;
    // SAFETY: the exporter keeps the bytes valid while `memory` lives. Large arrays are read without the GIL, as numpy's
    // own copies are: who writes an array while passing it to a call gets some mixture of both.
    let copy = || allocator.allocate_copy(params.memory_type, params.usage, unsafe { memory.bytes() });
    if memory.len() >= LARGE { py.detach(copy) } else { copy() }
}

/// Whether the memory of `view` is an array of Python's that was passed to a call without a copy.
fn is_borrowed(view: &BufferView) -> bool {
    view.buffer().foreign_owner().is_some_and(|owner| (**owner).is::<ForeignBuffer>() || is_imported(&**owner))
}

/// Copies those of `results` that are arguments passed through: a result does not change when the caller's array does.
/// And, where variables may be `kept` in them, those that somebody else holds: a variable does not change when the caller
/// writes a result.
pub fn own_results(py: Python<'_>, results: &mut [Value], allocator: &Allocator, kept: bool) -> PyResult<()> {
    for value in results {
        let Value::Ref(reference) = value else { continue };
        let Ok(view) = refs::downcast_ref::<BufferView>(reference) else { continue };
        let shared = is_borrowed(view) || (kept && view.buffer().is_held_elsewhere());
        if !shared {
            continue;
        }
        *value = Value::from_object(Arc::new(copy_of(view, allocator).or_raise(py, "copying a result")?));
    }
    Ok(())
}

/// `value` in single precision, unless that makes an infinity of a number.
fn fits_f32(value: f64) -> Option<f32> {
    let single = value as f32;
    (single.is_finite() || !value.is_finite()).then_some(single)
}

fn exact_scalar(object: &Bound<'_, PyAny>, kind: Kind) -> Option<Value> {
    match kind {
        Kind::I32 | Kind::I64 if !object.is_instance_of::<PyInt>() || object.is_instance_of::<PyBool>() => None,
        Kind::I32 => object.extract().ok().map(Value::I32),
        Kind::I64 => object.extract().ok().map(Value::I64),
        Kind::F32 | Kind::F64 if !object.is_instance_of::<PyFloat>() && !object.is_instance_of::<PyInt>() => None,
        // A number that f32 cannot hold is refused in words, as one too large for an i32.
        Kind::F32 => object.extract::<f64>().ok().and_then(fits_f32).map(Value::F32),
        Kind::F64 => object.extract().ok().map(Value::F64),
        Kind::Ref => None,
    }
}

/// Objects of the runtime and plain arrays, or None for anything else.
fn reference(object: &Bound<'_, PyAny>, policy: &ImportPolicy) -> PyResult<Option<Value>> {
    if object.is_none() {
        return Ok(Some(Value::Ref(None)));
    }
    if let Some(value) = VmRef::value_of(object)? {
        let view = if let Value::Ref(reference) = &value { refs::downcast::<BufferView>(reference).ok() } else { None };
        return match view {
            Some(view) => owned(object.py(), &view, policy).map(|view| Some(Value::from_object(view))),
            None => Ok(Some(value)),
        };
    }
    if hides_elements(object)? {
        return Ok(None);
    }
    let Ok(memory) = ForeignBuffer::get(object, false) else {
        let Ok(Some(lent)) = Lent::of(object) else { return Ok(None) };
        let view = lent.into_view(object.py(), &policy.allocator, policy.alignment, !policy.always_copy)?;
        return Ok(Some(Value::from_object(Arc::new(view))));
    };
    match memory.element_type() {
        Some(element) if memory.is_contiguous() => {
            import(object.py(), memory, signless(element), policy).map(|view| Some(Value::from_object(view)))
        }
        _ => Ok(None),
    }
}

/// Signed integers become signless ones, as the HAL knows them from MLIR.
fn signless(element: ElementType) -> ElementType {
    match element.numerical_type() {
        Some(NumericalType::SignedInteger) => ElementType(0x1000_0000 | element.bit_count()),
        _ => element,
    }
}

/// An array of bits with the type that they are of, as the conversion in Python gives it, as a buffer view.
fn view_of_bits(coerced: &Bound<'_, PyAny>, policy: &ImportPolicy) -> PyResult<Option<Arc<BufferView>>> {
    let Ok((bits, element)) = coerced.extract::<(Bound<'_, PyAny>, u32)>() else { return Ok(None) };
    let memory = ForeignBuffer::contiguous(&bits, false)?;
    import(coerced.py(), memory, ElementType(element), policy).map(Some)
}

/// An array of any type as a buffer view.
pub fn view_of(object: &Bound<'_, PyAny>, policy: &ImportPolicy) -> PyResult<Arc<BufferView>> {
    if let Ok(view) = object.cast::<HalBufferView>() {
        return Ok(view.get().0.clone());
    }
    if let Some(view) = view_of_bits(object, policy)? {
        return Ok(view);
    }
    let memory = ForeignBuffer::contiguous(object, false)?;
    let element = memory.element_type().ok_or_else(|| {
        pyo3::exceptions::PyTypeError::new_err("the array's element type or byte order has no device type")
    })?;
    import(object.py(), memory, signless(element), policy)
}
