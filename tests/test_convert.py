"""`fastdump.convert`: what is in the files that it writes."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from conversions import INT, TIME, X, codes_of, names, tree, values_of, write, write_tree
from truth import ELEMENT_TYPES, packed

import fastdump
from fastdump import Selection, testing
from fastdump._convert import new_conversion
from fastdump._convert.options import FILE_TYPES, Options
from fastdump._convert.source_file import BUFFER_NBYTES


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "dump")


@pytest.mark.parametrize("n", [0, 1, 37, 600_001])
@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_every_type_keeps_its_values(name: str, n: int, tmp_path: Path) -> None:
    element = ELEMENT_TYPES[name]
    codes = codes_of(element, n)
    spec = testing.TensorSpec(packed(element, codes), dtype=element.number, shape=(n,))
    path = write(tmp_path, inputs=[np.zeros(3, np.int8)], outputs=[spec])
    report = fastdump.convert(path, tmp_path / "out")
    assert report.written == 2
    file = tmp_path / "out" / f"{path.name}.output.0.npy"
    array = np.load(file)
    assert file.stat().st_size == 128 + array.nbytes
    if array.dtype.kind == "V":
        array = array.view(getattr(ml_dtypes, name))
    expected = {"uint1": "uint8", "hifloat8": "float32", "float4_e1m2": "float32"}
    assert array.dtype.name == {**expected, "complex32": "complex64"}.get(name, name)
    assert array.shape == (n,)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(values_of(array, element), element.decode(codes))


@pytest.mark.parametrize(
    "array",
    [
        X,
        INT,
        np.float16(3),
        np.zeros((0, 3), np.uint8),
        np.ones((2, 1, 5), np.complex128),
        X.astype(ml_dtypes.bfloat16),
        np.ones(BUFFER_NBYTES + 1, np.bool_),
    ],
    ids=lambda array: f"{array.dtype}",
)
def test_a_file_is_what_numpy_would_save(array: Any, tmp_path: Path) -> None:
    path = write(tmp_path, outputs=[array])
    fastdump.convert(path, tmp_path / "out")
    np.save(tmp_path / "saved.npy", array)
    (file,) = (tmp_path / "out").iterdir()
    assert file.read_bytes() == (tmp_path / "saved.npy").read_bytes()


def test_bfloat16_as_float32(tmp_path: Path) -> None:
    array = np.arange(65536, dtype=np.uint16).view(ml_dtypes.bfloat16)
    path = write(tmp_path, inputs=[np.ones(2, ml_dtypes.float8_e5m2)], outputs=[array])
    fastdump.convert(path, tmp_path / "out", bf16_as_float32=True)
    loaded = np.load(tmp_path / "out" / f"{path.name}.output.0.npy")
    assert loaded.dtype == np.float32
    np.testing.assert_array_equal(loaded, array.astype(np.float32))
    other = np.load(tmp_path / "out" / f"{path.name}.input.0.npy")
    assert other.dtype == "V1"


def test_names_of_all_kinds_of_files(tmp_path: Path) -> None:
    path = write(tmp_path, inputs=[X, INT], outputs=[X], buffers=[b"abc"], spaces=[b"", b"d"])
    stem = path.name
    others = [f"{stem}.l1buffer.0.bin", f"{stem}.space.0.bin", f"{stem}.space.1.bin"]
    expected = {
        "npy": [f"{stem}.{t}.npy" for t in ("input.0", "input.1", "output.0")] + others,
        "msnpy": [f"{stem}.{t}.ND.npy" for t in ("input.0", "input.1", "output.0")] + others,
        "bin": [
            f"{stem}.input.0.12.float32.ND.bin",
            f"{stem}.input.1.6.int64.ND.bin",
            f"{stem}.output.0.12.float32.ND.bin",
            *others,
        ],
        "raw": [f"{stem}.{t}.bin" for t in ("input.0", "input.1", "output.0")] + others,
        "safetensors": [f"{stem}.safetensors"],
    }
    for file_type in FILE_TYPES:
        report = fastdump.convert(path, tmp_path / file_type, type=file_type)
        assert names(tmp_path / file_type) == sorted(expected[file_type])
        assert report.written == len(expected[file_type])
        assert report.nbytes == sum(map(len, tree(tmp_path / file_type).values()))
    assert (tmp_path / "npy" / others[0]).read_bytes() == b"abc"
    assert (tmp_path / "bin" / expected["bin"][1]).read_bytes() == INT.tobytes()
    assert (tmp_path / "raw" / expected["raw"][1]).read_bytes() == INT.tobytes()


def test_msnpy_takes_the_last_part_of_the_operators_name(tmp_path: Path) -> None:
    for op_name, stem in (
        ("Default/net/Add-op0", "Add-op0"),
        ("a.b", "a_b"),
        ("x/..", "x___"),
        ("x/\x1b[2J", "x_\x1b[2J"),
        ("x/", "x_"),
    ):
        path = write(tmp_path / "dump", op_name, outputs=[X])
        out = tmp_path / "out"
        fastdump.convert(path, out, type="msnpy")
        (name,) = names(out)
        assert name == f"Add.{stem}.1.7.{TIME}.output.0.ND.npy"
        (out / name).unlink()


def test_raw_is_what_the_dump_has_and_bin_what_the_shape_asks_for(tmp_path: Path) -> None:
    codes = np.arange(16).astype(ml_dtypes.int4)
    larger = testing.TensorSpec(bytes(range(40)), dtype="float32", shape=(2, 4))
    path = write(tmp_path, inputs=[codes], outputs=[larger])
    for file_type in ("raw", "bin"):
        fastdump.convert(path, tmp_path / file_type, type=file_type)
    stem = path.name
    raw, bins = tree(tmp_path / "raw"), tree(tmp_path / "bin")
    assert len(raw[f"{stem}.input.0.bin"]) == 8
    assert bins[f"{stem}.input.0.16.int4.ND.bin"] == codes.tobytes()
    assert raw[f"{stem}.output.0.bin"] == bytes(range(40))
    assert bins[f"{stem}.output.0.8.float32.ND.bin"] == bytes(range(32))


def test_logical_order(reference_dumps: Path, tmp_path: Path) -> None:
    source = reference_dumps / "layout"
    report = fastdump.convert(source, tmp_path / "host", logical=True)
    assert not report.findings
    expected = {
        "Conv2D.nc1hwc0.1.7.1700000000000000.output.0.2x19x3x5.npy": "ref_nchw.npy",
        "MatMul.fractal_nz.3.7.1700000000000000.output.0.2x35x50.npy": "ref_nd3.npy",
    }
    assert names(tmp_path / "host") == sorted(expected)
    for name, reference in expected.items():
        np.testing.assert_array_equal(
            np.load(tmp_path / "host" / name), np.load(reference_dumps / reference)
        )
    report = fastdump.convert(source, tmp_path / "bin", type="bin", order="NHWC")
    nhwc = np.load(reference_dumps / "ref_nchw.npy").transpose(0, 2, 3, 1)
    assert tree(tmp_path / "bin") == {
        "Conv2D.nc1hwc0.1.7.1700000000000000.output.0.570.float16.NHWC.bin": nhwc.tobytes()
    }
    (failure,) = report.findings
    assert failure.path.endswith("MatMul.fractal_nz.3.7.1700000000000000")
    assert failure.tensor == "output.0"
    assert "FRACTAL_NZ" in failure.reason


def test_tensors_in_the_order_of_the_host_are_as_they_are(tmp_path: Path) -> None:
    short = testing.TensorSpec(bytes(24), dtype="float32", shape=(3, 4))
    path = write(tmp_path, inputs=[X, np.float32(3), short], spaces=[b"log"])
    report = fastdump.convert(path, tmp_path / "out", logical=True)
    assert names(tmp_path / "out") == [
        f"{path.name}.input.0.3x4.npy",
        f"{path.name}.input.1.1.npy",
        f"{path.name}.space.0.bin",
    ]
    assert np.load(tmp_path / "out" / f"{path.name}.input.1.1.npy").shape == ()
    (failure,) = report.findings
    assert failure.tensor == "input.2"
    assert "size 24 is less" in failure.reason


@pytest.mark.parametrize("name", ["float16", "bfloat16", "int8", "int4", "hifloat8", "complex32"])
def test_a_layout_of_any_type(name: str, tmp_path: Path) -> None:
    element = ELEMENT_TYPES[name]
    n, c1, h, w, c0 = 3, 5, 41, 67, 16  # more than a piece
    stored = codes_of(element, n * c1 * h * w * c0)
    spec = testing.TensorSpec(
        packed(element, stored),
        dtype=element.number,
        format="NC1HWC0",
        shape=(n, c1, h, w, c0),
        origin_shape=(n, 70, h, w),
    )
    path = write(tmp_path, outputs=[spec])
    report = fastdump.convert(path, tmp_path / "out", logical=True)
    assert not report.findings
    (file,) = (tmp_path / "out").iterdir()
    assert file.name == f"{path.name}.output.0.3x70x41x67.npy"
    array = np.load(file)
    if array.dtype.kind == "V":
        array = array.view(getattr(ml_dtypes, name))
    parts = stored.shape[1:]
    axes = stored.reshape(n, c1, h, w, c0, *parts).transpose(
        0, 1, 4, 2, 3, *range(5, 5 + len(parts))
    )
    expected = np.ascontiguousarray(axes.reshape(n, c1 * c0, h, w, *parts)[:, :70])
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(values_of(array, element), element.decode(expected))


# Kinds of dump files


def test_all_kinds_of_dump_files(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    testing.write_version_1(dump / f"V1.old.1.7.{TIME}", inputs=[INT], outputs=[X])
    testing.write_nano(dump / f"Nano.n.1.7.{TIME}", inputs=[X], outputs=[INT.astype(np.int32)])
    testing.write_ffts_slices(
        dump, "F", "sliced", threads=2, outputs=[X], task_id=1, stream_id=7, timestamp=TIME,
        context_id=3,
    )  # fmt: skip
    argument = testing.kernel_argument(b"\xff\x01tiling", 3)
    testing.write_dump(dump / f"exception_info.7.1.{TIME}", inputs=[argument], dfx_message="log\n")
    custom = testing.custom_dump_name("mine", timestamp=20261120101112123)
    testing.write_dump(dump / custom, outputs=[X], attrs=[("user_tag", "not json")])
    report = fastdump.convert(dump, tmp_path / "out")
    assert not report.findings
    arrays = {name: np.load(tmp_path / "out" / name) for name in names(tmp_path / "out")}
    expected = {
        f"V1.old.1.7.{TIME}.input.0.npy": INT,
        f"V1.old.1.7.{TIME}.output.0.npy": X,
        f"Nano.n.1.7.{TIME}.input.0.npy": X,
        f"Nano.n.1.7.{TIME}.output.0.npy": INT.astype(np.int32),
        f"F.sliced.1.7.{TIME}.4.3.0.0.output.0.npy": X[:2],
        f"F.sliced.1.7.{TIME + 1}.4.3.1.0.output.0.npy": X[2:],
        f"exception_info.7.1.{TIME}.input.0.npy": np.frombuffer(b"\xff\x01tiling", np.uint8),
        f"{custom}.output.0.npy": X,
    }
    assert arrays.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(arrays[name], array, strict=True)
    (note,) = report.noted
    assert (note.tensor, note.status) == ("input.0", "unsupported")


def test_overflow_records_become_the_vendors_json(tmp_path: Path) -> None:
    name = testing.op_debug_name(task_id=1, stream_id=7, timestamp=TIME)
    payload = testing.op_debug_payload(ai_core={"model_id": 514, "pc_start": 255, "status": 32})
    path = testing.write_op_debug(tmp_path / name, payload)
    for file_type in FILE_TYPES:
        out = tmp_path / file_type
        report = fastdump.convert(path, out, type=file_type)
        assert not report.findings
        if file_type == "raw":
            assert tree(out) == {f"{name}.output.0.bin": payload}
            continue
        (text,) = tree(out).values()
        assert names(out) == [f"{name}.output.0.json"]
        assert text.startswith(b'{\n    "DHA Atomic Add": {\n        "model_id": 0,\n')
        core = json.loads(text)["AI Core"]
        assert (core["model_id"], core["pc_start"], core["status"]) == (514, "0xff", 32)


def test_what_is_no_overflow_record_is_reported(tmp_path: Path) -> None:
    name = testing.op_debug_name(task_id=1, stream_id=7, timestamp=TIME)
    path = testing.write_op_debug(tmp_path / name, testing.op_debug_record(9, {"status": 1}))
    report = fastdump.convert(path, tmp_path / "out")
    (failure,) = report.findings
    assert (failure.path, failure.tensor) == (str(path), "output.0")
    assert "acc_type" in failure.reason
    # A name is no proof of the content.
    path = testing.write_dump(tmp_path / name, outputs=[X], inputs=[INT])
    report = fastdump.convert(path, tmp_path / "out")
    assert names(tmp_path / "out") == [f"{name}.input.0.npy", f"{name}.output.0.npy"]


def test_appended_dumps_have_names_of_their_own(tmp_path: Path) -> None:
    path = write(tmp_path / "dump", outputs=[X], spaces=[b"one"])
    for factor in (2, 3):
        testing.write_dump(path, outputs=[X * factor], spaces=[b"more"], op_name="a", append=True)
    out = tmp_path / "out"
    report = fastdump.convert(path, out)
    assert report.written == 6
    assert names(out) == [
        f"{path.name}.output.0.appended1.npy",
        f"{path.name}.output.0.appended2.npy",
        f"{path.name}.output.0.npy",
        f"{path.name}.space.0.appended1.bin",
        f"{path.name}.space.0.appended2.bin",
        f"{path.name}.space.0.bin",
    ]
    for factor, name in ((1, ""), (2, ".appended1"), (3, ".appended2")):
        array = np.load(out / f"{path.name}.output.0{name}.npy")
        np.testing.assert_array_equal(array, X * factor)
    fastdump.convert(path, tmp_path / "st", type="safetensors")
    assert names(tmp_path / "st") == [
        f"{path.name}.appended1.safetensors",
        f"{path.name}.appended2.safetensors",
        f"{path.name}.safetensors",
    ]


def test_what_holds_no_tensors_is_skipped_and_counted(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    path = write(dump, outputs=[X])
    testing.write_statistics_csv(dump / f"Add.b.1.7.{TIME}.csv", outputs=[X])
    np.save(dump / f"{path.name}.output.0.npy", X)
    (dump / f"{path.name}.space.0.bin").write_bytes(b"log")
    (dump / "readme.txt").write_text("nothing")
    report = fastdump.convert(dump, tmp_path / "out")
    assert (report.files, report.written, report.findings) == (1, 1, ())
    assert report.skipped["statistics, no tensors"] == 1
    assert report.skipped["converted already"] >= 1
    assert sum(report.skipped.values()) == 4


def test_nothing_to_convert_is_an_error(dump: Path, tmp_path: Path) -> None:
    with pytest.raises(fastdump.NoDumpError, match="op_types present: Add, Mul"):
        fastdump.convert(dump, tmp_path / "out", op_type="Conv*")
    testing.write_statistics_csv(tmp_path / "csv" / f"Add.b.1.7.{TIME}.csv", outputs=[X])
    with pytest.raises(fastdump.NoDumpError, match="1 statistics, no tensors"):
        fastdump.convert(tmp_path / "csv", tmp_path / "out")
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "readme").write_text("nothing")
    with pytest.raises(fastdump.NoDumpError, match="1 file skipped"):
        fastdump.convert(tmp_path / "text", tmp_path / "out")
    assert fastdump.convert([tmp_path / "text", dump], tmp_path / "out").files == 5
    with pytest.raises(FileNotFoundError):
        fastdump.convert(tmp_path / "nowhere", tmp_path / "out")


# Tensors that are not as they should be


def test_what_is_there_is_written_and_the_rest_is_told(tmp_path: Path) -> None:
    short = testing.TensorSpec(bytes(range(24)), dtype="float32", shape=(3, 4))
    unknown = testing.TensorSpec(b"abc", dtype=99, shape=(3,))
    text = testing.TensorSpec(b"text", dtype="STRING", shape=(1,))
    six = testing.TensorSpec(b"abc", dtype="FLOAT6_E2M3", shape=(4,))
    flat = testing.TensorSpec(X, shape=())
    path = write(tmp_path, inputs=[short, unknown, text, six], outputs=[flat, X])
    path.write_bytes(path.read_bytes()[:-20])
    report = fastdump.convert(path, tmp_path / "out")
    assert (report.written, report.findings) == (6, ())
    arrays = {
        name.removeprefix(path.name + "."): np.load(tmp_path / "out" / name)
        for name in names(tmp_path / "out")
    }
    np.testing.assert_array_equal(
        arrays["input.0.npy"], np.frombuffer(bytes(range(24)), np.float32), strict=True
    )
    for name, data in (("input.1", b"abc"), ("input.2", b"text"), ("input.3", b"abc")):
        np.testing.assert_array_equal(
            arrays[f"{name}.npy"], np.frombuffer(data, np.uint8), strict=True
        )
    np.testing.assert_array_equal(arrays["output.0.npy"], X.reshape(-1), strict=True)
    np.testing.assert_array_equal(arrays["output.1.npy"], X.reshape(-1)[:7], strict=True)
    noted = {note.tensor: note.status for note in report.noted}
    expected = {"input.0": "size_mismatch", "output.1": "truncated", None: "noted"}
    expected |= {"input.1": "unsupported", "input.2": "unsupported", "input.3": "unsupported"}
    assert {tensor: noted[tensor] for tensor in expected} == expected
    assert all(note.note for note in report.noted)


def test_absent_tensors_are_told_of(tmp_path: Path) -> None:
    missing = testing.TensorSpec(b"", dtype="float32", shape=(3, 4), size=48)
    path = write(tmp_path, inputs=[missing], outputs=[testing.TensorSpec(X, address=1)])
    statuses = {t.name: t.status for op in fastdump.open(path) for t in op.tensors}
    assert "absent" in statuses.values()
    for file_type in FILE_TYPES:
        report = fastdump.convert(path, tmp_path / file_type, type=file_type)
        assert {n.tensor: n.status for n in report.noted if n.tensor} == {
            tensor: status for tensor, status in statuses.items() if status != "ok"
        }
        if file_type != "safetensors":
            n_there = sum(status != "absent" for status in statuses.values())
            assert len(names(tmp_path / file_type)) == n_there


def test_a_file_that_fails_does_not_stop_the_others(dump: Path, tmp_path: Path) -> None:
    broken = dump / "other dir" / f"Bad.bad.1.7.{TIME}"
    broken.write_bytes(b"no dump at all, but with the name of one")
    report = fastdump.convert(dump, tmp_path / "out")
    assert report.written == 13
    (failure,) = report.findings
    assert (failure.path, failure.tensor) == (str(broken), None)
    assert "header" in failure.reason
    assert str(broken) not in failure.reason
    report = fastdump.convert(broken, tmp_path / "out")
    assert (report.files, report.written, len(report.findings)) == (0, 0, 1)


def test_a_file_that_vanishes_or_shrinks_fails_alone(tmp_path: Path) -> None:
    vanished, shrunk, fine = (write(tmp_path / "dump", name, outputs=[X]) for name in "vsf")
    conversion = new_conversion(
        [tmp_path / "dump"],
        tmp_path / "out",
        Options(),
        Selection(),
        threads=1,
        io_depth=None,
        follow_links=False,
    )
    vanished.unlink()
    for op in conversion._sources.dump:
        if op.path == str(shrunk):
            kept = op  # an operator keeps its header while somebody holds it
            assert op.outputs[0].status == "ok"
    os.truncate(shrunk, shrunk.stat().st_size - 1)
    conversion.run(None)
    report = conversion.report()
    assert [Path(failure.path) for failure in report.findings] == [shrunk, vanished]
    assert report.findings[0].reason == "the file changed after its header was read"
    assert report.findings[1].reason == os.strerror(errno.ENOENT)
    assert names(tmp_path / "out") == [f"{fine.name}.output.0.npy"]
    del kept


def test_every_prefix_of_a_file_is_converted_or_reported(
    reference_dumps: Path, tmp_path: Path
) -> None:
    sources = ["struct/Add.full.1", "struct/Add.v1.14", "nano/Add.nano.1", "ffts/Add.ffts_op.1"]
    sources += ["dtype/Cast.dt_INT4.28", "opdebug/Opdebug.Node_OpDebug.1"]
    for number, source in enumerate(sources):
        path = next(path for path in reference_dumps.rglob("*") if source in str(path))
        content = path.read_bytes()
        dump = tmp_path / str(number)
        dump.mkdir()
        end = 300 if "opdebug" in source else len(content)
        for length in range(end):
            parts = path.name.split(".")
            parts[4] = str(TIME + length)
            (dump / ".".join(parts)).write_bytes(content[:length])
        out = tmp_path / f"out{number}"
        report = fastdump.convert(dump, out)
        n_broken = sum(failure.tensor is None for failure in report.findings)
        assert report.files + n_broken == end
        for file in out.iterdir():
            if file.suffix == ".npy":
                np.load(file, mmap_mode="r")


def test_mutated_headers_are_converted_or_reported(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    whole = write(tmp_path, inputs=[X], outputs=[INT], spaces=[b"log"]).read_bytes()
    dump = tmp_path / "dump"
    dump.mkdir()
    for number in range(400):
        content = bytearray(whole)
        for at in rng.integers(0, 120, rng.integers(1, 4)):
            content[at] = rng.integers(0, 256)
        (dump / f"Add.a.1.7.{TIME + number}").write_bytes(content)
    for number, options in enumerate([{}, {"type": "safetensors"}, {"logical": True}]):
        out = tmp_path / str(number)
        report = fastdump.convert(dump, out, **options)  # type: ignore[arg-type]
        assert report.written == len(names(out)) - ("mapping.csv" in names(out))
        for file in out.glob("*.npy"):
            np.load(file, mmap_mode="r")
