"""`fastdump triage`: what it prints and returns; `--json`, which docs/triage.md describes."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faulty_models import CLEAN, FAULTS, write_model

import fastdump
from fastdump import testing
from fastdump._cli import main

OPERATOR = [
    *("rank", "time", "device", "model", "model_id", "step"),
    *("op_type", "op_name", "timestamp", "paths"),
]
INFECTED = ["operator", "read", "made", "known_by", "certainty"]
KINDS = {
    *("inf", "nan", "saturated", "zeros", "norm_jump", "headroom", "replicas_differ"),
    *("missing_step", "missing_operator"),
}


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("faulty")
    write_model(root, FAULTS["kernel_nan"])
    return root


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("clean")
    write_model(root, CLEAN)
    return root


def document_of(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    main(["triage", "--json", *map(str, arguments)])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def write_op(root: Path, name: str, *, timestamp: int, **tensors: object) -> Path:
    op_type, _, op_name = name.partition(" ")
    file_name = testing.dump_name(
        op_type, op_name, task_id=1, stream_id=1, timestamp=10**15 + timestamp
    )
    return testing.write_dump(root / file_name, op_name=op_name, **tensors)  # type: ignore[arg-type]


# Text


def test_the_answer_comes_first_and_alone(faulty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["triage", str(faulty)]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    headline, *facts = out.splitlines()
    assert len(facts) < 8
    assert headline == "rank 1, step 0: NaN first appears in layer 2, self_attn.o/MatMul"
    said = dict(fact.split(maxsplit=1) for fact in facts if fact.startswith("  "))
    assert list(said) == ["operator", "what", "why", "reach", "next"]
    assert said["operator"] == "MatMulV2 model.layers.2.self_attn.o/MatMul, output.0"
    # The fault is a row of NaN in a matrix of 12 x 16.
    assert said["what"] == "16 of 192 float16 elements are NaN: [4, :]"
    assert said["why"].startswith("its inputs are finite, up to ")
    n_infected = sum(one.operators for one in fastdump.triage(faulty).findings[0].infected)
    assert said["reach"].startswith(f"{n_infected} operators on 2 ranks")
    assert out == f"{fastdump.triage(faulty)}\n"


def test_verbose_goes_on_with_facts_then_chain_then_table(
    faulty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["triage", str(faulty), "-v"]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    answer, first, chain, table, *rest = out.split("\n\n")
    assert answer == str(fastdump.triage(faulty))
    facts = first.splitlines()
    report = fastdump.triage(faulty)
    assert [line.split()[0] for line in facts] == [
        *("verdict", "damage", "infected", "received", "file"),
    ]
    assert "verdict   origin: its inputs are clean" in facts
    assert "1 whole row (4)" in facts[1]

    title, header, *rows = chain.splitlines()
    assert title.startswith("chain to the last of ")
    assert header.split()[:2] == ["rank", "step"]
    assert len(rows) == len(report.findings[0].chain)
    assert rows[0].split()[:4] == ["1", "0", "Add", "model.layers.2/Add"]
    assert rows[0].endswith("content, address: exact")

    assert "saturated" in table.splitlines()[0]
    assert len(table.splitlines()) == 1 + len(report.table)
    assert any(text.startswith("suppressed: ") for text in rest)


def test_a_clean_dump_is_told_in_one_line(clean: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["triage", str(clean)]) == 0
    lines = capsys.readouterr().out.splitlines()
    n_tensors = len(fastdump.stats(clean))
    assert lines[0] == f"nothing bad in {n_tensors:,} tensors"
    assert re.fullmatch(r"not findings: \d+ tensors with attention masks.*", lines[1])


def test_all_lists_what_is_suppressed(clean: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["triage", str(clean)])
    short = capsys.readouterr().out
    assert "SelectV2" not in short
    main(["triage", str(clean), "-v"])
    assert "--all lists them" in capsys.readouterr().out
    assert main(["triage", str(clean), "--all"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(short.splitlines()[0])
    assert "--all lists them" not in out
    assert re.search(r"\d+ +inf +mask +SelectV2 +model/Mask +input.2 ", out)


def test_rows_limits_every_list(faulty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["triage", str(faulty), "-n", "2"]) == 1
    _, _, chain, table, *_ = capsys.readouterr().out.split("\n\n")
    n_chain = len(fastdump.triage(faulty).findings[0].chain)
    assert f"; {n_chain - 2} in the middle left out" in chain.splitlines()[0]
    assert len(chain.splitlines()) == 4
    assert "grads/Clip" in chain.splitlines()[-1]
    assert table.splitlines()[-1].startswith("2 of ")
    assert main(["triage", str(faulty), "-n", "0"]) == 1
    _, _, chain, *_ = capsys.readouterr().out.split("\n\n")
    assert len(chain.splitlines()) == 2 + n_chain


def test_other_findings_follow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ones = np.ones((4, 8), np.float16)
    write_op(tmp_path, "MatMul a", timestamp=1, inputs=[ones], outputs=[ones * np.float16(np.nan)])
    write_op(tmp_path, "MatMul b", timestamp=2, inputs=[ones], outputs=[ones * np.float16(50000)])
    assert main(["triage", str(tmp_path)]) == 1
    assert "1 more finding (-v)" in capsys.readouterr().out
    assert main(["triage", str(tmp_path), "-v"]) == 1
    out = capsys.readouterr().out
    assert (
        "warning headroom: b makes values near the limit of float16; operator: MatMul b, output.0"
        in out
    )


# Names from files


def test_control_characters_are_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ones = np.ones((4, 8), np.float16)
    evil = "layer\x1b[31m\n/evil\u202e"
    path = write_op(tmp_path, "MatMul x", timestamp=1, inputs=[ones], outputs=[ones * np.inf])
    testing.write_dump(path, op_name=evil, inputs=[ones], outputs=[ones * np.inf])
    path = write_op(tmp_path, "Add y", timestamp=2, outputs=[ones])
    testing.write_dump(path, op_name=evil, inputs=[ones * np.inf], outputs=[ones * np.inf])
    assert main(["triage", str(tmp_path), "--all"]) == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "layer\\x1b[31m\\n/evil\\u202e" in out.splitlines()[0]
    chain = out.split("\n\n")[2]
    assert "layer\\x1b[31m\\n/evil\\u202e" in chain


# JSON


def test_json_has_the_keys_that_are_documented(
    faulty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = document_of(capsys, faulty)
    assert list(document) == [
        *("fastdump", "question", "sentence", "clean", "findings", "notes"),
        *("suppressed", "summary", "pattern"),
    ]
    assert document["clean"] is False
    (finding,) = document["findings"]
    assert list(finding) == [
        *("kind", "severity", "sentence", "origin", "also"),
        *("chain", "chain_length", "received", "infected"),
    ]
    assert finding["kind"] in KINDS
    origin = finding["origin"]
    assert list(origin) == [
        *("verdict", "reason", "operator", "tensor", "inputs", "cause", "damage", "last_clean"),
        "jump",
    ]
    assert list(origin["operator"]) == OPERATOR
    # The rows of the table, whole.
    columns = fastdump.stats(faulty, level="full").columns
    assert [list(tensor) for tensor in [origin["tensor"], *origin["inputs"]]] == [columns] * 3
    assert list(origin["damage"]) == ["bad", "size", "words", "place"]
    for infected in [*finding["chain"], *finding["received"]]:
        assert list(infected) == INFECTED
        assert list(infected["operator"]) == OPERATOR
    assert list(finding["infected"][0]) == ["rank", "operators"]
    (suppressed, *_) = document["suppressed"]
    assert list(suppressed) == ["pattern", "kind", "op_type", "tensors", "example"]
    assert list(document["summary"]) == [
        *("tensors", "operators", "ranks", "steps", "status", "not_read"),
    ]


def test_every_kind_is_documented() -> None:
    text = (Path(__file__).parents[1] / "docs" / "triage.md").read_text()
    assert {kind for kind in KINDS if f"`{kind}`" not in text} == set()


def test_json_has_the_values(faulty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = document_of(capsys, faulty)
    (finding,) = document["findings"]
    origin = finding["origin"]
    assert (finding["kind"], finding["severity"]) == ("nan", "error")
    assert finding["sentence"] == document["sentence"]
    operator = origin["operator"]
    assert (operator["rank"], operator["step"], operator["op_type"]) == (1, 0, "MatMulV2")
    assert operator["op_name"] == "model.layers.2.self_attn.o/MatMul"
    (path,) = operator["paths"]
    assert (faulty / path).is_file()
    assert origin["tensor"]["path"] == path
    assert (origin["tensor"]["nan"], origin["tensor"]["shape"]) == (16, [12, 16])
    assert origin["damage"]["place"] == "[4, :]"
    assert origin["last_clean"] is None
    assert [(one["rank"], one["operators"] > 2) for one in finding["infected"]] == [
        (0, True),
        (1, True),
    ]
    assert finding["chain"][0]["certainty"] == "exact"
    assert document["summary"]["ranks"] == [0, 1]
    assert document["summary"]["steps"] == [0, 1, 2]
    assert document["summary"]["status"] == {"ok": document["summary"]["tensors"]}
    assert document.pop("fastdump") == fastdump.__version__
    assert document == fastdump.triage(faulty).to_dict()


def test_json_of_a_clean_dump(clean: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = document_of(capsys, clean)
    assert document["clean"] is True
    assert document["findings"] == []


def test_json_has_no_number_that_json_does_not_know(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The device's own moments may be NaN and infinite."""
    bad = np.array([[1, np.nan], [np.inf, 2]], np.float32)
    specs = [testing.TensorSpec(bad)]
    name = testing.dump_name("MatMul", "a", task_id=1, stream_id=1, timestamp=10**15)
    testing.write_statistics_csv(tmp_path / f"{name}.csv", inputs=[], outputs=specs)
    assert main(["triage", str(tmp_path), "--json"]) == 1
    text = capsys.readouterr().out
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


