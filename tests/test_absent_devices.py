"""Modules that programs import and that have nothing behind them: they answer "no", keep quiet, or refuse."""

from __future__ import annotations

import importlib
import warnings

import pytest

import retrograd as rg

DEVICES = ("cuda", "mps", "xpu", "accelerator")
REFUSED = ("ao", "export", "fx", "hub", "nested", "onnx", "quantization")


@pytest.mark.parametrize("name", DEVICES)
def test_a_device_that_is_not_there_says_so(name: str) -> None:
    module = importlib.import_module(f"retrograd.{name}")
    assert module.is_available() is False
    assert module.device_count() == 0
    module.empty_cache()


def test_programs_seed_and_measure_devices_without_asking() -> None:
    before = rg.get_rng_state()
    rg.cuda.manual_seed(0)
    rg.cuda.manual_seed_all(0)
    rg.cuda.set_rng_state_all(rg.cuda.get_rng_state_all())
    rg.cuda.reset_peak_memory_stats()
    assert rg.equal(before, rg.get_rng_state())
    assert rg.cuda.max_memory_allocated() == rg.cuda.memory.memory_allocated() == 0
    assert rg.cuda.random.get_rng_state_all() == []
    assert rg.cuda.is_bf16_supported() is False
    with rg.cuda.device(0), rg.cuda.device_of(rg.ones(1)):
        pass
    rg.cuda.set_device(-1)


@pytest.mark.parametrize(
    ("module", "name", "phrase"),
    [
        ("cuda", "synchronize", "Torch not compiled with CUDA enabled"),
        ("cuda", "get_device_name", "Torch not compiled with CUDA enabled"),
        ("cuda", "current_device", "Torch not compiled with CUDA enabled"),
        ("xpu", "synchronize", "Torch not compiled with XPU enabled"),
        ("mps", "synchronize", "PyTorch is not linked with support for mps devices"),
        ("accelerator", "synchronize", "Cannot access accelerator device when none is available."),
    ],
)
def test_work_on_a_device_that_is_not_there_is_refused(module: str, name: str, phrase: str) -> None:
    with pytest.raises(AssertionError) as raised:
        getattr(importlib.import_module(f"retrograd.{module}"), name)()
    assert str(raised.value).startswith(phrase)
    assert f"{module}.{name}" in str(raised.value)
    assert "is_available()" in str(raised.value)


def test_setting_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        rg.cuda.set_device(0)


def test_nothing_is_made_of_classes_of_devices() -> None:
    with pytest.raises(RuntimeError, match="Tried to instantiate dummy base class Stream"):
        rg.cuda.Stream()
    assert not isinstance(rg.ones(1), rg.cuda.FloatTensor)
    assert rg.cuda.streams.Event is rg.cuda.Event
    with pytest.raises(RuntimeError, match="NVTX functions not installed"):
        rg.cuda.nvtx.range_push("step")


def test_mixed_precision_on_a_device_that_is_not_there_changes_nothing() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with rg.cuda.amp.autocast():
            assert (rg.ones(2, 2) @ rg.ones(2, 2)).dtype is rg.float32
        scaler = rg.cuda.amp.GradScaler()
    assert {w.category for w in caught} == {FutureWarning, UserWarning}
    assert any("`retrograd.cuda.amp.autocast(args...)` is deprecated." in str(w.message) for w in caught)
    assert scaler.scale(rg.ones(1)).item() == 1.0


