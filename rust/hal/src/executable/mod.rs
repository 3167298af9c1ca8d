//! `hal.executable`: native kernels of one module variant, loaded and ready to call.
//!
//! Formats: `embedded-elf-ARCH` for the host's architecture. Other formats are refused with the reason. Loading native
//! code means trusting it, as with a shared library; the loader still checks whatever it can before the first call.

pub mod cpu;
mod elf;
mod image;
mod library;

use crate::buffer_view::shape_text;
use elf::LoadedElf;
use image::bad;
use library::{
    Attributes, DispatchFn, DispatchState, Environment, FLAG_SEQUENTIAL, Header, Library, MAX_BINDINGS, MAX_CONSTANTS,
    QUERY_SYMBOL, QueryFn, SourceLocation, VERSION, WorkgroupState,
};
use std::ffi::{c_char, c_int, c_void};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use tiree_vm::{RefObject, Result, Status};

const PAGE: usize = 4096;

/// A loaded executable.
pub struct Executable {
    entries: Box<[Entry]>,
    environment: Box<Environment>,
    /// What `environment.constants` points at.
    _constants: Box<[u32]>,
    /// What `environment.import_*` point at: one null per optional import.
    _imports: Box<[*const c_void]>,
    /// The code; last, so that it outlives nothing that points into it.
    _elf: LoadedElf,
}

// SAFETY: the raw pointers lead to memory that the executable owns and nobody writes after loading.
unsafe impl Send for Executable {}
// SAFETY: as above.
unsafe impl Sync for Executable {}

impl RefObject for Executable {
    fn type_name(&self) -> &'static str {
        "hal.executable"
    }
}

struct Entry {
    function: DispatchFn,
    name: String,
    /// Where the user's file has this work, `file:line`; empty when the executable does not say.
    place: String,
    attributes: Attributes,
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
}

/// The only format that is loaded today.
fn embedded_format() -> String {
    format!("embedded-elf-{}", cpu::arch_name())
}

/// Whether [`Executable::load`] accepts `format`.
pub fn is_supported(format: &str) -> bool {
    image::HOST_MACHINE != 0 && format == embedded_format()
}

fn refuse(format: &str) -> Status {
    let reason = if let Some(arch) = format.strip_prefix("embedded-elf-") {
        format!("it was compiled for {arch}, this machine is {}", cpu::arch_name())
    } else if format.starts_with("vmvx") {
        "VMVX executables are not supported; recompile with the llvm-cpu backend".to_owned()
    } else if format.starts_with("system-") {
        "system libraries are not supported; recompile with --iree-llvmcpu-link-embedded=true".to_owned()
    } else {
        "no device of this build runs it".to_owned()
    };
    Status::not_found(format!(
        "no executable loader registered for the given executable format '{format}': {reason}; supported: {}",
        embedded_format()
    ))
}

unsafe extern "C" fn no_import(_: *const c_void, _: *mut c_void, _: *mut c_void, _: *mut c_void) -> c_int {
    // Optional imports are null, and kernels ask before they call.
    1
}

impl Executable {
    /// Loads the file `data`, whose format is `format`, with its 32-bit executable constants.
    ///
    /// # Errors
    /// NOT_FOUND for an unsupported format; FAILED_PRECONDITION, UNAVAILABLE, PERMISSION_DENIED or UNIMPLEMENTED for
    /// files that break the loader's rules, with the field at fault.
    pub fn load(format: &str, data: &[u8], constants: &[u32]) -> Result<Executable> {
        if !is_supported(format) {
            return Err(refuse(format));
        }
        let elf = LoadedElf::load(data)?;
        let query = elf.lookup(QUERY_SYMBOL).ok_or_else(|| {
            Status::not_found(format!(
                "no executable loader registered for the given executable format '{format}': the file does not export \
                 {QUERY_SYMBOL}"
            ))
        })?;
        let constants: Box<[u32]> = constants.into();
        let mut environment = Box::new(Environment {
            constants: constants.as_ptr(),
            import_thunk: Some(no_import),
            import_functions: std::ptr::null(),
            import_contexts: std::ptr::null(),
            processor: *cpu::processor_data(),
        });
        // SAFETY: the file says that this symbol is the query function of the ABI; trusting the file is trusting that.
        let library = unsafe {
            let query: QueryFn = std::mem::transmute(query.as_ptr());
            query(VERSION, &*environment)
        };
        let library: &Library = read(&elf, library, "library")?;
        let header: &Header = read(&elf, library.header, "library header")?;
        if header.sanitizer != 0 {
            return Err(Status::unavailable(format!(
                "executable was built with sanitizer {} but embedded files cannot use one",
                header.sanitizer
            )));
        }
        if library.constant_count as usize != constants.len() {
            return Err(bad(format!(
                "executable requires {} constants but caller provided {}",
                library.constant_count,
                constants.len()
            )));
        }
        let imports = resolve_imports(&elf, library)?;
        environment.import_functions = imports.as_ptr();
        environment.import_contexts = imports.as_ptr();
        let entries = read_entries(&elf, library)?;
        Ok(Executable { entries, environment, _constants: constants, _imports: imports, _elf: elf })
    }

