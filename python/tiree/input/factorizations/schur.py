"""Hessenberg and Schur forms and eigenvectors of general matrices: LAPACK's `gehrd`, complex `gees` and `geev`.

The Schur form is found by single-shift QR steps on complex numbers; that of real matrices is in `real_schur`. The
unitary factor is kept transposed, so that rotations run along rows.
"""

from __future__ import annotations

from xdsl.dialects.builtin import Float64Type, IndexType, i1, i32

from tiree.input.factorizations.batches import Shape, element_of
from tiree.input.factorizations.householder import (
    apply_left,
    apply_right,
    epsilon,
    fail_unless,
    is_finite,
    norm,
    reflector,
    scale_of,
    smallest_normal,
)
from tiree.input.factorizations.kernel import Array, LoopKernel, Num, Value
from tiree.input.lowering.context import Lowering

ROUNDS = 30
"""QR steps for an eigenvalue, on average, before the matrix is given up."""


def to_hessenberg(k: LoopKernel, a: Array, taus: Array, w: Array) -> None:
    """Q^H a Q in the place of `a`, zero below the first subdiagonal: there the reflectors of Q are kept."""
    n = a.shape[0]
    with k.loop(0, n - 1) as i:
        length = norm(k, i + 2, n, lambda r: a[r, i])
        beta, tau, scale = reflector(k, a[i + 1, i], length)
        with k.loop(i + 2, n) as r:
            a[r, i] = a[r, i] * scale
        a[i + 1, i] = beta
        taus[i] = tau
        apply_right(k, lambda r: a[r, i], tau, a, i + 1, (0, n))
        apply_left(k, lambda r: a[r, i], tau.conj(), a, i + 1, (i + 1, n), w)


def hessenberg(lowering: Lowering, a: Value, shape: Shape) -> list[Value]:
    """(Hessenberg form and reflectors, taus, info) of matrices of `shape` (how many, n, n)."""
    n = shape[1]
    k = LoopKernel(lowering, shape[0], element_of(a))
    source = k.input(a)
    is_complex = source.is_complex
    result, taus = k.output([n, n], complex=is_complex), k.output([max(n - 1, 0)], complex=is_complex)
    info = k.output([1], i32)
    info[0] = k.number(0, i32)
    k.copy(source, result)
    to_hessenberg(k, result, taus, k.scratch([n], complex=is_complex))
    return k.run()


def form_transposed(k: LoopKernel, h: Array, taus: Array, z: Array) -> None:
    """z = Q transposed, and zeros in the place of the reflectors."""
    n = h.shape[0]
    with k.loop(0, n) as r, k.loop(0, n) as c:
        z[r, c] = k.where(r.eq(c), k.number(1.0), 0.0)
    with k.loop_down(0, n - 1) as i, k.loop(i + 1, n) as r:
        start = z[r, i + 1]
        total = (
            k.sum(i + 2, n, lambda c, r=r, i=i: h[c, i].conj() * z[r, c], start=start, complex=z.is_complex) * taus[i]
        )
        z[r, i + 1] = z[r, i + 1] - total
        with k.loop(i + 2, n) as c:
            z[r, c] = z[r, c] - total * h[c, i]
    with k.loop(0, n) as c, k.loop(c + 2, n) as r:
        h[r, c] = 0.0


def start_of_block(k: LoopKernel, h: Array, high: Num) -> Num:
    """The first row of the unreduced block that ends in row `high`; the element before it becomes zero."""
    found, open_ = k.var(k.number(0, IndexType())), k.var(k.number(1, i1))
    with k.loop_down(1, high + 1) as r:
        size = h[r - 1, r - 1].abs1() + h[r, r].abs1()
        sub = h[r, r - 1].abs1()
        small = ~(sub > size * epsilon(k)) | ~(sub > smallest_normal(k))
        found.set(k.where(small & open_.get(), r, found.get()))
        open_.set(open_.get() & ~small)
    k.drop(found, open_)
    start = found.get()
    with k.when(start > 0):
        h[start, start - 1] = 0.0
    return start


def _square_root(k: LoopKernel, z: Num) -> Num:
    """Of a complex number, in the right half plane."""
    size = z.abs()
    larger = ((size + z.real.abs()) * 0.5).sqrt()
    none = larger.eq(0.0)
    smaller = z.imag / k.where(none, 1.0, larger * 2.0)
    right = z.real >= 0.0
    re = k.where(right, larger, smaller.abs())
    im = k.where(right, smaller, k.where(z.imag >= 0.0, larger, -larger))
    return k.complex(k.where(none, 0.0, re), k.where(none, 0.0, im))


