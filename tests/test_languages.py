"""Answers and pages in Chinese: every sentence, whole, and nothing else changes."""

from __future__ import annotations

import json
import pickle
import re
import string
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from html_pages import Page
from rich.cells import cell_len
from sample_dumps import Demos
from sanitizer import SANITIZER
from test_answers import NAMES, write_overflow

import fastdump
from fastdump import Report, config
from fastdump._array.damage import describe_damage
from fastdump._cli import main
from fastdump._words import catalogue, config_catalogue, page_catalogue
from fastdump._words.answer import MAX_LINES
from fastdump._words.chinese import CHINESE
from fastdump._words.sentence import Counted, Sentence, told
from fastdump._words.spacing import Piece, joined
from fastdump._words.text_table import plain
from fastdump._words.wrapping import line_spans

CATALOGUES = (catalogue, config_catalogue, page_catalogue)
CHINESE_TEXT = re.compile("[\u4e00-\u9fff]")
# Numbers of these are called alike in both languages.
TERM = re.compile(
    r"{time}, fastdump {version}|(?:rank|step|device|task|context|thread)s?(?: {\w+})?"
)
# What stays as it is in a Chinese text: what names, dtypes, commands, options and codes consist of.
NO_PROSE = re.compile(
    r"""(?x) fastdump\ .*              # a command, to the end of the line
    | \S*[/_.\d*"']\S*                  # names, paths, types, numbers, what a file has
    | [-+]?Inf | NaN | rank | step | truncated | dump | level | AI | Core | BatchMatMul\w*
    | content | address | layer | full | workspace | Add | kB
    """
)


def sentences() -> Iterator[tuple[str, str]]:
    """Yield the name and the English text of every sentence, of numbers both."""
    for module in CATALOGUES:
        for name, one in vars(module).items():
            if isinstance(one, Sentence):
                yield name, one.text
            elif isinstance(one, Counted):
                yield name, one.one
                yield name, one.many


def places_of(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def prose_in(text: str) -> list[str]:
    """Return the Latin words of a text that are no names."""
    return re.findall("[A-Za-z]{2,}", NO_PROSE.sub(" ", text))


# The catalogues


def test_all_places_are_named() -> None:
    for name, text in sentences():
        assert all(place.isidentifier() for place in places_of(text)), name
    for module in CATALOGUES:
        for one in vars(module).values():
            if isinstance(one, Counted):
                assert places_of(one.one) == places_of(one.many) == {"n"}


def test_every_sentence_is_used() -> None:
    source = Path(catalogue.__file__).parents[1]
    code = "\n".join(
        path.read_text("utf-8")
        for path in source.rglob("*.py")
        if not path.name.endswith("catalogue.py")
    )
    words = set(re.findall(r"\w+", code))
    assert [name for name, _ in sentences() if name not in words] == []


def test_every_sentence_has_its_translation_with_the_same_places() -> None:
    texts = {text for _, text in sentences()}
    assert texts - set(CHINESE) == set(), "no translation"
    assert set(CHINESE) - texts == set(), "a translation of what is not said any more"
    for text, chinese in CHINESE.items():
        assert places_of(text) == places_of(chinese), text
        if re.search("[A-Za-z]{3}", re.sub(r"{\w*}", "", text)) and not TERM.fullmatch(text):
            assert CHINESE_TEXT.search(chinese) or "\u3001" in chinese, text


def test_numbers_have_commas_and_names_are_safe() -> None:
    sentence = Sentence("{n} of {operator}")
    assert sentence(n=12345, operator="a\x1b") == "12,345 of a\\x1b"
    assert Counted("{n} file", "{n} files")(1) == "1 file"
    assert Counted("{n} file", "{n} files")(1000) == "1,000 files"
    with fastdump.in_language("zh"):
        assert told(catalogue.AT_PLACE(place="a\x1b", answer="{n}")) == "a\\x1b\uff1a{n}"


# Blanks


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["\u5171 ", "3 ", "\u4e2a"], "\u5171 3 \u4e2a"),
        (["\u5171", "3", "\u4e2a"], "\u5171 3 \u4e2a"),
        (["\u5171 ", "\u4e09 ", "\u4e2a"], "\u5171\u4e09\u4e2a"),
        (["\u5171\uff1a ", "3", " \u3002"], "\u5171\uff1a3\u3002"),
        (["a", "b", " ", "c"], "ab c"),
        (["", "\u5171", ""], "\u5171"),
        (["\u5728 ", "[0, 1]"], "\u5728 [0, 1]"),
    ],
)
def test_a_blank_stands_between_chinese_and_latin_only(pieces: list[str], expected: str) -> None:
    assert joined(map(Piece, pieces)) == expected


def test_a_chinese_name_stays_apart_from_chinese_text() -> None:
    name = "\u6a21\u578b/\u77e9\u9635\u4e58"
    with fastdump.in_language("zh"):
        text = told(catalogue.ZEROS(operator=name))
    assert text.startswith(f"{name} ")


