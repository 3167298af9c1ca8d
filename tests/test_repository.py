"""What holds for every file of the repository: links, sizes, docstrings, nothing of the machine it was written on."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

LONG = {
    "rust/vm/src/isa/table.rs": "generated",
}
"""Files that may have more than 500 lines, and why."""

PRIVATE = re.compile(r"/(work|farm|root)/|/tmp/[a-z]{1,3}/|pythonhoste[d]|pypi[.]org|crates[.]io")
UNCHECKED = re.compile(r"#\s*(pyright|type):")
REASON = re.compile(r"# pyright: ignore\[\w+\]: \w")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Every tracked text file by its path."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout: which files belong to the repository is unknown")
    found = {}
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        data = path.read_bytes() if path.is_file() else b"\0"
        # Seeds of fuzz targets are any bytes.
        if b"\0" not in data and not name.startswith("rust/vm/fuzz/seeds/"):
            found[name] = data.decode()
    return found


def test_files_are_short(texts: dict[str, str]) -> None:
    sources = {name: text.count("\n") for name, text in texts.items() if name.endswith((".py", ".rs", ".pyi"))}
    assert {name: lines for name, lines in sources.items() if lines > 500 and name not in LONG} == {}
    assert [name for name in LONG if sources.get(name, 0) <= 500] == []


def test_nothing_of_the_machine(texts: dict[str, str]) -> None:
    found = [
        f"{name}:{number}: {line.strip()}"
        for name, text in texts.items()
        if Path(name).name != "Cargo.lock"
        for number, line in enumerate(text.splitlines(), 1)
        if PRIVATE.search(line)
    ]
    assert found == []


def test_types_are_checked_but_for_a_few_lines_that_say_why(texts: dict[str, str]) -> None:
    lines = [
        f"{name}:{number}: {line.strip()}"
        for name, text in texts.items()
        if name.startswith("python/")
        for number, line in enumerate(text.splitlines(), 1)
        if UNCHECKED.search(line)
    ]
    assert [line for line in lines if not REASON.search(line)] == []
    assert len(lines) < 25


def test_links_between_pages_resolve(texts: dict[str, str]) -> None:
    broken = []
    for name, text in texts.items():
        if not name.endswith(".md"):
            continue
        for target in LINK.findall(FENCE.sub("", text)):
            path, _, anchor = target.partition("#")
            if "://" in target or target.startswith("mailto:"):
                continue
            page = (ROOT / name).parent / path if path else ROOT / name
            if not page.exists() or (anchor and anchor not in _anchors(page)):
                broken.append(f"{name}: {target}")
    assert broken == []


def test_every_page_is_reached_from_the_readme(texts: dict[str, str]) -> None:
    found, rest = set[Path](), [ROOT / "README.md"]
    while rest:
        page = rest.pop()
        if page.is_dir():
            page /= "README.md"
        if page in found or page.suffix != ".md" or not page.is_file():
            continue
        found.add(page)
        targets = LINK.findall(FENCE.sub("", page.read_text()))
        rest += [(page.parent / target.partition("#")[0]).resolve() for target in targets if "://" not in target]
    pages = {name for name in texts if name.startswith("docs/") and name.endswith(".md")}
    assert sorted(pages - {page.relative_to(ROOT).as_posix() for page in found}) == []


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_python_file_says_what_it_holds(texts: dict[str, str]) -> None:
    sources = {name: text for name, text in texts.items() if name.endswith(".py")}
    assert [name for name, text in sources.items() if not ast.get_docstring(ast.parse(text))] == []


def test_tools_leave_nothing_behind() -> None:
    assert [path.name for path in ROOT.glob("tiree-crash-*")] == []
