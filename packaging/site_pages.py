"""Pages that the site of the documentation has beside those of docs/: mkdocs calls what is here.

The README, CONTRIBUTING.md and CHANGELOG.md lie above docs/, the help of commands is what the
commands say, what Python has is in its docstrings, and notebooks are shown with their outputs.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import fastdump
from fastdump import config, errors, testing
from fastdump._cli import _COMMANDS, _command_line

ROOT = Path(__file__).parent.parent
PAGES = {
    "README.md": "overview.md",
    "README.zh.md": "zh/overview.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
"""Files above docs/, and the pages of the site that have them."""

API = {
    "questions": (
        "Questions",
        (
            *("triage", "follow", "compare", "overflow", "watcher", "convert", "report"),
            *("in_language", "export_tensorboard", "openmetrics_text"),
        ),
    ),
    "things": (
        "Things",
        (
            *("open", "stats", "read_stats", "concat", "read_comparison", "stats_of"),
            *("to_logical", "Dump", "Operator", "Tensor", "StatsTable", "StatsRow", "Selection"),
        ),
    ),
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made here."""
    made = {page: (ROOT / name).read_text("utf-8") for name, page in PAGES.items()}
    made["commands.md"] = commands_page()
    made |= {f"api/{name}.md": text for name, text in api_pages().items()}
    made |= {f"{path.stem}.md": notebook_page(path) for path in (ROOT / "docs").glob("*.ipynb")}
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """Lead links to where pages are on the site."""
    depth = page.file.src_uri.count("/")
    source = next((name for name, to in PAGES.items() if to == page.file.src_uri), None)

    def led(match: re.Match[str]) -> str:
        text, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        path, _, anchor = target.partition("#")
        # From here on, as seen from the top of the repository.
        path = path if source else f"docs/{path}"
        while "/../" in path:
            path = re.sub(r"[^/]+/\.\./", "", path, count=1)
        if path.startswith("docs/"):
            place: str | None = re.sub(r"\.ipynb$", ".md", path.removeprefix("docs/"))
        else:
            place = PAGES.get(path)
        if place is None:
            return text
        return f"[{text}]({'../' * depth}{place}{'#' + anchor if anchor else ''})"

    # Pages in a folder of docs/ have links as seen from there.
    if depth and source is None:
        return markdown
    return re.sub(r"(?<!!)\[([^]]+)\]\(([^)\s]+)\)", led, _pictures(markdown, source, depth))


def notebook_page(path: Path) -> str:
    """Return the cells of a notebook, with the outputs that it has."""
    # Tables are wide: no second contents beside them, and narrow cells.
    cells = ".md-typeset .fastdump table:not([class]) :is(td, th)"
    parts = ["---\nhide: [toc]\n---"]
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        parts += [_output(output, cell["id"]) for output in cell.get("outputs", [])]
    parts.append(f"<style>{cells} {{ min-width: 0; padding: .25em .5em }}</style>")
    parts.append(f'<a href="{path.name}" download>This page as a notebook</a>')
    return "\n\n".join(parts)


def _output(output: dict[str, Any], cell: str) -> str:
    shown = {kind: "".join(text) for kind, text in output.get("data", {}).items()}
    if "text/html" in shown:
        return f'<div style="overflow-x: auto">{shown["text/html"]}</div>'
    if "image/png" in shown:
        alternative = cell.replace("-", " ")
        return f'<img alt="{alternative}" src="data:image/png;base64,{shown["image/png"]}">'
    return f"```text\n{''.join(output['text'])}\n```"


def _pictures(markdown: str, source: str | None, depth: int) -> str:
    return re.sub(r"(!\[[^]]*\]\()docs/", rf"\1{'../' * depth}", markdown) if source else markdown


def commands_page() -> str:
    """Return the help of every command."""
    parts = ["# Commands", "What `fastdump COMMAND --help` prints."]
    with click.Context(_command_line, info_name="fastdump") as context:
        for name in _COMMANDS:
            command = _command_line.get_command(context, name)
            assert command is not None
            parts += _help(name, command, context)
    return "\n\n".join(parts)


def _help(name: str, command: click.Command, above: click.Context) -> list[str]:
    with click.Context(command, info_name=name, parent=above, terminal_width=90) as context:
        title = context.command_path.removeprefix("fastdump ")
        parts = [f"## {title}", f"```text\n{command.get_help(context)}\n```"]
        if isinstance(command, click.Group):
            for one in command.list_commands(context):
                inner = command.get_command(context, one)
                assert inner is not None
                parts += _help(one, inner, context)
        return parts


def api_pages() -> dict[str, str]:
    """Return a page for each group of public names."""
    listed = {name for _, names in API.values() for name in names}
    packages = {"config", "demo", "testing", "errors", "__version__"}
    rest = [
        name
        for name in fastdump.__all__
        if name not in listed | packages and name not in errors.__all__
    ]
    pages = {name: _api_page(title, "fastdump", names) for name, (title, names) in API.items()}
    pages["reports"] = _api_page("Reports, their findings, and types", "fastdump", rest)
    pages["config"] = _api_page("fastdump.config", "fastdump.config", config.__all__)
    pages["testing"] = _api_page("fastdump.testing", "fastdump.testing", testing.__all__)
    pages["errors"] = _api_page("Errors", "fastdump.errors", errors.__all__)
    return pages


def _api_page(title: str, module: str, names: Any) -> str:
    return "\n\n".join([f"# {title}", *(f"::: {module}.{name}" for name in names)])
