"""Across ranks: who was first, who received it, which copies differ, what a rank lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_dumps import SmallDump

import fastdump


def noise(*shape: int, seed: int = 0, dtype: Any = np.float16) -> Any:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def bad(seed: int = 0) -> Any:
    array = noise(4, 8, seed=seed)
    array[1, 2] = np.nan
    return array


CLEAN = [noise(4, 8, seed=i) for i in range(8)]


@pytest.mark.parametrize("op_type", ["HcomAllReduce", "HcomAllGather", "allreduceAicpuKernel"])
@pytest.mark.parametrize("first", [0, 2])
def test_the_first_rank_is_found(op_type: str, first: int, tmp_path: Path) -> None:
    dump = SmallDump(tmp_path, n_ranks=3)
    for rank in range(3):
        y = bad() if rank == first else CLEAN[rank]
        dump.op("MatMulV2 m", [CLEAN[rank], noise(8, 8)], [y], rank=rank)
    for rank in range(3):
        dump.op(f"{op_type} all", [bad() if rank == first else CLEAN[rank]], [], rank=rank)
    for rank in range(3):
        dump.op(f"{op_type} all", [], [bad(9)], rank=rank)
        dump.op("Add after", [bad(9), CLEAN[0]], [bad(10)], rank=rank)
    (found,) = fastdump.triage(tmp_path).findings
    assert found.origin is not None
    assert (found.origin.operator.op_name, found.origin.operator.rank) == ("m", first)
    assert found.origin.verdict == "origin"
    others = [rank for rank in range(3) if rank != first]
    assert [one.operator.rank for one in found.received] == others
    assert {one.known_by for one in found.received} == {("collective",)}
    assert dict(found.infected) == {first: 3, others[0]: 2, others[1]: 2}


def test_a_collective_operator_in_one_file_will_do(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path, n_ranks=2)
    dump.op("MatMulV2 m", [CLEAN[0], noise(8, 8)], [bad()], rank=1)
    dump.op("MatMulV2 m", [CLEAN[0], noise(8, 8)], [CLEAN[1]], rank=0)
    dump.op("HcomAllReduce all", [bad()], [bad(9)], rank=1)
    dump.op("HcomAllReduce all", [CLEAN[1]], [bad(9)], rank=0)
    (found,) = fastdump.triage(tmp_path).findings
    assert found.origin is not None
    assert (found.origin.operator.op_name, found.origin.operator.rank) == ("m", 1)
    assert [one.operator.rank for one in found.received] == [0]


def test_what_was_sent_is_received(tmp_path: Path) -> None:
    """A pipeline: one stage sends its activations to the next."""
    dump = SmallDump(tmp_path, n_ranks=2)
    dump.op("MatMulV2 m", [CLEAN[0], noise(8, 8)], [bad()], rank=0)
    dump.op("HcomSend send", [bad()], [], rank=0)
    dump.op("HcomReceive receive", [], [bad()], rank=1)
    dump.op("Add a", [bad(), CLEAN[0]], [bad(3)], rank=1)
    (found,) = fastdump.triage(tmp_path).findings
    assert found.origin is not None
    assert (found.origin.operator.op_name, found.origin.operator.rank) == ("m", 0)
    assert [one.operator.op_name for one in found.received] == ["receive"]


def test_a_reduction_that_overflows_is_an_origin(tmp_path: Path) -> None:
    """All ranks put in finite values, and the sum is infinite."""
    dump = SmallDump(tmp_path, n_ranks=2)
    for rank in range(2):
        dump.op("HcomAllReduce all", [CLEAN[rank]], [bad(9)], rank=rank)
    (found,) = fastdump.triage(tmp_path).findings
    assert found.origin is not None
    assert (found.origin.operator.op_name, found.origin.verdict) == ("all", "origin")
    assert [(run.rank, run.op_name) for run in found.also] == [(1, "all")]


def test_a_rank_without_files_may_have_sent_it(tmp_path: Path) -> None:
    """One rank was dumped: its inputs of the collective operator are clean, another's may not."""
    dump = SmallDump(tmp_path, n_ranks=4)
    dump.op("HcomAllReduce all", [CLEAN[0]], [], rank=2)
    dump.op("HcomAllReduce all", [], [bad(9)], rank=2)
    dump.op("Add a", [bad(9), CLEAN[0]], [bad(3)], rank=2)
    (found,) = fastdump.triage(tmp_path).findings
    assert found.origin is not None
    assert found.origin.operator.op_name == "all"
    assert found.origin.verdict == "unknown"
    assert "those of other ranks are not in the dump" in found.origin.reason


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_what_goes_into_a_collective_did_not_come_out_of_it(
    order: tuple[int, int], tmp_path: Path
) -> None:
    """Only inputs were dumped, and the first operator of all ranks is collective."""
    dump = SmallDump(tmp_path, n_ranks=2)
    for rank in order:
        dump.op("HcomAllReduce all", [bad(rank)], [], rank=rank)
    for rank in order:
        dump.op("Add after", [bad(9)], [], rank=rank)
    report = fastdump.triage(tmp_path)
    origin = report.origins[0]
    assert (origin.operator.op_name, origin.operator.rank) == ("all", order[0])
    assert (origin.verdict, origin.reason) == ("unknown", "only inputs were dumped")


