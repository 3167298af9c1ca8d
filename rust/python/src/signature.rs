//! What a function expects, read once from its calling convention and its `iree.abi.declaration`.

use std::sync::Arc;

use tiree_hal::types::ElementType;
use tiree_vm::cconv::{CallingConvention, Item, Kind};
use tiree_vm::value::Value;

/// The declared type of one argument.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgType {
    /// `tensor<2x?xf32>`: `None` is a dynamic dimension.
    Tensor { element: ElementType, shape: Vec<Option<u64>> },
    /// A scalar register.
    Scalar(Kind),
    /// Some reference; nothing more is known.
    Ref,
}

/// One argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The user's name for it where the module has it, else the name in the declaration without `%`; empty when there
    /// is no declaration.
    pub name: String,
    /// Type.
    pub ty: ArgType,
    /// The declared type of a scalar that does not fill its register: `i1`, `i8`, `ui16` and the like.
    pub narrow: Option<ElementType>,
    /// Whether it is memory that a result is written to (`iree.abi.output`).
    pub output: bool,
}

/// All arguments of a function, without the fences of the asynchronous ABI, and what is to know of its results.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// In order.
    pub args: Vec<Argument>,
    /// Whether two fences follow the arguments (`coarse-fences`).
    pub coarse_fences: bool,
    /// What results that do not fill their registers are.
    pub results: NarrowResults,
    /// Whether variables of the module may hold results after the call (`tiree.results`).
    pub results_kept: bool,
}

/// The declared integer types of fewer than 32 bits among the results; empty when there is none. Kernels and VM code
/// leave the upper bits of such a register as they come, so `i8` results would show 200 for -56.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NarrowResults(Arc<[Option<ElementType>]>);

impl NarrowResults {
    fn new(declaration: Option<&str>) -> NarrowResults {
        let Some((_, results)) = declaration.and_then(|text| text.rsplit_once(") -> ")) else {
            return NarrowResults::default();
        };
        let types: Vec<Option<ElementType>> = declared_arguments(results).into_iter().map(|a| a.narrow).collect();
        if types.iter().all(Option::is_none) { NarrowResults::default() } else { NarrowResults(types.into()) }
    }

    /// Gives each such result the value that its own bits have: signed ones with their sign, `i1` as 0 or 1.
    pub fn fit(&self, results: &mut [Value]) {
        if self.0.len() != results.len() {
            return;
        }
        for (value, element) in results.iter_mut().zip(self.0.iter()) {
            if let (Value::I32(bits), Some(element)) = (&mut *value, element) {
                let unused = 32 - if *element == ElementType::BOOL_8 { 1 } else { element.bit_count() };
                let unsigned = matches!(*element, ElementType::UINT_4 | ElementType::UINT_8 | ElementType::UINT_16);
                let left = *bits << unused;
                *bits = if unsigned || unused == 31 { (left as u32 >> unused) as i32 } else { left >> unused };
            }
        }
    }
}

impl Signature {
    /// Reads `declaration` (`sync func @add(%a: tensor<4xf32>) -> ...`); where it says nothing, or does not fit the
    /// calling convention, the convention alone decides. `names` are the user's names (`x, params['w']`), which count
    /// if there is one for every argument.
    pub fn new(
        cconv: &CallingConvention,
        declaration: Option<&str>,
        names: Option<&str>,
        coarse_fences: bool,
    ) -> Signature {
        let mut kinds: Vec<Kind> = Vec::new();
        for item in &cconv.args {
            if let Item::Scalar(kind) = item {
                kinds.push(*kind);
            }
        }
        if coarse_fences && kinds.len() >= 2 {
            kinds.truncate(kinds.len() - 2);
        }
        let declared = declaration.map(declared_arguments).unwrap_or_default();
        let fits = declared.len() == kinds.len()
            && declared.iter().zip(&kinds).all(|(d, k)| match d.ty {
                ArgType::Tensor { .. } | ArgType::Ref => *k == Kind::Ref,
                ArgType::Scalar(_) => *k != Kind::Ref,
            });
        let mut args: Vec<Argument> = if fits {
            let typed = |(d, k): (Argument, &Kind)| match d.ty {
                ArgType::Scalar(_) => Argument { ty: ArgType::Scalar(*k), ..d },
                _ => d,
            };
            declared.into_iter().zip(&kinds).map(typed).collect()
        } else {
            let plain = |k: &Kind| match k {
                Kind::Ref => ArgType::Ref,
                scalar => ArgType::Scalar(*scalar),
            };
            kinds.iter().map(|k| Argument { name: String::new(), ty: plain(k), narrow: None, output: false }).collect()
        };
        let names = names.map(split_top_level).unwrap_or_default();
        if names.len() == args.len() {
            for (argument, name) in args.iter_mut().zip(names) {
                name.clone_into(&mut argument.name);
            }
        }
        Signature { args, coarse_fences, results: NarrowResults::new(declaration), results_kept: false }
    }

