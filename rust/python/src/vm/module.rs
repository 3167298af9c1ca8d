//! `VmInstance` and `VmModule`.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyType};
use tiree_vm::archive::Archive;
use tiree_vm::bytecode::BytecodeModule;
use tiree_vm::context::AnyModule;
use tiree_vm::module::Module;
use tiree_vm::types::TypeRegistry;

use crate::attaching::try_attach;
use crate::calls::Invoke;
use crate::errors::IntoPython;
use crate::foreign::ForeignBuffer;
use crate::vm::buffer::VmBuffer;
use crate::vm::function::VmFunction;

/// What `__reduce__` returns: a function, and the arguments that it makes the object of again.
type Pickled<'py> = (Bound<'py, PyAny>, (Bound<'py, PyAny>, Bound<'py, PyAny>));

/// The root of everything in IREE's API. Types are known statically here, so it holds nothing.
#[pyclass(frozen, module = "tiree._native")]
pub struct VmInstance;

#[pymethods]
impl VmInstance {
    #[new]
    fn new() -> VmInstance {
        VmInstance
    }

    /// Pickles as the instance of the process where it arrives, in every protocol.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, ()) {
        (slf.get_type(), ())
    }
}

/// A loaded module: bytecode or native.
#[pyclass(frozen, module = "tiree._native")]
pub struct VmModule {
    /// The module.
    pub inner: AnyModule,
    /// What it was made of, when Python gave the bytes.
    blob: Option<Py<PyAny>>,
}

/// Memory of Python's that a module lies in. When the module is gone it is released, then closed if that was asked for,
/// then the callback is called.
struct Wrapped {
    memory: Option<Arc<ForeignBuffer>>,
    close: Option<Py<PyAny>>,
    callback: Option<Py<PyAny>>,
}

impl Drop for Wrapped {
    fn drop(&mut self) {
        self.memory = None;
        let (close, callback) = (self.close.take(), self.callback.take());
        if close.is_none() && callback.is_none() {
            return;
        }
        try_attach(|py| {
            let closed = close.map_or(Ok(()), |buffer| buffer.bind(py).invoke_method("close", ()).map(drop));
            let called = callback.map_or(Ok(()), |callback| callback.bind(py).invoke(()).map(drop));
            for error in [closed, called].into_iter().filter_map(Result::err) {
                error.write_unraisable(py, None);
            }
        });
    }
}

/// Whether Tiree's compiler scheduled the device work of `module`: it then only reads arguments, and takes them at the
/// alignment that `arguments` promises. A module that Tiree finished from another compiler's schedule says so.
pub fn made_by_tiree(module: &AnyModule) -> bool {
    let AnyModule::Bytecode(module) = module else { return false };
    let archive = module.archive();
    let has = |key: &str| archive.def().attrs.iter().any(|a| a.key == key);
    has("tiree.version") && !has("tiree.schedule")
}

impl VmModule {
    /// A native module for Python.
    pub fn native(inner: AnyModule) -> VmModule {
        VmModule { inner, blob: None }
    }

    fn load(py: Python<'_>, archive: tiree_vm::Result<Arc<Archive>>, blob: Option<Py<PyAny>>) -> PyResult<VmModule> {
        let archive = archive.or_raise(py, "Error creating vm module")?;
        let module = py.detach(|| BytecodeModule::load(archive, &TypeRegistry::default()));
        let module = module.or_raise(py, "Error creating vm module")?;
        Ok(VmModule { inner: AnyModule::Bytecode(module), blob })
    }

    /// The module in memory of Python's, used in place.
    fn wrap(
        py: Python<'_>,
        buffer: &Bound<'_, PyAny>,
        callback: Option<Py<PyAny>>,
        close: bool,
        name: &str,
    ) -> PyResult<VmModule> {
        let memory = ForeignBuffer::contiguous(buffer, false)?;
        if !(memory.data() as usize).is_multiple_of(64) {
            return Err(PyValueError::new_err(
                "VmModule.wrap_buffer needs 64-byte aligned memory; use copy_buffer, or mmap for files",
            ));
        }
        let (data, length) = (NonNull::new(memory.data()), memory.len());
        let close = close.then(|| buffer.clone().unbind());
        let owner: Arc<dyn Any + Send + Sync> = Arc::new(Wrapped { memory: Some(memory), close, callback });
        let Some(data) = data else { return Err(PyValueError::new_err("the buffer is empty")) };
        // SAFETY: the exported memory stays valid and unchanged while `owner` holds the export.
        let archive = unsafe { Archive::wrap(data, length, owner, name) };
        VmModule::load(py, archive, Some(buffer.clone().unbind()))
    }

