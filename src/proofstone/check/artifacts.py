"""Audit a bank or form for annotation artifacts: can answers be predicted without knowledge?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray
from scipy import optimize, special, stats

from proofstone.errors import BadUsage
from proofstone.method import Contrast, Contrasts
from proofstone.records.calls import EmbeddingModel
from proofstone.records.ids import short
from proofstone.records.runs import Estimate
from proofstone.run.forms import excluded_facts, fewer_facts
from proofstone.session.session import Session, Target, method_of
from proofstone.session.written_files import write_flagged_items_file
from proofstone.store.lookup import Found
from proofstone.store.store import Store

# The area under the ROC curve (AUROC) within strata, with a CI clustered by source.


@dataclass(frozen=True, slots=True)
class Area:
    """Hold an AUROC: how often a text of the second kind scores above one of the first, ties half.

    Includes its CI; NaN without a pair, ends NaN with fewer than two sources. ``pairs`` is the
    number of compared pairs, ``sources`` the number of their sources. ``by_chance`` is the standard
    deviation of AUROCs under the null hypothesis, NaN if not computed.
    """

    value: float
    low: float
    high: float
    pairs: int
    sources: int
    by_chance: float = float("nan")


def widened(area: Area, by_chance: float, *, confidence: float = 0.95) -> Area:
    """Return the AUROC with its CI widened to the spread ``by_chance``, if that is larger.

    Scores of models with common training texts are dependent, which the variance by source ignores.
    """
    if not area.sources > 1 or not np.isfinite(by_chance):
        return area
    reach = float(special.stdtrit(area.sources - 1, 0.5 + confidence / 2)) * by_chance
    return replace(
        area,
        low=max(0.0, min(area.low, area.value - reach)),
        high=min(1.0, max(area.high, area.value + reach)),
        by_chance=by_chance,
    )


def area_within(
    scores: Floats, is_second: Bools, stratum: Ints, source: Ints, *, confidence: float = 0.95
) -> Area:
    """Return the share of concordant pairs among all pairs of one stratum (texts each).

    Strata are folds, so only scores of one model are compared. The variance sums the structural
    components over sources (Obuchowski 1997, Biometrics 53, equation 4, for one test). Each
    source's total counts as one observation; the CI uses t with sources minus one.
    """
    parts = np.zeros(len(scores))
    pairs = 0
    won = 0.0
    for place in np.unique(stratum):
        inside = np.flatnonzero(stratum == place)
        second, first = inside[is_second[inside]], inside[~is_second[inside]]
        if not len(second) or not len(first):
            continue
        above = _above(scores[second], scores[first])
        below = len(second) - _above(scores[first], scores[second])
        won += above.sum()
        pairs += len(second) * len(first)
        parts[second] += above
        parts[first] += below
    if not pairs:
        return Area(float("nan"), float("nan"), float("nan"), 0, len(np.unique(source)))
    value = won / pairs
    return _with_interval(value, parts, is_second, stratum, source, pairs, confidence)


def _above(ones: Floats, others: Floats) -> Floats:
    """Return for each of ``ones`` the number of ``others`` below it, ties half."""
    ordered = np.sort(others)
    low = np.searchsorted(ordered, ones, side="left")
    high = np.searchsorted(ordered, ones, side="right")
    return np.asarray((low + high) / 2.0)


def _with_interval(
    value: float,
    parts: Floats,
    is_second: Bools,
    stratum: Ints,
    source: Ints,
    pairs: int,
    confidence: float,
) -> Area:
    """Return the CI from each text's deviation from ``value``, summed by source."""
    expected = np.zeros(len(parts))
    for place in np.unique(stratum):
        inside = stratum == place
        n_second = (is_second & inside).sum()
        n_first = inside.sum() - n_second
        expected[inside & is_second] = value * n_first
        expected[inside & ~is_second] = value * n_second
    keys, number = np.unique(source, return_inverse=True)
    surplus = np.bincount(number, weights=parts - expected, minlength=len(keys)) / pairs
    n = len(keys)
    if n < 2:
        return Area(value, float("nan"), float("nan"), pairs, n)
    error = float(np.sqrt(n / (n - 1) * (surplus**2).sum()))
    reach = float(special.stdtrit(n - 1, 0.5 + confidence / 2)) * error
    return Area(value, max(0.0, value - reach), min(1.0, value + reach), pairs, n)


# Logistic regression with a ridge penalty, to classify two kinds of texts by columns.


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """Hold ``score(x) = intercept + sum of weights * (x - centre) / scale``.

    It is the log-odds that a text is of the second kind. Constant columns have weight 0.
    """

    centre: Floats
    scale: Floats
    weights: Floats
    intercept: float

    def score(self, values: Floats) -> Floats:
        """Return the log-odds (texts) of ``values`` (texts, features)."""
        return self.intercept + ((values - self.centre) / self.scale) @ self.weights


