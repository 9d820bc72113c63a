"""Asking: one call an item, directly or step by step, with worked examples where wanted.

Worked examples are earlier turns of the same conversation, each put as the item itself is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from proofstone.choices.options import option_text, roman
from proofstone.errors import BadInput, BadUsage
from proofstone.method import OwnPrompts
from proofstone.methods.encyclo_k.compose import compose
from proofstone.methods.encyclo_k.payloads import ComposedQuestion, default_settings, judging
from proofstone.methods.encyclo_k.question_text import (
    PUBLISHED,
    RENDERING,
    WAYS,
    Task,
    asks_for_all,
    gold_letter,
    is_stepwise,
    last_step,
    letters,
    option_texts,
    render,
    sentence,
    stem,
    task_of,
    task_of_set,
)
from proofstone.methods.encyclo_k.recipe import is_composed, is_of_statements
from proofstone.methods.encyclo_k.wordings import is_chinese, phrasing
from proofstone.records.calls import Call, Message
from proofstone.records.ids import Draws, content_id, short
from proofstone.records.items import Item, ItemSet, LoadedItem, Oracle, OwnPrompt, TextForm, Way
from proofstone.records.knowledge import BankReader, Fact
from proofstone.texts.templates import Turns, read_turns

if TYPE_CHECKING:
    from jinja2 import Template


# Prompts by a person's own template: what it may use, what it must show, and how it is filled in.
#
# Worked examples are put by the same template, and their answers stay the method's; what is read of
# a reply stays the same too, so a template should ask for an answer in the form that the method's
# prompts ask for (docs/prompts.md).

VARIABLES: Mapping[str, str] = {
    "question": "the whole question as the method puts it: sentence, statements, options",
    "stem": "the question without its options: sentence and numbered statements",
    "sentence": "the sentence that asks, alone",
    "statements": "the statements in order, each with .numeral (i, ii, ...) and .text; none where "
    "the form was imported",
    "options": "the options in order, each with .letter and .text; none where verdicts are asked",
    "asks": "correct or incorrect: which statements the question asks for; empty where it was "
    "imported or verdicts are asked",
    "sentence_number": "the number of the sentence, from 0, to choose one of a list of your own by",
    "wording_number": "the number of its word for correct or incorrect, from 0",
    "several": "whether several options are right and all of them are asked for",
    "letters": "the options' letters in one text: A, B, C",
    "count": "how many statements there are",
    "language": "the question's language, such as en or zh",
    "task": "choice (of an option), statement (one verdict) or verdicts (one on each statement)",
    "way": "the way of asking, such as direct or cot",
    "stepwise": "whether the way asks for reasoning before the answer",
}


_Shown = tuple[tuple[str, ...], ...]  # sets of variables, one of which must be used whole


_COMPOSED: _Shown = (
    ("question",),
    ("stem", "options"),
    ("sentence", "statements", "options"),
    ("asks", "statements", "options"),
)


_IMPORTED: _Shown = (("question",), ("stem", "options"))


_JUDGED: _Shown = (("question",), ("stem",), ("statements",))


def check_prompt(prompt: OwnPrompt, way: str, item_set: ItemSet) -> None:
    """Raises BadInput with every problem of the template, or where it leaves out what a model must
    see in this way: statements, or the options to choose from."""
    task = task_of_set(item_set, way)
    uses = _turns(prompt).asks.uses
    enough = _JUDGED if task != "choice" else _COMPOSED
    if not is_composed(item_set):
        enough = _IMPORTED
    if not any(uses.issuperset(needed) for needed in enough):
        ways = ", or ".join(_together(needed) for needed in enough)
        raise BadInput(
            f"the template {prompt.name} does not show the whole question: for {way} it must use "
            f"{ways}",
            hint=f"it uses {', '.join(sorted(uses)) or 'nothing of the question'}; see "
            "docs/prompts.md",
        )


PROMPTS = OwnPrompts(variables=VARIABLES, check=check_prompt)


def own_prompt_text(prompt: OwnPrompt, item: LoadedItem, way: str) -> str:
    """What a model is sent of an item. Raises BadInput where the template fails on it."""
    return _turns(prompt).asks.render(_values(item, way))


def own_turns(prompt: OwnPrompt, item: LoadedItem, way: str) -> list[Message]:
    """The template's turns before the one that asks: system message, few-shot examples."""
    turns = _turns(prompt)
    return turns.messages_before(_values(item, way)) if turns.before else []


