//! Operands in text, each read by its kind; the forms of an instruction say in which order and between which marks.

use super::floats;
use super::function::Labels;
use super::module::Tables;
use super::scanner::{Fault, Parsed, Position, Scanner};
use crate::isa::encode::{Remap, Value};
use crate::isa::{Instruction, Op, OperandKind as K, global_size, reg};

/// What reading an operand may look up or add to.
pub struct Scope<'a> {
    pub tables: &'a mut Tables,
    pub labels: &'a mut Labels,
    /// Cells that the text mentions as pairs in lists.
    pub cells: &'a mut u32,
}

impl Scope<'_> {
    /// A register of a list, where code does not show whether a pair was meant.
    fn entry(&mut self, scanner: &mut Scanner<'_>) -> Parsed<u16> {
        let register = register(scanner)?;
        if register.is_pair {
            *self.cells = (*self.cells).max(u32::from(register.encoded) + 2);
        }
        Ok(register.encoded)
    }

    fn pair(&mut self, scanner: &mut Scanner<'_>) -> Parsed<(u16, u16)> {
        let source = self.entry(scanner)?;
        scanner.expect("->")?;
        Ok((source, self.entry(scanner)?))
    }
}

/// One part of a form.
enum Part<'f> {
    Mark(&'f str),
    Operand(usize),
    Anything,
}

fn parts<'f>(form: &'f str, row: &Instruction) -> Vec<Part<'f>> {
    let mut parts = Vec::new();
    let mut rest = form;
    while !rest.is_empty() {
        let operand = rest.strip_prefix('{').and_then(|tail| tail.split_once('}'));
        let found = operand.and_then(|(name, _)| row.operands.iter().position(|o| o.name == name));
        if let (Some(index), Some((_, tail))) = (found, operand) {
            parts.push(Part::Operand(index));
            rest = tail;
            continue;
        }
        // Braces that name no operand are marks.
        let end = rest.char_indices().skip(1).find(|(_, c)| *c == '{').map_or(rest.len(), |(i, _)| i);
        parts.extend(rest[..end].split_whitespace().map(|m| if m == "..." { Part::Anything } else { Part::Mark(m) }));
        rest = &rest[end..];
    }
    parts
}

/// Reads what follows the mnemonic into `values` (by operand; results that stood in front are there already).
pub fn body(
    scanner: &mut Scanner<'_>,
    row: &'static Instruction,
    values: &mut [Option<Value>],
    scope: &mut Scope<'_>,
) -> Parsed<()> {
    let mut best: Option<Fault> = None;
    for form in row.forms {
        let mut attempt = scanner.clone();
        let mut read = values.to_vec();
        match one_form(&mut attempt, form, row, &mut read, scope).and_then(|()| attempt.expect_end()) {
            Ok(()) => {
                *scanner = attempt;
                values.clone_from_slice(&read);
                return Ok(());
            }
            // The form that fitted longest tells most; what is wrong with a name tells more than what was expected.
            Err(fault) => {
                let rank = |fault: &Fault| (fault.position.column, !fault.message.starts_with("expected"));
                if best.as_ref().is_none_or(|best| rank(&fault) > rank(best)) {
                    best = Some(fault);
                }
            }
        }
    }
    Err(best.unwrap_or_else(|| scanner.expected("operands")))
}

fn one_form(
    scanner: &mut Scanner<'_>,
    form: &str,
    row: &'static Instruction,
    values: &mut [Option<Value>],
    scope: &mut Scope<'_>,
) -> Parsed<()> {
    let parts = parts(form, row);
    for (i, part) in parts.iter().enumerate() {
        match part {
            Part::Mark(mark) => scanner.expect(mark)?,
            Part::Anything => {
                if let Some(Part::Mark(next)) = parts.get(i + 1) {
                    scanner.take_until(next)?;
                }
            }
            Part::Operand(index) => {
                let operand = &row.operands[*index];
                values[*index] = Some(match operand.kind {
                    K::Cases => {
                        let cases = cases(scanner, scope)?;
                        values[*index - 1] = Some(Value::Imm(cases.len() as u64));
                        Value::Cases(cases)
                    }
                    K::Str => {
                        let mark = parts.get(i + 1).map(|part| if let Part::Mark(mark) = part { mark } else { "" });
                        Value::Str(scanner.string_before(mark)?)
                    }
                    kind => one(scanner, row.op, kind, operand.name, scope)?,
                });
            }
        }
    }
    Ok(())
}

