"""Prompts, ranges and efforts: each model against itself, asked in another way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proofstone.errors import BadUsage
from proofstone.records.results import Estimate
from proofstone.report.numbers import points, shown_estimate
from proofstone.report.sections.section import Cell as TableCell
from proofstone.report.sections.section import Column, Figure, Section, Table
from proofstone.report.triples.experiments.cells import (
    config_column,
    config_of,
    measured_columns,
    measures_of,
    resolved,
    strips,
    strips_subtitle,
    triples_an_entity,
)
from proofstone.report.triples.experiments.evidence import Asked, Experiment, Varied
from proofstone.report.triples.experiments.gaps import gaps_of, value_name
from proofstone.report.triples.experiments.sweeps import Sweep, sweeps_of
from proofstone.report.triples.experiments.tallies import DIFFERENT, Cell, DrawnCells
from proofstone.wording import counted, joined, say, word

__all__ = ["effort_section", "prompts_section", "ranges_section"]

_Less = dict[str, tuple[Estimate | None, ...]]


@dataclass(frozen=True, slots=True)
class _Compared:
    """A sweep, and by measure how far each of its values lies above the usual one (None there)."""

    sweep: Sweep
    less: _Less


def prompts_section(found: Experiment) -> Section:
    """Each set of prompts against the direct one. Raises BadUsage where no model was verified with
    two of them."""
    return _section(found, "prompts", "prompts", say("Sets of prompts"), say("prompts"))


def ranges_section(found: Experiment) -> Section:
    """Each range of triples asked for against the default. Raises as ``prompts_section``."""
    return _section(found, "range", "ranges", say("Ranges of triples asked for"), say("range"))


def effort_section(found: Experiment) -> Section:
    """Each effort of reasoning against the least, with the tokens and money of a reply. Raises as
    ``prompts_section``."""
    return _section(found, "effort", "effort", say("Efforts of reasoning"), say("effort"))


def _section(found: Experiment, varied: Varied, name: str, title: str, axis: str) -> Section:
    sweeps = sweeps_of(found, varied)
    if not sweeps:
        raise _nothing_to_compare(found, name, axis)
    compared = _compared(found, sweeps)
    figure = _figure(found, name, axis, sweeps)
    return Section(
        name=name,
        title=title,
        finding=_finding(compared, axis),
        how=say(
            "Differences are paired: entities are drawn again, with all that either way of asking "
            "said of them; {level:g}% for all differences in one measure together.",
            level=100 * found.board.confidence,
        ),
        tables=(_table(compared, varied, axis), _differences(compared, axis)),
        figures=() if figure is None else (figure,),
        notes=tuple(gaps_of(found, varied, sweeps, name)),
    )


def _nothing_to_compare(found: Experiment, name: str, axis: str) -> BadUsage:
    models = dict.fromkeys(asked.row.group.model for asked in found.asked)
    return BadUsage(
        f"no model here was verified with two values of {axis} and all else alike",
        hint=found.ask.format(models=",".join(models), preset=name)
        + "; "
        + found.score.format(targets="RUN ..."),
    )


def _compared(found: Experiment, sweeps: Sequence[Sweep]) -> list[_Compared]:
    """Each sweep with its differences, all of a measure drawn together. A sweep is compared on the
    entities that it was asked about in every way."""
    cells: list[Cell] = []
    pairs: list[tuple[int, int]] = []
    for sweep in sweeps:
        groups = [asked.group for asked in sweep.asked]
        chosen, first = found.tallies.shared(groups), len(cells)
        cells += [Cell(group, chosen) for group in groups]
        usual = first + sweep.usual
        pairs += [(place, usual) for place in range(first, len(cells)) if place != usual]
    drawn = DrawnCells(
        found.tallies, cells, confidence=found.board.confidence, seed=found.board.seed
    )
    less = {measure: iter(drawn.less(pairs, measure)) for measure in DIFFERENT}
    return [
        _Compared(
            sweep,
            {
                measure: tuple(
                    None if place == sweep.usual else next(made)
                    for place in range(len(sweep.asked))
                )
                for measure, made in less.items()
            },
        )
        for sweep in sweeps
    ]


# ---------------------------------------------------------------- tables and figure


def _table(compared: Sequence[_Compared], varied: Varied, axis: str) -> Table:
    spent = _spent_columns() if varied == "effort" else ()
    return Table(
        title=say("F1, precision and recall by {axis}", axis=axis),
        columns=(
            Column(key="model", name=word("model")),
            Column(key=varied, name=axis),
            config_column(),
            *measured_columns(),
            Column(key="triples", name=say("triples an entity"), digits=1),
            *spent,
            Column(
                key="f1_less", name=_against(compared, "F1"), unit="points",
                help=say("the same entities; an interval without 0 is a difference"),
            ),
        ),
        rows=tuple(
            (
                each.sweep.name,
                value_name(value),
                config_of(asked),
                *measures_of(asked.row),
                triples_an_entity(asked.row),
                *(_spent_cells(asked) if spent else ()),
                each.less["f1"][place],
            )
            for each in compared
            for place, (value, asked) in enumerate(
                zip(each.sweep.values, each.sweep.asked, strict=True)
            )
        ),
        sorts=False,
    )  # fmt: skip


def _spent_columns() -> tuple[Column, ...]:
    return (
        Column(key="tokens", name=say("tokens"), digits=0, help=say("of a reply, in the mean")),
        Column(key="reasoning", name=say("of it reasoning"), digits=0),
        Column(key="usd", name=say("USD for 1,000"), digits=2, help=say("for 1,000 entities")),
    )


def _spent_cells(asked: Asked) -> tuple[TableCell, ...]:
    usd = None if asked.usd is None else 1000 * asked.usd
    return (asked.tokens, asked.reasoning, usd)


def _differences(compared: Sequence[_Compared], axis: str) -> Table:
    heads = {
        "precision": word("precision"), "recall": word("recall"),
        "contradiction": word("contradiction"), "triples": say("triples an entity"),
    }  # fmt: skip
    return Table(
        title=say("Differences to {usual}", usual=_usual(compared)),
        columns=(
            Column(key="model", name=word("model")),
            Column(key="value", name=axis),
            *(
                Column(key=key, name=name, unit="" if key == "triples" else "points", digits=1)
                for key, name in heads.items()
            ),
        ),
        rows=tuple(
            (each.sweep.name, value_name(value), *(each.less[key][place] for key in heads))
            for each in compared
            for place, value in enumerate(each.sweep.values)
            if place != each.sweep.usual
        ),
        sorts=False,
    )


def _usual(compared: Sequence[_Compared]) -> str:
    names = dict.fromkeys(value_name(each.sweep.values[each.sweep.usual]) for each in compared)
    return joined(list(names))


def _against(compared: Sequence[_Compared], measure: str) -> str:
    return say("{measure} less {usual}", measure=measure, usual=_usual(compared))


def _figure(found: Experiment, name: str, axis: str, sweeps: Sequence[Sweep]) -> Figure | None:
    order = list(dict.fromkeys([*found.grids[_VARIED[name]], *_values(sweeps)]))
    return strips(
        f"f1-by-{name}",
        say("F1 by {axis}", axis=axis),
        strips_subtitle(found.board),
        axis,
        (
            (value_name(value), sweep.name, sweep.asked[place].row.measured.estimates.get("f1"))
            for value in order
            for sweep in sweeps
            if value in sweep.values
            for place in [sweep.values.index(value)]
        ),
    )


_VARIED: dict[str, Varied] = {"prompts": "prompts", "ranges": "range", "effort": "effort"}


def _values(sweeps: Sequence[Sweep]) -> Iterator[str]:
    for sweep in sweeps:
        yield from sweep.values


# ---------------------------------------------------------------- the sentence


def _finding(compared: Sequence[_Compared], axis: str) -> str:
    """By how much F1 lies apart, what is resolved, and the largest changes of precision and
    recall that are."""
    apart = max(_apart(each) for each in compared)
    found = [less for each in compared for less in each.less["f1"]]
    above, below = resolved(found)
    known = sum(less is not None for less in found)
    first = say(
        "Within a model F1 lies up to {apart} points apart by {axis}.",
        apart=points(apart),
        axis=axis,
    )
    if not above and not below:
        second = say(
            "None of {n} differences from {usual} is statistically significant.",
            n=known,
            usual=_usual(compared),
        )
    else:
        second = say(
            "Of {differences} from {usual}, {above} are significantly positive and {below} "
            "significantly negative.",
            differences=counted(known, "difference"),
            usual=_usual(compared),
            above=above,
            below=below,
        )
    return " ".join(filter(None, (first, second, *_largest(compared))))


def _apart(each: _Compared) -> float:
    values = [asked.row.measured.estimates["f1"].value for asked in each.sweep.asked]
    return max(values) - min(values)


def _largest(compared: Sequence[_Compared]) -> Iterator[str]:
    for measure in ("precision", "recall"):
        told = [
            (abs(less.value), less, each.sweep.name, value_name(each.sweep.values[place]))
            for each in compared
            for place, less in enumerate(each.less[measure])
            if less is not None and not less.low <= 0.0 <= less.high
        ]
        if told:
            _size, less, model, value = max(told, key=lambda one: one[0])
            yield say(
                "{measure} changes most with {value} ({model}): {change} points.",
                measure=word(measure).capitalize(),
                value=value,
                model=model,
                change=shown_estimate(less),
            )
