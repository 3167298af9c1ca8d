//! Reading an embedded ELF file: every check that does not need memory of its own, for 64-bit little-endian hosts.
//!
//! The rules are those of IREE's loader (what it requires, which tags and relocations it knows). Each offset that the
//! file gives is checked against the file before it is followed.

use tiree_vm::{Result, Status};

const FAT_MAGIC: u32 = 0x1F0E_70FA;
const FAT_RECORD: usize = 24;

/// e_machine of the host.
pub(super) const HOST_MACHINE: u16 = if cfg!(target_arch = "x86_64") {
    0x3E
} else if cfg!(target_arch = "aarch64") {
    0xB7
} else if cfg!(target_arch = "riscv64") {
    0xF3
} else {
    0
};

pub(super) const PF_X: u32 = 1;
pub(super) const PF_W: u32 = 2;

/// A PT_LOAD or PT_GNU_RELRO header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) flags: u32,
    pub(super) file_offset: usize,
    pub(super) address: u64,
    pub(super) file_size: usize,
    pub(super) memory_size: u64,
    pub(super) alignment: u64,
}

/// The headers of a checked file.
pub(super) struct Image<'a> {
    pub(super) file: &'a [u8],
    pub(super) loads: Vec<Segment>,
    pub(super) dynamic: Segment,
    pub(super) relro: Vec<Segment>,
}

pub(super) fn bad(message: impl Into<String>) -> Status {
    Status::failed_precondition(message.into())
}

/// Little-endian integers at checked offsets.
pub(super) fn u16_at(bytes: &[u8], offset: usize) -> Result<u16> {
    Ok(u16::from_le_bytes(array_at(bytes, offset)?))
}
pub(super) fn u32_at(bytes: &[u8], offset: usize) -> Result<u32> {
    Ok(u32::from_le_bytes(array_at(bytes, offset)?))
}
pub(super) fn u64_at(bytes: &[u8], offset: usize) -> Result<u64> {
    Ok(u64::from_le_bytes(array_at(bytes, offset)?))
}
fn array_at<const N: usize>(bytes: &[u8], offset: usize) -> Result<[u8; N]> {
    offset
        .checked_add(N)
        .and_then(|end| bytes.get(offset..end))
        .and_then(|slice| slice.try_into().ok())
        .ok_or_else(|| bad(format!("ELF data ends before offset {offset} + {N} ({} bytes)", bytes.len())))
}

/// The record of a FatELF file that fits the host; the file itself when it is not one.
fn select(file: &[u8]) -> Result<&[u8]> {
    if file.len() < 8 || u32_at(file, 0)? != FAT_MAGIC {
        return Ok(file);
    }
    let version = u16_at(file, 4)?;
    if version != 1 {
        return Err(bad(format!("FatELF version {version} is not supported; expected 1")));
    }
    let count = usize::from(file[6]);
    let mut machines = Vec::new();
    for index in 0..count {
        let at = 8 + index * FAT_RECORD;
        let machine = u16_at(file, at)?;
        let offset = u64_at(file, at + 8)?;
        let size = u64_at(file, at + 16)?;
        machines.push(format!("{machine:#x}"));
        if machine == HOST_MACHINE && file[at + 4] == 2 && file[at + 5] == 1 {
            let end = offset.checked_add(size).filter(|&end| end <= file.len() as u64);
            let end = end.ok_or_else(|| bad(format!("FatELF record {index} lies outside the file")))?;
            return Ok(&file[offset as usize..end as usize]);
        }
    }
    Err(bad(format!(
        "FatELF has no record for this machine ({HOST_MACHINE:#x}); it has: {}",
        if machines.is_empty() { "none".to_owned() } else { machines.join(", ") }
    )))
}

