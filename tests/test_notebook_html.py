"""What notebooks show of dumps, operators, tensors, tables and reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from html_pages import Page
from sample_dumps import Demos, write_unusual

import fastdump
from fastdump import testing

HOSTILE = "net/<script>alert(1)</script>\x1b[31m"


def html_of(thing: Any) -> Page:
    page = Page(thing._repr_html_())
    assert page.open_elements == []
    assert (page.scripts, page.fetched, page.handlers) == (0, [], [])
    return page


def test_a_dump_shows_its_first_operators(demos: Demos) -> None:
    dump = fastdump.open(demos.model)
    page = html_of(dump)
    assert repr(dump) in page.text
    titles, *rows = page.tables[0]
    assert len(rows) == 10
    for operator, row in zip(dump, rows, strict=False):
        cells = dict(zip(titles, row, strict=True))
        assert cells["file"] == operator.relative
        assert cells["op_type"] == (operator.op_type or "")
    dump.close()
    assert "closed" in html_of(dump).text


def test_an_operator_shows_its_tensors(demos: Demos) -> None:
    operator = next(iter(fastdump.open(demos.model)))
    page = html_of(operator)
    titles, *rows = page.tables[0]
    shown = [dict(zip(titles, row, strict=True)) for row in rows]
    assert [row["tensor"] for row in shown] == [tensor.name for tensor in operator.tensors]
    assert [row["nbytes"] for row in shown] == [f"{t.nbytes:,}" for t in operator.tensors]


def test_a_tensor_shows_where_it_is_bad(tmp_path: Path) -> None:
    values = np.ones((48, 128), np.float16)
    values[:, 64:] = -1
    values[:24] *= 2
    values[40, 100] = np.nan
    path = tmp_path / testing.dump_name("Add", "a", task_id=1, stream_id=1, timestamp=1)
    testing.write_dump(path, op_name="a", outputs=[values])
    tensor = fastdump.open(path)["a"].outputs[0]
    page = html_of(tensor)
    assert "type: float16" in page.text
    assert "shape: 48x128" in page.text
    for word in ("negative", "positive", "not finite"):
        assert word in page.text
    from fastdump._tensor.pictures import thumbnail

    figure = thumbnail(tensor)
    names = [figure.states[code].name for code in figure.codes[20, [0, 31, 32, 50]]]
    assert names == ["positive", "positive", "negative", "not finite"]
    assert (figure.codes == 3).sum() == 1


def test_every_tensor_of_unusual_files_has_html(tmp_path: Path) -> None:
    n_tensors = 0
    for operator in fastdump.open(write_unusual(tmp_path)):
        html_of(operator)
        try:
            tensors = operator.tensors
        except (fastdump.FastdumpError, OSError):
            continue
        for tensor in tensors:
            html_of(tensor)
            n_tensors += 1
    assert n_tensors > 10


def test_a_tensor_whose_file_is_gone_says_so(tmp_path: Path) -> None:
    path = tmp_path / testing.dump_name("Add", "a", task_id=1, stream_id=1, timestamp=1)
    testing.write_dump(path, op_name="a", outputs=[np.ones(3, np.float32)])
    operator = fastdump.open(path)["a"]
    tensor = operator.outputs[0]
    path.unlink()
    assert "no picture: " in html_of(tensor).text


def test_tables_and_reports(demos: Demos) -> None:
    table = fastdump.stats(demos.model)
    page = html_of(table)
    assert len(page.tables[0]) == 9
    html = table._repr_html_()
    assert '<td class="number bad">' in html
    assert '<th class="number">nan</th>' in html
    for report in (
        fastdump.triage(demos.model),
        fastdump.overflow(demos.overflow),
        fastdump.watcher(demos.watcher),
    ):
        assert report.answer().headline in html_of(report).text


def test_names_stay_text(tmp_path: Path) -> None:
    path = tmp_path / testing.dump_name("Add", "a", task_id=1, stream_id=1, timestamp=1)
    testing.write_dump(path, op_name=HOSTILE, outputs=[np.array([np.nan], np.float32)])
    dump = fastdump.open(path)
    operator = next(iter(dump))
    for thing in (dump, operator, operator.tensors[0], fastdump.stats(path), fastdump.triage(path)):
        html_of(thing)
        assert "\x1b" not in thing._repr_html_()


def test_long_names_are_folded_and_whole(make_arrow: Any) -> None:
    name = "model/" + "x" * 80 + "/Add"
    html = fastdump.StatsTable(make_arrow([{"op_name": name}]))._repr_html_()
    assert f'class="folded" title="{name}"' in html
    assert f"<bdi>{name}</bdi>" in html


def test_a_finding_shows_what_happened_and_why(demos: Demos, tmp_path: Path) -> None:
    triage = fastdump.triage(demos.model)
    watcher = fastdump.watcher(demos.watcher)
    for run, value in (("a", 1.0), ("b", 2.0)):
        path = tmp_path / run / testing.dump_name("Add", "x", task_id=1, stream_id=1, timestamp=1)
        testing.write_dump(path, op_name="x", outputs=[np.full(64, value, np.float32)])
    compared = fastdump.compare(tmp_path / "a", tmp_path / "b")
    for report in (triage, watcher, fastdump.overflow(demos.overflow)):
        first = report.findings[0]
        answer = report.answer()
        page = html_of(first)
        assert answer.headline in page.text
        for label, text in answer.facts:
            if label not in ("reach", "again"):
                assert label in page.text
                assert text in page.text
        assert str(first) == repr(first)
        assert len(str(first).splitlines()) <= 8
    first = compared.findings[0]
    page = html_of(first)
    assert f"operator {first.op_name}, {first.tensor}" in page.text
    assert "added error 0.5" in page.text  # of 1 beside 2
    assert "diverges" in page.text
    same = next(one for one in watcher.comparisons if one.status == "same")
    assert f"output.{same.output} is same" in html_of(same).text
    config = fastdump.config.check_text('{"dump": {"dump_mode": "<b>"}}')
    assert '"<b>" is not one of' in html_of(config.findings[0]).text
