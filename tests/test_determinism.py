"""The same bytes give the same bits: any threads, engine, instruction set, place and host state."""

from __future__ import annotations

import ctypes
import json
import math
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from truth import ELEMENT_TYPES, ElementType, assert_true, packed, statistics

import fastdump
from fastdump.testing import TensorSpec, write_dump

MIB = 1 << 20
THREADS = (1, 2, 7)
ENGINES = ("mmap", "read", "auto")
COLUMNS = [
    *("path", "io", "index", "count", "max", "min", "mean", "l2norm", "nan", "pos_inf", "neg_inf"),
    *("zero", "subnormal", "saturated", "min_abs", "first_bad"),
]

# Prints, for every number of threads and every engine, the statistics as exact text.
SCANS = """
import json, sys
import fastdump
from fastdump import _core

def bits(row):
    values = [getattr(row, name) for name in sys.argv[2].split()]
    return [value.hex() if isinstance(value, float) else value for value in values]

active = [name for name, _, active in _core.simd_tiers() if active]
scans = {
    f"{threads} {engine}": [
        bits(row)
        for row in fastdump.stats(sys.argv[1], level="full", threads=threads, engine=engine)
    ]
    for threads in (1, 2, 7)
    for engine in ("mmap", "read", "auto")
}
print(json.dumps([active, scans]))
"""


