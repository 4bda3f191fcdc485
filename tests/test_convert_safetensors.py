"""safetensors files, against the description of the format and its library."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from conversions import INT, TIME, X, codes_of, values_of, write, write_tree
from truth import ELEMENT_TYPES, packed

import fastdump
from fastdump import testing


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "dump")


PARTS = {"BOOL": 8, "F16": 16, "BF16": 16, "F32": 32, "F64": 64, "C64": 64, "F4": 4}
PARTS |= {f"{kind}{bits}": bits for kind in "IU" for bits in (8, 16, 32, 64)}
PARTS |= {"F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8}


def read_safetensors(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Return (dtype, shape, bytes) of each tensor, and the metadata."""
    content = path.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    assert length % 8 == 0
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__")
    tensors = {}
    end = 0
    for key, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, stop = entry["data_offsets"]
        assert begin == end, "a gap"
        end = stop
        bits = PARTS[entry["dtype"]]
        assert (stop - begin) * 8 == bits * int(np.prod(entry["shape"], dtype=int))
        assert begin * 8 % min(bits, 64) == 0, "not aligned"
        tensors[key] = entry["dtype"], entry["shape"], content[8 + length + begin :][: stop - begin]
    assert 8 + length + end == len(content)
    return tensors, metadata


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_safetensors_of_every_type(name: str, tmp_path: Path) -> None:
    element = ELEMENT_TYPES[name]
    codes = codes_of(element, 20)
    spec = testing.TensorSpec(packed(element, codes), dtype=element.number, shape=(5, 4))
    path = write(tmp_path, inputs=[INT, np.ones(3, np.uint8)], outputs=[spec], spaces=[b"log"])
    fastdump.convert(path, tmp_path / "out", type="safetensors")
    tensors, metadata = read_safetensors(tmp_path / "out" / f"{path.name}.safetensors")
    assert tensors.keys() == {"input.0", "input.1", "output.0", "space.0"}
    assert tensors["input.0"] == ("I64", [2, 3], INT.tobytes())
    assert tensors["space.0"] == ("U8", [3], b"log")
    dtype, shape, data = tensors["output.0"]
    assert metadata["output.0.dtype"] == name
    if name == "complex128":
        assert (dtype, shape) == ("F64", [5, 4, 2])
    else:
        assert shape == [5, 4]
    if name in ("float4_e2m1fn", "bfloat16") or name.startswith("float8") or name == "float32":
        assert data == packed(element, codes)  # as it is
        return
    floats = {"BOOL": "?", "F16": "<f2", "F32": "<f4", "F64": "<f8", "C64": "<c8"}
    array_dtype = floats.get(dtype) or f"<{dtype[0].lower()}{int(dtype[1:]) // 8}"
    array = np.frombuffer(data, array_dtype)
    if name == "complex128":
        array = array.view(np.complex128)
    if name == "complex32":
        assert dtype == "C64"
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(values_of(array, element), element.decode(codes))


def test_safetensors_of_odd_tensors(tmp_path: Path) -> None:
    odd = np.arange(15).reshape(5, 3).astype(ml_dtypes.float4_e2m1fn)
    six = testing.TensorSpec(b"abc", dtype="FLOAT6_E2M3", shape=(4,))
    text = testing.TensorSpec(b"text", dtype="STRING", shape=(1,), format="NHWC")
    path = write(tmp_path, inputs=[odd, six, text], outputs=[np.float32(3), X], op_name="x/y")
    path.write_bytes(path.read_bytes()[:-8])
    fastdump.convert(path, tmp_path / "out", type="safetensors")
    tensors, metadata = read_safetensors(next((tmp_path / "out").iterdir()))
    dtype, shape, data = tensors["input.0"]
    assert (dtype, shape) == ("F32", [5, 3])
    np.testing.assert_array_equal(np.frombuffer(data, "<f4"), odd.astype(np.float32).reshape(-1))
    assert tensors["input.1"] == ("U8", [3], b"abc")
    assert tensors["input.2"] == ("U8", [4], b"text")
    assert tensors["output.0"] == ("F32", [], struct.pack("<f", 3))
    assert tensors["output.1"] == ("F32", [10], X.tobytes()[:40])
    assert metadata["input.2.format"] == "NHWC"
    assert metadata["input.2.dtype"] == "string"
    assert metadata["output.1.status"] == "truncated"
    assert metadata["output.1.shape"] == "[3, 4]"
    assert (metadata["op_name"], metadata["op_type"]) == ("x/y", "Add")
    assert metadata["dump"] == path.name


