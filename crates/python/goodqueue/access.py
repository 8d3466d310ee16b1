"""The links of the hosts: one class with the keys of scenario files.

Made by crates/python/generate/classes.py from the descriptions that `gq list access` prints; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass

from goodqueue._part import Part
from goodqueue._toml import Value

__all__ = ["Access"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Access(Part):
    """The links of the hosts; each flow has its own, and they never drop.

    Parameters
    ----------
    rate
        Transmission rate; for instance ``"100 Mbit/s"``. Default: 1 Gbit/s.
    delay
        One-way delay of each; for instance ``"1 ms"``. Default: 100 us.
    jitter
        Random extra delay of each packet, uniform from zero to this, order kept; without it, sources of equal rate
        stay synchronized with each other and the bottleneck; for instance ``"50 us"``. Default: the sending time of
        one full packet, 12 us at 1 Gbit/s.
    ends
        Where the access links are: at sender and receiver, or at the sender only; for instance ``"sender"``. Default:
        both.
    """

    rate: Value | None = None
    delay: Value | None = None
    jitter: Value | None = None
    ends: Value | None = None
