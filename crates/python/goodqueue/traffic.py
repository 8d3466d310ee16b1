"""Groups of flows: one class for each kind of traffic, with the keys of scenario files.

Made by crates/python/generate/classes.py from the descriptions that `gq list traffic` prints; do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from goodqueue._part import Part
from goodqueue._toml import Value

__all__ = ["KINDS", "Bulk", "BulkWithPauses", "Cbr", "Echo", "FlowList", "Gaming", "OnOff", "Page", "Poisson", "Short", "TcpTraffic", "Traffic", "Train", "Video", "VideoFrames", "Voip", "Web"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Traffic(Part):
    """A group of flows; use one of the classes below.

    Parameters
    ----------
    name
        Name of the group in results; for instance ``"video"``. Default: the kind.
    flows
        How many flows; for instance ``16``. Default: 1.
    start
        When each flow starts; drawn per flow if a range is given; for instance ``"uniform 0 s .. 5 s"``. Default: 0
        s.
    stop
        When all stop offering new data; for instance ``"50 s"``. Default: never.
    direction
        Direction of the data across the bottleneck; "both": each flow goes both ways (voip, gaming); for instance
        ``"up"``. Default: down.
    path
        Nodes that data passes from sender to receiver, in networks of several links; for instance ``["a", "b"]``.
        Default: over the one link.
    return_path
        Nodes that packets pass on the way back; for instance ``["b", "a"]``. Default: the same way back.
    rtt_extra
        Round-trip time in addition to that of the links; for instance ``"uniform 0 ms .. 100 ms"``. Default: 0 s.
    rtt_shared_by
        How many consecutive flows share one draw of rtt_extra, as those behind one router; for instance ``3``.
        Default: 1.
    class_
        Class of the packets, higher is more urgent; for queues that distinguish classes; for instance ``5``. Default:
        0.
    weight
        Weight of each flow: its share of the link relative to other flows; for queues that weigh flows; for instance
        ``2``. Default: 1.
    leaf
        Leaf that the flows belong to, both ways, in queues of classes; for instance ``"gold"``. Default: none: that
        of the queue's default class.
    host
        Host at which the flows end (the receiver of data that goes down); for queues that distinguish hosts; for
        instance ``1``. Default: one for each flow.
    background
        Whether nobody waits for it: it loads the line, and decides nothing between queues. Default: false.
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
    rtt_shared_by: Value | None = None
    class_: Value | None = None
    weight: Value | None = None
    leaf: Value | None = None
    host: Value | None = None
    background: Value | None = None

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


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TcpTraffic(Traffic):
    """A group of flows over TCP; use one of the classes below.

    Parameters
    ----------
    cc
        Congestion control, see gq list cc; for instance ``"reno"``. Default: cubic.
    ecn
        True, false, or the feedback: "classic", "mirror", "accurate", "l4s"; for instance ``true``. Default: the
        control's habit.
    mss
        Largest payload of a segment; for instance ``"1000 B"``. Default: fills the link's mtu.
    timestamps
        The timestamps option, 12 bytes per segment; for instance ``false``. Default: true.
    header
        IP and TCP headers of a segment; instead of timestamps; for instance ``"60 B"``. Default: 52 B, 40 B without
        timestamps.
    sack
        Selective acknowledgements: compressed (as Linux from 4.18 to 6.12, or as 7.3), plain (each gap is reported at
        once), or false (NewReno); for instance ``"plain"``. Default: compressed.
    loss_detection
        How losses are detected: by time (rack) or by counting (rfc6675); for instance ``"rfc6675"``. Default: rack.
    slow_start_exit
        How slow start may end: native, loss-only, hystart++; for instance ``"hystart++"``. Default: native.
    gso
        Segmentation offload as in Linux; false sends segments one by one; for instance ``false``. Default: the
        control's habit.
    initial_window
        Initial window in segments; for instance ``3``. Default: 10.
    rto_min
        Smallest retransmission timeout; for instance ``"1 s"``. Default: 200 ms.
    max_window
        Constant window that the receiver offers; for instance ``"64 kB"``. Default: grows as in Linux.
    ack
        When to acknowledge: delayed, every-packet, or { every = N } segments; for instance ``{ every = 20 }``.
        Default: delayed.
    max_ack_delay
        Longest delay of an acknowledgement; for instance ``"200 ms"``. Default: 40 ms.
    """

    cc: Value | None = None
    ecn: Value | None = None
    mss: Value | None = None
    timestamps: Value | None = None
    header: Value | None = None
    sack: Value | None = None
    loss_detection: Value | None = None
    slow_start_exit: Value | None = None
    gso: Value | None = None
    initial_window: Value | None = None
    rto_min: Value | None = None
    max_window: Value | None = None
    ack: Value | None = None
    max_ack_delay: Value | None = None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Bulk(TcpTraffic):
    """TCP connections that send without end, or `size` bytes each.

    Parameters
    ----------
    size
        Bytes that each flow has to send; for instance ``"1 MB"``. Default: no end.
    """

    kind: ClassVar[str] = "bulk"

    size: Value | None = None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class BulkWithPauses(TcpTraffic):
    """A transfer over TCP, a pause, and again.

    Parameters
    ----------
    size
        Bytes of each transfer; for instance ``"5 MB"``. Default: 1000000 B.
    pause
        Time from the end of a transfer to the next, drawn each time where a range is given; for instance ``"10 s"``.
        Default: uniform 5 s .. 15 s.
    keep_connection
        One connection for all transfers instead of a new one each; for instance ``true``. Default: false.
    """

    kind: ClassVar[str] = "bulk-with-pauses"

    size: Value | None = None
    pause: Value | None = None
    keep_connection: Value | None = None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Short(TcpTraffic):
    """Transfers over TCP that begin at their own times, each on new connections.

    Parameters
    ----------
    size
        Bytes of each transfer; for instance ``"64 MB"``. Required.
    interval
        Mean time from the beginning of one transfer to the next; for instance ``"2 s"``. Required.
    arrivals
        How these times are distributed: periodic, poisson; for instance ``"poisson"``. Default: periodic.
    connections
        New connections that share each transfer, which is complete when all are; for instance ``4``. Default: 1.
    """

    kind: ClassVar[str] = "short"

    size: Value
    interval: Value
    arrivals: Value | None = None
    connections: Value | None = None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class FlowList(TcpTraffic):
    """Transfers over TCP listed in a file: when each begins, its bytes, and perhaps its control and path.

    Parameters
    ----------
    file
        File of comma-separated values, one transfer per line; for instance ``"flows.csv"``. Required.
    """

    kind: ClassVar[str] = "flow-list"

    file: Value


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Web(TcpTraffic):
    """Web connections at a given rate, each with requests, thinking servers and responses (PackMime-HTTP).

    Parameters
    ----------
    rate
        New connections per second, of each flow; for instance ``5``. Required.
    http
        1.0: one request per connection; 1.1: some carry several pages of several objects; for instance ``"1.1"``.
        Default: 1.0.
    server_delay_scale
        Scale of the Weibull distribution (shape 0.63) of the processing time of the server; for instance ``"0 ms"``.
        Default: 3.278689 ms.
    """

    kind: ClassVar[str] = "web"

    rate: Value
    http: Value | None = None
    server_delay_scale: Value | None = None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Page(TcpTraffic):
    """Web pages one after another, each of many objects over a few parallel connections.

    Parameters
    ----------
    objects
        Objects of a page; for instance ``100``. Default: 50.
    size
        Mean size of an object; sizes are log-normal, at least 1 kB; for instance ``"20 kB"``. Default: 12000 B.
    connections
        Connections at once, new for each page; for instance ``1``. Default: 6.
    request_size
        Bytes of a request; for instance ``"500 B"``. Default: 350 B.
    server_delay
        Time from a request's arrival to the response; for instance ``"20 ms"``. Default: 0 s.
    pause
        Time from the end of a page to the next, drawn each time where a range is given; for instance ``"uniform 5 s
        .. 15 s"``. Default: 0 s.
    """

    kind: ClassVar[str] = "page"

    objects: Value | None = None
    size: Value | None = None
    connections: Value | None = None
    request_size: Value | None = None
    server_delay: Value | None = None
    pause: Value | None = None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Video(TcpTraffic):
    """Adaptive video over TCP: segments of the best bitrate that the throughput so far allows.

    Parameters
    ----------
    ladder
        Bitrates to choose from, rising; for instance ``["1 Mbit/s", "4 Mbit/s"]``. Default: 0.35, 0.7, 1.5, 3, 6
        Mbit/s.
    segment
        Media time of a segment; for instance ``"4 s"``. Default: 2 s.
    buffer
        Most media kept ahead, one segment at least; for instance ``"30 s"``. Default: 10 s.
    abandon
        Give a segment up that takes longer than 1.8 times its media time, for one of a lower bitrate; for instance
        ``true``. Default: false.
    request_size
        Bytes of a request; for instance ``"500 B"``. Default: 300 B.
    """

    kind: ClassVar[str] = "video"

    ladder: Value | None = None
    segment: Value | None = None
    buffer: Value | None = None
    abandon: Value | None = None
    request_size: Value | None = None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Voip(Traffic):
    """Calls: small UDP packets at constant gaps, judged by what the listener would hear.

    Parameters
    ----------
    codec
        Opus: 32 kbit/s with forward error correction; pcmu: G.711, 64 kbit/s; a frame of 20 ms in each packet; for
        instance ``"pcmu"``. Default: opus.
    rate
        Rate in IP bits; for instance ``"100 kbit/s"``. Default: a packet every 20 ms.
    packet_size
        IP length of each packet; for instance ``"200 B"``. Default: 130 B for opus, 200 B for pcmu.
    ecn
        ECN codepoint: false, true, "ect0" or "ect1"; for instance ``"ect0"``. Default: false.
    """

    kind: ClassVar[str] = "voip"

    codec: Value | None = None
    rate: Value | None = None
    packet_size: Value | None = None
    ecn: Value | None = None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Gaming(Traffic):
    """Games: small UDP packets at every tick, smaller ones from the player.

    Parameters
    ----------
    interval
        Time from one packet to the next; for instance ``"33 ms"``. Default: 16 ms.
    packet_size
        IP length of each packet; for instance ``"200 B"``. Default: 130 B.
    packet_size_up
        IP length of those the other way, with direction = "both"; for instance ``"60 B"``. Default: 80 B.
    ecn
        ECN codepoint: false, true, "ect0" or "ect1"; for instance ``"ect0"``. Default: false.
    """

    kind: ClassVar[str] = "gaming"

    interval: Value | None = None
    packet_size: Value | None = None
    packet_size_up: Value | None = None
    ecn: Value | None = None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class VideoFrames(Traffic):
    """Video over UDP that does not respond: bursts of packets at constant gaps, one of several a large one.

    Parameters
    ----------
    rate
        Mean rate in IP bits; for instance ``"5 Mbit/s"``. Default: 2 Mbit/s.
    interval
        Time from one frame to the next; for instance ``"20 ms"``. Default: 40 ms.
    group
        Frames from one large frame to the next; for instance ``30``. Default: 12.
    ratio
        Size of a large frame over that of the others; for instance ``8``. Default: 5.
    packet_size
        IP length of each packet; for instance ``"200 B"``. Default: the link's mtu.
    ecn
        ECN codepoint: false, true, "ect0" or "ect1"; for instance ``"ect0"``. Default: false.
    """

    kind: ClassVar[str] = "video-frames"

    rate: Value | None = None
    interval: Value | None = None
    group: Value | None = None
    ratio: Value | None = None
    packet_size: Value | None = None
    ecn: Value | None = None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
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


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Poisson(Traffic):
    """UDP packets at exponentially distributed gaps.

    Parameters
    ----------
    rate
        Mean rate in IP bits; for instance ``"2 Mbit/s"``. Required.
    packet_size
        IP length of each packet; for instance ``"200 B"``. Default: the link's mtu.
    sizes
        How packet sizes are distributed around packet_size; for instance ``"exponential"``. Default: fixed.
    ecn
        ECN codepoint: false, true, "ect0" or "ect1"; for instance ``"ect0"``. Default: false.
    """

    kind: ClassVar[str] = "poisson"

    rate: Value
    packet_size: Value | None = None
    sizes: Value | None = None
    ecn: Value | None = None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Train(Traffic):
    """Trains of UDP packets, as tools send that measure a path by how its packets spread.

    Parameters
    ----------
    length
        Packets of a train; for instance ``2``. Default: 10.
    gap
        Time from one packet of a train to the next; 0 s: all at once; for instance ``"1 ms"``. Default: 0 s.
    interval
        Time from the beginning of one train to the next; for instance ``"100 ms"``. Default: 1 s.
    packet_size
        IP length of each packet; for instance ``"200 B"``. Default: the link's mtu.
    ecn
        ECN codepoint: false, true, "ect0" or "ect1"; for instance ``"ect0"``. Default: false.
    """

    kind: ClassVar[str] = "train"

    length: Value | None = None
    gap: Value | None = None
    interval: Value | None = None
    packet_size: Value | None = None
    ecn: Value | None = None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
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


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Echo(Traffic):
    """Probes: small UDP packets that the far end sends back at once, for round-trip times and losses as ping shows them.

    Parameters
    ----------
    interval
        Time from one probe to the next; for instance ``"20 ms"``. Default: 100 ms.
    packet_size
        IP length of each probe and of its answer; for instance ``"200 B"``. Default: 84 B.
    ecn
        ECN codepoint: false, true, "ect0" or "ect1"; for instance ``"ect0"``. Default: false.
    """

    kind: ClassVar[str] = "echo"

    interval: Value | None = None
    packet_size: Value | None = None
    ecn: Value | None = None


KINDS: Mapping[str, type[Traffic]] = {
    "bulk": Bulk,
    "bulk-with-pauses": BulkWithPauses,
    "short": Short,
    "flow-list": FlowList,
    "web": Web,
    "page": Page,
    "video": Video,
    "voip": Voip,
    "gaming": Gaming,
    "video-frames": VideoFrames,
    "cbr": Cbr,
    "poisson": Poisson,
    "train": Train,
    "on-off": OnOff,
    "echo": Echo,
}
"""Each kind's class."""
