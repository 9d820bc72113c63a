"""Pools whose topics, duplicates and off-topic questions are known.

Texts are drawn word by word from vocabularies of topics, and their vectors are sums of random word
vectors. Readers and experts make mistakes at stated rates. Nothing is computed from the features of
the scorer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from proofstone.methods.kina.candidates import Candidate
from proofstone.methods.kina.centrality.labels import ItemLabel, PairLabel
from proofstone.methods.kina.centrality.prototype import Lists, Prototype
from proofstone.methods.kina.centrality.representatives import Discipline
from proofstone.methods.kina.centrality.signature import OTHER, Described, Signature
from proofstone.methods.kina.centrality.support import Pool
from proofstone.methods.kina.payloads import Question
from proofstone.records.knowledge import Stratum

TOPICS = 8
_WORDS, _COMMON, _LENGTH = 40, 200, 40
_READER, _EXPERT = 0.85, 0.95  # how often they are right


@dataclass(frozen=True)
class Planted:
    """A discipline with the truth about each place: topic (-1: off topic), and what it copies."""

    discipline: Discipline
    topics: np.ndarray
    copies: dict[int, int]
    difficulty: np.ndarray


def planted(
    seed: int = 0,
    *,
    n: int = 240,
    off_topic: float = 0.2,
    copied: float = 0.1,
    size: int = 16,
    n_items: int = 140,
    n_pairs: int = 80,
    quotas: dict[str, tuple[int, int]] | None = None,
) -> Planted:
    """Return a pool of n questions; two anchors a topic."""
    rng = np.random.default_rng(seed)
    topics = np.where(rng.random(n) < off_topic, -1, rng.integers(TOPICS, size=n))
    texts, copy_of = [], dict[int, int]()
    for at in range(n):
        if at > n // 2 and rng.random() < copied:
            copy_of[at] = int(rng.integers(n // 2))
            topics[at] = topics[copy_of[at]]
            words = [
                word if rng.random() < 0.9 else _word(rng, topics[at])
                for word in texts[copy_of[at]]
            ]
        else:
            words = [_word(rng, topics[at]) for _place in range(_LENGTH)]
        texts.append(words)
    rows = [
        _described(rng, words, int(topic), at)
        for at, (words, topic) in enumerate(zip(texts, topics, strict=True))
    ]
    ids = [row.candidate.fact().id.hex() for row in rows]
    order = sorted(range(n), key=ids.__getitem__)
    place = {old: new for new, old in enumerate(order)}
    copies = {place[one]: place[other] for one, other in copy_of.items()}
    topics = topics[order]
    rows, ids = [rows[at] for at in order], [ids[at] for at in order]
    anchors = np.array(
        sorted(at for topic in range(TOPICS) for at in np.flatnonzero(topics == topic)[:2]),
        dtype=np.int64,
    )
    prototype = Prototype(
        discipline="Science",
        lists=Lists(
            methods=tuple(f"method {topic // 2}" for topic in range(0, TOPICS, 2)),
            principles=tuple(f"principle {topic}" for topic in range(TOPICS)),
            answer_types=("number", "term"),
            constraints=("in a vacuum", "at rest"),
            anchors=tuple(ids[at] for at in anchors),
        ),
        size=size, strata={}, quotas=quotas or {}, anchor_weights={}, n_experts=2,
        agreement={"methods": 0.75},
    )  # fmt: skip
    pool = Pool(tuple(ids), tuple(rows), _vectors([texts[at] for at in order]), prototype, anchors)
    discipline = Discipline(
        pool=pool,
        items=tuple(_item_labels(rng, pool, topics, n_items)),
        pairs=tuple(_pair_labels(rng, pool, topics, copies, n_pairs)),
        size=size,
    )
    wrong = np.array([row.wrong for row in rows], dtype=np.float64)
    return Planted(discipline, topics, copies, wrong)


def _word(rng: Any, topic: int) -> str:
    if rng.random() < 0.4:
        return f"common{rng.integers(_COMMON)}"
    if topic < 0:
        return f"other{rng.integers(_WORDS * TOPICS)}"
    return f"topic{topic}word{rng.integers(_WORDS)}"


def _described(rng: Any, words: list[str], topic: int, number: int) -> Described:
    seen = topic if rng.random() < _READER else int(rng.integers(-1, TOPICS))
    principle = f"principle {seen}" if seen >= 0 else OTHER
    method = f"method {seen // 2}" if seen >= 0 else OTHER
    central = np.clip(rng.normal(7 if topic >= 0 else 3.5, 1.5), 0, 10)
    question = Question(
        stem=" ".join(words), answer_key=0, texts=tuple(str(place) for place in range(10)),
        source=f"book {rng.integers(20)}",
    )  # fmt: skip
    stratum = Stratum(
        discipline="Science", field=f"field {number % 3}", subfield=f"part {number % 6}"
    )
    return Described(
        candidate=Candidate(question=question, language="en", stratum=stratum),
        signature=Signature(
            method=method, principle=principle, answer_type=str(rng.choice(["number", "term"])),
            constraints=("at rest",) if rng.random() < 0.3 else (),
        ),
        alignments=(round(float(central)) / 10,),
        wrong=float(rng.integers(2, 6)) / 5,
    )  # fmt: skip


def _vectors(texts: list[list[str]]) -> np.ndarray:
    """Return unit vectors: sums of one random vector per word."""
    rng = np.random.default_rng(99)
    word = {each: rng.normal(size=64) for each in sorted({w for text in texts for w in text})}
    made = np.array([sum(word[each] for each in text) for text in texts])
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def _says(rng: Any, truth: bool) -> bool:
    return truth if rng.random() < _EXPERT else not truth


def _item_labels(rng: Any, pool: Pool, topics: np.ndarray, n: int) -> list[ItemLabel]:
    chosen = rng.choice(len(pool.ids), size=min(n, len(pool.ids)), replace=False)
    found = []
    for number, at in enumerate(chosen.tolist()):
        experts = "AB" if number % 4 == 0 else "A"
        found += [ItemLabel(pool.ids[at], e, _says(rng, bool(topics[at] >= 0))) for e in experts]
    return found


def _pair_labels(
    rng: Any, pool: Pool, topics: np.ndarray, copies: dict[int, int], n: int
) -> list[PairLabel]:
    pairs = list(copies.items())[: n // 4]
    for at in rng.choice(len(pool.ids), size=n).tolist():
        same = np.flatnonzero((topics == topics[at]) & (np.arange(len(topics)) != at))
        among = same if rng.random() < 0.5 and len(same) else np.arange(len(topics))
        other = int(rng.choice(among))
        if other != at and (at, other) not in pairs and (other, at) not in pairs:
            pairs.append((at, other))
    found = []
    for number, (one, other) in enumerate(pairs[:n]):
        first, second = sorted((pool.ids[one], pool.ids[other]))
        support = bool(topics[one] == topics[other] and topics[one] >= 0)
        duplicate = copies.get(one) == other or copies.get(other) == one
        found += [
            PairLabel(first, second, expert, _says(rng, support), _says(rng, duplicate))
            for expert in ("AB" if number % 4 == 0 else "A")
        ]
    return found
