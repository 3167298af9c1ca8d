"""Programs of JAX as JAX gives them, bytecode and not text, whatever they say for XLA only; values against JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiree
from tiree.dialects import print_module, read_module
from tiree.support.errors import CompileError

jax = pytest.importorskip("jax", reason="the programs are made by JAX")
from jax import export  # noqa: E402
from jax import numpy as jnp  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

X = (np.random.default_rng(3).standard_normal((4, 4)) + 5 * np.eye(4)).astype(np.float32)
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "inv": jnp.linalg.inv,
    "qr": lambda x: jnp.linalg.qr(x)[1],
    "cholesky": lambda x: jnp.linalg.cholesky(x @ x.T),
    "solve": lambda x: jnp.linalg.solve(x, x[:, :2]),
    "det": jnp.linalg.det,
    "svd": lambda x: jnp.linalg.svd(x, compute_uv=False),
    "eigh": lambda x: jnp.linalg.eigvalsh(x + x.T),
    "fft": jnp.fft.fft,
}


def compare(program: Any, arguments: tuple[Any, ...], expected: Any) -> None:
    found = np.asarray(tiree.load(tiree.compile(program, *arguments)).main(X))
    np.testing.assert_allclose(found, np.asarray(expected), rtol=1e-4, atol=1e-4)


def sharding() -> NamedSharding:
    return NamedSharding(Mesh(np.array(jax.devices()[:1]), ("a",)), PartitionSpec("a"))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_attributes_that_only_shardy_reads(name: str) -> None:
    jitted = jax.jit(FUNCTIONS[name])
    expected = jitted(X)
    exported = export.export(jitted)(X)
    compare(jitted, (X,), expected)
    compare(exported, (), expected)
    compare(exported.mlir_module_serialized, (), expected)


def test_bytecode_with_hints_prints_to_text_that_reads_again() -> None:
    shared = sharding()
    sharded = jax.jit(lambda x: jax.lax.with_sharding_constraint(jnp.linalg.inv(x), shared), in_shardings=shared)
    module = read_module(export.export(sharded)(X).mlir_module_serialized)
    text = print_module(module, True)
    assert "#sdy.attribute_" in text
    assert print_module(read_module(text.encode()), True) == text
    compare(text, (), sharded(X))


def test_sharded_programs() -> None:
    shared = sharding()
    for function in (lambda x: x @ x, lambda x: jax.lax.with_sharding_constraint(x @ x, shared) + 1):
        jitted = jax.jit(function, in_shardings=shared, out_shardings=shared)
        expected = jitted(X)
        exported = export.export(jitted)(X)
        compare(jitted, (X,), expected)
        compare(exported, (), expected)
        compare(exported.mlir_module_serialized, (), expected)
        lowered = jitted.lower(X).compiler_ir("stablehlo").operation
        compare(str(lowered), (), expected)
        compare(lowered.get_asm(print_generic_op_form=True), (), expected)


def test_a_part_that_is_the_whole() -> None:
    shared = sharding()
    mapped = jax.shard_map(lambda x: x @ x.T, mesh=shared.mesh, in_specs=shared.spec, out_specs=shared.spec)
    compare(jax.jit(mapped), (X,), mapped(X))


def test_a_mesh_of_several_devices_changes_no_value() -> None:
    text = """
    sdy.mesh @mesh = <["a"=2, "b"=4]> {x = 1 : i64}
    func.func public @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<4x4xf32> {
      %0 = sdy.sharding_constraint %x <@mesh, [{"a", ?}, {}], replicated={"b"}> : tensor<4x4xf32>
      return %0 : tensor<4x4xf32>
    }"""
    compare(text, (), X)
    compare(text.replace("4x4xf32", "?x?xf32"), (), X)


def test_what_a_device_computes_of_its_part_is_refused() -> None:
    text = """
    func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = "sdy.manual_computation"(%x) ({
      ^bb0(%part: tensor<2xf32>):
        "sdy.return"(%part) : (tensor<2xf32>) -> ()
      }) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    with pytest.raises(CompileError, match=r"sdy\.manual_computation"):
        tiree.compile(text)
