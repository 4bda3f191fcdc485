"""The verdicts of the vendor's own code on its unit tests' files and on probes."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fastdump import config

# Refused only because of what is, or is not, on the disk.
DISK = {
    "adump_ut/common/bad_path.json",
    "ge_acl_ut/testDump2.json",
    "ge_acl_ut/testDump3.json",
}
# Relative directories that the vendor's tests make first.
MADE = {
    "adump_ut/watcher/watcher_dump_path.json": "TestWatcherDumpPath/config_path",
    "adump_ut/watcher/watcher_valid.json": "TestWatcherValid/config_path",
}
# What the graph engine says on its own where that is not what the first reader says.
GRAPH_ENGINE = {
    "reject": [f"testDebugDump{i}" for i in (3, 4, 6)],
    "off": ["bad_path", "invalid_dump_debug", *(f"testDump{i}" for i in (5, 16))],
    "accept": [
        *("invalid_dump_data", "overflow_conflict_op_switch", "watcher_path_missing"),
        *(f"testDump{i}" for i in (2, 3, 6, 7, 9, 11, 18, 19, 21, 23, 24)),
        *(f"testDumpWatcher{i}" for i in (2, 8, 9, 11)),
        *("testDump_OpBlacklistInvalid", "testDump_OpBlacklistWithInvalidDumpLevel"),
    ],
}


@pytest.fixture(scope="module")
def reference() -> Path:
    default = Path(__file__).resolve().parents[2] / "shared" / "reference-acl-json"
    folder = Path(os.environ.get("FASTDUMP_REFERENCE_ACL_JSON", default))
    if not (folder / "verdicts.csv").is_file():
        pytest.skip(
            f"there are no configurations in {folder}; FASTDUMP_REFERENCE_ACL_JSON names them"
        )
    return folder


def verdicts(reference: Path) -> Iterator[tuple[str, str]]:
    with (reference / "verdicts.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            yield row["file"], row["verdict"]


def probes(reference: Path) -> Iterator[tuple[str, bytes, dict[str, Any]]]:
    for line in (reference / "probes.jsonl").read_text().splitlines():
        probe = json.loads(line)
        encoding = "latin-1" if probe["latin1_bytes"] else "utf-8"
        yield probe["name"], probe["json"].encode(encoding), probe


def test_every_file_that_does_not_depend_on_the_disk(reference: Path) -> None:
    expected = dict(verdicts(reference))
    assert len(expected) == 116
    expected = {name: verdict for name, verdict in expected.items() if name not in DISK}
    found = {name: config.check(reference / name).verdict for name in expected}
    assert found == expected


def test_files_that_depend_on_the_disk(
    reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    expected = dict(verdicts(reference))
    for name in DISK:
        report = config.check(reference / name, here=True)
        assert report.verdict == expected[name] == "reject"
        assert [error.rule for error in report.errors] == ["path-exists"]
    for name, directory in MADE.items():
        assert config.check(reference / name, here=True).verdict == "reject"
        (tmp_path / directory).mkdir(parents=True)
        assert config.check(reference / name, here=True).verdict == expected[name] == "accept"


def test_the_graph_engine_on_its_own(reference: Path) -> None:
    differing: dict[str, list[str]] = {verdict: [] for verdict in GRAPH_ENGINE}
    for name, _ in verdicts(reference):
        report = config.check(reference / name)
        # testDump4 and testDepth are refused for their nesting before the graph engine is asked.
        if report.graph_engine is not None:
            verdict = "reject" if name in DISK else report.verdict
            if report.graph_engine != verdict:
                differing[report.graph_engine].append(Path(name).stem)
        else:
            assert Path(name).stem in ("testDump4", "testDepth")
    assert {verdict: sorted(names) for verdict, names in differing.items()} == {
        verdict: sorted(names) for verdict, names in GRAPH_ENGINE.items()
    }


def test_every_probe(reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found, expected = {}, {}
    for name, text, probe in probes(reference):
        # /root exists for the one who made the probes, and for nobody else.
        report = config.check_text(text, here=name != "path_/root")
        found[name] = (report.verdict, report.graph_engine)
        expected[name] = (probe["adump_head"], probe["ge_callback_head"])
    assert len(expected) == 84
    assert found == expected


def test_the_first_error_of_every_probe_has_the_vendors_code_and_place(
    reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text, probe in probes(reference):
        if probe["adump_head"] != "reject":
            continue
        first = config.check_text(text, here=True).errors[0]
        message = probe["adump_head_error"]
        assert first.code == message.split()[0], name
        if at := re.search(r"at line (\d+), column (\d+)", message):
            # The vendor's parser counts bytes, up to the one at which it noticed.
            assert first.place.line == int(at[1]), name
            assert first.place.column in (int(at[2]), int(at[2]) - 1), name
        elif item := re.search(r"item=(\S+)", message):
            path = item[1] if item[1] == "dump" else f"dump.{item[1]}"
            # Items of dump_step are no values of their own in JSON.
            assert first.place.path == re.sub(r"(dump_step)\[\d+\]", r"\1", path), name


def test_what_is_accepted_can_be_written_and_read_again(reference: Path) -> None:
    for name, verdict in verdicts(reference):
        if verdict == "accept":
            loaded = config.load(reference / name)
            assert config.parse(loaded.to_json()) == loaded, name
            config.explain(loaded)
        elif verdict == "reject" and name not in DISK:
            with pytest.raises(config.ConfigError) as raised:
                config.load(reference / name)
            assert raised.value.findings
