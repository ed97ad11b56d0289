"""Found in place of torch where this folder comes first in the path: `python -m retrograd run` puts it there."""

import sys
from pathlib import Path

del sys.modules[__name__]  # `install_as_torch` enters retrograd here
try:
    import retrograd
except ModuleNotFoundError:  # retrograd was found in the folder where the command was given
    sys.path.append(str(Path(__file__).parents[2]))
    import retrograd

retrograd.install_as_torch()