def test_switches_of_libraries_keep_what_is_written() -> None:
    cudnn = rg.backends.cudnn
    assert cudnn.enabled and not cudnn.is_available() and cudnn.version() is None
    with cudnn.flags(enabled=True, benchmark=True):
        assert cudnn.benchmark
    assert not cudnn.benchmark
    with pytest.raises(TypeError, match="unexpected keyword argument 'fast'"), cudnn.flags(fast=True):
        pass
    assert cudnn.set_flags(benchmark=True) == (False,)
    assert cudnn.set_flags(benchmark=False) == (True,)
    rg.backends.cuda.matmul.allow_tf32 = True
    assert rg.backends.cuda.matmul.allow_tf32
    rg.backends.cuda.matmul.allow_tf32 = False
    rg.backends.cuda.enable_flash_sdp(False)
    assert not rg.backends.cuda.is_built()
    libraries = [getattr(rg.backends, name) for name in ("mkl", "mkldnn", "mps", "nnpack", "openmp", "opt_einsum")]
    assert [library.is_available() for library in libraries] == [False] * 6


@pytest.mark.parametrize("name", REFUSED)
def test_names_of_refused_modules_can_be_imported_and_not_used(name: str) -> None:
    module = importlib.import_module(f"retrograd.{name}")

    class Subclass(module.Something):  # type: ignore[misc, name-defined]
        pass

    for used in (module.Something, Subclass):
        with pytest.raises(NotImplementedError, match=f"^{name}.Something: retrograd "):
            used(1, key=2)
    with pytest.raises(AttributeError):
        module.__wrapped__  # noqa: B018


def test_scripts_are_the_functions() -> None:
    def double(x: rg.Tensor) -> rg.Tensor:
        return x * 2

    jit = rg.jit
    for same in (
        jit.script,
        jit.trace,
        jit.export,
        jit.unused,
        jit.ignore,
        jit.freeze,
        rg.compiler.disable,
    ):
        assert same(double) is double
    assert jit.ignore(drop=True)(double) is double
    assert rg.compiler.disable(recursive=False)(double) is double
    assert not jit.is_scripting() and not jit.is_tracing() and not rg.compiler.is_compiling()
    assert jit.isinstance([1], list[int]) and not jit.isinstance([1], (dict[str, int], int))
    assert jit.wait(jit.fork(double, rg.ones(1))).item() == 2.0
    with pytest.raises(ZeroDivisionError):
        jit.wait(jit.fork(lambda: 1 / 0))
    with pytest.raises(NotImplementedError, match=r"^jit\.save: retrograd writes no TorchScript"):
        jit.save(double, "file")


def test_types_of_tensors_with_a_dtype_in_their_name() -> None:
    assert rg.LongTensor([1, 2]).dtype is rg.int64
    assert rg.FloatTensor([[1, 2]]).tolist() == [[1.0, 2.0]]
    assert rg.FloatTensor(2, 3).shape == rg.FloatTensor(rg.Size([2, 3])).shape == (2, 3)
    assert rg.FloatTensor((2, 3)).tolist() == [2.0, 3.0]
    assert rg.BoolTensor().shape == (0,)
    x = rg.ones(2)
    alias = rg.FloatTensor(x)
    alias.zero_()
    assert x.tolist() == [0.0, 0.0]
    assert isinstance(x, rg.FloatTensor) and not isinstance(x, rg.LongTensor) and not isinstance(1.0, rg.FloatTensor)
    assert isinstance(rg.nn.Parameter(x), rg.FloatTensor)
    assert rg.DoubleTensor.dtype is rg.float64 and not rg.DoubleTensor.is_cuda
    assert repr(rg.HalfTensor) == "<class 'retrograd.HalfTensor'>"
    with pytest.raises(TypeError, match=r"new\(\): data must be a sequence \(got float\)"):
        rg.FloatTensor(3.5)
    with pytest.raises(TypeError, match=r"new\(\): invalid data type 'str'"):
        rg.FloatTensor("a")
    with pytest.raises(TypeError, match=r"convert it with .to\(retrograd.float32\)"):
        rg.FloatTensor(rg.ones(1, dtype=rg.float64))
    with pytest.raises(TypeError, match="not 2 values"):
        rg.FloatTensor([1.0], [2.0])


