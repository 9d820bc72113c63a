"""Generate options for open questions, and open questions from options.

A model writes incorrect options; rules and judges reject invalid ones. Missing options are
requested again, a bounded number of times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from proofstone.choices.outcomes import TEXT, ask_for, list_of, object_of_all
from proofstone.errors import BadInput, BadUsage
from proofstone.files.tables import read_checked
from proofstone.judging.panel import JudgeSlots, judge_slots, judged_step, panel_parameters
from proofstone.judging.question import fence
from proofstone.method import read_asked
from proofstone.methods.chinese_simpleqa.ask import choice_lines
from proofstone.methods.chinese_simpleqa.build.pairs import (
    PROMPTS,
    QUESTIONS,
    Draft,
    facts_by,
)
from proofstone.methods.chinese_simpleqa.payloads import Choice, Closed, Pair
from proofstone.methods.chinese_simpleqa.questions import read_facts
from proofstone.methods.chinese_simpleqa.sameness import as_number, plain_answer, settled_as
from proofstone.records.builds import Drop, Kept, Pipeline, Step, StepBuilder, StepContext
from proofstone.records.calls import Message
from proofstone.records.knowledge import BuiltFact, Stratum
from proofstone.records.verdicts import JudgeQuestion
from proofstone.texts.templates import Patterns

_UNREADABLE, _TOO_FEW = "unparsed response", "too few options"


_MOST_OPTIONS = 10


_SCHEMA = object_of_all({"options": list_of(TEXT)}, title="options")


_ASKED = read_asked(__package__, "choices")

PARAMETERS = (
    *_ASKED.parameters,
    *panel_parameters(
        votes="Votes of each judge on an option; more than half are its vote.",
        orders="Orders of the labels in which each vote is asked for; more than half decide.",
        tie="Tie rule of a panel: drop or keep the option.",
        usual_tie="drop",
    ),
)


class _Written(Struct, frozen=True):
    options: tuple[str, ...]


def make_pipeline(params: Mapping[str, Any], models: Mapping[str, str]) -> Pipeline:
    """Return the one step. Raises BadUsage for invalid parameters."""
    if not 2 <= params["n_options"] <= _MOST_OPTIONS:
        raise BadUsage(f"--n-options must be 2 to {_MOST_OPTIONS}, got {params['n_options']}")
    if params["rounds"] < 0:
        raise BadUsage(f"--rounds must be 0 or more, got {params['rounds']}")
    step = close_step(params["n_options"] - 1, params["rounds"], judge_slots(params, models))
    return Pipeline(steps=(step,), gives=Draft, facts=facts_by(models))


def close_step(wanted: int, rounds: int, judges: JudgeSlots) -> Step:
    """Return each pair with ``wanted`` incorrect options, or drop it with the rejected ones."""

    async def why_refused(
        option: str, row: Draft, known: Sequence[str], context: StepContext
    ) -> str:
        if reason := why_no_option(option, row, known):
            return reason
        question = distractor_question(row, option)
        verdict = await QUESTIONS.ask(judges, context, "distractor", question)
        return "" if verdict.label == "wrong" else verdict.label or "undecided"

    async def close(row: Draft, context: StepContext) -> Kept:
        taken: list[str] = []
        refused: dict[str, str] = {}
        for number in range(rounds + 1):
            prompt = close_prompt(row, wanted - len(taken), taken, list(refused))
            name = "options" if not number else f"options {number + 1}"
            call = context.calls["author"]
            new = await ask_for(call, name, [Message("user", prompt)], _Written, _SCHEMA)
            if isinstance(new, str):
                return Drop(_UNREADABLE, new)
            for option in (" ".join(text.split()) for text in new.options):
                reason = await why_refused(option, row, [*taken, *refused], context)
                if not reason:
                    taken.append(option)
                elif option:
                    refused.setdefault(option, reason)
                if len(taken) == wanted:
                    return _closed(row, taken, context)
        told = "; ".join(f"{option} ({reason})" for option, reason in refused.items())
        found = f"{len(taken)} of {wanted} for {row.question}"
        return Drop(_TOO_FEW, f"{found}; rejected: {told}" if told else found)

    return Step(
        name="options",
        version=1,
        takes=Draft,
        work=close,
        reasons=(_UNREADABLE, _TOO_FEW),
        config={
            **QUESTIONS.config(judges, "distractor"),
            "wanted": wanted,
            "rounds": rounds,
            "prompt": PROMPTS.key("close"),
        },
        asks=("author", *judges.asks),
        draws=True,
    )


def why_no_option(option: str, row: Draft, known: Sequence[str]) -> str:
    """Return why a text is certainly not a valid incorrect option; empty if a judge has to decide.

    It is empty, or a duplicate. Or it equals, nearly equals, contains or is part of the answer or
    an alias.
    """
    plain = plain_answer(option)
    if not plain:
        return "empty"
    if settled_as(option, row.asked()):
        return "the answer"
    if plain in {plain_answer(each) for each in known}:
        return "there already"
    for answer in map(plain_answer, row.asked().answers):
        is_number = as_number(plain) is not None or as_number(answer) is not None
        if not is_number and (answer.lower() in plain.lower() or plain.lower() in answer.lower()):
            return "part of the answer"
    return ""


def _closed(row: Draft, wrong: Sequence[str], context: StepContext) -> Draft:
    options = context.draws("options").shuffled((row.answer, *wrong))
    closed = Closed(
        question=row.question, options=tuple(options), answer_key=options.index(row.answer)
    )
    return structs.replace(row, closed=closed, made="generated", by_author=True)


def close_prompt(row: Draft, n: int, taken: Sequence[str], refused: Sequence[str]) -> str:
    """Return the author's prompt for a pair that lacks ``n`` options."""
    return PROMPTS.render(
        "close",
        row.language,
        n=n,
        taken=taken,
        refused=refused,
        question=fence("question", row.question, row.language),
        answer=fence("answer", row.answer, row.language),
    )


