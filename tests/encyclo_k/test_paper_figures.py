"""Encyclo-K's own numbers: from the method where it gives them, else where they do not add up.

The paper prints counts by discipline, not by book. Where books matter, each discipline's statements
are divided into as many books as it has subfields, so that the printed numbers of questions come
out: what is shown is that they can.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import chi2, chisquare

from proofstone.methods.encyclo_k.compose import (
    allocate,
    chance,
    group_statements,
    read_recipe,
    reuse,
)
from proofstone.methods.encyclo_k.compose import compose_items as compose
from proofstone.methods.encyclo_k.payloads import Statement
from proofstone.records.items import Item
from proofstone.records.knowledge import Fact, Stratum
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import mean_estimates
from proofstone.stats.intervals import equal_weights, group_weights

BASE = 5000


class Discipline(NamedTuple):
    """Table 1: correct and incorrect statements, subfields. Table 2: questions."""

    correct: int
    incorrect: int
    books: int
    questions: int


DISCIPLINES = {
    "Science": Discipline(5309, 5297, 14, 1242),
    "Engineering": Discipline(3744, 3742, 23, 881),
    "Literature": Discipline(3529, 3524, 8, 825),
    "Medicine": Discipline(3152, 3148, 5, 736),
    "History": Discipline(2948, 2944, 2, 686),
    "Law": Discipline(810, 810, 1, 189),
    "Economics": Discipline(526, 526, 2, 124),
    "Agriculture": Discipline(478, 477, 1, 112),
    "Education": Discipline(465, 464, 2, 109),
    "Management": Discipline(308, 307, 2, 73),
    "Philosophy": Discipline(256, 255, 2, 61),
}
CORRECT = sum(each.correct for each in DISCIPLINES.values())
QUESTIONS = [each.questions for each in DISCIPLINES.values()]


def rounded_up(base: int, correct: int) -> int:
    return -(-base * correct // CORRECT)


def divided(each: Discipline) -> list[int]:
    """The discipline's correct statements by book, about alike, so that its questions come out."""
    gained = (each.questions - BASE * each.correct / CORRECT) / each.books
    sizes: list[int] = []
    for more in range(each.books - 1, 0, -1):
        near = (each.correct - sum(sizes)) // (more + 1)
        around = range(near - 4, near + 5)
        gains = {n: rounded_up(BASE, n) - BASE * n / CORRECT for n in around}
        sizes.append(min(around, key=lambda n: abs(gains[n] - gained)))
    return [*sizes, each.correct - sum(sizes)]


@dataclass
class PaperBank:
    """A bank of the paper's counts, its texts mere numbers."""

    kept: Sequence[Fact]
    id: bytes = bytes(32)
    name: str = "paper"

    def facts(self) -> Sequence[Fact]:
        return self.kept


def statements() -> Iterator[Fact]:
    """Correct ones book by book; each but the last few of a discipline with its falsification."""
    number = 0
    for name, each in DISCIPLINES.items():
        lacking = each.correct - each.incorrect
        for book, size in enumerate(divided(each)):
            place = Stratum(name, name, f"{name} {book}", f"{name} {book}")
            for one in range(size):
                number += 1
                true, false = (f"{number} {kind}".encode().ljust(32) for kind in "tf")
                yield fact(true, Statement(text=f"{number}", correct=True), place)
                if book or one >= lacking:
                    payload = Statement(text=f"not {number}", correct=False, origin=true)
                    yield fact(false, payload, place)


def fact(identity: bytes, payload: Statement, place: Stratum) -> Fact:
    return Fact(
        id=identity, kind="encyclo_k.statement", payload=payload, language="en", stratum=place
    )


@pytest.fixture(scope="module")
def bank() -> PaperBank:
    return PaperBank(list(statements()))


@pytest.fixture(scope="module")
def form(bank: PaperBank) -> list[Item]:
    return list(compose(bank, {}, 1))


