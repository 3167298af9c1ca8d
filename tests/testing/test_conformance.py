"""The conformance command: its suites read what they should, judge rightly, and survive programs that crash."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiree.testing.conformance.case import (
    CRASHED,
    FAILED,
    PASS,
    REFUSED,
    SKIPPED,
    SLOW,
    WRONG,
    Case,
    Skip,
    Verdict,
    Work,
)
from tiree.testing.conformance.command import main
from tiree.testing.conformance.comparison import almost_equal, difference, equal, within_ulps
from tiree.testing.conformance.drawn_programs import work_of
from tiree.testing.conformance.draws import DRAWS
from tiree.testing.conformance.execute import execute, op_names
from tiree.testing.conformance.factors import check_general, check_largest, check_singular, check_symmetric
from tiree.testing.conformance.interpreter_tests import InterpreterTests
from tiree.testing.conformance.page import page
from tiree.testing.conformance.tally import SuiteResult
from tiree.testing.conformance.workers import judge_all

BAD = (WRONG, CRASHED, FAILED, SLOW)

CHECKED = """// RUN: somehow
func.func @right() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.constant dense<2.0> : tensor<2xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<2xf32>
  %3 = stablehlo.constant dense<[2.0, 4.0]> : tensor<2xf32>
  check.expect_eq_const %2, dense<[2.0, 4.0]> : tensor<2xf32>
  check.expect_almost_eq_const %2, dense<[2.05, 4.0]> : tensor<2xf32>, tolerance = 0.1
  check.expect_almost_eq %2, %3 : tensor<2xf32>
  check.expect_close %2, %3, max_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>
  func.return
}

// -----

func.func @wrong_at_two() {
  %0 = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %1 = stablehlo.add %0, %0 : tensor<3xi32>
  check.expect_eq_const %1, dense<[2, 5, 6]> : tensor<3xi32>
  func.return
}

func.func @small_integers() {
  %0 = stablehlo.constant dense<[1, -2, 3]> : tensor<3xi4>
  %1 = stablehlo.add %0, %0 : tensor<3xi4>
  check.expect_eq_const %1, dense<[2, -4, 6]> : tensor<3xi4>
  func.return
}

// -----

func.func @several() {
  %0 = "interpreter.run_parallel"() {programs = [["a"]]} : () -> tensor<i32>
  check.expect_eq_const %0, dense<1> : tensor<i32>
  func.return
}

// -----

func.func @refused() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %1 = "stablehlo.custom_call"(%0) {call_target_name = "none.such"} : (tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %1, dense<[1, 2]> : tensor<2xi32>
  func.return
}
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "stablehlo" / "tests" / "interpret" / "deeper"
    folder.mkdir(parents=True)
    (folder / "some.mlir").write_text(CHECKED)
    return tmp_path


@pytest.mark.parametrize("keep", [False, True])
def test_interpreter_tests_are_read_and_judged(clone: Path, keep: bool) -> None:
    suite = InterpreterTests(str(clone), keep)
    assert suite.missing() is None
    cases = suite.cases()
    verdicts = {case.name: execute(case) for case in cases}
    found = {name.rpartition(":")[2]: verdict.status for name, verdict in verdicts.items()}
    assert found == {
        "right": PASS,
        "wrong_at_two": WRONG,
        "small_integers": PASS,
        "several": SKIPPED,
        "refused": REFUSED,
    }
    wrong = verdicts["deeper/some/1:wrong_at_two"]
    assert wrong.detail == "result 0: 1 of 3 values off, the first 4 instead of 5"
    arguments = [len(case.load().arguments) for case in cases if case.name.endswith(":right")]
    assert arguments == [0 if keep else 2], "constants that only checks use are no arguments"


