"""The shape of the damage in a tensor, in words, against what a plain loop says of it."""

from __future__ import annotations

import itertools
import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fastdump._array import damage as damage_module
from fastdump._array.damage import describe_damage

Mask = NDArray[np.bool_]


def words_of(mask: Mask) -> str:
    damage = describe_damage(np.where(mask, np.float16(np.nan), np.float16(1)))
    assert damage is not None
    return damage.words


def masked(shape: tuple[int, ...], *indices: Any) -> Mask:
    mask = np.zeros(shape, np.bool_)
    for index in indices:
        mask[index] = True
    return mask


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (masked((4, 6), ...), "all elements"),
        (masked((), ...), "the only element"),
        (masked((4, 6), (2, 3)), "one element of 24, [2, 3]"),
        (masked((4, 6), 1, 3), "12 of 24 elements: 2 whole rows ({1, 3})"),
        (masked((4, 6), (slice(None), 2)), "4 of 24 elements: 1 whole column (2)"),
        (
            masked((4, 6), (slice(None), [0, 2, 3, 5])),
            "16 of 24 elements: 4 whole columns ({0, 2-3, 5})",
        ),
        (
            masked((3, 4, 6), (slice(None), 1)),
            "18 of 72 elements: 1 whole row (1)",
        ),
        (
            masked((5, 4, 6), 1, 3),
            "48 of 120 elements: 2 whole indices of axis 0 ({1, 3})",
        ),
        (
            masked((2, 4, 6), (0, 1), (1, 3)),
            "12 of 48 elements: 2 whole rows",
        ),
        (
            masked((2, 4, 6), (0, [1, 3])),
            "12 of 48 elements: 2 whole rows [0, {1, 3}, :]",
        ),
        (
            masked((8, 64), (slice(2, 4), slice(16, 32))),
            "32 of 512 elements: the block [2:4, 16:32]",
        ),
        (
            masked((2, 4, 8), np.ix_([0], [1, 3], [2, 5])),
            "4 of 64 elements: the block [0, {1, 3}, {2, 5}]",
        ),
        (masked((8, 64), 3), "64 of 512 elements, 1 whole row (3): one run from [3, 0] on"),
        (masked((8, 64), slice(6, 8)), "128 of 512 elements, 2 whole rows (6:8): the tail from "),
        (masked((100,), slice(60, 100)), "40 of 100 elements, the tail from [60] on"),
        (masked((100,), slice(60, 70)), "10 of 100 elements, one run from [60] on"),
        (
            masked((4096,), slice(1000, 3048)),
            "2,048 of 4,096 elements, one run from [1000] on (4.1 kB, a multiple of 2,048 bytes)",
        ),
        (masked((100,), slice(3, None, 16)), "7 of 100 elements: every 16th from [3] on"),
        (masked((4, 25), (0, 1), (1, 2), (3, 7)), "3 of 100 elements, scattered: "),
    ],
)
def test_in_words(mask: Mask, words: str) -> None:
    assert words_of(mask).startswith(words)


def test_nothing_bad_is_no_damage() -> None:
    assert describe_damage(np.ones((3, 4))) is None
    assert describe_damage(np.ones((0, 4))) is None
    assert describe_damage(np.ones((3, 4), np.int32)) is None


@pytest.mark.parametrize(
    "dtype",
    [np.float16, np.float64, np.complex64, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn],
)
def test_all_types_with_nan(dtype: Any) -> None:
    array = np.zeros((4, 8), dtype)
    array[2] = np.nan
    damage = describe_damage(array)
    assert damage is not None
    assert (damage.bad, damage.size, damage.place) == (8, 32, "[2, :]")


def test_a_long_axis_takes_no_memory_of_its_own() -> None:
    array = np.zeros(3 << 20, np.float16)
    array[5::1000] = np.inf
    damage = describe_damage(array)
    assert damage is not None
    assert damage.words == "3,146 of 3,145,728 elements: every 1,000th from [5] on"


def test_bytes_are_those_of_the_device() -> None:
    """An array may be wider than what it was converted from."""
    array = np.zeros(8192, np.float32)
    array[100 : 100 + 1024] = np.nan
    wide, narrow = describe_damage(array), describe_damage(array, itemsize=1)
    assert wide is not None
    assert narrow is not None
    assert "a multiple of 2,048 bytes" in wide.words
    assert "multiple" not in narrow.words


# Against a plain loop

masks = st.lists(st.integers(1, 6), max_size=4).flatmap(
    lambda shape: st.one_of(
        st.lists(st.booleans(), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))).map(
            lambda bad: np.array(bad, np.bool_).reshape(shape)
        ),
        st.tuples(*(st.sets(st.integers(0, dim - 1), min_size=1) for dim in shape)).map(
            lambda sets: _product(tuple(shape), sets)
        ),
        st.tuples(st.integers(0, 1295), st.integers(0, 1295), st.integers(1, 40)).map(
            lambda run: _run(tuple(shape), *run)
        ),
    )
)


