"""`fastdump browse`: what is on the screen after which keys, also of files that changed."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.color import Color
from small_dumps import SmallDump

import fastdump
from fastdump import StatsTable
from fastdump._cli import main
from fastdump._selection import Selection
from fastdump.demo import DemoDump, write_demo

pytest.importorskip("textual")
if tuple(map(int, version("rich").split(".")[:2])) < (14, 2):  # the oldest that fastdump takes
    pytest.skip("textual needs rich 14.2 or newer", allow_module_level=True)

from browse_screens import PAGE, Driven, drive, page_with_screens
from terminal import TMUX, Terminal

from fastdump._browse import app as browse_app
from fastdump._browse.columns import STATS_COLUMNS, aligned, fitted, gap_of, short_count
from fastdump._browse.health import BAD, INCOMPLETE, MASKED, health_of
from fastdump._browse.picture import picture_of
from fastdump._browse.places import Place, Places
from fastdump._browse.row_order import sorted_rows
from fastdump._table.schema import COLUMN
from fastdump._triage.ways import Ways

OVERFLOW = "model.layers.2.self_attn/BatchMatMul_qk"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoDump:
    return write_demo(tmp_path_factory.mktemp("browse") / "dump")


@pytest.fixture(scope="module")
def table(demo: DemoDump) -> StatsTable:
    return fastdump.stats(demo.directory, level="full")


# The tree and the table


def test_the_tree_leads_to_the_rows_of_a_layer(demo: DemoDump, table: StatsTable) -> None:
    async def script(driven: Driven) -> None:
        lines = driven.lines()
        assert f"{len(table):,} tensors" in lines[0]
        assert [line[2:14] for line in lines[2:4]] == ["▸ \u2717 rank 0  ", "▸ \u2717 rank 1  "]
        # rank 1, step 1, layer 2
        await driven.press("down", "down", "right", "down", "down", "right", *["down"] * 3)
        step = table.filter(rank=1, step=1)
        in_layer = np.ma.filled(step["layer"] == 2, False)
        assert table[driven.shown()].arrow == step[in_layer].arrow
        lines = await driven.press("left", "left")
        assert any("rank 1" in line for line in lines)
        assert not any("layer 2" in line[:22] for line in lines)

    drive(demo.directory, script)


def test_places_share_out_the_rows(table: StatsTable) -> None:
    """Independent truth: rows grouped in Python by the columns of the table."""
    health = health_of(table)
    places = Places(table, health)
    keys = [(row.rank, row.step, row.layer, row.op_type, row.op_name) for row in table]

    def check(place: Place, depth: int) -> None:
        rows = places.rows(place).tolist()
        assert len({keys[row][:depth] if depth < 4 else keys[row] for row in rows}) == 1
        assert place.n_bad == sum(health[row] == BAD for row in rows)
        assert (place.health == BAD) == (place.n_bad > 0)
        children = places.children(place)
        if children:
            below = [row for child in children for row in places.rows(child).tolist()]
            assert sorted(below) == rows
            for child in children:
                check(child, depth + 1)

    check(places.everything("all"), 0)


def test_health_tells_masks_from_bad_values(table: StatsTable) -> None:
    health = health_of(table)
    for row, found in zip(table, health.tolist(), strict=True):
        is_bad = bool(row.nan or row.pos_inf)
        assert (found == BAD) == is_bad
        if not is_bad:
            assert (found == INCOMPLETE) == (row.status not in ("ok", "unsupported"))
            assert (found == MASKED) == (row.status == "ok" and bool(row.neg_inf))


def test_the_filter_works_as_one_types(demo: DemoDump, table: StatsTable) -> None:
    async def script(driven: Driven) -> None:
        await driven.press("slash")
        lines = await driven.type("MatMul* step=1")
        matching = table.filter(step=1).filter(op_type="MatMul*")
        also = table.filter(step=1).filter(op_name="MatMul*")
        assert len(also) == 0
        assert table[driven.shown()].arrow == matching.arrow
        assert f"{len(matching)} tensors" in lines[0]
        # A condition that is not one is said, and the rows stay.
        assert "'1-x'" in (await driven.type("-x"))[0]
        assert len(driven.shown()) == len(matching)
        await driven.press("escape")
        assert len(driven.shown()) == len(table)

    drive(demo.directory, script)


def test_a_part_of_a_name_is_enough(demo: DemoDump, table: StatsTable) -> None:
    async def script(driven: Driven) -> None:
        await driven.press("slash")
        await driven.type("layers.2.self_attn rank=1")
        expected = table.filter(op_name="*layers.2.self_attn*", rank=1)
        assert table[driven.shown()].arrow == expected.arrow
        await driven.press("enter")
        assert driven.view.has_focus

    drive(demo.directory, script)


def test_rows_are_sorted(demo: DemoDump, table: StatsTable) -> None:
    async def script(driven: Driven) -> None:
        lines = await driven.press("s")
        place = next(i for i, line in enumerate(lines) if "by max" in line)
        first = next(i for i, line in enumerate(lines) if "in the order of execution" in line)
        lines = await driven.press(*["down"] * (place - first), "enter")
        assert "by max, largest first" in lines[0]
        assert table[driven.shown()].arrow == table.sort("max", descending=True).arrow
        # The same again turns it round.
        lines = await driven.press("s", *["down"] * (place - first), "enter")
        assert table[driven.shown()].arrow == table.sort("max").arrow
        # The worst come as the command stats has them.
        await driven.press("s", "down", "enter")
        assert table[driven.shown()].arrow == table.worst().arrow

    drive(demo.directory, script)


@pytest.mark.parametrize("name", ["step", "layer", "op_type", "dtype", "mean", "timestamp"])
@pytest.mark.parametrize("descending", [False, True])
def test_orders_are_those_of_the_table(table: StatsTable, name: str, descending: bool) -> None:
    rows = sorted_rows(
        table.batch.column(name), COLUMN[name].type, np.arange(len(table)), descending=descending
    )
    assert table[rows].arrow == table.sort(name, descending=descending).arrow


def test_only_bad_rows(demo: DemoDump, table: StatsTable) -> None:
    async def script(driven: Driven) -> None:
        lines = await driven.press("b")
        bad = table.bad_values.nan_or_pos_inf | table.bad_values.incomplete
        assert driven.shown().tolist() == np.flatnonzero(bad).tolist()
        assert "only bad" in lines[0]
        await driven.press("escape")
        assert len(driven.shown()) == len(table)

    drive(demo.directory, script)


def test_only_what_is_visible_becomes_objects(
    demo: DemoDump, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    iterate = StatsTable.__iter__

    def counting(table: StatsTable) -> Iterator[Any]:
        made.append(len(table))
        return iterate(table)

    async def script(driven: Driven) -> None:
        monkeypatch.setattr(StatsTable, "__iter__", counting)
        driven.view.focus()
        await driven.press("end", "home", "pagedown")
        monkeypatch.undo()
        assert made
        assert max(made) <= 24

    drive(demo.directory, script)


@pytest.mark.parametrize("width", [10, 39, 54, 80, 120, 155, 240])
def test_columns_fit(width: int, table: StatsTable) -> None:
    columns = fitted(STATS_COLUMNS, width)
    least = sum(column.width for column in STATS_COLUMNS if column.drop_order is None)
    n_gaps = len(columns) - 1
    total = sum(cells for _, cells in columns) + n_gaps * gap_of(width)
    assert total <= max(width, least + n_gaps * gap_of(width))
    for row in table[:50]:
        for column, cells in columns:
            assert len(aligned(column.cell(row).text, cells, right=column.right)) == cells


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("model.layers.2/Add", 18, "model.layers.2/Add"),
        ("model.layers.2.self_attn/BatchMatMul_qk", 20, "\u20262.\u2026BatchMatMul_qk"),
        ("model.layers.2.self_attn.v_proj/MatMul", 18, "\u20262.\u2026v_proj/MatMul"),
        ("model.norm/RmsNorm", 14, "\u2026norm/RmsNorm"),
        ("abcdefghij", 5, "ab\u2026ij"),
        ("层层层层", 5, "层\u2026层"),
    ],
)
def test_names_keep_layer_and_operation(text: str, width: int, expected: str) -> None:
    assert aligned(text, width, right=False).rstrip() == expected


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (2207, "2.2k"),
        (99_960, "100k"),
        (999_600, "1.0M"),
        (10**15, "1e+15"),
    ],
)
def test_counts_are_short(number: int, text: str) -> None:
    assert short_count(number) == text


# Tensors


def test_keys_lead_to_a_bad_tensor(demo: DemoDump, table: StatsTable) -> None:
    async def script(driven: Driven) -> None:
        lines = await driven.press("n")
        row = driven.view.row
        assert row == int(np.flatnonzero(table.bad_values.nan_or_pos_inf)[0])
        record = table[row]
        assert (record.op_name or "") in "\n".join(lines[-4:])
        text = "\n".join(await driven.press("enter"))
        assert record.tensor_name in text
        assert f"{record.nan} NaN" in text
        lines = await driven.press("escape")
        assert driven.view.row == row

    drive(demo.directory, script)


def test_a_tensor_with_its_elements_and_its_picture(demo: DemoDump, table: StatsTable) -> None:
    number = next(
        i
        for i, row in enumerate(table)
        if row.op_name == OVERFLOW and row.pos_inf and row.io == "output"
    )
    array = np.asarray(table[number].tensor())

    async def script(driven: Driven) -> None:
        driven.view.focus()
        driven.view.move_to(number)
        lines = await driven.press("enter")
        text = "\n".join(lines)
        assert "the block [0, 0, {6, 12}, {6, 12}]" in text
        finite = np.float64(array[np.isfinite(array)])
        magnitudes = np.abs(finite[finite != 0])
        expected = {
            "std": finite.std(),
            "min_abs": magnitudes.min(),
            "dynamic_range": np.log2(magnitudes.max() / magnitudes.min()),
        }
        for name, value in expected.items():
            assert re.search(rf"\b{name} +{re.escape(f'{value:.6g}')} ", text), name
        picture = next(i for i, line in enumerate(lines) if "picture" in line)
        matrix = lines[picture + 1 : picture + 13]
        bad = [line[1:25].count("+") for line in matrix]
        rows, _ = np.nonzero(np.isinf(array[0, 0]))
        assert bad == np.bincount(rows // 2, minlength=12).tolist()
        # Another matrix has none, and another slice other elements.
        lines = await driven.press("right_square_bracket")
        assert "[0, 1, :, :]" in "\n".join(lines)
        await driven.press("slash")
        await driven.type("1, 2, 3, :2")
        text = "\n".join(await driven.press("enter"))
        expected = np.array2string(array[1, 2, 3, :2], separator=", ")
        assert expected in text
        # What is no index is said.
        await driven.press("slash")
        await driven.type("x")
        assert "x" in "\n".join(await driven.press("enter"))
        # The other tensors of the operator.
        assert "\u25b8 input.1" in "\n".join(await driven.press("left"))

    drive(demo.directory, script, size=(100, 60))


def test_a_picture_loses_nothing_bad() -> None:
    matrix = np.random.default_rng(5).normal(size=(1000, 700)).astype(np.float32)
    matrix[501, 333] = np.nan
    matrix[2, 699] = -np.inf
    matrix[999, 0] = 1e30
    picture = picture_of(matrix, width=60, height=20)
    assert picture.values.shape == (40, 60)
    letters = ["".join(cell.text for cell in line) for line in picture.lines()]
    assert "".join(letters).count("N") == 1
    assert "".join(letters).count("-") == 1
    assert letters[0][-1] == "-"
    assert picture.scale == np.float32(1e30)
    # Each block has its largest finite magnitude.
    finite = np.where(np.isfinite(matrix), matrix, 0)
    rows = [i * 1000 // 40 for i in range(41)]
    columns = [i * 700 // 60 for i in range(61)]
    for i in range(40):
        for j in range(60):
            block = finite[rows[i] : rows[i + 1], columns[j] : columns[j + 1]]
            assert abs(picture.values[i, j]) == np.abs(block).max()


def test_a_small_matrix_has_a_cell_for_each_element() -> None:
    picture = picture_of(np.array([[1, -2, np.inf]]), width=80, height=24)
    assert picture.values.shape == (1, 3)
    assert [cell.text for line in picture.lines() for cell in line] == ["\u2580", "\u2580", "+"]


# Files that are not what they were


def vanish(path: Path) -> None:
    path.unlink()


def lose_the_end(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 4)


def become_garbage(path: Path) -> None:
    path.write_bytes(b"\xff" * path.stat().st_size)


def become_a_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("happen", [vanish, lose_the_end, become_garbage, become_a_directory])
def test_a_file_that_changed_is_a_message(tmp_path: Path, happen: Callable[[Path], None]) -> None:
    dump = SmallDump(tmp_path / "dump")
    path = dump.op("Add x", outputs=[np.array([[np.nan, 1], [2, 3]], np.float32)])
    dump.op("Mul y", inputs=[np.array([[np.nan, 1], [2, 3]], np.float32)])

    async def script(driven: Driven) -> None:
        happen(path)
        driven.view.focus()
        lines = await driven.press("enter")
        text = "\n".join(lines)
        assert "Add x" in text
        # The statistics are those of the table, and something says why there is no more.
        assert any("nan" in line and "1" in line for line in lines)
        assert "picture" not in text
        assert path.name[:20] in "".join(lines[9:])
        await driven.press("escape", "o")
        assert "origin" in "\n".join(driven.lines())

    app = drive(dump.root, script, size=(160, 40))
    assert app.failure is None


def test_truncated_and_reported_tensors_have_their_rows(demo: DemoDump, table: StatsTable) -> None:
    number = next(i for i, row in enumerate(table) if row.status == "truncated")

    async def script(driven: Driven) -> None:
        driven.view.focus()
        driven.view.move_to(number)
        assert "truncated" in "\n".join(await driven.press("enter"))

    drive(demo.directory, script, size=(120, 40))


def test_statistics_of_the_device_have_no_tensor(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path / "dump")
    dump.op("Add x", outputs=[np.arange(4, dtype=np.float32)], csv=True)

    async def script(driven: Driven) -> None:
        driven.view.focus()
        text = "\n".join(await driven.press("enter"))
        assert "that the device computed" in text

    drive(dump.root, script, size=(160, 40))


def test_a_table_without_its_dump(tmp_path: Path, demo: DemoDump) -> None:
    copied = tmp_path / "dump"
    shutil.copytree(demo.directory, copied)
    fastdump.stats(copied, level="full").write(tmp_path / "table.csv")
    shutil.rmtree(copied)

    async def script(driven: Driven) -> None:
        assert "table.csv" in driven.lines()[0]
        text = "\n".join(await driven.press("n", "enter"))
        assert "No such file or directory" in text or "does not tell where" in text
        text = "\n".join(await driven.press("escape", "o"))
        assert "BatchMatMul_qk" in text

    drive(tmp_path / "table.csv", script, size=(160, 40))


def test_hostile_names_are_shown_as_they_are(tmp_path: Path) -> None:
    names = ["[red]x[/red]", "\x1b[31mx\x1b[0m", "[/]", "[@click=app.quit]q[/]", "a\u202eb"]
    shown = [name.encode("unicode_escape").decode() for name in names]
    dump = SmallDump(tmp_path / "[bold]dump")
    for name in names:
        dump.op(f"Add {name}", outputs=[np.array([np.nan], np.float32)])

    async def script(driven: Driven) -> None:
        lines = driven.lines()
        assert "[bold]dump" in lines[0]
        lines = await driven.press("right", "right", "right", "right", "right")
        text = "\n".join(lines)
        assert all(name in text for name in shown)
        assert "\x1b" not in text
        assert "\u202e" not in text
        await driven.press("home")
        driven.view.focus()
        for name in shown:
            driven.view.move_to(shown.index(name))
            assert name in "\n".join(await driven.press("enter"))
            assert name in "\n".join(await driven.press("o"))
            await driven.press("escape", "escape")
        await driven.press("slash")
        await driven.type("[red]")
        assert "[red]" in driven.lines()[0]

    drive(dump.root, script, size=(160, 40))


def test_an_empty_dump_ends_with_its_error(tmp_path: Path) -> None:
    async def script(driven: Driven) -> None:
        pass

    app = drive(tmp_path, script)
    assert isinstance(app.failure, fastdump.NoDumpError)


# From a bad value to its origin


def test_every_way_begins_where_triage_says(demo: DemoDump, table: StatsTable) -> None:
    finding = fastdump.triage(table).findings[0]
    assert finding.origin is not None
    last = finding.chain[-1].operator
    row = next(
        i
        for i, one in enumerate(table)
        if (one.rank, one.step, one.op_name) == (last.rank, last.step, last.op_name)
    )
    ways = Ways(table)
    way = ways.to(row)
    assert way is not None
    chain = [finding.origin.operator, *(one.operator for one in finding.chain)]
    assert [step.operator for step in way.steps] == chain
    assert [step.known_by for step in way.steps[1:]] == [one.known_by for one in finding.chain]
    assert (way.verdict, way.reason) == (finding.origin.verdict, finding.origin.reason)
    for number in np.flatnonzero(table.bad_values.nan_or_pos_inf).tolist():
        way = ways.to(number)
        assert way is not None
        assert way.steps[0].operator.op_name == demo.overflow.op_name
        assert way.steps[-1].operator.op_name == table[number].op_name


def test_masks_and_clean_rows_have_no_way(table: StatsTable) -> None:
    ways = Ways(table)
    mask = next(i for i, row in enumerate(table) if row.neg_inf and not row.nan and row.step == 0)
    assert ways.to(mask) is None
    assert "mask" in ways.why_harmless(mask)
    assert ways.to(0) is None
    assert ways.why_harmless(0) == ""


def test_the_way_to_the_origin(demo: DemoDump) -> None:
    async def script(driven: Driven) -> None:
        lines = await driven.press("n", "o")
        assert "origin: its inputs are clean" in lines[2]
        assert "BatchMatMul_qk" in lines[5]
        assert "origin" in lines[5]
        text = "\n".join(await driven.press("enter"))
        assert OVERFLOW in text
        assert "4 +Inf" in text
        await driven.press("escape", "escape")
        assert driven.view.has_focus

    drive(demo.directory, script, size=(110, 40))


def _luminance(colour: Color) -> float:
    """Return how bright a colour is, as the Web's guidelines for accessibility have it."""
    parts = [part / 255 for part in colour.get_truecolor()]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light"])
