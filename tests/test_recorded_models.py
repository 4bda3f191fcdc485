"""The recorder of PyTorch models itself: what it writes is what torch computes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import fastdump

torch = pytest.importorskip("torch")

from recorded_models import FAULTS, MODELS, planted, record  # noqa: E402
from torch_recorder import Recorder, without_counter  # noqa: E402


def names(root: Path, step: int = 0) -> list[str]:
    """Return what ran in a step, in order, without counters."""
    rows = [row for row in fastdump.stats(root, step=step) if row.io == "output" and not row.index]
    return [without_counter(row.op_name or "") for row in rows]


class Products(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(3, 2, bias=False)

    def forward(self, left: torch.Tensor) -> torch.Tensor:
        product = self.inner(left.t())
        product.add_(1)
        return product.to(torch.bfloat16)


def test_files_hold_what_torch_computed(tmp_path: Path) -> None:
    left = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    module = Products()
    with Recorder(tmp_path, module, step=4), torch.no_grad():
        module(left)

    product, added, narrow = fastdump.open(tmp_path)
    # The names of files are not those of operators; headers are.
    rows = [row for row in fastdump.stats(tmp_path) if row.io == "output"]
    assert [row.op_name for row in rows] == ["inner/mm_1", "/add__2", "/_to_copy_3"]
    assert [one.op_type for one in (product, added, narrow)] == ["Mm", "Add", "ToCopy"]
    assert {one.step for one in (product, added, narrow)} == {4}
    assert product.timestamp < added.timestamp < narrow.timestamp
    # The transposed input has no file of its own, and its elements are in the order of its indices.
    weight = module.inner.weight.detach()
    np.testing.assert_array_equal(product.inputs[0], left.t())
    np.testing.assert_array_equal(product.inputs[1], weight.t())
    np.testing.assert_array_equal(product.outputs[0], left.t() @ weight.t())
    assert product.inputs[0].address == left.data_ptr()
    # What an operator overwrites is there as it was before.
    np.testing.assert_array_equal(added.inputs[0], product.outputs[0])
    np.testing.assert_array_equal(added.outputs[0], np.asarray(product.outputs[0]) + 1)
    assert added.inputs[0].address == added.outputs[0].address == product.outputs[0].address
    assert narrow.outputs[0].dtype_name == "bfloat16"
    expected = (left.t() @ weight.t() + 1).to(torch.bfloat16).float()
    np.testing.assert_array_equal(np.asarray(narrow.outputs[0], np.float32), expected)


@pytest.mark.parametrize("model", MODELS)
def test_a_seed_tells_all(model: str, tmp_path: Path) -> None:
    def summed(root: Path) -> list[object]:
        table = fastdump.stats(root)
        # Memory that is not initialised has other values each time.
        return [
            (row.op_name, row.io, row.index, row.shape, row.l2norm)
            for row in table
            if row.io == "output" and not (row.op_type or "").startswith(("Empty", "NewEmpty"))
        ]

    first = record(tmp_path / "first", model=model, train=True, steps=1)
    again = record(tmp_path / "again", model=model, train=True, steps=1)
    other = record(tmp_path / "other", model=model, train=True, steps=1, seed=1)
    assert summed(first) == summed(again) != summed(other)


def test_training_adds_gradients_and_changes_weights(tmp_path: Path) -> None:
    plain = record(tmp_path / "plain", train=True)
    sums = record(tmp_path / "sums", train=True, accumulate=True)
    adam = record(tmp_path / "adam", train=True, optimizer=True)
    assert names(plain, 0) == names(plain, 1) == names(sums, 0)
    n_parameters = 3 * 9 + 3
    assert names(sums, 1).count("/add_") == names(sums, 0).count("/add_") + n_parameters
    assert names(adam).count("/addcdiv_") == n_parameters


@pytest.fixture(scope="module")
def clean_runs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    @functools.cache
    def run(model: str, dtype: str) -> Path:
        return record(tmp_path_factory.mktemp("clean"), model=model, dtype=dtype, steps=1)

    return run


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_begins_where_a_person_says(
    model: str, fault: str, dtype: str, tmp_path: Path, clean_runs: Callable[[str, str], Path]
) -> None:
    what = planted(model, fault)
    if what is None:
        with pytest.raises(ValueError, match="cannot have"):
            record(tmp_path, model=model, fault=fault)
        return
    clean = clean_runs(model, dtype)
    faulty = record(tmp_path, model=model, dtype=dtype, steps=1, fault=fault)
    if fault == "overflow":
        assert not infinite(clean)
        assert infinite(faulty)[0] in what.operators
        return
    left, right = first_difference(clean, faulty)
    if what.what == "missing":
        assert left in what.operators
    else:
        assert right in what.operators
    if what.instead:
        assert left in what.instead


def infinite(root: Path) -> list[str]:
    rows = [row for row in fastdump.stats(root) if row.io == "output" and row.pos_inf]
    return [without_counter(row.op_name or "") for row in rows]


def first_difference(clean: Path, faulty: Path) -> tuple[str, str]:
    """Return the operators with the first difference of names, of inputs or of outputs."""
    for left, right in zip(fastdump.open(clean), fastdump.open(faulty), strict=False):
        tensors = [(*one.inputs, *one.outputs) for one in (left, right)]
        pair = without_counter(left.op_name or ""), without_counter(right.op_name or "")
        if pair[0] != pair[1]:
            return pair
        # Memory that is not initialised differs anyhow.
        if not left.op_type.startswith("Empty") and any(
            one.shape != other.shape or one.raw().tobytes() != other.raw().tobytes()
            for one, other in zip(*tensors, strict=True)
        ):
            return pair
    raise AssertionError("the runs are equal")
