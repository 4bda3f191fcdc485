"""install.sh of the archives for hosts without a network, on hosts that are only played."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "packaging" / "install.sh"
PYTHON = """#!/bin/sh
case "$1 $2 $3" in
  -c*) echo {version} ;;
  "-m pip --version") {pip} ;;
  *) echo "$@" ;;
esac
"""


class Host:
    """A folder with programs that answer as a host's would, and an unpacked archive."""

    def __init__(self, folder: Path) -> None:
        self.programs = folder / "bin"
        self.archive = folder / "fastdump-0.1.0-linux-aarch64"
        self.programs.mkdir()
        self.archive.mkdir()
        script = SCRIPT.read_text().replace("@PLATFORM@", "aarch64").replace("@GLIBC_MINOR@", "24")
        (self.archive / "install.sh").write_text(script.replace("@PYTHONS@", "3.10, 3.11"))
        wheel = self.archive / "fastdump-0.1.0-cp311-cp311-manylinux2014_aarch64.whl"
        wheel.write_bytes(b"a wheel")
        digest = hashlib.sha256(b"a wheel").hexdigest()
        (self.archive / "SHA256SUMS").write_text(f"{digest}  {wheel.name}\n")
        self.wheel = wheel
        self.has("uname", 'case "$1" in -s) echo Linux ;; -m) echo aarch64 ;; esac')
        self.has("getconf", "echo glibc 2.28")
        self.has_python("3.11")

    def has(self, name: str, text: str) -> None:
        program = self.programs / name
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)

    def has_python(self, version: str, pip: str = "true", name: str = "python3") -> None:
        self.has(name, PYTHON.format(version=version, pip=pip))

    def install(self, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", str(self.archive / "install.sh"), *options],
            env={"PATH": f"{self.programs}:/usr/bin:/bin", **environment},
            capture_output=True,
            text=True,
        )


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_pip_gets_the_folder_alone_and_the_options(host: Host) -> None:
    done = host.install("--user")
    assert (done.returncode, done.stderr) == (0, "")
    words = done.stdout.split()
    assert words[:2] == ["-m", "pip"]
    assert words[words.index("install") + 1 :] == [
        "--no-index",
        "--find-links",
        str(host.archive),
        "--user",
        "fastdump[browse,parquet,report]",
    ]


def test_another_python_is_taken_where_one_is_named(host: Host) -> None:
    host.has_python("3.9")
    host.has_python("3.10", name="mine")
    assert "3.9" in host.install().stderr
    assert host.install(PYTHON="mine").returncode == 0


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("uname", "case $1 in -s) echo Linux ;; *) echo x86_64 ;; esac", "this is Linux on x86_64"),
        ("uname", "case $1 in -s) echo Darwin ;; *) echo aarch64 ;; esac", "this is Darwin"),
        ("getconf", "echo glibc 2.17", "glibc 2.24 is needed, here is glibc 2.17"),
        ("getconf", "exit 1", "there is no glibc here"),
        ("python3", "exit 127", "python3 does not run; PYTHON=... names another one"),
        ("python3", "echo 3.13", "for Python 3.10, 3.11; python3 is 3.13"),
        ("python3", "echo 3.1", "python3 is 3.1"),
        ("python3", PYTHON.format(version="3.11", pip="exit 1"), "python3 has no pip"),
    ],
)
def test_it_stops_in_words_where_it_cannot_be_installed(
    host: Host, name: str, text: str, said: str
) -> None:
    host.has(name, text)
    done = host.install()
    assert done.returncode == 1
    assert done.stderr.startswith("install.sh: ")
    assert said in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("harm", ["cut", "lost"])
def test_it_stops_where_the_archive_is_damaged(host: Host, harm: str) -> None:
    if harm == "cut":
        host.wheel.write_bytes(b"a wh")
    else:
        host.wheel.unlink()
    done = host.install()
    assert done.returncode == 1
    assert "damaged or not complete" in done.stderr
    assert "install" not in done.stdout
