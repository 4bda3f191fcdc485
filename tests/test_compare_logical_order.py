"""`fastdump.compare` of tensors that lie in different layouts: as their logical arrays compare."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import device_layouts as device
import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from comparisons import reference, write_op

import fastdump
from fastdump import ComparisonRow
from fastdump._compare.materialised import compare_materialised
from fastdump._compare.tolerances import Tolerance
from fastdump.testing import OriginalOp, TensorSpec, write_ffts_slices

Array = npt.NDArray[Any]

NAN = 0xFF  # in every byte, of every type of float
RNG = np.random.default_rng(11)
NHWC = fastdump._core.tensor_formats().index("NHWC")
TOLERANCE = Tolerance(4e-3, 1e-3, 1e-2, 0.999, 1e-2)
ASKED = dataclasses.asdict(TOLERANCE)


def compared(root: Path, a: Any, b: Any, **options: Any) -> ComparisonRow:
    """Compare two tensors, each the only one of its dump."""
    write_op(root / "a", "Add x", at=1, outputs=[a])
    write_op(root / "b", "Add x", at=2, outputs=[b])
    (row,) = fastdump.compare(root / "a", root / "b", kl=True, **(ASKED | options))
    return row


def pair_of(shape: tuple[int, ...], dtype: npt.DTypeLike = np.float16) -> tuple[Array, Array]:
    """Return two logical arrays that differ a little here and there, with bad elements in both."""
    b = RNG.normal(0, 20, shape)
    a = b * (1 + RNG.normal(0, 0.05, shape) * (RNG.random(shape) < 0.3))
    a, b = a.astype(dtype), b.astype(dtype)
    a.reshape(-1)[[3, 8]] = np.nan
    b.reshape(-1)[[8, 11]] = np.inf
    return a, b


def stored_nz(host: Array, filler: int = NAN) -> TensorSpec:
    array = device.fractal_nz(host, 16, 32 if host.itemsize == 1 else 16, filler)
    return TensorSpec(array, format="FRACTAL_NZ", origin_shape=host.shape)


def stored_nc1hwc0(nchw: Array, filler: int = NAN, **kwargs: Any) -> TensorSpec:
    kwargs = {"origin_shape": nchw.shape} | kwargs
    return TensorSpec(device.nc1hwc0(nchw, 16, filler), format="NC1HWC0", **kwargs)


def stored_fractal_z(nchw: Array, filler: int = NAN) -> TensorSpec:
    array = device.fractal_z(nchw, 16, 16, filler)
    return TensorSpec(array, format="FRACTAL_Z", origin_shape=nchw.shape)


def plain(host: Array, format: str) -> TensorSpec:
    return TensorSpec(host, format=format, origin_shape=host.shape)


def to_nhwc(nchw: Array) -> Array:
    return np.ascontiguousarray(nchw.transpose(0, 2, 3, 1))


def metrics_of(row: ComparisonRow) -> dict[str, Any]:
    names = reference(np.ones(1), np.ones(1), rtol=0, atol=0, kl=True)
    more = ("max_abs_error_index", "first_mismatch", "bit_equal", "ulp_max", "verdict")
    return {name: getattr(row, name) for name in (*names, *more)}


def assert_compares_as(row: ComparisonRow, root: Path, a: Array, b: Array) -> None:
    """Check a row against logical arrays: by a reference in Python, and dumped as they are."""
    assert (row.status, row.note) == ("ok", None)
    with np.errstate(invalid="ignore"):
        expected = reference(a, b, rtol=TOLERANCE.rtol, atol=TOLERANCE.atol, kl=True)
    found = {name: getattr(row, name) for name in expected}
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert metrics_of(row) == metrics_of(compared(root / "host", a, b))


SIDES: dict[str, tuple[tuple[int, ...], Callable[[Array], TensorSpec]]] = {
    "FRACTAL_NZ": ((3, 33, 47), stored_nz),
    "NC1HWC0": ((2, 19, 5, 7), stored_nc1hwc0),
    "FRACTAL_Z": ((33, 19, 3, 2), stored_fractal_z),
}
HOSTS: dict[str, Callable[[Array], TensorSpec]] = {
    "ND": lambda host: plain(host, "ND"),
    "NCHW": lambda nchw: plain(nchw, "NCHW"),
    "NHWC": lambda nchw: plain(to_nhwc(nchw), "NHWC"),
    "ND, channels last": lambda nchw: plain(to_nhwc(nchw), "ND"),
}


@pytest.mark.parametrize("logical", [False, True])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
@pytest.mark.parametrize(
    ("format", "host"),
    [("FRACTAL_NZ", "ND"), *((f, h) for f in ("NC1HWC0", "FRACTAL_Z") for h in HOSTS)],
)
def test_a_private_format_beside_the_hosts(
    tmp_path: Path, format: str, host: str, dtype: npt.DTypeLike, logical: bool
) -> None:
    shape, store = SIDES[format]
    a, b = pair_of(shape, dtype)
    row = compared(tmp_path / "1", store(a), HOSTS[host](b), logical=logical)
    other = compared(tmp_path / "2", HOSTS[host](a), store(b), logical=logical)
    if host == "ND, channels last":  # the only order of axes that is known is that of its shape
        a, b = to_nhwc(a), to_nhwc(b)
    assert_compares_as(row, tmp_path, a, b)
    if host == "NHWC":  # indices are of a
        a, b = to_nhwc(a), to_nhwc(b)
    assert_compares_as(other, tmp_path, a, b)


@pytest.mark.parametrize("format", SIDES)
def test_padding_counts_unless_logical(tmp_path: Path, format: str) -> None:
    shape, store = SIDES[format]
    a, b = pair_of(shape)
    stored_a, stored_b = store(a), store(b)
    row = compared(tmp_path / "1", stored_a, stored_b)
    assert_compares_as(row, tmp_path / "1", stored_a.data, stored_b.data)
    assert row.both_bad > 1
    row = compared(tmp_path / "2", stored_a, stored_b, logical=True)
    assert_compares_as(row, tmp_path / "2", a, b)


@pytest.mark.parametrize("logical", [False, True])
def test_two_private_formats(tmp_path: Path, logical: bool) -> None:
    a, b = pair_of((33, 19, 3, 2))
    row = compared(tmp_path, stored_nc1hwc0(a), stored_fractal_z(b), logical=logical)
    assert_compares_as(row, tmp_path, a, b)


def test_two_private_formats_of_one_stored_shape(tmp_path: Path) -> None:
    a, b = pair_of((32, 32))
    zz = TensorSpec(device.fractal_zz(b, 16, 16, NAN), format="FRACTAL_ZZ", origin_shape=b.shape)
    assert_compares_as(compared(tmp_path, stored_nz(a), zz), tmp_path, a, b)


def test_blocks_of_another_size(tmp_path: Path) -> None:
    """An int8 tensor has blocks twice as wide: other stored shapes, one host array."""
    b = RNG.integers(-50, 50, (33, 47)).astype(np.int8)
    a = b.astype(np.float16)
    row = compared(tmp_path, stored_nz(a), stored_nz(b))
    assert (row.status, row.count, row.mismatched, row.max_abs_error) == ("ok", 33 * 47, 0, 0.0)


def test_origin_shapes_in_different_orders(tmp_path: Path) -> None:
    a, b = pair_of((2, 19, 5, 7))
    nhwc = stored_nc1hwc0(b, origin_shape=to_nhwc(b).shape)
    assert_compares_as(compared(tmp_path, stored_nc1hwc0(a), nhwc, logical=True), tmp_path, a, b)


def test_axes_that_one_side_lacks(tmp_path: Path) -> None:
    a, b = pair_of((1, 19, 5, 7))
    image = stored_nc1hwc0(a, origin_shape=(19, 5, 7))
    row = compared(tmp_path, image, plain(to_nhwc(b), "NHWC"))
    assert_compares_as(row, tmp_path, to_nhwc(a), to_nhwc(b))


@pytest.mark.parametrize("host", ["NCHW", "NHWC"])
def test_an_order_that_the_other_side_tells(tmp_path: Path, host: str) -> None:
    """All axes are of one length: nothing else says which order was meant."""
    a, b = pair_of((16, 16, 16, 16))
    if host == "NHWC":
        spec_b, a_host, b_host = plain(to_nhwc(b), host), to_nhwc(a), to_nhwc(b)
    else:
        spec_b, a_host, b_host = plain(b, host), a, b
    row = compared(tmp_path, stored_nc1hwc0(a), spec_b)
    assert_compares_as(row, tmp_path, a_host, b_host)


def test_the_original_operators_order_comes_first(tmp_path: Path) -> None:
    a, b = pair_of((16, 16, 16, 16))
    spec = stored_nc1hwc0(a, original_op=OriginalOp("x", format=NHWC))
    row = compared(tmp_path, spec, plain(b, "NCHW"))
    assert_compares_as(row, tmp_path, to_nhwc(a), to_nhwc(b))


def test_groups_of_a_convolution(tmp_path: Path) -> None:
    """Only the file says how many there are, not the table."""
    a, b = pair_of((12, 5, 3, 2))
    stored = device.grouped_fractal_z(a, 4, 16, 16, NAN)
    spec = TensorSpec(stored, format="FRACTAL_Z", origin_shape=a.shape, sub_format=4)
    assert_compares_as(compared(tmp_path, spec, plain(b, "NCHW")), tmp_path, a, b)


def converted(root: Path, spec: TensorSpec, **options: Any) -> Path:
    write_op(root / "a", "Add x", at=1, outputs=[spec])
    fastdump.convert(root / "a", root / "b", **options)
    return root / "b"


@pytest.mark.parametrize("options", [{}, {"logical": True}, {"order": "NHWC"}], ids=str)
@pytest.mark.parametrize("logical", [False, True])
@pytest.mark.parametrize("format", SIDES)
def test_converted_tensors_are_bit_equal(
    tmp_path: Path, format: str, options: dict[str, Any], logical: bool
) -> None:
    if format == "FRACTAL_NZ" and "order" in options:
        pytest.skip("a matrix has no such axes")
    shape, store = SIDES[format]
    a, _ = pair_of(shape)
    spec = store(a)
    npy = converted(tmp_path, spec, **options)
    (row,) = fastdump.compare(tmp_path / "a", npy, logical=logical)
    (back,) = fastdump.compare(npy, tmp_path / "a", logical=logical)
    n = spec.data.size if not options and not logical else a.size
    for found in (row, back):
        assert (found.status, found.verdict, found.count) == ("ok", "equal", n)


@pytest.mark.parametrize("host", HOSTS)
def test_streamed_as_in_memory(tmp_path: Path, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = pair_of((3, 37, 61, 43))
    with monkeypatch.context() as patch:
        patch.delattr("fastdump._compare.elements.compare_materialised")
        row = compared(tmp_path, stored_nc1hwc0(a), HOSTS[host](b))
    (file_a,), (file_b,) = (list((tmp_path / side).rglob("Add*")) for side in "ab")
    with fastdump.open(file_a) as dump_a, fastdump.open(file_b) as dump_b:
        (op_a,), (op_b,) = dump_a, dump_b
        metrics, note = compare_materialised(
            op_a.outputs[0], op_b.outputs[0], tolerance=TOLERANCE, kl=True, threads=1
        )
    assert note is None
    assert {name: getattr(row, name) for name in metrics} == metrics


def test_shapes_of_host_arrays(tmp_path: Path) -> None:
    a, _ = pair_of((33, 47))
    row = compared(tmp_path / "1", stored_nz(a), a.reshape(-1))
    assert row.count == a.size
    assert row.note == "shapes (33, 47) and (1551,): compared in order of elements"
    row = compared(tmp_path / "2", stored_nz(a), a[:32])
    assert (row.status, row.count, row.verdict) == ("size_mismatch", None, None)
    assert row.note == "(33, 47) in a and (32, 47) in b, in their logical order"


def test_a_layout_that_nobody_knows(tmp_path: Path) -> None:
    a, b = (TensorSpec(x, format="FRACTAL_Z_WINO", origin_shape=(9,)) for x in pair_of((4, 6)))
    row = compared(tmp_path / "1", a, b, logical=True)
    assert (row.status, row.count) == ("ok", 24)
    assert row.note is not None
    assert row.note.startswith("padding included: FRACTAL_Z_WINO: no source tells how")
    row = compared(tmp_path / "2", a, b.data.reshape(-1))
    assert (row.status, row.count) == ("unsupported", None)


@pytest.mark.parametrize("width", [46, 47])
def test_packed_elements(tmp_path: Path, width: int) -> None:
    """Of rows of an odd length, every other begins within a byte."""
    b = RNG.integers(-8, 8, (35, width)).astype(np.int8)
    a = np.where(RNG.random(b.shape) < 0.2, 1, b).astype(np.int8)
    stored = device.fractal_nz(a, 16, 64, 3).astype(ml_dtypes.int4)
    spec = TensorSpec(stored, format="FRACTAL_NZ", origin_shape=a.shape)
    row = compared(tmp_path, spec, plain(b.astype(ml_dtypes.int4), "ND"))
    wrong = int((a != b).sum())
    assert (row.status, row.note, row.count, row.mismatched) == ("ok", None, a.size, wrong)


def test_a_file_that_ends_early(tmp_path: Path) -> None:
    a, b = pair_of((3, 33, 47))
    path = write_op(tmp_path / "a", "Add x", at=1, outputs=[stored_nz(a)])
    write_op(tmp_path / "b", "Add x", at=2, outputs=[b])
    os.truncate(path, path.stat().st_size - 5000)
    (row,) = fastdump.compare(tmp_path / "a", tmp_path / "b")
    assert (row.status, row.count, row.verdict) == ("truncated", 0, None)
    assert row.note == f"a: the file ends early: {a.size} elements are missing"


def test_many_pairs_of_all_kinds(tmp_path: Path) -> None:
    """Pairs in layouts, as stored, joined from slices and of Fortran order, in one run."""
    a, b = pair_of((9, 4))
    for side, x in (("a", a), ("b", b)):
        for i in range(3):
            where: dict[str, Any] = {"rank": None, "step": None}
            specs = [stored_nz(x) if side == "a" else x, x]
            write_op(tmp_path / side, f"Add x{i}", at=i, outputs=specs, **where)
    write_ffts_slices(
        tmp_path / "a",
        "Mul",
        "y",
        outputs=[a],
        threads=2,
        axis=0,
        task_id=7,
        stream_id=2,
        context_id=3,
        timestamp=1_700_000_000_000_007,
    )
    write_op(tmp_path / "b", "Mul y", at=7, rank=None, step=None, outputs=[b])
    write_op(tmp_path / "a", "Sub z", at=8, rank=None, step=None, outputs=[a])
    np.save(tmp_path / "b" / "Sub.z.8.3.1700000000000008.output.0.npy", np.asfortranarray(b))
    steps: list[Any] = []
    table = fastdump.compare(tmp_path / "a", tmp_path / "b", progress=steps.append, **ASKED)
    rows = [row for row in table if row.status == "ok"]
    assert len(rows) == 8
    with np.errstate(invalid="ignore"):
        expected = reference(a, b, rtol=TOLERANCE.rtol, atol=TOLERANCE.atol)
    for row in rows:
        found = {name: getattr(row, name) for name in expected}
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert steps[-1].pairs_done == steps[-1].pairs
