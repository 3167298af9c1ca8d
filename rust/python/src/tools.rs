//! What the command-line tools need: values as text, results compared and written, modules dumped.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tiree_hal::buffer_view::BufferView;
use tiree_hal::types::ElementType;
use tiree_hal::values::{Equality, InputReader, Parsed, compare, format_result, npy};
use tiree_vm::archive::Archive;
use tiree_vm::cconv::{CallingConvention, Item, Kind};
use tiree_vm::disasm::{Options, Output, dump};
use tiree_vm::types::TypeDef;
use tiree_vm::{Status, Value, VmList, refs};

use crate::errors::IntoPython;
use crate::hal::device::HalDevice;
use crate::hal::fence::HalFence;
use crate::limits::limits;
use crate::signature::{ArgType, Argument, Signature, dims_text};
use crate::vm::context::VmContext;
use crate::vm::function::VmFunction;
use crate::vm::list::VmVariantList;

fn kinds(items: &[Item]) -> Vec<Kind> {
    items.iter().filter_map(|item| if let Item::Scalar(kind) = item { Some(*kind) } else { None }).collect()
}

fn list_of(py: Python<'_>, values: impl IntoIterator<Item = Value>) -> PyResult<VmVariantList> {
    let list = VmList::new(TypeDef::Any);
    for value in values {
        list.push(value).or_raise(py, "")?;
    }
    Ok(VmVariantList(Arc::new(list)))
}

fn values_of(py: Python<'_>, list: &VmVariantList) -> PyResult<Vec<Value>> {
    (0..list.0.len()).map(|i| list.0.get(i).or_raise(py, "")).collect()
}

/// The arguments that `texts` (values of `--input=`) stand for. Functions of the asynchronous ABI get their two fences;
/// the second, which the call signals, is returned too.
#[pyfunction]
pub fn read_inputs(
    py: Python<'_>,
    device: &HalDevice,
    function: &VmFunction,
    texts: Vec<String>,
) -> PyResult<(VmVariantList, Option<HalFence>)> {
    let cconv = CallingConvention::parse(&function.cconv).or_raise(py, "")?;
    let mut kinds = kinds(&cconv.args);
    let asynchronous = function.attr("iree.abi.model") == Some("coarse-fences") && kinds.len() >= 2;
    if asynchronous {
        kinds.truncate(kinds.len() - 2);
    }
    let (declaration, names) = (function.attr("iree.abi.declaration"), function.attr("tiree.arg_names"));
    let signature = Signature::new(&cconv, declaration, names, asynchronous);
    let narrow = signature.args.iter().map(|argument| argument.narrow).collect();
    let mut reader = InputReader::new(device.0.allocator().clone(), "--input").narrow(narrow);
    // What writes to a pipe may be a thread of this process.
    let parsed = py.detach(|| reader.read_all(&texts, &kinds));
    let parsed = parsed.map_err(|status| name_function(status, &function.name, &signature.describe()));
    let parsed = parsed.or_raise(py, "")?;
    let mut values: Vec<Value> =
        parsed.into_iter().map(|p| if let Parsed::Value(v) = p { v } else { Value::NULL }).collect();
    for (index, (value, argument)) in values.iter_mut().zip(&signature.args).enumerate() {
        check_input(value, argument, index, &function.name)?;
    }
    let fence = asynchronous.then(|| Arc::new(tiree_hal::fence::Fence::unsignalled()));
    if let Some(fence) = &fence {
        values.push(Value::NULL);
        values.push(Value::from_object(fence.clone()));
    }
    Ok((list_of(py, values)?, fence.map(HalFence)))
}

/// A complaint about the number of values names the function and, where known, its arguments.
fn name_function(status: Status, name: &str, arguments: &str) -> Status {
    let Some(rest) = status.message().strip_prefix("the function ") else { return status };
    Status::new(status.code(), format!("{name}({arguments}) {rest}"))
}

/// Refuses what is no tensor of the type and shape that the function declares, in the words of `--input=`. The module's
/// own assertions would refuse it too, without knowing where it came from. Raw bytes become elements of that type.
fn check_input(value: &mut Value, argument: &Argument, index: usize, function: &str) -> PyResult<()> {
    let (Value::Ref(reference), ArgType::Tensor { element, shape }) = (&*value, &argument.ty) else { return Ok(()) };
    let given = match reference {
        None => "(null)".to_owned(),
        Some(object) => match refs::downcast::<BufferView>(reference) {
            Ok(view) => {
                if fits(&view, *element, shape) {
                    return Ok(());
                }
                let (given, wanted) = (view.element_type(), *element);
                if given.is_opaque() && given.bit_count() == wanted.bit_count() && fits_shape(&view, shape) {
                    let typed = BufferView::new(view.buffer().clone(), wanted, view.encoding_type(), view.shape());
                    *value = Value::from_object(Arc::new(typed.map_err(|e| PyValueError::new_err(e.to_string()))?));
                    return Ok(());
                }
                let known: Vec<Option<u64>> = view.shape().iter().map(|&dim| Some(dim)).collect();
                spelled(&known, given)
            }
            Err(_) => format!("a {}", object.type_name()),
        },
    };
    let hint = if given == "a hal.buffer" { ". Leave the & out" } else { "" };
    Err(PyValueError::new_err(format!(
        "--input {} is {given}; {function}() needs {} (\"{}\"){hint}",
        index + 1,
        spelled(shape, *element),
        argument.name
    )))
}

/// `2x?xf32`
fn spelled(dims: &[Option<u64>], element: ElementType) -> String {
    if dims.is_empty() { element.to_string() } else { format!("{}x{element}", dims_text(dims)) }
}