# Lines


def test_what_has_no_blank_and_fills_no_line_is_broken_between_characters() -> None:
    text = "abc " + "\u5b57" * 30 + "\uff0c" + "\u5b57" * 3
    lines = [text[begin:end] for begin, end in line_spans(text, 20, 20)]
    assert "".join(lines) == text
    assert [cell_len(line) for line in lines[:-1]] == [20, 20, 20]
    # Nor does a comma begin a line.
    text = "\u5b57" * 10 + "\uff0c" + "\u5b57" * 3
    assert [end - begin for begin, end in line_spans(text, 20, 20)] == [9, 5]


# Answers


def reports(demos: Demos) -> dict[str, Report]:
    return {
        "triage": fastdump.triage(demos.model),
        "overflow": fastdump.overflow(demos.overflow),
        "watcher": fastdump.watcher(demos.watcher),
        "compare": fastdump.compare(demos.model, demos.overflow),
        "nothing": fastdump.triage(demos.model, step=0, dtype="int64"),
    }


def test_answers_are_chinese_but_for_names(demos: Demos) -> None:
    for question, report in reports(demos).items():
        with fastdump.in_language("zh"):
            lines = str(report).splitlines()
        assert 1 <= len(lines) <= MAX_LINES
        for line in lines:
            assert CHINESE_TEXT.search(line), (question, line)
            assert prose_in(line) == [], (question, line)


def test_nothing_but_what_is_shown_depends_on_the_language(demos: Demos) -> None:
    english = reports(demos)
    with fastdump.in_language("zh"):
        chinese = reports(demos)
        shown = {question: str(report) for question, report in chinese.items()}
        documents = {question: report.to_json() for question, report in chinese.items()}
    for question, report in english.items():
        assert documents[question] == report.to_json()
        assert str(chinese[question]) == str(report) != shown[question]
        with fastdump.in_language("zh"):
            assert str(report) == shown[question]


def test_what_follows_the_answer_is_told_in_chinese(demos: Demos) -> None:
    """Labels, headings and remarks; the columns of tables, and what is in them, are data."""
    texts = {text for _, text in sentences()} - {"rank", "step", "tensors"}
    with fastdump.in_language("zh"):
        for name, report in reports(demos).items():
            rest = [line for line in report.in_full() if line]
            assert name == "nothing" or any(CHINESE_TEXT.search(plain(line)) for line in rest)
            for line in rest:
                assert line[0].text.strip().rstrip(":") not in texts, plain(line)


def test_a_report_of_another_process_is_told_in_chinese(demos: Demos) -> None:
    finding = fastdump.triage(demos.model).findings[0]
    copy = pickle.loads(pickle.dumps(finding))
    assert copy == finding
    assert copy.origin is not None
    assert finding.origin is not None
    with fastdump.in_language("zh"):
        assert told(copy.origin.reason) == told(finding.origin.reason) != finding.origin.reason


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("name", NAMES)
def test_a_chinese_answer_fits_and_keeps_the_operation(
    tmp_path: Path, name: str, width: int
) -> None:
    write_overflow(tmp_path, name)
    report = fastdump.triage(tmp_path)
    with fastdump.in_language("zh"):
        lines = [plain(line) for line in report.lines(width=width)]
    assert len(lines) <= MAX_LINES
    assert all(cell_len(line) <= width for line in lines if "fastdump show" not in line)
    operation = name.rpartition("/")[2]
    assert operation in lines[1]
    if width >= 80:  # narrower, there is not room for all
        assert operation in lines[0]


DAMAGES = [
    np.s_[:],
    np.s_[2, 3],
    np.s_[2:3, :],
    np.s_[1:3, :],
    np.s_[:, 5],
    np.s_[1, 2:6],
    np.s_[1:, :],
    np.s_[::2, ::3],
    np.s_[1:3, 2:4],
    ([0, 1, 3, 2], [7, 2, 0, 5]),
    np.s_[0, ::5],
]


@pytest.mark.parametrize("bad", DAMAGES, ids=str)
def test_damage_is_told_in_chinese(bad: tuple[slice, ...]) -> None:
    array = np.zeros((4, 1024), np.float16)
    array[bad] = np.nan
    damage = describe_damage(array)
    assert damage is not None
    with fastdump.in_language("zh"):
        text = told(damage.words)
    assert CHINESE_TEXT.search(text)
    assert prose_in(text) == []


