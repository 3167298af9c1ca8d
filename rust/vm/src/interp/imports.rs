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
use crate::bytecode::{Inst, OWN, kind};
use crate::cconv::Kind;
use crate::context::{BytecodeInstance, ImportTarget, NativeInstance};
use crate::interp::state::Signal;
use crate::invocation::{check_results, native_name};
use crate::manner::Manner;
use crate::module::{CallFrame, Flow, Registers};
use crate::slot::Slot;
use crate::status::{Result, Status};
use crate::value::Value;

/// How the run goes on after a call of bytecode.
pub(super) enum Called {
    /// In the new frame.
    GoOn,
    /// The call is to be made again.
    Resume,
    /// It does not: the machine says why.
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

    fn import(&self) -> usize {
        self.word(1).low() as usize
    }

    /// `count` words from `at` on.
    ///
    /// # Safety
    /// The call has as many there; `'a` ends before the function's code does.
    unsafe fn part<'a>(at: *const Inst, count: usize) -> &'a [Inst] {
        // SAFETY: the caller's.
        unsafe { std::slice::from_raw_parts(at, count) }
    }

    fn arguments_at(&self) -> *const Inst {
        // SAFETY: behind the first words there is at least another instruction.
        unsafe { self.0.add(4) }
    }

    fn spans_at(&self) -> *const Inst {
        // SAFETY: a call has as many words as the first ones say.
        unsafe { self.arguments_at().add(self.word(0).b.into()) }
    }

    fn arguments(&self) -> &[Inst] {
        // SAFETY: as above.
        unsafe { Words::part(self.arguments_at(), self.word(0).b.into()) }
    }

    fn length(&self) -> usize {
        (self.word(2).bits() >> 32) as usize
    }

    fn lent(&self) -> u64 {
        self.word(3).bits()
    }
}

/// Where the import leads that the CallImport at `ip` names, if it was found.
///
/// # Safety
/// The parameters are those of the operation; what is returned is there as long as the frame.
#[inline(always)]
pub(super) unsafe fn target<'a>(fp: *mut u32, ip: *const Inst) -> Option<&'a ImportTarget> {
    // SAFETY: the root keeps the instance of a frame alive.
    let caller = unsafe { &*header(fp).instance };
    caller.imports[Words(ip).import()].as_ref()
}

/// Executes the CallImport at `ip`, which leads to `target`, in `native`: where it goes on, or null when it does not, as
/// the machine says why. After a suspension the call is made again.
///
/// # Safety
/// The parameters are those of the operation.
#[inline(never)]
pub(super) unsafe fn call_native(
    fp: *mut u32,
    ip: *const Inst,
    m: *mut Machine,
    fuel: isize,
    target: &ImportTarget,
    native: &NativeInstance,
) -> *const Inst {
    // SAFETY: the machine is not in use elsewhere.
    let (machine, words) = unsafe { (&mut *m, Words(ip)) };
    let account = &*machine.account;
    account.fuel.set(fuel);
    // SAFETY: the innermost frame.
    account.depth.set(unsafe { header(fp).depth });
    if machine.outside.manner != Manner::Ordinary && refuses(machine, native) {
        return machine.stop(fp, ip, Ok(Exit::Yielded));
    }
    // SAFETY: the registers belong to the innermost frame; the callee has no way to reach it but through the frame made
    // here, and only the registers in the words, which the verifier found to be inside, are asked for.
    let registers = unsafe { Registers::new(fp) };
    let spans_at = words.spans_at();
    // SAFETY: as many as the words say.
    let spans = unsafe { Words::part(spans_at, words.word(0).c.into()) };
    let mut frame = CallFrame::on_registers(words.arguments(), spans, registers, &mut machine.outside);
    match native.module().call(&*native.state, target.ordinal, &mut frame) {
        Ok(Flow::Done) => {}
        // The registers stay as they are until the call is made again.
        outcome => return not_done(machine, fp, ip, target, outcome),
    }
    if machine.outside.resume.is_some() {
        machine.outside.resume = None;
    }
    // SAFETY: as many as the words say, moves behind spans, results behind moves.
    let (moves, results) = unsafe {
        let moves_at = spans_at.add(spans.len());
        let moves = Words::part(moves_at, (words.word(1).bits() >> 32) as usize);
        (moves, Words::part(moves_at.add(moves.len()), words.word(2).a.into()))
    };
    // SAFETY: as above; nothing borrows the registers any more.
    let taken = moves.is_empty() && unsafe { take_integer(&mut machine.outside.results, results, fp) };
    if !taken {
        // SAFETY: as above.
        if let Err(status) = unsafe { take_all(machine, moves, results, fp, target) } {
            return machine.stop(fp, ip, Err(status));
        }
    }
    match machine.native_call() {
        // SAFETY: behind a call there is an instruction.
        Ok(()) => unsafe { ip.add(words.length()) },
        Err(status) => machine.stop(fp, ip, Err(status)),
    }
}

