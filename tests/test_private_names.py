"""Names that torch counts as private, or old, and that programs import all the same."""

import importlib
import os
import threading
import warnings

import pytest

STANDIN = os.environ.get("RETROGRAD_STANDIN", "retrograd")
rg = importlib.import_module(STANDIN)
autograd = rg.autograd


def module(name):
    return importlib.import_module(f"{STANDIN}.{name}")


def leaf(*values, dtype=None):
    return rg.tensor(values, dtype=dtype or rg.float64, requires_grad=True)


# ---- autograd


def test_positions_alone_are_those_of_torch():
    for call, name in (
        (rg.set_num_threads, "num"),
        (rg.set_flush_denormal, "mode"),
    ):
        with pytest.raises(TypeError):
            call(**{name: 1})
    with pytest.raises(RuntimeError, match="flush_denormal expects a bool, but got int"):
        rg.set_flush_denormal(1)


def test_the_tracking_of_views_is_a_setting_of_the_thread():
    assert not autograd.is_view_replay_enabled()
    with autograd._force_original_view_tracking(True) as nothing:
        assert nothing is None and autograd.is_view_replay_enabled()
        found = []
        thread = threading.Thread(target=lambda: found.append(autograd.is_view_replay_enabled()))
        thread.start()
        thread.join()
        assert found == [False]
        with autograd._force_original_view_tracking(True).clone():
            pass
        assert autograd.is_view_replay_enabled()
    assert not autograd.is_view_replay_enabled()


def test_hooks_on_saved_tensors_are_pushed_and_popped():
    saved = []

    def pack(name):
        return lambda t: saved.append(name) or t

    x = leaf(1.0)
    autograd._push_saved_tensors_default_hooks(pack("outer"), lambda t: t)
    autograd._push_saved_tensors_default_hooks(pack("inner"), lambda t: t)
    x.exp()
    autograd._pop_saved_tensors_default_hooks()
    x.exp()
    autograd._pop_saved_tensors_default_hooks()
    x.exp()
    assert saved == ["inner", "outer"]
    with pytest.raises(RuntimeError, match="no hooks were pushed"):
        autograd._pop_saved_tensors_default_hooks()


def test_gradients_are_made_and_checked():
    make, x = autograd._make_grads, leaf(1.0, 2.0)
    edge = autograd.graph.get_gradient_edge((x * 2).sum())
    ones = make([x.sum(), rg.ones(3), edge], [None, None, None], False)
    assert ones[0].item() == 1.0 and ones[0].dtype == rg.float64 and ones[1] is None and ones[2].item() == 1.0
    g = rg.ones(2)
    assert make([x], [g], False)[0] is g
    assert make([x], [rg.ones(5, 2)], True)[0].shape == (5, 2)
    assert autograd._calculate_shape(x, rg.ones(5, 3), True) == ((2,), (3,))
    assert autograd._calculate_shape(edge, rg.ones(3), False) == ((), (3,))
    assert autograd._tensor_or_tensors_to_tuple(None, 2) == (None, None)
    assert autograd._tensor_or_tensors_to_tuple(x, 1) == (x,)
    for outputs, grads, batched, kind, text in (
        ([x], [None], False, RuntimeError, "grad can be implicitly created only for scalar outputs"),
        ([x.sum() * 1j], [None], False, RuntimeError, "only for real scalar outputs but got"),
        (
            [x],
            [rg.ones(3)],
            False,
            RuntimeError,
            r"Mismatch in shape: grad_output\[0\] has a shape of .*\[3\].* and output",
        ),
        ([x], [rg.ones(2)], True, RuntimeError, "we interpret the first dimension of each grad_output as the batch"),
        (
            [x],
            [rg.ones(2) * 1j],
            False,
            RuntimeError,
            "both grad_output and output are required to have the same dtype",
        ),
        ([x], [3], False, TypeError, "gradients can be either Tensors or None, but got int"),
    ):
        with pytest.raises(kind, match=text):
            make(outputs, grads, batched)
    with pytest.raises(RuntimeError, match="Batched grads are not supported with GradientEdge"):
        autograd._calculate_shape(edge, rg.ones(3), True)


