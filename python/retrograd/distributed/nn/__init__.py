"""Collectives that are differentiated."""

from retrograd.distributed.nn import functional as functional
from retrograd.distributed.nn.functional import *  # noqa: F403
