//! `hal_loader`: executables for programs without devices; dispatches run in place, on the calling thread.

use super::text;
use crate::charge::push_new_with;
use crate::command_buffer::check_counts;
use crate::executable::{DispatchArguments, Executable, LoadOptions, Owners, Share};
use crate::import_table::{HAL_LOADER, HAL_LOADER_VERSION, native_export};
use smallvec::SmallVec;
use std::any::Any;
use std::sync::Arc;
use tiree_vm::{Annotate, CallFrame, Flow, NativeExport, NativeModule, Result, Status, VmBuffer, limits};

static EXPORTS: [NativeExport; HAL_LOADER.len()] = [
    native_export(&HAL_LOADER, "executable.query_support"),
    native_export(&HAL_LOADER, "executable.load"),
    native_export(&HAL_LOADER, "executable.lookup.function"),
    native_export(&HAL_LOADER, "executable.dispatch"),
];

/// The module.
pub struct LoaderModule {
    options: LoadOptions,
    local_memory: usize,
}

impl LoaderModule {
    /// A module that loads what `options` allow and gives each workgroup up to `local_memory` bytes.
    pub fn new(options: LoadOptions, local_memory: usize) -> LoaderModule {
        LoaderModule { options, local_memory }
    }

    fn load(&self, frame: &mut CallFrame<'_>) -> Result<()> {
        let (format, data): (&VmBuffer, &VmBuffer) = (frame.borrow_ref()?, frame.borrow_ref()?);
        let constants: Option<Arc<VmBuffer>> = frame.opt_ref()?;
        let words = super::devices::words(constants.as_deref())?;
        let bytes = super::devices::capture(data, 0, u64::MAX)?;
        let executable = Executable::load_within(&text(format), &bytes, &words, self.options, frame.quota())?;
        push_new_with(frame, executable, bytes.len()).map(drop)
    }

    fn dispatch(&self, frame: &mut CallFrame<'_>) -> Result<()> {
        let executable: &Executable = frame.borrow_ref()?;
        let function = frame.i64()? as u64;
        let counts = [frame.i32()? as u32, frame.i32()? as u32, frame.i32()? as u32];
        let constants: SmallVec<[u32; 16]> =
            (0..frame.span()?).map(|_| Ok(frame.i32()? as u32)).collect::<Result<_>>()?;
        let (mut owners, mut pointers, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        for index in 0..frame.span()? {
            let buffer: Arc<VmBuffer> = frame.get_ref()?;
            let (offset, length) = (frame.i64()? as u64, frame.i64()? as u64);
            let length = if length == u64::MAX { (buffer.len() as u64).saturating_sub(offset) } else { length };
            let offset = buffer.check_range(offset, length).annotate(|| format!("binding {index}"))?;
            // SAFETY: the offset was checked against the buffer.
            pointers.push(unsafe { buffer.as_ptr().as_ptr().add(offset) });
            lengths.push(length as usize);
            owners.push(buffer);
        }
        let entry = executable.check_dispatch(function, constants.len(), pointers.len())?;
        let total = check_counts(counts)?;
        let arguments = DispatchArguments {
            entry,
            counts,
            constants: &constants,
            pointers: &pointers,
            lengths: &lengths,
            owners: Owners::Memory(&owners),
            limits: limits::current(),
        };
        let share = Share { tiles: 0..total, processor: 0, worker_count: 1, local_memory: self.local_memory };
        // SAFETY: the ranges were checked and their buffers are held. That a kernel writes only where it may is the trust
        // put in the executable; that nobody else does meanwhile is the program's business.
        unsafe { executable.run(&arguments, &share) }
    }
}

impl NativeModule for LoaderModule {
    fn name(&self) -> &str {
        "hal_loader"
    }

    fn version(&self) -> u32 {
        HAL_LOADER_VERSION
    }

    fn exports(&self) -> &[NativeExport] {
        &EXPORTS
    }

    fn call(&self, _state: &(dyn Any + Send + Sync), ordinal: usize, frame: &mut CallFrame<'_>) -> Result<Flow> {
        match ordinal {
            0 => {
                let format: &VmBuffer = frame.borrow_ref()?;
                frame.push_i32(i32::from(self.options.supports(&text(format))));
                Ok(())
            }
            1 => self.load(frame),
            2 => super::devices::lookup(frame),
            3 => self.dispatch(frame),
            _ => Err(Status::out_of_range(format!("hal_loader has no function {ordinal}"))),
        }
        .map(|()| Flow::Done)
    }
}
