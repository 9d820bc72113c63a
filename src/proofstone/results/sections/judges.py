"""The same replies under several judges: what each makes of them, how far they agree, and whether
it matters to the ranking (Chinese SimpleQA, appendix B and Figure 10)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.judging.panel import LeftOut, PanelRanking, PanelStanding, leave_each_out
from proofstone.method import Method
from proofstone.page.numbers import points, shown_estimate, shown_share
from proofstone.page.section import Cell, Column, Figure, Mark, Section, Table
from proofstone.records.runs import OUTCOMES, Estimate, Run
from proofstone.records.scores import Annotated, Judged, ScoreTable
from proofstone.records.verdicts import PanelRules
from proofstone.results.measured_scores import linear_values
from proofstone.results.sections.annotators import (
    OBSERVED,
    Drawn,
    agreement_table,
    alphas,
    coefficients,
    keys_of_items,
)
from proofstone.results.sections.evidence import Evidence
from proofstone.results.sections.parts import (
    Analysis,
    Part,
    make_analysis,
    mark_of,
    pair_change,
    part_of,
)
from proofstone.results.table import View, headline
from proofstone.run.forms import Selection, select_runs
from proofstone.stats.agreement import Confusion, cohen_kappa, confuse
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import draw_means, measure_spread
from proofstone.stats.flags import Estimand
from proofstone.stats.intervals import equal_weights
from proofstone.stats.ppi import JudgedRate, correct_judged_rate
from proofstone.stats.ranks import rank_agreement, rank_all
from proofstone.store.lookup import Found
from proofstone.store.scores import ScoringInfo
from proofstone.store.store import Store
from proofstone.wording.messages import counted, listed, noted, paragraph, say, say_of, word

# How far a judge agrees with people, and what its scores are once people's labels correct them.

_FEW = 50


Floats = NDArray[np.float64]


def judged_section(evidence: Evidence) -> Section | None:
    """The confusion matrix, coefficients of agreement, and rates corrected by people's labels. None
    where no record has a label by both."""
    judged = evidence.judged
    if judged is None or not ((judged.people >= 0) & (judged.judge >= 0)).any():
        return None
    level, seed = evidence.board.confidence, evidence.seed
    keys = _keys(judged, evidence.estimand)
    table = judged_confusion(judged, evidence.estimand, level)
    found = dict(judged_coefficients(judged, evidence.estimand, seed, level))
    rates = dict(_rates(judged, keys, level))
    n = int(np.array(table.counts).sum())
    return Section(
        name="judge",
        title=say("Agreement of the judge with people"),
        finding=_finding(table, found, n),
        plain=_plain(rates),
        cannot=_cannot(rates, n),
        how=(
            say(
                "Agreement on the records that both labelled; coefficients by percentiles of "
                "2,000 draws of items, seed {seed}; shares by Wilson at the effective size. "
                "Corrected rates are prediction-powered (PPI++: Angelopoulos, Duchi and Zrnic "
                "2023): right only where the records that people saw were drawn at random. "
                "Everywhere records of one item, and of items that share a key, depend on each "
                "other.",
                seed=seed,
            )
        ),
        tables=(
            _matrix(judged, table),
            _by_label(judged, table),
            agreement_table(found),
            _corrected(rates),
        ),
        figures=(_heat(judged, table),),
    )


def judged_confusion(judged: Judged, estimand: Estimand, level: float) -> Confusion:
    """People's labels by the judge's; records of one item, and of items that share a key, depend on
    each other."""
    return confuse(
        judged.people, judged.judge, len(judged.labels), unit=judged.item,
        keys=_keys(judged, estimand), confidence=level,
    )  # fmt: skip


def _keys(judged: Judged, estimand: Estimand) -> SharedKeys:
    return keys_of_items(judged.item, judged.cluster_item, judged.cluster_key, estimand)


def judged_coefficients(
    judged: Judged, estimand: Estimand, seed: int, level: float
) -> Iterator[tuple[str, Estimate]]:
    """Each coefficient by its name, over the records that both labelled, items drawn. Observed
    agreement has the interval of the confusion matrix, so that it has one everywhere."""
    keys = _keys(judged, estimand)
    both = (judged.people >= 0) & (judged.judge >= 0)
    people, judge = judged.people[both], judged.judge[both]
    ratings, n = np.column_stack([people, judge]), len(judged.labels)
    drawn = Drawn(clusters=judged.item[both], keys=keys, seed=seed, confidence=level)
    yield OBSERVED, judged_confusion(judged, estimand, level).accuracy
    yield from coefficients(ratings, ("Gwet AC1",), n, drawn)
    yield "Cohen's kappa", cohen_kappa(people, judge, **drawn)
    if judged.values is not None and n > 2:
        quadratic = cohen_kappa(people, judge, weights="quadratic", **drawn)
        yield "Cohen's kappa, quadratic", quadratic
    yield from alphas(ratings, judged.values, n, drawn)


def _rates(judged: Judged, keys: SharedKeys, level: float) -> Iterator[tuple[str, JudgedRate]]:
    """The mean score, of all and by model, where labels are scores in [0, 1]; else each label's
    share."""
    values = judged.values
    if values is None or values.min() < 0 or values.max() > 1:
        for code, label in enumerate(judged.labels):
            worth = (np.arange(len(judged.labels)) == code).astype(np.float64)
            yield (
                _SHARE.format(label=label),
                _rate(judged, worth, slice(None), keys, level),
            )
        return
    yield "all records", _rate(judged, values, slice(None), keys, level)
    if len(judged.models) > 1:
        for code, model in enumerate(judged.models):
            yield model, _rate(judged, values, judged.model == code, keys, level)


def _rate(
    judged: Judged,
    worth: Floats,
    chosen: NDArray[np.bool_] | slice,
    keys: SharedKeys,
    level: float,
) -> JudgedRate:
    people, judge, item = judged.people[chosen], judged.judge[chosen], judged.item[chosen]
    both = (people >= 0) & (judge >= 0)
    elsewhere = (people < 0) & (judge >= 0)
    return correct_judged_rate(
        worth[people[both]],
        worth[judge[both]],
        worth[judge[elsewhere]],
        unit=np.concatenate([item[both], item[elsewhere]]),
        keys=keys,
        confidence=level,
    )


def _finding(table: Confusion, found: dict[str, Estimate], n: int) -> str:
    kappa = found["Cohen's kappa"]
    agree = {
        "share": shown_estimate(table.accuracy),
        "records": counted(n, "record"),
    }
    if math.isnan(kappa.value):
        return say(
            "Judge and people agree on {share}% of {records}; both use one label only, so that "
            "chance cannot be taken out.",
            **agree,
        )
    return say(
        "Judge and people agree on {share}% of {records}; kappa {value:.2f} [{low:.2f}, "
        "{high:.2f}].",
        value=kappa.value,
        low=kappa.low,
        high=kappa.high,
        **agree,
    )


def _named(name: str) -> str:
    """A rate's name in words; the share of a label is kept by the label."""
    label = name.removeprefix(_SHARE.format(label=""))
    return word(name) if label == name else say(_SHARE, label=label)


