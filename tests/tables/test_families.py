"""Families by name: siblings are found, strangers are not made siblings, a card wins."""

from __future__ import annotations

import pytest

from proofstone.records.models import family_of, same_model

NAMES = {
    "gpt-4.1": "gpt",
    "openai/gpt-4o": "gpt",
    "gpt4o-mini": "gpt",
    "openai/o3-mini": "gpt",
    "chatgpt-4o-latest": "gpt",
    "openai/gpt-oss-20b": "gpt",
    "ft:gpt-4o-2024-08-06:acme::x": "gpt",
    "text-davinci-003": "gpt",
    "smollm2-135m": "smollm",
    "local/models/SmolLM2-135M-Instruct-Q8_0.gguf": "smollm",
    "HuggingFaceTB/SmolLM3-3B": "smollm",
    "qwen3-8b-instruct": "qwen",
    "openrouter/qwen/qwen2.5-72b-instruct:free": "qwen",
    "dashscope/qwq-32b": "qwen",
    "ollama/qwen3:8b": "qwen",
    "openrouter/meta-llama/llama-3.1-8b-instruct": "llama",
    "meta-llama-3-8b": "llama",
    "NousResearch/hermes-3-llama-3.1-8b": "llama",
    "TheBloke/llama-3-8b-gptq": "llama",
    "deepseek-r1-distill-qwen-7b": "deepseek",
    "bedrock/us.anthropic.claude-3-5-sonnet-20241022-v2:0": "claude",
    "vertex/gemini-2.5-pro@001": "gemini",
    "google/gemma-3-27b-it": "gemma",
    "mistralai/mixtral-8x7b": "mistral",
    "zai/glm-4.5": "glm",
    "chatglm3-6b": "glm",
    "acme/large-2025-10": "large-2025-10",
    "acme/zephyr-7b": "zephyr",
    "acme/文心": "文心",
    "sim/ann?ability=0.8": "sim/ann",
    "": "",
}


@pytest.mark.parametrize(("name", "family"), NAMES.items())
def test_the_family_of_a_name(name: str, family: str) -> None:
    assert family_of(name) == family


def test_a_card_wins_over_the_name() -> None:
    """Of a model whose name misleads, or says nothing; a card's generations are one family."""
    assert family_of("acme/large", "Qwen3") == family_of("qwen2.5-7b") == "qwen"
    assert family_of("acme/large", "GPT-4.1") == family_of("openai/o3", "o3") == "gpt"
    assert family_of("acme/llama-like", "Somewhere 2") == "somewhere"
    assert family_of("acme/large", "") == "large"


def test_one_model_under_several_names() -> None:
    """Provider, case, tags and a file's ending do not make another model; a version does."""
    assert same_model("openai/gpt-4.1", "GPT-4.1")
    assert same_model("local/a/SmolLM2-135M.gguf", "HuggingFaceTB/smollm2-135m")
    assert not same_model("gpt-4.1", "gpt-4.1-mini")
    assert not same_model("", "")
    assert not same_model("sim/ann", "acme/ann")
    assert same_model("sim/ann?ability=1", "sim/ann?ability=1")
