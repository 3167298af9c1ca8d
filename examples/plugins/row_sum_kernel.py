"""A hand-written kernel for one op: sums of the rows of an f32 matrix, in LLVM IR.

    tiree-compile --tiree-plugin=examples/plugins/row_sum_kernel.py model.mlir --tiree-report=report.json -o model.vmfb

The report names `row-sum-by-hand` for the dispatches that it takes: one `linalg.generic` that adds up the last
dimension of a dense matrix whose rows are whole vectors. Each workgroup sums one row, in four accumulators of 16 lanes,
so that an addition does not wait for the one before. All other dispatches are compiled as ever.
"""

from __future__ import annotations

from llvmlite import ir
from tiree.plugins import Dispatch, LLVMKernel, Registry

LANES, ACCUMULATORS = 16, 4
STEP = LANES * ACCUMULATORS


def accepts(dispatch: Dispatch) -> bool:
    """Whether the dispatch is what this kernel computes, and nothing more."""
    if dispatch.ops != ("arith.addf",) or not dispatch.is_dense:
        return False
    if len(dispatch.inputs) != 1 or len(dispatch.outputs) != 1 or len(dispatch.generics) != 1:
        return False
    (matrix,), (sums,), (generic,) = dispatch.inputs, dispatch.outputs, dispatch.generics
    return (
        (matrix.element, sums.element) == ("f32", "f32")
        and len(matrix.shape) == 2
        and matrix.shape[1] % STEP == 0
        and sums.shape == matrix.shape[:1]
        and list(generic.is_reduction) == [False, True]
        # Which loop runs along which dimension: sums of the columns of a square matrix have the same shapes.
        and [map.plain_dims for map in generic.maps] == [[0, 1], [0]]
        and dispatch.starts_at(0.0)
    )


def write(dispatch: Dispatch, name: str) -> ir.Module:
    """`void name(matrix, sums, row)` for the number of columns of this dispatch."""
    columns = dispatch.inputs[0].shape[1]
    pointer, f32, i64 = ir.PointerType(), ir.FloatType(), ir.IntType(64)
    vector = ir.VectorType(f32, LANES)
    module = ir.Module(name)
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [pointer, pointer, i64]), name)
    matrix, sums, row = function.args
    entry, loop, done = (function.append_basic_block(label) for label in ("entry", "loop", "done"))

    builder = ir.IRBuilder(entry)
    start = builder.gep(matrix, [builder.mul(row, i64(columns))], source_etype=f32)
    builder.branch(loop)

    builder.position_at_end(loop)
    column = builder.phi(i64)
    totals = [builder.phi(vector) for _ in range(ACCUMULATORS)]
    column.add_incoming(i64(0), entry)
    following = builder.add(column, i64(STEP))
    for number, total in enumerate(totals):
        place = builder.gep(start, [builder.add(column, i64(number * LANES))], source_etype=f32)
        loaded = builder.load(place, typ=vector, align=4)
        total.add_incoming(ir.Constant(vector, [0.0] * LANES), entry)
        total.add_incoming(builder.fadd(total, loaded), loop)
    column.add_incoming(following, loop)
    builder.cbranch(builder.icmp_unsigned("<", following, i64(columns)), loop, done)

    builder.position_at_end(done)
    last = [total.incomings[1][0] for total in totals]
    sum = builder.fadd(builder.fadd(last[0], last[1]), builder.fadd(last[2], last[3]))
    reduce = ir.Function(module, ir.FunctionType(f32, [f32, vector]), f"llvm.vector.reduce.fadd.v{LANES}f32")
    scalar = builder.call(reduce, [f32(0.0), sum], fastmath=["reassoc"])
    builder.store(scalar, builder.gep(sums, [row], source_etype=f32))
    builder.ret_void()
    return module


def register(registry: Registry) -> None:
    registry.add_kernel(
        LLVMKernel("row-sum-by-hand", accepts, write, workgroups=lambda dispatch: dispatch.inputs[0].shape[0])
    )