def fit_logistic(values: Floats, is_second: Bools, *, penalty: float = 1.0) -> LogisticModel:
    """Fit a logistic model to ``values`` (texts, features) with equal weight of both kinds.

    ``penalty`` multiplies the sum of squared standardized weights, added to the summed loss. If
    only one kind exists, all weights are 0.
    """
    centre = values.mean(axis=0) if len(values) else np.zeros(values.shape[1])
    spread = values.std(axis=0) if len(values) else np.zeros(values.shape[1])
    scale = np.where(spread > 0, spread, 1.0)
    n_second = int(is_second.sum())
    n_first = len(is_second) - n_second
    if not n_second or not n_first:
        return LogisticModel(centre, scale, np.zeros(values.shape[1]), 0.0)
    x = np.where(spread > 0, (values - centre) / scale, 0.0)
    weight = np.where(is_second, 0.5 / n_second, 0.5 / n_first) * len(is_second)
    sign = np.where(is_second, 1.0, -1.0)

    def loss(parameters: Floats) -> tuple[float, Floats]:
        margin = sign * (x @ parameters[1:] + parameters[0])
        pull = -weight * sign * special.expit(-margin)
        slope = np.concatenate([[pull.sum()], x.T @ pull + penalty * parameters[1:]])
        value = weight @ np.logaddexp(0.0, -margin) + 0.5 * penalty * (parameters[1:] ** 2).sum()
        return float(value), slope

    start = np.zeros(x.shape[1] + 1)
    found = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
    return LogisticModel(centre, scale, found[1:], float(found[0]))


# Out-of-fold scores of texts, with folds by source.


@dataclass(frozen=True, slots=True)
class CrossFit:
    """Hold out-of-fold ``scores`` (texts): log-odds that a text is of the second kind.

    ``fold`` (texts) is the fold of each. Scores of different folds are not comparable.
    """

    scores: Floats
    fold: Ints


def folds_by_source(source: Ints, n_folds: int = 5) -> Ints:
    """Return folds (texts) that keep sources whole, as even as possible.

    The largest sources come first, each into the smallest fold. There are at most as many folds as
    sources.
    """
    keys, number, sizes = np.unique(source, return_inverse=True, return_counts=True)
    n = max(1, min(n_folds, len(keys)))
    load = np.zeros(n, dtype=np.int64)
    fold_of = np.zeros(len(keys), dtype=np.int64)
    for key in np.argsort(-sizes, kind="stable"):
        fold_of[key] = int(np.argmin(load))
        load[fold_of[key]] += sizes[key]
    return np.asarray(fold_of[number], dtype=np.int64)


def cross_fit(values: Floats, is_second: Bools, fold: Ints, *, penalty: float = 1.0) -> CrossFit:
    """Return scores of ``values`` (texts, features), with one model per fold, trained on all
    others.
    """
    scores = np.zeros(len(values))
    for place in np.unique(fold):
        held = fold == place
        model = fit_logistic(values[~held], is_second[~held], penalty=penalty)
        scores[held] = model.score(values[held])
    return CrossFit(scores, fold)


# Ridge regression on a few hundred columns at once. Least squares to +1 and -1 ranks texts as a
# logistic fit does, and needs only sums per fold. So penalties are chosen within the training
# folds, and kinds permuted hundreds of times, at the cost of one fit.

PENALTIES = (0.01, 0.1, 1.0, 10.0)  # in units of the mean column variance times the number of texts


def cross_ridge(
    values: Floats, is_second: Bools, fold: Ints, *, penalties: Sequence[float] = PENALTIES
) -> CrossFit:
    """Return scores of ``values`` (texts, features), with one model per fold, trained on all
    others.

    The penalty of each model is chosen by nested cross-validation in its training folds, so the
    scored fold has no influence. With fewer than three folds the second of ``penalties`` is used.
    """
    sums = _FoldSums(values, is_second, fold)
    scores = np.zeros(len(values))
    for place in sums.folds:
        others = [each for each in sums.folds if each != place]
        chosen = penalties[min(1, len(penalties) - 1)]
        if len(others) > 1 and len(penalties) > 1:
            chosen = _best(sums, others, penalties)
        held = fold == place
        scores[held] = values[held] @ sums.weights(others, [chosen])[:, 0]
    return CrossFit(scores, fold)


