"""What a configuration may say of a model's card and price, checked fact by fact."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from proofstone.models.names import unknown_key, wrong_fields
from proofstone.models.settings import SETTINGS
from proofstone.records.models import Card, Price, SearchPrice

_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")


_RELEASED = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


_LARGEST_B = 100_000.0  # a hundred trillion: a count of parameters that was not divided by 1e9


def wrong_price(fields: Any) -> list[str]:
    """All that is wrong with a ``price`` table of a model."""
    return _wrong_price(fields, Price, ("input", "output", "cached", "reasoning"))


def wrong_search_price(fields: Any) -> list[str]:
    """All that is wrong with a ``price`` table of a search."""
    return _wrong_price(fields, SearchPrice, ("per_1000",))


def _wrong_price(
    fields: Any, kind: type[Price] | type[SearchPrice], amounts: Sequence[str]
) -> list[str]:
    wrong = wrong_fields("price", fields, kind)
    if not isinstance(fields, Mapping):
        return wrong
    for name in amounts:
        number = fields.get(name)
        if isinstance(number, int | float) and not 0 <= number < float("inf"):
            wrong.append(f"price.{name}: must be a finite number from 0 up, not {number}")
    day = fields.get("date", "2000-01-01")
    if isinstance(day, str) and not _is_day(day):
        wrong.append(f'price.date: write the day it was read, as in "2025-11-01", not {day!r}')
    if fields.get("source") == "":
        wrong.append("price.source: write the page it was read from")
    return wrong


def wrong_card(fields: Any) -> list[str]:
    """All that is wrong with a ``card`` table."""
    wrong = wrong_fields("card", fields, Card)
    if wrong:
        return wrong
    wrong += _wrong_parameters(fields)
    window = fields.get("window", 1)
    if window <= 0:
        wrong.append(f"card.window: must be above 0, not {window}")
    released = fields.get("released", "2000")
    if not _is_released(released):
        wrong.append(f'card.released: write a year, month or day ("2024-11"), not {released!r}')
    wrong += [
        f'card.languages: {code!r} is no language code, such as "en" or "zh"'
        for code in fields.get("languages", ())
        if not _LANGUAGE.fullmatch(code)
    ]
    wrong += [
        f"card.refuses: {unknown_key(name, SETTINGS).replace('key', 'setting', 1)}"
        for name in fields.get("refuses", ())
        if name not in SETTINGS
    ]
    return wrong


def _wrong_parameters(fields: Mapping[str, Any]) -> list[str]:
    total, active = fields.get("total_parameters_b"), fields.get("active_parameters_b")
    wrong = [
        f"card.{name}: billions of parameters are above 0 and below {_LARGEST_B:,.0f}, not {number}"
        for name, number in (("total_parameters_b", total), ("active_parameters_b", active))
        if number is not None and not 0 < number < _LARGEST_B
    ]
    if total is None or active is None or wrong:
        return wrong
    if active > total:
        wrong.append(f"card.active_parameters_b: {active} is above total_parameters_b, {total}")
    if fields.get("architecture") == "dense" and active != total:
        wrong.append(
            'card.architecture: a "dense" model uses all of its parameters; '
            'write "mixture", or leave active_parameters_b out'
        )
    return wrong


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == len("2025-11-01")


def _is_released(text: str) -> bool:
    if not _RELEASED.fullmatch(text):
        return False
    return _is_day((text + "-01-01")[:10])
