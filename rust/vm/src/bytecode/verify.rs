//! Proves, once and at load, what the interpreter takes for granted.
//!
//! After this: every instruction decodes; every register exists, is of the right bank, and 64-bit ones are even; every
//! branch leads to a block marker; every ordinal exists; calls and returns fit their calling conventions. What depends
//! on values (null references, indices, types of objects) is checked when executed.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::sync::atomic::AtomicPtr;

use super::code::CHUNK;
use super::{BytecodeModule, Function, TRANSLATE, check_features};
use crate::archive::schema::{FunctionDescriptor, ModuleDef};
use crate::cconv::{CallingConvention, Item, Kind};
use crate::interp::frame_units;
use crate::isa::{self, Arg, Decoded, Op, OperandKind as K, Pairs, Regs, reg};
use crate::status::{Annotate, Result, Status};

/// Marks an import in a function ordinal.
pub(crate) const IMPORT_BIT: u32 = 0x8000_0000;
/// Segment size of a plain argument.
pub(crate) const PLAIN: u16 = 0xFFFF;

const MAX_I32_REGISTERS: usize = 0x7FFF;
const MAX_REF_REGISTERS: usize = 0x3FFF;
const MAX_PC: u32 = 0x00FF_FFFE;

/// Checks the descriptors and calling conventions of all functions.
pub(super) fn functions(def: &ModuleDef) -> Result<Vec<Function>> {
    let describe = |ordinal: usize| match def.exports.iter().find(|e| e.ordinal as usize == ordinal) {
        Some(export) => format!("in function {ordinal} ({})", export.name),
        None => format!("in function {ordinal}"),
    };
    // Verifying the same bytes for thousands of functions would take forever.
    let total: u64 = def.functions.iter().map(|f| u64::from(f.length)).sum();
    if total > def.bytecode.len() as u64 {
        return Err(Status::invalid_argument(format!(
            "functions overlap or lie outside the bytecode: they take {total} bytes of {}",
            def.bytecode.len()
        )));
    }
    (def.functions.iter().zip(&def.signatures).enumerate())
        .map(|(ordinal, (descriptor, signature))| {
            let bytecode = def.bytecode.len();
            one_descriptor(ordinal, descriptor, bytecode, &signature.cconv).annotate(|| describe(ordinal))
        })
        .collect()
}

fn one_descriptor(ordinal: usize, descriptor: &FunctionDescriptor, bytecode: usize, cconv: &str) -> Result<Function> {
    let (start, length) = (descriptor.offset as usize, descriptor.length as usize);
    if length == 0 || descriptor.block_count == 0 {
        return Err(Status::invalid_argument("descriptor without bytecode or blocks"));
    }
    let Some(end) = start.checked_add(length).filter(|end| *end <= bytecode) else {
        return Err(Status::invalid_argument(format!(
            "descriptor bytecode range {start}+{length} is outside the bytecode of {bytecode} bytes"
        )));
    };
    if !start.is_multiple_of(2) {
        return Err(Status::invalid_argument(format!("function starts at the odd offset {start}")));
    }
    check_features(descriptor.requirements)?;
    let (i32s, refs) = (usize::from(descriptor.i32_registers), usize::from(descriptor.ref_registers));
    if i32s > MAX_I32_REGISTERS || refs > MAX_REF_REGISTERS {
        return Err(Status::invalid_argument(format!(
            "descriptor register counts out of range: {i32s} i32, {refs} ref"
        )));
    }
    // The reference rounds frames up to powers of two and accepts registers in the rounding.
    let (i32_cells, ref_cells) = (i32s.max(1).next_power_of_two(), refs.max(1).next_power_of_two());
    if i32_cells > MAX_I32_REGISTERS || ref_cells > MAX_REF_REGISTERS {
        return Err(Status::resource_exhausted(format!(
            "too many registers: {i32s} i32, {refs} ref (at most 16384 i32, 8192 ref)"
        )));
    }
    let cconv = CallingConvention::parse(cconv)?;
    let kinds = cconv
        .scalar_args()
        .ok_or_else(|| Status::invalid_argument("internal functions cannot accept variadic arguments"))?;
    let (mut used_i32, mut used_ref) = (0, 0);
    for register in argument_registers(&kinds) {
        if reg::is_ref(register.0) {
            used_ref = used_ref.max(reg::ref_ordinal(register.0) + 1);
        } else {
            used_i32 = used_i32.max(usize::from(register.0) + if register.1.is_wide() { 2 } else { 1 });
        }
    }
    if used_i32 > i32_cells || used_ref > ref_cells {
        return Err(Status::invalid_argument(format!(
            "insufficient register storage: arguments need {used_i32} i32 and {used_ref} ref, have {i32_cells} and {ref_cells}"
        )));
    }
    Ok(Function {
        cconv,
        ordinal,
        range: start..end,
        i32_limit: i32_cells,
        ref_limit: ref_cells,
        cells: used_i32,
        refs: used_ref,
        ref_args: used_ref,
        frame: 0,
        cost: 0,
        entry: AtomicPtr::new(TRANSLATE.as_ptr().cast_mut()),
        code: OnceLock::new(),
    })
}

