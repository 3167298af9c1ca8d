"""The real Schur form (LAPACK's real `gees`): double-shift QR steps, and 2 x 2 blocks for pairs of complex eigenvalues.

Each block that is left has equal elements on its diagonal and off-diagonal ones of opposite signs.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, i32

from tiree.input.factorizations.batches import Shape, element_of
from tiree.input.factorizations.householder import epsilon, fail_unless, is_finite, reflector
from tiree.input.factorizations.kernel import Array, LoopKernel, Num, Value
from tiree.input.factorizations.schur import ROUNDS, copy_scaled, form_transposed, start_of_block, to_hessenberg
from tiree.input.lowering.context import Lowering


def _first_column(k: LoopKernel, h: Array, low: Num, high: Num, tries: Num) -> tuple[Num, Num, Num]:
    """The first column, up to a factor, of (h - s1)(h - s2) for the eigenvalues of the last two rows."""
    size = h[high, high - 1].abs() + h[high - 1, high - 2].abs()
    odd = tries.remainder(10).eq(9)
    # From the first element of the diagonal on, since all of it may be one large number and little besides.
    a, b, c = h[low, low], h[low, low + 1], h[low + 1, low]
    last = h[high, high] - a
    one = k.where(odd, last + size * 0.75, last)
    other = k.where(odd, one, h[high - 1, high - 1] - a)
    beside = k.where(odd, size * size * -0.4375, h[high, high - 1] * h[high - 1, high])
    # Divided by an element of the subdiagonal, which all three have as a factor.
    x = (one * other - beside) / c + b
    return x, h[low + 1, low + 1] - a - one - other, h[low + 2, low + 1]


def _francis_step(k: LoopKernel, h: Array, z: Array, low: Num, high: Num, tries: Num) -> None:
    n = h.shape[0]
    start = _first_column(k, h, low, high, tries)
    x, y, w = (k.var(one) for one in start)
    with k.loop(low, high) as i:
        last = i.eq(high - 1)
        third = (i + 2).least(n - 1)
        rest = k.hypot(y.get().abs(), k.where(last, 0.0, w.get()).abs())
        beta, tau, scale = reflector(k, x.get(), rest)
        v1, v2 = y.get() * scale, k.where(last, 0.0, w.get() * scale)
        with k.loop((i - 1).most(low), n) as j:
            total = tau * (h[i, j] + v1 * h[i + 1, j] + v2 * h[third, j])
            h[i, j] = h[i, j] - total
            h[i + 1, j] = h[i + 1, j] - v1 * total
            h[third, j] = h[third, j] - v2 * total
        with k.when(i > low):
            h[i, i - 1] = beta
            h[i + 1, i - 1] = 0.0
            h[third, i - 1] = k.where(last, h[third, i - 1], 0.0)
        with k.loop(0, (i + 3).least(high) + 1) as r:
            total = tau * (h[r, i] + v1 * h[r, i + 1] + v2 * h[r, third])
            h[r, i] = h[r, i] - total
            h[r, i + 1] = h[r, i + 1] - v1 * total
            h[r, third] = h[r, third] - v2 * total
        with k.loop(0, n) as r:
            total = tau * (z[i, r] + v1 * z[i + 1, r] + v2 * z[third, r])
            z[i, r] = z[i, r] - total
            z[i + 1, r] = z[i + 1, r] - v1 * total
            z[third, r] = z[third, r] - v2 * total
        x.set(h[i + 1, i])
        y.set(h[third, i])
        w.set(h[(i + 3).least(n - 1), i])
    k.drop(x, y, w)


def _sign(k: LoopKernel, x: Num) -> Num:
    return k.where(x >= 0.0, k.number(1.0), -1.0)


def _standard_rotation(k: LoopKernel, a: Num, b: Num, c: Num, d: Num) -> tuple[Num, Num, Num]:
    """(cosine, sine, whether the eigenvalues are real) of the rotation that makes a block triangular or standard."""
    difference = a - d
    p = difference * 0.5
    larger = k.where(b.abs() >= c.abs(), b.abs(), c.abs())
    smaller = k.where(b.abs() >= c.abs(), c.abs(), b.abs()) * _sign(k, b) * _sign(k, c)
    scale = k.where(p.abs() >= larger, p.abs(), larger)
    safe = k.where(scale.eq(0.0), 1.0, scale)
    root = p / safe * p + larger / safe * smaller
    apart = root >= 4 * 2 * epsilon(k)
    # Real and apart: straight to triangular form.
    positive = k.where(apart, root, 0.0)
    value = p + _sign(k, p) * safe.sqrt() * positive.sqrt()
    length = k.hypot(c.abs(), value.abs())
    length = k.where(length.eq(0.0), 1.0, length)
    cosine, sine = value / length, c / length
    # Else first to equal elements on the diagonal.
    sigma = b + c
    tau = k.hypot(sigma.abs(), difference.abs())
    tau = k.where(tau.eq(0.0), 1.0, tau)
    even_cosine = ((sigma.abs() / tau + 1.0) * 0.5).sqrt()
    even_sine = -(p / (tau * even_cosine)) * _sign(k, sigma)
    top, bottom = b * even_cosine - a * even_sine, d * even_cosine - c * even_sine
    new_b = top * even_cosine + bottom * even_sine
    new_c = (c * even_cosine + d * even_sine) * even_cosine - (a * even_cosine + b * even_sine) * even_sine
    # There the eigenvalues may turn out to be real after all.
    meets = (new_b * new_c > 0.0) | new_c.eq(0.0)
    rb, rc = new_b.abs().sqrt(), new_c.abs().sqrt()
    sum_ = (new_b + new_c).abs().sqrt()
    sum_ = k.where(sum_.eq(0.0), 1.0, sum_)
    further_c, further_s = k.where(new_c.eq(0.0), 1.0, rb / sum_), k.where(new_c.eq(0.0), 0.0, rc / sum_)
    met_c = even_cosine * further_c - even_sine * further_s
    met_s = even_cosine * further_s + even_sine * further_c
    cosine = k.where(apart, cosine, k.where(meets, met_c, even_cosine))
    sine = k.where(apart, sine, k.where(meets, met_s, even_sine))
    real = apart | meets
    triangular, standard = c.eq(0.0), difference.eq(0.0) & (b * c < 0.0)
    swap = b.eq(0.0) & ~triangular
    cosine = k.where(triangular | standard, 1.0, k.where(swap, 0.0, cosine))
    sine = k.where(triangular | standard, 0.0, k.where(swap, 1.0, sine))
    return cosine, sine, triangular | swap | (real & ~standard)


def _standardise(k: LoopKernel, h: Array, z: Array, i: Num) -> None:
    """Makes the block of rows i and i + 1 triangular, or standard if its eigenvalues are complex."""
    n = h.shape[0]
    cosine, sine, real = _standard_rotation(k, h[i, i], h[i, i + 1], h[i + 1, i], h[i + 1, i + 1])
    with k.loop(i, n) as j:
        one, other = h[i, j], h[i + 1, j]
        h[i, j] = one * cosine + other * sine
        h[i + 1, j] = other * cosine - one * sine
    with k.loop(0, i + 2) as r:
        one, other = h[r, i], h[r, i + 1]
        h[r, i] = one * cosine + other * sine
        h[r, i + 1] = other * cosine - one * sine
    with k.loop(0, n) as r:
        one, other = z[i, r], z[i + 1, r]
        z[i, r] = one * cosine + other * sine
        z[i + 1, r] = other * cosine - one * sine
    mean = (h[i, i] + h[i + 1, i + 1]) * 0.5
    h[i, i] = k.where(real, h[i, i], mean)
    h[i + 1, i + 1] = k.where(real, h[i + 1, i + 1], mean)
    h[i + 1, i] = k.where(real, 0.0, h[i + 1, i])


def to_real_schur(k: LoopKernel, h: Array, z: Array, info: Array) -> None:
    """Makes Hessenberg `h` quasi-triangular and rotates the rows of `z`, the transposed orthogonal factor, along."""
    n = h.shape[0]
    high, tries = k.var(k.number(n - 1, IndexType())), k.var(k.number(0, IndexType()))
    with k.loop(0, ROUNDS * n) as _, k.when(high.get() > 0):
        bottom = high.get()
        low = start_of_block(k, h, bottom)
        single, pair = low.eq(bottom), low.eq(bottom - 1)
        with k.when(pair):
            _standardise(k, h, z, low)
        with k.when(~(single | pair)):
            _francis_step(k, h, z, low, bottom, tries.get())
        found = single | pair
        high.set(k.where(single, bottom - 1, k.where(pair, bottom - 2, bottom)))
        tries.set(k.where(found, k.index(0), tries.get() + 1))
    info[0] = k.where(high.get() > 0, high.get(), k.index(0)).to_type(i32)
    k.drop(high, tries)


def starts_pair(h: Array, i: Num) -> Num:
    """Whether row i of a quasi-triangular matrix is the first of a block of two."""
    return h[(i + 1).least(h.shape[0] - 1), i].ne(0.0) & (i < h.shape[0] - 1)


def ends_pair(h: Array, i: Num) -> Num:
    """Whether row i of a quasi-triangular matrix is the second of a block of two."""
    return h[i, (i - 1).most(0)].ne(0.0) & (i > 0)


def imaginary_part(h: Array, i: Num) -> Num:
    """That of the first eigenvalue of the standard block in rows i and i + 1; the second is its conjugate."""
    return h[i, i + 1].abs().sqrt() * h[i + 1, i].abs().sqrt()


def schur(lowering: Lowering, a: Value, shape: Shape) -> list[Value]:
    """(quasi-triangular form, orthogonal factor, real and imaginary parts of the eigenvalues, info) of real matrices
    of `shape` (how many, n, n)."""
    n = shape[1]
    k = LoopKernel(lowering, shape[0], element_of(a))
    source = k.input(a)
    h, vectors, real, imaginary = k.output([n, n]), k.output([n, n]), k.output([n]), k.output([n])
    info, z, taus = k.output([1], i32), k.scratch([n, n]), k.scratch([n])
    scale = copy_scaled(k, source, h)
    to_hessenberg(k, h, taus, k.scratch([n]))
    form_transposed(k, h, taus, z)
    to_real_schur(k, h, z, info)
    fail_unless(k, is_finite(k, source), info)
    with k.loop(0, n) as r, k.loop(0, n) as c:
        vectors[r, c] = z[c, r]
        h[r, c] = h[r, c] * scale
    with k.loop(0, n) as r:
        real[r] = h[r, r]
        imaginary[r] = 0.0
    with k.loop(0, n - 1) as r, k.when(starts_pair(h, r)):
        size = imaginary_part(h, r)
        imaginary[r] = size
        imaginary[r + 1] = -size
    return k.run()
