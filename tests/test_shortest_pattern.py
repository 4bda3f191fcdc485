"""The shortest readable pattern of an operator's name: it selects that name and no other."""

from __future__ import annotations

import fnmatch
import random
import re

import pytest

from fastdump import Selection
from fastdump._op_name.shortest_pattern import shortest_pattern

LLAMA = [
    *("model.embed_tokens/GatherV2", "model.norm/RmsNorm", "lm_head/MatMulV2"),
    *(
        f"model.layers.{layer}.{operator}"
        for layer in range(32)
        for operator in (
            "input_layernorm/RmsNorm",
            "self_attn.q_proj/MatMulV2",
            "self_attn.k_proj/MatMulV2",
            "self_attn/BatchMatMul_qk",
            "self_attn/SoftmaxV2",
            "self_attn/Cast",
            "self_attn/Cast_1",
            "mlp.down_proj/MatMulV2",
            "mlp/Mul",
            "Add",
            "Add_1",
        )
    ),
]
DEEPSEEK = [
    f"model.layers.{layer}.mlp.experts.{expert}.{projection}/{operator}"
    for layer in (3, 4, 13, 30, 60)
    for expert in range(256)
    for projection in ("gate_proj", "up_proj", "down_proj")
    for operator in ("MatMul", "Cast")
]
CHINESE = [
    f"模型.层.{layer}.{operator}"
    for layer in range(12)
    for operator in ("注意力/矩阵乘_查询", "注意力/矩阵乘_键", "前馈/矩阵乘", "归一化")
]
MODELS = {"llama": LLAMA, "deepseek": DEEPSEEK, "chinese": CHINESE}


def matching(pattern: str, names: list[str]) -> list[str]:
    """Return the names that a pattern selects, by Python's own matching of file names."""
    spelled = str.maketrans("./\\ ", "____")
    wanted = pattern.translate(spelled)
    return [name for name in names if fnmatch.fnmatchcase(name.translate(spelled), wanted)]


@pytest.mark.parametrize("model", MODELS)
def test_it_selects_one_name_of_a_model(model: str) -> None:
    names = MODELS[model]
    for name in random.Random(1).sample(names, min(len(names), 40)):
        pattern = shortest_pattern(name, names)
        assert matching(pattern, names) == [name]
        assert len(pattern) <= len(name)


def test_selections_read_it_alike() -> None:
    pattern = shortest_pattern(DEEPSEEK[700], DEEPSEEK)
    selection = Selection.of({"op_name": pattern})
    found = selection.matching("op_name", DEEPSEEK)
    assert [name for name, is_it in zip(DEEPSEEK, found, strict=True) if is_it] == [DEEPSEEK[700]]


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("lm_head/MatMulV2", "*head/MatMulV2"),
        ("model.layers.7.self_attn/BatchMatMul_qk", "*layers.7*qk"),
        ("model.layers.2.self_attn/BatchMatMul_qk", "*layers.2.*qk"),
        ("model.layers.12.self_attn/Cast_1", "*layers.12*Cast_1"),
        ("model.norm/RmsNorm", "*.norm/RmsNorm"),
    ],
)
def test_it_ends_with_whole_words_and_has_the_layer(name: str, pattern: str) -> None:
    assert shortest_pattern(name, LLAMA) == pattern


def test_no_number_stands_without_its_word() -> None:
    for name in random.Random(2).sample(DEEPSEEK + LLAMA + CHINESE, 60):
        pattern = shortest_pattern(name, DEEPSEEK + LLAMA + CHINESE)
        assert not re.search(r"\*[._/]?\d", pattern), pattern


def test_a_name_that_others_end_with_is_given_whole() -> None:
    assert shortest_pattern("Add", ["Add", "x/Add", "x_Add"]) == "Add"


def test_repeated_names_and_other_spellings_are_one_name() -> None:
    names = ["a.b/Add", "a_b_Add", "a.b/Add", "a.b/Mul"]
    assert shortest_pattern("a.b/Add", names) == "*Add"


@pytest.mark.parametrize("name", ["a*b", "a?b", "a[0]", "x[!a]", "a\\*b", "-x", "a\\", "[", "*"])
def test_special_characters_stand_for_themselves(name: str) -> None:
    names = [name, "aXb", "a0", "xb", "x", "acb", "xa", "-y", "ab", "a_Xb"]
    pattern = shortest_pattern(name, names)
    assert matching(pattern, names) == [name]
    assert not pattern.startswith("-")


def test_characters_that_cannot_be_shown_are_left_out() -> None:
    names = ["layers.1/\x1b[31mAdd", "layers.1/Mul\u202e", "layers.2/Add"]
    for name in names:
        pattern = shortest_pattern(name, names)
        assert pattern.isprintable()
        assert name in matching(pattern, names)


def test_a_name_among_none_and_an_empty_name() -> None:
    assert shortest_pattern("model.layers.2/Add", []) == "*Add"
    assert shortest_pattern("", ["Add"]) == ""
