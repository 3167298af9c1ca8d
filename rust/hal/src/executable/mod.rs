//! `hal.executable`: kernels of one module variant, loaded and ready to call.
//!
//! Formats: `embedded-elf-ARCH` for the host's architecture, `vmvx-bytecode-fb` for any, and `system-elf-ARCH` where
//! [`LoadOptions`] allow it. Other formats are refused with the reason. Loading native code means trusting it, as with a
//! shared library; the loader still checks whatever it can before the first call. Bytecode needs no trust.

pub mod cpu;
mod elf;
mod image;
mod library;
mod native;
mod system;
mod variants;
mod vmvx;

use crate::buffer::Buffer;
use crate::types::access;
use std::any::Any;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use tiree_trace::Label;
use tiree_vm::limits::Limits;
use tiree_vm::mapped::Watch;
use tiree_vm::{Annotate, Charge, Quota, RefObject, Result, Status, VmBuffer};

/// A loaded executable.
pub struct Executable {
    /// What it calls itself.
    name: String,
    entries: Box<[Entry]>,
    kind: Kind,
    charge: Option<Charge>,
    /// What its functions are called in traces; made when first asked for.
    labels: OnceLock<Box<[Arc<Label>]>>,
}

crate::charge::charged!(Executable);

enum Kind {
    Native(native::Library),
    Bytecode(vmvx::Library),
}

impl RefObject for Executable {
    fn type_name(&self) -> &'static str {
        "hal.executable"
    }
}

/// An entry point.
struct Entry {
    name: String,
    /// Where the user's file has this work, `file:line`; empty when the executable does not say.
    place: String,
    /// Counts that a dispatch must have; None when the executable does not say.
    constant_count: Option<usize>,
    binding_count: Option<usize>,
    /// Workgroups ask to be run in order.
    sequential: bool,
    /// Measured nanoseconds per workgroup, in sixteenths; 0 while unknown. Only guides scheduling.
    cost: AtomicU32,
}

impl Entry {
    /// The name and, when known, the place, for messages.
    fn described(&self) -> String {
        if self.place.is_empty() { format!("'{}'", self.name) } else { format!("'{}' ({})", self.name, self.place) }
    }
}

/// What a dispatch passes to its kernel.
pub(crate) struct DispatchArguments<'a> {
    pub(crate) entry: usize,
    pub(crate) counts: [u32; 3],
    pub(crate) constants: &'a [u32],
    pub(crate) pointers: &'a [*mut u8],
    pub(crate) lengths: &'a [usize],
    pub(crate) owners: Owners<'a>,
    /// Of each workgroup, as far as it is bytecode.
    pub(crate) limits: Limits,
}

/// Who keeps the memory of the bindings. Asked for by bytecode, which could keep references to them.
#[derive(Clone, Copy)]
pub(crate) enum Owners<'a> {
    /// Whoever runs native code keeps all that it uses.
    Caller,
    Buffers(&'a [&'a Buffer]),
    Memory(&'a [Arc<VmBuffer>]),
}

impl Owners<'_> {
    /// What keeps the memory of binding `index`, and whether it may be written.
    fn owner(&self, index: usize) -> Result<(Arc<dyn Any + Send + Sync>, bool)> {
        match self {
            Owners::Caller => Err(Status::internal("bindings without an owner")),
            Owners::Buffers(buffers) => {
                let writable = buffers[index].allowed_access() & access::WRITE != 0;
                Ok((Arc::new(buffers[index].map()?), writable))
            }
            Owners::Memory(buffers) => Ok((buffers[index].clone(), buffers[index].is_mutable())),
        }
    }
}

/// A part of a grid for one thread.
pub(crate) struct Share {
    /// Linear workgroups, x fastest.
    pub(crate) tiles: Range<u64>,
    /// Index of the thread.
    pub(crate) processor: usize,
    pub(crate) worker_count: usize,
    /// Most bytes of local memory.
    pub(crate) local_memory: usize,
}

/// Which formats are loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Libraries of the operating system, which run their initialisers and may import anything.
    pub system_libraries: bool,
}

impl LoadOptions {
    /// The formats that are loaded.
    pub fn formats(self) -> Vec<String> {
        let mut formats = Vec::new();
        if image::HOST_MACHINE != 0 {
            formats.push(format!("embedded-elf-{}", cpu::arch_name()));
        }
        formats.push(vmvx::FORMAT.to_owned());
        if self.system_libraries && system::AVAILABLE {
            formats.push(system_format());
        }
        formats
    }

