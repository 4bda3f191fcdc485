"""What figures show: names, numbers, and which of them matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_MAX_TICKS = 24
_ROOM_FOR_TICKS = 80
"""How many characters there is room for at the axis of a figure half as wide as a page."""


class State(NamedTuple):
    """One of the states that a cell of a map can be in: its name, and a colour for it.

    `hatch` is a pattern, as Bokeh names them, for people who do not tell the colours apart and for
    printers without colours.
    """

    name: str
    colour: str
    hatch: str = ""


@dataclass(frozen=True, eq=False)
class StateMap:
    """Cells in rows and columns, each in one of a few states.

    Attributes
    ----------
    title
        What is to be seen.
    x_label, y_label
        What a column and a row stand for: "layer", "rank".
    x_names, y_names
        Which layer, which rank, as text.
    states
        The states, the least urgent first.
    codes
        Indices into `states`, -1 for a cell without anything, shape (rows, columns).
    texts
        What is told of a cell, {(row, column): text}; of most cells nothing.
    ringed
        The cell where it began: row and column; None if it is not here.
    """

    title: str
    x_label: str
    y_label: str
    x_names: Sequence[str]
    y_names: Sequence[str]
    states: tuple[State, ...]
    codes: NDArray[np.int8]
    texts: dict[tuple[int, int], str]
    ringed: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class ValueMap:
    """Cells in rows and columns, each with a number.

    Attributes
    ----------
    title, x_label, y_label, x_names, y_names, ringed
        As of a `StateMap`.
    value_label
        What the numbers are.
    values
        The numbers, NaN for a cell without one, shape (rows, columns).
    is_log
        Whether colours follow the logarithm of the numbers, which are positive.
    """

    title: str
    x_label: str
    y_label: str
    x_names: Sequence[str]
    y_names: Sequence[str]
    value_label: str
    values: NDArray[np.float64]
    is_log: bool = False
    ringed: tuple[int, int] | None = None


class Curve(NamedTuple):
    """A name, and one number for each name along the x axis, NaN where there is none."""

    name: str
    y: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curves:
    """Curves over names that have an order, such as layers or steps.

    Attributes
    ----------
    title, x_label, y_label
        What is to be seen.
    x_names
        The names along the x axis.
    curves
        The curves.
    is_log
        Whether the y axis is logarithmic. What is not positive then has no place in it.
    """

    title: str
    x_label: str
    y_label: str
    x_names: Sequence[str]
    curves: tuple[Curve, ...]
    is_log: bool = False


class Points(NamedTuple):
    """Points of one kind, in one colour and with one marker, as Bokeh names it.

    `x` counts from 0; `texts` tell what each point is; `size` is the marker's, in pixels.
    """

    name: str
    colour: str
    marker: str
    x: NDArray[np.int64]
    y: NDArray[np.float64]
    texts: Sequence[str]
    size: int = 7


@dataclass(frozen=True, eq=False)
class Scatter:
    """Points along an order.

    Attributes
    ----------
    title, x_label, y_label
        What is to be seen.
    points
        The points, kind by kind, the most urgent last.
    marked
        Name and place of a vertical line, such as where something began; None if there is none.
    is_log
        Whether the y axis is logarithmic.
    """

    title: str
    x_label: str
    y_label: str
    points: tuple[Points, ...]
    marked: tuple[str, int] | None = None
    is_log: bool = True


@dataclass(frozen=True, eq=False)
class Bars:
    """Numbers of elements in classes that have an order.

    Attributes
    ----------
    title, x_label, y_label
        What is to be seen.
    x_names
        The classes.
    heights
        For each name of a series, one number for each class.
    limits
        Names and classes of what vertical lines show: where a type ends. Classes count from 0 and
        may be fractions.
    always
        Which classes are always named, where there is no room for all names.
    """

    title: str
    x_label: str
    y_label: str
    x_names: Sequence[str]
    heights: dict[str, NDArray[np.float64]]
    limits: tuple[tuple[str, float], ...] = ()
    always: tuple[int, ...] = ()


def tick_places(names: Sequence[str], always: Sequence[int] = ()) -> list[int]:
    """Return which names are written at an axis: as many as there is room for, some always."""
    longest = max(map(len, names), default=0)
    most = max(2, min(_MAX_TICKS, _ROOM_FOR_TICKS // (longest + 2)))
    stride = max(1, -(-len(names) // most))
    near = {place + i for place in always for i in range(1 - stride, stride)}
    rest = (place for place in range(0, len(names), stride) if place not in near)
    return sorted({*always, *rest})


Figure: TypeAlias = StateMap | ValueMap | Curves | Scatter | Bars
