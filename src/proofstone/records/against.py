"""What the triples of a run were verified against, by whom and how they were drawn: as one text, by
which a scoring is known."""

from __future__ import annotations

import re

from msgspec import Struct, structs

__all__ = ["Against", "read_against"]

_REFERENCE = ", reference="
_SETTING = re.compile(r" (\w+)=([^\s=]+)\Z")
_DRAWS = {"entities": "an entity, then one of its triples", "triples": "uniformly over triples"}


class Against(Struct, frozen=True, kw_only=True):
    """The ``judges`` as their panel is named, the ``reference`` by its name and first digits of its
    id, and the settings: ``sample`` triples of each direction (0: all), or of each domain or
    popularity (``sample_per``), drawn by ``sampling`` and ``seed``; ``k`` passages a triple and
    ``candidates`` for a known one, found by ``way``; recall ``over`` the reference, or over what
    the runs of these digits were elicited of, by all
    elicited triples ``together`` or by a ``single`` one (as before there were both).
    ``questions`` is the version of what judges are asked."""

    judges: str
    reference: str
    sample: int = 500
    sampling: str = "entities"
    sample_per: str = "all"
    seed: int = 0
    k: int = 10
    candidates: int = 10
    way: str = "bm25"
    over: str = "reference"
    recall: str = "single"
    questions: int = 1

    @property
    def label(self) -> str:
        """All of it as one text, of the settings those that are not the usual ones."""
        usual = Against(judges="", reference="")
        said = [
            f"{name}={value}"
            for name in _SETTINGS
            if (value := getattr(self, name)) != getattr(usual, name)
        ]
        return " ".join([f"{self.judges}{_REFERENCE}{self.reference}", *said])

    @property
    def drawn(self) -> str:
        """How the triples were drawn, in words."""
        found = "" if self.way == "bm25" else f", found by {self.way} search"
        over = "" if self.over == "reference" else ", recall over what was elicited"
        over += ", recall by single triples" if self.recall == "single" else ""
        if not self.sample:
            return f"all triples{found}{over}"
        part = "" if self.sample_per == "all" else f" and {self.sample_per}"
        return (
            f"{_DRAWS.get(self.sampling, self.sampling)}, up to {self.sample:,} of each direction"
            f"{part}, seed {self.seed}{found}{over}"
        )


_SETTINGS = tuple(name for name in Against.__struct_fields__ if name not in ("judges", "reference"))


def read_against(label: str) -> Against | None:
    """What a label says; None for that of judges of another kind."""
    judges, mark, rest = label.partition(_REFERENCE)
    if not mark:
        return None
    found = Against(judges=judges, reference="")
    while (setting := _SETTING.search(rest)) is not None and setting[1] in _SETTINGS:
        name, text = setting.groups()
        value = int(text) if isinstance(getattr(found, name), int) else text
        found = structs.replace(found, **{name: value})
        rest = rest[: setting.start()]
    return structs.replace(found, reference=rest)