    /// Whether [`Executable::load`] accepts `format`.
    pub fn supports(self, format: &str) -> bool {
        self.formats().iter().any(|known| known == format)
    }

    fn refuse(self, format: &str) -> Status {
        let reason = if let Some(arch) = format.strip_prefix("embedded-elf-") {
            format!("it was compiled for {arch}, this machine is {}", cpu::arch_name())
        } else if format == system_format() {
            "system libraries run unchecked code when they are loaded; allow them with --system_executables, or \
             recompile with --iree-llvmcpu-link-embedded=true"
                .to_owned()
        } else if format.starts_with("system-") {
            "it was compiled for another system; recompile with --iree-llvmcpu-link-embedded=true".to_owned()
        } else {
            "no device of this build runs it".to_owned()
        };
        Status::not_found(format!(
            "no executable loader registered for the given executable format '{format}': {reason}; supported: {}",
            self.formats().join(", ")
        ))
    }
}

fn system_format() -> String {
    format!("system-elf-{}", cpu::arch_name())
}

impl Executable {
    /// Loads the file `data`, whose format is `format`, with its 32-bit executable constants.
    ///
    /// # Errors
    /// NOT_FOUND for an unsupported format; FAILED_PRECONDITION, UNAVAILABLE, PERMISSION_DENIED, INVALID_ARGUMENT or
    /// UNIMPLEMENTED for files that break the loader's rules, with the field at fault.
    pub fn load(format: &str, data: &[u8], constants: &[u32], options: LoadOptions) -> Result<Executable> {
        Executable::load_within(format, data, constants, options, None)
    }

    /// As [`load`](Self::load); what bytecode allocates is taken from `quota`.
    ///
    /// # Errors
    /// As [`load`](Self::load), and of the limits.
    pub(crate) fn load_within(
        format: &str,
        data: &[u8],
        constants: &[u32],
        options: LoadOptions,
        quota: Option<&Arc<Quota>>,
    ) -> Result<Executable> {
        if !options.supports(format) {
            return Err(options.refuse(format));
        }
        if format == vmvx::FORMAT {
            let (entries, code) =
                vmvx::Library::load(data, constants, quota).annotate(|| "loading a VMVX executable".into())?;
            return Ok(Executable::new(code.name().to_owned(), entries, Kind::Bytecode(code)));
        }
        let watch = Watch::start();
        let image: Box<dyn native::Code> = if format == system_format() {
            Box::new(system::SystemLibrary::load(data)?)
        } else {
            Box::new(elf::LoadedElf::load(data)?)
        };
        // Zeros that were read instead of code must not be executed.
        watch.check()?;
        let (name, entries, code) = native::Library::load(image, format, constants)?;
        Ok(Executable::new(name, entries, Kind::Native(code)))
    }

    fn new(name: String, entries: Box<[Entry]>, kind: Kind) -> Executable {
        Executable { name, entries, kind, charge: None, labels: OnceLock::new() }
    }

    /// What an entry point is called in traces.
    pub(crate) fn label(&self, entry: usize) -> &Arc<Label> {
        let label = |entry: &Entry| Arc::new(Label { executable: self.name.clone(), function: entry.name.clone() });
        &self.labels.get_or_init(|| self.entries.iter().map(label).collect())[entry]
    }

    /// What it calls itself; may be empty.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of entry points.
    pub fn entry_count(&self) -> usize {
        self.entries.len()
    }

    /// Name of an entry point, or `?` for an ordinal that does not exist.
    pub fn entry_name(&self, ordinal: usize) -> &str {
        self.entries.get(ordinal).map_or("?", |entry| &entry.name)
    }

    /// Whether it is bytecode, whose dispatches need to know who owns their bindings.
    pub(crate) fn is_bytecode(&self) -> bool {
        matches!(self.kind, Kind::Bytecode(_))
    }

    /// Ordinal of the entry point called `name`.
    ///
    /// # Errors
    /// NOT_FOUND, with the names that exist.
    pub fn lookup(&self, name: &str) -> Result<usize> {
        self.lookup_bytes(name.as_bytes())
    }

    /// As [`lookup`](Self::lookup), for a name that need not be text.
    pub(crate) fn lookup_bytes(&self, name: &[u8]) -> Result<usize> {
        self.entries.iter().position(|entry| entry.name.as_bytes() == name).ok_or_else(|| {
            let name = String::from_utf8_lossy(name);
            let names: Vec<&str> = self.entries.iter().map(|entry| entry.name.as_str()).collect();
            Status::not_found(format!("executable has no function \"{name}\"; it has: {}", names.join(", ")))
        })
    }

