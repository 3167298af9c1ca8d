//! Queue operations: what a device does between a wait fence and a signal fence.

use crate::binding_table::{Slot, Table, TableEntry};
use crate::buffer::Buffer;
use crate::buffer::Storage;
use crate::charge;
use crate::command_buffer::{Command, CommandBuffer, Counts, MAX_UPDATE, Pattern, Program};
use crate::device::Operation;
use crate::drivers::Counters;
use crate::execute::{Threads, run_program};
use crate::file::File;
use crate::timeline;
use crate::types::{access, usage};
use smallvec::SmallVec;
use std::sync::Arc;
use tiree_trace::Place;
use tiree_vm::{Annotate, Charge, Limits, Quota, Result, Shared, Status, limits};

/// What no kernel does more of.
const FASTEST_BYTES_PER_NANOSECOND: f64 = 16.0;

/// A range of a buffer, checked when the operation is made.
pub(crate) struct Range {
    buffer: Arc<Buffer>,
    offset: usize,
    length: usize,
}

impl Range {
    fn new(buffer: Arc<Buffer>, offset: u64, length: u64, usages: u32, accesses: u32) -> Result<Range> {
        let (offset, length) = buffer.resolve_range(offset, length)?;
        buffer.check_usage(usages)?;
        buffer.check_access(accesses)?;
        Ok(Range { buffer, offset, length })
    }
}

/// One operation; made by the constructors, which check everything that is known at the call.
pub struct QueueOp {
    op: Op,
    /// Of the call that submits it, for bytecode that it runs.
    limits: Limits,
    /// Where it was submitted, once it was.
    place: Option<Place>,
    /// Bits of the queues that it may run on.
    affinity: i64,
    /// What it takes while it waits.
    _charge: Option<Charge>,
}

enum Op {
    Barrier,
    Alloca(Arc<Storage>),
    Dealloca(Arc<Buffer>),
    Fill { target: Range, pattern: Pattern },
    Copy { source: Range, target: Range },
    Update { data: Box<[u8]>, target: Range },
    Read { file: Arc<File>, offset: u64, target: Range },
    Write { source: Range, file: Arc<File>, offset: u64 },
    Execute { commands: Arc<CommandBuffer>, table: SmallVec<[TableEntry; 4]> },
    Host(Box<dyn FnOnce() -> Result<()> + Send>),
}

impl QueueOp {
    fn new(op: Op) -> QueueOp {
        QueueOp { op, limits: Limits::default(), place: None, affinity: -1, _charge: None }
    }

    /// For the call that executes on this thread: its limits hold, and what waits is taken from `quota`.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED.
    pub(crate) fn within(mut self, quota: Option<&Arc<Quota>>) -> Result<QueueOp> {
        let bytes = match &self.op {
            Op::Update { data, .. } => data.len(),
            Op::Execute { table, .. } => table.len() * size_of::<TableEntry>(),
            _ => 0,
        };
        self.limits = limits::current();
        self._charge = quota.map(|quota| charge::take::<QueueOp>(quota, bytes)).transpose()?;
        Ok(self)
    }

    /// For one of the queues in `affinity`.
    #[must_use]
    pub fn on(mut self, affinity: i64) -> QueueOp {
        self.affinity = affinity;
        self
    }

    /// Says where it is submitted.
    pub(crate) fn placed(mut self, place: impl FnOnce(i64) -> Place) -> QueueOp {
        self.place = Some(place(self.affinity));
        self
    }

    /// Nothing: joins waits and signals.
    pub fn barrier() -> QueueOp {
        QueueOp::new(Op::Barrier)
    }

    /// Gives a transient buffer its memory.
    pub(crate) fn alloca(storage: Arc<Storage>) -> QueueOp {
        QueueOp::new(Op::Alloca(storage))
    }

    /// Takes the memory of a transient buffer back; other buffers keep theirs.
    pub fn dealloca(buffer: Arc<Buffer>) -> QueueOp {
        QueueOp::new(Op::Dealloca(buffer))
    }

    /// Fills a range with a pattern.
    ///
    /// # Errors
    /// OUT_OF_RANGE, INVALID_ARGUMENT or PERMISSION_DENIED.
    pub fn fill(target: Arc<Buffer>, offset: u64, length: u64, pattern: Pattern) -> Result<QueueOp> {
        let target =
            Range::new(target, offset, length, usage::TRANSFER_TARGET, access::WRITE).annotate(|| "fill".into())?;
        pattern.check_range(target.offset, target.length)?;
        Ok(QueueOp::new(Op::Fill { target, pattern }))
    }

