"""Relocations of the architectures that Tiree links for.

`apply` patches one place in the image, or says that the place needs a RELATIVE relocation at load time (an address
stored as data). Only position-independent forms exist here: an object that needs another one was compiled wrongly.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from tiree.codegen.elf import format as elf
from tiree.codegen.elf.object import Relocation


class RelocationError(Exception):
    """A relocation that cannot be applied: unknown type, or a distance that does not fit."""


@dataclass
class Place:
    """Where a relocation applies. `target` is S + A; `symbol` is S."""

    image: bytearray
    address: int
    target: int
    symbol: int
    relocation: Relocation
    pcrel_targets: dict[int, tuple[int, int]]
    """RISC-V: address of an `auipc` -> (target, its own address)."""

    @property
    def distance(self) -> int:
        return self.target - self.address


Patch = Callable[[Place], bool]
"""Applies a relocation; True when the place needs a RELATIVE relocation with addend `target`."""


def _check(value: int, bits: int, what: str) -> int:
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise RelocationError(f"{what} of {value} bytes does not fit in {bits} bits")
    return value


def _absolute(size: int) -> Patch:
    def patch(place: Place) -> bool:
        place.image[place.address : place.address + size] = place.target.to_bytes(size, "little")
        return True

    return patch


def _relative(size: int) -> Patch:
    def patch(place: Place) -> bool:
        value = _check(place.distance, 8 * size, "a distance")
        place.image[place.address : place.address + size] = value.to_bytes(size, "little", signed=True)
        return False

    return patch


def _ignored(place: Place) -> bool:
    del place
    return False


def _word(place: Place) -> int:
    return struct.unpack_from("<I", place.image, place.address)[0]


def _set_word(place: Place, value: int) -> None:
    struct.pack_into("<I", place.image, place.address, value & 0xFFFFFFFF)


# --- AArch64 ------------------------------------------------------------------------------------------------------


def _a64_branch(bits: int, shift: int) -> Patch:
    """A word distance in an instruction field of `bits` at `shift`."""

    def patch(place: Place) -> bool:
        value = _check(place.distance, bits + 2, "a branch") >> 2
        mask = ((1 << bits) - 1) << shift
        _set_word(place, (_word(place) & ~mask) | ((value << shift) & mask))
        return False

    return patch


def _a64_adr(place: Place, value: int) -> None:
    field = ((value & 3) << 29) | (((value >> 2) & 0x7FFFF) << 5)
    _set_word(place, (_word(place) & ~((3 << 29) | (0x7FFFF << 5))) | field)


def _a64_adrp(place: Place) -> bool:
    pages = (place.target >> 12) - (place.address >> 12)
    _a64_adr(place, _check(pages, 21, "a page distance"))
    return False


def _a64_adr_lo21(place: Place) -> bool:
    _a64_adr(place, _check(place.distance, 21, "a distance"))
    return False


def _a64_lo12(scale: int) -> Patch:
    """The low 12 bits of an address, in units of the access size."""

    def patch(place: Place) -> bool:
        value = (place.target & 0xFFF) >> scale
        _set_word(place, (_word(place) & ~(0xFFF << 10)) | (value << 10))
        return False

    return patch


# --- RISC-V -------------------------------------------------------------------------------------------------------


def _rv_hi20(value: int) -> int:
    return (value + 0x800) & 0xFFFFF000


def _rv_pcrel_hi20(place: Place) -> bool:
    _check(place.distance, 32, "a distance")
    place.pcrel_targets[place.address] = (place.target, place.address)
    _set_word(place, (_word(place) & 0xFFF) | _rv_hi20(place.distance))
    return False


def _rv_low12(place: Place) -> int:
    """The low part that belongs to the `auipc` this relocation names."""
    target, address = place.pcrel_targets[place.target]
    return (target - address) & 0xFFF


def _rv_pcrel_lo12_i(place: Place) -> bool:
    _set_word(place, (_word(place) & 0xFFFFF) | (_rv_low12(place) << 20))
    return False


def _rv_pcrel_lo12_s(place: Place) -> bool:
    low = _rv_low12(place)
    _set_word(place, (_word(place) & 0x1FFF07F) | ((low >> 5) << 25) | ((low & 31) << 7))
    return False


def _rv_call(place: Place) -> bool:
    distance = _check(place.distance, 32, "a call")
    first, second = struct.unpack_from("<II", place.image, place.address)
    low = distance & 0xFFF
    struct.pack_into(
        "<II", place.image, place.address, (first & 0xFFF) | _rv_hi20(distance), (second & 0xFFFFF) | (low << 20)
    )
    return False


def _rv_branch(place: Place) -> bool:
    v = _check(place.distance, 13, "a branch") & 0x1FFF
    field = (v >> 12 & 1) << 31 | (v >> 5 & 0x3F) << 25 | (v >> 1 & 0xF) << 8 | (v >> 11 & 1) << 7
    _set_word(place, (_word(place) & 0x1FFF07F) | field)
    return False


def _rv_jal(place: Place) -> bool:
    v = _check(place.distance, 21, "a jump") & 0x1FFFFF
    field = (v >> 20 & 1) << 31 | (v >> 1 & 0x3FF) << 21 | (v >> 11 & 1) << 20 | (v >> 12 & 0xFF) << 12
    _set_word(place, (_word(place) & 0xFFF) | field)
    return False


def _rv_rvc_branch(place: Place) -> bool:
    v = _check(place.distance, 9, "a branch") & 0x1FF
    field = (v >> 8 & 1) << 12 | (v >> 3 & 3) << 10 | (v >> 6 & 3) << 5 | (v >> 1 & 3) << 3 | (v >> 5 & 1) << 2
    half = struct.unpack_from("<H", place.image, place.address)[0] & 0xE383
    struct.pack_into("<H", place.image, place.address, half | field)
    return False


def _rv_rvc_jump(place: Place) -> bool:
    v = _check(place.distance, 12, "a jump") & 0xFFF
    field = (
        (v >> 11 & 1) << 12
        | (v >> 4 & 1) << 11
        | (v >> 8 & 3) << 9
        | (v >> 10 & 1) << 8
        | (v >> 6 & 1) << 7
        | (v >> 7 & 1) << 6
        | (v >> 1 & 7) << 3
        | (v >> 5 & 1) << 2
    )
    half = struct.unpack_from("<H", place.image, place.address)[0] & 0xE003
    struct.pack_into("<H", place.image, place.address, half | field)
    return False


def _rv_sum(sign: int) -> Patch:
    """Half of a distance between two symbols: the word plus, or minus, an address."""

    def patch(place: Place) -> bool:
        _set_word(place, _word(place) + sign * place.target)
        return False

    return patch


# --- 32-bit x86 and ARM -------------------------------------------------------------------------------------------


def _from_image_start(place: Place) -> bool:
    """An offset from the global offset table, which stands for the start of the image: there is no table."""
    place.image[place.address : place.address + 4] = place.target.to_bytes(4, "little")
    return False


def _to_image_start(place: Place) -> bool:
    """The distance to the start of the image; the symbol is the table that is not there."""
    value = (place.target - place.symbol) - place.address
    place.image[place.address : place.address + 4] = value.to_bytes(4, "little", signed=True)
    return False


def _arm_branch(place: Place) -> bool:
    value = _check(place.distance, 26, "a branch") >> 2
    _set_word(place, (_word(place) & 0xFF000000) | (value & 0xFFFFFF))
    return False


def _arm_move(shift: int) -> Patch:
    """The low or high half of a distance, in a movw or movt."""

    def patch(place: Place) -> bool:
        value = (place.distance >> shift) & 0xFFFF
        _set_word(place, (_word(place) & 0xFFF0F000) | ((value >> 12) << 16) | (value & 0xFFF))
        return False

    return patch


def _stored_word(image: bytearray, place: int, type: int) -> int:
    """The addend of a REL relocation: the word in place."""
    del type
    return int.from_bytes(image[place : place + 4], "little", signed=True)


def _arm_stored(image: bytearray, place: int, type: int) -> int:
    """As above; of a branch or a move, what its field holds."""
    word = int.from_bytes(image[place : place + 4], "little")
    if type in (28, 29):
        return (((word & 0xFFFFFF) ^ 0x800000) - 0x800000) << 2
    if type in (45, 46):
        half = (word >> 4 & 0xF000) | (word & 0xFFF)
        return (half ^ 0x8000) - 0x8000
    return _stored_word(image, place, type)


@dataclass(frozen=True)
class Machine:
    """An architecture: its patches by relocation type; the types of a stored address, in an object and at load time."""

    patches: dict[int, Patch]
    absolute: int
    relative: int
    stored_addend: Callable[[bytearray, int, int], int] = _stored_word
    late: frozenset[int] = frozenset()
    """Types that are applied after all others, because they refer to one of them."""


MACHINES: dict[int, Machine] = {
    elf.EM_386: Machine(
        {1: _absolute(4), 2: _relative(4), 4: _relative(4), 9: _from_image_start, 10: _to_image_start},
        absolute=1,
        relative=8,
    ),
    elf.EM_ARM: Machine(
        {2: _absolute(4), 3: _relative(4), 28: _arm_branch, 29: _arm_branch, 40: _ignored}
        | {45: _arm_move(0), 46: _arm_move(16)},
        absolute=2,
        relative=23,
        stored_addend=_arm_stored,
    ),
    elf.EM_X86_64: Machine(
        {1: _absolute(8), 2: _relative(4), 4: _relative(4), 24: _relative(8)}, absolute=1, relative=8
    ),
    elf.EM_AARCH64: Machine(
        {
            257: _absolute(8),
            260: _relative(8),
            261: _relative(4),
            273: _a64_branch(19, 5),
            274: _a64_adr_lo21,
            275: _a64_adrp,
            277: _a64_lo12(0),
            278: _a64_lo12(0),
            279: _a64_branch(14, 5),
            280: _a64_branch(19, 5),
            282: _a64_branch(26, 0),
            283: _a64_branch(26, 0),
            284: _a64_lo12(1),
            285: _a64_lo12(2),
            286: _a64_lo12(3),
            299: _a64_lo12(4),
        },
        absolute=257,
        relative=1027,
    ),
    elf.EM_RISCV: Machine(
        {
            2: _absolute(8),
            16: _rv_branch,
            17: _rv_jal,
            18: _rv_call,
            19: _rv_call,
            23: _rv_pcrel_hi20,
            24: _rv_pcrel_lo12_i,
            25: _rv_pcrel_lo12_s,
            35: _rv_sum(1),
            39: _rv_sum(-1),
            44: _rv_rvc_branch,
            45: _rv_rvc_jump,
            51: _ignored,
            57: _relative(4),
        },
        absolute=2,
        relative=3,
        late=frozenset({24, 25}),
    ),
}