# ------------------------------------------------------------ how many questions


def test_rounding_up_by_book_gives_the_papers_questions_in_all_disciplines(
    bank: PaperBank,
) -> None:
    """Table 2: 5,038 questions of 62 books, from a base of 5,000 before rounding."""
    recipe = read_recipe({})
    found: Counter[str] = Counter()
    groups = group_statements(bank.facts(), recipe)
    for group, questions in allocate(groups, recipe):
        found[group.stratum.discipline] += questions
    assert len(groups) == 62
    assert found == {name: each.questions for name, each in DISCIPLINES.items()}
    assert found.total() == 5038
    assert len(bank.facts()) == 21_525 + 21_494 == 43_019


def test_rounding_up_by_discipline_gives_no_5038() -> None:
    """The paper's words; with 11 disciplines, no base from 4,900 to 5,100 gives its total."""
    totals = {
        base: sum(rounded_up(base, each.correct) for each in DISCIPLINES.values())
        for base in range(4900, 5101)
    }
    assert 5038 not in totals.values()


# ------------------------------------------------------------ what questions look like


@pytest.mark.parametrize(
    ("printed", "low", "high"), [(8.98, 8, 10), (6.00, 4, 8), (3.01, 2, 4)], ids=str
)
def test_the_papers_averages_are_those_of_uniform_draws(
    printed: float, low: int, high: int
) -> None:
    """Table 2: statements, options, combinations; within two standard errors of the middle."""
    n_values = high - low + 1
    error = sqrt((n_values**2 - 1) / 12 / 5038)
    assert abs(printed - (low + high) / 2) < 2 * error


def test_a_form_of_the_papers_size_uses_its_statements_evenly(form: list[Item]) -> None:
    """More places than statements, as in the paper: 5,038 questions of 8.98 have 45,241 for
    43,019. So some are used twice, and none three times before all of its book are used."""
    assert round(5038 * 8.98) == 45_241
    used = reuse(form)
    assert len(form) == 5038
    assert used.places == sum(len(item.facts) for item in form)
    assert abs(used.places - 9 * 5038) < 3 * sqrt(5038 * 2 / 3)
    assert used.statements > 0.98 * 43_019
    assert (used.least, used.most) == (1, 2)


# Table 5: questions by gold position, A to H, and accuracy there (percent).
POSITIONS = (880, 877, 913, 884, 657, 435, 262, 130)
TABLE_5 = {
    "Gemini-2.5-Pro": (55.11, 59.98, 62.54, 62.56, 55.86, 56.09, 53.05, 64.62),
    "DeepSeek-R1": (46.36, 55.30, 51.92, 46.72, 47.34, 46.67, 44.66, 43.85),
    "Qwen3-32B": (23.41, 42.19, 42.06, 44.91, 38.36, 32.64, 33.59, 30.00),
}


def expected_positions() -> list[float]:
    """Shares of gold at A to H: uniform over the options, of which there are 4 to 8 alike."""
    return [sum(1 / n for n in range(max(4, place), 9)) / 5 for place in range(1, 9)]


def test_the_papers_gold_positions_fit_options_uniform_from_4_to_8() -> None:
    assert sum(POSITIONS) == 5038
    fit = chisquare(POSITIONS, [5038 * share for share in expected_positions()])
    assert round(float(fit.pvalue), 2) == 0.97


def test_a_forms_gold_positions_fit_the_same(form: list[Item]) -> None:
    placed = Counter(item.payload.answer_key for item in form)
    counts = [placed[place] for place in range(8)]
    assert chisquare(counts, [5038 * share for share in expected_positions()]).pvalue > 0.01


def test_chance_is_that_of_the_option_counts(form: list[Item]) -> None:
    """Mean of 1/4 to 1/8: 17.7 points of 100, which several of the paper's models stay below."""
    expected = sum(1 / n for n in range(4, 9)) / 5
    assert round(100 * expected, 1) == 17.7
    assert chance(form) == pytest.approx(expected, abs=0.002)


