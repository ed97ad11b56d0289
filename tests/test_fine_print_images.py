"""Images: smooth resampling, channels that stay last, warnings."""

import warnings

import numpy as np
import pytest

SIZES = (2, 3, 4, 5)


def kernel(mode, x):
    x = np.abs(x)
    if mode == "bilinear":
        return np.maximum(1 - x, 0)
    if mode == "lanczos":
        return np.where(x < 3, np.sinc(x) * np.sinc(x / 3), 0)
    near, far = 1.5 * x**3 - 2.5 * x**2 + 1, -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def weights(mode, n, m, scale):
    """The matrix of the map from `n` to `m` elements: kernels around the middle of each result, of sum 1."""
    middle = scale * (np.arange(m) + 0.5)
    stretch = max(scale, 1)
    w = kernel(mode, (np.arange(n)[None, :] + 0.5 - middle[:, None]) / stretch)
    return w / w.sum(1, keepdims=True)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "lanczos"])
@pytest.mark.parametrize(
    ("given", "sizes", "scales"),
    [
        ({"size": (2, 5)}, (2, 5), (3.5, 1.8)),
        ({"size": (11, 4)}, (11, 4), (7 / 11, 9 / 4)),
        ({"size": (7, 9)}, (7, 9), (1, 1)),
        ({"scale_factor": 0.6}, (4, 5), (1 / 0.6, 1 / 0.6)),
        ({"scale_factor": 0.6, "recompute_scale_factor": True}, (4, 5), (7 / 4, 9 / 5)),
        ({"size": (3, 4), "align_corners": True}, (3, 4), (6 / 2, 8 / 3)),
    ],
)
def test_smooth_resampling_takes_means_of_all_that_a_pixel_covers(rg, mode, given, sizes, scales):
    if mode == "lanczos" and "align_corners" in given:
        with pytest.raises(ValueError, match="Lanczos mode does not support align_corners=True"):
            rg.nn.functional.interpolate(rg.ones(1, 1, 7, 9), mode=mode, antialias=True, **given)
        return
    rng = np.random.default_rng(1)
    image, tangent = rng.normal(size=(2, 2, 3, 7, 9))
    cotangent = rng.normal(size=(2, 3, *sizes))
    rows, columns = (weights(mode, n, m, s) for n, m, s in zip((7, 9), sizes, scales, strict=True))
    f = lambda x: rg.nn.functional.interpolate(x, mode=mode, antialias=True, **given)  # noqa: E731
    x = rg.tensor(image, requires_grad=True)
    y = f(x)
    np.testing.assert_allclose(y.detach().numpy(), rows @ image @ columns.T, rtol=1e-11, atol=1e-12)
    y.backward(rg.tensor(cotangent))
    np.testing.assert_allclose(x.grad.numpy(), rows.T @ cotangent @ columns, rtol=1e-11, atol=1e-12)
    _, dy = rg.func.jvp(f, (x.detach(),), (rg.tensor(tangent),))
    np.testing.assert_allclose(dy.numpy(), rows @ tangent @ columns.T, rtol=1e-11, atol=1e-12)
    assert y.grad_fn.name() == f"Upsample{mode.capitalize()}2DAaBackward0"


def test_smooth_resampling_by_hand(rg):
    x = rg.tensor([[[[0.0, 7.0, 14.0, 21.0]]]])
    y = rg.nn.functional.interpolate(x, size=(1, 2), mode="bilinear", antialias=True)
    np.testing.assert_allclose(y.numpy().ravel(), [5.0, 16.0], rtol=1e-6)  # (3, 3, 1, 0) / 7 and (0, 1, 3, 3) / 7
    whole = (rg.arange(36).reshape(1, 1, 6, 6) * 7).to(rg.uint8)
    y = rg.nn.functional.interpolate(whole, size=(3, 3), mode="bilinear", antialias=True)
    assert y.tolist() == [[[[35, 48, 60], [110, 123, 135], [185, 198, 210]]]]
    for shape, mode in (((1, 1, 4), "linear"), ((1, 1, 4, 4), "nearest")):
        with pytest.raises(ValueError, match="Anti-alias option is restricted to bilinear"):
            rg.nn.functional.interpolate(rg.ones(shape), size=2, mode=mode, antialias=True)
    with pytest.raises(ValueError, match="Lanczos mode requires antialias=True"):
        rg.nn.functional.interpolate(rg.ones(1, 1, 4, 4), size=2, mode="lanczos")


def last(rg, x):
    """The tensor with its channels side by side."""
    return x.to(memory_format=rg.channels_last if x.dim() == 4 else rg.channels_last_3d)


