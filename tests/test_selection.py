"""Which tensors are meant: the same conditions pick the same tensors wherever they are accepted."""

from __future__ import annotations

import fnmatch
import inspect
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sample_dumps import (
    CONDITIONS,
    Demos,
    assert_same_rows,
    dump_name,
    keys,
    write_unusual,
)

import fastdump
from fastdump import NoDumpError, StatsRow, StatsTable, testing
from fastdump._cli import main

NUMBERS = ("rank", "device", "model_id", "step", "index")
SPELLINGS = ("model_layers_2*", "model.layers.2*", "model/layers/2*", r"model layers\2*")


@pytest.fixture(scope="module")
def demo_table(demos: Demos) -> StatsTable:
    return fastdump.stats(demos.model)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump in which conditions differ in what they pick, and of some files nothing is known."""
    root = write_unusual(tmp_path_factory.mktemp("mixed"))
    at = 100
    for rank, step, op_type, name in (
        (0, 0, "MatMul", "model.layers.2/MatMul"),
        (0, 3, "MatMul", "model.layers.20/MatMul"),
        (1, 3, "Add", "model/layers 2/Add"),
        (1, 4, "Add", "model_layers_2_Add"),
        (11, 12, "Mul", "model.layers.2[1]/Mul"),
    ):
        place = testing.model_dump_dir(
            testing.rank_dir(root, world_size=16, rank=rank),
            time="20260114093042",
            device=rank % 8,
            model="net",
            model_id=rank,
            step=step,
        )
        at += 1
        dtype = np.float16 if rank else np.float32
        testing.write_dump(
            place / dump_name(name, at, op_type),
            op_name=name,
            inputs=[np.ones(at, dtype)] * (rank + 1),
            outputs=[np.full(3, np.nan, np.float32)],
        )
    # Names that headers alone tell: of digits, and of another operator than the file says.
    testing.write_dump(root / "1234567890", op_name="model.layers.2/Add", outputs=[np.ones(3)])
    return root


# An independent rule


def norm(name: str) -> str:
    """Return a name with what file names do not have replaced."""
    for letter in " ./\\":
        name = name.replace(letter, "_")
    return name


def numbers_of(value: Any) -> set[int]:
    """Return the numbers that a condition means, each spelled out."""
    if isinstance(value, str):
        found: set[int] = set()
        for part in value.replace("|", ",").split(","):
            first, _, last = part.partition("-")
            found |= set(range(int(first), int(last or first) + 1))
        return found
    if isinstance(value, (list, tuple, set, range, np.ndarray)):
        return set().union(*map(numbers_of, value))
    return {int(value)}


def meets(row: StatsRow, name: str, value: Any) -> bool:
    """Tell whether a row meets one condition, by plain Python and fnmatch."""
    of_row = getattr(row, name)
    if of_row is None:
        return False
    if name in NUMBERS:
        return of_row in numbers_of(value)
    wanted = [value] if isinstance(value, str) else list(value)
    if name in ("io", "status"):
        return of_row in wanted
    if name == "op_name":
        return any(fnmatch.fnmatchcase(norm(of_row), norm(pattern)) for pattern in wanted)
    return any(fnmatch.fnmatchcase(of_row, pattern) for pattern in wanted)


def chosen(table: StatsTable, conditions: dict[str, Any]) -> list[StatsRow]:
    return [row for row in table if all(meets(row, *item) for item in conditions.items())]


# One condition after the other, and several


CASES: list[dict[str, Any]] = [
    {"rank": 1},
    {"rank": "0"},
    {"rank": [0, 1]},
    {"rank": np.int64(1)},
    {"rank": range(1, 5)},
    {"step": "0-1"},
    {"step": "1-7"},
    {"step": ("0", 1)},
    {"device": 1},
    {"model_id": "1,3"},
    {"index": "1,2"},
    {"index": "1|2-9"},
    {"index": " 0 , 2 "},
    {"index": np.array([0, 2])},
    {"index": range(0, 10, 2)},
    {"time": "2026*"},
    {"time": ["never", "20260114093042"]},
    {"model": "demo_*"},
    {"op_type": "MatMul*"},
    {"op_type": "*Mul*"},
    {"op_type": "[CM]*"},
    {"op_type": ["RmsNorm", "M?l*"]},
    {"op_type": ("Cast", "Add")},
    {"op_name": "*/Add_*"},
    {"op_name": "*_Add_ml?"},
    {"op_name": "loss/AllReduce"},
    {"op_name": ["*layers.[12]?self_attn*", "lm_head*"]},
    *({"op_name": spelling} for spelling in SPELLINGS),
    {"io": "input"},
    {"io": ["input", "output"]},
    {"dtype": "float*"},
    {"dtype": ["int64", "bool"]},
    {"status": "truncated"},
    {"status": ["truncated", "absent"]},
    {"status": "ok"},
    {"rank": 1, "step": 1, "op_name": "model.layers.2*", "io": "output"},
    {"op_type": "Cast", "dtype": "float32", "io": "output"},
    {"status": "truncated", "io": "input"},
    {"device": 0, "model": "*", "time": "*", "model_id": 1},
]


@pytest.mark.parametrize("conditions", CASES, ids=str)
def test_each_way_picks_what_plain_python_picks(
    demos: Demos, demo_table: StatsTable, conditions: dict[str, Any]
) -> None:
    expected = chosen(demo_table, conditions)
    assert expected
    filtered = demo_table.filter(**conditions)
    assert list(filtered) == expected
    assert_same_rows(fastdump.stats(demos.model, **conditions), filtered)
    dump = fastdump.open(demos.model)
    selected = dump.select(**conditions)
    assert_same_rows(selected.stats(), filtered)
    assert [
        (str(Path(t.path).relative_to(demos.model)), t.io, t.index, t.offset)
        for t in selected.tensors()
    ] == keys(expected)
    assert [op.relative for op in selected] == list(dict.fromkeys(row.path for row in expected))


def test_all_conditions_are_among_the_cases() -> None:
    assert {name for case in CASES for name in case} == set(CONDITIONS)


def _strategy() -> st.SearchStrategy[dict[str, Any]]:
    numbers = st.one_of(
        st.integers(0, 13),
        st.lists(st.integers(0, 13), min_size=1, max_size=3),
        st.tuples(st.integers(0, 13), st.integers(0, 13)).map(lambda t: f"{min(t)}-{max(t)}"),
        st.lists(st.integers(0, 13), min_size=1, max_size=3).map(lambda n: ",".join(map(str, n))),
    )
    patterns = {
        "time": ["2026*", "*"],
        "model": ["net", "n?t", "[!n]*"],
        "op_type": ["Add", "M*", "*[dl]", "A[dx]d"],
        "op_name": [
            *("model.layers.2*", "model_layers_2*", "net*", "net?[ac]*", "*Add", "*.2/*"),
            *("model/layers.2_Add", "*[[]1]*", "*2[.]MatMul", "[!m]*"),
        ],
        "dtype": ["float*", "float16", "*[!6]"],
        "io": ["input", "output", "buffer", "space"],
        "status": ["ok", "truncated", "absent", "size_mismatch", "unsupported", "malformed"],
    }
    values = dict.fromkeys(NUMBERS, numbers) | {
        name: st.one_of(st.sampled_from(texts), st.lists(st.sampled_from(texts), min_size=1))
        for name, texts in patterns.items()
    }
    return st.fixed_dictionaries({}, optional=values).filter(lambda found: 0 < len(found) < 5)


_mixed_tables: dict[Path, tuple[StatsTable, fastdump.Dump]] = {}


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(conditions=_strategy())
def test_any_combination_picks_the_same(mixed: Path, conditions: dict[str, Any]) -> None:
    if mixed not in _mixed_tables:
        _mixed_tables[mixed] = fastdump.stats(mixed), fastdump.open(mixed)
    table, dump = _mixed_tables[mixed]
    expected = chosen(table, conditions)
    filtered = table.filter(**conditions)
    assert list(filtered) == expected
    assert (filtered.remark == "") == bool(expected)
    selected = dump.select(**conditions)
    if not expected:
        for ask in (lambda: fastdump.stats(mixed, **conditions), selected.stats):
            with pytest.raises(NoDumpError):
                ask()
        return
    assert list(fastdump.stats(mixed, **conditions)) == expected
    assert list(selected.stats()) == expected
    names, others = dict(list(conditions.items())[::2]), dict(list(conditions.items())[1::2])
    assert list(dump.select(**names).select(**others).stats()) == expected
    assert list(fastdump.stats(dump.select(**names), **others)) == expected
    assert list(fastdump.stats(table.filter(**others), **names)) == expected


def test_conditions_add_up_in_any_order(demos: Demos, demo_table: StatsTable) -> None:
    shuffled = random.Random(5)
    dump = fastdump.open(demos.model)
    conditions = {"op_type": "M*", "io": "input", "rank": 1, "index": "1-2", "step": "0"}
    expected = keys(chosen(demo_table, conditions))
    for _ in range(5):
        items = list(conditions.items())
        shuffled.shuffle(items)
        narrowed, selected = demo_table, dump
        for name, value in items:
            narrowed = narrowed.filter(**{name: value})
            selected = selected.select(**{name: value})
        assert keys(list(narrowed)) == expected
        assert keys(list(selected.stats())) == expected


def test_the_same_condition_twice_asks_for_both(demos: Demos, demo_table: StatsTable) -> None:
    dump = fastdump.open(demos.model).select(op_type="M*").select(op_type="*2", io="output")
    expected = [row for row in demo_table if (row.op_type, row.io) == ("MatMulV2", "output")]
    assert keys(list(dump.stats())) == keys(expected)
    assert keys(list(fastdump.stats(dump, io=["input", "output"]))) == keys(expected)
    with pytest.raises(NoDumpError, match="no tensor meets all conditions"):
        fastdump.stats(dump, io="input")


# One name, in all places


def test_both_spellings_of_a_name_pick_some_but_not_all(demo_table: StatsTable) -> None:
    expected = chosen(demo_table, {"op_name": SPELLINGS[0]})
    assert {row.layer for row in expected} == {2}
    assert all((row.op_name or "").startswith("model.layers.2") for row in expected)
    assert 100 < len(expected) < len(demo_table) / 2


@pytest.mark.parametrize("pattern", SPELLINGS)
def test_a_name_in_triage(demos: Demos, demo_table: StatsTable, pattern: str) -> None:
    expected = chosen(demo_table, {"op_name": SPELLINGS[0]})
    report = fastdump.triage(demos.model, op_name=pattern)
    assert report.summary["tensors"] == len(expected)
    assert report.summary["operators"] == len({row.path for row in expected})
    assert keys([report.origins[0].tensor])[0] in keys(expected)


@pytest.mark.parametrize("pattern", SPELLINGS)
def test_a_name_in_compare(demos: Demos, demo_table: StatsTable, pattern: str) -> None:
    expected = chosen(demo_table, {"op_name": SPELLINGS[0]})
    pairs = [(row.path, row.io, row.index, row.offset) for row in expected]
    table = fastdump.compare(demos.model, demos.model, op_name=pattern)
    assert [(row.path_a, row.io, row.index, row.offset_a) for row in table] == pairs
    whole = fastdump.compare(demos.model, demos.model).filter(op_name=pattern)
    assert [(row.path_b, row.io_b, row.index_b, row.offset_b) for row in whole] == pairs


@pytest.mark.parametrize("pattern", SPELLINGS[:2])
def test_a_name_in_convert(
    demos: Demos, demo_table: StatsTable, pattern: str, tmp_path: Path
) -> None:
    expected = chosen(demo_table, {"op_name": SPELLINGS[0]})
    report = fastdump.convert(demos.model, tmp_path, op_name=pattern)
    assert (report.files, report.written) == (len({row.path for row in expected}), len(expected))
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.npy")}
    names = {report.renamed.get(name, Path(name).name) for name in written}
    for row in expected:
        assert f"{Path(row.path).name}.{row.tensor_name}.npy" in names


@pytest.mark.parametrize("pattern", SPELLINGS)
def test_a_name_in_overflow(demos: Demos, pattern: str) -> None:
    everything = fastdump.overflow(demos.overflow)
    report = fastdump.overflow(demos.overflow, op_name=pattern)
    assert len(report.findings) == len(everything.findings) == 2
    assert report.to_dict() == everything.to_dict()
    assert fastdump.overflow(demos.overflow, op_name="*OpDebug").findings == ()


@pytest.mark.parametrize("layer", [1, 2])
def test_a_name_in_watcher(demos: Demos, layer: int) -> None:
    everything = fastdump.watcher(demos.watcher).comparisons
    wanted = f"model.layers.{layer}*"
    expected = [one for one in everything if fnmatch.fnmatchcase(one.op_name or "", wanted)]
    assert len(expected) == (len(everything) if layer == 1 else 0)
    for pattern in (wanted, norm(wanted)):
        report = fastdump.watcher(demos.watcher, op_name=pattern)
        assert list(report.comparisons) == expected
        assert len(report.findings) == (layer == 1)


def test_a_selected_watcher_counts_what_is_selected(demos: Demos) -> None:
    everything = fastdump.watcher(demos.model)
    selected = fastdump.watcher(demos.model, op_type="Swish")
    # 2 ranks, 2 steps and 4 layers, each with one Swish, whose output one operator reads.
    assert selected.counts == {"same": 16}
    assert everything.counts["same"] > 16
    assert selected.sentence.startswith("no change: 16 inputs equal")


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def document(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(capsys, *arguments, "--json")[1])
    return found


@pytest.mark.parametrize("pattern", SPELLINGS[:2])
def test_a_name_on_the_command_line(
    demos: Demos,
    demo_table: StatsTable,
    pattern: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    expected = chosen(demo_table, {"op_name": SPELLINGS[0]})
    option = ("--op-name", pattern)
    listed = document(capsys, "ls", demos.model, *option)
    assert listed["files"] == len({row.path for row in expected})
    assert listed["tensors"] == len(expected)
    rows = document(capsys, "stats", demos.model, *option)["rows"]
    assert [(row["path"], row["io"], row["index"], row["offset"]) for row in rows] == keys(expected)
    assert document(capsys, "triage", demos.model, *option)["summary"]["tensors"] == len(expected)
    pairs = document(capsys, "compare", demos.model, demos.model, *option)["rows"]
    assert [(row["path_a"], row["io"], row["index"], row["offset_a"]) for row in pairs] == keys(
        expected
    )
    converted = document(capsys, "convert", demos.model, tmp_path / "out", *option)
    assert converted["written"] == len(expected)
    assert len(document(capsys, "overflow", demos.overflow, *option)["findings"]) == 2
    option = ("--op-name", pattern.replace("2", "1"))
    assert len(document(capsys, "watcher", demos.watcher, *option)["findings"]) == 1


@pytest.mark.parametrize(
    "conditions",
    [
        {"rank": ["1"], "step": ["0-1"]},
        {"index": ["1,2"], "io": ["input"]},
        {"op_type": ["MatMul*", "Cast"], "dtype": ["float*"]},
        {"op_name": ["*layers.1*", "lm_head*"], "step": ["1"]},
        {"status": ["truncated"], "device": ["0"], "model_id": ["1"], "model": ["demo*"]},
        {"time": ["2026*"], "rank": ["0", "1"], "index": ["2"]},
    ],
    ids=str,
)
def test_options_are_the_conditions(
    demos: Demos,
    demo_table: StatsTable,
    conditions: dict[str, list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = [
        argument
        for name, values in conditions.items()
        for value in values
        for argument in ("--" + name.replace("_", "-"), value)
    ]
    expected = chosen(demo_table, conditions)
    assert 0 < len(expected) < len(demo_table)
    rows = document(capsys, "stats", demos.model, *options)["rows"]
    assert [(row["path"], row["io"], row["index"], row["offset"]) for row in rows] == keys(expected)
    assert document(capsys, "ls", demos.model, *options)["tensors"] == len(expected)


def test_every_function_and_command_has_every_condition() -> None:
    functions: list[Callable[..., Any]] = [
        *(fastdump.stats, fastdump.triage, fastdump.compare, fastdump.convert),
        *(fastdump.overflow, fastdump.watcher),
        *(fastdump.Dump.select, StatsTable.filter, fastdump.ComparisonTable.filter),
    ]
    for function in functions:
        parameters = inspect.signature(function).parameters
        assert set(CONDITIONS) <= parameters.keys(), function
        assert all(parameters[name].default is None for name in CONDITIONS), function


@pytest.mark.parametrize(
    "command", ["ls", "stats", "triage", "compare", "convert", "overflow", "watcher"]
)
def test_every_command_has_every_condition(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, command, "--help")
    assert code == 0
    for name in CONDITIONS:
        assert f"--{name.replace('_', '-')} " in out


# What is refused


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    *(({name: []}, ValueError, f"{name} is empty, expected at least one") for name in CONDITIONS),
    ({"rank": "x"}, ValueError, "rank is 'x', expected 3, a range (3-5) or a list (1,4)"),
    ({"step": "5-3"}, ValueError, "step is '5-3', in which '5-3' is an empty range"),
    ({"step": ["1", "2-"]}, ValueError, "step is '2-', expected 3, a range (3-5) or a list (1,4)"),
    ({"index": ""}, ValueError, "index is '', expected 3, a range (3-5) or a list (1,4)"),
    ({"index": "1,,2"}, ValueError, "index is '1,,2', expected 3, a range (3-5) or a list (1,4)"),
    ({"device": 1.5}, TypeError, "device is 1.5, expected an integer, a range such as '3-5'"),
    ({"model_id": [None]}, TypeError, "model_id is None, expected an integer"),
    ({"rank": 2**63}, ValueError, "expected 64-bit integers"),
    ({"rank": range(0)}, ValueError, "rank is empty, expected at least one"),
    ({"op_name": 3}, TypeError, "op_name is 3, expected a str or several"),
    ({"op_type": ["a", b"b"]}, TypeError, "op_type is ['a', b'b'], expected a str or several"),
    ({"io": "outputs"}, ValueError, "io is 'outputs', expected some of input, output, buffer"),
    ({"status": ["ok", "bad"]}, ValueError, "status is ['ok', 'bad'], expected some of ok,"),
    ({"name": "a"}, TypeError, "'name' is not an argument; conditions are rank, time, device"),
]


def askers(demos: Demos, out: Path) -> Iterator[Callable[..., object]]:
    """Yield each function that takes conditions, with what it is asked about."""
    table = fastdump.stats(demos.overflow)
    yield lambda **conditions: fastdump.stats(demos.overflow, **conditions)
    yield lambda **conditions: fastdump.stats(table, **conditions)
    yield lambda **conditions: fastdump.stats(fastdump.open(demos.overflow), **conditions)
    yield fastdump.open(demos.overflow).select
    yield table.filter
    yield lambda **conditions: fastdump.triage(demos.overflow, **conditions)
    yield lambda **conditions: fastdump.compare(demos.overflow, demos.overflow, **conditions)
    yield lambda **conditions: fastdump.convert(demos.overflow, out, **conditions)
    yield lambda **conditions: fastdump.overflow(demos.overflow, **conditions)
    yield lambda **conditions: fastdump.watcher(demos.overflow, **conditions)


@pytest.mark.parametrize(("conditions", "error", "sentence"), REFUSED, ids=str)
def test_wrong_values_are_refused_with_one_sentence(
    demos: Demos,
    conditions: dict[str, Any],
    error: type[Exception],
    sentence: str,
    tmp_path: Path,
) -> None:
    sentences = set()
    for ask in askers(demos, tmp_path / "out"):
        with pytest.raises(error) as caught:
            ask(**conditions)
        assert type(caught.value) is error
        sentences.add(str(caught.value))
    (said,) = sentences
    assert sentence in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "command", ["ls", "stats", "triage", "compare", "convert", "overflow", "watcher"]
)
def test_wrong_values_on_the_command_line(
    demos: Demos, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    second = {"compare": [demos.overflow], "convert": [tmp_path / "out"]}.get(command, [])
    for option, value, sentence in (
        ("--rank", "x", "--rank is 'x', expected 3, a range (3-5) or a list (1,4)"),
        ("--step", "5-3", "--step is '5-3', in which '5-3' is an empty range"),
        ("--model-id", "", "--model-id is '', expected 3, a range (3-5) or a list (1,4)"),
    ):
        arguments = (command, demos.overflow, *second, option, value)
        code, out, err = run(capsys, *arguments)
        assert (code, out) == (2, "")
        assert err == f"fastdump: error: {sentence}; see 'fastdump {command} --help'\n"
    code, _, err = run(capsys, command, demos.overflow, *second, "--io", "outputs")
    assert code == 2
    assert "'outputs' is not one of 'input', 'output', 'buffer', 'space'" in err
    assert not (tmp_path / "out").exists()


def test_none_selects_everything(demos: Demos, demo_table: StatsTable) -> None:
    nothing = dict.fromkeys(CONDITIONS)
    assert len(fastdump.stats(demos.model, **nothing)) == len(demo_table)
    assert len(demo_table.filter(**nothing)) == len(demo_table)
    assert len(fastdump.open(demos.model).select(**nothing)) == 476


# What is not there


ABSENT: list[tuple[dict[str, Any], str]] = [
    ({"rank": 9}, "no rank 9 (ranks present: 1)"),
    ({"step": 9}, "no step 9 (steps present: 1, 3)"),
    ({"step": "5-7,20"}, "no step 5-7, 20 (steps present: 1, 3)"),
    ({"device": 2}, "no device 2 (devices present: 1)"),
    ({"model_id": 2}, "no model_id 2 (model_ids present: "),
    ({"index": 77}, "no index 77 (indices present: 0-1)"),
    ({"time": "1999*"}, "no time '1999*' (times present: "),
    ({"model": "other"}, "no model 'other' (models present: "),
    ({"op_type": "Conv*"}, "no op_type 'Conv*' (op_types present: BatchMatMulV2, Opdebug)"),
    ({"op_name": ["x", "y*"]}, "no op_name 'x', 'y*' (op_names present: "),
    ({"dtype": "float3"}, "no dtype 'float3' (dtypes present: float16, uint8)"),
    ({"status": "absent"}, "no status 'absent' (statuses present: ok)"),
    ({"rank": 1, "step": 2}, "no step 2 (steps present: 1, 3)"),
]


def test_the_absent_are_of_all_conditions() -> None:
    assert {name for conditions, _ in ABSENT for name in conditions} == set(CONDITIONS) - {"io"}


def said_by(empty: object) -> None:
    """Raise NoDumpError with what a dump or table of nothing says when it is looked at."""
    assert isinstance(empty, (StatsTable, fastdump.Dump))
    assert len(empty) == 0
    if isinstance(empty, fastdump.Dump):
        empty.stats()
    assert empty.remark in repr(empty)
    raise NoDumpError(empty.remark)


@pytest.mark.parametrize(("conditions", "sentence"), ABSENT, ids=str)
def test_what_is_not_there_is_told_with_what_is(
    demos: Demos,
    conditions: dict[str, Any],
    sentence: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for ask in askers(demos, tmp_path / "out"):
        with pytest.raises(NoDumpError) as caught:
            said_by(ask(**conditions))
        assert sentence in str(caught.value)
    options = [
        argument
        for name, value in conditions.items()
        for one in (value if isinstance(value, list) else [value])
        for argument in ("--" + name.replace("_", "-"), one)
    ]
    for command in ("ls", "stats", "triage", "compare", "convert", "overflow", "watcher"):
        second = {"compare": [demos.overflow], "convert": [tmp_path / "out"]}.get(command, [])
        code, out, err = run(capsys, command, demos.overflow, *second, *options)
        assert (code, out) == (2, ""), command
        assert sentence in err, command
        assert err.count("\n") == 1, command


def test_a_table_in_a_file_tells_it_too(
    demos: Demos, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fastdump.stats(demos.model).write(tmp_path / "table.parquet")
    with pytest.raises(NoDumpError, match=r"no step 9 \(steps present: 0-1\)"):
        fastdump.stats(tmp_path / "table.parquet", step=9)
    code, out, err = run(capsys, "stats", tmp_path / "table.parquet", "--step", 9)
    assert (code, out) == (2, "")
    assert "no step 9 (steps present: 0-1)" in err


def test_conditions_that_exclude_each_other_are_told(demos: Demos) -> None:
    """Each is met by some tensor, no tensor meets both."""
    conditions = {"op_type": "Cast", "dtype": "bool"}
    table = fastdump.stats(demos.model)
    assert all(chosen(table, {name: value}) for name, value in conditions.items())
    for ask in (
        lambda: fastdump.stats(demos.model, **conditions),
        lambda: fastdump.stats(table, **conditions),
        lambda: fastdump.triage(demos.model, **conditions),
    ):
        with pytest.raises(NoDumpError, match=r"no dtype 'bool'|no tensor meets all conditions"):
            ask()


def test_a_selection_is_a_value() -> None:
    first = fastdump.Selection.of({"step": "3-5", "op_name": "a*"})
    assert first == fastdump.Selection.of({"op_name": ["a*"], "step": [5, "4", 3]})
    assert hash(first) == hash(fastdump.Selection.of({"op_name": ["a*"], "step": [5, "4", 3]}))
    assert first != fastdump.Selection.of({"step": "3-4,6", "op_name": "a*"})
    assert first
    assert not fastdump.Selection.of({"step": None})
