"""The dump files of the operator that an overflow record names."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from fastdump._dump.dump import Dump, chosen
from fastdump._dump.operator import Record
from fastdump._overflow.record_files import FoundRecord
from fastdump._words import catalogue as say
from fastdump._words.enumeration import clauses, enumerated
from fastdump._words.printable import printable
from fastdump._words.quantities import listed

_UNKNOWN: Final = frozenset({0xFFFF, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF})
"""Numbers that stand for an unknown one: 65535 as the writers have it, or all bits set."""

_KINDS: Final = frozenset({"operator", "statistics"})
_MAX_NAMED: Final = 3
"""At most this many of the other files that would fit are named."""


class Join(NamedTuple):
    """The files of the operator that a unit names.

    Attributes
    ----------
    how, note
        `OverflowUnit.join` and `OverflowUnit.join_note`.
    positions
        Numbers of the files in the dump, the chosen one first.
    """

    how: str | None
    note: str
    positions: tuple[int, ...] = ()


class _File(NamedTuple):
    position: int
    record: Record

    @property
    def directory(self) -> str:
        return posixpath.dirname(self.record.relative)


class OperatorFiles:
    """The files of a dump with a task or a name that some overflow record has."""

    def __init__(self, dump: Dump, found: Sequence[FoundRecord]) -> None:
        tasks = {unit.fields["task_id"] for record in found for unit in record.units}
        names = {record.debugged for record in found} - {None}
        records = {record.operator.path for record in found}
        self._by_task: dict[object, list[_File]] = defaultdict(list)
        self._by_name: dict[object, list[_File]] = defaultdict(list)
        for position, record in enumerate(chosen(dump).records() if tasks or names else ()):
            if record.kind not in _KINDS or record.path in records:
                continue
            if record.task_id in tasks:
                self._by_task[record.task_id].append(_File(position, record))
            if record.op_name in names:
                self._by_name[record.op_name].append(_File(position, record))

    def join(self, found: FoundRecord, fields: Mapping[str, int | tuple[int, ...]]) -> Join:
        """Return the files of the operator that the fields of a unit name.

        The files have the unit's task and stream (and context and thread, if their names tell
        them), and the record's directory, or else its rank, time and device. Task ids are reused:
        if several files fit, the nearest in time is chosen.
        """
        task = fields["task_id"]
        if task in _UNKNOWN:
            return self._by_record_name(found, say.TASK_UNKNOWN(task=str(task)))
        same_task = [file for file in self._by_task.get(task, ()) if _is_same_site(found, file)]
        fitting = [file for file in same_task if _fits(file.record, fields)]
        if not fitting:
            return self._by_record_name(found, _why_none(fields, same_task))
        directory = posixpath.dirname(found.operator.relative)
        near = [file for file in fitting if file.directory == directory] or [
            file for file in fitting if file.record.model_id in (None, fields["model_id"])
        ]
        return _nearest(found, near or fitting, _oddities(near or fitting, fields["stream_id"]))

    def _by_record_name(self, found: FoundRecord, why_not: str) -> Join:
        """Return the files with the operator's name in the name of the record's file."""
        if found.debugged is None:
            return Join("none", why_not)
        named = [f for f in self._by_name.get(found.debugged, ()) if _is_same_site(found, f)]
        if not named:
            name = repr(printable(found.debugged))
            return Join("none", say.NO_FILE_OF_NAME(reason=why_not, name=name))
        join = _nearest(found, named, [say.BY_NAME_OF_RECORD(reason=why_not)])
        return Join("ambiguous" if join.how == "ambiguous" else "name", join.note, join.positions)


def _is_same_site(found: FoundRecord, file: _File) -> bool:
    record, own = file.record, found.operator
    site = (own.rank, own.time, own.device)
    if site == (None, None, None):
        # The path tells nothing: files elsewhere may be of another run.
        return file.directory == posixpath.dirname(own.relative)
    return (record.rank, record.time, record.device) == site


def _fits(record: Record, fields: Mapping[str, int | tuple[int, ...]]) -> bool:
    """Tell whether a file's name has the ids of a unit, as far as both are known."""
    for name in ("stream_id", "context_id", "thread_id"):
        ids = {getattr(record, name), fields.get(name)} - {None} - _UNKNOWN
        if len(ids) > 1:
            return False
    return True


