"""`fastdump.config.explain`, the size that a dump may become, and what a dump lacks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastdump
from fastdump import StatsTable, config, demo, testing

START = 1_700_000_000_000_000
INPUT = np.ones((4, 4), np.float32)  # 64 bytes
OUTPUT = np.ones(4, np.float16)  # 8 bytes


def parse(**keys: Any) -> config.DumpConfig:
    return config.parse(json.dumps({"dump": {"dump_path": "/data", **keys}}))


def explained(**keys: Any) -> str:
    """Return an explanation without its line ends."""
    return " ".join(str(config.explain(parse(**keys))).split())


def write(
    root: Path,
    op_name: str,
    *,
    op_type: str = "Add",
    model: str = "net.0",
    rank: int = 0,
    step: int = 0,
    us: int = 0,
    **tensors: Any,
) -> None:
    directory = testing.model_dump_dir(
        testing.rank_dir(root, world_size=2, rank=rank),
        time="20261120101112",
        device=rank,
        model=model.replace(".", "_"),
        model_id=1,
        step=step,
    )
    name = testing.dump_name(op_type, op_name, task_id=1, stream_id=1, timestamp=START + us)
    testing.write_dump(directory / name, op_name=op_name, **tensors)


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ranks, steps 0 and 1, operators a/0 to a/3 of net.0 with an input and an output each."""
    root = tmp_path_factory.mktemp("dump")
    for rank in (0, 1):
        for step in (0, 1):
            for i in range(4):
                where = {"rank": rank, "step": step, "us": step * 100 + i}
                op_type = "MatMul" if i == 3 else "Add"
                write(root, f"a/{i}", op_type=op_type, **where, inputs=[INPUT], outputs=[OUTPUT])
    return root


@pytest.fixture(scope="module")
def table(dump: Path) -> StatsTable:
    return fastdump.stats(dump, level="health")


# In words


def test_model_dump() -> None:
    text = explained(
        dump_list=[{"model_name": "m", "layer": ["x", "y"]}, {"model_name": "n"}],
        dump_mode="all",
        dump_level="op",
        dump_step="0|3-5",
    )
    assert 'Inputs and outputs of operators "x", "y" of model "m".' in text
    assert 'Inputs and outputs of all operators of model "n".' in text
    assert "Only these steps: 0, 3-5." in text
    assert (
        "/data/{time}/{device}/{model}/{model_id}/{step}/"
        "{op_type}.{op_name}.{task_id}.{stream_id}.{timestamp} " in text
    )
    assert "aclnn" not in text, "dump_level is op"
    assert "loaded before this configuration are dumped only after they are loaded again" in text


def test_what_is_excluded_and_what_is_a_range() -> None:
    text = explained(
        dump_list=[
            {
                "model_name": "m",
                "opname_range": [{"begin": "a", "end": "b"}],
                "optype_blacklist": [{"name": "T", "pos": ["output0", "output1"]}],
                "opname_blacklist": [{"name": "c", "pos": ["output2"]}, {"name": "d"}],
            }
        ],
        dump_level="op",
    )
    assert 'Outputs of operators "a" to "b" of model "m".' in text
    assert 'But not output0, output1 of operators of type "T" of model "m".' in text
    assert 'But not output2 of operators of name "c" of model "m".' in text
    assert '"d"' not in text, "an item without pos excludes nothing"


def test_statistics() -> None:
    text = explained(dump_list=[{}], dump_data="stats", dump_stats=["Max", "L2norm"])
    assert "Max, L2norm of outputs of all operators of all models, in CSV files." in text
    assert "{timestamp}.csv" in text
    assert "does not replace them" in text


def test_single_operators() -> None:
    text = explained(dump_op_switch="on", dump_path="out")
    assert "Outputs of operators that are run one by one." in text
    assert " out/{time}/{device}/{op_type}." in text
    assert "relative to the current directory" in text
    text = explained(dump_op_switch="on", dump_level="kernel")
    assert "one by one" not in text
    assert "Outputs of kernels of the single-operator API (aclnn)." in text
    assert "{model_id}" not in text


def test_overflow() -> None:
    assert parse(dump_debug="on", dump_mode="output").mode == "all"
    text = explained(dump_debug="on", dump_mode="output", dump_data="stats")
    assert "Inputs and outputs of every AI Core operator that overflows." in text
    assert "Opdebug.Node_OpDebug." in text
    assert ".csv" not in text.replace("mapping.csv", "")
    assert "--status_check=1" in text


