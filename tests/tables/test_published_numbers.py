"""Numbers that the papers print, recomputed from other numbers that they print."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable

import numpy as np
import pytest
from tools.resolved import ROOT

from proofstone.page.section import Section
from proofstone.results.audit.audit import Asked, audit_files
from proofstone.stats.ranks import homogeneity

DATA = ROOT / "docs" / "data"
KINA = "kina-table-3"
DISCRIMINATION = """
Agronomy 50.56 5.47 10.81 61.88 43.75 18.13
Economics 43.31 5.57 12.85 52.21 34.56 17.65
Education 40.89 7.64 18.69 52.42 29.84 22.58
Engineering 44.97 4.67 10.39 53.17 38.88 14.29
History 25.96 8.99 34.63 42.31 11.54 30.77
Law 45.69 5.56 12.16 54.23 37.31 16.92
Literature_&_Arts 45.42 10.61 23.37 65.00 32.69 32.31
Management 45.09 8.63 19.14 62.93 30.17 32.76
Medicine 37.13 5.69 15.34 49.69 30.25 19.44
Philosophy 26.54 7.19 27.08 36.54 15.38 21.16
Science 48.21 3.50 7.27 52.99 43.16 9.83
Sociology 37.10 11.19 30.17 61.84 23.68 38.16
"""
WEB_SEARCH = """
GPT-5.4-Med. 48.55 50.33 +1.78
GPT-5.4-High 48.86 50.36 +1.50
GPT-5.2 39.52 43.66 +4.14
Gemini-3.1-Pro 53.17 58.34 +5.17
Claude-Opus-4.6 49.92 52.53 +2.61
"""
LEVELS = {
    "OpenAI-GPT-5.1-high": ("62.07", "64.97"),
    "Gemini-3-Pro-Preview-Exp": ("61.75", "63.41"),
    "Gemini-2.5-Pro": ("58.93", "61.30"),
    "OpenAI-o3-high.code": ("58.36", "59.72"),
    "Qwen3-235B-A22B-Instruct-2507": ("50.40", "51.02"),
    "Kimi-K2-Instruct-0905": ("44.66", "44.23"),
    "DeepSeek-V3.1-Terminus-non-thinking": ("42.70", "42.59"),
}
PLACES = [880, 877, 913, 884, 657, 435, 262, 130]
POSITIONS = {
    "Gemini-2.5-Pro": ("58.93", 24.9, [55.11, 59.98, 62.54, 62.56, 55.86, 56.09, 53.05, 64.62]),
    "DeepSeek-R1": ("48.99", 26.4, [46.36, 55.30, 51.92, 46.72, 47.34, 46.67, 44.66, 43.85]),
    "Qwen3-32B": ("37.28", 121.2, [23.41, 42.19, 42.06, 44.91, 38.36, 32.64, 33.59, 30.00]),
}


def rows_of(name: str) -> list[dict[str, str]]:
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def section(name: str, table: str, asked: Asked = Asked()) -> Section:  # noqa: B008 - frozen
    audit = audit_files([DATA / f"{table}.csv"], asked)
    return next(each for each in audit.sections if each.name == name)


def lines_of(printed: str) -> list[list[str]]:
    return [line.split() for line in printed.strip().splitlines()]


# ---------------------------------------------------------------- KINA


def test_the_overall_column_is_the_mean_of_the_disciplines_weighted_by_items() -> None:
    found = section("consistency", KINA, Asked(runs=4))
    assert found.finding.startswith(
        "ALL: mean of the groups weighted by their items: 40 of 42 rows agree within rounding. "
        "5 printed numbers disagree with the others"
    )
    assert [row[:2] for row in found.tables[0].rows] == [
        ("Claude-Opus-4.6", "Science"),
        ("Qwen3-32B", "ALL"),
        ("Qwen3-32B", "Engineering"),
        ("Qwen3-32B", "Science"),
        ("Llama-3-70B-Instruct", "Science"),
    ]


def test_the_science_cell_of_claude_opus_is_a_misprint_of_51() -> None:
    """With 51.00 the row gives the overall score printed; four runs of 201 items have no 51.06."""
    rows = rows_of(KINA)
    counts = {name: int(n) for name, n in rows[-1].items() if name != "model"}
    opus = next(row for row in rows if row["model"] == "Claude-Opus-4.6")
    scores = {name: float(cell) for name, cell in opus.items() if name not in ("model", "ALL")}
    scores["Science"] = 51.00
    mean = sum(counts[name] * score for name, score in scores.items()) / counts["ALL"]
    assert f"{mean:.2f}" == "49.92"
    possible = {f"{100 * right / 804:.2f}" for right in range(805)}
    assert "51.06" not in possible
    assert "51.00" in possible


def test_table_7_follows_from_table_3_but_for_two_numbers() -> None:
    """Table 3 is rounded, so that a recomputed number may be a hundredth off at a half."""
    found = {row[0]: row for row in section("spread", KINA).tables[0].rows}
    misprints = []
    for name, *printed in lines_of(DISCRIMINATION):
        _, _n, mean, sd, cv, high, low, spread, *_ = found[name.replace("_", " ")]
        ours = [100 * mean, 100 * sd, cv, 100 * high, 100 * low, 100 * spread]
        names = ("mean", "SD", "CV", "max", "min", "range")
        misprints += [
            (name, what, cell, f"{value:.2f}")
            for what, cell, value in zip(names, printed, ours, strict=True)
            if abs(float(cell) - value) > 0.0051
        ]
    assert misprints == [("Science", "SD", "3.50", "3.51"), ("Science", "CV", "7.27", "7.28")]


def test_ten_equal_models_would_spread_by_37_points_over_13_items() -> None:
    found = {row[0]: row for row in section("spread", KINA).tables[0].rows}
    _, n, *_, spread, by_chance, _, p = found["History"]
    assert (n, f"{100 * spread:.2f}", f"{100 * by_chance:.0f}") == (13, "30.77", "37")
    assert p > 0.5


def test_gains_from_web_search_follow_from_their_columns() -> None:
    for _model, direct, web, gain in lines_of(WEB_SEARCH):
        assert f"{float(web) - float(direct):+.2f}" == gain


@pytest.mark.parametrize(
    ("family", "sizes", "printed"),
    [
        ("Qwen3", ["0.6", "1.7", "4", "8", "14", "32"], "7.56"),
        ("Qwen3.5", ["0.8", "2", "4", "9", "27"], "14.81"),
    ],
)
def test_slopes_of_figure_3_are_least_squares_of_dense_models(
    family: str, sizes: list[str], printed: str
) -> None:
    scores = {row["model"]: float(row["ALL"]) for row in rows_of(KINA)}
    points = [scores[f"{family}-{size}B"] for size in sizes]
    slope = np.polyfit(np.log10([float(size) for size in sizes]), points, 1)[0]
    assert f"{slope:.2f}" == printed


# ---------------------------------------------------------------- Chinese SimpleQA


def cga(correct: float, wrong: float) -> float:
    return 100 * correct / (correct + wrong)


def f_score(correct: float, wrong: float) -> float:
    given = cga(correct, wrong)
    return 2 * correct * given / (correct + given)


def ends(printed: str, digits: int) -> tuple[float, float]:
    """The least and greatest numbers that are printed like this."""
    half = 0.5 * 10.0**-digits
    return float(printed) - half - 1e-9, float(printed) + half + 1e-9


def fits(measure: Callable[[float, float], float], column: str, row: dict[str, str]) -> bool:
    """Whether some numbers that are printed like CO and IN give one printed like the measure."""
    low, high = ends(row[column], 1)
    (co_low, co_high), (in_low, in_high) = (ends(row[name], 1) for name in ("CO", "IN"))
    return measure(co_low, in_high) <= high and measure(co_high, in_low) >= low


def fit_both(row: dict[str, str]) -> bool:
    return fits(cga, "CGA", row) and fits(f_score, "F", row)


def total(row: dict[str, str]) -> float:
    return sum(float(row[name]) for name in ("CO", "NA", "IN"))


def test_all_rows_of_table_2_fit() -> None:
    rows = rows_of("chinese-simpleqa-table-2")
    assert len(rows) == 42
    assert all(fit_both(row) for row in rows)
    assert all(abs(total(row) - 100) < 0.16 for row in rows)


def test_table_3_is_of_331_questions_but_for_two_cells() -> None:
    """The drop of GPT-3.5 follows from its printed 48.20, those of the others from the counts."""
    wrong = []
    for row in rows_of("chinese-simpleqa-table-3"):
        if row["model"] == "n":
            continue
        counts = {
            form: round(float(row[form]) / 100 * 331) for form in ("options", "shuffled", "open")
        }
        wrong += [
            (row["model"], form)
            for form, right in counts.items()
            if f"{100 * right / 331:.2f}" != row[form]
        ]
        of = counts if row["model"] != "GPT-3.5" else {form: float(row[form]) for form in counts}
        assert f"{100 * (of['options'] - of['open']) / of['options']:.2f}" == row["drop"]
    assert wrong == [("Baichuan3-turbo", "shuffled"), ("GPT-3.5", "options")]


def test_table_4_fits_in_all_but_one_row_and_its_na_mostly_does_not() -> None:
    rows = rows_of("chinese-simpleqa-table-4")
    unfit = [(row["model"], row["search"]) for row in rows if not fit_both(row)]
    assert unfit == [("Qwen2.5-72B", "Baidu")]
    wrong = [(row["model"], row["search"]) for row in rows if abs(total(row) - 100) > 0.16]
    models = list(dict.fromkeys(row["model"] for row in rows))
    without = [(model, "none") for model in models if not model.startswith("GPT")]
    google = [(model, "Google") for model in models]
    baidu = [(f"Qwen2.5-{size}B", "Baidu") for size in (32, 7, 3)]
    assert sorted(wrong) == sorted(without + google + baidu)


# ---------------------------------------------------------------- BeQu


def test_f1_follows_from_precision_and_recall_but_for_two_rows() -> None:
    misprints = {}
    for row in rows_of("bequ-leaderboard")[:-1]:
        precision, recall = float(row["precision"]) / 100, float(row["recall"]) / 100
        f1 = 2 * precision * recall / (precision + recall)
        if f"{f1:.3f}" != row["F1"]:
            misprints[row["model"]] = (row["F1"], f"{f1:.3f}")
    assert misprints == {
        "Gemini 3.1 Pro": ("0.401", "0.400"),
        "Mistral Large": ("0.396", "0.395"),
    }


# ---------------------------------------------------------------- Encyclo-K


def test_the_average_counts_each_question_the_same() -> None:
    found = section("consistency", "encyclo-k-table-3")
    assert found.finding.startswith(
        "all: mean of the groups weighted by their items: 58 of 58 rows agree within rounding. "
        "No misprint found"
    )
    *models, n = rows_of("encyclo-k-table-3")
    for row in models:
        for name, cell in row.items():
            if name != "model":
                right = round(float(cell) / 100 * int(n[name]))
                assert f"{100 * right / int(n[name]):.2f}" == cell


def test_averages_by_discipline_are_plain_means() -> None:
    *models, n = rows_of("encyclo-k-table-3")
    disciplines = [name for name in n if name not in ("model", "all")]
    seen = 0
    for row in models:
        if row["model"] in LEVELS:
            exact = [
                round(float(row[name]) / 100 * int(n[name])) / int(n[name]) for name in disciplines
            ]
            mean = 100 * sum(exact) / len(exact)
            assert (row["all"], f"{mean:.2f}") == LEVELS[row["model"]]
            seen += 1
    assert seen == len(LEVELS)


@pytest.mark.parametrize("model", POSITIONS)
def test_equal_accuracy_at_all_positions_is_rejected(model: str) -> None:
    """The eight positions add up to 5,038 questions and give back the model's average."""
    average, chi_square, printed = POSITIONS[model]
    assert sum(PLACES) == 5038
    right = [round(share / 100 * size) for share, size in zip(printed, PLACES, strict=True)]
    assert f"{100 * sum(right) / 5038:.2f}" == average
    values = np.concatenate(
        [np.arange(size) < k for k, size in zip(right, PLACES, strict=True)]
    ).astype(np.float64)
    test = homogeneity(values, np.repeat(np.arange(8, dtype=np.int32), PLACES))
    assert (f"{test.chi_square:.1f}", test.df) == (f"{chi_square}", 7)
    assert test.p < 0.001