fn check_header(file: &[u8]) -> Result<()> {
    if file.len() < 64 {
        return Err(bad(format!("ELF file of {} bytes is shorter than its 64-byte header", file.len())));
    }
    let magic = [0x7F, b'E', b'L', b'F'];
    if file[..4] != magic {
        return Err(bad("not an ELF file (magic is missing)"));
    }
    if file[4] != 2 || file[5] != 1 {
        return Err(bad("ELF class or byte order does not match this host; expected 64-bit little-endian"));
    }
    let checks: [(&str, u64, u64); 6] = [
        ("e_version", u64::from(u32_at(file, 20)?), 1),
        ("e_machine", u64::from(u16_at(file, 18)?), u64::from(HOST_MACHINE)),
        ("e_type", u64::from(u16_at(file, 16)?), 3),
        ("e_ehsize", u64::from(u16_at(file, 52)?), 64),
        ("e_phentsize", u64::from(u16_at(file, 54)?), 56),
        ("e_shentsize", u64::from(u16_at(file, 58)?), 64),
    ];
    for (name, have, need) in checks {
        if have != need {
            return Err(bad(format!("ELF header field {name} is {have}, expected {need}")));
        }
    }
    let tables: [(&str, u64, u64, u64); 2] = [
        ("program headers", u64_at(file, 32)?, u64::from(u16_at(file, 56)?), 56),
        ("section headers", u64_at(file, 40)?, u64::from(u16_at(file, 60)?), 64),
    ];
    for (name, offset, count, size) in tables {
        let end = offset.checked_add(count * size);
        if offset == 0 || count == 0 || end.is_none_or(|end| end > file.len() as u64) {
            return Err(bad(format!("ELF {name} are missing or outside the file (stripped files are not loadable)")));
        }
    }
    Ok(())
}

impl Segment {
    fn read(file: &[u8], at: usize) -> Result<Segment> {
        let file_size = u64_at(file, at + 32)?;
        let offset = u64_at(file, at + 8)?;
        Ok(Segment {
            flags: u32_at(file, at + 4)?,
            file_offset: usize::try_from(offset).map_err(|_| bad("ELF segment offset is too large"))?,
            address: u64_at(file, at + 16)?,
            file_size: usize::try_from(file_size).map_err(|_| bad("ELF segment size is too large"))?,
            memory_size: u64_at(file, at + 40)?,
            alignment: u64_at(file, at + 48)?.max(1),
        })
    }
}

impl<'a> Image<'a> {
    /// Checks the headers of an ELF or FatELF file.
    pub(super) fn parse(file: &'a [u8]) -> Result<Image<'a>> {
        if HOST_MACHINE == 0 {
            return Err(Status::unimplemented("embedded ELF files cannot be loaded on this architecture"));
        }
        let file = select(file)?;
        check_header(file)?;
        let (mut loads, mut dynamic, mut relro) = (Vec::new(), None, Vec::new());
        let table = u64_at(file, 32)? as usize;
        for index in 0..usize::from(u16_at(file, 56)?) {
            let at = table + index * 56;
            let segment = || Segment::read(file, at);
            match u32_at(file, at)? {
                1 => loads.push(segment()?),
                2 if dynamic.is_none() => dynamic = Some(segment()?),
                0x6474_E552 => relro.push(segment()?),
                _ => {}
            }
        }
        for (index, load) in loads.iter().enumerate() {
            let end = load.file_offset.checked_add(load.file_size);
            if end.is_none_or(|end| end > file.len()) {
                return Err(bad(format!(
                    "ELF segment {index} (offset {}, {} bytes) lies outside the file of {} bytes",
                    load.file_offset,
                    load.file_size,
                    file.len()
                )));
            }
            if load.memory_size < load.file_size as u64 || !load.alignment.is_power_of_two() {
                return Err(bad(format!("ELF segment {index} has a memory size or alignment that cannot be")));
            }
            if load.flags & (PF_W | PF_X) == PF_W | PF_X {
                return Err(Status::permission_denied(format!("ELF segment {index} is both writable and executable")));
            }
        }
        if loads.is_empty() {
            return Err(bad("ELF file has no loadable segment"));
        }
        let dynamic = dynamic.ok_or_else(|| bad("ELF file has no dynamic segment"))?;
        Ok(Image { file, loads, dynamic, relro })
    }
}
