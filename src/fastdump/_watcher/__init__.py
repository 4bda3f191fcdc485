"""Which operator overwrote the memory of another: by watcher dumps, or by device addresses.

`headers` reads headers, the files of one memory together. `watched` compares recordings of
``dump_scene=watcher`` with the originals, `addresses` what operators read with what was last
written there. `comparing` makes one comparison, `bytes_compared` its bytes; `memory` knows who else
wrote where.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal

from fastdump import _core
from fastdump._arguments import paths_text
from fastdump._dump.absence import no_dump_error
from fastdump._dump.dump import Dump, chosen, open
from fastdump._op_name.shortest_pattern import shortest_pattern
from fastdump._progress import reporting
from fastdump._selection import Conditions, Selection, takes_conditions
from fastdump._stats import What
from fastdump._watcher.addresses import compare_addresses
from fastdump._watcher.answer import answer_of
from fastdump._watcher.headers import files_with_addresses, records_by_memory
from fastdump._watcher.names import SEPARATOR
from fastdump._watcher.records import Change, Suspect, WatcherComparison
from fastdump._watcher.report import WatcherReport
from fastdump._watcher.watched import Recordings, compare_recordings, find_recordings
from fastdump._words import catalogue as say

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "Change",
    "Suspect",
    "WatcherComparison",
    "WatcherProgress",
    "WatcherReport",
    "watcher",
]

Check = Literal["auto", "watcher", "addresses"]
_CHECKS: Final = ("auto", "watcher", "addresses")
_OF_FILES = ("rank", "time", "device", "model", "model_id", "step")


@dataclasses.dataclass(slots=True)
class WatcherProgress:
    """How far `watcher` has got; the same object each time.

    Attributes
    ----------
    files_found, files_done
        Number of files to look at, and of those done.
    bytes_done
        Number of bytes compared, in a watcher dump only.
    bad
        Number of changes found.
    walking
        Whether files are still being found.
    """

    files_found: int = 0
    files_done: int = 0
    bytes_done: int = 0
    bad: int = 0
    walking: bool = False


@takes_conditions
def watcher(
    what: What,
    *,
    check: Check = "auto",
    progress: bool | Callable[[WatcherProgress], object] | None = None,
    follow_links: bool = False,
    **conditions: Unpack[Conditions],
) -> WatcherReport:
    """Find outputs that changed after they were written, and after which operator.

    In a dump with ``dump_scene=watcher`` the outputs of the watched operators were recorded again
    after others: each recording ``{executed}_To_{watched}`` is compared, byte by byte, with the
    watched operator's own file of the same step. In any other dump each input is compared with the
    last output of exactly its size at exactly its device address.

    Parameters
    ----------
    what
        A directory of any depth, several of them, or a `Dump`; or a `StatsTable` or the file of
        one, whose dump is looked at.
    check
        "watcher" or "addresses" for one of these checks; "auto" chooses the first if the dump has
        recordings of watched operators, else the second.
    progress
        True for a progress bar on stderr, if that is a terminal; or a function that is called as
        files are done.
    follow_links
        As for `stats`.
    **conditions
        `rank`, `time`, `device`, `model`, `model_id` and `step` select the files to look at, the
        others the operators' outputs to report. `Selection` says what each means.

    Raises
    ------
    NoDumpError
        If there is no dump file, or none of those that the conditions choose.
    TypeError, ValueError
        If an argument has a value that it cannot have.
    OSError
        If a path does not exist or is not readable.

    Notes
    -----
    Memory is reused as soon as its content is no longer needed: a change after the last operator
    that reads the tensor is no error. The check by addresses leaves out operators that write where
    they read (in place), and inputs of which no writer was dumped. Of tensors in files of up to
    16 KiB it compares digests: two tensors that differ have the same one with a probability below
    2^-99.

    Examples
    --------
    >>> report = fastdump.watcher("dump_dir")  # doctest: +SKIP
    >>> print(report.check, report.sentence)  # doctest: +SKIP
    >>> for change in report.findings:  # doctest: +SKIP
    ...     print(change.op_name, change.seen_by, change.change.words)
    """
    if check not in _CHECKS:
        raise ValueError(f"check is {check!r}, expected one of {', '.join(_CHECKS)}")
    selection = Selection.of(conditions)
    with reporting(progress, bad="changed") as on_progress:
        dump = open(what, follow_links=follow_links).selected(selection.only(_OF_FILES))
        of_operators = selection.without(_OF_FILES)
        if not len(dump.selected(of_operators)):
            raise chosen(dump).no_tensor_error(of_operators)
        return _report(dump, check, of_operators, on_progress)


def _report(
    dump: Dump,
    check: Check,
    selection: Selection,
    on_progress: Callable[[WatcherProgress], object] | None,
) -> WatcherReport:
    progress = WatcherProgress()
    counts: Counter[str] = Counter()

    def report() -> None:
        progress.bad = counts["changed"]
        if on_progress is not None:
            on_progress(progress)

    def done(nbytes: int) -> None:
        progress.files_done += 1
        progress.bytes_done += nbytes
        report()

    def header_read(scan: _core.Progress) -> None:
        progress.files_done = scan.files_done
        report()

    notes: list[str] = []
    found = _recordings(dump, check)
    is_watcher = check == "watcher" or any(recordings.resolved for recordings in found)
    if is_watcher:
        progress.files_found = sum(len(r.resolved) + len(r.unresolved) for r in found)
        compared = [one for r in found for one in compare_recordings(r, selection, counts, done)]
    else:
        scan, progress.files_found = files_with_addresses(dump)
        if not progress.files_found:
            raise no_dump_error(paths_text(dump.roots), dump.skipped)
        scan.run(header_read)
        compared = compare_addresses(dump, scan.headers(), selection, counts)
        progress.files_done = progress.files_found
        report()
        if n_unresolved := sum(len(recordings.unresolved) for recordings in found):
            notes.append(say.UNRESOLVED(files=say.FILES(n_unresolved)))
    comparisons = tuple(dataclasses.replace(comparison, _root=dump.root) for comparison in compared)
    if not is_watcher and not counts.total():
        notes.append(say.NO_ADDRESSES())
    name = "watcher" if is_watcher else "addresses"
    findings = tuple(comparison for comparison in comparisons if comparison.is_first)
    return WatcherReport(
        sentence=answer_of(name, findings[:1], (), counts, (), "").sentence,
        findings=findings,
        notes=((say.CHECKED_WATCHER if is_watcher else say.CHECKED_ADDRESSES)(), *notes),
        check=name,
        comparisons=comparisons,
        counts=dict(counts),
        skipped=dump.skipped,
        pattern=_pattern(dump, findings),
    )


def _pattern(dump: Dump, findings: tuple[WatcherComparison, ...]) -> str | None:
    """Return what selects the operator whose output changed first; None if it has no name."""
    op_name = findings[0].op_name if findings else None
    return None if op_name is None else shortest_pattern(op_name, chosen(dump).op_names())


def _recordings(dump: Dump, check: Check) -> list[Recordings]:
    """Return the recordings of each device memory; none if they are not asked for."""
    if check == "addresses":
        return []
    if check == "auto" and not len(dump.selected(Selection.of({"op_name": f"*{SEPARATOR}*"}))):
        return []
    by_memory = records_by_memory(dump)
    if not by_memory:
        raise no_dump_error(paths_text(dump.roots), dump.skipped)
    return [find_recordings(records) for records in by_memory]
