//! What a module declares outside of its functions.

use std::collections::{HashMap, HashSet};

use super::function::Function;
use super::scanner::{Fault, Parsed, Position, Scanner, check_type_name};
use crate::cconv::CallingConvention;
use crate::isa::features;

/// Marks an import in a function ordinal.
const IMPORT_BIT: u32 = 0x8000_0000;
const OPTIONAL: u32 = 2;
const REQUIRED: u32 = 1;

/// A function of another module.
pub struct Import {
    pub name: String,
    pub cconv: String,
    pub flags: u32,
    pub position: Position,
}

/// A module that this one needs.
pub struct Dependency {
    pub name: String,
    pub version: u32,
    pub flags: u32,
}

struct Export {
    name: String,
    target: Option<String>,
    /// The function that follows the directive.
    next: usize,
    position: Position,
}

/// Names that functions refer to.
#[derive(Default)]
pub struct Tables {
    pub types: Vec<String>,
    /// Where each is mentioned first.
    pub type_positions: Vec<Position>,
    type_ordinals: HashMap<String, u32>,
    /// Size (None for a reference) and number among those of its size.
    globals: HashMap<String, (Option<u32>, u32)>,
    /// Number of globals of 4 bytes, of 8 bytes, and of references.
    counts: [u32; 3],
    /// Callees as written, by the number that stands in the code until all names are known.
    callees: Vec<(String, Position)>,
    callee_numbers: HashMap<String, u32>,
    /// Bytes and references of module state.
    pub state: (u32, u32),
}

impl Tables {
    /// The ordinal of a type, which is added when it is new.
    pub fn type_ordinal(&mut self, name: &str, position: Position) -> u32 {
        if let Some(ordinal) = self.type_ordinals.get(name) {
            return *ordinal;
        }
        let ordinal = self.types.len() as u32;
        self.types.push(name.to_owned());
        self.type_positions.push(position);
        self.type_ordinals.insert(name.to_owned(), ordinal);
        ordinal
    }

    /// The number of a callee.
    pub fn callee(&mut self, name: String, position: Position) -> u32 {
        let next = self.callees.len() as u32;
        let callees = &mut self.callees;
        *self.callee_numbers.entry(name).or_insert_with_key(|name| {
            callees.push((name.clone(), position));
            next
        })
    }

    /// Where the global `name` is; `size` is what the instruction accesses, None for a reference.
    pub fn global(&mut self, name: &str, size: Option<u32>, position: Position) -> Parsed<u32> {
        let kind = |size: Option<u32>| size.map_or("a reference".to_owned(), |bytes| format!("{bytes} bytes"));
        match self.globals.get(name) {
            Some((have, number)) if *have == size => Ok(self.place(size, *number)),
            Some((have, _)) => Err(Fault::new(
                position,
                format!("global @{name} is {}; this instruction needs {}", kind(*have), kind(size)),
            )),
            None => Err(unknown("global", name, self.globals.keys(), position)),
        }
    }

    /// Small globals come first, so that none needs padding before it.
    fn place(&self, size: Option<u32>, number: u32) -> u32 {
        match size {
            Some(8) => (4 * self.counts[0]).next_multiple_of(8) + 8 * number,
            Some(size) => size * number,
            None => number,
        }
    }

    /// Makes module state large enough for all globals, once they are known.
    pub fn place_globals(&mut self) {
        let [small, large, refs] = self.counts;
        let bytes = if large == 0 { 4 * small } else { self.place(Some(8), large) };
        self.state = (self.state.0.max(bytes), self.state.1.max(refs));
    }

    /// Makes module state large enough for an access at a fixed place.
    pub fn touch(&mut self, at: u32, size: Option<u32>, position: Position) -> Parsed<u32> {
        let end = u64::from(at) + u64::from(size.unwrap_or(1));
        let Some(end) = u32::try_from(end).ok().filter(|end| *end <= i32::MAX as u32) else {
            return Err(Fault::new(position, format!("{at} is too far: module state ends at {}", i32::MAX)));
        };
        let total = if size.is_some() { &mut self.state.0 } else { &mut self.state.1 };
        *total = (*total).max(end);
        Ok(at)
    }
}

