"""A secret shows nowhere, and scrubbing takes it out of what others print."""

from __future__ import annotations

import copy
import json
import pickle
from base64 import b64encode

import msgspec
import orjson
import pytest

from proofstone.models.credentials import Scrubber, Secret, scrub

KEY = "planted-key-9f3b27"


class Holder(msgspec.Struct):
    key: Secret


def test_a_secret_prints_stars_in_every_way_of_printing() -> None:
    secret = Secret(KEY)
    shown = [
        str(secret), repr(secret), f"{secret}", f"{secret:>20}", "%s" % secret, "a " + secret,  # noqa: UP031
        json.dumps({"k": secret}), orjson.dumps([secret]).decode(), repr(Holder(secret)),
        repr([secret]), "".join([secret]), repr(ValueError(secret)),
    ]  # fmt: skip
    assert all("***" in text and KEY not in text for text in shown)


def test_a_secret_is_not_encoded_into_records_nor_pickled() -> None:
    with pytest.raises(TypeError):
        msgspec.json.encode(Holder(Secret(KEY)))
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(Secret(KEY))


def test_its_value_comes_only_from_reveal() -> None:
    secret = Secret(KEY)
    assert secret.reveal() == KEY
    assert copy.deepcopy(secret) is secret
    assert copy.copy(secret) is secret


def test_two_secrets_are_equal_by_value_and_never_equal_to_text() -> None:
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert Secret("a") != "***"
    assert len({Secret("a"), Secret("a"), Secret("b")}) == 2


@pytest.mark.parametrize(
    "text",
    [
        f"Incorrect API key provided: {KEY}.",
        f"GET https://user:{KEY}@host/v1 failed",
        f"https://host/v1?api_key={KEY}&x=1",
        f"header Authorization: Bearer {KEY}",
        f"b64 {b64encode(KEY.encode()).decode()}",
        f'{{"api-key": "{KEY}"}}',
    ],
)
def test_a_known_secret_is_scrubbed_wherever_it_stands(text: str) -> None:
    shown = scrub(text, [Secret(KEY)])
    assert KEY not in shown
    assert b64encode(KEY.encode()).decode() not in shown
    assert "***" in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("at https://bob:hunter2@example.com/v1", "at https://***@example.com/v1"),
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer ***"),
        ("?key=AIzaSyA1234567&alt=json", "?key=***&alt=json"),
        ("provided: sk-proj-abc*****xyz.", "provided: ***."),
        ("gsk_0123456789abcdef", "***"),
    ],
)
def test_what_is_shaped_like_a_credential_is_scrubbed_unknown(text: str, shown: str) -> None:
    assert scrub(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Rate limit reached for requests per min",
        "This model's maximum context length is 8192 tokens",
        "the keyboard: see https://example.com/docs?page=2",
        "token limit: 8192",
    ],
)
def test_plain_words_stay(text: str) -> None:
    assert scrub(text, [Secret(KEY)]) == text


def test_a_body_loses_only_long_known_secrets() -> None:
    scrubber = Scrubber([Secret(KEY), Secret("ollama")])
    body = f'{{"text": "ollama says {KEY}"}}'.encode()
    assert scrubber.raw(body) == b'{"text": "ollama says ***"}'


def test_a_very_short_secret_does_not_blank_out_messages() -> None:
    assert scrub("extra context", [Secret("x")]) == "extra context"
    assert scrub("it says abcd", [Secret("abcd")]) == "it says ***"
