//! Calling-convention strings such as `0rIIiiCID_r`.

use std::fmt;

use crate::status::{Result, Status};

/// Kind of one scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `i`
    I32,
    /// `I`
    I64,
    /// `f`
    F32,
    /// `F`
    F64,
    /// `r`
    Ref,
}

impl Kind {
    /// Whether a register of this kind takes two cells.
    pub fn is_wide(self) -> bool {
        matches!(self, Kind::I64 | Kind::F64)
    }

    /// `i32`, ..., `ref`
    pub fn name(self) -> &'static str {
        match self {
            Kind::I32 => "i32",
            Kind::I64 => "i64",
            Kind::F32 => "f32",
            Kind::F64 => "f64",
            Kind::Ref => "ref",
        }
    }

    /// The letter in calling conventions.
    pub fn letter(self) -> char {
        match self {
            Kind::I32 => 'i',
            Kind::I64 => 'I',
            Kind::F32 => 'f',
            Kind::F64 => 'F',
            Kind::Ref => 'r',
        }
    }

    fn from_letter(letter: u8) -> Option<Kind> {
        Some(match letter {
            b'i' => Kind::I32,
            b'I' => Kind::I64,
            b'f' => Kind::F32,
            b'F' => Kind::F64,
            b'r' => Kind::Ref,
            _ => return None,
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One top-level argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// One value.
    Scalar(Kind),
    /// Any number of tuples of these kinds.
    Span(Box<[Kind]>),
}

/// A parsed calling convention.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallingConvention {
    /// Arguments.
    pub args: Vec<Item>,
    /// Results; never spans.
    pub results: Vec<Kind>,
}

impl CallingConvention {
    /// Parses `text`. UNIMPLEMENTED for another version than `0`, INVALID_ARGUMENT for letters that do not exist.
    pub fn parse(text: &str) -> Result<CallingConvention> {
        let bytes = text.as_bytes();
        let Some((version, rest)) = bytes.split_first() else { return Ok(CallingConvention::default()) };
        if *version != b'0' {
            return Err(Status::unimplemented(format!("unsupported cconv version {}", version.escape_ascii())));
        }
        let (args, results) = match rest.iter().position(|b| *b == b'_') {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => (rest, &[][..]),
        };
        let results = parse_items(results, text)?
            .into_iter()
            .map(|item| match item {
                Item::Scalar(kind) => Ok(kind),
                Item::Span(_) => {
                    Err(Status::invalid_argument(format!("variadic results are not supported in '{text}'")))
                }
            })
            .collect::<Result<_>>()?;
        Ok(CallingConvention { args: parse_items(args, text)?, results })
    }

    /// Whether an argument is a span.
    pub fn is_variadic(&self) -> bool {
        self.args.iter().any(|item| matches!(item, Item::Span(_)))
    }

    /// The kinds of the arguments, when there is no span.
    pub fn scalar_args(&self) -> Option<Vec<Kind>> {
        self.args
            .iter()
            .map(|item| match item {
                Item::Scalar(kind) => Some(*kind),
                Item::Span(_) => None,
            })
            .collect()
    }
}

fn parse_items(text: &[u8], whole: &str) -> Result<Vec<Item>> {
    let bad = |letter: u8| {
        Status::invalid_argument(format!("unsupported cconv fragment char '{}' in '{whole}'", letter.escape_ascii()))
    };
    let mut items = Vec::new();
    let mut rest = text;
    while let Some((&letter, tail)) = rest.split_first() {
        rest = tail;
        match letter {
            b'v' => {}
            b'C' => {
                let end = rest.iter().position(|b| *b == b'D').ok_or_else(|| bad(letter))?;
                let kinds: Option<Box<[Kind]>> = rest[..end].iter().map(|b| Kind::from_letter(*b)).collect();
                match kinds {
                    Some(kinds) if !kinds.is_empty() => items.push(Item::Span(kinds)),
                    _ => return Err(bad(letter)),
                }
                rest = &rest[end + 1..];
            }
            _ => items.push(Item::Scalar(Kind::from_letter(letter).ok_or_else(|| bad(letter))?)),
        }
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_forms() {
        for text in ["", "0", "0v", "0v_v", "0_"] {
            assert_eq!(CallingConvention::parse(text).unwrap(), CallingConvention::default(), "{text}");
        }
    }

    #[test]
    fn spans_and_scalars() {
        let parsed = CallingConvention::parse("0rICiiDCrID_rF").unwrap();
        assert_eq!(parsed.args.len(), 4);
        assert_eq!(parsed.args[2], Item::Span([Kind::I32, Kind::I32].into()));
        assert_eq!(parsed.results, [Kind::Ref, Kind::F64]);
        assert!(parsed.is_variadic());
        assert_eq!(parsed.scalar_args(), None);
    }

    #[test]
    fn refusals() {
        assert_eq!(
            CallingConvention::parse("1i").unwrap_err().to_string(),
            "UNIMPLEMENTED; unsupported cconv version 1"
        );
        for text in ["0x", "0Ci", "0CD", "0CCiDD", "0i_CiD", "0i_r_i"] {
            assert!(CallingConvention::parse(text).is_err(), "{text}");
        }
    }
}