# Tables


@pytest.mark.parametrize("suffix", ["parquet", "csv", "arrow", "json"])
def test_a_written_table_will_do(
    suffix: str, faulty: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / f"stats.{suffix}"
    dump, moved = tmp_path / "dump", tmp_path / "moved"
    shutil.copytree(faulty, dump)
    headline = fastdump.triage(dump).answer().headline
    fastdump.stats(dump, level="full").write(table)
    if suffix != "csv":  # a CSV file does not tell where the dump is
        assert main(["triage", str(table), "-v"]) == 1
        assert "content, address: exact" in capsys.readouterr().out
    dump.rename(moved)
    assert main(["triage", str(table), "-v"]) == 1
    alone = capsys.readouterr().out
    assert alone.splitlines()[0] == headline
    assert "statistics: probable" in alone
    assert "the files are not at hand" in alone
    assert main(["triage", str(table), "--root", str(moved), "-v"]) == 1
    assert "content, address: exact" in capsys.readouterr().out


def test_filters_apply_to_dumps_and_tables(
    faulty: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "stats.parquet"
    fastdump.stats(faulty, level="full").write(table)
    for path in (faulty, table):
        assert main(["triage", str(path), "--step", "1-2"]) == 0
        assert main(["triage", str(path), "--rank", "1", "--step", "0"]) == 1
        assert main(["triage", str(path), "--op-type", "Rms*", "--step", "1"]) == 0
    capsys.readouterr()


def test_statistics_of_the_device_will_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A vendor's CSV file by itself is a dump, not a table."""
    write_model(tmp_path, FAULTS["kernel_nan"], csv=True)
    assert main(["triage", str(tmp_path)]) == 1
    headline = "rank 1, step 0: NaN first appears in layer 2, self_attn_o_MatMul"
    assert capsys.readouterr().out.splitlines()[0] == headline
    (path,) = tmp_path.glob("*rank1/*/1/net/1/0/MatMulV2.model_layers_2_self_attn_o_MatMul.*")
    assert main(["triage", str(path)]) == 1
    assert "16 of 192 float16 elements are NaN" in capsys.readouterr().out


# Exit codes


def test_a_finding_outweighs_a_file_that_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ones = np.ones((4, 8), np.float16)
    write_op(tmp_path, "MatMul a", timestamp=1, inputs=[ones], outputs=[ones])
    broken = write_op(tmp_path, "MatMul b", timestamp=2, inputs=[ones], outputs=[ones])
    broken.write_bytes(b"\xff" * 40)
    assert main(["triage", str(tmp_path)]) == 3
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "nothing bad in 2 tensors"
    assert "1 tensor malformed" in out
    table = tmp_path / "stats.parquet"
    fastdump.stats(tmp_path, level="full").write(table)
    assert main(["triage", str(table)]) == 3
    write_op(tmp_path, "MatMul c", timestamp=3, inputs=[ones], outputs=[ones * np.inf])
    assert main(["triage", str(tmp_path)]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "No such file or directory"),
        ([], "Missing argument"),
        ([".", "--root", "."], "--root is for a table"),
        (["header.parquet"], "has no statistics"),
        (["broken.parquet"], "broken.parquet"),
        (["empty"], "no"),
    ],
)
def test_what_it_cannot_take_is_told(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    dump = write_op(tmp_path, "Add a", timestamp=1, outputs=[np.ones((4, 8), np.float16)])
    headers = fastdump.StatsTable(fastdump.stats(dump), level="header")
    headers.write(tmp_path / "header.parquet")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more")
    assert main(["triage", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_importing_fastdump_does_not_import_triage(run_python: Any) -> None:
    program = (
        "import sys, fastdump; "
        "print([name for name in sys.modules if 'triage' in name or 'damage' in name])"
    )
    assert run_python(program).strip() == "[]"
