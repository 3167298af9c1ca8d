"""The page in a headless Chromium, opened as a file: what it draws, and what clicks and keys do.

Skipped where there is no Chromium; `make browser` installs one. `TIREE_BROWSER` names another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from report.browser import Browser, find_browser
from report.programs import ADD, CHAIN, DYNAMIC, HOSTILE, HOSTILE_PROGRAM, LOOP, long_program, read_page, write_page

BROWSER = find_browser()
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed: `make browser` installs one")
PROGRAMS = {
    "add": ADD,
    "chain": CHAIN,
    "loop": LOOP,
    "dynamic": DYNAMIC,
    "hostile": HOSTILE_PROGRAM,
    "long": long_program(120),
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    assert BROWSER is not None
    browser = Browser(BROWSER, tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    for name, program in PROGRAMS.items():
        write_page(program, folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in PROGRAMS}


def texts(browser: Browser, selector: str) -> list[str]:
    return browser.evaluate(f"[...document.querySelectorAll({selector!r})].map((e) => e.textContent)")


def count(browser: Browser, selector: str) -> int:
    return browser.evaluate(f"document.querySelectorAll({selector!r}).length")


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_dispatch_and_every_tensor_is_drawn(browser: Browser, pages: dict[str, Path], name: str) -> None:
    data = read_page(pages[name]).data
    browser.open(pages[name])
    assert browser.evaluate("document.documentElement.dataset.ready") == "true"
    assert browser.problems == []
    (graph,) = data["graphs"]
    assert count(browser, "#graph .node") == len(graph["nodes"])
    assert count(browser, "#graph .node.dispatch") == sum(node["kind"] == "dispatch" for node in graph["nodes"])
    assert count(browser, "#graph .edge") == len(graph["edges"])
    assert count(browser, "rect.tensor") == sum(len(plan["tensors"]) for plan in data["memory"])
    assert count(browser, "line.peak") == len(data["memory"])
    assert count(browser, "#dispatch-table tbody tr") == len(data["dispatches"])
    assert count(browser, "details.pass") == sum("added" in step for step in data["passes"])
    assert count(browser, "#artifact-parts tbody tr") == len(data["artifact"]["parts"])
    assert count(browser, "#timing tbody tr") == len(data["passes"])
    shown = browser.evaluate("document.querySelector('main').innerText")
    assert not re.search(r"undefined|NaN|Infinity|\bfalse\b|\bnull\b|\[object", shown)


def test_nodes_do_not_overlap(browser: Browser, pages: dict[str, Path]) -> None:
    for name in ("chain", "loop", "long"):
        browser.open(pages[name])
        boxes = browser.evaluate(
            "[...document.querySelectorAll('.node rect.body')].map((r) => ['x', 'y', 'width', 'height']"
            ".map((a) => Number(r.getAttribute(a))))"
        )
        rows: dict[float, list[tuple[float, float]]] = {}
        for x, y, width, _ in boxes:
            rows.setdefault(y, []).append((x, x + width))
        for row in rows.values():
            row.sort()
            assert all(first[1] < second[0] for first, second in pairwise(row))


def test_rectangles_are_where_the_plan_says(browser: Browser, pages: dict[str, Path]) -> None:
    """In one scale for all: offsets and sizes upwards, commands to the right."""
    (plan,) = read_page(pages["chain"]).data["memory"]
    browser.open(pages["chain"])
    frame, *boxes = browser.evaluate(
        "[...document.querySelectorAll('.plan .frame, rect.tensor')].map((r) => ['x', 'y', 'width', 'height']"
        ".map((a) => Number(r.getAttribute(a))))"
    )
    for (x, y, width, height), tensor in zip(boxes, plan["tensors"], strict=True):
        assert height / frame[3] == pytest.approx(tensor["size"] / plan["slab_bytes"])
        assert 1 - (y + height - frame[1]) / frame[3] == pytest.approx(tensor["offset"] / plan["slab_bytes"], abs=1e-9)
        assert (x - frame[0]) / frame[2] == pytest.approx(tensor["first"] / plan["commands"])
        assert width / frame[2] == pytest.approx((tensor["last"] + 1 - tensor["first"]) / plan["commands"])


def test_a_click_on_a_dispatch_shows_its_kernel(browser: Browser, pages: dict[str, Path]) -> None:
    data = read_page(pages["chain"]).data
    dispatches = [node["dispatch"] for node in data["graphs"][0]["nodes"] if node["kind"] == "dispatch"]
    rows = {row["export"]: row for row in data["dispatches"]}
    browser.open(pages["chain"])
    for number, name in enumerate(dispatches):
        browser.click("#graph .node.dispatch", number)
        assert texts(browser, "#details h3") == [name]
        assert texts(browser, ".node[aria-pressed=true] title, .node[aria-pressed=true]")
        shown = dict(zip(texts(browser, "#details dt"), texts(browser, "#details dd"), strict=True))
        row = rows[name]
        assert shown["Strategy"] == row["strategy"]
        assert shown["Flops"] == f"{row['flops']:,}"
        assert shown["Bytes"].startswith(f"{row['bytes']:,} ")
        assert shown["Workgroups"] == " \u00d7 ".join(map(str, row["workgroups"]))
        kernel = texts(browser, "#details .kernel")[0]
        assert all(line.strip() in kernel for line in row["kernels"][0]["lines"])
    assert browser.problems == []


def test_keys_move_in_the_graph(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["chain"])
    nodes = browser.evaluate("document.querySelectorAll('.node').length")
    assert count(browser, '.node[tabindex="0"]') == 1
    browser.evaluate("document.querySelector('.node[tabindex=\"0\"]').focus()")
    seen = set()
    for _ in range(nodes):
        browser.press("ArrowUp")
    for _ in range(nodes):
        browser.press("Enter")
        seen.add(texts(browser, "#details h3")[0])
        browser.press("ArrowDown")
    assert seen == {node["label"] for node in read_page(pages["chain"]).data["graphs"][0]["nodes"]}


def test_tables_sort(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["chain"])
    column = "#timing tbody td:nth-child({})"
    order = [int(text) for text in texts(browser, column.format(1))]
    assert order != sorted(order)
    browser.click("#timing th button", 0)
    order = [int(text) for text in texts(browser, column.format(1))]
    assert order == sorted(order, reverse=True)
    browser.click("#timing th button", 0)
    order = [int(text) for text in texts(browser, column.format(1))]
    assert order == sorted(order)
    assert texts(browser, "#timing th[aria-sort=ascending] button") == ["Order"]
    browser.click("#timing th button", 1)
    names = texts(browser, column.format(2))
    assert names == sorted(names)
    assert count(browser, "#timing th[aria-sort]") == 1


def test_a_dispatch_of_the_table_opens_in_the_graph(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["chain"])
    name = texts(browser, "#dispatch-table td button")[-1]
    browser.click("#dispatch-table td button", count(browser, "#dispatch-table td button") - 1)
    assert texts(browser, "#details h3") == [name]


def open_passes(browser: Browser) -> None:
    browser.evaluate("document.querySelectorAll('details.pass').forEach((d) => { d.open = true; })")
    browser.evaluate("new Promise((done) => setTimeout(done, 50))")


def test_a_pass_shows_the_lines_that_it_changed(browser: Browser, pages: dict[str, Path]) -> None:
    changed = [step for step in read_page(pages["chain"]).data["passes"] if "added" in step]
    browser.open(pages["chain"])
    open_passes(browser)
    for number, step in enumerate(changed):
        which = f"document.querySelectorAll('details.pass')[{number}]"
        expand = f"{which}.querySelectorAll('button').forEach((b) => {{ while (!b.hidden) b.click(); }})"
        browser.evaluate(expand)
        assert browser.evaluate(f"{which}.querySelectorAll('ins').length") == step["added"]
        assert browser.evaluate(f"{which}.querySelectorAll('del').length") == step["removed"]
    assert browser.problems == []


def test_the_ir_of_a_phase_is_what_the_edits_make(browser: Browser, pages: dict[str, Path]) -> None:
    from tiree.report.diff import applied

    sections: dict[str, list[str]] = {}
    for step in read_page(pages["add"]).data["passes"]:
        for key in step.get("gone", ()):
            del sections[key]
        for key, changes in step.get("sections", {}).items():
            sections[key] = applied(sections.get(key, []), changes)
        if step["phase"] == "flow":
            break
    browser.open(pages["add"])
    shown = browser.evaluate(
        "(async () => { const d = document.querySelector('[data-phase=flow] details.ir'); d.open = true;"
        " await new Promise((done) => setTimeout(done, 50));"
        " return [...d.querySelectorAll('pre > *')].map((e) => e.textContent); })()"
    )
    assert sorted(shown) == sorted(line for lines in sections.values() for line in lines)


def test_search_leaves_what_has_the_text(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["chain"])
    search = "const s = document.getElementById('search'); s.value = {}; s.dispatchEvent(new Event('input'));"
    wait = "await new Promise((done) => setTimeout(done, 300));"
    browser.evaluate(f"(async () => {{ {search.format(repr('FLOW.EXECUTABLE'))} {wait} }})()")
    left = texts(browser, "details.pass:not([hidden]) .name")
    assert "tiree-flow-outline-dispatches" in left
    assert "tiree-stablehlo-to-linalg" not in left
    assert texts(browser, "#found")[0].startswith("found in ")
    open_passes(browser)
    assert {text.lower() for text in texts(browser, "details.pass:not([hidden]) mark")} == {"flow.executable"}
    browser.evaluate(f"(async () => {{ {search.format(repr('no such text'))} {wait} }})()")
    assert count(browser, "details.pass:not([hidden])") == 0
    assert texts(browser, "#found") == ["found in 0 places"]


def test_nothing_of_a_program_runs(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["hostile"])
    open_passes(browser)
    assert browser.evaluate("document.title") == "<input> · Tiree report"
    assert count(browser, "img") == 0
    assert count(browser, "script") == 2
    assert f"@{HOSTILE}" in texts(browser, "#graph-function option")
    assert browser.problems == []


def test_names_come_up_under_the_pointer(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["chain"])
    browser.click("rect.tensor")
    (tip,) = texts(browser, "#tip")
    assert browser.evaluate("document.getElementById('tip').hidden") is False
    assert "written by main_dispatch_" in tip
    assert "last used by main_dispatch_" in tip


def luminance(color: list[float]) -> float:
    parts = [c / 255 / 12.92 if c / 255 <= 0.03928 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in color]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_has_contrast(browser: Browser, pages: dict[str, Path], dark: bool) -> None:
    """WCAG AA: 4.5 to 1, for all text on the colour behind it."""
    browser.open(pages["chain"], dark=dark)
    open_passes(browser)
    pairs: list[tuple[str, list[float], list[float]]] = browser.evaluate("""(() => {
      const parse = (text) => text.match(/[\\d.]+/g).map(Number);
      const found = new Map();
      for (const element of document.querySelectorAll("body *")) {
        if (element.closest("script, style, defs, svg") || element.closest("[hidden]")) continue;
        if (![...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
        let behind = element;
        let color = [0, 0, 0, 0];
        while (behind && (color.length === 4 && color[3] < 1)) {
          color = parse(getComputedStyle(behind).backgroundColor);
          behind = behind.parentElement;
        }
        const ink = parse(getComputedStyle(element).color);
        found.set(JSON.stringify([ink, color]), [element.outerHTML.slice(0, 80), ink, color]);
      }
      return [...found.values()];
    })()""")
    assert len(pairs) > 4
    for name, ink, behind in pairs:
        light, low = sorted((luminance(ink), luminance(behind)), reverse=True)
        assert (light + 0.05) / (low + 0.05) >= 4.5, (name, ink, behind)
    assert luminance(browser_background(browser)) < 0.1 if dark else luminance(browser_background(browser)) > 0.8


def browser_background(browser: Browser) -> list[float]:
    found: Any = browser.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    return found


def test_a_long_program_is_drawn_at_once(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["long"])
    assert count(browser, "#graph .node.dispatch") == 120
    assert count(browser, "#graph .edge.far") > 100
    assert browser.problems == []
