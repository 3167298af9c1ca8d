//! Reads one line of assembly from left to right and says, when something else is there, what was expected and where.

use crate::status::{Result, Status};

/// Where a piece of text is; both count from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Line.
    pub line: u32,
    /// Column, in characters.
    pub column: u32,
}

/// An error in the text, before the file's name is known. Orders by how far reading got.
#[derive(Clone, Debug)]
pub struct Fault {
    pub position: Position,
    pub message: String,
}

pub type Parsed<T> = std::result::Result<T, Fault>;

impl Fault {
    pub fn new(position: Position, message: impl Into<String>) -> Fault {
        Fault { position, message: message.into() }
    }

    /// `file:line:column: message`, with the line and a caret below it.
    pub fn into_status(self, file: &str, text: &str) -> Status {
        let Position { line, column } = self.position;
        let source = text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default();
        let shown: String = source.chars().take(200).map(|c| if c == '\t' { ' ' } else { c }).collect();
        let caret = " ".repeat(column.saturating_sub(1).min(200) as usize);
        Status::invalid_argument(format!("{file}:{line}:{column}: {}\n{shown}\n{caret}^", self.message))
    }
}

/// A place in a line.
#[derive(Clone)]
pub struct Scanner<'a> {
    line: &'a str,
    number: u32,
    at: usize,
    /// Up to where characters are counted, and how many there are: a long line has many positions.
    counted: (usize, u32),
}

impl<'a> Scanner<'a> {
    pub fn new(line: &'a str, number: u32) -> Scanner<'a> {
        Scanner { line, number, at: 0, counted: (0, 0) }
    }

    fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    /// Steps over blanks, and over a comment to the end.
    pub fn skip(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        let rest = self.rest();
        if rest.starts_with("//") || rest.starts_with('#') {
            self.at = self.line.len();
        }
    }

    /// Here, after blanks.
    pub fn position(&mut self) -> Position {
        self.skip();
        let (from, before) = if self.counted.0 <= self.at { self.counted } else { (0, 0) };
        self.counted = (self.at, before + self.line[from..self.at].chars().count() as u32);
        Position { line: self.number, column: self.counted.1 + 1 }
    }

    pub fn at_end(&mut self) -> bool {
        self.skip();
        self.rest().is_empty()
    }

    /// Whether `text` comes next; blanks before it do not count.
    pub fn sees(&mut self, text: &str) -> bool {
        self.skip();
        self.rest().starts_with(text)
    }

    /// Whether a number comes next, by its first character.
    pub fn sees_number(&mut self) -> bool {
        self.skip();
        self.rest().trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit())
    }

    /// Steps over `text` if it comes next. A word must end where `text` ends.
    pub fn eat(&mut self, text: &str) -> bool {
        if !self.sees(text) {
            return false;
        }
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let after = self.rest()[text.len()..].chars().next();
        if text.chars().next_back().is_some_and(is_word) && after.is_some_and(is_word) {
            return false;
        }
        self.at += text.len();
        true
    }

