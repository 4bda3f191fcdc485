"""The table that a run ends with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from pytest_benchmark.fixture import BenchmarkFixture

SECTIONS = {
    "statistics": "Statistics of one file",
    "engines": "Ways of reading one file of float32",
    "small files": "Many small files",
    "open": "Opening a dump: names only, warm",
    "arrays": "Tensors as arrays",
    "layouts": "Private formats to host order, in memory",
    "convert": "Conversion to npy files",
    "triage": "Triage of many small files, full level and all",
    "compare": "Comparison of two files",
    "memory": "Private memory of a process that computes statistics",
    "import": "Import, beyond what numpy takes",
}

_HEADS = (
    ("", ""),
    ("size", ""),
    ("threads", ""),
    ("fastdump", "GB/s"),
    ("plain read", "GB/s"),
    ("ratio", ""),
    ("numpy", "GB/s"),
    ("times", "numpy"),
    ("times", "simple"),
    ("required", ""),
    ("", ""),
)
_LEFT_ALIGNED = (0, 9, 10)

_LEGEND = """\
plain read    threads of C that read the same bytes into buffers of the fastest size, no more
ratio         time of the plain read / time of fastdump; above 1 where mapping saves a copy
numpy         one thread: chunks that stay in the cache, reused buffers, tables for 8-bit floats
times simple  how much faster than numpy as one writes it first: the whole tensor at once
small files   fastdump.stats of the directory; plain read opens, reads and closes known paths;
              a ratio of 0.40 is 2.5 times the time
open          time of fastdump.open in a warm process / time of `find DIR -type f`
layouts       fastdump.to_host into memory that is there; plain read is np.copyto of the host array,
              numpy transposes into padded memory and leaves the padding, simple numpy reshapes,
              crops and copies
comparison    all metrics of a pair of tensors; plain read and speeds are of both files
conversion    of a directory; the ratio is time of cp -r / time of fastdump.convert
triage        time of fastdump.triage / time of fastdump.stats of the same dump at its default level
Every side runs once a round, one after another. Speeds are medians over the rounds, ratio and times
medians of what each round gave.
"""


@dataclass(frozen=True)
class Requirement:
    """What a measurement should reach."""

    text: str
    met: bool


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
    numpy_gb_per_s: float | None = None
    times_numpy: float | None = None
    times_simple_numpy: float | None = None
    other: str = ""  # in the place of a speed
    required: Sequence[Requirement] = field(default=())

    @property
    def result(self) -> str:
        if not self.required:
            return ""
        return "met" if all(requirement.met for requirement in self.required) else "missed"

    def cells(self) -> tuple[str, ...]:
        return (
            self.what,
            self.size,
            "" if self.threads is None else str(self.threads),
            self.other or _speed(self.gb_per_s),
            _speed(self.plain_read_gb_per_s),
            "" if self.ratio is None else f"{self.ratio:.2f}",
            _speed(self.numpy_gb_per_s),
            _times(self.times_numpy),
            _times(self.times_simple_numpy),
            ", ".join(requirement.text for requirement in self.required),
            self.result,
        )


class Report:
    """Collects rows and prints them."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def add(self, benchmark: BenchmarkFixture, row: Row) -> None:
        """Add a row, and note it in what pytest-benchmark saves."""
        self.rows.append(row)
        saved = {key: value for key, value in asdict(row).items() if value not in (None, "", ())}
        benchmark.extra_info.setdefault("rows", []).append({**saved, "result": row.result})

    def lines(self) -> list[str]:
        """Return the table."""
        cells = list(zip(*_HEADS, strict=True))
        cells += [row.cells() for row in self.rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [_line(head, widths) for head in cells[:2]]
        for section, title in SECTIONS.items():
            rows = [row for row in self.rows if row.section == section]
            if rows:
                lines += ["", title, *(_line(row.cells(), widths) for row in rows)]
        return [*lines, "", *_LEGEND.splitlines()]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    aligned = (
        cell.ljust(width) if column in _LEFT_ALIGNED else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(aligned).rstrip()


def _speed(gb_per_s: float | None) -> str:
    return "" if gb_per_s is None else f"{gb_per_s:.2f}" if gb_per_s < 10 else f"{gb_per_s:.1f}"


def _times(times: float | None) -> str:
    return "" if times is None else f"{times:.1f} x" if times < 10 else f"{times:.0f} x"
