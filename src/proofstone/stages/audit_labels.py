"""Labels alone: how far several annotators agree, where nobody is ranked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from proofstone import __version__
from proofstone.engines.stats import estimand_name
from proofstone.engines.tables import annotator_labels, no_scores
from proofstone.errors import BadInput, BadUsage
from proofstone.report.audience import annotated_for
from proofstone.report.audited import Audit
from proofstone.report.board import Leaderboard
from proofstone.report.sections import Evidence, make_sections
from proofstone.stages.files_read import ReadFile, tell_labels

if TYPE_CHECKING:
    from proofstone.stages.audit import Asked

__all__ = ["audit_labels"]


def audit_labels(read: Sequence[ReadFile], asked: Asked, title: str) -> Audit:
    """The audit of files of labels alone. Raises BadUsage where one of them holds scores too, and
    what reading labels does; BadInput where there is no label."""
    mixed = [part.table.name for part in read if part.layout.kind != "labels"]
    if mixed:
        raise BadUsage(
            f"{', '.join(mixed)} holds scores, and other files hold labels alone",
            hint="audit them apart",
        )
    found = annotator_labels([no_scores(part.table, part.layout) for part in read])
    if found is None or not len(found.ratings):
        raise BadInput(f"{title} holds no label", hint=f"as read: {read[0].layout.told()}")
    board = _nobody(asked)
    shown = annotated_for(found, asked.audience)
    evidence = Evidence(board=board, annotated=shown, seed=asked.seed, estimand=asked.estimand)
    return Audit(
        audience=asked.audience,
        title=title,
        files=tuple(tell_labels(part) for part in read),
        board=board,
        sections=make_sections(evidence),
        seed=asked.seed,
        version=__version__,
    )


def _nobody(asked: Asked) -> Leaderboard:
    """A leaderboard of no measure, on which nobody stands."""
    return Leaderboard(
        measure="",
        denominator="",
        counts=(),
        estimand=estimand_name(asked.estimand),
        level=asked.level,
        confidence=asked.confidence,
        n_items=0,
        forms=(),
        standings=(),
    )