    /// Copies a range.
    ///
    /// # Errors
    /// OUT_OF_RANGE, INVALID_ARGUMENT (overlap) or PERMISSION_DENIED.
    pub fn copy(
        source: Arc<Buffer>,
        source_offset: u64,
        target: Arc<Buffer>,
        target_offset: u64,
        length: u64,
    ) -> Result<QueueOp> {
        let source = Range::new(source, source_offset, length, usage::TRANSFER_SOURCE, access::READ)
            .annotate(|| "copy source".into())?;
        let target = Range::new(target, target_offset, source.length as u64, usage::TRANSFER_TARGET, access::WRITE)
            .annotate(|| "copy target".into())?;
        if source.buffer.same_allocation(&target.buffer) {
            let from = source.buffer.byte_offset() + source.offset;
            let to = target.buffer.byte_offset() + target.offset;
            if from < to + target.length && to < from + source.length {
                return Err(Status::invalid_argument("copy source and target ranges overlap"));
            }
        }
        Ok(QueueOp::new(Op::Copy { source, target }))
    }

    /// Writes bytes, which are captured now.
    ///
    /// # Errors
    /// OUT_OF_RANGE or PERMISSION_DENIED; INVALID_ARGUMENT above 64 KiB.
    pub fn update(data: &[u8], target: Arc<Buffer>, offset: u64) -> Result<QueueOp> {
        if data.len() > MAX_UPDATE {
            let length = data.len();
            return Err(Status::invalid_argument(format!(
                "update of {length} bytes is above the limit of {MAX_UPDATE}"
            )));
        }
        let target = Range::new(target, offset, data.len() as u64, usage::TRANSFER_TARGET, access::WRITE)
            .annotate(|| "update".into())?;
        Ok(QueueOp::new(Op::Update { data: data.into(), target }))
    }

    /// Reads a file range into a buffer.
    ///
    /// # Errors
    /// OUT_OF_RANGE or PERMISSION_DENIED.
    pub fn read(file: Arc<File>, offset: u64, target: Arc<Buffer>, target_offset: u64, length: u64) -> Result<QueueOp> {
        let target = Range::new(target, target_offset, length, usage::TRANSFER_TARGET, access::WRITE)
            .annotate(|| "read target".into())?;
        if offset.checked_add(target.length as u64).is_none_or(|end| end > file.len()) {
            return Err(Status::out_of_range(format!(
                "read of {} bytes at {offset} is outside the file of {} bytes",
                target.length,
                file.len()
            )));
        }
        Ok(QueueOp::new(Op::Read { file, offset, target }))
    }

    /// Writes a buffer range to a file.
    ///
    /// # Errors
    /// OUT_OF_RANGE or PERMISSION_DENIED.
    pub fn write(
        source: Arc<Buffer>,
        source_offset: u64,
        file: Arc<File>,
        offset: u64,
        length: u64,
    ) -> Result<QueueOp> {
        let source = Range::new(source, source_offset, length, usage::TRANSFER_SOURCE, access::READ)
            .annotate(|| "write source".into())?;
        Ok(QueueOp::new(Op::Write { source, file, offset }))
    }

    /// Executes a command buffer with a binding table.
    ///
    /// # Errors
    /// FAILED_PRECONDITION when it is not finalized; INVALID_ARGUMENT when the table is larger than its capacity.
    pub fn execute(commands: Arc<CommandBuffer>, table: SmallVec<[TableEntry; 4]>) -> Result<QueueOp> {
        check_execute(&commands, table.len())?;
        Ok(QueueOp::new(Op::Execute { commands, table }))
    }

    /// Runs a function of the host's.
    pub fn host(function: impl FnOnce() -> Result<()> + Send + 'static) -> QueueOp {
        QueueOp::new(Op::Host(Box::new(function)))
    }

    /// Estimated nanoseconds.
    pub(crate) fn estimate(&self) -> f64 {
        let transfer = |range: &Range| range.length as f64 / 8.0;
        match &self.op {
            Op::Barrier | Op::Alloca(_) | Op::Dealloca(_) => 0.0,
            Op::Fill { target, .. } | Op::Copy { target, .. } | Op::Update { target, .. } => transfer(target),
            // Files may block: never on the submitting thread, whatever their size.
            Op::Read { .. } | Op::Write { .. } | Op::Host(_) => f64::INFINITY,
            Op::Execute { commands, table } => {
                commands.program().map_or(0.0, |program| estimate_program(program, &table[..]))
            }
        }
    }

