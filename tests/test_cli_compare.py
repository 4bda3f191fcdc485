"""`fastdump compare`: what it prints, writes and returns."""

from __future__ import annotations

import io
import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from comparisons import X, chain, write_op

import fastdump
from fastdump import _core
from fastdump._cli import compare as compare_command
from fastdump._cli import main
from fastdump._compare.run import Comparing


@pytest.fixture
def runs(tmp_path: Path) -> tuple[str, str]:
    """Two runs that part at layer 2; each has an operator that the other lacks."""
    for side, wrong in (("a", {2: 0.5, 4: 3.0}), ("b", {})):
        chain(tmp_path / side, wrong=wrong)
        write_op(tmp_path / side, f"Only{side} only_{side}", at=40, outputs=[X])
    return str(tmp_path / "a"), str(tmp_path / "b")


@pytest.fixture
def equal(tmp_path: Path) -> tuple[str, str]:
    chain(tmp_path / "c")
    chain(tmp_path / "d")
    return str(tmp_path / "c"), str(tmp_path / "d")


def lists_of(text: str) -> dict[str, list[list[str]]]:
    """Return the cells of each list that was printed, by its title."""
    lists = {}
    for block in text.split("\n\n"):
        title, *lines = block.splitlines()
        if title.endswith(":"):
            lists[title] = [line.split() for line in lines[1:]]
    return lists


def test_it_leads_with_what_to_act_on(
    runs: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *runs]) == 1
    answer, err = capsys.readouterr()
    assert err == ""
    assert answer == f"{fastdump.compare(*runs)}\n"
    headline, *facts = answer.splitlines()
    assert len(facts) < 8
    assert headline == "rank 0, step 0: the runs part in layer 2, Mul"
    assert "  why       by itself: its inputs agree" in facts
    assert facts[-1].startswith("18 pairs compared: 11 equal, 7 diverging; 1 tensor only in a")
    (command,) = (fact.split(maxsplit=1)[1] for fact in facts if fact.startswith("  next "))
    assert main(shlex.split(command)[1:]) == 0
    assert "layers.2/Mul" in capsys.readouterr().out
    assert main(["compare", *runs, "-v"]) == 1
    out, _ = capsys.readouterr()
    assert out.startswith(answer)
    out = out.removeprefix(answer + "\n")
    second, third, *_ = out.splitlines()
    assert second == "18 pairs (18 by name)"
    assert third == "11 equal; 7 diverges; 1 only_in_a; 1 only_in_b"
    lists = lists_of(out)
    assert list(lists) == [
        "Operators by the error that they add:",
        "Worst pairs:",
        "Without a partner:",
    ]
    operators, pairs, alone = lists.values()
    assert [row[3] for row in operators[:2]] == ["layers.4/Mul", "layers.2/Mul"]
    assert [row[-1] for row in operators[:2]] == ["inherited", "here"]
    assert len(pairs) == 7
    assert [row[-1] for row in alone] == ["only_in_a", "only_in_b"]


def test_rows_that_are_printed(runs: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *runs, "-n", "2"]) == 1
    out = capsys.readouterr().out
    lists = lists_of(out)
    assert list(lists)[:2] == [
        "Operators by the error that they add, 2 of 4:",
        "Worst pairs, 2 of 7:",
    ]
    assert all(len(rows) == 2 for rows in lists.values())
    assert "-n 0 prints all, -o FILE writes all pairs" in out


