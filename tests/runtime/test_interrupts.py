"""Ctrl-C ends calls that never wait: endless loops of the VM, in Python and in the tools."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tiree.runtime as rt
from runtime.modules import iree_module

# The first loop runs until its counter is negative, which is never: it goes from 0 to 1 and back. The condition is read
# from a device buffer in every round.
ENDLESS = """
module @endless {
  func.func @spin(%a: tensor<i32>) -> tensor<i32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.while(%i = %a) : tensor<i32>
      cond {
        %c = stablehlo.compare GE, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %n = stablehlo.subtract %one, %i : tensor<i32>
        stablehlo.return %n : tensor<i32>
      }
    return %0 : tensor<i32>
  }
  func.func @twice(%a: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.add %a, %a : tensor<i32>
    return %0 : tensor<i32>
  }
}
"""

# A loop and a recursion without any device work.
HOST_LOOP = """
vm.module @host_loop version 0
vm.export @spin
vm.func @spin(%i0: i32) -> (i32) {
^bb0:
  vm.br ^bb1()
^bb1:
  %i0 = vm.add.i32 %i0, %i0
  vm.br ^bb1()
^bb2:
  vm.return %i0
}
vm.func @deep(%i0: i32) -> (i32) {
^bb0:
  %i1 = vm.const.i32 1
  %i2 = vm.cmp.lt.i32.s %i0, %i1
  vm.cond_br %i2, ^bb1(), ^bb2()
^bb1:
  vm.return %i0
^bb2:
  %i0 = vm.sub.i32 %i0, %i1
  %i2 = vm.call @host_loop:1(%i0)
  %i2 = vm.call @host_loop:1(%i0)
  vm.return %i2
}
vm.export @tree
vm.func @tree(%i0: i32) -> (i32) {
^bb0:
  %i0 = vm.call @host_loop:1(%i0)
  vm.return %i0
}
"""

CALLER = """
import sys
import numpy as np
import tiree.runtime as rt
path, device, function = sys.argv[1:]
module = rt.load(path, device)
try:
    print("running", flush=True)
    {call}
except KeyboardInterrupt as error:
    print("interrupted", error.__cause__)
print(module.twice(np.int32(21)).to_host() if hasattr(module, "twice") else "no twice")
"""


def interrupt(command: list[str], ready: str) -> tuple[int, str, float]:
    """Exit code, rest of the output and seconds from SIGINT to the end of a command that prints `ready` and goes on."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == ready
            time.sleep(0.3)
            assert process.poll() is None, process.stdout.read()
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=60)
            return process.returncode, rest, time.monotonic() - start
        finally:
            process.kill()


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("interrupts") / "endless.vmfb"
    path.write_bytes(iree_module(ENDLESS))
    return path


@pytest.fixture(scope="module")
def host_loop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("interrupts")
    source, path = directory / "host_loop.vmasm", directory / "host_loop.vmfb"
    source.write_text(HOST_LOOP)
    tool = Path(sys.executable).parent / "iree-as-module"
    subprocess.run([tool, f"--output={path}", source], check=True)
    return path


class TestPython:
    def test_device_loop(self, endless: Path, device_name: str):
        """KeyboardInterrupt itself, and the module works afterwards."""
        code = CALLER.format(call="module.spin(np.int32(0))")
        _, rest, seconds = interrupt([sys.executable, "-c", code, str(endless), device_name, "spin"], "running\n")
        assert rest == "interrupted None\n42\n"
        assert seconds < 30

    @pytest.mark.parametrize("function", ["spin", "tree"])
    def test_host_loop(self, host_loop: Path, function: str):
        """A loop, and a recursion that takes the age of the universe."""
        code = CALLER.format(call="getattr(module, function)(100)")
        _, rest, _ = interrupt([sys.executable, "-c", code, str(host_loop), "local-sync", function], "running\n")
        assert rest == "interrupted None\nno twice\n"

    def test_on_another_thread_too(self, host_loop: Path):
        """Handlers run on the main thread only: it is the one that waits for the other that sees the signal."""
        start = "t = threading.Thread(target=module.spin, args=(1,), daemon=True)"
        code = CALLER.format(call=f"import threading; {start}; t.start(); t.join()")
        code = code.replace("print(module.twice", "import os; os._exit(3)\nprint(module.twice")
        code = code.replace("error.__cause__)", "error.__cause__, flush=True)")
        returncode, rest, _ = interrupt([sys.executable, "-c", code, str(host_loop), "local-sync", "spin"], "running\n")
        assert (returncode, rest) == (3, "interrupted None\n")

    def test_begin(self, host_loop: Path):
        code = CALLER.format(call="module.spin.begin(1).wait()")
        _, rest, _ = interrupt([sys.executable, "-c", code, str(host_loop), "local-sync", "spin"], "running\n")
        assert rest == "interrupted None\nno twice\n"


@pytest.mark.parametrize("tool", ["run_module", "benchmark_module"])
def test_tools_end_with_130(endless: Path, device_name: str, tool: str):
    flags = [f"--module={endless}", f"--device={device_name}", "--function=spin", "--input=i32=0"]
    # Python itself ends with another code while it imports.
    launch = f"from tiree.tools.{tool} import main\nprint('running', flush=True)\nraise SystemExit(main())"
    returncode, rest, _ = interrupt([sys.executable, "-c", launch, *flags], "running\n")
    assert (returncode, rest.splitlines()[-1]) == (130, "interrupted")


def test_raised_by_python_module():
    """What is no Exception passes through the VM as it is."""

    class Host:
        def __init__(self, interface: rt.PyModuleInterface) -> None:
            del interface

        def stop(self) -> None:
            raise KeyboardInterrupt("asked for")

    interface = rt.PyModuleInterface("host", Host)
    interface.export("stop", "0v_v", Host.stop)
    module = interface.create()
    function = module.lookup_function("stop")
    assert function is not None
    context = rt.VmContext(rt.VmInstance(), modules=[module])
    with pytest.raises(KeyboardInterrupt, match="asked for"):
        context.invoke(function, rt.VmVariantList(0), rt.VmVariantList(0))
