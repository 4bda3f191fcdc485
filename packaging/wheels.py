"""Builds the wheels of a release: for x86-64 and aarch64, for glibc 2.17 and newer.

    python packaging/wheels.py                    for every Python that is here, into dist/
    python packaging/wheels.py --python python3.12 --platform aarch64

The compiler is that of `ziglang`, whose linker knows the symbols of every glibc, so that neither a
container nor an old machine is needed. The headers of a Python on this machine serve for both
platforms: in what an extension sees, pyconfig.h is the same on every 64-bit Linux.

The same commit gives the same bytes, whoever builds it and wherever.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import bundled
import zig_compiler
from check_wheel import WheelError, check
from elftools.elf.elffile import ELFFile

ROOT = Path(__file__).parent.parent
PLATFORMS = ("x86_64", "aarch64")
VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
# What a Python tells of itself. Its symbols are in a library of its own, or in the program.
QUESTIONS = """
import json, os, sys, sysconfig
get = sysconfig.get_config_var
shared = os.path.join(get("LIBDIR") or "", get("LDLIBRARY") or "")
print(json.dumps({
    "tag": "cp%d%d" % sys.version_info[:2],
    "include": sysconfig.get_path("include"),
    "machine": get("MULTIARCH") or "",
    "library": shared if get("Py_ENABLE_SHARED") else os.path.realpath(sys.executable),
    "sizes": [get("SIZEOF_" + name) for name in ("VOID_P", "LONG", "SIZE_T", "WCHAR_T", "TIME_T")],
    "free_threaded": bool(get("Py_GIL_DISABLED")),
}))
"""
# Of every Linux with 64 bits that wheels are made for.
SIZES = [8, 8, 8, 4, 8]
BUILD = "import sys, scikit_build_core.build as build; build.build_wheel(sys.argv[1], {})"


@dataclass(frozen=True)
class Python:
    """An interpreter with headers.

    Attributes
    ----------
    program
        The interpreter.
    tag
        As in the names of wheels: "cp311".
    symbols
        What it exports.
    config
        The folder of pyconfig.h where the headers look for it by the name of the machine, as
        Debian's do: "/usr/include/x86_64-linux-gnu/python3.11".
    """

    program: str
    tag: str
    symbols: frozenset[str]
    config: Path | None


def read_python(program: str) -> Python | None:
    """Return what a Python says of itself; None if it does not run, or wheels are not for it."""
    try:
        asked = subprocess.run([program, "-c", QUESTIONS], capture_output=True, text=True)
    except OSError:
        return None
    if asked.returncode != 0:
        return None
    told = json.loads(asked.stdout)
    if told["free_threaded"] or not Path(told["include"], "Python.h").is_file():
        return None
    if told["sizes"] != SIZES:
        raise WheelError(f"{program} has types of {told['sizes']} bytes instead of {SIZES}")
    include = Path(told["include"])
    config = include.parent / told["machine"] / include.name
    has_config = told["machine"] != "" and (config / "pyconfig.h").is_file()
    with Path(told["library"]).open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
        names = frozenset(symbol.name for symbol in symbols)
    return Python(program, told["tag"], names, config if has_config else None)


def find_pythons() -> list[Python]:
    """Return the first of each version on PATH, or among those of pyenv."""
    found: dict[str, Python] = {}
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in VERSIONS:
        on_path = [shutil.which(f"python{version}")]
        for program in [*on_path, *map(str, sorted(pyenv.glob(f"{version}.*/bin/python")))]:
            python = read_python(program) if program else None
            if python and python.tag == f"cp{version.replace('.', '')}":
                found.setdefault(python.tag, python)
    return list(found.values())


def compile_wheel(python: Python, platform: str, into: Path) -> Path:
    """Compile, and return a wheel whose name does not promise anything yet."""
    definitions = zig_compiler.definitions(zig_compiler.target(platform))
    suffix = f"cpython-{python.tag[2:]}-{platform}-linux-gnu"
    definitions |= {
        "PYTHON_MODULE_EXTENSION": f".{suffix}.so",
        "Python_SOABI": suffix,
    }
    # One for all Pythons, so that the core is compiled once. The cache knows of one Python.
    objects = ROOT / "build" / "wheels" / platform
    (objects / "CMakeCache.txt").unlink(missing_ok=True)
    tools = [str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = {
        **os.environ,
        "PATH": os.pathsep.join(tools),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path.endswith("site-packages")),
        "_PYTHON_HOST_PLATFORM": f"linux-{platform}",
        "SKBUILD_BUILD_DIR": str(objects),
        "SKBUILD_INSTALL_STRIP": "false",  # by the linker: this machine's strip knows its own alone
        "SKBUILD_CMAKE_DEFINE": ";".join(f"{name}={value}" for name, value in definitions.items()),
    }
    if python.config:
        # Not all of /usr/include: zig brings the C library's headers.
        headers = objects / "include"
        link = headers / f"{platform}-linux-gnu" / python.config.name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(python.config)
        environment["CXXFLAGS"] = f"{os.environ.get('CXXFLAGS', '')} -isystem {headers}"
    subprocess.run(
        [python.program, "-c", BUILD, into], cwd=ROOT, env=environment, check=True, text=True
    )
    (wheel,) = into.glob("*.whl")
    return wheel


def finish(wheel: Path, python: Python, platform: str, into: Path) -> Path:
    """Add what belongs to the libraries in it, and give it its name."""
    parts = bundled.components()
    run_wheel("unpack", "--dest", wheel.parent, wheel)
    (unpacked,) = (path for path in wheel.parent.iterdir() if path.is_dir())
    bundled.add_to(unpacked, unpacked.name.split("-")[1], parts)
    for path in unpacked.rglob("*"):  # nothing of the umask
        path.chmod(0o755 if path.is_dir() or path.suffix == ".so" else 0o644)
    wheel.unlink()
    run_wheel("pack", "--dest-dir", wheel.parent, unpacked)
    tags = f"manylinux_2_17_{platform}.manylinux2014_{platform}"
    run_wheel("tags", "--remove", "--platform-tag", tags, wheel)
    (named,) = wheel.parent.glob("*.whl")
    # Where the compiler was, and what it compiled.
    check(named, platform, set(python.symbols), [str(ROOT), str(zig_compiler.root()), "/home/"])
    into.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(named, into))


def run_wheel(*arguments: object) -> None:
    """Run the command of the package `wheel`."""
    subprocess.run(
        [sys.executable, "-m", "wheel", *map(str, arguments)],
        check=True,
        stdout=subprocess.DEVNULL,
    )


def date_of_commit() -> str:
    """Return the date that stands in the wheel's files, in seconds of Unix."""
    asked = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    """Make the wheels that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", action="append", help="an interpreter; default: all there are")
    parser.add_argument("--platform", action="append", choices=PLATFORMS, help="default: both")
    parser.add_argument("--into", type=Path, default=ROOT / "dist", help="default: dist/")
    arguments = parser.parse_args()
    os.environ.setdefault("SOURCE_DATE_EPOCH", date_of_commit())
    # What zig compiles of its own libraries is kept beside what it compiles of fastdump.
    os.environ.setdefault("ZIG_GLOBAL_CACHE_DIR", str(ROOT / "build" / "zig"))
    os.environ.setdefault("ZIG_LOCAL_CACHE_DIR", str(ROOT / "build" / "zig"))
    named = {program: read_python(program) for program in arguments.python or ()}
    for program, python in named.items():
        if python is None:
            parser.error(f"{program} does not run, has no headers, or is free-threaded")
    pythons = [python for python in named.values() if python] or find_pythons()
    for platform in arguments.platform or PLATFORMS:
        for python in pythons:
            with tempfile.TemporaryDirectory() as folder:
                wheel = compile_wheel(python, platform, Path(folder))
                made = finish(wheel, python, platform, arguments.into)
            print(f"{made}: {made.stat().st_size / 1e6:.2f} MB", flush=True)


if __name__ == "__main__":
    try:
        main()
    except WheelError as error:
        sys.exit(f"not as a wheel has to be: {error}")
