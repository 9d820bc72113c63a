"""Support centrality of the questions of one discipline, as appendix B fixes it.

Notation: A is the alignment, B-bar the deduplicated reference bank with weights mu, N_k(q) the k
nearest references, T and U the probabilities of shared support and of a near duplicate, S the pair
score, C the centrality. Arrays are over the questions of the pool in the order of their ids, so
nothing depends on the order of files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proofstone.methods.kina.centrality.labels import ItemLabel, PairLabel
from proofstone.methods.kina.centrality.pairs import PairFeatures, nearest
from proofstone.methods.kina.centrality.prototype import Prototype
from proofstone.methods.kina.centrality.settings import Settings
from proofstone.methods.kina.centrality.signature import OTHER, Described
from proofstone.stats.calibrators import Fitted, Labels, fit, lower_quantiles, out_of_fold

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_BLOCK = 1 << 22
_FEW = 2  # labels of each kind, below which nothing is calibrated


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The questions of a discipline, in the order of their ids, with vectors (questions, d)."""

    ids: tuple[str, ...]
    rows: tuple[Described, ...]
    vectors: Floats
    prototype: Prototype
    anchors: Ints

    @property
    def is_anchor(self) -> Bools:
        """By question, whether it is an anchor."""
        found = np.zeros(len(self.ids), dtype=np.bool_)
        found[self.anchors] = True
        return found

    def strata(self, by: str) -> tuple[str, ...]:
        """Return the stratum h(q) of each question."""
        if by == "method":
            return tuple(row.signature.method for row in self.rows)
        return tuple(getattr(row.candidate.stratum, by) for row in self.rows)


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """A calibrator: the labels and the probabilities of models that did not see them."""

    what: str
    values: Floats
    labels: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Support:
    """What appendix B computes of a pool.

    ``alignment`` and ``alignment_low`` (questions) are A and its lower quantile; ``bank`` are the
    places of B-bar, ascending, ``mu`` (bank) their weights; ``pairs`` (pairs, 2) the unordered
    pairs with a score, ``score`` (pairs) S; ``centrality`` and ``centrality_low`` (questions) C and
    its lower quantile, NaN for anchors. ``empty`` is the reason if nothing was computed.
    """

    pool: Pool
    settings: Settings
    alignment: Floats
    alignment_low: Floats
    n_aligned: int
    bank: Ints
    mu: Floats
    pairs: Ints
    score: Floats
    centrality: Floats
    centrality_low: Floats
    duplicates: Fitted | None
    features: PairFeatures
    reliability: tuple[Reliability, ...]
    empty: str = ""

    def scores(self, rows: Ints) -> sparse.csr_array:
        """Return S^SP (rows, bank): 1 for a question itself, S of pairs, 0 otherwise."""
        n = len(self.pool.ids)
        one, other = self.pairs.T
        diagonal = np.arange(n)
        whole = sparse.csr_array(
            (
                np.concatenate([self.score, self.score, np.ones(n)]),
                (np.concatenate([one, other, diagonal]), np.concatenate([other, one, diagonal])),
            ),
            shape=(n, n),
        )
        found = sparse.csr_array(whole[rows][:, self.bank])
        found.eliminate_zeros()
        return found

    def duplicate(self, pairs: Ints) -> Floats:
        """Return U of unordered pairs (pairs, 2)."""
        if self.duplicates is None:
            return np.zeros(len(pairs))
        return _symmetric(self.duplicates, self.features, pairs)

    def difficulty(self) -> Floats:
        """Return D by question, NaN without a panel."""
        wrong = [row.wrong for row in self.pool.rows]
        return np.array([np.nan if each is None else each for each in wrong])


def support(
    pool: Pool,
    items: Sequence[ItemLabel],
    pairs: Sequence[PairLabel],
    settings: Settings,
    *,
    seed: int = 0,
) -> Support:
    """Return the support centrality of a pool, from the labels of its discipline.

    Without labels of both kinds, references or anchors the domain goes to people: ``empty`` is
    the reason (appendix B).
    """
    features = PairFeatures.of(pool.rows, pool.vectors)
    place = {identity: at for at, identity in enumerate(pool.ids)}
    missing = lacking(pool, items, pairs)
    if missing:
        return _nothing(pool, settings, features, missing)
    n = len(pool.ids)
    aligned = item_labels(items, place)
    shown = alignment_features(pool, settings)
    units = np.arange(n)
    calibrator = fit(settings.calibrator, shown, aligned, n_resamples=settings.resamples, seed=seed)
    alignment = calibrator.values(shown, units)
    low = lower_quantiles(calibrator, shown, units, [settings.delta_a])[0]
    joined, supports, duplicates = _pair_models(features, pairs, place, settings, seed)
    reliability = (
        Reliability("alignment", out_of_fold(calibrator, shown, aligned), aligned.values),
        Reliability("support", out_of_fold(supports, joined[0], joined[1]), joined[1].values),
        Reliability("duplicate", out_of_fold(duplicates, joined[0], joined[2]), joined[2].values),
    )
    raw = np.flatnonzero(low >= settings.alpha_ref)
    bank = deduplicated(raw, alignment, duplicates, features, pool.vectors, settings)
    if not len(bank):
        why = f"no question reaches the bar of the reference bank ({settings.alpha_ref:g})"
        return _nothing(pool, settings, features, why, alignment, low, reliability)
    mu = reference_weights(pool, bank, settings)
    found, weights = _comparisons(pool, bank, mu, alignment, settings)
    score = _pair_scores(supports, duplicates, features, found, settings.lambda_dup)
    centrality = weights @ score
    centrality_low = _lower(supports, duplicates, features, found, weights, settings)
    outside = ~pool.is_anchor
    return Support(
        pool, settings, alignment, low, len(raw), bank, mu, found, score,
        np.where(outside, centrality, np.nan), np.where(outside, centrality_low, np.nan),
        duplicates, features, reliability,
    )  # fmt: skip


