"""One program on several devices, and on several queues of one: the results of one device, at the same time."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from e2e.several_devices import SIZE, RandomProgram, on_one_device
from proofs import iree_reference as iree
from tools.runtime_tool import ours

DEVICES = ("--iree-hal-target-device=a=local[0]", "--iree-hal-target-device=b=local[1]")
PAIRS = [["local-task", "local-task"], ["local-task", "local-sync"], ["local-sync", "local-task"]]
RANDOM = np.random.default_rng(5)

# What comes of %a goes through three devices' worth of places; both operands of the end are late.
PIPELINE = """
func.func @main(%a: tensor<8x16xf32>, %b: tensor<8x16xf32> {iree.abi.affinity = #hal.device.promise<@b>})
    -> (tensor<8x16xf32> {iree.abi.affinity = #hal.device.promise<@b>}, tensor<8x16xf32>) {
  %0 = stablehlo.add %a, %a : tensor<8x16xf32>
  %1 = flow.tensor.transfer %0 : tensor<8x16xf32> to #hal.device.promise<@b>
  %2 = stablehlo.multiply %1, %b : tensor<8x16xf32>
  %3 = flow.tensor.transfer %2 : tensor<8x16xf32> to #hal.device.promise<@a>
  %c = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]>
    : tensor<1x16xf32>
  %4 = stablehlo.broadcast_in_dim %c, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<8x16xf32>
  %5 = stablehlo.add %3, %4 : tensor<8x16xf32>
  %6 = flow.tensor.transfer %4 : tensor<8x16xf32> to #hal.device.promise<@b>
  %7 = stablehlo.add %2, %6 : tensor<8x16xf32>
  return %7, %5 : tensor<8x16xf32>, tensor<8x16xf32>
}
"""
A, B = (RANDOM.standard_normal((8, 16), dtype=np.float32) for _ in range(2))
ROW = np.tile(np.arange(1, 9, dtype=np.float32), 2)
EXPECTED = ((A + A) * B + ROW, (A + A) * B + ROW)


def branches(first: str, second: str, size: int = 384, length: int = 6) -> str:
    """Two chains of products that have nothing to do with each other, at two places."""
    t = f"tensor<{size}x{size}xf32>"
    lines = [f"%s0 = flow.tensor.transfer %a : {t} to #hal.device.promise<{first}>"]
    lines += [f"%t0 = flow.tensor.transfer %b : {t} to #hal.device.promise<{second}>"]
    for name, number in itertools.product("st", range(length)):
        product = f"contracting_dims = [1] x [0] : ({t}, {t}) -> {t}"
        lines.append(f"%{name}{number + 1} = stablehlo.dot_general %{name}{number}, %{name}0, {product}")
    body = "\n  ".join(lines)
    end = f"return %s{length}, %t{length} : {t}, {t}"
    return f"func.func @main(%a: {t}, %b: {t}) -> ({t}, {t}) {{\n  {body}\n  {end}\n}}\n"


def run(module: rt.Module, *arguments: np.ndarray) -> list[np.ndarray]:
    results = module.main(*arguments)
    return [np.asarray(result) for result in (results if isinstance(results, tuple) else (results,))]


def assert_same(got: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> None:
    for one, other in zip(got, wanted, strict=True):
        assert one.tobytes() == other.tobytes()


def dispatches(module: rt.Module, arguments: Sequence[np.ndarray], path: Path) -> dict[str, list[dict[str, Any]]]:
    """The dispatches of a call by the number of their device and their queue, in the order of their beginnings."""
    numbers = {device.trace_name: number for number, device in enumerate(module._origin.devices)}
    with rt.trace(str(path)):
        module.main(*arguments)
    found: dict[str, list[dict[str, Any]]] = {}
    events = json.loads(path.read_text())["traceEvents"]
    for event in sorted((e for e in events if e["cat"] == "dispatch"), key=lambda e: e["ts"]):
        place = f"{numbers[event['args']['device']]}.{event['args']['queue']}"
        found.setdefault(place, []).append(event)
    return found


def overlap(one: Sequence[dict[str, Any]], other: Sequence[dict[str, Any]]) -> bool:
    """Whether a dispatch of each ran at the same time."""
    return any(a["ts"] < b["ts"] + b["dur"] and b["ts"] < a["ts"] + a["dur"] for a, b in itertools.product(one, other))


@pytest.mark.parametrize("devices", PAIRS)
def test_a_pipeline(devices: list[str], tmp_path: Path):
    module = tiree.compile(PIPELINE, flags=DEVICES).load(device=devices)
    results = run(module, A, B)
    assert_same(results, EXPECTED)
    assert_same(results, run(tiree.compile(on_one_device(PIPELINE), flags=DEVICES[:1]).load(), A, B))
    places = dispatches(module, (A, B), tmp_path / "t.json")
    assert set(places) == {"0.0", "1.0"}
    first, last = places["0.0"][0], places["1.0"]
    assert all(event["ts"] >= first["ts"] + first["dur"] for event in last)


@pytest.mark.parametrize(
    ("text", "flags", "devices", "places"),
    [
        (branches("@a", "@b"), DEVICES, ["local-task", "local-task"], ("0.0", "1.0")),
        (branches("@a", "@b"), DEVICES, ["local-task", "local-sync"], ("0.0", "1.0")),
        (branches("@a, [0]", "@a, [1]"), DEVICES[:1], "local-task", ("0.0", "0.1")),
    ],
    ids=["two devices", "two drivers", "two queues"],
)
def test_independent_branches_run_at_the_same_time(
    text: str, flags: tuple[str, ...], devices: list[str] | str, places: tuple[str, str], tmp_path: Path
):
    module = tiree.compile(text, flags=flags).load(device=devices)
    one = tiree.compile(branches("@a", "@a"), flags=DEVICES[:1]).load()
    arguments = [RANDOM.standard_normal((384, 384), dtype=np.float32) / 20 for _ in range(2)]
    assert_same(run(module, *arguments), run(one, *arguments))
    # When each thread gets a processor is the system's business: on a busy machine it may take some calls.
    for _ in range(50):
        found = dispatches(module, arguments, tmp_path / "t.json")
        assert set(found) == set(places)
        if overlap(found[places[0]], found[places[1]]):
            return
    raise AssertionError(f"no dispatches of {places} ran at the same time")


@pytest.mark.parametrize("seed", range(6))
def test_random_programs(seed: int):
    text = RandomProgram(seed).text
    more = [(), ("--iree-hal-memoization=false",), ("--iree-opt-level=O2",)][seed % 3]
    one = tiree.compile(on_one_device(text), flags=(*DEVICES[:1], *more)).load()
    two = tiree.compile(text, flags=(*DEVICES, *more))
    arguments = [RANDOM.standard_normal((SIZE, SIZE), dtype=np.float32) for _ in range(2)]
    wanted = run(one, *arguments)
    for devices in PAIRS:
        module = two.load(device=devices)
        for _ in range(2):
            assert_same(run(module, *arguments), wanted)


DYNAMIC = """
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x4xf32>
  %0 = arith.addf %x, %x : tensor<?x4xf32>
  %1 = flow.tensor.transfer %0 : tensor<?x4xf32>{%d} to #hal.device.promise<@b>
  %2 = arith.mulf %1, %1 : tensor<?x4xf32>
  %3 = flow.tensor.transfer %2 : tensor<?x4xf32>{%d} to #hal.device.promise<@a>
  %4 = arith.addf %3, %0 : tensor<?x4xf32>
  return %4 : tensor<?x4xf32>
}
"""
VARIABLE = """
util.global private mutable @sum = dense<1.0> : tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %sum = util.global.load @sum : tensor<4xf32>
  %0 = flow.tensor.transfer %x : tensor<4xf32> to #hal.device.promise<@b>
  %1 = arith.addf %0, %sum : tensor<4xf32>
  util.global.store %1, @sum : tensor<4xf32>
  %2 = flow.tensor.transfer %1 : tensor<4xf32> to #hal.device.promise<@a>
  %3 = arith.mulf %2, %x : tensor<4xf32>
  return %3 : tensor<4xf32>
}
"""


@pytest.mark.parametrize("devices", PAIRS)
def test_dynamic_sizes_and_variables(devices: list[str]):
    module = tiree.compile(DYNAMIC, flags=DEVICES).load(device=devices)
    for rows in (0, 1, 5):
        x = RANDOM.standard_normal((rows, 4), dtype=np.float32)
        assert_same(run(module, x), [(x + x) * (x + x) + (x + x)])
    module = tiree.compile(VARIABLE, flags=DEVICES).load(device=devices)
    total, x = np.ones(4, np.float32), np.arange(4, dtype=np.float32)
    for _ in range(3):
        total = total + x
        assert_same(run(module, x), [total * x])


FLAGS = (*DEVICES, "--iree-llvmcpu-target-cpu=generic")
BORDERS = ("flow", "stream", "hal")


@iree.needs_iree
def test_every_phase_is_what_iree_reads(tmp_path: Path):
    """iree-opt accepts it; iree-compile and Tiree go on with what the other printed; each runs what the other made."""
    (tmp_path / "m.mlir").write_text(PIPELINE)
    target = ("--iree-hal-local-target-device-backends=llvm-cpu", *FLAGS)
    arrays = []
    for name, array in (("a", A), ("b", B)):
        np.save(tmp_path / f"{name}.npy", array)
        arrays.append(f"--input=@{tmp_path / name}.npy")
    given = ("--device=local-task", "--device=local-sync", "--function=main", *arrays)
    said: list[str] = []
    for phase in BORDERS:
        done = ours("compile", tmp_path / "m.mlir", *FLAGS, f"--compile-to={phase}", "-o", tmp_path / f"{phase}.mlir")
        assert done.code == 0, done.err
        theirs = tmp_path / f"{phase}.iree.mlir"
        iree.run_tool("iree-compile", tmp_path / "m.mlir", *target, f"--compile-to={phase}", "-o", theirs)
        made = tmp_path / f"{phase}.vmfb"
        assert ours("compile", theirs, *FLAGS, f"--compile-from={phase}", "-o", made).code == 0
        said.append(iree.run_tool("iree-run-module", f"--module={made}", *given))
        said.append(ours("run-module", f"--module={made}", *given).out)
        if phase != "hal":  # IREE has no executable that Tiree has translated.
            iree.run_tool("iree-compile", tmp_path / f"{phase}.mlir", *target, f"--compile-from={phase}", "-o", made)
            said.append(ours("run-module", f"--module={made}", *given).out)
    iree.accept([(tmp_path / f"{phase}.mlir").read_text() for phase in BORDERS])
    done = ours("compile", tmp_path / "m.mlir", *FLAGS, "--iree-execution-model=async-external", "-o", made)
    assert done.code == 0
    said.append(iree.run_tool("iree-run-module", f"--module={made}", *given))
    said.append(ours("run-module", f"--module={made}", *given).out)
    assert "result[1]" in said[0]
    assert said == [said[0]] * len(said)


def test_the_schedule_of_a_pipeline(tmp_path: Path):
    """One execution for each device and step; memory for both where both use it; no copy between local devices."""
    (tmp_path / "m.mlir").write_text(DYNAMIC)
    text = ours("compile", tmp_path / "m.mlir", *FLAGS, "--compile-to=stream").out
    executions = re.findall(r'"stream.cmd.execute".*affinity = #hal.device.affinity<@(\w+)>', text)
    assert executions == ["a", "b", "a"]
    assert "#hal.device.optimal<[#hal.device.affinity<@a>, #hal.device.affinity<@b>]>" in text
    assert "stream.cmd.copy" not in text
    text = ours("compile", tmp_path / "m.mlir", *FLAGS, "--compile-to=hal").out
    assert text.count("hal.executable.create") == text.count("call @__find_device") == 2
    assert "ordinal = 1 : index" in text


def test_a_function_with_an_affinity(tmp_path: Path):
    text = VARIABLE.replace(
        "-> tensor<4xf32> {", "-> tensor<4xf32> attributes {stream.affinity = #hal.device.promise<@b>} {"
    )
    (tmp_path / "m.mlir").write_text(
        re.sub(r".*flow.tensor.transfer.*\n", "", text).replace("%0", "%x").replace("%2", "%1")
    )
    done = ours("compile", tmp_path / "m.mlir", *FLAGS, "--compile-to=stream")
    function = done.out[done.out.index("util.func") :]
    assert re.findall(r'"stream.cmd.execute".*affinity = #hal.device.affinity<@(\w+)>', function) == ["b"]


def test_what_one_device_needs_is_all_there_is(tmp_path: Path):
    """Devices on which nothing runs are not asked for; one device is found without a search."""
    (tmp_path / "m.mlir").write_text(on_one_device(PIPELINE))
    text = ours("compile", tmp_path / "m.mlir", *FLAGS, "--compile-to=hal").out
    assert "@b" not in text
    assert "__find_device" not in text
    assert "hal.devices.get" in text


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (DEVICES[:1], "flow.tensor.transfer names device @b; the program has @a"),
        (("--iree-hal-target-device=a=local", "--iree-hal-target-device=local"), "a has a name and another has none"),
        (("--iree-hal-target-device=a=local",) * 2, "two devices have the name a"),
        (("--iree-hal-target-device=local-task",), "--device=local-task says when the program runs"),
        (("--iree-hal-target-device=local[x]",), "not a device"),
        (("--iree-hal-target-device=a=local[99999999999999999999]",), "99999999999999999999 is out of range"),
        (("--iree-hal-target-device=nope",), "values are local"),
        ((*DEVICES, "--iree-hal-default-device=c"), "devices are a, b"),
    ],
)
def test_messages(flags: tuple[str, ...], said: str):
    with pytest.raises(tiree.CompileError, match=re.escape(said)):
        tiree.compile(DYNAMIC, flags=flags)


def test_too_few_devices_when_the_program_runs(tmp_path: Path):
    path = tmp_path / "m.vmfb"
    tiree.compile(DYNAMIC, output=path, flags=FLAGS)
    done = ours("run-module", f"--module={path}", "--function=main", "--input=2x4xf32=1", "--device=local-sync")
    assert '"b" is device 2, given are --device=local-sync' in done.err
    with pytest.raises(RuntimeError, match="HAL device `b` not found or unavailable"):
        rt.load(path)


def test_the_default_device():
    """By name or by number; and the names of devices without one."""
    text = DYNAMIC.replace("<@b>", "<@__device_0>").replace("<@a>", "<@__device_1>")
    unnamed = ("--iree-hal-target-device=local[0]", "--iree-hal-target-device=local[1]")
    x = RANDOM.standard_normal((3, 4), dtype=np.float32)
    for default in ("1", "__device_1"):
        module = tiree.compile(text, flags=(*unnamed, f"--iree-hal-default-device={default}")).load(device=PAIRS[1])
        assert_same(run(module, x), [(x + x) * (x + x) + (x + x)])
    assert_same(
        run(tiree.compile(text, hal_target_devices=("local[0]", "local[1]")).load(device=PAIRS[0]), x),
        [(x + x) * (x + x) + (x + x)],
    )
