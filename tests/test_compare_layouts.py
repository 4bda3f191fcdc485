"""Pairs of tensors in formats of the device's own: they compare as their host arrays do."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import device_layouts as device
import ml_dtypes
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from comparisons import with_states

from fastdump import _core

Array = npt.NDArray[Any]
Place = tuple[bytes, int, str, int, _core.HostLayout | None]

NAN = 0xFF  # in every byte, of every type of float
FORMATS = _core.tensor_formats()
OPTIONS: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-8, "kl": True}
ENGINES = ("mmap", "read", "auto")


def run(
    a: list[Place], b: list[Place], *, threads: int = 2, engine: str = "auto"
) -> list[dict[str, Any]]:
    comparison = _core.Comparison(
        with_states(a), with_states(b), threads=threads, engine=engine, **OPTIONS
    )
    comparison.run(None, 1.0)
    rows: list[dict[str, Any]] = pa.table(pa.record_batch(comparison.table())).to_pylist()
    assert comparison.progress().pairs_done == len(rows)
    return rows


def layout(
    format: str, stored: tuple[int, ...], host: tuple[int, ...], order: str = ""
) -> _core.HostLayout:
    return _core.HostLayout(
        format=FORMATS.index(format),
        shape=stored,
        origin_shape=host,
        sub_format=0,
        order=order,
        origin_format="",
    )


def write(
    path: Path,
    stored: Array,
    format: str,
    host: tuple[int, ...],
    *,
    order: str = "",
    start: int = 0,
) -> Place:
    """Write a stored tensor behind some bytes, and return its place with its layout."""
    path.write_bytes(b"\xee" * start + stored.tobytes())
    return place(path, stored, layout(format, stored.shape, host, order), start)


def place(path: Path, stored: Array, layout: _core.HostLayout | None, start: int = 0) -> Place:
    return (os.fsencode(path), start, stored.dtype.name, stored.size, layout)


def write_host(path: Path, host: Array, start: int = 0) -> Place:
    path.write_bytes(b"\xee" * start + host.tobytes())
    return place(path, host, None, start)


def metrics_of(a: Array, b: Array) -> dict[str, Any]:
    """Return the metrics of two host arrays, which other tests have checked."""
    sides = [(np.ascontiguousarray(x).view(np.uint8).data, x.dtype.name) for x in (a, b)]
    return _core.compare_buffers(*sides[0], *sides[1], a.size, threads=1, **OPTIONS)


def assert_metrics(row: dict[str, Any], a: Array, b: Array) -> None:
    assert (row.pop("status"), row.pop("note")) == ("ok", None)
    assert row == metrics_of(a, b)


def pair_of(
    shape: tuple[int, ...], dtype_a: npt.DTypeLike, dtype_b: npt.DTypeLike
) -> tuple[Array, Array]:
    """Return two host arrays, of which some elements differ and some are bad."""
    rng = np.random.default_rng(sum(shape))
    b = rng.standard_normal(shape) * 20
    a = b + rng.standard_normal(shape) * (rng.random(shape) < 0.3)
    arrays = [x.astype(dtype) for x, dtype in ((a, dtype_a), (b, dtype_b))]
    for array, bad in zip(arrays, (np.nan, np.inf), strict=True):
        if array.dtype.kind not in "iu" and array.size > 9:
            array.reshape(-1)[rng.integers(0, array.size, 3)] = bad
    return arrays[0], arrays[1]


def nc1hwc0(nchw: Array) -> Array:
    return device.nc1hwc0(nchw, 32 if nchw.itemsize == 1 else 16, NAN)


def fractal_z(nchw: Array) -> Array:
    return device.fractal_z(nchw, 16, 16, NAN)


def fractal_nz(matrices: Array) -> Array:
    return device.fractal_nz(matrices, 16, 32 if matrices.itemsize == 1 else 16, NAN)


# Small: in one piece. Large: several chunks of 4 MiB, of pieces that end anywhere in a row.
CASES: dict[str, tuple[str, Callable[[Array], Array], tuple[int, ...]]] = {
    "NC1HWC0 small": ("NC1HWC0", nc1hwc0, (2, 19, 5, 7)),
    "NC1HWC0 large": ("NC1HWC0", nc1hwc0, (3, 77, 131, 127)),
    "FRACTAL_Z large": ("FRACTAL_Z", fractal_z, (717, 311, 3, 3)),
    "FRACTAL_NZ small": ("FRACTAL_NZ", fractal_nz, (33, 47)),
    "FRACTAL_NZ large": ("FRACTAL_NZ", fractal_nz, (2, 1011, 1029)),
    "FRACTAL_NZ wide": ("FRACTAL_NZ", fractal_nz, (17, 150_001)),
}


@pytest.mark.parametrize(
    ("dtype_a", "dtype_b"),
    [
        (np.float16, np.float16),
        (ml_dtypes.bfloat16, np.float32),
        (np.float64, np.float16),
        (np.int8, np.int8),
        (np.int8, np.float32),
    ],
)
@pytest.mark.parametrize("case", CASES)
def test_a_private_format_beside_the_hosts(
    tmp_path: Path, case: str, dtype_a: npt.DTypeLike, dtype_b: npt.DTypeLike
) -> None:
    format, store, shape = CASES[case]
    a, b = pair_of(shape, dtype_a, dtype_b)
    stored_a = write(tmp_path / "a", store(a), format, shape, start=13)
    stored_b = write(tmp_path / "b", store(b), format, shape, start=1)
    host_a = write_host(tmp_path / "ha", a, start=3)
    host_b = write_host(tmp_path / "hb", b)
    rows = run([stored_a, host_a, stored_a], [host_b, stored_b, stored_b])
    for row in rows:
        assert_metrics(row, a, b)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_engines_and_threads_give_the_same_bits(tmp_path: Path, engine: str, threads: int) -> None:
    sides: tuple[list[Place], list[Place]] = ([], [])
    pairs = []
    for i, case in enumerate(CASES):
        format, store, shape = CASES[case]
        a, b = pair_of(shape, np.float16, np.float32)
        pairs.append((a, b))
        sides[0].append(write(tmp_path / f"{i}.a", store(a), format, shape, start=5))
        sides[1].append(write_host(tmp_path / f"{i}.b", b, start=i))
    for row, (a, b) in zip(run(*sides, threads=threads, engine=engine), pairs, strict=True):
        assert_metrics(row, a, b)


def test_two_private_formats(tmp_path: Path) -> None:
    a, b = pair_of((40, 50, 3, 3), np.float16, np.float16)
    stored_a = write(tmp_path / "a", nc1hwc0(a), "NC1HWC0", a.shape)
    stored_b = write(tmp_path / "b", fractal_z(b), "FRACTAL_Z", b.shape)
    (row,) = run([stored_a], [stored_b])
    assert_metrics(row, a, b)


def test_another_order_of_axes(tmp_path: Path) -> None:
    a, b = pair_of((3, 20, 61, 83), np.float16, np.float16)
    nhwc = np.ascontiguousarray(b.transpose(0, 2, 3, 1))
    stored_a = write(tmp_path / "a", nc1hwc0(a), "NC1HWC0", a.shape)
    stored_b = write(tmp_path / "b", nhwc, "NHWC", nhwc.shape, order="NCHW")
    (row,) = run([stored_a], [stored_b])
    assert_metrics(row, a, b)


def test_padding_counts_only_if_it_is_asked_for(tmp_path: Path) -> None:
    a, b = pair_of((33, 47), np.float16, np.float16)
    padded_a, padded_b = fractal_nz(a), device.fractal_nz(b, 16, 16, 0)
    stored_a = write(tmp_path / "a", padded_a, "FRACTAL_NZ", a.shape)
    stored_b = write(tmp_path / "b", padded_b, "FRACTAL_NZ", b.shape)
    logical, whole = run([stored_a, (*stored_a[:4], None)], [stored_b, (*stored_b[:4], None)])
    assert_metrics(logical, a, b)
    assert_metrics(whole, padded_a, padded_b)


def test_a_layout_that_changes_nothing(tmp_path: Path) -> None:
    """Rows as wide as a block: the host array is what is stored, but for the rows behind it."""
    a, b = pair_of((19, 16), np.float32, np.float32)
    stored = write(tmp_path / "a", fractal_nz(a), "FRACTAL_NZ", a.shape)
    (row,) = run([stored], [write_host(tmp_path / "b", b)])
    assert_metrics(row, a, b)


def test_packed_elements(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    a = rng.integers(0, 256, (200, 600), np.uint8)  # two int4 a byte
    b = np.where(rng.random(a.shape) < 0.5, a, rng.integers(0, 256, a.shape, np.uint8))
    shape = (200, 1200)
    places = []
    for side, host in (("a", a), ("b", b)):
        stored = device.fractal_nz(host, 16, 32, NAN)
        path = tmp_path / side
        path.write_bytes(stored.tobytes())
        stored_shape = (*stored.shape[:-1], 2 * stored.shape[-1])
        places.append(
            (os.fsencode(path), 0, "int4", 2 * stored.size,
             layout("FRACTAL_NZ", stored_shape, shape))
        )  # fmt: skip
    (row,) = run([places[0]], [places[1]])
    assert (row.pop("status"), row.pop("note")) == ("ok", None)
    assert row == _core.compare_buffers(
        a.data, "int4", b.data, "int4", 2 * a.size, threads=1, **OPTIONS
    )
    # Elements that do not begin with a byte in both.
    odd = layout("FRACTAL_NZ", (19, 13, 16, 64), (200, 1199))
    place = (*places[0][:4], odd)
    (row,) = run([place], [place])
    assert row["status"] == "unsupported"
    assert row["note"] == (
        "a: elements of 4 bits do not lie in order by the byte; "
        "b: elements of 4 bits do not lie in order by the byte"
    )
    assert row["count"] is None


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", ["NC1HWC0 small", "NC1HWC0 large"])
def test_files_that_end_early(tmp_path: Path, case: str, engine: str) -> None:
    format, store, shape = CASES[case]
    a, b = pair_of(shape, np.float16, np.float16)
    stored = store(a)
    place_a = write(tmp_path / "a", stored, format, shape)
    place_b = write_host(tmp_path / "b", b)
    # What is missing is padding: channels behind the last.
    os.truncate(tmp_path / "a", stored.nbytes - 2)
    (row,) = run([place_a], [place_b], engine=engine)
    assert_metrics(row, a, b)
    # Any element may be missing: so are all.
    os.truncate(tmp_path / "a", stored.nbytes // 2)
    (row,) = run([place_a], [place_b], engine=engine)
    assert (row["status"], row["count"], row["cosine_similarity"]) == ("truncated", 0, None)
    assert row["note"] == f"a: the file ends early: {a.size} elements are missing"
    os.truncate(tmp_path / "a", 0)
    assert run([place_a], [place_b], engine=engine)[0]["status"] == "truncated"
    # The other side is read as far as it goes.
    place_a = write(tmp_path / "a", stored, format, shape)
    os.truncate(tmp_path / "b", 2 * 100)
    (row,) = run([place_a], [place_b], engine=engine)
    assert row["note"] == f"b: the file ends early: {b.size - 100} elements are missing"
    del row["status"], row["note"]
    assert row == metrics_of(a.reshape(-1)[:100], b.reshape(-1)[:100])


def test_what_cannot_be_compared(tmp_path: Path) -> None:
    a, b = pair_of((33, 47), np.float16, np.float16)
    stored = write(tmp_path / "a", fractal_nz(a), "FRACTAL_NZ", a.shape)
    host = write_host(tmp_path / "b", b)
    path, start, dtype, n, host_layout = stored
    missing = os.fsencode(tmp_path / "nosuch")
    fewer: Place = (path, start, dtype, n - 256, host_layout)
    other = write(tmp_path / "c", fractal_nz(b[:32]), "FRACTAL_NZ", (32, 47))
    far: list[Place] = [(path, at, dtype, n, host_layout) for at in (2**63, 2**64 - 1)]
    rows = run(
        [fewer, (missing, start, dtype, n, host_layout), stored, *far],
        [host, host, other, host, host],
    )
    found = [(row["status"], row["note"], row["count"]) for row in rows]
    # The last element lies before the end of its block.
    n_stored = 3 * 48 * 16 - 16 * 15 - 1 if host_layout is None else host_layout.n_stored
    lost = f"a: the file ends early: {a.size} elements are missing"
    assert found == [
        ("truncated", f"a: only {n - 256} of {n_stored} stored elements are there", None),
        ("unreadable", "a: No such file or directory", None),
        ("size_mismatch", f"{33 * 47} elements in a, {32 * 47} in b", None),
        ("truncated", lost, 0),
        ("truncated", lost, 0),
    ]


def test_an_empty_tensor(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    empty = (os.fsencode(tmp_path / "a"), 0, "float16", 0)
    (row,) = run([(*empty, layout("FRACTAL_NZ", (0, 0, 16, 16), (0, 0)))], [(*empty, None)])
    assert (row["status"], row["count"], row["cosine_similarity"]) == ("ok", 0, None)


@pytest.mark.parametrize("threads", [1, 4])
def test_several_tensors_of_one_file_on_both_sides(tmp_path: Path, threads: int) -> None:
    shapes = [(33, 47), (900, 1700), (16, 16), (1200, 900), (5, 1000)]
    path = tmp_path / "both"
    places: list[Place] = []
    hosts = []
    with path.open("wb") as file:
        for shape in shapes:
            host, _ = pair_of(shape, np.float16, np.float16)
            stored = fractal_nz(host)
            places.append(
                place(path, stored, layout("FRACTAL_NZ", stored.shape, shape), file.tell())
            )
            hosts.append(host)
            file.write(stored.tobytes() + b"\xee")
    rows = run(places * 3, places * 3, threads=threads)
    for row, host in zip(rows, hosts * 3, strict=True):
        assert_metrics(row, host, host)


def test_arguments_that_are_no_place(tmp_path: Path) -> None:
    (host,) = with_states([write_host(tmp_path / "a", np.zeros(3, np.float16))])
    for wrong in (host[:5], (*host[:5], "NCHW"), (*host, None)):
        with pytest.raises(TypeError):
            _core.Comparison([wrong], [host], threads=1, engine="auto", **OPTIONS)
