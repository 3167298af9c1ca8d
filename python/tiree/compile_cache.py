"""Compilations that have been done before: which job is the same as another, and where its output is kept.

The key is a digest of all that the output is made from: the input and its name, the options that change the artifact,
the machine's CPU where they leave the choice to it, and the compiler itself with the packages that it uses.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import sys
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING

from tiree.support.errors import CompileError
from tiree.support.file_cache import FileCache, windows
from tiree.support.sources import Data, give_back, is_onnx
from tiree.version import VERSION

if TYPE_CHECKING:
    from tiree.driver import Job
    from tiree.support.options import CompileOptions

_FORM = "tiree compile cache 1"
_PACKAGES = ("xdsl", "llvmlite", "numpy")


def cache_of(job: Job) -> tuple[FileCache, str] | None:
    """Where the output of `job` is kept, and its key; None if it is not to be kept.

    Only whole compilations are: not those that print or dump on the way, not those with plugins, whose code may
    change without a sign, and not those that read or write files of parameters, as ONNX models may.
    """
    options = job.options
    if not options.cache_dir or (job.compile_from, job.compile_to) != ("start", "end"):
        return None
    watched = any(observer.needs_passes for observer in job.observers)
    if watched or job.vm_listing or options.dump_intermediates_to or options.extensions.origins:
        return None
    if is_onnx(job.source, job.name):
        return None
    if options.parameter_import or options.parameter_export or options.parameter_splat:
        return None
    hashed = hashlib.blake2b(digest_size=32)
    try:
        parts = (_FORM, VERSION, compiler_identity(), job.name, *_described(options))
    except CompileError:
        return None  # What is wrong with the target is for the compilation to say.
    for part in parts:
        hashed.update(f"{len(part)}:{part}\n".encode(errors="surrogateescape"))
    _hash_source(hashed, job.source)
    return FileCache(options.cache_dir, options.cache_size), hashed.hexdigest()


def _hash_source(hashed: hashlib.blake2b, source: Data) -> None:
    if isinstance(source, mmap.mmap):
        with memoryview(source) as view:
            for part in windows([view]):
                hashed.update(part)
                part.release()
                give_back(source)
    else:
        hashed.update(source)


def _described(options: CompileOptions) -> list[str]:
    """Every option that can change the artifact, and the CPU that `host` stands for."""
    named = [one for one in fields(options) if one.compare and one.name != "extensions"]
    parts = [f"{one.name}={getattr(options, one.name)!r}" for one in named]
    parts.append(f"recorded={options.recorded_flags!r}")
    cpu, features = options.llvmcpu_target_cpu, options.llvmcpu_target_cpu_features
    if "host" in cpu or "host" in features or not options.llvmcpu_target_triple:
        from tiree.support.cpu_variants import resolve_cpu_targets

        limit = options.llvmcpu_stack_allocation_limit
        parts.append(repr(resolve_cpu_targets(options.llvmcpu_target_triple, cpu, features, limit)))
    return parts


@cache
def compiler_identity() -> str:
    """Changes with every change of the compiler's files, of Python, and of the packages that it uses."""
    from importlib.metadata import PackageNotFoundError, version

    root = os.path.dirname(os.path.abspath(__file__))
    found: list[str] = [sys.version, sys.byteorder]
    for package in _PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} ?")
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(one for one in folders if one not in ("__pycache__", "runtime"))
        for name in sorted(names):
            if name.endswith((".py", ".so")):  # Constants are computed by the runtime, which is native.
                status = os.stat(os.path.join(folder, name))
                place = os.path.relpath(os.path.join(folder, name), root)
                found.append(f"{place} {status.st_size} {status.st_mtime_ns}")
    return hashlib.blake2b("\n".join(found).encode(errors="surrogateescape"), digest_size=16).hexdigest()
