"""What `out=` of another dtype does: a conversion, or a refusal in the words of the op, before anything is written."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from records import rg
from records.bound import Bound, array, dtype_of, tensors_of
from records.record import OpRecord
from records.test_records import NATIVE, RECORDS

# What the refusal says, and the ops that say so: each of them takes `out=` in the dtype of its result alone.
# Transforms convert to another dtype of complex, or of floating, numbers.
WITHIN_A_CATEGORY = r"fftn? expects a (complex|floating point) output tensor, but got"
TRANSFORMS = " ".join(
    f"fft.{way}{kind}fft{end}" for way in ("", "i") for kind in ("", "r", "h") for end in ("", "2", "n")
)
SAYS = {
    "Expected out tensor to have dtype": """sort topk tril triu gather scatter_add scatter index_add index_copy
        matmul mm bmm addmm addmv addbmm baddbmm take_along_dim scatter_reduce msort linalg.vector_norm norm cross
        linalg.cross linalg.matrix_power matrix_power aminmax nn.functional.avg_pool2d nn.functional.avg_pool3d isin
        linalg.matmul renorm frobenius_norm hash_tensor index_reduce""",
    "Expected object of scalar type": "complex polar",
    "Found dtype": """neg abs sign floor ceil trunc round bitwise_not clamp nn.functional.gelu frac sgn conj_physical
        lerp nn.functional.softplus nn.functional.softshrink nn.functional.hardshrink""",
    "Expected out type to be": "where",
    "Expected the dtype for input and out to match": "amax amin",
    "output (values|indices) must be of": "kthvalue",
    r"_select\(\): self and result must have the same scalar type": "index_select masked_select",
    "addmv input tensors must have the same dtype": "mv",
    "result dtype .* does not match input dtype": "dot vdot",
    "nan_to_num: dtype of out: .* should be same as input": "nan_to_num",
    "the output given to float_power has dtype .* but the operation's result requires dtype Double": "float_power",
    "heaviside is not yet implemented for tensors with different dtypes.": "heaviside",
    "does not support non-boolean outputs.": "isposinf isneginf signbit",
    "expected scalar type .* but found": "nn.functional.logsigmoid",
    r"take\(\): self and out expected to have the same dtype": "take",
    "expected scalar_type .* but found": "cummax cummin logcumsumexp",
    "linalg.vecdot: Expected out of dtype": "linalg.vecdot",
    r"multi_dot\(\): expected out tensor to have dtype .* but got": "linalg.multi_dot",
    r"torch.searchsorted\(\): output tensor's dtype is wrong": "searchsorted bucketize",
    "torch.histogram: input tensor and (hist|bin_edges) tensor should have the same dtype": "histc histogram",
    "expected scalar type '.*' but got '.*' for (values|indices) output": "mode",
    "multinomial expects Long tensor out, got": "multinomial",
    r"torch.frexp\(\) expects (mantissa|exponent) to have": "frexp",
    WITHIN_A_CATEGORY: TRANSFORMS,
}
PHRASES = {name: phrase for phrase, names in SAYS.items() for name in names.split()}
# They compute in the dtype of `out=`, or have rules of their own.
OTHERS = ["sum", "nansum", "nanmean", "prod", "cumsum", "cumprod", "all", "any"]
ORDER = ("bool", "int64", "float32", "float64")


def casts(record: OpRecord) -> bool:
    return record.name not in PHRASES and record.name not in OTHERS


def takes(record: OpRecord, result: str, out: str) -> bool:
    """Whether a result of one dtype is converted to another one."""
    category = {"bool": 0, "uint8": 1, "int64": 1, "float32": 2, "float64": 2, "complex64": 3, "complex128": 3}
    if record.name in TRANSFORMS.split():
        return category[result] == category[out]
    return casts(record) and category[result] <= category[out]


def results(record: OpRecord) -> list[Bound]:
    """A call for each of some dtypes that the op takes."""
    calls = []
    for dtype in ("float64", "float32", "int64"):
        samples = [x for x in record.samples if dtype in (x.dtypes or record.dtypes) and (x.sound or NATIVE)]
        calls += [Bound(record, samples[0], dtype)] if samples else []
    return calls


@pytest.mark.parametrize("record", [r for r in RECORDS if r.out and r.name not in OTHERS], ids=lambda r: r.name)
def test_out_of_another_dtype(record: OpRecord) -> None:
    calls = results(record)
    assert calls or not NATIVE
    for bound in calls:
        if record.seed is not None:
            rg.manual_seed(record.seed)
        want = tensors_of(bound.run(bound.tensors()))
        for which, result in enumerate(want):
            for dtype in ORDER:
                if dtype != dtype_of(result):
                    check(bound, want, which, dtype)


def check(bound: Bound, want: list[Any], which: int, dtype: str) -> None:
    outs = [rg.full_like(y, 1, dtype=getattr(rg, dtype) if i == which else y.dtype) for i, y in enumerate(want)]
    given: Any = outs[0] if len(outs) == 1 else tuple(outs)
    if bound.record.seed is not None:
        rg.manual_seed(bound.record.seed)
    result = dtype_of(want[which])
    if takes(bound.record, result, dtype):
        bound.run(bound.tensors(), out=given)
        for out, y in zip(outs, want, strict=True):
            np.testing.assert_array_equal(array(out), array(y).astype(dtype_of(out)))
        return
    phrase = PHRASES.get(bound.record.name, "result type .* can't be cast to the desired output type")
    with pytest.raises((RuntimeError, TypeError)) as raised:
        bound.run(bound.tensors(), out=given)
    if NATIVE:
        assert re.search(phrase, str(raised.value))
        assert result in str(raised.value) or casts(bound.record), "the remedy names the dtype"
    if NATIVE or bound.record.name in PHRASES:
        for out in outs:
            assert (array(out) == 1).all(), "the refused call wrote"


def test_every_phrase_is_of_an_op_with_a_record() -> None:
    assert PHRASES.keys() <= {r.name for r in RECORDS if r.out}
