"""From runs whose triples were verified to their leaderboard, with the cards of their models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from msgspec import structs

from proofstone.engines.ingest import read_checked
from proofstone.engines.models import ModelConfig
from proofstone.engines.store import Store
from proofstone.errors import NotFound
from proofstone.methods import find_method
from proofstone.methods.bequ.verification import read_people
from proofstone.records.model_names import shown_names
from proofstone.records.triples import BREAKDOWNS, Breakdown, Group, VerifiedRuns
from proofstone.report.card_values import read_columns, read_field, read_where
from proofstone.report.shown_models import left_out_with, notes_with
from proofstone.report.triples.board import TripleBoard
from proofstone.stages.carding import narrowed, open_book
from proofstone.stages.corrected import CURRENT, View
from proofstone.stages.summarise import Selection, ranked_settings
from proofstone.stages.triple_boards import triple_board
from proofstone.stages.verified_runs import read_verified

__all__ = ["VerifiedBoard", "make_verified_board"]


class VerifiedBoard(NamedTuple):
    """A leaderboard of verified triples, what it was made from, and the runs on it."""

    board: TripleBoard
    verified: VerifiedRuns
    selection: Selection


def make_verified_board(
    store: Store,
    config: Callable[[], ModelConfig],
    selection: Selection,
    *,
    by: Sequence[Breakdown] = BREAKDOWNS,
    group_by: str = "",
    where: str | Sequence[str] = (),
    card_columns: Sequence[str] = (),
    people: Path | None = None,
    view: View = CURRENT,
    seed: int = 0,
    confidence: float = 0.95,
) -> VerifiedBoard | None:
    """The board of a selection, its parts those ``by`` which it is asked for; None where nothing of
    it is verified. Cards are asked for, filtered by and shown as on other leaderboards; ``people``
    is a file of verdicts that people filled in.

    Raises BadUsage for a field that is none or runs that were verified by different judges,
    NotFound where the filter leaves nobody, BadInput for labels of people that cannot be read.
    """
    texts = [where] if isinstance(where, str) else list(where)
    conditions = read_where(texts)
    read_columns(card_columns)
    asked = bool(conditions or card_columns or (group_by and read_field(group_by)))
    book = open_book(store, selection, config() if asked else None)
    chosen, left_out = narrowed(selection, book, conditions)
    try:
        verified = read_verified(store, find_method(chosen.method), chosen, view)
    except NotFound:
        return None
    by_id = {run.id: run for _key, run in selection.runs}
    first = [by_id[runs[0]] for runs in verified.runs]
    ranked = ranked_settings(find_method(chosen.method), first)
    names = shown_names(run.respondent for _key, run in selection.runs)
    verified = _shown(verified, names)
    board = triple_board(
        verified,
        ranked=ranked,
        seed=seed,
        confidence=confidence,
        by=by,
        cards={names[name]: card for name, card in book.cards.items()},
        people=None if people is None else read_checked(people, read_people),
    )
    board = structs.replace(
        board,
        group_by=group_by,
        where=",".join(text for text in texts if text),
        left_out=left_out_with(left_out, names),
        notes=notes_with((*book.retired, *(book.notes if asked else ())), names),
    )
    return VerifiedBoard(board, verified, chosen)


def _shown(verified: VerifiedRuns, names: Mapping[str, str]) -> VerifiedRuns:
    """The runs with models and judges by their shown names."""
    judges = shown_names(verified.judges.split(", "))
    return replace(
        verified,
        groups=tuple(Group(names[who.model], who.setting) for who in verified.groups),
        judges=", ".join(judges.values()),
    )
