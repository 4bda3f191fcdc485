"""The writer of nano files, against records that are taken apart by hand."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from fastdump import testing
from fastdump.testing import OriginalOp, TensorSpec

# Number in a standard file -> the graph engine's, and the engine's names of its numbers.
ENGINE = {
    "FLOAT": 0, "FLOAT16": 1, "INT8": 2, "INT32": 3, "UINT8": 4, "INT16": 6, "UINT16": 7,
    "UINT32": 8, "INT64": 9, "UINT64": 10, "DOUBLE": 11, "BOOL": 12, "STRING": 13,
    "DUAL_SUB_INT8": 14, "DUAL_SUB_UINT8": 15, "COMPLEX64": 16, "COMPLEX128": 17, "QINT8": 18,
    "QINT16": 19, "QINT32": 20, "QUINT8": 21, "QUINT16": 22, "RESOURCE": 23, "STRING_REF": 24,
    "DUAL": 25, "VARIANT": 26, "BF16": 27, "UNDEFINED": 28, "INT4": 29, "UINT1": 30, "INT2": 31,
    "UINT2": 32, "COMPLEX32": 33, "HIFLOAT8": 34, "FLOAT8_E5M2": 35, "FLOAT8_E4M3FN": 36,
    "FLOAT8_E8M0": 37, "FLOAT6_E3M2": 38, "FLOAT6_E2M3": 39, "FLOAT4_E2M1": 40,
    "FLOAT4_E1M2": 41, "HIFLOAT4": 42,
}  # fmt: skip


class Cursor:
    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def take(self, n_bytes: int) -> bytes:
        self.at += n_bytes
        assert self.at <= len(self.content)
        return self.content[self.at - n_bytes : self.at]

    def numbers(self, kinds: str) -> tuple[int, ...]:
        return struct.unpack("<" + kinds, self.take(struct.calcsize("<" + kinds)))

    @property
    def ended(self) -> bool:
        return self.at == len(self.content)


def tags(cursor: Cursor) -> dict[int, bytes]:
    found = {}
    while not cursor.ended:
        tag, length = cursor.numbers("II")
        assert tag not in found
        found[tag] = cursor.take(length)
    return found


def parse(path: Path) -> dict[str, Any]:
    """Return version, lists of records, and payloads; nothing may be left over."""
    file = Cursor(path.read_bytes())
    (length,) = file.numbers("Q")
    header = Cursor(file.take(length))
    magic, version = header.numbers("II")
    assert magic == 0x5A5A5A5A
    parsed: dict[str, Any] = {"version": version, "payloads": []}
    while not header.ended:
        tag, length = header.numbers("II")
        records = Cursor(header.take(length))
        (count,) = records.numbers("I")
        parsed[{4: "inputs", 5: "outputs"}[tag]] = found = []
        for _ in range(count):
            head = records.numbers("iii" if tag == 4 else "iiiiii")
            address, offset, size, tags_nbytes = records.numbers("QQQI")
            found.append((head, address, offset, size, tags(Cursor(records.take(tags_nbytes)))))
        assert records.ended
    for io in ("inputs", "outputs"):
        parsed["payloads"] += [file.take(size) for _, _, _, size, _ in parsed.get(io, ())]
    assert file.ended
    return parsed


def u64s(*dims: int) -> bytes:
    return struct.pack(f"<{len(dims)}Q", *dims)


def test_every_field(tmp_path: Path) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    y = np.array([[1.5, 2], [3, np.nan]], ml_dtypes.bfloat16)
    path = testing.write_nano(
        tmp_path / "a" / "dump",
        version=3,
        inputs=[
            TensorSpec(
                x.T,
                format="FRACTAL_NZ",
                origin_shape=(2, -1),
                address=(1 << 64) - 1,
                offset=5,
                address_type=-2,
            ),
            np.zeros((), np.int64),
        ],
        outputs=[
            TensorSpec(
                y, format=300, original_op=OriginalOp("conv/\u00e9", 1, 27, 3), address_type=4
            )
        ],
    )
    found = parse(path)
    assert found["version"] == 3
    assert found["inputs"] == [
        ((0, 29, -2), (1 << 64) - 1, 5, 48, {0: u64s(4, 3), 1: u64s(2, (1 << 64) - 1)}),
        ((9, 2, 0), 0, 0, 8, {0: b""}),
    ]
    assert found["outputs"] == [
        ((27, 300, 4, 1, 27, 3), 0, 0, 8, {0: u64s(2, 2), 2: "conv/\u00e9".encode()})
    ]
    assert found["payloads"] == [x.T.tobytes(), bytes(8), y.tobytes()]


def test_list_that_is_not_dumped_is_left_out_and_an_empty_one_is_not(tmp_path: Path) -> None:
    assert parse(testing.write_nano(tmp_path / "a")) == {"version": 1, "payloads": []}
    only_outputs = parse(testing.write_nano(tmp_path / "b", outputs=[np.ones(2, np.int8)]))
    assert "inputs" not in only_outputs
    assert len(only_outputs["outputs"]) == 1
    assert parse(testing.write_nano(tmp_path / "c", inputs=[]))["inputs"] == []


@pytest.mark.parametrize(("name", "number"), ENGINE.items())
def test_types_have_the_engines_numbers(name: str, number: int, tmp_path: Path) -> None:
    path = testing.write_nano(tmp_path / "dump", inputs=[TensorSpec(bytes(16), dtype=name)])
    assert parse(path)["inputs"][0][0] == (number, 2, 0)
    assert len(set(ENGINE.values())) == len(ENGINE)


def test_numbers_are_those_of_standard_files(tmp_path: Path) -> None:
    def number(dtype: int | None) -> int:
        spec = TensorSpec(b"", dtype=dtype)
        return parse(testing.write_nano(tmp_path / "dump", inputs=[spec]))["inputs"][0][0][0]  # type: ignore[no-any-return]

    assert number(1) == 0
    assert number(29) == 30
    assert number(None) == 28
    assert number(99) == 99
    assert number(-3) == -3


def test_narrow_elements_are_packed(tmp_path: Path) -> None:
    codes = TensorSpec(np.array([1, 0, 0, 0, 0, 0, 1, 0, 1], bool), dtype=29)
    found = parse(testing.write_nano(tmp_path / "dump", inputs=[codes, np.ones(3, ml_dtypes.int4)]))
    assert found["payloads"] == [b"\x82\x80", b"\x11\x01"]
    assert [record[0][0] for record in found["inputs"]] == [30, 29]


def test_size_is_written_as_told(tmp_path: Path) -> None:
    spec = TensorSpec(b"1234", size=1 << 40)
    content = testing.write_nano(tmp_path / "dump", inputs=[spec]).read_bytes()
    assert struct.pack("<QQQ", 0, 0, 1 << 40) in content
    assert content.endswith(b"1234")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"inputs": [TensorSpec(b"", dtype="HIFLOAT4_SCALE")]}, "HIFLOAT4_SCALE"),
        ({"inputs": [TensorSpec(b"", dtype=42)]}, "HIFLOAT4_SCALE"),
        ({"inputs": [TensorSpec(b"", original_op=OriginalOp())]}, "original_op"),
        ({"inputs": [TensorSpec(b"", arg_index=1)]}, "arg_index"),
        ({"outputs": [TensorSpec(b"", dim_range=[(0, 1)])]}, "dim_range"),
        ({"outputs": [TensorSpec(b"", sub_format=2)]}, "sub_format"),
        ({"inputs": [TensorSpec(b"", input_type=2)]}, "input_type"),
        ({"inputs": [TensorSpec(b"", shape=(1 << 64,))]}, "does not fit"),
        ({"inputs": [TensorSpec(b"", address_type=1 << 31)]}, "does not fit"),
        ({"inputs": [TensorSpec(b"", address=-1)]}, "does not fit"),
        ({"version": -1}, "does not fit"),
    ],
)
def test_content_that_the_format_has_no_place_for(
    content: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        testing.write_nano(tmp_path / "dump", **content)
    assert not list(tmp_path.iterdir())


def test_reference_file_can_be_written_again(reference_dumps: Path, tmp_path: Path) -> None:
    reference = reference_dumps / "nano" / "Add.nano.1.7.1700000000000000"
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    y = np.arange(6, dtype=np.int32).reshape(2, 3)
    path = testing.write_nano(
        tmp_path / reference.name,
        inputs=[TensorSpec(x, origin_shape=(3, 4))],
        outputs=[TensorSpec(y, origin_shape=(2, 3), original_op=OriginalOp("origin/op", 0, 3, 2))],
    )
    assert path.read_bytes() == reference.read_bytes()
