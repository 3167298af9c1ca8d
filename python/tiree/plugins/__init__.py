"""Extending the compiler from outside: what a plugin uses to say what it brings.

A plugin is a Python file or module with a function `register(registry)`; `docs/extending.md` is the guide. Stages know
nothing of this package: they read `CompileOptions.extensions`.
"""

from __future__ import annotations

from tiree.plugins.loading import load_plugins
from tiree.plugins.pipelines import parse_passes
from tiree.plugins.registry import Registry

__all__ = ["Registry", "load_plugins", "parse_passes"]
