"""Studies: what they find in made-up scores whose answer is known, and what they refuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from made_up import ACCURACY, Row, right_of, table_of

from proofstone.errors import BadUsage
from proofstone.page.section import section_text
from proofstone.records.runs import Estimate, Scale
from proofstone.records.scores import Respondent, ScoreTable
from proofstone.results.cli import ANALYSIS_NAMES, analysis_names
from proofstone.results.rankings import leaderboard
from proofstone.results.sections.catalogue import ANALYSES, perform_analysis
from proofstone.results.sections.parts import (
    Analysis,
    HowAsked,
    Part,
    ResponseLengths,
    figure_rows,
)
from table_texts import heads, rows

MODELS = ("lab/a", "lab/b", "lab/c")


def part_of(table: ScoreTable, *, seed: int = 0, name: str = "form-0000") -> Part:
    return Part(
        name=name, kind="composed", seed=seed, recipe={"options": "4-8"}, table=table,
        measure=ACCURACY,
    )  # fmt: skip


def form(rights: Sequence[int], *, n: int = 40, n_options: int = 5) -> ScoreTable:
    """One respondent a number: how many of ``n`` questions it has right, the first ones."""
    made: list[Row] = [row for r, right in enumerate(rights) for row in right_of(n, right, r)]
    respondents = [Respondent(name, "direct") for name in MODELS[: len(rights)]]
    return table_of(respondents, made, n_units=n, n_options=n_options)


def test_the_command_line_names_every_study() -> None:
    """The names that the command offers are the catalogue's."""
    assert tuple(ANALYSES) == ANALYSIS_NAMES
    assert analysis_names()[: len(ANALYSES)] == ANALYSIS_NAMES


def test_seeds_show_range_ranks_and_tau() -> None:
    """With 20, 12, 4 right of 40 on one seed and 22, 10, 14 on the other: the widest range is
    10 / 40, and of three pairs one is turned, so tau is (2 - 1) / 3."""
    parts = [
        part_of(form([20, 12, 4]), seed=1, name="form-1"),
        part_of(form([22, 10, 14]), seed=2, name="form-2"),
    ]
    analysis = perform_analysis("seeds", parts)
    assert analysis.finding == (
        "Over 2 seeds accuracy moves by at most 25.0 points; Kendall's tau-b between seeds is "
        "0.33 on average (lowest 0.33); 2 of 3 models change rank."
    )
    cells = {row[0]: row for row in rows(analysis)}
    sd = 100 * np.std([4 / 40, 14 / 40], ddof=1)
    assert cells["lab/c direct"][1:6] == ("10.0", "35.0", "22.5", "25.0", f"{sd:.1f}")
    assert cells["lab/a direct"][-1] == "1"
    assert cells["lab/c direct"][-1] == "2-3"


def test_seeds_of_one_model_have_no_ranks() -> None:
    """Its range alone is told; models that all score the same cannot be ranked either."""
    parts = [part_of(form([20]), seed=1), part_of(form([22]), seed=2)]
    assert "one model has no ranks" in perform_analysis("seeds", parts).finding
    alike = [part_of(form([20, 20]), seed=1), part_of(form([22, 22]), seed=2)]
    assert "ranks cannot be compared" in perform_analysis("seeds", alike).finding


def test_seeds_take_forms_of_one_recipe() -> None:
    """Forms of another recipe beside them are left alone; two such groups are named."""
    parts = [part_of(form([20]), seed=s, name=f"form-{s}") for s in (1, 2)]
    other = [replace(part, recipe={"options": "4"}, name=f"{part.name}x") for part in parts]
    assert heads(perform_analysis("seeds", [*parts, other[0]]))[1:3] == ("seed 1", "seed 2")
    with pytest.raises(BadUsage, match="2 recipes") as raised:
        perform_analysis("seeds", [*parts, *other])
    assert "form-1, form-2; form-1x, form-2x" in str(raised.value.hint)
    with pytest.raises(BadUsage, match="two or more"):
        perform_analysis("seeds", parts[:1])


