"""`fastdump convert`: in its own words, and in those of the vendor's command."""

from __future__ import annotations

import errno
import json
import os
import shlex
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from conversions import TIME, X, write

import fastdump
from fastdump import testing
from fastdump._cli import main
from fastdump._convert.conversion import Conversion

BF16 = X.astype(ml_dtypes.bfloat16)
FAILED_LIST = "convert_failed_file_list.txt"


def names(root: Path) -> list[str]:
    """Return the files below `root`, without what is the same in all their names."""
    files = (str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
    return sorted(name.replace(f".1.7.{TIME}", "") for name in files)


def load(root: Path, name: str) -> Any:
    op_type, op_name, rest = name.split(".", 2)
    return np.load(root / f"{op_type}.{op_name}.1.7.{TIME}.{rest}")


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Operators of two types in a directory, and one more below it."""
    root = tmp_path / "dump"
    write(root, "a", inputs=[BF16], outputs=[np.float32(3)])
    write(root, "m", op_type="Mul", outputs=[X], spaces=[b"log"])
    write(root / "below", "b", outputs=[X])
    return root


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


# In its own words


def test_it_converts_a_tree_and_says_so(
    dump: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", str(dump), str(out)]) == 0
    stdout, stderr = capsys.readouterr()
    assert stderr == ""
    nbytes = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    assert stdout.startswith(f"3 dump files: 5 files written to {out}, {nbytes} B\n{nbytes} B in ")
    assert stdout.count("\n") == 2
    assert names(out) == [
        "Add.a.input.0.npy",
        "Add.a.output.0.npy",
        "Mul.m.output.0.npy",
        "Mul.m.space.0.bin",
        "below/Add.b.output.0.npy",
    ]
    assert load(out, "Add.a.input.0.npy").view(ml_dtypes.bfloat16).tolist() == BF16.tolist()
    assert load(out, "Add.a.output.0.npy").shape == ()

    assert main(["convert", str(dump), str(out)]) == 0
    stdout = capsys.readouterr().out
    assert stdout.startswith(f"3 dump files: 0 files written to {out}, 0 B\n")
    assert "\n5 files kept: complete already\n" in stdout
    assert main(["convert", str(dump), str(out), "--overwrite"]) == 0
    assert "kept" not in capsys.readouterr().out


def test_options_reach_the_conversion(dump: Path, out: Path) -> None:
    arguments = ["--op-type", "A*", "--io", "input", "--bf16-as-float32", "--threads", "1"]
    alone = write(dump.parent / "elsewhere", "c", inputs=[BF16], outputs=[X])
    assert main(["convert", str(alone), str(dump), str(out), *arguments]) == 0
    assert names(out) == ["Add.c.input.0.npy", "dump/Add.a.input.0.npy"]
    assert load(out, "Add.c.input.0.npy").dtype == np.float32
    assert main(["convert", str(dump), str(out / "st"), "-t", "safetensors"]) == 0
    assert len(names(out / "st")) == 3
    nz = testing.TensorSpec(
        np.arange(512, dtype=np.float16).reshape(2, 1, 16, 16),
        format="FRACTAL_NZ",
        origin_shape=(10, 20),
    )
    path = write(dump, "nz", outputs=[nz])
    assert main(["convert", str(path), str(out / "nz"), "--logical"]) == 0
    assert names(out / "nz") == ["Add.nz.output.0.10x20.npy"]


def test_what_is_odd_is_told_and_is_no_failure(
    dump: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for i in range(5):
        write(dump, f"u{i}", outputs=[testing.TensorSpec(b"abc", dtype=99, shape=(3,))])
    write(dump, "n" * 230, outputs=[X])
    (dump / "readme.txt").write_text("nothing")
    assert main(["convert", str(dump), str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "1 file named with digits; mapping.csv beside them says which is which" in lines
    at = lines.index("unsupported: 5")
    assert lines[at + 1].endswith(f"Add.u0.1.7.{TIME}: output.0: unknown data type 99")
    assert lines[at + 4] == "  ... and 2 more"
    assert lines[-2].startswith("skipped: 1 (")


def test_files_that_failed_are_named_and_the_exit_code_says_so(
    dump: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for i in range(30):
        (dump / f"Bad.\x1b{i}.1.7.{TIME}").write_bytes(b"bad")
    assert main(["convert", str(dump), str(out)]) == 3
    stdout = capsys.readouterr().out
    assert "\x1b" not in stdout
    assert "\nfailed: 30\n" in stdout
    for i in range(30):
        assert f"  {dump}/Bad.\\x1b{i}.1.7.{TIME}: " in stdout
    assert len(names(out)) == 5


def test_json(dump: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = dump / f"Bad.bad.1.7.{TIME}"
    bad.write_bytes(b"bad")
    long = write(dump, "n" * 230, outputs=[X])
    write(dump, "u", outputs=[testing.TensorSpec(b"abc", dtype=99, shape=(3,))])
    assert main(["convert", str(dump), str(out), "--json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert document["fastdump"] == fastdump.__version__
    assert (document["out"], document["interrupted"]) == (str(out), False)
    assert (document["files"], document["written"], document["kept"]) == (5, 7, 0)
    (failure,) = document["findings"]
    assert (failure["path"], failure["tensor"]) == (str(bad), None)
    assert failure["reason"]
    (note,) = document["noted"]
    assert (note["tensor"], note["status"]) == ("output.0", "unsupported")
    assert list(document["renamed"].values()) == [f"{long.name}.output.0.npy"]


def test_an_interruption_prints_what_was_done(
    dump: Path, out: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Conversion.run

    def interrupted(self: Conversion, *arguments: Any) -> None:
        run(self, *arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(Conversion, "run", interrupted)
    assert main(["convert", str(dump), str(out), "--json"]) == 130
    stdout, stderr = capsys.readouterr()
    assert stderr == (
        "fastdump: interrupted after 3 of 3 files; the same command goes on from here\n"
    )
    document = json.loads(stdout)
    assert (document["interrupted"], document["written"]) == (True, 5)


def test_nothing_to_convert_is_exit_code_2(
    dump: Path, tmp_path: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", str(dump), str(out), "--op-type", "Conv*"]) == 2
    assert "no op_type 'Conv*' (op_types present: Add, Mul)" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(["convert", str(tmp_path / "empty"), str(out)]) == 2
    assert not out.exists()
    out.write_text("")
    assert main(["convert", str(dump), str(out)]) == 2
    assert capsys.readouterr().err.endswith(f"{out}: {os.strerror(errno.EEXIST)}\n")


def test_the_help_has_a_section_of_the_vendors_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "--help"]) == 0
    own, vendors = capsys.readouterr().out.split("The vendor's spelling:\n")
    assert own.splitlines()[0] == "Usage: fastdump convert [OPTIONS] PATH... OUT"
    assert "-t, --type" in own
    assert "--op-type" in own
    assert "convert_failed_file_list.txt" in own
    for option in ("-d, --dump_file", "-out, --output", "-v [1|2]", "-f, --format", "-c,"):
        assert option in vendors
        assert option not in own


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "PATH... and OUT are needed"),
        (["x"], "PATH... and OUT are needed"),
        (["x", "out", "-t", "pt"], "'pt' is not one of 'npy', 'msnpy', 'bin', 'raw'"),
        (["x", "out", "--order", "FRACTAL_NZ"], "Invalid value for '--order'"),
        (["x", "out", "-f", "NCHW"], "-f belongs to the vendor's spelling, which needs -d"),
        (["x", "-out", "out"], "-out belongs to the vendor's spelling, which needs -d"),
        (["x", "out", "-v", "2"], "-v belongs to the vendor's spelling, which needs -d"),
        (["-d", "x", "y"], "with -d, paths are given to -d and -out"),
        (["-d", "x", "-out", "y", "--order", "NCHW"], "--logical, --order: with -d, this is -f"),
        (["-d", "x", "-o", "0"], "-o needs -f"),
        (["-d", "x", "-i", "0"], "-i needs -f"),
        (["-d", "x", "-s", "1,2"], "-s needs -f"),
        (["-d", "x", "-f", "ND", "-i", "0", "-o", "0"], "-i and -o exclude each other"),
        (["-d", "x", "-f", "FRACTAL_NZ"], "Invalid value for '-f'"),
        (["-d", "x", "-f", "ND", "-s", "1,x"], "'1,x' is not a list of numbers"),
        (["-d", "x", "-f", "ND", "-o", "-1"], "Invalid value for '-o'"),
        (["-d", "x", "-v", "3"], "Invalid value for '-v'"),
        (["-d", "x", "-c", "scripts"], "-c: scripts that convert formats are not run"),
        (["-d", ","], "-d names no path"),
        (["-d", "/nowhere/at all"], "/nowhere/at all: No such file or directory"),
    ],
)
def test_wrong_usage(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", *arguments]) == 2
    stdout, stderr = capsys.readouterr()
    assert stdout == ""
    assert message in stderr
    assert stderr.count("\n") == 1


# In the vendor's words


def test_a_directory_is_not_descended(dump: Path, out: Path) -> None:
    assert main(["convert", "-d", str(dump), "-out", str(out), "-v", "2"]) == 0
    assert names(out) == [
        "Add.a.input.0.npy",
        "Add.a.output.0.npy",
        "Mul.m.output.0.npy",
        "Mul.m.space.0.bin",
    ]
    assert main(["convert", "-d", str(dump.parent), "-out", str(out)]) == 2


def test_arrays_are_of_numpys_own_types_and_have_a_dimension(dump: Path, out: Path) -> None:
    arrays = {
        "bfloat16": X,
        "float8_e4m3fn": np.array([1.5, np.nan, -448]),
        "float8_e5m2": np.array([np.inf, -np.inf, 57344]),
        "float8_e8m0fnu": np.array([2.0**-127, 2.0**127, np.nan]),
        "float4_e2m1fn": np.array([0.5, -6]),
        "int4": np.arange(-8, 8),
        "uint2": np.arange(4),
    }
    for name, array in arrays.items():
        write(dump, name, outputs=[array.astype(getattr(ml_dtypes, name))])
    codes = testing.TensorSpec(np.array([0x08, 0x10, 0x80], np.uint8), dtype="hifloat8")
    write(dump, "hifloat8", outputs=[codes])
    write(dump, "undefined", outputs=[testing.TensorSpec(b"\xff\x01", dtype="UNDEFINED")])
    assert main(["convert", "-d", str(dump), "-out", str(out)]) == 0
    expected_types = {"int4": "int8", "uint2": "uint8"}
    for name, array in arrays.items():
        loaded = load(out, f"Add.{name}.output.0.npy")
        assert loaded.dtype == expected_types.get(name, "float32")
        truth = array.astype(getattr(ml_dtypes, name)).astype(np.float64)
        np.testing.assert_array_equal(loaded.astype(np.float64), truth)
    np.testing.assert_array_equal(load(out, "Add.hifloat8.output.0.npy"), [1, 2, np.nan])
    undefined = load(out, "Add.undefined.output.0.npy")
    np.testing.assert_array_equal(undefined, np.array([-1, 1], np.int8), strict=True)
    scalar = load(out, "Add.a.output.0.npy")
    np.testing.assert_array_equal(scalar, np.array([3], np.float32), strict=True)


def test_several_paths_and_the_current_directory(
    dump: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out.mkdir()
    monkeypatch.chdir(out)
    with_comma = write(dump / "a,b", "c", outputs=[X])
    paths = f"{dump / 'below'},../dump/Mul.m.1.7.{TIME}"
    assert main(["convert", "--dump_file", paths]) == 0
    assert main(["convert", f"-d{with_comma}"]) == 0
    assert names(out) == [
        "Add.b.output.0.npy",
        "Add.c.output.0.npy",
        "Mul.m.output.0.npy",
        "Mul.m.space.0.bin",
    ]


def test_types_of_files(dump: Path, out: Path) -> None:
    path = write(dump, "x/last", inputs=[BF16], outputs=[X])
    for file_type in ("bin", "msnpy"):
        directory = out / file_type
        assert main(["convert", "-d", str(path), "-out", str(directory), "-t", file_type]) == 0
    assert names(out) == [
        "bin/Add.x_last.input.0.12.float32.ND.bin",
        "bin/Add.x_last.output.0.12.float32.ND.bin",
        "msnpy/Add.last.input.0.ND.npy",
        "msnpy/Add.last.output.0.ND.npy",
    ]


@pytest.fixture
def device_dump(tmp_path: Path) -> Path:
    """Return a file with inputs in two formats and an output, and its host arrays beside."""
    rng = np.random.default_rng(0)
    nc1hwc0 = rng.standard_normal((2, 2, 3, 5, 16)).astype(np.float16)
    nz = rng.standard_normal((4, 3, 16, 16)).astype(np.float16)
    nchw = nc1hwc0.transpose(0, 1, 4, 2, 3).reshape(2, 32, 3, 5)[:, :19]
    matrix = nz.transpose(1, 2, 0, 3).reshape(48, 64)[:35, :50]
    np.savez(tmp_path / "host", nchw=nchw, matrix=matrix)
    return write(
        tmp_path / "dump",
        "d",
        inputs=[
            testing.TensorSpec(nc1hwc0, format="NC1HWC0", origin_shape=(2, 19, 3, 5)),
            testing.TensorSpec(nz, format="FRACTAL_NZ", origin_shape=()),
            testing.TensorSpec(nz, format="FRACTAL_NZ", origin_shape=()),
        ],
        outputs=[testing.TensorSpec(nc1hwc0, format="NC1HWC0", origin_shape=(2, 19, 3, 5))],
    )


def test_formats_and_single_tensors(device_dump: Path, tmp_path: Path, out: Path) -> None:
    host = np.load(tmp_path / "host.npz")
    start = ["convert", "-d", str(device_dump), "-out", str(out)]
    assert main([*start, "-f", "NCHW", "-o", "0"]) == 0
    assert names(out) == ["Add.d.output.0.2x19x3x5.npy"]
    np.testing.assert_array_equal(load(out, names(out)[0]), host["nchw"], strict=True)
    # The vendor's takes a corner of 2x5x3x2.
    assert main([*start, "--format", "HWCN", "--input_tensor", "0"]) == 0
    np.testing.assert_array_equal(
        load(out, "Add.d.input.0.3x5x19x2.npy"), host["nchw"].transpose(2, 3, 1, 0), strict=True
    )
    assert main([*start, "-f", "ND", "-i", "1", "-s", "35,50"]) == 0
    np.testing.assert_array_equal(load(out, "Add.d.input.1.35x50.npy"), host["matrix"], strict=True)


def test_failed_files_are_listed(
    device_dump: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = device_dump.parent / f"Bad.x\n.1.7.{TIME}"
    bad.write_bytes(b"bad")
    directory = os.path.relpath(device_dump.parent)
    start = ["convert", "-d", directory, "-out", str(out)]
    assert main([*start, "-f", "NCHW", "-o", "7"]) == 3
    assert "there is no output 7" in capsys.readouterr().out
    lines = (out / FAILED_LIST).read_text().splitlines()
    assert sorted(lines) == [str(device_dump), str(bad).replace("\n", "\\n")]
    # Each once, however many of its tensors failed.
    bad.unlink()
    assert main([*start, "-f", "NDHWC"]) == 3
    assert (out / FAILED_LIST).read_text() == f"{device_dump}\n"
    assert main(start) == 0
    assert not (out / FAILED_LIST).exists()
    assert main(["convert", directory, str(out / "own")]) == 0
    assert not (out / "own" / FAILED_LIST).exists()


def test_files_below_a_directory_of_the_vendors_option_are_found_by_the_command_that_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "a dump" / "0" / "1", outputs=[X])
    out = tmp_path / "out"
    assert main(["convert", "-d", str(tmp_path / "a dump"), "-out", str(out)]) == 2
    message, _, command = capsys.readouterr().err.strip().partition("below it: ")
    assert message.endswith("as -d does not descend; to convert 1 file ")
    program, *arguments = shlex.split(command)
    assert program == "fastdump"
    assert main(arguments) == 0
    assert len(names(out)) == 1
    (tmp_path / "empty").mkdir()
    assert main(["convert", "-d", str(tmp_path / "empty"), "-out", str(out)]) == 2
    assert "descend" not in capsys.readouterr().err
