"""Settings for all tests: the same examples every time, whatever the machine's speed."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("goodqueue", deadline=None, derandomize=True, database=None, max_examples=60)
settings.load_profile("goodqueue")
