"""What each kind of finding takes, and what is just short of it; how verdicts come about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from small_dumps import SmallDump

import fastdump
from fastdump import testing
from fastdump._words.text_table import plain


def noise(*shape: int, seed: int = 0, scale: float = 1.0, dtype: Any = np.float16) -> Any:
    rng = np.random.default_rng([seed, *shape])
    return (rng.standard_normal(shape) * scale).astype(dtype)


def with_value(array: Any, value: float) -> Any:
    changed = array.copy()
    changed.reshape(-1)[5] = value
    return changed


def kinds_of(report: fastdump.TriageReport) -> list[str]:
    return [found.kind for found in report.findings]


# Values at the limits of their types


@pytest.mark.parametrize(
    ("dtype", "largest"),
    [
        (np.float16, 65504.0),
        (np.float32, 3.4028234663852886e38),
        (ml_dtypes.bfloat16, 3.3895313892515355e38),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_saturated_value_is_an_error(
    dtype: Any, largest: float, sign: int, tmp_path: Path
) -> None:
    dump = SmallDump(tmp_path)
    x, w = noise(4, 8, dtype=dtype), noise(8, 8, dtype=dtype)
    bad = with_value(noise(4, 8, seed=1, dtype=dtype), sign * largest)
    dump.op("MatMulV2 a", [x, w], [bad])
    report = fastdump.triage(tmp_path)
    (found,) = report.findings
    assert (found.kind, found.severity) == ("saturated", "error")
    assert "1 of 32 values are at the limit of" in found.sentence
    assert found.origin is not None
    assert found.origin.damage is not None
    assert found.origin.damage.place == "[0, 5]"


def test_what_is_just_below_the_limit_is_a_warning(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    x, w = noise(4, 8), noise(8, 8)
    dump.op("MatMulV2 a", [x, w], [with_value(x, 65472.0)])
    (found,) = fastdump.triage(tmp_path).findings
    assert (found.kind, found.severity) == ("headroom", "warning")
    assert "values reach 100% of what float16 holds" in found.sentence
    assert found.origin is not None
    assert found.origin.damage is not None
    assert found.origin.damage.place == "[0, 5]"


@pytest.mark.parametrize(("value", "kinds"), [(32752.0, ["headroom"]), (32736.0, [])])
def test_headroom_is_half_of_float16(value: float, kinds: list[str], tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    x, w = noise(4, 8), noise(8, 8)
    dump.op("MatMulV2 a", [x, w], [with_value(x, value)])
    assert kinds_of(fastdump.triage(tmp_path)) == kinds


@pytest.mark.parametrize(
    ("least", "words"),
    [
        (2.0**-10, "scaled down by up to 16, all stay normal"),
        (-(2.0**-9) + 2.0**-20, "scaled down by up to 16, all stay normal"),
        (2.0**-13, "scaled down by up to 2, all stay normal"),
        (-(2.0**-13) + 2.0**-24, "scaled down, the smallest, 0.000122, is subnormal"),
        (2.0**-24, "scaled down, the smallest, 5.96e-08, is subnormal"),
    ],
)
def test_headroom_says_whether_scaling_down_helps(least: float, words: str, tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    x, w = np.ones((4, 8), np.float16), noise(8, 8)
    x[0] = [0, -0.0, least, 1, 2, -52403.0, 40000, 3]
    assert x[0, 2] == least
    dump.op("MatMulV2 a", [w, w], [x])
    (found,) = fastdump.triage(tmp_path).findings
    assert found.kind == "headroom"
    assert f"values reach 80% of what float16 holds; {words}" in " ".join(str(found).split())


def test_headroom_is_told_once_where_it_began(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    x, w = noise(4, 8), noise(8, 8)
    large = with_value(x, 50000.0)
    dump.op("MatMulV2 a", [x, w], [large])
    dump.op("Relu b", [large], [np.maximum(large, 0)])
    dump.op("MatMulV2 c", [np.maximum(large, 0), w], [with_value(x, 40000.0)])
    (found,) = fastdump.triage(tmp_path).findings
    assert found.origin is not None
    assert found.origin.operator.op_name == "a"


def test_many_8_bit_values_at_the_limit_are_saturation(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    x = noise(16, 16, dtype=np.float32)
    clipped = np.clip(x * 2000, -448, 448).astype(ml_dtypes.float8_e4m3fn)
    dump.op("DynamicQuant q", [x], [clipped])
    assert kinds_of(fastdump.triage(tmp_path)) == ["saturated"]


# Zeros


def test_zeros_of_a_matmul_are_told_if_its_inputs_have_none(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    x, w, zeros = noise(4, 8), noise(8, 8), np.zeros((4, 8), np.float16)
    dump.op("MatMulV2 a", [x, w], [x])
    dump.op("MatMulV2 b", [x, w], [zeros])
    dump.op("MatMulV2 c", [zeros, w], [zeros])
    (found,) = fastdump.triage(tmp_path).findings
    assert (found.kind, found.severity) == ("zeros", "warning")
    assert found.origin is not None
    assert found.origin.operator.op_name == "b"
    assert "b makes nothing but zeros" in found.sentence
    assert [one.operator.op_name for one in found.chain] == ["c"]


def test_what_is_always_zero_is_not_sudden(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    x, w, zeros = noise(4, 8), noise(8, 8), np.zeros((4, 8), np.float16)
    for step in range(3):
        dump.op("MatMulV2 always", [x, w], [zeros], step=step)
        dump.op("MatMulV2 once", [x, w], [zeros if step == 1 else x], step=step)
    (found,) = fastdump.triage(tmp_path).findings
    assert found.origin is not None
    assert (found.origin.operator.op_name, found.origin.operator.step) == ("once", 1)


def test_a_few_zeros_say_nothing(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    dump.op("ReduceNorm a", [noise(4, 8)], [np.zeros(15, np.float16)])
    assert fastdump.triage(tmp_path).clean


# Jumps of the norm


@pytest.mark.parametrize(("times", "n"), [(1100, 1), (900, 0), (1 / 1100, 1), (1 / 900, 0)])
def test_a_jump_between_steps(times: float, n: int, tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    for step in range(4):
        x = noise(16, 16, dtype=np.float32)
        scale = np.float32(times if step == 2 else 1)
        dump.op("MatMulV2 a", [x, x], [x * scale], step=step)
    found = fastdump.triage(tmp_path).findings
    assert len(found) == n
    for one in found:
        assert (one.kind, one.severity) == ("norm_jump", "warning")
        assert one.origin is not None
        assert one.origin.operator.step == 2
        assert f"1,100 times {'larger' if times > 1 else 'smaller'} than before" in one.sentence


def test_a_jump_that_stays_is_told_once(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    for step in range(6):
        x = noise(16, 16, dtype=np.float32)
        y = x * np.float32(5000 if step >= 3 else 1)
        dump.op("MatMulV2 a", [x, x], [y], step=step)
        dump.op("Relu b", [y], [np.maximum(y, 0)], step=step)
    (found,) = fastdump.triage(tmp_path).findings
    assert found.origin is not None
    assert (found.origin.operator.op_name, found.origin.operator.step) == ("a", 3)
    assert {run.op_name for run in found.also} <= {"a"}


def test_a_jump_along_layers(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    for layer in range(6):
        x = noise(16, 16, seed=layer, dtype=np.float32)
        scale = np.float32(5000 if layer == 3 else 1)
        dump.op(f"MatMulV2 model.layers.{layer}.mlp/MatMul", [x, x], [x * scale])
    (found,) = fastdump.triage(tmp_path).findings
    assert found.origin is not None
    assert found.origin.operator.op_name == "model.layers.3.mlp/MatMul"
    assert "times larger than in other layers" in found.sentence


def test_a_jump_on_one_rank(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path, n_ranks=3)
    for rank in range(3):
        x = noise(16, 16, seed=rank, dtype=np.float32)
        scale = np.float32(5000 if rank == 1 else 1)
        dump.op("MatMulV2 a", [x, x], [x * scale], rank=rank)
    found = [one for one in fastdump.triage(tmp_path).findings if one.kind == "norm_jump"]
    assert [one.origin and one.origin.operator.rank for one in found] == [1]
    assert "times larger than on other ranks" in found[0].sentence


def test_a_jump_that_follows_from_an_error_is_not_told_again(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    for step in range(4):
        x = noise(16, 16, seed=step, dtype=np.float32)
        y = with_value(x, np.inf) if step == 2 else x
        clipped = np.clip(y, -1e6, 1e6)
        dump.op("MatMulV2 a", [x, x], [y], step=step)
        dump.op("ClipByValue b", [y], [clipped], step=step)
    assert np.linalg.norm(clipped) < 20
    assert kinds_of(fastdump.triage(tmp_path)) == ["inf"]


def test_of_two_ranks_that_differ_the_larger_is_told(tmp_path: Path) -> None:
    """In all steps alike: the smaller one is no second finding."""
    dump = SmallDump(tmp_path, n_ranks=2)
    for step in range(3):
        for rank, scale in enumerate((5000, 1)):
            x = noise(16, 16, seed=2 * step + rank, dtype=np.float32)
            dump.op("MatMulV2 a", [x, x], [x * np.float32(scale)], rank=rank, step=step)
    found = [one for one in fastdump.triage(tmp_path).findings if one.kind == "norm_jump"]
    ranks = {run.rank for one in found if one.origin for run in (one.origin.operator, *one.also)}
    assert ranks == {0}


# Verdicts


def test_a_constant_and_a_variable_bring_data_in(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    bad = with_value(noise(4, 8), np.nan)
    dump.op("Data tokens", [], [bad])
    dump.op("MatMulV2 a", [bad, noise(8, 8)], [bad])
    (origin,) = fastdump.triage(tmp_path).origins
    assert (origin.verdict, origin.operator.op_name) == ("data", "tokens")
    assert "NaN comes in with tokens" in fastdump.triage(tmp_path).sentence


def test_of_outputs_alone_too_data_is_brought_in(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    bad = with_value(noise(4, 8), np.nan)
    dump.op("Data tokens", [], [bad])
    dump.op("MatMulV2 a", [], [bad])
    (origin,) = fastdump.triage(tmp_path).origins
    assert (origin.verdict, origin.operator.op_name) == ("data", "tokens")


def test_an_operator_without_inputs_can_be_an_origin(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    bad = with_value(noise(4, 8), np.nan)
    dump.op("Range r", [], [bad])
    dump.op("Add a", [bad, noise(4, 8)], [bad])
    (origin,) = fastdump.triage(tmp_path).origins
    assert (origin.verdict, origin.operator.op_name) == ("origin", "r")
    assert "why: it has no inputs" in fastdump.triage(tmp_path).sentence


def test_inherited_is_no_finding_of_its_own(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    x, bad = noise(4, 8), with_value(noise(4, 8), np.nan)
    dump.op("Exp a", [x], [bad])
    for i in range(5):
        dump.op(f"Add b{i}", [bad, x], [bad])
    report = fastdump.triage(tmp_path)
    (found,) = report.findings
    assert dict(found.infected) == {None: 6}
    assert [origin.operator.op_name for origin in report.origins] == ["a"]


def test_two_origins_are_two_findings_by_time(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    x = noise(4, 8)
    dump.op("Exp late", [x], [with_value(noise(4, 8, seed=1), np.inf)], step=1)
    dump.op("Log early", [x], [with_value(noise(4, 8, seed=2), np.nan)], step=1)
    report = fastdump.triage(tmp_path)
    assert [origin.operator.op_name for origin in report.origins] == ["late", "early"]
    assert "+Inf first appears in late" in report.findings[0].sentence
    assert "NaN first appears in early" in report.findings[1].sentence


def test_errors_come_before_warnings(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    x, w = noise(4, 8), noise(8, 8)
    dump.op("MatMulV2 warned", [x, w], [with_value(x, 50000.0)])
    dump.op("MatMulV2 failed", [x, w], [with_value(x, np.inf)])
    assert kinds_of(fastdump.triage(tmp_path)) == ["inf", "headroom"]


def test_of_outputs_alone_a_step_after_a_clean_one_begins_anew(tmp_path: Path) -> None:
    """What was bad in the step before goes on, through weights; after a clean one it does not."""
    dump = SmallDump(tmp_path)
    bad, clean = with_value(noise(4, 8), np.nan), noise(4, 8)
    for step in range(6):
        dump.op("Exp a", [], [bad if step in (1, 2, 4) else clean], step=step)
        dump.op("Add b", [], [bad if step in (1, 2, 4) else clean], step=step)
    (found,) = fastdump.triage(tmp_path).findings
    assert found.origin is not None
    assert (found.origin.operator.op_name, found.origin.operator.step) == ("a", 1)
    assert [(run.op_name, run.step) for run in found.also] == [("a", 4)]


@pytest.mark.parametrize(
    ("op_type", "inputs", "bad", "words"),
    [
        ("Div", [np.ones(8), np.arange(8.0)], np.inf, "input.1 has 1 zero: a division by zero"),
        ("Rsqrt", [np.arange(8.0)], np.inf, "input.0 has 1 zero: a division by zero"),
        ("Sqrt", [np.arange(8.0) - 2], np.nan, "input.0 has negative values, down to -2"),
        (
            "Exp",
            [np.arange(8.0) * 20],
            np.inf,
            "inputs up to 140, float32 ends at 3.403e+38",
        ),
        (
            "Cast",
            [np.arange(8.0) * 1e39],
            np.inf,
            "inputs up to 7e+39, float32 ends at",
        ),
        (
            "Mul",
            [np.where(np.arange(8) > 3, -np.inf, 0.0), np.zeros(8)],
            np.nan,
            "-Inf in input.0, as masks have, times 0",
        ),
    ],
)
def test_causes(op_type: str, inputs: list[Any], bad: float, words: str, tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    dump.op(f"{op_type} a", inputs, [with_value(np.ones(8, np.float32), bad)])
    (origin,) = fastdump.triage(tmp_path).origins
    assert origin.cause is not None
    assert words in origin.cause


# Links


def test_no_cause_is_better_than_a_wrong_one(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    dump.op("Sqrt a", [np.arange(8.0) + 1], [with_value(np.ones(8, np.float32), np.nan)])
    (origin,) = fastdump.triage(tmp_path).origins
    assert origin.cause is None


def test_equal_statistics_are_no_link_if_the_bytes_differ(tmp_path: Path) -> None:
    """A transposed tensor has the same statistics, and hashes tell."""
    dump = SmallDump(tmp_path)
    x = with_value(noise(4, 4), np.nan)
    assert not np.array_equal(x, x.T, equal_nan=True)
    dump.op("Exp a", [noise(4, 4, seed=1)], [x])
    dump.op("TransposeD t", [x], [np.ascontiguousarray(x.T)])
    dump.op("Add b", [np.ascontiguousarray(x.T)], [x + 1])
    (found,) = fastdump.triage(tmp_path).findings
    assert [one.operator.op_name for one in found.chain] == ["t", "b"]
    assert [one.known_by for one in found.chain] == [("content",), ("content",)]


def test_many_equal_tensors_stay_fast_and_right(tmp_path: Path) -> None:
    """All-NaN tensors of one shape have one content: each reads what is before it."""
    dump = SmallDump(tmp_path)
    bad = np.full((4, 4), np.nan, np.float16)
    dump.op("Exp a", [noise(4, 4)], [bad])
    for i in range(40):
        dump.op(f"Add b{i}", [bad, noise(4, 4)], [bad])
    (found,) = fastdump.triage(tmp_path).findings
    assert dict(found.infected) == {None: 41}
    assert found.chain[-1].operator.op_name == "b39"


def test_what_was_read_before_is_not_infected(tmp_path: Path) -> None:
    """Two origins make the same all-NaN tensor: the later one did not infect the earlier reader."""
    dump = SmallDump(tmp_path)
    bad = np.full((4, 4), np.nan, np.float16)
    for i in range(2):
        dump.op(f"Exp a{i}", [noise(4, 4)], [bad])
        dump.op(f"Cast b{i}", [bad], [bad.astype(np.float32)])
    report = fastdump.triage(tmp_path)
    assert [origin.operator.op_name for origin in report.origins] == ["a0", "a1"]
    assert [one.operator.op_name for one in report.findings[1].chain] == ["b1"]
    assert dict(report.findings[1].infected) == {None: 2}


def test_a_long_chain_is_told_without_its_middle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fastdump._triage import story

    monkeypatch.setattr(story, "MAX_CHAIN", 4)
    dump = SmallDump(tmp_path)
    x = with_value(noise(4, 8), np.nan)
    dump.op("Exp a", [noise(4, 8)], [x])
    for i in range(10):
        y = with_value(noise(4, 8, seed=i + 1), np.nan)
        dump.op(f"Add b{i}", [x], [y])
        x = y
    report = fastdump.triage(tmp_path)
    (found,) = report.findings
    assert [one.operator.op_name for one in found.chain] == ["b0", "b1", "b8", "b9"]
    assert found.chain_length == 10
    assert any("6 in the middle left out" in plain(line) for line in report.in_full())


def test_very_many_findings_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fastdump._triage import story

    monkeypatch.setattr(story, "MAX_FINDINGS", 3)
    monkeypatch.setattr(story, "MAX_FOLLOWED", 2)
    dump = SmallDump(tmp_path)
    for i in range(5):
        dump.op(f"Exp a{i}", [noise(4, 8)], [with_value(noise(4, 8, seed=i), np.nan)])
    report = fastdump.triage(tmp_path)
    assert len(report.findings) == 3
    assert [bool(found.infected) for found in report.findings] == [True, True, False]
    assert "2 more findings in other operators" in report.notes


# Kinds of files


def test_every_dump_that_was_appended_is_an_execution_of_its_own(tmp_path: Path) -> None:
    """A loop writes the same file again and again."""
    x, bad = noise(4, 8), with_value(noise(4, 8), np.nan)
    name = testing.dump_name("Exp", "a", task_id=1, stream_id=1, timestamp=10**15)
    path = testing.write_dump(tmp_path / name, inputs=[x], outputs=[x], op_name="a")
    later = testing.write_dump(tmp_path / "later", inputs=[x], outputs=[bad], op_name="a")
    path.write_bytes(path.read_bytes() + later.read_bytes())
    later.unlink()
    report = fastdump.triage(tmp_path)
    assert report.summary["operators"] == 2
    (origin,) = report.origins
    assert (origin.verdict, origin.operator.op_name) == ("origin", "a")
    assert origin.damage is not None
    assert origin.damage.place == "[0, 5]"


def test_thread_slices_are_one_execution(tmp_path: Path) -> None:
    bad = with_value(noise(8, 8), np.nan)
    testing.write_ffts_slices(
        *(tmp_path, "MatMulV2", "a"),
        threads=4,
        inputs=[noise(8, 8)],
        outputs=[bad],
        task_id=1,
        stream_id=1,
        timestamp=10**15,
        context_id=0,
    )
    report = fastdump.triage(tmp_path)
    assert report.summary["operators"] == 1
    (origin,) = report.origins
    assert (origin.verdict, origin.operator.op_name) == ("origin", "a")


def test_what_a_watcher_repeats_is_left_out(tmp_path: Path) -> None:
    """After each operator the output of the watched one is dumped again, as one of the former."""
    dump = SmallDump(tmp_path)
    x, bad = noise(4, 8), with_value(noise(4, 8), np.nan)
    dump.op("MatMulV2 watched", [noise(4, 8, seed=1)], [x])
    dump.op("Add a", [x], [noise(4, 8, seed=2)])
    dump.op("Add a_To_watched", [], [x])
    dump.op("Exp b", [noise(4, 8, seed=3)], [noise(4, 8, seed=4)])
    dump.op("Exp b_To_watched", [], [bad])
    dump.op("Exp c_To_nobody", [noise(4, 8)], [noise(4, 8, seed=5)])
    report = fastdump.triage(tmp_path)
    assert report.clean, report.sentence
    assert report.summary["operators"] == 4
    assert "2 tensors that a watcher repeats are left out" in str(report)


def test_names_of_headers_and_of_files_are_one_operator(tmp_path: Path) -> None:
    """In step 1 the device wrote statistics, whose files have no header."""
    dump = SmallDump(tmp_path)
    x, bad = noise(4, 8), with_value(noise(4, 8), np.nan)
    dump.op("Exp layers.0/Exp", [x], [bad], step=0)
    dump.op("Exp layers_0_Exp", [x], [bad], step=1, csv=True)
    (found,) = fastdump.triage(tmp_path).findings
    assert found.origin is not None
    assert found.origin.operator.op_name == "layers.0/Exp"
    assert [(run.op_name, run.step) for run in found.also] == [("layers.0/Exp", 1)]


def test_statistics_without_counts_tell_by_their_moments(tmp_path: Path) -> None:
    """The vendor's Max and Min are NaN if there is one, and then nothing was counted."""
    dump = SmallDump(tmp_path)
    x = noise(4, 8)
    dump.op("MatMulV2 a", [x, noise(8, 8)], [with_value(x, np.nan)], csv=True)
    dump.op("Add b", [with_value(x, np.nan)], [with_value(x, np.nan)], csv=True)
    (origin,) = fastdump.triage(tmp_path).origins
    assert (origin.verdict, origin.operator.op_name) == ("origin", "a")
