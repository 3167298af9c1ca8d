"""A headless Chromium without a driver: its DevTools protocol over two pipes, JSON objects that end in a zero byte."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WAIT = 60.0


def find_browser() -> str | None:
    """The path of a Chromium: what `TIREE_BROWSER` names, or one that is installed."""
    named = os.environ.get("TIREE_BROWSER")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One browser with one page; `problems` are what the page logged as errors or tried to load."""

    def __init__(self, path: str, profile: Path, width: int = 1400, height: int = 1000) -> None:
        command_read, self._write = _pipe()
        self._read, command_write = _pipe()
        log = os.open(profile.with_suffix(".log"), os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        arguments = [path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     "--disable-background-networking", "--disable-extensions", "--remote-debugging-pipe",
                     f"--user-data-dir={profile}", f"--window-size={width},{height}", "about:blank"]  # fmt: skip
        actions = [(os.POSIX_SPAWN_DUP2, command_read, 3), (os.POSIX_SPAWN_DUP2, command_write, 4),
                   (os.POSIX_SPAWN_DUP2, log, 1), (os.POSIX_SPAWN_DUP2, log, 2)]  # fmt: skip
        self._pid = os.posix_spawn(path, arguments, os.environ, file_actions=actions)
        for end in (command_read, command_write, log):
            os.close(end)
        self._buffer = b""
        self._last = 0
        self._session: str | None = None
        self._loaded = False
        self.problems: list[str] = []
        try:
            target = self._send("Target.createTarget", url="about:blank", width=width, height=height)["targetId"]
            self._session = self._send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self._send(f"{domain}.enable")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        os.close(self._write)
        os.close(self._read)
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)

    def open(self, file: Path, *, dark: bool = False) -> None:
        """Opens a file by its file:// address and waits until it is loaded."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._send("Emulation.setEmulatedMedia", features=scheme)
        self._loaded = False
        self.problems.clear()
        self._send("Page.navigate", url=file.resolve().as_uri())
        end = time.monotonic() + WAIT
        while not self._loaded:
            self._receive(end)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression of JavaScript; promises are awaited. Raises `RuntimeError` with its exception."""
        done = self._send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(json.dumps(done["exceptionDetails"])[:2000])
        return done["result"].get("value")

    def click(self, selector: str, index: int = 0) -> None:
        """Presses the mouse in the middle of an element, after it has been scrolled to."""
        found = f"document.querySelectorAll({json.dumps(selector)})[{index}]"
        x, y = self.evaluate(
            f"(() => {{ const e = {found}; e.scrollIntoView({{block: 'center', inline: 'center'}});"
            " const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        self._send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            self._send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str) -> None:
        """Presses a key by its name (`Tab`, `ArrowDown`, `Enter`)."""
        code = {"Enter": 13, "Tab": 9, "ArrowDown": 40, "ArrowUp": 38}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        self._send("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **text)
        self._send("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def screenshot(self, file: Path, *, whole: bool = False) -> None:
        """The window, or the whole page, as PNG."""
        image = self._send("Page.captureScreenshot", captureBeyondViewport=whole)
        if whole:
            size = self._send("Page.getLayoutMetrics")["cssContentSize"]
            clip = {**size, "x": 0, "y": 0, "scale": 1}
            image = self._send("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        file.write_bytes(base64.b64decode(image["data"]))

    def _send(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + WAIT
        while True:
            answer = self._receive(end)
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _receive(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._read], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self._read, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self._buffer += more
        message, _, self._buffer = self._buffer.partition(b"\0")
        answer = json.loads(message)
        self._note(answer.get("method", ""), answer.get("params", {}))
        return answer

    def _note(self, method: str, params: dict[str, Any]) -> None:
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append(json.dumps(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(json.dumps(params["entry"]))
        elif method == "Network.requestWillBeSent" and params.get("type") != "Document":
            self.problems.append(f"loads {params['request']['url']}")
        elif method == "Page.javascriptDialogOpening":
            self.problems.append(f"dialog: {params['message']}")


def _pipe() -> tuple[int, int]:
    """A pipe whose ends have high numbers, out of the way of those that the browser is given."""
    ends = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in ends)
    for end in ends:
        os.close(end)
    return high[0], high[1]