def _shift(k: LoopKernel, h: Array, high: Num, tries: Num) -> Num:
    """The eigenvalue of the last two rows that is nearer to the last element; something else every tenth time."""
    a, b, c, d = h[high - 1, high - 1], h[high - 1, high], h[high, high - 1], h[high, high]
    half = (a - d) * 0.5
    root = _square_root(k, half * half + b * c)
    same = half.real * root.real + half.imag * root.imag >= 0.0
    bottom = k.where(same, half + root, half - root)
    none = bottom.abs1().eq(0.0)
    usual = d - k.where(none, 0.0, (b * c) / k.where(none, k.complex(k.number(1.0), k.number(0.0)), bottom))
    unusual = d + c.abs1() * 0.75
    return k.where(tries.remainder(10).eq(9), unusual, usual)


def _rotation(k: LoopKernel, x: Num, y: Num) -> tuple[Num, Num]:
    """(c, s) that make (x, y) into (something, 0): c x + s y and -conj(s) x + c y."""
    size, other = x.abs(), y.abs()
    length = k.hypot(size, other)
    none, no_x = length.eq(0.0), size.eq(0.0)
    safe = k.where(none, 1.0, length)
    phase = k.where(no_x, k.complex(k.number(1.0), k.number(0.0)), x / k.where(no_x, 1.0, size))
    s = phase * y.conj() / safe
    return k.where(none, 1.0, size / safe), k.where(none, 0.0, s)


def _qr_step(k: LoopKernel, h: Array, z: Array, low: Num, high: Num, shift: Num) -> None:
    n = h.shape[0]
    x, y = k.var(h[low, low] - shift), k.var(h[low + 1, low])
    with k.loop(low, high) as i:
        c, s = _rotation(k, x.get(), y.get())
        with k.loop((i - 1).most(low), n) as j:
            one, other = h[i, j], h[i + 1, j]
            h[i, j] = one * c + other * s
            h[i + 1, j] = other * c - one * s.conj()
        with k.when(i > low):
            h[i + 1, i - 1] = 0.0
        with k.loop(0, (i + 2).least(high) + 1) as r:
            one, other = h[r, i], h[r, i + 1]
            h[r, i] = one * c + other * s.conj()
            h[r, i + 1] = other * c - one * s
        with k.loop(0, n) as r:
            one, other = z[i, r], z[i + 1, r]
            z[i, r] = one * c + other * s.conj()
            z[i + 1, r] = other * c - one * s
        more = i + 1 < high
        x.set(k.where(more, h[i + 1, i], x.get()))
        y.set(k.where(more, h[(i + 2).least(n - 1), i], y.get()))
    k.drop(x, y)


def to_schur(k: LoopKernel, h: Array, z: Array, info: Array) -> None:
    """Makes Hessenberg `h` triangular and rotates the rows of `z`, the transposed unitary factor, along."""
    n = h.shape[0]
    high, tries = k.var(k.number(n - 1, IndexType())), k.var(k.number(0, IndexType()))
    with k.loop(0, ROUNDS * n) as _, k.when(high.get() > 0):
        bottom = high.get()
        low = start_of_block(k, h, bottom)
        found = low.eq(bottom)
        with k.when(~found):
            _qr_step(k, h, z, low, bottom, _shift(k, h, bottom, tries.get()))
        high.set(k.where(found, bottom - 1, bottom))
        tries.set(k.where(found, k.index(0), tries.get() + 1))
    info[0] = k.where(high.get() > 0, high.get(), k.index(0)).to_type(i32)
    k.drop(high, tries)


def copy_scaled(k: LoopKernel, source: Array, target: Array) -> Num:
    """Copies a matrix divided by what is returned."""
    scale = scale_of(k, source)
    with k.loop(0, source.shape[0]) as r, k.loop(0, source.shape[1]) as c:
        target[r, c] = source[r, c] / scale
    return scale


