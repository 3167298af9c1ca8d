//! Command buffers inside of command buffers: what one has recorded becomes part of another.

use crate::buffer::WHOLE_BUFFER;
use crate::command_buffer::{Binding, Command, CommandBuffer, Counts, Program, WorkgroupCount};
use tiree_vm::{Annotate, Result, Status};

impl CommandBuffer {
    /// Records what `inner`, which is finalized, has recorded, with `table` for its binding table. Entries of the table may
    /// be slots of the binding table of `self`. The barriers of `inner` become barriers of `self`; none is added before
    /// its first command or behind its last.
    ///
    /// # Errors
    /// As those of the commands; FAILED_PRECONDITION for one that is still being recorded, or of one shot and executed
    /// before; INVALID_ARGUMENT or OUT_OF_RANGE when the table has too few entries, or too short ones. After an error
    /// some commands may have been recorded.
    pub fn execute_commands(&self, inner: &CommandBuffer, table: &[Binding]) -> Result<()> {
        self.note("execute_commands")?;
        let program = inner.begin_execution()?;
        let own = |binding: usize| placed(&program.bindings[binding].binding, table);
        for (index, region) in program.regions.iter().enumerate() {
            if index > 0 {
                self.execution_barrier()?;
            }
            for number in region.clone() {
                let recorded = self.repeat(program, &program.commands[number], &own);
                recorded.annotate(|| format!("command {number} of a nested command buffer"))?;
            }
        }
        Ok(())
    }

    fn repeat(&self, program: &Program, command: &Command, own: &dyn Fn(usize) -> Result<Binding>) -> Result<()> {
        match command {
            Command::Fill { target, pattern } => self.fill(own(*target)?, *pattern),
            Command::Copy { source, target } => self.copy(own(*source)?, own(*target)?),
            Command::Update { data, target } => self.update(&program.data[data.clone()], own(*target)?),
            Command::Dispatch(dispatch) => {
                let count = match &dispatch.counts {
                    Counts::Static { counts, .. } => WorkgroupCount::Static(*counts),
                    Counts::Indirect(binding) => WorkgroupCount::Indirect(own(*binding)?),
                };
                let bindings = dispatch.bindings.clone().map(own).collect::<Result<Vec<_>>>()?;
                let constants = &program.constants[dispatch.constants.clone()];
                let function = dispatch.entry as u64;
                self.dispatch(&dispatch.executable, function, count, constants, bindings.into_iter(), 0)
            }
        }
    }
}

/// A binding of a nested command buffer: its own buffer, or a part of what the table has.
fn placed(binding: &Binding, table: &[Binding]) -> Result<Binding> {
    if binding.buffer.is_some() {
        return Ok(binding.clone());
    }
    let entry = table.get(binding.slot as usize).ok_or_else(|| {
        let have = table.len();
        Status::invalid_argument(format!("slot {} of a binding table with {have} entries", binding.slot))
    })?;
    let offset = entry.offset.checked_add(binding.offset);
    let left = match entry.length {
        WHOLE_BUFFER => Some(WHOLE_BUFFER),
        length => length.checked_sub(binding.offset),
    };
    let fits = |left: &u64| binding.length == WHOLE_BUFFER || binding.length <= *left;
    let (Some(offset), Some(left)) = (offset, left.filter(fits)) else {
        return Err(Status::out_of_range(format!(
            "offset {} and length {} in an entry of {} bytes in slot {}",
            binding.offset, binding.length, entry.length, binding.slot
        )));
    };
    Ok(Binding { offset, length: binding.length.min(left), ..entry.clone() })
}
