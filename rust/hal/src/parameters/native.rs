//! The `io_parameters` module: load, gather, scatter.

use super::{Entry, Provider, Storage};
use crate::allocator::Allocator;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::fence::Fence;
use crate::module::text;
use crate::queue::QueueOp;
use crate::types::access;
use std::any::Any;
use std::sync::Arc;
use tiree_vm::{
    Annotate, CallFrame, Flow, NativeExport, NativeModule, Result, Status, TypeDef, Value, VmBuffer, VmList,
};

static EXPORTS: &[NativeExport] = &[
    NativeExport { name: "gather", cconv: "0rIrrrrrrr_v" },
    NativeExport { name: "load", cconv: "0rIrrrIiirrr_r" },
    NativeExport { name: "scatter", cconv: "0rIrrrrrrr_v" },
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
        let mut known = false;
        for provider in self.providers.iter().filter(|provider| provider.scope == scope) {
            known = true;
            if let Some(entry) = provider.index.get(key) {
                return Ok(entry);
            }
        }
        if known {
            return Err(Status::not_found(format!("no parameter found in index with key '{key}' (scope '{scope}')")));
        }
        let scopes: Vec<String> = self.providers.iter().map(|provider| format!("'{}'", provider.scope)).collect();
        Err(Status::not_found(format!(
            "no provider registered that handles scopes like '{scope}'; registered: {}; pass --parameters={}FILE",
            if scopes.is_empty() { "none".to_owned() } else { scopes.join(", ") },
            if scope.is_empty() { String::new() } else { format!("{scope}=") }
        )))
    }
}

impl NativeModule for ParametersModule {
    fn name(&self) -> &str {
        "io_parameters"
    }

    fn version(&self) -> u32 {
        0
    }

    fn exports(&self) -> &[NativeExport] {
        EXPORTS
    }

    fn create_state(&self) -> Result<Box<dyn Any + Send + Sync>> {
        Ok(Box::new(()))
    }

    fn call(&self, _state: &(dyn Any + Send + Sync), ordinal: usize, frame: &mut CallFrame<'_>) -> Result<Flow> {
        match ordinal {
            0 => self.gather(frame),
            1 => self.load(frame),
            2 => self.scatter(frame),
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

/// Reads the last three arguments: key table, key data, spans.
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
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
    let pairs = table.chunks_exact(8).zip(spans.chunks_exact(24));
    pairs
        .map(|(key, span)| {
            let (offset, length) = (number(&key[..4]) as usize, number(&key[4..]) as usize);
            let key = offset.checked_add(length).and_then(|end| data.get(offset..end)).ok_or_else(|| {
                Status::out_of_range(format!("parameter name lies outside the name table of {} bytes", data.len()))
            })?;
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
    waits: Option<Arc<Fence>>,
    signals: Option<Arc<Fence>>,
    scope: String,
}

impl Call {
    fn read(frame: &mut CallFrame<'_>) -> Result<Call> {
        let device: Arc<Device> = frame.get_ref()?;
        device.check_affinity(frame.i64()?)?;
        let (waits, signals) = (frame.opt_ref()?, frame.opt_ref()?);
        let scope = frame.opt_ref::<VmBuffer>()?.map(|buffer| text(&buffer)).unwrap_or_default();
        Ok(Call { device, waits, signals, scope })
    }
}

impl ParametersModule {
    fn load(&self, frame: &mut CallFrame<'_>) -> Result<Flow> {
        let Call { device, waits, signals, scope } = Call::read(frame)?;
        frame.i64()?;
        let (types, usages) = (frame.i32()? as u32, frame.i32()? as u32);
        let list = VmList::new(TypeDef::Any);
        let mut copies: Vec<(Arc<Entry>, u64, Arc<Buffer>)> = Vec::new();
        for item in items(frame)? {
            let entry = self.find(&scope, &item.key)?;
            check(&entry, item.parameter_offset, item.length)?;
            let imported = import(device.allocator(), &entry, item.parameter_offset, item.length, types, usages);
            let buffer = match imported {
                Some(buffer) => Arc::new(buffer),
                None => {
                    let length = usize::try_from(item.length)
                        .map_err(|_| Status::resource_exhausted(format!("parameter of {} bytes", item.length)))?;
                    let buffer = Arc::new(device.allocator().allocate(types, usages, length)?);
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
        device.submit(waits, signals, operation)?;
        frame.push_ref(Arc::new(list));
        Ok(Flow::Done)
    }

    fn gather(&self, frame: &mut CallFrame<'_>) -> Result<Flow> {
        let Call { device, waits, signals, scope } = Call::read(frame)?;
        let target: Arc<Buffer> = frame.get_ref()?;
        target.check_access(access::WRITE)?;
        let mut reads = Vec::new();
        for item in items(frame)? {
            let entry = self.find(&scope, &item.key)?;
            check(&entry, item.parameter_offset, item.length)?;
            target.resolve_range(item.buffer_offset, item.length).annotate(|| format!("gathering '{}'", item.key))?;
            reads.push((entry, item));
        }
        let operation = QueueOp::host(move || {
            reads.iter().try_for_each(|(entry, item)| {
                read_into(entry, item.parameter_offset, &target, item.buffer_offset, item.length)
            })
        });
        device.submit(waits, signals, operation)?;
        Ok(Flow::Done)
    }

    fn scatter(&self, frame: &mut CallFrame<'_>) -> Result<Flow> {
        let call = Call::read(frame)?;
        frame.get_ref::<Buffer>()?;
        if let Some(item) = items(frame)?.first() {
            self.find(&call.scope, &item.key)?;
            return Err(Status::permission_denied(format!(
                "parameter '{}' cannot be written: parameter files are opened for reading",
                item.key
            )));
        }
        call.device.submit(call.waits, call.signals, QueueOp::barrier())?;
        Ok(Flow::Done)
    }
}

/// OUT_OF_RANGE unless the entry has the range.
fn check(entry: &Entry, offset: u64, length: u64) -> Result<()> {
    if offset.checked_add(length).is_some_and(|end| end <= entry.len()) {
        return Ok(());
    }
    Err(Status::out_of_range(format!(
        "range [{offset}, {offset} + {length}) is outside parameter '{}' of {} bytes",
        entry.key,
        entry.len()
    )))
}

/// The range as a read-only buffer over the source itself, when it is aligned.
fn import(allocator: &Allocator, entry: &Entry, offset: u64, length: u64, types: u32, usages: u32) -> Option<Buffer> {
    let Storage::Data { source, offset: base, .. } = &entry.storage else { return None };
    let start = base.checked_add(offset as usize)?;
    let bytes = source.bytes().get(start..start.checked_add(length as usize)?)?;
    let data = std::ptr::NonNull::from(bytes).cast();
    // SAFETY: the source is the owner; its bytes stay valid and unchanged, and the buffer is read-only.
    unsafe { allocator.import(types, usages, data, bytes.len(), false, source.clone()) }.ok()
}

fn read_into(entry: &Entry, offset: u64, target: &Buffer, target_offset: u64, length: u64) -> Result<()> {
    let mut chunk = vec![0; length.min(1 << 20) as usize];
    let mut done = 0;
    while done < length {
        let part = (length - done).min(chunk.len() as u64) as usize;
        entry.read(offset + done, &mut chunk[..part])?;
        target.write(target_offset + done, &chunk[..part])?;
        done += part as u64;
    }
    Ok(())
}
