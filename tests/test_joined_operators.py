"""Operators by name, also where several files hold one execution; and their tensors by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sample_dumps import Demos, dump_name, write_unusual

import fastdump
from fastdump import Dump, NoTensorError, OperatorNotFoundError, testing

REDUCED = "loss/AllReduce"


@pytest.fixture(scope="module")
def dump(demos: Demos) -> Dump:
    return fastdump.open(demos.model)


def write(root: Path, name: str, at: int, op_type: str = "HcomAllReduce", **tensors: Any) -> Path:
    parts = {key: tensors.pop(key) for key in ("task_id", "stream_id") if key in tensors}
    path = root / dump_name(name, at, op_type, **parts)
    return testing.write_dump(path, op_name=name, **tensors)


def ones(n: int) -> np.ndarray[Any, Any]:
    return np.full(n, n, np.float32)


# One execution in several files


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize("name", [REDUCED, "loss_AllReduce"])
def test_a_collective_operator_is_joined(dump: Dump, rank: int, step: int, name: str) -> None:
    place = dump.select(rank=rank, step=step)
    files = [op for op in place if op.op_type == "HcomAllReduce"]
    assert [[t.name for t in op.tensors] for op in files] == [["input.0"], ["output.0"]]
    op = place[name]
    assert op.paths == tuple(file.path for file in files)
    assert [tensor.name for tensor in op.tensors] == ["input.0", "output.0"]
    assert [tensor.path for tensor in op.tensors] == list(op.paths)
    assert [tensor.name for tensor in op.inputs] == ["input.0"]
    assert [tensor.name for tensor in op.outputs] == ["output.0"]
    assert (op.rank, op.step, op.op_name) == (rank, step, REDUCED)
    # What belongs to a file alone is that of the first.
    assert (op.path, op.relative, op.timestamp) == (
        *(files[0].path, files[0].relative, files[0].timestamp),
    )
    assert dict(op.header) == dict(files[0].header)
    np.testing.assert_array_equal(op["output.0"], files[1].outputs[0])
    assert all(repr(file.relative) in repr(op) for file in files)


def test_the_ranks_reduce_to_their_mean(dump: Dump) -> None:
    """The demo's ranks sum what they have, each in files of its own."""
    ops = [dump.select(rank=rank, step=0)[REDUCED] for rank in (0, 1)]
    total = sum(np.asarray(op["input.0"], np.float64) for op in ops)
    for op in ops:
        np.testing.assert_allclose(op["output.0"], total, rtol=1e-6)


def test_joined_operators_are_values(dump: Dump) -> None:
    place = dump.select(rank=0, step=0)
    op = place[REDUCED]
    assert op == place[REDUCED]
    assert hash(op) == hash(place[REDUCED])
    assert op not in {*place, dump.select(rank=0, step=1)[REDUCED]}
    assert REDUCED in place
    assert REDUCED in dump  # also where it has to be chosen


def test_more_files_than_two_are_joined(tmp_path: Path) -> None:
    for at, tensors in enumerate(({"inputs": [ones(2)]}, {"outputs": [ones(3)]})):
        write(tmp_path, "net/op", at, **tensors)
    buffers = [testing.BufferSpec(b"bytes")]
    write(tmp_path, "net/op", 5, buffers=buffers)
    op = fastdump.open(tmp_path)["net/op"]
    assert [t.name for t in op.tensors] == ["input.0", "output.0", "buffer.0"]
    assert len(op.paths) == 3
    assert op["buffer.0"].raw().tobytes() == b"bytes"


def test_what_was_selected_decides_what_is_joined(tmp_path: Path) -> None:
    write(tmp_path, "net/op", 0, inputs=[ones(2)])
    write(tmp_path, "net/op", 1, outputs=[ones(3)])
    dump = fastdump.open(tmp_path)
    assert len(dump["net/op"].paths) == 2
    only = dump.select(io="output")["net/op"]
    assert [t.name for t in only.tensors] == ["output.0"]
    assert [t.name for t in dump[:1]["net/op"].tensors] == ["input.0"]
    with pytest.raises(OperatorNotFoundError):
        dump.select(io="space")["net/op"]


# Several executions


def test_several_places_say_how_to_choose(dump: Dump) -> None:
    with pytest.raises(OperatorNotFoundError, match="8 times, in different places") as caught:
        dump[REDUCED]
    choice = str(caught.value).partition("as in ")[2]
    assert eval(choice, {"dump": dump}) == dump.select(rank=0, step=0)[REDUCED]
    with pytest.raises(OperatorNotFoundError, match=r"dump\.select\(step=0\)\['loss/AllReduce'\]"):
        dump.select(rank=1)[REDUCED]


def assert_choice_is_told(dump: Dump, name: str) -> None:
    """Check that several executions of a name are told, with a choice that works."""
    with pytest.raises(OperatorNotFoundError, match="several executions or threads") as caught:
        dump[name]
    assert isinstance(caught.value, KeyError)
    choice = str(caught.value).partition("as in ")[2]
    assert eval(choice, {"dump": dump}) == dump[0]


def test_repeated_executions_are_not_joined(tmp_path: Path) -> None:
    """Each execution has the same tensors; those of one execution have different ones."""
    for at in range(3):
        write(tmp_path, "net/op", at, outputs=[ones(at + 1)])
    dump = fastdump.open(tmp_path)
    assert_choice_is_told(dump, "net/op")
    assert "timestamps 1700000000000000, 1700000000000001, 1700000000000002" in _said(dump)
    assert [op.outputs[0].shape for op in dump.select(op_name="net/op")] == [(1,), (2,), (3,)]


