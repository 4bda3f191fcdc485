"""What triage found, as records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from fastdump._damage import Damage
from fastdump._schema import StatsRow
from fastdump._table_json import json_real
from fastdump._triage.links import CERTAINTY

if TYPE_CHECKING:
    from fastdump._table import StatsTable

_TENSOR_FIELDS = ("io", "index", "dtype", "format", "shape", "origin_shape", "nbytes", "count")
_REALS = ("max", "min", "mean", "l2norm")
_COUNTS = ("nan", "pos_inf", "neg_inf", "zero", "saturated", "first_bad")


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
        Of its first file, as written: mostly microseconds since 1970.
    paths
        Its files, relative to the dump's root; none if they are not in the dump.
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

    def to_dict(self) -> dict[str, Any]:
        """Return what `TriageReport.to_dict` has of it."""
        return {
            "rank": self.rank,
            "time": self.time,
            "device": self.device,
            "model": self.model,
            "model_id": self.model_id,
            "step": self.step,
            "op_type": self.op_type,
            "op_name": self.op_name,
            "timestamp": self.timestamp,
            "paths": list(self.paths),
        }


@dataclass(frozen=True, slots=True)
class Infected:
    """One operator of a chain, and how it is known that bad values came to it.

    Attributes
    ----------
    operator
        That was infected.
    read
        The input that the bad values came by; None if it is not known, or not dumped.
    made
        Its worst output; None if no output was dumped, or none is bad.
    known_by
        How it is known that `read` is what the operator before it in the chain made, best first:
        "content", "address", "statistics", "collective", "name", "order". docs/triage.md says what
        each means.
    """

    operator: OperatorRun
    read: StatsRow | None
    made: StatsRow | None
    known_by: tuple[str, ...]

    @property
    def certainty(self) -> str:
        """Of the best of `known_by`: "exact", "probable", "likely" or "guess"."""
        ranks = list(CERTAINTY)
        return CERTAINTY[min(self.known_by, key=ranks.index)]

    def to_dict(self) -> dict[str, Any]:
        """Return what `TriageReport.to_dict` has of it."""
        return {
            "operator": self.operator.to_dict(),
            "read": tensor_dict(self.read),
            "made": tensor_dict(self.made),
            "known_by": list(self.known_by),
            "certainty": self.certainty,
        }


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
        What makes it this verdict, in words.
    operator
        That made the bad values; with the verdicts "data" (unless it brings data in) and
        "overwritten" that read them. With "missing" it has no files.
    tensor
        The first bad tensor.
    inputs
        What the operator read, as far as that is in the dump.
    cause
        What may have happened, in words; None if nothing speaks for anything.
    damage
        Where the bad elements lie; None if the file is not at hand.
    last_clean
        Where the inputs are not known: the last operator before it that made clean outputs.
    """

    verdict: str
    reason: str
    operator: OperatorRun
    tensor: StatsRow
    inputs: tuple[StatsRow, ...] = ()
    cause: str | None = None
    damage: Damage | None = None
    last_clean: OperatorRun | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what `TriageReport.to_dict` has of it."""
        damage = self.damage
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "operator": self.operator.to_dict(),
            "tensor": tensor_dict(self.tensor),
            "inputs": [tensor_dict(row) for row in self.inputs],
            "cause": self.cause,
            "damage": None if damage is None else asdict(damage),
            "last_clean": None if self.last_clean is None else self.last_clean.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong.

    Attributes
    ----------
    kind
        "inf", "nan", "saturated", "zeros", "norm_jump", "headroom", "replicas_differ",
        "missing_step" or "missing_operator".
    severity
        "error": values are lost; "warning": they are suspicious.
    sentence
        What a person can act on.
    origin
        Where it began; None for "missing_step" and "missing_operator".
    also
        The same operator in other steps and on other ranks, of the same verdict.
    chain
        From the origin, which is not in it, to the last operator that was infected. Of the first
        findings only; of a long one the middle is left out.
    chain_length
        How many operators it has with its middle.
    received
        The operators by which other ranks got bad values first. Of the first findings only.
    infected
        How many executions of operators were infected, by rank; those of `origin` and `also` are
        among them. Of the first findings only.
    """

    kind: str
    severity: str
    sentence: str
    origin: Origin | None = None
    also: tuple[OperatorRun, ...] = ()
    chain: tuple[Infected, ...] = ()
    chain_length: int = 0
    received: tuple[Infected, ...] = ()
    infected: dict[int | None, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return what `TriageReport.to_dict` has of it."""
        return {
            "kind": self.kind,
            "severity": self.severity,
            "sentence": self.sentence,
            "origin": None if self.origin is None else self.origin.to_dict(),
            "also": [operator.to_dict() for operator in self.also],
            "chain": [infected.to_dict() for infected in self.chain],
            "chain_length": self.chain_length,
            "received": [infected.to_dict() for infected in self.received],
            "infected": [{"rank": rank, "operators": n} for rank, n in self.infected.items()],
        }


@dataclass(frozen=True, slots=True)
class Suppressed:
    """Tensors that look bad and are meant to be so.

    Attributes
    ----------
    pattern
        "mask", "uninitialised", "padding" or "absorbed".
    kind
        What they look like: a `Finding.kind`.
    op_type
        Of the operators.
    tensors
        How many.
    example
        The first of them.
    """

    pattern: str
    kind: str
    op_type: str | None
    tensors: int
    example: StatsRow

    def to_dict(self) -> dict[str, Any]:
        """Return what `TriageReport.to_dict` has of it."""
        operator = {
            name: getattr(self.example, name)
            for name in (
                *("rank", "time", "device", "model", "model_id", "step"),
                *("op_type", "op_name", "timestamp", "path"),
            )
        }
        return {
            "pattern": self.pattern,
            "kind": self.kind,
            "op_type": self.op_type,
            "tensors": self.tensors,
            "example": {**operator, **(tensor_dict(self.example) or {})},
        }


@dataclass(frozen=True, slots=True)
class TriageReport:
    """What `triage` found. Printing it gives the same text as the command.

    Attributes
    ----------
    sentence
        The first finding, or that there is none.
    findings
        Errors first, then by time.
    suppressed
        What looks bad and is not.
    notes
        What limits the answer: no files at hand, truncated tensors, statistics of the device.
    table
        The rows of the first finding: its origin's, then its chain's.
    summary
        ``tensors``, ``operators`` (executions), ``ranks``, ``steps``, and ``status``, the number of
        tensors by status.
    """

    sentence: str
    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    notes: tuple[str, ...]
    table: StatsTable
    summary: dict[str, Any]

    @property
    def clean(self) -> bool:
        """Whether there is no finding."""
        return not self.findings

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Where each finding began."""
        return tuple(found.origin for found in self.findings if found.origin is not None)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it but `table`, as ``fastdump triage --json`` prints it.

        docs/triage.md describes it. Floats that JSON does not have are texts: "inf", "-inf", "nan".
        """
        return {
            "clean": self.clean,
            "sentence": self.sentence,
            "findings": [found.to_dict() for found in self.findings],
            "suppressed": [suppressed.to_dict() for suppressed in self.suppressed],
            "notes": list(self.notes),
            "summary": dict(self.summary),
        }

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __repr__(self) -> str:
        from fastdump._triage.text import report_lines

        return "\n".join("".join(cell.text for cell in line) for line in report_lines(self))


def tensor_dict(row: StatsRow | None) -> dict[str, Any] | None:
    """Return what `TriageReport.to_dict` has of a tensor."""
    if row is None:
        return None
    document: dict[str, Any] = {name: getattr(row, name) for name in _TENSOR_FIELDS}
    document.update({name: json_real(getattr(row, name)) for name in _REALS})
    document.update({name: getattr(row, name) for name in (*_COUNTS, "status", "note", "path")})
    for name in ("shape", "origin_shape"):
        document[name] = None if document[name] is None else list(document[name])
    return document
