//! Calls of functions.

use crate::tensor::{Element, array_to_view, view_to_array};
use std::collections::VecDeque;
use std::sync::Arc;
use tiree_hal::buffer_view::{BufferView, Shape};
use tiree_hal::device::Device;
use tiree_vm::{Function, Limits, Result, Status, Value, refs};

/// A call: push the inputs, invoke, pop the outputs; then it can be used again.
pub struct Call {
    device: Arc<Device>,
    function: Function,
    inputs: Vec<Value>,
    outputs: VecDeque<Value>,
}

impl Call {
    pub(crate) fn new(device: Arc<Device>, function: Function) -> Call {
        Call { device, function, inputs: Vec::new(), outputs: VecDeque::new() }
    }

    /// The function.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Adds an input.
    pub fn push(&mut self, value: impl Into<Value>) {
        self.inputs.push(value.into());
    }

    /// Adds a tensor input.
    pub fn push_view(&mut self, view: Arc<BufferView>) {
        self.inputs.push(Value::from_object(view));
    }

    /// Adds a tensor input with a copy of `elements`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT when the shape has another number of elements; RESOURCE_EXHAUSTED.
    pub fn push_array<T: Element>(&mut self, shape: &[u64], elements: &[T]) -> Result<()> {
        let view = array_to_view(&self.device, shape, elements)?;
        self.inputs.push(Value::from_object(Arc::new(view)));
        Ok(())
    }

    /// Calls the function with the inputs pushed and waits for the outputs.
    ///
    /// # Errors
    /// Those of the function.
    pub fn invoke(&mut self) -> Result<()> {
        self.invoke_limited(&Limits::default())
    }

    /// As [`invoke`](Self::invoke); an error ends the call when it reaches a limit.
    ///
    /// # Errors
    /// Those of the function; RESOURCE_EXHAUSTED and DEADLINE_EXCEEDED for limits.
    pub fn invoke_limited(&mut self, limits: &Limits) -> Result<()> {
        self.outputs.clear();
        self.outputs = self.function.invoke_limited(std::mem::take(&mut self.inputs), limits)?.into();
        Ok(())
    }

    /// Forgets inputs and outputs.
    pub fn reset(&mut self) {
        self.inputs.clear();
        self.outputs.clear();
    }

    /// Outputs that have not been taken.
    pub fn output_count(&self) -> usize {
        self.outputs.len()
    }

    /// Takes the next output.
    ///
    /// # Errors
    /// OUT_OF_RANGE when there is none left.
    pub fn pop(&mut self) -> Result<Value> {
        self.outputs.pop_front().ok_or_else(|| Status::out_of_range("the call has no more outputs"))
    }

    /// Takes the next output, a tensor.
    ///
    /// # Errors
    /// OUT_OF_RANGE as [`pop`](Self::pop); INVALID_ARGUMENT when it is something else.
    pub fn pop_view(&mut self) -> Result<Arc<BufferView>> {
        match self.pop()? {
            Value::Ref(reference) => refs::downcast(&reference),
            value => Err(Status::invalid_argument(format!("the output is {value:?}, not a tensor"))),
        }
    }

    /// Takes the next output, a tensor of `T`.
    ///
    /// # Errors
    /// OUT_OF_RANGE as [`pop`](Self::pop); INVALID_ARGUMENT when it is something else.
    pub fn pop_array<T: Element>(&mut self) -> Result<(Shape, Vec<T>)> {
        view_to_array(&*self.pop_view()?)
    }
}
