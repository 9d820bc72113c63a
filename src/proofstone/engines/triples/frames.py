"""An object or array of nearly JSON while it is open."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from proofstone.engines.triples.drafts import Draft, Role
from proofstone.engines.triples.found import Fault, UnreadWhy

__all__ = ["Frame", "sorted_faults"]


class Frame:
    """An object or array that is open. Of an object ``draft`` is its record and ``role`` the place
    whose value comes next; of an array ``texts`` are its plain values."""

    __slots__ = (
        "after_comma", "bore", "broken", "draft", "expects", "is_object", "nested", "role",
        "start", "texts",
    )  # fmt: skip

    def __init__(self, sign: str, start: int) -> None:
        self.is_object = sign == "{"
        self.start = start
        self.expects: Literal["key", "colon", "value", "comma"] = (
            "key" if self.is_object else "value"
        )
        self.draft = Draft()
        self.role: Role | None = None
        self.texts: list[str] = []
        self.nested = False  # it holds another object or array
        self.bore = False  # a triple was found within it
        self.after_comma = False
        self.broken: UnreadWhy | None = None

    @property
    def is_fresh(self) -> bool:
        """Whether nothing of an object has come yet."""
        return self.expects == "key" and self.role is None and not self.after_comma


def sorted_faults(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Each fault once, in the order of the alphabet."""
    return tuple(sorted(set(faults)))
