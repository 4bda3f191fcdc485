"""Schedulers and engines: what docs/several-machines.md says runs as it stands there.

Scripts run in processes of their own, with the engines that are installed.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from test_compare_executor import assert_same
from test_concat import assert_same_table
from test_documentation import DOCS, snippets

import fastdump
from fastdump.demo import write_demo

PAGE = DOCS / "several-machines.md"
FILES = {piece.name: piece.text for piece in snippets(PAGE) if piece.kind == "file"}

LAUNCHED = {
    "with_dask.py": ("distributed", "python with_dask.py"),
    "with_loky.py": ("loky", "python with_loky.py"),
    "with_mpi.py": ("mpi4py", "mpirun -n 4 python -m mpi4py.futures with_mpi.py"),
    "within_mpi.py": ("mpi4py", "mpirun -n 4 python within_mpi.py"),
    "with_ray.py": ("ray", "python with_ray.py"),
}
"""The engine that a script needs, and how it is started."""

EVERYTHING = """import fastdump


def everything(dump, executor):
    table = fastdump.stats(dump, executor=executor)
    table.write("stats.arrow")
    fastdump.compare("other", dump, executor=executor).write("compare.arrow")
    return table

"""


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with two runs of a model, `dump` and `other`."""
    root = tmp_path_factory.mktemp("engines")
    write_demo(root / "dump")
    write_demo(root / "other", wrong="model.layers.1.mlp.act_fn/Swish")
    return root


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Return the environment of a user who may start everything."""
    beside = os.path.dirname(sys.executable)  # noqa: PTH120
    sockets = tempfile.mkdtemp(prefix="fastdump")  # paths of sockets have to be short
    yield {
        **{name: value for name, value in os.environ.items() if not name.startswith("SLURM_")},
        "PATH": os.pathsep.join([str(tmp_path / "bin"), beside, os.environ.get("PATH", "")]),
        "HOME": str(tmp_path),
        # As root, and with fewer CPUs than processes, MPI and ray hesitate.
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "RAY_AUTH_MODE": "disabled",
        "RAY_TMPDIR": sockets,
        "RAY_USAGE_STATS_ENABLED": "0",
        "TMPDIR": sockets,
    }
    shutil.rmtree(sockets, ignore_errors=True)


def output_of(command: str, here: Path, environment: Mapping[str, str]) -> str:
    """Run a command, and return what it prints; what it started ends with it."""
    process = subprocess.Popen(
        ["bash", "-c", command],
        cwd=here,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=900)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    assert process.returncode == 0, f"{command}\n{out}\n{err}"
    return out


# Engines


def test_every_script_is_started() -> None:
    assert set(LAUNCHED) == {name for name in FILES if name.endswith(".py")}
    page = PAGE.read_text()
    assert all(f"`{command}`" in page for _, command in LAUNCHED.values() if "mpirun" in command)


@pytest.mark.parametrize("script", LAUNCHED)
def test_an_engine(
    script: str,
    dumps: Path,
    tmp_path: Path,
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine, command = LAUNCHED[script]
    if importlib.util.find_spec(engine) is None:
        pytest.skip(f"{engine} is not installed")
    if "mpirun" in command and shutil.which("mpirun", path=environment["PATH"]) is None:
        pytest.skip("mpirun is not installed")
    for name in ("dump", "other"):
        (tmp_path / name).symlink_to(dumps / name)
    # Where the page has stats(), compare() runs too, and both write what they find.
    text = FILES[script].replace("fastdump.stats(", "everything(")
    (tmp_path / script).write_text(text.replace("import fastdump\n", EVERYTHING, 1))
    printed = output_of(command, tmp_path, environment)
    monkeypatch.chdir(tmp_path)
    table = fastdump.stats("dump/")
    assert printed.splitlines()[-1] == f"{len(table)} {table.level}"
    assert_same_table(fastdump.read_stats("stats.arrow"), table)
    fastdump.compare("other", "dump/").write("expected.arrow")
    assert_same(*map(fastdump.read_comparison, ("compare.arrow", "expected.arrow")))


# Schedulers


def as_written(name: str, here: Path, *roots: str) -> str:
    """Return a file of the page with its directories below a directory of the test."""
    text, n = re.subn(rf"(?<![\w.])(?={'|'.join(roots)})", str(here), FILES[name])
    assert n
    return text


def assert_whole(parts: Path, dump: Path, n_parts: int) -> None:
    """Check that parts of a dump, written by as many tasks, are the table of the whole."""
    assert len(list(parts.glob("*.parquet"))) == n_parts
    found, whole = fastdump.read_stats(parts), fastdump.stats(dump, level="full")
    assert_same_table(found, whole)
    assert fastdump.triage(parts).sentence == fastdump.triage(dump).sentence


def test_a_job_array_of_slurm(dumps: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "lustre" / "parts").mkdir(parents=True)
    dump = tmp_path / "lustre" / "dump"
    dump.symlink_to(dumps / "dump")
    (tmp_path / "array.sh").write_text(as_written("array.sh", tmp_path, "/lustre/"))
    first, last = re.findall(r"--array=(\d+)-(\d+)", FILES["array.sh"])[0]
    for task in range(int(first), int(last) + 1):
        number = {"SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_COUNT": str(int(last) + 1)}
        output_of("bash array.sh", tmp_path, environment | number)
    assert_whole(tmp_path / "lustre" / "parts", dump, int(last) + 1)


def test_a_process_on_each_node_of_slurm(
    dumps: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    """Nodes have dumps of their own under the same path; ranks tell them apart."""
    (tmp_path / "lustre" / "parts").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    srun = tmp_path / "bin" / "srun"
    srun.write_text(SRUN)
    srun.chmod(0o755)
    (rank,) = (dumps / "dump").glob("*_rank1")
    for node in range(4):
        place = tmp_path / f"disk{node}" / "dump"
        shutil.copytree(next(rank.iterdir()), place / next(rank.iterdir()).name)
    (tmp_path / "nodes.sh").write_text(as_written("nodes.sh", tmp_path, "/lustre/", "/local/"))
    output_of("bash nodes.sh", tmp_path, environment)
    table = fastdump.read_stats(tmp_path / "lustre" / "parts")
    one = fastdump.stats(tmp_path / "disk0" / "dump", level="full")
    assert len(table) == 4 * len(one)
    for node in range(4):
        of_node = table.filter(rank=node)
        assert of_node["mean"].tobytes() == one["mean"].tobytes()
    assert set(table["path"]) == set(one["path"])


# Every task finds the disk of its own node under one name.
SRUN = """#!/bin/bash
for SLURM_PROCID in 0 1 2 3; do
  export SLURM_PROCID
  rm -f local; ln -s "disk$SLURM_PROCID" local
  "$@" || exit
done
"""


def test_an_indexed_job_of_kubernetes(
    dumps: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    (tmp_path / "data" / "parts").mkdir(parents=True)
    dump = tmp_path / "data" / "dump"
    dump.symlink_to(dumps / "dump")
    job = yaml.safe_load(as_written("job.yaml", tmp_path, "/data/"))
    container = job["spec"]["template"]["spec"]["containers"][0]
    assert job["spec"]["completionMode"] == "Indexed"
    command = shlex.join([*container["command"], *container["args"]])
    for index in range(job["spec"]["completions"]):
        output_of(command, tmp_path, environment | {"JOB_COMPLETION_INDEX": str(index)})
    assert_whole(tmp_path / "data" / "parts", dump, job["spec"]["completions"])