/// What a function turned out to need.
#[derive(Clone, Copy, Default)]
pub(super) struct Measured {
    cells: usize,
    refs: usize,
    /// What its instructions cost together.
    cost: u32,
}

impl Function {
    pub(super) fn measure(&mut self, measured: Measured) {
        self.cells = self.cells.max(measured.cells);
        self.refs = self.refs.max(measured.refs);
        self.frame = frame_units(self.cells, self.refs);
        self.cost = measured.cost.min(CHUNK) as isize;
    }
}

/// The registers in which a function finds arguments of these kinds. The caller bounds their number.
pub(crate) fn argument_registers(kinds: &[Kind]) -> Vec<(u16, Kind)> {
    let (mut i32s, mut refs) = (0u32, 0u32);
    let mut registers = Vec::with_capacity(kinds.len());
    for kind in kinds {
        let register = match kind {
            Kind::Ref => {
                refs += 1;
                u32::from(reg::REF) | (refs - 1).min(MAX_REF_REGISTERS as u32)
            }
            Kind::I32 | Kind::F32 => {
                i32s += 1;
                (i32s - 1).min(MAX_I32_REGISTERS as u32)
            }
            Kind::I64 | Kind::F64 => {
                let at = i32s.next_multiple_of(2);
                i32s = at + 2;
                at.min(MAX_I32_REGISTERS as u32 - 1)
            }
        };
        registers.push((register as u16, *kind));
    }
    registers
}

struct Verifier<'a> {
    module: &'a BytecodeModule,
    function: &'a Function,
    requirements: u32,
    targets: BTreeSet<u32>,
    measured: Measured,
}

/// Checks the bytecode of function `ordinal`.
pub(super) fn function(module: &BytecodeModule, ordinal: usize) -> Result<Measured> {
    let descriptor = &module.archive.def().functions[ordinal];
    let mut verifier = Verifier {
        module,
        function: &module.functions[ordinal],
        requirements: descriptor.requirements,
        targets: BTreeSet::new(),
        measured: Measured::default(),
    };
    verifier.stream(module.bytecode_of(ordinal), ordinal, descriptor.block_count)?;
    Ok(verifier.measured)
}