def test_options_compare_the_same_questions() -> None:
    """From 30 to 10 of 40 right on the same questions is a resolved fall of 20 / 40; one that
    keeps its 12 does not fall."""
    parts = [
        part_of(form([10, 12], n_options=10), name="ten"),
        part_of(form([30, 12], n_options=4), name="four"),
    ]
    analysis = perform_analysis("options", parts)
    assert heads(analysis) == ("model", "4 options", "10 options", "change")
    assert analysis.finding.endswith("It falls for 1 of 2 models with an interval that excludes 0.")
    assert rows(analysis)[0][0] == "lab/a direct"
    assert rows(analysis)[0][3].startswith("-50.0 [-")
    assert rows(analysis)[1][3].startswith("+0.0 [")
    assert rows(analysis)[2] == ("chance", "25.0", "10.0", "")
    chance = [row for row in figure_rows(analysis.data) if row["series"] == "chance"]
    assert [(row["options"], row["accuracy"]) for row in chance] == [(4.0, 0.25), (10.0, 0.1)]


def test_options_refuse_what_is_no_sweep() -> None:
    """The same number twice, forms of mixed numbers, and forms of different questions."""
    four = part_of(form([10], n_options=4))
    with pytest.raises(BadUsage, match="one number of options"):
        perform_analysis("options", [four, four])
    mixed = form([10])
    mixed.n_options[0] = 9
    with pytest.raises(BadUsage, match="one number of options"):
        perform_analysis("options", [four, part_of(mixed)])
    with pytest.raises(BadUsage, match="same questions"):
        perform_analysis("options", [four, part_of(form([10], n=41, n_options=5))])


def test_positions_are_tested_and_counted() -> None:
    """The first 22 of 80 right, gold A to D in turn: 6, 6, 5, 5 of 20 are right; chi-square is
    20 * (2 * .025^2 + 2 * .025^2) / (.275 * .725) on 3 degrees."""
    analysis = perform_analysis("position", [part_of(form([22], n=80))])
    assert [row[:3] for row in rows(analysis)[:-1]] == [
        ("lab/a direct", letter, "20") for letter in "ABCD"
    ]
    chi_square = 20 * 4 * 0.025**2 / (0.275 * 0.725)
    assert rows(analysis)[-1][3] == f"chi-square {chi_square:.1f}, df 3"
    assert "is not rejected for any of 1 models" in analysis.finding
    biased = form([0], n=80)
    biased.value[:] = (biased.answer_key == 0).astype(float)  # right wherever A is
    assert (
        "is rejected for 1 of 1 models" in perform_analysis("position", [part_of(biased)]).finding
    )


def test_positions_with_few_expected_answers_are_not_tested() -> None:
    """10 of 40 right: 2.5 right answers are expected at each position."""
    analysis = perform_analysis("position", [part_of(form([10]))])
    assert analysis.finding == "Too few questions to test for equal accuracy at all positions."
    assert rows(analysis)[-1][3:5] == ("—", "—")
    assert "No test is shown where an expected count is below 5." in analysis.notes


def test_positions_need_options() -> None:
    """Items without a gold option have no positions."""
    table = replace(form([10]), answer_keys=("",), answer_key=np.zeros(40, dtype=np.int32))
    with pytest.raises(BadUsage, match="no options"):
        perform_analysis("position", [part_of(table)])


def test_levels_weigh_groups_alike() -> None:
    """10 of 10 right in one discipline and 0 of 30 in the other: 25 by questions, 50 by
    disciplines."""
    made = right_of(40, 10, 0) + right_of(40, 0, 1)
    table = table_of(
        [Respondent("lab/a", "direct"), Respondent("lab/b", "direct")], made, n_units=40,
        discipline=["History"] * 10 + ["Science"] * 30,
    )  # fmt: skip
    analysis = perform_analysis("levels", [part_of(table)])
    assert heads(analysis) == ("model", "sample (40)", "discipline (2)")
    assert [cell.split()[0] for cell in rows(analysis)[0][1:]] == ["25.0", "50.0"]
    assert rows(analysis)[-1] == ("tau-b with sample", "", "1.00")
    assert "by up to 25.0 points" in analysis.finding
    plain = perform_analysis("levels", [part_of(form([10]))])
    assert plain.finding == "The items have no strata, so there is one level of averaging."


def with_lengths(table: ScoreTable, tokens: Sequence[float]) -> Part:
    lengths = ResponseLengths(
        unit=table.unit, respondent=table.respondent, sample=table.sample,
        completion=np.array(tokens, dtype=np.float64),
        reasoning=np.full(len(tokens), np.nan),
    )  # fmt: skip
    return replace(part_of(table), lengths=lengths)


