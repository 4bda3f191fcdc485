"""The pager for what is longer than the screen."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fastdump import testing

N_FILES = 40


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("dump")
    for i in range(N_FILES):
        name = testing.dump_name("Add", f"a/{i}", task_id=i, stream_id=1, timestamp=10**15 + i)
        testing.write_dump(root / name, outputs=[np.ones(4, np.float32)])
    return root


@pytest.fixture
def pager(tmp_path: Path) -> Path:
    """Return a pager that writes what it gets, and LESS, beside itself."""
    script = tmp_path / "pager"
    script.write_text(f'#!/bin/sh\ncat > {tmp_path}/page\necho "$LESS" > {tmp_path}/less\n')
    script.chmod(0o755)
    return script


def on_terminal(*arguments: object, lines: int = 24, **environment: str) -> str:
    """Run with a terminal of some lines for stdin and stdout; return what reaches stdout."""
    parent, child = pty.openpty()
    names = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "PAGER", "LESS", "FASTDUMP_PAGER")
    inherited = {name: value for name, value in os.environ.items() if name not in names}
    terminal = {"TERM": "xterm", "COLUMNS": "100", "LINES": str(lines)}
    process = subprocess.Popen(
        [sys.executable, "-m", "fastdump", *map(str, arguments)],
        stdin=child,
        stdout=child,
        stderr=subprocess.PIPE,
        env=inherited | terminal | environment,
    )
    os.close(child)
    shown = b""
    with os.fdopen(parent, "rb", buffering=0) as screen:
        try:
            while chunk := screen.read(65536):
                shown += chunk
        except OSError:  # Linux reports the end so
            pass
    _, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    return shown.decode()


def n_rows(text: str) -> int:
    return text.count("output.0")


@pytest.mark.parametrize("variable", ["PAGER", "FASTDUMP_PAGER"])
def test_a_table_longer_than_the_screen_goes_to_the_pager(
    dump: Path, pager: Path, variable: str
) -> None:
    shown = on_terminal("stats", dump, "-n", "30", **{variable: str(pager)})
    page = pager.with_name("page").read_text()
    assert n_rows(shown) == 0
    assert n_rows(page) == 30
    assert page.startswith(f"{N_FILES} files")
    assert page.endswith("\n")
    assert "-n 0 prints all" in page, "hints are on the last page"
    assert "S" in pager.with_name("less").read_text(), "rows are not folded"


@pytest.mark.parametrize("question", ["ls", "show", "compare", "triage"])
def test_other_commands_page_too(dump: Path, pager: Path, question: str) -> None:
    what = {"show": [next(dump.iterdir())], "compare": [dump, dump, "-v"]}.get(question, [dump])
    # A screen of one line is too small for every answer.
    shown = on_terminal(question, *what, lines=1, PAGER=str(pager))
    assert shown == ""
    assert pager.with_name("page").read_text().strip()


def test_own_settings_of_less_stay(dump: Path, pager: Path) -> None:
    on_terminal("stats", dump, "-n", "30", PAGER=str(pager), LESS="-i")
    assert pager.with_name("less").read_text() == "-i\n"


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (["stats", "-n", "10"], {}),
        (["--no-pager", "stats", "-n", "30"], {}),
        (["stats", "-n", "30", "--json"], {}),
        (["stats", "-n", "30"], {"FASTDUMP_PAGER": ""}),
        (["stats", "-n", "30"], {"FASTDUMP_PAGER": "cat"}),
        (["stats", "-n", "30"], {"FASTDUMP_PAGER": "no-such-program -x"}),
        (["stats", "-n", "30"], {"FASTDUMP_PAGER": "'"}),
        (["stats", "-n", "30"], {"TERM": "dumb"}),
    ],
)
def test_what_is_not_paged(
    dump: Path, pager: Path, arguments: list[str], environment: dict[str, str]
) -> None:
    shown = on_terminal(*arguments, dump, **{"PAGER": str(pager)} | environment)
    assert not pager.with_name("page").exists()
    assert "output" in shown


def test_a_pipe_gets_no_pager(dump: Path, pager: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "fastdump", "stats", dump, "-n", "30"],
        env={**os.environ, "PAGER": str(pager), "LINES": "10"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert n_rows(ended.stdout) == 30
    assert not pager.with_name("page").exists()
