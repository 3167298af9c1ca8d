//! A function: its signature, and its blocks as bytecode.

use std::collections::HashMap;

use super::module::{Module, attribute, hexadecimal, requirements, text};
use super::operands::{self, Scope};
use super::scanner::{Fault, Parsed, Position, Scanner};
use crate::isa::encode::{Value, encode};
use crate::isa::{self, Instruction, OperandKind as K, reg};

/// Block labels of one function.
#[derive(Default)]
pub struct Labels {
    numbers: HashMap<String, u32>,
    /// By number: name, first mention, and pc once the block is there.
    entries: Vec<(String, Position, Option<u32>)>,
}

impl Labels {
    /// The number that stands for the label in code.
    pub fn refer(&mut self, name: String, position: Position) -> u32 {
        let next = self.entries.len() as u32;
        let entries = &mut self.entries;
        *self.numbers.entry(name).or_insert_with_key(|name| {
            entries.push((name.clone(), position, None));
            next
        })
    }

    fn place(&mut self, name: String, position: Position, pc: u32) -> Parsed<()> {
        let number = self.refer(name, position) as usize;
        let (name, _, at) = &mut self.entries[number];
        if at.is_some() {
            return Err(Fault::new(position, format!("block ^{name} is there twice")));
        }
        *at = Some(pc);
        Ok(())
    }
}

/// Where a number in the code is still to be replaced.
#[derive(Clone, Copy)]
struct Hole {
    at: usize,
    number: u32,
}

/// A function that was read.
pub struct Function {
    /// Of vm.func.
    pub position: Position,
    pub cconv: String,
    pub attrs: Vec<(String, String)>,
    pub code: Vec<u8>,
    pub block_count: u16,
    pub requirements: u32,
    /// Declared i32 and ref registers.
    pub registers: Option<(u16, u16)>,
    /// Cells that the text mentions as pairs in lists, which code does not show.
    pub pair_cells: u32,
    /// Start of each instruction.
    pub positions: Vec<(u32, Position)>,
    callees: Vec<Hole>,
}

impl Function {
    /// Puts the ordinals of callees into the code.
    pub fn patch_callees(&mut self, ordinals: &[u32]) {
        for hole in &self.callees {
            let ordinal = ordinals.get(hole.number as usize).copied().unwrap_or(u32::MAX);
            self.code[hole.at..hole.at + 4].copy_from_slice(&ordinal.to_le_bytes());
        }
    }
}

/// A function while its body is read.
pub struct Body {
    function: Function,
    labels: Labels,
    targets: Vec<Hole>,
    declared_requirements: Option<u32>,
    declared_blocks: Option<u16>,
    /// The open block's label, if one is open.
    open: Option<String>,
    /// The instruction that ended the last block.
    ended: &'static str,
    /// The whole code, when it is given as bytes.
    raw: Option<Vec<u8>>,
}

impl Body {
    /// Reads `@name(...) -> (...) {`.
    pub fn header(scanner: &mut Scanner<'_>, module: &mut Module, start: Position) -> Parsed<Body> {
        let position = scanner.position();
        let name = scanner.symbol()?;
        module.declare_function(&name, position)?;
        let cconv = signature(scanner)?;
        scanner.expect("{")?;
        scanner.expect_end()?;
        let function = Function {
            position: start,
            cconv,
            attrs: Vec::new(),
            code: Vec::new(),
            block_count: 0,
            requirements: 0,
            registers: None,
            pair_cells: 0,
            positions: Vec::new(),
            callees: Vec::new(),
        };
        Ok(Body {
            function,
            labels: Labels::default(),
            targets: Vec::new(),
            declared_requirements: None,
            declared_blocks: None,
            open: None,
            ended: "",
            raw: None,
        })
    }

    /// The error of a function that the text ends in.
    pub fn unterminated(&self) -> Fault {
        Fault::new(self.function.position, "expected '}' at the end of this function, found the end of the file")
    }

