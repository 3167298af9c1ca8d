"""`--input=`, `--output=` and `--expected_output=` of tiree-run-module: byte for byte what iree-run-module prints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from runtime.modules import ELEMENTS, MIXED, REFERENCES, iree_module, movements, tiree_module
from tools.runtime_tool import needs_iree, ours, refused, same, theirs

pytestmark = needs_iree


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Modules and arrays."""
    folder = tmp_path_factory.mktemp("values")
    (folder / "mixed.vmfb").write_bytes(iree_module(MIXED))
    (folder / "moved.vmfb").write_bytes(iree_module(movements()))
    (folder / "references.vmfb").write_bytes(iree_module(REFERENCES))
    (folder / "mixed_by_tiree.vmfb").write_bytes(tiree_module(SHARED))
    square = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(folder / "square.npy", square)
    np.save(folder / "fortran.npy", np.asfortranarray(square))
    (folder / "square.bin").write_bytes(square.tobytes())
    with open(folder / "several.npy", "wb") as file:
        for value in (2.0, 1.5):
            np.save(file, np.array([value] * 4, np.float32))
    return folder


SHARED = """
module @mixed {
  func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %b : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""


def call(files: Path, function: str, *inputs: str, module: str = "mixed", device: str = "local-sync") -> list[str]:
    flags = [f"--module={files}/{module}.vmfb", f"--device={device}", f"--function={function}"]
    return flags + [f"--input={text}".replace("FILES", str(files)) for text in inputs]


CASES: list[tuple[str, tuple[str, ...]]] = [
    ("scalars", ("1", "2", "1.5", "2.5")),
    ("scalars", ("-1", "-2", "-0.0", "1e300")),
    ("scalars", ("0x10", "0x7FFFFFFFFFF", "1e10", "1e-10")),
    ("scalars", ("-2147483648", "9223372036854775807", "3.4e38", "inf")),
    ("scalars", ("0", "0", "nan", "-inf")),
    ("scalars", (" 7 ", "8", "0.1", "0.1")),
    ("small", ("1", "-7", "300")),
    ("split", ("2x3xf32=1 2 3 4 5 6",)),
    ("split", ("2x3xf32=1,2,3,4,5,6",)),
    ("split", ("2x3xf32=[1 2 3][4 5 6]",)),
    ("split", ("2x3xf32=[[1,2,3],[4,5,6]]",)),
    ("split", ("2x3xf32=7",)),
    ("split", ("2x3xf32",)),
    ("split", ("2x3xf32=",)),
    ("split", ("2x3xf32=-1.5e-3 1e20 inf -inf nan 0",)),
    ("split", ("2x3xf32=0.333333333 123456789 0.1 1e-7 16777217 3.14159265",)),
    ("split", ("@FILES/square.npy",)),
    ("split", ("2x3xf32=@FILES/square.bin",)),
    ("double", ("2x3xf32=1 2 3 4 5 6",)),
    ("double", ("0x3xf32",)),
    ("double", ("5x3xf32=2",)),
    ("square", ("f32=3",)),
    ("square", ("f32=-3.5",)),
    ("scale", ("2.5", "4xf32=1 2 3 4")),
    ("scale", ("2.5", "@FILES/several.npy")),
    ("nothing", ()),
    ("constant", ()),
    ("next", ()),
    ("large", ("2000xf32=1",)),
]


@pytest.mark.parametrize(("function", "inputs"), CASES, ids=lambda v: v if isinstance(v, str) else " ".join(v)[:50])
def test_printed(files: Path, function: str, inputs: tuple[str, ...]):
    same("run-module", *call(files, function, *inputs))


VALUES = {
    "i1": "1 0 1 1 0 0",
    "i8": "-128 127 0 1 -1 0x7F",
    "i16": "-32768 32767 0 1 -1 0x10",
    "i32": "-2147483648 2147483647 0 1 -1 0x10",
    "i64": "-9223372036854775808 9223372036854775807 0 1 -1 0x10",
    "ui8": "0 255 1 2 3 0xFF",
    "ui16": "0 65535 1 2 3 4",
    "ui32": "0 4294967295 1 2 3 4",
    "ui64": "0 18446744073709551615 1 2 3 4",
}
FLOATS = "0 -0.5 1.5 -2 240 0.0625"


@pytest.mark.parametrize("name", ELEMENTS)
def test_every_element_type(files: Path, name: str):
    values = VALUES.get(name, FLOATS)
    # IREE reads booleans as bytes in hexadecimal digits.
    text = "01 00 01 01 00 00" if name == "i1" else values
    for inputs in (f"2x3x{name}={text}", f"2x3x{name}"):
        same("run-module", *call(files, f"turn_{name}", inputs, module="moved"))
    one = "01" if name == "i1" else values.split()[3]
    same("run-module", *call(files, f"pair_{name}", f"{name}={one}", module="moved"))


def test_extra_ways_to_write_booleans(files: Path):
    wanted = same("run-module", *call(files, "turn_i1", "2x3xi1=01 00 01 01 00 00", module="moved"))
    for text in ("1 0 1 1 0 0", "true false true true false false", "1,0,1,1,0,0"):
        done = ours("run-module", *call(files, "turn_i1", f"2x3xi1={text}", module="moved"))
        assert (done.code, done.out) == (0, wanted), text


@pytest.mark.parametrize("device", ["local-sync", "local-task"])
def test_devices_and_makers(files: Path, device: str):
    inputs = ("4xf32=1 2 3 4", "4xf32=5 6 7 8")
    printed = same("run-module", *call(files, "add", *inputs, module="mixed_by_tiree", device=device))
    assert printed == "EXEC @add\nresult[0]: hal.buffer_view\n4xf32=6 8 10 12\n"
    same("run-module", *call(files, "scale", "2", "4xf32=1 2 3 4", device=device))


REFERENCE_CASES = [
    ("buffer", ("&4xf32=1 2 3 4",)),
    ("buffer", ("(null)",)),
    ("view", ("(null)",)),
    ("view", ("2xi32=1 2",)),
    ("list", ("3", "2xi32=7")),
    ("list", ("3", "(null)")),
    ("nested", ("3",)),
    ("device", ()),
]


@pytest.mark.parametrize(
    ("function", "inputs"), REFERENCE_CASES, ids=lambda v: v if isinstance(v, str) else " ".join(v)
)
@pytest.mark.parametrize("output", [[], ["--output=-"]], ids=["default", "output"])
def test_references_and_lists(files: Path, function: str, inputs: tuple[str, ...], output: list[str]):
    same("run-module", *call(files, function, *inputs, module="references"), *output)


def test_a_list_that_holds_itself(files: Path):
    done = ours("run-module", *call(files, "endless", module="references"))
    assert done.code == 0
    assert done.out.endswith("child_list[0]: vm.list\n...\n" + "\n" * 16)


class TestFiles:
    def test_next_array_of_a_file(self, files: Path):
        """`@` begins, `+` goes on in the same file, `*` takes all that are left."""
        for inputs in (
            ("@FILES/several.npy", "+FILES/several.npy"),
            ("@FILES/several.npy", "@FILES/several.npy"),
            ("*FILES/several.npy",),
        ):
            same("run-module", *call(files, "add", *inputs, module="mixed_by_tiree"))

    def test_fortran_order(self, files: Path):
        """IREE refuses it; the values are what counts."""
        done = ours("run-module", *call(files, "split", "@FILES/fortran.npy"))
        plain = ours("run-module", *call(files, "split", "@FILES/square.npy"))
        assert (done.code == 0 and done.out == plain.out) or (done.code == 1 and "order" in done.err)

    @pytest.mark.parametrize(
        ("inputs", "text"),
        [
            (("@FILES/none.npy",), "none.npy"),
            (("2x3xf32=@FILES/none.bin",), "none.bin"),
            (("@FILES/square.npy", "+FILES/square.npy"), "no more arrays"),
            (("@FILES/square.bin",), "npy"),
            (("3x3xf32=@FILES/square.bin",), "24"),
        ],
    )
    def test_refusals(self, files: Path, inputs: tuple[str, ...], text: str):
        assert text in refused("run-module", *call(files, "split", *inputs))


class TestOutputs:
    def run(self, files: Path, tmp_path: Path, tool, *outputs: str):
        flags = [f"--output={text}".replace("OUT", str(tmp_path)) for text in outputs]
        return tool("run-module", *call(files, "split", "2x3xf32=1 2 3 4 5 6"), *flags)

    @pytest.mark.parametrize(
        "outputs",
        [("-", "-"), ("", "-"), ("-", ""), ("", ""), ("@OUT/a.npy", "-"), ("@OUT/a.npy", "@OUT/b.bin"),
         ("@OUT/a.bin", "+OUT/a.bin"), ("@OUT/a.npy", "+OUT/a.npy"), ("+OUT/a.npy", "+OUT/a.npy")],
        ids=" ".join,
    )  # fmt: skip
    def test_printed_and_written(self, files: Path, tmp_path: Path, outputs: tuple[str, ...]):
        results = []
        for name, tool in (("ours", ours), ("theirs", theirs)):
            folder = tmp_path / name
            folder.mkdir()
            done = self.run(files, folder, tool, *outputs)
            assert done.code == 0, done.err
            results.append((done.out, {p.name: p.read_bytes() for p in sorted(folder.iterdir())}))
        assert results[0][0] == results[1][0]
        assert results[0][1].keys() == results[1][1].keys()
        for name, data in results[0][1].items():
            if name.endswith(".npy"):
                with open(tmp_path / "ours" / name, "rb") as mine, open(tmp_path / "theirs" / name, "rb") as other:
                    for _ in range(sum(name in text for text in outputs)):
                        assert np.array_equal(np.load(mine), np.load(other))
                    assert not mine.read()
            else:
                assert data == results[1][1][name]

    @pytest.mark.parametrize("name", ELEMENTS)
    def test_npy_of_every_type(self, files: Path, tmp_path: Path, name: str):
        """What numpy can read is the result; what it cannot is written as IREE writes it or refused."""
        dtype = ELEMENTS[name]
        path = tmp_path / "x.npy"
        text = VALUES.get(name, FLOATS)
        flags = call(files, f"turn_{name}", f"2x3x{name}={text}", module="moved")
        done = ours("run-module", *flags, f"--output=@{path}")
        if dtype.kind == "V" or dtype.name.startswith(("bf", "float8")):
            assert done.code == 1
            assert "has no numpy dtype; write raw bytes (--output=@file.bin) instead" in done.err
            return
        assert done.code == 0, done.err
        found = np.load(path)
        assert found.dtype == dtype
        numbers = [int(t, 0) for t in text.split()] if dtype.kind in "biu" else [float(t) for t in text.split()]
        assert np.array_equal(found, np.array(numbers, object).astype(dtype).reshape(2, 3).T)

    def test_refusals(self, files: Path, tmp_path: Path):
        for outputs, text in [
            (("-",), "--output is given 1 times; @split returns 2 results"),
            (("x.npy", "-"), "--output=x.npy: not a target"),
            (("@/nowhere/x.npy", "-"), "/nowhere/x.npy"),
        ]:
            done = self.run(files, tmp_path, ours, *outputs)
            assert done.code == 1
            assert text in done.err

    def test_scalars(self, files: Path, tmp_path: Path):
        """Files of numbers are arrays of rank 0; all four in one file with `+`."""
        written = []
        for run, folder in ((ours, tmp_path / "ours"), (theirs, tmp_path / "theirs")):
            folder.mkdir()
            outputs = [f"--output={kind}{folder}/x.npy" for kind in "@+++"]
            plain = [f"--output={kind}{folder}/x.bin" for kind in "@+++"]
            for some in (outputs, plain):
                assert run("run-module", *call(files, "scalars", "-1", "2", "1.5", "2.5"), *some).code == 0
            written.append([(folder / name).read_bytes() for name in ("x.npy", "x.bin")])
        assert written[0] == written[1]

    @pytest.mark.parametrize("limit", [0, 1, 5, 7, 1999, 2000, 5000])
    def test_output_max_element_count(self, files: Path, limit: int):
        same("run-module", *call(files, "large", "2000xf32=1"), f"--output_max_element_count={limit}")
        same("run-module", *call(files, "split", "2x3xf32=1 2 3 4 5 6"), f"--output_max_element_count={limit}")


class TestExpected:
    """`--expected_output=`: success, failure and their exit codes are IREE's; so is the text."""

    GIVEN = "2x3xf32=1 2 3 4 5 6"
    DOUBLED = "2x3xf32=2 4 6 8 10 12"
    TURNED = "3x2xf32=1 4 2 5 3 6"

    def both(self, files: Path, *flags: str, function: str = "split", inputs: tuple[str, ...] = (GIVEN,)):
        arguments = [*call(files, function, *inputs), *(f.replace("FILES", str(files)) for f in flags)]
        found, wanted = ours("run-module", *arguments), theirs("run-module", *arguments)
        assert (found.code, found.out) == (wanted.code, wanted.out), found.err + wanted.err
        return found

    def test_success(self, files: Path):
        done = self.both(files, f"--expected_output={self.DOUBLED}", f"--expected_output={self.TURNED}")
        assert done.code == 0
        assert "[SUCCESS] all function outputs matched their expected values." in done.out

    @pytest.mark.parametrize(
        "wrong",
        ["2x3xf32=2 4 6 9 10 12", "2x3xf32=0", "3x2xf32=2 4 6 8 10 12", "6xf32=2 4 6 8 10 12", "2x3xi32=2 4 6 8 10 12",
         "2x3xf64=2 4 6 8 10 12", "2x3xf32=nan", "2x3xf32=inf"],
    )  # fmt: skip
    def test_failure(self, files: Path, wrong: str):
        done = self.both(files, f"--expected_output={wrong}", f"--expected_output={self.TURNED}")
        assert done.code == 1
        assert "[FAILED] result[0]: " in done.out

    def test_second_result(self, files: Path):
        done = self.both(files, f"--expected_output={self.DOUBLED}", "--expected_output=3x2xf32=1")
        assert (done.code, "[FAILED] result[1]: " in done.out) == (1, True)
        assert self.both(files, "--expected_output=2x3xf32=0", "--expected_output=3x2xf32=1").code == 1

    def test_ignored(self, files: Path):
        assert self.both(files, "--expected_output=(ignored)", f"--expected_output={self.TURNED}").code == 0

    @pytest.mark.parametrize(
        ("offset", "flags", "code"),
        [
            (0.00005, (), 0),
            (0.001, (), 1),
            (0.001, ("--expected_f32_threshold=0.01",), 0),
            (0.001, ("--expected_rtol=0.1",), 0),
            (0.00005, ("--equality_mode=exact",), 1),
            (0.0, ("--equality_mode=exact",), 0),
            (0.00005, ("--equality_mode=approximate",), 0),
            (0.00005, ("--expected_f32_threshold=0", "--expected_rtol=0"), 1),
        ],
    )
    def test_thresholds_of_f32(self, files: Path, offset: float, flags: tuple[str, ...], code: int):
        values = " ".join(str(2 * i + offset) for i in range(1, 7))
        done = self.both(files, f"--expected_output=2x3xf32={values}", "--expected_output=(ignored)", *flags)
        assert done.code == code

    @pytest.mark.parametrize("element", ["f16", "f64", "bf16"])
    def test_thresholds_of_other_types(self, files: Path, element: str):
        flag = f"--expected_{element}_threshold"
        arguments = call(files, f"turn_{element}", f"2x3x{element}=1 1 1 1 1 1", module="moved")
        for expected, extra, code in [
            ("1.0625", [], 1),
            ("1.0625", [f"{flag}=0.125", "--expected_rtol=0"], 0),
            ("1.0625", [f"{flag}=0.03125", "--expected_rtol=0"], 1),
            ("1", [f"{flag}=0"], 0),
        ]:
            flags = [*arguments, f"--expected_output=3x2x{element}={expected}", *extra]
            found, wanted = ours("run-module", *flags), theirs("run-module", *flags)
            assert (found.code, found.out) == (wanted.code, wanted.out)
            assert found.code == code

    def test_nan_equals_nan(self, files: Path):
        given = ("2x3xf32=nan inf -inf 0 1 2",)
        for mode in ("approximate", "exact"):
            flags = ["--expected_output=2x3xf32=nan inf -inf 0 2 4", "--expected_output=(ignored)"]
            self.both(files, *flags, f"--equality_mode={mode}", inputs=given)

    def test_integers(self, files: Path):
        arguments = call(files, "constant")
        for text, code in (("3xi32=1 2 3", 0), ("3xi32=1 2 4", 1)):
            flags = [*arguments, f"--expected_output={text}"]
            found, wanted = ours("run-module", *flags), theirs("run-module", *flags)
            assert (found.code, found.out) == (wanted.code, wanted.out)
            assert found.code == code

    def test_null(self, files: Path):
        """An expected null is a null here; iree-run-module takes anything for it."""
        arguments = call(files, "view", "(null)", module="references")
        assert ours("run-module", *arguments, "--expected_output=(null)").code == 0
        arguments = call(files, "view", "2xi32=1", module="references")
        done = ours("run-module", *arguments, "--expected_output=(null)")
        assert (done.code, "[FAILED] result[0]: " in done.out) == (1, True)

    def test_files(self, files: Path, tmp_path: Path):
        np.save(tmp_path / "d.npy", np.arange(1, 7, dtype=np.float32).reshape(2, 3) * 2)
        assert self.both(files, f"--expected_output=@{tmp_path}/d.npy", "--expected_output=(ignored)").code == 0

    def test_scalars(self, files: Path):
        """IREE 3.13 cannot compare scalars: it says that i32 is not i32. Here they are compared."""
        arguments = call(files, "scalars", "1", "2", "1.5", "2.5")
        right = [f"--expected_output={v}" for v in ("2", "4", "3", "5")]
        assert ours("run-module", *arguments, *right).code == 0
        wrong = ours("run-module", *arguments, *right[:3], "--expected_output=6")
        assert wrong.code == 1
        assert "[FAILED] result[3]" in wrong.out

    def test_number_of_outputs(self, files: Path):
        assert "returns 2 values, 1 given with --expected_output" in refused(
            "run-module", *call(files, "split", self.GIVEN), f"--expected_output={self.DOUBLED}"
        )


