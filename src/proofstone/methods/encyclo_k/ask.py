"""Prompt models: one call per item, directly or step by step, with optional few-shot examples.

Few-shot examples are earlier turns of the conversation, each in the format of the item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from typing import Any, TypeAlias

from proofstone.choices import likelihood
from proofstone.choices.options import option_text, roman
from proofstone.errors import BadInput, BadUsage
from proofstone.method import OwnPrompts, check_prompt_method, read_defaults
from proofstone.methods.encyclo_k.compose import compose, is_composed, is_of_statements
from proofstone.methods.encyclo_k.payloads import ComposedQuestion, judging, phrasing
from proofstone.methods.encyclo_k.questions import (
    PROMPT_METHODS,
    PUBLISHED,
    RENDERING,
    Task,
    asks_for_all,
    is_stepwise,
    key_letter,
    last_step,
    letters,
    option_texts,
    render,
    sentence,
    stem,
    task_of,
    task_of_set,
)
from proofstone.records.calls import Call, Message
from proofstone.records.ids import Draws, content_id, short
from proofstone.records.items import (
    Item,
    ItemSet,
    LoadedItem,
    Oracle,
    OwnPrompt,
    PromptMethod,
    TextForm,
)
from proofstone.records.knowledge import BankReader, Fact
from proofstone.texts.languages import is_chinese
from proofstone.texts.templates import LANGUAGES, Prompts, check_shown, turns_of


def settings(prompt_method: str) -> dict[str, Any]:
    """Return the default ``max_tokens`` and ``temperature`` of a prompting method.

    Raises BadUsage for an unknown one.
    """
    check_prompt_method(prompt_method, PROMPT_METHODS)
    if prompt_method in likelihood.VARIANTS:
        return likelihood.settings(prompt_method)
    return dict(read_defaults(__package__)["settings"][prompt_method])


def prepare(
    prompt_method: str, shots: int, item_set: ItemSet, bank: BankReader | None
) -> PromptMethod:
    """Prepare a prompting method with its pool of few-shot examples.

    Raises BadUsage for a prompting method that is unknown or does not fit the item set. Also raised
    for an invalid number of examples, an item set without a bank, or too small a bank.
    """
    task = task_of_set(item_set, prompt_method)
    if shots < 0:
        raise BadUsage(f"the number of few-shot examples must be 0 or more, got {shots}")
    if shots and bank is None:
        raise BadUsage(
            f"{item_set.name} has no bank for few-shot examples",
            hint="run without few-shot examples, or compose a form from a bank of statements",
        )
    pool = compose_shots(item_set, bank, shots) if shots and bank is not None else ()
    names = (
        (_asking(task, prompt_method), _WORKED[task])
        if is_stepwise(prompt_method)
        else (_asking(task, prompt_method),)
    )
    words = phrasing if task == "choice" else judging
    shaped_by = [
        *(prompt_method, RENDERING, [text for name in names for text in _PROMPTS.texts(name)]),
        *(*map(words, LANGUAGES), shots, [shot.item.id for shot in pool]),
    ]
    return PromptMethod(
        name=prompt_method,
        last_step=last_step(prompt_method),
        prompt_hash=content_id("encyclo_k.prompt", shaped_by),
        shots=pool,
        n_shots=shots,
        text=TextForm(version=_VERSION)
        if prompt_method in likelihood.VARIANTS
        else text_form(prompt_method),
        whole_response=likelihood.NOT_READ if prompt_method in likelihood.VARIANTS else "",
        likelihood=likelihood.VARIANTS.get(prompt_method, ""),
    )


async def ask(item: LoadedItem, prompt_method: PromptMethod, call: Call) -> None:
    """Prompt for one item with one call: step "answer", or "verdicts" for one verdict per
    statement.
    """
    oracle = oracle_of(item, task_of(item.item, prompt_method.name))
    if prompt_method.likelihood:
        texts = _continuations(item, prompt_method, oracle)
        await likelihood.ask_options(
            prompt_method, call, messages(item, prompt_method), texts, oracle
        )
        return
    await call(prompt_method.last_step, messages(item, prompt_method), oracle=oracle)


def messages(item: LoadedItem, prompt_method: PromptMethod) -> list[Message]:
    """Return the conversation for an item: few-shot examples, then the item."""
    chosen = (
        choose_shots(item, prompt_method.shots, prompt_method.n_shots, prompt_method.unfit)
        if prompt_method.n_shots
        else ()
    )
    turns: list[Message] = []
    if (
        prompt_method.own_prompt is not None
    ):  # system message, then the template's few-shot examples
        turns = turns_of(prompt_method.own_prompt, VARIABLES).messages_before(
            _values(item, prompt_method.name)
        )
    if prompt_method.likelihood and prompt_method.as_text:
        return [Message("user", _scored_prompt(item, chosen, prompt_method, turns))]
    if prompt_method.as_text:
        return [Message("user", _as_text(item, chosen, prompt_method, turns))]
    for shot in chosen:
        turns.append(Message("user", _put(shot, prompt_method)))
        turns.append(Message("assistant", worked_answer(shot, prompt_method.name)))
    return [*turns, Message("user", _put(item, prompt_method))]


def _put(item: LoadedItem, prompt_method: PromptMethod) -> str:
    """Return the messages for an item. Raises BadInput if a user's template fails to render."""
    if prompt_method.own_prompt is None:
        return ask_prompt(item, prompt_method.name)
    return turns_of(prompt_method.own_prompt, VARIABLES).asks.render(
        _values(item, prompt_method.name)
    )


