"""Values of programs as arrays, and arrays as images."""

from __future__ import annotations

import io
from typing import Any

from retrograd._core import Tensor, bfloat16, float32


def array(value: Any) -> Any:
    """A tensor, number or array as an array."""
    import numpy as np

    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, Tensor):
        value = value.detach().resolve_conj().resolve_neg()
        return (value.to(float32) if value.dtype == bfloat16 else value).numpy()
    if np.isscalar(value):
        return np.array([value])
    raise NotImplementedError(f"Got {type(value)}, but numpy array or torch tensor are expected.")


def grid(images: Any, columns: int = 8) -> Any:
    """Images (N, C, H, W) beside and below each other, as one of 3 channels (3, H, W)."""
    import numpy as np

    if images.shape[1] == 1:
        images = np.concatenate([images] * 3, 1)
    count, channels, height, width = images.shape
    columns = min(count, columns)
    rows = -(-count // columns)
    whole = np.zeros((rows * columns, channels, height, width), images.dtype)
    whole[:count] = images
    whole = whole.reshape(rows, columns, channels, height, width).transpose(2, 0, 3, 1, 4)
    return whole.reshape(channels, rows * height, columns * width)


def pixels(image: Any, dataformats: str) -> Any:
    """An image, or several, as bytes (H, W, C); numbers that are no bytes are from 0 to 1."""
    import numpy as np

    order = dataformats.upper()
    assert len(set(order)) == len(order), (
        f"You can not use the same dimension shorthand twice. input_format: {dataformats}"
    )
    assert image.ndim == len(order), (
        f"size of input tensor and input format are different. tensor shape: {image.shape}, input_format: {dataformats}"
    )
    wanted = {2: "HW", 3: "HWC", 4: "NCHW"}[len(order)]
    image = image.transpose([order.index(axis) for axis in wanted])
    if wanted == "NCHW":
        image = grid(image).transpose(1, 2, 0)
    if wanted == "HW":
        image = image[..., None]
    if image.shape[2] == 1:
        image = np.concatenate([image] * 3, 2)
    scale = 1 if image.dtype == np.uint8 else 255
    return (image.astype(np.float32) * scale).clip(0, 255).astype(np.uint8)


def png(image: Any) -> bytes:
    """An image of bytes (H, W, C) as a file."""
    from PIL import Image

    with io.BytesIO() as file:
        Image.fromarray(image).save(file, format="PNG")
        return file.getvalue()


def drawn(figure: Any, close: bool) -> Any:
    """A figure of matplotlib as bytes (3, H, W)."""
    import numpy as np
    from matplotlib import pyplot
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    image = np.asarray(canvas.buffer_rgba())[..., :3].transpose(2, 0, 1)
    if close:
        pyplot.close(figure)
    return image
