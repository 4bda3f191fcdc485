"""Names of files and directories that the writer makes, against the patterns that readers use."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdump import testing

OP_DEBUG = re.compile(r"(?i)^op_?debug\.node_op_?debug\.(\d+)(?:\.(\d+))?\.(\d{13,17})$")
EXCEPTION = re.compile(r"^exception_info\.(?P<stream>\d+)\.(?P<task>\d+)\.(?P<ts>\d{16,17})$")
CUSTOM = re.compile(r"^(?P<name>[^/]+)\.custom\.(?P<ts>\d{17})$")
CORE = re.compile(r"^(?P<kernel>[^/]+?)\.(?P<stream>\d+)\.(?P<task>\d+)\.(?P<ts>\d{17})\.core$")
NORM = re.compile(r"^(?P<op_type>[^./]+)\.(?P<op_name>[^./]+)\.(?P<task>\d+)\.(?P<ts>\d{17})$")
CONVERTED = re.compile(
    r"^(?P<dump>.+?)\.(?P<io>input|output|space|l1buffer)\.(?P<idx>\d+)"
    r"(?:\.(?P<extra>[^/]+?))?\.(?P<ext>npy|bin|pt|json)$"
)

NOW = 20260114093042007


def test_op_debug_name() -> None:
    assert testing.op_debug_name(task_id=10, stream_id=7, timestamp=1_700_000_000_000_000) == (
        "Opdebug.Node_OpDebug.10.7.1700000000000000"
    )
    older = testing.op_debug_name(task_id=59, stream_id=None, timestamp=1_597_922_031_178_434)
    assert OP_DEBUG.match(older)


@given(st.datetimes(datetime(1970, 1, 1), datetime(2286, 1, 1)))
def test_exception_time_is_17_digits_of_local_time(when: datetime) -> None:
    digits = str(testing.exception_time(when))
    assert len(digits) == 17
    assert datetime.strptime(digits, "%Y%m%d%H%M%S%f") == when.replace(
        microsecond=when.microsecond // 1000 * 1000
    )


def test_exception_names() -> None:
    brief = EXCEPTION.match(testing.exception_name(stream_id=5, task_id=1, timestamp=NOW))
    assert brief
    assert brief.groups() == ("5", "1", str(NOW))
    norm = NORM.match(testing.dump_name("Mat Mul", "a/b", task_id=3, stream_id=None, timestamp=NOW))
    assert norm
    assert norm.groups() == ("Mat_Mul", "a_b", "3", str(NOW))
    custom = CUSTOM.match(testing.custom_dump_name("after.gather", timestamp=NOW))
    assert custom
    assert custom.groups() == ("after.gather", str(NOW))
    core = CORE.match(testing.core_name("Add_9f2e", stream_id=5, task_id=1, timestamp=NOW))
    assert core
    assert core.groups() == ("Add_9f2e", "5", "1", str(NOW))


@pytest.mark.parametrize(
    ("parts", "extension", "name"),
    [
        (["input", 0], "npy", "Add.op.7.2.17.input.0.npy"),
        (["output", 12], "pt", "Add.op.7.2.17.output.12.pt"),
        (["output", 1, (2, 19, 3, 5)], "npy", "Add.op.7.2.17.output.1.2x19x3x5.npy"),
        (
            ["output", 1, (120,), "float32", "NC1HWC0"],
            "bin",
            "Add.op.7.2.17.output.1.120.float32.NC1HWC0.bin",
        ),
        (["input", 0, "ND", "float32"], "npy", "Add.op.7.2.17.input.0.ND.float32.npy"),
        (["space", 0], "bin", "Add.op.7.2.17.space.0.bin"),
        (["l1buffer", 3], "bin", "Add.op.7.2.17.l1buffer.3.bin"),
        (["output", 0], "json", "Add.op.7.2.17.output.0.json"),
    ],
)  # fmt: skip
def test_converted_name(parts: list[object], extension: str, name: str) -> None:
    made = testing.converted_name("Add.op.7.2.17", *parts, extension=extension)  # type: ignore[arg-type]
    assert made == name
    match = CONVERTED.match(made)
    assert match
    assert (match["dump"], match["io"], match["ext"]) == ("Add.op.7.2.17", parts[0], extension)


def test_directories() -> None:
    single = testing.single_op_dump_dir("dump", time="20260114093042", device=2)
    assert single == Path("dump/20260114093042/2")
    assert testing.exception_dump_dir("dump", device=3) == Path("dump/extra-info/data-dump/3")
    own = testing.mindspore_dump_dir("dump", rank=1, net="Net.a", graph_id=0, iteration=4)
    assert own == Path("dump/rank_1/Net.a/0/4")
    acl = testing.mindspore_acl_dump_dir(
        "dump", step=5, time="20260114093042", device=2, model="ge default", model_id=1, iteration=6
    )
    assert acl == Path("dump/5/20260114093042/2/ge_default/1/6")
