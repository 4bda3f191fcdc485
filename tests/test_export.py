"""Exports: event files that TensorBoard's own reader reads, and text that Prometheus' parser does,
against numbers computed exactly from the arrays that a dump was written with.
"""

from __future__ import annotations

import importlib.util
import math
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
import pytest
from small_dumps import SmallDump

import fastdump
from fastdump import MissingDependencyError, StatsTable
from fastdump._cli import export, main
from fastdump._cli.scanning import Outcome
from fastdump._export import tensorboard
from fastdump._export.aggregates import STATISTICS
from fastdump._table.cells import Axis
from fastdump._table.overview import size_curves, statistic_curves
from fastdump._words.printable import printable

NAMES = {statistic.name for statistic in STATISTICS}
TIME_S = 1_700_000_000

needs_tensorboard = pytest.mark.skipif(
    importlib.util.find_spec("tensorboard") is None, reason="tensorboard is not installed"
)
needs_prometheus = pytest.mark.skipif(
    importlib.util.find_spec("prometheus_client") is None,
    reason="prometheus_client is not installed",
)

Place: TypeAlias = "tuple[int | None, int | None]"
MakeArrow: TypeAlias = "Callable[..., Any]"


# Truth


@dataclass(frozen=True)
class Written:
    """A tensor that a dump was written with."""

    rank: int
    step: int
    layer: int | None
    io: str
    array: np.ndarray[Any, Any]


def exact(tensors: Sequence[Written]) -> dict[str, float]:
    """Return the statistics of tensors together, one element after the other."""
    numbers: dict[str, list[float]] = defaultdict(list)
    counts: dict[str, int] = dict.fromkeys(("nan", "pos_inf", "neg_inf"), 0)
    shares: dict[str, int] = dict.fromkeys(("zero", "subnormal", "saturated"), 0)
    n_floats = n_bad = 0
    for tensor in tensors:
        elements = [float(x) for x in tensor.array.ravel()]
        counts["nan"] += sum(map(math.isnan, elements))
        counts["pos_inf"] += sum(x == math.inf for x in elements)
        counts["neg_inf"] += sum(x == -math.inf for x in elements)
        n_bad += any(math.isnan(x) or x == math.inf for x in elements)
        if tensor.array.dtype.kind == "i":
            continue
        limits = ml_dtypes.finfo(tensor.array.dtype)
        largest, smallest = float(limits.max), float(limits.smallest_normal)
        finite = [abs(x) for x in elements if math.isfinite(x)]
        n_floats += len(elements)
        shares["zero"] += sum(x == 0 for x in finite)
        shares["subnormal"] += sum(0 < x < smallest for x in finite)
        shares["saturated"] += sum(x == largest for x in finite)
        numbers["magnitudes"] += finite
        numbers["outputs"] += finite if tensor.io == "output" else []
        numbers["headroom"] += [largest / max(finite)] if any(finite) else []
    found = {f"{name}_elements": float(n) for name, n in counts.items()}
    found |= {"bad_tensors": float(n_bad), "incomplete_tensors": 0.0}
    if n_floats:
        found |= {f"{name}_ratio": n / n_floats for name, n in shares.items()}
    if numbers["outputs"]:
        squares = sum(Fraction(x) ** 2 for x in numbers["outputs"])
        found["rms"] = math.sqrt(squares / len(numbers["outputs"]))
    if numbers["magnitudes"]:
        found["max_abs"] = max(numbers["magnitudes"])
    if numbers["headroom"]:
        found["headroom_ratio"] = min(numbers["headroom"])
    return found


def by_place(tensors: Iterable[Written], *names: str) -> dict[Any, list[Written]]:
    groups = defaultdict(list)
    for tensor in tensors:
        groups[tuple(getattr(tensor, name) for name in names)].append(tensor)
    return groups