    /// Counts it for a device that executes nothing; true when it has to be run all the same.
    fn count(&self, counters: &Counters) -> bool {
        let (counter, bytes, total) = match &self.op {
            Op::Barrier => (&counters.barriers, 0, &counters.transfer_bytes),
            Op::Alloca(storage) => {
                count_alloca(counters, storage);
                return true;
            }
            Op::Dealloca(_) => {
                Counters::add(&counters.deallocas, 1);
                return true;
            }
            Op::Fill { target, .. } => (&counters.fills, target.length, &counters.transfer_bytes),
            Op::Copy { target, .. } => (&counters.copies, target.length, &counters.transfer_bytes),
            Op::Update { target, .. } => (&counters.updates, target.length, &counters.transfer_bytes),
            Op::Read { target, .. } => (&counters.reads, target.length, &counters.file_bytes),
            Op::Write { source, .. } => (&counters.writes, source.length, &counters.file_bytes),
            // Its commands are counted one by one.
            Op::Execute { .. } => return true,
            Op::Host(_) => (&counters.host_calls, 0, &counters.transfer_bytes),
        };
        Counters::add(counter, 1);
        Counters::add(total, bytes as u64);
        false
    }

    /// What it is called on timelines.
    fn name(&self) -> &'static str {
        match &self.op {
            Op::Barrier => "queue_barrier",
            Op::Alloca(_) => "queue_alloca",
            Op::Dealloca(_) => "queue_dealloca",
            Op::Fill { .. } => "queue_fill",
            Op::Copy { .. } => "queue_copy",
            Op::Update { .. } => "queue_update",
            Op::Read { .. } => "queue_read",
            Op::Write { .. } => "queue_write",
            Op::Execute { .. } => "queue_execute",
            Op::Host(_) => "queue_host_call",
        }
    }

    /// Does it, on the calling thread and whoever helps it.
    pub(crate) fn run(self, threads: &Threads<'_>) -> Result<()> {
        let _scope = limits::Scope::enter(self.limits);
        let place = self.place;
        timeline::operation(self.name(), || place, || self.perform(threads))
    }

    fn perform(self, threads: &Threads<'_>) -> Result<()> {
        if let Threads::Nobody(counters) = threads
            && !self.count(counters)
        {
            return Ok(());
        }
        match self.op {
            Op::Barrier => Ok(()),
            Op::Alloca(storage) => storage.commit(),
            Op::Dealloca(buffer) => {
                buffer.storage().release();
                Ok(())
            }
            Op::Fill { target, pattern } => {
                let mapping = target.buffer.map()?;
                // SAFETY: the range was checked against the buffer, which the mapping keeps alive.
                unsafe { pattern.fill(mapping.as_ptr().as_ptr().add(target.offset), target.length) };
                Ok(())
            }
            Op::Copy { source, target } => {
                let (from, to) = (source.buffer.map()?, target.buffer.map()?);
                // SAFETY: both ranges were checked and are alive.
                unsafe {
                    let from = from.as_ptr().as_ptr().add(source.offset);
                    std::ptr::copy(from, to.as_ptr().as_ptr().add(target.offset), target.length);
                }
                Ok(())
            }
            Op::Update { data, target } => target.buffer.write(target.offset as u64, &data),
            Op::Read { file, offset, target } => {
                let mapping = target.buffer.map()?;
                // SAFETY: a checked range of live memory that, by the fences of the program, nobody else uses now.
                let bytes = unsafe {
                    std::slice::from_raw_parts_mut(mapping.as_ptr().as_ptr().add(target.offset), target.length)
                };
                file.read(offset, bytes)
            }
            Op::Write { source, file, offset } => {
                let mapping = source.buffer.map()?;
                // SAFETY: as above, and nobody writes it now.
                let bytes =
                    unsafe { std::slice::from_raw_parts(mapping.as_ptr().as_ptr().add(source.offset), source.length) };
                file.write(offset, bytes)
            }
            Op::Execute { commands, table } => run_program(commands.begin_execution()?, &table[..], threads),
            Op::Host(function) => function(),
        }
    }
}

fn count_alloca(counters: &Counters, storage: &Storage) {
    Counters::add(&counters.allocas, 1);
    Counters::add(&counters.alloca_bytes, storage.byte_length() as u64);
}

fn check_execute(commands: &CommandBuffer, entries: usize) -> Result<()> {
    if commands.program().is_none() {
        return Err(Status::failed_precondition(
            "the command buffer is still being recorded; finalize it before execution",
        ));
    }
    if entries > commands.binding_capacity() {
        return Err(Status::invalid_argument(format!(
            "binding table of {entries} entries is larger than the command buffer's capacity {}",
            commands.binding_capacity()
        )));
    }
    Ok(())
}

/// Bytes of a binding.
fn bound<T: Table + ?Sized>(program: &Program, table: &T, index: usize) -> u64 {
    let binding = &program.bindings[index].binding;
    match (&binding.buffer, table.slot(binding.slot as usize).and_then(|slot| slot.buffer)) {
        (None, Some(buffer)) => binding.length.min(buffer.byte_length() as u64),
        _ => binding.length,
    }
}

