"""Files that change, vanish or lie after their statistics were taken never break triage."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from faulty_models import FAULTS, write_model

import fastdump


def vanish(path: Path) -> None:
    path.unlink()


def become_a_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def become_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def become_garbage(path: Path) -> None:
    path.write_bytes(b"\xff" * path.stat().st_size)


def lose_all(path: Path) -> None:
    os.truncate(path, 0)


def lose_the_payload(path: Path) -> None:
    os.truncate(path, 300)


def lose_the_end(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 64)


def become_another(path: Path) -> None:
    others = sorted(one for one in path.parent.iterdir() if one.is_file() and one != path)
    shutil.copyfile(others[0], path)


def turn_clean(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-384:] = bytes(384)
    path.write_bytes(data)


CHANGES = [
    *(vanish, become_a_directory, become_a_pipe, become_garbage),
    *(lose_all, lose_the_payload, lose_the_end, become_another, turn_clean),
]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    root = tmp_path / "model"
    write_model(root, FAULTS["wrong_mask"], n_steps=2)
    return root


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_files_that_are_not_what_the_table_says(
    change: Callable[[Path], None], model: Path
) -> None:
    table = fastdump.stats(model, level="full")
    expected = fastdump.triage(table)
    for path in sorted(one for one in model.rglob("*") if one.is_file()):
        if "rank0" in str(path):
            change(path)
    report = fastdump.triage(table, root=model)
    origin = report.origins[0]
    assert (origin.operator, origin.verdict) == (
        expected.origins[0].operator,
        expected.origins[0].verdict,
    )
    assert dict(report.findings[0].infected).keys() == dict(expected.findings[0].infected).keys()
    str(report)
    report.to_dict()


@pytest.mark.parametrize(
    "path", ["", "/", "../../../../etc/passwd", "/dev/zero", "a\0b", "x" * 5000]
)
def test_paths_that_lie(path: str, model: Path) -> None:
    """A table may come from anywhere."""
    arrow = pa.table(fastdump.stats(model, level="full"))
    place = arrow.schema.get_field_index("path")
    changed = arrow.set_column(place, "path", pa.array([path] * len(arrow)))
    report = fastdump.triage(fastdump.StatsTable(changed), root=model)
    assert not report.clean
    assert report.origins[0].damage is None


def test_a_loop_among_equal_times_ends(tmp_path: Path) -> None:
    """Each operator reads what the next one makes, all at the same time."""
    from fastdump import testing

    rng = np.random.default_rng(0)
    tensors = []
    for _ in range(6):
        tensor = rng.standard_normal((4, 8)).astype(np.float32)
        tensor[0, 0] = np.nan
        tensors.append(tensor)
    for i in range(6):
        name = testing.dump_name("Add", f"a{i}", task_id=i, stream_id=1, timestamp=10**15)
        testing.write_dump(
            tmp_path / name, inputs=[tensors[i - 1]], outputs=[tensors[i]], op_name=f"a{i}"
        )
    (found,) = fastdump.triage(tmp_path).findings
    assert found.origin is not None
    assert found.origin.verdict == "unknown"
    assert dict(found.infected) == {None: 6}
