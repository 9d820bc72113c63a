"""Position bias: effects of the position and order of options."""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.page.section import (
    Cell,
    Column,
    Mark,
    Section,
    Table,
    column,
    points,
    shown_estimate,
    shown_share,
    table_of,
)
from proofstone.records.runs import Estimate
from proofstone.records.scores import ScoreTable
from proofstone.results.sections.evidence import (
    Evidence,
    RankedValues,
    ranked_values,
    responses_of,
)
from proofstone.results.sections.parts import (
    Analysis,
    Part,
    complete_everywhere,
    left_out,
    make_analysis,
    mark_of,
)
from proofstone.stats.estimates import mean_estimates
from proofstone.stats.intervals import equal_weights
from proofstone.stats.items import PositionBias, PositionTest, position_bias
from proofstone.stats.power import answer_consistency, consistency
from proofstone.stats.ranks import LEAST_EXPECTED, homogeneity
from proofstone.wording.messages import counted, listed, noted, paragraph, say, word

# Consistency of answers over orders of options.

Values = NDArray[np.float64]


_FEW = 30


_MOST_PAIRS = 100_000_000  # per model; with more, pairs are not compared


@dataclass(frozen=True, slots=True)
class _Held:
    """Consistency of one model over orders, on ``n`` items with two or more orders.

    ``apart`` and ``same`` are the shares of equal pairs of responses in different orders and in the
    same order. ``mean`` is the mean score, ``in_all`` the share right in all orders.
    """

    label: str
    n: int
    apart: Estimate | None
    same: Estimate | None
    mean: Estimate | None
    in_all: Estimate | None


def orders_section(evidence: Evidence) -> Section | None:
    """Return how often two orders of options of one item give the same choice.

    Pairs with the same order are shown for comparison. None unless orders are recorded and an item
    has two.
    """
    ranked = ranked_values(evidence)
    if ranked is None or ranked.sheet.table.order is None:
        return None
    table, shown = ranked.sheet.table, ranked.sheet.table.order
    # The chosen option is known from a spelled order, or from its text.
    named = [name for name in table.answers if name]
    contents = bool(named) and (table.orders_spelled or any(len(x.strip()) > 1 for x in named))
    if len(ranked.values) * (int(table.sample.max(initial=0)) + 1) ** 2 > _MOST_PAIRS:
        return None
    found = list(_held(ranked, contents=contents))
    if not any(each.n for each in found):
        return None
    return Section(
        name="orders",
        title=say("Robustness to option order"),
        finding=_finding(found, len(np.unique(shown[shown >= 0]))),
        plain=_plain(found),
        cannot=_cannot(found, contents),
        how=_how(evidence, contents),
        tables=(_table(found),),
    )


def _held(ranked: RankedValues, *, contents: bool) -> Iterator[_Held]:
    responses = responses_of(ranked.sheet, ranked)
    if responses.orders is None:
        return
    for place, label in enumerate(ranked.labels):
        own = responses.orders[:, [place]]
        scores = np.where(own >= 0, responses.scores[:, [place]], np.nan)
        alike = (
            partial(answer_consistency, responses.answers[:, [place]], ~np.isnan(scores), own)
            if contents
            else partial(consistency, scores, own)
        )
        apart, same = (alike(same_order=each)[:, 0] for each in (False, True))
        chosen = ~np.isnan(apart)
        mean, least = np.full((2, len(chosen)), np.nan)
        if chosen.any():
            mean[chosen] = np.nanmean(scores[chosen, 0], axis=1)
            least[chosen] = np.nanmin(scores[chosen, 0], axis=1)
        yield _Held(
            label=label,
            n=int(chosen.sum()),
            apart=ranked.known_mean(apart),
            same=ranked.known_mean(same),
            mean=ranked.known_mean(mean),
            in_all=ranked.known_mean(least),
        )


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
            "Share of pairs of a model's responses to one item, with options in different "
            "orders, that choose the same option in any position. A response without a choice "
            "agrees with none."
        )
        if contents
        else say(
            "Share of pairs of a model's responses to one item, with options in different "
            "orders, that have the same score."
        ),
        say(
            "Pairs in the same order show the random variation of responses. Each item counts "
            "the same; intervals are as for scores, for {population}.",
            population=word(evidence.board.population),
        ),
    )


