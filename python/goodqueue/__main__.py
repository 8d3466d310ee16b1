"""The ``gq`` command, also as ``python -m goodqueue``."""

from __future__ import annotations

import sys

from goodqueue import _core


def gq() -> int:
    """Carry out the command line as ``gq`` does and give its exit code."""
    return _core.command([sys.executable, "-m", "goodqueue"], sys.argv[1:])


if __name__ == "__main__":
    sys.exit(gq())
