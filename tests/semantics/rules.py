"""Custom functions with rules of one's own, right and wrong, for the tests of the checker of derivatives."""

from importlib import import_module

from . import STANDIN, fails, rg

Function = rg.autograd.Function
GradcheckError = import_module(f"{rg.__name__}.autograd.gradcheck").GradcheckError
ROW, SQUARE = [0.5, -1.25, 2.0], [[0.5, -1.5, 2.0], [1.25, 0.75, -0.5], [-2.0, 1.0, 1.5]]


def point(values, dtype=None):
    """A leaf of double precision."""
    return rg.tensor(values, dtype=dtype or rg.float64, requires_grad=True)


def rule(forward, backward, jvp=None, decorate=lambda f: f):
    """A function of tensors with these formulas: `backward(g, *inputs)`, and `jvp(*inputs, *tangents)`."""

    def save(ctx, *xs):
        ctx.save_for_backward(*xs)
        ctx.save_for_forward(*xs)
        return forward(*xs)

    def run(ctx, *gs):
        return backward(*gs, *ctx.saved_tensors)

    def push(ctx, *ts):
        return jvp(*ctx.saved_tensors, *ts)

    body = {"forward": staticmethod(save), "backward": staticmethod(decorate(run))}
    if jvp is not None:
        body["jvp"] = staticmethod(push)
    return type("Made", (Function,), body).apply


def square(backward=lambda g, x: 2 * x * g, jvp=lambda x, t: 2 * x * t, **options):
    """The square, with a right rule unless told otherwise."""
    return rule(lambda x: x * x, backward, jvp, **options)


def twice(backward):
    """Once and twice the input, by a backward that gets None for what is not there: `backward(g, h)`."""

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 1, x * 2

    body = {"forward": forward, "backward": lambda ctx, g, h: backward(g, h), "jvp": lambda ctx, t: (t * 1, t * 2)}
    return type("Twice", (Function,), {name: staticmethod(f) for name, f in body.items()}).apply


def in_a_batch(t):
    """Whether a tensor stands for all entries of a batch, as a wrong batching rule could not help noticing."""
    if STANDIN == "torch":
        return rg._C._functorch.is_legacy_batchedtensor(t)
    return rg._core._batch_parts(t) is not None


def refused(*fragments):
    """The block raises GradcheckError with all `fragments` in its message, in this order."""
    return fails(*fragments, kind=GradcheckError)
