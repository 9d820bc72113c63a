"""Half a page for a decision: each sentence against a second computation, as HTML and as PDF."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pypdfium2
import pytest
import typst
from msgspec import structs

from proofstone.errors import BadUsage, ExtraMissing
from proofstone.records.runs import Spent
from proofstone.records.scores import Respondent
from proofstone.results.brief import (
    Brief,
    BriefAsked,
    brief_bytes,
    brief_html,
    brief_pdf,
    check_brief,
    make_brief,
)
from proofstone.results.sections.evidence import Evidence
from proofstone.wording.messages import speaking
from report.made_up import Row, right_of, table_of
from report.test_opening_of_page import PRICED, asked, close
from report.test_sections import accuracies, evidence_of, three
from told import Proofstone


def parts_of(brief: Brief) -> dict[str, str]:
    return {part.label: part.text for part in brief.parts}


def made(*right: int, n: int = 40, settings: tuple[str, ...] = ()) -> Evidence:
    """Models m0, m1, ... right on the first ``right`` of ``n`` items."""
    rows = [row for who, count in enumerate(right) for row in right_of(n, count, who)]
    names = settings or tuple("" for _ in right)
    respondents = [
        Respondent(f"m{0 if settings else who}", "direct", settings=names[who])
        for who in range(len(right))
    ]
    return evidence_of(table_of(respondents, rows, n_units=n))


def texts_of(pdf: bytes) -> str:
    page = pypdfium2.PdfDocument(pdf)
    return "\n".join(sheet.get_textpage().get_text_range() for sheet in page)


def test_a_significant_leader_is_said_to_be_one() -> None:
    """36, 20 and 19 of 40: m0 is ahead of both by 40 points and more."""
    evidence = three()
    brief = make_brief(evidence, "Facts")
    (group,) = evidence.board.standings
    leads = [pair for pair in group.compared if 0 in (pair.first, pair.second)]
    assert len(leads) == 2
    assert all(pair.p_holm < 0.05 for pair in leads)
    assert brief.answer == (
        f"strong ranks first with {100 * 36 / 40:.1f}%. Its lead over every other model is "
        "statistically significant."
    )
    assert parts_of(brief)["Certainty"] == (
        "Differences are tested at 5%, Holm-adjusted for 3 pairs. strong is significantly ahead of "
        f"middle, by {100 * (36 - 20) / 40:.1f} points. The interval of strong is above the chance "
        "level (20.0%)."
    )
    assert parts_of(brief)["Next step"] == (
        "No more questions are needed to establish that strong is first on this test."
    )


def test_ties_are_counted_and_none_is_called_best() -> None:
    """36 and 33 of 40 do not differ significantly, 12 of 40 is behind both."""
    evidence = evidence_of(close(*PRICED))
    (group,) = evidence.board.standings
    behind = {
        place
        for pair in group.compared
        if pair.resolved
        for place in ([pair.second] if pair.difference > 0 else [pair.first])
    }
    assert make_brief(evidence, "Facts").answer == (
        f"dear has the highest accuracy (90.0%). {3 - len(behind)} models are statistically tied "
        "for first."
    )


def test_equal_scores_share_the_first_place() -> None:
    brief = make_brief(made(30, 30), "Facts")
    assert brief.answer == (
        "m0 and m1 share the highest accuracy (75.0%). No model is significantly better than any "
        "other."
    )
    assert "80% power" not in parts_of(brief)["Next step"]  # a difference of 0 needs no number


def test_one_model_is_not_compared() -> None:
    brief = make_brief(made(30), "Facts")
    assert brief.answer == (
        "m0 scores 75.0%. It is the only ranked model, so there is no comparison."
    )
    assert parts_of(brief)["Next step"] == "Run a second model on the same questions."


@pytest.mark.parametrize("n", [8, 20])
def test_models_without_any_right_answer_are_tied(n: int) -> None:
    brief = make_brief(made(0, 0, 0, n=n), "Facts")
    assert brief.answer.startswith("m0, m1 and m2 share the highest accuracy (0.0%).")
    assert all(0 <= row.low <= row.at <= row.high <= 1 for row in brief.rows)


def test_the_questions_needed_give_the_power_that_is_claimed() -> None:
    """By simulation: of resamples of that many items, some 80% show the difference at 5%."""
    items = np.arange(40)
    right = np.stack([items < 30, (items >= 10) & (items < 38)])  # 10 and 8 items of one alone
    rows: list[Row] = [
        (item, who, 0, "answered", float(right[who, item])) for who in (0, 1) for item in items
    ]
    evidence = evidence_of(table_of([Respondent("a", ""), Respondent("b", "")], rows, n_units=40))
    said = parts_of(make_brief(evidence, "Facts"))["Next step"]
    assert "if the true difference is 5.0 points (40 were asked)" in said
    n = int(said.split("About ")[1].split(" ")[0].replace(",", ""))
    change = right[0].astype(float) - right[1]
    drawn = change[np.random.default_rng(1).integers(0, 40, (2000, n))]
    found = np.abs(drawn.mean(axis=1)) > 1.96 * drawn.std(axis=1, ddof=1) / np.sqrt(n)
    assert 0.75 < found.mean() < 0.86


def test_costs_are_of_a_thousand_questions() -> None:
    """4 USD for 40 questions, and 0.40 USD."""
    said = parts_of(make_brief(evidence_of(close(*PRICED)), "Facts"))["Cost"]
    assert said == (
        f"dear costs {4.0 / 40 * 1000:.2f} USD per 1,000 questions. The least expensive model tied "
        f"for first is cheap ({0.4 / 40 * 1000:.2f} USD)."
    )


def test_an_upper_bound_is_called_one_and_names_no_cheapest() -> None:
    bounded = replace(PRICED[0], spent=Spent(calls=40, cost_usd=4.0, estimated_usd=3.9))
    said = parts_of(make_brief(evidence_of(close(bounded, *PRICED[1:])), "Facts"))["Cost"]
    assert said == "dear costs at most 100.00 USD per 1,000 questions."


def test_a_cost_that_is_not_known_is_not_a_cost_of_nothing() -> None:
    free = (asked("a", None, 1.0), asked("b", None, 1.0), asked("c", None, 1.0))
    brief = make_brief(evidence_of(close(*free)), "Facts")
    assert parts_of(brief)["Cost"] == "Not recorded: the leading models have no price."
    assert not any(row.cost for row in brief.rows)


@pytest.mark.parametrize(
    ("right", "said"),
    [
        ((36, 12), "m0 scores 90.0% with documents and 30.0% closed-book. The difference is "
         "statistically significant."),
        ((30, 29), "m0 scores 75.0% with documents and 72.5% closed-book. The difference is not "
         "statistically significant."),
    ],
)  # fmt: skip
def test_closed_book_and_documents_are_compared(right: tuple[int, int], said: str) -> None:
    evidence = made(*right, settings=("context=evidence", ""))
    (pair,) = evidence.board.standings[0].compared
    assert pair.resolved == ("is not" not in said)
    assert parts_of(make_brief(evidence, "Facts"))["Documents"] == said


def test_without_documents_that_is_said() -> None:
    assert parts_of(make_brief(three(), "Facts"))["Documents"] == (
        "All models answered closed-book, that is, without documents."
    )


def test_accuracies_without_items_claim_no_significance() -> None:
    """The number of items is not known, so nothing is tested."""
    brief = make_brief(accuracies([0, 0]), "Table")
    assert "These data do not support a significance test." in brief.answer
    assert parts_of(brief)["Cost"] == "Not recorded in these files."
    assert parts_of(brief)["Documents"].startswith("Not recorded")


def test_nothing_at_all_is_one_sentence() -> None:
    evidence = three()
    nothing = Evidence(board=structs.replace(evidence.board, standings=()), sheet=evidence.sheet)
    assert make_brief(nothing, "Facts").answer == "There are no scores, so no model is ranked."


@pytest.mark.parametrize("language", ["en", "zh"])
def test_both_files_say_the_same_and_are_the_same_again(language: str) -> None:
    with speaking(language):  # type: ignore[arg-type]
        brief = make_brief(evidence_of(close(*PRICED)), 'A "<b>" & #set *x* \\ $')
        html, pdf = brief_html(brief), brief_pdf(brief)
        assert html == brief_html(brief)
        assert pdf == brief_pdf(brief)
    assert len(pypdfium2.PdfDocument(pdf)) == 1
    assert b"CreationDate" not in pdf
    assert "<b>" not in html
    plain = "".join(texts_of(pdf).split())
    for text in (brief.title, brief.answer, *(part.text for part in brief.parts), brief.limits):
        assert "".join(text.split()) in plain.replace("\ufffe", "").replace("\x02", "")


def test_many_models_still_are_one_sheet() -> None:
    """Names of 200 characters, too."""
    rows = [row for who in range(40) for row in right_of(40, 40 - who, who)]
    names = [f"{'very-long-lab/' * 14}model-{who}" for who in range(40)]
    table = table_of([Respondent(name, "") for name in names], rows, n_units=40)
    brief = make_brief(evidence_of(table), "Facts " * 20)
    assert len(brief.rows) == 6
    assert brief.note == "34 more ranked models in the full report."
    assert len(pypdfium2.PdfDocument(brief_pdf(brief))) == 1


def test_chinese_without_a_font_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    embedded = typst.Fonts(include_system_fonts=False)
    monkeypatch.setattr(typst, "Fonts", lambda **_: embedded)
    brief = make_brief(three(), "\u4e2d\u6587")
    with pytest.raises(BadUsage, match="no Chinese font") as raised:
        brief_pdf(brief)
    assert "fonts-noto-cjk" in raised.value.hint
    assert "--fonts" in raised.value.hint


def test_other_endings_and_a_missing_extra_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadUsage, match=r"\.html or \.pdf"):
        check_brief(BriefAsked(Path("brief.docx")))
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(ExtraMissing) as raised:
        brief_bytes(make_brief(three(), "Facts"), BriefAsked(Path("a.pdf")))
    assert "proofstone[brief]" in raised.value.hint
    assert brief_bytes(make_brief(three(), "Facts"), BriefAsked(Path("a.html")))


def test_an_audit_writes_it(tmp_path: Path, proofstone: Proofstone) -> None:
    table = "item,a,b\n" + "".join(f"q{n},{int(n < 30)},{int(n < 12)}\n" for n in range(40))
    scores, html, pdf = (tmp_path / name for name in ("scores.csv", "brief.html", "brief.pdf"))
    scores.write_text(table)
    assert proofstone("audit", str(scores), "--brief", str(html)).code == 0
    assert "a ranks first with 75.0%." in html.read_text()
    assert proofstone("audit", str(scores), "--brief", str(pdf), "--ui-language", "zh").code == 0
    assert "75.0%" in texts_of(pdf.read_bytes())
