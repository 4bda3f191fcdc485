"""Private device formats brought back to host order: against formats made with numpy."""

from __future__ import annotations

import itertools
import math
import sys
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
from fastdump import LayoutError, _core, to_logical

Array = npt.NDArray[Any]

LIMIT: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
FILLER = 0xA5  # no byte of the data
DTYPES = [
    np.uint8,
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.int4,
    np.float16,
    ml_dtypes.bfloat16,
    np.dtype(">f4"),
    np.float32,
    np.int64,
    np.complex64,
    np.complex128,
    np.dtype([("value", "<f4"), ("flag", "i1")]),  # five bytes
]
IMAGE_ORDERS = ["NCHW", "NHWC", "HWCN", "CHWN"]
VOLUME_ORDERS = ["NCDHW", "NDHWC", "DHWCN", "DHWNC"]
MATRIX_FORMATS = {
    "FRACTAL_NZ": device.fractal_nz,
    "FRACTAL_NZ_C0_16": device.fractal_nz,
    "FRACTAL_NZ_C0_32": device.fractal_nz,
    "FRACTAL_NZ_C0_2": device.fractal_nz,
    "FRACTAL_NZ_C0_4": device.fractal_nz,
    "FRACTAL_NZ_C0_8": device.fractal_nz,
    "FRACTAL_ZZ": device.fractal_zz,
}
WITHOUT_INVERSE = [
    "NC1C0HWPAD",
    "NHWC1C0",
    "FRACTAL_DECONV",
    "C1HWNC0",
    "BN_WEIGHT",
    "FRACTAL_Z_3D_TRANSPOSE",
    "FRACTAL_ZN_LSTM",
    "FRACTAL_Z_G",
    "ND_RNN_BIAS",
    "FRACTAL_ZN_RNN",
    "NYUV",
    "FRACTAL_Z_WINO",
    "C1HWC0",
]


def numbered(shape: tuple[int, ...], dtype: npt.DTypeLike = np.uint32) -> Array:
    """Return an array whose bytes differ from element to element, and from FILLER."""
    dtype = np.dtype(dtype)
    n = math.prod(shape) * dtype.itemsize
    data = np.arange(n, dtype=np.uint32) * np.uint32(2654435761) >> np.uint32(13)
    data = data.astype(np.uint8)
    data[data == FILLER] = 0
    return data.view(dtype).reshape(shape)


def reordered(array: Array, order: str, wanted: str) -> Array:
    return array.transpose([order.index(axis) for axis in wanted])


def assert_same_bytes(found: Array, expected: Array) -> None:
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes()


dims = st.integers(1, 9)
block_sizes = st.sampled_from([2, 4, 8, 16, 32])
dtypes = st.sampled_from(DTYPES)
groupings = st.integers(2, 12)


@settings(**LIMIT)
@given(
    st.tuples(dims, st.integers(1, 70), dims, dims),
    st.sampled_from(IMAGE_ORDERS),
    dtypes,
    st.data(),
)
def test_images(
    shape: tuple[int, ...], order: str, dtype: npt.DTypeLike, data: st.DataObject
) -> None:
    nchw = numbered(shape, dtype)
    c0 = data.draw(block_sizes)
    wanted = data.draw(st.sampled_from([None, *IMAGE_ORDERS]))
    host = np.ascontiguousarray(reordered(nchw, "NCHW", order))
    stored = {
        "NC1HWC0": device.nc1hwc0(nchw, c0, FILLER),
        "NC1HWC0_C04": device.nc1hwc0(nchw, 4, FILLER),
        "FRACTAL_Z": device.fractal_z(nchw, c0, data.draw(block_sizes), FILLER),
        "C1HWNCoC0": device.c1hwncoc0(nchw, c0, FILLER),
    }
    for format, array in stored.items():
        found = to_logical(
            array, format=format, origin_shape=host.shape, origin_format=order, order=wanted
        )
        assert_same_bytes(found, reordered(nchw, "NCHW", wanted or order))


@settings(**LIMIT)
@given(
    st.tuples(st.integers(1, 40), st.integers(1, 4), dims, dims),
    st.sampled_from(IMAGE_ORDERS),
    st.sampled_from([None, *IMAGE_ORDERS]),
    dtypes,
    st.sampled_from([4, 8, 16, 32]),
)
def test_fractal_z_c04(
    shape: tuple[int, ...], order: str, wanted: str | None, dtype: npt.DTypeLike, c0: int
) -> None:
    nchw = numbered(shape, dtype)
    stored = device.fractal_z_c04(nchw, c0, 16, FILLER)
    found = to_logical(
        stored,
        format="FRACTAL_Z_C04",
        origin_shape=reordered(nchw, "NCHW", order).shape,
        origin_format=order,
        order=wanted,
    )
    assert_same_bytes(found, reordered(nchw, "NCHW", wanted or order))


