"""A small map as SVG, for notebooks: no library, no script."""

from __future__ import annotations

import html
import itertools
from collections.abc import Iterator

from fastdump._figures.figures import StateMap

_CELL = 5


def small_svg(figure: StateMap) -> str:
    """Return a map without axes, and which states it has, as an element of HTML."""
    n_rows, n_columns = figure.codes.shape
    present = {int(code) for code in figure.codes.ravel() if code >= 0}
    legend = ", ".join(
        f'<span style="background:{state.colour};padding:0 .5em;border:1px solid #888"></span> '
        f"{html.escape(state.name)}"
        for code, state in enumerate(figure.states)
        if code in present
    )
    paths = "".join(
        _path(state.colour, _runs(figure, code))
        for code, state in enumerate(figure.states)
        if code in present
    )
    return (
        f'<svg role="img" aria-label="{html.escape(figure.title)}" '
        f'width="{n_columns * _CELL}" height="{n_rows * _CELL}" '
        f'viewBox="0 0 {n_columns} {n_rows}" shape-rendering="crispEdges">{paths}</svg>'
        f"<br>{legend}"
    )


def _path(colour: str, runs: Iterator[str]) -> str:
    return f'<path fill="{colour}" d="{"".join(runs)}"/>'


def _runs(figure: StateMap, code: int) -> Iterator[str]:
    """Yield a rectangle for each run of cells in a row that are in one state."""
    for y, row in enumerate(figure.codes.tolist()):
        x = 0
        for value, cells in itertools.groupby(row):
            n = len(list(cells))
            if value == code:
                yield f"M{x} {y}h{n}v1h-{n}z"
            x += n
