"""Files that are cut short or rewritten while they are used: DATA_LOSS with the file's name, never a crash or garbage.

Each case runs in a process of its own, which would die of SIGBUS.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import ADD, iree_module, tiree_module

# Four megabytes, used where they are mapped.
ELEMENTS = 1 << 20
CONSTANT = f"""
func.func @get(%i: tensor<{ELEMENTS}xf32>) -> tensor<{ELEMENTS}xf32> {{
  %0 = stablehlo.constant dense_resource<big> : tensor<{ELEMENTS}xf32>
  %1 = stablehlo.add %0, %i : tensor<{ELEMENTS}xf32>
  return %1 : tensor<{ELEMENTS}xf32>
}}
"""
PARAMETERS = f"""
util.global private @w = #flow.parameter.named<"model"::"w"> : tensor<{ELEMENTS}xf32>
func.func @get(%i: tensor<{ELEMENTS}xf32>) -> tensor<{ELEMENTS}xf32> {{
  %0 = util.global.load @w : tensor<{ELEMENTS}xf32>
  %1 = stablehlo.add %0, %i : tensor<{ELEMENTS}xf32>
  return %1 : tensor<{ELEMENTS}xf32>
}}
"""
START = f"""
import os, sys
import numpy as np
import tiree.runtime as rt

path, device = sys.argv[1:3]
zeros = np.zeros({ELEMENTS}, np.float32)

def change():
    action = sys.argv[3]
    if action == "rewrite":
        size = os.path.getsize(path)
        with open(path, "r+b") as file:
            file.seek(4096)
            file.write(os.urandom(size - 8192))
        return
    with open(path, "r+b") as file:
        file.truncate({{"empty": 0, "cut": 5000, "tail": os.path.getsize(path) - 8192}}[action])

def expect(call):
    try:
        call()
    except Exception as error:
        assert getattr(error, "code_name", "") == "DATA_LOSS" or "DATA_LOSS" in str(error), repr(error)
        assert path in str(error), error
        print("refused")
    else:
        raise SystemExit("nothing was said")