    /// Reads a line of the body other than the closing brace.
    pub fn line(&mut self, scanner: &mut Scanner<'_>, module: &mut Module) -> Parsed<()> {
        if scanner.sees("[") {
            // An offset that iree-dump-module --bytecode_offsets prints.
            scanner.expect("[")?;
            scanner.take(|c| c.is_ascii_hexdigit());
            scanner.expect("]")?;
        }
        if scanner.sees("^") {
            return self.block(scanner);
        }
        if scanner.sees(".") {
            return self.directive(scanner);
        }
        self.instruction(scanner, module)
    }

    fn directive(&mut self, scanner: &mut Scanner<'_>) -> Parsed<()> {
        let mut before = scanner.clone();
        if !self.function.code.is_empty() {
            return Err(before.expected("an instruction (directives stand before the first block)"));
        }
        match scanner.take(|c| c == '.' || c.is_ascii_alphanumeric()) {
            ".attr" => self.function.attrs.push(attribute(scanner)?),
            ".cconv" => self.function.cconv = text(scanner)?,
            ".requires" => self.declared_requirements = Some(requirements(scanner)?),
            ".bytecode" => self.raw = Some(hexadecimal(scanner)?),
            ".blocks" => {
                self.declared_blocks = Some(scanner.integer(0, u16::MAX.into(), "a number of blocks")? as u16);
            }
            ".registers" => {
                scanner.expect("i32")?;
                let cells = scanner.integer(0, u16::MAX.into(), "a number of registers")? as u16;
                scanner.expect("ref")?;
                let refs = scanner.integer(0, u16::MAX.into(), "a number of registers")? as u16;
                self.function.registers = Some((cells, refs));
            }
            _ => return Err(before.expected(".attr, .cconv, .registers, .requires or a block")),
        }
        scanner.expect_end()
    }

    fn block(&mut self, scanner: &mut Scanner<'_>) -> Parsed<()> {
        let position = scanner.position();
        let name = operands::label(scanner)?;
        scanner.expect(":")?;
        scanner.expect_end()?;
        if let Some(open) = &self.open {
            let text = format!("expected block ^{open} to end in vm.br, vm.cond_br, vm.return, ... before the next");
            return Err(Fault::new(position, text));
        }
        self.start_block(name, position)
    }

    fn start_block(&mut self, name: String, position: Position) -> Parsed<()> {
        let pc = self.pc(position)?;
        self.labels.place(name.clone(), position, pc)?;
        self.open = Some(name);
        self.function.block_count = match self.function.block_count.checked_add(1) {
            Some(count) => count,
            None => return Err(Fault::new(position, "too many blocks: at most 65535 in a function")),
        };
        self.function.code.push(isa::BLOCK);
        Ok(())
    }

    fn pc(&self, position: Position) -> Parsed<u32> {
        let length = self.function.code.len();
        if length > 0x00FF_FFFE {
            return Err(Fault::new(position, "the function is too long: its bytecode ends at 00FFFFFE"));
        }
        Ok(length as u32)
    }

    fn instruction(&mut self, scanner: &mut Scanner<'_>, module: &mut Module) -> Parsed<()> {
        let position = scanner.position();
        if self.open.is_none() {
            if !self.function.code.is_empty() {
                let text = format!("expected a block label after vm.{}, which ends its block", self.ended);
                return Err(Fault::new(position, text));
            }
            self.start_block("bb0".to_owned(), position)?;
        }
        let results = results(scanner)?;
        let row = mnemonic(scanner)?;
        let mut values: Vec<Option<Value>> = vec![None; row.operands.len()];
        if row.places_results() {
            if let Some((at, _)) = &results {
                let text = format!("the results of vm.{} stand behind it: ... -> ^bb1(%i0)", row.mnemonic);
                return Err(Fault::new(*at, text));
            }
        } else {
            assign_results(results.as_ref(), row, &mut values, position)?;
        }
        let mut scope =
            Scope { tables: &mut module.tables, labels: &mut self.labels, cells: &mut self.function.pair_cells };
        operands::body(scanner, row, &mut values, &mut scope)?;
        for register in results.iter().flat_map(|(_, list)| list).filter(|r| r.is_pair) {
            self.function.pair_cells = self.function.pair_cells.max(u32::from(register.encoded) + 2);
        }
        self.emit(row, values, position)?;
        if row.terminator {
            self.open = None;
            self.ended = row.mnemonic;
        }
        Ok(())
    }

