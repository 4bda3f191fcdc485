"""Files and trees made to break a reader: no crash, no hang, no memory, no wrong number.

Scans run in a process of their own where a failure could take that process down.
"""

from __future__ import annotations

import json
import math
import os
import random
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scan_apart import RunPython, scan
from truth import ELEMENT_TYPES, assert_row_is_of_its_bytes

import fastdump
from fastdump.testing import BufferSpec, TensorSpec, dump_header, write_dump

MIB = 1 << 20
TS = 1_700_000_000_000_000
ENGINES = ("mmap", "read", "auto")
MAX_U64 = (1 << 64) - 1


def dump(op: str, i: int = 0) -> str:
    return f"Op.{op}.1.2.{TS + i}"


# Bytes that are no dump


def varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


def message(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def framed(header: bytes) -> bytes:
    return len(header).to_bytes(8, "little") + header


def no_dumps() -> dict[str, bytes]:
    """Return contents that are no dump, whatever their name."""
    rng = random.Random(1)
    contents = {"empty": b""}
    for n in (1, 7, 8, 11, 12, 4096, 70_000):
        contents[f"zeros_{n}"] = bytes(n)
        contents[f"ones_{n}"] = b"\xff" * n
        contents[f"random_{n}"] = rng.randbytes(n)
    for length in (0, 1, 100, 1 << 31, (1 << 63) - 9, 1 << 63, MAX_U64 - 8, MAX_U64):
        contents[f"length_{length}"] = length.to_bytes(8, "little") + b"\x1a\x00" * 45
    million_dims = message(1, b"\1" * 1_000_000)
    unpacked_dims = b"\x08\x01" * 1_000_000
    for i, shape in enumerate((million_dims, unpacked_dims)):
        tensor = b"\x08\x01" + message(3, shape) + b"\x28" + varint(1 << 40)
        contents[f"million_dims_{i}"] = framed(message(4, tensor)) + bytes(64)
    contents["too_many_tensors"] = framed(message(4, b"") * 4097)
    contents["too_many_attributes"] = framed(message(7, b"") * 257)
    contents["nested"] = framed(b"\x7b" * 100_000)
    contents["nested_messages"] = framed(b"\x22\x7f" * 50_000)
    contents["varint_without_end"] = framed(b"\x10" + b"\xff" * 100)
    contents["string_beyond_the_header"] = framed(b"\x0a\xff\xff\xff\xff\x0f")
    contents["field_zero"] = framed(b"\x00\x00")
    contents["wire_type_7"] = framed(b"\x0f\x00")
    contents["text"] = b"a text file that somebody left in a dump directory\n" * 20
    return contents


def test_bytes_that_are_no_dump(tmp_path: Path, run_python: RunPython) -> None:
    contents = no_dumps()
    for name, content in contents.items():
        (tmp_path / dump(name)).write_bytes(content)
        (tmp_path / name).write_bytes(content)
    sparse = tmp_path / dump("sparse")
    sparse.write_bytes((MIB << 3).to_bytes(8, "little"))
    os.truncate(sparse, 1 << 33)
    for engine, threads in zip(ENGINES, (1, 2, 3), strict=True):
        found = scan(run_python, tmp_path, address_space=3 << 30, engine=engine, threads=threads)
        assert {row.path for row in found.rows} == {dump(name) for name in [*contents, "sparse"]}
        assert {row.status for row in found.rows} == {"malformed"}
        assert all(row.note for row in found.rows)
        assert sum(found.skipped.values()) == len(contents)
        # The largest header that is read at all is 16 MiB.
        assert found.peak_nbytes < 200 * MIB


@given(st.binary(max_size=300), st.booleans())
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_bytes_give_a_row_that_is_of_them(content: bytes, with_length: bool) -> None:
    if with_length and content:
        content = framed(content[: content[0] % len(content)]) + content
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, dump("any")).write_bytes(content)
        table = fastdump.stats(folder, level="full", threads=1)
    assert len(table) >= 1
    for row in table:
        assert_row_is_of_its_bytes(row, content)


# Headers that lie

PAYLOAD = np.array([1.5, -2, math.inf, 3, math.nan, -4, 5, 6], np.float32).tobytes()


