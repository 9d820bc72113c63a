"""What the measures, parts and verdicts of verified triples are called."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from proofstone.methods.bequ.report.board import TripleRow
from proofstone.methods.bequ.verification.records import Breakdown
from proofstone.page.section import shown_share
from proofstone.records.runs import Estimate
from proofstone.stats.intervals import t_quantile
from proofstone.wording.messages import counted, noted, say, word

MEASURE_NAMES: Mapping[str, str] = {
    "f1": noted("F1"),
    "precision": noted("precision"),
    "recall": noted("recall"),
    "contradiction": noted("contradiction"),
    "neutral": noted("neutral"),
    "unparsed": noted("unparsed verdicts"),
    "without_reference": noted("without a reference"),
    "precision_judged": noted("precision, of what was judged"),
    "precision_decided": noted("precision, of what was decided"),
    "recall_judged": noted("recall, of what was judged"),
    "recall_contradiction": noted("contradicted reference triples"),
    "recall_unparsed": noted("unparsed verdicts of recall"),
}


MEASURE_HELP: Mapping[str, str] = {
    "f1": noted("the harmonic mean of precision and recall"),
    "precision": noted("supported triples, of all that were sampled"),
    "recall": noted("reference triples that the model said, of all that were sampled"),
    "contradiction": noted("triples that the reference contradicts, of all that were sampled"),
    "neutral": noted("triples that the reference does not decide, of all that were sampled"),
    "unparsed": noted("triples whose verdict could not be read, of all that were sampled"),
    "without_reference": noted("triples about entities without a reference, of all sampled"),
    "precision_judged": noted("supported triples, of those with a verdict and a reference"),
    "precision_decided": noted("supported triples, of those that the reference decides"),
    "recall_judged": noted("reference triples that the model said, of those with a verdict"),
    "recall_contradiction": noted(
        "share of reference triples with a verdict that the model's triples contradict"
    ),
    "recall_unparsed": noted("reference triples whose verdict could not be read, of all sampled"),
}


PART_NAMES: Mapping[Breakdown, str] = {
    "domain": noted("domain"),
    "popularity": noted("popularity"),
    "source": noted("source"),
    "family": noted("predicate family"),
}


_LONGEST = 80  # characters of a value's name: a longer one is a text of its own


def measure_name(measure: str) -> str:
    """A measure in words."""
    return word(MEASURE_NAMES[measure])


def headed(measure: str) -> str:
    """A measure in words, as a heading or a sentence begins with it."""
    said = measure_name(measure)
    return said[:1].upper() + said[1:]


def part_name(by: Breakdown) -> str:
    """A breakdown in words."""
    return word(PART_NAMES[by])


def counted_rows(rows: Collection[TripleRow]) -> str:
    """``4 models``; where a model stands in several settings, ``4 settings of 2 models``."""
    n = len({row.group.model for row in rows})
    if n == len(rows):
        return counted(n, "model")
    return say(
        "{settings} of {models}",
        settings=counted(len(rows), "setting"),
        models=counted(n, "model"),
    )


def shown_range(shares: Collection[float]) -> str:
    """``20.0% to 31.5%``, or the one share that all are shown as."""
    low, high = shown_share(min(shares)), shown_share(max(shares))
    return low if low == high else say("{low} to {high}", low=low, high=high)


def value_name(value: str) -> str:
    """A value of a breakdown, cut where it is a text of its own."""
    shown = value if len(value) <= _LONGEST else f"{value[:_LONGEST]}..."
    return word(shown)


# Whether a difference between two estimates is carried by their intervals.


def is_above(first: Estimate, second: Estimate, comparisons: int = 1) -> bool:
    """Whether ``first`` is above ``second`` beyond its interval, where it is the most striking of
    ``comparisons`` that were looked at (Bonferroni).

    Half an interval over its quantile is taken for a standard error, and the two as independent;
    estimates of the same entities mostly rise together, so that for them the answer is on the safe
    side. False where either has no interval, or stands on fewer than two groups.
    """
    groups = min(first.effective_n, second.effective_n)
    ends = (first.low, first.high, second.low, second.high)
    if groups < 2.0 or any(map(math.isnan, ends)) or not first.value > second.value:
        return False
    level = min(first.level, second.level)
    usual = t_quantile(groups - 1.0, level)
    error = math.hypot(first.high - first.low, second.high - second.low) / (2.0 * usual)
    needed = t_quantile(groups - 1.0, 1.0 - (1.0 - level) / max(comparisons, 1))
    return bool(first.value - second.value > needed * error)
