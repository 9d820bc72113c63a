"""A dry run: what a run would take, from a few questions really asked, and what it would send."""

from __future__ import annotations

import json
import random
from hashlib import sha256

import pytest

from proofstone.api import Workspace
from proofstone.errors import BadUsage, NoPrice, UnboundedResponse
from proofstone.run.forecast import Range
from proofstone.run.plan import RunSpec
from proofstone.stats.power import Sampled, forecast_total
from scripted_server import Act, Seen, answer, drop, error, in_turn, malformed
from serving import configure, serving

QUESTIONS = 12
SAMPLES = 10
CELLS = QUESTIONS * SAMPLES
PRICE = 'price = { input = 2.0, output = 10.0, date = "2025-11-01", source = "https://e.x" }'
COST = (300 * 2.0 + 20 * 10.0) / 1e6
PLAIN = answer(prompt_tokens=300, completion_tokens=20)
BUSY = error(429, {"error": {"message": "slow down", "code": "rate_limit_exceeded"}})


def varied(seen: Seen) -> Act:
    """Replies whose length depends on the request alone, a few of them long, most of it thought."""
    rng = random.Random(sha256(seen.body + b"2").hexdigest())
    thought = int(rng.lognormvariate(4.5, 0.7))
    act = answer(prompt_tokens=len(seen.body) // 4, completion_tokens=thought + 5)
    body = json.loads(act.body)
    body["usage"]["completion_tokens_details"] = {"reasoning_tokens": thought}
    return Act(json.dumps(body).encode())


def calls(workspace: Workspace) -> int:
    with workspace.store.database.reading() as connection:
        return int(connection.exec_driver_sql("SELECT count(*) FROM call").scalar_one())


def runs(workspace: Workspace) -> int:
    return workspace.store.lookup.count("run")


def test_the_pilot_is_asked_and_the_run_takes_it_from_the_cache(
    workspace: Workspace, form: str
) -> None:
    """20 of 120 are asked; where all cost the same the forecast is 100 times that, and the run
    asks 100. No run stands in the workspace before."""
    with serving(PLAIN) as server:
        configure(workspace.folder, server.url, PRICE)
        found = workspace.dry_run(form, models="scripted/one", samples=SAMPLES)
        assert (server.requests, runs(workspace), calls(workspace)) == (20, 0, 20)
        assert [sent.title for sent in workspace.store.sent.sources(())] == ["Almanac", "Herbal"]
        (result,) = workspace.run(form, models="scripted/one", samples=SAMPLES)
        assert (server.requests, result.complete) == (CELLS, True)
    (part,) = found.parts
    assert (part.model, part.prompt_method, part.settings) == ("scripted/one", "direct", "")
    assert (part.questions, part.cached, part.asked, part.to_ask) == (CELLS, 0, 20, CELLS - 20)
    assert part.amounts.requests == Range(100, 100, 100)
    assert part.amounts.tokens == Range(100 * 320, 100 * 320, 100 * 320)
    for end in ("low", "high", "likely"):
        assert getattr(part.amounts.cost_usd, end) == pytest.approx(100 * COST)
    assert part.prompt == 300 / 320
    assert found.spent.cost_usd == pytest.approx(20 * COST)
    assert (found.requests, found.again, found.broken) == (20, 0, 0)
    assert result.spent.cost_usd == pytest.approx(100 * COST)
    assert result.in_all.cost_usd == pytest.approx(CELLS * COST)
    assert (found.total.amounts, found.models, found.unpriced) == (part.amounts, (), ())


def test_a_second_one_asks_nobody_and_says_the_same(workspace: Workspace, form: str) -> None:
    with serving(varied) as server:
        configure(workspace.folder, server.url, PRICE)
        first = workspace.dry_run(form, models="scripted/one", samples=SAMPLES)
        second = workspace.dry_run(form, models="scripted/one", samples=SAMPLES)
        assert server.requests == 20
    one, other = first.parts[0], second.parts[0]
    assert other.amounts.tokens == one.amounts.tokens
    assert other.amounts.cost_usd == one.amounts.cost_usd
    assert (other.cached, other.asked, other.to_ask) == (20, 0, one.to_ask)
    assert (second.requests, second.spent.calls) == (0, 0)


def test_the_range_is_the_prediction_interval_and_holds(workspace: Workspace, form: str) -> None:
    with serving(varied) as server:
        configure(workspace.folder, server.url, PRICE)
        found = workspace.dry_run(form, models="scripted/one", samples=SAMPLES)
        usages = [json.loads(varied(seen).body)["usage"] for seen in server.seen]
        (result,) = workspace.run(form, models="scripted/one", samples=SAMPLES)
    costs = [(u["prompt_tokens"] * 2.0 + u["completion_tokens"] * 10.0) / 1e6 for u in usages]
    expected = forecast_total([Sampled(costs, CELLS - 20)])
    said = found.total.amounts.cost_usd
    assert said is not None
    assert (said.low, said.likely, said.high) == pytest.approx(
        (expected.low, expected.likely, expected.high)
    )
    assert said.low <= result.spent.cost_usd <= said.high
    tokens = found.total.amounts.tokens
    assert tokens is not None
    assert tokens.low <= result.spent.tokens <= tokens.high
    thought = sum(u["completion_tokens_details"]["reasoning_tokens"] for u in usages)
    assert found.total.reasoning == thought / sum(u["completion_tokens"] for u in usages)


def test_reasoning_has_its_own_price(workspace: Workspace, form: str) -> None:
    with serving(varied) as server:
        price = PRICE.replace("output = 10.0", "output = 10.0, reasoning = 100.0")
        configure(workspace.folder, server.url, price)
        found = workspace.dry_run(form, models="scripted/one", samples=SAMPLES)
        usages = [json.loads(varied(seen).body)["usage"] for seen in server.seen]
    asked = sum(
        u["prompt_tokens"] * 2.0
        + (u["completion_tokens"] - u["completion_tokens_details"]["reasoning_tokens"]) * 10.0
        + u["completion_tokens_details"]["reasoning_tokens"] * 100.0
        for u in usages
    )
    assert found.total.amounts.cost_usd is not None
    assert found.total.amounts.cost_usd.likely == pytest.approx((CELLS - 20) * asked / 20 / 1e6)


def test_a_pilot_of_all_leaves_nothing_to_guess(workspace: Workspace, form: str) -> None:
    with serving(varied) as server:
        configure(workspace.folder, server.url, PRICE)
        found = workspace.dry_run(form, models="scripted/one", pilot=50)
        assert server.requests == QUESTIONS
        (result,) = workspace.run(form, models="scripted/one")
        assert (server.requests, result.complete) == (QUESTIONS, True)
    assert (found.total.asked, found.total.to_ask) == (QUESTIONS, 0)
    assert found.total.amounts.cost_usd == found.total.amounts.tokens == Range(0, 0, 0)
    assert found.total.longest.tokens == Range(0, 0)
    done = workspace.dry_run(form, models="scripted/one")
    assert (done.total.questions, done.total.to_ask, done.total.is_known) == (0, 0, True)


def test_retries_are_counted_as_they_were_billed(workspace: Workspace, form: str) -> None:
    """Each question is pushed back once, which costs nothing, and comes once in a body that cannot
    be read, which is charged by what of it can: 100 + 5 tokens."""

    def script(seen: Seen) -> Act:
        turns[seen.body] = turns.get(seen.body, 0) + 1
        return (BUSY, malformed(), PLAIN)[turns[seen.body] - 1]

    turns: dict[bytes, int] = {}
    with serving(script) as server:
        configure(workspace.folder, server.url, PRICE)
        found = workspace.dry_run(form, models="scripted/one", pilot=10)
    left = QUESTIONS - 10
    assert (found.requests, found.again) == (30, 20)
    assert found.total.amounts.requests == Range(3 * left, 3 * left, 3 * left)
    assert found.total.amounts.tokens == Range(*[left * (320 + 105)] * 3)
    cost = COST + (100 * 2.0 + 5 * 10.0) / 1e6
    assert found.total.amounts.cost_usd is not None
    assert found.total.amounts.cost_usd.likely == pytest.approx(left * cost)
    again = workspace.dry_run(form, models="scripted/one", pilot=10)
    assert again.total.amounts.tokens == found.total.amounts.tokens  # the cache knows of them


def test_a_connection_that_breaks_is_charged_its_worst_case(
    workspace: Workspace, form: str
) -> None:
    with serving(in_turn(PLAIN, drop(), then=PLAIN)) as server:
        configure(workspace.folder, server.url, PRICE)
        found = workspace.dry_run(form, models="scripted/one", pilot=4, max_connections=1)
    assert (found.broken, found.requests, found.again) == (1, 5, 1)
    assert found.call_usd == pytest.approx(found.spent.estimated_usd, rel=0.2)
    assert found.total.amounts.cost_usd is not None
    likely = found.total.amounts.cost_usd.likely
    assert likely == pytest.approx((QUESTIONS - 4) * (COST + found.spent.estimated_usd / 4))


def test_without_a_price_tokens_are_told(workspace: Workspace, form: str) -> None:
    with serving(PLAIN) as server:
        configure(workspace.folder, server.url)
        found = workspace.dry_run(form, models="scripted/one", samples=SAMPLES)
        with pytest.raises(NoPrice):
            workspace.dry_run(form, models="scripted/one", budget="1USD", replicate="b")
        assert server.requests == 20
    assert found.unpriced == ("scripted/one",)
    assert found.total.amounts.cost_usd is None
    assert found.total.amounts.tokens == Range(*[100 * 320] * 3)


def test_money_of_some_is_told_beside_others_without_a_price(
    workspace: Workspace, form: str
) -> None:
    with serving(PLAIN) as server:
        entry = f'[models."scripted/one"]\n{PRICE}'
        configure(workspace.folder, server.url, entry)
        found = workspace.dry_run(form, models=["scripted/one", "scripted/two"], pilot=2)
    assert [part.unpriced for part in found.parts] == [False, True]
    assert found.parts[1].amounts.cost_usd is None
    assert found.total.unpriced
    assert found.total.amounts.cost_usd == found.parts[0].amounts.cost_usd


def test_ways_and_models_have_sums(workspace: Workspace, form: str) -> None:
    with serving(varied) as server:
        configure(workspace.folder, server.url, PRICE)
        found = workspace.dry_run(
            form,
            models=["scripted/one", "sim/ann", "scripted/two"],
            prompt_method=["direct", "cot"],
            pilot=5,
        )
        assert server.requests == 2 * 2 * 5
    assert [(part.model, part.prompt_method) for part in found.parts] == [
        (model, prompt_method)
        for model in ("scripted/one", "sim/ann", "scripted/two")
        for prompt_method in ("direct", "cot")
    ]
    assert [part.model for part in found.models] == ["scripted/one", "sim/ann", "scripted/two"]
    likely = [part.amounts.tokens.likely for part in found.parts if part.amounts.tokens]
    total = found.total.amounts.tokens
    assert total is not None
    assert total.likely == pytest.approx(sum(each or 0.0 for each in likely))
    assert found.models[1].amounts.tokens == Range(0, 0, 0)
    widths = [part.amounts.tokens.high - part.amounts.tokens.low for part in found.parts
              if part.amounts.tokens and not part.simulated]  # fmt: skip
    assert max(widths) < total.high - total.low < sum(widths)
    assert (found.total.questions, found.total.simulated) == (6 * QUESTIONS, False)


def test_settings_that_tell_rows_apart_are_named(workspace: Workspace, form: str) -> None:
    (found,) = workspace.store.lookup.every("form")
    specs = [
        RunSpec(
            item_set=found.id, model="scripted/one", prompt_method="direct", settings={"top_p": top}
        )
        for top in (0.5, 1.0)
    ]
    with serving(PLAIN) as server:
        configure(workspace.folder, server.url)
        said = workspace.forecast_specs(specs, pilot=0)
    assert [part.settings for part in said.parts] == ["top_p=0.5", "top_p=1.0"]


def test_several_forms_are_one_population(workspace: Workspace) -> None:
    """The pilot draws from the questions of all forms of a model and way together."""
    (bank,) = workspace.store.lookup.every("bank")
    workspace.build_form(bank, questions=8, seeds=[5])
    with serving(PLAIN) as server:
        configure(workspace.folder, server.url)
        found = workspace.dry_run(bank, models="scripted/one", pilot=10)
        assert server.requests == 10
    (part,) = found.parts
    assert (part.questions, part.asked, part.to_ask) == (QUESTIONS + 8, 10, QUESTIONS + 8 - 10)


def test_what_a_run_has_done_already_is_not_left(workspace: Workspace, form: str) -> None:
    with serving(PLAIN) as server:
        configure(workspace.folder, server.url, PRICE)
        workspace.run(form, models="scripted/one", limit=7)
        found = workspace.dry_run(form, models="scripted/one", pilot=3)
        assert server.requests == 7 + 3
    assert (found.total.questions, found.total.asked, found.total.to_ask) == (5, 3, 2)
    assert found.total.amounts.requests == Range(2, 2, 2)


def test_what_the_cache_answers_costs_nothing(workspace: Workspace, form: str) -> None:
    """A run of one sample answers the first sample of a run of two."""
    with serving(PLAIN) as server:
        configure(workspace.folder, server.url, PRICE)
        workspace.run(form, models="scripted/one")
        found = workspace.dry_run(form, models="scripted/one", samples=2, pilot=0)
        assert server.requests == QUESTIONS
    assert (found.total.questions, found.total.cached) == (2 * QUESTIONS, QUESTIONS)
    assert found.total.amounts.requests == Range(QUESTIONS, QUESTIONS)


def test_questions_in_steps_take_several_requests(workspace: Workspace) -> None:
    pairs = [f"What follows {i}?={i + 1}" for i in range(30)]
    bank = workspace.build_bank("pairs", pairs, name="numbers", method="recall")
    (form,) = workspace.build_form(bank, seeds=[1])
    with serving(PLAIN) as server:
        configure(workspace.folder, server.url)
        looked = workspace.dry_run(form, models="scripted/one", prompt_method="recall", pilot=0)
        found = workspace.dry_run(form, models="scripted/one", prompt_method="recall", pilot=10)
    assert (looked.one_request, looked.total.amounts.requests) == (False, Range(30, 30))
    assert found.requests == 2 * 10
    assert found.total.amounts.requests == Range(40, 40, 40)


def test_without_a_pilot_nobody_is_asked(workspace: Workspace, form: str) -> None:
    """From the prompts' tokens alone to those and max_tokens for each reply."""
    with serving(PLAIN) as server:
        configure(workspace.folder, server.url, PRICE)
        found = workspace.dry_run(form, models="scripted/one", pilot=0, max_tokens=50)
        assert (server.requests, calls(workspace), runs(workspace)) == (0, 0, 0)
    tokens, cost = found.total.amounts.tokens, found.total.amounts.cost_usd
    assert tokens is not None
    assert cost is not None
    assert tokens.likely is None
    assert tokens.high == tokens.low + QUESTIONS * 50
    assert cost.low == pytest.approx(tokens.low * 2e-6)
    assert cost.high == pytest.approx(cost.low + QUESTIONS * 50 * 10e-6)
    assert found.total.amounts.requests == Range(QUESTIONS, QUESTIONS)
    assert found.total.amounts.seconds is None
    assert 50 * QUESTIONS < tokens.low < 500 * QUESTIONS


def test_replies_without_an_end_have_no_longest(workspace: Workspace, form: str) -> None:
    with serving(PLAIN) as server:
        configure(workspace.folder, server.url, PRICE)
        found = workspace.dry_run(form, models="scripted/one", pilot=0, max_tokens=None)
        with pytest.raises(UnboundedResponse):
            workspace.dry_run(form, models="scripted/one", max_tokens=None, budget="1USD")
        assert server.requests == 0
    assert found.total.amounts.tokens is None
    assert found.total.amounts.cost_usd is None


@pytest.mark.parametrize("pilot", [1, -3])
def test_a_pilot_too_small_for_a_range_is_refused(
    workspace: Workspace, form: str, pilot: int
) -> None:
    with pytest.raises(BadUsage, match=f"expected a pilot of 2 questions or more, got {pilot}"):
        workspace.dry_run(form, models="sim/ann", pilot=pilot)


def test_questions_that_fail_say_nothing_and_are_still_to_ask(
    workspace: Workspace, form: str
) -> None:
    def script(seen: Seen) -> Act:
        is_bad = sha256(seen.body).digest()[0] % 2
        return (
            error(400, {"error": {"message": "no", "code": "too_long_for_us"}}) if is_bad else PLAIN
        )

    with serving(script) as server:
        configure(workspace.folder, server.url, PRICE)
        found = workspace.dry_run(form, models="scripted/one", samples=SAMPLES)
    failed = sum(found.total.failed.values())
    assert 0 < failed < 20
    assert (found.total.sampled, found.total.asked) == (20 - failed, 20 - failed)
    assert found.total.to_ask == CELLS - found.total.asked
    tokens = found.total.amounts.tokens
    assert tokens is not None
    assert tokens.likely == pytest.approx(320 * found.total.to_ask)


def test_a_pilot_of_failures_tells_nothing(workspace: Workspace, form: str) -> None:
    with serving(error(400, {"error": {"message": "no"}})) as server:
        configure(workspace.folder, server.url, PRICE)
        found = workspace.dry_run(form, models="scripted/one", pilot=5, budget="1USD")
    assert sum(found.total.failed.values()) == 5
    assert (found.total.is_known, found.total.amounts.cost_usd) == (False, None)
    assert found.reach is not None
    assert found.reach.verdict == "unknown"
    assert found.total.longest.tokens is not None


def test_a_model_that_cannot_be_asked_says_why_and_others_go_on(
    workspace: Workspace, form: str
) -> None:
    refused = error(401, {"error": {"message": "Incorrect API key", "code": "invalid_api_key"}})

    def script(seen: Seen) -> Act:
        return refused if seen.json["model"] == "one" else PLAIN

    with serving(script) as server:
        configure(workspace.folder, server.url, PRICE)
        found = workspace.dry_run(form, models=["scripted/one", "scripted/two"], pilot=5)
    one, two = found.parts
    assert one.stopped.startswith("scripted/one: bad_key")
    assert not one.over_budget
    assert (two.stopped, two.asked) == ("", 5)
    assert found.total.amounts.tokens is None
