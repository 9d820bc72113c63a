"""Texts cut into chunks, found by words or meaning; those near each other; searches of the web."""

from proofstone.engines.retrieval.alike import near_duplicates
from proofstone.engines.retrieval.bm25 import Bm25
from proofstone.engines.retrieval.chunks import (
    CHUNKS_VERSION,
    LEAST_TOKENS,
    Chunk,
    Chunking,
    cut_chunks,
    tokens_by_bytes,
)
from proofstone.engines.retrieval.close_pairs import close_pairs
from proofstone.engines.retrieval.dense import DenseIndex
from proofstone.engines.retrieval.fusing import RANK_CONSTANT, fuse_ranks
from proofstone.engines.retrieval.hits import Hit, best_hits
from proofstone.engines.retrieval.index import SEARCH_WAYS, ChunkIndex, FoundChunk, SearchWay
from proofstone.engines.retrieval.pairs import NearPair, near_pairs
from proofstone.engines.retrieval.part import PART_VERSION, ChunkPlace, PartFiles, SourcePart
from proofstone.engines.retrieval.postings import Postings
from proofstone.engines.retrieval.sentence_encoder import SentenceEncoder
from proofstone.engines.retrieval.terms import (
    TERMS_VERSION,
    CutHan,
    bigrams,
    jieba_words,
    terms_of,
)
from proofstone.engines.retrieval.web_search import (
    WEB_SEARCHES,
    WebFailure,
    WebHit,
    WebRequest,
    WebSearchError,
    WebSearchName,
    read_web_hits,
    web_request,
    web_requests_for,
)

__all__ = [
    "CHUNKS_VERSION",
    "LEAST_TOKENS",
    "PART_VERSION",
    "RANK_CONSTANT",
    "SEARCH_WAYS",
    "TERMS_VERSION",
    "WEB_SEARCHES",
    "Bm25",
    "Chunk",
    "ChunkIndex",
    "ChunkPlace",
    "Chunking",
    "CutHan",
    "DenseIndex",
    "FoundChunk",
    "Hit",
    "NearPair",
    "PartFiles",
    "Postings",
    "SearchWay",
    "SentenceEncoder",
    "SourcePart",
    "WebFailure",
    "WebHit",
    "WebRequest",
    "WebSearchError",
    "WebSearchName",
    "best_hits",
    "bigrams",
    "close_pairs",
    "cut_chunks",
    "fuse_ranks",
    "jieba_words",
    "near_duplicates",
    "near_pairs",
    "read_web_hits",
    "terms_of",
    "tokens_by_bytes",
    "web_request",
    "web_requests_for",
]
