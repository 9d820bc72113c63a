"""Fields of model cards for grouping, filtering and display; unknown values read ``unknown``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import get_args

from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.records.models import Architecture, Card, Kind, Openness, shown_parameters

UNKNOWN = "unknown"


# Upper limits in billions of parameters, exclusive.
_SIZES: tuple[tuple[float, str], ...] = (
    (1, "below 1B"),
    (3, "1B to 3B"),
    (10, "3B to 10B"),
    (40, "10B to 40B"),
    (100, "40B to 100B"),
    (float("inf"), "100B and more"),
)


_RANGE = re.compile(r"(\d+(?:\.\d+)?)?b?-(\d+(?:\.\d+)?)?b?", re.IGNORECASE)


_CLOSED: Mapping[str, tuple[str, ...]] = {
    "kind": get_args(Kind),
    "openness": get_args(Openness),
    "architecture": get_args(Architecture),
}


class Condition(Struct, frozen=True):
    """Require one of ``values`` in ``field`` of a card; a value of size may be a range."""

    field: str
    values: tuple[str, ...]


def _size(card: Card) -> str:
    total = card.total_parameters_b
    return "" if total is None else next(name for end, name in _SIZES if total < end)


_VALUES: Mapping[str, Callable[[Card], str]] = {
    "kind": lambda card: card.kind,
    "lab": lambda card: card.lab,
    "family": lambda card: card.family,
    "openness": lambda card: card.openness,
    "size": _size,
    "architecture": lambda card: card.architecture,
    "parameters": shown_parameters,
    "released": lambda card: card.released,
    "license": lambda card: card.license,
    "languages": lambda card: " ".join(card.languages),
    "source": lambda card: card.source,
}


GROUP_FIELDS = ("kind", "lab", "family", "openness", "size", "architecture")


CARD_COLUMNS = tuple(_VALUES)


_WHERE_FIELDS = (*GROUP_FIELDS, "license", "released", "language")


def card_value(card: Card | None, field: str) -> str:
    """Return the value of a card's field as text."""
    return (_VALUES[field](card) if card is not None else "") or UNKNOWN


def group_order(field: str, value: str) -> tuple[int, int, str]:
    """Return a sort key: sizes in ascending order, other values by name, unknown last."""
    sizes = [name for _end, name in _SIZES]
    place = sizes.index(value) if field == "size" and value in sizes else 0
    return (value == UNKNOWN, place, value.casefold())


def read_field(name: str) -> str:
    """Return a card field to group by. Raises BadUsage with similar names."""
    if name not in GROUP_FIELDS:
        raise BadUsage(_unknown("grouping", name, GROUP_FIELDS), hint=_fields_hint())
    return name


def read_columns(names: Sequence[str]) -> tuple[str, ...]:
    """Return distinct columns of the card in order. Raises BadUsage naming each unknown one."""
    wrong = [_unknown("column", name, CARD_COLUMNS) for name in names if name not in CARD_COLUMNS]
    if wrong:
        raise BadUsage("\n".join(wrong), hint=f"columns: {', '.join(CARD_COLUMNS)}")
    return tuple(dict.fromkeys(names))


def read_where(texts: Sequence[str]) -> tuple[Condition, ...]:
    """Parse ``kind=reasoning,openness=open``.

    A card must match every field, with any of the values given for it. Raises BadUsage naming each
    invalid part.
    """
    wanted: dict[str, list[str]] = {}
    wrong: list[str] = []
    for part in (part.strip() for text in texts for part in text.split(",")):
        if not part:
            continue
        field, equals, value = (piece.strip() for piece in part.partition("="))
        problem = _wrong_condition(field, value) if equals else f"{part!r} is not FIELD=VALUE"
        wrong += [problem] if problem else []
        wanted.setdefault(field, []).append(value)
    if wrong:
        raise BadUsage("\n".join(wrong), hint=_fields_hint())
    return tuple(Condition(field, tuple(values)) for field, values in wanted.items())


def matches(card: Card | None, conditions: Sequence[Condition]) -> bool:
    """Return True if a card meets every condition; a missing value only matches ``unknown``."""
    return all(
        any(_meets(card or Card(), condition.field, value) for value in condition.values)
        for condition in conditions
    )


