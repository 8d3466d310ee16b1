"""Active queue management, measured: scenarios, a packet-level simulator and the queue algorithms, from Python.

Start with :class:`Scenario` and :func:`run`, with :func:`compare` for queues on one line, or with
:func:`recommend` for what to set up on it.
"""

from __future__ import annotations

from goodqueue import _core, traffic
from goodqueue.exceptions import (
    ArrivalError,
    Fault,
    GoodqueueError,
    HostError,
    PlotError,
    ResultError,
    RunError,
    RunFailure,
    ScenarioError,
    SweepError,
)
from goodqueue.recommending import Recommendation, Setup, Undetermined, recommend
from goodqueue.results import Drawing, Headline, Result, Table
from goodqueue.running import compare, run
from goodqueue.scenario import Access, Control, Link, Queue, Scenario
from goodqueue.sweeping import Range, Sweep, latin_hypercube, sobol, sweep
from goodqueue.traffic import *  # noqa: F403

__version__, __commit__ = _core.version()

__all__ = [
    "Access",
    "ArrivalError",
    "Control",
    "Drawing",
    "Fault",
    "GoodqueueError",
    "Headline",
    "HostError",
    "Link",
    "PlotError",
    "Queue",
    "Range",
    "Recommendation",
    "Result",
    "ResultError",
    "RunError",
    "RunFailure",
    "Scenario",
    "ScenarioError",
    "Setup",
    "Sweep",
    "SweepError",
    "Table",
    "Undetermined",
    "compare",
    "latin_hypercube",
    "recommend",
    "run",
    "sobol",
    "sweep",
]
__all__ += traffic.__all__