_SHARE = noted("share of {label}")


def _plain(rates: dict[str, JudgedRate]) -> str:
    name, rate = next(iter(rates.items()))
    return say(
        "By the judge alone the mean score is {judge_only}; corrected by what people saw it is "
        "{corrected}."
        if name == "all records"
        else "By the judge alone the {what} is {judge_only}; corrected by what people saw it is "
        "{corrected}.",
        what=_named(name),
        judge_only=points(rate.judge_only),
        corrected=shown_estimate(rate.corrected),
    )


def _cannot(rates: dict[str, JudgedRate], n: int) -> str:
    first = next(iter(rates.values()))
    parts = []
    if n < _FEW:
        parts.append(
            say(
                "{records} with labels by people are few to validate a judge by.",
                records=counted(n, "record"),
            )
        )
    if not first.helps:
        parts.append(say("The judge does not narrow the interval of the human-labeled estimate."))
    return paragraph(*parts)


def _matrix(judged: Judged, table: Confusion) -> Table:
    return Table(
        title=say("People's labels (rows) and the judge's (columns)"),
        columns=(
            Column(key="people", name=say("people")),
            *(
                Column(key=f"judge_{label}", name=say("judge: {label}", label=label))
                for label in judged.labels
            ),
            Column(key="n", name=say("n"), help=say("records with this label by people")),
        ),
        rows=tuple(
            (label, *row, sum(row)) for label, row in zip(judged.labels, table.counts, strict=True)
        ),
        note=say("{left_out:,} records lack one of both.", left_out=table.left_out)
        if table.left_out
        else "",
        sorts=False,
    )


