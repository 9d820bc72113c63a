"""Questions over options: prompts compared whole, options in drawn orders, replies by letter."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from proofstone.choices.likelihood import LETTER, OPTION, VARIANTS
from proofstone.errors import BadInput, BadUsage
from proofstone.methods.chinese_simpleqa.ask import PROMPT_METHODS, STEPS, messages, prepare
from proofstone.methods.chinese_simpleqa.compose import compose, recipe
from proofstone.methods.chinese_simpleqa.method import METHOD
from proofstone.methods.chinese_simpleqa.payloads import (
    AskedChoice,
    Choice,
    Closed,
    Pair,
    Twin,
    closed_of,
)
from proofstone.methods.chinese_simpleqa.sameness import SURE
from proofstone.records.calls import Message
from proofstone.records.items import Item, ItemSet, LoadedItem, OwnPrompt
from proofstone.records.knowledge import Fact, fact_id
from proofstone.records.runs import Response

OVER_OPTIONS = [
    prompt_method
    for prompt_method in PROMPT_METHODS
    if prompt_method not in ("as-published", *VARIANTS)
]
SNAPSHOTS = Path(__file__).parent / "snapshots"
FORM = ItemSet(name="f", kind="form", method="chinese_simpleqa", recipe={"posed": "original"})
CLOSED = {
    "en": Closed(
        question="Which metal is liquid at room temperature?",
        options=("tin", "mercury", "lead", "zinc"),
        answer_key=1,
    ),
    "zh": Closed(
        question="常温下呈液态的金属是____。", options=("锡", "汞", "铅", "锌"), answer_key=1
    ),
    "fr": Closed(question="Le métal liquide est", options=("l'étain", "le mercure"), answer_key=1),
}


class Bank:
    id = bytes(32)
    name = "metals"

    def __init__(self, facts: list[Fact]) -> None:
        self._facts = facts

    def facts(self) -> list[Fact]:
        return self._facts


def fact_of(payload: Choice | Twin | Pair, language: str = "en") -> Fact:
    fact = Fact(kind=str(type(payload).__struct_config__.tag), payload=payload, language=language)
    return replace(fact, id=fact_id(fact))


def choice(language: str, **changes: object) -> Choice:
    closed = CLOSED[language]
    plain = Choice(question=closed.question, options=closed.options, answer_key=closed.answer_key)
    return replace(plain, **changes)


def loaded(language: str, order: tuple[int, ...] = ()) -> LoadedItem:
    fact = fact_of(choice(language), language)
    shown = order or tuple(range(len(fact.payload.options)))
    item = Item(
        id=bytes(32), kind="chinese_simpleqa.asked_choice", payload=AskedChoice(order=shown),
        facts=(fact.id,), language=language,
    )  # fmt: skip
    return LoadedItem(item, (fact,))


def written(turns: list[Message]) -> str:
    return "\n".join(f"--- {turn.role}\n{turn.text}" for turn in turns) + "\n"


@pytest.mark.parametrize("language", CLOSED)
@pytest.mark.parametrize("prompt_method", OVER_OPTIONS)
def test_prompts_over_options_are_as_they_were_read(prompt_method: str, language: str) -> None:
    chat = prepare(prompt_method, 0, FORM, None)
    shots = prepare(prompt_method, 2, FORM, None)
    found = [
        written(messages(loaded(language), chat)),
        written(messages(loaded(language), shots)),
        written(messages(loaded(language), replace(shots, as_text=True))),
    ]
    text = "=== two examples\n".join(found[:2]) + "=== as one text\n" + found[2]
    path = SNAPSHOTS / f"choose_{prompt_method}.{language}.txt"
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("language", CLOSED)
@pytest.mark.parametrize("prompt_method", VARIANTS)
def test_prompts_of_options_that_are_scored_are_as_they_were_read(
    prompt_method: str, language: str
) -> None:
    """A text ends where an option begins. By letters, a chat's turns are of the same questions."""
    shots = prepare(prompt_method, 2, FORM, None)
    text = written(messages(loaded(language), replace(shots, as_text=True)))
    if prompt_method == LETTER:
        text += "=== as a chat\n" + written(messages(loaded(language), shots))
    path = SNAPSHOTS / f"choose_{prompt_method}.{language}.txt"
    assert text == path.read_text(encoding="utf-8")


async def test_each_option_is_a_call_of_its_own() -> None:
    prompt_method = replace(prepare(OPTION, 0, FORM, None), as_text=True)
    asked: list[tuple[str, str]] = []

    async def call(step: str, messages: list[Message], **_more: object) -> Response:
        asked.append((step, messages[-1].text))
        return Response(text="", token_logprobs=(-float(len(asked)),))

    await METHOD.ask(loaded("zh"), prompt_method, call)
    assert [text for _step, text in asked] == ["锡", "汞", "铅", "锌"]
    responses = {
        step: Response(text="", token_logprobs=(-1.0 - (text != "汞"),)) for step, text in asked
    }
    (unit,) = METHOD.units(loaded("zh"), responses, 0)
    graded = {score.measure: score for score in await METHOD.score([unit], None)}
    assert (graded["correct"].answer, graded["correct"].value) == ("B", 1.0)
    assert set(graded) == {"correct", "by_rule", "by_sum", SURE}


def test_open_questions_have_no_options_to_score() -> None:
    with pytest.raises(BadUsage, match="asks open questions; option-likelihood needs options"):
        prepare(OPTION, 0, replace(FORM, recipe={}), None)


