"""What the runtime writes when a kernel fails: exception dumps of every scene, overflow records."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from other_writers import standard_file

import fastdump
from fastdump import _core

BRIEF = "exception_info.5.1.20260101120000123"
NORM = "MatMul.layers_0_qkv.12.20260101120000123"
CUSTOM = "my.buffer.custom.20260101120000123"
FFTS = "Add.a.1.2.1700000000000000.4.11.0.0"

# input_type -> what the argument is
KINDS = {
    1: "general",
    2: "input",
    3: "output",
    4: "workspace",
    5: "kernel log",
    6: "communication context",
    7: "tiling data",
    8: "L1",
    9: "L2",
    10: "overflow address",
    11: "FFTS address",
    12: "shape tensor",
    101: "arguments",
    102: "stack",
    103: "device kernel object",
    104: "SIMT stack",
}


def describe(path: Path) -> dict[str, Any]:
    return _core.describe_file(os.fsencode(path))


def test_brief_dump(tmp_path: Path) -> None:
    """Buffers without a type, each with its place among the kernel's arguments."""
    sizes = [32, 7, 0, 4096]
    content = standard_file(
        bytes(range(32)) + b"tiling!" + b"\xff" * 4096 + b"work",
        version=b"2.0",
        dump_time=1_767_268_800_000_000,
        input=[
            {"size": size, "arg_index": i, "input_type": kind, "address": 4096}
            for i, (size, kind) in enumerate(zip(sizes, (1, 7, 1, 1), strict=True))
        ],
        space=[{"size": 4, "arg_index": 9}],
        dfx_message=b"[AIC_INFO] block 3\n[AIC_INFO] pc 0x1240\n",
    )
    (tmp_path / BRIEF).write_bytes(content)
    rows = list(fastdump.stats(tmp_path))
    assert [(row.io, row.index, row.nbytes, row.status) for row in rows] == [
        *(("input", i, size, "unsupported") for i, size in enumerate(sizes)),
        ("space", 0, 4, "ok"),
    ]
    for row in rows:
        assert (row.op_type, row.op_name, row.task_id, row.stream_id) == (None, None, 1, 5)
        assert (row.timestamp, row.count, row.max) == (20260101120000123, None, None)
    assert {row.dtype for row in rows[:-1]} == {"undefined"}
    assert "no declared type" in rows[0].note

    header = describe(tmp_path / BRIEF)
    assert (header["kind"], header["op_name"], header["note"]) == ("standard", "", "")
    assert header["dfx_message"] == "[AIC_INFO] block 3\n[AIC_INFO] pc 0x1240\n"
    arguments = [(t["arg_index"], t["input_type"], t["input_kind"]) for t in header["tensors"]]
    assert arguments == [
        (0, 1, "general"),
        (1, 7, "tiling data"),
        (2, 1, "general"),
        (3, 1, "general"),
        (9, 0, None),
    ]
    payloads = [content[t["offset"] :][: t["nbytes"]] for t in header["tensors"]]
    assert payloads[1] == b"tiling!"
    assert payloads[4] == b"work"


def test_brief_dump_with_shapes(tmp_path: Path) -> None:
    """The runtime may know shapes, yet not the type: it follows from the size."""
    content = standard_file(
        bytes(96),
        input=[{"shape": {"dim": [3, 4]}, "size": 48, "arg_index": 1, "input_type": 2}],
        output=[
            {"shape": {"dim": [2, 3, 4]}, "size": 48, "arg_index": 2},
        ],
    )
    (tmp_path / BRIEF).write_bytes(content)
    first, second = fastdump.stats(tmp_path)
    assert (first.shape, first.nbytes, first.status, first.count) == (
        (3, 4),
        48,
        "unsupported",
        None,
    )
    assert (second.io, second.shape, second.nbytes) == ("output", (2, 3, 4), 48)
    tensors = describe(tmp_path / BRIEF)["tensors"]
    assert [(t["arg_index"], t["input_kind"]) for t in tensors] == [(1, "input"), (2, None)]


def test_what_arguments_are(tmp_path: Path) -> None:
    numbers = [*range(14), *range(99, 107), (1 << 32) - 1]
    inputs = [{"input_type": number, "arg_index": (1 << 32) - 1} for number in numbers]
    (tmp_path / BRIEF).write_bytes(standard_file(input=inputs))
    tensors = describe(tmp_path / BRIEF)["tensors"]
    assert [t["input_type"] for t in tensors] == numbers
    assert [t["input_kind"] for t in tensors] == [KINDS.get(number) for number in numbers]
    assert {t["arg_index"] for t in tensors} == {(1 << 32) - 1}


def test_norm_dump(tmp_path: Path) -> None:
    """Tensors as in a dump; the name has no stream and a local time of 17 digits."""
    array = np.arange(8, dtype=np.float16)
    tensor = {"data_type": 2, "shape": {"dim": [8]}, "size": 16, "address": 1}
    # GE's whole word: sub-format above the format, a C0 code above both.
    words = {
        2: ("ND", 0),
        0x104: ("FRACTAL_Z", 1),
        0x2003: ("NC1HWC0", 0x20),
        0x500001D: ("FRACTAL_NZ", 0),
        0x5FFFF04: ("FRACTAL_Z", 0xFFFF),
        0xFF: ("MAX", 0),
        0x137: ("55", 1),
        -1: ("MAX", 0),
    }
    (tmp_path / NORM).write_bytes(
        standard_file(
            array.tobytes() * len(words),
            op_name=b"layers/0/qkv",
            input=[{**tensor, "format": word} for word in words],
        )
    )
    rows = list(fastdump.stats(tmp_path))
    assert [row.format for row in rows] == [name for name, _ in words.values()]
    for row in rows:
        assert (row.op_type, row.op_name) == ("MatMul", "layers/0/qkv")
        assert (row.task_id, row.stream_id, row.timestamp) == (12, None, 20260101120000123)
        assert (row.status, row.count, row.max) == ("ok", 8, 7)
    tensors = describe(tmp_path / NORM)["tensors"]
    assert [(t["format"], t["sub_format"]) for t in tensors] == list(words.values())


