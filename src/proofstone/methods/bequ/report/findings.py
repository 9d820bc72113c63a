"""Write the findings of a page of verified triples, each supported by its confidence interval."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations

from msgspec import Struct, structs

from proofstone.methods.bequ.records import Breakdown
from proofstone.methods.bequ.report.board import TripleBoard, TripleRow
from proofstone.page.section import shown_estimate, shown_share
from proofstone.records.runs import Estimate
from proofstone.stats.intervals import t_quantile
from proofstone.wording.messages import counted, joined, noted, paragraph, say, word

# Names of measures, parts and values.

MEASURE_NAMES: Mapping[str, str] = {
    "f1": noted("F1"),
    "precision": noted("precision"),
    "recall": noted("recall"),
    "contradiction": noted("contradiction"),
    "neutral": noted("neutral"),
    "unparsed": noted("unparsed verdicts"),
    "without_reference": noted("without a reference"),
    "precision_judged": noted("precision, judged triples only"),
    "precision_decided": noted("precision, decided triples only"),
    "recall_judged": noted("recall, judged triples only"),
    "recall_contradiction": noted("contradicted reference triples"),
    "recall_unparsed": noted("unparsed verdicts of recall"),
}


MEASURE_HELP: Mapping[str, str] = {
    "f1": noted("the harmonic mean of precision and recall"),
    "precision": noted("supported triples, of all sampled"),
    "recall": noted("reference triples that the model covers, of all sampled"),
    "contradiction": noted("triples that the reference contradicts, of all sampled"),
    "neutral": noted("neutral triples (neither entailed nor contradicted), of all sampled"),
    "unparsed": noted("triples with an unparsed verdict, of all sampled"),
    "without_reference": noted("triples about entities without a reference, of all sampled"),
    "precision_judged": noted("supported triples, of those with a verdict and a reference"),
    "precision_decided": noted("supported triples, of those entailed or contradicted"),
    "recall_judged": noted("reference triples that the model covers, of those with a verdict"),
    "recall_contradiction": noted(
        "share of reference triples with a verdict that the model's triples contradict"
    ),
    "recall_unparsed": noted("reference triples with an unparsed verdict, of all sampled"),
}


PART_NAMES: Mapping[Breakdown, str] = {
    "domain": noted("domain"),
    "popularity": noted("popularity"),
    "source": noted("source"),
    "family": noted("predicate family"),
}


_LONGEST = 80  # characters of a value's name; longer names are shortened


def measure_name(measure: str) -> str:
    """Return a measure in words."""
    return word(MEASURE_NAMES[measure])


def headed(measure: str) -> str:
    """Return a measure in words, capitalized for a heading or a sentence start."""
    said = measure_name(measure)
    return said[:1].upper() + said[1:]


def part_name(by: Breakdown) -> str:
    """Return a breakdown in words."""
    return word(PART_NAMES[by])


def counted_rows(rows: Collection[TripleRow]) -> str:
    """Return ``4 models``, or ``4 settings of 2 models`` if a model has several settings."""
    n = len({row.group.model for row in rows})
    if n == len(rows):
        return counted(n, "model")
    return say(
        "{settings} of {models}",
        settings=counted(len(rows), "setting"),
        models=counted(n, "model"),
    )


def shown_range(shares: Collection[float]) -> str:
    """Return ``20.0% to 31.5%``, or one share if all are shown as the same."""
    low, high = shown_share(min(shares)), shown_share(max(shares))
    return low if low == high else say("{low} to {high}", low=low, high=high)


def value_name(value: str) -> str:
    """Return a value of a breakdown, shortened if it is long."""
    shown = value if len(value) <= _LONGEST else f"{value[:_LONGEST]}..."
    return word(shown)


def is_above(first: Estimate, second: Estimate, comparisons: int = 1) -> bool:
    """Return True if ``first`` is significantly above ``second``, Bonferroni-corrected for
    ``comparisons``.

    Standard errors are half the CI over its quantile. The estimates are treated as independent;
    those of the same entities mostly have a positive correlation, which makes the test
    conservative. False if either has no CI, or fewer than two groups.
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