def _table(found: Sequence[_Held]) -> Table:
    return table_of(
        say("Answers over orders of the options"),
        found,
        column("model", say("model"), "label"),
        column("n", say("n"), help=say("items asked in two orders or more")),
        column("alike_apart", say("alike, other order"), "apart", unit="points",
               help=say("equal pairs of responses, different orders")),
        column("alike_same", say("alike, same order"), "same", unit="points",
               help=say("equal pairs of responses, same order")),
        column("score", say("score"), "mean", unit="points"),
        column("right_each_time", say("correct each time"), "in_all", unit="points",
               help=say("each item by its lowest response score")),
    )  # fmt: skip


def positions_section(evidence: Evidence) -> Section | None:
    """Return accuracy by the answer key's position, choices by position, and tests.

    None unless answer keys and answers are letters and numbers of options are known.
    """
    ranked = ranked_values(evidence)
    if ranked is None or not _has_positions(ranked.sheet.table):
        return None
    found = [
        (label, _bias(ranked, who))
        for label, who in zip(ranked.labels, ranked.respondents, strict=True)
    ]
    return Section(
        name="positions",
        title=say("Position bias"),
        finding=_positions_finding([each for each in found if _is_valid(each[1].error)]),
        cannot=_too_few(found),
        how=say(
            "Three chi-square tests by model, summed over questions with the same number of "
            "options: equal accuracy for all positions of the answer key; equal choice of all "
            "positions; wrong choices spread evenly over the wrong positions, independent of "
            "the key. {depends} The finding uses the last one at 5%, adjusted for the models "
            "tested.",
            depends=_depends(evidence, [bias for _, bias in found]),
        ),
        tables=(_tests(found), _shares(found)),
    )


def _is_valid(test: PositionTest) -> bool:
    """Return True if the test was made and its chi-square approximation holds."""
    return test.least_expected >= LEAST_EXPECTED


def _too_few(found: Sequence[tuple[str, PositionBias]]) -> str:
    tests = [test for _, bias in found for test in (bias.accuracy, bias.choice, bias.error)]
    left_out = sum(0 <= test.least_expected < LEAST_EXPECTED for test in tests)
    if not left_out:
        return ""
    return say(
        "Not shown: {n} of {tests}, where an expected count, divided by the design effect, is "
        "below {least}.",
        n=left_out,
        tests=counted(len(tests), "chi-square test"),
        least=LEAST_EXPECTED,
    )


def _depends(evidence: Evidence, found: Sequence[PositionBias]) -> str:
    designs = [test.design for bias in found for test in (bias.accuracy, bias.choice, bias.error)]
    if all(math.isnan(each) or each == 1.0 for each in designs):
        return say("Responses count as independent: no shared source is known.")
    return say(
        "Responses to one item are dependent (p after Rao and Scott 1984, second order)."
        if evidence.population == "bank"
        else (
            "Responses to one item or one cluster are dependent (p after Rao and Scott 1984, "
            "second order)."
        )
    )


def _has_positions(table: ScoreTable) -> bool:
    letters = [name for name in table.answers if name]
    if table.order is not None and not table.orders_spelled:
        return False  # letters, including the answer key, mean another option in each order
    return (
        any(table.answer_keys)
        and bool((table.n_options > 0).any())
        and bool(letters)
        and all(len(name) == 1 for name in (*table.answer_keys, *letters) if name)
    )