def lacking(pool: Pool, items: Sequence[ItemLabel], pairs: Sequence[PairLabel]) -> str:
    """Return what is missing to calibrate a discipline; "" if nothing is."""
    if not len(pool.anchors):
        return "no anchors"
    for what, answers in (
        ("aligned", [each.aligned for each in items]),
        ("support", [each.support for each in pairs]),
        ("duplicate", [each.duplicate for each in pairs]),
    ):
        for answer in (True, False):
            if answers.count(answer) < _FEW:
                return (
                    f"{answers.count(answer)} labels with {what} = {int(answer)}; "
                    f"at least {_FEW} are needed"
                )
    return ""


def _nothing(
    pool: Pool,
    settings: Settings,
    features: PairFeatures,
    why: str,
    alignment: Floats | None = None,
    low: Floats | None = None,
    reliability: tuple[Reliability, ...] = (),
) -> Support:
    unknown = np.full(len(pool.ids), np.nan)
    none, no_pairs = np.zeros(0, dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
    return Support(
        pool, settings, unknown if alignment is None else alignment,
        unknown if low is None else low, 0, none, np.zeros(0), no_pairs, np.zeros(0), unknown,
        unknown, None, features, reliability, why,
    )  # fmt: skip


# The alignment A.


def alignment_features(pool: Pool, settings: Settings) -> Floats:
    """Return the features (questions, 1 or 5) of the calibrator: A as read, and the signature.

    Isotonic regression takes the reading alone. Otherwise: whether method, principle and answer
    type are in the prototype, and the number of its constraints that apply.
    """
    second = 2 if settings.rho else 1
    read = np.array([np.mean(row.alignments[:second]) for row in pool.rows])
    if settings.calibrator == "isotonic":
        return read[:, None]
    signs = [row.signature for row in pool.rows]
    return np.column_stack(
        [
            read,
            [each.method != OTHER for each in signs],
            [each.principle != OTHER for each in signs],
            [each.answer_type != OTHER for each in signs],
            [len(each.constraints) for each in signs],
        ]
    ).astype(np.float64)


def item_labels(items: Sequence[ItemLabel], place: Mapping[str, int]) -> Labels:
    """Return the labels of questions, whose rows and units are their places."""
    at = np.array([place[each.id] for each in items], dtype=np.int64)
    return Labels(at, at, np.array([each.aligned for each in items], dtype=np.float64))


# The reference bank.


def deduplicated(
    raw: Ints,
    alignment: Floats,
    duplicates: Fitted,
    features: PairFeatures,
    vectors: Floats,
    settings: Settings,
) -> Ints:
    """Return the bank without near duplicates (U above tau_dup) of better aligned questions.

    Each question is compared with its k nearest in the bank. Of equal alignment the smaller id
    stays.
    """
    close = nearest(vectors, raw, raw, settings.k)
    pairs = _unordered([(q, u) for q, found in zip(raw, close, strict=True) for u in found])
    risk = _symmetric(duplicates, features, pairs)
    near: dict[int, list[int]] = {}
    for (one, other), chance in zip(pairs.tolist(), risk.tolist(), strict=True):
        if chance > settings.tau_dup:
            near.setdefault(one, []).append(other)
            near.setdefault(other, []).append(one)
    kept: set[int] = set()
    for q in sorted(raw.tolist(), key=lambda at: (-alignment[at], at)):
        if kept.isdisjoint(near.get(q, ())):
            kept.add(q)
    return np.array(sorted(kept), dtype=np.int64)


def reference_weights(pool: Pool, bank: Ints, settings: Settings) -> Floats:
    """Return mu (bank): omega of the stratum over the references in it; the sum is 1."""
    strata = pool.strata(settings.stratum)
    inside = [strata[at] for at in bank.tolist()]
    size = {h: inside.count(h) for h in inside}
    stated = pool.prototype.strata
    omega = {h: stated.get(h, float(size[h]) if settings.omega == "size" else 1.0) for h in size}
    total = sum(omega.values())
    return np.array([omega[h] / total / size[h] for h in inside])


def anchor_weights(pool: Pool, alignment: Floats, settings: Settings) -> Floats:
    """Return pi (anchors); the sum is 1."""
    if settings.pi == "alignment":
        found = alignment[pool.anchors]
    else:
        stated = pool.prototype.anchor_weights
        found = np.array([stated.get(pool.ids[at], 1.0) for at in pool.anchors.tolist()])
    shares: Floats = found / found.sum()
    return shares


# Pairs.


def _pair_models(
    features: PairFeatures,
    pairs: Sequence[PairLabel],
    place: Mapping[str, int],
    settings: Settings,
    seed: int,
) -> tuple[tuple[Floats, Labels, Labels], Fitted, Fitted]:
    """Fit g_T and g_U to both directions of the labeled pairs."""
    at = np.array([(place[each.id], place[each.other]) for each in pairs], dtype=np.int64)
    both = np.vstack([at, at[:, ::-1]])
    shown = features.directed(both)
    rows = np.arange(len(both))
    units = np.tile(features.unit(at), 2)
    supports = np.tile([float(each.support) for each in pairs], 2)
    duplicates = np.tile([float(each.duplicate) for each in pairs], 2)
    labels = Labels(rows, units, supports), Labels(rows, units, duplicates)
    models = [
        fit("logistic", shown, each, n_resamples=settings.resamples, seed=seed) for each in labels
    ]
    return (shown, *labels), models[0], models[1]


def _comparisons(
    pool: Pool, bank: Ints, mu: Floats, alignment: Floats, settings: Settings
) -> tuple[Ints, sparse.csr_array]:
    """Return the unordered pairs of G, and the weights (questions, pairs) of S in C.

    A question's weight of a neighbor is mu, that of an anchor (1 - m) pi.
    """
    rows = np.flatnonzero(~pool.is_anchor)
    close = nearest(pool.vectors, rows, bank, settings.k)
    pi = anchor_weights(pool, alignment, settings)
    weight = dict(zip(bank.tolist(), mu.tolist(), strict=True))
    terms: list[tuple[int, int, float]] = []
    for q, found in zip(rows.tolist(), close, strict=True):
        near = found.tolist()
        rest = 1 - sum(weight[u] for u in near)
        terms += [(q, u, weight[u]) for u in near]
        terms += [(q, a, rest * p) for a, p in zip(pool.anchors.tolist(), pi.tolist(), strict=True)]
    pairs = _unordered([(q, u) for q, u, _value in terms])
    number = {pair: at for at, pair in enumerate(map(tuple, pairs.tolist()))}
    columns = [number[min(q, u), max(q, u)] for q, u, _value in terms]
    weights = sparse.coo_array(
        ([value for _q, _u, value in terms], ([q for q, _u, _value in terms], columns)),
        shape=(len(pool.ids), len(pairs)),
    )
    return pairs, sparse.csr_array(weights)  # a neighbor that is an anchor has both weights


def _unordered(pairs: Sequence[tuple[int, int]]) -> Ints:
    if not pairs:
        return np.zeros((0, 2), dtype=np.int64)
    return np.unique(np.sort(np.array(pairs, dtype=np.int64), axis=1), axis=0)


def _symmetric(model: Fitted, features: PairFeatures, pairs: Ints) -> Floats:
    """Return the mean probability of both directions."""
    units = features.unit(pairs)
    there = model.values(features.directed(pairs), units)
    back = model.values(features.directed(pairs[:, ::-1]), units)
    return (there + back) / 2


def _pair_scores(
    supports: Fitted, duplicates: Fitted, features: PairFeatures, pairs: Ints, penalty: float
) -> Floats:
    shared = _symmetric(supports, features, pairs)
    return np.maximum(shared - penalty * _symmetric(duplicates, features, pairs), 0)


def _lower(
    supports: Fitted,
    duplicates: Fitted,
    features: PairFeatures,
    pairs: Ints,
    weights: sparse.csr_array,
    settings: Settings,
) -> Floats:
    """Return the lower quantile of C over the resamples of both pair models, by question."""
    n = weights.shape[0]
    found = np.zeros(n)
    step = max(1, _BLOCK // max(1, settings.resamples))
    for start in range(0, n, step):
        part = weights[start : start + step]
        used = np.unique(part.indices)
        if not len(used):
            continue
        columns = part[:, used]
        every = [
            columns @ scores.T
            for scores in _score_replicates(supports, duplicates, features, pairs[used], settings)
        ]
        found[start : start + step] = np.quantile(np.hstack(every), settings.delta_c, axis=1)
    return found


def _score_replicates(
    supports: Fitted, duplicates: Fitted, features: PairFeatures, pairs: Ints, settings: Settings
) -> Iterator[Floats]:
    """Yield S (some resamples, pairs), over all resamples."""
    units = features.unit(pairs)
    there, back = features.directed(pairs), features.directed(pairs[:, ::-1])
    streams = [
        model.replicates(shown, units)
        for model in (supports, duplicates)
        for shown in (there, back)
    ]
    for t_there, t_back, u_there, u_back in zip(*streams, strict=True):
        risk = settings.lambda_dup * (u_there + u_back)
        yield np.maximum((t_there + t_back - risk) / 2, 0)
