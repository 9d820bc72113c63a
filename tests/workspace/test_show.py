"""``show`` prints any row and the rows that it came from, by ids that it takes itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from proofstone.api import create_workspace, open_workspace
from proofstone.methods.encyclo_k.payloads import Statement
from proofstone.records.knowledge import (
    BuiltFact,
    Fact,
    Passage,
    Source,
    Stratum,
    fact_id,
    passage_id,
    source_id,
)
from told import Proofstone

BOOK = Source(kind="document", title="Book of pumps", content=sha256(b"pumps").digest())
BOOK = msgspec.structs.replace(BOOK, id=source_id(BOOK))


def passages() -> list[Passage]:
    """One passage a page, for each statement and its false twin."""
    made = []
    for n in range(12):
        text = f"Pump {n} opens its valve at {n + 10} bar."
        passage = Passage(source=BOOK.id, page=n + 1, start=0, end=len(text), text=text)
        made.append(msgspec.structs.replace(passage, id=passage_id(passage)))
    return made


def facts(found: list[Passage]) -> Iterator[BuiltFact]:
    """A true statement of each passage, and a false one that names it and has no place itself."""
    place = Stratum("Machines", "Pumps", "", "Book of pumps")
    for n, passage in enumerate(found):
        payload = Statement(text=passage.text, correct=True)
        kind = "encyclo_k.statement"
        true = Fact(
            kind=kind, payload=payload, stratum=place, source=BOOK.id, passage=passage.id,
            page=str(n + 1), language="en",
        )  # fmt: skip
        true = msgspec.structs.replace(true, id=fact_id(true))
        yield BuiltFact(true, BOOK)
        lie = Statement(
            text=passage.text.replace(f"{n + 10} bar", f"{n + 50} bar"),
            correct=False, origin=true.id, reason=f"it is {n + 10}",
            error_type="detail falsification",
        )  # fmt: skip
        false = Fact(kind=kind, payload=lie, stratum=place, language="en")
        yield BuiltFact(msgspec.structs.replace(false, id=fact_id(false)))


@pytest.fixture(scope="module")
def pumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bank whose statements stand on pages, a form, and two models asked twice."""
    folder = tmp_path_factory.mktemp("pumps")
    with create_workspace(folder) as workspace:
        found = passages()
        workspace.store.knowledge.add_passages(BOOK, found)
        workspace.store.knowledge.add_bank("pumps", "encyclo_k", list(facts(found)), now=1.0)
        forms = workspace.build_form("pumps", questions=4)
        workspace.run(forms, models=["sim/ann?ability=1", "sim/bob"], samples=2)
    return folder


@pytest.fixture
def score(pumps: Path) -> str:
    """The id of the first score of the first run, as people type it."""
    with open_workspace(pumps) as workspace:
        key, _run = workspace.store.runs.every()[0]
        current = workspace.store.scores.current(key)
        assert current is not None
        places = workspace.store.scores.places(current.key, "accuracy", ["answered"], None, 1)
        (item, sample) = places[0]
        shown = workspace.store.traces.item_id(item).hex()[:8]
        return f"score:{current.id.hex()[:8]}/{shown}/{sample}"


def test_a_score_leads_back_to_reply_item_statement_passage_page_and_source(
    pumps: Path, score: str, proofstone: Proofstone
) -> None:
    """Each in its own line, indented behind what came from it."""
    said = proofstone("show", score, "-w", pumps)
    assert said.code == 0, said.err
    assert said.out.startswith(
        f"{score}/accuracy\nmeasure    accuracy\noutcome    answered   value "
    )
    came = said.out.partition("\ncame from\n")[2]
    order = [
        "scoring",
        "response",
        "call",
        "run",
        "form",
        "bank",
        "item",
        "fact",
        "passage",
        "source",
    ]
    firsts = [came.index(f"{kind}:") for kind in order]
    assert firsts == sorted(firsts)
    assert re.search(
        r"(?m)^    fact:\w{8}  correct: Pump (\d+) opens .* bar\.\n"
        r"      passage:\w{8}  page \d+, characters 0 to 3\d  Pump \1 opens .* bar\.\n"
        r"        source:\w{8}  Book of pumps$",
        came,
    )
    assert re.search(
        r"(?m)^    fact:\w{8}  not correct: Pump (\d+) opens .* bar\.\n"
        r"      fact:\w{8}  correct: Pump \1 .*\n        passage:\w{8}  page",
        came,
    )


