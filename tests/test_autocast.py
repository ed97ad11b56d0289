"""Regions of autocast: what is converted, when, and who sees it. With RETROGRAD_STANDIN=torch they run on torch."""

import importlib
import os
import threading
import warnings

import pytest

STANDIN = os.environ.get("RETROGRAD_STANDIN", "retrograd")
if STANDIN == "torch":
    with warnings.catch_warnings():  # torch's forward mode loads this at first use, with warnings of its own
        warnings.simplefilter("ignore")
        importlib.import_module("torch._decomp.decompositions_for_jvp")

beyond = pytest.mark.xfail(STANDIN == "torch", strict=True, reason="torch does otherwise")


@pytest.fixture(autouse=True)
def no_region_is_left(rg):
    def state():
        return rg.is_autocast_enabled("cpu"), rg.get_autocast_dtype("cpu"), rg.is_autocast_cache_enabled()

    assert state() == (False, rg.bfloat16, True)
    yield
    left, nesting = state(), rg.autocast_increment_nesting()
    rg.set_autocast_enabled("cpu", False)  # or the tests after this one would fail too
    for _ in range(nesting):
        rg.autocast_decrement_nesting()
    assert STANDIN == "torch" or (left, nesting) == ((False, rg.bfloat16, True), 1)


@pytest.fixture
def functional(rg):
    return rg.nn.functional


def leaf(rg, *sizes):
    return rg.ones(*sizes, requires_grad=True)


def test_settings_hold_inside_and_are_put_back(rg):
    region = rg.autocast("cpu", dtype=rg.float16, cache_enabled=False)
    with region as entered:
        assert entered is region
        assert rg.is_autocast_enabled("cpu") and not rg.is_autocast_cache_enabled()
        assert rg.get_autocast_dtype("cpu") == rg.float16
        with pytest.raises(KeyError), rg.autocast("cpu", enabled=False):
            assert not rg.is_autocast_enabled("cpu") and not rg.is_autocast_cache_enabled()
            assert rg.get_autocast_dtype("cpu") == rg.float16  # what holds outside is the default
            raise KeyError
        assert rg.is_autocast_enabled("cpu")
    with rg.autocast("cpu:0"):
        assert rg.is_autocast_enabled("cpu")


@beyond
def test_a_region_can_be_entered_within_itself(rg):
    region = rg.autocast("cpu")
    with region, region:
        pass
    assert not rg.is_autocast_enabled("cpu")


@beyond
def test_a_decorated_function_can_call_itself(rg):
    @rg.autocast("cpu")
    def called(depth):
        return rg.is_autocast_enabled("cpu") and (depth == 0 or called(depth - 1))

    assert called(2)
    assert not rg.is_autocast_enabled("cpu")


def test_a_decorated_function_runs_in_a_region_at_each_call(rg):
    @rg.autocast("cpu", dtype=rg.bfloat16)
    def product(x):
        """Doc."""
        return x @ x

    assert (product.__name__, product.__doc__) == ("product", "Doc.")
    for _ in range(2):
        assert product(rg.ones(2, 2)).dtype == rg.bfloat16
    assert not rg.is_autocast_enabled("cpu")


@beyond
def test_the_body_of_a_decorated_generator_runs_in_the_region(rg):
    @rg.autocast("cpu")
    def steps():
        yield rg.is_autocast_enabled("cpu")

    assert [(on, rg.is_autocast_enabled("cpu")) for on in steps()] == [(True, False)]