    /// Export names in order.
    pub fn names(&self) -> Vec<String> {
        self.inner.export_names().into_iter().map(str::to_owned).collect()
    }
}

#[pymethods]
impl VmModule {
    /// The module in file `filepath`, mapped into memory when it is big. `destroy_callback()` is called when it is used no
    /// longer.
    #[staticmethod]
    #[pyo3(signature = (instance, filepath, destroy_callback = None))]
    fn mmap(
        py: Python<'_>,
        instance: &VmInstance,
        filepath: std::path::PathBuf,
        destroy_callback: Option<Py<PyAny>>,
    ) -> PyResult<VmModule> {
        let _ = instance;
        let wrapped = |callback| Wrapped { memory: None, close: None, callback: Some(callback) };
        let companion = destroy_callback.map(|callback| Arc::new(wrapped(callback)) as Arc<dyn Any + Send + Sync>);
        VmModule::load(py, py.detach(|| Archive::open_with(&filepath, companion)), None)
    }

    /// The module in `buffer`, copied.
    #[staticmethod]
    fn copy_buffer(py: Python<'_>, instance: &VmInstance, buffer: &Bound<'_, PyAny>) -> PyResult<VmModule> {
        let _ = instance;
        let memory = ForeignBuffer::contiguous(buffer, false)?;
        // SAFETY: the exporter keeps the bytes valid while `memory` lives; they are copied here, with the GIL held.
        let bytes = unsafe { memory.bytes() };
        VmModule::load(py, Archive::copy(bytes, "<buffer>"), Some(buffer.clone().unbind()))
    }

    /// The module in `buffer`, in place; ValueError when it is not 64-byte aligned. When the module is gone,
    /// `buffer.close()` is called with `close_buffer`, then `destroy_callback()`.
    #[staticmethod]
    #[pyo3(signature = (instance, buffer, destroy_callback = None, close_buffer = false))]
    fn wrap_buffer(
        py: Python<'_>,
        instance: &VmInstance,
        buffer: &Bound<'_, PyAny>,
        destroy_callback: Option<Py<PyAny>>,
        close_buffer: bool,
    ) -> PyResult<VmModule> {
        let _ = instance;
        VmModule::wrap(py, buffer, destroy_callback, close_buffer, "<buffer>")
    }

    /// The module in `buffer`: in place when aligned, else copied (with a warning unless `warn_if_copy` is False).
    #[staticmethod]
    #[pyo3(signature = (instance, buffer, warn_if_copy = true))]
    fn from_buffer(
        py: Python<'_>,
        instance: &VmInstance,
        buffer: &Bound<'_, PyAny>,
        warn_if_copy: bool,
    ) -> PyResult<VmModule> {
        if (ForeignBuffer::get(buffer, false)?.data() as usize).is_multiple_of(64) {
            return VmModule::wrap_buffer(py, instance, buffer, None, false);
        }
        if warn_if_copy {
            let warnings = py.import("warnings")?;
            warnings.invoke_method("warn", ("the module's memory is not 64-byte aligned; it is copied",))?;
        }
        VmModule::copy_buffer(py, instance, buffer)
    }

    /// As `from_buffer`.
    #[staticmethod]
    #[pyo3(signature = (instance, buffer, warn_if_copy = true))]
    fn from_flatbuffer(
        py: Python<'_>,
        instance: &VmInstance,
        buffer: &Bound<'_, PyAny>,
        warn_if_copy: bool,
    ) -> PyResult<VmModule> {
        VmModule::from_buffer(py, instance, buffer, warn_if_copy)
    }

    /// The module in a file, without an instance: the name that older IREE tutorials use.
    #[staticmethod]
    fn from_flatbuffer_file(py: Python<'_>, filepath: std::path::PathBuf) -> PyResult<VmModule> {
        VmModule::mmap(py, &VmInstance, filepath, None)
    }

    /// The module's name, the part before the dot when others import from it.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// Its version.
    #[getter]
    fn version(&self) -> u32 {
        self.inner.version()
    }

    /// Names of all exports.
    #[getter]
    fn function_names(&self) -> Vec<String> {
        self.names()
    }

