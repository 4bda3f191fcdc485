"""Files that are written: whole or not at all, and never in place of something that is no file."""

from __future__ import annotations

import errno
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastdump
from fastdump import testing
from fastdump._atomic import check_replaceable, replacing
from fastdump._cli import main

X = np.arange(6, dtype=np.float32)
DUMP = "Add.a.1.2.1700000000000000"


def put(path: Path, content: bytes = b"after") -> None:
    with replacing(path) as file:
        file.write(content)


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "x.csv"
    path.write_bytes(b"before")
    return path


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return testing.write_dump(tmp_path / "dump" / DUMP, outputs=[X]).parent


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444, 0o4755])
def test_what_is_replaced_hands_on_its_mode(mode: int, path: Path) -> None:
    path.chmod(mode)
    with replacing(path) as file:
        (part,) = path.parent.glob(".fastdump-*.part")
        assert mode_of(part) & ~mode == 0, "nobody reads it who could not read the old one"
        file.write(b"after")
    assert path.read_bytes() == b"after"
    assert mode_of(path) == mode & 0o777


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_follows_the_umask(mask: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        put(tmp_path / "new")
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "new") == 0o666 & ~mask


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_what_is_replaced_hands_on_its_owner(path: Path) -> None:
    os.chown(path, 1234, 2345)
    path.chmod(0o640)
    put(path)
    found = path.stat()
    assert (found.st_uid, found.st_gid, mode_of(path)) == (1234, 2345, 0o640)


def test_an_owner_who_may_not_give_files_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def fchown(descriptor: int, uid: int, gid: int) -> None:
        tried.append((uid, gid))
        raise PermissionError(errno.EPERM, "Operation not permitted")

    found = os.fstat
    monkeypatch.setattr(os, "fchown", fchown)
    monkeypatch.setattr(
        os, "fstat", lambda fd: os.stat_result([*found(fd)[:4], 7, 8, *found(fd)[6:]])
    )
    put(path)
    assert path.read_bytes() == b"after"
    assert tried == [(os.geteuid(), os.getegid()), (-1, os.getegid())]


def test_a_link_is_written_through(path: Path) -> None:
    link = path.with_name("link")
    link.symlink_to(path.name)
    path.chmod(0o600)
    put(link)
    assert link.is_symlink()
    assert (path.read_bytes(), mode_of(path)) == (b"after", 0o600)
    dangling = path.with_name("dangling")
    dangling.symlink_to("made")
    put(dangling)
    assert path.with_name("made").read_bytes() == b"after"


def test_a_pipe_is_written_into(tmp_path: Path, dump: Path) -> None:
    pipe = tmp_path / "x.csv"
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    assert main(["stats", str(dump), "-o", str(pipe)]) == 0
    reader.join()
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    fastdump.stats(dump).write(tmp_path / "file.csv")
    assert found == [(tmp_path / "file.csv").read_bytes()]


