"""Texts about entities cut into passages, each of them known as it stands, and to be asked of."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from proofstone.engines.ingest import guess_language
from proofstone.engines.ingest.languages import passage_language
from proofstone.engines.ingest.sentences import sentence_spans
from proofstone.engines.retrieval import CHUNKS_VERSION, Chunking, cut_chunks, tokens_by_bytes
from proofstone.methods.bequ.reference.rows import MISSING, EntityText, Known, Taken
from proofstone.ports import Drop, Kept, Step, StepContext

__all__ = ["passages_step"]

_NO_TEXT = "no text in it"


def passages_step(most: int) -> Step:
    """The passages of each text, of at most ``most`` tokens: whole sentences. Each comes twice: as
    it stands, and to have triples taken from it. Entities without a text end here."""

    def cut(row: EntityText, _context: StepContext) -> Kept:
        if row.taken is None:
            return Drop(row.missing or _NO_TEXT, f"{row.about.name}: {row.sought}")
        passages = list(_passages(row.taken, most))
        made = [
            Known(about=row.about, taken=each, is_asked=is_asked)
            for each in passages
            for is_asked in (False, True)
        ]
        return made or Drop(_NO_TEXT, f"{row.about.name}: {row.taken.title}")

    return Step(
        name="passages",
        version=1,
        takes=EntityText,
        work=cut,
        reasons=(*MISSING, _NO_TEXT),
        config={"most": most, "chunks": CHUNKS_VERSION},
    )


def _passages(taken: Taken, most: int) -> Iterator[Taken]:
    """No passage comes twice, and none without a letter or digit."""
    language = taken.language or guess_language([taken.text])
    seen: set[str] = set()
    chunking = Chunking(most=most)
    for chunk in cut_chunks(taken.text, chunking, count=tokens_by_bytes, sentences=sentence_spans):
        text = taken.text[chunk.start : chunk.end]
        if text not in seen and any(sign.isalnum() for sign in text):
            seen.add(text)
            yield structs.replace(taken, text=text, language=passage_language(text, language))
