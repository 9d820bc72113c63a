"""Between two sets of results: what changed, by how much, and whether a run may pass."""

from proofstone.report.between.compare_text import render_compared
from proofstone.report.between.compared import (
    FILE,
    Change,
    Compared,
    Difference,
    Factor,
    Moved,
    PairCompared,
    Party,
    RateCompared,
    SideShown,
    TriplesCompared,
)
from proofstone.report.between.comparing import Ask, compare_sides
from proofstone.report.between.gate_text import render_gate, to_junit, to_markdown
from proofstone.report.between.gated import Check, Gated, GateRule, LookMade, Verdict
from proofstone.report.between.gating import gate_sides
from proofstone.report.between.looks import Look, earlier_looks, look_at
from proofstone.report.between.moved_rows import moved_rows
from proofstone.report.between.side import Side

__all__ = [
    "FILE",
    "Ask",
    "Change",
    "Check",
    "Compared",
    "Difference",
    "Factor",
    "GateRule",
    "Gated",
    "Look",
    "LookMade",
    "Moved",
    "PairCompared",
    "Party",
    "RateCompared",
    "Side",
    "SideShown",
    "TriplesCompared",
    "Verdict",
    "compare_sides",
    "earlier_looks",
    "gate_sides",
    "look_at",
    "moved_rows",
    "render_compared",
    "render_gate",
    "to_junit",
    "to_markdown",
]
