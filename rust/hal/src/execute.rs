//! Running recorded commands: resolving bindings, cutting regions into tiles, sharing tiles out.

mod region;

use crate::binding_table::Table;
use crate::buffer::{Buffer, Pins, WHOLE_BUFFER};
use crate::command_buffer::{Bound, Command, Counts, Dispatch, Program, check_counts};
use crate::drivers::{Counters, Workers};
use crate::executable::{DispatchArguments, Owners, Share};
use crate::timeline::{self, Traced};
use smallvec::SmallVec;
use std::ops::Range;
use std::time::Instant;
use tiree_vm::{Annotate, Result, Status, limits};

pub(crate) use self::region::task_status;

/// Bytes of a fill, copy or update that one tile handles.
const TRANSFER_TILE: usize = 64 * 1024;
/// Regions estimated to take less than this begin on the thread that runs them: a sleeping worker is no help before.
pub(crate) const INLINE_NANOSECONDS: f64 = 25_000.0;
/// What takes less is not timed again on one thread.
const TINY_NANOSECONDS: f64 = 5_000.0;
/// Guess for kernels that were never measured: bytes bound per nanosecond.
const GUESSED_BYTES_PER_NANOSECOND: f64 = 4.0;
/// What a memory transfer manages.
const TRANSFER_BYTES_PER_NANOSECOND: f64 = 8.0;

/// Bindings as pointers, and what keeps transient memory alive meanwhile.
struct Resolved<'a> {
    pointers: SmallVec<[*mut u8; 16]>,
    lengths: SmallVec<[usize; 16]>,
    /// The buffers themselves, when bytecode runs, which could keep them.
    buffers: Vec<&'a Buffer>,
    pins: Pins<'a>,
    /// Something is recorded of what runs.
    traced: bool,
}

/// One command as tiles `0..tiles` of a region.
struct Work<'a> {
    kind: Kind<'a>,
    tiles: u64,
    traced: Traced,
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
        is_update: bool,
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
    Pool(&'a Workers),
    /// Nowhere: they are counted.
    Nobody(&'a Counters),
}

impl Threads<'_> {
    /// Without the workers.
    pub(crate) fn alone(self) -> Self {
        match self {
            Threads::Pool(workers) => Threads::Caller(workers.executor.topology().local_memory),
            other => other,
        }
    }
}

/// The binding as a pointer and a length, checked for this execution.
#[inline]
fn resolve_binding<'a, T: Table + ?Sized>(
    bound: &'a Bound,
    table: &'a T,
    pins: &mut Pins<'a>,
) -> Result<(*mut u8, usize, &'a Buffer)> {
    let (buffer, offset, length) = match &bound.binding.buffer {
        Some(buffer) => (&**buffer, bound.binding.offset as usize, bound.binding.length as usize),
        None => resolve_slot(bound, table)?,
    };
    let pointer = buffer.resolve(pins)?;
    // SAFETY: the offset was checked against the buffer, here or while recording.
    Ok((unsafe { pointer.as_ptr().add(offset) }, length, buffer))
}

/// The range of an indirect binding. What the buffer is good for is known only now, too.
#[inline]
fn resolve_slot<'a, T: Table + ?Sized>(bound: &Bound, table: &'a T) -> Result<(&'a Buffer, usize, usize)> {
    let (binding, number) = (&bound.binding, bound.binding.slot);
    let slot = table.slot(number as usize).ok_or_else(|| {
        Status::invalid_argument(format!(
            "the command buffer uses slot {number} but the binding table has {} entries",
            table.len()
        ))
    })?;
    let buffer = slot.buffer.ok_or_else(|| {
        Status::invalid_argument(format!("the command buffer uses slot {number}, which is empty in the binding table"))
    })?;
    let (base, size) = buffer.resolve_range(slot.offset, slot.length).annotate(|| format!("slot {number}"))?;
    let (offset, size) = (binding.offset, size as u64);
    let length = match binding.length {
        WHOLE_BUFFER => size.checked_sub(offset),
        length => offset.checked_add(length).filter(|&end| end <= size).map(|_| length),
    };
    let Some(length) = length else {
        return Err(Status::out_of_range(format!(
            "binding [{offset}, {offset} + {}) is outside slot {number} of {size} bytes",
            binding.length as i64
        )));
    };
    buffer.check_usage(bound.usages)?;
    buffer.check_access(bound.accesses)?;
    Ok((buffer, base + offset as usize, length as usize))
}

/// Runs all commands of `program` with the bindings of `table`.
///
/// # Errors
/// The first failure; it names the command.
pub(crate) fn run_program<T: Table + ?Sized>(program: &Program, table: &T, threads: &Threads<'_>) -> Result<()> {
    match tiree_trace::timeline() {
        false => run_commands(program, table, threads),
        true => timeline::program(program, || run_commands(program, table, threads)),
    }
}

