"""The writer of FFTS+ slices: whole shape in the header, one thread's bytes in the file."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dump_message import message_class
from hypothesis import given, settings
from hypothesis import strategies as st

from fastdump import testing
from fastdump.testing import TensorSpec

DumpData = message_class("DumpData")
PLACE: dict[str, Any] = {
    "task_id": 1,
    "stream_id": 7,
    "timestamp": 1_700_000_000_000_000,
    "context_id": 11,
}


def parse(path: Path) -> tuple[Any, list[bytes], dict[str, Any]]:
    content = path.read_bytes()
    at = 8 + int.from_bytes(content[:8], "little")
    header = DumpData.FromString(content[8:at])
    payloads = []
    for described in (*header.input, *header.output):
        payloads.append(content[at : at + described.size])
        at += described.size
    assert at == len(content)
    ((name, value),) = [(attr.name, attr.value) for attr in header.attr]
    assert name == "ffts"
    return header, payloads, json.loads(value)


def test_slices_join_to_the_tensor(tmp_path: Path) -> None:
    x = np.arange(5 * 3, dtype=np.float32).reshape(5, 3)
    whole = np.arange(3, dtype=np.float16)
    y = np.arange(5 * 2, dtype=np.int8).reshape(5, 2)
    paths = testing.write_ffts_slices(
        tmp_path / "new",
        "Add",
        "a/b",
        threads=3,
        inputs=[x, whole],
        outputs=[TensorSpec(y, format="NCHW", address=9)],
        uncut=[("input", 1)],
        device_id=2,
        dump_time=77,
        **PLACE,
    )
    assert [path.name for path in paths] == [
        f"Add.a_b.1.7.{1_700_000_000_000_000 + thread}.4.11.{thread}.2" for thread in range(3)
    ]
    inputs, others, outputs = [], [], []
    for thread, path in enumerate(paths):
        header, payloads, attr = parse(path)
        assert header.op_name == "a/b"
        assert header.dump_time == 77
        assert [list(one.shape.dim) for one in header.input] == [[5, 3], [3]]
        assert list(header.output[0].shape.dim) == [5, 2]
        assert (header.output[0].format, header.output[0].address) == (0, 9)
        rows = attr["input_tensor_slice"][thread][0]
        low, high = (0, 2, 4, 5)[thread : thread + 2]
        assert rows == [{"lower": low, "higher": high}, {"lower": 0, "higher": 3}]
        assert attr["input_tensor_slice"][thread][1] == [{"lower": 0, "higher": 3}]
        assert attr["output_tensor_slice"][thread] == [
            [{"lower": low, "higher": high}, {"lower": 0, "higher": 2}]
        ]
        assert attr["inputCutList"] == [[3, 1], [1]]
        assert attr["outputCutList"] == [[3, 1]]
        assert attr["threadMode"] == 1
        assert attr["slice_instance_num"] == 3
        inputs.append(payloads[0])
        others.append(payloads[1])
        outputs.append(payloads[2])
    assert b"".join(inputs) == x.tobytes()
    assert b"".join(outputs) == y.tobytes()
    assert others == [whole.tobytes()] * 3


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.data())
@settings(deadline=None, max_examples=40)
def test_any_axis(shape: list[int], data: st.DataObject) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    threads = data.draw(st.integers(1, shape[axis]))
    x = np.arange(np.prod(shape), dtype=np.int16).reshape(shape)
    with tempfile.TemporaryDirectory() as directory:
        paths = testing.write_ffts_slices(
            directory, "A", "b", threads=threads, outputs=[x], axis=axis, **PLACE
        )
        parts = []
        for thread, path in enumerate(paths):
            header, (payload,), attr = parse(path)
            assert list(header.output[0].shape.dim) == shape
            region = attr["output_tensor_slice"][thread][0]
            dims = [one["higher"] - one["lower"] for one in region]
            parts.append(np.frombuffer(payload, np.int16).reshape(dims))
    np.testing.assert_array_equal(np.concatenate(parts, axis=axis), x)
    lengths = [part.shape[axis] for part in parts]
    assert sorted(lengths, reverse=True) == lengths
    assert lengths[0] - lengths[-1] <= 1


def test_what_cannot_be_sliced(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="bytes"):
        testing.write_ffts_slices(tmp_path, "A", "b", threads=2, inputs=[TensorSpec(b"1")], **PLACE)
    with pytest.raises(ValueError, match="too few"):
        testing.write_ffts_slices(tmp_path, "A", "b", threads=2, inputs=[np.ones((1, 5))], **PLACE)
    with pytest.raises(ValueError, match="axis 1"):
        testing.write_ffts_slices(
            tmp_path, "A", "b", threads=2, inputs=[np.ones(5)], axis=1, **PLACE
        )
    assert not list(tmp_path.iterdir())


def test_reference_slices_can_be_written_again(reference_dumps: Path, tmp_path: Path) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    paths = testing.write_ffts_slices(
        tmp_path,
        "Add",
        "ffts_op",
        threads=2,
        inputs=[x],
        outputs=[x],
        dump_time=1_700_000_000_000_000,
        **PLACE,
    )
    references = sorted((reference_dumps / "ffts").iterdir())
    assert [path.name for path in paths] == [reference.name for reference in references]
    for path, reference in zip(paths, references, strict=True):
        assert path.read_bytes() == reference.read_bytes()
