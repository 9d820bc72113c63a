"""What studies read: forms, the scores on each, and who is complete on which."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.files.write import write_rows
from proofstone.method import Method
from proofstone.page.section import AxisUnit, Figure, FigureKind, Mark
from proofstone.page.text import aligned, printable
from proofstone.records.items import ItemSet
from proofstone.records.knowledge import origin_of
from proofstone.records.models import CardSnapshot
from proofstone.records.runs import Estimate, Measure, Run, asked_as, values_kind
from proofstone.records.scores import Respondent, ScoreTable
from proofstone.results.measured_scores import Sheet
from proofstone.results.table import (
    CURRENT,
    Selection,
    View,
    headline,
    not_run,
    read_scores,
    select_runs,
    shown_name,
    with_shared_part,
)
from proofstone.stats.estimates import mean_estimates
from proofstone.stats.flags import Estimand
from proofstone.stats.intervals import Weighting, equal_weights
from proofstone.store.lookup import Found
from proofstone.store.store import Store
from proofstone.wording.messages import say


@dataclass(frozen=True)
class ReplyLengths:
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
    way: str
    settings: Mapping[str, Any]
    parameters_b: float | None = None
    kind: str = ""
    family: str = ""
    prompt: str = ""
    replicate: str = ""
    judge: str = ""


@dataclass(frozen=True)
class Part:
    """A form (or several of one recipe, together) with the scores on it under ``measure``.
    ``asked`` says by respondent of the table how it was asked. ``origins`` are the facts that the
    table's units come from, for studies that compare forms of the same questions: of a unit on
    one fact, what that was made from, or the fact itself; empty bytes for others. The table's
    ``items`` in their order. ``others`` are measures of the same scores that stand beside. Where a
    part is what one judge made of the replies, ``judged`` says of each score (N) whether a judge
    was asked for it."""

    name: str
    kind: str
    seed: int | None
    recipe: Mapping[str, Any]
    table: ScoreTable
    measure: Measure
    lengths: ReplyLengths | None = None
    asked: tuple[HowAsked, ...] = ()
    origins: tuple[bytes, ...] = ()
    others: tuple[Measure, ...] = ()
    judged: NDArray[np.bool_] | None = None

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

    def estimates(
        self, labels: Sequence[str], *, estimand: Estimand, confidence: float
    ) -> dict[str, Estimate]:
        """The mean of each of these complete respondents on the items that they have in common."""
        units, values = self.block(labels)
        weighting = equal_weights(len(units))
        found = self.means(labels, units, values, weighting, estimand, confidence)
        return dict(zip(labels, found, strict=True))

    def means(
        self,
        labels: Sequence[str],
        units: NDArray[np.int64],
        values: NDArray[np.float64],
        weighting: Weighting,
        estimand: Estimand,
        confidence: float,
    ) -> tuple[Estimate, ...]:
        """The weighted mean of each respondent's column of ``values`` (units, labels). A score that
        is a share is of as many right-or-wrong answers as its unit has keys."""
        keys = self.sheet.keys.among(units)
        found: dict[int, Estimate] = {}
        for of_parts in (False, True):
            columns = [n for n, each in enumerate(labels) if self._is_of_parts(each) is of_parts]
            if columns:
                estimates = mean_estimates(
                    values[:, columns],
                    weighting,
                    keys,
                    estimand=estimand,
                    confidence=confidence,
                    n_parts=len(keys.unit) if of_parts else None,
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


def label_of(who: Respondent) -> str:
    """A respondent as a study names it, the same on every form."""
    shown = " ".join(part for part in (who.name, who.way, who.settings) if part)
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
    return (f"Left out, not complete on every form here: {', '.join(missing)}.",)


# What a study gives, as records: text, JSON and files all show the same.


class Point(Struct, frozen=True, kw_only=True):
    """One mark of a study's figure: ``y`` at ``x`` in a series, with n and the interval.

    ``x`` is a number or a name, as the figure's axis is; shares are in [0, 1].
    """

    series: str
    x: float | str
    y: float
    n: int
    low: float = float("nan")
    high: float = float("nan")


class StudyTable(Struct, frozen=True, kw_only=True):
    """A further table of a study: cells as people read them, under columns, of which the first
    ``n_names`` hold names."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_names: int = 1


class Study(Struct, frozen=True, kw_only=True):
    """A study's answer. ``finding`` is its sentence; ``rows`` are cells as people read them, under
    ``columns``, and ``more`` further tables; ``points`` the figure's data with its axes named;
    ``notes`` say what limits it; ``figures`` are drawn from the same numbers. As text it is what
    ``report --study`` prints."""

    name: str
    title: str
    finding: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    x_axis: str
    y_axis: str
    points: tuple[Point, ...]
    notes: tuple[str, ...] = ()
    more: tuple[StudyTable, ...] = ()
    figures: tuple[Figure, ...] = ()

    def __str__(self) -> str:

        return render_study(self).rstrip("\n")

    def __repr__(self) -> str:  # a notebook shows this
        return str(self)


