"""Parts of analyses: forms with their scores, complete models, and results."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

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
from proofstone.records.ids import canonical_json
from proofstone.records.items import (
    CHUNK_TOKENS,
    CONTEXT_CHUNK_TOKENS,
    CONTEXT_CHUNKS,
    CONTEXT_SETTINGS,
    context_label,
    context_of,
    search_label,
    shown_name,
    shows_document,
)
from proofstone.records.knowledge import origin_of
from proofstone.records.models import CardSnapshot
from proofstone.records.runs import Estimate, Measure, Population, Run, asked_as, values_kind
from proofstone.records.scores import Respondent, ScoreTable
from proofstone.results.answer_paths import AnswerPath, Sampled, paths_by_run
from proofstone.results.measured_scores import Sheet, linear_values, measure_estimates
from proofstone.results.request import CURRENT, View
from proofstone.results.search_use import Searched, searched_by_run
from proofstone.results.table import headline, read_scores, with_groups, with_shared_part
from proofstone.run.evidence_found import found_by_run
from proofstone.run.forms import Selection, not_run, select_runs
from proofstone.run.run_options import CHUNKS
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.comparisons import compare_pair, measure_contrasts
from proofstone.stats.estimates import mean_estimates
from proofstone.stats.intervals import Weighting, equal_weights
from proofstone.stats.retrieval import EvidenceFound
from proofstone.store.lookup import Found
from proofstone.store.store import Store
from proofstone.wording.messages import listed, say, word

T = TypeVar("T")


@dataclass(frozen=True)
class ResponseLengths:
    """Tokens of responses as parallel arrays (N).

    ``unit`` and ``respondent`` are as in the part's table. ``reasoning`` is the part of
    ``completion`` that is reasoning (NaN if unknown). ``cost`` is in US dollars (NaN if a call has
    no price).
    """

    unit: NDArray[np.int32]
    respondent: NDArray[np.int32]
    sample: NDArray[np.int32]
    completion: NDArray[np.float64]
    reasoning: NDArray[np.float64]
    cost: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class HowAsked:
    """Request settings of a model, with size (billions of parameters), kind and family, if known.

    ``prompt`` is the hash of its templates and few-shot examples. ``replicate`` distinguishes
    repetitions. ``judge`` names the judge (empty: none).
    """

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
    """Target population and confidence of an interval."""

    population: Population
    confidence: float


@dataclass(frozen=True)
class Part:
    """A form, or several of one recipe, with its scores under ``measure``.

    ``asked`` has the settings of each model of the table. ``origins`` (one per unit) identify the
    same question on different forms: for a unit with one fact, the origin of that fact or the fact
    itself, otherwise empty bytes. ``others`` are further measures of the same scores. For a part of
    one judge, ``judged`` (N) is a mask of the scores that a judge was asked for. ``found`` (one per
    model) maps items to the evidence that the model's prompts show; ``paths`` maps responses to the
    answers held along their reasoning, ``searched`` to the provider's own web searches. Intervals
    use ``population`` and ``confidence``.
    """

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
    found: tuple[Mapping[bytes, EvidenceFound], ...] = ()
    paths: tuple[Mapping[Sampled, AnswerPath], ...] = ()
    searched: tuple[Mapping[Sampled, Searched], ...] = ()
    population: Population = "domain"
    confidence: float = 0.95

    @cached_property
    def interval(self) -> Interval:
        """Return population and confidence of this part's intervals."""
        return Interval(population=self.population, confidence=self.confidence)

    @cached_property
    def sheet(self) -> Sheet:
        """Return the scores under the measure."""
        return Sheet.of(self.table, self.measure)

    @cached_property
    def sheets(self) -> dict[str, Sheet]:
        """Map column headings to the scores under the measure and each of the others."""
        found = {self.measure.label or self.measure.name: self.sheet}
        return found | {each.label: Sheet.of(self.table, each) for each in self.others}

    @cached_property
    def complete(self) -> dict[str, int]:
        """Map labels of complete models to indices, in the table's order; simulated ones are
        marked."""
        return {
            label_of(who): place
            for place, who in enumerate(self.table.respondents)
            if self.sheet.is_complete[place]
        }

    def estimates(self, labels: Sequence[str]) -> dict[str, Estimate]:
        """Map each of these complete models to its mean on their common items."""
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
        """Return the mean of each model's column of ``values`` (units, labels), by default
        unweighted.

        A share consists of as many right-or-wrong answers as its unit has cluster keys.
        """
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
        """Return True if a model's scores are shares over an item's parts, one per cluster key."""
        return values_kind(self.table.respondents[self.complete[label]].scale) != ""

    def block(self, labels: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the units that count for all of these models, and their values (units, labels)."""
        places = [self.complete[label] for label in labels]
        units = np.flatnonzero(~np.isnan(self.sheet.values[:, places]).any(axis=1))
        return units, self.sheet.block(units, places)

    def response_mean(self, units: Sequence[int], values: Sequence[float]) -> Estimate | None:
        """Return the mean over units of the mean ``values`` of their responses; None without any.

        ``units`` has the unit of each response.
        """
        if not units:
            return None
        counted, places = np.unique(np.array(units, dtype=np.int64), return_inverse=True)
        means = np.bincount(places, weights=np.array(values)) / np.bincount(places)
        keys = self.sheet.keys.among(counted)
        weighting = equal_weights(len(counted))
        (found,) = mean_estimates(means[:, None], weighting, keys, **self.interval)
        return found

    def change(self, before: str, after: str) -> Estimate:
        """Return the mean of ``after`` minus ``before`` on the items of both."""
        places = [self.complete[before], self.complete[after]]
        return paired_change(self.sheet.values[:, places], self.sheet.keys, self)

    def measured(self, sheet: Sheet, units: NDArray[np.int64], *labels: str) -> list[Estimate]:
        """Return each model's estimate under one of the part's ``sheets`` on these units."""
        places = [self.complete[label] for label in labels]
        return list(measure_estimates(sheet, units, places, **self.interval))

    def measured_change(
        self, sheet: Sheet, units: NDArray[np.int64], before: str, after: str
    ) -> Estimate:
        """Return the paired change between two models in such an estimate."""
        values = linear_values(sheet, units, [self.complete[before], self.complete[after]])
        return pair_change(values[:, 0], values[:, 1], sheet.keys.among(units), self)


# Paired changes between two columns of values on the same items.


def paired_change(values: NDArray[np.float64], keys: SharedKeys, of: Part) -> Estimate:
    """Return the second column of ``values`` (n units, 2; NaN if missing) minus the first.

    ``keys`` are those of all n units.
    """
    found = measure_contrasts(values[:, :1], values[:, 1:], keys, of.population, paired=True)
    (change,) = found.estimates(confidence=of.confidence)
    return change


def pair_change(
    first: NDArray[np.float64], second: NDArray[np.float64], keys: SharedKeys, of: Part
) -> Estimate:
    """Return the second column (units) minus the first over all units, as ``compare`` does.

    If no unit differs, the interval is what that many equal units allow. NaN if a column has a NaN.
    """
    if np.isnan(first).any() or np.isnan(second).any():
        return Estimate(value=math.nan, n=len(first), low=math.nan, high=math.nan)
    return compare_pair(first, second, keys, **of.interval).estimate


def count_resolved(changes: Sequence[Estimate]) -> dict[str, int]:
    """Count the changes whose interval is above 0 (``rises``) and below 0 (``falls``)."""
    return {
        "rises": sum(change.low > 0.0 for change in changes),
        "falls": sum(change.high < 0.0 for change in changes),
    }


def without_constant(change: Estimate) -> Estimate:
    """Return a difference, without its interval if no variance was observed."""
    if change.low < change.high:
        return change
    return structs.replace(change, low=math.nan, high=math.nan)


def label_of(who: Respondent) -> str:
    """Return a model's label in an analysis, the same on every form."""
    shown = " ".join(part for part in (who.name, who.prompt_method, who.settings) if part)
    return f"{shown} (simulated)" if who.simulated else shown


def method_alone(asked: HowAsked) -> str:
    """Return the prompting method without its context label."""
    label = context_label(asked.settings)
    return asked.prompt_method.replace(f" {label}", "", 1) if label else asked.prompt_method


def same_request(asked: HowAsked, apart: Collection[str] = CONTEXT_SETTINGS) -> bytes:
    """Return what identifies a model and its settings, except for those in ``apart``."""
    others = {n: value for n, value in asked.settings.items() if n not in apart}
    key = [asked.model, method_alone(asked), others, asked.judge, asked.replicate]
    return canonical_json(key)


def search_name(asked: HowAsked) -> str:
    """Return where was searched and how much was shown."""
    settings = asked.settings
    name = say(
        "{search}: {n} passages of up to {tokens} tokens",
        search=search_label(settings),
        n=int(settings.get(CONTEXT_CHUNKS, CHUNKS)),
        tokens=int(settings.get(CONTEXT_CHUNK_TOKENS, CHUNK_TOKENS)),
    )
    if shows_document(context_of(settings)):
        return say("{search}, after the document", search=name)
    return name


def complete_everywhere(parts: Sequence[Part]) -> list[str]:
    """Return the models complete on every part, in the order of the first.

    Raises BadUsage without any.
    """
    labels = [label for label in parts[0].complete if all(label in part.complete for part in parts)]
    if not labels:
        raise BadUsage(
            "no model is complete on all of these forms",
            hint="run the same model in the same way on each: proofstone run FORM -m MODEL; "
            "proofstone status lists what is unfinished",
        )
    return labels


def group_codes(
    part: Part, level: str, units: NDArray[np.int64]
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the groups of a level that have items, and the index of each item's group.

    Raises BadUsage for an unknown level.
    """
    known = part.table.stratum_names
    if level not in known:
        raise BadUsage(
            f"these items have no level {level!r}" if level else "these items have no groups",
            hint=f"levels: {', '.join(known)}" if known else "leave out --level",
        )
    present, codes = np.unique(part.table.strata[level][units], return_inverse=True)
    return tuple(known[level][code] for code in present.tolist()), codes.reshape(-1)


def left_out(parts: Sequence[Part], labels: Sequence[str]) -> tuple[str, ...]:
    """Return a note naming the models that the analysis omits, if any."""
    known = {label_of(who): None for part in parts for who in part.table.respondents}
    missing = [label for label in known if label not in labels]
    if not missing:
        return ()
    return (say("Left out, not complete on every form here: {models}.", models=listed(missing)),)


# Results of an analysis of parts.


class Analysis(Section, frozen=True, kw_only=True):
    """A section over several parts.

    ``data`` are the marks of its figure for a file: series as rows, each at a number ``x`` or a
    name (``column``). Axes and series are always in English there; figures use the current
    language.
    """

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
    """Return an analysis with its first table and ``more``.

    ``axes`` name the positions and the values of marks. ``rows`` hold the cells of ``columns``, or
    the records that the columns read.
    """
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
    """Return an estimate as a mark of an analysis's data."""
    if isinstance(at, str):
        return estimate_mark(estimate, row=series, column=at)
    return estimate_mark(estimate, row=series, x=at)


def figure_rows(data: Figure) -> list[dict[str, Any]]:
    """Return the marks of an analysis, one row each, under the names of its axes."""
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
    """Write the marks of an analysis as rows; the suffix of ``path`` sets the format."""
    write_rows(path, figure_rows(made.data))


_MOST_ROWS = 40


def drawn_figures(made: Analysis) -> tuple[Figure, ...]:
    """Return the figures of an analysis: its own, or one of its data; none without marks.

    Data over numbers are lines; data over names have one row per name and one mark per series.
    """
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
    """Return the data as a figure: shares and their differences out of 100, ranks unchanged."""
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


# From targets to the parts of an analysis: forms, scores, response lengths.


class Reads(TypedDict, total=False):
    """Optional data: response lengths, origins of questions, evidence in prompts, answers held, web
    searches."""

    lengths: bool
    origins: bool
    found: bool
    paths: bool
    searched: bool


def parts_together(
    store: Store,
    find_method: Callable[[str], Method],
    targets: Sequence[Found],
    **reads: Unpack[Reads],
) -> list[Part]:
    """Return all targets as one part, as in a leaderboard. Raises as ``select_runs`` does."""
    selection = select_runs(store, targets)
    return [part_of(store, find_method(selection.method), selection, **reads)]


def parts_by_form(
    store: Store,
    find_method: Callable[[str], Method],
    targets: Sequence[Found],
    **reads: Unpack[Reads],
) -> list[Part]:
    """Return one part per form with runs; a bank means all of its forms, of any recipe.

    Raises NotFound without runs.
    """
    # The runs on each form; a named run stands for itself only.
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
    found: bool = False,
    paths: bool = False,
    searched: bool = False,
    view: View = CURRENT,
) -> Part:
    """Return a selection's scores, selected by ``view``, as one part."""
    table = with_shared_part(read_scores(store, method, selection, view=view))
    if lengths:
        table = with_groups(store, method, selection.item_sets, table)
    elif method.grouping is not None:
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
        found=_found_evidence(store, selection, table) if found else (),
        paths=_by_response(partial(paths_by_run, store, method), selection, table) if paths else (),
        searched=_by_response(partial(searched_by_run, store), selection, table)
        if searched
        else (),
    )


