"""Each rule names what breaks it, and says nothing of a question that keeps it."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kina.kina_rows import PAIRS, SOURCE, combination, standard, write_rows
from proofstone.check.rules import read_lists, screen_target
from proofstone.errors import BadInput, BadUsage, NotFound
from proofstone.methods.kina.questions import read_facts
from proofstone.methods.kina.rules import RULES
from proofstone.records.tables import Row
from proofstone.session.session import open_session
from told import Proofstone


def broken(row: dict[str, Any], **lists: tuple[str, ...]) -> dict[str, list[str]]:
    """What each rule finds in a row: its places, by rule."""
    facts = [built.fact for built in read_facts([Row("line 1", row)])]
    (subject,) = RULES.of_facts(facts, {**RULES.lists, **lists})
    found: dict[str, list[str]] = {}
    for each in subject.findings:
        assert each.found
        assert each.fix
        found.setdefault(each.rule, []).append(each.where)
    return found


def changed(place: int, text: str, name: str = "explanations") -> dict[str, Any]:
    texts = list(combination()[name])
    texts[place] = text
    return {name: texts}


@pytest.mark.parametrize("row", [combination(), standard(), combination(language="und")])
def test_a_question_that_keeps_all_rules_has_no_finding(row: dict[str, Any]) -> None:
    assert broken(row) == {}


WRONG: list[tuple[str, dict[str, Any], list[str]]] = [
    ("image", combination(stem="Which hold? ![a plot](plot.png)"), ["stem"]),
    ("instruction", combination(stem="You are an expert. Which hold?"), ["stem"]),
    ("self-contained", combination(stem="In this paper, which hold?"), ["stem", "stem"]),
    ("self-contained", standard(stem="Which load does the figure above show?"), ["stem", "stem"]),
    ("language", combination(stem="哪些 statements hold?"), ["stem"]),
    ("language", combination(stem="Which hold?", language="zh"), ["stem"]),
    (
        "statements",
        combination(
            statements=[f"claim {n}" for n in range(5)],
            options=[f"{a}, {b}" for a, b in combinations(range(1, 6), 2)],
        ),
        ["statements"],
    ),
    ("options", standard(options=[f"{n} m" for n in range(9)], explanations="", sources="",
                         pages=""), ["options"]),
    ("options", standard(options=[*(f"{n} Pa" for n in range(9)), "8 pa"]), ["option J"]),
    ("label", standard(options=["A. 1 m", *(f"{n} m" for n in range(2, 11))]), ["option A"]),
    ("subsets", combination(options=["2", *PAIRS[3:], "1, 5", "2, 6"], answer="2, 4"),
     ["option A", "option A"]),
    (
        "balance",
        combination(options=["1, 2, 3, 5", *PAIRS[2:4], *PAIRS[6:], "6", "2, 5", "1, 4"],
                    answer="2, 4"),
        ["options"],
    ),
    ("explanation", combination(**changed(3, "")), ["explanation D"]),
    ("explanation", combination(**changed(3, combination()["explanations"][0])),
     ["explanation D"]),
    ("source", combination(**changed(1, "", "sources")), ["source B"]),
    ("source", combination(**changed(1, "", "pages")), ["page B"]),
    ("source", combination(question_source=""), ["question source"]),
    ("source format", combination(question_source="a well-known book"), ["question source"]),
    ("publisher", combination(question_source="https://www.mdpi.com/1/2"), ["question source"]),
    ("publisher", combination(**changed(2, "https://doi.org/10.3390/x1", "sources")),
     ["source C"]),
    ("preprint", combination(question_source="https://arxiv.org/abs/1"), ["question source"]),
    ("material", combination(material=""), ["material"]),
    ("latex", combination(stem="Which hold for $x^{2$?"), ["stem"]),
    ("written by", combination(made_by="model"), ["made_by"]),
    ("taxonomy", combination(subfield="Geochemestry"), ["subfield"]),
    ("taxonomy", combination(discipline="", field="", subfield=""), ["subfield"]),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "row", "places"), WRONG)
def test_each_rule_says_where_it_is_broken(
    rule: str, row: dict[str, Any], places: list[str]
) -> None:
    assert broken(row).get(rule) == places


def test_every_rule_has_a_question_that_breaks_it() -> None:
    assert {rule for rule, _, _ in WRONG} | {RULES.near} == set(RULES.rules)


@pytest.mark.parametrize(
    "row",
    [
        standard(explanations=["The settling time follows from the damping ratio."] * 10),
        combination(question_source="https://arxiv.org/abs/1", preprint="cited 2,000 times"),
        combination(question_source="10.1000/182"),
        combination(stem="An expert reader saw a papery figure: which hold?"),
        combination(stem=r"Which hold for $\frac{a}{b}$ at a price of \$5?"),
    ],
    ids=["calculation", "accepted preprint", "DOI", "similar words", "formula"],
)
def test_what_looks_alike_is_allowed(row: dict[str, Any]) -> None:
    assert broken(row) == {}


def test_near_names_of_the_taxonomy_are_suggested() -> None:
    (built,) = read_facts([Row("line 1", combination(subfield="Geochemestry"))])
    (subject,) = RULES.of_facts([built.fact], RULES.lists)
    assert "Geochemistry" in subject.findings[0].found


def test_lists_can_be_replaced() -> None:
    row = combination(question_source="Doe, A. (2001). Ores. Basalt Press.")
    assert broken(row) == {}
    assert broken(row, rejected_sources=("basalt press",)) == {"publisher": ["question source"]}


@pytest.mark.parametrize(
    ("text", "n"),
    [
        (r"$a$ and $$b$$ and \(c\) and \[d\]", 0),
        (r"costs \$5, or $6 to $7", 0),
        (r"$\begin{matrix}1\end{matrix}$ and $\left(\frac{1}{2}\right)$", 0),
        (r"$\{1, 2\}$", 0),
        ("for $x", 1),
        ("$ $", 2),
        (r"\( \)", 1),
        (r"$\frac{1}{2$", 1),
        (r"$\frac{1}$", 1),
        (r"$\left(1$", 1),
        (r"$\frca{1}{2}$", 1),
        (r"\alpha decays", 1),
        (r"$x_$", 1),
    ],
)
def test_formulas_that_do_not_render_are_found(text: str, n: int) -> None:
    found = broken(standard(stem=f"Which holds? {text}"))
    assert found.get("latex", []) == ["stem"] * n


# Banks and forms.


class Encoder:
    """Vectors in which a text's first word decides its direction."""

    name = "first words"

    def embed(self, texts: Any) -> NDArray[np.float64]:
        words = sorted({text.split()[0] for text in texts})
        return np.eye(max(len(words), 2))[[words.index(text.split()[0]) for text in texts]]