# Copies


@pytest.mark.parametrize("odd", [0, 1, 2])
def test_a_replicated_weight_that_differs_on_one_rank(odd: int, tmp_path: Path) -> None:
    dump = SmallDump(tmp_path, n_ranks=3)
    weight, other = noise(16, 16), noise(16, 16)
    other[3, 4] += 1
    for rank in range(3):
        x, w = CLEAN[rank], other if rank == odd else weight
        dump.op("MatMulV2 m", [x, w], [noise(4, 16, seed=rank)], rank=rank)
    (found,) = fastdump.triage(tmp_path).findings
    assert (found.kind, found.severity) == ("replicas_differ", "warning")
    assert found.origin is not None
    assert (found.origin.operator.rank, found.origin.tensor.index) == (odd, 1)


def test_of_two_ranks_another_step_tells_what_is_replicated(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path, n_ranks=2)
    weight, other = noise(16, 16), noise(16, 16, seed=1)
    for step in range(2):
        for rank in range(2):
            x, w = noise(4, 16, seed=2 * step + rank), other if (rank, step) == (1, 1) else weight
            dump.op("MatMulV2 m", [x, w], [noise(4, 16, seed=rank)], rank=rank, step=step)
    (found,) = fastdump.triage(tmp_path).findings
    assert found.kind == "replicas_differ"
    assert found.origin is not None
    assert (found.origin.operator.step, found.origin.tensor.index) == (1, 1)


def test_small_and_constant_inputs_may_differ(tmp_path: Path) -> None:
    """The number of a rank, and what is filled with it."""
    dump = SmallDump(tmp_path, n_ranks=3)
    for rank in range(3):
        own = 2.0 if rank == 1 else 1.0
        inputs = [np.arange(8.0) * own, np.full((4, 8), own), noise(4, 8, seed=rank)]
        dump.op("Add a", inputs, [noise(4, 8, seed=rank)], rank=rank)
    assert fastdump.triage(tmp_path).clean


def test_outputs_of_an_all_reduce_that_differ(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path, n_ranks=3)
    for rank in range(3):
        total = noise(4, 8, seed=51 if rank == 1 else 50)
        dump.op("HcomAllReduce all", [CLEAN[rank]], [total], rank=rank)
    (found,) = fastdump.triage(tmp_path).findings
    assert found.kind == "replicas_differ"
    assert found.origin is not None
    assert (found.origin.operator.rank, found.origin.operator.op_name) == (1, "all")
    assert "all ranks get the same from it" in found.origin.reason


# What a rank lacks


def test_a_rank_that_lacks_a_step(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path, n_ranks=2)
    for step in range(5):
        for rank in range(2):
            if rank == 0 or step not in (1, 3, 4):
                dump.op("Add a", [CLEAN[rank]], [CLEAN[rank]], rank=rank, step=step)
    (found,) = fastdump.triage(tmp_path).findings
    assert (found.kind, found.severity) == ("missing_step", "warning")
    assert found.sentence == "rank 1 lacks steps 1, 3-4, which others have"
    assert found.origin is None


def test_a_rank_that_lacks_an_operator(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path, n_ranks=2)
    for step in range(2):
        for rank in range(2):
            for name in ("a", "b", "c"):
                if (rank, step, name) != (0, 1, "b"):
                    dump.op(f"Add {name}", [CLEAN[rank]], [CLEAN[rank]], rank=rank, step=step)
    (found,) = fastdump.triage(tmp_path).findings
    assert (found.kind, found.severity) == ("missing_operator", "warning")
    assert found.sentence == (
        "rank 0 lacks 1 operator that other ranks have; the first of them is Add b of step 1"
    )


def test_stages_of_a_pipeline_lack_nothing(tmp_path: Path) -> None:
    """Each rank runs operators of its own."""
    dump = SmallDump(tmp_path, n_ranks=3)
    for step in range(2):
        for rank in range(3):
            dump.op(f"Add layer{rank}", [CLEAN[rank]], [CLEAN[rank]], rank=rank, step=step)
    assert fastdump.triage(tmp_path).clean


def test_devices_of_one_rank_are_told_apart(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    dump.op("Exp a", [CLEAN[0]], [CLEAN[1]], rank=0)
    dump.op("Exp a", [CLEAN[0]], [bad()], rank=3)
    (origin,) = fastdump.triage(tmp_path).origins
    assert origin.operator.device == 3
    assert fastdump.triage(tmp_path).sentence.startswith(
        "device 3, step 0: NaN first appears in a; operator: Exp a"
    )