CONFIGURATIONS = [
    '{"dump": {"dump_path": "/x", "dump_list": [{"model_name": "m", "layer": ["conv*"]}]}}',
    '{"dump": {"dump_path": "/x", "dump_step": "5-3", "dump_list": [{}]}}',
    '{"dump": {"dump_path": "", "dump_list": [{}]}}',
    '{"dump": {"dump_list": {}}}',
    '{"dump": {"dump_path": "/x", "dump_list": [{"optype_blacklist": [{}]}]}}',
    '{"dump": {"dump_mode": "ALL"}}',
    '{"dump": {"dump_path": "1.2.3.4:/x\u4e2d", "dump_list": [{}]}}',
    '{"dump": {"dump_path": "/x" "y"',
    '{"dump": {}}',
    '{"dmup": {}}',
    "[1]",
    "",
    '{"dump": {"dump_path": "~/x", "dump_list": [{"layer": ["a"]}, {}], "dump_level": "op"}}',
    '{"dump": {"dump_path": "/x", "dump_scene": "watcher", "dump_mode": "output"}}',
    '{"dump": {"dump_scene": "lite_exception", "dump_mode": "all"}}',
    '{"dump": {"dump_path": "/x", "dump_debug": "on", "dump_data": "stats"}}',
    '{"dump": {"dump_path": "/x", "dump_list": [{}], "dump_stats": ["Max"]}}',
]


@pytest.mark.parametrize("text", CONFIGURATIONS)
def test_what_is_wrong_with_a_configuration_is_told_in_chinese(text: str) -> None:
    report = config.check_text(text)
    with fastdump.in_language("zh"):
        answer = str(report)
        found = [told(finding.message) for finding in report.findings]
    for line in (*answer.splitlines(), *found):
        line = line.replace("the text", "")  # stands for the name of a file
        assert CHINESE_TEXT.search(line), line
        words = {
            "dump",
            "Dump",
            "model",
            "IPv",
            "EP",
            "on",
            "layer",
            "watcher",
            "pos",
            "name",
            "begin",
        }
        words |= {
            "begin",
            "config",
            "like",
            "DUMP",
            "JSON",
            "API",
            "aclnn",
            "NUL",
            "op",
            "range",
            "entry",
            "end",
            "kernel",
            "output",
        }
        assert set(prose_in(line)) <= words, line


# Pages


def test_a_page_is_chinese_but_for_names_and_columns(demos: Demos, tmp_path: Path) -> None:
    pytest.importorskip("bokeh", reason="figures of pages are drawn by Bokeh")
    table = fastdump.stats(demos.model, level="full")
    compared = fastdump.compare(demos.model, demos.model)
    with fastdump.in_language("zh"):
        pages = [fastdump.report(table), compared.to_html(), table.to_html()]
    shared = {"rank", "step"}
    english = {
        text
        for _, text in sentences()
        if "{" not in text and text not in shared and CHINESE[text] != text
    }
    for html in pages:
        assert '<html lang="zh-CN">' in html
        page = Page(html)
        in_tables = {cell for rows in page.tables for row in rows for cell in row}
        assert english & {text.strip() for text in page.texts} <= in_tables
        for text in english:
            if " " in text:
                assert f'"{text}"' not in html  # in the script of a figure
    assert '<html lang="en">' in table.to_html()


# The command line


def answer_to(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    main(arguments)
    return capsys.readouterr().out


def test_the_language_is_an_option_or_in_the_environment(
    demos: Demos, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("triage", str(demos.model))
    english, chinese = (answer_to(capsys, *command, "--lang", name) for name in ("en", "zh"))
    assert not CHINESE_TEXT.search(english)
    assert CHINESE_TEXT.search(chinese)
    for name, value, expected in [
        ("LANG", "zh_CN.UTF-8", chinese),
        ("LC_MESSAGES", "de_DE.UTF-8", english),  # before LANG
        ("LC_ALL", "zh_CN.UTF-8", chinese),
        ("FASTDUMP_LANG", "en", english),
    ]:
        if name == "LANG":
            for other in ("LC_ALL", "LC_MESSAGES", "FASTDUMP_LANG"):
                monkeypatch.delenv(other, raising=False)
        monkeypatch.setenv(name, value)
        assert answer_to(capsys, *command) == expected, name
    assert answer_to(capsys, *command, "--lang", "zh") == chinese
    assert main([*command, "--lang", "xx"]) == 2
    monkeypatch.setenv("FASTDUMP_LANG", "xx")
    assert main(command) == 2


def test_json_is_the_same_in_every_language(
    demos: Demos, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [
        answer_to(capsys, "triage", str(demos.model), "--json", "--lang", name)
        for name in ("en", "zh")
    ]
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["findings"]


@pytest.mark.parametrize(("encoding", "is_chinese"), [("utf-8", True), ("ascii", False)])
def test_the_locale_counts_where_stdout_can_show_it(
    demos: Demos, encoding: str, is_chinese: bool
) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "fastdump", "triage", demos.model],
        env={"LANG": "zh_CN.UTF-8", "PYTHONIOENCODING": encoding, "PATH": "", **SANITIZER},
        stdout=subprocess.PIPE,
        check=False,
    )
    said = ended.stdout.decode(encoding)
    assert bool(CHINESE_TEXT.search(said)) == is_chinese
    assert ("first appears in" in said) == (not is_chinese)


def test_only_languages_with_a_translation_are_taken() -> None:
    with pytest.raises(ValueError, match="'de' is none of en, zh"), fastdump.in_language("de"):
        pass
