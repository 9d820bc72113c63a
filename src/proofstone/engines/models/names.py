"""Model names as people type them: ``provider/model``.

The provider says who answers (``openai``, ``vllm``, ``local``, ``sim``, or one named in the
configuration); everything after the first slash is the model's own name and may hold slashes,
colons and, for ``sim``, a query: ``openrouter/meta-llama/llama-3.1-8b``, ``local/models/x.gguf``,
``sim/ann?ability=1.5``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from proofstone.errors import BadUsage

__all__ = ["ModelName", "parse_model_name", "parse_model_names"]

_PROVIDER = re.compile(r"[a-z0-9][a-z0-9._-]*")
_EXAMPLES = "write provider/model, such as openai/gpt-4.1-mini, local/path/to/file.gguf or sim/ann"


class ModelName(Struct, frozen=True, order=True):
    """A provider and the name it knows a model by; ``str()`` gives back what was typed."""

    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"


def parse_model_name(text: str) -> ModelName:
    """The two parts of a name. Raises BadUsage that says what is wrong with it."""
    provider, _, model = text.partition("/")
    problem = _problem(text, provider, model)
    if problem:
        raise BadUsage(f"{text!r} is not a model's name: {problem}", hint=_EXAMPLES)
    return ModelName(provider, model)


def parse_model_names(texts: Iterable[str]) -> tuple[ModelName, ...]:
    """Several names, each once and in order; each text may hold several, parted by commas.

    Raises BadUsage naming every one that cannot be read, or when there is none.
    """
    names: dict[ModelName, None] = {}
    problems: list[str] = []
    for text in (part.strip() for whole in texts for part in whole.split(",")):
        try:
            names[parse_model_name(text)] = None
        except BadUsage as error:
            problems.append(error.message)
    if problems:
        raise BadUsage("\n".join(problems), hint=_EXAMPLES)
    if not names:
        raise BadUsage("no model was named", hint=_EXAMPLES)
    return tuple(names)


def _problem(text: str, provider: str, model: str) -> str:
    if "://" in text:
        return "it is an address; name it as a provider in proofstone.toml ([providers.NAME])"
    if "/" not in text:
        return "it has no slash, so the provider is missing"
    if not _PROVIDER.fullmatch(provider):
        return f"the provider {provider!r} is not lower-case letters, digits, '.', '_' or '-'"
    if not model.strip():
        return "nothing follows the provider"
    if any(ord(character) < 32 for character in model) or model != model.strip():
        return "the model's part starts or ends with a space, or holds a control character"
    return ""
