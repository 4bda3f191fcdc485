"""The records of a triage report: findings, origins, chains, and suppressed tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from fastdump._array.damage import Damage
from fastdump._table.row import StatsRow
from fastdump._triage.kinds import Jump
from fastdump._triage.links import certainty_of
from fastdump._words.shown import Shown


@dataclass(frozen=True, slots=True)
class OperatorRun:
    """One execution of one operator. None stands for what the dump does not tell.

    Attributes
    ----------
    rank, time, device, model, model_id, step
        Where and when, as in the table of `fastdump.stats`.
    op_type, op_name
        Which operator.
    timestamp
        That of its first file, as written: usually microseconds since 1970.
    paths
        Its files, relative to the dump's root; () if they are not in the dump.
    """

    rank: int | None
    time: str | None
    device: int | None
    model: str | None
    model_id: int | None
    step: int | None
    op_type: str | None
    op_name: str | None
    timestamp: int | None
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Infected:
    """One operator of a chain, and how it is known that bad values reached it.

    Attributes
    ----------
    operator
        The operator that was infected.
    read
        The input with the bad values; None if it is not known, or was not dumped.
    made
        Its worst output; None if no output was dumped, or none is bad.
    known_by
        How it is known that `read` is what the operator before it in the chain made, best first:
        "content", "address", "statistics", "collective", "name", "order". docs/triage.md explains
        them.
    """

    also_in_json: ClassVar = ("certainty",)

    operator: OperatorRun
    read: StatsRow | None
    made: StatsRow | None
    known_by: tuple[str, ...]

    @property
    def certainty(self) -> str:
        """How sure the best of `known_by` is: "exact", "probable", "likely" or "guess"."""
        return certainty_of(self.known_by)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where bad values began.

    Attributes
    ----------
    verdict
        "origin" (inputs clean, output bad), "unknown" (what it read is not known), "missing" (it
        is not in the dump), "data" (bad when it was first read) or "overwritten" (clean when made,
        bad when read).
    reason
        Why this is the verdict, in words.
    operator
        The operator that made the bad values. With the verdicts "data" (unless it brings data in)
        and "overwritten", the one that read them; with "missing", it has no files.
    tensor
        The first bad tensor.
    inputs
        What the operator read, as far as that is in the dump.
    cause
        What may have happened, in words; None if nothing suggests a cause.
    damage
        Where the bad elements lie; None if the file is not at hand.
    last_clean
        If the inputs are not known, the last operator before it with clean outputs.
    jump
        For "norm_jump" how many times larger, or below 1 smaller, the values are than what is
        usual: `ratio`, and `usual` in words.
    """

    verdict: str
    reason: str
    operator: OperatorRun
    tensor: StatsRow
    inputs: tuple[StatsRow, ...] = ()
    cause: str | None = None
    damage: Damage | None = None
    last_clean: OperatorRun | None = None
    jump: Jump | None = None


class InfectedRank(NamedTuple):
    """Number of infected executions of operators on one rank, which is None if none is known."""

    rank: int | None
    operators: int


@dataclass(frozen=True, slots=True, repr=False)
class Finding(Shown):
    """One thing that is wrong.

    Attributes
    ----------
    kind
        "inf", "nan", "saturated", "zeros", "norm_jump", "headroom", "replicas_differ",
        "missing_step" or "missing_operator".
    severity
        "error": values are lost; "warning": they are suspicious.
    sentence
        The finding in one sentence, with what a person needs to act on it.
    origin
        Where it began; None for "missing_step" and "missing_operator".
    also
        The same operator in other steps and on other ranks, of the same verdict.
    chain
        The operators after the origin, up to the last one infected. Only the first findings have a
        chain, and a long one lacks its middle.
    chain_length
        Number of operators in the chain, its middle included.
    received
        The operators by which other ranks first got bad values. Only the first findings have them.
    infected
        Number of infected executions of operators on each rank, those of `origin` and `also`
        included. Only the first findings have it.
    """

    kind: str
    severity: str
    sentence: str
    origin: Origin | None = None
    also: tuple[OperatorRun, ...] = ()
    chain: tuple[Infected, ...] = ()
    chain_length: int = 0
    received: tuple[Infected, ...] = ()
    infected: tuple[InfectedRank, ...] = ()


@dataclass(frozen=True, slots=True)
class Suppressed:
    """Tensors that look bad and are meant to be so.

    Attributes
    ----------
    pattern
        "mask", "uninitialised", "padding" or "absorbed".
    kind
        The `Finding.kind` that they look like.
    op_type
        The type of the operators that made them.
    tensors
        Number of tensors.
    example
        The first of them.
    """

    pattern: str
    kind: str
    op_type: str | None
    tensors: int
    example: StatsRow
