"""A budget over a whole run: never passed by what the endpoint billed, and resumed where it ended.

The endpoint bills what it likes within a request's bounds, also for connections that it drops.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from hashlib import sha256

import pytest

from proofstone.api import Workspace
from proofstone.errors import NoPrice, UnboundedResponse
from proofstone.run.request import specs_of
from proofstone.session.askers import on_record
from scripted_server import Act, Seen, answer, drop, drop_after_headers, error, half, malformed
from serving import configure, serving

QUESTIONS = 12
PRICE = 'price = { input = 2.0, output = 10.0, date = "2025-11-01", source = "https://e.x" }'
INPUT, OUTPUT = 2e-6, 10e-6
LIMIT = 200


@dataclass
class Biller:
    """An endpoint that draws its counts from request and turn, and adds up what it bills at most:
    a prompt of a token a byte at least two thirds smaller, a reply up to max_tokens, and for half
    of the connections that it drops."""

    faults: float = 0.0
    without_usage: float = 0.0
    seed: int = 0
    billed_usd: float = 0.0
    billed_tokens: int = 0
    turn: int = 0

    def __call__(self, seen: Seen) -> Act:
        self.turn += 1
        rng = random.Random(f"{self.seed} {self.turn} {sha256(seen.body).hexdigest()}")
        prompt = rng.randint(len(seen.body) // 6, len(seen.body) // 3)
        output = rng.choice([2, rng.randint(1, LIMIT), LIMIT])
        act = answer(f"Answer: A{' x' * output}", prompt_tokens=prompt, completion_tokens=output)
        if rng.random() < self.faults:
            act = rng.choice(
                [drop(), drop_after_headers(), half(), malformed(), act,
                 error(503, {"error": {"message": "busy"}}),
                 error(429, {"error": {"message": "slow", "code": "rate_limit_exceeded"}})]
            )  # fmt: skip
            if act.status != 200 or act.drop == "before":
                return act
            prompt, output = (100, 5) if act.body == malformed().body else (prompt, output)
        elif rng.random() < self.without_usage:
            act = answer(f"Answer: A{' x' * output}")
            act = Act(act.body.replace(b'"usage"', b'"no_usage"'))
        self.billed_usd += prompt * INPUT + output * OUTPUT
        self.billed_tokens += prompt + output
        return act.later(rng.choice([0.0, 0.001, 0.01]))


def stored_cost(workspace: Workspace) -> float:
    with workspace.store.database.reading() as connection:
        return float(connection.exec_driver_sql("SELECT sum(cost_usd) FROM call").scalar() or 0.0)


@pytest.mark.parametrize(
    ("biller", "budget"),
    [
        (Biller(), 0.05),
        (Biller(seed=1), 0.02),
        (Biller(faults=0.3), 0.05),
        (Biller(faults=0.6, seed=2), 0.08),
        (Biller(without_usage=0.5), 0.05),
        (Biller(faults=0.3, without_usage=0.3, seed=3), 0.05),
    ],
    ids=["plain", "small", "faults", "many faults", "no usage", "all"],
)
def test_at_64_connections_the_budget_is_never_passed(
    workspace: Workspace, form: str, biller: Biller, budget: float
) -> None:
    """What the endpoint billed, also for dropped connections, stays below the charge, which stays
    within the budget; what was answered is kept and scored."""
    with serving(biller) as server:
        configure(workspace.folder, server.url, PRICE)
        (result,) = workspace.run(
            form, models="scripted/one", samples=20, max_tokens=LIMIT, max_connections=64,
            budget=f"{budget}USD",
        )  # fmt: skip
    assert result.over_budget
    assert not result.complete
    assert result.n_scored > 0
    assert biller.billed_usd <= result.spent.cost_usd + 1e-9
    assert result.spent.cost_usd <= budget + 1e-12
    assert stored_cost(workspace) == pytest.approx(result.spent.cost_usd)
    assert result.spent.cost_usd > 0.6 * budget  # and it is used: one call costs a tenth at most
    assert f"the budget of {budget} USD is reached" in result.stopped


def test_a_budget_in_tokens_needs_no_price(workspace: Workspace, form: str) -> None:
    biller = Biller(faults=0.2, seed=4)
    with serving(biller) as server:
        configure(workspace.folder, server.url)
        (result,) = workspace.run(
            form, models="scripted/one", samples=20, max_tokens=LIMIT, budget="30ktok"
        )
    assert result.over_budget
    assert biller.billed_tokens <= result.spent.tokens <= 30_000
    assert result.spent.unpriced > 0


def test_resuming_with_a_further_budget_ends_the_run_and_pays_nothing_twice(
    workspace: Workspace, form: str
) -> None:
    """Each command has its own budget; together they ask each question once."""
    with serving(answer(prompt_tokens=300, completion_tokens=20)) as server:
        configure(workspace.folder, server.url, PRICE)
        cost = 300 * INPUT + 20 * OUTPUT
        (result,) = workspace.run(form, models="scripted/one", max_tokens=20, budget="0.008USD")
        assert result.over_budget
        before = server.requests
        assert 0 < before < QUESTIONS
        while result.over_budget:
            (result,) = workspace.resume(result.planned.run, budget="0.008USD")
            assert result.spent.cost_usd <= 0.008
        assert result.complete
        assert server.requests == QUESTIONS
        assert stored_cost(workspace) == pytest.approx(QUESTIONS * cost)


def test_the_cache_costs_nothing_of_a_budget(workspace: Workspace, form: str) -> None:
    """A run of one sample after one of two, with a budget of nothing: what was asked before is
    served and keeps the price that it once had."""
    with serving(answer(prompt_tokens=300, completion_tokens=20)) as server:
        configure(workspace.folder, server.url, PRICE)
        workspace.run(form, models="scripted/one", samples=2)
        cost = stored_cost(workspace)
        (again,) = workspace.run(form, models="scripted/one", budget="0USD")
    assert (again.complete, again.over_budget, again.spent.calls) == (True, False, 0)
    assert stored_cost(workspace) == cost


def test_models_share_one_budget_and_a_cheap_one_goes_on(workspace: Workspace, form: str) -> None:
    """The dear model's next call does not fit any more; the cheap one's still do."""
    with serving(answer(prompt_tokens=300, completion_tokens=200)) as server:
        configure(
            workspace.folder, server.url,
            '[models."scripted/dear"]', PRICE.replace("10.0", "2000.0"),
            '[models."scripted/cheap"]', PRICE.replace("10.0", "0.1").replace("2.0", "0.1"),
        )  # fmt: skip
        dear, cheap = workspace.run(
            form, models=["scripted/dear", "scripted/cheap"], max_tokens=200, budget="1USD"
        )
    assert dear.over_budget
    assert cheap.complete
    assert dear.spent.cost_usd + cheap.spent.cost_usd <= 1.0
    assert "scripted/dear may cost" in dear.stopped


def test_what_cannot_afford_one_call_says_so_at_once(workspace: Workspace, form: str) -> None:
    with serving(answer()) as server:
        configure(workspace.folder, server.url, PRICE)
        (result,) = workspace.run(form, models="scripted/one", budget="0.001USD")
        assert server.requests == 0
    assert "does not cover one call of scripted/one, which may cost 0.0" in result.stopped
    assert "--max-tokens" in result.stopped


def test_models_without_a_price_are_refused_before_anything_is_asked(
    workspace: Workspace, form: str
) -> None:
    with serving(answer()) as server:
        configure(workspace.folder, server.url)
        with pytest.raises(NoPrice) as refused:
            workspace.run(form, models=["scripted/one", "sim/ann", "scripted/two"], budget="1USD")
        assert server.requests == 0
    assert refused.value.message == (
        "a budget in money needs the price of scripted/one, scripted/two"
    )
    assert '[models."scripted/two"]' in refused.value.hint
    assert workspace.store.lookup.count("run") == 0


def test_a_reply_without_an_end_is_refused_unless_the_window_ends_it(
    workspace: Workspace, form: str
) -> None:
    with serving(answer(prompt_tokens=300, completion_tokens=2)) as server:
        configure(workspace.folder, server.url, PRICE)
        with pytest.raises(UnboundedResponse, match="scripted/one: no max_tokens is sent"):
            workspace.run(form, models="scripted/one", max_tokens=None, budget="1USD")
        assert server.requests == 0
        configure(workspace.folder, server.url, PRICE, "window = 4000")
        workspace.__dict__.pop("config", None)  # the file is read anew, as by another command
        (result,) = workspace.run(form, models="scripted/one", max_tokens=None, budget="1USD")
    assert result.complete


def test_simulated_respondents_cost_nothing(workspace: Workspace, form: str) -> None:
    for budget in ("0USD", "0tok"):
        (result,) = workspace.run(form, models="sim/ann", budget=budget)
        assert result.complete


@pytest.mark.parametrize("budget", ["1USD", None])
def test_what_may_be_billed_is_on_record_while_a_model_is_asked(
    workspace: Workspace, form: str, budget: str | None
) -> None:
    """With what is put aside for it, where there is a budget."""
    told = []

    def look(_seen: Seen) -> Act:
        with workspace.store.database.reading() as connection:
            told.extend(connection.exec_driver_sql("SELECT * FROM expense").mappings().all())
        return answer(prompt_tokens=300, completion_tokens=20)

    with serving(look) as server:
        configure(workspace.folder, server.url, PRICE)
        workspace.run(form, models="scripted/one", max_tokens=20, budget=budget, limit=1)
    (row,) = told
    assert row["exposed_calls"] >= 1
    if budget is None:
        assert (row["unit"], row["budget"], row["exposed"]) == ("", None, None)
    else:
        assert (row["unit"], row["budget"]) == ("USD", 10**12)
        assert row["exposed"] >= 20 * OUTPUT * 10**12


async def test_where_nobody_is_asked_nothing_is_on_record(workspace: Workspace) -> None:
    async with on_record(workspace.store, [], workspace.clock) as kept:
        assert kept is None
    assert workspace.store.expenses.lost() == []


async def test_after_a_stop_all_that_a_run_took_is_no_less_than_what_this_command_took(
    workspace: Workspace, form: str
) -> None:
    """A billed attempt of no use whose retry the stop came before counts with its run: 4 replies of
    an earlier command, and what came of this one."""
    stop, loop, turns = asyncio.Event(), asyncio.get_running_loop(), [0]

    def useless_then_stopped(_seen: Seen) -> Act:
        turns[0] += 1
        if turns[0] <= 4:
            return answer("Answer: A", prompt_tokens=10, completion_tokens=2)
        loop.call_soon_threadsafe(stop.set)
        return malformed()

    with serving(useless_then_stopped) as server:
        configure(workspace.folder, server.url, PRICE)
        first = specs_of(workspace, form, models="scripted/one", limit=4, max_tokens=20)
        (before,) = await workspace.perform(first)
        whole = specs_of(workspace, form, models="scripted/one", max_tokens=20)
        (result,) = await workspace.perform(whole, stop=stop, max_connections=1)
    assert result.interrupted
    assert (before.spent.calls, result.spent.calls) == (4, 1)
    assert result.in_all.calls == 4 + 1
    assert result.in_all.cost_usd == pytest.approx(before.spent.cost_usd + result.spent.cost_usd)
    assert workspace.store.expenses.lost() == []
