"""What a shell completes: paths, and names, types and places out of a dump."""

from __future__ import annotations

import os
import pty
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import click
import numpy as np
import pytest
from click.shell_completion import ShellComplete
from small_dumps import SmallDump

import fastdump
from fastdump._cli import _COMMANDS, _command_line, completion

ONES = np.ones(2, np.float16)


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    small = SmallDump(tmp_path / "dump", n_ranks=2)
    for rank in range(2):
        for step in (3, 5):
            for layer in range(3):
                small.op(f"SoftmaxV2 model.layers.{layer}/attn", [], [ONES], rank=rank, step=step)
            small.op("MatMulV2 lm_head/MatMul", [], [ONES], rank=rank, step=step)
    return small.root


def completed(*words: object) -> list[tuple[str, str]]:
    """Return the kinds and texts that complete the last word."""
    *arguments, incomplete = map(str, words)
    shell = ShellComplete(_command_line, {}, "fastdump", "_FASTDUMP_COMPLETE")
    return [(item.type, item.value) for item in shell.get_completions(arguments, incomplete)]


def texts(*words: object) -> list[str]:
    found = completed(*words)
    assert {kind for kind, _ in found} <= {"plain"}
    return [text for _, text in found]


def leaves(group: click.Group, name: str) -> list[tuple[str, click.Command]]:
    context = click.Context(group)
    found = []
    for each in group.list_commands(context):
        command = group.get_command(context, each)
        assert command is not None
        if isinstance(command, click.Group):
            found += leaves(command, f"{name} {each}")
        else:
            found.append((f"{name} {each}".strip(), command))
    return found


def test_every_argument_of_every_command_is_a_path() -> None:
    commands = leaves(_command_line, "")
    assert len(commands) > len(_COMMANDS)
    n_arguments = 0
    for name, command in commands:
        arguments = [one for one in command.params if isinstance(one, click.Argument)]
        for i in range(len(arguments)):
            kinds = [kind for kind, _ in completed(*name.split(), *["some"] * i, "path")]
            assert kinds in (["file"], ["dir"]), f"{name}: {arguments[i].name}"
            n_arguments += 1
    assert n_arguments > 12


def test_a_dump_gives_names_and_types(dump: Path) -> None:
    names = ["lm_head_MatMul", *(f"model_layers_{layer}_attn" for layer in range(3))]
    assert texts("show", dump, "") == ["MatMulV2", "SoftmaxV2", *names]
    assert texts("show", dump, "Soft") == ["SoftmaxV2"]
    assert texts("show", dump, "model.layers.1") == ["model.layers.1_attn"]
    assert texts("stats", dump, "--op-name", "") == names
    assert texts("stats", dump, "--op-name", "lm") == ["lm_head_MatMul"]
    assert texts("triage", dump, "--op-type", "") == ["MatMulV2", "SoftmaxV2"]
    assert texts("ls", dump, "--step", "") == ["3", "5"]
    assert texts("show", dump, "lm*", "--rank", "") == ["0", "1"]
    assert texts("ls", dump, "--device", "1") == ["1"]
    assert texts("stats", dump, "--io", "o") == ["output"]


def test_a_table_gives_names_of_its_dump(dump: Path, tmp_path: Path) -> None:
    file = tmp_path / "stats.parquet"
    fastdump.stats(dump, op_type="Soft*").write(file)
    assert completed("show", file, "lm") == [("file", "lm")]
    assert texts("show", file, "model_layers_2") == ["model_layers_2_attn"]


def test_behind_a_dump_a_path_is_completed_where_no_name_fits(dump: Path) -> None:
    assert completed("show", dump, "other_dump") == [("file", "other_dump")]
    assert completed("show", "not there", "lm") == [("file", "lm")]
    assert completed("show", "lm") == [("file", "lm")]


def test_too_many_names_become_their_beginnings(tmp_path: Path) -> None:
    small = SmallDump(tmp_path / "dump")
    for layer in range(3):
        for number in range(120):
            small.op(f"Add layers.{layer}.op_{number}", [], [])
    assert texts("show", small.root, "layers") == [f"layers_{layer}_op" for layer in range(3)]
    assert len(texts("show", small.root, "layers_1_op")) == 120


def test_names_that_a_shell_would_expand_are_left_out(tmp_path: Path) -> None:
    small = SmallDump(tmp_path / "dump")
    for name in ("Add $(reboot)", "Add a;b", "Add x*y", "Add \x1b[31m", "Add a\nb", "Add 层_1"):
        small.op(name, [], [ONES])
    assert texts("show", small.root, "") == ["Add", "层_1"]


def test_of_a_large_dump_nothing_is_completed(dump: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completion, "_MAX_ENTRIES", 10)
    assert completed("show", dump, "lm") == [("file", "lm")]
    assert completed("stats", dump, "--step", "") == []


