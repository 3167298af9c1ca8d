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
    /// INVALID_ARGUMENT as `file:line:column: message` when an instruction is at fault; otherwise the verifier's status.
    pub fn verify(&self, text: &str, file: &str, registry: &TypeRegistry) -> Result<()> {
        let archive = Archive::copy(&self.bytes, file)?;
        let status = match BytecodeModule::load(archive.clone(), registry) {
            Ok(_) => return Ok(()),
            Err(status) => status,
        };
        match self.place(&status, &archive) {
            Some(position) => {
                let operand = status.annotations().iter().find(|text| text.starts_with("operand")).map(String::as_str);
                let message = match operand {
                    Some(operand) => format!("{}; {operand}", status.message()),
                    None => status.message().to_owned(),
                };
                located(Err(Fault::new(position, message)), file, text)
            }
            None => Err(status),
        }
    }

    /// The instruction that an annotation `at module.function+PC` or `at module@ordinal+PC` means.
    fn place(&self, status: &Status, archive: &Archive) -> Option<Position> {
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
