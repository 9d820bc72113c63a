"""Prompts in two languages: Chinese for Chinese texts, English for all others."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from proofstone.engines.judging import fence
from proofstone.identity import digest

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["TwoPrompts"]

_LANGUAGES = ("en", "zh")


class TwoPrompts(Struct, frozen=True):
    """The prompt ``prompts/NAME.en.jinja`` of a package and its Chinese twin. What they show is
    fenced under ``shown``, of which ``shown_zh`` is the Chinese word."""

    package: str
    name: str
    shown: str
    shown_zh: str

    def render(self, language: str, text: str, **values: Any) -> str:
        """The prompt for a text in this language, which stands in it as ``passage``."""
        code = "zh" if language.partition("-")[0] == "zh" else "en"
        passage = fence(self.shown_zh if code == "zh" else self.shown, text, code)
        return _template(self.package, self.name, code).render(passage=passage, **values)

    def key(self) -> str:
        """What a step depends on that sends it."""
        texts = (_text(self.package, self.name, language) for language in _LANGUAGES)
        return digest("\0".join(texts).encode()).hex()


@cache
def _template(package: str, name: str, language: str) -> Template:
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415  # kept out of the import

    # Prompts are plain text: escaping would change the names in them.
    environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701
    return environment.from_string(_text(package, name, language))


@cache
def _text(package: str, name: str, language: str) -> str:
    path = files(package) / f"prompts/{name}.{language}.jinja"
    return path.read_text(encoding="utf-8")
