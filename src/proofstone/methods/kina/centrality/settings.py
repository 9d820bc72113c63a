"""Thresholds of appendix B. The paper gives none of their values: the defaults are our choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct, structs

from proofstone.errors import BadUsage
from proofstone.stats.calibrators import How

Weighing = Literal["equal", "size"]


class Settings(Struct, frozen=True, kw_only=True):
    """The settings of a selection, named as in appendix B where it names them.

    ``delta_a`` and ``delta_c`` are the shares of the lower quantiles; ``alpha_ref``, ``alpha_a``
    and ``alpha_c`` the bars of the reference bank and of the shortlist; ``least_wrong`` and
    ``most_wrong`` the interval I of the panel's share of wrong answers; ``omega`` weighs strata
    without a stated weight, ``pi`` anchors; ``rho`` is the share of second readings.
    """

    delta_a: float = 0.1
    delta_c: float = 0.1
    alpha_ref: float = 0.5
    alpha_a: float = 0.5
    alpha_c: float = 0.05
    lambda_dup: float = 0.5
    tau_dup: float = 0.5
    k: int = 20
    least_wrong: float = 0.6
    most_wrong: float = 1.0
    omega: Weighing = "equal"
    pi: Literal["stated", "alignment"] = "stated"
    rho: float = 0.1
    calibrator: How = "logistic"
    resamples: int = 1000
    stratum: Literal["field", "subfield", "method"] = "subfield"

    def __post_init__(self) -> None:
        """Raise BadUsage for a value outside its range, with all such values."""
        shares = [name for name in _SHARES if not 0 <= getattr(self, name) <= 1]
        wrong = [f"{name} is {getattr(self, name)}, not within 0 and 1" for name in shares]
        if self.lambda_dup < 0:
            wrong.append(f"lambda_dup is {self.lambda_dup}, below 0")
        wrong += [f"{name} is below 1" for name in ("k", "resamples") if getattr(self, name) < 1]
        if self.least_wrong > self.most_wrong:
            wrong.append(f"least_wrong {self.least_wrong} is above most_wrong {self.most_wrong}")
        if wrong:
            raise BadUsage("; ".join(wrong))


_SHARES = (
    "delta_a", "delta_c", "alpha_ref", "alpha_a", "alpha_c", "tau_dup",
    "least_wrong", "most_wrong", "rho",
)  # fmt: skip


def settings_of(params: Mapping[str, Any]) -> Settings:
    """Return the settings among the parameters of a build."""
    return Settings(**{name: params[name] for name in Settings.__struct_fields__ if name in params})


def variants(base: Settings, *, panel: bool) -> Iterator[tuple[str, str, Settings]]:
    """Yield each setting changed alone: its name, its value as shown, and the settings.

    Bars of probabilities are halved, and moved half way to 1; other numbers are halved and doubled.
    ``rho`` can only be lowered to 0, since a variant asks no model.
    """
    for name in ("alpha_ref", "alpha_a", "tau_dup"):
        value = getattr(base, name)
        for other in (value / 2, (1 + value) / 2):
            yield name, f"{other:.3g}", structs.replace(base, **{name: other})
    for name in ("delta_a", "delta_c", "alpha_c", "lambda_dup"):
        value = getattr(base, name)
        for other in (value / 2, min(1.0, 2 * value)):
            yield name, f"{other:.3g}", structs.replace(base, **{name: other})
    for k in (max(1, base.k // 2), base.k * 2):
        yield "k", str(k), structs.replace(base, k=k)
    if panel:
        yield "I", "0-1", structs.replace(base, least_wrong=0.0, most_wrong=1.0)
    omega: Weighing = "size" if base.omega == "equal" else "equal"
    yield "omega", omega, structs.replace(base, omega=omega)
    pi: Literal["stated", "alignment"] = "alignment" if base.pi == "stated" else "stated"
    yield "pi", pi, structs.replace(base, pi=pi)
    if base.rho:
        yield "rho", "0", structs.replace(base, rho=0.0)