def test_defaults_of_the_process() -> None:
    assert rg.get_default_device() == rg.device("cpu")
    rg.set_default_device("cpu")
    rg.set_default_device(None)
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        rg.set_default_device("cuda")
    assert rg.get_device_module("cuda") is rg.cuda
    with pytest.raises(RuntimeError, match="Invalid device module 'foo'"):
        rg.get_device_module("foo")
    with pytest.warns(UserWarning, match="set_default_tensor_type"):
        rg.set_default_tensor_type(rg.DoubleTensor)
    assert rg.get_default_dtype() is rg.float64
    with pytest.warns(UserWarning, match="set_default_tensor_type"):
        rg.set_default_tensor_type("torch.FloatTensor")
    assert rg.get_default_dtype() is rg.float32
    for bad in (rg.LongTensor, "torch.cuda.FloatTensor", rg.float64, "foo"):
        with (
            pytest.warns(UserWarning, match="set_default_tensor_type"),
            pytest.raises(TypeError, match="only floating-point types are supported as the default type"),
        ):
            rg.set_default_tensor_type(bad)
    rg.set_float32_matmul_precision("high")
    with pytest.warns(UserWarning, match="low is not one of 'highest', 'high', or 'medium'"):
        rg.set_float32_matmul_precision("low")
    assert rg.get_float32_matmul_precision() == "high"
    rg.set_float32_matmul_precision("highest")
    assert rg.set_flush_denormal(False) and not rg.set_flush_denormal(True)
    with pytest.raises(RuntimeError, match="set_num_interop_threads expects a positive integer"):
        rg.set_num_interop_threads(0)
    with pytest.raises(RuntimeError, match="set_num_interop_threads expects an int, but got str"):
        rg.set_num_interop_threads("a")
    with pytest.raises(RuntimeError, match="setWarnOnlyOnce expects a bool, but got int"):
        rg.set_warn_always(1)
    rg.set_warn_always(True)
    assert rg.is_warn_always_enabled()
    rg.set_warn_always(False)
    assert not rg.is_storage(rg.ones(1)) and not rg.is_vulkan_available()


def test_what_the_build_is() -> None:
    assert rg.version.__version__ == rg.__version__
    assert rg.version.cuda is None and rg.version.hip is None
    assert rg.__version__ in rg.__config__.show()
    assert f"{rg.get_num_threads()}" in rg.__config__.parallel_info()
    assert isinstance(True, rg.types.Number) and not isinstance("", rg.types.Number)


def test_a_choice_of_kernels_of_attention_changes_nothing() -> None:
    from retrograd.nn.attention import SDPBackend, sdpa_kernel

    q = rg.randn(2, 3, 4)
    expected = rg.nn.functional.scaled_dot_product_attention(q, q, q)
    for backends in (SDPBackend.FLASH_ATTENTION, [SDPBackend.MATH, SDPBackend(2)]):
        with sdpa_kernel(backends):
            assert rg.equal(rg.nn.functional.scaled_dot_product_attention(q, q, q), expected)
    assert sdpa_kernel(SDPBackend.MATH)(lambda: 3)() == 3
    with (
        pytest.raises(AssertionError, match="Backend must be an instance of SDPBackend or a list"),
        sdpa_kernel("MATH"),
    ):  # type: ignore[arg-type]
        pass


@pytest.mark.parametrize(
    ("device", "error", "phrase"),
    [
        ("cuda:0", AssertionError, "Torch not compiled with CUDA enabled"),
        ("xpu", AssertionError, "Torch not compiled with XPU enabled"),
        ("mps", RuntimeError, "PyTorch is not linked with support for mps devices"),
        ("meta", NotImplementedError, "'meta' would have tensors without memory"),
    ],
)
def test_tensors_on_a_device_that_is_not_there_are_refused(device: str, error: type[Exception], phrase: str) -> None:
    for call in (
        lambda: rg.ones(1, device=device),
        lambda: rg.ones(1).to(device),
        lambda: rg.nn.Linear(1, 1).to(device),
    ):
        with pytest.raises(error, match=phrase) as raised:
            call()
        assert "'cpu' is the only device of this build" in str(raised.value)
