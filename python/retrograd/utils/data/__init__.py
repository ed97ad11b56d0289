"""Datasets, samplers, and loaders that make batches of them, with worker processes if wanted."""

from typing import TYPE_CHECKING

from retrograd._lazy import submodules
from retrograd.utils.data._utils.collate import default_collate, default_convert
from retrograd.utils.data._utils.fetch import _DatasetKind as _DatasetKind
from retrograd.utils.data._utils.worker import get_worker_info
from retrograd.utils.data.dataloader import DataLoader
from retrograd.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from retrograd.utils.data.distributed import DistributedSampler
from retrograd.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
]

if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    __getattr__, __dir__ = submodules(__name__)
