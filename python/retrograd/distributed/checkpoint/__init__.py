"""Checkpoints of several processes: written in parts, and read by any number of processes.

>>> import tempfile
>>> rg.distributed.init_process_group("gloo")
>>> model = rg.nn.Linear(2, 1)
>>> with tempfile.TemporaryDirectory() as folder:
...     rg.distributed.checkpoint.save({"model": model.state_dict(), "epoch": 3}, checkpoint_id=folder)
...     rg.distributed.checkpoint.load_all(folder)["epoch"]
3
>>> rg.distributed.destroy_process_group()
"""

from retrograd.distributed.checkpoint._one_file import load_everywhere, save_on_one
from retrograd.distributed.checkpoint._parts import load, load_all, save
from retrograd.distributed.checkpoint._paths import Shard

__all__ = ["Shard", "load", "load_all", "load_everywhere", "save", "save_on_one"]
