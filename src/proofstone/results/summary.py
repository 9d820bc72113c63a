"""Summary at the top of a report: top group, cost, speed and unresolved comparisons."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
from msgspec import Struct

from proofstone.page.section import ReadColumn, Table, column, points, table_of, two_digits
from proofstone.records.runs import Outcome
from proofstone.records.scores import Respondent
from proofstone.results.board import BoardRow, Standings
from proofstone.results.board_text import Leaderboard
from proofstone.results.measured_scores import Sheet
from proofstone.results.sections.evidence import Evidence, values_of
from proofstone.results.sections.stability import probability_of_best
from proofstone.results.sentences import scale_head
from proofstone.stats.estimates import outcome_code
from proofstone.stats.power import Separation
from proofstone.wording.messages import joined, paragraph, say, say_of, word

# Records of the summary, shared by page and JSON.


class OpeningPart(Struct, frozen=True, kw_only=True):
    """Summary of one ranking.

    ``heading`` names its scale, if any. ``best`` describes the models statistically tied for first.
    ``table`` has scores, cost, time and kinds of error. ``told`` compares these. ``undecided``
    lists unresolved comparisons and what would resolve them.
    """

    heading: str = ""
    best: tuple[str, ...] = ()
    table: Table | None = None
    told: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()


class Opening(Struct, frozen=True, kw_only=True):
    """One part per ranking; ``words`` explains the terms that they use."""

    parts: tuple[OpeningPart, ...] = ()
    words: tuple[str, ...] = ()


# Names of models in the summary, as short as possible.

_MOST_NAMED = 5


def called(group: Standings, row: BoardRow) -> str:
    """Return the model's name; with prompting method and settings if the name is ambiguous."""
    names = Counter(each.name for each in group.rows)
    return row.name if names[row.name] == 1 else row.label


def named(group: Standings, rows: Sequence[BoardRow]) -> str:
    """Return the names of models; of many, the first ones and the number of the others."""
    if len(rows) <= _MOST_NAMED:
        return joined([called(group, row) for row in rows])
    first = [called(group, row) for row in rows[: _MOST_NAMED - 1]]
    return joined([*first, say("{n} more", n=len(rows) - len(first))])


# Models statistically tied for first, and differences within and below them.


def top_group(group: Standings) -> tuple[int, ...]:
    """Return the indices of models that no other model is significantly better than; none
    unranked."""
    if not group.compared:
        return ()
    return tuple(
        place for place, row in enumerate(group.ranked) if row.rank is not None and row.rank.low < 2
    )


def best_sentences(group: Standings) -> Iterator[str]:
    """Yield the top models, the differences among them, and the gap to the next one."""
    best, rows = top_group(group), group.ranked
    if not best:
        yield from _nobody_ranked(group)
        return
    members = [rows[place] for place in best]
    names = named(group, members)
    if len(best) == 1:
        yield say(
            "{model} ranks first. Its lead over every other model is statistically significant.",
            model=names,
        )
    elif len(best) == len(rows):
        yield say(
            "All models are statistically tied for first: {models}.",
            models=names,
        )
    else:
        yield say(
            "Statistically tied for first: {models}.",
            models=names,
        )
    if len(best) > 1:
        gap = members[0].estimate.value - members[-1].estimate.value
        yield (
            say("They score the same.")
            if points(gap) == points(0.0)
            else say(
                "Their scores are within {gap} points; no difference between them is significant.",
                gap=points(gap),
            )
        )
    after = next((place for place in range(len(rows)) if place not in best), None)
    if after is None:
        return
    # Gap of the first model below the top group, and which models it is significantly below.
    beaten_by = [
        pair.first if pair.second == after else pair.second
        for pair in group.compared
        if pair.resolved and after in (pair.first, pair.second)
    ]
    ahead = rows[next((place for place in best if place in beaten_by), best[0])]
    yield say(
        "{model} scores {gap} points below {ahead}; this difference is significant.",
        model=called(group, rows[after]),
        gap=points(ahead.estimate.value - rows[after].estimate.value),
        ahead=called(group, ahead),
    )


