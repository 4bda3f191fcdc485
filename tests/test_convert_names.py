"""Where `fastdump.convert` puts files, and what it calls them."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conversions import INT, TIME, X, names, tree, write, write_tree

import fastdump
from fastdump import testing
from fastdump._convert.name_table import read_names
from fastdump._convert.options import FILE_TYPES


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "dump")


def test_the_tree_is_kept(dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "new" / "out"
    report = fastdump.convert(dump, out)
    directories = {str(Path(name).parent) for name in names(out)}
    assert directories == {f"20261120101112/0/net/1/{step}" for step in (0, 1)} | {"other dir"}
    assert (report.files, report.written, report.kept) == (5, 13, 0)
    np.testing.assert_array_equal(
        np.load(out / f"20261120101112/0/net/1/1/Add.x_add.1.7.{TIME}.output.0.npy"), X * 2
    )
    fastdump.convert(f"{dump}/.//", tmp_path / "again")
    assert tree(tmp_path / "again") == tree(out)
    monkeypatch.chdir(dump / "other dir")
    for path in (".", f"Add.loose.1.7.{TIME}", f"./Add.loose.1.7.{TIME}", "../other dir"):
        fastdump.convert(path, "../../relative")
        assert names(tmp_path / "relative") == [f"Add.loose.1.7.{TIME}.output.0.npy"]


def test_several_paths_get_a_directory_each_and_files_none(tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path / name / "sub", outputs=[X])
    single = write(tmp_path / "c", "single", outputs=[X])
    out = tmp_path / "out"
    fastdump.convert([tmp_path / "a", tmp_path / "b" / "sub" / "..", single], out)
    stem = f"Add.a.1.7.{TIME}.output.0.npy"
    assert names(out) == [f"{single.name}.output.0.npy", f"a/sub/{stem}", f"b/sub/{stem}"]
    with pytest.raises(ValueError, match="two of the directories are called 'sub'"):
        fastdump.convert([tmp_path / "a" / "sub", tmp_path / "b" / "sub"], out)


def test_files_of_one_name_do_not_replace_each_other(tmp_path: Path) -> None:
    first = write(tmp_path / "a", outputs=[X])
    second = write(tmp_path / "b", outputs=[INT])
    report = fastdump.convert([first, second], tmp_path / "out", threads=1)
    (failure,) = report.findings
    assert (failure.path, report.written) == (str(second), 1)
    assert str(first) in failure.reason
    np.testing.assert_array_equal(np.load(next((tmp_path / "out").iterdir())), X)


def test_selections(dump: Path, tmp_path: Path) -> None:
    def converted(**conditions: Any) -> list[str]:
        out = tmp_path / "-".join(f"{k}{v}" for k, v in conditions.items())
        fastdump.convert(dump, out, **conditions)
        return [Path(name).name.replace(f".1.7.{TIME}", "") for name in names(out)]

    assert converted(op_type="Mu*", step=1) == [
        "Mul.x_mul.l1buffer.0.bin",
        "Mul.x_mul.output.0.npy",
        "Mul.x_mul.space.0.bin",
    ]
    assert converted(op_name=["*loose", "nothing"]) == ["Add.loose.output.0.npy"]
    assert converted(io=["space", "buffer"], step=0) == [
        "Mul.x_mul.l1buffer.0.bin",
        "Mul.x_mul.space.0.bin",
    ]
    assert converted(io="input", step=[0, 5]) == [
        "Add.x_add.input.0.npy",
        "Add.x_add.input.1.npy",
    ]


HOSTILE = [
    b"Add.\x1b[2J\n,\xff.1.7.%d" % TIME,
    b"Add.-rf *.1.7.%d" % TIME,
    b"Add.\xe2\x80\xae.1.7.%d" % TIME,
    b"Add.%s.1.7.%d" % (b"n" * 230, TIME),
]


@pytest.mark.parametrize("file_type", FILE_TYPES)
def test_nothing_leads_out_of_the_output_directory(file_type: str, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    dump.mkdir()
    header = {"outputs": [X], "op_name": "../../../escaped"}
    content = testing.write_dump(tmp_path / "x", **header).read_bytes()  # type: ignore[arg-type]
    (tmp_path / "x").unlink()
    for name in HOSTILE:
        (dump / os.fsdecode(name)).write_bytes(content)
    (dump / "12345678901").write_bytes(content)
    (dump / "12345678902").write_bytes(content)
    (dump / "12345678903").write_bytes(content)
    (dump / "mapping.csv").write_bytes(
        b"12345678901,../../evil\n12345678902,/etc/Add.x.1.7.%d\nbad\n,\n12345678903,..\n" % TIME
    )
    before = set(tmp_path.rglob("*"))
    out = tmp_path / "out"
    report = fastdump.convert(dump, out, type=file_type)  # type: ignore[arg-type]
    after = set(tmp_path.rglob("*")) - before
    assert all(path == out or path.parent == out for path in after), after
    assert all(b"escaped" not in os.fsencode(path) for path in out.iterdir()) or (
        file_type == "msnpy"  # takes the last part of the name, which leads nowhere
    )
    assert report.written == len(HOSTILE) + 3 - len(report.findings)
    assert not any("/" in name for name in report.renamed.values())
    assert not Path(tmp_path.parent / "escaped").exists()


def test_long_names_become_digits_with_a_row_in_a_table(tmp_path: Path) -> None:
    longest = "n" * (255 - len(f"Add..1.7.{TIME}.output.0.npy"))
    fits = write(tmp_path / "dump", longest, outputs=[X])
    too_long = write(tmp_path / "dump", longest + "n", outputs=[X * 2, INT])
    out = tmp_path / "out"
    report = fastdump.convert(tmp_path / "dump", out)
    assert not report.findings
    rows = (out / "mapping.csv").read_text().splitlines()
    table = dict(row.split(",") for row in rows)
    assert len(table) == len(rows) == 2
    assert sorted(table.values()) == [f"{too_long.name}.output.{i}.npy" for i in (0, 1)]
    assert set(names(out)) == {f"{digits}.npy" for digits in table} | {
        f"{fits.name}.output.0.npy",
        "mapping.csv",
    }
    assert report.renamed == {f"{digits}.npy": name for digits, name in table.items()}
    for digits, name in table.items():
        assert digits.isdecimal()
        expected = X * 2 if name.endswith("output.0.npy") else INT
        np.testing.assert_array_equal(np.load(out / f"{digits}.npy"), expected)
    again = fastdump.convert(tmp_path / "dump", out)
    assert (again.written, again.kept, again.renamed) == (0, 3, report.renamed)
    assert (out / "mapping.csv").read_text().splitlines() == rows


def test_digits_stay_and_a_table_tells_what_they_stand_for(tmp_path: Path) -> None:
    real = testing.dump_name("Cast", "n" * 250, task_id=1, stream_id=7, timestamp=TIME)
    path = testing.write_dump(tmp_path / "dump" / "s" / real, outputs=[X], op_name="n" * 250)
    assert path.name.isdecimal()
    unresolved = tmp_path / "dump" / "98765432109876"
    testing.write_dump(unresolved, outputs=[INT], op_name="layers.3/Add\n")
    out = tmp_path / "out"
    report = fastdump.convert(tmp_path / "dump", out)
    assert names(out) == [
        "98765432109876.output.0.npy",
        "mapping.csv",
        f"s/{path.name}.output.0.npy",
        "s/mapping.csv",
    ]
    assert (out / "s" / "mapping.csv").read_text() == f"{path.name},{real}\n"
    assert (out / "mapping.csv").read_text() == "98765432109876,layers.3/Add\\n\n"
    assert report.renamed == {
        "98765432109876.output.0.npy": "layers.3/Add\n.output.0.npy",
        f"s/{path.name}.output.0.npy": f"{real}.output.0.npy",
    }


def test_a_table_is_added_to_and_never_followed_out(tmp_path: Path) -> None:
    path = write(tmp_path / "dump", "n" * 230, outputs=[X])
    out = tmp_path / "out"
    out.mkdir()
    (out / "mapping.csv").write_bytes(b"1,half a ro")
    assert not fastdump.convert(path, out).findings
    first, second = (out / "mapping.csv").read_bytes().splitlines()
    assert first == b"1,half a ro"
    assert second.endswith(b",%s.output.0.npy" % path.name.encode())

    elsewhere = tmp_path / "elsewhere"
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "mapping.csv").symlink_to(elsewhere)
    report = fastdump.convert(path, linked)
    assert not elsewhere.exists()
    (failure,) = report.findings
    assert failure.reason.endswith("mapping.csv")
    assert [path.name for path in linked.iterdir()] == ["mapping.csv"]


def test_a_pipe_or_a_device_for_a_table_is_no_table(tmp_path: Path) -> None:
    real = testing.dump_name("Cast", "n" * 250, task_id=1, stream_id=7, timestamp=TIME)
    path = testing.write_dump(tmp_path / real, outputs=[X])
    (tmp_path / "mapping.csv").unlink()
    (tmp_path / "mapping.csv").symlink_to(tmp_path / "pipe")
    assert read_names(tmp_path) == {}
    os.mkfifo(tmp_path / "pipe")
    assert read_names(tmp_path) == {}
    (tmp_path / "mapping.csv").unlink()
    (tmp_path / "mapping.csv").symlink_to("/dev/zero")
    assert read_names(tmp_path) == {}
    assert path.exists()


def test_a_dump_can_be_converted_in_place(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    path = write(dump, outputs=[X])
    testing.write_dump(dump / "98765432109876", outputs=[INT], op_name="layers.3/Add")
    assert fastdump.convert(dump, dump).written == 2
    after = tree(dump)
    # A row of a name that is none of a dump would hide the file.
    assert sorted(after) == [
        "98765432109876",
        "98765432109876.output.0.npy",
        path.name,
        f"{path.name}.output.0.npy",
    ]
    report = fastdump.convert(dump, dump / "inside")
    report = fastdump.convert(dump, dump)
    assert (report.files, report.written, report.kept) == (2, 0, 2)
    assert set(tree(dump)) - set(after) == {
        "inside/98765432109876.output.0.npy",
        "inside/mapping.csv",
        f"inside/{path.name}.output.0.npy",
    }


ODD_NAMES = (
    'quote"d',
    '"all quoted"',
    '"',
    "with,comma",
    'both,"',
    "line\nfeed\rreturn",
    "escape\x1b[2J\x07",
    "wide \u4e2d\u6587",
    "right to left \u202e",
    "no utf-8 \udcff\udca0",
    "c1 \udc9b31m",
    " blank ",
)


@pytest.mark.parametrize("op_name", ODD_NAMES)
def test_a_table_of_names_is_csv_and_harmless_whatever_the_name(
    op_name: str, tmp_path: Path
) -> None:
    # The name of a file that is digits is told by the table beside it.
    dump, out = tmp_path / "dump", tmp_path / "out"
    digits = "98765432109876"
    testing.write_dump(dump / digits, outputs=[X])
    real = f"Add.{op_name}.1.2.1700000000000000".replace("\n", "").replace("\r", "")
    quoted = real.replace('"', '""')
    row = f'{digits},"{quoted}"\n' if set(real) & set('",') else f"{digits},{real}\n"
    (dump / "mapping.csv").write_bytes(os.fsencode(row))
    assert not fastdump.convert(dump, out).findings
    text = (out / "mapping.csv").read_bytes()
    assert not set(text) & (set(range(32)) - {10} | {127, 0x9B})
    ((key, name),) = csv.reader([os.fsdecode(text)], strict=True)
    assert key == digits
    plain = real.isprintable() or op_name.startswith("no utf-8")
    assert name == real or not plain
    # The core reads it as the csv module does, and as this package does.
    (op,) = fastdump.open(dump)
    assert op.op_name == real.removeprefix("Add.").partition(".1.2.")[0] or not real.isprintable()
    fastdump.convert(dump, out, overwrite=True)
    assert (out / "mapping.csv").read_bytes() == text, "no row is added again"
