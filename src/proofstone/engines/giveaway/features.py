"""What can be seen of a text without knowing anything: lengths, signs, tell-tale words.

A falsified statement that is longer, more absolute or more negated than a true one can be told
from it by a reader who knows nothing of the subject.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

__all__ = ["FeatureTable", "surface_features", "word_features"]

Floats = NDArray[np.float64]

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
    """Named columns: ``values`` (texts, features), finite."""

    names: tuple[str, ...]
    values: Floats

    def beside(self, other: FeatureTable) -> FeatureTable:
        """Both tables' columns, side by side, for the same texts."""
        return FeatureTable(
            (*self.names, *other.names), np.concatenate([self.values, other.values], axis=1)
        )


def surface_features(texts: Sequence[str]) -> FeatureTable:
    """Lengths, counts of signs, and words of five kinds by the hundred words, in English and
    Chinese (texts, features)."""
    measures = _measures()
    rows = [[measure(_Seen.of(text)) for measure in measures.values()] for text in texts]
    values = np.array(rows, dtype=np.float64).reshape(len(texts), len(measures))
    return FeatureTable(tuple(measures), values)


def word_features(texts: Sequence[str], *, most: int = 400, least: int = 5) -> FeatureTable:
    """Whether each of the ``most`` common words stands in each text (0 or 1): words of letters in
    lower case, pairs of neighbouring characters in Chinese; only what ``least`` texts hold."""
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
