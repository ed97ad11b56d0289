"""Selective checkpoints: results of ops that a policy chooses are kept."""

import functools
import gc
import importlib
import os

import pytest

STANDIN = os.environ.get("RETROGRAD_STANDIN", "retrograd")
rg = importlib.import_module(STANDIN)
ckpt = importlib.import_module(f"{STANDIN}.utils.checkpoint")
checkpoint, CheckpointPolicy = ckpt.checkpoint, ckpt.CheckpointPolicy
aten, F = rg.ops.aten, rg.nn.functional


def leaf(*shape):
    return rg.randn(*shape, dtype=rg.float64, requires_grad=True)


def contexts(policy, **options):
    return functools.partial(ckpt.create_selective_checkpoint_contexts, policy, **options)


def run(function, *args, policy, **options):
    return checkpoint(function, *args, use_reentrant=False, context_fn=contexts(policy), **options)


class Counted(rg.overrides.TorchFunctionMode):
    """Counts the ops that run, by their names."""

    def __init__(self):
        self.names = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.append(func.__name__)
        return func(*args, **(kwargs or {}))


def keep_all(ctx, op, *args, **kwargs):
    return CheckpointPolicy.MUST_SAVE


def keep_none(ctx, op, *args, **kwargs):
    return CheckpointPolicy.PREFER_RECOMPUTE


def attention(x, w):
    q, k, v = (x @ w).chunk(3, -1)
    a = F.softmax(q @ k.transpose(-1, -2) / 2, -1)
    return (F.layer_norm(a @ v, (4,)) + x).exp()


def cnn(x, w):
    y = F.relu(F.conv2d(x.reshape(1, 1, 4, 3), w.reshape(4, 1, 2, 6)[..., :2]))
    return F.max_pool2d(y, 2).sum() + F.linear(x, w.t()).tanh().sum()


def in_place(x, w):
    y = x @ w
    z = y * 3
    z.mul_(2).sin_()
    z[0] = y[1] * 3
    return (z * y).sum(0)


def branches(x, w):
    parts = (x @ w).split(3, 1)
    return rg.cat([p.sigmoid() * (i + 1) for i, p in enumerate(parts)], 1).max(0)[0]


@pytest.mark.parametrize("early_stop", [False, True])
@pytest.mark.parametrize(
    "policy",
    [keep_all, keep_none, [aten.mm.default], [aten._softmax.default, aten.convolution.default, aten.exp.default]],
)
@pytest.mark.parametrize("function", [attention, cnn, branches])
def test_gradients_are_those_of_the_plain_call(function, policy, early_stop):
    x, w = leaf(3, 4), leaf(4, 12)
    plain = rg.autograd.grad(function(x, w).sum(), (x, w))
    y = run(function, x, w, policy=policy, early_stop=early_stop)
    for a, b in zip(plain, rg.autograd.grad(y.sum(), (x, w)), strict=True):
        assert a.equal(b)


def test_what_writes_in_place_runs_again():
    x, w = leaf(3, 4), leaf(4, 12)
    (plain,) = rg.autograd.grad(in_place(x, w).sum(), x)
    (g,) = rg.autograd.grad(run(in_place, x, w, policy=[aten.mm.default, aten.mul_.default]).sum(), x)
    assert g.equal(plain)
    y = run(in_place, x, w, policy=[aten.mul.Tensor])
    with pytest.raises(RuntimeError, match="Tensor cached during selective activation checkpoint has been mutated"):
        y.sum().backward()


def test_writes_to_what_was_kept_can_be_allowed():
    def f(x):
        y = x * 2
        y.detach().fill_(5.0)
        return y.sin()

    x = rg.ones(1, requires_grad=True)
    keep = contexts([aten.mul.Tensor], allow_cache_entry_mutation=True)
    checkpoint(f, x, use_reentrant=False, context_fn=keep, early_stop=False).backward()
    assert x.grad.item() == pytest.approx(2 * rg.tensor(5.0).cos().item())


def test_ops_whose_results_were_kept_do_not_run_again():
    x, w = leaf(3, 4), leaf(4, 12)
    y = run(attention, x, w, policy=[aten.mm.default, aten._softmax.default], early_stop=False)
    total = y.sum()
    with Counted() as counted:
        rg._core._backward((total,), (None,), False, False, None)
    again = [name for name in counted.names if name in ("matmul", "softmax", "layer_norm", "exp")]
    assert again == ["layer_norm", "exp"]


