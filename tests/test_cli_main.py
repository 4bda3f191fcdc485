"""The command line as a whole: help, errors, exit codes, pipes and terminals."""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

import fastdump
from fastdump import testing
from fastdump._cli import main

COMMANDS = (
    "ls",
    "stats",
    "show",
    "browse",
    "triage",
    "follow",
    "compare",
    "report",
    "overflow",
    "watcher",
    "convert",
    "export",
    "merge",
    "config",
    "info",
    "demo",
)


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("dump")
    array = np.array([1, np.nan, np.inf, -np.inf], np.float32)
    for i in range(60):
        op_name = f"model/layers/{i}/attention"
        name = testing.dump_name("MatMul", op_name, task_id=i, stream_id=1, timestamp=10**15 + i)
        testing.write_dump(root / name, op_name=op_name, inputs=[array] * 10, outputs=[array])
    return root


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "fastdump", *map(str, arguments)]


def on_terminal(
    arguments: Sequence[object], *, width: int, **environment: str
) -> tuple[str, str, int]:
    """Run with a pseudo-terminal of `width` for stdout; return stdout, stderr and exit code."""
    parent, child = pty.openpty()
    # Rich asks the environment before the terminal.
    names = ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
    inherited = {name: value for name, value in os.environ.items() if name not in names}
    process = subprocess.Popen(
        command(*arguments),
        stdout=child,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=inherited | {"TERM": "xterm-256color", "COLUMNS": str(width)} | environment,
    )
    os.close(child)
    chunks = []
    # Linux reports EIO where others report the end, when the last writer has gone.
    with os.fdopen(parent, "rb", buffering=0) as terminal:
        try:
            while chunk := terminal.read(65536):
                chunks.append(chunk)
        except OSError:
            pass
    _, err = process.communicate()
    out = b"".join(chunks).decode().replace("\r\n", "\n")
    return out, err.decode(), process.returncode


