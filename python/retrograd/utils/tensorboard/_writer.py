"""Writers of event files."""

from __future__ import annotations

import os
import socket
import time
import warnings
from collections.abc import Iterable, Mapping
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, Self

from retrograd.utils.tensorboard import _summaries
from retrograd.utils.tensorboard._arrays import array, drawn, grid, pixels, png


class FileWriter:
    """Writes events into a new file of a folder, from a thread of its own.

    Args: `log_dir` the folder; `max_queue` how many events may wait; `flush_secs` how often they are written.
    """

    def __init__(self, log_dir: Any, max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = "") -> None:
        writer = import_module("tensorboard.summary.writer.event_file_writer").EventFileWriter
        self.event_writer = writer(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """The folder."""
        return str(self.event_writer.get_logdir())

    def add_event(self, event: Any, step: Any = None, walltime: float | None = None) -> None:
        """Write an event, of a step and a time."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Write a summary, of a step and a time."""
        event = import_module("tensorboard.compat.proto.event_pb2").Event(summary=summary)
        self.add_event(event, global_step, walltime)

    def flush(self) -> None:
        """Return when all events are in the file."""
        self.event_writer.flush()

    def close(self) -> None:
        """End the file."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Begin another file, if this one was ended."""
        self.event_writer.reopen()


class SummaryWriter:
    """Writes numbers, texts and pictures of a program into a folder that TensorBoard shows.

    Args: `log_dir` the folder, None for one in `runs` with the time, the name of the machine and `comment`;
    `purge_step` the step from which on TensorBoard forgets what earlier files of the folder say.

    As a context manager, it is closed at the end of the block.
    """

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            now = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")
        self.log_dir = log_dir
        self.purge_step = purge_step
        self.max_queue, self.flush_secs, self.filename_suffix = max_queue, flush_secs, filename_suffix
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self._projector_config: Any = None
        self._get_file_writer()
        limits, limit = [], 1e-12
        while limit < 1e20:
            limits.append(limit)
            limit *= 1.1
        self.default_bins = [*(-limit for limit in reversed(limits)), 0, *limits]

    def _get_file_writer(self) -> FileWriter:
        """The writer of the folder itself; after `close`, a new one."""
        if self.file_writer is None:
            self.file_writer = FileWriter(self.log_dir, self.max_queue, self.flush_secs, self.filename_suffix)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                proto = import_module("tensorboard.compat.proto.event_pb2")
                start = proto.SessionLog(status=proto.SessionLog.START)
                self.file_writer.add_event(proto.Event(step=self.purge_step, file_version="brain.Event:2"))
                self.file_writer.add_event(proto.Event(step=self.purge_step, session_log=start))
                self.purge_step = None
        return self.file_writer

    def get_logdir(self) -> Any:
        """The folder."""
        return self.log_dir

    def _add(self, summary: Any, global_step: Any, walltime: float | None) -> None:
        self._get_file_writer().add_summary(summary, global_step, walltime)

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: Any = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Write a number: `new_style` as a tensor, in float64 with `double_precision`."""
        summary = _summaries.scalar(tag, scalar_value, new_style, double_precision)
        self._add(summary, global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Write numbers of one chart, each into a folder of its own."""
        walltime = time.time() if walltime is None else walltime
        top = self._get_file_writer().get_logdir()
        assert self.all_writers is not None
        for tag, value in tag_scalar_dict.items():
            folder = f"{top}/{main_tag.replace('/', '_')}_{tag}"
            if folder not in self.all_writers:
                self.all_writers[folder] = FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)
            self.all_writers[folder].add_summary(_summaries.scalar(main_tag, value), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: Any = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Write how many values are between limits: those of TensorFlow, or `bins` as in NumPy's `histogram`."""
        bins = self.default_bins if isinstance(bins, str) and bins == "tensorflow" else bins
        self._add(_summaries.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Write an image, of bytes or of numbers from 0 to 1; `dataformats` names its dimensions."""
        self._add(_summaries.image(tag, pixels(array(img_tensor), dataformats)), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Write several images as one, eight in a row."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_figure(
        self, tag: str, figure: Any, global_step: Any = None, close: bool = True, walltime: float | None = None
    ) -> None:
        """Write a figure of matplotlib, or a list of them, as an image; `close` closes them."""
        if isinstance(figure, list):
            import numpy as np

            self.add_images(tag, np.stack([drawn(one, close) for one in figure]), global_step, walltime)
        else:
            self.add_image(tag, drawn(figure, close), global_step, walltime)

    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None) -> None:
        """Write a text, in Markdown."""
        self._add(_summaries.text(tag, text_string), global_step, walltime)

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: Any = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Write the precision and recall of predictions, from 0 to 1, of labels, 0 or 1."""
        summary = _summaries.pr_curve(tag, labels, predictions, num_thresholds, weights)
        self._add(summary, global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: dict[str, list[Any]] | None = None,
        run_name: str | None = None,
        global_step: Any = None,
    ) -> None:
        """Write parameters of a run and what came of them, into the folder `run_name`, None for the time.

        Args: `hparam_domain_discrete` the values that parameters may have.
        Raises: TypeError for what is no dictionary, ValueError for values that are no numbers, texts or tensors.
        """
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        summaries = _summaries.hparams(hparam_dict, metric_dict, hparam_domain_discrete or {})
        folder = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
        with SummaryWriter(log_dir=folder) as writer:
            for summary in summaries:
                writer._add(summary, global_step, None)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    def add_embedding(
        self,
        mat: Any,
        metadata: Any = None,
        label_img: Any = None,
        global_step: Any = None,
        tag: str = "default",
        metadata_header: Iterable[str] | None = None,
    ) -> None:
        """Write points for the projector: the rows of a matrix, with labels and images.

        Args: `metadata` a label for each row, or a list of them whose names `metadata_header` has; `label_img` an image
        for each row, (N, C, H, W).
        """
        import numpy as np

        points = array(mat)
        assert points.ndim == 2, "mat should be 2D, where mat.size(0) is the number of data points"
        assert metadata is None or len(metadata) == len(points), "#labels should equal with #data points"
        assert label_img is None or len(label_img) == len(points), "#images should equal with #data points"
        name = "".join(f"%{ord(c):02x}" if c in "%/\\" else c for c in tag)
        below = f"{str(global_step or 0).zfill(5)}/{name}"
        top = Path(self._get_file_writer().get_logdir())
        folder = top / below
        if folder.exists():
            warnings.warn("Embedding dir exists, did you set global_step for add_embedding()?", stacklevel=2)
        folder.mkdir(parents=True, exist_ok=True)

        proto = import_module("tensorboard.plugins.projector.projector_config_pb2")
        info = proto.EmbeddingInfo(tensor_name=f"{tag}:{str(global_step or 0).zfill(5)}")
        info.tensor_path = f"{below}/tensors.tsv"
        _write_rows(folder / "tensors.tsv", points.tolist())
        if metadata is not None:
            rows = [list(metadata_header), *metadata] if metadata_header else [[label] for label in metadata]
            _write_rows(folder / "metadata.tsv", rows)
            info.metadata_path = f"{below}/metadata.tsv"
        if label_img is not None:
            images = array(label_img)
            side = int(np.ceil(len(images) ** 0.5))
            whole = grid(images, side)
            square = np.zeros((3, whole.shape[2], whole.shape[2]), whole.dtype)
            square[:, : whole.shape[1]] = whole
            (folder / "sprite.png").write_bytes(png(pixels(square, "CHW")))
            info.sprite.image_path = f"{below}/sprite.png"
            info.sprite.single_image_dim.extend([images.shape[3], images.shape[2]])
        if self._projector_config is None:
            self._projector_config = proto.ProjectorConfig()
        self._projector_config.embeddings.extend([info])
        written = import_module("google.protobuf.text_format").MessageToString(self._projector_config)
        (top / "projector_config.pbtxt").write_text(written)

    def add_graph(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: no program is traced here.

        Raises: NotImplementedError.
        """
        raise NotImplementedError(
            "SummaryWriter.add_graph: no program is traced; utils.graph draws the graph of a tensor"
        )

    def flush(self) -> None:
        """Return when everything is in the files."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """End the files. What is added later begins another one."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _write_rows(path: Path, rows: Iterable[Iterable[Any]]) -> None:
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
