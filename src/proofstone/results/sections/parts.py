"""Analyses over several parts: forms, the scores on each, who is complete on which, and what
an analysis of them gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.files.write import write_rows
from proofstone.method import Method
from proofstone.page.section import (
    AxisUnit,
    Column,
    Figure,
    FigureKind,
    Mark,
    ReadColumn,
    Section,
    Table,
    estimate_mark,
    table_of,
)
from proofstone.records.items import shown_name
from proofstone.records.knowledge import origin_of
from proofstone.records.models import CardSnapshot
from proofstone.records.runs import Estimate, Measure, Population, Run, asked_as, values_kind
from proofstone.records.scores import Respondent, ScoreTable
from proofstone.results.measured_scores import Sheet, linear_values, measure_estimates
from proofstone.results.request import CURRENT, View
from proofstone.results.table import headline, read_scores, with_shared_part
from proofstone.run.forms import Selection, not_run, select_runs
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.comparisons import compare_pair, measure_contrasts
from proofstone.stats.estimates import mean_estimates
from proofstone.stats.intervals import Weighting, equal_weights
from proofstone.store.lookup import Found
from proofstone.store.store import Store
from proofstone.wording.messages import listed, say, word


@dataclass(frozen=True)
class ResponseLengths:
    """Tokens of replies as parallel arrays (N): unit and respondent as in the part's table, the
    completion's tokens, and those of them that were reasoning (NaN where not told)."""

    unit: NDArray[np.int32]
    respondent: NDArray[np.int32]
    sample: NDArray[np.int32]
    completion: NDArray[np.float64]
    reasoning: NDArray[np.float64]


@dataclass(frozen=True)
class HowAsked:
    """How a respondent was asked: its model, the way, its settings, and the model's size in
    billions of parameters, and of its card the kind and the family, where they are known.
    ``prompt`` is the hash of its templates and few-shot examples, ``replicate`` what sets a repeat
    apart, ``judge`` whose verdicts its scores are (empty: no judge's)."""

    model: str
    prompt_method: str
    settings: Mapping[str, Any]
    parameters_b: float | None = None
    kind: str = ""
    family: str = ""
    prompt: str = ""
    replicate: str = ""
    judge: str = ""


class Interval(TypedDict):
    """What an interval speaks of, and how surely."""

    population: Population
    confidence: float


