"""The documentation: every command and every Python block runs as it stands, and JSON is as said.

What a page may hold, apart from prose:

* An indented block. Its lines that begin with ``fastdump`` are commands, which run in order, in a
  directory where ``dump/`` is the sample dump. Exit codes 0 and 1 are expected, another one where
  the line says so: ``# exit code 2``. All other lines are for the reader alone.
* A ``python`` fence: a program that stands alone.
* A ``text`` fence directly below one of the two: what the last command, or the program, prints.
* A fence with a file name, as ``json acl.json``: a file that is written.

Shown output is compared without regard to timings, to blanks, and to the last digits of decimals,
which depend on the CPU that wrote the sample dump. ``...`` stands for anything.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import fastdump
from fastdump import testing
from fastdump._cli import main

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = [README, *sorted(DOCS.glob("*.md"))]
SCHEMA = json.loads((DOCS / "reports.schema.json").read_text())

OPTIONAL = ("torch", "pandas", "polars", "duckdb", "pyarrow", "mindspore")
"""Libraries that a block may need, and that need not be installed."""

_USES = {"torch": r"\.torch\(", "pandas": r"\.to_pandas\(", "polars": r"\.to_polars\("}

# Pages

_FENCE = re.compile(r"```(\w*) ?(\S*)")
_EXIT_CODE = re.compile(r"# exit code (\d+)")


@dataclass
class Snippet:
    """A piece of a page that runs, or that is written to a file."""

    page: Path
    line: int
    kind: str  # "command", "python" or "file"
    text: str
    name: str = ""
    shown: list[str] = field(default_factory=list)

    @property
    def needs(self) -> list[str]:
        """Return the optional libraries that it needs."""
        if self.kind != "python":
            return []
        return [
            name
            for name in OPTIONAL
            if re.search(rf"^import {name}\b|^from {name}\b", self.text, re.MULTILINE)
            or re.search(_USES.get(name, "(?!)"), self.text)
        ]

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def snippets(page: Path) -> list[Snippet]:
    """Return the pieces of a page, in order, each with the output that is shown for it."""
    found: list[Snippet] = []
    lines = page.read_text().splitlines()
    number, last = 0, None
    while number < len(lines):
        line = lines[number]
        if fence := _FENCE.match(line):
            kind, name = fence.groups()
            end = lines.index("```", number + 1)
            body = lines[number + 1 : end]
            if kind == "text":
                if last is not None:
                    last.shown = body
                elif page.name != "performance.md":  # a table that `make bench-docs` writes
                    pytest.fail(f"{page.name}:{number + 1}: output without its command")
                last = None
            elif kind == "python" or name:
                kind = "file" if name else "python"
                last = Snippet(page, number + 1, kind, "\n".join(body) + "\n", name)
                found.append(last)
            else:
                last = None
            number = end
        elif line.startswith("    fastdump "):
            last = Snippet(page, number + 1, "command", line.strip())
            found.append(last)
        elif line.strip() and not line.startswith("    "):
            last = None
        number += 1
    return found


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a page, with their numbers, that are neither code nor output."""
    inside = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```"):
            inside = not inside
        elif not inside and not line.startswith("    "):
            yield number, line


# Output

_TIMING = re.compile(r"\b[\d.,]+ (?:us|ms|s|min)\b|[\d.,]+ [kMGT]?B/s")
_DECIMAL = re.compile(r"(?<![\w.])-?\d[\d,]*\.\d+(?:e[+-]?\d+)?(?![\w.]*\d)")


def normalized(lines: list[str]) -> str:
    text = "\n".join(" ".join(_TIMING.sub("TIMING", line).split()) for line in lines)
    # How numpy pads numbers of an array depends on its version.
    return text.strip("\n").replace("[ ", "[").replace(" ]", "]")


def assert_prints(snippet: Snippet, printed: str) -> None:
    """Compare what is shown with what was printed."""
    shown, actual = normalized(snippet.shown), normalized(printed.splitlines())
    message = f"{snippet}: {snippet.text}\n--- shown\n{shown}\n--- printed\n{actual}"
    *parts, last = shown.split("...")
    position = 0
    for number, part in enumerate(parts):
        pattern = _pattern(part)
        found = pattern.search(actual, position) if number else pattern.match(actual)
        assert found, message
        _assert_close(part, found, message)
        position = found.end()
    found = re.compile(rf"{_pattern(last).pattern}\Z").search(actual, position)
    assert found, message
    assert parts or found.start() == 0, message
    _assert_close(last, found, message)


def _pattern(text: str) -> re.Pattern[str]:
    """Return the pattern of a piece of output, with a group for each decimal."""
    between = map(re.escape, _DECIMAL.split(text))
    return re.compile(r"(-?[\d.,]+(?:e[+-]?\d+)?)".join(between))


def _assert_close(shown: str, found: re.Match[str], message: str) -> None:
    for expected, actual in zip(_DECIMAL.findall(shown), found.groups(), strict=True):
        number = float(expected.replace(",", ""))
        is_close = abs(float(actual.replace(",", "")) - number) <= 0.02 * abs(number) + 1e-9
        assert is_close, f"{expected} and {actual}\n{message}"


# Running


def run_command(command: str) -> tuple[int, str]:
    """Run a command line in this process; return its exit code and what it printed."""
    words = shlex.split(command, comments=True)[1:]
    target = None
    if ">" in words:
        at = words.index(">")
        words, (target,) = words[:at], words[at + 1 :]
    printed = io.StringIO()
    with contextlib.ExitStack() as stack:
        out: Any = stack.enter_context(Path(target).open("w")) if target else printed
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(printed))
        code = main(words)
    return code, printed.getvalue()


def run(snippet: Snippet) -> None:
    """Run one piece of a page in the current directory."""
    if snippet.kind == "file":
        Path(snippet.name).write_text(snippet.text)
        return
    if snippet.kind == "command":
        code, printed = run_command(snippet.text)
        said = _EXIT_CODE.search(snippet.text)
        expected = [int(said[1])] if said else [0, 1]
        assert code in expected, f"{snippet}: exit code {code}: {snippet.text}\n{printed}"
    else:
        output = io.StringIO()
        program = compile(snippet.text, str(snippet), "exec")
        with contextlib.redirect_stdout(output):
            exec(program, {"__name__": "__main__"})
        printed = output.getvalue()
    assert "Traceback" not in printed, f"{snippet}\n{printed}"
    if snippet.shown:
        assert_prints(snippet, printed)


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with the sample dumps, which nobody writes to."""
    folder = tmp_path_factory.mktemp("samples")
    assert main(["demo", str(folder / "dump")]) == 0
    return folder


@pytest.fixture
def here(samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current directory, in which there is the sample dump."""
    shutil.copytree(samples / "dump", tmp_path / "dump", copy_function=os.link)
    monkeypatch.chdir(tmp_path)
    for name in ("FASTDUMP_THREADS", "FASTDUMP_SIMD", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_runs_as_it_stands(page: Path, here: Path) -> None:
    pieces = snippets(page)
    if any(piece.text.startswith("fastdump demo dump/") for piece in pieces):
        shutil.rmtree(here / "dump")
    for piece in pieces:
        if not piece.needs:
            run(piece)


@pytest.mark.parametrize("piece", [p for page in PAGES for p in snippets(page) if p.needs], ids=str)
def test_a_block_with_an_optional_library_runs(piece: Snippet, here: Path) -> None:
    for name in piece.needs:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    run(piece)


# The comparison of output


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("3 rows in 0.004 s (2.9 GB/s)", "3 rows in 12 s (1 MB/s)", True),
        ("a    4.4964", "a 4.4970", True),
        ("a 4.4964", "a 4.7", False),
        ("a 4", "a 5", False),
        ("a ... z", "a b c z", True),
        ("a\n...\nz", "a\nb\nc\nz", True),
        ("a\n...", "b\nc", False),
        ("a", "a\nb", False),
    ],
)
def test_output_is_compared(shown: str, printed: str, same: bool) -> None:
    snippet = Snippet(README, 1, "command", "fastdump", shown=shown.splitlines())
    with contextlib.nullcontext() if same else pytest.raises(AssertionError):
        assert_prints(snippet, printed)


# Pages as such

_LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """Return the names of the headings of a page, as links have them."""
    titles = (line.lstrip("#").strip() for _, line in prose(page) if line.startswith("#"))
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for number, line in prose(page):
        for link in _LINK.findall(line):
            target, _, anchor = link.partition("#")
            if "://" in target:
                continue
            path = (page.parent / target) if target else page
            assert path.is_file(), f"{page.name}:{number}: {link}"
            assert not anchor or anchor in anchors(path), f"{page.name}:{number}: {link}"


def test_the_index_has_every_page() -> None:
    linked = set(_LINK.findall((DOCS / "index.md").read_text()))
    pages = {page.name for page in DOCS.glob("*.md")} - {"index.md"}
    assert pages - linked == set()


def test_the_readme_is_short_and_begins_with_two_commands() -> None:
    lines = README.read_text().splitlines()
    assert len(lines) <= 150
    assert [line.split()[:2] for line in lines[2:4]] == [["make", "demo"], ["make", "test"]]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_prose_is_ascii_and_fits_a_line(page: Path) -> None:
    if "<!-- screen" not in page.read_text():  # screens of a terminal have lines and marks
        assert page.read_text().isascii()
    assert [number for number, line in prose(page) if not line.isascii()] == []
    wide = [number for number, line in prose(page) if len(line) > 100 and not line.startswith("|")]
    assert wide == []


# JSON

VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def validator_of(name: str) -> Any:
    """Return the validator of one kind of document; its errors say more than those of all."""
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]})


def assert_valid(kind: str, text: str) -> dict[str, Any]:
    """Check a JSON text against the schema of its kind, and that of all kinds."""
    document: dict[str, Any] = json.loads(text, parse_constant=pytest.fail)
    errors = [
        f"{error.json_path}: {error.message}" for error in validator_of(kind).iter_errors(document)
    ]
    assert errors == []
    if len(text) < 100_000:  # trying all kinds of documents takes its time
        VALIDATOR.validate(document)
    return document


def printed_json(command: str, *, code: int = 1) -> str:
    found, text = run_command(command)
    assert found == code, text
    return text


def test_the_schema_is_one() -> None:
    VALIDATOR.check_schema(SCHEMA)


def test_the_schema_is_strict() -> None:
    """Every object says which keys it has, or of which type the values of all keys are."""

    def objects(node: Any) -> Iterator[dict[str, Any]]:
        if isinstance(node, dict):
            if node.get("type") == "object":
                yield node
            for value in node.values():
                yield from objects(value)
        elif isinstance(node, list):
            for value in node:
                yield from objects(value)

    found = list(objects(SCHEMA))
    assert found
    assert all(one.get("additionalProperties", True) is not True for one in found)


def test_the_schema_refuses_what_is_not_documented(here: Path) -> None:
    document = json.loads(fastdump.triage("dump").to_json())
    assert not VALIDATOR.is_valid(document | {"more": 1})
    document["findings"][0]["origin"]["tensor"]["more"] = 1
    assert not VALIDATOR.is_valid(document)


def test_json_of_triage(here: Path) -> None:
    text = printed_json("fastdump triage dump --json")
    assert_valid("triage", text)
    assert text == fastdump.triage("dump").to_json() + "\n"
    assert assert_valid("triage", printed_json("fastdump triage dump --step 0 --json", code=0))[
        "clean"
    ]


def test_json_of_triage_without_an_origin(here: Path) -> None:
    """A rank that lacks a step is a finding without an origin."""
    shutil.rmtree(next(Path("dump").glob("*rank1/*/*/*/1/1")))
    document = assert_valid("triage", fastdump.triage("dump").to_json())
    assert "missing_step" in {finding["kind"] for finding in document["findings"]}


def test_json_of_triage_of_statistics_with_infinite_moments(here: Path) -> None:
    array = np.array([1, np.nan, np.inf], np.float32)
    name = testing.dump_name("MatMul", "a", task_id=1, stream_id=1, timestamp=10**15)
    testing.write_statistics_csv(here / "csv" / f"{name}.csv", inputs=[], outputs=[array])
    assert_valid("triage", printed_json("fastdump triage csv --json"))


def test_json_of_compare(here: Path) -> None:
    run_command("fastdump demo other --wrong model.layers.1.mlp.act_fn/Swish")
    compare = "fastdump compare other dump --rank 0-1 --step 1 --op-name model.layers.1*"
    assert_valid("compare", printed_json(f"{compare} --json"))
    limited = f"{compare} -n 2 --fail-over mismatched=1% --json"
    assert len(assert_valid("compare", printed_json(limited))["rows"]) == 2
    table = fastdump.compare("other", fastdump.open("dump").select(step=1, rank=0))
    assert_valid("compare", table.to_json())
    for suffix in ("csv", "json", "parquet"):
        table.write(f"c.{suffix}")
        assert_valid("compare", fastdump.read_comparison(f"c.{suffix}").to_json())
    shutil.rmtree(next(Path("dump").glob("*rank1")))
    document = assert_valid("compare", printed_json("fastdump compare other dump -n 200 --json"))
    assert "only_in_a" in document["summary"]["status"]


def test_json_of_compare_of_statistics(here: Path) -> None:
    run_command("fastdump stats dump --rank 0 --step 0 -o a.parquet")
    assert_valid("compare", printed_json("fastdump compare a.parquet a.parquet --json", code=0))


def test_json_of_overflow(here: Path) -> None:
    run_command("fastdump demo overflow --kind overflow")
    text = printed_json("fastdump overflow overflow --json")
    assert_valid("overflow", text)
    assert text == fastdump.overflow("overflow").to_json() + "\n"
    assert assert_valid("overflow", printed_json("fastdump overflow dump --json", code=0))["clean"]


def test_json_of_overflow_of_all_units(here: Path) -> None:
    for number, unit in enumerate(("AIC", "AIV", "AICPU", "SDMA")):
        for version in (0, 1) if unit in ("AIC", "AIV") else (0,):
            status = [0x20, 1, 0, 0] if version else 0x20
            fields = {"stream_id": 1, "task_id": 3, "status": status}
            record = testing.op_debug_record(unit, fields, version=version)
            at = 10**15 + 2 * number + version
            name = testing.op_debug_name(task_id=59, stream_id=1, timestamp=at)
            testing.write_op_debug(here / "records" / name, record)
    name = testing.op_debug_name(task_id=59, stream_id=1, timestamp=10**15 + 99)
    testing.write_op_debug(here / "records" / name, b"\0" * 16)
    Path("records", name.replace("99", "98")).write_bytes(b"nothing")
    document = assert_valid("overflow", printed_json("fastdump overflow records --json"))
    assert {record["status"] for record in document["records"]} >= {"ok", "malformed"}


def test_json_of_watcher(here: Path) -> None:
    run_command("fastdump demo watcher --kind watcher")
    text = printed_json("fastdump watcher watcher --json")
    assert_valid("watcher", text)
    assert text == fastdump.watcher("watcher").to_json() + "\n"
    # A file of the sample dump is cut short.
    assert_valid("watcher", printed_json("fastdump watcher dump --json", code=3))


def test_json_of_watcher_with_suspects(here: Path) -> None:
    values = np.arange(32, dtype=np.float32)

    def write(name: str, number: int, **tensors: Any) -> None:
        file = testing.dump_name("Add", name, task_id=1, stream_id=3, timestamp=10**15 + number)
        testing.write_dump(here / "placed" / file, op_name=name, **tensors)

    write("a", 0, outputs=[testing.TensorSpec(values, address=0x1000)])
    write("b", 1, outputs=[testing.TensorSpec(values[:4] + 1, address=0x1000)])
    changed = np.concatenate((values[:4] + 1, values[4:]))
    write("c", 2, inputs=[testing.TensorSpec(changed, address=0x1000)])
    document = assert_valid("watcher", printed_json("fastdump watcher placed --json"))
    assert document["findings"][0]["suspects"][0]["wrote_it"] is True


def test_json_of_convert(here: Path) -> None:
    assert_valid("convert", printed_json("fastdump convert dump out --step 1 --json", code=3))
    report = fastdump.convert("dump", "out", step=1)
    assert assert_valid("convert", report.to_json())["kept"] > 0
    nz = np.ones((2, 2, 16, 16), np.float16)
    spec = testing.TensorSpec(nz, format="FRACTAL_NZ", origin_shape=(3, 5, 7))
    testing.write_dump(here / "odd" / "Add.a.1.1.1700000000000000", outputs=[spec])
    text = printed_json("fastdump convert odd out2 --logical --json", code=3)
    assert assert_valid("convert", text)["findings"]


CONFIGS = {
    "good.json": '{"dump": {"dump_path": "/data/dump", "dump_list": [{}]}}',
    "bad.json": '{"dump": {"dump_path": "", "dump_mode": 3, "dumpmode": "all"}}',
    "broken.json": "{",
    "empty.json": "",
}


def test_json_of_config(here: Path) -> None:
    for name, text in CONFIGS.items():
        Path(name).write_text(text)
        assert_valid("config", fastdump.config.check(name).to_json())
    files = " ".join(CONFIGS)
    document = assert_valid("config_check", printed_json(f"fastdump config check {files} --json"))
    assert len(document["files"]) == len(CONFIGS)
    code, _ = run_command("fastdump config check good.json missing.json --json > checked.json")
    assert code == 3
    assert assert_valid("config_check", Path("checked.json").read_text())["unread"]


def test_json_of_config_explain(here: Path) -> None:
    for name, text in CONFIGS.items():
        Path(name).write_text(text)
    explain = "fastdump config explain"
    assert_valid("config_explain", printed_json(f"{explain} good.json --json", code=0))
    like = printed_json(f"{explain} good.json --like dump --json", code=3)
    assert assert_valid("config_explain", like)["size"]
    assert_valid("config", printed_json(f"{explain} bad.json --json"))
    assert_valid("config_explain_dump", printed_json(f"{explain} dump --json", code=3))
    promised = printed_json(f"{explain} dump --config good.json --json", code=3)
    assert assert_valid("config_explain_dump", promised)["missing"] == []
