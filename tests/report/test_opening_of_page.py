"""The half page: who is best, at what cost, how they err, and what would decide what is open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from proofstone.page.section import two_digits
from proofstone.records.runs import Outcome, Pace, Scale, Spent
from proofstone.records.scores import Respondent, ScoreTable
from proofstone.results.sections.evidence import Evidence
from proofstone.results.sections.size_and_cost import costs_section
from proofstone.results.summary import OpeningPart, about_usd, endings_of, make_opening, shown_usd
from proofstone.stats.estimates import measure_spread
from proofstone.stats.intervals import equal_weights
from proofstone.stats.power import separations
from report.made_up import mixed, right_of, table_of, two_small
from report.test_sections import accuracies, evidence_of, three


def part_of(evidence: Evidence) -> OpeningPart:
    (part,) = make_opening(evidence).parts
    return part


def asked(name: str, usd: float | None, seconds: float, n: int = 40) -> Respondent:
    """A respondent of ``n`` questions that cost ``usd`` together, None: without a price."""
    unpriced = n if usd is None else 0
    return Respondent(
        name,
        "direct",
        spent=Spent(calls=n, cost_usd=usd or 0.0, unpriced=unpriced),
        pace=Pace(n_questions=n, median_latency_s=seconds),
    )


def close(*respondents: Respondent) -> ScoreTable:
    """Right on 36, 33 and 12 of 40: the first two cannot be told apart, the third is behind."""
    outcomes: tuple[Outcome, ...] = ("truncated", "unparsed", "unparsed", "refused")
    rows = right_of(40, 36, 0) + right_of(40, 33, 1) + right_of(40, 12, 2, outcomes)
    return table_of(respondents, rows, n_units=40)


PRICED = (asked("dear", 4.0, 2.0), asked("cheap", 0.4, 1.25), asked("poor", 0.02, 0.5))


def test_the_best_group_is_named_with_what_separates_it() -> None:
    """36 - 33 = 3 of 40 within it, 36 - 12 = 24 of 40 to the next one."""
    assert part_of(evidence_of(close(*PRICED))).best == (
        "Statistically tied for first: dear and cheap.",
        "Their scores are within 7.5 points; no difference between them is significant.",
        "poor scores 60.0 points below dear; this difference is significant.",
        "Probability of having the highest true score (hierarchical model): dear (95.0%) "
        "and cheap (5.1%).",
    )


def test_one_that_is_ahead_of_all_is_best_and_decided() -> None:
    """So no more questions are needed."""
    part = part_of(three())
    assert part.best[0] == (
        "strong ranks first. Its lead over every other model is statistically significant."
    )
    assert part.undecided == (
        "The first place is decided: its lead over every other model is significant.",
    )


def test_costs_and_times_are_compared_within_the_best_group() -> None:
    """4 USD for 40 questions are 100 for 1,000; the third costs less than half of the cheapest."""
    assert part_of(evidence_of(close(*PRICED))).told == (
        "Of the models tied for first, cheap is cheapest (10.00 USD per 1,000 questions) and dear "
        "most expensive (100.00 USD).",
        "poor costs 0.50 USD per 1,000 questions and scores 60.0 points below dear.",
        "Of the models tied for first, cheap is fastest (median 1.2 s) and dear slowest (2.0 s).",
    )


def test_a_cost_that_is_only_bounded_decides_nothing() -> None:
    """A malformed response counts at the most that it can have cost: 3.8 of 4 USD here, so that the
    one called dear may be the cheaper one. The bound is named, and nobody is called cheapest."""
    spent = Spent(calls=41, cost_usd=4.0, estimated_calls=1, estimated_usd=3.8)
    bounded = replace(PRICED[0], spent=spent)
    told = part_of(evidence_of(close(bounded, *PRICED[1:]))).told
    assert told[:2] == (
        "The cheapest of the models tied for first is not known: some usage was not reported.",
        "The cost of dear is an upper bound: endpoints did not report the usage of 1 calls, "
        "counted at up to 3.80 USD in all.",
    )
    small = structs.replace(spent, estimated_usd=0.1)
    told = part_of(evidence_of(close(replace(bounded, spent=small), *PRICED[1:]))).told
    assert told[0].startswith("Of the models tied for first, cheap is cheapest (10.00 USD")
    assert told[1].startswith("The cost of dear is an upper bound")


def test_a_bounded_cost_is_marked_in_the_table() -> None:
    """The cell of a model with unreported usage is no plain number: 1,000 * 4 / 40 at most."""
    spent = Spent(calls=41, cost_usd=4.0, estimated_calls=1, estimated_usd=3.8)
    evidence = evidence_of(close(replace(PRICED[0], spent=spent), *PRICED[1:]))
    table = part_of(evidence).table
    assert table is not None
    assert [row[2] for row in table.rows] == ["at most 100.00", 10.0, 0.5]
    section = costs_section(evidence)
    assert section is not None
    assert [row[2] for row in section.tables[0].rows] == ["at most 100.0000", 10.0, 0.5]


def test_the_table_sets_score_cost_time_and_kinds_of_error_side_by_side() -> None:
    """Of the third, 12 of 40 right and 4 without an answer: 24 wrong."""
    table = part_of(evidence_of(close(*PRICED))).table
    assert table is not None
    assert [column.key for column in table.columns] == [
        "model", "score", "usd_per_thousand", "median_latency_s", "responses", "wrong", "refused",
        "unparsed", "truncated",
    ]  # fmt: skip
    rows = [(row[0], *row[2:]) for row in table.rows]
    assert rows == [
        ("dear", 100.0, 2.0, 40, 4 / 40, 0.0, 0.0, 0.0),
        ("cheap", 10.0, 1.25, 40, 7 / 40, 0.0, 0.0, 0.0),
        ("poor", 0.5, 0.5, 40, 24 / 40, 1 / 40, 2 / 40, 1 / 40),
    ]


def test_more_questions_are_those_that_the_corrected_comparison_lacks() -> None:
    """Three pairs are compared, so each at 1 - 0.05 / 3; 10 and 100 USD for 1,000 questions."""
    evidence = evidence_of(close(*PRICED))
    assert evidence.sheet is not None
    sheet = evidence.sheet
    spread = measure_spread(sheet.values, equal_weights(40), sheet.keys, "domain")
    (pair,) = separations(spread, [(0, 1)], confidence=1 - 0.05 / 3)
    more = pair.needed - 40
    assert 10 < more < 100
    assert part_of(evidence).undecided == (
        "dear or cheap: not significantly different. If their true difference is the 7.5 points "
        f"seen here, about {two_digits(pair.needed)} questions like these give 80% power to show "
        "it (40 were asked). Asking both models the additional questions would cost about "
        f"{about_usd(more * (10 + 100) / 1000)} USD.",
    )


def test_several_samples_of_an_item_are_paid_each() -> None:
    """The same scores, every item asked twice at the same price a question."""
    once = close(*PRICED)
    twice = replace(
        once,
        respondents=(
            asked("dear", 8.0, 2.0, 80), asked("cheap", 0.8, 1.25, 80), asked("poor", 0.04, 1, 80)
        ),
        **{
            name: np.concatenate([getattr(once, name)] * 2)
            for name in ("unit", "respondent", "outcome", "value", "answer")
        },
        sample=np.concatenate([once.sample, once.sample + 1]),
        expected=once.expected * 2,
    )  # fmt: skip
    first, second = part_of(evidence_of(once)).undecided, part_of(evidence_of(twice)).undecided
    prices = [float(said[0].rpartition("about ")[2].split()[0]) for said in (first, second)]
    assert prices[1] == pytest.approx(2 * prices[0], rel=0.1)


def test_an_absent_price_is_said() -> None:
    """Of one, of all; then what more questions cost is not known either."""
    some = part_of(evidence_of(close(asked("dear", None, 2.0), *PRICED[1:])))
    assert some.told[0].startswith("poor costs 0.50 USD")
    assert some.told[-1] == "The cost of dear is unknown: some of their calls have no price."
    assert some.undecided[0].endswith("(40 were asked). The price is not known.")
    none = part_of(evidence_of(close(*(asked(name, None, 2.0) for name in "abc"))))
    assert none.told == ("Cost is unknown: none of these models has a price.",)


def test_files_say_what_they_lack() -> None:
    """No cost, no time, no outcome: no table either, which would repeat the leaderboard."""
    table = replace(
        close(*(Respondent(name, "") for name in "abc")),
        item_names=tuple(f"q{n}" for n in range(40)),
        tells_outcomes=False,
    )
    part = part_of(evidence_of(table))
    assert part.table is None
    assert part.told == (
        "The files do not record cost or time.",
        "The files do not record outcomes of responses. Each response counts with its score.",
    )
    tokens = np.where(table.respondent == 0, 100.0, np.where(table.respondent == 1, 7.0, np.nan))
    shown = part_of(evidence_of(replace(table, tokens=tokens))).table
    assert shown is not None
    assert shown.columns[2].key == "median_tokens"
    assert [row[2] for row in shown.rows] == [100.0, 7.0, None]


def test_a_second_ranking_says_so_from_its_own_scores() -> None:
    """Of those ranked separately the scores by item are known as well: with the
    same ones, the same is said of them."""
    scale = Scale(name="With the evidence", what="reading", chance=0.2)
    apart = [replace(who, prompt_method="reads", scale=scale) for who in PRICED]
    rights = list(enumerate((36, 33, 12) * 2))
    rows = [row for place, right in rights for row in right_of(40, right, place)]
    first, second = make_opening(evidence_of(table_of((*PRICED, *apart), rows, n_units=40))).parts
    assert second.undecided == first.undecided
    assert second.undecided[0].startswith("dear or cheap: not significantly different. If their")


def test_accuracies_alone_say_what_would_be_needed() -> None:
    """With numbers of items there is a best group; without, nothing can be said."""
    known = part_of(accuracies([20, 20]))
    assert known.best[0].startswith("All models are statistically tied for first: a, b and c.")
    assert known.undecided[0].startswith("How many more questions would decide it cannot be said")
    unknown = part_of(accuracies([0, 0]))
    assert (unknown.best, unknown.table) == ((), None)
    assert unknown.undecided == ("The first place is undecided: the models share no questions.",)


def test_incomplete_ones_may_still_be_best() -> None:
    """Of mixed(), the unlucky one lacks ten of 40 replies; simulated ones have no part."""
    part = part_of(evidence_of(mixed()))
    assert "lab/large ranks first" in part.best[0]
    assert part.table is not None
    assert [row[0] for row in part.table.rows] == ["lab/large", "lab/小模型", "lab/unlucky"]
    assert dict(zip([c.key for c in part.table.columns], part.table.rows[2], strict=True))[
        "failed"
    ] == 1  # fmt: skip
    rows = right_of(40, 20, 0) + right_of(20, 20, 1)
    table = table_of([Respondent("a", ""), Respondent("b", "")], rows, n_units=40)
    assert part_of(evidence_of(table)).undecided == (
        "b may still rank first: responses are missing.",
    )


def test_ways_of_one_model_are_told_apart_by_name() -> None:
    """Where a model stands once, its name is enough."""
    part = part_of(evidence_of(two_small()))
    assert part.best[0].startswith(
        "All models are statistically tied for first: smollm2-135m cot and smollm2-135m direct"
    )


def test_words_are_explained() -> None:
    """Points, luck, the brackets at the leaderboard's confidence, and chance where there is one."""
    words = " ".join(make_opening(three()).words)
    assert "about 95% of such intervals contain the true score" in words
    assert words.endswith("The chance level is the expected score of random guessing.")
    assert make_opening(evidence_of(table_of([], [], n_units=0))).parts == ()


