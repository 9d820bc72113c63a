"""How far a judge agrees with people, and what its scores are once people's labels correct them."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from proofstone.engines.stats import (
    Confusion,
    Estimand,
    JudgedRate,
    SharedKeys,
    cohen_kappa,
    confuse,
    correct_judged_rate,
)
from proofstone.records.judged import Judged
from proofstone.records.results import Estimate
from proofstone.report.numbers import points, shown_estimate
from proofstone.report.sections.coefficients import (
    OBSERVED,
    Drawn,
    agreement_table,
    alphas,
    coefficients,
    keys_of_items,
)
from proofstone.report.sections.section import (
    Cell,
    Column,
    Evidence,
    Figure,
    Mark,
    Section,
    Table,
)
from proofstone.wording import counted, noted, paragraph, say, word

__all__ = ["judged_coefficients", "judged_confusion", "judged_section"]

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
