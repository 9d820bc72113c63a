"""What becomes of a panel's ranking without each of its judges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.judging.left_out import LeftOut, PanelRanking, PanelStanding, leave_each_out
from proofstone.records import PanelRules
from proofstone.records.annotated import Annotated
from proofstone.report.sections.section import Cell, Column, Evidence, Section, Table
from proofstone.wording import counted, paragraph, say, say_of

__all__ = ["panel_section"]

_RULES = PanelRules(quorum=1, majority="half")


def panel_section(evidence: Evidence) -> Section | None:
    """The models' scores by the majority of all judges and without each, ranks with ties as ties.

    None without labels that are numbers, whose worth they are, by two judges or more of the answers
    of two models or more.
    """
    found = evidence.annotated
    if found is None or found.model is None or found.values is None:
        return None
    votes, models = _votes(found)
    if len(models) < 2 or len(found.annotators) < 2:
        return None
    ranking = leave_each_out(votes, found.values.tolist(), found.annotators, _RULES)
    return Section(
        name="panel",
        title=say("The ranking without each judge"),
        finding=_finding(found, ranking, models),
        plain=_plain(ranking),
        how=say(
            "A record's label is the one given by more than half of the judges; without a "
            "majority it has none. A model's score is the mean of its records' labels as "
            "numbers. Leaving a judge out decides all records again. Equal scores share a rank. "
            "Significance is not tested here; see the pairs of models."
        ),
        tables=(_table(found, ranking, models), _otherwise(ranking, models)),
    )


def _votes(found: Annotated) -> tuple[NDArray[np.int64], list[str]]:
    """Labels (models, records of a model, judges), -1 for none; and the models that have some."""
    model = np.asarray(found.model)
    spoken = [code for code in range(len(found.models)) if (model == code).any()]
    most = max((int((model == code).sum()) for code in spoken), default=0)
    votes = np.full((len(spoken), most, len(found.annotators)), -1, dtype=np.int64)
    for place, code in enumerate(spoken):
        own = found.ratings[model == code]
        votes[place, : len(own)] = own
    return votes, [found.models[code] for code in spoken]


def _finding(found: Annotated, ranking: PanelRanking, models: list[str]) -> str:
    moving = [left for left in ranking.without if left.moved or left.reversed_pairs]
    judges = counted(len(found.annotators), "judge")
    said = say(
        "{judges} labelled the answers of {models}.",
        judges=judges,
        models=counted(len(models), "model"),
    )
    if not moving:
        return paragraph(said, say("No judge's absence moves any model in the ranking."))
    return paragraph(
        said,
        say_of(
            len(moving),
            "The ranking changes without {names}.",
            "The ranking changes without each of {names}.",
            names=", ".join(left.judge for left in moving),
        ),
    )


def _plain(ranking: PanelRanking) -> str:
    if any(left.moved or left.reversed_pairs for left in ranking.without):
        return say("Who is ahead hangs on who judges: with another panel it may be another model.")
    return say("No single judge decides who is ahead.")


def _table(found: Annotated, ranking: PanelRanking, models: list[str]) -> Table:
    return Table(
        title=say("Ranks by all judges, and without each"),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="score", name=say("score"), digits=3),
            Column(key="n", name="n", help=say("records that the panel decided")),
            Column(key="rank", name=say("rank")),
            *(
                Column(key=f"without_{place}", name=say("without {judge}", judge=judge))
                for place, judge in enumerate(found.annotators, start=1)
            ),
        ),
        rows=tuple(
            (
                models[place],
                ranking.standings[place].score,
                ranking.standings[place].n,
                _rank(ranking.standings[place]),
                *(_rank(left.standings[place]) for left in ranking.without),
            )
            for place in _order(ranking.standings)
        ),
    )


def _otherwise(ranking: PanelRanking, models: list[str]) -> Table:
    return Table(
        title=say("What each judge's absence changes"),
        columns=(
            Column(key="judge", name=say("judge")),
            Column(key="otherwise", name=say("decided otherwise"),
                   help=say("records with another label without this judge, or with none")),
            Column(key="moved", name=say("models moved")),
            Column(key="reversed", name=say("pairs reversed")),
        ),
        rows=tuple(_left(left, models) for left in ranking.without),
    )  # fmt: skip


def _left(left: LeftOut, models: list[str]) -> tuple[Cell, ...]:
    moved = ", ".join(models[place] for place in left.moved)
    turned = ", ".join(f"{models[one]} / {models[other]}" for one, other in left.reversed_pairs)
    return left.judge, left.otherwise, moved or None, turned or None


def _rank(standing: PanelStanding) -> str:
    if not standing.n:
        return "\u2014"
    same = standing.best == standing.worst
    return f"{standing.best}" if same else f"{standing.best}\u2013{standing.worst}"


def _order(standings: tuple[PanelStanding, ...]) -> list[int]:
    return sorted(
        range(len(standings)), key=lambda place: (not standings[place].n, standings[place].best)
    )