def test_watcher() -> None:
    text = explained(
        dump_scene="watcher", dump_list=[{"layer": ["a"], "watcher_nodes": ["c", "d"]}]
    )
    assert 'Outputs of "c", "d" after they have run, and again after each of "a" has run.' in text
    assert "{executed}_To_{watched}" in text
    text = explained(dump_scene="watcher", dump_list=[{"watcher_nodes": ["c"]}])
    assert "again after each operator has run." in text


@pytest.mark.parametrize(
    ("scene", "file"),
    [
        ("lite_exception", "exception_info.{stream_id}.{task_id}."),
        ("aic_err_brief_dump", "exception_info.{stream_id}.{task_id}."),
        ("aic_err_norm_dump", "{op_type}.{op_name}.{task_id}."),
        ("aic_err_detail_dump", "{kernel}.{stream_id}.{task_id}."),
    ],
)
def test_exceptions(scene: str, file: str) -> None:
    text = explained(dump_scene=scene)
    assert "{path}/extra-info/data-dump/{device}/" + file in text
    assert 'ASCEND_DUMP_PATH, ASCEND_WORK_PATH (environment), dump_path "/data", "./".' in text
    assert ("before aclrtSetDevice" in text) == (scene == "aic_err_detail_dump")
    assert "The first exception dump of a process stays" in text


def test_a_remote_path() -> None:
    text = explained(dump_list=[{}], dump_path="1.2.3.4:/data/")
    assert '{timestamp} on host "1.2.3.4"' in text
    assert " /data/{time}/" in text
    assert "must exist" not in text


def test_nothing() -> None:
    assert explained() == "What is dumped Nothing: no dump_list, no switch, no scene."
    text = explained(dump_kernel_data="printf,assert")
    assert text == "What is dumped Only what kernels print: printf, assert."
    text = explained(dump_list=[{}], dump_kernel_data="printf")
    assert "What kernels print: printf." in text
    assert "kernels print" not in explained(dump_list=[{}])


def test_entries_that_do_not_count_are_not_mentioned() -> None:
    text = explained(dump_list=[{"model_name": "m"}, {"layer": ["x"]}, {"layer": ["y"]}])
    assert 'Outputs of operators "y" of all models.' in text
    assert '"m"' not in text
    assert '"x"' not in text


def test_steps_without_end_are_no_problem() -> None:
    text = explained(dump_list=[{}], dump_step=f"0-{2**63}|3")
    assert "Only these steps: 0-9223372036854775807." in text


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        ("1-3|2-4|7", "Only these steps: 1-4, 7."),
        ("9|0|1|3-3", "Only these steps: 0-1, 3, 9."),
        ("", "All steps."),
    ],
)
def test_steps_are_sorted_and_joined(steps: str, sentence: str) -> None:
    assert sentence in explained(dump_list=[{}], dump_step=steps)


def test_steps_that_are_not_checked_are_no_problem(table: StatsTable) -> None:
    config_ = parse(dump_debug="on", dump_step="x|5-3|3|--|")
    assert "Only these steps: 3." in str(config.explain(config_, like=table))
    config_ = parse(dump_scene="aic_err_norm_dump", dump_step="x")
    assert "steps" not in str(config.explain(config_, like=table))
    assert config.missing(config_, table) == []


def test_many_names_are_cut_short() -> None:
    text = explained(dump_list=[{"layer": [f"op{i}" for i in range(1000)]}])
    assert '"op7" and 992 more' in text
    assert '"op8"' not in text
    assert " more" not in explained(dump_list=[{"layer": ["op"] * 8}])
    assert '"op" and 1 more' in explained(dump_list=[{"layer": ["op"] * 9}])


# How large