# Prompts from a user's template: available variables, required variables, and rendering.
#
# Few-shot examples use the same template with the built-in answers. Response parsing stays the
# same, so a template should ask for an answer in the built-in format (docs/reference/formats.md).

VARIABLES: Mapping[str, str] = {
    "question": "the full built-in question: sentence, statements, options",
    "stem": "the question without options: sentence and numbered statements",
    "sentence": "the question sentence alone",
    "statements": (
        "the statements in order, each with .numeral (i, ii, ...) and .text; empty for imported "
        "forms"
    ),
    "options": "the options in order, each with .letter and .text; empty if verdicts are requested",
    "asks": (
        "correct or incorrect: which statements the question asks for; empty for imported forms "
        "and verdicts"
    ),
    "sentence_number": "number of the question sentence, from 0, to index a list in the template",
    "wording_number": "number of the word for correct or incorrect, from 0",
    "several": "whether several options are correct and all must be named",
    "letters": "letters of the options as one text: A, B, C",
    "count": "number of statements",
    "language": "language of the question, such as en or zh",
    "task": "choice (of an option), statement (one verdict) or verdicts (one per statement)",
    "prompt_method": "prompting method, such as direct or cot",
    "stepwise": "whether the prompting method asks for reasoning before the answer",
}

# Sets of variables; a template must use all variables of one set.
_Sets: TypeAlias = tuple[tuple[str, ...], ...]
_IMPORTED: _Sets = (("question",), ("stem", "options"))
_COMPOSED: _Sets = (
    *_IMPORTED,
    ("sentence", "statements", "options"),
    ("asks", "statements", "options"),
)
_JUDGED: _Sets = (("question",), ("stem",), ("statements",))


def check_prompt(prompt: OwnPrompt, prompt_method: str, item_set: ItemSet) -> None:
    """Check a prompt template. Raises BadInput with every problem.

    The template must show the statements, and for choices the options.
    """
    enough = _COMPOSED if task_of_set(item_set, prompt_method) == "choice" else _JUDGED
    if prompt_method == likelihood.OPTION:
        enough = _JUDGED  # options are not shown, they are scored
    elif not is_composed(item_set):
        enough = _IMPORTED
    check_shown(prompt, VARIABLES, enough, f"the full question: for {prompt_method}")


PROMPTS = OwnPrompts(variables=VARIABLES, check=check_prompt)


