"""The writer of dump files, with google protobuf as the oracle for headers."""

from __future__ import annotations

import re
import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from dump_message import message_class
from hypothesis import given, settings
from hypothesis import strategies as st

from fastdump import testing
from fastdump.testing import BufferSpec, OriginalOp, TensorSpec

REFERENCE = Path(__file__).resolve().parents[2] / "shared" / "reference-dumps"

DumpData = message_class("DumpData")


def parse_header(content: bytes) -> Any:
    length = int.from_bytes(content[:8], "little")
    assert len(content) >= 8 + length
    return DumpData.FromString(content[8 : 8 + length])


def parse_file(path: Path) -> tuple[Any, list[bytes]]:
    """Return the header and the payloads in their order; nothing may be left over."""
    content = path.read_bytes()
    header = parse_header(content)
    payloads = []
    at = 8 + int.from_bytes(content[:8], "little")
    for described in (*header.input, *header.output, *header.buffer, *header.space):
        payloads.append(content[at : at + described.size])
        at += described.size
    assert at == len(content)
    return header, payloads


def test_every_field_of_the_header() -> None:
    header = testing.dump_header(
        version="2.0",
        dump_time=1_700_000_000_000_001,
        op_name="model/layers.0/Add",
        attrs=[("user_tag", "a"), ("slices", '{"threadMode": 1}')],
        dfx_message="line 1\nline 2 \u00e9\n",
        inputs=[
            TensorSpec(
                b"\1" * 12,
                dtype="BF16",
                format="FRACTAL_NZ",
                shape=(1, 1, 2, 3),
                origin_shape=(2, 3),
                address=0x1240_0000_0000,
                sub_format=7,
                offset=(1 << 64) - 1,
                arg_index=2,
                input_type=3,
            ),
            np.zeros((), np.int64),
        ],
        outputs=[
            TensorSpec(
                np.zeros((4, 5), np.float16),
                format="NCHW",
                origin_shape=(5, 4),
                address=9,
                sub_format=-1,
                offset=10,
                arg_index=11,
                dim_range=[(1, 4), (0, 1 << 63)],
                original_op=OriginalOp("conv1", output_index=1, data_type=27, format=3),
            )
        ],
        buffers=[b"12345", BufferSpec(b"1", type=2, size=99)],
        spaces=[BufferSpec(np.zeros(3, np.int32), type=1, arg_index=4)],
    )
    expected = DumpData(
        version="2.0",
        dump_time=1_700_000_000_000_001,
        op_name="model/layers.0/Add",
        dfx_message="line 1\nline 2 \u00e9\n",
        attr=[
            {"name": "user_tag", "value": "a"},
            {"name": "slices", "value": '{"threadMode": 1}'},
        ],
        input=[
            {
                "data_type": 27,
                "format": 29,
                "shape": {"dim": [1, 1, 2, 3]},
                "size": 12,
                "original_shape": {"dim": [2, 3]},
                "sub_format": 7,
                "address": 0x1240_0000_0000,
                "offset": (1 << 64) - 1,
                "arg_index": 2,
                "input_type": 3,
            },
            {"data_type": 8, "format": 2, "size": 8},
        ],
        output=[
            {
                "data_type": 2,
                "format": 0,
                "shape": {"dim": [4, 5]},
                "original_op": {
                    "name": "conv1",
                    "output_index": 1,
                    "data_type": 27,
                    "format": 3,
                },
                "size": 40,
                "original_shape": {"dim": [5, 4]},
                "sub_format": -1,
                "address": 9,
                "dim_range": [
                    {"dim_start": 1, "dim_end": 4},
                    {"dim_start": 0, "dim_end": 1 << 63},
                ],
                "offset": 10,
                "arg_index": 11,
            }
        ],
        buffer=[{"size": 5}, {"buffer_type": 2, "size": 99}],
        space=[{"type": 1, "size": 12, "arg_index": 4}],
    )
    assert parse_header(header) == expected
    assert header[8:] == expected.SerializeToString(deterministic=True)
    assert int.from_bytes(header[:8], "little") == len(header) - 8


def test_empty_header() -> None:
    assert testing.dump_header(version="") == bytes(8)
    assert parse_header(testing.dump_header()) == DumpData(version="2.0")