fn run_commands<T: Table + ?Sized>(program: &Program, table: &T, threads: &Threads<'_>) -> Result<()> {
    let mut resolved = Resolved {
        pointers: SmallVec::new(),
        lengths: SmallVec::new(),
        buffers: Vec::new(),
        pins: Pins::default(),
        traced: tiree_trace::active(),
    };
    for (index, bound) in program.bindings.iter().enumerate() {
        match resolve_binding(bound, table, &mut resolved.pins) {
            Ok((pointer, length, buffer)) => {
                resolved.pointers.push(pointer);
                resolved.lengths.push(length);
                if program.has_bytecode {
                    resolved.buffers.push(buffer);
                }
            }
            Err(status) => return Err(name_binding(program, index, status)),
        }
    }
    match threads {
        Threads::Caller(local_memory) => {
            for index in 0..program.commands.len() {
                let work = prepare(program, index, &resolved)?;
                let share = Share { tiles: 0..work.tiles, processor: 0, worker_count: 1, local_memory: *local_memory };
                let begin = work.is_worth_timing().then(Instant::now);
                work.run(share).map_err(|status| name_command(program, index, status))?;
                if let Some(begin) = begin {
                    work.record(begin.elapsed().as_nanos() as f64);
                }
            }
        }
        Threads::Nobody(counters) => {
            Counters::add(&counters.executions, 1);
            for index in 0..program.commands.len() {
                prepare(program, index, &resolved)?.count(counters);
            }
        }
        Threads::Pool(workers) => {
            for range in &program.regions {
                let mut region = Region { works: SmallVec::new() };
                for index in range.clone() {
                    let work = prepare(program, index, &resolved)?;
                    if work.tiles > 0 {
                        region.works.push(work);
                    }
                }
                region.run(workers).annotate(|| format!("while executing commands {}..{}", range.start, range.end))?;
            }
        }
    }
    Ok(())
}

#[cold]
fn name_command(program: &Program, index: usize, status: Status) -> Status {
    status.annotate(format!("while executing command {index} ({})", command_name(&program.commands[index])))
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

/// Command `index` as work; its range of tiles may be empty.
#[inline]
fn prepare<'a>(program: &'a Program, index: usize, resolved: &'a Resolved<'_>) -> Result<Work<'a>> {
    match &program.commands[index] {
        Command::Dispatch(dispatch) => dispatch_work(program, dispatch, resolved),
        transfer => transfer_work(program, transfer, resolved),
    }
    .map_err(|status| name_command(program, index, status))
}

#[inline]
fn dispatch_work<'a>(program: &'a Program, dispatch: &'a Dispatch, resolved: &'a Resolved<'_>) -> Result<Work<'a>> {
    let (counts, total) = match dispatch.counts {
        Counts::Static { counts, total } => (counts, total),
        Counts::Indirect(at) => {
            // SAFETY: the binding is 12 bytes long (set while recording, checked when resolved).
            let counts = unsafe { resolved.pointers[at].cast::<[u32; 3]>().read_unaligned() };
            (counts, check_counts(counts)?)
        }
    };
    let arguments = DispatchArguments {
        entry: dispatch.entry,
        counts,
        constants: &program.constants[dispatch.constants.clone()],
        pointers: &resolved.pointers[dispatch.bindings.clone()],
        lengths: &resolved.lengths[dispatch.bindings.clone()],
        owners: match dispatch.executable.is_bytecode() {
            true => Owners::Buffers(&resolved.buffers[dispatch.bindings.clone()]),
            false => Owners::Caller,
        },
        limits: limits::current(),
    };
    let sequential = dispatch.executable.is_sequential(dispatch.entry);
    let tiles = if sequential { total.min(1) } else { total };
    let traced = if resolved.traced { Traced::dispatch(&dispatch.executable, dispatch.entry) } else { Traced::No };
    Ok(Work { kind: Kind::Dispatch { dispatch, arguments, total }, tiles, traced })
}

fn transfer_work<'a>(program: &'a Program, command: &'a Command, resolved: &'a Resolved<'_>) -> Result<Work<'a>> {
    match command {
        Command::Dispatch(dispatch) => dispatch_work(program, dispatch, resolved),
        Command::Fill { target, pattern } => {
            let length = resolved.lengths[*target];
            pattern.check_range(0, length)?;
            let kind = Kind::Fill { pattern: *pattern, target: resolved.pointers[*target], length };
            Ok(Work { kind, tiles: length.div_ceil(TRANSFER_TILE) as u64, traced: Traced::transfer() })
        }
        Command::Copy { source, target } => {
            let (length, available) = (resolved.lengths[*target], resolved.lengths[*source]);
            if length != available {
                return Err(Status::invalid_argument(format!(
                    "copy between ranges of different lengths: source {available}, target {length}"
                )));
            }
            copy_work(resolved.pointers[*source], resolved.pointers[*target], length, false)
        }
        Command::Update { data, target } => {
            copy_work(program.data[data.clone()].as_ptr(), resolved.pointers[*target], data.len(), true)
        }
    }
}

