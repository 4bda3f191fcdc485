"""`fastdump.report`, `to_html` of tables and reports: what is on the page, and what is not."""

from __future__ import annotations

import itertools
import math
import re
import shlex
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from conftest import MakeArrow
from html_pages import Page
from sample_dumps import Demos, write_unusual

import fastdump
from fastdump import MissingDependencyError, StatsTable, testing
from fastdump._cli import main
from fastdump._figures.figures import Curves, StateMap, ValueMap
from fastdump._page.parts import Drawing, Section
from fastdump.demo import write_demo

pytest.importorskip("bokeh", reason="figures of pages are drawn by Bokeh")

WRONG = "model.layers.1.mlp.act_fn/Swish"
MASK = "-Inf or the least value, often a mask"
HOSTILE = "net/</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u202e\x1b[31m"


@pytest.fixture(scope="module")
def table(demos: Demos) -> StatsTable:
    return fastdump.stats(demos.model, level="full")


def figures(sections: tuple[Section, ...]) -> dict[str, object]:
    return {
        part.figure.title: part.figure
        for section in sections
        for part in section.parts
        if isinstance(part, Drawing)
    }


def table_figures(table: StatsTable) -> dict[str, object]:
    from fastdump._table.page import sections

    return figures(sections(table))


# Pages


def test_a_page_of_a_dump_says_what_triage_says(demos: Demos) -> None:
    page = Page(fastdump.report(demos.model))
    answer = fastdump.triage(demos.model).answer()
    assert answer.headline in page.text
    for label, text in answer.facts:
        assert f"{label} {text}" in page.text
    assert answer.command in page.text
    assert str(demos.model) in page.text
    assert fastdump.__version__ in page.text


def test_a_page_is_one_file_and_whole(demos: Demos) -> None:
    for html in (fastdump.report(demos.model), fastdump.report(demos.model, demos.model)):
        page = Page(html)
        assert page.open_elements == []
        assert page.fetched == []
        assert page.handlers == []
        assert "default-src 'none'" in html
        assert html.isascii() or 'charset="utf-8"' in html


def test_the_worst_rows_are_those_of_the_table(table: StatsTable) -> None:
    page = Page(table.to_html())
    titles, *rows = page.tables[-1]
    worst = table.worst(500)
    assert len(rows) == 500 < len(table)
    assert f"The worst 500 of {len(table):,} rows." in page.text
    for row, shown in zip(worst, rows, strict=True):
        cells = dict(zip(titles, shown, strict=True))
        assert cells["op_name"] == row.op_name
        assert cells["tensor"] == row.tensor_name
        assert cells["rank"] == str(row.rank)
        assert cells["nan"] == f"{row.nan:,}"


def test_a_row_has_the_command_that_shows_it(
    table: StatsTable, capsys: pytest.CaptureFixture[str]
) -> None:
    titles, first, *_ = Page(table.to_html()).tables[-1]
    command = dict(zip(titles, first, strict=True))["command"].removeprefix("show")
    program, *arguments = shlex.split(command)
    assert program == "fastdump"
    assert main(arguments) == 0
    worst = table.worst(1)[0]
    assert f"{worst.nan:,}" in capsys.readouterr().out.replace("nan", "")


def test_names_stay_text(tmp_path: Path) -> None:
    place = testing.model_dump_dir(
        tmp_path, time="20260114093042", device=0, model="m", model_id=1, step=0
    )
    bad = np.array([np.nan, 1], np.float32)
    name = testing.dump_name("Add", "net", task_id=1, stream_id=1, timestamp=1)
    testing.write_dump(place / name, op_name=HOSTILE, inputs=[bad], outputs=[bad])
    write_demo(tmp_path / "clean")
    clean = Page(fastdump.report(tmp_path / "clean"))
    for html in (
        fastdump.report(place),
        fastdump.stats(place, level="full").to_html(),
        fastdump.triage(place).to_html(),
        fastdump.compare(place, place).to_html(),
    ):
        page = Page(html)
        assert page.handlers == []
        assert page.fetched == []
        assert page.scripts <= clean.scripts
        assert "alert(1)" in page.text
        assert "\x1b" not in html
        assert "\u202e" not in html


