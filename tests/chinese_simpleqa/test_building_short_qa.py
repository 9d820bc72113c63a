"""``build short-qa``: each step drops for its own reason, and what is left is a bank that runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chinese_simpleqa.scripted_examiner import PANEL, Examiner, passage_of
from killing import SOME, kill_after, seen_at
from proofstone.api import Workspace, create_workspace
from proofstone.build.build import BuildResult
from proofstone.documents.sources import Stated
from proofstone.errors import BadInput, BadUsage, NotFound
from proofstone.ingest.ingest import ingest_paths
from serving import HurriedClock, configure, serving

# What becomes of each passage, by the word in it; its mineral, and the year.
GOOD = {"rare": ("Halite", 1801), "grey": ("Pyrite", 1802), "loose": ("Barite", 1803)}
ENDED = {
    "knowledge": {
        "too little information": ["outlined"],
        "too specific": ["private"],
        "not judged": ["prosaic", "doubtful", "silent", "foreign"],
    },
    "pairs": {"unparsed response": ["mumbling"], "no question in it": ["barren"]},
    "criteria": {
        "not checked": ["gibberish"],
        "criteria not met": ["stubborn"],
        "given up by its author": ["quitting"],
    },
    "second look": {"criteria not met": ["foul"], "of another category": ["stray"]},
    "evidence": {
        "contradicted by evidence": ["disputed"],
        "several answers by evidence": ["manifold"],
        "changes with time by evidence": ["fleeting"],
        "not enough evidence": ["unheard"],
    },
    "difficulty": {"too easy": ["plain"]},
    "sensitive": {"sensitive content": ["secret"]},
}
NOWHERE = "http://127.0.0.1:9"
NAMES = (
    "Azurite", "Bornite", "Cuprite", "Dolomite", "Epidote", "Fluorite", "Galena", "Hematite",
    "Ilmenite", "Jadeite", "Kyanite", "Lazurite", "Mica", "Natron", "Olivine", "Quartz", "Rutile",
    "Sodalite", "Talc", "Uraninite", "Vanadinite", "Wolframite", "Zircon",
)  # fmt: skip

PUBLIC = (
    "the documents count as public by their license (CC0-1.0); --documents private changes that"
)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        yield opened


def ingest(workspace: Workspace, **texts: str) -> list[str]:
    """A source with a part for each text; its title."""
    parts = ["# Rocks", *(f"## {name}\n\n{text}" for name, text in texts.items())]
    file = workspace.folder / "Rocks.md"
    file.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    stated = Stated(license="CC0-1.0")
    ingest_paths(workspace.store, [file], clock=workspace.clock, stated=stated)
    return ["Rocks"]


def everything(workspace: Workspace) -> list[str]:
    """One passage for each way that there is."""
    tags = [tag for reasons in ENDED.values() for tagged in reasons.values() for tag in tagged]
    texts = {
        f"s{number}": passage_of(tag, name, 1700 + number)
        for number, (tag, name) in enumerate(zip(tags, NAMES, strict=False))
    }
    texts |= {f"g{tag}": passage_of(tag, *of) for tag, of in GOOD.items()}
    texts["note"] = "Too short to hold a fact."
    texts["table"] = "1 2 3 4 5 6 7 8 9. " * 12
    texts["outline"] = "minerals and stones and where they may be found in the world of today\n" * 2
    texts["zh"] = (
        "矿物重晶石，kept，于1774年首次描述。它的晶体多为板状，密度很大，常与方铅矿共生，"
        "世界各地的热液矿脉中都有产出。"
    )
    return ingest(workspace, **texts)


def built(workspace: Workspace, inputs: list[str], **params: Any) -> BuildResult:
    asked = {"primary_category": "Geology", **params}
    models = {"author": "scripted/author", "panel": list(PANEL)}
    models = asked.pop("models", models)
    return workspace.build_in_steps(
        "short-qa", inputs, name="minerals", models=models, judge="scripted/judge", **asked
    )


def dropped(result: BuildResult) -> dict[str, dict[str, int]]:
    return {
        step.name: {reason: n for reason, n in step.dropped.items() if n}
        for step in result.funnel.steps
        if any(step.dropped.values())
    }


def test_each_step_drops_for_its_reason_and_the_rest_is_a_bank(workspace: Workspace) -> None:
    inputs = everything(workspace)
    with serving(Examiner()) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, inputs)
    expected: dict[str, dict[str, int]] = {
        step: {reason: len(tags) for reason, tags in reasons.items()}
        for step, reasons in ENDED.items()
    }
    rules = {"too short": 1, "hardly any words": 1, "no sentence": 1}
    assert dropped(result) == {"rules": rules, **expected}
    assert result.bank is not None
    facts = workspace.store.knowledge.bank(result.bank.id).facts()
    assert {(fact.payload.question, fact.payload.answer) for fact in facts} == {
        ("In which year was the rare mineral Halite first described?", "1801"),
        ("In which year was the grey mineral Pyrite first described?", "1802"),
        ("In which year was the exact mineral Barite first ever described?", "1803"),
        ("矿物重晶石（kept）首次被描述是在公元哪一年？", "1774"),
    }
    assert {fact.payload.answer_type for fact in facts} == {"date"}
    assert {fact.stratum.discipline for fact in facts} == {"Geology"}
    assert {fact.language for fact in facts} == {"en", "zh"}


def test_without_a_judge_of_knowledge_the_rules_alone_sift(workspace: Workspace) -> None:
    inputs = ingest(
        workspace, outlined=passage_of("outlined", "Halite", 1801), note="Too short for a fact."
    )
    with serving(Examiner()) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, inputs, knowledge="rules")
    assert [step.name for step in result.funnel.steps][:2] == ["rules", "pairs"]
    assert dropped(result) == {"rules": {"too short": 1}}
    assert result.notes == ("no judge checks the passages (--knowledge rules)", PUBLIC)


def test_the_supporting_passage_is_kept_and_says_the_answer(workspace: Workspace) -> None:
    inputs = everything(workspace)
    with serving(Examiner()) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, inputs)
    assert result.bank is not None
    for fact in workspace.store.knowledge.bank(result.bank.id).facts():
        assert fact.passage is not None
        passage = workspace.store.knowledge.passages([fact.passage])[fact.passage]
        assert passage.source == fact.source
        assert fact.payload.answer in passage.text


def test_every_model_that_had_a_hand_is_recorded_by_its_part(workspace: Workspace) -> None:
    inputs = ingest(workspace, one=passage_of("rare", "Halite", 1801))
    with serving(Examiner()) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, inputs, sensitive="off")
    assert result.bank is not None
    facts = workspace.store.knowledge.bank(result.bank.id).facts()
    (fact,) = workspace.store.knowledge.built_facts(facts)
    assert {(role.role, role.model) for role in fact.roles} == {
        ("wrote", "scripted/author"), ("checked", "scripted/judge"),
        *(("filtered", member) for member in PANEL),
    }  # fmt: skip
    assert result.notes == ("sensitive content is not checked (--sensitive off)", PUBLIC)


def test_the_same_again_asks_nothing(workspace: Workspace) -> None:
    examiner, inputs = Examiner(), everything(workspace)
    with serving(examiner) as server:
        configure(workspace.folder, server.url)
        first = built(workspace, inputs)
        asked = server.requests
        again = built(workspace, inputs)
        assert server.requests == asked
    assert (again.bank, again.funnel) == (first.bank, first.funnel)


def test_a_kill_loses_nothing_that_was_made(tmp_path: Path) -> None:
    """kill -9 in the middle, then the same command: bank and funnel as of one that was let be."""
    examiner = Examiner()
    with serving(examiner) as server:
        with create_workspace(tmp_path / "undisturbed") as workspace:
            configure(workspace.folder, server.url)
            expected = built(workspace, everything(workspace))
        asked = server.requests
        with create_workspace(tmp_path / "killed") as workspace:
            configure(workspace.folder, server.url)
            inputs = everything(workspace)
        script = Path(__file__).with_name("short_qa_until_killed.py")
        kill_after(30, server.url, [script, tmp_path / "killed", ",".join(PANEL)])
        seen_at(server.url, answer=10**6)
        with create_workspace(tmp_path / "killed") as workspace:
            workspace.clock = HurriedClock()
            result = built(workspace, inputs)
        again = server.requests - 2 * asked
    assert expected.bank is not None
    assert (result.bank, result.build, result.funnel) == (
        expected.bank, expected.build, expected.funnel
    )  # fmt: skip
    # What had been asked by then, and what each of seven models was at work on.
    assert 0 <= again <= 30 + SOME + 7 * 2 < asked


def test_a_member_that_cannot_answer_holds_its_questions_up(workspace: Workspace) -> None:
    """Also where the others would settle it; and only that member is asked again."""
    examiner = Examiner()
    examiner.down = {"member-3"}
    inputs = ingest(workspace, one=passage_of("rare", "Halite", 1801))
    with serving(examiner) as server:
        configure(workspace.folder, server.url)
        held = built(workspace, inputs)
        assert (held.bank, held.complete) == (None, False)
        assert {step.name: step.pending for step in held.funnel.steps if step.pending} == {
            "difficulty": 1
        }
        asked, examiner.down = examiner.asked["panel"], set()
        done = built(workspace, inputs)
    assert done.bank is not None
    assert examiner.asked["panel"] == asked + 1


def test_a_reply_that_judges_come_to_nothing_on_is_wrong_for_the_filter(
    workspace: Workspace,
) -> None:
    """Member 5 says "Perhaps 1066." and the judge of it mumbles: it counts as wrong."""
    inputs = ingest(workspace, one=passage_of("garbled", "Halite", 1801))
    with serving(Examiner()) as server:
        configure(workspace.folder, server.url)
        assert built(workspace, inputs).bank is not None
        assert dropped(built(workspace, inputs, least_wrong=1)) == {}
        with pytest.raises(BadInput, match="1 too easy"):
            built(workspace, inputs, least_wrong=2)


def test_what_is_asked_already_is_worded_anew_once_or_dropped(workspace: Workspace) -> None:
    known = workspace.folder / "known.jsonl"
    rows = [("echoed", "Halite"), ("parroted", "Pyrite"), ("twinned", "Barite")]
    known.write_text(
        "".join(
            f'{{"problem": "In which year was the {tag} mineral {name} described?", '
            f'"answer": "1801"}}\n'
            for tag, name in rows
        ),
        encoding="utf-8",
    )
    texts = {f"k{name}": passage_of(tag, name, 1801) for tag, name in rows}
    texts["other"] = passage_of("echoed", "Halite", 1999)  # another answer: another question
    with serving(Examiner()) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, ingest(workspace, **texts), against=str(known))
    assert dropped(result) == {
        "reworded": {"same as another": 1, "poor rewording": 1},
    }
    assert result.bank is not None
    facts = workspace.store.knowledge.bank(result.bank.id).facts()
    assert {fact.payload.question for fact in facts} == {
        "When did somebody put Halite, a stone, on record?",
        "In which year was the echoed mineral Halite first described?",
    }


def test_a_bank_can_be_what_is_known(workspace: Workspace) -> None:
    inputs = ingest(workspace, one=passage_of("rare", "Halite", 1801))
    with serving(Examiner()) as server:
        configure(workspace.folder, server.url)
        first = built(workspace, inputs)
        assert first.bank is not None
        again = built(workspace, inputs, against="minerals")
    assert again.bank is not None
    (fact,) = workspace.store.knowledge.bank(again.bank.id).facts()
    assert fact.payload.question == "When did somebody put Halite, a stone, on record?"


def test_an_alias_that_is_not_the_answer_goes_and_so_does_anothers_answer(
    workspace: Workspace,
) -> None:
    texts = {
        "a": passage_of("placed", "Halite", 1801),  # aliases: its name, 1801, its province
        "b": passage_of("rare", "Pyrite", 1801),
    }
    with serving(Examiner()) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, ingest(workspace, **texts))
    assert result.bank is not None
    facts = workspace.store.knowledge.bank(result.bank.id).facts()
    assert {(f.payload.answer, f.payload.aliases, f.payload.answer_type) for f in facts} == {
        ("Halite Town", ("HALITE TOWN",), "place"),
        ("1801", (), "date"),
    }


def test_ready_pairs_skip_the_first_steps(workspace: Workspace) -> None:
    examiner = Examiner()
    examiner.years = {"Halite": "1801", "Pyrite": "1802"}
    pairs = workspace.folder / "pairs.jsonl"
    pairs.write_text(
        '{"question": "In which year was the rare mineral Halite first described?", "answer": '
        '"1801", "category": "Geology", "passage": "The rare mineral Halite, of 1801."}\n'
        '{"question": "In which year was the foul mineral Pyrite first described?", "answer": '
        '"1802", "category": "Geology"}\n',
        encoding="utf-8",
    )
    with serving(examiner) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, [str(pairs)], evidence=0)
    names = [step.name for step in result.funnel.steps]
    assert names[:2] == ["criteria", "second look"]
    assert dropped(result) == {"second look": {"criteria not met": 1}}
    assert examiner.asked["write"] == 0
    assert result.bank is not None
    (fact,) = workspace.store.knowledge.built_facts(
        workspace.store.knowledge.bank(result.bank.id).facts()
    )
    assert ("wrote", "scripted/author") not in {(role.role, role.model) for role in fact.roles}
    assert result.notes == ("no pair is checked against sources (--evidence 0)",)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ('{"question": "Which year?"}\n', "is missing or empty"),
        (
            '{"question": "Which year?", "answer": "1", "category": "a"}\n'
            '{"question": "What year?", "answer": "2", "category": ""}\n',
            "other questions of the file have one",
        ),
        (
            '{"question": "Which year?", "answer": "1801", "aliases": ["1802"]}\n'
            '{"question": "What year?", "answer": "1802"}\n',
            "is the answer of line 2",
        ),
    ],
)
def test_ready_pairs_that_cannot_be_are_refused_by_line(
    workspace: Workspace, rows: str, said: str
) -> None:
    pairs = workspace.folder / "pairs.jsonl"
    pairs.write_text(rows, encoding="utf-8")
    configure(workspace.folder, NOWHERE)
    with pytest.raises(BadInput) as refused:
        built(workspace, [str(pairs)], evidence=0, primary_category="")
    assert any(said in problem.what for problem in refused.value.problems)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"as_of": "yesterday"}, "--as-of must be a date YYYY-MM-DD, got 'yesterday'"),
        ({"valid_at": "2024"}, "--valid-at is for private documents"),
        (
            {"documents": "private", "valid_at": "2024-02-30"},
            "--valid-at must be YYYY, YYYY-MM or YYYY-MM-DD, got",
        ),
        (
            {"documents": "private", "valid_at": "0000"},
            "--valid-at must be YYYY, YYYY-MM or YYYY-MM-DD, got",
        ),
        ({"questions": 0}, "--questions must be 1 or more, got 0"),
        ({"alike": 0.0}, "--alike must be above 0, and at most 1, got 0.0"),
        ({"shots": 90}, "--shots must be at most 8, the number of examples, got 90"),
        ({"against": "gone.jsonl"}, "file not found: gone.jsonl"),
        ({"least_wrong": 6}, "least_wrong for a panel of 5 must be 1 to 5, got 6"),
        (
            {"primary_category": "", "secondary_category": "b"},
            "--secondary-category needs its --primary-category",
        ),
    ],
)
def test_parameters_that_cannot_be(workspace: Workspace, params: dict[str, Any], said: str) -> None:
    inputs = ingest(workspace, one=passage_of("rare", "Halite", 1801))
    configure(workspace.folder, NOWHERE)
    with pytest.raises((BadUsage, NotFound), match=said):
        built(workspace, inputs, **params)
