//! Prints modules as `iree-dump-module` does, byte for byte.
//!
//! The exceptions are where that tool is wrong or its text cannot be read back: it skips the type operand of
//! `vm.switch.ref` and then prints garbage, it refuses `vm.cast.ui64.f32`, it prints every NaN as `nan` (here `nan(0x1)`
//! and `snan(0x1)` say the payload), and it prints line breaks in strings as they are (here `c"..."` escapes them).

mod assembly;
mod bytecode;
mod json;
mod metadata;
mod number;

use crate::archive::Archive;
use crate::archive::flatbuffer::{Budget, Buffer, Table};
use crate::cconv::Kind;
use crate::isa::features;
use crate::status::{Result, Status};

/// What to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// Metadata, then disassembly.
    #[default]
    All,
    /// Tables and sections.
    Metadata,
    /// Assembly text as the reference prints it.
    Disassembly,
    /// Assembly text with everything that the assembler needs to make the same module.
    Assembly,
    /// The FlatBuffer as JSON.
    FlatbufferJson,
    /// The FlatBuffer itself; see [`Archive::flatbuffer`], text is not what it is.
    FlatbufferBinary,
}

impl Output {
    /// The value of `--output=` called `name`. INVALID_ARGUMENT lists the names.
    pub fn parse(name: &str) -> Result<Output> {
        Ok(match name {
            "all" | "" => Output::All,
            "metadata" => Output::Metadata,
            "disassembly" => Output::Disassembly,
            "assembly" => Output::Assembly,
            "flatbuffer-json" => Output::FlatbufferJson,
            "flatbuffer-binary" => Output::FlatbufferBinary,
            _ => {
                return Err(Status::invalid_argument(format!(
                    "unrecognized --output= flag value '{name}'; use all, metadata, disassembly, assembly, \
                     flatbuffer-binary or flatbuffer-json"
                )));
            }
        })
    }
}

/// How to print.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What to print.
    pub output: Output,
    /// Name or ordinal of the only function to disassemble; empty for all.
    pub function: String,
    /// Prefixes offsets to disassembled instructions.
    pub bytecode_offsets: bool,
    /// Indents JSON.
    pub pretty: bool,
}

/// The text of `archive`. UNIMPLEMENTED for binary output.
pub fn dump(archive: &Archive, options: &Options) -> Result<String> {
    let mut out = String::new();
    let budget = Budget::new(archive.flatbuffer().len());
    let dump = Dump::new(archive, &budget)?;
    match options.output {
        Output::All => {
            dump.metadata(&mut out)?;
            out.push('\n');
            dump.disassembly(options, &mut out)?;
        }
        Output::Metadata => dump.metadata(&mut out)?,
        Output::Disassembly => dump.disassembly(options, &mut out)?,
        Output::Assembly => dump.assembly(options.bytecode_offsets, &mut out)?,
        Output::FlatbufferJson => out = json::print(archive.flatbuffer(), options.pretty)?,
        Output::FlatbufferBinary => {
            return Err(Status::unimplemented("flatbuffer-binary is not text; write Archive::flatbuffer instead"));
        }
    }
    Ok(out)
}

/// What all parts of the text need.
struct Dump<'a> {
    archive: &'a Archive,
    root: Table<'a>,
    /// Names of functions in the debug database.
    debug_names: Vec<Option<&'a str>>,
    has_debug: bool,
}

impl<'a> Dump<'a> {
    fn new(archive: &'a Archive, budget: &'a Budget) -> Result<Dump<'a>> {
        let root = Buffer::new(archive.flatbuffer(), budget).root()?;
        let debug = root.table(15, "debug_database")?;
        let functions = debug.map(|t| t.vector(2, 4, "debug functions")).transpose()?.flatten();
        let debug_names = match functions {
            Some(vector) => (0..vector.len())
                .map(|i| vector.opt_table(i, "debug function")?.map_or(Ok(None), |t| t.text(0, "local_name")))
                .collect::<Result<_>>()?,
            None => Vec::new(),
        };
        Ok(Dump { archive, root, debug_names, has_debug: debug.is_some() })
    }

    /// Whether the vector in `slot` of the root is present, be it empty.
    fn has(&self, slot: usize) -> Result<bool> {
        Ok(self.root.field(slot, 4, "root")?.is_some())
    }

    fn exported_names(&self, ordinal: usize) -> impl Iterator<Item = &'a str> {
        let exports = &self.archive.def().exports;
        exports.iter().filter(move |e| e.ordinal as usize == ordinal).map(|e| e.name.as_str())
    }

    fn debug_name(&self, ordinal: usize) -> Option<&'a str> {
        self.debug_names.get(ordinal).copied().flatten()
    }

    /// `f`, or `fn3` for a function without a name.
    fn function_name(&self, ordinal: usize) -> String {
        let name = self.exported_names(ordinal).next().or(self.debug_name(ordinal));
        name.map_or_else(|| format!("fn{ordinal}"), str::to_owned)
    }
}

fn type_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Ref => "!vm.ref<?>",
        other => other.name(),
    }
}

/// `EXT_F32 | 0000000C`: the dumper has no names for the other bits.
fn requirements(bits: u32) -> String {
    let mut parts = Vec::new();
    for (bit, name) in [(features::EXT_F32, "EXT_F32"), (features::EXT_F64, "EXT_F64")] {
        if bits & bit != 0 {
            parts.push(name.to_owned());
        }
    }
    let rest = bits & !(features::EXT_F32 | features::EXT_F64);
    if rest != 0 {
        parts.push(format!("{rest:08X}"));
    }
    parts.join(" | ")
}

/// Appends formatted text; writing to a string does not fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => {{
        let _ = std::fmt::Write::write_fmt($out, format_args!($($arg)*));
    }};
}
use put;