LIES = [
    # products that wrap to 0, to 1, to the true number of elements
    ((1 << 32, 1 << 32), 0),
    ((1 << 32, 1 << 32), 32),
    ((1 << 63, 2), 32),
    ((1 << 62, 4), 32),
    ((1 << 16,) * 4, 32),
    ((MAX_U64, MAX_U64), 32),
    (((1 << 63) + 1, 2, 4), 32),
    (((1 << 61) + 1, 8), 32),
    ((3, 12297829382473034411 * 8 % (1 << 64)), 32),
    # bytes that wrap although elements do not
    ((1 << 62,), 32),
    ((1 << 62,), 0),
    (((1 << 62) + 8,), 32),
    (((1 << 61) + 8,), 32),
    # sizes
    ((8,), 1 << 62),
    ((8,), 1 << 63),
    ((8,), MAX_U64),
    ((8,), MAX_U64 - 40),
    ((1 << 60,), 1 << 62),
    ((), MAX_U64),
    ((), 1 << 62),
    ((0,), MAX_U64),
    ((MAX_U64,), MAX_U64),
    ((1,) * 64, 4),
    ((1,) * 63 + (8,), 32),
    ((0, 1 << 63), 0),
    ((1 << 63, 0), 32),
]


def test_shapes_and_sizes_that_lie(tmp_path: Path, run_python: RunPython) -> None:
    honest = TensorSpec(b"", "FLOAT", shape=(2,), size=8, address=1)
    contents = []
    for i, (shape, size) in enumerate(LIES):
        liar = TensorSpec(b"", "FLOAT", shape=shape, size=size, address=1)
        contents.append(dump_header(inputs=[liar], outputs=[honest]) + PAYLOAD)
        (tmp_path / dump("liar", i)).write_bytes(contents[-1])
    found = scan(run_python, tmp_path, address_space=3 << 30, threads=1)
    for i, ((shape, size), content) in enumerate(zip(LIES, contents, strict=True)):
        first, second = found.of(dump("liar", i))
        assert_row_is_of_its_bytes(first, content)
        assert_row_is_of_its_bytes(second, content)
        is_true = size == 4 * math.prod(shape) or MAX_U64 in shape  # a dimension of -1 is unknown
        assert first.status != "ok" or is_true, (shape, size)
        if size > len(PAYLOAD):
            assert first.status == "truncated", (shape, size)
            assert (second.status, second.count, second.max) == ("truncated", 0, None)


def test_sizes_whose_sum_wraps(tmp_path: Path, run_python: RunPython) -> None:
    cases = {
        (1 << 63, 1 << 63, 8): ["truncated"] * 3,
        (MAX_U64, 9, 8): ["truncated"] * 3,
        (8, MAX_U64 - 7, 8): ["ok", "truncated", "truncated"],
    }
    contents = []
    for i, sizes in enumerate(cases):
        specs = [TensorSpec(b"", "FLOAT", shape=(2,), size=size, address=1) for size in sizes]
        contents.append(dump_header(inputs=specs[:2], outputs=specs[2:]) + PAYLOAD)
        (tmp_path / dump("sum", i)).write_bytes(contents[-1])
    found = scan(run_python, tmp_path, address_space=3 << 30)
    for i, (content, statuses) in enumerate(zip(contents, cases.values(), strict=True)):
        rows = found.of(dump("sum", i))
        assert [row.status for row in rows] == statuses
        for row in rows:
            assert_row_is_of_its_bytes(row, content)


def test_as_many_tensors_as_a_file_may_have(tmp_path: Path) -> None:
    tensor = b"\x08\x03" + message(3, message(1, b"\1")) + b"\x28\x01"
    content = framed(message(4, tensor) * 4096) + bytes(range(256)) * 16
    (tmp_path / dump("many")).write_bytes(content)
    table = fastdump.stats(tmp_path)
    assert set(table["status"]) == {"ok"}
    assert list(table["index"]) == list(range(4096))
    expected = np.frombuffer(bytes(range(256)) * 16, np.int8).astype(np.float64)
    for name in ("max", "min", "mean"):
        np.testing.assert_array_equal(table[name], expected)


