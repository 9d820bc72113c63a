"""A tournament of two reviewers with a bonus above a bar: who wins, by effort.

The model is that of Jin et al. 2026 (Knowledge Index of Noah's Ark), appendix C: a reviewer of
effort e has latent quality Q^e and a score S^e = Q^e + noise; the bonus B goes to the higher score
if it is at least the bar tau (equation 3). A strictly increasing g(Q) is covered by stating the
distribution of g(Q).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy import special

from proofstone.errors import BadUsage
from proofstone.mechanism.distributions import Distribution

Floats = NDArray[np.float64]
Effort = Literal["low", "high"]
EFFORTS: tuple[Effort, Effort] = ("low", "high")

# Steps of the first grid, and the most: it is refined until the probabilities no longer move.
_FIRST = 1 << 9
_LAST = 1 << 16
_EXACT = 1e-8


class Tournament(Struct, frozen=True, kw_only=True):
    """Qualities by effort, the noise of scores (None: scores are the qualities), and the bar."""

    low: Distribution
    high: Distribution
    noise: Distribution | None = None
    bar: float


class Chances(Struct, frozen=True, kw_only=True):
    """Probabilities of a tournament; the first word is a reviewer's effort, the second the other's.

    ``error`` bounds the numerical error of the integrals by their change in the last refinement.
    """

    low_low: float
    low_high: float
    high_low: float
    high_high: float
    reach_low: float
    reach_high: float
    error: float

    @property
    def gain_low(self) -> float:
        """What high effort adds to the chance of the bonus against low effort, in [-1, 1]."""
        return self.high_low - self.low_low

    @property
    def gain_high(self) -> float:
        """What high effort adds against high effort, in [-1, 1]."""
        return self.high_high - self.low_high

    @property
    def least_gain(self) -> float:
        """The smaller of both gains: the paper's dp_min."""
        return min(self.gain_low, self.gain_high)

    def gain_at(self, rate: float) -> float:
        """The gain against an opponent who works with high effort at this rate, in [0, 1]."""
        return rate * self.gain_high + (1.0 - rate) * self.gain_low

    def spent(self, rate: float) -> float:
        """The probability that a bonus is paid at all, at this rate of high effort (in [0, 1])."""
        miss = rate * (1.0 - self.reach_high) + (1.0 - rate) * (1.0 - self.reach_low)
        return 1.0 - miss**2


class Dominance(Struct, frozen=True, kw_only=True):
    """Whether one distribution is first-order stochastically larger than another.

    ``excess`` is the largest F_H - F_L, above 0 where dominance fails, at the value ``at``;
    ``is_strict`` if F_H lies below F_L somewhere.
    """

    excess: float
    at: float
    is_strict: bool

    @property
    def holds(self) -> bool:
        """Whether F_H <= F_L everywhere, up to rounding."""
        return self.excess <= 1e-12


