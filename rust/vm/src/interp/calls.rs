//! Calls that leave the module, and results that enter registers.

use std::ptr::NonNull;

use super::{Exit, Machine};
use crate::bytecode::{Inst, kind};
use crate::cconv::Kind;
use crate::context::{BytecodeInstance, ImportTarget, Instance};
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
    /// Stop, with what is in `stopped`; after a suspension the call is made again.
    Stopped,
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
    pub(super) unsafe fn call_import(&mut self, instance: NonNull<BytecodeInstance>, call: ImportCall) -> Called {
        let ImportCall { words, cells, slots } = call;
        // SAFETY: the root keeps the instance of a frame alive.
        let caller = unsafe { instance.as_ref() };
        // SAFETY: the words of a call are as many as its head says.
        let part = |offset: usize, length: usize| unsafe { std::slice::from_raw_parts(words.add(2 + offset), length) };
        // SAFETY: as above.
        let (head, import) = unsafe { (*words, (*words.add(1)).low() as usize) };
        let (arguments, results) = (usize::from(head.a), usize::from(head.b));
        let Some(target) = &caller.imports[import] else { return self.fail(unresolved(caller, import)) };
        let Instance::Native(native) = &*target.instance else {
            return self.enter(target, words, part(0, arguments));
        };
        // SAFETY: the registers belong to the innermost frame; the call has no way to reach it but through the frame
        // made here, and only the registers in the words, which the verifier found to be inside, are asked for.
        let registers = unsafe { Registers::new(cells, slots) };
        let spans = part(arguments + results, head.c.into());
        let mut frame =
            CallFrame::on_registers(part(0, arguments), spans, registers, &mut self.results, &mut self.resume);
        match native.module.call(&*native.state, target.ordinal, &mut frame) {
            Ok(Flow::Done) => {}
            // The registers stay as they are until the call is made again.
            Ok(Flow::Suspend(wait)) => {
                self.results.clear();
                self.stopped = Some(Ok(Exit::Suspended(wait)));
                return Called::Stopped;
            }
            Err(status) => return self.fail(imported(status, target)),
        }
        if self.resume.is_some() {
            self.forget_resume();
        }
        // SAFETY: as above.
        let moves = unsafe { (*words.add(1)).high() as usize };
        if moves > 0 {
            for word in part(arguments + results + usize::from(head.c), moves) {
                // SAFETY: as above; nothing borrows the registers any more.
                unsafe { *slots.add(usize::from(word.a)) = None };
            }
        }
        if results == 0 && self.results.is_empty() {
            return Called::Returned;
        }
        // SAFETY: as above.
        if unsafe { self.take_pushed(part(arguments, results), cells, slots) } {
            return Called::Returned;
        }
        match self.check_pushed(&native.cconvs[target.ordinal].results) {
            Ok(()) => Called::Returned,
            Err(status) => self.fail(imported(status, target)),
        }
    }

    #[cold]
    fn fail(&mut self, status: Status) -> Called {
        self.stopped = Some(Err(status));
        Called::Stopped
    }

    /// Writes what a native function pushed into the registers that `words` name.
    ///
    /// False when their number or kinds do not fit: see `check_pushed`.
    ///
    /// # Safety
    /// `cells` and `slots` are the registers of the frame that `words` was verified for.
    #[inline]
    unsafe fn take_pushed(&mut self, words: &[Inst], cells: *mut u32, slots: *mut Ref) -> bool {
        if words.len() != self.results.len() {
            return false;
        }
        for (i, value) in self.results.iter_mut().enumerate() {
            let word = words[i];
            // SAFETY: registers of verified code are inside the frame; 64-bit ones have both cells there.
            unsafe {
                let at = cells.add(word.a.into());
                match (word.op, value) {
                    (kind::REF, Value::Ref(object)) => *slots.add(reg::ref_ordinal(word.a)) = object.take(),
                    (kind::I32, Value::I32(v)) => *at = *v as u32,
                    (kind::I64, Value::I64(v)) => at.cast::<u64>().write_unaligned(*v as u64),
                    (kind::F32, Value::F32(v)) => *at = v.to_bits(),
                    (kind::F64, Value::F64(v)) => at.cast::<u64>().write_unaligned(v.to_bits()),
                    _ => return false,
                }
            }
        }
        // SAFETY: what is left of the values are numbers and null references.
        unsafe { self.results.set_len(0) };
        true
    }

    /// Results that do not fit the caller: one that does not say what it expects gets nothing, and a function that breaks
    /// its own calling convention is reported, not believed.
    #[cold]
    fn check_pushed(&mut self, kinds: &[Kind]) -> Result<()> {
        let checked = check_results(kinds, &self.results);
        self.results.clear();
        checked
    }

    #[cold]
    fn forget_resume(&mut self) {
        self.resume = None;
    }

    /// Calls a function of another bytecode module; `words` are those of the call.
    #[inline(never)]
    fn enter(&mut self, target: &ImportTarget, words: *const Inst, arguments: &[Inst]) -> Called {
        let Instance::Bytecode(callee) = &*target.instance else { return Called::Returned };
        let mut args = std::mem::take(&mut self.args);
        args.clear();
        args.extend(arguments.iter().map(|word| self.read(word.op, word.a)));
        if let Some(frame) = self.frames.last_mut() {
            let offset = words as usize - frame.code().insts.as_ptr() as usize;
            frame.ip = (offset / size_of::<Inst>()) as u32;
        }
        if let Err(status) = self.push(NonNull::from(callee), target.ordinal) {
            return self.fail(status);
        }
        self.write_args(args.drain(..));
        // The allocation serves the next call.
        self.args = args;
        Called::Entered
    }
}

#[cold]
fn imported(status: Status, target: &ImportTarget) -> Status {
    status.annotate(native_name(&target.instance, target.ordinal)).annotate("while calling import")
}

#[cold]
fn unresolved(caller: &BytecodeInstance, import: usize) -> Status {
    let name = caller.module.import_defs().get(import).map_or("?", |i| &i.full_name);
    Status::not_found(format!("optional import `{name}` (ordinal {import}) not resolved"))
}
