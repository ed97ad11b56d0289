"""Records of the matrix products."""

import operator
from typing import Any

import numpy as np

from records.record import NUMBERS, Array, OpRecord, Refusal, Sample, s, t

# Dot products of up to 64 terms, summed in another order than NumPy's.
LONG = 128.0
SIZES = ((1, 1, 1), (2, 3, 4), (7, 8, 9), (15, 16, 17), (31, 33, 32), (0, 3, 4), (2, 0, 4), (2, 3, 0), (1, 64, 1))
MATRICES = tuple(s(t(m, k), t(k, n)) for m, k, n in SIZES)
BATCHED = tuple(s(t(b, m, k), t(b, k, n)) for b, (m, k, n) in zip((2, 3, 1, 2, 2, 2, 2, 2, 0), SIZES, strict=True))
VECTORS = tuple((k,) for k in (0, 1, 7, 8, 9, 16, 17, 33))
MIXED = Refusal(s(t(2, 3), t(3, 4, dtype="float32")), RuntimeError, r"(?i)dtype|double|float")


def addmm(c: Any, a: Array, b: Array, beta: float = 1, alpha: float = 1) -> Any:
    return beta * c + alpha * (a @ b)


def scaled(*samples: Sample) -> tuple[Sample, ...]:
    return (*samples, *(Sample(x.args, {"beta": 2, "alpha": -3}) for x in samples[:1]))


