"""Figures drawn by matplotlib, on axes that users go on with."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump._figures.figures import (
    Bars,
    Curves,
    Figure,
    Scatter,
    StateMap,
    ValueMap,
    tick_places,
)
from fastdump.errors import MissingDependencyError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = {"circle": "o", "square": "s", "triangle": "^", "asterisk": "*"}
_HATCHES = {"x": "xx", "/": "///", "\\": "\\\\\\", ".": "..", "": None}


def drawn(figure: Figure, ax: Axes | None = None) -> Axes:
    """Draw a figure and return its axes.

    Parameters
    ----------
    figure
        What to draw.
    ax
        Axes to draw on. Default: those of a new figure.

    Raises
    ------
    MissingDependencyError
        If matplotlib is not installed.
    """
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError:
            raise MissingDependencyError(
                "a plot needs matplotlib: pip install 'fastdump[plot]'"
            ) from None
        _, ax = pyplot.subplots(layout="constrained")
    ax.set(title=figure.title, xlabel=figure.x_label, ylabel=figure.y_label)
    _draw(figure, ax)
    return ax


@functools.singledispatch
def _draw(figure: Figure, ax: Any) -> None:
    raise TypeError(type(figure))


@_draw.register
def _(figure: StateMap, ax: Any) -> None:
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    colours = ListedColormap([state.colour for state in figure.states])
    masked = np.ma.masked_less(figure.codes, 0)
    ax.imshow(masked, cmap=colours, vmin=0, vmax=len(figure.states) - 1, **_OF_IMAGES)
    patches = []
    for code, state in enumerate(figure.states):
        cells = np.argwhere(figure.codes == code)
        if len(cells):
            hatch = _HATCHES[state.hatch]
            patches.append(Patch(facecolor=state.colour, hatch=hatch, label=state.name))
            if hatch:
                for row, column in cells:
                    ax.add_patch(_cell(row, column, fill=False, hatch=hatch, linewidth=0))
    _name_rows_and_columns(figure, ax)
    ax.legend(handles=patches, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)


@_draw.register
def _(figure: ValueMap, ax: Any) -> None:
    norm = "log" if figure.is_log else "linear"
    image = ax.imshow(np.ma.masked_invalid(figure.values), cmap="cividis", norm=norm, **_OF_IMAGES)
    ax.figure.colorbar(image, ax=ax, label=figure.value_label)
    _name_rows_and_columns(figure, ax)


@_draw.register
def _(figure: Curves, ax: Any) -> None:
    x = np.arange(len(figure.x_names))
    for curve in figure.curves:
        ax.plot(x, curve.y, marker=".", label=curve.name)
    if figure.is_log:
        ax.set_yscale("log", nonpositive="mask")
    _name_ticks(ax.xaxis, figure.x_names)
    if len(figure.curves) > 1:
        ax.legend(frameon=False)


@_draw.register
def _(figure: Scatter, ax: Any) -> None:
    for points in figure.points:
        ax.scatter(
            points.x,
            points.y,
            s=points.size**2 / 2,
            color=points.colour,
            marker=_MARKERS[points.marker],
            label=points.name,
        )
    if figure.is_log:
        ax.set_yscale("log", nonpositive="mask")
    if figure.marked is not None:
        name, place = figure.marked
        ax.axvline(place, linestyle="--", color="black", linewidth=1, label=name)
    ax.legend(frameon=False)


@_draw.register
def _(figure: Bars, ax: Any) -> None:
    n = len(figure.heights)
    x = np.arange(len(figure.x_names))
    for i, (name, heights) in enumerate(figure.heights.items()):
        ax.bar(x + (i - (n - 1) / 2) * 0.9 / n, heights, 0.9 / n, label=name)
    ax.tick_params(axis="x", labelrotation=45)
    for name, place in figure.limits:
        ax.axvline(place, linestyle="--", color="black", linewidth=1)
        ax.annotate(name, (place, 1), xycoords=("data", "axes fraction"), va="top")
    _name_ticks(ax.xaxis, figure.x_names, figure.always)
    if n > 1:
        ax.legend(frameon=False)


_OF_IMAGES: dict[str, Any] = {"aspect": "auto", "interpolation": "nearest"}


def _name_rows_and_columns(figure: StateMap | ValueMap, ax: Any) -> None:
    _name_ticks(ax.xaxis, figure.x_names)
    _name_ticks(ax.yaxis, figure.y_names)
    if figure.ringed is not None:
        row, column = figure.ringed
        for colour, width in (("white", 4), ("black", 2)):
            ax.plot(column, row, "o", markersize=12, fillstyle="none", color=colour, mew=width)


def _cell(row: int, column: int, **options: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.5, row - 0.5), 1, 1, **options)


def _name_ticks(axis: Any, names: Sequence[str], always: Sequence[int] = ()) -> None:
    places = tick_places(names, always)
    axis.set_ticks(places, [names[place] for place in places])
