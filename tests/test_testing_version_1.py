"""The writer of version-1 files, with google protobuf as the oracle."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from dump_message import message_class

from fastdump import testing
from fastdump.testing import BufferSpec, OriginalOp, TensorSpec

DumpData = message_class("DumpData")


def test_file_is_one_message_with_the_payloads_in_it(tmp_path: Path) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    path = testing.write_version_1(
        tmp_path / "new" / "dump",
        op_name="a/b",
        dump_time=5,
        attrs=[("k", "v")],
        dfx_message="log",
        inputs=[x.T, TensorSpec(b"", dtype="FLOAT", shape=(4,), size=16, input_type=1)],
        outputs=[
            TensorSpec(
                np.array([1, -2, 7], ml_dtypes.int4),
                format="NCHW",
                origin_shape=(3, 1),
                original_op=OriginalOp("c", 1, 2, 3),
                dim_range=[(1, 2)],
                address=7,
            )
        ],
        buffers=[b"123"],
        spaces=[BufferSpec(b"45", size=9, arg_index=6)],
    )
    expected = DumpData(
        version="1.0",
        dump_time=5,
        op_name="a/b",
        attr=[{"name": "k", "value": "v"}],
        dfx_message="log",
        input=[
            {
                "data_type": 1,
                "format": 2,
                "shape": {"dim": [3, 2]},
                "data": x.T.tobytes(),
                "size": 24,
            },
            {"data_type": 1, "format": 2, "shape": {"dim": [4]}, "size": 16, "input_type": 1},
        ],
        output=[
            {
                "data_type": 28,
                "shape": {"dim": [3]},
                "original_op": {"name": "c", "output_index": 1, "data_type": 2, "format": 3},
                "data": b"\xe1\x07",
                "size": 2,
                "original_shape": {"dim": [3, 1]},
                "address": 7,
                "dim_range": [{"dim_start": 1, "dim_end": 2}],
            }
        ],
        buffer=[{"data": b"123", "size": 3}],
        space=[{"data": b"45", "size": 9, "arg_index": 6}],
    )
    content = path.read_bytes()
    assert DumpData.FromString(content) == expected
    assert content == expected.SerializeToString(deterministic=True)


def test_version_can_be_left_out(tmp_path: Path) -> None:
    path = testing.write_version_1(tmp_path / "dump", version="", op_name="x")
    assert DumpData.FromString(path.read_bytes()) == DumpData(op_name="x")


def test_reference_file_can_be_written_again(reference_dumps: Path, tmp_path: Path) -> None:
    reference = reference_dumps / "struct" / "Add.v1.14.7.1700000000000000"
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    path = testing.write_version_1(
        tmp_path / "dump",
        inputs=[x],
        outputs=[2 * x],
        op_name="v1",
        dump_time=1_700_000_000_000_000,
    )
    assert path.read_bytes() == reference.read_bytes()


def test_what_cannot_be_written_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nano"):
        testing.write_version_1(tmp_path / "dump", inputs=[TensorSpec(b"", address_type=1)])
    assert not list(tmp_path.iterdir())
