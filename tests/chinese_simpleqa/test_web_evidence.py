"""Short questions checked against the web: what confirms, refutes, fails, leaves, and is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from scripted_examiner import Examiner, passage_of

from proofstone.api import Workspace, create_workspace
from proofstone.build.build import BuildResult
from proofstone.errors import BadUsage, EgressRefused, EndpointUnusable
from proofstone.ingest.ingest import ingest_paths
from proofstone.records.knowledge import Fact
from proofstone.session.permits import SentLog
from scripted_server import Act, ScriptedServer, Seen, answer
from serving import HurriedClock, configure, serving

YEARS = {"Halite": 1801, "Pyrite": 1999}  # what the web says


class World(Examiner):
    """The endpoint, a search of the web, and its pages. The judge of evidence reads the texts: a
    year that none of them holds is contradicted. ``broken`` is a status of the search."""

    def __init__(self) -> None:
        super().__init__()
        self.queries: list[str] = []
        self.fetched: list[str] = []
        self.broken = 0

    def __call__(self, seen: Seen) -> Act:
        if seen.method == "POST":
            return super().__call__(seen)
        path = urlsplit(seen.path)
        name = path.path.rpartition("/")[2]
        if name == "search":
            (query,) = parse_qs(path.query)["q"]
            self.queries.append(query)
            if self.broken:
                return Act(b"broken", status=self.broken)
            found = [each for each in ("Halite", "Pyrite", "Lost") if each in query]
            base = f"http://{seen.headers['host']}/v1/web"
            hits = [{"url": f"{base}/{each}", "title": each, "content": ""} for each in found]
            return Act(json.dumps({"results": hits}).encode())
        self.fetched.append(name)
        if name not in YEARS:
            return Act(b"no", status=404, content_type="text/html")
        return Act(page_of(name), content_type="text/html")

    def _judge(self, kind: str, blocks: list[str]) -> Act:
        if kind != "evidence":
            return super()._judge(kind, blocks)
        _question, year, *texts = blocks
        label = "supported" if any(year in text for text in texts) else "contradicted"
        return answer(json.dumps({"reason": "read", "label": label}))


def page_of(name: str) -> bytes:
    """A page of the web about a mineral."""
    return (
        f"<html lang='en'><title>{name}</title><main><p>The mineral {name} was first described in "
        f"the year {YEARS[name]} by a chemist.</p></main></html>"
    ).encode()


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def server(world: World) -> Iterator[ScriptedServer]:
    with serving(world) as opened:
        yield opened


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def workspace(tmp_path: Path, server: ScriptedServer, told: list[str]) -> Iterator[Workspace]:
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        opened.fetches_local = True
        opened.tell = told.append
        (opened.folder / ".env").write_text(f"SEARXNG_URL={server.url}/web\n", encoding="utf-8")
        configure(opened.folder, server.url)
        yield opened


def ingest(workspace: Workspace, **years: int) -> list[str]:
    """A book with a passage for each mineral; its title."""
    parts = [f"## {name}\n\n{passage_of('rare', name, year)}" for name, year in years.items()]
    file = workspace.folder / "Rocks.md"
    file.write_text("\n\n".join(["# Rocks", *parts]) + "\n", encoding="utf-8")
    ingest_paths(workspace.store, [file], clock=workspace.clock)
    return ["Rocks"]


def built(workspace: Workspace, inputs: list[str], **params: Any) -> BuildResult:
    asked = {"search": "searxng", "documents": "public", "sensitive": "off", **params}
    asked.setdefault("primary_category", "Geology")
    return workspace.build_in_steps(
        "short-qa", inputs, name="minerals", models="scripted/author", judge="scripted/judge",
        **asked,
    )  # fmt: skip


def facts_of(workspace: Workspace, result: BuildResult) -> list[Fact]:
    assert result.bank is not None
    return list(workspace.store.knowledge.bank(result.bank.id).facts())


def dropped(result: BuildResult) -> dict[str, int]:
    (step,) = [each for each in result.funnel.steps if each.name == "evidence"]
    return {reason: n for reason, n in step.dropped.items() if n}


def test_the_web_confirms_one_answer_and_refutes_another(
    workspace: Workspace, world: World, server: ScriptedServer
) -> None:
    """The book is wrong about Pyrite; the page that says Halite's year is named in the question,
    and kept with address, day and hash. The fact stays the book's, so that a purge finds it."""
    result = built(workspace, ingest(workspace, Halite=1801, Pyrite=1802))
    assert dropped(result) == {"contradicted by evidence": 1}
    (fact,) = facts_of(workspace, result)
    url = f"{server.url}/web/Halite"
    assert (fact.payload.answer, fact.payload.urls) == ("1801", (url,))
    assert fact.source is not None
    assert workspace.store.knowledge.sources([fact.source])[fact.source].title == "Rocks"
    (page,) = workspace.web_finder("searxng").noted(fact.payload.question).pages  # type: ignore[union-attr]
    (source,) = workspace.store.knowledge.sources([bytes.fromhex(page.source)]).values()
    assert (source.kind, source.origin) == ("web", url)
    assert source.content.hex() == page.content == sha256(page_of("Halite")).hexdigest()
    assert 0 < page.fetched_at <= workspace.clock.now()
    assert sorted(world.fetched) == ["Halite", "Pyrite"]