def test_a_device_is_written_into(
    tmp_path: Path, dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("null", "full"):
        (tmp_path / f"{name}.csv").symlink_to(f"/dev/{name}")
    assert main(["stats", str(dump), "-o", str(tmp_path / "null.csv")]) == 0
    full = tmp_path / "full.csv"
    capsys.readouterr()
    assert main(["stats", str(dump), "-o", str(full)]) == 2
    assert capsys.readouterr().err == f"fastdump: error: {full}: No space left on device\n"
    assert Path("/dev/null").is_char_device()
    assert Path("/dev/full").is_char_device()


def test_standard_output_is_not_replaced(tmp_path: Path) -> None:
    new = [sys.executable, "-m", "fastdump", "config", "new", "overflow", "/data"]
    expected = subprocess.run(new, check=True, capture_output=True).stdout
    for name in ("/dev/stdout", "/dev/fd/1", "-"):
        target = tmp_path / "out"
        with target.open("wb") as out:
            subprocess.run([*new, "-o", name], stdout=out, check=True, cwd=tmp_path)
            assert os.path.samestat(os.fstat(out.fileno()), target.stat())
        assert target.read_bytes() == expected
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_something_else_is_not_replaced(
    tmp_path: Path, dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # A name of more than some 100 bytes would not fit the address of a socket.
    with socket.socket(socket.AF_UNIX) as one:
        before = Path.cwd()
        os.chdir(tmp_path)
        one.bind("socket.csv")
        os.chdir(before)
    (tmp_path / "directory.csv").mkdir()
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    (tmp_path / "missing.csv").symlink_to("none/x.csv")
    expected = {
        "socket.csv": "not replaced, because it is a socket",
        "directory.csv": "Is a directory",
        "loop.csv": "Too many levels of symbolic links",
        "missing.csv": "No such file or directory",
    }
    there = names(tmp_path)
    for name, words in expected.items():
        path = tmp_path / name
        for write in (put, check_replaceable):
            with pytest.raises(OSError, match=words):
                write(path)
        assert main(["stats", str(dump), "-o", str(path)]) == 2
        out, err = capsys.readouterr()
        assert out == "", "it fails before the work"
        assert words in err
    assert names(tmp_path) == there


FAULTS = ("open", "write", "fsync", "fchmod", "replace", "fdopen")
ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG, errno.EMFILE)


@pytest.mark.parametrize("error", ERRORS, ids=errno.errorcode.get)
@pytest.mark.parametrize("function", FAULTS)
def test_a_fault_leaves_what_was_there_and_names_the_file(
    function: str, error: int, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any, **options: Any) -> Any:
        if function == "open" and not arguments[1] & os.O_CREAT:
            return real(*arguments, **options)
        raise OSError(
            error, os.strerror(error), *map(str, arguments[:1]) if function == "open" else ()
        )

    with monkeypatch.context() as patched:
        if function == "write":
            with pytest.raises(OSError) as raised, replacing(path) as file:  # noqa: PT011, PT012
                file.write(b"aft")
                raise OSError(error, os.strerror(error))
        else:
            real: Callable[..., Any] = getattr(os, function)
            patched.setattr(os, function, fail)
            with pytest.raises(OSError) as raised:  # noqa: PT011
                put(path)
    assert raised.value.errno == error
    assert raised.value.filename == str(path)
    assert path.read_bytes() == b"before"
    assert names(path.parent) == [path.name]


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("function", ["open", "fsync", "fchmod", "replace"])
def test_an_interruption_at_any_call_leaves_no_part(
    function: str, interruption: type, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Callable[..., Any] = getattr(os, function)

    def interrupted(*arguments: Any, **options: Any) -> Any:
        if function == "replace":
            raise interruption
        done = real(*arguments, **options)
        if function != "open" or arguments[1] & os.O_CREAT:
            raise interruption
        return done

    with monkeypatch.context() as patched:
        patched.setattr(os, function, interrupted)
        with pytest.raises(interruption):
            put(path)
    assert path.read_bytes() == b"before"
    assert names(path.parent) == [path.name]


@pytest.mark.parametrize("is_new", [False, True])
def test_content_is_on_the_disk_before_the_name(
    is_new: bool, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_new:
        path.unlink()
    calls = []
    fsync, replace = os.fsync, os.replace

    def synchronise(descriptor: int) -> None:
        found = os.fstat(descriptor)
        is_directory = stat.S_ISDIR(found.st_mode)
        calls.append("directory" if is_directory else f"file of {found.st_size}")
        fsync(descriptor)

    def rename(*arguments: Any, **options: Any) -> None:
        calls.append("name")
        replace(*arguments, **options)

    monkeypatch.setattr(os, "fsync", synchronise)
    monkeypatch.setattr(os, "replace", rename)
    put(path)
    assert calls == ["file of 5", "name", "directory"]


def test_a_file_system_that_cannot_synchronise(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(descriptor: int) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", fsync)
    put(path)
    assert path.read_bytes() == b"after"


LIMITED = """
import resource, sys
from fastdump._cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("suffix", ["csv", "json", "arrow", "parquet"])
def test_a_limit_on_the_size_of_files(suffix: str, dump: Path, tmp_path: Path) -> None:
    path = tmp_path / f"x.{suffix}"
    path.write_bytes(b"before")
    command = [sys.executable, "-c", LIMITED, "stats", str(dump), "-o", str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (2, f"fastdump: error: {path}: File too large\n")
    assert ended.stdout.startswith("1 file, 1 tensor")
    assert path.read_bytes() == b"before"
    assert names(tmp_path) == ["dump", path.name]


def test_convert_follows_no_link_below_its_directory(tmp_path: Path) -> None:
    dump, out, elsewhere = tmp_path / "dump", tmp_path / "out", tmp_path / "elsewhere"
    for directory in ("whole", "linked/below", "pipe"):
        testing.write_dump(dump / directory / DUMP, outputs=[X])
    elsewhere.mkdir()
    (out / "pipe").mkdir(parents=True)
    os.mkfifo(out / "pipe" / f"{DUMP}.output.0.npy")
    (out / "linked").symlink_to(elsewhere)
    report = fastdump.convert(dump, out)
    assert report.written == 1
    reasons = {Path(found.path).parent.name: found.reason for found in report.findings}
    assert reasons == {
        "below": "not a directory, and links in the output directory are not followed: "
        f"{out / 'linked'}",
        "pipe": "not replaced, because it is a pipe: " + str(out / "pipe" / f"{DUMP}.output.0.npy"),
    }
    assert list(elsewhere.iterdir()) == []
    assert [path.name for path in out.rglob("*.part")] == []
    # The directory that the user names may be a link.
    (tmp_path / "named").symlink_to("elsewhere")
    assert fastdump.convert(dump / "whole", tmp_path / "named").written == 1
    assert len(list(elsewhere.iterdir())) == 1


def test_convert_keeps_the_mode_of_what_it_writes_again(dump: Path, tmp_path: Path) -> None:
    fastdump.convert(dump, tmp_path / "out")
    (file,) = (tmp_path / "out").iterdir()
    file.chmod(0o600)
    assert fastdump.convert(dump, tmp_path / "out", overwrite=True).written == 1
    assert mode_of(file) == 0o600


@pytest.mark.parametrize("exists", [False, True])
def test_the_list_of_failures_is_not_written_through_a_link(exists: bool, tmp_path: Path) -> None:
    precious, out = tmp_path / "precious", tmp_path / "out"
    out.mkdir()
    if exists:
        precious.write_text("mine")
    (out / "convert_failed_file_list.txt").symlink_to(precious)
    broken = tmp_path / DUMP
    broken.write_bytes(b"\xff" * 64)
    assert main(["convert", "-d", str(broken), "-out", str(out)]) == 3
    assert (out / "convert_failed_file_list.txt").read_text() == f"{broken}\n"
    assert precious.exists() == exists
    assert not exists or precious.read_text() == "mine"
