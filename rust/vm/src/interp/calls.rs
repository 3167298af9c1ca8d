//! Calls that leave the module, and results that enter registers.

use std::ptr::NonNull;

use super::{Exit, Machine};
use crate::bytecode::{Inst, kind};
use crate::cconv::Kind;
use crate::context::{BytecodeInstance, Instance, NativeInstance};
use crate::invocation::{check_results, native_name};
use crate::module::{CallFrame, Flow};
use crate::status::{Result, Status};

/// What an import call asks of the loop.
pub(super) enum Called {
    /// Results are written; go on behind the call.
    Returned,
    /// A frame was pushed.
    Entered,
    /// Stop, and make the call again later.
    Exit(Exit),
}

pub(super) fn kind_of(code: u16) -> Kind {
    match code {
        kind::I32 => Kind::I32,
        kind::I64 => Kind::I64,
        kind::F32 => Kind::F32,
        kind::F64 => Kind::F64,
        _ => Kind::Ref,
    }
}

impl Machine {
    /// Executes the CallImport whose words are `words` (and what follows them).
    pub(super) fn call_import(&mut self, instance: NonNull<BytecodeInstance>, words: &[Inst]) -> Result<Called> {
        // SAFETY: the instance of the innermost frame, kept alive by the root.
        let caller = unsafe { instance.as_ref() };
        let (head, import) = (words[0], words[1].low() as usize);
        let Some(target) = &caller.imports[import] else { return Err(unresolved(caller, import)) };
        let (arguments, rest) = words[2..].split_at(head.a.into());
        let (results, spans) = rest.split_at(head.b.into());
        if !self.suspended {
            let mut args = std::mem::take(&mut self.args);
            args.clear();
            args.extend(arguments.iter().map(|word| self.read(kind_of(word.op), word.a)));
            self.args = args;
            self.spans.clear();
            self.spans.extend(spans[..head.c.into()].iter().map(|word| word.op));
        }
        match &*target.instance {
            Instance::Native(native) => {
                let called = self
                    .call_native(native, target.ordinal)
                    .map_err(|status| imported(status, &target.instance, target.ordinal))?;
                if matches!(called, Called::Returned) {
                    let values = std::mem::take(&mut self.results);
                    self.write_results(results, values);
                }
                Ok(called)
            }
            Instance::Bytecode(callee) => {
                self.push(NonNull::from(callee), target.ordinal)?;
                let args = std::mem::take(&mut self.args);
                self.write_args(args);
                Ok(Called::Entered)
            }
        }
    }

    fn call_native(&mut self, native: &NativeInstance, ordinal: usize) -> Result<Called> {
        let Machine { args, spans, results, resume, .. } = self;
        results.clear();
        let flow = native.module.call(&*native.state, ordinal, &mut CallFrame::new(args, spans, results, resume));
        match flow {
            Ok(Flow::Suspend(wait)) => {
                self.suspended = true;
                return Ok(Called::Exit(Exit::Suspended(wait)));
            }
            Ok(Flow::Done) => {}
            Err(status) => {
                self.leave_native();
                return Err(status);
            }
        }
        self.leave_native();
        check_results(&native.cconvs[ordinal].results, &self.results)?;
        Ok(Called::Returned)
    }

    fn leave_native(&mut self) {
        self.suspended = false;
        self.resume = None;
        self.args.clear();
    }

    fn write_results(&mut self, words: &[Inst], mut values: Vec<crate::value::Value>) {
        for (word, value) in words.iter().zip(values.drain(..)) {
            self.write(word.a, value);
        }
        // The allocation serves the next call.
        self.results = values;
    }
}

#[cold]
fn imported(status: Status, instance: &Instance, ordinal: usize) -> Status {
    status.annotate(native_name(instance, ordinal)).annotate("while calling import")
}

#[cold]
fn unresolved(caller: &BytecodeInstance, import: usize) -> Status {
    let name = caller.module.import_defs().get(import).map_or("?", |i| &i.full_name);
    Status::not_found(format!("optional import `{name}` (ordinal {import}) not resolved"))
}