# ------------------------------------------------------------ tokens and totals

# Table 1: statements in all, English, Chinese, average tokens. Table 2: average tokens of a
# question, statements, options, combination.
AVERAGES = {
    "Science": ((10606, 7317, 3289, 316.56), (2992.46, 8.99, 5.98, 3.00)),
    "Engineering": ((7486, 4972, 2514, 303.03), (2840.50, 9.01, 6.06, 3.02)),
    "Literature": ((7053, 1877, 5176, 456.15), (4169.00, 8.99, 5.96, 3.01)),
    "Medicine": ((6300, 5420, 880, 295.06), (2780.22, 9.01, 6.00, 2.99)),
    "History": ((5892, 4392, 1500, 311.24), (2883.96, 8.96, 6.10, 3.03)),
    "Law": ((1620, 1620, 0, 292.17), (2854.86, 9.04, 6.05, 2.99)),
    "Economics": ((1052, 354, 698, 318.28), (3026.01, 8.98, 6.22, 3.04)),
    "Agriculture": ((955, 955, 0, 233.48), (2201.90, 8.94, 5.86, 2.99)),
    "Education": ((929, 929, 0, 257.88), (2394.45, 8.92, 5.61, 3.02)),
    "Management": ((615, 158, 457, 499.34), (4527.04, 8.90, 6.12, 3.04)),
    "Philosophy": ((511, 54, 457, 464.15), (4074.30, 8.74, 6.07, 3.01)),
}


def over_all(place: int) -> float:
    """Table 2's averages of disciplines, weighted by their questions."""
    means = [row[place] for _, row in AVERAGES.values()]
    return sum(n * mean for n, mean in zip(QUESTIONS, means, strict=True)) / sum(QUESTIONS)


def test_table_1_adds_up_but_for_three_statements_languages() -> None:
    """43,019 statements of 333.59 tokens. Disciplines have 28,048 English and 14,971 Chinese
    ones; the last row prints 28,045 and 14,974."""
    rows = [row for row, _ in AVERAGES.values()]
    total, english, chinese = (sum(row[place] for row in rows) for place in range(3))
    assert all(row[0] == row[1] + row[2] for row in rows)
    assert (total, english, chinese) == (43_019, 28_045 + 3, 14_974 - 3)
    assert round(sum(row[0] * row[3] for row in rows) / total, 2) == 333.59


def test_table_2s_last_row_is_not_quite_the_mean_of_its_questions() -> None:
    """By question, its disciplines give 3,113.26 tokens and 6.01 options, and at most half a
    hundredth off either way; printed are 3,113.05 and 6.00."""
    assert abs(over_all(0) - 3113.26) < 0.005
    assert abs(over_all(0) - 3113.05) > 2 * 0.005
    assert over_all(2) - 0.005 > 6.005
    assert abs(over_all(1) - 8.98) < 2 * 0.005


def test_combinations_are_counted_over_all_options() -> None:
    """Sizes are uniform on 2 to 4 (variance 2/3). Eleven averages of the right options alone would
    differ from 3 by more than they do (p < 0.01); averages over all options differ as these do."""
    off = [(row[3] - 3) ** 2 / (2 / 3) for _, row in AVERAGES.values()]
    shown = [row[2] for _, row in AVERAGES.values()]
    right = sum(n * square for n, square in zip(QUESTIONS, off, strict=True))
    every = sum(n * k * square for n, k, square in zip(QUESTIONS, shown, off, strict=True))
    assert chi2.cdf(right, df=11) < 0.01
    assert 0.05 < chi2.cdf(every, df=11) < 0.95


def test_a_question_has_115_tokens_besides_its_statements() -> None:
    """Table 2's tokens less its statements times Table 1's tokens: sentence, numerals, options."""
    besides = [
        n * (tokens - statements * each)
        for n, ((_, _, _, each), (tokens, statements, _, _)) in zip(
            QUESTIONS, AVERAGES.values(), strict=True
        )
    ]
    assert round(sum(besides) / sum(QUESTIONS)) == 115