def _by_label(judged: Judged, table: Confusion) -> Table:
    return Table(
        title=say("By label"),
        columns=(
            Column(key="label", name=say("label")),
            Column(key="recall", name=say("recall"), unit="points",
                   help=say("of people's records with this label, how many the judge gives it "
                            "too")),
            Column(key="precision", name=say("precision"), unit="points",
                   help=say("of the judge's records with this label, how many people give it too")),
        ),
        rows=tuple(zip(judged.labels, table.recall, table.precision, strict=True)),
    )  # fmt: skip


def _corrected(rates: dict[str, JudgedRate]) -> Table:
    return Table(
        title=say("The judge's rates, corrected by people's labels"),
        columns=(
            Column(key="of", name=say("of")),
            Column(key="n_people", name=say("by people"), help=say("records that both labelled")),
            Column(key="corrected", name=say("corrected"), unit="points", help=say("PPI++")),
            Column(key="people_only", name=say("by people alone"), unit="points"),
            Column(key="judge_only", name=say("by the judge alone"), unit="points",
                   help=say("without an interval: none could mend a judge that leans")),
            Column(key="bias", name=say("judge's lean"), unit="points",
                   help=say("how far the judge lies above people on the same records")),
            Column(key="trust", name=say("trust"),
                   help=say("how much of the judge's word is used: 0 none, 1 all")),
            Column(key="labels_saved", name=say("labels saved"), digits=0,
                   help=say("labels by people that the judge stands for; 0: it does not help")),
        ),
        rows=tuple(_corrected_row(name, rate) for name, rate in rates.items()),
    )  # fmt: skip


def _corrected_row(name: str, rate: JudgedRate) -> tuple[Cell, ...]:
    people = rate.people_only
    return (
        _named(name),
        people.n,
        rate.corrected,
        people if people.n > 1 else structs.replace(people, low=math.nan, high=math.nan),
        rate.judge_only,
        rate.bias,
        rate.trust,
        rate.labels_saved,
    )


def _heat(judged: Judged, table: Confusion) -> Figure:
    rows = [(label, row, sum(row)) for label, row in zip(judged.labels, table.counts, strict=True)]
    return Figure(
        name="judge",
        kind="heat",
        title=say("The judge's labels by people's"),
        subtitle=say(
            "percent of people's records with a label (rows) by the judge's label (columns)"
        ),
        marks=tuple(
            Mark(
                row=say("people: {label}", label=label),
                column=say("judge: {other}", other=other),
                value=count / n if n else math.nan,
                n=n,
                text=f"{100 * count / n:.0f}" if n else "",
            )
            for label, row, n in rows
            for other, count in zip(judged.labels, row, strict=True)
        ),
        row_axis=say("people"),
        column_axis=say("judge"),
        value_axis=say("percent"),
    )


# What becomes of a panel's ranking without each of its judges.

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
        finding=_panel_finding(found, ranking, models),
        plain=_panel_plain(ranking),
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


def _panel_finding(found: Annotated, ranking: PanelRanking, models: list[str]) -> str:
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


def _panel_plain(ranking: PanelRanking) -> str:
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


# The same replies as several judges graded them: a part of a study for each.

_ByJudge = dict[str, dict[bytes, ScoringInfo]]  # the judges -> a run's id -> its scoring by them


