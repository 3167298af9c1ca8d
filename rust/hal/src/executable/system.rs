//! `system-elf-ARCH`: a shared library, loaded by the operating system's loader from a file in memory.
//!
//! Unlike an embedded file it may import what it likes and runs initialisers; nothing of that can be checked. Its tables
//! are read as carefully as those of an embedded file: only inside the segments that the loader mapped.

use super::native::Code;
use std::ffi::{CStr, CString, c_int, c_void};
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use tiree_vm::{Result, Status};

/// Whether this build can load such files.
pub(super) const AVAILABLE: bool = cfg!(target_os = "linux");

/// A library; closed when dropped.
pub(super) struct SystemLibrary {
    handle: NonNull<c_void>,
    /// Its mapped segments.
    segments: Vec<Segment>,
}

#[derive(Clone, Copy)]
struct Segment {
    start: usize,
    length: usize,
}

// SAFETY: the handle may be used and closed on any thread; the segments are read only.
unsafe impl Send for SystemLibrary {}
// SAFETY: as above.
unsafe impl Sync for SystemLibrary {}

impl Drop for SystemLibrary {
    fn drop(&mut self) {
        // SAFETY: opened once in `load`; nothing of it is used after its owner.
        unsafe { libc::dlclose(self.handle.as_ptr()) };
    }
}

fn unavailable(what: &str) -> Status {
    Status::unavailable(format!("cannot load a system executable: {what}"))
}

/// A file without a name with these bytes.
#[cfg(target_os = "linux")]
fn file_of(data: &[u8]) -> Result<OwnedFd> {
    // SAFETY: the name is a C string; the call touches no other memory of ours.
    let fd = unsafe { libc::memfd_create(c"tiree-executable".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(unavailable(&std::io::Error::last_os_error().to_string()));
    }
    // SAFETY: just opened, and nobody else's.
    let mut file = std::fs::File::from(unsafe { OwnedFd::from_raw_fd(fd) });
    file.write_all(data).map_err(|error| unavailable(&error.to_string()))?;
    Ok(file.into())
}

#[cfg(not(target_os = "linux"))]
fn file_of(_: &[u8]) -> Result<OwnedFd> {
    Err(unavailable("this system has no files in memory"))
}

fn loader_error() -> Status {
    // SAFETY: the text, if any, is valid until the next call of the loader on this thread.
    let text = unsafe { NonNull::new(libc::dlerror()).map(|text| CStr::from_ptr(text.as_ptr())) };
    unavailable(&text.map_or_else(|| "unknown error".into(), CStr::to_string_lossy))
}

impl SystemLibrary {
    /// Loads `data`.
    ///
    /// # Errors
    /// UNAVAILABLE with the loader's words.
    pub(super) fn load(data: &[u8]) -> Result<SystemLibrary> {
        if !data.starts_with(b"\x7fELF") {
            return Err(Status::failed_precondition("not an ELF file (magic is missing)"));
        }
        let file = file_of(data)?;
        let path = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()));
        let path = path.map_err(|_| Status::internal("a path with a zero byte"))?;
        // SAFETY: a path; that its initialisers may run is what the caller allowed.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        let handle = NonNull::new(handle).ok_or_else(loader_error)?;
        let mut library = SystemLibrary { handle, segments: Vec::new() };
        if let Some(query) = library.lookup(super::library::QUERY_SYMBOL) {
            library.segments = segments_around(query.as_ptr() as usize);
        }
        Ok(library)
    }
}

/// The mapped segments of the object that `address` lies in.
fn segments_around(address: usize) -> Vec<Segment> {
    struct Search {
        address: usize,
        found: Vec<Segment>,
    }
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid description, and our own pointer back.
        let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
        // SAFETY: that many headers, by the loader's promise.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        let loads = headers.iter().filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_R != 0);
        let segments: Vec<Segment> = loads
            .map(|header| Segment {
                start: (info.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize),
                length: header.p_memsz as usize,
            })
            .collect();
        if !segments.iter().any(|segment| search.address.wrapping_sub(segment.start) < segment.length) {
            return 0;
        }
        search.found = segments;
        1
    }
    let mut search = Search { address, found: Vec::new() };
    // SAFETY: the callback's data lives during the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    search.found
}

impl Code for SystemLibrary {
    fn lookup(&self, name: &str) -> Option<NonNull<u8>> {
        let name = CString::new(name).ok()?;
        // SAFETY: an open library and a C string.
        NonNull::new(unsafe { libc::dlsym(self.handle.as_ptr(), name.as_ptr()) }.cast())
    }

    fn contains(&self, start: NonNull<u8>, length: usize) -> bool {
        self.segments.iter().any(|segment| {
            let offset = (start.as_ptr() as usize).wrapping_sub(segment.start);
            offset <= segment.length && length <= segment.length - offset
        })
    }

    fn c_string(&self, start: NonNull<u8>) -> Option<&[u8]> {
        let address = start.as_ptr() as usize;
        let segment = self.segments.iter().find(|segment| address.wrapping_sub(segment.start) < segment.length)?;
        let left = segment.length - (address - segment.start);
        // SAFETY: the rest of a readable segment of a library that is open while `self` is.
        let rest = unsafe { std::slice::from_raw_parts(start.as_ptr(), left) };
        rest.iter().position(|&byte| byte == 0).map(|end| &rest[..end])
    }
}
