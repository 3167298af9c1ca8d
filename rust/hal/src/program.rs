//! What a finalized command buffer is: commands, cut into regions, with their bindings.

use crate::command_buffer::Binding;
use crate::executable::Executable;
use crate::pattern::Pattern;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;
use tiree_vm::{Charge, Result};

/// A recorded command.
pub(crate) enum Command {
    Dispatch(Dispatch),
    /// Indices are into `Program::bindings`.
    Fill {
        target: usize,
        pattern: Pattern,
    },
    Copy {
        source: usize,
        target: usize,
    },
    Update {
        data: Range<usize>,
        target: usize,
    },
}

pub(crate) struct Dispatch {
    pub(crate) executable: Arc<Executable>,
    pub(crate) entry: usize,
    pub(crate) counts: Counts,
    pub(crate) constants: Range<usize>,
    pub(crate) bindings: Range<usize>,
}

pub(crate) enum Counts {
    /// With their product.
    Static { counts: [u32; 3], total: u64 },
    /// Index of the binding that holds the counts.
    Indirect(usize),
}

/// A checked binding; one to a slot comes with what the buffer must be good for.
pub(crate) struct Bound {
    pub(crate) binding: Binding,
    pub(crate) usages: u32,
    pub(crate) accesses: u32,
}

/// Frozen commands.
#[derive(Default)]
pub(crate) struct Program {
    pub(crate) commands: Vec<Command>,
    /// Ranges of commands between barriers; none is empty.
    pub(crate) regions: Vec<Range<usize>>,
    pub(crate) bindings: Vec<Bound>,
    pub(crate) constants: Vec<u32>,
    pub(crate) data: Vec<u8>,
    /// Some dispatch is of bytecode.
    pub(crate) has_bytecode: bool,
    /// What it and its command buffer take, when that is limited.
    pub(crate) charge: Option<Charge>,
}

thread_local! {
    /// Memory of programs that are gone. Programs of dynamic shapes are recorded anew in every call.
    static SPARE: RefCell<Vec<Program>> = const { RefCell::new(Vec::new()) };
}

/// Programs whose memory a thread keeps, and the most commands and bytes of data of each.
const SPARE_PROGRAMS: usize = 4;
const SPARE_COMMANDS: usize = 256;
const SPARE_BYTES: usize = 4096;

impl Program {
    /// An empty program, with the memory of an earlier one if there is one.
    pub(crate) fn reused() -> Program {
        SPARE.try_with(|spare| spare.try_borrow_mut().ok()?.pop()).ok().flatten().unwrap_or_default()
    }

    /// Bytes of what is recorded.
    pub(crate) fn bytes(&self) -> usize {
        self.commands.len() * size_of::<Command>()
            + self.regions.len() * size_of::<Range<usize>>()
            + self.bindings.len() * size_of::<Bound>()
            + self.constants.len() * size_of::<u32>()
            + self.data.len()
    }

    /// Charges what has been recorded since there were `before` bytes.
    pub(crate) fn charge_since(&mut self, before: usize) -> Result<()> {
        let more = self.bytes().saturating_sub(before);
        self.charge.as_mut().map_or(Ok(()), |charge| charge.add(more))
    }

    /// Keeps the memory for another program.
    pub(crate) fn recycle(mut self) {
        // Releasing references can run any code, so this comes before the list is borrowed.
        self.commands.clear();
        self.bindings.clear();
        self.regions.clear();
        self.constants.clear();
        self.data.clear();
        self.has_bytecode = false;
        self.charge = None;
        let small = self.commands.capacity().max(self.bindings.capacity()) <= SPARE_COMMANDS
            && self.data.capacity().max(self.constants.capacity()) <= SPARE_BYTES;
        if small && self.commands.capacity() > 0 {
            // A thread that is ending has no list; then the memory is freed.
            let _ = SPARE.try_with(|spare| {
                if let Ok(mut spare) = spare.try_borrow_mut()
                    && spare.len() < SPARE_PROGRAMS
                {
                    spare.push(self);
                }
            });
        }
    }
}
