"""Event files: what `SummaryWriter` writes is what TensorBoard reads, and what it asks for without the package."""

import io
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import retrograd as rg
from retrograd.utils import tensorboard
from retrograd.utils.tensorboard import _arrays

needs_tensorboard = pytest.mark.skipif(find_spec("tensorboard") is None, reason="tensorboard is not installed")


def test_without_the_package_the_writer_is_an_import_error():
    program = (
        "import sys; sys.modules['tensorboard'] = None; import retrograd.utils.tensorboard as t; import importlib\n"
    )
    program += "importlib.util.find_spec = t.find_spec = lambda name: None\nassert dir(t) == []\n"
    program += "try:\n    from retrograd.utils.tensorboard import SummaryWriter\nexcept ImportError as e: print(e)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip().endswith("the package tensorboard, which is absent: pip install tensorboard")


def test_other_names_are_attribute_errors():
    with pytest.raises(AttributeError, match=r"module 'retrograd.utils.tensorboard' has no attribute 'nothing'"):
        tensorboard.nothing  # noqa: B018


def test_images_are_put_beside_each_other():
    images = np.arange(5 * 3 * 2 * 1).reshape(5, 3, 2, 1)
    whole = _arrays.grid(images, 2)
    assert whole.shape == (3, 6, 2)
    assert whole[:, 0:2, 0:1].tolist() == images[0].tolist()
    assert whole[:, 2:4, 1:2].tolist() == images[3].tolist()
    assert not whole[:, 4:6, 1:2].any()
    assert (_arrays.grid(images[:, :1], 2)[2] == _arrays.grid(images[:, :1], 2)[0]).all()


@pytest.mark.parametrize("order", ["CHW", "HWC", "WCH"])
def test_pixels_are_bytes_whatever_the_order(order):
    image = np.random.default_rng(0).random((3, 2, 4))
    expected = (image.transpose(1, 2, 0).astype(np.float32) * 255).astype(np.uint8)
    given = image.transpose(["CHW".index(axis) for axis in order])
    assert (_arrays.pixels(given, order) == expected).all()
    grey = _arrays.pixels((image[0] * 300).astype(np.uint8), "HW")
    assert grey.shape == (2, 4, 3) and (grey[..., 0] == (image[0] * 300).astype(np.uint8)).all()
    assert _arrays.pixels(np.array([[-1.0, 2.0]]), "hw")[0, :, 0].tolist() == [0, 255]
    for wrong, message in (("CHH", "You can not use the same dimension shorthand twice"), ("HW", "are different")):
        with pytest.raises(AssertionError, match=message):
            _arrays.pixels(image, wrong)


def test_values_become_arrays():
    assert _arrays.array(rg.tensor([1.5], dtype=rg.bfloat16, requires_grad=True)).tolist() == [1.5]
    assert _arrays.array(2).tolist() == [2]
    with pytest.raises(NotImplementedError, match="Got <class 'list'>, but numpy array or torch tensor are expected"):
        _arrays.array([1])


@pytest.fixture
def written(tmp_path):
    """Calls a function with a writer, and returns the values of the folders that it wrote, by folder."""

    def write(function, **options):
        from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
        from tensorboard.compat.proto.event_pb2 import Event

        with tensorboard.SummaryWriter(tmp_path, **options) as writer:
            function(writer)
        found = {}
        for path in sorted(tmp_path.rglob("events.*")):
            events = [Event.FromString(raw) for raw in RawEventFileLoader(str(path)).Load()]
            folder = str(path.parent.relative_to(tmp_path))
            found.setdefault(folder, []).extend(
                (e.step, e.wall_time, v) for e in events if e.summary for v in e.summary.value
            )
        return found

    return write