def test_the_engine_runs_with_arguments_that_were_read():
    x = leaf(1.0, 2.0)
    run, one = autograd.graph._engine_run_backward, rg.ones((), dtype=rg.float64)
    (g,) = run(((x * x).sum(),), (one,), False, False, (x,), allow_unreachable=True, accumulate_grad=False)
    assert g.tolist() == [2.0, 4.0] and x.grad is None
    assert run(((x * x).sum(),), (one,), False, False, (x,), True, accumulate_grad=True) == ()
    assert run(((x * x).sum(),), (one,), False, False) == ()
    assert x.grad.tolist() == [4.0, 8.0]
    other = leaf(1.0)
    assert run((x.sum(),), (one,), False, False, (other,), True) == (None,)
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        run((x.sum(),), (one,), False, False, (other,))


def test_every_tensor_of_a_graph_has_a_node_for_its_gradient():
    node = autograd.graph._get_grad_fn_or_grad_acc
    x = leaf(1.0)
    y = x.exp()
    assert node(y) is y.grad_fn
    assert node(x).variable is x
    assert node(autograd.graph.get_gradient_edge(y)) is y.grad_fn
    with pytest.raises(AssertionError, match="Expected gradient function to be set"):
        node(rg.ones(1))


def test_settings_of_devices_and_compilers_answer():
    graph = autograd.graph
    assert graph.set_override_stale_capture_stream(True) is None
    assert graph.set_warn_on_accumulate_grad_stream_mismatch(False) is None
    for budget, kind, text in (
        (True, TypeError, "expects a float, got bool"),
        (2, ValueError, r"must be in \[0, 1\], got 2"),
        (0.5, RuntimeError, "it has no effect in eager mode"),
    ):
        with pytest.raises(kind, match=text):
            graph.region_activation_memory_budget(budget)


def test_nested_tensors_are_walked_with_and_without_none():
    function = module("autograd.function")
    x = rg.ones(1)
    assert list(function._iter_tensors([x, (None, {"a": x})])) == [x, x]
    assert list(function._iter_tensors_or_none([x, None])) == [x, None]
    with pytest.raises(ValueError, match=r"input object of type int\. Accepted types: Tensors, or lists/tuples"):
        list(function._iter_tensors([3]))


# ---- gradcheck


def test_jacobians_by_differences_and_by_rules_agree():
    gradcheck = importlib.import_module(f"{STANDIN}.autograd.gradcheck")
    x, w = leaf(0.5, 1.5), leaf(2.0, 3.0, 4.0)

    def f(args):
        return args[0].exp().sum() * args[1] ** 2

    numerical = gradcheck.get_numerical_jacobian(f, (x, w), eps=1e-6)
    analytical, reentrant, sizes, dtypes = gradcheck.get_analytical_jacobian((x, w), f((x, w)))
    assert reentrant is sizes is dtypes is True
    assert [j.shape for j in analytical] == [(2, 3), (3, 3)]
    for a, b in zip(numerical, analytical, strict=True):
        rg.testing.assert_close(a, b, rtol=1e-6, atol=1e-6)
    (of_w,) = gradcheck.get_numerical_jacobian(f, (x, w), target=w, eps=1e-6)
    rg.testing.assert_close(of_w, analytical[1], rtol=1e-6, atol=1e-6)
    assert x.tolist() == [0.5, 1.5]


def test_jacobians_by_differences_of_one_input_have_all_outputs():
    gradcheck = importlib.import_module(f"{STANDIN}.autograd.gradcheck")
    x, z = leaf(2.0, 3.0), rg.tensor([1 + 2j], requires_grad=True, dtype=rg.complex128)
    specific = gradcheck.get_numerical_jacobian_wrt_specific_input

    def f(x, z):
        return x * z.abs().square(), z.real

    outputs = f(x, z)
    first, second = specific(f, 0, (x, z), outputs, 1e-6)
    rg.testing.assert_close(first, 5 * rg.eye(2, dtype=rg.float64), rtol=1e-6, atol=1e-6)
    assert second.tolist() == [[0.0], [0.0]]
    first, second = specific(f, 1, (x, z), outputs, 1e-6)
    rg.testing.assert_close(first, rg.tensor([[4 + 8j, 6 + 12j]], dtype=rg.complex128), rtol=1e-6, atol=1e-6)
    rg.testing.assert_close(second, rg.ones(1, 1, dtype=rg.complex128), rtol=1e-6, atol=1e-6)
    with pytest.raises(AssertionError, match="Expected input to have requires_grad=True"):
        specific(f, 0, (x.detach(), z), outputs, 1e-6)
    with pytest.raises(AssertionError, match="Expected ds_dx to be real-valued"):
        specific(lambda x: x * 1j, 0, (x,), (x * 1j,), 1e-6)
    (forward,) = specific(lambda x: x * 1j, 0, (x,), (x * 1j,), 1e-6, is_forward_ad=True)
    rg.testing.assert_close(forward, 1j * rg.eye(2, dtype=rg.complex128), rtol=1e-6, atol=1e-6)
    sizes = iter([2, 3])
    with pytest.raises(AssertionError, match="outputs with the same shape when inputs are perturbed"):
        specific(lambda x: x.expand(next(sizes), 2), 0, (x,), (x,), 1e-6)