def point_of(series: str, x: float | str, estimate: Estimate) -> Point:
    """An estimate as a mark."""
    return Point(
        series=series, x=x, y=estimate.value, n=estimate.n, low=estimate.low, high=estimate.high
    )


# A study as text for a terminal, and its figure's data as rows of a file.

# The columns of words, where there are others than the first; those of numbers stand to the right.
_WORDS: Mapping[str, Sequence[int]] = {
    **dict.fromkeys(("position", "judges", "alignment", "difficulty"), (0, 1)),
    "retrieval": (0, 1, 2),
    "topics": (0, 2, 5),
    "random": (0, 1),
    **dict.fromkeys(("effort", "domains", "prompts", "ranges", "popularity"), (0, 1, 2)),
}


def render_study(study: Study) -> str:
    """Title, finding, table and notes, ending in a newline."""
    left = _WORDS.get(study.name, (0,))
    parts = [study.title, study.finding, "", *_table(study.columns, study.rows, left)]
    for table in study.more:
        parts += ["", table.title, *_table(table.columns, table.rows, range(table.n_names))]
    if study.notes:
        parts += ["", *study.notes]
    return "".join(f"{line}\n" for line in parts)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int]) -> list[str]:
    shown = [[printable(cell) for cell in row] for row in rows]
    return aligned([list(columns), *shown], left=left)


def figure_rows(study: Study) -> list[dict[str, Any]]:
    """The figure's data, one row a mark, under the names of its axes."""
    return [
        {
            "series": point.series,
            study.x_axis: point.x,
            study.y_axis: point.y,
            "n": point.n,
            "low": point.low,
            "high": point.high,
        }
        for point in study.points
    ]


# From targets to the parts that a study reads: forms, the scores on them, lengths of replies.


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
    if method.grouping is None:
        return table
    return replace(table, level_names=dict(method.grouping.level_names))


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


# A study's figures: its own, or one made of its points.

_MOST_ROWS = 40


def study_figures(study: Study) -> tuple[Figure, ...]:
    """The figures of a study, else one of its points: lines over numbers; over names a row each,
    with a mark for each series. None of a study without points."""
    if study.figures or not study.points:
        return study.figures
    return (_over_names(study) if any(isinstance(p.x, str) for p in study.points)
            else _over_numbers(study),)  # fmt: skip


def _over_numbers(study: Study) -> Figure:
    marks = (
        _mark(point, row=point.series, x=float(point.x))
        for point in sorted(study.points, key=lambda each: float(each.x))
    )
    return _figure(study, "curves", marks, x_axis=study.x_axis)


def _over_names(study: Study) -> Figure:
    names = list(dict.fromkeys(str(point.x) for point in study.points))
    shown = set(names[:_MOST_ROWS])
    cut = say("the first {n} of {all}", n=len(shown), all=len(names))
    points = [point for point in study.points if str(point.x) in shown]
    has_levels = len(points) > len(shown)
    marks = (
        _mark(point, row=str(point.x), column=point.series if has_levels else "")
        for point in points
    )
    kind: FigureKind = "dumbbells" if has_levels else "dots"
    more = cut if len(shown) < len(names) else ""
    return _figure(study, kind, marks, row_axis=study.x_axis, more=more)


def _figure(
    study: Study,
    kind: FigureKind,
    marks: Iterator[Mark],
    *,
    row_axis: str = "",
    x_axis: str = "",
    more: str = "",
) -> Figure:
    told = [say("with 95% intervals")] if _has_intervals(study.points) else []
    unit = _unit(study.points)
    axis = f"{study.y_axis}, points" if unit == "points" else study.y_axis
    return Figure(
        name=study.name,
        kind=kind,
        title=study.title,
        subtitle="; ".join(filter(None, [study.y_axis, *told, more])),
        marks=tuple(marks),
        row_axis=row_axis,
        value_axis=axis,
        value_unit=unit,
        x_axis=x_axis,
        x_unit="number",
    )


def _mark(point: Point, *, row: str, column: str = "", x: float = float("nan")) -> Mark:
    return Mark(
        row=row, column=column, value=point.y, low=point.low, high=point.high, n=point.n, x=x
    )


def _has_intervals(points: Sequence[Point]) -> bool:
    return not all(math.isnan(point.low) for point in points)


def _unit(points: Sequence[Point]) -> AxisUnit:
    """Shares and their differences are written out of 100, ranks as they are."""
    return "points" if all(abs(point.y) <= 1.0 for point in points) else "number"