def test_a_ready_pair_rests_on_the_page_that_says_it(
    workspace: Workspace, server: ScriptedServer
) -> None:
    pairs = workspace.folder / "pairs.jsonl"
    pairs.write_text(
        '{"question": "In which year was the rare mineral Halite described?", "answer": "1801"}\n',
        encoding="utf-8",
    )
    (fact,) = facts_of(workspace, built(workspace, [str(pairs)]))
    assert fact.source is not None
    source = workspace.store.knowledge.sources([fact.source])[fact.source]
    assert (source.kind, source.origin) == ("web", f"{server.url}/web/Halite")
    assert fact.payload.urls == (source.origin,)


def test_the_own_sources_and_the_web_are_searched_together(
    workspace: Workspace, world: World
) -> None:
    """What the book says of Pyrite is among the texts then; of two searches the same page is one
    text."""
    result = built(
        workspace, ingest(workspace, Halite=1801, Pyrite=1802),
        search="local, searxng, searxng:bing",
    )  # fmt: skip
    assert dropped(result) == {}
    assert all(not fact.payload.urls for fact in facts_of(workspace, result))
    assert len(world.queries) == 4
    assert sorted(world.fetched) == ["Halite", "Pyrite"]


def test_the_same_again_sends_no_query_and_fetches_no_page(
    workspace: Workspace, world: World, server: ScriptedServer
) -> None:
    """Also where only the journal of the steps is another, as for another number of texts: the
    search is not asked again, and a pilot before the build is its first part."""
    inputs = ingest(workspace, Halite=1801, Pyrite=1802)
    workspace.forecast_build(
        "short-qa", inputs, models="scripted/author", judge="scripted/judge", pilot=2,
        search="searxng", primary_category="Geology", sensitive="off", documents="public",
    )  # fmt: skip
    first = built(workspace, inputs)
    asked = server.requests
    again = built(workspace, inputs)
    assert server.requests == asked
    assert (again.bank, again.funnel) == (first.bank, first.funnel)
    queries, fetched = list(world.queries), list(world.fetched)
    built(workspace, inputs, evidence=2)
    assert (world.queries, world.fetched) == (queries, fetched)
    assert len(queries) == len(set(queries)) == 2
    lines = SentLog(workspace.folder / ".proofstone").lines()
    assert sum(line.requests for line in lines if line.what == "searched") == 2
    assert {line.sources for line in lines if line.what == "searched"} == {("Rocks",)}


def test_a_page_that_cannot_be_fetched_is_no_evidence_and_is_told(
    workspace: Workspace, told: list[str]
) -> None:
    result = built(workspace, ingest(workspace, Halite=1801, Lost=1803))
    assert dropped(result) == {"not enough evidence": 1}
    assert told == ["1 of 2 pages of the web read; left out: 1 not_found"]


