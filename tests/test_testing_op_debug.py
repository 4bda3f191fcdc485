"""The writer of overflow records, against structures that are packed by hand."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dump_message import message_class

from fastdump import testing

DumpData = message_class("DumpData")


def numbers(record: bytes, at: int, count: int) -> list[int]:
    return list(struct.unpack_from(f"<{count}Q", record, at))


def test_old_layout() -> None:
    def info(first: int) -> dict[str, int]:
        fields = ("model_id", "stream_id", "task_id", "task_type", "pc_start", "para_base")
        return {field: first + position for position, field in enumerate(fields)}

    record = testing.op_debug_payload(
        dha_atomic_add={**info(10), "status": 1},
        l2_atomic_add={**info(20), "status": 2},
        ai_core={**info(30), "kernel_code": (1 << 64) - 1, "block_idx": 5, "status": 0x110},
    )
    expected = np.zeros(256, np.uint64)
    expected[0:6] = range(10, 16)
    expected[16:22] = range(20, 26)
    expected[32:38] = range(30, 36)
    expected[64], expected[96] = 1, 2
    expected[128:131] = (1 << 64) - 1, 5, 0x110
    assert record == expected.tobytes()


def test_units_that_are_not_given_are_zero() -> None:
    assert testing.op_debug_payload() == bytes(2048)
    record = testing.op_debug_payload(l2_atomic_add={"status": 9})
    assert record == bytes(768) + struct.pack("<Q", 9) + bytes(2048 - 776)


CORE = (
    "model_id", "stream_id", "task_id", "task_type", "context_id", "thread_id", "pc_start",
    "para_base", "core_id", "block_id", "status",
)  # fmt: skip
CPU = (
    "model_id", "stream_id", "task_id", "task_type", "context_id", "cpu_id", "thread_id", "status",
)  # fmt: skip
SDMA = (
    "model_id", "stream_id", "task_id", "task_type", "context_id", "thread_id", "src_addr",
    "dst_addr", "channel_id", "status",
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "number", "fields", "nbytes"),
    [("AIC", 0, CORE, 88), ("AIV", 1, CORE, 88), ("AICPU", 2, CPU, 64), ("SDMA", 3, SDMA, 80)],
)
def test_new_layout(name: str, number: int, fields: tuple[str, ...], nbytes: int) -> None:
    record = testing.op_debug_record(
        name, {field: 100 + position for position, field in enumerate(fields)}
    )
    assert len(record) == 2048
    assert struct.unpack_from("<6I", record) == (0x5A5A5A5A, 0, 1, number, 0, nbytes)
    assert numbers(record, 24, len(fields)) == list(range(100, 100 + len(fields)))
    assert not any(record[24 + nbytes :])


def test_version_1_of_an_ai_core_has_four_statuses() -> None:
    values: dict[str, Any] = dict.fromkeys(CORE, 1)
    record = testing.op_debug_record("AIV", {**values, "status": [5, 6, 7, 8]}, version=1)
    assert struct.unpack_from("<6I", record) == (0x5A5A5A5A, 1, 1, 1, 0, 112)
    assert numbers(record, 24, 14) == [1] * 10 + [5, 6, 7, 8]
    fewer = testing.op_debug_record("AIC", {"status": [5]}, version=1)
    assert numbers(fewer, 104, 4) == [5, 0, 0, 0]
    one = testing.op_debug_record("AIC", {"status": 5}, version=1)
    assert fewer == one
    other = testing.op_debug_record("SDMA", {"status": 5}, version=1)
    assert struct.unpack_from("<6I", other) == (0x5A5A5A5A, 1, 1, 3, 0, 80)


def test_head_is_written_as_told() -> None:
    record = testing.op_debug_record(9, {"core_id": 4}, version=7, valid=0, data_nbytes=4000)
    assert struct.unpack_from("<6I", record) == (0x5A5A5A5A, 7, 0, 9, 0, 4000)
    assert numbers(record, 24, 11) == [0] * 8 + [4, 0, 0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: testing.op_debug_payload(ai_core={"block_id": 1}), "block_id.*block_idx"),
        (lambda: testing.op_debug_payload(dha_atomic_add={"kernel_code": 1}), "kernel_code"),
        (lambda: testing.op_debug_payload(ai_core={"status": -1}), "does not fit"),
        (lambda: testing.op_debug_record("DSA", {}), "DSA"),
        (lambda: testing.op_debug_record("AICPU", {"core_id": 1}), "core_id"),
        (lambda: testing.op_debug_record("AIC", {"status": [1, 2]}), "one number"),
        (lambda: testing.op_debug_record("SDMA", {"status": [1]}, version=1), "one number"),
        (lambda: testing.op_debug_record("AIC", {"status": [1] * 5}, version=1), "4 statuses"),
        (lambda: testing.op_debug_record("AIC", {"status": 1 << 64}), "does not fit"),
        (lambda: testing.op_debug_record("AIC", {}, version=1 << 32), "does not fit"),
    ],
)
def test_values_that_a_record_has_no_place_for(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_record_is_the_output_of_a_dump(tmp_path: Path) -> None:
    record = testing.op_debug_payload(ai_core={"status": 1})
    path = testing.write_op_debug(tmp_path / "new" / "Opdebug.Node_OpDebug.1.2.3", record)
    content = path.read_bytes()
    at = 8 + int.from_bytes(content[:8], "little")
    assert DumpData.FromString(content[8:at]) == DumpData(
        version="2.0",
        op_name="Node_OpDebug",
        output=[{"data_type": 4, "format": 2, "shape": {"dim": [2048]}, "size": 2048}],
    )
    assert content[at:] == record
    again = testing.write_op_debug(path, record, append=True)
    assert again.read_bytes() == 2 * content


def test_reference_files_can_be_written_again(reference_dumps: Path, tmp_path: Path) -> None:
    folder = reference_dumps / "opdebug"
    common = {"task_type": 4, "pc_start": 0x1111, "para_base": 0x2222}
    old = testing.op_debug_payload(
        dha_atomic_add={"model_id": 101, "stream_id": 102, "task_id": 103, **common},
        l2_atomic_add={"model_id": 201, "stream_id": 202, "task_id": 203, **common},
        ai_core={
            "model_id": 1,
            "stream_id": 2,
            "task_id": 3,
            "kernel_code": 0xABCDEF,
            "block_idx": 7,
            "status": 0x20,
            **common,
        },
    )
    new = testing.op_debug_record(
        "AIC",
        {
            **{field: position for position, field in enumerate(CORE, 1)},
            "pc_start": 0x7000,
            "para_base": 0x8000,
            "status": 0x100,
        },
    )
    for task_id, record in ((1, old), (10, new)):
        name = testing.op_debug_name(task_id=task_id, stream_id=7, timestamp=1_700_000_000_000_000)
        path = testing.write_op_debug(tmp_path / name, record, dump_time=1_700_000_000_000_000)
        assert path.read_bytes() == (folder / name).read_bytes()
