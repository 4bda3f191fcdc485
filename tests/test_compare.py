"""`fastdump.compare`: metrics against slow references, and what it says of damaged dumps."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from comparisons import RNG, W, X, chain, reference, write_op

import fastdump
from fastdump import ComparisonRow, NoDumpError, testing


def one_pair(tmp_path: Path, a: Any, b: Any, **options: Any) -> ComparisonRow:
    """Compare two tensors, each the only one of its dump."""
    write_op(tmp_path / "a", "Add x", at=1, outputs=[a])
    write_op(tmp_path / "b", "Add x", at=2, outputs=[b])
    (row,) = fastdump.compare(tmp_path / "a", tmp_path / "b", **options)
    return row


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "int32"])
@pytest.mark.parametrize("kl", [False, True])
def test_metrics_equal_a_slow_reference(tmp_path: Path, dtype: str, kl: bool) -> None:
    type_ = np.dtype(getattr(ml_dtypes, dtype, dtype))
    b = (RNG.normal(0, 20, (7, 31))).astype(type_)
    a = (b.astype(np.float64) * (1 + RNG.normal(0, 0.05, b.shape))).astype(type_)
    b[0, 0] = 0
    if type_.kind != "i":
        a[1, 1] = b[2, 2] = np.nan
        a[3, 3] = b[3, 3] = np.inf
    row = one_pair(tmp_path, a, b, rtol=0.02, atol=0.01, kl=kl)
    expected = reference(a, b, rtol=0.02, atol=0.01, kl=kl)
    found = {name: getattr(row, name) for name in expected}
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert (row.kl_divergence is not None) == kl
    assert (row.status, row.paired_by, row.bit_equal) == ("ok", "name", False)
    assert (row.dtype_a, row.dtype_b, row.shape_a) == (dtype, dtype, (7, 31))


def test_ulp_distance(tmp_path: Path) -> None:
    b = np.array([1, 2, -3, 0], np.float16)
    a = (b.view(np.int16) + np.array([0, 5, 0, 1], np.int16)).view(np.float16)
    assert one_pair(tmp_path, a, b).ulp_max == 5
    row = one_pair(tmp_path / "far", np.array([-1.7e308]), np.array([1.7e308]))
    assert row.ulp_max == 2**63 - 1  # more does not fit


def test_bit_equal_tensors_are_told_from_equal_ones(tmp_path: Path) -> None:
    row = one_pair(tmp_path / "same", X, X.copy())
    assert (row.bit_equal, row.verdict, row.mismatched) == (True, "equal", 0)
    row = one_pair(tmp_path / "zeros", np.zeros(9, np.float32), -np.zeros(9, np.float32))
    assert (row.bit_equal, row.verdict, row.max_abs_error) == (False, "close", 0)
    nan = np.full(3, np.nan, np.float32)
    assert one_pair(tmp_path / "nan", nan, nan).verdict == "equal"


def test_types_compare_by_value(tmp_path: Path) -> None:
    b = RNG.normal(0, 3, 500).astype(np.float32)
    a = b.astype(ml_dtypes.bfloat16)
    row = one_pair(tmp_path, a, b, rtol=1e-6, atol=0.0)
    expected = reference(a.astype(np.float32), b, rtol=1e-6, atol=0.0)
    assert row.max_abs_error == expected["max_abs_error"]
    assert row.mismatched == expected["mismatched"]
    assert (row.ulp_max, row.bit_equal) == (None, False)
    # The coarser type's tolerance: to round is no divergence.
    assert one_pair(tmp_path / "default", a, b).verdict == "close"
    assert one_pair(tmp_path / "exact", a.astype(np.float32), b).verdict == "diverges"


@pytest.mark.parametrize(
    ("dtype", "close", "apart"),
    [
        ("float64", 1e-9, 1e-5),
        ("float32", 1e-6, 1e-2),
        ("float16", 1e-3, 5e-2),
        ("bfloat16", 4e-3, 2e-1),
        ("float8_e4m3fn", 3e-2, 1.0),
    ],
)
def test_default_tolerances_go_by_type(
    tmp_path: Path, dtype: str, close: float, apart: float
) -> None:
    type_ = np.dtype(getattr(ml_dtypes, dtype, dtype))
    b = RNG.normal(0, 1, 4000)
    for error, verdict in ((close, {"close", "equal"}), (apart, {"diverges"})):
        a = b * (1 + RNG.normal(0, error, b.shape))
        row = one_pair(tmp_path / str(error), a.astype(type_), b.astype(type_))
        assert row.verdict in verdict, error


@pytest.mark.parametrize("dtype", ["int32", "bool", "uint8"])
def test_integers_must_be_equal(tmp_path: Path, dtype: str) -> None:
    b = np.zeros(100_000, dtype)
    a = b.copy()
    a[77] = 1
    row = one_pair(tmp_path, a, b)
    assert (row.verdict, row.mismatched, row.first_mismatch) == ("diverges", 1, 77)


def test_each_threshold_counts(tmp_path: Path) -> None:
    b = np.ones(1000, np.float32)
    a = b.copy()
    a[:5] = 2
    write_op(tmp_path / "a", "Add x", at=1, outputs=[a])
    write_op(tmp_path / "b", "Add x", at=2, outputs=[b])
    loose = {"max_mismatched": 1.0, "min_cosine_similarity": -1.0, "max_relative_distance": 1e9}

    def verdict(**options: Any) -> str | None:
        (row,) = fastdump.compare(tmp_path / "a", tmp_path / "b", **{**loose, **options})
        return row.verdict

    assert verdict() == "close"
    assert verdict(max_mismatched=0.004) == "diverges"
    assert verdict(max_mismatched=0.005) == "close"
    assert verdict(min_cosine_similarity=0.9999) == "diverges"
    assert verdict(max_relative_distance=0.07) == "diverges"
    assert verdict(max_relative_distance=0.071) == "close"
    assert verdict(max_mismatched=0.0, atol=1.0, rtol=0.0) == "close"


def test_nan_in_one_only_diverges_whatever_the_thresholds(tmp_path: Path) -> None:
    b = np.ones(1000, np.float32)
    a = b.copy()
    a[3] = np.nan
    loose = {"max_mismatched": 1.0, "min_cosine_similarity": -1.0, "max_relative_distance": 1e9}
    row = one_pair(tmp_path / "a", a, b, **loose)
    assert (row.verdict, row.only_a_bad, row.only_b_bad) == ("diverges", 1, 0)
    row = one_pair(tmp_path / "b", b, a, **loose)
    assert (row.verdict, row.only_a_bad, row.only_b_bad) == ("diverges", 0, 1)
    row = one_pair(tmp_path / "both", a, a + np.float32(1e-7), **loose)
    assert (row.verdict, row.both_bad) == ("close", 1)


@pytest.mark.parametrize("format_", ["FRACTAL_NZ", "NC1HWC0"])
def test_layouts_compare_by_value_in_host_order(tmp_path: Path, format_: str) -> None:
    shape = (19, 35) if format_ == "FRACTAL_NZ" else (2, 19, 3, 5)
    b = RNG.normal(0, 1, shape).astype(np.float16)
    a = (b * (1 + RNG.normal(0, 0.01, shape))).astype(np.float16)
    stored = testing.device_tensor(a, format_, padding=7)
    row = one_pair(tmp_path, stored, b)
    expected = reference(a, b, rtol=4e-3, atol=1e-3)
    found = {name: getattr(row, name) for name in expected}
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert row.status == "ok"
    assert (row.format_a, row.format_b) == (format_, "ND")


def test_padding_counts_unless_logical(tmp_path: Path) -> None:
    a = testing.device_tensor(X.astype(np.float16), "FRACTAL_NZ", padding=0)
    b = testing.device_tensor(X.astype(np.float16), "FRACTAL_NZ", padding=9)
    row = one_pair(tmp_path, a, b)
    assert row.verdict == "diverges"
    assert row.count == 256
    row = one_pair(tmp_path, a, b, logical=True)
    assert (row.verdict, row.count) == ("equal", X.size)


def test_axes_in_another_order_compare_by_value(tmp_path: Path) -> None:
    nchw = RNG.normal(0, 1, (2, 3, 4, 5)).astype(np.float32)
    a = testing.TensorSpec(nchw, format="NCHW", origin_shape=nchw.shape)
    nhwc = np.ascontiguousarray(nchw.transpose(0, 2, 3, 1))
    b = testing.TensorSpec(nhwc, format="NHWC", origin_shape=nhwc.shape)
    assert one_pair(tmp_path, a, b).verdict == "equal"


def test_a_layout_that_nobody_knows_says_so(tmp_path: Path) -> None:
    a = testing.TensorSpec(X, format="FRACTAL_ZN_LSTM", origin_shape=(24,))
    row = one_pair(tmp_path, a, X.reshape(-1))
    assert (row.status, row.verdict) == ("unsupported", None)
    assert "FRACTAL_ZN_LSTM" in (row.note or "")


def test_fortran_order(tmp_path: Path) -> None:
    write_op(tmp_path / "a", "Add x", at=1, outputs=[X])
    (tmp_path / "b").mkdir()
    np.save(tmp_path / "b" / "Add.x.1.3.1700000000000001.output.0.npy", np.asfortranarray(X))
    (row,) = fastdump.compare(tmp_path / "a", tmp_path / "b")
    assert (row.status, row.verdict) == ("ok", "equal")
    swapped = fastdump.compare(tmp_path / "b", tmp_path / "a")
    assert swapped[0].verdict == "equal"


def test_slices_of_threads_are_joined(tmp_path: Path) -> None:
    x = RNG.normal(0, 1, (9, 4)).astype(np.float32)
    testing.write_ffts_slices(
        tmp_path / "a",
        "Add",
        "x",
        outputs=[x],
        threads=2,
        axis=0,
        task_id=1,
        stream_id=2,
        context_id=3,
        timestamp=1_700_000_000_000_000,
    )
    write_op(tmp_path / "b", "Add x", at=2, rank=None, step=None, outputs=[x])
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    first, second = table
    assert (first.verdict, first.count) == ("equal", 36)
    assert second.status == "only_in_a"
    # Slice by slice where both sides have them.
    both = fastdump.compare(tmp_path / "a", tmp_path / "a")
    assert both["verdict"].tolist() == ["equal", "equal"]
    assert both["count"].tolist() == [20, 16]


def test_converted_dumps_are_bit_equal(tmp_path: Path) -> None:
    dump = chain(tmp_path / "dump")
    write_op(dump, "MatMul x" + "y" * 300, at=99, inputs=[W], outputs=[X])
    nz = testing.device_tensor(X.astype(np.float16), "FRACTAL_NZ")
    write_op(dump, "MatMul nz", at=100, outputs=[nz])
    fastdump.convert(dump, tmp_path / "npy")
    for a, b in (("dump", "npy"), ("npy", "dump")):
        table = fastdump.compare(tmp_path / a, tmp_path / b)
        assert set(table["verdict"]) == {"equal"}
        assert set(table["paired_by"]) == {"name"}
        assert len(table) == 6 * 3 + 3


def test_two_files(tmp_path: Path) -> None:
    a = write_op(tmp_path / "a", "Add x", at=1, inputs=[X, W], outputs=[X])
    b = write_op(tmp_path / "b", "AddV2 y", at=2, inputs=[X, W], outputs=[X + 1])
    table = fastdump.compare(a, b)
    assert table["verdict"].tolist() == ["equal", "equal", "diverges"]
    assert table["paired_by"].tolist() == ["order"] * 3
    np.save(tmp_path / "x.npy", X)
    table = fastdump.compare(a, tmp_path / "x.npy")
    assert sorted(table["status"]) == ["ok", "only_in_a", "only_in_a"]
    assert fastdump.compare(tmp_path / "x.npy", tmp_path / "x.npy")["verdict"].tolist() == ["equal"]


# Hostile


def test_what_both_files_have_of_a_truncated_tensor_is_compared(tmp_path: Path) -> None:
    spec = testing.TensorSpec(X.reshape(-1)[:10], shape=X.shape, size=X.nbytes)
    row = one_pair(tmp_path, spec, X)
    assert (row.status, row.count, row.verdict) == ("truncated", 10, "equal")
    assert "14 elements are missing" in (row.note or "")


def test_a_tensor_that_never_was_written(tmp_path: Path) -> None:
    spec = testing.TensorSpec(b"", dtype="FLOAT", shape=X.shape, size=X.nbytes)
    row = one_pair(tmp_path, spec, X)
    assert row.status in ("absent", "truncated")
    assert row.verdict is None


def test_a_truncated_tensor_without_an_element_is_not_equal(tmp_path: Path) -> None:
    spec = testing.TensorSpec(b"", dtype="FLOAT", shape=X.shape, size=X.nbytes, address=4096)
    row = one_pair(tmp_path, spec, spec)
    assert (row.status, row.count, row.verdict) == ("truncated", 0, None)


def test_sizes_that_contradict_the_shape(tmp_path: Path) -> None:
    flat = X.reshape(-1)
    more = testing.TensorSpec(np.append(flat, flat), shape=X.shape)
    row = one_pair(tmp_path / "more", more, X)
    assert (row.status, row.count, row.verdict) == ("size_mismatch", 24, "equal")
    assert "the rest is ignored" in (row.note or "")
    fewer = testing.TensorSpec(flat[:10], shape=X.shape)
    row = one_pair(tmp_path / "fewer", fewer, X)
    assert (row.status, row.verdict) == ("size_mismatch", None)
    assert "10 elements in a, 24 in b" in (row.note or "")
    unknown = testing.TensorSpec(X, shape=(-1, 6))
    row = one_pair(tmp_path / "unknown", unknown, X)
    assert (row.count, row.verdict) == (24, "equal")


def test_types_that_numpy_lacks_are_not_bit_equal_to_others(tmp_path: Path) -> None:
    stored = testing.device_tensor(np.zeros((20, 40), np.uint8), "FRACTAL_NZ")
    spec = dataclasses.replace(stored, dtype="hifloat8")
    row = one_pair(tmp_path, spec, np.zeros((20, 40), np.float32))
    assert (row.status, row.dtype_a, row.verdict) == ("ok", "hifloat8", "close")
    assert (row.bit_equal, row.ulp_max) == (False, None)


def test_another_shape(tmp_path: Path) -> None:
    row = one_pair(tmp_path, X, X[:2])
    assert (row.status, row.verdict, row.count) == ("size_mismatch", None, None)
    assert row.note == "24 elements in a, 12 in b"
    row = one_pair(tmp_path / "flat", X, X.reshape(-1))
    assert (row.status, row.verdict) == ("ok", "equal")
    assert "shapes differ" in (row.note or "")


def test_types_without_elements(tmp_path: Path) -> None:
    spec = testing.TensorSpec(b"text", dtype="STRING", shape=(1,))
    row = one_pair(tmp_path, spec, X)
    assert (row.status, row.verdict) == ("unsupported", None)
    assert (row.note or "").startswith("a: ")


def test_workspaces_are_not_compared(tmp_path: Path) -> None:
    for side in "ab":
        write_op(tmp_path / side, "Add x", at=1, outputs=[X], spaces=[b"log"])
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    assert table["status"].tolist() == ["ok", "unsupported"]


def test_a_file_that_is_no_dump_and_one_that_vanishes(tmp_path: Path) -> None:
    for side in "ab":
        chain(tmp_path / side, n=2)
    broken = write_op(tmp_path / "a", "Add broken", at=50, outputs=[X])
    write_op(tmp_path / "b", "Add broken", at=50, outputs=[X])
    broken.write_bytes(b"\xff" * 40)
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    (malformed,) = table.filter(status="malformed")
    assert (malformed.op_name, malformed.path_b) == ("broken", None)
    assert (malformed.note or "").startswith("a: ")
    (alone,) = table.filter(status="only_in_b")
    assert alone.op_name_b == "broken"

    from fastdump._compare.run import Comparing
    from fastdump._compare.tolerances import Tolerances

    comparing = Comparing(
        tmp_path / "a",
        tmp_path / "b",
        tolerances=Tolerances(),
        kl=False,
        logical=False,
        names=None,
        threads=1,
        io_depth=None,
        engine="auto",
        follow_links=False,
        selection=fastdump.Selection(),
    )
    next(path for path in (tmp_path / "b").rglob("Mul.layers_1*")).unlink()
    comparing.run(None)
    unreadable = comparing.table().filter(status="unreadable")
    assert {row.op_name for row in unreadable} == {"layers.1/Mul"}
    assert {row.verdict for row in unreadable} == {None}
    assert "No such file" in (unreadable[0].note or "")


def test_nothing_to_compare(tmp_path: Path) -> None:
    chain(tmp_path / "a", n=1)
    (tmp_path / "empty").mkdir()
    with pytest.raises(NoDumpError):
        fastdump.compare(tmp_path / "a", tmp_path / "empty")
    with pytest.raises(FileNotFoundError):
        fastdump.compare(tmp_path / "a", tmp_path / "missing")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_directory(tmp_path: Path) -> None:
    for side in "ab":
        chain(tmp_path / side, n=1)
    (tmp_path / "b").chmod(0)
    try:
        with pytest.raises(OSError, match="Permission"):
            fastdump.compare(tmp_path / "a", tmp_path / "b")
    finally:
        (tmp_path / "b").chmod(0o755)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rtol": -1.0}, "rtol"),
        ({"atol": np.nan}, "atol"),
        ({"max_mismatched": 2.0}, "max_mismatched"),
        ({"engine": "fast"}, "engine"),
        ({"threads": 0}, "threads"),
        ({"io": "inputs"}, "io"),
        ({"step": []}, "step"),
    ],
)
def test_options_that_cannot_be(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    chain(tmp_path / "a", n=1)
    with pytest.raises(ValueError, match=words):
        fastdump.compare(tmp_path / "a", tmp_path / "a", **options)


def test_filters_choose_pairs_and_what_has_no_partner(tmp_path: Path) -> None:
    chain(tmp_path / "a", n=3)
    chain(tmp_path / "b", n=4)
    write_op(tmp_path / "a", "Add other", at=60, inputs=[X])
    table = fastdump.compare(tmp_path / "a", tmp_path / "b", op_type="Mul", io="output")
    assert table["status"].tolist() == ["ok"] * 3 + ["only_in_b"]
    assert set(table["io"]) == {"output"}
    table = fastdump.compare(tmp_path / "a", tmp_path / "b", op_name="*2/Mul")
    assert len(table) == 3
    with pytest.raises(fastdump.NoDumpError, match="no step 7"):
        fastdump.compare(tmp_path / "a", tmp_path / "b", step=7)


def test_progress_is_reported_and_can_end_it(tmp_path: Path) -> None:
    chain(tmp_path / "a", n=3)
    reports: list[fastdump.CompareProgress] = []
    fastdump.compare(tmp_path / "a", tmp_path / "a", progress=reports.append)
    assert (reports[-1].pairs, reports[-1].pairs_done) == (9, 9)
    assert reports[-1].bytes_done == 2 * 3 * (2 * X.nbytes + W.nbytes)

    def stop(progress: fastdump.CompareProgress) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        fastdump.compare(tmp_path / "a", tmp_path / "a", progress=stop)


@pytest.mark.parametrize("engine", ["mmap", "read", "auto"])
@pytest.mark.parametrize("threads", [1, 3])
def test_threads_and_engines_give_the_same_table(tmp_path: Path, engine: Any, threads: int) -> None:
    chain(tmp_path / "a", n=8)
    chain(tmp_path / "b", n=8, wrong={3: 0.1})
    first = fastdump.compare(tmp_path / "a", tmp_path / "b", threads=1, engine="read")
    other = fastdump.compare(tmp_path / "a", tmp_path / "b", threads=threads, engine=engine)
    assert list(first) == list(other)


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    for side in ("a", "b"):
        folder = Path(os.fsdecode(os.fsencode(tmp_path / side) + b"/d\xff"))
        try:
            folder.mkdir(parents=True)
        except OSError:
            pytest.skip("the file system takes UTF-8 only")
        write_op(folder, "Add x", at=1, outputs=[X])
    (row,) = fastdump.compare(tmp_path / "a", tmp_path / "b")
    assert (row.status, row.verdict, row.path_a) == ("ok", "equal", row.path_b)
    assert row.path_a is not None
    assert row.path_a.startswith("d\\xff/")


def test_elements_without_a_size(tmp_path: Path) -> None:
    text = testing.TensorSpec(np.zeros(8, np.uint8), dtype="string")
    for side in ("a", "b"):
        write_op(tmp_path / side, "Add x", at=1, outputs=[text, X])
    first, second = fastdump.compare(tmp_path / "a", tmp_path / "b")
    assert (first.status, second.status) == ("unsupported", "ok")
