"""A program: damages a module in many ways and runs each copy; prints what happened, a JSON line for each.

    python flip_bits.py MODULE WORK_FILE [POSITION:BIT | -LENGTH]... -- RUN_MODULE_ARGUMENTS...

`POSITION:BIT` flips one bit, `-LENGTH` keeps only that many bytes. A line is written before a copy is run and another
after it, so that whoever reads them knows which one crashed or hung. Even ones run through `tiree-run-module`'s own
`main`, all through `tiree.runtime.load`.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import traceback
from pathlib import Path


def run(path: Path, arguments: list[str]) -> dict[str, object]:
    """Exit code and output of tiree-run-module; an exception that it lets out is reported as one."""
    from tiree.tools.run_module import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([f"--module={path}", *arguments])
        except BaseException:
            return {"code": None, "out": out.getvalue(), "err": traceback.format_exc()}
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}


def load(data: bytes) -> str:
    """The type of what loading raises; empty when it loads."""
    import tiree.runtime as rt

    try:
        rt.load(data, device="local-sync")
    except Exception as error:
        return type(error).__name__
    return ""


def main() -> None:
    split = sys.argv.index("--")
    module, work, *damages = sys.argv[1:split]
    good = Path(module).read_bytes()
    for damage in damages:
        data = bytearray(good)
        if damage.startswith("-"):
            del data[int(damage[1:]) :]
        else:
            position, bit = map(int, damage.split(":"))
            data[position] ^= 1 << bit
        print(json.dumps({"damage": damage}), flush=True)
        # A new file each time: a mapped one must not change under its reader.
        path = Path(work)
        path.unlink(missing_ok=True)
        path.write_bytes(data)
        result = run(path, sys.argv[split + 1 :])
        print(json.dumps({"damage": damage, "loading": load(bytes(data)), **result}), flush=True)


if __name__ == "__main__":
    main()