# The answer: which model leads on F1, and which models are tied with it.

_MOST_NAMED = 3


def ranked_rows(board: TripleBoard) -> list[TripleRow]:
    """Return the rows ranked together, in descending order of F1: models, or simulated rows.

    Simulated rows are used only if no model is ranked.
    """
    ranked = [row for row in board.rows if row.rank is not None]
    return [row for row in ranked if row.simulated == ranked[0].simulated]


def answer_of(board: TripleBoard) -> tuple[str, ...]:
    """Return the main result as sentences; no ranking without verdicts."""
    ranked = ranked_rows(board)
    if not board.rows:
        return (say("No triples have been verified yet, so there is no ranking."),)
    if not ranked and not board.is_common:
        return (say("These models were verified on different entities, so none is ranked."),)
    if not ranked:
        return (
            say("No model has verdicts in both directions yet, so there is no F1 and no ranking."),
        )
    unranked = sum(row.rank is None for row in board.rows)
    rest = say(
        "{models} cannot be ranked yet: triples wait for a judge, or one direction has no "
        "verdicts.",
        models=counted(unranked, "more model"),
    )
    return (_leader(board, ranked), _made_of(ranked[0]), *([rest] if unranked else []))


def partial_notes(board: TripleBoard) -> tuple[str, ...]:
    """Return notes on missing verdicts; empty for a complete leaderboard."""
    waiting = sum(row.waiting for row in board.rows)
    partial = say(
        "Partial: {triples} of the samples wait for a judge and are excluded; score the runs "
        "again with the same judge.",
        triples=counted(waiting, "triple"),
    )
    bare = [row.label for row in board.rows if not row.estimates and not row.waiting]
    nothing = say("No triples of {models} were verified.", models=joined(bare))
    return (*([partial] if waiting else []), *([nothing] if bare else []))


def _leader(board: TripleBoard, ranked: Sequence[TripleRow]) -> str:
    """State the leader, and whether its lead is significant."""
    first = ranked[0]
    score = shown_estimate(first.estimates["f1"])
    entities = counted(board.entities, "entity", "entities")
    if len(ranked) == 1:
        return say(
            "{first} reaches an F1 of {score} on {entities}; no other model is ranked.",
            first=first.label,
            score=score,
            entities=entities,
        )
    lead = say("and its lead over every other model is statistically significant.")
    high = first.rank.high if first.rank else 1
    if high > 1:
        others = [row.label for row in ranked[1:] if row.rank is not None and row.rank.low == 1]
        is_short = len(others) == high - 1 <= _MOST_NAMED
        named = joined(others) if is_short else counted(high - 1, "other")
        lead = say("but its lead over {others} is not significant.", others=named)
    return say(
        "Of {models} on {entities}, {first} has the highest F1, {score}, {lead}",
        models=counted_rows(ranked),
        entities=entities,
        first=first.label,
        score=score,
        lead=lead,
    )


def _made_of(row: TripleRow) -> str:
    """State the leader's precision, recall and contradiction rate."""
    said = [
        say(
            "Precision of {model}: {precision} (percent of elicited triples that the reference "
            "entails). Recall: {recall} (percent of reference triples that the model covers).",
            model=row.label,
            precision=shown_estimate(row.estimates["precision"]),
            recall=shown_estimate(row.estimates["recall"]),
        )
    ]
    if against := row.estimates.get("contradiction"):
        share = shown_share(against.value)
        said.append(say("The reference contradicts {share} of its triples.", share=share))
    if row.abstention.n:
        share = shown_share(row.abstention.value)
        said.append(say("It abstained on {share} of entities.", share=share))
    return paragraph(*said)


# Key findings, the most general first.


