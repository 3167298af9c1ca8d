//! The `io_parameters` module: load, gather, scatter.

use super::{Entry, Provider};
use crate::allocator::Allocator;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::fence::Fence;
use crate::import_table::{self, native_export};
use crate::module::{text, when_ready};
use crate::queue::QueueOp;
use crate::types::{access, usage};
use std::any::Any;
use std::sync::Arc;
use tiree_vm::{
    Annotate, CallFrame, Flow, NativeExport, NativeModule, Result, Status, TypeDef, Value, VmBuffer, VmList,
};

static EXPORTS: [NativeExport; import_table::IO_PARAMETERS.len()] = [
    native_export(&import_table::IO_PARAMETERS, "gather"),
    native_export(&import_table::IO_PARAMETERS, "load"),
    native_export(&import_table::IO_PARAMETERS, "scatter"),
];

/// The module over a list of providers; each answers for its scope.
pub struct ParametersModule {
    providers: Vec<Provider>,
}

impl ParametersModule {
    /// A module over `providers`; several of one scope are asked in order.
    pub fn new(providers: Vec<Provider>) -> ParametersModule {
        ParametersModule { providers }
    }

    fn find(&self, scope: &str, key: &str) -> Result<Arc<Entry>> {
        let mut providers = self.providers.iter().filter(|provider| provider.scope == scope).peekable();
        if providers.peek().is_none() {
            return Err(self.no_scope(scope));
        }
        if let Some(entry) = providers.find_map(|provider| provider.index.get(key)) {
            return Ok(entry);
        }
        Err(self.no_key(scope, key))
    }

    #[cold]
    fn no_scope(&self, scope: &str) -> Status {
        let scopes: Vec<String> = self.providers.iter().map(|provider| format!("'{}'", provider.scope)).collect();
        Status::not_found(format!(
            "no provider registered that handles scopes like '{scope}'; registered: {}; pass --parameters={}FILE",
            if scopes.is_empty() { "none".to_owned() } else { scopes.join(", ") },
            if scope.is_empty() { String::new() } else { format!("{scope}=") }
        ))
    }

    #[cold]
    fn no_key(&self, scope: &str, key: &str) -> Status {
        let providers = self.providers.iter().filter(|provider| provider.scope == scope);
        let entries: Vec<Arc<Entry>> = providers.flat_map(|provider| provider.index.entries()).collect();
        let mut files: Vec<&str> = Vec::new();
        for source in entries.iter().filter_map(|entry| entry.source()) {
            if !files.contains(&source.name()) {
                files.push(source.name());
            }
        }
        let mut known: Vec<&str> = entries.iter().take(KEYS_LISTED).map(|entry| entry.key.as_str()).collect();
        let more = format!("and {} more", entries.len() - known.len());
        if entries.len() > known.len() {
            known.push(&more);
        }
        let scope = if scope.is_empty() { "the global scope".to_owned() } else { format!("scope '{scope}'") };
        Status::not_found(format!(
            "no parameter found in index with key '{key}'; {scope}{} has: {}",
            if files.is_empty() { String::new() } else { format!(" ({})", files.join(", ")) },
            if known.is_empty() { "none".to_owned() } else { known.join(", ") }
        ))
    }
}

/// Keys that a message lists.
const KEYS_LISTED: usize = 12;

impl NativeModule for ParametersModule {
    fn name(&self) -> &str {
        "io_parameters"
    }

    fn version(&self) -> u32 {
        import_table::IO_PARAMETERS_VERSION
    }

    fn exports(&self) -> &[NativeExport] {
        &EXPORTS
    }

    fn check_pages(&self) -> Result<()> {
        let entries = self.providers.iter().flat_map(|provider| provider.index.entries());
        entries.filter_map(|entry| entry.source().cloned()).try_for_each(|source| source.check_pages())
    }

    fn call(&self, _state: &(dyn Any + Send + Sync), ordinal: usize, frame: &mut CallFrame<'_>) -> Result<Flow> {
        match ordinal {
            0 => when_ready(frame, |frame| self.gather(frame)),
            1 => when_ready(frame, |frame| self.load(frame)),
            2 => when_ready(frame, |frame| self.scatter(frame)),
            _ => Err(Status::out_of_range(format!("io_parameters has no function {ordinal}"))),
        }
    }
}

/// One (key, span) of a call.
struct Item {
    key: String,
    parameter_offset: u64,
    buffer_offset: u64,
    length: u64,
}

