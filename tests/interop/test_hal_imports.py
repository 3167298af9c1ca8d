"""Every function that the `hal` module exports, called by bytecode, does what IREE 3.13's does."""

from __future__ import annotations

from pathlib import Path

import interop.hal_buffer_programs
import interop.hal_queue_programs
import interop.hal_vmvx_programs  # noqa: F401
import pytest
from interop import hal_programs
from interop.hal_programs import EXPORTS
from proofs import iree_reference as iree
from runtime.import_table import rows
from tools.runtime_tool import Done, ours, refused, theirs

pytestmark = iree.needs_iree

SYNC, TASK = iree.DRIVERS
BOTH = (SYNC, TASK)

# What IREE does otherwise: on which devices, and what is right (words of the results, or of the message).
DIFFERENT: dict[str, tuple[tuple[str, ...], str]] = {
    "dim_outside": (BOTH, "dimension 1 of a view of shape [4]"),  # 0
    "fence_fail": (BOTH, "15"),  # dies of a signal
    "failed_wait": (BOTH, "15 1 0 0 0"),  # the call fails, not the fence
    "copy_onto_itself": ((SYNC,), "copy source and target ranges overlap"),  # copies
    "hints": ((SYNC,), "50529027 50529027 50529027 50529027"),  # dies of a signal
    "caches": ((TASK,), "50529027 50529027 50529027 50529027"),  # UNIMPLEMENTED
    "too_few_bindings": ((SYNC,), "passes 1 bindings, the function takes 3"),  # unnoticed until execution
    "too_many_constants": ((SYNC,), "passes 1 constants, the function takes 0"),
    "no_such_function": ((SYNC,), "executable function 77 does not exist; it has 3 functions"),
    "recording_outside": ((SYNC,), "range [8, 8 + 16) is outside the buffer of 16 bytes"),
    "one_shot_twice": (BOTH, "a one-shot command buffer can be executed only once"),  # runs twice
    "channel": (BOTH, "0 1 0 1"),  # UNIMPLEMENTED, as are all of channels
    "vmvx_state": ((TASK,), "0 0 0 1 1 1 1 1 1 12"),  # workgroups are of no size
    "vmvx_constants": (BOTH, "0 77"),  # takes __init and __set_constants for entry points
    "vmvx_kept_binding": (BOTH, "0 42 0 0"),
    "split": (BOTH, "0 1 0"),
    **{f"collective_{kind}": (BOTH, "2 3 0 4") for kind in (0, 1, 2, 3, 4, 5, 8)},
}


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hal") / "hal.vmfb"
    path.write_bytes(hal_programs.compiled())
    return path


def test_every_export_has_a_program():
    assert {export for exports in EXPORTS.values() for export in exports} == set(rows("hal")) - {"device.allocator"}


def words(done: Done) -> str:
    """The results of a run without their types."""
    return " ".join(line.partition("=")[2] for line in done.out.splitlines() if line.startswith("result["))


@pytest.mark.parametrize("device", iree.DRIVERS)
@pytest.mark.parametrize("name", EXPORTS)
def test_program(module: Path, name: str, device: str):
    flags = [f"--module={module}", f"--device={device}", f"--function={name}"]
    devices, right = DIFFERENT.get(name, ((), ""))
    if device not in devices:
        found, wanted = ours("run-module", *flags), theirs("run-module", *flags)
        assert (found.code, found.out) == (wanted.code, wanted.out), found.err + wanted.err
    elif right[0].isdigit():
        assert words(ours("run-module", *flags)) == right
    else:
        assert right in refused("run-module", *flags)
