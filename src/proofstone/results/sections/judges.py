"""The same responses graded by several judges, and self-evaluation risk.

Verdicts, agreement and effect on the ranking are compared (Chinese SimpleQA, appendix B and Figure
10).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, compress

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.method import Method
from proofstone.page.section import (
    Cell,
    Column,
    Mark,
    Section,
    Table,
    column,
    points,
    shown_share,
    table_of,
)
from proofstone.records.runs import OUTCOMES, Estimate
from proofstone.results.board import BoardRow
from proofstone.results.measured_scores import linear_values
from proofstone.results.request import View
from proofstone.results.sections.evidence import Evidence, ranked_values
from proofstone.results.sections.parts import (
    Analysis,
    Part,
    make_analysis,
    mark_of,
    pair_change,
    part_of,
)
from proofstone.results.sentences import deeds
from proofstone.results.table import headline
from proofstone.run.forms import Selection, select_runs
from proofstone.stats.agreement import FilterBias, cohen_kappa, confuse, filter_bias
from proofstone.stats.estimates import bootstrap_means, measure_spread
from proofstone.stats.intervals import equal_weights
from proofstone.stats.ranks import rank_agreement, rank_all
from proofstone.store.lookup import Found
from proofstone.store.scores import ScoringInfo
from proofstone.store.store import Store
from proofstone.wording.messages import joined, listed, paragraph, say, say_of, word

# The same responses graded by several judges, one part of an analysis per judge.


def parts_by_judge(
    store: Store, find_method: Callable[[str], Method], targets: Sequence[Found]
) -> list[Part]:
    """Return one part per judge or panel, in the order of their first scoring.

    Each run contributes the newest complete scoring of a judge. Overrides are not applied, because
    they would apply to all judges. Raises BadUsage if no judge graded anything, and as
    ``select_runs`` does.
    """
    selection = select_runs(store, targets)
    found = [
        (scoring, run.id) for key, run in selection.runs for scoring in store.scores.of_run(key)
        if scoring.judge
    ]  # fmt: skip
    by_judge: dict[str, dict[bytes, ScoringInfo]] = {}  # judges: a run's id: its scoring by them
    for scoring, run in sorted(found, key=lambda pair: (pair[0].created_at, pair[0].key)):
        by_judge.setdefault(scoring.judge, {})[run] = scoring
    if not by_judge:
        raise BadUsage(
            "no judge graded these responses", hint="proofstone grade RUN --judge PROVIDER/NAME"
        )
    method = find_method(selection.method)
    return [
        _part(store, method, selection, judges, scorings) for judges, scorings in by_judge.items()
    ]


def _part(
    store: Store,
    method: Method,
    selection: Selection,
    judges: str,
    scorings: Mapping[bytes, ScoringInfo],
) -> Part:
    runs = tuple((key, run) for key, run in selection.runs if run.id in scorings)
    asked = {run.item_set for _key, run in runs}
    sets = tuple(item_set for item_set in selection.item_sets if item_set.id in asked)
    view = View(
        ignore_corrections=True, scorings=tuple(each.id.hex() for each in scorings.values())
    )
    part = part_of(store, method, Selection(item_sets=sets, runs=runs), view=view)
    measure, table = headline(method).of, part.table
    places = {run: store.scores.judged(scoring.key, measure) for run, scoring in scorings.items()}
    known = [
        {place for run in who.runs for place in places.get(run, ())} for who in table.respondents
    ]
    columns = (table.respondent.tolist(), table.unit.tolist(), table.sample.tolist())
    rows = zip(*columns, strict=True)
    judged = np.array([(table.items[unit], n) in known[who] for who, unit, n in rows], dtype=bool)
    return replace(part, name=judges, judged=judged)


# Two judges of the same responses: agreement, effect on each model, and order of models.

_Label = tuple[str, float]


_Place = tuple[str, bytes, int]  # model, item, sample


class JudgeChange(Struct, frozen=True, kw_only=True):
    """Differences of a model's measures: second judge minus first judge."""

    model: str
    by_measure: dict[str, Estimate]


class JudgeOrder(Struct, frozen=True, kw_only=True):
    """Agreement of two judges on the order of models.

    ``tau`` generalizes to other items. Of ``n_pairs`` pairs of models, ``n_swapped`` have another
    order, and ``n_reversed`` differ significantly in opposite directions.
    """

    tau: Estimate
    n_pairs: int
    n_swapped: int
    n_reversed: int


