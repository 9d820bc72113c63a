"""Ways of asking: their names, their prompts compared whole, and what is sent in two steps."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from proofstone.errors import BadUsage
from proofstone.methods.bequ import METHOD
from proofstone.methods.bequ.ask import ask
from proofstone.methods.bequ.payloads import Entity
from proofstone.methods.bequ.ways import WAYS, ranges, read_way
from proofstone.records import Item, ItemSet, LoadedItem, Message, Reply

SNAPSHOTS = Path(__file__).parent / "snapshots"
LIST = ItemSet(name="l", kind="entities", method="bequ")
MERCURY = Entity(name="Mercury", description="the planet")


def sent(way: str, entity: Entity = MERCURY, **changes: Any) -> list[tuple[str, list[Message]]]:
    """What is sent in each step, the first of two answered with a list."""
    made: list[tuple[str, list[Message]]] = []

    async def call(step: str, messages: Sequence[Message], **_: object) -> Reply:
        made.append((step, list(messages)))
        return Reply(text='["instanceOf", "mass"]', finish="stop")

    item = LoadedItem(Item(kind="bequ.entity", payload=entity), ())
    asyncio.run(ask(item, replace(METHOD.prepare(way, 0, LIST, None), **changes), call))
    return made


def written(steps: list[tuple[str, list[Message]]]) -> str:
    return "".join(
        f"=== {step}\n" + "".join(f"--- {turn.role}\n{turn.text}\n" for turn in turns)
        for step, turns in steps
    )


@pytest.mark.parametrize("way", WAYS)
def test_prompts_are_as_they_were_read(way: str) -> None:
    snapshot = SNAPSHOTS / f"{way}.txt"
    assert written(sent(way)) == snapshot.read_text(encoding="utf-8")


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
    ((_step, (turn,)),) = sent(f"direct@{name}")
    wanted = f"If the entity is widely known, give {known}; if it is little known, {little_known}."
    assert wanted in turn.text
    is_default = name == "50-100"
    assert METHOD.prepare(f"direct@{name}", 0, LIST, None).name == (
        "direct" if is_default else f"direct@{name}"
    )
    assert set(ranges()) >= {name}


def test_the_instruction_stands_as_often_as_the_name_says() -> None:
    for times in (1, 2, 3, 5, 9):
        ((_step, (turn,)),) = sent("direct" if times == 1 else f"repeated-{times}")
        assert turn.text.count("Entity: Mercury\nWhat it is: the planet") == times
        assert turn.text.count("Answer with a JSON array") == 1


def test_each_way_and_range_has_prompts_of_its_own() -> None:
    names = [f"{way}@{each}" for way in (*WAYS, "repeated-4") for each in ranges()]
    hashes = {METHOD.prepare(name, 0, LIST, None).prompt_hash for name in names}
    assert len(hashes) == len(names) == 9 * 7


def test_a_longer_range_leaves_room_for_a_longer_reply() -> None:
    rooms = [METHOD.settings(f"direct@{name}")["max_tokens"] for name in ranges()]
    longest = [each.known[1] for each in ranges().values()]
    assert sorted(rooms) == [room for _n, room in sorted(zip(longest, rooms, strict=True))]
    assert all(room >= 80 * n for n, room in zip(longest, rooms, strict=True))


@pytest.mark.parametrize(
    "name", ["cot", "repeated-1", "repeated-10", "direct@7-9", "direct@", "@5-10"]
)
def test_a_way_that_there_is_not_is_refused(name: str) -> None:
    with pytest.raises(BadUsage, match="there is"):
        read_way(name)


def test_worked_examples_are_refused() -> None:
    with pytest.raises(BadUsage, match="without worked examples"):
        METHOD.prepare("direct", 2, LIST, None)


def test_names_in_any_script_stand_in_the_prompt_as_they_are() -> None:
    for name in ("أم كلثوم", "鲁迅", 'Ada "the Count" <Byron> & {{ name }}'):
        ((_step, (turn,)),) = sent("wikidata", Entity(name=name))
        assert f"\nEntity: {name}\n" in turn.text
