//! Loading an embedded ELF file into memory of its own and finding its one entry point.
//!
//! Order: reserve one span, copy the segments, parse the dynamic section, refuse imports, relocate, protect, run
//! initialisers. All accesses before protection go through the bounds-checked span; after it, only code runs there.

use super::image::{Image, PF_W, PF_X, Segment, bad, u32_at, u64_at};
use super::native::Code;
use std::ptr::NonNull;
use tiree_vm::{Result, Status};

/// No embedded kernel needs more address space than this.
const MAX_SPAN: u64 = 1 << 32;

mod tag {
    pub(super) const PLTRELSZ: u64 = 2;
    pub(super) const HASH: u64 = 4;
    pub(super) const STRTAB: u64 = 5;
    pub(super) const SYMTAB: u64 = 6;
    pub(super) const RELA: u64 = 7;
    pub(super) const RELASZ: u64 = 8;
    pub(super) const RELAENT: u64 = 9;
    pub(super) const STRSZ: u64 = 10;
    pub(super) const SYMENT: u64 = 11;
    pub(super) const INIT: u64 = 12;
    pub(super) const REL: u64 = 17;
    pub(super) const RELSZ: u64 = 18;
    pub(super) const RELENT: u64 = 19;
    pub(super) const PLTREL: u64 = 20;
    pub(super) const JMPREL: u64 = 23;
    pub(super) const INIT_ARRAY: u64 = 25;
    pub(super) const INIT_ARRAYSZ: u64 = 27;
    pub(super) const COUNT: usize = 28;
}

/// A loaded file. Its memory is given back when it is dropped.
pub(super) struct LoadedElf {
    span: Span,
    symbols: Symbols,
}

/// The reserved memory; `bias` turns addresses of the file into addresses of the process.
struct Span {
    data: NonNull<u8>,
    length: usize,
    /// Lowest address of the file, which lies at `data`.
    minimum: u64,
}

// SAFETY: the span is only written while it is being loaded, by one thread.
unsafe impl Send for Span {}
// SAFETY: as above.
unsafe impl Sync for Span {}

#[derive(Clone, Copy, Default)]
struct Symbols {
    table: u64,
    count: u64,
    strings: u64,
    strings_size: u64,
}

impl Span {
    fn reserve(loads: &[Segment]) -> Result<Span> {
        let page = page_size();
        let (mut low, mut high) = (u64::MAX, 0);
        for load in loads {
            let alignment = load.alignment.max(page);
            let end =
                load.address.checked_add(load.memory_size).and_then(|end| end.checked_next_multiple_of(alignment));
            low = low.min(load.address / alignment * alignment);
            high = high.max(end.ok_or_else(|| bad("ELF segment addresses overflow"))?);
        }
        let length = high.saturating_sub(low);
        if length == 0 || length > MAX_SPAN {
            return Err(bad(format!("ELF segments span {length} bytes of address space")));
        }
        // SAFETY: an anonymous private mapping at an address the system chooses.
        let data = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length as usize,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        match NonNull::new(data.cast()) {
            Some(data) if data.as_ptr() as *mut libc::c_void != libc::MAP_FAILED => {
                Ok(Span { data, length: length as usize, minimum: low })
            }
            _ => Err(Status::resource_exhausted(format!("no memory for {length} bytes of code"))),
        }
    }