    /// What the module was made of: the object that Python gave, or a view of the mapped file. None for native modules.
    #[getter]
    fn stashed_flatbuffer_blob<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Some(blob) = &self.blob {
            return Ok(Some(blob.clone_ref(py).into_bound(py)));
        }
        let AnyModule::Bytecode(module) = &self.inner else { return Ok(None) };
        let bytes = module.archive().bytes();
        // SAFETY: the archive's bytes stay valid and unchanged while the module, which owns the archive, lives.
        let buffer =
            unsafe { tiree_vm::VmBuffer::from_raw(NonNull::from(bytes).cast(), bytes.len(), false, module.clone()) };
        let buffer = Bound::new(py, VmBuffer(Arc::new(buffer)))?;
        Ok(Some(PyMemoryView::from(buffer.as_any())?.into_any()))
    }

    /// The native module `name` of this build that another one depends on. ValueError: modules that need a device or
    /// providers are made by `create_hal_module` and `create_io_parameters_module`; there are no others.
    #[staticmethod]
    fn resolve_module_dependency(instance: &VmInstance, name: &str, minimum_version: u32) -> PyResult<VmModule> {
        let _ = (instance, minimum_version);
        let hint = match name {
            "hal" => "; make it with create_hal_module(instance, device)",
            "io_parameters" => "; make it with create_io_parameters_module(instance, *providers)",
            _ => "; make it with PyModuleInterface or load its .vmfb, and register it before its dependents",
        };
        Err(PyValueError::new_err(format!("NOT_FOUND; required module '{name}' not available in the build{hint}")))
    }

    /// Attributes of the module: key to value.
    #[getter]
    fn attributes(&self) -> Vec<(String, String)> {
        match &self.inner {
            AnyModule::Bytecode(m) => {
                m.archive().def().attrs.iter().map(|a| (a.key.clone(), a.value.clone())).collect()
            }
            AnyModule::Native(_) => Vec::new(),
        }
    }

    /// Names and minimum versions of the modules it needs.
    #[getter]
    fn dependencies(&self) -> Vec<(String, u32)> {
        match &self.inner {
            AnyModule::Bytecode(m) => {
                m.archive().def().dependencies.iter().map(|d| (d.name.clone(), d.minimum_version)).collect()
            }
            AnyModule::Native(_) => Vec::new(),
        }
    }

    /// The export called `name`, or None. Other linkages than EXPORT (2) have no names.
    #[pyo3(signature = (name, linkage = 2))]
    fn lookup_function(&self, name: &str, linkage: i32) -> Option<VmFunction> {
        (linkage == 2).then(|| VmFunction::lookup(&self.inner, name)).flatten()
    }

    /// Reads all of the file into memory now, so that the first call does not wait for the disk.
    fn prefetch(&self, py: Python<'_>) {
        let AnyModule::Bytecode(module) = &self.inner else { return };
        py.detach(|| {
            for page in module.archive().bytes().chunks(4096) {
                std::hint::black_box(page[0]);
            }
        });
    }

    /// Reads the big constants, which loading does not, and compares them with the checksums that the file has of them;
    /// the number of checksums. ValueError (DATA_LOSS) names the constant that is damaged.
    fn verify_constants(&self, py: Python<'_>) -> PyResult<usize> {
        let AnyModule::Bytecode(module) = &self.inner else { return Ok(0) };
        py.detach(|| module.archive().verify_constants()).or_raise(py, "Error verifying constants")
    }

    /// Whether it is a program, and not written in Rust or Python.
    #[getter]
    fn is_bytecode(&self) -> bool {
        matches!(self.inner, AnyModule::Bytecode(_))
    }

    /// Pickles as the bytes it was made of or the file's contents.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        let py = slf.py();
        let AnyModule::Bytecode(module) = &slf.get().inner else {
            return Err(pyo3::exceptions::PyTypeError::new_err(format!(
                "module \"{}\" is no bytecode and cannot be pickled; make it where it is needed",
                slf.get().inner.name()
            )));
        };
        let bytes = PyBytes::new(py, module.archive().bytes());
        let constructor = py.get_type::<VmModule>().getattr("copy_buffer")?;
        Ok((constructor, (Bound::new(py, VmInstance)?.into_any(), bytes.into_any())))
    }

    fn __repr__(&self) -> String {
        format!("<VmModule {} : [{}]>", self.inner.name(), self.names().join(", "))
    }
}
