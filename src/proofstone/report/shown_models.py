"""Models as a report names them: none by a folder of the machine that holds it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from msgspec import structs

from proofstone.records.model_names import shown_names
from proofstone.records.score_table import ScoreTable
from proofstone.report.board import Leaderboard, LeftOut
from proofstone.report.planned import PlanMark

__all__ = ["board_with", "left_out_with", "names_of", "notes_with", "table_with"]


def names_of(table: ScoreTable, more: Iterable[str] = ()) -> Mapping[str, str]:
    """What stands for each name of a respondent, and after them for ``more`` names."""
    return shown_names([*(who.name for who in table.respondents), *more])


def table_with(table: ScoreTable, names: Mapping[str, str]) -> ScoreTable:
    """The table with its respondents by their shown names; models that served or had a hand in the
    items too."""
    served = shown_names(model for who in table.respondents for model, _n in who.served)
    roles = shown_names(held.model for held in table.roles)
    return replace(
        table,
        respondents=tuple(
            replace(
                who,
                name=names[who.name],
                served=tuple((served[model], n) for model, n in who.served),
            )
            for who in table.respondents
        ),
        roles=tuple(replace(held, model=roles[held.model]) for held in table.roles),
    )


def board_with(board: Leaderboard, names: Mapping[str, str]) -> Leaderboard:
    """The leaderboard with what is said of models beside its rows by their shown names."""
    return structs.replace(
        board,
        left_out=left_out_with(board.left_out, names),
        notes=notes_with(board.notes, names),
        plans=tuple(_plan(mark, names) for mark in board.plans),
    )


def left_out_with(left_out: Iterable[LeftOut], names: Mapping[str, str]) -> tuple[LeftOut, ...]:
    """Who a filter left out, by shown names."""
    return tuple(
        LeftOut(name=names.get(entry.name, entry.name), why=entry.why) for entry in left_out
    )


def notes_with(notes: Iterable[str], names: Mapping[str, str]) -> tuple[str, ...]:
    """Sentences with the models in them by their shown names."""
    return tuple(_named(note, names) for note in notes)


def _named(text: str, names: Mapping[str, str]) -> str:
    for name, shown in names.items():
        if name != shown:
            text = text.replace(name, shown)
    return text


def _plan(mark: PlanMark, names: Mapping[str, str]) -> PlanMark:
    pairs = tuple((_named(a, names), _named(b, names)) for a, b in mark.comparisons)
    return structs.replace(mark, comparisons=pairs)
