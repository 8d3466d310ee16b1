"""One queue, packet by packet: built-in algorithms and your own.

:class:`Qdisc` is a queue that a program drives: it offers packets, asks for the next one to send, and reads counters
and gauges; :meth:`Qdisc.drive` does that for whole arrays of arrivals. :class:`Algorithm` is the base of algorithms
written in Python, which run here and in the simulator (:func:`goodqueue.run`, ``algorithms=``).
"""

from __future__ import annotations

import functools
import hashlib
import inspect
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from goodqueue import _core
from goodqueue._core import Packet, QueueState, Verdict
from goodqueue._toml import Value
from goodqueue.exceptions import ArrivalError, Fault, ScenarioError
from goodqueue.scenario import Link, Queue, Scenario
from goodqueue.traffic import Cbr

__all__ = ["Algorithm", "Event", "Packet", "Qdisc", "QueueState", "Verdict"]


class Algorithm:
    """The base of algorithms written in Python: override the hooks that it needs.

    The queue keeps packets, limits, time stamps and counters, and sets CE; an algorithm judges packets one at a time.
    Hooks that a class does not override are not called and cost nothing. An exception in a hook ends the run, and
    comes out of :func:`goodqueue.run` or of the call of :class:`Qdisc`.

    Each queue has an object of its own, made without arguments for each replication. Draw random numbers with
    :meth:`QueueState.random`, which repeats them with the scenario's seed.

    Examples
    --------
    >>> from goodqueue.aqm import Algorithm, Qdisc, Verdict
    >>> class AtMost(Algorithm):
    ...     '''Drops what would wait longer than 20 ms.'''
    ...
    ...     def on_arrival(self, packet, queue):
    ...         return Verdict.DROP if queue.delay_s > 0.02 else None
    >>> queue = Qdisc(AtMost, rate="1 Mbit/s", limit="100 packets")
    >>> [queue.enqueue(0.0, 1500)[-1].event for _ in range(4)]
    ['enqueued', 'enqueued', 'dropped', 'dropped']
    """

    def on_arrival(self, packet: Packet, queue: QueueState) -> Verdict | None:
        """Judge an arriving packet that fits; ``queue`` does not contain it yet. ``None`` lets it pass."""

    def on_departure(self, packet: Packet, queue: QueueState) -> Verdict | None:
        """Judge the packet at the head, which is about to be sent and not in ``queue`` any more.

        After a drop the next head is asked about.
        """

    def on_overflow(self, packet: Packet, queue: QueueState) -> None:
        """Called when an arriving packet does not fit and is dropped."""

    def on_idle(self, now_s: float) -> None:
        """Called when a packet was asked for and nothing waits."""

    def on_rate_change(self, queue: QueueState) -> None:
        """Called when the link has another rate, ``queue.rate``; waiting packets are not shown."""

    def next_update(self) -> float | None:
        """When :meth:`on_update` is to be called next, in seconds; asked for after each hook."""

    def on_update(self, queue: QueueState) -> None:
        """Do what is due at the time :meth:`next_update` named; afterward that must name a later one or ``None``."""

    def gauges(self) -> Mapping[str, float]:
        """State worth plotting, always the same names: they are sampled into :attr:`Result.series`."""
        return {}


class Event(NamedTuple):
    """What happened to a packet.

    Attributes
    ----------
    event
        ``"enqueued"``, ``"marked"``, ``"dropped"`` or ``"departed"``.
    number
        The packet, counted from zero in the order of arrival.
    flow, size, ecn
        Flow, bytes and codepoint of the packet.
    reason
        Why it was dropped or marked.
    sojourn_s
        Time it has waited, in seconds; ``None`` when enqueued or marked.
    """

    event: str
    number: int
    flow: int
    size: int
    ecn: str
    reason: str | None
    sojourn_s: float | None


