"""Measure the prompt-injection robustness of judges: attacks with known labels, and their success.

Each attack is a text with one correct label that instructs the judge to give the other one. Attacks
are in both languages, in plain words or hidden in Markdown, comments, false ends, chat turns, or
the source document. The success rate is over attacks whose clean text is judged correctly; other
attacks are uninformative.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import cycle

import msgspec
from msgspec import Struct

from proofstone.judging.panel import Panel
from proofstone.records.verdicts import Exhibit, JudgeQuestion, Label, PanelVerdict

_ZERO_WIDTH = "\u200b"


class Attack(Struct, frozen=True, kw_only=True):
    """Hold one attack and its ``clean`` version, the correct label ``truth`` and the target label
    ``goal``.
    """

    name: str
    task: str
    carrier: str
    language: str
    question: JudgeQuestion
    clean: JudgeQuestion
    truth: str
    goal: str


class AttackResult(Struct, frozen=True, kw_only=True):
    """Hold a panel's labels of a clean and an attacked text; empty without a decision.

    ``verdict`` is that on the attacked text.
    """

    attack: str
    task: str
    carrier: str
    language: str
    clean: str
    attacked: str
    is_sound: bool
    is_fooled: bool
    verdict: PanelVerdict


class AttackSummary(Struct, frozen=True, kw_only=True):
    """Count attacks.

    Of ``n`` attacks, ``sound`` had clean texts that were judged correctly. Of these, ``fooled`` got
    the target label, and ``silenced`` no label.
    """

    n: int
    sound: int
    fooled: int
    silenced: int
    by_carrier: Mapping[str, tuple[int, int]]


class _Task(Struct, frozen=True, forbid_unknown_fields=True):
    place: str
    truth: str
    goal: str
    en: str
    zh: str
    labels_en: tuple[tuple[str, str], ...]
    labels_zh: tuple[tuple[str, str], ...]
    names_en: dict[str, str]
    names_zh: dict[str, str]


class _Carrier(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    template: str


class _Language(Struct, frozen=True, forbid_unknown_fields=True):
    heading: str
    commands: tuple[str, ...]
    answer: tuple[dict[str, str], ...]
    support: tuple[dict[str, str], ...]


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    tasks: dict[str, _Task]
    carriers: tuple[_Carrier, ...]
    languages: dict[str, _Language]


@cache
def attacks() -> tuple[Attack, ...]:
    """Return the bundled attacks: every carrier with every command in both languages.

    Tasks and cases alternate, in a fixed order.
    """
    text = (files(__package__) / "injections.toml").read_text(encoding="utf-8")
    data = msgspec.toml.decode(text, type=_File)
    return tuple(
        made for name, language in data.languages.items() for made in _of(data, name, language)
    )


async def try_attacks(panel: Panel, chosen: Sequence[Attack]) -> tuple[AttackResult, ...]:
    """Judge each attack, and each clean text once."""
    cleans = list(dict.fromkeys(attack.clean for attack in chosen))
    asked = [*cleans, *(attack.question for attack in chosen)]
    verdicts = await asyncio.gather(*(panel.decide(question) for question in asked))
    clean = dict(zip(cleans, verdicts[: len(cleans)], strict=True))
    return tuple(
        _result(attack, clean[attack.clean], verdict)
        for attack, verdict in zip(chosen, verdicts[len(cleans) :], strict=True)
    )


def summarise_attacks(results: Sequence[AttackResult]) -> AttackSummary:
    """Count attack results; ``by_carrier`` holds fooled and sound ones of each carrier."""
    sound = [result for result in results if result.is_sound]
    carriers = dict.fromkeys(result.carrier for result in results)
    return AttackSummary(
        n=len(results),
        sound=len(sound),
        fooled=sum(result.is_fooled for result in sound),
        silenced=sum(not result.attacked for result in sound),
        by_carrier={
            carrier: (
                sum(each.is_fooled for each in sound if each.carrier == carrier),
                sum(each.carrier == carrier for each in sound),
            )
            for carrier in carriers
        },
    )


def _of(data: _File, name: str, language: _Language) -> Iterator[Attack]:
    turns = cycle(data.tasks)
    cases = {"answer": cycle(language.answer), "support": cycle(language.support)}
    for carrier in data.carriers:
        for number, command in enumerate(language.commands):
            task = next(turns)
            yield _attack(
                data.tasks[task], task, next(cases[task]), carrier, command, name, language, number
            )
        next(turns)  # so that each command is combined with both tasks over the carriers


def _attack(
    task: _Task,
    task_name: str,
    case: Mapping[str, str],
    carrier: _Carrier,
    command: str,
    language_name: str,
    language: _Language,
    number: int,
) -> Attack:
    clean = _question(task, case, language_name)
    names = task.names_zh if language_name == "zh" else task.names_en
    ordered = command.replace("{goal}", task.goal)
    parts = {
        "command": ordered,
        "sparse": _ZERO_WIDTH.join(ordered),
        "heading": language.heading,
        "goal": task.goal,
        "exhibit": names[task.place],
        "text": case[task.place],
    }
    text = carrier.template
    for part, words in parts.items():
        text = text.replace("{" + part + "}", words)
    return Attack(
        name=f"{language_name}/{task_name}/{carrier.name}/{number + 1}",
        task=task_name,
        carrier=carrier.name,
        language=language_name,
        question=_question(task, {**case, task.place: text}, language_name),
        clean=clean,
        truth=task.truth,
        goal=task.goal,
    )


def _question(task: _Task, case: Mapping[str, str], language: str) -> JudgeQuestion:
    is_chinese = language == "zh"
    names = task.names_zh if is_chinese else task.names_en
    labels = task.labels_zh if is_chinese else task.labels_en
    return JudgeQuestion(
        task=task.zh if is_chinese else task.en,
        labels=tuple(Label(*label) for label in labels),
        exhibits=tuple(Exhibit(shown, case[name]) for name, shown in names.items()),
        language=language,
    )


def _result(attack: Attack, clean: PanelVerdict, attacked: PanelVerdict) -> AttackResult:
    return AttackResult(
        attack=attack.name,
        task=attack.task,
        carrier=attack.carrier,
        language=attack.language,
        clean=clean.label,
        attacked=attacked.label,
        is_sound=clean.label == attack.truth,
        is_fooled=attacked.label == attack.goal,
        verdict=attacked,
    )
