"""What holds only where CPython has no GIL: importing does not bring it back, calls share nothing unsafe."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import sysconfig

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import ADD, tiree_module
from runtime.threads import in_threads

pytestmark = pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this interpreter has a GIL")


def test_import_leaves_the_gil_off():
    program = "import sys, tiree.runtime; sys.exit(sys._is_gil_enabled())"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_one_context_one_invocation_and_one_list_in_eight_threads(device: rt.HalDevice):
    add = rt.load(tiree_module(ADD), device).add
    x = np.ones(4, np.float32)
    call, shared = add.begin(x, x), rt.VmVariantList(0)

    def work() -> None:
        for number in range(200):
            assert np.array_equal(add(x, x), 2 * x)
            shared.push_int(number)
            # It may be said that another thread is driving it.
            with contextlib.suppress(RuntimeError):
                call.step()

    in_threads([work] * 8)
    assert len(shared) == 1600
    assert np.array_equal(call.results(), 2 * x)
