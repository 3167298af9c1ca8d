//! Calls that leave the module.
//!
//! CallImport: `a` units to the callee's frame, `b` arguments, `c` spans; word 1: the import, moved references; word 2:
//! first result, results, words in all; word 3: which references are lent when the callee is bytecode; then a word (kind,
//! source, target) per argument, (count) per span, (reference) per moved one, (kind, target) per result; then the targets
//! of the results, four a word, where Return looks for them.

use std::sync::atomic::Ordering::Acquire;

use super::handlers::pass;
use super::stack::{Header, header, slot, slot_unit};
use super::state::State;
use super::{Exit, Machine, overflow};
use crate::bytecode::{Function, Inst, OWN, kind};
use crate::cconv::Kind;
use crate::context::{BytecodeInstance, ImportTarget, Instance, NativeInstance};
use crate::interp::state::Signal;
use crate::invocation::{check_results, native_name};
use crate::module::{CallFrame, Flow, Registers};
use crate::slot::Slot;
use crate::status::{Result, Status};
use crate::value::Value;

/// How the run goes on after an import call.
pub(super) enum Called {
    /// Behind the call, or in a new frame, as the machine says.
    GoOn,
    /// The call is to be made again.
    Resume,
    /// It does not: the machine says why. After a suspension the call is made again.
    Stopped,
}

/// The parts of a CallImport.
#[derive(Clone, Copy)]
struct Words(*const Inst);

impl Words {
    fn word(&self, index: usize) -> Inst {
        // SAFETY: the first four words are always there.
        unsafe { *self.0.add(index) }
    }

    fn part(&self, from: usize, length: usize) -> &[Inst] {
        // SAFETY: a call has as many words as the first ones say.
        unsafe { std::slice::from_raw_parts(self.0.add(4 + from), length) }
    }

    fn import(&self) -> usize {
        self.word(1).low() as usize
    }

    fn arguments(&self) -> &[Inst] {
        self.part(0, self.word(0).b.into())
    }

    fn spans(&self) -> &[Inst] {
        self.part(self.word(0).b.into(), self.word(0).c.into())
    }

    fn moves(&self) -> &[Inst] {
        let before = usize::from(self.word(0).b) + usize::from(self.word(0).c);
        self.part(before, self.word(1).high() as usize)
    }

    fn results(&self) -> &[Inst] {
        let before = usize::from(self.word(0).b) + usize::from(self.word(0).c) + self.word(1).high() as usize;
        self.part(before, self.word(2).a.into())
    }

    fn length(&self) -> usize {
        self.word(2).number() as usize
    }

    fn lent(&self) -> u64 {
        self.word(3).bits()
    }
}

/// Executes the CallImport at `ip`.
///
/// # Safety
/// The parameters are those of the operation.
#[inline(never)]
pub(super) unsafe fn call(fp: *mut u32, ip: *const Inst, m: *mut Machine, fuel: isize) -> Called {
    // SAFETY: the root keeps the instance of a frame alive; the machine is not in use elsewhere.
    let (machine, caller, words) = unsafe { (&mut *m, &*header(fp).instance, Words(ip)) };
    let Some(target) = &caller.imports[words.import()] else {
        machine.account.fuel.set(fuel);
        return machine.stop(fp, ip, Err(unresolved(caller, words.import())));
    };
    let native = match &*target.instance {
        Instance::Native(native) => native,
        Instance::Bytecode(callee) => {
            let s = State { fp, ip, m, table: std::ptr::null(), fuel };
            // SAFETY: the caller's.
            return unsafe { enter(s, callee, &callee.module.functions[target.ordinal], words) };
        }
    };
    let account = &*machine.account;
    account.fuel.set(fuel);
    // SAFETY: the innermost frame.
    account.depth.set(unsafe { header(fp).depth });
    if machine.prompt && !native.module().is_prompt() {
        return machine.stop(fp, ip, Ok(Exit::Yielded));
    }
    // SAFETY: the registers belong to the innermost frame; the callee has no way to reach it but through the frame made
    // here, and only the registers in the words, which the verifier found to be inside, are asked for.
    let registers = unsafe { Registers::new(fp) };
    let mut frame = CallFrame::on_registers(
        words.arguments(),
        words.spans(),
        registers,
        &mut machine.results,
        &mut machine.resume,
        caller.quota.as_ref(),
        machine.prompt,
    );
    match native.module().call(&*native.state, target.ordinal, &mut frame) {
        Ok(Flow::Done) => {}
        // The registers stay as they are until the call is made again.
        Ok(Flow::Suspend(wait)) => {
            machine.results.clear();
            return machine.stop(fp, ip, Ok(Exit::Suspended(wait)));
        }
        Ok(Flow::NotPrompt) => {
            machine.results.clear();
            return machine.stop(fp, ip, Ok(Exit::Yielded));
        }
        Err(status) => return machine.stop(fp, ip, Err(imported(status, target))),
    }
    machine.resume = None;
    for word in words.moves() {
        // SAFETY: as above; nothing borrows the registers any more.
        unsafe { slot(fp, word.a.into()).clear() };
    }
    // SAFETY: as above.
    let taken = unsafe { take_results(machine, words.results(), fp) };
    match if taken { machine.native_call() } else { check(machine, native, target) } {
        Ok(()) => {
            // SAFETY: behind a call there is an instruction.
            (machine.fp, machine.ip) = (fp, unsafe { ip.add(words.length()) });
            Called::GoOn
        }
        Err(status) => machine.stop(fp, ip, Err(status)),
    }
}