def without_styles(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], []])
def test_help_lists_the_commands(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    out = capsys.readouterr().out
    listed = out.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in listed] == list(COMMANDS)
    assert "Exit codes:" in out


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_has_an_example(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--help"]) == 0
    assert f"Examples:\n    fastdump {name}" in re.sub(
        r"FASTDUMP_\w+=\w+ ", "", capsys.readouterr().out
    )


def test_help_loads_no_command_and_no_numpy() -> None:
    code = (
        "import sys, fastdump._cli\n"
        "fastdump._cli.main(['--help'])\n"
        "heavy = {'numpy', 'rich', 'arro3', 'fastdump._cli.stats', 'fastdump._cli.demo'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert process.stdout.splitlines()[-1] == b"[]"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"fastdump {fastdump.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["xyz"], "No such command 'xyz'; see 'fastdump --help'"),
        (["trage"], "No such command 'trage'. Did you mean 'triage'? See 'fastdump --help'"),
        (["config", "checc"], "Did you mean 'check'? See 'fastdump config --help'"),
        (["config", "new", "modelx"], "Did you mean 'model'? See 'fastdump config new --help'"),
        (["stats", "--levle", "x"], "--level"),
        (["stats"], "Missing argument 'PATH...'; see 'fastdump stats --help'"),
        (["stats", "--bogus"], "No such option"),
        (["stats", "x", "--level", "none"], "Invalid value for '--level'"),
        (["stats", "x", "--threads", "0"], "Invalid value for '--threads'"),
        (["stats", "x", "-n", "-1"], "Invalid value for '-n' / '--rows'"),
        (
            ["stats", "x", "--step", "3-"],
            "--step is '3-', expected 3, a range (3-5) or a list",
        ),
        (["stats", "x", "--step", "1,,2"], "--step is '1,,2', expected 3, a range"),
        (["stats", "x", "--rank", "-1"], "--rank is '-1', expected 3, a range"),
        (["stats", "x", "--step", "\u0663"], "expected 3, a range"),
        (["stats", "x", "--step", "5-3"], "'5-3' is an empty range"),
        (["ls", "x", "--io", "weights"], "Invalid value for '--io'"),
        (["stats", "/nowhere/at all"], "/nowhere/at all: No such file or directory"),
        (["stats", "/nowhere/\x1b[2J\u202e"], "/nowhere/\\x1b[2J\\u202e: No such file"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("fastdump: error: ")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("name", ["ls", "stats"])
def test_nothing_that_is_a_dump_is_exit_code_2(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "readme.txt").write_text("nothing here\n")
    assert main([name, str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("fastdump: error: no dump file in ")
    assert "1 file skipped" in err


def test_nothing_that_was_asked_for_is_exit_code_2(
    dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stats", str(dump), "--op-type", "Conv*"]) == 2
    assert "no op_type 'Conv*' (op_types present: MatMul)" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_directory_that_may_not_be_read_is_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tmp_path.chmod(0)
    try:
        assert main(["stats", str(tmp_path)]) == 2
        assert capsys.readouterr().err.endswith(": Permission denied\n")
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("arguments", [["stats", "-n", "0"], ["stats", "--json"], ["ls"]])
def test_a_reader_that_goes_away_is_no_error(dump: Path, arguments: list[str]) -> None:
    process = subprocess.Popen(
        command(*arguments, dump), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("arguments", [["stats", "-n", "0"], ["stats", "--json"], ["ls"]])
def test_a_full_disk_under_stdout_is_an_error(dump: Path, arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        process = subprocess.run(
            command(*arguments, dump), stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert process.returncode == 2
    assert set(process.stderr.decode().splitlines()) <= {
        "fastdump: error: No space left on device",
        "fastdump: error: standard output: No space left on device",
    }
    assert process.stderr


@pytest.mark.parametrize("width", [50, 80, 120])
def test_lines_fit_the_terminal(dump: Path, width: int) -> None:
    out, err, code = on_terminal(["stats", dump, "-n", "50"], width=width)
    assert (code, err) == (0, "")
    _, table, hints = without_styles(out).split("\n\n")
    *prose, command = hints.splitlines()
    assert command.startswith("fastdump triage "), "a command can be copied as it is"
    assert max(cell_len(line) for line in (*table.splitlines(), *prose)) <= width
    header = next(line for line in table.splitlines() if re.search("op_name.*tensor", line))
    rows = table.splitlines()[-50:]
    assert "step" not in header
    assert all(re.search(r"(\u2026|layers/)\d/attention +(in|out)put\.\d", row) for row in rows)
    told = "in all rows: op_type MatMul"
    assert (told in table) == (width < 120)
    assert ("\u2026 in op_name: model/layers/" in table) == (width < 120)
    assert "left out" not in hints


def test_a_command_that_is_indented_stays_whole(dump: Path) -> None:
    out, _, code = on_terminal(["show", dump, "MatMul"], width=40)
    assert code == 2
    last = without_styles(out).splitlines()[-1]
    assert last.startswith("  fastdump show ")
    assert shlex.split(last)[2] == str(dump)
    assert main(shlex.split(last)[1:]) == 0


def test_colour_is_for_terminals_and_can_be_refused(dump: Path) -> None:
    coloured, _, _ = on_terminal(["stats", dump], width=120)
    assert re.search(r"\x1b\[[0-9;]*31m", coloured), "NaN is red"
    plain, _, _ = on_terminal(["stats", dump], width=120, NO_COLOR="1")
    assert without_styles(plain).splitlines()[1:] == without_styles(coloured).splitlines()[1:]
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", plain)


@pytest.mark.parametrize(
    ("environment", "has_styles", "has_colours"),
    [
        ({}, False, False),
        ({"CLICOLOR_FORCE": "1"}, True, True),
        ({"CLICOLOR_FORCE": "0"}, False, False),
        ({"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, True, False),
        ({"CLICOLOR_FORCE": "1", "TERM": "dumb"}, False, False),
    ],
)
def test_colour_in_a_pipe_is_asked_for(
    dump: Path, environment: dict[str, str], has_styles: bool, has_colours: bool
) -> None:
    names = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE")
    inherited = {name: value for name, value in os.environ.items() if name not in names}
    ended = subprocess.run(
        command("stats", dump, "-n", "5"),
        env=inherited | {"TERM": "xterm-256color"} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ("\x1b[" in ended.stdout) == has_styles
    assert bool(re.search(r"\x1b\[[0-9;]*3[0-9]", ended.stdout)) == has_colours
    assert "model/layers/0/attention" in ended.stdout, "names are whole"


def test_an_encoding_without_the_ellipsis_is_no_problem(dump: Path) -> None:
    out, err, code = on_terminal(["stats", dump], width=70, PYTHONIOENCODING="ascii")
    assert (code, err) == (0, "")
    assert out.isascii()
    assert "~" in without_styles(out).split("\n\n")[1]


def test_the_same_without_a_terminal_has_no_progress_bar(dump: Path) -> None:
    _, err, _ = on_terminal(["stats", dump], width=80)
    assert err == "", "stdout is a terminal, stderr is not"


def test_the_shell_completes_commands() -> None:
    environment = {
        "_FASTDUMP_COMPLETE": "bash_complete",
        "COMP_WORDS": "fastdump s",
        "COMP_CWORD": "1",
    }
    process = subprocess.run(
        command(), capture_output=True, text=True, env=os.environ | environment, check=True
    )
    completions = [line.partition(",")[2] for line in process.stdout.splitlines()]
    assert completions == ["stats", "show"]