    fn emit(&mut self, row: &'static Instruction, values: Vec<Option<Value>>, position: Position) -> Parsed<()> {
        let pc = self.pc(position)?;
        let missing = |kind: K| match kind {
            K::Remap => Value::Pairs(Vec::new()),
            K::Cases => Value::Cases(Vec::new()),
            K::ImmU16 => Value::Imm(0),
            _ => Value::Regs(Vec::new()),
        };
        let values: Vec<Value> =
            values.into_iter().zip(row.operands).map(|(v, o)| v.unwrap_or_else(|| missing(o.kind))).collect();
        let Function { code, callees, positions, requirements, .. } = &mut self.function;
        let targets = &mut self.targets;
        let result = encode(code, row, &values, |at, kind, number| match kind {
            K::Pc => targets.push(Hole { at, number }),
            K::Func => callees.push(Hole { at, number }),
            _ => {}
        });
        result.map_err(|status| Fault::new(position, status.message()))?;
        *requirements |= row.set.feature();
        positions.push((pc, position));
        Ok(())
    }

    /// Ends the function at its closing brace.
    pub fn finish(mut self, position: Position) -> Parsed<Function> {
        self.function.block_count = self.declared_blocks.unwrap_or(self.function.block_count);
        if let (Some(raw), true) = (&self.raw, self.function.code.is_empty()) {
            self.function.code = raw.clone();
            self.function.requirements = self.declared_requirements.unwrap_or(0);
            return Ok(self.function);
        }
        if self.open.is_some() || self.function.code.is_empty() {
            let text = "expected vm.return, vm.br or another instruction that ends the block before '}'";
            return Err(Fault::new(position, text));
        }
        for hole in &self.targets {
            let (name, first, pc) = &self.labels.entries[hole.number as usize];
            let Some(pc) = pc else { return Err(Fault::new(*first, format!("block ^{name} does not exist"))) };
            self.function.code[hole.at..hole.at + 4].copy_from_slice(&pc.to_le_bytes());
        }
        if let Some(bits) = self.declared_requirements {
            self.function.requirements = bits;
        }
        Ok(self.function)
    }
}

type Results = (Position, Vec<operands::Register>);

/// `%i0, %r1 =`, if it is there.
fn results(scanner: &mut Scanner<'_>) -> Parsed<Option<Results>> {
    if !scanner.sees("%") {
        return Ok(None);
    }
    let position = scanner.position();
    let mut list = Vec::new();
    loop {
        list.push(operands::register(scanner)?);
        if !scanner.eat(",") {
            break;
        }
    }
    scanner.expect("=")?;
    Ok(Some((position, list)))
}

fn assign_results(
    results: Option<&Results>,
    row: &'static Instruction,
    values: &mut [Option<Value>],
    position: Position,
) -> Parsed<()> {
    let wanted: Vec<usize> = (0..row.operands.len()).filter(|i| row.operands[*i].result).collect();
    let given = results.map_or(0, |(_, list)| list.len());
    match (&wanted[..], results) {
        ([], None) => Ok(()),
        ([], Some((at, _))) => Err(Fault::new(*at, format!("vm.{} has no result", row.mnemonic))),
        ([index], results) if row.operands[*index].kind == K::ListAny => {
            let list = results.map_or(Vec::new(), |(_, list)| list.iter().map(|r| r.encoded).collect());
            values[*index] = Some(Value::Regs(list));
            Ok(())
        }
        ([_], None) => {
            Err(Fault::new(position, format!("expected a result register and '=' before vm.{}", row.mnemonic)))
        }
        ([index], Some((at, list))) => {
            let [register] = &list[..] else {
                return Err(Fault::new(*at, format!("vm.{} has one result, {given} registers given", row.mnemonic)));
            };
            values[*index] = Some(Value::Reg(result(register, &row.operands[*index], row)?));
            Ok(())
        }
        _ => Ok(()),
    }
}

