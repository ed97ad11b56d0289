"""Which ops make zeros of gradients, why, and what to do about it."""

from __future__ import annotations

# By the name of the node, without `Backward` and the digits after it.
_OPS = {
    "masked": "Relu Threshold Hardtanh Clamp ClampMin ClampMax Where MaskedFill MaskedScatter MaskedSelect Hardshrink"
    " Softshrink Hardswish Hardsigmoid Tril Triu NanToNum Nansum Dropout NativeDropout FusedDropout FeatureDropout"
    " HuberLoss SmoothL1Loss",
    "saturated": "Softmax LogSoftmax Sigmoid Tanh LogSigmoid Silu Gelu Glu Erf Erfc Exp Exp2 Expm1 Elu Celu Softplus"
    " Mish Logsumexp Logaddexp Logaddexp2 Cosh Reciprocal BinaryCrossEntropyWithLogits SoftMarginLoss",
    "other_element": "Max Min Amax Amin Aminmax Maximum Minimum Fmax Fmin Median Nanmedian Mode Kthvalue Topk Sort "
    "Cummax Cummin Select Slice Index IndexSelect Gather Take Embedding EmbeddingBag Diagonal AsStrided Narrow Split"
    " SplitWithSizes Unbind UnsafeSplit UnsafeSplitWithSizes MaxPool2DWithIndices MaxPool3DWithIndices"
    " AdaptiveMaxPool2D AdaptiveMaxPool3D Cat Stack BlockDiag NllLoss ConstantPadNd Unfold",
    "zero_derivative": "Sign Sgn Round Floor Ceil Trunc Heaviside Frac Bernoulli",
    "zero_factor": "Mul Mm Mv Bmm Dot Vdot Addmm Addmv Baddbmm Addcmul Addcdiv Div Pow Prod Cumprod Convolution Ldexp"
    " LeakyRelu PreluKernel MseLoss Lerp Xlogy Abs Cos Sin NativeBatchNorm NativeLayerNorm NativeGroupNorm Var Std"
    " VarMean StdMean LinalgVectorNorm Norm ScaledDotProductFlashAttentionForCpu",
    "overwritten": "CopySlices Copy Fill Zero Random Normal Uniform Exponential IndexPut IndexCopy IndexFill Scatter"
    " SliceScatter SelectScatter DiagonalScatter Put",
}
_REASON = {op: reason for reason, ops in _OPS.items() for op in ops.split()}

REMEDIES = {
    "masked": "Its operands are all in the part where the op is constant, or its mask is off for them. Look at their "
    "signs and limits: a smaller step or another start, or a function that is nowhere constant, such as leaky_relu, "
    "softplus or gelu.",
    "saturated": "Its operands are so large that the function is flat there, and its derivative rounds to zero. Scale "
    "or normalise them, or use the form that is computed with logarithms (log_softmax, logsigmoid, cross_entropy with "
    "logits).",
    "other_element": "The elements that it passed on are others than those that come from x. For a maximum, something "
    "else is larger; for an index or a slice, it leaves x out. logsumexp is a maximum that every element has a part "
    "in.",
    "zero_derivative": "The op is constant between its jumps, so its derivative is zero everywhere. Use a smooth one, "
    "or pass the gradient straight through: x + (x.round() - x).detach().",
    "zero_factor": "The factor by which it multiplies the gradient is zero: the other operand, a weight, or the "
    "derivative of the op at this very point. Look for weights that begin as zeros.",
    "overwritten": "The write replaced the values that came from x by others, so the loss does not depend on them.",
    "materialized_zeros": "Use that output in the loss, or call ctx.set_materialize_grads(False) in forward, so that "
    "backward gets None and may say so.",
    "zero": "Look at the operands of the op, and at the backward of the function if it is a custom one.",
    "nan": "Its derivative is not defined where its operands are, such as that of sqrt or a norm at 0, or of log or a "
    "division at 0; where() does not hide it, since zero times infinity is NaN. Keep the operands away from that point "
    "before the op: clamp them, or add a small number.",
    "inf": "Its derivative is infinite where its operands are, such as that of sqrt, log or a division at 0, or it is "
    "larger than the dtype can hold. Keep the operands away from that point, or scale the loss.",
}


def kind_of_zero(name: str) -> str:
    """Why the node with this name makes zeros."""
    op = name.rpartition("::")[2].partition("Backward")[0]
    return _REASON.get(op, "zero")
