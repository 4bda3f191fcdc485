"""Who imports whom in src/fastdump: no circles, and only what the tree in CONTRIBUTING.md allows.

A room is a package or a file directly below `fastdump`; the package's own ``__init__.py`` is the
room `fastdump`. Imports under ``if TYPE_CHECKING`` and inside functions count like all others.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "fastdump"
HEADING = "## The Python rooms"
LOADS_BY_NAME = {"fastdump", "fastdump._cli"}
"""Modules that import others of their own by names made at run time."""

Graph = Mapping[str, Iterable[str]]

if not (ROOT / "CONTRIBUTING.md").is_file() or not PACKAGE.is_dir():
    pytest.skip("the source tree is not here", allow_module_level=True)


# Reading imports


def modules_below(package: Path) -> dict[str, Path]:
    """Return the file of each module of a package, by its full name."""
    modules = {}
    for path in sorted((*package.rglob("*.py"), *package.rglob("*.pyi"))):
        parts = path.relative_to(package.parent).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def imported(name: str, source: str, is_package: bool, known: Iterable[str]) -> set[str]:
    """Return the known modules that the source of one module imports, wherever it does."""
    package = name if is_package else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            # What is imported from a package may be a module of it.
            submodules = {f"{base}.{alias.name}" for alias in node.names}
            found |= submodules & set(known)
            if any(f"{base}.{alias.name}" not in known for alias in node.names):
                found.add(base)
    return (found & set(known)) - {name}


def imports_of(package: Path) -> dict[str, set[str]]:
    modules = modules_below(package)
    return {
        name: imported(name, path.read_text("utf-8"), path.stem == "__init__", modules)
        for name, path in modules.items()
    }


def room_of(module: str) -> str:
    first, *rest = module.split(".")
    return rest[0] if rest else first


def rooms_of(imports: Graph) -> dict[str, set[str]]:
    """Return which rooms each room imports."""
    rooms: dict[str, set[str]] = {room_of(module): set() for module in imports}
    for module, targets in imports.items():
        rooms[room_of(module)] |= {room_of(target) for target in targets}
    return {room: targets - {room} for room, targets in rooms.items()}


# Graphs


def reached_from(node: str, graph: Graph) -> set[str]:
    """Return what can be reached from a node by one arrow or more."""
    reached: set[str] = set()
    waiting = list(graph[node])
    while waiting:
        at = waiting.pop()
        if at not in reached:
            reached.add(at)
            waiting += graph[at]
    return reached


def circle_in(graph: Graph) -> list[str]:
    """Return the nodes of a shortest circle of some node, along its arrows; none, if none is."""
    for start in sorted(graph):
        ways = [[start]]
        seen: set[str] = set()
        for way in ways:
            for node in sorted(graph[way[-1]]):
                if node == start:
                    return way
                if node not in seen:
                    seen.add(node)
                    ways.append([*way, node])
    return []


# The tree


def tree_in(text: str) -> dict[str, list[str]]:
    """Return the rooms of the tree and which rooms each line names, in the order of the lines."""
    section = text.partition(f"\n{HEADING}\n")[2].partition("\n## ")[0]
    lines: list[str] = []
    for line in section.splitlines():
        if re.match(r" {4}\S", line):
            lines.append(line.strip())
        elif re.match(r" {5,}\S", line) and lines:
            lines[-1] += "   " + line.strip()  # a line that goes on
    tree: dict[str, list[str]] = {}
    for line in lines:
        match = re.fullmatch(r"(\S+) +may import: (nothing|\w+(?:, \w+)*)   +(\S.*)", line)
        assert match, f"not 'room   may import: a, b   what lives there': {line!r}"
        room, names, _ = match.groups()
        assert room not in tree, f"{room} has two lines"
        tree[room] = [] if names == "nothing" else names.split(", ")
    return tree


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    return imports_of(PACKAGE)


@pytest.fixture(scope="module")
def tree() -> dict[str, list[str]]:
    found = tree_in((ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    assert found, f"CONTRIBUTING.md has no tree under {HEADING!r}"
    return found


# What holds


def test_no_file_imports_in_a_circle(imports: dict[str, set[str]]) -> None:
    assert len(imports) > 100  # else nothing was read
    assert " -> ".join(circle_in(imports)) == ""


def test_no_room_imports_in_a_circle(imports: dict[str, set[str]]) -> None:
    rooms = rooms_of(imports)
    assert len(rooms) > 20
    assert " -> ".join(circle_in(rooms)) == ""


def test_the_tree_has_each_room_once(
    imports: dict[str, set[str]], tree: dict[str, list[str]]
) -> None:
    assert sorted(tree) == sorted(rooms_of(imports))


def test_each_line_names_rooms_of_lines_before(tree: dict[str, list[str]]) -> None:
    before: set[str] = set()
    for room, names in tree.items():
        assert set(names) <= before, f"{room} may import what stands below it"
        before.add(room)


def test_rooms_import_only_what_the_tree_allows(
    imports: dict[str, set[str]], tree: dict[str, list[str]]
) -> None:
    forbidden = [
        f"{module} imports {target}"
        for module, targets in imports.items()
        for target in targets
        if room_of(target) != room_of(module)
        and room_of(target) not in reached_from(room_of(module), tree)
    ]
    assert forbidden == []


def test_the_tree_allows_no_more_than_what_is_imported(
    imports: dict[str, set[str]], tree: dict[str, list[str]]
) -> None:
    rooms = rooms_of(imports)
    unused = [f"{room}: {name}" for room in tree for name in tree[room] if name not in rooms[room]]
    assert unused == []
    # What another room of the line brings along is not named again.
    named_twice = [
        f"{room}: {name}"
        for room, names in tree.items()
        for name in names
        if any(name in reached_from(other, tree) for other in names)
    ]
    assert named_twice == []


def test_imports_by_name_are_where_they_are_expected() -> None:
    by_name = {
        name
        for name, path in modules_below(PACKAGE).items()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, (ast.Name, ast.Attribute, ast.alias))
        and {"import_module", "__import__"}
        & {getattr(node, "id", ""), getattr(node, "attr", ""), getattr(node, "name", "")}
    }
    assert by_name == LOADS_BY_NAME


# The reading itself


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import p.a", {"p.a"}),
        ("import p.a as short", {"p.a"}),
        ("import os, p.b.c", {"p.b.c"}),
        ("from p import a", {"p.a"}),
        ("from p import a, anything", {"p.a", "p"}),
        ("from p.a import anything", {"p.a"}),
        ("from p.b import c", {"p.b.c"}),
        ("from p.b import c, C", {"p.b.c", "p.b"}),
        ("from p.a import *", {"p.a"}),
        ("from . import c", {"p.b.c"}),
        ("from .c import anything", {"p.b.c"}),
        ("from .. import a", {"p.a"}),
        ("from ..a import anything", {"p.a"}),
        ("if TYPE_CHECKING:\n    from p.a import A", {"p.a"}),
        ("def f():\n    def g():\n        import p.a", {"p.a"}),
        ("try:\n    import p.a\nexcept ImportError:\n    pass", {"p.a"}),
        ("import numpy\nfrom pathlib import Path", set()),
        ("'import p.a'", set()),
    ],
)
def test_reading_imports(source: str, expected: set[str]) -> None:
    known = ["p", "p.a", "p.b", "p.b.c", "p.b.d"]
    assert imported("p.b.d", source, False, known) == expected


def test_relative_imports_of_a_package() -> None:
    known = ["p", "p.a", "p.b", "p.b.c"]
    assert imported("p.b", "from .c import C", True, known) == {"p.b.c"}
    assert imported("p.b", "from ..a import A", True, known) == {"p.a"}


def test_circles_are_seen() -> None:
    line = {"a": {"b"}, "b": {"c"}, "c": set[str]()}
    assert circle_in(line) == []
    assert circle_in(line | {"c": {"a"}}) == ["a", "b", "c"]
    assert circle_in({"a": {"b"}, "b": {"c", "d"}, "c": {"b"}, "d": set()}) == ["b", "c"]
    assert circle_in({"a": {"a"}}) == ["a"]
    through_another = {"a": {"b"}, "b": {"c", "d"}, "c": {"b"}, "d": {"a"}}
    assert circle_in(through_another) == ["a", "b", "d"]


def test_a_circle_of_rooms_need_not_be_one_of_files(tmp_path: Path) -> None:
    for path, source in {
        "p/__init__.py": "",
        "p/one/__init__.py": "",
        "p/one/a.py": "from p.two.b import B",
        "p/one/c.py": "",
        "p/two/__init__.py": "",
        "p/two/b.py": "def f():\n    from p.one import c",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(source)
    imports = imports_of(tmp_path / "p")
    assert circle_in(imports) == []
    assert circle_in(rooms_of(imports)) == ["one", "two"]


def test_reading_the_tree() -> None:
    text = (
        f"# Title\n\n## Other\n\n    a   no line of the tree\n\n{HEADING}\n\nWords.\n\n"
        "    _core   may import: nothing   numbers\n"
        "    x       may import: _core     letters, of all kinds\n"
        "    long    may import: _core, x\n"
        "                                  words\n"
        "\n## Next\n\n    b   no line of the tree\n"
    )
    assert tree_in(text) == {"_core": [], "x": ["_core"], "long": ["_core", "x"]}
    assert tree_in("# Title\n") == {}
    with pytest.raises(AssertionError, match="not 'room"):
        tree_in(f"\n{HEADING}\n\n    x   imports everything\n")
