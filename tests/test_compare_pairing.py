"""Which tensors `fastdump.compare` takes for partners, and how it says that it knows."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from comparisons import W, X, chain, write_op
from hypothesis import given
from hypothesis import strategies as st

import fastdump
from fastdump import ComparisonTable, DumpFormatError, testing
from fastdump._compare import order
from fastdump._compare.names import normalised, without_counter


def partners(table: ComparisonTable) -> dict[str, tuple[str, str]]:
    """Return of each operator of `a` that of `b`, and how it was found."""
    return {
        row.op_name or "": (row.op_name_b or "", row.paired_by or "")
        for row in table
        if row.paired_by is not None
    }


def test_times_tasks_and_places_do_not_matter(tmp_path: Path) -> None:
    chain(tmp_path / "a", time="20260101000000")
    chain(tmp_path / "b", time="20260202000000", shift=1000)
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    assert table["paired_by"].tolist() == ["name"] * 18
    assert table["op_name"].tolist() == table["op_name_b"].tolist()
    assert set(table["verdict"]) == {"equal"}


def test_executions_of_one_operator_are_paired_in_order(tmp_path: Path) -> None:
    for i in range(5):
        write_op(tmp_path / "a", "Add x", at=i, outputs=[X + i])
        write_op(tmp_path / "b", "Add x", at=70 + i, outputs=[X + i])
    write_op(tmp_path / "b", "Add x", at=99, outputs=[X])
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    assert table["verdict"].tolist() == ["equal"] * 5 + [None]
    assert table["status"].tolist()[-1] == "only_in_b"


def test_ranks_and_steps_belong_to_themselves(tmp_path: Path) -> None:
    for rank in (0, 1):
        for step in (0, 1, 2):
            start = X + 10 * rank + step
            chain(tmp_path / "a", n=1, rank=rank, step=step, start=start)
            if step:
                chain(tmp_path / "b", n=1, rank=rank, step=step, start=start)
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    alone = table[table.unpaired]
    assert set(alone["step"]) == {0}
    assert set(table[~table.unpaired]["verdict"]) == {"equal"}
    assert table["rank"].tolist()[:18] == [0] * 9 + [1] * 9


def test_two_ranks_are_compared_with_each_other(tmp_path: Path) -> None:
    for rank in (0, 1):
        chain(tmp_path / "dump", rank=rank)
    ranks = [testing.rank_dir(tmp_path / "dump", world_size=8, rank=rank) for rank in (0, 1)]
    table = fastdump.compare(*ranks)
    assert set(table["verdict"]) == {"equal"}
    assert (set(table["rank"]), set(table["rank_b"])) == ({0}, {1})
    assert table.about["notes"] == ["rank 0 of a compared with rank 1 of b"]


def test_a_reference_without_rank_and_step(tmp_path: Path) -> None:
    chain(tmp_path / "a", rank=3, step=7)
    chain(tmp_path / "b", rank=None, step=None)
    assert set(fastdump.compare(tmp_path / "a", tmp_path / "b")["verdict"]) == {"equal"}


def test_ranks_that_do_not_belong_together_are_not_guessed(tmp_path: Path) -> None:
    for rank in (0, 1):
        chain(tmp_path / "a", n=1, rank=rank)
    chain(tmp_path / "b", n=1, rank=None)
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    assert set(table["status"]) == {"only_in_a", "only_in_b"}
    assert "ranks 0-1 of a and no rank of b do not belong together" in " ".join(table.notes)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("model.layers.{}/Mul", "layers.{}/Mul"),
        ("Default/network/layers.{}/Mul", "layers/{}/mul"),
        ("layers_{}_Mul", "layers.{}/Mul"),
        ("partition0_rank2_new_sub_graph15_sgt_graph_0_layers_{}_Mul", "layers/{}/Mul"),
    ],
)
def test_names_without_what_wraps_them(tmp_path: Path, a: str, b: str) -> None:
    chain(tmp_path / "a", name=a)
    chain(tmp_path / "b", name=b)
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    found = "name" if a == "layers_{}_Mul" else "normalised"
    expected = {a.format(i): (b.format(i), found) for i in range(6)}
    assert partners(table) == expected
    assert set(table["verdict"]) == {"equal"}


@pytest.mark.parametrize("counted", ["Default/block/Add-op{}", "block/Add_{}", "block/Add{}"])
def test_counters_that_differ_between_runs(tmp_path: Path, counted: str) -> None:
    for i in range(4):
        for side, first in (("a", 10), ("b", 37)):
            name = counted.format(first + 3 * i)
            write_op(tmp_path / side, f"Add {name}", at=i, inputs=[X, X], outputs=[X + i])
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    assert set(table["paired_by"]) == {"sequence"}
    assert set(table["verdict"]) == {"equal"}
    # One more on one side: then nobody knows which of them it is, but by order.
    write_op(tmp_path / "b", f"Add {counted.format(36)}", at=40, inputs=[X, X], outputs=[X])
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    assert set(table["paired_by"]) == {"order", None}


def test_the_operator_that_an_output_stems_from(tmp_path: Path) -> None:
    origin = testing.OriginalOp("net/conv/Relu", output_index=0)
    fused = testing.TensorSpec(X, original_op=origin)
    write_op(tmp_path / "a", "ConvRelu fused_17", at=1, outputs=[fused])
    write_op(tmp_path / "b", "Relu net/conv/Relu", at=1, inputs=[X], outputs=[X])
    for a, b in (("a", "b"), ("b", "a")):
        table = fastdump.compare(tmp_path / a, tmp_path / b)
        (pair,) = table.filter(verdict="equal")
        assert pair.paired_by == "original"
        assert len(table) == 2


def test_joined_names_of_fused_operators(tmp_path: Path) -> None:
    names = ["model.x/Cast_in", "model.x/Mul_scale", "model.x/Add_out"]
    write_op(tmp_path / "a", f"AscBackend {'_'.join(names)}", at=1, inputs=[X], outputs=[X * 3])
    for i, name in enumerate(names):
        write_op(tmp_path / "b", f"Op{i} {name}", at=i, inputs=[X * i + X], outputs=[X * (i + 1)])
    for a, b in (("a", "b"), ("b", "a")):
        table = fastdump.compare(tmp_path / a, tmp_path / b)
        pairs = table[~table.unpaired]
        assert set(pairs["paired_by"]) == {"original"}
        assert pairs["verdict"].tolist() == ["equal", "equal"]
        assert sorted(pairs["io"]) == ["input", "output"]
        assert len(table) == 6


def test_parts_of_fused_operators_need_the_same_shape(tmp_path: Path) -> None:
    write_op(tmp_path / "a", "Fused m.x/One_m.x/Two", at=1, inputs=[X], outputs=[X])
    write_op(tmp_path / "b", "One m.x/One", at=1, inputs=[W], outputs=[X])
    write_op(tmp_path / "b", "Two m.x/Two", at=2, inputs=[X], outputs=[X])
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    assert [(row.io, row.paired_by) for row in table[:2]] == [
        ("input", None),
        ("output", "original"),
    ]


def write_sequence(root: Path, ops: str, prefix: str) -> None:
    """Write operators of the types that letters name, under names that tell nothing."""
    rng = np.random.default_rng(len(prefix))
    for i, letter in enumerate(ops):
        name = f"{prefix}{rng.integers(10**9)}x"
        value = np.full((ord(letter) - 60, 2), ord(letter), np.float32)
        write_op(root, f"Type{letter} {name}", at=i, outputs=[value])


def test_type_shape_and_order(tmp_path: Path) -> None:
    write_sequence(tmp_path / "a", "ABCDBCE", "p")
    write_sequence(tmp_path / "b", "ABXCBCDE", "qq")
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    pairs = table[~table.unpaired]
    assert pairs["paired_by"].tolist() == ["order"] * 6
    assert [t[-1] for t in pairs["op_type"]] == list("ABCBCE")
    assert set(pairs["verdict"]) == {"equal"}


def test_order_counts_only_between_the_same_neighbours(tmp_path: Path) -> None:
    for i, name in enumerate(["one", "early", "two", "three"]):
        write_op(tmp_path / "a", f"Cast {name}", at=i, outputs=[X])
    for i, name in enumerate(["one", "two", "three", "late"]):
        write_op(tmp_path / "b", f"Cast {name}", at=i, outputs=[X])
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    assert set(partners(table)) == {"one", "two", "three"}
    write_op(tmp_path / "b", "Cast soon", at=0, outputs=[X])
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    assert partners(table).get("early") in (None, ("soon", "order"))


@pytest.mark.parametrize("suffix", [".json", ".csv", None])
def test_a_map_of_names_comes_first(tmp_path: Path, suffix: str | None) -> None:
    # By name they would be paired the other way round.
    for side, names in (("a", ("x", "y")), ("b", ("y", "x"))):
        for i, name in enumerate(names):
            write_op(tmp_path / side, f"Add {name}", at=i, inputs=[X], outputs=[X + i])
    names = {"x": "y", "y": "x"}
    given: Any = names
    if suffix is not None:
        given = tmp_path / f"map{suffix}"
        text = json.dumps(names) if suffix == ".json" else "# ours, theirs\nx,y\n\ny,x\n"
        given.write_text(text)
    table = fastdump.compare(tmp_path / "a", tmp_path / "b", map=given)
    assert partners(table) == {"x": ("y", "map"), "y": ("x", "map")}
    assert set(table["verdict"]) == {"equal"}


def test_what_the_map_pairs_is_not_guessed_at(tmp_path: Path) -> None:
    write_op(tmp_path / "a", "Add x", at=1, inputs=[X], outputs=[X])
    write_op(tmp_path / "b", "Add x", at=1, inputs=[X])
    write_op(tmp_path / "b", "Add y", at=2, outputs=[X])
    table = fastdump.compare(tmp_path / "a", tmp_path / "b", map={"x": "y"})
    assert table["paired_by"].tolist() == [None, "map", None]
    assert table["status"].tolist() == ["only_in_a", "ok", "only_in_b"]


def test_a_map_of_single_tensors(tmp_path: Path) -> None:
    write_op(tmp_path / "a", "Fused a/fused", at=1, inputs=[X], outputs=[X + 1])
    write_op(tmp_path / "b", "First first", at=1, inputs=[W, X], outputs=[W])
    write_op(tmp_path / "b", "Last last", at=2, inputs=[W], outputs=[W, X + 1])
    names = {"a/fused:input.0": "first:input.1", "a/fused:output.0": "last:output.1"}
    table = fastdump.compare(tmp_path / "a", tmp_path / "b", map=names)
    assert table[~table.unpaired]["verdict"].tolist() == ["equal", "equal"]
    assert partners(table) == {"a/fused": ("last", "map")}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[1]", "not an object"),
        ('{"x": 1}', "expected a name"),
        ('{"x": "y", "z": "y"}', "is the partner of"),
        ('{"x:output.0": "y"}', "only one of them is a tensor"),
        ("{}", "no name"),
        ("[" * 100_000, "map.json"),
        ('{"x"', "map.json"),
    ],
)
def test_maps_that_are_none(tmp_path: Path, content: str, words: str) -> None:
    chain(tmp_path / "a", n=1)
    path = tmp_path / "map.json"
    path.write_text(content)
    with pytest.raises(DumpFormatError, match=words) as caught:
        fastdump.compare(tmp_path / "a", tmp_path / "a", map=path)
    assert str(path) in str(caught.value)


def test_csv_maps_that_are_none(tmp_path: Path) -> None:
    chain(tmp_path / "a", n=1)
    path = tmp_path / "map.csv"
    for content in (b"x,y,z\n", b"x,y\nx,z\n", b"\xff\xfe", b'"x\n'):
        path.write_bytes(content)
        with pytest.raises(DumpFormatError):
            fastdump.compare(tmp_path / "a", tmp_path / "a", map=path)
    with pytest.raises(ValueError, match="no operator of a"):
        fastdump.compare(tmp_path / "a", tmp_path / "a", map={"nobody": "layers.0/Mul"})


def test_nothing_is_lost(tmp_path: Path) -> None:
    """Each tensor of either side is in one row, whatever is done to names, order and number."""
    rng = np.random.default_rng(3)
    for side in "ab":
        for i in range(60):
            kind = rng.integers(4)
            name = ["layers.{}/Mul", "m/{}", "Default/Add-op{}", "same"][kind]
            op = f"T{rng.integers(3)} {name.format(rng.integers(20))}"
            inputs = [X, W][: rng.integers(3)]
            write_op(
                tmp_path / side,
                op,
                at=i,
                step=int(rng.integers(2)),
                inputs=inputs,
                outputs=[X if rng.integers(2) else W],
            )
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    for side in "ab":
        expected = fastdump.stats(tmp_path / side)
        found = [row for row in table if getattr(row, f"path_{side}") is not None]
        paths = sorted(getattr(row, f"path_{side}") for row in found)
        assert paths == sorted(expected["path"])
    assert set(table["paired_by"]) >= {"name", None}
    for row in table[~table.unpaired]:
        assert row.io is not None
        assert row.status == "ok" or row.status == "size_mismatch"


@given(st.lists(st.integers(0, 3), max_size=40), st.lists(st.integers(0, 3), max_size=40))
def test_longest_common_subsequence(a: list[int], b: list[int]) -> None:
    pairs = order.in_order(a, b)
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(i < k and j < m for (i, j), (k, m) in itertools.pairwise(pairs))
    lengths = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            longer = max(lengths[i][j + 1], lengths[i + 1][j])
            lengths[i + 1][j + 1] = lengths[i][j] + 1 if x == y else longer
    assert len(pairs) == lengths[len(a)][len(b)]


@given(st.lists(st.integers(0, 9), max_size=40), st.lists(st.integers(0, 9), max_size=40))
def test_common_subsequence_by_anchors(a: list[int], b: list[int]) -> None:
    pairs = order.in_order_by_anchors(a, b)
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(i < k and j < m for (i, j), (k, m) in itertools.pairwise(pairs))
    # A sequence of which the other is a part is found as a whole.
    assert len(order.in_order_by_anchors(a, a)) == len(a)
    assert len(order.in_order_by_anchors(a, [x for x in a if x < 5])) == sum(x < 5 for x in a)


def write_counted(root: Path, ops: str, first: int = 1) -> None:
    """Write operators of the kinds that letters name, numbered through the step; C is a cast."""
    for i, letter in enumerate(ops):
        op_type = "ToCopy" if letter == "C" else f"Type{letter}"
        name = f"{op_type} net.layer/{letter.lower()}_{first + i}"
        value = np.full((2, 3), ord(letter), np.float32)
        write_op(root, name, at=i, inputs=[value - 1], outputs=[value])


def kinds_paired(table: ComparisonTable) -> list[tuple[str, str]]:
    rows = table[~table.unpaired].filter(io="output")
    return [(row.op_name or "", row.op_name_b or "") for row in rows]


@pytest.mark.parametrize(
    ("a", "b", "pairs"),
    [
        # A cast more on one side; every later counter differs.
        ("ABDABD", "ABCDABD", "11 22 34 45 56 67"),
        ("ABDABD", "CACBDABCD", "12 24 35 46 57 69"),
        # A cast on both sides is paired between the same neighbours.
        ("ABCDAB", "ABCDCAB", "11 22 33 44 56 67"),
        # One operator less, among others of its kind: what comes later stays together.
        ("ABDEBF", "ABDEF", "11 22 33 44 65"),
    ],
)
def test_counters_that_run_through_the_step(tmp_path: Path, a: str, b: str, pairs: str) -> None:
    write_counted(tmp_path / "a", a)
    write_counted(tmp_path / "b", b)
    for names in ("ab", "ba"):
        table = fastdump.compare(*(tmp_path / name for name in names))
        found = [
            (int(x.rpartition("_")[2]), int(y.rpartition("_")[2])) for x, y in kinds_paired(table)
        ]
        expected = [
            tuple(map(int, pair if names == "ab" else pair[::-1])) for pair in pairs.split()
        ]
        assert sorted(found) == sorted(expected)
        assert set(table[~table.unpaired]["verdict"]) == {"equal"}


def test_counters_that_agree_are_names(tmp_path: Path) -> None:
    write_counted(tmp_path / "a", "ABDABD")
    write_counted(tmp_path / "b", "ABDABD")
    assert set(fastdump.compare(tmp_path / "a", tmp_path / "b")["paired_by"]) == {"name"}


def test_a_map_comes_before_counters(tmp_path: Path) -> None:
    write_counted(tmp_path / "a", "ABDABD")
    write_counted(tmp_path / "b", "ABCDABD")
    names = {"net.layer/a_1": "net.layer/a_5"}
    table = fastdump.compare(tmp_path / "a", tmp_path / "b", map=names)
    assert ("net.layer/a_1", "net.layer/a_5") in kinds_paired(table)


def test_casts_of_one_side_are_told_apart(tmp_path: Path) -> None:
    write_counted(tmp_path / "a", "ABDABD")
    write_counted(tmp_path / "b", "ABCDABD")
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    assert table.unpaired_casts.sum() == table.unpaired.sum() == 2
    assert table.answer().remarks[-1] == "2 tensors of casts only in b"


def test_another_kind_in_the_same_place(tmp_path: Path) -> None:
    for side, kind in (("a", "Silu"), ("b", "Gelu")):
        y = X * 2 if side == "a" else X * 3
        write_op(tmp_path / side, "Add m/before", at=1, inputs=[X], outputs=[X])
        write_op(tmp_path / side, f"{kind} m/{kind.lower()}", at=2, inputs=[X], outputs=[y])
        write_op(tmp_path / side, "Add m/after", at=3, inputs=[y], outputs=[y])
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    assert table.summary()["paired_by"] == {"name": 4, "replaced": 2}
    first = table.findings[0]
    assert (first.cause, first.suspect_a, first.suspect_b) == (
        "replaced",
        "Silu m/silu",
        "Gelu m/gelu",
    )
    assert "b has Gelu m/gelu in its place" in table.sentence
    # Without a neighbour that both have, nothing tells that the place is the same.
    for side in "ab":
        for path in (tmp_path / side).rglob("Add*"):
            path.unlink()
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    assert table.unpaired.all()


def test_sequences_that_are_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "_MAX_BITS", 10)
    a, b = [9, *"ABABC"], [8, *"BABACC"]
    pairs = order.in_order(a, b)
    assert [(a[i], b[j]) for i, j in pairs] == [("A", "A"), ("B", "B"), ("A", "A"), ("B", "B")]


def test_normal_names() -> None:
    assert normalised("model.layers.3/Add") == normalised("layers_3_add") == "layers_3_add"
    assert normalised("model") == "model"
    assert normalised("///") is None
    assert without_counter("Default/block/Add-op17") == "block_add"
    assert without_counter("12") == "12"


@pytest.mark.parametrize("statistics", [False, True])
@pytest.mark.parametrize("lost", range(4))
def test_what_operators_read_tells_which_one_is_missing(
    tmp_path: Path, lost: int, statistics: bool
) -> None:
    rng = np.random.default_rng(9)
    read = [rng.normal(i, 1, (4, 6)).astype(np.float32) for i in range(4)]
    for side in "ab":
        kept = [i for i in range(4) if side == "a" or i != lost]
        write_op(tmp_path / side, "Add m/add_1", at=1, inputs=[X], outputs=[X])
        for number, i in enumerate(kept, start=2):
            values = {"inputs": [read[i]], "outputs": [read[i] * 2]}
            write_op(tmp_path / side, f"Mul m/mul_{number}", at=number, **values)
        end = len(kept) + 2
        write_op(tmp_path / side, f"Sub m/sub_{end}", at=end, inputs=[X], outputs=[X])
    sides: list[Any] = [tmp_path / "a", tmp_path / "b"]
    if statistics:
        sides = [fastdump.stats(side) for side in sides]
    for a, b in (sides, sides[::-1]):
        table = fastdump.compare(a, b)
        assert set(table[~table.unpaired]["verdict"]) <= {"equal", "similar"}
        assert table.unpaired.sum() == 2
