"""Names of operators on terminals of all widths: what stays of them, and what is told once."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from fastdump._words.elision import elide_end
from fastdump._words.fitted_names import FittedNames
from fastdump._words.text_table import Cell, Column, TextTable, plain

LLAMA = [
    "model.embed_tokens/GatherV2",
    *(
        f"model.layers.{layer}.{operator}"
        for layer in range(32)
        for operator in (
            "input_layernorm/RmsNorm",
            "self_attn.q_proj/MatMul",
            "self_attn.k_proj/MatMul",
            "self_attn/BatchMatMul_qk",
            "self_attn/SoftmaxV2",
            "post_attention_layernorm/RmsNorm",
            "mlp.gate_proj/MatMul",
            "mlp.down_proj/MatMul",
        )
    ),
    "model.norm/RmsNorm",
    "lm_head/MatMul",
]
DEEPSEEK = [
    f"model.layers.{layer}.mlp.experts.{expert}.{projection}/MatMul"
    for layer in (3, 60)
    for expert in range(256)
    for projection in ("gate_proj", "up_proj", "down_proj")
]
QWEN_VL = [
    *(f"visual.blocks.{block}.attn.qkv/MatMul" for block in range(32)),
    "visual.merger.mlp.0/MatMul",
    *(f"model.layers.{layer}.self_attn.qkv/MatMul" for layer in range(28)),
]
UNET = [
    f"{side}_blocks.{block}.attentions.{unit}.transformer_blocks.0.{attention}.{linear}/MatMul"
    for side in ("down", "up")
    for block in range(3)
    for unit in range(2)
    for attention in ("attn1", "attn2")
    for linear in ("to_q", "to_k", "to_out.0")
]
CHINESE = [
    f"\u6a21\u578b.\u7f16\u7801\u5668.\u5c42.{layer}.{part}/\u77e9\u9635\u4e58"
    for layer in range(12)
    for part in ("\u6ce8\u610f\u529b", "\u524d\u9988\u7f51\u7edc")
]
FILES = [name.replace(".", "_").replace("/", "_") for name in LLAMA]
MODELS = {
    "llama": LLAMA,
    "deepseek": DEEPSEEK,
    "qwen-vl": QWEN_VL,
    "unet": UNET,
    "chinese": CHINESE,
    "as files spell them": FILES,
}
WIDTHS = (60, 80, 120, 200)

of_models = pytest.mark.parametrize("names", MODELS.values(), ids=MODELS)
of_widths = pytest.mark.parametrize("width", WIDTHS)


def table_of(names: Sequence[str], width: int | None) -> TextTable:
    """Return a table like that of `fastdump stats`."""
    columns = [
        Column("rank", right=True),
        Column("step", right=True),
        Column("op_type", drop_order=2),
        Column("op_name", min_width=18, names=True),
        Column("tensor"),
        Column("shape", min_width=7, drop_order=1),
        Column("max", right=True, drop_order=3),
        Column("nan", right=True, drop_order=10),
        Column("inf", right=True, drop_order=9),
        Column("status", min_width=12),
    ]
    rows = [
        [
            Cell(str(i % 8)),
            Cell(str(i % 3)),
            Cell("BatchMatMulV2"),
            Cell(name),
            Cell(f"output.{i % 2}"),
            Cell("2x4x24x24"),
            Cell("2616"),
            Cell(f"{i}"),
            Cell("+3 -2,207"),
            Cell("truncated: the file ends after 48196 of 96000 bytes" if i % 7 == 0 else "ok"),
        ]
        for i, name in enumerate(names)
    ]
    return TextTable(columns, rows, width=width)


def shown_in(table: TextTable) -> tuple[str, list[str], list[str]]:
    """Return the prefix that is told, the names as they are shown, and all lines."""
    lines = [plain(line) for line in table.lines()]
    told = [line for line in lines if line.startswith("\u2026 in op_name: ")]
    prefix = told[0].partition(": ")[2] if told else ""
    header = next(i for i, line in enumerate(lines) if re.search(r"op_name +tensor", line))
    begin = cell_len(lines[header].partition("op_name")[0])
    end = cell_len(lines[header].partition("tensor")[0])
    return prefix, [_cells(line, begin, end).strip() for line in lines[header + 1 :]], lines


def _cells(line: str, begin: int, end: int) -> str:
    """Return the characters between two columns of the terminal."""
    ends = list(itertools.accumulate(map(cell_len, line)))
    return "".join(c for c, at in zip(line, ends, strict=True) if begin < at <= end)


@of_models
@of_widths
def test_no_line_is_wider_than_the_terminal(names: list[str], width: int) -> None:
    _, _, lines = shown_in(table_of(names, width))
    assert max(map(cell_len, lines)) <= width


@of_models
@of_widths
def test_numbers_and_the_operation_stay(names: list[str], width: int) -> None:
    _, shown, _ = shown_in(table_of(names, width))
    for name, text in zip(names, shown, strict=True):
        assert text.endswith(re.split(r"[./]", name)[-1] if "/" in name else name.rsplit("_", 1)[1])
        assert re.findall(r"\d+", text) == re.findall(r"\d+", name), text


@of_models
@of_widths
def test_words_are_whole(names: list[str], width: int) -> None:
    _, shown, _ = shown_in(table_of(names, width))
    for name, text in zip(names, shown, strict=True):
        words = re.split(r"[./_\u2026]+", text)
        assert set(words) <= {"", *re.split(r"[./_]", name)}, text


@of_models
@of_widths
def test_different_names_look_different(names: list[str], width: int) -> None:
    _, shown, _ = shown_in(table_of(names, width))
    assert len(set(shown)) == len(set(names))


@of_models
@of_widths
def test_a_name_from_which_only_the_prefix_went_can_be_rebuilt(
    names: list[str], width: int
) -> None:
    prefix, shown, _ = shown_in(table_of(names, width))
    for name, text in zip(names, shown, strict=True):
        if "\u2026" not in text[1:]:
            assert text.replace("\u2026", prefix) == name


@of_models
def test_without_a_terminal_names_are_whole(names: list[str]) -> None:
    lines = [plain(line) for line in table_of(names, None).lines()]
    assert len(lines) == len(names) + 1
    for name, line in zip(names, lines[1:], strict=True):
        assert f" {name} " in line


@pytest.mark.parametrize(
    ("names", "width", "shown"),
    [
        (LLAMA, 28, {"\u20263.self_attn/SoftmaxV2", "lm_head/MatMul", "model.norm/RmsNorm"}),
        (DEEPSEEK, 26, {"\u20263.\u2026255.gate_proj/MatMul", "\u202660.\u20260.up_proj/MatMul"}),
        (UNET, 40, {"up_blocks.2.\u20261.\u20260.attn2.to_q/MatMul"}),
    ],
)
def test_words_go_from_the_left(names: list[str], width: int, shown: set[str]) -> None:
    fitted = set(FittedNames(names).fitted(width).values())
    assert shown <= fitted, sorted(fitted)[:20]


def test_names_of_another_branch_are_not_taken_for_those_with_the_prefix() -> None:
    names = FittedNames(QWEN_VL)
    assert names.prefix == "visual.blocks."
    shown = names.fitted(14)
    assert shown["visual.blocks.7.attn.qkv/MatMul"].startswith("\u20267.")
    assert shown["model.layers.7.self_attn.qkv/MatMul"].startswith("\u2026\u20267.")


def test_words_that_tell_names_apart_stay_longest() -> None:
    names = [f"model.layers.3.{part}.block.proj/MatMul" for part in ("encoder", "decoder")]
    shown = FittedNames(names).fitted(27)
    assert len(set(shown.values())) == 2
    assert all("coder" in text for text in shown.values())


name_texts = st.lists(
    st.text(st.sampled_from("ab\u5c42.7./_"), min_size=1, max_size=40), min_size=1, max_size=8
)


@given(name_texts, st.integers(2, 60))
def test_any_name_fits(names: list[str], width: int) -> None:
    fitted = FittedNames(names)
    shown = fitted.fitted(width)
    assert set(shown) == set(names)
    assert all(0 < cell_len(text) <= width for text in shown.values())
    # What fits without its prefix is shown so.
    if fitted.width() <= width:
        for name, text in shown.items():
            has_prefix = fitted.prefix and name.startswith(fitted.prefix)
            assert text == ("\u2026" + name[len(fitted.prefix) :] if has_prefix else name)


def test_a_column_with_one_text_is_told_once_if_there_is_too_little_room() -> None:
    columns = [Column("rank", right=True), Column("tensor"), Column("status")]
    rows = [[Cell("1"), Cell(f"output.{i}"), Cell("ok")] for i in range(2)]
    whole = ["rank  tensor    status", "   1  output.0  ok", "   1  output.1  ok"]
    assert [plain(line) for line in TextTable(columns, rows, width=22).lines()] == whole
    narrow = TextTable(columns, rows, width=21)
    assert [plain(line) for line in narrow.lines()] == [
        "in all rows: rank 1",
        "tensor    status",
        "output.0  ok",
        "output.1  ok",
    ]
    assert narrow.dropped == []


def test_what_does_not_fit_at_all_is_named() -> None:
    columns = [Column("op_name", names=True), Column("first"), Column("second", drop_order=0)]
    rows = [[Cell(f"layer/{i}/Add"), Cell("x" * 9), Cell("y" * 9)] for i in "12"]
    rows[0][1:] = [Cell("z" * 9), Cell("z" * 9)]
    table = TextTable(columns, rows, width=12)
    assert max(cell_len(plain(line)) for line in table.lines()) <= 12
    assert table.dropped == ["second", "first"]


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("1 NaN, 3 +Inf, 2,207 -Inf", 22, "1 NaN, 3 +Inf, \u2026"),
        ("truncated: the file ends early", 21, "truncated: the file \u2026"),
        ("2x4x24x24", 7, "2x4x\u2026"),
        ("BatchMatMul", 7, "Bat\u2026Mul"),
        ("short", 5, "short"),
    ],
)
def test_other_texts_lose_words_at_their_end(text: str, width: int, shown: str) -> None:
    assert elide_end(text, width) == shown
