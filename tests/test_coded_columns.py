"""Columns of few values and integer keys, against dictionaries of Python objects."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from arro3.core import Array, DataType, Field, RecordBatch, Schema
from hypothesis import given
from hypothesis import strategies as st

import fastdump
from fastdump import _core
from fastdump._compare.coded import Coded, alike, coded_rows, coded_shapes, coded_text, replaced
from fastdump._compare.keys import Keys, bits_of, combined, joined, key_of
from fastdump._compare.names import counter_of
from fastdump._compare.sequence import where_counters_run
from fastdump._table.arrow_column import (
    NULL_CODE,
    codes_of,
    column_of,
    n_distinct,
    rows_of,
    short_text_codes,
)
from fastdump._table.file_states import FileStates

_TEXT_TYPES = [
    DataType.utf8(),
    DataType.large_utf8(),
    DataType.string_view(),
    DataType.dictionary(DataType.int32(), DataType.utf8()),
]
_TEXTS = st.lists(st.sampled_from([None, "", "a", "b", "Add"]), max_size=20)
_SHAPES = st.lists(
    st.none() | st.lists(st.sampled_from([0, 1, 2, 3, 2**62]), max_size=3).map(tuple), max_size=20
)
_NUMBERS = st.sampled_from([0, 1, 2, -1, 2**40, -(2**63), 2**63 - 1])


def _objects(column: Coded[object]) -> list[object]:
    return [column[row] for row in range(len(column))]


@given(
    st.lists(st.none() | st.text("ab\0\u00e9\u4e2d", max_size=20), min_size=1),
    st.sampled_from(_TEXT_TYPES),
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
)
def test_codes_are_in_the_order_of_appearance(
    texts: list[str | None], type_: DataType, cut: tuple[int, int]
) -> None:
    first = min(cut[0], len(texts))
    last = max(len(texts) - cut[1], first)
    column = Array(texts, DataType.utf8()).cast(type_).slice(first, last - first)
    kept = texts[first:last]
    expected = list(dict.fromkeys(text for text in kept if text is not None))
    codes, distinct = codes_of(column)
    assert distinct == expected
    assert codes.tolist() == [NULL_CODE if text is None else expected.index(text) for text in kept]
    assert short_text_codes(column).tolist() == codes.tolist()
    assert n_distinct(column) == len(expected)


def test_codes_of_texts_that_are_all_null() -> None:
    codes, distinct = codes_of(Array.from_arrow(pa.nulls(3)))
    assert (codes.tolist(), distinct) == ([NULL_CODE] * 3, [])


@pytest.mark.parametrize(
    ("ends", "dtype"), [([0, 4], "int32"), ([2, 1], "int32"), ([-1, 1], "int64"), ([0, 1], "int16")]
)
def test_texts_that_do_not_lie_in_their_bytes(ends: list[int], dtype: str) -> None:
    codes = np.empty(1, np.int32)
    with pytest.raises(ValueError, match="end"):
        _core.text_codes(np.array(ends, dtype).data, b"abc", b"", codes.data)


@given(_TEXTS, _TEXTS)
def test_texts(a: list[str | None], b: list[str | None]) -> None:
    columns = coded_text(column_of(a, "text")), coded_text(column_of(b, "text"))
    assert [_objects(column) for column in columns] == [a, b]
    keys = alike(*columns)
    assert [[x == y for y in keys.b] for x in keys.a] == [[x == y for y in b] for x in a]
    assert columns[0].where(lambda text: text in (None, "a")).tolist() == [
        text in (None, "a") for text in a
    ]
    shorter = columns[0].rewritten(lambda text: text[1:] or None)
    assert _objects(shorter) == [(text or "")[1:] or None for text in a]


@given(_SHAPES)
def test_shapes(shapes: list[tuple[int, ...] | None]) -> None:
    column = coded_shapes(column_of(shapes, "shape"))
    assert _objects(column) == shapes
    assert len(set(column.values)) == len(column.values)


@given(_TEXTS)
def test_rows_of_several_columns(texts: list[str | None]) -> None:
    column = coded_text(column_of(texts, "text"))
    assert _objects(coded_rows(column, column)) == list(zip(texts, texts, strict=True))


@given(_TEXTS, st.data())
def test_replaced_texts(texts: list[str | None], data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.sampled_from(range(len(texts))))) if texts else set()
    column = replaced(
        column_of(texts, "text"), np.array(sorted(chosen), np.int64), lambda text: f"<{text}>"
    )
    expected = [f"<{text}>" if row in chosen else text for row, text in enumerate(texts)]
    assert column.to_pylist() == expected


@given(st.lists(st.tuples(_NUMBERS, _NUMBERS), max_size=20), st.integers(0, 20))
def test_combined_keys_are_in_the_order_of_the_columns(
    rows: list[tuple[int, int]], n_a: int
) -> None:
    columns = [np.array([row[i] for row in rows], np.int64) for i in range(2)]
    found = combined(*(Keys(column[:n_a], column[n_a:]) for column in columns))
    number = {row: i for i, row in enumerate(sorted(set(rows)))}
    assert [*found.a.tolist(), *found.b.tolist()] == [number[row] for row in rows]


@given(st.lists(st.tuples(_NUMBERS, _NUMBERS), max_size=20))
def test_keys_of_one_table_are_in_the_order_of_appearance(rows: list[tuple[int, int]]) -> None:
    found = key_of(*(np.array([row[i] for row in rows], np.int64) for i in range(2)))
    firsts = [list(dict.fromkeys(row[i] for row in rows)) for i in range(2)]
    places = [tuple(firsts[i].index(row[i]) for i in range(2)) for row in rows]
    number = {place: i for i, place in enumerate(sorted(set(places)))}
    assert found.tolist() == [number[place] for place in places]


@given(st.lists(_NUMBERS, max_size=12), st.lists(_NUMBERS, max_size=12))
def test_of_equal_keys_the_first_joins_the_first(a: list[int], b: list[int]) -> None:
    found = joined(Keys(np.array(a, np.int64), np.array(b, np.int64)))
    left = dict(enumerate(b))
    expected = {}
    for i, key in enumerate(a):
        j = next((j for j, other in left.items() if other == key), None)
        if j is not None:
            expected[i] = j
            del left[j]
    assert dict(zip(found.a.tolist(), found.b.tolist(), strict=True)) == expected


def test_bits_are_equal_where_numbers_are() -> None:
    numbers = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, 1.0])
    assert key_of(bits_of(numbers)).tolist() == [0, 0, 1, 1, 2, 3]


@pytest.mark.parametrize(
    ("names", "run"),
    [
        ([f"mul_{i}" for i in range(10)], True),
        ([f"mul_{i}" for i in range(9)] + ["mul"], True),
        ([f"mul_{i}" for i in range(8)] + ["mul", "add"], False),
        ([f"mul_{i}" for i in range(3)], False),
        ([f"mul_{10 - i}" for i in range(10)], False),
        # The first hundred tell that counters do not run.
        (["mul"] * 50 + [f"mul_{i}" for i in range(1000)], False),
    ],
)
def test_where_counters_run(names: list[str], run: bool) -> None:
    counters = [-1 if (n := counter_of(name)) is None else n for name in names]
    # Two places, which take turns: the other has no counter.
    where = np.array([7, 3] * len(names))
    counter = np.array([number for own in counters for number in (own, -1)])
    assert where_counters_run(where, counter).tolist() == ([7] if run else [])


def test_memory_of_a_pair() -> None:
    """No object for each row: what Python and numpy hold at once is some numbers a pair."""
    n = 50_000
    texts = {
        "op_name": [f"layers.{i // 100}/op{i % 5000}" for i in range(n)],
        "op_type": ["MatMul"] * n,
        "io": ["output"] * n,
        "path": [f"dump/file.{i}" for i in range(n)],
        "status": ["ok"] * n,
        "source": ["tensor"] * n,
        "dtype": ["float32"] * n,
    }
    numbers = {"index": np.zeros(n, np.int64), "timestamp": np.arange(n), "count": np.full(n, 7)}
    reals = {name: np.arange(n) % 97 + 1.0 for name in ("max", "min", "mean", "l2norm")}
    columns = {name: Array(values, DataType.utf8()) for name, values in texts.items()}
    columns |= {name: Array.from_numpy(values) for name, values in {**numbers, **reals}.items()}
    schema = Schema([Field(name, column.type) for name, column in columns.items()])
    batch = RecordBatch.from_arrays(list(columns.values()), schema=schema)
    changed = batch.column_names.index("max")
    other = batch.set_column(changed, "max", Array.from_numpy(reals["max"] * 2))
    a, b = fastdump.StatsTable(batch), fastdump.StatsTable(other)
    fastdump.compare(a[:10], b[:10])  # imports
    tracemalloc.start()
    try:
        found = fastdump.compare(a, b)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found) == n
    assert peak < 640 * n


@given(_SHAPES, st.data())
def test_rows_of_a_column(shapes: list[tuple[int, ...] | None], data: st.DataObject) -> None:
    rows = range(len(shapes))
    begin, end = (data.draw(st.integers(0, len(shapes))) for _ in range(2))
    some = data.draw(st.sampled_from([list(rows[begin:end]), data.draw(st.permutations(rows))]))
    found = rows_of(column_of(shapes, "shape"), np.array(some, np.int64))
    expected = [shapes[row] for row in some]
    assert [None if shape is None else tuple(shape) for shape in found.to_pylist()] == expected
    assert _objects(coded_shapes(found)) == expected


@pytest.mark.parametrize("rows", [[], [2], [1, 2, 3], [0, 2, 1, 3], [3, 2, 1, 0], [1, 1, 3]])
def test_rows_of_a_column_of_texts(rows: list[int]) -> None:
    found = rows_of(column_of(list("abcd"), "text"), np.array(rows, np.int64))
    assert found.to_pylist() == ["abcd"[row] for row in rows]


def test_states_of_files() -> None:
    paths = column_of(["a", "b", "b", "c"], "text")
    states = FileStates(paths, column_of([1, 2, 2, None], "integer"))
    assert states.of_all(paths).tolist() == [1, 2, 2, 0]
    assert states.of_all(column_of(["a", "b", "b", "c"], "text")).tolist() == [1, 2, 2, 0]
    assert states.of_all(paths.slice(1, 3)).tolist() == [2, 2, 0]
    assert states.of_all(column_of(["c", "d", "b", "a"], "text")).tolist() == [0, 0, 2, 1]
    of_two = FileStates(paths.slice(1, 2), column_of([2, 2], "integer"))
    assert of_two.of_all(paths.slice(2, 2)).tolist() == [2, 0]