fn fits_shape(view: &BufferView, shape: &[Option<u64>]) -> bool {
    let given = view.shape();
    given.len() == shape.len() && given.iter().zip(shape).all(|(g, d)| d.is_none_or(|d| d == *g))
}

fn fits(view: &BufferView, element: ElementType, shape: &[Option<u64>]) -> bool {
    fits_shape(view, shape) && view.element_type().is_compatible(element)
}

/// Results as iree-run-module prints them, tensors cut after `limit` elements.
#[pyfunction]
pub fn format_results(py: Python<'_>, results: &VmVariantList, limit: usize) -> PyResult<String> {
    let mut text = String::new();
    for (i, value) in values_of(py, results)?.iter().enumerate() {
        text += &format_result("result", i, value, limit).or_raise(py, "printing results")?;
    }
    Ok(text)
}

/// One result as iree-run-module prints it.
#[pyfunction]
pub fn format_result_at(py: Python<'_>, results: &VmVariantList, index: usize, limit: usize) -> PyResult<String> {
    let value = results.0.get(index).or_raise(py, "")?;
    format_result("result", index, &value, limit).or_raise(py, "printing results")
}

/// The bytes of result `index` as an `.npy` file (`npy`) or raw.
#[pyfunction]
pub fn result_bytes(py: Python<'_>, results: &VmVariantList, index: usize, as_npy: bool) -> PyResult<Vec<u8>> {
    let value = results.0.get(index).or_raise(py, "")?;
    let Value::Ref(reference) = &value else {
        let bytes = if as_npy { npy::write_number(&value) } else { npy::number_bytes(&value).map(|(_, bytes)| bytes) };
        return bytes.or_raise(py, "writing a result");
    };
    let view = refs::downcast::<BufferView>(reference).or_raise(py, "writing a result")?;
    let bytes = if as_npy { npy::write(&view) } else { view.to_vec() };
    bytes.or_raise(py, "writing a result")
}

/// Compares results with `--expected_output=` values: whether all match, and the text to print.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one per flag")]
pub fn compare_results(
    py: Python<'_>,
    device: &HalDevice,
    function: &VmFunction,
    texts: Vec<String>,
    results: &VmVariantList,
    exact: bool,
    thresholds: (f64, f64, f64, f64),
    relative: f64,
    max_elements: usize,
) -> PyResult<(bool, String)> {
    let cconv = CallingConvention::parse(&function.cconv).or_raise(py, "")?;
    let mut reader = InputReader::new(device.0.allocator().clone(), "--expected_output");
    let expected = py.detach(|| reader.read_all(&texts, &cconv.results));
    let expected = expected.map_err(|status| name_function(status, &function.name, "")).or_raise(py, "")?;
    let (f16, f32, f64, bf16) = thresholds;
    let equality = Equality { exact, f16, f32, f64, bf16, relative, max_elements };
    compare(&expected, &values_of(py, results)?, &equality).or_raise(py, "comparing results")
}

/// The text of the module in `path`, as iree-dump-module prints it.
#[pyfunction]
#[pyo3(signature = (path, output, function, bytecode_offsets, pretty))]
pub fn dump_module(
    py: Python<'_>,
    path: std::path::PathBuf,
    output: &str,
    function: String,
    bytecode_offsets: bool,
    pretty: bool,
) -> PyResult<String> {
    let options = Options { output: Output::parse(output).or_raise(py, "")?, function, bytecode_offsets, pretty };
    let archive = Archive::open(path).or_raise(py, "")?;
    py.detach(|| dump(&archive, &options)).or_raise(py, "")
}

/// The FlatBuffer of the module in `path`, without its size prefix.
#[pyfunction]
pub fn module_flatbuffer<'py>(py: Python<'py>, path: std::path::PathBuf) -> PyResult<Bound<'py, PyBytes>> {
    let archive = Archive::open(path).or_raise(py, "")?;
    Ok(PyBytes::new(py, archive.flatbuffer()))
}

/// `2x3xf32=1.5` as the bytes that the tensor takes and the bytes of the values given: the pattern of a splat.
#[pyfunction]
pub fn parse_pattern<'py>(py: Python<'py>, text: &str) -> PyResult<(usize, Bound<'py, PyBytes>)> {
    let (size, pattern) = tiree_hal::values::parse_pattern(text).or_raise(py, "")?;
    Ok((size, PyBytes::new(py, &pattern)))
}

/// Calls `function` `iterations` times, one after the other, and returns the seconds of wall time that took. Each call may
/// use `fuel` and take `timeout` seconds.
#[pyfunction]
#[pyo3(signature = (context, function, inputs, iterations, fuel = None, timeout = None))]
pub fn time_invocations(
    py: Python<'_>,
    context: &VmContext,
    function: &VmFunction,
    inputs: &VmVariantList,
    iterations: u64,
    fuel: Option<u64>,
    timeout: Option<f64>,
) -> PyResult<f64> {
    let bound = context.inner.function(&function.module_name, &function.name).or_raise(py, "")?;
    let args = crate::invoker::fit_numbers(&bound, values_of(py, inputs)?);
    let limits = limits(fuel, timeout, None)?;
    py.detach(|| {
        let start = std::time::Instant::now();
        let mut watch = tiree_vm::interrupt::Watch::default();
        for i in 0..iterations {
            bound.invoke_limited(args.clone(), &limits)?;
            if i % 16 == 15 {
                watch.look()?;
            }
        }
        Ok(start.elapsed().as_secs_f64())
    })
    .or_raise(py, "Error invoking function")
}