ARRAYS = {
    "plain": np.linspace(-3, 4, 24, dtype=np.float32).reshape(4, 6),
    "half": np.array([0, -0.0, 6e-8, 65504, -65504, 3, np.nan, np.inf], np.float16),
    "brain": np.array([1e38, 2, -np.inf, 0], ml_dtypes.bfloat16),
    "double": np.array([1e-3, -7.5, 0.125]),
    "nothing finite": np.array([np.nan, np.inf, -np.inf], np.float32),
    "zeros": np.zeros(5, np.float16),
    "integers": np.array([0, 5, -100000], np.int32),
}
OPERATORS = (
    ("MatMul model.layers.0.mm", ("plain", "half"), ("double",)),
    ("Add model.layers.0.add", ("integers",), ("half", "brain")),
    ("Add model.layers.12.add", ("nothing finite",), ("zeros", "plain")),
    ("Cast model.layers.7.cast", ("integers",), ("integers",)),
    ("Exp loss", ("zeros",), ("nothing finite",)),
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Written]]:
    """Return a dump and its arrays: two ranks, three steps, of which rank 1 lacks the last."""
    dump = SmallDump(tmp_path_factory.mktemp("dump"), n_ranks=2)
    tensors = []
    for rank, step in ((0, 0), (1, 0), (0, 1), (1, 1), (0, 20)):
        for name, inputs, outputs in OPERATORS:
            found = re.search(r"layers\.(\d+)", name)
            layer = None if found is None else int(found[1])
            scale = 1 + rank + step // 20
            arrays = {
                io: [(ARRAYS[key] / scale).astype(ARRAYS[key].dtype) for key in keys]
                for io, keys in (("input", inputs), ("output", outputs))
            }
            dump.op(name, arrays["input"], arrays["output"], rank=rank, step=step)
            tensors += [Written(rank, step, layer, io, x) for io in arrays for x in arrays[io]]
    return dump.root, tensors


# Readers of others


def scalars(directory: Path) -> dict[str, dict[int, float]]:
    """Return value by tag and step of the event files of one run, as TensorBoard reads them."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    reader = EventAccumulator(str(directory), size_guidance={"scalars": 0})
    reader.Reload()
    assert [kind for kind, tags in reader.Tags().items() if tags] == ["scalars"]
    return {
        tag: {event.step: event.value for event in reader.Scalars(tag)}
        for tag in reader.Tags()["scalars"]
    }


def n_points(directory: Path, tag: str) -> int:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    reader = EventAccumulator(str(directory), size_guidance={"scalars": 0})
    reader.Reload()
    return len(reader.Scalars(tag))


def runs_in(directory: Path) -> set[str]:
    found = directory.rglob("*tfevents*")
    return {path.parent.relative_to(directory).as_posix() for path in found}


def samples(text: str) -> dict[str, dict[Place, float]]:
    """Return value by rank and layer of each family of gauges, as Prometheus' parser reads it."""
    from prometheus_client.openmetrics.parser import text_string_to_metric_families

    found: dict[str, dict[Place, float]] = {}
    for family in text_string_to_metric_families(text):
        if family.type == "info":
            continue
        assert family.type == "gauge"
        assert family.documentation
        unit = family.name.rpartition("_")[2]
        assert family.unit == (unit if unit in ("ratio", "elements", "tensors") else "")
        values = found[family.name.removeprefix("fastdump_")] = {}
        for sample in family.samples:
            assert sample.name == family.name
            assert sample.labels.keys() <= {"rank", "layer"}
            place = tuple(
                int(sample.labels[name]) if name in sample.labels else None
                for name in ("rank", "layer")
            )
            assert place not in values
            values[place] = sample.value  # type: ignore[index]
    return found


def info(text: str) -> dict[str, str]:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families

    (family,) = (one for one in text_string_to_metric_families(text) if one.type == "info")
    (sample,) = family.samples
    assert sample.value == 1
    labels: dict[str, str] = sample.labels
    return labels


def assert_same(found: Mapping[Any, float], expected: Mapping[Any, float]) -> None:
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert found[key] == pytest.approx(value, rel=1e-12, abs=0), key


# Numbers


