"""A link: one class with the keys of scenario files.

Made by crates/python/generate/classes.py from the descriptions that `gq list link` prints; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue._part import Part
from goodqueue._toml import Value

if TYPE_CHECKING:
    from goodqueue.scenario import Queue

__all__ = ["Link"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Link(Part):
    """A link between two nodes; alone it is the bottleneck of a dumbbell.

    Parameters
    ----------
    rate
        Transmission rate: constant, stepped or recorded; for instance ``"10 Mbit/s"``. Required.
    delay
        One-way propagation delay; for instance ``"5 ms"``. Required.
    overhead
        Framing added to each packet on this link: bytes, or keywords of tc-cake with their least size and cells; for
        instance ``"pppoe-ptm ether-vlan"``. Default: 0 B.
    mpu
        Least size of a packet on this link, overhead included; for instance ``"64 B"``. Default: that of the
        overhead's keywords.
    cells
        Cells that carry the packets: 53 bytes for 48 (atm), 65 for 64 (ptm); for instance ``"atm"``. Default: those
        of the overhead's keywords.
    mtu
        Largest IP packet; for instance ``"9000 B"``. Default: 1500 B.
    buffer
        How much may wait, framing not counted; for instance ``"1 bdp"``. Default: required, or limit in queue.
    queue
        The algorithm; for instance ``"codel"``. Default: tail-drop.
    loss
        Share of packets lost on the wire; for instance ``"0.1 %"``. Default: 0.
    burst
        Depth of a token bucket: after a pause this much leaves at once, as with Linux's tbf; constant rates only; for
        instance ``"32 kB"``. Default: 0 B.
    rate_up
        As rate; for instance ``"1 Mbit/s"``. Default: rate, or its mean if recorded.
    delay_up
        As delay; for instance ``"5 ms"``. Default: delay.
    buffer_up
        As buffer; for instance ``"1 bdp"``. Default: required when traffic goes up.
    queue_up
        As queue; for instance ``"codel"``. Default: tail-drop.
    loss_up
        As loss; for instance ``"0.1 %"``. Default: 0.
    burst_up
        As burst; for instance ``"32 kB"``. Default: 0 B.
    from_
        The node it leads from; for instance ``"a"``. Default: required with several links.
    to
        The node it leads to; for instance ``"b"``. Default: required with several links.
    one_way
        Whether it has no return direction; for instance ``true``. Default: false.
    flow_control
        While this amount of queue waits here, links that lead here pause; for instance ``"10 packets"``. Default:
        none.
    flow_control_up
        As flow_control; for instance ``"10 packets"``. Default: none.
    count
        How many equal links this stands for, each with traffic of its own; for instance ``100``. Default: 1.
    """

    rate: Value
    delay: Value
    overhead: Value | None = None
    mpu: Value | None = None
    cells: Value | None = None
    mtu: Value | None = None
    buffer: Value | None = None
    queue: Value | Queue | None = None
    loss: Value | None = None
    burst: Value | None = None
    rate_up: Value | None = None
    delay_up: Value | None = None
    buffer_up: Value | None = None
    queue_up: Value | Queue | None = None
    loss_up: Value | None = None
    burst_up: Value | None = None
    from_: Value | None = None
    to: Value | None = None
    one_way: Value | None = None
    flow_control: Value | None = None
    flow_control_up: Value | None = None
    count: Value | None = None
