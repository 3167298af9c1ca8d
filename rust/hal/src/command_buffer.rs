//! `hal.command_buffer`: recorded commands, replayed by a queue.
//!
//! Recording checks what can be checked then, and every message names the command by its place and kind. Bindings are
//! direct (a buffer) or indirect (a slot of the table that execution brings). `finalize` freezes the list into a
//! `Program`: commands, cut into regions at the execution barriers; what is in a region may run concurrently.

use crate::buffer::{Buffer, WHOLE_BUFFER};
use crate::executable::Executable;
pub use crate::pattern::Pattern;
pub(crate) use crate::program::{Bound, Command, Counts, Dispatch, Program};
use crate::types::{access, bit_names, command_buffer_mode, command_category, dispatch_flags, usage};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use tiree_vm::{Annotate, Charge, RefObject, Result, Status};

/// The largest update that is captured into a command buffer.
pub const MAX_UPDATE: usize = 64 * 1024;
/// Bindings of one dispatch.
pub const MAX_BINDINGS: usize = 32;

/// A range of a buffer or of a slot of the binding table.
#[derive(Clone)]
pub struct Binding {
    /// The buffer, or None to use `slot`.
    pub buffer: Option<Arc<Buffer>>,
    /// Slot of the binding table, meaningful only without a buffer.
    pub slot: u32,
    /// Offset in bytes, added to the slot's own offset.
    pub offset: u64,
    /// Length in bytes; [`WHOLE_BUFFER`] for the rest.
    pub length: u64,
}

/// Where a dispatch gets its workgroup counts from.
#[derive(Clone)]
pub enum WorkgroupCount {
    /// Given.
    Static([u32; 3]),
    /// Three u32 in a buffer.
    Indirect(Binding),
}

/// What is being recorded: the program so far.
#[derive(Default)]
struct Recorder {
    program: Program,
    region_start: usize,
    debug_depth: usize,
}

impl Drop for CommandBuffer {
    fn drop(&mut self) {
        let recording = self.recorder.get_mut().take().map(|recorder| recorder.program);
        self.program.take().or(recording).into_iter().for_each(Program::recycle);
    }
}

/// See the module head.
pub struct CommandBuffer {
    mode: u32,
    categories: u32,
    capacity: usize,
    recorder: Mutex<Option<Recorder>>,
    program: OnceLock<Program>,
    submitted: AtomicBool,
}

impl RefObject for CommandBuffer {
    fn type_name(&self) -> &'static str {
        "hal.command_buffer"
    }
}

impl crate::charge::Charged for CommandBuffer {
    fn keep(&mut self, charge: Charge) {
        if let Some(recorder) = self.recorder.get_mut() {
            recorder.program.charge = Some(charge);
        }
    }
}

impl CommandBuffer {
    /// A command buffer that is being recorded. `capacity` is the size of the binding table; 0 means that there is none.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for unknown mode bits, unknown categories or an inline one with a binding table.
    pub fn new(mode: u32, categories: u32, capacity: usize) -> Result<CommandBuffer> {
        if mode & !command_buffer_mode::ALL != 0 || categories & !command_category::ALL != 0 {
            return Err(Status::invalid_argument(format!(
                "command buffer mode {mode:#x} or categories {categories:#x} have unknown bits"
            )));
        }
        if mode & command_buffer_mode::ALLOW_INLINE_EXECUTION != 0 && capacity > 0 {
            return Err(Status::invalid_argument("inline command buffers cannot have a binding table"));
        }
        Ok(CommandBuffer {
            mode,
            categories,
            capacity,
            recorder: Mutex::new(Some(Recorder { program: Program::reused(), ..Default::default() })),
            program: OnceLock::new(),
            submitted: AtomicBool::new(false),
        })
    }

    /// Mode bits.
    pub fn mode(&self) -> u32 {
        self.mode
    }

    /// Size of the binding table.
    pub fn binding_capacity(&self) -> usize {
        self.capacity
    }

    /// Records a command of a category (0: of none).
    fn record<R>(&self, what: &str, category: u32, body: impl FnOnce(&mut Recorder) -> Result<R>) -> Result<R> {
        if self.categories & category != category {
            return Err(self.wrong_category(what, category));
        }
        let mut guard = self.recorder.lock();
        let recorder = guard.as_mut().ok_or_else(|| {
            Status::failed_precondition(format!("cannot record {what}: the command buffer has been finalized"))
        })?;
        let index = recorder.program.commands.len();
        let charged = recorder.program.charge.is_some().then(|| recorder.program.bytes());
        let recorded = body(recorder).and_then(|made| {
            charged.map_or(Ok(()), |before| recorder.program.charge_since(before))?;
            Ok(made)
        });
        recorded.annotate(|| format!("while recording command {index} ({what})"))
    }

    #[cold]
    fn wrong_category(&self, what: &str, category: u32) -> Status {
        Status::failed_precondition(format!(
            "{what} requires a command buffer of category {}; this one is for {}",
            bit_names(category, command_category::NAMES),
            bit_names(self.categories, command_category::NAMES)
        ))
    }