def test_a_jacobian_tells_that_passes_differ():
    gradcheck = importlib.import_module(f"{STANDIN}.autograd.gradcheck")
    factors = iter(range(1, 100))

    class Noisy(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g * next(factors)

    x = leaf(1.0)
    assert gradcheck.get_analytical_jacobian((x,), Noisy.apply(x))[1] is False
    assert gradcheck.get_analytical_jacobian((x,), Noisy.apply(x), nondet_tol=10.0)[1] is True
    (zeros,), *_ = gradcheck.get_analytical_jacobian((x, leaf(1.0))[1:], (x * 2))
    assert zeros.tolist() == [[0.0]]
    for call in (gradcheck.get_numerical_jacobian, lambda *a, **k: gradcheck.get_analytical_jacobian((x,), x, **k)):
        with pytest.raises(ValueError, match=r"Expected grad_out to be 1\.0\. \w+ no longer supports values"):
            call(rg.exp, (x,), grad_out=2.0)
    with pytest.raises(ValueError, match="Expected output to be non-complex"):
        gradcheck.get_numerical_jacobian(lambda args: args[0] * 1j, (x,))
    with pytest.raises(ValueError, match="Expected output to be non-complex"):
        gradcheck.get_analytical_jacobian((x,), x * 1j)


# ---- functional


def test_steps_of_functional_have_names():
    f = module("autograd.functional")
    x, y = leaf(1.0, 2.0), rg.ones(2)
    assert f._as_tuple([1, 2]) == (1, 2) and f._as_tuple(3) == (3,)
    assert f._as_tuple(x, "inputs", "hvp") == (False, (x,)) and f._as_tuple((x,), "inputs", "hvp") == (True, (x,))
    with pytest.raises(
        TypeError, match="The inputs given to hvp must be either a Tensor or a tuple of Tensors but the"
    ):
        f._as_tuple((3,), "inputs", "hvp")
    assert f._tuple_postprocess((x,), False) is x and f._tuple_postprocess((x,), True) == (x,)
    assert f._tuple_postprocess(((x,), (y,)), (True, False)) == (x, y)
    assert f._tuple_postprocess(((x, y),), (False, True)) == (x, y)
    linked, plain = f._grad_preprocess((x, y), True, False)
    assert linked.grad_fn is not None and not plain.requires_grad and plain.data_ptr() == y.data_ptr()
    (made,) = f._grad_preprocess((y,), False, True)
    assert made.is_leaf and made.requires_grad
    z = x * 2
    assert f._grad_postprocess((z,), True)[0] is z
    assert not f._grad_postprocess(((z,), (z,)), False)[1][0].requires_grad
    with pytest.raises(RuntimeError, match=r"v is a tuple of invalid length: should be 2 but got 1\."):
        f._validate_v((x,), (x, y), True)
    with pytest.raises(RuntimeError, match="v has invalid size"):
        f._validate_v((rg.ones(3),), (x,), False)
    f._validate_v((x,), (x,), False)
    f._check_requires_grad((None,), "grad_inputs", False)
    for inputs, kind, text in (
        ((y,), "outputs", "Output 0 of the user-provided function does not require gradients"),
        ((None,), "grad_inputs", "The output of the user-provided function is independent of input 0"),
        ((y,), "grad_inputs", "The gradient with respect to input 0 is independent of the inputs"),
        ((y,), "jacobian", "found that the jacobian of the user-provided function with respect to input 0"),
        ((y,), "hessian", "The hessian of the user-provided function with respect to input 0 is independent"),
        ((y,), "other", "Invalid input_type to _check_requires_grad"),
    ):
        with pytest.raises(RuntimeError, match=text):
            f._check_requires_grad(inputs, kind, True)
    assert f._autograd_grad((None, y), (x,)) == (None,)
    (g,) = f._autograd_grad(((x * x).sum(), y), (x,), (rg.ones((), dtype=rg.float64), None), create_graph=True)
    assert g.tolist() == [2.0, 4.0] and g.requires_grad
    with pytest.raises(AssertionError, match="same length"):
        f._autograd_grad((x,), (x,), (None, None))
    filled = f._fill_in_zeros((None, x), (y, x), False, False, "back")
    assert filled[0].tolist() == [0.0, 0.0] and filled[1] is x
    for stage, strict_text, constant in (
        ("back", "output of the user-provided function is independent of input 0", "The jacobian"),
        ("back_trick", "independent of entry 0 in the grad_outputs", "The jacobian"),
        ("double_back", "jacobian of the user-provided function is independent of input 0", "The hessian"),
        ("double_back_trick", "independent of entry 0 in the grad_jacobian", "The hessian"),
    ):
        with pytest.raises(RuntimeError, match=strict_text):
            f._fill_in_zeros((None,), (y,), True, True, stage)
        with pytest.raises(RuntimeError, match=f"{constant} of the user-provided function is independent of input 0"):
            f._fill_in_zeros((y,), (y,), True, True, stage)
    with pytest.raises(RuntimeError, match="Invalid stage argument 'no' to _fill_in_zeros"):
        f._fill_in_zeros((y,), (y,), True, True, "no")
    basis = f._construct_standard_basis_for((rg.ones(1), rg.ones(2, 1)), (1, 2))
    assert [b.tolist() for b in basis] == [[[1.0], [0.0], [0.0]], [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]]


# ---- profiles


def test_profiles_have_configurations():
    profiler = autograd.profiler
    prof = profiler.profile(record_shapes=True, custom_trace_id_callback=lambda: "mine")
    config = prof.config()
    assert (config.report_input_shapes, config.profile_memory, config.trace_id) == (True, False, "")
    assert config.state is autograd.ProfilerState.KINETO
    assert prof.config(create_trace_id=True).trace_id == prof.trace_id == prof.create_trace_id() == "mine"
    assert len(prof.default_trace_id()) == 32 and prof.default_trace_id() != prof.default_trace_id()
    assert profiler._ExperimentalConfig(verbose=True).verbose
    assert autograd.ProfilerConfig(autograd.ProfilerState.CPU, True, False, False, False, False, None).trace_id == ""
    assert autograd.ProfilerActivity is rg.profiler.ProfilerActivity
    with pytest.raises(TypeError, match="No constructor defined!"):
        autograd.ProfilerEvent()


def test_old_profiles_are_profiles():
    legacy = module("autograd.profiler_legacy")
    with legacy.profile(record_shapes=True) as prof:
        rg.ones(2).exp()
    assert [event.name for event in prof.function_events] == ["aten::ones", "aten::exp"]
    assert prof.config().state is autograd.ProfilerState.CPU and "aten::exp" in str(prof)
    unfinished = legacy.profile()
    assert repr(unfinished) == "<unfinished profiler_legacy.profile>"
    for ask in (unfinished.table, unfinished.key_averages, unfinished.total_average):
        with pytest.raises(RuntimeError, match="Profiler didn't finish running"):
            ask()
    with legacy.profile(enabled=False) as nothing:
        assert nothing is None
    with pytest.warns(UserWarning, match="CUDA is not available, disabling CUDA profiling"):
        legacy.profile(use_cuda=True)


# ---- batches


def test_old_vmaps_are_vmap():
    internals = module("_vmap_internals")
    x = rg.arange(6.0).reshape(2, 3)
    with pytest.warns(FutureWarning, match="Please use `.*vmap` instead of"):
        assert internals.vmap(rg.sum)(x).tolist() == [3.0, 12.0]
    passing = internals._vmap(lambda v: (None, v * 2, v.sum()), out_dims=(0, 1, 0), allow_none_pass_through=True)
    nothing, doubled, sums = passing(x)
    assert nothing is None and doubled.tolist() == (2 * x).t().tolist() and sums.tolist() == [3.0, 12.0]
    assert internals._vmap(lambda v: v.sum(), allow_none_pass_through=True)(x).tolist() == [3.0, 12.0]
    assert internals._vmap(rg.sum, 1)(x).tolist() == [3.0, 5.0, 7.0]


def test_batched_tensors_are_recognised():
    functorch = importlib.import_module(f"{STANDIN}._C._functorch")
    x = rg.arange(6.0).reshape(2, 3)
    found = []

    def look(v):
        found.extend([functorch.is_batchedtensor(v), functorch.is_functorch_wrapped_tensor(v)])
        found.extend([functorch.maybe_get_bdim(v), functorch.maybe_get_level(v) > 0, functorch.get_unwrapped(v)])
        return v

    rg.vmap(look, in_dims=1)(x)
    assert found[:4] == [True, True, found[2], True] and found[2] in (0, 1)
    assert found[4].numel() == 6
    assert not functorch.is_batchedtensor(x) and functorch.get_unwrapped(x) is x
    assert (functorch.maybe_get_bdim(x), functorch.maybe_get_level(x)) == (-1, -1)
    with pytest.raises(RuntimeError, match="no level is open"):
        functorch._vmap_decrement_nesting()


def test_levels_are_opened_and_closed_by_hand():
    functorch = importlib.import_module(f"{STANDIN}._C._functorch")
    x = rg.arange(6.0).reshape(2, 3)
    outer = functorch._vmap_increment_nesting(2, "error")
    inner = functorch._vmap_increment_nesting(3, "error")
    entry = functorch._add_batch_dim(functorch._add_batch_dim(x, 0, outer), 0, inner)
    assert entry.shape == () and inner > outer
    rows = functorch._remove_batch_dim(entry * 2, inner, 3, 0)
    assert functorch._vmap_decrement_nesting() == inner
    assert functorch._remove_batch_dim(rows, outer, 2, 0).tolist() == (2 * x).tolist()
    assert functorch._vmap_decrement_nesting() == outer


def test_functorch_has_the_functions_of_func():
    functorch = module("functorch")
    with pytest.warns(FutureWarning, match=r"`functorch\.vmap` is deprecated .* Please use `\S+vmap` instead"):
        assert functorch.vmap(rg.sum)(rg.ones(2, 3)).tolist() == [3.0, 3.0]
    with warnings.catch_warnings(action="ignore"):
        assert functorch.grad(rg.sum)(rg.ones(2)).tolist() == [1.0, 1.0]
        model = rg.nn.Linear(2, 1)
        f, params = functorch.make_functional(model)
        assert [p.requires_grad for p in params] == [True, True] and list(f.parameters()) == []
        assert params[0] is not model.weight and f(params, rg.ones(2)).item() == model(rg.ones(2)).item()
        f(params, rg.ones(2)).sum().backward()
        assert params[0].grad.tolist() == [[1.0, 1.0]] and model.weight.grad is None
        assert not functorch.make_functional(model, disable_autograd_tracking=True)[1][0].requires_grad
        norm, params, buffers = functorch.make_functional_with_buffers(rg.nn.BatchNorm1d(2))
        assert (len(params), len(buffers)) == (2, 3) and norm(params, buffers, rg.ones(3, 2)).shape == (3, 2)
        with pytest.raises(RuntimeError, match="`model` has buffers"):
            functorch.make_functional(rg.nn.BatchNorm1d(2))
        models = [rg.nn.Linear(2, 1) for _ in range(3)]
        f, params, buffers = functorch.combine_state_for_ensemble(models)
        together = rg.vmap(f, in_dims=(0, 0, None))(params, buffers, rg.ones(2))
        rg.testing.assert_close(together, rg.stack([m(rg.ones(2)) for m in models]))
        assert all(p.is_leaf and p.requires_grad for p in params)
        tied = rg.nn.Sequential(models[0], models[0])
        for wrong, text in (
            ([], "Expected at least one model, got 0"),
            ([models[0], rg.nn.Linear(2, 1).eval()], "the same training/eval mode"),
            ([models[0], rg.nn.ReLU()], "Expected all models to be of the same class"),
        ):
            with pytest.raises(RuntimeError, match=text):
                functorch.combine_state_for_ensemble(wrong)
        with pytest.raises(RuntimeError, match="we don't yet support models that do parameter tying"):
            functorch.make_functional(tied)


def test_random_numbers_of_loaders_are_the_default_ones():
    assert rg.random.thread_safe_generator() is None