def balance(k: LoopKernel, h: Array, d: Array) -> None:
    """D^-1 h D in the place of `h`, with powers of two in D so that rows and columns of one number are about as large:
    LAPACK's `gebal`. The eigenvalues are the same, and errors are small beside the smaller of them, too."""
    n = h.shape[0]
    with k.loop(0, n) as i:
        d[i] = 1.0
    changed = k.var(k.number(1, i1))
    with k.loop(0, _SWEEPS) as _, k.when(changed.get()):
        changed.set(k.number(0, i1))
        with k.loop(0, n) as i:
            column = k.sum(0, n, lambda j, i=i: k.where(j.eq(i), 0.0, h[j, i].abs1()))
            row = k.sum(0, n, lambda j, i=i: k.where(j.eq(i), 0.0, h[i, j].abs1()))
            factor, left = k.var(1.0), k.var(column)
            some = (column > smallest_normal(k)) & (row > smallest_normal(k))
            with k.loop(0, _DOUBLINGS), k.when(some & (left.get() < row * 0.5)):
                factor.set(factor.get() * 2.0)
                left.set(left.get() * 4.0)
            with k.loop(0, _DOUBLINGS), k.when(some & (left.get() >= row * 2.0)):
                factor.set(factor.get() * 0.5)
                left.set(left.get() * 0.25)
            by = factor.get()
            pays = (left.get() + row) / by < (column + row) * 0.95
            k.drop(factor, left)
            new, far = d[i] * by, 2.0**900 if isinstance(k.element, Float64Type) else 2.0**100
            with k.when(some & pays & (new < far) & (new > 1 / far)):
                changed.set(k.number(1, i1))
                d[i] = new
                with k.loop(0, n) as j:
                    h[i, j] = h[i, j] / by
                with k.loop(0, n) as j:
                    h[j, i] = h[j, i] * by
    k.drop(changed)


_SWEEPS, _DOUBLINGS = 1000, 60
"""Of balancing: over all rows, and of one factor."""


def _decomposed(k: LoopKernel, a: Value, n: int, balanced: bool = False) -> tuple[Array, Array, Num, Array]:
    """(triangular form, transposed unitary factor, scale, D) of one matrix divided by the scale and `balanced` by the
    diagonal D; all but the scale are scratch. The next output of the kernel is `info`."""
    source = k.input(a)
    h, z = k.scratch([n, n], complex=True), k.scratch([n, n], complex=True)
    taus, info = k.scratch([n], complex=True), k.output([1], i32)
    scale, d = copy_scaled(k, source, h), k.scratch([n])
    if balanced:
        balance(k, h, d)
    to_hessenberg(k, h, taus, k.scratch([n], complex=True))
    form_transposed(k, h, taus, z)
    to_schur(k, h, z, info)
    fail_unless(k, is_finite(k, source), info)
    return h, z, scale, d


def schur(lowering: Lowering, a: Value, shape: Shape) -> list[Value]:
    """(info, triangular form, unitary factor, eigenvalues) of complex matrices of `shape` (how many, n, n)."""
    n = shape[1]
    k = LoopKernel(lowering, shape[0], element_of(a))
    h, z, scale, _ = _decomposed(k, a, n)
    t, vectors, w = k.output([n, n], complex=True), k.output([n, n], complex=True), k.output([n], complex=True)
    with k.loop(0, n) as r:
        w[r] = h[r, r] * scale
        with k.loop(0, n) as c:
            t[r, c] = k.where(c >= r, h[r, c] * scale, 0.0)
            vectors[r, c] = z[c, r]
    return k.run()


def least_difference(k: LoopKernel, value: Num) -> Num:
    """What two eigenvalues differ by at least, as far as it can be told: this is divided by."""
    size = value.abs1() * epsilon(k)
    return k.where(size > smallest_normal(k), size, smallest_normal(k) * 4)


def quotient(k: LoopKernel, x: Array, total: Num, divisor: Num) -> tuple[Num, Num]:
    """-`total` / `divisor`, and what it was multiplied by so that it is not too large. The vector that it becomes an
    element of is multiplied alike."""
    limit = _largest_element(k)
    size, least = total.abs1(), divisor.abs1()
    large = size > least * limit
    factor = k.where(large, least * limit / size, 1.0)
    with k.when(large), k.loop(0, x.shape[0]) as r:
        x[r] = x[r] * factor
    # The factor may be so small that it vanishes; the quotient is then the only element.
    return -k.where(large, (total / size) / (divisor / least) * limit, total / divisor), factor


def _largest_element(k: LoopKernel) -> float:
    """How large elements of eigenvectors may become while they are solved for."""
    return 2.0**200 if isinstance(k.element, Float64Type) else 2.0**30


def not_below(k: LoopKernel, x: Num, least: Num) -> Num:
    """A complex number, or `least` if it is smaller than that."""
    return k.where(x.abs1() < least, k.complex(least, k.number(0.0)), x)


