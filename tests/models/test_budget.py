"""Budgets as people write them, amounts, and the most that an attempt can cost."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.errors import BadUsage
from proofstone.models.budget import (
    Bounds,
    Budget,
    amount_of,
    charge,
    may_be_billed,
    money,
    most_output,
    no_price,
    read_budget,
    shown,
    unbounded_response,
)
from proofstone.records.calls import Attempt, CallRecord, Message, ModelRequest
from proofstone.records.ids import canonical_json, digest
from proofstone.records.models import Price
from proofstone.records.runs import Response, Usage

PRICE = Price(input=2.0, output=10.0, date="2025-11-01", source="https://example.com")
USD = 10**12


@pytest.mark.parametrize(
    ("text", "unit", "amount"),
    [
        ("20USD", "USD", 20 * USD),
        ("0.05USD", "USD", USD // 20),
        (" 1.5 usd ", "USD", 3 * USD // 2),
        (".5USD", "USD", USD // 2),
        ("0USD", "USD", 0),
        ("1000000USD", "USD", 1_000_000 * USD),
        ("5Mtok", "tokens", 5 * 10**6),
        ("500ktok", "tokens", 500 * 10**3),
        ("1.5mtokens", "tokens", 1_500_000),
        ("2Gtok", "tokens", 2 * 10**9),
        ("300 tok", "tokens", 300),
    ],
)
def test_a_budget_reads_as_people_write_it(text: str, unit: str, amount: int) -> None:
    budget = read_budget(text)
    assert (budget.unit, budget.amount) == (unit, amount)
    assert read_budget(budget.option()) == budget


@pytest.mark.parametrize(
    "text", ["", "20", "USD", "-1USD", "20EUR", "5M", "1e3USD", "1,000USD", "2000000USD", "9e9Gtok"]
)
def test_what_is_no_budget_is_refused_with_examples(text: str) -> None:
    with pytest.raises(BadUsage) as refused:
        read_budget(text)
    assert "20USD, 0.05USD, 500ktok, 5Mtok" in refused.value.hint


@pytest.mark.parametrize(
    ("unit", "amount", "text"),
    [
        ("USD", 20 * USD, "20 USD"),
        ("USD", 1234 * USD + USD // 2, "1,234.50 USD"),
        ("USD", USD // 20, "0.05 USD"),
        ("USD", 12_345_678_901, "0.0123 USD"),
        ("USD", 123_456_789, "0.000123 USD"),
        ("USD", 0, "0 USD"),
        ("tokens", 5_000_000, "5,000,000 tokens"),
    ],
)
def test_amounts_are_shown_with_three_digits_at_least(unit: str, amount: int, text: str) -> None:
    assert shown(unit, amount) == text  # type: ignore[arg-type]


@given(st.integers(0, 10**7), st.sampled_from(["0.4", "2", "0.0375", "1.1", "75"]))
def test_money_of_whole_tokens_is_exact(tokens: int, price: str) -> None:
    """A float of a price times tokens comes back as the decimal product in picodollars."""
    usd = float(price) * tokens / 1_000_000
    assert money(usd) == Decimal(price) * tokens * 10**6


@given(st.floats(0, 1e4), st.floats(0, 1e4))
def test_a_dearer_call_never_counts_less(a: float, b: float) -> None:
    assert money(min(a, b)) <= money(max(a, b))


def record(**fields: object) -> CallRecord:
    fixed = {"request_hash": b"", "model": "m", "endpoint": "", "wire": "", "prompt_hash": b""}
    return CallRecord(**{"state": "complete", **fixed, **fields})  # type: ignore[arg-type]


def test_a_call_is_charged_by_its_count_or_its_estimate() -> None:
    counted = record(usage=Usage(100, 20, 15), cost_usd=0.0004)
    assert charge("tokens", counted) == 100 + 20
    assert charge("USD", counted) == 4 * USD // 10_000
    guessed = record(estimated_tokens=700, cost_usd=0.001)
    assert charge("tokens", guessed) == 700
    assert charge("USD", guessed) == USD // 1000
    assert charge("USD", record()) == charge("tokens", record()) == 0
    made_up = record(usage=Usage(100, 20), cost_usd=0.0004, simulated=True)
    assert charge("USD", made_up) == charge("tokens", made_up) == 0


# ---------------------------------------------------------------- bounds


def request(text: str = "Which?", **fields: object) -> ModelRequest:
    messages = (Message("user", text),)
    prompt = canonical_json(messages)
    return ModelRequest(
        messages=messages, prompt=prompt, prompt_hash=digest(prompt), **fields  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("sent", "window", "most"),
    [
        ({"max_tokens": 64}, None, 64),
        ({"max_completion_tokens": 64}, None, 64),
        ({"max_tokens": 64, "thinking_budget": 1000}, None, 1064),
        ({"max_tokens": 64}, 32, 32),
        ({}, 4096, 4096),
        ({"thinking_budget": 1000}, None, None),
        ({}, None, None),
    ],
)
def test_a_reply_ends_at_its_limit_or_the_window(
    sent: dict[str, int], window: int | None, most: int | None
) -> None:
    assert most_output(sent, window) == most


@given(st.text(max_size=300))
def test_a_prompt_has_no_more_tokens_than_bytes(text: str) -> None:
    """A token is a byte at least; what a schema adds is sent as well."""
    text = text.encode("utf-8", "replace").decode()
    most = Bounds().most(request(text), {"max_tokens": 1})
    assert most.prompt is not None
    assert most.prompt >= len(text.encode()) + 256
    schema = {"title": "answer", "type": "object"}
    more = Bounds().most(request(text), {"max_tokens": 1, "schema": schema})
    assert more.prompt == most.prompt + len(json.dumps(schema, separators=(",", ":")))


def test_bounds_rise_by_what_an_endpoint_counted_beyond_them() -> None:
    """An endpoint that lets a reply grow past max_tokens by 90 is bounded so from then on."""
    bounds = Bounds()
    first = bounds.most(request(), {"max_tokens": 10})
    bounds.learn(first, Usage(first.prompt, 10))
    assert bounds.most(request(), {"max_tokens": 10}) == first
    bounds.learn(first, Usage((first.prompt or 0) + 7, 100))
    second = bounds.most(request(), {"max_tokens": 10})
    assert second == Usage((first.prompt or 0) + 7, 10 + 90)
    bounds.learn(second, Usage(1, 100))
    assert bounds.most(request(), {"max_tokens": 10}) == second


def test_what_was_not_counted_is_estimated_on_the_safe_side() -> None:
    """A reply at a token a byte, within its limit; one that never came at its limit."""
    bounds, sent = Bounds(), {"max_tokens": 50}
    most = bounds.most(request(), sent)
    came = Attempt(status=200, response=Response(text="héllo", reasoning="so"))
    assert bounds.estimate(request(), sent, came, Usage()) == Usage(most.prompt, 6 + 2)
    long = Attempt(status=200, response=Response(text="x" * 99))
    assert bounds.estimate(request(), sent, long, Usage(12, None)) == Usage(12, 50)
    gone = Attempt(error="dropped")
    assert bounds.estimate(request(), sent, gone, Usage()) == Usage(most.prompt, 50)
    assert bounds.estimate(request(), {}, gone, Usage()) == Usage(most.prompt, 0)


@pytest.mark.parametrize(
    ("attempt", "billed"),
    [
        (Attempt(status=200, response=Response(text="A")), True),
        (Attempt(status=200, error="unreadable"), True),
        (Attempt(error="timeout"), True),
        (Attempt(error="dropped"), True),
        (Attempt(error="unreadable"), True),
        (Attempt(error="unreachable"), False),
        (Attempt(error="bad_certificate"), False),
        (Attempt(error="not_running"), False),
        (Attempt(status=429, error="rate_limited"), False),
        (Attempt(status=503, error="overloaded"), False),
        (Attempt(status=200, error="not_an_api"), True),
    ],
    ids=str,
)
def test_which_attempts_may_be_billed(attempt: Attempt, billed: bool) -> None:
    assert may_be_billed(attempt, has_answered=True) is billed


def test_a_page_from_an_address_that_never_answered_costs_nothing() -> None:
    page = Attempt(status=200, error="not_an_api")
    assert not may_be_billed(page, has_answered=False)


def test_the_worst_case_in_money() -> None:
    assert amount_of("USD", PRICE, Usage(100, 5)) == (100 * 2 + 5 * 10) * 10**6
    assert amount_of("tokens", PRICE, Usage(100, 5)) == 105
    assert amount_of("USD", PRICE, Usage(0, 0)) == 0


# ---------------------------------------------------------------- what no budget can hold


def test_a_model_without_a_price_is_named_with_the_lines_to_add() -> None:
    assert (
        str(no_price(["acme/large", "acme/small"], "2025-12-01"))
        == """\
a budget in money needs the price of acme/large, acme/small
  add to proofstone.toml, in US dollars per million tokens from the provider's page:
      [models."acme/large"]
      price = { input = INPUT, output = OUTPUT, date = "2025-12-01", source = "https://..." }
      [models."acme/small"]
      price = { input = INPUT, output = OUTPUT, date = "2025-12-01", source = "https://..." }
  or give a budget in tokens: --budget 5Mtok"""
    )


def test_a_model_without_a_limit_is_named_with_the_remedy() -> None:
    error = unbounded_response(["acme/large"])
    assert "no max_tokens is sent" in error.message
    assert error.hint.startswith("give --max-tokens N")


def test_a_budget_says_what_it_is() -> None:
    assert str(Budget("USD", 20 * USD)) == "20 USD"