uint64s = st.integers(0, (1 << 64) - 1)
uint32s = st.integers(0, (1 << 32) - 1)
int32s = st.integers(-(1 << 31), (1 << 31) - 1)
dims = st.lists(st.integers(-1, 1 << 62), max_size=5)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
common = {
    "dtype": int32s,
    "format": int32s,
    "shape": dims,
    "origin_shape": dims,
    "size": uint64s,
    "address": uint64s,
    "sub_format": int32s,
    "offset": uint64s,
    "arg_index": uint32s,
}
original_ops = st.builds(OriginalOp, texts, uint32s, int32s, int32s)
inputs = st.builds(TensorSpec, st.binary(max_size=9), input_type=uint32s, **common)
outputs = st.builds(
    TensorSpec,
    st.binary(max_size=9),
    dim_range=st.lists(st.tuples(uint64s, uint64s), max_size=3),
    original_op=st.none() | original_ops,
    **common,
)
blobs = st.builds(BufferSpec, st.binary(max_size=9), st.none() | uint64s, int32s)


def assert_described(described: Any, spec: TensorSpec) -> None:
    as_stored = [dim % (1 << 64) for dim in spec.shape or ()]
    assert (described.data_type, described.format) == (spec.dtype, spec.format)
    assert list(described.shape.dim) == as_stored
    assert list(described.original_shape.dim) == [dim % (1 << 64) for dim in spec.origin_shape]
    for name in ("size", "address", "sub_format", "offset", "arg_index"):
        assert getattr(described, name) == getattr(spec, name)


@given(
    st.lists(inputs, max_size=3),
    st.lists(outputs, max_size=3),
    st.lists(blobs, max_size=2),
    st.lists(blobs, max_size=2),
    st.tuples(texts, texts, texts),
    uint64s,
    st.lists(st.tuples(texts, texts), max_size=3),
)
@settings(deadline=None)
def test_any_header_is_what_google_protobuf_reads_and_writes(
    input_specs: list[TensorSpec],
    output_specs: list[TensorSpec],
    buffers: list[BufferSpec],
    spaces: list[BufferSpec],
    strings: tuple[str, str, str],
    dump_time: int,
    attrs: list[tuple[str, str]],
) -> None:
    version, op_name, dfx_message = strings
    header = testing.dump_header(
        inputs=input_specs,
        outputs=output_specs,
        buffers=buffers,
        spaces=spaces,
        op_name=op_name,
        version=version,
        dump_time=dump_time,
        attrs=attrs,
        dfx_message=dfx_message,
    )
    parsed = parse_header(header)
    assert (parsed.version, parsed.op_name, parsed.dfx_message) == strings
    assert parsed.dump_time == dump_time
    assert [(attr.name, attr.value) for attr in parsed.attr] == attrs
    assert len(parsed.input) == len(input_specs)
    for described, spec in zip(parsed.input, input_specs, strict=True):
        assert_described(described, spec)
        assert described.input_type == spec.input_type
    for described, spec in zip(parsed.output, output_specs, strict=True):
        assert_described(described, spec)
        assert [(r.dim_start, r.dim_end) for r in described.dim_range] == spec.dim_range
        op = described.original_op
        assert spec.original_op in (
            None,
            OriginalOp(op.name, op.output_index, op.data_type, op.format),
        )
        assert described.HasField("original_op") == (spec.original_op is not None)
    for described, blob in zip(parsed.buffer, buffers, strict=True):
        assert (described.buffer_type, described.size) == (blob.type, declared(blob))
    for described, blob in zip(parsed.space, spaces, strict=True):
        assert (described.type, described.size) == (blob.type, declared(blob))
    assert header[8:] == parsed.SerializeToString(deterministic=True)


def declared(blob: BufferSpec) -> int:
    return len(blob.data) if blob.size is None else blob.size