def _values(item: LoadedItem, way: str) -> dict[str, Any]:
    task = task_of(item.item, way)
    language = item.item.language
    choices = letters(item) if task == "choice" else ""
    return {
        "question": render(item, task),
        "stem": stem(item, task),
        "sentence": sentence(item, task),
        **_worded(item, task),
        "statements": [
            {"numeral": roman(count), "text": fact.payload.text}
            for count, fact in enumerate(item.facts, start=1)
        ],
        "options": _options(item, task, choices),
        "several": asks_for_all(item),
        "letters": ("、" if is_chinese(language) else ", ").join(choices),
        "count": len(item.facts),
        "language": language,
        "task": task,
        "way": way,
        "stepwise": is_stepwise(way),
    }


def _worded(item: LoadedItem, task: Task) -> dict[str, Any]:
    """What a template needs to put the question by sentences of its own."""
    payload = item.item.payload
    if task != "choice" or not isinstance(payload, ComposedQuestion):
        return {"asks": "", "sentence_number": 0, "wording_number": 0}
    return {
        "asks": "correct" if payload.asks_correct else "incorrect",
        "sentence_number": payload.template,
        "wording_number": payload.wording,
    }


def _options(item: LoadedItem, task: Task, choices: str) -> list[dict[str, str]]:
    if task != "choice":
        return []
    return [
        {"letter": letter, "text": text}
        for letter, text in zip(choices, option_texts(item), strict=True)
    ]


def _together(needed: tuple[str, ...]) -> str:
    *others, last = needed
    return f"{', '.join(others)} and {last}" if others else last


@lru_cache(maxsize=16)
def _turns(prompt: OwnPrompt) -> Turns:
    return read_turns(prompt.text, prompt.name, VARIABLES)


# Worked examples for few-shot prompts, from the bank of the form that is asked.
#
# They are composed like the form's own items, by a seed of their own, into one pool. An item is
# shown examples of its language that share no statement with it, nor one of the same origin.

_SPARE = 64  # examples of a language beyond those that one prompt shows, to choose among


def compose_shots(item_set: ItemSet, bank: BankReader, count: int) -> tuple[LoadedItem, ...]:
    """The pool of worked examples in which every item of a form finds ``count``.

    Raises BadUsage where the bank is too small for that. The items of an imported set are not
    known here; for one that finds too few, ``choose_shots`` raises.
    """
    facts = {fact.id: fact for fact in bank.facts()}
    pool = tuple(
        _loaded(item, facts)
        for part in _by_language(bank)
        for item in _examples(part, item_set, count + _SPARE)
    )
    if item_set.seed is not None:
        for item in compose(bank, item_set.recipe, item_set.seed):
            choose_shots(_loaded(item, facts), pool, count)
    return pool


def choose_shots(
    item: LoadedItem,
    pool: Sequence[LoadedItem],
    count: int,
    unfit: frozenset[bytes] = frozenset(),
) -> tuple[LoadedItem, ...]:
    """``count`` worked examples for this item: the first that fit from a place its id fixes, none
    of them on a fact that is ``unfit``.

    Raises BadUsage where fewer fit.
    """
    taken = _origins(item)
    start = int.from_bytes(item.item.id[:8]) % max(1, len(pool))
    found: list[LoadedItem] = []
    for at in range(start, start + len(pool)):
        example = pool[at % len(pool)]
        if (
            example.item.language == item.item.language
            and taken.isdisjoint(_origins(example))
            and unfit.isdisjoint(example.item.facts)
        ):
            found.append(example)
            if len(found) == count:
                return tuple(found)
    raise BadUsage(
        f"{count} worked examples were wanted; the bank gives {len(found)} that share no "
        f"statement with item {short(item.item.id)} (language {item.item.language or 'unknown'})",
        hint="ask with fewer shots, or compose from a larger bank",
    )


@dataclass(slots=True)
class _Part:
    """The facts of a bank in one language, as a bank."""

    id: bytes
    name: str
    kept: Sequence[Fact]

    def facts(self) -> Sequence[Fact]:
        return self.kept


def _by_language(bank: BankReader) -> list[BankReader]:
    facts = bank.facts()
    return [
        _Part(bank.id, bank.name, [fact for fact in facts if fact.language == language])
        for language in sorted({fact.language for fact in facts})
    ]