/// The error that a name does not exist, with the name that was probably meant.
pub fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a String>, position: Position) -> Fault {
    let mut names: Vec<&String> = known.collect();
    names.sort();
    let nearest = names.iter().map(|n| (distance(name, n), *n)).min().filter(|(d, _)| *d * 3 <= name.len().max(3));
    let hint = match nearest {
        Some((_, near)) => format!("; did you mean @{near}?"),
        None => String::new(),
    };
    Fault::new(position, format!("unknown {what} @{name}{hint}"))
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let best = (diagonal + usize::from(x != *y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = best;
        }
    }
    row[b.len()]
}

/// A module while it is read.
#[derive(Default)]
pub struct Module {
    pub name: Option<String>,
    /// Of vm.module.
    pub position: Position,
    pub version: u32,
    pub attrs: Vec<(String, String)>,
    pub requirements: Option<u32>,
    pub dependencies: Vec<Dependency>,
    pub imports: Vec<Import>,
    pub rodata: Vec<Vec<u8>>,
    pub functions: Vec<Function>,
    pub tables: Tables,
    exports: Vec<Export>,
    export_names: HashSet<String>,
    import_numbers: HashMap<String, u32>,
    function_numbers: HashMap<String, (usize, Position)>,
}

impl Module {
    /// Reads a directive other than `vm.func`.
    pub fn directive(&mut self, scanner: &mut Scanner<'_>) -> Parsed<()> {
        let position = scanner.position();
        let word = scanner.take(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
        if word == "vm.module" {
            return self.header(scanner, position);
        }
        if self.name.is_none() {
            return Err(Fault::new(position, format!("expected vm.module @name before anything else, found '{word}'")));
        }
        if !self.functions.is_empty() && word != "vm.export" && DIRECTIVES.contains(&word) {
            return Err(Fault::new(position, format!("{word} must stand before the first function")));
        }
        match word {
            "vm.type" => self.declare_type(scanner),
            "vm.import" => self.import(scanner),
            "vm.rodata" => self.segment(scanner),
            "vm.global.i32" | "vm.global.f32" => self.global(scanner, Some(4)),
            "vm.global.i64" | "vm.global.f64" => self.global(scanner, Some(8)),
            "vm.global.ref" => self.global(scanner, None),
            "vm.export" => self.export(scanner, position),
            "vm.attr" => attribute(scanner).map(|attr| self.attrs.push(attr)),
            "vm.dependency" => self.dependency(scanner),
            "vm.requires" => {
                self.requirements = Some(requirements(scanner)?);
                Ok(())
            }
            "vm.state" => self.state(scanner),
            _ => Err(Fault::new(
                position,
                format!("expected a directive (vm.func, {}), found '{word}'", DIRECTIVES[1..].join(", ")),
            )),
        }?;
        scanner.expect_end()
    }

    fn header(&mut self, scanner: &mut Scanner<'_>, position: Position) -> Parsed<()> {
        if let Some(name) = &self.name {
            return Err(Fault::new(position, format!("the module is @{name} already: one file holds one module")));
        }
        self.position = position;
        self.name = Some(scanner.symbol()?);
        if scanner.eat("version") {
            self.version = scanner.integer(0, u32::MAX.into(), "a version number")? as u32;
        }
        if scanner.at_end() { Ok(()) } else { Err(scanner.expected("'version' or the end of the line")) }
    }

    fn declare_type(&mut self, scanner: &mut Scanner<'_>) -> Parsed<()> {
        let position = scanner.position();
        let name = scanner.take_line();
        if name.is_empty() {
            return Err(scanner.expected("a type such as i32 or !vm.buffer"));
        }
        check_type_name(name, position)?;
        if self.tables.type_ordinals.contains_key(name) {
            return Err(Fault::new(position, format!("type {name} is declared twice")));
        }
        self.tables.type_ordinal(name, position);
        Ok(())
    }

    fn import(&mut self, scanner: &mut Scanner<'_>) -> Parsed<()> {
        let flags = if scanner.eat("optional") { OPTIONAL } else { REQUIRED };
        let position = scanner.position();
        let name = scanner.symbol()?;
        let number = self.imports.len() as u32;
        if self.import_numbers.insert(name.clone(), number).is_some() {
            return Err(Fault::new(position, format!("@{name} is imported twice")));
        }
        scanner.expect("cconv")?;
        let cconv = text(scanner)?;
        self.imports.push(Import { name, cconv, flags, position });
        Ok(())
    }

    fn segment(&mut self, scanner: &mut Scanner<'_>) -> Parsed<()> {
        scanner.expect("[")?;
        let next = self.rodata.len();
        let mut before = scanner.clone();
        if scanner.integer(0, u32::MAX.into(), "a segment number")? != next as i128 {
            return Err(before.expected(format!("segment {next} (segments are numbered in order)")));
        }
        scanner.expect("]")?;
        scanner.expect("=")?;
        let bytes = if scanner.sees("\"") || scanner.sees("c\"") { scanner.string()? } else { hexadecimal(scanner)? };
        self.rodata.push(bytes);
        Ok(())
    }

    fn global(&mut self, scanner: &mut Scanner<'_>, size: Option<u32>) -> Parsed<()> {
        scanner.eat("private");
        scanner.eat("mutable");
        let position = scanner.position();
        let name = scanner.symbol()?;
        if self.tables.globals.contains_key(&name) {
            return Err(Fault::new(position, format!("global @{name} is declared twice")));
        }
        if scanner.eat("=") {
            let mut before = scanner.clone();
            if scanner.take(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+')) != "0" {
                return Err(before.expected("0: other initial values are set by a function @__init"));
            }
        }
        if scanner.eat(":") {
            scanner.type_name()?;
        }
        let count = &mut self.tables.counts[match size {
            Some(4) => 0,
            Some(_) => 1,
            None => 2,
        }];
        if *count >= 1 << 24 {
            return Err(Fault::new(position, "too many globals"));
        }
        self.tables.globals.insert(name, (size, *count));
        *count += 1;
        Ok(())
    }

    fn export(&mut self, scanner: &mut Scanner<'_>, position: Position) -> Parsed<()> {
        let name = scanner.symbol()?;
        if !self.export_names.insert(name.clone()) {
            return Err(Fault::new(position, format!("@{name} is exported twice")));
        }
        let target = if scanner.eat("=") { Some(scanner.symbol()?) } else { None };
        self.exports.push(Export { name, target, next: self.functions.len(), position });
        Ok(())
    }

    fn dependency(&mut self, scanner: &mut Scanner<'_>) -> Parsed<()> {
        let flags = if scanner.eat("optional") { OPTIONAL } else { REQUIRED };
        let name = scanner.symbol()?;
        scanner.expect("version")?;
        let version = scanner.integer(0, u32::MAX.into(), "a version number")? as u32;
        self.dependencies.push(Dependency { name, version, flags });
        Ok(())
    }

    fn state(&mut self, scanner: &mut Scanner<'_>) -> Parsed<()> {
        scanner.expect("bytes")?;
        let bytes = scanner.integer(0, i32::MAX.into(), "a number of bytes")? as u32;
        scanner.expect("refs")?;
        let refs = scanner.integer(0, i32::MAX.into(), "a number of references")? as u32;
        let state = &mut self.tables.state;
        *state = (state.0.max(bytes), state.1.max(refs));
        Ok(())
    }

    /// Makes the name of the next function known.
    pub fn declare_function(&mut self, name: &str, position: Position) -> Parsed<()> {
        let number = self.functions.len();
        if let Some((_, first)) = self.function_numbers.insert(name.to_owned(), (number, position)) {
            return Err(Fault::new(
                position,
                format!("function @{name} is defined twice, first in line {}", first.line),
            ));
        }
        Ok(())
    }

    /// (name, ordinal) of all exports.
    pub fn resolved_exports(&self) -> Parsed<Vec<(String, u32)>> {
        let resolve = |export: &Export| {
            let name = export.target.as_ref().unwrap_or(&export.name);
            let ordinal = match self.function_numbers.get(name) {
                Some((ordinal, _)) => *ordinal,
                // Two names of one function: both stand before it.
                None if export.target.is_none() && export.next < self.functions.len() => export.next,
                None => return Err(unknown("function", name, self.function_numbers.keys(), export.position)),
            };
            Ok((export.name.clone(), ordinal as u32))
        };
        self.exports.iter().map(resolve).collect()
    }

    /// The function ordinals of all callees, by their numbers.
    pub fn resolved_callees(&self) -> Parsed<Vec<u32>> {
        self.tables.callees.iter().map(|(name, position)| self.resolve(name, *position)).collect()
    }

    fn resolve(&self, name: &str, position: Position) -> Parsed<u32> {
        let own = self.name.as_deref().unwrap_or_default();
        if let Some((module, ordinal)) = name.rsplit_once(':') {
            let ordinal: u32 = ordinal.parse().unwrap_or(u32::MAX);
            if module != own {
                return Err(Fault::new(position, format!("functions are numbered in @{own} only, not in @{module}")));
            }
            if ordinal as usize >= self.functions.len() {
                let count = self.functions.len();
                return Err(Fault::new(position, format!("function {ordinal} does not exist: the module has {count}")));
            }
            return Ok(ordinal);
        }
        if let Some(ordinal) = self.import_numbers.get(name) {
            return Ok(ordinal | IMPORT_BIT);
        }
        let local = name.strip_prefix(own).and_then(|rest| rest.strip_prefix('.'));
        let found =
            local.and_then(|local| self.function_numbers.get(local)).or_else(|| self.function_numbers.get(name));
        if let Some((ordinal, _)) = found {
            return Ok(*ordinal as u32);
        }
        let names = self.function_numbers.keys().chain(self.imports.iter().map(|import| &import.name));
        Err(unknown("function", name, names, position))
    }

    /// The calling convention of a callee.
    pub fn cconv_of(&self, ordinal: u32) -> CallingConvention {
        let text = if ordinal & IMPORT_BIT == 0 {
            self.functions.get(ordinal as usize).map(|f| &f.cconv)
        } else {
            self.imports.get((ordinal & !IMPORT_BIT) as usize).map(|i| &i.cconv)
        };
        text.and_then(|text| CallingConvention::parse(text).ok()).unwrap_or_default()
    }
}

const DIRECTIVES: [&str; 14] = [
    "vm.module",
    "vm.type",
    "vm.import",
    "vm.export",
    "vm.rodata",
    "vm.global.i32",
    "vm.global.i64",
    "vm.global.f32",
    "vm.global.f64",
    "vm.global.ref",
    "vm.attr",
    "vm.dependency",
    "vm.requires",
    "vm.state",
];

/// A quoted text.
pub fn text(scanner: &mut Scanner<'_>) -> Parsed<String> {
    let position = scanner.position();
    String::from_utf8(scanner.string()?).map_err(|_| Fault::new(position, "expected text in UTF-8"))
}

/// `"key" = "value"`
pub fn attribute(scanner: &mut Scanner<'_>) -> Parsed<(String, String)> {
    let key = text(scanner)?;
    scanner.expect("=")?;
    Ok((key, text(scanner)?))
}

/// `ext_f32 yield 0x10` as bits, up to the end of the line.
pub fn requirements(scanner: &mut Scanner<'_>) -> Parsed<u32> {
    let mut bits = 0;
    while !scanner.at_end() {
        let named = [
            ("ext_f32", features::EXT_F32),
            ("ext_f64", features::EXT_F64),
            ("yield", features::YIELD),
            ("unwind", features::UNWIND),
        ];
        bits |= match named.iter().find(|(name, _)| scanner.eat(name)) {
            Some((_, bit)) => *bit,
            None => scanner.integer(0, u32::MAX.into(), "ext_f32, ext_f64, yield, unwind or bits")? as u32,
        };
    }
    Ok(bits)
}

pub fn hexadecimal(scanner: &mut Scanner<'_>) -> Parsed<Vec<u8>> {
    let mut before = scanner.clone();
    let digits = scanner.take(|c| c.is_ascii_alphanumeric()).as_bytes();
    if !digits.len().is_multiple_of(2) {
        return Err(before.expected("an even number of hexadecimal digits"));
    }
    let value = |digit: u8| char::from(digit).to_digit(16).map(|v| v as u8);
    digits
        .as_chunks::<2>()
        .0
        .iter()
        .map(|[high, low]| Some(value(*high)? << 4 | value(*low)?))
        .collect::<Option<Vec<u8>>>()
        .ok_or_else(|| before.expected("hexadecimal digits"))
}
