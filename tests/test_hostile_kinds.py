"""Damaged, lying and shrinking files of every kind: no crash, no memory, no wrong number.

Scans run in a process of their own where a failure could take that process down.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from other_writers import NanoTensor, inline_file, nano_file, npy_file, standard_file, with_length
from scan_apart import RunPython, scan
from truth import assert_row_is_of_its_bytes

import fastdump

MIB = 1 << 20
TS = 1_700_000_000_000_000
NUMBERS = ("count", "max", "min", "mean", "l2norm", "nan", "zero", "first_bad")
# Two tensors, to tell one from the other.
FIRST = np.array([1.5, -2, np.inf, 3, np.nan, -4], np.float32)
SECOND = np.arange(-5, 5, dtype=np.int16)
CUTS = {
    "input_tensor_slice": [[], [[{"lower": 2, "higher": 8}]]],
    "output_tensor_slice": [[], [[{"lower": 0, "higher": 10}]]],
}


def valid_files() -> dict[str, bytes]:
    """Return a file of every kind."""
    payload = FIRST.tobytes() + SECOND.tobytes()
    tensors = {
        "input": [{"data_type": 1, "shape": {"dim": [6]}, "size": 24, "address": 1}],
        "output": [
            {
                "data_type": 5,
                "shape": {"dim": [2, 5]},
                "size": 20,
                "address": 2,
                "original_op": {"name": b"op", "format": 1},
            }
        ],
    }
    sliced = {
        "input": [{"data_type": 1, "shape": {"dim": [8]}, "size": 24, "address": 1}],
        "output": [{"data_type": 5, "shape": {"dim": [10]}, "size": 20, "address": 2}],
        "attr": [{"name": b"x", "value": json.dumps(CUTS).encode()}],
    }
    inline = {
        "input": [{"data_type": 1, "shape": {"dim": [6]}, "data": FIRST.tobytes()}],
        "output": [{"data_type": 5, "shape": {"dim": [2, 5]}, "data": SECOND.tobytes()}],
    }
    return {
        "standard": standard_file(payload, version=b"2.0", op_name=b"a/b", **tensors),
        "appended": standard_file(payload, **tensors) + standard_file(payload, **tensors),
        "sliced": standard_file(payload, **sliced),
        "inline": inline_file(op_name=b"a/b", buffer=[{"data": b"buffer"}], **inline),
        "marked": inline_file(version=b"1.0", **inline),
        "nano": nano_file(
            [NanoTensor(FIRST.tobytes(), 0, (6,))],
            [NanoTensor(SECOND.tobytes(), 6, (2, 5), op_name=b"op")],
        ),
        "npy": npy_file(SECOND.reshape(2, 5)),
        "npy in Fortran order": npy_file(np.asfortranarray(SECOND.reshape(2, 5)), (2, 0)),
    }


VALID = valid_files()


def numbered(name: str, i: int) -> str:
    """Return a name that tells as much as `name`, and is another for each `i`."""
    if name.isdigit():
        return f"{i:012}"
    if name.endswith(".npy"):
        return f"Add.a.1.2.{TS}.input.{i}.npy"
    parts = name.split(".")
    parts[2] = str(i)
    return ".".join(parts)


def name_of(kind: str, i: int = 0) -> str:
    return numbered(f"Add.a.1.2.{TS}.4.11.1.0", i)


def assert_rows_are_of_their_bytes(found: Any, contents: Mapping[str, bytes]) -> None:
    """Assert that every file has a row, and that every row's numbers are of its elements."""
    assert {row.path for row in found.rows} == set(contents)
    for row in found.rows:
        assert_row_is_of_its_bytes(row, contents[row.path])
        assert row.status == "ok" or row.note