def test_payloads_are_inputs_outputs_buffers_spaces(tmp_path: Path) -> None:
    x, y = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([True, False])
    z = np.arange(3, dtype=np.uint16)
    path = testing.write_dump(
        tmp_path / "dump",
        outputs=[z],
        spaces=[b"space"],
        inputs=[x, TensorSpec(y, size=2)],
        buffers=[BufferSpec(b"buffer"), b""],
    )
    assert path == tmp_path / "dump"
    header, payloads = parse_file(path)
    assert payloads == [x.tobytes(), y.tobytes(), z.tobytes(), b"buffer", b"", b"space"]
    assert [len(header.input), len(header.output), len(header.buffer), len(header.space)] == [
        2,
        1,
        2,
        1,
    ]


NUMBERS = {
    "float32": 1,
    "float16": 2,
    "int8": 3,
    "uint8": 4,
    "int16": 5,
    "uint16": 6,
    "int32": 7,
    "int64": 8,
    "uint32": 9,
    "uint64": 10,
    "bool": 11,
    "float64": 12,
    "complex64": 16,
    "complex128": 17,
    "bfloat16": 27,
    "int4": 28,
    "int2": 30,
    "uint2": 31,
    "float8_e5m2": 34,
    "float8_e4m3fn": 35,
    "float8_e8m0fnu": 36,
    "float4_e2m1fn": 39,
}


@pytest.mark.parametrize(("name", "number"), NUMBERS.items())
def test_data_type_of_an_array(name: str, number: int, tmp_path: Path) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
    array = np.array([1, 0, 1], np.int8).astype(dtype)
    header, (payload,) = parse_file(testing.write_dump(tmp_path / "dump", outputs=[array]))
    assert header.output[0].data_type == number
    assert list(header.output[0].shape.dim) == [3]
    if dtype.itemsize > 1:
        assert payload == array.tobytes()


@pytest.mark.parametrize(
    ("dtype", "number"),
    [
        ("COMPLEX32", 32),
        ("complex32", 32),
        ("HIFLOAT8", 33),
        ("hifloat8", 33),
        ("STRING", 13),
        ("FLOAT", 1),
        ("float32", 1),
        ("BF16", 27),
        ("QINT8", 18),
        ("INT8", 3),
        ("int8", 3),
        ("UINT1", 29),
        ("UNDEFINED", 0),
        (99, 99),
        (-1, -1),
        (None, 0),
    ],
)
def test_data_type_of_bytes(dtype: str | int | None, number: int) -> None:
    header = testing.dump_header(inputs=[TensorSpec(bytes(16), dtype=dtype)])
    assert parse_header(header).input[0].data_type == number


def test_numpy_scalar_is_an_array_without_dimensions() -> None:
    for scalar in (np.float32(3), TensorSpec(np.float32(3))):
        (described,) = parse_header(testing.dump_header(inputs=[scalar])).input
        assert (described.data_type, described.size) == (1, 4)
        assert list(described.shape.dim) == []


def test_shape_of_bytes_is_the_elements_they_hold() -> None:
    def shape(n_bytes: int, dtype: str | int) -> list[int]:
        header = testing.dump_header(inputs=[TensorSpec(bytes(n_bytes), dtype=dtype)])
        return list(parse_header(header).input[0].shape.dim)

    assert shape(12, "float32") == [3]
    assert shape(3, "INT4") == [6]
    assert shape(9, "FLOAT6_E3M2") == [12]
    assert shape(5, "STRING") == []
    assert shape(5, 99) == []


def test_declared_type_does_not_convert_an_array(tmp_path: Path) -> None:
    codes = np.arange(4, dtype=np.uint8)
    path = testing.write_dump(tmp_path / "dump", inputs=[TensorSpec(codes, dtype="hifloat8")])
    header, (payload,) = parse_file(path)
    assert header.input[0].data_type == 33
    assert payload == codes.tobytes()


def test_lies_are_written_as_told(tmp_path: Path) -> None:
    spec = TensorSpec(
        np.zeros(4, np.float32), dtype=77, format=0x104, shape=(-1, 1 << 62, 0), size=1 << 62
    )
    path = testing.write_dump(tmp_path / "dump", inputs=[spec])
    content = path.read_bytes()
    described = parse_header(content).input[0]
    assert described.data_type == 77
    assert described.format == 0x104
    assert list(described.shape.dim) == [(1 << 64) - 1, 1 << 62, 0]
    assert described.size == 1 << 62
    assert content.endswith(bytes(16))
    assert len(content) == 8 + int.from_bytes(content[:8], "little") + 16


