"""How much of StableHLO compiles and computes what it must: suites of programs, run and counted.

`python -m tiree.testing.conformance` runs them; docs/reference/conformance.md is what it wrote last. The suites:

- `programs`: programs of this package for every StableHLO and CHLO op, whose results XLA says;
- `random`: programs drawn at random, an op with element type, shapes and edge values, likewise;
- `jax32`, `jax64`: JAX's own harnesses of its primitives, from its wheel, with 64-bit types off and on;
- `interpreter`, `interpreter-keep`: the tests of StableHLO's reference interpreter, from a clone of its repository.

JAX is the oracle of all but the last, and nothing of it is needed to compile or run programs.
"""
