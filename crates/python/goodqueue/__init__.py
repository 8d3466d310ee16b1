"""Active queue management, measured: scenarios, a packet-level simulator and the queue algorithms, from Python.

Start with :class:`Scenario` and :func:`run`, with :func:`compare` for queues on one line, or with
:func:`recommend` for what to set up on it.
"""

from __future__ import annotations

from goodqueue import _core, exceptions, recommending, results, running, scenario, sweeping, traffic
from goodqueue.exceptions import *  # noqa: F403
from goodqueue.recommending import *  # noqa: F403
from goodqueue.results import *  # noqa: F403
from goodqueue.running import *  # noqa: F403
from goodqueue.scenario import *  # noqa: F403
from goodqueue.sweeping import *  # noqa: F403
from goodqueue.traffic import *  # noqa: F403

__version__, __commit__ = _core.version()

__all__: list[str] = []
__all__ += exceptions.__all__
__all__ += recommending.__all__
__all__ += results.__all__
__all__ += running.__all__
__all__ += scenario.__all__
__all__ += sweeping.__all__
__all__ += traffic.__all__