def _nobody_ranked(group: Standings) -> Iterator[str]:
    """Yield the reason why there is no ranking."""
    if not group.ranked:
        yield say("No model has complete results, so none is ranked.")
    elif len(group.ranked) == 1:
        model = called(group, group.ranked[0])
        yield (
            say("Only {model} is complete, so there is no ranking.", model=model)
            if group.incomplete
            else say(
                "{model} is the only model, so there is no ranking.",
                model=model,
            )
        )


def cost_of_thousand(row: BoardRow) -> float | None:
    """Return US dollars per thousand questions asked once, from recorded spending.

    None if a call has no price or calls are not recorded. Calls without reported usage count at
    their maximum cost; ``least_cost`` counts them as zero.
    """
    spent, n = row.spent, row.pace.n_questions
    if not spent.calls or spent.unpriced or not n:
        return None
    return 1000 * spent.cost_usd / n


def least_cost(row: BoardRow) -> float | None:
    """Return the lower bound of ``cost_of_thousand``."""
    most = cost_of_thousand(row)
    return None if most is None else most - 1000 * row.spent.estimated_usd / row.pace.n_questions


def bounded_cell(row: BoardRow, cost: float | None, digits: int) -> float | str | None:
    """Return the cost for a table cell, marked if it is only an upper bound."""
    if cost is None or not row.spent.estimated_usd:
        return cost
    return say("at most {usd}", usd=f"{cost:,.{digits}f}")


def bounded_sentence(group: Standings, rows: Sequence[BoardRow]) -> Iterator[str]:
    """Yield a sentence on costs that are upper bounds; nothing if all usage is reported."""
    bounded = [row for row in rows if row.spent.estimated_usd and cost_of_thousand(row) is not None]
    if bounded:
        yield say(
            "The cost of {models} is an upper bound: endpoints did not report the usage of "
            "{n_calls} calls, counted at up to {usd} USD in all.",
            models=named(group, bounded),
            n_calls=sum(row.spent.estimated_calls for row in bounded),
            usd=shown_usd(sum(row.spent.estimated_usd for row in bounded)),
        )


def shown_usd(amount: float) -> str:
    """Return dollars to two decimals, or to two significant digits if smaller."""
    return f"{amount:,.2f}" if amount >= 0.1 or not amount else f"{amount:.2g}"


def about_usd(amount: float) -> str:
    """Return estimated dollars to two significant digits."""
    if not amount:
        return "0"
    rounded = round(amount, 1 - math.floor(math.log10(amount)))
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:.2g}"


def cost_sentences(group: Standings, *, is_of_files: bool) -> Iterator[str]:
    """Yield the cheapest and the fastest top model, cheaper ones below, and unknown costs.

    Nothing for simulated models, which have no cost.
    """
    rows = group.rows
    if group.simulated or not rows:
        return
    if is_of_files:
        yield say("The files do not record cost or time.")
        return
    best = [group.ranked[place] for place in top_group(group)] or list(group.ranked[:1])
    yield from _cheapest(group, best)
    yield from bounded_sentence(group, rows)
    yield from _cheaper_below(group, best)
    yield from _fastest(group, best)
    without = [row for row in rows if cost_of_thousand(row) is None]
    if len(without) == len(rows):
        yield say("Cost is unknown: none of these models has a price.")
    elif without:
        yield say(
            "The cost of {models} is unknown: some of their calls have no price.",
            models=named(group, without),
        )


def _cheapest(group: Standings, best: Sequence[BoardRow]) -> Iterator[str]:
    priced = sorted(
        (cost, called(group, row)) for row in best if (cost := cost_of_thousand(row)) is not None
    )
    if len(priced) < 2:
        return
    (low, cheap), (high, dear) = priced[0], priced[-1]
    least = [cost for row in best if called(group, row) != cheap and (cost := least_cost(row))]
    most = [least_cost(row) or 0.0 for row in best if called(group, row) == dear]
    if any(cost < low for cost in least) or any(
        cost > most[0] for cost, who in priced if who != dear
    ):
        yield say(
            "The cheapest of the models tied for first is not known: some usage was not reported."
        )
        return
    if shown_usd(low) == shown_usd(high):
        yield say(
            "All models tied for first cost {usd} USD per 1,000 questions.", usd=shown_usd(low)
        )
        return
    yield say(
        "Of the models tied for first, {cheap} is cheapest ({low} USD per 1,000 questions) "
        "and {dear} most expensive ({high} USD).",
        cheap=cheap,
        low=shown_usd(low),
        dear=dear,
        high=shown_usd(high),
    )