def _values(item: LoadedItem, prompt_method: str) -> dict[str, Any]:
    task, language, payload = (
        task_of(item.item, prompt_method),
        item.item.language,
        item.item.payload,
    )
    is_choice = task == "choice"
    own = payload if is_choice and isinstance(payload, ComposedQuestion) else None
    choices = letters(item) if is_choice else ""
    texts = option_texts(item) if is_choice else ()
    return {
        "question": stem(item, task) if prompt_method == likelihood.OPTION else render(item, task),
        "stem": stem(item, task),
        "sentence": sentence(item, task),
        "asks": "" if own is None else "correct" if own.asks_correct else "incorrect",
        "sentence_number": 0 if own is None else own.template,
        "wording_number": 0 if own is None else own.wording,
        "statements": [
            {"numeral": roman(count), "text": fact.payload.text}
            for count, fact in enumerate(item.facts, start=1)
        ],
        "options": [
            {"letter": letter, "text": text} for letter, text in zip(choices, texts, strict=True)
        ],
        "several": asks_for_all(item),
        "letters": _listed(choices, language),
        "count": len(item.facts),
        "language": language,
        "task": task,
        "prompt_method": prompt_method,
        "stepwise": is_stepwise(prompt_method),
    }


def _listed(choices: str, language: str) -> str:
    return ("、" if is_chinese(language) else ", ").join(choices)


# Few-shot examples from the bank of the form.
#
# They are composed like the form's items, with a separate seed, into one pool. An item gets
# examples in its language that share no statement, and no origin of a statement, with it.

_SPARE = 64  # pool size per language beyond the number of shots, for choice


def compose_shots(item_set: ItemSet, bank: BankReader, count: int) -> tuple[LoadedItem, ...]:
    """Compose the pool of few-shot examples, large enough for ``count`` per item of a form.

    Raises BadUsage if the bank is too small. The items of an imported set are unknown here;
    ``choose_shots`` raises if an item finds too few.
    """
    facts = {fact.id: fact for fact in bank.facts()}
    pool: tuple[LoadedItem, ...] = ()
    for language in sorted({fact.language for fact in facts.values()}):
        own = [fact for fact in facts.values() if fact.language == language]
        examples = _examples(_Part(bank.id, bank.name, own), item_set, count + _SPARE)
        pool += tuple(_loaded(item, facts) for item in examples)
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
    """Choose ``count`` few-shot examples for this item, without facts in ``unfit``.

    They are the first valid ones after a position derived from the item's id. Raises BadUsage if
    there are too few.
    """
    taken = _origins(item)
    start = int.from_bytes(item.item.id[:8]) % max(1, len(pool))
    fit = (
        example
        for example in chain(pool[start:], pool[:start])
        if example.item.language == item.item.language
        and taken.isdisjoint(_origins(example))
        and unfit.isdisjoint(example.item.facts)
    )
    found = tuple(islice(fit, count))
    if len(found) < count:
        raise BadUsage(
            f"expected {count} few-shot examples; the bank has {len(found)} that share no "
            f"statement with item {short(item.item.id)} (language "
            f"{item.item.language or 'unknown'})",
            hint="use fewer shots, or compose from a larger bank",
        )
    return found


@dataclass(slots=True)
class _Part:
    """Hold the facts of a bank in one language, as a bank."""

    id: bytes
    name: str
    kept: Sequence[Fact]

    def facts(self) -> Sequence[Fact]:
        return self.kept


def _examples(bank: BankReader, item_set: ItemSet, count: int) -> list[Item]:
    """Return items by the form's recipe; empty for a language that skip_small removes."""
    of_statements = is_of_statements(item_set.recipe)
    number = {"sample": min(count, len(bank.facts()))} if of_statements else {"questions": count}
    seed = Draws(item_set.seed or 0, 0, "shots").below(1 << 63)
    try:
        return list(compose(bank, {**item_set.recipe, **number}, seed))
    except BadInput:
        if item_set.recipe.get("skip_small"):
            return []
        raise


def _loaded(item: Item, facts: Mapping[bytes, Fact]) -> LoadedItem:
    return LoadedItem(item, tuple(facts[identity] for identity in item.facts))


def _origins(item: LoadedItem) -> set[bytes]:
    """Return the true statements that an item's statements are or derive from, and former versions.

    The bank of a corrected form still holds the former versions.
    """
    origins = {fact.payload.origin or fact.id for fact in item.facts}
    return origins | {fact.corrects for fact in item.facts if fact.corrects is not None}


# Prompts from the templates of ``prompts/``, in Chinese for Chinese items, otherwise in English.

_PROMPTS = Prompts(__package__)

_ASKED: dict[Task, tuple[str, str]] = {  # the direct and the step-by-step templates
    "choice": ("direct", "cot"),
    "statement": ("statement_direct", "statement_cot"),
    "verdicts": ("verdicts", "verdicts_cot"),
}

