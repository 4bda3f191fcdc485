"""The check of a dump with ``dump_scene=watcher``: outputs recorded again, against the originals.

After some operators the device recorded the outputs of the watched ones once more. Whoever ran
last before such a recording first differs from the watched operator's own file overwrote them,
or let something else overwrite them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from fastdump._file_name import in_file_name
from fastdump._operator import Record
from fastdump._watcher.bytes_compared import ByteComparison, StoredTensor
from fastdump._watcher.comparing import compare_tensors
from fastdump._watcher.header_walk import Execution, read_header
from fastdump._watcher.memory import DeviceWrites
from fastdump._watcher.names import SEPARATOR, read_name, splits
from fastdump._watcher.report import WatcherComparison

_Place: TypeAlias = "tuple[object, ...]"


@dataclass(frozen=True, slots=True)
class Recording:
    """A file with the outputs of a watched operator, recorded after another one.

    Attributes
    ----------
    execution
        The file.
    executed, watched
        The operators, by their names as file names have them.
    own
        The watched operator's files of the same place, in order; none if there are none.
    note
        What is odd about the name.
    """

    execution: Execution
    executed: str
    watched: str
    own: tuple[Record, ...]
    note: str


@dataclass(slots=True)
class Recordings:
    """The recordings of a dump.

    Attributes
    ----------
    resolved
        In the order of execution; each has a watched operator with a file of its own.
    unresolved
        Those without one; they may also be operators that happen to have such a name.
    plain
        All other files of each place.
    """

    resolved: list[Recording] = field(default_factory=list)
    unresolved: list[Recording] = field(default_factory=list)
    plain: dict[_Place, list[Record]] = field(default_factory=dict)


def place_of(record: Record) -> _Place:
    """Return in which step of what an operator ran."""
    return record[3:9]


def find_recordings(records: Sequence[Record]) -> Recordings:
    """Find the recordings among files in the order of execution, by names and, of those, headers.

    The type in a recording's name is the watched operator's, and it has no inputs: whatever else
    is called ``A_To_B`` is an operator of that name.
    """
    named = [(record, _file_name_of(record)) for record in records]
    own: dict[_Place, dict[str, list[Record]]] = {}
    for record, name in named:
        own.setdefault(place_of(record), {}).setdefault(name, []).append(record)
    found = Recordings()
    plain: list[tuple[Record, str]] = []
    for record, name in named:
        recording = _recording(record, name, own[place_of(record)]) if SEPARATOR in name else None
        if recording is None:
            plain.append((record, name))
        elif recording.own:
            found.resolved.append(recording)
        else:
            found.unresolved.append(recording)
    # The own file of a watched operator may have such a name itself.
    watched = {(place_of(r.execution.record), r.watched) for r in found.resolved}
    unresolved = found.unresolved
    found.unresolved = []
    for recording in unresolved:
        record = recording.execution.record
        name = _file_name_of(record)
        if (place_of(record), name) in watched:
            plain.append((record, name))
        else:
            found.unresolved.append(recording)
    for record, _ in plain:
        found.plain.setdefault(place_of(record), []).append(record)
    return found


def _recording(record: Record, name: str, own: Mapping[str, Sequence[Record]]) -> Recording | None:
    """Return the recording that a file is, None if it is an ordinary one."""
    types = {
        watched: {r.op_type for r in own[watched]} for _, watched in splits(name) if watched in own
    }
    read = read_name(name, record.op_type, types)
    if read is not None and record.op_type not in types[read.watched]:
        read = None
    execution = read_header(record)
    if execution.of("input"):
        return None
    if read is None:
        executed, watched = next(splits(name), ("", ""))
        return Recording(execution, executed, watched, (), "") if watched else None
    note = "its name can be read in several ways" if read.is_ambiguous else ""
    return Recording(execution, read.executed, read.watched, tuple(own[read.watched]), note)


def _file_name_of(record: Record) -> str:
    """Return the operator's name as file names have it; digits for a name make the header tell."""
    if record.op_name is not None:
        return record.op_name
    return in_file_name(read_header(record).op_name or "")


def compare_recordings(
    recordings: Recordings, on_done: Callable[[int], object]
) -> Iterator[WatcherComparison]:
    """Yield each output of each recording against the watched operator's own, in order.

    `on_done` is called after each recording with the bytes that were read for it.
    """
    compared = ByteComparison()
    known: dict[str, Execution] = {}  # headers of the watched operators' own files
    # By own file and output: the last operator after which it was the same, and the first change.
    same_until: dict[tuple[str, int], str] = {}
    changed: set[tuple[str, int]] = set()
    writes: dict[_Place, _PlaceWrites] = {}
    for recording in (*recordings.resolved, *recordings.unresolved):
        own_record, status = _own_of(recording)
        own = None
        if own_record is not None:
            own = known.get(own_record.path) or read_header(own_record)
            known[own_record.path] = own
        nbytes = 0
        for base, mine, seen in _outputs(recording, own, status):
            if mine is None or seen is None or base.path is None:
                yield base
                continue
            comparison = compare_tensors(compared, mine, seen, base)
            nbytes += mine.stored_nbytes
            key = (base.path, base.output)
            if comparison.status == "same":
                same_until[key] = comparison.seen_by
            elif comparison.status == "changed" and key not in changed:
                changed.add(key)
                place = place_of(recording.execution.record)
                if place not in writes:
                    writes[place] = _PlaceWrites.of(recordings.plain.get(place, []))
                comparison = _first_change(
                    comparison, compared, mine, seen, same_until.get(key), writes[place]
                )
            yield comparison
        on_done(nbytes)


