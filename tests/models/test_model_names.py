"""Model names: what is read, and that each wrong name is refused with what is wrong with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.errors import BadUsage
from proofstone.models.names import ModelName, parse_model_name


@pytest.mark.parametrize(
    ("text", "provider", "model"),
    [
        ("openai/gpt-4.1", "openai", "gpt-4.1"),
        ("openrouter/meta-llama/llama-3.1-8b:free", "openrouter", "meta-llama/llama-3.1-8b:free"),
        ("local/C:\\my models\\a b.gguf", "local", "C:\\my models\\a b.gguf"),
        ("local//abs/path.gguf", "local", "/abs/path.gguf"),
        ("sim/ann?ability=0.7&bias=0.2", "sim", "ann?ability=0.7&bias=0.2"),
    ],
)
def test_a_name_is_split_at_its_first_slash(text: str, provider: str, model: str) -> None:
    assert parse_model_name(text) == ModelName(provider, model)
    assert str(parse_model_name(text)) == text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("gpt-4", "no slash"),
        ("", "no slash"),
        ("/gpt-4", "provider ''"),
        ("OpenAI/gpt-4", "provider 'OpenAI'"),
        ("openai/", "nothing follows"),
        ("openai/ gpt", "starts or ends with a space"),
        ("openai/g\npt", "control character"),
        ("https://api.x.com/v1", "it is an address"),
    ],
)
def test_a_wrong_name_says_what_is_wrong_and_how_to_write_it(text: str, says: str) -> None:
    with pytest.raises(BadUsage, match=says) as caught:
        parse_model_name(text)
    assert "provider/model" in caught.value.hint


@given(st.text())
def test_any_text_is_a_name_or_bad_usage(text: str) -> None:
    try:
        name = parse_model_name(text)
    except BadUsage:
        return
    assert str(name) == text
