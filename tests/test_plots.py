"""Plots: what is drawn on matplotlib's axes, against loops over rows and elements."""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from sample_dumps import Demos

import fastdump
from fastdump import MissingDependencyError, StatsTable, UnsupportedDTypeError, testing
from fastdump._tensor.pictures import magnitudes
from fastdump.demo import write_demo

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402 (after the choice of what draws)


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def table(demos: Demos) -> StatsTable:
    return fastdump.stats(demos.model, level="full")


def lines(ax: Any) -> dict[str, list[float]]:
    return {line.get_label(): line.get_ydata().tolist() for line in ax.lines}


Combine = Callable[[list[fastdump.StatsRow]], float]


def n_finite(row: fastdump.StatsRow) -> int:
    return (row.count or 0) - sum(n or 0 for n in (row.nan, row.pos_inf, row.neg_inf))


def mean_of_all(rows: list[fastdump.StatsRow]) -> float:
    known = [row for row in rows if row.mean is not None]
    return sum((row.mean or 0.0) * n_finite(row) for row in known) / sum(map(n_finite, known))


COMBINED: dict[str, Combine] = {
    "max": lambda rows: max(row.max for row in rows if row.max is not None),
    "min": lambda rows: min(row.min for row in rows if row.min is not None),
    "mean": mean_of_all,
    "l2norm": lambda rows: math.sqrt(sum((row.l2norm or 0.0) ** 2 for row in rows)),
    "nan": lambda rows: sum(row.nan or 0 for row in rows),
    "zero": lambda rows: sum(row.zero or 0 for row in rows),
    "nbytes": lambda rows: sum(row.nbytes or 0 for row in rows),
}


@pytest.mark.parametrize("statistic", COMBINED)
@pytest.mark.parametrize(("over", "by"), [("layer", "rank"), ("step", "rank"), ("rank", "step")])
def test_statistics_over_groups(table: StatsTable, statistic: str, over: str, by: str) -> None:
    groups: dict[tuple[int, int], list[fastdump.StatsRow]] = defaultdict(list)
    for row in table:
        if getattr(row, over) is not None and getattr(row, by) is not None:
            groups[getattr(row, by), getattr(row, over)].append(row)
    ax = table.plot(statistic, over=over, by=by)
    assert (ax.get_xlabel(), ax.get_ylabel()) == (over, statistic)
    for name, shown in lines(ax).items():
        number = int(name.removeprefix(f"{by} "))
        expected = [
            COMBINED[statistic](groups[number, i])
            for i in sorted({x for y, x in groups if y == number})
        ]
        np.testing.assert_allclose(shown, expected, rtol=1e-9, err_msg=name)


def test_headroom_and_types_of_operators(table: StatsTable) -> None:
    ax = table.plot("headroom", over="op_type")
    names = [text.get_text() for text in ax.get_xticklabels()]
    assert names
    assert set(names) <= set(table["op_type"])
    least = min(h for h in table.headroom.tolist() if math.isfinite(h))
    drawn = [y for curve in lines(ax).values() for y in curve if not math.isnan(y)]
    assert min(drawn) == pytest.approx(least)


def test_axes_that_are_given(table: StatsTable) -> None:
    _, ax = pyplot.subplots()
    assert table.plot(ax=ax) is ax
    assert ax.get_title() == "l2norm over layers"


def test_of_many_groups_the_extremes_and_the_median_are_drawn(make_arrow: Any) -> None:
    values = np.random.default_rng(1).random((12, 5))
    rows = [
        {"rank": rank, "step": step, "max": values[rank, step]}
        for rank in range(12)
        for step in range(5)
    ]
    shown = lines(StatsTable(make_arrow(rows)).plot("max", over="step"))
    assert shown == {
        "largest of 12 ranks": values.max(axis=0).tolist(),
        "median of 12 ranks": np.sort(values, axis=0)[5].tolist(),
        "least of 12 ranks": values.min(axis=0).tolist(),
    }


def test_what_cannot_be_plotted(table: StatsTable, make_arrow: Any) -> None:
    with pytest.raises(ValueError, match="'norm' is none of max, min"):
        table.plot("norm")
    with pytest.raises(ValueError, match="'path' is none of layer"):
        table.plot(over="path")
    with pytest.raises(ValueError, match="level 'full' only"):
        StatsTable(make_arrow([{}])).plot("zero")
    with pytest.raises(ValueError, match="nothing to plot"):
        fastdump.triage(table.filter(step=0, rank=0)).plot()


def test_a_chain_begins_with_its_origin(demos: Demos) -> None:
    report = fastdump.triage(demos.model)
    (shown,) = lines(report.plot()).values()
    tensor = report.origins[0].tensor
    assert tensor.count is not None
    assert shown[0] == ((tensor.nan or 0) + (tensor.pos_inf or 0)) / tensor.count
    assert len(shown) == 1 + len(report.findings[0].chain)
    assert max(shown) <= 1


