"""From runs to their leaderboard, with the cards of their models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import structs

from proofstone.engines.models import ModelConfig
from proofstone.engines.store import Store
from proofstone.methods import find_method
from proofstone.ports import Method
from proofstone.records import ScoreTable
from proofstone.records.audience import Audience
from proofstone.report import Leaderboard, leaderboard
from proofstone.report.audience import table_for
from proofstone.report.card_values import read_columns, read_field, read_where
from proofstone.report.sections import Evidence
from proofstone.report.sentences import part_name
from proofstone.report.sheet import Sheet
from proofstone.report.shown_models import board_with, names_of, table_with
from proofstone.stages.carding import carded, narrowed, open_book
from proofstone.stages.corrected import CURRENT, View, newer_forms
from proofstone.stages.grouping import with_groups
from proofstone.stages.plans import plan_marks
from proofstone.stages.stated_confidence import with_confidence
from proofstone.stages.summarise import (
    Selection,
    headline,
    read_more_scores,
    read_scores,
    with_shared_part,
)
from proofstone.stages.upkeep import upkeep_of
from proofstone.wording import say

__all__ = ["BoardMade", "make_board"]


class BoardMade(NamedTuple):
    """A leaderboard, the runs on it, and what the sections of its report are made from."""

    board: Leaderboard
    selection: Selection
    evidence: Evidence


def make_board(
    store: Store,
    config: Callable[[], ModelConfig],
    selection: Selection,
    *,
    family: Callable[[str], str],
    group_by: str = "",
    where: str | Sequence[str] = (),
    card_columns: Sequence[str] = (),
    view: View = CURRENT,
    seed: int = 0,
    audience: Audience = "internal",
    **options: Any,
) -> BoardMade:
    """The leaderboard of a selection, the runs that stand on it, and what its report is made from.

    Where cards are asked for (to group, filter or show), a model of which none was kept has the
    one of ``config``, and notes say what is behind the cards. Raises BadUsage for a field that is
    none, NotFound where the filter leaves nobody. For ``audience`` see
    ``report.audience.table_for``.
    """
    texts = [where] if isinstance(where, str) else list(where)
    conditions = read_where(texts)
    read_columns(card_columns)
    asked = bool(conditions or card_columns or (group_by and read_field(group_by)))
    book = open_book(store, selection, config() if asked else None)
    chosen, left_out = narrowed(selection, book, conditions)
    method = find_method(chosen.method)
    read = with_shared_part(read_scores(store, method, chosen, family=family, view=view))
    names = names_of(read, (run.respondent for _key, run in selection.runs))
    read = with_groups(store, method, chosen.item_sets, carded(read, book))
    table = _shown(read, names, method, audience)
    notes = (
        *newer_forms(store, chosen.item_sets),
        *_shared_part(table),
        *book.retired,
        *(book.notes if asked else ()),
    )
    more = read_more_scores(store, method, chosen, table, view)
    table = with_confidence(table, more)
    board = leaderboard(
        table,
        method.measures,
        method.headline,
        more=more,
        group_by=group_by,
        where=",".join(text for text in texts if text),
        left_out=left_out,
        notes=notes,
        **options,
    )
    plans = plan_marks(store, chosen.runs)
    board = structs.replace(board, as_scored=view.as_scored, plans=plans)
    board = board_with(board, names)
    measure = headline(method)
    evidence = Evidence(
        board=board,
        sheet=Sheet.of(table, measure),
        statements=_statements(method, more),
        estimand=options.get("estimand", "knowledge"),
        seed=seed,
        upkeep=upkeep_of(store, chosen, table, view),
    )
    return BoardMade(board, chosen, evidence)


def _shared_part(table: ScoreTable) -> tuple[str, ...]:
    """That all were asked one part of the form, where they were."""
    parts = {who.part for who in table.respondents}
    part = next(iter(parts)) if len(parts) == 1 else None
    if part is None or part.unasked:
        return ()
    return (say("All models were asked only {part}. The same command without that option asks "
                "the rest.",
                part=part_name(part)),)  # fmt: skip


def _statements(method: Method, more: Mapping[str, ScoreTable]) -> Sheet | None:
    """The scores of what items are made of, where models were asked for these: by the first other
    measure of a unit of its own."""
    unit = headline(method).unit
    for measure in method.measures:
        if measure.unit != unit and measure.of in more:
            return Sheet.of(more[measure.of], measure)
    return None


def _shown(
    table: ScoreTable, names: Mapping[str, str], method: Method, audience: Audience
) -> ScoreTable:
    """The scores by shown names, for their audience; labels that the method's measures ask for
    stay, since scores are counted by them."""
    labels = {label for measure in method.measures for label in (*measure.golds, measure.says)}
    return table_for(table_with(table, names), audience, keep=labels)
