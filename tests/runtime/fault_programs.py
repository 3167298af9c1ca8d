"""Programs that fail when they run: a kernel returns an error, one divides by zero, one asks for too much memory."""

from __future__ import annotations

import struct
from functools import cache

from runtime.modules import ADD, HOST_FLAGS, iree_module_with

DIVIDE = """
func.func @divide(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> {
  %0 = arith.divsi %a, %b : tensor<4xi32>
  return %0 : tensor<4xi32>
}
"""

# Returns one element of a tensor with as many elements as it is told.
GROW = """
func.func @grow(%n: index) -> tensor<?xf32> {
  %c = arith.constant 1.5 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = linalg.fill ins(%c : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""

RETURN_7 = b"\xb8\x07\x00\x00\x00\xc3"  # mov eax, 7; ret


@cache
def failing_kernel(*flags: str) -> bytes:
    """What iree-compile makes of `ADD`, but its kernel returns 7: all code but the query function is overwritten."""
    plain = "--iree-vm-emit-polyglot-zip=false"  # A ZIP has checksums of its members.
    module = bytearray(iree_module_with(ADD, (*HOST_FLAGS, plain, *flags), True))
    start = module.index(b"\x7fELF")
    text, query = _code(module, start)
    pieces = [(text.start, query.start), (query.stop, text.stop)]
    for begin, end in pieces:
        if end - begin < len(RETURN_7):
            continue
        module[start + begin : start + end] = b"\x90" * (end - begin - len(RETURN_7)) + RETURN_7
    return bytes(module)


def _code(module: bytearray, start: int) -> tuple[range, range]:
    """File ranges of the executable segment and of the one exported function."""
    at, size, count = struct.unpack_from("<Q", module, start + 32)[0], *struct.unpack_from("<HH", module, start + 54)
    headers = [struct.unpack_from("<IIQQQQQQ", module, start + at + i * size) for i in range(count)]
    loads = [h for h in headers if h[0] == 1]
    (code,) = [h for h in loads if h[1] & 1]
    (dynamic,) = [h for h in headers if h[0] == 2]

    def file_offset(address: int) -> int:
        (segment,) = [h for h in loads if h[3] <= address < h[3] + h[5]]
        return address - segment[3] + segment[2]

    entries = dict(
        struct.unpack_from("<QQ", module, start + dynamic[2] + 16 * i) for i in range(dynamic[5] // 16)
    )  # fmt: skip
    symbols = file_offset(entries[6])
    # Symbol 0 is none, 1 is the query function.
    _, _, _, _, value, length = struct.unpack_from("<IBBHQQ", module, start + symbols + 24)
    query = file_offset(value)
    return range(code[2], code[2] + code[5]), range(query, query + length)
