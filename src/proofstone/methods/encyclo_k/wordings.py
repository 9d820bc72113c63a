"""How questions are put: sentences and wordings by language, numbered for ever.

An item stores the numbers of its template and wording. Lists may grow at their end only together
with ``recipe.COMPOSER``, since their lengths bound the draws.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

import msgspec


class Phrasing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The phrases of one language.

    Each template has ``{wording}`` once; wordings of one number are opposites; ``options`` heads
    the list of options.
    """

    templates: tuple[str, ...]
    correct: tuple[str, ...]
    incorrect: tuple[str, ...]
    options: str

    def ask(self, template: int, wording: int, *, correct: bool) -> str:
        """The sentence that asks for the correct or the incorrect statements."""
        wordings = self.correct if correct else self.incorrect
        return self.templates[template].replace("{wording}", wordings[wording])


def is_chinese(language: str) -> bool:
    """Whether a language code is one of Chinese's; all others are asked in English."""
    return language.lower().partition("-")[0] == "zh"


def phrasing(language: str) -> Phrasing:
    """The phrases for statements in this language."""
    return _read("zh" if is_chinese(language) else "en")


@cache
def _read(name: str) -> Phrasing:
    file = files(__package__) / "prompts" / f"phrasing.{name}.toml"
    text = file.read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Phrasing)