@settings(**LIMIT)
@given(
    st.tuples(dims, st.integers(1, 40), st.integers(1, 4), dims, dims),
    st.sampled_from(VOLUME_ORDERS),
    dtypes,
    st.data(),
)
def test_volumes(
    shape: tuple[int, ...], order: str, dtype: npt.DTypeLike, data: st.DataObject
) -> None:
    ncdhw = numbered(shape, dtype)
    c0 = data.draw(block_sizes)
    wanted = data.draw(st.sampled_from([None, *VOLUME_ORDERS]))
    origin_shape = reordered(ncdhw, "NCDHW", order).shape
    stored = {
        "NDC1HWC0": device.ndc1hwc0(ncdhw, c0, FILLER),
        "FRACTAL_Z_3D": device.fractal_z_3d(ncdhw, c0, data.draw(block_sizes), FILLER),
    }
    for format, array in stored.items():
        found = to_logical(
            array, format=format, origin_shape=origin_shape, origin_format=order, order=wanted
        )
        assert_same_bytes(found, reordered(ncdhw, "NCDHW", wanted or order))


@settings(**LIMIT)
@given(
    st.lists(st.integers(1, 4), max_size=3),
    st.lists(st.integers(1, 70), min_size=1, max_size=2),
    st.sampled_from(sorted(MATRIX_FORMATS)),
    block_sizes,
    block_sizes,
    dtypes,
)
def test_matrices(
    batch: list[int], matrix: list[int], format: str, h0: int, w0: int, dtype: npt.DTypeLike
) -> None:
    shape = tuple(matrix) if len(matrix) == 1 else (*batch, *matrix)
    host = numbered(shape, dtype)
    stored = MATRIX_FORMATS[format](host, h0, w0, FILLER)
    assert_same_bytes(to_logical(stored, format=format, origin_shape=shape), host)


@settings(**LIMIT)
@given(
    st.integers(2, 12),
    st.integers(1, 5),
    st.integers(1, 20),
    st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3)),
    st.sampled_from([(16, 16), (8, 16), (4, 4), (32, 16), (6, 4)]),
    dtypes,
    st.data(),
)
def test_grouped_weights(
    groups: int,
    c_out: int,
    c: int,
    dhw: tuple[int, int, int],
    blocks: tuple[int, int],
    dtype: npt.DTypeLike,
    data: st.DataObject,
) -> None:
    c0, n0 = blocks
    ncdhw = numbered((groups * c_out, c, *dhw), dtype)
    order = data.draw(st.sampled_from(VOLUME_ORDERS))
    found = to_logical(
        device.grouped_fractal_z_3d(ncdhw, groups, c0, n0, FILLER),
        format="FRACTAL_Z_3D",
        origin_shape=reordered(ncdhw, "NCDHW", order).shape,
        sub_format=groups,
        origin_format=order,
    )
    assert_same_bytes(found, reordered(ncdhw, "NCDHW", order))

    nchw = ncdhw[:, :, 0]
    order = data.draw(st.sampled_from(IMAGE_ORDERS))
    wanted = data.draw(st.sampled_from(IMAGE_ORDERS))
    found = to_logical(
        device.grouped_fractal_z(nchw, groups, c0, n0, FILLER),
        format="FRACTAL_Z",
        origin_shape=reordered(nchw, "NCHW", order).shape,
        sub_format=groups,
        origin_format=order,
        order=wanted,
    )
    assert_same_bytes(found, reordered(nchw, "NCHW", wanted))


def test_more_than_one_block_of_groups_and_of_channels() -> None:
    # Here the vendor's converter and its graph engine place blocks differently; the engine's holds.
    nchw = numbered((64, 32, 1, 1))
    stored = device.grouped_fractal_z(nchw, 2, 16, 16, FILLER)
    assert stored.shape == (4, 2, 16, 16)
    found = to_logical(stored, format="FRACTAL_Z", origin_shape=(64, 32, 1, 1), sub_format=2)
    assert_same_bytes(found, nchw)


@pytest.mark.parametrize("groups", [0, 1])
def test_a_group_of_all_is_no_group(groups: int) -> None:
    nchw = numbered((20, 35, 3, 2))
    stored = device.fractal_z(nchw, 16, 16, FILLER)
    found = to_logical(stored, format="FRACTAL_Z", origin_shape=nchw.shape, sub_format=groups)
    assert_same_bytes(found, nchw)


def inverse_nc1hwc0(stored: Array, shape: tuple[int, ...]) -> Array:
    n, c1, h, w, c0 = stored.shape
    return stored.transpose(0, 1, 4, 2, 3).reshape(n, c1 * c0, h, w)[:, : shape[1]]


