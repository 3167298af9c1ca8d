"""What a program can be: text, files, JAX functions, lowered and exported JAX programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiree.dialects import read_module
from tiree.frontends import load_program
from tiree.support.errors import CompileError
from tiree.support.locations import location_of

TEXT = "func.func @f() {\n  return\n}\n"


def test_text_and_files(tmp_path: Path) -> None:
    assert load_program(TEXT) == (TEXT.encode(), "<input>")
    assert load_program(TEXT.encode()) == (TEXT.encode(), "<input>")
    path = tmp_path / "f.mlir"
    path.write_text(TEXT)
    assert load_program(path) == (TEXT.encode(), str(path))


def test_a_missing_file_and_text_without_line_break() -> None:
    with pytest.raises(CompileError, match=r"missing\.mlir: error: No such file"):
        load_program("missing.mlir")
    assert load_program("module {}") == (b"module {}", "<input>")


def test_programs_of_jax() -> None:
    jax = pytest.importorskip("jax", reason="these programs are made by JAX")
    import jax.numpy as jnp

    def double(x):
        return jnp.sin(x) * 2

    example = jax.ShapeDtypeStruct((3,), jnp.float32)
    jitted = jax.jit(double)
    programs = [
        (double, (example,)),
        (jitted, (example,)),
        (jitted.lower(example), ()),
        (jax.export.export(jitted)(example), ()),
    ]
    for program, arguments in programs:
        text, name = load_program(program, arguments)
        assert name.startswith("<jax ")
        module = read_module(text, filename=name)
        module.verify()
        (sine,) = [op for op in module.walk() if op.name == "stablehlo.sine"]
        assert "test_frontends.py" in location_of(sine)


def test_arguments_that_a_jax_function_does_not_use_are_kept() -> None:
    jax = pytest.importorskip("jax", reason="these programs are made by JAX")
    import jax.numpy as jnp

    def first(x, params, times=1):
        return x * times + params["used"]

    x = jax.ShapeDtypeStruct((3,), jnp.float32)
    params = {"used": x, "unused": jax.ShapeDtypeStruct((2,), jnp.float32)}
    static = jax.jit(first, static_argnums=2)
    kept = jax.jit(first, static_argnums=2, keep_unused=True)
    for program, arguments in ((first, (x, params)), (jax.jit(first), (x, params)), (kept, (x, params, 2))):
        text, name = load_program(program, arguments)
        module = read_module(text, filename=name)
        main = next(op for op in module.walk() if op.name == "func.func")
        assert [str(type) for type in main.regions[0].blocks[0].arg_types][:3] == [
            "tensor<3xf32>",
            "tensor<2xf32>",
            "tensor<3xf32>",
        ]
    with pytest.raises(CompileError, match="JAX drops 1 of the 3 arguments"):
        load_program(static, (x, params, 2))


def test_big_constants_of_jax_are_kept() -> None:
    jax = pytest.importorskip("jax", reason="these programs are made by JAX")
    import numpy as np

    table = np.arange(5000, dtype=np.float32)
    text, _ = load_program(lambda x: x + table, (jax.ShapeDtypeStruct((5000,), np.float32),))
    (constant,) = [op for op in read_module(text).walk() if op.name == "stablehlo.constant"]
    np.testing.assert_array_equal(constant.properties["value"].to_numpy(), table)
