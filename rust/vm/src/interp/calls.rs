//! Calls that leave the module, and results that enter registers.

use std::ptr::NonNull;

use super::{Exit, Machine};
use crate::bytecode::{Inst, kind};
use crate::cconv::Kind;
use crate::context::{BytecodeInstance, Instance};
use crate::invocation::{check_results, native_name};
use crate::isa::reg;
use crate::module::{CallFrame, Flow, Registers};
use crate::refs::Ref;
use crate::status::{Result, Status};
use crate::value::Value;

/// What an import call asks of the loop.
pub(super) enum Called {
    /// Results are written; go on behind the call.
    Returned,
    /// A frame was pushed.
    Entered,
    /// Stop, and make the call again later.
    Exit(Exit),
}

/// An import call about to be made: its words, and the registers of the calling frame.
pub(super) struct ImportCall {
    pub words: *const Inst,
    pub cells: *mut u32,
    pub slots: *mut Ref,
}

impl Machine {
    /// Executes the CallImport at `call`.
    ///
    /// # Safety
    /// The pointers belong to the innermost frame, whose instance `instance` is.
    #[inline(never)]
    pub(super) unsafe fn call_import(
        &mut self,
        instance: NonNull<BytecodeInstance>,
        call: ImportCall,
    ) -> Result<Called> {
        let ImportCall { words, cells, slots } = call;
        // SAFETY: the root keeps the instance of a frame alive. The words of a call are as many as its head says, and
        // the registers in them are inside the frame, as the verifier proved.
        let (caller, head, callee, arguments, results, spans, moved) = unsafe {
            let (head, callee) = (*words, *words.add(1));
            let (a, b, c) = (usize::from(head.a), usize::from(head.b), usize::from(head.c));
            let arguments = words.add(2);
            let part = |offset: usize, length: usize| std::slice::from_raw_parts(arguments.add(offset), length);
            let moved = part(a + b + c, callee.high() as usize);
            (instance.as_ref(), head, callee, part(0, a), part(a, b), part(a + b, c), moved)
        };
        let import = callee.low() as usize;
        let Some(target) = &caller.imports[import] else { return Err(unresolved(caller, import)) };
        let native = match &*target.instance {
            Instance::Native(native) => native,
            Instance::Bytecode(callee) => return self.enter(callee, target.ordinal, arguments),
        };
        // SAFETY: the registers belong to the innermost frame; the call has no way to reach it but through the frame
        // made here, and only the registers in `arguments` are asked for.
        let registers = unsafe { Registers::new(cells, slots) };
        let mut frame = CallFrame::on_registers(arguments, spans, registers, &mut self.results, &mut self.resume);
        match native.module.call(&*native.state, target.ordinal, &mut frame) {
            Ok(Flow::Done) => {}
            // The registers stay as they are until the call is made again.
            Ok(Flow::Suspend(wait)) => return Ok(Called::Exit(Exit::Suspended(wait))),
            Err(status) => return Err(imported(status, &target.instance, target.ordinal)),
        }
        if self.resume.is_some() {
            self.forget_resume();
        }
        for word in moved {
            // SAFETY: as above; nothing borrows the registers any more.
            unsafe { *slots.add(usize::from(word.a)) = None };
        }
        if head.b == 0 && self.results.is_empty() {
            return Ok(Called::Returned);
        }
        // SAFETY: as above.
        match unsafe { self.take_pushed(results, &native.cconvs[target.ordinal].results, cells, slots) } {
            Ok(()) => Ok(Called::Returned),
            Err(status) => Err(imported(status, &target.instance, target.ordinal)),
        }
    }

    /// Writes what a native function pushed into the registers that `words` name.
    ///
    /// One that breaks its own calling convention, which says `kinds`, is reported, not believed.
    ///
    /// # Safety
    /// `cells` and `slots` are the registers of the frame that `words` was verified for.
    #[inline]
    unsafe fn take_pushed(&mut self, words: &[Inst], kinds: &[Kind], cells: *mut u32, slots: *mut Ref) -> Result<()> {
        if words.len() != self.results.len() {
            // An importer that does not say what it expects gets nothing.
            return self.check_pushed(kinds);
        }
        for (word, value) in words.iter().zip(&mut self.results) {
            // SAFETY: registers of verified code are inside the frame; 64-bit ones have both cells there.
            unsafe {
                let at = cells.add(word.a.into());
                match (word.op, value) {
                    (kind::I32, Value::I32(v)) => *at = *v as u32,
                    (kind::F32, Value::F32(v)) => *at = v.to_bits(),
                    (kind::I64, Value::I64(v)) => at.cast::<u64>().write_unaligned(*v as u64),
                    (kind::F64, Value::F64(v)) => at.cast::<u64>().write_unaligned(v.to_bits()),
                    (kind::REF, Value::Ref(object)) => *slots.add(reg::ref_ordinal(word.a)) = object.take(),
                    // The convention of the importer is that of the function, so this says what is wrong.
                    _ => return self.check_pushed(kinds),
                }
            }
        }
        // SAFETY: what is left of the values are numbers and null references.
        unsafe { self.results.set_len(0) };
        Ok(())
    }

    #[cold]
    fn forget_resume(&mut self) {
        self.resume = None;
    }

    #[cold]
    fn check_pushed(&mut self, kinds: &[Kind]) -> Result<()> {
        let checked = check_results(kinds, &self.results);
        self.results.clear();
        checked
    }

    /// Calls function `ordinal` of another bytecode module.
    #[inline(never)]
    fn enter(&mut self, callee: &BytecodeInstance, ordinal: usize, arguments: &[Inst]) -> Result<Called> {
        let mut args = std::mem::take(&mut self.args);
        args.clear();
        args.extend(arguments.iter().map(|word| self.read(word.op, word.a)));
        self.push(NonNull::from(callee), ordinal)?;
        self.write_args(args.drain(..));
        // The allocation serves the next call.
        self.args = args;
        Ok(Called::Entered)
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
