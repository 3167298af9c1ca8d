"""What the execution model asks of other flags."""

from __future__ import annotations

from collections.abc import Sequence

from tiree.tools.flags import fail

ASYNC = ("async-internal", "async-external")
HOST, STATIC, DYNAMIC = "host-only", "inline-static", "inline-dynamic"
MODELS = (*ASYNC, HOST, STATIC, DYNAMIC)
INLINE_BACKEND = "vmvx-inline"
"""The backend whose kernels are part of the host program."""
_FLAG = "--iree-execution-model"


def default_backend(model: str) -> str:
    """The backend of local devices where none is named."""
    return INLINE_BACKEND if model == STATIC else "llvm-cpu"


def check_model(model: str, backends: Sequence[str], devices: Sequence[str]) -> None:
    """Raises `CompileError` for backends or devices that a program of that model cannot have."""
    if model == STATIC and set(backends) != {INLINE_BACKEND}:
        named = ", ".join(one for one in backends if one != INLINE_BACKEND)
        raise fail(
            f"{_FLAG}={model} makes kernels part of the host program, and {named} makes files of machine code",
            f"leave the backend out, name {INLINE_BACKEND}, or use {_FLAG}={DYNAMIC}",
        )
    if model != STATIC and INLINE_BACKEND in backends:
        raise fail(
            f"{INLINE_BACKEND} makes kernels part of the host program, and {_FLAG}={model} has them in files",
            f"use {_FLAG}={STATIC}, or the backend vmvx",
        )
    if model in (STATIC, DYNAMIC) and len(devices) > 1:
        raise fail(f"{_FLAG}={model} makes programs without devices, and several are named", "name one, or none")
