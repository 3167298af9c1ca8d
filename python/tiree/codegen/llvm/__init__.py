"""Kernel form -> LLVM IR -> object code.

| file | holds |
|---|---|
| `types.py` | how MLIR types look in LLVM |
| `emitter.py` | the state of one function under construction: values, blocks, common subexpressions |
| `arith.py` `convert.py` `math.py` `vector.py` `vector_memory.py` | one handler per op on values |
| `memref.py` `scf.py` `interface.py` | one handler per op of memory, control flow, the dispatch |
| `handlers.py` | the table that joins them |
| `module.py` | all kernels of an executable and its library table in one LLVM module |
| `compile.py` | LLVM IR text -> object bytes |

LLVM IR is built as text: one f-string per instruction is far cheaper than an object per instruction, and the module is
parsed once by LLVM itself.
"""
