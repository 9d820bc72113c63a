"""Scores by document: where a model's points come from, by the sources that items rest on."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from proofstone.page.section import Cell, Column, Section, Table
from proofstone.records.scores import DocumentPages, ScoreTable
from proofstone.results.board import Breakdown, Standings
from proofstone.results.board_text import FEW_ITEMS, Leaderboard
from proofstone.results.rankings import NOT_GIVEN
from proofstone.results.sections.evidence import Evidence
from proofstone.results.sections.strata import breakdown_table
from proofstone.wording.messages import counted, listed, say, say_of, word

_MOST_LISTED = 30


_MOST_NAMED = 3  # documents of one item


def documents_section(evidence: Evidence) -> Section | None:
    """The documents of most items, each with the score of every ranked model; None where no
    document is known."""
    group = _group(evidence.board)
    if group is None or group.documents is None:
        return None
    groups = group.documents.groups
    named = [each for each in groups if each.name != NOT_GIVEN]
    n_without = sum(each.n for each in groups) - sum(each.n for each in named)
    n_several = sum(each.n for each in groups) - group.n_items
    few = sum(1 for each in named if each.n < FEW_ITEMS)
    table = breakdown_table(group, _shown(group.documents))
    more = len(groups) - len(table.rows)
    if more:
        note = say("{n:,} more are not shown; --tables csv writes all.", n=more)
        table = structs.replace(table, note=note)
    notes = []
    if n_several:
        notes.append(
            say(
                "An item composed of statements from several documents counts in each of them, "
                "so the n of the documents add up to more than the number of items."
            )
        )
    if n_without:
        notes.append(
            say_of(
                n_without,
                "{items} has no known document.",
                "{items} have no known document.",
                items=counted(n_without, "item"),
            )
        )
    return Section(
        name="documents",
        title=say("Scores by document"),
        finding=say(
            "Scores on {items} from {documents}.",
            items=counted(group.n_items - n_without, "item"),
            documents=counted(len(named), "document"),
        ),
        cannot=say_of(
            few,
            "{documents} has fewer than 30 items (wide intervals).",
            "{documents} have fewer than 30 items each (wide intervals).",
            documents=counted(few, "document"),
        )
        if few
        else "",
        how=say(
            "The mean of each model over the items of each document, with its interval. The "
            "interval is for other items of the same document."
        ),
        tables=(table,),
        notes=tuple(notes),
    )


def all_documents(board: Leaderboard) -> Table | None:
    """Every document, where the section lists only some; None where it lists all."""
    group = _group(board)
    if group is None or group.documents is None:
        return None
    if len(group.documents.groups) <= _MOST_LISTED:
        return None
    table = breakdown_table(group, group.documents)
    return structs.replace(table, title=say("All documents"))


def document_columns(table: ScoreTable | None) -> tuple[Column, ...]:
    """The column of the documents of items or statements; none where no document is known."""
    if table is None or table.documents is None:
        return ()
    return (Column(key="document", name=word("document")),)


def document_cells(
    table: ScoreTable | None, documents: Sequence[DocumentPages]
) -> tuple[Cell, ...]:
    """The cell of an item or statement in ``document_columns``."""
    if table is None or table.documents is None:
        return ()
    return (documents_text(documents) or None,)


def documents_text(documents: Sequence[DocumentPages], most: int | None = _MOST_NAMED) -> str:
    """The documents of an item or statement, with their pages: ``Metals (page 3)``; of many the
    first three, and how many more, or all of them (``most`` None)."""
    return listed([_named(each) for each in documents], most)


def _named(document: DocumentPages) -> str:
    if not document.pages:
        return document.name
    return say_of(
        len(document.pages),
        "{document} (page {pages})",
        "{document} (pages {pages})",
        document=document.name,
        pages=listed(document.pages),
    )


def _group(board: Leaderboard) -> Standings | None:
    return next((group for group in board.standings if group.documents is not None), None)


def _shown(part: Breakdown) -> Breakdown:
    return structs.replace(part, groups=part.groups[:_MOST_LISTED])
