// Made by isa/generate.py from isa/imports.txt; do not edit.

use tiree_vm::NativeExport;

/// The row of `table` called `name` as an export. Compiling fails when there is none.
pub const fn native_export(table: &[(&'static str, &'static str)], name: &str) -> NativeExport {
    let mut row = 0;
    loop {
        if same(table[row].0, name) {
            return NativeExport { name: table[row].0, cconv: table[row].1 };
        }
        row += 1;
    }
}

const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut at = 0;
    while at < left.len() && at < right.len() && left[at] == right[at] {
        at += 1;
    }
    at == left.len() && at == right.len()
}

/// Version of the module `hal`.
pub const HAL_VERSION: u32 = 7;
/// Exports of the module `hal`: name and calling convention.
#[rustfmt::skip]
pub const HAL: [(&str, &str); 60] = [
    ("allocator.allocate", "0rIiiI_r"),
    ("allocator.import", "0riIiirII_r"),
    ("allocator.select", "0iiICrID_rI"),
    ("buffer.allocation.discard", "0r_i"),
    ("buffer.allocation.is_terminal", "0r_i"),
    ("buffer.allocation.preserve", "0r_v"),
    ("buffer.assert", "0rrrIii_v"),
    ("buffer.length", "0r_I"),
    ("buffer.load", "0rIi_i"),
    ("buffer.store", "0irIi_v"),
    ("buffer.subspan", "0rII_r"),
    ("buffer_view.assert", "0rriiCID_v"),
    ("buffer_view.buffer", "0r_r"),
    ("buffer_view.create", "0rIIiiCID_r"),
    ("buffer_view.dim", "0ri_I"),
    ("buffer_view.element_type", "0r_i"),
    ("buffer_view.encoding_type", "0r_i"),
    ("buffer_view.rank", "0r_i"),
    ("buffer_view.trace", "0rCrD_v"),
    ("channel.create", "0rIIrrii_r"),
    ("channel.rank_and_count", "0r_ii"),
    ("channel.split", "0riiI_r"),
    ("command_buffer.advise_buffer", "0rrIIIi_v"),
    ("command_buffer.begin_debug_group", "0rr_v"),
    ("command_buffer.collective", "0rriiiirrIIIII_v"),
    ("command_buffer.copy_buffer", "0riirIrIII_v"),
    ("command_buffer.create", "0riiIi_r"),
    ("command_buffer.dispatch", "0rrIiiiICiDCiirIID_v"),
    ("command_buffer.dispatch.indirect", "0rrIirIICiDCiirIID_v"),
    ("command_buffer.end_debug_group", "0r_v"),
    ("command_buffer.execution_barrier", "0riiI_v"),
    ("command_buffer.fill_buffer", "0rrIIiIiI_v"),
    ("command_buffer.finalize", "0r_v"),
    ("command_buffer.flush_buffer", "0rirII_v"),
    ("command_buffer.invalidate_buffer", "0rirII_v"),
    ("command_buffer.update_buffer", "0rrIrIIiI_v"),
    ("device.allocator", "0r_r"),
    ("device.query.i64", "0rrr_iI"),
    ("device.queue.alloca", "0rIrrIiiII_r"),
    ("device.queue.barrier", "0rIrrI_v"),
    ("device.queue.copy", "0rIrrrIrIII_v"),
    ("device.queue.dealloca", "0rIrrrI_v"),
    ("device.queue.execute", "0rIrrrI_v"),
    ("device.queue.execute.indirect", "0rIrrrICrIID_v"),
    ("device.queue.fill", "0rIrrrIIIiI_v"),
    ("device.queue.flush", "0rI_v"),
    ("device.queue.read", "0rIrrrIrIII_v"),
    ("device.queue.update", "0rIrrrIrIII_v"),
    ("device.queue.write", "0rIrrrIrIII_v"),
    ("devices.count", "0v_i"),
    ("devices.get", "0i_r"),
    ("ex.file.from_memory", "0rIirIIi_r"),
    ("executable.create", "0rIrrr_r"),
    ("executable.lookup.function", "0rr_I"),
    ("fence.await", "0iICrD_i"),
    ("fence.create", "0rI_r"),
    ("fence.fail", "0ri_v"),
    ("fence.join", "0ICrD_r"),
    ("fence.query", "0r_i"),
    ("fence.signal", "0r_v"),
];

/// Version of the module `io_parameters`.
pub const IO_PARAMETERS_VERSION: u32 = 0;
/// Exports of the module `io_parameters`: name and calling convention.
#[rustfmt::skip]
pub const IO_PARAMETERS: [(&str, &str); 3] = [
    ("gather", "0rIrrrrrrr_v"),
    ("load", "0rIrrrIiirrr_r"),
    ("scatter", "0rIrrrrrrr_v"),
];