def live():
    """How many times 80 kB tensors have."""
    gc.collect()
    return round(rg._core._memory_stats()[0] / 80_000)


def test_what_was_kept_is_freed_when_it_was_used():
    x = leaf(10_000)
    before = live()
    y = run(lambda x: x.exp().sin().cos().sum(), x, policy=[aten.exp.default])
    assert live() - before == 1  # the result of exp
    y.backward(retain_graph=True)
    assert live() - before == 1  # the gradient


def test_an_argument_that_a_node_saves_is_not_kept():
    x, w = leaf(10_000, 1), leaf(1, 1)
    before = live()
    y = run(lambda x, w: (x.sin() @ w).sum(), x, w, policy=[aten.mm.default])
    assert live() - before == 1
    y.backward()


def test_a_policy_is_told_of_the_op_its_arguments_and_its_result():
    seen = []

    def policy(ctx, op, *args, **kwargs):
        assert type(ctx) is ckpt.SelectiveCheckpointContext and not ctx.is_recompute
        assert not rg.is_grad_enabled()
        seen.append((str(op), len(args), kwargs, ctx.op_output.tolist()))
        return False

    x = rg.ones(2, 2, requires_grad=True)
    y = run(lambda x: rg.sum(x @ x, dim=0).detach().mul(x).shape and x.sum(), x, policy=policy)
    y.backward()
    assert seen == [
        ("aten.mm.default", 2, {}, [[2.0, 2.0], [2.0, 2.0]]),
        ("aten.sum.dim_IntList", 1, {"dim": 0}, [4.0, 4.0]),
        ("aten.mul.Tensor", 2, {}, [[4.0, 4.0], [4.0, 4.0]]),
        ("aten.sum.default", 1, {}, 4.0),
    ]


@pytest.mark.parametrize("preserve", [True, False])
def test_random_numbers_go_on_behind_an_op_that_does_not_draw_again(preserve):
    def f(x):
        return F.dropout(F.dropout(x, 0.5), 0.5)

    x = rg.ones(64, requires_grad=True)
    y = run(f, x, policy=[aten.dropout.default], preserve_rng_state=preserve)
    state = rg.get_rng_state()
    y.sum().backward()
    assert rg.get_rng_state().equal(state)
    assert x.grad.tolist() == y.tolist()

    first = iter([True])

    def only_first(ctx, op, *args, **kwargs):
        return next(first, False)

    x.grad = None
    y = run(f, x, policy=only_first)
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()


def test_a_second_pass_needs_what_is_gone():
    x = leaf(3)
    y = run(lambda x: x.exp().sin(), x, policy=[aten.exp.default])
    y.sum().backward(retain_graph=True)
    with pytest.raises(RuntimeError, match=r"Trying to backward an extra time\. You are only allowed to backward once"):
        y.sum().backward()
    y = run(lambda x: x.exp().sin(), x, policy=keep_none)
    (g,) = rg.autograd.grad(y.sum(), x, retain_graph=True)
    assert rg.autograd.grad(y.sum(), x)[0].equal(g)


def test_a_recomputation_with_other_ops_is_refused():
    x = leaf(3)
    for ops, text in (
        ([rg.exp, rg.sin], "aten.sin.default encountered during backward but not found in storage"),
        (
            [lambda v: v.exp().sin(), lambda v: v.exp().exp()],
            "aten.exp.default invocation index 1 encountered during backward but not",
        ),
    ):
        chosen = iter(ops)
        y = run(lambda x, chosen=chosen: next(chosen)(x).sum() * 2, x, policy=keep_none)
        with pytest.raises(RuntimeError, match=text):
            y.backward()