def _cheaper_below(group: Standings, best: Sequence[BoardRow]) -> Iterator[str]:
    """Yield the best model below the top group at less than half the cost of its cheapest
    member."""
    least_costs = [cost for row in best if (cost := least_cost(row)) is not None]
    if not least_costs:
        return
    for row in group.ranked:
        cost = cost_of_thousand(row)
        if row in best or cost is None or 2 * cost > min(least_costs):
            continue
        yield say(
            "{model} costs {usd} USD per 1,000 questions and scores {gap} points below {leader}.",
            model=called(group, row),
            usd=shown_usd(cost),
            gap=points(best[0].estimate.value - row.estimate.value),
            leader=called(group, best[0]),
        )
        return


def _fastest(group: Standings, best: Sequence[BoardRow]) -> Iterator[str]:
    timed = sorted(
        (row.pace.median_latency_s, called(group, row))
        for row in best
        if row.pace.median_latency_s is not None
    )
    if len(timed) < 2:
        return
    (fast, first), (slow, last) = timed[0], timed[-1]
    if _seconds(fast) == _seconds(slow):
        return
    yield say(
        "Of the models tied for first, {first} is fastest (median {fast} s) and {last} "
        "slowest ({slow} s).",
        first=first,
        fast=_seconds(fast),
        last=last,
        slow=_seconds(slow),
    )


def _seconds(time: float) -> str:
    return f"{time:.1f}" if time >= 1 else f"{time:.2f}"


# Outcomes of each model's responses: correct, partly correct, wrong, or without an answer.


class Endings(Struct, frozen=True, kw_only=True):
    """Counts of ``n`` responses by outcome; ``failed`` calls are not among them.

    Answers are correct, partly correct or wrong at a score of 1, between, and 0.
    """

    n: int
    right: int
    partly: int
    wrong: int
    refused: int
    unparsed: int
    truncated: int
    failed: int

    def share(self, kind: str) -> float:
        """Return the share of responses with this outcome; NaN without responses."""
        return float(getattr(self, kind)) / self.n if self.n else float("nan")


def endings_of(sheet: Sheet, respondent: int) -> Endings:
    """Return the outcomes of a model's responses (by index in the table)."""
    table = sheet.table
    own = (table.respondent == respondent) & (table.outcome == outcome_code("answered"))
    values = table.value[own]

    def counted(outcome: Outcome) -> int:
        return int(sheet.outcomes[respondent, outcome_code(outcome)])

    return Endings(
        n=sheet.n_responses(respondent),
        right=int((values >= 1.0).sum()),
        partly=int(((values > 0.0) & (values < 1.0)).sum()),
        wrong=int((values <= 0.0).sum()) + int(np.isnan(values).sum()),
        failed=sheet.n_failed(respondent),
        refused=counted("refused"),
        unparsed=counted("unparsed"),
        truncated=counted("truncated"),
    )


# Score, cost, time and kinds of error of each model.

_MOST_ROWS = 7


def side_by_side(group: Standings, sheet: Sheet | None) -> Table | None:
    """Return a table of the first seven models, then incomplete ones.

    Columns without data are omitted. None if it would only repeat the leaderboard.
    """
    shown = group.rows[:_MOST_ROWS]
    columns = [*spent_columns(shown)]
    if sheet is not None:
        places = {_key(who): place for place, who in enumerate(sheet.table.respondents)}
        of = {key: places[key] for key in map(_key, shown)}
        columns += _token_column(sheet, of)
        if columns or sheet.table.tells_outcomes:
            columns += _ending_columns(sheet, of)
    if not columns or not shown:
        return None
    more = len(group.rows) - len(shown)
    return table_of(
        say("Scores, cost, time and outcomes"),
        shown,
        column("model", word("model"), lambda row: called(group, row)),
        column(
            "score", word("score"), "estimate", unit="points",
            help=say("out of 100, with its confidence interval in brackets"),
        ),
        *columns,
        note=say("{n} more are in the leaderboard.", n=more) if more > 0 else "",
    )  # fmt: skip


_Key: TypeAlias = tuple[str, str, str, bool]


def _key(row: BoardRow | Respondent) -> _Key:
    """Return what identifies a row of the leaderboard."""
    return row.name, row.prompt_method, row.settings, row.simulated