def test_no_divergence(equal: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *equal]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out == "the runs agree: 18 pairs, bit-equal\n"
    assert main(["compare", *equal, "-v"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2:5] == [
        "18 pairs (18 by name)",
        "18 equal",
        "",
    ]
    assert len(lines) == 6


def test_json(runs: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *runs, "--json", "--kl", "--rtol", "1e-3"]) == 1
    document = json.loads(capsys.readouterr().out)
    table = fastdump.compare(*runs, kl=True, rtol=1e-3)
    assert list(document) == [
        *("fastdump", "question", "sentence", "clean", "findings", "notes", "a", "b", "compared"),
        *("tolerances", "skipped_a", "skipped_b", "root_a", "root_b", "summary", "rows"),
    ]
    assert (document["a"], document["b"], document["compared"]) == (*runs, "elements")
    assert document["tolerances"]["rtol"] == 1e-3
    assert document["sentence"] == table.sentence
    assert document["summary"] == table.summary()
    first = document["findings"][0]
    assert list(first) == [
        *("rank", "step", "timestamp", "op_type", "op_name", "path_a", "path_b", "tensor"),
        *("cause", "suspect_a", "suspect_b", "input_error", "output_error", "added_error"),
    ]
    assert (first["op_name"], first["cause"]) == ("layers.2/Mul", "here")
    assert [op["op_name"] for op in document["findings"]] == [f.op_name for f in table.findings]
    assert len(document["rows"]) == len(table)
    for row, expected in zip(document["rows"], table, strict=True):
        assert list(row) == table.columns
        assert row["shape_a"] == (None if expected.shape_a is None else list(expected.shape_a))
        assert row["kl_divergence"] == expected.kl_divergence
    assert main(["compare", *runs, "--json", "-n", "3"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [row["verdict"] for row in document["rows"]] == ["diverges"] * 3


def test_infinite_errors_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = np.where(X > 0, X, np.nan).astype(np.float32)
    write_op(tmp_path / "a", "Log x", at=1, inputs=[X], outputs=[bad])
    write_op(tmp_path / "b", "Log x", at=1, inputs=[X], outputs=[X])
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["findings"][0]["added_error"] == "inf"


@pytest.mark.parametrize(
    ("limits", "code", "n_beyond"),
    [
        (["max_abs_error=1e9"], 0, 0),
        (["max_abs_error=2.9"], 1, 3),
        (["cosine_similarity=-1"], 0, 0),
        (["cosine_similarity=0.9999999"], 1, 7),
        (["mismatched=100%"], 0, 0),
        (["mismatched=99%"], 1, 7),
        (["mismatched=24"], 0, 0),
        (["mismatched=23"], 1, 7),
        (["max_abs_error=1e9", "rmse=2.9"], 1, 3),
    ],
)
def test_limits_alone_decide(
    runs: tuple[str, str],
    capsys: pytest.CaptureFixture[str],
    limits: list[str],
    code: int,
    n_beyond: int,
) -> None:
    options = [part for limit in limits for part in ("--fail-over", limit)]
    options.append("--allow-unpaired")
    assert main(["compare", *runs, *options, "-n", "0"]) == code
    lists = lists_of(capsys.readouterr().out)
    assert len(lists.get("Pairs beyond a limit:", [])) == n_beyond
    main(["compare", *runs, *options, "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["failures"] == n_beyond
    assert len(document["fail_over"]) == len(limits)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--fail-over", "speed=1"], "'speed=1' is not METRIC=VALUE"),
        (["--fail-over", "rmse"], "'rmse' is not METRIC=VALUE"),
        (["--fail-over", "rmse=1%"], "is not METRIC=VALUE"),
        (["--fail-over", "rmse=x"], "'x' is not a number"),
        (["--fail-over", "rmse=nan"], "'nan' is not a number"),
        (["--rtol", "-1"], "rtol is -1.0"),
        (["--max-mismatched", "2"], "max_mismatched"),
        (["-o", "x.txt"], "does not end in one of"),
        (["-o", "missing/x.html"], "missing: No such file"),
        (["--map", "missing.csv"], "missing.csv: No such file"),
    ],
)
def test_wrong_usage(
    equal: tuple[str, str], capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    assert main(["compare", *equal, *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("fastdump: error: ")
    assert words in err


def test_a_dump_and_a_table(
    equal: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["stats", equal[0], "-o", str(tmp_path / "c.json")])
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "c.json"), equal[1]]) == 2
    assert f"fastdump stats {equal[1]} -o stats.parquet" in capsys.readouterr().err
    main(["stats", equal[1], "-o", str(tmp_path / "d.csv")])
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "c.json"), str(tmp_path / "d.csv")]) == 0
    out = capsys.readouterr().out
    assert out == "statistics of 18 pairs agree; no element was compared\n"
    assert "fastdump show" not in out


def test_nothing_to_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_op(tmp_path / "a", "Add x", at=1, outputs=[X])
    write_op(tmp_path / "b", "Mul y", at=1, outputs=[X])
    (tmp_path / "empty").mkdir()
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 2
    out, err = capsys.readouterr()
    assert err == "fastdump: error: nothing was compared\n"
    first, second = out.splitlines()
    assert first == "nothing was compared: no tensor of a has a partner in b"
    assert second == "1 tensor only in a; 1 tensor only in b"
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "empty")]) == 2
    assert "no dump file in" in capsys.readouterr().err
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "missing")]) == 2
    assert "missing" in capsys.readouterr().err