def findings_of(board: TripleBoard) -> tuple[str, ...]:
    """Return findings as sentences; empty without verdicts."""
    return tuple(filter(None, (make(board) for make in _FINDINGS)))


def _ties(board: TripleBoard) -> str:
    """State which models are tied, for the first tie."""
    rows = ranked_rows(board)
    if len(rows) < 2:
        return ""
    if not board.ties:
        return say("Models with adjacent ranks all differ significantly in F1.")
    first, last = board.ties[0]
    return say(
        "The F1 of {models} does not differ significantly.",
        models=joined([row.label for row in rows[first : last + 1]], 6),
    )


def _gap(board: TripleBoard) -> str:
    """State the largest gap between precision and recall."""
    rows = [row for row in board.rows if row.has_both]
    if not rows:
        return ""
    steps = [
        _step(row, [(name, row.estimates[name]) for name in ("precision", "recall")], len(rows))
        for row in rows
    ]
    apart = [step for step in steps if step.n_significant]
    if not apart:
        return say("No model's precision differs significantly from its recall.")
    widest = max(apart, key=lambda step: step.width)
    return say(
        "{model}: {what} {high}, {other} {low}. The difference is significant."
        if len(rows) == 1
        else "{model} has the widest gap between precision and recall: {what} {high}, {other} "
        "{low}. The difference is significant for {n} of {models}.",
        model=widest.row.label,
        what=measure_name(widest.high),
        other=measure_name(widest.low),
        high=shown_estimate(widest.first),
        low=shown_estimate(widest.second),
        n=len(apart),
        models=counted_rows(rows),
    )


def _undecided(board: TripleBoard) -> str:
    """State the neutral rate: neutral triples lower every precision."""
    shares = [found.value for row in board.rows if (found := row.estimates.get("neutral"))]
    if not shares:
        return ""
    return say(
        "The reference neither entails nor contradicts {share} of the elicited triples. "
        "Precision counts them as not supported.",
        share=shown_range(shares),
    )


class Extreme(Struct, frozen=True, kw_only=True):
    """Hold two values of a breakdown: a measure of ``row`` is higher for ``high`` than for ``low``.

    ``first`` and ``second`` are their estimates. The difference is significant in ``n_significant``
    of ``models`` (in words), of which the row is the first on the leaderboard. If ``n_significant``
    is 0, no two values of any model differ significantly, and this is the widest difference.
    """

    row: TripleRow
    high: str
    low: str
    first: Estimate
    second: Estimate
    n_significant: int
    models: str = ""

    @property
    def width(self) -> float:
        """Return the difference of the two estimates."""
        return self.first.value - self.second.value


def extreme_of(board: TripleBoard, by: Breakdown, measure: str) -> Extreme | None:
    """Return the pair of values with a significant difference in most models.

    Ties are resolved by the widest difference for the first model. None if no model has the measure
    for two values. Every pair of every model counts as a comparison.
    """
    steps = list(_steps(board, by, measure))
    if not steps:
        return None
    told: dict[tuple[str, str], list[Extreme]] = defaultdict(list)
    for step in steps:
        if step.n_significant:
            told[step.high, step.low].append(step)
    most = max(told.values(), key=lambda found: (len(found), found[0].width), default=[])
    return structs.replace(
        most[0] if most else max(steps, key=lambda step: step.width),
        n_significant=len(most),
        models=counted_rows({step.row.group: step.row for step in steps}.values()),
    )


def _steps(board: TripleBoard, by: Breakdown, measure: str) -> Iterator[Extreme]:
    """Yield every two values of each row, the higher first."""
    known = []
    for row in board.rows:
        found = [
            (part.value, estimate)
            for part in board.parts
            if (part.by, part.group) == (by, row.group)
            and (estimate := part.estimates.get(measure)) is not None
            and not math.isnan(estimate.value)
        ]
        known.append((row, sorted(found, key=lambda pair: (-pair[1].value, pair[0]))))
    looked = sum(math.comb(len(values), 2) for _row, values in known)
    for row, values in known:
        yield from (_step(row, pair, looked) for pair in combinations(values, 2))


