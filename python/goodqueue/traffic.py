"""Groups of flows: one class for each kind of traffic, with the keys of scenario files.

Made by scripts/python-classes.py from the descriptions that `gq list traffic` prints; do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from goodqueue._part import Part
from goodqueue._toml import Value

__all__ = ["KINDS", "Bulk", "Cbr", "OnOff", "Poisson", "Traffic"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Traffic(Part):
    """A group of flows; use one of the classes below.

    Parameters
    ----------
    name
        Name of the group in results; for instance ``"video"``. Default: the kind.
    flows
        How many flows; for instance ``16``. Default: 1.
    start
        When each flow starts, drawn for each where a range is given; for instance ``"uniform 0 s .. 5 s"``. Default:
        "0 s".
    stop
        When all stop offering new data; for instance ``"50 s"``. Default: never.
    direction
        Which way data goes across the bottleneck; for instance ``"up"``. Default: "down".
    path
        Nodes that data passes from sender to receiver, in networks of several links; for instance ``["a", "b"]``.
        Default: over the one link.
    return_path
        Nodes that packets pass on the way back; for instance ``["b", "a"]``. Default: the same way back.
    rtt_extra
        Round-trip time in addition to that of the links; for instance ``"uniform 0 ms .. 100 ms"``. Default: "0 s".
    class_
        Class of the packets, 0 to 7, the higher the more urgent; for queues that tell classes apart; for instance
        ``5``. Default: 0.
    weight
        How much of the link each flow is to get beside others; for queues that weigh flows; for instance ``2``.
        Default: 1.
    """

    kind: ClassVar[str] = ""

    name: Value | None = None
    flows: Value | None = None
    start: Value | None = None
    stop: Value | None = None
    direction: Value | None = None
    path: Value | None = None
    return_path: Value | None = None
    rtt_extra: Value | None = None
    class_: Value | None = None
    weight: Value | None = None

    __hash__ = Part.__hash__

    def to_dict(self) -> dict[str, Value]:
        """Keys and values as in a scenario file, ``kind`` first."""
        return {"kind": self.kind, **super().to_dict()}

    @classmethod
    def of(cls, table: Mapping[str, Value]) -> Traffic | Mapping[str, Value]:
        """Make the group that a table describes; a kind without a class stays a table."""
        kind = KINDS.get(str(table.get("kind")))
        if kind is None:
            return table
        return kind.from_dict({name: value for name, value in table.items() if name != "kind"})


@dataclass(frozen=True, kw_only=True, repr=False)
class Bulk(Traffic):
    """TCP connections that send without end, or `size` bytes each.

    Parameters
    ----------
    cc
        Congestion control, see gq list cc; for instance ``"reno"``. Default: "cubic".
    size
        Bytes that each flow has to send; for instance ``"1 MB"``. Default: no end.
    ecn
        True, false, or the feedback: "classic", "mirror", "accurate", "l4s"; for instance ``true``. Default: the
        control's habit.
    mss
        Largest payload of a segment; for instance ``"1000 B"``. Default: fills the link's mtu.
    timestamps
        The timestamps option, 12 bytes a segment; for instance ``false``. Default: true.
    loss_detection
        How losses are found: by time or by counting; for instance ``"rfc6675"``. Default: "rack".
    slow_start_exit
        How slow start may end: native, loss-only, hystart++; for instance ``"hystart++"``. Default: "native".
    initial_window
        Initial window in segments; for instance ``3``. Default: 10.
    rto_min
        Smallest retransmission timeout; for instance ``"1 s"``. Default: "200 ms".
    max_window
        Largest window the receiver offers; for instance ``"64 kB"``. Default: no limit.
    ack
        When to acknowledge: delayed, every-packet, or { every = N } segments; for instance ``{ every = 20 }``.
        Default: "delayed".
    max_ack_delay
        Longest time an acknowledgement is held back; for instance ``"200 ms"``. Default: "40 ms".
    """

    kind: ClassVar[str] = "bulk"

    cc: Value | None = None
    size: Value | None = None
    ecn: Value | None = None
    mss: Value | None = None
    timestamps: Value | None = None
    loss_detection: Value | None = None
    slow_start_exit: Value | None = None
    initial_window: Value | None = None
    rto_min: Value | None = None
    max_window: Value | None = None
    ack: Value | None = None
    max_ack_delay: Value | None = None

    __hash__ = Part.__hash__


@dataclass(frozen=True, kw_only=True, repr=False)
class Cbr(Traffic):
    """UDP packets at constant gaps.

    Parameters
    ----------
    rate
        Rate in IP bits; for instance ``"2 Mbit/s"``. Required.
    packet_size
        IP length of each packet; for instance ``"200 B"``. Default: the link's mtu.
    ecn
        ECN codepoint: false, true, "ect0" or "ect1"; for instance ``"ect0"``. Default: false.
    """

    kind: ClassVar[str] = "cbr"

    rate: Value
    packet_size: Value | None = None
    ecn: Value | None = None

    __hash__ = Part.__hash__


@dataclass(frozen=True, kw_only=True, repr=False)
class Poisson(Traffic):
    """UDP packets at exponentially distributed gaps.

    Parameters
    ----------
    rate
        Mean rate in IP bits; for instance ``"2 Mbit/s"``. Required.
    packet_size
        IP length of each packet; for instance ``"200 B"``. Default: the link's mtu.
    sizes
        How packet sizes are distributed around packet_size; for instance ``"exponential"``. Default: "fixed".
    ecn
        ECN codepoint: false, true, "ect0" or "ect1"; for instance ``"ect0"``. Default: false.
    """

    kind: ClassVar[str] = "poisson"

    rate: Value
    packet_size: Value | None = None
    sizes: Value | None = None
    ecn: Value | None = None

    __hash__ = Part.__hash__


@dataclass(frozen=True, kw_only=True, repr=False)
class OnOff(Traffic):
    """UDP packets at constant gaps during exponentially distributed bursts.

    Parameters
    ----------
    peak
        Rate within a burst, in IP bits; for instance ``"5 Mbit/s"``. Required.
    mean_on
        Mean length of a burst; for instance ``"20 ms"``. Required.
    mean_off
        Mean length of a silence; for instance ``"80 ms"``. Required.
    packet_size
        IP length of each packet; for instance ``"200 B"``. Default: the link's mtu.
    ecn
        ECN codepoint: false, true, "ect0" or "ect1"; for instance ``"ect0"``. Default: false.
    """

    kind: ClassVar[str] = "on-off"

    peak: Value
    mean_on: Value
    mean_off: Value
    packet_size: Value | None = None
    ecn: Value | None = None

    __hash__ = Part.__hash__


KINDS: Mapping[str, type[Traffic]] = {
    "bulk": Bulk,
    "cbr": Cbr,
    "poisson": Poisson,
    "on-off": OnOff,
}
"""Each kind's class."""