"""


def run(script: str, *arguments: object, flags: tuple[str, ...] = ()) -> str:
    """What the script prints. Fails when it ends in any other way than by itself."""
    words = [sys.executable, *flags, "-c", START + textwrap.dedent(script), *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr[-3000:])
    return done.stdout


@pytest.fixture(scope="module")
def constant() -> bytes:
    data = np.arange(ELEMENTS, dtype=np.float32).tobytes().hex().upper()
    resource = f'{{-#\n  dialect_resources: {{ builtin: {{ big: "0x40000000{data}" }} }}\n#-}}'
    return tiree_module(CONSTANT + resource)


@pytest.fixture
def module_file(tmp_path: Path, constant: bytes) -> Path:
    path = tmp_path / "big.vmfb"
    path.write_bytes(constant)
    return path


@pytest.fixture
def parameter_files(tmp_path: Path) -> tuple[Path, Path]:
    """The module, and the archive that it needs."""
    path, archive = tmp_path / "p.vmfb", tmp_path / "w.irpa"
    path.write_bytes(iree_module(PARAMETERS))
    rt.save_archive_file({"w": np.ones(ELEMENTS, np.float32)}, archive)
    return path, archive


ACTIONS = ["empty", "cut", "tail", "rewrite"]


@pytest.mark.parametrize("action", ACTIONS)
def test_a_module_that_changes_between_load_and_call(action: str, module_file: Path, device_name: str) -> None:
    script = """
    module = rt.load(path, device)
    change()
    expect(lambda: module.get(zeros))
    expect(lambda: module.get(zeros))
    """
    assert run(script, module_file, device_name, action) == "refused\n" * 2


def test_small_modules_stay_what_they_were(tmp_path: Path) -> None:
    """They are read."""
    path = tmp_path / "add.vmfb"
    path.write_bytes(tiree_module(ADD))
    script = """
    module = rt.load(path, device)
    change()
    print(module.add(np.ones(4, np.float32), np.ones(4, np.float32)).tolist())
    """
    assert run(script, path, "local-sync", "empty") == "[2.0, 2.0, 2.0, 2.0]\n"


@pytest.mark.parametrize("action", ACTIONS)
def test_a_module_that_changes_before_it_is_linked(action: str, module_file: Path, device_name: str) -> None:
    script = """
    config = rt.Config(device)
    vm_module = rt.VmModule.mmap(config.vm_instance, path)
    change()
    def link():
        rt.SystemContext(vm_modules=[*config.default_vm_modules, vm_module], config=config).modules.module.get(zeros)
    expect(link)
    """
    assert run(script, module_file, device_name, action) == "refused\n"


def test_a_module_that_is_cut_during_a_call(module_file: Path, device_name: str) -> None:
    """The first call is made while another thread cuts the file; the pool can be used afterwards."""
    script = """
    import threading
    other = rt.load(open(path, "rb").read(), device)
    outcomes = set()
    for wait in (0, 0.0001, 0.0005, 0.001):
        whole = open(path, "rb").read()
        module = rt.load(path, device)
        timer = threading.Timer(wait, change)
        timer.start()
        try:
            found = np.asarray(module.get(zeros))
            assert (found == np.arange(zeros.size)).all()
            outcomes.add("right")
        except Exception as error:
            assert path in str(error), error
            outcomes.add("refused")
        timer.join()
        del module
        os.unlink(path)
        open(path, "wb").write(whole)
    assert outcomes <= {"right", "refused"}
    assert (np.asarray(other.get(zeros)) == np.arange(zeros.size)).all()
    print("done")
    """
    assert run(script, module_file, device_name, "cut") == "done\n"


@pytest.mark.parametrize("moment", ["before", "between"])
@pytest.mark.parametrize("action", ACTIONS)
def test_a_parameter_file_that_changes(
    action: str, moment: str, parameter_files: tuple[Path, Path], device_name: str
) -> None:
    """Before the program loads its parameters, or when it has them, mapped."""
    script = """
    index = rt.ParameterIndex()
    index.load(path)
    config = rt.Config(device)
    provider = rt.create_io_parameters_module(config.vm_instance, index.create_provider(scope="model"))
    def bind():
        vm_module = rt.VmModule.mmap(config.vm_instance, sys.argv[4])
        modules = [*config.default_vm_modules, provider, vm_module]
        return rt.SystemContext(vm_modules=modules, config=config).modules.module
    if sys.argv[5] == "before":
        change()
        expect(bind)
        expect(lambda: index[0].file_view)
    else:
        module = bind()
        assert (np.asarray(module.get(zeros)) == 1).all()
        change()
        # Programs see the contents of a file that was rewritten.
        module.get(zeros) if sys.argv[3] == "rewrite" else expect(lambda: module.get(zeros))
        expect(lambda: index[0].file_view)
    """
    module, archive = parameter_files
    times = 1 if (action, moment) == ("rewrite", "between") else 2
    assert run(script, archive, device_name, action, module, moment) == "refused\n" * times


def test_python_that_reads_a_view(parameter_files: tuple[Path, Path]) -> None:
    script = """
    index = rt.ParameterIndex()
    index.load(path)
    view = np.frombuffer(index[0].file_view, np.float32)
    assert view[-1] == 1
    change()
    print(view[-1])
    expect(lambda: rt.save_archive_file({"again": index[0].file_view}, path + ".new"))
    """
    assert run(script, parameter_files[1], "local-sync", "empty") == "0.0\nrefused\n"


def test_other_bus_errors_are_for_others(tmp_path: Path) -> None:
    """A file that the program maps itself; `faulthandler` in front of the guard and behind it."""
    script = """
    import faulthandler, mmap
    before, behind = sys.argv[3] == "before", sys.argv[3] == "behind"
    if before: faulthandler.enable()
    big = path + ".irpa"
    rt.save_archive_file({"w": zeros}, big)
    index = rt.ParameterIndex()
    index.load(big)
    if behind: faulthandler.enable()
    file = open(path, "r+b")
    mapped = mmap.mmap(file.fileno(), 0)
    file.truncate(0)
    print("alive", flush=True)
    mapped[5000]
    print("not reached")
    """
    for order in ("before", "behind", "none"):
        path = tmp_path / order
        path.write_bytes(bytes(10000))
        words = [sys.executable, "-c", START + textwrap.dedent(script), str(path), "local-sync", order]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout) == (-7, "alive\n"), done
        assert ("Fatal Python error: Bus error" in done.stderr) == (order != "none"), done.stderr


def test_faulthandler_does_not_hear_of_what_is_guarded(module_file: Path) -> None:
    script = """
    module = rt.load(path, device)
    expect(lambda: (change(), module.get(zeros)))
    """
    assert run(script, module_file, "local-sync", "empty", flags=("-X", "faulthandler")) == "refused\n"


def test_faulthandler_may_be_enabled_later(module_file: Path) -> None:
    script = """
    import faulthandler
    module = rt.load(path, device)
    faulthandler.enable()
    module.get(zeros)
    expect(lambda: (change(), module.get(zeros)))
    """
    assert run(script, module_file, "local-sync", "empty") == "refused\n"


STEPS = {"enable": "faulthandler.enable()", "disable": "faulthandler.disable()", "load": "load()"}
FAULT = """
file = open("o", "w+b")
file.truncate(99999)
map = mmap.mmap(file.fileno(), 0)
file.truncate(0)
map[5]"""
SENT = "os.kill(os.getpid(), signal.SIGBUS)"
ORDERS = (
    "load",
    "enable load",
    "load enable",
    "load enable load",
    "enable load disable",
    "enable load disable load",
    "load enable load disable",
    "load enable load disable load",
    "load enable load disable enable load",
    "load enable load disable enable load disable",
)
CASES = [(steps, end) for steps in ORDERS for end in (FAULT, SENT)]


@pytest.mark.parametrize(("steps", "end"), CASES)
def test_other_faults_end_the_process(steps: str, end: str, tmp_path: Path) -> None:
    """As they do without the guard, whatever order the handlers came in, and faulthandler speaks once."""
    script = """import faulthandler, mmap, os, signal, tiree.runtime as rt