@pytest.mark.parametrize(
    ("keys", "n_tensors", "nbytes"),
    [
        ({"dump_list": [{}]}, 4, 4 * 8),
        ({"dump_list": [{}], "dump_mode": "input"}, 4, 4 * 64),
        ({"dump_list": [{}], "dump_mode": "all"}, 8, 4 * 72),
        ({"dump_op_switch": "on", "dump_mode": "all"}, 8, 4 * 72),
        ({"dump_list": [{"layer": ["a/1", "a/2"]}]}, 2, 16),
        ({"dump_list": [{"layer": ["a/1", "a_2"]}]}, 1, 8),
        ({"dump_list": [{"model_name": "net.0", "layer": ["a/1"]}]}, 1, 8),
        ({"dump_list": [{"model_name": "other"}]}, 0, 0),
        ({"dump_list": [{"model_name": "other"}, {"layer": ["a/1"]}]}, 1, 8),
        ({"dump_list": [{"layer": ["a/1"]}, {"layer": ["a/2", "a/3"]}]}, 2, 16),
        ({"dump_list": [{}], "dump_level": "kernel"}, 0, 0),
    ],
)
def test_the_size_is_that_of_what_is_selected(
    table: StatsTable, keys: dict[str, Any], n_tensors: int, nbytes: int
) -> None:
    found = config.footprint(parse(**keys), table)
    assert (found.n_tensors, found.nbytes) == (n_tensors, nbytes)
    assert (found.n_ranks, found.n_steps, found.largest) == (2, None, 72)


@pytest.mark.parametrize(
    ("begin", "end", "n"),
    [
        ("a/1", "a/2", 2),
        ("a/0", "a/3", 4),
        ("a/2", "a/2", 1),
        ("a/3", "a/1", 1),
        ("a/2", "nowhere", 2),
        ("nowhere", "a/2", 0),
    ],
)
def test_ranges_go_from_begin_to_end_in_the_order_of_execution(
    table: StatsTable, begin: str, end: str, n: int
) -> None:
    span = {"begin": begin, "end": end}
    keys = {"dump_level": "op", "dump_list": [{"model_name": "net.0", "opname_range": [span]}]}
    assert config.footprint(parse(**keys, dump_mode="all"), table).n_tensors == 2 * n
    layer = keys | {
        "dump_list": [{"model_name": "net.0", "opname_range": [span], "layer": ["a/0"]}]
    }
    expected = n + (begin != "a/0")
    assert config.footprint(parse(**layer), table).n_tensors == expected


def test_blacklists_take_their_tensors_out(table: StatsTable) -> None:
    keys = {"dump_level": "op", "dump_mode": "all"}
    by_type = [{"name": "Add", "pos": ["input0", "input1"]}]
    entry = {"optype_blacklist": by_type}
    assert config.footprint(parse(**keys, dump_list=[entry]), table).nbytes == 4 * 8 + 64
    entry = {"opname_blacklist": [{"name": "a/3", "pos": ["output0"]}]}
    assert config.footprint(parse(**keys, dump_list=[entry]), table).nbytes == 4 * 64 + 3 * 8


@pytest.mark.parametrize(("level", "n"), [("op", 1), ("kernel", 1), ("all", 2)])
def test_the_level_divides_operators_from_kernels(make_arrow: Any, level: str, n: int) -> None:
    types = {"Add": "net", "aclnnAdd_0_L2": None}
    rows = [
        {"op_type": op_type, "op_name": "a", "model": model, "io": "output", "nbytes": 8}
        for op_type, model in types.items()
    ]
    table = StatsTable(make_arrow(rows))
    found = config.footprint(parse(dump_list=[{"layer": ["a"]}], dump_level=level), table)
    assert (found.n_tensors, found.nbytes) == (n, 8 * n)


def test_statistics_are_small(table: StatsTable) -> None:
    found = config.footprint(parse(dump_list=[{}], dump_data="stats"), table)
    assert found.n_tensors == 4
    assert found.nbytes is not None
    assert 4 * 50 < found.nbytes < 4 * 500


@pytest.mark.parametrize(
    ("steps", "n"), [("0", 1), ("0|3-5", 4), ("1-3|2-4|2", 4), ("0-999999999999", 10**12)]
)
def test_steps_are_counted_once(table: StatsTable, steps: str, n: int) -> None:
    found = config.footprint(parse(dump_list=[{}], dump_step=steps), table)
    assert found.n_steps == n


def test_a_watched_output_is_dumped_once_more_for_each_operator(table: StatsTable) -> None:
    entry: dict[str, Any] = {"watcher_nodes": ["a/0", "a/1"], "layer": ["a/1", "a/2", "a/3"]}
    found = config.footprint(parse(dump_scene="watcher", dump_list=[entry]), table)
    assert found.nbytes == 2 * 8 * (1 + 2)
    del entry["layer"]
    found = config.footprint(parse(dump_scene="watcher", dump_list=[entry]), table)
    assert found.nbytes == 2 * 8 * (1 + 2)


