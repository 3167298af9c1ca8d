"""`tiree-import-onnx`: an ONNX model as MLIR text, in the form that iree-import-onnx writes and both compilers read."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from tiree.support.errors import CompileError, Diagnostic
from tiree.tools.ending import guarded
from tiree.tools.flags import Flag, ParsedFlags, fail, help_text, parse_flags

USAGE = "tiree-import-onnx [options] <model.onnx>"
FLAGS = (
    Flag("o", "str", "the file to write; - is the standard output", "-", metavar="FILE"),
    Flag("help", "action", "print the flags and exit", False),
    Flag("data-dir", "str", "the folder of weights in files of their own; the model's if empty", "", metavar="DIR"),
    Flag("data-prop", "bool", "infer shapes through computations of shapes", True),
    Flag("opset-version", "int", "bring older models to this opset first", 0),
)
_REFUSED = {"no-verify": "what is written is always checked, which costs little"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; `arguments` default to the command line."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    return guarded("tiree-import-onnx", lambda: _run(parse_flags(given, FLAGS, _REFUSED)))


def _run(parsed: ParsedFlags) -> int:
    if parsed["help"]:
        sys.stdout.write(help_text(USAGE, FLAGS, _REFUSED))
        return 0
    if len(parsed.positional) != 1:
        raise fail("one model is needed", f"usage: {USAGE}")
    text = import_text(parsed.positional[0], parsed)
    if parsed["o"] == "-":
        sys.stdout.write(text)
    else:
        from tiree.support.replacing import replace_file

        replace_file(parsed["o"], text.encode())
    return 0


def import_text(path: str, parsed: ParsedFlags) -> str:
    """The module of a model as text."""
    from tiree.dialects import print_module
    from tiree.frontends.onnx import read_model
    from tiree.pipeline import verify_module
    from tiree.support.sources import open_source

    if not os.path.exists(path):
        raise CompileError(Diagnostic("no such file", path))
    module = read_model(
        open_source(path),
        path,
        data_dir=parsed["data-dir"],
        opset_version=parsed["opset-version"],
        data_prop=parsed["data-prop"],
    )
    verify_module(module)
    return print_module(module, generic=False)


if __name__ == "__main__":
    sys.exit(main())
