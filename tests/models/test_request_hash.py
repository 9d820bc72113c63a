"""What makes two requests the same, and what a call costs."""

from __future__ import annotations

from hashlib import sha256

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.test_asking import PRICE, ScriptedModel, request
from proofstone.models.ask import request_hash
from proofstone.models.budget import cost_usd
from proofstone.records.ids import canonical_json
from proofstone.records.runs import Usage


def test_the_request_hash_is_golden() -> None:
    """These bytes are the cache of every workspace; they change with a new hash name only."""
    wanted = request(sample=1, reask=2, replicate="r")
    key = [
        "openai-chat", "https://acme.example/v1", "m", wanted.prompt_hash,
        {"max_tokens": 9, "temperature": 0.0}, 1, 2, "r",
    ]  # fmt: skip
    got = request_hash(ScriptedModel([]), wanted, {"temperature": 0.0, "max_tokens": 9})
    assert got == sha256(b"request\n" + canonical_json(key)).digest()
    assert got.hex() == "07c408ceb6dedef910aef5fe14472ca768cdaefb6902c89e03d7285ef157c218"


@pytest.mark.parametrize(
    "other",
    [
        ScriptedModel([], wire="other"),
        ScriptedModel([], endpoint="https://other"),
        ScriptedModel([], reported_as="other"),
    ],
)
def test_wire_endpoint_and_model_change_the_hash(other: ScriptedModel) -> None:
    wanted = request()
    assert request_hash(other, wanted, {}) != request_hash(ScriptedModel([]), wanted, {})


def test_prompt_settings_sample_reask_and_replicate_change_the_hash() -> None:
    model = ScriptedModel([])
    hashes = [
        request_hash(model, request(), {}),
        request_hash(model, request("Other?"), {}),
        request_hash(model, request(), {"seed": 1}),
        request_hash(model, request(), {"seed": 2}),
        request_hash(model, request(sample=1), {}),
        request_hash(model, request(reask=1), {}),
        request_hash(model, request(replicate="1"), {}),
    ]
    assert len(set(hashes)) == len(hashes)


def test_what_changes_no_reply_is_not_in_the_hash() -> None:
    model, named = ScriptedModel([]), ScriptedModel([], name="alias/m")
    assert request_hash(model, request(), {}) == request_hash(
        named, request(purpose="judge", draw_key="x", settings={"shoe_size": 1}), {}
    )


@given(st.permutations(["a", "b", "c", "d"]))
def test_the_order_of_settings_does_not_change_the_hash(names: list[str]) -> None:
    model = ScriptedModel([])
    settings = {name: ord(name) for name in names}
    ordered = dict(sorted(settings.items()))
    assert request_hash(model, request(), settings) == request_hash(model, request(), ordered)


@pytest.mark.parametrize(
    ("usage", "status", "cost"),
    [
        (Usage(1000, 100), 200, (1000 * 2.0 + 100 * 10.0) / 1e6),
        (Usage(1000, 100, 90, 400), 200, (600 * 2.0 + 400 * 0.5 + 100 * 10.0) / 1e6),
        (Usage(10, None), 200, 10 * 2.0 / 1e6),
        (Usage(10, 0, None, 99), 200, 10 * 0.5 / 1e6),
        (Usage(), 200, None),
        (Usage(), 0, None),
        (Usage(), 300, 0.0),
        (Usage(), 429, 0.0),
    ],
)
def test_cost_is_tokens_times_price(usage: Usage, status: int, cost: float | None) -> None:
    price = msgspec.structs.replace(PRICE, cached=0.5)
    got = cost_usd(price, usage, status)
    assert got == (None if cost is None else pytest.approx(cost))


def test_without_a_price_no_cost_is_known() -> None:
    assert cost_usd(None, Usage(1, 1), 200) is None