def test_string_that_is_not_utf8_can_be_written() -> None:
    header = testing.dump_header(op_name="a\udcffb")
    assert b"\x32\x03a\xffb" in header


@pytest.mark.parametrize(
    ("array", "packed"),
    [
        (np.array([1, -2, 7], ml_dtypes.int4), b"\xe1\x07"),
        (np.array([1, -2, 0, -1, 1], ml_dtypes.int2), b"\xc9\x01"),
        (np.array([3, 0, 2, 1], ml_dtypes.uint2), b"\x63"),
        (np.array([0.5, -6.0, 1.0], ml_dtypes.float4_e2m1fn), b"\xf1\x02"),
        (TensorSpec(np.array([1, 0, 0, 0, 0, 0, 1, 0, 1], bool), dtype="UINT1"), b"\x82\x80"),
        (TensorSpec(np.array([15, 1], np.uint8), dtype="FLOAT4_E1M2"), b"\x1f"),
        (TensorSpec(b"\x12\x34", dtype="INT4"), b"\x12\x34"),
    ],
)
def test_elements_narrower_than_a_byte_are_packed(
    array: Any, packed: bytes, tmp_path: Path
) -> None:
    header, (payload,) = parse_file(testing.write_dump(tmp_path / "dump", inputs=[array]))
    assert payload == packed
    assert header.input[0].size == len(packed)


@given(
    st.lists(st.integers(0, 15), max_size=40),
    st.sampled_from([("INT4", 4), ("INT2", 2), ("UINT2", 2), ("UINT1", 1), ("FLOAT4_E2M1", 4)]),
)
@settings(deadline=None)
def test_packed_codes_come_back(codes: list[int], dtype: tuple[str, int]) -> None:
    name, bits = dtype
    codes = [code % (1 << bits) for code in codes]
    with_rubbish = np.array([code | 0xA0 for code in codes], np.uint8) & (0xF0 | (1 << bits) - 1)
    spec = TensorSpec(with_rubbish, dtype=name)
    with tempfile.TemporaryDirectory() as directory:
        _, (packed,) = parse_file(testing.write_dump(Path(directory, "dump"), inputs=[spec]))
    assert len(packed) == -(-len(codes) * bits // 8)
    unpacked = []
    for position in range(len(codes)):
        byte, bit = divmod(position * bits, 8)
        shift = 7 - bit if bits == 1 else bit
        unpacked.append(packed[byte] >> shift & (1 << bits) - 1)
    assert unpacked == codes


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(2, ml_dtypes.uint4),
        np.zeros(2, ml_dtypes.float6_e3m2fn),
        np.zeros(2, "U3"),
        np.zeros(2, "datetime64[s]"),
        TensorSpec(np.zeros(2, np.int64), dtype="UINT1"),
        TensorSpec(np.zeros(2, np.int64), dtype="UINT1", size=1),
    ],
)
def test_array_types_that_cannot_be_written(array: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        testing.write_dump(tmp_path / "dump", inputs=[array])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"inputs": [TensorSpec(b"", dtype="float17")]}, "float17"),
        ({"inputs": [TensorSpec(b"", format="NDX")]}, "NDX"),
        ({"inputs": [TensorSpec(b"", shape=(1 << 64,))]}, "64-bit"),
        ({"inputs": [TensorSpec(b"", dim_range=[(0, 1)])]}, "dim_range"),
        ({"inputs": [TensorSpec(b"", original_op=OriginalOp())]}, "original_op"),
        ({"outputs": [TensorSpec(b"", input_type=1)]}, "input_type"),
        ({"buffers": [BufferSpec(b"", arg_index=1)]}, "arg_index"),
        ({"outputs": [TensorSpec(b"", address_type=1)]}, "address_type"),
        ({"dump_time": -(1 << 63) - 1}, "64-bit"),
    ],
)
def test_content_that_the_format_has_no_place_for(
    content: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        testing.write_dump(tmp_path / "dump", **content)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24, dtype=np.float32).reshape(4, 6).T,
        np.arange(24, dtype=np.float32).reshape(4, 6)[::2, ::-1],
        np.arange(5, dtype=">f4"),
        np.arange(5, dtype=">i8")[::-2],
        np.array(2.5, np.float16),
        np.zeros((3, 0, 2), np.float64),
        np.arange(6).astype(ml_dtypes.bfloat16).reshape(2, 3).T,
        np.array(1, ml_dtypes.bfloat16),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}{array.strides}",
)
def test_any_memory_layout_becomes_little_endian_and_c_order(array: Any, tmp_path: Path) -> None:
    header, (payload,) = parse_file(testing.write_dump(tmp_path / "dump", inputs=[array]))
    assert tuple(header.input[0].shape.dim) == array.shape
    read = np.frombuffer(payload, array.dtype.newbyteorder("<")).reshape(array.shape)
    np.testing.assert_array_equal(read.astype(np.float64), array.astype(np.float64))