def products(rg, F):
    """Calls that convert to the dtype of the region."""

    def made(*sizes):
        return lambda dtype: rg.ones(*sizes, dtype=dtype)

    m, b, v = made(2, 2), made(3, 2, 2), made(2)
    yield "mm", rg.mm, (m, m)
    yield "matmul", rg.matmul, (m, v)
    yield "bmm", rg.bmm, (b, b)
    yield "linear", F.linear, (m, m)
    yield "linear with bias", F.linear, (m, m, v)
    yield "vecdot", rg.linalg.vecdot, (m, m)
    yield "einsum", lambda x, y: rg.einsum("ij,jk->ik", x, y), (m, m)
    yield "tensordot", lambda x, y: rg.tensordot(x, y, dims=1), (m, m)
    yield "multi_dot", lambda *xs: rg.linalg.multi_dot(xs), (m, m, m)
    yield "inner", rg.inner, (m, m)
    yield "operator", lambda x, y: x @ y, (m, m)
    yield "method", lambda x, y: x.mm(y), (m, m)


def needing_precision(rg, F):
    """Calls that convert to float32."""

    def made(*sizes):
        return lambda dtype: rg.full(sizes, 0.5, dtype=dtype)

    m, image, volume = made(2, 2), made(1, 1, 3, 3), made(1, 1, 4, 4, 4)
    classes = rg.tensor([0, 1])
    yield "prod", rg.prod, (m,)
    yield "prod of a dim", lambda x: x.prod(0), (m,)
    yield "trace", rg.trace, (m,)
    yield "mse_loss", F.mse_loss, (m, m)
    yield "l1_loss", F.l1_loss, (m, m)
    yield "smooth_l1_loss", F.smooth_l1_loss, (m, m)
    yield "huber_loss", F.huber_loss, (m, m)
    yield "binary_cross_entropy", F.binary_cross_entropy, (m, m)
    yield "binary_cross_entropy_with_logits", F.binary_cross_entropy_with_logits, (m, m)
    yield "kl_div", lambda x, y: F.kl_div(x, y, reduction="sum"), (m, m)
    yield "cross_entropy", lambda x: F.cross_entropy(x, classes), (m,)
    yield "nll_loss", lambda x: F.nll_loss(x, classes), (m,)
    yield "poisson_nll_loss", F.poisson_nll_loss, (m, m)
    yield "soft_margin_loss", F.soft_margin_loss, (m, m)
    yield "quantile", lambda x: rg.quantile(x, 0.5), (m,)
    yield "cdist", rg.cdist, (m, m)
    yield "avg_pool3d", lambda x: F.avg_pool3d(x, 2), (volume,)
    yield "max_pool3d", lambda x: F.max_pool3d(x, 2), (volume,)
    yield "adaptive_avg_pool3d", lambda x: F.adaptive_avg_pool3d(x, 1), (volume,)
    yield "reflect", lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"), (image,)
    yield "replicate", lambda x: F.pad(x, (1, 1), mode="replicate"), (made(1, 1, 3),)


def unconverted(rg, F):
    """Calls that run in what they are given."""

    def made(*sizes):
        return lambda dtype: rg.ones(*sizes, dtype=dtype)

    m, v = made(2, 2), made(2)
    yield "add", rg.add, (m, m)
    yield "mul", rg.mul, (m, m)
    yield "exp", rg.exp, (m,)
    yield "sum", rg.sum, (m,)
    yield "softmax", lambda x: rg.softmax(x, 0), (m,)
    yield "relu", rg.relu, (m,)
    yield "reshape", lambda x: x.reshape(4), (m,)
    yield "constant pad", lambda x: F.pad(x, (1, 1)), (v,)


def products_of_vectors(rg, F):
    """As `unconverted`, though they are products: torch does not list them."""
    yield "mv", rg.mv, ((2, 2), (2,))
    yield "dot", rg.dot, ((2,), (2,))
    yield "addmv", rg.addmv, ((2,), (2, 2), (2,))
    yield "outer", rg.outer, ((2,), (2,))
    yield "bilinear", F.bilinear, ((2, 2), (2, 2), (3, 2, 2))