def inverse_fractal_z(stored: Array, shape: tuple[int, ...]) -> Array:
    _, n1, n0, c0 = stored.shape
    n, c, h, w = shape
    blocks = stored.reshape(-1, h, w, n1, n0, c0).transpose(3, 4, 0, 5, 1, 2)
    return blocks.reshape(n1 * n0, -1, h, w)[:n, :c]


def inverse_fractal_nz(stored: Array, shape: tuple[int, ...]) -> Array:
    *batch, w1, h1, h0, w0 = stored.shape
    blocks = np.moveaxis(stored, -4, -2)
    return blocks.reshape(*batch, h1 * h0, w1 * w0)[..., : shape[-2], : shape[-1]]


def inverse_ndc1hwc0(stored: Array, shape: tuple[int, ...]) -> Array:
    n, d, c1, h, w, c0 = stored.shape
    return stored.transpose(0, 2, 5, 1, 3, 4).reshape(n, c1 * c0, d, h, w)[:, : shape[1]]


# The documented inverses, on random bytes: nothing of the transforms above takes part.
@pytest.mark.parametrize(
    ("format", "stored_shape", "origin_shape", "inverse"),
    [
        ("NC1HWC0", (3, 4, 5, 7, 16), (3, 51, 5, 7), inverse_nc1hwc0),
        ("NC1HWC0", (2, 3, 33, 31, 8), (2, 24, 33, 31), inverse_nc1hwc0),
        ("NC1HWC0_C04", (2, 1, 5, 7, 4), (2, 3, 5, 7), inverse_nc1hwc0),
        ("FRACTAL_Z", (3 * 3 * 2, 5, 16, 16), (70, 40, 3, 2), None),
        ("FRACTAL_NZ", (2, 3, 9, 5, 16, 16), (2, 3, 70, 130), inverse_fractal_nz),
        ("FRACTAL_NZ", (4, 3, 16, 32), (48, 128), inverse_fractal_nz),
        ("NDC1HWC0", (2, 3, 4, 5, 7, 16), (2, 49, 3, 5, 7), inverse_ndc1hwc0),
    ],
)
def test_documented_inverses(
    format: str, stored_shape: tuple[int, ...], origin_shape: tuple[int, ...], inverse: Any
) -> None:
    stored = np.random.default_rng(1).integers(0, 2**16, stored_shape, np.uint16)
    found = to_logical(stored, format=format, origin_shape=origin_shape)
    expected = (inverse or inverse_fractal_z)(stored, origin_shape)
    assert_same_bytes(found, np.ascontiguousarray(expected))


# Rows and columns that the copy takes in squares, strips and blocks, and what is left of them.
@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.float64])
@pytest.mark.parametrize(
    "shape", [(2, 32, 64, 64), (1, 47, 56, 56), (3, 16, 7, 7), (1, 64, 1, 1031), (5, 33, 1, 1)]
)
def test_large_images(shape: tuple[int, ...], dtype: npt.DTypeLike) -> None:
    nchw = numbered(shape, dtype)
    for order, format, stored in [
        ("NCHW", "NC1HWC0", device.nc1hwc0(nchw, 16, FILLER)),
        ("NHWC", "NC1HWC0", device.nc1hwc0(nchw, 32, FILLER)),
        ("HWCN", "FRACTAL_Z", device.fractal_z(nchw, 16, 16, FILLER)),
        ("NCHW", "FRACTAL_Z", device.fractal_z(nchw, 32, 16, FILLER)),
    ]:
        found = to_logical(stored, format=format, origin_shape=shape, order=order)
        assert_same_bytes(found, reordered(nchw, "NCHW", order))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shift", [0, 2])  # bytes by which `out` misses a line of the cache
def test_arrays_larger_than_caches(threads: int, shift: int) -> None:
    memory = np.zeros((40 << 20) + 64, np.uint8)
    start = -memory.ctypes.data % 64 + shift
    for host, format, stored in [
        (numbered((4096, 4224), np.float16), "FRACTAL_NZ", (264, 256, 16, 16)),
        (numbered((3, 1033, 5003), np.float16), "FRACTAL_NZ", (3, 313, 65, 16, 16)),
        (numbered((9, 100, 128, 136), np.float16), "NC1HWC0", (9, 7, 128, 136, 16)),
        (numbered((3, 100, 131, 133), np.float64), "NC1HWC0", (3, 7, 131, 133, 16)),
    ]:
        transform = device.fractal_nz if format == "FRACTAL_NZ" else device.nc1hwc0
        blocks = (16, 16) if format == "FRACTAL_NZ" else (16,)
        array = transform(host, *blocks, FILLER)
        assert array.shape == stored
        out = memory[start : start + host.nbytes].view(host.dtype).reshape(host.shape)
        found = to_logical(array, format=format, origin_shape=host.shape, out=out, threads=threads)
        assert found is out
        assert np.array_equal(found.view(np.uint16), host.view(np.uint16))