# ---------------------------------------------------------------- ELAIPBench


def test_groups_of_one_table_do_not_add_up() -> None:
    found = section("consistency", "elaipbench-table-2")
    assert {row[:2] + row[3:5] for row in found.tables[0].rows} == {
        ("n", "NLP", "220", "205"),
        ("GPT-4o-0806 + CoT", "SA-MCQ or MA-MCQ", "12.50 or 22.54", "35.23 or 28.89"),
        (
            "Qwen3-32B",
            "Easy or Moderate or Hard",
            "82.35 or 75.23 or 0.48",
            "81.18 or 74.31 or 0.00",
        ),
        (
            "Qwen3-235B-A22B-thinking",
            "Easy or Moderate or Hard",
            "57.65 or 22.94 or 0.48",
            "61.18 or 25.69 or 1.91",
        ),
    }


# Table 1: questions and their mean tokens by type, difficulty and discipline.
GROUPS_OF_TABLE_1 = (
    ((88, 163.80), (315, 133.57)),
    ((85, 140.05), (109, 139.82), (209, 140.40)),
    ((129, 138.06), (54, 139.44), (220, 141.59)),
)


@pytest.mark.parametrize("groups", GROUPS_OF_TABLE_1)
def test_counts_and_lengths_of_table_1_agree(groups: tuple[tuple[int, float], ...]) -> None:
    """Each grouping gives 403 questions of 140.17 tokens; so 220, not Table 2's 205, of NLP."""
    n = sum(size for size, _mean in groups)
    total = sum(size * mean for size, mean in groups)
    assert n == 403
    assert f"{total / n:.2f}" == "140.17"
    if groups[-1][0] == 220:
        with_205 = total - 15 * groups[-1][1]
        assert f"{with_205 / 388:.2f}" == "140.12"


