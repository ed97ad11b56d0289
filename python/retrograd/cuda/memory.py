"""The questions about memory that `retrograd.cuda` answers."""

from retrograd import cuda as _cuda

globals().update({name: value for name, value in vars(_cuda).items() if "memory" in name or "cache" in name})
