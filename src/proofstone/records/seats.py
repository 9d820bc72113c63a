"""Seats: where a role of a build is held by several models, each has a numbered seat of its own.

One model sits at the role itself, so a build with one judge is the build that it always was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["role_of_seat", "seated", "seats_of"]


def seated(role: str, models: Sequence[str]) -> dict[str, str]:
    """Models by seat: ``judge`` for one of them, ``judge 1``, ``judge 2``, ... for several."""
    if len(models) == 1:
        return {role: models[0]}
    return {f"{role} {number}": model for number, model in enumerate(models, 1)}


def seats_of(role: str, models: Mapping[str, str]) -> dict[str, str]:
    """The seats of a role with their models, in order; none where nobody holds it."""
    return {seat: model for seat, model in models.items() if role_of_seat(seat) == role}


def role_of_seat(seat: str) -> str:
    """The role that a seat belongs to."""
    role, _space, number = seat.rpartition(" ")
    return role if role and number.isdigit() else seat
