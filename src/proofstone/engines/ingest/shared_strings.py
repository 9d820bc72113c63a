"""Cells of an .xlsx workbook whose text is not in it.

A cell holds the number of its text in a list that all sheets share. python-calamine takes what is
no number for the first text of the list, so that a damaged file would be read as another one.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree as Tree

from proofstone.errors import Problem

__all__ = ["cells_without_text"]

_STRINGS = "sharedstrings.xml"
_BOOK = "xl/workbook.xml"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_NUMBER = re.compile(r"\d{1,9}")


def cells_without_text(parts: zipfile.ZipFile) -> Iterator[Problem]:
    """A problem for each cell (``Statements!G14``) that names no text of the workbook. Parts that
    are no XML are left to who reads the workbook."""
    try:
        n = sum(_count(parts, name) for name in parts.namelist() if _is_strings(name))
        sheets = dict(_sheets(parts))
        for part, name in sheets.items():
            for cell, number in _numbers(parts, part):
                if _NUMBER.fullmatch(number) is None or int(number) >= n:
                    came = f"the number {number!r}" if number else "no number"
                    yield Problem(
                        f"{name}!{cell}",
                        f"its text is not in the file: it has {came}, of {n:,} texts",
                    )
    except (Tree.ParseError, KeyError):
        return


def _is_strings(name: str) -> bool:
    return posixpath.basename(name).lower() == _STRINGS


def _count(parts: zipfile.ZipFile, part: str) -> int:
    return sum(_local(element) == "si" for element in _elements(parts, part))


def _sheets(parts: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    """The part and the name of each sheet."""
    links = {
        element.get("Id"): element.get("Target", "")
        for element in _elements(parts, "xl/_rels/workbook.xml.rels")
        if _local(element) == "Relationship"
    }
    known = set(parts.namelist())
    for element in _elements(parts, _BOOK):
        if _local(element) == "sheet":
            target = posixpath.join("/xl", links.get(element.get(_RELATION), ""))
            part = posixpath.normpath(target).lstrip("/")
            if part in known:
                yield part, element.get("name", "")


def _numbers(parts: zipfile.ZipFile, part: str) -> Iterator[tuple[str, str]]:
    """Each cell whose text is a shared one, with the number that it holds; a cell without a value
    is an empty one."""
    for element in _elements(parts, part):
        if _local(element) == "c":
            if element.get("t") == "s":
                value = element.find("{*}v")
                if value is not None:
                    yield element.get("r", "?"), (value.text or "").strip()
            element.clear()


def _elements(parts: zipfile.ZipFile, part: str) -> Iterator[Tree.Element]:
    with parts.open(part) as stream:
        # What it unpacks to is bounded by who calls, and expat bounds what entities grow to.
        for _event, element in Tree.iterparse(stream):  # noqa: S314
            yield element


def _local(element: Tree.Element) -> str:
    """An element's name without its namespace."""
    return element.tag.rpartition("}")[2]
