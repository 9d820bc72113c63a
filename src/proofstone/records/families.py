"""Which family a model belongs to: by its card where that says so, else by a rule on its name.

A model that made part of a benchmark may favour its siblings, so siblings are marked like itself.
The rule errs towards no family rather than a wrong one only where a name says nothing at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["family_of", "same_model"]

# Letters that stand for a family under another name: lines of one lab that are built on it.
_KNOWN_AS: Mapping[str, str] = {
    "chatgpt": "gpt", "davinci": "gpt",
    "codellama": "llama", "vicuna": "llama", "alpaca": "llama",
    "qwq": "qwen", "qvq": "qwen", "tongyi": "qwen",
    "mixtral": "mistral", "ministral": "mistral", "codestral": "mistral", "magistral": "mistral",
    "devstral": "mistral", "pixtral": "mistral", "voxtral": "mistral",
    "chatglm": "glm", "codegemma": "gemma", "medgemma": "gemma", "paligemma": "gemma",
    "internvl": "internlm", "moonshot": "kimi", "palm": "gemini", "bard": "gemini",
}  # fmt: skip
_FAMILIES = frozenset(_KNOWN_AS.values()) | {
    "aya", "baichuan", "bloom", "claude", "command", "dbrx", "deepseek", "doubao", "ernie",
    "exaone", "falcon", "granite", "grok", "hunyuan", "jamba", "jurassic", "minicpm", "minimax",
    "mpt", "nemotron", "nova", "olmo", "opt", "phi", "pythia", "sarvam", "seed", "smollm", "sonar",
    "stablelm", "starcoder", "step", "titan", "tinyllama", "yi",
}  # fmt: skip
# First words that name a lab, a region or a purpose, and no family.
_NO_FAMILY = frozenset({
    "ai", "amazon", "anthropic", "apac", "base", "chat", "cohere", "eu", "ft", "global", "google",
    "instruct", "large", "latest", "meta", "mini", "model", "nvidia", "openai", "pro", "small",
    "text", "the", "us", "v",
})  # fmt: skip
_SERIES_O = re.compile(r"o\d")  # o1, o3-mini, o4-mini: OpenAI's reasoning line of GPT
_WORDS = re.compile(r"[^0-9a-z]+")
_FILE = re.compile(r"\.(gguf|safetensors|bin)$")


def family_of(name: str, stated: str = "") -> str:
    """The family of a model named ``provider/model``, or as people write it; "" for no name.

    ``stated`` is the family that the model's card states, and stands for the name: cards tell
    generations apart (GPT-4.1, Qwen3), kin does not. The first word that is a known family:
    ``gpt-4.1`` and ``o3-mini`` are gpt, ``SmolLM2-135M.gguf`` smollm, ``meta-llama-3`` llama,
    ``hermes-3-llama-3.1`` llama. Else the letters of the first word that is no lab's name; else
    the whole name. A simulated respondent is a family of its own.
    """
    if name.startswith("sim/"):
        return name.partition("?")[0]
    text = stated.strip().lower() or _bare(name)
    words = [word for word in _WORDS.split(text) if word]
    if words and _SERIES_O.match(words[0]):
        return "gpt"
    stems = [letters[0] for word in words if (letters := re.match(r"[a-z]+", word))]
    for stem in stems:
        family = _KNOWN_AS.get(stem, stem)
        if family in _FAMILIES:
            return family
    named = [stem for stem in stems if stem not in _NO_FAMILY]
    return named[0] if named else text


def same_model(one: str, other: str) -> bool:
    """Whether two names mean one model: the same but for provider, case and a file's ending."""
    if one.startswith("sim/") or other.startswith("sim/"):
        return one == other
    return bool(_bare(one)) and _bare(one) == _bare(other)


def _bare(name: str) -> str:
    """The model's own part of a name: no provider, owner, tag, version mark or file's ending."""
    text = name.strip().lower().removeprefix("ft:")
    text = text.rstrip("/").rpartition("/")[2]
    text = re.split(r"[:@?]", text, maxsplit=1)[0]
    return _FILE.sub("", text)
