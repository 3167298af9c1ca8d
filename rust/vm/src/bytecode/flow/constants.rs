//! Operands that are constants small enough to be part of the instruction.

use std::collections::HashMap;

use super::{Flow, is_comparison};
use crate::isa::{Decoded, Op, reg};
use crate::status::Result;

/// An operand that is a constant.
#[derive(Clone, Copy, Debug)]
pub(in crate::bytecode) struct Fold {
    /// Which operand.
    pub operand: usize,
    /// Its value; that of a subtrahend is negated.
    pub value: i16,
}

/// What a constant instruction puts where: register, whether it is wide, value.
fn constant(decoded: &Decoded<'_>) -> Option<(u16, bool, i64)> {
    let args = &decoded.args;
    Some(match decoded.row.op {
        Op::ConstI32 => (args.reg(1), false, i64::from(args.imm(0) as i32)),
        Op::ConstI32Zero => (args.reg(0), false, 0),
        Op::ConstI64 => (args.reg(1), true, args.imm(0) as i64),
        Op::ConstI64Zero => (args.reg(0), true, 0),
        _ => return None,
    })
}

/// Which of the two operands of an instruction may be a constant: the right one, or either; and its width.
fn foldable(op: Op) -> Option<(bool, bool)> {
    use Op::*;
    Some(match op {
        AddI32 | MulI32 | AndI32 => (true, false),
        AddI64 | MulI64 | AndI64 => (true, true),
        SubI32 | ShlI32 | ShrI32S | ShrI32U => (false, false),
        SubI64 => (false, true),
        // Amounts are narrow.
        ShlI64 | ShrI64S | ShrI64U => (false, false),
        CmpEqI32 | CmpNeI32 | CmpLtI32S => (false, false),
        CmpEqI64 | CmpNeI64 | CmpLtI64S => (false, true),
        _ => return None,
    })
}

/// Values of registers: those that are written once in the function, and those of the current block.
#[derive(Default)]
struct Known {
    everywhere: HashMap<(u16, bool), i64>,
    here: HashMap<(u16, bool), i64>,
}

impl Known {
    fn value(&self, register: u16, wide: bool) -> Option<i64> {
        self.here.get(&(register, wide)).or_else(|| self.everywhere.get(&(register, wide))).copied()
    }

    fn forget(&mut self, cell: usize) {
        let cell = cell as u16;
        self.here.remove(&(cell, false));
        self.here.remove(&(cell & !1, true));
    }
}

/// The folds of all instructions.
pub(super) fn find(flow: &Flow<'_>) -> Result<HashMap<usize, Fold>> {
    let mut folds = HashMap::new();
    let constants = (0..flow.pcs.len()).any(|index| constant(&flow.at(index)).is_some());
    if flow.live.is_none() || !constants {
        return Ok(folds);
    }
    let mut known = Known { everywhere: written_once(flow)?, here: HashMap::new() };
    for (number, block) in flow.blocks.iter().enumerate() {
        flow.meter.spend(flow.bytes_of(number))?;
        // To clear a map takes as long as it once was large.
        if known.here.capacity() > 64 + 8 * known.here.len() {
            known.here = HashMap::new();
        }
        known.here.clear();
        for index in block.first..block.end {
            let decoded = flow.at(index);
            if let Some(fold) = fold(flow, index, &decoded, &known) {
                folds.insert(index, fold);
            }
            flow.accesses(&decoded, None, |access| {
                if access.write {
                    access.cells(|cell| known.forget(cell));
                }
            });
            if let Some((register, wide, value)) = constant(&decoded) {
                known.here.insert((register, wide), value);
            }
        }
    }
    Ok(folds)
}

/// Registers that only one instruction writes, a constant, and that nobody reads before.
fn written_once(flow: &Flow<'_>) -> Result<HashMap<(u16, bool), i64>> {
    let mut writes = vec![0u8; flow.function.cells];
    let mut constants = HashMap::new();
    for index in 0..flow.pcs.len() {
        let decoded = flow.at(index);
        flow.spend_on(&decoded)?;
        let mut count = |cell: usize| writes[cell] = writes[cell].saturating_add(1);
        flow.accesses(&decoded, None, |access| {
            if access.write {
                access.cells(&mut count);
            }
        });
        for (_, pairs) in flow.edges(&decoded) {
            pairs.iter().filter(|(_, target)| !reg::is_ref(*target)).for_each(|(_, target)| count(target.into()));
        }
        if let Some((register, wide, value)) = constant(&decoded) {
            constants.insert((register, wide), value);
        }
    }
    let (unassigned, given) = (flow.unassigned(), flow.given());
    let once = |cell: u16| {
        let read_before = given[usize::from(cell)] || unassigned.binary_search(&cell).is_ok();
        writes[usize::from(cell)] == 1 && !read_before
    };
    constants.retain(|(register, wide), _| once(*register) && (!*wide || once(*register + 1)));
    Ok(constants)
}

fn fold(flow: &Flow<'_>, index: usize, decoded: &Decoded<'_>, known: &Known) -> Option<Fold> {
    let op = decoded.row.op;
    let (either, wide) = foldable(op)?;
    if is_comparison(op) && (!flow.facts[index].fused || follows_addition(flow, index, decoded)) {
        return None;
    }
    let small = |operand: usize| i16::try_from(known.value(decoded.args.reg(operand), wide)?).ok();
    let right = small(1)
        .and_then(|value| if matches!(op, Op::SubI32 | Op::SubI64) { value.checked_neg() } else { Some(value) });
    match right {
        Some(value) => Some(Fold { operand: 1, value }),
        None if either => small(0).map(|value| Fold { operand: 0, value }),
        None => None,
    }
}

/// Whether a comparison looks at the sum that the instruction before makes: they become one with the branch.
fn follows_addition(flow: &Flow<'_>, index: usize, compare: &Decoded<'_>) -> bool {
    let before = flow.at(index - 1);
    matches!((before.row.op, compare.row.op), (Op::AddI32, Op::CmpLtI32S) | (Op::AddI64, Op::CmpLtI64S))
        && before.args.reg(2) == compare.args.reg(0)
}
