"""Records of orthogonal and spectral decompositions, and of what is computed by them.

Vectors have an arbitrary sign or phase, so calls return what does not depend on it: magnitudes, products of factors.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from records.record import Array, Domain, OpRecord, Refusal, index, s, t

NARROW = Domain(-1.0, 1.0)
SQUARES = (s(t(3, 3)), s(t(2, 2, 2)), s(t(1, 1)), s(t(5, 5)), s(t(9, 9)), s(t(0, 2, 2)), s(t(2, 0, 0)))
MATRICES = (
    s(t(3, 3)),
    s(t(4, 3)),
    s(t(3, 4)),
    s(t(2, 3, 2)),
    s(t(1, 1)),
    s(t(7, 2)),
    s(t(2, 9)),
    s(t(0, 2, 3)),
    s(t(2, 0, 3)),
)
PLAIN = tuple(sample.but(layouts=("transposed", "stepped")) for sample in MATRICES)
PLAIN_SQUARES = tuple(sample.but(layouts=("transposed", "stepped")) for sample in SQUARES)
NOT_SQUARE = Refusal(s(t(2, 3)), RuntimeError, r"square matrices, but they are 2 by 3 matrices")
NO_MATRIX = Refusal(s(t(3)), RuntimeError, r"(must|should) have at least 2 dimensions")


def adjoint(a: Array) -> Array:
    return np.swapaxes(a, -1, -2).conj()


def hermitian(rg: Any, a: Any) -> Any:
    return a + a.mH


def eigh(rg: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
    w, v = rg.linalg.eigh(hermitian(rg, a), *args, **kwargs)
    return w, v.abs()


def eigh_reference(a: Array, UPLO: str = "L") -> Any:
    w, v = np.linalg.eigh(a + adjoint(a))
    return w, np.abs(v)


def parts(z: Array) -> Array:
    return np.stack((z.real, z.imag), -1)


def both(rg: Any, z: Any) -> Any:
    return rg.stack((z.real, z.imag), -1)


def eig(rg: Any, a: Any) -> Any:
    w, v = rg.linalg.eig(a)
    size = v.abs() ** 2
    return both(rg, w.sum(-1)), both(rg, (w * w).sum(-1)), (size * (w.abs() ** 2).unsqueeze(-2)).sum(-1)


def eig_reference(a: Array) -> Any:
    w, v = np.linalg.eig(a.astype(np.result_type(a, np.complex64)))
    w, v = w.astype(np.result_type(a, np.complex64)), v.astype(np.result_type(a, np.complex64))
    return parts(w.sum(-1)), parts((w * w).sum(-1)), (np.abs(v) ** 2 * (np.abs(w) ** 2)[..., None, :]).sum(-1)


def eigvals(rg: Any, a: Any) -> Any:
    w = rg.linalg.eigvals(a)
    return both(rg, w.sum(-1)), both(rg, (w * w).sum(-1))


def svd(rg: Any, a: Any, **kwargs: Any) -> Any:
    u, s, vh = rg.linalg.svd(a, **kwargs)
    k = s.shape[-1]
    u, vh = u[..., :k], vh[..., :k, :]
    return u.abs(), s, vh.abs(), u @ vh


def svd_reference(a: Array, full_matrices: bool = True) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.abs(u), s, np.abs(vh), u @ vh


def old_svd(rg: Any, a: Any, *args: Any) -> Any:
    u, s, v = rg.svd(a, *args)
    k = s.shape[-1]
    return u[..., :k].abs(), s, v[..., :k].abs()


def old_svd_reference(a: Array, some: bool = True, compute_uv: bool = True) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    u, v = np.abs(u), np.abs(np.swapaxes(vh, -1, -2))
    if not compute_uv:
        (m, n), k = a.shape[-2:], s.shape[-1]
        u, v = (np.zeros((*a.shape[:-2], n, k), u.dtype) for n in (m, n))
    return u, s, v


def qr(name: str) -> Callable[..., Any]:
    def call(rg: Any, a: Any, *args: Any) -> Any:
        q, r = (rg.linalg.qr if name == "linalg.qr" else rg.qr)(a, *args)
        return (r.abs(),) if args == ("r",) else (q.abs(), r.abs(), q @ r)

    return call


def qr_reference(a: Array, mode: Any = "reduced") -> Any:
    mode = {True: "reduced", False: "complete"}.get(mode, mode)
    m, n = a.shape[-2:]
    if a.size == 0:
        k = min(m, n) if mode != "complete" else m
        q, r = np.zeros((*a.shape[:-2], m, k), a.dtype), np.zeros((*a.shape[:-2], k, n), a.dtype)
        q[..., range(min(m, k)), range(min(m, k))] = 1
    else:
        q, r = np.linalg.qr(a, mode="reduced" if mode == "r" else mode)
    return (np.abs(r),) if mode == "r" else (np.abs(q), np.abs(r), a)


def geqrf(rg: Any, a: Any) -> Any:
    f, tau = rg.geqrf(a)
    k = tau.shape[-1]
    return rg.linalg.householder_product(f[..., :k], tau) @ f.triu()[..., :k, :]


def reflections(a: Array, tau: Array) -> Array:
    """The product of all reflections, square."""
    m, q = a.shape[-2], np.broadcast_to(np.eye(a.shape[-2], dtype=a.dtype), (*a.shape[:-1], a.shape[-2]))
    for i in range(tau.shape[-1]):
        v = np.where(np.arange(m) < i, 0, np.where(np.arange(m) == i, 1, a[..., i]))
        h = np.eye(m) - tau[..., i, None, None] * v[..., :, None] * v[..., None, :].conj()
        q = q @ h.astype(a.dtype)
    return np.asarray(q)


def ormqr(a: Array, tau: Array, c: Array, left: bool = True, transpose: bool = False) -> Any:
    q = reflections(a, tau)
    q = adjoint(q) if transpose else q
    return q @ c if left else c @ q


def pinv(a: Array, *_: Any, hermitian: bool = False, **__: Any) -> Any:
    return np.linalg.pinv(a) if a.size else np.zeros((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype)


def hermitian_pinv(rg: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
    return rg.linalg.pinv(hermitian(rg, a) if kwargs.get("hermitian") else a, *args, **kwargs)


def hermitian_pinv_reference(a: Array, *args: Any, **kwargs: Any) -> Any:
    return pinv(a + adjoint(a) if kwargs.get("hermitian") else a)


def least_squares(rg: Any, *args: Any, **kwargs: Any) -> Any:
    # The singular values have no derivative here.
    return tuple(rg.linalg.lstsq(*args, **kwargs))[:3]


def lstsq(a: Array, b: Array, rcond: Any = None, driver: Any = None) -> Any:
    (m, n), vector = a.shape[-2:], b.ndim < a.ndim
    c = b[..., None] if vector else b
    x = (pinv(a) @ c).astype(a.dtype)
    real = np.abs(x[:0]).dtype
    none, rank = np.zeros(0, real), np.full(a.shape[:-2], min(m, n))
    residuals = none
    if driver in ("gels", "gelsd", "gelss") and m > n and a.size and c.size:
        residuals = (np.abs(a @ x - c) ** 2).sum(-2)
    if driver == "gels":
        rank = np.zeros(0, np.int64)
    return x[..., 0] if vector else x, residuals, rank


def norms(x: Array, p: Any = None) -> Any:
    if x.size == 0:
        return np.zeros(x.shape[:-2], np.abs(x).dtype)
    if x.ndim == 2:
        return np.linalg.cond(x, p)
    return np.array([np.linalg.cond(one, p) for one in x])


def nuclear(x: Array, dim: Any = (-2, -1), keepdim: bool = False) -> Any:
    if isinstance(dim, bool):
        dim, keepdim = (-2, -1), dim
    return np.linalg.norm(x, "nuc", axis=dim, keepdims=keepdim)


def low_rank(name: str) -> Callable[..., Any]:
    def call(rg: Any, a: Any, **kwargs: Any) -> Any:
        u, s, v = getattr(rg, name)(a, **kwargs)
        return (u * s.unsqueeze(-2)) @ v.mH, s

    return call


def low_rank_reference(a: Array, q: Any = None, M: Any = 0, **_: Any) -> Any:
    a = a - M
    return a, np.linalg.svd(a, compute_uv=False)


def principal(a: Array, q: Any = None, center: bool = True, niter: int = 2) -> Any:
    return low_rank_reference(a - a.mean(-2, keepdims=True) if center else a)


def lobpcg(rg: Any, a: Any, k: Any = None, b: Any = None, **kwargs: Any) -> Any:
    if a.shape[-1] != a.shape[-2]:
        return rg.lobpcg(a)
    b = b if b is None else b @ b.mT + rg.eye(b.shape[-1], dtype=b.dtype)
    w, v = rg.lobpcg(hermitian(rg, a), k, b, **kwargs)
    return w, v.abs()


def lobpcg_reference(a: Array, k: Any = None, b: Any = None, largest: bool = True) -> Any:
    a, n, k = a + adjoint(a), a.shape[-1], k or 1
    b = np.eye(n) if b is None else b @ b.T + np.eye(n)
    root = np.linalg.inv(np.linalg.cholesky(b))
    w, v = np.linalg.eigh(root @ a @ root.T)
    w, v = (w[..., ::-1], v[..., ::-1]) if largest else (w, v)
    return w[..., :k].astype(a.dtype), np.abs(root.T @ v)[..., :k].astype(a.dtype)


RECORDS = [
    OpRecord(
        name="linalg.eigh",
        complex=True,
        call=eigh,
        reference=eigh_reference,
        result="reference",
        method=False,
        slack=4096.0,
        samples=(*PLAIN_SQUARES, s(t(3, 3), UPLO="U").but(layouts=()), s(t(2, 4, 4), "u").but(layouts=())),
        refuses=(Refusal(s(t(3, 3), "X"), RuntimeError, r"Expected UPLO argument to be 'L' or 'U', but got X"),),
    ),
    OpRecord(
        name="linalg.eigvalsh",
        complex=True,
        call=lambda rg, a, *args: rg.linalg.eigvalsh(hermitian(rg, a), *args),
        reference=lambda a, *_: np.linalg.eigvalsh(a + adjoint(a)),
        result="reference",
        method=False,
        slack=4096.0,
        samples=(*PLAIN_SQUARES, s(t(3, 3), "U").but(layouts=())),
    ),
    OpRecord(
        name="linalg.eig",
        complex=True,
        call=eig,
        reference=eig_reference,
        result="reference",
        method=False,
        slack=2.0**16,
        samples=PLAIN_SQUARES,
        refuses=(NOT_SQUARE, Refusal(s(index([[1]])), RuntimeError, r"Unknown Complex ScalarType for Long")),
    ),
    OpRecord(
        name="linalg.eigvals",
        complex=True,
        call=eigvals,
        reference=lambda a: eig_reference(a)[:2],
        result="reference",
        method=False,
        slack=2.0**16,
        samples=PLAIN_SQUARES,
        refuses=(NOT_SQUARE,),
    ),
    OpRecord(
        name="linalg.svd",
        complex=True,
        call=svd,
        reference=svd_reference,
        result="reference",
        method=False,
        slack=4096.0,
        samples=(
            *(sample.but(kwargs={"full_matrices": False}) for sample in PLAIN),
            s(t(3, 3)).but(layouts=()),
            s(t(4, 2)).but(layouts=()),
            s(t(2, 2, 3)).but(layouts=()),
        ),
        refuses=(
            NO_MATRIX,
            Refusal(s(index([[1]])), RuntimeError, r"Expected a floating point or complex tensor as input. Got Long"),
            Refusal(s(t(2, 2), driver="gesvd"), RuntimeError, r"only supported on CUDA inputs with cuSOLVER backend"),
        ),
    ),
    OpRecord(
        name="linalg.svdvals",
        complex=True,
        reference=lambda a: np.linalg.svd(a, compute_uv=False),
        result="reference",
        method=False,
        slack=4096.0,
        samples=PLAIN,
        refuses=(NO_MATRIX,),
    ),
    OpRecord(
        name="svd",
        complex=True,
        call=old_svd,
        reference=old_svd_reference,
        result="reference",
        method=False,
        slack=4096.0,
        samples=(
            s(t(4, 3)).but(layouts=()),
            s(t(2, 3), False).but(layouts=()),
            s(t(2, 3), True, False).but(layouts=()),
        ),
        refuses=(NO_MATRIX,),
    ),
    OpRecord(
        name="linalg.qr",
        complex=True,
        call=qr("linalg.qr"),
        reference=qr_reference,
        result="reference",
        method=False,
        slack=4096.0,
        samples=(
            *PLAIN,
            s(t(3, 4), "complete").but(layouts=()),
            s(t(4, 3), "complete").but(layouts=(), smooth=False, sound=False, dtypes=("float64", "float32")),
        ),
        refuses=(
            NO_MATRIX,
            Refusal(s(t(2, 2), "full"), RuntimeError, r"unrecognized mode 'full' but expected one of 'reduced'"),
        ),
    ),
    OpRecord(
        name="qr",
        complex=True,
        call=qr("qr"),
        reference=qr_reference,
        result="reference",
        method=False,
        slack=4096.0,
        samples=(s(t(4, 3)).but(layouts=()), s(t(2, 3, 4), False).but(layouts=())),
        refuses=(NO_MATRIX,),
    ),
    OpRecord(
        name="geqrf",
        complex=True,
        call=geqrf,
        reference=lambda a: a,
        differentiable=False,
        method=False,
        slack=4096.0,
        samples=(s(t(4, 3)), s(t(3, 4)), s(t(2, 3, 3)), s(t(0, 3, 2))),
        refuses=(NO_MATRIX,),
    ),
    OpRecord(
        name="linalg.householder_product",
        covers=("orgqr",),
        complex=True,
        reference=lambda a, tau: reflections(a, tau)[..., : a.shape[-1]],
        method=False,
        out=True,
        slack=4096.0,
        domain=NARROW,
        samples=(s(t(4, 3), t(3)), s(t(4, 3), t(2)), s(t(2, 3, 3), t(2, 3)), s(t(1, 1), t(1)), s(t(0, 3, 2), t(0, 2))),
        refuses=(
            Refusal(s(t(2, 3), t(2)), RuntimeError, r"input.shape\[-2\] must be greater than or equal to input.shape"),
            Refusal(
                s(t(3, 2), t(3)), RuntimeError, r"input.shape\[-1\] must be greater than or equal to tau.shape\[-1\]"
            ),
            Refusal(s(t(4, 3, 2), t(2)), RuntimeError, r"Expected tau to have one dimension less than input"),
            Refusal(s(t(4, 3, 2), t(3, 2)), RuntimeError, r"Expected batch dimensions of tau to be equal to input"),
        ),
    ),
    OpRecord(
        name="ormqr",
        complex=True,
        reference=ormqr,
        out=True,
        slack=4096.0,
        domain=NARROW,
        samples=(
            s(t(4, 3), t(3), t(4, 2)),
            s(t(4, 3), t(3), t(4, 2), transpose=True),
            s(t(4, 3), t(3), t(2, 4), left=False),
            s(t(4, 3), t(3), t(2, 4), left=False, transpose=True),
            s(t(2, 3, 3), t(2, 3), t(2, 3, 1)),
            s(t(0, 3, 2), t(0, 2), t(0, 3, 1)),
        ),
        refuses=(
            Refusal(s(t(3, 2), t(2), t(2, 2)), RuntimeError, r"other.shape\[-2\] must be equal to input.shape\[-2\]"),
            Refusal(s(t(3, 2), t(2), t(3)), RuntimeError, r"other must have at least 2 dimensions"),
            Refusal(s(t(3, 2), t(1, 2), t(3, 2)), RuntimeError, r"Expected tau to have one dimension less than input"),
        ),
    ),
    OpRecord(
        name="linalg.pinv",
        complex=True,
        call=hermitian_pinv,
        reference=hermitian_pinv_reference,
        method=False,
        slack=2.0**14,
        samples=(
            *(sample for sample in PLAIN if sample.args[0].shape != (3, 3)),
            s(t(4, 2), 1e-9).but(layouts=()),
            s(t(4, 2), atol=1e-9, rtol=1e-9).but(layouts=()),
            s(t(2, 3, 3), hermitian=True).but(layouts=()),
        ),
        refuses=(Refusal(s(t(3)), RuntimeError, r"expected a tensor with 2 or more dimensions of float"),),
    ),
    OpRecord(
        name="pinverse",
        complex=True,
        reference=pinv,
        slack=2.0**14,
        samples=(s(t(4, 2)), s(t(2, 2, 4))),
        refuses=(Refusal(s(t(3)), RuntimeError, r"expected a tensor with 2 or more dimensions of float"),),
    ),
    OpRecord(
        name="linalg.matrix_rank",
        complex=True,
        reference=lambda a, *_, **__: np.full(a.shape[:-2], min(a.shape[-2:])),
        result="int64",
        differentiable=False,
        method=False,
        layouts=False,
        samples=(s(t(4, 3)), s(t(2, 3, 3)), s(t(3, 2), 1e-9), s(t(3, 2), rtol=1e-9), s(t(0, 2, 2)), s(t(2, 0, 3))),
        refuses=(
            NO_MATRIX,
            Refusal(s(index([[1]])), RuntimeError, r"doesn't handle types other than float and double"),
        ),
    ),
    OpRecord(
        name="linalg.lstsq",
        complex=True,
        call=least_squares,
        reference=lstsq,
        result="reference",
        method=False,
        slack=2.0**15,
        samples=tuple(
            s(t(*a), t(*b), driver=driver).but(layouts=(), sound=False)
            for driver in (None, "gels", "gelsd", "gelss", "gelsy")
            for a, b in (((4, 3), (4, 2)), ((3, 4), (3, 2)), ((2, 4, 2), (2, 4)), ((2, 0), (2, 1)))
        ),
        refuses=(
            Refusal(s(t(3), t(3)), RuntimeError, r"input must have at least 2 dimensions"),
            Refusal(s(t(3, 2), t(4, 2)), RuntimeError, r"input.size\(-2\) should match other.size\(-2\)"),
            Refusal(
                s(t(3, 2), t(3, 2), driver="best"), RuntimeError, r"should be one of \(gels, gelsy, gelsd, gelss\)"
            ),
            Refusal(
                s(t(3, 2), t(3, 1, dtype="float32")), RuntimeError, r"Expected input and other to have the same dtype"
            ),
        ),
    ),
    OpRecord(
        name="linalg.cond",
        complex=True,
        reference=norms,
        result="reference",
        method=False,
        slack=2.0**16,
        samples=(
            s(t(4, 3)).but(layouts=()),
            *(s(t(3, 3), p).but(layouts=()) for p in (2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc")),
            s(t(2, 3, 3), 1).but(layouts=()),
            s(t(2, 0, 0)).but(layouts=()),
        ),
        refuses=(
            Refusal(s(t(3)), RuntimeError, r"The input tensor must have at least 2 dimensions"),
            Refusal(s(t(2, 3), 1), RuntimeError, r"square matrices, but they are 2 by 3 matrices"),
            Refusal(s(t(2, 2), 3), RuntimeError, r"got an invalid norm type: 3"),
        ),
    ),
    OpRecord(
        name="nuclear_norm",
        complex=True,
        reference=nuclear,
        result="reference",
        method=False,
        slack=4096.0,
        samples=(
            s(t(3, 4)).but(layouts=()),
            s(t(3, 4), True).but(layouts=()),
            s(t(2, 3, 4), (0, 2)).but(layouts=()),
            s(t(2, 3, 4), (1, 0), True).but(layouts=()),
        ),
        refuses=(NO_MATRIX,),
    ),
    OpRecord(
        name="svd_lowrank",
        complex=True,
        call=low_rank("svd_lowrank"),
        reference=low_rank_reference,
        result="reference",
        method=False,
        seed=1,
        slack=2.0**15,
        samples=(s(t(4, 3), q=3).but(layouts=()), s(t(2, 2, 4), q=2).but(layouts=())),
    ),
    OpRecord(
        name="pca_lowrank",
        complex=True,
        call=low_rank("pca_lowrank"),
        reference=principal,
        result="reference",
        method=False,
        seed=1,
        slack=2.0**15,
        samples=(s(t(5, 3)).but(layouts=()), s(t(2, 3, 4), center=False).but(layouts=())),
        refuses=(
            Refusal(s(t(3, 2), q=3), ValueError, r"q\(=3\) must be non-negative integer and not greater than min"),
        ),
    ),
    OpRecord(
        name="lobpcg",
        call=lobpcg,
        reference=lobpcg_reference,
        result="reference",
        method=False,
        slack=2.0**15,
        samples=(
            s(t(4, 4)).but(layouts=(), sound=False),
            s(t(2, 7, 7), 2, largest=False).but(layouts=(), sound=False),
            s(t(3, 3), 1, t(3, 3)).but(layouts=(), sound=False),
        ),
        refuses=(
            Refusal(s(t(3, 3), 2), ValueError, r"number of A rows \(=3\) is smaller than 3 x the number of requested"),
            Refusal(s(t(2, 3)), RuntimeError),
        ),
    ),
]