def test_products_run_in_the_dtype_of_the_region(rg, functional):
    for lower in (rg.bfloat16, rg.float16):
        for name, call, operands in products(rg, functional):
            for dtype in (rg.float32, rg.float16, rg.bfloat16):
                with rg.autocast("cpu", dtype=lower):
                    assert call(*(made(dtype) for made in operands)).dtype == lower, (name, lower, dtype)
            with rg.autocast("cpu", dtype=lower):
                assert call(*(made(rg.float64) for made in operands)).dtype == rg.float64, name
            assert call(*(made(rg.float32) for made in operands)).dtype == rg.float32, name


def test_ops_that_need_the_precision_run_in_float32(rg, functional):
    for name, call, operands in needing_precision(rg, functional):
        with rg.autocast("cpu"):
            for dtype in (rg.float32, rg.float16, rg.bfloat16):
                assert call(*(made(dtype) for made in operands)).dtype == rg.float32, (name, dtype)
            assert call(*(made(rg.float64) for made in operands)).dtype == rg.float64, name
        with rg.autocast("cpu", enabled=False):
            assert call(*(made(rg.float64) for made in operands)).dtype == rg.float64, name


def test_other_ops_run_in_what_they_are_given(rg, functional):
    with rg.autocast("cpu"):
        for name, call, operands in unconverted(rg, functional):
            for dtype in (rg.float32, rg.bfloat16, rg.float64):
                assert call(*(made(dtype) for made in operands)).dtype == dtype, (name, dtype)
        for name, call, sizes in products_of_vectors(rg, functional):
            assert call(*(rg.ones(*size) for size in sizes)).dtype == rg.float32, name


def test_what_puts_tensors_together_takes_the_widest_dtype(rg):
    single, lower, double = (rg.ones(2, dtype=d) for d in (rg.float32, rg.bfloat16, rg.float64))
    index = rg.tensor([0, 1])
    with rg.autocast("cpu"):
        for join in (rg.cat, rg.stack):
            assert join([lower, lower]).dtype == rg.bfloat16
            assert join([lower, single]).dtype == rg.float32
            assert join([lower, double]).dtype == rg.float64
            assert join([index, index]).dtype == rg.int64
        assert rg.index_copy(lower, 0, index, single).dtype == rg.float32
        assert single.index_copy(0, index, lower).dtype == rg.float32
        assert rg.index_copy(lower, 0, index, lower).dtype == rg.bfloat16
    with pytest.raises(RuntimeError):
        rg.index_copy(lower, 0, index, single)


@beyond
def test_operands_in_the_other_half_are_left_to_the_op(rg):
    half = rg.ones(2, dtype=rg.float16)
    with rg.autocast("cpu", dtype=rg.bfloat16):
        assert rg.cat([half, half]).dtype == rg.float16


def test_in_place_and_out_forms_convert_nothing(rg):
    x, out = rg.ones(2, 2), rg.empty(2, 2)
    with rg.autocast("cpu"):
        assert rg.mm(x, x, out=out) is out and out.dtype == rg.float32
        assert x.clone().addmm_(x, x).dtype == rg.float32
        with pytest.raises(RuntimeError):
            rg.mm(x.bfloat16(), x, out=out)
    assert out.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_integers_and_float64_are_left_so_that_mixes_fail(rg):
    x = rg.ones(2, 2)
    with rg.autocast("cpu"):
        for dtype in (rg.float64, rg.int64):
            with pytest.raises(RuntimeError, match="same dtype"):
                x @ x.to(dtype)


def test_gradients_have_the_dtype_of_the_leaf(rg, functional):
    weight, x = leaf(rg, 2, 2), rg.full((3, 2), 0.3)
    with rg.autocast("cpu"):
        y = functional.linear(x, weight)
        loss = functional.mse_loss(y, rg.zeros(3, 2))
    assert (y.dtype, loss.dtype) == (rg.bfloat16, rg.float32)
    loss.backward()
    assert weight.grad.dtype == rg.float32
    lower = x.bfloat16().float()
    expected = ((lower.sum(1)[:, None] * lower / 3).sum(0) * rg.ones(2, 2)).tolist()
    assert weight.grad.tolist() == [pytest.approx(row, rel=2e-2) for row in expected]


