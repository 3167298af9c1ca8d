"""Exports that JAX keeps of its versions since 2023, with the results that they had: portable artifacts as they are.

Where a factorization leaves a choice (signs of vectors), what does not depend on it is compared.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

jax = pytest.importorskip("jax", reason="the exports are in JAX's wheel")
DATA = "jax._src.internal_test_util.export_back_compat_test_data"
pytest.importorskip(DATA, reason="the exports are in JAX's wheel")

Array = np.ndarray[Any, Any]


def all_of_them(results: list[Array]) -> list[Array]:
    return results


def eigenvalues(results: list[Array]) -> list[Array]:
    """Of the triangular factor of a Schur form, in one order."""
    return [np.sort_complex(np.linalg.eigvals(results[0].astype(np.complex128)))]


COMPARED: dict[str, Callable[[list[Array]], list[Array]]] = {
    "cpu_cholesky_lapack_potrf": all_of_them,
    "cpu_eig_lapack_geev": lambda results: [np.sort_complex(results[0])],
    "cpu_eigh_lapack_syev": lambda results: results[1:],
    "cpu_hessenberg_lapack_gehrd": all_of_them,
    "cpu_lu_lapack_getrf": all_of_them,
    "cpu_qr_lapack_geqrf": all_of_them,
    "cpu_schur_lapack_gees": eigenvalues,
    "cpu_svd_lapack_gesdd": lambda results: results[1:2],
    "cpu_triangular_solve_blas_trsm": all_of_them,
    "cpu_tridiagonal_lapack_sytrd_hetrd": all_of_them,
    "cpu_tridiagonal_solve_lapack_gtsv": all_of_them,
    "stablehlo_dynamic_approx_top_k": all_of_them,
    "stablehlo_dynamic_rng_bit_generator": all_of_them,
    "stablehlo_dynamic_top_k": all_of_them,
    "tpu_ApproxTopK": all_of_them,
    "annotate_data_placement": all_of_them,
}


def exports(value: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is kept in a module, by where; of a factorization that in f32."""
    if isinstance(value, dict) and "mlir_module_serialized" in value:
        yield path, value
    elif isinstance(value, dict):
        chosen = {"f32": value["f32"]} if "f32" in value else value
        for key, inner in chosen.items():
            yield from exports(inner, f"{path}/{key}")


def numbers(values: Any) -> list[Array]:
    return [np.asarray(value) for value in jax.tree.leaves(values)]


@pytest.mark.parametrize("name", COMPARED)
def test_what_it_computed_then(name: str) -> None:
    module = importlib.import_module(f"{DATA}.{name}")
    kept = [each for key, value in vars(module).items() if key.startswith("data") for each in exports(value, key)]
    assert kept
    for path, export in kept:
        main = rt.load(tiree.compile(export["mlir_module_serialized"]), device="local-sync").main
        results = main(*(np.asarray(value) for value in export["inputs"]))
        found, wanted = (COMPARED[name](numbers(each)) for each in (results, export["expected_outputs"]))
        for got, right in zip(found, wanted, strict=True):
            np.testing.assert_allclose(got, right, rtol=1e-4, atol=1e-3, err_msg=path)