    /// `:3` next, as the other half of a register pair: the digits. Blanks may stand around the colon.
    pub fn half(&mut self) -> Option<&'a str> {
        let digits = self.rest().trim_start().strip_prefix(':')?.trim_start();
        let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        if length == 0 {
            return None;
        }
        self.at = self.line.len() - digits.len() + length;
        Some(&digits[..length])
    }

    /// The error that `what` is expected here.
    pub fn expected(&mut self, what: impl AsRef<str>) -> Fault {
        let position = self.position();
        Fault::new(position, format!("expected {}, found {}", what.as_ref(), self.found()))
    }

    fn found(&self) -> String {
        let rest = self.rest();
        let end = rest.char_indices().find(|(i, c)| *i > 0 && (c.is_whitespace() || *c == ',' || *c == ')'));
        match &rest[..end.map_or(rest.len(), |(i, _)| i)] {
            "" => "the end of the line".to_owned(),
            word => format!("'{}'", word.chars().take(40).collect::<String>()),
        }
    }

    pub fn expect(&mut self, text: &str) -> Parsed<()> {
        if self.eat(text) { Ok(()) } else { Err(self.expected(format!("'{text}'"))) }
    }

    pub fn expect_end(&mut self) -> Parsed<()> {
        if self.at_end() { Ok(()) } else { Err(self.expected("the end of the line")) }
    }

    /// The longest run of characters that satisfy `is`.
    pub fn take(&mut self, is: impl Fn(char) -> bool) -> &'a str {
        self.skip();
        let rest = self.rest();
        let length = rest.find(|c| !is(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Everything up to where `text` comes.
    pub fn take_until(&mut self, text: &str) -> Parsed<&'a str> {
        self.skip();
        let Some(length) = self.rest().find(text) else { return Err(self.expected(format!("'{text}'"))) };
        let taken = &self.rest()[..length];
        self.at += length;
        Ok(taken)
    }

    /// Everything up to the end of the line or a comment, without blanks around it.
    pub fn take_line(&mut self) -> &'a str {
        self.skip();
        let rest = self.rest();
        self.at = self.line.len();
        rest[..comment(rest).unwrap_or(rest.len())].trim_end()
    }

    /// `@name` or `@"name"`, without the sign.
    pub fn symbol(&mut self) -> Parsed<String> {
        if !self.sees("@") {
            return Err(self.expected("a name that begins with '@'"));
        }
        self.at += 1;
        if self.rest().starts_with('"') {
            self.at += 1;
            return String::from_utf8(self.escaped()?)
                .map_err(|_| Fault::new(self.position(), "expected a name in UTF-8"));
        }
        let name = self.take(is_symbol);
        if name.is_empty() {
            return Err(self.expected("a name after '@' (letters, digits, and _ . $ - ; quote others: @\"a b\")"));
        }
        Ok(name.to_owned())
    }

    /// A type name: brackets may hold anything but comments.
    pub fn type_name(&mut self) -> Parsed<&'a str> {
        self.skip();
        let (rest, mut depth, mut quoted) = (self.rest(), 0, false);
        let end = rest.char_indices().find(|(i, c)| {
            match c {
                '"' => quoted = !quoted,
                '#' if !quoted => return true,
                '/' if !quoted && rest[*i..].starts_with("//") => return true,
                '<' | '(' => depth += 1,
                '>' | ')' if depth > 0 => depth -= 1,
                '>' | ')' | ']' | '}' | ',' => return depth == 0,
                c if c.is_whitespace() => return depth == 0,
                _ => {}
            }
            false
        });
        let name = &rest[..end.map_or(rest.len(), |(i, _)| i)];
        if name.is_empty() || depth > 0 {
            return Err(self.expected("a type such as i32 or !vm.buffer"));
        }
        check_type_name(name, self.position())?;
        self.at += name.len();
        Ok(name)
    }

    /// A string: `"..."` as it stands, or `c"..."` with escapes.
    pub fn string(&mut self) -> Parsed<Vec<u8>> {
        self.string_before(Some(""))
    }

    /// A string that `mark` or, without one, the end of the line follows if it has quotes in it (as disassembly prints
    /// them).
    pub fn string_before(&mut self, mark: Option<&str>) -> Parsed<Vec<u8>> {
        if self.sees("c\"") {
            self.at += 2;
            return self.escaped();
        }
        if !self.sees("\"") {
            return Err(self.expected("a string in double quotes"));
        }
        let rest = &self.rest()[1..];
        let ends = |end: &usize| {
            let mut after = Scanner { at: self.at + end + 2, ..*self };
            mark.is_some_and(|mark| after.sees(mark)) || after.at_end()
        };
        let quotes = || rest.match_indices('"').map(|(i, _)| i);
        let Some(length) = quotes().find(ends).or_else(|| quotes().next()) else {
            return Err(self.expected("a string that ends with '\"'"));
        };
        self.at += length + 2;
        Ok(rest.as_bytes()[..length].to_vec())
    }

    fn escaped(&mut self) -> Parsed<Vec<u8>> {
        let start = self.at;
        let mut bytes = Vec::new();
        let mut chars = self.rest().char_indices();
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    self.at = start + i + 1;
                    return Ok(bytes);
                }
                '\\' => {
                    let here = start + i;
                    let value = match chars.next().map(|(_, c)| c) {
                        Some(c @ ('\\' | '"')) => Some(c as u8),
                        Some('n') => Some(b'\n'),
                        Some('r') => Some(b'\r'),
                        Some('t') => Some(b'\t'),
                        Some('x') => self.line.get(here + 2..here + 4).and_then(|hex| u8::from_str_radix(hex, 16).ok()),
                        _ => None,
                    };
                    let Some(value) = value else {
                        self.at = here;
                        return Err(self.expected("an escape: \\\\ \\\" \\n \\r \\t or \\x and two hexadecimal digits"));
                    };
                    if self.line.as_bytes().get(here + 1) == Some(&b'x') {
                        chars.nth(1);
                    }
                    bytes.push(value);
                }
                c => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        Err(self.expected("a string that ends with '\"'"))
    }

    /// A whole number from `low` to `high`, decimal or 0x hexadecimal.
    pub fn integer(&mut self, low: i128, high: i128, what: &str) -> Parsed<i128> {
        let before = self.clone();
        let negative = match self.take(|c| c == '-' || c == '+') {
            "" | "+" => false,
            "-" => true,
            _ => return Err(before.clone().expected(what)),
        };
        let digits = self.take(|c| c.is_ascii_alphanumeric() || c == '_');
        let parsed = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(hex) => i128::from_str_radix(hex, 16),
            None if digits.len() > 1 && digits.starts_with('0') => {
                return Err(before
                    .clone()
                    .expected(format!("{what} without leading zeros (octal numbers are not read)")));
            }
            None => digits.parse(),
        };
        let Ok(magnitude) = parsed else { return Err(before.clone().expected(what)) };
        let value = if negative { -magnitude } else { magnitude };
        if value < low || value > high {
            return Err(before.clone().expected(format!("{what} from {low} to {high}")));
        }
        Ok(value)
    }
}