@pytest.mark.parametrize(
    ("format", "stored_shape", "origin_shape", "sub_format", "order"),
    [
        ("NC1HWC0", (2, 2, 2, 3, 4), (2, 7, 2, 3), 0, ""),
        ("NC1HWC0", (2, 2, 2, 3, 4), (2, 7, 2, 3), 0, "NHWC"),
        ("FRACTAL_Z", (4, 2, 4, 4), (7, 5, 2, 1), 0, "HWCN"),
        ("FRACTAL_Z", (6, 3, 2, 4), (6, 3, 2, 1), 2, "CHWN"),
        ("FRACTAL_NZ", (2, 2, 3, 4, 4), (2, 11, 7), 0, ""),
        ("FRACTAL_ZZ", (2, 3, 2, 4, 4), (2, 11, 7), 0, ""),
        ("FRACTAL_Z_C04", (2, 2, 4, 8), (5, 3, 2, 2), 0, ""),
        ("C1HWNCoC0", (2, 1, 2, 3, 4, 4), (3, 7, 1, 2), 0, ""),
        ("NCHW", (2, 3, 4, 5), (), 0, "NHWC"),
        ("ND", (3, 5), (), 0, ""),
    ],
)
def test_every_range_of_a_host_array(
    format: str,
    stored_shape: tuple[int, ...],
    origin_shape: tuple[int, ...],
    sub_format: int,
    order: str,
) -> None:
    layout = _core.HostLayout(
        format=_core.tensor_formats().index(format),
        shape=stored_shape,
        origin_shape=origin_shape,
        sub_format=sub_format,
        order=order,
        origin_format="",
    )
    stored = np.arange(math.prod(stored_shape), dtype=np.uint32)
    whole = np.empty(layout.n_elements, np.uint32)
    layout.gather(stored.data, whole.data, 4, 0, whole.size, 1)
    assert len(set(whole.tolist())) == whole.size
    assert layout.n_stored == whole.max() + 1 or sub_format > 1
    for first, last in itertools.combinations(range(whole.size + 1), 2):
        part = np.empty(last - first + 1, np.uint32)
        part[-1] = 77777
        layout.gather(stored.data, part.data, 4, first, last - first, 1)
        assert np.array_equal(part[:-1], whole[first:last])
        assert part[-1] == 77777


@settings(**LIMIT)
@given(st.data())
def test_plain_orders(data: st.DataObject) -> None:
    orders = data.draw(st.sampled_from([IMAGE_ORDERS, VOLUME_ORDERS]))
    stored_order, wanted = data.draw(st.sampled_from(orders)), data.draw(st.sampled_from(orders))
    shape = tuple(data.draw(st.integers(1, 12)) for _ in stored_order)
    array = numbered(shape, data.draw(dtypes))
    found = to_logical(array, format=stored_order, order=wanted)
    assert_same_bytes(found, reordered(array, stored_order, wanted))


def test_plain_formats_come_as_they_are_stored() -> None:
    array = numbered((2, 3, 4, 5), np.float16)
    for format in ("ND", "NCHW", "NHWC", "MD", "RESERVED"):
        found = to_logical(array, format=format, origin_shape=(9, 9))
        assert found.base is not None
        assert np.shares_memory(found, array)
        assert_same_bytes(found, array)
    assert to_logical(numbered((7,)), format="ND").shape == (7,)
    assert to_logical(np.float32(3), format="ND", shape=()).shape == ()


def test_elements_that_are_in_order_already_are_not_copied() -> None:
    stored = numbered((1, 1, 1, 1, 16), np.float16)
    found = to_logical(stored, format="NC1HWC0", origin_shape=(1, 11, 1, 1))
    assert np.shares_memory(found, stored)
    assert_same_bytes(found, stored[..., :11].reshape(1, 11, 1, 1))
    out = np.empty((1, 11, 1, 1), np.float16)
    assert to_logical(stored, format="NC1HWC0", origin_shape=(1, 11, 1, 1), out=out) is out
    assert_same_bytes(out, found)


def layout_order(format: str, stored: Array, origin_shape: tuple[int, ...], hint: str = "") -> str:
    layout = _core.HostLayout(
        format=_core.tensor_formats().index(format),
        shape=stored.shape,
        origin_shape=origin_shape,
        sub_format=0,
        order="",
        origin_format=hint,
    )
    assert layout.shape == origin_shape
    return layout.order


