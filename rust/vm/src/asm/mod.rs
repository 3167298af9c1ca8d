//! The assembler: IREE's text form of VM modules as bytecode.
//!
//! It reads what `iree-as-module` reads and what the disassembler prints, and writes the bytes that `iree-as-module`
//! writes. Beyond IREE's text it knows directives for what that text leaves out, so that the disassembler's `assembly`
//! output describes a module whole:
//!
//! ```text
//! vm.attr "key" = "value"                  attribute of the module; checksums in tiree.digest are computed
//! vm.dependency [optional] @name version N module that must be there
//! vm.requires ext_f32 ext_f64 yield unwind feature bits of the module
//! vm.state bytes N refs M                  at least this much module state
//! vm.global.ref @name                      a global that holds a reference
//! vm.rodata[0] = "text"                    instead of hexadecimal digits
//! vm.export @name = @function              an export under another name
//! ```
//!
//! and in functions, before the first block: `.attr "key" = "value"`, `.cconv "0v_v"`, `.registers i32 N ref M`,
//! `.requires ...`; `.bytecode HEX` with `.blocks N` and `.registers` gives a body as bytes,
//! whatever they are. Strings with quotes, control characters or bytes that are not UTF-8 are `c"..."` with escapes.

mod flatbuffer;
mod floats;
mod function;
mod module;
mod operands;
pub(crate) mod registers;
mod scanner;
mod verify;
mod writer;

use std::collections::HashMap;

use crate::cconv::CallingConvention;
use crate::status::Result;
use function::Body;
use module::Module;
pub use scanner::Position;
use scanner::{Fault, Parsed, Scanner, located};
pub(crate) use scanner::{is_plain_symbol, quoted, symbol_text};
use writer::Derived;

/// An assembled module.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// The file.
    pub bytes: Vec<u8>,
    /// For each function, where in the text each of its instructions is: (pc, position), ascending.
    pub positions: Vec<Vec<(u32, Position)>>,
    places: Places,
}

/// Where things are in the text that have no instruction.
#[derive(Clone, Debug, Default)]
struct Places {
    module: Position,
    functions: Vec<Position>,
    imports: HashMap<String, Position>,
    types: Vec<(String, Position)>,
}

impl Assembled {
    /// Where the instruction at or before `pc` of a function is in the text.
    pub fn position(&self, function: usize, pc: u32) -> Option<Position> {
        let positions = self.positions.get(function)?;
        let after = positions.partition_point(|(start, _)| *start <= pc);
        Some(positions.get(after.saturating_sub(1))?.1)
    }
}

/// Assembles `text`; `file` is its name in messages.
///
/// INVALID_ARGUMENT, as `file:line:column: expected ...` and the line, for the first thing that is wrong in the text.
/// What only the verifier knows (ranges of registers and ordinals, operands of calls) is not checked here but by
/// [`Assembled::verify`].
pub fn assemble(text: &str, file: &str) -> Result<Assembled> {
    let mut module = located(read(text), file, text)?;
    let exports = located(module.resolved_exports(), file, text)?;
    let callees = located(module.resolved_callees(), file, text)?;
    let mut registers = Vec::with_capacity(module.functions.len());
    for function in &mut module.functions {
        function.patch_callees(&callees);
    }
    for function in &module.functions {
        let cconv = CallingConvention::parse(&function.cconv).unwrap_or_default();
        let cconv_of = |ordinal| module.cconv_of(ordinal);
        registers.push(match function.registers {
            Some((cells, refs)) => registers::Counts { cells: cells.into(), refs: refs.into() },
            None => {
                let counts = registers::counts(&function.code, &cconv, function.pair_cells, cconv_of);
                located(counts.map_err(|status| Fault::new(function.position, status.message())), file, text)?
            }
        });
    }
    let bytes = writer::write(&module, &Derived { registers, exports });
    let bytes = located(bytes.map_err(|status| Fault::new(module.position, status.message())), file, text)?;
    let places = Places {
        module: module.position,
        functions: module.functions.iter().map(|function| function.position).collect(),
        imports: module.imports.into_iter().map(|import| (import.name, import.position)).collect(),
        types: module.tables.types.into_iter().zip(module.tables.type_positions).collect(),
    };
    Ok(Assembled { bytes, positions: module.functions.into_iter().map(|f| f.positions).collect(), places })
}

fn read(text: &str) -> Parsed<Module> {
    let mut module = Module::default();
    let mut body: Option<Body> = None;
    let mut last = Position { line: 1, column: 1 };
    for (index, line) in text.lines().enumerate() {
        let mut scanner = Scanner::new(line, index as u32 + 1);
        if scanner.at_end() {
            continue;
        }
        last = scanner.position();
        match &mut body {
            Some(_) if scanner.eat("}") => {
                scanner.expect_end()?;
                if let Some(body) = body.take() {
                    module.functions.push(body.finish(last)?);
                }
            }
            Some(body) => body.line(&mut scanner, &mut module)?,
            None if scanner.sees("vm.func") && module.name.is_some() => {
                scanner.expect("vm.func")?;
                module.tables.place_globals();
                body = Some(Body::header(&mut scanner, &mut module, last)?);
            }
            None => module.directive(&mut scanner)?,
        }
    }
    match body {
        Some(body) => Err(body.unterminated()),
        None if module.name.is_none() => Err(Fault::new(last, "expected vm.module @name, found no directive")),
        None if module.functions.is_empty() => {
            Err(Fault::new(last, "expected a function (vm.func): a module must have one"))
        }
        None => Ok(module),
    }
}
