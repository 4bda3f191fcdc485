"""What the command line makes of names, numbers and tables before it prints them."""

from __future__ import annotations

import itertools
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from fastdump._words.elision import elide_middle
from fastdump._words.printable import printable
from fastdump._words.prose import wrapped
from fastdump._words.quantities import (
    duration_text,
    integers_text,
    shape_text,
    size_text,
    time_text,
    value_text,
)
from fastdump._words.text_table import Cell, Column, TextTable, plain

ANY_TEXT = st.text(st.characters(codec=None))


@given(ANY_TEXT)
def test_nothing_that_a_terminal_acts_on_is_printed(text: str) -> None:
    for character in printable(text):
        assert unicodedata.category(character)[0] not in "CZ" or character == " "


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_what_is_harmless_is_printed_as_it_is(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb\tc\x7f", "a\\nb\\tc\\x7f"),
        ("\x9b2J", "\\x9b2J"),
        ("abc\u202egpj.exe", "abc\\u202egpj.exe"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("undecodable \udcff", "undecodable \\udcff"),
        ("\u7b2c\u4e09\u5c42 layer [bold]", "\u7b2c\u4e09\u5c42 layer [bold]"),
    ],
)
def test_escapes_are_those_of_python(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text(st.characters(categories=["L", "N", "P"])), st.integers(1, 30))
def test_elided_text_fits_and_keeps_both_ends(text: str, width: int) -> None:
    elided = elide_middle(text, width)
    assert cell_len(elided) <= width
    if cell_len(text) <= width:
        assert elided == text
    else:
        head, tail = elided.split("\u2026")
        assert text.startswith(head)
        assert text.endswith(tail)


def test_a_table_without_a_width_shows_all_of_every_cell() -> None:
    name = "layer." * 100
    table = TextTable(
        [Column("name", min_width=5), Column("value", right=True)],
        [[Cell(name), Cell("1")], [Cell("short"), Cell("22")]],
        width=None,
    )
    header, first, second = (plain(line) for line in table.lines())
    assert header.split() == ["name", "value"]
    assert first.split() == [name, "1"]
    assert second.split() == ["short", "22"]
    assert len(header) == len(first) == len(second)


@pytest.mark.parametrize("width", range(22, 60))
def test_a_table_is_never_wider_than_the_terminal(width: int) -> None:
    table = TextTable(
        [
            Column("op_name", min_width=6),
            Column("max", right=True),
            Column("mean", right=True, drop_order=0),
            Column("note", min_width=6),
        ],
        [[Cell("model/layers/7/attention"), Cell("65504"), Cell("0.125"), Cell("ok: a long note")]],
        width=width,
    )
    lines = [plain(line) for line in table.lines()]
    assert max(map(len, lines)) <= width
    assert "65504" in lines[1]
    assert (table.dropped == ["mean"]) == ("0.125" not in lines[1])


def test_columns_are_dropped_only_when_eliding_is_not_enough() -> None:
    columns = [Column("name", min_width=4), Column("value", drop_order=0)]
    rows = [[Cell("abcdefghij"), Cell("12345")]]
    assert TextTable(columns, rows, width=11).dropped == []
    assert TextTable(columns, rows, width=10).dropped == ["value"]


def test_columns_without_any_text_are_left_out() -> None:
    table = TextTable(
        [Column("rank"), Column("step")],
        [[Cell(""), Cell("3")], [Cell(""), Cell("")]],
        width=None,
    )
    assert [plain(line) for line in table.lines()] == ["step", "3", ""]


def test_wide_characters_take_two_cells() -> None:
    table = TextTable(
        [Column("name"), Column("value")],
        [[Cell("\u5c42\u5c42"), Cell("1")], [Cell("abcd"), Cell("2")]],
        width=None,
    )
    _, wide, narrow = (plain(line) for line in table.lines())
    assert cell_len(wide) == cell_len(narrow) == 7


words = st.text(st.sampled_from("ab/._\u5c42"), min_size=1, max_size=30)


@given(st.lists(words, min_size=1, max_size=20), st.integers(20, 80), st.integers(0, 6))
def test_wrapped_prose_has_all_words_and_fits(texts: list[str], width: int, indent: int) -> None:
    styles = ("bold", "", "red")
    line = [
        Cell(" " * (i > 0) + text, style)
        for (i, text), style in zip(enumerate(texts), itertools.cycle(styles), strict=False)
    ]
    lines = list(wrapped(line, width, indent=indent))
    assert all(cell_len(plain(part)) <= width for part in lines)
    assert all(plain(part).startswith(" " * indent) for part in lines[1:])
    assert "".join(map(plain, lines)).replace(" ", "") == "".join(texts)
    styled = {cell.style for part in lines for cell in part if cell.text.strip()}
    assert styled == {cell.style for cell in line}
    # A word that fits a line is on one line.
    shown = {word for part in lines for word in plain(part).split()}
    assert {text for text in texts if cell_len(text) <= width - indent} <= shown


def test_prose_breaks_between_facts_and_below_its_label() -> None:
    line = [Cell("output.0  "), Cell("count 4,608  max 2,616  min -1,205")]
    assert [plain(part) for part in wrapped(line, 36)] == [
        "output.0  count 4,608  max 2,616",
        "          min -1,205",
    ]
    indented = [Cell("  /data/dump/a_directory/a_file: truncated")]
    assert [plain(part) for part in wrapped(indented, 28)] == [
        "  /data/dump/a_directory/",
        "    a_file: truncated",
    ]
    assert list(wrapped(line, None)) == [line]


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (18_200_000, "18.2 MB"),
        (3.4e12, "3.4 TB"),
        (2**64, "18,446.7 PB"),
    ],
)
def test_sizes_are_decimal(nbytes: float, text: str) -> None:
    assert size_text(nbytes) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0414, "0.041 s"),
        (0.9999, "1.0 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min 00 s"),
        (125.4, "2 min 05 s"),
        (3599.7, "1 h 00 min"),
        (11_220, "3 h 07 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


@pytest.mark.parametrize(
    ("value", "integer", "text"),
    [
        (None, False, ""),
        (65504.0, False, "65504"),
        (1 / 3, False, "0.33333"),
        (-1.5e-8, False, "-1.5e-08"),
        (1234567.0, False, "1.2346e+06"),
        (1234567.0, True, "1234567"),
        (1e18, True, "1e+18"),
        (2.5, True, "2.5"),
    ],
)
def test_values(value: float | None, integer: bool, text: str) -> None:
    assert value_text(value, integer=integer) == text


def test_shapes_times_and_ranges() -> None:
    assert shape_text((2, 8)) == "2x8"
    assert shape_text(()) == "()"
    assert shape_text(None) == ""
    assert time_text(1_700_000_000_123_456) == "2023-11-14 22:13:20 UTC"
    assert time_text(2**63 - 1) == str(2**63 - 1)
    assert integers_text([0, 1, 2, 3, 5, 9, 10]) == "0-3, 5, 9-10"
