"""The seeds and states of generators that `retrograd.cuda` answers for."""

from retrograd import cuda as _cuda

globals().update({name: value for name, value in vars(_cuda).items() if "seed" in name or "rng_state" in name})