def _examples(bank: BankReader, item_set: ItemSet, count: int) -> list[Item]:
    """Items under the form's recipe; none in a language that skip_small leaves nothing of."""
    if is_of_statements(item_set.recipe):
        params = {**item_set.recipe, "sample": min(count, len(bank.facts()))}
    else:
        params = {**item_set.recipe, "questions": count}
    seed = Draws(item_set.seed or 0, 0, "shots").below(1 << 63)
    try:
        return list(compose(bank, params, seed))
    except BadInput:
        if item_set.recipe.get("skip_small"):
            return []
        raise


def _loaded(item: Item, facts: Mapping[bytes, Fact]) -> LoadedItem:
    return LoadedItem(item, tuple(facts[identity] for identity in item.facts))


def _origins(item: LoadedItem) -> set[bytes]:
    """The true statements that an item's statements are or come from, and what they correct: the
    bank of a corrected form still holds the former version."""
    origins = {fact.payload.origin or fact.id for fact in item.facts}
    return origins | {fact.corrects for fact in item.facts if fact.corrects is not None}


# Prompts from the templates of ``prompts/``, in Chinese for Chinese items, else in English.

_LANGUAGES = ("en", "zh")


_ASKED: dict[Task, tuple[str, str]] = {  # the templates that ask at once, and step by step
    "choice": ("direct", "cot"),
    "statement": ("statement_direct", "statement_cot"),
    "verdicts": ("verdicts", "verdicts_cot"),
}


_WORKED: dict[Task, str] = {
    "choice": "worked",
    "statement": "statement_worked",
    "verdicts": "verdicts_worked",
}


def ask_prompt(item: LoadedItem, way: str) -> str:
    """What a model is sent: the question, and how its answer must look."""
    task = task_of(item.item, way)
    name, language = _asking(task, way), item.item.language
    if asks_for_all(item):
        name = "several_cot" if is_stepwise(way) or way == PUBLISHED else "several"
    if task == "choice":
        composed = isinstance(item.item.payload, ComposedQuestion)
        before, after = _around_options(name, language, letters(item), composed=composed)
    else:
        before, after = _around_statements(name, language, len(item.facts))
    return f"{before}{render(item, task)}{after}"


def template_texts(task: Task, way: str) -> tuple[str, ...]:
    """The templates that shape the prompts of a task and way, worked examples included."""
    name = _asking(task, way)
    names = (name, _WORKED[task]) if is_stepwise(way) else (name,)
    return tuple(_text(name, language) for name in names for language in _LANGUAGES)


def template_bytes(name: str) -> bytes:
    """A template of ``prompts/`` in all languages, for what hashes it."""
    return "\0".join(_text(name, language) for language in _LANGUAGES).encode()


def render_template(name: str, language: str, **values: Any) -> str:
    """A template of ``prompts/`` in this language with its values."""
    return _template(name, language).render(values)


def _asking(task: Task, way: str) -> str:
    if task == "choice" and way == PUBLISHED:
        return "as_published"
    return _ASKED[task][is_stepwise(way)]


_PLACE = "\0"  # in no question: texts refuse it at import


@cache
def _around_options(name: str, language: str, choices: str, *, composed: bool) -> tuple[str, str]:
    """What stands before and behind the question: the same for all questions of a kind, so that a
    template is rendered a few times a run rather than once a question."""
    listed = ("、" if is_chinese(language) else ", ").join(choices)
    text = render_template(name, language, question=_PLACE, letters=listed, composed=composed)
    before, _, after = text.partition(_PLACE)
    return before, after


@cache
def _around_statements(name: str, language: str, count: int) -> tuple[str, str]:
    """The same for statements to be judged, by how many they are."""
    text = render_template(name, language, question=_PLACE, count=count, last=roman(count))
    before, _, after = text.partition(_PLACE)
    return before, after


def _template(name: str, language: str) -> Template:
    return _compiled(name, "zh" if is_chinese(language) else "en")


@cache
def _compiled(name: str, language: str) -> Template:
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415  # kept out of the import

    # Prompts are plain text: escaping would put entities into them.
    environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701
    return environment.from_string(_text(name, language))


@cache
def _text(name: str, language: str) -> str:
    file = files(__package__) / "prompts" / f"{name}.{language}.jinja"
    return file.read_text(encoding="utf-8")


# The replies that items deserve: for worked examples, and for respondents that are simulated.


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


# Questions as one text, for base models: blocks of question and answer, the last answer open.
#
# A base model follows no instruction; worked examples show it what an answer looks like. What it
# writes ends at the head of the next question, asked directly also at the first empty line.

_VERSION = 1  # raised by every change of these texts


_NEXT_QUESTION = ("\nQuestion:", "\n问题：")