lengths = st.sampled_from([0, 1, 2, 3, 8, 255, 1 << 31, 1 << 32, 1 << 62, 1 << 63, MAX_U64])
lying_specs = st.builds(
    TensorSpec,
    dtype=st.integers(-1, 44),
    shape=st.lists(lengths | st.integers(0, 9), max_size=4),
    size=lengths | st.integers(0, 70),
    address=st.sampled_from([0, 1]),
)
lying_buffers = st.builds(BufferSpec, size=lengths | st.integers(0, 20))


@given(
    st.lists(lying_specs, max_size=3),
    st.lists(lying_specs, max_size=2),
    st.lists(lying_buffers, max_size=2),
    st.binary(max_size=150),
)
@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_any_header_over_any_payload(
    inputs: list[TensorSpec],
    outputs: list[TensorSpec],
    buffers: list[BufferSpec],
    payload: bytes,
) -> None:
    content = dump_header(inputs=inputs, outputs=outputs, buffers=buffers) + payload
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, dump("any")).write_bytes(content)
        table = fastdump.stats(folder, level="full", threads=1)
    assert len(table) == max(1, len(inputs) + len(outputs) + len(buffers))
    for row in table:
        assert_row_is_of_its_bytes(row, content)


# Files that end early or have flipped bits


def valid_file(addresses: Iterable[int] = ()) -> tuple[bytes, list[bytes]]:
    """Return a file with tensors of several types, and the payload of each."""
    rng = np.random.default_rng(2)
    given_addresses = iter(addresses)

    def spec(array: Any, dtype: str | None = None) -> TensorSpec:
        return TensorSpec(array, dtype, address=next(given_addresses, 4096))

    inputs = [
        spec(rng.normal(0, 1, (2, 5)).astype(np.float32)),
        spec(rng.integers(-8, 8, 7).astype(ml_dtypes.int4)),
        spec(np.array([1e300, math.nan, -5.0])),
        spec(np.array([1, 0, 1, 1, 0, 1, 1, 0, 1, 1], np.uint8), "UINT1"),
    ]
    outputs = [
        spec(np.array([1 + 2j, 3 - 4j], np.complex64)),
        spec(rng.normal(0, 1, 9).astype(ml_dtypes.bfloat16)),
        spec(np.array([], np.float64)),
        spec(np.array([2**62 + 1, -(2**63)])),
        spec(np.arange(5, dtype=np.int8)),
    ]
    buffers = [b"buffer"]
    with tempfile.TemporaryDirectory() as folder:
        path = write_dump(
            Path(folder, "dump"), inputs=inputs, outputs=outputs, buffers=buffers, op_name="a/b"
        )
        content = path.read_bytes()
    at = len(dump_header(inputs=inputs, outputs=outputs, buffers=buffers, op_name="a/b"))
    payloads = []
    for nbytes in (40, 4, 24, 2, 16, 18, 0, 16, 5, 6):
        payloads.append(content[at : at + nbytes])
        at += nbytes
    assert at == len(content)
    return content, payloads


def test_every_prefix_of_a_file(tmp_path: Path, run_python: RunPython) -> None:
    content, payloads = valid_file()
    for n in range(len(content) + 1):
        (tmp_path / dump(f"p{n}", n)).write_bytes(content[:n])
    header_end = len(content) - sum(map(len, payloads))
    whole = fastdump.stats(tmp_path / dump(f"p{len(content)}", len(content)), level="full")
    assert set(whole["status"]) == {"ok"}
    for engine in ENGINES:
        found = scan(run_python, tmp_path, engine=engine, threads=2)
        rows = iter(found.rows)
        for n in range(len(content) + 1):
            if n < header_end:
                row = next(rows)
                assert (row.path, row.status, row.io) == (dump(f"p{n}", n), "malformed", None)
                continue
            at = header_end
            for payload in payloads:
                row = next(rows)
                there = min(len(payload), max(0, n - at))
                assert (row.path, row.offset) == (dump(f"p{n}", n), at)
                assert row.status == ("ok" if there == len(payload) else "truncated")
                if row.count is not None and there < len(payload):
                    assert row.count == there * 8 // ELEMENT_TYPES[row.dtype].bits
                assert_row_is_of_its_bytes(row, content[:n])
                at += len(payload)
        assert next(rows, None) is None