def distractor_question(row: Draft, option: str) -> JudgeQuestion:
    """Return the judge question about an option."""
    texts = {"question": row.question, "answer": row.answer, "option": option}
    return QUESTIONS.question("distractor", row.language, texts)


# From multiple choice to open questions: rules drop unsuitable ones, a model rewords the others,
# judges compare the meaning.

_CANNOT = "cannot be asked openly"


_OPENING_UNREADABLE, _TOLD = "unparsed response", "gives its answer away"


_RULES = 1  # incremented with every change of ``openable``


_OPENING_SCHEMA = object_of_all(
    {"verdict": {**TEXT, "enum": ["open", _CANNOT]}, "question": TEXT}, title="opened"
)


class _Opened(Struct, frozen=True):
    verdict: str
    question: str = ""


def opening_steps(judges: JudgeSlots) -> tuple[Step, ...]:
    """Return the steps from ``ChoiceRow`` to ``Draft``."""
    return (_rules_step(), _open_step(), _same_step(judges))


def _rules_step() -> Step:
    """Drop questions that certainly need their options; no model is called."""

    def look(row: ChoiceRow, _context: StepContext) -> Kept:
        reason = why_not_open(row.closed)
        return Drop(reason, row.closed.question) if reason else row

    return Step(
        name="can be open",
        version=1,
        takes=ChoiceRow,
        work=look,
        reasons=(AMONG, NAMES_OPTIONS, YES_OR_NO),
        config={"rules": _RULES},
    )


def _open_step() -> Step:
    """Convert each choice to an open question; its answer is the correct option's text.

    If a question reveals its answer, it is requested once more.
    """

    async def put(row: ChoiceRow, context: StepContext) -> Kept:
        found = await _opened(row, context)
        if isinstance(found, Drop) and found.reason == _TOLD:
            return await _opened(row, context, told=found.found)
        return found

    return Step(
        name="open",
        version=1,
        takes=ChoiceRow,
        work=put,
        reasons=(_CANNOT, _OPENING_UNREADABLE, _TOLD),
        config={"prompt": PROMPTS.key("open")},
        asks=("author",),
    )


async def _opened(row: ChoiceRow, context: StepContext, told: str = "") -> Draft | Drop:
    """Return the pair that a model makes of a choice.

    ``told`` is its previous version, which reveals the answer.
    """
    messages = [Message("user", open_prompt(row, told))]
    name = "open 2" if told else "open"
    new = await ask_for(context.calls["author"], name, messages, _Opened, _OPENING_SCHEMA)
    if isinstance(new, str):
        return Drop(_OPENING_UNREADABLE, new)
    question = " ".join(new.question.split())
    if new.verdict != "open" or not question:
        return Drop(_CANNOT, row.closed.question)
    answer = " ".join(row.closed.right.split())
    if is_told(question, answer):
        return Drop(_TOLD, question)
    return Draft(
        question=question,
        answer=answer,
        language=row.language,
        stratum=row.stratum,
        by_author=True,
        closed=row.closed,
        origin=row.origin,
        made="converted",
    )


def is_told(question: str, answer: str) -> bool:
    """Return True if a question contains its answer.

    Single characters and numbers of fewer than three digits are ignored.
    """
    said, asked = plain_answer(answer).lower(), plain_answer(question).lower()
    if as_number(said) is not None:
        alone = re.search(rf"(?<![\d.]){re.escape(said)}(?!\.?\d)", asked)
        return len(said) > 2 and alone is not None
    return len(said) > 1 and said in asked