def test_a_sub_format_of_its_own_comes_first(tmp_path: Path) -> None:
    (tmp_path / NORM).write_bytes(standard_file(input=[{"format": 0x104, "sub_format": 8}]))
    (tensor,) = describe(tmp_path / NORM)["tensors"]
    assert (tensor["format"], tensor["sub_format"]) == ("FRACTAL_Z", 8)


@pytest.mark.parametrize(
    "tag",
    [
        b"not JSON",
        b"",
        b'{"a": ',
        b"[1, 2]",
        b"tensor_slice",
        b'{"input_tensor_slice": 1}',
        b"\xff\0\x1b[31m",
        b"{" * 10_000 + b"tensor_slice",
    ],
    ids=range(8),
)
@pytest.mark.parametrize("name", [CUSTOM, FFTS])
def test_custom_dump(tag: bytes, name: str, tmp_path: Path) -> None:
    """The user's text is shown as it is, whatever it looks like."""
    content = standard_file(
        b"12345678",
        op_name=name.encode(),
        attr=[{"name": b"user_tag", "value": tag}],
        input=[{"data_type": 3, "shape": {"dim": [8]}, "size": 8}],
    )
    (tmp_path / name).write_bytes(content)
    (row,) = fastdump.stats(tmp_path)
    assert (row.status, row.note, row.op_name) == ("ok", None, name)
    assert (row.shape, row.count, row.max) == ((8,), 8, ord("8"))
    assert describe(tmp_path / name)["attrs"] == [
        ("user_tag", tag.decode("utf-8", "backslashreplace"))
    ]


def test_custom_dump_without_a_name_in_its_header(tmp_path: Path) -> None:
    (tmp_path / CUSTOM).write_bytes(standard_file(b"1", input=[{"data_type": 3, "size": 1}]))
    (row,) = fastdump.stats(tmp_path)
    assert (row.op_type, row.op_name, row.timestamp) == (None, "my.buffer", 20260101120000123)


def test_log_text_is_kept_whatever_it_holds(tmp_path: Path) -> None:
    for i, log in enumerate(
        (b"\0a\0", b"caf\xe9 \xff", b"\x1b[31m\r\n", "\u65e5\u672c".encode(), b"x" * 100_000)
    ):
        path = tmp_path / f"exception_info.5.{i}.20260101120000123"
        path.write_bytes(standard_file(dfx_message=log))
        assert describe(path)["dfx_message"] == log.decode("utf-8", "backslashreplace")
    assert {row.status for row in fastdump.stats(tmp_path)} == {"ok"}  # of no tensor


def test_a_kernels_core_is_no_dump(tmp_path: Path) -> None:
    (tmp_path / BRIEF).write_bytes(standard_file(b"1", input=[{"size": 1, "input_type": 1}]))
    (tmp_path / "te_matmul.5.1.20260101120000123.core").write_bytes(b"\x7fELF" + bytes(100))
    (tmp_path / "te_matmul_host.o").write_bytes(b"\x7fELF" + bytes(100))
    (tmp_path / "te_matmul.json").write_text('{"binFileName": "te_matmul"}')
    table = fastdump.stats(tmp_path)
    assert [row.path for row in table] == [BRIEF]
    assert table.skipped == {"ELF core": 1, "not a dump file": 1, "text file": 1}


# Overflow records: in the layout of the dump a tensor as any other.

OLD = struct.pack("<6Q", 1, 2, 3, 0, 0x1000, 0x2000) + bytes(2000)
NEW = struct.pack("<6I", 0x5A5A5A5A, 0, 1, 0, 0, 88) + struct.pack("<11Q", *range(11)) + bytes(1936)


@pytest.mark.parametrize("record", [OLD, NEW], ids=["old", "new"])
@pytest.mark.parametrize(
    "name",
    [
        "Opdebug.Node_OpDebug.59.1597922031178434",
        "OpDebug.Node_Opdebug.59.7.1700000000000000",
        "Opdebug.Node_OpDebug.59.7.1700000000000000.4.1.2.3",
    ],
)
def test_overflow_record(record: bytes, name: str, tmp_path: Path) -> None:
    assert len(record) == 2048
    (tmp_path / name).write_bytes(
        standard_file(
            record,
            op_name=b"Node_OpDebug",
            output=[{"data_type": 4, "shape": {"dim": [2048]}, "size": 2048}],
        )
    )
    (row,) = fastdump.stats(tmp_path)
    assert (row.op_name, row.task_id, row.io) == ("Node_OpDebug", 59, "output")
    assert (row.dtype, row.shape, row.status) == ("uint8", (2048,), "ok")
    assert (row.max, row.count) == (max(record), 2048)
    (tensor,) = describe(tmp_path / name)["tensors"]
    assert (tmp_path / name).read_bytes()[tensor["offset"] :] == record