def test_a_page_of_unusual_and_of_damaged_files(tmp_path: Path) -> None:
    place = write_unusual(tmp_path / "unusual")
    page = Page(fastdump.report(place))
    assert page.open_elements == []
    statuses = {row.status for row in fastdump.stats(place)} - {"ok", "unsupported"}
    assert statuses
    for status in statuses:
        assert status in page.text


def test_a_page_without_statistics_is_refused(demos: Demos, make_arrow: MakeArrow) -> None:
    headers = StatsTable(make_arrow([{}]), level="header")
    with pytest.raises(ValueError, match="needs statistics"):
        fastdump.report(headers)
    with pytest.raises(ValueError, match="root is for tables"):
        fastdump.report(demos.model, root="elsewhere")
    with pytest.raises(ValueError, match="for one table"):
        fastdump.report(demos.model, demos.model, root="elsewhere")


def test_a_page_of_an_empty_selection(table: StatsTable) -> None:
    page = Page(table.filter(op_name="nothing*").to_html())
    assert page.open_elements == []
    assert page.tables == []


def test_other_reports_have_pages(demos: Demos, tmp_path: Path) -> None:
    for report in (
        fastdump.overflow(demos.overflow),
        fastdump.watcher(demos.watcher),
        fastdump.triage(demos.model),
        fastdump.convert(demos.model, tmp_path / "npy", op_type="SoftmaxV2"),
        fastdump.config.check_text('{"dump": {"dump_path": 3}}'),
    ):
        page = Page(report.to_html())
        assert report.answer().headline in page.text
        assert page.open_elements == []


def test_the_size_does_not_grow_with_the_dump() -> None:
    from benchmarks.many_rows import part_of_rank

    parts = [part_of_rank(rank, 100) for rank in range(1024)]
    small, large = (len(fastdump.report(fastdump.concat(parts[:n]))) for n in (8, 1024))
    assert large < 5 * 2**20
    assert large < small + 2**20