def rows_by_engine(
    run_python: RunPython, contents: Mapping[str, bytes], **options: Any
) -> list[Any]:
    """Scan files with every engine and return the rows, which must be the same."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in contents.items():
            Path(folder, name).write_bytes(content)
        found = [
            scan(run_python, Path(folder), engine=engine, threads=threads, **options)
            for engine, threads in (("mmap", 1), ("read", 2))
        ]
    assert_rows_are_of_their_bytes(found[0], contents)
    assert found[0].rows == found[1].rows
    return found[0].rows


def lengths_of_prefixes(content: bytes) -> list[int]:
    """Return all; of a large file those near its start, and some others."""
    if len(content) <= 700:
        return list(range(len(content) + 1))
    others = random.Random(len(content)).sample(range(300, len(content)), 40)
    return [*range(300), *sorted(others), len(content)]


def check_every_prefix(run_python: RunPython, files: Mapping[str, bytes]) -> None:
    """Check all prefixes of `files`, name -> content."""
    contents = {}
    wholes = {}  # name of a prefix -> that of the whole file
    for i, (name, content) in enumerate(files.items()):
        lengths = lengths_of_prefixes(content)
        names = [numbered(name, 100_000 * i + n) for n in lengths]
        contents.update(zip(names, (content[:n] for n in lengths), strict=True))
        wholes.update(dict.fromkeys(names, names[-1]))
    rows: dict[str, list[Any]] = {}
    for row in rows_by_engine(run_python, contents):
        rows.setdefault(row.path, []).append(row)
    n_ok = 0
    for path, found in rows.items():
        # Cut by just as many bytes as belong to tensors at null addresses, a file is another's.
        if any(row.status == "absent" for row in found):
            continue
        truth = {(row.io, row.index, row.offset): row for row in rows[wholes[path]]}
        for row in found:
            # What is said to be there is what is there in the whole file.
            if row.status == "ok" and row.io is not None:
                true = truth[row.io, row.index, row.offset]
                n_ok += 1
                assert [getattr(row, key) for key in NUMBERS] == [
                    getattr(true, key) for key in NUMBERS
                ]
    assert n_ok >= len(files)


@pytest.mark.parametrize("kind", VALID)
def test_every_prefix(kind: str, run_python: RunPython) -> None:
    check_every_prefix(run_python, {name_of(kind): VALID[kind]})


# As names of tests: they are made before anybody knows whether there are reference dumps.
@pytest.mark.parametrize(
    "folder", ["dtype", "ffts", "format", "layout", "mapping", "nano", "opdebug", "struct", "."]
)
def test_every_prefix_of_reference_dumps(
    folder: str, reference_dumps: Path, run_python: RunPython
) -> None:
    files = {
        path.name: path.read_bytes()
        for path in sorted((reference_dumps / folder).iterdir())
        if path.is_file() and path.suffix not in (".json", ".csv", ".md")
    }
    check_every_prefix(run_python, files)


@pytest.mark.parametrize("kind", VALID)
def test_every_byte_changed(kind: str, run_python: RunPython) -> None:
    original = VALID[kind]
    contents = {}
    for at in range(len(original)):
        if original[max(0, at - 7) : at + 8] in FIRST.tobytes() + SECOND.tobytes():
            continue  # any element is a valid one
        for value in (0, 0x7F, 0xFF, original[at] ^ 1):
            changed = original[:at] + bytes([value]) + original[at + 1 :]
            contents[name_of(kind, len(contents))] = changed
    rows_by_engine(run_python, contents)


@pytest.mark.parametrize("kind", VALID)
@given(data=st.data())
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_several_damages(kind: str, data: st.DataObject) -> None:
    content = bytearray(VALID[kind])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, max(0, len(content) - 1)))
        match data.draw(st.sampled_from(["change", "change", "remove", "insert", "cut", "repeat"])):
            case "change":
                content[at : at + 1] = data.draw(st.binary(min_size=1, max_size=1))
            case "remove":
                del content[at : at + data.draw(st.integers(1, 9))]
            case "insert":
                content[at:at] = data.draw(st.binary(min_size=1, max_size=9))
            case "cut":
                del content[at:]
            case "repeat":
                content += content[at:]
    damaged = bytes(content)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, name_of(kind)).write_bytes(damaged)
        rows = list(fastdump.stats(folder, level="full", threads=1))
    assert rows
    for row in rows:
        assert_row_is_of_its_bytes(row, damaged)


def test_damaged_files_of_unknown_names_are_rows_or_counted(tmp_path: Path) -> None:
    rng = random.Random(4)
    n_files = 0
    for original in VALID.values():
        for _ in range(40):
            content = bytearray(original)
            for _ in range(3):
                content[rng.randrange(len(content))] = rng.randrange(256)
            (tmp_path / f"file{n_files}").write_bytes(content)
            n_files += 1
    table = fastdump.stats(tmp_path)
    assert len(set(table["path"])) + sum(table.skipped.values()) == n_files
    assert sum(table.skipped.values()) > 0
    assert "malformed" not in set(table["status"])


# Standard files that look like inline ones


def test_headers_that_are_cut_are_no_inline_files(run_python: RunPython) -> None:
    """A length may read as a field that is skipped; what is left of the header is a message."""
    # 0x60A: field 1, six bytes long, which are the other bytes of the length.
    tensors = [{"data_type": 1, "shape": {"dim": [4]}, "size": 16}] * 8
    filler = 0x60A - len(standard_file(output=tensors, dfx_message=b"x" * 1000)) + 8 + 1000
    content = standard_file(b"\1" * 128, output=tensors, dfx_message=b"x" * filler)
    assert int.from_bytes(content[:8], "little") == 0x60A
    header_end = 8 + 0x60A
    contents = {name_of("", n): content[:n] for n in range(header_end)}
    rows = rows_by_engine(run_python, contents)
    assert {row.status for row in rows} == {"malformed"}


# Files that take more than they hold


def bombs() -> dict[str, bytes]:
    """Return files of a few megabytes that ask for a hundred times as much, or for hours."""
    numbers = b'{"input_tensor_slice": [' + b"0," * 5_000_000 + b"0]}"
    brackets = b'{"input_tensor_slice": ' + b"[" * 5_000_000
    arrays = b'{"input_tensor_slice": [' + b"[]," * 5_000_000 + b"0]}"
    empty_tensors = with_length(b"\x2a\0" * 4096)
    keys = b"{" + b"'descr'" * 1_000_000 + b" " * 5_000_000
    many = with_length(
        b"ZZZZ\1\0\0\0\4\0\0\0"
        + (4 + 40 * 100_000).to_bytes(4, "little")
        + b"\xff" * 4
        + bytes(40 * 100_000)
    )
    tensor = {"data_type": 1, "shape": {"dim": [4]}, "size": 16}
    return {
        **{
            f"json{i}": standard_file(bytes(16), input=[tensor], attr=[{"value": text}])
            for i, text in enumerate((numbers, brackets, arrays))
        },
        "appended": empty_tensors * 60,
        "npy": b"\x93NUMPY\2\0" + len(keys).to_bytes(4, "little") + keys,
        "npy shape": npy_with_shape(b"(" + b"1," * 5_000_000 + b")"),
        "nano": many,
        "inline": b"\x0a\x031.0" + b"\x22\0" * 1_000_000,
        "inline fields": b"\x0a\x031.0" + b"\x78\1" * 5_000_000,
        "groups": b"\x0a\x031.0" + b"\x7b" * 5_000_000,
    }


def npy_with_shape(shape: bytes) -> bytes:
    text = b"{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + b"}"
    return b"\x93NUMPY\2\0" + len(text).to_bytes(4, "little") + text


@pytest.mark.measures_memory
@pytest.mark.parametrize("engine", ["mmap", "read"])
def test_memory_is_bounded(engine: str, tmp_path: Path, run_python: RunPython) -> None:
    for i, content in enumerate(bombs().values()):
        (tmp_path / name_of("", i)).write_bytes(content)
    # Files that take no space on the disk, as long as a message may be or longer: zeros that are
    # no field, an operator's name, a log, the name of an output's operator.
    long = 2_000_000_000
    in_output = field(4, long + 6) + field(1, long)
    sparse = [
        b"\x0a\x031.0\x22",
        b"\x0a\x031.0" + field(6, long),
        b"\x0a\x031.0\x22\x03\x22\x011" + field(9, long),
        b"\x0a\x031.0" + field(3, len(in_output) + long) + in_output,
    ]
    for i, start in enumerate(sparse):
        path = tmp_path / name_of("", 100 + i)
        path.write_bytes(start)
        os.truncate(path, len(start) + (long if i else 1 << 33))
    columns = ("path", "status")
    found = scan(
        run_python, tmp_path, address_space=3 << 30, columns=columns, engine=engine, threads=1
    )
    of_bombs = dict(zip(bombs(), range(99), strict=False))
    statuses = {
        kind: {row.status for row in found.of(name_of("", i))} for kind, i in of_bombs.items()
    }
    described = {"json0", "json1", "json2", "appended"}
    assert statuses == {kind: {"ok" if kind in described else "malformed"} for kind in of_bombs}
    for i in range(len(sparse)):
        (row,) = found.of(name_of("", 100 + i))
        assert row.status == "malformed"
    assert found.peak_nbytes < 200 * MIB


# Files that shrink after they were located

HOLE = 1 << 28  # bytes: usually enough to cut the file before its end is reached
N_ONES = 300_000
ONES = np.ones(N_ONES, np.float32)

CUT = """
import json, os, sys
import fastdump
from fastdump._scan import TableScan

