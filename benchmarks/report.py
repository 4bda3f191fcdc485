"""The table that a run ends with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pytest_benchmark.fixture import BenchmarkFixture

SECTIONS = {
    "statistics": "Statistics of one file, level basic",
    "levels": "Other levels",
    "tiers": "Other instruction sets that this CPU has",
    "bad values": "Data with NaN and Inf; the peer is fastdump on clean data of the type",
    "engines": "Ways of reading; the peer of auto is the better of mmap and read",
    "cold": "Cold page cache; the peer is the fastest of the other readers",
    "small files": "Many small files, whole call",
    "far storage": "Each call for a file takes 1 ms; the peer is `xargs -P 64 cat`",
    "mixed files": "Files of all sizes",
    "memory": "Private memory of a process that computes statistics, beyond imports",
    "peers": "Peers, each at its best",
    "open": "Opening a dump: names only, warm",
    "arrays": "Tensors as arrays; the peer is numpy",
    "layouts": "Private formats to host order, in memory; the peer is numpy",
    "logical statistics": "Statistics without the padding of private formats; the peer: as stored",
    "convert": "Conversion to npy files",
    "triage": "Triage of many small files, full level and all",
    "browse": "Rows on the screen",
    "report": "Pages of HTML: time to make one, of a table whose triage is done",
    "growing": "Dumps that grow, and scans that are ended and begun again",
    "commands": "Commands on many small files, beside the core's scan of them",
    "executors": "Two workers of an executor, already started, beside one call with two threads",
    "compare": "Comparison of two files; the peer is numpy",
    "import": "Import, beyond what numpy takes",
}

_HEADS = (
    ("", ""),
    ("size", ""),
    ("threads", ""),
    ("fastdump", "GB/s"),
    ("plain read", "GB/s"),
    ("ratio", ""),
    ("peer", "GB/s"),
    ("times", "peer"),
    ("times", "simple"),
    ("required", ""),
    ("aim", ""),
    ("", ""),
)
_LEFT_ALIGNED = (0, 9, 10, 11)

_LEGEND_BEGIN = """\
plain read    threads of C that read the same bytes into buffers of the fastest size, no more
ratio         time of the plain read / time of fastdump; above 1 where mapping saves a copy
times peer    time of the peer / time of fastdump, each for as many bytes
times simple  the same of numpy as one writes it first: the whole tensor at once
"""
_LEGEND = {
    "small files": """\
small files   fastdump.stats of the directory; plain read opens, reads and closes known paths
""",
    "mixed files": """\
mixed files   sizes in geometric progression; the threads of the plain read share each file
""",
    "cold": """\
cold          dropped from the page cache before each run; what lies below the virtual disk of a
              virtual machine may cache all the same, for all sides
""",
    "peers": """\
peers         numpy in chunks: one thread, chunks that stay in the cache, reused buffers, tables for
              8-bit floats; torch and polars: all threads, values in memory already; npy: convert
              the file to npy, np.load, numpy at once. Each for a part of the file, as fast for all
""",
    "open": """\
open          time of fastdump.open in a warm process / time of `find DIR -type f`
""",
    "layouts": """\
layouts       fastdump.to_logical into memory that is there; plain read is np.copyto of the result,
              numpy transposes into padded memory and leaves the padding, simple numpy reshapes,
              crops and copies
""",
    "compare": """\
comparison    all metrics of a pair of tensors; plain read and speeds are of both files
""",
    "convert": """\
conversion    of a directory; the ratio is time of cp -r / time of fastdump.convert
""",
    "growing": """\
growing       time of fastdump.stats with since= or parts= / the same without, or undisturbed; the
              whole scan has the dump warm, as the other one has
""",
    "triage": """\