/// Reads the last three arguments: key table, key data, spans. The names may overlap and so be longer than all that was
/// given: they are taken from the caller's memory meanwhile.
fn items(frame: &mut CallFrame<'_>) -> Result<Vec<Item>> {
    let (table, data, spans): (&VmBuffer, &VmBuffer, &VmBuffer) =
        (frame.borrow_ref()?, frame.borrow_ref()?, frame.borrow_ref()?);
    let (table, data, spans) = (table.to_vec(), data.to_vec(), spans.to_vec());
    if spans.len() % 24 != 0 || table.len() % 8 != 0 || spans.len() / 24 != table.len() / 8 {
        return Err(Status::invalid_argument(format!(
            "parameter table of {} bytes and spans of {} bytes do not describe the same number of parameters",
            table.len(),
            spans.len()
        )));
    }
    let mut charge = frame.charge(table.len() + data.len() + spans.len())?;
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
    let pairs = table.chunks_exact(8).zip(spans.chunks_exact(24));
    pairs
        .map(|(key, span)| {
            let (offset, length) = (number(&key[..4]) as usize, number(&key[4..]) as usize);
            let key = offset.checked_add(length).and_then(|end| data.get(offset..end)).ok_or_else(|| {
                Status::out_of_range(format!("parameter name lies outside the name table of {} bytes", data.len()))
            })?;
            charge.as_mut().map_or(Ok(()), |charge| charge.add(size_of::<Item>() + key.len()))?;
            Ok(Item {
                key: String::from_utf8_lossy(key).into_owned(),
                parameter_offset: number(&span[..8]),
                buffer_offset: number(&span[8..16]),
                length: number(&span[16..]),
            })
        })
        .collect()
}

/// What all three functions begin with.
struct Call {
    device: Arc<Device>,
    affinity: i64,
    waits: Option<Arc<Fence>>,
    signals: Option<Arc<Fence>>,
}

impl Call {
    fn read(frame: &mut CallFrame<'_>) -> Result<Call> {
        let device: Arc<Device> = frame.get_ref()?;
        Ok(Call { device, affinity: frame.i64()?, waits: frame.opt_ref()?, signals: frame.opt_ref()? })
    }

    fn submit(self, frame: &CallFrame<'_>, operation: QueueOp) -> Result<()> {
        self.device.submit(self.waits, self.signals, operation.on(self.affinity).within(frame.quota())?)
    }
}

/// A scope; null is the global one.
fn scope(frame: &mut CallFrame<'_>) -> Result<String> {
    Ok(frame.opt_ref::<VmBuffer>()?.map(|buffer| text(&buffer)).unwrap_or_default())
}

impl ParametersModule {
    fn load(&self, frame: &mut CallFrame<'_>) -> Result<Flow> {
        let call = Call::read(frame)?;
        let (scope, allocator) = (scope(frame)?, call.device.allocator().clone());
        frame.i64()?;
        let (types, usages) = (frame.i32()? as u32, frame.i32()? as u32);
        let list = VmList::charged(TypeDef::Any, frame.quota())?;
        let mut copies: Vec<(Arc<Entry>, u64, Arc<Buffer>)> = Vec::new();
        for item in items(frame)? {
            let entry = self.find(&scope, &item.key)?;
            check_whole(&entry, &scope, &item)?;
            let imported = import(&allocator, &entry, &item, types, usages);
            let buffer = match imported {
                Some(buffer) => Arc::new(buffer),
                None => {
                    let buffer = allocate(frame, &allocator, (types, usages), item.length)
                        .annotate(|| format!("loading parameter {}", entry.described()))?;
                    copies.push((entry, item.parameter_offset, buffer.clone()));
                    buffer
                }
            };
            list.push(Value::from_object(buffer))?;
        }
        let operation = if copies.is_empty() {
            QueueOp::barrier()
        } else {
            QueueOp::host(move || {
                copies.iter().try_for_each(|(entry, offset, buffer)| {
                    read_into(entry, *offset, buffer, 0, buffer.byte_length() as u64)
                })
            })
        };
        call.submit(frame, operation)?;
        frame.push_ref(Arc::new(list));
        Ok(Flow::Done)
    }

