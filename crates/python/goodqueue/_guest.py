"""Carries out ``gq`` with the extension alone: ``python -I -S _guest.py PATH-OF-EXTENSION ARGUMENTS``.

Both guest kernels of each run on the host ``linux`` start with this. Importing the package with its dependencies takes
half a second of processor time, which is 15 times what the extension takes, and more within a guest.
"""

from __future__ import annotations

import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location


def main(place: str, arguments: list[str]) -> int:
    """Load the extension from its file and give the exit code of the command."""
    loader = ExtensionFileLoader("goodqueue._core", place)
    spec = spec_from_file_location("goodqueue._core", place, loader=loader)
    if spec is None:
        raise ImportError(f"{place} is no extension module")
    core = module_from_spec(spec)
    loader.exec_module(core)
    code: int = core.command([sys.executable, "-I", "-S", __file__, place], arguments)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
