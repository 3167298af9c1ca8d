//! What the verifier says about an assembled module, at the place in the text that it is about.

use super::scanner::{Fault, Position};
use super::{Assembled, scanner::located};
use crate::archive::Archive;
use crate::bytecode::BytecodeModule;
use crate::status::{Result, Status};
use crate::types::TypeRegistry;

impl Assembled {
    /// Loads the module, as a runtime would. `text` and `file` are those that [`super::assemble`] had.
    ///
    /// INVALID_ARGUMENT as `file:line:column: message`: that of the instruction, type, import or function that is at fault,
    /// else that of the module.
    pub fn verify(&self, text: &str, file: &str, registry: &TypeRegistry) -> Result<()> {
        if let Some((name, position)) = self.places.types.iter().find(|(name, _)| registry.resolve(name).is_err()) {
            let anything = if name == "?" { "; a list of anything is a !vm.list<!vm.opaque>" } else { "" };
            return located(Err(Fault::new(*position, format!("unknown type {name}{anything}"))), file, text);
        }
        let archive = match Archive::copy(&self.bytes, file) {
            Ok(archive) => archive,
            Err(status) => return located(Err(Fault::new(self.places.module, status.message())), file, text),
        };
        let Err(status) = BytecodeModule::load(archive.clone(), registry) else { return Ok(()) };
        let place = self.instruction(&status, &archive).or_else(|| self.declaration(&status));
        let operand = status.annotations().iter().find(|text| text.starts_with("operand")).map(String::as_str);
        let message = match operand {
            Some(operand) => format!("{}; {operand}", status.message()),
            None => status.message().to_owned(),
        };
        located(Err(Fault::new(place.unwrap_or(self.places.module), message)), file, text)
    }

    /// The function or import that an annotation `in function ORDINAL`, `at module@ordinal+PC` or `import NAME` means.
    fn declaration(&self, status: &Status) -> Option<Position> {
        status.annotations().iter().find_map(|text| {
            if let Some(name) = text.strip_prefix("import ") {
                return self.places.imports.get(name).copied();
            }
            let ordinal = match text.strip_prefix("in function ") {
                Some(function) => function.split(' ').next()?,
                None => text.strip_prefix("at ")?.rsplit_once('+')?.0.rsplit_once('@')?.1,
            };
            self.places.functions.get(ordinal.parse::<usize>().ok()?).copied()
        })
    }

    /// The instruction that an annotation `at module.function+PC` or `at module@ordinal+PC` means.
    fn instruction(&self, status: &Status, archive: &Archive) -> Option<Position> {
        let def = archive.def();
        status.annotations().iter().find_map(|text| {
            let (function, pc) = text.strip_prefix("at ")?.rsplit_once('+')?;
            let pc = u32::from_str_radix(pc, 16).ok()?;
            let rest = function.strip_prefix(def.name.as_str())?;
            let ordinal = match rest.strip_prefix('@') {
                Some(ordinal) => ordinal.parse().ok()?,
                None => {
                    let name = rest.strip_prefix('.')?;
                    def.exports.iter().find(|export| export.name == name)?.ordinal as usize
                }
            };
            self.position(ordinal, pc)
        })
    }
}
