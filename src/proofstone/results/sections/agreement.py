"""Inter-annotator agreement, agreement of judges with people, and effect of single judges."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TypedDict

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from proofstone.judging.panel import LeftOut, PanelRanking, PanelStanding, leave_each_out
from proofstone.page.section import (
    Cell,
    Column,
    Figure,
    Mark,
    Section,
    Table,
    column,
    points,
    shown_estimate,
    table_of,
)
from proofstone.records.runs import Estimate, Population
from proofstone.records.scores import Annotated, Judged
from proofstone.records.verdicts import PanelRules
from proofstone.results.sections.evidence import Evidence
from proofstone.stats.agreement import (
    Coefficient,
    Confusion,
    JudgedRate,
    agreement,
    cohen_kappa,
    confuse,
    correct_judged_rate,
    krippendorff_alpha,
)
from proofstone.stats.clusters import SharedKeys
from proofstone.wording.messages import counted, noted, paragraph, say, say_of, word

# Coefficients of agreement of two or more raters, and their table.

Ratings = NDArray[np.integer]


Codes = NDArray[np.int64]


OBSERVED = noted("observed agreement")


ALPHA = noted("Krippendorff's alpha, nominal")


ORDINAL = noted("Krippendorff's alpha, ordinal")


_NAMES: Mapping[Coefficient, str] = {
    "observed agreement": OBSERVED,
    "Gwet AC1": noted("Gwet's AC1"),
    "Fleiss kappa": noted("Fleiss' kappa"),
}


class Drawn(TypedDict):
    """Resampling settings: ``clusters`` (records) are items, ``keys`` are clusters of items."""

    clusters: Codes
    keys: SharedKeys
    seed: int
    confidence: float


def keys_of_items(
    item: Codes, edge_item: Codes | None, edge_key: Codes | None, population: Population
) -> SharedKeys:
    """Return the clusters of items; none if the population is fresh forms of one bank."""
    n = int(item.max(initial=-1)) + 1
    if population == "bank" or edge_item is None or edge_key is None:
        return SharedKeys.none(n)
    return SharedKeys(n, edge_item, edge_key)


def coefficients(
    ratings: Ratings, names: tuple[Coefficient, ...], n_labels: int, drawn: Drawn
) -> Iterator[tuple[str, Estimate]]:
    """Yield each coefficient by display name.

    ``ratings`` (records, raters) are codes of ``n_labels`` labels, -1 if missing.
    """
    for name in names:
        yield _NAMES[name], agreement(ratings, name, n_categories=n_labels, **drawn)


def alphas(
    ratings: Ratings, values: NDArray[np.float64] | None, n_labels: int, drawn: Drawn
) -> Iterator[tuple[str, Estimate]]:
    """Yield Krippendorff's alpha: nominal, and ordinal and interval for more than two numeric
    labels.

    ``values`` are the labels as numbers, None if they are words.
    """
    yield ALPHA, krippendorff_alpha(ratings, **drawn)
    if values is None or n_labels < 3:
        return
    yield ORDINAL, krippendorff_alpha(ratings, "ordinal", **drawn)
    top = int(ratings.max(initial=-1)) + 1
    yield (
        noted("Krippendorff's alpha, interval"),
        krippendorff_alpha(ratings, "interval", values=values[:top], **drawn),
    )


def agreement_table(found: Mapping[str, Estimate]) -> Table:
    """Return the coefficients with n and interval."""
    return table_of(
        say("Agreement"),
        found.items(),
        column("coefficient", say("coefficient"), lambda row: word(row[0])),
        column("n", say("n"), "1.n", help=say("records")),
        column("value", say("value"), "1", digits=3,
               help=say("1 is full agreement; 0 is chance")),
        note=say(
            "Kappa falls where one label holds nearly all records although both agree; AC1 does "
            "not. Observed agreement takes no chance out."
        ),
        sorts=False,
    )  # fmt: skip


_FEW = 50


_MOST_LISTED = 30


def annotators_section(evidence: Evidence) -> Section | None:
    """Return agreement with intervals, each annotator compared with the others, and their labels.

    None if no record has labels by two annotators.
    """
    found = evidence.annotated
    if found is None:
        return None
    given = found.ratings >= 0
    both = int((given.sum(axis=1) > 1).sum())
    if not both:
        return None
    keys = keys_of_items(found.item, found.cluster_item, found.cluster_key, evidence.population)
    drawn = Drawn(
        clusters=found.item, keys=keys, seed=evidence.seed, confidence=evidence.board.confidence
    )
    n = len(found.labels)
    names: tuple[Coefficient, ...] = ("observed agreement", "Gwet AC1", "Fleiss kappa")
    by_name = dict(coefficients(found.ratings, names, n, drawn))
    by_name |= alphas(found.ratings, found.values, n, drawn)
    if keys.groups is None:
        resampled = "pairs"
    else:
        resampled = "items" if len(np.unique(keys.groups)) == keys.n_units else "keys"
    listed = np.argsort(-given.sum(axis=0), kind="stable")[:_MOST_LISTED]
    return Section(
        name="annotators",
        title=say("Inter-annotator agreement"),
        finding=_finding(found, by_name, both),
        plain=say(
            "Two annotators of one record give it the same label in {share:.0f}% of cases.",
            share=100 * by_name[OBSERVED].value,
        ),
        cannot=say_of(
            both,
            "{records} with two labels is too little to estimate agreement elsewhere.",
            "{records} with two labels are too few to estimate agreement elsewhere.",
            records=counted(both, "record"),
        )
        if both < _FEW
        else "",
        how=paragraph(
            say(
                "Over all pairs of labels of the same record: Fleiss' kappa (1971), Gwet's AC1 "
                "(2008) and Krippendorff's alpha (2019), which takes records that lack some labels "
                "as they are; for the order and the distance of labels where these are numbers."
            ),
            say(_DRAWN[resampled], seed=evidence.seed),
        ),
        tables=(
            agreement_table(by_name),
            _beside_others(found, drawn, listed),
            _labels(found, listed),
        ),
    )


def _finding(found: Annotated, by_name: dict[str, Estimate], both: int) -> str:
    n = int((found.ratings >= 0).sum())
    name = ORDINAL if ORDINAL in by_name else ALPHA
    alpha = by_name[name]
    said = say(
        "{annotators} gave {labels} of {records}, {both:,} of which have two or more.",
        annotators=counted(len(found.annotators), "annotator"),
        labels=counted(n, "label"),
        records=counted(len(found.ratings), "record"),
        both=both,
    )
    if math.isnan(alpha.value):
        return paragraph(said, say("All use one label only, so that chance cannot be taken out."))
    return paragraph(
        said,
        say(
            "{coefficient} is {value:.2f} [{low:.2f}, {high:.2f}].",
            coefficient=word(name),
            value=alpha.value,
            low=alpha.low,
            high=alpha.high,
        )
        if not math.isnan(alpha.low)
        else say(
            "{coefficient} is {value:.2f}, without an interval.",
            coefficient=word(name),
            value=alpha.value,
        ),
    )


_DRAWN = {
    "items": noted(
        "Intervals: percentiles of 2,000 bootstrap samples of items, each with all its "
        "records; seed {seed}."
    ),
    "keys": noted(
        "Intervals: percentiles of 2,000 bootstrap samples of clusters, each with all its "
        "items; seed {seed}."
    ),
    "pairs": noted(
        "Clusters of items overlap. Intervals are percentiles of 2,000 samples from a normal "
        "distribution; its covariance sums over all pairs of items in one cluster; seed {seed}."
    ),
}


def _beside_others(found: Annotated, drawn: Drawn, listed: NDArray[np.intp]) -> Table:
    more = len(found.annotators) - len(listed)

    def row(place: int) -> tuple[Cell, ...]:
        own, others = found.ratings[:, place], np.delete(found.ratings, place, axis=1)
        shared = (own >= 0) & (others >= 0).any(axis=1)
        agrees = _with_others(own[shared], others[shared], found.item[shared], drawn)
        without = krippendorff_alpha(others, **drawn) if (others >= 0).any() else None
        known = None if without is None or math.isnan(without.value) else without
        return found.annotators[place], int((own >= 0).sum()), int(shared.sum()), agrees, known

    return Table(
        title=say("Agreement by annotator"),
        columns=(
            Column(key="annotator", name=say("annotator")),
            Column(key="n", name=say("labels"), help=say("records labeled")),
            Column(key="n_shared", name=say("shared"), help=say("also labeled by others")),
            Column(key="agreement", name=say("agrees"), unit="points",
                   help=say("how often the label is that of another annotator of the record")),
            Column(key="alpha_without", name=say("alpha without"), digits=3,
                   help=say("Krippendorff's alpha, nominal, of all others")),
        ),
        rows=tuple(map(row, listed.tolist())),
        note=say("{n:,} more with fewer labels are not shown.", n=more) if more else "",
    )  # fmt: skip


def _with_others(
    own: NDArray[np.int32], others: NDArray[np.int32], item: NDArray[np.int64], drawn: Drawn
) -> Estimate | None:
    """Return the share of pairs in which a label equals that of another annotator of the record.

    Each pair counts once, so a record with more annotators has more pairs. Items are resampled.
    """
    row, column = np.nonzero(others >= 0)
    if not len(row):
        return None
    pairs = np.column_stack([own[row], others[row, column]])
    of_pairs = Drawn(**{**drawn, "clusters": item[row]})
    return agreement(pairs, "observed agreement", **of_pairs)


def _labels(found: Annotated, listed: NDArray[np.intp]) -> Table:
    counts = [
        np.bincount(own[own >= 0], minlength=len(found.labels)) for own in found.ratings.T[listed]
    ]
    return Table(
        title=say("Labels by annotator"),
        columns=(
            Column(key="annotator", name=say("annotator")),
            *(Column(key=f"label_{label}", name=label) for label in found.labels),
        ),
        rows=tuple(
            (found.annotators[place], *row.tolist())
            for place, row in zip(listed.tolist(), counts, strict=True)
        ),
        note=say("How often each gave each label."),
    )


Floats = NDArray[np.float64]


def judged_section(evidence: Evidence) -> Section | None:
    """Return the confusion matrix, agreement, and rates corrected with human labels.

    None if no record has labels by both.
    """
    judged = evidence.judged
    if judged is None or not ((judged.people >= 0) & (judged.judge >= 0)).any():
        return None
    level, seed = evidence.board.confidence, evidence.seed
    keys = _keys(judged, evidence.population)
    table = judged_confusion(judged, evidence.population, level)
    found = dict(judged_coefficients(judged, evidence.population, seed, level))
    rates = dict(_rates(judged, keys, level))
    n, first = int(np.array(table.counts).sum()), next(iter(rates))
    return Section(
        name="judge",
        title=say("Agreement of the judge with people"),
        finding=_judge_finding(table, found, n),
        plain=say(
            "By the judge alone the mean score is {judge_only}; corrected with human labels it "
            "is {corrected}."
            if first == "all records"
            else "By the judge alone the {what} is {judge_only}; "
            "corrected with human labels it is {corrected}.",
            what=_named(first),
            judge_only=points(rates[first].judge_only),
            corrected=shown_estimate(rates[first].corrected),
        ),
        cannot=_judge_cannot(rates, n),
        how=(
            say(
                "Agreement is over records that both labeled. Coefficients have percentile "
                "intervals from 2,000 bootstrap samples of items (seed {seed}), shares have "
                "Wilson intervals at the effective size. Corrected rates are "
                "prediction-powered (PPI++: Angelopoulos, Duchi and Zrnic 2023). They are "
                "valid only if the records with human labels are a random sample. Records of "
                "one item or one cluster are dependent.",
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


def judged_confusion(judged: Judged, population: Population, level: float) -> Confusion:
    """Return human labels by the judge's; records of one item or cluster are dependent."""
    return confuse(
        judged.people, judged.judge, len(judged.labels), unit=judged.item,
        keys=_keys(judged, population), confidence=level,
    )  # fmt: skip


