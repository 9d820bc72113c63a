"""Paired differences between the contexts in which the same models were asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from proofstone.errors import BadUsage
from proofstone.page.section import Column, signed_points
from proofstone.records.items import CONTEXTS, context_label, context_of, searches
from proofstone.records.runs import Estimate
from proofstone.results.sections.parts import (
    Analysis,
    HowAsked,
    Part,
    left_out,
    make_analysis,
    mark_of,
    method_alone,
    same_request,
    search_name,
)
from proofstone.stats.comparisons import compare_pair
from proofstone.stats.multiple_comparisons import holm
from proofstone.wording.messages import paragraph, say, say_of

_NAMED = 3  # differences in the finding


class _Pair(NamedTuple):
    """One model in two contexts: their estimates, the difference and its p-value."""

    model: str
    contexts: tuple[str, str]
    labels: tuple[str, str]
    before: Estimate
    after: Estimate
    change: Estimate
    p: float


def analyze_contexts(parts: Sequence[Part]) -> Analysis:
    """Compare every two contexts of each model on the questions answered in both.

    Other settings are equal. Differences are paired, with Holm's adjustment over all of them.
    Raises BadUsage if no model is complete in two contexts.
    """
    (part,) = parts
    pairs = list(_pairs(part))
    if not pairs:
        raise BadUsage(
            "no model here is complete in two contexts with equal settings",
            hint="proofstone run TARGET -m MODEL --context none,document; status lists what is "
            "not complete",
        )
    adjusted = holm(np.array([pair.p for pair in pairs])).tolist()
    sure = [pair for pair, p in zip(pairs, adjusted, strict=True) if p < 0.05]
    marks = {
        (pair.model, context): mark_of(context, pair.model, estimate)
        for pair in pairs
        for context, estimate in zip(pair.contexts, (pair.before, pair.after), strict=True)
    }
    return make_analysis(
        "contexts",
        say("The same questions in different contexts"),
        _finding(pairs, sure),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="from", name=say("from context")),
            Column(key="to", name=say("to context")),
            Column(key="n", name="n", digits=0),
            Column(key="before", name=say("before"), unit="points"),
            Column(key="after", name=say("after"), unit="points"),
            Column(key="difference", name=say("difference"), unit="change"),
            Column(key="p_holm", name=say("p (Holm)"), unit="probability"),
        ),
        rows=[
            (pair.model, *pair.contexts, pair.change.n, pair.before, pair.after, pair.change, p)
            for pair, p in zip(pairs, adjusted, strict=True)
        ],
        axes=("model", next(iter(part.sheets))),
        marks=marks.values(),
        notes=(
            say(
                "difference: the second context minus the first, on the questions scored in both. "
                "p: adjusted for all differences shown."
            ),
            *left_out(parts, [label for pair in pairs for label in pair.labels]),
        ),
    )


def _pairs(part: Part) -> Iterator[_Pair]:
    by_request: dict[bytes, list[str]] = {}
    for label, place in part.complete.items():
        by_request.setdefault(same_request(part.asked[place]), []).append(label)
    for labels in by_request.values():
        asked = {label: part.asked[part.complete[label]] for label in labels}
        names = _context_names(asked.values())
        named = dict(zip(labels, names, strict=True))
        labels.sort(key=lambda label: CONTEXTS.index(context_of(asked[label].settings)))
        for first, second in combinations(labels, 2):
            units, values = part.block([first, second])
            if not len(units):
                continue
            keys = part.sheet.keys.among(units)
            before, after = part.means([first, second], units, values)
            compared = compare_pair(values[:, 0], values[:, 1], keys, **part.interval)
            yield _Pair(
                f"{asked[first].model} {method_alone(asked[first])}",
                (named[first], named[second]), (first, second), before, after, compared.estimate,
                compared.p,
            )  # fmt: skip


def _context_names(asked: Iterable[HowAsked]) -> list[str]:
    """Return each context as ``--context`` takes it; searches that look alike are spelled out."""
    every = list(asked)
    names = [context_label(how.settings).removeprefix("context=") or "none" for how in every]
    return [
        f"{name} ({search_name(how)})"
        if names.count(name) > 1 and searches(context_of(how.settings))
        else name
        for name, how in zip(names, every, strict=True)
    ]


def _finding(pairs: Sequence[_Pair], sure: Sequence[_Pair]) -> str:
    counted = say_of(
        len(pairs),
        "{k} of {n} paired difference is statistically significant (Holm-adjusted).",
        "{k} of {n} paired differences are statistically significant (Holm-adjusted).",
        k=len(sure),
        n=len(pairs),
    )
    largest = sorted(sure, key=lambda pair: -abs(pair.change.value))[:_NAMED]
    return paragraph(counted, *map(_told, largest))


def _told(pair: _Pair) -> str:
    return say(
        "{model}: {points} points [{low}, {high}] from {before} to {after}.",
        model=pair.model,
        points=signed_points(pair.change.value),
        low=signed_points(pair.change.low),
        high=signed_points(pair.change.high),
        before=pair.contexts[0],
        after=pair.contexts[1],
    )