def text_form(way: str) -> TextForm:
    """Where an answer ends, in either language."""
    stop = _NEXT_QUESTION if is_stepwise(way) else ("\n\n", *_NEXT_QUESTION)
    return TextForm(stop=stop, version=_VERSION)


def text_prompt(item: LoadedItem, shots: Sequence[LoadedItem], way: Way) -> str:
    """Each example with its answer, then the item up to where its answer begins. A person's own
    template stands in place of the question, before the answer's head."""
    name = way.name
    worked = [
        f"{_asked(shot, way)}\n{_head(shot, name)}{worked_answer(shot, name)}" for shot in shots
    ]
    opening = _head(item, name) or _answer_begun(item, name)
    own = [] if way.own_prompt is None else own_turns(way.own_prompt, item, way.name)
    return "\n\n".join(
        [*(turn.text for turn in own), *worked, f"{_asked(item, way)}\n{opening.rstrip()}"]
    )


def _asked(item: LoadedItem, way: Way) -> str:
    if way.own_prompt is not None:
        return own_prompt_text(way.own_prompt, item, way.name)
    head = "问题：" if is_chinese(item.item.language) else "Question: "
    return head + render(item, task_of(item.item, way.name))


def _head(item: LoadedItem, way: str) -> str:
    """What stands before the reasoning, or before several verdicts; empty for a single answer."""
    chinese = is_chinese(item.item.language)
    if is_stepwise(way):
        return "分析：" if chinese else "Reasoning: "
    if task_of(item.item, way) == "verdicts":
        return "判断：\n" if chinese else "Verdicts:\n"
    return ""


def _answer_begun(item: LoadedItem, way: str) -> str:
    language = item.item.language
    if task_of(item.item, way) == "statement":
        return judging(language).answer.replace("{verdict}", "")
    return answer_line(language, "")


def settings(way: str) -> dict[str, Any]:
    """Default ``max_tokens`` and ``temperature`` of a way. Raises BadUsage for an unknown one."""
    if way not in WAYS:
        raise BadUsage(f"no way of asking is named {way!r}; there is {', '.join(WAYS)}")
    return default_settings(way)


def prepare(way: str, shots: int, item_set: ItemSet, bank: BankReader | None) -> Way:
    """A way of asking with its pool of worked examples.

    Raises BadUsage for a way that is unknown or does not fit the set, and for shots that cannot be
    made: fewer than none, of a set without a bank, or of too small a bank.
    """
    task = task_of_set(item_set, way)
    if shots < 0:
        raise BadUsage(f"the number of worked examples is 0 or more, not {shots}")
    if shots and bank is None:
        raise BadUsage(
            f"{item_set.name} has no bank to make worked examples from",
            hint="ask without shots, or compose a form from a bank of statements",
        )
    pool = compose_shots(item_set, bank, shots) if shots and bank is not None else ()
    shaped_by = [way, RENDERING, template_texts(task, way), *_phrases(task), shots]
    prompt_hash = content_id("encyclo_k.prompt", [*shaped_by, [shot.item.id for shot in pool]])
    return Way(
        name=way,
        last_step=last_step(way),
        prompt_hash=prompt_hash,
        shots=pool,
        n_shots=shots,
        text=text_form(way),
    )


def _phrases(task: Task) -> list[Any]:
    """The phrases that shape the prompts of a task."""
    read = phrasing if task == "choice" else judging
    return [read("en"), read("zh")]


async def ask(item: LoadedItem, way: Way, call: Call) -> None:
    """Asks one item with one call, step "answer", or "verdicts" where each statement is judged."""
    oracle = oracle_of(item, task_of(item.item, way.name))
    await call(way.last_step, messages(item, way), oracle=oracle)


def messages(item: LoadedItem, way: Way) -> list[Message]:
    """The conversation that an item is asked with: worked examples, then the item."""
    chosen = choose_shots(item, way.shots, way.n_shots, way.unfit) if way.n_shots else ()
    if way.as_text:
        return [Message("user", text_prompt(item, chosen, way))]
    turns = [] if way.own_prompt is None else own_turns(way.own_prompt, item, way.name)
    for shot in chosen:
        turns.append(Message("user", _ask_asked(shot, way)))
        turns.append(Message("assistant", worked_answer(shot, way.name)))
    return [*turns, Message("user", _ask_asked(item, way))]


def _ask_asked(item: LoadedItem, way: Way) -> str:
    if way.own_prompt is None:
        return ask_prompt(item, way.name)
    return own_prompt_text(way.own_prompt, item, way.name)
