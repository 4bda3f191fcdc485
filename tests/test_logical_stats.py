"""Statistics of logical elements: those of the host array, bit for bit, whatever the padding is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import device_layouts as device
import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fastdump
from fastdump import _core
from fastdump._cli import main
from fastdump.testing import OriginalOp, TensorSpec, dump_name, write_dump

Array = npt.NDArray[Any]

NAN = 0xFF  # in every byte, of every type of float
NAME = dump_name("Conv2D", "conv", task_id=1, stream_id=2, timestamp=1700000000000000)
STATISTICS = [
    "count",
    "max",
    "min",
    "mean",
    "l2norm",
    "nan",
    "pos_inf",
    "neg_inf",
    "zero",
    "subnormal",
    "saturated",
    "min_abs",
    "first_bad",
]


def values(shape: tuple[int, ...], dtype: npt.DTypeLike = np.float32, n_bad: int = 2) -> Array:
    """Return numbers of many sizes, whose sum depends on the order of additions."""
    rng = np.random.default_rng(len(shape) + sum(shape))
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    array = (rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)).astype(dtype)
    if array.size > 2 * n_bad:
        array.reshape(-1)[rng.choice(array.size, n_bad, replace=False)] = np.nan
    return array


def only_row(path: Path, **kwargs: Any) -> fastdump.StatsRow:
    (row,) = fastdump.stats(path, level="full", **kwargs)
    return row


def write(path: Path, stored: Array, host: Array, format: str, **kwargs: Any) -> Path:
    tensor = TensorSpec(stored, format=format, origin_shape=host.shape, **kwargs)
    return write_dump(path / NAME, outputs=[tensor])


def assert_statistics_of(host: Array, row: fastdump.StatsRow) -> None:
    expected = fastdump.stats_of(host, level="full", threads=1)
    assert {name: getattr(row, name) for name in STATISTICS} == {
        name: getattr(expected, name) for name in STATISTICS
    }


@pytest.mark.parametrize("engine", ["mmap", "read", "auto"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    "dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16, np.int8, np.complex64]
)
# In the first read of a file, in a chunk, in several.
@pytest.mark.parametrize("shape", [(2, 19, 5, 7), (3, 35, 40, 41), (4, 77, 110, 91)])
def test_images(
    tmp_path: Path, shape: tuple[int, ...], dtype: npt.DTypeLike, threads: int, engine: Any
) -> None:
    nchw = values(shape, dtype)
    path = write(tmp_path, device.nc1hwc0(nchw, 16, NAN), nchw, "NC1HWC0")
    row = only_row(path, logical=True, threads=threads, engine=engine)
    assert_statistics_of(nchw, row)
    assert (row.status, row.note, row.shape, row.origin_shape) == (
        "ok",
        None,
        device.nc1hwc0(nchw, 16, NAN).shape,
        shape,
    )
    padded = only_row(path)
    assert padded.count == np.prod(row.shape)
    assert padded.count > row.count


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    shape=st.tuples(
        st.integers(1, 9),
        st.integers(1, 40),
        st.integers(1, 3),
        st.integers(1, 9),
        st.integers(1, 9),
    ),
    dtype=st.sampled_from([np.float64, np.float32, np.float16, np.uint8]),
    groups=st.integers(2, 5),
)
def test_every_format(
    tmp_path_factory: pytest.TempPathFactory,
    shape: tuple[int, ...],
    dtype: npt.DTypeLike,
    groups: int,
) -> None:
    root = tmp_path_factory.mktemp("dump")
    volume = values(shape, dtype)
    image = np.ascontiguousarray(volume[:, :, 0])
    weights = values((shape[0] * groups, *shape[1:]), dtype)
    few = np.ascontiguousarray(image[:, :4])
    stored = [
        (image, "NC1HWC0", device.nc1hwc0(image, 16, NAN), 0),
        (image, "FRACTAL_Z", device.fractal_z(image, 16, 16, NAN), 1),
        (image, "C1HWNCoC0", device.c1hwncoc0(image, 16, NAN), 0),
        (few, "FRACTAL_Z_C04", device.fractal_z_c04(few, 16, 16, NAN), 0),
        (volume, "NDC1HWC0", device.ndc1hwc0(volume, 16, NAN), 0),
        (volume, "FRACTAL_Z_3D", device.fractal_z_3d(volume, 16, 16, NAN), 0),
        (
            weights,
            "FRACTAL_Z_3D",
            device.grouped_fractal_z_3d(weights, groups, 16, 16, NAN),
            groups,
        ),
        (image, "FRACTAL_NZ", device.fractal_nz(image, 16, 16, NAN), 0),
        (image, "FRACTAL_ZZ", device.fractal_zz(image, 16, 16, NAN), 0),
    ]
    tensors = [
        TensorSpec(array, format=format, origin_shape=host.shape, sub_format=sub_format)
        for host, format, array, sub_format in stored
    ]
    write_dump(root / NAME, outputs=tensors)
    table = fastdump.stats(root, level="full", logical=True, threads=2)
    for row, (host, format, array, sub_format) in zip(table, stored, strict=True):
        # The order of the origin shape is not in the file: there may be several, see docs.
        hosts = fastdump.to_logical(
            array, format=format, origin_shape=host.shape, sub_format=sub_format
        )
        assert row.note is None
        assert_statistics_of(hosts, row)
        assert row.count == host.size


@pytest.mark.parametrize("level", ["health", "basic", "full"])
@pytest.mark.parametrize("dtype", [np.float16, np.int32])
@pytest.mark.parametrize("size", [40, 900])
def test_levels(tmp_path: Path, level: Any, dtype: npt.DTypeLike, size: int) -> None:
    host = values((size, size + 3), dtype)
    path = write(tmp_path, device.fractal_nz(host, 16, 16, NAN), host, "FRACTAL_NZ")
    (row,) = fastdump.stats(path, level=level, logical=True)
    expected = fastdump.stats_of(host, level=level)
    for name in STATISTICS[: None if level == "full" else 8]:
        assert getattr(row, name) == getattr(expected, name), name


def test_first_bad_is_an_index_of_the_host_array(tmp_path: Path) -> None:
    nchw = np.ones((2, 19, 64, 65), np.float16)
    nchw[1, 17, 5, 3] = np.inf
    path = write(tmp_path, device.nc1hwc0(nchw, 16, NAN), nchw, "NC1HWC0")
    row = only_row(path, logical=True)
    assert row.first_bad == np.ravel_multi_index((1, 17, 5, 3), nchw.shape)
    assert (row.nan, row.pos_inf) == (0, 1)
    assert only_row(path).nan > 0


def test_order_of_the_origin_shape_is_followed(tmp_path: Path) -> None:
    nchw = values((2, 19, 64, 65), np.float64)
    nhwc = np.ascontiguousarray(nchw.transpose(0, 2, 3, 1))
    path = write(tmp_path, device.nc1hwc0(nchw, 16, NAN), nhwc, "NC1HWC0")
    row = only_row(path, logical=True)
    assert_statistics_of(nhwc, row)
    assert row.first_bad != fastdump.stats_of(nchw, level="full").first_bad


def test_format_of_the_original_operator_decides_where_shapes_do_not(tmp_path: Path) -> None:
    nchw = values((16, 16, 16, 16), np.float64)
    nhwc = np.ascontiguousarray(nchw.transpose(0, 2, 3, 1))
    stored = device.nc1hwc0(nchw, 16, NAN)
    original_op = OriginalOp("conv", format=_core.tensor_formats().index("NHWC"))
    path = write(tmp_path, stored, nhwc, "NC1HWC0", original_op=original_op)
    assert_statistics_of(nhwc, only_row(path, logical=True))


def test_plain_formats_have_no_padding(tmp_path: Path) -> None:
    array = values((3, 4, 50, 60))
    for format in ("ND", "NCHW", "NHWC"):
        path = write_dump(
            tmp_path / NAME, outputs=[TensorSpec(array, format=format, origin_shape=(1, 2))]
        )
        row = only_row(path, logical=True)
        assert row == only_row(path)
        assert_statistics_of(array, row)


def test_elements_before_all_padding_are_not_moved(tmp_path: Path) -> None:
    host = values((1, 11, 1, 1))
    path = write(tmp_path, device.nc1hwc0(host, 16, NAN), host, "NC1HWC0")
    assert_statistics_of(host, only_row(path, logical=True))
    large = values((1, 70000, 1, 1), n_bad=0)
    path = write(tmp_path, device.nc1hwc0(large, 2**17, NAN), large, "NC1HWC0")
    row = only_row(path, logical=True)
    assert_statistics_of(large, row)
    assert row.nan == 0


def test_an_empty_host_array(tmp_path: Path) -> None:
    host = np.empty((2, 19, 0, 5), np.float32)
    path = write(tmp_path, device.nc1hwc0(host, 16, NAN), host, "NC1HWC0")
    row = only_row(path, logical=True)
    assert (row.count, row.max, row.note) == (0, None, None)


@pytest.mark.parametrize("dtype", [ml_dtypes.int4, ml_dtypes.int2, ml_dtypes.float4_e2m1fn])
@pytest.mark.parametrize("shape", [(35, 48), (3, 700, 1100)])
def test_packed_elements_that_stay_together(
    tmp_path: Path, shape: tuple[int, ...], dtype: npt.DTypeLike
) -> None:
    host = np.random.default_rng(1).integers(0, 2, shape).astype(dtype)
    path = write(tmp_path, device.fractal_nz(host, 16, 64, 0x01), host, "FRACTAL_NZ")
    row = only_row(path, logical=True, threads=2)
    assert row.note is None
    assert_statistics_of(host, row)


@pytest.mark.parametrize(
    ("format", "stored", "host_shape"),
    [
        ("FRACTAL_NZ", (1, 3, 16, 64), (35, 47)),
        ("FRACTAL_NZ", (3, 3, 16, 64), (35, 129)),
        ("NC1HWC0", (1, 1, 5, 7, 64), (1, 64, 5, 7)),
    ],
)
def test_packed_elements_that_do_not(
    tmp_path: Path, format: str, stored: tuple[int, ...], host_shape: tuple[int, ...]
) -> None:
    codes = np.random.default_rng(1).integers(-8, 8, stored).astype(ml_dtypes.int4)
    path = write(tmp_path, codes, np.empty(host_shape, np.int8), format)
    row = only_row(path, logical=True)
    assert_statistics_of(codes, row)
    assert row.status == "ok"
    assert row.note == "padding included: elements of 4 bits do not lie in order by the byte"


@pytest.mark.parametrize(
    ("format", "origin_shape", "why"),
    [
        ("FRACTAL_Z_WINO", (32, 32), "FRACTAL_Z_WINO: no source tells how"),
        ("99", (32, 32), "format 99: no source tells how"),
        ("FRACTAL_NZ", (), "FRACTAL_NZ: no origin shape"),
        ("FRACTAL_NZ", (32, 33), "FRACTAL_NZ: the stored shape 2x2x16x16 is not that of"),
        ("FRACTAL_Z", (32, 32), "FRACTAL_Z: origin shape 32x32 may be NC or CN"),
    ],
)
@pytest.mark.parametrize("n_others", [0, 10**6])  # in the first read of the file, or mapped
def test_padding_that_cannot_be_told_from_data_stays_in(
    tmp_path: Path, format: str, origin_shape: tuple[int, ...], why: str, n_others: int
) -> None:
    stored = values((2, 2, 16, 16))
    number: str | int = int(format) if format.isdecimal() else format
    path = write_dump(
        tmp_path / NAME,
        inputs=[np.zeros(n_others, np.int8)],
        outputs=[TensorSpec(stored, format=number, origin_shape=origin_shape)],
    )
    _, row = fastdump.stats(path, level="full", logical=True)
    assert row.status == "ok"
    assert row.note is not None
    assert row.note.startswith(f"padding included: {why}")
    assert_statistics_of(stored, row)


def test_tensors_that_are_cut(tmp_path: Path) -> None:
    nchw = values((2, 19, 5, 7))
    stored = device.nc1hwc0(nchw, 16, NAN)
    path = write(tmp_path, stored, nchw, "NC1HWC0")
    content = path.read_bytes()
    # What is missing is padding.
    path.write_bytes(content[:-20])
    row = only_row(path, logical=True)
    assert row.status == "truncated"
    assert_statistics_of(nchw, row)
    path.write_bytes(content[:-100])
    row = only_row(path, logical=True)
    assert row.status == "truncated"
    assert row.note is not None
    assert "padding included: only 2215 of 2227 elements are there" in row.note
    assert_statistics_of(stored.reshape(-1)[:-25], row)


def test_selection_and_other_tensors_of_the_file(tmp_path: Path) -> None:
    a, b = values((500, 300), np.float16), values((2, 19, 64, 65))
    write_dump(
        tmp_path / NAME,
        inputs=[a, TensorSpec(device.fractal_nz(a, 16, 16, NAN), format="FRACTAL_NZ",
                              origin_shape=a.shape)],
        outputs=[TensorSpec(device.nc1hwc0(b, 8, NAN), format="NC1HWC0", origin_shape=b.shape), b],
        spaces=[b"log"],
    )  # fmt: skip
    table = fastdump.stats(tmp_path, level="full", logical=True, threads=2)
    for row, host in zip(table, [a, a, b, b, None], strict=True):
        if host is not None:
            assert_statistics_of(host, row)
    (first, second) = fastdump.stats(tmp_path, level="full", logical=True, io="output")
    assert_statistics_of(b, first)
    assert_statistics_of(b, second)


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    host = values((35, 50), np.float16, n_bad=0)
    write(tmp_path, device.fractal_nz(host, 16, 16, NAN), host, "FRACTAL_NZ")
    counts = []
    for options in (["--logical"], []):
        assert main(["stats", str(tmp_path), "--json", *options]) == 0
        (row,) = json.loads(capsys.readouterr().out)["rows"]
        counts.append((row["count"], row["nan"]))
    assert counts == [(1750, 0), (4 * 3 * 256, 4 * 3 * 256 - 1750)]


def test_reference_files(reference_dumps: Path) -> None:
    table = fastdump.stats(reference_dumps / "layout", level="full", logical=True)
    hosts = {"NC1HWC0": "ref_nchw.npy", "FRACTAL_NZ": "ref_nd3.npy"}
    assert {row.format for row in table} == set(hosts)
    for row in table:
        assert_statistics_of(np.load(reference_dumps / hosts[row.format]), row)