    /// `a: f32[2x3], b: f32[2x3]`
    pub fn describe(&self) -> String {
        let one = |(i, a): (usize, &Argument)| {
            let name = if a.name.is_empty() { format!("arg{i}") } else { a.name.clone() };
            format!("{name}: {}", a.ty.describe())
        };
        self.args.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
    }
}

impl ArgType {
    /// `f32[2x3]`, `i32`, `ref`
    pub fn describe(&self) -> String {
        match self {
            ArgType::Tensor { element, shape } => format!("{element}[{}]", dims_text(shape)),
            ArgType::Scalar(kind) => kind.name().to_owned(),
            ArgType::Ref => "buffer view".to_owned(),
        }
    }
}

/// `2x?x4`
pub fn dims_text(shape: &[Option<u64>]) -> String {
    let dim = |d: &Option<u64>| d.map_or_else(|| "?".to_owned(), |n| n.to_string());
    shape.iter().map(dim).collect::<Vec<_>>().join("x")
}

fn declared_arguments(declaration: &str) -> Vec<Argument> {
    let Some(open) = declaration.find('(') else { return Vec::new() };
    let inside = &declaration[open + 1..];
    let Some(close) = matching_end(inside) else { return Vec::new() };
    split_top_level(&inside[..close])
        .into_iter()
        .map(|part| {
            let (name, ty) = part.split_once(':').unwrap_or(("", part));
            let narrow = parse_narrow(ty.trim());
            let output = ty.contains("iree.abi.output");
            let name = name.trim().trim_start_matches('%').to_owned();
            Argument { name, ty: parse_type(ty.trim()), narrow, output }
        })
        .collect()
}

/// Index of the parenthesis that closes the list `text` is inside of.
fn matching_end(text: &str) -> Option<usize> {
    let mut depth = 0i32;
    for (i, c) in text.char_indices() {
        match c {
            '(' | '<' | '{' | '[' => depth += 1,
            ')' if depth == 0 => return Some(i),
            // An arrow is not a bracket.
            '>' if text[..i].ends_with('-') => {}
            ')' | '>' | '}' | ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn split_top_level(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0i32, 0);
    for (i, c) in text.char_indices() {
        match c {
            '(' | '<' | '{' | '[' => depth += 1,
            '>' if text[..i].ends_with('-') => {}
            ')' | '>' | '}' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        parts.push(text[start..].trim());
    }
    parts
}

/// An integer type of fewer than 32 bits.
fn parse_narrow(text: &str) -> Option<ElementType> {
    let element = ElementType::parse(text).ok()?;
    let integer = element.is_integer() || element == ElementType::BOOL_8;
    (integer && (text == "i1" || element.bit_count() < 32)).then_some(element)
}

fn parse_type(text: &str) -> ArgType {
    // `tensor<3xi8> {iree.abi.encoding = tensor<3xui8>}`: the encoding is the type that callers know.
    let (plain, attributes) = text.split_once(" {").unwrap_or((text, ""));
    if let Some((_, encoding)) = attributes.split_once("iree.abi.encoding = ")
        && let Some(tensor) = encoding.find('>').and_then(|end| parse_tensor(&encoding[..=end]))
    {
        return tensor;
    }
    let text = plain.trim();
    match text {
        "i64" | "index" => return ArgType::Scalar(Kind::I64),
        "f32" => return ArgType::Scalar(Kind::F32),
        "f64" => return ArgType::Scalar(Kind::F64),
        _ => {}
    }
    let digits = text.trim_start_matches(['s', 'u']);
    if digits.starts_with('i') && digits[1..].bytes().all(|b| b.is_ascii_digit()) {
        return ArgType::Scalar(Kind::I32);
    }
    parse_tensor(text).unwrap_or(ArgType::Ref)
}

fn parse_tensor(text: &str) -> Option<ArgType> {
    let mut rest = text.strip_prefix("tensor<")?.strip_suffix('>')?;
    let mut shape = Vec::new();
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let dim = if rest.starts_with('?') { 1 } else { digits };
        if dim == 0 || rest.as_bytes().get(dim) != Some(&b'x') {
            break;
        }
        shape.push(rest[..dim].parse().ok());
        rest = &rest[dim + 1..];
    }
    // An encoding may follow the element type.
    let name = rest.split(',').next()?.trim();
    let element = match name {
        "index" => ElementType::INT_64,
        "complex<f32>" => ElementType::COMPLEX_FLOAT_64,
        "complex<f64>" => ElementType::COMPLEX_FLOAT_128,
        other => ElementType::parse(other).ok()?,
    };
    Some(ArgType::Tensor { element, shape })
}