    /// Checks a binding against what is known while recording and resolves the length of a direct one.
    fn check_binding(&self, binding: Binding, name: &str, usages: u32, accesses: u32) -> Result<Bound> {
        match &binding.buffer {
            Some(buffer) => {
                let check = || {
                    let (offset, length) = buffer.resolve_range(binding.offset, binding.length)?;
                    buffer.check_usage(usages)?;
                    buffer.check_access(accesses)?;
                    Ok((offset as u64, length as u64))
                };
                let (offset, length) = check().annotate(|| name.to_owned())?;
                Ok(Bound { binding: Binding { offset, length, ..binding }, usages, accesses })
            }
            None if (binding.slot as usize) < self.capacity => Ok(Bound { binding, usages, accesses }),
            None => Err(Status::invalid_argument(format!(
                "{name} has no buffer and refers to slot {} of a binding table of capacity {}",
                binding.slot, self.capacity
            ))),
        }
    }

    /// Records a barrier: everything before happens before everything after.
    ///
    /// # Errors
    /// FAILED_PRECONDITION after finalize.
    pub fn execution_barrier(&self) -> Result<()> {
        self.record("execution_barrier", 0, |recorder| {
            recorder.close_region();
            Ok(())
        })
    }

    /// Records a fill.
    ///
    /// # Errors
    /// INVALID_ARGUMENT, OUT_OF_RANGE, PERMISSION_DENIED for the binding or the pattern.
    pub fn fill(&self, target: Binding, pattern: Pattern) -> Result<()> {
        self.record("fill_buffer", command_category::TRANSFER, |recorder| {
            let target = self.check_binding(target, "target", usage::TRANSFER_TARGET, access::WRITE)?;
            if target.binding.buffer.is_some() {
                pattern.check_range(target.binding.offset as usize, target.binding.length as usize)?;
            }
            let target = recorder.bind(target);
            recorder.program.commands.push(Command::Fill { target, pattern });
            Ok(())
        })
    }

    /// Records a copy of `target.length` bytes (the source's length is set to it).
    ///
    /// # Errors
    /// As [`fill`](Self::fill).
    pub fn copy(&self, source: Binding, target: Binding) -> Result<()> {
        self.record("copy_buffer", command_category::TRANSFER, |recorder| {
            let source = self.check_binding(source, "source", usage::TRANSFER_SOURCE, access::READ)?;
            let target = self.check_binding(target, "target", usage::TRANSFER_TARGET, access::WRITE)?;
            let (source, target) = (recorder.bind(source), recorder.bind(target));
            recorder.program.commands.push(Command::Copy { source, target });
            Ok(())
        })
    }

    /// Records an update: `bytes` are captured now.
    ///
    /// # Errors
    /// As [`fill`](Self::fill); INVALID_ARGUMENT above 64 KiB.
    pub fn update(&self, bytes: &[u8], target: Binding) -> Result<()> {
        self.record("update_buffer", command_category::TRANSFER, |recorder| {
            if bytes.len() > MAX_UPDATE {
                return Err(Status::invalid_argument(format!(
                    "update of {} bytes is above the limit of {MAX_UPDATE}; use a staging buffer and a copy",
                    bytes.len()
                )));
            }
            let target = Binding { length: bytes.len() as u64, ..target };
            let target = self.check_binding(target, "target", usage::TRANSFER_TARGET, access::WRITE)?;
            let target = recorder.bind(target);
            let start = recorder.program.data.len();
            recorder.program.data.extend_from_slice(bytes);
            recorder.program.commands.push(Command::Update { data: start..start + bytes.len(), target });
            Ok(())
        })
    }

