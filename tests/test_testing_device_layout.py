"""The writer's device layouts, against the address of each element and the reference arrays.

Each format's definition is given here a second time as where one element goes, index by index.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from dump_message import message_class
from hypothesis import given, settings
from hypothesis import strategies as st

from fastdump import testing

DumpData = message_class("DumpData")
PADDING = -1
Address = Callable[..., tuple[int, ...]]


def check(host: Any, stored: Any, shape: tuple[int, ...], address: Address) -> None:
    """Check every element and that everything else is padding."""
    assert stored.shape == shape
    assert stored.dtype == host.dtype
    assert stored.flags.c_contiguous
    expected = np.full(shape, PADDING, host.dtype)
    for index, value in np.ndenumerate(host):
        expected[address(*index)] = value
    np.testing.assert_array_equal(stored, expected)


def numbered(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.arange(math.prod(shape), dtype=np.int32).reshape(shape)


def up(a: int, b: int) -> int:
    return math.ceil(a / b)


dims_4 = st.tuples(st.integers(1, 20), st.integers(1, 20), st.integers(1, 3), st.integers(1, 3))
dims_5 = st.tuples(
    st.integers(1, 9), st.integers(1, 9), st.integers(1, 3), st.integers(1, 2), st.integers(1, 2)
)
blocks = st.sampled_from([1, 2, 4, 8, 16])
exhaustive = settings(deadline=None, max_examples=40)


@given(dims_4, blocks)
@exhaustive
def test_nc1hwc0(shape: tuple[int, ...], c0: int) -> None:
    x = numbered(shape)
    n, c, h, w = shape
    stored = testing.to_device(x, "NC1HWC0", c0=c0, padding=PADDING)
    check(x, stored, (n, up(c, c0), h, w, c0), lambda n, c, h, w: (n, c // c0, h, w, c % c0))
    stored = testing.to_device(x, "NC1HWC0_C04", c0=c0, padding=PADDING)
    check(x, stored, (n, up(c, 4), h, w, 4), lambda n, c, h, w: (n, c // 4, h, w, c % 4))


@given(dims_4, blocks)
@exhaustive
def test_c1hwncoc0(shape: tuple[int, ...], c0: int) -> None:
    x = numbered(shape)
    n, c, h, w = shape
    stored = testing.to_device(x, "C1HWNCoC0", c0=c0, padding=PADDING)
    check(
        x,
        stored,
        (up(c, c0), h, w, n, c0, c0),
        lambda n, c, h, w: (c // c0, h, w, n, c % c0, c % c0),
    )


@given(dims_4, blocks, blocks)
@exhaustive
def test_fractal_z(shape: tuple[int, ...], c0: int, n0: int) -> None:
    x = numbered(shape)
    n, c, height, width = shape
    stored = testing.to_device(x, "FRACTAL_Z", c0=c0, n0=n0, padding=PADDING)
    check(
        x,
        stored,
        (up(c, c0) * height * width, up(n, n0), n0, c0),
        lambda n, c, h, w: ((c // c0 * height + h) * width + w, n // n0, n % n0, c % c0),
    )


@given(
    st.integers(1, 9),
    st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 2), st.integers(1, 2)),
    blocks,
    blocks,
)
@settings(deadline=None, max_examples=80)
def test_fractal_z_of_groups(groups: int, shape: tuple[int, ...], c0: int, n0: int) -> None:
    per_group, c, height, width = shape
    x = numbered((groups * per_group, c, height, width))
    stored = testing.to_device(x, "FRACTAL_Z", c0=c0, n0=n0, groups=groups, padding=PADDING)
    to_fill_columns = math.lcm(c, c0) // c
    to_fill_rows = math.lcm(per_group, n0) // per_group
    bundled = min(math.lcm(to_fill_columns, to_fill_rows), groups) if groups > 1 else 1
    bundles, c1 = up(groups, bundled), up(bundled * c, c0)

    def address(n: int, channel: int, h: int, w: int) -> tuple[int, ...]:
        group, output = divmod(n, per_group)
        bundle, member = divmod(group, bundled)
        row, column = member * per_group + output, member * c + channel
        plane = ((bundle * c1 + column // c0) * height + h) * width + w
        return plane, row // n0, row % n0, column % c0

    shape = (bundles * c1 * height * width, up(bundled * per_group, n0), n0, c0)
    check(x, stored, shape, address)


def test_depthwise_convolution_fills_its_blocks() -> None:
    # 32 groups of one channel and one output: 16 of them fill a block of 16 by 16.
    stored = testing.to_device(np.ones((32, 1, 3, 3), np.float16), "FRACTAL_Z", groups=32)
    assert stored.shape == (2 * 9, 1, 16, 16)
    assert (stored == np.eye(16)).all()


@given(dims_4.filter(lambda shape: shape[1] <= 4), blocks, blocks)
@exhaustive
def test_fractal_z_c04(shape: tuple[int, ...], c0: int, n0: int) -> None:
    x = numbered(shape)
    n, _, height, width = shape

    def address(n: int, c: int, h: int, w: int) -> tuple[int, ...]:
        column = (h * width + w) * 4 + c
        return column // c0, n // n0, n % n0, column % c0

    stored = testing.to_device(x, "FRACTAL_Z_C04", c0=c0, n0=n0, padding=PADDING)
    check(x, stored, (up(4 * height * width, c0), up(n, n0), n0, c0), address)


@given(dims_5, blocks, blocks)
@exhaustive
def test_formats_with_a_depth(shape: tuple[int, ...], c0: int, n0: int) -> None:
    x = numbered(shape)
    n, c, d, height, width = shape
    stored = testing.to_device(x, "NDC1HWC0", c0=c0, padding=PADDING)
    check(
        x,
        stored,
        (n, d, up(c, c0), height, width, c0),
        lambda n, c, d, h, w: (n, d, c // c0, h, w, c % c0),
    )
    stored = testing.to_device(x, "FRACTAL_Z_3D", c0=c0, n0=n0, padding=PADDING)
    c1 = up(c, c0)

    def address(n: int, c: int, d: int, h: int, w: int) -> tuple[int, ...]:
        return ((d * c1 + c // c0) * height + h) * width + w, n // n0, n % n0, c % c0

    check(x, stored, (d * c1 * height * width, up(n, n0), n0, c0), address)


matrices = st.tuples(
    st.lists(st.integers(1, 3), max_size=2), st.integers(1, 40), st.integers(1, 40)
)


@given(matrices, blocks, blocks)
@exhaustive
def test_blocks_of_a_matrix(shape: tuple[list[int], int, int], c0: int, n0: int) -> None:
    outer, h, w = shape
    x = numbered((*outer, h, w))
    stored = testing.to_device(x, "FRACTAL_NZ", c0=c0, n0=n0, padding=PADDING)
    check(
        x,
        stored,
        (*outer, up(w, c0), up(h, n0), n0, c0),
        lambda *i: (*i[:-2], i[-1] // c0, i[-2] // n0, i[-2] % n0, i[-1] % c0),
    )
    stored = testing.to_device(x, "FRACTAL_ZZ", c0=c0, n0=n0, padding=PADDING)
    check(
        x,
        stored,
        (*outer, up(h, n0), up(w, c0), n0, c0),
        lambda *i: (*i[:-2], i[-2] // n0, i[-1] // c0, i[-2] % n0, i[-1] % c0),
    )


@pytest.mark.parametrize("c0", [2, 4, 8, 16, 32])
def test_variants_of_fractal_nz(c0: int) -> None:
    x = numbered((3, 37))
    named = testing.to_device(x, f"FRACTAL_NZ_C0_{c0}")
    np.testing.assert_array_equal(named, testing.to_device(x, "FRACTAL_NZ", c0=c0))
    with pytest.raises(ValueError, match=f"{c0} columns"):
        testing.to_device(x, f"FRACTAL_NZ_C0_{c0}", c0=64)


def test_vector_is_one_row() -> None:
    stored = testing.to_device(np.arange(20, dtype=np.float16), "FRACTAL_NZ")
    assert stored.shape == (2, 1, 16, 16)
    assert stored[0, 0, 0].tolist() == list(range(16))
    assert stored[1, 0, 0, :4].tolist() == [16, 17, 18, 19]


@pytest.mark.parametrize(
    ("wanted", "axes"),
    [
        ("NHWC", (0, 2, 3, 1)),
        ("HWCN", (2, 3, 1, 0)),
        ("CHWN", (1, 2, 3, 0)),
        ("NCHW", (0, 1, 2, 3)),
        ("NCDHW", (0, 1, 2, 3, 4)),
        ("NDHWC", (0, 2, 3, 4, 1)),
        ("DHWCN", (2, 3, 4, 1, 0)),
        ("DHWNC", (2, 3, 4, 0, 1)),
    ],
)
def test_plain_formats_are_transposed(wanted: str, axes: tuple[int, ...]) -> None:
    x = numbered((2, 3, 4, 5, 6)[: len(axes)])
    stored = testing.to_device(x, wanted)
    np.testing.assert_array_equal(stored, x.transpose(axes))
    assert stored.flags.c_contiguous
    back = testing.to_device(stored, "NCHW" if len(axes) == 4 else "NCDHW", origin_format=wanted)
    np.testing.assert_array_equal(back, x)


def test_origin_format_tells_the_axes_of_the_host() -> None:
    x = numbered((2, 19, 3, 5))
    stored = testing.to_device(x, "NC1HWC0")
    nhwc = x.transpose(0, 2, 3, 1)
    np.testing.assert_array_equal(testing.to_device(nhwc, "NC1HWC0", origin_format="NHWC"), stored)


@pytest.mark.parametrize(
    ("dtype", "c0"),
    [
        (np.float16, 16), (ml_dtypes.bfloat16, 16), (np.float32, 16), (np.int64, 16),
        (np.complex128, 16), (np.int8, 32), (bool, 32), (ml_dtypes.float8_e5m2, 32),
        (ml_dtypes.int4, 64), (ml_dtypes.float4_e2m1fn, 64), (ml_dtypes.int2, 128),
    ],
)  # fmt: skip
def test_block_of_each_type(dtype: Any, c0: int) -> None:
    x = np.ones((1, 3, 1, 1)).astype(dtype)
    assert testing.to_device(x, "NC1HWC0").shape == (1, 1, 1, 1, c0)
    assert testing.to_device(x, "NC1HWC0", c0=8).shape == (1, 1, 1, 1, 8)


@pytest.mark.parametrize("padding", [0, 7, np.nan, -np.inf])
def test_padding(padding: float) -> None:
    stored = testing.to_device(np.ones((1, 1, 1, 1), np.float16), "NC1HWC0", padding=padding)
    np.testing.assert_array_equal(stored.ravel(), [1] + [padding] * 15)


def test_host_array_is_not_touched() -> None:
    x = numbered((2, 3))
    testing.to_device(x, "ND")[:] = 0
    np.testing.assert_array_equal(x, numbered((2, 3)))


@pytest.mark.parametrize(
    ("shape", "format", "options", "message"),
    [
        ((2, 3), "FRACTAL_Z_3D_TRANSPOSE", {}, "FRACTAL_Z_3D_TRANSPOSE is not documented"),
        ((2, 3), "NC1HWC0", {}, "NCHW"),
        ((2, 3, 4, 5), "NC1HWC0", {"origin_format": "NCDHW"}, "NCDHW"),
        ((2, 3, 4, 5), "NHWC", {"origin_format": "NCHH"}, "NCHH"),
        ((2, 3, 4, 5), "FRACTAL_Z_C04", {"c0": 16}, None),
        ((2, 5, 4, 5), "FRACTAL_Z_C04", {}, "4 channels"),
        ((2, 3, 4, 5), "NC1HWC0", {"groups": 2}, "groups"),
        ((2, 3, 4, 5, 6), "FRACTAL_Z_3D", {"groups": 2}, "groups"),
        ((2, 3, 4, 5), "FRACTAL_Z", {"groups": 0}, "groups"),
        ((3, 3, 4, 5), "FRACTAL_Z", {"groups": 2}, "shared"),
        ((2, 0, 4, 5), "FRACTAL_Z", {"groups": 2}, "bundled"),
        ((), "FRACTAL_NZ", {}, "scalar"),
        ((2, 3), "FRACTAL_NZ", {"origin_format": "NCHW"}, "origin_format"),
    ],
)
def test_what_has_no_layout(
    shape: tuple[int, ...], format: str, options: dict[str, Any], message: str | None
) -> None:
    if message is None:
        testing.to_device(np.zeros(shape, np.float16), format, **options)
        return
    with pytest.raises(ValueError, match=message):
        testing.to_device(np.zeros(shape, np.float16), format, **options)


def test_types_without_a_documented_block_need_c0() -> None:
    x = np.zeros((1, 1, 1, 1), ml_dtypes.float6_e3m2fn)
    with pytest.raises(ValueError, match="c0"):
        testing.to_device(x, "NC1HWC0")
    assert testing.to_device(x, "NC1HWC0", c0=4).shape == (1, 1, 1, 1, 4)


def test_empty_tensors() -> None:
    x = np.zeros((0, 3, 2, 2), np.float16)
    assert testing.to_device(x, "NC1HWC0").shape == (0, 1, 2, 2, 16)
    assert testing.to_device(x, "FRACTAL_Z").shape == (4, 0, 16, 16)
    assert testing.to_device(np.zeros((2, 0), np.int8), "FRACTAL_NZ").shape == (0, 1, 16, 32)


def test_device_tensor_describes_what_it_stored(tmp_path: Path) -> None:
    x = numbered((6, 2, 1, 1))
    spec = testing.device_tensor(x, "FRACTAL_Z", groups=3, padding=PADDING)
    path = testing.write_dump(tmp_path / "dump", inputs=[spec, testing.device_tensor(x, "NHWC")])
    content = path.read_bytes()
    at = 8 + int.from_bytes(content[:8], "little")
    grouped, plain = DumpData.FromString(content[8:at]).input
    assert (grouped.format, grouped.sub_format) == (4, 3)
    assert list(grouped.original_shape.dim) == [6, 2, 1, 1]
    assert list(grouped.shape.dim) == [1, 1, 16, 16]
    assert (plain.format, plain.sub_format) == (1, 0)
    assert list(plain.shape.dim) == [6, 1, 1, 2]
    stored = np.frombuffer(content, np.int32, 256, at).reshape(1, 1, 16, 16)
    np.testing.assert_array_equal(
        stored, testing.to_device(x, "FRACTAL_Z", groups=3, padding=PADDING)
    )


@pytest.mark.parametrize(
    ("format", "host", "dump"),
    [
        ("NC1HWC0", "ref_nchw.npy", "Conv2D.nc1hwc0.1.7.1700000000000000"),
        ("FRACTAL_NZ", "ref_nd3.npy", "MatMul.fractal_nz.3.7.1700000000000000"),
    ],
)
def test_reference_layouts(
    format: str, host: str, dump: str, reference_dumps: Path, tmp_path: Path
) -> None:
    x = np.load(reference_dumps / host)
    content = (reference_dumps / "layout" / dump).read_bytes()
    at = 8 + int.from_bytes(content[:8], "little")
    header = DumpData.FromString(content[8:at])
    path = testing.write_dump(
        tmp_path / dump,
        outputs=[testing.device_tensor(x, format)],
        op_name=header.op_name,
        dump_time=header.dump_time,
    )
    assert path.read_bytes() == content