fn estimate_program<T: Table + ?Sized>(program: &Program, table: &T) -> f64 {
    let length = |index: usize| bound(program, table, index);
    let mut sum = 0.0;
    for command in &program.commands {
        sum += match command {
            Command::Dispatch(dispatch) => {
                let cost = dispatch.executable.tile_cost(dispatch.entry);
                match (cost, &dispatch.counts) {
                    (Some(cost), Counts::Static { total, .. }) => cost * *total as f64,
                    _ => dispatch.bindings.clone().map(|index| length(index) as f64 / 4.0).sum(),
                }
            }
            Command::Fill { target, .. } | Command::Copy { target, .. } | Command::Update { target, .. } => {
                length(*target) as f64 / 8.0
            }
        };
    }
    sum
}

/// [`QueueOp::alloca`], borrowed.
pub(crate) struct Alloca<'a> {
    pub(crate) storage: &'a Arc<Storage>,
}

impl Operation for Alloca<'_> {
    fn name(&self) -> &'static str {
        "queue_alloca"
    }

    fn estimate(&self) -> f64 {
        0.0
    }

    fn run(&self, threads: &Threads<'_>) -> Result<()> {
        if let Threads::Nobody(counters) = threads {
            count_alloca(counters, self.storage);
        }
        self.storage.commit()
    }

    fn to_owned(&self) -> QueueOp {
        QueueOp::alloca(self.storage.clone())
    }
}

/// [`QueueOp::dealloca`], borrowed.
pub(crate) struct Dealloca<'a> {
    pub(crate) buffer: Shared<'a, Buffer>,
}

impl Operation for Dealloca<'_> {
    fn name(&self) -> &'static str {
        "queue_dealloca"
    }

    fn estimate(&self) -> f64 {
        0.0
    }

    fn run(&self, threads: &Threads<'_>) -> Result<()> {
        if let Threads::Nobody(counters) = threads {
            Counters::add(&counters.deallocas, 1);
        }
        self.buffer.storage().release();
        Ok(())
    }

    fn to_owned(&self) -> QueueOp {
        QueueOp::dealloca(self.buffer.to_arc())
    }
}

/// [`QueueOp::execute`], borrowed.
pub(crate) struct Execute<'a> {
    commands: Shared<'a, CommandBuffer>,
    table: SmallVec<[SharedEntry<'a>; 4]>,
}

struct SharedEntry<'a> {
    buffer: Option<Shared<'a, Buffer>>,
    offset: u64,
    length: u64,
}

impl Table for [SharedEntry<'_>] {
    fn len(&self) -> usize {
        <[SharedEntry<'_>]>::len(self)
    }

    fn slot(&self, index: usize) -> Option<Slot<'_>> {
        let entry = self.get(index)?;
        Some(Slot { buffer: entry.buffer.map(Shared::object), offset: entry.offset, length: entry.length })
    }
}

impl<'a> Execute<'a> {
    /// With an empty table.
    #[inline]
    pub(crate) fn new(commands: Shared<'a, CommandBuffer>) -> Execute<'a> {
        Execute { commands, table: SmallVec::new() }
    }

    /// Adds an entry to the table.
    #[inline]
    pub(crate) fn push(&mut self, buffer: Option<Shared<'a, Buffer>>, offset: u64, length: u64) {
        self.table.push(SharedEntry { buffer, offset, length });
    }

    /// # Errors
    /// As [`QueueOp::execute`].
    pub(crate) fn check(&self) -> Result<()> {
        check_execute(&self.commands, self.table.len())
    }
}

impl Operation for Execute<'_> {
    fn name(&self) -> &'static str {
        "queue_execute"
    }

    fn estimate(&self) -> f64 {
        self.commands.program().map_or(0.0, |program| estimate_program(program, &self.table[..]))
    }

    fn cautious_estimate(&self) -> f64 {
        let Some(program) = self.commands.program() else { return 0.0 };
        let bytes: f64 = (0..program.bindings.len()).map(|index| bound(program, &self.table[..], index) as f64).sum();
        self.estimate().max(bytes / FASTEST_BYTES_PER_NANOSECOND)
    }

    fn run(&self, threads: &Threads<'_>) -> Result<()> {
        run_program(self.commands.begin_execution()?, &self.table[..], threads)
    }

    fn to_owned(&self) -> QueueOp {
        let entries = self.table.iter().map(|entry| TableEntry {
            buffer: entry.buffer.map(Shared::to_arc),
            offset: entry.offset,
            length: entry.length,
        });
        QueueOp::new(Op::Execute { commands: self.commands.to_arc(), table: entries.collect() })
    }
}
