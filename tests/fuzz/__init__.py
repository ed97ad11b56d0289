"""Programs made at random, and what holds for every one of them.

`program.py` says what a program is: lines of Python, and a model of them in which nothing shares memory. `ops.py` lists
what its lines can be, `strategies.py` makes programs for hypothesis, and `properties` holds one idea a file. The
tests run some programs of each property; `make fuzz` runs many, from a new seed.
"""
