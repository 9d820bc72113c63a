"""What a workspace knows of how runs came about, read for a methods paragraph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proofstone.engines.store import Store
from proofstone.ports import Method
from proofstone.records import Respondent, Run, ScoreTable, own_prompt_of
from proofstone.records.model_names import shown_names
from proofstone.report import Asked
from proofstone.report.manifest import AskedAs, BankUsed, HandRecorded, Manifest
from proofstone.stages.corrected import View, chosen_scorings
from proofstone.stages.summarise import Selection

__all__ = ["OWN_PROMPT", "read_manifest"]

OWN_PROMPT = "own prompt"  # among the settings that a page shows, the name of a person's template


def read_manifest(
    store: Store,
    method: Method,
    selection: Selection,
    table: ScoreTable | None,
    asked: Iterable[tuple[Respondent, Run, Asked]],
    view: View,
) -> Manifest:
    """The manifest of a selection; ``asked`` holds of each respondent one of its runs and what is
    known of its calls."""
    chosen = chosen_scorings(store, selection.runs, view).values()
    return Manifest(
        method=method.title,
        banks=tuple(_banks(store, selection)),
        asked=tuple(_asked_as(*each) for each in asked),
        scorers=tuple(sorted({scoring.scorer_version for scoring in chosen})),
        judges=tuple(sorted({scoring.judge for scoring in chosen if scoring.judge})),
        hands=() if table is None else tuple(_hands(table)),
    )


def _banks(store: Store, selection: Selection) -> Iterator[BankUsed]:
    for identity in dict.fromkeys(each.bank for each in selection.item_sets if each.bank):
        bank = store.knowledge.bank(identity)
        yield BankUsed(bank.name, bank.n_facts())


def _asked_as(who: Respondent, run: Run, asked: Asked) -> AskedAs:
    return AskedAs(
        name=who.name,
        way=run.way,
        shots=int(run.settings.get("shots") or 0),
        samples=int(run.settings.get("samples") or 1),
        own_prompt=own_prompt_of(run.settings),
        settings=tuple(pair for pair in asked.settings if pair[0] != OWN_PROMPT),
        dropped=asked.dropped,
        served=asked.served_models,
        first=asked.first_call,
        last=asked.last_call,
        simulated=who.simulated,
    )


def _hands(table: ScoreTable) -> Iterator[HandRecorded]:
    """The roles that models had, those with the most items first."""
    shown = shown_names(held.model for held in table.roles)
    for held in sorted(table.roles, key=lambda held: (-len(held.units), held.role, held.model)):
        if len(held.units):
            yield HandRecorded(held.role, shown[held.model], len(held.units))