    /// Number of entry points.
    pub fn entry_count(&self) -> usize {
        self.entries.len()
    }

    /// Name of an entry point, or `?` for an ordinal that does not exist.
    pub fn entry_name(&self, ordinal: usize) -> &str {
        self.entries.get(ordinal).map_or("?", |entry| &entry.name)
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
        let needs = [
            ("constants", usize::from(entry.attributes.constant_count), constants),
            ("bindings", usize::from(entry.attributes.binding_count), bindings),
        ];
        for (what, need, have) in needs {
            if need != have {
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
        self.entries[entry].attributes.flags & FLAG_SEQUENTIAL != 0
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

    /// Runs the workgroups `tiles` (linear, x fastest) of a dispatch.
    ///
    /// # Errors
    /// INTERNAL when the kernel reports failure; RESOURCE_EXHAUSTED when it needs more local memory than allowed.
    ///
    /// # Safety
    /// The binding pointers must be valid for their lengths, and nothing else may access what the kernel writes.
    pub(crate) unsafe fn run(
        &self,
        arguments: &DispatchArguments<'_>,
        tiles: Range<u64>,
        processor: usize,
        worker_count: usize,
        local_memory_limit: usize,
    ) -> Result<()> {
        if tiles.is_empty() {
            // Counts that a tensor without elements leaves at zero.
            return Ok(());
        }
        let entry = &self.entries[arguments.entry];
        let attributes = &entry.attributes;
        let [count_x, count_y, count_z] = arguments.counts;
        let state = DispatchState {
            size_x: attributes.workgroup_size_x,
            size_y: attributes.workgroup_size_y,
            size_z: attributes.workgroup_size_z,
            constant_count: arguments.constants.len() as u16,
            count_x,
            count_y,
            count_z: count_z as u16,
            max_concurrency: worker_count.min(255) as u8,
            binding_count: arguments.pointers.len() as u8,
            constants: arguments.constants.as_ptr(),
            binding_pointers: arguments.pointers.as_ptr(),
            binding_lengths: arguments.lengths.as_ptr(),
        };
        let local_size = usize::from(attributes.local_memory_pages) * PAGE;
        let body = |memory: &mut [u8]| {
            let mut workgroup = WorkgroupState {
                id_x: (tiles.start % u64::from(count_x)) as u32,
                id_y: (tiles.start / u64::from(count_x) % u64::from(count_y)) as u32,
                id_z: (tiles.start / (u64::from(count_x) * u64::from(count_y))) as u16,
                reserved: 0,
                processor_id: processor as u32,
                local_memory: if memory.is_empty() { std::ptr::null_mut() } else { memory.as_mut_ptr() },
                local_memory_size: memory.len() as u32,
            };
            for _ in tiles.clone() {
                // SAFETY: the structures are those of the ABI and outlive the call; the bindings are the caller's promise.
                let code = unsafe { (entry.function)(&*self.environment, &state, &workgroup) };
                if code != 0 {
                    let id = [workgroup.id_x.into(), workgroup.id_y.into(), workgroup.id_z.into()];
                    return Err(Status::internal(format!(
                        "executable entry point returned catastrophic error {code}; {}, workgroup {}",
                        entry.described(),
                        shape_text(&id)
                    )));
                }
                workgroup.id_x += 1;
                if workgroup.id_x == count_x {
                    workgroup.id_x = 0;
                    workgroup.id_y += 1;
                    if workgroup.id_y == count_y {
                        workgroup.id_y = 0;
                        workgroup.id_z += 1;
                    }
                }
            }
            Ok(())
        };
        tiree_task::with_local_memory(local_size, local_memory_limit, body)
            .unwrap_or_else(|error| Err(Status::resource_exhausted(format!("{}: {error}", entry.described()))))
    }
}

/// A structure inside the loaded file.
fn read<'a, T>(elf: &'a LoadedElf, pointer: *const T, what: &str) -> Result<&'a T> {
    Ok(&table(elf, pointer, 1, what)?[0])
}

/// An array inside the loaded file, checked to lie in it and to be aligned.
fn table<'a, T>(elf: &'a LoadedElf, pointer: *const T, count: usize, what: &str) -> Result<&'a [T]> {
    let Some(start) = NonNull::new(pointer.cast_mut()) else {
        return Err(bad(format!("executable does not support this version of the library ABI ({VERSION}): no {what}")));
    };
    let inside = count.checked_mul(size_of::<T>()).is_some_and(|size| elf.contains(start.cast(), size));
    if !inside || !start.is_aligned() {
        return Err(bad(format!("executable {what} lies outside the loaded file")));
    }
    // SAFETY: inside readable memory of the file, aligned, and the T used here are plain data of any bit pattern
    // (function pointers are read as Option).
    Ok(unsafe { std::slice::from_raw_parts(start.as_ptr(), count) })
}

