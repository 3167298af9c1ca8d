"""Modules of the runtime's tests, loaded once; both devices."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiree.runtime as rt
from runtime import modules


@pytest.fixture(params=["local-sync", "local-task"])
def device_name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def device(device_name: str) -> rt.HalDevice:
    return rt.get_device(device_name)


@pytest.fixture(scope="session")
def add_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`add.vmfb` by iree-compile."""
    path = tmp_path_factory.mktemp("modules") / "add.vmfb"
    path.write_bytes(modules.iree_module(modules.ADD))
    return path


@pytest.fixture(scope="session")
def mixed_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`mixed.vmfb` by iree-compile."""
    path = tmp_path_factory.mktemp("modules") / "mixed.vmfb"
    path.write_bytes(modules.iree_module(modules.MIXED))
    return path


@pytest.fixture
def mixed(device_name: str, mixed_file: Path) -> rt.Module:
    return rt.load(mixed_file, device_name)


@pytest.fixture
def add(device_name: str, add_file: Path) -> rt.FunctionInvoker:
    return rt.load(add_file, device_name).add