def test_without_bokeh_the_error_names_the_extra(
    demos: Demos,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "bokeh", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'fastdump\[report\]'"):
        fastdump.report(demos.model)
    assert main(["report", str(demos.model), "-o", str(tmp_path / "r.html")]) == 2
    assert "fastdump[report]" in capsys.readouterr().err
    assert not (tmp_path / "r.html").exists()
    # A page without figures does not need it, nor do text and notebooks.
    assert Page(fastdump.overflow(demos.overflow).to_html()).tables == []
    assert "+Inf" in fastdump.triage(demos.model)._repr_html_()


def test_progress_is_told_of_one_dump_and_of_two(demos: Demos) -> None:
    told: list[object] = []
    fastdump.report(demos.model, progress=told.append)
    n_of_one = len(told)
    fastdump.report(demos.model, demos.model, progress=told.append)
    assert 0 < n_of_one < len(told)
    assert isinstance(told[-1], fastdump.CompareProgress)


# Numbers in figures, against a loop over rows


def test_health_by_rank_and_layer(table: StatsTable) -> None:
    figure = table_figures(table)["Health by rank and layer"]
    assert isinstance(figure, StateMap)
    expected: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in table:
        if row.layer is not None:
            expected[str(row.rank), str(row.layer)].add(health(row))
    order = [state.name for state in figure.states]
    found = {
        (figure.y_names[y], figure.x_names[x]): order[code]
        for (y, x), code in np.ndenumerate(figure.codes)
        if code >= 0
    }
    assert found == {cell: max(states, key=order.index) for cell, states in expected.items()}
    assert {"NaN or +Inf", MASK} <= set(found.values())


def health(row: fastdump.StatsRow) -> str:
    if row.nan or row.pos_inf:
        return "NaN or +Inf"
    if row.status not in ("ok", "unsupported"):
        return "not read whole"
    if row.saturated and row.dtype in ("float16", "float32", "bfloat16"):
        is_filled = (row.max or 0.0) < -(row.min or 0.0)
        return MASK if is_filled else "at the largest value of its type"
    reach = max((abs(v) for v in (row.min, row.max) if v is not None), default=0)
    if row.dtype == "float16" and reach >= 65504 / 2:
        return "within 2x of the largest value"
    return MASK if row.neg_inf else "nothing bad"


def test_the_origin_is_ringed(demos: Demos, table: StatsTable) -> None:
    from fastdump._table.page import sections

    origin = fastdump.triage(demos.model).origins[0].tensor
    shown = figures(sections(table, origin))
    for title in ("Health by rank and layer", "Health by step and layer"):
        figure = shown[title]
        assert isinstance(figure, StateMap)
        assert figure.ringed is not None
        y, x = figure.ringed
        where = origin.rank if figure.y_label == "rank" else origin.step
        assert (figure.y_names[y], figure.x_names[x]) == (str(where), str(origin.layer))
    spread = shown[f"Along the execution of step {origin.step}"]
    assert isinstance(spread, StateMap)
    assert spread.ringed is not None
    y, x = spread.ringed
    bad = len(spread.states) - 1
    assert spread.codes[y, x] == bad
    # Before the origin, nothing is bad on its rank.
    assert not (spread.codes[y, :x] == bad).any()


def test_each_rank_has_its_execution_from_its_first_operator_on(
    demos: Demos, table: StatsTable
) -> None:
    from fastdump._table.page import sections

    origin = fastdump.triage(demos.model).origins[0].tensor
    spread = figures(sections(table, origin))[f"Along the execution of step {origin.step}"]
    assert isinstance(spread, StateMap)
    order = [state.name for state in spread.states]
    for y, rank in enumerate(spread.y_names):
        runs: list[tuple[object, str]] = []
        for row in table.filter(rank=int(rank), step=origin.step):
            run = (row.op_name, row.timestamp, row.task_id)
            if not runs or runs[-1][0] != run:
                runs.append((run, health(row)))
            else:
                runs[-1] = (run, max(runs[-1][1], health(row), key=order.index))
        shown = [order[code] for code in spread.codes[y] if code >= 0]
        assert shown == [state for _, state in runs]


def test_root_mean_squares_over_layers(table: StatsTable) -> None:
    figure = table_figures(table)["Root mean square of outputs over layers"]
    assert isinstance(figure, Curves)
    squares: dict[tuple[int, int], float] = defaultdict(float)
    numbers: dict[tuple[int, int], int] = defaultdict(int)
    for row in table:
        is_float = "float" in (row.dtype or "")
        if row.io == "output" and is_float and row.status == "ok" and row.layer is not None:
            assert row.rank is not None
            assert row.count is not None
            bad = sum(n or 0 for n in (row.nan, row.pos_inf, row.neg_inf))
            squares[row.rank, row.layer] += (row.l2norm or 0.0) ** 2
            numbers[row.rank, row.layer] += row.count - bad
    for rank, curve in enumerate(figure.curves):
        expected = [math.sqrt(squares[rank, i] / numbers[rank, i]) for i in range(len(curve.y))]
        np.testing.assert_allclose(curve.y, expected, rtol=1e-12)


@pytest.mark.parametrize("over", ["layer", "step"])
def test_largest_magnitudes(table: StatsTable, over: str) -> None:
    figure = table_figures(table)[f"Largest magnitude of finite elements over {over}s"]
    assert isinstance(figure, Curves)
    assert [curve.name for curve in figure.curves] == ["rank 0", "rank 1"]
    for rank, curve in enumerate(figure.curves):
        for number, value in enumerate(curve.y):
            expected = [
                max(abs(row.min), abs(row.max))
                for row in table
                if (row.rank, getattr(row, over)) == (rank, number)
                and "float" in (row.dtype or "")
                and row.status == "ok"
                and row.min is not None
                and row.max is not None
            ]
            assert value == max(expected, default=math.nan) or math.isnan(value)
            assert math.isnan(value) == (not expected)


def test_masks_do_not_hide_the_largest_magnitudes(tmp_path: Path) -> None:
    for layer in range(3):
        place = testing.model_dump_dir(
            tmp_path, time="20260114093042", device=0, model="m", model_id=1, step=0
        )
        name = f"model.layers.{layer}/Add"
        path = place / testing.dump_name(
            "Add", f"n{layer}", task_id=layer, stream_id=1, timestamp=1
        )
        mask = np.tril(np.full((8, 8), -65504, np.float16), -1)
        testing.write_dump(
            path, op_name=name, inputs=[mask], outputs=[np.full(8, 2.0**layer, np.float16)]
        )
    table = fastdump.stats(tmp_path, level="full")
    figure = table_figures(table)["Largest magnitude of finite elements over layers"]
    assert isinstance(figure, Curves)
    assert figure.curves[0].y.tolist() == [1, 2, 4]


def test_shares_over_steps(table: StatsTable) -> None:
    figure = table_figures(table)["Share of zero, subnormal and saturated elements over steps"]
    assert isinstance(figure, Curves)
    assert len(figure.curves) > 1
    for curve in figure.curves:
        dtype, column = curve.name.split()
        for step, value in enumerate(curve.y):
            rows = list(table.filter(dtype=dtype, step=step, status="ok"))
            n = sum(getattr(row, column) or 0 for row in rows)
            assert value == pytest.approx(n / sum(row.count or 0 for row in rows), rel=1e-12)


def test_the_widest_dynamic_range_of_a_type(table: StatsTable) -> None:
    from fastdump._table.health import health_of
    from fastdump._table.page import types_table

    columns, lines = types_table(table, health_of(table)).shown()
    titles = [column.title for column in columns]
    told = {line[0].text: line[titles.index("widest dynamic range")].text for line in lines}
    widest: dict[str, float] = {}
    for row in table:
        if row.dtype in told and row.min_abs:
            assert row.max is not None
            assert row.min is not None
            ratio = math.log2(max(row.max, -row.min)) - math.log2(row.min_abs)
            widest[row.dtype] = max(ratio, widest.get(row.dtype, 0))
    assert len(widest) > 1
    assert told == {dtype: f"{ratio:.1f}" for dtype, ratio in widest.items()}
    basic = types_table(fastdump.stats(Path(table.roots[0])), health_of(table)).shown()[0]
    assert "widest dynamic range" not in [column.title for column in basic]


def test_root_mean_squares_in_cells(table: StatsTable) -> None:
    figure = table_figures(table)["Root mean square of outputs by step and layer"]
    assert isinstance(figure, ValueMap)
    for (y, x), value in np.ndenumerate(figure.values):
        rows = [
            row
            for row in table.filter(io="output", status="ok")
            if (row.step, row.layer) == (int(figure.y_names[y]), int(figure.x_names[x]))
            and "float" in (row.dtype or "")
        ]
        n = sum(
            (row.count or 0) - sum((row.nan or 0, row.pos_inf or 0, row.neg_inf or 0))
            for row in rows
        )
        assert value == pytest.approx(math.sqrt(sum((row.l2norm or 0) ** 2 for row in rows) / n))


def test_headroom_is_the_least_of_float16(table: StatsTable) -> None:
    figure = table_figures(table)["Headroom of float16, the least of all tensors"]
    assert isinstance(figure, ValueMap)
    for (y, x), value in np.ndenumerate(figure.values):
        reaches = [
            max(abs(row.min or 0.0), abs(row.max or 0.0))
            for row in table
            if row.dtype == "float16"
            and (str(row.rank), str(row.layer)) == (figure.y_names[y], figure.x_names[x])
        ]
        assert value == pytest.approx(65504 / max(reaches))


def test_many_ranks_share_rows_of_a_map(make_arrow: MakeArrow) -> None:
    n = 1000
    moments = dict.fromkeys(("max", "min", "mean", "l2norm"), 1.0)
    same = {"op_type": "Add", "count": 16, "dtype": "float32", "io": "output", "index": 0}
    counts = dict.fromkeys(("pos_inf", "neg_inf", "step", "timestamp"), 0)
    rows = [
        {
            **{**moments, **same, **counts},
            **{"rank": i, "layer": i % 2, "op_name": f"layers.{i % 2}/Add", "nan": int(i == 777)},
        }
        for i in range(n)
    ]
    figure = table_figures(StatsTable(make_arrow(rows)))["Health by rank and layer"]
    assert isinstance(figure, StateMap)
    assert len(figure.y_names) <= 64
    ((y, x),) = np.argwhere(figure.codes == len(figure.states) - 1).tolist()
    first, last = map(int, figure.y_names[y].split("-"))
    assert first <= 777 <= last
    assert figure.x_names[x] == "1"
    assert "layers.1/Add:output.0" in figure.texts[y, x]
    names = [tuple(map(int, name.split("-"))) for name in figure.y_names]
    assert names[0][0] == 0
    assert names[-1][1] == n - 1
    assert all(a[1] + 1 == b[0] for a, b in itertools.pairwise(names))


def test_a_comparison_marks_the_first_divergence(demos: Demos, tmp_path: Path) -> None:
    write_demo(tmp_path / "wrong", wrong=WRONG)
    compared = fastdump.compare(tmp_path / "wrong", demos.model)
    shown = figures(compared.sections())
    scatter = shown["Error along the execution"]
    assert scatter.marked == ("first divergence", compared.first_divergence.row)  # type: ignore
    page = Page(compared.to_html())
    assert compared.answer().headline in page.text
    assert "name 1,328" in page.text
    worst = page.tables[1]
    layer, op_name = (worst[0].index(title) for title in ("layer", "op_name"))
    for row in worst[1:]:
        number = re.search(r"layers\.(\d+)", row[op_name])
        assert row[layer] == (number[1] if number else "")
    titles, first, *_ = page.tables[0]
    assert dict(zip(titles, first, strict=True))["op_name"] == WRONG
    verdicts = shown["Verdicts by rank and layer"]
    assert isinstance(verdicts, StateMap)
    own = len(verdicts.states) - 1
    assert {verdicts.x_names[x] for _, x in np.argwhere(verdicts.codes == own)} == {"1"}


# The command


def test_the_command_writes_a_page_and_prints_the_answer(
    demos: Demos, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "page.html"
    output.write_text("old")
    assert main(["report", str(demos.model), "-o", str(output)]) == 1
    printed = capsys.readouterr()
    headline = fastdump.triage(demos.model).answer().headline
    assert printed.out.startswith(headline)
    assert str(output) in printed.err
    assert headline in Page(output.read_text()).text
    assert list(tmp_path.iterdir()) == [output]


def test_the_command_takes_tables_and_conditions(demos: Demos, tmp_path: Path) -> None:
    pytest.importorskip("arro3.io")
    table, output = str(tmp_path / "t.parquet"), tmp_path / "page.html"
    fastdump.stats(demos.model, level="full").write(table)
    assert main(["report", table, "-o", str(output)]) == 1
    assert main(["report", table, "--step", "0", "-o", str(output)]) in (0, 3)
    assert "steps 0 " in Page(output.read_text()).text


def test_the_command_compares(demos: Demos, tmp_path: Path) -> None:
    output = tmp_path / "page.html"
    arguments = ["-o", str(output)]
    write_demo(tmp_path / "wrong", wrong=WRONG)
    assert main(["report", str(tmp_path / "wrong"), str(demos.model), *arguments]) == 1
    assert "the runs part" in Page(output.read_text()).text
    assert main(["compare", str(demos.model), str(demos.model), *arguments]) == 3
    assert Page(output.read_text()).open_elements == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing"], "missing: No such file"),
        (["DUMP", "-o", "missing/x.html"], "No such file"),
        (["DUMP", "-o", "."], "directory"),
        (["DUMP", "--root", "/"], "--root is for a table"),
        (["DUMP", "DUMP", "--root", "/"], "for one table"),
        (["DUMP", "--op-name", "nothing*"], "nothing*"),
    ],
)
def test_errors_of_the_command(
    demos: Demos,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    given = [str(demos.model) if word == "DUMP" else word for word in arguments]
    assert main(["report", *given]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-65504.0, 3.0, MASK),
        (-65504.0, 65504.0, "at the largest value of its type"),
        (-3.0, 65504.0, "at the largest value of its type"),
        (-40000.0, 3.0, "within 2x of the largest value"),
        (-3.0, 3.0, "nothing bad"),
    ],
)
def test_masks_are_not_taken_for_saturation(
    make_arrow: MakeArrow, low: float, high: float, expected: str
) -> None:
    from fastdump._table.health import STATES, health_of

    counts = {"nan": 0, "pos_inf": 0, "neg_inf": 0, "count": 64}
    saturated = int(abs(low) == 65504) + int(high == 65504)
    row = {"min": low, "max": high, "mean": 0.0, "l2norm": 1.0, "dtype": "float16", **counts}
    table = StatsTable(make_arrow([{**row, "saturated": saturated}], full=True), level="full")
    assert [STATES[state].name for state in health_of(table)] == [expected]