def _same_step(judges: JudgeSlots) -> Step:
    """Drop open questions that differ from the choice in meaning, or still need its options."""

    def asked(row: Draft) -> tuple[str, JudgeQuestion] | None:
        if row.closed is None:
            return None
        texts = {
            "before": choice_lines(row.closed),
            "after": row.question,
            "answer": row.answer,
        }
        return "opened", QUESTIONS.question("opened", row.language, texts)

    return judged_step(
        judges,
        QUESTIONS,
        "opened",
        asked,
        name="still the same",
        takes=Draft,
        drops={"leans": "leans on its options", "other": "asks for something else"},
        found=lambda row: row.question,
    )


def open_prompt(row: ChoiceRow, told: str = "") -> str:
    """Return the author's prompt for a choice; ``told`` is a previous version that reveals the
    answer.
    """
    return PROMPTS.render(
        "open",
        row.language,
        told=told,
        question=fence("question", choice_lines(row.closed), row.language),
        answer=fence("answer", row.closed.right, row.language),
    )


# Choices of files, and pairs for which options are generated, each with its fact id.


class ChoiceRow(Struct, frozen=True, kw_only=True):
    """Hold a multiple-choice question, with the fact id that an import of its file gives."""

    closed: Closed
    origin: bytes
    language: str = ""
    stratum: Stratum = Stratum()


def choices_of(inputs: Sequence[str], _params: Mapping[str, Any]) -> Iterator[ChoiceRow]:
    """Return the choices of files. Raises BadInput with every problem of a file, and for other
    rows.
    """
    for built in _facts(inputs, Choice, "questions with options"):
        fact = built.fact
        closed = Closed(
            question=fact.payload.question,
            options=fact.payload.options,
            answer_key=fact.payload.answer_key,
        )
        yield ChoiceRow(closed=closed, origin=fact.id, language=fact.language, stratum=fact.stratum)


def pairs_of(inputs: Sequence[str], _params: Mapping[str, Any]) -> Iterator[Draft]:
    """Return the pairs of files. Raises as ``choices_of``."""
    for built in _facts(inputs, Pair, "short questions without options"):
        fact = built.fact
        asked = structs.asdict(fact.payload)
        yield Draft(**asked, language=fact.language, stratum=fact.stratum, origin=fact.id)


def _facts(inputs: Sequence[str], kind: type[Struct], wanted: str) -> Iterator[BuiltFact]:
    for name in inputs:
        path = Path(name)
        if not path.is_file():
            raise BadInput(
                f"expected a file of {wanted}, got {name}",
                hint="export a bank first: proofstone export BANK -o FILE",
            )
        for built in read_checked(path, read_facts):
            if not isinstance(built.fact.payload, kind):
                raise BadInput(f"{name} does not contain {wanted}")
            yield built


AMONG, NAMES_OPTIONS, YES_OR_NO = (
    "asks among its options",
    "options that refer to options",
    "a choice of yes or no",
)


_PATTERNS = Patterns(__package__)


_AMONG_ENGLISH = _PATTERNS.one("among_english", re.IGNORECASE)


_NEGATED = _PATTERNS.one("negated")


_AMONG_CHINESE = _PATTERNS.one("among_chinese")


_OF_OPTIONS = _PATTERNS.one("of_options", re.IGNORECASE | re.DOTALL)


_LETTERS = _PATTERNS.one("letters")


_YES_NO = frozenset(
    {"yes", "no", "true", "false", "correct", "incorrect", "right", "wrong", "是", "否", "不是"}
    | {"对", "错", "正确", "错误", "不正确", "可以", "不可以", "能", "不能", "会", "不会"}
)


def why_not_open(closed: Closed) -> str:
    """Return why a question certainly needs its options; empty if no rule applies."""
    question = closed.question
    if _AMONG_ENGLISH.search(question) or _NEGATED.search(question):
        return AMONG
    if _AMONG_CHINESE.search(question):
        return AMONG
    if any(_names_options(option, place) for place, option in enumerate(closed.options)):
        return NAMES_OPTIONS
    said = {plain_answer(option).lower() for option in closed.options}
    return YES_OR_NO if said <= _YES_NO else ""


def _names_options(option: str, place: int) -> bool:
    """Return True if an option refers to others: by words, or by letters of earlier options.

    "A and D" as the second option is not one, because vitamins also have letters.
    """
    if _OF_OPTIONS.match(option):
        return True
    found = _LETTERS.match(option)
    if found is None:
        return False
    named = re.findall(r"\b[A-J]\b|(?<![A-Za-z])[A-J](?![A-Za-z])", option)
    return all(ord(letter) - ord("A") < place for letter in named)


CLOSING = {
    "choices": StepBuilder(
        make=make_pipeline,
        roles=_ASKED.roles,
        parameters=PARAMETERS,
        rows=pairs_of,
        help="Multiple-choice questions from open ones. An INPUT is a file of short questions "
        "(question, answer). A model writes incorrect options. Rules refuse duplicates, "
        "aliases and parts of the answer; judges refuse correct options and options of "
        "another kind.",
        example="questions.jsonl -m openai/gpt-5.1 --judge other/model --budget 5USD",
    )
}
