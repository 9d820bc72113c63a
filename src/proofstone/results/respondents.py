"""Whom was asked, and how: respondents that were asked alike are named together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from proofstone.records.knowledge import RoleName
from proofstone.wording.messages import joined, listed, say, say_of, word

# What a workspace knows of how runs came about, as a methods paragraph needs it.


class BankUsed(Struct, frozen=True):
    """A bank that forms were composed from, and how many facts it holds."""

    name: str
    n_facts: int


class AskedAs(Struct, frozen=True, kw_only=True):
    """How one respondent was asked. ``name`` is the model's; ``own_prompt`` is a person's template
    in place of the method's; ``settings`` are those that were sent, ``dropped`` those of them that
    were not taken; ``first`` and ``last`` say when replies came, empty where none did."""

    name: str
    way: str
    shots: int = 0
    samples: int = 1
    own_prompt: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    dropped: tuple[str, ...] = ()
    served: tuple[str, ...] = ()
    first: str = ""
    last: str = ""
    simulated: bool = False


class HandRecorded(Struct, frozen=True):
    """A role that a model had in ``n_items`` of the items."""

    role: RoleName
    model: str
    n_items: int


class Manifest(Struct, frozen=True, kw_only=True):
    """``method`` is the method's title. ``banks`` are what the item sets were drawn from;
    ``scorers`` the versions of its scorer that read the replies, ``judges`` the models that judged
    them."""

    method: str
    banks: tuple[BankUsed, ...] = ()
    asked: tuple[AskedAs, ...] = ()
    scorers: tuple[int, ...] = ()
    judges: tuple[str, ...] = ()
    hands: tuple[HandRecorded, ...] = ()


def respondent_sentences(manifest: Manifest) -> Iterator[str]:
    """Ways, settings and samples by groups that share them; models served; dates."""
    groups: dict[tuple[object, ...], list[AskedAs]] = {}
    for each in manifest.asked:
        key = (each.way, each.shots, each.samples, each.own_prompt, each.settings, each.dropped)
        groups.setdefault(key, []).append(each)
    for alike in groups.values():
        yield from _asked(alike)
    yield from _simulated(manifest.asked)
    yield from _served(manifest.asked)
    yield from _dates(manifest.asked)


def _asked(alike: Sequence[AskedAs]) -> Iterator[str]:
    first = alike[0]
    way = word(first.way)
    if first.shots:
        way = say("{way} with {shots} worked examples", way=way, shots=first.shots)
    yield say_of(
        first.samples,
        "Asked {way}, each item once: {names}.",
        "Asked {way}, each item {n} times: {names}.",
        names=joined([each.name for each in alike]),
        way=way,
        n=first.samples,
    )
    if first.own_prompt:
        yield say("The prompt was a template of our own, {name}.", name=first.own_prompt)
    if not first.simulated:
        sent = [f"{name} {value}" for name, value in first.settings]
        yield say("Settings: {settings}.", settings=listed(sent) or say("none"))
        if first.dropped:
            yield say("Not taken by the endpoint: {names}.", names=listed(first.dropped))


def _simulated(asked: Sequence[AskedAs]) -> Iterator[str]:
    made_up = [each.name for each in asked if each.simulated]
    if made_up:
        yield say(
            "Simulated, so that a program made the replies up and no model was asked: {names}.",
            names=joined(list(dict.fromkeys(made_up))),
        )


def _served(asked: Sequence[AskedAs]) -> Iterator[str]:
    told = dict.fromkeys(
        say("{name} as {served}", name=each.name, served=joined(each.served))
        for each in asked
        if each.served and not each.simulated
    )
    if told:
        yield say(
            "Models as the endpoints named them in their replies: {told}.", told=listed(list(told))
        )


def _dates(asked: Sequence[AskedAs]) -> Iterator[str]:
    """When the replies came, over all; a reply from the cache counts from when it was asked."""
    first = min((each.first for each in asked if each.first), default="")
    last = max((each.last for each in asked if each.last), default="")
    if first and first == last:
        yield say("Replies came at {first}.", first=first)
    elif first:
        yield say("Replies came from {first} to {last}.", first=first, last=last)