/// Version of the module `hal_inline`.
pub const HAL_INLINE_VERSION: u32 = 0;
/// Exports of the module `hal_inline`: name and calling convention.
#[rustfmt::skip]
pub const HAL_INLINE: [(&str, &str); 15] = [
    ("buffer.allocate", "0iI_rr"),
    ("buffer.allocate.initialized", "0irII_rr"),
    ("buffer.length", "0r_I"),
    ("buffer.storage", "0r_r"),
    ("buffer.subspan", "0rII_r"),
    ("buffer.wrap", "0rII_r"),
    ("buffer_view.assert", "0rriiCID_v"),
    ("buffer_view.buffer", "0r_r"),
    ("buffer_view.create", "0rIIiiCID_r"),
    ("buffer_view.dim", "0ri_I"),
    ("buffer_view.element_type", "0r_i"),
    ("buffer_view.encoding_type", "0r_i"),
    ("buffer_view.rank", "0r_i"),
    ("buffer_view.trace", "0rCrD_v"),
    ("device.query.i64", "0rr_iI"),
];

/// Version of the module `hal_loader`.
pub const HAL_LOADER_VERSION: u32 = 1;
/// Exports of the module `hal_loader`: name and calling convention.
#[rustfmt::skip]
pub const HAL_LOADER: [(&str, &str); 4] = [
    ("executable.dispatch", "0rIiiiCiDCrIID_v"),
    ("executable.load", "0rrr_r"),
    ("executable.lookup.function", "0rr_I"),
    ("executable.query_support", "0r_i"),
];

/// Version of the module `vmvx`.
pub const VMVX_VERSION: u32 = 0;
/// Exports of the module `vmvx`: name and calling convention.
#[rustfmt::skip]
pub const VMVX: [(&str, &str); 32] = [
    ("abs.2d.f32", "0rIIIrIIIII_v"),
    ("add.2d.f32", "0rIIIrIIIrIIIII_v"),
    ("add.2d.i32", "0rIIIrIIIrIIIII_v"),
    ("and.2d.i32", "0rIIIrIIIrIIIII_v"),
    ("ceil.2d.f32", "0rIIIrIIIII_v"),
    ("copy.2d.x16", "0rIIIrIIIII_v"),
    ("copy.2d.x32", "0rIIIrIIIII_v"),
    ("copy.2d.x64", "0rIIIrIIIII_v"),
    ("copy.2d.x8", "0rIIIrIIIII_v"),
    ("ctlz.2d.i32", "0rIIIrIIIII_v"),
    ("div.2d.f32", "0rIIIrIIIrIIIII_v"),
    ("divs.2d.i32", "0rIIIrIIIrIIIII_v"),
    ("divu.2d.i32", "0rIIIrIIIrIIIII_v"),
    ("exp.2d.f32", "0rIIIrIIIII_v"),
    ("fill.2d.x32", "0irIIII_v"),
    ("floor.2d.f32", "0rIIIrIIIII_v"),
    ("log.2d.f32", "0rIIIrIIIII_v"),
    ("mmt4d", "0rIIrIIrIIIIIiiii_v"),
    ("mul.2d.f32", "0rIIIrIIIrIIIII_v"),
    ("mul.2d.i32", "0rIIIrIIIrIIIII_v"),
    ("neg.2d.f32", "0rIIIrIIIII_v"),
    ("or.2d.i32", "0rIIIrIIIrIIIII_v"),
    ("pack", "0rIIIrIIIIIIIIIIi_v"),
    ("query_tile_sizes.2d", "0IIi_II"),
    ("rsqrt.2d.f32", "0rIIIrIIIII_v"),
    ("shl.2d.i32", "0rIIIrIIIrIIIII_v"),
    ("shrs.2d.i32", "0rIIIrIIIrIIIII_v"),
    ("shru.2d.i32", "0rIIIrIIIrIIIII_v"),
    ("sub.2d.f32", "0rIIIrIIIrIIIII_v"),
    ("sub.2d.i32", "0rIIIrIIIrIIIII_v"),
    ("unpack", "0rIIIrIIIIIIIIIi_v"),
    ("xor.2d.i32", "0rIIIrIIIrIIIII_v"),
];

/// Version of the module `check`.
pub const CHECK_VERSION: u32 = 0;
/// Exports of the module `check`: name and calling convention.
#[rustfmt::skip]
pub const CHECK: [(&str, &str); 5] = [
    ("expect_all_true", "0rr_v"),
    ("expect_almost_eq", "0rrrff_v"),
    ("expect_eq", "0rrr_v"),
    ("expect_false", "0i_v"),
    ("expect_true", "0i_v"),
];
