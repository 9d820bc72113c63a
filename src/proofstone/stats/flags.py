"""What limits an estimate: a closed set of short codes, each with the sentence a reader sees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

Estimand = Literal["bank", "knowledge"]


ESTIMANDS: tuple[Estimand, ...] = get_args(Estimand)


Flag = Literal[
    "no-scores",
    "no-keys",
    "no-spread",
    "few-values",
    "few-groups",
    "one-group",
    "lone-units",
    "too-few-models",
    "order-hidden",
]


FLAGS: Mapping[Flag, str] = {
    "no-scores": "no scores: there is nothing to estimate from",
    "no-keys": "it is not known what the items rest on, so they were taken as independent",
    "no-spread": (
        "all scores are alike, so items that share knowledge were taken to stand or fall together"
    ),
    "few-values": "few scores differ from the rest, so the interval is a conservative one",
    "few-groups": "fewer than 50 effective independent groups: the interval is approximate",
    "one-group": "fewer than two effective independent groups: nothing bounds the value",
    "lone-units": "a group without spread of its own was given the spread between groups",
    "too-few-models": "too few models to say what others would do",
    "order-hidden": (
        "models stand closer together than the items' noise, which lowers agreement: it is likely "
        "to be higher than the interval says"
    ),
}


_NAMES: Mapping[Estimand, str] = {"bank": "this bank", "knowledge": "knowledge like this bank's"}


FEW_GROUPS = 50.0


def group_flags(n: int, groups: float, *, is_alike: bool = False) -> tuple[Flag, ...]:
    """What limits ``n`` scores of so many effective groups; ``is_alike``: nothing moves them."""
    if not n:
        return ("no-scores",)
    found: list[Flag] = ["no-spread"] if is_alike else []
    if groups < FEW_GROUPS:
        found.append("one-group" if groups < 2.0 else "few-groups")
    return tuple(found)


def estimand_name(estimand: Estimand) -> str:
    """The estimand's name as every interval states it."""
    return _NAMES[estimand]


def resampled_unit(*, is_shared: bool) -> str:
    """The unit that counts as sampled: clusters where any two items share a key that the estimand
    takes as sampled, items elsewhere."""
    return "clusters" if is_shared else "items"