def _keys(judged: Judged, population: Population) -> SharedKeys:
    return keys_of_items(judged.item, judged.cluster_item, judged.cluster_key, population)


def judged_coefficients(
    judged: Judged, population: Population, seed: int, level: float
) -> Iterator[tuple[str, Estimate]]:
    """Yield each coefficient by name over records that both labeled; items are resampled.

    Observed agreement has the interval of the confusion matrix, so that it is the same everywhere.
    """
    keys = _keys(judged, population)
    both = (judged.people >= 0) & (judged.judge >= 0)
    people, judge = judged.people[both], judged.judge[both]
    ratings, n = np.column_stack([people, judge]), len(judged.labels)
    drawn = Drawn(clusters=judged.item[both], keys=keys, seed=seed, confidence=level)
    yield OBSERVED, judged_confusion(judged, population, level).accuracy
    yield from coefficients(ratings, ("Gwet AC1",), n, drawn)
    yield "Cohen's kappa", cohen_kappa(people, judge, **drawn)
    if judged.values is not None and n > 2:
        quadratic = cohen_kappa(people, judge, weights="quadratic", **drawn)
        yield "Cohen's kappa, quadratic", quadratic
    yield from alphas(ratings, judged.values, n, drawn)


def _rates(judged: Judged, keys: SharedKeys, level: float) -> Iterator[tuple[str, JudgedRate]]:
    """Yield the mean score, overall and by model, for labels in [0, 1]; otherwise each label's
    share."""
    values = judged.values
    if values is None or values.min() < 0 or values.max() > 1:
        for code, label in enumerate(judged.labels):
            worth = (np.arange(len(judged.labels)) == code).astype(np.float64)
            rate = _rate(judged, worth, slice(None), keys, level)
            yield _SHARE.format(label=label), rate
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


