"""``build refined-questions``: defects with evidence are repaired, and nothing becomes easier."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from kina.kina_rows import combination, write_rows
from kina.scripted_jury import PANEL, number_of
from proofstone.methods.kina.payloads import OptionNote, Question
from proofstone.methods.kina.refine.changes import Changes, Revision, applied, revision_fault
from proofstone.methods.kina.refine.versions import Issue
from scripted_server import Act, Seen, answer
from serving import configure, serving
from told import Proofstone, Told

SAID = "At high pressure granite samples cool twice as fast as the law states."
STEM = "Which statements on granite melted at {hot} kelvin at normal pressure are true?"
NEW = "Reyes, P. (2019). Pressure and cooling. Geology Letters, 17(1), 1-9."


@dataclass
class Agents:
    """Auditor, author and panel. ``issues`` are found in the first version of a question."""

    issues: dict[int, dict[str, Any]] = field(default_factory=dict)
    revisions: dict[int, dict[str, Any]] = field(default_factory=dict)
    eased: set[int] = field(default_factory=set)
    asked: Counter[str] = field(default_factory=Counter)
    prompts: list[str] = field(default_factory=list)

    def __call__(self, seen: Seen) -> Act:
        model, prompt = str(seen.json["model"]), seen.json["messages"][-1]["content"]
        number = number_of(prompt)
        if model.startswith("member"):
            easy = number in self.eased and "at normal pressure" in prompt and model == "member-1"
            found = re.search(r"^\(?([A-J])[.)] 2, 4$", prompt, re.MULTILINE)
            assert found is not None
            return answer(f"ANSWER: {found[1] if easy else chr(75 - 1 - (found[1] == 'J'))}")
        self.prompts.append(prompt)
        if model == "author":
            self.asked["author"] += 1
            return answer(json.dumps(self.revisions.get(number, revised(number))))
        if "uniqueness: for evidence" in prompt:
            self.asked["queries"] += 1
            queries = {"confidence": "granite cool pressure", "uniqueness": "granite samples law"}
            return answer(json.dumps(queries))
        self.asked["diagnosis"] += 1
        issue = None if "at normal pressure" in prompt else self.issues.get(number)
        return answer(json.dumps({"issues": [issue] if issue else []}))


def defect(**changed: Any) -> dict[str, Any]:
    return {
        "type": "confidence", "reasoning": "pressure", "directive": "state the pressure",
        "citations": [{"text": "T1", "quote": SAID}], **changed,
    }  # fmt: skip


def revised(number: int, **changed: Any) -> dict[str, Any]:
    return {
        "changes": {"stem": STEM.format(hot=600 + 17 * number)}, "confirmed": [],
        "strategies": ["premise"], "new_fact": True, "new_sources": [NEW], **changed,
    }  # fmt: skip


@dataclass
class Bench:
    proofstone: Proofstone
    folder: Path
    agents: Agents

    def __call__(self, *words: Any, rc: int = 0) -> Told:
        told = self.proofstone(*words, "-w", self.folder / "w")
        assert told.code == rc, told.err
        return told

    def build(self, *words: Any, rc: int = 0) -> Told:
        return self(
            "build", "refined-questions", "asked", "--panel", ",".join(PANEL),
            "-m", "auditor=scripted/auditor", "-m", "author=scripted/author", "--name", "refined",
            "--yes", *words, rc=rc,
        )  # fmt: skip

    def rows(self) -> list[dict[str, Any]]:
        path = self.folder / "out.jsonl"
        self("export", "refined", "-o", path)
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def tables(self, target: str = "refined") -> dict[str, list[dict[str, Any]]]:
        found = json.loads(self("show", target, "--statistics", "--json").out)
        return {table["title"]: table["rows"] for table in found}


@pytest.fixture
def bench(tmp_path: Path, proofstone: Proofstone) -> Iterator[Bench]:
    agents = Agents()
    with serving(agents) as server:
        work = tmp_path / "w"
        assert proofstone("init", work).code == 0
        configure(work, server.url)
        (tmp_path / "cooling.md").write_text(f"# Cooling\n\n{SAID}\n", encoding="utf-8")
        assert proofstone("ingest", tmp_path / "cooling.md", "-w", work, "--yes").code == 0
        path = write_rows(tmp_path / "asked.jsonl", [combination(number) for number in range(4)])
        assert proofstone("import", path, "--as", "bank", "-w", work).code == 0
        yield Bench(proofstone, tmp_path, agents)


def test_a_defect_with_evidence_is_repaired(bench: Bench) -> None:
    bench.agents.issues = {1: defect()}
    bench.build()
    rows = {number_of(row["stem"]): row for row in bench.rows()}
    assert rows[1]["stem"] == STEM.format(hot=617)
    assert rows[1]["question_source"].endswith(NEW)
    assert rows[0]["stem"] == combination(0)["stem"]
    assert bench.agents.asked == {"queries": 5, "diagnosis": 5, "author": 1}
    (table,) = bench.tables()["Refinement"]
    assert (table["questions"], table["needed"], table["share"]) == (4, 1, 25)
    assert table["published"] == pytest.approx(33.3, abs=0.1)
    assert table["accepted"] == 1


def test_a_refined_question_is_scored_again_by_its_new_id(bench: Bench) -> None:
    """Marks on questions that did not change stay valid; the changed one needs new ones."""
    names = ("representativeness", "factuality", "sources", "logic", "distractors", "combination")
    bench("export", "asked", "-o", bench.folder / "before.jsonl")
    before = [
        json.loads(line)
        for line in (bench.folder / "before.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    bench.agents.issues = {1: defect()}
    bench.build()
    changed = next(row for row in bench.rows() if number_of(row["stem"]) == 1)
    high = dict.fromkeys(names, 5)
    write_rows(bench.folder / "anna.jsonl", [{"id": row["id"], **high} for row in before])
    asked = ("build", "reviewed-questions", "refined", "--reviewers", 1, "--yes", "--name", "again")
    bench(*asked, "--scores", bench.folder / "anna.jsonl")
    bench("export", "again", "-o", bench.folder / "out.jsonl")
    assert len((bench.folder / "out.jsonl").read_text(encoding="utf-8").splitlines()) == 3
    write_rows(bench.folder / "carl.jsonl", [{"id": changed["id"], **high}])
    both = f"{bench.folder / 'anna.jsonl'},{bench.folder / 'carl.jsonl'}"
    result = json.loads(bench(*asked, "--scores", both, "--json").out)
    (counts,) = bench.tables(result["build"])["Review"]
    assert (counts["questions"], counts["kept"]) == (4, 4)


@pytest.mark.parametrize(
    "citations",
    [
        [],
        [{"text": "T1", "quote": "Granite never cools at all in any of these samples."}],
        [{"text": "T9", "quote": SAID}],
        [{"text": "T1", "quote": "granite"}],
    ],
)
def test_an_issue_without_a_citation_that_was_found_is_dropped(
    bench: Bench, citations: list[dict[str, str]]
) -> None:
    bench.agents.issues = {1: defect(citations=citations)}
    result = json.loads(bench.build("--json").out)
    assert bench.agents.asked["author"] == 0
    found = bench.tables(result["build"])["Issues by type"]
    issue = {row["type"]: row for row in found}["holds only under a condition"]
    assert (issue["n"], issue["unfounded"]) == (0, 1)


def test_an_ambiguity_needs_no_citation(bench: Bench) -> None:
    bench.agents.issues = {1: defect(type="ambiguity", citations=[])}
    bench.agents.revisions = {1: revised(1, strategies=["disambiguation"])}
    bench.build()
    assert {row["stem"] for row in bench.rows()} >= {STEM.format(hot=617)}


def test_an_easier_version_is_rejected_and_its_question_left_to_people(bench: Bench) -> None:
    bench.agents.issues = {1: defect()}
    bench.agents.eased = {1}
    result = json.loads(bench.build("--json").out)
    assert len(bench.rows()) == 3
    (row,) = json.loads(bench("show", result["build"], "--dropped", "--json").out)
    assert row["reason"] == "issues left"
    assert "easier: 1 of 5 correct, 0 before" in row["found"]
    assert [each["result"] for each in row["values"]["versions"]] == ["easier", "easier"]
    assert row["values"]["question"]["stem"] == combination(1)["stem"]
    assert any("Earlier attempts were rejected: easier" in each for each in bench.agents.prompts)


def test_a_version_that_breaks_a_rule_is_rejected(bench: Bench) -> None:
    bench.agents.issues = {1: defect()}
    stem = STEM.format(hot=617).replace("Which", "You are an expert: which")
    bench.agents.revisions = {1: revised(1, changes={"stem": stem})}
    result = json.loads(bench.build("--rounds", 1, "--json").out)
    (row,) = json.loads(bench("show", result["build"], "--dropped", "--json").out)
    assert "breaks a rule: instruction, stem" in row["found"]


def test_a_new_fact_needs_a_new_source(bench: Bench) -> None:
    bench.agents.issues = {1: defect()}
    bench.agents.revisions = {1: revised(1, new_sources=[])}
    result = json.loads(bench.build("--rounds", 1, "--json").out)
    (row,) = json.loads(bench("show", result["build"], "--dropped", "--json").out)
    assert "unusable changes: a new fact without a new source" in row["found"]
    assert bench.agents.asked["author"] == 2  # asked once more, with the problem


def test_no_round_and_two_searches_are_refused(bench: Bench) -> None:
    assert "--rounds must be 1 or more" in bench.build("--rounds", 0, rc=2).err
    assert "must name one search" in bench.build("--search", "bm25,google", rc=2).err


# Changes of one question.

ASKED = Question(
    stem="Which are true?",
    answer_key=1,
    statements=("One.", "Two.", "Three."),
    sets=((0,), (1,), (2,)),
    notes=tuple(OptionNote(f"Why {n}", "https://a.org/b", "1") for n in range(3)),
    source="https://a.org/b",
)
ISSUES = (Issue(type="ambiguity", reasoning="", directive="", citations=()),)


def revision(*confirmed: str, **changes: Any) -> Revision:
    return Revision(
        changes=Changes(**changes), confirmed=confirmed, strategies=("disambiguation",),
        new_fact=False, new_sources=(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (revision(stem="Which hold?"), ""),
        (revision(), "nothing is changed"),
        (revision(stem="Which are true?"), "returned without a change: stem"),
        (revision(statements={"1": "Uno."}), "explanations neither changed nor confirmed: A"),
        (revision("A", statements={"1": "Uno."}), ""),
        (revision(options={"C": "1, 3"}, explanations={"C": "New"}), ""),
        (revision("C", options={"C": "1, 9"}), "options that do not name statements: C"),
        (revision("C", options={"C": "1"}), "two options are identical"),
        (revision("C", answer="C"), "explanations neither changed nor confirmed: B"),
        (revision("B", "C", answer="C"), ""),
        (revision(options={"Z": "1"}), "no such option or statement: Z"),
        (structs.replace(revision(stem="x"), strategies=("premise",)), "strategies must be of"),
    ],
)
def test_changes_keep_explanations_in_step(change: Revision, fault: str) -> None:
    found = revision_fault(ASKED, change, ISSUES)
    assert fault in found
    assert bool(found) == bool(fault)


def test_only_what_is_changed_changes() -> None:
    made = applied(ASKED, revision(options={"C": "3, 1"}, explanations={"C": "New"}, answer="C"))
    notes = (*ASKED.notes[:2], structs.replace(ASKED.notes[2], explanation="New"))
    assert made == structs.replace(ASKED, sets=((0,), (1,), (0, 2)), notes=notes, answer_key=2)