def test_every_prefix_of_a_file_with_a_tensor_that_was_not_written(
    tmp_path: Path, run_python: RunPython
) -> None:
    """A device skips the bytes of a tensor at address 0: its neighbour's are not taken for them."""
    addresses = [4096, 4096, 0, 4096, 4096, 4096, 4096, 0, 4096]
    content, payloads = valid_file(addresses)
    skipped = {("input", 2), ("output", 3)}
    header_end = len(content) - sum(map(len, payloads))
    written = content[:header_end] + b"".join(
        payload for i, payload in enumerate(payloads) if i not in (2, 7)
    )
    complete, _ = valid_file()
    (tmp_path / "complete").write_bytes(complete)
    truth = {
        (row.io, row.index): row for row in fastdump.stats(tmp_path / "complete", level="full")
    }
    for n in range(header_end, len(written) + 1):
        (tmp_path / dump(f"p{n}", n)).write_bytes(written[:n])
    numbers = ("count", "max", "min", "mean", "l2norm", "nan", "zero", "first_bad")
    for row in scan(run_python, tmp_path).rows:
        key = (row.io, row.index)
        if row.path == "complete" or row.status != "ok":
            continue
        assert key not in skipped, row.path
        for name in numbers:
            assert getattr(row, name) == getattr(truth[key], name), (row.path, key)


@given(st.data())
@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
def test_flipped_bytes(data: st.DataObject) -> None:
    original, payloads = valid_file()
    header_end = len(original) - sum(map(len, payloads))
    content = bytearray(original)
    # Mostly in the header: any payload is a valid one.
    place = st.integers(0, header_end - 1) | st.integers(0, len(content) - 1)
    for at in data.draw(st.lists(place, min_size=1, max_size=4)):
        content[at] = data.draw(st.integers(0, 255) | st.just(content[at] ^ 0x80))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, dump("flipped")).write_bytes(content)
        table = fastdump.stats(folder, level="full", threads=1)
    assert len(table) >= 1
    for row in table:
        assert_row_is_of_its_bytes(row, bytes(content))


# Trees