RECORDS = [
    OpRecord(
        name="matmul",
        complex=True,
        halves=1,
        reference=np.matmul,
        dtypes=NUMBERS,
        slack=LONG,
        out=True,
        operator=operator.matmul,
        samples=(
            *MATRICES,
            *BATCHED[:3],
            s(t(3), t(3)),
            s(t(2, 3), t(3)),
            s(t(3), t(3, 4)).but(sound=False),
            s(t(2, 5, 3), t(3)),
            s(t(3), t(2, 3, 4)),
            s(t(2, 1, 2, 3), t(4, 3, 2)),
            s(t(2, 3), t(5, 3, 4)),
            s(t(5, 2, 3), t(3, 4)),
        ),
        refuses=(
            MIXED,
            Refusal(s(t(2, 3), t(2, 3)), RuntimeError, r"cannot be multiplied \(2x3 and 2x3\)"),
            Refusal(s(t(), t(3)), RuntimeError, r"(?i)at least 1|0-dim|0D"),
            Refusal(s(t(3), t(4)), RuntimeError, r"tensor \[3\] and src \[4\]"),
            Refusal(s(t(2, 3), t(4)), RuntimeError, r"mat \(2x3\), vec \(4\)"),
            Refusal(s(t(2, 2, 3), t(3, 3, 2)), RuntimeError, r"2.*3"),
        ),
    ),
    OpRecord(
        name="linalg.matmul",
        complex=True,
        halves=1,
        reference=np.matmul,
        dtypes=NUMBERS,
        slack=LONG,
        out=True,
        method=False,
        samples=(*MATRICES, *BATCHED[:3], s(t(3), t(3)), s(t(5, 2, 3), t(3, 4))),
        refuses=(MIXED, Refusal(s(t(2, 3), t(2, 3)), RuntimeError, r"cannot be multiplied \(2x3 and 2x3\)")),
    ),
    OpRecord(
        name="mm",
        complex=True,
        halves=1,
        reference=np.matmul,
        dtypes=NUMBERS,
        slack=LONG,
        out=True,
        samples=MATRICES,
        refuses=(
            MIXED,
            Refusal(s(t(2, 3), t(2, 3)), RuntimeError, r"cannot be multiplied \(2x3 and 2x3\)"),
            Refusal(s(t(3), t(3, 2)), RuntimeError, r"(?i)matrix|2-?d"),
            Refusal(s(t(2, 2, 3), t(3, 2)), RuntimeError, r"(?i)matrix|2-?d"),
        ),
    ),
    OpRecord(
        name="bmm",
        complex=True,
        halves=1,
        reference=np.matmul,
        dtypes=NUMBERS,
        slack=LONG,
        out=True,
        samples=BATCHED,
        refuses=(
            Refusal(s(t(2, 2, 3), t(2, 2, 3)), RuntimeError, r"2.*3"),
            Refusal(s(t(2, 3), t(2, 3, 2)), RuntimeError, r"3"),
            Refusal(s(t(2, 2, 3), t(3, 3, 2)), RuntimeError, r"2.*3"),
        ),
    ),
    OpRecord(
        name="mv",
        complex=True,
        halves=1,
        reference=np.matmul,
        dtypes=NUMBERS,
        slack=LONG,
        out=True,
        samples=tuple(s(t(m, k), t(k)) for m, k, _ in SIZES),
        refuses=(
            Refusal(s(t(2, 3), t(2)), RuntimeError, r"2.*3.*2|3.*2"),
            Refusal(s(t(3), t(3)), RuntimeError, r"(?i)vector|dim|1D"),
        ),
    ),
    OpRecord(
        name="dot",
        complex=True,
        halves=1,
        reference=np.dot,
        dtypes=NUMBERS,
        slack=LONG,
        out=True,
        samples=tuple(s(t(*k), t(*k)) for k in VECTORS),
        refuses=(
            Refusal(s(t(2, 3), t(3)), RuntimeError, r"1D"),
            Refusal(s(t(3), t(4)), RuntimeError, r"3.*4"),
            Refusal(s(t(3), t(3, dtype="float32")), RuntimeError, r"(?i)dtype|double"),
        ),
    ),
    OpRecord(
        name="addmm",
        complex=True,
        halves=1,
        reference=addmm,
        dtypes=NUMBERS,
        slack=LONG,
        out=True,
        inplace=True,
        samples=scaled(
            s(t(2, 4), t(2, 3), t(3, 4)),
            s(t(4), t(2, 3), t(3, 4)),
            s(t(), t(2, 3), t(3, 4)),
            s(t(2, 1), t(2, 3), t(3, 4)),
            s(t(17, 33), t(17, 9), t(9, 33)),
            s(t(2, 4), t(2, 0), t(0, 4)),
            s(t(0, 4), t(0, 3), t(3, 4)),
        ),
        refuses=(
            Refusal(s(t(2, 4), t(2, 3), t(2, 4)), RuntimeError, r"2.*3.*2.*4"),
            Refusal(s(t(3, 4), t(2, 3), t(3, 4)), RuntimeError, r"3.*2|2.*3"),
            Refusal(s(t(4), t(2, 3), t(3, 4)), RuntimeError, r"2, 4|4.*2", inplace=True),
        ),
    ),
    OpRecord(
        name="addmv",
        complex=True,
        halves=1,
        reference=addmm,
        dtypes=NUMBERS,
        slack=LONG,
        out=True,
        inplace=True,
        samples=scaled(
            s(t(2), t(2, 3), t(3)),
            s(t(), t(2, 3), t(3)),
            s(t(1), t(2, 3), t(3)),
            s(t(17), t(17, 33), t(33)),
            s(t(2), t(2, 0), t(0)),
            s(t(0), t(0, 3), t(3)),
        ),
        refuses=(
            Refusal(s(t(2), t(2, 3), t(4)), RuntimeError, r"mat \(2x3\), vec \(4\)"),
            Refusal(s(t(3), t(2, 3), t(3)), RuntimeError, r"3.*2|2.*3"),
            Refusal(s(t(2), t(2, 3), t(3, dtype="float32")), RuntimeError, r"(?i)dtype", r"Double.*Float"),
            Refusal(s(t(2), t(3), t(3)), RuntimeError, r"vector \+ matrix @ vector"),
        ),
    ),
    OpRecord(
        name="baddbmm",
        complex=True,
        halves=1,
        reference=addmm,
        dtypes=NUMBERS,
        slack=LONG,
        out=True,
        inplace=True,
        samples=scaled(
            s(t(2, 2, 4), t(2, 2, 3), t(2, 3, 4)),
            s(t(4), t(2, 2, 3), t(2, 3, 4)),
            s(t(2, 1, 1), t(2, 2, 3), t(2, 3, 4)),
            s(t(2, 7, 9), t(2, 7, 17), t(2, 17, 9)),
            s(t(2, 2, 4), t(2, 2, 0), t(2, 0, 4)),
            s(t(0, 2, 4), t(0, 2, 3), t(0, 3, 4)),
        ),
        refuses=(
            Refusal(s(t(2, 2, 4), t(2, 2, 3), t(2, 2, 4)), RuntimeError, r"2.*3"),
            Refusal(s(t(3, 2, 4), t(2, 2, 3), t(2, 3, 4)), RuntimeError, r"3.*2|2.*3"),
            Refusal(s(t(2, 4), t(2, 3), t(3, 4)), (RuntimeError, IndexError)),
        ),
    ),
    OpRecord(
        name="addbmm",
        complex=True,
        halves=1,
        reference=lambda c, a, b, beta=1, alpha=1: beta * c + alpha * (a @ b).sum(0),
        dtypes=NUMBERS,
        slack=LONG,
        out=True,
        inplace=True,
        samples=scaled(
            s(t(2, 4), t(3, 2, 3), t(3, 3, 4)),
            s(t(4), t(2, 2, 3), t(2, 3, 4)),
            s(t(2, 1), t(2, 2, 3), t(2, 3, 4)),
            s(t(7, 9), t(2, 7, 17), t(2, 17, 9)),
            s(t(2, 4), t(2, 2, 0), t(2, 0, 4)),
            s(t(2, 4), t(0, 2, 3), t(0, 3, 4)),
        ),
        refuses=(
            Refusal(s(t(2, 4), t(3, 2, 3), t(2, 3, 4)), RuntimeError, r"same number of batches, got 3 and 2"),
            Refusal(s(t(2, 4), t(2, 2, 3), t(2, 2, 4)), RuntimeError, r"Incompatible matrix sizes.*2x3 and 2x4"),
            Refusal(s(t(3, 4), t(2, 2, 3), t(2, 3, 4)), RuntimeError, r"3.*2|2.*3"),
            Refusal(s(t(2, 4, dtype="float32"), t(2, 2, 3), t(2, 3, 4)), RuntimeError, r"same dtype"),
        ),
    ),
    OpRecord(
        name="addr",
        complex=True,
        halves=1,
        reference=lambda c, a, b, beta=1, alpha=1: beta * c + alpha * np.outer(a, b),
        dtypes=NUMBERS,
        slack=LONG,
        out=True,
        inplace=True,
        samples=scaled(
            s(t(3, 4), t(3), t(4)),
            s(t(4), t(3), t(4)),
            s(t(), t(3), t(4)),
            s(t(3, 1), t(3), t(4)),
            s(t(0, 4), t(0), t(4)),
            s(t(17, 33), t(17), t(33)),
        ),
        refuses=(
            Refusal(s(t(3, 4), t(3, 1), t(4)), RuntimeError, r"Expected 1-D argument vec1, but got 2-D"),
            Refusal(s(t(2, 4), t(3), t(4)), RuntimeError, r"2.*3|3.*2"),
            Refusal(s(t(3, 4), t(3), t(4), beta=0.5), RuntimeError, r"argument beta must not be", dtype="int64"),
            Refusal(s(t(4), t(3), t(4)), RuntimeError, r"2D tensor expected, got 1D", inplace=True),
        ),
    ),
    OpRecord(
        name="outer",
        complex=True,
        halves=0,
        reference=np.outer,
        dtypes=NUMBERS,
        out=True,
        samples=(s(t(3), t(4)), s(t(0), t(3)), s(t(3), t(0)), *(s(t(n), t(9)) for n in (1, 7, 16, 33))),
        refuses=(
            Refusal(s(t(2, 3), t(3)), RuntimeError, r"1-D.*2-D"),
            Refusal(s(t(3), t()), RuntimeError, r"1-D.*0-D"),
        ),
    ),
]