fn string(elf: &LoadedElf, pointer: *const c_char, what: &str) -> Result<String> {
    let bytes = NonNull::new(pointer.cast_mut()).and_then(|start| elf.c_string(start.cast()));
    let bytes = bytes.ok_or_else(|| bad(format!("executable {what} lies outside the loaded file")))?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

/// `file:line`, or nothing for an unknown place.
fn place(elf: &LoadedElf, location: &SourceLocation) -> Result<String> {
    if location.path_length == 0 {
        return Ok(String::new());
    }
    let path: &[u8] = table(elf, location.path.cast(), location.path_length as usize, "source path")?;
    Ok(format!("{}:{}", String::from_utf8_lossy(path), location.line))
}

fn resolve_imports(elf: &LoadedElf, library: &Library) -> Result<Box<[*const c_void]>> {
    let count = library.imports.count as usize;
    if count == 0 {
        return Ok(Box::default());
    }
    for symbol in table(elf, library.imports.symbols, count, "import table")? {
        let name = string(elf, *symbol, "import name")?;
        if !name.starts_with('?') {
            return Err(Status::not_found(format!(
                "required import `{name}` of the executable is not available: no import provider is registered"
            )));
        }
    }
    Ok(vec![std::ptr::null(); count].into())
}

fn read_entries(elf: &LoadedElf, library: &Library) -> Result<Box<[Entry]>> {
    let exports = &library.exports;
    let count = exports.count as usize;
    if count == 0 {
        return Ok(Box::default());
    }
    let functions = table(elf, exports.functions, count, "function table")?;
    let attributes = table(elf, exports.attributes, count, "attribute table")?;
    let names = table(elf, exports.names, count, "name table")?;
    let places = match exports.source_locations.is_null() {
        true => &[],
        false => table(elf, exports.source_locations, count, "source locations")?,
    };
    let mut entries = Vec::with_capacity(count);
    for index in 0..count {
        let name = string(elf, names[index], "function name")?;
        let function = functions[index].ok_or_else(|| bad(format!("executable function '{name}' has no code")))?;
        let attributes = attributes[index];
        if attributes.constant_count > MAX_CONSTANTS || attributes.binding_count > MAX_BINDINGS {
            return Err(bad(format!(
                "executable function '{name}' takes {} constants and {} bindings; the limits are {MAX_CONSTANTS} and \
                 {MAX_BINDINGS}",
                attributes.constant_count, attributes.binding_count
            )));
        }
        let place = places.get(index).map_or(Ok(String::new()), |location| place(elf, location))?;
        entries.push(Entry { function, name, place, attributes, cost: AtomicU32::new(0) });
    }
    Ok(entries.into())
}