_WORKED: dict[Task, str] = {
    "choice": "worked",
    "statement": "statement_worked",
    "verdicts": "verdicts_worked",
}


def ask_prompt(item: LoadedItem, prompt_method: str) -> str:
    """Return the prompt: the question, and the required answer format."""
    task, language, n = task_of(item.item, prompt_method), item.item.language, len(item.facts)
    name = _asking(task, prompt_method)
    if asks_for_all(item):
        name = (
            "several_cot" if is_stepwise(prompt_method) or prompt_method == PUBLISHED else "several"
        )
    if task == "choice":
        composed = isinstance(item.item.payload, ComposedQuestion)
        listed = _listed(letters(item), language)
        before, after = _around(name, language, letters=listed, composed=composed)
    else:
        before, after = _around(name, language, count=n, last=roman(n))
    return f"{before}{render(item, task)}{after}"


def _asking(task: Task, prompt_method: str) -> str:
    if prompt_method == likelihood.LETTER:
        return "letter"
    if task == "choice" and prompt_method == PUBLISHED:
        return "as_published"
    return _ASKED[task][is_stepwise(prompt_method)]


_PLACE = "\0"  # never in a question: imports reject this character


@cache
def _around(name: str, language: str, **values: Any) -> tuple[str, str]:
    """Return the text before and after the question.

    It is the same for all questions of a kind, so templates are rendered a few times per run.
    """
    before, _, after = _PROMPTS.render(name, language, question=_PLACE, **values).partition(_PLACE)
    return before, after


# Reference responses to items, for few-shot examples and simulated models.


def answer_line(language: str, choice: str) -> str:
    """Return the line with the chosen option: ``Answer: B``."""
    return f"答案：{choice}" if is_chinese(language) else f"Answer: {choice}"


def oracle_of(item: LoadedItem, task: Task) -> Oracle:
    """Return the data for a simulated model: answer key, all answers, and answer formats.

    For several verdicts, each is a separate part.
    """
    language = item.item.language
    if task == "choice":
        answer_key, choices = key_letter(item), tuple(letters(item))
        if asks_for_all(item):
            choices = (answer_key, *choices)
        return Oracle(
            answer_key=answer_key, choices=choices, response=answer_line(language, "{choice}")
        )
    phrases = judging(language)
    responses = [phrases.answer.replace("{verdict}", "{choice}")]
    if task == "verdicts":
        responses = [phrases.line(roman(at), "{choice}") for at in range(1, len(item.facts) + 1)]
    parts = tuple(
        Oracle(
            answer_key=phrases.word(correct=fact.payload.correct),
            choices=(phrases.true, phrases.false),
            response=response,
        )
        for fact, response in zip(item.facts, responses, strict=True)
    )
    return parts[0] if task == "statement" else Oracle(answer_key="", choices=(), parts=parts)


def worked_answer(item: LoadedItem, prompt_method: str) -> str:
    """Return the correct response to an item made from a bank: its answer line or lines.

    Step by step, it first gives the truth of each statement, computed from the bank.
    """
    if prompt_method == likelihood.LETTER:
        return key_letter(item)
    task = task_of(item.item, prompt_method)
    oracle = oracle_of(item, task)
    said = [
        part.response.replace("{choice}", part.answer_key) for part in oracle.parts or (oracle,)
    ]
    reasoning = [_reasoning(item, task)] if is_stepwise(prompt_method) else []
    return "\n".join([*reasoning, *said])


def _reasoning(item: LoadedItem, task: Task) -> str:
    known = [
        {
            "numeral": roman(count),
            "correct": fact.payload.correct,
            "reason": "" if fact.payload.correct else fact.payload.reason.strip(),
        }
        for count, fact in enumerate(item.facts, start=1)
    ]
    values: dict[str, Any] = {"statements": known}
    if task == "statement":
        payload = item.facts[0].payload
        values = {"correct": payload.correct, "reason": payload.reason.strip()}
    elif task == "choice":
        asked: ComposedQuestion = item.item.payload
        values["asks_correct"] = asked.asks_correct
        values["asked"] = option_text(asked.options[asked.answer_key])
        values["letter"] = key_letter(item)
    text = _PROMPTS.render(_WORKED[task], item.item.language, **values)
    return text.rstrip("\n") if task == "verdicts" else text


