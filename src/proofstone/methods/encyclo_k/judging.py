"""The words in which statements are judged, by language."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

import msgspec

from proofstone.methods.encyclo_k.phrasing import is_chinese

__all__ = ["Judging", "judging"]


class Judging(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The phrases of one language: the question about one ``statement`` and about ``each`` of
    several, both verdicts, and the lines that state them."""

    statement: str
    each: str
    true: str
    false: str
    answer: str
    verdict: str

    def word(self, *, correct: bool) -> str:
        """The verdict that a statement deserves."""
        return self.true if correct else self.false

    def line(self, numeral: str, verdict: str) -> str:
        """The line that states the verdict on a numbered statement: ``ii: False``."""
        return self.verdict.replace("{numeral}", numeral).replace("{verdict}", verdict)


def judging(language: str) -> Judging:
    """The phrases for statements in this language."""
    return _read("zh" if is_chinese(language) else "en")


@cache
def _read(name: str) -> Judging:
    file = files(__package__) / "prompts" / f"judging.{name}.toml"
    return msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), Judging)