class Qdisc:
    """A queue of any kind in front of a link, driven by the program.

    Time is an argument of each call, in seconds from zero and to the nearest nanosecond; it must not run backwards.
    Timers of the queue that are due run first.

    Parameters
    ----------
    queue
        A kind (``gq list aqm``), a :class:`goodqueue.Queue` with parameters, or an :class:`Algorithm`.
    rate
        Rate of the link, which algorithms see and :meth:`drive` sends with.
    limit
        How much may wait: packets, bytes or a time at the link's rate.
    ecn
        Mark instead of drop; the queue's own setting when not given.
    delay, mtu, overhead
        Of the link, as :class:`goodqueue.Link` has them.
    seed
        Root of the queue's random numbers.

    Raises
    ------
    ScenarioError
        When an argument is wrong, in the words of ``gq check``.

    Examples
    --------
    >>> from goodqueue import Queue
    >>> from goodqueue.aqm import Qdisc
    >>> queue = Qdisc(Queue("codel", target="5 ms"), rate="10 Mbit/s", limit="2 packets")
    >>> queue.enqueue(0.0, 1500, flow=7)
    [Event(event='enqueued', number=0, flow=7, size=1500, ecn='not-ect', reason=None, sojourn_s=None)]
    >>> queue.packets, queue.backlog
    (1, 1500)
    >>> queue.dequeue(0.003)[-1].sojourn_s
    0.003
    """

    def __init__(
        self,
        queue: str | Queue | Mapping[str, Value] | Callable[[], Algorithm],
        *,
        rate: str,
        limit: str = "1000 packets",
        ecn: bool | None = None,
        delay: str = "0 ms",
        mtu: str = "1500 B",
        overhead: str = "0 B",
        seed: int = 1,
    ) -> None:
        algorithms: dict[str, Callable[[], Algorithm]] = {}
        table: dict[str, Value]
        if isinstance(queue, str):
            table = {"kind": queue}
        elif isinstance(queue, Queue):
            table = queue.to_dict()
        elif isinstance(queue, Mapping):
            table = dict(queue)
        elif callable(queue):
            algorithms[_OWN] = queue
            table = {"kind": _OWN}
        else:
            raise _wrong("queue", f"is a {type(queue).__name__}: expected a kind, a Queue or an Algorithm")
        for name, given in (("rate", rate), ("limit", limit), ("delay", delay), ("mtu", mtu), ("overhead", overhead)):
            if not isinstance(given, str):
                raise _wrong(name, f"is a {type(given).__name__}: expected a text with its unit")
        if not isinstance(seed, int) or not 0 <= seed < 2**64:
            raise _wrong("seed", f"`{seed}` is out of range: allowed 0 to {2**64 - 1}")
        if ecn is not None:
            table["ecn"] = ecn
        link = Link(rate=rate, delay=delay, buffer=limit, queue=table, mtu=mtu, overhead=overhead)
        # The engine sizes and checks queues as parts of scenarios; nothing of this one is run but
        # its queue.
        traffic = [Cbr(rate="1 kbit/s", packet_size="100 B")]
        try:
            plan = Scenario(duration="1 s", link=link, traffic=traffic, algorithms=algorithms).plan
        except ScenarioError as error:
            raise _renamed(error) from None
        self._queue = _core.Qdisc(plan, seed)
        self._name = self._queue.name if not algorithms else getattr(queue, "__name__", "an algorithm")

    def enqueue(self, time: float, size: int, *, flow: int = 0, ecn: str = "not-ect", class_: int = 0) -> list[Event]:
        """Offer a packet; return what became of it, and of packets that were dropped or marked for it.

        Parameters
        ----------
        time
            Now, in seconds.
        size
            Bytes without framing, 1 to 65535.
        flow
            Number of its flow, up to 2**32 - 1.
        ecn
            Codepoint: ``"not-ect"``, ``"ect0"``, ``"ect1"`` or ``"ce"``.
        class_
            How urgent it is, 0 to 7, for queues that tell classes apart.

        Raises
        ------
        ArrivalError
            When an argument is wrong or time runs backwards; the queue is as it was.
        """
        _fits(time=time, size=size, flow=flow, class_=class_)
        return [Event(*facts) for facts in self._queue.enqueue(time, size, flow, ecn, class_)]

    def dequeue(self, time: float) -> list[Event]:
        """Ask for the next packet to send: drops and marks on the way, and ``"departed"`` last if one leaves."""
        _fits(time=time)
        return [Event(*facts) for facts in self._queue.dequeue(time)]

    def advance(self, time: float) -> None:
        """Let time pass, so that timers run."""
        _fits(time=time)
        self._queue.advance_to(time)

    def set_rate(self, time: float, rate: str) -> None:
        """Tell the queue, and the transmitter of :meth:`drive`, that the link has another rate from now on."""
        _fits(time=time)
        self._queue.set_rate(time, rate)

    def drive(
        self,
        time: Any,
        size: Any,
        *,
        flow: Any = None,
        ecn: Any = None,
        class_: Any = None,
        serve: Any = None,
    ) -> pl.DataFrame:
        """Send many arrivals through the queue and tell what became of each.

        Columns are numpy arrays, polars or pandas series, or lists; all of one length.

        Parameters
        ----------
        time
            Shape ``(n,)``. Arrivals, never falling: numbers are seconds; ``timedelta64`` and ``pl.Duration`` are exact.
        size
            Shape ``(n,)`` or one number for all. Bytes, 1 to 65535.
        flow
            Shape ``(n,)``. Numbers of flows; all 0 when not given.
        ecn
            Shape ``(n,)``. Codepoints as the two bits of the IP header: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
        class_
            Shape ``(n,)``. Classes, 0 to 7.
        serve
            Shape ``(m,)``. Times at which the link asks for a packet. When not given, a link of the queue's rate sends
            one packet after another until nothing waits.

        Returns
        -------
        polars.DataFrame
            A row for each arrival: ``number``; ``verdict`` (``passed``, ``marked``, ``dropped``, ``waiting``);
            ``reason`` of a mark or drop; ``left_s``, the time it left or was dropped; ``sojourn_s``.

        Raises
        ------
        ArrivalError
            When a column has the wrong shape, dtype or length, or a value is out of range, not a number, or earlier
            than the one before. Nothing was offered.

        Notes
        -----
        At one instant timers come first, then services, then arrivals, as in the simulator.

        Examples
        --------
        >>> from goodqueue.aqm import Qdisc
        >>> queue = Qdisc("tail-drop", rate="12 Mbit/s", limit="2 packets")
        >>> queue.drive([0.0, 0.0, 0.0, 0.0], 1500).select("verdict", "sojourn_s").rows()
        [('passed', 0.0), ('passed', 0.001), ('passed', 0.002), ('dropped', 0.0)]
        """
        times = _times("time", time)
        if isinstance(size, int) and not isinstance(size, bool):
            if not 1 <= size <= 65535:
                raise ArrivalError(f"size: {size} is out of range: allowed 1 to 65535 bytes")
            size = _placed(array("q", [size]) * len(times), "q")
        return pl.DataFrame(
            _core.drive(
                self._queue,
                times,
                _whole("size", size),
                None if flow is None else _whole("flow", flow),
                None if ecn is None else _whole("ecn", ecn),
                None if class_ is None else _whole("class_", class_),
                None if serve is None else _times("serve", serve),
            )
        )

    @property
    def now_s(self) -> float:
        """The time of the latest call, in seconds."""
        return self._queue.now_s

    @property
    def packets(self) -> int:
        """How many packets wait."""
        return self._queue.packets

    @property
    def backlog(self) -> int:
        """How many bytes wait, framing not counted."""
        return self._queue.backlog

    @property
    def next_timer_s(self) -> float | None:
        """When the queue has something to do by itself, in seconds."""
        return self._queue.next_timer_s

    def gauges(self) -> dict[str, float]:
        """State of the algorithm worth plotting."""
        return self._queue.gauges()

    def counters(self) -> dict[str, tuple[int, int]]:
        """Packets and bytes that ``arrived``, ``departed``, were ``marked``, and were ``dropped.REASON``."""
        return self._queue.counters()

    def __repr__(self) -> str:
        return f"Qdisc({self._name!r}, {self.packets} packets)"