    /// Bytes of the span, only while loading.
    fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is readable for its whole length until protection removes nothing but write access.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.length) }
    }

    fn offset(&self, address: u64, size: u64) -> Result<usize> {
        let offset = address.checked_sub(self.minimum);
        let end = offset.and_then(|offset| offset.checked_add(size));
        match (offset, end) {
            (Some(offset), Some(end)) if end <= self.length as u64 => Ok(offset as usize),
            _ => Err(bad(format!("ELF address {address:#x} (+{size}) lies outside the loaded segments"))),
        }
    }

    fn read(&self, address: u64) -> Result<u64> {
        u64_at(self.bytes(), self.offset(address, 8)?)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<()> {
        let offset = self.offset(address, bytes.len() as u64)?;
        // SAFETY: in range (offset), writable before protection, exclusive by &mut.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.data.as_ptr().add(offset), bytes.len()) };
        Ok(())
    }

    /// Added to addresses of the file (wrapping) gives addresses of the process.
    fn bias(&self) -> u64 {
        (self.data.as_ptr() as u64).wrapping_sub(self.minimum)
    }

    fn protect(&self, address: u64, size: u64, protection: libc::c_int) -> Result<()> {
        let page = page_size();
        let start = address / page * page;
        let end = address.checked_add(size).and_then(|end| end.checked_next_multiple_of(page));
        let end = end.ok_or_else(|| bad("ELF segment addresses overflow"))?.min(self.minimum + self.length as u64);
        let offset = self.offset(start, end.saturating_sub(start))?;
        // SAFETY: whole pages inside our own mapping.
        let status =
            unsafe { libc::mprotect(self.data.as_ptr().add(offset).cast(), (end - start) as usize, protection) };
        if status != 0 {
            let error = std::io::Error::last_os_error();
            return Err(Status::permission_denied(format!(
                "the system refuses to make kernel code executable: {error}"
            )));
        }
        Ok(())
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `reserve`; nothing can run in it once the owner is gone.
        unsafe { libc::munmap(self.data.as_ptr().cast(), self.length) };
    }
}

