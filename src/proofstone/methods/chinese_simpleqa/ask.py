"""Prompt models: one call per item, with optional few-shot examples; one text for a base model.

Few-shot examples are bundled, since imported question sets have none to spare. Examples that reveal
an item's answer are skipped for it. Prompts and examples are in Chinese for Chinese questions,
otherwise in English.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from proofstone.choices import likelihood
from proofstone.choices.options import labels
from proofstone.errors import BadUsage
from proofstone.method import OwnPrompts, check_prompt_method, read_defaults
from proofstone.methods.chinese_simpleqa.compose import posed_of
from proofstone.methods.chinese_simpleqa.payloads import (
    BARE,
    PUBLISHED,
    Closed,
    ShortAnswer,
    asked_of,
    closed_of,
)
from proofstone.methods.chinese_simpleqa.sameness import plain_answer
from proofstone.records.calls import Call, Message
from proofstone.records.ids import Draws, content_id
from proofstone.records.items import (
    Item,
    ItemSet,
    LoadedItem,
    Oracle,
    OwnPrompt,
    PromptMethod,
    TextForm,
)
from proofstone.records.knowledge import BankReader
from proofstone.texts.languages import is_chinese
from proofstone.texts.templates import (
    LANGUAGES,
    Prompts,
    bundled_text,
    bundled_words,
    check_shown,
    turns_of,
)

PROMPT_METHODS = {
    "direct": "the answer only, without reasoning",
    "recall": "relevant knowledge first, then the answer",
    "cot": "chain of thought, then the answer",
    "confidence": "the answer, with the model's confidence from 0 to 100",
    "as-published": "the question alone, as in the published code",
    **likelihood.PROMPT_METHODS,
}

# The step of the one call names the prompting method, and so how its response is parsed.
STEPS = {
    "direct": "answer",
    "recall": "recalled",
    "cot": "reasoned",
    "confidence": "sure",
    "as-published": "bare",
    likelihood.OPTION: likelihood.STEP,
    likelihood.LETTER: likelihood.STEP,
}

# Up to two examples may share an item's answer or question; this many remain for each item.
MOST_SHOTS = 4

_TEXT_VERSION = 1  # incremented with every change of the texts for base models

_NEXT_QUESTION = ("\nQuestion:", "\n问题：")

_SIMULATED_SURE = 75

_BOTH_READ = "the answer and the confidence are read from the whole response"

_PROMPTS = Prompts(__package__)


def settings(prompt_method: str) -> dict[str, Any]:
    """Return the default ``max_tokens`` and ``temperature`` of a prompting method.

    Raises BadUsage for an unknown one.
    """
    check_prompt_method(prompt_method, PROMPT_METHODS)
    if prompt_method in likelihood.VARIANTS:
        return likelihood.settings(prompt_method)
    return dict(read_defaults(__package__)["settings"][prompt_method])


def prepare(
    prompt_method: str, shots: int, item_set: ItemSet, _bank: BankReader | None
) -> PromptMethod:
    """Prepare a prompting method. Raises BadUsage for an unknown one, or for too many few-shot
    examples.
    """
    check_prompt_method(prompt_method, PROMPT_METHODS)
    if not 0 <= shots <= MOST_SHOTS:
        raise BadUsage(f"the number of few-shot examples must be 0 to {MOST_SHOTS}, got {shots}")
    is_open = posed_of(item_set.recipe) == "open"
    if prompt_method == PUBLISHED and not is_open:
        raise BadUsage(
            f"{item_set.name} has multiple-choice questions; the paper has no prompt for them",
            hint=f"use one of {', '.join(name for name in PROMPT_METHODS if name != PUBLISHED)}",
        )
    if prompt_method in likelihood.VARIANTS:
        return _scoring(prompt_method, shots, item_set.name, is_open=is_open)
    key = [prompt_method, [*_PROMPTS.texts(prompt_method), *_bundled_texts("examples")], shots]
    if not is_open:
        key.append([*_PROMPTS.texts(f"choose_{prompt_method}"), *_bundled_texts("example_options")])
    # An answer ends at the start of the next question; a direct one at the line's end.
    stop = {"confidence": ("\n\n",)}.get(prompt_method, ("\n",) if prompt_method in BARE else ())
    return PromptMethod(
        name=prompt_method,
        last_step=STEPS[prompt_method],
        prompt_hash=content_id("chinese_simpleqa.prompt", key),
        n_shots=shots,
        text=TextForm(stop=(*stop, *_NEXT_QUESTION), version=_TEXT_VERSION),
        whole_response=_BOTH_READ if prompt_method == "confidence" else "",
    )


def _scoring(prompt_method: str, shots: int, item_set: str, *, is_open: bool) -> PromptMethod:
    """A prompting method that scores options. Raises BadUsage for open questions, which have
    none."""
    if is_open:
        raise BadUsage(
            f"{item_set} asks open questions; {prompt_method} needs options",
            hint="use --prompt-method direct, or a form over options",
        )
    texts = [*_PROMPTS.texts("choose_letter"), *_bundled_texts("examples")]
    key = [prompt_method, [*texts, *_bundled_texts("example_options")], shots]
    return PromptMethod(
        name=prompt_method,
        last_step=likelihood.STEP,
        prompt_hash=content_id("chinese_simpleqa.prompt", key),
        n_shots=shots,
        text=TextForm(version=_TEXT_VERSION),
        whole_response=likelihood.NOT_READ,
        likelihood=likelihood.VARIANTS[prompt_method],
    )


def _bundled_texts(name: str) -> list[str]:
    return [bundled_text(__package__, f"{name}.{code}.toml") for code in LANGUAGES]


async def ask(item: LoadedItem, prompt_method: PromptMethod, call: Call) -> None:
    """Prompt for one item with one call; with option likelihood, one call per option."""
    closed = closed_of(item)
    if prompt_method.likelihood and closed is not None:
        texts = _continuations(closed, item.item.language, prompt_method)
        await likelihood.ask_options(
            prompt_method,
            call,
            messages(item, prompt_method),
            texts,
            oracle(item, prompt_method.name),
        )
        return
    await call(
        prompt_method.last_step,
        messages(item, prompt_method),
        oracle=oracle(item, prompt_method.name),
    )


def messages(item: LoadedItem, prompt_method: PromptMethod) -> list[Message]:
    """Return the conversation for an item: few-shot examples, then the item."""
    asked, language = asked_of(item), item.item.language
    closed = closed_of(item)
    put = closed or asked.question
    shown = [
        (
            _example_put(example, language, closed),
            worked_answer(example, language, prompt_method.name, closed),
        )
        for example in _examples_for(item.item, asked, prompt_method.n_shots)
    ]
    turns: list[Message] = []
    if (
        prompt_method.own_prompt is not None
    ):  # system message, then the template's few-shot examples
        own = turns_of(prompt_method.own_prompt, VARIABLES)
        turns = own.messages_before(_values(put, language, prompt_method.name))
    if prompt_method.likelihood and prompt_method.as_text and closed is not None:
        return [Message("user", _scored_prompt(closed, language, shown, prompt_method, turns))]
    if prompt_method.as_text:
        return [Message("user", _as_text(put, language, shown, prompt_method, turns))]
    for example, answer in shown:
        turns.append(Message("user", _prompt(example, language, prompt_method)))
        turns.append(Message("assistant", answer))
    return [*turns, Message("user", _prompt(put, language, prompt_method))]


def _continuations(closed: Closed, language: str, prompt_method: PromptMethod) -> list[str]:
    """What is scored of each option, as it follows the prompt."""
    texts = closed.options if prompt_method.likelihood == "text" else labels(len(closed.options))
    chinese = is_chinese(language)
    return [likelihood.as_continuation(text, chinese=chinese) for text in texts]


def _scored_prompt(
    closed: Closed,
    language: str,
    shown: Sequence[tuple[str | Closed, str]],
    prompt_method: PromptMethod,
    before: Sequence[Message],
) -> str:
    """Return few-shot examples with their correct options, then the question up to the start of an
    option."""
    is_text, chinese = prompt_method.likelihood == "text", is_chinese(language)

    def block(asked: Closed) -> str:
        if prompt_method.own_prompt is not None:
            return _prompt(asked, language, prompt_method).rstrip()
        text = asked.question if is_text else choice_lines(asked)
        return likelihood.open_block(text, is_text=is_text, chinese=chinese)

    worked = [
        block(example) + _continuations(example, language, prompt_method)[example.answer_key]
        for example, _answer in shown
        if isinstance(example, Closed)
    ]
    return "\n\n".join([*(turn.text for turn in before), *worked, block(closed)])


def _prompt(put: str | Closed, language: str, prompt_method: PromptMethod) -> str:
    """Return the prompt of an open or multiple-choice question.

    Raises BadInput if a user's template fails to render.
    """
    if prompt_method.own_prompt is not None:
        return turns_of(prompt_method.own_prompt, VARIABLES).asks.render(
            _values(put, language, prompt_method.name)
        )
    if isinstance(put, Closed):
        name = "letter" if prompt_method.likelihood else prompt_method.name
        return _PROMPTS.render(f"choose_{name}", language, **_shown(put, language))
    return _PROMPTS.render(prompt_method.name, language, question=put)


def _shown(put: str | Closed, language: str) -> dict[str, Any]:
    """Return the variables for a template: the question, its options with letters, all letters."""
    if isinstance(put, str):
        return {"question": put, "options": [], "letters": ""}
    letters = labels(len(put.options))
    return {
        "question": put.question,
        "options": [
            {"letter": letter, "text": text}
            for letter, text in zip(letters, put.options, strict=True)
        ],
        "letters": ("、" if is_chinese(language) else ", ").join(letters),
    }


# Few-shot examples, and their reference responses.


class Example(Struct, frozen=True, forbid_unknown_fields=True):
    """Hold a few-shot example for all prompting methods.

    It has relevant knowledge, reasoning steps, and a confidence (0 to 100).
    """

    question: str
    answer: str
    recall: str
    steps: str
    confidence: int


class _Examples(Struct, frozen=True):
    example: tuple[Example, ...]


class _Options(Struct, frozen=True):
    wrong: tuple[tuple[str, ...], ...]


def _examples(language: str) -> tuple[Example, ...]:
    """Return the few-shot examples in this language."""
    return bundled_words(__package__, "examples", language, _Examples).example


def _examples_for(item: Item, asked: ShortAnswer, n: int) -> list[Example]:
    """Return ``n`` examples for an item, from a position derived from its id, without its
    answer."""
    known = _examples(item.language)
    answers = {plain_answer(text) for text in asked.answers}
    start = int.from_bytes(item.id[:8], "big") % len(known)
    question = plain_answer(asked.question)
    fit = [
        example
        for example in known[start:] + known[:start]
        if plain_answer(example.answer) not in answers
        and plain_answer(example.question) != question
    ]
    return fit[:n]


def _example_put(example: Example, language: str, closed: Closed | None) -> str | Closed:
    """Return an example as an open question, or with its options.

    The position of the correct option is derived from the example.
    """
    if closed is None:
        return example.question
    place = _examples(language).index(example)
    wrong = bundled_words(__package__, "example_options", language, _Options).wrong[place]
    options = Draws(0, place, "options of an example").shuffled((example.answer, *wrong))
    return Closed(
        question=example.question, options=tuple(options), answer_key=options.index(example.answer)
    )


def worked_answer(
    example: Example, language: str, prompt_method: str, closed: Closed | None
) -> str:
    """Return the reference response to an example under a prompting method."""
    put = _example_put(example, language, closed)
    said = example.answer if isinstance(put, str) else labels(26)[put.answer_key]
    if prompt_method == likelihood.LETTER:
        return said
    if closed is not None and prompt_method == "direct":
        return _line(said, language)
    before = {"recall": example.recall, "cot": example.steps}.get(prompt_method, "")
    return stated(said, language, prompt_method, before=before, sure=example.confidence)


def stated(answer: str, language: str, prompt_method: str, *, before: str = "", sure: int) -> str:
    """Return an answer in the form of a prompting method, after the text ``before``.

    ``sure`` (0 to 100) is added if the method asks for a confidence.
    """
    if prompt_method in BARE:
        return answer
    lines = [before] if before else []
    lines.append(_line(answer, language))
    if prompt_method == "confidence":
        lines.append(f"{'把握：' if is_chinese(language) else 'Confidence: '}{sure}")
    return "\n".join(lines)


def _line(answer: str, language: str) -> str:
    return f"答案：{answer}" if is_chinese(language) else f"Answer: {answer}"


# Prompts from a user's template, in any language.

VARIABLES: Mapping[str, str] = {
    "question": "the question",
    "options": "the options in order, each with .letter and .text; empty for open questions",
    "letters": "letters of the options as one text: A, B, C",
    "language": "language of the question, such as en or zh",
    "prompt_method": "prompting method, such as direct or cot",
}


def check_prompt(prompt: OwnPrompt, prompt_method: str, item_set: ItemSet) -> None:
    """Check a prompt template. Raises BadInput with every problem.

    The template must show the question, and the options of a multiple-choice form.
    """
    is_open = posed_of(item_set.recipe) == "open"
    needed = (
        ("question",) if is_open or prompt_method == likelihood.OPTION else ("question", "options")
    )
    check_shown(prompt, VARIABLES, [needed], f"required by {prompt_method}:")


PROMPTS = OwnPrompts(variables=VARIABLES, check=check_prompt)


def _values(put: str | Closed, language: str, prompt_method: str) -> dict[str, Any]:
    return {**_shown(put, language), "language": language, "prompt_method": prompt_method}


# Items as one text for base models, as search queries, and for display.


def _as_text(
    put: str | Closed,
    language: str,
    shown: Sequence[tuple[str | Closed, str]],
    prompt_method: PromptMethod,
    before: Sequence[Message],
) -> str:
    """Return blocks of question and answer, the last answer open.

    An answer begins with its label, or with that of its reasoning.
    """
    chinese = is_chinese(language)
    label = "答案：" if chinese else "Answer: "
    if prompt_method.name in {"recall", "cot"}:
        label = "分析：" if chinese else "Reasoning: "

    def head(asked: str | Closed) -> str:
        if prompt_method.own_prompt is not None:
            return _prompt(asked, language, prompt_method)
        text = choice_lines(asked) if isinstance(asked, Closed) else asked
        return f"问题：{text}" if chinese else f"Question: {text}"

    blocks = [f"{head(example)}\n{label}{answer.removeprefix(label)}" for example, answer in shown]
    texts = [turn.text for turn in before]
    return "\n\n".join([*texts, *blocks, f"{head(put)}\n{label.rstrip()}"])


def choice_lines(closed: Closed, *, marked: bool = False) -> str:
    """Return the question and its options, one per line, for a base model.

    With ``marked``, the correct option has a mark, for display.
    """
    lines = [
        f"{letter}. {text}"
        for letter, text in zip(labels(len(closed.options)), closed.options, strict=True)
    ]
    if marked:
        lines = [
            f"{'*' if place == closed.answer_key else ' '} {line}"
            for place, line in enumerate(lines)
        ]
    return "\n".join([closed.question, *lines])


def query(item: LoadedItem) -> str:
    """Return the search query: the question, with its options if it shows them."""
    closed = closed_of(item)
    return asked_of(item).question if closed is None else choice_lines(closed)


def show(item: LoadedItem) -> str:
    """Show the question and its marked answer with aliases, or all options with the correct one
    marked.
    """
    closed = closed_of(item)
    if closed is not None:
        return choice_lines(closed, marked=True)
    asked = asked_of(item)
    return "\n".join([asked.question, *(f"* {answer}" for answer in asked.answers)])


# Simulated models.


def oracle(item: LoadedItem, prompt_method: str) -> Oracle:
    """Return the data for a simulated model: the answer, and a certainly incorrect one."""
    asked, language = asked_of(item), item.item.language
    closed = closed_of(item)
    if closed is not None:
        letters = labels(len(closed.options))
        form = "confidence" if prompt_method == "confidence" else "cot"  # a line with the letter
        response = stated("{choice}", language, form, sure=_SIMULATED_SURE)
        return Oracle(
            answer_key=letters[closed.answer_key], choices=tuple(letters), response=response
        )
    taken = {plain_answer(text) for text in asked.answers}
    known = ("亚特兰蒂斯", "乌托邦") if is_chinese(language) else ("Atlantis", "Utopia")
    wrong = next(name for name in known if plain_answer(name) not in taken)
    response = stated("{choice}", language, prompt_method, sure=_SIMULATED_SURE)
    return Oracle(answer_key=asked.answer, choices=(wrong,), response=response)