def parts_by_judge(
    store: Store, find_method: Callable[[str], Method], targets: Sequence[Found]
) -> list[Part]:
    """A part for the judges of each scoring, the newest whole one of theirs a run, in the order in
    which they first judged; as scored, since a person's ruling would hold for all of them.

    Raises BadUsage where no judge graded anything, and what ``select_runs`` does.
    """
    selection = select_runs(store, targets)
    by_judge = _by_judge(store, selection.runs)
    if not by_judge:
        raise BadUsage(
            "no judge graded these replies", hint="proofstone score RUN --judge PROVIDER/NAME"
        )
    method = find_method(selection.method)
    return [
        _part(store, method, selection, judges, scorings) for judges, scorings in by_judge.items()
    ]


def _by_judge(store: Store, runs: Sequence[tuple[int, Run]]) -> _ByJudge:
    found = [
        (scoring, run.id) for key, run in runs for scoring in store.scores.of_run(key)
        if scoring.judge
    ]  # fmt: skip
    by_judge: _ByJudge = {}
    for scoring, run in sorted(found, key=lambda pair: (pair[0].created_at, pair[0].key)):
        by_judge.setdefault(scoring.judge, {})[run] = scoring
    return by_judge


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
    view = View(as_scored=True, scorings=tuple(each.id.hex() for each in scorings.values()))
    part = part_of(store, method, Selection(item_sets=sets, runs=runs), view=view)
    measure = headline(method).of
    places = {run: store.scores.judged(scoring.key, measure) for run, scoring in scorings.items()}
    return replace(part, name=judges, judged=_judged(part.table, places))


def _judged(table: ScoreTable, places: Mapping[bytes, set[tuple[bytes, int]]]) -> NDArray[np.bool_]:
    """Of each score whether its reply went to a judge."""
    known = [
        {place for run in who.runs for place in places.get(run, ())} for who in table.respondents
    ]
    columns = (table.respondent.tolist(), table.unit.tolist(), table.sample.tolist())
    rows = zip(*columns, strict=True)
    return np.array([(table.items[unit], n) in known[who] for who, unit, n in rows], dtype=bool)


# Two judges of the same replies: agreement, what each model gains, and the order of models.

_Label = tuple[str, float]


_Place = tuple[str, bytes, int]  # model, item, sample


class JudgeChange(Struct, frozen=True, kw_only=True):
    """By how much a model's measures under the second judge lie above those under the first."""

    model: str
    by_measure: dict[str, Estimate]


class JudgeOrder(Struct, frozen=True, kw_only=True):
    """What two judges make of the order of models: ``tau`` over other items; of the ``n_pairs``
    pairs of models ``n_swapped`` stand in another order, and ``n_reversed`` are told apart by both
    in opposite ones."""

    tau: Estimate
    n_pairs: int
    n_swapped: int
    n_reversed: int


