"""Custom functions under vmap: rules made from their methods, against a loop over the entries; rules of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import retrograd as rg
from retrograd.autograd import Function
from retrograd.func import functional_call, grad, jacfwd, jacrev, jvp, vjp, vmap

F64 = rg.float64


class Power(Function):
    """x ** power * w, and x + w, with what it needs saved in every way that there is."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any, w: Any, power: int) -> Any:
        return x**power * w, x + w, (x * 2).floor()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        x, w, ctx.power = inputs
        ctx.save_for_backward(x, w, output[0], x * 3)
        ctx.save_for_forward(x, w)
        ctx.mark_non_differentiable(output[2])

    @staticmethod
    def backward(ctx: Any, g: Any, h: Any, _: Any) -> Any:
        x, w, y, tripled = ctx.saved_tensors
        assert y.shape == x.shape == tripled.shape
        slope = ctx.power * (tripled / 3) ** (ctx.power - 1)
        to_w = g * x**ctx.power + h
        return g * slope * w + h if ctx.needs_input_grad[0] else None, to_w if w.ndim else to_w.sum(), None

    @staticmethod
    def jvp(ctx: Any, dx: Any, dw: Any, _: Any) -> Any:
        x, w = ctx.saved_tensors
        return ctx.power * x ** (ctx.power - 1) * w * dx + x**ctx.power * dw, dx + dw, None


def draw(*shape: int) -> Any:
    generator = rg.Generator()
    generator.manual_seed(sum(shape))
    return rg.rand(shape, dtype=F64, generator=generator) + 0.5


def loop(f: Callable[..., Any], *columns: Any) -> Any:
    rows = [f(*entry) for entry in zip(*columns, strict=True)]
    if isinstance(rows[0], tuple):
        return tuple([rg.stack(column) for column in zip(*rows, strict=True)])
    return rg.stack(rows)


def equal(got: Any, want: Any) -> None:
    if isinstance(want, tuple):
        for a, b in zip(got, want, strict=True):
            equal(a, b)
    else:
        assert got.shape == want.shape
        assert rg.allclose(got, want, rtol=1e-12, atol=1e-12)


def power(x: Any, w: Any) -> Any:
    return Power.apply(x, w, 3)


def total(x: Any, w: Any) -> Any:
    y, z, _ = Power.apply(x, w, 3)
    return (y * y + z).sum()


@pytest.mark.parametrize("w", [draw(4, 3), draw(4)], ids=["rows", "numbers"])
def test_values_and_derivatives_of_a_generated_rule(w: Any) -> None:
    x, t = draw(4, 3), draw(4, 3) * 2
    equal(vmap(power)(x, w), loop(power, x, w))
    equal(vmap(grad(total, (0, 1)))(x, w), loop(grad(total, (0, 1)), x, w))
    push = lambda x, w, t: jvp(total, (x, w), (t, w * 3))[1]  # noqa: E731
    equal(vmap(push)(x, w, t), loop(push, x, w, t))
    equal(vmap(jacrev(grad(total)))(x, w), loop(jacrev(grad(total)), x, w))
    equal(vmap(jacfwd(grad(total)))(x, w), loop(jacfwd(grad(total)), x, w))


def test_an_argument_that_is_not_batched_gets_the_sum() -> None:
    x, w = draw(4, 3), draw(3)
    mapped = lambda w: vmap(total, (0, None))(x, w).sum()  # noqa: E731
    plain = lambda w: loop(lambda x: total(x, w), x).sum()  # noqa: E731
    equal(grad(mapped)(w), grad(plain)(w))
    equal(jacrev(grad(mapped))(w), jacrev(grad(plain))(w))
    equal(vmap(total, (1, None))(x, draw(4)), loop(lambda x: total(x, draw(4)), x.T))
    w = w.requires_grad_()
    vmap(total, (0, None))(x, w).sum().backward()
    equal(w.grad, grad(plain)(w.detach()))


