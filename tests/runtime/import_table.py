"""Calling conventions of the functions that IREE 3.13's runtime modules export, as its importer compares them."""

HAL = """
allocator.allocate 0rIiiI_r
allocator.import 0riIiirII_r
allocator.select 0iiICrID_rI
buffer.allocation.discard 0r_i
buffer.allocation.is_terminal 0r_i
buffer.allocation.preserve 0r_v
buffer.assert 0rrrIii_v
buffer.length 0r_I
buffer.load 0rIi_i
buffer.store 0irIi_v
buffer.subspan 0rII_r
buffer_view.assert 0rriiCID_v
buffer_view.buffer 0r_r
buffer_view.create 0rIIiiCID_r
buffer_view.dim 0ri_I
buffer_view.element_type 0r_i
buffer_view.encoding_type 0r_i
buffer_view.rank 0r_i
buffer_view.trace 0rCrD_v
channel.create 0rIIrrii_r
channel.rank_and_count 0r_ii
channel.split 0riiI_r
command_buffer.advise_buffer 0rrIIIi_v
command_buffer.begin_debug_group 0rr_v
command_buffer.collective 0rriiiirrIIIII_v
command_buffer.copy_buffer 0riirIrIII_v
command_buffer.create 0riiIi_r
command_buffer.dispatch 0rrIiiiICiDCiirIID_v
command_buffer.dispatch.indirect 0rrIirIICiDCiirIID_v
command_buffer.end_debug_group 0r_v
command_buffer.execution_barrier 0riiI_v
command_buffer.fill_buffer 0rrIIiIiI_v
command_buffer.finalize 0r_v
command_buffer.flush_buffer 0rirII_v
command_buffer.invalidate_buffer 0rirII_v
command_buffer.update_buffer 0rrIrIIiI_v
device.allocator 0r_r
device.query.i64 0rrr_iI
device.queue.alloca 0rIrrIiiII_r
device.queue.barrier 0rIrrI_v
device.queue.copy 0rIrrrIrIII_v
device.queue.dealloca 0rIrrrI_v
device.queue.execute 0rIrrrI_v
device.queue.execute.indirect 0rIrrrICrIID_v
device.queue.fill 0rIrrrIIIiI_v
device.queue.flush 0rI_v
device.queue.read 0rIrrrIrIII_v
device.queue.update 0rIrrrIrIII_v
device.queue.write 0rIrrrIrIII_v
devices.count 0v_i
devices.get 0i_r
ex.file.from_memory 0rIirIIi_r
executable.create 0rIrrr_r
executable.lookup.function 0rr_I
fence.await 0iICrD_i
fence.create 0rI_r
fence.fail 0ri_v
fence.join 0ICrD_r
fence.query 0r_i
fence.signal 0r_v
"""

IO_PARAMETERS = """
gather 0rIrrrrrrr_v
load 0rIrrrIiirrr_r
scatter 0rIrrrrrrr_v
"""

HAL_INLINE = """
buffer.allocate 0iI_rr
buffer.allocate.initialized 0irII_rr
buffer.wrap 0rII_r
buffer.subspan 0rII_r
buffer.length 0r_I
buffer.storage 0r_r
buffer_view.assert 0rriiCID_v
buffer_view.buffer 0r_r
buffer_view.create 0rIIiiCID_r
buffer_view.dim 0ri_I
buffer_view.element_type 0r_i
buffer_view.encoding_type 0r_i
buffer_view.rank 0r_i
buffer_view.trace 0rCrD_v
device.query.i64 0rr_iI
"""

HAL_LOADER = """
executable.query_support 0r_i
executable.load 0rrr_r
executable.lookup.function 0rr_I
executable.dispatch 0rIiiiCiDCrIID_v
"""

_BINARY_F32 = "add sub mul div"
_BINARY_I32 = "add sub mul and or xor divs divu shl shrs shru"
_UNARY_F32 = "abs ceil exp floor log neg rsqrt"
VMVX = "\n".join(
    [
        *(f"{name}.2d.f32 0rIIIrIIIrIIIII_v" for name in _BINARY_F32.split()),
        *(f"{name}.2d.i32 0rIIIrIIIrIIIII_v" for name in _BINARY_I32.split()),
        *(f"{name}.2d.f32 0rIIIrIIIII_v" for name in _UNARY_F32.split()),
        "ctlz.2d.i32 0rIIIrIIIII_v",
        *(f"copy.2d.x{bits} 0rIIIrIIIII_v" for bits in (8, 16, 32, 64)),
        "fill.2d.x32 0irIIII_v",
        "mmt4d 0rIIrIIrIIIIIiiii_v",
        "pack 0rIIIrIIIIIIIIIIi_v",
        "unpack 0rIIIrIIIIIIIIIi_v",
        "query_tile_sizes.2d 0IIi_II",
    ]
)

CHECK = """
expect_true 0i_v
expect_false 0i_v
expect_all_true 0rr_v
expect_eq 0rrr_v
expect_almost_eq 0rrrff_v
"""

MODULES = {
    "hal": HAL,
    "io_parameters": IO_PARAMETERS,
    "hal_inline": HAL_INLINE,
    "hal_loader": HAL_LOADER,
    "vmvx": VMVX,
    "check": CHECK,
}


def rows(module: str) -> dict[str, str]:
    """The functions of a module and their calling conventions."""
    return dict(line.split(" ", 1) for line in MODULES[module].strip().splitlines())


SIGNATURES = {f"{module}.{name}": cconv for module in MODULES for name, cconv in rows(module).items()}
