"""The command line when nothing goes as it should: no traceback, and an exit code of its own."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import numpy as np
import pytest

import fastdump
from fastdump import testing
from fastdump._cli import main, stats
from fastdump._cli.messages import say

X = np.arange(6, dtype=np.float32)
DUMP = "Add.a.1.2.1700000000000000"


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    testing.write_dump(tmp_path / "dump" / DUMP, inputs=[X], outputs=[X])
    return tmp_path / "dump"


class PanicError(BaseException):
    """As libraries in Rust raise it."""


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyError("x\x1b[2J"), 70, "internal error: KeyError: 'x\\x1b[2J'; FASTDUMP_DEBUG=1 shows"),
        (ValueError("one\ntwo"), 70, "internal error: ValueError: one two; FASTDUMP_DEBUG=1"),
        (AssertionError(), 70, "internal error: AssertionError; FASTDUMP_DEBUG=1 shows where"),
        (
            PanicError("index"),
            70,
            "internal error: PanicError: index; FASTDUMP_DEBUG=1 shows where",
        ),
        (RuntimeError("y" * 9999), 70, "internal error: RuntimeError: yyy"),
        (RecursionError("maximum"), 70, "internal error: something is nested too deeply; FASTDUMP"),
        (MemoryError(), 2, "error: not enough memory; "),
        (RuntimeError("can't start new thread"), 2, "error: the system grants no more threads"),
        (OSError(28, "No space left on device", "f.csv"), 2, "error: f.csv: No space left on dev"),
    ],
)
def test_an_unexpected_exception_is_one_line(
    error: BaseException,
    code: int,
    message: str,
    dump: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(stats, "scan_paths", fail)
    monkeypatch.delenv("FASTDUMP_DEBUG", raising=False)
    assert main(["stats", str(dump)]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"fastdump: {message}")
    assert err.count("\n") == 1
    assert len(err) < 400
    assert "Traceback" not in err
    monkeypatch.setenv("FASTDUMP_DEBUG", "1")
    assert main(["stats", str(dump)]) == code
    err = capsys.readouterr().err
    assert err.startswith("Traceback (most recent call last):\n")
    assert "in fail\n" in err
    assert err.splitlines()[-1].startswith("fastdump: ")


def test_a_thread_that_cannot_be_started(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(thread: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", start)
    out = tmp_path / "out"
    assert main(["convert", str(dump), str(out)]) == main(["stats", str(dump)])
    assert any(out.rglob("*.npy"))


def statistics(tmp_path: Path) -> Path:
    name = "Add.a.1.2.1700000000000000.csv"
    return testing.write_statistics_csv(tmp_path / name, inputs=[X], outputs=[X, X + 1])


@pytest.mark.parametrize("json", [[], ["--json"]])
def test_a_tensor_of_a_file_of_statistics(
    json: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = statistics(tmp_path)
    assert main(["show", f"{path}:output.1", *json]) == 0
    out = capsys.readouterr().out
    assert "output" in out
    assert "input" not in out
    assert main(["show", f"{path}:output.7", *json]) == 2
    err = capsys.readouterr().err
    assert err.endswith(" has no output.7; its tensors: input.0, output.0, output.1\n")


@pytest.mark.parametrize("suffix", ["csv", "json", "arrow", "parquet"])
def test_show_is_not_for_tables(
    suffix: str, dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / f"stats.{suffix}"
    fastdump.stats(dump).write(table)
    for target in (str(table), f"{table}:output.0"):
        assert main(["show", target]) == 2
        err = capsys.readouterr().err
        hint = "try 'fastdump stats', or name an operator behind it"
        assert err == f"fastdump: error: {table} is a table: {hint}\n"


INPUTS = {
    "empty": b"",
    "rubbish": bytes(range(256)) * 12,
    DUMP: b"\xff" * 3000,
    "Opdebug.Node_OpDebug.1.2.1700000000000000": bytes(range(256)) * 12,
    "rubbish.csv": bytes(range(256)) * 2,
    "text.csv": b"a,b\n1,2\n",
    "text.json": b'{"a": NaN, "rows": 3}',
    "rubbish.npy": b"\x93NUMPY" + bytes(100),
    "rubbish.parquet": b"PAR1" + bytes(100) + b"PAR1",
    "rubbish.arrow": b"ARROW1" + bytes(100) + b"ARROW1",
    "mapping.csv": b"123456789012345678901,Add.x.1.2.1700000000000000\n",
    "acl.json": b'{"dump": {"dump_path": "/data"}}',
}
SPECIAL = ("directory", "fifo", "link", "loop", "missing", "/dev/null", "/dev/zero", "", "a" * 5000)


@pytest.mark.parametrize("name", [*INPUTS, *SPECIAL])
def test_no_input_shows_a_traceback(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FASTDUMP_DEBUG", raising=False)
    testing.write_dump(tmp_path / "dump" / DUMP, outputs=[X])
    if name in INPUTS:
        Path(name).write_bytes(INPUTS[name])
    Path("directory").mkdir()
    os.mkfifo("fifo")
    Path("link").symlink_to("nowhere")
    Path("loop").symlink_to("loop")
    commands = [
        *(["ls", name], ["stats", name], ["triage", name], ["overflow", name], ["watcher", name]),
        *(["show", name], ["show", name, "--json"], ["show", f"{name}:output.0"]),
        *(["compare", name, name], ["compare", "dump", name], ["compare", name, "dump"]),
        *(["convert", name, "out"], ["convert", "-d", name, "-out", "out"]),
        *(["config", "check", name], ["config", "explain", name]),
        *(["config", "explain", "dump", "--config", name],),
    ]
    if name not in ("fifo", "/dev/zero"):  # what never ends, and what nobody writes into
        commands.append(["compare", "dump", "dump", "--map", name])
    for command in commands:
        code = main(command)
        err = capsys.readouterr().err
        assert code in (0, 1, 2, 3), (command, err)
        assert "Traceback" not in err, command
        if code == 2:
            assert err.startswith("fastdump: error: "), command
            assert err.count("\n") == 1, command


@pytest.mark.parametrize(
    ("closed", "code", "out", "err"),
    [
        (0, 0, "1 file", ""),
        (1, 2, "", "fastdump: error: standard output: Bad file descriptor\n"),
        (2, 0, "1 file", ""),
    ],
)
def test_a_standard_file_that_is_closed(
    closed: int, code: int, out: str, err: str, dump: Path, tmp_path: Path
) -> None:
    table = tmp_path / "stats.csv"
    command = [sys.executable, "-m", "fastdump", "stats", str(dump), "-o", str(table)]
    ended = subprocess.run(
        command,
        preexec_fn=lambda: os.close(closed),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (code, err)
    assert ended.stdout.startswith(out)
    if code == 0:
        assert len(fastdump.read_stats(table)) == 2


@pytest.mark.parametrize("is_there", [True, False], ids=["broken", "missing"])
def test_numpy_that_cannot_be_imported(dump: Path, tmp_path: Path, is_there: bool) -> None:
    program = "import sys; sys.modules['numpy'] = None"
    if is_there:
        (tmp_path / "numpy.py").write_text("raise ImportError('libopenblas.so.0: no such file')")
        program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})"
    program += f"; from fastdump._cli import main; sys.exit(main(['triage', {str(dump)!r}]))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("fastdump: error: numpy cannot be imported (")
    assert ("libopenblas.so.0" in done.stderr) == is_there
    assert done.stderr.endswith("; install it anew: pip install --force-reinstall numpy\n")


WIDTH = 60


@pytest.mark.parametrize(
    ("message", "whole", "lines"),
    [
        ("short", [], ["fastdump: short"]),
        (
            "words " * 20 + "end",
            [],
            [
                "fastdump: " + "words " * 7 + "words",
                "  " + "words " * 8 + "words",
                "  words words words end",
            ],
        ),
        (
            "no operator of that name: fastdump show 'a b' --rank 1 --step 1 --io output -v",
            [],
            [
                "fastdump: no operator of that name:",
                "  fastdump show 'a b' --rank 1 --step 1 --io output -v",
            ],
        ),
        (
            "try one of the other commands, 'fastdump triage a --rank 1' or so",
            [],
            [
                "fastdump: try one of the other commands,",
                "  'fastdump triage a --rank 1' or so",
            ],
        ),
        (
            "cannot open the file a path/with blanks in it/of many words: gone",
            ["a path/with blanks in it/of many words"],
            [
                "fastdump: cannot open the file",
                "  a path/with blanks in it/of many words: gone",
            ],
        ),
        ("/" + "x" * 80 + ": gone", [], ["fastdump:", "  /" + "x" * 80 + ":", "  gone"]),
        (
            "\u4e2d" * 20 + " " + "\u4e2d" * 20,
            [],
            ["fastdump: " + "\u4e2d" * 20, "  " + "\u4e2d" * 20],
        ),
    ],
)
def test_messages_are_wrapped_on_a_terminal(
    message: str, whole: list[str], lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, WIDTH, 0, 0))
    with os.fdopen(child, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        say(message, *whole)
        monkeypatch.undo()
        stream.flush()
        printed = os.read(parent, 4096).decode()
    os.close(parent)
    assert printed.splitlines() == lines
