"""A record per op, and the tests that the records drive.

`RETROGRAD_STANDIN=torch` checks the records against another torch-shaped package instead: it shows that they
describe what they claim to describe.
"""

import importlib
import os
from typing import Any

STANDIN = os.environ.get("RETROGRAD_STANDIN", "retrograd")
rg: Any = importlib.import_module(STANDIN)
