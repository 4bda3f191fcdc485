"""What all reports have in common, whatever the question."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sample_dumps import Demos, dump_name, write_unusual

import fastdump
from fastdump import Report, config, testing
from fastdump._cli import main
from fastdump._words.text_table import plain

GOOD_CONFIG = '{"dump": {"dump_path": ".", "dump_list": [{"layer": ["conv1"]}]}}'
SURPRISING_CONFIG = '{"dump": {"dump_path": ".", "dump_list": []}}'
BAD_CONFIG = '{"dump": {"dump_path": ".", "dump_mode": "out", "dump_step": "5-3"}}'

QUESTIONS = ("triage", "compare", "overflow", "watcher", "convert", "config")


class Case:
    """A report, and the arguments of the command that gives the same.

    Attributes
    ----------
    ask
        Gives the report.
    arguments
        Of the command line.
    clean
        Whether there is nothing to find.
    code
        With which code the command ends.
    """

    def __init__(
        self, ask: Callable[[], Report], arguments: tuple[object, ...], clean: bool, code: int
    ) -> None:
        self.ask = ask
        self.arguments = [str(argument) for argument in arguments]
        self.clean = clean
        self.code = code


def write_overwritten(root: Path) -> Path:
    """Write two operators, of which the second reads what the first did not write."""
    values = np.arange(8, dtype=np.float32)
    for at, (name, tensors) in enumerate(
        (
            ("net/a", {"outputs": [testing.TensorSpec(values, address=0x1000)]}),
            ("net/b", {"inputs": [testing.TensorSpec(values * 2, address=0x1000)]}),
        )
    ):
        testing.write_dump(root / dump_name(name, at), op_name=name, **tensors)
    return root


@pytest.fixture(scope="module")
def cases(demos: Demos, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    root = tmp_path_factory.mktemp("reports")
    unusual = write_unusual(root / "unusual")
    overwritten = write_overwritten(root / "overwritten")
    wrong = root / "wrong"
    values = np.ones(6, np.float32)
    for run, factor in (("right", 1), ("wrong", 3)):
        path = root / run / dump_name("net/op", 1)
        testing.write_dump(path, op_name="net/op", outputs=[values * factor])
    configs = {}
    for name, text in (
        ("good", GOOD_CONFIG),
        ("surprising", SURPRISING_CONFIG),
        ("bad", BAD_CONFIG),
    ):
        configs[name] = root / f"{name}.json"
        configs[name].write_text(text)
    out = root / "out"
    kept = root / "kept"
    fastdump.convert(demos.overflow, kept)
    return {
        "triage": Case(lambda: fastdump.triage(demos.model), ("triage", demos.model), False, 1),
        "triage clean": Case(
            lambda: fastdump.triage(root / "right"), ("triage", root / "right"), True, 0
        ),
        "compare": Case(
            lambda: fastdump.compare(wrong, root / "right"),
            ("compare", wrong, root / "right"),
            False,
            1,
        ),
        "compare clean": Case(
            lambda: fastdump.compare(wrong, wrong), ("compare", wrong, wrong), True, 0
        ),
        "overflow": Case(
            lambda: fastdump.overflow(demos.overflow), ("overflow", demos.overflow), False, 1
        ),
        "overflow clean": Case(
            lambda: fastdump.overflow(demos.watcher), ("overflow", demos.watcher), True, 0
        ),
        "watcher": Case(
            lambda: fastdump.watcher(demos.watcher), ("watcher", demos.watcher), False, 1
        ),
        "watcher by addresses": Case(
            lambda: fastdump.watcher(overwritten), ("watcher", overwritten), False, 1
        ),
        "watcher clean": Case(
            lambda: fastdump.watcher(demos.watcher, step=0),
            ("watcher", demos.watcher, "--step", 0),
            True,
            0,
        ),
        # What could not be read is no finding of the other questions, but here it is all there is.
        "convert": Case(
            lambda: fastdump.convert(unusual, out, overwrite=True),
            ("convert", unusual, out, "--overwrite"),
            False,
            3,
        ),
        "convert clean": Case(
            lambda: fastdump.convert(demos.overflow, kept),
            ("convert", demos.overflow, kept),
            True,
            0,
        ),
        "config": Case(
            lambda: config.check(configs["bad"]), ("config", "check", configs["bad"]), False, 1
        ),
        # Only what the vendor's code refuses is worth a code.
        "config with warnings": Case(
            lambda: config.check(configs["surprising"]),
            ("config", "check", configs["surprising"]),
            False,
            0,
        ),
        "config clean": Case(
            lambda: config.check(configs["good"]), ("config", "check", configs["good"]), True, 0
        ),
    }


NAMES = (
    *("triage", "triage clean", "compare", "compare clean", "overflow", "overflow clean"),
    *("watcher", "watcher by addresses", "watcher clean", "convert", "convert clean"),
    *("config", "config with warnings", "config clean"),
)


@pytest.fixture(params=NAMES)
def case(cases: dict[str, Case], request: pytest.FixtureRequest) -> Case:
    return cases[request.param]


def test_all_questions_are_asked(cases: dict[str, Case]) -> None:
    assert cases.keys() == set(NAMES)
    assert {name.split()[0] for name in cases} == set(QUESTIONS)
    for question in QUESTIONS:
        assert {c.clean for name, c in cases.items() if name.startswith(question)} == {True, False}
    for name, one in cases.items():
        assert one.ask().question == name.split()[0] == one.arguments[0]


def test_a_report_has_what_all_have(case: Case) -> None:
    report = case.ask()
    assert isinstance(report, Report)
    assert isinstance(report.sentence, str)
    assert isinstance(report.findings, tuple)
    assert isinstance(report.notes, tuple)
    assert all(isinstance(note, str) and note for note in report.notes)
    assert report.clean is case.clean
    assert bool(report.findings) is not case.clean


def test_the_sentence_is_one_line(case: Case) -> None:
    sentence = case.ask().sentence
    assert sentence == sentence.strip()
    assert "\n" not in sentence
    assert 10 < len(sentence) < 1000


def test_a_report_is_true_also_if_it_is_clean(case: Case) -> None:
    assert bool(case.ask()) is True


def test_a_report_is_of_json(case: Case) -> None:
    report = case.ask()
    content = report.to_dict()
    # Strict JSON, and nothing that JSON has another way of saying.
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert list(content)[:5] == ["question", "sentence", "clean", "findings", "notes"]
    assert content["question"] == report.question
    assert content["sentence"] == report.sentence
    assert content["clean"] is report.clean
    assert len(content["findings"]) == len(report.findings)
    assert content["notes"] == list(report.notes)
    text = report.to_json()
    assert text.isascii()
    with_version = json.loads(text)
    assert with_version.pop("fastdump") == fastdump.__version__
    assert with_version == content
    assert report.to_json(indent=None).count("\n") == 0
    assert json.loads(report.to_json(indent=None)) == json.loads(text)


def test_what_comes_twice_is_the_same(case: Case) -> None:
    first, second = case.ask(), case.ask()
    assert first.to_dict() == second.to_dict()
    assert str(first) == str(second)


def test_a_dict_is_the_reader_s_own(case: Case) -> None:
    report = case.ask()
    before = report.to_json()
    content = report.to_dict()
    content["findings"].clear()
    content["notes"].append("more")
    content.clear()
    assert report.to_json() == before


def test_findings_in_json_are_objects(case: Case) -> None:
    for finding in case.ask().to_dict()["findings"]:
        assert isinstance(finding, dict)
        assert len(finding) > 1
        assert not any(name.startswith("_") for name in finding)


def test_a_repr_is_of_a_few_lines(case: Case) -> None:
    report = case.ask()
    lines = repr(report).splitlines()
    table = isinstance(report, fastdump.ComparisonTable)  # which shows a few of its rows
    assert len(lines) <= (16 if table else 6)
    assert lines[0].startswith(type(report).__name__)
    assert report.sentence in lines
    if not table:
        n = len(report.findings)
        counted = {0: "0 findings", 1: "1 finding"}.get(n, f"{n} findings")
        assert lines[0] == f"{type(report).__name__}: {'clean' if report.clean else counted}"


def test_names_in_a_report_do_not_act_on_a_terminal(tmp_path: Path) -> None:
    name = "net/\x1b[31mred\nnext"
    for run, factor in (("a", 1), ("b", 2)):
        path = tmp_path / run / dump_name("net/x", 1)
        values = np.array([np.nan, 4, 5], np.float32)
        testing.write_dump(path, op_name=name, inputs=[np.ones(3)], outputs=[values * factor])
    reports = [
        fastdump.triage(tmp_path / "a"),
        fastdump.compare(tmp_path / "a", tmp_path / "b"),
        config.check_text('{"dump": {"dump_path": "\x1b[31m", "x\x1b": 1}}'),
    ]
    for report in reports:
        assert report.findings
        for text in (str(report), repr(report), report.to_json()):
            assert "\x1b" not in text, report.question
    assert len(repr(reports[0]).splitlines()) < 6


# The command


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def test_printing_a_report_is_what_the_command_does(
    case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    report = case.ask()
    code, out, err = run(capsys, *case.arguments)
    assert (code, err) == (case.code, "")
    printed = str(report) + "\n"
    assert out.startswith(printed)
    # How long it took stands below, where a command says that.
    below = out.removeprefix(printed)
    if report.question == "convert":
        assert below == "" or re.fullmatch(r"\d.* in .*/s\)\n", below)
    else:
        assert below == ""


def test_the_command_s_json_is_the_report_s(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    report = case.ask()
    code, out, err = run(capsys, *case.arguments, "--json")
    assert (code, err) == (case.code, "")
    content = json.loads(out)
    assert content.pop("fastdump") == fastdump.__version__
    if report.question == "config":  # of several files
        assert content == {"files": [report.to_dict()], "unread": {}}
        return
    more = {"compare": {"rows"}, "convert": {"interrupted"}}.get(report.question, set())
    assert content.keys() - report.to_dict().keys() == more
    assert {name: content[name] for name in report.to_dict()} == report.to_dict()


def test_the_code_of_the_command_tells_whether_it_is_clean(
    cases: dict[str, Case], capsys: pytest.CaptureFixture[str]
) -> None:
    for name, one in cases.items():
        report = one.ask()
        code = run(capsys, *one.arguments)[0]
        if name == "config with warnings":
            assert (code, report.clean) == (0, False)
        else:
            assert (code == 0) is report.clean, name
            assert code in (0, 3 if report.question == "convert" else 1), name


# Reports that limit their answer


def test_notes_say_what_limits_the_answer(cases: dict[str, Case]) -> None:
    assert cases["triage"].ask().notes == ("3 tensors truncated",)
    assert cases["compare"].ask().notes == ()
    assert cases["overflow"].ask().notes == ()
    assert "device addresses" in cases["watcher by addresses"].ask().notes[0]
    assert cases["convert clean"].ask().notes == ("8 files kept: complete already",)


def test_notes_are_printed(cases: dict[str, Case]) -> None:
    for name in ("triage", "watcher", "watcher by addresses", "convert clean"):
        report = cases[name].ask()
        assert report.notes
        for note in report.notes:
            in_full = "\n".join(map(plain, report.lines(verbose=True)))
            assert note in in_full, name
            assert note in repr(report), name


def test_nothing_compared_is_not_clean(tmp_path: Path) -> None:
    for op_type, shape in (("Add", (3,)), ("Sub", (2, 5))):
        path = tmp_path / op_type / dump_name(f"net/{op_type}", 1, op_type)
        testing.write_dump(path, op_name=f"net/{op_type}", outputs=[np.ones(shape)])
    table = fastdump.compare(tmp_path / "Add", tmp_path / "Sub")
    assert [row.status for row in table] == ["only_in_a", "only_in_b"]
    assert (table.findings, table.clean) == ((), False)
    watched = fastdump.watcher(tmp_path)
    assert (watched.findings, watched.clean) == ((), False)
    assert bool(watched)
    assert "could be compared" in watched.sentence


def test_findings_of_a_part_of_a_comparison(cases: dict[str, Case]) -> None:
    """A comparison is a table as well: a part of it is a report on that part."""
    table = cases["compare"].ask()
    assert isinstance(table, fastdump.ComparisonTable)
    assert len(table.findings) == 1
    none = table.filter(op_name="nothing")
    assert (none.findings, len(none)) == ((), 0)
    assert not none.clean  # nothing was compared
    assert bool(none)