@needs_tensorboard
def test_every_scalar_of_every_layer_and_step(
    written: tuple[Path, list[Written]], tmp_path: Path
) -> None:
    dump, tensors = written
    files = fastdump.export_tensorboard(dump, tmp_path / "new" / "logs")
    assert [file.parent for file in files] == [
        tmp_path / "new/logs/rank0",
        tmp_path / "new/logs/rank1",
    ]
    for rank in (0, 1):
        expected: dict[str, dict[int, float]] = defaultdict(dict)
        of_rank = [tensor for tensor in tensors if tensor.rank == rank]
        for (step,), of_step in by_place(of_rank, "step").items():
            groups = {"all": of_step}
            for (layer,), of_layer in by_place(of_step, "layer").items():
                groups["no_layer" if layer is None else f"layer_{layer}"] = of_layer
            for name, group in groups.items():
                for statistic, value in exact(group).items():
                    expected[f"{statistic}/{name}"][step] = float(np.float32(value))
        found = scalars(files[rank].parent)
        assert found.keys() == expected.keys()
        for tag in expected:
            assert_same(found[tag], expected[tag])
    assert {tag.partition("/")[0] for tag in found} == NAMES


@needs_prometheus
def test_every_sample_of_the_last_step_of_each_rank(
    written: tuple[Path, list[Written]],
) -> None:
    dump, tensors = written
    last = {0: 20, 1: 1}
    expected: dict[str, dict[Place, float]] = defaultdict(dict)
    for place, group in by_place(
        (tensor for tensor in tensors if tensor.step == last[tensor.rank]), "rank", "layer"
    ).items():
        for statistic, value in exact(group).items():
            expected[statistic][place] = value
    found = samples(fastdump.openmetrics_text(dump))
    assert found.pop("step") == {(0, None): 20, (1, None): 1}
    assert found.keys() == NAMES == expected.keys()
    for statistic in NAMES:
        assert_same(found[statistic], expected[statistic])
    assert samples(fastdump.openmetrics_text(dump, step=0))["step"] == {(0, None): 0, (1, None): 0}


@needs_prometheus
def test_definitions_are_those_of_plots_and_pages(written: tuple[Path, list[Written]]) -> None:
    table = fastdump.stats(written[0], level="full", step=1)
    found = samples(fastdump.openmetrics_text(table))

    def in_layers(name: str) -> dict[Place, float]:
        return {place: x for place, x in found[name].items() if place[1] is not None}

    def drawn(curves: Any) -> dict[Place, float]:
        return {
            (int(curve.name.removeprefix("rank ")), int(layer)): float(y)
            for curve in curves.curves
            for layer, y in zip(curves.x_names, curve.y, strict=True)
            if not np.isnan(y)
        }

    for name, statistic in {"headroom_ratio": "headroom", "nan_elements": "nan"}.items():
        assert_same(in_layers(name), drawn(statistic_curves(table, statistic, "layer", "rank")))
    layers, ranks = (Axis.of(table.batch, name, 100) for name in ("layer", "rank"))
    assert_same(in_layers("rms"), drawn(size_curves(table, layers, ranks)))