def _by_response(
    read: Callable[[int, Run], Mapping[Sampled, T]], selection: Selection, table: ScoreTable
) -> tuple[Mapping[Sampled, T], ...]:
    """Return what ``read`` finds in the responses of each model's runs, by response."""
    runs = {run.id: (key, run) for key, run in selection.runs}
    return tuple(
        {sampled: each for run in who.runs for sampled, each in read(*runs[run]).items()}
        for who in table.respondents
    )


def _found_evidence(
    store: Store, selection: Selection, table: ScoreTable
) -> tuple[Mapping[bytes, EvidenceFound], ...]:
    runs = {run.id: (key, run) for key, run in selection.runs}
    return tuple(
        {
            item: found
            for identity in who.runs
            for item, found in found_by_run(store, *runs[identity]).items()
        }
        for who in table.respondents
    )


def _origins(store: Store, selection: Selection, table: ScoreTable) -> tuple[bytes, ...]:
    """Return by unit the origin of its only fact, or that fact itself."""
    found: dict[bytes, bytes] = {}
    for item_set in selection.item_sets:
        for page in store.items.pages(item_set.id):
            for stored in page:
                facts = stored.loaded.facts
                one = facts[0] if len(facts) == 1 else None
                found[stored.loaded.item.id] = b"" if one is None else origin_of(one) or one.id
    return tuple(found.get(item, b"") for item in table.items)


def _beside(method: Method) -> tuple[Measure, ...]:
    """Return the measures of the headline's scores that have a column next to it."""
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
        (unit, place, sample, *counted)
        for place, who in enumerate(table.respondents)
        for run in who.runs
        for item, sample, *counted in store.runs.response_tokens(keys[run])
        for unit in units.get(item, ())
    ]
    columns = list(zip(*rows, strict=True)) or [()] * 6
    return ResponseLengths(
        unit=np.array(columns[0], dtype=np.int32),
        respondent=np.array(columns[1], dtype=np.int32),
        sample=np.array(columns[2], dtype=np.int32),
        completion=np.array(columns[3], dtype=np.float64),  # None becomes NaN
        reasoning=np.array(columns[4], dtype=np.float64),
        cost=np.array(columns[5], dtype=np.float64),
    )


def median_points(changes: Sequence[Estimate]) -> float:
    """Return the median change in points out of 100."""
    return 100 * float(np.median([change.value for change in changes]))
