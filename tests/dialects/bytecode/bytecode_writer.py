"""Programs and their bytecode by MLIR's own writer, and modules in a form that can be compared."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from tiree.dialects import get_context, print_module, read_module
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Attribute

CORPUS = Path(__file__).parents[1] / "syntax/corpus"


def normal(attribute: Attribute) -> Attribute:
    """Dictionaries in one order."""
    if isinstance(attribute, DictionaryAttr):
        return DictionaryAttr({key: normal(value) for key, value in sorted(attribute.data.items())})
    if isinstance(attribute, ArrayAttr):
        return ArrayAttr([normal(one) for one in attribute.data])
    return attribute


def shown(source: bytes | str, *, locations: bool = True) -> str:
    """The module as text that is the same for the same module: attributes sorted, empty ones of arguments left out."""
    data = source.encode() if isinstance(source, str) else source
    module = read_module(data, get_context(allow_unregistered=True), "m")
    for op in module.walk():
        for attributes in (op.properties, op.attributes):
            found = {key: normal(value) for key, value in sorted(attributes.items())}
            attributes.clear()
            attributes.update(found)
        for key in ("arg_attrs", "res_attrs"):
            if key in op.properties and set(map(str, op.properties[key].data)) == {"{}"}:
                del op.properties[key]
    return print_module(module, True, debuginfo=locations)


class Writer:
    """jaxlib's MLIR: a module from text, as text in the generic form, and as bytecode of every kind."""

    def __init__(self, text: str | None = None, *, module: Any = None) -> None:
        mlir = pytest.importorskip("jax.interpreters.mlir", reason="bytecode is written by jaxlib's MLIR")
        from jaxlib.mlir import ir
        from jaxlib.mlir.dialects import stablehlo

        self.stablehlo = stablehlo
        if module is None:
            with mlir.make_ir_context():
                module = ir.Module.parse(text)
        self.module = module

    def text(self, *, locations: bool = True) -> str:
        return self.module.operation.get_asm(print_generic_op_form=True, enable_debug_info=locations)

    def bytecode(self, version: int | None = None) -> bytes:
        written = io.BytesIO()
        self.module.operation.write_bytecode(written, desired_version=version)
        return written.getvalue()

    def portable(self, version: str = "") -> bytes:
        """Made from a copy: what is serialized turns into VHLO."""
        with self.module.context:
            copy = type(self.module).parse(self.bytecode())
        return self.stablehlo.serialize_portable_artifact(copy, version or self.stablehlo.get_current_version())

    def upgraded(self, artifact: bytes) -> str:
        """What jaxlib reads from a portable artifact, as text."""
        with self.module.context as context:
            read = self.stablehlo.deserialize_portable_artifact(context, artifact)
            return read.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)


def network(seed: int = 0) -> Any:
    """A small JAX program with constants of several types, calls, loops, reductions with regions, and its arguments."""
    jax = pytest.importorskip("jax", reason="programs are made by JAX")
    import jax.numpy as jnp
    import numpy as np

    rng = np.random.default_rng(seed)
    weights = rng.standard_normal((4, 3)).astype(np.float32)
    mask = rng.random(25) > 0.5

    def function(x):
        y = jnp.sin(x) @ weights
        y = jax.lax.fori_loop(0, 3, lambda i, v: v * 0.5 + i, y)
        z = jnp.where(mask[:3], y.sum(axis=0), jnp.float32(1))
        return (
            z,
            jnp.argmax(x),
            mask,
            jnp.take(z, jnp.array([0, 2])),
            jax.lax.conv(y[None, None], y[None, None], (1, 1), "SAME"),
        )

    return jax, function, jax.ShapeDtypeStruct((2, 4), np.float32)
