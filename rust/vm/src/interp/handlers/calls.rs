//! Calls and returns.
//!
//! Call: `a` units to the callee's frame, `b` cells, `c` wide cells; word 1: the callee; word 2: first result, number of
//! references, words in all; word 3: which references are lent; then a pair (source, target) for every argument, two a
//! word; then the targets of the results, four a word.

use std::cell::RefCell;
use std::sync::atomic::Ordering::Acquire;

use crate::bytecode::{Function, Inst, MOVE, OWN, kind};
use crate::context::Instance;
use crate::interp::imports::{self, Called};
use crate::interp::stack::{Header, caller, header, slot};
use crate::interp::state::{Signal, State, dispatch, operation};
use crate::interp::{Exit, Machine, leave, overflow};

operation!(Call, |s| {
    let (inst, counts) = (s.inst(), s.word(2));
    let function = std::ptr::with_exposed_provenance::<Function>(s.word(1).bits() as usize);
    let fp = s.fp.cast::<u64>().add(inst.a.into()).cast::<u32>();
    let frame = header(s.fp);
    if (*function).end(fp) > (*s.m).end || frame.depth >= (*s.m).max_depth {
        return overflow(s.fp, s.ip, s.m, s.fuel, function);
    }
    frame.ip = s.ip;
    *header(fp) = Header {
        function,
        instance: frame.instance,
        ip: std::ptr::null(),
        back: inst.a.into(),
        depth: frame.depth + 1,
        lent: s.word(3).bits(),
    };
    let mut arguments = s.ip.add(4).cast::<[u16; 2]>();
    for _ in 0..inst.b {
        let [source, target] = *arguments;
        *fp.add(target.into()) = s.u32(source);
        arguments = arguments.add(1);
    }
    for _ in 0..inst.c {
        let [source, target] = *arguments;
        fp.add(target.into()).cast::<u64>().write_unaligned(s.u64(source));
        arguments = arguments.add(1);
    }
    for _ in 0..counts.a {
        let [source, target] = *arguments;
        pass(s, source, fp, target);
        arguments = arguments.add(1);
    }
    (*function).clear_references(fp);
    let entry = (*function).entry.load(Acquire);
    State { fuel: s.fuel - (*function).cost, ..s }.go(fp, entry)
});

/// Puts a reference into the new frame at `fp`: moved, counted again, or lent.
#[inline(always)]
pub(in crate::interp) unsafe fn pass(s: State, source: u16, fp: *mut u32, target: u16) {
    // SAFETY: operands of the two frames; what the target holds is not a reference yet.
    unsafe {
        let value = if source & MOVE != 0 || target & OWN != 0 { s.take(source) } else { s.slot(source).lend() };
        std::ptr::from_mut(slot(fp, (target & !OWN).into())).write(value);
    }
}

/// Goes on in the caller, behind its call.
#[inline(always)]
unsafe fn back(s: State, fp: *mut u32, call: *const Inst) -> Signal {
    // SAFETY: `call` is the call that the frame at `fp` is at.
    unsafe { dispatch(fp, call.add((*call.add(2)).number() as usize), s.m, s.table, s.fuel) }
}

/// Returns when `$store` has put the result where it belongs.
macro_rules! return_one {
    ($name:ident, |$s:ident, $fp:ident, $target:ident| $store:expr) => {
        operation!($name, |$s| {
            let distance = header($s.fp).back;
            if distance == 0 {
                return leave($s.fp, $s.ip, $s.m, $s.fuel);
            }
            let $fp = caller($s.fp, distance);
            let call = header($fp).ip;
            let $target = (*call.add(2)).op;
            $store;
            back($s, $fp, call)
        });
    };
}

return_one!(Return0, |s, fp, _target| {});
return_one!(Return32, |s, fp, target| *fp.add(target.into()) = s.u32(s.inst().a));
return_one!(Return64, |s, fp, target| fp.add(target.into()).cast::<u64>().write_unaligned(s.u64(s.inst().a)));
return_one!(ReturnRef, |s, fp, target| slot(fp, target.into()).set(s.take(s.inst().a)));

operation!(Return, |s| {
    let distance = header(s.fp).back;
    if distance == 0 {
        return leave(s.fp, s.ip, s.m, s.fuel);
    }
    let fp = caller(s.fp, distance);
    let (count, call) = (usize::from(s.inst().a), header(fp).ip);
    let targets = call.add((*call.add(2)).number() as usize - count.div_ceil(4)).cast::<u16>();
    for i in 0..count {
        let (word, target) = (s.word(1 + i), usize::from(*targets.add(i)));
        match word.op {
            kind::I32 | kind::F32 => *fp.add(target) = s.u32(word.a),
            kind::I64 | kind::F64 => fp.add(target).cast::<u64>().write_unaligned(s.u64(word.a)),
            _ => slot(fp, target).set(s.take(word.a)),
        }
    }
    back(s, fp, call)
});

operation!(CallImport, |s| {
    let Some(target) = imports::target(s.fp, s.ip) else {
        imports::unresolved(s.fp, s.ip, s.m, s.fuel);
        return Signal::Stopped;
    };
    match &*target.instance {
        Instance::Native(native) => {
            let ip = imports::call_native(s.fp, s.ip, s.m, s.fuel, target, native);
            if ip.is_null() {
                return Signal::Stopped;
            }
            let Machine { ref account, .. } = *s.m;
            let fuel = account.fuel.get();
            State { fuel, ..s }.go(s.fp, ip)
        }
        Instance::Bytecode(instance) => match imports::call_bytecode(s.fp, s.ip, s.m, s.fuel, target, instance) {
            Called::GoOn => {
                let Machine { fp, ip, ref account, .. } = *s.m;
                let fuel = account.fuel.get();
                State { fuel, ..s }.go(fp, ip)
            }
            Called::Resume => Signal::Resume,
            Called::Stopped => Signal::Stopped,
        },
    }
});

operation!(Translate, |s| {
    let entry = translate(s.fp, s.ip, s.m, s.fuel);
    if entry.is_null() {
        return Signal::Stopped;
    }
    dispatch(s.fp, entry, s.m, s.table, s.fuel)
});

/// Code of the function whose frame is at `fp`; null when the machine has noted why there is none.
#[cold]
#[inline(never)]
unsafe fn translate(fp: *mut u32, ip: *const Inst, m: *mut Machine, fuel: isize) -> *const Inst {
    // SAFETY: a frame keeps its instance and its function alive.
    unsafe {
        let header = header(fp);
        let (module, function) = (&(*header.instance).module, &*header.function);
        let machine = &mut *m;
        machine.account.fuel.set(fuel);
        if !machine.may_translate(function.range.len()) {
            return machine.stop(fp, ip, Ok(Exit::Yielded));
        }
        let looking = RefCell::new(&mut *machine);
        match module.code(function.ordinal, &|| looking.borrow_mut().look()) {
            Ok(code) => code.insts.as_ptr(),
            Err(status) => machine.stop(fp, ip, Err(status)),
        }
    }
}
