"""Statistics of one file in the page cache, beside other ways to compute the same."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import fastdump
from benchmarks.dump_files import LargeFile, elements, large_file
from benchmarks.element_types import storage_dtype
from benchmarks.numpy_statistics import at_once, in_chunks, of_array
from benchmarks.peer_result import Statistics, check_same
from benchmarks.report import Report, Requirement, Row
from benchmarks.scale import ALL_THREADS, BLOCK_NBYTES, MIB, PEER_NBYTES, ROUNDS, binary_size
from benchmarks.side_by_side import Run, side_by_side

pytestmark = pytest.mark.scan

_TIMES_NUMPY = {"float32": 20, "float16": 50, "bfloat16": 50}
_TYPES = (
    *_TIMES_NUMPY,
    "float64",
    "int8",
    "uint8",
    "int16",
    "int32",
    "int64",
    "bool",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e8m0fnu",
    "hifloat8",
    "int4",
)
# Threads of a peer may look for work for some milliseconds after they had some.
_REST_S = 0.02


@pytest.fixture(scope="module")
def file(request: pytest.FixtureRequest, directory: Path) -> Iterator[LargeFile]:
    dtype: str = request.param
    block = elements(dtype)
    with large_file(directory, dtype, block, PEER_NBYTES, piece_nbytes=8 * MIB) as written:
        yield written


def _measure(
    benchmark: BenchmarkFixture,
    report: Report,
    file: LargeFile,
    peer: Callable[[], Statistics],
    *,
    name: str,
    nbytes: int,
    simple: Run | None = None,
    before: Run = lambda: None,
) -> None:
    """Measure a peer that computes statistics of the first `nbytes` bytes."""
    (row,) = fastdump.stats(file.path)
    check_same(row, peer())

    def rest() -> None:
        before()
        time.sleep(_REST_S)

    timings = side_by_side(
        benchmark,
        ROUNDS,
        ("fastdump", lambda: fastdump.stats(file.path)),
        {"peer": peer, **({"simple": simple} if simple else {})},
        before=rest,
    )

    share = PEER_NBYTES / nbytes
    times = share * timings.quotient("peer", "fastdump")
    least = _TIMES_NUMPY.get(file.dtype) if simple else None
    report.add(
        benchmark,
        Row(
            section="peers",
            what=f"{file.dtype}: {name}",
            size=binary_size(PEER_NBYTES),
            threads=ALL_THREADS,
            gb_per_s=file.nbytes / timings.median("fastdump") / 1e9,
            peer_gb_per_s=nbytes / timings.median("peer") / 1e9,
            times_peer=times,
            times_simple_numpy=share * timings.quotient("simple", "fastdump") if simple else None,
            required=[Requirement(f"{least} x peer", times >= least)] if least else (),
        ),
    )


@pytest.mark.parametrize("file", _TYPES, indirect=True)
def test_numpy(benchmark: BenchmarkFixture, report: Report, file: LargeFile) -> None:
    (row,) = fastdump.stats(file.path)
    check_same(row, at_once(file, BLOCK_NBYTES))
    _measure(
        benchmark,
        report,
        file,
        lambda: in_chunks(file, BLOCK_NBYTES),
        name=f"numpy {np.__version__}, in chunks",
        nbytes=BLOCK_NBYTES,
        simple=lambda: at_once(file, BLOCK_NBYTES),
    )


@pytest.mark.parametrize("file", ["float32", "float16", "bfloat16"], indirect=True)
def test_torch(benchmark: BenchmarkFixture, report: Report, file: LargeFile) -> None:
    pytest.importorskip("torch")
    from benchmarks.torch_statistics import InChunks

    peer = InChunks(np.resize(elements(file.dtype), PEER_NBYTES), file.dtype, ALL_THREADS)
    _measure(benchmark, report, file, peer, name=peer.name, nbytes=PEER_NBYTES)


@pytest.mark.parametrize("file", ["float32", "float16"], indirect=True)
def test_polars(benchmark: BenchmarkFixture, report: Report, file: LargeFile) -> None:
    pytest.importorskip("polars")
    from benchmarks.polars_statistics import AsColumn

    peer = AsColumn(np.resize(elements(file.dtype), PEER_NBYTES), file.dtype)
    _measure(benchmark, report, file, peer, name=peer.name, nbytes=PEER_NBYTES)


@pytest.mark.parametrize("file", ["float32", "float16", "bfloat16"], indirect=True)
def test_npy(benchmark: BenchmarkFixture, report: Report, directory: Path, file: LargeFile) -> None:
    """The way that the vendor's tools lead: a file of another format first, then numpy."""
    folder, out = directory / "part", directory / "npy"
    folder.mkdir()

    def clear() -> None:
        shutil.rmtree(out, ignore_errors=True)

    def convert_and_load() -> Statistics:
        fastdump.convert(part.path, out)
        (npy,) = out.glob("*.npy")
        return of_array(np.load(npy).view(storage_dtype(file.dtype)), file.dtype)

    try:
        with large_file(folder, file.dtype, elements(file.dtype), BLOCK_NBYTES, 8 * MIB) as part:
            _measure(
                benchmark,
                report,
                file,
                convert_and_load,
                name="convert to npy, numpy",
                nbytes=BLOCK_NBYTES,
                before=clear,
            )
    finally:
        clear()
        folder.rmdir()
