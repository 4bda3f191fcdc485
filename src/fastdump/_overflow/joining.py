"""Finds the dump files of the operator that an overflow record names."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from fastdump import _core
from fastdump._operator import Record
from fastdump._overflow.record_files import FoundRecord
from fastdump._printable import printable
from fastdump._quantities import counted

_UNKNOWN: Final = frozenset({0xFFFF, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF})
"""What stands for a number that is not known: 65535 as the writers have it, or all bits."""

_KINDS: Final = frozenset({"operator", "statistics"})
_MAX_NAMED: Final = 3
"""Of other files that would fit so many are named."""


@dataclass(frozen=True, slots=True)
class Join:
    """Which files a unit of a record belongs to.

    Attributes
    ----------
    how, note
        `OverflowUnit.join` and `OverflowUnit.join_note`.
    positions
        Of the files in the index; the one that was chosen first.
    """

    how: str
    note: str
    positions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _File:
    position: int
    record: Record

    @property
    def directory(self) -> str:
        return posixpath.dirname(self.record.relative)

    @property
    def operator(self) -> tuple[str | None, str | None]:
        return self.record.op_type, self.record.op_name


@dataclass(slots=True)
class OperatorFiles:
    """The files of a dump that may be those of operators in overflow records."""

    _by_task: dict[int, list[_File]] = field(default_factory=dict)
    _by_name: dict[str, list[_File]] = field(default_factory=dict)

    @classmethod
    def of(cls, index: _core.Index, found: Sequence[FoundRecord]) -> OperatorFiles:
        """Return the files with a task, or a name, that some record has."""
        files = cls()
        tasks = {
            task
            for record in found
            if record.decoded is not None
            for unit in record.decoded.units
            if isinstance(task := unit.fields["task_id"], int)
        }
        names = {record.debugged for record in found if record.debugged is not None}
        records = {record.operator.path for record in found}
        if not tasks and not names:
            return files
        for position in range(len(index)):
            record = Record(*index.record(position))
            if record.kind not in _KINDS or record.path in records:
                continue
            if record.task_id in tasks:
                files._by_task.setdefault(record.task_id, []).append(_File(position, record))
            if record.op_name in names:
                files._by_name.setdefault(record.op_name, []).append(_File(position, record))
        return files

    def join(self, found: FoundRecord, fields: Mapping[str, int | tuple[int, ...]]) -> Join:
        """Return the files of the operator that the fields of a unit name.

        They have its task and stream (and context and thread, where the file's name has them), and
        the place of the record: the same directory, or else the same rank, time and device. Task
        ids are reused: of several the nearest in time is the one.
        """
        task, stream = fields["task_id"], fields["stream_id"]
        unknown = [name for name in ("task_id", "stream_id") if fields[name] in _UNKNOWN]
        if "task_id" in unknown:
            return self._by_record_name(found, f"the record does not know the task ({task})")
        assert isinstance(task, int)
        assert isinstance(stream, int)
        same_task = [file for file in self._by_task.get(task, ()) if _is_same_site(found, file)]
        fitting = [file for file in same_task if _fits(file.record, stream, fields)]
        if not fitting:
            return self._by_record_name(found, _why_none(task, stream, fields, same_task))
        directory = posixpath.dirname(found.operator.relative)
        near = [file for file in fitting if file.directory == directory] or [
            file for file in fitting if file.record.model_id in (None, fields["model_id"])
        ]
        return _nearest(found, near or fitting, _oddities(near or fitting, stream))

    def _by_record_name(self, found: FoundRecord, why_not: str) -> Join:
        """Return the files with the name that the record's own file tells."""
        if found.debugged is None:
            return Join("none", why_not)
        named = [f for f in self._by_name.get(found.debugged, ()) if _is_same_site(found, f)]
        if not named:
            name = printable(found.debugged)
            return Join("none", f"{why_not}, and no file is one of {name!r}")
        join = _nearest(found, named, [f"{why_not}; by the name of the record's file"])
        return Join("ambiguous" if join.how == "ambiguous" else "name", join.note, join.positions)


def _is_same_site(found: FoundRecord, file: _File) -> bool:
    record, own = file.record, found.operator
    site = (own.rank, own.time, own.device)
    if site == (None, None, None):
        # The path tells nothing: what lies elsewhere may be another run.
        return file.directory == posixpath.dirname(own.relative)
    return (record.rank, record.time, record.device) == site


def _fits(record: Record, stream: int, fields: Mapping[str, int | tuple[int, ...]]) -> bool:
    """Tell whether what both the record and a file's name know is the same."""
    known = (
        (record.stream_id, stream),
        (record.context_id, fields.get("context_id")),
        (record.thread_id, fields.get("thread_id")),
    )
    return all(
        of_file is None
        or of_record is None
        or of_record in _UNKNOWN
        or of_file in _UNKNOWN
        or of_file == of_record
        for of_file, of_record in known
    )


def _why_none(
    task: int,
    stream: int,
    fields: Mapping[str, int | tuple[int, ...]],
    same_task: Sequence[_File],
) -> str:
    wanted = f"task {task}" + ("" if stream in _UNKNOWN else f" and stream {stream}")
    for name in ("context_id", "thread_id"):
        if (
            name in fields
            and fields[name] not in _UNKNOWN
            and any(getattr(file.record, name) is not None for file in same_task)
        ):
            wanted += f", {name.removesuffix('_id')} {fields[name]}"
    if not same_task:
        return f"no operator with {wanted} was dumped in its place"
    found = sorted({str(file.record.stream_id) for file in same_task})
    return (
        f"no operator with {wanted} was dumped in its place; of that task there "
        f"{'is' if len(same_task) == 1 else 'are'} {counted(len(same_task), 'file')} of stream "
        f"{', '.join(found[:_MAX_NAMED])}"
    )


def _oddities(files: Sequence[_File], stream: int) -> list[str]:
    if stream in _UNKNOWN:
        return [f"the record does not know the stream ({stream})"]
    if any(file.record.stream_id is None for file in files):
        return ["the file's name tells no stream"]
    return []


def _nearest(found: FoundRecord, files: Sequence[_File], notes: list[str]) -> Join:
    """Return the file nearest in time, and the other file of a collective operator."""
    distances = [_distance(found.operator.timestamp, file.record.timestamp) for file in files]
    order = sorted(range(len(files)), key=lambda i: (distances[i] is None, distances[i] or 0, i))
    chosen = files[order[0]]
    # A collective operator has two files; which of its tensors are in which, headers tell.
    is_pair = _is_collective(chosen.record) and len(files) > 1
    same = [file for file in files if file.operator == chosen.operator and file is not chosen]
    partners = _partners(chosen, same) if is_pair else []
    rivals = [files[i] for i in order[1:] if files[i] not in partners]
    positions = (chosen.position, *(file.position for file in partners))
    if not rivals:
        return Join("exact", "; ".join(notes), positions)
    distance = distances[order[0]]
    tied = [f for f in rivals if distances[files.index(f)] == distance]
    names = _named(tied or rivals)
    if tied:
        notes.append(f"time does not tell it from {counted(len(tied), 'other file')}: {names}")
        return Join("ambiguous", "; ".join(notes), positions)
    apart = "" if distance is None else f", {distance:,} us from the record"
    notes.append(
        f"nearest in time{apart}; its task and stream are also those of "
        f"{counted(len(rivals), 'other file')}: {names}"
    )
    return Join("nearest", "; ".join(notes), positions)


def _is_collective(record: Record) -> bool:
    return (record.op_type or "").casefold().startswith("hcom")


def _partners(chosen: _File, same: Iterable[_File]) -> list[_File]:
    """Return the nearest other file of a collective operator in the same directory."""
    beside = [file for file in same if file.directory == chosen.directory]
    own = chosen.record.timestamp or 0
    beside.sort(key=lambda file: abs((file.record.timestamp or 0) - own))
    return beside[:1]


def _distance(one: int | None, other: int | None) -> int | None:
    """Return how far two timestamps are apart, None if they cannot be compared."""
    # 16 digits are microseconds, 17 a local time.
    if one is None or other is None or len(str(one)) != len(str(other)):
        return None
    return abs(one - other)


def _named(files: Sequence[_File]) -> str:
    names = [printable(file.record.relative) for file in files[:_MAX_NAMED]]
    more = len(files) - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more else "")
