"""Figures drawn by Bokeh, whose script a page then carries, so that nothing is fetched."""

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
from fastdump._words.sentence import told
from fastdump.errors import MissingDependencyError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CELL_PIXELS = 22
_MAP_MARGIN = 110  # axes, title and legend
_HEIGHT = 320
# Okabe and Ito's colours, which people who do not see red and green apart can tell apart.
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C8C00", "#7F7F7F")
_HATCH = {"hatch_color": "#00000060", "hatch_scale": 8, "hatch_weight": 0.8}
_PALETTE = "Cividis256"


def check_drawable() -> None:
    """Raise if Bokeh is not installed.

    Raises
    ------
    MissingDependencyError
        If it is not.
    """
    try:
        import bokeh  # noqa: F401
    except ImportError:
        raise MissingDependencyError(
            "a page with figures needs Bokeh: pip install 'fastdump[report]'"
        ) from None


def scripts(figures: Sequence[Figure]) -> tuple[str, list[str]]:
    """Return what draws figures: scripts for the head of a page, and an element for each figure.

    Raises
    ------
    MissingDependencyError
        If there is a figure, and Bokeh is not installed.
    """
    if not figures:
        return "", []
    check_drawable()
    from bokeh.embed import components
    from bokeh.resources import Resources

    script, places = components(tuple(map(_drawn, figures)))
    library = "\n".join(Resources(mode="inline", components=["bokeh"], log_level="warn").js_raw)
    return f"<script>\n{library}\n</script>\n{script}", list(places)


@functools.singledispatch
def _drawn(figure: Figure) -> Any:
    raise TypeError(type(figure))


@_drawn.register
def _(figure: StateMap) -> Any:
    plot = _map_plot(figure)
    y, x = map(np.asarray, np.indices(figure.codes.shape))
    tips = []
    for code, state in enumerate(figure.states):
        is_so = figure.codes == code
        if not is_so.any():
            continue
        rows, columns = y[is_so], x[is_so]
        cells = list(zip(rows.tolist(), columns.tolist(), strict=True))
        data = {
            "x": columns,
            "y": rows,
            "column": _names(figure.x_names, columns),
            "row": _names(figure.y_names, rows),
            "text": [told(figure.texts.get(cell, state.name)) for cell in cells],
        }
        pattern = {"hatch_pattern": state.hatch, **_HATCH} if state.hatch else {}
        tips.append(
            plot.rect(
                *("x", "y", 1, 1),
                source=_selectable(figure, data),
                fill_color=state.colour,
                line_color=None,
                nonselection_fill_alpha=1,
                legend_label=told(state.name),
                **pattern,
            )
        )
    _ring(plot, figure.ringed)
    rows_and_columns = [
        (told(figure.y_label), "@row"),
        (told(figure.x_label), "@column"),
        ("", "@text"),
    ]
    _finish(plot, tips, rows_and_columns, selectable=True)
    return plot


@_drawn.register
def _(figure: ValueMap) -> Any:
    from bokeh.models.annotations import ColorBar
    from bokeh.transform import linear_cmap, log_cmap

    plot = _map_plot(figure)
    known = np.isfinite(figure.values)
    y, x = map(np.asarray, np.indices(figure.values.shape))
    values = figure.values[known]
    data = {
        "x": x[known],
        "y": y[known],
        "value": values,
        "column": _names(figure.x_names, x[known]),
        "row": _names(figure.y_names, y[known]),
    }
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    colours = (log_cmap if figure.is_log else linear_cmap)("value", _PALETTE, low, high or 1.0)
    cells = plot.rect(
        *("x", "y", 1, 1),
        source=_selectable(figure, data),
        fill_color=colours,
        line_color=None,
        nonselection_fill_alpha=1,
    )
    mapper: Any = colours.transform
    bar = ColorBar(color_mapper=mapper, width=10)
    bar.background_fill_color = None
    plot.add_layout(bar, "right")
    _ring(plot, figure.ringed)
    tips = [(told(figure.y_label), "@row"), (told(figure.x_label), "@column")]
    tips.append((told(figure.value_label), "@value{0.00000e+0}"))
    _finish(plot, [cells], tips, selectable=True)
    return plot


@_drawn.register
def _(figure: Curves) -> Any:
    plot = _plot(figure, y_axis_type="log" if figure.is_log else "linear")
    _name_ticks(plot.xaxis, figure.x_names)
    x = np.arange(len(figure.x_names))
    dots = []
    for curve, colour in zip(figure.curves, _cycled(len(figure.curves)), strict=True):
        shown = _positive(curve.y) if figure.is_log else curve.y
        name = told(curve.name)
        data = {
            "x": x,
            "y": shown,
            "column": [*map(told, figure.x_names)],
            "curve": [name] * len(x),
        }
        plot.line("x", "y", source=data, line_color=colour, legend_label=name, line_width=2)
        dots.append(plot.scatter("x", "y", source=data, size=4, color=colour, legend_label=name))
    tips = [("", "@curve"), (told(figure.x_label), "@column")]
    tips.append((told(figure.y_label), "@y{0.00000e+0}"))
    _finish(plot, dots, tips)
    return plot


