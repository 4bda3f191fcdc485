"""Memory that a process needs of its own, however large the dump is."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.dump_files import write_sparse_files
from benchmarks.engine_rows import ENGINES, Engine
from benchmarks.private_memory import TELLS_PRIVATE_MEMORY, memory_of_stats
from benchmarks.report import Report, Requirement, Row
from benchmarks.scale import ALL_THREADS, MEMORY_NBYTES, MIB, binary_size

_N_FILES = 2
_MOST_NBYTES = 64 * MIB

pytestmark = [
    pytest.mark.scan,
    pytest.mark.skipif(not TELLS_PRIVATE_MEMORY, reason="only Linux tells private memory"),
]


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
    ("dump", "nbytes", "engine"),
    [
        pytest.param(nbytes, nbytes, engine, id=f"{binary_size(nbytes).replace(' ', '')}-{engine}")
        for nbytes in MEMORY_NBYTES
        for engine in ENGINES
    ],
    indirect=["dump"],
)
def test_private_memory(
    benchmark: BenchmarkFixture, report: Report, dump: Path, nbytes: int, engine: Engine
) -> None:
    memory = benchmark.pedantic(memory_of_stats, args=(dump, engine, ALL_THREADS))
    assert memory.n_elements == nbytes // 4

    is_met = memory.nbytes < _MOST_NBYTES
    report.add(
        benchmark,
        Row(
            section="memory",
            what=f"{_N_FILES} files, engine={engine}",
            size=binary_size(nbytes),
            threads=ALL_THREADS,
            other=f"{memory.nbytes / MIB:.1f} MiB",
            required=[Requirement(f"below {binary_size(_MOST_NBYTES)}", is_met)],
        ),
    )
