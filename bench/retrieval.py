"""Time near-duplicate search in 100,000 vectors, and BM25 over 100,000 passages.

Peers are all-pairs comparison, faiss-cpu's IVF (MIT) and bm25s. A missing peer is reported.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

import numpy as np
from measures import Line, machine, print_lines, timed
from numpy.typing import NDArray

from proofstone.search.bm25 import Bm25, Postings
from proofstone.search.near_duplicates import close_pairs

N, DIMENSIONS, TOPICS, LEAST = 100_000, 512, 200, 0.8
N_FIRST = 80_000  # the others are near one of these: cosines of 0.7 to 0.95
PROBED = 8
WORDS, QUERIES, TERMS, K = 60_000, 2_000, 8, 10
PEER_QUERIES = 200

Floats = NDArray[np.float32]


def texts_as_vectors() -> Floats:
    """Return vectors in topics whose texts share a third to a half, with near-misses and
    duplicates."""
    rng = np.random.default_rng(1)
    topics = unit(rng.standard_normal((TOPICS, DIMENSIONS)))
    share = rng.uniform(0.4, 0.75, (N_FIRST, 1))
    own = unit(rng.standard_normal((N_FIRST, DIMENSIONS)))
    first = unit(share * topics[rng.integers(0, TOPICS, N_FIRST)] + np.sqrt(1 - share**2) * own)
    near = first[rng.integers(0, N_FIRST, N - N_FIRST)]
    away = rng.standard_normal(near.shape)
    away = unit(away - (away * near).sum(axis=1, keepdims=True) * near)
    cosine = rng.uniform(0.7, 0.95, (len(near), 1))
    found = np.concatenate([first, cosine * near + np.sqrt(1 - cosine**2) * away])
    return np.ascontiguousarray(found, dtype=np.float32)


def unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    made: NDArray[np.float64] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return made


def all_compared(vectors: Floats, rows: NDArray[np.int64]) -> set[tuple[int, int]]:
    """Return the pairs of these rows with any other, by exhaustive comparison."""
    found = set()
    for part in np.array_split(rows, max(1, len(rows) // 1000)):
        near = vectors[part] @ vectors.T
        for at, other in zip(*np.nonzero(near >= LEAST), strict=True):
            one = int(part[at])
            if one != other:
                found.add((min(one, int(other)), max(one, int(other))))
    return found


def by_faiss(vectors: Floats) -> set[tuple[int, int]]:
    """Return the pairs found by range search in eight lists of faiss's inverted file."""
    import faiss

    n_lists = int(4 * np.sqrt(len(vectors)))
    index = faiss.IndexIVFFlat(
        faiss.IndexFlatIP(DIMENSIONS), DIMENSIONS, n_lists, faiss.METRIC_INNER_PRODUCT
    )
    index.train(vectors[: 40 * n_lists])
    index.add(vectors)
    index.nprobe = PROBED
    limits, _near, others = index.range_search(vectors, LEAST)
    rows = np.repeat(np.arange(len(vectors)), np.diff(limits).astype(np.int64))
    pairs = np.stack([np.minimum(rows, others), np.maximum(rows, others)], axis=1)
    return {(int(one), int(other)) for one, other in pairs if one != other}


def near_duplicates() -> bool:
    vectors = texts_as_vectors()
    with timed() as ours:
        found = {(pair.one, pair.other) for pair in close_pairs(vectors, least=LEAST)}
    with timed() as brute:
        true = all_compared(vectors, np.arange(N))
    recall = len(found & true) / len(true)
    lines = [
        Line("ours", f"{ours.wall_s:.1f} s"),
        Line("recall", f"{recall:.5f}", "0.999 or more", recall >= 0.999),
        Line("all pairs compared", f"{brute.wall_s:.1f} s"),
    ]
    if find_spec("faiss") is None:
        lines.append(Line("faiss-cpu", "not installed", "pip install faiss-cpu, for its line"))
    else:
        with timed() as peer:
            theirs = by_faiss(vectors)
        said = f"{peer.wall_s:.1f} s, recall {len(theirs & true) / len(true):.5f}"
        lines.append(Line(f"faiss-cpu IVF, nprobe {PROBED}", said))
        ratio = ours.wall_s / peer.wall_s
        lines.append(Line("times as long as faiss", f"{ratio:.2f}", "1 or less", ratio <= 1))
    title = f"near-duplicates at {LEAST} among {N:,} x {DIMENSIONS}, {len(true):,} pairs"
    return print_lines(title, lines)


def search_by_words() -> bool:
    """Search passages of 40 to 120 words with a Zipf distribution."""
    rng = np.random.default_rng(0)
    reach = np.cumsum(1 / np.arange(1, WORDS + 1))
    lengths = rng.integers(40, 120, N)
    drawn = np.searchsorted(reach, rng.random(lengths.sum()) * reach[-1]).clip(0, WORDS - 1)
    texts = [list(map(str, part.tolist())) for part in np.split(drawn, np.cumsum(lengths)[:-1])]
    queries = [rng.choice(texts[at], TERMS).tolist() for at in rng.integers(0, N, QUERIES)]
    with timed() as made:
        index = Bm25(Postings.of(texts))
    rates = []
    for start in range(0, QUERIES, QUERIES // 4):  # the best of four: others work here too
        with timed() as ours:
            for query in queries[start : start + QUERIES // 4]:
                index.search(query, K)
        rates.append(QUERIES / 4 / ours.wall_s)
    lines = [
        Line("index made", f"{made.wall_s:.1f} s"),
        Line("ours", f"{max(rates):,.0f} queries/s", "2,000 or more", max(rates) >= 2000),
    ]
    if find_spec("bm25s") is not None:
        import bm25s

        peer = bm25s.BM25(method="lucene")
        with timed() as peer_made:
            peer.index(texts, show_progress=False)
        with timed() as theirs:
            peer.retrieve(queries[:PEER_QUERIES], k=K, show_progress=False)
        lines.append(Line("bm25s, index made", f"{peer_made.wall_s:.1f} s"))
        lines.append(Line("bm25s", f"{PEER_QUERIES / theirs.wall_s:,.0f} queries/s"))
    return print_lines(f"BM25 over {N:,} passages, queries of {TERMS} words, top {K}", lines)


if __name__ == "__main__":
    print(machine())
    sys.exit(0 if all([near_duplicates(), search_by_words()]) else 1)