def test_levels_nest() -> None:
    x, w = draw(4, 3), draw(5, 3)
    outer = vmap(lambda x: vmap(lambda w: grad(total, (0, 1))(x, w))(w))(x)
    equal(outer, loop(lambda x: loop(lambda w: grad(total, (0, 1))(x, w), w), x))
    # The function depends on the outer level alone.
    inner = vmap(lambda x: vmap(lambda w: w * grad(total)(x, x * 2))(w))(x)
    equal(inner, loop(lambda x: loop(lambda w: w * grad(total)(x, x * 2), w), x))


def test_the_pullback_is_mapped() -> None:
    x, w, batch = draw(3), draw(3), draw(5, 3)
    _, pull = vjp(lambda x: Power.apply(x, w, 3)[0], x)
    equal(vmap(pull)(batch), loop(pull, batch))
    y = Power.apply(x.requires_grad_(), w, 3)[0]
    (together,) = rg.autograd.grad(y, x, batch, is_grads_batched=True, retain_graph=True)
    equal(together, rg.stack([rg.autograd.grad(y, x, g, retain_graph=True)[0] for g in batch]))


class Bare(Function):
    """A function with neither rule, whose backward calls it again."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.detach() ** 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return Bare.apply(g) / g * 2 * x


def test_a_batch_of_gradients_goes_through_a_function_without_a_rule() -> None:
    x = draw(3).requires_grad_()
    y, batch = Bare.apply(x), draw(4, 3)
    (got,) = rg.autograd.grad(y, x, batch, is_grads_batched=True, create_graph=True)
    equal(got, batch * 2 * x)
    (second,) = rg.autograd.grad(got.sum(), x)
    equal(second, (batch * 2).sum(0))


def test_random_numbers_by_the_mode_of_the_map() -> None:
    class Noisy(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            return x + rg.rand(2, dtype=F64)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

    x = rg.zeros(3, 2, dtype=F64)
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(Noisy.apply)(x)
    same = vmap(Noisy.apply, randomness="same")(x)
    assert bool((same[0] == same[1]).all())
    different = vmap(Noisy.apply, randomness="different")(x)
    assert not bool((different[0] == different[1]).any())


def test_what_a_generated_rule_cannot_do() -> None:
    class Writes(Power):
        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.mark_dirty(inputs[0])

    with pytest.raises(RuntimeError, match="writes to its inputs"):
        vmap(lambda x: Writes.apply(x, x, 3))(draw(4, 3))

    class Short(Power):
        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            return grads[0]

    with pytest.raises(
        RuntimeError, match=r"ShortBackward returned an incorrect number of gradients \(expected 3, got 1\)"
    ):
        vmap(grad(lambda x: Short.apply(x, x, 3)[0].sum()))(draw(4, 3))


def test_a_rule_of_its_own() -> None:
    seen: list[Any] = []

    class Both(Function):
        @staticmethod
        def forward(x: Any, w: Any) -> Any:
            return x * w, x.sum()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            x, w = ctx.saved_tensors
            return g * w + h, g * x

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any, w: Any) -> Any:
            seen.append((info.batch_size, in_dims))
            x = x.movedim(in_dims[0], -1)
            return (x * (w.unsqueeze(-1) if in_dims[1] is None else w.movedim(in_dims[1], -1)), x.sum(0)), (-1, 0)

    x, w = draw(3, 4), draw(3)
    equal(vmap(Both.apply, (1, None))(x, w), loop(lambda x: Both.apply(x, w), x.T))
    assert seen == [(4, (1, None))]
    f = lambda x: sum(y.sum() for y in Both.apply(x, w))  # noqa: E731
    equal(vmap(grad(f), 1)(x), loop(grad(f), x.T))

    class Unequal(Both):
        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any, w: Any) -> Any:
            return (x, x), (0,)

    with pytest.raises(RuntimeError, match=r"Expected out_dims=\(0,\) to be compatible with the structure of `output`"):
        vmap(Unequal.apply, (1, None))(x, w)


def test_whose_derivative_it_is() -> None:
    """Of a transform inside the batch that of the function, of one outside that of what the rule does.

    Wrong derivatives tell them apart.
    """

    class Wrong(Function):
        @staticmethod
        def forward(x: Any, w: Any) -> Any:
            return x * w, w * 1

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            assert output[0].shape == inputs[0].shape == (3,)
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(output[0])

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            x, w = ctx.saved_tensors
            return g * w * 10, g * x * 20 + h

        @staticmethod
        def jvp(ctx: Any, t: Any, _: Any) -> Any:
            (y,) = ctx.saved_tensors
            return t * y * 30, t * 0

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any, w: Any) -> Any:
            return (x.movedim(in_dims[0], 0) * w, w.exp()), (0, in_dims[1])

    x, w, v = draw(3, 4), draw(3), draw(3)
    f = lambda x, w: (Wrong.apply(x, w)[0] * v).sum()  # noqa: E731
    by_x, by_w = vmap(grad(f, (0, 1)), (1, None))(x, w)
    equal(by_x, (v * w * 10).expand(4, 3))
    equal(by_w, x.T * v * 20)
    outside = lambda x, w: vmap(f, (1, None))(x, w).sum()  # noqa: E731
    equal(grad(outside, (0, 1))(x, w), ((v * w).expand(4, 3).T, (x.T * v).sum(0)))
    push = vmap(lambda x: jvp(lambda x: Wrong.apply(x, w)[0], (x,), (v,))[1], 1)
    equal(push(x), v * x.T * w * 30)
    pushed = jvp(lambda x: vmap(lambda x: Wrong.apply(x, w)[0], 1)(x), (x,), (x * 2,))
    equal(pushed, (x.T * w, x.T * w * 2))
    leaf = x.clone().requires_grad_()
    vmap(f, (1, None))(leaf, w).sum().backward()
    equal(leaf.grad.T, (v * w).expand(4, 3))
    equal(vmap(lambda x: Wrong.apply(x, w), 1)(x), (x.T * w, w.exp().expand(4, 3)))
    equal(vmap(lambda x: vjp(lambda x: Wrong.apply(x, w)[1], x)[0], 1)(x), w.exp().expand(4, 3))


def ruled(rule: Callable[..., Any], forward: Callable[..., Any] = lambda x, *_: x * 2) -> Any:
    """A function whose vmap staticmethod is `rule`."""
    members = {"forward": forward, "setup_context": lambda ctx, inputs, output: None, "vmap": rule}
    return type("Ruled", (Function,), {name: staticmethod(f) for name, f in members.items()})


TWO = "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure"
UNLIKE = "The autograd.Function's vmap staticmethod returned an incompatible"


@pytest.mark.parametrize(
    ("returned", "error", "says"),
    [
        (lambda x: None, RuntimeError, TWO + r".*Got a <class 'NoneType'> instead"),
        (lambda x: x, RuntimeError, TWO + r".*Got a <class '.*Tensor'> instead"),
        (lambda x: [x, 0], RuntimeError, TWO + r".*Got a <class 'list'> instead"),
        (lambda x: (x, 0, 0), RuntimeError, TWO + r".*Got 3 returns instead"),
        (lambda x: (x,), RuntimeError, TWO + r".*Got 1 returns instead"),
        (lambda x: (x, (0,)), RuntimeError, UNLIKE + r".*out_dims has structure \(\*,\) but output has structure \*"),
        (lambda x: ((x, x), (0,)), RuntimeError, UNLIKE + r".*Expected out_dims=\(0,\)"),
        (
            lambda x: ((x, x), [0, 0]),
            RuntimeError,
            UNLIKE + r".*structure \[\*, \*\] but output has structure \(\*, \*\)",
        ),
        (
            lambda x: (x * 1, 5),
            IndexError,
            r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 5\)",
        ),
        (lambda x: (x * 1, "0"), TypeError, "str"),
        (lambda x: (x.sum(), 0), RuntimeError, "is not the batch, which has 4 entries"),
        (lambda x: (x[1:], 0), RuntimeError, "is not the batch, which has 4 entries"),
    ],
)
def test_what_a_rule_must_return(returned: Callable[[Any], Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        vmap(ruled(lambda info, dims, x: returned(x)).apply)(draw(4, 3))


def test_outputs_and_axes_are_trees() -> None:
    x, w = draw(4, 3), draw(3)
    f = ruled(lambda info, dims, x, w: ((x, {"a": x.T, "b": [w, 5]}), (0, {"b": [None, 0], "a": -1}))).apply
    mapped = lambda x: (lambda y, d: (y, d["a"], d["b"][0] + x * d["b"][1]))(*f(x, w))  # noqa: E731
    equal(vmap(mapped)(x), (x, x, w + x * 5))
    for axes in (0, None):
        y, z = vmap(ruled(lambda info, dims, x, axes=axes: ((x * 1, x * 1), axes)).apply)(x)
        equal(y, x if axes == 0 else x.expand(4, 4, 3))
        equal(z, y)


def test_arguments_are_trees() -> None:
    x, w, seen = draw(4, 3), draw(3), []

    def rule(info: Any, dims: Any, *args: Any) -> Any:
        seen.append(dims)
        pair, number, named = args
        return pair[0] * number + named["w"], 0

    forward = lambda pair, number, named: pair[0] * number + named["w"]  # noqa: E731
    for f in (ruled(rule, forward), ruled(Function.vmap, forward)):
        f.generate_vmap_rule = f.vmap is Function.vmap
        equal(vmap(lambda x, f=f: f.apply([x, w], 3, {"w": x, "n": None}))(x), x * 4)
    assert seen == [([0, None], None, {"w": 0, "n": None})]
    assert vmap(lambda x: x + f.apply([w], 2, {"w": w}))(x).shape == (4, 3)


def test_keyword_arguments() -> None:
    x, w = draw(4, 3), draw(3)
    forward = lambda x, y, scale=2: x * y * scale  # noqa: E731
    f = ruled(lambda info, dims, x, y, scale: ((x, y, scale), (0, dims[1], dims[2])), forward).apply
    equal(vmap(lambda x: f(x, scale=7, y=w)[0] + f(x, y=x)[2])(x), x + 2)

    class Generated(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any, y: Any, scale: Any = 2) -> Any:
            return x * y * scale

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

    equal(vmap(lambda x: Generated.apply(x, scale=x, y=w))(x), x * x * w)
    only = ruled(lambda info, dims, x, *, y: (x * y, 0), lambda x, *, y: x * y)
    with pytest.raises(NotImplementedError, match="Please do not pass kwarg-only Tensors"):
        vmap(lambda x: only.apply(x, y=x))(x)


def test_an_argument_that_a_rule_returns_is_that_argument() -> None:
    same = []

    def call(x: Any) -> Any:
        y = ruled(lambda info, dims, x: (x.mul_(3), dims[0])).apply(x)
        same.append(y is x)
        return x

    x = draw(3, 4)
    equal(vmap(call, 1)(x.clone()), x.T * 3)
    assert same == [True]


@pytest.mark.parametrize("size", [2, 3])
def test_a_gradient_broader_than_its_argument_is_summed_for_each_entry(size: int) -> None:
    class Broad(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            return x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g.expand(3, 4) * rg.arange(1.0, 4.0, dtype=F64).reshape(3, 1)

    f = grad(lambda x: (Broad.apply(x) * x.detach()).sum())
    x = draw(size, 4)
    equal(vmap(f)(x), x * 6)
    equal(vmap(f, 1)(x.T), x * 6)

    class Narrow(Broad):
        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g[:1]

    with pytest.raises(
        RuntimeError, match=r"Function NarrowBackward returned an invalid gradient at index 0 - got \[1\]"
    ):
        vmap(grad(lambda x: Narrow.apply(x).sum()))(x)


def test_a_module_of_functions() -> None:
    class Module:
        def __init__(self) -> None:
            self.weight = draw(3)

        def named_parameters(self, **_: Any) -> Any:
            return [("weight", self.weight)]

        def named_buffers(self, **_: Any) -> Any:
            return []

        def __call__(self, x: Any) -> Any:
            return total(x, self.weight)

    module, x = Module(), draw(4, 3)
    per_entry = vmap(grad(lambda p, x: functional_call(module, p, (x,))), (None, 0))({"weight": draw(3)}, x)
    equal(per_entry["weight"], loop(lambda x: grad(total, 1)(x, draw(3)), x))