def _said(dump: Dump) -> str:
    with pytest.raises(OperatorNotFoundError) as caught:
        dump["net/op"]
    return str(caught.value)


@pytest.mark.parametrize("different", [{"task_id": 8}, {"stream_id": 4}])
def test_other_tasks_and_streams_are_other_executions(
    tmp_path: Path, different: dict[str, int]
) -> None:
    write(tmp_path, "net/op", 0, inputs=[ones(2)])
    write(tmp_path, "net/op", 1, outputs=[ones(3)], **different)
    assert_choice_is_told(fastdump.open(tmp_path), "net/op")


def test_threads_are_not_joined(tmp_path: Path) -> None:
    dump = fastdump.open(write_unusual(tmp_path)).select(op_name="net/slices")
    assert len(dump) == 3
    assert_choice_is_told(dump, "net/slices")


def test_damaged_parts_are_not_joined(tmp_path: Path) -> None:
    """Whether it is one execution is not known then."""
    write(tmp_path, "net/op", 0, inputs=[ones(2)])
    write(tmp_path, "net/op", 1, outputs=[ones(3)]).write_bytes(b"rubbish")
    with pytest.raises(OperatorNotFoundError):
        fastdump.open(tmp_path)["net_op"]


# Tensors by name


def test_tensors_by_name(tmp_path: Path) -> None:
    write_unusual(tmp_path)
    op = fastdump.open(tmp_path)["net/types"]
    for io, tensors in (
        ("input", op.inputs),
        ("output", op.outputs),
        ("buffer", op.buffers),
        ("space", op.spaces),
    ):
        assert tensors
        for i, tensor in enumerate(tensors):
            assert op[f"{io}.{i}"] is tensor
            assert (tensor.io, tensor.index) == (io, i)
    np.testing.assert_array_equal(op["input.1"].shape, (2, 3, 4))


@pytest.mark.parametrize(
    "name", ["output.9", "output", "output.", "output.00", "Output.0", "", "0", 0, -1, None]
)
def test_wrong_names_of_tensors(dump: Dump, name: Any) -> None:
    op = dump.select(rank=0, step=0)[REDUCED]
    with pytest.raises(NoTensorError) as caught:
        op[name]
    assert str(caught.value) == (f"{op.relative!r} has no {name!r}; it has input.0, output.0")
    assert isinstance(caught.value, LookupError)


def test_an_operator_without_tensors_has_no_names(tmp_path: Path) -> None:
    (op,) = fastdump.open(write(tmp_path, "net/op", 0))
    with pytest.raises(NoTensorError, match=r"has no 'output\.0'; it has no tensor"):
        op["output.0"]


def test_an_operator_is_no_sequence(dump: Dump) -> None:
    with pytest.raises(TypeError):
        iter(dump[0])  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        list(dump[0])  # type: ignore[call-overload]


def test_names_that_nothing_has(dump: Dump) -> None:
    with pytest.raises(OperatorNotFoundError, match="no operator is called 'loss/AllReduc'") as e:
        dump["loss/AllReduc"]
    assert "near it are 'loss_AllReduce'" in str(e.value)
    assert "loss/AllReduc" not in dump


# Operators by number


def test_numbers_slices_and_arrays(dump: Dump) -> None:
    paths = [op.path for op in dump]
    for number in (0, 5, -1, -len(paths), np.int64(7), True):
        assert dump[number].path == paths[number]
    for key in (slice(3, 9), slice(None, None, -3), slice(-2, None), slice(9, 3)):
        assert [op.path for op in dump[key]] == paths[key]
    for numbers in ([], [3], (5, 5, -1), range(4, 0, -2), np.array([2, 1], np.uint8)):
        found = dump[numbers]
        assert isinstance(found, Dump)
        assert [op.path for op in found] == [paths[i] for i in numbers]
    part = dump[[9, 4, 7]]
    assert [op.path for op in part[::-1]] == [paths[7], paths[4], paths[9]]
    assert [op.path for op in part[[1, 1]]] == [paths[4], paths[4]]
    assert len(part.select(rank=0)) == 3
    assert len({t.path for t in part.tensors()}) == 3


def test_masks(dump: Dump) -> None:
    types = np.array([op.op_type for op in dump], object)
    mask = types == "RmsNorm"
    assert [op.path for op in dump[mask]] == [op.path for op in dump if op.op_type == "RmsNorm"]
    assert len(dump[~mask]) + len(dump[mask]) == len(dump)
    assert len(dump[:2][[True, False]]) == 1


@pytest.mark.parametrize(
    ("key", "error"),
    [
        (476, IndexError),
        (-477, IndexError),
        ([0, 476], IndexError),
        ([-477], IndexError),
        ([True, False], IndexError),  # not one for each operator
        ([0, 1.5], IndexError),
        (["a", "b"], IndexError),
        (np.zeros((2, 2), int), IndexError),
        (1.0, TypeError),
        (None, TypeError),
        ({0}, TypeError),
    ],
    ids=repr,
)
def test_what_is_no_number(dump: Dump, key: Any, error: type[Exception]) -> None:
    assert len(dump) == 476
    with pytest.raises(error):
        dump[key]