path, engine, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
done_at_cut = []

def cut(progress):
    if progress.bytes_done and not done_at_cut:
        os.truncate(path, size)
        done_at_cut.append(progress.bytes_done)

options = dict(level="basic", threads=1, engine=engine)
scan = TableScan([os.fsencode(path)], fastdump.Selection(), **options)
scan._scan.run(cut, 0)
rows = [(row.status, row.io, row.count, row.note) for row in scan.table()]
print(json.dumps([done_at_cut, rows]))
"""


def field(number: int, nbytes: int) -> bytes:
    """Return what comes before the bytes of a field."""
    encoded = bytearray()
    for value in (number << 3 | 2, nbytes):
        while value > 0x7F:
            encoded.append(value & 0x7F | 0x80)
            value >>= 7
        encoded.append(value)
    return bytes(encoded)


def files_with_a_hole() -> dict[str, tuple[bytes, bytes]]:
    """Return what comes before and after a hole; ones are the last bytes of all."""
    size = ONES.nbytes
    hole = {"data_type": 3, "shape": {"dim": [HOLE]}, "size": HOLE, "address": 1}
    last = {"data_type": 1, "shape": {"dim": [N_ONES]}, "size": size, "address": 1}
    in_hole = b"\x08\3" + field(4, HOLE)
    in_last = b"\x08\1" + field(5, size)
    return {
        "standard": (standard_file(input=[hole], output=[last]), b""),
        "appended": (VALID["standard"] + standard_file(input=[hole], output=[last]), b""),
        "inline": (
            b"\x0a\x031.0" + field(4, len(in_hole) + HOLE) + in_hole,
            field(3, len(in_last) + size) + in_last,
        ),
        "nano": (
            nano_file(
                [NanoTensor(b"", 2, (HOLE,), size=HOLE)],
                [NanoTensor(b"", 0, (N_ONES,), size=size)],
            ),
            b"",
        ),
    }


def rows_of_a_cut_file(
    run_python: RunPython, path: Path, io: str, write: Callable[[], int], limit: int
) -> Any:
    """Return the rows of a scan that had read less than `limit` bytes when the file was cut.

    `write` writes the file, and returns what it is cut to. On a busy machine a scan may end before
    anybody looks at its progress: then another one is tried.
    """
    for _ in range(20):
        cut, rows = json.loads(run_python(CUT, path, io, write()))
        if cut and cut[0] < limit:
            return rows
    pytest.fail("20 scans ended before their file was cut")


@pytest.mark.parametrize("io", ["mmap", "read", "auto"])
@pytest.mark.parametrize("kind", files_with_a_hole())
def test_files_that_lose_their_end_during_a_scan(
    kind: str, io: str, tmp_path: Path, run_python: RunPython
) -> None:
    before, after = files_with_a_hole()[kind]
    path = tmp_path / name_of(kind)

    def write() -> int:
        with path.open("wb") as file:
            file.write(before)
            file.seek(HOLE, os.SEEK_CUR)
            file.write(after + ONES.tobytes())
            return file.tell()

    for n_cut in (1, 4096, ONES.nbytes):
        rows = rows_of_a_cut_file(run_python, path, io, lambda n=n_cut: write() - n, HOLE)
        assert rows == [["changed", None, None, "the file changed while it was read"]]


def test_an_array_that_loses_its_end_during_a_scan(tmp_path: Path, run_python: RunPython) -> None:
    header = npy_with_shape(b"(%d,)" % (HOLE // 4))
    path = tmp_path / f"Add.a.1.2.{TS}.output.0.npy"

    def write() -> int:
        path.write_bytes(header + ONES.tobytes())
        os.truncate(path, len(header) + HOLE)
        return len(header) + HOLE // 2 + 3

    for io in ("mmap", "read"):
        rows = rows_of_a_cut_file(run_python, path, io, write, HOLE // 2)
        assert rows == [["changed", None, None, "the file changed while it was read"]]
