"""What a workspace knows of the items and scores of runs, beyond the scores themselves."""

from __future__ import annotations

from proofstone.engines.store import Store
from proofstone.records import ScoreTable
from proofstone.records.upkeep import Upkeep
from proofstone.stages.corrected import View, chosen_scorings
from proofstone.stages.summarise import Selection

__all__ = ["upkeep_of"]


def upkeep_of(store: Store, selection: Selection, table: ScoreTable, view: View) -> Upkeep:
    """Of the selection's runs, whose scores ``table`` holds as ``view`` wants them."""
    rulings = store.rulings.in_force([key for key, _run in selection.runs], view.until)
    newer = set(store.corrections.former_items())
    scorings = chosen_scorings(store, selection.runs, view).values()
    return Upkeep(
        n_ruled=len({found.ruling.item for found in rulings}),
        n_corrected=len(newer.intersection(table.items)),
        judges=tuple(sorted({scoring.judge for scoring in scorings if scoring.judge})),
    )
