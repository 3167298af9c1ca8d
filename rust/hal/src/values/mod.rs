//! Values of the command-line tools: reading `--input=`, printing results, comparing with `--expected_output=`.

mod compare;
pub mod element;
mod file;
mod format;
mod input;
pub mod npy;
pub mod number;

pub use compare::{Equality, compare};
pub use format::{DEFAULT_MAX_ELEMENTS, format_elements, format_result, format_view};
pub use input::{InputReader, Parsed, parse_pattern, parse_type};
