"""Makes the archives with which fastdump is installed where there is no network, one a platform.

    python packaging/bundle.py        from the wheels in dist/, into dist/

An archive has the wheels of fastdump for every Python that dist/ has one for, those of all that it
needs, with the extras `browse`, `parquet` and `report`, a script that installs them, and their
checksums.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from wheels import PLATFORMS, date_of_commit

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
SCRIPT = Path(__file__).with_name("install.sh")
# The oldest glibc for which everything has a wheel: arro3-core has none for less on aarch64.
GLIBC_MINOR = {"x86_64": 17, "aarch64": 24}


def download(wheel: Path, platform: str, into: Path) -> None:
    """Download what a wheel of fastdump needs, for its Python, and copy itself."""
    python = wheel.name.split("-")[2].removeprefix("cp")
    minors = range(17, GLIBC_MINOR[platform] + 1)
    platforms = [f"--platform=manylinux_2_{minor}_{platform}" for minor in reversed(minors)]
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"),
            *("--only-binary=:all:", "--implementation=cp", f"--python-version={python}"),
            *(*platforms, f"--platform=manylinux2014_{platform}", "--dest", str(into)),
            f"{wheel}[browse,parquet,report]",
        ],
        check=True,
    )


def write_archive(folder: Path, archive: Path) -> None:
    """Write a folder's files as an archive that is the same for the same files."""

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.mtime = int(os.environ["SOURCE_DATE_EPOCH"])
        member.mode = 0o755 if member.isdir() or member.name.endswith(".sh") else 0o644
        return member

    with tarfile.open(archive, "w") as tar:  # of wheels, which are compressed
        tar.add(folder, archive.stem, filter=plain)


def bundle(platform: str) -> Path | None:
    """Make the archive of a platform; None if there is no wheel for it."""
    wheels = sorted(DIST.glob(f"fastdump-*manylinux*_{platform}.whl"))
    if not wheels:
        return None
    versions = [f"3.{wheel.name.split('-')[2].removeprefix('cp3')}" for wheel in wheels]
    versions.sort(key=lambda version: int(version[2:]))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for wheel in wheels:
            download(wheel, platform, folder)
        names = sorted(path.name for path in folder.iterdir())
        sums = [hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names]
        lines = [f"{digest}  {name}\n" for digest, name in zip(sums, names, strict=True)]
        (folder / "SHA256SUMS").write_text("".join(lines))
        script = SCRIPT.read_text().replace("@PLATFORM@", platform)
        script = script.replace("@GLIBC_MINOR@", str(GLIBC_MINOR[platform]))
        (folder / "install.sh").write_text(script.replace("@PYTHONS@", ", ".join(versions)))
        archive = DIST / f"fastdump-{wheels[0].name.split('-')[1]}-linux-{platform}.tar"
        write_archive(folder, archive)
    return archive


def main() -> None:
    """Make the archives of all platforms."""
    os.environ.setdefault("SOURCE_DATE_EPOCH", date_of_commit())
    archives = [archive for archive in map(bundle, PLATFORMS) if archive]
    if not archives:
        sys.exit("dist/ has no wheel of fastdump: make wheels")
    for archive in archives:
        print(f"{archive}: {archive.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