# ------------------------------------------------------------ what models scored


def right_of(cells: Sequence[float], sizes: Sequence[int]) -> list[int]:
    """Numbers of right answers, from percentages."""
    return [round(cell * n / 100) for cell, n in zip(cells, sizes, strict=True)]


# Table 3 by discipline in the order above, and Table 4: sample-wise, discipline-wise.
TABLE_3_AND_4 = {
    "GPT-5.1": (
        (64.09, 66.74, 55.15, 65.08, 51.17, 70.37, 70.16, 56.25, 73.39, 68.49, 73.77),
        (62.07, 64.97),
    ),
    "Gemini-3-Pro": (
        (62.56, 63.00, 56.97, 65.08, 57.43, 64.02, 74.19, 51.79, 69.72, 67.12, 65.57),
        (61.75, 63.41),
    ),
    "Gemini-2.5-Pro": (
        (61.35, 58.12, 55.64, 61.96, 51.17, 66.67, 68.55, 46.43, 70.64, 61.64, 72.13),
        (58.93, 61.30),
    ),
    "o3": (
        (60.95, 63.22, 49.70, 65.35, 47.52, 57.67, 62.90, 52.68, 75.23, 56.16, 65.57),
        (58.36, 59.72),
    ),
    "Qwen3-235B-Instruct": (
        (53.30, 51.42, 48.97, 52.17, 43.59, 47.62, 56.45, 34.82, 56.88, 43.84, 72.13),
        (50.40, 51.02),
    ),
    "Kimi-K2": (
        (47.99, 43.47, 44.85, 45.79, 40.96, 36.51, 50.00, 30.36, 49.54, 39.73, 57.38),
        (44.66, 44.23),
    ),
    "DeepSeek-V3.1": (
        (40.98, 43.93, 45.58, 45.79, 38.19, 40.74, 46.77, 28.57, 53.21, 27.40, 57.38),
        (42.70, 42.59),
    ),
}


@pytest.mark.parametrize("model", TABLE_3_AND_4)
def test_the_coarser_levels_of_table_4_are_plain_means_of_groups(model: str) -> None:
    """Table 3's cells as right answers give Table 4's first and last rows to two decimals."""
    cells, (by_sample, by_discipline) = TABLE_3_AND_4[model]
    right = right_of(cells, QUESTIONS)
    values = np.concatenate([np.arange(n) < k for n, k in zip(QUESTIONS, right, strict=True)])
    levels = [equal_weights(5038), group_weights(np.repeat(np.arange(11), QUESTIONS))]
    column, keys = values.astype(float)[:, None], SharedKeys.none(5038)
    found = [
        round(100 * mean_estimates(column, level, keys, population="bank")[0].value, 2)
        for level in levels
    ]
    assert found == [by_sample, by_discipline]


@pytest.mark.parametrize(
    ("model", "average", "statistic"),
    [("Gemini-2.5-Pro", 58.93, 24.9), ("DeepSeek-R1", 48.99, 26.4), ("Qwen3-32B", 37.28, 121.2)],
)
def test_table_5_shows_a_position_effect(model: str, average: float, statistic: float) -> None:
    """Its cells give Table 3's averages, and reject equal accuracy: with 7 degrees of freedom a
    chi-square above 18.5 has p < 0.01. The paper reads them as no significant effect."""
    right = np.array(right_of(TABLE_5[model], POSITIONS))
    wrong = np.array(POSITIONS) - right
    share = right.sum() / 5038
    assert round(100 * share, 2) == average
    expected = np.outer([share, 1 - share], POSITIONS)
    found = chisquare(np.array([right, wrong]).ravel(), expected.ravel(), ddof=8)
    assert round(float(found.statistic), 1) == statistic
    assert found.pvalue < 0.01