def _why_none(fields: Mapping[str, int | tuple[int, ...]], same_task: Sequence[_File]) -> str:
    stream = fields["stream_id"]
    task = str(fields["task_id"])
    ids: list[str] = [
        say.TASK(task=task)
        if stream in _UNKNOWN
        else say.TASK_AND_STREAM(task=task, stream=str(stream))
    ]
    for name, sentence in (("context_id", say.CONTEXT), ("thread_id", say.THREAD)):
        if (
            name in fields
            and fields[name] not in _UNKNOWN
            and any(getattr(file.record, name) is not None for file in same_task)
        ):
            ids.append(sentence(number=str(fields[name])))
    wanted = enumerated(ids)
    if not same_task:
        return say.NOT_DUMPED_THERE(ids=wanted)
    found = sorted({str(file.record.stream_id) for file in same_task})
    streams = ", ".join(found[:_MAX_NAMED])
    if len(same_task) == 1:
        return say.NOT_DUMPED_OTHER_STREAM(ids=wanted, streams=streams)
    return say.NOT_DUMPED_OTHER_STREAMS(ids=wanted, n=len(same_task), streams=streams)


def _oddities(files: Sequence[_File], stream: int | tuple[int, ...]) -> list[str]:
    if stream in _UNKNOWN:
        return [say.STREAM_UNKNOWN(stream=str(stream))]
    if any(file.record.stream_id is None for file in files):
        return [say.NAME_WITHOUT_STREAM()]
    return []


def _nearest(found: FoundRecord, files: Sequence[_File], notes: list[str]) -> Join:
    """Return the file nearest in time, and the other file of a collective operator."""
    distances = [_distance(found.operator.timestamp, file.record.timestamp) for file in files]
    order = sorted(range(len(files)), key=lambda i: (distances[i] is None, distances[i] or 0, i))
    chosen = files[order[0]]
    partners = _partners(chosen, files)
    rivals = [files[i] for i in order[1:] if files[i] not in partners]
    positions = (chosen.position, *(file.position for file in partners))
    if not rivals:
        return Join("exact", clauses(notes), positions)
    distance = distances[order[0]]
    tied = [file for file in rivals if distances[files.index(file)] == distance]
    names = _named(tied or rivals)
    if tied:
        files_text = say.OTHER_FILES(len(tied))
        notes.append(say.TIME_DOES_NOT_TELL(files=files_text, names=names))
        return Join("ambiguous", clauses(notes), positions)
    others = {"files": say.OTHER_FILES(len(rivals)), "names": names}
    if distance is None:
        notes.append(say.NEAREST_IN_TIME(**others))
    else:
        notes.append(say.NEAREST_BY_MICROSECONDS(**others, n=distance))
    return Join("nearest", clauses(notes), positions)


def _partners(chosen: _File, files: Sequence[_File]) -> list[_File]:
    """Return the other file of a collective operator, the nearest in the same directory.

    Collective operators have two files; only headers tell which tensors are in which.
    """
    own = chosen.record
    if not (own.op_type or "").casefold().startswith("hcom"):
        return []
    beside = [
        file
        for file in files
        if file is not chosen
        and file.directory == chosen.directory
        and (file.record.op_type, file.record.op_name) == (own.op_type, own.op_name)
    ]
    beside.sort(key=lambda file: abs((file.record.timestamp or 0) - (own.timestamp or 0)))
    return beside[:1]


def _distance(one: int | None, other: int | None) -> int | None:
    """Return how far two timestamps are apart, None if they cannot be compared."""
    # 16 digits are microseconds, 17 a local time.
    if one is None or other is None or len(str(one)) != len(str(other)):
        return None
    return abs(one - other)


def _named(files: Sequence[_File]) -> str:
    return listed((printable(file.record.relative) for file in files), _MAX_NAMED)
