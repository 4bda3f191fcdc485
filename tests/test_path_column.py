"""Paths by directory, against what each path says by itself."""

from __future__ import annotations

import random

import numpy as np
import pytest
from arro3.core import Array, DataType

from fastdump._table import path_column
from fastdump._table.path_column import PathColumn, occurs

DIRECTORIES = (
    *("", "a/", "b/", "ab/c/", "1234567/", "12345678/", "123456789/"),
    *(
        "worldsize2_global_rank0/2024/0/",
        "worldsize2_global_rank1/2024/0/",
        "\N{GREEK SMALL LETTER PI}/x/",
    ),
    *("x" * 200 + "/", "x" * 199 + "y/", "y" + "x" * 199 + "/"),
)
NAMES = (
    "Opdebug.Node_OpDebug.1",
    "op",
    "exception_info.1",
    "x.npy",
    "A.custom.12345678901234567",
    "",
)


def paths(n: int) -> list[str]:
    """Return paths in runs of one directory, and some that change from row to row."""
    chosen = random.Random(7)
    found: list[str] = []
    while len(found) < n:
        directory = chosen.choice(DIRECTORIES)
        found += [directory + chosen.choice(NAMES) for _ in range(chosen.choice((1, 1, 2, 9)))]
    return found[:n]


@pytest.mark.parametrize("type", [DataType.utf8(), DataType.large_utf8()])
@pytest.mark.parametrize("first", [0, 5])
def test_directories(monkeypatch: pytest.MonkeyPatch, type: DataType, first: int) -> None:
    monkeypatch.setattr(path_column, "_ROWS", 7)  # so that runs go on from part to part
    all_paths = paths(500)
    column = Array(all_paths, type).slice(first)
    found = PathColumn(column)
    expected = [path[: path.rfind("/") + 1] for path in all_paths[first:]]
    assert [found.directories[code] for code in found.directory.tolist()] == expected
    assert found.directories == list(dict.fromkeys(expected))


def test_names_and_ends() -> None:
    all_paths = paths(300)
    found = PathColumn(Array(all_paths, DataType.utf8()))
    names = [path[path.rfind("/") + 1 :] for path in all_paths]
    assert found.begin_with(b"oe").tolist() == [name[:1] in ("o", "e") for name in names]
    assert found.have_at_end(b".npy").tolist() == [path.endswith(".npy") for path in all_paths]
    custom = [path[:-17].endswith(".custom.") for path in all_paths]
    assert found.have_at_end(b".custom.", n_after=17).tolist() == custom


def test_no_paths() -> None:
    found = PathColumn(Array([], DataType.utf8()))
    assert (found.directories, len(found.directory)) == ([], 0)
    assert found.begin_with(b"o").shape == found.have_at_end(b"x").shape == (0,)


def test_the_end_of_the_column_is_not_read_over() -> None:
    found = PathColumn(Array(["a/x", "a/", "b/"], DataType.utf8()))
    np.testing.assert_array_equal(found.directory, [0, 0, 1])


@pytest.mark.parametrize("type", [DataType.utf8(), DataType.large_utf8()])
def test_texts_that_occur(monkeypatch: pytest.MonkeyPatch, type: DataType) -> None:
    monkeypatch.setattr(path_column, "_ROWS", 3)
    all_paths = ["worldsize2_global_rank0/a", *(f"step{i}/b" for i in range(9)), "c/worldsize3"]
    column = Array(all_paths, type)
    for first in range(len(all_paths)):
        for n in range(len(all_paths) - first + 1):
            expected = any("worldsize" in path for path in all_paths[first : first + n])
            assert occurs(b"worldsize", column.slice(first, n)) == expected
