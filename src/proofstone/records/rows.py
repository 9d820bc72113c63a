"""Rows of tabular files, and what filters make of them."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from proofstone.records.funnels import Funnel

__all__ = ["Row", "SiftedRow", "SiftedRows"]


class Row(Struct, frozen=True, gc=False):
    """One record of a tabular file: where it stands (``line 3``), and its named values."""

    place: str
    values: dict[str, Any]


class SiftedRow(Struct, frozen=True, gc=False, kw_only=True):
    """A row that filters dropped or changed. ``row`` is as it stands after cleaning, ``before`` its
    text as it came. ``reason`` is empty where it was only changed; ``found`` quotes what gave the
    reason, or what was taken out."""

    row: Row
    before: str
    reason: str = ""
    found: str = ""


class SiftedRows(Struct, frozen=True, gc=False, kw_only=True):
    """What filters made of a file's rows: those left, in their order; those dropped or changed;
    and the counts of both."""

    kept: tuple[Row, ...]
    touched: tuple[SiftedRow, ...]
    funnel: Funnel
