"""Random entities: models as they stand, and each against the first on the same entities."""

from __future__ import annotations

from collections.abc import Sequence

from proofstone.engines.stats import RankInterval, harmonic_spread, rank_jointly, tied_runs
from proofstone.errors import BadUsage
from proofstone.records.results import Estimate
from proofstone.report.numbers import shown_estimate
from proofstone.report.sections.section import Column, Figure, Mark, Section, Span, Table
from proofstone.report.triples.experiments.cells import (
    config_column,
    config_of,
    measured_columns,
    measures_of,
    model_name,
    resolved,
    triples_an_entity,
)
from proofstone.report.triples.experiments.evidence import Asked, Experiment
from proofstone.report.triples.experiments.gaps import incomplete_notes
from proofstone.report.triples.experiments.tallies import Cell, DrawnCells
from proofstone.wording import counted, joined, say, word

__all__ = ["random_section", "usually_asked"]


def usually_asked(found: Experiment) -> list[Asked]:
    """The rows that the board ranks, in its order. Where it tells none from experiments: those
    asked with the usual prompts and range, and of a model that was asked so with no effort of
    reasoning set, these alone; all rows where there is none."""
    ranked = [asked for asked in found.asked if not asked.row.experiment]
    if 0 < len(ranked) < len(found.asked):
        return ranked
    usual = [
        asked
        for asked in found.asked
        if (asked.prompts, asked.range) == (found.usual["prompts"], found.usual["range"])
    ]
    plain = {asked.row.group.model for asked in usual if not asked.effort}
    chosen = [each for each in usual if not each.effort or each.row.group.model not in plain]
    return chosen or list(found.asked)


def random_section(found: Experiment) -> Section:
    """Every model with its ranks, its measures, abstention, and how far its F1 lies below that of
    the first. Raises BadUsage where nothing was verified."""
    rows = usually_asked(found)
    verified = [asked for asked in rows if asked.is_verified]
    if not verified:
        raise BadUsage(
            "no triple of these runs was verified",
            hint=found.score.format(targets="RUN ..."),
        )
    less = _less_than_first(found, verified)
    ranks, spans = _ranked(found, verified)
    return Section(
        name="random",
        title=say("Random entities"),
        finding=_finding(found, verified, less),
        how=say(
            "Ranks hold for all models together. Differences are paired: entities are drawn again "
            "with all that either model said of them; {level:g}% for all of them together.",
            level=100 * found.board.confidence,
        ),
        tables=(_table(verified, less, ranks),),
        figures=(_figure(found, verified, spans),),
        notes=(*_left_out(found, rows), *incomplete_notes(found, rows)),
    )


def _less_than_first(found: Experiment, rows: Sequence[Asked]) -> list[Estimate | None]:
    groups = [asked.group for asked in rows]
    chosen = found.tallies.shared(groups)
    drawn = DrawnCells(
        found.tallies, [Cell(group, chosen) for group in groups],
        confidence=found.board.confidence, seed=found.board.seed,
    )  # fmt: skip
    pairs = [(place, 0) for place in range(1, len(groups))]
    return [None, *drawn.less(pairs, "f1")]


def _ranked(
    found: Experiment, rows: Sequence[Asked]
) -> tuple[Sequence[RankInterval | None], tuple[Span, ...]]:
    """The ranks among these rows, and which of their places are tied; where some of them are not
    ranked together, the board's own and no ties."""
    board = [asked.row.rank for asked in rows]
    if None in board or len({asked.row.simulated for asked in rows}) > 1:
        return board, ()
    groups = [asked.group for asked in rows]
    sides = [0, 1]  # precision and recall
    hits = found.tallies.hits[:, groups][:, :, sides]
    spread = harmonic_spread(hits, found.tallies.sampled[:, groups][:, :, sides])
    ranking = rank_jointly(spread, confidence=found.board.confidence, seed=found.board.seed)
    spans = tuple(Span(first=first, last=last) for first, last in tied_runs(ranking.better))
    return ranking.intervals, spans


def _table(
    rows: Sequence[Asked],
    less: Sequence[Estimate | None],
    ranks: Sequence[RankInterval | None],
) -> Table:
    return Table(
        title=say("Models by F1"),
        columns=(
            Column(key="model", name=word("model")),
            config_column(),
            Column(key="rank", name=word("rank"), unit="rank"),
            *measured_columns(),
            Column(key="contradiction", name=word("contradiction"), unit="points"),
            Column(
                key="abstention", name=word("abstention"), unit="points",
                help=say("of the entities, those it said that it knows nothing of"),
            ),
            Column(key="triples", name=say("triples an entity"), digits=1),
            Column(key="f1_less", name=say("F1 less the first's"), unit="points"),
        ),
        rows=tuple(
            (
                model_name(asked.row),
                config_of(asked),
                rank,
                *measures_of(asked.row),
                asked.row.measured.estimates.get("contradiction"),
                asked.row.abstention,
                triples_an_entity(asked.row),
                below,
            )
            for asked, below, rank in zip(rows, less, ranks, strict=True)
        ),
    )  # fmt: skip


def _figure(found: Experiment, rows: Sequence[Asked], spans: tuple[Span, ...]) -> Figure:
    return Figure(
        name="f1-of-random",
        kind="dots",
        title=say("F1 of random entities"),
        subtitle=say(
            "{entities}; {level:g}% intervals; bars join models that are not significantly "
            "different",
            entities=counted(found.board.entities, "entity", "entities"),
            level=100 * found.board.confidence,
        ),
        marks=tuple(
            Mark(
                row=model_name(asked.row), value=f1.value, low=f1.low, high=f1.high, n=f1.n,
                text=shown_estimate(f1),
            )
            for asked in rows
            for f1 in [asked.row.measured.estimates["f1"]]
        ),
        spans=spans,
        row_axis=word("model"),
        value_axis="F1",
        table=1,
    )  # fmt: skip


def _finding(found: Experiment, rows: Sequence[Asked], less: Sequence[Estimate | None]) -> str:
    first = rows[0]
    f1 = shown_estimate(first.row.measured.estimates["f1"])
    if len(rows) == 1:
        return say("{model} has F1 {f1}.", model=model_name(first.row), f1=f1)
    _above, below = resolved(less)
    level = [model_name(asked.row) for asked, each in zip(rows, less, strict=True)
             if each is not None and each.high >= 0.0]  # fmt: skip
    told = say(
        "{model} has the highest F1, {f1}; {below} of {models} are significantly lower.",
        model=model_name(first.row),
        f1=f1,
        below=below,
        models=counted(len(rows) - 1, "other"),
    )
    if not level:
        return told
    return (
        told + " " + say("Not significantly different from it: {models}.", models=joined(level, 6))
    )


def _left_out(found: Experiment, rows: Sequence[Asked]) -> tuple[str, ...]:
    n = len(found.asked) - len(rows)
    if not n:
        return ()
    return (
        say(
            "{rows} asked with other prompts, another range or another effort of reasoning are "
            "left out; they are in the experiments on those.",
            rows=counted(n, "row"),
        ),
    )
