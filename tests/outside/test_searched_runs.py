"""Runs that ask with what a search of the web found: what is shown, kept, failed and sent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proofstone.api import Workspace, create_workspace
from proofstone.errors import BadUsage, EgressRefused, EndpointUnusable
from proofstone.models.config import load_config
from proofstone.models.egress import EgressGate, EgressPolicy, SourceRule
from proofstone.models.tokens import load_cl100k
from proofstone.records.ids import short
from proofstone.records.items import ItemSet
from proofstone.records.knowledge import Passage, Source, passage_id, source_id
from proofstone.records.runs import run_label
from proofstone.results.trace import Ancestry
from proofstone.run.outbound import plan_loads, remembered_retriever
from proofstone.run.request import Asking, RunRequest, specs_of
from proofstone.run.run_file import read_run_file, run_file_text
from proofstone.session.egress import clear_loads
from proofstone.session.permits import Permits
from scripted_server import Act, ScriptedServer, Seen, answer
from scripted_web import web
from serving import HurriedClock, configure, serving
from small_bank import write_lines

QUESTIONS = [
    {"question": "At how many degrees Celsius does copper melt?", "answer": "1085"},
    {"question": "Does glass conduct electricity?", "answer": "no"},
    {"question": "What is nothing?", "answer": "invalidated"},
]
NOTHING = "A search was made for the question that follows and found nothing that fits it."


class World:
    """One server for the model, the search and the web; ``breaks`` is what a query must not
    hold."""

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self.queries = 0
        self.breaks = ""

    def __call__(self, seen: Seen) -> Act:
        if seen.method == "POST":
            self.prompts.append(seen.json["messages"][-1]["content"])
            return answer("1085")
        if "/search?" in seen.path:
            self.queries += 1
            if self.breaks and self.breaks in seen.path:
                return Act(b"bad gateway", status=502)
        return web(seen)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def server(world: World) -> Iterator[ScriptedServer]:
    with serving(world) as opened:
        yield opened


@pytest.fixture
def workspace(tmp_path: Path, server: ScriptedServer) -> Iterator[Workspace]:
    """A workspace with three questions, and a source of its own."""
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        opened.fetches_local = True
        (opened.folder / ".env").write_text(f"SEARXNG_URL={server.url}/web\n", encoding="utf-8")
        lines = ["[providers.scripted]", f'base_url = "{server.url}"', ""]
        (opened.folder / "proofstone.toml").write_text("\n".join(lines), encoding="utf-8")
        source = Source(kind="document", title="Metals", content=b"m" * 32, language="en")
        source = Source(**{**_fields(source), "id": source_id(source)})
        text = "Copper melts at a degree that this book does not tell."
        passage = Passage(source=source.id, start=0, end=len(text), text=text)
        passage = Passage(**{**_fields(passage), "id": passage_id(passage)})
        opened.store.knowledge.add_passages(source, [passage])
        yield opened


def _fields(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__struct_fields__}


@pytest.fixture
def form(workspace: Workspace, tmp_path: Path) -> ItemSet:
    path = write_lines(tmp_path / "questions.jsonl", QUESTIONS)
    return workspace.import_form(path, method="chinese_simpleqa")


def run(workspace: Workspace, form: ItemSet, **options: Any) -> Any:
    named: dict[str, Any] = {"context": "retrieved", "context_source": "searxng", **options}
    return workspace.run(f"form:{short(form.id)}", models="scripted/one", **named)


def test_one_command_compares_memory_own_sources_and_the_web(
    workspace: Workspace, form: ItemSet, world: World
) -> None:
    results = run(
        workspace, form, context=["none", "retrieved"], context_source=["local", "searxng"]
    )
    assert [run_label(result.planned.run) for result in results] == [
        "scripted/one direct",
        "scripted/one direct context=retrieved",
        "scripted/one direct context=retrieved:searxng",
    ]
    assert len({result.planned.run.id for result in results}) == 3
    about_copper = [each for each in world.prompts if each.rstrip().endswith("melt?")]
    plain, own, searched = about_copper
    assert "search" not in plain
    assert "this book does not tell" in own
    assert "Copper melts at 1085 degrees Celsius." in searched
    assert world.queries == len(QUESTIONS)


def test_a_reply_is_traced_to_the_page_that_it_was_shown(
    workspace: Workspace, form: ItemSet
) -> None:
    (result,) = run(workspace, form, context_chunks=1)
    (stored, *_rest) = workspace.store.items.page(form.id, -1, 1)
    (response, *_more) = workspace.store.traces.responses(result.planned.key, stored.key)
    item = workspace.store.lookup.find(f"item:{short(stored.loaded.item.id)}", ("item",))
    lines = [str(row) for row in Ancestry(workspace.store).of_response(response, item)]
    assert lines[1].lstrip().startswith("passage:")
    assert lines[2].strip().partition("  ")[2].startswith("Copper  http://127.0.0.1:")
    settings = result.planned.run.settings
    assert (settings["context_source"], settings["context_search"]) == ("searxng", "bm25")


def test_that_nothing_was_found_is_said_in_the_prompt(
    workspace: Workspace, form: ItemSet, world: World
) -> None:
    (result,) = run(workspace, form)
    (prompt,) = [each for each in world.prompts if "What is nothing?" in each]
    assert prompt.startswith(NOTHING)
    assert result.planned.notes[0].startswith("for 1 of 3 questions nothing was found")
    assert result.n_scored + result.waiting == len(QUESTIONS)


def test_a_question_whose_search_failed_is_no_wrong_answer(
    workspace: Workspace, form: ItemSet, world: World
) -> None:
    """It is not asked, the run is not whole, and going on with it searches again."""
    world.breaks = "glass"
    (broken,) = run(workspace, form)
    assert len(world.prompts) == 2
    assert (broken.failed, broken.errors, broken.complete) == (1, ("search_failed",), False)
    assert broken.n_scored + broken.waiting == 2
    assert "failed (server_error: HTTP 502): they are not asked" in broken.planned.notes[1]
    world.breaks = ""
    (mended,) = workspace.resume(f"run:{short(broken.planned.run.id)}")
    assert mended.planned.run.id == broken.planned.run.id
    assert (len(world.prompts), mended.failed, mended.is_asked) == (3, 0, True)


def test_a_search_that_answers_nobody_ends_the_command_before_a_model_is_asked(
    workspace: Workspace, form: ItemSet, world: World
) -> None:
    world.breaks = "?q="
    with pytest.raises(EndpointUnusable, match="searxng answers server_error"):
        run(workspace, form)
    assert world.prompts == []


def test_the_same_again_sends_nothing(workspace: Workspace, form: ItemSet, world: World) -> None:
    (first,) = run(workspace, form)
    n_queries, n_prompts = world.queries, len(world.prompts)
    (again,) = run(workspace, form)
    assert (again.planned.run.id, world.queries, len(world.prompts)) == (
        first.planned.run.id, n_queries, n_prompts,
    )  # fmt: skip


def test_only_what_is_asked_is_searched_for(
    workspace: Workspace, form: ItemSet, world: World
) -> None:
    run(workspace, form, limit=1)
    assert (world.queries, len(world.prompts)) == (1, 1)


def test_a_dry_run_searches_nothing(workspace: Workspace, form: ItemSet, world: World) -> None:
    (prompt, *_rest) = workspace.rendered(_specs(workspace, form), 1)
    assert NOTHING in str(prompt)
    workspace.dry_run(
        f"form:{short(form.id)}", models="sim/ann", pilot=0, context="retrieved",
        context_source="searxng",
    )  # fmt: skip
    assert world.queries == 0


def _specs(workspace: Workspace, form: ItemSet) -> Any:
    return specs_of(
        workspace, f"form:{short(form.id)}", models="scripted/one", context="retrieved",
        context_source="searxng",
    )  # fmt: skip


def test_no_query_leaves_that_nobody_allowed(workspace: Workspace, form: ItemSet) -> None:
    env = workspace.folder / ".env"
    env.write_text("SEARXNG_URL=https://search.test\n", encoding="utf-8")
    with pytest.raises(EgressRefused, match=r"no permission to send .* to search\.test"):
        run(workspace, form)


def test_questions_on_a_source_that_may_not_go_are_not_searched_for(
    workspace: Workspace, form: ItemSet
) -> None:
    env = workspace.folder / ".env"
    env.write_text("SEARXNG_URL=https://search.test\n", encoding="utf-8")
    rules = ["", "[egress]", 'hosts = ["search.test"]', f'[egress.sources."{form.name}"]',
             'hosts = ["local"]', ""]  # fmt: skip
    with (workspace.folder / "proofstone.toml").open("a", encoding="utf-8") as file:
        file.write("\n".join(rules))
    with pytest.raises(EgressRefused, match=r"may not be sent to search\.test"):
        run(workspace, form)


def test_pages_go_to_a_model_as_one_origin(workspace: Workspace, form: ItemSet) -> None:
    """A policy knows them by one name, however many there are."""
    run(workspace, form)
    specs = _specs(workspace, form)
    configure(workspace.folder, "https://api.example.com/v1")
    retriever = remembered_retriever(workspace, specs)
    workspace.config = load_config(workspace.folder)
    loads = plan_loads(workspace, specs, retriever)
    (load,) = loads.values()
    assert [origin.title for origin in load.outgoing.origins] == ["pages of the web", form.name]
    rule = SourceRule("pages of the web", ("local",))
    gate = EgressGate([EgressPolicy("here", ("api.example.com",), (rule,))])
    with pytest.raises(EgressRefused, match="'pages of the web' may not be sent to"):
        clear_loads(loads, gate, permits=Permits(workspace.folder), ask=None, clock=workspace.clock)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"context_source": "altavista"}, "unknown search 'altavista'"),
        ({"context_source": "brave"}, "needs BRAVE_SEARCH_API_KEY"),
    ],
)
def test_a_search_that_is_not_there_is_refused(
    workspace: Workspace, form: ItemSet, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(BadUsage, match=told):
        run(workspace, form, **options)


def test_a_run_file_keeps_where_it_searches(tmp_path: Path) -> None:
    request = RunRequest(
        targets=("form:12345678",), models={"sim/ann": Asking()},
        prompt_methods={"direct": Asking()},
        whole={
            "context": ("none", "retrieved"), "context_source": ("local", "searxng:bing+baidu"),
            "context_search": "dense", "context_embedding_model": "corp/embed",
        },
    )  # fmt: skip
    file = tmp_path / "run.toml"
    file.write_text(run_file_text(request, tmp_path), encoding="utf-8")
    read = read_run_file(file).request
    assert (read.asked.context_source, read.asked.context_embedding_model) == (
        request.asked.context_source, "corp/embed",
    )  # fmt: skip
    asked = [(spec.context, spec.context_source) for spec in read.specs([b"f" * 32])]
    assert asked == [("none", "local"), ("retrieved", "local"), ("retrieved", "searxng:bing+baidu")]


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        (
            RunRequest(whole={"context_source": ("brave",)}),
            "--context-source goes with --context retrieved",
        ),
        (
            RunRequest(whole={"context": ("retrieved",), "context_embedding_model": "a/b"}),
            "--embedding-model goes with",
        ),
    ],
)
def test_options_that_mean_nothing_together(request_: RunRequest, told: str) -> None:
    with pytest.raises(BadUsage, match=told):
        request_.specs([b"f" * 32])


# The beginnings of the most relevant pages, instead of their best chunks.


class Wide(World):
    """Ten hits: eight pages on copper, best first at the end, and two on something else."""

    def __call__(self, seen: Seen) -> Act:
        if "/search?" in seen.path:
            self.queries += 1
            base = f"http://{seen.headers['host']}/v1/web"
            hits = [{"url": f"{base}/page-{n}", "title": f"{n}"} for n in range(12)]
            return Act(json.dumps({"results": hits}).encode())
        if "/page-" in seen.path:
            self.fetched += 1
            return Act(_page(int(seen.path.rpartition("-")[2])), content_type="text/html")
        return super().__call__(seen)

    fetched = 0


def _page(n: int) -> bytes:
    told = "copper melt degrees " * (n + 1) if n < 8 else "Tides rise twice a day."
    first = "".join(f"<p>Line {line} begins page {n} and tells little.</p>" for line in range(9))
    return (
        f"<html lang='en'><title>Page {n}</title><main>{first}<p>{told.strip()}.</p></main></html>"
    ).encode()


@pytest.fixture
def wide(workspace: Workspace) -> Iterator[Wide]:
    wide = Wide()
    with serving(wide) as server:
        (workspace.folder / ".env").write_text(f"SEARXNG_URL={server.url}/web\n", encoding="utf-8")
        lines = ["[providers.scripted]", f'base_url = "{server.url}"', ""]
        (workspace.folder / "proofstone.toml").write_text("\n".join(lines), encoding="utf-8")
        workspace.config = load_config(workspace.folder)
        yield wide


def test_the_first_tokens_of_the_most_relevant_pages_are_shown(
    workspace: Workspace, form: ItemSet, wide: Wide
) -> None:
    """Ten hits are read, those without the words of the question left out, five shown."""
    (result,) = run(workspace, form, context_page_tokens=40, limit=1)
    assert wide.fetched == 10
    (prompt,) = wide.prompts
    shown = list(dict.fromkeys(re.findall(r"begins page (\d+)", prompt)))
    assert len(shown) == 5
    assert not {"8", "9"} & set(shown)
    assert "Line 0 begins" in prompt
    assert "Line 8 begins" not in prompt
    assert "copper melt degrees" not in prompt
    count = load_cl100k()
    for page in shown:
        lines = re.findall(rf"Line \d+ begins page {page} and tells little\.", prompt)
        assert 0 < count("\n\n".join(lines)) <= 40
    settings = result.planned.run.settings
    assert settings["context_page_tokens"] == 40


def test_all_pages_together_stay_within_the_limit_of_tokens(
    workspace: Workspace, form: ItemSet, wide: Wide
) -> None:
    run(workspace, form, context_page_tokens=40, context_tokens=60, limit=1)
    (prompt,) = wide.prompts
    assert len(set(re.findall(r"begins page (\d+)", prompt))) <= 2


def test_beginnings_of_pages_are_another_run(
    workspace: Workspace, form: ItemSet, world: World
) -> None:
    (chunks,) = run(workspace, form)
    (pages,) = run(workspace, form, context_page_tokens=40)
    (more,) = run(workspace, form, context_page_tokens=50)
    assert len({each.planned.run.id for each in (chunks, pages, more)}) == 3
    (again,) = run(workspace, form, context_page_tokens=50)
    assert again.planned.run.id == more.planned.run.id
    assert world.queries == len(QUESTIONS)


def test_pages_of_own_sources_have_no_beginnings(workspace: Workspace, form: ItemSet) -> None:
    with pytest.raises(BadUsage, match="--context-page-tokens shows pages of the web"):
        run(workspace, form, context_source=["local", "searxng"], context_page_tokens=40)
    with pytest.raises(BadUsage, match="--context-page-tokens shows pages of the web"):
        run(workspace, form, context_source="local", context_page_tokens=40)


def test_chunks_of_pages_have_the_length_asked_for(
    workspace: Workspace, form: ItemSet, world: World
) -> None:
    run(workspace, form, context_chunk_tokens=8)
    (prompt,) = [each for each in world.prompts if "does copper melt" in each.lower()
                 or each.rstrip().endswith("melt?")]  # fmt: skip
    assert "Copper melts at 1085 degrees Celsius." not in prompt