def _fits(**numbers: object) -> None:
    """Refuse whole numbers that have no place in 64 bits."""
    for name, number in numbers.items():
        if isinstance(number, int) and not -(2**63) <= number < 2**63:
            raise ArrivalError(f"{name}: is out of range: a whole number of more than 64 bits")


_OWN = "own"

_ARGUMENTS = {
    "link.bottleneck.queue": "queue",
    "link.bottleneck.rate": "rate",
    "link.bottleneck.buffer": "limit",
    "link.bottleneck.delay": "delay",
    "link.bottleneck.mtu": "mtu",
    "link.bottleneck.overhead": "overhead",
}


def _wrong(argument: str, message: str) -> ScenarioError:
    fault = Fault("Qdisc()", None, None, argument, message, None)
    return ScenarioError(f"Qdisc(): {argument}: {message}", [fault])


def _renamed(error: ScenarioError) -> ScenarioError:
    """The faults of the scenario as faults of the arguments."""
    faults = []
    for fault in error.faults:
        field = fault.field
        for place, argument in _ARGUMENTS.items():
            if field.startswith(place):
                field = argument + field.removeprefix(place)
        faults.append(Fault("Qdisc()", None, None, field, fault.message, fault.help))
    lines = (f"Qdisc(): {f.field}: {f.message}{'; ' + f.help if f.help else ''}" for f in faults)
    return ScenarioError("\n".join(lines), faults)


