"""Answers to options that were shown in several orders, read back into the original one.

An order spells out which option of the original stood at each place: ``CADB``, ``C,A,D,B``,
``3 1 4 2`` (from 1), ``2,0,3,1`` (from 0) or a JSON list. Letters then mean the same option in
every record. Any other value only names an order: what a letter means there is not known.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from proofstone.engines.tables.label_codes import column_of
from proofstone.engines.tables.scores_in import ScoresIn
from proofstone.records import Coded, coded_texts

__all__ = ["Orders", "in_original_order"]

_LETTERS = string.ascii_uppercase


@dataclass(frozen=True, slots=True)
class Orders:
    """The order of each of S scores as a code of ``names``, -1 where none is told; ``spelled``:
    each name is the letters of the original as they were shown."""

    codes: NDArray[np.int32]
    names: tuple[str, ...]
    spelled: bool


def in_original_order(parts: Sequence[ScoresIn]) -> tuple[list[ScoresIn], Orders | None]:
    """The parts with answers and right answers as letters of the original order, and the order of
    each score; None where no part has a column of orders.

    Right answers that differ between records of an item are those of the order shown; else they are
    the original's. Where orders are only named, right answers that differ are left out.
    """
    if not any(part.layout.order for part in parts):
        return list(parts), None
    names = {name for part in parts for name in column_of(part.table, part.layout.order).names}
    found = {name: _spelled(name) for name in names}
    spelled = bool(found) and all(found.values())
    shown = {name: text if spelled else name for name, text in found.items()}
    told = [_orders(part, shown) for part in parts]
    of_scores = (
        own[record]
        for part, own in zip(parts, told, strict=True)
        for record in part.record.tolist()
    )
    orders = coded_texts(list(of_scores))
    read = [_original(part, own, spelled) for part, own in zip(parts, told, strict=True)]
    return read, Orders(orders.codes, orders.names, spelled)


def _spelled(name: str) -> str:
    """An order as letters; empty where the text is none."""
    tokens = _tokens(name.strip())
    n = len(tokens)
    if not 2 <= n <= len(_LETTERS):
        return ""
    for places in (_LETTERS[:n], [str(i) for i in range(n)], [str(i + 1) for i in range(n)]):
        if sorted(tokens) == sorted(places):
            return "".join(_LETTERS[list(places).index(token)] for token in tokens)
    return ""


def _tokens(text: str) -> list[str]:
    if text.startswith("["):
        try:
            listed = msgspec.json.decode(text, type=list[str | int])
        except msgspec.DecodeError:
            return []
        return [str(each).strip().upper() for each in listed]
    if text.isalpha():
        return list(text.upper())
    return [token for token in re.split(r"[\s,;|>-]+", text.upper()) if token]


def _orders(part: ScoresIn, shown: dict[str, str]) -> list[str]:
    """The order of each record, empty where none is told."""
    column = column_of(part.table, part.layout.order)
    names = [*(shown[name] for name in column.names), ""]
    return [names[code] for code in column.codes.tolist()]


def _original(part: ScoresIn, orders: Sequence[str], spelled: bool) -> ScoresIn:
    layout, columns = part.layout, dict(part.table.columns)
    moves = layout.gold and _differ(part, columns[layout.gold])
    if spelled and layout.answer:
        columns[layout.answer] = _moved(columns[layout.answer], orders)
    if spelled and moves:
        columns[layout.gold] = _moved(columns[layout.gold], orders)
    elif moves:
        layout = structs.replace(layout, gold="")
    return replace(part, table=replace(part.table, columns=columns), layout=layout)


def _differ(part: ScoresIn, gold: Coded) -> bool:
    """Whether records of one item have different right answers."""
    item = part.table.columns[part.layout.item].codes.astype(np.int64)
    told = (item >= 0) & (gold.codes >= 0)
    pairs = np.unique(item[told] * (len(gold.names) + 1) + gold.codes[told])
    return len(pairs) > len(np.unique(item[told]))


def _moved(column: Coded, orders: Sequence[str]) -> Coded:
    """Letters of the places shown as those of the original; anything else is no answer. A record
    without an order keeps its letter."""
    texts = [*column.names, ""]
    return coded_texts(
        [
            _letter(texts[code], order)
            for code, order in zip(column.codes.tolist(), orders, strict=True)
        ]
    )


def _letter(text: str, order: str) -> str:
    if not order or not text:
        return text
    letter = text.strip().strip("().").upper()
    place = _LETTERS.find(letter) if len(letter) == 1 else -1
    return order[place] if 0 <= place < len(order) else ""