def _step(row: TripleRow, pair: Iterable[tuple[str, Estimate]], looked: int) -> Extreme:
    """Return two values of a row, the higher first; ties keep their order."""
    (high, first), (low, second) = sorted(pair, key=lambda value: -value[1].value)
    n_significant = is_above(first, second, looked)
    return Extreme(
        row=row, high=high, low=low, first=first, second=second, n_significant=int(n_significant)
    )


def extreme_sentence(
    board: TripleBoard, by: Breakdown, measure: str, *, only_significant: bool = False
) -> str:
    """State for which values the measure is highest and lowest, or that no difference is
    significant.

    Empty if no model has the measure for two values.
    """
    found = extreme_of(board, by, measure)
    if found is None or (only_significant and not found.n_significant):
        return ""
    if not found.n_significant:
        return say(
            "{measure} by {by}: no two values differ significantly in any model.",
            measure=headed(measure),
            by=part_name(by),
        )
    return say(
        "{measure} by {by}: significantly higher for {high} than for {low} in {n} of {models}; "
        "for {model}, {first} against {second}.",
        measure=headed(measure),
        by=part_name(by),
        high=value_name(found.high),
        low=value_name(found.low),
        n=found.n_significant,
        models=found.models,
        model=found.row.label,
        first=shown_estimate(found.first),
        second=shown_estimate(found.second),
    )


def asked_nonexistent(board: TripleBoard) -> list[tuple[TripleRow, Estimate]]:
    """Return the rows with non-existent entities in prompts, and their hallucination rates, highest
    first.
    """
    rows = [
        (row, given)
        for row in board.rows
        if (given := row.nonexistent_given) is not None and given.n
    ]
    return sorted(
        rows, key=lambda one: (-one[1].value, -one[0].elicited.nonexistent_each, one[0].label)
    )


def nonexistent_finding(board: TripleBoard) -> str:
    """State the highest and lowest hallucination rate; empty without non-existent entities."""
    rows = asked_nonexistent(board)
    if not rows:
        return ""
    silent = [row for row, given in rows if given.value == 0.0]
    if len(silent) == len(rows):
        return say("No model gave a triple about a non-existent entity.")
    (most, high), (least, low) = rows[0], rows[-1]
    each = most.elicited.nonexistent_each
    if len(rows) == 1:
        return say(
            "{model} gives triples about {share} of 100 non-existent entities, {each:.1f} "
            "triples each.",
            model=most.label,
            share=shown_estimate(high),
            each=each,
        )
    if not is_above(high, low, math.comb(len(rows), 2)):
        return say(
            "Models gave triples about {share} of non-existent entities; the highest and the "
            "lowest rate do not differ significantly.",
            share=shown_range([low.value, high.value]),
        )
    said = say(
        "{most} has the highest hallucination rate: it gives triples about {high} of 100 "
        "non-existent entities, {each:.1f} triples each; {least} about {low}.",
        most=most.label,
        high=shown_estimate(high),
        each=each,
        least=joined([row.label for row in silent], 4) if silent else least.label,
        low=shown_estimate(low),
    )
    # Abstention on existing entities of the models with the highest and lowest hallucination rate.
    careful = silent or [least]
    known = [row.abstention.value for row in (most, *careful) if row.abstention.n]
    if len(known) <= len(careful):
        return said
    abstaining = say(
        "The former abstains on {most} of the existing entities, the latter on {least}.",
        most=shown_share(known[0]),
        least=shown_range(known[1:]),
    )
    return paragraph(said, abstaining)


_FINDINGS: tuple[Callable[[TripleBoard], str], ...] = (
    _ties,
    _gap,
    partial(extreme_sentence, by="popularity", measure="f1"),
    partial(extreme_sentence, by="domain", measure="f1"),
    partial(extreme_sentence, by="family", measure="contradiction"),
    nonexistent_finding,
    _undecided,
)
