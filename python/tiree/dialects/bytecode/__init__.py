"""MLIR bytecode (`.mlirbc`, jax.export's serialized modules, StableHLO's portable artifacts) to xDSL operations.

`file.py` splits a file into its tables, `values.py` decodes types and attributes on demand with one module per dialect
(`builtin.py`, `stablehlo.py`, `vhlo_values.py`), `properties.py` knows what operations keep as properties, and
`operations.py` builds the IR. VHLO, the form of portable artifacts, becomes StableHLO on the way (`vhlo_ops.py`), so
nothing behind the reader knows it. Constants stay views of the file. `reader.py` is the way in.
"""

from __future__ import annotations

MAGIC = b"ML\xefR"
"""The first bytes of every file of MLIR bytecode."""