def test_suites_that_are_not_there_are_skipped(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--suite=interpreter"]) == 0
    assert "not run: no clone" in capsys.readouterr().out


def test_command_counts_and_writes(clone: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = tmp_path / "page.md", tmp_path / "out.json"
    flags = [f"--stablehlo={clone}", "--suite=interpreter", "--jobs=1", f"--page={files[0]}", f"--json={files[1]}"]
    assert main(flags) == 1
    out = capsys.readouterr()
    assert out.err == "", "a progress bar is for terminals"
    assert "interpreter tests, constants as arguments: 2 of 4 pass" in out.out
    assert "1/2  stablehlo.add  <- fails" in out.out
    text = files[0].read_text()
    assert str(tmp_path) not in text
    assert "| `stablehlo.add` | 1/2 |" in text
    assert "1 runs several processes" in text
    assert "wrong: result N: values off" not in text
    assert "`deeper/some/1:wrong_at_two`: result 0: 1 of 3 values off" in text
    cases = json.loads(files[1].read_text())["suites"]["interpreter"]["cases"]
    assert [case["status"] for case in cases] == [PASS, WRONG, PASS, SKIPPED, REFUSED]
    again = tmp_path / "again.md"
    assert main(["--suite=interpreter", f"--reuse={files[1]}", f"--page={again}"]) == 1
    assert "2 of 4 pass" in capsys.readouterr().out
    assert again.read_text().partition("## Totals")[2] == text.partition("## Totals")[2]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--suite=interpreter"], "--stablehlo=DIR --suite=interpreter"),
        (["--suite=interpreter,interpreter"], "--stablehlo=DIR --suite=interpreter"),
        (
            ["--suite=interpreter", "--filter=right|all one"],
            "--stablehlo=DIR --suite=interpreter '--filter=right|all one'",
        ),
        (["--suite=interpreter", "--list=names"], "--stablehlo=DIR --suite=interpreter --list=FILE"),
        (
            ["--suite=interpreter", "--device=local-task", "--timeout=77.5", "--sample=1", "--seed=-3"],
            "--stablehlo=DIR --suite=interpreter --sample=1 --seed=-3 --device=local-task --timeout=77.5",
        ),
        (["--suite=interpreter,interpreter-keep", "--reuse=a,b"], None),
    ],
)
def test_the_page_says_what_wrote_it(
    flags: list[str], words: str | None, clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every flag that changes what the page says is in its command, and a suite named twice counts once."""
    monkeypatch.chdir(tmp_path)
    cases = InterpreterTests(str(clone), keep=False).cases()
    Path("names").write_text("\n".join(case.name for case in cases if "right" in case.name))
    entry = {"title": "T", "reason": "", "size": 0, "cases": []}
    for name, suite in (("a", "interpreter"), ("b", "interpreter-keep")):
        Path(name).write_text(json.dumps({"seed": 0, "suites": {suite: entry | {"reason": "absent"}}}))
    main([f"--stablehlo={clone}", "--jobs=1", "--page=page.md", *flags])
    text = Path("page.md").read_text()
    words = words or "--stablehlo=DIR --suite=interpreter,interpreter-keep --reuse=FILE,FILE"
    assert f"python -m tiree.testing.conformance {words} --page=docs/reference/conformance.md\n" in text
    device = next((flag.partition("=")[2] for flag in flags if flag.startswith("--device=")), "local-sync")
    assert f"run on `{device}` and compared" in text
    assert text.partition("## Totals")[2].partition("## By op")[0].count("constants as arguments |") <= 1


@pytest.mark.parametrize(
    ("suite", "cases", "changed", "refused"),
    [
        ("random", 2, {"seed": 7}, "random is of --seed=7, not of --seed=0"),
        ("interpreter", 1, {"seed": 7}, "interpreter is of --seed=7, not of --seed=0"),
        ("interpreter", 2, {"seed": 7}, ""),
        ("interpreter-keep", 1, {"seed": 7}, ""),
        ("interpreter", 2, {"device": "local-task"}, "ran on --device=local-task, not on --device=local-sync"),
        ("random", 2, {"seed": 0}, ""),
        ("random", 2, {}, ""),
        ("random", 2, {"seed": "x"}, "earlier.json is not what --json writes"),
    ],
)
def test_only_results_of_what_is_asked_for_are_reused(
    suite: str, cases: int, changed: dict[str, object], refused: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A seed matters for random programs and for samples, of the suites that are asked for."""
    verdicts = [{"name": f"op/f32/{at}", "subject": "op", "status": PASS, "ops": []} for at in range(cases)]
    entry = {"title": "T", "reason": "", "size": 2, "cases": verdicts}
    whole = {"title": "T", "reason": "", "size": 2, "cases": verdicts * 2}
    file = tmp_path / "earlier.json"
    file.write_text(json.dumps({"seed": 0, "suites": {"interpreter": whole, suite: entry}} | changed))
    asked = suite if suite != "interpreter-keep" else "interpreter"
    flags = [f"--suite={asked}", f"--reuse={file}"]
    if not refused:
        assert main(flags) == 0
        return
    with pytest.raises(SystemExit) as raised:
        main(flags)
    assert raised.value.code == 2
    assert refused in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flag", "text"),
    [
        ("--filter=(", "is not a regular expression"),
        ("--filter=zzz", "no case of interpreter is in what --filter and --list choose"),
        ("--timeout=0", "not a positive number of seconds"),
        ("--timeout=soon", "not a positive number of seconds"),
        ("--timeout=inf", "not a positive number of seconds"),
        ("--list=absent.txt", "cannot read absent.txt"),
        ("--reuse=absent.json", "absent.json"),
        ("--reuse=broken.json", "broken.json is not what --json writes"),
        ("--reuse=other.json", "other.json is not what --json writes"),
        ("--json=absent/x.json", "cannot write absent/x.json"),
        ("--page=.", "cannot write ."),
        ("--stablehlo=absent", "absent is no clone of StableHLO"),
        ("--device=foo", "foo"),
    ],
)
def test_flags_that_lead_nowhere(
    flag: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Said at once, with exit status 2: nothing is judged, and nothing passes for having been judged."""
    folder = tmp_path / "stablehlo" / "tests" / "interpret"
    folder.mkdir(parents=True)
    (folder / "some.mlir").write_text(CHECKED)
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "other.json").write_text('{"suites": [1]}')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as raised:
        main(["--suite=interpreter", f"--stablehlo={tmp_path}", "--jobs=1", flag])
    assert raised.value.code == 2
    assert text in capsys.readouterr().err


def test_an_interrupted_run_ends_its_workers_and_says_so(tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text(
        "import os, signal, sys, threading\n"
        "from tiree.testing.conformance import command, workers\n"
        "start = workers.subprocess.Popen\n"
        "def started(*args, **kwargs):\n"
        "    process = start([sys.executable, '-c', 'import time; time.sleep(60)'], **kwargs)\n"
        "    print(process.pid, flush=True)\n"
        "    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "    return process\n"
        "workers.subprocess.Popen = started\n"
        "sys.exit(command.main(['--suite=interpreter', '--stablehlo=.', '--jobs=1']))\n"
    )
    folder = tmp_path / "stablehlo" / "tests" / "interpret"
    folder.mkdir(parents=True)
    (folder / "some.mlir").write_text(CHECKED)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ended = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=30
    )
    assert ended.returncode == 130
    assert ended.stderr == "interrupted\n"
    with pytest.raises(ProcessLookupError):
        os.kill(int(ended.stdout.split()[0]), 0)


def test_a_program_that_ends_its_process_or_hangs_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "worker.py"
    script.write_text(
        "import json, os, sys, time\n"
        "for line in sys.stdin:\n"
        "    name = json.loads(line)\n"
        "    if name != 'oracle': print('loaded', flush=True)\n"
        "    if name in ('oracle', 'crash'): os.kill(os.getpid(), 11)\n"
        "    if name == 'hang': time.sleep(60)\n"
        "    print(json.dumps(dict(name=name, subject='', status='pass', ops=[])), flush=True)\n"
    )
    monkeypatch.setattr("tiree.testing.conformance.workers.COMMAND", (sys.executable, str(script)))

    def never() -> Work:
        raise AssertionError

    cases = [Case(name, "", never) for name in ("a", "crash", "b", "hang", "c", "oracle")]
    told: list[Verdict] = []
    verdicts = judge_all([], cases, 1, 1.5, told.append, str(tmp_path))
    assert [verdict.status for verdict in verdicts] == [PASS, CRASHED, PASS, SLOW, PASS, SKIPPED]
    assert verdicts[1].detail == "the process ended with SIGSEGV"
    assert verdicts[5].detail == "the oracle's process ends on it"
    assert len(told) == 6


def test_page_lists_failures_by_reason() -> None:
    verdicts = [
        Verdict("a", "add", PASS, ops=("stablehlo.add",)),
        Verdict("b", "add", REFUSED, "error: stablehlo.add on i3 | error: more", ops=("stablehlo.add",)),
        Verdict("c", "add", REFUSED, "error: stablehlo.add on i5", ops=("stablehlo.add", "stablehlo.abs")),
        Verdict("d", "abs", SKIPPED, "no such thing"),
    ]
    results = [SuiteResult("jax32", "JAX primitives", verdicts, size=9), SuiteResult("x", "X", reason="absent")]
    drawn = [Verdict(f"stablehlo.add/{element}/0", "add", PASS) for element in ("f32", "f32", "i4")]
    text = page([*results, SuiteResult("programs", "programs", drawn)], "command", 0)
    assert "| `f32` | 2/2 |\n| `i4` | 1/1 |" in text
    assert "| JAX primitives | 1 | 3 | 33.3% | a sample of 4 of 9; 1 no such thing |" in text
    assert "| X |  |  |  | not run: absent |" in text
    assert "| `stablehlo.abs` | 0/1 |" in text
    assert "- refused: stablehlo.add on iN (2)\n  - `b`\n  - `c`\n" in text


def test_comparisons() -> None:
    one = np.array([1.0, np.nan, np.inf], np.float32)
    assert difference(one, one) is None
    assert difference(one, one.astype(np.float64)) == "element type float64 instead of float32"
    assert difference(one, one[:2]) == "shape [2] instead of [3]"
    assert difference(one, np.array([1.0, np.nan, -np.inf], np.float32)) is not None
    assert difference(np.array([255], np.uint8), np.array([-1], np.int8)) is None
    # Where something is added up, small terms are lost beside a large one; nowhere else.
    large, lost, tiny = (np.array([3e38, each], np.float32) for each in (1.0, 2.0, 1e-39))
    assert difference(large, lost) is None
    assert difference(large, lost, sums=False) == "1 of 2 values off, the first 2.0 instead of 1.0"
    assert difference(np.array([3e38, 0], np.float32), tiny, sums=False) is None
    assert difference(np.array([True]), np.array([1], np.int8)) is None
    assert equal(one, one) is None
    assert equal(one, one * np.float32(1 + 2**-22)) is not None
    assert almost_equal(one, one + np.float32(1e-5), 1e-4) is None
    step = np.nextafter(one[:1], np.float32(2))
    assert within_ulps(one[:1], np.nextafter(step, np.float32(2)), 2) is None
    assert within_ulps(one[:1], np.nextafter(step, np.float32(2)), 1) is not None
    tiny = np.array([1e-45], np.float32)
    assert within_ulps(tiny, -tiny, 2) is None
    assert within_ulps(np.array([np.inf], np.float32), np.array([3.4028235e38], np.float32), 5) is not None


@pytest.mark.parametrize("sums", [True, False])
def test_floats_of_every_width_compare(sums: bool) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    names = [name for name in dir(ml_dtypes) if name.startswith(("float", "bfloat"))]
    assert len(names) > 10
    for name in names:
        dtype = np.dtype(getattr(ml_dtypes, name))
        values = np.array([1, 2, 4], np.float32).astype(dtype)
        assert difference(values, values, sums=sums) is None, name
        assert difference(values, values[::-1].copy(), sums=sums) is not None, name
        assert almost_equal(values, values, 1e-4) is None, name


def test_factors_may_differ_by_signs_but_not_in_what_they_are_for() -> None:
    random = np.random.RandomState(0)
    a = random.uniform(-1, 1, (2, 5, 5)).astype(np.float32)
    symmetric = a + np.swapaxes(a, 1, 2)
    values, vectors = np.linalg.eigh(symmetric)
    signs = np.float32([1, -1, -1, 1, -1])
    assert check_symmetric(symmetric, True, [vectors, values], [vectors * signs, values]) is None
    assert check_symmetric(symmetric, True, [vectors, values], [vectors[..., ::-1], values]) is not None
    assert check_symmetric(symmetric, True, [vectors, values], [vectors, values[..., ::-1]]) is not None
    u, s, vh = np.linalg.svd(a)
    assert check_singular(a, [s, u, vh], [s, u * signs, vh * signs[:, None]]) is None
    assert check_singular(a, [s, u, vh], [s, u * signs, vh]) is not None
    assert check_singular(a, [s], [s * 2]) is not None
    w, v = np.linalg.eig(a)
    assert check_general(a, False, True, [w, v], [w[..., ::-1], v[..., ::-1]]) is None
    assert check_general(a, False, True, [w, v], [w[..., ::-1], v]) is not None
    assert check_general(a, False, True, [w, v], [w * 2, v]) is not None


def test_largest_elements_may_be_any_of_equal_ones() -> None:
    operand = np.array([[3.0, 7.0, 7.0, 1.0]], np.float32)
    wanted = [np.array([[7.0, 7.0]], np.float32), np.array([[1, 2]], np.int32)]
    assert check_largest(operand, wanted, wanted) is None
    assert check_largest(operand, wanted, [wanted[0], np.array([[2, 1]], np.int32)]) is None
    for places, why in (([1, 1], "twice"), ([1, 0], "elements at the indices"), ([1, 4], "out of range")):
        assert why in (check_largest(operand, wanted, [wanted[0], np.array([places], np.int32)]) or "")
    assert "values" in (check_largest(operand, wanted, [operand[:, :2], wanted[1]]) or "")


def test_ops_of_a_program() -> None:
    text = """#a = #stablehlo.gather<>
    %0 = stablehlo.add %a, %b {mhlo.num_partitions = 1} : !stablehlo.token
    %1 = "chlo.erf"(%0) <{x = #stablehlo.dot<>}>"""
    assert op_names(text) == ("chlo.erf", "stablehlo.add")


PAIRS = [(op, element) for op, entry in DRAWS.items() for element in entry.elements]


@settings(max_examples=40)
@given(st.sampled_from(PAIRS), st.integers(0, 2**31))
def test_random_programs_agree_with_xla(pair: tuple[str, str], number: int) -> None:
    case = Case("", pair[0], lambda: work_of(*pair, number))
    verdict = execute(case)
    assert verdict.status not in BAD, verdict.detail


@pytest.mark.parametrize("suite", ["jax32", "jax64"])
def test_some_harnesses_of_jax(suite: str) -> None:
    pytest.importorskip("absl", reason="absl-py, which JAX's harnesses need, is not installed")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tiree.testing.conformance",
            f"--suite={suite}",
            "--sample=25",
            "--seed=1",
            "--jobs=1",
            "--json=out.json",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    cases = json.loads(Path("out.json").read_text())["suites"][suite]["cases"]
    assert len(cases) == 25
    assert [case for case in cases if case["status"] in BAD] == []
    assert sum(case["status"] == PASS for case in cases) > 15


def test_a_case_that_cannot_be_judged() -> None:
    def load() -> Work:
        raise Skip("why")

    verdict = execute(Case("name", "op", load))
    assert (verdict.status, verdict.detail) == (SKIPPED, "why")
