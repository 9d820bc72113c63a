"""Do answers hold when the options of a question are shown in another order?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import (
    answer_consistency,
    consistency,
    equal_weights,
    mean_estimates,
)
from proofstone.records.results import Estimate
from proofstone.report.numbers import points, shown_estimate
from proofstone.report.sections.ranked_values import RankedValues, ranked_values
from proofstone.report.sections.replies import Replies, replies_of
from proofstone.report.sections.section import Cell, Column, Evidence, Section, Table
from proofstone.wording import counted, paragraph, say, word

__all__ = ["orders_section"]

Values = NDArray[np.float64]
_FEW = 30
_MOST_PAIRS = 100_000_000  # of one model: beyond, pairs are not compared


@dataclass(frozen=True, slots=True)
class _Held:
    """What of one model's answers holds over orders, over ``n`` items that it was asked in two or
    more: ``apart`` and ``same`` are the shares of pairs of replies in different orders, and in the
    same one, that are alike; ``mean`` score and share right ``in_all`` orders."""

    label: str
    n: int
    apart: Estimate | None
    same: Estimate | None
    mean: Estimate | None
    in_all: Estimate | None


def orders_section(evidence: Evidence) -> Section | None:
    """How often replies to one item in two orders of its options choose the same one, beside two
    in the same order. None unless the order of options is told, and two were shown of some item."""
    ranked, sheet = ranked_values(evidence), evidence.sheet
    if ranked is None or sheet is None or sheet.table.order is None:
        return None
    contents = _tells_contents(sheet.table.answers, spelled=sheet.table.orders_spelled)
    if ranked.values.shape[0] * (int(sheet.table.sample.max(initial=0)) + 1) ** 2 > _MOST_PAIRS:
        return None
    replies = replies_of(sheet, ranked)
    if replies.orders is None:
        return None
    found = list(_held(evidence, ranked, replies, replies.orders, contents=contents))
    if not any(each.n for each in found):
        return None
    n_orders = len(np.unique(sheet.table.order[sheet.table.order >= 0]))
    return Section(
        name="orders",
        title=say("Robustness to option order"),
        finding=_finding(found, n_orders),
        plain=_plain(found),
        cannot=_cannot(found, contents),
        how=_how(evidence, contents),
        tables=(_table(found),),
    )


def _tells_contents(answers: Sequence[str], *, spelled: bool) -> bool:
    """Whether it is known which option an answer chose: by a spelled order, or by its text."""
    named = [name for name in answers if name]
    return bool(named) and (spelled or any(len(name.strip()) > 1 for name in named))


def _held(
    evidence: Evidence,
    ranked: RankedValues,
    replies: Replies,
    orders: NDArray[np.int32],
    *,
    contents: bool,
) -> Iterator[_Held]:
    scores = replies.scores
    there = ~np.isnan(scores) & (orders >= 0)
    for place, label in enumerate(ranked.labels):
        own, told = orders[:, place], there[:, place]
        if contents:
            apart, same = (
                answer_consistency(
                    replies.answers[:, [place]], told[:, None], own[:, None], same_order=a
                )
                for a in (False, True)
            )
        else:
            apart, same = (
                consistency(
                    np.where(told, scores[:, place], np.nan)[:, None], own[:, None], same_order=a
                )
                for a in (False, True)
            )
        chosen = ~np.isnan(apart[:, 0])
        right = np.where(told, scores[:, place], np.nan)[chosen]
        yield _Held(
            label=label,
            n=int(chosen.sum()),
            apart=_mean(evidence, ranked, apart[:, 0]),
            same=_mean(evidence, ranked, same[:, 0]),
            mean=_mean(evidence, ranked, _filled(chosen, np.nanmean, right)),
            in_all=_mean(evidence, ranked, _filled(chosen, np.nanmin, right)),
        )


def _filled(chosen: NDArray[np.bool_], of: Callable[..., Values], right: Values) -> Values:
    """A value of each chosen item from its scores (chosen, samples); NaN of the others."""
    values = np.full(len(chosen), np.nan)
    if len(right):
        values[chosen] = of(right, axis=1)
    return values


def _mean(evidence: Evidence, ranked: RankedValues, values: Values) -> Estimate | None:
    known = np.flatnonzero(~np.isnan(values))
    if not len(known):
        return None
    (estimate,) = mean_estimates(
        values[known][:, None],
        equal_weights(len(known)),
        ranked.keys.among(known),
        estimand=evidence.estimand,
        confidence=evidence.board.confidence,
    )
    return estimate


def _finding(found: Sequence[_Held], n_orders: int) -> str:
    known = [(each.apart, each) for each in found if each.apart is not None]
    first = known[0][1]
    worst_value, worst = min(known, key=lambda pair: pair[0].value)
    said = say(
        "Options were shown in {orders}; in two of them {model} answers the same question alike in "
        "{share}% of pairs.",
        orders=counted(n_orders, "order"),
        model=first.label,
        share=shown_estimate(known[0][0]),
    )
    if worst is first:
        return said
    least = say("The least so {model}: {share}%.", model=worst.label,
                share=shown_estimate(worst_value))  # fmt: skip
    return paragraph(said, least)


def _plain(found: Sequence[_Held]) -> str:
    first = next(each for each in found if each.mean is not None)
    if first.mean is None or first.in_all is None:
        return ""
    return say(
        "{model} scores {mean} of 100 points on these questions, and {kept} if only questions "
        "answered correctly in every order count. The rest depends on the order of the options "
        "or on sampling variation.",
        model=first.label,
        mean=points(first.mean.value),
        kept=points(first.in_all.value),
    )


def _cannot(found: Sequence[_Held], contents: bool) -> str:
    parts = []
    if not contents:
        parts.append(
            say(
                "The data do not show which option was chosen: the orders have names, but the "
                "meaning of each letter is not known. Scores are compared instead."
            )
        )
    if all(each.same is None for each in found):
        parts.append(
            say(
                "The share that is due to the order is not known: no question was asked twice in "
                "the same order, so answers may differ without it."
            )
        )
    few = max(each.n for each in found)
    if few < _FEW:
        parts.append(
            say("{items} in two orders are few to generalize from.", items=counted(few, "item"))
        )
    return paragraph(*parts)


def _how(evidence: Evidence, contents: bool) -> str:
    return paragraph(
        say(
            "Over all pairs of replies of a model to one item whose options were shown in "
            "different orders: how often both choose the same option, wherever it stands; a reply "
            "without a choice agrees with none."
        )
        if contents
        else say(
            "Over all pairs of replies of a model to one item whose options were shown in "
            "different orders: how often both score alike."
        ),
        say(
            "Pairs in the same order say how far replies differ by themselves. Each item counts "
            "the same; intervals as those of the scores, for {estimand}.",
            estimand=word(evidence.board.estimand),
        ),
    )


def _table(found: Sequence[_Held]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (each.label, each.n, each.apart, each.same, each.mean, each.in_all) for each in found
    ]
    return Table(
        title=say("Answers over orders of the options"),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="n", name=say("n"), help=say("items asked in two orders or more")),
            Column(key="alike_apart", name=say("alike, other order"), unit="points",
                   help=say("pairs of replies in different orders that are alike")),
            Column(key="alike_same", name=say("alike, same order"), unit="points",
                   help=say("pairs of replies in the same order that are alike")),
            Column(key="score", name=say("score"), unit="points"),
            Column(key="right_each_time", name=say("right each time"), unit="points",
                   help=say("each item by the lowest score of its replies")),
        ),
        rows=tuple(rows),
    )  # fmt: skip
