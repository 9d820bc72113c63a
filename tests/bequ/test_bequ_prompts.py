"""Ways of asking: their names, their prompts compared whole, and what is sent in two steps."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from proofstone.errors import BadInput, BadUsage
from proofstone.methods.bequ.ask import (
    PROMPT_METHODS,
    ask,
    ranges,
    read_predicates,
    read_prompt_method,
    schema_predicates,
)
from proofstone.methods.bequ.entities import Entity
from proofstone.methods.bequ.method import METHOD
from proofstone.records.calls import Message
from proofstone.records.items import Item, ItemSet, LoadedItem, OwnPrompt
from proofstone.records.runs import Response

SNAPSHOTS = Path(__file__).parent / "snapshots"
LIST = ItemSet(name="l", kind="entities", method="bequ")
MERCURY = Entity(name="Mercury", description="the planet")


def sent(
    prompt_method: str, entity: Entity = MERCURY, **changes: Any
) -> list[tuple[str, list[Message]]]:
    """What is sent in each step, that for predicates answered with a list."""
    made: list[tuple[str, list[Message]]] = []

    async def call(step: str, messages: Sequence[Message], **_: object) -> Response:
        made.append((step, list(messages)))
        return Response(text='["instanceOf", "mass"]', finish="stop")

    item = LoadedItem(Item(kind="bequ.entity", payload=entity), ())
    asyncio.run(ask(item, replace(METHOD.prepare(prompt_method, 0, LIST, None), **changes), call))
    return made


def written(steps: list[tuple[str, list[Message]]]) -> str:
    return "".join(
        f"=== {step}\n" + "".join(f"--- {turn.role}\n{turn.text}\n" for turn in turns)
        for step, turns in steps
    )


@pytest.mark.parametrize("prompt_method", PROMPT_METHODS)
def test_prompts_are_as_they_were_read(prompt_method: str) -> None:
    snapshot = SNAPSHOTS / f"{prompt_method}.txt"
    assert written(sent(prompt_method)) == snapshot.read_text(encoding="utf-8")


def test_a_base_model_goes_on_with_one_text() -> None:
    snapshot = SNAPSHOTS / "two-step.as-text.txt"
    assert written(sent("two-step", as_text=True)) == snapshot.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "known", "little_known"),
    [
        ("5-10", "5 to 10 triples", "1 triple"),
        ("10-20", "10 to 20 triples", "1 to 2 triples"),
        ("25-50", "25 to 50 triples", "3 to 5 triples"),
        ("33-66", "33 to 66 triples", "3 to 7 triples"),
        ("75-150", "75 to 150 triples", "8 to 15 triples"),
        ("100-200", "100 to 200 triples", "10 to 20 triples"),
        ("50-100", "50 to 100 triples", "5 to 10 triples"),
    ],
)
def test_a_range_is_asked_for_in_numbers(name: str, known: str, little_known: str) -> None:
    """The default is the same run whether it is named or not."""
    ((_step, (instruction, _turn)),) = sent(f"direct@{name}")
    wanted = f"{known} or more of a very well known entity, {little_known} of a less known one."
    assert wanted in instruction.text
    is_default = name == "50-100"
    assert METHOD.prepare(f"direct@{name}", 0, LIST, None).name == (
        "direct" if is_default else f"direct@{name}"
    )
    assert set(ranges()) >= {name}


def test_the_instruction_stands_as_often_as_the_name_says() -> None:
    for times in (1, 2, 3, 5, 9):
        ((_step, (instruction, turn)),) = sent("direct" if times == 1 else f"repeated-{times}")
        ((_step, (once, _turn)),) = sent("direct")
        assert instruction.text == "\n\n".join([once.text] * times)
        assert turn.text == "Mercury\nWhat it is: the planet"


def test_each_way_and_range_has_prompts_of_its_own() -> None:
    ranged = [
        prompt_method
        for prompt_method in (*PROMPT_METHODS, "repeated-4")
        if prompt_method != "two-step"
    ]
    names = [
        "two-step",
        *(f"{prompt_method}@{each}" for prompt_method in ranged for each in ranges()),
    ]
    hashes = {METHOD.prepare(name, 0, LIST, None).prompt_hash for name in names}
    assert len(hashes) == len(names) == 8 * 7 + 1


def test_a_longer_range_leaves_room_for_a_longer_reply() -> None:
    rooms = [METHOD.settings(f"direct@{name}")["max_tokens"] for name in ranges()]
    longest = [each.known[1] for each in ranges().values()]
    assert sorted(rooms) == [room for _n, room in sorted(zip(longest, rooms, strict=True))]
    assert all(room >= 80 * n for n, room in zip(longest, rooms, strict=True))


@pytest.mark.parametrize(
    "name", ["cot", "repeated-1", "repeated-10", "direct@7-9", "direct@", "@5-10"]
)
def test_a_way_that_there_is_not_is_refused(name: str) -> None:
    with pytest.raises(
        BadUsage, match=r"unknown (prompting method|range of triples) .*; expected one of: "
    ):
        read_prompt_method(name)


def test_worked_examples_are_refused() -> None:
    with pytest.raises(BadUsage, match="BeQu supports no few-shot examples, got"):
        METHOD.prepare("direct", 2, LIST, None)


def test_names_in_any_script_stand_in_the_prompt_as_they_are() -> None:
    for name in ("أم كلثوم", "鲁迅", 'Ada "the Count" <Byron> & {{ name }}'):
        ((_step, (_instruction, turn)),) = sent("wikidata", Entity(name=name))
        assert turn.text == name


def test_two_steps_ask_for_each_predicate_in_a_request_of_its_own() -> None:
    """Nothing of the list goes into a conversation; the last request finishes the entity."""
    first, *rest = sent("two-step")
    assert first[0] == "predicates"
    assert [(step, turns[-1].text) for step, turns in rest] == [
        ("objects 1", "Mercury\nWhat it is: the planet\nPredicate: instanceOf"),
        ("triples", "Mercury\nWhat it is: the planet\nPredicate: mass"),
    ]
    assert all([turn.role for turn in turns] == ["system", "user"] for _step, turns in rest)


def test_a_range_for_two_steps_is_refused() -> None:
    with pytest.raises(
        BadUsage, match="sends one request per predicate and sets no number of triples"
    ):
        read_prompt_method("two-step@5-10")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('["instanceOf", "mass"]', ("instanceOf", "mass")),
        ('```json\n["a", "A", "b  c"]\n```', ("A", "b c")),
        ('{"predicates": ["a", "b"]}', ("a", "b")),
        ('[{"predicate": "a"}, {"predicate": "b"}]', ("a", "b")),
        ('["a", "b", "c', ("a", "b")),
        ("- a\n- `b`\n3. c", ("a", "b", "c")),
        ("[]", ()),
        ("I do not know it.", ()),
        ("[1, null]", ()),
    ],
)
def test_predicates_are_read_of_lists_in_many_forms(text: str, read: tuple[str, ...]) -> None:
    assert read_predicates(text) == read


def test_closed_lists_stand_in_the_prompt_and_open_sets_name_none() -> None:
    for closed, name in (("wikidata", "Wikidata"), ("schema-org", "Schema.org")):
        listed = "; ".join(schema_predicates(closed))
        ((_step, (instruction, _turn)),) = sent(closed)
        assert f"one of this list, spelled as it is here: {listed}." in instruction.text
        ((_step, (opened, _turn)),) = sent(f"{closed}-open")
        assert name in opened.text
        assert not schema_predicates(f"{closed}-open")
    assert (len(schema_predicates("wikidata")), len(schema_predicates("schema-org"))) == (50, 25)


def test_no_prompt_hints_at_entities_that_do_not_exist() -> None:
    for prompt_method in (*PROMPT_METHODS, "repeated-4"):
        for _step, turns in sent(prompt_method):
            text = turns[0].text.lower()
            assert "exist" not in text
            assert "believe" not in text


def test_a_template_asks_in_the_place_of_the_method_s_prompt() -> None:
    """One that ends with the entity alone is the system message, as published; any other is one
    user message."""
    apart = OwnPrompt("p.jinja", "Tell {{ known }}, else {{ little_known }}.\n\n{{ entity }}\n")
    ((_step, turns),) = sent("direct@5-10", own_prompt=apart)
    told = [("system", "Tell 5 to 10 triples, else 1 triple."), ("user", "Mercury")]
    assert [(turn.role, turn.text) for turn in turns] == told
    listed = OwnPrompt("p.jinja", "{{ entity }}: {{ predicates | join(',') }} {{ description }}")
    ((_step, (turn,)),) = sent("schema-org", own_prompt=listed)
    assert turn.text.startswith("Mercury: instanceOf,name,givenName")
    assert turn.text.endswith(" the planet")
    steps = OwnPrompt("p.jinja", "{% if predicate %}{{ predicate }}?{% endif %} {{ entity }}")
    assert [turns[0].text for _step, turns in sent("two-step", own_prompt=steps)] == [
        " Mercury", "instanceOf? Mercury", "mass? Mercury",
    ]  # fmt: skip
    with pytest.raises(BadInput, match="must use entity and predicate"):
        METHOD.prompts.check(apart, "two-step", LIST)