impl Verifier<'_> {
    fn stream(&mut self, code: &[u8], ordinal: usize, block_count: u16) -> Result<()> {
        let at = |pc: usize| {
            let module = crate::module::Module::name(self.module);
            match self.module.function_name(ordinal) {
                Some(name) => format!("at {module}.{name}+{pc:08X}"),
                None => format!("at {module}@{ordinal}+{pc:08X}"),
            }
        };
        let mut markers = BTreeSet::new();
        let mut open = false;
        let mut pc = 0;
        while pc < code.len() {
            let decoded = isa::decode(code, pc).annotate(|| at(pc))?;
            if decoded.row.op == Op::Block {
                if open {
                    return Err(block_error(pc, "is a block while still in a block")).annotate(|| at(pc));
                }
                if pc as u32 > MAX_PC {
                    return Err(Status::out_of_range(format!("block at pc {pc:08X} is too far")));
                }
                markers.insert(pc as u32);
                open = true;
            } else if !open {
                return Err(block_error(pc, "is not in a block")).annotate(|| at(pc));
            } else {
                self.instruction(&decoded).annotate(|| at(pc))?;
                self.measured.cost = self.measured.cost.saturating_add(cost(&decoded));
                open = !decoded.row.terminator;
            }
            pc = decoded.next;
        }
        if open {
            return Err(Status::invalid_argument("function missing terminator in the last block")).annotate(|| at(pc));
        }
        if let Some(missing) = self.targets.difference(&markers).next() {
            return Err(Status::invalid_argument(format!("branch target {missing:08X} is not a block")))
                .annotate(|| at(0));
        }
        if markers.len() != usize::from(block_count) {
            return Err(Status::invalid_argument(format!(
                "invalid descriptor block count {block_count}; found {}",
                markers.len()
            )))
            .annotate(|| at(0));
        }
        Ok(())
    }

    fn instruction(&mut self, decoded: &Decoded<'_>) -> Result<()> {
        let row = decoded.row;
        let feature = row.set.feature();
        if self.requirements & feature != feature {
            return Err(Status::invalid_argument(format!(
                "required module features [{}] to execute {} but the function declares [{}]",
                isa::features::names(feature),
                row.mnemonic,
                isa::features::names(self.requirements)
            )));
        }
        for (operand, arg) in row.operands.iter().zip(decoded.args.iter()) {
            self.operand(row.op, operand.kind, arg)
                .annotate(|| format!("operand `{}` of vm.{}", operand.name, row.mnemonic))?;
        }
        self.calls(decoded)
    }

    fn operand(&mut self, op: Op, kind: K, arg: Arg<'_>) -> Result<()> {
        match (kind, arg) {
            (K::I32 | K::F32, Arg::Reg(register)) => self.narrow(register),
            (K::I64 | K::F64, Arg::Reg(register)) => self.wide(register),
            (K::Ref, Arg::Reg(register)) => {
                if reg::is_move(register) {
                    return Err(Status::invalid_argument("register cannot be moved from here"));
                }
                self.reference(register)
            }
            (K::RefMove, Arg::Reg(register)) => self.reference(register),
            (K::ListI32 | K::ListF32, Arg::Regs(list)) => list.iter().try_for_each(|r| self.narrow(r)),
            (K::ListI64 | K::ListF64, Arg::Regs(list)) => list.iter().try_for_each(|r| self.wide(r)),
            (K::ListRef, Arg::Regs(list)) => list.iter().try_for_each(|r| self.reference(r)),
            (K::ListAny, Arg::Regs(list)) if op == Op::DiscardRefs => list.iter().try_for_each(|r| self.reference(r)),
            (K::ListAny, Arg::Regs(list)) => list.iter().try_for_each(|r| self.any(r)),
            (K::Pc, Arg::Pc(pc)) => self.target(pc),
            (K::Remap, Arg::Pairs(pairs)) => self.remap(pairs),
            (K::Cases, Arg::Cases(cases)) => {
                for (pc, pairs) in cases.iter() {
                    self.target(pc)?;
                    self.remap(pairs)?;
                }
                Ok(())
            }
            (K::Global, Arg::Ordinal(offset)) => self.global(op, offset),
            (K::Type, Arg::Ordinal(ordinal)) => below(ordinal, self.module.types.len(), "type ordinal"),
            (K::Rodata, Arg::Ordinal(ordinal)) => below(ordinal, self.module.rodata.len(), "rodata ref ordinal"),
            (K::Func, Arg::Ordinal(ordinal)) if ordinal & IMPORT_BIT != 0 => {
                let (ordinal, count) = (ordinal & !IMPORT_BIT, self.module.imports.len());
                ordinal_below(ordinal, count, "import ordinal")
            }
            (K::Func, Arg::Ordinal(_)) if op == Op::ImportResolved => {
                Err(Status::invalid_argument("import.resolved names an internal function"))
            }
            (K::Func, Arg::Ordinal(ordinal)) => ordinal_below(ordinal, self.module.functions.len(), "function ordinal"),
            _ => Ok(()), // Immediates, strings and segment sizes have no rule of their own.
        }
    }

    fn narrow(&mut self, register: u16) -> Result<()> {
        if reg::is_ref(register) {
            return Err(Status::invalid_argument("reference register where a value register is needed"));
        }
        self.measured.cells = self.measured.cells.max(usize::from(register) + 1);
        below(register.into(), self.function.i32_limit, "register ordinal")
    }

    fn wide(&mut self, register: u16) -> Result<()> {
        self.narrow(register)?;
        if !register.is_multiple_of(2) {
            return Err(Status::invalid_argument(format!("64-bit register {register} is not even")));
        }
        self.measured.cells = self.measured.cells.max(usize::from(register) + 2);
        below(u32::from(register) + 1, self.function.i32_limit, "register ordinal")
    }

    fn reference(&mut self, register: u16) -> Result<()> {
        if !reg::is_ref(register) {
            return Err(Status::invalid_argument("value register where a reference register is needed"));
        }
        self.measured.refs = self.measured.refs.max(reg::ref_ordinal(register) + 1);
        below(reg::ref_ordinal(register) as u32, self.function.ref_limit, "register ordinal")
    }

    fn any(&mut self, register: u16) -> Result<()> {
        if reg::is_ref(register) { self.reference(register) } else { self.narrow(register) }
    }

    fn target(&mut self, pc: u32) -> Result<()> {
        if pc > MAX_PC {
            return Err(Status::out_of_range(format!("branch target {pc:08X} is too far")));
        }
        self.targets.insert(pc);
        Ok(())
    }

    fn remap(&mut self, pairs: Pairs<'_>) -> Result<()> {
        for (source, target) in pairs.iter() {
            self.any(source)?;
            self.any(target)?;
            if reg::is_ref(source) != reg::is_ref(target) {
                return Err(Status::invalid_argument("remap between a value and a reference register"));
            }
        }
        Ok(())
    }

    fn global(&self, op: Op, offset: u32) -> Result<()> {
        let (bytes, refs) = self.module.archive.def().state.unwrap_or_default();
        let size = match op {
            Op::GlobalLoadRef | Op::GlobalStoreRef => return below(offset, refs as usize, "global ref ordinal"),
            Op::GlobalLoadI64 | Op::GlobalStoreI64 | Op::GlobalLoadF64 | Op::GlobalStoreF64 => 8,
            _ => 4,
        };
        if u64::from(offset) + size > u64::from(bytes) {
            return Err(Status::out_of_range(format!("global byte offset {offset} out of range {bytes}")));
        }
        Ok(())
    }

    fn calls(&mut self, decoded: &Decoded<'_>) -> Result<()> {
        let args = &decoded.args;
        match decoded.row.op {
            Op::Return => {
                self.scalars(&self.function.cconv.results, args.regs(0)).annotate(|| "return operands".into())
            }
            Op::Call => self.call(args.ordinal(0), None, args.regs(1), args.regs(2)),
            Op::CallVariadic => self.call(args.ordinal(0), Some(args.regs(1)), args.regs(2), args.regs(3)),
            Op::CallYieldable => self.call(args.ordinal(0), None, args.regs(1), args.regs(3)),
            Op::CallVariadicYieldable => self.call(args.ordinal(0), Some(args.regs(1)), args.regs(2), args.regs(4)),
            _ => Ok(()),
        }
    }

    fn call(&mut self, callee: u32, segments: Option<Regs<'_>>, operands: Regs<'_>, results: Regs<'_>) -> Result<()> {
        let cconv = if callee & IMPORT_BIT == 0 {
            if segments.is_some() {
                return Err(Status::failed_precondition("variadic calls are only supported for imported functions"));
            }
            &self.module.functions[callee as usize].cconv
        } else {
            &self.module.imports[(callee & !IMPORT_BIT) as usize].cconv
        };
        let kinds = flatten(cconv, segments)?;
        self.scalars(&kinds, operands).annotate(|| "call operands".into())?;
        self.scalars(&cconv.results, results).annotate(|| "call results".into())
    }

    fn scalars(&mut self, kinds: &[Kind], registers: Regs<'_>) -> Result<()> {
        if registers.len() < kinds.len() {
            return Err(Status::out_of_range(format!(
                "register list underflow (have {}, expected {})",
                registers.len(),
                kinds.len()
            )));
        }
        for (kind, register) in kinds.iter().zip(registers.iter()) {
            match kind {
                Kind::I32 | Kind::F32 => self.narrow(register)?,
                Kind::I64 | Kind::F64 => self.wide(register)?,
                Kind::Ref => self.reference(register)?,
            }
        }
        Ok(())
    }
}

