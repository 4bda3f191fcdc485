"""Overflow records, against the vendor's document and records packed by hand."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

import fastdump
from fastdump._tensor.op_debug import parse_op_debug

# From the vendor's guide on operators that overflow.
DOCUMENT = (
    '{ "DHA Atomic Add": { "model_id": 0, "stream_id": 0, "task_id": 0, "task_type": 0, '
    '"pc_start": "0x0", "para_base": "0x0", "status": 0 }, "L2 Atomic Add": { "model_id": 0, '
    '"stream_id": 0, "task_id": 0, "task_type": 0, "pc_start": "0x0", "para_base": "0x0", '
    '"status": 0 }, "AI Core": { "model_id": 514, "stream_id": 563, "task_id": 57, '
    '"task_type": 0, "pc_start": "0x1008005b0000", "para_base": "0x100800297000", '
    '"kernel_code": "0x1008005ae000", "block_idx": 1, "status": 32 } }'
)
MAGIC = 0x5A5A5A5A
BIG = 2**64 - 1


def old_record(**at: tuple[int, ...]) -> bytes:
    """Return a record of the old layout with u64s at the offsets in the names: ``at256=(1, 2)``."""
    record = bytearray(2048)
    for name, values in at.items():
        struct.pack_into(f"<{len(values)}Q", record, int(name.removeprefix("at")), *values)
    return bytes(record)


def new_record(
    acc_type: int, values: tuple[int, ...], *, version: int = 0, data_len: int | None = None
) -> bytes:
    head = (MAGIC, version, 1, acc_type, 0, 8 * len(values) if data_len is None else data_len)
    return (struct.pack("<6I", *head) + struct.pack(f"<{len(values)}Q", *values)).ljust(2048, b"\0")


def test_the_vendors_document() -> None:
    record = old_record(
        at256=(514, 563, 57, 0, 0x1008005B0000, 0x100800297000), at1024=(0x1008005AE000, 1, 32)
    )
    text = json.dumps(parse_op_debug(record).document())
    assert text == json.dumps(json.loads(DOCUMENT))  # with the order of the fields
    assert text.replace("{", "{ ").replace("}", " }") == DOCUMENT


def test_every_field_of_the_old_layout_is_where_it_is_written() -> None:
    record = parse_op_debug(
        old_record(
            at0=(1, 2, 3, 4, 5, 6),
            at128=(11, 12, 13, 14, 15, 16),
            at256=(21, 22, 23, 24, 25, 26),
            at512=(7,),
            at768=(17,),
            at1024=(27, 28, BIG),
        )
    )
    assert record.version is None
    assert [unit.unit for unit in record.units] == ["DHA Atomic Add", "L2 Atomic Add", "AI Core"]
    assert [list(unit.fields.values()) for unit in record.units] == [
        [1, 2, 3, 4, 5, 6, 7],
        [11, 12, 13, 14, 15, 16, 17],
        [21, 22, 23, 24, 25, 26, 27, 28, BIG],
    ]
    core = record.document()["AI Core"]
    assert (core["pc_start"], core["para_base"], core["kernel_code"]) == ("0x19", "0x1a", "0x1b")
    assert core["status"] == BIG


CORE_FIELDS = (
    *("model_id", "stream_id", "task_id", "task_type", "context_id", "thread_id", "pc_start"),
    *("para_base", "core_id", "block_id", "status"),
)
NEW = {
    0: ("AIC", CORE_FIELDS),
    1: ("AIV", CORE_FIELDS),
    2: (
        "AICPU",
        (
            *("model_id", "stream_id", "task_id", "task_type", "context_id", "cpu_id"),
            *("thread_id", "status"),
        ),
    ),
    3: (
        "SDMA",
        (
            *("model_id", "stream_id", "task_id", "task_type", "context_id", "thread_id"),
            *("src_addr", "dst_addr", "channel_id", "status"),
        ),
    ),
}
LENGTHS = {0: 88, 1: 88, 2: 64, 3: 80}


@pytest.mark.parametrize("acc_type", [0, 1, 2, 3])
def test_the_new_layout(acc_type: int) -> None:
    name, fields = NEW[acc_type]
    values = tuple(0x1000 + i for i in range(len(fields)))
    document = parse_op_debug(new_record(acc_type, values)).document()
    addresses = {"pc_start", "para_base", "src_addr", "dst_addr"}
    expected = [
        (field, f"0x{value:x}" if field in addresses else value)
        for field, value in zip(fields, values, strict=True)
    ]
    assert list(document) == ["magic", "version", "acc_list"]
    assert (document["magic"], document["version"]) == ("0x5a5a5a5a", 0)
    record = document["acc_list"]
    assert list(record) == ["valid", "acc_type", "rsv", "data_len", "data"]
    assert (record["valid"], record["acc_type"], record["rsv"]) == (1, name, 0)
    assert record["data_len"] == LENGTHS[acc_type]
    assert list(record["data"].items()) == expected


@pytest.mark.parametrize("acc_type", [0, 1])
def test_cores_have_four_statuses_in_version_1(acc_type: int) -> None:
    record = parse_op_debug(new_record(acc_type, (*range(1, 11), 32, 0, 256, BIG), version=1))
    assert record.version == 1
    document = record.document()["acc_list"]
    assert document["data_len"] == 112
    assert document["data"]["status"] == [32, 0, 256, BIG]
    assert record.units[0].fields["status"] == (32, 0, 256, BIG)


def test_other_units_have_one_status_in_version_1() -> None:
    document = parse_op_debug(new_record(2, tuple(range(8)), version=1)).document()["acc_list"]
    assert document["data"]["status"] == 7


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (b"", "found 0 bytes"),
        (bytes(2047), "found 2047 bytes"),
        (bytes(2049), "found 2049 bytes"),
        (struct.pack("<I", MAGIC), "ends at byte 4"),
        (new_record(4, tuple(range(11))), "acc_type at byte 12 of the overflow record is 4"),
        (new_record(0, tuple(range(11)), version=2), "version at byte 4 of the overflow record"),
        (new_record(0, tuple(range(11)), version=1), "data_len at byte 20 .* is 88, expected 112"),
        (new_record(3, tuple(range(10)), data_len=88), "is 88, expected 80 for SDMA"),
        (new_record(0, tuple(range(11)))[:111], "ends at byte 111, expected 88 bytes"),
    ],
)
def test_what_is_no_record_is_an_error(record: bytes, message: str) -> None:
    with pytest.raises(fastdump.DumpFormatError, match=message):
        parse_op_debug(record)


def test_every_prefix_of_a_record_is_an_error() -> None:
    whole = new_record(1, tuple(range(11)))
    for length in range(24 + 88):
        with pytest.raises(fastdump.DumpFormatError):
            parse_op_debug(whole[:length])
    assert parse_op_debug(whole[: 24 + 88]).units[0].unit == "AIV"


def test_records_of_another_writer(reference_dumps: Path) -> None:
    documents = []
    for op in fastdump.open(reference_dumps / "opdebug"):
        payload = op.outputs[0].raw()
        documents.append(parse_op_debug(payload.data).document())
    old = next(document for document in documents if "AI Core" in document)
    new = next(document for document in documents if "acc_list" in document)
    assert old["AI Core"] == {
        **{"model_id": 1, "stream_id": 2, "task_id": 3, "task_type": 4, "pc_start": "0x1111"},
        **{"para_base": "0x2222", "kernel_code": "0xabcdef", "block_idx": 7, "status": 32},
    }
    assert new["acc_list"]["acc_type"] == "AIC"
    assert new["acc_list"]["data"]["status"] == 256