def spent_columns(rows: Sequence[BoardRow]) -> Iterator[ReadColumn]:
    """Yield the recorded columns of cost and time."""
    costs = [cost for row in rows if (cost := cost_of_thousand(row)) is not None]
    if costs:  # with enough places for a digit of the smallest
        least = min(filter(None, costs), default=1.0)
        digits = max(2, -math.floor(math.log10(least)))
        yield column(
            "usd_per_thousand", say("USD per 1,000 questions"),
            lambda row: bounded_cell(row, cost_of_thousand(row), digits), digits=digits,
            help=say("by what these questions cost; a dash where a price is not known"),
        )  # fmt: skip
    times = [time for row in rows if (time := row.pace.median_latency_s) is not None]
    if times:
        yield column(
            "median_latency_s", say("median seconds"), "pace.median_latency_s",
            digits=1 if min(times) >= 1 else 2,
            help=say("median over questions of the time of all their calls"),
        )  # fmt: skip


def _token_column(sheet: Sheet, places: Mapping[_Key, int]) -> Iterator[ReadColumn]:
    """Yield the median length of responses, if a file records it."""
    tokens = sheet.table.tokens
    if tokens is None:
        return

    def median(row: BoardRow) -> float | None:
        of = tokens[sheet.table.respondent == places[_key(row)]]
        known = of[~np.isnan(of)]
        return float(np.median(known)) if len(known) else None

    yield column(
        "median_tokens", say("median tokens"), median, digits=0,
        help=say("median number of tokens of a response"),
    )  # fmt: skip


def _ending_columns(sheet: Sheet, places: Mapping[_Key, int]) -> Iterator[ReadColumn]:
    """Yield shares of responses by outcome, without outcomes that never occurred."""
    ends = {key: endings_of(sheet, place) for key, place in places.items()}
    yield column("responses", say("responses"), lambda row: ends[_key(row)].n)
    kinds = {"wrong": (say("wrong"), say("answered, with the wrong answer"))}
    if any(each.partly for each in ends.values()):
        kinds = {"partly": (say("partly correct"), ""), **kinds}
    if sheet.table.tells_outcomes:
        unread = (
            say("the judge's response holds no label")
            if sheet.judged
            else say("no answer was found in the response")
        )
        without = {
            "refused": (say("refused"), say("the model declined to answer")),
            "unparsed": (say("unparsed"), unread),
            "truncated": (say("truncated"), say("the response reached its token limit")),
        }
        unknown = sheet.table.unknown_outcomes
        kinds |= {kind: said for kind, said in without.items() if kind not in unknown}

    def share(kind: str, row: BoardRow) -> float | None:
        return ends[_key(row)].share(kind) if ends[_key(row)].n else None

    for kind, (name, what) in kinds.items():
        yield column(kind, name, partial(share, kind), unit="share", help=what)
    if any(each.failed for each in ends.values()):
        yield column(
            "failed", say("failed"), lambda row: ends[_key(row)].failed,
            help=say("API error, no response; not scored"),
        )  # fmt: skip


# Unresolved comparisons at the top, with number and cost of questions that would resolve them.

_MOST_PAIRS = 3


_MOST_QUESTIONS = 10_000_000


def undecided_sentences(evidence: Evidence, group: Standings) -> Iterator[str]:
    """Yield comparisons of the leader with up to three tied models, and incomplete candidates."""
    best = top_group(group)
    if len(best) == 1:
        yield say("The first place is decided: its lead over every other model is significant.")
    elif best:
        yield from _pairs(evidence, group, best)
    elif len(group.ranked) > 1:
        yield say("The first place is undecided: the models share no questions.")
    yield from _may_join(group)


def _pairs(evidence: Evidence, group: Standings, best: tuple[int, ...]) -> Iterator[str]:
    ranked = values_of(evidence, group)
    if ranked is None:
        yield say(
            "How many more questions would decide it cannot be said from accuracies alone: that "
            "takes scores question by question."
        )
        return
    pairs = [(best[0], place) for place in best[1 : 1 + _MOST_PAIRS]]
    for pair in ranked.separations(pairs):
        yield _pair(group, pair, len(ranked.units))
    more = len(best) - 1 - len(pairs)
    if more > 0:
        yield say_of(
            more,
            "{n} more model is tied for first.",
            "{n} more models are tied for first.",
            n=more,
        )