def test_every_id_that_is_shown_can_be_shown_in_turn(
    pumps: Path, score: str, proofstone: Proofstone
) -> None:
    """From one score on, over text and JSON, until nothing new is named."""
    waiting, seen = [score], set()
    while waiting:
        name = waiting.pop()
        said = proofstone("show", name, "-w", pumps)
        assert said.code == 0, (name, said.err)
        shown = proofstone("show", name, "-w", pumps, "--json")
        ancestors = shown.json["ancestors"]
        assert [f"{'  ' * each['depth']}{each['id']}" for each in ancestors] == re.findall(
            r"(?m)^  (\s*\w+:[\w/.]+)  ", said.out.rpartition("\ncame from\n")[2] + "\n"
        )[: len(ancestors)], name
        assert {each["kind"] for each in ancestors} == {
            each["id"].partition(":")[0] for each in ancestors
        }
        seen.add(name)
        waiting += {each["id"] for each in ancestors} - seen - set(waiting)
    kinds = {name.partition(":")[0] for name in seen}
    assert kinds == {
        "score", "scoring", "response", "call", "run", "form", "bank", "item", "fact", "passage",
        "source",
    }  # fmt: skip


def test_a_response_shows_what_was_sent_and_came_and_its_scores(
    pumps: Path, score: str, proofstone: Proofstone
) -> None:
    """By run and item; its line for the score is the score's own id."""
    with open_workspace(pumps) as workspace:
        _key, run = workspace.store.runs.every()[0]
    item = score.split("/")[1]
    said = proofstone("show", f"response:{run.id.hex()[:6]}/{item}/0", "-w", pumps)
    assert said.out.startswith(f"response:{run.id.hex()[:8]}/{item}/0\n")
    assert f"score   {score.rpartition('/')[0]}/0/accuracy  answered" in said.out
    assert "--- sent, user\n" in said.out
    assert '--- raw response\n{"object":"chat.completion"' in said.out


def test_what_names_several_rows_lists_them(
    pumps: Path, score: str, proofstone: Proofstone
) -> None:
    """Two samples: both responses are listed; so are the scores."""
    with open_workspace(pumps) as workspace:
        _key, run = workspace.store.runs.every()[0]
    item = score.split("/")[1]
    place = f"{run.id.hex()[:8]}/{item}"
    said = proofstone("show", f"response:{place}", "-w", pumps)
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        f"error[PS-201]: '{place}' names 2 rows: response:{place}/0, response:{place}/1\n"
        "  help: name one of them\n"
    )
    several = proofstone("show", score.rpartition("/")[0], "-w", pumps)
    assert f"names 2 rows: {score.rpartition('/')[0]}/0/accuracy, " in several.err
    assert proofstone("show", f"response:{place}/1", "-w", pumps).code == 0
    current = proofstone("show", f"score:run:{place}/0", "-w", pumps)
    assert current.out.startswith(f"{score.rpartition('/')[0]}/0/accuracy\n")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "response:abcd",
            "invalid ID 'abcd'\n  help: expected RUN/ITEM/SAMPLE, as 'show' prints it",
        ),
        ("response:0000/0000", "no run is named '0000'"),
        (
            "call:xyz",
            "invalid call ID 'xyz'\n  help: expected call: and 4 or more hexadecimal digits",
        ),
        ("call:00000000", "no call is named '00000000'"),
        ("score:00000000/0000", "no scoring is named"),
        ("scoring:00000000", "no scoring is named"),
    ],
)
def test_a_name_of_nothing_says_what_was_expected(
    pumps: Path, proofstone: Proofstone, name: str, says: str
) -> None:
    """Exit 2, nothing on stdout."""
    said = proofstone("show", name, "-w", pumps)
    assert (said.code, said.out) == (2, "")
    assert says in said.err


