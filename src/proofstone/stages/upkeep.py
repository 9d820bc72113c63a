"""What a workspace knows of the items and scores of runs, beyond the scores themselves."""

from __future__ import annotations

from proofstone.engines.store import Store
from proofstone.methods import find_method
from proofstone.ports import Reviews
from proofstone.records import Review, ScoreTable
from proofstone.records.upkeep import Upkeep
from proofstone.stages.corrected import View, chosen_scorings
from proofstone.stages.review_standing import checked_rates, purged_among
from proofstone.stages.summarise import Selection

__all__ = ["upkeep_of"]


def upkeep_of(store: Store, selection: Selection, table: ScoreTable, view: View) -> Upkeep:
    """Of the selection's runs, whose scores ``table`` holds as ``view`` wants them."""
    rulings = store.rulings.in_force([key for key, _run in selection.runs], view.until)
    newer = set(store.corrections.former_items())
    scorings = chosen_scorings(store, selection.runs, view).values()
    read = store.reviews.read_items([item_set.id for item_set in selection.item_sets])
    method, checks = _checks(store, selection)
    return Upkeep(
        n_ruled=len({found.ruling.item for found in rulings}),
        n_corrected=len(newer.intersection(table.items)),
        judges=tuple(sorted({scoring.judge for scoring in scorings if scoring.judge})),
        n_read=len(read.whole.intersection(table.items)),
        n_partly_read=len(read.partly.intersection(table.items)),
        n_readers=read.n_people,
        checked=checked_rates(store, method, checks) if method else (),
        n_purged=purged_among(store, checks),
    )


def _checks(store: Store, selection: Selection) -> tuple[Reviews | None, list[Review]]:
    """What people said of the truth of the banks behind the selection, and the method that says
    what they were shown; None and nothing where nobody checked it."""
    banks = {one.bank: one.method for one in selection.item_sets if one.bank is not None}
    reviews = {one.id: one for bank in banks for one in store.reviews.checks_of_bank(bank)}
    for name in banks.values():  # all of one method: a leaderboard has one
        method = find_method(name)
        if reviews and isinstance(method, Reviews):
            return method, list(reviews.values())
    return None, []
