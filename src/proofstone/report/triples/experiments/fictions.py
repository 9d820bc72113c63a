"""Entities that do not exist, plausible and absurd: who says triples about them, and how many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from proofstone.engines.stats import share_estimate
from proofstone.records.results import Estimate
from proofstone.report.numbers import shown_estimate
from proofstone.report.sections.section import Column, Figure, Mark, Table
from proofstone.report.triples.experiments.cells import model_name
from proofstone.report.triples.experiments.evidence import Asked, Experiment
from proofstone.wording import counted, say, word

__all__ = ["Fiction", "fictions_figure", "fictions_finding", "fictions_of", "fictions_table"]


@dataclass(frozen=True, slots=True)
class Fiction:
    """A model on the fictional entities of one kind ("" for all): how many it was asked about, the
    share that got triples, and how many triples."""

    name: str
    kind: str
    asked: int
    given: int
    share: Estimate
    triples: int


def fictions_of(found: Experiment, rows: Sequence[Asked]) -> list[Fiction]:
    """Of each row that was asked about any: all fictional entities, then each kind where lists say
    it, plausible first."""
    kinds = {each.fiction for each in found.tallies.entities if each.is_fictional}
    stated = [kind for kind in ("plausible", "absurd") if kind in kinds]
    return [
        made
        for asked in rows
        for kind in ("", *stated)
        if (made := _fiction(found, asked, kind)) is not None
    ]


def _fiction(found: Experiment, asked: Asked, kind: str) -> Fiction | None:
    tallies = found.tallies
    chosen = ~tallies.is_real & (tallies.replies[:, asked.group] > 0)
    if kind:
        chosen &= tallies.where("fiction", kind)
    n = int(chosen.sum())
    if not n:
        return None
    said = tallies.said[chosen, asked.group]
    given = int(np.count_nonzero(said))
    share = share_estimate(given / n, n, found.board.confidence, of="entities")
    return Fiction(model_name(asked.row), kind, n, given, share, int(said.sum()))


def fictions_table(fictions: Sequence[Fiction]) -> Table:
    """A row a model and kind."""
    return Table(
        title=say("Fictional entities"),
        columns=(
            Column(key="model", name=word("model")),
            Column(key="kind", name=say("kind")),
            Column(key="asked", name=word("entities")),
            Column(key="given", name=say("with triples")),
            Column(key="share", name=say("share with triples"), unit="points"),
            Column(key="said", name=say("triples")),
        ),
        rows=tuple(
            (each.name, _kind(each), each.asked, each.given, each.share, each.triples)
            for each in fictions
        ),
        note=say("Whatever is said of an entity that does not exist is made up."),
        sorts=False,
    )


def fictions_figure(fictions: Sequence[Fiction], *, table: int) -> Figure:
    """How many triples each model said, by kind where lists say it; ``table`` holds them too."""
    by_kind = [each for each in fictions if each.kind] or list(fictions)
    return Figure(
        name="fictional-by-kind",
        kind="bars",
        title=say("Triples about entities that do not exist"),
        subtitle=counted(
            max(each.asked for each in fictions), "fictional entity", "fictional entities"
        ),
        marks=tuple(
            Mark(row=each.name, column=_kind(each), value=float(each.triples), n=each.asked)
            for each in by_kind
        ),
        row_axis=word("model"),
        value_axis=say("triples"),
        value_unit="number",
        table=table,
    )


def fictions_finding(fictions: Sequence[Fiction]) -> str:
    """How many models made something up, and who most."""
    whole = [each for each in fictions if not each.kind]
    if not whole:
        return ""
    silent = sum(not each.given for each in whole)
    if silent == len(whole):
        return say("No model said anything of an entity that does not exist.")
    most = max(whole, key=lambda each: (each.triples, each.given))
    return say(
        "Of {models}, {silent} said nothing of entities that do not exist; {model} said most: "
        "{triples} about {given} of {n}, {share} of 100.",
        models=counted(len(whole), "model"),
        silent=silent,
        model=most.name,
        triples=counted(most.triples, "triple"),
        given=most.given,
        n=most.asked,
        share=shown_estimate(most.share),
    )


def _kind(each: Fiction) -> str:
    return word(each.kind) if each.kind else word("all")
