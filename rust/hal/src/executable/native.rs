//! Native code: the library table that a loaded file answers with, read and checked, and calls of its functions.

use super::image::bad;
use super::library::{
    Attributes, DispatchFn, DispatchState, Environment, FLAG_SEQUENTIAL, Header, Library as Table, MAX_BINDINGS,
    MAX_CONSTANTS, QUERY_SYMBOL, QueryFn, SourceLocation, VERSION, WorkgroupState,
};
use super::{DispatchArguments, Entry, Failure, Share, cpu, variants, workgroup_id};
use std::ffi::{c_char, c_int, c_void};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;
use tiree_vm::{Result, Status, float_mode};

const PAGE: usize = 4096;

/// A file in memory: where its functions and tables are.
pub(super) trait Code: Send + Sync {
    /// Address of the exported function `name`.
    fn lookup(&self, name: &str) -> Option<NonNull<u8>>;
    /// Whether `length` bytes at `start` are readable memory of the file.
    fn contains(&self, start: NonNull<u8>, length: usize) -> bool;
    /// The bytes of the zero-terminated string at `start`, if it is in the file's memory.
    fn c_string(&self, start: NonNull<u8>) -> Option<&[u8]>;
}

/// One function, with what a call of it needs.
struct Function {
    call: DispatchFn,
    attributes: Attributes,
}

/// See the module head.
pub(super) struct Library {
    functions: Box<[Function]>,
    environment: Box<Environment>,
    /// What `environment.constants` points at.
    _constants: Box<[u32]>,
    /// What `environment.import_*` point at: one null per optional import.
    _imports: Box<[*const c_void]>,
    /// The code; last, so that it outlives nothing that points into it.
    _image: Box<dyn Code>,
}

// SAFETY: the raw pointers lead to memory that the library owns and nobody writes after loading.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

unsafe extern "C" fn no_import(_: *const c_void, _: *mut c_void, _: *mut c_void, _: *mut c_void) -> c_int {
    // Optional imports are null, and kernels ask before they call.
    1
}