def test_replies_end_in_one_way_each() -> None:
    """The kinds add up to the replies; failed calls are none of them."""
    evidence = evidence_of(close(*PRICED))
    assert evidence.sheet is not None
    ends = endings_of(evidence.sheet, 2)
    kinds = (ends.right, ends.partly, ends.wrong, ends.refused, ends.unparsed, ends.truncated)
    assert kinds == (12, 0, 24, 1, 2, 1)
    assert sum(kinds) == ends.n == 40
    assert ends.share("wrong") == 24 / 40


@pytest.mark.parametrize(
    ("amount", "shown", "about"),
    [(0.0, "0.00", "0"), (0.0123, "0.012", "0.012"), (4.15, "4.15", "4.2"),
     (926.0, "926.00", "930"), (12345.6, "12,345.60", "12,000")],
)  # fmt: skip
def test_dollars_have_as_many_digits_as_are_known(amount: float, shown: str, about: str) -> None:
    """What was paid to the cent, what is foreseen to two digits."""
    assert (shown_usd(amount), about_usd(amount)) == (shown, about)


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=0, max_size=5),
    st.booleans(),
)
def test_every_ranking_gets_its_half_page(counts: list[tuple[int, int]], tells: bool) -> None:
    """Whatever is there: what is undecided needs at least one more question, and nothing fails."""
    rows = [row for who, (n, right) in enumerate(counts) for row in right_of(n, right, who)]
    table = table_of([Respondent(f"m{who}", "") for who in range(len(counts))], rows, n_units=20)
    opening = make_opening(evidence_of(replace(table, tells_outcomes=tells)))
    for part in opening.parts:
        assert not [said for said in part.undecided if "about 0 more" in said or "-" in said]


def test_where_nothing_can_be_ranked_it_is_said() -> None:
    """No model is whole; one alone is; there is but one."""
    pair = [Respondent("a", ""), Respondent("b", "")]

    def best(respondents: list[Respondent], *answered: int) -> tuple[str, ...]:
        rows = [row for who, n in enumerate(answered) for row in right_of(n, n // 2, who)]
        return part_of(evidence_of(table_of(respondents, rows, n_units=20))).best

    assert best(pair, 10, 12) == ("No model has complete results, so none is ranked.",)
    assert best(pair, 20, 12) == ("Only a is complete, so there is no ranking.",)
    assert best(pair[:1], 20) == ("a is the only model, so there is no ranking.",)