def _product(shape: tuple[int, ...], sets: tuple[set[int], ...]) -> Mask:
    mask = np.zeros(shape, np.bool_)
    for index in itertools.product(*sets):
        mask[index] = True
    return mask


def _run(shape: tuple[int, ...], start: int, length: int, stride: int) -> Mask:
    mask = np.zeros(int(np.prod(shape)), np.bool_)
    mask[start : start + length * stride : stride] = True
    return mask.reshape(shape)


def _evaluated(place: str, shape: tuple[int, ...]) -> Mask:
    """Return which elements an index selects; ``{1, 3-4}`` are single indices and ranges."""
    texts = re.findall(r"\{[^}]*\}|[^,\s]+", place.strip("[]"))
    assert len(texts) == len(shape)
    sets = []
    for text, dim in zip(texts, shape, strict=True):
        if text == ":":
            sets.append(set(range(dim)))
        elif ":" in text:
            start, _, stop = text.partition(":")
            sets.append(set(range(int(start), int(stop))))
        else:
            parts = [part.split("-") for part in text.strip("{}").split(", ")]
            sets.append(
                {
                    i
                    for first, *last in parts
                    for i in range(int(first), int((last or [first])[0]) + 1)
                }
            )
    return _product(shape, tuple(sets))


def _is_product(mask: Mask) -> bool:
    sets = tuple({index[axis] for index in np.argwhere(mask).tolist()} for axis in range(mask.ndim))
    return int(mask.sum()) == int(np.prod([len(one) for one in sets]))


@given(masks)
def test_it_says_what_a_loop_finds(mask: Mask) -> None:
    damage = describe_damage(np.where(mask, np.inf, 0.0))
    n_bad = int(mask.sum())
    if n_bad == 0:
        assert damage is None
        return
    assert damage is not None
    assert (damage.bad, damage.size) == (n_bad, mask.size)
    assert (damage.place is not None) == (mask.ndim > 0 and _is_product(mask))
    if damage.place is not None:
        assert (_evaluated(damage.place, mask.shape) == mask).all()

    flat = np.flatnonzero(mask)
    steps = set(np.diff(flat).tolist())
    words = damage.words
    if n_bad == mask.size:
        assert words == ("all elements" if mask.size > 1 else "the only element")
        return
    if n_bad == 1:
        assert words == f"one element of {mask.size:,}, {np.argwhere(mask)[0].tolist()}"
        return
    start = str(np.argwhere(mask)[0].tolist())
    is_run, is_tail = steps == {1}, flat[-1] == mask.size - 1
    assert (f"one run from {start} on" in words) == (is_run and not is_tail)
    assert (f"the tail from {start} on" in words) == (is_run and is_tail)
    assert words.startswith(f"{n_bad:,} of {mask.size:,} elements")
    if strided := re.search(r"every ([\d,]+)th from (\[.*\]) on", words):
        assert steps == {int(strided[1].replace(",", ""))}
        assert strided[2] == start
    if whole := re.search(r"(\d+) whole (row|column|ind)\w*(?: of axis (\d))?", words):
        _check_whole(mask, int(whole[1]), whole[2], whole[3])
    if "the block" in words:
        assert damage.place is not None
        assert damage.place in words
    if "scattered" in words:
        assert not is_run
        assert len(steps) > 1 or n_bad == 2
        assert not _is_product(mask)


def _check_whole(mask: Mask, number: int, what: str, axis: str | None) -> None:
    """Along one axis `number` indices are wholly bad, and the others not at all; or lines are."""
    along = {"row": mask.ndim - 2, "column": mask.ndim - 1}.get(what) or int(axis or 0)
    bad = np.moveaxis(mask, along, 0).reshape(mask.shape[along], -1)
    if bad.any(axis=1).sum() == number and (bad.any(axis=1) == bad.all(axis=1)).all():
        return
    assert what == "row"
    lines = mask.reshape(-1, mask.shape[-1])
    assert lines.all(axis=1).sum() == number == lines.any(axis=1).sum()


@given(masks, st.integers(1, 7))
def test_it_says_the_same_of_parts_and_of_any_order_in_memory(mask: Mask, n: int) -> None:
    array = np.where(mask, np.nan, 1.0)
    expected = describe_damage(array)
    transposed = np.array(array, order="F")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(damage_module, "_ELEMENTS_AT_ONCE", n)
        assert describe_damage(array) == expected
        assert describe_damage(transposed) == expected
    spread = np.repeat(array.reshape(-1), 3)[::3].reshape(array.shape)
    assert describe_damage(spread) == expected


@given(masks)
def test_what_is_bad_is_for_the_caller_to_say(mask: Mask) -> None:
    large = np.where(mask, 70000.0, 1.0)
    damage = describe_damage(large, lambda elements: np.asarray(elements > 65504))
    assert damage == describe_damage(np.where(mask, np.nan, 1.0))