impl Library {
    /// Asks `image` for its library: name, entry points and code.
    pub(super) fn load(
        image: Box<dyn Code>,
        format: &str,
        constants: &[u32],
    ) -> Result<(String, Box<[Entry]>, Library)> {
        let query = image.lookup(QUERY_SYMBOL).ok_or_else(|| {
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
        let query: QueryFn = unsafe { std::mem::transmute(query.as_ptr()) };
        // SAFETY: as above; the environment outlives the call.
        let ask = |environment: &Environment| unsafe { query(VERSION, environment) };
        let table = ask(&environment);
        if table.is_null()
            && let Some(why) = variants::refusal(|processor| {
                environment.processor = *processor;
                code_of(&*image, ask(&environment))
            })
        {
            return Err(bad(why));
        }
        let image_ref = &*image;
        let table: &Table = read(image_ref, table, "library")?;
        let header: &Header = read(image_ref, table.header, "library header")?;
        if header.sanitizer != 0 {
            return Err(Status::unavailable(format!(
                "executable was built with sanitizer {} but embedded files cannot use one",
                header.sanitizer
            )));
        }
        if table.constant_count as usize != constants.len() {
            return Err(bad(format!(
                "executable requires {} constants but caller provided {}",
                table.constant_count,
                constants.len()
            )));
        }
        let name = if header.name.is_null() { String::new() } else { string(image_ref, header.name, "name")? };
        let imports = resolve_imports(image_ref, table)?;
        environment.import_functions = imports.as_ptr();
        environment.import_contexts = imports.as_ptr();
        let (entries, functions) = read_entries(image_ref, table)?;
        let library = Library { functions, environment, _constants: constants, _imports: imports, _image: image };
        Ok((name, entries, library))
    }

    /// Runs a share of the workgroups of a dispatch.
    ///
    /// # Safety
    /// The binding pointers must be valid for their lengths, and nothing else may access what the kernel writes.
    pub(super) unsafe fn run(
        &self,
        arguments: &DispatchArguments<'_>,
        share: &Share,
    ) -> std::result::Result<(), Failure> {
        let Function { call, attributes } = &self.functions[arguments.entry];
        let [count_x, count_y, count_z] = arguments.counts;
        let state = DispatchState {
            size_x: attributes.workgroup_size_x,
            size_y: attributes.workgroup_size_y,
            size_z: attributes.workgroup_size_z,
            constant_count: arguments.constants.len() as u16,
            count_x,
            count_y,
            count_z: count_z as u16,
            max_concurrency: share.worker_count.min(255) as u8,
            binding_count: arguments.pointers.len() as u8,
            constants: arguments.constants.as_ptr(),
            binding_pointers: arguments.pointers.as_ptr(),
            binding_lengths: arguments.lengths.as_ptr(),
        };
        let local_size = usize::from(attributes.local_memory_pages) * PAGE;
        let _floats = float_mode::standard();
        let body = |memory: &mut [u8]| {
            let [x, y, z] = workgroup_id(share.tiles.start, arguments.counts);
            let mut workgroup = WorkgroupState {
                id_x: x as u32,
                id_y: y as u32,
                id_z: z as u16,
                reserved: 0,
                processor_id: share.processor as u32,
                local_memory: if memory.is_empty() { std::ptr::null_mut() } else { memory.as_mut_ptr() },
                local_memory_size: memory.len() as u32,
            };
            for tile in share.tiles.clone() {
                // SAFETY: the structures are those of the ABI and outlive the call; the bindings are the caller's promise.
                let code = unsafe { call(&*self.environment, &state, &workgroup) };
                if code != 0 {
                    let status = Status::internal(format!("executable entry point returned catastrophic error {code}"));
                    return Err(Failure { status, tile: Some(tile) });
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
        tiree_task::with_local_memory(local_size, share.local_memory, body)
            .unwrap_or_else(|error| Err(Failure { status: Status::resource_exhausted(error.to_string()), tile: None }))
    }
}

/// A structure inside the loaded file.
fn read<'a, T>(image: &'a dyn Code, pointer: *const T, what: &str) -> Result<&'a T> {
    Ok(&table(image, pointer, 1, what)?[0])
}

/// An array inside the loaded file, checked to lie in it and to be aligned.
fn table<'a, T>(image: &'a dyn Code, pointer: *const T, count: usize, what: &str) -> Result<&'a [T]> {
    let Some(start) = NonNull::new(pointer.cast_mut()) else {
        return Err(bad(format!("executable does not support this version of the library ABI ({VERSION}): no {what}")));
    };
    let inside = count.checked_mul(size_of::<T>()).is_some_and(|size| image.contains(start.cast(), size));
    if !inside || !start.is_aligned() {
        return Err(bad(format!("executable {what} lies outside the loaded file")));
    }
    // SAFETY: inside readable memory of the file, aligned, and the T used here are plain data of any bit pattern
    // (function pointers are read as Option).
    Ok(unsafe { std::slice::from_raw_parts(start.as_ptr(), count) })
}

/// A number for the code of a library, whose tables may be filled anew by each query; 0 for none.
fn code_of(image: &dyn Code, library: *const Table) -> usize {
    if library.is_null() {
        return 0;
    }
    let functions = read(image, library, "library").and_then(|library| {
        let exports = &library.exports;
        table(image, exports.functions, exports.count as usize, "function table")
    });
    let sum = |functions: &[Option<DispatchFn>]| {
        functions
            .iter()
            .fold(1_usize, |sum, one| sum.wrapping_mul(31).wrapping_add(one.map_or(0, |call| call as usize)))
    };
    functions.map_or(1, sum).max(1)
}

fn string(image: &dyn Code, pointer: *const c_char, what: &str) -> Result<String> {
    let bytes = NonNull::new(pointer.cast_mut()).and_then(|start| image.c_string(start.cast()));
    let bytes = bytes.ok_or_else(|| bad(format!("executable {what} lies outside the loaded file")))?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

/// `file:line`, or nothing for an unknown place.
fn place(image: &dyn Code, location: &SourceLocation) -> Result<String> {
    if location.path_length == 0 {
        return Ok(String::new());
    }
    let path: &[u8] = table(image, location.path.cast(), location.path_length as usize, "source path")?;
    Ok(format!("{}:{}", String::from_utf8_lossy(path), location.line))
}

fn resolve_imports(image: &dyn Code, library: &Table) -> Result<Box<[*const c_void]>> {
    let count = library.imports.count as usize;
    if count == 0 {
        return Ok(Box::default());
    }
    for symbol in table(image, library.imports.symbols, count, "import table")? {
        let name = string(image, *symbol, "import name")?;
        if !name.starts_with('?') {
            return Err(Status::not_found(format!(
                "required import `{name}` of the executable is not available: no import provider is registered"
            )));
        }
    }
    Ok(vec![std::ptr::null(); count].into())
}

/// What the table says of its functions, and the functions.
type Tables = (Box<[Entry]>, Box<[Function]>);

/// Names and functions of a library.
fn read_entries(image: &dyn Code, library: &Table) -> Result<Tables> {
    let exports = &library.exports;
    let count = exports.count as usize;
    if count == 0 {
        return Ok((Box::default(), Box::default()));
    }
    let functions = table(image, exports.functions, count, "function table")?;
    let attributes = table(image, exports.attributes, count, "attribute table")?;
    let names = table(image, exports.names, count, "name table")?;
    let places = match exports.source_locations.is_null() {
        true => &[],
        false => table(image, exports.source_locations, count, "source locations")?,
    };
    let (mut entries, mut calls) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for index in 0..count {
        let name = string(image, names[index], "function name")?;
        let call = functions[index].ok_or_else(|| bad(format!("executable function '{name}' has no code")))?;
        let attributes = attributes[index];
        if attributes.constant_count > MAX_CONSTANTS || attributes.binding_count > MAX_BINDINGS {
            return Err(bad(format!(
                "executable function '{name}' takes {} constants and {} bindings; the limits are {MAX_CONSTANTS} and \
                 {MAX_BINDINGS}",
                attributes.constant_count, attributes.binding_count
            )));
        }
        let place = places.get(index).map_or(Ok(String::new()), |location| place(image, location))?;
        entries.push(Entry {
            name,
            place,
            constant_count: Some(usize::from(attributes.constant_count)),
            binding_count: Some(usize::from(attributes.binding_count)),
            sequential: attributes.flags & FLAG_SEQUENTIAL != 0,
            cost: AtomicU32::new(0),
        });
        calls.push(Function { call, attributes });
    }
    Ok((entries.into(), calls.into()))
}
