//! Running recorded commands: resolving bindings, cutting regions into tiles, sharing tiles out.

use crate::buffer::Buffer;
use crate::command_buffer::{Command, Counts, Dispatch, Program, check_counts};
use crate::executable::DispatchArguments;
use crate::memory::Block;
use crate::types::{access, usage};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;
use tiree_task::Executor;
use tiree_vm::{Annotate, Result, Status};

/// Bytes of a fill, copy or update that one tile handles.
const TRANSFER_TILE: usize = 64 * 1024;
/// Regions estimated to take less than this stay on the thread that runs them.
pub(crate) const INLINE_NANOSECONDS: f64 = 12_000.0;
/// Guess for kernels that were never measured: bytes bound per nanosecond.
const GUESSED_BYTES_PER_NANOSECOND: f64 = 4.0;
/// What a memory transfer manages.
const TRANSFER_BYTES_PER_NANOSECOND: f64 = 8.0;

/// An entry of a binding table.
#[derive(Clone)]
pub struct TableEntry {
    /// The buffer; None leaves the slot empty.
    pub buffer: Option<Arc<Buffer>>,
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes; [`crate::buffer::WHOLE_BUFFER`] for the rest.
    pub length: u64,
}

/// Bindings as pointers, and what keeps transient memory alive meanwhile.
struct Resolved {
    pointers: SmallVec<[*mut u8; 16]>,
    lengths: SmallVec<[usize; 16]>,
    _pins: SmallVec<[Arc<Block>; 8]>,
}

/// One command as tiles `0..tiles` of a region.
struct Work<'a> {
    kind: Kind<'a>,
    tiles: u64,
}

enum Kind<'a> {
    Dispatch {
        dispatch: &'a Dispatch,
        arguments: DispatchArguments<'a>,
        total: u64,
    },
    Fill {
        pattern: crate::command_buffer::Pattern,
        target: *mut u8,
        length: usize,
    },
    /// Copies and updates: the bytes of an update lie in the program.
    Copy {
        source: *const u8,
        target: *mut u8,
        length: usize,
    },
}

/// What all tiles of a region are shared out over.
struct Region<'a> {
    works: SmallVec<[Work<'a>; 4]>,
}

// SAFETY: the pointers lead to device memory whose access the region's tiles share out among themselves; ordering with
// everything else is the program's business (barriers and fences).
unsafe impl Sync for Region<'_> {}

/// Where commands run.
pub(crate) enum Threads<'a> {
    /// On the calling thread only, with this limit of local memory.
    Caller(usize),
    /// On the calling thread and the workers.
    Pool(&'a Executor),
}

/// The binding with its range, checked for this execution.
fn resolve_binding(program: &Program, table: &[TableEntry], index: usize, resolved: &mut Resolved) -> Result<()> {
    let binding = &program.bindings[index];
    let (buffer, offset, length) = match &binding.buffer {
        Some(buffer) => (buffer, binding.offset as usize, binding.length as usize),
        None => {
            let slot = binding.slot as usize;
            let entry = table.get(slot).ok_or_else(|| {
                Status::invalid_argument(format!(
                    "the command buffer uses slot {slot} but the binding table has {} entries",
                    table.len()
                ))
            })?;
            let buffer = entry.buffer.as_ref().ok_or_else(|| {
                Status::invalid_argument(format!(
                    "the command buffer uses slot {slot}, which is empty in the binding table"
                ))
            })?;
            let (base, size) = buffer.resolve_range(entry.offset, entry.length).annotate(|| format!("slot {slot}"))?;
            let end = if binding.length == u64::MAX {
                (size as u64).checked_sub(binding.offset).map(|rest| (binding.offset, rest))
            } else {
                let end = binding.offset.checked_add(binding.length);
                end.filter(|&end| end <= size as u64).map(|_| (binding.offset, binding.length))
            };
            let (offset, length) = end.ok_or_else(|| {
                Status::out_of_range(format!(
                    "binding [{}, {} + {}) is outside slot {slot} of {size} bytes",
                    binding.offset, binding.offset, binding.length as i64
                ))
            })?;
            (buffer, base + offset as usize, length as usize)
        }
    };
    let pointer = buffer.resolve(&mut resolved._pins)?;
    // SAFETY: the offset was checked against the buffer, here or while recording.
    resolved.pointers.push(unsafe { pointer.as_ptr().add(offset) });
    resolved.lengths.push(length);
    Ok(())
}

/// Usage and access of slots are known only now; direct bindings were checked while recording.
fn check_slot(program: &Program, table: &[TableEntry], index: usize, usages: u32, accesses: u32) -> Result<()> {
    let binding = &program.bindings[index];
    if binding.buffer.is_none()
        && let Some(buffer) = table.get(binding.slot as usize).and_then(|entry| entry.buffer.as_ref())
    {
        buffer.check_usage(usages)?;
        buffer.check_access(accesses)?;
    }
    Ok(())
}

