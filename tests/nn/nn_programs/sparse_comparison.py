"""`assert_close` of sparse tensors."""

# ruff: noqa: B023  what `say` is given is called at once

from __future__ import annotations

from typing import Any


def run(torch: Any, say: Any) -> None:
    close = torch.testing.assert_close
    first = torch.tensor([[1.0, 0], [0, 2]])
    others = [
        first,
        torch.tensor([[1.0, 0], [0, 3]]),
        torch.tensor([[1.0, 1], [0, 3]]),
        torch.tensor([[1.0, 0], [2, 0]]),
    ]
    for made in ("to_sparse", "to_sparse_csr"):
        a = getattr(first, made)()
        for other in (*others, first.double()):
            say(lambda: close(a, getattr(other, made)()))
        say(lambda: close(a, first))
        say(lambda: close(a, first, check_layout=False))
        say(lambda: close(a, others[1], check_layout=False))
        say(lambda: close([a], [getattr(others[1], made)()], rtol=0, atol=2))
        say(lambda: close([a], [getattr(others[1], made)()], rtol=0, atol=0.5))
    say(lambda: close(first.to_sparse(1), first.to_sparse(2)))
    say(lambda: close(first.to_sparse(), first.to_sparse_csr(), check_layout=False))