    /// The scope that is read comes before the buffer that is written.
    fn gather(&self, frame: &mut CallFrame<'_>) -> Result<Flow> {
        let (call, scope) = (Call::read(frame)?, scope(frame)?);
        let target: Arc<Buffer> = frame.get_ref()?;
        target.check_usage(usage::TRANSFER_TARGET)?;
        target.check_access(access::WRITE)?;
        let reads = self.spans(&scope, &target, items(frame)?, "gathering")?;
        let operation = QueueOp::host(move || {
            reads.iter().try_for_each(|(entry, item)| {
                read_into(entry, item.parameter_offset, &target, item.buffer_offset, item.length)
            })
        });
        call.submit(frame, operation)?;
        Ok(Flow::Done)
    }

    /// The buffer that is read comes before the scope that is written.
    fn scatter(&self, frame: &mut CallFrame<'_>) -> Result<Flow> {
        let call = Call::read(frame)?;
        let (source, scope): (Arc<Buffer>, String) = (frame.get_ref()?, scope(frame)?);
        source.check_usage(usage::TRANSFER_SOURCE)?;
        source.check_access(access::READ)?;
        let writes = self.spans(&scope, &source, items(frame)?, "scattering")?;
        writes.iter().try_for_each(|(entry, _)| entry.check_writable())?;
        let operation =
            QueueOp::host(move || writes.iter().try_for_each(|(entry, item)| write_from(entry, item, &source)));
        call.submit(frame, operation)?;
        Ok(Flow::Done)
    }

    /// The entries of `items`, whose ranges were checked against them and against `buffer`.
    fn spans(&self, scope: &str, buffer: &Buffer, items: Vec<Item>, doing: &str) -> Result<Vec<(Arc<Entry>, Item)>> {
        let check = |item: Item| {
            let entry = self.find(scope, &item.key)?;
            entry.check_range(item.parameter_offset, item.length)?;
            buffer
                .resolve_range(item.buffer_offset, item.length)
                .annotate(|| format!("{doing} parameter {}", entry.described()))?;
            Ok((entry, item))
        };
        items.into_iter().map(check).collect()
    }
}

/// OUT_OF_RANGE, with both sizes, unless the range is in the entry; a range from the beginning must be all of it, since
/// the program was compiled for a parameter of that size.
fn check_whole(entry: &Entry, scope: &str, item: &Item) -> Result<()> {
    if item.parameter_offset != 0 {
        return entry.check_range(item.parameter_offset, item.length);
    }
    if item.length == entry.len() {
        return entry.check_file();
    }
    let scope = if scope.is_empty() { String::new() } else { format!(" (scope '{scope}')") };
    Err(Status::out_of_range(format!(
        "parameter {}{scope} has {} bytes, the program needs {}; is it the file of another model or version?",
        entry.described(),
        entry.len(),
        item.length
    )))
}

fn allocate(
    frame: &CallFrame<'_>,
    allocator: &Allocator,
    (types, usages): (u32, u32),
    length: u64,
) -> Result<Arc<Buffer>> {
    let length = usize::try_from(length).map_err(|_| Status::resource_exhausted(format!("{length} bytes asked")))?;
    Ok(Arc::new(allocator.allocate_charged(types, usages, length, frame.charge(length)?)?))
}

/// The range as a read-only buffer over the source itself, when it is aligned and never written: not by the program, to
/// which it is a constant, nor by a scatter.
fn import(allocator: &Allocator, entry: &Entry, item: &Item, types: u32, usages: u32) -> Option<Buffer> {
    let source = entry.source().filter(|source| !source.is_writable())?;
    if usages & usage::SHARING_IMMUTABLE == 0 {
        return None;
    }
    let data = entry.pointer(item.parameter_offset, item.length)?;
    // SAFETY: the source is the owner; its bytes stay valid and unchanged, and the buffer is read-only.
    unsafe { allocator.import(types, usages, data, item.length as usize, false, source.clone()) }.ok()
}

fn read_into(entry: &Entry, offset: u64, target: &Buffer, target_offset: u64, length: u64) -> Result<()> {
    let (start, length) = target.resolve_range(target_offset, length)?;
    let mapping = target.map()?;
    // SAFETY: the range is inside the mapping.
    unsafe { entry.read_to(offset, mapping.as_ptr().as_ptr().add(start), length) }
}

fn write_from(entry: &Entry, item: &Item, source: &Buffer) -> Result<()> {
    let (start, length) = source.resolve_range(item.buffer_offset, item.length)?;
    let mapping = source.map()?;
    // SAFETY: the range is inside the mapping.
    unsafe { entry.write_from(item.parameter_offset, mapping.as_ptr().as_ptr().add(start), length) }
}
