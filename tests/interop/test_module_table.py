"""Every module of the table (`module_rows.ROWS`), made by iree-compile 3.13, gives in Tiree's runtime what
iree-run-module prints and writes: through the tool and through the Python API, on both devices."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import tiree.runtime as rt
from interop.module_rows import ROWS, page
from interop.module_rows.row import DTYPES, Call, Row, Tensor, unpacked
from proofs import iree_reference as iree
from runtime.modules import iree_module_with
from tiree.runtime.system_api import native_dependencies
from tools.runtime_tool import ours

pytestmark = iree.needs_iree

NO_ARRAY = re.compile("f8|bf16|floats")
PRINTED = re.compile(r"result\[(\d+)\]: (?:hal\.buffer_view\n(?P<type>\S+)=|(?P<scalar>[if]\d+)=(?P<value>\S+)\n)")


class Prepared:
    """A module in a folder, with the files its calls need."""

    def __init__(self, row: Row, folder: Path) -> None:
        self.row, self.folder = row, folder
        self.path = folder / "module.vmfb"
        self.path.write_bytes(iree_module_with(row.text, row.flags, row.whole_process))
        self.flags = [f"--module={self.path}", *(row.files(folder) if row.files else ())]

    def arguments(self, call: Call, exact: bool = False) -> list[str]:
        values = (v.text(self.folder, exact) if isinstance(v, Tensor) else str(v) for v in call.inputs)
        flags = [] if exact else call.flags
        return [*self.flags, f"--function={call.function}", *(f"--input={value}" for value in values), *flags]

    def load(self, device: str) -> rt.BoundModule:
        """The module in a context, with its parameters."""
        config = rt.Config(device)
        indices: dict[str, rt.ParameterIndex] = {}
        for flag in self.flags:
            if flag.startswith("--parameters="):
                scope, equals, path = flag.removeprefix("--parameters=").rpartition("=")
                assert bool(equals) == bool(scope)
                indices.setdefault(scope, rt.ParameterIndex()).load(path)
        providers = [index.create_provider(scope=scope) for scope, index in indices.items()]
        module = rt.VmModule.mmap(config.vm_instance, str(self.path))
        native = native_dependencies(module, config)
        if providers:
            native.append(rt.create_io_parameters_module(config.vm_instance, *providers))
        context = rt.SystemContext(vm_modules=[*native, module], config=config)
        return context.modules[module.name]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Row], Prepared]:
    return cache(lambda row: Prepared(row, tmp_path_factory.mktemp("module")))


def test_size() -> None:
    assert len(ROWS) >= 40
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert {row.backend for row in ROWS} == {"llvm-cpu", "vmvx", "vmvx-inline", "llvm-cpu and vmvx"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.subject}: {row.name}")
def test_tool(row: Row, prepared: Callable[[Row], Prepared]) -> None:
    module = prepared(row)
    for call, device in product(row.calls, iree.DRIVERS):
        arguments = module.arguments(call)
        if call.packed:
            same_file(module, call, device, "bin")
        else:
            wanted = iree.run_tool("iree-run-module", f"--device={device}", *arguments)
            found = ours("run-module", f"--device={device}", *arguments)
            assert found.code == 0, f"{device}, {call.function}: {found.err}"
            assert found.out == wanted, f"{device}, {call.function}"


def same_file(module: Prepared, call: Call, device: str, ending: str, results: int = 1) -> None:
    """Both tools write the same files of the results."""
    arguments = [f"--device={device}", *module.arguments(call, exact=True)]
    paths = [[module.folder / f"{who}{i}.{ending}" for i in range(results)] for who in ("ours", "theirs")]
    outputs = [[f"--output=@{path}" for path in some] for some in paths]
    iree.run_tool("iree-run-module", *arguments, *outputs[1])
    found = ours("run-module", *arguments, *outputs[0])
    assert found.code == 0, found.err
    for mine, wanted in zip(*paths, strict=True):
        assert mine.read_bytes() == wanted.read_bytes(), f"{device}, {call.function}"


def packed_from_iree(module: Prepared, call: Call, arguments: list[str]) -> np.ndarray:
    """As `from_iree`, for results that iree-run-module cannot print."""
    path = module.folder / "packed.bin"
    iree.run_tool("iree-run-module", "--device=local-sync", *arguments, f"--output=@{path}")
    (argument, *_) = [v for v in call.inputs if isinstance(v, Tensor)]
    shape = argument.shape[::-1] if call.function.startswith("turn") else argument.shape
    return unpacked(path.read_bytes(), argument.element).reshape(shape)


def from_iree(module: Prepared, call: Call) -> list[np.ndarray]:
    """What iree-run-module writes into files, with the types that it prints."""
    arguments = module.arguments(call, exact=True)
    if call.packed:
        return [packed_from_iree(module, call, arguments)]
    printed = list(PRINTED.finditer(iree.run_tool("iree-run-module", "--device=local-sync", *arguments)))
    files = [module.folder / f"result{i}.bin" if m["type"] else None for i, m in enumerate(printed)]
    outputs = [f"--output=@{path}" if path else "--output=" for path in files]
    iree.run_tool("iree-run-module", "--device=local-sync", *arguments, *outputs)
    results = []
    for match, path in zip(printed, files, strict=True):
        if path is None:
            results.append(np.array(float(match["value"])).astype(DTYPES[match["scalar"]]))
            continue
        *shape, element = match["type"].split("x")
        results.append(np.frombuffer(path.read_bytes(), DTYPES[element]).reshape([int(d) for d in shape]))
    return results


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.subject}: {row.name}")
def test_api(row: Row, prepared: Callable[[Row], Prepared]) -> None:
    module = prepared(row)
    for device in iree.DRIVERS:
        bound = module.load(device)
        for call in row.calls:
            if not call.api:
                continue
            if row.state:
                bound = module.load(device)
            results = bound[call.function](*values(call))
            given = list(results) if isinstance(results, tuple) else [] if results is None else [results]
            for result, wanted in zip(given, from_iree(module, call), strict=True):
                found = np.asarray(result)
                if isinstance(result, int | float):
                    assert result == wanted or (result != result and wanted != wanted), call
                    continue
                assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), call
                assert found.tobytes() == wanted.tobytes(), f"{device}, {call.function}: {found} for {wanted}"


def values(call: Call) -> list[np.ndarray | float]:
    given = [v.array() if isinstance(v, Tensor) else v for v in call.inputs]
    assert not any(isinstance(v, str) for v in given)
    return given  # type: ignore[return-value]


@pytest.mark.parametrize("row", [row for row in ROWS if row.state], ids=lambda row: row.name)
def test_sequence(row: Row, prepared: Callable[[Row], Prepared]) -> None:
    """One context of each runtime, the calls in order: state lives on between them."""
    import iree.runtime as theirs

    module = prepared(row)
    for device in iree.DRIVERS:
        config = theirs.Config(device)
        context = theirs.SystemContext(config=config)
        loaded = theirs.VmModule.copy_buffer(context.instance, module.path.read_bytes())
        context.add_vm_module(loaded)
        bound, other = module.load(device), context.modules[loaded.name]
        for call in row.calls:
            found, wanted = bound[call.function](*values(call)), other[call.function](*values(call))
            np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted), f"{device}, {call}")


@pytest.mark.parametrize("row", [row for row in ROWS if not row.calls[0].packed], ids=lambda row: row.name)
def test_files(row: Row, prepared: Callable[[Row], Prepared]) -> None:
    """`--output=@FILE.npy` of the first call whose results are all tensors."""
    module = prepared(row)
    for call in row.calls:
        results = len(from_iree(module, call)) if call.api else 0
        if results and not NO_ARRAY.search(row.name):
            same_file(module, call, "local-sync", "npy", results)
            break


def test_page() -> None:
    assert page.PAGE.read_text() == page.page(), "run `python tests/interop/module_rows/page.py`"
