"""`fastdump stats`: what it prints, writes and returns."""

from __future__ import annotations

import errno
import json
import shlex
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import fastdump
from fastdump import _progress, testing
from fastdump._cli import main, scanning
from fastdump._progress import ProgressBar
from fastdump._selection import Selection
from fastdump._stats import new_scan
from fastdump._table.row_text import COLUMNS

CLEAN = np.linspace(-3, 4, 24, dtype=np.float32).reshape(4, 6)
MASK = np.where(np.eye(4), np.float16(-np.inf), np.float16(2))
OVERFLOWED = np.array([[65504, np.inf, np.nan], [-np.inf, np.inf, 0.5]], ml_dtypes.bfloat16)


def write_op(
    root: Path, name: str, *, timestamp: int, rank: int = 0, step: int = 0, **tensors: object
) -> Path:
    directory = testing.model_dump_dir(
        testing.rank_dir(root, world_size=2, rank=rank),
        time="20261120101112",
        device=rank,
        model="net",
        model_id=1,
        step=step,
    )
    op_type, _, op_name = name.partition(" ")
    file_name = testing.dump_name(
        op_type, op_name, task_id=timestamp % 100, stream_id=3, timestamp=10**15 + timestamp
    )
    return testing.write_dump(directory / file_name, op_name=op_name, **tensors)  # type: ignore[arg-type]


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Two ranks, two steps: NaN and Inf late in step 1, a mask, and all else as it should be."""
    root = tmp_path / "dump"
    write_op(root, "Add layers.0/Add", timestamp=1, inputs=[CLEAN], outputs=[CLEAN * 2])
    write_op(root, "Masked layers.0/Mask", timestamp=2, outputs=[MASK])
    write_op(root, "Add layers.0/Add", timestamp=11, step=1, inputs=[CLEAN], outputs=[CLEAN])
    write_op(root, "MatMul layers.1/MatMul", timestamp=12, step=1, outputs=[OVERFLOWED])
    write_op(root, "Add layers.0/Add", timestamp=3, rank=1, outputs=[CLEAN.astype(np.int32)])
    return root


def rows_of(text: str) -> list[list[str]]:
    """Return the cells of the rows that were printed, without summary and hints."""
    table = text.split("\n\n")[1].splitlines()
    return [line.split() for line in table[1:]]


def test_it_prints_a_summary_and_the_worst_rows_first(
    dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stats", str(dump)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    first, second = out.splitlines()[:2]
    assert first.startswith("5 files, 7 tensors, ")
    assert second == "1 tensor with NaN or +Inf; 2 tensors with -Inf"
    rows = rows_of(out)
    assert rows[0] == [
        *("0", "1", "MatMul", "layers.1/MatMul", "output.0", "bfloat16", "2x3"),
        *("65536", "0.5", "32768", "1", "+2", "-1", "ok"),
    ]
    assert rows[1][2:6] == ["Masked", "layers.0/Mask", "output.0", "float16"]
    assert len(rows) == 7


def test_numbers_are_those_of_numpy(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", str(dump), "--step", "0", "--rank", "0", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    expected = [CLEAN, CLEAN * 2, MASK]
    assert [(row["io"], row["index"]) for row in rows] == [
        ("input", 0),
        ("output", 0),
        ("output", 0),
    ]
    for row, array in zip(rows, expected, strict=True):
        finite = array[np.isfinite(array)].astype(np.float64)
        assert row["count"] == array.size
        assert row["max"] == finite.max()
        assert row["min"] == finite.min()
        assert row["mean"] == pytest.approx(finite.mean(), rel=1e-12)
        assert row["l2norm"] == pytest.approx(np.sqrt((finite**2).sum()), rel=1e-12)
        assert row["neg_inf"] == np.isneginf(array).sum()


def test_a_pipe_gets_whole_names_one_row_a_line_and_no_colour(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    name = "model.layers." * 12 + "last"
    write_op(tmp_path, f"Add {name}", timestamp=1, inputs=[CLEAN], outputs=[CLEAN])
    assert main(["stats", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert [row[3] for row in rows_of(out)] == [name, name]
    assert all(line == line.rstrip() for line in out.splitlines())


def test_rows_limits_what_is_printed_and_zero_prints_all(
    dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["stats", str(dump), "-n", "2"])
    out = capsys.readouterr().out
    assert len(rows_of(out)) == 2
    assert "2 worst of 7 rows" in out
    main(["stats", str(dump), "--rows", "0"])
    out = capsys.readouterr().out
    assert len(rows_of(out)) == 7
    assert "worst of" not in out


def test_json_is_the_document_of_the_table(
    dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stats", str(dump), "--json", "--level", "full"]) == 0
    document = tmp_path / "stdout.json"
    document.write_text(capsys.readouterr().out, encoding="ascii")
    table = fastdump.read_stats(document)
    assert list(table) == list(fastdump.stats(dump, level="full"))
    assert table.level == "full"

    assert main(["stats", str(dump), "--json", "-n", "1"]) == 0
    (worst,) = json.loads(capsys.readouterr().out)["rows"]
    assert worst["op_type"] == "MatMul"
    assert worst["nan"] == 1


def test_output_files_hold_all_rows_whatever_is_printed(
    dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("arro3.io")
    files = [tmp_path / f"all{suffix}" for suffix in (".csv", ".json", ".arrow", ".parquet")]
    options = [text for file in files for text in ("-o", str(file))]
    assert main(["stats", str(dump), "-n", "1", *options]) == 0
    assert len(rows_of(capsys.readouterr().out)) == 1
    expected = list(fastdump.stats(dump))
    for file in files:
        assert list(fastdump.read_stats(file)) == expected, file


def test_bad_keeps_only_bad_rows_everywhere(
    dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.csv"
    assert main(["stats", str(dump), "--bad", "-o", str(file)]) == 0
    out = capsys.readouterr().out
    assert [row[2] for row in rows_of(out)] == ["MatMul", "Masked"]
    assert out.startswith("5 files, 7 tensors, "), "the summary is of all that was read"
    assert list(fastdump.read_stats(file)["op_type"]) == ["Masked", "MatMul"]


def test_health_shows_no_moments(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", str(dump), "--level", "health"]) == 0
    titles = capsys.readouterr().out.split("\n\n")[1].splitlines()[0].split()
    assert "nan" in titles
    assert not {"max", "min", "mean"} & set(titles)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--op-type", "Mat*"], [("MatMul", 0, 1)]),
        (["--op-type", "Mat*", "--op-type", "Masked"], [("Masked", 0, 0), ("MatMul", 0, 1)]),
        (["--op-name", "*1/*"], [("MatMul", 0, 1)]),
        (["--rank", "1"], [("Add", 1, 0)]),
        (["--step", "1-7", "--io", "output"], [("Add", 0, 1), ("MatMul", 0, 1)]),
        (["--step", "0|2-3|10", "--io", "input"], [("Add", 0, 0)]),
        (["--step", "5", "--step", "1,9", "--op-type", "Add"], [("Add", 0, 1)] * 2),
    ],
)
def test_filters(
    dump: Path,
    options: list[str],
    expected: list[tuple[str, int, int]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["stats", str(dump), "--json", *options]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["op_type"], row["rank"], row["step"]) for row in rows] == expected


@pytest.mark.parametrize("engine", ["mmap", "read"])
def test_engine_and_threads_change_nothing(
    dump: Path, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["stats", str(dump), "--json"])
    expected = capsys.readouterr().out
    assert main(["stats", str(dump), "--json", "--engine", engine, "--threads", "3"]) == 0
    assert capsys.readouterr().out == expected


def test_links_are_counted_or_followed(
    dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = testing.write_dump(
        tmp_path / "outside" / "Relu.linked.1.1.1700000000000000", outputs=[CLEAN]
    )
    (dump / outside.name).symlink_to(outside)
    assert main(["stats", str(dump)]) == 0
    out = capsys.readouterr().out
    assert "skipped: 1 (symbolic link: 1)" in out
    assert "Relu" not in out
    assert main(["stats", str(dump), "--follow-links"]) == 0
    assert "Relu" in capsys.readouterr().out


def test_a_damaged_file_is_shown_and_makes_the_exit_code_3(
    dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = testing.dump_name("Conv", "stem", task_id=9, stream_id=3, timestamp=10**15)
    (dump / name).write_bytes(b"\xff" * 64)
    file = tmp_path / "all.csv"
    assert main(["stats", str(dump), "-o", str(file)]) == 3
    out = capsys.readouterr().out
    assert "1 malformed" in out
    assert "6 files, 7 tensors" in out
    assert any(row[:2] == ["Conv", "stem"] and "malformed:" in row for row in rows_of(out))
    assert len(fastdump.read_stats(file)) == 8
    # What is shown does not change what was found.
    assert main(["stats", str(dump), "--json", "-n", "1"]) == 3


def test_a_truncated_file_is_reported_and_makes_the_exit_code_3(
    dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_op(dump, "Sub layers.9/Sub", timestamp=40, outputs=[CLEAN])
    path.write_bytes(path.read_bytes()[:-8])
    assert main(["stats", str(dump)]) == 3
    assert "; 1 truncated" in capsys.readouterr().out.splitlines()[1]


def test_what_is_bad_can_be_triaged_by_pasting_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "a [red] dump; rm -rf ."
    path = write_op(root, "MatMul layers.1/MatMul", timestamp=12, outputs=[OVERFLOWED])
    other = write_op(tmp_path / "other", "Add layers.1/Add", timestamp=13, outputs=[CLEAN])
    for arguments in ([root], [path], [other, root], [root, other.parent]):
        assert main(["stats", *map(str, arguments)]) == 0
        program, *line = shlex.split(capsys.readouterr().out.splitlines()[-1])
        assert program == "fastdump"
        assert main(line) == 1
        assert "  operator  MatMul layers.1/MatMul, output.0" in capsys.readouterr().out


def test_rows_are_sorted_by_what_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    largest = {"MatMul a": 100.0, "MatMul b": 60000.0, "MatMul c": 0.0, "MatMul d": 2000.0}
    for at, (name, value) in enumerate(largest.items()):
        array = np.array([value, -1 if value else 0], np.float16)
        write_op(tmp_path, name, timestamp=at, outputs=[array])
    write_op(tmp_path, "Add i", timestamp=9, outputs=[np.array([2**30], np.int32)])

    def names(*options: str) -> list[str]:
        assert main(["stats", str(tmp_path), "--columns", "op_name", *options]) == 0
        return capsys.readouterr().out.split("\n\n")[1].splitlines()[1:]

    # 65504 / 60000, / 2000, / 100; all zeros never overflow; integers have no such limit.
    assert names("--sort", "headroom") == ["b", "d", "a", "c", "i"]
    assert names("--sort", "headroom", "-n", "2") == ["b", "d"]
    assert names("--sort", "max")[:2] == ["i", "b"]
    assert names("--sort", "op_name") == ["a", "b", "c", "d", "i"]
    headroom = fastdump.stats(tmp_path).headroom
    assert np.allclose(headroom[:4], [655.04, 65504 / 60000, np.inf, 65504 / 2000], rtol=1e-3)
    assert np.isnan(headroom[4])


def test_columns_are_those_that_are_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_op(tmp_path, "MatMul layers.1/a", timestamp=1, outputs=[np.array([3, 4], np.float16)])
    assert main(["stats", str(tmp_path), "--columns", "layer, l2norm,tensor,headroom"]) == 0
    header, row = capsys.readouterr().out.split("\n\n")[1].splitlines()
    assert header.split() == ["layer", "l2norm", "tensor", "headroom"]
    assert row.split() == ["1", "5", "output.0", "16,400x"]  # 65504 / 4, three digits
    # What is sorted by is shown.
    assert main(["stats", str(tmp_path), "--sort", "l2norm"]) == 0
    assert "l2norm" in capsys.readouterr().out
    for options in (["--columns", "l2norm,nothing"], ["--sort", "nothing"]):
        assert main(["stats", str(tmp_path / "missing"), *options]) == 2
        assert "'nothing'" in capsys.readouterr().err


def test_every_column_can_be_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_op(tmp_path, "MatMul layers.1/a", timestamp=1, outputs=[np.array([3, 4], np.float16)])
    for name in COLUMNS:
        assert main(["stats", str(tmp_path), "--level", "full", "--columns", f"tensor,{name}"]) == 0
        assert "output.0" in capsys.readouterr().out


HOSTILE = "evil\x1b]0;title\x07\x9b2J\u202e[red]bad[/red]:boom:\x7f\u200b"


def test_no_name_reaches_the_terminal_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "model\x1b[2J"
    testing.write_dump(
        root / "Add.x.1.1.1700000000000000", op_name=HOSTILE, outputs=[OVERFLOWED], attrs=[]
    )
    # The same name in the place of a path: a file that has nothing else to show.
    (root / f"{'1' * 12}").write_bytes(b"\xff" * 64)
    for options in (["-n", "0"], ["--json"]):
        assert main(["stats", str(root), *options]) in (0, 3)
        out, err = capsys.readouterr()
        hidden = [c for c in out + err if not (c.isprintable() or c == "\n")]
        assert hidden == []
        assert "\\u202e" in out
        assert "[red]bad[/red]:boom:" in out, "neither markup nor emoji is interpreted"
    assert main(["stats", str(root), "--json"]) in (0, 3)
    names = {row["op_name"] for row in json.loads(capsys.readouterr().out)["rows"]}
    assert HOSTILE in names, "escaping is for the eye; programs get the name"


def test_ctrl_c_keeps_what_was_finished(
    dump: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Interrupting(ProgressBar):
        def __call__(self, progress: fastdump.Progress) -> None:
            raise KeyboardInterrupt

    monkeypatch.setattr(_progress, "ProgressBar", Interrupting)
    file = tmp_path / "finished.csv"
    # The last report comes when all files are done: here everything is kept.
    assert main(["stats", str(dump), "-o", str(file)]) == 130
    out, err = capsys.readouterr()
    assert err == "fastdump: interrupted after 5 of 5 files\n"
    assert "not finished" not in out
    assert len(rows_of(out)) == 7
    assert list(fastdump.read_stats(file)) == list(fastdump.stats(dump))


def test_what_ctrl_c_left_out_is_counted_in_the_table(
    dump: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Interrupted:
        """A scan of one rank that says it found more."""

        def __init__(self, what: Any, selection: Selection, **options: Any) -> None:
            self.scan = new_scan(what, replace(selection, rank=((0, 0),)), **options)
            self.table = self.scan.table

        def run(self, *, progress: bool) -> None:
            self.scan.run()
            raise KeyboardInterrupt

        def progress(self) -> SimpleNamespace:
            return SimpleNamespace(files_found=1005, files_done=4, bytes_done=0, walking=True)

    monkeypatch.setattr(scanning, "new_scan", Interrupted)
    file = tmp_path / "finished.json"
    assert main(["stats", str(dump), "-o", str(file)]) == 130
    out, err = capsys.readouterr()
    assert err == "fastdump: interrupted after 4 of 1,005 files found so far\n"
    assert "skipped: 1,001 (not finished when interrupted: 1,001)" in out
    assert fastdump.read_stats(file).skipped == {"not finished when interrupted": 1001}
    assert len(fastdump.read_stats(file)) == 6


def test_ctrl_c_before_the_first_row_leaves_nothing(
    dump: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Interrupting(ProgressBar):
        def __enter__(self) -> ProgressBar:
            raise KeyboardInterrupt

    monkeypatch.setattr(_progress, "ProgressBar", Interrupting)
    file = tmp_path / "finished.csv"
    assert main(["stats", str(dump), "-o", str(file)]) == 130
    assert capsys.readouterr() == ("", "fastdump: interrupted\n")
    assert not file.exists()


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("table.txt", "does not end in one of .csv, .json, .arrow, .parquet"),
        ("missing/table.csv", "missing: No such file or directory"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_the_scan(
    dump: Path,
    tmp_path: Path,
    output: str,
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scanning, "new_scan", None)
    assert main(["stats", str(dump), "-o", str(tmp_path / output)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("fastdump: error: ")
    assert message in err


def test_a_full_disk_is_no_reason_not_to_print(
    dump: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(table: fastdump.StatsTable, path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(fastdump.StatsTable, "write", fail)
    assert main(["stats", str(dump), "-o", str(tmp_path / "t.csv")]) == 2
    out, err = capsys.readouterr()
    assert len(rows_of(out)) == 7
    assert err.endswith("t.csv: No space left on device\n")