@_drawn.register
def _(figure: Scatter) -> Any:
    from bokeh.models.annotations import Label, Span

    plot = _plot(figure, y_axis_type="log" if figure.is_log else "linear")
    drawn = []
    for points in figure.points:
        data = {
            "x": points.x,
            "y": _positive(points.y) if figure.is_log else points.y,
            "text": [*map(told, points.texts)],
        }
        drawn.append(
            plot.scatter(
                *("x", "y"),
                source=data,
                marker=points.marker,
                size=points.size,
                fill_alpha=0.7,
                color=points.colour,
                legend_label=told(points.name),
            )
        )
    if figure.marked is not None:
        name, place = figure.marked
        plot.add_layout(Span(location=place, dimension="height", line_dash="dashed"))
        label = Label(
            x=place, y=8, y_units="screen", x_offset=6, text=told(name), text_font_size="12px"
        )
        plot.add_layout(label)
    _finish(plot, drawn, [("", "@text"), (told(figure.y_label), "@y{0.00000e+0}")])
    return plot


@_drawn.register
def _(figure: Bars) -> Any:
    from bokeh.models.annotations import Label, Span

    plot = _plot(figure)
    _name_ticks(plot.xaxis, figure.x_names, figure.always)
    plot.xaxis.major_label_orientation = 0.8
    n = len(figure.heights)
    x = np.arange(len(figure.x_names))
    drawn = []
    for i, (name, heights) in enumerate(figure.heights.items()):
        data = {
            "x": x + (i - (n - 1) / 2) * 0.9 / n,
            "y": heights,
            "column": figure.x_names,
            "series": [name] * len(x),
        }
        drawn.append(
            plot.vbar(
                "x", 0.9 / n, "y", source=data, color=_cycled(n)[i], legend_label=name, line_width=0
            )
        )
    for name, place in figure.limits:
        plot.add_layout(Span(location=place, dimension="height", line_dash="dashed"))
        label = Label(
            x=place, y=8, y_units="screen", x_offset=4, text=told(name), text_font_size="12px"
        )
        plot.add_layout(label)
    tips = [("", "@series"), (told(figure.x_label), "@column")]
    tips.append((told(figure.y_label), "@y{0,0.[000]}"))
    _finish(plot, drawn, tips)
    return plot


def _plot(figure: Figure, **more: Any) -> Any:
    from bokeh.plotting import figure as new_plot

    plot = new_plot(
        **{"height": _HEIGHT, **more},
        sizing_mode="stretch_width",
        x_axis_label=told(figure.x_label),
        y_axis_label=told(figure.y_label),
        tools="xbox_zoom,pan,reset,save",
        toolbar_location="above",
        background_fill_color=None,
        border_fill_color=None,
        # The page gives colours that are legible, light and dark.
        min_border_right=20,
    )
    plot.toolbar.logo = None
    plot.toolbar.active_drag = None  # dragging scrolls the page until a tool is chosen
    return plot


def _map_plot(figure: StateMap | ValueMap) -> Any:
    n_rows, n_columns = len(figure.y_names), len(figure.x_names)
    height = _MAP_MARGIN + _CELL_PIXELS * max(n_rows, 3)
    plot = _plot(
        figure,
        height=height if n_rows <= 32 else _MAP_MARGIN + 640,
        x_range=(-0.5, n_columns - 0.5),
        y_range=(n_rows - 0.5, -0.5),  # the first row is at the top
    )
    plot.grid.visible = False
    _name_ticks(plot.xaxis, figure.x_names)
    _name_ticks(plot.yaxis, figure.y_names)
    return plot


def _names(names: Sequence[str], places: NDArray[Any]) -> list[str]:
    return [told(names[place]) for place in places.tolist()]


def _selectable(figure: StateMap | ValueMap, data: dict[str, Any]) -> Any:
    """Return the cells of a map, which page.js looks up in tables by the columns of its axes."""
    from bokeh.models import ColumnDataSource

    return ColumnDataSource(data, name="cells", tags=[str(figure.y_label), str(figure.x_label)])


def _ring(plot: Any, ringed: tuple[int, int] | None) -> None:
    if ringed is not None:
        row, column = ringed
        for size, colour, width in ((19, "white", 4), (19, "black", 2)):
            plot.scatter(
                [column], [row], size=size, fill_color=None, line_color=colour, line_width=width
            )


def _finish(
    plot: Any, hovered: list[Any], tips: list[tuple[str, str]], *, selectable: bool = False
) -> None:
    from bokeh.models import HoverTool, TapTool

    plot.add_tools(HoverTool(renderers=hovered, tooltips=tips))
    if selectable:
        plot.add_tools(TapTool(renderers=hovered))
    if plot.legend:
        legend = plot.legend[0]
        legend.orientation = "horizontal"
        legend.click_policy = "hide"
        legend.background_fill_alpha = 0
        legend.border_line_color = None
        legend.ncols = "auto"
        plot.add_layout(legend, "above")


def _name_ticks(axis: Any, names: Sequence[str], always: Sequence[int] = ()) -> None:
    places = tick_places(names, always)
    axis.ticker = places
    axis.major_label_overrides = {place: told(names[place]) for place in places}


def _cycled(n: int) -> list[str]:
    return [_COLOURS[i % len(_COLOURS)] for i in range(n)]


def _positive(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):
        return np.where(numbers > 0, numbers, np.nan)