fn result(register: &operands::Register, operand: &isa::Operand, row: &Instruction) -> Parsed<u16> {
    let is_ref = reg::is_ref(register.encoded);
    let (fits, what) = match operand.kind {
        K::I32 | K::F32 => (!is_ref && !register.is_pair, "a 32-bit register such as %i0"),
        K::I64 | K::F64 => (register.is_pair, "a 64-bit register such as %i2:3"),
        _ => (is_ref, "a reference register such as %r0"),
    };
    if fits {
        return Ok(register.encoded);
    }
    Err(Fault::new(register.position, format!("expected {what} for the result of vm.{}", row.mnemonic)))
}

fn mnemonic(scanner: &mut Scanner<'_>) -> Parsed<&'static Instruction> {
    let position = scanner.position();
    let word = scanner.take(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
    if word.is_empty() {
        return Err(scanner.expected("an instruction such as vm.add.i32"));
    }
    let name = word.strip_prefix("vm.").unwrap_or(word);
    isa::by_mnemonic(name).ok_or_else(|| {
        Fault::new(position, format!("unknown instruction vm.{name}; see docs/reference/instructions.md"))
    })
}

/// `(%i0: i32, %r0: !vm.buffer) -> (i64)` as a calling convention. Registers are numbered one after the other, 64-bit
/// ones from the next number or from the next even one.
fn signature(scanner: &mut Scanner<'_>) -> Parsed<String> {
    let mut cconv = "0".to_owned();
    let (mut dense, mut aligned, mut refs) = (0u32, 0u32, 0u32);
    scanner.expect("(")?;
    if !scanner.eat(")") {
        loop {
            let register = operands::register(scanner)?;
            scanner.expect(":")?;
            let letter = letter(scanner)?;
            let at = u32::from(register.encoded);
            let (fits, wanted) = match letter {
                'r' => (at == u32::from(reg::REF) | refs, format!("%r{refs}")),
                'i' | 'f' => (!register.is_pair && (at == dense || at == aligned), format!("%i{aligned}")),
                _ => {
                    let even = aligned.next_multiple_of(2);
                    (register.is_pair && (at == dense || at == even), format!("%i{even}:{}", even + 1))
                }
            };
            if !fits {
                let text = format!("expected {wanted}: argument registers are numbered in order");
                return Err(Fault::new(register.position, text));
            }
            match letter {
                'r' => refs += 1,
                'i' | 'f' => (dense, aligned) = (dense + 1, aligned + 1),
                _ => (dense, aligned) = (dense + 2, aligned.next_multiple_of(2) + 2),
            }
            cconv.push(letter);
            if !scanner.eat(",") {
                break;
            }
        }
        scanner.expect(")")?;
    }
    if cconv.len() == 1 {
        cconv.push('v');
    }
    scanner.expect("->")?;
    scanner.expect("(")?;
    cconv.push('_');
    if scanner.eat(")") {
        cconv.push('v');
        return Ok(cconv);
    }
    loop {
        cconv.push(letter(scanner)?);
        if !scanner.eat(",") {
            break;
        }
    }
    scanner.expect(")")?;
    Ok(cconv)
}

/// The letter of a type in calling conventions.
fn letter(scanner: &mut Scanner<'_>) -> Parsed<char> {
    let mut before = scanner.clone();
    Ok(match scanner.type_name()? {
        "i32" => 'i',
        "i64" => 'I',
        "f32" => 'f',
        "f64" => 'F',
        name if name.starts_with('!') => 'r',
        _ => return Err(before.expected("i32, i64, f32, f64 or a reference type such as !vm.buffer")),
    })
}
