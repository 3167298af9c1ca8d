//! The executable library ABI, version 0.6: the structures that kernels and runtime share.
//!
//! Layouts are fixed by the ABI; the tests below check every offset.

use std::ffi::{c_char, c_int, c_void};

/// The version that the runtime asks for and generated code answers.
pub(super) const VERSION: u32 = 6;

/// The one symbol of a library.
pub(super) const QUERY_SYMBOL: &str = "iree_hal_executable_library_query";

/// Returns the library for a version, or null.
pub(super) type QueryFn = unsafe extern "C" fn(u32, *const Environment) -> *const Library;

/// One workgroup of a kernel; 0 is success.
pub(super) type DispatchFn =
    unsafe extern "C" fn(*const Environment, *const DispatchState, *const WorkgroupState) -> c_int;

/// What a kernel knows of its surroundings.
#[repr(C)]
pub(super) struct Environment {
    pub(super) constants: *const u32,
    pub(super) import_thunk: Option<ImportThunk>,
    pub(super) import_functions: *const *const c_void,
    pub(super) import_contexts: *const *const c_void,
    pub(super) processor: [u64; 8],
}

/// Calls an imported function.
pub(super) type ImportThunk = unsafe extern "C" fn(*const c_void, *mut c_void, *mut c_void, *mut c_void) -> c_int;

/// What all workgroups of a dispatch share.
#[repr(C)]
pub(super) struct DispatchState {
    pub(super) size_x: u32,
    pub(super) size_y: u32,
    pub(super) size_z: u16,
    pub(super) constant_count: u16,
    pub(super) count_x: u32,
    pub(super) count_y: u32,
    pub(super) count_z: u16,
    pub(super) max_concurrency: u8,
    pub(super) binding_count: u8,
    pub(super) constants: *const u32,
    pub(super) binding_pointers: *const *mut u8,
    pub(super) binding_lengths: *const usize,
}

/// What one workgroup has for itself.
#[repr(C)]
pub(super) struct WorkgroupState {
    pub(super) id_x: u32,
    pub(super) id_y: u32,
    pub(super) id_z: u16,
    pub(super) reserved: u16,
    pub(super) processor_id: u32,
    pub(super) local_memory: *mut u8,
    pub(super) local_memory_size: u32,
}

#[repr(C)]
pub(super) struct Header {
    pub(super) version: u32,
    pub(super) name: *const c_char,
    pub(super) features: u32,
    pub(super) sanitizer: u32,
}

#[repr(C)]
pub(super) struct Library {
    pub(super) header: *const Header,
    pub(super) imports: Imports,
    pub(super) exports: Exports,
    pub(super) constant_count: u32,
    pub(super) sources: Sources,
}

#[repr(C)]
pub(super) struct Sources {
    pub(super) count: u32,
    pub(super) files: *const c_void,
}

#[repr(C)]
pub(super) struct Imports {
    pub(super) count: u32,
    pub(super) symbols: *const *const c_char,
}

#[repr(C)]
pub(super) struct Exports {
    pub(super) count: u32,
    pub(super) functions: *const Option<DispatchFn>,
    pub(super) attributes: *const Attributes,
    pub(super) parameters: *const c_void,
    pub(super) occupancy: *const c_void,
    pub(super) names: *const *const c_char,
    pub(super) tags: *const *const c_char,
    pub(super) parameter_names: *const *const c_char,
    pub(super) source_locations: *const SourceLocation,
    pub(super) stage_locations: *const c_void,
}

/// A line of a file; an empty path is an unknown place.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct SourceLocation {
    pub(super) line: u32,
    pub(super) path_length: u32,
    pub(super) path: *const c_char,
}

/// Attributes of one entry point.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Attributes {
    pub(super) flags: u64,
    pub(super) local_memory_pages: u16,
    pub(super) constant_count: u8,
    pub(super) binding_count: u8,
    pub(super) workgroup_size_x: u32,
    pub(super) workgroup_size_y: u32,
    pub(super) workgroup_size_z: u16,
    pub(super) parameter_count: u16,
    pub(super) reserved: [u64; 5],
}

/// Workgroups ask to be run in order.
pub(super) const FLAG_SEQUENTIAL: u64 = 1;
/// The ABI's limits.
pub(super) const MAX_CONSTANTS: u8 = 64;
pub(super) const MAX_BINDINGS: u8 = 64;

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    #[test]
    fn layouts_are_those_of_the_abi() {
        assert_eq!(size_of::<Environment>(), 96);
        assert_eq!(offset_of!(Environment, import_thunk), 8);
        assert_eq!(offset_of!(Environment, import_contexts), 24);
        assert_eq!(offset_of!(Environment, processor), 32);
        assert_eq!(size_of::<DispatchState>(), 48);
        assert_eq!(offset_of!(DispatchState, count_x), 12);
        assert_eq!(offset_of!(DispatchState, count_z), 20);
        assert_eq!(offset_of!(DispatchState, binding_count), 23);
        assert_eq!(offset_of!(DispatchState, binding_lengths), 40);
        assert_eq!(size_of::<WorkgroupState>(), 32);
        assert_eq!(offset_of!(WorkgroupState, processor_id), 12);
        assert_eq!(offset_of!(WorkgroupState, local_memory_size), 24);
        assert_eq!(size_of::<Header>(), 24);
        assert_eq!(offset_of!(Header, sanitizer), 20);
        assert_eq!(size_of::<Exports>(), 80);
        assert_eq!(offset_of!(Exports, source_locations), 64);
        assert_eq!(size_of::<SourceLocation>(), 16);
        assert_eq!(offset_of!(SourceLocation, path), 8);
        assert_eq!(offset_of!(Exports, names), 40);
        assert_eq!(size_of::<Library>(), 128);
        assert_eq!(offset_of!(Library, exports), 24);
        assert_eq!(offset_of!(Library, constant_count), 104);
        assert_eq!(offset_of!(Library, sources), 112);
        assert_eq!(size_of::<Attributes>(), 64);
        assert_eq!(offset_of!(Attributes, workgroup_size_z), 20);
        assert_eq!(offset_of!(Attributes, reserved), 24);
    }
}