def test_files_that_cannot_be_read(
    equal: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = next(Path(equal[0]).rglob("Mul.layers_5*"))
    path.write_bytes(b"\xff" * 100)
    assert main(["compare", *equal, "-v"]) == 3
    out = capsys.readouterr().out
    assert "malformed: a: " in out
    assert main(["compare", *equal, "--op-name", "*[!5]/Mul"]) == 0


def test_filters(runs: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *runs, "--op-name", "layers.[01]/Mul"]) == 0
    assert capsys.readouterr().out.startswith("the runs agree: 6 pairs, bit-equal")
    assert main(["compare", *runs, "--io", "input", "--op-type", "Mul", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert {row["io"] for row in document["rows"]} == {"input"}


def test_a_map(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_op(tmp_path / "a", "Add x", at=1, outputs=[X])
    write_op(tmp_path / "b", "Mul y", at=1, outputs=[X])
    (tmp_path / "map.csv").write_text("x,y\n")
    arguments = ["compare", str(tmp_path / "a"), str(tmp_path / "b")]
    assert main([*arguments, "--map", str(tmp_path / "map.csv"), "-v"]) == 0
    assert "1 pair (1 by map)" in capsys.readouterr().out


def test_files(runs: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / f"out.{suffix}" for suffix in ("csv", "json", "parquet", "arrow", "html")]
    options = [part for path in paths for part in ("-o", str(path))]
    assert main(["compare", *runs, *options]) == 1
    table = fastdump.compare(*runs)
    for path in paths[:-1]:
        assert list(fastdump.read_comparison(path)) == list(table)
    assert "Operators by the error" in paths[-1].read_text()


def test_names_are_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for side, value in (("a", X), ("b", X + 1)):
        write_op(tmp_path / side, "Add x", at=1, named="evil\x1b[31m", outputs=[value])
        write_op(tmp_path / side, f"T{side} y", at=2, named=f"{side}\x1b[31m", outputs=[value])
    arguments = ["compare", str(tmp_path / "a"), str(tmp_path / "b")]
    assert main(arguments) == 1
    assert "\x1b" not in capsys.readouterr().out
    assert main([*arguments, "--json"]) == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert out.isascii()


def test_what_was_done_is_kept_after_an_interrupt(
    runs: tuple[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted:
        """Is interrupted, and says that this was after a few pairs."""

        def __init__(self, *places: Any, **options: Any) -> None:
            self._all = comparison(*places, **options)

        def run(self, on_progress: Any, interval_s: float) -> None:
            def stop(progress: Any) -> None:
                raise KeyboardInterrupt

            self._all.run(stop, interval_s)

        def progress(self) -> Any:
            return SimpleNamespace(pairs=18, pairs_done=9, bytes_done=0)

        def table(self) -> Any:
            return self._all.table()

    comparison = _core.Comparison
    monkeypatch.setattr(_core, "Comparison", Interrupted)
    assert main(["compare", *runs]) == 130
    out, err = capsys.readouterr()
    assert err == "fastdump: interrupted after 9 pairs\n"
    assert "18 pairs" in out


def test_the_time_that_is_told_counts_headers_pairing_and_judging(
    equal: tuple[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0

    def slowly(work: Callable[..., Any]) -> Callable[..., Any]:
        def slow(*arguments: Any, **options: Any) -> Any:
            nonlocal now
            now += 10
            return work(*arguments, **options)

        return slow

    for step in ("__init__", "run", "table"):
        monkeypatch.setattr(Comparing, step, slowly(getattr(Comparing, step)))
    monkeypatch.setattr(compare_command, "time", SimpleNamespace(monotonic=lambda: now))
    assert main(["compare", *equal, "-v"]) == 0
    assert " in 30.0 s (" in capsys.readouterr().out


def test_headers_are_counted_before_pairs(
    equal: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stderr = io.StringIO()
    monkeypatch.setattr(stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["compare", *equal]) == 0
    told = [stderr.getvalue().find(text) for text in ("reading names", " files, ", " pairs, ")]
    assert -1 not in told
    assert told == sorted(told)
