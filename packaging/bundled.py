"""What the extension of a release wheel contains besides fastdump: licences, and a bill of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import zig_compiler


@dataclass(frozen=True)
class Component:
    """A library of others that is compiled into the extension.

    Attributes
    ----------
    name, version
        Its own.
    license
        An SPDX expression.
    purl
        Where it is from, as a package URL.
    license_file
        Its licence, in the packages that this build uses.
    """

    name: str
    version: str
    license: str
    purl: str
    license_file: Path


def components() -> list[Component]:
    """Return all of them, as they are installed here."""
    llvm = zig_compiler.llvm_version()
    pybind11 = distribution("pybind11")
    text = next(file for file in pybind11.files or [] if file.name == "LICENSE")
    return [
        Component(
            "pybind11",
            pybind11.version,
            "BSD-3-Clause",
            f"pkg:pypi/pybind11@{pybind11.version}",
            Path(str(pybind11.locate_file(text))),
        ),
        *(
            Component(
                name,
                llvm,
                "Apache-2.0 WITH LLVM-exception",
                f"pkg:github/llvm/llvm-project@llvmorg-{llvm}#{name}",
                zig_compiler.root() / "lib" / name / "LICENSE.TXT",
            )
            for name in ("libcxx", "libcxxabi")
        ),
    ]


def bill_of_materials(version: str, parts: list[Component]) -> str:
    """Return it as CycloneDX 1.6 in JSON, the same for the same parts."""
    fastdump: dict[str, Any] = {
        "bom-ref": f"pkg:pypi/fastdump@{version}",
        "type": "library",
        "name": "fastdump",
        "version": version,
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "purl": f"pkg:pypi/fastdump@{version}",
    }
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": fastdump},
        "components": [
            {
                "bom-ref": part.purl,
                "type": "library",
                "name": part.name,
                "version": part.version,
                "licenses": [{"expression": part.license}],
                "purl": part.purl,
            }
            for part in parts
        ],
        "dependencies": [
            {"ref": fastdump["bom-ref"], "dependsOn": [part.purl for part in parts]},
            *({"ref": part.purl, "dependsOn": []} for part in parts),
        ],
    }
    return json.dumps(bill, indent=2) + "\n"


def add_to(unpacked: Path, version: str, parts: list[Component]) -> None:
    """Add licences and the bill to an unpacked wheel, and tell of them in its metadata."""
    (info,) = unpacked.glob("*.dist-info")
    names = []
    for part in parts:
        name = f"{part.name}-LICENSE"
        (info / "licenses" / name).write_text(part.license_file.read_text())
        names.append(name)
    (info / "sboms").mkdir()
    (info / "sboms" / "fastdump.cdx.json").write_text(bill_of_materials(version, parts))
    metadata = info / "METADATA"
    head, blank, body = metadata.read_text().partition("\n\n")
    lines = []
    for line in head.splitlines():
        if line.startswith("License-Expression: "):
            # Each licence once, in the order of the parts.
            others = dict.fromkeys(part.license for part in parts)
            line += "".join(f" AND {other}" for other in others)
        lines.append(line)
    lines += [f"License-File: {name}" for name in names]
    metadata.write_text("\n".join(lines) + blank + body)
