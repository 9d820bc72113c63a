"""``build reference`` and ``build entities`` from a live wiki and the web: asked once, and kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from proofstone.api import Workspace, create_workspace
from proofstone.build.build import BuildResult
from proofstone.cli import main
from proofstone.errors import BadUsage, EgressRefused, EndpointUnusable
from proofstone.session.permits import SentLog
from scripted_server import Act, ScriptedServer, Seen, answer
from scripted_web import web
from scripted_wiki import WIKI, WikiPage, api_of, asked_of_wiki, wiki
from serving import HurriedClock, configure, serving

ENTITIES = [
    {"name": "Cu", "wikidata": "Q753", "description": "the metal"},
    {"name": "Stannum", "aliases": "tin"},
    {"name": "Kryptonium|x"},
    {"name": "Mercury"},
    {"name": "Vibranium", "nonexistent": True},
]
_PASSAGE = re.compile(r"\[passage \| begin [0-9a-f]{8}\]\n(.*?)\n\[", re.DOTALL)
_SAID = re.compile(r"predicate: .*\nobject: (.*)")
_SHOWN = re.compile(r"\[passage (\d+) \| begin [0-9a-f]{8}\]\n(.*?)\n\[", re.DOTALL)
_NAME = re.compile(r"What it is about: (.*?)(?: \(.*\))?\n")


def world(seen: Seen) -> Act:
    """A wiki, a search with its pages, a model that takes "melts at X" and one that rates."""
    if asked_of_wiki(seen):
        return wiki(seen)
    if seen.method == "GET":
        return web(seen)
    prompt = seen.json["messages"][-1]["content"]
    if (triple := _SAID.search(prompt)) is not None:
        shown = [(n, text) for n, text in _SHOWN.findall(prompt) if triple[1] in text]
        label = "entailment" if shown else "neutral"
        if "reference fact" in prompt:
            label = "neutral"
        rests_on = f"passage {shown[0][0]}" if shown else ""
        return answer(json.dumps({"reason": "r", "rests_on": rests_on, "label": label}))
    passage, name = _PASSAGE.search(prompt), _NAME.search(prompt)
    if passage is None or name is None:
        rated = {"informative": 5, "clear": 5, "suitable": 5, "domains": ["location"]}
        return answer(json.dumps(rated))
    found = re.findall(r"melts at ([\w ]+)", passage[1])
    rows = [{"subject": name[1], "predicate": "melts at", "object": value} for value in found]
    return answer(json.dumps(rows))


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with serving(world) as opened:
        yield opened


@pytest.fixture
def workspace(tmp_path: Path, server: ScriptedServer) -> Iterator[Workspace]:
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        opened.fetches_local = True
        environment = f"SEARXNG_URL={server.url}/web\n"
        (opened.folder / ".env").write_text(environment, encoding="utf-8")
        configure(opened.folder, server.url)
        yield opened


def listed(folder: Path, rows: list[dict[str, Any]] | None = None) -> str:
    path = folder / "entities.json"
    path.write_text(json.dumps(ENTITIES if rows is None else rows), encoding="utf-8")
    return str(path)


def built(workspace: Workspace, entities: str, **params: Any) -> BuildResult:
    return workspace.build_in_steps(
        "reference", [entities], name="metals", models="scripted/author", **params
    )


def dropped(result: BuildResult) -> dict[str, int]:
    return {reason: n for step in result.funnel.steps for reason, n in step.dropped.items() if n}


def exported(workspace: Workspace, result: BuildResult) -> list[dict[str, Any]]:
    assert result.bank is not None
    file = workspace.folder / "out.jsonl"
    workspace.export(f"bank:{result.bank.id.hex()}", file)
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def queries_of(server: ScriptedServer) -> set[str]:
    paths = [urlsplit(seen.path) for seen in server.seen]
    return {parse_qs(path.query)["q"][0] for path in paths if path.path.endswith("/search")}


def gets(server: ScriptedServer) -> int:
    return sum(seen.method == "GET" for seen in server.seen)


def test_articles_of_a_live_wiki_are_asked_for_once(
    workspace: Workspace, server: ScriptedServer, tmp_path: Path
) -> None:
    """Redirects, aliases and pages of meanings as of an offline wiki; names that no title can have
    are not sent. The second time nothing is sent, and it is the same build."""
    told: list[str] = []
    workspace.tell = told.append
    result = built(workspace, listed(tmp_path), corpus=f"wiki:{api_of(server)}")
    assert dropped(result) == {"no article": 1, "article of meanings": 1, "nonexistent": 1}
    triples = {
        (row["entity"], row["object"], row["title"], row["date"], row["source"], row["url"])
        for row in exported(workspace, result)
        if "predicate" in row
    }
    assert triples == {
        ("Cu", "1085 degrees", "Copper", "2021-02-03", "wiki", "https://m.example/wiki/Copper"),
        ("Stannum", "232 degrees", "Tin", "2021-02-03", "wiki", "https://m.example/wiki/Tin"),
    }
    assert told[-2:] == ["3 of 4 articles of " + api_of(server)[7:-10] + " are here",
                         "redirected: Cu -> Copper"]  # fmt: skip
    asked = [asked_of_wiki(seen) for seen in server.seen if seen.method == "GET"]
    assert [query["action"] for query in asked].count("parse") == 3  # copper, tin, mercury
    names = [each for query in asked for each in query.get("titles", "").split("|") if each]
    assert names == ["Cu (the metal)", "Stannum", "Mercury", "Cu", "tin"]
    agents = {seen.headers["user-agent"] for seen in server.seen if seen.method == "GET"}
    assert all(agent.startswith("proofstone/") for agent in agents)
    before = gets(server)
    (line,) = SentLog(workspace.folder / ".proofstone").lines()
    assert (line.what, line.by, line.requests, line.sources) == (
        "fetched", "wiki", before, ("entities.json",),
    )  # fmt: skip
    again = built(workspace, listed(tmp_path), corpus=f"wiki:{api_of(server)}")
    assert (gets(server), again.build.id) == (before, result.build.id)
    assert len(SentLog(workspace.folder / ".proofstone").lines()) == 1


def test_the_web_stands_beside_the_wiki(
    workspace: Workspace, server: ScriptedServer, tmp_path: Path
) -> None:
    """The name with its description is searched for; pages that are gone, too large or no text are
    left out one by one; each passage says where it is from, and which source it is."""
    told: list[str] = []
    workspace.tell = told.append
    rows = [ENTITIES[0], {"name": "nothing"}, ENTITIES[4]]
    result = built(
        workspace, listed(tmp_path, rows), corpus=f"wiki:{api_of(server)}", search="searxng"
    )
    assert dropped(result) == {
        "no article": 1, "nonexistent": 1, "unparsed page": 3, "no page": 1,
        "no triple in it": 1,
    }  # fmt: skip
    assert (
        told[-1] == "2 of 5 pages of the web read; left out: 1 not_found, 1 not_text, 1 too_large"
    )
    queries = {re.search(r"[?&]q=([^&]*)", s.path)[1] for s in server.seen if "search" in s.path}  # type: ignore[index]
    assert queries == {"Cu+the+metal", "nothing"}
    known = exported(workspace, result)
    assert {(row["source"], row["title"]) for row in known} == {
        ("wiki", "Copper"), ("web", "Copper"), ("web", "Glass"),
    }  # fmt: skip
    (triple,) = [row for row in known if row["source"] == "web" and "predicate" in row]
    assert triple["object"] == "1085 degrees Celsius"
    assert triple["passage"].endswith("Copper melts at 1085 degrees Celsius.")
    assert re.fullmatch(r"[0-9a-f]{64}", triple["content"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", triple["date"])
    assert triple["url"].endswith("/web/copper")
    before = gets(server)
    again = built(
        workspace, listed(tmp_path, rows), corpus=f"wiki:{api_of(server)}", search="searxng"
    )
    assert (gets(server), again.build.id) == (before, result.build.id)


def test_precision_and_recall_come_by_wiki_and_web(
    workspace: Workspace, server: ScriptedServer, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """That it is a metal rests on the article, that it conducts on a page; both have one reference
    triple, of which the first that is elicited says that of the article."""
    entities = listed(tmp_path, [ENTITIES[0]])
    result = built(workspace, entities, corpus=f"wiki:{api_of(server)}", search="searxng")
    exported(workspace, result)
    triples = tmp_path / "triples.csv"
    triples.write_text(
        "subject,predicate,object\nCu,melts at,1085 degrees\nCu,is,a metal\n"
        "Cu,conducts,electricity very well\n"
        "Cu,is found in,Utopia\n",
        encoding="utf-8",
    )  # fmt: skip
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main(
            ["grade", str(triples), "--reference", str(workspace.folder / "out.jsonl"),
             "--judge", "scripted/judge", "--sample", "0", "--json", "-w", str(workspace.folder)]
        )  # fmt: skip
    out, err = capsys.readouterr()
    assert left.value.code == 0, err
    by_source = {
        part["value"]: {name: part["estimates"][name]["value"] for name in part["estimates"]}
        for part in json.loads(out)["parts"]
        if part["by"] == "source"
    }
    # What rests on a passage is of its source; what nothing speaks of is of none.
    assert {value: part["precision"] for value, part in by_source.items()} == {"wiki": 1, "web": 1}
    assert {value: part["recall"] for value, part in by_source.items()} == {"wiki": 1, "web": 0}


def test_the_web_alone_or_beside_a_folder(workspace: Workspace, tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "cu.txt").write_text("Copper melts at 1084 degrees.\n", encoding="utf-8")
    entities = listed(tmp_path, [ENTITIES[0]])
    alone = built(workspace, entities, search="searxng")
    both = built(workspace, entities, search="searxng", corpus=f"folder:{documents}")
    assert {row["source"] for row in exported(workspace, alone)} == {"web"}
    assert {row["source"] for row in exported(workspace, both)} == {"web", "documents"}


def test_a_page_that_is_purged_takes_its_triples_along(
    workspace: Workspace, tmp_path: Path
) -> None:
    result = built(workspace, listed(tmp_path, [ENTITIES[0]]), search="searxng")
    (source,) = {
        source.id
        for source in workspace.store.indexed.sources()
        if workspace.store.knowledge.sources([source.id])[source.id].title == "Copper"
    }
    workspace.purge(f"source:{source.hex()}", reason="asked to", name="Ann")
    assert result.bank is not None
    left = workspace.store.knowledge.bank(result.bank.id).readable_facts()
    assert "1085" not in str([fact.payload for fact in left])


def test_a_search_that_fails_holds_the_build_up(workspace: Workspace, tmp_path: Path) -> None:
    """What was answered is kept; nothing is taken for found or not found."""
    entities = listed(tmp_path, [{"name": "Copper"}, {"name": "broken"}])
    with pytest.raises(EndpointUnusable, match=r'searxng did not answer 1 of 2.*"broken".*502'):
        built(workspace, entities, search="searxng")


def test_nothing_is_sent_to_a_host_that_a_policy_does_not_list(
    workspace: Workspace, tmp_path: Path
) -> None:
    settings = workspace.folder / "proofstone.toml"
    policy = '\n[egress]\nhosts = ["local"]\n'
    settings.write_text(settings.read_text(encoding="utf-8") + policy, encoding="utf-8")
    with pytest.raises(EgressRefused, match=r"de\.wikipedia\.org"):
        built(workspace, listed(tmp_path), corpus="wiki:de")


def test_names_of_a_list_go_out_only_where_a_person_lets_them(
    workspace: Workspace, tmp_path: Path
) -> None:
    with pytest.raises(EgressRefused, match=r"entities\.json.*de\.wikipedia\.org"):
        built(workspace, listed(tmp_path), corpus="wiki:de")


@pytest.mark.parametrize("corpus", ["wiki:", "wiki:Deutsch", "wiki:ftp://x.example"])
def test_a_wiki_is_named_by_language_or_address(
    workspace: Workspace, tmp_path: Path, corpus: str
) -> None:
    with pytest.raises(BadUsage, match="names no wiki"):
        built(workspace, listed(tmp_path), corpus=corpus)


# ---------------------------------------------------------------- lists


def entity_list(workspace: Workspace, inputs: list[str], **params: Any) -> BuildResult:
    return workspace.build_in_steps(
        "entities", inputs, name="list", judge="scripted/judge", least_length=0, **params
    )


def test_random_pages_of_a_live_wiki_with_their_statements(
    workspace: Workspace, server: ScriptedServer
) -> None:
    """Tin has nine statements, one less than is asked for; Mercury lists meanings. The same seed
    has the same pages, whatever the wiki would draw now."""
    source = f"wiki:{api_of(server)}"
    result = entity_list(workspace, [source], per_input=3, seed=7)
    assert dropped(result) == {"too few statements": 1, "article of meanings": 1}
    (row,) = exported(workspace, result)
    assert (row["name"], row["wikidata"], row["statements"], row["page_id"]) == (
        "Copper", "Q753", 120, "1",
    )  # fmt: skip
    assert row["wikipedia"] == "https://m.example/wiki/Copper"
    before = gets(server)
    entity_list(workspace, [source], per_input=3, seed=7)
    assert gets(server) == before
    with pytest.raises(BadUsage, match="--per-input"):
        entity_list(workspace, [source])


def test_a_wiki_with_fewer_pages_gives_those(workspace: Workspace, server: ScriptedServer) -> None:
    result = entity_list(workspace, [f"wiki:{api_of(server)}"], per_input=50, least_statements=0)
    assert {row["name"] for row in exported(workspace, result)} == {"Copper", "Tin"}


def test_fictional_entities_are_held_against_the_wiki_and_the_web(
    workspace: Workspace, server: ScriptedServer, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Cu has an article; Celsius is named by the text of a page, Binary by the title of one that
    could not be read; nobody is asked of a real one on the web."""
    names = ["Cu", "Celsius", "Binary", "Valdora", "nothing"]
    rows = [{"name": name, "nonexistent": True} for name in names]
    made = listed(tmp_path, [*rows, {"name": "Copper"}])
    result = entity_list(workspace, [made], corpus=f"wiki:{api_of(server)}", search="searxng")
    assert {row["name"] for row in exported(workspace, result)} == {"Valdora", "nothing", "Copper"}
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["show", f"build:{result.build.id.hex()}", "--dropped", "--json", "-w",
              str(workspace.folder)])  # fmt: skip
    against = [row["found"] for row in json.loads(capsys.readouterr().out)]
    base = f"{server.url}/web"
    assert sorted(against) == [
        f"Binary: binary, {base}/binary", f"Celsius: Copper, {base}/copper", "Cu: Copper",
    ]  # fmt: skip
    assert queries_of(server) == set(names)


