"""Memory that a process needs of its own, however large the dump is."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.dump_files import write_sparse_files
from benchmarks.report import Report, Requirement, Row
from benchmarks.scale import ALL_THREADS, MEMORY_NBYTES, MIB, binary_size

_N_FILES = 2
_MOST_NBYTES = 200 * MIB
_PROGRAM = Path(__file__).with_name("private_memory.py")

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/smaps_rollup").exists(), reason="only Linux tells private memory"
)


# For each measurement anew: a process that reads a dump for the first time may need more.
@pytest.fixture
def dump(request: pytest.FixtureRequest, directory: Path) -> Iterator[Path]:
    """Return a dump of a few files without blocks on the disk."""
    root = directory / "sparse"
    root.mkdir()
    write_sparse_files(root, request.param, _N_FILES)
    yield root
    shutil.rmtree(root)


@pytest.mark.parametrize(
    ("dump", "nbytes", "io"),
    [
        pytest.param(nbytes, nbytes, io, id=f"{binary_size(nbytes).replace(' ', '')}-{io}")
        for nbytes in MEMORY_NBYTES
        for io in ("auto", "mmap", "read")
    ],
    indirect=["dump"],
)
def test_private_memory(
    benchmark: BenchmarkFixture, report: Report, dump: Path, nbytes: int, io: str
) -> None:
    command = [sys.executable, str(_PROGRAM), str(dump), io, str(ALL_THREADS)]

    def run() -> str:
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    peak, n_elements, _ = map(int, benchmark.pedantic(run).split())
    assert n_elements == nbytes // 4

    report.add(
        benchmark,
        Row(
            section="memory",
            what=f"{_N_FILES} files, io={io}",
            size=binary_size(nbytes),
            threads=ALL_THREADS,
            other=f"{peak / MIB:.0f} MiB",
            required=[Requirement(f"at most {binary_size(_MOST_NBYTES)}", peak <= _MOST_NBYTES)],
        ),
    )