/// Writes what a native function pushed into the registers that `words` name.
///
/// False when their number or kinds do not fit: see `check`.
///
/// # Safety
/// `fp` is the frame that `words` was verified for.
#[inline(always)]
unsafe fn take_results(machine: &mut Machine, words: &[Inst], fp: *mut u32) -> bool {
    if words.len() != machine.results.len() {
        return false;
    }
    for (word, value) in words.iter().zip(&mut machine.results) {
        // SAFETY: registers of verified code are inside the frame; 64-bit ones have both cells there.
        unsafe {
            let at = fp.add(word.a.into());
            match (word.op, value) {
                (kind::REF, Value::Ref(object)) => slot(fp, word.a.into()).set(Slot::new(object.take())),
                (kind::I32, Value::I32(v)) => *at = *v as u32,
                (kind::I64, Value::I64(v)) => at.cast::<u64>().write_unaligned(*v as u64),
                (kind::F32, Value::F32(v)) => *at = v.to_bits(),
                (kind::F64, Value::F64(v)) => at.cast::<u64>().write_unaligned(v.to_bits()),
                _ => return false,
            }
        }
    }
    // SAFETY: what is left of the values are numbers and null references.
    unsafe { machine.results.set_len(0) };
    true
}

/// Results that do not fit the caller: one that does not say what it expects gets nothing, and a function that breaks its
/// own calling convention is reported, not believed.
#[cold]
fn check(machine: &mut Machine, native: &NativeInstance, target: &ImportTarget) -> Result<()> {
    let kinds: &[Kind] = &native.cconvs[target.ordinal].results;
    let checked = check_results(kinds, &machine.results);
    machine.results.clear();
    checked.map_err(|status| imported(status, target))
}

/// Calls a function of another bytecode module.
///
/// # Safety
/// The state is that of the operation; the callee's convention is that of the words.
#[inline(always)]
unsafe fn enter(s: State, instance: &BytecodeInstance, function: &Function, words: Words) -> Called {
    // SAFETY: as in `Call`, of which this is the general form.
    unsafe {
        let fp = s.fp.cast::<u64>().add(words.word(0).a.into()).cast::<u32>();
        let frame = header(s.fp);
        if function.end(fp) > (*s.m).end || frame.depth >= (*s.m).max_depth {
            return match overflow(s.fp, s.ip, s.m, s.fuel, function) {
                Signal::Resume => Called::Resume,
                Signal::Stopped => Called::Stopped,
            };
        }
        frame.ip = s.ip;
        *header(fp) = Header {
            function,
            instance,
            ip: std::ptr::null(),
            back: words.word(0).a.into(),
            depth: frame.depth + 1,
            lent: words.lent(),
        };
        for word in words.arguments() {
            match word.op {
                kind::I32 | kind::F32 => *fp.add(word.b.into()) = s.u32(word.a),
                kind::I64 | kind::F64 => fp.add(word.b.into()).cast::<u64>().write_unaligned(s.u64(word.a)),
                // Moved by an earlier argument or not, the register says what it holds.
                _ => {
                    let unit = slot_unit(function.cells, (word.b & !OWN).into()) as u16;
                    pass(s, word.a, fp, unit | word.b & OWN);
                }
            }
        }
        function.clear_references(fp);
        (*s.m).save(fp, function.entry.load(Acquire), s.fuel - function.cost);
        Called::GoOn
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