def _best(sums: _FoldSums, training: Sequence[int], penalties: Sequence[float]) -> float:
    inside = np.isin(sums.fold, training)
    scores = np.zeros((int(inside.sum()), len(penalties)))
    within = sums.fold[inside]
    for left_out in training:
        others = [each for each in training if each != left_out]
        held = within == left_out
        scores[held] = sums.values[sums.fold == left_out] @ sums.weights(others, penalties)
    second, nobody = sums.is_second[inside], np.zeros(len(within), dtype=np.int64)
    areas = [area_within(column, second, within, nobody).value for column in scores.T]
    return penalties[int(np.nanargmax(areas))] if np.isfinite(areas).any() else penalties[0]


class _FoldSums:
    """Hold per fold and kind: the number of texts, the sum of their values, and of their
    products."""

    def __init__(self, values: Floats, is_second: Bools, fold: Ints) -> None:
        self.values, self.is_second, self.fold = values, is_second, fold
        self.folds = [int(place) for place in np.unique(fold)]
        self._sums = {
            (place, kind): _sums(values[(fold == place) & (is_second == kind)])
            for place in self.folds
            for kind in (False, True)
        }

    def weights(self, folds: Sequence[int], penalties: Sequence[float]) -> Floats:
        """Return weights (features, penalties) of the fits to these folds, with equal weight of
        both kinds.

        Zeros if one kind is missing.
        """
        counts, totals, products = [], [], []
        for kind in (False, True):
            parts = [self._sums[place, kind] for place in folds]
            counts.append(sum(part[0] for part in parts))
            totals.append(np.sum([part[1] for part in parts], axis=0))
            products.append(np.sum([part[2] for part in parts], axis=0))
        width = self.values.shape[1]
        if not all(counts):
            return np.zeros((width, len(penalties)))
        first, second = (total / count for total, count in zip(totals, counts, strict=True))
        centre = (first + second) / 2
        spread = sum(p / (2 * n) for p, n in zip(products, counts, strict=True))
        spread = spread - np.outer(centre, centre)
        scale = float(np.trace(spread)) / width or 1.0
        own, axes = np.linalg.eigh(spread)
        towards = axes.T @ (second - first)
        return np.stack(
            [axes @ (towards / (np.maximum(own, 0.0) + each * scale)) for each in penalties], axis=1
        )


def _sums(values: Floats) -> tuple[int, Floats, Floats]:
    return len(values), values.sum(axis=0), values.T @ values


