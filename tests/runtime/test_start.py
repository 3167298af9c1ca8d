"""Starting is cheap: what the runtime and its tools import, and what they do not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import tiree.runtime

COMPILER = {"xdsl", "llvmlite", "jax", "tiree.compiler", "tiree.codegen", "tiree.dialects", "tiree.pipeline"}
SLOW = {
    "numpy",
    "asyncio",
    "inspect",
    "dataclasses",
    "subprocess",
    "json",
    "argparse",
    "importlib.metadata",
    "ml_dtypes",
}


def loaded_after(code: str) -> set[str]:
    report = "import sys; print('\\n'.join(sorted(sys.modules)), file=sys.stderr)"
    # Isolated: what the environment's own start-up files import is not ours.
    done = subprocess.run([sys.executable, "-I", "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines())


@pytest.fixture(scope="module")
def bare() -> set[str]:
    return loaded_after("pass")


@pytest.mark.parametrize(
    "code",
    [
        "import tiree",
        "import tiree.runtime",
        "import tiree.runtime as rt; rt.Config('local-sync'); rt.HalFence(1)",
        "import tiree.tools.run_module",
    ],
)
def test_imports(code: str, bare: set[str]):
    assert not (loaded_after(code) - bare) & (SLOW | COMPILER)


def test_running_a_module_imports_no_numpy(add_file: Path, bare: set[str]):
    flags = [f"--module={add_file}", "--input=4xf32=1", "--input=4xf32=2"]
    found = loaded_after(f"import tiree.tools.run_module as tool; assert tool.main({flags!r}) == 0")
    assert not (found - bare) & (SLOW | COMPILER)


def test_dumping_a_module_imports_no_numpy(add_file: Path, bare: set[str]):
    found = loaded_after(f"import tiree.tools.dump_module as tool; assert tool.main([{str(add_file)!r}]) == 0")
    assert not (found - bare) & (SLOW | COMPILER)


def test_loading_and_calling_imports_nothing_of_the_compiler(add_file: Path):
    code = (
        "import numpy as np, tiree.runtime as rt\n"
        f"r = rt.load({str(add_file)!r}).add(np.ones(4, np.float32), [1, 2, 3, 4])\n"
        "assert np.asarray(r).tolist() == [2, 3, 4, 5]\n"
        "r + 1; r.to_host(); repr(r)"
    )
    assert not loaded_after(code) & COMPILER


def test_lazy_names():
    code = "import tiree.runtime as rt; [getattr(rt, name) for name in rt.__all__]"
    assert "tiree.runtime.io" in loaded_after(code)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        tiree.runtime.nothing  # noqa: B018
