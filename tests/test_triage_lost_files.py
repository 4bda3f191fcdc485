"""Triage of dumps of which 5 % of the files are missing or cut: right, or honest.

What is lost with a file cannot be known. Where the file of the operator at fault is whole, it has
to be named. Where it is lost, another operator is never called the origin: the verdict says that
what came before is missing or unknown.
"""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from faulty_models import CLEAN, FAULTS, Planted, with_cut_files, without_files, write_model

import fastdump
from fastdump import TriageReport
from fastdump._triage.files import DumpFiles

SEEDS = range(5)
SHARE = 0.05
INCOMPLETE = {"missing_operator", "missing_step"}
"""Of files that are missing these are true, and not what is looked for."""


@pytest.fixture(scope="module")
def model_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    written: dict[tuple[str, str], Path] = {}

    def model(name: str, mode: str) -> Path:
        if (name, mode) not in written:
            written[name, mode] = tmp_path_factory.mktemp(name)
            fault = CLEAN if name == "clean" else FAULTS[name]
            write_model(written[name, mode], fault, mode=mode)
        return written[name, mode]

    return model


def files_of(op_name: str, planted: Planted, files: Iterable[Path]) -> list[Path]:
    """Return the files of an operator on the rank and in the step of a fault."""
    in_file_name = op_name.replace("/", "_").replace(".", "_")
    return [
        path
        for path in files
        if path.name.split(".")[1] == in_file_name
        and path.parts[0].endswith(f"rank{planted.rank}")
        and path.parent.name == str(planted.step)
    ]


def outcome(report: TriageReport, name: str, lost: Sequence[Path]) -> str:
    """Check a report; return how it is right."""
    planted = FAULTS[name].planted
    assert planted is not None
    found = [one for one in report.findings if one.kind not in INCOMPLETE]
    decisive = files_of(planted.op_name, planted, lost)
    if name == "overwritten":
        # What was overwritten was clean when it was made.
        decisive += files_of("model.layers.2.self_attn.o/MatMul", planted, lost)
    if not found:
        assert decisive, report.sentence
        return "nothing"
    origin = found[0].origin
    assert origin is not None
    operator = origin.operator
    named = (operator.op_type, operator.op_name, operator.rank, operator.step)
    is_right = named == (planted.op_type, planted.op_name, planted.rank, planted.step)
    if not decisive:
        assert is_right, report.sentence
        assert origin.verdict in (planted.verdict, "unknown", "missing")
        return origin.verdict
    assert (operator.rank, operator.step) == (planted.rank, planted.step), report.sentence
    # Its outputs may be whole in a file that was cut, or its inputs.
    assert is_right or origin.verdict != "origin", report.sentence
    return origin.verdict if is_right else f"{origin.verdict} at another operator"


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("mode", ["all", "output"])
def test_missing_files(
    name: str, mode: str, model_of: Callable[[str, str], Path], tmp_path: Path
) -> None:
    outcomes: Counter[str] = Counter()
    for seed in SEEDS:
        copy = tmp_path / str(seed)
        lost = without_files(model_of(name, mode), copy, SHARE, seed)
        assert lost
        outcomes[outcome(fastdump.triage(copy), name, lost)] += 1
        table = fastdump.stats(copy, level="full")
        outcomes[outcome(fastdump.triage(table), name, lost)] += 1
    # Of most dumps the operator is named, even where its file is among the lost.
    is_named = [verdict for verdict in outcomes.elements() if " " not in verdict]
    assert len(is_named) - outcomes["nothing"] > len(SEEDS)


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("mode", ["all", "output"])
def test_cut_files(
    name: str, mode: str, model_of: Callable[[str, str], Path], tmp_path: Path
) -> None:
    for seed in SEEDS[:3]:
        copy = tmp_path / str(seed)
        cut = with_cut_files(model_of(name, mode), copy, SHARE, seed)
        assert cut
        report = fastdump.triage(copy)
        assert any("truncated" in note or "malformed" in note for note in report.notes)
        outcome(report, name, cut)


@pytest.mark.parametrize("mode", ["all", "output", "input"])
@pytest.mark.parametrize("lose", [without_files, with_cut_files])
def test_a_clean_dump_with_lost_files_has_no_bad_values(
    mode: str, lose: Callable[..., list[Path]], model_of: Callable[[str, str], Path], tmp_path: Path
) -> None:
    for seed in SEEDS:
        copy = tmp_path / str(seed)
        lose(model_of("clean", mode), copy, SHARE, seed)
        report = fastdump.triage(copy)
        assert {found.kind for found in report.findings} <= INCOMPLETE, report.sentence


def test_the_operator_at_fault_is_named_although_it_is_missing(
    model_of: Callable[[str, str], Path], tmp_path: Path
) -> None:
    """Other steps tell what makes the input that is the first to be bad."""
    root = model_of("kernel_nan", "all")
    planted = FAULTS["kernel_nan"].planted
    assert planted is not None
    table = fastdump.stats(root, level="full")
    files = [Path(path) for path in dict.fromkeys(table["path"])]
    (lost,) = files_of(planted.op_name, planted, files)
    rest = table[np.array([path != str(lost) for path in table["path"]])]
    report = fastdump.triage(rest, root=root)
    origin = report.origins[0]
    assert origin.verdict == "missing"
    assert origin.operator.op_name == planted.op_name
    assert origin.operator.paths == ()
    assert "which is not in the dump" in report.sentence
    assert "why: it made input.1 of Add model.layers.2/Add" in report.sentence
    assert origin.tensor.op_name == "model.layers.2/Add"
    assert report.findings[0].chain[0].operator.op_name == "model.layers.2/Add"
    assert report.findings[0].chain[0].known_by == ("name",)


def test_nothing_but_a_truncated_file(tmp_path: Path) -> None:
    from fastdump import testing

    name = testing.dump_name("MatMul", "a", task_id=1, stream_id=1, timestamp=10**15)
    path = testing.write_dump(tmp_path / name, outputs=[np.full(64, np.nan, np.float32)])
    path.write_bytes(path.read_bytes()[:-100])
    report = fastdump.triage(tmp_path)
    # What is there of it is bad, and that is what is told.
    assert [found.kind for found in report.findings] == ["nan"]
    assert "1 tensor truncated" in report.notes
    path.write_bytes(path.read_bytes()[:20])
    report = fastdump.triage(tmp_path)
    assert report.clean
    assert "1 tensor malformed" in report.notes


@pytest.mark.parametrize(("error", "is_looked_for"), [(errno.EIO, True), (errno.ENOENT, False)])
def test_files_are_looked_for_unless_they_are_known_to_be_gone(
    error: int, is_looked_for: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_model(tmp_path, CLEAN, mode="output")
    table = fastdump.stats(tmp_path)

    def stat(path: str) -> os.stat_result:
        raise OSError(error, os.strerror(error), path)

    monkeypatch.setattr("fastdump._triage.files.os.stat", stat)
    assert DumpFiles(table).are_at_hand is is_looked_for