class TestRefusals:
    @pytest.mark.parametrize(
        ("function", "inputs", "text"),
        [
            ("split", ("2x3xf32=1 2",), "--input 1: 2 values given, 2x3xf32 needs 6 (or 1, to fill)."),
            ("split", ("2x3xf32=1 2 3 4 5 6 7",), "7"),
            ("split", ("2x3xfloat32=1",), 'unknown element type "float32"; did you mean f32?'),
            ("split", ("2x3xf32=one",), '"one"'),
            ("split", ("",), "--input 1: no value given"),
            ("split", ("(null)",), "null"),
            ("scalars", ("1.5", "2", "3", "4"), '--input 1: "1.5" is not an i32.'),
            ("scalars", ("3000000000", "2", "3", "4"), "3000000000 is out of range for i32 (max 2147483647)."),
            ("scalars", ("1", "x", "3", "4"), '--input 2: "x" is not an i64.'),
            ("scalars", ("1", "2", "3"), "takes 4 values, 3 given with --input"),
            ("constant", ("f32=1",), "takes 0 values, 1 given with --input"),
            ("split", ("3x2xf32=1",), "--input 1 is 3x2xf32; split() needs 2x3xf32"),
        ],
    )
    def test_message(self, files: Path, function: str, inputs: tuple[str, ...], text: str):
        assert text in refused("run-module", *call(files, function, *inputs))

    @pytest.mark.parametrize("name", ["i8", "i16", "ui8", "i1"])
    def test_values_fit_their_type(self, files: Path, name: str):
        assert "--input 1: " in refused("run-module", *call(files, f"pair_{name}", f"{name}=70000", module="moved"))
