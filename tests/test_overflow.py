"""Overflow records: what they say, and which operators they are about."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastdump
from fastdump import demo, testing
from fastdump._overflow.status_bits import meaning_of, status_bits
from fastdump._words.text_table import plain

START = 1_700_000_000_000_000
MAGIC = 0x5A5A5A5A
CORE = 256  # where the old layout has the information of the AI Core, and 1024 its status
UNKNOWN = 65535
ONES = np.ones(4, np.float16)
OVERFLOWED = np.array([1, np.inf, 2, np.nan], np.float16)


def old_record(
    *, task: int = 7, stream: int = 3, status: int = 0x20, model_id: int = 1, dha: int = 0
) -> bytes:
    record = bytearray(2048)
    struct.pack_into("<6Q", record, CORE, model_id, stream, task, 0, 0x1000, 0x2000)
    struct.pack_into("<3Q", record, 1024, 0x1000, 5, status)
    struct.pack_into("<6Q", record, 0, model_id, stream, task, 0, 0x1000, 0x2000)
    struct.pack_into("<Q", record, 512, dha)
    return bytes(record)


def new_record(
    acc_type: int = 0,
    *,
    task: int = 7,
    stream: int = 3,
    context: int = UNKNOWN,
    thread: int = UNKNOWN,
    status: tuple[int, ...] = (0x20,),
    version: int = 0,
    valid: int = 1,
) -> bytes:
    task_fields = (1, stream, task, 0)
    fields: dict[int, tuple[int, ...]] = {
        0: (*task_fields, context, thread, 0x1000, 0x2000, 4, 5, *status),
        1: (*task_fields, context, thread, 0x1000, 0x2000, 4, 5, *status),
        2: (*task_fields, context, 9, thread, *status),
        3: (*task_fields, context, thread, 0x3000, 0x4000, 6, *status),
    }
    data = struct.pack(f"<{len(fields[acc_type])}Q", *fields[acc_type])
    head = struct.pack("<6I", MAGIC, version, valid, acc_type, 0, len(data))
    return (head + data).ljust(2048, b"\0")


def write_record(
    directory: Path, record: bytes, *, at: int = 0, task: int = 59, name: str | None = None
) -> Path:
    name = name or f"Opdebug.Node_OpDebug.{task}.3.{START + at}"
    return testing.write_op_debug(directory / name, record)


def write_operator(
    directory: Path,
    op_name: str = "net/MatMul",
    *,
    op_type: str = "MatMul",
    task: int = 7,
    stream: int | None = 3,
    at: int = 0,
    inputs: Any = (ONES,),
    outputs: Any = (OVERFLOWED,),
    **name: int,
) -> Path:
    file = testing.dump_name(
        op_type, op_name, task_id=task, stream_id=stream, timestamp=START + at, **name
    )
    return testing.write_dump(directory / file, inputs=inputs, outputs=outputs, op_name=op_name)


def place(root: Path, *, rank: int = 0, time: str = "20240101000000", step: int = 0) -> Path:
    root = testing.rank_dir(root, world_size=2, rank=rank)
    return testing.model_dump_dir(root, time=time, device=rank, model="net", model_id=1, step=step)


def only_unit(root: Path) -> fastdump.OverflowUnit:
    (finding,) = fastdump.overflow(root).findings
    return finding.unit


def path_of(unit: fastdump.OverflowUnit, root: Path) -> Path:
    assert unit.operator is not None
    (path,) = unit.operator.paths
    return root / path


# Statuses


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (0x8, "most negative signed integer"),
        (0x10, "integer overflow in an addition"),
        (0x20, "floating-point overflow"),
        (0x80, "negative float was converted to an unsigned"),
        (0x100, "float32 or int32 to float16"),
        (0x400, "cube unit"),
    ],
)
@pytest.mark.parametrize("unit", ["AI Core", "AIC", "AIV"])
def test_documented_bits(unit: str, mask: int, words: str) -> None:
    (bit,) = status_bits(unit, (mask,))
    assert (bit.mask, bit.word, bit.is_documented) == (mask, 0, True)
    assert words in bit.meaning
    assert meaning_of(unit, [bit]) == bit.meaning


def test_bits_add_up() -> None:
    bits = status_bits("AI Core", (272,))  # the vendor's example
    assert [bit.mask for bit in bits] == [0x10, 0x100]
    assert meaning_of("AI Core", bits) == f"{bits[0].meaning}; {bits[1].meaning}"


def test_other_bits_are_named_as_not_documented() -> None:
    bits = status_bits("AIC", (0x1 | 0x20 | 1 << 63,))
    assert [bit.is_documented for bit in bits] == [False, True, False]
    assert meaning_of("AIC", bits) == (
        "floating-point overflow; bits 0x1, 0x8000000000000000 are not documented"
    )


@pytest.mark.parametrize("unit", ["DHA Atomic Add", "L2 Atomic Add", "AICPU", "SDMA"])
def test_bits_of_other_units_are_not_documented(unit: str) -> None:
    bits = status_bits(unit, (0x20,))
    assert [bit.is_documented for bit in bits] == [False]
    assert meaning_of(unit, bits) == f"bit 0x20 of {unit} is not documented"


def test_only_the_first_of_several_statuses_is_documented() -> None:
    bits = status_bits("AIV", (0x20, 0, 0x20, 0))
    assert [(bit.word, bit.is_documented) for bit in bits] == [(0, True), (2, False)]
    assert meaning_of("AIV", bits) == (
        "floating-point overflow; bit 0x20 of status 2 is not documented"
    )


def test_no_status_is_no_overflow() -> None:
    assert status_bits("AIC", (0, 0, 0, 0)) == ()
    assert meaning_of("AIC", ()) == "no overflow"


# Records


def test_old_layout_reports_the_units_that_overflowed(tmp_path: Path) -> None:
    write_record(tmp_path, old_record(status=0, dha=0))
    write_record(tmp_path, old_record(status=0x400, dha=3), at=1)
    report = fastdump.overflow(tmp_path)
    silent, loud = report.records
    assert (silent.layout, silent.version, silent.status) == ("old", None, "ok")
    assert [unit.overflowed for unit in silent.units] == [False, False, False]
    assert [unit.unit for unit in loud.units if unit.overflowed] == ["DHA Atomic Add", "AI Core"]
    assert [one.unit.statuses for one in report.findings] == [(3,), (0x400,)]
    assert {unit.join for unit in silent.units} == {None}
    document = loud.document
    assert document is not None
    assert document["AI Core"]["task_id"] == 7
    assert document["AI Core"]["pc_start"] == "0x1000"


@pytest.mark.parametrize(
    ("acc_type", "unit", "version", "status"),
    [
        (0, "AIC", 0, (0x20,)),
        (1, "AIV", 1, (0x20, 0, 1, 0)),
        (2, "AICPU", 0, (1,)),
        (3, "SDMA", 1, (2,)),
    ],
)
def test_new_layout(
    acc_type: int, unit: str, version: int, status: tuple[int, ...], tmp_path: Path
) -> None:
    write_record(tmp_path, new_record(acc_type, version=version, status=status))
    write_operator(tmp_path)
    (finding,) = fastdump.overflow(tmp_path).findings
    record, found = finding.record, finding.unit
    assert (record.layout, record.version) == ("new", version)
    assert (found.unit, found.statuses, found.join) == (unit, status, "exact")
    document = record.document
    assert document is not None
    assert document["acc_list"]["acc_type"] == unit


def test_a_record_that_is_not_valid_is_no_finding(tmp_path: Path) -> None:
    write_record(tmp_path, new_record(valid=0))
    report = fastdump.overflow(tmp_path)
    assert report.findings == ()
    assert [record.status for record in report.records] == ["not_valid"]
    assert report.sentence == "no overflow in 1 record"


@pytest.mark.parametrize("name", ["OpDebug.Node_Opdebug", "op_debug.node_op_debug"])
def test_names_of_records_in_any_case(name: str, tmp_path: Path) -> None:
    write_record(tmp_path, old_record(), name=f"{name}.59.{START}")
    assert only_unit(tmp_path).meaning == "floating-point overflow"


def test_a_file_of_any_name_if_it_is_given_itself(tmp_path: Path) -> None:
    path = write_record(tmp_path, old_record(), name="record.bin")
    assert only_unit(path).meaning == "floating-point overflow"


def test_aicpu_records_named_after_their_operator(tmp_path: Path) -> None:
    record = new_record(2, task=UNKNOWN, status=(1,))
    write_record(tmp_path, record, name=f"TopK.net_TopKDebug.4.3.{START + 1}")
    write_operator(tmp_path, "net/TopK", op_type="TopK", task=4)
    # Operators that are only called so.
    write_operator(tmp_path, "net/PrintDebug", task=5)
    payload = np.zeros(16, np.uint8)
    write_operator(tmp_path, "net/BytesDebug", task=6, inputs=(), outputs=(payload,))
    status = np.frombuffer(record, np.uint8)
    write_operator(tmp_path, "net/CopyDebug", task=8, inputs=(status,), outputs=(status,))
    unit = only_unit(tmp_path)
    assert (unit.unit, unit.join) == ("AICPU", "name")
    assert unit.operator is not None
    assert unit.operator.paths == (f"TopK.net_TopK.4.3.{START}",)
    assert unit.operator.op_name == "net/TopK"
    assert "65535" in unit.join_note


def test_records_are_in_order_of_time_over_all_ranks(tmp_path: Path) -> None:
    write_record(place(tmp_path, rank=0), old_record(status=0x8), at=20)
    write_record(place(tmp_path, rank=1), old_record(status=0x10), at=10)
    write_record(place(tmp_path, rank=1, step=1), old_record(status=0x400), at=5)
    report = fastdump.overflow(tmp_path)
    found = [(one.rank, one.step, one.unit.statuses) for one in report.findings]
    assert found == [(1, 1, (0x400,)), (1, 0, (0x10,)), (0, 0, (0x8,))]
    assert report.sentence.startswith("rank 1, step 1: ")


def test_records_that_were_appended(tmp_path: Path) -> None:
    path = write_record(tmp_path, old_record(status=0x8))
    testing.write_op_debug(path, old_record(status=0x10), append=True)
    findings = fastdump.overflow(tmp_path).findings
    assert [(one.record.appended, one.unit.statuses) for one in findings] == [
        (0, (0x8,)),
        (1, (0x10,)),
    ]


def test_broken_records_are_rows(tmp_path: Path) -> None:
    whole = write_record(tmp_path, old_record(), at=0)
    whole_bytes = whole.read_bytes()
    names = [f"Opdebug.Node_OpDebug.59.3.{START + i}" for i in range(1, 6)]
    (tmp_path / names[0]).write_bytes(whole_bytes[:-1])
    (tmp_path / names[1]).write_bytes(b"not a dump at all")
    (tmp_path / names[2]).write_bytes(b"")
    write_record(tmp_path, old_record()[:2047], name=names[3])
    testing.write_dump(tmp_path / names[4], op_name="Node_OpDebug")
    report = fastdump.overflow(tmp_path)
    assert len(report.findings) == 1
    statuses = {record.path: record.status for record in report.records}
    assert statuses == {whole.name: "ok", names[0]: "truncated"} | dict.fromkeys(
        names[1:], "malformed"
    )
    for record in report.records[1:]:
        assert record.note
        assert record.units == ()
        assert record.document is None


@pytest.mark.parametrize("cut", [*range(0, 2090, 97), -1])
def test_any_beginning_of_a_file_is_a_row(cut: int, tmp_path: Path) -> None:
    path = write_record(tmp_path, new_record())
    path.write_bytes(path.read_bytes()[:cut])
    report = fastdump.overflow(tmp_path)
    (record,) = report.records
    assert record.status in ("truncated", "malformed")
    assert "could not be read" in report.sentence


def test_a_file_that_vanishes_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / f"Opdebug.Node_OpDebug.59.3.{START}").symlink_to(tmp_path / "nothing")
    write_operator(tmp_path)
    (record,) = fastdump.overflow(tmp_path, follow_links=True).records or (None,)
    if record is not None:  # the walk may pass over links to nothing
        assert record.status == "unreadable"


def test_no_record_and_no_dump(tmp_path: Path) -> None:
    with pytest.raises(fastdump.NoDumpError):
        fastdump.overflow(tmp_path)
    write_operator(tmp_path)
    report = fastdump.overflow(tmp_path)
    assert (report.records, report.findings, report.table) == ((), (), None)
    assert report.sentence == "no overflow record"


# Joins


def test_the_operator_and_how_its_tensors_look(tmp_path: Path) -> None:
    root = place(tmp_path)
    write_record(root, old_record(), at=5)
    path = write_operator(root)
    write_operator(root, "net/Other", task=8)
    # Nothing but the operator's own file is read.
    (root / f"Add.broken.9.3.{START}").write_bytes(b"broken")
    report = fastdump.overflow(tmp_path)
    (finding,) = report.findings
    unit = finding.unit
    assert (unit.join, unit.join_note) == ("exact", "")
    assert path_of(unit, tmp_path) == path
    assert unit.operator is not None
    assert (unit.operator.op_type, unit.operator.op_name) == ("MatMul", "net/MatMul")
    into, out = unit.operator.tensors
    assert (into.io, into.nan, into.saturated, into.max) == ("input", 0, 0, 1)
    assert (out.io, out.nan, out.pos_inf, out.first_bad) == ("output", 1, 1, 1)
    assert report.table is not None
    assert set(report.table["path"]) == {str(path.relative_to(tmp_path))}
    assert report.sentence == (
        "rank 0, step 0: net/MatMul overflowed on AI Core; operator: MatMul net/MatMul; status: "
        "0x20: floating-point overflow; inputs: finite, up to 1; float16 ends at 65,504; outputs: "
        "output.0 has 1 NaN, 1 +Inf, the first at [1]"
    )


def test_saturated_values_are_told(tmp_path: Path) -> None:
    write_record(tmp_path, old_record())
    top = np.array([65504, -65504, 1], np.float16)
    codes = np.array([255, 0], np.uint8)  # nothing special for integers
    write_operator(tmp_path, inputs=(codes,), outputs=(top,))
    sentence = fastdump.overflow(tmp_path).sentence
    assert "; inputs: finite;" in sentence
    assert "output.0 has 2 elements at the largest value of float16" in sentence


def test_bad_inputs_are_told(tmp_path: Path) -> None:
    write_record(tmp_path, old_record())
    write_operator(tmp_path, inputs=(np.array([[0, 1], [np.nan, 1]], np.float32),), outputs=())
    sentence = fastdump.overflow(tmp_path).sentence
    assert "inputs: input.0 has 1 NaN, the first at [1, 0]" in sentence
    assert sentence.endswith("; outputs: not dumped")


def test_of_several_the_nearest_in_time(tmp_path: Path) -> None:
    write_record(tmp_path, old_record(), at=100)
    write_operator(tmp_path, "net/a", at=60)
    nearest = write_operator(tmp_path, "net/b", at=120)
    write_operator(tmp_path, "net/c", at=141)
    unit = only_unit(tmp_path)
    assert unit.join == "nearest"
    assert path_of(unit, tmp_path) == nearest
    assert "20 us" in unit.join_note
    assert "net_a" in unit.join_note
    assert "net_c" in unit.join_note


def test_what_time_does_not_tell_apart_is_ambiguous(tmp_path: Path) -> None:
    write_record(tmp_path, old_record(), at=100)
    write_operator(tmp_path, "net/a", at=90)
    write_operator(tmp_path, "net/b", at=110)
    write_operator(tmp_path, "net/c", at=500)
    unit = only_unit(tmp_path)
    assert unit.join == "ambiguous"
    assert "1 other file: MatMul.net_b" in unit.join_note
    assert "probably overflowed" in fastdump.overflow(tmp_path).sentence


def test_the_same_directory_comes_before_nearer_times(tmp_path: Path) -> None:
    write_record(place(tmp_path, step=1), old_record(), at=100)
    write_operator(place(tmp_path, step=0), at=99)
    path = write_operator(place(tmp_path, step=1), at=10)
    unit = only_unit(tmp_path)
    assert (unit.join, path_of(unit, tmp_path)) == ("exact", path)


def test_a_record_beside_the_models_of_its_device(tmp_path: Path) -> None:
    root = testing.rank_dir(tmp_path, world_size=2, rank=0)
    write_record(testing.single_op_dump_dir(root, time="20240101000000", device=0), old_record())
    path = write_operator(place(tmp_path), at=3)
    other = testing.model_dump_dir(
        root, time="20240101000000", device=0, model="other", model_id=2, step=0
    )
    write_operator(other, at=1)
    unit = only_unit(tmp_path)
    assert (unit.join, path_of(unit, tmp_path)) == ("exact", path)


@pytest.mark.parametrize("elsewhere", [{"rank": 1}, {"time": "20240101000001"}])
def test_operators_of_other_ranks_and_times_do_not_count(
    elsewhere: dict[str, Any], tmp_path: Path
) -> None:
    write_record(place(tmp_path), old_record())
    write_operator(place(tmp_path, **elsewhere))
    unit = only_unit(tmp_path)
    assert (unit.join, unit.operator) == ("none", None)
    assert unit.join_note == "no operator with task 7 and stream 3 was dumped in its place"


def test_where_paths_tell_nothing_only_the_same_directory_counts(tmp_path: Path) -> None:
    write_record(tmp_path / "a", old_record())
    write_operator(tmp_path / "b")
    assert only_unit(tmp_path).join == "none"


def test_another_stream_is_another_operator(tmp_path: Path) -> None:
    write_record(tmp_path, old_record())
    write_operator(tmp_path, stream=4)
    unit = only_unit(tmp_path)
    assert unit.join == "none"
    assert "there is 1 file of stream 4" in unit.join_note
    assert "why: no operator with task 7" in fastdump.overflow(tmp_path).sentence


def test_threads_of_one_task(tmp_path: Path) -> None:
    write_record(tmp_path, new_record(context=2, thread=1))
    paths = [
        write_operator(tmp_path, context_id=2, thread_id=thread, at=thread) for thread in range(3)
    ]
    unit = only_unit(tmp_path)
    assert (unit.join, path_of(unit, tmp_path)) == ("exact", paths[1])
    assert unit.operator is not None
    assert (unit.operator.context_id, unit.operator.thread_id) == (2, 1)
    for path in paths[1:2]:
        path.unlink()
    unit = only_unit(tmp_path)
    assert unit.join == "none"
    assert "context 2, thread 1" in unit.join_note


@pytest.mark.parametrize("unknown", [0xFFFF, 0xFFFFFFFF, 2**64 - 1])
def test_what_a_record_does_not_know(unknown: int, tmp_path: Path) -> None:
    write_operator(tmp_path, task=UNKNOWN, stream=UNKNOWN)
    write_operator(tmp_path, "net/other")
    write_record(tmp_path, new_record(task=unknown, stream=unknown), at=1)
    unit = only_unit(tmp_path)
    assert unit.join == "none"
    assert unit.join_note == f"the record does not know the task ({unknown})"
    write_record(tmp_path, new_record(stream=unknown), at=1)
    unit = only_unit(tmp_path)
    assert unit.join == "exact"
    assert unit.join_note == f"the record does not know the stream ({unknown})"


def test_names_of_older_toolkits_have_no_stream(tmp_path: Path) -> None:
    write_record(tmp_path, old_record(), name=f"Opdebug.Node_OpDebug.59.{START}")
    path = write_operator(tmp_path, stream=None)
    unit = only_unit(tmp_path)
    assert (unit.join, unit.join_note) == ("exact", "the file's name tells no stream")
    assert path_of(unit, tmp_path) == path


def test_both_files_of_a_collective_operator(tmp_path: Path) -> None:
    write_record(tmp_path, old_record(), at=50)
    before = write_operator(tmp_path, "net/sum", op_type="HcomAllReduce", outputs=())
    after = write_operator(tmp_path, "net/sum", op_type="HcomAllReduce", inputs=(), at=40)
    unit = only_unit(tmp_path)
    assert unit.join == "exact"
    assert unit.operator is not None
    assert set(unit.operator.paths) == {before.name, after.name}
    assert {row.io for row in unit.operator.tensors} == {"input", "output"}


def test_a_broken_file_of_the_operator_is_told(tmp_path: Path) -> None:
    write_record(tmp_path, old_record())
    path = write_operator(tmp_path)
    path.write_bytes(b"broken")
    unit = only_unit(tmp_path)
    assert unit.operator is not None
    assert [row.status for row in unit.operator.tensors] == ["malformed"]
    report = fastdump.overflow(tmp_path)
    assert report.notes == ("1 file could not be read",)
    assert any("malformed" in plain(line) for line in report.in_full())


def test_operators_of_which_there_are_statistics_only(tmp_path: Path) -> None:
    write_record(tmp_path, old_record())
    name = testing.dump_name("MatMul", "net/MatMul", task_id=7, stream_id=3, timestamp=START)
    array = np.array([1, np.nan], np.float32)
    testing.write_statistics_csv(tmp_path / f"{name}.csv", outputs=[array])
    unit = only_unit(tmp_path)
    assert unit.operator is not None
    assert [row.source for row in unit.operator.tensors] == ["csv"]


# Dumps of others


def test_reference_records(reference_dumps: Path) -> None:
    report = fastdump.overflow(reference_dumps / "opdebug")
    assert [record.layout for record in report.records] == ["old", "new"]
    for record in report.records:
        payload = (reference_dumps / "opdebug" / record.path).read_bytes()[-2048:]
        if record.layout == "old":
            at, unit = 1024 + 16, record.units[2]
        else:
            at, unit = 24 + 80, record.units[0]
        assert unit.statuses == struct.unpack_from("<Q", payload, at)
        task = struct.unpack_from("<Q", payload, 256 + 16 if record.layout == "old" else 24 + 16)
        assert (unit.fields["task_id"],) == task
        assert unit.overflowed
        assert unit.join == "none"


def test_files_of_operators_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    demo.write_overflow_demo(tmp_path)
    assert fastdump.overflow(tmp_path).notes == ()
    finding = fastdump.overflow(tmp_path).findings[-1]
    (tmp_path / finding.unit.operator.paths[0]).write_bytes(b"no dump")
    report = fastdump.overflow(tmp_path)
    assert report.notes == ("1 file could not be read",)
    text = "\n".join("".join(cell.text for cell in line) for line in report.lines(verbose=True))
    assert f"{finding.unit.operator.paths[0]}: malformed: " in text