def is_last(rg, x):
    return x.is_contiguous(memory_format=rg.channels_last if x.dim() == 4 else rg.channels_last_3d)


IMAGES = {
    "cat": lambda rg, x: rg.cat([x, x * 2], 1),
    "cat of images": lambda rg, x: rg.cat([x, x * 2]),
    "pad": lambda rg, x: rg.nn.functional.pad(x, (1, 0, 2, 1), value=3.0),
    "pad cuts": lambda rg, x: rg.nn.functional.pad(x, (-1, 0, -2, 1)),
    "reflect": lambda rg, x: rg.nn.functional.pad(x, (1, 2, 1, 0), mode="reflect"),
    "replicate": lambda rg, x: rg.nn.functional.pad(x, (1, 2, 1, 0), mode="replicate"),
    "nearest": lambda rg, x: rg.nn.functional.interpolate(x, scale_factor=2),
    "bilinear": lambda rg, x: rg.nn.functional.interpolate(x, size=(3, 7), mode="bilinear"),
    "bicubic": lambda rg, x: rg.nn.functional.interpolate(x, size=(3, 7), mode="bicubic"),
    "smooth": lambda rg, x: rg.nn.functional.interpolate(x, size=(3, 7), mode="bilinear", antialias=True),
}


@pytest.mark.parametrize("name", IMAGES)
def test_channels_that_lie_last_stay_so(rg, name):
    run = IMAGES[name]
    x = rg.rand(SIZES, dtype=rg.float64)
    plain = run(rg, x)
    assert plain.is_contiguous() and not is_last(rg, plain)
    y = run(rg, last(rg, x))
    assert is_last(rg, y) and not y.is_contiguous()
    np.testing.assert_array_equal(y.numpy(), plain.numpy())
    g = rg.rand(plain.shape, dtype=rg.float64)
    grads = []
    for operand in (x, last(rg, x)):
        leaf = operand.clone().requires_grad_()
        run(rg, leaf).backward(last(rg, g))
        grads.append(leaf.grad.numpy())
    np.testing.assert_allclose(*grads, rtol=1e-13)


def test_volumes_and_mixtures(rg):
    volume = last(rg, rg.rand(2, 3, 4, 5, 2))
    for y in (
        rg.cat([volume, volume], 1),
        rg.nn.functional.pad(volume, (1, 1)),
        rg.nn.functional.interpolate(volume, scale_factor=2),
        rg.nn.functional.interpolate(volume, scale_factor=2, mode="trilinear"),
    ):
        assert is_last(rg, y)
    image = last(rg, rg.rand(SIZES))
    assert rg.stack([image, image]).stride() == (120, 60, 1, 15, 3)
    assert rg.stack([image, image], 2).stride() == (120, 1, 60, 15, 3)
    assert rg.stack([image, image], 4).is_contiguous()
    assert rg.cat([image, rg.rand(SIZES)]).is_contiguous() and rg.cat([rg.rand(SIZES), image]).is_contiguous()
    assert rg.nn.functional.pad(image, (1, 1, 1, 1), mode="circular").is_contiguous()


def test_resize_takes_a_memory_format(rg):
    x = rg.arange(8.0).reshape(1, 2, 2, 2)
    assert x.resize_(1, 2, 2, 2, memory_format=rg.channels_last) is x and x.stride() == (8, 1, 4, 2)
    assert x.tolist() == [[[[0.0, 2.0], [4.0, 6.0]], [[1.0, 3.0], [5.0, 7.0]]]]
    assert x.resize_(x.shape).stride() == (8, 1, 4, 2)
    assert x.resize_(x.shape, memory_format=rg.contiguous_format).stride() == (8, 4, 2, 1)
    assert rg.ones(1).resize_((1, 3, 2, 2), memory_format=rg.channels_last).stride() == (12, 1, 6, 3)
    like = rg.ones(1, 2, 3, 3)
    assert rg.ones(2).resize_as_(like, memory_format=rg.channels_last).stride() == (18, 1, 6, 2)
    for wrong, says in (
        (rg.preserve_format, "Unsupported memory format"),
        (rg.channels_last, "required rank 4 tensor"),
    ):
        y = rg.ones(2, 2)
        with pytest.raises(RuntimeError, match=says):
            y.resize_(4, memory_format=wrong)
        assert y.shape == (2, 2) and y._version == 0


def test_warning_of_grids_of_one_pixel(rg):
    theta = rg.eye(2, 3)[None]
    for size, warned in (((1, 1, 1, 2), True), ((1, 1, 2, 2), False)):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            rg.nn.functional.affine_grid(theta, size, align_corners=True)
        assert any("affine_grid behavior has changed for unit-size grids" in str(w.message) for w in said) == warned
