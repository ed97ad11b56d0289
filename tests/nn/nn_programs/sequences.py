"""Padded and packed sequences."""

# ruff: noqa: B023  what `say` is given is called at once

from __future__ import annotations

import copy
import pickle
from typing import Any


def run(torch: Any, say: Any) -> None:
    R = torch.nn.utils.rnn

    def t(*s):
        n = 1
        for i in s:
            n *= i
        return torch.arange(float(n)).reshape(*s)

    for bf in (False, True):
        x = t(4, 3, 2) if not bf else t(3, 4, 2)
        x.requires_grad_()
        for L in ([4, 2, 1], torch.tensor([4, 3, 3]), [1, 4, 2], [4, 4, 4], [3, 2, 1]):
            for es in (True, False):

                def f():
                    p = R.pack_padded_sequence(x, L, batch_first=bf, enforce_sorted=es)
                    x.grad = None
                    (p.data * t(*p.data.shape)).sum().backward()
                    q, lengths = R.pad_packed_sequence(p, batch_first=bf)
                    return (
                        p,
                        x.grad,
                        q,
                        lengths,
                        q.is_contiguous(),
                        R.pad_packed_sequence(p, batch_first=bf, padding_value=-1, total_length=5),
                        R.unpack_sequence(p),
                    )

                say(f)
    x = t(4, 3, 2)
    for L in (
        [4, 2],
        [4, 0, 1],
        [],
        torch.tensor([[1]]),
        torch.tensor([3, 2, 1], dtype=torch.int32),
        torch.tensor([3.0, 2, 1]),
        [4, 2, -1],
        torch.tensor([1, 2, 3]),
        [3.5, 2, 1],
    ):
        say(lambda: R.pack_padded_sequence(x, L))
    say(lambda: R.pack_padded_sequence(t(3, 2), [3, 2]))
    say(lambda: R.pack_padded_sequence(torch.ones(0, 3), [1]))
    p = R.pack_padded_sequence(x, [4, 2, 1])
    say(lambda: R.pad_packed_sequence(p, total_length=2))
    say(lambda: p.double().data.dtype)
    say(lambda: p.to(torch.float64).data.dtype)
    say(lambda: p.to("cpu") is p)
    say(lambda: p.is_cuda)
    say(lambda: p.long())
    say(lambda: p.cpu() is p)
    say(lambda: R.PackedSequence(torch.ones(3), torch.tensor([2, 1])))
    say(lambda: R.PackedSequence((torch.ones(3), torch.tensor([2, 1]))))
    say(lambda: R.PackedSequence(torch.ones(3)))
    say(lambda: R.PackedSequence(torch.ones(3), torch.tensor([2, 1]), torch.tensor([1, 0])))
    say(lambda: copy.deepcopy(p))
    say(lambda: pickle.loads(pickle.dumps(p)))
    say(lambda: R.invert_permutation(torch.tensor([2, 0, 1])))
    say(lambda: R.invert_permutation(None))
    a, b, c = (t(3, 2), t(1, 2), t(2, 2))
    for bf in (False, True):
        for side in ("right", "left"):
            say(lambda: R.pad_sequence([a, b, c], bf, -1.0, side))
            say(lambda: R.pad_sequence([a, b, c], bf, -1.0, side).is_contiguous())
    say(lambda: R.pad_sequence([]))
    say(lambda: R.pad_sequence(3))
    say(lambda: R.pad_sequence([a, t(2)]))
    say(lambda: R.pad_sequence([a, 3]))
    say(lambda: R.pad_sequence(t(2, 3, 1)))
    say(lambda: R.pad_sequence([a, b], padding_side="up"))
    say(lambda: R.pad_sequence([a, t(2, 1)]))
    say(lambda: R.pad_sequence([a.long(), b]))
    say(lambda: R.pad_sequence([torch.tensor([1, 2]), torch.tensor([3])], batch_first=True))
    say(lambda: R.pad_sequence(i for i in (a, b)))
    say(lambda: R.pad_sequence([a.bool(), b.bool()], padding_value=True))
    say(lambda: R.pack_sequence([a, c, b]))
    say(lambda: R.pack_sequence([b, a, c]))
    say(lambda: R.pack_sequence([b, a, c], enforce_sorted=False))
    say(lambda: R.unpad_sequence(R.pad_sequence([a, b, c]), torch.tensor([3, 1, 2])))
    say(lambda: R.unpad_sequence(R.pad_sequence([a, b, c], True), torch.tensor([3, 1, 2]), True))
    say(lambda: R.unpack_sequence(R.pack_sequence([b, a, c], enforce_sorted=False)))
    say(lambda: R.pad_packed_sequence(R.pack_sequence([b.long(), a.long(), c.long()], False)))
