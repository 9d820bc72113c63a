"""All grounds to trust results or not, in the order of the page."""

from __future__ import annotations

from proofstone.report.sections.section import Evidence
from proofstone.report.trust.items_made import (
    checked_line,
    clusters_line,
    faults_line,
    roles_line,
)
from proofstone.report.trust.runs_made import complete_line, cost_line, plan_line
from proofstone.report.trust.scores_read import judge_line, outcome_line, rulings_line
from proofstone.report.trust.trust import TrustLine

__all__ = ["trust_lines"]


def trust_lines(evidence: Evidence) -> tuple[TrustLine, ...]:
    """One line a ground, whether something is known of it or not; none without scores."""
    if not evidence.board.standings:
        return ()
    return (
        checked_line(evidence),
        faults_line(evidence),
        judge_line(evidence),
        rulings_line(evidence),
        roles_line(evidence),
        complete_line(evidence),
        outcome_line(evidence, "truncated"),
        outcome_line(evidence, "unparsed"),
        cost_line(evidence),
        clusters_line(evidence),
        plan_line(evidence),
    )