def test_large_arrays_are_not_copied(tmp_path: Path) -> None:
    array = np.zeros(16 << 20, np.uint8).view(ml_dtypes.bfloat16)
    tracemalloc.start()
    try:
        testing.write_dump(tmp_path / "dump", inputs=[array])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20


def test_missing_directories_are_made_and_files_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "dump"
    testing.write_dump(path, inputs=[np.zeros(100)])
    testing.write_dump(str(path), inputs=[np.ones(1)])
    assert parse_file(path)[1] == [np.ones(1).tobytes()]


def test_dump_of_the_same_name_can_be_appended(tmp_path: Path) -> None:
    path = tmp_path / "new" / "dump"
    first = testing.write_dump(path, inputs=[np.zeros(100)], append=True).read_bytes()
    second = testing.write_dump(tmp_path / "other", outputs=[np.ones(3)]).read_bytes()
    assert testing.write_dump(path, outputs=[np.ones(3)], append=True) == path
    assert path.read_bytes() == first + second


STANDARD_NAME = re.compile(
    r"(?P<op_type>[^./]+)\.(?P<op_name>[^./]+)\.(?P<task>\d+)(?:\.(?P<stream>\d+))?"
    r"\.(?P<ts>\d{13,17})(?:\.(?P<task_type>\d+)\.(?P<ctx>\d+)\.(?P<thread>\d+)\.(?P<dev>\d+))?"
)


def test_dump_name() -> None:
    name = testing.dump_name(
        "Mat Mul.V2", r"a/b.c\d e", task_id=7, stream_id=65535, timestamp=1_700_000_000_000_000
    )
    assert name == "Mat_Mul_V2.a_b_c_d_e.7.65535.1700000000000000"
    older = testing.dump_name("A", "b", task_id=7, stream_id=None, timestamp=1_700_000_000_000_000)
    assert older == "A.b.7.1700000000000000"
    ffts = testing.dump_name(
        "A",
        "b",
        task_id=7,
        stream_id=0,
        timestamp=1_700_000_000_000_000,
        context_id=0,
        thread_id=12,
        device_id=3,
    )
    assert ffts == "A.b.7.0.1700000000000000.4.0.12.3"
    with pytest.raises(ValueError, match="both"):
        testing.dump_name("A", "b", task_id=7, stream_id=0, timestamp=0, context_id=1)


@given(texts.filter(bool), texts.filter(bool), uint32s, st.none() | uint32s)
def test_dump_name_is_a_standard_name(
    op_type: str, op_name: str, task_id: int, stream_id: int | None
) -> None:
    name = testing.dump_name(
        op_type, op_name, task_id=task_id, stream_id=stream_id, timestamp=1_700_000_000_000_000
    )
    match = STANDARD_NAME.fullmatch(name)
    assert match is not None
    assert re.sub(r"[ ./\\]", "_", op_name) == match["op_name"]
    assert int(match["task"]) == task_id
    assert match["stream"] == (None if stream_id is None else str(stream_id))


def test_directories_of_a_model_dump() -> None:
    root = testing.rank_dir("dump", world_size=8, rank=3)
    assert root == Path("dump/worldsize8_global_rank3")
    step = testing.model_dump_dir(
        root, time="20260114093042", device=2, model="ge default.1", model_id=5, step=0
    )
    assert step == root / "20260114093042/2/ge_default_1/5/0"


