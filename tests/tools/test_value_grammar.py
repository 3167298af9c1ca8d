"""Values of `--input=`, `--output=` and `--expected_output=` that nobody should write, and all ways to write good ones.

Good ones print what iree-run-module prints. Bad ones, damaged files included, give one message that names the flag and
exit code 1: no traceback, no signal, no endless reading.
"""

from __future__ import annotations

import struct
from io import BytesIO
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runtime.modules import MIXED, REFERENCES, iree_module
from tools.runtime_tool import Done, needs_iree, ours, refused, same

pytestmark = needs_iree


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("grammar")
    (folder / "references.vmfb").write_bytes(iree_module(REFERENCES))
    (folder / "mixed.vmfb").write_bytes(iree_module(MIXED))
    for name, data in FILES.items():
        (folder / name).write_bytes(data)
    (folder / "folder.npy").mkdir()
    return folder


@pytest.fixture(autouse=True)
def _inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def view(text: str) -> list[str]:
    """Flags that pass `text` through a function that takes any view, or any buffer for `&`."""
    function = "buffer" if text.startswith("&") else "view"
    return ["--module=references.vmfb", "--device=local-sync", f"--function={function}", f"--input={text}"]


def orderly(done: Done) -> None:
    """A result, or one message about the input."""
    assert "Traceback" not in done.err
    assert "internal error" not in done.err
    if done.code:
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith(("error: --input 1: ", "error: --input 1 is ", "error: the function takes ")), (
            done.err
        )
        assert done.err.count("\n") == 1
    else:
        assert done.err == ""


VALUES = (
    "", "1", "1 2", "1 2 3", "0x10", "-1", "200 200", "256 256", "1.5 2", "nan inf", "-inf -nan", "1e3 1e-3",
    "1e400 1", "70000 1", "0 -0.0", "1 2,", "[1 2]", "[1][2]", "[[1,2]]", "]1 2[", ",,1,,2,,", "1;2", "1\t2", "01 02",
    "ff", "0xFF 0xff", "x", "01020304 05060708", "1_000 1", "+1 +2", "++1 2", "- 1", "1e 2", "0x 1", "0x1p3 0x1.8p1",
    "1f 2", "true false", "NaN nan(0)", "1 2 # c", "18446744073709551616 1", "-9223372036854775809 1", "\0",
    "\uff11 \uff12",
)  # fmt: skip
TYPES = ("f32", "i8", "i4", "i1", "f16", "bf16", "f8E4M3FN", "f8E8M0FNU", "cf64", "x16", "ui8", "si16", "i64", "ui64")
SPELLINGS = (
    " 2xf32 = 1 2 ", "2 xf32=1", "2Xf32=1", "2xF32=1", "x2xf32=1", "2xxf32=1", "-1xf32=1", "?xf32=1", "0xf32=1",
    "0x0xf32", "2x0x3xi32=", "99999999999999999999xf32=1", "4294967296x4294967296xf32", "1000000000000000xf32=1",
    "2x=1", "2=1", "=1", "=", "x", "xf32=1", "f32", "f32=1 2", "tensor<2xf32>=1", "2xf32==1", "2xf32=1=2", "!2xf32=1",
    "(null)", "(ignored)", "null", "( null )", "&&2xf32=1", "& 2xf32=1", "&(null)", "&f32=1", "&", "@", "+", "*",
    "@none.npy", "*none.npy", "2xf32=@none.bin", "2xf32=@", "2xf32=+", "&2xf32=@none.bin", "!vm.list",
    "2x2xf32=[[1 2][3 4]]", "2xindex=1", "2xu8=1", "2xbool=1", "2xi128=1", "2xi7=1", "2xi33=1", "2xi0=1",
    "2xi999999999999=1", "2xf24=1", "2xf128", "2xcf32", "1" + "x1" * 300 + "xf32=1", "x" * 5000, "@/dev/zero",
    "@folder.npy", "@" + "a" * 5000, "@\0", "@plain.bin", "2xf32=@plain.bin", "9xf32=@plain.bin", "2xi4=@plain.bin",
    "0xf32=@plain.bin", "2xf32=+plain.bin", "&2xf32=@plain.bin",
)  # fmt: skip


@pytest.mark.parametrize("element", TYPES)
def test_hostile_values(element: str):
    for values in VALUES:
        orderly(ours("run-module", *view(f"2x{element}={values}")))


def test_hostile_spellings():
    for text in SPELLINGS:
        orderly(ours("run-module", *view(text)))
        orderly(ours("run-module", "--module=mixed.vmfb", "--function=scale", f"--input={text}", "--input=4xf32=1"))


def test_bytes_that_are_no_text():
    for flag in ("--input=\udcff", "--module=\udcff.vmfb", "--function=\udcff", "--output=@\udcff", "\udcff"):
        assert r"\udcff" in refused("run-module", *view("1"), flag)
    Path("latin.txt").write_bytes(b"--function=\xff\n")
    assert "--flagfile=latin.txt: not UTF-8 text" in refused("run-module", "--flagfile=latin.txt")