def test_papers_of_table_4_and_their_questions() -> None:
    """All but one of A.4's figures follow: 315 questions on 137 papers are 2.30 each, not 2.31."""
    papers = np.array([[11, 9, 15], [9, 4, 11], [15, 17, 46]])
    assert papers.sum() == 137
    assert f"{88 / 137:.2f}" == "0.64"
    assert f"{315 / 137:.2f}" == "2.30"
    assert [n for n in range(138) if f"{100 * n / 137:.0f}" == "76"] == [104]


def test_shares_of_letters_tell_how_many_options_are_correct() -> None:
    """Only 843 correct options give all four shares: 88 single ones, so 755 over 315 questions."""
    printed = ("26.45", "26.10", "24.20", "23.25")
    fitting = {}
    for total in range(88 + 2 * 315, 88 + 3 * 315 + 1):
        counts = [round(float(share) * total / 100) for share in printed]
        if sum(counts) == total:
            shares = tuple(f"{100 * count / total:.2f}" for count in counts)
            if shares == printed:
                fitting[total] = counts
    assert fitting == {843: [223, 220, 204, 196]}
    triples = 755 - 2 * 315
    assert (triples, 315 - triples) == (125, 190)


def test_people_are_right_in_time_on_85_questions_and_at_all_on_194() -> None:
    """48.14% is the share at all. The paper's text says that it is within 20 minutes."""
    easy, moderate, every = 85, 109, 403
    assert f"{100 * easy / every:.2f}" == "21.09"
    assert f"{100 * (easy + moderate) / every:.2f}" == "48.14"
    by_type, by_discipline = (50 / 88, 144 / 315), (59 / 129, 28 / 54, 107 / 205)
    assert [f"{100 * share:.2f}" for share in by_type] == ["56.82", "45.71"]
    assert [f"{100 * share:.2f}" for share in by_discipline] == ["45.74", "51.85", "52.20"]
    assert 50 + 144 == 59 + 28 + 107 == easy + moderate


def test_chance_under_strict_match() -> None:
    """One of the sets that a question admits: 1/4 for one option, 1/10 for two or three of four."""
    admissible = math.comb(4, 2) + math.comb(4, 3)
    assert admissible == 10
    assert f"{100 * (88 / 4 + 315 / admissible) / 403:.2f}" == "13.28"