@pytest.mark.parametrize("keys", [{"dump_debug": "on"}, {"dump_scene": "aic_err_norm_dump"}])
def test_what_depends_on_events_has_no_size(table: StatsTable, keys: dict[str, Any]) -> None:
    found = config.footprint(parse(**keys), table)
    assert found.nbytes is None
    assert found.largest == 72
    assert "72 B" in str(config.explain(parse(**keys), like=table))


def test_the_size_in_words(table: StatsTable) -> None:
    text = str(config.explain(parse(dump_list=[{}], dump_step="0|3-5"), like=table))
    assert "Each step of each rank: 4 tensors, about 32 B." in text
    assert "4 steps on 2 ranks: about 256 B." in text
    text = str(config.explain(parse(dump_list=[{"layer": ["a/1", "typo"]}]), like=table))
    assert 'Nothing is caught by layer "typo".' in text
    assert "Nothing of the example" not in text
    text = str(config.explain(parse(dump_list=[{"layer": ["typo"]}]), like=table))
    assert "Nothing of the example is dumped.\n" in text
    outputs = table.filter(io="output")
    text = str(config.explain(parse(dump_list=[{}], dump_mode="all"), like=outputs))
    assert "Not counted: inputs, because the example has none." in text


def caught(table: StatsTable, **keys: Any) -> dict[str, tuple[int, int | None, int | None, str]]:
    """Return operators, tensors, bytes and the note of each rule, by the rule."""
    found = config.footprint(parse(**keys), table)
    return {r.rule: (r.n_operators, r.n_tensors, r.nbytes, r.note) for r in found.rules}


def test_each_rule_tells_what_it_catches_in_one_step_of_one_rank(table: StatsTable) -> None:
    entry = {"layer": ["a/1", "a/2", "a_3", "*", "typo"], "model_name": "net.0"}
    keys: dict[str, Any] = {"dump_mode": "all", "dump_level": "op", "dump_step": "1|2-3|0-7"}
    assert caught(table, dump_list=[entry], **keys) == {
        "dump_mode all: inputs": (2, 2, 128, ""),
        "dump_mode all: outputs": (2, 2, 16, ""),
        "dump_level op: operators of graphs": (2, 4, 144, ""),
        "dump_step 1": (2, 4, 144, ""),
        "dump_step 2-3": (0, 0, 0, "the example has steps 0-1"),
        "dump_step 0-7": (2, 4, 144, "the example has steps 0-1"),
        'entry 0 of model "net.0"': (2, 4, 144, ""),
        'layer "a/1"': (1, 2, 72, ""),
        'layer "a/2"': (1, 2, 72, ""),
        'layer "a_3"': (0, 0, 0, 'the operator is called "a/3"'),
        'layer "*"': (0, 0, 0, "* is taken literally"),
        'layer "typo"': (0, 0, 0, ""),
    }
    found = config.footprint(parse(dump_list=[entry], **keys), table)
    assert [rule.place for rule in found.rules if rule.is_empty] == [
        "dump.dump_step",
        *(f"dump.dump_list[0].layer[{i}]" for i in (2, 3, 4)),
    ]
    assert [(p.rank, p.step, p.n_operators, p.n_tensors, p.nbytes) for p in found.parts] == [
        (rank, step, 2, 4, 144) for rank in (0, 1) for step in (0, 1)
    ]
    assert (found.n_operators, found.catches_nothing) == (2, False)


def test_ranges_and_blacklists_are_rules(table: StatsTable) -> None:
    entry = {
        "model_name": "net.0",
        "opname_range": [{"begin": "a/0", "end": "a/1"}, {"begin": "a/3", "end": "a/3"}],
        "optype_blacklist": [{"name": "MatMul", "pos": ["output0", "input0"]}],
        "opname_blacklist": [{"name": "a/0", "pos": ["output7"]}],
    }
    found = caught(table, dump_level="op", dump_list=[entry])
    assert found['opname_range "a/0" to "a/1"'] == (2, 2, 16, "")
    assert found['opname_range "a/3" to "a/3"'] == (1, 0, 0, "")
    assert found['optype_blacklist "MatMul" output0, input0'] == (1, 1, 8, "left out")
    assert found['opname_blacklist "a/0" output7'] == (0, 0, 0, "left out")
    assert found['entry 0 of model "net.0"'] == (3, 2, 16, "")