class JudgePair(Struct, frozen=True, kw_only=True):
    """Two judges, over the models that both graded completely.

    ``agree`` and ``kappa`` are over responses that at least one judge was asked about and both
    labeled; ``n_unparsed`` others have no label by one of them. ``order`` is None for fewer than
    two models.
    """

    first: str
    second: str
    models: tuple[str, ...]
    agree: Estimate
    kappa: Estimate
    n_unparsed: int
    changes: tuple[JudgeChange, ...]
    order: JudgeOrder | None

    @property
    def names(self) -> str:
        """Return both names for a table."""
        return f"{self.first} / {self.second}"


def compare_judges(first: Part, second: Part) -> JudgePair | None:
    """Compare two parts over the models complete in both; None without any."""
    models = tuple(label for label in first.complete if label in second.complete)
    if not models:
        return None
    a, b, question, n_unparsed = _labels(first, second, models)
    keys, confidence = first.sheet.keys, first.confidence
    n_labels = int(max(a.max(initial=0), b.max(initial=0))) + 1
    return JudgePair(
        first=first.name,
        second=second.name,
        models=models,
        agree=confuse(a, b, n_labels, unit=question, keys=keys, confidence=confidence).accuracy,
        kappa=cohen_kappa(
            a, b, n_categories=n_labels, clusters=question, keys=keys, confidence=confidence
        ),
        n_unparsed=n_unparsed,
        changes=tuple(_change(first, second, model) for model in models),
        order=_judge_order(first, second, models),
    )


def _labels(
    first: Part, second: Part, models: tuple[str, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], int]:
    """Return labels (codes) of both, the unit of each in the first part, and the number of missing
    ones.

    Only responses that at least one judge was asked about are included.
    """
    ours, theirs = _by_response(first, models), _by_response(second, models)
    unit = {item: place for place, item in enumerate(first.table.items)}
    codes: dict[_Label, int] = {}
    rows: list[tuple[int, int, int]] = []
    n_unparsed = 0
    for place, (label, judged) in ours.items():
        other = theirs.get(place)
        if other is None or not (judged or other[1]):
            continue
        if label is None or other[0] is None:
            n_unparsed += 1
            continue
        pair = [codes.setdefault(each, len(codes)) for each in (label, other[0])]
        rows.append((pair[0], pair[1], unit[place[1]]))
    table = np.array(rows, dtype=np.int64).reshape(len(rows), 3)
    return table[:, 0], table[:, 1], table[:, 2], n_unparsed


def _by_response(part: Part, models: tuple[str, ...]) -> dict[_Place, tuple[_Label | None, bool]]:
    """Map each response to its label (None without one) and whether a judge was asked."""
    names = {part.complete[model]: model for model in models}
    table = part.table
    judged = np.ones(len(table.unit), dtype=bool) if part.judged is None else part.judged
    columns = (
        table.respondent.tolist(), table.unit.tolist(), table.sample.tolist(),
        table.outcome.tolist(), table.value.tolist(), judged.tolist(),
    )  # fmt: skip
    found: dict[_Place, tuple[_Label | None, bool]] = {}
    for who, unit, sample, outcome, value, was_judged in zip(*columns, strict=True):
        if who in names:
            name = OUTCOMES[outcome]
            label = (name, value if name == "answered" else 0.0)
            place = (names[who], table.items[unit], sample)
            found[place] = (None if name == "unparsed" else label, was_judged)
    return found


