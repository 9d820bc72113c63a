"""A workspace searched with vectors of an endpoint: asked once, let out by source, kept in mind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs

from proofstone.api import Workspace, create_workspace
from proofstone.errors import BadUsage, EgressRefused, EndpointUnusable
from proofstone.records.knowledge import Passage, Source, passage_id, source_id
from proofstone.session.permits import Leaving, SentLog
from scripted_server import Act, ScriptedServer, Seen
from serving import HurriedClock, serving

NAME = "scripted/embed"


class Model:
    """Vectors by whether a text speaks of mint; ``width`` numbers each."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.width = 3

    def __call__(self, seen: Seen) -> Act:
        texts = seen.json["input"]
        self.texts += texts
        rows = [
            {"index": n, "embedding": [float("mint" in text), 1.0] + [0.0] * (self.width - 2)}
            for n, text in enumerate(texts)
        ]
        return Act(json.dumps({"data": rows, "usage": {"prompt_tokens": 7}}).encode())


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def server(model: Model) -> Iterator[ScriptedServer]:
    with serving(model) as opened:
        yield opened


def add(workspace: Workspace, title: str, text: str) -> None:
    source = Source(kind="document", title=title, content=title.encode().ljust(32), language="en")
    source = structs.replace(source, id=source_id(source))
    passage = Passage(source=source.id, start=0, end=len(text), text=text)
    passage = structs.replace(passage, id=passage_id(passage))
    workspace.store.knowledge.add_passages(source, [passage])


def settings(folder: Path, url: str, *lines: str) -> None:
    text = ["[providers.scripted]", f'base_url = "{url}"', *lines, ""]
    (folder / "proofstone.toml").write_text("\n".join(text), encoding="utf-8")


@pytest.fixture
def workspace(tmp_path: Path, server: ScriptedServer) -> Iterator[Workspace]:
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        settings(opened.folder, server.url)
        add(opened, "Herbal", "Wild mint grows here.")
        add(opened, "Almanac", "Noon is at twelve.")
        yield opened


def found(workspace: Workspace, query: str) -> str:
    return workspace.search(query, 1, search_method="dense", embedding_model=NAME)[0].source.title


def test_vectors_are_asked_for_once(workspace: Workspace, model: Model) -> None:
    assert found(workspace, "a mint leaf") == "Herbal"
    assert model.texts == ["Wild mint grows here.", "Noon is at twelve.", "a mint leaf"]
    assert found(workspace, "the clock") == "Almanac"
    assert model.texts[3:] == ["the clock"]
    lines = SentLog(workspace.folder / ".proofstone").lines()
    assert [(line.what, line.by, line.tokens) for line in lines] == [("embedded", NAME, 7)] * 3


def test_a_model_that_gives_other_lengths_is_noticed(workspace: Workspace, model: Model) -> None:
    found(workspace, "mint")
    model.width = 5
    with pytest.raises(BadUsage, match="gives 5 numbers per text, and the index holds 3"):
        found(workspace, "mint")
    add(workspace, "Trees", "An oak stands.")
    assert found(workspace, "mint") == "Herbal"


def test_chunks_leave_only_where_their_source_may(workspace: Workspace, model: Model) -> None:
    """Their own words are asked about by themselves, and a policy of one source holds."""
    settings(workspace.folder, "https://llm.test/v1")
    told: list[Leaving] = []

    def ask(leaving: Leaving) -> str:
        told.append(leaving)
        return ""

    workspace.ask_egress = ask
    with pytest.raises(EgressRefused, match=r"no permission to send 'Almanac', 'Herbal' to"):
        workspace.index(embedding_model=NAME)
    (leaving,) = told
    assert (leaving.outgoing.passages, leaving.outgoing.noun) == (2, "chunk")
    assert model.texts == []


def test_a_source_of_its_own_policy_stays(tmp_path: Path) -> None:
    with create_workspace(tmp_path) as workspace:
        rules = ("[egress]", 'hosts = ["llm.test"]', "[egress.sources.Herbal]", 'hosts = ["local"]')
        settings(workspace.folder, "https://llm.test/v1", *rules)
        add(workspace, "Herbal", "Wild mint grows here.")
        with pytest.raises(EgressRefused, match=r"'Herbal' may not be sent to llm\.test"):
            workspace.index(embedding_model=NAME)


@pytest.mark.parametrize("name", ["local/x.gguf", "sim/ann"])
def test_what_gives_no_vectors_is_refused(workspace: Workspace, name: str) -> None:
    with pytest.raises(BadUsage, match="has no embeddings"):
        workspace.index(embedding_model=name)


def test_an_endpoint_that_fails_leaves_nothing_half_done(tmp_path: Path) -> None:
    with serving(Act(b"{}", status=401)) as server, create_workspace(tmp_path) as workspace:
        settings(workspace.folder, server.url)
        add(workspace, "Herbal", "Wild mint grows here.")
        with pytest.raises(EndpointUnusable, match="returns no vectors: bad_key"):
            workspace.index(embedding_model=NAME)
        assert workspace.search("mint", 1)[0].source.title == "Herbal"
