"""Make a Debian root of aarch64 that has fastdump's wheel and what its tests import.

    python packaging/arm64_root.py ROOT WHEEL

Nothing is emulated meanwhile, as that takes minutes: mmdebstrap unpacks Debian's packages without
configuring them, and this machine's pip unpacks wheels for aarch64. What is there is kept, unless
the packages, the wheel or pyproject.toml have changed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

SUITE = "bookworm"  # Python 3.11, glibc 2.36
PACKAGES = [
    *("base-files", "base-passwd", "bash", "coreutils", "dash", "grep", "libc-bin", "sed"),
    # What wheels do not bring, and what tests start.
    *("libstdc++6", "media-types", "netbase", "procps", "python3", "tzdata"),
]
# Wheels for a glibc of at most that of the suite.
GLIBC_MINORS = range(17, 37)
SITE = "usr/local/lib/python3.11/dist-packages"


def is_current(stamp: Path, *made_of: bytes) -> bool:
    """Return whether what the stamp stands for was made of this; forget it otherwise."""
    digest = hashlib.sha256(b"\0".join(made_of)).hexdigest()
    if stamp.is_file() and stamp.read_text() == digest:
        return True
    stamp.unlink(missing_ok=True)
    stamp.with_suffix(".next").write_text(digest)
    return False


def complete(stamp: Path) -> None:
    """Note that what the stamp stands for has been made."""
    stamp.with_suffix(".next").replace(stamp)


def unpack_debian(root: Path) -> None:
    """Unpack Debian's packages, and add what configuring them would have made and tests need."""
    shutil.rmtree(root, ignore_errors=True)
    command = ["mmdebstrap", "--quiet", "--mode=root", "--variant=extract", "--arch=arm64"]
    subprocess.run(
        [*command, f"--include={','.join(PACKAGES)}", SUITE, str(root)],
        # Of the machine's settings for Python, none is for Debian's tools.
        env={**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"},
        check=True,
    )
    for name in ("dev", "proc", "root", "sys", "tmp"):
        (root / name).mkdir(exist_ok=True)
    for name in ("passwd", "group"):
        shutil.copy(root / f"usr/share/base-passwd/{name}.master", root / "etc" / name)


def unpack_wheels(root: Path, wheel: Path) -> None:
    """Unpack fastdump's wheel, what it asks for, and what its tests import."""
    shutil.rmtree(root / SITE, ignore_errors=True)
    platforms = [f"--platform=manylinux_2_{minor}_aarch64" for minor in GLIBC_MINORS]
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"),
            *("--target", str(root / SITE), "--only-binary=:all:", "--python-version=3.11"),
            *("--implementation=cp", "--platform=manylinux2014_aarch64", *platforms),
            *("--group=test", f"{wheel}[parquet,browse]", "pip"),
        ],
        check=True,
    )
    # pip's own would name the interpreter that runs pip.
    command = root / "usr/local/bin/fastdump"
    command.parent.mkdir(parents=True, exist_ok=True)
    command.write_text('#!/bin/sh\nexec python3 -m fastdump "$@"\n')
    command.chmod(0o755)


def main() -> None:
    """Make the root, or the part of it that is out of date."""
    root, wheel = map(Path, sys.argv[1:])
    root.parent.mkdir(parents=True, exist_ok=True)
    debian, wheels = root.with_suffix(".debian"), root.with_suffix(".wheels")
    if not is_current(debian, SUITE.encode(), *(name.encode() for name in PACKAGES)):
        wheels.unlink(missing_ok=True)
        unpack_debian(root)
        complete(debian)
    if not is_current(wheels, wheel.read_bytes(), Path("pyproject.toml").read_bytes()):
        unpack_wheels(root, wheel)
        complete(wheels)


if __name__ == "__main__":
    main()
