//! `VmContext`: modules linked with each other.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;
use tiree_vm::context::{AnyModule, Context};

use crate::errors::IntoPython;
use crate::vm::function::VmFunction;
use crate::vm::invocation::{INVOKING, Invocation};
use crate::vm::list::VmVariantList;
use crate::vm::module::{VmInstance, VmModule};

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// A context; it can grow when it was made without modules.
#[pyclass(frozen, module = "tiree._native")]
pub struct VmContext {
    /// The context.
    pub inner: Context,
    /// A number that no other context of this process has.
    #[pyo3(get)]
    context_id: u64,
}

#[pymethods]
impl VmContext {
    #[new]
    #[pyo3(signature = (instance, modules = None))]
    fn new(py: Python<'_>, instance: &VmInstance, modules: Option<Vec<PyRef<'_, VmModule>>>) -> PyResult<VmContext> {
        let _ = instance;
        let inner = match modules {
            None => Context::growable(),
            Some(modules) => {
                let modules: Vec<AnyModule> = modules.iter().map(|m| m.inner.clone()).collect();
                py.detach(|| Context::new(modules)).or_raise(py, "Error creating vm context")?
            }
        };
        Ok(VmContext { inner, context_id: NEXT_ID.fetch_add(1, Ordering::Relaxed) })
    }

    /// Links further modules, in order.
    fn register_modules(&self, py: Python<'_>, modules: Vec<PyRef<'_, VmModule>>) -> PyResult<()> {
        let modules: Vec<AnyModule> = modules.iter().map(|m| m.inner.clone()).collect();
        for module in modules {
            py.detach(|| self.inner.register(module)).or_raise(py, "Error registering modules")?;
        }
        Ok(())
    }

    /// Names of the modules, in the order of registration.
    #[getter]
    fn module_names(&self) -> Vec<String> {
        use tiree_vm::module::Module;
        self.inner.modules().iter().map(|m| m.name().to_owned()).collect()
    }

    /// Calls `function` with the values of `inputs` and appends its results to `outputs`.
    fn invoke(
        &self,
        py: Python<'_>,
        function: &VmFunction,
        inputs: &VmVariantList,
        outputs: &VmVariantList,
    ) -> PyResult<()> {
        for value in self.begin(py, function, inputs)?.finish_now(py)? {
            outputs.0.push(value).or_raise(py, "")?;
        }
        Ok(())
    }

    /// Starts a call that the caller drives: `step()` until it is done. Nothing runs before the first step.
    fn begin(&self, py: Python<'_>, function: &VmFunction, inputs: &VmVariantList) -> PyResult<Invocation> {
        let bound = self.inner.function(&function.module_name, &function.name).or_raise(py, "")?;
        let mut args = Vec::with_capacity(inputs.0.len());
        for i in 0..inputs.0.len() {
            args.push(inputs.0.get(i).or_raise(py, "")?);
        }
        let started = bound.start(crate::invoker::fit_numbers(&bound, args));
        Ok(Invocation::new(started.or_raise(py, INVOKING)?, None))
    }
}
