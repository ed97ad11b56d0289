"""Points that fill a cube evenly: the sequence of Sobol."""

from __future__ import annotations

from pathlib import Path

from retrograd import _core
from retrograd._core import Generator, Tensor

__all__ = ["SobolEngine"]

_POINTS = 30  # bits of a coordinate
_LARGEST = 21201


class SobolEngine:
    """Draws points of the Sobol sequence in the unit cube, one after the other.

    Args: `dimension` of the points, up to 21201; `scramble` changes the points at random, so that they still fill the
    cube evenly; `seed` of that, None for the default generator.
    Raises: ValueError for another dimension.

    From the same seed, points are those of torch. The direction numbers are those of S. Joe and F. Y. Kuo.

    >>> engine = rg.quasirandom.SobolEngine(dimension=3)
    >>> engine.draw(3)
    tensor([[0.0000, 0.0000, 0.0000],
            [0.5000, 0.5000, 0.5000],
            [0.7500, 0.2500, 0.2500]])
    >>> engine
    SobolEngine(dimension=3)
    """

    MAXBIT = _POINTS
    MAXDIM = _LARGEST

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        self.sobolstate = _directions(dimension)
        if scramble:
            self._scramble()
        else:
            self.shift = _core.zeros(dimension, dtype=_core.int64)
        self.quasi = self.shift.clone()  # the last point that was drawn, in integers
        self._first_point = (self.quasi / 2**self.MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: _core.dtype | None = None) -> Tensor:
        """The next `n` points, as rows.

        Args: `out` a tensor to resize and write to; `dtype` None means the default one.

        >>> rg.quasirandom.SobolEngine(1).draw(4).flatten()
        tensor([0.0000, 0.5000, 0.7500, 0.2500])
        """
        dtype = _core.get_default_dtype() if dtype is None else dtype
        indices = _core.arange(self.num_generated, self.num_generated + n)
        points = self._points(indices)
        if n > 0:
            self.quasi = points[-1].clone()
        result = points.to(dtype) * 2.0**-self.MAXBIT
        if self.num_generated == 0 and n > 0:
            result[0] = self._first_point[0]
        self.num_generated += n
        return result if out is None else out.resize_as_(result).copy_(result)

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: _core.dtype | None = None) -> Tensor:
        """The next `2**m` points, if with them a power of 2 of points has been drawn.

        Raises: ValueError if not.

        >>> rg.quasirandom.SobolEngine(1).draw_base2(1)
        tensor([[0.0000],
                [0.5000]])
        """
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1) != 0:
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: n={self.num_generated}+2**{m}="
                f"{total}. If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Begin again with the first point.

        >>> engine = rg.quasirandom.SobolEngine(1)
        >>> bool(engine.draw(3)[0] == engine.reset().draw()[0])
        True
        """
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave out `n` points.

        >>> rg.quasirandom.SobolEngine(1).fast_forward(2).draw()
        tensor([[0.7500]])
        """
        self.num_generated += n
        if self.num_generated > 0:
            self.quasi = self._points(_core.tensor([self.num_generated - 1]))[0]
        return self

    def _points(self, indices: Tensor) -> Tensor:
        """Points by their numbers, in integers: the directions of those bits that the Gray code of a number has."""
        code = indices ^ (indices >> 1)
        points = self.shift.expand(len(indices), -1).clone()
        largest = int(code.max()) if len(indices) > 0 else 0
        for bit in range(largest.bit_length()):
            points ^= ((code >> bit) & 1)[:, None] * self.sobolstate[:, bit]
        return points

    def _scramble(self) -> None:
        """Add a random point, and multiply the bits of the directions by random triangular matrices."""
        generator = None
        if self.seed is not None:
            generator = Generator()
            generator.manual_seed(self.seed)
        places = _core.arange(self.MAXBIT)
        bits = _core.randint(2, (self.dimension, self.MAXBIT), generator=generator)
        self.shift = (bits << places).sum(1)
        matrices = _core.randint(2, (self.dimension, self.MAXBIT, self.MAXBIT), generator=generator).tril()
        matrices.diagonal(dim1=-2, dim2=-1).fill_(1)
        places = places.flip(0)  # the first row and column belong to the highest bit
        bits = (self.sobolstate[..., None] >> places) & 1
        self.sobolstate = (((bits @ matrices.mT) & 1) << places).sum(-1)

    def __repr__(self) -> str:
        facts = [f"dimension={self.dimension}"]
        facts += ["scramble=True"] if self.scramble else []
        facts += [] if self.seed is None else [f"seed={self.seed}"]
        return f"{type(self).__name__}({', '.join(facts)})"


def _directions(dimension: int) -> Tensor:
    """For each dimension the directions of all bits, as integers of 30 bits."""
    rows: dict[int, tuple[list[int], list[list[int]]]] = {}  # by the degree of the polynomial
    for polynomial, numbers in _table(dimension):
        polynomials, initial = rows.setdefault(len(numbers), ([], []))
        polynomials.append(polynomial)
        initial.append(numbers)
    parts = [_core.ones(1, _POINTS, dtype=_core.int64)]
    for degree, (polynomials, initial) in rows.items():
        directions = list(_core.tensor(initial).unbind(1))
        coefficients = _core.tensor(polynomials)
        for column in range(degree, _POINTS):
            number = directions[column - degree]
            for back in range(1, degree + 1):
                taken = (coefficients >> (degree - back)) & 1
                number = number ^ ((directions[column - back] << back) * taken)
            directions.append(number)
        parts.append(_core.stack(directions[:_POINTS], 1))
    return _core.cat(parts) << _core.arange(_POINTS - 1, -1, -1)


def _table(dimension: int) -> list[tuple[int, list[int]]]:
    """Primitive polynomials and first numbers of all dimensions but the first: `tools/sobol.py` describes the file."""
    with (Path(__file__).parent / "_joe_kuo.bin").open("rb") as file:
        steps = file.read(2 * (_LARGEST - 1))
        widths, polynomials, polynomial = [], [], 1
        for index in range(0, 2 * (dimension - 1), 2):
            polynomial += 2 * int.from_bytes(steps[index : index + 2], "big")
            polynomials.append(polynomial)
            degree = polynomial.bit_length() - 1
            widths.append(degree * (degree - 1) // 2)
        bits = file.read(-(-sum(widths) // 8))
    rows, start = [], 0
    for polynomial, width in zip(polynomials, widths, strict=True):
        first, end = start // 8, -(-(start + width) // 8)
        taken = int.from_bytes(bits[first:end], "big") >> (8 * end - start - width)
        start += width
        numbers: list[int] = []
        for length in range(polynomial.bit_length() - 2, -1, -1):
            numbers.insert(0, 2 * (taken & ((1 << length) - 1)) + 1)
            taken >>= length
        rows.append((polynomial, numbers))
    return rows