# Questions as one text for base models: blocks of question and answer, the last answer open.
#
# A base model follows no instructions; few-shot examples show the answer format. Its output ends at
# the start of the next question, with direct prompting also at the first empty line.

_VERSION = 1  # incremented with every change of these texts

_NEXT_QUESTION = ("\nQuestion:", "\n问题：")


def text_form(prompt_method: str) -> TextForm:
    """Return where an answer ends, in either language."""
    stop = _NEXT_QUESTION if is_stepwise(prompt_method) else ("\n\n", *_NEXT_QUESTION)
    return TextForm(stop=stop, version=_VERSION)


def _as_text(
    item: LoadedItem,
    shots: Sequence[LoadedItem],
    prompt_method: PromptMethod,
    before: Sequence[Message],
) -> str:
    """Return the examples with their answers, then the item up to the start of its answer.

    A user's template replaces the question before the answer's prefix.
    """
    name = prompt_method.name
    worked = [
        f"{_headed(shot, prompt_method)}\n{_head(shot, name)}{worked_answer(shot, name)}"
        for shot in shots
    ]
    opening = _head(item, name)
    if not opening and task_of(item.item, name) == "statement":
        opening = judging(item.item.language).answer.replace("{verdict}", "")
    opening = opening or answer_line(item.item.language, "")
    texts = [*(turn.text for turn in before), *worked]
    return "\n\n".join([*texts, f"{_headed(item, prompt_method)}\n{opening.rstrip()}"])


# Questions whose options are scored, as one text that ends where an option begins.


def _scored_prompt(
    item: LoadedItem,
    shots: Sequence[LoadedItem],
    prompt_method: PromptMethod,
    before: Sequence[Message],
) -> str:
    """Return each few-shot example with its correct option, then the item.

    A question without an end mark is continued as it is. Any other is put in a block of question
    and answer.
    """
    worked = []
    for shot in shots:
        oracle = oracle_of(shot, task_of(shot.item, prompt_method.name))
        text = _continuations(shot, prompt_method, oracle)[oracle.choices.index(oracle.answer_key)]
        worked.append(f"{_open_block(shot, prompt_method)}{text}")
    return "\n\n".join([*(turn.text for turn in before), *worked, _open_block(item, prompt_method)])


def _open_block(item: LoadedItem, prompt_method: PromptMethod) -> str:
    if prompt_method.own_prompt is not None:
        return _put(item, prompt_method).rstrip()
    task, chinese = task_of(item.item, prompt_method.name), is_chinese(item.item.language)
    asked = stem(item, task) if prompt_method.likelihood == "text" else render(item, task)
    return likelihood.open_block(asked, is_text=prompt_method.likelihood == "text", chinese=chinese)


def _continuations(item: LoadedItem, prompt_method: PromptMethod, oracle: Oracle) -> list[str]:
    """Return the scored text of each option, as it follows the prompt.

    Raises BadUsage for a question with several correct options: no single option is its answer.
    """
    task = task_of(item.item, prompt_method.name)
    if task == "choice" and asks_for_all(item):
        raise BadUsage(
            f"item {short(item.item.id)} asks for several options; {prompt_method.name} "
            f"finds the one option "
            "that is most probable",
            hint="--prompt-method direct",
        )
    is_text = prompt_method.likelihood == "text" and task == "choice"
    texts = option_texts(item) if is_text else oracle.choices
    chinese = is_chinese(item.item.language)
    return [likelihood.as_continuation(text, chinese=chinese) for text in texts]


def _headed(item: LoadedItem, prompt_method: PromptMethod) -> str:
    if prompt_method.own_prompt is not None:
        return _put(item, prompt_method)
    head = "问题：" if is_chinese(item.item.language) else "Question: "
    return head + render(item, task_of(item.item, prompt_method.name))


def _head(item: LoadedItem, prompt_method: str) -> str:
    """Return the text before the reasoning, or before several verdicts; empty for a single
    answer."""
    chinese = is_chinese(item.item.language)
    if is_stepwise(prompt_method):
        return "分析：" if chinese else "Reasoning: "
    if task_of(item.item, prompt_method) == "verdicts":
        return "判断：\n" if chinese else "Verdicts:\n"
    return ""