def test_an_entry_that_does_not_count_catches_nothing(table: StatsTable) -> None:
    found = caught(table, dump_list=[{"model_name": "net.0"}, {"layer": ["a/1"]}])
    assert found["entry 0"] == (0, 0, 0, "it does not count")
    assert found["entry 1 of all models"] == (1, 1, 8, "")


def test_what_the_example_has_no_tensors_of_is_not_known(table: StatsTable) -> None:
    outputs = table.filter(io="output")
    found = config.footprint(parse(dump_list=[{"layer": ["a/1"]}], dump_mode="input"), outputs)
    assert {rule.n_tensors for rule in found.rules} == {None}
    assert [rule for rule in found.rules if rule.is_empty and "layer" in rule.rule] == []
    assert not found.catches_nothing


def test_each_watched_and_each_executed_operator_is_a_rule(table: StatsTable) -> None:
    entry = {"watcher_nodes": ["a/0", "a/1", "x"], "layer": ["a/1", "a/2", "y"]}
    found = caught(table, dump_scene="watcher", dump_list=[entry])
    assert found['watcher_nodes "a/0"'] == (1, 2, 16, "")
    assert found['watcher_nodes "x"'] == (0, 0, 0, "")
    assert found['layer "a/2"'] == (1, 2, 16, ""), "both outputs are dumped again after it"
    assert found['layer "a/1"'] == (1, 0, 0, ""), "nothing is, after what is watched itself"
    assert found['layer "y"'] == (0, 0, 0, "")


def test_rules_in_words(table: StatsTable) -> None:
    layer = ["a/1", "a_2", *(f"n{i}" for i in range(30))]
    text = str(config.explain(parse(dump_list=[{"layer": layer}], dump_step="1"), like=table))
    assert "What each rule catches in one step of one rank\n" in text
    assert '          1        1    8 B    layer "a/1"\n' in text
    assert '          0        0    0 B    layer "a_2"\n' in text
    assert '                                 the operator is called "a/2"\n' in text
    assert "and 11 names more; --json lists all\n" in text
    assert "          1        1    8 B  example: ranks 0-1, step 1\n" in text


@pytest.mark.parametrize("width", [60, 80, 120])
def test_rules_fit_a_terminal_and_keep_layer_and_operation(make_arrow: Any, width: int) -> None:
    names = [f"model.decoder.transformer.layers.12.mlp.experts.{i}.proj/MatMulV2" for i in (3, 77)]
    row = {"op_type": "MatMulV2", "model": "net", "io": "output", "nbytes": 8, "path": "p"}
    table = StatsTable(make_arrow([{**row, "op_name": name} for name in names]))
    wanted = parse(dump_list=[{"layer": [*names, "x/" * 60]}], dump_step="1-99999999")
    explanation = config.explain(wanted, like=table)
    text = explanation.wrapped(width)
    lines = text[text.index("What each rule") : text.index("Which calls")].splitlines()
    assert max(map(len, lines)) <= width
    of_layer = [line for line in lines if "12" in line and 'MatMulV2"' in line]
    assert len(of_layer) == 2
    if width >= 80:
        assert "77" in of_layer[1]
    assert all(name in explanation.wrapped() for name in names), "pipes get all of it"


def test_an_empty_table_is_no_problem(table: StatsTable) -> None:
    found = config.footprint(parse(dump_list=[{}]), table[:0])
    assert (found.n_tensors, found.nbytes) == (0, 0)


# What a dump is


def test_a_model_dump_is_described(table: StatsTable) -> None:
    assert config.describe_dump(table) == config.DumpContents(
        kinds=("model",),
        data=("tensor",),
        mode="all",
        ranks=(0, 1),
        devices=(0, 1),
        steps=(0, 1),
        models=("net_0",),
        times=("20261120101112",),
        n_files=16,
        n_operators=4,
    )


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("20261120101112/0/net/1/0/Add.x.1.1.1700000000000000", "model"),
        ("20261120101112/0/Add.x.1.1.1700000000000000", "single operator"),
        ("20261120101112/0/net/1/0/Opdebug.Node_OpDebug.1.1.1700000000000000", "overflow"),
        ("20261120101112/0/OpDebug.Node_Opdebug.1.1.1700000000000000", "overflow"),
        ("extra-info/data-dump/0/Add.x.1.20261120101112123", "exception"),
        ("exception_info.5.1.1706152473105513", "exception"),
        ("a/after_gather.custom.20260114093042007", "custom"),
        ("20261120101112/0/Add.x.1.1.1700000000000000.output.0.npy", "converted"),
        ("worldsize2_global_rank0/20261120101112/0/Add.x.1.1.1700000000000000", "single operator"),
        ("somewhere/Add.x.1.1.1700000000000000", "unknown"),
    ],
)
def test_kinds_are_known_by_their_paths(make_arrow: Any, path: str, kind: str) -> None:
    model = "net" if "/net/" in path else None
    row = {"path": path, "op_type": "Add", "op_name": "x", "model": model, "io": "output"}
    contents = config.describe_dump(StatsTable(make_arrow([row])))
    assert contents.kinds == (kind,)
    assert contents.mode == "output"


