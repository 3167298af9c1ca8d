"""Every op of the accepted dialects, in every form that iree-opt prints, reads as the same module; and iree-opt reads
what Tiree prints, in both forms and with locations, as the same module again.

The files of `corpus/` have a function for each op; they are read as one module. iree-opt's generic form is compared.
"""

from __future__ import annotations

import difflib
import subprocess
from pathlib import Path

import pytest
from dialects.iree_opt import find_tool
from tiree.dialects import print_module, read_module

CORPUS = Path(__file__).with_name("corpus")
GENERIC, LOCATIONS, LOCAL = "--mlir-print-op-generic", "--mlir-print-debuginfo", "--mlir-print-local-scope"
FORMS = {
    "short": (),
    "short with locations": (LOCATIONS,),
    "generic": (GENERIC,),
    "without aliases": (LOCATIONS, LOCAL),
}


def by_iree(text: str, *flags: str) -> str:
    done = subprocess.run([find_tool("iree-opt"), *flags, "-"], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"iree-opt refuses the module:\n{done.stderr[:2000]}"
    return done.stdout


def difference(wanted: str, got: str) -> list[str]:
    """The first lines that differ."""
    if wanted == got:
        return []
    lines = difflib.unified_diff(wanted.splitlines(), got.splitlines(), "wanted", "got", lineterm="", n=1)
    return list(lines)[:20]


@pytest.fixture(scope="module")
def source() -> str:
    return "".join(path.read_text() for path in sorted(CORPUS.glob("*.mlir")))


@pytest.fixture(scope="module")
def generic(source: str) -> str:
    return by_iree(source, GENERIC)


@pytest.mark.parametrize("form", ["source", *FORMS])
def test_every_form_is_read(form: str, source: str, generic: str) -> None:
    text = source if form == "source" else by_iree(source, *FORMS[form])
    module = read_module(text)
    module.verify()
    assert difference(generic, by_iree(print_module(module), GENERIC)) == []


def test_locations_survive(source: str) -> None:
    with_locations = by_iree(source, GENERIC, LOCATIONS)
    printed = print_module(read_module(with_locations), debuginfo=True)
    assert difference(with_locations, by_iree(printed, GENERIC, LOCATIONS)) == []


@pytest.mark.parametrize("locations", [False, True])
def test_the_short_form_that_we_print(locations: bool, source: str, generic: str) -> None:
    printed = print_module(read_module(source), generic=False, debuginfo=locations)
    assert difference(generic, by_iree(printed, GENERIC)) == []
    assert difference(print_module(read_module(source)), print_module(read_module(printed))) == []
