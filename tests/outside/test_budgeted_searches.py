"""Searches and embeddings under a budget: charged exactly, stopped in time, told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proofstone.api import Workspace, create_workspace
from proofstone.errors import BadInput, BudgetReached, NoPrice
from proofstone.models.budget import Budget, Spending, money
from proofstone.models.config import load_config
from proofstone.records.ids import short
from proofstone.records.items import ItemSet
from proofstone.records.runs import Spent
from proofstone.session.permits import SentLog
from proofstone.session.progress import beside_text
from proofstone.session.session import Session
from scripted_server import Act, ScriptedServer, Seen, answer, drop
from scripted_web import web
from serving import HurriedClock, serving
from small_bank import write_lines
from told import Proofstone

QUESTIONS = [
    {"question": "At how many degrees Celsius does copper melt?", "answer": "1085"},
    {"question": "Does glass conduct electricity?", "answer": "no"},
    {"question": "What is nothing?", "answer": "invalidated"},
]
EMBED = "scripted/embed"
SOURCE = 'date = "2025-11-01", source = "https://e.x"'
CHAT_COST = (100 * 2.0 + 5 * 10.0) / 1e6  # of one reply of the scripted server
COUNTED = 7  # tokens of an embedding request, as the endpoint counts them
EMBED_COST = COUNTED * 1.0 / 1e6
SEARCH_COST = 5.0 / 1000


class World:
    """One server for the model, the embedder, the search and the web."""

    def __init__(self) -> None:
        self.queries = self.embedded = self.asked = 0
        self.fails: Act | None = None  # what the next search or embedding request meets
        self.counts = True

    def __call__(self, seen: Seen) -> Act:
        if seen.method == "POST" and "input" not in seen.json:
            self.asked += 1
            return answer("1085", prompt_tokens=100, completion_tokens=5)
        is_search = "/search?" in seen.path
        if is_search or seen.method == "POST":
            self.queries, self.embedded = self.queries + is_search, self.embedded + (not is_search)
            if self.fails is not None:
                act, self.fails = self.fails, None
                return act
        if seen.method != "POST":
            return web(seen)
        rows = [{"index": n, "embedding": [1.0, n]} for n in range(len(seen.json["input"]))]
        usage = {"usage": {"prompt_tokens": COUNTED}} if self.counts else {}
        return Act(json.dumps({"data": rows, **usage}).encode())


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def server(world: World) -> Iterator[ScriptedServer]:
    with serving(world) as opened:
        yield opened


def settings(workspace: Workspace, url: str, *, prices: bool = True) -> None:
    chat, embed, search = (
        f"price = {{ {amount}, {SOURCE} }}" if prices else ""
        for amount in ("input = 2.0, output = 10.0", "input = 1.0, output = 0.0", "per_1000 = 5.0")
    )
    lines = [
        "[providers.scripted]", f'base_url = "{url}"', '[models."scripted/one"]', chat,
        f'[models."{EMBED}"]', embed, "[searches.searxng]", search, "",
    ]  # fmt: skip
    (workspace.folder / "proofstone.toml").write_text("\n".join(lines), encoding="utf-8")
    vars(workspace).pop("config", None)


@pytest.fixture
def workspace(tmp_path: Path, server: ScriptedServer) -> Iterator[Workspace]:
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        opened.fetches_local = True
        (opened.folder / ".env").write_text(f"SEARXNG_URL={server.url}/web\n", encoding="utf-8")
        settings(opened, server.url)
        yield opened


@pytest.fixture
def form(workspace: Workspace, tmp_path: Path) -> ItemSet:
    path = write_lines(tmp_path / "questions.jsonl", QUESTIONS)
    return workspace.import_form(path, method="chinese_simpleqa")


def run(workspace: Workspace, form: ItemSet, spending: Spending, **options: Any) -> Any:
    named: dict[str, Any] = {"context": "retrieved", "context_source": "searxng", **options}
    budget: Any = spending  # one that is shared
    return workspace.run(
        f"form:{short(form.id)}", models="scripted/one", budget=budget, max_tokens=20, **named
    )


def test_a_budget_stops_before_the_search_that_it_does_not_cover(
    workspace: Workspace, form: ItemSet, world: World
) -> None:
    spending = workspace.spending("0.012USD")
    with pytest.raises(
        BudgetReached,
        match=r"budget of 0\.012 USD is reached: 0\.01 USD spent, and another search by searxng "
        r"may cost 0\.005 USD",
    ):
        run(workspace, form, spending)
    assert (world.queries, world.asked) == (2, 0)
    assert spending.spent == money(2 * SEARCH_COST)
    more = workspace.spending("1USD")  # what was answered is kept, and not charged again
    run(workspace, form, more)
    assert (world.queries, world.asked) == (3, 3)
    assert more.spent == money(SEARCH_COST + 3 * CHAT_COST)
    assert more.beside == {"searxng": Spent(calls=1, cost_usd=SEARCH_COST)}


def test_a_search_that_failed_is_charged_where_it_may_have_been_billed(
    workspace: Workspace, form: ItemSet, world: World
) -> None:
    world.fails = drop()
    spending = workspace.spending("1USD")
    run(workspace, form, spending)
    searched = spending.beside["searxng"]
    assert (searched.calls, searched.estimated_calls, world.queries) == (4, 1, 4)
    assert spending.spent == money(4 * SEARCH_COST + 3 * CHAT_COST)
    assert beside_text("searxng", searched) == (
        "searxng: 4 searches, 1 of them without an answer, 0.0200 USD"
    )
    lines = SentLog(workspace.folder / ".proofstone").lines()
    assert sum(line.cost_usd or 0 for line in lines if line.what == "searched") == 4 * SEARCH_COST


def test_an_error_by_status_costs_no_search(
    workspace: Workspace, form: ItemSet, world: World
) -> None:
    world.fails = Act(b"bad gateway", status=502)
    spending = workspace.spending("1USD")
    run(workspace, form, spending)
    assert world.queries == 4
    assert spending.beside["searxng"].calls == 3


def test_a_budget_holds_chat_calls_searches_and_embeddings_together(
    workspace: Workspace, form: ItemSet, world: World
) -> None:
    spending = workspace.spending("1USD")
    run(workspace, form, spending, context_search="dense", embedding_model=EMBED)
    assert world.embedded > 0
    assert spending.beside[EMBED] == Spent(
        calls=world.embedded, prompt_tokens=COUNTED * world.embedded,
        cost_usd=pytest.approx(world.embedded * EMBED_COST),
    )  # fmt: skip
    whole = 3 * SEARCH_COST + world.embedded * EMBED_COST + 3 * CHAT_COST
    assert spending.spent == money(whole)
    assert spending.reserved == spending.in_flight == 0


def test_a_budget_stops_before_the_texts_that_it_does_not_cover(
    workspace: Workspace, world: World
) -> None:
    worst = (4 + 64) * 1.0 / 1e6  # four bytes, and what may be set around a text
    spending = Spending(Budget("USD", money(worst + EMBED_COST)))
    embedding_model = workspace.embedding_model(EMBED, spending)
    embedding_model.embed(["mint"])
    embedding_model.embed(["sage"])
    with pytest.raises(BudgetReached, match="another embedding request to scripted/embed may cost"):
        embedding_model.embed(["rose"])
    assert world.embedded == 2
    assert spending.spent == money(2 * EMBED_COST)


def test_a_budget_in_tokens_counts_embedded_ones_and_no_search(
    workspace: Workspace, form: ItemSet, world: World, server: ScriptedServer
) -> None:
    settings(workspace, server.url, prices=False)
    spending = workspace.spending("1Mtok")
    run(workspace, form, spending, context_search="dense", embedding_model=EMBED)
    assert spending.spent == 3 * 105 + COUNTED * world.embedded
    assert beside_text("searxng", spending.beside["searxng"]) == (
        "searxng: 3 searches without a price"
    )


def test_texts_without_a_count_are_charged_at_the_most(workspace: Workspace, world: World) -> None:
    world.counts = False
    spending = workspace.spending("1USD")
    workspace.embedding_model(EMBED, spending).embed(["mint", "sage"])
    most = 2 * (4 + 64)
    assert spending.spent == money(most * 1.0 / 1e6)
    assert spending.beside[EMBED].estimated_tokens == most
    assert beside_text(EMBED, spending.beside[EMBED]) == (
        "scripted/embed: 1 embedding request, 0.000136 USD (up to 0.000136 of it estimated: 1 call "
        "without a count), 136 tokens"
    )


def test_a_broken_connection_may_have_embedded_texts(workspace: Workspace, world: World) -> None:
    world.fails = drop()
    spending = workspace.spending("1USD")
    workspace.embedding_model(EMBED, spending).embed(["mint"])
    assert spending.spent == money((4 + 64) * 1.0 / 1e6) + money(EMBED_COST)


def test_a_budget_in_money_needs_the_price_of_a_search_and_of_an_embedder(
    workspace: Workspace, form: ItemSet, world: World, server: ScriptedServer
) -> None:
    settings(workspace, server.url, prices=False)
    with pytest.raises(NoPrice, match="needs the price of searxng") as told:
        run(workspace, form, workspace.spending("1USD"))
    assert "US dollars per 1,000 requests" in (told.value.hint or "")
    assert "[searches.searxng]\n      price = { per_1000 = PRICE, date" in (told.value.hint or "")
    with pytest.raises(NoPrice, match="needs the price of scripted/embed"):
        workspace.embedding_model(EMBED, workspace.spending("1USD"))
    assert world.queries == world.embedded == world.asked == 0


def test_the_closing_lines_tell_searches_and_the_dry_run_foretells_them(
    workspace: Workspace, form: ItemSet, world: World, proofstone: Proofstone,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(Session, "fetches_local", True)
    asked = (
        "run", f"form:{short(form.id)}", "-m", "scripted/one", "--max-tokens", 20, "--context",
        "retrieved", "--context-source", "searxng", "-w", workspace.folder,
    )  # fmt: skip
    foretold = proofstone(*asked, "--dry-run", "--pilot", 0)
    assert (
        "additional cost to search for questions: searxng: 3 searches, 0.0150 USD\n" in foretold.err
    )
    assert world.queries == 0
    done = proofstone(*asked, "--budget", "1USD")
    assert "additional cost: searxng: 3 searches, 0.0150 USD\n" in done.err
    again = proofstone(*asked, "--dry-run", "--pilot", 0)
    assert "besides" not in again.err


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("[searches.bing]\nprice = { per_1000 = 5 }", "[searches.bing]: "),
        ("searches = 3", "[searches] must be a table of tables"),
        ("[searches]\nbrave = 3", "[searches.brave]: expected a table, got int"),
        ("[searches.brave]\nprize = 3", "[searches.brave]: "),
        ("[searches.brave]\nprice = { per_1000 = 5 }", "price: date is missing"),
        (
            f"[searches.brave]\nprice = {{ per_1000 = -1, {SOURCE} }}",
            "price.per_1000: expected a finite number of 0 or more, got -1",
        ),
    ],
)
def test_a_wrong_price_of_a_search_is_told_by_its_place(
    tmp_path: Path, table: str, told: str
) -> None:
    (tmp_path / "proofstone.toml").write_text(f"{table}\n", encoding="utf-8")
    with pytest.raises(BadInput) as raised:
        load_config(tmp_path, environ={}, user_folder=tmp_path / "none")
    assert told in str(raised.value)


def test_the_price_of_the_nearer_file_holds(tmp_path: Path) -> None:
    for folder, price in (("user", 3), ("work", 5)):
        (tmp_path / folder).mkdir()
        text = f"[searches.brave]\nprice = {{ per_1000 = {price}, {SOURCE} }}\n"
        (tmp_path / folder / "proofstone.toml").write_text(text, encoding="utf-8")
    config = load_config(tmp_path / "work", environ={}, user_folder=tmp_path / "user")
    assert config.searches["brave"].per_1000 == 5
