"""The cards that come with the package, found by what a model is called anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any

import msgspec

from proofstone.engines.models.carried import CARRIED
from proofstone.engines.models.names import ModelName
from proofstone.records import Card

__all__ = ["carried_card", "carried_cards", "known_as"]

# What the file of a quantised model has behind the model's name.
_FILE = re.compile(r"([-._](i?q\d\w*|f16|bf16|f32|fp16|fp32))?\.gguf$")


def carried_card(name: ModelName, served_as: str = "") -> Card:
    """The carried card of a model by its name, or by the name that is sent; else an empty one."""
    cards = carried_cards()
    texts = [served_as, name.model]
    if name.provider == "local":  # a carried model's short name says less than its file's title
        paths = [text.partition("?")[0] for text in texts]
        texts = [CARRIED[path].title if path in CARRIED else path for path in paths]
    found = (cards.get(known_as(text)) for text in texts)
    return next((card for card in found if card is not None), Card())


def known_as(name: str) -> str:
    """What a model is called in the file of cards: the last part of its name or path, in small
    letters, without options and without a file's ending and quantisation."""
    path = name.partition("?")[0].replace("\\", "/")
    return _FILE.sub("", path.rpartition("/")[2].lower())


@cache
def carried_cards() -> Mapping[str, Card]:
    """Every carried card, under each name that it is known by."""
    text = (resources.files(__package__) / "cards.toml").read_text(encoding="utf-8")
    read: dict[str, list[dict[str, Any]]] = msgspec.toml.decode(text)
    return {name: card for entry in read["cards"] for name, card in _named(entry)}


def _named(entry: dict[str, Any]) -> Iterable[tuple[str, Card]]:
    facts = {key: value for key, value in entry.items() if key != "names"}
    card = msgspec.convert(facts, Card)
    return ((name, card) for name in entry["names"])
