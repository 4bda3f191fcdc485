"""The demo dump, read by a small reader of its own: layout, numbers, and what is wrong."""

from __future__ import annotations

import functools
import itertools
import re
import subprocess
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from fastdump.demo import DemoDump, write_demo

TREE = re.compile(
    r"worldsize(?P<world>\d+)_global_rank(?P<rank>\d+)/(?P<time>\d{14})/(?P<device>\d+)"
    r"/demo_decoder/(?P<model_id>\d+)/(?P<step>\d+)"
)
STANDARD_NAME = re.compile(
    r"(?P<op_type>[A-Za-z0-9]+)\.(?P<op_name>[A-Za-z0-9_-]+)\.(?P<task>\d+)\.(?P<stream>\d+)"
    r"\.(?P<timestamp>\d{16})"
)
DTYPES = {
    1: np.dtype(np.float32),
    2: np.dtype(np.float16),
    8: np.dtype(np.int64),
    11: np.dtype(bool),
    27: np.dtype(ml_dtypes.bfloat16),
}
ND, FRACTAL_NZ = 2, 29


@functools.cache
def dump_data_class() -> Any:
    """Return the message of a header, with the fields that these tests read; others are skipped."""
    types = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="demo.proto", package="d", syntax="proto3")

    def define(message: str, *fields: tuple[int, str, int | str, bool]) -> None:
        definition = file.message_type.add(name=message)
        for number, name, kind, repeated in fields:
            field = definition.field.add(name=name, number=number)
            field.label = types.LABEL_REPEATED if repeated else types.LABEL_OPTIONAL
            field.type = types.TYPE_MESSAGE if isinstance(kind, str) else kind
            if isinstance(kind, str):
                field.type_name = f".d.{kind}"

    u64, i32, text = types.TYPE_UINT64, types.TYPE_INT32, types.TYPE_STRING
    define("Shape", (1, "dim", u64, True))
    tensor = [(1, "data_type", i32, False), (2, "format", i32, False), (3, "shape", "Shape", False)]
    define(
        "Output",
        *tensor,
        (6, "size", u64, False),
        (7, "original_shape", "Shape", False),
        (9, "address", u64, False),
    )
    define(
        "Input",
        *tensor,
        (5, "size", u64, False),
        (6, "original_shape", "Shape", False),
        (8, "address", u64, False),
    )
    define(
        "DumpData",
        (1, "version", text, False),
        (2, "dump_time", u64, False),
        (3, "output", "Output", True),
        (4, "input", "Input", True),
        (6, "op_name", text, False),
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("d.DumpData"))


@dataclass(frozen=True)
class Tensor:
    values: np.ndarray  # as stored
    format: int
    origin_shape: tuple[int, ...]
    address: int

    @functools.cached_property
    def f64(self) -> np.ndarray:
        return self.values.astype(np.float64)

    @property
    def n_nan(self) -> int:
        return int(np.isnan(self.f64).sum())

    @property
    def n_pos_inf(self) -> int:
        return int(np.isposinf(self.f64).sum())

    @property
    def bad(self) -> bool:
        """NaN or +Inf; -Inf is what a mask is made of."""
        return self.n_nan + self.n_pos_inf > 0


@dataclass(frozen=True)
class Op:
    path: Path
    rank: int
    step: int
    op_type: str
    op_name: str
    task: int
    stream: int
    timestamp: int
    inputs: list[Tensor]
    outputs: list[Tensor]


def header_of(path: Path) -> tuple[Any, bytes]:
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    return dump_data_class().FromString(content[8:end]), content[end:]


def name_of(path: Path) -> str:
    if not path.name.isdigit():
        return path.name
    rows = (path.parent / "mapping.csv").read_text().splitlines()
    return dict(row.split(",") for row in rows)[path.name]


