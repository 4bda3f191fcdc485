"""Statistics of one file in the page cache, beside the plain read.

By element type, level, number of threads and instruction-set tier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import fastdump
from benchmarks.dump_files import LargeFile, elements, large_file
from benchmarks.other_tier import OtherTier
from benchmarks.plain_read import PlainReader
from benchmarks.report import Report, Row, at_least
from benchmarks.scale import (
    ALL_THREADS,
    FILE_NBYTES,
    MIB,
    ROUNDS,
    THREAD_COUNTS,
    THREADS,
    binary_size,
)
from benchmarks.side_by_side import Run, side_by_side
from fastdump import _core

pytestmark = pytest.mark.scan


class Target(NamedTuple):
    """The share of the speed of a plain read."""

    least: float
    aim: float


_HALVES_AND_SINGLES = ("float32", "float16", "bfloat16")
_COMMON = (*_HALVES_AND_SINGLES, "float64", "int8", "uint8", "int16", "int32", "int64", "bool")
_NARROW = ("float8_e4m3fn", "float8_e5m2", "hifloat8", "int4")
_COMPLEX = ("complex32", "complex64", "complex128")
_OTHERS = ("float8_e8m0fnu", "float4_e2m1fn", *_COMPLEX)
_RARE = ("float8_e8m0fnu", *_COMPLEX)
_WITH_NAN = ("float64", *_HALVES_AND_SINGLES, *_NARROW[:3], "float8_e8m0fnu")

_OF_FULL = Target(0.70, 0.90)
_OF_HEALTH = Target(0.90, 0.98)
_OF_NARROW = Target(0.80, 0.95)
_OF_RARE = Target(0.70, 0.90)
# By tier: of all threads, of one, of any number between.
_OF_BASIC = {
    "avx512": (Target(0.85, 0.95), Target(0.80, 0.95), Target(0.80, 0.95)),
    "avx2": (Target(0.60, 0.80), Target(0.60, 0.80), Target(0.60, 0.80)),
}
_ACTIVE_TIER = next(name for name, _, is_active in _core.simd_tiers() if is_active)


def _target(dtype: str, level: str, tier: str, threads: int) -> Target | None:
    if level == "health":
        return _OF_HEALTH
    if level == "full":
        return _OF_FULL
    if dtype in _NARROW:
        return _OF_NARROW if tier == _ACTIVE_TIER else None
    if dtype in _RARE:
        return _OF_RARE if tier == _ACTIVE_TIER else None
    if dtype not in _COMMON or tier not in _OF_BASIC:
        return None
    of_all, of_one, of_some = _OF_BASIC[tier]
    return of_all if threads == ALL_THREADS else of_one if threads == 1 else of_some


def _cases() -> Iterator[tuple[str, str, int]]:
    for dtype in (*_COMMON, *_NARROW, *_OTHERS):
        for threads in THREAD_COUNTS if dtype in _HALVES_AND_SINGLES else THREADS:
            yield dtype, "basic", threads
        for level, dtypes in (("health", _WITH_NAN), ("full", _HALVES_AND_SINGLES)):
            if dtype in dtypes:
                yield from ((dtype, level, threads) for threads in THREADS)


@pytest.fixture(scope="module")
def file(request: pytest.FixtureRequest, directory: Path) -> Iterator[LargeFile]:
    """Return a file of the type that the parameter names; there is only one at a time."""
    dtype: str = request.param
    block = elements(dtype)
    with large_file(directory, dtype, block, FILE_NBYTES, piece_nbytes=8 * MIB) as written:
        yield written


@pytest.mark.parametrize(
    ("file", "level", "threads"),
    [
        pytest.param(dtype, level, threads, id=f"{dtype}-{level}-{threads}")
        for dtype, level, threads in _cases()
    ],
    indirect=["file"],
)
def test_statistics(
    benchmark: BenchmarkFixture,
    report: Report,
    plain_reader: PlainReader,
    other_tiers: Mapping[str, OtherTier],
    file: LargeFile,
    level: Literal["health", "basic", "full"],
    threads: int,
) -> None:
    buffer_nbytes = plain_reader.fastest_buffer(file.path, threads)
    peers: dict[str, Run] = {
        "plain read": lambda: plain_reader.read_file(file.path, threads, buffer_nbytes)
    }

    def on_other(tier: OtherTier) -> Run:
        return lambda: tier.stats(file.path, level, threads)

    others = {
        name: on_other(tier)
        for name, tier in other_tiers.items()
        if _is_measured(file.dtype, level, name)
    }
    timings = side_by_side(
        benchmark,
        ROUNDS,
        (_ACTIVE_TIER, lambda: fastdump.stats(file.path, level=level, threads=threads)),
        {**peers, **others},
    )

    for tier in (_ACTIVE_TIER, *others):
        ratio = timings.quotient("plain read", tier)
        target = _target(file.dtype, level, tier, threads)
        if tier != _ACTIVE_TIER:
            section = "tiers"
        else:
            section = "statistics" if level == "basic" else "levels"
        what = f"{file.dtype}, {level}" if level != "basic" else file.dtype
        report.add(
            benchmark,
            Row(
                section=section,
                what=f"{what}, {tier}" if section == "tiers" else what,
                size=binary_size(FILE_NBYTES),
                threads=threads,
                gb_per_s=file.nbytes / timings.median(tier) / 1e9,
                plain_read_gb_per_s=file.nbytes / timings.median("plain read") / 1e9,
                ratio=ratio,
                required=[at_least(target.least, ratio)] if target else (),
                aim=[at_least(target.aim, ratio)] if target else (),
            ),
        )


def _is_measured(dtype: str, level: str, tier: str) -> bool:
    """Return whether another tier is of interest."""
    return level == "basic" and dtype in (_COMMON if tier in _OF_BASIC else _HALVES_AND_SINGLES)