/// Runs all commands of `program` with the bindings of `table`.
///
/// # Errors
/// The first failure; it names the command.
pub(crate) fn run_program(program: &Program, table: &[TableEntry], threads: &Threads<'_>) -> Result<()> {
    let mut resolved = Resolved { pointers: SmallVec::new(), lengths: SmallVec::new(), _pins: SmallVec::new() };
    for index in 0..program.bindings.len() {
        resolve_binding(program, table, index, &mut resolved).map_err(|status| name_binding(program, index, status))?;
    }
    for range in &program.regions {
        let mut region = Region { works: SmallVec::new() };
        for index in range.clone() {
            let work = prepare(program, table, index, &resolved)
                .annotate(|| format!("while executing command {index} ({})", command_name(&program.commands[index])))?;
            if work.tiles > 0 {
                region.works.push(work);
            }
        }
        region.run(threads).annotate(|| format!("while executing commands {}..{}", range.start, range.end))?;
    }
    Ok(())
}

fn command_name(command: &Command) -> String {
    match command {
        Command::Dispatch(dispatch) => format!("dispatch of '{}'", dispatch.executable.entry_name(dispatch.entry)),
        Command::Fill { .. } => "fill_buffer".into(),
        Command::Copy { .. } => "copy_buffer".into(),
        Command::Update { .. } => "update_buffer".into(),
    }
}

#[cold]
fn name_binding(program: &Program, index: usize, status: Status) -> Status {
    for (number, command) in program.commands.iter().enumerate() {
        let name = command_name(command);
        let role = match command {
            Command::Dispatch(dispatch) if dispatch.bindings.contains(&index) => {
                format!("binding {}", index - dispatch.bindings.start)
            }
            Command::Dispatch(Dispatch { counts: Counts::Indirect(at), .. }) if *at == index => {
                "workgroup count".into()
            }
            Command::Fill { target, .. } | Command::Update { target, .. } | Command::Copy { target, .. }
                if *target == index =>
            {
                "target".into()
            }
            Command::Copy { source, .. } if *source == index => "source".into(),
            _ => continue,
        };
        return status.annotate(format!("{role} of command {number} ({name})"));
    }
    status
}

fn prepare<'a>(program: &'a Program, table: &[TableEntry], index: usize, resolved: &'a Resolved) -> Result<Work<'a>> {
    match &program.commands[index] {
        Command::Dispatch(dispatch) => {
            for binding in dispatch.bindings.clone() {
                check_slot(program, table, binding, usage::DISPATCH_STORAGE_READ, 0)?;
            }
            let counts = match dispatch.counts {
                Counts::Static(counts) => counts,
                Counts::Indirect(at) => {
                    // SAFETY: the binding is 12 bytes long (set while recording, checked when resolved).
                    unsafe { resolved.pointers[at].cast::<[u32; 3]>().read_unaligned() }
                }
            };
            let total = check_counts(counts)?;
            let arguments = DispatchArguments {
                entry: dispatch.entry,
                counts,
                constants: &program.constants[dispatch.constants.clone()],
                pointers: &resolved.pointers[dispatch.bindings.clone()],
                lengths: &resolved.lengths[dispatch.bindings.clone()],
            };
            let sequential = dispatch.executable.is_sequential(dispatch.entry);
            let tiles = if sequential { total.min(1) } else { total };
            Ok(Work { kind: Kind::Dispatch { dispatch, arguments, total }, tiles })
        }
        Command::Fill { target, pattern } => {
            check_slot(program, table, *target, usage::TRANSFER_TARGET, access::WRITE)?;
            let length = resolved.lengths[*target];
            pattern.check_range(0, length)?;
            let kind = Kind::Fill { pattern: *pattern, target: resolved.pointers[*target], length };
            Ok(Work { kind, tiles: length.div_ceil(TRANSFER_TILE) as u64 })
        }
        Command::Copy { source, target } => {
            check_slot(program, table, *source, usage::TRANSFER_SOURCE, access::READ)?;
            check_slot(program, table, *target, usage::TRANSFER_TARGET, access::WRITE)?;
            let (length, available) = (resolved.lengths[*target], resolved.lengths[*source]);
            if length != available {
                return Err(Status::invalid_argument(format!(
                    "copy between ranges of different lengths: source {available}, target {length}"
                )));
            }
            copy_work(resolved.pointers[*source], resolved.pointers[*target], length)
        }
        Command::Update { data, target } => {
            check_slot(program, table, *target, usage::TRANSFER_TARGET, access::WRITE)?;
            copy_work(program.data[data.clone()].as_ptr(), resolved.pointers[*target], data.len())
        }
    }
}

fn copy_work<'a>(source: *const u8, target: *mut u8, length: usize) -> Result<Work<'a>> {
    let (from, to) = (source as usize, target as usize);
    if from != to && from < to + length && to < from + length {
        return Err(Status::invalid_argument("copy source and target ranges overlap"));
    }
    Ok(Work { kind: Kind::Copy { source, target, length }, tiles: length.div_ceil(TRANSFER_TILE) as u64 })
}

