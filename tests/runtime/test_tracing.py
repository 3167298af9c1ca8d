"""Timelines: what is in them, that they can be read whatever happened, and how a second one is answered."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import iree_module
from runtime.test_interrupts import ENDLESS
from tools.runtime_tool import ours, refused

Event = dict[str, Any]

# Two dispatches of which the second needs the first, with more than one workgroup each.
TWO_STEPS = """
module @steps {
  func.func @run(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
    return %1 : tensor<512xf32>
  }
}
"""


@pytest.fixture(scope="module")
def steps_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("steps") / "steps.vmfb"
    path.write_bytes(iree_module(TWO_STEPS))
    return path


def read(path: Path) -> list[Event]:
    return json.loads(path.read_text())["traceEvents"]


def spans(events: list[Event], category: str) -> list[Event]:
    return [event for event in events if event["ph"] == "X" and event["cat"] == category]


def check_nesting(events: list[Event]) -> None:
    """Spans of one thread contain each other or have nothing in common."""
    by_thread: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            by_thread[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for found in by_thread.values():
        open_ends: list[float] = []
        for start, end in sorted(found, key=lambda span: (span[0], -span[1])):
            while open_ends and open_ends[-1] <= start + 1e-6:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1] + 1e-6
            open_ends.append(end)


def inside(inner: Event, outer: Event) -> bool:
    return outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + 1e-6


def test_each_dispatch_is_there_once_with_its_workgroups(steps_file: Path, device_name: str, tmp_path: Path) -> None:
    a = np.ones((512, 512), np.float32)
    counting, null = rt.load(steps_file, "null"), rt.get_device("null")
    before = null.counts
    counting.run(a, a)
    after = null.counts
    assert before is not None
    assert after is not None
    counts = {name: after[name] - before[name] for name in after}
    module = rt.load(steps_file, device_name)
    with rt.trace(tmp_path / "t.json"):
        result = module.run(a, a)
    assert np.allclose(np.asarray(result), 512 * 512)
    events = read(tmp_path / "t.json")
    check_nesting(events)
    dispatches: dict[int, list[Event]] = defaultdict(list)
    for event in spans(events, "dispatch"):
        dispatches[event["args"]["dispatch"]].append(event)
    names = [shares[0]["name"] for shares in dispatches.values()]
    assert len(names) == len(set(names)) == counts["dispatches"] >= 2
    for shares in dispatches.values():
        assert len({(s["name"], s["args"]["of"], s["args"]["grid"]) for s in shares}) == 1
        assert sum(s["args"]["workgroups"] for s in shares) == shares[0]["args"]["of"]
        assert math.prod(map(int, shares[0]["args"]["grid"].split("x"))) == shares[0]["args"]["of"]
        assert all(s["args"]["executable"] == "steps_linked" for s in shares)
    assert sum(shares[0]["args"]["of"] for shares in dispatches.values()) == counts["workgroups"]


def test_calls_hold_queue_operations_that_hold_command_buffers(add: rt.FunctionInvoker, tmp_path: Path) -> None:
    one = np.ones(4, np.float32)
    with rt.trace(tmp_path / "t.json"):
        for _ in range(3):
            add(one, one)
    events = read(tmp_path / "t.json")
    check_nesting(events)
    calls, queue = spans(events, "call"), spans(events, "queue")
    buffers, dispatches = spans(events, "command_buffer"), spans(events, "dispatch")
    assert [c["name"] for c in calls] == ["module.add"] * 3
    assert all(c["args"] == {"outcome": "done"} for c in calls)
    executions = [q for q in queue if q["name"] == "queue_execute"]
    assert len(executions) == len(buffers) == len(dispatches) == 3
    for call, execution, buffer, dispatch in zip(calls, executions, buffers, dispatches, strict=True):
        assert inside(execution, call)
        assert inside(buffer, execution)
        assert inside(dispatch, buffer)
        assert (buffer["args"]["commands"], buffer["args"]["dispatches"]) == (1, 1)
    moments = [e for e in events if e["ph"] == "i" and e["cat"] == "memory"]
    assert {e["name"] for e in moments} == {"allocate", "deallocate"}
    assert all(e["args"]["bytes"] == 16 for e in moments)
    counters = [e["args"] for e in events if e["ph"] == "C"]
    assert len(counters) == len(moments)
    assert all(set(c) == {"host", "device", "cached"} for c in counters)


def test_threads_have_names(steps_file: Path, tmp_path: Path) -> None:
    module = rt.load(steps_file, "local-task")
    a = np.ones((512, 512), np.float32)
    with rt.trace(tmp_path / "t.json"):
        for _ in range(20):
            module.run(a, a)
    events = read(tmp_path / "t.json")
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert {e["tid"] for e in events if e["ph"] == "X"} <= set(names)
    # The name of the main thread of another runtime is not known to ours when tests run in a worker.
    others = {name for tid, name in names.items() if tid != os.getpid()}
    assert all(name.startswith(("tiree-worker-", "thread ")) for name in others), names


def test_waits_are_spans(tmp_path: Path) -> None:
    device = rt.get_device("local-task")
    semaphore = device.create_semaphore(0)
    timer = threading.Timer(0.05, lambda: semaphore.signal(1))
    with rt.trace(tmp_path / "t.json"):
        timer.start()
        semaphore.wait(1)
    timer.join()
    waits = spans(read(tmp_path / "t.json"), "wait")
    assert sum(w["dur"] for w in waits) > 20_000


def test_errors_are_in_the_timeline_and_do_not_break_it(add_file: Path, tmp_path: Path) -> None:
    limited = rt.load(add_file, "local-sync").add.limited(fuel=1)
    one = np.ones(4, np.float32)
    with pytest.raises(rt.FuelError), rt.trace(tmp_path / "t.json"):
        limited(one, one)
    calls = spans(read(tmp_path / "t.json"), "call")
    assert len(calls) == 1
    assert "RESOURCE_EXHAUSTED" in calls[0]["args"]["error"]


def test_one_at_a_time(add: rt.FunctionInvoker, tmp_path: Path) -> None:
    one = np.ones(4, np.float32)
    with rt.trace(tmp_path / "first.json"):
        expected = pytest.raises(RuntimeError, match=r"first\.json already.*one is possible at a time")
        with expected, rt.trace(tmp_path / "second.json"):
            raise AssertionError("the block ran")
        add(one, one)
    assert len(spans(read(tmp_path / "first.json"), "call")) == 1
    assert not (tmp_path / "second.json").exists()
    again = rt.trace(str(tmp_path / "first.json"))
    with again:
        pass
    assert spans(read(tmp_path / "first.json"), "call") == []


@pytest.mark.parametrize(
    ("path", "error"),
    [("missing/t.json", FileNotFoundError), (".", IsADirectoryError), ("/dev/full", OSError)],
)
def test_a_file_that_cannot_be_written(path: str, error: type[OSError], tmp_path: Path) -> None:
    with pytest.raises(error) as caught, rt.trace(tmp_path / path):
        raise AssertionError("the block ran")
    assert caught.value.filename == str(tmp_path / path)
    with rt.trace(tmp_path / "t.json"):
        pass
    assert read(tmp_path / "t.json")


def script(body: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    text = "import os, sys, time, numpy as np, tiree.runtime as rt\none = np.ones(4, np.float32)\n" + body
    return subprocess.run(
        [sys.executable, "-c", text, *map(str, arguments)], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("end", "code"), [("os._exit(3)", 3), ("os.abort()", -signal.SIGABRT), ("sys.exit(4)", 4), ("1 / 0", 1)]
)
def test_the_file_is_whole_however_python_ends(end: str, code: int, add_file: Path, tmp_path: Path) -> None:
    body = f"""