def test_errors_along_the_execution(demos: Demos, tmp_path: Path) -> None:
    write_demo(tmp_path / "wrong", wrong="model.layers.1.mlp.act_fn/Swish")
    compared = fastdump.compare(tmp_path / "wrong", demos.model)
    ax = compared.plot()
    points = {
        collection.get_label(): {int(x) for x, _ in collection.get_offsets().tolist()}
        for collection in ax.collections
    }
    own = {op.row for op in compared.findings if op.cause == "here"}
    assert points["diverges by itself"] == own
    expected = set(np.flatnonzero(compared["verdict"] == "equal").tolist())
    assert points["equal"] == expected
    assert ax.lines[0].get_xdata()[0] == compared.first_divergence.row  # type: ignore[union-attr]


# One tensor


def tensor_of(root: Path, array: np.ndarray[Any, Any]) -> fastdump.Tensor:
    path = root / testing.dump_name("Add", "a", task_id=1, stream_id=1, timestamp=1)
    testing.write_dump(path, op_name="a", outputs=[array])
    return fastdump.open(path)["a"].outputs[0]


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2"]
)
def test_magnitudes_are_counted(tmp_path: Path, dtype: str) -> None:
    rng = np.random.default_rng(3)
    numbers = rng.normal(size=5000) * np.exp2(rng.integers(-12, 8, 5000))
    numbers[:7], numbers[7:10], numbers[10:12] = 0, np.nan, np.inf
    with np.errstate(over="ignore"):
        array = numbers.astype(np.dtype(getattr(ml_dtypes, dtype, dtype)))
    figure = magnitudes(tensor_of(tmp_path, array))
    (heights,) = figure.heights.values()
    values = np.abs(array.astype(np.float64))
    shown = dict(zip(figure.x_names, heights.tolist(), strict=True))
    zeros, infinite, nan = (
        next((n for name, n in shown.items() if name.split(":")[0] == special), None)
        for special in ("0", "Inf", "NaN")
    )
    assert zeros == (values == 0).sum()
    assert infinite == np.isinf(values).sum()
    assert nan == np.isnan(values).sum()
    assert heights.sum() == values.size
    powers = [float(name[2:]) for name in figure.x_names if name.startswith("2^")]
    ends = [*powers[1:], powers[-1] + (powers[1] - powers[0])]
    for low, high, height in zip(powers, ends, heights[1 : 1 + len(powers)], strict=True):
        assert height == ((values >= 2.0**low) & (values < 2.0**high)).sum()
    info = ml_dtypes.finfo(array.dtype)  # type: ignore[no-untyped-call]
    if array.dtype.itemsize <= 2 and dtype != "bfloat16":
        assert 2.0 ** powers[0] == float(info.smallest_subnormal)
        assert dict(figure.limits).keys() == {"least normal", "largest"}
        # A limit lies between the bars that it separates; bars are one apart, that of zeros at 0.
        place = dict(figure.limits)["least normal"]
        assert math.log2(float(info.smallest_normal)) == pytest.approx(
            powers[0] + (place - 0.5) * (powers[1] - powers[0])
        )


def test_a_tensor_on_axes(demos: Demos) -> None:
    tensor = fastdump.triage(demos.model).origins[0].tensor.tensor()
    ax = tensor.plot()
    assert sum(bar.get_height() for bar in ax.patches) == tensor.size
    assert "Inf: 4" in [text.get_text() for text in ax.get_xticklabels()]


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_what_is_written_below_bars_does_not_overlap(tmp_path: Path, dtype: type) -> None:
    """The lines of text are slanted: what counts is how far apart they are."""
    values = np.exp2(np.arange(-24, 16, 0.25))
    values[:9] = [0, *[np.inf] * 4, *[np.nan] * 4]
    ax = tensor_of(tmp_path, values.astype(dtype)).plot()
    ax.figure.canvas.draw()
    labels = [label for label in ax.get_xticklabels() if label.get_text()]
    places = [ax.transData.transform(label.get_position())[0] for label in labels]
    size = labels[0].get_size() * ax.figure.dpi / 72
    assert min(np.diff(places)) * math.sin(math.pi / 4) > size


def test_integers_have_no_magnitudes(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedDTypeError, match="int32"):
        tensor_of(tmp_path, np.arange(4, dtype=np.int32)).plot()


def test_an_empty_tensor_and_one_of_zeros(tmp_path: Path) -> None:
    for array in (np.zeros((0, 3), np.float32), np.zeros(3, np.float32)):
        (heights,) = magnitudes(tensor_of(tmp_path, array)).heights.values()
        assert heights.sum() == array.size


def test_a_file_that_was_cut(tmp_path: Path) -> None:
    tensor = tensor_of(tmp_path, np.ones(100_000, np.float32))
    path = Path(tensor.path)
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(fastdump.FileChangedError):
        tensor.plot()


def test_without_matplotlib_the_error_names_the_extra(
    table: StatsTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(MissingDependencyError, match=r"pip install 'fastdump\[plot\]'"):
        table.plot()
