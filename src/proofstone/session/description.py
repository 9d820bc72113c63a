"""A thing as ``show`` prints it."""

from __future__ import annotations

from msgspec import Struct


class Description(Struct, frozen=True, kw_only=True):
    """A thing: what it is called, its facts line by line, texts that belong to it, and the rows
    that it came from."""

    title: str
    lines: tuple[tuple[str, str], ...]
    texts: tuple[str, ...] = ()
    ancestors: tuple[Ancestor, ...] = ()

    def __str__(self) -> str:
        width = max((len(name) for name, _value in self.lines), default=0)
        lines = [f"{name:<{width}}  {value}" for name, value in self.lines]
        came = ["\ncame from", *(f"  {each}" for each in self.ancestors)] if self.ancestors else []
        return "\n".join([self.title, *lines, *(f"\n{text}" for text in self.texts), *came])


class Ancestor(Struct, frozen=True, kw_only=True):
    """A row that another came from: how many steps behind it, its id, and a line about it."""

    depth: int
    kind: str
    id: str
    text: str

    def __str__(self) -> str:
        return f"{'  ' * self.depth}{self.id}  {self.text}".rstrip()