def test_a_function_that_differentiates_through_what_was_kept_is_refused():
    def f(x):
        y = x.exp()
        (g,) = rg.autograd.grad(y.sin().sum(), x, create_graph=True)
        return g * y

    x = leaf(3)
    (plain,) = rg.autograd.grad(f(x).sum(), x)
    (g,) = rg.autograd.grad(run(f, x, policy=keep_none).sum(), x)
    assert g.equal(plain)
    with pytest.raises(RuntimeError, match="Trying to backward an extra time"):
        run(f, x, policy=[aten.exp.default]).sum().backward()

    def with_backward(x):
        y = x.exp()
        y.sin().sum().backward(retain_graph=True)
        return y

    with pytest.raises(RuntimeError, match=r"differentiates through aten\.exp\.default, whose result was kept"):
        run(with_backward, x, policy=[aten.exp.default], early_stop=False)


def test_calls_nest():
    x, w = leaf(3, 3), leaf(3, 3)

    def inner(x):
        return (x @ w).sin().exp()

    for inside in (keep_none, [aten.sin.default]):

        def outer(x, inside=inside):
            return run(inner, x.cos(), policy=inside) @ x

        (plain,) = rg.autograd.grad((inner(x.cos()) @ x).sum(), x)
        for policy in ([aten.mm.default], [aten.cos.default], keep_all):
            (g,) = rg.autograd.grad(run(outer, x, policy=policy).sum(), x)
            assert g.equal(plain)


def test_second_derivatives_are_those_of_the_plain_call():
    x, w = leaf(3, 4), leaf(4, 12)

    def gradient(y):
        return rg.autograd.grad(y.sum(), x, create_graph=True)[0].sin().sum()

    (plain,) = rg.autograd.grad(gradient(attention(x, w)), w)
    (g,) = rg.autograd.grad(gradient(run(attention, x, w, policy=keep_none)), w)
    rg.testing.assert_close(g, plain)


def test_without_grad_mode_no_policy_is_asked():
    with rg.no_grad():
        y = run(rg.exp, rg.ones(1), policy=lambda *args: 1 / 0)
    assert y.grad_fn is None
    x = leaf(2)

    def f(x):
        with rg.no_grad():
            scale = x.exp()
        return (x * scale).sin()

    (plain,) = rg.autograd.grad(f(x).sum(), x)
    assert rg.autograd.grad(run(f, x, policy=keep_all).sum(), x)[0].equal(plain)


def test_policies_are_functions_or_lists_of_overloads():
    make = ckpt.create_selective_checkpoint_contexts
    with pytest.raises(TypeError, match=r"policy_fn_or_list must be either a function or a list of ops\."):
        make(3)
    with pytest.raises(
        ValueError, match=r"an OpOverload but got: aten\.mm of type .* Please update the OpOverloadPacket"
    ):
        make([aten.mm])
    with pytest.raises(
        ValueError, match="Expected op in `op_list` to be an OpOverload but got: 3 of type <class 'int'>"
    ):
        make([3])
    assert aten.detach.default in ckpt.SAC_IGNORED_OPS
    assert [p.value for p in CheckpointPolicy] == list(range(6))
    for policy in CheckpointPolicy:
        x = leaf(2)
        y = run(lambda x: x.exp().sin(), x, policy=lambda *args, policy=policy, **kwargs: policy)
        y.sum().backward()
        rg.testing.assert_close(x.grad, x.exp() * x.exp().cos())


