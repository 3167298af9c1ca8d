"""Random dispatches with numpy's answer: chains of structured ops and shape changes over small odd shapes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tests.codegen.cpu.dispatches import Dispatch, affine, generic, shaped


@dataclass
class Program:
    """Text under construction; `live` are (name, value) pairs that later ops may use."""

    rng: np.random.Generator
    inputs: list[np.ndarray] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    live: list[tuple[str, np.ndarray]] = field(default_factory=list)
    count: int = 0

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def pick(self) -> tuple[str, np.ndarray]:
        return self.live[int(self.rng.integers(len(self.live)))]

    def keep(self, name: str, value: np.ndarray) -> None:
        self.live.append((name, value.astype(np.float32)))

    def input(self, shape: tuple[int, ...]) -> None:
        value = self.rng.uniform(0.5, 1.5, shape).astype(np.float32)
        self.live.append((f"%in{len(self.inputs)}", value))
        self.inputs.append(value)

    def empty(self, shape: tuple[int, ...]) -> tuple[str, str]:
        name, type = self.fresh(), shaped(shape, "f32")
        self.lines.append(f"{name} = tensor.empty() : tensor<{type}>")
        return name, type

    def filled(self, shape: tuple[int, ...], value: float) -> tuple[str, str]:
        empty, type = self.empty(shape)
        constant, name = self.fresh(), self.fresh()
        self.lines.append(f"{constant} = arith.constant {value:e} : f32")
        self.lines.append(
            f"{name} = linalg.fill ins({constant} : f32) outs({empty} : tensor<{type}>) -> tensor<{type}>"
        )
        return name, type


def elementwise(p: Program) -> None:
    """Two operands; the second broadcast, permuted or of the same shape; sometimes a permuted result."""
    a_name, a = p.pick()
    rank = a.ndim
    partners = [(n, v) for n, v in p.live if v.shape == a.shape]
    partners += [(n, v) for n, v in p.live if v.ndim < rank and v.shape == a.shape[rank - v.ndim :]]
    b_name, b = partners[int(p.rng.integers(len(partners)))]
    order = [int(d) for d in p.rng.permutation(rank)] if p.rng.random() < 0.3 else list(range(rank))
    out = tuple(a.shape[d] for d in order)
    empty, type = p.empty(out)
    maps = [affine(rank, *range(rank)), affine(rank, *range(rank - b.ndim, rank)), affine(rank, *order)]
    op, result = [
        ("arith.addf %a0, %a1", a + b),
        ("arith.mulf %a0, %a1", a * b),
        ("arith.divf %a0, %a1", a / b),
        ("arith.maximumf %a0, %a1", np.maximum(a, b)),
    ][int(p.rng.integers(4))]
    body = f"%t = {op} : f32\n%u = math.absf %t : f32\n%y0 = math.sqrt %u : f32"
    name = p.fresh()
    ins = [(a_name, shaped(a.shape, "f32")), (b_name, shaped(b.shape, "f32"))]
    p.lines.append(generic(name, maps, "p" * rank, ins, [(empty, type)], body))
    p.keep(name, np.sqrt(np.abs(result)).transpose(order))


def reduction(p: Program) -> None:
    a_name, a = p.pick()
    if a.ndim == 0 or a.size == 0:
        return
    axes = sorted({int(d) for d in p.rng.choice(a.ndim, int(p.rng.integers(1, a.ndim + 1)), replace=False)})
    kept = [d for d in range(a.ndim) if d not in axes]
    largest = p.rng.random() < 0.5
    initial, type = p.filled(tuple(a.shape[d] for d in kept), 0.0)
    maps = [affine(a.ndim, *range(a.ndim)), affine(a.ndim, *kept)]
    body = "%y0 = arith.maximumf %o0, %a0 : f32" if largest else "%y0 = arith.addf %o0, %a0 : f32"
    name = p.fresh()
    iterators = "".join("r" if d in axes else "p" for d in range(a.ndim))
    p.lines.append(generic(name, maps, iterators, [(a_name, shaped(a.shape, "f32"))], [(initial, type)], body))
    p.keep(name, a.max(tuple(axes), initial=0) if largest else a.astype(np.float64).sum(tuple(axes)))


def spread(p: Program) -> None:
    """a[i, j] / r[i] for a reduced r: what softmax does."""
    pairs = [
        (x, y)
        for x in p.live
        for y in p.live
        if 0 < y[1].ndim < x[1].ndim and y[1].shape == x[1].shape[: y[1].ndim] and 0 not in x[1].shape
    ]
    if not pairs:
        return
    (a_name, a), (b_name, b) = pairs[int(p.rng.integers(len(pairs)))]
    rank = a.ndim
    empty, type = p.empty(a.shape)
    whole = affine(rank, *range(rank))
    name = p.fresh()
    body = "%t = arith.subf %a0, %a1 : f32\n%y0 = math.exp2 %t : f32"
    ins = [(a_name, shaped(a.shape, "f32")), (b_name, shaped(b.shape, "f32"))]
    p.lines.append(generic(name, [whole, affine(rank, *range(b.ndim)), whole], "p" * rank, ins, [(empty, type)], body))
    p.keep(name, np.minimum(np.exp2(a - b.reshape(b.shape + (1,) * (rank - b.ndim))), 1e6))


def pad(p: Program) -> None:
    a_name, a = p.pick()
    if a.ndim == 0:
        return
    low, high = ([int(n) for n in p.rng.integers(0, 3, a.ndim)] for _ in range(2))
    result = np.pad(a, list(zip(low, high, strict=True)), constant_values=1.0)
    constant, name = p.fresh(), p.fresh()
    p.lines.append(f"{constant} = arith.constant 1.0 : f32")
    arguments = ", ".join(f"%i{d}_{p.count}: index" for d in range(a.ndim))
    p.lines.append(
        f"{name} = tensor.pad {a_name} low[{', '.join(map(str, low))}] high[{', '.join(map(str, high))}] {{\n"
        f"^bb0({arguments}):\ntensor.yield {constant} : f32\n}} : tensor<{shaped(a.shape, 'f32')}> to "
        f"tensor<{shaped(result.shape, 'f32')}>"
    )
    p.keep(name, result)


def cut(p: Program) -> None:
    a_name, a = p.pick()
    if a.ndim == 0 or 0 in a.shape:
        return
    starts = [int(p.rng.integers(0, n)) for n in a.shape]
    steps = [int(p.rng.integers(1, 3)) for _ in a.shape]
    result = a[tuple(slice(s, None, t) for s, t in zip(starts, steps, strict=True))]
    name = p.fresh()
    text = "".join(f"[{', '.join(map(str, part))}]" for part in (starts, result.shape, steps))
    p.lines.append(
        f"{name} = tensor.extract_slice {a_name}{text} : tensor<{shaped(a.shape, 'f32')}> to "
        f"tensor<{shaped(result.shape, 'f32')}>"
    )
    p.keep(name, result)


def flatten(p: Program) -> None:
    a_name, a = p.pick()
    if a.ndim < 2:
        return
    at = int(p.rng.integers(0, a.ndim - 1))
    shape = (*a.shape[:at], a.shape[at] * a.shape[at + 1], *a.shape[at + 2 :])
    groups = [[d] if d < at else [at, at + 1] if d == at else [d + 1] for d in range(len(shape))]
    name = p.fresh()
    p.lines.append(
        f"{name} = tensor.collapse_shape {a_name} {groups} : tensor<{shaped(a.shape, 'f32')}> into "
        f"tensor<{shaped(shape, 'f32')}>"
    )
    p.keep(name, a.reshape(shape))


def join(p: Program) -> None:
    a_name, a = p.pick()
    if a.ndim == 0:
        return
    dim = int(p.rng.integers(a.ndim))
    result = np.concatenate([a, a], dim)
    name, type = p.fresh(), shaped(a.shape, "f32")
    p.lines.append(
        f"{name} = tensor.concat dim({dim}) {a_name}, {a_name} : (tensor<{type}>, tensor<{type}>) -> "
        f"tensor<{shaped(result.shape, 'f32')}>"
    )
    p.keep(name, result)


OPS = [elementwise, elementwise, elementwise, reduction, reduction, spread, spread, pad, cut, flatten, join]


def random_dispatch(seed: int) -> tuple[Dispatch, list[np.ndarray], list[np.ndarray]]:
    """(dispatch, inputs, wanted outputs). Outputs are the last one or two results."""
    p = Program(np.random.default_rng(seed))
    sizes = [1, 2, 3, 5, 8, 17, 33]
    shape = tuple(int(n) for n in p.rng.choice(sizes, int(p.rng.integers(1, 4))))
    p.input(shape)
    if p.rng.random() < 0.5:
        p.input(shape)
    inputs = len(p.live)
    for _ in range(int(p.rng.integers(2, 7))):
        before = len(p.live)
        OPS[int(p.rng.integers(len(OPS)))](p)
        if len(p.live) > before and p.live[-1][1].size > 20000:
            p.live.pop()
    results = p.live[inputs:][-int(p.rng.integers(1, 3)) :] or p.live[-1:]
    types = [shaped(v.shape, "f32") for _, v in results]
    body = "\n".join(p.lines)
    for number, ((name, _), type) in enumerate(zip(results, types, strict=True)):
        body += f"\n%r{number} = tensor.cast {name} : tensor<{type}> to tensor<{type}>"
    d = Dispatch([shaped(v.shape, "f32") for v in p.inputs], types, body)
    return d, p.inputs, [v for _, v in results]