@dataclass(frozen=True)
class Part:
    """A form (or several of one recipe, together) with the scores on it under ``measure``.
    ``asked`` says by respondent of the table how it was asked. ``origins`` are the facts that the
    table's units come from, for studies that compare forms of the same questions: of a unit on
    one fact, what that was made from, or the fact itself; empty bytes for others. The table's
    ``items`` in their order. ``others`` are measures of the same scores that stand beside. Where a
    part is what one judge made of the replies, ``judged`` says of each score (N) whether a judge
    was asked for it. Intervals speak of the ``population`` at ``confidence``."""

    name: str
    kind: str
    seed: int | None
    recipe: Mapping[str, Any]
    table: ScoreTable
    measure: Measure
    lengths: ResponseLengths | None = None
    asked: tuple[HowAsked, ...] = ()
    origins: tuple[bytes, ...] = ()
    others: tuple[Measure, ...] = ()
    judged: NDArray[np.bool_] | None = None
    population: Population = "domain"
    confidence: float = 0.95

    @cached_property
    def interval(self) -> Interval:
        """Of what intervals of this part speak, and at which confidence."""
        return Interval(population=self.population, confidence=self.confidence)

    @cached_property
    def sheet(self) -> Sheet:
        """The scores as the measure values them."""
        return Sheet.of(self.table, self.measure)

    @cached_property
    def sheets(self) -> dict[str, Sheet]:
        """The same under the measure and each of the others, by what heads their columns."""
        found = {self.measure.label or self.measure.name: self.sheet}
        return found | {each.label: Sheet.of(self.table, each) for each in self.others}

    @cached_property
    def complete(self) -> dict[str, int]:
        """The complete respondents by label, in the table's order; simulated ones are marked."""
        return {
            label_of(who): place
            for place, who in enumerate(self.table.respondents)
            if self.sheet.is_complete[place]
        }

    def estimates(self, labels: Sequence[str]) -> dict[str, Estimate]:
        """The mean of each of these complete respondents on the items that they have in common."""
        units, values = self.block(labels)
        found = self.means(labels, units, values)
        return dict(zip(labels, found, strict=True))

    def means(
        self,
        labels: Sequence[str],
        units: NDArray[np.int64],
        values: NDArray[np.float64],
        weighting: Weighting | None = None,
    ) -> tuple[Estimate, ...]:
        """The mean of each respondent's column of ``values`` (units, labels), where nothing else is
        said with equal weights. A score that is a share is of as many right-or-wrong answers as its
        unit has keys."""
        keys = self.sheet.keys.among(units)
        weighting = weighting or equal_weights(len(units))
        found: dict[int, Estimate] = {}
        for of_parts in (False, True):
            columns = [n for n, each in enumerate(labels) if self._is_of_parts(each) is of_parts]
            if columns:
                estimates = mean_estimates(
                    values[:, columns],
                    weighting,
                    keys,
                    n_parts=len(keys.unit) if of_parts else None,
                    **self.interval,
                )
                found |= dict(zip(columns, estimates, strict=True))
        return tuple(found[column] for column in range(len(labels)))

    def _is_of_parts(self, label: str) -> bool:
        """Whether a respondent's scores are shares of an item's parts, one a key of it."""
        return values_kind(self.table.respondents[self.complete[label]].scale) != ""

    def block(self, labels: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The units that count for all of these respondents, and their values (units, labels)."""
        places = [self.complete[label] for label in labels]
        units = np.flatnonzero(~np.isnan(self.sheet.values[:, places]).any(axis=1))
        return units, self.sheet.block(units, places)

    def change(self, before: str, after: str) -> Estimate:
        """The mean of one respondent less that of another, on the items of both."""
        places = [self.complete[before], self.complete[after]]
        return paired_change(self.sheet.values[:, places], self.sheet.keys, self)

    def measured(self, sheet: Sheet, units: NDArray[np.int64], *labels: str) -> list[Estimate]:
        """Each respondent's figure under one of the part's ``sheets``, on these units."""
        places = [self.complete[label] for label in labels]
        return list(measure_estimates(sheet, units, places, **self.interval))

    def measured_change(
        self, sheet: Sheet, units: NDArray[np.int64], before: str, after: str
    ) -> Estimate:
        """The change between two respondents in such a figure, item by item."""
        values = linear_values(sheet, units, [self.complete[before], self.complete[after]])
        return pair_change(values[:, 0], values[:, 1], sheet.keys.among(units), self)


# Paired changes between two columns of values on the same items.


def paired_change(values: NDArray[np.float64], keys: SharedKeys, of: Part) -> Estimate:
    """The second column of ``values`` (n units, 2; NaN where one is missing) less the first.
    ``keys`` are those of all n units."""
    found = measure_contrasts(values[:, :1], values[:, 1:], keys, of.population, paired=True)
    (change,) = found.estimates(confidence=of.confidence)
    return change


def pair_change(
    first: NDArray[np.float64], second: NDArray[np.float64], keys: SharedKeys, of: Part
) -> Estimate:
    """The second column (units) less the first, both of all units, as ``compare`` has it: where no
    unit differs, with what so many equal ones leave open. NaN where a column is unknown."""
    if np.isnan(first).any() or np.isnan(second).any():
        return Estimate(value=math.nan, n=len(first), low=math.nan, high=math.nan)
    return compare_pair(first, second, keys, **of.interval).estimate


def count_resolved(changes: Sequence[Estimate]) -> dict[str, int]:
    """How many changes lie wholly above nothing (``rises``) and below it (``falls``)."""
    return {
        "rises": sum(change.low > 0.0 for change in changes),
        "falls": sum(change.high < 0.0 for change in changes),
    }


def label_of(who: Respondent) -> str:
    """A respondent as a study names it, the same on every form."""
    shown = " ".join(part for part in (who.name, who.prompt_method, who.settings) if part)
    return f"{shown} (simulated)" if who.simulated else shown


def complete_everywhere(parts: Sequence[Part]) -> list[str]:
    """The respondents that are complete on every part, in the order of the first.

    Raises BadUsage where there is none.
    """
    labels = [label for label in parts[0].complete if all(label in part.complete for part in parts)]
    if not labels:
        raise BadUsage(
            "no respondent is complete on all of these forms",
            hint="run the same model in the same way on each: proofstone run FORM -m MODEL; "
            "proofstone status lists what is unfinished",
        )
    return labels


def left_out(parts: Sequence[Part], labels: Sequence[str]) -> tuple[str, ...]:
    """A note naming the respondents that the study leaves out, or none."""
    known = {label_of(who): None for part in parts for who in part.table.respondents}
    missing = [label for label in known if label not in labels]
    if not missing:
        return ()
    return (say("Left out, not complete on every form here: {models}.", models=listed(missing)),)


# What an analysis of parts gives.


class Analysis(Section, frozen=True, kw_only=True):
    """A section over several parts. ``data`` are the marks of its figure as a file holds them: the
    series as rows, each at a number ``x`` or at a name (``column``). Axes and series are in English
    there, whatever the language; what is drawn has them in words."""

    data: Figure


def make_analysis(
    name: str,
    title: str,
    finding: str,
    *,
    columns: Sequence[Column | ReadColumn],
    rows: Iterable[Any],
    axes: tuple[str, str],
    marks: Iterable[Mark],
    notes: Iterable[str] = (),
    more: Sequence[Table] = (),
    figures: Iterable[Figure] = (),
) -> Analysis:
    """An analysis with its first table, under the analysis's own title, and ``more``; ``axes`` name
    what marks stand at and what they show. ``rows`` hold the cells of ``columns``, or the records
    that these read."""
    read = [each for each in columns if isinstance(each, ReadColumn)]
    plain = tuple(each for each in columns if isinstance(each, Column))
    table = Table(title=title, columns=plain, rows=() if read else tuple(rows), sorts=False)
    if read:
        table = table_of(title, rows, *read, sorts=False)
    across, up = axes
    data = Figure(name=name, kind="curves", title=title, subtitle="", marks=tuple(marks),
                  x_axis=across, value_axis=up)  # fmt: skip
    return Analysis(name=name, title=title, finding=finding, tables=(table, *more), data=data,
                    notes=tuple(notes), figures=tuple(figures))  # fmt: skip


def mark_of(series: str, at: float | str, estimate: Estimate) -> Mark:
    """An estimate as a mark of an analysis's data."""
    if isinstance(at, str):
        return estimate_mark(estimate, row=series, column=at)
    return estimate_mark(estimate, row=series, x=at)


def figure_rows(data: Figure) -> list[dict[str, Any]]:
    """The marks of an analysis, one row each, under the names of its axes."""
    return [
        {
            "series": mark.row,
            data.x_axis: mark.column or mark.x,
            data.value_axis: mark.value,
            "n": mark.n,
            "low": mark.low,
            "high": mark.high,
        }
        for mark in data.marks
    ]


def write_figure_data(made: Analysis, path: Path) -> None:
    """Writes the marks of an analysis as rows; the suffix of ``path`` says in which form."""
    write_rows(path, figure_rows(made.data))


_MOST_ROWS = 40


def drawn_figures(made: Analysis) -> tuple[Figure, ...]:
    """The figures of an analysis: its own, or one of its data, lines over numbers and over names a
    row each, with a mark for each series. None where there is no mark."""
    if made.figures or not made.data.marks:
        return made.figures
    marks = made.data.marks
    if any(mark.column for mark in marks):
        return (_over_names(made.data),)
    lines = [structs.replace(mark, row=word(mark.row)) for mark in sorted(marks, key=lambda m: m.x)]
    return (_drawn(made.data, "curves", lines, x_axis=word(made.data.x_axis)),)


def _over_names(data: Figure) -> Figure:
    names = list(dict.fromkeys(mark.column for mark in data.marks))
    shown = set(names[:_MOST_ROWS])
    marks = [mark for mark in data.marks if mark.column in shown]
    has_levels = len(marks) > len(shown)
    cut = say("the first {n} of {all}", n=len(shown), all=len(names))
    return _drawn(
        data,
        "dumbbells" if has_levels else "dots",
        [
            structs.replace(
                mark, row=word(mark.column), column=word(mark.row) if has_levels else ""
            )
            for mark in marks
        ],
        row_axis=word(data.x_axis),
        more=cut if len(shown) < len(names) else "",
    )


def _drawn(
    data: Figure,
    kind: FigureKind,
    marks: Sequence[Mark],
    *,
    row_axis: str = "",
    x_axis: str = "",
    more: str = "",
) -> Figure:
    """The data as a figure: shares and their differences out of 100, ranks as they are."""
    has_intervals = not all(math.isnan(mark.low) for mark in data.marks)
    unit: AxisUnit = "points" if all(abs(m.value) <= 1.0 for m in data.marks) else "number"
    axis = word(data.value_axis)
    told = (axis, say("with 95% intervals") if has_intervals else "", more)
    return structs.replace(
        data,
        kind=kind,
        subtitle=say("; ").join(filter(None, told)),
        marks=tuple(marks),
        row_axis=row_axis,
        x_axis=x_axis,
        x_unit="number",
        value_axis=say("{axis}, points", axis=axis) if unit == "points" else axis,
        value_unit=unit,
    )


# From targets to the parts that an analysis reads: forms, the scores on them, lengths of replies.


class Reads(TypedDict, total=False):
    """What is read beside scores: how long replies are, what the questions come from."""

    lengths: bool
    origins: bool


def parts_together(
    store: Store,
    find_method: Callable[[str], Method],
    targets: Sequence[Found],
    **reads: Unpack[Reads],
) -> list[Part]:
    """All targets as one part, as a leaderboard takes them. Raises what ``select_runs`` does."""
    selection = select_runs(store, targets)
    return [part_of(store, find_method(selection.method), selection, **reads)]


def parts_by_form(
    store: Store,
    find_method: Callable[[str], Method],
    targets: Sequence[Found],
    **reads: Unpack[Reads],
) -> list[Part]:
    """A part a form that was asked; a bank means all of its forms, of whatever recipe.

    Raises NotFound where nothing was run on any.
    """
    # The runs on each form: of a run that was named, that run alone.
    chosen: dict[bytes, dict[bytes, tuple[int, Run]]] = {}
    for target in targets:
        if target.kind == "run":
            runs = [store.runs.run(target.id)]
        else:
            own = target.kind == "form"
            runs = store.runs.of_sets([target.id] if own else store.items.sets_of_bank(target.id))
        for key, run in runs:
            chosen.setdefault(run.item_set, {})[run.id] = (key, run)
    if not chosen:
        raise not_run(store, targets, [each.id for each in targets if each.kind == "form"])
    parts = []
    for identity, of_form in chosen.items():
        form = Selection(item_sets=(store.items.item_set(identity),), runs=tuple(of_form.values()))
        parts.append(part_of(store, find_method(form.method), form, **reads))
    return parts


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
    table = with_shared_part(read_scores(store, method, selection, view=view))
    if method.grouping is not None:
        table = replace(table, level_names=dict(method.grouping.level_names))
    first = selection.item_sets[0]
    several = len(selection.item_sets) > 1
    runs = {run.id: run for _key, run in selection.runs}
    firsts = [runs[who.runs[0]] for who in table.respondents]
    cards = store.models.cards(sorted({run.respondent for run in firsts}))
    return Part(
        name=", ".join(shown_name(item_set) for item_set in selection.item_sets),
        kind=first.kind,
        seed=None if several else first.seed,
        recipe=first.recipe,
        table=table,
        measure=headline(method),
        lengths=_lengths(store, selection, table) if lengths else None,
        asked=tuple(
            HowAsked(
                model=run.respondent,
                prompt_method=asked_as(run),
                settings=run.settings,
                prompt=run.prompt_hash.hex(),
                replicate=run.replicate,
                judge=who.judge,
                **_known_of(cards.get(run.respondent)),
            )
            for who, run in zip(table.respondents, firsts, strict=True)
        ),
        origins=_origins(store, selection, table) if origins else (),
        others=_beside(method),
    )


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


def _known_of(kept: CardSnapshot | None) -> dict[str, Any]:
    if kept is None:
        return {}
    card = kept.card
    return {"parameters_b": card.total_parameters_b, "kind": card.kind, "family": card.family}


def _lengths(store: Store, selection: Selection, table: ScoreTable) -> ResponseLengths:
    keys = {run.id: key for key, run in selection.runs}
    units: dict[bytes, list[int]] = {}
    for unit, item in enumerate(table.items):
        units.setdefault(item, []).append(unit)
    rows = [
        (unit, place, sample, completion, reasoning)
        for place, who in enumerate(table.respondents)
        for run in who.runs
        for item, sample, completion, reasoning in store.runs.response_tokens(keys[run])
        for unit in units.get(item, ())
    ]
    columns = list(zip(*rows, strict=True)) or [(), (), (), (), ()]
    return ResponseLengths(
        unit=np.array(columns[0], dtype=np.int32),
        respondent=np.array(columns[1], dtype=np.int32),
        sample=np.array(columns[2], dtype=np.int32),
        completion=np.array(columns[3], dtype=np.float64),  # None becomes NaN
        reasoning=np.array(columns[4], dtype=np.float64),
    )


def median_points(changes: Sequence[Estimate]) -> float:
    """The median of changes, in points out of 100."""
    return 100 * float(np.median([change.value for change in changes]))
