"""Where a sweep's points are kept: a folder of this machine, or anything that fsspec can write to."""

from __future__ import annotations

import uuid
from typing import Any, Protocol

from goodqueue import _core
from goodqueue.exceptions import SweepError

_WHOLE_AT_ONCE = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oss", "memory"}
"""Stores in which an object appears when all of it is there; in others a file is renamed when it is whole."""
_READ_AT_ONCE = 64


class Folder(Protocol):
    """A place for points."""

    def missing(self) -> list[int]:
        """Points without a file that can be read, in order."""

    def keep(self, number: int, finished: bool, data: bytes) -> None:  # noqa: FBT001
        """Keep the file of a point."""

    def summarize(self) -> None:
        """Write ``summary.json``."""


def is_url(place: str) -> bool:
    """Say whether it is a place of fsspec, as against a path."""
    return "://" in place


def opened(plan: _core.Plan, place: str) -> Folder:
    """Begin a sweep in a place, or resume the one that is there."""
    return Remote(plan, place) if is_url(place) else _core.SweepFolder(plan, place)


class Files:
    """The files under a place of fsspec."""

    def __init__(self, url: str) -> None:
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise SweepError(f"{url}: needs fsspec: pip install 'goodqueue[dask]'") from error
        try:
            self.fs, self.root = url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise SweepError(f"{url}: {error}") from error
        protocol = self.fs.protocol
        names = {protocol} if isinstance(protocol, str) else set(protocol)
        self.whole_at_once = bool(names & _WHOLE_AT_ONCE)

    def path(self, name: str) -> str:
        return f"{self.root.rstrip('/')}/{name}"

    def read(self, name: str) -> bytes | None:
        """The bytes of a file; ``None`` when there is none."""
        try:
            data: bytes = self.fs.cat_file(self.path(name))
        except FileNotFoundError:
            return None
        return data

    def read_all(self, names: list[str]) -> list[bytes | None]:
        """The same for many, side by side where the store can."""
        found: dict[str, Any] = self.fs.cat([self.path(name) for name in names], on_error="return") if names else {}
        by_path = {path.rstrip("/").rsplit("/", 1)[-1]: data for path, data in found.items()}
        given = (by_path.get(name.rsplit("/", 1)[-1]) for name in names)
        return [data if isinstance(data, bytes) else None for data in given]

    def write(self, name: str, data: bytes) -> None:
        """Write a file, which has its name only when it is whole."""
        path = self.path(name)
        self.fs.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
        if self.whole_at_once:
            self.fs.pipe_file(path, data)
            return
        temporary = f"{path}.{uuid.uuid4().hex}.tmp"
        try:
            self.fs.pipe_file(temporary, data)
            self.fs.mv(temporary, path)
        except BaseException:
            if self.fs.exists(temporary):
                self.fs.rm_file(temporary)
            raise

    def names(self, folder: str) -> list[str]:
        """Names of the files in a folder, in order."""
        try:
            found = self.fs.ls(self.path(folder), detail=False, refresh=True)
        except FileNotFoundError:
            return []
        return sorted(path.rstrip("/").rsplit("/", 1)[-1] for path in found)

    def remove(self, name: str) -> None:
        """Remove a file that may be there."""
        try:
            self.fs.rm_file(self.path(name))
        except FileNotFoundError:
            return


class Remote:
    """A place of fsspec, with the files that a folder of this machine would have."""

    def __init__(self, plan: _core.Plan, url: str) -> None:
        self.plan = plan
        self.url = url
        self.sha256 = plan.sha256
        self.files = Files(url)
        facts = _core.sweep_facts(plan).encode()
        try:
            theirs = self.files.read("sweep.json")
            if theirs is None:
                self.files.write("scenario.toml", plan.source_text.encode())
                self.files.write("sweep.json", facts)
        except OSError as error:
            raise SweepError(f"{url}: cannot be used: {error}") from error
        if theirs is not None and theirs != facts:
            raise _core.another_sweep(plan, f"{url}/sweep.json", theirs.decode(errors="replace"))

    def missing(self) -> list[int]:
        there = set(self.files.names("points"))
        numbers = [number for number in range(self.plan.point_count) if _file(number) in there]
        whole: set[int] = set()
        for first in range(0, len(numbers), _READ_AT_ONCE):
            part = numbers[first : first + _READ_AT_ONCE]
            read = self.files.read_all([f"points/{_file(number)}" for number in part])
            pairs = zip(part, read, strict=True)
            whole.update(n for n, data in pairs if data is not None and _core.is_point(self.sha256, n, data))
        return [number for number in range(self.plan.point_count) if number not in whole]

    def keep(self, number: int, finished: bool, data: bytes) -> None:  # noqa: FBT001
        try:
            if finished:
                self.files.write(f"points/{_file(number)}", data)
                self.files.remove(f"failed/{number:06}.json")
            else:
                self.files.write(f"failed/{number:06}.json", data)
        except OSError as error:
            raise SweepError(f"{self.url}: point {number} cannot be written: {error}") from error

    def summarize(self) -> None:
        text = _core.sweep_summary(self.plan, lambda number: self.files.read(f"points/{_file(number)}"))
        try:
            self.files.write("summary.json", text)
        except OSError as error:
            raise SweepError(f"{self.url}: summary.json cannot be written: {error}") from error


def _file(number: int) -> str:
    return f"{number:06}.parquet"
