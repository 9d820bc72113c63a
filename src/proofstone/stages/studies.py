"""From targets to the parts that a study reads: forms, the scores on them, lengths of replies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from proofstone.engines.ingest import write_rows
from proofstone.engines.store import Found, Store
from proofstone.ports import GroupsItems, Method
from proofstone.records import ItemSet, Measure, Run, ScoreTable, asked_as, origin_of
from proofstone.records.cards import CardSnapshot
from proofstone.report.studies import HowAsked, Part, ReplyLengths, Study, figure_rows
from proofstone.stages.corrected import CURRENT, View, not_run
from proofstone.stages.summarise import (
    Selection,
    headline,
    read_scores,
    select_runs,
    shown_name,
    with_shared_part,
)

__all__ = ["part_of", "parts_by_form", "parts_together", "write_figure_data"]


def write_figure_data(study: Study, path: Path) -> None:
    """Writes the marks of a study's figure as rows; the suffix of ``path`` says in which form."""
    write_rows(path, figure_rows(study))


def parts_together(
    store: Store,
    find_method: Callable[[str], Method],
    targets: Sequence[Found],
    *,
    lengths: bool = False,
    origins: bool = False,
) -> list[Part]:
    """All targets as one part, as a leaderboard takes them. Raises what ``select_runs`` does."""
    selection = select_runs(store, targets)
    return [
        part_of(store, find_method(selection.method), selection, lengths=lengths, origins=origins)
    ]


def parts_by_form(
    store: Store,
    find_method: Callable[[str], Method],
    targets: Sequence[Found],
    *,
    lengths: bool = False,
    origins: bool = False,
) -> list[Part]:
    """A part a form that was asked; a bank means all of its forms, of whatever recipe.

    Raises NotFound where nothing was run on any.
    """
    parts = []
    for item_set, runs in _asked_forms(store, targets):
        selection = Selection(item_sets=(item_set,), runs=runs)
        parts.append(
            part_of(
                store, find_method(selection.method), selection, lengths=lengths, origins=origins
            )
        )
    if not parts:
        raise not_run(store, targets, [each.id for each in targets if each.kind == "form"])
    return parts


def _asked_forms(
    store: Store, targets: Sequence[Found]
) -> list[tuple[ItemSet, tuple[tuple[int, Run], ...]]]:
    """The forms that targets mean and the runs on each: of a run, that run alone."""
    chosen: dict[bytes, dict[bytes, tuple[int, Run]]] = {}
    for target in targets:
        if target.kind == "run":
            key, run = store.runs.run(target.id)
            chosen.setdefault(run.item_set, {})[run.id] = (key, run)
            continue
        forms = [target.id] if target.kind == "form" else store.items.sets_of_bank(target.id)
        for key, run in store.runs.of_sets(forms):
            chosen.setdefault(run.item_set, {})[run.id] = (key, run)
    return [
        (store.items.item_set(identity), tuple(runs.values())) for identity, runs in chosen.items()
    ]


def part_of(
    store: Store,
    method: Method,
    selection: Selection,
    *,
    lengths: bool = False,
    origins: bool = False,
    view: View = CURRENT,
) -> Part:
    """A selection's scores, as ``view`` wants them, as one part."""
    table = _named(method, with_shared_part(read_scores(store, method, selection, view=view)))
    first = selection.item_sets[0]
    several = len(selection.item_sets) > 1
    return Part(
        name=", ".join(shown_name(item_set) for item_set in selection.item_sets),
        kind=first.kind,
        seed=None if several else first.seed,
        recipe=first.recipe,
        table=table,
        measure=headline(method),
        lengths=_lengths(store, selection, table) if lengths else None,
        asked=_asked(store, selection, table),
        origins=_origins(store, selection, table) if origins else (),
        others=_beside(method),
    )


def _named(method: Method, table: ScoreTable) -> ScoreTable:
    """The table with what its method calls strata, as leaderboards call them too."""
    if not isinstance(method, GroupsItems):
        return table
    return replace(table, level_names=dict(method.level_names))


def _origins(store: Store, selection: Selection, table: ScoreTable) -> tuple[bytes, ...]:
    """By unit, what the one fact it rests on was made from, or that fact itself."""
    found: dict[bytes, bytes] = {}
    for item_set in selection.item_sets:
        for page in store.items.pages(item_set.id):
            for stored in page:
                facts = stored.loaded.facts
                one = facts[0] if len(facts) == 1 else None
                found[stored.loaded.item.id] = b"" if one is None else origin_of(one) or one.id
    return tuple(found.get(item, b"") for item in table.items)


def _beside(method: Method) -> tuple[Measure, ...]:
    """The measures of the headline's scores that have a column beside it."""
    first = headline(method)
    return tuple(
        each for each in method.measures
        if each.label and each.name != first.name and (each.of, each.unit) == (first.of, first.unit)
    )  # fmt: skip


def _asked(store: Store, selection: Selection, table: ScoreTable) -> tuple[HowAsked, ...]:
    """How each respondent of the table was asked; sizes are those of the cards kept of models."""
    runs = {run.id: run for _key, run in selection.runs}
    firsts = [runs[who.runs[0]] for who in table.respondents]
    cards = store.models.cards(sorted({run.respondent for run in firsts}))
    return tuple(
        HowAsked(
            model=run.respondent,
            way=asked_as(run),
            settings=run.settings,
            prompt=run.prompt_hash.hex(),
            replicate=run.replicate,
            judge=who.judge,
            **_known_of(cards.get(run.respondent)),
        )
        for who, run in zip(table.respondents, firsts, strict=True)
    )


def _known_of(kept: CardSnapshot | None) -> dict[str, Any]:
    if kept is None:
        return {}
    card = kept.card
    return {"parameters_b": card.total_parameters_b, "kind": card.kind, "family": card.family}


def _lengths(store: Store, selection: Selection, table: ScoreTable) -> ReplyLengths:
    import numpy as np  # noqa: PLC0415

    keys = {run.id: key for key, run in selection.runs}
    units: dict[bytes, list[int]] = {}
    for unit, item in enumerate(table.items):
        units.setdefault(item, []).append(unit)
    rows = [
        (unit, place, sample, completion, reasoning)
        for place, who in enumerate(table.respondents)
        for run in who.runs
        for item, sample, completion, reasoning in store.runs.reply_tokens(keys[run])
        for unit in units.get(item, ())
    ]
    columns = list(zip(*rows, strict=True)) or [(), (), (), (), ()]
    return ReplyLengths(
        unit=np.array(columns[0], dtype=np.int32),
        respondent=np.array(columns[1], dtype=np.int32),
        sample=np.array(columns[2], dtype=np.int32),
        completion=np.array(columns[3], dtype=np.float64),  # None becomes NaN
        reasoning=np.array(columns[4], dtype=np.float64),
    )
