//! Calls and returns.

use std::collections::{BTreeMap, BTreeSet};

use super::super::code::{Inst, MOVE, OWN, X, kind};
use super::super::verify::{IMPORT_BIT, PLAIN, argument_registers, flatten};
use super::{FREE, Translator};
use crate::cconv::Kind;
use crate::interp::slot_unit;
use crate::isa::{Regs, reg};
use crate::status::Result;

/// An argument: its kind, and its operands in the frames of caller and callee.
struct Passed {
    kind: u16,
    source: u16,
    target: u16,
}

impl Translator<'_> {
    pub(super) fn call(&mut self, callee: u32, segments: Option<Regs<'_>>, operands: Regs<'_>, results: Regs<'_>) {
        let cconv = self.flow.convention(callee);
        // Verified, so the segments fit.
        let kinds = flatten(cconv, segments).unwrap_or_default();
        let result_kinds = cconv.results.clone();
        let spans: Vec<u16> =
            segments.map_or_else(Vec::new, |s| s.iter().take(cconv.args.len()).filter(|size| *size != PLAIN).collect());
        let sources: Vec<u16> = operands.iter().take(kinds.len()).collect();
        let targets: Vec<u16> =
            results.iter().take(result_kinds.len()).map(|register| self.operand(register)).collect();
        let import = callee & IMPORT_BIT != 0;
        // Of a callee in another module only the convention is known: where its references begin is found when linking.
        let cells = if import { None } else { Some(self.module.functions[callee as usize].cells) };
        let (passed, lent) = self.passed(&kinds, &sources, cells);
        if import {
            self.call_import(callee & !IMPORT_BIT, &passed, lent, &spans, &sources, &result_kinds, &targets);
        } else {
            self.call_function(callee, &passed, lent, &targets);
        }
    }

    /// How arguments are passed, and which references are lent. References of callees in other modules are numbered.
    fn passed(&self, kinds: &[Kind], sources: &[u16], cells: Option<usize>) -> (Vec<Passed>, u64) {
        let mut lent = 0;
        let registers = argument_registers(kinds);
        let mut passed = Vec::with_capacity(sources.len());
        let mut gone = BTreeSet::new();
        let moved_later = named_later(sources.iter().map(|source| reg::is_move(*source).then_some(*source)));
        for (i, ((register, kind), source)) in registers.iter().zip(sources).enumerate() {
            let mut code = kind::code(*kind);
            let mut target = *register;
            if *kind == Kind::Ref {
                let ordinal = reg::ref_ordinal(*register);
                target = cells.map_or(ordinal, |cells| slot_unit(cells, ordinal)) as u16;
                if cells.is_none() && gone.contains(&reg::ref_ordinal(*source)) {
                    // Native callees read registers in place, and those are emptied only afterwards.
                    code = kind::NULL;
                }
                if reg::is_move(*source) {
                    gone.insert(reg::ref_ordinal(*source));
                } else if moved_later(i, *source) || ordinal >= 64 {
                    target |= OWN;
                } else {
                    lent |= 1 << ordinal;
                }
            }
            passed.push(Passed { kind: code, source: self.source_of(*kind, *source), target });
        }
        (passed, lent)
    }

    fn source_of(&self, kind: Kind, register: u16) -> u16 {
        if kind == Kind::Ref { self.source(register) } else { register }
    }

    fn call_function(&mut self, callee: u32, passed: &[Passed], lent: u64, targets: &[u16]) {
        let group = |codes: &[u16]| -> Vec<[u16; 2]> {
            passed.iter().filter(|p| codes.contains(&p.kind)).map(|p| [p.source, p.target]).collect()
        };
        let narrow = group(&[kind::I32, kind::F32]);
        let wide = group(&[kind::I64, kind::F64]);
        let references = group(&[kind::REF]);
        let start = self.word();
        self.push(Inst::new(X::Call, self.function.frame as u16, narrow.len() as u16, wide.len() as u16));
        let function = std::ptr::from_ref(&self.module.functions[callee as usize]).expose_provenance() as u64;
        self.push(Inst::pair(function as u32, (function >> 32) as u32));
        self.push(Inst::data(targets.first().copied().unwrap_or(0), references.len() as u16, 0));
        self.push(Inst::pair(lent as u32, (lent >> 32) as u32));
        self.packed(&[narrow, wide, references].concat().concat());
        self.end_call(start, targets);
    }

    #[allow(clippy::too_many_arguments)] // They are the parts of one instruction.
    fn call_import(
        &mut self,
        import: u32,
        passed: &[Passed],
        lent: u64,
        spans: &[u16],
        sources: &[u16],
        kinds: &[Kind],
        targets: &[u16],
    ) {
        let moved: BTreeSet<usize> =
            sources.iter().filter(|source| reg::is_move(**source)).map(|source| reg::ref_ordinal(*source)).collect();
        let start = self.word();
        self.push(Inst::new(X::CallImport, self.function.frame as u16, passed.len() as u16, spans.len() as u16));
        self.push(Inst::pair(import, moved.len() as u32));
        self.push(Inst::data(targets.first().copied().unwrap_or(0), targets.len() as u16, 0));
        self.push(Inst::pair(lent as u32, (lent >> 32) as u32));
        for argument in passed {
            self.push(Inst { op: argument.kind, a: argument.source, b: argument.target, c: 0 });
        }
        for count in spans {
            self.push(Inst { op: *count, a: 0, b: 0, c: 0 });
        }
        for ordinal in moved {
            self.push(Inst { op: 0, a: self.reference(ordinal), b: 0, c: 0 });
        }
        for (kind, target) in kinds.iter().zip(targets) {
            self.push(Inst { op: kind::code(*kind), a: *target, b: 0, c: 0 });
        }
        self.end_call(start, targets);
    }

    /// The targets of the results, where Return looks for them, and the length of it all.
    fn end_call(&mut self, start: usize, targets: &[u16]) {
        self.packed(targets);
        let length = (self.word() - start) as u32;
        let counts = &mut self.insts[start + 2];
        (counts.b, counts.c) = (length as u16, (length >> 16) as u16);
    }

    /// A return. References go to the caller with their counts; what else may be left is released before.
    pub(super) fn leave(&mut self, number: usize, index: usize, registers: Regs<'_>) -> Result<()> {
        let kinds = self.function.cconv.results.clone();
        let results: Vec<(u16, u16)> = kinds.iter().map(|kind| kind::code(*kind)).zip(registers.iter()).collect();
        let returned: BTreeSet<usize> =
            results.iter().filter(|(code, _)| *code == kind::REF).map(|(_, r)| reg::ref_ordinal(*r)).collect();
        self.release(number, index, &returned)?;
        let mut sources = Vec::with_capacity(results.len());
        let named = named_later(results.iter().map(|(code, register)| (*code == kind::REF).then_some(*register)));
        for (i, (code, register)) in results.iter().enumerate() {
            sources.push(match *code {
                kind::REF if named(i, *register) && !reg::is_move(*register) => self.operand(*register),
                kind::REF => self.operand(*register) | MOVE,
                _ => *register,
            });
        }
        let x = match (&results[..], &sources[..]) {
            ([], _) => X::Return0,
            ([(kind::I32 | kind::F32, _)], _) => X::Return32,
            ([(kind::I64 | kind::F64, _)], _) => X::Return64,
            ([_], _) => X::ReturnRef,
            _ => X::Return,
        };
        if x != X::Return {
            self.push(Inst::new(x, sources.first().copied().unwrap_or(0), 0, 0));
            return Ok(());
        }
        self.push(Inst::new(x, results.len() as u16, 0, 0));
        for ((code, _), source) in results.iter().zip(sources) {
            self.push(Inst { op: *code, a: source, b: 0, c: 0 });
        }
        Ok(())
    }

    /// Releases what may be left before the return at `index`: what is known to be, or, when that is unknown or would make
    /// the code long, everything.
    fn release(&mut self, number: usize, index: usize, returned: &BTreeSet<usize>) -> Result<()> {
        let most = returned.len() + self.room.max(FREE) / size_of::<u16>();
        if let Some(held) = self.flow.held_at(number, index, most)? {
            let left = || held.iter().copied().filter(|ordinal| !returned.contains(ordinal));
            let bytes =
                left().map(|ordinal| if self.may_be_lent(ordinal) { size_of::<Inst>() } else { size_of::<u16>() });
            if self.may_repeat(bytes.sum()) {
                self.discard(left());
                return Ok(());
            }
        }
        let (refs, kept): (_, Vec<u16>) =
            (self.function.refs, returned.iter().map(|ordinal| *ordinal as u16).collect());
        self.push(Inst::new(X::DiscardAll, self.reference(0), refs as u16, kept.len() as u16));
        self.packed(&kept);
        Ok(())
    }
}

/// For each place in a list, whether a reference is named at a later one. Where nothing is named, nothing is kept.
fn named_later(names: impl DoubleEndedIterator<Item = Option<u16>> + ExactSizeIterator) -> impl Fn(usize, u16) -> bool {
    let mut last = BTreeMap::new();
    for (place, name) in names.enumerate().rev() {
        if let Some(name) = name {
            last.entry(reg::ref_ordinal(name)).or_insert(place);
        }
    }
    move |place, name| last.get(&reg::ref_ordinal(name)).is_some_and(|last| *last > place)
}
