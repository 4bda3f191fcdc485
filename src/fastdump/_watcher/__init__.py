"""Which operator overwrote the memory of another: by watcher dumps, or by device addresses."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal

from fastdump import _core
from fastdump._operator import Record
from fastdump._progress import INTERVAL_S, ProgressBar
from fastdump._quantities import counted
from fastdump._stats import PathLike, no_dump_error, path_bytes, paths_of
from fastdump._watcher.addresses import compare_addresses
from fastdump._watcher.header_walk import records_by_site
from fastdump._watcher.report import Change, Suspect, WatcherComparison, WatcherReport
from fastdump._watcher.watched import Recordings, compare_recordings, find_recordings
from fastdump._watcher.words import CHECKS, sentence_of

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


@dataclasses.dataclass(slots=True)
class WatcherProgress:
    """How far `watcher` is; the same object each time.

    Attributes
    ----------
    files_found, files_done
        Files to look at, and those that were.
    bytes_done
        Bytes of tensors that were compared, of a watcher dump only.
    bad
        Changes that were found.
    walking
        Whether files are still being found.
    """

    files_found: int = 0
    files_done: int = 0
    bytes_done: int = 0
    bad: int = 0
    walking: bool = False


def watcher(
    path: PathLike | Iterable[PathLike],
    *,
    check: Check = "auto",
    progress: bool | Callable[[WatcherProgress], object] | None = None,
    follow_links: bool = False,
) -> WatcherReport:
    """Find outputs that changed after they were written, and after which operator.

    In a dump with ``dump_scene=watcher`` the outputs of the watched operators were recorded again
    after others: each recording ``{executed}_To_{watched}`` is compared, by bytes, with the watched
    operator's own file of the same step. In any other dump each input is compared with the output
    that last lay at exactly its device address with exactly its size.

    Parameters
    ----------
    path
        A directory of any depth, or several of them.
    check
        "watcher" or "addresses" for one of the two; "auto" makes the first if the dump has
        recordings of watched operators, else the second.
    progress
        True for a progress bar on stderr, if that is a terminal; or a function that is called
        after each file.
    follow_links
        As for `stats`.

    Returns
    -------
    WatcherReport

    Raises
    ------
    NoDumpError
        If there is no dump file.
    ValueError
        If an argument has a value that it cannot have.
    OSError
        If `path` does not exist or is not readable.

    Notes
    -----
    A memory is reused as soon as nobody needs what is in it: a change after the last operator that
    reads the tensor is no error. An operator that writes where it reads (in place) is not checked
    by addresses, and neither is an input of which no writer was dumped.

    Examples
    --------
    >>> report = fastdump.watcher("dump_dir")  # doctest: +SKIP
    >>> print(report.check, report.sentence)  # doctest: +SKIP
    >>> for change in report.findings:  # doctest: +SKIP
    ...     print(change.op_name, change.seen_by, change.change.words)
    """
    if check not in _CHECKS:
        raise ValueError(f"check is {check!r}, expected one of {', '.join(_CHECKS)}")
    if progress is True:
        with ProgressBar(bad="changed") as bar:
            return _watcher(path, check, _at_intervals(bar), follow_links)
    return _watcher(path, check, progress or None, follow_links)


def _at_intervals(
    show: Callable[[WatcherProgress], object],
) -> Callable[[WatcherProgress], object]:
    # Drawing a bar takes longer than comparing a small file.
    next_s = 0.0

    def on_progress(progress: WatcherProgress) -> None:
        nonlocal next_s
        if (now_s := time.monotonic()) >= next_s:
            next_s = now_s + INTERVAL_S
            show(progress)

    return on_progress


def _watcher(
    path: PathLike | Iterable[PathLike],
    check: Check,
    on_progress: Callable[[WatcherProgress], object] | None,
    follow_links: bool,
) -> WatcherReport:
    paths = paths_of(path)  # once: it may be an iterator
    index = _core.Index([path_bytes(item) for item in paths], follow_links=follow_links)
    sites = list(records_by_site(index).values())
    if not sites:
        raise no_dump_error(paths, index.skipped(), selected=False)
    found = [find_recordings(records) for records in sites] if check != "addresses" else []
    counts: Counter[str] = Counter()
    notes: list[str] = []
    progress = WatcherProgress()

    def done(nbytes: int = 0) -> None:
        progress.files_done += 1
        progress.bytes_done += nbytes
        progress.bad = counts["changed"]
        if on_progress is not None:
            on_progress(progress)

    is_watcher = check == "watcher" or any(recordings.resolved for recordings in found)
    if is_watcher:
        progress.files_found = sum(len(r.resolved) + len(r.unresolved) for r in found)
        comparisons = tuple(_recordings(found, counts, done))
    else:
        progress.files_found = sum(map(len, sites))
        comparisons = tuple(_addresses(sites, counts, done))
        if n_unresolved := sum(len(recordings.unresolved) for recordings in found):
            notes.append(_unresolved_note(n_unresolved))
        if not counts.total():
            notes.append("No input has a device address, or there are no inputs in the dump.")
    name = "watcher" if is_watcher else "addresses"
    notes.insert(0, CHECKS[name])
    report = WatcherReport(name, comparisons, dict(counts), tuple(notes), "", index.skipped())
    return dataclasses.replace(report, sentence=sentence_of(name, report.findings, counts))


def _recordings(
    found: Iterable[Recordings], counts: Counter[str], done: Callable[[int], object]
) -> Iterator[WatcherComparison]:
    for recordings in found:
        for comparison in compare_recordings(recordings, done):
            counts[comparison.status] += 1
            yield comparison


def _addresses(
    sites: Iterable[list[Record]], counts: Counter[str], done: Callable[[], object]
) -> Iterator[WatcherComparison]:
    for records in sites:
        found = list(compare_addresses(records, counts, done))
        found.sort(key=lambda comparison: comparison.seen_timestamp or 0)
        yield from found


def _unresolved_note(number: int) -> str:
    return (
        f"{counted(number, 'file')} may be of dump_scene=watcher by their names (A_To_B), but "
        "no file of an operator B is there: they were taken for operators of such names."
    )