triage        time of fastdump.triage / time of fastdump.stats of the same dump at its default level
""",
}
_LEGEND_END = """\
Every side runs once a round, one after another. Speeds are medians over the rounds, ratio and times
medians of what each round gave.
"""


@dataclass(frozen=True)
class Requirement:
    """What a measurement should reach."""

    text: str
    met: bool


def at_least(bound: float, value: float, text: str = "ratio {}") -> Requirement:
    """Return the requirement that `value`, as the table shows it, is `bound` or more."""
    return Requirement(text.format(f"{bound:.2f}"), round(value, 2) >= bound)


def at_most_times(bound: float, ratio: float) -> Requirement:
    """Return the requirement that fastdump takes at most `bound` times the plain read's time."""
    return Requirement(f"{bound:.1f} x its time", round(1 / ratio, 2) <= bound)


@dataclass(frozen=True)
class Row:
    """One measurement. Speeds are GB/s; None where a column does not apply."""

    section: str
    what: str
    size: str
    threads: int | None = None
    gb_per_s: float | None = None
    plain_read_gb_per_s: float | None = None
    ratio: float | None = None
    peer_gb_per_s: float | None = None
    times_peer: float | None = None
    times_simple_numpy: float | None = None
    other: str = ""  # in the place of a speed
    required: Sequence[Requirement] = field(default=())
    aim: Sequence[Requirement] = field(default=())

    @property
    def result(self) -> str:
        if not all(requirement.met for requirement in self.required):
            return "missed"
        if self.aim and all(requirement.met for requirement in self.aim):
            return "aim met"
        return "met" if self.required else ""

    @classmethod
    def from_saved(cls, saved: Mapping[str, Any]) -> Row:
        """Return the row that `Report.add` noted."""
        wanted = {
            key: [Requirement(**requirement) for requirement in saved.get(key, ())]
            for key in ("required", "aim")
        }
        values = {key: value for key, value in saved.items() if key != "result"}
        return cls(**{**values, **wanted})

    def cells(self) -> tuple[str, ...]:
        return (
            self.what,
            self.size,
            "" if self.threads is None else str(self.threads),
            self.other or _speed(self.gb_per_s),
            _speed(self.plain_read_gb_per_s),
            "" if self.ratio is None else f"{self.ratio:.2f}",
            _speed(self.peer_gb_per_s),
            _times(self.times_peer),
            _times(self.times_simple_numpy),
            ", ".join(requirement.text for requirement in self.required),
            ", ".join(requirement.text for requirement in self.aim),
            self.result,
        )


class Report:
    """Collects rows and prints them."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.rows = list(rows)

    def add(self, benchmark: BenchmarkFixture, row: Row) -> None:
        """Add a row of one of `SECTIONS`, and note it in what pytest-benchmark saves."""
        assert row.section in SECTIONS, row.section
        self.rows.append(row)
        saved = {key: value for key, value in asdict(row).items() if value not in (None, "", ())}
        benchmark.extra_info.setdefault("rows", []).append({**saved, "result": row.result})

    def lines(self) -> list[str]:
        """Return the table."""
        cells = list(zip(*_HEADS, strict=True))
        cells += [row.cells() for row in self.rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [_line(head, widths) for head in cells[:2]]
        legend = _LEGEND_BEGIN
        for section, title in SECTIONS.items():
            rows = [row for row in self.rows if row.section == section]
            if rows:
                lines += ["", title, *(_line(row.cells(), widths) for row in rows)]
                legend += _LEGEND.get(section, "")
        return [*lines, "", *(legend + _LEGEND_END).splitlines(), *self._summary()]

    def _summary(self) -> list[str]:
        results = Counter(row.result for row in self.rows if row.required)
        if not results:
            return []
        counts = [f"{results[result]} {result}" for result in ("aim met", "met", "missed")]
        return ["", f"Of {results.total()} rows with a requirement: {', '.join(counts)}."]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    aligned = (
        cell.ljust(width) if column in _LEFT_ALIGNED else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(aligned).rstrip()


def _speed(gb_per_s: float | None) -> str:
    return "" if gb_per_s is None else f"{gb_per_s:.2f}" if gb_per_s < 10 else f"{gb_per_s:.1f}"


def _times(times: float | None) -> str:
    return "" if times is None else f"{times:.2f} x" if times < 10 else f"{times:.0f} x"
