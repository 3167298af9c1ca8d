//! `VmContext`: modules linked with each other.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;
use tiree_hal::allocator::Allocator;
use tiree_hal::buffer_view::BufferView;
use tiree_vm::context::{AnyModule, Context, ContextOptions, Function};
use tiree_vm::{Value, refs};

use crate::arguments::copy_if_lent;
use crate::coroutines::as_part_of_a_call;
use crate::errors::IntoPython;
use crate::limits::limits;
use crate::signature::Signature;
use crate::vm::function::VmFunction;
use crate::vm::invocation::{INVOKING, Invocation};
use crate::vm::list::VmVariantList;
use crate::vm::module::{VmInstance, VmModule, made_by_tiree};

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// A context; it can grow when it was made without modules.
///
/// `memory_limit` is how many bytes the buffers (of devices too), lists and other objects of its
/// modules may take together. `fuel`, `timeout`
/// (seconds) and `max_stack_depth` limit every call that does not have its own limits, of initializers too.
#[pyclass(frozen, module = "tiree._native")]
pub struct VmContext {
    /// The context.
    pub inner: Context,
    /// A number that no other context of this process has.
    #[pyo3(get)]
    context_id: u64,
}

/// A copy where the function could write or keep memory of others, as calls through `FunctionInvoker` make.
fn owned(value: Value) -> tiree_vm::Result<Value> {
    let Value::Ref(reference) = &value else { return Ok(value) };
    let Ok(view) = refs::downcast_ref::<BufferView>(reference) else { return Ok(value) };
    let copy = copy_if_lent(view, &Allocator::new())?;
    Ok(copy.map_or(value.clone(), |view| Value::from_object(Arc::new(view))))
}

/// Which arguments of `bound` are copied where they are views over memory of others; those behind the end are not.
fn copied_arguments(bound: &Function, function: &VmFunction) -> Vec<bool> {
    if made_by_tiree(&bound.module()) && function.attr("tiree.inputs") != Some("kept") {
        return Vec::new();
    }
    let signature = Signature::new(bound.cconv(), function.attr("iree.abi.declaration"), None, false);
    signature.args.iter().map(|argument| !argument.output).collect()
}

#[pymethods]
impl VmContext {
    #[new]
    #[pyo3(signature = (instance, modules = None, *, memory_limit = None, fuel = None, timeout = None,
                        max_stack_depth = None))]
    fn new(
        py: Python<'_>,
        instance: &VmInstance,
        modules: Option<Vec<PyRef<'_, VmModule>>>,
        memory_limit: Option<usize>,
        fuel: Option<u64>,
        timeout: Option<f64>,
        max_stack_depth: Option<u32>,
    ) -> PyResult<VmContext> {
        let _ = instance;
        let options = ContextOptions { memory: memory_limit, limits: limits(fuel, timeout, max_stack_depth)? };
        let inner = match modules {
            None => Context::growable_with_options(&options),
            Some(modules) => {
                let modules: Vec<AnyModule> = modules.iter().map(|m| m.inner.clone()).collect();
                py.detach(|| Context::with_options(modules, &options)).or_raise(py, "Error creating vm context")?
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

    /// A context for another thread: it shares the loaded modules and has states of its own. Those of compiled modules are
    /// copied as they are now, Python modules make new objects, initializers do not run again.
    fn fork(&self, py: Python<'_>) -> PyResult<VmContext> {
        let inner = py.detach(|| self.inner.fork()).or_raise(py, "Error forking vm context")?;
        Ok(VmContext { inner, context_id: NEXT_ID.fetch_add(1, Ordering::Relaxed) })
    }

    /// Names of the modules, in the order of registration.
    #[getter]
    fn module_names(&self) -> Vec<String> {
        use tiree_vm::module::Module;
        self.inner.modules().iter().map(|m| m.name().to_owned()).collect()
    }

    /// Bytes that the objects of its modules take now; None without a limit.
    #[getter]
    fn memory_used(&self) -> Option<usize> {
        self.inner.quota().map(|quota| quota.used())
    }

    /// Calls `function` with the values of `inputs`; its results become the contents of `outputs`, which stays as it is when
    /// the call fails and may be `inputs`.
    ///
    /// The call may execute `fuel` instructions, take `timeout` seconds and have `max_stack_depth` calls active.
    #[pyo3(signature = (function, inputs, outputs, *, fuel = None, timeout = None, max_stack_depth = None))]
    #[allow(clippy::too_many_arguments)] // Python names them.
    fn invoke(
        &self,
        py: Python<'_>,
        function: &VmFunction,
        inputs: &VmVariantList,
        outputs: &VmVariantList,
        fuel: Option<u64>,
        timeout: Option<f64>,
        max_stack_depth: Option<u32>,
    ) -> PyResult<()> {
        let invocation = self.begin(py, function, inputs, fuel, timeout, max_stack_depth)?;
        let results = invocation.finish_now(py)?;
        py.detach(|| outputs.0.resize(0)).or_raise(py, "")?;
        for value in results {
            outputs.append(py, value)?;
        }
        Ok(())
    }

    /// Starts a call that the caller drives: `step()` until it is done. Nothing runs before the first step; time counts
    /// from now.
    #[pyo3(signature = (function, inputs, *, fuel = None, timeout = None, max_stack_depth = None))]
    fn begin(
        &self,
        py: Python<'_>,
        function: &VmFunction,
        inputs: &VmVariantList,
        fuel: Option<u64>,
        timeout: Option<f64>,
        max_stack_depth: Option<u32>,
    ) -> PyResult<Invocation> {
        let bound = self.inner.function(&function.module_name, &function.name).or_raise(py, "")?;
        let mut args = Vec::with_capacity(inputs.0.len());
        let copied = copied_arguments(&bound, function);
        for i in 0..inputs.0.len() {
            let value = inputs.0.get(i).or_raise(py, "")?;
            let copy = copied.get(i).is_some_and(|copied| *copied);
            args.push(if copy { owned(value).or_raise(py, "")? } else { value });
        }
        let limits = limits(fuel, timeout, max_stack_depth)?;
        let args = crate::invoker::fit_numbers(&bound, args);
        let started = as_part_of_a_call(py, || bound.start_limited(args, &limits));
        Ok(Invocation::new(started.or_raise(py, INVOKING)?, self.inner.id(), None, ""))
    }
}
