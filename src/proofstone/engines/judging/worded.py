"""Questions to judges whose words stand in files: ``questions.en.toml`` and ``questions.zh.toml``
of a package, for steps that ask about texts in any language."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct

from proofstone.engines.judging.seated import SeatedJudges
from proofstone.identity import digest
from proofstone.ports import StepContext
from proofstone.records import Exhibit, JudgeQuestion, Label, PanelVerdict

__all__ = ["WordedQuestions"]


class _Question(Struct, frozen=True, forbid_unknown_fields=True):
    task: str
    labels: dict[str, str]
    names: dict[str, str]


class WordedQuestions(Struct, frozen=True):
    """The questions in the files of ``package``, ``file.en.toml`` and ``file.zh.toml``;
    ``keeps`` names of each the label that keeps a row: what a tie comes to where ties keep rows."""

    package: str
    keeps: Mapping[str, str]
    file: str = "questions"

    def config(self, judges: SeatedJudges, name: str, votes: int = 1) -> dict[str, Any]:
        """What a step that asks this question depends on besides its row and the models."""
        words = digest(
            _text(self.package, self.file, "en") + _text(self.package, self.file, "zh")
        ).hex()
        return {"question": name, "votes": votes, "words": words, **judges.config()}

    def question(
        self,
        name: str,
        language: str,
        texts: Mapping[str, str],
        values: Mapping[str, str] | None = None,
    ) -> JudgeQuestion:
        """The question about ``texts``, by their names in it, in Chinese for Chinese, else in
        English; ``{name}`` in its task is replaced by a value. KeyError for an unknown question."""
        kind = "zh" if language.lower().partition("-")[0] == "zh" else "en"
        asked = _questions(self.package, self.file, kind)[name]
        task = asked.task
        for key, value in (values or {}).items():
            task = task.replace(f"{{{key}}}", value)
        return JudgeQuestion(
            task=task,
            labels=tuple(Label(label, meaning) for label, meaning in asked.labels.items()),
            exhibits=tuple(Exhibit(asked.names[part], text) for part, text in texts.items()),
            language=kind,
        )

    async def ask(
        self,
        judges: SeatedJudges,
        context: StepContext,
        name: str,
        question: JudgeQuestion,
        *,
        votes: int = 1,
    ) -> PanelVerdict:
        """What the judges come to on a question of this name. See ``SeatedJudges.ask``."""
        return await judges.ask(
            context, name, question, votes=votes, kept_by_tie=self.keeps.get(name, "")
        )


@cache
def _questions(package: str, file: str, kind: str) -> dict[str, _Question]:
    return msgspec.convert(tomllib.loads(_text(package, file, kind).decode()), dict[str, _Question])


@cache
def _text(package: str, file: str, kind: str) -> bytes:
    return (files(package) / f"{file}.{kind}.toml").read_bytes()
