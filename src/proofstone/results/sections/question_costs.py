"""What single questions cost by model, and how much of a run the dearest ones take."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.page.section import Figure, Mark, column
from proofstone.results.sections.parts import (
    Analysis,
    Part,
    complete_everywhere,
    left_out,
    make_analysis,
)
from proofstone.wording.messages import joined, say

_SHARES = np.linspace(0, 1, 21)
_MOST_DRAWN = 10


class QuestionCosts(Struct, frozen=True):
    """US dollars per question of a model, ascending: the mean over the samples of each."""

    label: str
    usd: tuple[float, ...]

    @property
    def total(self) -> float:
        """The sum over the questions, of one sample each."""
        return math.fsum(self.usd)

    def at(self, share: float) -> float:
        """Return the cost that this share of the questions does not exceed."""
        return float(np.quantile(self.usd, share, method="inverted_cdf"))

    @property
    def dearest_tenth(self) -> float:
        """The share of the total that the dearest tenth of the questions takes (NaN if free)."""
        n = math.ceil(len(self.usd) / 10)
        return math.fsum(self.usd[-n:]) / self.total if self.total else math.nan


def analyze_costs(parts: Sequence[Part]) -> Analysis:
    """Return the distribution of the cost of a question, by model, dearest median first.

    Models with a call without a price are named and left out. Raises BadUsage if all are.
    """
    (part,) = parts
    labels = complete_everywhere(parts)
    every = [(label, question_costs(part, label)) for label in labels]
    priced = [QuestionCosts(label, usd) for label, usd in every if usd is not None]
    unpriced = [label for label, usd in every if usd is None]
    if not priced:
        raise BadUsage(
            "no model has a price for all of its calls",
            hint="proofstone models price lists models without one",
        )
    rows = sorted(priced, key=lambda each: (-each.at(0.5), each.label))
    title = say("Cost per question")
    return make_analysis(
        "cost",
        title,
        _finding(rows),
        columns=(
            column("model", say("model"), "label"),
            column("n", "n", lambda each: len(each.usd)),
            column("median", say("median, USD"), lambda each: each.at(0.5), digits=6),
            column("high", say("90% at most, USD"), lambda each: each.at(0.9), digits=6),
            column("most", say("highest, USD"), lambda each: each.usd[-1], digits=6),
            column("total", say("all questions, USD"), "total", digits=4),
            column("tenth", say("share of the dearest tenth"), "dearest_tenth", unit="share"),
        ),
        rows=rows,
        axes=("USD", "share of questions"),
        marks=_marks(rows),
        notes=tuple(_notes(part, labels, unpriced)),
        figures=_figures(rows, title),
    )


def question_costs(part: Part, label: str) -> tuple[float, ...] | None:
    """Return a model's mean cost by question, ascending; None if a call has no price."""
    lengths = part.lengths
    if lengths is None or lengths.cost is None:
        return None
    mine = lengths.respondent == part.complete[label]
    usd, units = lengths.cost[mine], lengths.unit[mine]
    if not len(usd) or np.isnan(usd).any():
        return None
    n, sums = np.bincount(units), np.bincount(units, weights=usd)
    return tuple(sorted((sums[n > 0] / n[n > 0]).tolist()))


def _finding(rows: Sequence[QuestionCosts]) -> str:
    dear, cheap = rows[0], rows[-1]
    if dear.at(0.5) == cheap.at(0.5):
        return say("The median question costs {usd:.3g} USD.", usd=dear.at(0.5))
    return say(
        "The median question costs {low:.3g} USD with {cheap} and {high:.3g} USD with {dear}.",
        low=cheap.at(0.5),
        cheap=cheap.label,
        high=dear.at(0.5),
        dear=dear.label,
    )


def _notes(part: Part, labels: Sequence[str], unpriced: Sequence[str]) -> Iterator[str]:
    yield say(
        "The cost of the calls that gave the responses, by the prices of then; of several samples "
        "the mean. The dearest tenth: the share of the whole cost that a tenth of the questions "
        "takes."
    )
    if unpriced:
        yield say("Left out, without a price: {models}.", models=joined(unpriced, 5))
    yield from left_out([part], labels)


def _marks(rows: Sequence[QuestionCosts]) -> Iterator[Mark]:
    for each in rows:
        for share in _SHARES.tolist():
            yield Mark(row=each.label, x=each.at(share), value=share, n=len(each.usd))


def _figures(rows: Sequence[QuestionCosts], title: str) -> Iterator[Figure]:
    """Yield the distributions on a log scale; none if a question is free."""
    drawn = [each for each in rows if each.usd[0] > 0][:_MOST_DRAWN]
    if drawn:
        yield Figure(
            name="cost-per-question",
            kind="curves",
            title=title,
            subtitle=say("share of questions that cost at most so much"),
            marks=tuple(_marks(drawn)),
            x_axis=say("USD per question"),
            x_unit="usd",
            is_log=True,
            value_axis=say("questions (%)"),
            value_unit="points",
        )