def read_op(root: Path, path: Path) -> Op:
    place = TREE.fullmatch(path.parent.relative_to(root).as_posix())
    name = STANDARD_NAME.fullmatch(name_of(path))
    assert place is not None, path
    assert name is not None, path
    header, payload = header_of(path)
    assert header.version == "2.0"
    assert header.dump_time == int(name["timestamp"])
    assert re.sub(r"[ ./\\]", "_", header.op_name) == name["op_name"]
    assert sum(one.size for one in (*header.input, *header.output)) == len(payload)
    tensors = []
    for one in (*header.input, *header.output):
        dtype, shape = DTYPES[one.data_type], tuple(one.shape.dim)
        assert one.size == dtype.itemsize * int(np.prod(shape))
        values = np.frombuffer(payload[: one.size], dtype).reshape(shape)
        payload = payload[one.size :]
        tensors.append(Tensor(values, one.format, tuple(one.original_shape.dim), one.address))
    return Op(
        path=path,
        rank=int(place["rank"]),
        step=int(place["step"]),
        op_type=name["op_type"],
        op_name=header.op_name,
        task=int(name["task"]),
        stream=int(name["stream"]),
        timestamp=int(name["timestamp"]),
        inputs=tensors[: len(header.input)],
        outputs=tensors[len(header.input) :],
    )


def dump_files(root: Path) -> list[Path]:
    return sorted(p for p in root.rglob("*") if p.is_file() and p.name != "mapping.csv")