def _pair(group: Standings, pair: Separation, n_items: int) -> str:
    first, second = group.ranked[pair.first], group.ranked[pair.second]
    names = {"first": called(group, first), "second": called(group, second)}
    if math.isnan(pair.needed):
        return say(
            "{first} or {second}: not significantly different. These questions are too few or too "
            "dependent to estimate how many are needed.",
            **names,
        )
    if points(pair.difference) == points(0.0):
        return say(
            "{first} or {second}: they score the same, so no number of questions can be estimated.",
            **names,
        )
    more = pair.needed - n_items
    if more > _MOST_QUESTIONS:
        return say(
            "{first} or {second}: not significantly different. At the {gap} points seen here, more "
            "than {most:,} questions would be needed.",
            gap=points(pair.difference),
            most=_MOST_QUESTIONS,
            **names,
        )
    return paragraph(
        say(
            "{first} or {second}: not significantly different. If their true difference is the "
            "{gap} points seen here, about {n:,} questions like these give 80% power to show it "
            "({have:,} were asked).",
            gap=points(pair.difference),
            n=two_digits(pair.needed),
            have=n_items,
            **names,
        ),
        _price(group, first, second, more),
    )


def _price(group: Standings, first: BoardRow, second: BoardRow, more: float) -> str:
    """Return the cost of that many further questions for both models, with as many samples."""
    if group.simulated:
        return ""
    costs = [cost_of_thousand(row) for row in (first, second)]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs):
        return say("The price is not known.")
    samples = max(row.average.k if row.average else 1 for row in (first, second))
    return say(
        "Asking both models the additional questions would cost about {usd} USD.",
        usd=about_usd(more * samples * sum(known) / 1000),
    )


def _may_join(group: Standings) -> Iterator[str]:
    """Yield incomplete models that would reach the leader's score if all missing responses were
    right."""
    if not group.ranked:
        return
    best = group.ranked[0].estimate.value
    open_ = [row for row in group.incomplete if row.bounds and row.bounds.high >= best]
    if open_:
        yield say(
            "{models} may still rank first: responses are missing.", models=named(group, open_)
        )


# The summary, from the same evidence as the sections.


def make_opening(evidence: Evidence) -> Opening:
    """Return one part per ranking of real models, or of simulated ones if there are no others."""
    board = evidence.board
    ranked = (group for group in board.standings if not group.experiment)
    groups = [g for g in ranked if board.is_simulated_only or not g.simulated]
    return Opening(
        parts=tuple(_part(evidence, group) for group in groups),
        words=tuple(_words(board)) if groups else (),
    )


def _part(evidence: Evidence, group: Standings) -> OpeningPart:
    ranked, sheet = values_of(evidence, group), evidence.sheet
    probable = "" if ranked is None else probability_of_best(ranked)
    # Result files: their items have names; accuracies have no items.
    is_of_files = sheet is None or bool(sheet.table.item_names)
    return OpeningPart(
        heading=scale_head(group),
        best=(*best_sentences(group), *([probable] if probable else [])),
        table=side_by_side(group, sheet),
        told=(*cost_sentences(group, is_of_files=is_of_files), *_endings_unknown(sheet)),
        undecided=tuple(undecided_sentences(evidence, group)),
    )


def _endings_unknown(sheet: Sheet | None) -> Iterator[str]:
    if sheet is None:
        yield say("The files do not record outcomes of responses.")
    elif not sheet.table.tells_outcomes:
        yield say(
            "The files do not record outcomes of responses. Each response counts with its score."
        )
    elif sheet.table.unknown_outcomes:
        yield say(
            "The files do not record which responses were {outcomes}.",
            outcomes=joined([word(name) for name in sheet.table.unknown_outcomes]),
        )


def _words(board: Leaderboard) -> Iterator[str]:
    yield say("One point is one percentage point.")
    yield say(
        "Brackets show {confidence:g}% confidence intervals. Over repeated tests with new "
        "questions of the same kind, about {confidence:g}% of such intervals contain the true "
        "score.",
        confidence=100 * board.confidence,
    )
    if any(not math.isnan(group.chance) for group in board.standings):
        yield say("The chance level is the expected score of random guessing.")