def content(element: ElementType, nbytes: int, rng: np.random.Generator) -> bytes:
    """Return bytes of which some stretches have NaN and Inf, others do not."""
    codes = rng.integers(0, 256, nbytes, np.uint8)
    if element.name in ("float32", "float64", "complex64", "complex128"):
        dtype = np.float32 if element.name in ("float32", "complex64") else np.float64
        values = rng.normal(0, 10, nbytes // np.dtype(dtype).itemsize).astype(dtype)
        values[len(values) // 3 :: 5000] = math.nan
        values[len(values) // 2 :: 70001] = -math.inf
        values[1000 : len(values) // 4 : 1000] *= dtype(1e30)
        return values.tobytes()
    return codes.tobytes()


def tensor(name: str, nbytes: int, rng: np.random.Generator) -> TensorSpec:
    element = ELEMENT_TYPES[name]
    data = content(element, nbytes, rng)
    return TensorSpec(data, element.number, shape=(len(data) * 8 // element.bits,))


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a dump with every element type, in files of one read and of many chunks."""
    rng = np.random.default_rng(7)
    folder = tmp_path_factory.mktemp("dump")
    name = "Cast.{}.1.2.170000000000000{}".format
    for parity in (0, 1):  # of the header's length: payloads of one file are unaligned
        write_dump(
            folder / name(f"small{parity}", parity),
            inputs=[tensor(t, 5 * 1024 + 16, rng) for t in ELEMENT_TYPES],
            op_name="x" * (10 + parity),
        )
        write_dump(
            folder / name(f"medium{parity}", 2 + parity),
            inputs=[tensor(t, 300 * 1024 + 32, rng) for t in ("float32", "bfloat16", "int4")],
            op_name="x" * (10 + parity),
        )
        write_dump(
            folder / name(f"large{parity}", 4 + parity),
            inputs=[tensor("float32", 5 * MIB + 12, rng), tensor("bfloat16", 4 * MIB + 2, rng)],
            outputs=[
                tensor(t, MIB + 16, rng)
                for t in ("float64", "int64", "int8", "float8_e4m3fn", "hifloat8", "complex64")
            ],
            buffers=[b"\1" * 3],
            op_name="x" * (10 + parity),
        )
    # Sums of few squares that are rounded: a rounding more or less, in one tier, shows in some.
    few = ("float64", "int64", "uint64", "int32", "complex64", "complex128")
    write_dump(
        folder / name("few", 6),
        outputs=[tensor(t, 16 * n, rng) for n in range(1, 301, 3) for t in few],
    )
    return folder


def exact(table: fastdump.StatsTable) -> list[list[Any]]:
    """Return the numbers of a table with floats as exact text."""
    rows = ([getattr(row, name) for name in COLUMNS] for row in table)
    return [[v.hex() if isinstance(v, float) else v for v in row] for row in rows]


@pytest.fixture(scope="module")
def expected(dump: Path) -> list[list[Any]]:
    return exact(fastdump.stats(dump, level="full", threads=1, engine="read"))


def test_payloads_are_unaligned_and_larger_than_a_chunk(dump: Path) -> None:
    table = fastdump.stats(dump, level="health")
    assert {offset % 2 for offset in table["offset"]} == {0, 1}
    assert (dump / "Cast.large0.1.2.1700000000000004").stat().st_size > 8 * MIB
    assert set(table["status"][table["io"] != "buffer"]) == {"ok"}


def test_tiers_threads_and_engines_give_the_same_bits(
    dump: Path, expected: list[Any], simd_tiers: list[str], run_python: Callable[..., str]
) -> None:
    for tier in simd_tiers:
        active, scans = json.loads(run_python(SCANS, dump, " ".join(COLUMNS), FASTDUMP_SIMD=tier))
        assert active == [tier]
        assert len(scans) == len(THREADS) * len(ENGINES)
        for how, rows in scans.items():
            assert rows == expected, f"{tier}, {how}"


@pytest.mark.parametrize(("chunk", "mapped"), [("1", "0"), ("3", "1"), ("64", "1000000")])
def test_sizes_of_streaming_change_no_bit(
    dump: Path, expected: list[Any], run_python: Callable[..., str], chunk: str, mapped: str
) -> None:
    environment = {"FASTDUMP_CHUNK_MIB": chunk, "FASTDUMP_MMAP_MIB": mapped}
    _, scans = json.loads(run_python(SCANS, dump, " ".join(COLUMNS), **environment))
    for how, rows in scans.items():
        assert rows == expected, how


@pytest.mark.parametrize("name", ["FASTDUMP_CHUNK_MIB", "FASTDUMP_MMAP_MIB"])
@pytest.mark.parametrize("wrong", ["-1", "4MiB", "1.5", "9999999999"])
def test_sizes_of_streaming_that_are_no_numbers_are_an_error(
    tmp_path: Path, run_python: Callable[..., str], name: str, wrong: str
) -> None:
    program = """
import sys, fastdump
try:
    fastdump.stats(sys.argv[1])
except ValueError as error:
    print(error)
"""
    write_dump(tmp_path / "Cast.small.1.2.1700000000000000", outputs=[np.zeros(3, np.float32)])
    message = run_python(program, tmp_path, **{name: wrong})
    assert name in message
    assert f'"{wrong}"' in message


@pytest.mark.parametrize("tier", ["nosuch", "AVX2", "avx2 "])
def test_a_tier_that_does_not_exist_is_an_error(tier: str, run_python: Callable[..., str]) -> None:
    program = """
import numpy, fastdump
try:
    fastdump.stats_of(numpy.zeros(3))
except ValueError as error:
    print(error)
"""
    message = run_python(program, FASTDUMP_SIMD=tier)
    assert "FASTDUMP_SIMD" in message
    assert f'"{tier}"' in message


def test_the_number_of_threads_can_come_from_the_environment(
    dump: Path, expected: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FASTDUMP_THREADS", "3")
    assert exact(fastdump.stats(dump, level="full")) == expected
    for wrong in ("0", "-1", "many", "1.5", "99999999999999999999"):
        monkeypatch.setenv("FASTDUMP_THREADS", wrong)
        with pytest.raises(ValueError, match="FASTDUMP_THREADS"):
            fastdump.stats(dump)


def test_an_array_has_the_bits_of_its_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    arrays = [
        rng.normal(1, 3, 3 * MIB // 4 + 5).astype(np.float32),
        np.exp(rng.uniform(-700, 700, MIB + 77)),
        rng.integers(-(2**62), 2**62, MIB + 3),
        rng.normal(1, 3, 5 * MIB + 1).astype(np.float16),
    ]
    write_dump(tmp_path / "A.b.1.2.1700000000000000", op_name="odd", outputs=arrays)
    table = fastdump.stats(tmp_path, level="full")
    for array, row in zip(arrays, table, strict=True):
        for threads in THREADS:
            result = fastdump.stats_of(array, level="full", threads=threads)
            # A column of float64 rounds the extremes of integers.
            assert (row.max, row.min) == (float(result.max), float(result.min))
            for name in COLUMNS:
                if hasattr(result, name) and name not in ("max", "min"):
                    assert getattr(row, name) == getattr(result, name), (name, threads)


def test_large_files_are_true(dump: Path) -> None:
    """The sums of millions of elements, which cross chunks, against numpy and math.fsum."""
    path = dump / "Cast.large1.1.2.1700000000000005"
    row = fastdump.stats(path, level="full")[0]
    assert (row.dtype, row.count) == ("float32", (5 * MIB + 12) // 4)
    values = np.frombuffer(path.read_bytes(), np.uint8)[row.offset :][: row.nbytes].view(np.float32)
    finite = values[np.isfinite(values)].astype(np.float64)
    assert row.nan == np.isnan(values).sum()
    assert row.neg_inf == (values == -math.inf).sum()
    assert row.first_bad == np.flatnonzero(~np.isfinite(values))[0]
    assert (row.max, row.min) == (finite.max(), finite.min())
    sum_absolute = math.fsum(np.abs(finite))
    mean = math.fsum(finite) / finite.size
    assert abs(row.mean - mean) <= 1e-12 * sum_absolute / finite.size
    assert math.isclose(row.l2norm, math.sqrt(math.fsum(finite**2)), rel_tol=0.5e-12)


def test_where_a_payload_begins_does_not_show(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    elements = [ELEMENT_TYPES[name] for name in ("float32", "bfloat16", "hifloat8", "int64")]
    codes = [rng.integers(0, e.n_codes, 2000, np.uint64).astype(e.code) for e in elements]
    for shift in range(33):
        write_dump(
            tmp_path / f"A.b{shift}.1.2.17000000000000{shift:02}",
            op_name="n" * (shift + 1),
            inputs=[
                TensorSpec(packed(e, c), e.number) for e, c in zip(elements, codes, strict=True)
            ],
        )
    table = fastdump.stats(tmp_path, level="full")
    assert len({offset % 64 for offset in table["offset"]}) > 32
    for index, (element, its_codes) in enumerate(zip(elements, codes, strict=True)):
        truth = statistics(element, its_codes)
        rows = [row for row in table if row.index == index]
        assert len(rows) == 33
        for row in rows:
            assert_true(row, truth, "full")
        assert len({(row.mean.hex(), row.l2norm.hex()) for row in rows}) == 1


@contextmanager
def flushing_subnormals() -> Iterator[None]:
    """Flush subnormals to zero in this thread, as some libraries leave it behind."""
    libm = ctypes.CDLL(None)
    saved = (ctypes.c_uint32 * 8)()  # x86-64: the last word is MXCSR
    assert libm.fegetenv(saved) == 0
    changed = (ctypes.c_uint32 * 8)(*saved)
    changed[7] |= 0x8040  # FTZ and DAZ
    assert libm.fesetenv(changed) == 0
    try:
        yield
    finally:
        libm.fesetenv(saved)


@contextmanager
def rounding_up() -> Iterator[None]:
    libm = ctypes.CDLL(None)
    upward = {"x86_64": 0x800, "aarch64": 0x400000}[platform.machine()]
    saved = libm.fegetround()
    assert libm.fesetround(upward) == 0
    try:
        yield
    finally:
        libm.fesetround(saved)


HOST_STATES = [
    pytest.param(
        flushing_subnormals,
        marks=pytest.mark.skipif(
            (platform.system(), platform.machine()) != ("Linux", "x86_64"),
            reason="sets a register of x86-64 through glibc",
        ),
    ),
    pytest.param(
        rounding_up,
        marks=pytest.mark.skipif(
            platform.system() != "Linux" or platform.machine() not in ("x86_64", "aarch64"),
            reason="knows the constants of glibc on two machines",
        ),
    ),
]


def sensitive_arrays() -> list[npt.NDArray[Any]]:
    """Return arrays whose statistics change if subnormals vanish or sums round upwards."""
    values = np.random.default_rng(5).permutation(np.arange(70000) / 3 - 9999)
    return [
        np.array([5e-324, 2e-310, 1e-320]),
        np.array([1e-40, 3e-45], np.float32),
        np.array([6e-8, 3e-7], np.float16),
        values,
        values.astype(np.float32),
        np.array([0.1, 0.2, 0.4]),
        np.array([1, 1, 2], np.int32),
        np.array([2**63 - 1, 2**53 + 1, 7]),
        np.array([2**53 + 1, -(2**53) - 1]),
        np.array([3 + 1j, 1e-310 + 1e-310j]),
        np.array([1e-310, -1e-310, 1e-310]),
    ]


def floating_point_state() -> tuple[bool, str]:
    tiny, one, third = 5e-324, 1.0, 3.0
    return tiny * one != 0, (one / third).hex()


@pytest.mark.parametrize("state", HOST_STATES)
def test_floating_point_state_of_the_host_does_not_show_in_arrays(
    state: Callable[[], Any],
) -> None:
    usual_state = floating_point_state()
    arrays = sensitive_arrays()
    expected = [fastdump.stats_of(array, level="full") for array in arrays]
    with state():
        changed_state = floating_point_state()
        found = [fastdump.stats_of(array, level="full") for array in arrays]
        state_after = floating_point_state()
    assert changed_state != usual_state
    assert state_after == changed_state, "fastdump changed the state of its host"
    assert found == expected


@pytest.mark.parametrize("state", HOST_STATES)
def test_floating_point_state_of_the_host_does_not_show_in_scans(
    state: Callable[[], Any], tmp_path: Path
) -> None:
    write_dump(tmp_path / "A.b.1.2.1700000000000000", outputs=sensitive_arrays())
    expected = exact(fastdump.stats(tmp_path, level="full"))
    with state():
        table = fastdump.stats(tmp_path, level="full")
    assert exact(table) == expected
