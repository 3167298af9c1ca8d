"""Cases in processes of their own, many in each: a crash or a hang ends one case, and the next gets a new process.

A worker reads names of cases, one JSON text a line, and answers with verdicts likewise. What the program under test
prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import queue
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict

from tiree.testing.conformance.case import CRASHED, SKIPPED, SLOW, Case, Suite, Verdict
from tiree.testing.conformance.execute import execute

COMMAND = (sys.executable, "-m", "tiree.testing.conformance")
"""What a worker is started with."""

_LOADED = "loaded"
"""What a worker says between the oracle's part of a case and Tiree's."""


def serve(suite: Suite, device: str) -> None:
    """The worker's side: until its input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    by_name = {case.name: case for case in suite.cases()}

    def answer(text: str) -> None:
        answers.write(text + "\n")
        answers.flush()

    for line in sys.stdin:
        verdict = execute(by_name[json.loads(line)], device, lambda: answer(_LOADED))
        answer(json.dumps(asdict(verdict)))


class _Worker:
    """A process that judges cases, started when the first comes and again after a crash."""

    def __init__(self, command: Sequence[str], timeout: float, folder: str) -> None:
        self._command = list(command)
        self._folder = folder
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._pending = b""

    def judge(self, case: Case) -> Verdict:
        """Raises RuntimeError when a fresh process ends before it could take the case: that is a fault of the suite."""
        process = self._started()
        assert process.stdin is not None
        process.stdin.write(json.dumps(case.name).encode() + b"\n")
        process.stdin.flush()
        line = self._line(process)
        is_loaded = line == _LOADED.encode()
        if is_loaded:
            line = self._line(process)
        if line is None:
            self.close(kill=True)
            late = f"took over {self._timeout:g} s"
            if not is_loaded:
                return Verdict(case.name, case.subject, SKIPPED, "the oracle takes too long")
            return Verdict(case.name, case.subject, SLOW, late, seconds=self._timeout)
        if not line:
            code = process.wait()
            self.close()
            if code > 0:
                raise RuntimeError(f"the worker for {case.name} ended with status {code}")
            if not is_loaded:
                return Verdict(case.name, case.subject, SKIPPED, "the oracle's process ends on it")
            return Verdict(case.name, case.subject, CRASHED, f"the process ended with {signal.Signals(-code).name}")
        answer = json.loads(line)
        answer["ops"] = tuple(answer["ops"])
        return Verdict(**answer)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            pipe = subprocess.PIPE
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))}
            self._process = subprocess.Popen(
                self._command, stdin=pipe, stdout=pipe, cwd=self._folder, env=environment, start_new_session=True
            )
            self._pending = b""
        return self._process

    def _line(self, process: subprocess.Popen[bytes]) -> bytes | None:
        """The next line; empty when the process has ended, None when it takes too long."""
        assert process.stdout is not None
        descriptor = process.stdout.fileno()
        while b"\n" not in self._pending:
            ready, _, _ = select.select([descriptor], [], [], self._timeout)
            if not ready:
                return None
            read = os.read(descriptor, 1 << 16)
            if not read:
                return b""
            self._pending += read
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def close(self, kill: bool = False) -> None:
        """Ends the process."""
        process, self._process = self._process, None
        if process is None:
            return
        if kill:
            process.kill()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.stdout.close()
        process.wait()


def judge_all(
    suite_flags: Sequence[str],
    cases: Sequence[Case],
    jobs: int,
    timeout: float,
    tell: Callable[[Verdict], None],
    folder: str,
) -> list[Verdict]:
    """Verdicts in the order of `cases`. `suite_flags` make a worker, whose current folder is `folder`, build the suite
    that they are of."""
    waiting: queue.SimpleQueue[tuple[int, Case]] = queue.SimpleQueue()
    for item in enumerate(cases):
        waiting.put(item)
    done: dict[int, Verdict] = {}
    failures: list[BaseException] = []
    lock = threading.Lock()
    command = [*COMMAND, *suite_flags]
    workers = [_Worker(command, timeout, folder) for _ in range(max(1, min(jobs, len(cases))))]

    def work(worker: _Worker) -> None:
        try:
            while not failures:
                try:
                    index, case = waiting.get_nowait()
                except queue.Empty:
                    break
                verdict = worker.judge(case)
                with lock:
                    done[index] = verdict
                    tell(verdict)
        except BaseException as error:
            failures.append(error)
        finally:
            worker.close()

    threads = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt as error:
        failures.append(error)
        for worker in workers:
            worker.close(kill=True)
        raise
    if failures:
        raise failures[0]
    return [done[index] for index in sorted(done)]