@pytest.fixture
def work(tmp_path: Path, proofstone: Proofstone) -> Path:
    folder = tmp_path / "w"
    assert proofstone("init", folder).code == 0
    rows = [
        combination(0),
        combination(1, stem="Are these on basalt true?", material=""),
        combination(2, stem="Do these on quartz hold?", **changed(0, "")),
        standard(3),
        standard(4, stem="Do beams settle?", made_by="model"),
    ]
    for name, held in (("asked", rows[:4]), ("pool", rows[4:])):
        path = write_rows(tmp_path / f"{name}.jsonl", held)
        told = proofstone("import", path, "--as", "bank", "-w", folder)
        assert told.code == 0, told.err
    return folder


def test_a_bank_is_screened_with_counts_by_rule(work: Path, proofstone: Proofstone) -> None:
    told = proofstone("check", "asked", "--rules", "-w", work)
    assert told.code == 0, told.err
    assert "4 questions, 2 without a finding" in told.out
    assert "material, material: empty; attach" in told.out
    found = json.loads(proofstone("check", "asked", "--rules", "--json", "-w", work).out)
    counts = {each["rule"]: each["broken"] for each in found["rules"]}
    assert {rule: n for rule, n in counts.items() if n} == {"material": 1, "explanation": 1}
    assert counts[RULES.near] is None
    assert len(found["questions"]) == 2


def test_a_form_is_screened_as_it_is_asked(work: Path, proofstone: Proofstone) -> None:
    assert proofstone("build", "form", "asked", "-w", work, "--name", "form").code == 0
    found = json.loads(proofstone("check", "form", "--rules", "--json", "-w", work).out)
    assert (found["n"], found["n_clean"]) == (4, 2)


def test_near_duplicates_are_found_in_the_bank_and_in_the_pool(work: Path) -> None:
    with open_session(work) as session:
        alone = screen_target(session, "asked", embedding_model=Encoder())
        pooled = screen_target(session, "asked", pool=["pool", "asked"], embedding_model=Encoder())
    near = [
        {
            each.text.split()[0]: [f.found for f in each.findings if f.rule == RULES.near]
            for each in found.questions
        }
        for found in (alone, pooled)
    ]
    assert not any(near[0].values())
    assert {word: len(told) for word, told in near[1].items() if told} == {"Do": 1}
    assert "cosine 1.00" in near[1]["Do"][0]
    assert "Do beams settle?" in near[1]["Do"][0]


def test_what_does_not_go_together_is_refused(
    work: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    told = proofstone("check", "asked", "--pool", "pool", "-w", work)
    assert told.code == 2
    assert "only with --rules" in told.err
    told = proofstone("check", "asked", "--rules", "--map", "x.svg", "-w", work)
    assert "separate checks" in told.err
    told = proofstone("check", "asked", "--rules", "--pool", "pool", "-w", work)
    assert "--embeddings" in told.err
    path = write_rows(tmp_path / "plain.jsonl", [{"statement": "Ore melts.", "correct": True}])
    assert proofstone("import", path, "--as", "bank", "-w", work).code == 0
    told = proofstone("check", "plain", "--rules", "-w", work)
    assert "no rules for its questions" in told.err
    with open_session(work) as session, pytest.raises(BadUsage, match="no questions to screen"):
        told = proofstone(
            "import", path, "--as", "bank", "--method", "kina", "--name", "only", "-w", work
        )
        screen_target(session, "only")


def test_lists_are_read_from_a_file_or_refused_whole(
    work: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    path = tmp_path / "lists.toml"
    path.write_text('rejected_sources = ["geology letters"]\n', encoding="utf-8")
    told = proofstone("check", "asked", "--rules", "--rule-lists", path, "--json", "-w", work)
    counts = {each["rule"]: each["broken"] for each in json.loads(told.out)["rules"]}
    assert counts["publisher"] == 4
    assert SOURCE
    path.write_text("nothing = []\npreprints = [1]\n", encoding="utf-8")
    with pytest.raises(BadInput) as refused:
        read_lists(path, RULES.lists)
    assert [problem.where for problem in refused.value.problems] == ["nothing", "preprints"]
    with pytest.raises(NotFound):
        read_lists(tmp_path / "absent.toml", RULES.lists)
    path.write_text("=", encoding="utf-8")
    with pytest.raises(BadInput, match="as TOML"):
        read_lists(path, RULES.lists)