fn page_size() -> u64 {
    // SAFETY: no preconditions.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

impl LoadedElf {
    /// Loads `file`.
    pub(super) fn load(file: &[u8]) -> Result<LoadedElf> {
        let image = Image::parse(file)?;
        let mut span = Span::reserve(&image.loads)?;
        for load in &image.loads {
            span.offset(load.address, load.memory_size)?;
            span.write(load.address, &image.file[load.file_offset..load.file_offset + load.file_size])?;
        }
        let tags = dynamic_tags(&span, &image.dynamic)?;
        let symbols = symbols(&span, &tags)?;
        symbols.check_no_imports(&span)?;
        relocate(&mut span, &tags, symbols)?;
        for load in image.loads.iter().filter(|load| load.memory_size > 0) {
            span.protect(load.address, load.memory_size, protection(load.flags))?;
        }
        for relro in image.relro.iter().filter(|relro| relro.memory_size > 0) {
            let end = relro.address.saturating_add(relro.memory_size) / page_size() * page_size();
            // The last page may hold data that stays writable.
            if end > relro.address {
                span.protect(relro.address, end - relro.address, libc::PROT_READ)?;
            }
        }
        run_initialisers(&span, &tags, &image.loads)?;
        Ok(LoadedElf { span, symbols })
    }
}

impl Code for LoadedElf {
    /// The loaded memory is readable throughout.
    fn contains(&self, start: NonNull<u8>, length: usize) -> bool {
        let offset = (start.as_ptr() as usize).wrapping_sub(self.span.data.as_ptr() as usize);
        offset <= self.span.length && length <= self.span.length - offset
    }

    fn c_string(&self, start: NonNull<u8>) -> Option<&[u8]> {
        if !self.contains(start, 1) {
            return None;
        }
        let offset = start.as_ptr() as usize - self.span.data.as_ptr() as usize;
        let rest = &self.span.bytes()[offset..];
        rest.iter().position(|&byte| byte == 0).map(|end| &rest[..end])
    }

    /// Address of the exported function `name`, inside executable memory of this file by the caller's trust only.
    fn lookup(&self, name: &str) -> Option<NonNull<u8>> {
        // From the end, as the reference does.
        for index in (0..self.symbols.count).rev() {
            let symbol = self.symbols.get(&self.span, index).ok()?;
            let exported = matches!(symbol.info >> 4, 1 | 2) && symbol.section != 0;
            if exported && self.symbols.name(&self.span, symbol.name) == Some(name.as_bytes()) {
                self.span.offset(symbol.value, 1).ok()?;
                return NonNull::new(self.span.bias().wrapping_add(symbol.value) as *mut u8);
            }
        }
        None
    }
}

fn protection(flags: u32) -> libc::c_int {
    if flags & PF_W != 0 {
        libc::PROT_READ | libc::PROT_WRITE
    } else if flags & PF_X != 0 {
        libc::PROT_READ | libc::PROT_EXEC
    } else {
        libc::PROT_READ
    }
}

/// Values of the known tags; None where absent.
type Tags = [Option<u64>; tag::COUNT];

fn dynamic_tags(span: &Span, dynamic: &Segment) -> Result<Tags> {
    let mut tags: Tags = [None; tag::COUNT];
    for index in 0..dynamic.memory_size / 16 {
        let at = dynamic.address.checked_add(index * 16).ok_or_else(|| bad("ELF dynamic section overflows"))?;
        let (key, value) = (span.read(at)?, span.read(at + 8)?);
        match key {
            0 => break,
            key if (key as usize) < tag::COUNT => tags[key as usize] = Some(value),
            _ => {}
        }
    }
    let sizes = [("DT_SYMENT", tag::SYMENT, 24), ("DT_RELAENT", tag::RELAENT, 24), ("DT_RELENT", tag::RELENT, 16)];
    for (name, key, need) in sizes {
        if let Some(have) = tags[key as usize].filter(|&have| have != need) {
            return Err(bad(format!("ELF dynamic entry {name} is {have}, expected {need}")));
        }
    }
    if tags[tag::REL as usize].is_some() || tags[tag::RELSZ as usize].is_some_and(|size| size != 0) {
        return Err(bad("ELF file has REL relocations; 64-bit files must use RELA"));
    }
    if tags[tag::JMPREL as usize].is_some() && tags[tag::PLTREL as usize] != Some(tag::RELA) {
        return Err(bad("ELF PLT relocations must be of the RELA kind"));
    }
    Ok(tags)
}

fn symbols(span: &Span, tags: &Tags) -> Result<Symbols> {
    let get = |key: u64| tags[key as usize];
    let (Some(table), Some(strings), Some(strings_size), Some(hash)) =
        (get(tag::SYMTAB), get(tag::STRTAB), get(tag::STRSZ), get(tag::HASH))
    else {
        return Err(bad("missing .dynsym/.dynstr (DT_SYMTAB, DT_STRTAB, DT_STRSZ and DT_HASH are all needed)"));
    };
    let count = u64::from(u32_at(span.bytes(), span.offset(hash, 8)? + 4)?);
    span.offset(table, count * 24)?;
    span.offset(strings, strings_size)?;
    Ok(Symbols { table, count, strings, strings_size })
}

struct Symbol {
    name: u32,
    info: u8,
    section: u16,
    value: u64,
}

impl Symbols {
    fn get(&self, span: &Span, index: u64) -> Result<Symbol> {
        if index >= self.count {
            return Err(bad(format!("ELF relocation refers to symbol {index} of {}", self.count)));
        }
        let bytes = span.bytes();
        let at = span.offset(self.table + index * 24, 24)?;
        Ok(Symbol {
            name: u32_at(bytes, at)?,
            info: bytes[at + 4],
            section: u16::from_le_bytes([bytes[at + 6], bytes[at + 7]]),
            value: u64_at(bytes, at + 8)?,
        })
    }

    fn name<'a>(&self, span: &'a Span, offset: u32) -> Option<&'a [u8]> {
        let left = self.strings_size.checked_sub(u64::from(offset))?;
        let at = span.offset(self.strings + u64::from(offset), left).ok()?;
        let bytes = &span.bytes()[at..at + left as usize];
        bytes.split(|&byte| byte == 0).next()
    }

    fn check_no_imports(&self, span: &Span) -> Result<()> {
        let mut names = Vec::new();
        for index in 1..self.count {
            let symbol = self.get(span, index)?;
            if symbol.section == 0 {
                let name = self.name(span, symbol.name).unwrap_or_default();
                names.push(String::from_utf8_lossy(name).into_owned());
            }
        }
        if names.is_empty() {
            return Ok(());
        }
        names.truncate(8);
        Err(Status::unavailable(format!(
            "ELF imports one or more symbols: {}; embedded kernels must be self-contained, so link them statically",
            names.join(", ")
        )))
    }
}

fn relocate(span: &mut Span, tags: &Tags, symbols: Symbols) -> Result<()> {
    let tables = [(tag::RELA, tag::RELASZ), (tag::JMPREL, tag::PLTRELSZ)];
    for (table, size) in tables {
        let (Some(table), Some(size)) = (tags[table as usize], tags[size as usize]) else { continue };
        span.offset(table, size)?;
        for index in 0..size / 24 {
            let at = table + index * 24;
            let (target, info, addend) = (span.read(at)?, span.read(at + 8)?, span.read(at + 16)?);
            let symbol = info >> 32;
            let address = if symbol == 0 { 0 } else { symbols.get(span, symbol)?.value.wrapping_add(span.bias()) };
            apply(span, (info & 0xFFFF_FFFF) as u32, target, address, addend)?;
        }
    }
    Ok(())
}

