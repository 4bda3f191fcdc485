"""What the writer makes of exception dumps, with google protobuf as the oracle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from dump_message import message_class

from fastdump import testing
from fastdump.testing import BufferSpec, TensorSpec

DumpData = message_class("DumpData")


def test_brief_dump(tmp_path: Path) -> None:
    x = np.arange(6, dtype=np.float32)
    path = testing.write_dump(
        testing.exception_dump_dir(tmp_path, device=1)
        / testing.exception_name(stream_id=5, task_id=1, timestamp=20260114093042007),
        inputs=[
            testing.kernel_argument(x, 0, address=0x12C0),
            testing.kernel_argument(x, 2, kind="input", shape=(2, 3)),
            testing.kernel_argument(b"tile", 4, kind="tiling_data"),
            testing.kernel_argument(b"", 5, kind=77),
        ],
        outputs=[TensorSpec(x, dtype="UNDEFINED", shape=(6,), arg_index=3)],
        spaces=[BufferSpec(b"work", arg_index=6)],
        dfx_message="line 1\nline 2\n",
    )
    assert path == tmp_path / "extra-info/data-dump/1/exception_info.5.1.20260114093042007"
    content = path.read_bytes()
    at = 8 + int.from_bytes(content[:8], "little")
    assert DumpData.FromString(content[8:at]) == DumpData(
        version="2.0",
        input=[
            {"format": 2, "size": 24, "address": 0x12C0, "input_type": 1},
            {
                "format": 2,
                "shape": {"dim": [2, 3]},
                "size": 24,
                "arg_index": 2,
                "input_type": 2,
            },
            {"format": 2, "size": 4, "arg_index": 4, "input_type": 7},
            {"format": 2, "arg_index": 5, "input_type": 77},
        ],
        output=[{"format": 2, "shape": {"dim": [6]}, "size": 24, "arg_index": 3}],
        space=[{"size": 4, "arg_index": 6}],
        dfx_message="line 1\nline 2\n",
    )
    assert content[at:] == 2 * x.tobytes() + b"tile" + x.tobytes() + b"work"


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        ("invalid", 0),
        ("general", 1),
        ("input", 2),
        ("output", 3),
        ("workspace", 4),
        ("ascendc_log", 5),
        ("mc2_context", 6),
        ("tiling_data", 7),
        ("l1", 8),
        ("l2", 9),
        ("overflow_address", 10),
        ("ffts_address", 11),
        ("shape_tensor", 12),
        ("args", 101),
        ("stack", 102),
        ("device_kernel_object", 103),
        ("simt_stack", 104),
    ],
)
def test_kinds_of_arguments(kind: str, number: int) -> None:
    assert testing.kernel_argument(b"", 0, kind=kind).input_type == number


def test_unknown_kind() -> None:
    with pytest.raises(ValueError, match="tilling"):
        testing.kernel_argument(b"", 0, kind="tilling")
