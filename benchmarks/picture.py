"""A program: draws the throughput that a run saved beside the limit, the plain read.

``python -m benchmarks.picture RESULT.json PICTURE.svg``. It can be read on light and on dark pages.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.report import Row
from benchmarks.saved_run import read_saved_run

# Both have contrast enough on white and on black.
_OURS, _LIMIT = "#2f81d6", "#e08a1e"
_TEXT = "#808080"
_BY_THREADS = ("float32", "float16", "bfloat16")
_MARKERS = "osD"
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "fastdump",  # the same numbers give the same bytes
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": _TEXT,
    "axes.labelcolor": _TEXT,
    "axes.edgecolor": _TEXT,
    "xtick.color": _TEXT,
    "ytick.color": _TEXT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


def _by_type(axes: Axes, rows: Sequence[Row]) -> None:
    """Draw a bar for each type, and where the plain read ends."""
    names = [row.what for row in rows]
    ours = [row.gb_per_s or 0 for row in rows]
    limits = [row.plain_read_gb_per_s or 0 for row in rows]
    places = range(len(rows))
    axes.barh(places, ours, 0.7, color=_OURS, label="fastdump")
    axes.scatter(
        limits, places, 130, color=_LIMIT, marker="|", linewidths=2.5, label="plain read", zorder=3
    )
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.tick_params("y", length=0)
    axes.set_xlim(left=0)
    axes.set_xlabel("GB/s")
    axes.set_title(f"by element type, {rows[0].threads} threads", loc="left")


def _by_threads(axes: Axes, rows: Sequence[Row]) -> None:
    """Draw a line for each of the common types, and a dashed one for the plain read."""
    for dtype, marker in zip(_BY_THREADS, _MARKERS, strict=True):
        lines = sorted((row.threads or 0, row) for row in rows if row.what == dtype)
        threads = [n for n, _ in lines]
        ours = [row.gb_per_s or 0 for _, row in lines]
        axes.plot(threads, ours, color=_OURS, marker=marker, markersize=5, label=dtype)
        if dtype == _BY_THREADS[0]:
            limits = [row.plain_read_gb_per_s or 0 for _, row in lines]
            axes.plot(threads, limits, color=_LIMIT, marker="|", markersize=9, linestyle="--")
            axes.set_xscale("log", base=2)
            axes.set_xticks(threads, [str(n) for n in threads])
            axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("threads")
    axes.set_ylabel("GB/s")
    axes.set_title("by number of threads", loc="left")


def main() -> None:
    result, picture = map(Path, sys.argv[1:])
    rows = [row for row in read_saved_run(result).rows if row.section == "statistics"]
    if not rows:
        sys.exit(f"{result} has no statistics of single files")
    most = max(row.threads or 0 for row in rows)
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(8.6, 4.0), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        _by_type(left, [row for row in rows if row.threads == most])
        _by_threads(right, rows)
        figure.legend(*left.get_legend_handles_labels(), loc="outside upper right", ncols=2)
        right.legend(loc="lower right")
        figure.savefig(picture, format="svg", transparent=True, metadata={"Date": None})


if __name__ == "__main__":
    main()