def test_order_of_the_origin_shape_is_what_fits_the_stored_shape() -> None:
    nchw = numbered((2, 19, 3, 5))
    for format, stored in [
        ("NC1HWC0", device.nc1hwc0(nchw, 16, FILLER)),
        ("FRACTAL_Z", device.fractal_z(nchw, 16, 16, FILLER)),
    ]:
        for order in IMAGE_ORDERS:
            shape = reordered(nchw, "NCHW", order).shape
            # A hint that does not fit is none.
            for hint in ("", "ND", "FRACTAL_NZ", "HWCN" if order == "NHWC" else "NHWC"):
                assert layout_order(format, stored, shape, hint) == order
            found = to_logical(stored, format=format, origin_shape=shape)
            assert_same_bytes(found, reordered(nchw, "NCHW", order))


def test_order_is_the_hint_or_nchw_where_the_shapes_leave_a_choice() -> None:
    nchw = numbered((4, 4, 4, 4))
    stored = device.nc1hwc0(nchw, 16, FILLER)
    assert layout_order("NC1HWC0", stored, nchw.shape) == "NCHW"
    for hint in IMAGE_ORDERS:
        assert layout_order("NC1HWC0", stored, nchw.shape, hint) == hint
        found = to_logical(stored, format="NC1HWC0", origin_shape=nchw.shape, origin_format=hint)
        assert_same_bytes(found, reordered(nchw, "NCHW", hint))
    ncdhw = numbered((4, 4, 4, 4, 4))
    stored = device.ndc1hwc0(ncdhw, 16, FILLER)
    assert layout_order("NDC1HWC0", stored, ncdhw.shape) == "NCDHW"
    assert layout_order("NDC1HWC0", stored, ncdhw.shape, "DHWCN") == "DHWCN"
    assert layout_order("NDC1HWC0", stored, ncdhw.shape, "NHWC") == "NCDHW"


@pytest.mark.parametrize("order", ["CHW", "HWC", "NC", "NHW", "HW", "C", "N"])
def test_shapes_of_fewer_dimensions(order: str) -> None:
    lengths = {"N": 3, "C": 21, "H": 5, "W": 7}
    nchw = numbered(tuple(lengths[axis] if axis in order else 1 for axis in "NCHW"))
    shape = tuple(lengths[axis] for axis in order)
    stored = device.nc1hwc0(nchw, 16, FILLER)
    assert layout_order("NC1HWC0", stored, shape) == order
    found = to_logical(stored, format="NC1HWC0", origin_shape=shape)
    expected = nchw.transpose([*("NCHW".index(axis) for axis in order), *_missing(order)])
    assert_same_bytes(found, expected.reshape(shape))
    # In full on request.
    found = to_logical(stored, format="NC1HWC0", origin_shape=shape, order="NHWC")
    assert_same_bytes(found, reordered(nchw, "NCHW", "NHWC"))


def _missing(order: str) -> list[int]:
    return [i for i, axis in enumerate("NCHW") if axis not in order]


def test_shapes_of_fewer_dimensions_that_may_mean_two_things() -> None:
    square = numbered((32, 32))
    stored = device.fractal_z(square.T[:, :, np.newaxis, np.newaxis], 16, 16, FILLER)
    with pytest.raises(LayoutError, match=r"FRACTAL_Z: origin shape 32x32 may be NC or CN"):
        to_logical(stored, format="FRACTAL_Z", origin_shape=(32, 32))
    for kwargs in (
        {"origin_shape": (1, 1, 32, 32)},
        {"origin_shape": (32, 32), "origin_format": "HWCN"},
    ):
        found = to_logical(stored, format="FRACTAL_Z", **kwargs)
        assert_same_bytes(found.reshape(32, 32), square)
    # No choice at all.
    oblong = numbered((40, 20))
    stored = device.fractal_z(oblong.T[:, :, np.newaxis, np.newaxis], 16, 16, FILLER)
    assert_same_bytes(to_logical(stored, format="FRACTAL_Z", origin_shape=(40, 20)), oblong)


def test_a_volume_without_depth() -> None:
    nchw = numbered((2, 19, 3, 5))
    stored = device.ndc1hwc0(nchw[:, :, np.newaxis], 16, FILLER)
    assert_same_bytes(to_logical(stored, format="NDC1HWC0", origin_shape=nchw.shape), nchw)
    found = to_logical(stored, format="NDC1HWC0", origin_shape=nchw.shape, order="NHWC")
    assert_same_bytes(found, reordered(nchw, "NCHW", "NHWC"))
    found = to_logical(device.nc1hwc0(nchw, 16, FILLER), format="NC1HWC0",
                    origin_shape=nchw.shape, order="NDHWC")  # fmt: skip
    assert_same_bytes(found, reordered(nchw, "NCHW", "NHWC")[:, np.newaxis])