def keep_small(k: LoopKernel, x: Array, element: Num) -> None:
    """Scales an eigenvector that is being solved for where its newest element is so large that more would overflow."""
    size = element.abs1()
    with k.when(size > _largest_element(k)):
        factor = 1.0 / size
        with k.loop(0, x.shape[0]) as r:
            x[r] = x[r] * factor


def _solve(k: LoopKernel, t: Array, x: Array, i: Num, left: bool) -> None:
    """x = the eigenvector of triangular `t` (or of its adjoint, if `left`) for element i of the diagonal, scaled so
    that nothing overflows."""
    n = t.shape[0]
    value = t[i, i]
    least = least_difference(k, value)
    with k.loop(0, n) as r:
        x[r] = k.where(r.eq(i), k.number(1.0), 0.0)
    with k.loop(i + 1, n) if left else k.loop_down(0, i) as j:
        if left:
            total = k.sum(i, j, lambda m: t[m, j].conj() * x[m], complex=True)
            bottom = (t[j, j] - value).conj()
        else:
            total = k.sum(j + 1, i + 1, lambda m: t[j, m] * x[m], complex=True)
            bottom = t[j, j] - value
        x[j], _ = quotient(k, x, total, not_below(k, bottom, least))
        keep_small(k, x, x[j])


def normalise(k: LoopKernel, v: Array) -> None:
    """Makes the length of a complex vector 1 and its largest element real and positive."""
    n = v.shape[0]
    length = norm(k, 0, n, lambda r: v[r])
    best, place = k.var(-1.0), k.var(k.number(0, IndexType()))
    with k.loop(0, n) as r:
        size = v[r].abs2()
        larger = size > best.get()
        best.set(k.where(larger, size, best.get()))
        place.set(k.where(larger, r, place.get()))
    k.drop(best, place)
    largest = v[place.get()]
    size = largest.abs()
    none = size.eq(0.0)
    phase = largest.conj() / k.where(none, 1.0, size)
    with k.loop(0, n) as r:
        element = v[r] * phase / k.where(none, 1.0, length)
        real = k.complex(element.real, k.number(0.0))
        v[r] = k.where(r.eq(place.get()), real, element)


def of_unbalanced(k: LoopKernel, v: Array, d: Array, left: bool) -> None:
    """A vector of a balanced matrix as one of the matrix: D v, or D^-1 v if it is a left one. `d` is not 0."""
    largest = k.var(0.0)
    with k.loop(0, v.shape[0]) as r:
        factor = 1.0 / d[r] if left else d[r]
        used = v[r].abs1() > 0.0
        largest.set(k.where(used & (factor > largest.get()), factor, largest.get()))
    top = k.where(largest.get() > 0.0, largest.get(), 1.0)
    k.drop(largest)
    with k.loop(0, v.shape[0]) as r:
        factor = 1.0 / d[r] if left else d[r]
        v[r] = v[r] * (factor / top)


def _vectors(k: LoopKernel, t: Array, z: Array, d: Array, out: Array, left: bool) -> None:
    """The eigenvectors, of length 1, their largest elements real."""
    n = t.shape[0]
    x, v = k.scratch([n], complex=True), k.scratch([n], complex=True)
    with k.loop(0, n) as i:
        _solve(k, t, x, i, left)
        with k.loop(0, n) as r:
            v[r] = 0.0
        with k.loop(i, n) if left else k.loop(0, i + 1) as m:
            factor = x[m]
            with k.loop(0, n) as r:
                v[r] = v[r] + factor * z[m, r]
        of_unbalanced(k, v, d, left)
        normalise(k, v)
        with k.loop(0, n) as r:
            out[r, i] = v[r]


def eigenvectors(lowering: Lowering, a: Value, left: bool, right: bool, shape: Shape) -> list[Value]:
    """(info, eigenvalues, left vectors if wanted, right vectors if wanted) of complex matrices of `shape` (how many, n,
    n)."""
    n = shape[1]
    k = LoopKernel(lowering, shape[0], element_of(a))
    h, z, scale, d = _decomposed(k, a, n, balanced=True)
    w = k.output([n], complex=True)
    with k.loop(0, n) as r:
        w[r] = h[r, r] * scale
    for is_left, wanted in ((True, left), (False, right)):
        if wanted:
            _vectors(k, h, z, d, k.output([n, n], complex=True), is_left)
    return k.run()
