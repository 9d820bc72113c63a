"""The replies that items deserve: for worked examples, and for respondents that are simulated."""

from __future__ import annotations

from proofstone.engines.choices.options import option_text
from proofstone.engines.choices.roman import roman
from proofstone.methods.encyclo_k.judging import judging
from proofstone.methods.encyclo_k.payloads import ComposedQuestion
from proofstone.methods.encyclo_k.phrasing import is_chinese
from proofstone.methods.encyclo_k.prompting import render_template
from proofstone.methods.encyclo_k.rendering import asks_for_all, gold_letter, letters
from proofstone.methods.encyclo_k.tasks import Task, is_stepwise, task_of
from proofstone.records import Fact, LoadedItem, Oracle

__all__ = ["answer_line", "oracle_of", "worked_answer"]


def answer_line(language: str, choice: str) -> str:
    """The line that states the choice of an option: ``Answer: B``."""
    return f"答案：{choice}" if is_chinese(language) else f"Answer: {choice}"


def oracle_of(item: LoadedItem, task: Task) -> Oracle:
    """What a simulated respondent may look at: the right answer, all answers, and how to say one.
    Of several verdicts each is a part of its own."""
    language = item.item.language
    if task == "choice":
        stated = answer_line(language, "{choice}")
        gold, choices = gold_letter(item), tuple(letters(item))
        if asks_for_all(item):
            choices = (gold, *choices)
        return Oracle(gold=gold, choices=choices, reply=stated)
    phrases = judging(language)
    if task == "statement":
        (fact,) = item.facts
        return _judged(fact, language, phrases.answer.replace("{verdict}", "{choice}"))
    parts = [
        _judged(fact, language, phrases.line(roman(count), "{choice}"))
        for count, fact in enumerate(item.facts, start=1)
    ]
    return Oracle(gold="", choices=(), parts=tuple(parts))


def _judged(fact: Fact, language: str, reply: str) -> Oracle:
    phrases = judging(language)
    gold = phrases.word(correct=fact.payload.correct)
    return Oracle(gold=gold, choices=(phrases.true, phrases.false), reply=reply)


def worked_answer(item: LoadedItem, way: str) -> str:
    """The reply that an item made from a bank deserves: the line or lines of its answer, and step
    by step before them what is known of each statement, computed from the bank."""
    task = task_of(item.item, way)
    language = item.item.language
    answer = _answer(item, task)
    if not is_stepwise(way):
        return answer
    return f"{_reasoning(item, task, language)}\n{answer}"


def _answer(item: LoadedItem, task: Task) -> str:
    language = item.item.language
    if task == "choice":
        return answer_line(language, gold_letter(item))
    phrases = judging(language)
    verdicts = [phrases.word(correct=fact.payload.correct) for fact in item.facts]
    if task == "statement":
        return phrases.answer.replace("{verdict}", verdicts[0])
    return "\n".join(phrases.line(roman(at), said) for at, said in enumerate(verdicts, start=1))


def _reasoning(item: LoadedItem, task: Task, language: str) -> str:
    if task == "statement":
        (fact,) = item.facts
        known = fact.payload
        reason = known.reason.strip()
        return render_template("statement_worked", language, correct=known.correct, reason=reason)
    statements = _known(item)
    if task == "verdicts":
        return render_template("verdicts_worked", language, statements=statements).rstrip("\n")
    payload: ComposedQuestion = item.item.payload
    return render_template(
        "worked",
        language,
        statements=statements,
        asks_correct=payload.asks_correct,
        asked=option_text(payload.options[payload.gold]),
        letter=gold_letter(item),
    )


def _known(item: LoadedItem) -> list[dict[str, str | bool]]:
    return [
        {
            "numeral": roman(count),
            "correct": fact.payload.correct,
            "reason": "" if fact.payload.correct else fact.payload.reason.strip(),
        }
        for count, fact in enumerate(item.facts, start=1)
    ]