def test_a_vector_is_a_row_unless_it_was_stored_as_a_column() -> None:
    vector = numbered((40,))
    row = device.fractal_nz(vector, 16, 16, FILLER)
    assert row.shape == (3, 1, 16, 16)
    assert_same_bytes(to_logical(row, format="FRACTAL_NZ", origin_shape=(40,)), vector)
    column = device.fractal_nz(vector[:, np.newaxis], 16, 16, FILLER)
    assert column.shape == (1, 3, 16, 16)
    assert_same_bytes(to_logical(column, format="FRACTAL_NZ", origin_shape=(40,)), vector)
    short = device.fractal_nz(vector[:5], 16, 16, FILLER)
    assert_same_bytes(to_logical(short, format="FRACTAL_NZ", origin_shape=(5,)), vector[:5])
    one = device.fractal_nz(vector[:1], 16, 16, FILLER)
    assert_same_bytes(to_logical(one, format="FRACTAL_NZ", origin_shape=(1,)), vector[:1])


def test_axes_of_a_matrix_have_the_names_of_the_hint_only() -> None:
    host = numbered((2, 3, 35, 50))
    stored = device.fractal_nz(host, 16, 16, FILLER)
    with pytest.raises(LayoutError, match="its axes have no names"):
        to_logical(stored, format="FRACTAL_NZ", origin_shape=host.shape, order="NHWC")
    found = to_logical(
        stored, format="FRACTAL_NZ", origin_shape=host.shape, order="NHWC", origin_format="NCHW"
    )
    assert_same_bytes(found, reordered(host, "NCHW", "NHWC"))
    assert_same_bytes(
        to_logical(stored, format="FRACTAL_NZ", origin_shape=host.shape, order="ND"), host
    )


def test_reference_files(reference_dumps: Path) -> None:
    for name, io_offset, stored_shape, format, expected in [
        ("Conv2D.nc1hwc0.1.7.1700000000000000", 57, (2, 2, 3, 5, 16), "NC1HWC0", "ref_nchw.npy"),
        ("MatMul.fractal_nz.3.7.1700000000000000", 59, (2, 4, 3, 16, 16), "FRACTAL_NZ",
         "ref_nd3.npy"),
    ]:  # fmt: skip
        data = (reference_dumps / "layout" / name).read_bytes()
        stored = np.frombuffer(data, np.float16, math.prod(stored_shape), io_offset)
        host = np.load(reference_dumps / expected)
        found = to_logical(stored, format=format, shape=stored_shape, origin_shape=host.shape)
        assert_same_bytes(found, host)


@pytest.mark.parametrize("format", [*WITHOUT_INVERSE, 77, "77", 255, -1])
def test_formats_without_a_documented_inverse(format: str | int) -> None:
    name = format if str(format).isupper() else str(format).replace("255", "MAX")
    with pytest.raises(LayoutError, match=f"{name}: no source tells"):
        to_logical(numbered((2, 2, 16, 16)), format=format, origin_shape=(32, 32))


def test_every_format_has_an_inverse_or_is_known_to_lack_one() -> None:
    formats = _core.tensor_formats()
    private = {name for i, name in enumerate(formats) if _core.is_private_format(i)}
    plain = {"ND", "MD", "NC", "CN", "NCL", "RESERVED", "ALL", "NULL"}
    assert private == set(formats) - plain - set(IMAGE_ORDERS) - set(VOLUME_ORDERS)
    with pytest.raises(LayoutError, match="no tensor format is called 'NCWH'"):
        to_logical(numbered((2, 2)), format="NCWH")


BIG = 2**63 - 1


