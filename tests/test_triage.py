"""`fastdump.triage`: each fault that was planted is found, named and traced to where it began."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from faulty_models import CLEAN, FAULTS, Fault, Planted, write_model

import fastdump
from fastdump import TriageReport
from fastdump.demo import DemoDump, write_demo

ModelOf = Callable[..., Path]


@pytest.fixture(scope="session")
def model_of(tmp_path_factory: pytest.TempPathFactory) -> ModelOf:
    """Return a function that writes a model with a fault, once for the same options."""
    written: dict[tuple[Any, ...], Path] = {}

    def model(fault: Fault, **options: Any) -> Path:
        key = (id(fault), *sorted(options.items()))
        if key not in written:
            written[key] = tmp_path_factory.mktemp("model")
            write_model(written[key], fault, **options)
        return written[key]

    return model


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, DemoDump]:
    directory = tmp_path_factory.mktemp("demo") / "dump"
    return directory, write_demo(directory)


def in_file_name(op_name: str) -> str:
    """Return a name as that of a file has it: all that statistics in CSV files tell."""
    return op_name.replace("/", "_").replace(".", "_")


def assert_found(report: TriageReport, planted: Planted, *, verdict: str | None = None) -> None:
    """The first finding is what was planted."""
    assert report.findings, report.sentence
    found = report.findings[0]
    assert found.origin is not None
    operator = found.origin.operator
    assert (found.kind, operator.op_type) == (planted.kind, planted.op_type), report.sentence
    assert in_file_name(operator.op_name or "") == in_file_name(planted.op_name)
    assert (operator.rank, operator.step) == (planted.rank, planted.step)
    assert found.origin.verdict == (verdict or planted.verdict)


# The demo dump


def test_the_fault_of_the_demo_is_found_and_named(demo: tuple[Path, DemoDump]) -> None:
    directory, planted = demo
    report = fastdump.triage(directory)
    (found,) = report.findings
    assert (found.kind, found.severity) == ("inf", "error")
    origin = found.origin
    assert origin is not None
    assert origin.verdict == "origin"
    assert origin.operator.paths == (planted.overflow.path.relative_to(directory).as_posix(),)
    assert (origin.operator.rank, origin.operator.step) == (
        planted.overflow.rank,
        planted.overflow.step,
    )
    assert (origin.operator.op_type, origin.operator.op_name) == (
        "BatchMatMulV2",
        planted.overflow.op_name,
    )


def test_the_sentence_of_the_demo_says_what_to_act_on(demo: tuple[Path, DemoDump]) -> None:
    directory, planted = demo
    sentence = fastdump.triage(directory).sentence
    assert sentence.startswith(
        f"rank {planted.overflow.rank}, step {planted.overflow.step}: "
        "+Inf first appears in layer 2, self_attn/BatchMatMul_qk; "
        f"operator: BatchMatMulV2 {planted.overflow.op_name}, output.0; what: 4 of 4,608 float16 "
    )
    assert sentence.endswith("; why: overflow: finite inputs up to 135.1, float16 ends at 65,504")


def test_the_fault_of_the_demo_is_traced_on_both_ranks(demo: tuple[Path, DemoDump]) -> None:
    directory, planted = demo
    (found,) = fastdump.triage(directory).findings
    types = [infected.operator.op_type for infected in found.chain]
    assert types[:4] == ["Muls", "Add", "SoftmaxV2", "BatchMatMulV2"]
    names = [infected.operator.op_name or "" for infected in found.chain]
    assert names[-1].startswith("next_token")
    assert {infected.certainty for infected in found.chain} == {"exact"}
    (received,) = found.received
    assert (received.operator.rank, received.operator.op_type) == (
        1 - planted.overflow.rank,
        "HcomAllReduce",
    )
    assert received.known_by == ("collective",)
    assert set(dict(found.infected)) == {0, 1}


def test_the_masks_of_the_demo_are_suppressed(demo: tuple[Path, DemoDump]) -> None:
    directory, _ = demo
    report = fastdump.triage(directory)
    assert {one.pattern for one in report.suppressed} == {"mask"}
    assert "SelectV2" in {one.op_type for one in report.suppressed}


def test_a_demo_without_its_fault_is_clean(demo: tuple[Path, DemoDump]) -> None:
    directory, planted = demo
    steps = set(range(3)) - {planted.overflow.step}
    report = fastdump.triage(directory, step=sorted(steps))
    assert report.clean, report.sentence
    assert report.sentence.startswith("nothing bad in ")


# Every kind of fault


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_found(name: str, model_of: ModelOf) -> None:
    fault = FAULTS[name]
    assert fault.planted is not None
    assert_found(fastdump.triage(model_of(fault)), fault.planted)


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_found_among_equal_times(name: str, model_of: ModelOf) -> None:
    """Several operators have the same timestamp, and nothing else orders them."""
    fault = FAULTS[name]
    assert fault.planted is not None
    directory = model_of(fault, tick_us=400, task_ids=False)
    assert_found(fastdump.triage(directory), fault.planted)


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_found_in_a_table_without_files(
    name: str, model_of: ModelOf, tmp_path: Path
) -> None:
    fault = FAULTS[name]
    assert fault.planted is not None
    fastdump.stats(model_of(fault), level="full").write(tmp_path / "stats.parquet")
    table = fastdump.read_stats(tmp_path / "stats.parquet", root=tmp_path / "nowhere")
    report = fastdump.triage(table)
    assert_found(report, fault.planted)
    assert any("files are not at hand" in note for note in report.notes)
    assert report.findings[0].origin is not None
    assert report.findings[0].origin.damage is None


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("level", ["basic", "health"])
def test_lower_levels_tell_what_they_can(name: str, level: Any, model_of: ModelOf) -> None:
    fault = FAULTS[name]
    assert fault.planted is not None
    report = fastdump.triage(fastdump.stats(model_of(fault), level=level))
    if level == "basic" or (fault.planted.kind in ("nan", "inf") and name != "negative_overflow"):
        assert_found(report, fault.planted)
    else:
        assert report.clean, report.sentence
        assert any("nothing but NaN and +Inf was looked for" in note for note in report.notes)


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_found_in_statistics_of_the_device(name: str, model_of: ModelOf) -> None:
    fault = FAULTS[name]
    assert fault.planted is not None
    report = fastdump.triage(model_of(fault, csv=True))
    assert_found(report, fault.planted)
    assert any("statistics that the device computed" in note for note in report.notes)


@pytest.mark.parametrize("name", FAULTS)
def test_of_outputs_alone_the_first_bad_one_is_told(name: str, model_of: ModelOf) -> None:
    fault = FAULTS[name]
    assert fault.planted is not None
    report = fastdump.triage(model_of(fault, mode="output"))
    planted = fault.planted
    if name == "overwritten":
        # Who overwrote what was not dumped again cannot be known: its first reader shows it.
        assert planted.verdict == "overwritten"
    assert_found(report, planted, verdict="unknown")
    origin = report.origins[0]
    assert "its inputs were not dumped" in origin.reason
    assert any("inputs were not dumped" in note for note in report.notes)


def test_of_outputs_alone_the_last_clean_operator_is_told(model_of: ModelOf) -> None:
    (origin,) = fastdump.triage(model_of(FAULTS["wrong_mask"], mode="output")).origins
    assert origin.last_clean is not None
    assert origin.last_clean.op_name == "model.layers.0.self_attn/Add_mask"
    assert (origin.last_clean.rank, origin.last_clean.step) == (0, 1)


# Of inputs alone only the reader of what became bad is seen, and the operator before it.
FIRST_READERS = {
    "overflow": ("model.layers.1.self_attn/Muls", "model.layers.1.self_attn/BatchMatMul_qk"),
    "zero_division": ("model.layers.0.self_attn.q/MatMul", "model.layers.0.input_norm/RmsNorm"),
    "wrong_mask": ("model.layers.0.self_attn/BatchMatMul_pv", "model.layers.0.self_attn/SoftmaxV2"),
    "kernel_nan": ("model.layers.2/Add", "model.layers.2.self_attn.o/MatMul"),
    "overwritten": ("model.layers.2/Add", "model.layers.2.self_attn.o/MatMul"),
}


@pytest.mark.parametrize("name", FIRST_READERS)
def test_of_inputs_alone_the_first_reader_is_told(name: str, model_of: ModelOf) -> None:
    reader, before = FIRST_READERS[name]
    report = fastdump.triage(model_of(FAULTS[name], mode="input"))
    origin = report.origins[0]
    assert origin.verdict == "unknown"
    assert origin.operator.op_name == reader
    assert "only inputs were dumped" in origin.reason
    assert f"{before} ran before it and read clean values" in origin.reason
    assert origin.last_clean is not None
    assert origin.last_clean.op_name == before


@pytest.mark.parametrize("mode", ["all", "output", "input"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tick_us": 400, "task_ids": False},
        {"mask_value": -65504.0},
        {"saturating": True, "mask_value": -65504.0},
        {"csv": True},
        {"n_ranks": 1},
        {"n_ranks": 4, "n_steps": 1},
    ],
    ids=lambda options: ",".join(options) or "plain",
)
def test_a_clean_model_has_no_finding(
    mode: str, options: dict[str, Any], model_of: ModelOf
) -> None:
    report = fastdump.triage(model_of(CLEAN, mode=mode, **options))
    assert report.clean, report.sentence
    assert not report.origins


# What is told of a fault


def test_a_rank_that_receives_nan_is_no_origin(model_of: ModelOf) -> None:
    """NaN of rank 1 comes to all ranks through an all-reduce whose files are apart."""
    report = fastdump.triage(model_of(FAULTS["bad_data"], n_ranks=4))
    (found,) = report.findings
    assert_found(report, FAULTS["bad_data"].planted or Planted("", "", "", 0, 0))
    assert [one.operator.rank for one in found.received] == [0, 2, 3]
    for received in found.received:
        assert received.operator.op_type == "HcomAllReduce"
        assert received.known_by == ("collective",)
        assert received.certainty == "probable"
        # Inputs in one file, outputs in another.
        assert len(received.operator.paths) == 2
    # The all-reduce, and the two operators after it.
    assert [dict(found.infected)[rank] for rank in (0, 2, 3)] == [3, 3, 3]


def test_links_are_known_by_content_and_address(model_of: ModelOf) -> None:
    (found,) = fastdump.triage(model_of(FAULTS["kernel_nan"])).findings
    first = found.chain[0]
    assert first.operator.op_name == "model.layers.2/Add"
    assert first.read is not None
    assert (first.read.io, first.read.index) == ("input", 1)
    assert first.made is not None
    assert first.made.io == "output"
    assert first.known_by == ("content", "address")
    assert first.certainty == "exact"
    assert found.chain[-1].operator.op_name == "grads/Clip"


def test_without_files_links_are_known_by_statistics(model_of: ModelOf, tmp_path: Path) -> None:
    table = fastdump.stats(model_of(FAULTS["kernel_nan"]), level="full")
    (found,) = fastdump.triage(table, root=tmp_path / "nowhere").findings
    assert found.chain[0].known_by == ("statistics",)
    assert found.chain[0].certainty == "probable"
    root = model_of(FAULTS["kernel_nan"])
    (with_files,) = fastdump.triage(table, root=root).findings
    assert with_files.chain[0].known_by == ("content", "address")


def test_what_is_too_large_to_hash_is_known_by_address(
    model_of: ModelOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fastdump._triage import files

    monkeypatch.setattr(files, "_MAX_HASHED_NBYTES", 100)
    (found,) = fastdump.triage(model_of(FAULTS["kernel_nan"])).findings
    assert found.chain[0].known_by == ("address", "statistics")
    assert found.chain[0].certainty == "probable"


def test_without_inputs_links_are_guessed(model_of: ModelOf) -> None:
    (found,) = fastdump.triage(model_of(FAULTS["kernel_nan"], mode="output")).findings
    assert {one.certainty for one in found.chain} <= {"guess", "probable"}
    assert found.chain[0].known_by == ("order",)


def test_the_table_holds_the_origin_and_its_chain(model_of: ModelOf) -> None:
    report = fastdump.triage(model_of(FAULTS["kernel_nan"]))
    origin = report.origins[0]
    names = list(dict.fromkeys(report.table["op_name"]))
    chain = [one.operator.op_name for one in report.findings[0].chain]
    assert names == list(dict.fromkeys([origin.operator.op_name, *chain]))
    assert report.table.level == "full"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("overflow", ", float16 ends at 65,504"),
        ("zero_division", "1 row of input.0 is all zeros: a division by zero"),
        ("wrong_mask", "1 row of input.0 is all -Inf: wholly masked"),
        ("saturation", "are at the limit of float16, 65,504"),
        ("norm_jump", "times larger than on other ranks"),
        ("overwritten", "where other values were written"),
        ("bad_data", "no operator in the dump made it"),
    ],
)
def test_the_sentence_says_what_happened(name: str, words: str, model_of: ModelOf) -> None:
    assert words in fastdump.triage(model_of(FAULTS[name])).sentence


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("kernel_nan", "1 whole row (4)"),
        ("overwritten", "4 whole rows (4:8)"),
        ("bad_data", "one element of 192, [2, 5]"),
        ("wrong_mask", "1 whole row (0)"),
    ],
)
def test_the_damage_is_told(name: str, words: str, model_of: ModelOf) -> None:
    damage = fastdump.triage(model_of(FAULTS[name])).origins[0].damage
    assert damage is not None
    assert words in damage.words


def test_saturation_mode_is_suspected(model_of: ModelOf) -> None:
    notes = fastdump.triage(model_of(FAULTS["saturation"])).notes
    assert any("saturation mode" in note for note in notes)


def test_a_finding_tells_where_else_it_was_made(model_of: ModelOf) -> None:
    fault = FAULTS["kernel_nan"]
    everywhere = Fault(fault.planted, outputs=_in_all_steps(fault))
    (found,) = fastdump.triage(model_of(everywhere)).findings
    assert [(run.rank, run.step) for run in found.also] == [(1, 1), (1, 2)]


def _in_all_steps(fault: Fault) -> Callable[..., Any]:
    assert fault.planted is not None
    planted = fault.planted

    def change(rank: int, step: int, name: str, values: Any) -> Any:
        return fault.outputs(rank, planted.step, name, values)

    return change


# What is given


def test_what_was_filtered_out_is_not_looked_at(model_of: ModelOf) -> None:
    fault = FAULTS["kernel_nan"]
    assert fastdump.triage(model_of(fault), step=[1, 2]).clean
    assert fastdump.triage(model_of(fault), rank=0, step=1).clean
    report = fastdump.triage(fastdump.stats(model_of(fault), level="full"), step=0)
    assert report.summary["steps"] == [0]
    assert_found(report, fault.planted or Planted("", "", "", 0, 0))


def test_several_roots_are_one_dump(model_of: ModelOf) -> None:
    root = model_of(FAULTS["kernel_nan"])
    report = fastdump.triage(sorted(root.iterdir()))
    (found,) = report.findings
    assert found.chain[0].known_by == ("content", "address")


def test_what_it_cannot_take_is_an_error(tmp_path: Path, model_of: ModelOf) -> None:
    with pytest.raises(FileNotFoundError):
        fastdump.triage(tmp_path / "nothing")
    with pytest.raises(fastdump.NoDumpError):
        fastdump.triage(tmp_path)
    root = model_of(CLEAN)
    with pytest.raises(ValueError, match="root"):
        fastdump.triage(root, root=root)
    with pytest.raises(ValueError, match="header"):
        fastdump.triage(fastdump.StatsTable(fastdump.stats(root), level="header"))


def test_a_table_without_rows_has_no_finding(model_of: ModelOf) -> None:
    report = fastdump.triage(fastdump.stats(model_of(CLEAN))[:0])
    assert report.clean
    assert report.sentence == "there is no tensor to look at"


def test_a_report_prints_what_the_command_prints(
    model_of: ModelOf, capsys: pytest.CaptureFixture[str]
) -> None:
    from fastdump._cli import main

    root = model_of(FAULTS["kernel_nan"])
    assert main(["triage", str(root)]) == 1
    shown = capsys.readouterr().out
    assert str(fastdump.triage(root)).splitlines() == shown.splitlines()