/// Fuel that an instruction takes: one, and one for every register that its branches assign.
pub(super) fn cost(decoded: &Decoded<'_>) -> u32 {
    let mut cost = u32::from(decoded.row.op != Op::Block);
    for arg in decoded.args.iter() {
        match arg {
            Arg::Pairs(pairs) => cost += pairs.len() as u32,
            Arg::Cases(cases) => cost += cases.iter().map(|(_, pairs)| pairs.len() as u32).sum::<u32>(),
            _ => {}
        }
    }
    cost
}

/// The kinds of all arguments of one call, spans unrolled.
pub(crate) fn flatten(cconv: &CallingConvention, segments: Option<Regs<'_>>) -> Result<Vec<Kind>> {
    let Some(segments) = segments else {
        return cconv
            .scalar_args()
            .ok_or_else(|| Status::invalid_argument("variadic function called without segment sizes"));
    };
    if segments.len() < cconv.args.len() {
        return Err(Status::out_of_range(format!(
            "segment size list has {} entries, the callee has {} arguments",
            segments.len(),
            cconv.args.len()
        )));
    }
    let mut kinds = Vec::new();
    for (item, size) in cconv.args.iter().zip(segments.iter()) {
        match (item, size) {
            (Item::Scalar(kind), PLAIN) => kinds.push(*kind),
            (Item::Span(tuple), count) if count != PLAIN => {
                // No register list is longer than u16 can count, so longer sums need not be built.
                for _ in 0..count {
                    if kinds.len() > usize::from(u16::MAX) {
                        break;
                    }
                    kinds.extend_from_slice(tuple);
                }
            }
            _ => {
                return Err(Status::invalid_argument(format!(
                    "segment size {size} does not fit the calling convention"
                )));
            }
        }
    }
    Ok(kinds)
}

fn below(value: u32, limit: usize, what: &str) -> Result<()> {
    if (value as usize) < limit {
        return Ok(());
    }
    Err(Status::out_of_range(format!("{what} {value} out of range {limit}")))
}

fn ordinal_below(value: u32, limit: usize, what: &str) -> Result<()> {
    below(value, limit, what).map_err(|status| Status::invalid_argument(status.message()))
}

fn block_error(pc: usize, what: &str) -> Status {
    Status::invalid_argument(format!("op at pc {pc:08X} {what}"))
}