@pytest.mark.parametrize(
    ("format", "stored_shape", "origin_shape", "message"),
    [
        ("NC1HWC0", (2, 2, 3, 5, 16), (), "no origin shape"),
        ("FRACTAL_NZ", (2, 2, 16, 16), (), "no origin shape"),
        ("NC1HWC0", (2, 2, 3, 5, 16), (2, 33, 3, 5), "NCHW would be stored as 2x3x3x5x16"),
        ("NC1HWC0", (2, 2, 3, 5, 16), (2, 16, 3, 5), "in any order"),
        ("NC1HWC0", (2, 2, 3, 5), (2, 19, 3, 5), "5 dimensions"),
        ("NC1HWC0", (2, 2, 3, 5, 16), (2, 19, 3, 5, 1), "in any order"),
        ("NC1HWC0", (2, 2, 3, 5, 0), (2, 19, 3, 5), "blocks of size 0"),
        ("NC1HWC0", (2, 2, 3, 5, 16), (2, -1, 3, 5), "origin shape has a dimension of -1"),
        ("NC1HWC0", (2, 2, -1, 5, 16), (2, 19, 3, 5), "stored shape has a dimension of -1"),
        ("NC1HWC0", (0, 2, 3, 5, 16), (2, 19, 3, 5), "in any order"),
        ("NC1HWC0", (BIG, BIG, BIG, BIG, 1), (BIG, BIG, BIG, BIG), "larger than any file"),
        ("NC1HWC0", (2, 2, 3, 5, 16), (BIG, BIG, BIG, BIG), "in any order"),
        ("NC1HWC0", (1, 1, 1, 1, BIG), (1, BIG, 1, 1), "larger than any file"),
        ("NC1HWC0", (2, 2, 3, 5, 16), (2**64, 19, 3, 5), "larger than any file"),
        ("FRACTAL_Z", (4, 2, 0, 16), (32, 32, 2, 1), "blocks of size 0"),
        ("FRACTAL_Z", (4, 2, 16), (32, 32, 2, 1), "4 dimensions"),
        ("FRACTAL_Z", (4, 2, 16, 16), (32, 32, BIG, BIG), "in any order"),
        ("FRACTAL_Z_C04", (2, 2, 16, 16), (32, 5, 2, 2), "could not be stored so"),
        ("FRACTAL_Z_C04", (2, 2, 16, 6), (32, 3, 2, 2), "could not be stored so"),
        ("C1HWNCoC0", (1, 2, 2, 3, 8, 16), (3, 9, 2, 2), "in any order"),
        ("FRACTAL_NZ", (2, 2, 16), (32, 32), "4 dimensions or more"),
        ("FRACTAL_NZ", (2, 2, 16, 16), (32, 33), "would be stored as 3x2x16x16"),
        ("FRACTAL_NZ", (2, 2, 16, 16), (1, 32, 32), "would be stored as 1x2x2x16x16"),
        ("FRACTAL_NZ", (2, 2, 16, 16), (90,), "would be stored as 6x1x16x16"),
        ("FRACTAL_NZ", (2, 2, 16, 0), (32, 32), "blocks of size 0"),
        ("FRACTAL_NZ", (BIG, 1, 1, BIG), (BIG, BIG), "would be stored"),
        ("FRACTAL_NZ", (BIG, BIG, 1, 1), (BIG, BIG), "larger than any file"),
        ("FRACTAL_NZ", (BIG, 4, 4, 16, 16), (BIG, 64, 64), "larger than any file"),
        ("ND", (BIG, BIG), (), "larger than any file"),
        ("ND", (2, -1), (), "dimension of -1"),
    ],
)
def test_shapes_that_do_not_fit(
    format: str, stored_shape: tuple[int, ...], origin_shape: tuple[int, ...], message: str
) -> None:
    with pytest.raises(LayoutError, match=message) as caught:
        to_logical(numbered((64,)), format=format, shape=stored_shape, origin_shape=origin_shape)
    assert format in str(caught.value) or "larger than any file" in str(caught.value)


hostile_dims = st.one_of(
    st.integers(-2, 20), st.sampled_from([2**16, 2**31, 2**32, 2**59, 2**62, BIG])
)


@settings(**LIMIT)
@given(
    st.sampled_from(_core.tensor_formats()),
    st.lists(hostile_dims, max_size=7),
    st.lists(hostile_dims, max_size=6),
    st.sampled_from([-1, 0, 1, 2, 3, 7, 65535, 2**31 - 1, 2**62]),
    st.sampled_from(["", "NCHW", "HWCN", "NDHWC", "ND"]),
    st.sampled_from(["", "NHWC", "CHWN", "NCDHW"]),
)
def test_no_shape_reaches_outside(
    format: str, shape: list[int], origin_shape: list[int], sub_format: int, hint: str, order: str
) -> None:
    try:
        layout = _core.HostLayout(
            format=_core.tensor_formats().index(format),
            shape=shape,
            origin_shape=origin_shape,
            sub_format=sub_format,
            order=order,
            origin_format=hint,
        )
    except _core.LayoutError:
        return
    assert layout.n_elements == math.prod(layout.shape)
    assert layout.n_elements <= layout.n_stored <= max(math.prod(shape), 0)
    if layout.n_stored > 1 << 20:
        return
    # Not a byte more than it says it needs.
    stored = np.arange(layout.n_stored, dtype=np.uint32)
    out = np.empty(layout.n_elements, np.uint32)
    layout.gather(stored.data, out.data, 4, 0, out.size, 1)
    assert len(set(out.tolist())) == out.size


