"""The notebook of docs/: run, and written with its outputs.

    python tests/story_notebook.py docs/story-of-a-nan.ipynb

``make notebook`` runs the cells and writes what they show into the same file; a test runs them and
compares. Outputs are those of the cells but for one thing: the temporary folder that a run works in
is cut off the paths.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbformat import NotebookNode

NOTEBOOK = Path(__file__).resolve().parents[1] / "docs" / "story-of-a-nan.ipynb"

_PATIENCE_S = 600
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def run(notebook: NotebookNode) -> NotebookNode:
    """Return a notebook with what its cells show when this interpreter runs them in a new folder.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        If a cell raises an exception.
    """
    notebook = nbformat.from_dict(notebook)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made).resolve()
        manager = AsyncKernelManager(
            connection_file=str(folder / "kernel.json"),
            # Sockets in the folder: nothing listens on a port.
            transport="ipc",
            ip=str(folder / "kernel"),
            # Of this interpreter, not one that is installed somewhere.
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
        )
        NotebookClient(
            notebook,
            km=manager,
            timeout=_PATIENCE_S,
            startup_timeout=_PATIENCE_S,
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": str(folder)}},
        ).execute(env=_environment(folder), cleanup_kc=True)
        temporary = re.compile(rf"{re.escape(str(folder))}(/tmp\w+)?/")
    notebook.metadata = nbformat.from_dict(_METADATA)
    for cell in notebook.cells:
        cell.metadata = NotebookNode()
        for output in cell.get("outputs", []):
            texts = output.get("data", output)
            for kind, text in texts.items():
                if isinstance(text, str) and not kind.startswith("image/"):
                    texts[kind] = temporary.sub("", text)
    return notebook


def _environment(folder: Path) -> dict[str, str]:
    """Return the environment of the kernel: no settings of a user's, English, one width."""
    chosen = ("FASTDUMP_", "IPYTHON", "JUPYTER", "CLICOLOR", "FORCE_COLOR", "NO_COLOR", "LANG")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(chosen)}
    return kept | {
        "COLUMNS": "100",
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_CONFIG_DIR": str(folder / "jupyter"),
        "JUPYTER_DATA_DIR": str(folder / "jupyter"),
        "JUPYTER_RUNTIME_DIR": str(folder / "jupyter"),
        "LC_ALL": "C.UTF-8",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "TMPDIR": str(folder),
    }


def main(path: Path) -> None:
    """Run a notebook and write it with what its cells show."""
    notebook = run(nbformat.read(path, as_version=4))
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                sys.exit(f"{path}: cell {cell.id} complains: {output.text}")
    nbformat.validate(notebook)
    path.write_text(nbformat.writes(notebook) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
