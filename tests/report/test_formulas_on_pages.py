"""Formulas of texts on pages: MathML, and nothing that is no formula."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proofstone.page.html import with_formulas
from proofstone.texts.formulas import mathml, pieces
from told import Proofstone

_LAID_OUT = {
    "math", "semantics", "annotation", "mrow", "mi", "mo", "mn", "mtext", "mstyle",
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        (r"so $x^2$ is, $$y$$ was; \(z\) and \[w\]", ["x^2", "y", "z", "w"]),
        ("It costs $5 and $10.", []),
        ("$5-$10", []),
        ("It costs $5, or $x$ in all.", ["x"]),
        (r"\$5, then $x$", ["x"]),
        ("$ x $", []),
        ("$a$b$", ["a"]),
        ("$x\n\ny$", []),
        (r"$\$5$", [r"\$5"]),
        ("$x$$", []),
        (r"\(x", []),
    ],
)
def test_what_is_a_formula(text: str, formulas: list[str]) -> None:
    assert [each.text for each in pieces(text) if each.opens] == formulas


@settings(max_examples=500, deadline=None)
@given(st.text(alphabet="ab1 $\\()[]{}^_\n", max_size=60))
@example("$$$$$")
def test_pieces_are_the_text(text: str) -> None:
    assert "".join(each.whole for each in pieces(text)) == text


def test_structure_is_that_of_the_formula() -> None:
    formula = r"\frac{a}{b^2} \le \sum_{i=1}^n x_i"
    made = ET.fromstring(mathml(formula))  # noqa: S314 - our own
    assert [each.tag for each in made[0][0]] == ["mfrac", "mo", "msubsup", "msub"]
    top, bottom = made[0][0][0]
    assert "".join(top.itertext()) == "a"
    assert bottom[0].tag == "msup"
    assert "".join(bottom.itertext()) == "b2"
    assert made.findtext(".//annotation") == formula


@pytest.mark.parametrize(
    ("formula", "told"),
    [
        (r"\left( x", "extra left or missing right"),
        (r"\frca{1}{2}", r"\\frca is not a known command"),
        (r"\frac{1}", "lacks a part"),
        (r"\newcommand{\a}{\a\a}", "defines a command"),
        (" ", "an empty formula"),
        ("x" * 2001, "more than 2,000 characters"),
        ("{" * 900 + "}" * 900, "groups within more than 100 others|it is not LaTeX"),
    ],
)
def test_what_is_no_formula_is_an_error(formula: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        mathml(formula)


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        r"\text{<img src=x onerror=alert(1)>}",
        r"\text{&lt;img src=x onerror=alert(1)&gt;}",
        r"\href{javascript:alert(1)}{x}",
        r"\color{red;background:url(http://example.com)}{x}",
        r"\style{color:red}{y}",
        r"\mathrm{</annotation><script>alert(1)</script>}",
    ],
)
def test_a_formula_brings_no_markup(hostile: str) -> None:
    shown = str(with_formulas(f"${hostile}$ <b>"))
    assert shown.endswith(" &lt;b&gt;")
    elements = list(ET.fromstring(shown.removesuffix(" &lt;b&gt;")).iter())  # noqa: S314 - our own
    assert {each.tag for each in elements} <= _LAID_OUT
    assert {name for each in elements for name in each.attrib} <= {
        "display", "encoding", "stretchy", "mathvariant",
    }  # fmt: skip


def test_what_does_not_convert_stays_as_written() -> None:
    assert with_formulas(r"a $\frca{1}{2}$ < b") == r"a $\frca{1}{2}$ &lt; b"


def test_pages_of_responses_show_formulas_and_leave_prompts_as_sent(
    tmp_path: Path, proofstone: Proofstone
) -> None:
    row = {"question": "What is $x^2$ at 2?", "options": [r"$\frac{8}{2}$", "1"], "answer": "A"}
    questions = tmp_path / "q.jsonl"
    questions.write_text(json.dumps(row), encoding="utf-8")
    work = tmp_path / "w"
    assert proofstone("init", work).code == 0
    assert proofstone("run", questions, "-m", "sim/a", "-w", work).code == 0
    assert proofstone("report", "q", "-o", tmp_path / "r.html", "-w", work).code == 0
    page = (tmp_path / "r_files" / "responses-1.html").read_text(encoding="utf-8")
    assert page.count("<math ") == 2  # of the question; the prompt is verbatim
    assert "What is $x^2$ at 2?" in page[page.index("Prompt 1") :]
