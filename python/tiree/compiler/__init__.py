"""`tiree.compiler`, in the shape of `iree.compiler`: `compile_str` and `compile_file`; and `run_pass_pipeline`.

They compile in this process; a tool error is a `CompilerToolError` with the diagnostics, as there.
"""

from __future__ import annotations

from tiree.compiler.api import (
    CompilerToolError,
    InputType,
    OutputFormat,
    compile_file,
    compile_str,
    query_available_targets,
    run_pass_pipeline,
)

__all__ = [
    "CompilerToolError",
    "InputType",
    "OutputFormat",
    "compile_file",
    "compile_str",
    "query_available_targets",
    "run_pass_pipeline",
]
