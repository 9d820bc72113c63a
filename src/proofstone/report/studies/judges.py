"""The same replies under several judges: what each makes of them, how far they agree, and whether
it matters to the ranking (Chinese SimpleQA, appendix B and Figure 10)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from proofstone.engines.stats import Estimand
from proofstone.errors import BadUsage
from proofstone.report.measured import measure_estimates
from proofstone.report.numbers import MISSING, points, shown_estimate, shown_share
from proofstone.report.studies.judge_pairs import JudgePair, compare_judges
from proofstone.report.studies.parts import Part
from proofstone.report.studies.study import Point, Study, StudyTable, point_of

__all__ = ["study_judges"]


def study_judges(parts: Sequence[Part], *, estimand: Estimand, confidence: float) -> Study:
    """One part a judge, or panel of judges, each with the same models' replies. A row a model and
    judge: its measures and how many replies got no label; then each pair of judges: agreement on
    the replies that a judge was asked about, and what it does to models and their order.

    Raises BadUsage for fewer than two judges with a model in common.
    """
    pairs = [
        found
        for first, second in combinations(parts, 2)
        if (found := compare_judges(first, second, estimand=estimand, confidence=confidence))
    ]
    if not pairs:
        graded = "; ".join(part.name for part in parts)
        raise BadUsage(
            f"the replies were graded by {graded}, and a study of judges takes two of them",
            hint="proofstone score RUN --judge OTHER: the same replies are graded again, and no "
            "contestant is asked",
        )
    measures = list(parts[0].sheets)
    rows: list[tuple[str, ...]] = []
    marks: list[Point] = []
    models = dict.fromkeys(label for part in parts for label in part.complete)
    for model in models:
        for part in parts:
            if model in part.complete:
                row, mark = _of_model(part, model, estimand, confidence)
                rows.append(row)
                marks.append(mark)
    return Study(
        name="judges",
        title="The same replies under several judges",
        finding=_finding(pairs),
        columns=("model", "judge", "n", *measures, "unparsed"),
        rows=tuple(rows),
        x_axis="judge",
        y_axis=measures[0],
        points=tuple(marks),
        more=(_agreement(pairs), _changes(pairs)),
        notes=tuple(_notes(parts, pairs)),
    )


def _of_model(
    part: Part, model: str, estimand: Estimand, confidence: float
) -> tuple[tuple[str, ...], Point]:
    place = part.complete[model]
    units, _values = part.block([model])
    found = [
        measure_estimates(sheet, units, [place], estimand=estimand, confidence=confidence)[0]
        for sheet in part.sheets.values()
    ]
    rate = next((each for each in part.sheet.rates(place) if each.outcome == "unparsed"), None)
    unparsed = MISSING if rate is None else f"{shown_share(rate.share)} ({rate.count} of {rate.n})"
    row = (model, part.name, str(found[0].n), *map(shown_estimate, found), unparsed)
    return row, point_of(model, part.name, found[0])


def _agreement(pairs: Sequence[JudgePair]) -> StudyTable:
    return StudyTable(
        title="Agreement of judges, on the replies that a judge was asked about",
        columns=("judges", "replies", "agree", "kappa", "no label", "tau-b, over items", "order"),
        rows=tuple(
            (
                pair.names, str(pair.agree.n), shown_estimate(pair.agree),
                _coefficient(pair.kappa.value, pair.kappa.low, pair.kappa.high),
                str(pair.n_unparsed), _tau(pair), _order(pair),
            )
            for pair in pairs
        ),
    )  # fmt: skip


def _changes(pairs: Sequence[JudgePair]) -> StudyTable:
    measures = list(pairs[0].changes[0].by_measure)
    return StudyTable(
        title="What the second judge changes, in points, on the same replies",
        columns=("judges", "model", *measures),
        rows=tuple(
            (pair.names, change.model, *(each.shown for each in change.by_measure.values()))
            for pair in pairs
            for change in pair.changes
        ),
        n_names=2,
    )


def _tau(pair: JudgePair) -> str:
    if pair.order is None:
        return MISSING
    tau = pair.order.tau
    return _coefficient(tau.value, tau.low, tau.high)


def _coefficient(value: float, low: float, high: float) -> str:
    if value != value:  # noqa: PLR0124 - NaN: all labels are one
        return MISSING
    return f"{value:z.2f} [{low:z.2f}, {high:z.2f}]"


def _order(pair: JudgePair) -> str:
    """What becomes of the order of models."""
    order = pair.order
    if order is None:
        return MISSING
    if order.n_reversed:
        return f"{order.n_reversed} of {order.n_pairs} pairs turned, significantly"
    if order.n_swapped:
        return f"{order.n_swapped} of {order.n_pairs} pairs turned, none significantly by both"
    return "the same"


def _finding(pairs: Sequence[JudgePair]) -> str:
    labelled = [pair for pair in pairs if pair.agree.n]
    if not labelled:
        return f"No reply that a judge was asked about has two labels. {_of_order(pairs)}"
    least = min(labelled, key=lambda pair: pair.agree.value)
    agree = least.agree
    said = (
        f"{least.first} and {least.second} agree"
        if len(pairs) == 1
        else f"Of {len(pairs)} pairs of judges, {least.first} and {least.second} agree least:"
    )
    kappa = _coefficient(least.kappa.value, least.kappa.low, least.kappa.high)
    beyond = f"kappa {kappa}" if kappa != MISSING else "no kappa, all labels being one"
    shown = f"{points(agree.value)}% [{points(agree.low)}, {points(agree.high)}]"
    return (
        f"{said} on {shown} of {agree.n} replies that a judge decided, {beyond}. {_of_order(pairs)}"
    )


def _of_order(pairs: Sequence[JudgePair]) -> str:
    orders = [pair.order for pair in pairs if pair.order is not None]
    if not orders:
        return "There are no two models whose order a judge could change."
    n_swapped = sum(order.n_swapped for order in orders)
    turned = [pair.names for pair in pairs if pair.order is not None and pair.order.n_reversed]
    if turned:
        return (
            "The ranking of models depends on the judge: two models differ significantly in "
            f"opposite orders by {'; '.join(turned)}."
        )
    if n_swapped:
        times = "once" if n_swapped == 1 else f"{n_swapped} times"
        return (
            f"Orders of models differ {times}, none significantly: no two models "
            "differ significantly in opposite orders."
        )
    return "All judges put the models in the same order."


def _notes(parts: Sequence[Part], pairs: Sequence[JudgePair]) -> Iterator[str]:
    yield (
        "What a rule settles is the same for every judge, and in no agreement here. A reply "
        "without a label counts in no agreement and in no figure of its judge; intervals take the "
        "replies to a question together. Orders are by the first measure. Differences "
        "are tested with Holm over all pairs. Kappa is 0 where one of the two gave only one label."
    )
    common = {label for pair in pairs for label in pair.models}
    known = {label: None for part in parts for label in part.complete}
    alone = [label for label in known if label not in common]
    if alone:
        yield f"Graded by one judge alone, or not whole under another: {', '.join(alone)}."