@needs_prometheus
def test_squares_that_leave_the_range_of_float64(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    dump.op("Add layers.1.huge", outputs=[np.array([3e300, 4e300]), np.array([0.0])])
    dump.op("Add layers.2.tiny", outputs=[np.array([3e-300, 4e-300]), np.array([0.0])])
    dump.op("Add layers.3.zero", outputs=[np.zeros(3)])
    rms = samples(fastdump.openmetrics_text(tmp_path))["rms"]
    root = 5 / math.sqrt(3)
    assert_same(rms, {(None, 1): root * 1e300, (None, 2): root * 1e-300, (None, 3): 0.0})


@needs_tensorboard
def test_what_float32_cannot_hold_is_left_out(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path / "dump")
    dump.op("Add layers.1.a", outputs=[np.array([1e300])], step=0)
    dump.op("Add layers.1.a", outputs=[np.array([2.0])], step=1)
    (file,) = fastdump.export_tensorboard(dump.root, tmp_path / "logs")
    found = scalars(file.parent)
    assert found["max_abs/layer_1"] == {1: 2.0}
    assert found["bad_tensors/layer_1"] == {0: 0.0, 1: 0.0}


@needs_prometheus
def test_only_what_the_level_of_a_table_tells(written: tuple[Path, list[Written]]) -> None:
    known = {
        level: samples(fastdump.openmetrics_text(fastdump.stats(written[0], level=level))).items()
        for level in ("basic", "health")
    }
    shares = {"zero_ratio", "subnormal_ratio", "saturated_ratio"}
    basic, health = (
        {name for name, values in of.items() if values} for of in map(dict, known.values())
    )
    assert basic == NAMES - shares | {"step"}
    assert health == basic - {"rms", "max_abs", "headroom_ratio"}
    headers = StatsTable(fastdump.stats(written[0]), level="header")
    with pytest.raises(ValueError, match="level 'header': an export needs statistics"):
        fastdump.openmetrics_text(headers)


@needs_prometheus
def test_of_vendor_statistics_what_is_not_known_is_no_number(
    tmp_path: Path, make_arrow: MakeArrow
) -> None:
    reported = {"source": "csv", "io": "output", "dtype": "float32", "count": 4}
    rows = [
        # Moments of the vendor are over all elements, and tell of NaN where nothing was counted.
        {**reported, "layer": 1, "max": math.nan, "min": math.nan, "l2norm": math.nan},
        {**reported, "layer": 2, "max": math.inf, "min": -2.0, "l2norm": math.inf, "nan": 0},
        {**reported, "layer": 3, "max": 3.0, "min": -4.0, "l2norm": 6.0, "nan": 0, "pos_inf": 0},
        {**reported, "layer": 4, "count": None, "l2norm": 6.0},
        {**reported, "layer": 3, "count": None, "l2norm": 6.0, "max": math.inf},
    ]
    found = samples(fastdump.openmetrics_text(StatsTable(make_arrow(rows, full=True))))
    at = [(None, layer) for layer in range(5)]
    assert found["rms"] == {at[3]: 3.0}
    assert found["max_abs"] == {at[3]: 4.0}  # an infinite maximum hides the largest finite one
    assert found["nan_elements"] == {at[2]: 0.0, at[3]: 0.0}
    assert found["pos_inf_elements"] == {at[3]: 0.0}
    assert found["neg_inf_elements"] == found["zero_ratio"] == {}
    assert found["bad_tensors"] == {at[1]: 1.0, at[2]: 1.0, at[3]: 1.0, at[4]: 0.0}


@needs_prometheus
def test_counts_that_no_tensor_has_do_not_wrap_around(make_arrow: MakeArrow) -> None:
    rows = [{"io": "output", "dtype": "float32", "nan": 2**63 - 1, "count": 2**63 - 1}] * 3
    found = samples(fastdump.openmetrics_text(StatsTable(make_arrow(rows))))
    assert found["nan_elements"] == {(None, None): 3 * 2.0**63}


@needs_prometheus
def test_tensors_and_files_that_are_not_read_whole_are_counted(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    cut = dump.op("Add layers.1.a", outputs=[np.array([2.0, 9.0])])
    dump.op("Add layers.1.b", outputs=[np.array([1.0])])
    cut.write_bytes(cut.read_bytes()[:-8])
    (cut.parent / cut.name.replace("layers_1_a", "loss")).write_bytes(b"rubbish")
    found = samples(fastdump.openmetrics_text(tmp_path))
    assert found["incomplete_tensors"] == {(None, None): 1.0, (None, 1): 1.0}
    assert found["rms"] == {(None, 1): 1.0}


# Places that are not told


ROW = {"io": "output", "dtype": "float32", "count": 1, "nan": 0, "pos_inf": 0, "neg_inf": 0}


def rows_at(*places: tuple[int | None, int | None, int | None]) -> list[dict[str, Any]]:
    """Return a row for each rank, step and layer, with the values 1, 2, 4, ..."""
    return [
        {**ROW, "rank": rank, "step": step, "layer": layer, "max": 2.0**i, "min": 0.0}
        for i, (rank, step, layer) in enumerate(places)
    ]


@needs_tensorboard
def test_runs_of_rows_without_rank_or_step(tmp_path: Path, make_arrow: MakeArrow) -> None:
    # In a table of another program numbers may be negative: -1 is not null.
    places = [(None, None, 1), (None, 4, None), (-1, -1, -1), (-1, None, 2), (3, 2**63 - 1, 2**62)]
    table = StatsTable(make_arrow(rows_at(*places)))
    assert len(fastdump.export_tensorboard(table, tmp_path)) == 5
    found = {
        run: {tag: values for tag, values in scalars(tmp_path / run).items() if "max_abs" in tag}
        for run in runs_in(tmp_path)
    }
    assert found == {
        "no_step": {"max_abs/all": {0: 1.0}, "max_abs/layer_1": {0: 1.0}},
        ".": {"max_abs/all": {4: 2.0}, "max_abs/no_layer": {4: 2.0}},
        "rank-1": {"max_abs/all": {-1: 4.0}, "max_abs/layer_-1": {-1: 4.0}},
        "rank-1/no_step": {"max_abs/all": {0: 8.0}, "max_abs/layer_2": {0: 8.0}},
        "rank3": {
            "max_abs/all": {2**63 - 1: 16.0},
            f"max_abs/layer_{2**62}": {2**63 - 1: 16.0},
        },
    }


@needs_prometheus
def test_samples_of_rows_without_rank_or_step(make_arrow: MakeArrow) -> None:
    places = [(None, None, 1), (None, 4, 1), (None, 3, 1), (0, -5, None), (0, -7, 2), (1, None, 2)]
    text = fastdump.openmetrics_text(StatsTable(make_arrow(rows_at(*places))))
    found = samples(text)
    assert found["step"] == {(None, None): 4.0, (0, None): -5.0}
    # What tells no step counts with the last one.
    assert found["max_abs"] == {(None, 1): 2.0, (0, None): 8.0, (1, 2): 32.0}
    assert found["bad_tensors"] == {(None, 1): 0.0, (0, None): 0.0, (1, 2): 0.0}


@needs_tensorboard
def test_a_step_beyond_64_bits_is_none(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path / "dump")
    for step in (7, 2**63 - 1, 2**63, 2**70):
        dump.op("Add layers.1.a", outputs=[np.array([float(step)], np.float32)], step=step)
    fastdump.export_tensorboard(dump.root, tmp_path / "logs")
    found = {run: scalars(tmp_path / "logs" / run) for run in runs_in(tmp_path / "logs")}
    assert found["."]["max_abs/all"] == {7: 7.0, 2**63 - 1: 2.0**63}
    assert found["no_step"]["max_abs/all"] == {0: 2.0**70}


@needs_tensorboard
@needs_prometheus
def test_a_table_without_rows(tmp_path: Path, make_arrow: MakeArrow) -> None:
    table = StatsTable(make_arrow([]))
    assert fastdump.export_tensorboard(table, tmp_path / "logs") == []
    assert not (tmp_path / "logs").exists()
    assert not any(samples(fastdump.openmetrics_text(table)).values())


@needs_tensorboard
def test_the_time_of_a_step_is_that_of_its_first_operator(
    tmp_path: Path, make_arrow: MakeArrow, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    times = {0: [7_000_000, 5_500_000], 1: [None, 9_000_000], 2: [None], 3: [2**63 - 1], 4: [-1]}
    rows = [
        {**ROW, "step": step, "timestamp": at} for step, of_step in times.items() for at in of_step
    ]
    monkeypatch.setattr(tensorboard.time, "time", lambda: float(TIME_S))
    fastdump.export_tensorboard(StatsTable(make_arrow(rows)), tmp_path)
    reader = EventAccumulator(str(tmp_path))
    reader.Reload()
    found = {event.step: event.wall_time for event in reader.Scalars("bad_tensors/all")}
    assert found == {0: 5.5, 1: 9.0, 2: TIME_S, 3: TIME_S, 4: TIME_S}


# Directories that have event files


@needs_tensorboard
def test_a_run_with_event_files_is_refused_and_appended_to_if_asked(
    written: tuple[Path, list[Written]], tmp_path: Path
) -> None:
    logs = tmp_path / "logs"
    fastdump.export_tensorboard(written[0], logs, rank=1, step=0)
    before = sorted(logs.rglob("*"))
    with pytest.raises(FileExistsError, match="has event files already") as caught:
        fastdump.export_tensorboard(written[0], logs)
    assert caught.value.filename == str(logs / "rank1")
    assert sorted(logs.rglob("*")) == before
    files = fastdump.export_tensorboard(written[0], logs, step=1, append=True)
    assert sorted(logs.rglob("*tfevents*")) == sorted([*files, *set(before) - {logs / "rank1"}])
    assert set(scalars(logs / "rank1")["rms/all"]) == {0, 1}
    assert set(scalars(logs / "rank0")["rms/all"]) == {1}


@needs_tensorboard
def test_event_files_of_others_are_seen_where_a_run_would_be(
    written: tuple[Path, list[Written]], tmp_path: Path
) -> None:
    (tmp_path / "events.out.tfevents.1.host").touch()  # the run of a training
    (tmp_path / "rank0").mkdir()
    (tmp_path / "rank0" / "notes.txt").touch()
    assert len(fastdump.export_tensorboard(written[0], tmp_path, rank=0)) == 1
    (tmp_path / "rank1").mkdir()
    (tmp_path / "rank1" / "events.out.tfevents.1.host.v2").touch()
    with pytest.raises(FileExistsError, match="rank1"):
        fastdump.export_tensorboard(written[0], tmp_path, rank=1)


@needs_tensorboard
def test_all_runs_or_none(written: tuple[Path, list[Written]], tmp_path: Path) -> None:
    (tmp_path / "rank1").touch()
    with pytest.raises(NotADirectoryError, match="rank1"):
        fastdump.export_tensorboard(written[0], tmp_path)
    # Rank 0 was written when rank 1 fails.
    with pytest.raises(FileExistsError, match="rank1"):
        fastdump.export_tensorboard(written[0], tmp_path, append=True)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "rank1"]


@needs_tensorboard
def test_processes_that_export_at_the_same_time(
    written: tuple[Path, list[Written]], tmp_path: Path
) -> None:
    def exporting(*options: str) -> subprocess.Popen[bytes]:
        words = ("export", "tensorboard", written[0], tmp_path, *options)
        return subprocess.Popen([sys.executable, "-m", "fastdump", *map(str, words)])

    ranks = [exporting("--rank", rank) for rank in ("0", "1")]
    assert [process.wait() for process in ranks] == [0, 0]
    assert runs_in(tmp_path) == {"rank0", "rank1"}
    same = [exporting("--rank", "1", "--append") for _ in range(2)]
    assert [process.wait() for process in same] == [0, 0]
    assert len(list((tmp_path / "rank1").iterdir())) == 3
    assert n_points(tmp_path / "rank1", "rms/all") == 3 * 2


# Text


@needs_prometheus
@pytest.mark.parametrize(
    "name",
    ['quo"te', "back\\slash", "li\nne", "\x1b[2J", "right\u202eleft", "\u5c42", "\\n", "{,}=#"],
)
def test_labels_of_hostile_paths(name: str, tmp_path: Path) -> None:
    dump = SmallDump(tmp_path / name)
    dump.op("Add layers.1.a", outputs=[np.array([2.0])])
    text = fastdump.openmetrics_text(dump.root)
    assert info(text) == {
        "dump": printable(str(tmp_path / name)),
        "level": "full",
        "version": fastdump.__version__,
    }
    assert text.endswith("\n# EOF\n")
    assert all(line.isprintable() for line in text.splitlines())
    assert samples(text)["max_abs"] == {(None, 1): 2.0}


@needs_prometheus
def test_a_path_that_is_no_text(tmp_path: Path) -> None:
    root = Path(str(tmp_path), "\udcff")
    try:
        SmallDump(root).op("Add layers.1.a", outputs=[np.array([2.0])])
    except (OSError, UnicodeEncodeError):
        pytest.skip("the file system wants text for names")
    text = fastdump.openmetrics_text(root)
    assert info(text)["dump"] == printable(str(root))
    text.encode()


# The command


@needs_tensorboard
def test_the_command_for_tensorboard(
    written: tuple[Path, list[Written]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = tmp_path / "my logs"
    words = ["export", "tensorboard", str(written[0]), str(logs), "--io", "output"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert out == f"{logs}: event files of 2 runs\n\ntensorboard --logdir '{logs}'\n"
    files = fastdump.export_tensorboard(written[0], tmp_path / "python", io="output")
    for file in files:
        assert scalars(logs / file.parent.name) == scalars(file.parent)
    assert main(words) == 2
    assert f"{logs}/rank0: it has event files already" in capsys.readouterr().err
    assert main([*words, "--append"]) == 0
    assert len(list((logs / "rank0").iterdir())) == 2
    (tmp_path / "file").touch()
    assert main(["export", "tensorboard", str(written[0]), str(tmp_path / "file")]) == 2


@needs_tensorboard
def test_tables_are_inputs_of_the_command(
    written: tuple[Path, list[Written]], tmp_path: Path
) -> None:
    tables = []
    for rank in (0, 1):
        tables.append(str(tmp_path / f"{rank}.json"))
        fastdump.stats(written[0], level="full", rank=rank).write(tables[-1])
    assert main(["export", "tensorboard", *tables, str(tmp_path / "tables")]) == 0
    assert main(["export", "tensorboard", str(written[0]), str(tmp_path / "dump")]) == 0
    for rank in ("rank0", "rank1"):
        assert scalars(tmp_path / "tables" / rank) == scalars(tmp_path / "dump" / rank)


def test_the_command_for_prometheus(
    written: tuple[Path, list[Written]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump, output = str(written[0]), tmp_path / "fastdump.prom"
    expected = fastdump.openmetrics_text(dump, rank=1)
    assert main(["export", "openmetrics", dump, "--rank", "1"]) == 0
    assert capsys.readouterr().out == expected
    output.write_text("before")
    assert main(["export", "openmetrics", dump, "--rank", "1", "-o", str(output)]) == 0
    assert capsys.readouterr().out == ""
    assert output.read_text("utf-8") == expected
    assert main(["export", "openmetrics", str(tmp_path / "nothing"), "-o", str(output)]) == 2
    assert output.read_text("utf-8") == expected
    assert main(["export", "openmetrics", dump, "-o", str(tmp_path)]) == 2


def test_the_rank_of_a_dump_that_tells_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = SmallDump(tmp_path)
    dump.op("Add layers.1.a", outputs=[np.array([2.0])])
    assert main(["export", "openmetrics", str(tmp_path), "--as-rank", "5"]) == 0
    assert 'fastdump_max_abs{rank="5",layer="1"} 2.0\n' in capsys.readouterr().out
    assert 'fastdump_max_abs{rank="5",layer="1"} 2.0\n' in fastdump.openmetrics_text(
        tmp_path, as_rank=5
    )


@pytest.mark.parametrize("words", [["tensorboard"], ["openmetrics", "-o"]])
@needs_tensorboard
def test_exit_codes_of_what_was_not_read_whole(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = SmallDump(tmp_path / "dump")
    cut = dump.op("Add layers.1.a", outputs=[np.array([2.0, 9.0])])
    cut.write_bytes(cut.read_bytes()[:-8])
    kind, *option = words
    arguments = ["export", kind, str(dump.root), *option]
    assert main([*arguments, str(tmp_path / "cut")]) == 3
    assert (tmp_path / "cut").exists()
    # Sums over a part of the files would look like those of all.
    part = Outcome(fastdump.stats(dump.root, level="full"), interrupted=True)
    monkeypatch.setattr(export, "scan_for_triage", lambda *_, **__: part)
    assert main([*arguments, str(tmp_path / "interrupted")]) == 130
    assert not (tmp_path / "interrupted").exists()


def test_without_tensorboard_the_error_names_the_extra(
    written: tuple[Path, list[Written]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in [name for name in sys.modules if name.startswith("tensorboard.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'fastdump\[tensorboard\]'"):
        fastdump.export_tensorboard(written[0], tmp_path / "logs")
    assert main(["export", "tensorboard", str(written[0]), str(tmp_path / "logs")]) == 2
    assert "fastdump[tensorboard]" in capsys.readouterr().err
    assert not (tmp_path / "logs").exists()
    # That is told before anything is read.
    with pytest.raises(MissingDependencyError):
        fastdump.export_tensorboard(tmp_path / "nowhere", tmp_path / "logs")
    assert fastdump.openmetrics_text(written[0])


def test_the_page_lists_all_statistics() -> None:
    page = Path(__file__).resolve().parents[1] / "docs" / "export.md"
    if not page.is_file():
        pytest.skip("the source tree is not here")
    section = page.read_text().partition("## Statistics")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    assert {name for cell in cells for name in re.findall(r"`(\w+)`", cell)} == NAMES


def test_help_of_each_export_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("tensorboard", "openmetrics"):
        assert main(["export", name, "--help"]) == 0
        assert f"Examples:\n    fastdump export {name} " in capsys.readouterr().out
    assert main(["export", "tensorbord", "dump", "logs"]) == 2
    assert "Did you mean 'tensorboard'?" in capsys.readouterr().err
