"""Tensors that the core copies: the same files and report as if each file were converted alone."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from conversions import INT, X, names, tree, write, write_tree
from elsewhere import Elsewhere
from sample_dumps import write_unusual

import fastdump
from fastdump import ConvertReport, _core, testing
from fastdump._convert import new_conversion, stored
from fastdump._convert.options import Options
from fastdump._convert.source_file import SourceFile
from fastdump._convert.stored import StoredTensors
from fastdump._selection import Selection
from fastdump.errors import TableTooLargeError

OPTIONS: list[dict[str, Any]] = [
    {},
    {"type": "bin"},
    {"type": "raw"},
    {"type": "msnpy"},
    {"type": "safetensors"},
    {"bf16_as_float32": True},
    {"logical": True},
    {"io": "output"},
    {"dtype": "float*"},
    {"step": 1},
]


def converted(
    what: Any, out: Path, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> list[ConvertReport]:
    """Convert with the core's help and without it; the output directories are called alike."""
    found = []
    for side in ("core", "alone"):
        with monkeypatch.context() as patch:
            if side == "alone":
                patch.setattr(StoredTensors, "copy", lambda *_: None)
            report = fastdump.convert(what, out / side / "out", **options)
        found.append(replace(report, out="out"))
    return found


def made(root: Path) -> dict[str, object]:
    """Return the content of all files; threads write the rows of mapping.csv in any order."""
    return {
        name: sorted(content.splitlines()) if name.endswith("mapping.csv") else content
        for name, content in tree(root).items()
    }


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", ["tree", "unusual", "both"])
def test_what_the_core_copies_is_as_converted_alone(
    kind: str, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = tmp_path / "dump"
    if kind != "unusual":
        write_tree(dump / "tree")
        bfloat16 = np.arange(9).astype(ml_dtypes.bfloat16)
        write(dump / "tree", "types", outputs=[bfloat16, X.astype(np.float64), np.float16(3)])
        write(dump / "tree", "n" * 210, outputs=[X])
        # Dumps that follow in one file, and a file that ends early.
        file = write(dump / "tree", "appended", outputs=[X])
        file.write_bytes(file.read_bytes() * 2)
        file = write(dump / "tree", "cut", inputs=[INT], outputs=[X])
        file.write_bytes(file.read_bytes()[:-1])
        (dump / "tree" / "123456789012345678901234567890").write_bytes(
            write(tmp_path, "digits", outputs=[X]).read_bytes()
        )
    if kind != "tree":
        write_unusual(dump / "unusual")
    what = sorted(dump.iterdir()) if kind == "both" else dump
    if kind == "unusual" and "step" in options:
        options = {"op_type": "A*"}
    core, alone = converted(what, tmp_path, monkeypatch, **options)
    assert core == alone
    assert made(tmp_path / "core") == made(tmp_path / "alone")


def test_reference_dumps_are_as_converted_alone(
    reference_dumps: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core, alone = converted(reference_dumps, tmp_path, monkeypatch)
    assert core == alone
    assert made(tmp_path / "core") == made(tmp_path / "alone")


def test_rows_of_a_table_are_as_converted_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = fastdump.stats(write_tree(tmp_path / "dump"))
    core, alone = converted(table[::3], tmp_path, monkeypatch)
    assert core == alone
    assert made(tmp_path / "core") == made(tmp_path / "alone") != {}


def test_files_that_are_given_twice_are_as_converted_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = write_tree(tmp_path / "dump")
    core, alone = converted([dump, dump / "other dir"], tmp_path, monkeypatch, threads=1)
    assert core == alone
    assert made(tmp_path / "core") == made(tmp_path / "alone") != {}


@pytest.fixture
def no_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no file be read but by the core."""

    def pieces(self: SourceFile, offset: int, nbytes: int) -> Iterator[memoryview]:
        raise AssertionError(f"{offset} {nbytes}")

    monkeypatch.setattr(SourceFile, "pieces", pieces)


@pytest.mark.usefixtures("no_pieces")
@pytest.mark.parametrize("file_type", ["npy", "bin", "raw"])
def test_plain_tensors_are_copied_by_the_core(file_type: Any, tmp_path: Path) -> None:
    arrays = [X, INT, X.astype(np.float16), np.arange(5).astype(ml_dtypes.float8_e4m3fn)]
    file = write(
        tmp_path / "dump", inputs=arrays, outputs=[X], buffers=[b"buffer"], spaces=[b"log"]
    )
    progress: list[fastdump.ConvertProgress] = []
    report = fastdump.convert(
        tmp_path / "dump", tmp_path / "out", type=file_type, progress=progress.append
    )
    nbytes = sum(len(content) for content in tree(tmp_path / "out").values())
    assert (report.files, report.written, report.nbytes) == (1, 7, nbytes)
    last = progress[-1]
    assert (last.files_found, last.files_done, last.bytes_done) == (1, 1, nbytes)
    if file_type == "npy":
        for i, array in enumerate(arrays):
            loaded = np.load(tmp_path / "out" / f"{file.name}.input.{i}.npy").view(array.dtype)
            assert loaded.dtype == array.dtype
            np.testing.assert_array_equal(loaded, array)
    if file_type == "raw":
        assert (tmp_path / "out" / f"{file.name}.input.1.bin").read_bytes() == INT.tobytes()


def test_progress_is_of_the_same_bytes_whoever_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = write_tree(tmp_path / "dump")
    for side in ("core", "alone"):
        if side == "alone":
            monkeypatch.setattr(StoredTensors, "copy", lambda *_: None)
        seen: list[fastdump.ConvertProgress] = []
        fastdump.convert(dump, tmp_path / side, executor=Elsewhere(), progress=seen.append)
        assert seen[-1].bytes_done == sum(map(len, tree(tmp_path / side).values()))


def test_what_the_core_wrote_is_not_written_again(tmp_path: Path) -> None:
    """One of two tensors cannot be written: the other is, once."""
    file = write(tmp_path / "dump", inputs=[X], outputs=[X])
    out = tmp_path / "out"
    (out / f"{file.name}.output.0.npy").mkdir(parents=True)
    for overwrite in (True, False):
        report = fastdump.convert(file, out, overwrite=overwrite)
        (failure,) = report.findings
        assert failure.tensor == "output.0"
        assert (report.files, report.written, report.kept) == (1, overwrite, not overwrite)
        assert (out / f"{file.name}.input.0.npy").is_file()


@pytest.mark.usefixtures("no_pieces")
def test_an_interruption_counts_what_the_core_has_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "dump", outputs=[X])
    make = _core.Extraction

    class Interrupted:
        def __init__(self, **plan: Any) -> None:
            self._extraction = make(**plan)

        def run(self, on_progress: Any, interval_s: float) -> None:
            self._extraction.run(on_progress, interval_s)
            signal.raise_signal(signal.SIGINT)

        def outcomes(self) -> bytes:
            return self._extraction.outcomes()

    monkeypatch.setattr(_core, "Extraction", Interrupted)
    conversion = new_conversion(
        [tmp_path / "dump"],
        tmp_path / "out",
        Options(),
        Selection(),
        threads=1,
        io_depth=None,
        follow_links=False,
    )
    with pytest.raises(KeyboardInterrupt):
        conversion.run(None)
    report = conversion.report()
    assert (report.files, report.written) == (1, 1)
    assert len(names(tmp_path / "out")) == 1


@pytest.mark.parametrize("error", [TableTooLargeError("too large"), MemoryError()])
def test_headers_that_take_too_much_are_read_alone(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_much(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("fastdump._dump.chosen.TableScan.run", too_much)
    write(tmp_path / "dump", outputs=[X])
    report = fastdump.convert(tmp_path / "dump", tmp_path / "out")
    assert (report.files, report.written, report.clean) == (1, 1, True)


def test_a_file_that_is_replaced_once_headers_are_read_says_nothing_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files look like the first one with tensors of their type and shape, if it still has these."""
    for name in ("a0", "a1"):
        write(tmp_path / "dump", name, outputs=[X])
    found, turned = stored._sound_files, X.reshape(X.shape[::-1])
    assert turned.shape != X.shape

    def found_and_replaced(headers: Any) -> Any:
        files = list(found(headers))
        write(tmp_path / "dump", "a0", outputs=[turned])
        return files

    monkeypatch.setattr(stored, "_sound_files", found_and_replaced)
    report = fastdump.convert(tmp_path / "dump", tmp_path / "out")
    assert (report.written, report.clean) == (2, True)
    first, second = (np.load(tmp_path / "out" / name) for name in names(tmp_path / "out"))
    np.testing.assert_array_equal(first, turned)
    np.testing.assert_array_equal(second, X)


def test_files_of_too_many_tensors_are_converted_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastdump._convert.stored._MAX_ROWS", 2)
    monkeypatch.setattr("fastdump._convert.stored._sound_files", None)
    write(tmp_path / "dump", inputs=[X, X], outputs=[X])
    report = fastdump.convert(tmp_path / "dump", tmp_path / "out")
    assert (report.written, report.clean) == (3, True)


def test_many_files_are_planned_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(7):
        write(tmp_path / "dump", f"a{i}", outputs=[X + i])
    testing.write_statistics_csv(tmp_path / "dump" / "b.csv", outputs=[X])
    monkeypatch.setattr("fastdump._convert.stored._FILES", 3)
    monkeypatch.setattr(SourceFile, "pieces", None)
    report = fastdump.convert(tmp_path / "dump", tmp_path / "out")
    assert (report.files, report.written) == (7, 7)
    for i in range(7):
        [path] = (tmp_path / "out").glob(f"Add.a{i}.*")
        np.testing.assert_array_equal(np.load(path), X + i)