def long_name(n_bytes: int) -> str:
    tail = ".1.2.1700000000000000"
    return "Cast." + "x" * (n_bytes - 5 - len(tail)) + tail


def test_name_of_255_bytes_is_kept(tmp_path: Path) -> None:
    path = testing.write_dump(tmp_path / long_name(255), outputs=[np.zeros(2)])
    assert path.name == long_name(255)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "name", [long_name(256), long_name(4000), "Cast." + "\u00e9" * 120 + ".1.2.1700000000000000"]
)
def test_longer_name_becomes_digits(name: str, tmp_path: Path) -> None:
    path = testing.write_dump(tmp_path / "new" / name, outputs=[np.ones(2)], op_name="real")
    assert path.parent == tmp_path / "new"
    assert re.fullmatch(r"\d{10,20}", path.name)
    assert int(path.name) < 1 << 64
    table = (path.parent / "mapping.csv").read_text(encoding="utf-8")
    assert table == f"{path.name},{name}\n"
    header, payloads = parse_file(path)
    assert header.op_name == "real"
    assert payloads == [np.ones(2).tobytes()]


def test_mapping_gets_a_row_for_each_write(tmp_path: Path) -> None:
    first, second, again = (
        testing.write_dump(tmp_path / long_name(n), inputs=[]) for n in (300, 301, 300)
    )
    assert first == again != second
    rows = (tmp_path / "mapping.csv").read_text().splitlines()
    assert rows == [
        f"{first.name},{long_name(300)}",
        f"{second.name},{long_name(301)}",
        f"{first.name},{long_name(300)}",
    ]


def test_file_behind_a_number_can_be_appended_to(tmp_path: Path) -> None:
    for _ in range(2):
        path = testing.write_dump(tmp_path / long_name(300), outputs=[np.ones(3)], append=True)
    content = path.read_bytes()
    half = len(content) // 2
    assert content[:half] == content[half:]
    assert len((tmp_path / "mapping.csv").read_text().splitlines()) == 2


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="the reference dumps are not here")
@pytest.mark.parametrize(
    "name",
    [
        "dtype/Cast.dt_BF16.27.7.1700000000000027",
        "dtype/Cast.dt_INT4.28.7.1700000000000028",
        "layout/Conv2D.nc1hwc0.1.7.1700000000000000",
        "layout/MatMul.fractal_nz.3.7.1700000000000000",
        "struct/Add.full.1.7.1700000000000000",
        "struct/Add.size_bigger.6.7.1700000000000000",
        "ffts/Add.ffts_op.1.7.1700000000000000.4.11.0.0",
        "opdebug/Opdebug.Node_OpDebug.1.7.1700000000000000",
    ],
)
def test_reference_dumps_can_be_written_again(name: str, tmp_path: Path) -> None:
    header, payloads = parse_file(REFERENCE / name)
    remaining = iter(payloads)

    def again(described: Any, **more: Any) -> TensorSpec:
        return TensorSpec(
            next(remaining),
            dtype=described.data_type,
            format=described.format,
            shape=list(described.shape.dim),
            origin_shape=list(described.original_shape.dim),
            address=described.address,
            sub_format=described.sub_format,
            offset=described.offset,
            arg_index=described.arg_index,
            **more,
        )

    def original_op(described: Any) -> OriginalOp | None:
        op = described.original_op
        if not described.HasField("original_op"):
            return None
        return OriginalOp(op.name, op.output_index, op.data_type, op.format)

    path = testing.write_dump(
        tmp_path / Path(name).name,
        inputs=[again(one, input_type=one.input_type) for one in header.input],
        outputs=[
            again(
                one,
                original_op=original_op(one),
                dim_range=[(r.dim_start, r.dim_end) for r in one.dim_range],
            )
            for one in header.output
        ],
        buffers=[BufferSpec(next(remaining), type=one.buffer_type) for one in header.buffer],
        spaces=[
            BufferSpec(next(remaining), type=one.type, arg_index=one.arg_index)
            for one in header.space
        ],
        op_name=header.op_name,
        version=header.version,
        dump_time=header.dump_time,
        attrs=[(attr.name, attr.value) for attr in header.attr],
        dfx_message=header.dfx_message,
    )
    assert path.read_bytes() == (REFERENCE / name).read_bytes()
