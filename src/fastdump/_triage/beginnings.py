"""Where each kind of finding began, and what looks bad on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastdump._triage import findings, harmless
from fastdump._triage.chain import Spread
from fastdump._triage.evidence import Evidence
from fastdump._triage.findings import Jump, Kind
from fastdump._triage.infection import Infection
from fastdump._triage.origins import DATA, MISSING, UNKNOWN, Origins, Start
from fastdump._triage.rows import INPUT, NONE, OUTPUT, mixed
from fastdump.errors import FastdumpError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_PADDED = 64
_MAX_PADDED_NBYTES = 1 << 28
_PLAIN_FORMATS = frozenset({"ND", "NCHW", "NHWC", "HWCN", "NCDHW", "NDHWC", "DHWCN", "CHWN", "NCL"})


class Begun(NamedTuple):
    """One beginning, before it is put into words."""

    kind: Kind
    start: Start
    origins: Origins
    jump: Jump | None = None
    """Of a norm."""


class LooksBad(NamedTuple):
    """Rows that look bad on purpose."""

    pattern: str
    kind: Kind
    rows: NDArray[np.int64]


class Beginnings:
    """Looks for each kind in turn; what one kind explains, the next ones leave out.

    Attributes
    ----------
    begun : list of Begun
        In no order.
    suppressed : list of LooksBad
        What is harmless.
    hard : Infection
        Of NaN and infinities.
    uninitialised : ndarray of bool, shape (rows,)
        Inputs that are memory to which nothing was written.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._rows = rows = evidence.rows
        self._executions = executions = evidence.executions
        self._is_mask_maker = harmless.makes_masks(rows)
        self._computes = harmless.computes(rows)
        self._is_two_valued = harmless.is_two_valued(rows)
        self.begun: list[Begun] = []
        self.suppressed: list[LooksBad] = []
        self.uninitialised = np.zeros(rows.n, np.bool_)
        self._missing: set[tuple[int, int, int]] = set()

        self.hard = self._infection(self._bad_values())
        self._add_hard()
        explained = self.hard.makes_bad | self.hard.reads_bad
        at_max, at_min = findings.saturated(rows)
        self._add_near_limit(findings.SATURATED, at_max, at_min, explained)
        explained = explained | executions.outputs_in(at_max | at_min)
        high, low = findings.near_overflow(rows)
        self._add_near_limit(findings.HEADROOM, high, low, explained)
        self._add_zeros(explained)
        self._add_jumps(explained, self.hard.bad | rows.neg_inf | at_max | at_min)

    def _infection(self, bad: NDArray[np.bool_]) -> Infection:
        evidence = self._evidence
        bad = bad & evidence.tensors
        return Infection(evidence.rows, evidence.executions, evidence.links, bad)

    def _suppress(self, pattern: str, kind: Kind, rows: NDArray[np.int64]) -> None:
        self.suppressed.append(LooksBad(pattern, kind, rows))

    # NaN and infinities

    def _add_hard(self) -> None:
        origins = Origins(self._evidence, self.hard, readers="all")
        absorbed = np.array(origins.absorbed, np.int64)
        self._suppress(harmless.ABSORBED, findings.NAN, absorbed)
        for start in origins.starts:
            # Which of the two made the other is not known.
            is_nan = self._rows.n_nan[start.row] > 0
            kind = findings.NAN if is_nan else findings.INF
            self.begun.append(Begun(kind, start, origins))

    def _bad_values(self) -> NDArray[np.bool_]:
        """Return the rows with NaN and infinities that are not meant to be there."""
        rows = self._rows
        bad = rows.nan_or_pos_inf.copy()
        if rows.table.level != "health":
            # Counts alone do not tell one mask from another.
            bad |= self._harmful(rows.neg_inf, rows.nan_or_pos_inf)
        bad &= self._evidence.tensors
        masks = rows.neg_inf & ~bad & self._evidence.tensors
        self._suppress(harmless.MASK, findings.INF, np.flatnonzero(masks))

        allocated = harmless.leaves_uninitialised(rows)[rows.op] & (rows.io == OUTPUT) & bad
        if allocated.any():
            contents = self._evidence.links.contents
            self.uninitialised = np.isin(contents, contents[allocated]) & (rows.io == INPUT)
            self._suppress(harmless.UNINITIALISED, findings.NAN, np.flatnonzero(allocated))
            bad &= ~(allocated | self.uninitialised)

        padding = self._only_in_padding(bad)
        self._suppress(harmless.PADDING, findings.NAN, padding)
        bad[padding] = False
        return bad

    def _harmful(self, low: NDArray[np.bool_], high: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the rows in `low` that no mask made so, and that are not in `high`.

        Parameters
        ----------
        low
            Rows with values as masks have them: -Inf, or the smallest finite one.
        high
            Rows with values as only an accident makes them.
        """
        rows, executions = self._rows, self._executions
        harmful = np.zeros(rows.n, np.bool_)
        infection = self._infection(low)
        made = infection.makes_bad & ~infection.reads_bad
        made &= ~executions.outputs_in(low & high) & ~executions.inputs_in(high)
        is_known = (executions.n_inputs > 0) & ~infection.reads_unknown
        is_mask = self._makes_masks_only(low)
        made &= np.where(is_known, ~is_mask, self._computes[executions.op])
        origins = Origins(self._evidence, infection, readers="referenced")
        # What is known of operators that are not wholly in the dump is their name.
        starts = {
            start.execution
            for start in origins.starts
            if self._computes[start.op] and not high[start.row]
        }
        starts |= set(np.flatnonzero(made).tolist())
        if starts:
            reached = Spread(origins.graph, sorted(starts), guess=False).steps
            found = [row for execution in reached for row in infection.bad_outputs(execution)]
            found += [start.row for start in origins.starts if start.execution in starts]
            found += [step.read for step in reached.values() if step.read != NONE]
            harmful[found] = True
            contents = self._evidence.links.contents
            harmful |= infection.bad & np.isin(contents, contents[found])
        return harmful & ~high

    def _makes_masks_only(self, bad: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which executions make nothing but masks of the values that look bad."""
        executions = self._executions
        others = executions.outputs_in(bad & ~self._is_two_valued)
        by_values = ~others & ~self._computes[executions.op]
        return np.asarray(self._is_mask_maker[executions.op] | by_values)

    def _only_in_padding(self, bad: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the first rows in `bad` whose bad values are in the padding of their format."""
        if not self._evidence.files.are_at_hand or not bad.any():
            return np.empty(0, np.int64)
        rows = self._rows
        candidates = np.flatnonzero(bad & ~rows.is_in("format", _PLAIN_FORMATS))
        candidates = candidates[np.argsort(rows.when[candidates], kind="stable")]
        found = [row for row in candidates[:_MAX_PADDED].tolist() if self._is_in_padding(row)]
        return np.array(found, np.int64)

    def _is_in_padding(self, row: int) -> bool:
        tensor = self._evidence.files.tensor(row)
        if tensor is None or not tensor.origin_shape or tensor.nbytes > _MAX_PADDED_NBYTES:
            return False
        try:
            return bool(np.isfinite(tensor.logical()).all())
        except (FastdumpError, OSError, ValueError, TypeError):
            return False

    # What is suspicious

    def _add_near_limit(
        self,
        kind: Kind,
        high: NDArray[np.bool_],
        low: NDArray[np.bool_],
        explained: NDArray[np.bool_],
    ) -> None:
        """Add where values came to the limits of their type, or near them, without being a mask."""
        tensors = self._evidence.tensors
        bad = (high | self._harmful(low, high)) & tensors
        self._suppress(harmless.MASK, kind, np.flatnonzero(low & ~bad & tensors))
        infection = self._infection(bad)
        origins = Origins(self._evidence, infection, readers="referenced")
        is_mask = self._makes_masks_only(bad)
        masks: list[int] = []
        for start in origins.starts:
            if explained[start.execution] or start.verdict == DATA:
                continue
            if self._rows.io[start.row] == OUTPUT:
                is_meant = bool(is_mask[start.execution])
            else:
                is_meant = not self._computes[start.op]
            if is_meant:
                masks.append(start.row)
            elif not self._is_told(start):
                self.begun.append(Begun(kind, start, origins))
        self._suppress(harmless.MASK, kind, np.array(masks, np.int64))

    def _is_told(self, start: Start) -> bool:
        """Tell whether an operator that is missing was told of already."""
        if start.verdict != MISSING:
            return False
        executions, execution = self._executions, start.execution
        lane, step = int(executions.lane[execution]), int(executions.step[execution])
        is_told = (start.op, lane, step) in self._missing
        self._missing.add((start.op, lane, step))
        return is_told

    def _add_zeros(self, explained: NDArray[np.bool_]) -> None:
        zero = findings.all_zero(self._rows)
        if not zero.any():
            return
        infection = self._infection(zero)
        origins = Origins(self._evidence, infection, readers="referenced")
        never_zero = harmless.is_never_zero(self._rows)
        is_sudden = self._is_sudden(zero)
        for start in origins.starts:
            if explained[start.execution] or start.verdict == DATA or not never_zero[start.op]:
                continue
            if is_sudden[start.row]:
                self.begun.append(Begun(findings.ZEROS, start, origins))

    def _is_sudden(self, zero: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which tensors are not always zero; of those that there is one of, all that may."""
        rows = self._rows
        _, tensor = np.unique(mixed(rows.op, rows.io, rows.index), return_inverse=True)
        tensor = tensor.reshape(-1)
        n_known = np.bincount(tensor, rows.known)
        n_zero = np.bincount(tensor, zero & rows.known)
        is_only = (n_known == 1)[tensor]
        has_inputs = self._executions.n_inputs[self._executions.of_row] > 0
        return np.where(is_only, has_inputs, (n_zero < n_known)[tensor])

    def _add_jumps(self, explained: NDArray[np.bool_], ignored: NDArray[np.bool_]) -> None:
        ratio, usual = findings.jumps(self._rows, ignored)
        large = findings.jumped(ratio)
        if not large.any():
            return
        inherited = findings.has_inherited_jump(ratio)
        infection = self._infection(np.where(self._rows.io == INPUT, inherited, large))
        origins = Origins(self._evidence, infection, readers="all")
        # What is made of infinite or saturated values may well be of another size.
        explained = explained | self._executions.inputs_in(ignored)
        for start in origins.starts:
            is_after = self._is_after(start, explained) or self._is_told(start)
            if large[start.row] and not is_after:
                jump = Jump(float(ratio[start.row]), findings.USUAL[usual[start.row]])
                begun = Begun(findings.NORM_JUMP, start, origins, jump)
                self.begun.append(begun)

    def _is_after(self, start: Start, explained: NDArray[np.bool_]) -> bool:
        """Tell whether something is explained, or may be: what its operator read is not known."""
        executions, execution = self._executions, start.execution
        if start.verdict != UNKNOWN:
            return bool(explained[execution])
        before = np.flatnonzero(explained[: execution + 1])
        before = before[executions.lane[before] == executions.lane[execution]]
        return bool((executions.step[before] == executions.step[execution]).any())
