"""Writes `python/retrograd/_joe_kuo.bin`: the direction numbers of S. Joe and F. Y. Kuo, in few bytes.

    python tools/sobol.py PATH    PATH is scipy/stats/_sobol_direction_numbers.npz

The numbers are those of `new-joe-kuo-6.21201` ("Constructing Sobol sequences with better two-dimensional projections",
SIAM J. Sci. Comput. 30, 2008), as SciPy distributes them under the BSD licence.

A dimension has a primitive polynomial of degree s, and s odd numbers, of which the i-th is below 2**i. The file has
half the difference of each polynomial from the one before, in two bytes, then the numbers of all dimensions one after
the other, the i-th without its last bit in i - 1 bits, first bits first. The first dimension is left out.
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

OUT = Path(__file__).parents[1] / "python" / "retrograd" / "_joe_kuo.bin"


def main() -> None:
    table = np.load(sys.argv[1])
    polynomials = [int(p) for p in table["poly"]]
    steps = b"".join(((b - a) // 2).to_bytes(2, "big") for a, b in pairwise(polynomials))
    bits = ""
    for polynomial, row in zip(polynomials[1:], table["vinit"][1:].tolist(), strict=True):
        for index in range(1, polynomial.bit_length() - 1):
            assert row[index] % 2 == 1 and row[index] < 2 ** (index + 1)
            bits += f"{row[index] // 2:0{index}b}"
    bits += "0" * (-len(bits) % 8)
    OUT.write_bytes(steps + int(bits, 2).to_bytes(len(bits) // 8, "big"))


if __name__ == "__main__":
    main()