add = rt.load(sys.argv[1], "local-sync").add
with rt.trace(sys.argv[2]):
    add(one, one)
    time.sleep(0.15)
    add(one, one)
    {end}
"""
    done = script(body, add_file, tmp_path / "t.json")
    assert done.returncode == code, done.stderr
    # What is older than a tenth of a second is there in any case.
    assert spans(read(tmp_path / "t.json"), "dispatch")


def test_a_forked_child_does_not_write_into_the_file(add_file: Path, tmp_path: Path) -> None:
    body = """
add = rt.load(sys.argv[1], "local-sync").add
with rt.trace(sys.argv[2]):
    add(one, one)
    child = os.fork()
    add(one, one)
    if child == 0:
        with rt.trace(sys.argv[3]):
            add(one, one)
    else:
        assert os.waitpid(child, 0)[1] == 0
"""
    done = script(body, add_file, tmp_path / "t.json", tmp_path / "child.json")
    assert done.returncode == 0, done.stderr
    assert len(spans(read(tmp_path / "t.json"), "call")) == 2
    assert len(spans(read(tmp_path / "child.json"), "call")) == 1


class TestTools:
    def test_an_interrupted_run_leaves_a_whole_file(self, tmp_path: Path) -> None:
        (tmp_path / "endless.vmfb").write_bytes(iree_module(ENDLESS))
        arguments = ["--module=endless.vmfb", "--function=spin", "--input=i32=0", "--trace=t.json"]
        command = [sys.executable, "-m", "tiree.tools.run_module", *arguments]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "EXEC @spin\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[1].endswith("interrupted\n")
        assert process.returncode == 130
        events = read(tmp_path / "t.json")
        assert len(spans(events, "dispatch")) > 100
        assert {c["name"] for c in spans(events, "call")} >= {"endless.spin"}

    @pytest.mark.parametrize("tool", ["run-module", "benchmark-module"])
    def test_a_file_that_cannot_be_written_is_said_before_anything_runs(self, tool: str) -> None:
        error = refused(tool, "--module=nowhere.vmfb", "--trace=/nonexistent/t.json")
        assert error == "error: --trace=/nonexistent/t.json: cannot be written (No such file or directory)\n"

    def test_times_of_dispatches(self, steps_file: Path) -> None:
        flags = (f"--module={steps_file}", "--function=run", "--input=512x512xf32=1", "--input=512x512xf32=1")
        for form in ("console", "json"):
            done = ours(
                "benchmark-module", *flags, "--dispatch_statistics", "--benchmark_min_time=3x",
                f"--benchmark_format={form}",
            )  # fmt: skip
            assert done.code == 0, done.err
            text = done.out if form == "console" else done.err
            rows = text[text.index("Dispatches of @run in 3 calls") :].splitlines()
            names = [row.split()[0] for row in rows[4:-1]]
            assert len(names) >= 2
            assert all("dispatch" in name for name in names)
            assert all(row.split()[1] == "3" for row in rows[4:-1])
            shares = [float(cell.rstrip("%")) for row in rows for cell in row.split() if cell.endswith("%")]
            assert abs(sum(shares) - 100) < 0.5
            assert rows[-1].split()[:2] == ["all", str(3 * len(names))]