def _common_units(
    first: Part, second: Part, models: tuple[str, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the units that count for all of these models under both, as indices in each part."""
    ours, theirs = first.block(models)[0], second.block(models)[0]
    place = {second.table.items[unit]: int(unit) for unit in theirs}
    kept = [int(unit) for unit in ours if first.table.items[unit] in place]
    return (
        np.array(kept, dtype=np.int64),
        np.array([place[first.table.items[unit]] for unit in kept], dtype=np.int64),
    )


def _change(first: Part, second: Part, model: str) -> JudgeChange:
    ours, theirs = _common_units(first, second, (model,))
    keys = first.sheet.keys.among(ours)
    by_measure = {}
    for name, sheet in first.sheets.items():
        before = linear_values(sheet, ours, [first.complete[model]])
        after = linear_values(second.sheets[name], theirs, [second.complete[model]])
        by_measure[name] = pair_change(before[:, 0], after[:, 0], keys, first)
    return JudgeChange(model=model, by_measure=by_measure)


def _judge_order(first: Part, second: Part, models: tuple[str, ...]) -> JudgeOrder | None:
    """Return the order of models under both judges; items are resampled jointly."""
    units = _common_units(first, second, models)
    m = len(models)
    if m < 2 or not len(units[0]):
        return None
    keys, population = first.sheet.keys.among(units[0]), first.population
    values = [
        linear_values(part.sheet, of, [part.complete[model] for model in models])
        for part, of in zip((first, second), units, strict=True)
    ]
    drawn = [bootstrap_means(each, keys, population=population) for each in values]
    tau, _rho = rank_agreement(drawn[0], drawn[1], confidence=first.confidence)
    spreads = [measure_spread(each, equal_weights(len(each)), keys, population) for each in values]
    better = [rank_all(spread, confidence=first.confidence).better for spread in spreads]
    apart = [np.sign(np.subtract.outer(each.means, each.means)) for each in drawn]
    return JudgeOrder(
        tau=tau.items,
        n_pairs=m * (m - 1) // 2,
        n_swapped=int((apart[0] * apart[1] < 0).sum()) // 2,
        n_reversed=int((better[0] & better[1].T).sum()),
    )


def analyze_judges(parts: Sequence[Part]) -> Analysis:
    """Compare judges or panels over the same models' responses, one part per judge.

    One row per model and judge has its measures and the number of responses without a label. One
    row per pair of judges has their agreement and the effect on models and their order. Raises
    BadUsage for fewer than two judges with a model in common.
    """
    pairs = [
        found
        for first, second in combinations(parts, 2)
        if (found := compare_judges(first, second))
    ]
    if not pairs:
        graded = "; ".join(part.name for part in parts)
        raise BadUsage(
            f"the responses were graded by {graded}, and an analysis of judges needs two judges",
            hint="proofstone grade RUN --judge OTHER grades the same responses again, without "
            "calling evaluated models",
        )
    measures = list(parts[0].sheets)
    rows: list[tuple[Cell, ...]] = []
    marks: list[Mark] = []
    models = dict.fromkeys(label for part in parts for label in part.complete)
    for model in models:
        for part in parts:
            if model in part.complete:
                units, _values = part.block([model])
                own = [part.measured(sheet, units, model)[0] for sheet in part.sheets.values()]
                rows.append((model, part.name, own[0].n, *own, _unparsed(part, model)))
                marks.append(mark_of(model, part.name, own[0]))
    return make_analysis(
        "judges",
        say("The same responses under several judges"),
        _judges_finding(pairs),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="judge", name=say("judge")),
            Column(key="n", name="n"),
            *(Column(key=each, name=word(each), unit="points") for each in measures),
            Column(key="unparsed", name=word("unparsed"), unit="mixed"),
        ),
        rows=rows,
        axes=("judge", measures[0]),
        marks=marks,
        more=(_agreement(pairs), _changes(pairs)),
        notes=_notes(parts, pairs),
    )


def _unparsed(part: Part, model: str) -> str | None:
    rates = part.sheet.rates(part.complete[model])
    rate = next((each for each in rates if each.outcome == "unparsed"), None)
    if rate is None:
        return None
    return say("{share} ({n} of {all})", share=shown_share(rate.share), n=rate.count, all=rate.n)


def _agreement(pairs: Sequence[JudgePair]) -> Table:
    return table_of(
        say("Agreement of judges, on responses that a judge was asked about"),
        pairs,
        column("judges", say("judges"), "names"),
        column("responses", say("responses"), "agree.n"),
        column("agree", say("agree"), unit="points"),
        column("kappa", say("kappa")),
        column("no_label", say("no label"), "n_unparsed"),
        column("tau", say("tau-b, over items"), lambda pair: pair.order and pair.order.tau),
        column("order", say("order"), lambda pair: _said_order(pair.order), unit="mixed"),
    )


def _changes(pairs: Sequence[JudgePair]) -> Table:
    measures = list(pairs[0].changes[0].by_measure)
    return Table(
        title=say("Effect of the second judge (points, same responses)"),
        columns=(
            Column(key="judges", name=say("judges")),
            Column(key="model", name=say("model")),
            *(Column(key=measure, name=word(measure), unit="change") for measure in measures),
        ),
        rows=tuple(
            (pair.names, change.model, *change.by_measure.values())
            for pair in pairs
            for change in pair.changes
        ),
    )


def _said_order(order: JudgeOrder | None) -> str | None:
    if order is None:
        return None
    if order.n_reversed:
        return say(
            "{n} of {all} pairs change order, significantly", n=order.n_reversed, all=order.n_pairs
        )
    if order.n_swapped:
        return say(
            "{n} of {all} pairs change order, none significantly by both",
            n=order.n_swapped,
            all=order.n_pairs,
        )
    return say("the same")


def _judges_finding(pairs: Sequence[JudgePair]) -> str:
    labelled = [pair for pair in pairs if pair.agree.n]
    if not labelled:
        said = say("No response that a judge was asked about has two labels.")
        return paragraph(said, _of_order(pairs))
    least = min(labelled, key=lambda pair: pair.agree.value)
    kappa = least.kappa
    beyond = say("no kappa, all labels being one")
    if not math.isnan(kappa.value):
        beyond = say(
            "kappa {value:z.2f} [{low:z.2f}, {high:z.2f}]",
            value=kappa.value,
            low=kappa.low,
            high=kappa.high,
        )
    said = say(
        (
            "{first} and {second} agree on {share}% [{low}, {high}] of {n} responses that a judge "
            "decided, {beyond}."
        )
        if len(pairs) == 1
        else (
            "{first} and {second} agree least among {pairs} pairs of judges: on {share}% "
            "[{low}, {high}] of {n} responses that a judge decided, {beyond}."
        ),
        pairs=len(pairs),
        first=least.first,
        second=least.second,
        share=points(least.agree.value),
        low=points(least.agree.low),
        high=points(least.agree.high),
        n=least.agree.n,
        beyond=beyond,
    )
    return paragraph(said, _of_order(pairs))


def _of_order(pairs: Sequence[JudgePair]) -> str:
    orders = [pair.order for pair in pairs if pair.order is not None]
    if not orders:
        return say("No pair of models changes order between judges.")
    turned = [pair.names for pair in pairs if pair.order is not None and pair.order.n_reversed]
    if turned:
        return say(
            "The ranking of models depends on the judge: two models differ significantly in "
            "opposite orders by {judges}.",
            judges=say("; ").join(turned),
        )
    if n_swapped := sum(order.n_swapped for order in orders):
        return say_of(
            n_swapped,
            "Orders of models differ once, none significantly: no two models differ significantly "
            "in opposite orders.",
            "Orders of models differ {n} times, none significantly: no two models differ "
            "significantly in opposite orders.",
            n=n_swapped,
        )
    return say("All judges put the models in the same order.")


def _notes(parts: Sequence[Part], pairs: Sequence[JudgePair]) -> Iterator[str]:
    yield say(
        "Responses that a fixed rule decides are the same for every judge and are not counted "
        "here. A response without a label is omitted from agreement and from the measures of "
        "its judge. Intervals are clustered by question. Rankings use the first measure. "
        "Differences are Holm-adjusted over all pairs. Kappa is 0 if one of the two gave only "
        "one label."
    )
    common = {label for pair in pairs for label in pair.models}
    known = dict.fromkeys(label for part in parts for label in part.complete)
    if alone := [label for label in known if label not in common]:
        yield say(
            "Graded by one judge alone, or not whole under another: {models}.",
            models=listed(alone),
        )


# Self-evaluation: scores without items that a model wrote, filtered or judged, and the bias of
# filters against their own model family.


_FEWEST_ITEMS = 10


@dataclass(frozen=True, slots=True)
class _Filter:
    """A model that filtered items, models of its family in the ranking, and the bias."""

    model: str
    own: tuple[str, ...]
    bias: FilterBias


def roles_section(evidence: Evidence) -> Section | None:
    """Return every row with self-evaluation on the other items, and the bias of filters.

    The bias needs responses to unfiltered items. None without self-evaluation.
    """
    rows = [
        row
        for group in evidence.board.standings
        for row in group.rows
        if row.self_evaluation is not None
    ]
    if not rows:
        return None
    filters = list(_filters(evidence))
    return Section(
        name="roles",
        title=say("Self-evaluation risk"),
        finding=_roles_finding(rows, filters),
        plain=_roles_plain(rows, filters),
        cannot=_roles_cannot(rows, filters),
        how=say(
            "Without its own: the mean over the items that neither the model nor its family "
            "helped with; ranks there are among the same models on the same items. Filter "
            "bias: the change of the filter's models from unfiltered to filtered items, minus "
            "that of the others, with a clustered two-sample interval."
        ),
        tables=(_roles_table(rows), *(_bias_table(filters) for _ in filters[:1])),
    )


def _filters(evidence: Evidence) -> Iterator[_Filter]:
    """Yield the bias of every model that filtered some but not all common items."""
    ranked, sheet = ranked_values(evidence), evidence.sheet
    if ranked is None or sheet is None:
        return
    table = sheet.table
    filtered: dict[str, list[int]] = {}  # the places of each model's roles
    touched = np.zeros(len(table.items), dtype=bool)
    for place, held in enumerate(table.roles):
        if held.role == "filtered":
            filtered.setdefault(held.model, []).append(place)
            touched[held.units] = True
    is_unfiltered = ~touched[ranked.units]
    for model, places in filtered.items():
        units = np.concatenate([table.roles[k].units for k in places])
        is_filtered = np.isin(ranked.units, units)
        roles_held = [table.respondents[who].roles_held for who in ranked.respondents]
        own = np.array([any(place in places for place, _itself in of) for of in roles_held])
        enough = min(is_filtered.sum(), is_unfiltered.sum()) >= _FEWEST_ITEMS
        if enough and own.any() and not own.all():
            bias = filter_bias(
                ranked.values,
                is_filtered,
                is_unfiltered,
                own,
                ranked.keys,
                population=evidence.population,
                confidence=evidence.board.confidence,
            )
            yield _Filter(model, tuple(compress(ranked.labels, own)), bias)


def _roles_finding(rows: Sequence[BoardRow], filters: Sequence[_Filter]) -> str:
    said = [
        say("{model} {did}", model=row.label, did=deeds(row.self_evaluation))
        for row in rows[:3]
        if row.self_evaluation is not None
    ]
    if len(rows) > 3:
        said.append(say("{n} more below", n=len(rows) - 3))
    roles_held = say("{places}.", places=say("; ").join(said))
    return paragraph(roles_held, *(_bias(each) for each in filters[:2]))


def _bias(each: _Filter) -> str:
    bias = each.bias.bias
    return say(
        "The filter by {model} changes {own} by {points} points [{low}, {high}] more than the "
        "others.",
        model=each.model,
        own=joined(each.own),
        points=points(bias.value),
        low=points(bias.low),
        high=points(bias.high),
    )


def _roles_plain(rows: Sequence[BoardRow], filters: Sequence[_Filter]) -> str:
    failed = say("Questions were kept because a model failed them: that model is scored too low.")
    return paragraph(
        say_of(
            len(rows),
            "{models} helped write or filter these questions. Compare it by the scores without "
            "them.",
            "{models} helped write or filter these questions. Compare them by the scores "
            "without these questions.",
            models=joined([row.label for row in rows], 4),
        ),
        failed if any(each.bias.bias.high < 0 for each in filters) else "",
    )


def _roles_cannot(rows: Sequence[BoardRow], filters: Sequence[_Filter]) -> str:
    roles = {
        role.role
        for row in rows
        if row.self_evaluation is not None
        for role in row.self_evaluation.roles
    }
    if "filtered" not in roles or filters:
        return ""
    return say(
        "The effect of filtering on the filter's own model is not known: no sample of items that "
        "it did not see was asked of it and of others."
    )


def _roles_table(rows: Sequence[BoardRow]) -> Table:
    def rest(row: BoardRow) -> Estimate | None:
        return (
            row.self_evaluation.untouched
            if row.self_evaluation is not None and row.self_evaluation.untouched.n
            else None
        )

    return table_of(
        say("With and without self-evaluated items"),
        rows,
        column("model", say("model"), "label"),
        column("did", say("did"), lambda row: deeds(row.self_evaluation)),
        column("all", say("all items"), "estimate", unit="points"),
        column("rank", say("rank")),
        column("touched", say("touched"), "self_evaluation.n_self_evaluated",
               help=say("items from the model or its family")),
        column("rest", say("without its own"), rest, unit="points"),
        column("rank_rest", say("rank there"), "self_evaluation.rank"),
    )  # fmt: skip


def _bias_table(filters: Sequence[_Filter]) -> Table:
    return table_of(
        say("Filter bias"),
        filters,
        column("filter", say("filter by"), "model"),
        column("models", say("its models here"), lambda each: joined(each.own)),
        column("filtered", say("filtered"), "bias.n_filtered",
               help=say("items that it let through")),
        column("unfiltered", say("unfiltered"), "bias.n_unfiltered"),
        column("own", say("change, own"), "bias.own", unit="points"),
        column("others", say("change, others"), "bias.others", unit="points"),
        column("bias", say("bias"), "bias.bias", unit="points", help=say("own less others")),
        column("p", say("p"), "bias.p", unit="probability"),
    )  # fmt: skip