TIME = "20261120101112"


def model_dir(root: Path) -> Path:
    return testing.model_dump_dir(root, time=TIME, device=0, model="net", model_id=1, step=0)


def write_statistics(root: Path) -> None:
    testing.write_statistics_csv(model_dir(root) / "Add.x.1.1.1700000000000000.csv", inputs=[INPUT])


def write_mindspore(root: Path) -> None:
    directory = testing.mindspore_dump_dir(root, rank=0, net="net", graph_id=0, iteration=1)
    tensor = testing.MindSporeTensor("Add", "Default_Add-op0", "input", 0, INPUT)
    testing.write_mindspore_csv(directory, [tensor])


def write_overflow(root: Path) -> None:
    record = testing.op_debug_payload(ai_core={"stream_id": 1, "task_id": 3, "status": 0x20})
    name = testing.op_debug_name(task_id=59, stream_id=1, timestamp=START)
    testing.write_op_debug(model_dir(root) / name, record)


def write_exception(root: Path) -> None:
    name = testing.exception_name(stream_id=5, task_id=1, timestamp=20260114093042007)
    argument = testing.kernel_argument(INPUT, 0)
    testing.write_dump(testing.exception_dump_dir(root, device=0) / name, inputs=[argument])


def write_custom(root: Path) -> None:
    name = testing.custom_dump_name("after_gather", timestamp=20260114093042007)
    testing.write_dump(root / name, inputs=[INPUT], op_name=name)


def write_single(root: Path) -> None:
    directory = testing.single_op_dump_dir(root, time=TIME, device=0)
    testing.write_dump(directory / "Add.x.1.1.1700000000000000", outputs=[INPUT])


def write_slices(root: Path) -> None:
    testing.write_ffts_slices(
        model_dir(root),
        "Add",
        "x",
        threads=2,
        inputs=[INPUT],
        outputs=[INPUT],
        task_id=7,
        stream_id=1,
        context_id=11,
        timestamp=START,
    )


@pytest.mark.parametrize(
    ("write_files", "kind", "data", "n_operators"),
    [
        (write_statistics, "model", "stats", 1),
        (write_mindspore, "model", "stats", 1),
        (write_overflow, "overflow", "tensor", 0),
        (write_exception, "exception", "tensor", 0),
        (write_custom, "custom", "tensor", 1),
        (write_single, "single operator", "tensor", 1),
        (write_slices, "model", "tensor", 1),
        (lambda root: testing.write_version_1(model_dir(root) / "Add.x.1.1.1700000000000000",
         inputs=[INPUT]), "model", "tensor", 1),
        (lambda root: testing.write_nano(model_dir(root) / "Add.x.1.1.1700000000000000",
         inputs=[INPUT]), "model", "tensor", 1),
    ],
)  # fmt: skip
def test_every_kind_of_file_is_described(
    tmp_path: Path, write_files: Callable[[Path], Any], kind: str, data: str, n_operators: int
) -> None:
    write_files(tmp_path)
    contents = config.describe_dump(fastdump.stats(tmp_path, level="health"))
    assert (contents.kinds, contents.data) == ((kind,), (data,))
    assert contents.n_operators == n_operators


def test_the_demo_dump_is_described(tmp_path: Path) -> None:
    demo.write_demo(tmp_path)
    contents = config.describe_dump(fastdump.stats(tmp_path, level="health"))
    assert (contents.kinds, contents.data, contents.mode) == (("model",), ("tensor",), "all")
    assert (contents.ranks, contents.steps) == ((0, 1), (0, 1))


def test_a_watcher_dump_is_known_by_its_pairs(make_arrow: Any) -> None:
    names = ["c", "a_To_c", "x_To_y"]
    rows = [{"op_name": name, "op_type": "Add", "model": "m", "path": name} for name in names]
    assert config.describe_dump(StatsTable(make_arrow(rows))).kinds == ("model", "watcher")
    assert config.describe_dump(StatsTable(make_arrow(rows[2:]))).kinds == ("model",)