def test_a_search_alone_does_for_fictional_ones(workspace: Workspace, tmp_path: Path) -> None:
    result = entity_list(
        workspace, [listed(tmp_path, [{"name": "Valdora", "nonexistent": True}])], search="searxng"
    )
    assert [row["name"] for row in exported(workspace, result)] == ["Valdora"]
    with pytest.raises(BadUsage, match="--corpus"):
        entity_list(workspace, [listed(tmp_path, [{"name": "Tin"}])], search="searxng")


def test_the_command_says_what_it_gathers(
    workspace: Workspace, server: ScriptedServer, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    with pytest.raises(SystemExit) as left:
        main(
            ["build", "reference", listed(tmp_path), "--corpus", f"wiki:{api_of(server)}", "-m",
             "scripted/author", "-w", str(workspace.folder)]
        )  # fmt: skip
    err = capsys.readouterr().err
    assert left.value.code == 0, err
    assert "3 of 4 articles of" in err
    assert "redirected: Cu -> Copper" in err


def test_a_wiki_without_statements_says_so(tmp_path: Path) -> None:
    """One that knows no Wikibase warns, and its entities are kept: their number is not known."""

    def script(seen: Seen) -> Act:
        asked = asked_of_wiki(seen)
        if asked.get("meta") == "wikibase":
            return Act(b'{"batchcomplete":true,"warnings":{"main":{"warnings":"Unrecognized"}}}')
        if asked:
            return wiki(seen, {"Tin": WikiPage(1, "Tin melts.", wikidata="Q1"), **WIKI})
        return world(seen)

    told: list[str] = []
    with serving(script) as server, create_workspace(tmp_path / "work") as workspace:
        workspace.clock, workspace.tell = HurriedClock(), told.append
        configure(workspace.folder, server.url)
        result = entity_list(workspace, [f"wiki:{api_of(server)}"], per_input=1)
        assert result.bank is not None
    assert told[0].endswith("does not name the store of statements about its pages")
