//! `VmFunction`: what a module says about one export.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tiree_vm::context::AnyModule;
use tiree_vm::module::Module;

/// A function of a module, not bound to a context.
#[pyclass(frozen, module = "tiree._native")]
#[derive(Clone)]
pub struct VmFunction {
    /// Name of the module.
    #[pyo3(get)]
    pub module_name: String,
    /// Name of the export.
    #[pyo3(get)]
    pub name: String,
    /// Place among the exports of the module.
    #[pyo3(get)]
    pub ordinal: usize,
    /// Calling convention, `0rr_r`.
    #[pyo3(get)]
    pub cconv: String,
    /// Reflection attributes.
    pub attrs: Vec<(String, String)>,
}

impl VmFunction {
    /// The export `name` of `module`.
    pub fn lookup(module: &AnyModule, name: &str) -> Option<VmFunction> {
        let ordinal = module.lookup_export(name)?;
        let (place, cconv, attrs) = match module {
            AnyModule::Bytecode(m) => {
                let signature = m.signature(ordinal)?;
                let attrs = signature.attrs.iter().map(|a| (a.key.clone(), a.value.clone())).collect();
                (m.export_place(name)?, signature.cconv.clone(), attrs)
            }
            AnyModule::Native(m) => (ordinal, m.exports().get(ordinal)?.cconv.to_owned(), m.attrs(ordinal)),
        };
        let (module_name, name) = (module.name().to_owned(), name.to_owned());
        Some(VmFunction { module_name, name, ordinal: place, cconv, attrs })
    }

    /// The value of a reflection attribute.
    pub fn attr(&self, key: &str) -> Option<&str> {
        self.attrs.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }
}

#[pymethods]
impl VmFunction {
    /// Reflection attributes as a dict.
    #[getter]
    fn reflection<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (key, value) in &self.attrs {
            dict.set_item(key, value)?;
        }
        Ok(dict)
    }

    /// Always EXPORT.
    #[getter]
    fn linkage(&self) -> i32 {
        2
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.text(py)
    }
}

impl VmFunction {
    /// What `repr` gives.
    pub fn text(&self, py: Python<'_>) -> PyResult<String> {
        let reflection = self.reflection(py)?.repr()?.to_string();
        Ok(format!("<VmFunction {}({}), reflection = {reflection}>", self.name, self.cconv))
    }
}
