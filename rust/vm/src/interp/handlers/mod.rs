//! The operations, by what they are about, and the table of them all.

// Operations are called like the instructions that they are.
#![allow(non_snake_case)]

mod branches;
mod buffers;
mod calls;
mod floats;
mod globals;
mod ints;
mod lists;
mod numbers;
mod references;

use super::state::{Handler, Table};
pub(super) use calls::pass;

use branches::*;
use buffers::*;
use calls::*;
use floats::*;
use globals::*;
use ints::*;
use lists::*;
use references::*;

macro_rules! define_table {
    (same { $($same:ident)* } own { $($own:ident)* }) => {
        /// All operations in the order of their numbers.
        pub(super) static TABLE: Table = Table([$($same as Handler,)* $($own as Handler),*]);
    };
}
crate::bytecode::operations!(define_table);