fn copy_work<'a>(source: *const u8, target: *mut u8, length: usize, is_update: bool) -> Result<Work<'a>> {
    let (from, to) = (source as usize, target as usize);
    if from != to && from < to + length && to < from + length {
        return Err(Status::invalid_argument("copy source and target ranges overlap"));
    }
    let kind = Kind::Copy { source, target, length, is_update };
    Ok(Work { kind, tiles: length.div_ceil(TRANSFER_TILE) as u64, traced: Traced::transfer() })
}

impl Work<'_> {
    /// Counts what would have been done.
    fn count(&self, counters: &Counters) {
        let (counter, bytes) = match &self.kind {
            Kind::Dispatch { total, .. } => {
                Counters::add(&counters.dispatches, 1);
                return Counters::add(&counters.workgroups, *total);
            }
            Kind::Fill { length, .. } => (&counters.fills, *length),
            Kind::Copy { length, is_update, .. } => {
                (if *is_update { &counters.updates } else { &counters.copies }, *length)
            }
        };
        Counters::add(counter, 1);
        Counters::add(&counters.transfer_bytes, bytes as u64);
    }

    /// Whether the estimate is more than a guess.
    fn is_measured(&self) -> bool {
        match &self.kind {
            Kind::Dispatch { dispatch, .. } => dispatch.executable.tile_cost(dispatch.entry).is_some(),
            Kind::Fill { .. } | Kind::Copy { .. } => true,
        }
    }

    /// Whether it is not known yet, or not for long, how long it takes: a first execution takes longer than others.
    /// Reading the clock takes as long as a tiny kernel.
    fn is_worth_timing(&self) -> bool {
        match &self.kind {
            Kind::Dispatch { dispatch, total, .. } => {
                let cost = dispatch.executable.tile_cost(dispatch.entry);
                *total > 0 && cost.is_none_or(|cost| cost * *total as f64 >= TINY_NANOSECONDS)
            }
            Kind::Fill { .. } | Kind::Copy { .. } => false,
        }
    }

    /// Learns from an execution of all tiles in so many nanoseconds.
    fn record(&self, nanoseconds: f64) {
        if let Kind::Dispatch { dispatch, total, .. } = &self.kind {
            dispatch.executable.record_cost(dispatch.entry, nanoseconds / *total as f64);
        }
    }

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

    #[inline]
    fn run(&self, share: Share) -> Result<()> {
        match self.traced {
            Traced::No => self.perform(share),
            traced => self.run_traced(traced, share),
        }
    }

    #[cold]
    fn run_traced(&self, traced: Traced, share: Share) -> Result<()> {
        match (&self.kind, traced) {
            (Kind::Dispatch { dispatch, arguments, total }, Traced::Dispatch(number, place)) => {
                let label = dispatch.executable.label(dispatch.entry);
                let traced = tiree_trace::Dispatch { label, number, grid: arguments.counts, place };
                let workgroups = if self.tiles < *total { *total } else { share.tiles.end - share.tiles.start };
                timeline::share(traced, workgroups, || self.perform(share))
            }
            (Kind::Fill { length, .. }, Traced::Transfer(place)) => {
                timeline::transfer("fill_buffer", *length, place, || self.perform(share))
            }
            (Kind::Copy { length, is_update, .. }, Traced::Transfer(place)) => {
                let name = if *is_update { "update_buffer" } else { "copy_buffer" };
                timeline::transfer(name, *length, place, || self.perform(share))
            }
            _ => self.perform(share),
        }
    }

    #[inline]
    fn perform(&self, mut share: Share) -> Result<()> {
        match &self.kind {
            Kind::Dispatch { dispatch, arguments, total } => {
                let sequential = self.tiles < *total;
                if sequential {
                    share.tiles = 0..*total;
                }
                // SAFETY: the bindings were resolved for this execution and are pinned; that concurrent commands do not
                // write what others use is the program's promise (it would need a barrier).
                unsafe { dispatch.executable.run(arguments, &share) }
            }
            Kind::Fill { pattern, target, length } => {
                let range = byte_range(&share.tiles, *length);
                // SAFETY: inside the resolved range; tile starts are multiples of the pattern.
                unsafe { pattern.fill(target.add(range.start), range.len()) };
                Ok(())
            }
            Kind::Copy { source, target, length, .. } => {
                let range = byte_range(&share.tiles, *length);
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
