"""What a person answered in the guided start, kept between the questions, so that leaving at any of
them loses nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.records import ContextName

__all__ = ["WANTS", "Answers", "Want", "keep_answers", "kept_answers"]

Want = Literal["memory", "reading", "both"]
WANTS: tuple[Want, ...] = get_args(Want)
_CONTEXTS: dict[Want, tuple[ContextName, ...]] = {
    "memory": ("none",),
    "reading": ("evidence",),
    "both": ("none", "evidence"),
}
_NAME = "start.json"


class Answers(Struct, frozen=True, kw_only=True):
    """The answers so far; None where nothing was said yet. ``licence`` "" means private documents.

    ``languages`` none means all that are found; ``people`` review, 0 nobody; ``budget`` "" none.
    """

    want: Want | None = None
    licence: str | None = None
    languages: tuple[str, ...] | None = None
    writer: str | None = None
    judge: str | None = None
    models: tuple[str, ...] | None = None
    questions: int | None = None
    people: int | None = None
    budget: str | None = None

    def contexts(self, *, private: bool) -> tuple[ContextName, ...]:
        """The contexts that models are asked in; both, where the documents are private: asked with
        nothing alone they would only show that nobody knows them."""
        return _CONTEXTS["both" if private else self.want or "both"]


def kept_answers(mark: Path, documents: Path) -> Answers:
    """The answers of an earlier start on these documents in this workspace; none where there are
    none. Raises BadUsage where their file cannot be read."""
    path = mark / _NAME
    try:
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, Answers])
    except FileNotFoundError:
        return Answers()
    except (OSError, msgspec.MsgspecError) as error:
        raise BadUsage(
            f"{path} cannot be read: {error}", hint="delete it, and the questions are asked again"
        ) from error
    return found.get(str(documents.resolve()), Answers())


def keep_answers(mark: Path, documents: Path, answers: Answers) -> None:
    """Keeps the answers for the next start on these documents."""
    path = mark / _NAME
    try:
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, Answers])
    except (OSError, msgspec.MsgspecError):
        found = {}
    found[str(documents.resolve())] = answers
    fresh = path.with_suffix(".new")
    fresh.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=2))
    fresh.replace(path)