@needs_tensorboard
def test_numbers_and_texts_are_written(written):
    def write(w):
        w.add_scalar("loss", rg.tensor([1.5], requires_grad=True), 3, walltime=7.0)
        w.add_scalar("loss", 2, rg.tensor(4))
        w.add_scalar("new", 0.25, new_style=True)
        w.add_scalar("new", 0.1, new_style=True, double_precision=True)
        w.add_scalars("a/b", {"x": 1.0, "y": rg.tensor(2.0)}, 5)
        w.add_text("note", "hélló")
        assert str(w.get_logdir()) == w.file_writer.get_logdir()
        for wrong in (rg.ones(2), np.ones((2, 1))):
            with pytest.raises(AssertionError, match=r"Tensor should contain one element \(0 dimensions\)"):
                w.add_scalar("loss", wrong)

    found = written(write)
    first, second, new, double, text = found["."]
    assert first[:2] == (3, 7.0) and (first[2].tag, first[2].simple_value) == ("loss", 1.5)
    assert second[0] == 4 and second[2].simple_value == 2.0
    assert list(new[2].tensor.float_val) == [0.25] and new[2].metadata.plugin_data.plugin_name == "scalars"
    assert list(double[2].tensor.double_val) == [0.1]
    assert (text[2].tag, list(text[2].tensor.string_val)) == ("note/text_summary", ["hélló".encode()])
    assert [(found[f"a_b_{tag}"][0][2].tag, found[f"a_b_{tag}"][0][2].simple_value) for tag in "xy"] == [
        ("a/b", 1.0),
        ("a/b", 2.0),
    ]


@needs_tensorboard
def test_histograms_have_counts_between_limits(written):
    def write(w):
        w.add_histogram("h", rg.tensor([0.0, 0.0, 5.0]), bins=[-2, -1, 0, 1, 4, 6, 9])
        w.add_histogram("h", np.arange(10), bins=10, max_bins=4)
        w.add_histogram("h", rg.tensor([1.0, -1.0]))
        with pytest.raises(ValueError, match="The input has no element"):
            w.add_histogram("h", rg.ones(0))

    first, second, third = (value.histo for _, _, value in written(write)["."])
    assert (list(first.bucket), list(first.bucket_limit)) == ([0, 2, 0, 1], [0, 1, 4, 6])
    assert (first.min, first.max, first.num, first.sum, first.sum_squares) == (0, 5, 3, 5, 25)
    assert list(second.bucket) == [0, 2, 2, 2, 2, 2]
    assert sum(third.bucket) == 2 and third.bucket_limit[-1] > 1.0


@needs_tensorboard
def test_images_and_figures_are_written(written):
    from PIL import Image

    image = rg.rand(3, 4, 5, generator=rg.Generator().manual_seed(0))

    def write(w):
        from matplotlib.figure import Figure

        w.add_image("i", image)
        w.add_images("i", rg.rand(9, 1, 2, 3))
        w.add_figure("f", Figure(figsize=(1, 2), dpi=50))
        w.add_figure("f", [Figure(figsize=(1, 1), dpi=50)] * 2)

    one, many, figure, figures = (value.image for _, _, value in written(write)["."])
    read = np.asarray(Image.open(io.BytesIO(one.encoded_image_string)))
    assert read.tolist() == (image * 255).permute(1, 2, 0).to(rg.uint8).tolist()
    sizes = [(i.height, i.width, i.colorspace) for i in (one, many, figure, figures)]
    assert sizes == [(4, 5, 3), (4, 24, 3), (100, 50, 3), (50, 100, 3)]


@needs_tensorboard
def test_curves_of_precision_and_recall_are_written(written):
    labels, predictions = rg.tensor([0, 1, 1, 0, 1]), rg.tensor([0.1, 0.8, 0.4, 0.6, 1.0])
    (curve,) = (v for _, _, v in written(lambda w: w.add_pr_curve("c", labels, predictions, num_thresholds=5))["."])
    tp, fp, tn, fn, precision, recall = np.reshape(curve.tensor.float_val, (6, 5)).tolist()
    assert (tp, fp, tn, fn) == ([3, 3, 2, 2, 1], [2, 1, 1, 0, 0], [0, 1, 1, 2, 2], [0, 0, 1, 1, 2])
    assert precision == pytest.approx([3 / 5, 3 / 4, 2 / 3, 1, 1])
    assert recall == pytest.approx([1, 1, 2 / 3, 2 / 3, 1 / 3])


