//! Assembly text to modules and back.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tiree_vm::TypeRegistry;
use tiree_vm::archive::Archive;
use tiree_vm::asm;
use tiree_vm::disasm::{Options, Output, dump};

use crate::errors::IntoPython;

/// The module that `text` describes; `file` is its name in messages. With `verify` it is also loaded.
#[pyfunction]
pub fn assemble<'py>(py: Python<'py>, text: &str, file: &str, verify: bool) -> PyResult<Bound<'py, PyBytes>> {
    let assembled = py.detach(|| {
        let assembled = asm::assemble(text, file)?;
        if verify {
            assembled.verify(text, file, &TypeRegistry::default())?;
        }
        Ok(assembled)
    });
    Ok(PyBytes::new(py, &assembled.or_raise(py, "")?.bytes))
}

/// The text of the module in `data`; `output` as in `dump_module`.
#[pyfunction]
pub fn disassemble(
    py: Python<'_>,
    data: &[u8],
    name: &str,
    output: &str,
    function: String,
    bytecode_offsets: bool,
) -> PyResult<String> {
    let options =
        Options { output: Output::parse(output).or_raise(py, "")?, function, bytecode_offsets, pretty: false };
    let text = py.detach(|| dump(&*Archive::copy(data, name)?, &options));
    text.or_raise(py, "")
}
