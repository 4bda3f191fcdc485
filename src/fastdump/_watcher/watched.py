"""The check of a dump with ``dump_scene=watcher``: outputs recorded again, against the originals.

After some operators the device recorded the outputs of the watched ones once more. The operator
before the first recording that differs from the watched operator's own file overwrote them, or let
something else overwrite them.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from fastdump._dump.operator import Record
from fastdump._op_name import in_file_name
from fastdump._selection import Selection
from fastdump._watcher.bytes_compared import ByteComparison, StoredTensor
from fastdump._watcher.comparing import compare_tensors, first_change, is_selected, uncompared
from fastdump._watcher.headers import Execution, read_header
from fastdump._watcher.memory import DeviceWrites
from fastdump._watcher.names import SEPARATOR, read_name, splits
from fastdump._watcher.records import WatcherComparison

_Place: TypeAlias = "tuple[object, ...]"


@dataclass(frozen=True, slots=True)
class Recording:
    """A file with the outputs of a watched operator, recorded after another one.

    Attributes
    ----------
    execution
        The file.
    executed, watched
        The operators, named as in file names.
    own
        The watched operator's files in the same place, in order; empty if there are none.
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
        Those whose watched operator has a file of its own, in the order of execution.
    unresolved
        Those whose watched operator has none; they may be operators that happen to have such names.
    plain
        All other files of each place.
    """

    resolved: list[Recording] = field(default_factory=list)
    unresolved: list[Recording] = field(default_factory=list)
    plain: dict[_Place, list[Record]] = field(default_factory=lambda: defaultdict(list))


def place_of(record: Record) -> _Place:
    """Return where an operator ran: from rank to step."""
    return record[3:9]


def find_recordings(records: Sequence[Record]) -> Recordings:
    """Find the recordings among files in the order of execution, by their names and headers.

    A recording has no inputs, and the type in its name is the watched operator's. Any other file
    called ``A_To_B`` is of an operator with that name.
    """
    named = [(record, _file_name_of(record)) for record in records]
    own: dict[_Place, dict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for record, name in named:
        own[place_of(record)][name].append(record)
    found = Recordings()
    plain: list[Record] = []
    for record, name in named:
        recording = _recording(record, name, own[place_of(record)]) if SEPARATOR in name else None
        if recording is None:
            plain.append(record)
        elif recording.own:
            found.resolved.append(recording)
        else:
            found.unresolved.append(recording)
    # The own file of a watched operator may have such a name itself.
    watched = {(place_of(r.execution.record), r.watched) for r in found.resolved}
    unresolved, found.unresolved = found.unresolved, []
    for recording in unresolved:
        record = recording.execution.record
        name = f"{recording.executed}{SEPARATOR}{recording.watched}"
        if (place_of(record), name) in watched:
            plain.append(record)
        else:
            found.unresolved.append(recording)
    for record in plain:
        found.plain[place_of(record)].append(record)
    return found


def _recording(record: Record, name: str, own: Mapping[str, Sequence[Record]]) -> Recording | None:
    """Return the recording that a file is, None if it is an ordinary file."""
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
    """Return the operator's name as in file names, from the header if need be."""
    if record.op_name is not None:
        return record.op_name
    return in_file_name(read_header(record).op_name or "")