    /// Records a dispatch.
    ///
    /// # Errors
    /// INVALID_ARGUMENT or OUT_OF_RANGE for the function, its counts or a binding; UNIMPLEMENTED for flags that CPU
    /// devices do not have.
    pub fn dispatch(
        &self,
        executable: &Arc<Executable>,
        function: u64,
        count: WorkgroupCount,
        constants: &[u32],
        bindings: impl ExactSizeIterator<Item = Binding>,
        flags: u64,
    ) -> Result<()> {
        let unsupported = dispatch_flags::CUSTOM_DIRECT_ARGUMENTS
            | dispatch_flags::DYNAMIC_INDIRECT_ARGUMENTS
            | dispatch_flags::STATIC_INDIRECT_ARGUMENTS;
        self.record("dispatch", command_category::DISPATCH, |recorder| {
            if flags & unsupported != 0 {
                return Err(Status::unimplemented(format!("dispatch flags {flags:#x} are not supported on the CPU")));
            }
            if bindings.len() > MAX_BINDINGS {
                let have = bindings.len();
                return Err(Status::invalid_argument(format!("{have} bindings are above the limit of {MAX_BINDINGS}")));
            }
            let entry = executable.check_dispatch(function, constants.len(), bindings.len())?;
            let name = || format!("'{}'", executable.entry_name(entry));
            let first = recorder.program.bindings.len();
            for (index, binding) in bindings.enumerate() {
                // Whether the kernel writes is not known here; usage decides, as it does in IREE.
                let checked = self.check_binding(binding, "", usage::DISPATCH_STORAGE_READ, 0);
                let checked = checked.annotate(|| format!("binding {index} of {}", name()));
                match checked {
                    Ok(binding) => _ = recorder.bind(binding),
                    Err(status) => {
                        recorder.program.bindings.truncate(first);
                        return Err(status);
                    }
                }
            }
            let bindings = first..recorder.program.bindings.len();
            let counts = match count {
                WorkgroupCount::Static(counts) => {
                    let total = check_counts(counts).annotate(name)?;
                    Counts::Static { counts, total }
                }
                WorkgroupCount::Indirect(binding) => {
                    let binding = Binding { length: 12, ..binding };
                    let usages = usage::DISPATCH_INDIRECT_PARAMETERS;
                    let binding =
                        self.check_binding(binding, "workgroup count buffer", usages, access::READ).annotate(name)?;
                    Counts::Indirect(recorder.bind(binding))
                }
            };
            let start = recorder.program.constants.len();
            recorder.program.constants.extend_from_slice(constants);
            let constants = start..recorder.program.constants.len();
            let executable = executable.clone();
            recorder.program.has_bytecode |= executable.is_bytecode();
            recorder.program.commands.push(Command::Dispatch(Dispatch {
                executable,
                entry,
                counts,
                constants,
                bindings,
            }));
            Ok(())
        })
    }

    /// Checks that the command buffer is being recorded (for commands without effect here).
    ///
    /// # Errors
    /// FAILED_PRECONDITION after finalize.
    pub fn note(&self, what: &str) -> Result<()> {
        self.record(what, 0, |_| Ok(()))
    }

    /// Opens (`true`) or closes a debug group.
    ///
    /// # Errors
    /// FAILED_PRECONDITION after finalize or when none is open.
    pub fn debug_group(&self, open: bool) -> Result<()> {
        self.record("debug group", 0, |recorder| {
            let depth = if open { Some(recorder.debug_depth + 1) } else { recorder.debug_depth.checked_sub(1) };
            recorder.debug_depth = depth.ok_or_else(|| Status::failed_precondition("no debug group is open"))?;
            Ok(())
        })
    }

    /// Ends recording.
    ///
    /// # Errors
    /// FAILED_PRECONDITION when it has ended already or a debug group is open.
    pub fn finalize(&self) -> Result<()> {
        let mut guard = self.recorder.lock();
        let mut recorder =
            guard.take().ok_or_else(|| Status::failed_precondition("the command buffer has been finalized already"))?;
        if recorder.debug_depth > 0 {
            let depth = recorder.debug_depth;
            *guard = Some(recorder);
            return Err(Status::failed_precondition(format!("{depth} debug group(s) are still open")));
        }
        recorder.close_region();
        // The recorder was there, so nobody has set the program.
        let _ = self.program.set(recorder.program);
        Ok(())
    }

    /// The commands, for one execution.
    ///
    /// # Errors
    /// FAILED_PRECONDITION while recording, or when a one-shot command buffer has been executed before.
    pub(crate) fn begin_execution(&self) -> Result<&Program> {
        let program = self.program.get().ok_or_else(|| {
            Status::failed_precondition("the command buffer is still being recorded; finalize it before execution")
        })?;
        if self.mode & command_buffer_mode::ONE_SHOT != 0 && self.submitted.swap(true, Ordering::Relaxed) {
            return Err(Status::failed_precondition("a one-shot command buffer can be executed only once"));
        }
        Ok(program)
    }

    pub(crate) fn program(&self) -> Option<&Program> {
        self.program.get()
    }
}

/// INVALID_ARGUMENT for counts beyond the ABI (z is 16 bits wide) or a total that no counter holds.
pub(crate) fn check_counts(counts: [u32; 3]) -> Result<u64> {
    let total = counts.iter().try_fold(1u64, |total, &count| total.checked_mul(u64::from(count)));
    match total {
        Some(total) if counts[2] <= u32::from(u16::MAX) && total < u64::MAX / 2 => Ok(total),
        _ => Err(Status::invalid_argument(format!(
            "workgroup count {}x{}x{} is out of range",
            counts[0], counts[1], counts[2]
        ))),
    }
}

impl Recorder {
    fn bind(&mut self, bound: Bound) -> usize {
        self.program.bindings.push(bound);
        self.program.bindings.len() - 1
    }

    fn close_region(&mut self) {
        let end = self.program.commands.len();
        if end > self.region_start {
            self.program.regions.push(self.region_start..end);
        }
        self.region_start = end;
    }
}

impl Binding {
    /// All of `buffer`.
    pub fn whole(buffer: Arc<Buffer>) -> Binding {
        Binding { buffer: Some(buffer), slot: 0, offset: 0, length: WHOLE_BUFFER }
    }
}