@settings(max_examples=150)
@given(st.text(st.sampled_from("0123456789x.,-+*&@=()[] efin183264uscb\0é"), max_size=30))
def test_any_text(text: str):
    orderly(ours("run-module", *view(text)))


FLOATS = {"f16": 16, "f32": 32, "f64": 64}
SEPARATORS = (" ", ",", ", ", "  ", "\t")


@st.composite
def tensors(draw: st.DrawFn) -> str:
    """A tensor as somebody would write it."""
    shape = draw(st.lists(st.integers(0, 4), max_size=3))
    count = int(np.prod(shape))
    element = draw(st.sampled_from(["i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", *FLOATS]))
    if element in FLOATS:
        values = st.floats(width=FLOATS[element], allow_nan=True).map(lambda v: f"{v!r}")
    else:
        bits = int(element.lstrip("ui"))
        low, high = (0, 2**bits - 1) if element[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        values = st.integers(low, high).map(str) | st.integers(0, high).map(hex)
    head = "x".join([*map(str, shape), element])
    form = draw(st.sampled_from(["all", "one", "none"]))
    if (form == "none" and shape) or not count:
        return head
    numbers = draw(st.lists(values, min_size=1, max_size=1)) if form == "one" else draw(
        st.lists(values, min_size=count, max_size=count)
    )  # fmt: skip
    separator = draw(st.sampled_from(SEPARATORS))
    text = separator.join(numbers)
    return f"{head}={'[' * len(shape)}{text}{']' * len(shape)}" if draw(st.booleans()) else f"{head}={text}"


@settings(max_examples=60)
@given(tensors())
def test_good_tensors_print_as_iree_prints_them(text: str):
    same("run-module", *view(text))


@settings(max_examples=20)
@given(
    st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1), st.floats(width=32), st.floats(allow_nan=True)
)  # fmt: skip
def test_good_scalars_print_as_iree_prints_them(a: int, b: int, c: float, d: float):
    flags = [f"--input={value!r}" for value in (a // 2, b // 2, c, d)]
    same("run-module", "--module=mixed.vmfb", "--device=local-sync", "--function=scalars", *flags)


def _saved(array: object, allow_pickle: bool = False) -> bytes:
    stream = BytesIO()
    np.save(stream, array, allow_pickle=allow_pickle)  # pyright: ignore[reportArgumentType]
    return stream.getvalue()


def _headed(header: str, data: bytes = bytes(24)) -> bytes:
    text = header.encode("latin1") + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def _described(descr: str = "<f4", order: str = "False", shape: str = "(2, 3)", data: bytes = bytes(24)) -> bytes:
    return _headed(f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}", data)


SQUARE = np.arange(6, dtype=np.float32).reshape(2, 3)
WHOLE = _saved(SQUARE)
DTYPES = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")
GOOD = {
    **{f"{dtype}.npy": _saved(np.ones((2, 3), dtype)) for dtype in DTYPES},
    "scalar.npy": _saved(np.float32(3)),
    "empty.npy": _saved(np.zeros((0, 3), np.float32)),
    "empty_fortran.npy": _saved(np.asfortranarray(np.zeros((0, 3), np.float32))),
    "native.npy": _described("=f4"),
    "no_order.npy": _described("f4"),
    "version2.npy": WHOLE[:6] + b"\x02\x00" + struct.pack("<I", 118) + WHOLE[10:],
    "version3.npy": WHOLE[:6] + b"\x03\x00" + struct.pack("<I", 118) + WHOLE[10:],
    "bfloat16.npy": _saved(np.ones((2, 3), ml_dtypes.bfloat16)),
}
BAD = {
    **{f"cut{n}.npy": WHOLE[:n] for n in (0, 1, 5, 6, 7, 8, 9, 10, 11, 60, 127, 128, 129, 151)},
    "objects.npy": _saved(np.array([1, "a", None], object), allow_pickle=True),
    "records.npy": _saved(np.zeros(3, [("a", "f4"), ("b", "i4")])),
    **{f"kind_{k[0]}.npy": _saved(np.zeros((2, 3), k)) for k in ("S3", "U3", "M8[s]", "m8[D]", "V3", "g", "G")},
    "magic.npy": b"\x94" + WHOLE[1:],
    "version9.npy": WHOLE[:6] + b"\x09\x00" + WHOLE[8:],
    "version0.npy": WHOLE[:6] + b"\x00\x00" + WHOLE[8:],
    "negative.npy": _described(shape="(-1, 3)"),
    "huge.npy": _described(shape="(4294967296, 4294967296)"),
    "huge_number.npy": _described(shape="(99999999999999999999999,)"),
    "nested.npy": _described(shape="((2, 3), 4)"),
    "list.npy": _described(shape="[2, 3]"),
    "no_tuple.npy": _described(shape="6"),
    "rank.npy": _described(shape="(" + "1, " * 3000 + ")"),
    "order.npy": _described(order="Truth"),
    "order1.npy": _described(order="1"),
    "descr.npy": _described("<f"),
    "descr_zero.npy": _described("<f\0"),
    "descr_latin.npy": _described("<f\xff"),
    "no_descr.npy": _headed("{'fortran_order': False, 'shape': (2,), }"),
    "no_shape.npy": _headed("{'descr': '<f4', 'fortran_order': False, }"),
    "no_order_key.npy": _headed("{'descr': '<f4', 'shape': (2, 3), }"),
    "double_quotes.npy": _headed('{"descr": "<f4", "fortran_order": False, "shape": (2, 3), }'),
    "no_header.npy": b"\x93NUMPY\x01\x00\x00\x00",
    "long_header.npy": b"\x93NUMPY\x01\x00\xff\xff" + WHOLE[10:],
    "longer_header.npy": b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + WHOLE[10:],
    "archive.npy": b"PK\x03\x04" + bytes(60),
    "text.npy": b"1 2 3\n",
}  # fmt: skip
# What iree-run-module 3.13 refuses: numpy's other orders of bytes and elements.
OTHER_ORDERS = {
    **{f"big_{t}.npy": _saved(np.arange(6).reshape(2, 3).astype(f">{t}")) for t in ("i4", "u8", "f2", "f4", "c16")},
    "fortran.npy": _saved(np.asfortranarray(SQUARE)),
    "fortran3.npy": _saved(np.asfortranarray(np.arange(24, dtype=np.int32).reshape(2, 3, 4))),
}
FILES = {**GOOD, **BAD, **OTHER_ORDERS, "plain.bin": SQUARE.tobytes()}


@pytest.mark.parametrize("name", GOOD)
def test_good_arrays_print_as_iree_prints_them(name: str):
    same("run-module", *view(f"@{name}"))


@pytest.mark.parametrize("name", BAD)
def test_bad_arrays(name: str):
    for text in (f"@{name}", f"+{name}", f"*{name}"):
        message = refused("run-module", *view(text))
        assert message.startswith(f"error: --input 1: {name}")
        assert message.count("\n") == 1
    if FILES[name].startswith(b"\x93NUMPY"):
        assert name in refused("run-module", *view(f"2x3xf32=@{name}"))


@pytest.mark.parametrize("name", OTHER_ORDERS)
def test_other_orders_are_changed(name: str, folder: Path):
    array = np.load(folder / name)
    np.save(folder / "ordered.npy", np.ascontiguousarray(array).astype(array.dtype.newbyteorder("=")))
    wanted = ours("run-module", *view("@ordered.npy"))
    assert (wanted.code, ours("run-module", *view(f"@{name}")).out) == (0, wanted.out)


@settings(max_examples=100)
@given(st.integers(0, len(WHOLE) - 1), st.integers(0, 255))
def test_a_changed_byte_of_an_array(at: int, value: int):
    data = bytearray(WHOLE)
    data[at] = value
    Path("changed.npy").write_bytes(data)
    done = ours("run-module", *view("@changed.npy"))
    assert done.code in (0, 1)
    assert "Traceback" not in done.err
    assert "internal error" not in done.err
    assert done.code == 0 or done.err.startswith("error: --input 1: changed.npy")


def test_types_that_numpy_does_not_know(folder: Path):
    """ml_dtypes saves them as raw bytes; a type in front, or the function's own, says what they are."""
    for name, element in (("bfloat16", "bf16"), ("float8_e5m2", "f8E5M2"), ("float8_e4m3fn", "f8E4M3FN")):
        np.save(folder / "typed.npy", np.array([1, -2], getattr(ml_dtypes, name)))
        assert ours("run-module", *view(f"2x{element}=@typed.npy")).out.endswith(f"2x{element}=1 -2\n")
    assert "is a .npy file of 2x*8, not of 2xf32" in refused("run-module", *view("2xf32=@typed.npy"))


OUTPUTS = ("x", "@", "+", "@.", "@folder.npy", "@none/x.npy", "@/dev/full", "-x", "--", "@a\0b", "\0", "=", "*x.npy")


@pytest.mark.parametrize("target", OUTPUTS)
def test_hostile_outputs(target: str):
    flags = ["--module=mixed.vmfb", "--device=local-sync", "--function=constant"]
    message = refused("run-module", *flags, f"--output={target}")
    assert message.startswith("error: ")
    assert "internal error" not in message
    assert not Path("x").exists()


def test_hostile_expectations():
    for text in (*SPELLINGS, *(f"3xi32={values}" for values in VALUES)):
        done = ours("run-module", "--module=mixed.vmfb", "--function=constant", f"--expected_output={text}")
        assert done.code in (0, 1)
        assert "Traceback" not in done.err
        assert "internal error" not in done.err
        if done.code and not done.out.endswith(("does not match", "\n")):
            assert done.err.startswith("error: --expected_output 1: ")


@pytest.mark.parametrize("limit", [-1, -5, 10**30])
def test_no_limit_of_elements(limit: int):
    flags = ["--module=mixed.vmfb", "--function=large", "--input=2000xf32=1", "--device=local-sync"]
    done = ours("run-module", *flags, f"--output_max_element_count={limit}")
    assert done.out.count("2 ") + done.out.count("2\n") == 2000
    if limit >= -(2**31) and limit < 2**31:
        same("run-module", *flags, f"--output_max_element_count={limit}")
