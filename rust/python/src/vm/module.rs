//! `VmInstance` and `VmModule`.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tiree_vm::archive::Archive;
use tiree_vm::bytecode::BytecodeModule;
use tiree_vm::context::AnyModule;
use tiree_vm::module::Module;
use tiree_vm::types::TypeRegistry;

use crate::errors::IntoPython;
use crate::foreign::ForeignBuffer;
use crate::vm::function::VmFunction;

/// The root of everything in IREE's API. Types are known statically here, so it holds nothing.
#[pyclass(frozen, module = "tiree._native")]
pub struct VmInstance;

#[pymethods]
impl VmInstance {
    #[new]
    fn new() -> VmInstance {
        VmInstance
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

/// Calls a Python function when the module's memory is no longer used.
struct Destroy {
    callback: Option<Py<PyAny>>,
    _memory: Option<ForeignBuffer>,
}

impl Drop for Destroy {
    fn drop(&mut self) {
        if let Some(callback) = self.callback.take() {
            Python::try_attach(|py| {
                if let Err(error) = callback.call0(py) {
                    error.write_unraisable(py, None);
                }
            });
        }
    }
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

    /// The alignment that kernels of this module assume of their bindings.
    pub fn binding_alignment(&self) -> usize {
        match &self.inner {
            AnyModule::Bytecode(m) if m.archive().def().attrs.iter().any(|a| a.key == "tiree.version") => 16,
            _ => 64,
        }
    }

    /// Export names in order.
    pub fn names(&self) -> Vec<String> {
        self.inner.export_names().into_iter().map(str::to_owned).collect()
    }
}

#[pymethods]
impl VmModule {
    /// The module in file `filepath`, mapped into memory.
    #[staticmethod]
    #[pyo3(signature = (instance, filepath, destroy_callback = None))]
    fn mmap(
        py: Python<'_>,
        instance: &VmInstance,
        filepath: std::path::PathBuf,
        destroy_callback: Option<Py<PyAny>>,
    ) -> PyResult<VmModule> {
        let _ = instance;
        let archive = py.detach(|| Archive::open(&filepath));
        let module = VmModule::load(py, archive, None)?;
        // The mapping belongs to the module, so a callback has nothing to wait for: the caller keeps nothing alive.
        drop(Destroy { callback: destroy_callback, _memory: None });
        Ok(module)
    }

    /// The module in `buffer`, copied.
    #[staticmethod]
    fn copy_buffer(py: Python<'_>, instance: &VmInstance, buffer: &Bound<'_, PyAny>) -> PyResult<VmModule> {
        let _ = instance;
        let memory = ForeignBuffer::get(buffer, false)?;
        // SAFETY: the exporter keeps the bytes valid while `memory` lives; they are copied here.
        let bytes = unsafe { bytes_of(&memory) };
        VmModule::load(py, Archive::copy(bytes, "<buffer>"), Some(buffer.clone().unbind()))
    }

    /// The module in `buffer`, in place; ValueError when it is not 64-byte aligned.
    #[staticmethod]
    #[pyo3(signature = (instance, buffer, destroy_callback = None, close_buffer = false))]
    fn wrap_buffer(
        py: Python<'_>,
        instance: &VmInstance,
        buffer: &Bound<'_, PyAny>,
        destroy_callback: Option<Py<PyAny>>,
        close_buffer: bool,
    ) -> PyResult<VmModule> {
        let _ = (instance, close_buffer);
        let memory = ForeignBuffer::get(buffer, false)?;
        if !(memory.data() as usize).is_multiple_of(64) {
            return Err(PyValueError::new_err(
                "VmModule.wrap_buffer needs 64-byte aligned memory; use copy_buffer, or mmap for files",
            ));
        }
        let (data, length) = (NonNull::new(memory.data()), memory.len());
        let owner: Arc<dyn Any + Send + Sync> = Arc::new(Destroy { callback: destroy_callback, _memory: Some(memory) });
        let Some(data) = data else { return Err(PyValueError::new_err("the buffer is empty")) };
        // SAFETY: the exported memory stays valid and unchanged while `owner` holds the export.
        let archive = unsafe { Archive::wrap(data, length, owner, "<buffer>") };
        VmModule::load(py, archive, Some(buffer.clone().unbind()))
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
            warnings.call_method1("warn", ("the module's memory is not 64-byte aligned; it is copied",))?;
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

    /// The bytes the module was made of, when Python gave them.
    #[getter]
    fn stashed_flatbuffer_blob(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.blob.as_ref().map(|b| b.clone_ref(py))
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

    /// Pickles as the bytes it was made of or the file's contents.
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>, Bound<'py, PyAny>))> {
        let py = slf.py();
        let AnyModule::Bytecode(module) = &slf.get().inner else {
            return Err(pyo3::exceptions::PyTypeError::new_err("native modules cannot be pickled"));
        };
        let bytes = PyBytes::new(py, module.archive().bytes());
        let constructor = py.get_type::<VmModule>().getattr("copy_buffer")?;
        Ok((constructor, (Bound::new(py, VmInstance)?.into_any(), bytes.into_any())))
    }

    fn __repr__(&self) -> String {
        format!("<VmModule {} : [{}]>", self.inner.name(), self.names().join(", "))
    }
}

/// # Safety
/// The exporter must keep the memory valid and unchanged while the slice is used.
unsafe fn bytes_of(memory: &ForeignBuffer) -> &[u8] {
    if memory.len() == 0 {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { std::slice::from_raw_parts(memory.data(), memory.len()) }
}