/// Whether a function of `native` has no place in the step of now.
#[cold]
#[inline(never)]
fn refuses(machine: &mut Machine, native: &NativeInstance) -> bool {
    match machine.outside.manner {
        Manner::Prompt => !native.module().is_prompt(),
        Manner::Away => {
            machine.outside.called_home = native.module().needs_its_thread();
            machine.outside.called_home
        }
        Manner::Ordinary | Manner::Brief => false,
    }
}

/// Notes how a native call ended that is not done.
#[cold]
#[inline(never)]
fn not_done(
    machine: &mut Machine,
    fp: *mut u32,
    ip: *const Inst,
    target: &ImportTarget,
    outcome: Result<Flow>,
) -> *const Inst {
    machine.outside.results.clear();
    let reason = match outcome {
        Ok(Flow::Suspend(wait)) => Ok(Exit::Suspended(wait)),
        Ok(Flow::NotPrompt | Flow::Done) => Ok(Exit::Yielded),
        Err(status) => Err(imported(status, target)),
    };
    machine.stop(fp, ip, reason)
}

/// Writes the only result of a native function into its register, if it is an integer: the commonest case, which needs
/// next to nothing of what others need. False, and nothing is done, when it is not.
///
/// # Safety
/// `fp` is the frame that `words` was verified for.
#[inline(always)]
unsafe fn take_integer(results: &mut Vec<Value>, words: &[Inst], fp: *mut u32) -> bool {
    let ([word], [value]) = (words, results.as_slice()) else { return false };
    // SAFETY: registers of verified code are inside the frame; 64-bit ones have both cells there.
    unsafe {
        let at = fp.add(word.a.into());
        match *value {
            Value::I32(v) if word.op == kind::I32 => *at = v as u32,
            Value::I64(v) if word.op == kind::I64 => at.cast::<u64>().write_unaligned(v as u64),
            _ => return false,
        }
        results.set_len(0);
    }
    true
}

/// Clears the registers of the references that were moved, and writes what a native function pushed into those that
/// `words` name.
///
/// # Safety
/// `fp` is the frame that both were verified for; `target` is a native function.
#[inline(never)]
unsafe fn take_all(
    machine: &mut Machine,
    moves: &[Inst],
    words: &[Inst],
    fp: *mut u32,
    target: &ImportTarget,
) -> Result<()> {
    for word in moves {
        // SAFETY: the caller's.
        unsafe { slot(fp, word.a.into()).clear() };
    }
    let results = &mut machine.outside.results;
    if words.len() != results.len() {
        return check(machine, target);
    }
    for (word, value) in words.iter().zip(&mut *results) {
        // SAFETY: registers of verified code are inside the frame; 64-bit ones have both cells there.
        unsafe {
            let at = fp.add(word.a.into());
            match (word.op, value) {
                (kind::REF, Value::Ref(object)) => slot(fp, word.a.into()).set(Slot::new(object.take())),
                (kind::I32, Value::I32(v)) => *at = *v as u32,
                (kind::I64, Value::I64(v)) => at.cast::<u64>().write_unaligned(*v as u64),
                (kind::F32, Value::F32(v)) => *at = v.to_bits(),
                (kind::F64, Value::F64(v)) => at.cast::<u64>().write_unaligned(v.to_bits()),
                _ => return check(machine, target),
            }
        }
    }
    // SAFETY: what is left of the values are numbers and null references.
    unsafe { results.set_len(0) };
    Ok(())
}

/// Results that do not fit the caller: one that does not say what it expects gets nothing, and a function that breaks its
/// own calling convention is reported, not believed.
#[cold]
fn check(machine: &mut Machine, target: &ImportTarget) -> Result<()> {
    let kinds: &[Kind] = &target.instance.cconv(target.ordinal).results;
    let checked = check_results(kinds, &machine.outside.results);
    machine.outside.results.clear();
    checked.map_err(|status| imported(status, target))
}

/// Executes the CallImport of `s`, which leads to `target` in another bytecode module.
///
/// # Safety
/// The state is that of the operation; the callee's convention is that of its words.
#[inline(never)]
pub(super) unsafe fn call_bytecode(
    fp: *mut u32,
    ip: *const Inst,
    m: *mut Machine,
    fuel: isize,
    target: &ImportTarget,
    instance: &BytecodeInstance,
) -> Called {
    let (s, words) = (State { fp, ip, m, table: std::ptr::null(), fuel }, Words(ip));
    let function = &instance.module.functions[target.ordinal];
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

/// Stops the run at the CallImport at `ip`, whose import is optional and was not found.
///
/// # Safety
/// The parameters are those of the operation.
#[cold]
#[inline(never)]
pub(super) unsafe fn unresolved(fp: *mut u32, ip: *const Inst, m: *mut Machine, fuel: isize) {
    // SAFETY: the root keeps the instance of a frame alive; the machine is not in use elsewhere.
    let (machine, caller, import) = unsafe { (&mut *m, &*header(fp).instance, Words(ip).import()) };
    let name = caller.module.import_defs().get(import).map_or("?", |i| &i.full_name);
    let text = format!("optional import `{name}` (ordinal {import}) not resolved");
    machine.account.fuel.set(fuel);
    machine.stop(fp, ip, Err(Status::not_found(text)));
}
