"""The audit of runs of our own: the same sections, from what the workspace holds."""

from __future__ import annotations

from proofstone import __version__
from proofstone.records.audience import Audience
from proofstone.report.audited import Audit, FileRead
from proofstone.report.opening import make_opening
from proofstone.report.sections import Evidence, make_sections
from proofstone.report.sections.item_work import work_list
from proofstone.report.trust import trust_lines
from proofstone.stages.summarise import Selection, shown_name
from proofstone.wording import counted, listed, say

__all__ = ["audit_evidence"]


def audit_evidence(
    evidence: Evidence, selection: Selection, audience: Audience = "internal"
) -> Audit:
    """The audit of runs of our own, from evidence made for its audience."""
    names = listed([shown_name(item_set) for item_set in selection.item_sets])
    board = evidence.board
    rows = [row for group in board.standings for row in (*group.ranked, *group.incomplete)]
    holds = listed([counted(board.n_items, "item"), counted(len(rows), "respondent")])
    kind = say("{runs} in this workspace", runs=counted(len(selection.runs), "run"))
    return Audit(
        audience=audience,
        title=names,
        files=(FileRead(name=names, kind=kind, columns="", holds=holds),),
        board=board,
        opening=make_opening(evidence),
        trust=trust_lines(evidence),
        sections=make_sections(evidence),
        seed=evidence.seed,
        version=__version__,
        work_list=work_list(evidence),
    )