def test_statistics_are_known_by_their_source(make_arrow: Any) -> None:
    rows = [{"source": "csv", "model": "m", "io": "input"}]
    contents = config.describe_dump(StatsTable(make_arrow(rows)))
    assert (contents.data, contents.mode) == (("stats",), "input")


# What is missing


@pytest.mark.parametrize(
    ("keys", "sentences"),
    [
        ({"dump_list": [{}], "dump_mode": "all"}, []),
        ({"dump_list": [{}], "dump_step": "0-1"}, []),
        ({"dump_list": [{}], "dump_step": "0|3-5"}, ["Steps of rank 0 are missing: 3, 4, 5."] * 2),
        ({"dump_list": [{"model_name": "net.0", "layer": ["a/1", "a_2"]}]}, []),
        (
            {"dump_list": [{"model_name": "net.0", "layer": ["a/1", "b", "c"]}]},
            ['Operators of model "net.0" are missing: "b", "c".'],
        ),
        ({"dump_list": [{"layer": ["b"]}]}, ['Operators are missing: "b".']),
        ({"dump_list": [{"model_name": "x"}]}, ['Model "x" is missing.']),
        (
            {"dump_list": [{}], "dump_data": "stats"},
            ["There are no statistics, although dump_data is stats."],
        ),
        (
            {"dump_scene": "watcher", "dump_list": [{"layer": ["a/0"], "watcher_nodes": ["a/1"]}]},
            ['"a/1" was not dumped again after "a/0".'],
        ),
        (
            {"dump_scene": "watcher", "dump_list": [{"watcher_nodes": ["b"]}]},
            ['The watched operator "b" itself is missing.'],
        ),
        ({"dump_debug": "on", "dump_step": "7"}, []),
        ({"dump_scene": "aic_err_norm_dump"}, []),
        ({}, []),
    ],
)
def test_what_was_promised_and_is_missing(
    table: StatsTable, keys: dict[str, Any], sentences: list[str]
) -> None:
    expected = [line.replace("rank 0", f"rank {i}") for i, line in enumerate(sentences)]
    if not any("Steps" in line for line in sentences):
        expected = sentences
    assert config.missing(parse(**keys), table) == expected


def test_inputs_that_are_missing(table: StatsTable) -> None:
    outputs = table.filter(io="output")
    assert config.missing(parse(dump_list=[{}]), outputs) == []
    for mode in ("input", "all"):
        assert config.missing(parse(dump_list=[{}], dump_mode=mode), outputs) == [
            f"There are no inputs, although dump_mode is {mode}."
        ]


def test_a_step_that_one_rank_lacks(table: StatsTable) -> None:
    keep = ~((table["rank"] == 1) & (table["step"] == 1))
    found = config.missing(parse(dump_list=[{}], dump_step="0-1"), table[keep])
    assert found == ["Steps of rank 1 are missing: 1."]


def test_an_operator_that_a_step_lacks(table: StatsTable) -> None:
    promise = parse(dump_list=[{"layer": ["a/0", "a/1"]}])
    lost = (table["rank"] == 1) & (table["step"] == 0) & (table["op_name"] == "a/1")
    assert config.missing(promise, table[~lost]) == [
        'Operator "a/1" is missing in step 0 of rank 1.'
    ]
    promise = parse(dump_list=[{"model_name": "net.0", "layer": ["a/1"]}])
    lost |= (table["rank"] == 0) & (table["op_name"] == "a/1")
    assert config.missing(promise, table[~lost]) == [
        'Operator "a/1" of model "net.0" is missing in step 0 of rank 0, step 1 of rank 0, '
        "step 0 of rank 1."
    ]


def test_a_whole_watcher_dump_lacks_nothing(make_arrow: Any) -> None:
    names = ["c", "d", "a_To_c", "a_To_d"]
    table = StatsTable(make_arrow([{"op_name": name, "op_type": "Add"} for name in names]))
    entry = {"layer": ["a", "c"], "watcher_nodes": ["c", "d"]}
    promise = parse(dump_scene="watcher", dump_list=[entry])
    assert config.missing(promise, table) == []
    assert config.missing(promise, table[:3]) == ['"d" was not dumped again after "a".']
