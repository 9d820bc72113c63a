"""``report --analysis alignment``: base models beside the chat models made from them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_up import ACCURACY, right_of, table_of

from proofstone.errors import BadUsage
from proofstone.records.runs import Measure
from proofstone.records.scores import Respondent
from proofstone.results.sections.catalogue import perform_analysis
from proofstone.results.sections.parts import HowAsked, Part, figure_rows
from table_texts import heads, rows

N = 100
# Of replies with a grade, the share of right ones among those counted double: as F is.
WEIGHTED = Measure(
    name="weighted", of=ACCURACY.of, counts=ACCURACY.counts, denominator="x", label="W",
    weights={"answered": 2.0},
)  # fmt: skip


def part(**rights: int | tuple[int, str, str, float]) -> Part:
    """A respondent a model: how many of 100 it has right, and of its card kind, family and size."""
    made, models, asked = [], [], []
    for place, (name, told) in enumerate(rights.items()):
        right, kind, family, size = told if isinstance(told, tuple) else (told, "", "", 0.0)
        made += right_of(N, right, place)
        models.append(Respondent(name.replace("_", "-"), "direct"))
        asked.append(HowAsked(name.replace("_", "-"), "direct", {}, size or None, kind, family))
    table = table_of(models, made, n_units=N, n_options=0)
    return Part(
        name="form", kind="x", seed=0, recipe={}, table=table, measure=ACCURACY,
        others=(WEIGHTED,), asked=tuple(asked),
    )  # fmt: skip


def test_names_tell_pairs_and_each_measure_has_its_paired_difference() -> None:
    """60 of 100 before, 50 after, the same fifty: ten fall, and none rises."""
    analysis = perform_analysis("alignment", [part(m_base=60, m_instruct=50, other=10)])
    assert heads(analysis) == ("base > chat", "measure", "questions", "base", "chat", "chat - base")
    (first, second) = rows(analysis)
    name = "m-base direct > m-instruct direct"
    assert first[:3] == (name, "accuracy", "100")
    assert [cell.split()[0] for cell in first[3:]] == ["60.0", "50.0", "-10.0"]
    assert second[:2] == (name, "W")
    assert second[-1].split()[0] == "-10.0"
    assert analysis.finding == (
        "Chat training changes accuracy by -10.0 points in the one pair. The interval excludes 0 "
        "for 1 that fall and 0 that rise."
    )
    assert analysis.notes[-1] == "In no pair: other direct."
    assert [(row["series"], row["n"]) for row in figure_rows(analysis.data)] == [
        ("accuracy", N), ("W", N),
    ]  # fmt: skip
    assert figure_rows(analysis.data)[0]["chat less base"] == pytest.approx(-0.1)


def test_cards_tell_pairs_that_names_do_not() -> None:
    """One family and size, one base, one chat model; another size is no pair."""
    made = part(foo=(40, "base", "f", 7.0), bar=(45, "chat", "f", 7.0), big=(70, "chat", "f", 70.0))
    analysis = perform_analysis("alignment", [made])
    assert {row[0] for row in rows(analysis)} == {"foo direct > bar direct"}


def test_pairs_are_named_where_nothing_tells_them() -> None:
    made = part(foo=40, bar=45, baz=50)
    with pytest.raises(BadUsage, match="no base model is here"):
        perform_analysis("alignment", [made])
    analysis = perform_analysis("alignment", [made], pairs=("foo=bar", "foo = baz"))
    assert [row[0] for row in rows(analysis)[::2]] == [
        "foo direct > bar direct", "foo direct > baz direct",
    ]  # fmt: skip
    assert "in the median of 2 pairs" in analysis.finding


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["foo"], "'foo' is not a pair"),
        (["foo="], "'foo=' is not a pair"),
        (["foo=nobody"], "nobody: not complete here"),
    ],
)
def test_what_is_no_pair_is_refused(pairs: list[str], message: str) -> None:
    with pytest.raises(BadUsage, match=message):
        perform_analysis("alignment", [part(foo=1, bar=2)], pairs=pairs)


def test_an_option_of_another_study_is_refused() -> None:
    with pytest.raises(BadUsage, match="analysis 'levels' takes no --base-models"):
        perform_analysis("levels", [part(foo=1, bar=2)], pairs=["foo=bar"])


def _asked_as(made: Part, **changes: tuple[str, int]) -> Part:
    """The same with each model's judge and number of few-shot examples."""
    asked = []
    for how in made.asked:
        judge, shots = changes[how.model.replace("-", "_")]
        asked.append(replace(how, judge=judge, settings={"shots": shots}))
    return replace(made, asked=tuple(asked))


def test_a_base_model_is_compared_under_one_judge() -> None:
    """A chat model that another judge graded is no partner; without one there is no study."""
    made = part(m_base=60, m_instruct=50)
    apart = _asked_as(made, m_base=("lab/strict", 5), m_instruct=("lab/lenient", 0))
    with pytest.raises(BadUsage, match="graded by one judge"):
        perform_analysis("alignment", [apart])
    with pytest.raises(BadUsage, match="graded by one judge"):
        perform_analysis("alignment", [apart], pairs=["m-base=m-instruct"])
    same = _asked_as(made, m_base=("lab/strict", 5), m_instruct=("lab/strict", 0))
    assert "Graded by lab/strict." in perform_analysis("alignment", [same]).notes


def test_the_study_says_with_how_many_examples_models_were_asked() -> None:
    """Not "by worked examples" where there were none."""
    made = part(m_base=60, m_instruct=50)
    shown = _asked_as(made, m_base=("", 5), m_instruct=("", 0))
    (note, *_) = perform_analysis("alignment", [shown]).notes
    assert "completed one text (5-shot), chat models answered by their template (0-shot)" in note
    (note, *_) = perform_analysis("alignment", [made]).notes
    assert "completed one text (0-shot)" in note