def score_cdf(quality: Distribution, noise: Distribution | None, at: Floats) -> Floats:
    """Return P(quality + noise <= at), of the shape of ``at``."""
    if noise is None:
        return quality.cdf(at)
    if quality.shape == noise.shape == "normal":
        mean = quality.parameters["mean"] + noise.parameters["mean"]
        spread = np.hypot(quality.parameters["sd"], noise.parameters["sd"])
        return np.asarray(special.ndtr((at - mean) / spread))
    values, weights = quality.nodes()
    total = np.zeros(at.shape)
    for part in np.array_split(np.arange(len(values)), max(1, len(values) // 256)):
        total += np.einsum("ij,j->i", noise.cdf(at[:, None] - values[part]), weights[part])
    return total


def check_continuous(game: Tournament) -> None:
    """Raise BadUsage if scores may tie: the formulas need continuous scores (assumption 2)."""
    noise = game.noise
    if noise is not None and noise.shape in ("constant", "empirical"):
        raise BadUsage(
            f"noise: a distribution of the shape {noise.shape!r} has ties",
            hint="state the noise as normal, laplace or uniform",
        )
    rough = [each for each in (game.low, game.high) if each.shape in ("constant", "empirical")]
    if noise is None and rough:
        raise BadUsage(
            f"quality: a distribution of the shape {rough[0].shape!r} without noise has ties",
            hint="state a noise, for example [noise] with distribution = 'normal', mean = 0 and sd",
        )


def chances(game: Tournament) -> Chances:
    """Return the probabilities of winning by effort, by quadrature.

    p(e, f) is the integral of F_f over dF_e above the bar: trapezoids in F_e, so that
    p(e, f) + p(f, e) = 1 - F_e(tau) F_f(tau) holds exactly. Raises BadUsage if scores may tie.
    """
    check_continuous(game)
    steps = _FIRST
    halved, found = _chances(game, steps), None
    while True:
        steps *= 2
        fine = _chances(game, steps)
        last, found = found, (4.0 * fine - halved) / 3.0  # Richardson's step for trapezoids
        halved = fine
        error = np.inf if last is None else float(np.max(np.abs(found - last)))
        if error < _EXACT or steps >= _LAST:
            break
    win = found[:4]
    return Chances(
        low_low=float(win[0]), low_high=float(win[1]), high_low=float(win[2]),
        high_high=float(win[3]), reach_low=float(found[4]), reach_high=float(found[5]),
        error=error,
    )  # fmt: skip


def _chances(game: Tournament, steps: int) -> Floats:
    """p(L, L), p(L, H), p(H, L), p(H, H), and the chances of each effort to reach the bar."""
    grid = _grid(game, steps)
    cdf = {effort: score_cdf(getattr(game, effort), game.noise, grid) for effort in EFFORTS}
    wins = []
    for mine in EFFORTS:
        for other in EFFORTS:
            middle = (cdf[other][1:] + cdf[other][:-1]) / 2.0
            wins.append(np.sum(middle * np.diff(cdf[mine])))
    return np.array([*wins, 1.0 - cdf["low"][0], 1.0 - cdf["high"][0]])


def _grid(game: Tournament, steps: int) -> Floats:
    """Places from the bar to beyond the largest score, evenly spaced over where scores lie."""
    low, high = _ends(game)
    start = max(game.bar, low)
    if start >= high:
        return np.array([game.bar, game.bar + 1.0])
    inner = np.linspace(start, high, steps + 1)
    return np.concatenate(([game.bar], inner[inner > game.bar], [np.inf]))


def _ends(game: Tournament) -> tuple[float, float]:
    noise = (0.0, 0.0) if game.noise is None else game.noise.ends()
    ends = [each.ends() for each in (game.low, game.high)]
    return min(low for low, _high in ends) + noise[0], max(high for _low, high in ends) + noise[1]


def dominance(low: Distribution, high: Distribution) -> Dominance:
    """Return whether ``high`` is first-order stochastically larger (assumption 1)."""
    ends = [each.ends(1e-6) for each in (low, high)]
    near, far = min(e[0] for e in ends), max(e[1] for e in ends)
    at = np.linspace(near, far, 20_001)
    at = np.unique(np.concatenate((at, low.values, high.values)))
    excess = high.cdf(at) - low.cdf(at)
    place = int(np.argmax(excess))
    return Dominance(
        excess=float(max(excess[place], 0.0)),
        at=float(at[place]),
        is_strict=bool(np.min(excess) < -1e-12),
    )


class Simulated(Struct, frozen=True, kw_only=True):
    """Shares of ``n`` simulated pairs, in the order of ``Chances``, with their standard errors."""

    n: int
    shares: tuple[float, ...]
    errors: tuple[float, ...]


def simulate(game: Tournament, *, n: int, seed: int) -> Simulated:
    """Return the same probabilities by simulation: pairs drawn independently for each profile."""
    rng = np.random.default_rng(seed)

    def scores(effort: Effort) -> Floats:
        drawn: Floats = getattr(game, effort).draw(rng, n)
        return drawn if game.noise is None else drawn + game.noise.draw(rng, n)

    shares = []
    for mine in EFFORTS:
        for other in EFFORTS:
            own, rival = scores(mine), scores(other)
            shares.append(float(np.mean((own > rival) & (own >= game.bar))))
    shares += [float(np.mean(scores(effort) >= game.bar)) for effort in EFFORTS]
    errors = tuple(float(np.sqrt(max(p * (1.0 - p), 0.0) / n)) for p in shares)
    return Simulated(n=n, shares=tuple(shares), errors=errors)
