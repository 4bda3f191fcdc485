"""A conversion whose dump files are converted by the workers of an executor.

The names of files are listed once, here, and cut into parts. A worker converts the files of its
part into the same output directory, and sends back what it has done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastdump._arguments import parallelism
from fastdump._convert.conversion import Conversion
from fastdump._convert.ledger import Ledger
from fastdump._convert.options import Options
from fastdump._convert.output_directory import opened
from fastdump._convert.records import ConvertProgress
from fastdump._convert.report import ConvertReport
from fastdump._convert.sources import Sources
from fastdump._dump.chosen import Chosen
from fastdump._dump.dump import Dump, chosen
from fastdump._dump.part import DumpPart
from fastdump._workers import cut, results
from fastdump.errors import NoDumpError

if TYPE_CHECKING:
    from numpy.typing import NDArray


class _Part(NamedTuple):
    """What a worker gets."""

    dump: DumpPart
    below: dict[str, Path]
    out: Path
    options: Options
    io_depth: int | None


class ConversionByWorkers:
    """One conversion, to be run once, as `Conversion` is.

    Parameters
    ----------
    executor
        Who works. It is not shut down.
    sources, out, options
        As of `Conversion`.
    threads, io_depth
        Of each worker; `threads` None is one.
    """

    def __init__(
        self,
        executor: Executor,
        sources: Sources,
        out: Path,
        options: Options,
        *,
        threads: int | None,
        io_depth: int | None,
    ) -> None:
        self._executor = executor
        self._sources = sources
        self._out = out
        self._options = options
        self._threads = threads
        self._io_depth = io_depth
        self._ledger = Ledger(len(sources.dump), Counter(sources.dump.skipped))

    def run(self, on_progress: Callable[[ConvertProgress], object] | None) -> None:
        """Convert everything; `report` returns what was done. Errors are those of `Conversion`."""
        with opened(self._out):
            pass  # an error is raised here, before any worker begins
        paths = [record.path for record in chosen(self._sources.dump).records()]
        parts = self._parts(paths)
        given = (self._given(numbers) for numbers in parts)
        with closing(
            results(self._executor, _convert_part, given, threads=self._threads)
        ) as finished:
            for some in finished:
                for part, ledger in some.items():
                    numbers = parts[part].tolist()
                    self._ledger.add(ledger, numbers, [paths[number] for number in numbers])
                if on_progress is not None:
                    on_progress(self.progress())
        self._sources.require_converted(self.report())

    def progress(self) -> ConvertProgress:
        """Return how far the conversion has come, of parts that are done."""
        return self._ledger.progress()

    def report(self) -> ConvertReport:
        """Return what was done; after an interruption, what is known to have been done."""
        return self._ledger.report(str(self._out))

    def _parts(self, paths: list[str]) -> list[NDArray[np.int64]]:
        """Return the numbers of the dump files of each part."""
        group = np.arange(len(paths))
        if self._sources.may_meet or self._options.type == "msnpy":
            # Of files that get one name all are in one part, which knows who was first.
            places: dict[Path, int] = {}
            group = np.array(
                [places.setdefault(self._sources.directory_of(path), len(places)) for path in paths]
            )
        order = np.argsort(group, kind="stable")
        cost = np.bincount(group, chosen(self._sources.dump).costs()).astype(np.int64)
        ends = np.cumsum(np.bincount(group))
        return np.split(
            order, [int(ends[part.stop - 1]) for part in cut(cost, self._executor)][:-1]
        )

    def _given(self, numbers: NDArray[np.int64]) -> _Part:
        return _Part(
            chosen(self._sources.dump).part(numbers),
            self._sources.below,
            self._out.absolute(),
            self._options,
            self._io_depth,
        )


def _convert_part(part: _Part, threads: int) -> Ledger:
    """Convert, in a worker, the dump files of a part."""
    sources = Sources(Dump(Chosen.of_part(part.dump)), part.below)
    at_once = parallelism(threads, part.io_depth)
    conversion = Conversion(sources, part.out, part.options, at_once)
    with suppress(NoDumpError):  # other parts may have what this one lacks
        conversion.run(None)
    return conversion.ledger
