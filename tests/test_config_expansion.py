"""`fastdump.config.expand`: patterns become the names that the vendor's code needs."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastdump
from fastdump import StatsTable, config, demo, testing

# A tensor of a dump, found by opening its file: operator, kind, bytes, rank, step.
Found = tuple[str, str, int, int | None, int | None]


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("demo")
    demo.write_demo(root)
    return root


@pytest.fixture(scope="module")
def tensors(dump: Path) -> list[Found]:
    """Every tensor, not from the table that `expand` looks at."""
    return [
        (operator.header["op_name"], tensor.io, tensor.nbytes, operator.rank, operator.step)
        for operator in fastdump.open(dump)
        for tensor in operator.tensors
    ]


def names_of(tensors: list[Found]) -> list[str]:
    return list(dict.fromkeys(name for name, *_ in tensors))


def expand(what: Any, *layer: str, **keys: Any) -> config.Expansion:
    options = {name: keys.pop(name) for name in ("op_type", "dump_step") if name in keys}
    return config.expand(config.ListEntry(layer=layer or None, **keys), what, **options)


def rows(*operators: tuple[str, str], **more: Any) -> Iterator[dict[str, Any]]:
    """Yield an output of each operator, given as type and name."""
    for op_type, op_name in operators:
        path = f"t/0/net/1/0/{op_type}.{op_name.replace('/', '_')}.1.1.1700000000000000"
        row = {"op_type": op_type, "op_name": op_name, "model": "net", "path": path, "step": 0}
        yield {**row, "io": "output", "index": 0, "source": "tensor", "nbytes": 8} | more


@pytest.mark.parametrize(
    "pattern",
    ["*layers.2*", "*Softmax*", "*", "model.layers.[13]*", "*/Add_?ask", "*q_proj/*", "loss/*"],
)
@pytest.mark.parametrize("mode", ["input", "output", "all"])
def test_what_is_written_catches_exactly_what_the_pattern_matches(
    dump: Path, tensors: list[Found], pattern: str, mode: str
) -> None:
    wanted = fnmatch.filter(names_of(tensors), pattern)
    assert wanted
    expansion = expand(dump, pattern)
    keys = {"dump_mode": mode, "dump_level": "op", "dump_list": expansion.entries}
    report = config.check_text(config.build(dump_path="/data/dump", **keys))
    assert report.verdict == report.graph_engine == "accept"
    assert [w.rule for w in report.warnings] == ["path-exists"]
    assert report.config is not None
    assert report.config.dump_list is not None
    # The vendor's code compares names as they are.
    assert set(report.config.dump_list[0].layer or ()) == set(wanted)
    found = config.footprint(report.config, dump)
    assert found.n_operators == len(wanted)
    for part in found.parts:
        here = [
            nbytes
            for name, io, nbytes, rank, step in tensors
            if name in wanted
            and mode in (io, "all")
            and io in ("input", "output")
            and (rank, step) == (part.rank, part.step)
        ]
        assert part.n_tensors == len(here)
        # A file of rank 0 and step 1 is truncated; its header tells what it would have had.
        assert part.nbytes == sum(here) or (part.rank, part.step, pattern) == (0, 1, "*")
    assert len(found.parts) == 4
    caught = {rule.rule: rule for rule in found.rules if rule.rule.startswith("layer ")}
    assert len(caught) == len(wanted)
    assert {rule.n_operators for rule in caught.values()} == {1}


@pytest.mark.parametrize(("number", "layers"), [("3", [3]), ("0-1", [0, 1])])
def test_numbers_stand_for_layers(
    dump: Path, tensors: list[Found], number: str, layers: list[int]
) -> None:
    expansion = expand(dump, number)
    wanted = [n for n in names_of(tensors) if any(f".layers.{i}" in n for i in layers)]
    assert sorted(expansion.entries[0].layer or ()) == sorted(wanted)
    (match,) = expansion.matches
    assert (match.key, match.pattern, match.layers) == ("layer", number, tuple(layers))


def test_a_pattern_for_layer_3_of_many_says_which_layers_it_matches(make_arrow: Any) -> None:
    operators = [("Add", f"model.layers.{i}/Add") for i in range(40)]
    table = StatsTable(make_arrow(list(rows(*operators))))
    by_pattern, by_number = expand(table, "*layers.3*"), expand(table, "3")
    assert by_pattern.matches[0].layers == (3, *range(30, 40))
    assert by_number.entries[0].layer == ("model.layers.3/Add",)


def test_a_name_comes_before_a_pattern_and_a_number(make_arrow: Any) -> None:
    operators = [("Add", "a[0]"), ("Add", "a0"), ("Add", "3"), ("Add", "layers.3/x")]
    table = StatsTable(make_arrow(list(rows(*operators))))
    assert expand(table, "a[0]").entries[0].layer == ("a[0]",)
    assert expand(table, "a[0-9]").entries[0].layer == ("a0",)
    assert expand(table, "3").entries[0].layer == ("3",)


def test_types_narrow_names(dump: Path, tensors: list[Found]) -> None:
    only = expand(dump, "2", op_type=["Softmax*", "RmsNorm"]).entries[0].layer
    assert only == tuple(
        name
        for name in names_of(tensors)
        if ".layers.2." in name and name.rpartition("/")[2] in ("SoftmaxV2", "RmsNorm")
    )
    alone = expand(dump, op_type=["SoftmaxV2"]).entries[0].layer
    assert alone == tuple(f"model.layers.{i}.self_attn/SoftmaxV2" for i in range(4))
    with pytest.raises(config.ConfigError, match='none of the operators in layer is of type "Arg'):
        expand(dump, "2", op_type=["ArgMax*"])


def test_the_spelling_of_a_file_becomes_that_of_the_model(dump: Path) -> None:
    layer = expand(dump, "model_layers_2_self_attn_SoftmaxV2").entries[0].layer
    assert layer == ("model.layers.2.self_attn/SoftmaxV2",)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"layer": ("*layers.9*",)},
            '"*layers.9*" matches no operator of the example, which',
        ),
        ({"layer": ("7",)}, "which has layers 0-3"),
        ({"layer": ("*Sofmax*",)}, 'near it: "model.layers.'),
        ({"layer": ("model.layers.1.self_attn/SoftmaxV3",)}, 'layers.1.self_attn/SoftmaxV2"'),
        ({"model_name": "demo_decode"}, 'matches no model of the example; near it: "demo_decoder"'),
        ({"model_name": "x*"}, 'which has "demo_decoder"'),
        ({"watcher_nodes": ("zzz",)}, 'watcher_nodes "zzz" matches no operator'),
        ({"optype_blacklist": [config.BlacklistItem(name="SoftMaxV2")]}, 'near it: "SoftmaxV2",'),
        ({"opname_blacklist": [config.BlacklistItem(name="Q*")]}, 'opname_blacklist "Q*" matches'),
        (
            {"opname_range": [config.OpnameRange(begin="*qk", end="*0*qk")]},
            "stands for 4 operators",
        ),
        (
            {"opname_range": [config.OpnameRange(begin="*2*qk", end="*1*qk")]},
            'a range ends before it begins: "model.layers.1',
        ),
        ({"layer": ("\x1b[2J*",)}, r"\x1b[2J"),
    ],
)
def test_what_matches_nothing_is_an_error_with_what_is_near(
    dump: Path, keys: dict[str, Any], message: str
) -> None:
    with pytest.raises(config.ConfigError) as raised:
        config.expand(config.ListEntry(**keys), dump)
    assert message in str(raised.value)
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 500


def test_names_that_are_near_are_whole_so_that_they_can_be_copied(make_arrow: Any) -> None:
    name = "model.decoder.transformer.layers.12.mlp.experts.255.down_proj/MatMulV2"
    table = StatsTable(make_arrow(list(rows(("MatMulV2", name)))))
    with pytest.raises(config.ConfigError, match=f'near it: "{name}"$'):
        expand(table, "MatMulV3")


def test_one_of_several_names_that_matches_nothing_is_an_error(dump: Path) -> None:
    with pytest.raises(config.ConfigError, match='layer "typo" matches no operator'):
        expand(dump, "2", "typo")


def test_the_other_keys_are_expanded_too(dump: Path, tensors: list[Found]) -> None:
    item = config.BlacklistItem(name="*layers.2*norm*", pos=("output0",))
    entry = config.ListEntry(
        model_name="demo*",
        opname_blacklist=(item,),
        optype_blacklist=(config.BlacklistItem(name="Soft*", pos=("output0",)),),
        opname_range=(config.OpnameRange(begin="*layers.1*qk", end="*layers.2*SoftmaxV2"),),
    )
    (found,) = config.expand(entry, dump).entries
    assert found.model_name == "demo_decoder"
    norms = fnmatch.filter(names_of(tensors), item.name or "")
    assert len(norms) == 2
    assert [each.name for each in found.opname_blacklist or ()] == norms
    assert {each.pos for each in found.opname_blacklist or ()} == {("output0",)}
    assert [each.name for each in found.optype_blacklist or ()] == ["SoftmaxV2"]
    assert found.opname_range == (
        config.OpnameRange(
            begin="model.layers.1.self_attn/BatchMatMul_qk",
            end="model.layers.2.self_attn/SoftmaxV2",
        ),
    )
    (watcher,) = expand(dump, "*layers.2*Add*", watcher_nodes=("*layers.2*Soft*",)).entries
    assert watcher.watcher_nodes == ("model.layers.2.self_attn/SoftmaxV2",)
    assert sorted(watcher.layer or ()) == sorted(
        fnmatch.filter(names_of(tensors), "*layers.2*Add*")
    )


def test_a_pattern_for_models_gives_an_entry_for_each(make_arrow: Any) -> None:
    table = StatsTable(
        make_arrow(
            [
                *rows(("Add", "x/a"), ("Add", "x/b"), model="net_1"),
                *rows(("Add", "x/a"), model="net_2"),
                *rows(("Add", "x/c"), model="other"),
            ]
        )
    )
    both = expand(table, "*a", model_name="net*")
    assert [(each.model_name, each.layer) for each in both.entries] == [
        ("net_1", ("x/a",)),
        ("net_2", ("x/a",)),
    ]
    assert both.file_names == ("net_1", "net_2"), "a path may have _ for another character"
    one = expand(table, "*b", model_name="net*")
    assert [(each.model_name, each.layer) for each in one.entries] == [("net_1", ("x/b",))]
    literal = expand(table, "*a", model_name="net.1")
    assert [each.model_name for each in literal.entries] == ["net.1"]
    assert literal.file_names == ()
    with pytest.raises(config.ConfigError, match=r'layer "\*c" matches no operator'):
        expand(table, "*c", model_name="net*")


def test_only_operators_of_graphs_are_meant(make_arrow: Any, tmp_path: Path) -> None:
    table = StatsTable(
        make_arrow(
            [
                *rows(("Add", "x/a"), ("Add", "x/b")),
                *rows(("Add", "x/b_To_x/a")),
                *rows(("aclnnAdd_0_L2", "x/kernel")),
                *rows(("Add", "x/alone"), path="20261120101112/0/Add.x.1.1.1", model=None),
                *rows(("Opdebug", "x/r"), path="t/0/n/1/0/Opdebug.Node_OpDebug.1.1.1", io=None),
            ]
        )
    )
    assert expand(table, "x*").entries[0].layer == ("x/a", "x/b")


def test_names_of_statistics_files_are_told_unless_the_real_ones_are_known(make_arrow: Any) -> None:
    of_files = list(rows(("Add", "x_a"), ("Add", "b"), source="csv"))
    found = expand(StatsTable(make_arrow(of_files)), "*")
    assert found.entries[0].layer == ("x_a", "b")
    assert found.file_names == ("x_a",)
    found = expand(StatsTable(make_arrow(of_files)), "x/a")
    assert found.entries[0].layer == ("x/a",), "who writes it so may know it"
    assert found.file_names == ()
    known = [*of_files, *rows(("Add", "x/a"))]
    found = expand(StatsTable(make_arrow(known)), "*")
    assert sorted(found.entries[0].layer or ()) == ["b", "x/a"]
    assert found.file_names == ()


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        (None, ()),
        ("0", ()),
        ("0-1", ()),
        ("1-5", ((2, 5),)),
        ("7|3-4|0", ((3, 4), (7, 7))),
        ("0-999999999999", ((2, 999999999999),)),
    ],
)
def test_steps_that_the_dump_lacks_are_told(dump: Path, text: str | None, absent: Any) -> None:
    found = expand(dump, "2", dump_step=text)
    assert found.steps == (0, 1)
    assert found.absent_steps == absent


def test_several_dumps_and_files_of_tables_are_taken(dump: Path, tmp_path: Path) -> None:
    expected = expand(dump, "*layers.2*").entries
    fastdump.stats(dump).write(tmp_path / "t.csv")
    for what in (tmp_path / "t.csv", list(dump.glob("worldsize*")), fastdump.open(dump)):
        assert expand(what, "*layers.2*").entries == expected
    with pytest.raises(OSError, match="nowhere"):
        expand(tmp_path / "nowhere", "*")


def test_damaged_and_hostile_files_are_no_problem(tmp_path: Path) -> None:
    directory = testing.model_dump_dir(
        tmp_path, time="20261120101112", device=0, model="net", model_id=1, step=0
    )
    names = ["x/\x1b[2Ja", "x/b"]
    for i, name in enumerate(names):
        file = testing.dump_name("Add", f"f{i}", task_id=i, stream_id=1, timestamp=10**15 + i)
        testing.write_dump(directory / file, op_name=name, outputs=[np.ones(2, np.float32)])
    lost = testing.dump_name("Add", "x_lost", task_id=9, stream_id=1, timestamp=10**15 + 9)
    (directory / lost).write_bytes(b"\xff" * 64)
    found = expand(tmp_path, "x*")
    assert set(found.entries[0].layer or ()) == {*names, "x_lost"}
    assert found.file_names == ("x_lost",)
    text = config.build(dump_path="/d", dump_list=found.entries)
    assert text.replace("\n", "").isprintable()


def test_too_many_names_in_a_blacklist_are_refused_before_the_vendor_does(make_arrow: Any) -> None:
    operators = [("Add", f"x/{i:03}") for i in range(101)]
    item = config.BlacklistItem(name="x/*", pos=("output0",))
    for n, refused in ((100, False), (101, True)):
        table = StatsTable(make_arrow(list(rows(*operators[:n]))))
        entries = expand(table, opname_blacklist=(item,)).entries
        keys: dict[str, Any] = {"dump_path": "/d", "dump_level": "op", "dump_list": entries}
        if refused:
            with pytest.raises(config.ConfigError, match="101 items, at most 100 are allowed"):
                config.build(**keys)
        else:
            config.build(**keys)
