"""Where each kind of finding began, and what looks bad on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastdump._triage import harmless, kinds
from fastdump._triage.chain import Spread
from fastdump._triage.evidence import Evidence
from fastdump._triage.infection import Infection
from fastdump._triage.kinds import Jump, Kind
from fastdump._triage.origins import find_origins
from fastdump._triage.rows import INPUT, NONE, OUTPUT, mixed
from fastdump._triage.starts import DATA, MISSING, UNKNOWN, Search, Start
from fastdump.errors import FastdumpError, FileChangedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_PADDED = 64
_MAX_PADDED_NBYTES = 1 << 28
_PLAIN_FORMATS = frozenset({"ND", "NCHW", "NHWC", "HWCN", "NCDHW", "NDHWC", "DHWCN", "CHWN", "NCL"})


class Begun(NamedTuple):
    """One beginning, before it is put into words."""

    kind: Kind
    start: Start
    search: Search
    jump: Jump | None = None
    """How much the norm jumped, for that kind only."""


class LooksBad(NamedTuple):
    """Rows that look bad on purpose."""

    pattern: str
    kind: Kind
    rows: NDArray[np.int64]


class Beginnings:
    """Looks for each kind in turn; the later kinds leave out what an earlier one explains.

    Attributes
    ----------
    begun : list of Begun
        All beginnings, in no order.
    suppressed : list of LooksBad
        What is harmless.
    hard : Infection
        The infection of NaN and infinities.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._rows = rows = evidence.rows
        self._executions = executions = evidence.executions
        self._is_mask_maker = harmless.makes_masks(rows)
        self._computes = rows.typed(harmless.COMPUTING_TYPES)
        self._is_two_valued = harmless.is_two_valued(rows)
        self.begun: list[Begun] = []
        self.suppressed: list[LooksBad] = []
        self._missing: set[tuple[int, int, int]] = set()

        self.hard = Infection(evidence, self._bad_values())
        self._add_hard()
        explained = self.hard.makes_bad | self.hard.reads_bad
        written = evidence.written
        at_max, at_min = (found & written for found in kinds.saturated(rows))
        self._add_near_limit(kinds.SATURATED, at_max, at_min, explained)
        explained = explained | executions.outputs_in(at_max | at_min)
        high, low = (found & written for found in kinds.near_overflow(rows))
        self._add_near_limit(kinds.HEADROOM, high, low, explained)
        self._add_zeros(explained)
        self._add_jumps(explained, self.hard.bad | rows.neg_inf | at_max | at_min)

    def _suppress(self, pattern: str, kind: Kind, rows: NDArray[np.int64]) -> None:
        self.suppressed.append(LooksBad(pattern, kind, rows))

    # NaN and infinities

    def _add_hard(self) -> None:
        search = find_origins(self.hard, only_referenced=False)
        absorbed = np.array(search.absorbed, np.int64)
        self._suppress(harmless.ABSORBED, kinds.NAN, absorbed)
        for start in search.starts:
            # A tensor with both is called NaN: which of them came first is not known.
            kind = kinds.NAN if self._rows.n_nan[start.row] > 0 else kinds.INF
            self.begun.append(Begun(kind, start, search))

    def _bad_values(self) -> NDArray[np.bool_]:
        """Return the rows with NaN and infinities that are not meant to be there."""
        rows = self._rows
        bad = rows.nan_or_pos_inf.copy()
        if rows.table.level != "health":
            # Counts alone do not tell a mask from an accident.
            bad |= self._harmful(rows.neg_inf, rows.nan_or_pos_inf)
        bad &= self._evidence.written
        masks = rows.neg_inf & ~bad & self._evidence.written
        self._suppress(harmless.MASK, kinds.INF, np.flatnonzero(masks))

        allocated = self._evidence.uninitialised & (rows.io == OUTPUT)
        allocated &= rows.nan_or_pos_inf | rows.neg_inf
        self._suppress(harmless.UNINITIALISED, kinds.NAN, np.flatnonzero(allocated))

        padding = self._only_in_padding(bad)
        self._suppress(harmless.PADDING, kinds.NAN, padding)
        bad[padding] = False
        return bad

    def _harmful(self, low: NDArray[np.bool_], high: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the rows in `low` that do not come from a mask, without those in `high`.

        Parameters
        ----------
        low
            Rows with values as masks have them: -Inf, or the smallest finite one.
        high
            Rows with values that only an accident makes.
        """
        rows, executions = self._rows, self._executions
        harmful = np.zeros(rows.n, np.bool_)
        infection = Infection(self._evidence, low)
        made = infection.makes_bad & ~infection.reads_bad
        made &= ~executions.outputs_in(low & high) & ~executions.inputs_in(high)
        is_known = (executions.n_inputs > 0) & ~infection.reads_unknown
        is_mask = self._makes_masks_only(low)
        made &= np.where(is_known, ~is_mask, self._computes[executions.op])
        search = find_origins(infection, only_referenced=True)
        # Operators that are not wholly in the dump are judged by their names.
        starts = {
            start.execution
            for start in search.starts
            if self._computes[start.op] and not high[start.row]
        }
        starts |= set(np.flatnonzero(made).tolist())
        if starts:
            reached = Spread(search.graph, sorted(starts), guess=False).steps
            found = [row for execution in reached for row in infection.bad_outputs(execution)]
            found += [start.row for start in search.starts if start.execution in starts]
            found += [step.read for step in reached.values() if step.read != NONE]
            harmful[found] = True
            content = self._evidence.links.content
            harmful |= infection.bad & np.isin(content, content[found])
        return harmful & ~high

    def _makes_masks_only(self, bad: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the executions whose bad-looking outputs are all masks."""
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
        except (FileChangedError, OSError):
            self._evidence.files.unread.add(tensor.path)
            return False
        except (FastdumpError, ValueError, TypeError):
            return False

    # What is suspicious

    def _add_near_limit(
        self,
        kind: Kind,
        high: NDArray[np.bool_],
        low: NDArray[np.bool_],
        explained: NDArray[np.bool_],
    ) -> None:
        """Add where values reached the limits of their type, or nearly, and are no mask."""
        bad = high | self._harmful(low, high)
        self._suppress(harmless.MASK, kind, np.flatnonzero(low & ~bad))
        search = find_origins(Infection(self._evidence, bad), only_referenced=True)
        is_mask = self._makes_masks_only(bad)
        masks: list[int] = []
        for start in search.starts:
            if explained[start.execution] or start.verdict == DATA:
                continue
            if self._rows.io[start.row] == OUTPUT:
                is_meant = bool(is_mask[start.execution])
            else:
                is_meant = not self._computes[start.op]
            if is_meant:
                masks.append(start.row)
            elif not self._is_told(start):
                self.begun.append(Begun(kind, start, search))
        self._suppress(harmless.MASK, kind, np.array(masks, np.int64))

    def _is_told(self, start: Start) -> bool:
        """Tell whether there is a finding of an operator that is missing already."""
        if start.verdict != MISSING:
            return False
        executions, execution = self._executions, start.execution
        missing = (start.op, int(executions.lane[execution]), int(executions.step[execution]))
        is_told = missing in self._missing
        self._missing.add(missing)
        return is_told

    def _add_zeros(self, explained: NDArray[np.bool_]) -> None:
        zero = kinds.all_zero(self._rows)
        if not zero.any():
            return
        search = find_origins(Infection(self._evidence, zero), only_referenced=True)
        if not search.starts:
            return
        never_zero = self._rows.typed(harmless.NEVER_ZERO_TYPES)
        is_sudden = self._is_sudden(zero)
        for start in search.starts:
            is_new = not explained[start.execution] and start.verdict != DATA
            if is_new and never_zero[start.op] and is_sudden[start.row]:
                self.begun.append(Begun(kinds.ZEROS, start, search))

    def _is_sudden(self, zero: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which rows are of tensors that are not always zero.

        If there is one row of a tensor, it is taken for sudden if its operator has inputs.
        """
        rows = self._rows
        _, tensor = np.unique(mixed(rows.op, rows.io, rows.index), return_inverse=True)
        n_known = np.bincount(tensor, rows.known)
        n_zero = np.bincount(tensor, zero & rows.known)
        is_only = (n_known == 1)[tensor]
        has_inputs = self._executions.n_inputs[self._executions.of_row] > 0
        return np.where(is_only, has_inputs, (n_zero < n_known)[tensor])

    def _add_jumps(self, explained: NDArray[np.bool_], ignored: NDArray[np.bool_]) -> None:
        rows = self._rows
        varies = harmless.varies_by_nature(rows)[rows.op] | harmless.is_masked(rows)
        ratio, usual = kinds.jumps(rows, ignored | varies | ~self._evidence.written)
        large = kinds.jumped(ratio)
        if not large.any():
            return
        inherited = kinds.jumped(ratio, kinds.INHERITED_RATIO)
        bad = np.where(rows.io == INPUT, inherited, large)
        search = find_origins(Infection(self._evidence, bad), only_referenced=False)
        # Values that are made of infinite or saturated ones may well be of another size.
        explained = explained | self._executions.inputs_in(ignored)
        for start in search.starts:
            is_after = self._is_after(start, explained) or self._is_told(start)
            if large[start.row] and not is_after:
                jump = Jump(float(ratio[start.row]), kinds.USUAL[usual[start.row]])
                self.begun.append(Begun(kinds.NORM_JUMP, start, search, jump))

    def _is_after(self, start: Start, explained: NDArray[np.bool_]) -> bool:
        """Tell whether a start is explained, or may be if its operator's inputs are unknown."""
        executions, execution = self._executions, start.execution
        if start.verdict != UNKNOWN:
            return bool(explained[execution])
        before = np.flatnonzero(explained[: execution + 1])
        before = before[executions.lane[before] == executions.lane[execution]]
        return bool((executions.step[before] == executions.step[execution]).any())