@pytest.mark.parametrize("shape", [(0, 19, 3, 5), (2, 0, 3, 5), (2, 19, 0, 0), (0, 0, 0, 0)])
def test_empty_arrays(shape: tuple[int, ...]) -> None:
    nchw = np.empty(shape, ml_dtypes.bfloat16)
    for format, stored in [
        ("NC1HWC0", device.nc1hwc0(nchw, 16, FILLER)),
        ("FRACTAL_Z", device.fractal_z(nchw, 16, 16, FILLER)),
        ("FRACTAL_NZ", device.fractal_nz(nchw, 16, 16, FILLER)),
    ]:
        assert_same_bytes(to_logical(stored, format=format, origin_shape=shape), nchw)


def test_an_array_that_ends_within_its_padding() -> None:
    nchw = numbered((2, 19, 3, 5), np.float16)
    flat = device.nc1hwc0(nchw, 16, FILLER).reshape(-1)
    kwargs: dict[str, Any] = {
        "format": "NC1HWC0",
        "shape": (2, 2, 3, 5, 16),
        "origin_shape": nchw.shape,
    }
    needed = flat.size - 13
    assert_same_bytes(to_logical(flat[:needed], **kwargs), nchw)
    with pytest.raises(LayoutError, match=f"has {needed - 1} elements.* first {needed} of"):
        to_logical(flat[: needed - 1], **kwargs)


def test_arrays_that_are_not_contiguous() -> None:
    nchw = numbered((2, 19, 3, 5), np.float16)
    stored = device.nc1hwc0(nchw, 16, FILLER)
    wide = np.repeat(stored, 2, axis=-1)[..., ::2]
    assert_same_bytes(to_logical(wide, format="NC1HWC0", origin_shape=nchw.shape), nchw)


def test_read_only_arrays_and_bad_arguments() -> None:
    nchw = numbered((2, 19, 3, 5), np.float16)
    stored = np.ascontiguousarray(device.nc1hwc0(nchw, 16, FILLER))
    stored.flags.writeable = False
    kwargs: dict[str, Any] = {"format": "NC1HWC0", "origin_shape": nchw.shape}
    assert_same_bytes(to_logical(stored, **kwargs, threads=2), nchw)
    read_only = np.empty_like(nchw)
    read_only.flags.writeable = False
    for out in (
        np.empty((2, 19, 3, 4), np.float16),
        np.empty((2, 19, 3, 5), np.float32),
        np.empty((5, 3, 19, 2), np.float16).T,
        read_only,
    ):
        with pytest.raises(ValueError, match=r"^out "):
            to_logical(stored, **kwargs, out=out)
    memory = np.empty(stored.size + nchw.size, np.float16)
    with pytest.raises(ValueError, match="shares memory"):
        to_logical(
            memory[: stored.size].reshape(stored.shape),
            **kwargs,
            out=memory[10 : 10 + nchw.size].reshape(nchw.shape),
        )
    for threads in (0, -1, 2**40):
        with pytest.raises(ValueError, match="threads"):
            to_logical(stored, **kwargs, threads=threads)
    with pytest.raises(LayoutError, match='no order "NCWH"'):
        to_logical(stored, **kwargs, order="NCWH")
    with pytest.raises(LayoutError, match="no place for axis D, of length 4"):
        to_logical(numbered((2, 3, 4, 5, 6)), format="NCDHW", order="NCHW")
    with pytest.raises(TypeError, match="object"):
        to_logical(np.array([object()] * 960).reshape(2, 2, 3, 5, 16), **kwargs)
    with pytest.raises(TypeError, match="masked"):
        to_logical(np.ma.masked_array(stored), **kwargs)


def test_gather_checks_its_buffers() -> None:
    layout = _core.HostLayout(
        format=3, shape=[1, 1, 2, 2, 4], origin_shape=[1, 3, 2, 2], sub_format=0, order="",
        origin_format="",
    )  # fmt: skip
    assert (layout.n_elements, layout.n_stored) == (12, 15)
    stored, out = bytes(30), bytearray(24)
    layout.gather(stored, out, 2, 0, 12, 1)
    for arguments in [
        (stored[:29], out, 2, 0, 12, 1),
        (stored, out[:23], 2, 0, 12, 1),
        (stored, out, 2, 0, 13, 1),
        (stored, out, 2, 12, 1, 1),
        (stored, out, 2, 2**64 - 1, 2, 1),
        (stored, out, 0, 0, 12, 1),
        (stored, out, 2**63, 0, 12, 1),
        (stored, out, 2, 0, 12, 0),
    ]:
        with pytest.raises(ValueError, match=r"."):
            layout.gather(*arguments)
    with pytest.raises(BufferError):
        layout.gather(stored, stored, 2, 0, 12, 1)


def test_to_host_is_public() -> None:
    assert fastdump.to_logical is to_logical
    assert issubclass(LayoutError, fastdump.FastdumpError)
    assert issubclass(LayoutError, ValueError)
    assert sys.byteorder == "little"