def casts(y):
    """The nodes behind a product of two leaves."""
    return [node for node, _ in y.grad_fn.next_functions]


def test_a_leaf_is_converted_once_in_the_outermost_region(rg):
    w, x = leaf(rg, 2, 2), leaf(rg, 2, 2)
    with rg.autocast("cpu"):
        first, again = w @ x, x @ w
        assert casts(first) == casts(again)[::-1]
        with rg.autocast("cpu"):
            assert casts(w @ x) == casts(first)
        assert casts(w @ x) == casts(first)
        rg.clear_autocast_cache()
        assert casts(w @ x) != casts(first)
    with rg.autocast("cpu"):
        assert casts(w @ x) != casts(first)
    with rg.autocast("cpu", cache_enabled=False):
        assert casts(w @ x) != casts(w @ x)
    with rg.autocast("cpu"):
        view = w[:]
        assert casts(view @ x)[0] != casts(view @ x)[0]
    first.sum().backward()
    assert w.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_tensors_that_are_left_of_a_closed_transform_keep_no_leaf_from_being_converted_once(rg):
    w, x, kept = leaf(rg, 2, 2), leaf(rg, 2, 2), []
    rg.vmap(lambda row: (kept.append(row), row)[1])(rg.ones(3, 2))
    with rg.autocast("cpu"):
        assert casts(w @ x) == casts(x @ w)[::-1]
    assert len(kept) == 1


def test_a_conversion_without_grad_mode_is_no_use_for_an_op_that_records(rg):
    w, x = leaf(rg, 2, 2), rg.ones(2, 2)
    with rg.autocast("cpu"):
        with rg.no_grad():
            assert not (w @ x).requires_grad
        y = x @ w
        assert y.requires_grad
        with rg.no_grad():
            assert not (w @ x).requires_grad
    y.sum().backward()
    assert w.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


@beyond
def test_a_leaf_that_was_written_to_is_converted_again(rg):
    w, x = leaf(rg, 2, 2), rg.ones(2, 2)
    with rg.autocast("cpu"):
        x @ w
        with rg.no_grad():
            w.mul_(3.0)
        assert (x @ w).tolist() == [[6.0, 6.0], [6.0, 6.0]]


@beyond
def test_the_cache_knows_the_dtype(rg):
    w, x = leaf(rg, 2, 2), rg.ones(2, 2)
    with rg.autocast("cpu"):
        assert (x @ w).dtype == rg.bfloat16
        with rg.autocast("cpu", dtype=rg.float16):
            assert (x @ w).dtype == rg.float16


@beyond
def test_rules_run_in_the_dtypes_of_forward_also_in_a_region(rg):
    x = rg.full((2, 2), 1.0 + 2.0**-12, requires_grad=True)
    y = x @ x
    with rg.autocast("cpu"):
        (inside,) = rg.autograd.grad(y, x, rg.ones(2, 2), retain_graph=True)
    (outside,) = rg.autograd.grad(y, x, rg.ones(2, 2))
    assert inside.tolist() == outside.tolist() and inside.dtype == rg.float32


