"""FWD: whose memory a tangent is: families of views, results that borrow, and writes."""

import warnings

from . import rg, same
from .test_fwd import dual, level, tangent, unpack


def test_fwd_6_a_tangent_that_is_the_primal():
    """A write to the dual, or to a view of it, reads the tangent as it was."""
    x = rg.tensor([3.0, 2.0])
    with level():
        d = dual(x, x)
        assert tangent(d) is x
        d.mul_(d[...])
        same(unpack(d).primal, [9.0, 4.0])
        same(tangent(d), [18.0, 8.0])
    y = rg.tensor([3.0, 2.0])
    with level():
        d = dual(y, y)
        d[:1].mul_(10.0)
        same(tangent(d), [30.0, 2.0])


def test_fwd_6_the_result_of_a_sum_has_a_tangent_of_its_own():
    """What is written to either is not seen in the other, and the user's tangent follows its dual."""
    v = rg.tensor([1.0, 1.0])
    with level():
        d = dual(rg.tensor([3.0, 2.0]), v)
        y = d + 1.0
        view = y[:1]
        d.mul_(10.0)
        same(v, [10.0, 10.0])
        same(tangent(d), [10.0, 10.0])
        same(tangent(y), [1.0, 1.0])
        same(tangent(view), [1.0])
        view.mul_(5.0)
        same(tangent(y), [5.0, 1.0])
        same(v, [10.0, 10.0])


def test_fwd_6_a_tangent_that_is_handed_out_is_nobody_elses():
    v = rg.tensor([1.0, 1.0])
    with level():
        d = dual(rg.tensor([3.0, 2.0]), v)
        y = d - 2.0
        tangent(y).mul_(7.0)
        same(tangent(y), [7.0, 7.0])
        same(v, [1.0, 1.0])


def test_fwd_7_a_view_made_before_its_base_had_a_tangent():
    base = rg.zeros(2, 2)
    early = base[0]
    with level():
        base.copy_(dual(rg.ones(2, 2), rg.tensor([[1.0, 2.0], [3.0, 4.0]])))
        same(tangent(early), [1.0, 2.0])
        early.mul_(2.0)
        same(tangent(base), [[2.0, 4.0], [3.0, 4.0]])
        same(tangent(base[:, 1]), [4.0, 4.0])


def test_fwd_5_the_primal_of_an_unpacked_dual_stays_without_tangent():
    with level():
        d = dual(rg.ones(2), rg.ones(2))
        y = d * 2.0
        primal = unpack(y).primal
        y.mul_(3.0)
        assert tangent(primal) is None and tangent(primal[:1]) is None
        same(primal, [6.0, 6.0])


def test_fwd_7_a_write_to_an_expanded_view():
    with level():
        y = dual(rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0])) * 1.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y.expand(3, 2).masked_fill_(rg.tensor([True, False]), 5.0)
        same(y, [5.0, 2.0])
        same(tangent(y), [0.0, 4.0])
        z = dual(rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0])) * 1.0
        z.expand(2, 2).zero_()
        same(tangent(z), [0.0, 0.0])


def test_fwd_7_an_index_written_in_an_expanded_tensor():
    with level(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = (dual(rg.tensor([1.0]), rg.tensor([3.0])) * 1.0).expand(2)
        y[[-2, -2]] = 0.5
        same(y, [0.5, 0.5])
        same(tangent(y), [0.0, 0.0])
