"""What is put aside for an attempt covers it whatever its tokens turn out to be."""

from __future__ import annotations

import pytest

from proofstone.models.budget import Bounds, Budget, Purse, Spending, charge, cost_usd
from proofstone.models.retries import Halt
from proofstone.records.calls import CallRecord, Message, ModelRequest
from proofstone.records.models import Price
from proofstone.records.runs import Usage

DAY = {"date": "2026-01-01", "source": "x"}
PRICES = [
    Price(input=1, output=2, reasoning=40, **DAY),
    Price(input=1, output=2, reasoning=0.5, **DAY),
    Price(input=1, output=2, cached=30, **DAY),
    Price(input=1, output=2, **DAY),
    Price(input=0.1, output=0.2, **DAY),
]


@pytest.mark.parametrize("price", PRICES)
async def test_the_worst_case_is_at_the_dearest_price_of_each_token(price: Price) -> None:
    """Whether tokens are reasoning or cached or not, the charge stays within what was put aside."""
    spending = Spending(Budget("USD", 10**13))
    purse = Purse("lab/m", price, Bounds(None), spending)
    messages = (Message("user", "Which?"),)
    request = ModelRequest(messages=messages, prompt=b"Which?", prompt_hash=b"")
    held = await purse.put_aside(request, {"max_tokens": 1000}, Halt())
    n = held.most.prompt or 0
    for reasoning in (0, 400, 1000):
        for cached in (0, n // 2, n):
            usage = Usage(n, 1000, reasoning=reasoning, cached=cached)
            call = CallRecord(
                request_hash=b"", model="lab/m", endpoint="", wire="", prompt_hash=b"",
                state="complete", usage=usage, cost_usd=cost_usd(price, usage, 200),
            )  # fmt: skip
            assert charge("USD", call) <= held.amount
    assert held.amount == round(
        (n * max(price.input, price.cached or 0) + 1000 * max(price.output, price.reasoning or 0))
        * 10**6
    )
