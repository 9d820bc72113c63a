"""A budget over the runs of one command: what must hold before anything is asked."""

from __future__ import annotations

from collections.abc import Sequence

from proofstone.engines.models import Asker, unbounded_reply
from proofstone.stages.planning import PlannedRun

__all__ = ["check_bounded"]


def check_bounded(runs: Sequence[tuple[PlannedRun, Asker]]) -> None:
    """Raises UnboundedReply, naming all models whose replies a budget cannot hold."""
    names = [
        planned.run.respondent
        for planned, asker in runs
        if not asker.fits_a_budget(planned.run.settings)
    ]
    if names:
        raise unbounded_reply(list(dict.fromkeys(names)))
