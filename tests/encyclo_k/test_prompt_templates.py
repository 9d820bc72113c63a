"""Prompts by a person's own template: what it must show, and what it is filled in with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from banks_for_tests import Book, ListBank, bank_of
from msgspec.structs import replace

from proofstone.errors import BadInput
from proofstone.methods.encyclo_k.ask import VARIABLES, check_prompt, messages, prepare
from proofstone.methods.encyclo_k.method import METHOD
from proofstone.methods.encyclo_k.payloads import ChoiceQuestion
from proofstone.methods.encyclo_k.questions import render
from proofstone.records.items import Item, ItemSet, LoadedItem, OwnPrompt, PromptMethod
from proofstone.records.knowledge import Stratum

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "formats.md"
FORM = ItemSet(name="f", kind="form", method="encyclo_k", seed=1, recipe=METHOD.recipe({}))
SINGLE = replace(FORM, recipe=METHOD.recipe({"setting": "statements"}))
IMPORTED = replace(FORM, kind="imported", recipe={})


@pytest.fixture
def bank() -> ListBank:
    return bank_of([Book(Stratum(discipline="Lore", book="a"), 40, 40)])


@pytest.fixture
def item(bank: ListBank) -> LoadedItem:
    return bank.load(next(METHOD.compose(bank, METHOD.recipe({"questions": 1}), 3)))


def by(text: str, prompt_method: str = "direct", **more: object) -> PromptMethod:
    prepared = prepare(prompt_method, 0, FORM, None)
    return replace(prepared, own_prompt=OwnPrompt("mine.jinja", text), **more)


def test_the_method_declares_that_it_takes_templates() -> None:
    assert METHOD.prompts is not None


def test_the_page_lists_what_a_template_may_use_and_its_example_holds(item: LoadedItem) -> None:
    """docs/reference/formats.md: its table is the declaration; its template asks for the same."""
    whole = DOCS.read_text(encoding="utf-8")
    page = whole.partition("\n## Prompt templates\n")[2].partition("\n## ")[0]
    assert dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.MULTILINE)) == dict(VARIABLES)
    example, turns, _format = re.findall(r"```jinja\n(.*?)```", page, re.DOTALL)
    check_prompt(OwnPrompt("turns", turns), "direct", FORM)
    said = messages(item, by(turns))
    assert [message.role for message in said] == ["system", "user", "assistant", "user"]
    assert said[0].text == "You are an examiner. Answer in en."
    check_prompt(OwnPrompt("example", example), "direct", FORM)
    (asked,) = messages(item, by(example, "cot"))
    question = render(item)
    shown = re.findall(r"^[A-Z]\) .*$", asked.text, re.MULTILINE)
    assert shown == re.findall(r"^[A-Z]\) .*$", question, re.MULTILINE)
    assert all(fact.payload.text in asked.text for fact in item.facts)
    assert "Judge each statement first, with a reason. End with one line" in asked.text


def test_nothing_of_the_answer_can_be_reached(item: LoadedItem) -> None:
    """All values rendered whole are the same for an item whose statements are all of the other
    truth, and whose right option is another: of the answer there is nothing."""
    turned = [
        replace(fact, payload=replace(fact.payload, correct=not fact.payload.correct, reason="?"))
        for fact in item.facts
    ]
    answer_key = (item.item.payload.answer_key + 1) % len(item.item.payload.options)
    other = LoadedItem(
        replace(item.item, payload=replace(item.item.payload, answer_key=answer_key)), tuple(turned)
    )
    everything = by("{{ " + " ~ '|' ~ ".join(VARIABLES) + " }}")
    assert messages(item, everything) == messages(other, everything)


@pytest.mark.parametrize(
    ("form", "prompt_method", "text", "is_enough"),
    [
        (FORM, "direct", "{{ question }}", True),
        (FORM, "direct", "{{ stem }} {{ options }}", True),
        (FORM, "direct", "{{ sentence }} {{ statements }} {{ options }}", True),
        (FORM, "direct", "{{ statements }} {{ options }}", False),
        (FORM, "direct", "{{ stem }} {{ letters }}", False),
        (FORM, "cot", "Hello.", False),
        (FORM, "verdicts", "{{ statements }}", True),
        (FORM, "verdicts", "{{ sentence }} {{ options }}", False),
        (SINGLE, "direct", "{{ statements[0].text }}", True),
        (SINGLE, "direct", "{{ letters }}", False),
        (IMPORTED, "direct", "{{ sentence }} {{ statements }} {{ options }}", False),
        (IMPORTED, "direct", "{{ stem }} {{ options }}", True),
    ],
)
def test_a_template_must_show_the_whole_question(
    form: ItemSet, prompt_method: str, text: str, is_enough: bool
) -> None:
    prompt = OwnPrompt("mine.jinja", text)
    if is_enough:
        check_prompt(prompt, prompt_method, form)
        return
    with pytest.raises(BadInput, match="does not show the full question"):
        check_prompt(prompt, prompt_method, form)


def test_what_is_left_out_is_said_with_what_would_do() -> None:
    with pytest.raises(BadInput) as caught:
        check_prompt(OwnPrompt("mine.jinja", "{{ options }}"), "direct", FORM)
    assert str(caught.value) == (
        "the template mine.jinja does not show the full question: for direct "
        "it must use question, or stem and options, or sentence, statements "
        "and options, or asks, statements and options\n  it uses options; see "
        "docs/reference/formats.md"
    )


def test_worked_examples_are_put_by_the_same_template(bank: ListBank) -> None:
    """Their answers are the method's."""
    form = replace(FORM, recipe=METHOD.recipe({"questions": 1}))
    prompt_method = prepare("direct", 1, form, bank)
    own = replace(prompt_method, own_prompt=OwnPrompt("mine.jinja", "Mine: {{ question }}"))
    item = bank.load(next(METHOD.compose(bank, form.recipe, 1)))
    example, answer, asked = messages(item, own)
    assert (example.role, answer.role, asked.role) == ("user", "assistant", "user")
    assert example.text.startswith("Mine: ")
    assert answer.text.startswith("Answer: ")
    assert asked.text == f"Mine: {render(item)}"


