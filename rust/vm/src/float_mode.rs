//! How the processor computes with floats: numbers must not depend on what the calling thread has set.
//!
//! Libraries that are linked with `-ffast-math` set their thread to take subnormal numbers as zero, and so do some programs
//! on purpose; threads that such a thread starts inherit it. What programs compute follows IEEE 754, so whoever runs
//! bytecode or kernels first asks for the [`standard`] mode, for as long as they run.

use std::marker::PhantomData;

/// Keeps this thread in the standard mode; the mode before comes back when it is dropped.
#[must_use = "the mode before comes back when this is dropped"]
pub struct Standard {
    /// What is to come back; none where the thread was in the standard mode.
    before: Option<Mode>,
    /// The mode is the thread's own.
    _thread: PhantomData<*const ()>,
}

/// Subnormal numbers as IEEE 754 has them, rounding to nearest, no traps.
#[inline]
pub fn standard() -> Standard {
    let mode = read();
    let before = (mode & CONTROL != STANDARD).then_some(mode);
    if before.is_some() {
        write(STANDARD);
    }
    Standard { before, _thread: PhantomData }
}

impl Drop for Standard {
    #[inline]
    fn drop(&mut self) {
        if let Some(mode) = self.before {
            write(mode);
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod machine {
    use std::arch::asm;

    /// The register MXCSR.
    pub(super) type Mode = u32;
    /// All traps masked.
    pub(super) const STANDARD: Mode = 0x1f80;
    /// Without the flags of what has happened, which change nothing.
    pub(super) const CONTROL: Mode = 0xffc0;

    #[inline]
    pub(super) fn read() -> Mode {
        let mut mode: Mode = 0;
        // SAFETY: writes four bytes to `mode`, which every x86-64 can.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut mode, options(nostack, preserves_flags)) };
        mode
    }

    #[inline]
    pub(super) fn write(mode: Mode) {
        // SAFETY: the value is either the one that compiled code expects or one that was read from the register.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack, preserves_flags)) };
    }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod machine {
    use std::arch::asm;

    /// The register FPCR.
    pub(super) type Mode = u64;
    pub(super) const STANDARD: Mode = 0;
    pub(super) const CONTROL: Mode = u64::MAX;

    #[inline]
    pub(super) fn read() -> Mode {
        let mode: Mode;
        // SAFETY: reads a register.
        unsafe { asm!("mrs {}, fpcr", out(reg) mode, options(nomem, nostack, preserves_flags)) };
        mode
    }

    #[inline]
    pub(super) fn write(mode: Mode) {
        // SAFETY: the value is either the one that compiled code expects or one that was read from the register.
        unsafe { asm!("msr fpcr, {}", in(reg) mode, options(nostack, preserves_flags)) };
    }
}

#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod machine {
    //! Processors without such a mode, as far as we know.
    pub(super) type Mode = u32;
    pub(super) const STANDARD: Mode = 0;
    pub(super) const CONTROL: Mode = 0;

    pub(super) fn read() -> Mode {
        0
    }

    pub(super) fn write(_: Mode) {}
}

use machine::{CONTROL, Mode, STANDARD, read, write};

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::*;
    use std::hint::black_box;

    const FLUSHING: Mode = 0x9fc0;

    #[test]
    fn what_was_set_comes_back() {
        let before = read();
        write(FLUSHING);
        {
            let _standard = standard();
            let small = black_box(f32::MIN_POSITIVE) / black_box(2.0);
            assert_eq!(small.to_bits(), 0x0040_0000);
        }
        let after = read();
        write(before);
        assert_eq!(after & CONTROL, FLUSHING & CONTROL);
    }

    #[test]
    fn what_is_set_meanwhile_stays() {
        let before = read();
        write(STANDARD);
        let inside = standard();
        write(FLUSHING);
        drop(inside);
        let after = read();
        write(before);
        assert_eq!(after & CONTROL, FLUSHING & CONTROL);
    }
}