def test_directory_entries_of_every_kind(
    tmp_path: Path, run_python: RunPython, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    write_dump(dump("good"), outputs=[np.ones(3)])
    names = [
        dump("fifo"),
        dump("socket"),
        dump("dangling"),
        dump("loop"),
        dump("device"),
        "dir.csv",
    ]
    os.mkfifo(names[0])
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(names[1])
        Path(names[2]).symlink_to("nowhere")
        Path(names[3]).symlink_to(names[3])
        try:
            os.mknod(names[4], stat.S_IFCHR | 0o666, os.makedev(1, 5))  # as /dev/zero
        except PermissionError:
            names.remove(dump("device"))
        Path(names[-1]).mkdir()
        Path(dump("directory")).mkdir()
        write_dump(Path(dump("directory"), dump("inner")), outputs=[np.ones(3)])
        Path("notes.txt").write_text("text")
        for follow_links in (False, True):
            found = scan(run_python, tmp_path, follow_links=follow_links)
            paths = {row.path for row in found.rows}
            assert paths == {dump("good"), f"{dump('directory')}/{dump('inner')}"}
            assert sum(found.skipped.values()) == len(names)  # notes.txt in place of a directory


@pytest.mark.parametrize("path", ["fifo", "/dev/zero", "/dev/null"])
def test_a_root_that_is_no_regular_file(path: str, tmp_path: Path, run_python: RunPython) -> None:
    os.mkfifo(tmp_path / "fifo")
    found = scan(run_python, tmp_path / path)
    assert found.rows == []


UNREADABLE = """
import json, os, sys
import fastdump

def of_root(path):
    try:
        return fastdump.stats(path)[0].status
    except PermissionError as error:
        return error.filename

root, *paths = sys.argv[1:]
fastdump.stats(root)  # imports everything
if os.geteuid() == 0:  # who may read anything
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
table = fastdump.stats(root)
found = {
    "rows": sorted([row.path, row.status, row.note] for row in table),
    "n_skipped": sum(table.skipped.values()),
    "of roots": [of_root(path) for path in paths],
}
print(json.dumps(found))
"""


def test_what_may_not_be_read(run_python: RunPython) -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own lets no other user in
        root = Path(folder)
        root.chmod(0o755)
        if os.geteuid() == 0 and not all(p.stat().st_mode & stat.S_IXOTH for p in root.parents):
            pytest.skip(f"another user than root cannot get to {folder}")
        good = write_dump(root / dump("good"), outputs=[np.ones(3)])
        secret = write_dump(root / dump("secret"), outputs=[np.ones(3)])
        plain = root / "plain"
        plain.write_text("text")
        closed = root / "closed"
        write_dump(closed / dump("inner"), outputs=[np.ones(3)])
        good.chmod(0o444)
        secret.chmod(0)
        plain.chmod(0)
        closed.chmod(0)
        try:
            found = json.loads(run_python(UNREADABLE, root, secret, closed))
        finally:
            closed.chmod(0o700)
        assert found == {
            "rows": [[good.name, "ok", None], [secret.name, "unreadable", os.strerror(13)]],
            "n_skipped": 2,
            "of roots": ["unreadable", str(closed)],
        }


STRANGE_NAMES = [
    b"\xff\xfe",
    b"caf\xe9",
    b"\xed\xa0\x80",  # a surrogate in UTF-8
    "\u65e5\u672c".encode(),
    b"two\nlines",
    b"\x1b[31mred\x07",
    b"\x01\x7f",
    b"quote\"'`",
    b"-rf",
    b"*?[a]",
    b"=1+1",
    b"<b>",
    b" ",
    b"%s%n",
]


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems take UTF-8 only")
def test_names_of_any_bytes(tmp_path: Path) -> None:
    root = os.fsencode(tmp_path)
    n_files = 0
    for strange in STRANGE_NAMES:
        folder = os.path.join(root, b"d" + strange)  # noqa: PTH118 Path takes no bytes
        os.mkdir(folder)  # noqa: PTH102
        for name in (b"Add." + strange + b".1.2.1700000000000000", strange + b"x"):
            write_dump(os.fsdecode(os.path.join(folder, name)), outputs=[np.ones(3)])  # noqa: PTH118
            n_files += 1
        other = os.path.join(folder, b"other" + strange)  # noqa: PTH118
        Path(os.fsdecode(other)).write_bytes(b"\0")
    table = fastdump.stats(tmp_path)
    assert len(table) == n_files
    assert set(table["max"]) == {1}
    assert sum(table.skipped.values()) == len(STRANGE_NAMES)
    assert len(set(table["path"])) == n_files
    pa.table(table).validate(full=True)  # text is UTF-8, whatever the names are
    assert {row.op_name for row in table if row.op_type == "Add"} >= {
        "\\xff\\xfe",
        "caf\\xe9",
        "\u65e5\u672c",
        "two\nlines",
        "*?[a]",
    }
    for shown in (repr(table), table._repr_html_()):
        assert not any(ord(character) < 32 and character != "\n" for character in shown)
    for row in fastdump.stats(os.path.join(root, b"d\xff\xfe")):  # noqa: PTH118
        assert row.max == 1


def test_header_text_that_is_not_utf8(tmp_path: Path) -> None:
    write_dump(tmp_path / dump("a"), outputs=[np.ones(3)], op_name="caf\udce9\udcff")
    table = fastdump.stats(tmp_path)
    assert table[0].op_name == "caf\\xe9\\xff"
    pa.table(table).validate(full=True)


def test_the_longest_names(tmp_path: Path) -> None:
    tail = ".1.2.1700000000000000"
    longest = "Add." + "n" * (255 - 4 - len(tail)) + tail
    folder = tmp_path / ("d" * 255)
    write_dump(folder / longest, outputs=[np.ones(3)])
    write_dump(folder / ("x" * 255), outputs=[np.ones(3)])
    (folder / ("y" * 255)).write_text("text")
    table = fastdump.stats(tmp_path)
    assert [len(row.path) for row in table] == [511, 511]
    assert table.skipped == {"text file": 1}


def test_a_tree_deeper_than_a_path_may_be_long(tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    for _ in range(50):
        name = "d" * 120
        os.mkdir(name, dir_fd=folder)
        inner = os.open(name, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    write_dump(tmp_path / ("d" * 120) / dump("a"), outputs=[np.ones(3)])
    table = fastdump.stats(tmp_path)
    assert len(table) == 1
    assert sum(table.skipped.values()) == 1


@pytest.fixture
def far_from_pytest() -> Iterator[Path]:
    """Return a directory for deep trees, in which pytest would recurse to remove what is left."""
    made = Path(tempfile.mkdtemp(prefix="fastdump"))
    yield made
    subprocess.run(["rm", "-rf", made], check=True)


def test_a_tree_of_a_thousand_levels(far_from_pytest: Path, run_python: RunPython) -> None:
    deepest = far_from_pytest
    for _ in range(1000):
        deepest /= "d"
        deepest.mkdir()
    write_dump(deepest / dump("deep"), outputs=[np.ones(3)])
    (row,) = scan(run_python, far_from_pytest, threads=1).rows
    assert row.path == "d/" * 1000 + dump("deep")


@pytest.mark.parametrize(
    "table",
    [
        b"\0" * 1000,
        b"\xff" * 1000,
        b"9134657216587341217," + b"x" * 1_000_000,
        b"9134657216587341217,../../../etc/passwd\n",
        b"9134657216587341217,9134657216587341217\n" * 1000,
        b"," * 10_000,
        b"9134657216587341217,a/\n9134657216587341217,/\n",
        b"9134657216587341217,\x1b]0;title\x07.b.1.2.1700000000000000\n",
    ],
    ids=range(8),
)
def test_mapping_csv_that_lies(table: bytes, tmp_path: Path) -> None:
    write_dump(tmp_path / "9134657216587341217", outputs=[np.ones(3)])
    (tmp_path / "mapping.csv").write_bytes(table)
    (row,) = fastdump.stats(tmp_path)
    assert (row.path, row.status, row.max) == ("9134657216587341217", "ok", 1)


def test_mapping_csv_that_is_no_file(tmp_path: Path, run_python: RunPython) -> None:
    for kind in ("fifo", "folder", "loop"):
        write_dump(tmp_path / kind / "9134657216587341217", outputs=[np.ones(3)])
    os.mkfifo(tmp_path / "fifo" / "mapping.csv")
    (tmp_path / "folder" / "mapping.csv").mkdir()
    (tmp_path / "loop" / "mapping.csv").symlink_to("mapping.csv")
    assert [row.status for row in scan(run_python, tmp_path).rows] == ["ok"] * 3


# Files that change while they are scanned

CHANGES = """
import json, os, sys
import numpy as np
import fastdump
from fastdump.testing import TensorSpec, dump_header, write_dump

root, engine = sys.argv[1:]
os.chdir(root)
nbytes = 1 << 38  # a hole that takes minutes to read, first by name: it is scanned until it is cut
spec = TensorSpec(b"", "FLOAT", shape=(nbytes // 4,), size=nbytes)
header = dump_header(outputs=[spec])

def name(op):
    return f"{op}.x.1.2.1700000000000000"

huge = name("Aaa")
with open(huge, "wb") as file:
    file.write(header)
    file.truncate(len(header) + nbytes)
victims = ["deleted", "replaced", "directory", "fifo", "cut", "emptied", "grown", "kept"]
for victim in victims:
    write_dump(name(victim), outputs=[np.arange(1, 101, dtype=np.float32)])
write_dump("new", outputs=[np.full(7, 9.0, np.float64)])
changed = False

def change(progress):
    global changed
    if changed or progress.bytes_done < 1 << 22:
        return
    changed = True
    os.unlink(name("deleted"))
    os.replace("new", name("replaced"))
    os.unlink(name("directory"))
    os.mkdir(name("directory"))
    os.unlink(name("fifo"))
    os.mkfifo(name("fifo"))
    os.truncate(name("cut"), os.path.getsize(name("cut")) - 201)
    os.truncate(name("emptied"), 0)
    with open(name("grown"), "ab") as file:
        file.write(b"12345")
    os.truncate(huge, len(header) + (1 << 20) + 3)

table = fastdump.stats(".", engine=engine, threads=1, progress=change)
rows = {row.op_type: (row.status, row.count, row.max, row.min, row.note) for row in table}
print(json.dumps([changed, rows, table.skipped]))
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_files_that_change_during_a_scan(
    engine: str, tmp_path: Path, run_python: RunPython
) -> None:
    changed, rows, skipped = json.loads(run_python(CHANGES, tmp_path, engine))
    assert changed
    assert rows.pop("Aaa")[:4] == ["changed", None, None, None]
    assert {op: tuple(row[:4]) for op, row in rows.items()} == {
        "deleted": ("unreadable", None, None, None),
        "replaced": ("ok", 7, 9, 9),
        "directory": ("unreadable", None, None, None),
        "fifo": ("unreadable", None, None, None),
        "cut": ("truncated", 49, 49, 1),
        "emptied": ("malformed", None, None, None),
        "grown": ("ok", 100, 100, 1),
        "kept": ("ok", 100, 100, 1),
    }
    for op in ("deleted", "directory", "fifo", "cut", "emptied", "grown"):
        assert rows[op][4], op
    assert skipped == {"vanished before it was read": 1}  # what took the place of another file


# Truncates files of ones while they are scanned. A page of zeros that stands for what is gone would
# show as a minimum of 0.
SHRINKING = """
import os, random, sys, threading
import numpy as np
import fastdump
from fastdump.testing import write_dump

root, engine = sys.argv[1:]
rng = random.Random(engine)
path = os.path.join(root, "Add.shrink.1.2.1700000000000000")
ones = np.ones(3 << 20, np.float32)
statuses = []
for turn in range(40):
    write_dump(path, outputs=[ones], op_name="x" * rng.randrange(1, 9))
    size = os.path.getsize(path)
    keep = rng.choice([0, 100, 4096, *rng.sample(range(size), 2), size - 1, size - 4096])
    # How long the other thread waits, in loops: from before the scan to after it.
    wait = int(rng.random() ** 2 * 60_000)

    def shrink():
        for _ in range(wait):
            pass
        os.truncate(path, keep)

    helper = threading.Thread(target=shrink)
    helper.start()
    (row,) = fastdump.stats(path, engine=engine, threads=1 + turn % 3)
    helper.join()
    statuses.append(row.status)
    if row.status in ("malformed", "changed"):
        assert row.count is None, row
        continue
    assert row.status in ("ok", "truncated"), row
    assert (row.status == "ok") == (row.count == ones.size), row
    if row.count:
        assert (row.max, row.min, row.mean) == (1, 1, 1), row
        assert abs(row.l2norm**2 / row.count - 1) < 1e-12, row
    else:
        assert row.max is None, row
print(*statuses)
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_file_that_shrinks_at_any_moment(
    engine: str, tmp_path: Path, run_python: RunPython
) -> None:
    statuses = run_python(SHRINKING, tmp_path, engine).split()
    assert len(statuses) == 40
    assert {"truncated", "changed"} & set(statuses)


# The file ends in the middle of its last page: what is behind reads as zeros without a fault.
CUT_IN_LAST_PAGE = """
import os, sys
import numpy as np
import fastdump
from fastdump._scan import TableScan
from fastdump.testing import TensorSpec, dump_header

root, engine = sys.argv[1:]
hole = 1 << 28  # takes long enough to cut the file before its end is reached
ones = np.ones(300_000, np.float32)
specs = [TensorSpec(b"", "INT8", shape=(hole,), size=hole), TensorSpec(ones)]
header = dump_header(outputs=specs)
path = os.path.join(root, "Add.cut.1.2.1700000000000000")
options = dict(level="basic", threads=1, engine=engine)
for n_cut in (1, 1000, 4096):
    with open(path, "wb") as file:
        file.write(header)
        file.seek(hole, os.SEEK_CUR)
        file.write(ones.tobytes())
    size = os.path.getsize(path)
    done_at_cut = []

    def cut(progress):
        if progress.bytes_done and not done_at_cut:
            os.truncate(path, size - n_cut)
            done_at_cut.append(progress.bytes_done)

    scan = TableScan([os.fsencode(path)], fastdump.Selection(), **options)
    scan._scan.run(cut, 0)
    (row,) = scan.table()
    assert done_at_cut[0] < hole, done_at_cut
    assert (row.status, row.io, row.count, row.min) == ("changed", None, None, None), row
"""


@pytest.mark.parametrize("io", ENGINES)
def test_a_file_that_loses_its_last_bytes_during_a_scan(
    io: str, tmp_path: Path, run_python: RunPython
) -> None:
    run_python(CUT_IN_LAST_PAGE, tmp_path, io)


FAULT = """
import mmap, os, sys
import numpy as np
import fastdump
from fastdump.testing import write_dump

path = os.path.join(sys.argv[1], "Add.a.1.2.1700000000000000")
write_dump(path, outputs=[np.ones(3 << 20)])
assert fastdump.stats(path, engine="mmap")[0].status == "ok"
with open(path, "rb") as file:
    mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
os.truncate(path, 0)
print("before", flush=True)
mapping[0]
print("after", flush=True)
"""


def test_faults_of_others_are_not_swallowed(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FAULT, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert ended.stdout == "before\n"
    assert ended.returncode == -signal.SIGBUS


@pytest.mark.parametrize("engine", ["mmap", "read"])
def test_memory_does_not_grow_with_the_file(
    engine: str, tmp_path: Path, run_python: RunPython
) -> None:
    nbytes = 1 << 30
    spec = TensorSpec(b"", "FLOAT16", shape=(nbytes // 2,), size=nbytes)
    path = tmp_path / dump("large")
    path.write_bytes(dump_header(outputs=[spec]))
    os.truncate(path, path.stat().st_size + nbytes)
    found = scan(run_python, path, engine=engine, threads=2, level="basic")
    (row,) = found.rows
    assert (row.status, row.count, row.max) == ("ok", nbytes // 2, 0)
    assert found.peak_nbytes < 48 * MIB


NO_MORE_THREADS = """
import resource, sys
import numpy as np
import fastdump

path = sys.argv[1]
array = np.ones(64 << 20, np.int8)
expected = fastdump.stats(path, threads=1)[0], fastdump.stats_of(array, threads=1)
with open("/proc/self/status") as status:
    used = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmSize"))
# Room for the stacks of some threads, not of all.
resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20),) * 2)
calls = {
    "scan": lambda: fastdump.stats(path, threads=300)[0] == expected[0],
    "array": lambda: fastdump.stats_of(array, threads=300) == expected[1],
}
try:
    print(calls[sys.argv[2]]())
except (OSError, MemoryError, RuntimeError) as error:
    print(type(error).__name__)
"""


@pytest.mark.measures_memory
@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space as Linux does")
@pytest.mark.parametrize("call", ["scan", "array"])
def test_threads_that_cannot_be_started(call: str, tmp_path: Path, run_python: RunPython) -> None:
    """As in a container that limits processes: an error or fewer threads, never an abort."""
    write_dump(tmp_path / dump("a"), outputs=[np.ones(3)])
    answer = run_python(NO_MORE_THREADS, tmp_path, call).strip()
    assert answer in ("True", "OSError", "MemoryError", "RuntimeError")


def test_rows_and_skipped_files_are_all_files(tmp_path: Path) -> None:
    rng = random.Random(9)
    original, _ = valid_file()
    n_files = 0
    kinds: Mapping[str, Callable[[], bytes]] = {
        "whole": lambda: original,
        "cut": lambda: original[: rng.randrange(len(original))],
        "twice": lambda: original * 2,
        "noise": lambda: rng.randbytes(rng.randrange(600)),
    }
    for kind, make in kinds.items():
        for i in range(25):
            for name in (dump(f"{kind}{i}"), f"{kind}{i}"):
                (tmp_path / name).write_bytes(make())
                n_files += 1
    table = fastdump.stats(tmp_path)
    assert len(set(table["path"])) + sum(table.skipped.values()) == n_files
    assert set(table["status"]) <= {
        *("ok", "truncated", "absent", "size_mismatch"),
        *("unsupported", "malformed", "unreadable"),
    }