def test_to_a_base_model_the_template_stands_before_the_answer_that_is_begun(
    item: LoadedItem,
) -> None:
    (asked,) = messages(item, by("Mine: {{ question }}", as_text=True))
    assert asked.text == f"Mine: {render(item)}\nAnswer:"


def test_imported_questions_have_a_stem_and_options() -> None:
    payload = ChoiceQuestion(question="Which floats?", options=("Ice", "Iron"), answer_key=0)
    item = LoadedItem(Item(id=b"1" * 32, kind="encyclo_k.choice", payload=payload), ())
    text = "{{ stem }}|{% for o in options %}{{ o.letter }}={{ o.text }} {% endfor %}|{{ count }}"
    (asked,) = messages(item, by(text))
    assert asked.text == "Which floats?|A=Ice B=Iron |0"


def test_single_statements_and_verdicts_tell_their_task(item: LoadedItem) -> None:
    (asked,) = messages(
        item, by("{{ task }} {{ prompt_method }} {{ count }} {{ options }}", "verdicts-cot")
    )
    assert asked.text == f"verdicts verdicts-cot {len(item.facts)} []"


def test_a_file_puts_the_question_by_sentences_of_its_own(bank: ListBank) -> None:
    """As published text would be: the sentence and its word are chosen by the item's numbers."""
    text = (
        "{% set sentences = ['Which are {}?', 'Find the {} ones.', 'Name what is {}.'] %}"
        "{% set words = {'correct': ['true', 'right'], 'incorrect': ['false', 'wrong']} %}"
        "{{ sentences[sentence_number % 3].format(words[asks][wording_number % 2]) }}\n"
        "{% for one in statements %}{{ one.numeral | upper }}. {{ one.text }}\n{% endfor %}"
        "{% for one in options %}{{ one.letter }}) {{ one.text | upper }}\n{% endfor %}"
    )
    check_prompt(OwnPrompt("mine.jinja", text), "as-published", FORM)
    asked = []
    for seed in range(8):
        item = bank.load(next(METHOD.compose(bank, METHOD.recipe({"questions": 1}), seed)))
        payload = item.item.payload
        (turn,) = messages(item, by(text, "as-published"))
        sentence = ["Which are {}?", "Find the {} ones.", "Name what is {}."][payload.template % 3]
        words = ["true", "right"] if payload.asks_correct else ["false", "wrong"]
        assert turn.text.startswith(sentence.format(words[payload.wording % 2]) + "\nI. ")
        asked.append(payload.asks_correct)
    assert len(set(asked)) == 2