def _own_of(recording: Recording) -> tuple[Record | None, str]:
    """Return the watched operator's last file before a recording, or why there is none."""
    if not recording.own:
        return None, "no_own_file"
    now = recording.execution.record.timestamp
    if now is None:
        return recording.own[-1], ""
    earlier = [own for own in recording.own if own.timestamp is None or own.timestamp <= now]
    return (earlier[-1], "") if earlier else (None, "before")


_NO_OWN: Final = {
    "no_own_file": "the watched operator has no file of its own in this place",
    "before": "recorded before the watched operator ran in this place",
}


def _outputs(
    recording: Recording, own: Execution | None, status: str
) -> Iterator[tuple[WatcherComparison, StoredTensor | None, StoredTensor | None]]:
    """Yield each output: what is known before bytes are compared, the own one, the recorded one."""
    execution = recording.execution
    seen = execution.first_outputs()
    mine = own.first_outputs() if own is not None else {}
    for index in sorted(seen.keys() | mine.keys()) or [0]:
        tensor = seen.get(index)
        base = _base(recording, own, index, tensor or mine.get(index))
        for one in (execution, own):
            if one is not None and one.status != "ok" and base.status == "same":
                base = replace(base, status=one.status, note=one.note)
        if base.status != "same":
            yield base, None, None
        elif own is None:
            yield replace(base, status=status, note=_NO_OWN[status]), None, None
        elif tensor is None or index not in mine:
            lacking = "the recording" if tensor is None else "the operator's own file"
            yield (
                replace(base, status="missing", note=f"{lacking} lacks output {index}"),
                None,
                None,
            )
        else:
            yield base, mine[index], tensor


def _base(
    recording: Recording, own: Execution | None, output: int, tensor: StoredTensor | None
) -> WatcherComparison:
    record = recording.execution.record
    executed, watched = _real_names(recording, own)
    return WatcherComparison(
        rank=record.rank,
        time=record.time,
        device=record.device,
        model=record.model,
        model_id=record.model_id,
        step=record.step,
        op_type=record.op_type,
        op_name=watched,
        output=output,
        dtype=tensor.dtype if tensor is not None else None,
        shape=tensor.shape if tensor is not None else None,
        nbytes=tensor.nbytes if tensor is not None else None,
        address=tensor.address or None if tensor is not None else None,
        path=own.record.relative if own is not None else None,
        seen_by=executed,
        seen_as=f"output.{output}",
        seen_path=record.relative,
        seen_timestamp=record.timestamp,
        seen_task_id=record.task_id,
        seen_stream_id=record.stream_id,
        status="same",
        note=recording.note,
    )


def _real_names(recording: Recording, own: Execution | None) -> tuple[str, str]:
    """Return the names of both operators as the headers have them, where those tell."""
    full = recording.execution.op_name or ""
    cut = len(recording.watched) + len(SEPARATOR)
    # What names of files replace keeps its length.
    if in_file_name(full) == f"{recording.executed}{SEPARATOR}{recording.watched}":
        return full[:-cut], full[len(full) - len(recording.watched) :]
    return recording.executed, (own and own.op_name) or recording.watched


@dataclass(frozen=True, slots=True)
class _PlaceWrites:
    """What the operators of one place wrote, and the number of each of its files."""

    writes: DeviceWrites
    order: Mapping[str, int]
    timestamps: Sequence[int | None]

    @classmethod
    def of(cls, records: Sequence[Record]) -> _PlaceWrites:
        writes = DeviceWrites()
        for order, record in enumerate(records):
            writes.add(read_header(record), order)
        order_of = {record.relative: order for order, record in enumerate(records)}
        return cls(writes, order_of, [record.timestamp for record in records])

    def before(self, timestamp: int | None) -> int:
        """Return the number of the first file that is later than a recording."""
        if timestamp is None:
            return len(self.timestamps)
        later = (i for i, t in enumerate(self.timestamps) if t is None or t > timestamp)
        return next(later, len(self.timestamps))


def _first_change(
    comparison: WatcherComparison,
    compared: ByteComparison,
    mine: StoredTensor,
    seen: StoredTensor,
    same_until: str | None,
    place: _PlaceWrites,
) -> WatcherComparison:
    change = comparison.change
    assert change is not None
    assert comparison.path is not None
    try:
        described = compared.describe(mine, seen, change)
    except OSError:
        # It could be read a moment ago; that it changed is known all the same.
        described = change
    suspects = place.writes.suspects(
        seen,
        place.order.get(comparison.path, -1),
        place.before(comparison.seen_timestamp),
        (change.first_byte, change.last_byte),
        compared,
    )
    return replace(
        comparison, is_first=True, same_until=same_until, change=described, suspects=suspects
    )
