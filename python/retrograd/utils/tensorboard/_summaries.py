"""Summaries, which event files consist of, as TensorBoard expects them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from retrograd._core import Tensor
from retrograd.utils.tensorboard._arrays import array, png

_MOST_THRESHOLDS = 127  # of a curve that the package can write


def _summary(**value: Any) -> Any:
    summary = import_module("tensorboard.compat.proto.summary_pb2").Summary
    return summary(value=[summary.Value(**value)])


def _metadata(plugin: str, content: bytes = b"") -> Any:
    metadata = import_module("tensorboard.compat.proto.summary_pb2").SummaryMetadata
    return metadata(plugin_data=metadata.PluginData(plugin_name=plugin, content=content))


def _tensor(sizes: list[int] | None = None, **values: Any) -> Any:
    proto = import_module("tensorboard.compat.proto.tensor_pb2").TensorProto
    if sizes is None:
        return proto(**values)
    shape = import_module("tensorboard.compat.proto.tensor_shape_pb2").TensorShapeProto
    return proto(tensor_shape=shape(dim=[shape.Dim(size=size) for size in sizes]), **values)


def scalar(tag: str, value: Any, new_style: bool = False, double_precision: bool = False) -> Any:
    """One number."""
    numbers = array(value).squeeze()
    assert numbers.ndim == 0, (
        "Tensor should contain one element (0 dimensions). "
        f"Was given size: {numbers.size} and {numbers.ndim} dimensions."
    )
    number = float(numbers)
    if not new_style:
        return _summary(tag=tag, simple_value=number)
    tensor = _tensor(float_val=[number], dtype="DT_FLOAT")
    if double_precision:
        tensor = _tensor(double_val=[number], dtype="DT_DOUBLE")
    return _summary(tag=tag, tensor=tensor, metadata=_metadata("scalars"))


def text(tag: str, value: str) -> Any:
    """A text, in Markdown."""
    content = import_module("tensorboard.plugins.text.plugin_data_pb2").TextPluginData(version=0)
    tensor = _tensor([1], dtype="DT_STRING", string_val=[value.encode()])
    return _summary(tag=f"{tag}/text_summary", metadata=_metadata("text", content.SerializeToString()), tensor=tensor)


def image(tag: str, pixels: Any) -> Any:
    """An image of bytes (H, W, C)."""
    height, width, channels = pixels.shape
    kind = import_module("tensorboard.compat.proto.summary_pb2").Summary.Image
    return _summary(
        tag=tag, image=kind(height=height, width=width, colorspace=channels, encoded_image_string=png(pixels))
    )


def histogram(tag: str, values: Any, bins: Any, max_bins: int | None) -> Any:
    """How many numbers are between limits, without the empty ends."""
    import numpy as np

    values = array(values).astype(float).reshape(-1)
    if values.size == 0:
        raise ValueError("The input has no element.")
    counts: Any
    counts, limits = np.histogram(values, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        together = len(counts) // max_bins
        starts = np.arange(0, len(counts), together)
        counts, limits = np.add.reduceat(counts, starts), np.append(limits[starts], limits[-1])
    full = np.flatnonzero(counts)
    first, last = (full[0], full[-1]) if len(full) else (0, len(counts) - 1)
    # Limits are those on the right, so the first of them ends an empty bin.
    counts = [0, *counts[first : last + 1]] if first == 0 else counts[first - 1 : last + 1]
    histogram = import_module("tensorboard.compat.proto.summary_pb2").HistogramProto(
        min=values.min(),
        max=values.max(),
        num=len(values),
        sum=values.sum(),
        sum_squares=values @ values,
        bucket_limit=[float(limit) for limit in limits[first : last + 2]],
        bucket=[float(count) for count in counts],
    )
    return _summary(tag=tag, histo=histogram)


def pr_curve(tag: str, labels: Any, predictions: Any, num_thresholds: int, weights: Any) -> Any:
    """Precision and recall, and the counts behind them, at thresholds from 0 to 1."""
    import numpy as np

    count = min(num_thresholds, _MOST_THRESHOLDS)
    weights = 1.0 if weights is None else array(weights)
    labels = array(labels).astype(float)
    places = np.floor(array(predictions) * (count - 1)).astype(int)

    def above(amounts: Any) -> Any:
        parts, _ = np.histogram(places, bins=count, range=(0, count - 1), weights=amounts)
        return parts[::-1].cumsum()[::-1]

    tp, fp = above(labels * weights), above((1.0 - labels) * weights)
    tn, fn = fp[0] - fp, tp[0] - tp
    rows = [tp, fp, tn, fn, tp / np.maximum(1e-7, tp + fp), tp / np.maximum(1e-7, tp + fn)]
    content = import_module("tensorboard.plugins.pr_curve.plugin_data_pb2").PrCurvePluginData(
        version=0, num_thresholds=count
    )
    tensor = _tensor([6, count], dtype="DT_FLOAT", float_val=np.concatenate(rows).tolist())
    return _summary(tag=tag, metadata=_metadata("pr_curves", content.SerializeToString()), tensor=tensor)


def hparams(hparam_dict: Any, metric_dict: Any, domains: Any) -> list[Any]:
    """Names and values of parameters, names of metrics, and the end of the session."""
    if not isinstance(domains, dict):
        raise TypeError("parameter: hparam_domain_discrete should be a dictionary, nothing logged.")
    for name, allowed in domains.items():
        own = type(hparam_dict.get(name))
        if name not in hparam_dict or not isinstance(allowed, list) or not all(isinstance(d, own) for d in allowed):
            raise TypeError(
                f"parameter: hparam_domain_discrete[{name}] should be a list of same type as hparam_dict[{name}]."
            )
    api = import_module("tensorboard.plugins.hparams.api_pb2")
    data = import_module("tensorboard.plugins.hparams.plugin_data_pb2")
    names = import_module("tensorboard.plugins.hparams.metadata")
    struct = import_module("google.protobuf.struct_pb2")
    start, infos = data.SessionStartInfo(), []
    for name, value in hparam_dict.items():
        if value is None:
            continue
        number = float(array(value)[()].reshape(-1)[0]) if isinstance(value, Tensor) else value
        if isinstance(number, str):
            field, kind = "string_value", "DATA_TYPE_STRING"
        elif isinstance(number, (int, float)):
            field, kind = "number_value", "DATA_TYPE_FLOAT64"
        else:
            raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")
        setattr(start.hparams[name], field, number)
        domain = None
        if name in domains:
            domain = struct.ListValue(values=[struct.Value(**{field: allowed}) for allowed in domains[name]])
        infos.append(api.HParamInfo(name=name, type=api.DataType.Value(kind), domain_discrete=domain))
    metrics = [api.MetricInfo(name=api.MetricName(tag=name)) for name in metric_dict]
    parts = {
        names.EXPERIMENT_TAG: {"experiment": api.Experiment(hparam_infos=infos, metric_infos=metrics)},
        names.SESSION_START_INFO_TAG: {"session_start_info": start},
        names.SESSION_END_INFO_TAG: {
            "session_end_info": data.SessionEndInfo(status=api.Status.Value("STATUS_SUCCESS"))
        },
    }
    summaries = []
    for tag, part in parts.items():
        content = data.HParamsPluginData(version=names.PLUGIN_DATA_VERSION, **part).SerializeToString()
        summaries.append(_summary(tag=tag, metadata=_metadata(names.PLUGIN_NAME, content)))
    return summaries