def _bias(ranked: RankedValues, respondent: int) -> PositionBias:
    table = ranked.sheet.table
    rows = np.flatnonzero(table.respondent == respondent)
    unit = table.unit[rows]
    answer_key = _positions(table.answer_keys)[table.answer_key[unit]]
    chosen = _positions(table.answers)[table.answer[rows]]
    if table.order is not None:
        orders = table.order[rows]
        answer_key, chosen = (
            _as_shown(each, orders, table.orders) for each in (answer_key, chosen)
        )
    return position_bias(
        ranked.sheet.counted[rows], answer_key, chosen, table.n_options[unit], unit=unit,
        keys=ranked.dependent_keys,
    )  # fmt: skip


def _as_shown(
    original: NDArray[np.int64], orders: NDArray[np.int32], names: Sequence[str]
) -> NDArray[np.int64]:
    """Map positions in the original order to those in the order of each response.

    Orders are codes of ``names``; -1 if unknown.
    """
    most = max(map(len, names), default=0)
    shown = np.full((len(names) + 1, most + 1), -1, dtype=np.int64)
    for code, name in enumerate(names):
        for place, letter in enumerate(name):
            shown[code, string.ascii_uppercase.index(letter)] = place
    kept = np.where(original < most, original, -1)
    return np.asarray(shown[orders, kept])


def _positions(names: Sequence[str]) -> NDArray[np.int64]:
    """Map letters (or digits from 1) to positions from 0; -1 for other texts."""
    places = {letter: place for place, letter in enumerate(string.ascii_uppercase)}
    places |= {str(digit): digit - 1 for digit in range(1, 10)}
    return np.array([places.get(name.strip().upper(), -1) for name in names], dtype=np.int64)


def _positions_finding(tested: Sequence[tuple[str, PositionBias]]) -> str:
    """Return what the wrong answers of models show whose test of them is valid."""
    if not tested:
        return say("Too few wrong answers to test them for position bias.")
    rejected = [each for each in tested if each[1].error.p < 0.05 / len(tested)]
    if not rejected:
        return say(
            "The wrong answers of {models} show no significant position bias.",
            models=counted(len(tested), "tested model"),
        )
    label, bias = max(rejected, key=lambda pair: pair[1].error.chi_square)
    most = max(bias.positions, key=lambda each: each.chosen - each.expected)
    asked = max(sum(each.chosen for each in bias.positions), 1)
    letter = string.ascii_uppercase[most.position]
    chosen, even = shown_share(most.chosen / asked), shown_share(most.expected / asked)
    return say(
        "The wrong answers of {n} of {models} favor some positions. {label} deviates most: it "
        "chooses {letter} in {chosen} of its responses; an even share would be {even}.",
        n=len(rejected),
        models=counted(len(tested), "tested model"),
        label=label,
        letter=letter,
        chosen=chosen,
        even=even,
    )


def _tests(found: Sequence[tuple[str, PositionBias]]) -> Table:
    def of(test: str, what: str) -> Callable[[tuple[str, PositionBias]], float | None]:
        """A number of a test; None unless it is valid."""

        def cell(row: tuple[str, PositionBias]) -> float | None:
            made = getattr(row[1], test)
            value: float = getattr(made, what)
            return value if _is_valid(made) else None

        return cell

    tests = {"accuracy": "accuracy", noted("choice"): "choice", noted("wrong choices"): "error"}
    return table_of(
        say("Tests by model"),
        found,
        column("model", say("model"), "0"),
        *(
            each
            for name, test in tests.items()
            for each in (
                column(f"{name}_chi_square", say("{name}, chi-square", name=word(name)),
                       of(test, "chi_square"), digits=1),
                column(f"{name}_p", say("p"), of(test, "p"), unit="probability"),
            )
        ),
        column("unread", say("no choice"), "1.unread", help=say("responses without a position")),
    )  # fmt: skip


