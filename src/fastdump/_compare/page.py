"""A comparison as sections of a page: the answer, errors along the execution, the worst pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fastdump._compare.errors_of_rows import row_errors
from fastdump._compare.operators import DivergentOperator
from fastdump._figures.figures import Points, Scatter, State, StateMap
from fastdump._page.parts import Drawing, made_text
from fastdump._table.arrow_column import codes_of
from fastdump._table.cells import MAX_ROWS, NONE, Axis, Cells, ringed, x_axis
from fastdump._words import page_catalogue as say
from fastdump._words.enumeration import in_sentences
from fastdump._words.places import tensor_name, where_text
from fastdump._words.printable import printable

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray

    from fastdump._compare.schema import ComparisonRow


class _Rows(Protocol):
    """A table of a comparison."""

    def __getitem__(self, i: int, /) -> ComparisonRow: ...


_STATES = (
    State(say.EQUAL(), "#C9DCEB"),
    State(say.WITHIN_TOLERANCE(), "#56B4E9"),
    State(say.EXPLAINED(), "#009E73", "."),
    State(say.PASSED_ON(), "#E69F00", "/"),
    State(say.BY_ITSELF(), "#D55E00", "x"),
)
_EQUAL, _CLOSE, _EXPLAINED, _INHERITED, _OWN = range(len(_STATES))
_VERDICTS = {"equal": _EQUAL, "close": _CLOSE, "similar": _CLOSE, "explained": _EXPLAINED}
_MARKERS = ("circle", "circle", "square", "triangle", "asterisk")
_PASSED_ON = ("inherited", "input", "unknown")
_MOST_POINTS = 1500
"""Points of one kind; of more, the largest of each stretch of the execution are drawn."""
_LEAST_DISTANCE = 1e-12
"""Beside a mask of 3e38 everything is so near; shown, it would leave no room for the rest."""


def about(head: Mapping[str, Any], paired_by: Mapping[str, int]) -> tuple[tuple[str, str], ...]:
    """Return label and text of what was compared and how, and how pairs were found."""
    asked = head.get("tolerances")
    given = asked.items() if isinstance(asked, Mapping) else ()
    tolerances = ", ".join(f"{name} {value:g}" for name, value in given if value is not None)
    said = (
        ("a", str(head.get("a") or "")),
        ("b", str(head.get("b") or "")),
        (say.ABOUT_COMPARED(), str(head.get("compared") or "")),
        (say.ABOUT_PAIRING(), ", ".join(f"{printable(how)} {n:,}" for how, n in paired_by.items())),
        (say.ABOUT_TOLERANCES(), tolerances or say.OWN_TOLERANCES()),
        (say.ABOUT_MAKING(), made_text()),
    )
    return tuple((label, text) for label, text in said if text)


def drawings(
    batch: RecordBatch, divergences: Sequence[DivergentOperator], rows: _Rows
) -> Iterator[Drawing]:
    """Yield figures of a comparison.

    Parameters
    ----------
    batch
        The rows.
    divergences
        The operators that diverge, in the order of execution.
    rows
        The same rows as records.
    """
    state = _states(batch, divergences)
    if (state == NONE).all():
        return
    first = divergences[0].row if divergences else None
    yield Drawing(
        along_the_execution(batch, divergences, rows),
        say.ONE_POINT_A_PAIR(),
    )
    x = x_axis(batch)
    for label in ("rank", "step"):
        y = Axis.of(batch, label, MAX_ROWS).or_all(len(state))
        if x.names and (len(y.names) > 1 or label == "rank"):
            ring = [] if first is None else [say.RING_DIVERGENCE()]
            text = in_sentences(say.MOST_URGENT_VERDICT(), *ring, say.CLICK_PAIRS())
            yield Drawing(_map(y, x, state, first, rows), text)


def _states(batch: RecordBatch, divergences: Sequence[DivergentOperator]) -> NDArray[np.int64]:
    """Return an index into `_STATES` for each row, NONE where nothing was compared."""
    codes, names = codes_of(batch.column("verdict"))
    state = np.array([*(_VERDICTS.get(name, _INHERITED) for name in names), NONE])[codes]
    own = [one.row for one in divergences if one.cause not in _PASSED_ON]
    state[own] = _OWN
    return np.asarray(state)


def along_the_execution(
    batch: RecordBatch, divergences: Sequence[DivergentOperator], rows: _Rows
) -> Scatter:
    """Return the error of each pair, or of the worst ones; parameters are those of `drawings`."""
    error, state = row_errors(batch), _states(batch, divergences)
    finite = error[np.isfinite(error) & (error >= _LEAST_DISTANCE)]
    low, high = (finite.min(), finite.max()) if len(finite) else (1e-7, 1.0)
    shown = np.clip(error, low / 10, high * 10)
    points = []
    for code, kind in enumerate(_STATES):
        chosen = _largest_in_stretches(np.flatnonzero(state == code), shown)
        if len(chosen):
            texts = [_text(rows[i]) for i in chosen.tolist()]
            points.append(
                Points(
                    *(kind.name, kind.colour, _MARKERS[code], chosen, shown[chosen], texts),
                    size=13 if code == _OWN else 7,
                )
            )
    return Scatter(
        say.ERROR_ALONG_EXECUTION(),
        say.PAIR_OF_TENSORS(),
        say.RELATIVE_DISTANCE(),
        tuple(points),
        (say.FIRST_DIVERGENCE(), divergences[0].row) if divergences else None,
    )


def _largest_in_stretches(
    rows: NDArray[np.int64], values: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return some rows in order, of many those with the largest value of each stretch."""
    size = -(-len(rows) // _MOST_POINTS)
    if size < 2:
        return rows
    starts = np.arange(0, len(rows), size)
    return np.array(
        [part[np.argmax(values[part])] for part in np.split(rows, starts[1:])], np.int64
    )


def _map(
    y: Axis,
    x: Axis,
    state: NDArray[np.int64],
    first: int | None,
    rows: _Rows,
) -> StateMap:
    cells = Cells(y, x)
    worst = cells.largest(np.where(state == NONE, np.nan, state))
    texts: dict[tuple[int, int], str] = {}
    for cell, of_cell in cells.chosen(state >= _INHERITED):
        urgent = of_cell[np.argmax(state[of_cell])]
        verdict = _STATES[state[urgent]].name
        texts[cell] = say.CELL_VERDICT(verdict=verdict, pair=_text(rows[int(urgent)]))
    return StateMap(
        say.VERDICTS_BY(y=y.word, x=x.word),
        x.shown,
        y.shown,
        x.names,
        y.names,
        _STATES,
        np.where(np.isnan(worst), NONE, worst).astype(np.int8),
        texts,
        ringed(y, x, first),
    )


def _text(row: ComparisonRow) -> str:
    name = row.op_name or row.op_name_b or row.op_type or row.path_a or ""
    place = where_text(rank=row.rank, step=row.step)
    return printable(f"{name}:{tensor_name(row.io, row.index)} {place}")