def test_what_is_bad_can_be_read(demo: DemoDump, theme: str) -> None:
    """Also on the line with the cursor, whatever its background is."""

    async def script(driven: Driven) -> None:
        driven.app.theme = theme
        for keys, text in ((["n"], "\u2717"), (["o"], "+Inf")):
            await driven.press(*keys)
            strips = driven.app.screen._compositor.render_strips(driven.app.size)
            segments = [segment for strip in strips for segment in strip if text in segment.text]
            assert len(segments) > 2
            for _, style, _ in segments:
                assert style is not None
                assert style.color is not None
                assert style.bgcolor is not None
                low, high = sorted(map(_luminance, (style.color, style.bgcolor)))
                assert (high + 0.05) / (low + 0.05) > 2.5

    drive(demo.directory, script)


def test_a_clean_row_comes_from_nothing_bad(demo: DemoDump) -> None:
    async def script(driven: Driven) -> None:
        driven.view.focus()
        assert "no bad value is known" in "\n".join(await driven.press("o"))

    drive(demo.directory, script)


# Beside a second dump


def test_a_second_dump(tmp_path: Path, demo: DemoDump) -> None:
    other = tmp_path / "other"
    shutil.copytree(demo.directory, other)
    changed = sorted(other.rglob("MatMulV2.model_layers_1_mlp_up_proj*"))[0]
    content = bytearray(changed.read_bytes())
    content[-1] ^= 0x40  # an exponent
    changed.write_bytes(content)
    pairs = fastdump.compare(demo.directory, other)
    assert int(pairs.diverges.sum()) == 1

    async def script(driven: Driven) -> None:
        lines = await driven.press("c")
        assert f"{len(pairs):,} pairs" in lines[0]
        assert "up_proj/MatMul" in "\n".join(lines[-4:])
        assert "diverges" in "\n".join(lines[-4:])
        await driven.press("slash")
        await driven.type("verdict=div")
        assert len(driven.shown()) == 1
        text = "\n".join(await driven.press("enter", "enter"))
        assert "from the first mismatch on" in text
        assert "a - b" in text
        await driven.press("escape", "escape", "c")

    drive(demo.directory, script, other=other, size=(120, 50))