def compare_recordings(
    recordings: Recordings,
    selection: Selection,
    counts: Counter[str],
    on_done: Callable[[int], object],
) -> Iterator[WatcherComparison]:
    """Yield each selected output of each recording against the watched operator's own, in order.

    Parameters
    ----------
    recordings
        The recordings on one device.
    selection
        Which outputs are yielded.
    counts
        Counts each of them by the status of its comparison.
    on_done
        Called after each recording with the number of bytes that were read for it.
    """
    compared = ByteComparison()
    header_of = functools.cache(read_header)  # several recordings have the same own file
    # By own file and output: the last operator after which it was the same, and what changed.
    same_until: dict[tuple[str | None, int], str] = {}
    changed: set[tuple[str | None, int]] = set()
    writes: dict[_Place, _PlaceWrites] = {}
    for recording in (*recordings.resolved, *recordings.unresolved):
        own_record, status = _own_of(recording)
        own = None if own_record is None else header_of(own_record)
        nbytes = 0
        for comparison, pair in _outputs(recording, own, status):
            if pair is not None:
                mine, seen = pair
                nbytes += mine.stored_nbytes
                comparison = compare_tensors(compared, mine, seen, comparison)
                key = (comparison.path, comparison.output)
                if comparison.status == "same":
                    same_until[key] = comparison.seen_by
                elif comparison.status == "changed" and key not in changed:
                    changed.add(key)
                    place = place_of(recording.execution.record)
                    if place not in writes:
                        writes[place] = _PlaceWrites(recordings.plain.get(place, []))
                    comparison = first_change(
                        replace(comparison, same_until=same_until.get(key)),
                        compared,
                        mine,
                        seen,
                        writes[place].writes,
                        writes[place].between(comparison),
                    )
            if is_selected(comparison, selection):
                counts[comparison.status] += 1
                yield comparison
        on_done(nbytes)


def _own_of(recording: Recording) -> tuple[Record | None, str]:
    """Return the watched operator's last file before a recording, or the status without one."""
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
) -> Iterator[tuple[WatcherComparison, tuple[StoredTensor, StoredTensor] | None]]:
    """Yield what is known of each output, and, to be compared, the own and the recorded one."""
    seen = recording.execution.first_outputs()
    mine = own.first_outputs() if own is not None else {}
    for index in sorted(seen.keys() | mine.keys()) or [0]:
        base = _base(recording, own, index, seen.get(index) or mine.get(index))
        for one in (recording.execution, own):
            if one is not None and one.status != "ok" and base.status == "same":
                base = replace(base, status=one.status, note=one.note)
        if base.status == "same" and own is None:
            base = replace(base, status=status, note=_NO_OWN[status])
        elif base.status == "same" and not (index in seen and index in mine):
            lacking = "the operator's own file" if index in seen else "the recording"
            base = replace(base, status="missing", note=f"{lacking} lacks output {index}")
        yield base, (mine[index], seen[index]) if base.status == "same" else None


def _base(
    recording: Recording, own: Execution | None, output: int, tensor: StoredTensor | None
) -> WatcherComparison:
    executed, watched = _real_names(recording, own)
    base = replace(
        uncompared(recording.execution),
        op_name=watched,
        output=output,
        path=own.record.relative if own is not None else None,
        seen_by=executed,
        seen_as=f"output.{output}",
        status="same",
        note=recording.note,
    )
    if tensor is None:
        return base
    address = tensor.address or None
    return replace(
        base, dtype=tensor.dtype, shape=tensor.shape, nbytes=tensor.nbytes, address=address
    )


def _real_names(recording: Recording, own: Execution | None) -> tuple[str, str]:
    """Return the names of both operators from the headers, as far as those tell."""
    full = recording.execution.op_name or ""
    # A name in a header and the same name in a file name have the same length.
    if in_file_name(full) == f"{recording.executed}{SEPARATOR}{recording.watched}":
        n_executed = len(recording.executed)
        return full[:n_executed], full[n_executed + len(SEPARATOR) :]
    return recording.executed, (own and own.op_name) or recording.watched


class _PlaceWrites:
    """What the operators of one place wrote, with the number of each of their files."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.writes = DeviceWrites.of([read_header(record) for record in records])
        self._order: dict[str | None, int] = {r.relative: i for i, r in enumerate(records)}
        self._timestamps = [record.timestamp for record in records]

    def between(self, comparison: WatcherComparison) -> tuple[int, int]:
        """Return the numbers of the own file and of the first file after the recording."""
        own, last = self._order.get(comparison.path, -1), len(self._timestamps)
        now = comparison.seen_timestamp
        if now is None:
            return own, last
        later = (i for i, t in enumerate(self._timestamps) if t is None or t > now)
        return own, next(later, last)