    /// Checks what a dispatch is about to record.
    ///
    /// # Errors
    /// OUT_OF_RANGE for the ordinal; INVALID_ARGUMENT for counts of constants, bindings or workgroups.
    pub(crate) fn check_dispatch(&self, ordinal: u64, constants: usize, bindings: usize) -> Result<usize> {
        let entry = usize::try_from(ordinal).ok().and_then(|index| self.entries.get(index)).ok_or_else(|| {
            Status::out_of_range(format!(
                "executable function {ordinal} does not exist; it has {} functions",
                self.entries.len()
            ))
        })?;
        let needs = [("constants", entry.constant_count, constants), ("bindings", entry.binding_count, bindings)];
        for (what, need, have) in needs {
            if let Some(need) = need.filter(|&need| need != have) {
                return Err(Status::invalid_argument(format!(
                    "dispatch of '{}' passes {have} {what}, the function takes {need}",
                    entry.name
                )));
            }
        }
        Ok(ordinal as usize)
    }

    /// Whether workgroups must run in order.
    pub(crate) fn is_sequential(&self, entry: usize) -> bool {
        self.entries[entry].sequential
    }

    /// Estimated nanoseconds per workgroup; None before the first measurement.
    pub(crate) fn tile_cost(&self, entry: usize) -> Option<f64> {
        match self.entries[entry].cost.load(Ordering::Relaxed) {
            0 => None,
            cost => Some(f64::from(cost) / 16.0),
        }
    }

    /// Feeds a measurement of nanoseconds per workgroup into the estimate.
    pub(crate) fn record_cost(&self, entry: usize, nanoseconds: f64) {
        let cost = &self.entries[entry].cost;
        let new = (nanoseconds * 16.0).clamp(1.0, f64::from(u32::MAX)) as u32;
        let old = cost.load(Ordering::Relaxed);
        // A slow first call (page faults, cold caches) is soon forgotten: the lower value counts most.
        let mixed = if old == 0 || new < old { new } else { old + (new - old) / 4 };
        cost.store(mixed, Ordering::Relaxed);
    }

    /// Runs a share of the workgroups of a dispatch.
    ///
    /// # Errors
    /// What the kernel reports; RESOURCE_EXHAUSTED when it needs more local memory than allowed. The message names
    /// executable, entry point, place and workgroup.
    ///
    /// # Safety
    /// The binding pointers must be valid for their lengths, and nothing else may access what the kernel writes.
    #[inline]
    pub(crate) unsafe fn run(&self, arguments: &DispatchArguments<'_>, share: &Share) -> Result<()> {
        if share.tiles.is_empty() {
            // Counts that a tensor without elements leaves at zero.
            return Ok(());
        }
        match &self.kind {
            // SAFETY: the caller's promise.
            Kind::Native(library) => unsafe { library.run(arguments, share) },
            Kind::Bytecode(library) => library.run(arguments, share),
        }
        .map_err(|failure| self.describe(arguments, failure))
    }

    #[cold]
    fn describe(&self, arguments: &DispatchArguments<'_>, failure: Failure) -> Status {
        let function = self.entries[arguments.entry].described();
        let of = if self.name.is_empty() { String::new() } else { format!(" of executable '{}'", self.name) };
        let at = failure.tile.map_or(String::new(), |tile| {
            let [x, y, z] = workgroup_id(tile, arguments.counts);
            format!(", workgroup {x}x{y}x{z}")
        });
        let place = format!("{function}{of}{at}");
        let status = failure.status;
        // The message says it all, also where annotations are not printed.
        let mut first = Status::new(status.code(), format!("in {place}: {}", status.message()));
        if let Some(limit) = status.limit() {
            first = first.with_limit(limit);
        }
        status.annotations().iter().fold(first, |status, annotation| status.annotate(annotation.clone()))
    }
}

/// Why a workgroup failed.
struct Failure {
    status: Status,
    /// Linear number of the workgroup, if it is one workgroup's fault.
    tile: Option<u64>,
}

/// Coordinates of a linear workgroup.
fn workgroup_id(tile: u64, [x, y, _]: [u32; 3]) -> [u64; 3] {
    let (x, y) = (u64::from(x).max(1), u64::from(y).max(1));
    [tile % x, tile / x % y, tile / (x * y)]
}