def test_lengths_go_by_quarters() -> None:
    """Replies of 1 to 40 tokens, the shortest ten of them right: the first quarter is all right,
    the others all wrong; right replies have 5.5 tokens on average."""
    analysis = perform_analysis("length", [with_lengths(form([10]), range(1, 41))])
    (row,) = rows(analysis)
    assert row[:5] == ("lab/a direct", "40", "20", "6", "26")
    assert [cell.split()[0] for cell in row[5:]] == ["100.0", "0.0", "0.0", "0.0"]
    assert [mark.x for mark in analysis.data.marks] == [5.5, 15.5, 25.5, 35.5]


def test_lengths_across_models_are_put_in_order() -> None:
    """Three models, the longer the better: tau-b 1; equal lengths tell nothing."""
    longer = [float(10 * (3 - r)) for r in range(3) for _ in range(40)]
    found = perform_analysis("length", [with_lengths(form([30, 20, 10]), longer)]).finding
    assert found == (
        "Responses have 10 to 30 tokens on average; Kendall's tau-b of length with accuracy over "
        "3 models is 1.00."
    )
    alike = perform_analysis("length", [with_lengths(form([30, 20, 10]), [5.0] * 120)]).finding
    assert alike.endswith("as all values are equal.")


def cell(analysis: Analysis, place: int, row: int, column: int) -> Estimate:
    found = analysis.tables[place].rows[row][column]
    assert isinstance(found, Estimate)
    return found