/// Reads one operand.
pub fn one(scanner: &mut Scanner<'_>, op: Op, kind: K, name: &str, scope: &mut Scope<'_>) -> Parsed<Value> {
    Ok(match kind {
        K::I32 | K::F32 | K::I64 | K::F64 | K::Ref | K::RefMove => Value::Reg(register_of(scanner, kind, name)?),
        K::ImmI32 => Value::Imm(integer(scanner, i32::MIN.into(), u32::MAX.into(), "a 32-bit number")? as u32 as u64),
        K::ImmI64 => Value::Imm(integer(scanner, i64::MIN.into(), u64::MAX.into(), "a 64-bit number")? as u64),
        K::ImmU16 => Value::Imm(integer(scanner, 0, u16::MAX.into(), "a 16-bit number")? as u64),
        K::ImmF32 => Value::Imm(floats::f32(scanner)?.into()),
        K::ImmF64 => Value::Imm(floats::f64(scanner)?),
        K::Global => Value::Ordinal(global(scanner, op, scope)?),
        K::Rodata => Value::Ordinal(integer(scanner, 0, u32::MAX.into(), "the number of a rodata segment")? as u32),
        K::Func => {
            let position = scanner.position();
            Value::Ordinal(scope.tables.callee(callee(scanner)?, position))
        }
        K::Type => {
            let position = scanner.position();
            Value::Ordinal(scope.tables.type_ordinal(scanner.type_name()?, position))
        }
        K::Pc => {
            let position = scanner.position();
            Value::Pc(scope.labels.refer(label(scanner)?, position))
        }
        K::Str => Value::Str(scanner.string()?),
        K::Segments => {
            scanner.expect("segments")?;
            scanner.expect("[")?;
            let sizes =
                list(scanner, |s| Ok(integer(s, 0, u16::MAX.into(), "a segment size (65535: not a span)")? as u16))?;
            scanner.expect("]")?;
            Value::Regs(sizes)
        }
        K::ListI32 | K::ListI64 | K::ListF32 | K::ListF64 | K::ListRef | K::ListAny => {
            Value::Regs(list(scanner, |s| scope.entry(s))?)
        }
        K::Remap => Value::Pairs(list(scanner, |s| scope.pair(s))?),
        K::Cases => Value::Cases(cases(scanner, scope)?),
    })
}

fn integer(scanner: &mut Scanner<'_>, low: i128, high: i128, what: &str) -> Parsed<i128> {
    scanner.integer(low, high, what)
}

/// Entries separated by commas, none included, up to something that begins no entry.
fn list<T>(scanner: &mut Scanner<'_>, mut entry: impl FnMut(&mut Scanner<'_>) -> Parsed<T>) -> Parsed<Vec<T>> {
    let mut entries = Vec::new();
    if scanner.at_end() || scanner.sees(")") || scanner.sees("]") {
        return Ok(entries);
    }
    loop {
        entries.push(entry(scanner)?);
        if !scanner.eat(",") {
            return Ok(entries);
        }
    }
}

/// A register as written.
pub struct Register {
    pub encoded: u16,
    pub is_pair: bool,
    pub position: Position,
}

/// `%i2`, `%i2:3`, `%r1` or, moved, `%R1`.
pub fn register(scanner: &mut Scanner<'_>) -> Parsed<Register> {
    let position = scanner.position();
    let what = "a register such as %i0, %i2:3, %r1 or %R1";
    if !scanner.sees("%") {
        return Err(scanner.expected(what));
    }
    let before = scanner.clone();
    let word = scanner.take(|c| c == '%' || c.is_ascii_alphanumeric());
    let number = |digits: &str| digits.parse::<u32>().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()));
    let (Some(bank), Some(ordinal)) = (word.get(1..2), word.get(2..).and_then(number)) else {
        return Err(before.clone().expected(what));
    };
    // Beyond what a module may have that loads, up to what can be written down.
    let limit = if bank == "i" { 0x7FFE } else { u32::from(reg::REF_MASK) - 1 };
    if ordinal > limit {
        let last = if bank == "i" { "%i16383" } else { "%r8191" };
        return Err(Fault::new(position, format!("register {word} does not exist: the last of its kind is {last}")));
    }
    let encoded = match bank {
        "i" => ordinal as u16,
        "r" => reg::REF | ordinal as u16,
        "R" => reg::REF | reg::MOVE | ordinal as u16,
        _ => return Err(before.clone().expected(what)),
    };
    let half = if bank == "i" { scanner.half() } else { None };
    if half.is_some_and(|high| number(high) != Some(ordinal + 1)) {
        return Err(Fault::new(position, format!("the other half of a 64-bit value in {word} is {}", ordinal + 1)));
    }
    Ok(Register { encoded, is_pair: half.is_some(), position })
}