def test_a_statement_is_a_fact(pumps: Path, proofstone: Proofstone) -> None:
    """The method's word for the kind finds it as well."""
    with open_workspace(pumps) as workspace:
        fact = workspace.store.lookup.every("fact", 1)[0].id.hex()[:8]
    said = proofstone("show", f"statement:{fact}", "-w", pumps)
    assert said.out == proofstone("show", f"fact:{fact}", "-w", pumps).out
    assert said.code == 0


def test_a_run_shows_itself_and_its_replies(pumps: Path, proofstone: Proofstone) -> None:
    """How it was asked, its scorings and its form first; with a filter the replies alone."""
    with open_workspace(pumps) as workspace:
        _key, run = workspace.store.runs.every()[0]
    name = f"run:{run.id.hex()[:8]}"
    said = proofstone("show", name, "-w", pumps, "-n", 1)
    assert said.out.startswith(
        f"{name}\nrun            {run.id.hex()}\nmodel          sim/ann?ability=1"
    )
    assert "\nresponses      8 of 8\n" in said.out
    assert re.search(r"\ncame from\n  form:\w{8}  pumps, 4 questions, seed 0\n", said.out)
    assert said.out.count("--- raw response") == 1
    shown = proofstone("show", name, "-w", pumps, "-n", 2, "--json").json
    assert (len(shown["responses"]), shown["ancestors"][0]["kind"]) == (2, "form")


def test_purged_rows_are_shown_as_such(pumps: Path, tmp_path: Path, proofstone: Proofstone) -> None:
    """The whole chain still stands by its ids; texts say that they were purged, the source who did
    it and what held it; listings, replies and pages go on."""
    with open_workspace(pumps) as workspace:
        workspace.backup(tmp_path / "b.sqlite")
        _key, run = workspace.store.runs.every()[0]
    work = tmp_path / "work"
    proofstone("workspace", "restore", tmp_path / "b.sqlite", work)
    source = f"source:{BOOK.id.hex()[:8]}"
    purge = ("workspace", "purge", source, "--reason", "recalled", "--actor", "Ada", "--yes")
    assert proofstone(*purge, "-w", work).code == 0
    said = proofstone("show", source, "-w", work).out
    assert re.search(r"tombstone +purged on .* by Ada: recalled\n", said)
    assert re.search(r"held by +bank:\w{8}  pumps   24 of 24\n", said)
    assert re.search(r"held by +run:\w{8}  sim/bob direct   8 of 8\n", said)
    responses = proofstone("show", f"run:{run.id.hex()}", "-w", work)
    assert responses.code == 0, responses.err
    assert "--- question, as people read it\n(purged)\n" in responses.out
    assert proofstone("show", f"run:{run.id.hex()}", "-w", work, "--json").code == 0
    for kind in ("bank", "form"):
        (name,) = re.findall(rf"{kind}:\w{{8}}", proofstone("list", kind, "-w", work).out)
        assert "(purged)" in proofstone("show", name, "-w", work).out
    page = tmp_path / "page.html"
    assert proofstone("report", "pumps", "-o", page, "-w", work).code == 0
    assert " bar." not in page.read_text(encoding="utf-8")
    with open_workspace(work) as workspace:
        item = workspace.store.items.places(run.item_set, -1, 1)[0][1]
        name = workspace.store.traces.item_id(item).hex()[:8]
        fact = workspace.store.traces.facts_of_item(item)[0].id.hex()[:8]
    score = proofstone("show", f"score:run:{run.id.hex()[:8]}/{name}/0", "-w", work)
    assert score.code == 0, score.err
    assert re.search(r"outcome +answered   value 1\n", score.out)
    assert re.search(r"source:\w{8}  Book of pumps  \(purged\)", score.out)
    for each in (f"item:{name}", f"fact:{fact}", f"response:{run.id.hex()[:8]}/{name}/0"):
        shown = proofstone("show", each, "-w", work)
        assert (shown.code, "(purged)" in shown.out) == (0, True), shown.err