def test_length_and_score_on_the_same_item() -> None:
    """Of an easy item the long response is right; hard items draw longer ones and are all wrong:
    50 points for a doubling within items, over items less."""
    who = [Respondent("lab/a", "direct")]
    made: list[Row] = [
        (item, 0, sample, "answered", float(sample and item % 2 == 0))
        for item in range(40)
        for sample in range(2)
    ]
    table = table_of(who, made, n_units=40, keys=[(item, item // 4) for item in range(40)])
    tokens = [(100 if item % 2 == 0 else 400) * (1 + sample) for item, _, sample, *_ in made]
    analysis = perform_analysis("length", [with_lengths(table, tokens)])
    assert analysis.tables[1].title == "Points for a response twice as long"
    assert cell(analysis, 1, 1, 3).value == pytest.approx(0.5)
    assert cell(analysis, 1, 1, 2).value < 0.1


def test_truncated_responses_are_beside_the_accuracy_of_the_others() -> None:
    """20 of 40 right, ten of the others truncated: 50 of all, 66.7 of those that finished."""
    made = right_of(40, 20, 0, ["truncated"] * 10)
    table = table_of([Respondent("lab/a", "direct")], made, n_units=40)
    analysis = perform_analysis("length", [with_lengths(table, range(1, 41))])
    row = rows(analysis, 2)[0]
    assert row[1] == "40"
    assert [text.split()[0] for text in row[2:]] == ["25.0", "50.0", "66.7"]


def test_every_response_truncated_has_no_accuracy_of_the_others() -> None:
    made = right_of(40, 0, 0, ["truncated"] * 40)
    table = table_of([Respondent("lab/a", "direct")], made, n_units=40)
    analysis = perform_analysis("length", [with_lengths(table, range(1, 41))])
    assert rows(analysis, 2)[0][4] == "—"


def test_tokens_and_reasoning_by_group() -> None:
    """Responses of 1 to 40 tokens; half of each counts as reasoning."""
    table = table_of(
        [Respondent("lab/a", "direct")], right_of(40, 10, 0), n_units=40,
        discipline=["History"] * 15 + ["Science"] * 25,
        keys=[(item, item // 2) for item in range(40)],
    )  # fmt: skip
    part = with_lengths(table, range(1, 41))
    assert part.lengths is not None
    halves = replace(part.lengths, reasoning=part.lengths.completion / 2)
    analysis = perform_analysis("length", [replace(part, lengths=halves)])
    assert [row[2:4] for row in rows(analysis, 3)] == [("History", "15"), ("Science", "25")]
    assert cell(analysis, 3, 0, 4).value == 8
    assert cell(analysis, 3, 1, 4).value == 28
    assert cell(analysis, 3, 1, 5).value == 14
    assert cell(analysis, 3, 1, 4).low < 28 < cell(analysis, 3, 1, 4).high
    unknown = perform_analysis("length", [part])
    assert rows(unknown, 3)[0][5] == "—"


def test_equal_lengths_have_a_median_without_an_interval() -> None:
    table = table_of(
        [Respondent("lab/a", "direct")], right_of(40, 10, 0), n_units=40,
        discipline=["History"] * 20 + ["Science"] * 20,
    )  # fmt: skip
    analysis = perform_analysis("length", [with_lengths(table, [7.0] * 40)])
    assert [row[4] for row in rows(analysis, 3)] == ["7", "7"]


def test_lengths_must_be_told() -> None:
    """No usage from any endpoint, or none read."""
    for part in (part_of(form([10])), with_lengths(form([10]), [np.nan] * 40)):
        with pytest.raises(BadUsage, match="tokens"):
            perform_analysis("length", [part])


def test_who_is_not_complete_everywhere_is_named() -> None:
    """A respondent that lacks a form is left out with a note; nobody at all is refused."""
    parts = [part_of(form([20, 12]), seed=1), part_of(form([22]), seed=2)]
    analysis = perform_analysis("seeds", parts)
    assert analysis.notes[-1] == "Left out, not complete on every form here: lab/b direct."
    renamed = replace(parts[1].table, respondents=(Respondent("lab/z", "direct"),))
    with pytest.raises(BadUsage, match="no model is complete"):
        perform_analysis("seeds", [parts[0], replace(parts[1], table=renamed)])


def test_unknown_names_are_refused() -> None:
    """A study or an estimand that is none, with those there are."""
    with pytest.raises(BadUsage, match="no study 'x'"):
        perform_analysis("x", [])
    with pytest.raises(BadUsage, match="no estimand 'x'"):
        perform_analysis("levels", [], population="x")  # type: ignore[arg-type]


def test_a_study_as_text() -> None:
    """Title, finding, table, notes."""
    text = section_text(perform_analysis("levels", [part_of(form([10]))]))
    assert text == (
        "Accuracy by level of averaging\n"
        "The items have no strata, so there is one level of averaging.\n"
        "\n"
        "model                    sample (40)\n"
        "lab/a direct       25.0 [14.2, 40.2]\n"
        "tau-b with sample                   \n".replace(" " * 19 + "\n", "\n")
    )


def asked_part(settings: Sequence[dict[str, str]], rights: Sequence[int]) -> Part:
    """One respondent a group of settings, of models of 8 and then 4 billion parameters."""
    part = part_of(form(rights))
    how = [
        HowAsked(
            model=f"lab/{i // 2}",
            prompt_method="direct",
            settings=own,
            parameters_b=8.0 - 4 * (i // 2),
        )
        for i, own in enumerate(settings)
    ]
    return replace(part, asked=tuple(how))


def test_thinking_pairs_runs_that_differ_in_it_alone() -> None:
    """20 of 40 right without and 30 with: a quarter more, resolved; a run alone has no pair."""
    part = asked_part([{"thinking": "off"}, {"thinking": "on"}, {"thinking": "on"}], [20, 30, 40])
    analysis = perform_analysis("thinking", [part])
    (row,) = rows(analysis)
    assert row[:2] == ("lab/0 direct", "8")
    assert (row[2][:4], row[3][:4], row[4][:5]) == ("50.0", "75.0", "+25.0")
    assert analysis.finding == (
        "Thinking changes accuracy by +25.0 points in the median of 1 models. The interval "
        "excludes 0 for 1 that rise and 0 that fall."
    )
    assert {(mark.row, mark.x) for mark in analysis.data.marks} == {
        ("without thinking", 8.0), ("with thinking", 8.0)
    }  # fmt: skip
    alone = asked_part([{"thinking": "on"}], [20])
    with pytest.raises(BadUsage, match="both with thinking and without"):
        perform_analysis("thinking", [alone])


def test_settings_stand_side_by_side() -> None:
    """Single statements beside whole questions; the larger form of a setting speaks."""
    how = (HowAsked(model="lab/a", prompt_method="direct", settings={}),)
    statements = replace(part_of(form([30])), recipe={"setting": "statements"}, asked=how)
    small = replace(part_of(form([2], n=8)), recipe={"setting": "questions"}, asked=how)
    whole = replace(part_of(form([10])), recipe={"setting": "questions"}, asked=how)
    analysis = perform_analysis("settings", [small, statements, whole])
    assert heads(analysis) == ("model", "statements, direct", "questions, direct")
    assert [cell[:4] for cell in rows(analysis)[0][1:]] == ["75.0", "25.0"]
    assert analysis.finding == (
        "Mean accuracy of the 1 models complete in every setting: statements, direct 75.0; "
        "questions, direct 25.0."
    )
    other = replace(
        statements, asked=(HowAsked(model="lab/b", prompt_method="direct", settings={}),)
    )
    assert "No model" in perform_analysis("settings", [other, whole]).finding
    with pytest.raises(BadUsage, match="two or more"):
        perform_analysis("settings", [small, whole])


def test_shares_of_several_verdicts_are_as_sure_as_on_the_leaderboard() -> None:
    """20 questions of 4 statements, each of its own: a half of 80 verdicts, which is Wilson's
    interval at the size that the leaderboard takes. As plain scores they are 20."""
    scale = Scale(name="verdicts", what="a share", chance=0.5)
    made: list[Row] = [(i, 0, 0, "answered", (1 + i % 3) / 4) for i in range(20)]
    keys = [(i, 4 * i + n) for i in range(20) for n in range(4)]
    of_shares = table_of(
        [Respondent("lab/a", "verdicts", scale=scale)], made, n_units=20, keys=keys
    )
    part = part_of(of_shares)
    (group,) = leaderboard(of_shares, (ACCURACY,), "accuracy").standings
    (label,) = part.complete
    found = part.estimates([label])[label]
    assert found == group.ranked[0].estimate
    plain = part_of(table_of([Respondent("lab/a", "direct")], made, n_units=20, keys=keys))
    (label,) = plain.complete
    wide = plain.estimates([label])[label]
    assert (found.effective_n, wide.effective_n) == (pytest.approx(80), pytest.approx(20))


def test_shares_and_choices_together_keep_their_own_sizes() -> None:
    """Asked of one form in two ways, each is estimated as if alone."""
    scale = Scale(name="verdicts", what="a share", chance=0.5)
    who = [Respondent("lab/a", "direct"), Respondent("lab/a", "verdicts", scale=scale)]
    made: list[Row] = [(i, 0, 0, "answered", float(i % 2)) for i in range(20)]
    made += [(i, 1, 0, "answered", (1 + i % 3) / 4) for i in range(20)]
    keys = [(i, 4 * i + n) for i in range(20) for n in range(4)]
    part = part_of(table_of(who, made, n_units=20, keys=keys))
    labels = list(part.complete)
    both = part.estimates(labels)
    assert list(both) == labels
    for label in labels:
        alone = part.estimates([label])
        assert both[label] == alone[label]


def test_runs_of_other_options_are_rows_of_their_own() -> None:
    """Thinking on (58 and 72.5 are not one score), few-shot examples, a limit on tokens, a prompt
    and a judge: any that differs between rows of a model stands beside its name."""
    options = [
        HowAsked(model="lab/a", prompt_method="direct", settings={"max_tokens": 10},
        prompt="aa" * 8),
        HowAsked(
            model="lab/a", prompt_method="direct", settings={"thinking": "on", "max_tokens": 10},
            prompt="aa" * 8,
        ),
        HowAsked(model="lab/a", prompt_method="direct", settings={"max_tokens": 99},
        prompt="aa" * 8),
        HowAsked(model="lab/a", prompt_method="direct", settings={"shots": 5, "max_tokens": 10}),
        HowAsked(model="lab/b", prompt_method="direct", settings={"temperature": 1}, judge="j/one",
                 prompt="aa" * 8),
        HowAsked(model="lab/b", prompt_method="direct", settings={"temperature": 1}, judge="j/two"),
    ]  # fmt: skip
    rights = [10, 20, 30, 5, 12, 16]
    parts = [
        replace(part_of(form([right])), recipe={"setting": "questions"}, asked=(how,))
        for how, right in zip(options, rights, strict=True)
    ]
    statements = replace(options[0], prompt="cc" * 8)
    parts.append(
        replace(part_of(form([30])), recipe={"setting": "statements"}, asked=(statements,))
    )
    other = replace(options[4], prompt="bb" * 8)
    parts.append(replace(part_of(form([4])), recipe={"setting": "questions"}, asked=(other,)))
    shown = {row[0]: row[2] for row in rows(perform_analysis("settings", parts))}
    assert {name: float(cell.split()[0]) for name, cell in shown.items()} == {
        "lab/a max_tokens=10": 25.0,
        "lab/a max_tokens=10 thinking=on": 50.0,
        "lab/a max_tokens=99": 75.0,
        "lab/a max_tokens=10 shots=5": 12.5,
        "lab/b judge=j/one prompt=aaaaaaaa": 30.0,
        "lab/b judge=j/one prompt=bbbbbbbb": 10.0,
        "lab/b judge=j/two": 40.0,
    }