impl Work<'_> {
    /// Estimated nanoseconds of all tiles together.
    fn estimate(&self) -> f64 {
        match &self.kind {
            Kind::Dispatch { dispatch, arguments, total } => match dispatch.executable.tile_cost(dispatch.entry) {
                Some(cost) => cost * *total as f64,
                None => arguments.lengths.iter().sum::<usize>() as f64 / GUESSED_BYTES_PER_NANOSECOND,
            },
            Kind::Fill { length, .. } | Kind::Copy { length, .. } => *length as f64 / TRANSFER_BYTES_PER_NANOSECOND,
        }
    }

    fn run(&self, tiles: Range<u64>, processor: usize, worker_count: usize, local_memory: usize) -> Result<()> {
        match &self.kind {
            Kind::Dispatch { dispatch, arguments, total } => {
                let sequential = self.tiles < *total;
                let tiles = if sequential { 0..*total } else { tiles };
                // SAFETY: the bindings were resolved for this execution and are pinned; that concurrent commands do not
                // write what others use is the program's promise (it would need a barrier).
                unsafe { dispatch.executable.run(arguments, tiles, processor, worker_count, local_memory) }
            }
            Kind::Fill { pattern, target, length } => {
                let range = byte_range(&tiles, *length);
                // SAFETY: inside the resolved range; tile starts are multiples of the pattern.
                unsafe { pattern.fill(target.add(range.start), range.len()) };
                Ok(())
            }
            Kind::Copy { source, target, length } => {
                let range = byte_range(&tiles, *length);
                // SAFETY: inside both resolved ranges; `copy` allows source and target to be the same.
                unsafe { std::ptr::copy(source.add(range.start), target.add(range.start), range.len()) };
                Ok(())
            }
        }
    }
}

fn byte_range(tiles: &Range<u64>, length: usize) -> Range<usize> {
    let start = tiles.start as usize * TRANSFER_TILE;
    start..length.min(tiles.end as usize * TRANSFER_TILE)
}

impl Region<'_> {
    fn run(&self, threads: &Threads<'_>) -> Result<()> {
        match threads {
            Threads::Caller(local_memory) => {
                self.works.iter().try_for_each(|work| work.run(0..work.tiles, 0, 1, *local_memory))
            }
            Threads::Pool(executor) => self.run_on_pool(executor),
        }
    }

    fn run_on_pool(&self, executor: &Executor) -> Result<()> {
        let tiles: u64 = self.works.iter().map(|work| work.tiles).sum();
        let estimate: f64 = self.works.iter().map(Work::estimate).sum();
        let begin = Instant::now();
        let body = |participant: &tiree_task::Participant, range: Range<u64>| self.run_range(range, participant);
        let small = estimate < INLINE_NANOSECONDS;
        if small { executor.run_small_grid(tiles, body) } else { executor.run_grid(tiles, body) }
            .map_err(GridError::into_status)?;
        let spent = begin.elapsed().as_nanos() as f64;
        // A shared region took about as many workers' time; the estimate only decides where the next one begins.
        let workers = if small { 1.0 } else { (executor.worker_count() as f64).min(tiles as f64).max(1.0) };
        self.record(spent * workers, estimate);
        Ok(())
    }

    /// Runs a range of the region's linear tile space.
    fn run_range(
        &self,
        range: Range<u64>,
        participant: &tiree_task::Participant,
    ) -> std::result::Result<(), GridError> {
        let mut base = 0;
        for work in &self.works {
            let (start, end) = (range.start.max(base), range.end.min(base + work.tiles));
            if start < end {
                let (index, count) = (participant.index, participant.worker_count);
                work.run(start - base..end - base, index, count, participant.local_memory_limit)
                    .map_err(GridError::Status)?;
            }
            base += work.tiles;
        }
        Ok(())
    }

    /// Spreads the measured time over the dispatches in proportion to what was expected of them.
    fn record(&self, measured: f64, estimate: f64) {
        for work in &self.works {
            if let Kind::Dispatch { dispatch, total, .. } = &work.kind {
                let share = if estimate > 0.0 { work.estimate() / estimate } else { 1.0 };
                dispatch.executable.record_cost(dispatch.entry, measured * share / *total as f64);
            }
        }
    }
}

/// Errors of tiles: those of kernels, and those of the executor.
pub(crate) enum GridError {
    Status(Status),
    Task(tiree_task::Error),
}

impl From<tiree_task::Error> for GridError {
    fn from(error: tiree_task::Error) -> Self {
        GridError::Task(error)
    }
}

impl GridError {
    pub(crate) fn into_status(self) -> Status {
        match self {
            GridError::Status(status) => status,
            GridError::Task(error) => task_status(&error),
        }
    }
}

/// An executor's error as a status.
pub(crate) fn task_status(error: &tiree_task::Error) -> Status {
    match error {
        tiree_task::Error::Panicked(_) => Status::internal(error.to_string()),
        tiree_task::Error::InvalidOption(_) => Status::invalid_argument(error.to_string()),
        _ => Status::unavailable(error.to_string()),
    }
}