fn unknown_relocation(kind: u32) -> Status {
    Status::unimplemented(format!("ELF relocation type {kind} is not supported"))
}

#[cfg(target_arch = "x86_64")]
fn apply(span: &mut Span, kind: u32, target: u64, symbol: u64, addend: u64) -> Result<()> {
    let place = span.bias().wrapping_add(target);
    let too_far = || bad(format!("ELF relocation at {target:#x} does not fit 32 bits"));
    match kind {
        0 => Ok(()),
        1 => span.write(target, &symbol.wrapping_add(addend).to_le_bytes()),
        2 => {
            let distance = symbol.wrapping_add(addend).wrapping_sub(place) as i64;
            span.write(target, &i32::try_from(distance).map_err(|_| too_far())?.to_le_bytes())
        }
        5 => {
            let from = span.offset(symbol.wrapping_sub(span.bias()), 8)?;
            let bytes: [u8; 8] = u64_at(span.bytes(), from)?.to_le_bytes();
            span.write(target, &bytes)
        }
        6 | 7 => span.write(target, &symbol.to_le_bytes()),
        8 => span.write(target, &span.bias().wrapping_add(addend).to_le_bytes()),
        10 => {
            let value = u32::try_from(symbol.wrapping_add(addend)).map_err(|_| too_far())?;
            span.write(target, &value.to_le_bytes())
        }
        11 => {
            let value = i32::try_from(symbol.wrapping_add(addend) as i64).map_err(|_| too_far())?;
            span.write(target, &value.to_le_bytes())
        }
        _ => Err(unknown_relocation(kind)),
    }
}

#[cfg(target_arch = "aarch64")]
fn apply(span: &mut Span, kind: u32, target: u64, symbol: u64, addend: u64) -> Result<()> {
    match kind {
        0 => Ok(()),
        257 | 1025 | 1026 => span.write(target, &symbol.wrapping_add(addend).to_le_bytes()),
        1027 => span.write(target, &span.bias().wrapping_add(addend).to_le_bytes()),
        _ => Err(unknown_relocation(kind)),
    }
}

#[cfg(target_arch = "riscv64")]
fn apply(span: &mut Span, kind: u32, target: u64, symbol: u64, addend: u64) -> Result<()> {
    match kind {
        0 => Ok(()),
        1 => span.write(target, &(symbol as u32).to_le_bytes()),
        2 | 5 => span.write(target, &symbol.to_le_bytes()),
        3 => span.write(target, &span.bias().wrapping_add(addend).to_le_bytes()),
        _ => Err(unknown_relocation(kind)),
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
fn apply(_span: &mut Span, kind: u32, _target: u64, _symbol: u64, _addend: u64) -> Result<()> {
    Err(unknown_relocation(kind))
}

fn run_initialisers(span: &Span, tags: &Tags, loads: &[Segment]) -> Result<()> {
    let mut functions = Vec::new();
    if let Some(init) = tags[tag::INIT as usize].filter(|&init| init != 0) {
        functions.push(init.wrapping_add(span.bias()));
    }
    if let (Some(array), Some(size)) = (tags[tag::INIT_ARRAY as usize], tags[tag::INIT_ARRAYSZ as usize]) {
        span.offset(array, size)?;
        for index in 0..size / 8 {
            // Relocation has made process addresses of the entries.
            let entry = span.read(array + index * 8)?;
            if entry != 0 && entry != u64::MAX {
                functions.push(entry);
            }
        }
    }
    for address in functions {
        let local = address.wrapping_sub(span.bias());
        let inside =
            |load: &Segment| load.flags & PF_X != 0 && local >= load.address && local - load.address < load.memory_size;
        if !loads.iter().any(inside) {
            return Err(bad(format!("ELF initialiser at {local:#x} is not in an executable segment")));
        }
        // SAFETY: the address lies in executable memory of the image. That it is a function of this signature is the
        // promise of whoever made the file: loading native code means trusting it.
        let function: extern "C" fn() = unsafe { std::mem::transmute(address as *const ()) };
        function();
    }
    Ok(())
}
