"""A network, a batch that all ranks have, and what one process makes of them."""

import retrograd as rg
from retrograd import distributed as dist
from retrograd import nn

# More than a MiB of weights in the second layer, so that one gradient is sent from where it is.
WIDE = 520


def network(seed: int = 0, dtype: rg.dtype = rg.float32) -> nn.Module:
    rg.manual_seed(seed)
    layers = [nn.Linear(6, WIDE), nn.Tanh(), nn.Linear(WIDE, WIDE), nn.Tanh(), nn.Linear(WIDE, 3)]
    return nn.Sequential(*layers).to(dtype)


def global_batch(count: int = 8, dtype: rg.dtype = rg.float32) -> tuple[rg.Tensor, rg.Tensor]:
    """Inputs and cotangents, the same on every rank."""
    generator = rg.Generator().manual_seed(17)
    return (rg.randn(count, 6, generator=generator).to(dtype), rg.randn(count, 3, generator=generator).to(dtype))


def part(x: rg.Tensor) -> rg.Tensor:
    return x.tensor_split(dist.get_world_size())[dist.get_rank()]


def loss_of(model: nn.Module, x: rg.Tensor, g: rg.Tensor) -> rg.Tensor:
    """The mean over the items of a batch."""
    return (model(x) * g).sum() / len(x)


def grads(model: nn.Module) -> dict[str, rg.Tensor]:
    return {name.removeprefix("module."): p.grad for name, p in model.named_parameters()}


def assert_close(got: dict[str, rg.Tensor], expected: dict[str, rg.Tensor], rtol: float = 1e-5) -> None:
    assert got.keys() == expected.keys()
    for name, value in expected.items():
        scale = value.abs().max().item()
        rg.testing.assert_close(got[name], value, rtol=rtol, atol=rtol * scale, msg=name)


def reference_grads(dtype: rg.dtype = rg.float32) -> dict[str, rg.Tensor]:
    model = network(dtype=dtype)
    loss_of(model, *global_batch(dtype=dtype)).backward()
    return grads(model)


def same_everywhere(x: rg.Tensor) -> bool:
    copies = [rg.empty_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(copies, x.detach().contiguous())
    return all(rg.equal(copies[0], other) for other in copies)