class JudgePair(Struct, frozen=True, kw_only=True):
    """Two judges, by the models that both graded whole.

    ``agree`` and ``kappa`` are of the replies that one of them was asked about and both labelled;
    ``n_unparsed`` more got no label by one. ``order`` is None for fewer than two models.
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
        """Both, as a table names them."""
        return f"{self.first} / {self.second}"


def compare_judges(first: Part, second: Part) -> JudgePair | None:
    """The two parts, of the models that are whole in both; None where there is none."""
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
    """The labels of replies that one of both was asked about (codes), the unit of each in the first
    part, and how many lack one of the two."""
    ours, theirs = _by_reply(first, models), _by_reply(second, models)
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


def _by_reply(part: Part, models: tuple[str, ...]) -> dict[_Place, tuple[_Label | None, bool]]:
    """What each reply came to (None without a label), and whether a judge was asked."""
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
    """The units that count for all of these models under both, as places in each part."""
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
    """The order of models by both from the same units; the same items are drawn for both."""
    units = _common_units(first, second, models)
    m = len(models)
    if m < 2 or not len(units[0]):
        return None
    keys, estimand = first.sheet.keys.among(units[0]), first.estimand
    values = [
        linear_values(part.sheet, of, [part.complete[model] for model in models])
        for part, of in zip((first, second), units, strict=True)
    ]
    drawn = [draw_means(each, keys, estimand=estimand) for each in values]
    tau, _rho = rank_agreement(drawn[0], drawn[1], confidence=first.confidence)
    spreads = [measure_spread(each, equal_weights(len(each)), keys, estimand) for each in values]
    better = [rank_all(spread, confidence=first.confidence).better for spread in spreads]
    apart = [np.sign(np.subtract.outer(each.means, each.means)) for each in drawn]
    return JudgeOrder(
        tau=tau.items,
        n_pairs=m * (m - 1) // 2,
        n_swapped=int((apart[0] * apart[1] < 0).sum()) // 2,
        n_reversed=int((better[0] & better[1].T).sum()),
    )


def study_judges(parts: Sequence[Part]) -> Analysis:
    """One part a judge, or panel of judges, each with the same models' replies. A row a model and
    judge: its measures and how many replies got no label; then each pair of judges: agreement on
    the replies that a judge was asked about, and what it does to models and their order.

    Raises BadUsage for fewer than two judges with a model in common.
    """
    pairs = [
        found
        for first, second in combinations(parts, 2)
        if (found := compare_judges(first, second))
    ]
    if not pairs:
        graded = "; ".join(part.name for part in parts)
        raise BadUsage(
            f"the replies were graded by {graded}, and a study of judges takes two of them",
            hint="proofstone score RUN --judge OTHER: the same replies are graded again, and no "
            "contestant is asked",
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
        say("The same replies under several judges"),
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
    return Table(
        title=say("Agreement of judges, on the replies that a judge was asked about"),
        columns=(
            Column(key="judges", name=say("judges")),
            Column(key="replies", name=say("replies")),
            Column(key="agree", name=say("agree"), unit="points"),
            Column(key="kappa", name=say("kappa")),
            Column(key="no_label", name=say("no label")),
            Column(key="tau", name=say("tau-b, over items")),
            Column(key="order", name=say("order"), unit="mixed"),
        ),
        rows=tuple(
            (
                pair.names, pair.agree.n, pair.agree, pair.kappa, pair.n_unparsed,
                None if pair.order is None else pair.order.tau, _said_order(pair.order),
            )
            for pair in pairs
        ),
    )  # fmt: skip


def _changes(pairs: Sequence[JudgePair]) -> Table:
    measures = list(pairs[0].changes[0].by_measure)
    return Table(
        title=say("What the second judge changes, in points, on the same replies"),
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
    """What becomes of the order of models."""
    if order is None:
        return None
    if order.n_reversed:
        return say(
            "{n} of {all} pairs turned, significantly", n=order.n_reversed, all=order.n_pairs
        )
    if order.n_swapped:
        return say(
            "{n} of {all} pairs turned, none significantly by both",
            n=order.n_swapped,
            all=order.n_pairs,
        )
    return say("the same")


def _judges_finding(pairs: Sequence[JudgePair]) -> str:
    labelled = [pair for pair in pairs if pair.agree.n]
    if not labelled:
        said = say("No reply that a judge was asked about has two labels.")
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
        "{first} and {second} agree on {share}% [{low}, {high}] of {n} replies that a judge "
        "decided, {beyond}."
        if len(pairs) == 1
        else "Of {pairs} pairs of judges, {first} and {second} agree least: on {share}% [{low}, "
        "{high}] of {n} replies that a judge decided, {beyond}.",
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
        return say("There are no two models whose order a judge could change.")
    n_swapped = sum(order.n_swapped for order in orders)
    turned = [pair.names for pair in pairs if pair.order is not None and pair.order.n_reversed]
    if turned:
        return say(
            "The ranking of models depends on the judge: two models differ significantly in "
            "opposite orders by {judges}.",
            judges=say("; ").join(turned),
        )
    if n_swapped:
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
        "What a rule settles is the same for every judge, and in no agreement here. A reply "
        "without a label counts in no agreement and in no figure of its judge; intervals take the "
        "replies to a question together. Orders are by the first measure. Differences "
        "are tested with Holm over all pairs. Kappa is 0 where one of the two gave only one label."
    )
    common = {label for pair in pairs for label in pair.models}
    known = {label: None for part in parts for label in part.complete}
    alone = [label for label in known if label not in common]
    if alone:
        yield say(
            "Graded by one judge alone, or not whole under another: {models}.",
            models=listed(alone),
        )