/// Where a comment begins: at the first `//` or `#` that is not in quotes.
fn comment(text: &str) -> Option<usize> {
    let mut quoted = false;
    text.bytes().enumerate().position(|(i, byte)| {
        quoted ^= byte == b'"';
        !quoted && (byte == b'#' || text.as_bytes()[i..].starts_with(b"//"))
    })
}

/// Refuses a type that would not be read back as it was.
pub fn check_type_name(name: &str, position: Position) -> Parsed<()> {
    if name.contains(char::is_control) {
        return Err(Fault::new(position, format!("type {name:?} has characters that do not print")));
    }
    Ok(())
}

/// Characters of names that need no quotes.
pub fn is_symbol(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-')
}

/// `"text"` when that reads back, else `c"text"` with escapes.
pub fn quoted(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(|c| c == '"' || c.is_control()) => format!("\"{text}\""),
        _ => format!("c\"{}\"", escape(bytes)),
    }
}

/// Whether `name` needs no quotes behind `@`.
pub fn is_plain_symbol(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_symbol)
}

/// `@name`, quoted where needed.
pub fn symbol_text(name: &str) -> String {
    if is_plain_symbol(name) {
        return format!("@{name}");
    }
    format!("@\"{}\"", escape(name.as_bytes()))
}

fn escape(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                c if c.is_control() => {
                    c.encode_utf8(&mut [0; 4]).bytes().for_each(|b| out.push_str(&format!("\\x{b:02x}")));
                }
                c => out.push(c),
            }
        }
        chunk.invalid().iter().for_each(|b| out.push_str(&format!("\\x{b:02x}")));
    }
    out
}

/// Adds the file's name to a fault.
pub fn located<T>(result: Parsed<T>, file: &str, text: &str) -> Result<T> {
    result.map_err(|fault| fault.into_status(file, text))
}