def _shares(found: Sequence[tuple[str, PositionBias]]) -> Table:
    return table_of(
        say("By position"),
        [(label, each) for label, bias in found for each in bias.positions],
        column("model", say("model"), "0"),
        column("position", say("position"), lambda row: string.ascii_uppercase[row[1].position]),
        column("right", say("right there"), "1.right",
               help=say("responses to questions with the correct option there")),
        column("accuracy", say("score"), "1.accuracy", unit="points"),
        column("chosen", say("chosen"), "1.chosen"),
        column("expected", say("if even"), lambda row: round(row[1].expected, 1), digits=1,
               help=say("choices if all positions were chosen alike")),
    )  # fmt: skip


# Accuracy by the position of the answer key, and choices by position (Table 5).


def analyze_positions(parts: Sequence[Part]) -> Analysis:
    """Return accuracy and choices by position, one row per model and position.

    A chi-square test checks for equal accuracy at all positions. Raises BadUsage if items have no
    options.
    """
    (part,) = parts
    answer_keys = part.table.answer_keys
    if not any(answer_keys):
        raise BadUsage("these items have no options, so there are no positions")
    labels = complete_everywhere(parts)
    rows: list[tuple[Cell, ...]] = []
    marks: list[Mark] = []
    tests: list[tuple[str, float]] = []
    for label in labels:
        units, values = part.block([label])
        answer_key = part.table.answer_key[units]
        test = homogeneity(values[:, 0], answer_key)
        is_tested = test.least_expected >= LEAST_EXPECTED
        if is_tested:
            tests.append((label, test.p))
        chosen = _chosen_shares(part, label)
        for code in np.unique(answer_key).tolist():
            at = np.flatnonzero(answer_key == code)
            keys = part.sheet.keys.among(units[at])
            (estimate,) = mean_estimates(values[at], equal_weights(len(at)), keys, **part.interval)
            shares = (chosen.get(answer_keys[code], 0.0), len(at) / len(units))
            rows.append((label, answer_keys[code], len(at), estimate, *shares))
            marks.append(mark_of(label, answer_keys[code], estimate))
        p = "<0.001" if test.p < 0.001 else f"{test.p:.3f}"
        said = say("chi-square {value:.1f}, df {df}", value=test.chi_square, df=test.df)
        whole = (said, say("p {p}", p=p)) if is_tested else (None, None)
        rows.append((label, word("all"), len(units), *whole, ""))
    return make_analysis(
        "position",
        say("Accuracy by position of the correct option"),
        _accuracy_finding(tests),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="position", name=say("position")),
            Column(key="n", name="n"),
            Column(key="accuracy", name=say("accuracy"), unit="points"),
            Column(key="chosen", name=say("chosen %"), unit="points"),
            Column(key="right", name=say("right %"), unit="points"),
        ),
        rows=rows,
        axes=("position of the correct option", "accuracy"),
        marks=marks,
        notes=(
            say("No test is shown where an expected count is below {least}.", least=LEAST_EXPECTED),
            say(
                "The test takes questions as independent. Later positions exist only in questions "
                "with more options, which are harder to guess: compare within one number of "
                "options before calling a difference a bias."
            ),
            *left_out(parts, labels),
        ),
    )


def _chosen_shares(part: Part, label: str) -> dict[str, float]:
    """Return the share of the model's responses that chose each answer."""
    answers: NDArray[np.int32] = part.table.answer[part.table.respondent == part.complete[label]]
    shares = np.bincount(answers, minlength=len(part.table.answers)) / len(answers)
    return dict(zip(part.table.answers, shares.tolist(), strict=True))


def _accuracy_finding(tests: Sequence[tuple[str, float]]) -> str:
    if not tests:
        return say("Too few questions to test for equal accuracy at all positions.")
    rejected = [label for label, p in tests if p < 0.05 / len(tests)]
    if not rejected:
        return say(
            "Equal accuracy at all positions is not rejected for any of {n} models.", n=len(tests)
        )
    return say(
        "Equal accuracy at all positions is rejected for {rejected} of {n} models (p below 0.05 "
        "after Bonferroni): {models}.",
        rejected=len(rejected),
        n=len(tests),
        models=listed(rejected),
    )