def _meets(card: Card, field: str, value: str) -> bool:
    if field == "language":
        return value in card.languages if card.languages else value == UNKNOWN
    if field == "size" and (ends := _RANGE.fullmatch(value)):
        total = card.total_parameters_b
        low, high = float(ends[1] or 0), float(ends[2] or "inf")
        return total is not None and low <= total < high
    said = card_value(card, field)
    if field == "openness" and value == "open":
        return said in ("open weights", "fully open")
    if field == "released" and said != UNKNOWN:
        return said.startswith(value)
    return said.casefold() == value.casefold()


def _wrong_condition(field: str, value: str) -> str:
    if field not in _WHERE_FIELDS:
        return _unknown("field", field, _WHERE_FIELDS)
    if not value:
        return f"{field}= has no value"
    choices = [choice for choice in _CLOSED.get(field, ()) if choice]
    if field == "openness":
        choices.append("open")
    if field == "size":
        choices = [name for _end, name in _SIZES]
        if _RANGE.fullmatch(value) and value.strip("bB") != "-":
            return ""
    if choices and value not in (*choices, UNKNOWN):
        return _unknown(field, value, (*choices, UNKNOWN))
    return ""


def _unknown(what: str, name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    meant = f"; did you mean {near[0]!r}?" if near else f"; there is: {', '.join(known)}"
    return f"no {what} is {name!r}{meant}"


def _fields_hint() -> str:
    return (
        f"fields: {', '.join(_WHERE_FIELDS)}; a size may be a range in billions, such as 10-40 or "
        "100-"
    )


# Family and size of a model from its card, otherwise from its name, such as ``Qwen3-30B-A3B``.

# A number of billions not adjacent to a letter or digit. The 7B of 8x7B gives no total.
_TOTAL = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)[bB](?![A-Za-z0-9])")


_ACTIVE = re.compile(r"[-_ ]A(\d+(?:\.\d+)?)[bB](?![A-Za-z0-9])")


class ModelSize(Struct, frozen=True, kw_only=True):
    """Parameters in billions: the total and the number active per token.

    Models of one family differ by size only. ``is_told``: the size is from a card. Otherwise it is
    parsed from the name, which then also decides ``is_mixture``.
    """

    family: str
    total_b: float
    active_b: float
    is_mixture: bool
    is_told: bool


def size_of(name: str, card: Card | None = None, family: str = "") -> ModelSize | None:
    """Return the size of a model; None if neither its card nor its name states it.

    ``family`` overrides the family, if a table states one.
    """
    short = name.rpartition("/")[2]
    found, active = _TOTAL.search(_ACTIVE.sub(" ", short)), _ACTIVE.search(short)
    if card is not None and card.total_parameters_b:
        total = card.total_parameters_b
        used = card.active_parameters_b or total
        return ModelSize(
            family=family or (_family(short, found, active) if found else card.family or short),
            total_b=total,
            active_b=used,
            is_mixture=card.architecture == "mixture" or used < total,
            is_told=True,
        )
    if found is None:
        return None
    total = float(found[1])
    return ModelSize(
        family=family or _family(short, found, active),
        total_b=total,
        active_b=float(active[1]) if active else total,
        is_mixture=active is not None,
        is_told=False,
    )


def _family(name: str, found: re.Match[str] | None, active: re.Match[str] | None) -> str:
    """Return the name without sizes: ``Qwen3 Thinking-2507`` for Qwen3-30B-A3B-Thinking-2507."""
    rest = _TOTAL.sub(" ", _ACTIVE.sub(" ", name)) if found or active else name
    return " ".join(part.strip("-_. ") for part in rest.split() if part.strip("-_. ")) or name


# Base and chat models, by the card, otherwise by the ending of the name.

_BASE = re.compile(r"[-_ ](base|pt)$", re.IGNORECASE)


_CHAT = re.compile(r"[-_ ](chat|instruct|it)$", re.IGNORECASE)


def stem_of(model: str) -> str:
    """Return a model's name without ``-Base``, ``-Instruct``, ``-Chat`` and similar endings.

    A base model and the chat model made from it have the same stem.
    """
    return _CHAT.sub("", _BASE.sub("", model))


def is_base(model: str, kind: str) -> bool:
    """Return True for a base model, according to the card's ``kind`` or otherwise the name."""
    return kind == "base" if kind else _BASE.search(model) is not None
