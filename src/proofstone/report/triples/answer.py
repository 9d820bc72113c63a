"""The answer of a page of verified triples: who leads on F1, and what cannot be told apart."""

from __future__ import annotations

from proofstone.report.numbers import shown_estimate, shown_share
from proofstone.report.triples.board import TripleBoard, TripleRow
from proofstone.report.triples.words import counted_rows
from proofstone.wording import counted, joined, paragraph, say

__all__ = ["answer_of", "partial_notes", "ranked_rows"]

_MOST_NAMED = 3


def ranked_rows(board: TripleBoard) -> list[TripleRow]:
    """The rows that are ranked with the first, in falling order of F1: those of models, or, where
    no model is ranked, simulated ones."""
    ranked = [row for row in board.rows if row.rank is not None]
    return [row for row in ranked if row.simulated == ranked[0].simulated]


def answer_of(board: TripleBoard) -> tuple[str, ...]:
    """Sentences, the reader's answer first; nothing is ranked where nothing was judged."""
    ranked = ranked_rows(board)
    if not board.rows:
        return (say("No triple has been verified yet, so there is nothing to rank."),)
    if not ranked and not board.is_common:
        return (say("These models were not held against the same entities, so nobody is ranked."),)
    if not ranked:
        return (
            say("Of no model were both directions judged yet, so there is no F1 and no ranking."),
        )
    return tuple(filter(None, (_leader(board, ranked), _made_of(ranked[0]), _rest(board, ranked))))


def partial_notes(board: TripleBoard) -> tuple[str, ...]:
    """What is not there yet; nothing of a whole board."""
    waiting = sum(row.waiting for row in board.rows)
    partial = say(
        "Partial: {triples} of the samples wait for a judge and are in no figure; score the runs "
        "again with the same judge.",
        triples=counted(waiting, "triple"),
    )
    bare = [row.label for row in board.rows if not row.measured.estimates and not row.waiting]
    nothing = say("Nothing was verified of {models}.", models=joined(bare))
    return (*([partial] if waiting else []), *([nothing] if bare else []))


def _leader(board: TripleBoard, ranked: list[TripleRow]) -> str:
    first = ranked[0]
    score, entities = shown_estimate(first.measured.estimates["f1"]), _entities(board)
    if len(ranked) == 1:
        return say(
            "{first} reaches an F1 of {score} on {entities}; no other model is ranked beside it.",
            first=first.label,
            score=score,
            entities=entities,
        )
    return say(
        "Of {models} on {entities}, {first} has the highest F1, {score}, {lead}",
        models=counted_rows(ranked),
        entities=entities,
        first=first.label,
        score=score,
        lead=_lead(ranked),
    )


def _lead(ranked: list[TripleRow]) -> str:
    """What the first place is worth, as the end of a sentence."""
    others = [row.label for row in ranked[1:] if row.rank is not None and row.rank.low == 1]
    high = ranked[0].rank.high if ranked[0].rank else 1
    if high == 1:
        return say("and its lead over every other model is statistically significant.")
    if len(others) != high - 1 or len(others) > _MOST_NAMED:
        named = counted(high - 1, "other")
    else:
        named = joined(others)
    return say("but its lead over {others} is not significant.", others=named)


def _made_of(row: TripleRow) -> str:
    """What the leader's F1 is made of."""
    estimates = row.measured.estimates
    said = say(
        "Of 100 triples that {model} said {precision} are supported (precision); of 100 that the "
        "reference knows it said {recall} (recall).",
        model=row.label,
        precision=shown_estimate(estimates["precision"]),
        recall=shown_estimate(estimates["recall"]),
    )
    against = estimates.get("contradiction")
    contradicted = (
        say("{share} of its triples contradict the reference.", share=shown_share(against.value))
        if against is not None
        else ""
    )
    abstained = (
        say("It abstained on {share} of entities.", share=shown_share(row.abstention.value))
        if row.abstention.n
        else ""
    )
    return paragraph(said, contradicted, abstained)


def _rest(board: TripleBoard, ranked: list[TripleRow]) -> str:
    n = sum(row.rank is None for row in board.rows)
    if not n:
        return ""
    return say(
        "{models} cannot be ranked yet: triples wait for a judge, or nothing of one direction was "
        "judged.",
        models=counted(n, "more model"),
    )


def _entities(board: TripleBoard) -> str:
    return counted(board.entities, "entity", "entities")
