"""Which models can be used here, and which of them a person is likely to mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from proofstone.engines.models import Listed
from proofstone.records.families import family_of
from proofstone.stages.catalogue import PriceRow

__all__ = ["ModelChoice", "model_choices", "other_family"]


class ModelChoice(Struct, frozen=True):
    """A model and what it costs, in words."""

    name: str
    costs: str


def model_choices(
    listed: Iterable[Listed], prices: Iterable[PriceRow], here: Iterable[str] = ()
) -> list[ModelChoice]:
    """The models that nothing keeps from use: those on this machine first, then by name, then those
    of ``here`` that are not configured. Providers without a model, retired and simulated ones are
    left out."""
    costs = {row.name: _cost(row) for row in prices}
    usable = [
        each.name
        for each in listed
        if not each.name.endswith("/...")
        and not each.name.startswith("sim/")
        and not (each.unset or each.problem)
        and not (each.checked and each.checked.state == "retired")
    ]
    names = sorted(dict.fromkeys(usable), key=lambda name: (not name.startswith("local/"), name))
    known = [ModelChoice(name, costs.get(name, "price not known")) for name in names]
    return [*known, *(ModelChoice(name, _here(name)) for name in here if name not in names)]


def _here(name: str) -> str:
    is_bundled = name.startswith("local/")
    return f"free: {'bundled, small, to try with' if is_bundled else 'a server on this machine'}"


def other_family(writer: str, choices: Sequence[ModelChoice]) -> str:
    """A judge for what a model writes: the first of another family; else the writer itself."""
    own = family_of(writer)
    return next((each.name for each in choices if family_of(each.name) != own), writer)


def _cost(row: PriceRow) -> str:
    if row.free:
        return f"free: {row.free}"
    if row.price is None:
        return "price not known"
    return f"{row.price.input:g} / {row.price.output:g} USD a million tokens in / out"