def test_hooks_and_custom_functions_see_the_region_that_backward_is_called_in(rg):
    seen = []

    class Product(rg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x @ x

        @staticmethod
        def backward(ctx, g):
            seen.append((rg.is_autocast_enabled("cpu"), g.dtype, ctx.saved_tensors[0].dtype))
            return g

    x = leaf(rg, 2, 2)
    with rg.autocast("cpu"):
        y, z = Product.apply(x), Product.apply(x)
        y.register_hook(lambda g: seen.append(rg.is_autocast_enabled("cpu")))
        y.sum().backward()
    z.sum().backward()
    assert seen == [True, (True, rg.bfloat16, rg.float32), (False, rg.bfloat16, rg.float32)]
    assert x.grad.dtype == rg.float32


def test_custom_fwd_and_bwd(rg):
    seen = []

    def both(cast_inputs):
        class Both(rg.autograd.Function):
            @staticmethod
            @rg.amp.custom_fwd(device_type="cpu", cast_inputs=cast_inputs)
            def forward(ctx, x, more, text):
                seen.append((x.dtype, more["a"][0].dtype, more["a"][1].dtype, text, rg.is_autocast_enabled("cpu")))
                return x * 2

            @staticmethod
            @rg.amp.custom_bwd(device_type="cpu")
            def backward(ctx, g):
                seen.append((rg.is_autocast_enabled("cpu"), rg.get_autocast_dtype("cpu")))
                return g * 2, None, None

        return Both.apply

    x = rg.ones(2, dtype=rg.bfloat16, requires_grad=True)
    more = {"a": [x, rg.ones(1, dtype=rg.float64)]}
    for cast_inputs, dtype, on in ((rg.float32, rg.float32, False), (None, rg.bfloat16, True)):
        with rg.autocast("cpu", dtype=rg.float16):
            y = both(cast_inputs)(x, more, "text")
        y.sum().backward()
        assert seen == [(dtype, dtype, rg.float64, "text", on), (on, rg.float16)]
        seen.clear()
        both(cast_inputs)(x, more, "text").sum().backward()
        assert seen == [(rg.bfloat16, rg.bfloat16, rg.float64, "text", False), (False, rg.bfloat16)]
        seen.clear()
    assert x.grad.dtype == rg.bfloat16 and x.grad.tolist() == [8.0, 8.0]
    for decorate in (rg.amp.custom_fwd, rg.amp.custom_bwd):
        with pytest.raises(ValueError, match="Expected `device_type` of type `str`, got: `<class 'int'>`"):
            decorate(lambda ctx: None, device_type=1)


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_a_checkpoint_recomputes_in_the_region_of_the_call(rg, use_reentrant):
    checkpoint = importlib.import_module(f"{rg.__name__}.utils.checkpoint").checkpoint
    seen = []

    def block(x, w):
        y = x @ w
        seen.append((y.dtype, rg.get_autocast_dtype("cpu"), rg.is_autocast_cache_enabled()))
        return y.float().sin()

    x, w = leaf(rg, 2, 2), leaf(rg, 2, 2)
    with rg.autocast("cpu", dtype=rg.bfloat16, cache_enabled=False):
        inside = checkpoint(block, x, w, use_reentrant=use_reentrant)
    outside = checkpoint(block, x, w, use_reentrant=use_reentrant)
    inside.sum().backward()
    assert seen[2:] == [(rg.bfloat16, rg.bfloat16, False)] and seen[0] == seen[2]
    with rg.autocast("cpu", dtype=rg.float16):
        outside.sum().backward()
    assert seen[3:] == [(rg.float32, rg.bfloat16, True)] and seen[1] == seen[3]
    assert w.grad.dtype == rg.float32


def test_transforms_convert_as_a_plain_call_does(rg, functional):
    x, w = rg.ones(2, 2), rg.full((2, 2), 0.25)

    def loss(w):
        y = x @ w
        assert y.dtype == rg.bfloat16
        return functional.mse_loss(y, x)

    with rg.autocast("cpu"):
        assert rg.func.grad(loss)(w).dtype == rg.float32
        assert rg.func.hessian(loss)(w).dtype == rg.float32
        assert rg.func.jacrev(lambda w: x @ w)(w).dtype == rg.float32
        assert rg.func.jacfwd(lambda w: x @ w)(w).dtype == rg.bfloat16
        assert [t.dtype for t in rg.func.jvp(lambda w: x @ w, (w,), (x,))] == [rg.bfloat16] * 2
        assert rg.vmap(lambda row: x @ row)(w).dtype == rg.bfloat16
        assert rg.vmap(rg.prod)(w.bfloat16()).dtype == rg.float32
        assert rg.vmap(lambda a, b: rg.cat([a, b]))(w, x.bfloat16()).dtype == rg.float32
        assert rg.autograd.functional.jacobian(lambda w: x @ w, w).dtype == rg.float32
        assert rg.autograd.functional.hessian(loss, w).dtype == rg.float32
        with rg.autograd.forward_ad.dual_level():
            y = rg.autograd.forward_ad.make_dual(w, x) @ x
            assert [t.dtype for t in rg.autograd.forward_ad.unpack_dual(y)] == [rg.bfloat16] * 2


@beyond
def test_a_batch_changes_no_dtype(rg):
    with rg.autocast("cpu"):
        assert rg.vmap(rg.mv)(rg.ones(3, 2, 2), rg.ones(3, 2)).dtype == rg.float32


def test_a_graph_goes_on_under_create_graph(rg):
    w = rg.full((2, 2), 0.5, requires_grad=True)
    with rg.autocast("cpu"):
        y = (w @ w).float().square().sum()
    (g,) = rg.autograd.grad(y, w, create_graph=True)
    (gg,) = rg.autograd.grad(g.sum(), w)
    assert g.dtype == gg.dtype == rg.float32
    v = rg.full((2, 2), 0.5, requires_grad=True)
    (e,) = rg.autograd.grad((v @ v).square().sum(), v, create_graph=True)
    (ee,) = rg.autograd.grad(e.sum(), v)
    assert g.tolist() == e.tolist() and gg.tolist() == ee.tolist()


def test_a_region_belongs_to_its_thread(rg):
    seen = []

    def look():
        seen.append((rg.is_autocast_enabled("cpu"), rg.get_autocast_dtype("cpu"), rg.is_autocast_cache_enabled()))

    with rg.autocast("cpu", dtype=rg.float16, cache_enabled=False):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert seen == [(False, rg.bfloat16, True)]


def test_a_deep_backward_is_in_the_region_too(rg):
    seen = []

    class Deep(rg.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            with rg.enable_grad():
                x = leaf(rg, 1)
                if ctx.depth:
                    Deep.apply(x, ctx.depth - 1).backward()
                else:
                    seen.append((rg.is_autocast_enabled("cpu"), rg.get_autocast_dtype("cpu")))
            return g, None

    with rg.autocast("cpu", dtype=rg.float16):
        Deep.apply(leaf(rg, 1), 80).backward()
    assert seen == [(True, rg.float16)]


def test_dtypes_that_do_not_go_and_devices_that_are_not_there(rg):
    text = "In CPU autocast, but the target dtype is not supported. Disabling autocast.\nCPU Autocast only supports"
    for dtype in (rg.float32, rg.float64):
        with pytest.warns(UserWarning, match=text), rg.autocast("cpu", dtype=dtype):
            assert not rg.is_autocast_enabled("cpu")
    with pytest.warns(UserWarning, match="CUDA is not available"), rg.autocast("cuda"):
        assert (rg.ones(2, 2) @ rg.ones(2, 2)).dtype == rg.float32
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with rg.autocast("cpu", dtype=rg.float64, enabled=False), rg.autocast("cuda", enabled=False):
            assert not rg.is_autocast_enabled("cpu")
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`, got: `<class 'int'>`"):
        rg.autocast(1)
    with pytest.raises(RuntimeError, match="device type at start of device string: foo"):
        rg.autocast("foo")
    for ask in (rg.autocast, rg.get_autocast_dtype):
        with pytest.raises(RuntimeError, match="unsupported scalarType"):
            ask("meta")
    for ask in (rg.is_autocast_enabled, lambda device: rg.set_autocast_enabled(device, False)):
        with pytest.raises(RuntimeError, match="unknown device type for autocast"):
            ask("meta")
    assert [rg.amp.is_autocast_available(d) for d in ("cpu", "cuda", "meta")] == [True, True, False]
    with pytest.raises(RuntimeError, match="device type at start of device string: foo"):
        rg.amp.is_autocast_available("foo")
    with pytest.raises(TypeError):
        rg.autocast()


def test_arguments_of_wrong_types(rg):
    for call, match in (
        (lambda: rg.autocast("cpu", enabled=1).__enter__(), r"argument 'enabled' \(position 2\) must be bool, not int"),
        (lambda: rg.autocast("cpu", cache_enabled=3).__enter__(), r"enabled must be a bool \(got int\)"),
        (lambda: rg.set_autocast_enabled("cpu", 1), r"argument 'enabled' \(position 2\) must be bool, not int"),
        (lambda: rg.set_autocast_cache_enabled(1), r"enabled must be a bool \(got int\)"),
        (lambda: rg.set_autocast_dtype("cpu", 1), r"argument 'dtype' \(position 2\) must be \w+.dtype, not int"),
        (lambda: rg.is_autocast_enabled(1), r"argument 'device_type' \(position 1\) must be str, not int"),
        (lambda: rg.get_autocast_dtype(None), r"argument 'device_type' \(position 1\) must be str, not NoneType"),
    ):
        with pytest.raises(TypeError, match=match):
            call()


def test_switches(rg):
    rg.set_autocast_enabled("cpu", True)
    assert rg.is_autocast_enabled("cpu") and not rg.is_autocast_enabled() and not rg.is_autocast_enabled("cuda")
    assert (rg.ones(2, 2) @ rg.ones(2, 2)).dtype == rg.bfloat16
    rg.set_autocast_enabled(device_type="cpu", enabled=False)
    rg.set_autocast_enabled(False)
    rg.set_autocast_dtype("cpu", rg.float16)
    with rg.autocast("cpu"):
        assert (rg.ones(2, 2) @ rg.ones(2, 2)).dtype == rg.float16
    assert rg.get_autocast_dtype("cpu") == rg.float16
    rg.set_autocast_dtype("cpu", rg.bfloat16)
    rg.set_autocast_cache_enabled(False)
    assert not rg.is_autocast_cache_enabled()
    rg.set_autocast_cache_enabled(True)


def test_old_names_warn(rg):
    for call, result in (
        (lambda: rg.set_autocast_cpu_enabled(True), None),
        (lambda: rg.is_autocast_cpu_enabled(), True),
        (lambda: rg.set_autocast_cpu_enabled(False), None),
        (lambda: rg.set_autocast_cpu_dtype(rg.float16), None),
        (lambda: rg.get_autocast_cpu_dtype(), rg.float16),
        (lambda: rg.set_autocast_cpu_dtype(rg.bfloat16), None),
    ):
        with pytest.warns(DeprecationWarning, match=r"is deprecated. Please use \w+\.[sgi]et_autocast|is_autocast"):
            assert call() == result
    with pytest.warns(FutureWarning, match=r"cpu.amp.autocast\(args...\)` is deprecated"):
        region = rg.cpu.amp.autocast(True, rg.float16, False)
    with region:
        assert (rg.get_autocast_dtype("cpu"), rg.is_autocast_cache_enabled()) == (rg.float16, False)
    assert rg.amp.autocast is rg.autocast is rg.amp.autocast_mode.autocast


@pytest.mark.skipif(STANDIN == "torch", reason="the roster is ours")
def test_the_policies_are_those_of_torch(rg):
    """The ops of torch's lists that are there, each with its policy."""
    listed = {}
    for op in rg._core._roster():
        if op["autocast"] is not None:
            listed.setdefault(op["autocast"], set()).add(op["name"].rstrip("_"))
    assert listed["Lower"] >= {"mm", "matmul", "bmm", "addmm", "baddbmm", "linear", "conv2d", "prelu", "vecdot"}
    assert listed["Promote"] == {"cat", "concat", "concatenate", "stack", "index_copy"}
    assert listed["AsGiven"] == {"bilinear"}
    assert {"prod", "mse_loss", "cross_entropy", "ctc_loss", "quantile", "max_pool3d"} <= listed["Full"]
    assert not {"exp", "softmax", "layer_norm", "sum", "mv", "dot"} & set.union(*listed.values())