def write_quietly(directory: Path, **arguments: Any) -> DemoDump:
    """Write a demo dump; a warning, such as numpy's for an overflow, is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return write_demo(directory, **arguments)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoDump:
    return write_quietly(tmp_path_factory.mktemp("demo") / "dump")


@pytest.fixture(scope="module")
def ops(demo: DemoDump) -> list[Op]:
    """Return all operators but the one in the truncated file, in order of execution."""
    paths = [path for path in dump_files(demo.directory) if path != demo.truncated]
    return sorted((read_op(demo.directory, p) for p in paths), key=lambda op: op.timestamp)


def passes(ops: list[Op]) -> Iterator[tuple[int, int, list[Op]]]:
    """Yield rank, step and the operators of each forward pass."""
    by_pass = defaultdict(list)
    for op in ops:
        by_pass[op.rank, op.step].append(op)
    for (rank, step), members in sorted(by_pass.items()):
        yield rank, step, members


def test_small_dump_is_small(demo: DemoDump) -> None:
    files = dump_files(demo.directory)
    assert demo.n_files == len(files)
    assert demo.n_bytes == sum(path.stat().st_size for path in files)
    assert 200 <= demo.n_files <= 999
    assert 5e6 < demo.n_bytes < 20e6


def test_two_ranks_of_the_same_graph(demo: DemoDump, ops: list[Op]) -> None:
    assert (demo.n_ranks, demo.n_steps) == (2, 2)
    graphs = {
        (rank, step): [(op.op_type, op.op_name, op.task, op.stream) for op in members]
        for rank, step, members in passes(ops)
    }
    assert sorted(graphs) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert graphs[0, 0] == graphs[1, 0] == graphs[1, 1]
    assert graphs[0, 1] == graphs[0, 0][:-1]  # its last file is the truncated one
    worlds = {TREE.match(op.path.relative_to(demo.directory).as_posix())["world"] for op in ops}
    assert worlds == {"2"}


def test_execution_order(ops: list[Op]) -> None:
    for rank, step, members in passes(ops):
        times = [op.timestamp for op in members]
        assert times == sorted(set(times)), (rank, step)
        tasks = [op.task for op in members]
        assert tasks == sorted(tasks), (rank, step)
    for rank in (0, 1):
        last = max(op.timestamp for op in ops if (op.rank, op.step) == (rank, 0))
        assert last < min(op.timestamp for op in ops if (op.rank, op.step) == (rank, 1))


def test_operators_of_a_decoder(ops: list[Op]) -> None:
    types = {op.op_type for op in ops}
    assert types >= {
        *("GatherV2", "RmsNorm", "MatMulV2", "TransposeD", "BatchMatMulV2", "Add", "Mul", "Muls"),
        *("SoftmaxV2", "Cast", "SelectV2", "ArgMaxV2", "HcomAllReduce", "ReduceMeanD"),
    }
    names = {op.op_name for op in ops}
    assert {f"model.layers.{i}.self_attn.q_proj/MatMul" for i in range(4)} <= names
    used = {tensor.values.dtype for op in ops for tensor in (*op.inputs, *op.outputs)}
    assert used == set(DTYPES.values())


def test_data_flows_through_device_memory(ops: list[Op]) -> None:
    """A tensor that is read is bit for bit the one that was written to the same address."""
    for rank, step, members in passes(ops):
        memory: dict[int, bytes] = {}
        n_produced_here = 0
        for op in members:
            for tensor in op.inputs:
                assert tensor.address
                content = memory.setdefault(tensor.address, tensor.values.tobytes())
                assert tensor.values.tobytes() == content, (rank, step, op.op_name)
            for tensor in op.outputs:
                assert tensor.address not in memory
                memory[tensor.address] = tensor.values.tobytes()
                n_produced_here += 1
        assert n_produced_here > 100


def test_ranks_share_weights_but_not_tokens(ops: list[Op]) -> None:
    by_place = {(op.rank, op.step, op.op_name): op for op in ops if op.outputs}
    embeddings = [by_place[r, s, "model.embed_tokens/GatherV2"] for r in (0, 1) for s in (0, 1)]
    assert len({op.inputs[0].values.tobytes() for op in embeddings}) == 1
    assert len({op.inputs[1].values.tobytes() for op in embeddings}) == 4
    name = "model.layers.1.mlp.up_proj/MatMul"
    weights = [by_place[r, s, name].inputs[1] for r in (0, 1) for s in (0, 1)]
    assert len({weight.values.tobytes() for weight in weights}) == 1


def clean_pass(ops: list[Op]) -> dict[str, Op]:
    return {op.op_name: op for op in ops if (op.rank, op.step) == (0, 0)}


def assert_close(tensor: Tensor, expected: np.ndarray) -> None:
    relative = {1: 1e-4, 2: 2e-3, 27: 1e-2}
    tolerance = relative[next(n for n, d in DTYPES.items() if d == tensor.values.dtype)]
    assert tensor.values.shape == expected.shape
    np.testing.assert_allclose(
        tensor.f64, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max()
    )


def host_layout(tensor: Tensor) -> np.ndarray:
    """Return a matrix without the blocks and the padding of FRACTAL_NZ."""
    if tensor.format == ND:
        return tensor.f64
    assert tensor.format == FRACTAL_NZ
    blocks = tensor.f64.transpose(1, 2, 0, 3)
    merged = blocks.reshape(blocks.shape[0] * blocks.shape[1], -1)
    rows, columns = tensor.origin_shape
    assert (rows, columns) != merged.shape
    assert not merged[rows:].any()
    assert not merged[:, columns:].any()
    return merged[:rows, :columns]


def test_numbers_are_those_of_the_operators(ops: list[Op]) -> None:
    """Recompute outputs in float64 from the inputs in the files."""
    checked = Counter[str]()
    for op in clean_pass(ops).values():
        x = op.inputs[0].f64 if op.inputs else None
        y = op.inputs[1].f64 if len(op.inputs) > 1 else None
        if op.op_type == "MatMulV2":
            expected = x @ host_layout(op.inputs[1])
        elif op.op_name.endswith("BatchMatMul_qk"):
            expected = x @ y.swapaxes(-1, -2)
        elif op.op_name.endswith("BatchMatMul_pv"):
            expected = x @ y
        elif op.op_name.endswith("Add_mask"):
            assert np.isneginf(op.outputs[0].f64).any()
            np.testing.assert_array_equal(op.outputs[0].f64, (x + y).astype(np.float16))
            expected = None
        elif op.op_type == "Add":
            expected = x + y
        elif op.op_type == "Mul":
            expected = x * y
        elif op.op_type == "SoftmaxV2":
            expected = np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)
        elif op.op_type == "RmsNorm":
            expected = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-6) * y
        elif op.op_type == "Swish":
            expected = x / (1 + np.exp(-x))
        elif op.op_type == "Cast":
            expected = x
        elif op.op_type == "GatherV2":
            expected = x[op.inputs[1].values]
        elif op.op_type == "ReduceMeanD":
            expected = x.mean()
        elif op.op_type == "ArgMaxV2":
            np.testing.assert_array_equal(op.outputs[0].values, x.argmax(axis=-1))
            expected = None
        else:
            continue
        if expected is not None:
            assert_close(op.outputs[0], np.asarray(expected))
        checked[op.op_type] += 1
    assert len(checked) == 11
    assert checked["MatMulV2"] == 29


def test_weights_in_fractal_nz(ops: list[Op]) -> None:
    weights = [t for op in clean_pass(ops).values() for t in op.inputs if t.format == FRACTAL_NZ]
    assert len(weights) == 12
    for weight in weights:
        rows, columns = weight.origin_shape
        assert weight.values.shape == (-(-columns // 16), -(-rows // 16), 16, 16)
        assert rows % 16 or columns % 16


def test_loss_of_the_clean_step_is_plausible(ops: list[Op]) -> None:
    logits = clean_pass(ops)["lm_head/MatMul"].outputs[0]
    loss = clean_pass(ops)["loss/ReduceMean"].outputs[0]
    assert loss.values.shape == ()
    assert 0.5 < loss.f64 / np.log(logits.values.shape[-1]) < 2


def origin_of(demo: DemoDump, ops: list[Op]) -> Op:
    (origin,) = [op for op in ops if op.path == demo.overflow.path]
    return origin


def test_overflow_is_where_the_record_says(demo: DemoDump, ops: list[Op]) -> None:
    origin = origin_of(demo, ops)
    planted = demo.overflow
    assert (origin.rank, origin.step) == (planted.rank, planted.step) == (1, 1)
    assert (origin.op_type, origin.op_name) == (planted.op_type, planted.op_name)
    assert "layers.2." in origin.op_name


def test_overflow_is_a_float16_product_beyond_its_range(demo: DemoDump, ops: list[Op]) -> None:
    origin = origin_of(demo, ops)
    q, k = origin.inputs
    (scores,) = origin.outputs
    assert {t.values.dtype for t in (q, k, scores)} == {np.dtype(np.float16)}
    assert np.isfinite(q.f64).all()
    assert np.isfinite(k.f64).all()
    exact = q.f64 @ k.f64.swapaxes(-1, -2)
    overflowing = exact > 65504
    assert exact[overflowing].min() > 1.1 * 65504  # roundings do not decide
    assert 1 <= overflowing.sum() <= 16
    np.testing.assert_array_equal(np.isposinf(scores.f64), overflowing)
    assert scores.n_nan == 0
    assert np.isfinite(scores.f64[~overflowing]).all()
    assert np.abs(exact[~overflowing]).max() < 65504 / 4


def test_nothing_is_bad_before_or_beside_the_overflow(demo: DemoDump, ops: list[Op]) -> None:
    origin = origin_of(demo, ops)
    reduced = set(demo.all_reduce)
    n_clean = 0
    for rank, step, members in passes(ops):
        for op in members:
            if (rank, step) == (1, 1) and op.timestamp >= origin.timestamp:
                break
            if op.path in reduced:
                break
            assert not any(t.bad for t in (*op.inputs, *op.outputs)), op.path
            n_clean += 1
    assert n_clean > len(ops) * 3 / 4


def test_inf_becomes_nan_and_spreads(demo: DemoDump, ops: list[Op]) -> None:
    members = [op for op in ops if (op.rank, op.step) == (1, 1)]
    after = members[members.index(origin_of(demo, ops)) + 1 :]
    by_name = {op.op_name: op for op in after}
    masked = by_name["model.layers.2.self_attn/Add_mask"].outputs[0]
    assert masked.n_nan  # Inf - Inf, where the mask hides an Inf
    assert masked.n_pos_inf
    shares = by_name["model.layers.2.self_attn/SoftmaxV2"].outputs[0]
    n_rows = np.isnan(shares.f64).any(axis=-1).sum()
    assert shares.n_nan == n_rows * shares.values.shape[-1] > 0
    assert by_name["model.layers.2/Add_mlp"].outputs[0].n_nan > 0
    logits = by_name["lm_head/MatMul"].outputs[0]
    assert logits.n_nan * 2 == logits.values.size  # the other sequence of the batch is clean
    assert by_name["loss/ReduceMean"].outputs[0].n_nan == 1
    for op in after:
        if op.op_type != "HcomAllReduce" and any(t.bad for t in op.outputs):
            assert any(t.bad for t in op.inputs), op.op_name


def test_collective_has_two_files_and_spreads_nan(demo: DemoDump, ops: list[Op]) -> None:
    by_step = defaultdict(list)
    for op in ops:
        if op.op_type == "HcomAllReduce":
            by_step[op.step].append(op)
    for step, files in by_step.items():
        before = [op for op in files if op.inputs]
        after = [op for op in files if op.outputs]
        assert [len(op.inputs) for op in before] == [1, 1]
        assert [len(op.outputs) for op in after] == [1, 1]
        assert not [op for op in files if op.inputs and op.outputs]
        assert len({(op.task, op.stream) for op in files}) == 1
        (end,) = {op.timestamp for op in after}
        assert end > max(op.timestamp for op in before)
        total = np.float32(sum(op.inputs[0].f64 for op in before))
        for op in after:
            np.testing.assert_array_equal(op.outputs[0].values, total)
        assert bool(np.isnan(total)) == (step == 1)
    assert sorted(by_step) == [0, 1]
    reduced = [op for op in by_step[1] if op.outputs]
    assert sorted(op.path for op in reduced) == sorted(demo.all_reduce)
    (last,) = [op for op in ops if (op.rank, op.step, op.op_name) == (0, 1, "loss/Muls_mean")]
    assert last.outputs[0].n_nan == 1


def test_minus_inf_of_the_mask_is_everywhere(ops: list[Op]) -> None:
    for _, _, members in passes(ops):
        (select,) = [op for op in members if op.op_type == "SelectV2"]
        allowed, mask = select.inputs[0], select.outputs[0]
        assert allowed.values.dtype == bool
        np.testing.assert_array_equal(np.isneginf(mask.f64), ~allowed.values)
        np.testing.assert_array_equal(allowed.values, np.tri(*mask.values.shape, dtype=bool))


def test_truncated_file_is_the_last_of_rank_0(demo: DemoDump, ops: list[Op]) -> None:
    header, payload = header_of(demo.truncated)
    name = STANDARD_NAME.fullmatch(demo.truncated.name)
    assert name is not None
    assert name["op_type"] == "ArgMaxV2"
    assert int(name["timestamp"]) > max(op.timestamp for op in ops if op.rank == 0)
    assert len(payload) == sum(one.size for one in (*header.input, *header.output)) // 2


def test_long_names_are_in_mapping_csv(demo: DemoDump, ops: list[Op]) -> None:
    assert sorted(demo.long_named) == sorted(
        p for p in dump_files(demo.directory) if p.name.isdigit()
    )
    assert len(demo.long_named) == 4
    assert len(list(demo.directory.rglob("mapping.csv"))) == 4
    for path in demo.long_named:
        assert len(name_of(path)) > 255
        (op,) = [op for op in ops if op.path == path]
        assert op.op_name.startswith("model.rotary_emb/")


def content_of(root: Path) -> dict[str, bytes]:
    files = [path for path in root.rglob("*") if path.is_file()]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def test_same_arguments_give_the_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        write_quietly(tmp_path / name, size="2MB", seed=seed)
    assert content_of(tmp_path / "a") == content_of(tmp_path / "b")
    other = content_of(tmp_path / "c")
    assert content_of(tmp_path / "a").keys() == other.keys()
    assert content_of(tmp_path / "a") != other


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_seed_overflows_at_the_same_operator(seed: int, tmp_path: Path) -> None:
    demo = write_quietly(tmp_path, size="4MB", seed=seed)
    paths = [path for path in dump_files(tmp_path) if path != demo.truncated]
    ops = sorted((read_op(tmp_path, path) for path in paths), key=lambda op: op.timestamp)
    first_bad = next(op for op in ops if any(t.bad for t in op.outputs))
    assert first_bad.path == demo.overflow.path


@pytest.mark.parametrize("size", [5_000_000, "40 MB", "60MiB"])
def test_size_is_reached(size: str | int, tmp_path: Path) -> None:
    demo = write_quietly(tmp_path, size=size)
    target = {"40 MB": 40e6, "60MiB": 60 * 2**20}.get(str(size), size)
    assert demo.n_bytes == pytest.approx(target, rel=0.1)
    assert demo.n_bytes == sum(path.stat().st_size for path in dump_files(tmp_path))
    assert demo.n_steps == 2


def test_number_of_files_is_reached_by_steps(tmp_path: Path) -> None:
    demo = write_quietly(tmp_path, size="6MB", n_files=1000)
    assert demo.n_files == len(dump_files(tmp_path)) == pytest.approx(1000, rel=0.15)
    assert demo.n_steps == 4
    assert demo.n_bytes == sum(path.stat().st_size for path in dump_files(tmp_path))
    assert demo.n_bytes == pytest.approx(6e6, rel=0.1)
    steps = {path.parent for path in dump_files(tmp_path)}
    assert sorted(path.name for path in steps) == sorted("0123" * 2)
    assert len(demo.long_named) == 8
    assert demo.truncated.parent.name == "3"
    assert demo.overflow.step == 1


def test_further_steps_repeat_the_first_later(tmp_path: Path) -> None:
    demo = write_quietly(tmp_path, size="2MB", n_files=1000)
    paths = [path for path in dump_files(tmp_path) if path != demo.truncated]
    ops = [read_op(tmp_path, path) for path in paths]
    by_step: dict[int, list[Op]] = {
        step: sorted((op for op in ops if (op.rank, op.step) == (1, step)), key=lambda op: op.task)
        for step in range(demo.n_steps)
    }
    for step in (2, 3):
        for first, again in zip(by_step[0], by_step[step], strict=True):
            assert first.op_name == again.op_name
            assert first.timestamp < again.timestamp
            for one, other in zip(
                (*first.inputs, *first.outputs), (*again.inputs, *again.outputs), strict=True
            ):
                assert one.values.tobytes() == other.values.tobytes()
    for earlier, later in itertools.pairwise(range(demo.n_steps)):
        last = max(op.timestamp for op in by_step[earlier])
        assert last < min(op.timestamp for op in by_step[later])


def test_memory_does_not_grow_with_the_dump(tmp_path: Path) -> None:
    # In a process of its own: what threads of other tests allocate is counted, too.
    code = """
import sys, tracemalloc
from fastdump.demo import write_demo

tracemalloc.start()
demo = write_demo(sys.argv[1], n_files=2000)
print(tracemalloc.get_traced_memory()[1], demo.n_bytes)
"""
    command = [sys.executable, "-W", "ignore", "-c", code, tmp_path / "dump"]
    ended = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    peak, n_bytes = map(int, ended.stdout.split())
    assert peak < n_bytes / 8


@pytest.mark.parametrize(
    "arguments",
    [
        {"size": "big"},
        {"size": "10 parsecs"},
        {"size": "-1GB"},
        {"size": 0},
        {"size": -5},
        {"n_files": 0},
        {"size": "1GB", "n_files": -1},
    ],
    ids=str,
)
def test_arguments_that_make_no_sense(arguments: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be"):
        write_demo(tmp_path / "dump", **arguments)
    assert not list(tmp_path.iterdir())


def test_directory_that_is_not_empty_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    with pytest.raises(FileExistsError, match="not empty"):
        write_demo(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