def test_a_tensor_without_a_way_to_the_layout_is_left_out(tmp_path: Path) -> None:
    stored = np.zeros((4, 3, 16, 16), np.float16)
    lost = testing.TensorSpec(stored, format="FRACTAL_ZN_RNN")
    image = testing.TensorSpec(
        np.arange(2 * 2 * 3 * 5 * 16, dtype=np.int32).reshape(2, 2, 3, 5, 16),
        format="NC1HWC0",
        origin_shape=(2, 19, 3, 5),
    )
    path = write(tmp_path, inputs=[lost, X], outputs=[image])
    report = fastdump.convert(path, tmp_path / "out", type="safetensors", logical=True)
    (failure,) = report.findings
    assert (failure.path, failure.tensor) == (str(path), "input.0")
    assert "FRACTAL_ZN_RNN" in failure.reason
    assert report.written == 1
    tensors, metadata = read_safetensors(next((tmp_path / "out").iterdir()))
    assert tensors.keys() == {"input.1", "output.0"}
    assert tensors["output.0"][:2] == ("I32", [2, 19, 3, 5])
    assert metadata["output.0.shape"] == "[2, 2, 3, 5, 16]"
    assert metadata["output.0.format"] == "NC1HWC0"


def test_the_safetensors_library_reads_them(dump: Path, tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors")
    library = pytest.importorskip("safetensors.numpy")
    (dump / os.fsdecode(b"Add.\xff\x1b.1.7.%d" % TIME)).write_bytes(
        next(dump.rglob("Mul*")).read_bytes()
    )
    write(
        dump,
        outputs=[
            np.ones((2, 4), dtype)
            for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float4_e2m1fn)
        ],
    )
    out = tmp_path / "out"
    fastdump.convert(dump, out, type="safetensors")
    files = list(out.rglob("*.safetensors"))
    assert len(files) == 7
    for file in files:
        raw = dict(safetensors.deserialize(file.read_bytes()))
        assert raw
    add = out / "20261120101112/0/net/1/0" / f"Add.x_add.1.7.{TIME}.safetensors"
    arrays = library.load_file(add)
    np.testing.assert_array_equal(arrays["input.0"], X, strict=True)
    np.testing.assert_array_equal(arrays["input.1"], INT, strict=True)
    with safetensors.safe_open(add, framework="np") as opened:
        assert opened.metadata()["op_name"] == "x/add"
        assert sorted(opened.keys()) == ["input.0", "input.1", "output.0"]


def test_torch_reads_them(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    library = pytest.importorskip("safetensors.torch")
    names_of_types = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float16", "int64")
    arrays = [
        np.arange(-4, 4).reshape(2, 4).astype(getattr(ml_dtypes, name, name))
        for name in names_of_types
    ]
    path = write(tmp_path, outputs=[*arrays, np.ones((2, 4), ml_dtypes.float4_e2m1fn)])
    fastdump.convert(path, tmp_path / "out", type="safetensors")
    tensors = library.load_file(tmp_path / "out" / f"{path.name}.safetensors")
    for i, (name, array) in enumerate(zip(names_of_types, arrays, strict=True)):
        tensor = tensors[f"output.{i}"]
        assert tensor.dtype is getattr(torch, name)
        assert tensor.to(torch.float32).tolist() == array.astype(np.float32).tolist()
    assert tensors["output.5"].view(torch.uint8).tolist() == [[0x22, 0x22]] * 2