def _column(name: str, given: Any) -> Any:
    """A one-dimensional buffer of a known format, or a list."""
    if isinstance(given, str | bytes) or given is None:
        raise ArrivalError(f"{name}: is a {type(given).__name__}: expected an array")
    if isinstance(given, pl.Series):
        if given.null_count():
            row = given.is_null().arg_true()[0]
            raise ArrivalError(f"{name}[{row}]: is missing")
        if given.dtype == pl.Duration:
            return array("q", given.dt.total_nanoseconds().to_list())
        if not given.dtype.is_numeric():
            raise ArrivalError(f"{name}: is of {given.dtype}: expected numbers")
        return given.to_numpy() if _has_numpy() else given.to_list()
    if hasattr(given, "to_numpy"):
        given = given.to_numpy()
    shape = getattr(given, "shape", None)
    if shape is not None and len(shape) != 1:
        raise ArrivalError(f"{name}: has shape {tuple(shape)}: expected one dimension")
    if shape is None and not isinstance(given, array | Sequence):
        raise ArrivalError(f"{name}: is a {type(given).__name__}: expected an array")
    return given


def _has_numpy() -> bool:
    import importlib.util

    return importlib.util.find_spec("numpy") is not None


def _times(name: str, given: Any) -> Any:
    """Seconds as doubles, or nanoseconds as 64-bit integers."""
    return _placed(_seconds(name, given), "d")


def _whole(name: str, given: Any) -> Any:
    """64-bit integers."""
    return _placed(_integers(name, given), "q")


def _placed(column: Any, code: str) -> Any:
    """An empty array may lie anywhere in memory, but the engine requires even those to be aligned."""
    return column if len(column) else memoryview(array(code, [0]))[:0]


def _seconds(name: str, given: Any) -> Any:
    column = _column(name, given)
    if isinstance(given, pl.Series) and given.dtype == pl.Duration:
        return column
    dtype = getattr(column, "dtype", None)
    if dtype is not None:
        if dtype.kind == "m":
            if (missing := column != column).any():
                raise ArrivalError(f"{name}[{int(missing.argmax())}]: is missing")
            return column.astype("timedelta64[ns]").astype("int64")
        if dtype.kind not in "fiu":
            raise ArrivalError(f"{name}: is of {dtype}: expected numbers of seconds or timedelta64")
        return column.astype("float64")
    return _listed(name, column, "d", int | float, "a number of seconds")


def _integers(name: str, given: Any) -> Any:
    column = _column(name, given)
    dtype = getattr(column, "dtype", None)
    if dtype is not None:
        if dtype.kind not in "iu":
            raise ArrivalError(f"{name}: is of {dtype}: expected whole numbers")
        return column.astype("int64")
    return _listed(name, column, "q", int, "a whole number")


def _listed(name: str, column: Sequence[Any], code: str, kind: Any, what: str) -> array[Any]:
    for row, value in enumerate(column):
        if isinstance(value, bool) or not (isinstance(value, kind) or hasattr(value, "__index__")):
            raise ArrivalError(f"{name}[{row}]: is a {type(value).__name__}: expected {what}")
    try:
        return array(code, column)
    except OverflowError:
        raise ArrivalError(f"{name}: a number does not fit into 64 bits") from None


def described(algorithms: Mapping[Any, Any]) -> list[tuple[str, str, Callable[[], Algorithm]]]:
    """Name, version and maker of each algorithm, checked; for the engine."""
    known = []
    for name, make in algorithms.items():
        if not isinstance(name, str) or not name.replace("-", "").replace("_", "").isalnum() or len(name) > 64:
            words = f"`{name}` is not a name: allowed 1 to 64 letters, digits, `-` and `_`"
        elif name in _core.kinds():
            words = f"`{name}` is a listed kind: take another name"
        elif not callable(make):
            words = f"`{name}` is a {type(make).__name__}: expected a subclass of goodqueue.aqm.Algorithm"
        else:
            known.append((name, _version(make), make))
            continue
        raise ScenarioError(f"algorithms: {words}", [Fault("algorithms", None, None, str(name), words, None)])
    return known


def _version(make: Callable[[], Algorithm]) -> str:
    """A hash of its source, where there is one: another version makes another scenario."""
    return hashlib.sha256(_source(make).encode()).hexdigest()[:16]


def _source(make: Any) -> str:
    if isinstance(make, functools.partial):
        return f"{_source(make.func)} {make.args!r} {make.keywords!r}"
    try:
        return inspect.getsource(make)
    except (OSError, TypeError):
        return str(getattr(make, "__qualname__", type(make).__qualname__))
