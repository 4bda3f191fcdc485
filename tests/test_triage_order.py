"""Order, numbers and membership of rows, against numpy and dictionaries; bad rows found once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastdump
from fastdump._table.severity import BadValues
from fastdump._triage.order import in_order, is_among, numbered
from fastdump.demo import write_demo

_KEYS = st.lists(st.sampled_from([0, 1, 2, 2**64 - 1]), max_size=20)
_ROWS = st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), max_size=12)


@given(_ROWS, st.booleans())
def test_rows_in_order(rows: list[tuple[int, int]], is_sorted: bool) -> None:
    if is_sorted:
        rows = sorted(rows)
    first, second = (np.array([row[i] for row in rows], np.int64) for i in range(2))
    assert in_order(second, first).tolist() == np.lexsort((second, first)).tolist()


@given(_KEYS)
def test_keys_are_numbered_by_appearance(keys: list[int]) -> None:
    first, number = numbered(np.array(keys, np.uint64))
    distinct = list(dict.fromkeys(keys))
    assert number.tolist() == [distinct.index(key) for key in keys]
    assert first.tolist() == [keys.index(key) for key in distinct]


@given(_KEYS, _KEYS)
def test_numbers_among_others(numbers: list[int], others: list[int]) -> None:
    found = is_among(np.array(numbers, np.uint64), np.array(others, np.uint64))
    assert found.tolist() == [number in others for number in numbers]


def test_bad_rows_of_a_table_are_found_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_demo(tmp_path / "demo")
    table = fastdump.stats(tmp_path / "demo", level="full")
    found = []
    of = BadValues.of
    monkeypatch.setattr(BadValues, "of", lambda batch: found.append(batch) or of(batch))
    n_bad = int(table.bad.sum())
    table.bad[:] = False  # what is returned is new each time
    assert (table.summary()["bad"], int(table.bad.sum())) == (n_bad, n_bad)
    table.worst()
    table.findings()
    assert n_bad
    assert len(found) == 1
    fastdump.triage(table)  # of a copy, for which it is found once too
    assert len(found) == 2
    # Other rows are another table.
    assert not table[~table.bad].bad.any()
