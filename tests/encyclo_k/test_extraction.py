"""From passages to checked statements: each step drops for its own reason, and facts keep their
passage."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encyclo_k.scripted_author import Author
from proofstone.api import Workspace, create_workspace
from proofstone.build.build import BuildResult
from proofstone.build.inputs import BuildSpec, entering_rows
from proofstone.choices.outcomes import object_of
from proofstone.documents.sources import Stated
from proofstone.errors import BadUsage, NotFound
from proofstone.ingest.ingest import ingest_paths
from proofstone.methods.encyclo_k.extraction import (
    PARAMETERS,
    PIPELINES,
    make_pipeline,
    overlap,
    speaks_of_passage,
)
from proofstone.records.knowledge import Stratum
from proofstone.search.near_duplicates import near_duplicates
from serving import HurriedClock, configure, serving

METALS = ("copper", "silver", "gold", "iron", "zinc", "tin")
BOOK = "\n\n".join(
    f"Pure {metal} conducts electric current well at room temperature because its electrons move "
    f"freely through the lattice of {metal}."
    for metal in METALS
)
ODD = (
    "The leaning alloy brass conducts heat through its whole lattice in every direction. "
    "The foreign alloy bronze conducts sound through its whole lattice in every direction.\n\n"
    "The stubborn metal lead conducts current slowly through its whole lattice by day. "
    "The vague metal nickel conducts current through its whole lattice by night.\n\n"
    "Figure 3 shows that platinum conducts current as seen in Figure 3 of this book."
)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        for name, text in (("Metals", BOOK), ("Odd ones", ODD)):
            (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
            ingest_paths(opened.store, [tmp_path / f"{name}.txt"], clock=opened.clock)
        yield opened


def built(workspace: Workspace, *sources: str, **params: object) -> BuildResult:
    return workspace.build_in_steps(
        "statements", sources, name="metals", models="scripted/author", judge="scripted/judge",
        **params,
    )  # type: ignore[arg-type]  # fmt: skip


def dropped(result: BuildResult) -> dict[str, dict[str, int]]:
    return {
        step.name: {reason: n for reason, n in step.dropped.items() if n}
        for step in result.funnel.steps
        if any(step.dropped.values())
    }


def test_each_step_drops_for_its_reason_and_the_rest_is_a_bank(workspace: Workspace) -> None:
    with serving(Author()) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, "Metals", "Odd ones")
    assert result.complete
    assert dropped(result) == {
        "filters": {"figure": 1},
        "support": {"not supported by its passage": 1},
        "false": {"still true": 1},
        "reason": {"reason does not fit": 1},
    }
    assert result.bank is not None
    facts = workspace.store.knowledge.bank(result.bank.id).facts()
    true = [fact for fact in facts if fact.payload.correct]
    false = [fact for fact in facts if not fact.payload.correct]
    # Six metals; of the odd ones brass (rewritten), lead and nickel are true, and brass is false.
    assert (len(true), len(false)) == (len(METALS) + 3, len(METALS) + 1)
    assert {fact.payload.origin for fact in false} <= {fact.id for fact in true}
    assert "The alloy brass conducts heat" in " ".join(fact.payload.text for fact in true)
    assert all("insulates" in fact.payload.text for fact in false)
    assert {fact.payload.error_type for fact in false} == {"detail falsification"}
    for fact in facts:
        assert fact.stratum.book in ("Metals", "Odd ones")
        assert fact.passage is not None


def test_every_model_that_had_a_hand_is_recorded(workspace: Workspace) -> None:
    with serving(Author()) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, "Metals")
    assert result.bank is not None
    facts = workspace.store.knowledge.bank(result.bank.id).facts()
    hands = {
        (fact.fact.payload.correct, role.role, role.model)
        for fact in workspace.store.knowledge.built_facts(facts)
        for role in fact.roles
    }
    assert hands == {
        (True, "wrote", "scripted/author"), (True, "checked", "scripted/judge"),
        (False, "wrote", "scripted/author"), (False, "checked", "scripted/judge"),
        (False, "perturbed", "scripted/author"),
    }  # fmt: skip


def test_what_cannot_be_read_is_asked_once_more_and_then_dropped(workspace: Workspace) -> None:
    author = Author()
    author.garbled = {"Pure zinc"}
    with serving(author) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, "Metals")
    # One passage after the other may hold several metals: what is dropped is the passage.
    (step, reasons) = next(iter(dropped(result).items()))
    assert (step, reasons) == ("extract", {"unparsed response": 1})
    passages = result.funnel.steps[0].entered
    assert author.asked["extract"] == passages + 1


def test_a_second_build_with_another_share_asks_only_what_is_new(workspace: Workspace) -> None:
    author = Author()
    with serving(author) as server:
        configure(workspace.folder, server.url)
        built(workspace, "Metals", perturbed=0.0)
        assert (author.asked["perturb"], author.asked["falsity"]) == (0, 0)
        extracted = author.asked["extract"]
        built(workspace, "Metals")
    assert author.asked["extract"] == extracted
    assert author.asked["perturb"] == len(METALS)


def test_votes_are_asked_apart_and_types_can_be_drawn(workspace: Workspace) -> None:
    author = Author()
    with serving(author) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, "Metals", votes=3, error_types="scope change=1")
    assert author.asked["support"] == 3 * len(METALS)
    assert author.asked["falsity"] == 3 * len(METALS)
    assert result.complete


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"overlap": 1.5}, "--overlap must be a share from 0 to 1, got 1.5"),
        ({"votes": 0}, "--votes must be 1 or more, got 0"),
        (
            {"error_types": "gibberish"},
            "expected TYPE=WEIGHT with a weight above 0, got 'gibberish'",
        ),
        (
            {"error_types": "scope change=-1"},
            "expected TYPE=WEIGHT with a weight above 0, got 'scope change=-1'",
        ),
    ],
)
def test_parameters_that_cannot_be_are_refused(params: dict[str, object], said: str) -> None:
    defaults = {parameter.name: parameter.default for parameter in PARAMETERS}
    with pytest.raises(BadUsage, match=said):
        make_pipeline({**defaults, **params}, {})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The passage discusses the sandwich package in R.", "The passage discusses"),
        ("This paper also proposes a robust estimator.", "This paper also proposes"),
        ("Three estimators are listed in the passage.", "in the passage"),
        ("Tools for the package are discussed, enabling estimation.", "are discussed"),
        ("We aim at a tool kit for sandwich matrices.", "We aim"),
        ("本文介绍了三种估计量。", "本文"),
        ("作者指出铜的导电性好。", "作者指出"),
        ("这段文字说明了铜的熔点。", "这段文字"),
        ("A paper filter holds back particles of a few micrometres.", ""),
        ("The author of a statute is its legislature.", ""),
        ("Results are described by two numbers.", ""),
        ("The text segment of a program holds its code.", ""),
        ("本文件系统支持快照。", ""),
    ],
)
def test_what_speaks_of_its_passage_is_told(text: str, found: str) -> None:
    assert speaks_of_passage(text) == found


def test_a_book_of_several_files_is_an_input_and_a_draw_keeps_what_was_drawn(
    tmp_path: Path,
) -> None:
    """Of the sources said to be of one book, N passages for each input; a larger N, and more
    sources, keep those that were drawn and still fit."""
    with create_workspace(tmp_path / "work") as opened:
        for part in ("Handbook", "One", "Two"):
            file = tmp_path / f"{part}.txt"
            file.write_text("\n\n".join(f"{part} {n}. {BOOK}" for n in range(6)), encoding="utf-8")
            stated = Stated(stratum=Stratum(field="Metallurgy", book="Handbook"))
            ingest_paths(opened.store, [file], clock=opened.clock, stated=stated)
        builder = PIPELINES["statements"]

        def entering(*inputs: str, **draw: int) -> list[bytes]:
            spec = BuildSpec(kind="statements", inputs=inputs, name="x", **draw)
            return [each.row.id for each in entering_rows(opened.store, builder, spec, {})]

        every = entering("Handbook")
        assert every == entering(*(found.id.hex() for found in reversed(
            opened.store.lookup.every("source"))))  # fmt: skip
        two, five = entering("Handbook", per_input=2), entering("Handbook", per_input=5)
        assert (len(two), len(five)) == (2, 5)
        assert set(two) < set(five)
        assert five == [row for row in every if row in set(five)]
        assert entering("Handbook", per_input=2, seed=1) != two
        assert entering("Handbook", "Handbook", per_input=2, limit=3) == two
        with pytest.raises(NotFound, match="no source is named 'Handbooks'"):
            entering("Handbooks")


def test_a_change_that_was_named_is_made_and_one_of_signs_is_none(workspace: Workspace) -> None:
    """Small models name what they change and then copy the statement, or change its quotes."""
    made: dict[str, dict[str, str]] = {
        "copper": {"right": "conducts electric", "wrong": "insulates electric", "statement": "{}"},
        "silver": {"right": "conducts", "wrong": "insulates", "statement": "`{}`"},
        "gold": {"right": "", "wrong": "", "statement": "'{}'"},
        "iron": {"right": "the lattice of tin", "wrong": "air", "statement": "{}"},
        "zinc": {"right": "e", "wrong": "x", "statement": "{}"},
    }

    class Copying(Author):
        def _perturb(self, blocks: list[str]) -> object:
            metal = next((name for name in made if f"Pure {name} " in blocks[0]), "")
            if not metal:
                return super()._perturb(blocks)
            statement = made[metal]["statement"].format(blocks[0])
            return {
                **made[metal], "statement": statement, "reason": "It conducts.",
                "error_type": "detail falsification", "analysis": "",
            }  # fmt: skip

    with serving(Copying()) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, "Metals")
    assert dropped(result) == {"perturb": {"not changed": 3}}
    assert result.bank is not None
    facts = workspace.store.knowledge.bank(result.bank.id).facts()
    texts = [fact.payload.text for fact in facts if not fact.payload.correct]
    assert sorted(text.split(" well")[0] for text in texts) == [
        "Pure copper insulates electric current",
        "Pure silver insulates electric current",
        "Pure tin insulates electric current",
    ]


def test_overlap_counts_words_numbers_and_pairs_of_characters() -> None:
    passage = "Copper melts at 1084.6 degrees and conducts current."
    assert overlap("Copper melts at 1084.6 degrees.", passage) == 1
    # copper stands there; freezes, 900 and kelvin do not.
    assert overlap("Copper freezes at 900 kelvin.", passage) == 1 / 4
    assert overlap("铜导电", "铜导电性好") == 1
    assert overlap("铜导热", "铜导电性好") == 1 / 2
    assert overlap("...", passage) == 0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Here:\n```json\n{"a": 1}\n```\nDone.', {"a": 1}),
        ('Sure. {"a": {"b": 2}} Anything else?', {"a": {"b": 2}}),
        ('{"a": 1} {"b": 2}', None),
        ('{"a": 1', None),
        ("[1]", None),
        ("", None),
    ],
)
def test_the_object_of_a_reply(text: str, found: object) -> None:
    assert object_of(text) == found


def slow_duplicates(texts: list[str], least: float) -> dict[int, int]:
    """Every pair, one by one."""

    def runs(text: str) -> set[str]:
        plain = " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())
        return {plain} if len(plain) <= 5 else {plain[i : i + 5] for i in range(len(plain) - 4)}

    sets = [runs(text) for text in texts]
    found: dict[int, int] = {}
    for place in range(len(texts)):
        for other in range(place):
            alike = len(sets[place] & sets[other]) / len(sets[place] | sets[other])
            if other not in found and alike >= least:
                found[place] = other
                break
    return found


@given(
    st.lists(st.text("abc de", min_size=1, max_size=24), max_size=12),
    st.sampled_from([0.3, 0.5, 0.7, 0.9, 1.0]),
)
def test_near_duplicates_are_those_of_all_pairs(texts: list[str], least: float) -> None:
    assert near_duplicates(texts, least) == slow_duplicates(texts, least)
