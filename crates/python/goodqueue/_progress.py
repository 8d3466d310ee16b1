"""How far a run is, where someone is there to see it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

Progress: TypeAlias = "bool | Callable[[float], object] | None"
"""True: a bar; False: none; None: a bar in terminals and notebooks; a function is told the finished part, in [0, 1]."""

_WIDTH = 40


@contextmanager
def shown(progress: Progress, what: str) -> Iterator[Callable[[float], object] | None]:
    """Give the function to tell of progress, and take the bar away at the end."""
    if callable(progress):
        yield progress
    elif progress is False:
        yield None
    elif (kernel := _notebook()) is not None:
        bar = _NotebookBar(kernel, what)
        try:
            yield bar.show
        finally:
            bar.clear()
    elif progress or sys.stderr.isatty():
        start = time.monotonic()
        try:
            yield lambda part: _line(what, part, time.monotonic() - start)
        finally:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
    else:
        yield None


def _line(what: str, part: float, seconds: float) -> None:
    full = round(part * _WIDTH)
    sys.stderr.write(f"\r\x1b[K{what} {'█' * full}{'░' * (_WIDTH - full)} {part:4.0%} {seconds:.0f} s")
    sys.stderr.flush()


def _notebook() -> Any:
    """IPython's display module when this runs in a kernel that shows it."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    import importlib

    return importlib.import_module("IPython.display")


class _NotebookBar:
    def __init__(self, display: Any, what: str) -> None:
        self._display = display
        self._what = what
        self._handle = display.display(display.HTML(""), display_id=True)

    def show(self, part: float) -> None:
        self._handle.update(self._display.HTML(f"{self._what} <progress max='1' value='{part:.4f}'></progress>"))

    def clear(self) -> None:
        self._handle.update(self._display.HTML(""))