def test_what_cannot_be_read_completes_nothing(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    damaged = tmp_path / "stats.parquet"
    damaged.write_bytes(b"PAR1")
    for path in (empty, damaged):
        assert completed("show", path, "x") == [("file", "x")]
        assert completed("stats", path, "--step", "") == []


# Real shells


BASH, ZSH, FISH = map(shutil.which, ("bash", "zsh", "fish"))
CASES = [
    (["st"], ["stats"]),
    (["show", "dump", "lm"], ["lm_head_MatMul"]),
    (["show", "dump", "lm_head_MatMul", "--step", ""], ["3", "5"]),
    (["stats", "dump", "--op-name", "model.layers.2"], ["model.layers.2_attn"]),
]
"""Words that are typed, and what they are completed to."""


@pytest.fixture
def environment(dump: Path, tmp_path: Path) -> dict[str, str]:
    """Return the environment of a shell that finds the command, and no file of a user."""
    program = tmp_path / "bin" / "fastdump"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m fastdump "$@"\n')
    program.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    changed = {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(home), "TERM": "xterm"}
    return {**os.environ, **changed}


BASH_SCRIPT = """
compopt() {{ printf 'compopt %s %s\\n' "$1" "$2"; }}
eval "$(_FASTDUMP_COMPLETE=bash_source fastdump)"
COMP_WORDS=(fastdump {words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_fastdump_completion fastdump
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.mark.skipif(BASH is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        *CASES,
        (["stats", "du"], ["compopt -o default", ""]),
        (["stats", "nothing", "--op-name", ""], [""]),
    ],
)
def test_bash_completes(
    words: list[str], expected: list[str], dump: Path, environment: dict[str, str]
) -> None:
    assert BASH is not None
    process = subprocess.run(
        [BASH, "--norc", "-c", BASH_SCRIPT.format(words=" ".join(map(shlex.quote, words)))],
        capture_output=True,
        text=True,
        env=environment,
        cwd=dump.parent,
        check=True,
    )
    assert process.stderr == ""
    assert process.stdout.split("\n")[:-1] == expected


@pytest.mark.skipif(FISH is None, reason="fish is not installed")
@pytest.mark.parametrize(
    ("words", "expected"),
    [*CASES, (["stats", "du"], ["dump/"]), (["stats", "nothing", "--op-name", ""], [])],
)
def test_fish_completes(
    words: list[str], expected: list[str], dump: Path, environment: dict[str, str]
) -> None:
    assert FISH is not None
    script = (
        "_FASTDUMP_COMPLETE=fish_source fastdump | source\n"
        f"complete --do-complete {shlex.quote('fastdump ' + ' '.join(words))}"
    )
    process = subprocess.run(
        [FISH, "--no-config", "--command", script],
        capture_output=True,
        text=True,
        env=environment,
        cwd=dump.parent,
        check=True,
    )
    assert process.stderr == ""
    # What follows a tab is about the completion.
    assert [line.split("\t")[0] for line in process.stdout.splitlines()] == expected


# The last key leaves what stands on the command line in a file, and ends the shell.
ZSH_SCRIPT = r"""
autoload -Uz compinit && compinit -u -d $HOME/dumped
eval "$(_FASTDUMP_COMPLETE=zsh_source fastdump)"
leave() { print -r -- "$BUFFER" > $HOME/line; exit }
zle -N leave
bindkey -e
bindkey '^I' menu-complete
bindkey '^X' leave
setopt no_auto_remove_slash
unsetopt beep
"""


@pytest.mark.skipif(ZSH is None, reason="zsh is not installed")
@pytest.mark.parametrize(
    ("words", "expected"),
    [*CASES, (["stats", "du"], ["dump/"]), (["stats", "nothing", "--op-name", ""], [""])],
)
def test_zsh_completes(
    words: list[str], expected: list[str], dump: Path, environment: dict[str, str]
) -> None:
    """Keys are pressed: tab goes from each completion to the next."""
    assert ZSH is not None
    home = Path(environment["HOME"])
    (home / ".zshrc").write_text(ZSH_SCRIPT)
    typed = " ".join(["fastdump", *words])
    for n_tabs, text in enumerate(expected, 1):
        parent, child = pty.openpty()
        process = subprocess.Popen(
            [ZSH, "-i"],
            stdin=child,
            stdout=child,
            stderr=child,
            env=environment,
            cwd=dump.parent,
            start_new_session=True,
        )
        os.close(child)
        with os.fdopen(parent, "r+b", buffering=0) as terminal, suppress(OSError):
            terminal.write((typed + "\t" * n_tabs + "\x18").encode())
            while terminal.read(65536):
                pass
        assert process.wait(60) == 0
        line = (home / "line").read_text().removesuffix("\n")
        assert line.rstrip(" ") == " ".join(["fastdump", *words[:-1], text]).rstrip(" ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(shell: str) -> None:
    environment = {**os.environ, "_FASTDUMP_COMPLETE": f"{shell}_source"}
    process = subprocess.run(
        [sys.executable, "-m", "fastdump"],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert f"_FASTDUMP_COMPLETE={shell}_complete" in process.stdout


def test_a_shell_gets_no_message() -> None:
    environment = {**os.environ, "_FASTDUMP_COMPLETE": "bash_complete"}  # and no COMP_WORDS
    command = [sys.executable, "-m", "fastdump"]
    process = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (process.stdout, process.stderr) == ("", "")
    assert process.returncode != 0
