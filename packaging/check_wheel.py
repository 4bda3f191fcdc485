"""Checks of a release wheel: it runs where its name says, and shows nothing of its builder."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from cyclonedx.schema import OutputFormat, SchemaVersion
from cyclonedx.validation import make_schemabased_validator
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerSymSection
from elftools.elf.sections import SymbolTableSection

LIBRARIES = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"}
UNWINDER = "libgcc_s.so.1"
LOADERS = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}
MACHINES = {"x86_64": "EM_X86_64", "aarch64": "EM_AARCH64"}


class WheelError(Exception):
    """A wheel that must not be published."""


def check(wheel: Path, platform: str, names_of_python: set[str], traces: list[str]) -> None:
    """Check a wheel.

    Parameters
    ----------
    wheel
        Its path.
    platform
        "x86_64" or "aarch64".
    names_of_python
        The symbols that the interpreter for which it is made exports.
    traces
        Texts that tell where it was built: none may be in the extension.

    Raises
    ------
    WheelError
        If it is not as it should be; the message says what was found.
    """
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".so")]
        code = archive.read(name)
        with archive.open(name) as file:
            check_extension(ELFFile(file), platform, names_of_python)
        (bill,) = [name for name in archive.namelist() if ".dist-info/sboms/" in name]
        validator = make_schemabased_validator(OutputFormat.JSON, SchemaVersion.V1_6)
        invalid = validator.validate_str(archive.read(bill).decode())
        require(invalid is None, f"its bill of materials is not CycloneDX: {invalid}")
    for trace in traces:
        require(trace.encode() not in code, f"the extension contains the path {trace}")
    tag = f"manylinux_2_17_{platform}"
    shown = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", wheel], capture_output=True, text=True
    )
    require(
        f'"{tag}"' in " ".join(shown.stdout.split()), f"auditwheel: {shown.stdout}{shown.stderr}"
    )


def check_extension(elf: ELFFile, platform: str, names_of_python: set[str]) -> None:
    """Check the extension alone."""
    require(elf["e_machine"] == MACHINES[platform], f"it is for {elf['e_machine']}")
    sections = {section.name for section in elf.iter_sections()}
    require(".symtab" not in sections, "it is not stripped")
    require(not any(name.startswith(".debug") for name in sections), "it has debug information")
    segments = {segment["p_type"]: segment for segment in elf.iter_segments()}
    require("PT_GNU_RELRO" in segments, "its tables stay writable")
    require(not segments["PT_GNU_STACK"]["p_flags"] & 1, "its stack is executable")
    dynamic = elf.get_section_by_name(".dynamic")
    assert isinstance(dynamic, DynamicSection)
    tags = {tag.entry.d_tag: tag for tag in dynamic.iter_tags()}
    require(not {"DT_RPATH", "DT_RUNPATH", "DT_TEXTREL"} & set(tags), f"it has {sorted(tags)}")
    needed = {tag.needed for tag in dynamic.iter_tags() if tag.entry.d_tag == "DT_NEEDED"}
    # Of another the frames of threads that are ended do not understand what glibc says.
    require(UNWINDER in needed, f"it does not unwind by {UNWINDER}")
    others = needed - LIBRARIES - {UNWINDER, LOADERS[platform]}
    require(not others, f"it needs {sorted(others)}")
    exported, of_python, of_nobody = set(), set(), set()
    symbols = elf.get_section_by_name(".dynsym")
    versions = elf.get_section_by_name(".gnu.version")
    assert isinstance(symbols, SymbolTableSection)
    assert isinstance(versions, GNUVerSymSection)
    for symbol, version in zip(symbols.iter_symbols(), versions.iter_symbols(), strict=True):
        if symbol["st_shndx"] != "SHN_UNDEF":
            exported.add(symbol.name)
        elif symbol.name.lstrip("_").startswith("Py"):
            of_python.add(symbol.name)
        # What a library has is asked for in a version of it; a weak symbol need not be there.
        elif version["ndx"] == "VER_NDX_GLOBAL" and symbol["st_info"]["bind"] != "STB_WEAK":
            of_nobody.add(symbol.name)
    require(exported == {"PyInit__core"}, f"it exports {sorted(exported)}")
    unknown = of_python - names_of_python
    require(not unknown, f"its Python has no {sorted(unknown)}")
    require(not of_nobody, f"no library that it names has {sorted(of_nobody)}")


def require(holds: bool, problem: str) -> None:
    """Raise a WheelError where something does not hold."""
    if not holds:
        raise WheelError(problem)