/// A register of the kind that an operand asks for.
pub fn register_of(scanner: &mut Scanner<'_>, kind: K, name: &str) -> Parsed<u16> {
    let mut before = scanner.clone();
    let is_number = before.sees_number();
    let found = register(scanner).map_err(|fault| {
        if !fault.message.starts_with("expected a register") {
            return fault;
        }
        let mut fault = before.expected(wanted(kind, name));
        if is_number {
            fault.message += "; vm.const puts a number into one";
        }
        fault
    })?;
    let is_ref = reg::is_ref(found.encoded);
    let fits = match kind {
        K::I32 | K::F32 => !is_ref && !found.is_pair,
        K::I64 | K::F64 => found.is_pair,
        K::Ref => is_ref && !reg::is_move(found.encoded),
        _ => is_ref,
    };
    if fits { Ok(found.encoded) } else { Err(before.expected(wanted(kind, name))) }
}

fn wanted(kind: K, name: &str) -> String {
    let what = match kind {
        K::I32 | K::F32 => "a 32-bit register such as %i0",
        K::I64 | K::F64 => "a 64-bit register such as %i2:3",
        K::Ref => "a reference register that stays, such as %r0 (it cannot be moved from here),",
        _ => "a reference register such as %r0 or, moved, %R0",
    };
    format!("{what} for `{name}`")
}

/// `^name`, without the sign.
pub fn label(scanner: &mut Scanner<'_>) -> Parsed<String> {
    if !scanner.sees("^") {
        return Err(scanner.expected("a block label such as ^bb1"));
    }
    let mut before = scanner.clone();
    let word = scanner.take(|c| c == '^' || c.is_ascii_alphanumeric() || c == '_');
    match word.get(1..) {
        Some(name) if !name.is_empty() && !name.contains('^') => Ok(name.to_owned()),
        _ => Err(before.expected("a block label such as ^bb1")),
    }
}

/// `, 0: ^bb1(...), 1: ^bb2(...)`
fn cases(scanner: &mut Scanner<'_>, scope: &mut Scope<'_>) -> Parsed<Vec<(u32, Remap)>> {
    let mut cases = Vec::new();
    while scanner.eat(",") {
        let number = cases.len();
        let mut before = scanner.clone();
        let what = format!("case {number} (cases are numbered from 0, without gaps)");
        if scanner.integer(0, u16::MAX.into(), &what)? != number as i128 {
            return Err(before.expected(what));
        }
        scanner.expect(":")?;
        let position = scanner.position();
        let target = scope.labels.refer(label(scanner)?, position);
        scanner.expect("(")?;
        let pairs = list(scanner, |s| scope.pair(s))?;
        scanner.expect(")")?;
        cases.push((target, pairs));
    }
    Ok(cases)
}

/// `@name`, `@module.name` or `@module:3`.
fn callee(scanner: &mut Scanner<'_>) -> Parsed<String> {
    let mut name = scanner.symbol()?;
    if scanner.sees(":") {
        scanner.expect(":")?;
        let ordinal = scanner.integer(0, 0x7FFF_FFFF, "the number of a function")?;
        name = format!("{name}:{ordinal}");
    }
    Ok(name)
}

/// A number in brackets, or the name of a global.
fn global(scanner: &mut Scanner<'_>, op: Op, scope: &mut Scope<'_>) -> Parsed<u32> {
    let position = scanner.position();
    let size = global_size(op);
    if scanner.sees("@") {
        let name = scanner.symbol()?;
        return scope.tables.global(&name, size, position);
    }
    let number = integer(scanner, 0, u32::MAX.into(), "an offset, or the name of a global")? as u32;
    scope.tables.touch(number, size, position)
}