def _judge_finding(table: Confusion, found: dict[str, Estimate], n: int) -> str:
    kappa = found["Cohen's kappa"]
    return say(
        "Judge and people agree on {share}% of {records}; both use one label only, so that "
        "chance cannot be taken out."
        if math.isnan(kappa.value)
        else "Judge and people agree on {share}% of {records}; kappa {value:.2f} [{low:.2f}, "
        "{high:.2f}].",
        share=shown_estimate(table.accuracy),
        records=counted(n, "record"),
        value=kappa.value,
        low=kappa.low,
        high=kappa.high,
    )


def _named(name: str) -> str:
    """Return a rate's display name; the share of a label is stored by label."""
    label = name.removeprefix(_SHARE.format(label=""))
    return word(name) if label == name else say(_SHARE, label=label)


_SHARE = noted("share of {label}")


def _judge_cannot(rates: dict[str, JudgedRate], n: int) -> str:
    return paragraph(
        say(
            "{records} with labels by people are few to validate a judge by.",
            records=counted(n, "record"),
        )
        if n < _FEW
        else "",
        ""
        if next(iter(rates.values())).helps
        else say("The judge does not narrow the interval of the human-labeled estimate."),
    )


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
    def by_people(people: Estimate) -> Estimate:
        """Of a single record no interval is told."""
        return people if people.n > 1 else structs.replace(people, low=math.nan, high=math.nan)

    return table_of(
        say("The judge's rates, corrected by people's labels"),
        rates.items(),
        column("of", say("of"), lambda row: _named(row[0])),
        column("n_people", say("by people"), "1.people_only.n",
               help=say("records labeled by both")),
        column("corrected", say("corrected"), "1.corrected", unit="points",
               help=say("PPI++")),
        column("people_only", say("by people alone"), lambda row: by_people(row[1].people_only),
               unit="points"),
        column("judge_only", say("by the judge alone"), "1.judge_only",
               unit="points", help=say("without an interval: none can correct a biased judge")),
        column("bias", say("judge's lean"), "1.bias", unit="points",
               help=say("judge score minus human score on the same records")),
        column("trust", say("trust"), "1.trust",
               help=say("how much of the judge's word is used: 0 none, 1 all")),
        column("labels_saved", say("labels saved"), "1.labels_saved", digits=0,
               help=say("labels by people that the judge stands for; 0: it does not help")),
    )  # fmt: skip


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