def test_without_a_second_dump_there_is_no_key_for_it(demo: DemoDump) -> None:
    async def script(driven: Driven) -> None:
        before = driven.lines()
        assert "compare" not in before[-1]
        assert await driven.press("c") == before

    drive(demo.directory, script)


# While the dump is read


def test_one_stays_where_one_is_when_statistics_come(
    demo: DemoDump, table: StatsTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = fastdump.stats(demo.directory, level="full")
    batch = headers.arrow
    blank = StatsTable(batch.select([n for n in batch.column_names if n not in _STATISTICS]))
    read = threading.Event()

    def tables_of(*_: object, **__: object) -> Iterator[tuple[StatsTable, bool]]:
        yield blank, False
        assert read.wait(60)
        yield table, True

    monkeypatch.setattr(browse_app, "tables_of", tables_of)

    async def script(driven: Driven) -> None:
        try:
            while "reading tensors" not in driven.lines()[0]:
                await driven.pause()
            keys = ["down", "down", "right", "down", "down", "right", "down", "down", "tab"]
            await driven.press_while_reading(*keys, "down", "down", "down")
            place, row = driven.shown().tolist(), driven.view.row
            assert len(place) < len(table)
            assert "?" in driven.lines()[3]
        finally:
            read.set()
        await driven.settle()
        assert "reading" not in driven.lines()[0]
        assert (driven.shown().tolist(), driven.view.row) == (place, row)
        assert "?" not in driven.lines()[3]
        # The keys of the tree go on from there.
        before = [line[:20] for line in driven.lines()]
        lines = await driven.press("shift+tab", "right")
        assert [line[:20] for line in lines] != before

    drive(demo.directory, script, wait=False)


_STATISTICS = ("nan", "pos_inf", "neg_inf", "max", "min", "mean", "l2norm", "count")
_STATISTICS += ("zero", "subnormal", "saturated", "min_abs", "first_bad")


def test_leaving_ends_a_scan(demo: DemoDump, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its thread is asked at each report; one that is not would be waited for to its end."""
    ended = threading.Event()

    def tables_of(_path: str, _selection: Selection, report: Any, **__: object) -> Any:
        interval = threading.Event()
        try:
            while True:
                report(_Reached())
                interval.wait(0.01)
        finally:
            ended.set()
        yield

    monkeypatch.setattr(browse_app, "tables_of", tables_of)

    async def script(driven: Driven) -> None:
        await driven.press_while_reading("q")

    drive(demo.directory, script, wait=False)
    assert ended.is_set()


class _Reached:
    files_found, files_done, walking = 7, 3, True


# The command


def test_it_needs_a_terminal(demo: DemoDump, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["browse", str(demo.directory)]) == 2
    assert "needs a terminal" in capsys.readouterr().err


def in_terminal(program: str, term: str) -> tuple[int, str]:
    """Run a Python program in a terminal; return its exit code and what it printed."""
    ours, its = os.openpty()
    streams = {"stdin": its, "stdout": its, "stderr": its}
    process = subprocess.Popen(
        [sys.executable, "-c", program], env={**os.environ, "TERM": term}, **streams
    )
    os.close(its)
    printed = b""
    with contextlib.suppress(OSError):  # what reading gives when the other side is closed
        while part := os.read(ours, 1 << 16):
            printed += part
    os.close(ours)
    return process.wait(60), printed.decode()


_BROWSE = "from fastdump._cli import main; raise SystemExit(main(['browse', '.']))"


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_dumb_terminal_is_refused(term: str) -> None:
    code, printed = in_terminal(_BROWSE, term)
    assert code == 2
    assert f"TERM is {term!r}" in printed


@pytest.mark.skipif(TMUX is None, reason="tmux is not installed")
@pytest.mark.parametrize("debug", ["", "1"])
@pytest.mark.parametrize(
    "broken",
    [
        pytest.param("fastdump._browse.app.BrowseApp.action_help", id="key"),
        pytest.param("fastdump._browse.tensor_screen.read_tensor", id="thread"),
    ],
)
def test_what_nobody_expected_is_a_line(
    demo: DemoDump, tmp_path: Path, broken: str, debug: str
) -> None:
    """The terminal is as it was, and the exit code is that of other commands."""
    program = f"""
import sys, unittest.mock
from fastdump._cli import main
def broken(*arguments):
    raise KeyError("a thing that is not there")
import fastdump._browse.app
with unittest.mock.patch({broken!r}, broken):
    sys.exit(main(["browse", {str(demo.directory)!r}]))
"""
    (tmp_path / "program.py").write_text(program)
    command = shlex.join([sys.executable, "program.py"])
    environment = f"FASTDUMP_DEBUG={debug} " if debug else ""
    shown = f"echo before; {environment}{command}; echo code $?"
    with Terminal(shown, width=120, cwd=tmp_path) as tmux:
        tmux.until("119 bad")
        tmux("send-keys", "n")
        tmux.until("NaN or +Inf")
        tmux("send-keys", "?" if broken.endswith("help") else "Enter")
        screen = tmux.until("code 70")
        modes = tmux("display-message", "-p", "#{alternate_on} #{mouse_any_flag} #{cursor_flag}")
        assert modes.split() == ["0", "0", "1"]
    assert "fastdump: internal error: KeyError: 'a thing that is not there'" in screen
    assert ('File "' in screen) == bool(debug)
    assert ("FASTDUMP_DEBUG=1 shows where" in screen) == (not debug)
    if not debug:
        lines = [line for line in screen.splitlines() if line]
        assert lines[-3] == "before"


def test_without_textual_the_error_names_the_extra() -> None:
    program = f"import sys; sys.modules['textual'] = None; {_BROWSE}"
    code, printed = in_terminal(program, "xterm-256color")
    assert code == 2
    assert "pip install 'fastdump[browse]'" in printed


def test_other_commands_do_not_import_textual(demo: DemoDump) -> None:
    program = (
        "import sys; from fastdump._cli import main; "
        f"main(['triage', {str(demo.directory)!r}]); main(['browse', '--help']); "
        "raise SystemExit('textual' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.DEVNULL, check=False)
    assert done.returncode == 0


def test_the_screens_of_the_docs_are_what_is_on_the_screen(demo: DemoDump) -> None:
    """`python tests/browse_screens.py` draws them anew."""
    page = PAGE.read_text()
    assert page.count("<!-- screen") == 4
    drawn = page_with_screens(page, demo.directory)
    assert _rounded(drawn) == _rounded(page)


def _rounded(page: str) -> str:
    """Return a page without last digits, which depend on the CPU that wrote the sample dump."""
    rounded = re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.3g}", page)
    return re.sub(r" +", " ", rounded)


# In a real terminal


@pytest.mark.skipif(TMUX is None, reason="tmux is not installed")
def test_in_tmux(demo: DemoDump, tmp_path: Path) -> None:
    """The first bad tensor and the origin of its values are a few keys away."""
    command = shlex.join([sys.executable, "-m", "fastdump", "browse", str(demo.directory)])
    # What comes after the program shows that it has left the whole screen.
    with Terminal(f"{command}; echo code $?", cwd=tmp_path) as tmux:
        tmux.until("119 bad")
        tmux("send-keys", "n")
        tmux.until("NaN or +Inf")
        tmux("send-keys", "o")
        screen = tmux.until("20 steps from there")
        assert "4 +Inf" in screen
        tmux("send-keys", "Enter")
        tmux.until("the block [0, 0, {6, 12}, {6, 12}]")
        tmux("send-keys", "q")
        tmux.until("code 0")
