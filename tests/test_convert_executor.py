"""Conversions whose files are read by workers: files and report of one process, whoever works."""

from __future__ import annotations

from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conversions import INT, TIME, X, tree, write, write_tree
from elsewhere import Elsewhere
from sample_dumps import Demos, write_unusual

import fastdump
from fastdump import ConvertReport, testing


def document(report: ConvertReport) -> dict[str, Any]:
    """Return all that a report tells but where the files are."""
    return {**report.to_dict(), "out": None, "sentence": None}


def content(root: Path) -> dict[str, object]:
    """Return the content of all files; rows of mapping.csv come in any order."""
    return {
        name: sorted(data.splitlines()) if name.endswith("mapping.csv") else data
        for name, data in tree(root).items()
    }


def assert_same(what: Any, to: Path, executor: Executor, **options: Any) -> ConvertReport:
    """Check that a conversion by workers does what one without them does; return its report."""
    expected = fastdump.convert(what, to / "alone", **options)
    report = fastdump.convert(what, to / "workers", executor=executor, **options)
    assert content(to / "workers") == content(to / "alone")
    assert document(report) == document(expected)
    assert report.findings == expected.findings
    assert report.noted == expected.noted
    return report


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"type": "msnpy"},
        {"type": "safetensors", "bf16_as_float32": True},
        {"logical": True, "threads": 2, "io_depth": 3},
        {"type": "bin", "io": "output", "op_type": ["Add", "MatMul*"]},
    ],
    ids=["npy", "msnpy", "safetensors", "logical", "conditions"],
)
def test_the_same_files_and_report(
    options: dict[str, Any],
    demos: Demos,
    pool: Executor,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unusual = write_unusual(tmp_path / "unusual")
    (unusual / "notes.txt").write_text("no dump")
    write_tree(tmp_path / "tree")
    monkeypatch.chdir(tmp_path)  # workers have another directory
    inputs = {"model": str(demos.model), "odd": "unusual", "several": ["tree", "./unusual"]}
    for name, what in inputs.items():
        report = assert_same(what, tmp_path / "out" / name, pool, **options)
        assert report.written > 1
        if not options and name != "model":
            assert {Path(failure.path).parts[0] for failure in report.findings} == {"unusual"}
            assert report.noted


def test_what_is_opened_already_and_rows_of_tables(
    demos: Demos, pool: Executor, tmp_path: Path
) -> None:
    some = fastdump.open(demos.model).select(rank=0, io="input")[3:40]
    assert assert_same(some, tmp_path / "dump", pool).files == 37
    rows = fastdump.stats(demos.model, step=0).filter(dtype="float16")[::3]
    assert 0 < assert_same(rows, tmp_path / "rows", pool).written == len(rows)


def test_complete_files_are_kept(demos: Demos, pool: Executor, tmp_path: Path) -> None:
    report = fastdump.convert(demos.overflow, tmp_path, executor=pool)
    again = fastdump.convert(demos.overflow, tmp_path, executor=pool)
    assert (again.written, again.kept) == (0, report.written)


def test_of_files_that_get_one_name_the_first_has_it(tmp_path: Path) -> None:
    """All files that may meet are one worker's, though there is a worker for each file."""
    for directory in "abc":
        write(tmp_path / directory, outputs=[X])
        write(tmp_path / directory, f"only/{directory}", outputs=[INT])
    files = [path for directory in "abc" for path in (tmp_path / directory).iterdir()]
    many = Elsewhere()
    many._max_workers = len(files)  # type: ignore[attr-defined]
    report = fastdump.convert(files, tmp_path / "out", executor=many)
    assert (report.written, len(report.findings)) == (4, 2)
    assert all("files of these names were made of" in one.reason for one in report.findings)
    many.results.clear()
    report = assert_same([tmp_path / name for name in "abc"], tmp_path / "several", many)
    assert (report.written, len(many.results)) == (6, 3)
    many.results.clear()
    # In "a", both names end with "a", which is all that this type takes of them.
    report = fastdump.convert(tmp_path / "a", tmp_path / "short", type="msnpy", executor=many)
    assert (report.written, len(report.findings), len(many.results)) == (1, 1, 1)
    many.results.clear()
    assert assert_same(tmp_path / "a", tmp_path / "one", many).written == len(many.results) == 2


def test_digits_are_told_by_all_workers(tmp_path: Path) -> None:
    """Workers that write rows into one mapping.csv keep each other's."""
    for at in range(8):
        name = testing.dump_name("Add", f"{at}{'n' * 220}", task_id=1, stream_id=1, timestamp=TIME)
        testing.write_dump(tmp_path / "dump" / name, outputs=[X + at])
    report = assert_same(tmp_path / "dump", tmp_path / "out", Elsewhere())
    assert report.written == len(report.renamed) == 8


def test_nothing_to_convert(demos: Demos, tmp_path: Path) -> None:
    testing.write_statistics_csv(tmp_path / "a" / "Add.a.1.2.1700000000000000.csv", outputs=[X])
    with pytest.raises(fastdump.NoDumpError) as alone:
        fastdump.convert(tmp_path / "a", tmp_path / "out")
    with pytest.raises(fastdump.NoDumpError) as by_workers:
        fastdump.convert(tmp_path / "a", tmp_path / "out", executor=Elsewhere())
    assert str(by_workers.value) == str(alone.value)
    write(tmp_path / "a", outputs=[X])
    assert assert_same(tmp_path / "a", tmp_path / "both", Elsewhere()).written == 1


def test_errors_end_the_conversion(tmp_path: Path) -> None:
    dump = write_tree(tmp_path / "dump")
    (tmp_path / "file").write_text("")
    nobody = Elsewhere()
    with pytest.raises(NotADirectoryError, match="file"):
        fastdump.convert(dump, tmp_path / "file" / "out", executor=nobody)
    assert nobody.results == []

    def fail(name: str) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fastdump.convert(dump, tmp_path / "out", executor=Elsewhere(fail))


def test_progress_is_told_of_parts(tmp_path: Path) -> None:
    dump = write_tree(tmp_path / "dump")
    seen: list[Any] = []
    report = fastdump.convert(dump, tmp_path / "out", executor=Elsewhere(), progress=seen.append)
    assert (seen[-1].files_done, seen[-1].files_found) == (5, 5)
    assert seen[-1].bytes_done == report.nbytes

    def interrupt(progress: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fastdump.convert(dump, tmp_path / "more", executor=Elsewhere(), progress=interrupt)
    assert np.load(next((tmp_path / "more").rglob("*.npy"))).size