def test_options_have_prompts_of_their_own_and_open_forms_keep_theirs() -> None:
    """A run's id holds the prompts' hash: that of open forms is what it was before options."""
    opened = replace(FORM, recipe={})
    for prompt_method in OVER_OPTIONS:
        assert (
            prepare(prompt_method, 0, FORM, None).prompt_hash
            != prepare(prompt_method, 0, opened, None).prompt_hash
        )
    assert recipe({}) == {"composer": 1, "questions": None}
    assert recipe({"posed": "shuffled"})["posed"] == "shuffled"
    with pytest.raises(BadUsage, match="posed must be one of"):
        recipe({"posed": "upside down"})


def test_a_template_must_show_the_options_of_a_form_that_asks_over_them() -> None:
    prompt = OwnPrompt("mine.jinja", "{{ question }}?")
    with pytest.raises(BadInput, match="must use question and options"):
        METHOD.prompts.check(prompt, "direct", FORM)
    METHOD.prompts.check(prompt, "direct", replace(FORM, recipe={}))
    whole = OwnPrompt(
        "mine.jinja",
        "{{ question }} ({{ letters }})"
        "{% for o in options %} {{ o.letter }}={{ o.text }}{% endfor %}",
    )
    METHOD.prompts.check(whole, "direct", FORM)
    prompt_method = replace(prepare("direct", 0, FORM, None), own_prompt=whole)
    (turn,) = messages(loaded("en", (1, 0, 2, 3)), prompt_method)
    assert turn.text == (
        "Which metal is liquid at room temperature? (A, B, C, D) A=mercury B=tin C=lead D=zinc"
    )


@given(seed=st.integers(0, 2**32), n=st.integers(2, 9))
def test_shuffled_options_are_the_same_options_with_the_same_right_one(seed: int, n: int) -> None:
    options = tuple(f"option {place}" for place in range(n))
    facts = [
        fact_of(Choice(question=f"Which, {answer_key}?", options=options, answer_key=answer_key))
        for answer_key in range(n)
    ]
    by_id = {fact.id: fact for fact in facts}
    items = list(compose(Bank(facts), recipe({"posed": "shuffled"}), seed))
    originals = compose(Bank(facts), recipe({"posed": "original"}), seed)
    assert [item.facts for item in items] == [item.facts for item in originals]
    for item in items:
        fact = by_id[item.facts[0]]
        shown = closed_of(LoadedItem(item, (fact,)))
        assert shown is not None
        assert Counter(shown.options) == Counter(options)
        assert shown.right == options[fact.payload.answer_key]


def test_shuffling_puts_the_right_option_everywhere_alike() -> None:
    """400 draws over four places: 100 each, and no place more than four deviations off."""
    facts = [fact_of(choice("en", question=f"Which, {number}?")) for number in range(400)]
    items = compose(Bank(facts), recipe({"posed": "shuffled"}), 1)
    places = Counter(item.payload.order.index(1) for item in items)
    deviation = (400 * 0.25 * 0.75) ** 0.5
    assert all(abs(places[place] - 100) < 4 * deviation for place in range(4))


def test_a_bank_that_cannot_be_put_so_says_how_many_and_what_to_do() -> None:
    pair = fact_of(Pair(question="Who?", answer="She"))
    bank = Bank([pair, fact_of(choice("en"))])
    with pytest.raises(BadInput, match="1 of the 2 in metals have no open form"):
        list(compose(bank, recipe({}), 0))
    with pytest.raises(BadInput, match="1 of the 2 in metals have no options"):
        list(compose(bank, recipe({"posed": "original"}), 0))


@pytest.mark.parametrize(
    ("text", "prompt_method", "outcome", "value", "letter"),
    [
        ("Answer: B", "direct", "answered", 1.0, "B"),
        ("B", "direct", "answered", 1.0, "B"),
        ("I think it is mercury, so B.", "direct", "answered", 1.0, "B"),
        ("Answer: A", "direct", "answered", 0.0, "A"),
        ("Tin melts at 232 degrees.\nAnswer: B", "cot", "answered", 1.0, "B"),
        ("Answer: A\nNo, wait.\nAnswer: B", "recall", "answered", 1.0, "B"),
        ("Answer: B\nConfidence: 80", "confidence", "answered", 1.0, "B"),
        ("Answer: E", "direct", "unparsed", None, "E"),
        ("Answer: A and B", "direct", "unparsed", None, ""),
        ("All metals are nice.", "direct", "unparsed", None, ""),
        ("I cannot answer this question.", "direct", "refused", None, ""),
    ],
)
def test_a_reply_is_graded_by_the_option_that_it_chooses(
    text: str, prompt_method: str, outcome: str, value: float | None, letter: str
) -> None:
    """No judge is asked; a stated confidence is kept beside the grade."""
    (unit,) = METHOD.units(
        loaded("en"), {STEPS[prompt_method]: Response(text=text, finish="stop")}, 0
    )
    assert METHOD.answer_key(unit) == ("B", 4)
    scores = {score.measure: score for score in asyncio.run(METHOD.score([unit], None))}
    graded = scores["correct"]
    assert (graded.outcome, graded.value, graded.answer) == (outcome, value, letter)
    assert scores["by_rule"].value == float(outcome == "answered")
    assert (SURE in scores) == (prompt_method == "confidence")


def test_an_item_over_options_is_shown_and_searched_for_with_them() -> None:
    item = loaded("en", (3, 1, 2, 0))
    assert METHOD.show(item) == (
        "Which metal is liquid at room temperature?\n  A. zinc\n* B. mercury\n  C. lead\n  D. tin"
    )
    assert METHOD.query(item).endswith("A. zinc\nB. mercury\nC. lead\nD. tin")


def test_the_published_request_is_refused_over_options() -> None:
    """The paper prints no prompt for options, so there is nothing to ask as published."""
    with pytest.raises(BadUsage, match="the paper has no prompt for them"):
        prepare("as-published", 0, FORM, None)