def swapped_areas(
    values: Floats,
    is_second: Bools,
    source: Ints,
    fold: Ints,
    *,
    penalty: float,
    n: int = 200,
    seed: int = 0,
) -> Floats:
    """Return ``n`` cross-validated AUROCs under the null hypothesis.

    The two kinds are swapped in each source with probability 1/2, and all models are refitted.
    Swapping sources as a whole keeps the dependence within them. Overlapping training folds are
    included, unlike in the variance by source (Ojala and Garriga 2010, JMLR 11). ``penalty`` is
    that of ``fit_logistic``, whose Hessian at 0 is a quarter of the products.
    """
    keys, number = np.unique(source, return_inverse=True)
    swaps = np.random.default_rng(seed).integers(0, 2, size=(n, len(keys))).astype(np.bool_)
    sign = np.where(is_second, 0.5, -0.5)
    won, pairs = np.zeros(n), np.zeros(n)
    for place in np.unique(fold):
        held = fold == place
        spread = values[~held].std(axis=0)
        scaled = (values - values[~held].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        pull = np.zeros((len(keys), values.shape[1]))
        np.add.at(pull, number[~held], scaled[~held] * sign[~held, None])
        products = scaled[~held].T @ scaled[~held] / 4 + penalty * np.eye(values.shape[1])
        weights = np.linalg.solve(products, (np.where(swaps, -1.0, 1.0) @ pull).T)
        scores = scaled[held] @ weights
        second = is_second[held][:, None] ^ swaps[:, number[held]].T
        above, of = _ranked(scores, second)
        won, pairs = won + above, pairs + of
    return np.asarray(np.divide(won, pairs, out=np.full(n, np.nan), where=pairs > 0))


def _ranked(scores: Floats, second: Bools) -> tuple[Floats, Floats]:
    """Return by column: concordant pairs (ties by their order) and all pairs."""
    ranks = np.argsort(np.argsort(scores, axis=0, kind="stable"), axis=0, kind="stable") + 1.0
    n_second = second.sum(axis=0)
    above = (ranks * second).sum(axis=0) - n_second * (n_second + 1) / 2
    return above, n_second * (len(scores) - n_second)


# Removal of texts with artifacts, and evaluation of the rest on held-out sources.

Floats = NDArray[np.float64]


Ints = NDArray[np.int64]


Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Sifted:
    """Hold the result of filtering.

    ``kept`` (texts) is False for removed texts. ``held_out`` (texts) marks the evaluation sources,
    which did not train the filter. ``before`` and ``after`` are AUROCs on these, by separate
    models. ``rounds`` is the number of filter rounds. ``reached``: ``after`` is at most the target.
    If no round reaches it, the nearest one is returned: removing too many texts makes the kinds
    separable again, with reversed sign.
    """

    kept: Bools
    held_out: Bools
    before: Area
    after: Area
    rounds: int
    reached: bool


def filter_artifacts(
    values: Floats,
    is_second: Bools,
    source: Ints,
    *,
    target: float = 0.55,
    held_share: float = 0.3,
    step: float = 0.05,
    most: float = 0.5,
    penalty: float = 10.0,
) -> Sifted:
    """Remove texts (of ``values``, texts by features) until the AUROC is at most ``target``.

    At most the share ``most`` is removed. Models trained on most of the sources score each text out
    of source. In each round the share ``step`` of each kind with the highest scores is removed, in
    all sources. Filtering stops when new models on the held-out sources reach the target; these
    sources only decide when to stop. Raises ValueError with fewer than four sources: two for
    training, two for evaluation.
    """
    if len(np.unique(source)) < 4:
        raise ValueError("filtering needs four sources: two for training and two for evaluation")
    held_out = _held_out(source, held_share)
    scores = _told(values, is_second, source, ~held_out, penalty)
    before = _area(values, is_second, source, held_out, penalty)
    best = Sifted(
        np.ones(len(source), dtype=np.bool_), held_out, before, before, 0, _is_fair(before, target)
    )
    for rounds in range(1, int(most / step + 1e-9) + 1):
        if best.reached:
            break
        kept = _without_surest(scores, is_second, ~held_out, rounds * step)
        after = _area(values, is_second, source, held_out & kept, penalty)
        if not after.value >= best.after.value:
            best = Sifted(kept, held_out, before, after, rounds, _is_fair(after, target))
    return best


def _is_fair(area: Area, target: float) -> bool:
    """Return True if the target is reached, or no pair is left."""
    return not area.pairs or area.value <= target


def _held_out(source: Ints, share: float) -> Bools:
    """Select every text of about ``share`` of the sources: at least two, and at least two left."""
    keys = np.unique(source)
    n_folds = min(max(2, round(1.0 / share)), len(keys) // 2)
    fold = folds_by_source(source, n_folds)
    return np.asarray(fold == fold.max())


def _told(
    values: Floats, is_second: Bools, source: Ints, learning: Bools, penalty: float
) -> Floats:
    """Return the out-of-source score of each text for its own kind (texts)."""
    model = fit_logistic(values[learning], is_second[learning], penalty=penalty)
    scores = model.score(values)
    fold = folds_by_source(source[learning])
    scores[learning] = cross_fit(
        values[learning], is_second[learning], fold, penalty=penalty
    ).scores
    return np.where(is_second, scores, -scores)


def _without_surest(told: Floats, is_second: Bools, learning: Bools, share: float) -> Bools:
    """Return a mask of texts below the threshold of their kind.

    The threshold is the score that ``share`` of the training texts exceed.
    """
    kept = np.ones(len(told), dtype=np.bool_)
    for kind in (is_second, ~is_second):
        if (kind & learning).any():
            bound = np.quantile(told[kind & learning], 1.0 - share)
            kept &= ~(kind & (told > bound))
    return kept


def _area(values: Floats, is_second: Bools, source: Ints, chosen: Bools, penalty: float) -> Area:
    if not chosen.any():
        return Area(float("nan"), float("nan"), float("nan"), 0, 0)
    fold = folds_by_source(source[chosen])
    fit = cross_fit(values[chosen], is_second[chosen], fold, penalty=penalty)
    return area_within(fit.scores, is_second[chosen], fold, source[chosen])


# Surface features of texts that need no knowledge: lengths, punctuation, cue words.
#
# False statements that are longer, more absolute or more often negated than true ones can be
# detected without knowledge of the subject.

_WORD = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*|[0-9]+|[\u3400-\u9fff]")


_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")


_SENTENCE = re.compile(r"[.!?。！？]+(?:\s|$|(?<=[。！？]))")


_LISTS: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "negations": ("not", "no", "never", "none", "neither", "nor", "without", "cannot",
                  "不", "没", "無", "无", "非", "未"),
    "absolutes": ("always", "all", "every", "only", "must", "entirely", "solely", "exclusively",
                  "completely", "any", "完全", "总是", "所有", "只", "必须", "唯一", "一切"),
    "hedges": ("may", "might", "can", "often", "usually", "generally", "some", "sometimes",
               "typically", "probably", "可能", "通常", "往往", "一般", "有时"),
    "causal words": ("because", "therefore", "thus", "causes", "caused", "leads", "due", "hence",
                     "result", "因为", "因此", "导致", "所以", "由于"),
    "contrasts": ("but", "however", "although", "whereas", "rather", "instead", "despite",
                  "但", "然而", "虽然", "而是", "却"),
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """Hold named columns: ``values`` (texts, features), finite."""

    names: tuple[str, ...]
    values: Floats

    def beside(self, other: FeatureTable) -> FeatureTable:
        """Return a table with the columns of both, for the same texts."""
        return FeatureTable(
            (*self.names, *other.names), np.concatenate([self.values, other.values], axis=1)
        )


def surface_features(texts: Sequence[str]) -> FeatureTable:
    """Return lengths, punctuation counts, and frequencies of five word kinds per hundred words.

    For English and Chinese, shape (texts, features).
    """
    measures = _measures()
    rows = [[measure(_Seen.of(text)) for measure in measures.values()] for text in texts]
    values = np.array(rows, dtype=np.float64).reshape(len(texts), len(measures))
    return FeatureTable(tuple(measures), values)


def word_features(texts: Sequence[str], *, most: int = 400, least: int = 5) -> FeatureTable:
    """Return whether each of the ``most`` common words occurs in each text (0 or 1).

    Words are lower-case words of letters, in Chinese character bigrams, with at least ``least``
    texts each.
    """
    held = [frozenset(_terms(text)) for text in texts]
    counts = Counter(term for terms in held for term in terms)
    usable = [(term, n) for term, n in counts.items() if least <= n < len(texts)]
    chosen = [term for term, _n in sorted(usable, key=lambda each: (-each[1], each[0]))[:most]]
    values = np.array([[term in terms for term in chosen] for terms in held], dtype=np.float64)
    names = tuple(f'the word "{term}"' for term in chosen)
    return FeatureTable(names, values.reshape(len(texts), len(chosen)))


@dataclass(frozen=True, slots=True)
class _Seen:
    text: str
    words: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> _Seen:
        return cls(text, tuple(word.lower() for word in _WORD.findall(text)))

    def a_hundred(self, count: float) -> float:
        return 100.0 * count / max(1, len(self.words))


def _measures() -> dict[str, Callable[[_Seen], float]]:
    measures: dict[str, Callable[[_Seen], float]] = {
        "length in characters": lambda seen: float(len(seen.text)),
        "length in words": lambda seen: float(len(seen.words)),
        "sentences": lambda seen: float(len(_SENTENCE.findall(seen.text)) or 1),
        "letters a word": lambda seen: _mean([len(word) for word in seen.words]),
        "different words": lambda seen: len(set(seen.words)) / max(1, len(seen.words)),
        "numbers": lambda seen: seen.a_hundred(len(_NUMBER.findall(seen.text))),
        "commas": lambda seen: seen.a_hundred(sum(map(seen.text.count, ",，、"))),
        "brackets": lambda seen: seen.a_hundred(sum(map(seen.text.count, "(（[【"))),
        "quotation marks": lambda seen: seen.a_hundred(sum(map(seen.text.count, "\"'“”‘’「」"))),
        "colons and semicolons": lambda seen: seen.a_hundred(sum(map(seen.text.count, ":;：；"))),
        "dashes": lambda seen: seen.a_hundred(sum(map(seen.text.count, "–—"))),
        "capital letters": lambda seen: seen.a_hundred(sum(map(str.isupper, seen.text))),
        "ends in a full stop": lambda seen: float(seen.text.rstrip().endswith((".", "。"))),
    }
    for kind, listed in _LISTS.items():
        measures[kind] = _counter(listed)
    return measures


def _counter(listed: tuple[str, ...]) -> Callable[[_Seen], float]:
    plain = frozenset(word for word in listed if word.isascii())
    other = tuple(word for word in listed if not word.isascii())

    def count(seen: _Seen) -> float:
        found = sum(word in plain for word in seen.words)
        return seen.a_hundred(found + sum(map(seen.text.count, other)))

    return count


def _mean(numbers: Sequence[int]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0


def _terms(text: str) -> list[str]:
    words = _WORD.findall(text.lower())
    latin = [word for word in words if word[0] < "\u3400"]
    han = re.findall(r"[\u3400-\u9fff]{2,}", text)
    return latin + [run[at : at + 2] for run in han for at in range(len(run) - 1)]


# Text embeddings as a third view of an artifact audit, and features that correlate with their
# scores.

_LEAST = 0.2  # a weaker correlation is uninformative


@dataclass(frozen=True, slots=True)
class Companion:
    """Hold a counted column that correlates with a classifier's scores (Spearman)."""

    name: str
    correlation: float


def principal_columns(embeddings: Floats, n: int = 50) -> FeatureTable:
    """Return the first ``n`` principal components of embeddings (texts, dimensions), unsupervised.

    Fewer if there are not as many.
    """
    centred = embeddings - embeddings.mean(axis=0)
    own, axes = np.linalg.eigh(centred.T @ centred)
    order = np.argsort(-own, kind="stable")[: min(n, len(own), max(1, len(embeddings) - 1))]
    chosen = axes[:, order]
    chosen = chosen * np.where(chosen[np.abs(chosen).argmax(axis=0), range(len(order))] < 0, -1, 1)
    names = tuple(f"embedding, component {place + 1}" for place in range(len(order)))
    return FeatureTable(names, centred @ chosen)


def companions(
    scores: Floats, fold: Ints, counted: FeatureTable, *, most: int = 3
) -> tuple[Companion, ...]:
    """Return counted columns that correlate with ``scores`` (texts), the strongest first.

    The scores come from a classifier without interpretable features. Rank correlations are averaged
    over folds; columns below 0.2 are left out.
    """
    if not counted.names or not len(scores):
        return ()
    ranked = _ranks_within(scores[:, None], fold)[:, 0]
    columns = _ranks_within(counted.values, fold)
    spread = np.sqrt((columns**2).sum(axis=0) * (ranked**2).sum())
    found = np.divide(ranked @ columns, spread, out=np.zeros(len(spread)), where=spread > 0)
    order = np.argsort(-np.abs(found), kind="stable")[:most]
    return tuple(
        Companion(counted.names[at], float(found[at])) for at in order if abs(found[at]) >= _LEAST
    )


def _ranks_within(values: Floats, fold: Ints) -> Floats:
    """Return the ranks of each column within its fold, centered."""
    ranks = np.zeros(values.shape)
    for place in np.unique(fold):
        inside = fold == place
        own = stats.rankdata(values[inside], axis=0)
        ranks[inside] = (own - own.mean(axis=0)) / len(own)
    return ranks


# The artifact audit: can the two kinds be classified without knowledge of the subject?

EMBEDDINGS = "embeddings"  # the name of their classifier


_FEWEST = 5  # minimum texts per kind: a single text makes every column separate perfectly


@dataclass(frozen=True, slots=True)
class FeatureLeak:
    """Hold one column with a significant AUROC on its own.

    The CI of ``area`` is Bonferroni-corrected over all columns. Includes the column's mean in both
    kinds.
    """

    name: str
    area: Area
    mean_first: float
    mean_second: float


@dataclass(frozen=True, slots=True)
class Artifact:
    """Hold the result of an artifact audit.

    ``areas`` are the AUROCs of each classifier, by name, and of ``all`` columns together. ``leaks``
    are the columns whose CI excludes 0.5, the strongest first. ``companions`` are counted columns
    that correlate with the embedding classifier's scores. There are ``n_first`` and ``n_second``
    texts of ``sources`` sources in ``folds`` folds. ``flags`` are limitations.
    """

    areas: Mapping[str, Area]
    leaks: tuple[FeatureLeak, ...]
    n_first: int
    n_second: int
    sources: int
    folds: int
    flags: tuple[str, ...]
    companions: tuple[Companion, ...] = ()

    @property
    def worst(self) -> str:
        """Return the classifier with the highest lower CI end; "" without any.

        A higher AUROC with a wide CI is weaker evidence.
        """
        known = {
            name: (np.nan_to_num(area.low), area.value)  # no CI with one source per fold
            for name, area in self.areas.items()
            if area.pairs
        }
        return max(known, key=known.__getitem__, default="")


def audit_artifact(
    tables: Mapping[str, FeatureTable],
    is_second: Bools,
    source: Ints,
    *,
    embeddings: Floats | None = None,
    n_folds: int = 5,
    penalty: float = 10.0,
    confidence: float = 0.95,
) -> Artifact:
    """Cross-validate classifiers of ``is_second`` (texts) on ``tables`` (texts by features).

    No ``source`` (texts) is in both training and test data. ``embeddings`` (texts, dimensions) have
    a separate ridge classifier with a nested choice of penalty; their principal components are also
    part of ``all`` columns. No CI is narrower than the spread of AUROCs with kinds swapped by
    source. Guessing gives 0.5. With one source there is no validation, and no AUROC.
    """
    fold = folds_by_source(source, n_folds)
    together = _together(tables)
    sources = len(np.unique(source))
    areas = {
        name: _cross_area(table.values, is_second, source, fold, penalty, confidence)
        for name, table in tables.items()
    }
    told = None
    if embeddings is not None and sources > 1:
        told = cross_ridge(embeddings, is_second, fold)
        area = area_within(told.scores, is_second, fold, source, confidence=confidence)
        chance = _spread_by_chance(embeddings, is_second, source, fold, penalty)
        areas[EMBEDDINGS] = widened(area, chance, confidence=confidence)
    if len(areas) > 1:
        values = together.values
        if embeddings is not None:
            values = together.beside(principal_columns(embeddings)).values
        areas["all"] = _cross_area(values, is_second, source, fold, penalty, confidence)
    return Artifact(
        areas=areas,
        leaks=_leaks(together, is_second, source, confidence),
        n_first=int((~is_second).sum()),
        n_second=int(is_second.sum()),
        sources=sources,
        folds=len(np.unique(fold)) if sources > 1 else 0,
        flags=tuple(_flags(is_second, sources)),
        companions=() if told is None else companions(told.scores, fold, together),
    )


def _cross_area(
    values: Floats, is_second: Bools, source: Ints, fold: Ints, penalty: float, confidence: float
) -> Area:
    if len(np.unique(fold)) < 2:
        nothing = float("nan")
        return Area(nothing, nothing, nothing, 0, len(np.unique(source)))
    fit = cross_fit(values, is_second, fold, penalty=penalty)
    area = area_within(fit.scores, is_second, fit.fold, source, confidence=confidence)
    chance = _spread_by_chance(values, is_second, source, fold, penalty)
    return widened(area, chance, confidence=confidence)


def _spread_by_chance(
    values: Floats, is_second: Bools, source: Ints, fold: Ints, penalty: float
) -> float:
    if is_second.all() or not is_second.any():
        return float("nan")
    return float(np.std(swapped_areas(values, is_second, source, fold, penalty=penalty)))


def _leaks(
    table: FeatureTable, is_second: Bools, source: Ints, confidence: float
) -> tuple[FeatureLeak, ...]:
    if min(is_second.sum(), (~is_second).sum()) < _FEWEST or not table.names:
        return ()
    level = 1.0 - (1.0 - confidence) / len(table.names)
    one = np.zeros(len(is_second), dtype=np.int64)  # raw columns are compared over all texts
    found = []
    for name, column in zip(table.names, table.values.T, strict=True):
        area = area_within(column, is_second, one, source, confidence=level)
        if area.low > 0.5 or area.high < 0.5:
            means = float(column[~is_second].mean()), float(column[is_second].mean())
            found.append(FeatureLeak(name, area, *means))
    return tuple(sorted(found, key=lambda leak: (-abs(leak.area.value - 0.5), leak.name)))


def _together(tables: Mapping[str, FeatureTable]) -> FeatureTable:
    first, *others = tables.values()
    for other in others:
        first = first.beside(other)
    return first


def _flags(is_second: Bools, sources: int) -> list[str]:
    flags = []
    if sources < 2:
        flags.append("one source, or sources of one book: no cross-validation possible")
    elif sources < 10:
        flags.append("fewer than ten sources: the interval is approximate")
    if min(int(is_second.sum()), int((~is_second).sum())) < 50:
        flags.append("fewer than fifty texts of a kind")
    return flags


_CONFIDENCE = 0.95


_POPULATION = "other sources like these"


class Leak(Struct, frozen=True, kw_only=True):
    """Hold a predictive feature: its AUROC for the second kind (0.5: uninformative) and both
    means."""

    feature: str
    area: Estimate
    mean_first: float
    mean_second: float


class Dropped(Struct, frozen=True, kw_only=True):
    """Hold the result of filtering: AUROCs on ``held_out`` sources before and after.

    ``rows`` are the rows to exclude, with texts; ``target`` is the target AUROC.
    """

    target: float
    before: Estimate
    after: Estimate
    reached: bool
    held_out: int
    rows: tuple[tuple[bytes, str], ...]


class Checked(Struct, frozen=True, kw_only=True):
    """Hold the artifact audit of a bank or form.

    ``areas`` are the AUROCs of each classifier; ``worst`` names the strongest. ``companions`` are
    counted features with rank correlations to the scores of the ``embedding_model``.
    """

    target: str
    kinds: tuple[str, str]
    counts: tuple[int, int]
    sources: int
    folds: int
    areas: dict[str, Estimate]
    worst: str
    leaks: tuple[Leak, ...]
    flags: tuple[str, ...]
    embedding_model: str = ""
    companions: tuple[tuple[str, float], ...] = ()
    dropped: Dropped | None = None


class ToldRow(Struct, frozen=True, kw_only=True):
    """Hold a fact to exclude, as a row of flagged items for ``exclude --from``.

    A person may change its ``decision``.
    """

    target: str
    text: str
    action: str = "exclude"
    decision: str = "exclude"
    why: str = "annotation artifact"


def check_target(
    session: Session,
    target: Target,
    *,
    drop_to: float | None = None,
    embedding_model: EmbeddingModel | None = None,
) -> Checked:
    """Audit a bank's false statements, or a form's correct options, for artifacts.

    Can they be predicted without knowledge, also by an ``embedding_model``? With ``drop_to`` (an
    AUROC, 0.5 to 1), lists the facts of a bank to exclude until held-out sources show no more than
    that.

    Raises BadUsage if the method has no two kinds of texts, if fewer than four sources are left to
    filter, and for filtering of items.
    """
    found = session.find(target, "bank", "form")
    method = method_of(session, found)
    contrasting = method.contrasts
    if contrasting is None:
        raise BadUsage(f"{method.name} has no two kinds of texts to check for artifacts")
    nature: Literal["fact", "item"] = "fact" if found.kind == "bank" else "item"
    if drop_to is not None and nature == "item":
        raise BadUsage(
            "options cannot be excluded one by one, so --drop-to is for banks",
            hint="check the bank that the form was composed from",
        )
    contrasts = _contrasts(session.store, contrasting, found)
    texts = [contrast.text for contrast in contrasts]
    is_second = np.array([contrast.is_second for contrast in contrasts], dtype=np.bool_)
    source = _codes([contrast.source for contrast in contrasts])
    tables = {"lengths and signs": surface_features(texts), "words": word_features(texts)}
    vectors = None if embedding_model is None else embedding_model.embed(texts)
    audit = audit_artifact(tables, is_second, source, embeddings=vectors, confidence=_CONFIDENCE)
    dropped = None
    if drop_to is not None:
        if vectors is not None:
            tables["components"] = principal_columns(vectors)
        dropped = _dropped(tables, contrasts, is_second, source, drop_to)
    checked = _checked(found, contrasting.kinds[nature], audit, dropped)
    return structs.replace(
        checked, embedding_model="" if embedding_model is None else embedding_model.name
    )


def _contrasts(store: Store, contrasts: Contrasts, found: Found) -> list[Contrast]:
    """Return the texts of a bank's facts in force, or of a form's items."""
    if found.kind == "bank":
        whole = store.knowledge.bank(found.id)
        return list(contrasts.of_facts(fewer_facts(whole, excluded_facts(store, whole)).facts()))
    pages = store.items.pages(found.id)
    return list(contrasts.of_items(stored.loaded for page in pages for stored in page))


def _codes(names: Sequence[str]) -> NDArray[np.int64]:
    codes: dict[str, int] = {}
    return np.array([codes.setdefault(name, len(codes)) for name in names], dtype=np.int64)


def _dropped(
    tables: dict[str, FeatureTable],
    contrasts: Sequence[Contrast],
    is_second: NDArray[np.bool_],
    source: NDArray[np.int64],
    target: float,
) -> Dropped:
    values = np.concatenate([table.values for table in tables.values()], axis=1)
    try:
        sifted = filter_artifacts(values, is_second, source, target=target)
    except ValueError as cause:
        raise BadUsage(f"cannot filter: {cause}") from None
    gone = np.flatnonzero(~sifted.kept).tolist()
    return Dropped(
        target=target,
        before=_estimate(sifted.before),
        after=_estimate(sifted.after),
        reached=sifted.reached,
        held_out=len(np.unique(source[sifted.held_out])),
        rows=tuple((contrasts[place].row, contrasts[place].text) for place in gone),
    )


def _checked(
    found: Found, kinds: tuple[str, str], audit: Artifact, dropped: Dropped | None
) -> Checked:
    return Checked(
        target=f"{found.kind}:{short(found.id)}",
        kinds=kinds,
        counts=(audit.n_first, audit.n_second),
        sources=audit.sources,
        folds=audit.folds,
        areas={name: _estimate(area) for name, area in audit.areas.items()},
        worst=audit.worst,
        leaks=tuple(
            Leak(
                feature=leak.name,
                area=_estimate(leak.area),
                mean_first=leak.mean_first,
                mean_second=leak.mean_second,
            )
            for leak in audit.leaks
        ),
        flags=audit.flags,
        companions=tuple((each.name, each.correlation) for each in audit.companions),
        dropped=dropped,
    )


def _estimate(area: Area) -> Estimate:
    return Estimate(
        value=float(area.value),
        n=area.pairs,
        low=float(area.low),
        high=float(area.high),
        level=_CONFIDENCE,
        population=_POPULATION,
        made_by=(
            "share of concordant pairs (AUROC); Obuchowski's variance by source, at least that "
            "of AUROCs with kinds swapped by source"
        ),
        resampled="sources",
    )


def write_told(session: Session, checked: Checked, path: Path) -> int:
    """Write the facts to exclude as flagged items for ``exclude --from``; returns their number."""
    dropped = checked.dropped.rows if checked.dropped else ()
    rows = [ToldRow(target=f"fact:{short(identity)}", text=text) for identity, text in dropped]
    return write_flagged_items_file(path, [structs.asdict(row) for row in rows])