def test_a_failed_query_holds_its_pair_up_and_is_asked_again(
    workspace: Workspace, world: World, told: list[str]
) -> None:
    world.broken = 502
    inputs = ingest(workspace, Halite=1801)
    held = built(workspace, inputs)
    assert {step.name: step.pending for step in held.funnel.steps if step.pending} == {
        "evidence": 1
    }
    assert told == [
        'searxng did not answer 1 of 1 queries; to "In which year was the rare mineral Halite '
        'first described?": server_error: HTTP 502'
    ]
    world.broken = 0
    written = world.asked["write"]
    (fact,) = facts_of(workspace, built(workspace, inputs))
    assert (fact.payload.answer, world.asked["write"]) == ("1801", written)


def test_a_search_that_answers_nobody_ends_the_build(workspace: Workspace, world: World) -> None:
    world.broken = 403
    with pytest.raises(EndpointUnusable, match="searxng answers bad_key"):
        built(workspace, ingest(workspace, Halite=1801, Pyrite=1802))


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ('[egress]\nhosts = ["local"]\n', "search.example"),
        (
            '[egress]\nhosts = ["search.example"]\n[egress.sources."Rocks"]\nhosts = ["local"]\n',
            "'Rocks' may not be sent to search.example",
        ),
        ("", "no permission to send 'Rocks' to search.example"),
    ],
)
def test_a_refused_search_is_told_before_anything_is_sent(
    workspace: Workspace, server: ScriptedServer, policy: str, said: str
) -> None:
    """By the policy of hosts, by that of the source the queries are made from, and by nobody's
    word: no model is asked either."""
    inputs = ingest(workspace, Halite=1801)
    (workspace.folder / ".env").write_text("SEARXNG_URL=https://search.example\n", encoding="utf-8")
    file = workspace.folder / "proofstone.toml"
    file.write_text(file.read_text(encoding="utf-8") + policy, encoding="utf-8")
    with Workspace(workspace.folder) as opened, pytest.raises(EgressRefused, match=said):
        built(opened, inputs)
    assert server.requests == 0


def test_what_goes_to_a_search_is_told_with_its_sources(workspace: Workspace) -> None:
    """A person hears of the queries before they are sent, and may say no."""
    inputs = ingest(workspace, Halite=1801)
    (workspace.folder / ".env").write_text("SEARXNG_URL=https://search.example\n", encoding="utf-8")
    heard = []

    def refuse(leaving: Any) -> str:
        out = leaving.outgoing
        heard.append((leaving.to, leaving.models, out.noun, [each.title for each in out.origins]))
        return ""

    with Workspace(workspace.folder) as opened:
        opened.ask_egress = refuse
        with pytest.raises(EgressRefused, match="no permission to send 'Rocks'"):
            built(opened, inputs)
    assert heard == [("search.example", ("searxng",), "query", ["Rocks"])]


def test_shown_prompts_send_no_query(workspace: Workspace, server: ScriptedServer) -> None:
    inputs = ingest(workspace, Halite=1801)

    def steps() -> set[str]:
        shown = workspace.prompts_of_build(
            "short-qa", inputs, 1, models="scripted/author", judge="scripted/judge",
            search="searxng", primary_category="Geology", sensitive="off", documents="public",
        )  # fmt: skip
        return {prompt.step for prompt in shown}

    assert steps() == {"knowledge"}
    assert server.requests == 0
    built(workspace, inputs)
    asked = server.requests
    assert "evidence" in steps()
    assert server.requests == asked


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"search": "altavista"}, "nothing can be searched by the name 'altavista'"),
        ({"search": "brave"}, "a search by brave needs BRAVE_SEARCH_API_KEY"),
        ({"search": " , "}, "--search names no search engine"),
        ({"search": "google", "evidence": 0}, "--search cannot be combined with --evidence 0"),
        ({"documents": "auto"}, "would send questions about private documents to the web"),
    ],
)
def test_searches_that_cannot_be(workspace: Workspace, params: dict[str, Any], said: str) -> None:
    inputs = ingest(workspace, Halite=1801)
    with pytest.raises(BadUsage, match=said):
        built(workspace, inputs, **params)