_RULES = PanelRules(quorum=1, majority="half")


def panel_section(evidence: Evidence) -> Section | None:
    """Return scores and ranks by the majority of all judges and without each judge.

    None unless two or more judges gave numeric labels to answers of two or more models.
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
        plain=say("The leader depends on the judges: another panel can change it.")
        if any(left.moved or left.reversed_pairs for left in ranking.without)
        else say("Leaving out any one judge does not change the leader."),
        how=say(
            "A record's label is the one given by more than half of the judges; without a "
            "majority it has none. A model's score is the mean of its records' labels as "
            "numbers. Leaving a judge out decides all records again. Equal scores share a rank. "
            "Significance is not tested here; see the pairs of models."
        ),
        tables=(_ranks_without(found, ranking, models), _otherwise(ranking, models)),
    )


def _votes(found: Annotated) -> tuple[NDArray[np.int64], list[str]]:
    """Return labels (models, records of a model, judges), -1 if missing, and the models with
    labels."""
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
        "{judges} labeled the answers of {models}.",
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


def _ranks_without(found: Annotated, ranking: PanelRanking, models: list[str]) -> Table:
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
            for place in sorted(
                range(len(models)),
                key=lambda at: (not ranking.standings[at].n, ranking.standings[at].best),
            )
        ),
    )


def _otherwise(ranking: PanelRanking, models: list[str]) -> Table:
    def turned(left: LeftOut) -> str:
        return ", ".join(f"{models[one]} / {models[other]}" for one, other in left.reversed_pairs)

    return table_of(
        say("Leave-one-judge-out scores"),
        ranking.without,
        column("judge", say("judge")),
        column("otherwise", say("decided otherwise"),
               help=say("records with another label without this judge, or with none")),
        column("moved", say("models moved"),
               lambda left: ", ".join(models[place] for place in left.moved) or None),
        column("reversed", say("pairs reversed"), lambda left: turned(left) or None),
    )  # fmt: skip


def _rank(standing: PanelStanding) -> str:
    if not standing.n:
        return "\u2014"
    same = standing.best == standing.worst
    return f"{standing.best}" if same else f"{standing.best}\u2013{standing.worst}"