# What torch 2.13 tells a policy of: the op that computes, where a function there runs several.
A, B, V = rg.ones(2, 2), rg.ones(3, 2, 2), rg.ones(2)
IMAGE, WEIGHT, Q = rg.ones(1, 2, 4, 4), rg.ones(2, 2, 3, 3), rg.ones(1, 2, 3, 4)
RUNS = [
    (lambda: A @ A, "mm.default"),
    (lambda: B @ B, "bmm.default"),
    (lambda: B @ A, "mm.default"),
    (lambda: A @ V, "mv.default"),
    (lambda: V @ V, "dot.default"),
    (lambda: rg.matmul(A, other=A), "mm.default"),
    (lambda: F.linear(A, A), "mm.default"),
    (lambda: F.linear(A, A, V), "addmm.default"),
    (lambda: F.linear(B, A, bias=V), "addmm.default"),
    (lambda: A + 1, "add.Tensor"),
    (lambda: A - A, "sub.Tensor"),
    (lambda: 1 - A, "rsub.Scalar"),
    (lambda: A * 2, "mul.Tensor"),
    (lambda: A / A, "div.Tensor"),
    (lambda: A**2, "pow.Tensor_Scalar"),
    (lambda: A**A, "pow.Tensor_Tensor"),
    (lambda: 2**A, "pow.Scalar"),
    (lambda: 2 / A, "div.Tensor"),
    (lambda: 3 // A, "floor_divide.default"),
    (lambda: A == 1, "eq.Scalar"),
    (lambda: A < A, "lt.Tensor"),
    (lambda: A % 2, "remainder.Scalar"),
    (lambda: -A, "neg.default"),
    (lambda: A.exp(), "exp.default"),
    (lambda: F.gelu(A), "gelu.default"),
    (lambda: F.softmax(A, -1), "_softmax.default"),
    (lambda: A.log_softmax(-1), "_log_softmax.default"),
    (lambda: F.layer_norm(A, (2,)), "native_layer_norm.default"),
    (lambda: F.conv2d(IMAGE, WEIGHT), "convolution.default"),
    (lambda: F.max_pool2d(IMAGE, 2), "max_pool2d_with_indices.default"),
    (lambda: F.scaled_dot_product_attention(Q, Q, Q), "_scaled_dot_product_flash_attention_for_cpu.default"),
    (lambda: A.sum(), "sum.default"),
    (lambda: A.sum(0), "sum.dim_IntList"),
    (lambda: A.mean(dim=0), "mean.dim"),
    (lambda: A.max(0), "max.dim"),
    (lambda: A.prod(0), "prod.dim_int"),
    (lambda: A.var(), "var.correction"),
    (lambda: A.norm(), "linalg_vector_norm.default"),
    (lambda: rg.linalg.vector_norm(A), "linalg_vector_norm.default"),
    (lambda: rg.linalg.eigh(A), "linalg_eigh.default"),
    (lambda: rg.special.entr(A), "special_entr.default"),
    (lambda: A.transpose(0, 1), "transpose.int"),
    (lambda: A.view(4), "view.default"),
    (lambda: A.reshape(4), "view.default"),
    (lambda: A.unbind(), "unbind.int"),
    (lambda: A[0], "select.int"),
    (lambda: A[0:1], "slice.Tensor"),
    (lambda: A[rg.tensor([0])], "index.Tensor"),
    (lambda: A.chunk(2), "split.Tensor"),
    (lambda: A.to(rg.float64), "_to_copy.default"),
    (lambda: A.double(), "_to_copy.default"),
    (lambda: rg.where(A > 0, A, A), "where.self"),
    (lambda: A.masked_fill(A > 0, 0.0), "masked_fill.Scalar"),
    (lambda: rg.cat([A, A]), "cat.default"),
    (lambda: rg.lerp(A, A, 0.5), "lerp.Scalar"),
]


@pytest.mark.parametrize(("call", "name"), RUNS, ids=[name for _, name in RUNS])
def test_ops_have_the_names_of_the_dispatcher(call, name):
    seen = []

    def policy(ctx, op, *args, **kwargs):
        seen.append(op)
        return False

    with ckpt.create_selective_checkpoint_contexts(policy)[0]:
        call()
    packet, overload = name.split(".")
    assert seen[-1] is getattr(getattr(aten, packet), overload)


def test_ops_of_the_package_are_in_a_namespace():
    assert aten.mm is aten.mm and aten.mm.default is aten.mm.default
    assert aten.mm(A, A).tolist() == aten.mm.default(A, A).tolist() == [[2.0, 2.0], [2.0, 2.0]]
    assert aten.gelu.default(A).equal(F.gelu(A)) and aten.linalg_inv(rg.eye(2)).equal(rg.eye(2))
    assert aten.add_.Tensor(rg.ones(1), 1).item() == 2.0
    assert (aten.add.Tensor.name(), aten.mm.default.name()) == ("aten::add.Tensor", "aten::mm")
    assert "mm" in dir(aten)
    assert repr(aten._scaled_dot_product_efficient_attention.default).startswith("<OpOverload(op='aten._scaled_dot")
    with pytest.raises(NotImplementedError, match=r"ops\.aten\._scaled_mm is a name alone"):
        aten._scaled_mm(A, A)
    for name in ("no_such_op", "mish_mash"):
        with pytest.raises(AttributeError, match=f"'_OpNamespace' 'aten' object has no attribute '{name}'"):
            getattr(aten, name)