kept = []
def load():
    rt.save_archive_file({"w": bytes(9999)}, f"{len(kept)}.irpa")
    kept.append(rt.ParameterIndex())
    kept[-1].load(f"{len(kept) - 1}.irpa")
"""
    script += "".join(STEPS[step] + "\n" for step in steps.split()) + end
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=False, cwd=tmp_path)
    assert done.returncode == -signal.SIGBUS, (done.returncode, done.stderr[-3000:])
    assert done.stderr.count("Fatal Python error") == (steps.rfind("enable") > steps.rfind("disable"))


@pytest.mark.parametrize("order", ["handle load", "load handle", "load handle load", "load handle load handle"])
def test_what_handled_the_signal_before_still_does(order: str, tmp_path: Path) -> None:
    script = """import os, signal, sys, tiree.runtime as rt
kept, heard = [], []
def load():
    rt.save_archive_file({"w": bytes(9999)}, f"{len(kept)}.irpa")
    kept.append(rt.ParameterIndex())
    kept[-1].load(f"{len(kept) - 1}.irpa")
def handle():
    signal.signal(signal.SIGBUS, lambda *_: heard.append(1))
for step in sys.argv[1].split():
    globals()[step]()
for _ in range(3):
    os.kill(os.getpid(), signal.SIGBUS)
assert len(heard) == 3, heard
signal.signal(signal.SIGBUS, signal.SIG_IGN)
load()
os.kill(os.getpid(), signal.SIGBUS)
signal.signal(signal.SIGBUS, signal.SIG_DFL)
load()
os.kill(os.getpid(), signal.SIGBUS)
print("not reached")"""
    words = [sys.executable, "-c", script, order]
    done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGBUS, "", "")


def test_modules_of_iree_too(module_file: Path) -> None:
    data = np.arange(ELEMENTS, dtype=np.float32).tobytes().hex().upper()
    resource = f'{{-#\n  dialect_resources: {{ builtin: {{ big: "0x40000000{data}" }} }}\n#-}}'
    module_file.write_bytes(iree_module(CONSTANT + resource))
    script = """
    module = rt.load(path, device)
    assert (np.asarray(module.get(zeros)) == np.arange(zeros.size)).all()
    change()
    expect(lambda: module.get(zeros))
    """
    assert run(script, module_file, "local-sync", "cut") == "refused\n"


@pytest.mark.parametrize("what", ["module", "parameters"])
def test_pipes_are_refused(what: str, tmp_path: Path) -> None:
    """Opening one would wait for who writes it."""
    import os

    path = tmp_path / ("p.vmfb" if what == "module" else "p.irpa")
    os.mkfifo(path)
    with pytest.raises(ValueError, match="is a pipe or a device, not a"):
        rt.load(path) if what == "module" else rt.ParameterIndex().load(str(path))