@needs_tensorboard
def test_parameters_are_written(written):
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    def write(w):
        parameters = {"lr": 0.1, "name": "x", "flag": True, "none": None, "t": rg.tensor([2.5])}
        w.add_hparams(parameters, {"acc": 0.5}, {"lr": [0.1, 0.2]}, run_name="run", global_step=3)
        for wrong, message in (
            (({"a": [1]}, {}), "value should be one of int, float, str, bool, or torch.Tensor"),
            (([], {}), "hparam_dict and metric_dict should be dictionary"),
            (({"a": 1}, {}, {"a": ["q"]}), r"hparam_domain_discrete\[a\] should be a list of same type as hparam_dict"),
            (({"a": 1}, {}, {"b": [1]}), r"hparam_domain_discrete\[b\] should be a list"),
            (({"a": 1}, {}, [1]), "hparam_domain_discrete should be a dictionary, nothing logged"),
        ):
            with pytest.raises((TypeError, ValueError), match=message):
                w.add_hparams(*wrong)

    experiment, start, end, metric = (value for _, _, value in written(write)["run"])
    assert (metric.tag, metric.simple_value) == ("acc", 0.5)
    experiment, start, end = (
        HParamsPluginData.FromString(v.metadata.plugin_data.content) for v in (experiment, start, end)
    )
    infos = {info.name: info for info in experiment.experiment.hparam_infos}
    assert sorted(infos) == ["flag", "lr", "name", "t"]
    assert [v.number_value for v in infos["lr"].domain_discrete.values] == [0.1, 0.2]
    values = start.session_start_info.hparams
    assert (values["lr"].number_value, values["name"].string_value, values["t"].number_value) == (0.1, "x", 2.5)
    assert end.session_end_info.status == 1


@needs_tensorboard
def test_points_for_the_projector_are_written(tmp_path):
    with tensorboard.SummaryWriter(tmp_path) as w:
        w.add_embedding(rg.tensor([[1.0, 2.0], [3.0, 4.0]]), ["a", "b"], rg.rand(2, 3, 4, 4), 7, "e/x")
        w.add_embedding(np.ones((1, 2)), [["a", 1]], metadata_header=["p", "q"])
        for wrong, message in (
            ((np.ones(3),), "mat should be 2D"),
            ((np.ones((3, 1)), [1]), "#labels should equal with #data points"),
            ((np.ones((3, 1)), None, rg.ones(2, 3, 4, 4)), "#images should equal with #data points"),
        ):
            with pytest.raises(AssertionError, match=message):
                w.add_embedding(*wrong, tag="wrong")
    folder = tmp_path / "00007" / "e%2fx"
    assert (folder / "tensors.tsv").read_text() == "1.0\t2.0\n3.0\t4.0\n"
    assert (folder / "metadata.tsv").read_text() == "a\nb\n"
    assert (folder / "sprite.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "00000" / "default" / "metadata.tsv").read_text() == "p\tq\na\t1\n"
    config = (tmp_path / "projector_config.pbtxt").read_text()
    assert config.count("embeddings") == 2 and 'tensor_path: "00007/e%2fx/tensors.tsv"' in config
    assert not (tmp_path / "00000" / "wrong").exists()


@needs_tensorboard
def test_writers_end_and_begin_again(tmp_path):
    w = tensorboard.SummaryWriter(str(tmp_path), purge_step=3, filename_suffix=".x")
    w.add_scalar("a", 1.0)
    w.flush()
    w.close()
    w.close()
    w.add_scalar("a", 2.0)
    w.close()
    assert {path.suffix for path in Path(tmp_path).iterdir()} == {".x"}
    with pytest.raises(NotImplementedError, match=r"SummaryWriter.add_graph: no program is traced"):
        w.add_graph(None)
