"""What a gate answers, with everything that it goes by."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from proofstone.report.between.compared import Compared, PairCompared

__all__ = ["Check", "GateRule", "Gated", "LookMade", "Verdict"]

Verdict = Literal["pass", "fail", "cannot tell"]


class GateRule(Struct, frozen=True, kw_only=True):
    """How far a run may fall below its baseline, and what it must reach, as shares. ``power`` is
    that of the number of questions that would decide."""

    max_drop: float
    minimum: float | None = None
    power: float = 0.8


class LookMade(Struct, frozen=True, kw_only=True):
    """Which look at this pair a gate was: its ``number`` from 1, the numbers of items of the
    ``earlier`` looks, the ``confidence`` of its intervals, and ``error``, the bound on the error
    probability of all looks (both sides together). ``single``: planned as the only one."""

    number: int
    earlier: tuple[int, ...]
    confidence: float
    error: float
    single: bool = False


class Check(Struct, frozen=True, kw_only=True):
    """One thing that is asked of a run. ``more`` is how many more questions like these would decide
    what cannot be told (infinite where none would); None where that is not the question."""

    name: Literal["paired", "complete", "drop", "minimum"]
    verdict: Verdict
    said: str
    more: float | None = None


class Gated(Struct, frozen=True, kw_only=True):
    """The verdict: fail where any check fails, else cannot tell where any cannot, else pass.
    ``compared`` has the baseline as A and the run as B; its intervals are those of one look."""

    verdict: Verdict
    rule: GateRule
    checks: tuple[Check, ...]
    compared: Compared
    look: LookMade

    @property
    def pair(self) -> PairCompared:
        """The run against its baseline."""
        return self.compared.pairs[0]

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 3 cannot tell."""
        return {"pass": 0, "fail": 1, "cannot tell": 3}[self.verdict]

    def __str__(self) -> str:
        from proofstone.report.between.gate_text import (  # noqa: PLC0415 - it reads these
            render_gate,
        )

        return render_gate(self).rstrip("\n")
