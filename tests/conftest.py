"""What all tests share: hypothesis without clocks and chance, and a current folder that is not the repository."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# A shell that runs this in the background has SIGINT ignored; the tests of Ctrl-C send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples on every machine and in every order, none refused because the machine is busy. Search for new ones
# with `pytest --hypothesis-profile=search`.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "database": None, "print_blob": True}
settings.register_profile("tests", derandomize=True, max_examples=50, **_COMMON)
settings.register_profile("search", max_examples=1000, **_COMMON)
settings.load_profile("tests")


@pytest.fixture(autouse=True)
def _types_of_jax() -> Iterator[None]:
    """A test that makes JAX's numbers 64 bits wide for good changes the programs of those that follow it."""
    yield
    jax = sys.modules.get("jax")
    if jax is not None and jax.config.jax_enable_x64:
        jax.config.update("jax_enable_x64", False)
        pytest.fail("jax_enable_x64 is left on; write `with jax.enable_x64(True):`")


@pytest.fixture(scope="session", autouse=True)
def _working_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests run in a folder of their own: what a tool writes into the current one never lands in the repository."""
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("working_folder"))
    yield
    os.chdir(before)
